// SPDX-License-Identifier: MIT
/*
 * Staged writes: the kernel copies the bytes of a write to a busy BO to its
 * staging buffer, from which the GPU copies them in order.
 * radeon_gem_rw_align.c tests all alignments.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_rw.h"
#include "igt_radeon_stats.h"

/**
 * TEST: radeon gem rw stage
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: writing busy buffer objects without waiting
 * Description: Checks that small writes to busy BOs do not wait, and are in
 *              order with GPU work.
 */
IGT_TEST_DESCRIPTION("Checks staged writes to radeon BOs.");

/* Much less than HOLD_US, for which a write that waits would take. */
#define QUICK_US	20000u
/* Longer than other processes keep the test from the CPU. */
#define HOLD_US		8000000u
#define TRIES		5

static uint64_t now_us(void)
{
	struct timespec t;

	igt_assert_eq(clock_gettime(CLOCK_MONOTONIC, &t), 0);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

/* Writes new bytes to the BO and its model, and overwrites the source. */
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

/* Microseconds that writes to busy BOs took, of all no_stall() of a subtest. */
static unsigned int times[256], times_count;

static int compare(const void *a, const void *b)
{
	const unsigned int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/**
 * SUBTEST: no-stall
 * Description: A write of 4 KiB to a BO that the GPU is going to read, or to
 *              write, is staged and does not wait: the driver's counters show
 *              that, and the median call takes less than 20 ms. Earlier GPU
 *              work sees the old bytes, later GPU work, by the other engine if
 *              there is one, the new ones.
 */
static void no_stall(int fd, enum igt_radeon_engine engine,
		     enum igt_radeon_engine later,
		     const struct igt_radeon_placement *p, bool gpu_reads)
{
	const uint64_t size = 4 * PAGE;
	struct igt_radeon_bo bo, src, before, after;
	struct igt_radeon_stats stats, delta;
	uint8_t *model, *foreign, *old = igt_radeon_malloc(size);
	unsigned int try;
	uint64_t start;
	char what[96];

	snprintf(what, sizeof(what), "%s, engine %d %s", p->name, engine,
		 gpu_reads ? "reads" : "writes");
	model = igt_radeon_bo_init_pattern(&bo, fd, size, p, 1);
	foreign = igt_radeon_bo_init_pattern(&src, fd, size,
					     &igt_radeon_reachable[1], 2);
	igt_radeon_bo_init(&before, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&after, fd, size, RADEON_GEM_DOMAIN_VRAM, 0);
	for (try = 0; try < TRIES; try++) {
		memcpy(old, model, size);
		igt_radeon_set_latency(fd, HOLD_US);
		if (gpu_reads) {
			igt_radeon_copy(engine, &before, 0, &bo, 0, size);
		} else {
			igt_radeon_copy(engine, &bo, 0, &src, 0, size);
			memcpy(model, foreign, size);
		}
		stats = igt_radeon_stats(fd);
		start = now_us();
		igt_assert_eq(write_range(&bo, model, PAGE + try, PAGE, 0), 0);
		igt_assert(times_count < ARRAY_SIZE(times));
		times[times_count++] = now_us() - start;
		delta = igt_radeon_stats_since(fd, &stats);
		igt_debug("%s: %u us\n", what, times[times_count - 1]);
		igt_radeon_assert_path(&delta, IGT_RADEON_STAGED, PAGE, what);
		igt_assert_eq_u64(delta.events[IGT_RADEON_STALL], 0);
		igt_assert_eq_u64(delta.events[IGT_RADEON_STALL_AVOIDED], 1);
		igt_assert_eq_u64(delta.events[IGT_RADEON_NOT_STAGED], 0);

		igt_radeon_copy(later, &after, 0, &bo, 0, size);
		igt_radeon_set_latency(fd, 0);
		if (gpu_reads)
			igt_radeon_bo_assert(&before, old, "earlier GPU read");
		igt_radeon_bo_assert(&after, model, "later GPU read");
		igt_radeon_bo_assert(&bo, model, "the BO itself");
	}
	igt_radeon_bo_fini(&after);
	igt_radeon_bo_fini(&before);
	igt_radeon_bo_fini(&src);
	igt_radeon_bo_fini(&bo);
	free(model);
	free(foreign);
	free(old);
}

static void test_no_stall(int fd, const struct igt_radeon_placement *p)
{
	const bool dma = igt_radeon_has_engine(fd, IGT_RADEON_DMA);
	enum igt_radeon_engine engine, later;

	for (engine = 0; engine < IGT_RADEON_ENGINES; engine++) {
		if (engine == IGT_RADEON_DMA && !dma)
			continue;
		later = dma ? !engine : engine;
		no_stall(fd, engine, later, p, false);
		no_stall(fd, engine, later, p, true);
	}
}

/* Uses the median, as other processes may delay some calls. */
static void assert_quick(void)
{
	unsigned int median;

	qsort(times, times_count, sizeof(times[0]), compare);
	median = times[times_count / 2];
	igt_info("%u writes to busy BOs: median %u us, maximum %u us\n",
		 times_count, median, times[times_count - 1]);
	igt_assert_f(median < QUICK_US,
		     "a write to a busy BO takes %u us\n", median);
}

/**
 * SUBTEST: many-writes
 * Description: Overlapping writes to random parts of a busy BO, of more bytes
 *              than the staging buffer has, are done in order.
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
 * Description: With NOWAIT, a write of any size to a busy BO does not wait,
 *              even if the staging buffer is full: it is staged or gives
 *              -EBUSY.
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

/* Runs a test in all placements but system memory: the GPU cannot write it. */
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

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_STAGED);
	}

	igt_describe("A small write to a busy BO does not wait.");
	igt_subtest("no-stall") {
		igt_radeon_require_stats(fd);
		everywhere(fd, test_no_stall);
		assert_quick();
	}
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("More writes than can be staged are done in order.");
	igt_subtest("many-writes")
		everywhere(fd, test_many_writes);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("NOWAIT writes to busy BOs do not wait.");
	igt_subtest("nowait")
		everywhere(fd, test_nowait);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_fixture()
		close(fd);
}
