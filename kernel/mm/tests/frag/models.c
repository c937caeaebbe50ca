// SPDX-License-Identifier: MIT
/*
 * The searches of Linux 2.4 to 3.7, and best fit, which was only proposed.
 * None of them knew guard gaps, which came in 2017.
 *
 * first fit     2.4: walk the areas from the base.
 * cache         2.5.43 to 2.6.12-rc: walk them from free_area_cache, where the
 *               last search ended, and if there is nothing, once more from the
 *               base. munmap() moves the cache down to what it freed.
 * cache-last    the same, but munmap() always moves the cache to what it freed,
 *               as the message of 11 May 2005 describes the cache.
 * hole          that message's patch: cached_hole_size has the largest hole that
 *               was passed on the way to the cache. What fits into it is looked
 *               for from the base. munmap() does not move the cache down, but
 *               makes the hole known.
 * hole-merged   2.6.13 to 3.3, with Ken Chen's part: munmap() moves the cache to
 *               the start of the free range that the freed one is now a part of,
 *               and the hole is unknown. Only to TASK_UNMAPPED_BASE or above it: a
 *               range that reaches down to the program begins below, and the cache
 *               stays. (3.4 to 3.7 kept the hole, and went on from the cache from
 *               above, too; they are no model here.)
 * best fit      the smallest gap that is large enough, the lowest of those of a
 *               size, from a tree: bug 17531 of 2010 and the proposals of 2011.
 *
 * From above (all but the first) the cache is the lower end of what was found
 * last. A search tries only the place directly below it, then all places from
 * the base. Kernels went on down to address 0; a window ends before that, so a
 * search that fails here would have found room below TASK_UNMAPPED_BASE.
 */
#include <string.h>

#include "frag.h"

/*
 * Walks the areas from a page on. Returns the lowest room, or FRAG_NONE. With
 * holes, mm->hole becomes the largest free range that was too small.
 */
static uint64_t walk_up(struct frag_mm *mm, uint64_t from, uint64_t length,
			bool holes)
{
	struct frag_area *area = frag_space_find(&mm->space, from);
	uint64_t page = from;

	for (;; area = area->next) {
		mm->space.looked++;
		if (page + length <= area->start)
			return page;
		if (area == &mm->space.end)
			return FRAG_NONE;
		if (holes && page + mm->hole < area->start)
			mm->hole = area->start - page;
		page = area->end;
	}
}

static uint64_t find_first_fit(struct frag_mm *mm, uint64_t length)
{
	return walk_up(mm, mm->space.low, length, false);
}

const struct frag_model frag_first_fit = {
	.name = "first-fit",
	.title = "first fit from the base (2.4)",
	.only_up = true,
	.find = find_first_fit,
};

static uint64_t find_cache_up(struct frag_mm *mm, uint64_t length, bool holes)
{
	uint64_t from = mm->cache, page;

	if (holes && length <= mm->hole) {
		from = mm->space.low;
		mm->hole = 0;
	}
	page = walk_up(mm, from, length, holes);
	if (page == FRAG_NONE && from != mm->space.low) {
		if (holes)
			mm->hole = 0;
		page = walk_up(mm, mm->space.low, length, holes);
	}
	if (page != FRAG_NONE)
		mm->cache = page + length;
	return page;
}

static uint64_t find_cache_down(struct frag_mm *mm, uint64_t length, bool holes)
{
	struct frag_space *space = &mm->space;
	struct frag_area *area;
	uint64_t page;

	if (holes && length <= mm->hole) {
		mm->hole = 0;
		mm->cache = space->high;
	}
	if (mm->cache - space->low >= length) {
		area = frag_space_find(space, mm->cache - length);
		if (mm->cache <= area->start)
			return mm->cache -= length;
	}

	/* Each candidate is directly below an area; none is skipped. */
	for (page = space->high; page - space->low >= length; page = area->start) {
		area = frag_space_find(space, page - length);
		if (page <= area->start)
			return mm->cache = page - length;
		if (holes && page - length + mm->hole < area->start)
			mm->hole = area->start - (page - length);
	}

	/*
	 * Now the kernel looks from below, also above the window. Inside of the
	 * window it finds nothing.
	 */
	mm->cache = space->high;
	mm->hole = UINT64_MAX;
	return FRAG_NONE;
}

static uint64_t find_cache(struct frag_mm *mm, uint64_t length)
{
	return mm->topdown ? find_cache_down(mm, length, false) :
			     find_cache_up(mm, length, false);
}

static void cache_unmapped(struct frag_mm *mm, uint64_t start, uint64_t length)
{
	if (mm->topdown ? start + length > mm->cache : start < mm->cache)
		mm->cache = mm->topdown ? start + length : start;
}

const struct frag_model frag_cache = {
	.name = "cache",
	.title = "free-area cache (2.6.12-rc4)",
	.find = find_cache,
	.unmapped = cache_unmapped,
};

static void cache_last_unmapped(struct frag_mm *mm, uint64_t start,
				uint64_t length)
{
	mm->cache = mm->topdown ? start + length : start;
}

