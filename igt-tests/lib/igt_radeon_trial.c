// SPDX-License-Identifier: MIT
/*
 * One transfer between user memory and a BO, and the check of what it did.
 */
#include <string.h>
#include <sys/mman.h>

#include "igt.h"
#include "igt_radeon_trial.h"

static uint32_t next_seed(void)
{
	static uint32_t seed = 100;

	return seed++;
}

/**
 * igt_radeon_trial_init:
 * @t: filled in
 * @fd: device
 * @path: path that the transfer is to take
 * @latency: microseconds for which the GPU holds work back during the call
 *
 * Creates the BO, filled with a pattern, and user memory.
 */
void igt_radeon_trial_init(struct igt_radeon_trial *t, int fd,
			   const struct igt_radeon_way *path,
			   uint32_t latency)
{
	*t = (struct igt_radeon_trial) {
		.fd = fd,
		.path = path,
		.latency = latency,
		.offset = PAGE + 64,
		.span = (path->size + 64 + 3 * PAGE - 1) & -(uint64_t)PAGE,
	};
	t->mem = igt_radeon_memory(t->span);
	t->held = igt_radeon_malloc(t->span);
	t->fresh = igt_radeon_malloc(t->span);

	igt_radeon_bo_init(&t->bo, fd, t->span, path->domain, path->flags);
	igt_radeon_pattern(t->held, t->span, next_seed());
	igt_radeon_bo_fill(&t->bo, t->held);
	if (path->busy)
		igt_radeon_bo_init(&t->source, fd, t->span,
				   RADEON_GEM_DOMAIN_GTT, 0);
}

/**
 * igt_radeon_trial_fini:
 * @t: trial
 *
 * Ends the latency, and frees the trial's BOs and memory.
 */
void igt_radeon_trial_fini(struct igt_radeon_trial *t)
{
	igt_radeon_set_latency(t->fd, 0);
	if (t->source.handle)
		igt_radeon_bo_fini(&t->source);
	igt_radeon_bo_fini(&t->bo);
	munmap(t->mem, t->span);
	free(t->held);
	free(t->fresh);
}

/**
 * igt_radeon_trial_queue:
 * @t: trial
 *
 * Sets the latency, and makes the BO busy if the path asks for that.
 */
void igt_radeon_trial_queue(struct igt_radeon_trial *t)
{
	if (t->path->busy) {
		igt_radeon_pattern(t->held, t->span, next_seed());
		igt_radeon_bo_fill(&t->source, t->held);
	}
	igt_radeon_set_latency(t->fd, t->latency);
	if (t->path->busy)
		igt_radeon_copy(IGT_RADEON_CP_DMA, &t->bo, 0, &t->source, 0,
				t->span);
}

/**
 * igt_radeon_trial_prepare:
 * @t: trial
 *
 * Gives user memory new bytes, then does as igt_radeon_trial_queue().
 */
void igt_radeon_trial_prepare(struct igt_radeon_trial *t)
{
	igt_radeon_pattern(t->fresh, t->span, next_seed());
	memcpy(t->mem, t->fresh, t->span);
	igt_radeon_trial_queue(t);
}

/**
 * igt_radeon_trial_call:
 * @t: trial
 * @op: call
 *
 * Returns: arguments of the call
 */
struct igt_radeon_call
igt_radeon_trial_call(const struct igt_radeon_trial *t,
		      enum igt_radeon_op op)
{
	return (struct igt_radeon_call) {
		.op = op,
		.fd = t->fd,
		.handle = t->bo.handle,
		.offset = t->offset,
		.size = t->path->size,
		.mem = t->mem + t->offset,
		.regions = igt_radeon_way_regions(t->path),
	};
}

/*
 * Asserts that the range of @dst is as in @src, and the rest as in @before.
 * Unless @done, any byte of the range may also be as in @before.
 */
static void check(const struct igt_radeon_trial *t,
		  enum igt_radeon_op op, const uint8_t *dst,
		  const uint8_t *before, const uint8_t *src, bool done)
{
	const uint64_t end = t->offset + t->path->size;
	uint64_t i;

	if (done && !memcmp(dst + t->offset, src + t->offset, t->path->size) &&
	    !memcmp(dst, before, t->offset) &&
	    !memcmp(dst + end, before + end, t->span - end))
		return;
	for (i = 0; i < t->span; i++) {
		if (i < t->offset || i >= end)
			igt_assert_f(dst[i] == before[i],
				     "%s, %s: byte %#llx, outside of the range, changed\n",
				     t->path->name, igt_radeon_op_name[op],
				     (unsigned long long)i);
		else
			igt_assert_f(dst[i] == src[i] ||
				     (!done && dst[i] == before[i]),
				     "%s, %s: byte %#llx is %#04x, should be %#04x, was %#04x\n",
				     t->path->name, igt_radeon_op_name[op],
				     (unsigned long long)i, dst[i], src[i],
				     before[i]);
	}
}

/**
 * igt_radeon_trial_check:
 * @t: trial
 * @op: call that was made
 * @done: it succeeded; else any byte of the range may have been transferred
 *
 * Checks the bytes of the BO and of user memory, and keeps them as those from
 * before the next call.
 */
void igt_radeon_trial_check(struct igt_radeon_trial *t,
			    enum igt_radeon_op op, bool done)
{
	const bool write = igt_radeon_op_writes(op);
	uint8_t *bytes = malloc(t->span);

	igt_assert(bytes);
	igt_radeon_set_latency(t->fd, 0);
	igt_radeon_bo_read(&t->bo, bytes);
	check(t, op, bytes, t->held, write ? t->fresh : t->held,
	      done || !write);
	check(t, op, t->mem, t->fresh, write ? t->fresh : t->held,
	      done || write);
	memcpy(t->held, bytes, t->span);
	memcpy(t->fresh, t->mem, t->span);
	free(bytes);
}

/**
 * igt_radeon_trial_again:
 * @t: trial
 * @op: call
 *
 * Makes the call once more, now undisturbed, and checks the bytes. If the BO is
 * idle, the driver's counters also have to show that the call took its path.
 */
void igt_radeon_trial_again(struct igt_radeon_trial *t,
			    enum igt_radeon_op op)
{
	const char *path = t->path->busy ? NULL : igt_radeon_op_writes(op) ?
			   t->path->write : t->path->read;
	struct igt_radeon_call call = igt_radeon_trial_call(t, op);
	uint64_t before = 0;
	int ret;

	igt_radeon_set_latency(t->fd, 0);
	if (path && igt_radeon_has_stats(t->fd))
		before = igt_radeon_stat(t->fd, path);
	else
		path = NULL;
	ret = igt_radeon_call(&call);
	igt_assert_f(ret == 0, "%s, %s once more: %d\n", t->path->name,
		     igt_radeon_op_name[op], ret);
	igt_assert_f(!path || igt_radeon_stat(t->fd, path) > before,
		     "%s, %s did not take the path %s\n", t->path->name,
		     igt_radeon_op_name[op], path);
	igt_radeon_trial_check(t, op, true);
}
