// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: clearing of VRAM for
 * new BOs.
 */

#include <linux/dma-resv.h>
#include <linux/io.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_placement.h>
#include <drm/ttm/ttm_resource.h>

#include "radeon.h"
#include "radeon_gem_rw_gpu.h"

/**
 * DOC: Clearing of new BOs
 *
 * A new BO must not show what the previous owner of its memory has left there.
 * GTT and system pages come cleared from TTM. VRAM does not, and there is one
 * place where a BO gets VRAM without contents to move there: radeon_bo_move(),
 * when user space creates a BO. All moves later on copy the whole BO. That
 * place calls radeon_gem_rw_clear(), which takes one of three ways:
 *
 * - The CPU clears small BOs that it can reach. That is done when it returns.
 * - The DMA engine fills, and the fence goes on the BO as one of the kernel's.
 *   Those are waited for by all who use a BO: command submission, in its ring
 *   (radeon_sync_resv()); the fault handler (ttm_bo_vm_fault_idle()); mappings
 *   of the kernel (radeon_bo_kmap()); page flips
 *   (radeon_crtc_page_flip_target()); moves, and the release of the memory, as
 *   for any other fence; PREAD, PWRITE and TRANSFER, also with
 *   RADEON_GEM_RW_UNSYNCHRONIZED. Only a mode set does not wait, so that such a
 *   BO can be seen on the screen for a moment before it is cleared.
 * - Where the DMA engine cannot fill, TTM is told to create the BO in GTT and
 *   to move it to VRAM from there.
 *
 * When an engine cannot do its part, because the GPU is locked up or under
 * test, the CPU clears what it can reach. For other VRAM the creation fails, and
 * radeon_gem_object_create() puts the BO into GTT.
 *
 * BOs of the kernel are not cleared.
 *
 * Locks: the BO's &dma_resv is held, and outside of it, by those who create BOs
 * for user space, &radeon_device.exclusive_lock, so that no GPU reset drops what
 * the CPU writes, and &radeon_pm.mclk_lock, both for reading.
 * &radeon_device.ring_lock is taken inside.
 *
 * A GPU reset loses what is in the DMA ring, and signals the fences. Before that,
 * radeon_gem_rw_gpu_recover() clears anew what had not been done. A move from GTT,
 * as any move, can be lost.
 */

/* Most bytes cleared between two chances for others to run. */
#define RADEON_GEM_RW_CLEAR_STEP	SZ_256K

static bool radeon_gem_rw_clear_vram = true;
MODULE_PARM_DESC(gem_rw_clear_vram,
		 "Clear VRAM that is given to new BOs (default Y)");
module_param_named(gem_rw_clear_vram, radeon_gem_rw_clear_vram, bool, 0644);

static unsigned int radeon_gem_rw_clear_cpu_max = SZ_32K;
MODULE_PARM_DESC(gem_rw_clear_cpu_max,
		 "New BOs of up to this many bytes are cleared by the CPU, larger ones by the GPU (default 32768)");
module_param_named(gem_rw_clear_cpu_max, radeon_gem_rw_clear_cpu_max, uint,
		   0644);

static int radeon_gem_rw_clear_by_cpu(struct radeon_device *rdev, u64 start,
				      u64 size)
{
	void __iomem *io, *iomap;
	u64 done, n;

	if (start + size > rdev->mc.visible_vram_size)
		return -EINVAL;

	io = radeon_gem_rw_map_vram(rdev, start, size, &iomap);
	if (!io)
		return -EINVAL;

	for (done = 0; done < size; done += n) {
		n = min_t(u64, size - done, RADEON_GEM_RW_CLEAR_STEP);
		memset_io(io + done, 0, n);
		cond_resched();
	}

	/* As for a write: submission flushes the host data path, or a move does. */
	wmb();
	WRITE_ONCE(rdev->gem_rw->hdp_dirty, true);
	if (iomap)
		iounmap(iomap);

	radeon_gem_rw_count(rdev, RADEON_GEM_RW_CLEAR_CPU, size);
	return 0;
}

static int radeon_gem_rw_clear_by_gpu(struct radeon_device *rdev,
				      struct dma_resv *resv, u64 start, u64 size)
{
	struct radeon_gem_rw_job *job;
	int r;

