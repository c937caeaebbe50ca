// SPDX-License-Identifier: MIT
/*
 * Copyright 2026 Seed 7e3b15d1 maintainers
 *
 * Reading and writing GEM objects without mapping them: locks, waiting, steps of a
 * transfer and the choice of what they do, and the ioctls.
 */

#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/radeon_drm.h>
#include <drm/ttm/ttm_tt.h>

#include "radeon.h"
#include "radeon_gem_rw.h"
#include "radeon_ttm.h"

/**
 * DOC: GEM read and write
 *
 * A transfer is done in steps of up to 256 KiB. A step takes the locks, looks at the
 * state of the BO, and radeon_gem_rw_choose() says what to do. Usually the step copies
 * bytes, and accesses user memory with page faults disabled. Otherwise it drops the
 * locks and waits for the BO, moves it, or populates it; then the step is tried again.
 * If user memory was not resident, the next step faults it in first, with no lock held,
 * because user space controls how long that takes.
 *
 * Locks, outermost first:
 *
 * - &mm_struct.mmap_lock and whatever else a page fault takes. The BO's own
 *   fault handler takes two of the locks below.
 * - &radeon_device.exclusive_lock, for reading: no GPU reset meanwhile.
 * - &radeon_pm.mclk_lock, for reading: the CPU can access VRAM.
 * - The BO's &dma_resv: the BO stays where it is, and gets no more work.
 * - The spin lock of fences.
 *
 * Fences are waited for with nothing held.
 *
 * Sleeping is interruptible until the first bytes are transferred. From then on only a
 * fatal signal ends the call, as it would start again from its beginning.
 */

/* The fences that have to be waited for before BO contents may be accessed. */
static enum dma_resv_usage radeon_gem_rw_usage(const struct radeon_gem_rw *rw)
{
	if (rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED)
		return DMA_RESV_USAGE_KERNEL;

	return dma_resv_usage_rw(rw->write);
}

/*
 * The driver updates a ring's last sequence number only while somebody has
 * enabled signaling, which switches the ring's interrupt on, and off again: some 40
 * accesses to registers each. So it is told to look.
 */
static bool radeon_gem_rw_is_signaled(struct dma_fence *fence)
{
	struct radeon_fence *radeon_fence = to_radeon_fence(fence);

	return dma_fence_is_signaled(fence) ||
		(radeon_fence && radeon_fence_signaled(radeon_fence));
}

/* Is there nothing to wait for? The BO is reserved. */
static bool radeon_gem_rw_is_idle(const struct radeon_gem_rw *rw)
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

/* May a signal that is not fatal end a sleep of the call, and so the call? */
bool radeon_gem_rw_is_interruptible(const struct radeon_gem_rw *rw)
{
	return !rw->begun;
}

/*
 * Wait in slices, because the detection of a lockup does not wake those who sleep on a
 * fence: radeon_fence_default_wait() looks for a lockup only before it sleeps.
 */
static int radeon_gem_rw_wait_fences(const struct radeon_gem_rw *rw,
				     enum dma_resv_usage usage)
{
	long r;

	do {
		r = dma_resv_wait_timeout(rw->bo->tbo.base.resv, usage,
					  radeon_gem_rw_is_interruptible(rw),
					  RADEON_GEM_RW_WAIT_SLICE);
		if (!r && fatal_signal_pending(current))
			r = -ERESTARTSYS;
	} while (!r);

	return r < 0 ? r : 0;
}

static int radeon_gem_rw_wait_idle(const struct radeon_gem_rw *rw)
{
	return radeon_gem_rw_wait_fences(rw, radeon_gem_rw_usage(rw));
}

static int radeon_gem_rw_wait(struct radeon_gem_rw *rw)
{
	if (rw->flags & RADEON_GEM_RW_NOWAIT)
		return -EBUSY;

	rw->flushed = false;
	return radeon_gem_rw_wait_idle(rw);
}

