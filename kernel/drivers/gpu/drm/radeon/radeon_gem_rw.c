// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: the ioctls, their
 * checks, and when a BO may be touched. How the bytes are moved is in
 * radeon_gem_rw_copy.c and radeon_gem_rw_stage.c.
 */

#include <linux/delay.h>
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/ktime.h>
#include <linux/overflow.h>
#include <linux/processor.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/radeon_drm.h>
#include <drm/radeon_drm_rw.h>
#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_placement.h>
#include <drm/ttm/ttm_tt.h>

#include "radeon.h"
#include "radeon_gem_rw.h"
#include "radeon_gem_rw_trace.h"
#include "radeon_ttm.h"

/**
 * DOC: GEM read and write
 *
 * A transfer is done in chunks of bounded size. For each chunk of which the
 * CPU moves the bytes:
 *
 * 1. User memory is made accessible (faulted in, pinned, or copied to a
 *    buffer) with nothing held. That can take as long as user space likes, for
 *    instance if the memory belongs to a userfaultfd.
 * 2. radeon_gem_rw_begin() takes the locks and looks at the BO's fences. If
 *    they have not signaled, it waits with nothing held, and tries again. A BO
 *    that the CPU can not reach is moved first, one that was swapped out is
 *    brought back.
 * 3. The bytes are copied.
 * 4. radeon_gem_rw_end() drops the locks, and user memory is let go.
 *
 * Where nothing is in the way, small pieces do not take that many steps: see
 * radeon_gem_rw_quick.c. What is left over takes them all.
 *
 * If the GPU had better move the bytes, radeon_gem_rw_begin() says so, and the
 * chunk goes through the staging area, see radeon_gem_rw_stage.c.
 * radeon_gem_rw_suits_gpu() has the rules. What the GPU turns out not to be
 * able to do, the CPU does.
 *
 * Locks, outermost first:
 *
 * - &mm_struct.mmap_lock and whatever else a page fault takes. The BO's own
 *   fault handler takes the next but two locks of this list, so user memory
 *   must not be touched below, except with page faults disabled.
 * - &radeon_device.exclusive_lock, for reading: no GPU reset meanwhile.
 * - &radeon_pm.mclk_lock, for reading: VRAM can be accessed by the CPU.
 * - The BO's &dma_resv: the BO stays where it is, and no work that uses it can
 *   be submitted.
 * - &radeon_device.ring_lock, to submit copies.
 * - The lock of the staging area, then that of fences.
 *
 * Sleeping is interruptible. While bytes are copied, by the CPU or by the GPU,
 * only a fatal signal makes the call end early: as it can only be started again
 * from the beginning, it would otherwise never end for a process that gets
 * signals from a timer.
 */

/* The fences that have to be waited for before BO contents may be touched. */
static enum dma_resv_usage radeon_gem_rw_usage(const struct radeon_gem_rw *rw)
{
	if (rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED)
		return DMA_RESV_USAGE_KERNEL;

	return dma_resv_usage_rw(rw->write);
}

/*
 * Have all fences signaled? The fences of this driver look at the number of the
 * last one only while somebody has enabled signaling, which switches the ring's
 * interrupt on, and off again: some 40 accesses to registers each. So those are
 * told to look. Others do it by themselves once signaling is enabled.
 */
static bool radeon_gem_rw_poll(struct dma_resv *resv, enum dma_resv_usage usage)
{
	struct radeon_fence *radeon_fence;
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	bool idle = true;

	dma_resv_iter_begin(&cursor, resv, usage);
	dma_resv_for_each_fence_unlocked(&cursor, fence) {
		if (dma_resv_iter_is_restarted(&cursor))
			idle = true;

		radeon_fence = to_radeon_fence(fence);
		if (radeon_fence) {
			idle &= radeon_fence_signaled(radeon_fence);
		} else {
			dma_fence_enable_sw_signaling(fence);
			idle &= dma_fence_is_signaled(fence);
		}
	}
	dma_resv_iter_end(&cursor);

	return idle;
}

/*
 * Waiting is done in slices, because the detection of a lockup does not wake
 * up those who sleep on a fence. They find out when they begin to wait.
 */
static int radeon_gem_rw_wait(const struct radeon_gem_rw *rw,
			      enum dma_resv_usage usage)
{
	struct dma_resv *resv = rw->bo->tbo.base.resv;
	long r;

