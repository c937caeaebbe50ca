// SPDX-License-Identifier: MIT
/*
 * Tests the search for unmapped areas with the patches against the plain
 * definition of what it has to find, and against the search without them: in
 * random address spaces, then in the layouts of layouts.c.
 *
 * usage: oracle [SEED [SPACES]]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "layouts.h"
#include "space.h"

#define NONE ((unsigned long)-ENOMEM)

static struct space space;
static unsigned long seed = 1;

/* Queries by result. */
static struct {
	unsigned long queries, none, guards, same;
	unsigned long aligned;	/* lower: the old one counts alignment twice */
	unsigned long beyond;	/* higher: in a guard that reaches over a VMA */
	unsigned long behind;	/* elsewhere, behind a stack that grows up */
	unsigned long outside;	/* the old search leaves the limits */
} met;

static void die(const struct query *q, const char *what, unsigned long old, unsigned long new)
{
	space_print(&space);
	fprintf(stderr, "%s, length %#lx, limits %#lx-%#lx, align %#lx+%#lx, start gap %#lx\n",
		q->topdown ? "top-down" : "bottom-up", q->length, q->low, q->high,
		q->align_mask, q->align_offset, q->start_gap);
	fprintf(stderr, "seed %lu: %s (old %#lx, new %#lx)\n", seed, what, old, new);
	exit(1);
}

static unsigned long min(unsigned long a, unsigned long b)
{
	return a < b ? a : b;
}

static unsigned long max(unsigned long a, unsigned long b)
{
	return a > b ? a : b;
}

/* Bytes that a query needs, in the worst case of the alignment. */
static unsigned long asked(const struct query *q)
{
	return q->length + q->align_mask + q->start_gap;
}

static bool fits(const struct query *q, unsigned long start, unsigned long end)
{
	return end > start && end - start >= asked(q);
}

/* The usable part of a hole. */
static unsigned long from(const struct query *q, const struct hole *h)
{
	return max(h->start, max(q->low, space.min));
}

static unsigned long until(const struct query *q, const struct hole *h)
{
	return min(h->guarded, q->high);
}

static unsigned long place(const struct query *q, unsigned long start, unsigned long end)
{
	unsigned long addr;

	if (q->topdown) {
		addr = end - q->length;
		return addr - ((addr - q->align_offset) & q->align_mask);
	}
	addr = start + q->start_gap;
	return addr + ((q->align_offset - addr) & q->align_mask);
}

/* Finds the first hole with room, in the direction of the search. */
static bool choose(const struct query *q, struct hole *h)
{
	unsigned int i;

	for (i = 0; i <= space.count; i++) {
		*h = space_hole(&space, q->topdown ? space.count - i : i);
		if (fits(q, from(q, h), until(q, h)))
			return true;
	}
	return false;
}

/* Dies unless addr is a valid result of q, however it was found. */
static void check_address(const struct query *q, unsigned long addr)
{
	unsigned int i;

	if (addr % TEST_PAGE || (addr ^ q->align_offset) & q->align_mask)
		die(q, "not aligned", 0, addr);
	if (addr < max(q->low, space.min) + q->start_gap || addr + q->length > q->high ||
	    addr + q->length < addr)
		die(q, "not within the limits", 0, addr);
	for (i = 0; i <= space.count; i++) {
		struct hole h = space_hole(&space, i);

		if (addr >= h.start && addr < h.end) {
			if (addr - h.start < q->start_gap)
				die(q, "no start gap", 0, addr);
			if (addr + q->length > h.guarded)
				die(q, "in the way of the next VMA, or its guard", 0, addr);
			return;
		}
	}
	die(q, "not free", 0, addr);
}

/*
 * Returns what the old search from above finds, by its rules: a hole that its
 * guard makes too small lowers the limit to where the guard begins, which may
 * be below the VMA before the hole. Sets *lowest to the lowest limit that a
 * guard has set.
 */
static unsigned long old_topdown(const struct query *q, unsigned long *lowest)
{
	unsigned long high = q->high, low = max(q->low, space.min);
	struct hole h;
	unsigned int i;

	*lowest = -1ul;
again:
	for (i = 0; i <= space.count; i++) {
		h = space_hole(&space, space.count - i);
		/* The old search takes a limit of 0 for no limit. */
		if (fits(q, max(h.start, low), high ? min(h.end, high) : h.end))
			break;
	}
	if (i > space.count)
		return NONE;
	if (h.next && h.guarded < h.end && h.guarded < (high ? min(h.end, high) : h.end)) {
		high = h.guarded;
		*lowest = min(*lowest, high);
		if (high && high <= low)
			return NONE;
		goto again;
	}
	/* With no limit and no VMA behind, the gap ends with the tree, at 0. */
	if (!high && !h.next)
		return place(q, 0, 0);
	return place(q, 0, high ? min(h.end, high) : h.end);
}

/*
 * Checks the search where stacks grow up: it finds no place in the guard behind
 * such a stack, and without such stacks it finds the same place.
 */
