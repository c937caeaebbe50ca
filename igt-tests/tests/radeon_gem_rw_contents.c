// SPDX-License-Identifier: MIT
/*
 * Bytes after many calls in a row: calls of single words at random, calls for
 * more BOs than the aperture holds, in any order, for BOs that move between
 * calls, and for BOs that reuse pages of another caching mode.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_rw.h"

/**
 * TEST: radeon gem rw contents
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects without mapping them
 * Description: Checks the bytes after many calls, with BOs that fill the
 *              aperture, move, or inherit pages of another caching mode.
 */
IGT_TEST_DESCRIPTION("Checks the bytes that many calls leave behind.");

static uint32_t rnd_state = 1;

static uint32_t rnd(uint32_t below)
{
	rnd_state = rnd_state * 1664525u + 1013904223u;
	return (rnd_state >> 8) % below;
}

/**
 * SUBTEST: random-words
 * Description: Calls of 8 bytes at random offsets. What they write is read
 *              through a mapping, and the other way round.
 */
static void random_words(int fd, enum igt_radeon_op op,
			 const struct igt_radeon_placement *p)
{
	enum { COUNT = 500 };
	const uint64_t size = 256 * PAGE;
	struct igt_radeon_bo bo;
	uint8_t *model, *map = NULL;
	uint64_t word, at;
	unsigned int i;

	igt_debug("%s, %s\n", igt_radeon_op_name[op], p->name);
	model = igt_radeon_bo_init_pattern(&bo, fd, size, p, op);
	/* A mapping would move a BO out of CPU-inaccessible VRAM. */
	if (!(p->flags & RADEON_GEM_NO_CPU_ACCESS))
		map = igt_radeon_bo_map(&bo);
	for (i = 0; i < COUNT; i++) {
		at = rnd(size - sizeof(word));
		word = (uint64_t)rnd(1 << 24) << 40 | i;
		if (!igt_radeon_op_writes(op) && map) {
			memcpy(map + at, &word, sizeof(word));
			memcpy(model + at, &word, sizeof(word));
		}
		igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, at,
					    sizeof(word), &word, 0), 0);
		if (igt_radeon_op_writes(op))
			memcpy(model + at, &word, sizeof(word));
		igt_radeon_assert_equal(&word, model + at, sizeof(word),
					p->name);
		if (map)
			igt_radeon_assert_equal(map + at, model + at,
						sizeof(word), p->name);
	}
	if (map)
		munmap(map, size);
	igt_radeon_bo_assert(&bo, model, p->name);
	igt_radeon_bo_fini(&bo);
	free(model);
}

static void test_random_words(int fd)
{
	const struct igt_radeon_placement *p;
	enum igt_radeon_op op;
	unsigned int i;

	for (i = 0; (p = igt_radeon_placement(fd, i)); i++)
		for (op = 0; op < IGT_RADEON_OPS; op++)
			random_words(fd, op, p);
}

enum order {
	FORWARDS,
	BACKWARDS,
	RANDOM
};

/* Returns the BO that is number @i in the order, one of @count. */
static unsigned int nth(enum order order, unsigned int i, unsigned int count)
{
	switch (order) {
	case BACKWARDS:
		return count - 1 - i;
	case RANDOM:
		/* A prime larger than any count reaches each BO once. */
		return (i * 7919ull + 3) % count;
	default:
		return i;
	}
}

/**
 * SUBTEST: forwards
 * Description: More BOs in VRAM than the aperture holds are written and read
 *              one after the other, and keep their bytes.
 *
 * SUBTEST: backwards
 * Description: The same, last one first.
 *
 * SUBTEST: random
 * Description: The same, in random order.
 */