	if (radeon_gem_rw_poll(resv, usage))
		return 0;

	if (rw->flags & RADEON_GEM_RW_NOWAIT)
		return -EBUSY;

	radeon_gem_rw_event(rw->rdev->gem_rw, RADEON_GEM_RW_STALL);

	do {
		r = dma_resv_wait_timeout(resv, usage, true,
					  RADEON_GEM_RW_WAIT_SLICE);
	} while (!r);

	return r < 0 ? r : 0;
}

/**
 * radeon_gem_rw_wait_idle - wait until a transfer may touch its BO
 * @rw: the transfer
 *
 * Must be called with nothing held.
 *
 * Returns:
 * 0, -ERESTARTSYS, -EBUSY if it is not allowed to wait, or -EDEADLK if the GPU
 * has to be reset.
 */
int radeon_gem_rw_wait_idle(const struct radeon_gem_rw *rw)
{
	return radeon_gem_rw_wait(rw, radeon_gem_rw_usage(rw));
}

/**
 * radeon_gem_rw_wait_fence - wait for a fence
 * @fence: the fence
 *
 * Returns:
 * 0, -ERESTARTSYS, or -EDEADLK if the GPU has to be reset.
 */
int radeon_gem_rw_wait_fence(struct dma_fence *fence)
{
	long r;

	do {
		r = dma_fence_wait_timeout(fence, true,
					   RADEON_GEM_RW_WAIT_SLICE);
	} while (!r);

	return r < 0 ? r : 0;
}

/**
 * radeon_gem_rw_wait_copy - wait for a copy that this call has submitted
 * @fence: fence of the copy
 *
 * Only a fatal signal ends this: a call that is made again submits its copy
 * again. With signals that come faster than the GPU copies, it would never end.
 *
 * Returns:
 * 0, -ERESTARTSYS, or -EDEADLK if the GPU has to be reset.
 */
int radeon_gem_rw_wait_copy(struct dma_fence *fence)
{
	bool pending;
	long r;

	do {
		if (fatal_signal_pending(current))
			return -ERESTARTSYS;

		pending = signal_pending(current);
		r = dma_fence_wait_timeout(fence, !pending,
					   pending ? RADEON_GEM_RW_KILL_SLICE :
						     RADEON_GEM_RW_WAIT_SLICE);
	} while (!r || r == -ERESTARTSYS);

	return r < 0 ? r : 0;
}

/**
 * radeon_gem_rw_poll_copy - wait a short time for a copy
 * @fence: fence of the copy
 * @spin_us: microseconds for which to poll it all the time
 *
 * A small copy takes less time than to switch the ring's interrupt on and off.
 * Then the fence is looked at now and then, which takes the CPU no time. What
 * takes long is left to radeon_gem_rw_wait_copy(), which has to be called
 * afterwards in any case.
 */
