// SPDX-License-Identifier: MIT
/*
 * Writes to BOs that the GPU is using, which the kernel stages and has the GPU
 * copy in order, and reads of VRAM by way of the GPU.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon.h"

/**
 * TEST: radeon gem rw stage
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: writing busy buffer objects without waiting
 * Description: Checks that small writes to busy BOs do not wait and come in
 *              order with GPU work, and that any alignment is right where the
 *              GPU copies.
 */
IGT_TEST_DESCRIPTION("Checks staged writes and reads of radeon BOs.");

#define PAGE		4096u
#define LATENCY_US	200000u
#define HOLD_US		2000000u
#define TRIES		5

static uint64_t now_us(void)
{
	struct timespec t;

	igt_assert_eq(clock_gettime(CLOCK_MONOTONIC, &t), 0);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

/* Writes fresh bytes to the BO and its model, and clobbers the source. */
static int write_range(const struct igt_radeon_bo *bo, uint8_t *model,
		       uint64_t offset, size_t size, uint32_t flags)
{
	static uint8_t mem[(2 << 20) + 4];
	static uint32_t seed = 1000;
	uint8_t *src = mem + seed % 4;
	int ret;

	igt_assert(size <= 2 << 20);
	igt_radeon_pattern(src, size, seed++);
	ret = igt_radeon_pwrite(bo->fd, bo->handle, offset, size, src, flags);
	if (!ret)
		memcpy(model + offset, src, size);
	memset(src, 0xee, size);
	return ret;
}

/**
 * SUBTEST: no-stall
 * Description: A write of 4 KiB to a BO that the GPU is going to read, or to
 *              write, takes less than a tenth of the time that the GPU takes to
 *              start. Earlier GPU work sees the old bytes, later the new ones.
 */
static void test_no_stall(int fd, enum igt_radeon_engine engine,
			  const struct igt_radeon_placement *p)
{
	const uint64_t size = 4 * PAGE;
	struct igt_radeon_bo bo, src, before, after;
	uint8_t *model, *foreign, *old = igt_radeon_malloc(size);
	unsigned int source, try, quick;
	uint64_t start, us;

	model = igt_radeon_bo_init_pattern(&bo, fd, size, p, 1);
	foreign = igt_radeon_bo_init_pattern(&src, fd, size,
					     &igt_radeon_reachable[1], 2);
	igt_radeon_bo_init(&before, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&after, fd, size, RADEON_GEM_DOMAIN_VRAM, 0);
	for (source = 0; source < 2; source++) {
		quick = 0;
		for (try = 0; try < TRIES; try++) {
			memcpy(old, model, size);
			igt_radeon_set_latency(fd, LATENCY_US);
			if (source) {
				igt_radeon_copy(engine, &before, 0, &bo, 0,
						size);
			} else {
				igt_radeon_copy(engine, &bo, 0, &src, 0, size);
				memcpy(model, foreign, size);
			}
			start = now_us();
			igt_assert_eq(write_range(&bo, model, PAGE + try, PAGE,
						  0), 0);
			us = now_us() - start;
			igt_debug("%s: %llu us\n", p->name,
				  (unsigned long long)us);
			quick += us < LATENCY_US / 10;
			igt_radeon_copy(!engine, &after, 0, &bo, 0, size);
			igt_radeon_set_latency(fd, 0);
			if (source)
				igt_radeon_bo_assert(&before, old,
						     "earlier GPU read");
			igt_radeon_bo_assert(&after, model, "later GPU read");
			igt_radeon_bo_assert(&bo, model, "the BO itself");
		}
		/* A wait is never quick, but others may have the CPU. */
		igt_assert_f(quick > TRIES / 2,
			     "%s, engine %d, busy as %s: %u of %u writes did not wait\n",
			     p->name, engine, source ? "source" : "destination",
			     quick, TRIES);
	}
	igt_radeon_bo_fini(&after);
	igt_radeon_bo_fini(&before);
	igt_radeon_bo_fini(&src);
	igt_radeon_bo_fini(&bo);
	free(model);
	free(foreign);
	free(old);
}

/**
 * SUBTEST: many-writes
 * Description: Writes to a busy BO, at random and overlapping, of more bytes
 *              than any staging area has, come out in order.
 */
static void test_many_writes(int fd, const struct igt_radeon_placement *p)
{
	const uint64_t size = 64 * PAGE;
	struct igt_radeon_bo bo, src;
	uint8_t *model, *foreign;
	uint32_t state = 7, offset, bytes, i;

	model = igt_radeon_bo_init_pattern(&bo, fd, size, p, 3);
	foreign = igt_radeon_bo_init_pattern(&src, fd, size,
					     &igt_radeon_reachable[1], 4);
	igt_radeon_set_latency(fd, 5000);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &bo, 0, &src, 0, size);
	memcpy(model, foreign, size);
	for (i = 0; i < 600; i++) {
		state = state * 1664525u + 1013904223u;
		offset = (state >> 8) % (size / 2);
		bytes = 1 + (state >> 4) % (i % 3 ? 300 : size / 2);
		igt_assert_eq(write_range(&bo, model, offset, bytes, 0), 0);
	}
	igt_radeon_set_latency(fd, 0);
	igt_radeon_bo_assert(&bo, model, "after many writes");
	igt_radeon_bo_fini(&src);
	igt_radeon_bo_fini(&bo);
	free(model);
	free(foreign);
}

