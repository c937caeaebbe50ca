// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: locks, waiting for a BO,
 * and making it accessible. "GEM read and write" in radeon_gem_rw.c has the order
 * of the locks.
 */

#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/rwsem.h>
#include <linux/slab.h>

#include <drm/radeon_drm_rw.h>
#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_placement.h>
#include <drm/ttm/ttm_tt.h>

#include "radeon.h"
#include "radeon_gem_rw.h"

/*
 * Waiting
 */

/* The fences that have to be waited for before BO contents may be accessed. */
enum dma_resv_usage radeon_gem_rw_usage(const struct radeon_gem_rw *rw)
{
	if (rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED)
		return DMA_RESV_USAGE_KERNEL;

	return dma_resv_usage_rw(rw->write);
}

/*
 * A fence of this driver looks at the number of the last one only while somebody has
 * enabled signaling, which switches the ring's interrupt on, and off again: some 40
 * accesses to registers each. So it is told to look.
 */
bool radeon_gem_rw_is_signaled(struct dma_fence *fence)
{
	struct radeon_fence *radeon_fence = to_radeon_fence(fence);

	return dma_fence_is_signaled(fence) ||
		(radeon_fence && radeon_fence_signaled(radeon_fence));
}

/* Is there nothing to wait for? The BO is reserved. */
bool radeon_gem_rw_is_idle(const struct radeon_gem_rw *rw)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;

	dma_resv_for_each_fence(&cursor, rw->bo->tbo.base.resv,
				radeon_gem_rw_usage(rw), fence) {
		if (!radeon_gem_rw_is_signaled(fence))
			return false;
	}

	return true;
}

/*
 * Waiting is done in slices, because the detection of a lockup does not wake
 * up those who sleep on a fence. They find out when they begin to wait.
 */
static int radeon_gem_rw_wait_fences(const struct radeon_gem_rw *rw,
				     enum dma_resv_usage usage)
{
	long r;

	do {
		r = dma_resv_wait_timeout(rw->bo->tbo.base.resv, usage, true,
					  RADEON_GEM_RW_WAIT_SLICE);
	} while (!r);

	return r < 0 ? r : 0;
}

static int radeon_gem_rw_wait_idle(const struct radeon_gem_rw *rw)
{
	return radeon_gem_rw_wait_fences(rw, radeon_gem_rw_usage(rw));
}

static ssize_t radeon_gem_rw_wait_after(struct radeon_gem_rw *rw, ssize_t done)
{
	if (rw->flags & RADEON_GEM_RW_NOWAIT)
		return -EBUSY;

	rw->lost++;
	radeon_gem_rw_event(rw->rdev, RADEON_GEM_RW_STALL);

	return radeon_gem_rw_wait_idle(rw);
}

const struct radeon_gem_rw_path radeon_gem_rw_wait = {
	.after = radeon_gem_rw_wait_after,
};

/*
 * Locks
 */

/*
 * Keep device and BO as they are. Until radeon_gem_rw_release() the BO stays
 * where it is and gets no more work, and until radeon_gem_rw_unlock() there is
 * no GPU reset and no change of memory clocks. Must be called with no lock held
 * but, maybe, those of the device from an earlier call. Returns 0,
 * -ERESTARTSYS, or -EDEADLK if the GPU has to be reset. Then nothing is held.
 */
int radeon_gem_rw_hold(struct radeon_gem_rw *rw)
{
	struct radeon_device *rdev = rw->rdev;
	int r;

	if (rw->lost >= RADEON_GEM_RW_MAX_LOST_RACES) {
		r = radeon_bo_reserve(rw->bo, false);
		if (r)
			return r;

		r = radeon_gem_rw_wait_idle(rw);
		if (!r && down_read_trylock(&rdev->exclusive_lock)) {
			rw->locked = down_read_trylock(&rdev->pm.mclk_lock);
			rw->room = RADEON_GEM_RW_STEP_MAX;
			if (rw->locked)
				return 0;
			up_read(&rdev->exclusive_lock);
		}
		radeon_gem_rw_release(rw);
		if (r)
			return r;
	}

	if (!rw->locked) {
		if (down_read_interruptible(&rdev->exclusive_lock))
			return -ERESTARTSYS;
		if (down_read_interruptible(&rdev->pm.mclk_lock)) {
			up_read(&rdev->exclusive_lock);
			return -ERESTARTSYS;
		}
		rw->locked = true;
		rw->room = RADEON_GEM_RW_STEP_MAX;
	}

	r = radeon_bo_reserve(rw->bo, false);
	if (r)
		radeon_gem_rw_unlock(rw);

	return r;
}

/* Let others use the BO. */
void radeon_gem_rw_release(struct radeon_gem_rw *rw)
{
	if (rw->write) {
		/*
		 * Empty the write-combining buffers before anybody can submit
		 * work that reads the bytes. Submission flushes the host data
		 * path.
		 */
		wmb();
	}

	dma_resv_unlock(rw->bo->tbo.base.resv);
}

