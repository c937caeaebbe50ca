// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "layouts.h"
#include "unit.h"

#define NONE ((unsigned long)-ENOMEM)
#define WIDE (sizeof(long) == 8)
#define ADJACENT_MAX 48u

static void fail(const char *layout, const char *what, unsigned long expected, unsigned long got)
{
	fprintf(stderr, "%s: %s (expected %#lx, got %#lx)\n", layout, what, expected, got);
	exit(1);
}

/* Checks that the search with the patches finds the expected place. */
static void find(const char *layout, bool topdown, unsigned long length, unsigned long low,
		 unsigned long high, unsigned long expected)
{
	struct query q = { .topdown = topdown, .length = length, .low = low, .high = high };
	unsigned long got = unit_new.search(&q);

	if (got != expected)
		fail(layout, topdown ? "not the highest place" : "not the lowest place", expected, got);
}

/*
 * Counts the steps of one search among n stacks in a row, which finds no room
 * between any two: the guards take up the holes, of hole bytes each.
 */
static void count_steps(bool topdown, unsigned int n, unsigned long flags, unsigned long hole)
{
	const unsigned long size = 2 * TEST_PAGE, base = WIDE ? 1ul << (WIDE ? 32 : 0) : 1ul << 28;
	struct vm_area_struct *vma = calloc(n + 1, sizeof(*vma));
	struct query q = { .topdown = topdown, .length = size, .low = base };
	const char *name = flags == TEST_GROWSDOWN ? "grows down" : "shadow stack";
	unsigned long addr = base, expected, new, old;
	unsigned int i, height;

	unit_old.begin(256 * TEST_PAGE, 0, true);
	unit_new.begin(256 * TEST_PAGE, 0, true);
	if (topdown)
		addr += 1ul << 30;
	expected = addr - 256 * TEST_PAGE - size;
	if (flags == TEST_SHADOW_STACK)
		expected = addr - TEST_PAGE - size;
	for (i = 0; i < n; i++) {
		vma[i] = (struct vm_area_struct){ addr, addr + size, flags };
		unit_old.store(addr, addr + size, &vma[i]);
		unit_new.store(addr, addr + size, &vma[i]);
		addr += size + hole;
	}
	if (topdown) {
		/* Nothing is free behind the last. */
		q.high = addr - hole;
	} else {
		q.high = TEST_TOP;
		expected = addr - hole;
	}

	*unit_old.steps = *unit_new.steps = (struct steps){ 0 };
	new = unit_new.search(&q);
	old = unit_old.search(&q);
	if (new != expected || old != new)
		fail(name, "not where the free space begins", expected, new);
	height = unit_new.height();
	printf("%-10s %-12s %6u %6u %10lu %10lu %6lu %6lu\n", topdown ? "top-down" : "bottom-up",
	       name, n, height, unit_old.steps->nodes, unit_old.steps->slots,
	       unit_new.steps->nodes, unit_new.steps->slots);
	/* Once down the tree, and perhaps once up and down again at a limit. */
	if (unit_new.steps->nodes > 3 * height || unit_new.steps->slots > 3 * 16 * height)
		fail(name, "more nodes than the tree is high", height, unit_new.steps->nodes);
	if (unit_old.steps->nodes < n)
		fail(name, "the old search is not linear here", n, unit_old.steps->nodes);
	unit_old.begin(0, 0, true);
	unit_new.begin(0, 0, true);
	free(vma);
}

/*
 * Maps adjacent VMAs, so that the last leaf begins with any number of them,
 * then leaves a small gap, maps a large VMA, and leaves the gap at the end of
 * the tree. That gap is the largest, but smaller than the rest of the leaf:
 * only then is it compared with the others. No entry follows it that could be
 * asked for a guard.
 *
 * Then the gap before the last VMA is the largest, but its guard leaves less of
 * it than the gap at the end has.
 */
static void last_leaf(unsigned int adjacent)
{
	const unsigned long part = (~0ul / 64 + 1), page = TEST_PAGE, guard = part * 8;
	struct vm_area_struct vma[ADJACENT_MAX], last, stack;
	unsigned long addr = page, end = part * 50, top = -page;
	unsigned int i;

	unit_new.begin(guard, 0, true);
	for (i = 0; i < adjacent; i++, addr += page) {
		vma[i] = (struct vm_area_struct){ addr, addr + page, 0 };
		unit_new.store(addr, addr + page, &vma[i]);
	}
	last = (struct vm_area_struct){ addr + page, end, 0 };
	for (i = 0; i < adjacent; i++)
		vma[i].asked = 0;
	unit_new.store(last.vm_start, last.vm_end, &last);
	/* There is no gap before these, and they are not next to the store. */
	for (i = 1; i + 1 < adjacent; i++) {
		if (vma[i].asked)
			fail("last leaf", "the guard of an entry without a gap is asked for", 0, i);
	}
	if (!unit_new.valid())
		fail("last leaf", "mt_validate() complains", adjacent, 0);
	find("last leaf", false, page * 2, page, top, end);
	find("last leaf", true, part * 13, page, top, top - part * 13);
	find("last leaf", true, page, page, end, addr);

	stack = (struct vm_area_struct){ part * 20, end, TEST_GROWSDOWN };
	unit_new.store(last.vm_start, end, NULL);
	unit_new.store(stack.vm_start, end, &stack);
	if (!unit_new.valid())
		fail("last leaf, guard", "mt_validate() complains", adjacent, 0);
	find("last leaf, guard", false, part * 13, page, top, end);
	find("last leaf, guard", true, part * 13, page, top, top - part * 13);
	find("last leaf, guard", false, part * 11, page, top, addr);
	find("last leaf, guard", true, part * 11, page, end, part * 12 - part * 11);
	find("last leaf, guard", true, part * 12, page, end, NONE);
	unit_new.begin(0, 0, true);
}

void check_layouts(void)
{
	static const unsigned int numbers[] = { 100, 1000, 10000, 30000 };
	unsigned int i, most = WIDE ? 8 : 4;

	for (i = 1; i < ADJACENT_MAX; i++)
		last_leaf(i);

	printf("%-10s %-12s %6s %6s %10s %10s %6s %6s\n", "search", "stacks", "number", "height",
	       "old nodes", "slots", "new", "slots");
	for (i = 0; i < most; i++) {
		count_steps(i & 1, numbers[i / 2], TEST_GROWSDOWN, 254 * TEST_PAGE);
		count_steps(i & 1, numbers[i / 2], TEST_SHADOW_STACK, 2 * TEST_PAGE);
	}
}
