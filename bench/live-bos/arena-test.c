// SPDX-License-Identifier: MIT
/*
 * Tests the arena against a model that knows which pages are allocated.
 *
 * usage: arena-test [SEED]
 *
 * Random calls in small ranges, each compared with the model: best fit chooses
 * the block, free neighbours are merged, a call that finds no room loses nothing.
 * Then with mappings: contents; freed pages stay reserved; the number of
 * mappings; the kernel's limit of them.
 * Exit status: 0; 1 at the first property that does not hold, with the seed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arena.h"
#include "bench.h"

#define MAX_PAGES 512u
#define MAX_BLOCKS MAX_PAGES

/**
 * struct block - an allocated block
 * @ptr: its first byte
 * @first: its first page
 * @pages: its length in pages
 */
struct block {
	uint8_t *ptr;
	uint32_t first, pages;
};

/**
 * struct model - the state that an arena must have
 * @arena: the arena that is tested
 * @used: for each page: is it part of an allocated block?
 * @blocks: all allocated blocks, in no order
 * @count: number of @blocks
 */
struct model {
	struct arena arena;
	bool used[MAX_PAGES];
	struct block blocks[MAX_BLOCKS];
	unsigned int count;
};

static uint64_t seed, state;
static size_t page_size;

/* splitmix64 */
static uint32_t any(uint32_t below)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ z >> 31) >> 32) % below;
}

