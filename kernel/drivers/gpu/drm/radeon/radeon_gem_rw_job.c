// SPDX-License-Identifier: MIT
/*
 * Copyright 2026 Seed 7e3b15d1 maintainers
 *
 * Reading and writing GEM objects without mapping them: jobs for the GPU, and
 * their suballocations of the staging buffer.
 *
 * No client can use up the staging buffer: a process holds a quarter at most, and a user
 * half. Files are not counted, as a client can open any number. A call that finds no
 * room takes another path. drm_suballoc cannot be used, as it waits for room.
 */

#include <linux/bitmap.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "radeon.h"
#include "radeon_gem_rw_gpu.h"

/*
 * Waiting for a fence, in microseconds: for how long a job's is polled without a pause,
 * then the shortest nap between two polls, and the sum of the naps before the wait
 * enables the ring's interrupt.
 */
#define RADEON_GEM_RW_SPIN_US		200
#define RADEON_GEM_RW_NAP_US		100U
#define RADEON_GEM_RW_NAPS_US		10000

static int radeon_gem_rw_share_add(struct radeon_gem_rw_gpu *gpu, unsigned int i,
				   unsigned long id, int n)
{
	unsigned long held = xa_to_value(xa_load(&gpu->held[i], id)) + n;

	lockdep_assert_held(&gpu->lock);

	if (n > 0 && held > gpu->max[i])
		return -EBUSY;

	return xa_err(xa_store(&gpu->held[i], id, held ? xa_mk_value(held) : NULL,
			       GFP_NOWAIT));
}

/*
 * Give a client, a process and its user, @n more units, if it may have that many. Returns
 * whether it may. Must be called with the lock held, as radeon_gem_rw_share_give().
 */
bool radeon_gem_rw_share_take(struct radeon_gem_rw_gpu *gpu,
			      const unsigned long client[2], int n)
{
	if (radeon_gem_rw_share_add(gpu, 0, client[0], n))
		return false;
	if (!radeon_gem_rw_share_add(gpu, 1, client[1], n))
		return true;

	radeon_gem_rw_share_add(gpu, 0, client[0], -n);
	return false;
}

void radeon_gem_rw_share_give(struct radeon_gem_rw_gpu *gpu,
			      const unsigned long client[2], int n)
{
	radeon_gem_rw_share_add(gpu, 0, client[0], -n);
	radeon_gem_rw_share_add(gpu, 1, client[1], -n);
}

/* Free a job that is in no list. */
void radeon_gem_rw_job_free(struct radeon_gem_rw_gpu *gpu,
			    struct radeon_gem_rw_job *job)
{
	lockdep_assert_held(&gpu->lock);

	if (job->units) {
		radeon_gem_rw_share_give(gpu, job->client, job->units);
		bitmap_clear(gpu->used, job->unit, job->units);
	}
	radeon_fence_unref(&job->fence);
	kfree(job);
}

/* Free the jobs that are done. A ring completes its jobs in order. */
void radeon_gem_rw_reap(struct radeon_gem_rw_gpu *gpu)
{
	struct radeon_gem_rw_job *job, *next;
	unsigned int i;

	lockdep_assert_held(&gpu->lock);

	for (i = 0; i < RADEON_NUM_RINGS; i++) {
		list_for_each_entry_safe(job, next, &gpu->jobs[i], head) {
			if (job->busy)
				continue;
			if (!radeon_fence_signaled(job->fence))
				break;
			list_del(&job->head);
			radeon_gem_rw_job_free(gpu, job);
		}
	}
}

/* Returns a job of @n ops for radeon_gem_rw_job_put() or submission, or NULL. */
struct radeon_gem_rw_job *radeon_gem_rw_job_new(unsigned int n)
{
	struct radeon_gem_rw_job *job;

	job = kzalloc(struct_size(job, ops, n), GFP_KERNEL | __GFP_NOWARN);
	if (job) {
		INIT_LIST_HEAD(&job->head);
		job->n = n;
	}

	return job;
}

/* Give a job back. If it has been submitted, it lives until it is done. */
void radeon_gem_rw_job_put(struct radeon_device *rdev, struct radeon_gem_rw_job *job)
{
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw_gpu;

	spin_lock(&gpu->lock);
	job->busy = false;
	if (list_empty(&job->head))
		radeon_gem_rw_job_free(gpu, job);
	else
		radeon_gem_rw_reap(gpu);
	spin_unlock(&gpu->lock);
}