/**
 * SUBTEST: nowait
 * Description: With NOWAIT no write to a busy BO waits, of any size and also
 *              when the staging area is full: it is staged or gives -EBUSY.
 */
static void test_nowait(int fd, const struct igt_radeon_placement *p)
{
	static const size_t sizes[] = { 1, 4096, 65536, 262144, 1 << 20 };
	const uint64_t size = 2 << 20;
	struct igt_radeon_bo bo, dst;
	uint8_t *model, *old = igt_radeon_malloc(size);
	unsigned int i, busy = 0;
	int ret;

	model = igt_radeon_bo_init_pattern(&bo, fd, size, p, 5);
	memcpy(old, model, size);
	igt_radeon_bo_init(&dst, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_set_latency(fd, HOLD_US);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &dst, 0, &bo, 0, size);
	for (i = 0; i < 100; i++) {
		ret = write_range(&bo, model, i * 17, sizes[i % 5],
				  RADEON_GEM_RW_NOWAIT);
		igt_assert_f(ret == 0 || ret == -EBUSY, "%s: %d\n", p->name,
			     ret);
		busy += !!ret;
	}
	igt_assert_f(igt_radeon_bo_busy(&dst), "%s: NOWAIT waited\n", p->name);
	igt_debug("%s: %u of 100 are -EBUSY\n", p->name, busy);
	igt_radeon_set_latency(fd, 0);
	igt_radeon_bo_assert(&dst, old, "earlier GPU read");
	igt_radeon_bo_assert(&bo, model, "the BO itself");
	igt_radeon_bo_fini(&dst);
	igt_radeon_bo_fini(&bo);
	free(model);
	free(old);
}

/**
 * SUBTEST: alignments
 * Description: Writes to a busy BO at alignments 0-67 and of 1-67 bytes change
 *              exactly these bytes, and none of them waits.
 *
 * SUBTEST: read-alignments
 * Description: Reads of VRAM at alignments 0-67 get exactly the right bytes,
 *              small ones and those of more than some pages.
 */
