// SPDX-License-Identifier: MIT
/*
 * Fault injection (/proc/thread-self/fail-nth).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_faults.h"
#include "igt_radeon.h"

#define DEBUGFS		"/sys/kernel/debug/"

static int nth_fd = -1;

static void require_put(const char *path, const char *text)
{
	igt_require_f(igt_radeon_put(path, text), "cannot set %s\n", path);
}

/* A required range that has no return address in it disables a capability. */
static void enable(const char *capability, bool on)
{
	char path[96];

	snprintf(path, sizeof(path), DEBUGFS "%s/require-start", capability);
	require_put(path, on ? "0" : "1");
	snprintf(path, sizeof(path), DEBUGFS "%s/require-end", capability);
	require_put(path, on ? "0xffffffffffffffff" : "2");
	/* Do not log each fault: there are thousands. */
	snprintf(path, sizeof(path), DEBUGFS "%s/verbose", capability);
	require_put(path, "0");
}

/**
 * igt_radeon_require_faults:
 *
 * Skips on a kernel without this fault injection. Faults are injected into the
 * thread that calls this.
 */
void igt_radeon_require_faults(void)
{
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	igt_require_f(nth_fd >= 0,
		      "this kernel has no fault injection (fail-nth)\n");
	igt_require_f(!access(DEBUGFS "failslab", F_OK) &&
		      !access(DEBUGFS "fail_page_alloc", F_OK) &&
		      !access(DEBUGFS "fail_usercopy", F_OK),
		      "needs failslab, fail_page_alloc and fail_usercopy\n");
	/* Allocations that may sleep, and those of one page, fail as well. */
	require_put(DEBUGFS "failslab/ignore-gfp-wait", "N");
	require_put(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N");
	require_put(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N");
	require_put(DEBUGFS "fail_page_alloc/min-order", "0");
}

/**
 * igt_radeon_choose_faults:
 * @fault: the only kind of operation that fails from now on
 */
void igt_radeon_choose_faults(enum igt_radeon_fault fault)
{
	enable("failslab", fault == IGT_RADEON_FAULT_ALLOC);
	enable("fail_page_alloc", fault == IGT_RADEON_FAULT_ALLOC);
	enable("fail_usercopy", fault == IGT_RADEON_FAULT_USERCOPY);
}

/**
 * igt_radeon_arm:
 * @nth: number of the operation that fails, 1 for the next one; 0 for none
 */
void igt_radeon_arm(unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	/* The injected fault may hit the kernel's read of @text itself. */
	while (pwrite(nth_fd, text, len, 0) != len)
		igt_assert_eq(errno, EFAULT);
}

/**
 * igt_radeon_disarm:
 *
 * Returns: whether the fault that was armed has happened
 */
bool igt_radeon_disarm(void)
{
	char text[16] = "";
	ssize_t n = pread(nth_fd, text, sizeof(text) - 1, 0);
	bool happened;

	igt_assert(n > 0 || errno == EFAULT);
	happened = n > 0 && !atoi(text);
	igt_radeon_arm(0);
	return happened;
}
