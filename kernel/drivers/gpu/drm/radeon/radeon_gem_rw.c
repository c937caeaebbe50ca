// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: locks, waiting, steps of a
 * transfer and the choice of their path, the ioctls, counters, and setting up.
 */

#include <linux/debugfs.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/radeon_drm_rw.h>
#include <drm/ttm/ttm_tt.h>

#include "radeon.h"
#include "radeon_gem_rw.h"
#include "radeon_ttm.h"

/**
 * DOC: GEM read and write
 *
 * A transfer is done in steps of up to 256 KiB. A step takes the locks, looks at the
 * state of the BO, and takes the path of the first rule in radeon_gem_rw_rules that
 * fits. Usually the path copies bytes, and accesses user memory with page faults
 * disabled. Others drop the locks and wait for the BO, move it, or populate it; then the
 * step is tried again. If user memory was not resident, the next step faults it in
 * first, with no lock held, because user space controls how long that takes.
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
 * Fences are waited for with nothing held, except after RADEON_GEM_RW_MAX_LOST_RACES
 * lost races: then with the &dma_resv held, and the two outer locks are only tried.
 *
 * Sleeping is interruptible until the first bytes are transferred. From then on only a
 * fatal signal ends the call, as it would start again from its beginning. So that it
 * ends in any case, signals end only RADEON_GEM_RW_MAX_ENDS calls in a row for a BO.
 */

/* Waiting */

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

/*
 * May a signal that is not fatal end a sleep of the call, and so the call? Not if it has
 * transferred bytes, nor if signals have ended too many calls for the BO: others may
 * keep the BO or the rings busy, and the call begin again each time.
 */
bool radeon_gem_rw_is_interruptible(const struct radeon_gem_rw *rw)
{
	return !rw->begun && READ_ONCE(rw->bo->gem_rw_ends) < RADEON_GEM_RW_MAX_ENDS;
}

