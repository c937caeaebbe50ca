/* SPDX-License-Identifier: MIT */
/*
 * The driver's counters for PREAD, PWRITE and TRANSFER, and its thresholds:
 * for tests that have to know, or to choose, which way bytes take.
 */
#ifndef IGT_RADEON_STATS_H
#define IGT_RADEON_STATS_H

#include <stdint.h>

/**
 * enum igt_radeon_path - ways that bytes take in the driver
 * @IGT_RADEON_ATOMIC: by the CPU, page faults disabled
 * @IGT_RADEON_PINNED: by the CPU, user memory pinned
 * @IGT_RADEON_BOUNCE: by the CPU, by way of a buffer
 * @IGT_RADEON_STAGED: by the GPU, by way of the staging area
 * @IGT_RADEON_ZERO_COPY: by the GPU from or to user memory
 * @IGT_RADEON_PATHS: how many there are
 */
enum igt_radeon_path {
	IGT_RADEON_ATOMIC,
	IGT_RADEON_PINNED,
	IGT_RADEON_BOUNCE,
	IGT_RADEON_STAGED,
	IGT_RADEON_ZERO_COPY,
	IGT_RADEON_PATHS
};

extern const char *const igt_radeon_path_name[IGT_RADEON_PATHS];

/**
 * struct igt_radeon_stats - the driver's counters
 * @bytes: transferred by each path
 * @stall_avoided: writes that were staged
 * @stall: waits for a BO
 * @not_staged: copies that the GPU could not do
 * @moved: BOs that were moved for the CPU
 */
struct igt_radeon_stats {
	uint64_t bytes[IGT_RADEON_PATHS];
	uint64_t stall_avoided;
	uint64_t stall;
	uint64_t not_staged;
	uint64_t moved;
};

void igt_radeon_require_stats(int fd);
struct igt_radeon_stats igt_radeon_stats(int fd);
struct igt_radeon_stats igt_radeon_stats_since(int fd,
				const struct igt_radeon_stats *before);
void igt_radeon_assert_path(const struct igt_radeon_stats *delta,
			    enum igt_radeon_path path, uint64_t bytes,
			    const char *what);
void igt_radeon_require_param(const char *name, unsigned int value);
void igt_radeon_reset_params(void);

#endif /* IGT_RADEON_STATS_H */
