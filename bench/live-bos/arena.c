// SPDX-License-Identifier: MIT
/*
 * See arena.h. Blocks, free or not, follow each other without gaps. The entries
 * of a block's first and last page have its length, so that neighbours are found
 * in constant time. Free blocks are nodes of a treap ordered by length and
 * address; a node is the entry of the block's first page, so nothing is ever
 * allocated and freeing cannot fail.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arena.h"

/* Heap order of the treap: a hash (of Murmur3's kind) of the page's number. */
static uint32_t priority(uint32_t page)
{
	page ^= page >> 16;
	page *= 0x85ebca6bu;
	page ^= page >> 13;
	page *= 0xc2b2ae35u;
	return page ^ page >> 16;
}

static uint32_t length_at(const struct arena *a, uint32_t page)
{
	return a->table[page].head & ~ARENA_FREE;
}

/* Order of free blocks: by length, then by address. */
static int before(const struct arena *a, uint32_t page, uint32_t length,
		  uint32_t first)
{
	uint32_t other = length_at(a, page);

	return other < length || (other == length && page < first);
}

/* Splits a tree into the blocks before (length, first) and the others. */
static void split(struct arena *a, uint32_t tree, uint32_t length,
		  uint32_t first, uint32_t *left, uint32_t *right)
{
	while (tree != ARENA_NONE) {
		if (before(a, tree, length, first)) {
			*left = tree;
			left = &a->table[tree].right;
			tree = *left;
		} else {
			*right = tree;
			right = &a->table[tree].left;
			tree = *right;
		}
	}
	*left = *right = ARENA_NONE;
}

/* Merges two trees. All blocks of @left come before all of @right. */
static void merge(struct arena *a, uint32_t *link, uint32_t left,
		  uint32_t right)
{
	while (left != ARENA_NONE && right != ARENA_NONE) {
		if (priority(left) > priority(right)) {
			*link = left;
			link = &a->table[left].right;
			left = *link;
		} else {
			*link = right;
			link = &a->table[right].left;
			right = *link;
		}
	}
	*link = left != ARENA_NONE ? left : right;
}

static void set_block(struct arena *a, uint32_t first, uint32_t length,
		      uint32_t free)
{
	a->table[first].head = length | free;
	a->table[first + length - 1].tail = length | free;
}

/*
 * Clears the head only: the tail of a page at which no block ends is stale, and
 * never read.
 */
static void clear_block(struct arena *a, uint32_t first)
{
	a->table[first].head = 0;
}

static void add_free(struct arena *a, uint32_t first, uint32_t length)
{
	struct arena_page *node = &a->table[first];
	uint32_t *link = &a->root;

	set_block(a, first, length, ARENA_FREE);
	while (*link != ARENA_NONE && priority(*link) >= priority(first))
		link = before(a, *link, length, first) ?
		       &a->table[*link].right : &a->table[*link].left;
	split(a, *link, length, first, &node->left, &node->right);
	*link = first;
	a->free_blocks++;
	a->free_pages += length;
}

static void remove_free(struct arena *a, uint32_t first)
{
	struct arena_page *node = &a->table[first];
	uint32_t length = length_at(a, first), *link = &a->root;

	while (*link != first)
		link = before(a, *link, length, first) ?
		       &a->table[*link].right : &a->table[*link].left;
	merge(a, link, node->left, node->right);
	clear_block(a, first);
	a->free_blocks--;
	a->free_pages -= length;
}

/* The first free block not before (length, first), or ARENA_NONE. */
static uint32_t find(const struct arena *a, uint32_t length, uint32_t first)
{
	uint32_t tree = a->root, best = ARENA_NONE;

	while (tree != ARENA_NONE) {
		if (before(a, tree, length, first)) {
			tree = a->table[tree].right;
		} else {
			best = tree;
			tree = a->table[tree].left;
		}
	}
	return best;
}

/*
 * Reserves a range. With MAP_FIXED as @how the reservation replaces what is
 * mapped there; with MAP_FIXED_NOREPLACE the call fails if anything is.
 */
static int reserve(void *ptr, size_t size, int how)
{
	void *got = mmap(ptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
			 MAP_NORESERVE | how, -1, 0);

	return got == MAP_FAILED ? -errno : 0;
}

/**
 * arena_init - reserve a range
 * @a: filled in
 * @size: bytes, rounded up to whole pages
 *
 * Returns: 0; -EINVAL if @size is 0 or has 2^31 pages or more; -ENOMEM
 */
int arena_init(struct arena *a, size_t size)
{
	size_t pages;

	memset(a, 0, sizeof(*a));
	a->page_size = sysconf(_SC_PAGESIZE);
	pages = size / a->page_size + !!(size % a->page_size);
	if (!pages || pages >= ARENA_FREE)
		return -EINVAL;
	a->pages = pages;
	a->base = mmap(NULL, pages * a->page_size, PROT_NONE, MAP_PRIVATE |
		       MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a->base == MAP_FAILED)
		return -errno;
	a->table = mmap(NULL, pages * sizeof(*a->table), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a->table == MAP_FAILED) {
		munmap(a->base, pages * a->page_size);
		return -ENOMEM;
	}
	a->root = ARENA_NONE;
	add_free(a, 0, a->pages);
	return 0;
}

/**
 * arena_fini - unmap the range and everything in it
 * @a: arena
 */
void arena_fini(struct arena *a)
{
	munmap(a->base, a->pages * a->page_size);
	munmap(a->table, a->pages * sizeof(*a->table));
}

