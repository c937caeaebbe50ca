// SPDX-License-Identifier: MIT
/*
 * Coherency of CPU and engines: flushes of the host data path (HDP), and waits
 * for the end of copies. If the driver omits one, bytes are old on hardware and
 * on the emulated board with --strict.
 *
 * The HDP has a write buffer, which GPU reads do not see, and a read cache,
 * which GPU writes do not invalidate. So each test first has the CPU write or
 * read some of the bytes. On a board without --strict, and on a CPU whose loads
 * happen to be late, these tests pass whatever the driver does. They can only
 * prove that a flush is missing; docs/mutations.md shows that they do.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_rw.h"
#include "igt_radeon_stats.h"

/**
 * TEST: radeon gem rw caches
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, coherency
 * Description: Checks that the CPU sees what the GPU has written, and that the
 *              GPU sees what the CPU has written.
 */
IGT_TEST_DESCRIPTION("Checks that reads and writes of radeon BOs are coherent.");

#define SMALL		256u
#define SIZE		(64 * KIB)
#define ROUNDS		24u
#define HOLD_US		60000000u

static const struct igt_radeon_placement vram = {
	"VRAM", RADEON_GEM_DOMAIN_VRAM, RADEON_GEM_CPU_ACCESS
};
static const struct igt_radeon_placement anywhere = {
	"VRAM", RADEON_GEM_DOMAIN_VRAM, 0
};
static const struct igt_radeon_placement gtt = {
	"GTT", RADEON_GEM_DOMAIN_GTT, 0
};

/* Fills a BO in GTT, and @model, with new bytes. */
static void refill(const struct igt_radeon_bo *bo, uint8_t *model,
		   uint32_t seed)
{
	igt_radeon_pattern(model, bo->size, seed);
	igt_radeon_bo_fill(bo, model);
}

/* Asserts that only the GPU (@engine) or only the CPU has copied. */
static void assert_only(int fd, const struct igt_radeon_stats *before,
			bool engine)
{
	const struct igt_radeon_stats d = igt_radeon_stats_since(fd, before);
	const uint64_t by_engine = d.bytes[IGT_RADEON_STAGED];

	igt_assert_f(engine ? by_engine > 0 : !by_engine,
		     "the %s has copied\n", engine ? "CPU" : "GPU");
}

/**
 * SUBTEST: cpu-reads-after-gpu
 * Description: A GPU write to VRAM is submitted and held back. The CPU reads
 *              some of its bytes unsynchronized, and gets the old ones. After
 *              the GPU is released, the CPU reads the new ones. The CPU's first
 *              read follows the submission, because that flushes the HDP.
 */
static void test_cpu_reads(int fd, enum igt_radeon_engine engine)
{
	uint8_t *model, *old, got[SMALL];
	struct igt_radeon_stats stats;
	struct igt_radeon_bo bo, src;
	unsigned int i;

	igt_radeon_require_hold(fd);
	old = igt_radeon_bo_init_pattern(&bo, fd, SIZE, &vram, 1);
	model = igt_radeon_bo_init_pattern(&src, fd, SIZE, &gtt, 2);
	stats = igt_radeon_stats(fd);
	for (i = 0; i < ROUNDS; i++) {
		refill(&src, model, 10 + i);
		igt_radeon_set_latency(fd, HOLD_US);
		igt_radeon_copy(engine, &bo, 0, &src, 0, SIZE);
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, i * PAGE / 4,
					       SMALL, got,
					       RADEON_GEM_RW_UNSYNCHRONIZED), 0);
		igt_assert_f(igt_radeon_bo_busy(&bo), "the GPU is done already\n");
		igt_radeon_set_latency(fd, 0);
		igt_radeon_assert_equal(got, old + i * PAGE / 4, SMALL,
					"what the CPU reads before");
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, i * PAGE / 4,
					       SMALL, got, 0), 0);
		igt_radeon_assert_equal(got, model + i * PAGE / 4, SMALL,
					"what the CPU reads");
		memcpy(old, model, SIZE);
	}
	assert_only(fd, &stats, false);
	igt_radeon_bo_fini(&src);
	igt_radeon_bo_fini(&bo);
	free(model);
	free(old);
}

/**
 * SUBTEST: gpu-reads-after-cpu
 * Description: The CPU writes a few bytes of VRAM, and a submission of the same
 *              client has the GPU read them.
 */
