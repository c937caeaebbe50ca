/* SPDX-License-Identifier: MIT */
/*
 * frag: how much the searches for free address space that Linux has had, from
 * 2.4 to today, fragment it, and what these searches cost.
 *
 * All addresses and lengths are in pages of 4 KiB. A space is a window of
 * addresses with areas in it, which the kernel calls VMAs (space.c). A
 * model is a rule that finds room in a space (models.c: up to 3.7; gap.c:
 * since 3.8). A workload maps and unmaps through a backend, which is a model
 * or the running kernel (kernel.c).
 */
#ifndef FRAG_H
#define FRAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FRAG_PAGE 4096ull
#define FRAG_MIB (1048576 / FRAG_PAGE)
/* Pages of a huge page, and of the gap before a stack (stack_guard_gap). */
#define FRAG_HUGE 512u
#define FRAG_GUARD 256u
/* Returned instead of a page: no room. */
#define FRAG_NONE UINT64_MAX

/**
 * enum frag_kind - what an area is
 * @FRAG_PLAIN: anonymous memory, merges with neighbours of its kind
 * @FRAG_STACK: the same with MAP_GROWSDOWN, which needs a guard gap before it
 * @FRAG_FIXED: anything else: never merged, never unmapped
 */
enum frag_kind {
	FRAG_PLAIN,
	FRAG_STACK,
	FRAG_FIXED,
};

/**
 * struct avl - node of a balanced tree
 * @left: subtree of the nodes before it, or NULL
 * @right: subtree of the nodes behind it, or NULL
 * @height: levels of the subtree that it is the root of
 */
struct avl {
	struct avl *left, *right;
	int height;
};

/**
 * struct avl_tree - balanced tree
 * @root: its root, or NULL
 * @compare: order of two nodes, never 0 for different ones
 * @update: called for a node whose subtrees have changed, or NULL
 */
struct avl_tree {
	struct avl *root;
	int (*compare)(const struct avl *a, const struct avl *b);
	void (*update)(struct avl *node);
};

void avl_insert(struct avl_tree *tree, struct avl *node);
void avl_remove(struct avl_tree *tree, struct avl *node);
void avl_refresh(struct avl_tree *tree, struct avl *node);

/**
 * struct frag_area - neighbouring pages that are mapped alike
 * @by_address: node in the tree of all areas
 * @by_gap: node in the tree of their gaps
 * @previous: area below, or NULL
 * @next: area above, or NULL
 * @start: first page
 * @end: page behind the last one
 * @gap: free pages directly before it, less its guard gap if the space has
 *	@guards
 * @largest: largest gap in the subtree of @by_address
 * @kind: kind of mapping
 */
struct frag_area {
	struct avl by_address, by_gap;
	struct frag_area *previous, *next;
	uint64_t start, end, gap, largest;
	enum frag_kind kind;
};

/**
 * struct frag_space - window of addresses
 * @low: first page
 * @high: page behind the last one
 * @guards: guard gaps are no part of an area's gap
 * @by_address: areas by address
 * @by_gap: areas by gap and address
 * @end: area without pages at @high, so that the last gap also precedes an area
 * @looked: areas looked at so far
 */
struct frag_space {
	uint64_t low, high;
	bool guards;
	struct avl_tree by_address, by_gap;
	struct frag_area end;
	uint64_t looked;
};

void frag_space_init(struct frag_space *space, uint64_t low, uint64_t high,
		     bool guards);
void frag_space_clear(struct frag_space *space);
void frag_space_map(struct frag_space *space, uint64_t start, uint64_t length,
		    enum frag_kind kind);
struct frag_area *frag_space_unmap(struct frag_space *space, uint64_t start,
				   uint64_t length);
struct frag_area *frag_space_find(struct frag_space *space, uint64_t page);
struct frag_area *frag_space_first(const struct frag_space *space);
bool frag_space_sound(const struct frag_space *space);

/**
 * struct frag_shape - how fragmented a space is
 * @areas: areas that are not fixed
 * @holes: gaps between the lowest and the highest of these areas
 * @largest_hole: pages of the largest hole
 * @free: pages of all holes
 * @span: pages from the start of the lowest area to the end of the highest
 * @largest_room: pages of the largest gap in the whole window
 */
struct frag_shape {
	uint64_t areas, holes, largest_hole, free, span, largest_room;
};

struct frag_shape frag_space_shape(const struct frag_space *space);

/**
 * enum frag_thp - which mappings are aligned to huge pages
 * @FRAG_THP_NONE: none: before 6.7, or without transparent huge pages
 * @FRAG_THP_EXACT: mappings of whole huge pages: 6.13, 6.12.x
 * @FRAG_THP_LARGE: mappings of at least one huge page: 6.7
 */
enum frag_thp {
	FRAG_THP_NONE,
	FRAG_THP_EXACT,
	FRAG_THP_LARGE,
};

