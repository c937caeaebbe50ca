// SPDX-License-Identifier: MIT
/*
 * Suspending the devices of a machine that stays on: pm_test in
 * Documentation/power/basic-pm-debugging.rst.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_suspend.h"
#include "igt_radeon_sys.h"

static bool file_has(const char *path, const char *text)
{
	char bytes[8192];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, bytes, sizeof(bytes) - 1);
	close(fd);
	bytes[n > 0 ? n : 0] = 0;
	return strstr(bytes, text);
}

static bool mounted_9p(void)
{
	char line[512];
	bool found = false;
	FILE *f = fopen("/proc/mounts", "r");

	igt_assert(f);
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, " 9p ");
	fclose(f);
	return found;
}

/**
 * igt_radeon_suspend_devices:
 *
 * Suspends all devices for a second and resumes them; the machine stays on. The
 * freezer may interrupt the calls of other processes, but they must not fail.
 */
void igt_radeon_suspend_devices(void)
{
	igt_radeon_put("/sys/module/suspend/parameters/pm_test_delay", "1");
	igt_assert(igt_radeon_put("/sys/power/pm_test", "devices"));
	igt_set_timeout(90, "suspend and resume");
	igt_assert_f(igt_radeon_put("/sys/power/state", "mem"),
		     "cannot suspend: %s\n", strerror(errno));
	igt_reset_timeout();
	igt_radeon_put("/sys/power/pm_test", "none");
}

/**
 * igt_radeon_require_suspend:
 *
 * Skips where igt_radeon_suspend_devices() cannot work: without pm_test, or with a file
 * system over 9p, which does not come back.
 */
void igt_radeon_require_suspend(void)
{
	igt_require_f(file_has("/sys/power/pm_test", "devices") &&
		      file_has("/sys/power/state", "mem"),
		      "this kernel has no test of suspending devices\n");
	/* 9p does not come back from suspend: its files are gone. */
	igt_require_f(!mounted_9p(), "a file system over 9p is mounted\n");
}
