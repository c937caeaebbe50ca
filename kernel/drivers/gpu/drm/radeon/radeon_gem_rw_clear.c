// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: clearing of VRAM for
 * new BOs.
 */

#include <linux/io.h>
#include <linux/moduleparam.h>

#include "radeon.h"
#include "radeon_gem_rw_gpu.h"

/**
 * DOC: Clearing of new BOs
 *
 * A new BO must not show what the previous owner of its memory has left there.
 * GTT and system pages come cleared from TTM. VRAM does not, and there is one
 * place where a BO gets VRAM without contents to move there: radeon_bo_move(),
 * when user space creates a BO. That place calls radeon_gem_rw_clear():
 *
 * - The CPU clears small BOs that it can reach.
 * - The DMA engine fills others, and the fence goes on the BO as one of the kernel's.
 *   All users of a BO wait for those, also with RADEON_GEM_RW_UNSYNCHRONIZED. Only a
 *   mode set does not, so a BO can be on the screen before it is cleared.
 * - Where the DMA engine cannot fill, TTM is told to create the BO in GTT and
 *   to move it to VRAM from there.
 *
 * When an engine cannot do its part, because the GPU is locked up or under
 * test, the CPU clears what it can reach. For other VRAM the creation fails, and
 * radeon_gem_object_create() puts the BO into GTT.
 *
 * The BO's &dma_resv is held, and outside of it &radeon_device.exclusive_lock, so that
 * no GPU reset drops what the CPU writes, and &radeon_pm.mclk_lock, both for reading.
 * radeon_gem_rw_gpu_recover() repeats fills that a GPU reset has lost. A move from GTT
 * that a reset loses is not repeated, like any move.
 */

/* Bytes that the CPU clears before it lets others run. */
#define RADEON_GEM_RW_CLEAR_STEP	SZ_256K

static bool radeon_gem_rw_clear_vram = true;
MODULE_PARM_DESC(gem_rw_clear_vram,
		 "Clear VRAM that is given to new BOs (default Y)");
module_param_named(gem_rw_clear_vram, radeon_gem_rw_clear_vram, bool, 0644);

static unsigned int radeon_gem_rw_clear_cpu_max = SZ_32K;
MODULE_PARM_DESC(gem_rw_clear_cpu_max,
		 "New BOs of up to this many bytes are cleared by the CPU, larger ones by the GPU (default 32768)");
module_param_named(gem_rw_clear_cpu_max, radeon_gem_rw_clear_cpu_max, uint, 0644);

static int radeon_gem_rw_clear_by_cpu(struct radeon_device *rdev, u64 start, u64 size)
{
	u64 done, n;

	if (!rdev->gem_rw->aperture || start + size > rdev->mc.visible_vram_size)
		return -EINVAL;

	for (done = 0; done < size; done += n) {
		n = min_t(u64, size - done, RADEON_GEM_RW_CLEAR_STEP);
		memset_io(rdev->gem_rw->aperture + start + done, 0, n);
		cond_resched();
	}

	/* As after a write: the next submission or move flushes the host data path. */
	wmb();
	WRITE_ONCE(rdev->gem_rw->hdp_dirty, true);

	radeon_gem_rw_count(rdev, RADEON_GEM_RW_CLEAR_CPU, size);
	return 0;
}

static int radeon_gem_rw_clear_by_gpu(struct radeon_device *rdev,
				      struct dma_resv *resv, u64 start, u64 size)
{
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw->gpu;
	struct radeon_gem_rw_job *job;
	int r;

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
		radeon_gem_rw_job_put(rdev, job);
		return r;
	}

	/* TTM has reserved a slot for the fence of a move. */
	dma_resv_add_fence(resv, &job->fence->base, DMA_RESV_USAGE_KERNEL);
	spin_lock(&gpu->lock);
	list_add_tail(&job->head, &gpu->jobs[job->fence->ring]);
	spin_unlock(&gpu->lock);

	radeon_gem_rw_count(rdev, RADEON_GEM_RW_CLEAR_GPU, size);
	return 0;
}

/*
 * Clear @mem, the new memory of a reserved BO that has no contents yet. The BO has a
 * free slot for a fence, and all its fences have been waited for. Clears only VRAM of
 * BOs that user space has created. Returns 0; -EMULTIHOP if the BO should be moved to
 * @hop, and from there to @mem; or -EINVAL if @mem cannot be cleared, and must not be
 * used.
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

	/* While the engines are tested after a reset, they take no work. */
	if (rdev->in_reset || READ_ONCE(rdev->needs_reset))
		return radeon_gem_rw_clear_by_cpu(rdev, start, size);

	/* RV770 and later have the fill packet. The driver does not use R600's DMA. */
	if (rdev->gem_rw->gpu && rdev->family >= CHIP_RV770 &&
	    rdev->asic->copy.copy_ring_index == rdev->asic->copy.dma_ring_index) {
		if (!radeon_gem_rw_clear_by_gpu(rdev, tbo->base.resv, start, size))
			return 0;
	} else if (hop && rdev->ring[radeon_copy_ring_index(rdev)].ready) {
		*hop = (struct ttm_place) { .mem_type = TTM_PL_TT };
		radeon_gem_rw_count(rdev, RADEON_GEM_RW_CLEAR_HOP, size);
		return -EMULTIHOP;
	}

	return radeon_gem_rw_clear_by_cpu(rdev, start, size);
}

/*
 * Called before a page of a reserved BO is mapped: flush the host data path if it may
 * have kept bytes from before a fill. If a fill of this BO is under way, the page faults
 * again later. Other accesses to VRAM by the CPU flush, or wait for a fence, on their
 * own.
 */
void radeon_gem_rw_clear_fault(struct ttm_buffer_object *tbo)
{
	struct radeon_device *rdev = radeon_get_rdev(tbo->bdev);
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw->gpu;

	if (!gpu || tbo->resource->mem_type != TTM_PL_VRAM)
		return;

	spin_lock(&gpu->lock);
	radeon_gem_rw_reap(gpu);
	if (gpu->filled && rdev->asic->mmio_hdp_flush)
		rdev->asic->mmio_hdp_flush(rdev);
	gpu->filled = false;
	spin_unlock(&gpu->lock);
}