static void check_up(const struct query *q, unsigned long new)
{
	unsigned long up = unit_up.search(q);
	bool any = false;
	unsigned int i;

	/* One at address 0 sets a limit of 0: no limit, for both searches. */
	if (space.count && !space.vma[0]->vm_start && space.vma[0]->vm_flags & TEST_GROWSUP)
		return;

	for (i = 0; i < space.count; i++) {
		const struct vm_area_struct *vma = space.vma[i];

		if (!(vma->vm_flags & TEST_GROWSUP))
			continue;
		any = true;
		if (up != NONE && up >= vma->vm_end && up < vma->vm_end + space.guard &&
		    (i + 1 == space.count || up < space.vma[i + 1]->vm_start))
			die(q, "in the guard of a stack that grows up", new, up);
	}
	if (!any && up != new)
		die(q, "not the same where stacks could grow up", new, up);
	if (up != NONE)
		check_address(q, up);
	met.behind += up != new;
}

static void check(const struct query *q)
{
	unsigned long old = unit_old.search(q), new = unit_new.search(q);
	unsigned long expected, limit;
	struct hole h;
	bool found = choose(q, &h);

	met.queries++;
	expected = found ? place(q, from(q, &h), until(q, &h)) : NONE;
	if (new != expected) {
		fprintf(stderr, "expected %#lx\n", expected);
		die(q, "not the first place that there is", old, new);
	}
	if (found)
		check_address(q, new);
	else
		met.none++;
	check_up(q, new);

	if (!q->topdown) {
		/* The old search counts the alignment's room twice before a stack. */
		if (found && h.guarded < h.end && h.guarded < new + asked(q) - 1) {
			if (old <= new)
				die(q, "not lower than the old one", old, new);
			met.aligned++;
			return;
		}
	} else {
		if (old != old_topdown(q, &limit))
			die(q, "the old search does not do what we think", old, new);
		/* A guard that reaches below the VMA before it. */
		if (found && limit < until(q, &h)) {
			if (old != NONE && old + q->length - 1 >= q->high && !limit) {
				met.outside++;
				return;
			}
			if (old != NONE && old > new)
				die(q, "lower than the old one", old, new);
			met.beyond += old != new;
			met.same += old == new;
			return;
		}
		if (!found && !limit && old != NONE && old + q->length - 1 >= q->high) {
			met.outside++;
			return;
		}
	}
	if (old != new)
		die(q, "not what the old one has found", old, new);
	met.same++;
}

static void random_query(struct query *q)
{
	unsigned long all = space.end / TEST_PAGE;

	*q = (struct query){ .topdown = one_in(2), .high = space.end };
	q->length = (1 + below(one_in(3) ? all / 8 : one_in(2) ? 300 : 6)) * TEST_PAGE;
	if (one_in(3))
		q->low = below(all) * TEST_PAGE;
	if (one_in(3))
		q->high = (1 + below(all)) * TEST_PAGE;
	else if (one_in(3))
		q->high = space.end > TEST_TOP / 2 ? TEST_TOP : space.end * 2;
	/* A limit at the end of a VMA, or at the start of a guard. */
	if (space.count && one_in(6))
		q->low = space.vma[below(space.count)]->vm_end;
	if (space.count && one_in(6))
		q->high = max(space_hole(&space, below(space.count)).guarded, TEST_PAGE);
	if (one_in(3)) {
		q->align_mask = ((1ul << below(10)) - 1) * TEST_PAGE;
		q->align_offset = below(1024) * TEST_PAGE;
	}
	if (one_in(4))
		q->start_gap = TEST_PAGE;
}

static void check_space(void)
{
	unsigned int rounds = 4 + below(5), changes = 1 + below(60), i;
	struct query q;

	space_begin(&space);
	while (rounds--) {
		for (i = below(changes + 1); i; i--) {
			/* Like mmap(): find a place, then map it. */
			random_query(&q);
			if (one_in(3)) {
				unsigned long addr = unit_new.search(&q);

				if (addr != NONE && addr + q.length <= space.end)
					space_map(&space, addr, addr + q.length,
						  q.start_gap ? TEST_SHADOW_STACK : 0);
			} else {
				space_change(&space);
			}
			if (!unit_new.valid())
				die(&q, "mt_validate() complains", 0, 0);
		}
		if (!unit_old.valid())
			die(&q, "mt_validate() of the old tree complains", 0, 0);
		for (i = 0; i < 30; i++) {
			random_query(&q);
			check(&q);
		}
		for (i = 0; i < space.count; i++)
			met.guards += !!(space.vma[i]->vm_flags & TEST_STACKS);
	}
}

int main(int argc, char **argv)
{
	unsigned long spaces = argc > 2 ? strtoul(argv[2], NULL, 0) : 3000, i;
	unsigned long first = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;

	for (i = 0; i < spaces; i++) {
		seed = first + i;
		seed_random(seed);
		check_space();
	}
	printf("%lu spaces, %lu queries: %lu as before (of all, %lu find nothing); %lu lower by alignment, "
	       "%lu higher past a guard, %lu where the old search leaves its limits\n", spaces,
	       met.queries, met.same, met.none, met.aligned, met.beyond, met.outside);
	if (spaces >= 1000 && (!met.none || !met.aligned || !met.beyond || !met.outside || !met.behind || !met.guards)) {
		fprintf(stderr, "something that has to be tested did not happen\n");
		return 1;
	}

	check_layouts();
	return 0;
}