static int radeon_gem_rw_down_read(const struct radeon_gem_rw *rw,
				   struct rw_semaphore *sem)
{
	return radeon_gem_rw_is_interruptible(rw) ? down_read_interruptible(sem) :
						    down_read_killable(sem);
}

static int radeon_gem_rw_reserve(const struct radeon_gem_rw *rw)
{
	return radeon_bo_reserve(rw->bo, !radeon_gem_rw_is_interruptible(rw));
}

/*
 * Keep device and BO as they are: until radeon_gem_rw_unlock() the BO stays where
 * it is and gets no more work, and there is no GPU reset and no change of memory
 * clocks. Must be called with no lock held. Returns 0, -ERESTARTSYS, or -EDEADLK if
 * the GPU has to be reset. Then nothing is held.
 */
static int radeon_gem_rw_lock(struct radeon_gem_rw *rw)
{
	struct radeon_device *rdev = rw->rdev;
	int r;

	if (radeon_gem_rw_down_read(rw, &rdev->exclusive_lock))
		return -ERESTARTSYS;

	r = -ERESTARTSYS;
	if (!radeon_gem_rw_down_read(rw, &rdev->pm.mclk_lock)) {
		r = radeon_gem_rw_reserve(rw);
		if (!r)
			return 0;
		up_read(&rdev->pm.mclk_lock);
	}
	up_read(&rdev->exclusive_lock);

	return r;
}

static void radeon_gem_rw_unlock(struct radeon_gem_rw *rw)
{
	if (rw->write) {
		/*
		 * Empty the write-combining buffers before anybody can submit
		 * work that reads the bytes. Submission flushes the HDP.
		 */
		wmb();
	}
	dma_resv_unlock(rw->bo->tbo.base.resv);
	up_read(&rw->rdev->pm.mclk_lock);
	up_read(&rw->rdev->exclusive_lock);
}

/*
 * Is a byte of the step in CPU-inaccessible VRAM? Without a mapping of the aperture all
 * bytes of the BO count, as TTM only maps BOs that are wholly visible. BO is reserved.
 */
static bool radeon_gem_rw_is_hidden(const struct radeon_gem_rw *rw)
{
	const struct ttm_resource *res = rw->bo->tbo.resource;
	u64 end = rw->rdev->vram.aperture ? rw->end : res->size;

	dma_resv_assert_held(rw->bo->tbo.base.resv);

	return res->mem_type == TTM_PL_VRAM &&
		((u64)res->start << PAGE_SHIFT) + end > rw->rdev->mc.visible_vram_size;
}

/*
 * Move a BO to where the CPU can access it, as for a page fault: to visible VRAM, or to
 * GTT. A move waits for all users of the BO, so wait for them first, with nothing locked.
 */
static int radeon_gem_rw_move(struct radeon_gem_rw *rw)
{
	struct radeon_device *rdev = rw->rdev;
	struct radeon_bo *bo = rw->bo;
	int r;

	r = radeon_gem_rw_wait_fences(rw, DMA_RESV_USAGE_BOOKKEEP);
	if (r)
		return r;

	if (radeon_gem_rw_down_read(rw, &rdev->exclusive_lock))
		return -ERESTARTSYS;

	/* The engines are being tested, they do not take work yet. */
	r = rdev->in_reset ? -EDEADLK : radeon_gem_rw_reserve(rw);
	if (!r) {
		if (radeon_gem_rw_is_hidden(rw)) {
			if (bo->tbo.pin_count ||
			    !rdev->ring[radeon_copy_ring_index(rdev)].ready ||
			    radeon_bo_fault_reserve_notify(&bo->tbo))
				r = READ_ONCE(rdev->needs_reset) ? -EDEADLK : -EBUSY;
		}
		radeon_bo_unreserve(bo);
	}

	up_read(&rdev->exclusive_lock);
	return r;
}

