// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: jobs of the GPU, and the
 * staging buffer that they have parts of.
 *
 * Nobody can take the staging buffer away: a file holds a quarter at most, and
 * who finds no room does without. drm_suballoc cannot be asked not to wait.
 */

#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/dma-fence.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include <drm/radeon_drm_rw.h>

#include "radeon.h"
#include "radeon_gem_rw_gpu.h"

/* Longest sleep, in jiffies, while a signal is pending that is not a fatal one. */
#define RADEON_GEM_RW_KILL_SLICE	DIV_ROUND_UP(HZ, 50)

/*
 * In microseconds: for how long a job that is waited for is polled all the time,
 * the least time between two looks then, and for how long it is looked at before
 * the ring's interrupt is switched on.
 */
#define RADEON_GEM_RW_SPIN_US		200
#define RADEON_GEM_RW_NAP_US		50LL
#define RADEON_GEM_RW_NAPS_US		10000

/* Units that a file holds. Returns NULL if too many files hold some. */
static unsigned int *radeon_gem_rw_file_units(struct radeon_gem_rw_gpu *gpu,
					      const struct drm_file *filp)
{
	unsigned int i, *units = NULL;

	lockdep_assert_held(&gpu->lock);

	for (i = 0; i < RADEON_GEM_RW_MAX_FILES; i++) {
		if (gpu->files[i].units && gpu->files[i].filp == filp)
			return &gpu->files[i].units;
		if (!gpu->files[i].units && !units) {
			gpu->files[i].filp = filp;
			units = &gpu->files[i].units;
		}
	}

	return units;
}

/**
 * radeon_gem_rw_job_free - free a job that is in no list
 * @gpu: has the jobs; its lock is held
 * @job: the job
 */
void radeon_gem_rw_job_free(struct radeon_gem_rw_gpu *gpu,
			    struct radeon_gem_rw_job *job)
{
	lockdep_assert_held(&gpu->lock);

	if (job->units) {
		*radeon_gem_rw_file_units(gpu, job->filp) -= job->units;
		bitmap_clear(gpu->used, job->unit, job->units);
	}
	radeon_fence_unref(&job->fence);
	kfree(job);
}

/**
 * radeon_gem_rw_reap - free what has been done
 * @gpu: has the jobs; its lock is held
 *
 * Jobs in a ring are done in order.
 */
void radeon_gem_rw_reap(struct radeon_gem_rw_gpu *gpu)
{
	struct radeon_gem_rw_job *job, *next;
	unsigned int i;

	for (i = 0; i < RADEON_NUM_RINGS; i++) {
		list_for_each_entry_safe(job, next, &gpu->jobs[i], head) {
			if (job->busy)
				continue;
			if (!job->fence || !radeon_fence_signaled(job->fence))
				break;
			list_del(&job->head);
			radeon_gem_rw_job_free(gpu, job);
		}
	}
}

/**
 * radeon_gem_rw_job_new - make a job
 * @n: number of ops
 *
 * Return: The job, to be given back with radeon_gem_rw_job_put() unless it is submitted,
 * or NULL.
 */
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

/**
 * radeon_gem_rw_job_put - give a job back
 * @rdev: the device
 * @job: the job; if it has been submitted, it lives until it is done
 */
void radeon_gem_rw_job_put(struct radeon_device *rdev,
			   struct radeon_gem_rw_job *job)
{
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw->gpu;

	spin_lock(&gpu->lock);
	job->busy = false;
	if (list_empty(&job->head))
		radeon_gem_rw_job_free(gpu, job);
	else
		radeon_gem_rw_reap(gpu);
	spin_unlock(&gpu->lock);
}

/**
 * radeon_gem_rw_job_suballoc - get a part of the staging buffer
 * @rw: whose call it is
 * @job: the job
 * @size: bytes, without the header
 *
 * Does not sleep.
 *
 * Return: Whether there was room.
 */
bool radeon_gem_rw_job_suballoc(struct radeon_gem_rw *rw,
				struct radeon_gem_rw_job *job, u32 size)
{
	unsigned int count = DIV_ROUND_UP(size + RADEON_GEM_RW_JOB_HEADER,
					  RADEON_GEM_RW_UNIT);
	struct radeon_gem_rw_gpu *gpu = rw->rdev->gem_rw->gpu;
	unsigned int *units, unit;

	spin_lock(&gpu->lock);
	radeon_gem_rw_reap(gpu);

	units = radeon_gem_rw_file_units(gpu, rw->filp);
	if (!units || *units + count > gpu->units / RADEON_GEM_RW_FILE_SHARE)
		goto out_unlock;

