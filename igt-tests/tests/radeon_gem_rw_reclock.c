// SPDX-License-Identifier: MIT
/*
 * PREAD and PWRITE while the memory clock changes. VRAM cannot be accessed
 * during a change: stores of the CPU are lost, and its loads return wrong
 * bytes. The driver changes clocks between frames and when its power profile
 * changes.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "igt.h"
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

struct switcher {
	char path[2][96];
	char before[2][32];
	bool stop;
	bool failed;
	unsigned int changes;
	pthread_t thread;
};

/* An exit handler restores the profile of @before. */
static struct switcher switcher;

static void restore(int sig)
{
	unsigned int i;

	(void)sig;
	for (i = 2; i--;)
		if (switcher.before[i][0])
			igt_radeon_put(switcher.path[i], switcher.before[i]);
}

static void *switch_main(void *data)
{
	static const char * const profiles[] = { "low", "high" };
	struct switcher *s = data;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		if (!igt_radeon_put(s->path[1], profiles[s->changes % 2]))
			s->failed = true;
		__atomic_add_fetch(&s->changes, 1, __ATOMIC_RELAXED);
		usleep(2000);
	}
	return NULL;
}

static uint32_t memory_clock(int fd)
{
	char path[96], text[512], *line;
	unsigned int khz = 0;

	igt_require_f(igt_radeon_debugfs(fd, "radeon_pm_info", path,
					 sizeof(path)) &&
		      igt_radeon_get(path, text, sizeof(text)) > 0,
		      "no radeon_pm_info in debugfs\n");
	line = strstr(text, "current memory clock: ");
	igt_require_f(line && sscanf(line, "current memory clock: %u", &khz) == 1,
		      "the driver does not tell the memory clock\n");
	return khz;
}

static void require_profiles(int fd)
{
	static const char * const names[2] = { "power_method", "power_profile" };
	uint32_t low, high;
	struct stat st;
	unsigned int i;

	igt_assert_eq(fstat(fd, &st), 0);
	for (i = 0; i < 2; i++) {
		snprintf(switcher.path[i], sizeof(switcher.path[i]),
			 "/sys/dev/char/%u:%u/device/%s", major(st.st_rdev),
			 minor(st.st_rdev), names[i]);
		igt_require_f(igt_radeon_get(switcher.path[i],
					     switcher.before[i],
					     sizeof(switcher.before[i])) > 0,
			      "no %s: needs radeon.dpm=0\n", names[i]);
	}
	igt_install_exit_handler(restore);
	igt_require_f(igt_radeon_put(switcher.path[0], "profile") &&
		      igt_radeon_put(switcher.path[1], "low"),
		      "no power profiles\n");
	low = memory_clock(fd);
	igt_assert(igt_radeon_put(switcher.path[1], "high"));
	high = memory_clock(fd);
	igt_require_f(low != high,
		      "the card's profiles have the same memory clock (%u)\n", low);
}

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
	unsigned int calls = 0;
	uint8_t *model, *got;
	size_t size;
	double end;

	require_profiles(fd);
	/* Copies by the CPU: engines wait for clock changes themselves. */
	igt_radeon_require_param("gem_rw_stage_read_min", 1u << 30);
	model = igt_radeon_bo_init_pattern(&bo, fd, SIZE,
					   &igt_radeon_reachable[0], 1);
	got = igt_radeon_malloc(SIZE);
	stats = igt_radeon_stats(fd);
	igt_assert_eq(pthread_create(&switcher.thread, NULL, switch_main,
				     &switcher), 0);
	end = igt_radeon_now() + SECONDS;
	while (__atomic_load_n(&switcher.changes, __ATOMIC_RELAXED) < CHANGES &&
	       igt_radeon_now() < end) {
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
	__atomic_store_n(&switcher.stop, true, __ATOMIC_RELAXED);
	pthread_join(switcher.thread, NULL);
	stats = igt_radeon_stats_since(fd, &stats);
	restore(0);
	igt_assert_f(!switcher.failed, "profiles cannot be switched\n");
	igt_assert_f(switcher.changes >= 4 && calls >= 4,
		     "%u changes during %u calls\n", switcher.changes, calls);
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