/* Populate a BO that has no pages yet, or whose pages were swapped out. */
static int radeon_gem_rw_populate(struct radeon_gem_rw *rw)
{
	struct ttm_buffer_object *tbo = &rw->bo->tbo;
	struct ttm_operation_ctx ctx = {
		.interruptible = radeon_gem_rw_is_interruptible(rw),
		.no_wait_gpu = rw->flags & RADEON_GEM_RW_NOWAIT,
	};
	int r;

	r = radeon_gem_rw_reserve(rw);
	if (r)
		return r;

	if (tbo->resource->mem_type != TTM_PL_VRAM)
		r = ttm_tt_populate(tbo->bdev, tbo->ttm, &ctx);

	radeon_bo_unreserve(rw->bo);
	return r;
}

#define IS(x)	RADEON_GEM_RW_IS_##x

/* Returns what to do in a state, a mask of RADEON_GEM_RW_IS_*. */
static enum radeon_gem_rw_action radeon_gem_rw_choose(unsigned int is)
{
	if (is & IS(BUSY))
		return RADEON_GEM_RW_WAIT;

	if (is & IS(HIDDEN))
		return is & IS(NOWAIT) ? RADEON_GEM_RW_WAIT : RADEON_GEM_RW_MOVE;

	return is & IS(ABSENT) ? RADEON_GEM_RW_POPULATE : RADEON_GEM_RW_COPY;
}

/* Returns the RADEON_GEM_RW_IS_* flags of a step. The BO is reserved. */
static unsigned int radeon_gem_rw_state(const struct radeon_gem_rw *rw)
{
	struct ttm_buffer_object *tbo = &rw->bo->tbo;
	unsigned int is = rw->flags & (IS(NOWAIT) | IS(UNSYNC));

	if (rw->write)
		is |= IS(WRITE);
	if (tbo->resource->mem_type == TTM_PL_VRAM)
		is |= IS(VRAM);
	else if (!tbo->ttm || !ttm_tt_is_populated(tbo->ttm))
		is |= IS(ABSENT);
	if (radeon_gem_rw_is_hidden(rw))
		is |= IS(HIDDEN);
	if (!radeon_gem_rw_is_idle(rw))
		is |= IS(BUSY);

	return is;
}

/* Make a step of the next bytes, up to @max_len. */
void radeon_gem_rw_set_step(struct radeon_gem_rw *rw, u64 max_len)
{
	rw->len = min(rw->left, max_len);
	rw->end = rw->offset + rw->len;
	rw->pieces[0] = (struct radeon_gem_rw_piece) {
		.offset = rw->offset,
		.user = rw->user,
		.len = rw->len,
	};
}

/*
 * Fault user memory in, with nothing held. Returns the number of bytes from the
 * first inaccessible one on, 0 if there is none.
 */
static size_t radeon_gem_rw_fault_in_user(const struct radeon_gem_rw *rw,
					  char __user *user, size_t len)
{
	/* Unlike fault_in_writeable() this one does not write to it. */
	return rw->write ? fault_in_readable(user, len) :
			   fault_in_safe_writeable(user, len);
}

/* Make the user memory of a step resident, and leave off what is not accessible. */
static int radeon_gem_rw_fault_in(struct radeon_gem_rw *rw)
{
	size_t missed = radeon_gem_rw_fault_in_user(rw, rw->user, rw->len);

	if (missed == rw->len)
		return -EFAULT;
	if (missed)
		radeon_gem_rw_set_step(rw, rw->len - missed);

	return 0;
}