	unit = bitmap_find_next_zero_area(gpu->used, gpu->units, gpu->next,
					  count, 0);
	if (unit >= gpu->units)
		unit = bitmap_find_next_zero_area(gpu->used, gpu->units, 0,
						  count, 0);
	if (unit >= gpu->units)
		goto out_unlock;

	bitmap_set(gpu->used, unit, count);
	gpu->next = unit + count;
	*units += count;
	job->filp = rw->filp;
	job->unit = unit;
	job->units = count;
	job->mem = gpu->cpu_addr + unit * RADEON_GEM_RW_UNIT;
	job->gpu_addr = gpu->gpu_addr + unit * RADEON_GEM_RW_UNIT;
	memset(job->mem, 0, RADEON_GEM_RW_JOB_HEADER);
out_unlock:
	spin_unlock(&gpu->lock);

	return job->units;
}

/**
 * radeon_gem_rw_job_submitted - leave a job to the list of its ring
 * @rdev: the device
 * @job: the job; without a fence if it was not submitted, but its semaphores are
 *	in use until a later job is done
 * @ring: index of the ring, whose lock is held
 */
void radeon_gem_rw_job_submitted(struct radeon_device *rdev,
				 struct radeon_gem_rw_job *job, int ring)
{
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw->gpu;
	struct radeon_gem_rw_job *other;

	spin_lock(&gpu->lock);
	list_for_each_entry_reverse(other, &gpu->jobs[ring], head) {
		if (other->fence || !job->fence)
			break;
		other->fence = radeon_fence_ref(job->fence);
	}
	list_add_tail(&job->head, &gpu->jobs[ring]);
	spin_unlock(&gpu->lock);
}

/* Look at a job's fence now and then, but not for long. */
static void radeon_gem_rw_poll_job(const struct radeon_gem_rw_job *job)
{
	ktime_t start = ktime_get();
	s64 us, spin_us;

	/* What is larger than a step takes longer than that. */
	spin_us = job->ops[0].len > RADEON_GEM_RW_STEP_MAX ? 0 :
		RADEON_GEM_RW_SPIN_US;

	for (;;) {
		if (radeon_fence_signaled(job->fence) || signal_pending(current))
			return;

		us = ktime_us_delta(ktime_get(), start);
		if (us >= RADEON_GEM_RW_NAPS_US)
			return;

		if (us < spin_us && !need_resched()) {
			cpu_relax();
		} else {
			/* What the copy has taken, plus a bit at a time. */
			us = max(RADEON_GEM_RW_NAP_US, us / 4);
			usleep_range(us, us + us / 4);
		}
	}
}

/**
 * radeon_gem_rw_job_wait - wait for a job that this call has submitted
 * @rw: the transfer
 * @job: the job
 *
 * Once the copy is the next in its ring, only a fatal signal ends this: a call
 * that is made again submits its copy again. With signals that come faster than
 * the GPU copies, it would never end.
 *
 * A small copy takes less time than to switch the ring's interrupt on and off, so
 * the fence is polled first.
 *
 * Return: 0, -ERESTARTSYS, or -EDEADLK if the GPU has to be reset, was reset, or has been
 * given up.
 */
int radeon_gem_rw_job_wait(const struct radeon_gem_rw *rw,
			   const struct radeon_gem_rw_job *job)
{
	struct radeon_device *rdev = rw->rdev;
	struct radeon_fence_driver *drv = &rdev->fence_drv[job->fence->ring];
	bool pending;
	long r;

	radeon_gem_rw_poll_job(job);
	do {
		if (fatal_signal_pending(current))
			return -ERESTARTSYS;

		/* What comes before it can take as long as others like. */
		pending = signal_pending(current);
		if (pending && atomic64_read(&drv->last_seq) + 1 < job->fence->seq)
			return -ERESTARTSYS;

		r = dma_fence_wait_timeout(&job->fence->base, !pending,
					   pending ? RADEON_GEM_RW_KILL_SLICE :
						     RADEON_GEM_RW_WAIT_SLICE);
		/* After a reset that has failed nobody signals it. */
		if (!r && !rdev->ring[job->fence->ring].ready &&
		    !READ_ONCE(rdev->needs_reset) && !rdev->in_reset)
			r = -EDEADLK;
	} while (!r || r == -ERESTARTSYS);

	/* A fence can have signaled without a copy. */
	if (r > 0 && atomic_read(&rdev->gpu_reset_counter) != rw->resets)
		r = -EDEADLK;

	return r < 0 ? r : 0;
}