#define HOLDS(condition) \
	do { \
		if (!(condition)) \
			broken(__LINE__, #condition); \
	} while (0)

static void broken(int line, const char *condition)
{
	fprintf(stderr, "arena-test: line %d: not so: %s (seed %" PRIu64 ")\n",
		line, condition, seed);
	exit(1);
}

/* Length of the run of free pages at @first, 0 if it is used. */
static uint32_t run_at(const struct model *m, uint32_t first)
{
	uint32_t end = first;

	while (end < m->arena.pages && !m->used[end])
		end++;
	return end - first;
}

/* Finds the place (a page) that best fit must choose; false if there is none. */
static bool expected(const struct model *m, uint32_t pages, size_t align,
		     uint32_t *where)
{
	uint32_t first, run, best = UINT32_MAX, skip;
	uintptr_t start;

	if (align < page_size)
		align = page_size;
	for (first = 0; first < m->arena.pages; first += run ? run : 1) {
		run = run_at(m, first);
		start = (uintptr_t)m->arena.base + first * page_size;
		skip = (align - start % align) % align / page_size;
		if (run >= best || skip + pages > run)
			continue;
		best = run;
		*where = first + skip;
	}
	return best != UINT32_MAX;
}

/* Compares the free space of the arena and of the model. */
static void check(const struct model *m)
{
	uint32_t first, run, runs = 0, longest = 0, sum = 0;

	for (first = 0; first < m->arena.pages; first += run ? run : 1) {
		run = run_at(m, first);
		runs += run > 0;
		sum += run;
		longest = run > longest ? run : longest;
	}
	/* As many blocks as runs: no free block has a free neighbour. */
	HOLDS(m->arena.free_blocks == runs);
	HOLDS(m->arena.free_pages == sum);
	HOLDS(arena_largest_free(&m->arena) == longest * page_size);
}

static void note(struct model *m, void *ptr, uint32_t pages)
{
	struct block *b = &m->blocks[m->count++];
	uint32_t i;

	b->ptr = ptr;
	HOLDS(b->ptr >= m->arena.base);
	b->first = (b->ptr - m->arena.base) / page_size;
	b->pages = pages;
	HOLDS((size_t)(b->ptr - m->arena.base) % page_size == 0);
	HOLDS(b->first + pages <= m->arena.pages);
	for (i = b->first; i < b->first + pages; i++) {
		HOLDS(!m->used[i]);
		m->used[i] = true;
	}
	HOLDS(arena_size_of(&m->arena, ptr) == pages * page_size);
}

static struct block forget(struct model *m, unsigned int i)
{
	struct block b = m->blocks[i];

	m->blocks[i] = m->blocks[--m->count];
	memset(m->used + b.first, 0, b.pages);
	return b;
}

static void start(struct model *m, uint32_t pages)
{
	memset(m, 0, sizeof(*m));
	HOLDS(!arena_init(&m->arena, pages * page_size));
	HOLDS(m->arena.pages == pages);
	check(m);
}

static void try_alloc(struct model *m, uint32_t longest)
{
	uint32_t pages = 1 + any(longest), where = 0;
	/* Not always a multiple of the page size. */
	size_t size = pages * page_size - any(2) * any(page_size);
	size_t align = (size_t)1 << any(4 + __builtin_ctzl(page_size));
	bool fits = expected(m, pages, align, &where);
	void *ptr = NULL;
	int ret = arena_alloc(&m->arena, size, align, &ptr);

	HOLDS(ret == (fits ? 0 : -ENOMEM));
	if (ret)
		return;
	HOLDS((uintptr_t)ptr % align == 0);
	HOLDS(ptr == m->arena.base + where * page_size);
	note(m, ptr, pages);
}

static void try_free(struct model *m)
{
	struct block b;

	if (!m->count)
		return;
	b = forget(m, any(m->count));
	HOLDS(!arena_free(&m->arena, b.ptr));
	/* A second time, and addresses at which no block begins. */
	HOLDS(arena_free(&m->arena, b.ptr) == -EINVAL);
	HOLDS(arena_free(&m->arena, b.ptr + 1) == -EINVAL);
	HOLDS(arena_free(&m->arena, b.ptr + (b.pages - 1) * page_size) ==
	      -EINVAL);
}

static void try_wrong(struct model *m)
{
	const struct block *b = &m->blocks[any(m->count ? m->count : 1)];
	uint8_t *end = m->arena.base + m->arena.pages * page_size;
	void *ptr;

	HOLDS(arena_free(&m->arena, end) == -EINVAL);
	HOLDS(arena_free(&m->arena, m->arena.base - page_size) == -EINVAL);
	HOLDS(arena_alloc(&m->arena, 0, 1, &ptr) == -EINVAL);
	HOLDS(arena_alloc(&m->arena, 1, 3, &ptr) == -EINVAL);
	HOLDS(arena_alloc(&m->arena, 1, 0, &ptr) == -EINVAL);
	HOLDS(arena_alloc(&m->arena, SIZE_MAX, 1, &ptr) == -ENOMEM);
	HOLDS(arena_alloc(&m->arena, (m->arena.pages + 1) * page_size, 1,
			  &ptr) == -ENOMEM);
	if (m->count && b->pages > 1) {
		HOLDS(arena_free(&m->arena, b->ptr + page_size) == -EINVAL);
		HOLDS(arena_free(&m->arena, b->ptr + (b->pages - 1) *
				 page_size) == -EINVAL);
	}
}

static void finish(struct model *m)
{
	while (m->count) {
		HOLDS(!arena_free(&m->arena, forget(m, any(m->count)).ptr));
		check(m);
	}
	HOLDS(m->arena.free_blocks == 1);
	HOLDS(arena_largest_free(&m->arena) == m->arena.pages * page_size);
	arena_fini(&m->arena);
}

/* Random calls, in phases in which the number of blocks grows or shrinks. */
static void test_random(void)
{
	static struct model m;
	unsigned int round, i, growth = 0;
	uint32_t longest;

	for (round = 0; round < 200; round++) {
		start(&m, round < 8 ? round + 1 : 1 + any(MAX_PAGES));
		longest = 1 + any(1 + m.arena.pages / (1 + any(16)));
		for (i = 0; i < 2000; i++) {
			if (i % 200 == 0)
				growth = 20 + any(61);
			if (any(100) < growth)
				try_alloc(&m, longest);
			else
				try_free(&m);
			check(&m);
			if (i % 97 == 0)
				try_wrong(&m);
		}
		finish(&m);
	}
}

/* Allocates to the last page, frees half of the blocks, and repeats that. */
static void test_exhaustion(void)
{
	static struct model m;
	unsigned int round;
	void *ptr;

	start(&m, MAX_PAGES);
	for (round = 0; round < 3; round++) {
		while (m.arena.free_pages)
			try_alloc(&m, 1);
		HOLDS(m.count == MAX_PAGES);
		HOLDS(arena_largest_free(&m.arena) == 0);
		HOLDS(arena_alloc(&m.arena, 1, 1, &ptr) == -ENOMEM);
		check(&m);
		while (m.count > MAX_PAGES / 2) {
			try_free(&m);
			check(&m);
		}
	}
	finish(&m);
}

/* The number of mappings that overlap the arena. */
static unsigned int maps_inside(const struct arena *a)
{
	uintptr_t base = (uintptr_t)a->base, first, end;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	unsigned int n = 0;

	HOLDS(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &first, &end) == 2)
			n += first < base + a->pages * a->page_size &&
			     end > base;
	fclose(f);
	return n;
}