static void test_gpu_reads(int fd, enum igt_radeon_engine engine)
{
	struct igt_radeon_stats stats;
	struct igt_radeon_bo bo, dst;
	uint8_t *model;
	unsigned int i;

	model = igt_radeon_bo_init_pattern(&bo, fd, SIZE, &vram, 1);
	igt_radeon_bo_init(&dst, fd, SIZE, RADEON_GEM_DOMAIN_GTT, 0);
	for (i = 0; i < ROUNDS; i++) {
		igt_radeon_pattern(model + i * PAGE / 4, SMALL, 10 + i);
		stats = igt_radeon_stats(fd);
		igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, i * PAGE / 4,
						SMALL, model + i * PAGE / 4, 0),
			      0);
		assert_only(fd, &stats, false);
		igt_radeon_copy(engine, &dst, 0, &bo, 0, SIZE);
		igt_radeon_bo_assert(&dst, model, "what the GPU reads");
	}
	igt_radeon_bo_fini(&dst);
	igt_radeon_bo_fini(&bo);
	free(model);
}

/**
 * SUBTEST: staged-read-after-cpu
 * Description: The CPU writes a few bytes of VRAM. A read that is large enough
 *              for the driver to have the GPU copy returns them.
 */
static void test_staged_read(int fd)
{
	uint8_t *model, *got = igt_radeon_malloc(SIZE);
	struct igt_radeon_stats stats;
	struct igt_radeon_bo bo;
	unsigned int i;

	model = igt_radeon_bo_init_pattern(&bo, fd, SIZE, &vram, 1);
	for (i = 0; i < ROUNDS; i++) {
		igt_radeon_pattern(model + i * PAGE / 4, SMALL, 10 + i);
		igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, i * PAGE / 4,
						SMALL, model + i * PAGE / 4, 0),
			      0);
		stats = igt_radeon_stats(fd);
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, 0, SIZE, got, 0),
			      0);
		assert_only(fd, &stats, true);
		igt_radeon_assert_equal(got, model, SIZE, "what the GPU reads");
	}
	igt_radeon_bo_fini(&bo);
	free(model);
	free(got);
}

/**
 * SUBTEST: evicted-after-cpu
 * Description: The CPU writes a few bytes of a BO in VRAM. After the BO was
 *              evicted to GTT, the CPU reads them there.
 */
static void test_evicted(int fd)
{
	struct igt_radeon_stats stats;
	struct igt_radeon_bo bo;
	uint8_t *model;

	model = igt_radeon_bo_init_pattern(&bo, fd, SIZE, &vram, 1);
	igt_radeon_pattern(model + PAGE, SMALL, 2);
	stats = igt_radeon_stats(fd);
	igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, PAGE, SMALL,
					model + PAGE, 0), 0);
	assert_only(fd, &stats, false);
	igt_radeon_require_evicted(&bo);
	igt_radeon_bo_assert(&bo, model, "what was moved");
	igt_radeon_bo_fini(&bo);
	free(model);
}

/* Bytes that the board's engines have copied; 0 on hardware. */
static uint64_t copied(int fd)
{
	if (!igt_radeon_has_board(fd))
		return 0;
	return igt_radeon_board_counter(fd, IGT_RADEON_CP_DMA_BYTES) +
	       igt_radeon_board_counter(fd, IGT_RADEON_DMA_BYTES);
}

/**
 * SUBTEST: moved-after-cpu
 * Description: The CPU writes a few bytes of a BO in CPU-accessible VRAM. New
 *              BOs make the driver move it to CPU-inaccessible VRAM. Unlike a
 *              move to GTT, which binds pages, that flushes nothing by itself.
 */