void radeon_gem_rw_poll_copy(struct radeon_fence *fence, unsigned int spin_us)
{
	ktime_t start = ktime_get();
	s64 us;

	for (;;) {
		if (radeon_fence_signaled(fence) || signal_pending(current))
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

/* There is no need for TTM to take this for a use of the BO, as the GPU's are. */
static int radeon_gem_rw_reserve(struct radeon_gem_rw *rw)
{
	int r;

	r = dma_resv_lock_interruptible(rw->bo->tbo.base.resv, NULL);
	return r == -EINTR ? -ERESTARTSYS : r;
}

static void radeon_gem_rw_unreserve(struct radeon_gem_rw *rw)
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

/**
 * radeon_gem_rw_lock_device - keep the device as it is, for access by the CPU
 * @rdev: the device
 *
 * No reset, and no change of memory clocks, until radeon_gem_rw_unlock_device().
 *
 * Returns:
 * 0, or -ERESTARTSYS.
 */
int radeon_gem_rw_lock_device(struct radeon_device *rdev)
{
	if (down_read_interruptible(&rdev->exclusive_lock))
		return -ERESTARTSYS;

	if (down_read_interruptible(&rdev->pm.mclk_lock)) {
		up_read(&rdev->exclusive_lock);
		return -ERESTARTSYS;
	}

	return 0;
}

/**
 * radeon_gem_rw_unlock_device - undo radeon_gem_rw_lock_device()
 * @rdev: the device
 */
void radeon_gem_rw_unlock_device(struct radeon_device *rdev)
{
	up_read(&rdev->pm.mclk_lock);
	up_read(&rdev->exclusive_lock);
}

static int radeon_gem_rw_lock(struct radeon_gem_rw *rw)
{
	int r;

	r = radeon_gem_rw_lock_device(rw->rdev);
	if (r)
		return r;

	r = radeon_gem_rw_reserve(rw);
	if (r)
		radeon_gem_rw_unlock_device(rw->rdev);

	return r;
}

/*
 * Wait with the BO reserved, so that nobody can submit more work for it, then
 * get the other locks. These come before the BO in the lock order, so they are
 * only tried. If a reset or a change of clocks is under way, go the usual way,
 * that is, wait for that to end. The caller has to look at the fences again.
 */
static int radeon_gem_rw_wait_and_lock(struct radeon_gem_rw *rw,
				       enum dma_resv_usage usage)
{
	struct radeon_device *rdev = rw->rdev;
	int r;

	r = radeon_gem_rw_reserve(rw);
	if (r)
		return r;

	r = radeon_gem_rw_wait(rw, usage);
	if (r)
		goto out_unreserve;

	if (down_read_trylock(&rdev->exclusive_lock)) {
		if (down_read_trylock(&rdev->pm.mclk_lock))
			return 0;
		up_read(&rdev->exclusive_lock);
	}

	radeon_gem_rw_unreserve(rw);
	return radeon_gem_rw_lock(rw);

out_unreserve:
	radeon_gem_rw_unreserve(rw);
	return r;
}

/**
 * radeon_gem_rw_end - let go of a BO
 * @rw: the transfer
 *
 * Undoes radeon_gem_rw_begin().
 */
void radeon_gem_rw_end(struct radeon_gem_rw *rw)
{
	radeon_gem_rw_unreserve(rw);
	radeon_gem_rw_unlock_device(rw->rdev);
}

/*
 * Can the CPU access the bytes before @end? In VRAM that is decided for the
 * bytes, not for the whole BO, which can begin within the aperture and end
 * beyond it.
 */
static bool radeon_gem_rw_reachable(const struct radeon_gem_rw *rw, u64 end)
{
	const struct ttm_buffer_object *tbo = &rw->bo->tbo;

	if (tbo->resource->mem_type == TTM_PL_VRAM) {
		u64 start = (u64)tbo->resource->start << PAGE_SHIFT;

		return start + end <= rw->rdev->mc.visible_vram_size;
	}

	return tbo->ttm && ttm_tt_is_populated(tbo->ttm);
}

/*
 * Should the GPU move the bytes rather than the CPU? The BO is reserved.
 *
 * - Writes to a BO that the GPU is using, if they are not too large: they
 *   would have to wait otherwise.
 * - VRAM that the CPU can not reach. Reading would have to wait for the copy,
 *   which NOWAIT forbids.
 * - Reads of VRAM, except of a few bytes: loads from there are not cached. But
 *   an unsynchronized one must not end up behind work in a ring.
 */
static bool radeon_gem_rw_suits_gpu(const struct radeon_gem_rw *rw, u64 end,
				    bool busy)
{
	u32 mem_type = rw->bo->tbo.resource->mem_type;
	struct radeon_device *rdev = rw->rdev;

	if (!rw->use_gpu || !rdev->gem_rw->stage)
		return false;

	if (!rw->write && (rw->flags & RADEON_GEM_RW_NOWAIT))
		return false;

	if (mem_type == TTM_PL_VRAM && !radeon_gem_rw_reachable(rw, end))
		return true;

	if (rw->write)
		return busy && mem_type != TTM_PL_SYSTEM &&
			rw->left <= READ_ONCE(radeon_gem_rw_stage_write_max);

	return mem_type == TTM_PL_VRAM &&
		!(rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED) &&
		rw->left >= READ_ONCE(radeon_gem_rw_stage_read_min);
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
	 * CPU, which can not reach the BO. -EBUSY: a fence that TTM waited for
	 * did not signal in time.
	 */
	if (r == -EINVAL || r == -EBUSY)
		r = READ_ONCE(rdev->needs_reset) ? -EDEADLK : -EBUSY;

	return r;
}

/*
 * Move a BO to where the CPU reaches it. Moving waits for all of the BO's
 * users, so do that before anything is locked. mclk_lock is not needed, as
 * the engine copies.
 */
static int radeon_gem_rw_move(struct radeon_gem_rw *rw, u64 end, bool gtt_only)
{
	struct radeon_device *rdev = rw->rdev;
	int r;

	/* There would be the fence of the move to sleep on. */
	if (rw->flags & RADEON_GEM_RW_NOWAIT)
		return -EBUSY;

	r = radeon_gem_rw_wait(rw, DMA_RESV_USAGE_BOOKKEEP);
	if (r)
		return r;

	if (down_read_interruptible(&rdev->exclusive_lock))
		return -ERESTARTSYS;

	/* The engines are being tested, they do not take work yet. */
	if (rdev->in_reset) {
		r = -EDEADLK;
		goto out_unlock;
	}

	r = radeon_bo_reserve(rw->bo, false);
	if (r)
		goto out_unlock;

	if (rw->bo->tbo.resource->mem_type == TTM_PL_VRAM &&
	    !radeon_gem_rw_reachable(rw, end)) {
		r = radeon_gem_rw_validate(rw, gtt_only);
		if (!r)
			radeon_gem_rw_event(rdev->gem_rw, RADEON_GEM_RW_MOVED);
	}

	radeon_bo_unreserve(rw->bo);
out_unlock:
	up_read(&rdev->exclusive_lock);
	return r;
}

/* Get the pages of a BO that has none yet, or whose pages were swapped out. */
static int radeon_gem_rw_populate(struct radeon_gem_rw *rw)
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

/*
 * Get ready for the CPU to read through the aperture. Before R600, it sees
 * tiled surfaces through surface registers. The host data path may have kept
 * bytes from before GPU writes.
 */
static void radeon_gem_rw_prepare_vram(struct radeon_gem_rw *rw)
{
	struct radeon_device *rdev = rw->rdev;

	radeon_bo_check_tiling(rw->bo, 0, 0);

	if (!rw->write && rdev->asic->mmio_hdp_flush)
		rdev->asic->mmio_hdp_flush(rdev);
}

/**
 * radeon_gem_rw_begin - get hold of a BO for the CPU
 * @rw: the transfer
 * @span: the bytes that are going to be accessed
 *
 * On success the BO is idle as far as the transfer's flags ask for, the CPU
 * can reach the bytes, and both stays so until radeon_gem_rw_end(). Must be
 * called with nothing held, and user memory must not be touched in between,
 * except with page faults disabled.
 *
 * Returns:
 * 0; or RADEON_GEM_RW_USE_GPU if &radeon_gem_rw.use_gpu is set and the GPU
 * should copy; or a negative error code: -EBUSY, -ERESTARTSYS, -ENOMEM as in
 * the description of the user API, -EDEADLK if the GPU has to be reset. Unless
 * it is 0, nothing is held.
 */
int radeon_gem_rw_begin(struct radeon_gem_rw *rw,
			const struct radeon_gem_rw_span *span)
{
	enum dma_resv_usage usage = radeon_gem_rw_usage(rw);
	struct ttm_buffer_object *tbo = &rw->bo->tbo;
	unsigned int lost = 0, moves = 0;
	bool busy, in_vram, gpu;
	int r;

	for (;;) {
		r = 0;
		if (rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED)
			r = radeon_gem_rw_stage_settle(rw, span);
		if (r)
			return r;

		if (lost >= RADEON_GEM_RW_MAX_LOST_RACES) {
			r = radeon_gem_rw_wait_and_lock(rw, usage);
		} else {
			/* Most BOs are idle, so look before waiting. */
			if (lost)
				r = radeon_gem_rw_wait(rw, usage);
			if (!r)
				r = radeon_gem_rw_lock(rw);
		}
		if (r)
			return r;

		busy = !radeon_gem_rw_poll(tbo->base.resv, usage);
		gpu = radeon_gem_rw_suits_gpu(rw, span->end, busy);
		in_vram = tbo->resource->mem_type == TTM_PL_VRAM;

		if (!gpu && !busy && radeon_gem_rw_reachable(rw, span->end)) {
			if (in_vram)
				radeon_gem_rw_prepare_vram(rw);
			return 0;
		}

		radeon_gem_rw_end(rw);
		if (gpu)
			return RADEON_GEM_RW_USE_GPU;

		/* A second time, go where nobody evicts the BO from again. */
		if (busy)
			lost++;
		else if (in_vram)
			r = radeon_gem_rw_move(rw, span->end, moves++);
		else
			r = radeon_gem_rw_populate(rw);
		if (r)
			return r;

		if (fatal_signal_pending(current))
			return -ERESTARTSYS;
	}
}

/**
 * radeon_gem_rw_try_begin - get hold of a BO for the CPU, if nothing is in the way
 * @rw: the transfer
 * @span: the bytes that are going to be accessed
 *
 * Must be called within radeon_gem_rw_lock_device(). Does not sleep. On success
 * everything is as after radeon_gem_rw_begin(), the BO is one that can be read
 * and written, and suits the functions that access user memory. That excludes
 * what the GPU had better copy: busy BOs, VRAM out of reach, reads of VRAM.
 *
 * Returns:
 * Whether the BO is held, until radeon_gem_rw_try_end().
 */
bool radeon_gem_rw_try_begin(struct radeon_gem_rw *rw,
			     const struct radeon_gem_rw_span *span)
{
	struct radeon_bo *bo = rw->bo;

	if (bo->tbo.base.import_attach ||
	    !dma_resv_trylock(bo->tbo.base.resv))
		return false;

	if (radeon_ttm_tt_has_userptr(rw->rdev, bo->tbo.ttm) ||
	    !radeon_gem_rw_reachable(rw, span->end) ||
	    !radeon_gem_rw_view_suits_user(rw) ||
	    !radeon_gem_rw_poll(bo->tbo.base.resv, radeon_gem_rw_usage(rw)))
		goto out_unlock;

	if (rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED &&
	    !radeon_gem_rw_stage_settled(rw, span))
		goto out_unlock;

	if (bo->tbo.resource->mem_type == TTM_PL_VRAM)
		radeon_gem_rw_prepare_vram(rw);

	return true;

out_unlock:
	dma_resv_unlock(bo->tbo.base.resv);
	return false;
}

/**
 * radeon_gem_rw_try_end - let go of a BO
 * @rw: the transfer
 *
 * Undoes radeon_gem_rw_try_begin().
 */
void radeon_gem_rw_try_end(struct radeon_gem_rw *rw)
{
	radeon_gem_rw_unreserve(rw);
}

/**
 * radeon_gem_rw_check_bo - is this a BO that can be read and written?
 * @rw: the transfer
 *
 * Notes where the BO is, so that user memory is not made accessible in vain for
 * a way of copying that does not suit. It can be elsewhere when it is copied.
 *
 * Returns:
 * 0, -EPERM or -EOPNOTSUPP as in the description of the user API, -ERESTARTSYS.
 */
int radeon_gem_rw_check_bo(struct radeon_gem_rw *rw)
{
	struct radeon_bo *bo = rw->bo;
	bool userptr;
	int r;

	if (bo->tbo.base.import_attach)
		return -EOPNOTSUPP;

	/* The lock keeps the ttm_tt from being freed by a move. */
	r = radeon_gem_rw_reserve(rw);
	if (r)
		return r;

	userptr = radeon_ttm_tt_has_userptr(bo->rdev, bo->tbo.ttm);
	rw->in_vram = bo->tbo.resource->mem_type == TTM_PL_VRAM;
	rw->use_gpu = true;
	rw->try_gpu = !rw->write &&
		!(rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED) &&
		radeon_gem_rw_suits_gpu(rw, radeon_bo_size(bo), false);
	dma_resv_unlock(bo->tbo.base.resv);

	return userptr ? -EPERM : 0;
}

/**
 * radeon_gem_rw_check_range - is a range within a BO?
 * @bo: the BO
 * @offset: first byte
 * @size: number of bytes
 *
 * Returns:
 * 0, or -EINVAL.
 */
int radeon_gem_rw_check_range(const struct radeon_bo *bo, u64 offset, u64 size)
{
	u64 end;

	if (check_add_overflow(offset, size, &end) || end > bo->tbo.base.size)
		return -EINVAL;

	return 0;
}

/* Arguments of both ioctls; the checks are in the order that the API promises. */
static int radeon_gem_rw_ioctl(struct drm_device *dev, struct drm_file *filp,
			       const struct drm_radeon_gem_pwrite *args,
			       bool write)
{
	struct radeon_device *rdev = dev->dev_private;
	struct radeon_gem_rw_region region = { .rows = 1 };
	struct radeon_gem_rw rw = {
		.rdev = rdev,
		.regions = &region,
		.count = 1,
		.write = write,
		.flags = args->pad,
	};
	struct drm_gem_object *gobj;
	int r;

	if (args->pad & ~(RADEON_GEM_RW_UNSYNCHRONIZED | RADEON_GEM_RW_NOWAIT))
		return -EINVAL;

	if (!args->size)
		return 0;

	if (overflows_type(args->size, size_t) ||
	    overflows_type(args->data_ptr, uintptr_t))
		return -EFAULT;
	region.user = u64_to_user_ptr(args->data_ptr);
	if (!access_ok(region.user, args->size))
		return -EFAULT;

	gobj = drm_gem_object_lookup(filp, args->handle);
	if (!gobj)
		return -ENOENT;
	rw.bo = gem_to_radeon_bo(gobj);

	r = radeon_gem_rw_check_range(rw.bo, args->offset, args->size);
	if (r)
		goto out_put;

	region.offset = args->offset;
	region.row_bytes = args->size;
	rw.left = args->size;
	if (radeon_gem_rw_quick(&rw))
		goto out_put;

	r = radeon_gem_rw_check_bo(&rw);
	if (r)
		goto out_put;

	r = radeon_gem_rw_copy(&rw);

out_put:
	drm_gem_object_put(gobj);
	return radeon_gem_handle_lockup(rdev, r);
}

/**
 * radeon_gem_pread_ioctl - copy from a BO to user memory
 * @dev: drm device
 * @data: struct drm_radeon_gem_pread
 * @filp: drm file, whose handle it is
 *
 * Returns:
 * 0, or a negative error code, see the description in radeon_drm_rw.h.
 */
int radeon_gem_pread_ioctl(struct drm_device *dev, void *data,
			   struct drm_file *filp)
{
	const struct drm_radeon_gem_pread *args = data;
	const struct drm_radeon_gem_pwrite common = {
		.handle = args->handle,
		.pad = args->pad,
		.offset = args->offset,
		.size = args->size,
		.data_ptr = args->data_ptr,
	};

	int r;

	r = radeon_gem_rw_ioctl(dev, filp, &common, false);
	trace_radeon_gem_pread(&common, r);

	return r;
}

/**
 * radeon_gem_pwrite_ioctl - copy from user memory to a BO
 * @dev: drm device
 * @data: struct drm_radeon_gem_pwrite
 * @filp: drm file, whose handle it is
 *
 * Returns:
 * 0, or a negative error code, see the description in radeon_drm_rw.h.
 */
int radeon_gem_pwrite_ioctl(struct drm_device *dev, void *data,
			    struct drm_file *filp)
{
	int r;

	r = radeon_gem_rw_ioctl(dev, filp, data, true);
	trace_radeon_gem_pwrite(data, r);

	return r;
}

/**
 * radeon_gem_rw_caps - what is supported
 * @rdev: the device
 *
 * Returns:
 * enum drm_radeon_gem_rw_caps, the answer to RADEON_INFO_GEM_RW.
 */
u32 radeon_gem_rw_caps(struct radeon_device *rdev)
{
	u32 caps = RADEON_GEM_RW_CAP_PREAD_PWRITE |
		RADEON_GEM_RW_CAP_TRANSFER;

	if (rdev->gem_rw->stage)
		caps |= RADEON_GEM_RW_CAP_STAGED;

	return caps;
}

/**
 * radeon_gem_rw_init - set up what is kept for a device
 * @rdev: the device
 *
 * Returns:
 * 0, or -ENOMEM.
 */
int radeon_gem_rw_init(struct radeon_device *rdev)
{
	rdev->gem_rw = kzalloc(sizeof(*rdev->gem_rw), GFP_KERNEL);
	if (!rdev->gem_rw)
		return -ENOMEM;

	spin_lock_init(&rdev->gem_rw->fill_lock);
	INIT_LIST_HEAD(&rdev->gem_rw->fills);
	radeon_gem_rw_debugfs_init(rdev);

	return 0;
}

/**
 * radeon_gem_rw_fini - release what is kept for a device
 * @rdev: the device
 *
 * No transfer can be under way any more, and the staging area is gone.
 */
void radeon_gem_rw_fini(struct radeon_device *rdev)
{
	radeon_gem_rw_view_release(rdev);
	kfree(rdev->gem_rw);
	rdev->gem_rw = NULL;
}
