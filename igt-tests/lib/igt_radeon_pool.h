/* SPDX-License-Identifier: MIT */
/*
 * The pool from which the driver takes IBs and semaphores.
 */
#ifndef IGT_RADEON_POOL_H
#define IGT_RADEON_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "igt_radeon.h"

/**
 * struct igt_radeon_pool - the pool of a device
 * @bo: BO that the submissions make busy
 * @base: address of the pool's first byte, as debugfs shows it
 * @start: address of the first suballocation that uses the pool up
 */
struct igt_radeon_pool {
	const struct igt_radeon_bo *bo;
	uint64_t base;
	uint64_t start;
};

void igt_radeon_pool_init(struct igt_radeon_pool *pool,
			  const struct igt_radeon_bo *bo);
void igt_radeon_pool_use_up(struct igt_radeon_pool *pool);
bool igt_radeon_pool_is_full(const struct igt_radeon_pool *pool);

/**
 * struct igt_radeon_no_semaphore - a full pool, and a BO that needs a semaphore
 * @bo: one page of VRAM, CPU-inaccessible if there is some, which the DMA ring
 *	uses. Writes of odd bytes go to the gfx ring, which has to wait for it.
 * @src: source of the copies that make @bo and @mark busy
 * @mark: BO that is busy as long as the pool is full
 * @pool: the pool
 */
struct igt_radeon_no_semaphore {
	struct igt_radeon_bo bo, src, mark;
	struct igt_radeon_pool pool;
};

void igt_radeon_no_semaphore_init(struct igt_radeon_no_semaphore *s, int fd,
				  unsigned int hold_us);
void igt_radeon_no_semaphore_fini(struct igt_radeon_no_semaphore *s);

#endif /* IGT_RADEON_POOL_H */