/**
 * struct frag_mm - a process's memory as a model sees it
 * @model: how it looks for room
 * @space: the address space
 * @topdown: it looks from above
 * @thp: which mappings it aligns (models of today only)
 * @cache: free_area_cache, a page
 * @hole: cached_hole_size, in pages
 * @searches: number of searches
 * @cost: areas that all of them looked at
 * @worst: areas that the costliest of them looked at
 */
struct frag_mm {
	const struct frag_model *model;
	struct frag_space space;
	bool topdown;
	enum frag_thp thp;
	uint64_t cache, hole;
	uint64_t searches, cost, worst;
};

/**
 * struct frag_model - a way to look for room
 * @name: key in the results
 * @title: for humans
 * @only_up: it has no search from above
 * @guards: guard gaps are no part of an area's gap
 * @thp: it can align mappings to huge pages
 * @find: returns the first page of the room found, or FRAG_NONE
 * @unmapped: called when @length pages from @start have been unmapped; NULL if
 *	the model does nothing then
 */
struct frag_model {
	const char *name, *title;
	bool only_up, guards, thp;
	uint64_t (*find)(struct frag_mm *mm, uint64_t length);
	void (*unmapped)(struct frag_mm *mm, uint64_t start, uint64_t length);
};

extern const struct frag_model frag_first_fit, frag_cache, frag_cache_last,
	frag_hole, frag_hole_merged, frag_best_fit, frag_gap_tree,
	frag_gap_retry, frag_gap_usable;
extern const struct frag_model *const frag_models[];

void frag_mm_init(struct frag_mm *mm, const struct frag_model *model,
		  uint64_t low, uint64_t high, bool topdown);
uint64_t frag_mm_map(struct frag_mm *mm, uint64_t length, enum frag_kind kind);
void frag_mm_unmap(struct frag_mm *mm, uint64_t start, uint64_t length);
const struct frag_model *frag_model_named(const char *name);

/**
 * struct frag_backend - where a workload maps
 * @map: maps @length pages; returns the first one, or FRAG_NONE
 * @unmap: unmaps what @map returned, with the same length
 * @context: first argument of both
 * @trace: gets all that @map returns, in order; or NULL
 * @room: entries of @trace; a workload ends when they are used up
 * @used: entries of @trace that are filled in
 */
struct frag_backend {
	uint64_t (*map)(void *context, uint64_t length, enum frag_kind kind);
	void (*unmap)(void *context, uint64_t start, uint64_t length);
	void *context;
	uint64_t *trace;
	size_t room, used;
};

struct frag_backend frag_model_backend(struct frag_mm *mm);

/**
 * struct frag_workload - a sequence of maps and unmaps
 * @name: key in the results
 * @window: pages of the window, or 0 for as many as possible
 * @steps: steps of one run
 * @guards: it maps stacks
 * @compat: it uses the kernel's 32-bit system calls; not for models
 * @models: it is for models only, and has no random choices
 * @run: runs it, with a seed for random choices; returns the number of steps
 *	that were done
 */
struct frag_workload {
	const char *name;
	uint64_t window;
	uint64_t steps;
	bool guards, compat, models;
	uint64_t (*run)(struct frag_backend *to, uint64_t steps, uint64_t seed);
};

/* The window of the 32-bit process of 2005, and the pages of its libraries. */
#define FRAG_32BIT_LOW 0x55555ull
#define FRAG_32BIT_WINDOW (0xffffdull - FRAG_32BIT_LOW)
#define FRAG_32BIT_LIBRARIES 512u

/* Pages of a thread's stack: 20,000 of these fit into that window. */
#define FRAG_STACK_PAGES 16u

extern const struct frag_workload frag_workloads[];
extern const unsigned int frag_workload_count;

uint64_t frag_random(uint64_t *state);
uint64_t frag_five(struct frag_backend *to, uint64_t length,
		   uint64_t regions[5]);

/**
 * struct frag_kernel - what the running kernel did with a workload
 * @topdown: mmap() looked from above
 * @thp: which mappings the kernel aligns, by a test
 * @usable: the search knows guard gaps (with the series of kernel/mm, or before
 *	6.1), by a test
 * @shape: of the areas in /proc/self/maps
 * @steps: steps of the workload that were done
 * @maps: number of mmap() calls
 * @differing: calls that got another address than predicted
 * @areas_differing: areas at the end that are not as predicted
 * @predicted: the model that predicted
 * @ns: time for all of the workload
 */
struct frag_kernel {
	bool topdown;
	enum frag_thp thp;
	bool usable;
	struct frag_shape shape;
	uint64_t steps, maps, differing, areas_differing, ns;
	const struct frag_model *predicted;
};

int frag_kernel_layout(bool topdown, char **argv);
bool frag_kernel_is_topdown(void);
const char *frag_kernel_unfit(void);
bool frag_kernel_has_compat(void);
bool frag_kernel_test(void);
int frag_kernel_run(const struct frag_workload *load, uint64_t steps,
		    uint64_t seed, const struct frag_model *model,
		    struct frag_kernel *result);

int frag_test(unsigned int rounds, uint64_t seed, bool verbose);

#endif /* FRAG_H */