static void test_order(int fd, enum order order)
{
	static const uint32_t flags[] = { 0, RADEON_GEM_CPU_ACCESS };
	static const struct {
		uint64_t offset;
		size_t size;
	} parts[] = {
		{ 0, PAGE },
		{ (1 << 20) - 3, 20 * PAGE + 7 },
		{ (4 << 20) - PAGE, PAGE },
	};
	const uint64_t size = 4 << 20;
	uint64_t total, visible;
	struct igt_radeon_bo *bo;
	uint8_t *mem, *got;
	unsigned int count, f, i, k, n, op;

	igt_radeon_vram_size(fd, &total, &visible);
	count = visible / size + visible / size / 8;
	igt_require_f(count <= 256, "too large an aperture to fill\n");
	bo = calloc(count, sizeof(*bo));
	igt_assert(bo);
	mem = igt_radeon_malloc(32 * PAGE);
	got = igt_radeon_malloc(32 * PAGE);
	for (f = 0; f < ARRAY_SIZE(flags) * 2; f++) {
		/* PREAD and PWRITE, then TRANSFER. */
		op = f % 2 ? IGT_RADEON_DOWNLOAD : IGT_RADEON_PREAD;
		for (i = 0; i < count; i++)
			igt_radeon_bo_init(&bo[i], fd, size,
					   RADEON_GEM_DOMAIN_VRAM, flags[f / 2]);
		for (i = 0; i < count * ARRAY_SIZE(parts); i++) {
			n = nth(order, i / ARRAY_SIZE(parts), count);
			k = i % ARRAY_SIZE(parts);
			igt_radeon_pattern(mem, parts[k].size, n * 8 + k);
			igt_assert_eq(igt_radeon_rw(op + 1, fd, bo[n].handle,
						    parts[k].offset,
						    parts[k].size, mem, 0), 0);
		}
		for (i = 0; i < count * ARRAY_SIZE(parts); i++) {
			n = nth(order, i / ARRAY_SIZE(parts), count);
			k = i % ARRAY_SIZE(parts);
			igt_radeon_pattern(mem, parts[k].size, n * 8 + k);
			igt_assert_eq(igt_radeon_rw(op, fd, bo[n].handle,
						    parts[k].offset,
						    parts[k].size, got, 0), 0);
			igt_radeon_assert_equal(got, mem, parts[k].size,
						"one of many BOs");
		}
		for (i = 0; i < count; i++)
			igt_radeon_bo_fini(&bo[i]);
	}
	free(got);
	free(mem);
	free(bo);
}

/* Caching modes of a BO while it is in GTT. */
static const struct {
	const char *name;
	uint32_t flags;
} caching[] = {
	{ "cached", 0 },
	{ "write-combined", RADEON_GEM_GTT_WC },
	{ "uncached", RADEON_GEM_GTT_UC },
};

/* Waits for a GTT usage: the old pages of a BO that moved are freed later. */
static bool wait_gtt_usage(int fd, uint64_t usage)
{
	unsigned int i;

	for (i = 0; i < 500; i++) {
		if (igt_radeon_info64(fd, RADEON_INFO_GTT_USAGE) == usage)
			return true;
		usleep(10000);
	}
	return false;
}

/* Returns the GTT usage once it does not change any more. */
static uint64_t settled_gtt_usage(int fd)
{
	uint64_t usage, next = igt_radeon_info64(fd, RADEON_INFO_GTT_USAGE);

	do {
		usage = next;
		usleep(50000);
		next = igt_radeon_info64(fd, RADEON_INFO_GTT_USAGE);
	} while (usage != next);
	return usage;
}

/*
 * Has the GPU use the BO in another domain, for which the kernel moves it
 * there. @others is the GTT usage of all other BOs.
 */
static void move(struct igt_radeon_bo *bo, const struct igt_radeon_bo *dst,
		 uint32_t domain, uint64_t others)
{
	bo->domain = domain;
	igt_radeon_copy(IGT_RADEON_CP_DMA, dst, 0, bo, 0, PAGE);
	if (domain == RADEON_GEM_DOMAIN_GTT)
		others += bo->size;
	igt_assert_f(wait_gtt_usage(bo->fd, others), "the BO was not moved\n");
}

/**
 * SUBTEST: caching-changes
 * Description: A BO that moves between VRAM and GTT of each caching mode
 *              between calls keeps the bytes of all calls.
 */
