// SPDX-License-Identifier: MIT
/*
 * The searches since 3.8: the lowest or the highest gap that is large enough,
 * from a tree that knows the largest gap in each of its parts. Up to 6.0 that
 * was the tree of VMAs (rb_subtree_gap), since 6.1 it is the maple tree. Both
 * find the same; the maple tree has up to 10 or 16 entries in a node, so a
 * search looks at fewer nodes, and at more entries in each. kernel/mm/tests
 * counts the nodes and entries that the kernel's maple tree looks at.
 *
 * gap-tree      without guard gaps and without huge pages.
 * gap-retry     Linux 6.1 to now: the tree does not know guard gaps. If one makes
 *               the gap found too small, the search begins again behind it.
 *               Mappings of whole huge pages are aligned to those: room for one
 *               more is looked for, and the aligned part of it is taken.
 * gap-usable    the same with the series of kernel/mm (and without huge pages
 *               4.12 to 6.0): gaps are without guard gaps.
 */
#include "frag.h"

static struct frag_area *area_of(const struct avl *node)
{
	return (struct frag_area *)((char *)node -
				    offsetof(struct frag_area, by_address));
}

/* The part of the gap before an area that is within limits; can be empty. */
static void clip(const struct frag_space *space, const struct frag_area *area,
		 uint64_t low, uint64_t high, uint64_t *from, uint64_t *to)
{
	*from = area->previous ? area->previous->end : space->low;
	*to = *from + area->gap;
	if (*from < low)
		*from = low;
	if (*to > high)
		*to = high;
	if (*to < *from)
		*to = *from;
}

/*
 * Returns the area behind the lowest gap of a subtree that has length pages
 * within limits, or NULL. Sets from and to to the part of it within limits.
 */
static struct frag_area *lowest(struct frag_space *space, const struct avl *node,
				uint64_t low, uint64_t high, uint64_t length,
				uint64_t *from, uint64_t *to)
{
	struct frag_area *area, *found = NULL;

	if (!node)
		return NULL;
	space->looked++;
	area = area_of(node);
	if (area->largest < length)
		return NULL;
	if ((area->previous ? area->previous->end : space->low) > low)
		found = lowest(space, node->left, low, high, length, from, to);
	if (found)
		return found;
	clip(space, area, low, high, from, to);
	if (*to - *from >= length)
		return area;
	if (area->end >= high)
		return NULL;
	return lowest(space, node->right, low, high, length, from, to);
}

static struct frag_area *highest(struct frag_space *space,
				 const struct avl *node, uint64_t low,
				 uint64_t high, uint64_t length, uint64_t *from,
				 uint64_t *to)
{
	struct frag_area *area, *found = NULL;

	if (!node)
		return NULL;
	space->looked++;
	area = area_of(node);
	if (area->largest < length)
		return NULL;
	if (area->end < high)
		found = highest(space, node->right, low, high, length, from, to);
	if (found)
		return found;
	clip(space, area, low, high, from, to);
	if (*to - *from >= length)
		return area;
	if ((area->previous ? area->previous->end : space->low) <= low)
		return NULL;
	return highest(space, node->left, low, high, length, from, to);
}

static uint64_t find_up(struct frag_mm *mm, uint64_t length, bool retry)
{
	struct frag_space *space = &mm->space;
	uint64_t low = space->low, from, to;
	struct frag_area *area;

	for (;;) {
		area = lowest(space, space->by_address.root, low, space->high,
			      length, &from, &to);
		if (!area)
			return FRAG_NONE;
		/* The guard gap of the area behind the gap must stay free. */
		if (retry && area->kind == FRAG_STACK &&
		    from + length + FRAG_GUARD > area->start) {
			low = area->end;
			continue;
		}
		return from;
	}
}

static uint64_t find_down(struct frag_mm *mm, uint64_t length, bool retry)
{
	struct frag_space *space = &mm->space;
	uint64_t high = space->high, from, to, guard;
	struct frag_area *area;

	for (;;) {
		area = highest(space, space->by_address.root, space->low, high,
			       length, &from, &to);
		if (!area)
			return FRAG_NONE;
		guard = area->start > FRAG_GUARD ? area->start - FRAG_GUARD : 0;
		if (retry && area->kind == FRAG_STACK && guard < to) {
			/* This may pass over room between areas that the guard
			 * gap reaches over. */
			if (guard <= space->low)
				return FRAG_NONE;
			high = guard;
			continue;
		}
		return to - length;
	}
}

/* From above; if that fails, from below, where guards count differently. */
static uint64_t find(struct frag_mm *mm, uint64_t length, bool retry)
{
	uint64_t page = FRAG_NONE;

	if (mm->topdown)
		page = find_down(mm, length, retry);
	if (page == FRAG_NONE)
		page = find_up(mm, length, retry);
	return page;
}

static uint64_t find_today(struct frag_mm *mm, uint64_t length, bool retry)
{
	uint64_t page;

	if (mm->thp == FRAG_THP_NONE || length < FRAG_HUGE ||
	    (mm->thp == FRAG_THP_EXACT && length % FRAG_HUGE))
		return find(mm, length, retry);
	page = find(mm, length + FRAG_HUGE, retry);
	if (page == FRAG_NONE)
		return find(mm, length, retry);
	/* From above an aligned end is kept, so that mappings can merge. */
	if (mm->topdown && page % FRAG_HUGE == 0)
		return page + FRAG_HUGE;
	return (page + FRAG_HUGE - 1) / FRAG_HUGE * FRAG_HUGE;
}

static uint64_t find_gap_tree(struct frag_mm *mm, uint64_t length)
{
	return find(mm, length, false);
}

const struct frag_model frag_gap_tree = {
	.name = "gap-tree",
	.title = "gap tree (3.8)",
	.find = find_gap_tree,
};

static uint64_t find_gap_retry(struct frag_mm *mm, uint64_t length)
{
	return find_today(mm, length, true);
}

const struct frag_model frag_gap_retry = {
	.name = "gap-retry",
	.title = "gap tree, guards by retries (6.1 to now)",
	.thp = true,
	.find = find_gap_retry,
};

static uint64_t find_gap_usable(struct frag_mm *mm, uint64_t length)
{
	return find_today(mm, length, false);
}

const struct frag_model frag_gap_usable = {
	.name = "gap-usable",
	.title = "gap tree of usable gaps (the series)",
	.guards = true,
	.thp = true,
	.find = find_gap_usable,
};