/* Drop the locks of the device, if they are held. */
void radeon_gem_rw_unlock(struct radeon_gem_rw *rw)
{
	if (!rw->locked)
		return;

	up_read(&rw->rdev->pm.mclk_lock);
	up_read(&rw->rdev->exclusive_lock);
	rw->locked = false;
}

/* Give back what is kept between transfers. */
void radeon_gem_rw_end(struct radeon_gem_rw *rw)
{
	radeon_gem_rw_unlock(rw);
	kfree(rw->buffer);
	rw->buffer = NULL;
}

/*
 * Making a BO accessible
 */

/*
 * Are any bytes of a step beyond the aperture? A BO in VRAM can begin within it and end
 * beyond it. Then it cannot be mapped unless the aperture is. The BO is reserved.
 */
bool radeon_gem_rw_is_hidden(const struct radeon_gem_rw *rw)
{
	const struct ttm_resource *res = rw->bo->tbo.resource;
	u64 end = rw->rdev->gem_rw->aperture ? rw->end : res->size;

	return res->mem_type == TTM_PL_VRAM &&
		((u64)res->start << PAGE_SHIFT) + end >
		rw->rdev->mc.visible_vram_size;
}

/* Where BOs go that have to be moved: not at the cost of others, if possible. */
static int radeon_gem_rw_validate(struct radeon_gem_rw *rw, bool gtt_only)
{
	struct radeon_device *rdev = rw->rdev;
	struct ttm_operation_ctx ctx = { .interruptible = true };
	const struct ttm_place places[] = {
		{
			.mem_type = TTM_PL_VRAM,
			.lpfn = rdev->mc.visible_vram_size >> PAGE_SHIFT,
		}, {
			.mem_type = TTM_PL_TT,
		},
	};
	struct ttm_placement placement = {
		.placement = gtt_only ? &places[1] : &places[0],
		.num_placement = gtt_only ? 1 : 2,
	};
	int r;

	if (rw->bo->tbo.pin_count)
		return -EBUSY;

	if (!rdev->ring[radeon_copy_ring_index(rdev)].ready)
		return -EBUSY;

	r = ttm_bo_validate(&rw->bo->tbo, &placement, &ctx);

	/*
	 * -EINVAL: the engine did not take the copy, so TTM tried to use the
	 * CPU, which cannot access the BO. -EBUSY: a fence that TTM waited for
	 * did not signal in time.
	 */
	if (r == -EINVAL || r == -EBUSY)
		r = READ_ONCE(rdev->needs_reset) ? -EDEADLK : -EBUSY;

	return r;
}

/*
 * Move a BO to where the CPU can access it; a second time, to where nobody evicts
 * it from. Moving waits for all of the BO's users, so do that before anything is
 * locked. mclk_lock is not needed, as the engine copies.
 */
static ssize_t radeon_gem_rw_move_after(struct radeon_gem_rw *rw, ssize_t done)
{
	struct radeon_device *rdev = rw->rdev;
	int r;

	/* There would be the fence of the move to sleep on. */
	if (rw->flags & RADEON_GEM_RW_NOWAIT)
		return -EBUSY;

	r = radeon_gem_rw_wait_fences(rw, DMA_RESV_USAGE_BOOKKEEP);
	if (r)
		return r;

	if (down_read_interruptible(&rdev->exclusive_lock))
		return -ERESTARTSYS;

	/* The engines are being tested, they do not take work yet. */
	r = rdev->in_reset ? -EDEADLK : radeon_bo_reserve(rw->bo, false);
	if (r)
		goto out_unlock;

	if (radeon_gem_rw_is_hidden(rw)) {
		r = radeon_gem_rw_validate(rw, rw->moves++);
		if (!r)
			radeon_gem_rw_event(rdev, RADEON_GEM_RW_MOVED);
	}

	radeon_bo_unreserve(rw->bo);
out_unlock:
	up_read(&rdev->exclusive_lock);
	return r;
}

const struct radeon_gem_rw_path radeon_gem_rw_move = {
	.after = radeon_gem_rw_move_after,
};

/* Get the pages of a BO that has none yet, or whose pages were swapped out. */
static ssize_t radeon_gem_rw_populate_after(struct radeon_gem_rw *rw,
					    ssize_t done)
{
	struct ttm_buffer_object *tbo = &rw->bo->tbo;
	struct ttm_operation_ctx ctx = {
		.interruptible = true,
		.no_wait_gpu = rw->flags & RADEON_GEM_RW_NOWAIT,
	};
	int r;

	r = radeon_bo_reserve(rw->bo, false);
	if (r)
		return r;

	if (tbo->resource->mem_type != TTM_PL_VRAM)
		r = ttm_tt_populate(tbo->bdev, tbo->ttm, &ctx);

	radeon_bo_unreserve(rw->bo);
	return r;
}

const struct radeon_gem_rw_path radeon_gem_rw_populate = {
	.after = radeon_gem_rw_populate_after,
};
