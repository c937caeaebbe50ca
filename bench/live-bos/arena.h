/* SPDX-License-Identifier: MIT */
/*
 * A range of addresses in which mappings are placed: the work-around that the
 * report of 2011 proposed for slow searches for free addresses.
 *
 * The range is reserved once (PROT_NONE, MAP_NORESERVE) and divided here. A
 * free block is found in a tree of sizes, the best fit first; what is freed is
 * combined with free blocks on both sides, which the original did not do, and
 * is a part of the reservation again, so that no other mapping can come to lie
 * there. The kernel is never asked for a place.
 *
 * It has as many mappings as without: each one that is placed is one, and what
 * is reserved between two of them is another.
 *
 * Sizes are in bytes, and multiples of the page size but where said otherwise.
 * Nothing here is locked. Functions that return int give 0 or a negative errno.
 */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct arena_page - what is known of a page, if a block begins or ends there
 * @head: pages of the block that begins here, ARENA_FREE if it is free; or 0
 * @tail: the same of the block that ends here
 * @left: in the tree of sizes, if a free block begins here: first page of a
 *	smaller one, or ARENA_NONE
 * @right: of a larger one
 */
struct arena_page {
	uint32_t head, tail, left, right;
};

#define ARENA_FREE (1u << 31)
#define ARENA_NONE UINT32_MAX

/**
 * struct arena - a reserved range
 * @base: its first byte
 * @page_size: of the machine
 * @pages: of the range
 * @table: an entry for each page; its memory comes when it is first used
 * @root: top of the tree of sizes, or ARENA_NONE
 * @free_pages: sum of all free blocks
 * @free_blocks: how many
 */
struct arena {
	uint8_t *base;
	size_t page_size;
	uint32_t pages;
	struct arena_page *table;
	uint32_t root, free_pages, free_blocks;
};

int arena_init(struct arena *arena, size_t size);
void arena_fini(struct arena *arena);
int arena_alloc(struct arena *arena, size_t size, size_t align, void **ptr);
int arena_free(struct arena *arena, void *ptr);
int arena_map(struct arena *arena, size_t size, int fd, off_t offset,
	      void **ptr);
int arena_unmap(struct arena *arena, void *ptr);
size_t arena_size_of(const struct arena *arena, const void *ptr);
size_t arena_largest_free(const struct arena *arena);

#endif /* ARENA_H */
