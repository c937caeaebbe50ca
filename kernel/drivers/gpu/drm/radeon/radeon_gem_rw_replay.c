// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: what is done again after a
 * GPU reset.
 *
 * A GPU reset loses the work in the DMA ring, and all if it fails. A staged write
 * has succeeded for its caller, so it is done again, from the staging buffer, by
 * the GPU or else by the CPU. So are fills.
 */

#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "radeon.h"
#include "radeon_gem_rw_gpu.h"

/* How long a reset waits for an engine, in jiffies. Far more than needed. */
#define RADEON_GEM_RW_REPLAY_TIMEOUT	(2 * HZ)

static bool radeon_gem_rw_replay_by_gpu(struct radeon_device *rdev,
					struct radeon_gem_rw_job *job)
{
	unsigned long end = jiffies + RADEON_GEM_RW_REPLAY_TIMEOUT;
	struct radeon_fence *fence;
	bool done;

	if (radeon_gem_rw_ring_replay(rdev, job, &fence))
		return false;

	while (!(done = radeon_fence_signaled(fence)) && time_before(jiffies, end))
		usleep_range(50, 100);
	radeon_fence_unref(&fence);

	return done;
}

/* Write to memory at a GPU address, in a page. */
static void radeon_gem_rw_replay_page(struct radeon_device *rdev, u64 dst,
				      const void *src, size_t len)
{
	void __iomem *io, *iomap;
	struct page *page;

	if (dst >= rdev->mc.gtt_start && dst <= rdev->mc.gtt_end) {
		page = rdev->gart.pages[(dst - rdev->mc.gtt_start) >> PAGE_SHIFT];
		if (page && src)
			memcpy_to_page(page, offset_in_page(dst), src, len);
		return;
	}

	dst -= rdev->mc.vram_start;
	if (dst + len > rdev->mc.visible_vram_size)
		return;

	io = radeon_gem_rw_map_vram(rdev, dst, len, &iomap);
	if (io && src)
		memcpy_toio(io, src, len);
	else if (io)
		memset_io(io, 0, len);
	if (iomap)
		iounmap(iomap);
}

static void radeon_gem_rw_replay_by_cpu(struct radeon_device *rdev,
					struct radeon_gem_rw_job *job)
{
	const struct radeon_gem_rw_op *op;
	u64 done, n;

	for (op = job->ops; op < job->ops + job->n; op++) {
		for (done = 0; done < op->len; done += n) {
			n = min(op->len - done,
				PAGE_SIZE - offset_in_page(op->dst + done));
			radeon_gem_rw_replay_page(rdev, op->dst + done, job->fill ?
						  NULL : job->mem + op->src -
						  job->gpu_addr + done, n);
		}
		cond_resched();
	}
	/* Before the fences are signaled. */
	wmb();
}

/*
 * The ring of this job is restored, but the rings that it waits for may have lost
 * their signals. What they had to do first has been done, or is lost.
 */
static void radeon_gem_rw_signal(struct radeon_gem_rw_job *job)
{
	u64 *header = job->mem;
	unsigned int i;

	if (!header)
		return;

	header[0] = 0;
	for (i = 1; i <= RADEON_GEM_RW_JOB_SEMAPHORES; i++)
		header[i] = 1;
}

/**
 * radeon_gem_rw_gpu_replay - do again what rings have lost
 * @rdev: the device, with its engines started if they can be, and
 *	&radeon_device.exclusive_lock held; nobody else submits work
 * @rings: BIT() of each ring
 *
 * Must be called before the fences of lost work are signaled. The memory still
 * belongs to the BOs then, and nobody has written to it, as everybody waits for
 * the fences. What cannot be done again is what goes to CPU-inaccessible VRAM
 * after a reset that has failed. There is no engine left to read that with.
 */
void radeon_gem_rw_gpu_replay(struct radeon_device *rdev, unsigned long rings)
{
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw ? rdev->gem_rw->gpu : NULL;
	struct radeon_gem_rw_job *job, *next;
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
		by_gpu = by_gpu && radeon_gem_rw_replay_by_gpu(rdev, job);
		if (!by_gpu)
			radeon_gem_rw_replay_by_cpu(rdev, job);
		if (!job->fill)
			radeon_gem_rw_event(rdev, RADEON_GEM_RW_REPLAYED);
		list_del_init(&job->head);
		radeon_gem_rw_job_put(rdev, job);
	}
}

/**
 * radeon_gem_rw_gpu_recover - do again what a GPU reset has lost
 * @rdev: the device, as for radeon_gem_rw_gpu_replay()
 * @restored: for each ring its contents that are going to be restored, or NULL;
 *	or NULL if none are
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
		if (!restored || !restored[i]) {
			lost |= BIT(i);
			continue;
		}
		list_for_each_entry(job, &gpu->jobs[i], head)
			radeon_gem_rw_signal(job);
	}
	spin_unlock(&gpu->lock);

	radeon_gem_rw_gpu_replay(rdev, lost);
}
