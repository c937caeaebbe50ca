/* SPDX-License-Identifier: MIT */
/*
 * A range of addresses in which mappings are placed: the work-around that the
 * report of 2011 proposed for slow searches for free addresses.
 *
 * The range is reserved once (PROT_NONE, MAP_NORESERVE) and divided here. A
 * free block is found in a tree of sizes, the best fit first. A freed block is
 * merged with the free blocks on both sides, which the original did not do, and
 * becomes a part of the reservation again, so that the kernel places no other
 * mapping there. The kernel never chooses an address.
 *
 * The arena saves no mappings: each block that is mapped is one, and so is each
 * reserved gap between two of them.
 *
 * Sizes are in bytes, and multiples of the page size unless said otherwise.
 * Nothing here is locked. Functions that return int return 0 or a negative errno.
 */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct arena_page - the blocks that begin and end at a page
 * @head: length in pages of the block that begins here, with ARENA_FREE if it is
 *	free; 0: no block begins here
 * @tail: the same for the block that ends here; stale if none does
 * @left: child in the tree of sizes, if a free block begins here: first page of
 *	a smaller one, or ARENA_NONE
 * @right: child in the tree: first page of a larger one, or ARENA_NONE
 */
struct arena_page {
	uint32_t head, tail, left, right;
};

#define ARENA_FREE (1u << 31)
#define ARENA_NONE UINT32_MAX

/**
 * struct arena - a reserved range
 * @base: its first byte
 * @page_size: page size of the machine, in bytes
 * @pages: length of the range in pages
 * @table: an entry for each page; the kernel populates it on first use
 * @root: root of the tree of sizes, or ARENA_NONE
 * @free_pages: pages in all free blocks
 * @free_blocks: number of free blocks
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
