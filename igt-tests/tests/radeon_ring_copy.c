// SPDX-License-Identifier: MIT
/*
 * Copies of buffer objects by the GPU's rings, and recovery from a ring that
 * hangs. Needs nothing but a radeon driver with command submission. It shows
 * whether board and driver work at all, before PREAD and PWRITE are tested.
 */
#include "igt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "igt_radeon.h"
#include "igt_radeon_reset.h"
#include "igt_radeon_suspend.h"

/**
 * TEST: radeon ring copy
 * Category: Core
 * Mega feature: General Display Features
 * Sub-category: radeon
 * Functionality: command submission
 * Test category: functionality test
 * Description: Copies between BOs by CP DMA and by the DMA ring.
 *
 * SUBTEST: cp-dma
 * Description: CP_DMA copies bytes at any alignment between all placements, and
 *              changes no others.
 *
 * SUBTEST: dma
 * Description: The DMA ring copies dwords between all placements, and changes
 *              no other bytes.
 *
 * SUBTEST: engines-in-turn
 * Description: Copies that depend on each other stay in order when they
 *              alternate between the rings.
 *
 * SUBTEST: move-after-both
 * Description: A BO moves to GTT once both rings have read it, and the driver
 *              reserves enough of the ring that moves it.
 *
 * SUBTEST: hang-cp-dma
 * Description: The driver detects a hang of the gfx ring, and recovers from it.
 *
 * SUBTEST: hang-dma
 * Description: The driver detects a hang of the DMA ring, and recovers from it.
 *
 * SUBTEST: hang-after-move
 * Description: A reset executes again what the gfx ring has not done. A move of a
 *              BO that was done before is not executed again: the BO keeps what the
 *              CPU has written to it since.
 *
 * SUBTEST: hang-suspend-late
 * Description: The devices are suspended and resumed while the rings hang, and the
 *              GPU is slow when it is resumed. The machine comes back, nobody waits
 *              for the lost work, and both rings copy.
 */

IGT_TEST_DESCRIPTION("Copies between BOs by the GPU's rings.");

#define SIZE (3 * 4096)

/* Longer than a few submissions take, shorter than radeon.lockup_timeout of our boots */
#define LATENCY_US 300000
#define TRIES 10

/* Longer than the kernel takes from the start of a ring to the wait for its test */
#define LATE_US 50000

static void test_copy(int fd, enum igt_radeon_engine engine)
{
	/* The DMA ring takes only the pieces that are whole dwords. */
	static const struct { uint32_t dst, src, size; } pieces[] = {
		{ 0, 0, SIZE }, { 0, 4096, 4096 }, { 4, 8, 4 },
		{ 4092, 100, 8 }, { 1, 2, 3 }, { 4095, 7, 2 }, { 33, 63, 5001 },
	};
	unsigned char *from = malloc(SIZE), *to = malloc(SIZE);
	struct igt_radeon_bo src, dst;
	unsigned int s, d, i;

	igt_assert(from && to);
	igt_require_f(igt_radeon_has_engine(fd, engine), "no such ring\n");
	for (s = 0; s < igt_radeon_reachable_count; s++) {
		for (d = 0; d < igt_radeon_reachable_count; d++) {
			igt_radeon_bo_init(&src, fd, SIZE,
					   igt_radeon_reachable[s].domain,
					   igt_radeon_reachable[s].flags);
			igt_radeon_bo_init(&dst, fd, SIZE,
					   igt_radeon_reachable[d].domain,
					   igt_radeon_reachable[d].flags);
			igt_radeon_pattern(from, SIZE, 2 * s + 1);
			igt_radeon_pattern(to, SIZE, 2 * d + 2);
			igt_radeon_bo_fill(&src, from);
			igt_radeon_bo_fill(&dst, to);
			for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
				if (engine == IGT_RADEON_DMA &&
				    (pieces[i].dst | pieces[i].src | pieces[i].size) & 3)
					continue;
				igt_radeon_copy(engine, &dst, pieces[i].dst,
						&src, pieces[i].src, pieces[i].size);
				memcpy(to + pieces[i].dst, from + pieces[i].src,
				       pieces[i].size);
			}
			igt_radeon_bo_wait(&dst);
			igt_radeon_bo_assert(&dst, to, igt_radeon_reachable[d].name);
			igt_radeon_bo_assert(&src, from, igt_radeon_reachable[s].name);
			igt_radeon_bo_fini(&src);
			igt_radeon_bo_fini(&dst);
		}
	}
	free(from);
	free(to);
}

