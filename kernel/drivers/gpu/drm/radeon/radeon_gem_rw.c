// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: the ioctls, locks and
 * waiting, and the choice of the path.
 */

#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pagemap.h>
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
#include "radeon_ttm.h"

/**
 * DOC: GEM read and write
 *
 * A transfer is done in steps of up to 256 KiB. Each step
 *
 * 1. faults user memory in, with nothing held. That can take as long as user
 *    space likes, for instance if the memory belongs to a userfaultfd;
 * 2. takes the locks, looks at the BO, and finds the first rule in
 *    radeon_gem_rw_rules that fits;
 * 3. does what that rule's path does with the locks held. Usually this copies
 *    the bytes, and accesses user memory with page faults disabled;
 * 4. drops the locks, and does the rest of the path: waits for the BO, moves it,
 *    or gives it pages, and then the step is tried again.
 *
 * Locks, outermost first:
 *
 * - &mm_struct.mmap_lock and whatever else a page fault takes. The BO's own
 *   fault handler takes two of the locks below, so user memory is only accessed
 *   with nothing held, or with page faults disabled.
 * - &radeon_device.exclusive_lock, for reading: no GPU reset meanwhile.
 * - &radeon_pm.mclk_lock, for reading: the CPU can access VRAM.
 * - The BO's &dma_resv: the BO stays where it is, and no work that uses it can
 *   be submitted.
 * - &radeon_device.ring_lock, which is only tried.
 * - The spin lock of the staging buffer, then that of fences.
 *
 * Fences are waited for with nothing held, except after
 * RADEON_GEM_RW_MAX_LOST_RACES lost races: then with the &dma_resv held, and the
 * two locks outside of it are only tried.
 *
 * Sleeping is interruptible. While the bytes of a region are copied only a fatal
 * signal ends the call, as it would start the region again from its beginning.
 * Between regions every signal does.
 */

/*
 * Waiting
 */

/* The fences that have to be waited for before BO contents may be accessed. */
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

	radeon_gem_rw_event(rw->rdev, RADEON_GEM_RW_STALL);

	do {
		r = dma_resv_wait_timeout(resv, usage, true,
					  RADEON_GEM_RW_WAIT_SLICE);
	} while (!r);

	return r < 0 ? r : 0;
}

/**
 * radeon_gem_rw_is_idle - could radeon_gem_rw_wait_idle() return at once?
 * @rw: the transfer
 *
 * Returns:
 * Whether there is nothing to wait for.
 */
bool radeon_gem_rw_is_idle(const struct radeon_gem_rw *rw)
{
	return radeon_gem_rw_poll(rw->bo->tbo.base.resv,
				  radeon_gem_rw_usage(rw));
}

/**
 * radeon_gem_rw_wait_idle - wait until a transfer may access its BO
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

/*
 * Locks
 */

static int radeon_gem_rw_lock_device(struct radeon_device *rdev)
{
	if (down_read_interruptible(&rdev->exclusive_lock))
		return -ERESTARTSYS;

	if (down_read_interruptible(&rdev->pm.mclk_lock)) {
		up_read(&rdev->exclusive_lock);
		return -ERESTARTSYS;
	}

	return 0;
}

