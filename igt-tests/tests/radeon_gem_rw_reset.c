// SPDX-License-Identifier: MIT
/*
 * GPU resets by other clients: a write that has succeeded is not lost, and no
 * call blocks a reset.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_pool.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw reset
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, GPU resets
 * Description: Checks that a GPU reset loses no write that has succeeded, and
 *              that no call keeps the driver from resetting the GPU.
 */
IGT_TEST_DESCRIPTION("Checks what GPU resets do to writes of radeon BOs.");

#define HOLD_US		60000000u
#define END_SECONDS	60u
#define WRITES		16u

/* What keeps a BO busy, which decides the ring of a staged write. */
static const struct {
	enum igt_radeon_engine engine;
	unsigned int offset;	/* in the page; whole dwords if 0 */
	bool behind;		/* behind work that waits for lost work */
	bool lost;		/* a reset loses the writes */
} cases[] = {
	{ IGT_RADEON_DMA, 0, false, true },
	{ IGT_RADEON_DMA, 1, false, false },
	{ IGT_RADEON_CP_DMA, 0, false, false },
	{ IGT_RADEON_CP_DMA, 1, false, false },
	{ IGT_RADEON_CP_DMA, 1, true, true },
};

/* Resets the GPU: another client waits for its own work. */
static void reset_by_other(const struct igt_radeon_bo *of_other)
{
	const int fd = of_other->fd;
	const uint32_t before = igt_radeon_reset_count(fd);

	igt_radeon_reset_gpu(fd);
	igt_radeon_bo_wait_through_lockup(of_other);
	igt_assert_f(igt_radeon_reset_count(fd) > before,
		     "the GPU was not reset\n");
}

static void test_staged(int fd, const struct igt_radeon_placement *p,
			unsigned int c)
{
	const uint64_t size = WRITES * 2 * PAGE;
	const unsigned int bytes = PAGE - 2 * cases[c].offset;
	struct igt_radeon_bo bo, source, theirs[2];
	struct igt_radeon_stats stats;
	const uint64_t replayed = igt_radeon_stat(fd, "replayed");
	uint8_t *model, *user, *got;
	unsigned int i;
	int other;

	other = igt_radeon_open();
	igt_radeon_bo_init(&theirs[0], other, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&theirs[1], other, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	free(igt_radeon_bo_init_pattern(&bo, fd, size, p, 1));
	model = igt_radeon_bo_init_pattern(&source, fd, size,
					   &igt_radeon_reachable[1], 2);
	user = igt_radeon_malloc(PAGE);
	got = igt_radeon_malloc(size);

	stats = igt_radeon_stats(fd);
	igt_radeon_set_latency(fd, HOLD_US);
	igt_radeon_copy(cases[c].engine, &bo, 0, &source, 0, size);
	if (cases[c].behind)
		igt_radeon_copy(IGT_RADEON_DMA, &theirs[1], 0, &theirs[0], 0,
				PAGE);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &theirs[0], 0, &theirs[1], 0, PAGE);
	for (i = 0; i < WRITES; i++) {
		igt_radeon_pattern(user, bytes, 100 + i);
		memcpy(model + 2 * i * PAGE + cases[c].offset, user, bytes);
		igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, 2 * i * PAGE +
						cases[c].offset, bytes, user, 0),
			      0);
	}
	memset(user, 0, PAGE);
	stats = igt_radeon_stats_since(fd, &stats);
	igt_assert_eq_u64(stats.events[IGT_RADEON_STALL_AVOIDED], WRITES);
	igt_assert_f(igt_radeon_bo_busy(&bo), "the writes are done already\n");
	/* With a latency, the engines would fail the driver's ring tests. */
	igt_radeon_hang(fd, IGT_RADEON_CP_DMA);
	if (igt_radeon_has_engine(fd, IGT_RADEON_DMA))
		igt_radeon_hang(fd, IGT_RADEON_DMA);
	igt_radeon_set_latency(fd, 0);
	igt_assert_f(igt_radeon_bo_busy(&bo), "the writes are done already\n");
	reset_by_other(&theirs[0]);

	igt_radeon_bo_wait_through_lockup(&bo);
	igt_radeon_bo_read(&bo, got);
	/* The reset may have lost the copy, and so the bytes of other pages. */
	for (i = 0; i < WRITES; i++)
		igt_radeon_assert_equal(got + 2 * i * PAGE + cases[c].offset,
					model + 2 * i * PAGE + cases[c].offset,
					bytes, p->name);
	/* The reset has emptied the DMA ring; the gfx ring was restored. */
	if (cases[c].lost)
		igt_assert_f(igt_radeon_stat(fd, "replayed") > replayed,
			     "nothing was lost\n");
	/* The driver gave that ring up; the next call resets the GPU. */
	if (cases[c].behind)
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, 0, size, got, 0), 0);
	igt_radeon_bo_fini(&source);
	igt_radeon_bo_fini(&bo);
	close(other);
	free(got);
	free(user);
	free(model);
	/* A reset during the ring tests of another one disables a ring. */
	usleep(1500000);
}