/* Give a job a suballocation, without sleeping. Returns whether there was room. */
bool radeon_gem_rw_job_suballoc(struct radeon_gem_rw *rw,
				struct radeon_gem_rw_job *job, u32 size)
{
	unsigned int count = DIV_ROUND_UP(size + RADEON_GEM_RW_JOB_HEADER,
					  RADEON_GEM_RW_UNIT);
	struct radeon_gem_rw_gpu *gpu = rw->rdev->gem_rw_gpu;
	unsigned int unit;

	job->client[0] = current->tgid;
	job->client[1] = from_kuid(&init_user_ns, current_uid());

	spin_lock(&gpu->lock);
	radeon_gem_rw_reap(gpu);

	unit = bitmap_find_next_zero_area(gpu->used, gpu->units, 0, count, 0);
	if (unit < gpu->units && radeon_gem_rw_share_take(gpu, job->client, count)) {
		bitmap_set(gpu->used, unit, count);
		job->unit = unit;
		job->units = count;
		job->mem = gpu->sa.cpu_ptr + unit * RADEON_GEM_RW_UNIT;
		job->gpu_addr = gpu->sa.gpu_addr + unit * RADEON_GEM_RW_UNIT;
		memset(job->mem, 0, RADEON_GEM_RW_JOB_HEADER);
	}
	spin_unlock(&gpu->lock);

	return job->units;
}

/* Has a failed reset disabled the ring? Nobody signals its fences then. */
static bool radeon_gem_rw_ring_given_up(struct radeon_device *rdev, unsigned int ring)
{
	return !rdev->ring[ring].ready && !READ_ONCE(rdev->needs_reset) &&
		!rdev->in_reset;
}

/* Is the job the next in its ring? Others' work before it can take any time. */
static bool radeon_gem_rw_job_is_next(struct radeon_device *rdev,
				      const struct radeon_gem_rw_job *job)
{
	u64 done = atomic64_read(&rdev->fence_drv[job->fence->ring].last_seq);

	return done + 1 >= job->fence->seq;
}

/*
 * Wait for a while without the ring's interrupt, which costs more than some naps. Each of
 * them costs thousands of instructions: they become longer with the work.
 */
void radeon_gem_rw_nap(struct radeon_fence *fence)
{
	unsigned int nap, slept;

	for (slept = 0; slept < RADEON_GEM_RW_NAPS_US && !signal_pending(current) &&
	     !radeon_fence_signaled(fence); slept += nap) {
		nap = max(slept / 4, RADEON_GEM_RW_NAP_US);
		usleep_range(nap / 2, nap);
	}
}

/*
 * Wait for a job that this call has submitted. Once the copy is the next in its
 * ring, only a fatal signal ends the wait, as it does where a call may not end by
 * another one: a call that is made again submits its copy again, and would never end
 * if signals came faster than the GPU copies.
 * Returns 0, -ERESTARTSYS, or -EDEADLK if the GPU has to be reset, was reset, or
 * has been given up.
 */
int radeon_gem_rw_job_wait(const struct radeon_gem_rw *rw,
			   const struct radeon_gem_rw_job *job)
{
	struct radeon_device *rdev = rw->rdev;
	bool end, pending;
	long r;

	read_poll_timeout(radeon_fence_signaled, end,
			  end || signal_pending(current) || need_resched() ||
			  !radeon_gem_rw_job_is_next(rdev, job),
			  0, RADEON_GEM_RW_SPIN_US, false, job->fence);
	radeon_gem_rw_nap(job->fence);
	do {
		if (fatal_signal_pending(current))
			return -ERESTARTSYS;

		pending = signal_pending(current);
		if (pending && radeon_gem_rw_is_interruptible(rw) &&
		    !radeon_gem_rw_job_is_next(rdev, job))
			return -ERESTARTSYS;

		r = dma_fence_wait_timeout(&job->fence->base, !pending,
					   RADEON_GEM_RW_WAIT_SLICE);
		if (!r && radeon_gem_rw_ring_given_up(rdev, job->fence->ring))
			r = -EDEADLK;
	} while (!r || r == -ERESTARTSYS);

	/* After a reset the fence may have signaled without the copy being done. */
	if (r > 0 && atomic_read(&rdev->gpu_reset_counter) != rw->resets)
		r = -EDEADLK;

	return r < 0 ? r : 0;
}