/* Can this page be read? pwrite() fails where an access would be a SIGSEGV. */
static bool readable(int fd, const void *ptr)
{
	return pwrite(fd, ptr, 1, MAX_PAGES * page_size) == 1;
}

static int memory(size_t size)
{
	int fd = memfd_create("arena-test", MFD_CLOEXEC);

	HOLDS(fd >= 0);
	HOLDS(!ftruncate(fd, size));
	return fd;
}

/* Maps a random part of the file, and compares a word through both. */
static void try_map(struct model *m, int fd)
{
	uint32_t pages = 1 + any(3);
	off_t offset = (off_t)any(MAX_PAGES - 3) * page_size;
	uint64_t want = any(UINT32_MAX), got;
	void *ptr;
	int ret = arena_map(&m->arena, pages * page_size, fd, offset, &ptr);

	if (ret) {
		HOLDS(ret == -ENOMEM);
		HOLDS(arena_largest_free(&m->arena) < pages * page_size);
		return;
	}
	note(m, ptr, pages);
	memcpy(ptr, &want, sizeof(want));
	HOLDS(pread(fd, &got, sizeof(got), offset) == sizeof(got));
	HOLDS(got == want);
}

static void test_mappings(void)
{
	static struct model m;
	int fd = memory((MAX_PAGES + 1) * page_size);
	unsigned int i, k;
	uint8_t *foreign;
	struct block b;
	void *ptr;

	start(&m, MAX_PAGES);
	HOLDS(maps_inside(&m.arena) == 1);
	for (i = 0; i < 3000; i++) {
		if (any(100) < (i / 300 % 2 ? 35 : 65)) {
			try_map(&m, fd);
		} else if (m.count) {
			b = forget(&m, any(m.count));
			HOLDS(readable(fd, b.ptr));
			HOLDS(!arena_unmap(&m.arena, b.ptr));
			HOLDS(!readable(fd, b.ptr));
			HOLDS(arena_unmap(&m.arena, b.ptr) == -EINVAL);
		}
		check(&m);
		if (i % 50)
			continue;
		/* A mmap() that fails changes nothing. */
		k = maps_inside(&m.arena);
		HOLDS(arena_map(&m.arena, page_size, -1, 0, &ptr) < 0);
		check(&m);
		HOLDS(maps_inside(&m.arena) == k);
		/* The kernel places other mappings outside of the range. */
		foreign = mmap(NULL, page_size, PROT_READ, MAP_PRIVATE |
			       MAP_ANONYMOUS, -1, 0);
		HOLDS(foreign != MAP_FAILED);
		HOLDS(foreign < m.arena.base ||
		      foreign >= m.arena.base + MAX_PAGES * page_size);
		if (any(2))
			munmap(foreign, page_size);
	}
	while (m.count)
		HOLDS(!arena_unmap(&m.arena, forget(&m, any(m.count)).ptr));
	check(&m);
	HOLDS(maps_inside(&m.arena) == 1);
	arena_fini(&m.arena);
	close(fd);
}