/**
 * SUBTEST: staged-writes
 * Description: Staged writes to busy BOs have succeeded, and their source has
 *              changed, when another client has the GPU reset. Their bytes are
 *              in the BO afterwards. R600 does this without a DMA ring.
 */
static void test_staged_all(int fd)
{
	const bool dma = igt_radeon_has_engine(fd, IGT_RADEON_DMA);
	const struct igt_radeon_placement *p;
	unsigned int i, c;

	igt_radeon_require_board(fd);
	for (i = 0; (p = igt_radeon_placement(fd, i)); i++) {
		if (p->domain == RADEON_GEM_DOMAIN_CPU)
			continue;
		for (c = 0; c < ARRAY_SIZE(cases); c++) {
			/* The CPU has to be able to read the BO. */
			if (cases[c].behind &&
			    (p->domain != RADEON_GEM_DOMAIN_VRAM ||
			     p->flags & RADEON_GEM_NO_CPU_ACCESS))
				continue;
			if ((cases[c].behind || cases[c].engine == IGT_RADEON_DMA) &&
			    !dma)
				continue;
			igt_debug("%s, engine %u, offset %u\n", p->name,
				  cases[c].engine, cases[c].offset);
			test_staged(fd, p, c);
		}
	}
}

/**
 * SUBTEST: no-semaphores
 * Description: The engines hang while the pool of IBs and semaphores is full,
 *              and calls need a semaphore. The calls do not block the GPU
 *              reset, and end.
 */
static void test_no_semaphores(int fd)
{
	uint8_t *mem = igt_radeon_malloc(PAGE);
	const uint32_t before = igt_radeon_reset_count(fd);
	struct igt_radeon_thread t[3] = { 0 };
	struct igt_radeon_no_semaphore s;
	unsigned int i;
	int ret;

	igt_radeon_require_board(fd);
	memset(mem, 3, PAGE);
	igt_radeon_no_semaphore_init(&s, fd, HOLD_US);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		t[i].call = (struct igt_radeon_call) {
			.op = IGT_RADEON_PWRITE,
			.fd = fd,
			.handle = s.bo.handle,
			.offset = 1,
			.size = 301,
			.mem = mem,
			.flags = i == 1 ? RADEON_GEM_RW_NOWAIT :
				 i == 2 ? RADEON_GEM_RW_UNSYNCHRONIZED : 0,
		};
		igt_radeon_thread_start(&t[i]);
	}
	usleep(300000);
	igt_radeon_hang(fd, IGT_RADEON_CP_DMA);
	igt_radeon_hang(fd, IGT_RADEON_DMA);
	igt_radeon_set_latency(fd, 0);
	igt_radeon_bo_wait_through_lockup(&s.mark);
	igt_assert_f(igt_radeon_reset_count(fd) > before,
		     "the GPU was not reset\n");
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		ret = igt_radeon_thread_join(&t[i], END_SECONDS);
		igt_assert_f(ret == 0 || (i == 1 && ret == -EBUSY),
			     "call %u: %d\n", i, ret);
	}
	igt_radeon_no_semaphore_fini(&s);
	free(mem);
	usleep(1500000);
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER |
					       RADEON_GEM_RW_CAP_STAGED);
		igt_radeon_require_stats(fd);
	}

	igt_describe("A reset by another client loses no staged write.");
	igt_subtest("staged-writes")
		test_staged_all(fd);
	igt_fixture() {
		igt_radeon_stop_timer();
		igt_radeon_set_latency(fd, 0);
	}

	igt_describe("Calls that need a semaphore do not block a GPU reset.");
	igt_subtest("no-semaphores")
		test_no_semaphores(fd);
	igt_fixture() {
		igt_radeon_stop_timer();
		igt_radeon_set_latency(fd, 0);
		close(fd);
	}
}