/* Returns how many bytes were transferred, 0 to try again, or an error. */
static ssize_t radeon_gem_rw_step(struct radeon_gem_rw *rw)
{
	enum radeon_gem_rw_action action = RADEON_GEM_RW_COPY;
	ssize_t done;
	int r;

	/* If pages are reclaimed again before the copy, go on with one at a time. */
	radeon_gem_rw_set_step(rw, rw->fails > 1 ? PAGE_SIZE : RADEON_GEM_RW_STEP_MAX);
	if (rw->fault_in) {
		r = radeon_gem_rw_fault_in(rw);
		if (r)
			return r;
		rw->fault_in = false;
	}

	r = radeon_gem_rw_lock(rw);
	if (r)
		return r;

	done = radeon_ttm_tt_has_userptr(rw->rdev, rw->bo->tbo.ttm) ? -EPERM : 0;
	if (!done) {
		rw->is = radeon_gem_rw_state(rw);
		action = radeon_gem_rw_choose(rw->is);
		if (action == RADEON_GEM_RW_COPY)
			done = radeon_gem_rw_copy_by_cpu(rw);
	}
	radeon_gem_rw_unlock(rw);

	switch (action) {
	case RADEON_GEM_RW_WAIT:
		return radeon_gem_rw_wait(rw);
	case RADEON_GEM_RW_MOVE:
		return radeon_gem_rw_move(rw);
	case RADEON_GEM_RW_POPULATE:
		return radeon_gem_rw_populate(rw);
	default:
		return done;
	}
}

/*
 * Do a transfer whose arguments have been checked. Returns 0, or an error of the user
 * API; -EDEADLK if the GPU has to be reset.
 */
static int radeon_gem_rw_transfer(struct radeon_gem_rw *rw)
{
	ssize_t done = 0;

	if (rw->bo->tbo.base.import_attach)
		return -EOPNOTSUPP;

	while (rw->left) {
		done = radeon_gem_rw_step(rw);
		if (done < 0)
			break;

		rw->begun |= done;
		rw->offset += done;
		rw->user += done;
		rw->left -= done;
		if (done)
			rw->fails = 0;

		if (rw->left && fatal_signal_pending(current)) {
			done = -ERESTARTSYS;
			break;
		}
		cond_resched();
	}

	/* Errors of user memory come before -EBUSY. */
	if (done == -EBUSY && radeon_gem_rw_fault_in_user(rw, rw->user, rw->left))
		return -EFAULT;

	return min_t(ssize_t, done, 0);
}

/* Is a range within a BO? Returns 0, or -EINVAL. */
static int radeon_gem_rw_check_range(const struct radeon_bo *bo, u64 offset, u64 size)
{
	u64 end;

	if (check_add_overflow(offset, size, &end) || end > bo->tbo.base.size)
		return -EINVAL;

	return 0;
}

/* Both ioctls. The checks are in the order that the user API documents. */
static int radeon_gem_rw_ioctl(struct drm_device *dev, struct drm_file *filp,
			       const struct drm_radeon_gem_pwrite *args,
			       bool write)
{
	struct radeon_device *rdev = dev->dev_private;
	struct radeon_gem_rw_piece piece;
	struct radeon_gem_rw rw = {
		.rdev = rdev,
		.write = write,
		.flags = args->pad,
		.offset = args->offset,
		.left = args->size,
		.pieces = &piece,
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
	rw.user = u64_to_user_ptr(args->data_ptr);
	if (!access_ok(rw.user, args->size))
		return -EFAULT;

	gobj = drm_gem_object_lookup(filp, args->handle);
	if (!gobj)
		return -ENOENT;
	rw.bo = gem_to_radeon_bo(gobj);

	r = radeon_gem_rw_check_range(rw.bo, args->offset, args->size);
	if (!r)
		r = radeon_gem_rw_transfer(&rw);

	drm_gem_object_put(gobj);
	return radeon_gem_handle_lockup(rdev, r);
}

int radeon_gem_pread_ioctl(struct drm_device *dev, void *data, struct drm_file *filp)
{
	BUILD_BUG_ON(sizeof(struct drm_radeon_gem_pread) !=
		     sizeof(struct drm_radeon_gem_pwrite));

	return radeon_gem_rw_ioctl(dev, filp, data, false);
}

int radeon_gem_pwrite_ioctl(struct drm_device *dev, void *data, struct drm_file *filp)
{
	return radeon_gem_rw_ioctl(dev, filp, data, true);
}

/* The answer to RADEON_INFO_GEM_RW. */
u32 radeon_gem_rw_caps(struct radeon_device *rdev)
{
	return RADEON_GEM_RW_CAP_PREAD_PWRITE;
}
