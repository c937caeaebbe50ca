/* SPDX-License-Identifier: MIT */
/*
 * The pool from which the driver takes IBs and semaphores.
 */
#ifndef IGT_RADEON_POOL_H
#define IGT_RADEON_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct igt_radeon_bo;

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

#endif /* IGT_RADEON_POOL_H */
