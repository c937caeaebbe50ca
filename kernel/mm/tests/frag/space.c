// SPDX-License-Identifier: MIT
/*
 * An address space: areas in a list and in a tree, as the kernel kept its VMAs
 * from 2.4 to 6.0. The tree also knows the largest gap in each subtree, as the
 * kernel's has since 3.8, and another tree has the gaps by size. A model uses
 * the parts that its kernel had, and is charged for each area that it looks at.
 */
#include <stdlib.h>

#include "frag.h"

#define area_of(node, member) \
	((struct frag_area *)((char *)(node) - offsetof(struct frag_area, member)))

static int compare_address(const struct avl *a, const struct avl *b)
{
	const struct frag_area *x = area_of(a, by_address);
	const struct frag_area *y = area_of(b, by_address);

	return (x->start > y->start) - (x->start < y->start);
}

static int compare_gap(const struct avl *a, const struct avl *b)
{
	const struct frag_area *x = area_of(a, by_gap);
	const struct frag_area *y = area_of(b, by_gap);

	if (x->gap != y->gap)
		return x->gap < y->gap ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static uint64_t largest_of(const struct avl *node)
{
	return node ? area_of(node, by_address)->largest : 0;
}

static void update_largest(struct avl *node)
{
	struct frag_area *area = area_of(node, by_address);
	uint64_t left = largest_of(node->left), right = largest_of(node->right);

	area->largest = area->gap;
	if (area->largest < left)
		area->largest = left;
	if (area->largest < right)
		area->largest = right;
}

static uint64_t gap_before(const struct frag_space *space,
			   const struct frag_area *area)
{
	uint64_t from = area->previous ? area->previous->end : space->low;
	uint64_t gap = area->start - from;

	if (space->guards && area->kind == FRAG_STACK)
		gap = gap > FRAG_GUARD ? gap - FRAG_GUARD : 0;
	return gap;
}

/*
 * An area is in both trees or in none. Its gap and its start are the key of the
 * second tree, so it has to be taken out of that before they change.
 */
static void link_area(struct frag_space *space, struct frag_area *area)
{
	area->gap = gap_before(space, area);
	avl_insert(&space->by_address, &area->by_address);
	avl_insert(&space->by_gap, &area->by_gap);
}

static void unlink_area(struct frag_space *space, struct frag_area *area)
{
	avl_remove(&space->by_address, &area->by_address);
	avl_remove(&space->by_gap, &area->by_gap);
}

/* Moves the start of an area without moving it past another one. */
static void set_start(struct frag_space *space, struct frag_area *area,
		      uint64_t start)
{
	avl_remove(&space->by_gap, &area->by_gap);
	area->start = start;
	area->gap = gap_before(space, area);
	avl_refresh(&space->by_address, &area->by_address);
	avl_insert(&space->by_gap, &area->by_gap);
}

/* Updates the gap of an area, when what is before it has changed. */
static void set_gap(struct frag_space *space, struct frag_area *area)
{
	set_start(space, area, area->start);
}

/**
 * frag_space_init - make an empty space
 * @space: filled in
 * @low: first page
 * @high: page behind the last one
 * @guards: leave guard gaps out of areas' gaps
 */
void frag_space_init(struct frag_space *space, uint64_t low, uint64_t high,
		     bool guards)
{
	*space = (struct frag_space) {
		.low = low,
		.high = high,
		.guards = guards,
		.by_address = { NULL, compare_address, update_largest },
		.by_gap = { NULL, compare_gap, NULL },
		.end = { .start = high, .end = high, .kind = FRAG_FIXED },
	};
	link_area(space, &space->end);
}

/**
 * frag_space_clear - free the areas of a space
 * @space: space
 */
void frag_space_clear(struct frag_space *space)
{
	struct frag_area *area = frag_space_first(space), *next;

	for (; area != &space->end; area = next) {
		next = area->next;
		free(area);
	}
}

/**
 * frag_space_first - get the lowest area
 * @space: space
 *
 * Returns: the area, or the one at the window's end
 */
struct frag_area *frag_space_first(const struct frag_space *space)
{
	const struct avl *node = space->by_address.root;

	while (node->left)
		node = node->left;
	return area_of(node, by_address);
}

/**
 * frag_space_find - find the first area that ends behind a page, as find_vma()
 * @space: space
 * @page: page in the window
 *
 * Returns: the area, or the one at the window's end
 */
struct frag_area *frag_space_find(struct frag_space *space, uint64_t page)
{
	struct avl *node = space->by_address.root;
	struct frag_area *found = &space->end;

	while (node) {
		struct frag_area *area = area_of(node, by_address);

		space->looked++;
		if (area->end > page) {
			found = area;
			if (area->start <= page)
				break;
			node = node->left;
		} else {
			node = node->right;
		}
	}
	return found;
}

static bool merge(const struct frag_area *area, enum frag_kind kind)
{
	return area->kind == kind && kind != FRAG_FIXED;
}

static struct frag_area *new_area(struct frag_space *space, uint64_t start,
				  uint64_t end, enum frag_kind kind,
				  struct frag_area *next)
{
	struct frag_area *area = malloc(sizeof(*area));

	if (!area)
		abort();
	*area = (struct frag_area) {
		.start = start,
		.end = end,
		.kind = kind,
		.previous = next->previous,
		.next = next,
	};
	if (area->previous)
		area->previous->next = area;
	next->previous = area;
	link_area(space, area);
	return area;
}

static void drop_area(struct frag_space *space, struct frag_area *area)
{
	unlink_area(space, area);
	if (area->previous)
		area->previous->next = area->next;
	area->next->previous = area->previous;
	free(area);
}

/**
 * frag_space_map - map free pages
 * @space: space
 * @start: first page
 * @length: number of pages
 * @kind: kind of the area; it merges with neighbours of the same kind
 */
void frag_space_map(struct frag_space *space, uint64_t start, uint64_t length,
		    enum frag_kind kind)
{
	struct frag_area *next = frag_space_find(space, start), *previous;

	previous = next->previous;
	if (start < space->low || start + length > next->start)
		abort();
	if (previous && previous->end == start && merge(previous, kind)) {
		previous->end += length;
		if (next->start == previous->end && merge(next, kind)) {
			uint64_t end = next->end;

			next = next->next;
			drop_area(space, previous->next);
			previous->end = end;
		}
	} else if (next->start == start + length && merge(next, kind)) {
		set_start(space, next, start);
		return;
	} else {
		new_area(space, start, start + length, kind, next);
	}
	set_gap(space, next);
}

/**
 * frag_space_unmap - unmap pages of one area
 * @space: space
 * @start: first page
 * @length: number of pages
 *
 * Returns: the area below, or NULL
 */
struct frag_area *frag_space_unmap(struct frag_space *space, uint64_t start,
				   uint64_t length)
{
	struct frag_area *area = frag_space_find(space, start);
	uint64_t end = start + length;

	if (area->start > start || area->end < end)
		abort();
	if (area->start == start) {
		struct frag_area *previous = area->previous;

		if (area->end == end) {
			struct frag_area *next = area->next;

			drop_area(space, area);
			set_gap(space, next);
		} else {
			set_start(space, area, end);
		}
		return previous;
	}
	if (area->end == end) {
		area->end = start;
		set_gap(space, area->next);
	} else {
		uint64_t last = area->end;

		area->end = start;
		new_area(space, end, last, area->kind, area->next);
		set_gap(space, area->next->next);
	}
	return area;
}

/**
 * frag_space_shape - measure how fragmented a space is
 * @space: space
 */
struct frag_shape frag_space_shape(const struct frag_space *space)
{
	struct frag_shape shape = { 0 };
	struct frag_area *area;
	uint64_t lowest = 0, hole = 0, holes = 0, largest = 0, unused = 0;

	for (area = frag_space_first(space);; area = area->next) {
		uint64_t from = area->previous ? area->previous->end : space->low;

		hole = area->start - from;
		if (shape.largest_room < hole)
			shape.largest_room = hole;
		if (area == &space->end)
			break;
		if (shape.areas && hole) {
			holes++;
			unused += hole;
			if (largest < hole)
				largest = hole;
		}
		if (area->kind == FRAG_FIXED)
			continue;
		if (!shape.areas++)
			lowest = area->start;
		/* A hole counts only if there is an area behind it. */
		shape.holes = holes;
		shape.free = unused;
		shape.largest_hole = largest;
		shape.span = area->end - lowest;
	}
	return shape;
}

static bool sound_tree(const struct avl *node, uint64_t *count)
{
	int left, right;

	if (!node)
		return true;
	(*count)++;
	left = node->left ? node->left->height : 0;
	right = node->right ? node->right->height : 0;
	return left - right <= 1 && right - left <= 1 &&
	       node->height == 1 + (left > right ? left : right) &&
	       sound_tree(node->left, count) && sound_tree(node->right, count);
}

/**
 * frag_space_sound - check that a space's list and trees agree, for tests
 * @space: space
 */
bool frag_space_sound(const struct frag_space *space)
{
	const struct frag_area *area = frag_space_first(space);
	const struct frag_area *previous = NULL;
	uint64_t listed = 0, in_tree = 0, in_gaps = 0, largest = 0;

	for (; area; previous = area, area = area->next) {
		listed++;
		if (area->previous != previous ||
		    area->gap != gap_before(space, area) ||
		    area->start < (previous ? previous->end : space->low) ||
		    (area->start >= area->end && area != &space->end))
			return false;
		if (previous && previous->end == area->start &&
		    previous->kind == area->kind && area->kind != FRAG_FIXED)
			return false;
		if (largest < area->gap)
			largest = area->gap;
	}
	return previous == &space->end &&
	       sound_tree(space->by_address.root, &in_tree) &&
	       sound_tree(space->by_gap.root, &in_gaps) &&
	       in_tree == listed && in_gaps == listed &&
	       largest_of(space->by_address.root) == largest;
}
