// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: jobs for the GPU, and
 * their suballocations of the staging buffer.
 *
 * No file can use up the staging buffer: each holds a quarter at most. A call that finds
 * no room takes another path. drm_suballoc cannot be used, as it waits for room.
 */

#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/iopoll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "radeon.h"
#include "radeon_gem_rw_gpu.h"

/*
 * Waiting for a job, in microseconds: for how long the fence is polled without a pause,
 * then the interval of polling, and for how long the fence is polled like that before
 * the wait enables the ring's interrupt.
 */
#define RADEON_GEM_RW_SPIN_US		200
#define RADEON_GEM_RW_NAP_US		100
#define RADEON_GEM_RW_NAPS_US		10000

/* Returns the number of units that a file holds, or NULL if too many files hold some. */
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

/* Free a job that is in no list. */
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

/* Free the jobs that are done. A ring completes its jobs in order. */
void radeon_gem_rw_reap(struct radeon_gem_rw_gpu *gpu)
{
	struct radeon_gem_rw_job *job, *next;
	unsigned int i;

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
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw->gpu;

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
	struct radeon_gem_rw_gpu *gpu = rw->rdev->gem_rw->gpu;
	unsigned int *units, unit = gpu->units;

	spin_lock(&gpu->lock);
	radeon_gem_rw_reap(gpu);

	units = radeon_gem_rw_file_units(gpu, rw->filp);
	if (units && *units + count <= gpu->units / RADEON_GEM_RW_FILE_SHARE)
		unit = bitmap_find_next_zero_area(gpu->used, gpu->units, 0, count, 0);
	if (unit < gpu->units) {
		bitmap_set(gpu->used, unit, count);
		*units += count;
		job->filp = rw->filp;
		job->unit = unit;
		job->units = count;
		job->mem = gpu->sa.cpu_ptr + unit * RADEON_GEM_RW_UNIT;
		job->gpu_addr = gpu->sa.gpu_addr + unit * RADEON_GEM_RW_UNIT;
		memset(job->mem, 0, RADEON_GEM_RW_JOB_HEADER);
	}
	spin_unlock(&gpu->lock);

	return job->units;
}

/*
 * Wait for a job that this call has submitted. Once the copy is the next in its
 * ring, only a fatal signal ends the wait: a call that is made again submits its
 * copy again, and would never end if signals came faster than the GPU copies.
 * Returns 0, -ERESTARTSYS, or -EDEADLK if the GPU has to be reset, was reset, or
 * has been given up.
 */
