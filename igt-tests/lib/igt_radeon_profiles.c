// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_profiles.h"
#include "igt_radeon_sys.h"

/* Files in sysfs, and what they had before, which an exit handler restores. */
static struct {
	char path[2][96];
	char before[2][32];
	bool stop;
	bool failed;
	unsigned int changes;
	pthread_t thread;
} switcher;

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

	(void)data;
	while (!__atomic_load_n(&switcher.stop, __ATOMIC_RELAXED)) {
		if (!igt_radeon_put(switcher.path[1],
				    profiles[switcher.changes % 2]))
			switcher.failed = true;
		__atomic_add_fetch(&switcher.changes, 1, __ATOMIC_RELAXED);
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

/**
 * igt_radeon_require_profiles:
 * @fd: radeon DRM file
 *
 * Skips the subtest if the power profiles "low" and "high" cannot be chosen, or
 * have the same memory clock.
 */
void igt_radeon_require_profiles(int fd)
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
		      "the profiles have the same memory clock (%u), as all have without a monitor that is on\n",
		      low);
}

/**
 * igt_radeon_profiles_start:
 *
 * Starts a thread that switches between both profiles, with 2 ms after each
 * change. igt_radeon_require_profiles() goes before.
 */
void igt_radeon_profiles_start(void)
{
	switcher.stop = false;
	switcher.failed = false;
	switcher.changes = 0;
	igt_assert_eq(pthread_create(&switcher.thread, NULL, switch_main, NULL), 0);
}

/**
 * igt_radeon_profiles_changes:
 *
 * Returns: how many changes the thread has made
 */
unsigned int igt_radeon_profiles_changes(void)
{
	return __atomic_load_n(&switcher.changes, __ATOMIC_RELAXED);
}

/**
 * igt_radeon_profiles_stop:
 *
 * Ends the thread, and restores the profile. Fails if a change was refused.
 *
 * Returns: how many changes it has made
 */
unsigned int igt_radeon_profiles_stop(void)
{
	__atomic_store_n(&switcher.stop, true, __ATOMIC_RELAXED);
	pthread_join(switcher.thread, NULL);
	restore(0);
	igt_assert_f(!switcher.failed, "profiles cannot be switched\n");
	return switcher.changes;
}
