/* SPDX-License-Identifier: MIT */
/*
 * One transfer between user memory and a BO. All bytes on both sides, in and
 * around the range, are known before it, and checked afterwards.
 */
#ifndef IGT_RADEON_TRIAL_H
#define IGT_RADEON_TRIAL_H

#include "igt_radeon_baseline.h"
#include "igt_radeon_process.h"
#include "igt_radeon_reset.h"
#include "igt_radeon_stats.h"
#include "igt_radeon_way.h"

/**
 * struct igt_radeon_trial - BO and user memory
 * @fd: device
 * @path: path that the transfer takes
 * @latency: microseconds for which the GPU holds work back during the call
 * @bo: BO, larger than the range that is transferred
 * @source: source of the GPU copy that makes @bo busy, as large as @bo
 * @offset: first byte of the range, the same in @bo and @mem
 * @span: bytes of @bo and of @mem, whole pages
 * @mem: user memory; a test may put other memory of @span bytes here
 * @held: bytes of @bo before the call, after all GPU work queued before
 * @fresh: bytes of @mem before the call
 */
struct igt_radeon_trial {
	int fd;
	const struct igt_radeon_way *path;
	uint32_t latency;
	struct igt_radeon_bo bo;
	struct igt_radeon_bo source;
	uint64_t offset;
	uint64_t span;
	uint8_t *mem;
	uint8_t *held;
	uint8_t *fresh;
};

void igt_radeon_trial_init(struct igt_radeon_trial *t, int fd,
			   const struct igt_radeon_way *path,
			   uint32_t latency);
void igt_radeon_trial_fini(struct igt_radeon_trial *t);
void igt_radeon_trial_prepare(struct igt_radeon_trial *t);
void igt_radeon_trial_queue(struct igt_radeon_trial *t);
struct igt_radeon_call
igt_radeon_trial_call(const struct igt_radeon_trial *t,
		      enum igt_radeon_op op);
void igt_radeon_trial_check(struct igt_radeon_trial *t,
			    enum igt_radeon_op op, bool done);
void igt_radeon_trial_again(struct igt_radeon_trial *t,
			    enum igt_radeon_op op);

#endif /* IGT_RADEON_TRIAL_H */
