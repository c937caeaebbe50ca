// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: the ioctls, steps of a
 * transfer, the choice of their path, counters, and setting up.
 */

#include <linux/build_bug.h>
#include <linux/debugfs.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
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
 * A transfer is done in steps of up to 256 KiB. A step takes the locks, looks at the BO,
 * and takes the first path of radeon_gem_rw_rules that fits. Usually that copies the
 * bytes, and accesses user memory with page faults disabled. Others drop the locks and
 * wait for the BO, move it, or give it pages; then the step is tried again. If user
 * memory was not there, the next step begins with faulting it in, with nothing held,
 * which can take as long as user space likes.
 *
 * Locks, outermost first:
 *
 * - &mm_struct.mmap_lock and whatever else a page fault takes. The BO's own
 *   fault handler takes two of the locks below.
 * - &radeon_device.exclusive_lock, for reading: no GPU reset meanwhile.
 * - &radeon_pm.mclk_lock, for reading: the CPU can access VRAM. Small steps keep
 *   these two for those that follow, up to 256 KiB in all.
 * - The BO's &dma_resv: the BO stays where it is, and gets no more work.
 * - &radeon_device.ring_lock, which is only tried.
 * - The spin lock of the staging buffer, then that of fences.
 *
 * Fences are waited for with nothing held, except after RADEON_GEM_RW_MAX_LOST_RACES
 * lost races: then with the &dma_resv held, and the two outer locks are only tried.
 *
 * Sleeping is interruptible. While the bytes of a region are copied only a fatal
 * signal ends the call, as it would start the region again from its beginning.
 * Between regions every signal does.
 */

/* The first rule counts of which all flags of @all and none of @none are set. */
#define IS(x)	RADEON_GEM_RW_IS_##x

static const struct radeon_gem_rw_rule {
	unsigned int all;
	unsigned int none;
	const struct radeon_gem_rw_path *path;
} radeon_gem_rw_rules[] = {
	/* Nothing is in the way, and nothing can be faster. */
	{ 0, IS(VRAM) | IS(BUSY) | IS(ABSENT), &radeon_gem_rw_cpu },
	{ IS(WRITE), IS(HIDDEN) | IS(BUSY) | IS(ABSENT) | IS(LARGE), &radeon_gem_rw_cpu },
	/* All others are for the CPU. */
	{ IS(BUSY), 0, &radeon_gem_rw_wait },
	{ IS(HIDDEN) | IS(UNSYNC) | IS(WRITE), 0, &radeon_gem_rw_cpu },
	{ IS(HIDDEN) | IS(UNSYNC), IS(NOWAIT), &radeon_gem_rw_cpu },
	{ IS(HIDDEN), 0, &radeon_gem_rw_move },
	{ IS(ABSENT), 0, &radeon_gem_rw_populate },
	{ 0, 0, &radeon_gem_rw_cpu },
};

/* Go on by bytes of the same row. */
static void radeon_gem_rw_go_on(const struct radeon_gem_rw *rw,
				struct radeon_gem_rw_pos *pos, u64 len)
{
	pos->byte += len;
	if (pos->byte < rw->regions[pos->region].row_bytes)
		return;

	pos->byte = 0;
	if (++pos->row < rw->regions[pos->region].rows)
		return;

	pos->row = 0;
	do {
		pos->region++;
	} while (pos->region < rw->count && !rw->regions[pos->region].rows);
}

/*
 * Take the pieces that come next. Fills in what &struct radeon_gem_rw has about
 * the step, which is up to @max_len bytes with RADEON_GEM_RW_PIECE_COST for each
 * piece. A region is only divided if it does not fit into a step alone, so that steps
 * end where regions do, and signals get a chance.
 */