int radeon_gem_rw_job_wait(const struct radeon_gem_rw *rw,
			   const struct radeon_gem_rw_job *job)
{
	struct radeon_device *rdev = rw->rdev;
	struct radeon_fence_driver *drv = &rdev->fence_drv[job->fence->ring];
	bool end, pending;
	long r;

	/* Do not spin for a copy larger than a step: it takes longer than the limit. */
	if (job->ops[0].len <= RADEON_GEM_RW_STEP_MAX)
		read_poll_timeout(radeon_fence_signaled, end,
				  end || signal_pending(current) || need_resched(),
				  0, RADEON_GEM_RW_SPIN_US, false, job->fence);
	read_poll_timeout(radeon_fence_signaled, end, end || signal_pending(current),
			  RADEON_GEM_RW_NAP_US, RADEON_GEM_RW_NAPS_US, false,
			  job->fence);
	do {
		if (fatal_signal_pending(current))
			return -ERESTARTSYS;

		/* Others' work before it in the ring can take any time. */
		pending = signal_pending(current);
		if (pending && atomic64_read(&drv->last_seq) + 1 < job->fence->seq)
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

/*
 * Replay after a GPU reset
 *
 * A GPU reset loses the work in the DMA ring, and all if it fails. A staged write
 * has succeeded for its caller, so it is done again, from the staging buffer, by
 * the GPU or else by the CPU.
 */

/* How long a reset waits for an engine, in microseconds. Far more than needed. */
#define RADEON_GEM_RW_REPLAY_TIMEOUT	2000000

/* Do a job by the CPU, a page at a time, where the CPU can access the memory. */
static void radeon_gem_rw_replay_by_cpu(struct radeon_device *rdev,
					struct radeon_gem_rw_job *job)
{
	void __iomem *aperture = rdev->gem_rw->aperture;
	const struct radeon_gem_rw_op *op;
	u64 done, dst, n, vram;
	struct page *page;
	const void *src;

	for (op = job->ops; op < job->ops + job->n; op++) {
		for (done = 0; done < op->len; done += n) {
			dst = op->dst + done;
			vram = dst - rdev->mc.vram_start;
			n = min(op->len - done, PAGE_SIZE - offset_in_page(dst));
			src = job->mem + op->src - job->gpu_addr + done;

			if (dst >= rdev->mc.gtt_start && dst <= rdev->mc.gtt_end) {
				page = rdev->gart.pages[PFN_DOWN(dst - rdev->mc.gtt_start)];
				if (page)
					memcpy_to_page(page, offset_in_page(dst), src, n);
			} else if (aperture && vram + n <= rdev->mc.visible_vram_size) {
				memcpy_toio(aperture + vram, src, n);
			}
		}
		cond_resched();
	}
	/* Before the fences are signaled. */
	wmb();
}

/*
 * Replay the jobs that the rings of a bit mask have lost. Must be called before the
 * fences of lost work are signaled: until then the memory belongs to the BOs, and nobody
 * else has written to it. exclusive_lock is held, the engines are started if possible,
 * and nobody else submits work. Without a working engine, jobs that write to
 * CPU-inaccessible VRAM cannot be replayed.
 */
void radeon_gem_rw_gpu_replay(struct radeon_device *rdev, unsigned long rings)
{
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw ? rdev->gem_rw->gpu : NULL;
	struct radeon_gem_rw_job *job, *next;
	struct radeon_fence *fence;
	bool by_gpu = true;
	LIST_HEAD(lost);
	unsigned int i;

	if (!gpu)
		return;

	spin_lock(&gpu->lock);
	radeon_gem_rw_reap(gpu);
	for_each_set_bit(i, &rings, RADEON_NUM_RINGS) {
		list_for_each_entry_safe(job, next, &gpu->jobs[i], head) {
			if (job->replay)
				list_move_tail(&job->head, &lost);
		}
	}
	spin_unlock(&gpu->lock);

	list_for_each_entry_safe(job, next, &lost, head) {
		by_gpu = by_gpu && !radeon_gem_rw_ring_replay(rdev, job, &fence);
		if (by_gpu) {
			read_poll_timeout(radeon_fence_signaled, by_gpu, by_gpu, 100,
					  RADEON_GEM_RW_REPLAY_TIMEOUT, false, fence);
			radeon_fence_unref(&fence);
		}
		if (!by_gpu)
			radeon_gem_rw_replay_by_cpu(rdev, job);
		radeon_gem_rw_event(rdev, RADEON_GEM_RW_REPLAYED);
		list_del_init(&job->head);
		radeon_gem_rw_job_put(rdev, job);
	}
}

/*
 * Replay what a GPU reset has lost. @restored has the contents of each ring that are
 * going to be restored, NULL for a ring that has lost them; or is NULL if all have.
 * A restored job may wait for semaphores of rings that have lost their signals: signal
 * them here, as the work before them is done or lost.
 */
void radeon_gem_rw_gpu_recover(struct radeon_device *rdev, u32 **restored)
{
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw ? rdev->gem_rw->gpu : NULL;
	struct radeon_gem_rw_job *job;
	unsigned long lost = 0;
	unsigned int i;

	if (!gpu)
		return;

	spin_lock(&gpu->lock);
	for (i = 0; i < RADEON_NUM_RINGS; i++) {
		if (!restored || !restored[i])
			lost |= BIT(i);
		list_for_each_entry(job, &gpu->jobs[i], head) {
			memset64(job->mem, 1, RADEON_GEM_RW_JOB_SEMAPHORES + 1);
			*(u64 *)job->mem = 0;
		}
	}
	spin_unlock(&gpu->lock);

	radeon_gem_rw_gpu_replay(rdev, lost);
}