static void test_moved(int fd)
{
	struct igt_radeon_bo bo, older, *others;
	struct igt_radeon_stats stats;
	uint64_t total, visible, before;
	uint8_t *model, got[SMALL];
	unsigned int i, max;
	bool moved = false;

	igt_radeon_require_invisible_vram(fd);
	/* Clearing would submit more than the move of the BO. */
	igt_radeon_require_param("gem_rw_clear_vram", 0);
	igt_radeon_vram_size(fd, &total, &visible);
	max = visible / MIB + 1;
	others = calloc(max, sizeof(*others));
	igt_assert(others);
	/*
	 * Each move ends with a flush of the HDP. Page tables on Cayman are older
	 * than the BO and small: without this BO, one new BO would move both.
	 */
	igt_radeon_bo_init(&older, fd, MIB, vram.domain, 0);
	model = igt_radeon_bo_init_pattern(&bo, fd, MIB, &anywhere, 1);
	for (i = 0; i < max && !moved; i++) {
		igt_radeon_pattern(model + PAGE, 4 * SMALL, 10 + i);
		stats = igt_radeon_stats(fd);
		igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, PAGE, 4 * SMALL,
						model + PAGE, 0), 0);
		assert_only(fd, &stats, false);
		before = copied(fd);
		igt_radeon_bo_init(&others[i], fd, MIB, vram.domain, vram.flags);
		/* An engine reads few bytes only of CPU-inaccessible VRAM. */
		stats = igt_radeon_stats(fd);
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, 0, SMALL, got, 0),
			      0);
		stats = igt_radeon_stats_since(fd, &stats);
		moved = stats.bytes[IGT_RADEON_STAGED] > 0;
	}
	igt_assert_f(moved, "the BO was not moved within VRAM\n");
	before = copied(fd) - before;
	if (igt_radeon_has_board(fd))
		igt_assert_f(before == MIB + SMALL,
			     "moved and read were %" PRIu64 " bytes: more than the BO was moved\n",
			     before);
	igt_radeon_bo_assert(&bo, model, "what was moved");
	igt_radeon_reset_params();
	while (i)
		igt_radeon_bo_fini(&others[--i]);
	igt_radeon_bo_fini(&bo);
	igt_radeon_bo_fini(&older);
	free(others);
	free(model);
}

/**
 * SUBTEST: cleared-then-read
 * Description: The CPU writes and reads a BO in VRAM and closes it. The GPU
 *              clears a new BO in the same memory, and the CPU reads zeros.
 */
static void test_cleared(int fd)
{
	static const uint8_t zeros[SMALL];
	struct igt_radeon_stats stats = igt_radeon_stats(fd);
	uint8_t got[SMALL];
	struct igt_radeon_bo bo;
	unsigned int i, j;

	igt_radeon_reset_params();
	for (i = 0; i < ROUNDS / 4; i++) {
		igt_radeon_bo_init(&bo, fd, MIB, vram.domain, vram.flags);
		for (j = 0; j < 16; j++) {
			igt_assert_eq(igt_radeon_pread(fd, bo.handle,
						       j * SIZE, SMALL, got, 0),
				      0);
			igt_radeon_assert_equal(got, zeros, SMALL, "a new BO");
		}
		for (j = 0; j < 16; j++) {
			memset(got, 0x77, SMALL);
			igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, j * SIZE,
							SMALL, got, 0), 0);
			igt_assert_eq(igt_radeon_pread(fd, bo.handle, j * SIZE,
						       SMALL, got, 0), 0);
		}
		igt_radeon_bo_fini(&bo);
	}
	stats = igt_radeon_stats_since(fd, &stats);
	igt_assert_f(stats.bytes[IGT_RADEON_CLEAR_GPU] +
		     stats.bytes[IGT_RADEON_CLEAR_HOP] > 0,
		     "the GPU has cleared nothing\n");
}

int igt_main()
{
	enum igt_radeon_engine engine;
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER |
					       RADEON_GEM_RW_CAP_STAGED);
		igt_radeon_require_stats(fd);
	}

	igt_describe("The CPU reads what the GPU has written.");
	igt_subtest("cpu-reads-after-gpu")
		for (engine = 0; engine < IGT_RADEON_ENGINES; engine++)
			if (igt_radeon_has_engine(fd, engine))
				test_cpu_reads(fd, engine);

	igt_describe("The GPU reads what the CPU has written.");
	igt_subtest("gpu-reads-after-cpu")
		for (engine = 0; engine < IGT_RADEON_ENGINES; engine++)
			if (igt_radeon_has_engine(fd, engine))
				test_gpu_reads(fd, engine);

	igt_describe("A staged read gets what the CPU has written.");
	igt_subtest("staged-read-after-cpu")
		test_staged_read(fd);

	igt_describe("An eviction moves what the CPU has written.");
	igt_subtest("evicted-after-cpu")
		test_evicted(fd);

	igt_describe("A move within VRAM moves what the CPU has written.");
	igt_subtest("moved-after-cpu")
		test_moved(fd);

	igt_describe("The CPU reads zeros where the GPU has cleared.");
	igt_subtest("cleared-then-read")
		test_cleared(fd);

	igt_fixture()
		close(fd);
}