void radeon_gem_rw_take(struct radeon_gem_rw *rw, u64 max_len)
{
	const struct radeon_gem_rw_region *region;
	struct radeon_gem_rw_pos pos = rw->pos;
	struct radeon_gem_rw_piece *piece;
	u64 len, room = max_len;

	rw->n = 0;
	rw->len = 0;
	rw->start = U64_MAX;
	rw->end = 0;
	rw->dwords = true;

	while (pos.region < rw->count && rw->n < rw->max_pieces && room) {
		region = &rw->regions[pos.region];
		if (!pos.row && !pos.byte && rw->n &&
		    (region->rows > rw->max_pieces - rw->n ||
		     region->rows * (region->row_bytes + RADEON_GEM_RW_PIECE_COST) > room))
			break;

		piece = &rw->pieces[rw->n++];
		piece->offset = region->offset + (u64)pos.row * region->bo_pitch +
			pos.byte;
		piece->user = region->user + (u64)pos.row * region->user_pitch +
			pos.byte;
		len = min(region->row_bytes - pos.byte, room);
		piece->len = len;

		rw->len += len;
		rw->start = min(rw->start, piece->offset);
		rw->end = max(rw->end, piece->offset + len);
		rw->dwords &= IS_ALIGNED(piece->offset | len, 4);

		room -= min(room, len + RADEON_GEM_RW_PIECE_COST);
		radeon_gem_rw_go_on(rw, &pos, len);
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
		radeon_gem_rw_go_on(rw, &rw->pos, len);
	}
}

/*
 * Fault user memory in, with nothing held. Returns how many bytes are not
 * accessible, from the first of them on.
 */
size_t radeon_gem_rw_fault_in_user(const struct radeon_gem_rw *rw,
				   char __user *user, size_t len)
{
	/* Unlike fault_in_writeable() this one does not write to it. */
	return rw->write ? fault_in_readable(user, len) :
			   fault_in_safe_writeable(user, len);
}

/* Make the user memory of a step resident, and leave off what is not accessible. */
static int radeon_gem_rw_fault_in(struct radeon_gem_rw *rw)
{
	size_t missed = 0;
	unsigned int i;
	u64 there = 0;

	for (i = 0; i < rw->n && !missed; i++) {
		missed = radeon_gem_rw_fault_in_user(rw, rw->pieces[i].user,
						     rw->pieces[i].len);
		there += rw->pieces[i].len - missed;
	}

	if (there && there < rw->len)
		radeon_gem_rw_take(rw, there);

	return rw->len > there ? -EFAULT : 0;
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

	if (tbo->resource->mem_type == TTM_PL_VRAM)
		look |= IS(VRAM);
	else if (!tbo->ttm || !ttm_tt_is_populated(tbo->ttm))
		look |= IS(ABSENT);
	if (tbo->resource->mem_type == TTM_PL_SYSTEM)
		look |= IS(SYSTEM);
	if (radeon_gem_rw_is_hidden(rw))
		look |= IS(HIDDEN);
	if (!radeon_gem_rw_is_idle(rw))
		look |= IS(BUSY);

	return look;
}

/*
 * Do what can be done with the locks held, by the first rule that fits. Returns
 * what that has returned, and the path.
 */
static ssize_t radeon_gem_rw_choose(struct radeon_gem_rw *rw,
				    const struct radeon_gem_rw_path **path)
{
	const struct radeon_gem_rw_rule *rule;
	ssize_t done = RADEON_GEM_RW_IMPOSSIBLE;

	if (radeon_ttm_tt_has_userptr(rw->rdev, rw->bo->tbo.ttm))
		return -EPERM;

	rw->look = radeon_gem_rw_look(rw);

	for (rule = radeon_gem_rw_rules; done == RADEON_GEM_RW_IMPOSSIBLE; rule++) {
		if ((rw->look & (rule->all | rule->none)) != rule->all)
			continue;

		*path = rule->path;
		done = (*path)->held ? (*path)->held(rw) : 0;
	}

	return done;
}

/*
 * Returns how many bytes were transferred, 0 to try again, or an error. The locks
 * of the device are kept for the next step if this one was small, and are all that
 * it needed.
 */
