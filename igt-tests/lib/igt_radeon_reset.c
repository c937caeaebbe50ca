// SPDX-License-Identifier: MIT
/*
 * GPU resets: requesting one, counting them, waiting across one.
 */

#include "igt.h"
#include "igt_radeon_reset.h"

/**
 * igt_radeon_reset_gpu:
 * @fd: device
 *
 * Makes the driver take the GPU for locked up. The next call that waits for the
 * GPU resets it. Skips without debugfs.
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
 * Returns: number of GPU resets since the driver was loaded
 */
uint32_t igt_radeon_reset_count(int fd)
{
	return igt_radeon_info64(fd, RADEON_INFO_GPU_RESET_COUNTER);
}

/**
 * igt_radeon_bo_wait_through_lockup:
 * @bo: BO
 *
 * Waits until no engine uses @bo, also if the GPU has to be reset for that.
 *
 * radeon_fence_default_wait() of Linux 6.12 looks for a lockup when it is
 * entered, but a lockup that is detected while it sleeps does not wake it. A
 * timer makes it enter the wait again, which otherwise would last 30 s.
 */
void igt_radeon_bo_wait_through_lockup(const struct igt_radeon_bo *bo)
{
	igt_radeon_start_timer(100000);
	igt_radeon_bo_wait(bo);
	igt_radeon_stop_timer();
}
