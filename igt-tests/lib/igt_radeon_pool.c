// SPDX-License-Identifier: MIT
/*
 * Uses up the pool from which the driver takes IBs and semaphores
 * (rdev->ring_tmp_bo, 1 MiB), with submissions that do nothing.
 *
 * A submission that finds no room sleeps in the kernel and blocks GPU resets.
 * To avoid that, these functions read from debugfs how much room is left
 * (drm_suballoc_dump_debug_info()). The pool is a ring: the next suballocation
 * goes behind the one that debugfs marks.
 */
#include <inttypes.h>
#include <stdio.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_pool.h"

#define POOL_SIZE	(1024u * 1024)
#define IB_MAX		65536u
#define IB_ALIGN	256u
#define TRIES		64u

/* Lowest suballocation, and where the next one may begin, from debugfs. */
struct state {
	uint64_t first, next;
	/* lowest suballocation from a given address on */
	uint64_t after;
};

static struct state look(int fd, uint64_t from)
{
	struct state state = { .first = UINT64_MAX, .after = UINT64_MAX };
	uint64_t start, end;
	char path[96], line[160], mark;
	FILE *f;

	igt_require_f(igt_radeon_debugfs(fd, "radeon_sa_info", path,
					 sizeof(path)),
		      "no radeon_sa_info in debugfs\n");
	f = fopen(path, "r");
	igt_assert(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%c[0x%" SCNx64 " 0x%" SCNx64 "]", &mark,
			   &start, &end) != 3)
			continue;
		if (start < state.first)
			state.first = start;
		if (start >= from && start < state.after)
			state.after = start;
		if (mark == '>')
			state.next = end;
	}
	fclose(f);
	/* Without a mark the next one goes to the beginning. */
	if (!state.next)
		state.next = state.first;
	return state;
}

static uint64_t align_up(uint64_t value)
{
	return (value + IB_ALIGN - 1) / IB_ALIGN * IB_ALIGN;
}

/**
 * igt_radeon_pool_init:
 * @pool: filled in
 * @bo: BO that the submissions make busy
 *
 * Submits work, and waits for it, until the next suballocation is near the
 * beginning of the pool. No other client may submit work meanwhile. Skips
 * without debugfs.
 */
void igt_radeon_pool_init(struct igt_radeon_pool *pool,
			  const struct igt_radeon_bo *bo)
{
	struct state state;
	unsigned int i;

	*pool = (struct igt_radeon_pool) { .bo = bo, .base = UINT64_MAX };
	for (i = 0; i < TRIES; i++) {
		igt_radeon_submit_nops(bo, IB_MAX / 4);
		igt_radeon_bo_wait(bo);
		state = look(bo->fd, 0);
		if (state.first < pool->base)
			pool->base = state.first;
		/* Go round at least once, to find the beginning. */
		if (i > POOL_SIZE / IB_MAX &&
		    state.next <= pool->base + 2 * IB_MAX)
			break;
	}
	igt_assert_f(i < TRIES, "the pool has another size\n");
	pool->start = align_up(state.next);
}

/* Returns the size of the largest possible suballocation, in bytes. */
static uint64_t room(const struct igt_radeon_pool *pool)
{
	const struct state state = look(pool->bo->fd, pool->start);
	const uint64_t next = align_up(state.next);
	uint64_t end;

	igt_assert_f(state.after != UINT64_MAX, "the pool has been emptied\n");
	/* Suballocations from before igt_radeon_pool_init() are free. */
	end = next > state.after ? pool->base + POOL_SIZE : state.after;
	if (end == pool->base + POOL_SIZE && next >= end)
		return state.after - pool->base;
	return end - next;
}

/**
 * igt_radeon_pool_use_up:
 * @pool: pool
 *
 * Submits work until the pool has no room for a semaphore. After
 * igt_radeon_pool_init(), and before this, the caller has to hold the engines
 * back and to submit one copy.
 */
void igt_radeon_pool_use_up(struct igt_radeon_pool *pool)
{
	uint64_t bytes;

	while ((bytes = room(pool))) {
		igt_assert_f(bytes % IB_ALIGN == 0, "%" PRIu64 " bytes are left\n",
			     bytes);
		igt_radeon_submit_nops(pool->bo, (bytes < IB_MAX ? bytes : IB_MAX) / 4);
	}
}

/**
 * igt_radeon_pool_is_full:
 * @pool: pool that was used up
 *
 * Returns: whether the pool still has no room
 */
bool igt_radeon_pool_is_full(const struct igt_radeon_pool *pool)
{
	return igt_radeon_bo_busy(pool->bo) && !room(pool);
}

/**
 * igt_radeon_no_semaphore_init:
 * @s: filled in, for igt_radeon_no_semaphore_fini()
 * @fd: DRM file, of the board
 * @hold_us: latency of the engines, in microseconds, from now on
 *
 * Has both engines copy, and uses up the pool, so that a write of odd bytes to
 * the BO finds no semaphore. Skips without a DMA ring.
 */
void igt_radeon_no_semaphore_init(struct igt_radeon_no_semaphore *s, int fd,
				  unsigned int hold_us)
{
	igt_require_f(igt_radeon_has_engine(fd, IGT_RADEON_DMA),
		      "no DMA ring\n");
	igt_radeon_bo_init(&s->bo, fd, PAGE, RADEON_GEM_DOMAIN_VRAM,
			   igt_radeon_has_invisible_vram(fd) ?
			   RADEON_GEM_NO_CPU_ACCESS : 0);
	igt_radeon_bo_init(&s->src, fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&s->mark, fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_wait(&s->bo);
	igt_radeon_pool_init(&s->pool, &s->mark);
	igt_radeon_set_latency(fd, hold_us);
	igt_radeon_copy(IGT_RADEON_DMA, &s->bo, 0, &s->src, 0, PAGE);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &s->mark, 0, &s->src, 0, PAGE);
	igt_radeon_pool_use_up(&s->pool);
}

/**
 * igt_radeon_no_semaphore_fini:
 * @s: its BOs are closed
 */
void igt_radeon_no_semaphore_fini(struct igt_radeon_no_semaphore *s)
{
	igt_radeon_bo_fini(&s->mark);
	igt_radeon_bo_fini(&s->src);
	igt_radeon_bo_fini(&s->bo);
}