static ssize_t radeon_gem_rw_step(struct radeon_gem_rw *rw)
{
	const struct radeon_gem_rw_path *path = NULL;
	ssize_t done;
	int r;

	/* If memory is taken away between the steps, be content with a page. */
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

	rw->room -= min(rw->room, rw->len + rw->n * RADEON_GEM_RW_PIECE_COST);
	if (done <= 0 || rw->fault_in || path->after || !rw->room)
		radeon_gem_rw_unlock(rw);

	if (done >= 0 && path->after)
		done = path->after(rw, done);

	return done;
}

/* Errors of user memory come before -EBUSY, when nobody has looked at it yet. */
static int radeon_gem_rw_busy(struct radeon_gem_rw *rw)
{
	struct radeon_gem_rw_pos pos = rw->pos;
	const struct radeon_gem_rw_region *region = &rw->regions[pos.region];
	char __user *user;

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

/*
 * Do a transfer, whose arguments have been checked. @rw ends up at the first byte that
 * was not transferred. The locks of the device, and nothing else, may be held from an
 * earlier call, and may be held afterwards: they and what else @rw holds then are for
 * radeon_gem_rw_end(). Returns 0, or an error as the user API has it; -EDEADLK if the
 * GPU has to be reset.
 */
int radeon_gem_rw_copy(struct radeon_gem_rw *rw)
{
	ssize_t done = 0;

	if (rw->bo->tbo.base.import_attach)
		return -EOPNOTSUPP;

	rw->fault_in = false;
	rw->lost = 0;
	rw->moves = 0;
	rw->fails = 0;
	rw->unpinned = false;

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

	return done == -EBUSY ? radeon_gem_rw_busy(rw) : min_t(ssize_t, done, 0);
}

/* Is a range within a BO? Returns 0, or -EINVAL. */
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

	radeon_gem_rw_end(&rw);
	drm_gem_object_put(gobj);
	return radeon_gem_handle_lockup(rdev, r);
}

int radeon_gem_pread_ioctl(struct drm_device *dev, void *data,
			   struct drm_file *filp)
{
	/* Both have the same members at the same places. */
	BUILD_BUG_ON(sizeof(struct drm_radeon_gem_pread) !=
		     sizeof(struct drm_radeon_gem_pwrite));

	return radeon_gem_rw_ioctl(dev, filp, data, false);
}

int radeon_gem_pwrite_ioctl(struct drm_device *dev, void *data,
			    struct drm_file *filp)
{
	return radeon_gem_rw_ioctl(dev, filp, data, true);
}

/* The answer to RADEON_INFO_GEM_RW. */
u32 radeon_gem_rw_caps(struct radeon_device *rdev)
{
	u32 caps = RADEON_GEM_RW_CAP_PREAD_PWRITE;

	return caps;
}

static const char * const radeon_gem_rw_names[] = {
	[RADEON_GEM_RW_CPU] = "cpu",
	[RADEON_GEM_RW_STAGED] = "staged",
	[RADEON_GEM_RW_ZERO_COPY] = "zero_copy",
	[RADEON_GEM_RW_CLEAR_CPU] = "clear_cpu",
	[RADEON_GEM_RW_CLEAR_GPU] = "clear_gpu",
	[RADEON_GEM_RW_CLEAR_HOP] = "clear_hop",
	[RADEON_GEM_RW_STALL_AVOIDED] = "stall_avoided",
	[RADEON_GEM_RW_STALL] = "stall",
	[RADEON_GEM_RW_NOT_RESIDENT] = "not_resident",
	[RADEON_GEM_RW_NOT_PINNED] = "not_pinned",
	[RADEON_GEM_RW_NOT_STAGED] = "not_staged",
	[RADEON_GEM_RW_MOVED] = "moved",
	[RADEON_GEM_RW_REPLAYED] = "replayed",
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
 * The aperture is mapped once and for all where there is address space for it. To map
 * the pages of each access costs more than the access from about 64 KiB on, but works.
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

/* No transfer can be under way any more. */
void radeon_gem_rw_fini(struct radeon_device *rdev)
{
	if (rdev->gem_rw->aperture)
		iounmap(rdev->gem_rw->aperture);
	kfree(rdev->gem_rw);
	rdev->gem_rw = NULL;
}