/**
 * arena_alloc - allocate a block, without mapping anything
 * @a: arena
 * @size: bytes, rounded up to whole pages
 * @align: alignment in bytes, a power of two; rounded up to a page
 * @ptr: set to the block's first byte
 *
 * Takes the smallest free block in which it fits, of several the one at the
 * lowest address, and in that the lowest address. Free blocks that are long
 * enough but too short for the alignment are tried one by one.
 *
 * Returns: 0, -EINVAL, or -ENOMEM if no free block fits
 */
int arena_alloc(struct arena *a, size_t size, size_t align, void **ptr)
{
	size_t pages = size / a->page_size + !!(size % a->page_size);
	uint32_t block, length, head;
	uintptr_t start;

	if (!pages || !align || (align & (align - 1)))
		return -EINVAL;
	if (pages > a->free_pages)
		return -ENOMEM;
	if (align < a->page_size)
		align = a->page_size;

	block = find(a, pages, 0);
	for (;; block = find(a, length, block + 1)) {
		if (block == ARENA_NONE)
			return -ENOMEM;
		length = length_at(a, block);
		start = (uintptr_t)a->base + block * a->page_size;
		start = ((start + align - 1) & ~(align - 1)) - start;
		if (start / a->page_size <= length - pages)
			break;
	}
	head = start / a->page_size;

	remove_free(a, block);
	if (head)
		add_free(a, block, head);
	if (head + pages < length)
		add_free(a, block + head + pages, length - head - pages);
	set_block(a, block + head, pages, 0);
	*ptr = a->base + (block + head) * a->page_size;
	return 0;
}

/* First page of an allocated block, or ARENA_NONE. */
static uint32_t block_of(const struct arena *a, const void *ptr)
{
	uintptr_t offset = (uintptr_t)ptr - (uintptr_t)a->base;
	uint32_t page;

	if (offset % a->page_size || offset / a->page_size >= a->pages)
		return ARENA_NONE;
	page = offset / a->page_size;
	if (!a->table[page].head || (a->table[page].head & ARENA_FREE))
		return ARENA_NONE;
	return page;
}

/**
 * arena_size_of - get the size of a block
 * @a: arena
 * @ptr: first byte of a block from arena_alloc() or arena_map()
 *
 * Returns: bytes, 0 if there is no such block
 */
size_t arena_size_of(const struct arena *a, const void *ptr)
{
	uint32_t page = block_of(a, ptr);

	return page == ARENA_NONE ? 0 : length_at(a, page) * a->page_size;
}

/**
 * arena_free - free a block in which nothing is mapped
 * @a: arena
 * @ptr: block from arena_alloc()
 *
 * Returns: 0, or -EINVAL if there is no such block
 */
int arena_free(struct arena *a, void *ptr)
{
	uint32_t page = block_of(a, ptr), length, next, last;

	if (page == ARENA_NONE)
		return -EINVAL;
	length = length_at(a, page);
	clear_block(a, page);

	next = page + length;
	if (next < a->pages && (a->table[next].head & ARENA_FREE)) {
		length += length_at(a, next);
		remove_free(a, next);
	}
	last = page ? a->table[page - 1].tail : 0;
	if (last & ARENA_FREE) {
		page -= last & ~ARENA_FREE;
		length += last & ~ARENA_FREE;
		remove_free(a, page);
	}
	add_free(a, page, length);
	return 0;
}

/**
 * arena_map - map a file into the range
 * @a: arena
 * @size: bytes, rounded up to whole pages
 * @fd: file or device, mapped shared, for reading and writing
 * @offset: offset in the file
 * @ptr: set to the first byte
 *
 * Returns: 0; -EINVAL; -ENOMEM if there is no room or the limit of maps is
 * reached; or another error of mmap()
 */
int arena_map(struct arena *a, size_t size, int fd, off_t offset, void **ptr)
{
	void *block;
	int ret = arena_alloc(a, size, a->page_size, &block);

	if (ret)
		return ret;
	size = arena_size_of(a, block);
	if (mmap(block, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 fd, offset) == MAP_FAILED) {
		ret = -errno;
		/*
		 * The failed mmap() may have removed the reservation, so make it
		 * again. At the limit of maps that fails, too, but there the old
		 * one is still in place: msync() succeeds. A block without a
		 * reservation is lost, so that it cannot be used twice.
		 */
		if (!reserve(block, size, MAP_FIXED) ||
		    !msync(block, size, MS_ASYNC))
			arena_free(a, block);
		return ret;
	}
	*ptr = block;
	return 0;
}

/**
 * arena_unmap - unmap and free a block
 * @a: arena
 * @ptr: block from arena_map()
 *
 * A reservation replaces the mapping in one step. At the limit of maps the kernel
 * refuses that, and it takes two steps; if another thread maps something there in
 * between, the block is lost.
 *
 * Returns: 0; -EINVAL if there is no such block; or the error of munmap(), with
 * the mapping still in place
 */
int arena_unmap(struct arena *a, void *ptr)
{
	size_t size = arena_size_of(a, ptr);

	if (!size)
		return -EINVAL;
	if (!reserve(ptr, size, MAP_FIXED))
		return arena_free(a, ptr);
	if (munmap(ptr, size))
		return -errno;
	return reserve(ptr, size, MAP_FIXED_NOREPLACE) ? 0 : arena_free(a, ptr);
}

/**
 * arena_largest_free - get the size of the largest free block
 * @a: arena
 *
 * Returns: bytes; 0 if nothing is free
 */
size_t arena_largest_free(const struct arena *a)
{
	uint32_t tree = a->root;

	if (tree == ARENA_NONE)
		return 0;
	while (a->table[tree].right != ARENA_NONE)
		tree = a->table[tree].right;
	return length_at(a, tree) * a->page_size;
}
