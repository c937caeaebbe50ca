// SPDX-License-Identifier: MIT
/*
 * What the maple tree and the search cost without and with the patches, in user
 * space: to weigh a change of the series before a kernel is built with it. The
 * clock has to count instructions (lab/run --accel icount --smp 1). mapstorm
 * measures whole system calls.
 *
 * usage: cost
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "unit.h"

#define VMAS 1000u
#define ROUNDS 2000u
#define MAP (4 * TEST_PAGE)
#define GUARD (256 * TEST_PAGE)
#define FORKED 10000u

static unsigned long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ul + t.tv_nsec;
}

static unsigned int pick(unsigned int n)
{
	static unsigned long state = 1;

	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return (state >> 33) % n;
}

static int compare(const void *a, const void *b)
{
	const unsigned long *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * struct layout - VMAs at a stride, with or without a stack above each
 * @stride: bytes from one VMA, which has MAP bytes, to the next; the rest is
 *	free, or the stack and the space before it
 * @stack: there is a stack at the end of each stride
 */
struct layout {
	const char *name;
	unsigned long stride;
	bool stack;
};

/*
 * Unmaps a VMA at random, searches a place for one of its size, and maps it
 * again. Sets median to the medians of the three.
 */
static void cycle(const struct unit *u, const struct layout *l, bool topdown,
		  unsigned long median[3])
{
	static unsigned long took[3][ROUNDS];
	struct vm_area_struct *vma = calloc(2 * VMAS, sizeof(*vma));
	const unsigned long base = 1ul << 32, size = 2 * TEST_PAGE;
	struct query q = { .topdown = topdown, .length = MAP, .low = base };
	unsigned long at, t[4];
	unsigned int i, k;

	if (!vma)
		exit(1);
	u->begin(GUARD, 0, true);
	for (i = 0; i < VMAS; i++) {
		at = base + i * l->stride;
		vma[i] = (struct vm_area_struct){ at, at + MAP, 0 };
		u->store(at, at + MAP, &vma[i]);
		if (!l->stack)
			continue;
		at += l->stride - size;
		vma[VMAS + i] = (struct vm_area_struct){ at, at + size, TEST_GROWSDOWN };
		u->store(at, at + size, &vma[VMAS + i]);
	}
	/* Searches end with the last stride. */
	q.high = base + VMAS * l->stride;
	for (k = 0; k < ROUNDS; k++) {
		i = pick(VMAS);
		t[0] = now();
		u->store(vma[i].vm_start, vma[i].vm_end, NULL);
		t[1] = now();
		at = u->search(&q);
		t[2] = now();
		u->store(vma[i].vm_start, vma[i].vm_end, &vma[i]);
		t[3] = now();
		if (at + MAP + TEST_PAGE < vma[i].vm_start + MAP || at > vma[i].vm_start + l->stride) {
			fprintf(stderr, "%s: found %#lx, not near %#lx\n", l->name, at, vma[i].vm_start);
			exit(1);
		}
		took[0][k] = t[1] - t[0];
		took[1][k] = t[2] - t[1];
		took[2][k] = t[3] - t[2];
	}
	for (i = 0; i < 3; i++) {
		qsort(took[i], ROUNDS, sizeof(took[i][0]), compare);
		median[i] = took[i][ROUNDS / 2];
	}
	u->begin(0, 0, true);
	free(vma);
}

static struct vm_area_struct *same(struct vm_area_struct *parent)
{
	return parent;
}

/* The cost of a fork for each VMA. The VMAs are adjacent, or have holes. */
static unsigned long forked(const struct unit *u, unsigned long stride)
{
	struct vm_area_struct *vma = calloc(FORKED, sizeof(*vma));
	unsigned long at, t;
	unsigned int i;

	if (!vma)
		exit(1);
	u->begin(GUARD, 0, true);
	for (i = 0; i < FORKED; i++) {
		at = (1ul << 32) + i * stride;
		vma[i] = (struct vm_area_struct){ at, at + MAP, 0 };
		u->store(at, at + MAP, &vma[i]);
	}
	t = now();
	u->fork(same);
	t = now() - t;
	u->begin(0, 0, true);
	free(vma);
	return t / FORKED;
}

static void row(const char *name, const char *what, unsigned long before, unsigned long after)
{
	printf("%-34s %-8s %8lu %8lu %+6ld\n", name, what, before, after, (long)(after - before));
}

int main(void)
{
	static const struct layout layouts[] = {
		{ "no holes", MAP, false },
		{ "holes of a page", MAP + TEST_PAGE, false },
		{ "stacks with room between", MAP + 3 * TEST_PAGE + GUARD, true },
	};
	static const char *const what[] = { "unmap", "search", "map" };
	unsigned long before[3], after[3];
	unsigned int i, k;
	char name[64];
	bool b;

	printf("%-34s %-8s %8s %8s\n", "", "", "before", "after");
	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		for (b = false;; b = true) {
			snprintf(name, sizeof(name), "%s, %s", layouts[i].name, b ? "top-down" : "bottom-up");
			cycle(&unit_old, &layouts[i], b, before);
			cycle(&unit_new, &layouts[i], b, after);
			for (k = 0; k < 3; k++)
				row(name, what[k], before[k], after[k]);
			if (b)
				break;
		}
	row("fork of adjacent VMAs", "a VMA", forked(&unit_old, MAP), forked(&unit_new, MAP));
	row("fork of VMAs with holes", "a VMA", forked(&unit_old, MAP + TEST_PAGE),
	    forked(&unit_new, MAP + TEST_PAGE));
	return 0;
}