static bool radeon_gem_rw_trylock_device(struct radeon_device *rdev)
{
	if (!down_read_trylock(&rdev->exclusive_lock))
		return false;

	if (down_read_trylock(&rdev->pm.mclk_lock))
		return true;

	up_read(&rdev->exclusive_lock);
	return false;
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
 * radeon_gem_rw_hold - keep device and BO as they are
 * @rw: the transfer
 *
 * Until radeon_gem_rw_release() there is no GPU reset and no change of memory
 * clocks, and the BO stays where it is and gets no more work. Must be called
 * with nothing held.
 *
 * Returns:
 * 0, -ERESTARTSYS, or what radeon_gem_rw_wait_idle() returns.
 */
int radeon_gem_rw_hold(struct radeon_gem_rw *rw)
{
	int r;

	if (rw->lost >= RADEON_GEM_RW_MAX_LOST_RACES) {
		r = radeon_gem_rw_reserve(rw);
		if (r)
			return r;

		r = radeon_gem_rw_wait_idle(rw);
		if (!r && radeon_gem_rw_trylock_device(rw->rdev))
			return 0;

		radeon_gem_rw_unreserve(rw);
		if (r)
			return r;
	}

	r = radeon_gem_rw_lock_device(rw->rdev);
	if (r)
		return r;

	r = radeon_gem_rw_reserve(rw);
	if (r) {
		up_read(&rw->rdev->pm.mclk_lock);
		up_read(&rw->rdev->exclusive_lock);
	}

	return r;
}

/**
 * radeon_gem_rw_release - undo radeon_gem_rw_hold()
 * @rw: the transfer
 */
void radeon_gem_rw_release(struct radeon_gem_rw *rw)
{
	radeon_gem_rw_unreserve(rw);
	up_read(&rw->rdev->pm.mclk_lock);
	up_read(&rw->rdev->exclusive_lock);
}

/*
 * What is done instead of copying
 */

static ssize_t radeon_gem_rw_after_wait(struct radeon_gem_rw *rw, ssize_t done)
{
	rw->lost++;

	return radeon_gem_rw_wait_idle(rw);
}

static ssize_t radeon_gem_rw_after_refuse(struct radeon_gem_rw *rw, ssize_t done)
{
	return -EPERM;
}

/*
 * Can the CPU not access the bytes before @end? That is decided for the bytes:
 * a BO in VRAM can begin within the aperture and end beyond it.
 */
static bool radeon_gem_rw_is_hidden(const struct radeon_gem_rw *rw, u64 end)
{
	const struct ttm_resource *res = rw->bo->tbo.resource;

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
static ssize_t radeon_gem_rw_after_move(struct radeon_gem_rw *rw, ssize_t done)
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
	r = rdev->in_reset ? -EDEADLK : radeon_bo_reserve(rw->bo, false);
	if (r)
		goto out_unlock;

	if (radeon_gem_rw_is_hidden(rw, rw->end)) {
		r = radeon_gem_rw_validate(rw, rw->moves++);
		if (!r)
			radeon_gem_rw_event(rdev, RADEON_GEM_RW_MOVED);
	}

	radeon_bo_unreserve(rw->bo);
out_unlock:
	up_read(&rdev->exclusive_lock);
	return r;
}

/* Get the pages of a BO that has none yet, or whose pages were swapped out. */
static ssize_t radeon_gem_rw_after_populate(struct radeon_gem_rw *rw,
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

/*
 * The choice of the path
 */

static const struct radeon_gem_rw_path radeon_gem_rw_wait_path = {
	.id = RADEON_GEM_RW_NO_PATH,
	.after = radeon_gem_rw_after_wait,
};

static const struct radeon_gem_rw_path radeon_gem_rw_move_path = {
	.id = RADEON_GEM_RW_NO_PATH,
	.after = radeon_gem_rw_after_move,
};

static const struct radeon_gem_rw_path radeon_gem_rw_populate_path = {
	.id = RADEON_GEM_RW_NO_PATH,
	.after = radeon_gem_rw_after_populate,
};

static const struct radeon_gem_rw_path radeon_gem_rw_refuse_path = {
	.id = RADEON_GEM_RW_NO_PATH,
	.after = radeon_gem_rw_after_refuse,
};

/*
 * The first rule counts of which all flags of @all and
 * none of @none are set, and whose path has not turned out to be impossible.
 */
#define IS(x)	RADEON_GEM_RW_IS_##x

static const struct radeon_gem_rw_rule {
	unsigned int all;
	unsigned int none;
	const struct radeon_gem_rw_path *path;
} radeon_gem_rw_rules[] = {
	{ IS(REFUSED), 0, &radeon_gem_rw_refuse_path },
	/* All others are for the CPU. */
	{ IS(BUSY), 0, &radeon_gem_rw_wait_path },
	{ IS(HIDDEN) | IS(UNSYNC) | IS(WRITE), 0, &radeon_gem_rw_indirect },
	{ IS(HIDDEN) | IS(UNSYNC), IS(NOWAIT), &radeon_gem_rw_indirect },
	{ IS(HIDDEN), 0, &radeon_gem_rw_move_path },
	{ IS(ABSENT), 0, &radeon_gem_rw_populate_path },
	{ 0, 0, &radeon_gem_rw_cpu },
};

/*
 * Steps
 */

static void radeon_gem_rw_next_row(const struct radeon_gem_rw *rw,
				   struct radeon_gem_rw_pos *pos)
{
	pos->byte = 0;
	if (++pos->row < rw->regions[pos->region].rows)
		return;

	pos->row = 0;
	do {
		pos->region++;
	} while (pos->region < rw->count && !rw->regions[pos->region].rows);
}

/* Does a region, in whole, not fit behind others? */
static bool radeon_gem_rw_is_next(const struct radeon_gem_rw *rw,
				  const struct radeon_gem_rw_region *region,
				  u64 room)
{
	return region->rows > rw->max_pieces - rw->n ||
		region->rows * (region->row_bytes + RADEON_GEM_RW_PIECE_COST) > room;
}

/**
 * radeon_gem_rw_take - take the pieces that come next
 * @rw: the transfer, which is not at its end
 * @max_len: most bytes, with RADEON_GEM_RW_PIECE_COST for each piece
 * @max_slots: most bytes in a buffer, more than RADEON_GEM_RW_SLOT_ALIGN
 *
 * Fills in what &struct radeon_gem_rw has about the step. A region is only
 * divided if it does not fit into a step alone, so that steps end where regions
 * do, and signals get a chance.
 */
void radeon_gem_rw_take(struct radeon_gem_rw *rw, u64 max_len, u32 max_slots)
{
	const struct radeon_gem_rw_region *region;
	struct radeon_gem_rw_pos pos = rw->pos;
	struct radeon_gem_rw_piece *piece;
	u64 len, room = max_len;
	u32 in_slot;

	rw->n = 0;
	rw->len = 0;
	rw->slots = 0;
	rw->start = U64_MAX;
	rw->end = 0;
	rw->dwords = true;

	while (pos.region < rw->count && rw->n < rw->max_pieces && room) {
		region = &rw->regions[pos.region];
		if (!pos.row && !pos.byte && rw->n &&
		    radeon_gem_rw_is_next(rw, region, room))
			break;

		piece = &rw->pieces[rw->n];
		piece->offset = region->offset + (u64)pos.row * region->bo_pitch +
			pos.byte;
		piece->user = region->user + (u64)pos.row * region->user_pitch +
			pos.byte;
		in_slot = piece->offset % RADEON_GEM_RW_SLOT_ALIGN;
		if (rw->slots + in_slot >= max_slots)
			break;
		len = min3(region->row_bytes - pos.byte, room,
			   (u64)max_slots - rw->slots - in_slot);
		piece->len = len;
		piece->slot = rw->slots + in_slot;

		rw->n++;
		rw->len += len;
		rw->slots = min(ALIGN(piece->slot + piece->len,
				      RADEON_GEM_RW_SLOT_ALIGN), max_slots);
		rw->start = min(rw->start, piece->offset);
		rw->end = max(rw->end, piece->offset + len);
		rw->dwords &= IS_ALIGNED(piece->offset | len, 4);

		room -= min(room, len + RADEON_GEM_RW_PIECE_COST);
		pos.byte += len;
		if (pos.byte == region->row_bytes)
			radeon_gem_rw_next_row(rw, &pos);
	}

	rw->next = pos;
}

static void radeon_gem_rw_advance(struct radeon_gem_rw *rw, u64 done)
{
	u64 len;

	rw->left -= done;
	if (done == rw->len) {
		rw->pos = rw->next;
		return;
	}

	while (done) {
		len = min(done, rw->regions[rw->pos.region].row_bytes - rw->pos.byte);
		done -= len;
		rw->pos.byte += len;
		if (rw->pos.byte == rw->regions[rw->pos.region].row_bytes)
			radeon_gem_rw_next_row(rw, &rw->pos);
	}
}

/* How many of these bytes are not accessible? Faults in what is. */
static size_t radeon_gem_rw_fault_in_user(const struct radeon_gem_rw *rw,
					  char __user *user, size_t len)
{
	/* Unlike fault_in_writeable() this one does not write to it. */
	return rw->write ? fault_in_readable(user, len) :
			   fault_in_safe_writeable(user, len);
}

/*
 * Make the user memory of a step resident, and leave off what is not accessible.
 * Many small pieces can share a page.
 */
static int radeon_gem_rw_fault_in(struct radeon_gem_rw *rw)
{
	unsigned long start, end, first = 0, last = 0;
	u64 there = 0;
	unsigned int i;
	size_t missed;

	for (i = 0; i < rw->n; i++, there += end - start) {
		start = (unsigned long)rw->pieces[i].user;
		end = start + rw->pieces[i].len;
		if (start >= first && end <= last)
			continue;

		missed = radeon_gem_rw_fault_in_user(rw, rw->pieces[i].user,
						     rw->pieces[i].len);
		if (missed) {
			there += end - start - missed;
			break;
		}
		first = PAGE_ALIGN_DOWN(start);
		last = PAGE_ALIGN(end);
	}

	if (!there)
		return -EFAULT;

	if (there < rw->len) {
		radeon_gem_rw_take(rw, there, U32_MAX);
		if (rw->len > there)
			return -EFAULT;
	}

	return 0;
}

/* What decides about the path. The BO is reserved. */
static unsigned int radeon_gem_rw_look(struct radeon_gem_rw *rw)
{
	struct ttm_buffer_object *tbo = &rw->bo->tbo;
	unsigned int look = 0;

	if (rw->write)
		look |= IS(WRITE);
	if (rw->flags & RADEON_GEM_RW_NOWAIT)
		look |= IS(NOWAIT);
	if (rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED)
		look |= IS(UNSYNC);

	if (radeon_ttm_tt_has_userptr(rw->rdev, tbo->ttm))
		look |= IS(REFUSED);
	if (tbo->resource->mem_type == TTM_PL_VRAM)
		look |= IS(VRAM);
	else if (!tbo->ttm || !ttm_tt_is_populated(tbo->ttm))
		look |= IS(ABSENT);
	if (tbo->resource->mem_type == TTM_PL_SYSTEM)
		look |= IS(SYSTEM);
	if (radeon_gem_rw_is_hidden(rw, rw->end))
		look |= IS(HIDDEN);
	if (!radeon_gem_rw_is_idle(rw))
		look |= IS(BUSY);

	return look;
}

/* Do what can be done with the locks held, by the first rule that fits. */
static const struct radeon_gem_rw_path *
radeon_gem_rw_choose(struct radeon_gem_rw *rw, ssize_t *done)
{
	const struct radeon_gem_rw_rule *rule;

	rw->look = radeon_gem_rw_look(rw);

	for (rule = radeon_gem_rw_rules;; rule++) {
		if ((rw->look & (rule->all | rule->none)) != rule->all ||
		    rw->avoid & BIT(rule->path->id))
			continue;

		*done = rule->path->held ? rule->path->held(rw) : 0;
		if (*done != RADEON_GEM_RW_IMPOSSIBLE)
			return rule->path;
	}
}

/* Returns how many bytes were transferred, 0 to try again, or an error. */
static ssize_t radeon_gem_rw_step(struct radeon_gem_rw *rw)
{
	const struct radeon_gem_rw_path *path;
	ssize_t done;
	int r;

	/* If memory is taken away between the steps, be content with a page. */
	radeon_gem_rw_take(rw, rw->fails > 1 ? PAGE_SIZE : RADEON_GEM_RW_STEP_MAX,
			   U32_MAX);
	if (rw->fault_in) {
		r = radeon_gem_rw_fault_in(rw);
		if (r)
			return r;
	}

	r = radeon_gem_rw_hold(rw);
	if (r)
		return r;

	path = radeon_gem_rw_choose(rw, &done);
	radeon_gem_rw_release(rw);

	if (done >= 0 && path->after)
		done = path->after(rw, done);

	return done;
}

/*
 * Errors of user memory come before -EBUSY, and those of the BO before both. The
 * path has not looked at all of that when it failed.
 */
static int radeon_gem_rw_first_error(struct radeon_gem_rw *rw, int r)
{
	struct radeon_gem_rw_pos pos = rw->pos;
	const struct radeon_gem_rw_region *region = &rw->regions[pos.region];
	char __user *user;

	if (r == -EFAULT && !radeon_gem_rw_reserve(rw)) {
		if (radeon_ttm_tt_has_userptr(rw->rdev, rw->bo->tbo.ttm))
			r = -EPERM;
		dma_resv_unlock(rw->bo->tbo.base.resv);
	}

	if (r != -EBUSY)
		return r;

	for (; pos.row < region->rows; pos.row++, pos.byte = 0) {
		user = region->user + (u64)pos.row * region->user_pitch + pos.byte;
		if (radeon_gem_rw_fault_in_user(rw, user,
						region->row_bytes - pos.byte))
			return -EFAULT;
		if (fatal_signal_pending(current))
			return -ERESTARTSYS;
		cond_resched();
	}

	return -EBUSY;
}

/* Shall the call end because of a signal? */
static bool radeon_gem_rw_interrupted(const struct radeon_gem_rw *rw, bool moved)
{
	if (fatal_signal_pending(current))
		return true;

	return moved && !rw->pos.row && !rw->pos.byte && signal_pending(current);
}

/**
 * radeon_gem_rw_copy - do a transfer
 * @rw: the transfer, all of whose arguments have been checked
 *
 * Must be called with nothing held. @rw ends up at the first byte that was not
 * transferred.
 *
 * Returns:
 * 0 if everything was transferred, or a negative error code as in the
 * description of the user API; -EDEADLK if the GPU has to be reset.
 */
int radeon_gem_rw_copy(struct radeon_gem_rw *rw)
{
	ssize_t done = 0;

	if (rw->bo->tbo.base.import_attach)
		return -EOPNOTSUPP;

	rw->fault_in = rw->write;
	rw->lost = 0;
	rw->moves = 0;
	rw->fails = 0;
	rw->avoid = 0;

	while (rw->left) {
		done = radeon_gem_rw_step(rw);
		if (done < 0)
			break;

		radeon_gem_rw_advance(rw, done);
		if (done) {
			rw->lost = 0;
			rw->fails = 0;
		}

		if (rw->left && radeon_gem_rw_interrupted(rw, done)) {
			done = -ERESTARTSYS;
			break;
		}
		cond_resched();
	}

	kfree(rw->buffer);
	rw->buffer = NULL;

	return done < 0 ? radeon_gem_rw_first_error(rw, done) : 0;
}

/*
 * Ioctls
 */

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
	struct radeon_gem_rw_region region = {
		.offset = args->offset,
		.row_bytes = args->size,
		.rows = 1,
	};
	struct radeon_gem_rw_piece piece;
	struct radeon_gem_rw rw = {
		.rdev = rdev,
		.filp = filp,
		.regions = &region,
		.count = 1,
		.write = write,
		.flags = args->pad,
		.left = args->size,
		.pieces = &piece,
		.max_pieces = 1,
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
	if (!r)
		r = radeon_gem_rw_copy(&rw);

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

	return radeon_gem_rw_ioctl(dev, filp, &common, false);
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
	return radeon_gem_rw_ioctl(dev, filp, data, true);
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
	u32 caps = RADEON_GEM_RW_CAP_PREAD_PWRITE;

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

	radeon_gem_rw_debugfs_init(rdev);

	return 0;
}

/**
 * radeon_gem_rw_fini - release what is kept for a device
 * @rdev: the device
 *
 * No transfer can be under way any more.
 */
void radeon_gem_rw_fini(struct radeon_device *rdev)
{
	radeon_gem_rw_unmap_vram(rdev);
	kfree(rdev->gem_rw);
	rdev->gem_rw = NULL;
}
