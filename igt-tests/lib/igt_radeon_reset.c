// SPDX-License-Identifier: MIT
/*
 * GPU resets: asking for one, counting them, waiting through one.
 */

#include "igt.h"
#include "igt_radeon_reset.h"

/**
 * igt_radeon_reset_gpu:
 * @fd: device
 *
 * Has the driver believe that the GPU is locked up. The next call that waits for
 * the GPU resets it. Skips without debugfs.
 */
void igt_radeon_reset_gpu(int fd)
{
	char path[96], text[32];

	igt_require_f(igt_radeon_debugfs(fd, "radeon_gpu_reset", path,
					 sizeof(path)),
		      "no radeon_gpu_reset in debugfs\n");
	igt_assert(igt_radeon_get(path, text, sizeof(text)) > 0);
}

/**
 * igt_radeon_reset_count:
 * @fd: device
 *
 * Returns: how often the GPU was reset
 */
uint32_t igt_radeon_reset_count(int fd)
{
	return igt_radeon_info64(fd, RADEON_INFO_GPU_RESET_COUNTER);
}

/**
 * igt_radeon_bo_wait_through_lockup:
 * @bo: waits until no engine uses it, also if one has to be reset for that
 *
 * The driver looks for a lockup when it enters a wait and is not woken by one
 * that is found while it sleeps (6.12, radeon_fence_default_wait()): a timer
 * has it enter the wait anew, instead of sleeping its 30 s out.
 */
void igt_radeon_bo_wait_through_lockup(const struct igt_radeon_bo *bo)
{
	igt_radeon_start_timer(100000);
	igt_radeon_bo_wait(bo);
	igt_radeon_stop_timer();
}