static void test_in_turn(int fd)
{
	unsigned char *model = malloc(SIZE);
	struct igt_radeon_bo bo[2];
	unsigned int i;

	igt_assert(model);
	for (i = 0; i < IGT_RADEON_ENGINES; i++)
		igt_require_f(igt_radeon_has_engine(fd, i), "no such ring\n");
	igt_radeon_pattern(model, SIZE, 77);
	for (i = 0; i < 2; i++)
		igt_radeon_bo_init(&bo[i], fd, SIZE, RADEON_GEM_DOMAIN_VRAM, 0);
	igt_radeon_bo_fill(&bo[0], model);

	/* Each copy reads what the other ring has just written. */
	for (i = 0; i < 40; i++) {
		uint32_t from = i * 4 % 4096, to = (i * 52 + 16) % 4096;

		igt_radeon_copy(i % 3 ? IGT_RADEON_DMA : IGT_RADEON_CP_DMA,
				&bo[1], to, &bo[0], from, 4096);
		igt_radeon_copy(i % 2 ? IGT_RADEON_DMA : IGT_RADEON_CP_DMA,
				&bo[0], 8192, &bo[1], to, 4096);
		igt_radeon_copy(i % 5 ? IGT_RADEON_CP_DMA : IGT_RADEON_DMA,
				&bo[0], to, &bo[1], to, 64);
		memcpy(model + 8192, model + from, 4096);
		memcpy(model + to, model + 8192, 64);
	}
	igt_radeon_bo_wait(&bo[0]);
	igt_radeon_bo_assert(&bo[0], model, "ping-pong");
	for (i = 0; i < 2; i++)
		igt_radeon_bo_fini(&bo[i]);
	free(model);
}

/*
 * Has both rings read a BO, and a third submission move it.
 * Returns: whether the DMA ring, whose work came first, had not done it when the gfx
 * ring's was submitted: else the BO keeps the gfx ring's fence alone
 */
static bool move_after_both(int fd, const unsigned char *model)
{
	struct igt_radeon_bo bo, dma, gfx;
	uint64_t moved;
	bool busy;

	igt_radeon_bo_init(&bo, fd, SIZE, RADEON_GEM_DOMAIN_VRAM, 0);
	igt_radeon_bo_init(&dma, fd, SIZE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&gfx, fd, SIZE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_fill(&bo, model);
	moved = igt_radeon_info64(fd, RADEON_INFO_NUM_BYTES_MOVED);

	igt_radeon_set_latency(fd, LATENCY_US);
	igt_radeon_copy(IGT_RADEON_DMA, &dma, 0, &bo, 0, SIZE);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &gfx, 0, &bo, 0, SIZE);
	busy = igt_radeon_bo_busy(&dma);
	igt_radeon_set_latency(fd, 0);
	bo.domain = RADEON_GEM_DOMAIN_GTT;
	igt_radeon_copy(IGT_RADEON_CP_DMA, &gfx, 0, &bo, 0, SIZE);

	moved = igt_radeon_info64(fd, RADEON_INFO_NUM_BYTES_MOVED) - moved;
	igt_assert_f(moved >= SIZE, "the BO did not move\n");
	igt_radeon_bo_wait(&dma);
	igt_radeon_bo_wait(&gfx);
	igt_radeon_bo_assert(&bo, model, "moved");
	igt_radeon_bo_assert(&dma, model, "read by the DMA ring");
	igt_radeon_bo_assert(&gfx, model, "read by the gfx ring");
	igt_radeon_bo_fini(&bo);
	igt_radeon_bo_fini(&dma);
	igt_radeon_bo_fini(&gfx);
	return busy;
}