/* Note that a signal has ended a sleep, or that a step has ended. Races do no harm. */
static void radeon_gem_rw_note_end(struct radeon_gem_rw *rw, bool interrupted)
{
	unsigned int ends = READ_ONCE(rw->bo->gem_rw_ends);

	if (interrupted && ends < RADEON_GEM_RW_MAX_ENDS)
		WRITE_ONCE(rw->bo->gem_rw_ends, ends + 1);
	else if (!interrupted && ends)
		WRITE_ONCE(rw->bo->gem_rw_ends, ends - 1);
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

static ssize_t radeon_gem_rw_wait_after(struct radeon_gem_rw *rw, ssize_t done)
{
	if (rw->flags & RADEON_GEM_RW_NOWAIT)
		return -EBUSY;

	radeon_gem_rw_event(rw->rdev, RADEON_GEM_RW_STALL);

	/* Others may use the BO again before each wait of calls that signals end. */
	if (READ_ONCE(rw->bo->gem_rw_ends) >= RADEON_GEM_RW_MAX_ENDS) {
		rw->lost = RADEON_GEM_RW_MAX_LOST_RACES;
		return 0;
	}

	rw->lost++;
	return radeon_gem_rw_wait_idle(rw);
}

static const struct radeon_gem_rw_path radeon_gem_rw_wait = {
	.after = radeon_gem_rw_wait_after,
};

/* Locks */

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
 * Keep device and BO as they are: until radeon_gem_rw_release() the BO stays where
 * it is and gets no more work, and there is no GPU reset and no change of memory
 * clocks. Must be called with no lock held. Returns 0, -ERESTARTSYS, or -EDEADLK if
 * the GPU has to be reset. Then nothing is held.
 */
static int radeon_gem_rw_hold(struct radeon_gem_rw *rw)
{
	struct radeon_device *rdev = rw->rdev;
	int r;

	if (rw->lost >= RADEON_GEM_RW_MAX_LOST_RACES) {
		r = radeon_gem_rw_reserve(rw);
		if (r)
			return r;

		r = radeon_gem_rw_wait_idle(rw);
		if (!r && down_read_trylock(&rdev->exclusive_lock)) {
			if (down_read_trylock(&rdev->pm.mclk_lock))
				return 0;
			up_read(&rdev->exclusive_lock);
		}
		radeon_bo_unreserve(rw->bo);
		if (r)
			return r;
	}

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

static void radeon_gem_rw_release(struct radeon_gem_rw *rw)
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

/* Making a BO accessible */

/*
 * Is a byte of the step in CPU-inaccessible VRAM? Without a mapping of the aperture all
 * bytes of the BO count, as TTM only maps BOs that are wholly visible. BO is reserved.
 */
static bool radeon_gem_rw_is_hidden(const struct radeon_gem_rw *rw)
{
	const struct ttm_resource *res = rw->bo->tbo.resource;
	u64 end = rw->rdev->gem_rw->aperture ? rw->end : res->size;

	return res->mem_type == TTM_PL_VRAM &&
		((u64)res->start << PAGE_SHIFT) + end > rw->rdev->mc.visible_vram_size;
}

/* Move a reserved BO to visible VRAM or GTT, without evicting others if possible. */
static int radeon_gem_rw_validate(struct radeon_gem_rw *rw, bool gtt_only)
{
	struct radeon_device *rdev = rw->rdev;
	struct ttm_operation_ctx ctx = {
		.interruptible = radeon_gem_rw_is_interruptible(rw),
	};
	const struct ttm_place places[] = {
		{ .mem_type = TTM_PL_VRAM, .lpfn = rdev->mc.visible_vram_size >> PAGE_SHIFT },
		{ .mem_type = TTM_PL_TT },
	};
	struct ttm_placement placement = {
		.placement = places + gtt_only,
		.num_placement = ARRAY_SIZE(places) - gtt_only,
	};
	int r;

	if (rw->bo->tbo.pin_count || !rdev->ring[radeon_copy_ring_index(rdev)].ready)
		return -EBUSY;

	r = ttm_bo_validate(&rw->bo->tbo, &placement, &ctx);

	/*
	 * -EINVAL: the engine did not take the copy, so TTM tried to use the
	 * CPU, which cannot access the BO. -EBUSY: a fence that TTM waited for
	 * did not signal in time.
	 */
	if (r == -EINVAL || r == -EBUSY)
		return READ_ONCE(rdev->needs_reset) ? -EDEADLK : -EBUSY;
	if (!r)
		radeon_gem_rw_event(rdev, RADEON_GEM_RW_MOVED);

	return r;
}

/*
 * Move a BO to where the CPU can access it, the second time to GTT only. A move waits
 * for all users of the BO, so wait for them first, with nothing locked. mclk_lock is
 * not needed, as the engine copies.
 */
static ssize_t radeon_gem_rw_move_after(struct radeon_gem_rw *rw, ssize_t done)
{
	struct radeon_device *rdev = rw->rdev;
	int r;

	r = radeon_gem_rw_wait_fences(rw, DMA_RESV_USAGE_BOOKKEEP);
	if (r)
		return r;

	if (radeon_gem_rw_down_read(rw, &rdev->exclusive_lock))
		return -ERESTARTSYS;

	/* The engines are being tested, they do not take work yet. */
	r = rdev->in_reset ? -EDEADLK : radeon_gem_rw_reserve(rw);
	if (!r) {
		if (radeon_gem_rw_is_hidden(rw))
			r = radeon_gem_rw_validate(rw, rw->moves++);
		radeon_bo_unreserve(rw->bo);
	}

	up_read(&rdev->exclusive_lock);
	return r;
}

static const struct radeon_gem_rw_path radeon_gem_rw_move = {
	.after = radeon_gem_rw_move_after,
};

/* Populate a BO that has no pages yet, or whose pages were swapped out. */
static ssize_t radeon_gem_rw_populate_after(struct radeon_gem_rw *rw, ssize_t done)
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

static const struct radeon_gem_rw_path radeon_gem_rw_populate = {
	.after = radeon_gem_rw_populate_after,
};

/* Steps */

/* A step takes the first rule of which it has all flags of @all and none of @none. */
#define IS(x)	RADEON_GEM_RW_IS_##x

static const struct radeon_gem_rw_rule {
	unsigned int all;
	unsigned int none;
	const struct radeon_gem_rw_path *path;
} radeon_gem_rw_rules[] = {
	/* Idle BOs in GTT, and writes to visible VRAM: the CPU is fastest. */
	{ 0, IS(VRAM) | IS(BUSY) | IS(ABSENT), &radeon_gem_rw_cpu },
	{ IS(WRITE), IS(HIDDEN) | IS(BUSY) | IS(ABSENT), &radeon_gem_rw_cpu },
	{ IS(BUSY), 0, &radeon_gem_rw_wait },
	{ IS(HIDDEN) | IS(UNSYNC) | IS(WRITE), 0, &radeon_gem_rw_cpu },
	{ IS(HIDDEN) | IS(UNSYNC), IS(NOWAIT), &radeon_gem_rw_cpu },
	/* -EBUSY: the call would have to sleep on the fence of the move. */
	{ IS(HIDDEN) | IS(NOWAIT), 0, &radeon_gem_rw_wait },
	{ IS(HIDDEN), 0, &radeon_gem_rw_move },
	{ IS(ABSENT), 0, &radeon_gem_rw_populate },
	{ 0, 0, &radeon_gem_rw_cpu },
};

/* Make a step of the next bytes, up to @max_len. */
void radeon_gem_rw_take(struct radeon_gem_rw *rw, u64 max_len)
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
		radeon_gem_rw_take(rw, rw->len - missed);

	return 0;
}

/* Returns the RADEON_GEM_RW_IS_* flags of a step. The BO is reserved. */
static unsigned int radeon_gem_rw_look(struct radeon_gem_rw *rw)
{
	struct ttm_buffer_object *tbo = &rw->bo->tbo;
	unsigned int look = rw->flags & (IS(NOWAIT) | IS(UNSYNC));

	if (rw->write)
		look |= IS(WRITE);
	if (tbo->resource->mem_type == TTM_PL_VRAM)
		look |= IS(VRAM);
	else if (!tbo->ttm || !ttm_tt_is_populated(tbo->ttm))
		look |= IS(ABSENT);
	if (radeon_gem_rw_is_hidden(rw))
		look |= IS(HIDDEN);
	if (!radeon_gem_rw_is_idle(rw))
		look |= IS(BUSY);

	return look;
}

/*
 * Choose the path of a step by the first rule that fits, and call its held(), if any.
 * Returns what that returns, or 0, and the path; -EPERM if the BO is a userptr.
 */
static ssize_t radeon_gem_rw_choose(struct radeon_gem_rw *rw,
				    const struct radeon_gem_rw_path **path)
{
	const struct radeon_gem_rw_rule *rule = radeon_gem_rw_rules;

	if (radeon_ttm_tt_has_userptr(rw->rdev, rw->bo->tbo.ttm))
		return -EPERM;

	rw->look = radeon_gem_rw_look(rw);

	while ((rw->look & (rule->all | rule->none)) != rule->all)
		rule++;
	*path = rule->path;

	return rule->path->held ? rule->path->held(rw) : 0;
}

/* Returns how many bytes were transferred, 0 to try again, or an error. */
static ssize_t radeon_gem_rw_step(struct radeon_gem_rw *rw)
{
	const struct radeon_gem_rw_path *path = NULL;
	ssize_t done;
	int r;

	/* If pages are reclaimed again before the copy, go on with one at a time. */
	radeon_gem_rw_take(rw, rw->fails > 1 ? PAGE_SIZE : RADEON_GEM_RW_STEP_MAX);
	if (rw->fault_in) {
		r = radeon_gem_rw_fault_in(rw);
		if (r)
			return r;
		rw->fault_in = false;
	}

	r = radeon_gem_rw_hold(rw);
	if (r)
		return r;

	done = radeon_gem_rw_choose(rw, &path);
	radeon_gem_rw_release(rw);

	if (done >= 0 && path->after)
		done = path->after(rw, done);

	return done;
}

/*
 * Do a transfer whose arguments have been checked. Returns 0, or an error of the user
 * API; -EDEADLK if the GPU has to be reset.
 */
static int radeon_gem_rw_copy(struct radeon_gem_rw *rw)
{
	ssize_t done = 0;

	if (rw->bo->tbo.base.import_attach)
		return -EOPNOTSUPP;

	while (rw->left) {
		done = radeon_gem_rw_step(rw);
		if (done)
			radeon_gem_rw_note_end(rw, done == -ERESTARTSYS);
		if (done < 0)
			break;

		rw->begun |= done;
		rw->offset += done;
		rw->user += done;
		rw->left -= done;
		if (done) {
			rw->lost = 0;
			rw->fails = 0;
		}

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
		r = radeon_gem_rw_copy(&rw);

	kfree(rw.buffer);
	drm_gem_object_put(gobj);
	return radeon_gem_handle_lockup(rdev, r);
}

int radeon_gem_pread_ioctl(struct drm_device *dev, void *data, struct drm_file *filp)
{
	/* The two structs have the same layout. */
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

static const char * const radeon_gem_rw_names[] = {
	[RADEON_GEM_RW_CPU] = "cpu",
	[RADEON_GEM_RW_STALL] = "stall",
	[RADEON_GEM_RW_NOT_RESIDENT] = "not_resident",
	[RADEON_GEM_RW_MOVED] = "moved",
};

static int radeon_debugfs_gem_rw_show(struct seq_file *m, void *unused)
{
	struct radeon_device *rdev = m->private;
	struct radeon_gem_rw_state *state = rdev->gem_rw;
	unsigned int i;

	for (i = 0; state && i < RADEON_GEM_RW_COUNTERS; i++) {
		seq_printf(m, "%s %lld", radeon_gem_rw_names[i],
			   atomic64_read(&state->counts[i]));
		if (i < RADEON_GEM_RW_PATHS)
			seq_printf(m, " %lld", atomic64_read(&state->bytes[i]));
		seq_putc(m, '\n');
	}

	return 0;
}

DEFINE_SHOW_ATTRIBUTE(radeon_debugfs_gem_rw);

/*
 * Map the aperture once on 64 bit, where there is address space for it. On 32 bit each
 * access maps its own pages, which takes longer than the access from about 64 KiB on.
 */
int radeon_gem_rw_init(struct radeon_device *rdev)
{
	rdev->gem_rw = kzalloc(sizeof(*rdev->gem_rw), GFP_KERNEL);
	if (!rdev->gem_rw)
		return -ENOMEM;

	if (IS_ENABLED(CONFIG_64BIT))
		rdev->gem_rw->aperture = ioremap_wc(rdev->mc.aper_base,
						    rdev->mc.visible_vram_size);

	/* The minors have no directory before the device is registered. */
	debugfs_create_file("radeon_gem_rw", 0444, rdev_to_drm(rdev)->debugfs_root,
			    rdev, &radeon_debugfs_gem_rw_fops);

	return 0;
}

/* No transfer is under way any more. A probe that failed early has set up nothing. */
void radeon_gem_rw_fini(struct radeon_device *rdev)
{
	if (!rdev->gem_rw)
		return;

	if (rdev->gem_rw->aperture)
		iounmap(rdev->gem_rw->aperture);
	kfree(rdev->gem_rw);
	rdev->gem_rw = NULL;
}
