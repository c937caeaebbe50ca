// SPDX-License-Identifier: MIT
/*
 * PREAD and PWRITE while the memory clock changes. VRAM cannot be accessed
 * during a change: stores of the CPU are lost, and its loads return wrong
 * bytes. The driver changes clocks between frames and when its power profile
 * changes.
 */
#include <stdlib.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_profiles.h"
#include "igt_radeon_rw.h"
#include "igt_radeon_stats.h"

/**
 * TEST: radeon gem rw reclock
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, clock changes
 * Description: Checks that no byte is lost while the memory clock changes.
 */
IGT_TEST_DESCRIPTION("Checks reads and writes of radeon BOs while clocks change.");

#define SIZE		(2 * MIB)
#define CHANGES		30u
#define SECONDS		90.0

/**
 * SUBTEST: profiles
 * Description: A thread switches between power profiles with different memory
 *              clocks, while calls of several sizes write and read VRAM by the
 *              CPU. All bytes are right.
 */
static void test_profiles(int fd)
{
	static const size_t sizes[] = { 64, PAGE, 64 * KIB, 300 * KIB };
	struct igt_radeon_stats stats;
	struct igt_radeon_bo bo;
	unsigned int calls = 0, changes;
	uint8_t *model, *got;
	size_t size;
	double end;

	igt_radeon_require_profiles(fd);
	/* Copies by the CPU: engines wait for clock changes themselves. */
	igt_radeon_require_param("gem_rw_stage_read_min", 1u << 30);
	model = igt_radeon_bo_init_pattern(&bo, fd, SIZE,
					   &igt_radeon_reachable[0], 1);
	got = igt_radeon_malloc(SIZE);
	stats = igt_radeon_stats(fd);
	igt_radeon_profiles_start();
	end = igt_radeon_now() + SECONDS;
	while (igt_radeon_profiles_changes() < CHANGES && igt_radeon_now() < end) {
		size = sizes[calls % ARRAY_SIZE(sizes)];
		igt_radeon_pattern(model + PAGE, size, 10 + calls);
		igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, PAGE, size,
						model + PAGE, 0), 0);
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, PAGE, size, got, 0),
			      0);
		igt_radeon_assert_equal(got, model + PAGE, size,
					"read while clocks change");
		calls++;
	}
	changes = igt_radeon_profiles_stop();
	stats = igt_radeon_stats_since(fd, &stats);
	igt_assert_f(changes >= 4 && calls >= 4,
		     "%u changes during %u calls\n", changes, calls);
	igt_assert(!stats.bytes[IGT_RADEON_STAGED]);
	igt_radeon_bo_assert(&bo, model, "BO");
	igt_radeon_bo_fini(&bo);
	free(got);
	free(model);
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER);
		igt_radeon_require_stats(fd);
	}

	igt_describe("No byte is lost while power profiles are switched.");
	igt_subtest("profiles")
		test_profiles(fd);
	igt_fixture() {
		igt_radeon_reset_params();
		close(fd);
	}
}
