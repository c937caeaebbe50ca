/* SPDX-License-Identifier: MIT */
/*
 * Leak checks: a test must leave as much memory in use and pinned as it found.
 */
#ifndef IGT_RADEON_BASELINE_H
#define IGT_RADEON_BASELINE_H

#include <stdint.h>

/**
 * struct igt_radeon_baseline - leak-check baseline
 * @gtt: bytes of GTT in use
 * @vram: bytes of VRAM in use
 * @pins: pages of user memory that are pinned
 */
struct igt_radeon_baseline {
	uint64_t gtt;
	uint64_t vram;
	uint64_t pins;
};

struct igt_radeon_baseline igt_radeon_baseline_take(int fd);
void igt_radeon_baseline_assert(int fd, const struct igt_radeon_baseline *before);

#endif /* IGT_RADEON_BASELINE_H */
