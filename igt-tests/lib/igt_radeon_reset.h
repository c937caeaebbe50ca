/* SPDX-License-Identifier: MIT */
/*
 * GPU resets.
 */
#ifndef IGT_RADEON_RESET_H
#define IGT_RADEON_RESET_H

#include "igt_radeon.h"

void igt_radeon_reset_gpu(int fd);
uint32_t igt_radeon_reset_count(int fd);
void igt_radeon_bo_wait_through_lockup(const struct igt_radeon_bo *bo);

#endif /* IGT_RADEON_RESET_H */