static void test_alignments(int fd, const struct igt_radeon_placement *p)
{
	enum { SLOT = 192, BATCH = 64, COUNT = 68 * 67 };
	const uint64_t size = 256 * PAGE;
	struct igt_radeon_bo bo, dst;
	unsigned int i;
	uint8_t *model;

	model = igt_radeon_bo_init_pattern(&bo, fd, size, p, 6);
	igt_radeon_bo_init(&dst, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	for (i = 0; i < COUNT; i++) {
		if (i % BATCH == 0) {
			igt_radeon_set_latency(fd, HOLD_US);
			igt_radeon_copy(IGT_RADEON_CP_DMA, &dst, 0, &bo, 0,
					PAGE);
		}
		igt_assert_eq(write_range(&bo, model, i * SLOT + i / 67,
					  1 + i % 67, 0), 0);
		if (i % BATCH == BATCH - 1 || i == COUNT - 1) {
			igt_assert_f(igt_radeon_bo_busy(&dst),
				     "%s: a small write waited\n", p->name);
			igt_radeon_set_latency(fd, 0);
			igt_radeon_bo_wait(&bo);
		}
	}
	igt_radeon_bo_assert(&bo, model, "after writes of all alignments");
	igt_radeon_bo_fini(&dst);
	igt_radeon_bo_fini(&bo);
	free(model);
}

static void test_read_alignments(int fd, const struct igt_radeon_placement *p)
{
	static uint8_t mem[16 * PAGE];
	const uint64_t size = 16 * PAGE;
	unsigned int i, j, at, bytes;
	struct igt_radeon_bo bo;
	uint8_t *model;

	model = igt_radeon_bo_init_pattern(&bo, fd, size, p, 7);
	for (i = 0; i < 68 * 68; i++) {
		/* All small ones, and some of the large. */
		at = i / 68;
		bytes = i % 68 + (i % 7 == 0 ? 16384 : 0);
		memset(mem, 0xa5, bytes + 256);
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, PAGE + at, bytes,
					       mem + 128 + i % 5, 0), 0);
		igt_assert_f(!memcmp(mem + 128 + i % 5, model + PAGE + at,
				     bytes),
			     "%s: alignment %u, %u bytes are wrong\n", p->name,
			     at, bytes);
		for (j = 0; j < 100; j++)
			igt_assert_f(mem[127 + i % 5 - j] == 0xa5 &&
				     mem[128 + i % 5 + bytes + j] == 0xa5,
				     "%s: alignment %u, %u bytes: memory around them changed\n",
				     p->name, at, bytes);
	}
	igt_radeon_bo_assert(&bo, model, "after reads");
	igt_radeon_bo_fini(&bo);
	free(model);
}

/* Where the GPU copies to: system memory is none of it. */
static void everywhere(int fd, void (*test)(int fd,
					    const struct igt_radeon_placement *p))
{
	const struct igt_radeon_placement *p;
	unsigned int i;

	igt_radeon_require_board(fd);
	for (i = 0; (p = igt_radeon_placement(fd, i)); i++)
		if (p->domain != RADEON_GEM_DOMAIN_CPU)
			test(fd, p);
}

static void no_stall(int fd, const struct igt_radeon_placement *p)
{
	test_no_stall(fd, IGT_RADEON_CP_DMA, p);
	test_no_stall(fd, IGT_RADEON_DMA, p);
}

static void read_alignments(int fd, const struct igt_radeon_placement *p)
{
	if (p->domain == RADEON_GEM_DOMAIN_VRAM)
		test_read_alignments(fd, p);
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_STAGED);
	}

	igt_describe("A small write to a busy BO does not wait.");
	igt_subtest("no-stall") {
		igt_require_f(igt_radeon_has_engine(fd, IGT_RADEON_DMA),
			      "needs two engines\n");
		everywhere(fd, no_stall);
	}
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("More than can be staged comes out in order.");
	igt_subtest("many-writes")
		everywhere(fd, test_many_writes);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("NOWAIT never waits.");
	igt_subtest("nowait")
		everywhere(fd, test_nowait);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("Staged writes of any alignment.");
	igt_subtest("alignments")
		everywhere(fd, test_alignments);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("Reads of VRAM of any alignment.");
	igt_subtest("read-alignments")
		everywhere(fd, read_alignments);

	igt_fixture()
		close(fd);
}
