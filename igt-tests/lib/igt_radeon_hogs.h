/* SPDX-License-Identifier: MIT */
/*
 * Processes that use up the pool which the driver takes IBs and semaphores from.
 */
#ifndef IGT_RADEON_HOGS_H
#define IGT_RADEON_HOGS_H

#include <stdbool.h>
#include <sys/types.h>

#define IGT_RADEON_HOGS	3u

/**
 * struct igt_radeon_hogs - the processes
 * @pid: one for each size of IBs, the largest first
 */
struct igt_radeon_hogs {
	pid_t pid[IGT_RADEON_HOGS];
};

void igt_radeon_hogs_start(struct igt_radeon_hogs *hogs);
bool igt_radeon_hogs_stuck(const struct igt_radeon_hogs *hogs);
void igt_radeon_hogs_end(struct igt_radeon_hogs *hogs);

#endif /* IGT_RADEON_HOGS_H */