const struct frag_model frag_cache_last = {
	.name = "cache-last",
	.title = "free-area cache, as described in 2005",
	.find = find_cache,
	.unmapped = cache_last_unmapped,
};

static uint64_t find_hole(struct frag_mm *mm, uint64_t length)
{
	return mm->topdown ? find_cache_down(mm, length, true) :
			     find_cache_up(mm, length, true);
}

/* For searches from above, the patch of 11 May did not change munmap(). */
static void hole_unmapped(struct frag_mm *mm, uint64_t start, uint64_t length)
{
	if (mm->topdown)
		cache_unmapped(mm, start, length);
	else if (start < mm->cache)
		mm->hole = mm->hole < length ? length : UINT64_MAX;
}

const struct frag_model frag_hole = {
	.name = "hole",
	.title = "cached hole size (patch of May 2005)",
	.find = find_hole,
	.unmapped = hole_unmapped,
};

static void hole_merged_unmapped(struct frag_mm *mm, uint64_t start,
				 uint64_t length)
{
	struct frag_area *next = frag_space_find(&mm->space, start);

	(void)length;
	if (mm->topdown) {
		if (next->start > mm->cache)
			mm->cache = next->start;
		return;
	}
	/* The free range goes on below the window, to where the program is. */
	if (!next->previous)
		return;
	start = next->previous->end;
	if (start < mm->cache) {
		mm->cache = start;
		mm->hole = UINT64_MAX;
	}
}

const struct frag_model frag_hole_merged = {
	.name = "hole-merged",
	.title = "cached hole size (2.6.13 to 3.3)",
	.find = find_hole,
	.unmapped = hole_merged_unmapped,
};

static uint64_t find_best_fit(struct frag_mm *mm, uint64_t length)
{
	struct avl *node = mm->space.by_gap.root;
	struct frag_area *best = NULL;

	while (node) {
		struct frag_area *area = (struct frag_area *)
			((char *)node - offsetof(struct frag_area, by_gap));

		mm->space.looked++;
		if (area->gap >= length) {
			best = area;
			node = node->left;
		} else {
			node = node->right;
		}
	}
	if (!best)
		return FRAG_NONE;
	return mm->topdown ? best->start - length : best->start - best->gap;
}

const struct frag_model frag_best_fit = {
	.name = "best-fit",
	.title = "best fit by size (proposed in 2011)",
	.find = find_best_fit,
};

const struct frag_model *const frag_models[] = {
	&frag_first_fit, &frag_cache, &frag_cache_last, &frag_hole,
	&frag_hole_merged, &frag_best_fit, &frag_gap_tree, &frag_gap_retry,
	&frag_gap_usable, NULL,
};

/**
 * frag_model_named - a model by its name
 * @name: as in the results
 *
 * Returns: the model, or NULL
 */
const struct frag_model *frag_model_named(const char *name)
{
	const struct frag_model *const *model;

	for (model = frag_models; *model; model++)
		if (!strcmp((*model)->name, name))
			return *model;
	return NULL;
}

/**
 * frag_mm_init - begin with a process that has nothing mapped
 * @mm: filled in; the caller clears its space in the end
 * @model: how it looks for room
 * @low: first page of the window
 * @high: page behind the last one
 * @topdown: look from above
 */
void frag_mm_init(struct frag_mm *mm, const struct frag_model *model,
		  uint64_t low, uint64_t high, bool topdown)
{
	*mm = (struct frag_mm) {
		.model = model,
		.topdown = topdown,
		.cache = topdown ? high : low,
		/* As if there were a large hole: the first search has to look. */
		.hole = UINT64_MAX,
	};
	frag_space_init(&mm->space, low, high, model->guards);
}

/**
 * frag_mm_map - mmap()
 * @mm: process
 * @length: pages
 * @kind: kind of mapping
 *
 * Returns: the first page, or FRAG_NONE
 */
uint64_t frag_mm_map(struct frag_mm *mm, uint64_t length, enum frag_kind kind)
{
	uint64_t before = mm->space.looked, start, cost;

	start = mm->model->find(mm, length);
	cost = mm->space.looked - before;
	mm->searches++;
	mm->cost += cost;
	if (mm->worst < cost)
		mm->worst = cost;
	if (start != FRAG_NONE)
		frag_space_map(&mm->space, start, length, kind);
	return start;
}

/**
 * frag_mm_unmap - munmap()
 * @mm: process
 * @start: what frag_mm_map() returned
 * @length: pages
 */
void frag_mm_unmap(struct frag_mm *mm, uint64_t start, uint64_t length)
{
	frag_space_unmap(&mm->space, start, length);
	if (mm->model->unmapped)
		mm->model->unmapped(mm, start, length);
}

static uint64_t backend_map(void *context, uint64_t length, enum frag_kind kind)
{
	return frag_mm_map(context, length, kind);
}

static void backend_unmap(void *context, uint64_t start, uint64_t length)
{
	frag_mm_unmap(context, start, length);
}

/**
 * frag_model_backend - make a backend for workloads of a model
 * @mm: process
 */
struct frag_backend frag_model_backend(struct frag_mm *mm)
{
	return (struct frag_backend) {
		.map = backend_map,
		.unmap = backend_unmap,
		.context = mm,
	};
}
