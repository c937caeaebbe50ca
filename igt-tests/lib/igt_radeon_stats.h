/* SPDX-License-Identifier: MIT */
/*
 * The driver's counters for PREAD, PWRITE and TRANSFER, and its thresholds:
 * for tests that have to know, or to choose, the path of a transfer.
 */
#ifndef IGT_RADEON_STATS_H
#define IGT_RADEON_STATS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * enum igt_radeon_path - paths and ways to clear; the driver counts their bytes
 * @IGT_RADEON_CPU: copied by the CPU
 * @IGT_RADEON_STAGED: copied by the GPU, through the staging buffer
 * @IGT_RADEON_PATHS: number of paths that a transfer can take
 * @IGT_RADEON_CLEAR_CPU: VRAM of new BOs, cleared by the CPU
 * @IGT_RADEON_CLEAR_GPU: VRAM of new BOs, filled by the GPU
 * @IGT_RADEON_CLEAR_HOP: VRAM of new BOs, cleared by a move from GTT
 * @IGT_RADEON_COUNTED: number of counters of bytes
 */
enum igt_radeon_path {
	IGT_RADEON_CPU,
	IGT_RADEON_STAGED,
	IGT_RADEON_PATHS,
	IGT_RADEON_CLEAR_CPU = IGT_RADEON_PATHS,
	IGT_RADEON_CLEAR_GPU,
	IGT_RADEON_CLEAR_HOP,
	IGT_RADEON_COUNTED
};

/**
 * enum igt_radeon_event - events that the driver counts
 * @IGT_RADEON_STALL_AVOIDED: staged writes, which do not wait for the BO
 * @IGT_RADEON_STALL: waits for a BO
 * @IGT_RADEON_NOT_STAGED: copies for which the staging buffer or the rings had
 *	no room
 * @IGT_RADEON_MOVED: BOs moved to where the CPU can access them
 * @IGT_RADEON_REPLAYED: staged writes that were done again after a GPU reset
 * @IGT_RADEON_EVENTS: number of counters of events
 */
enum igt_radeon_event {
	IGT_RADEON_STALL_AVOIDED,
	IGT_RADEON_STALL,
	IGT_RADEON_NOT_STAGED,
	IGT_RADEON_MOVED,
	IGT_RADEON_REPLAYED,
	IGT_RADEON_EVENTS
};

extern const char *const igt_radeon_path_name[IGT_RADEON_COUNTED];
extern const char *const igt_radeon_event_name[IGT_RADEON_EVENTS];

/**
 * struct igt_radeon_stats - the driver's counters
 * @calls: number of steps, or of BOs cleared, by each path
 * @bytes: bytes transferred or cleared by each path
 * @events: how often each event has happened
 */
struct igt_radeon_stats {
	uint64_t calls[IGT_RADEON_COUNTED];
	uint64_t bytes[IGT_RADEON_COUNTED];
	uint64_t events[IGT_RADEON_EVENTS];
};

bool igt_radeon_has_stats(int fd);
void igt_radeon_require_stats(int fd);
struct igt_radeon_stats igt_radeon_stats(int fd);
struct igt_radeon_stats igt_radeon_stats_since(int fd,
				const struct igt_radeon_stats *before);
uint64_t igt_radeon_stat(int fd, const char *name);
void igt_radeon_assert_path(const struct igt_radeon_stats *delta,
			    enum igt_radeon_path path, uint64_t bytes,
			    const char *what);
void igt_radeon_require_param(const char *name, unsigned int value);
void igt_radeon_reset_params(void);

#endif /* IGT_RADEON_STATS_H */