	/* While the engines are tested after a reset, they take no work. */
	if (rdev->in_reset || READ_ONCE(rdev->needs_reset))
		return -EDEADLK;

	job = radeon_gem_rw_job_new(1);
	if (!job)
		return -ENOMEM;
	job->fill = true;
	job->dwords = true;
	job->replay = true;
	job->ops[0].dst = rdev->mc.vram_start + start;
	job->ops[0].len = size;

	r = radeon_gem_rw_ring_replay(rdev, job, &job->fence);
	if (r) {
		kfree(job);
		return r;
	}

	/* TTM has reserved a slot for the fence of a move. */
	dma_resv_add_fence(resv, &job->fence->base, DMA_RESV_USAGE_KERNEL);
	radeon_gem_rw_job_submitted(rdev, job, job->fence->ring);
	atomic_inc(&rdev->gem_rw->gpu->fills);

	radeon_gem_rw_count(rdev, RADEON_GEM_RW_CLEAR_GPU, size);
	return 0;
}

/*
 * Clear @mem, which a reserved BO has been given, and which has no contents yet. The
 * BO has a free slot for a fence, and all its fences have been waited for. Does
 * nothing but for VRAM of BOs that user space has made. Returns 0; -EMULTIHOP if the
 * BO should be moved to @hop, and from there to @mem; or -EINVAL if @mem cannot be
 * cleared, and must not be used.
 */
int radeon_gem_rw_clear(struct ttm_buffer_object *tbo, struct ttm_resource *mem,
			struct ttm_place *hop)
{
	struct radeon_device *rdev = radeon_get_rdev(tbo->bdev);
	u64 start = (u64)mem->start << PAGE_SHIFT;
	u64 size = PAGE_ALIGN(mem->size);

	if (mem->mem_type != TTM_PL_VRAM || tbo->type != ttm_bo_type_device ||
	    !READ_ONCE(radeon_gem_rw_clear_vram))
		return 0;

	if (size <= READ_ONCE(radeon_gem_rw_clear_cpu_max) &&
	    !radeon_gem_rw_clear_by_cpu(rdev, start, size))
		return 0;

	if (rdev->gem_rw->gpu && radeon_gem_rw_ring_can_fill(rdev)) {
		if (!radeon_gem_rw_clear_by_gpu(rdev, tbo->base.resv, start,
						size))
			return 0;
	} else if (hop && rdev->ring[radeon_copy_ring_index(rdev)].ready &&
		   !rdev->in_reset && !READ_ONCE(rdev->needs_reset)) {
		*hop = (struct ttm_place) { .mem_type = TTM_PL_TT };
		radeon_gem_rw_count(rdev, RADEON_GEM_RW_CLEAR_HOP, size);
		return -EMULTIHOP;
	}

	return radeon_gem_rw_clear_by_cpu(rdev, start, size);
}

static bool radeon_gem_rw_is_filling(struct radeon_gem_rw_gpu *gpu)
{
	struct radeon_gem_rw_job *job;
	bool filling = false;
	unsigned int i;

	spin_lock(&gpu->lock);
	for (i = 0; i < RADEON_NUM_RINGS; i++) {
		list_for_each_entry(job, &gpu->jobs[i], head)
			filling |= job->fill && !radeon_fence_signaled(job->fence);
	}
	spin_unlock(&gpu->lock);

	return filling;
}

/*
 * Before a page of a reserved BO is mapped: the host data path may have kept bytes
 * from before a fill. Nobody else looks at a BO in VRAM by the CPU without a flush, or
 * a fence that he has waited for.
 */
void radeon_gem_rw_clear_fault(struct ttm_buffer_object *tbo)
{
	struct radeon_device *rdev = radeon_get_rdev(tbo->bdev);
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw->gpu;
	int fills;

	if (!gpu || tbo->resource->mem_type != TTM_PL_VRAM)
		return;

	/* If a fill is under way, the fault comes again. */
	fills = atomic_read(&gpu->fills);
	if (fills == READ_ONCE(gpu->fills_flushed) ||
	    !dma_resv_test_signaled(tbo->base.resv, DMA_RESV_USAGE_KERNEL))
		return;

	if (rdev->asic->mmio_hdp_flush)
		rdev->asic->mmio_hdp_flush(rdev);
	if (!radeon_gem_rw_is_filling(gpu))
		WRITE_ONCE(gpu->fills_flushed, fills);
}