/* Each mapped block is a mapping, and so is each run of free pages. */
static void test_count(void)
{
	static struct model m;
	int fd = memory(page_size);
	unsigned int i;
	void *ptr;

	start(&m, MAX_PAGES);
	for (i = 0; i < MAX_PAGES; i++) {
		HOLDS(!arena_map(&m.arena, page_size, fd, 0, &ptr));
		note(&m, ptr, 1);
		HOLDS(maps_inside(&m.arena) == i + 1 + (i + 1 < MAX_PAGES));
	}
	while (m.count) {
		HOLDS(!arena_unmap(&m.arena, forget(&m, any(m.count)).ptr));
		HOLDS(maps_inside(&m.arena) == m.count + m.arena.free_blocks);
	}
	arena_fini(&m.arena);
	close(fd);
}

/* At the limit of maps, vm.max_map_count; false if it is too high to be reached. */
static bool test_limit(void)
{
	uint32_t limit = bench_read_number("/proc/sys/vm/max_map_count"), n, i;
	uint32_t pages = limit + 10;
	uint8_t **ptrs, *other;
	struct arena a;
	int fd, ret = 0;

	if (!limit || limit > 300000)
		return false;
	fd = memory(page_size);
	ptrs = calloc(pages, sizeof(*ptrs));
	HOLDS(ptrs && !arena_init(&a, pages * page_size));
	for (n = 0; n < pages; n++) {
		ret = arena_map(&a, page_size, fd, 0, (void **)&ptrs[n]);
		if (ret)
			break;
	}
	HOLDS(ret == -ENOMEM && n < limit && n > limit - 1000);
	HOLDS(a.free_pages == pages - n && a.free_blocks == 1);
	/* A freed block beside the reservation merges with it: one map fewer. */
	for (i = 0; i < 100; i++) {
		HOLDS(!arena_unmap(&a, ptrs[n - 1]));
		HOLDS(!arena_map(&a, page_size, fd, 0, (void **)&other));
		HOLDS(other == ptrs[n - 1]);
	}
	HOLDS(arena_map(&a, page_size, fd, 0, (void **)&other) == -ENOMEM);
	HOLDS(a.free_pages == pages - n && a.free_blocks == 1);
	/* A block freed between mappings leaves a reservation, which is a map, too. */
	for (i = 0; i < 100; i++) {
		HOLDS(!arena_unmap(&a, ptrs[i * 2]));
		HOLDS(!readable(fd, ptrs[i * 2]));
		HOLDS(arena_map(&a, page_size, fd, 0, (void **)&other) ==
		      -ENOMEM);
	}
	HOLDS(a.free_pages == pages - n + 100 && a.free_blocks == 101);
	for (i = 0; i < n; i++)
		if (i >= 200 || i % 2)
			HOLDS(!arena_unmap(&a, ptrs[i]));
	HOLDS(a.free_blocks == 1 && arena_largest_free(&a) == pages * page_size);
	HOLDS(maps_inside(&a) == 1);
	arena_fini(&a);
	free(ptrs);
	close(fd);
	return true;
}

int main(int argc, char **argv)
{
	page_size = sysconf(_SC_PAGESIZE);
	seed = state = argc > 1 ? strtoull(argv[1], NULL, 0) : bench_now();
	printf("seed %" PRIu64 "\n", seed);
	test_random();
	printf("random calls: as the model\n");
	test_exhaustion();
	printf("exhaustion: nothing lost\n");
	test_mappings();
	printf("mappings: contents and reservation\n");
	test_count();
	printf("count: one for each mapping, one for each free block\n");
	printf("limit of maps: %s\n", test_limit() ? "nothing lost" :
	       "too high to be reached here");
	return 0;
}