static void test_caching_changes(int fd)
{
	const uint64_t size = 320 * PAGE;
	static const uint32_t domains[] = {
		RADEON_GEM_DOMAIN_GTT, RADEON_GEM_DOMAIN_VRAM,
	};
	struct igt_radeon_bo bo, dst;
	unsigned int c, i, k;
	enum igt_radeon_op op;
	uint64_t others;
	uint8_t *model;

	igt_radeon_bo_init(&dst, fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	for (c = 0; c < ARRAY_SIZE(caching); c++) {
		const struct igt_radeon_placement p = {
			caching[c].name, RADEON_GEM_DOMAIN_VRAM,
			caching[c].flags,
		};

		igt_debug("%s\n", p.name);
		model = igt_radeon_bo_init_pattern(&bo, fd, size, &p, c);
		others = settled_gtt_usage(fd);
		for (i = 0; i < 24; i++) {
			move(&bo, &dst, domains[i % 2], others);
			for (k = 0; k < 3; k++) {
				op = rnd(IGT_RADEON_OPS);
				igt_radeon_rw_range(op, &bo, model,
						    rnd(size / 2),
						    1 + rnd(k ? 300 : size / 2),
						    rnd(68));
			}
			if (i % 3 == 0)
				igt_radeon_bo_assert(&bo, model, p.name);
		}
		igt_radeon_bo_assert(&bo, model, p.name);
		igt_radeon_bo_fini(&bo);
		free(model);
	}
	igt_radeon_bo_fini(&dst);
}

/**
 * SUBTEST: page-reuse
 * Description: BOs of all caching modes reuse pages of BOs that were written
 *              before. The GPU and the CPU see zeros and the bytes written
 *              since, but no older ones.
 */
static void test_page_reuse(int fd)
{
	enum { BOS = 8, ROUNDS = 24 };
	const uint64_t size = 16 * PAGE;
	struct igt_radeon_bo bo[BOS], seen;
	uint8_t *model[BOS];
	unsigned int i, b;

	igt_radeon_bo_init(&seen, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	for (b = 0; b < BOS; b++)
		model[b] = igt_radeon_malloc(size);
	for (i = 0; i < ROUNDS; i++) {
		for (b = 0; b < BOS; b++) {
			igt_radeon_bo_init(&bo[b], fd, size,
					   RADEON_GEM_DOMAIN_GTT,
					   caching[(i + b / 2) %
						   ARRAY_SIZE(caching)].flags);
			memset(model[b], 0, size);
			igt_radeon_rw_range(b % 2 ? IGT_RADEON_PWRITE :
					    IGT_RADEON_UPLOAD, &bo[b], model[b],
					    100 * b + i, size / 2 + i, b);
		}
		/* The GPU does not see bytes that are still in a CPU cache. */
		for (b = 0; b < BOS; b++) {
			igt_radeon_copy(IGT_RADEON_CP_DMA, &seen, 0, &bo[b], 0,
					size);
			igt_radeon_bo_assert(&seen, model[b],
					     "as the GPU sees it");
			igt_radeon_rw_range(b % 2 ? IGT_RADEON_DOWNLOAD :
					    IGT_RADEON_PREAD, &bo[b], model[b],
					    0, size, 0);
			igt_radeon_bo_fini(&bo[b]);
		}
	}
	for (b = 0; b < BOS; b++)
		free(model[b]);
	igt_radeon_bo_fini(&seen);
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER);
	}

	igt_describe("Calls of 8 bytes at random offsets.");
	igt_subtest("random-words")
		test_random_words(fd);

	igt_describe("More BOs than the aperture holds, in order.");
	igt_subtest("forwards")
		test_order(fd, FORWARDS);

	igt_describe("More BOs than the aperture holds, in reverse.");
	igt_subtest("backwards")
		test_order(fd, BACKWARDS);

	igt_describe("More BOs than the aperture holds, at random.");
	igt_subtest("random")
		test_order(fd, RANDOM);

	igt_describe("A BO that moves between VRAM and GTT keeps its bytes.");
	igt_subtest("caching-changes")
		test_caching_changes(fd);

	igt_describe("New BOs do not show old bytes of reused pages.");
	igt_subtest("page-reuse")
		test_page_reuse(fd);

	igt_fixture()
		close(fd);
}
