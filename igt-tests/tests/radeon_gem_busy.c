// SPDX-License-Identifier: MIT
/*
 * GEM_BUSY and GEM_WAIT_IDLE ask where a BO is. Crashes a kernel without the fixes of
 * kernel/fixes, so that it is run only if it is asked for.
 */
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon.h"

/**
 * TEST: radeon gem busy
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: GEM_BUSY and GEM_WAIT_IDLE
 * Description: Checks GEM_BUSY and GEM_WAIT_IDLE. They need nothing of the driver's PREAD
 *              and PWRITE.
 */
IGT_TEST_DESCRIPTION("Checks radeon's GEM_BUSY and GEM_WAIT_IDLE.");

#define SECONDS		15
/* Moves in that time that GEM_BUSY must have seen. */
#define MOVES_SEEN	50
#define ASKERS		3

/* What the processes share: the end, and how often the BO was in VRAM and in GTT. */
struct shared {
	volatile int end;
	unsigned int in_vram[ASKERS];
	unsigned int in_gtt[ASKERS];
};

/* The domain that GEM_BUSY reports, whether the BO is busy or not. */
static uint32_t domain_of(const struct igt_radeon_bo *bo)
{
	struct drm_radeon_gem_busy busy = { .handle = bo->handle };

	igt_ioctl(bo->fd, DRM_IOCTL_RADEON_GEM_BUSY, &busy);
	return busy.domain;
}

static void ask(const struct igt_radeon_bo *bo, struct shared *shared, int asker)
{
	uint32_t domain;
	unsigned int i;

	for (i = 0; !shared->end; i++) {
		domain = domain_of(bo);
		igt_assert(domain);
		shared->in_vram[asker] += domain == RADEON_GEM_DOMAIN_VRAM;
		shared->in_gtt[asker] += domain == RADEON_GEM_DOMAIN_GTT;
		if (i % 8 == 0)
			igt_radeon_bo_wait(bo);
	}
}

/**
 * SUBTEST: moving
 * Description: Processes ask whether a BO is busy, and where it is, while another one
 *              moves it between VRAM and GTT.
 */
static void test_moving(int fd)
{
	unsigned int i, moves = 0;
	struct igt_radeon_bo bo;
	struct shared *shared;
	const time_t end = time(NULL) + SECONDS;
	uint32_t before = 0, now;

	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	igt_assert(shared != MAP_FAILED);
	igt_radeon_bo_init(&bo, fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);

	igt_fork(child, ASKERS)
		ask(&bo, shared, child);

	for (i = 0; time(NULL) < end; ) {
		bo.domain = i++ % 2 ? RADEON_GEM_DOMAIN_GTT : RADEON_GEM_DOMAIN_VRAM;
		igt_radeon_submit_nops(&bo, 16);
		now = domain_of(&bo);
		moves += now != before;
		before = now;
	}
	shared->end = 1;
	igt_waitchildren();

	igt_assert_f(moves >= MOVES_SEEN, "%u of %u moves were seen\n", moves, i);
	igt_info("%u of %u moves were seen\n", moves, i);
	for (i = 0; i < ASKERS; i++) {
		igt_info("asker %u: %u times in VRAM, %u in GTT\n", i, shared->in_vram[i],
			 shared->in_gtt[i]);
		igt_assert(shared->in_vram[i] && shared->in_gtt[i]);
	}
	igt_radeon_bo_fini(&bo);
	munmap(shared, PAGE);
}

int igt_main()
{
	int fd = -1;

	igt_fixture()
		fd = igt_radeon_open();

	igt_describe("Asking where a BO is while it moves.");
	igt_subtest("moving")
		test_moving(fd);

	igt_fixture()
		close(fd);
}
