// SPDX-License-Identifier: MIT
/*
 * Processes that use up the pool which the driver takes IBs and semaphores from
 * (rdev->ring_tmp_bo, 1 MiB): each submits work that does nothing, with IBs of a
 * size of its own, until the kernel keeps it waiting.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_hogs.h"
#include "igt_radeon_process.h"

#define END_SECONDS	60u

static int hog_main(void *data)
{
	static const uint32_t dwords[IGT_RADEON_HOGS] = { 16384, 1024, 64 };
	const unsigned int size = (uintptr_t)data;
	struct igt_radeon_bo bo;

	igt_radeon_bo_init(&bo, igt_radeon_open(), PAGE, RADEON_GEM_DOMAIN_GTT,
			   0);
	for (;;)
		igt_radeon_submit_nops(&bo, dwords[size]);
	return 0;
}

/*
 * The rings have room for more IBs than the pool: who sleeps in a submission,
 * while the engines are held back, waits for the pool.
 */
static bool stuck(pid_t pid)
{
	char path[64], text[64];
	unsigned int i, in = 0;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	for (i = 0; i < 200 && in < 10; i++) {
		usleep(50000);
		in = igt_radeon_get(path, text, sizeof(text)) > 0 &&
		     atoi(text) == SYS_ioctl ? in + 1 : 0;
	}
	return in >= 10;
}

/**
 * igt_radeon_hogs_start:
 * @hogs: filled in
 *
 * Starts them, and waits until there is no room for the smallest IB any more.
 * The engines have to be held back, or hung.
 */
void igt_radeon_hogs_start(struct igt_radeon_hogs *hogs)
{
	unsigned int i;

	for (i = 0; i < IGT_RADEON_HOGS; i++) {
		hogs->pid[i] = igt_radeon_spawn(hog_main,
						(void *)(uintptr_t)i);
		igt_assert_f(stuck(hogs->pid[i]),
			     "the pool of IBs does not get full\n");
	}
}

/**
 * igt_radeon_hogs_stuck:
 * @hogs: processes
 *
 * Returns: whether all of them still wait for room
 */
bool igt_radeon_hogs_stuck(const struct igt_radeon_hogs *hogs)
{
	unsigned int i;

	for (i = 0; i < IGT_RADEON_HOGS; i++)
		if (!stuck(hogs->pid[i]))
			return false;
	return true;
}

/**
 * igt_radeon_hogs_end:
 * @hogs: processes, which are killed; the engines have to work again
 */
void igt_radeon_hogs_end(struct igt_radeon_hogs *hogs)
{
	unsigned int i;

	for (i = 0; i < IGT_RADEON_HOGS; i++)
		kill(hogs->pid[i], SIGKILL);
	for (i = 0; i < IGT_RADEON_HOGS; i++)
		igt_radeon_reap(hogs->pid[i], END_SECONDS);
}