/*
 * Cayman has a second DMA ring, which command streams use, while the first one
 * moves BOs: there the move has semaphores of two rings. It has them for fences that
 * have signalled as well. radeon_ring_write() reports each dword beyond the
 * reservation.
 */
static void test_move_after_both(int fd)
{
	unsigned char *model = malloc(SIZE);
	unsigned int i;
	int kmsg;

	igt_assert(model);
	igt_radeon_require_board(fd);
	for (i = 0; i < IGT_RADEON_ENGINES; i++)
		igt_require_f(igt_radeon_has_engine(fd, i), "no such ring\n");
	kmsg = igt_radeon_kmsg_open();

	igt_radeon_pattern(model, SIZE, 9);
	for (i = 0; i < TRIES && !move_after_both(fd, model); i++)
		;
	igt_assert_f(i < TRIES, "the DMA ring was always done before the gfx ring got its work\n");
	igt_assert_eq(igt_radeon_kmsg_count(kmsg, "more dwords to the ring"), 0);
	close(kmsg);
	free(model);
}

static void test_hang(int fd, enum igt_radeon_engine engine)
{
	unsigned char *model = malloc(SIZE), *other = malloc(SIZE);
	struct igt_radeon_bo src, dst;
	uint64_t resets;

	igt_assert(model && other);
	igt_radeon_require_board(fd);
	igt_require_f(igt_radeon_has_engine(fd, engine), "no such ring\n");
	igt_radeon_pattern(model, SIZE, 5);
	memset(other, 0, SIZE);
	igt_radeon_bo_init(&src, fd, SIZE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&dst, fd, SIZE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_fill(&src, model);
	igt_radeon_bo_fill(&dst, other);

	resets = igt_radeon_board_counter(fd, IGT_RADEON_SOFT_RESETS);
	igt_radeon_hang(fd, engine);
	igt_radeon_copy(engine, &dst, 0, &src, 0, SIZE);
	/* The driver resets the GPU after radeon.lockup_timeout. */
	igt_radeon_bo_wait_through_lockup(&dst);
	igt_assert_f(igt_radeon_board_counter(fd, IGT_RADEON_SOFT_RESETS) > resets,
		     "the ring did not hang, or nobody reset it\n");

	/* The reset may have lost the copy, but new work has to be done. */
	igt_radeon_bo_fill(&dst, other);
	igt_radeon_copy(engine, &dst, 0, &src, 0, SIZE);
	igt_radeon_bo_wait(&dst);
	igt_radeon_bo_assert(&dst, model, "after the reset");
	igt_radeon_bo_fini(&src);
	igt_radeon_bo_fini(&dst);
	free(model);
	free(other);
}

/*
 * On R6xx the gfx ring moves BOs. Commands of user space would note the place in the ring
 * from which a reset executes it again, so none may follow the move: a stream that the
 * kernel refuses moves its BOs nevertheless.
 */
static void test_hang_after_move(int fd)
{
	unsigned char *model = malloc(SIZE);
	struct igt_radeon_bo bo, src, lost;
	uint64_t moved;
	int kmsg;

	igt_assert(model);
	igt_radeon_require_board(fd);
	igt_radeon_bo_init(&bo, fd, SIZE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&src, fd, SIZE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&lost, fd, SIZE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_pattern(model, SIZE, 11);
	igt_radeon_bo_fill(&bo, model);

	moved = igt_radeon_info64(fd, RADEON_INFO_NUM_BYTES_MOVED);
	bo.domain = RADEON_GEM_DOMAIN_VRAM;
	/* Beyond the end of both. */
	igt_assert_eq(igt_radeon_try_copy(IGT_RADEON_CP_DMA, &bo, 0, &src, 0, 2 * SIZE), -EINVAL);
	igt_radeon_bo_wait(&bo);
	moved = igt_radeon_info64(fd, RADEON_INFO_NUM_BYTES_MOVED) - moved;
	igt_assert_f(moved >= SIZE, "the BO did not move\n");
	igt_radeon_bo_assert(&bo, model, "moved");
	igt_radeon_pattern(model, SIZE, 12);
	igt_radeon_bo_fill(&bo, model);

	kmsg = igt_radeon_kmsg_open();
	igt_radeon_hang(fd, IGT_RADEON_CP_DMA);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &lost, 0, &src, 0, SIZE);
	igt_radeon_bo_wait_through_lockup(&lost);
	igt_assert_f(igt_radeon_kmsg_count(kmsg, "dwords of commands on ring 0") > 0,
		     "nothing of the gfx ring was executed again\n");
	close(kmsg);
	igt_radeon_bo_assert(&bo, model, "after the reset");
	igt_radeon_bo_fini(&bo);
	igt_radeon_bo_fini(&src);
	igt_radeon_bo_fini(&lost);
	free(model);
}

static void test_hang_suspend_late(int fd)
{
	struct igt_radeon_bo src, dst[IGT_RADEON_ENGINES];
	unsigned int i;

	igt_radeon_require_suspend();
	igt_radeon_require_board(fd);
	for (i = 0; i < IGT_RADEON_ENGINES; i++)
		igt_require_f(igt_radeon_has_engine(fd, i), "no such ring\n");
	igt_radeon_bo_init(&src, fd, SIZE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_set_latency(fd, LATE_US);
	for (i = 0; i < IGT_RADEON_ENGINES; i++) {
		igt_radeon_bo_init(&dst[i], fd, SIZE, RADEON_GEM_DOMAIN_GTT, 0);
		igt_radeon_hang(fd, i);
		igt_radeon_copy(i, &dst[i], 0, &src, 0, SIZE);
	}
	igt_radeon_suspend_devices();
	igt_radeon_set_latency(fd, 0);
	for (i = 0; i < IGT_RADEON_ENGINES; i++) {
		igt_assert(!igt_radeon_bo_busy(&dst[i]));
		igt_radeon_bo_fini(&dst[i]);
	}
	igt_radeon_bo_fini(&src);
	for (i = 0; i < IGT_RADEON_ENGINES; i++)
		test_copy(fd, i);
}

int igt_main()
{
	int fd = -1;

	igt_fixture()
		fd = igt_radeon_open();

	igt_describe("CP_DMA copies exactly the requested bytes.");
	igt_subtest("cp-dma")
		test_copy(fd, IGT_RADEON_CP_DMA);

	igt_describe("The DMA ring copies exactly the requested dwords.");
	igt_subtest("dma")
		test_copy(fd, IGT_RADEON_DMA);

	igt_describe("Copies on different rings keep their order.");
	igt_subtest("engines-in-turn")
		test_in_turn(fd);

	igt_describe("A BO that both rings read moves behind their reads.");
	igt_subtest("move-after-both")
		test_move_after_both(fd);

	igt_describe("A hung gfx ring is reset, and works again.");
	igt_subtest("hang-cp-dma")
		test_hang(fd, IGT_RADEON_CP_DMA);

	igt_describe("A hung DMA ring is reset, and works again.");
	igt_subtest("hang-dma")
		test_hang(fd, IGT_RADEON_DMA);

	igt_describe("A reset does not execute a move again that was done.");
	igt_subtest("hang-after-move")
		test_hang_after_move(fd);

	igt_describe("A machine whose rings hang comes back from a suspend.");
	igt_subtest("hang-suspend-late")
		test_hang_suspend_late(fd);

	igt_fixture()
		close(fd);
}
