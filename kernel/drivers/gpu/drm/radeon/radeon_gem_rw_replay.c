// SPDX-License-Identifier: MIT
/*
 * Copyright 2026 Seed 7e3b15d1 maintainers
 *
 * Reading and writing GEM objects without mapping them: jobs that are lost.
 *
 * A GPU reset loses the work in the DMA ring, and all if it fails. A staged write
 * has succeeded for its caller, so it is done again, from the staging buffer, by
 * the GPU or else by the CPU.
 */

#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/iopoll.h>

#include "radeon.h"
#include "radeon_gem_rw_gpu.h"

/* How long a reset waits for an engine, in microseconds. Far more than needed. */
#define RADEON_GEM_RW_REPLAY_TIMEOUT	2000000

/* Do a job by the CPU, a page at a time, where the CPU can access the memory. */
static void radeon_gem_rw_replay_by_cpu(struct radeon_device *rdev,
					struct radeon_gem_rw_job *job)
{
	void __iomem *aperture = rdev->vram.aperture;
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
 * else has written to it. The engines are started if possible, and nobody else submits
 * work: a reset holds exclusive_lock, and a suspend has stopped user space. Without a
 * working engine, jobs that write to CPU-inaccessible VRAM cannot be replayed.
 */
void radeon_gem_rw_gpu_replay(struct radeon_device *rdev, unsigned long rings)
{
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw_gpu;
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
		by_gpu = by_gpu && !radeon_gem_rw_ring_resubmit(rdev, job, &fence);
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
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw_gpu;
	struct radeon_gem_rw_job *job;
	unsigned long lost = 0;
	unsigned int i;

	lockdep_assert_held_write(&rdev->exclusive_lock);

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
