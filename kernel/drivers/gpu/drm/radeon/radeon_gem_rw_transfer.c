// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: many two-dimensional
 * regions in one call.
 *
 * The array of regions is read in parts, so that no more kernel memory is
 * needed for many regions than for a few. Consecutive regions of a part that
 * are in the same BO become one transfer, see struct radeon_gem_rw. All that is
 * known about regions, their order and errors, is dealt with here.
 *
 * Small regions are done in the short way of radeon_gem_rw_quick.c, BO after BO.
 * When a BO can not be done in this way, everything is let go, that BO is dealt
 * with as a single call would, and the next regions are tried in the short way
 * again.
 */

#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/radeon_drm.h>
#include <drm/radeon_drm_rw.h>

#include "radeon.h"
#include "radeon_gem_rw.h"
#include "radeon_gem_rw_trace.h"

/* Regions that are read and looked at together. */
#define RADEON_GEM_TRANSFER_PART	128

/*
 * struct radeon_gem_transfer_part - regions of a part of the array
 */
struct radeon_gem_transfer_part {
	/* As user space gave them. */
	struct drm_radeon_gem_transfer_region user[RADEON_GEM_TRANSFER_PART];
	/* As they are used. */
	struct radeon_gem_rw_region regions[RADEON_GEM_TRANSFER_PART];
	/* BOs on which a reference is held. */
	struct drm_gem_object *bos[RADEON_GEM_TRANSFER_PART];
	/* Number of regions. */
	u32 count;
	/* How many of them can be used: all before the first that has an error. */
	u32 parsed;
	/* Those before this one can be done without giving back locks. */
	u32 faulted;
};

static bool
radeon_gem_transfer_empty(const struct drm_radeon_gem_transfer_region *region)
{
	return !region->row_bytes || !region->rows;
}

/* From the first to the last byte. That can not overflow. */
static u64
radeon_gem_transfer_extent(const struct drm_radeon_gem_transfer_region *region,
			   u32 pitch)
{
	return (u64)(region->rows - 1) * pitch + region->row_bytes;
}

/* The checks that do not need the BO. */
static int
radeon_gem_transfer_parse(const struct drm_radeon_gem_transfer_region *from,
			  struct radeon_gem_rw_region *region)
{
	u64 extent, end;

	*region = (struct radeon_gem_rw_region) { };

	if (from->flags)
		return -EINVAL;

	if (radeon_gem_transfer_empty(from))
		return 0;

	if (from->rows > 1 && (from->bo_pitch < from->row_bytes ||
			       from->user_pitch < from->row_bytes))
		return -EINVAL;

	extent = radeon_gem_transfer_extent(from, from->user_pitch);
	if (check_add_overflow(from->user_ptr, extent, &end) ||
	    overflows_type(extent, size_t) ||
	    overflows_type(from->user_ptr, uintptr_t))
		return -EFAULT;

	region->user = u64_to_user_ptr(from->user_ptr);
	if (!access_ok(region->user, extent))
		return -EFAULT;

	region->offset = from->bo_offset;
	region->row_bytes = from->row_bytes;
	region->rows = from->rows;
	region->bo_pitch = from->bo_pitch;
	region->user_pitch = from->user_pitch;

	/* Rows without gaps are one long row. */
	if (from->bo_pitch == from->row_bytes &&
	    from->user_pitch == from->row_bytes) {
		region->row_bytes = extent;
		region->rows = 1;
	}

	return 0;
}

/* Check a region that is not empty against the BO, and add it to the transfer. */
static int
radeon_gem_transfer_add(struct radeon_gem_rw *rw,
			const struct drm_radeon_gem_transfer_region *region,
			struct radeon_gem_rw_span *span)
{
	u64 extent = radeon_gem_transfer_extent(region, region->bo_pitch);
	int r;

	r = radeon_gem_rw_check_range(rw->bo, region->bo_offset, extent);
	if (r)
		return r;

	rw->left += (u64)region->row_bytes * region->rows;
	span->start = min(span->start, region->bo_offset);
	span->end = max(span->end, region->bo_offset + extent);

	return 0;
}

/* The regions of a part that have no errors of their own, up to the first. */
static void radeon_gem_transfer_parse_part(struct radeon_gem_transfer_part *part)
{
	u32 i;

	for (i = 0; i < part->count; i++) {
		if (radeon_gem_transfer_parse(&part->user[i], &part->regions[i]))
			break;
	}

	part->parsed = i;
	part->faulted = 0;
}

/*
 * Make a transfer of regions from @i on that are in the same BO, &rw->bo, up to
 * @end. The first one is not empty. If another one has an error, it comes first
 * next time, and is reported. @span tells from where to where in the BO.
 */
static int radeon_gem_transfer_run(struct radeon_gem_rw *rw,
				   const struct radeon_gem_transfer_part *part,
				   u32 i, u32 end,
				   struct radeon_gem_rw_span *span)
{
	const struct drm_radeon_gem_transfer_region *user;
	int r;

	rw->regions = part->regions;
	rw->pos = (struct radeon_gem_rw_pos) { .region = i };
	rw->left = 0;
	*span = (struct radeon_gem_rw_span) { .start = U64_MAX };

	r = radeon_gem_transfer_add(rw, &part->user[i], span);
	if (r)
		return r;

	for (rw->count = i + 1; rw->count < end; rw->count++) {
		user = &part->user[rw->count];
		if (radeon_gem_transfer_empty(user))
			continue;
		if (user->handle != part->user[i].handle ||
		    radeon_gem_transfer_add(rw, user, span))
			break;
	}

	return 0;
}

/*
 * Find out how many regions from @i on can be done without giving locks back in
 * between, and make the user memory of all of them accessible in one go.
 * Returns the first that is not one of them.
 */
static u32 radeon_gem_transfer_fault_in(struct radeon_gem_rw *rw,
					const struct radeon_gem_transfer_part *part,
					u32 i)
{
	const struct radeon_gem_rw_region *region = &part->regions[i];
	u64 cost = 0, len = 0, there, size;

	rw->regions = part->regions;
	rw->pos = (struct radeon_gem_rw_pos) { .region = i };

	for (rw->count = i; rw->count < part->parsed; rw->count++, region++) {
		size = radeon_gem_rw_quick_cost(region);
		if (size > RADEON_GEM_RW_QUICK_MAX - cost)
			break;
		cost += size;
		len += region->row_bytes * region->rows;
	}

	if (!rw->write)
		return rw->count;

	there = radeon_gem_rw_fault_in(rw, len);
	if (there == len)
		return rw->count;

	/* A region counts if all of it is there. */
	for (region = &part->regions[i]; i < rw->count; i++, region++) {
		size = region->row_bytes * region->rows;
		if (size > there)
			break;
		there -= size;
	}

	return i;
}

/*
 * Transfer regions of any BOs from @i on, as long as nothing is in the way. BOs
 * are only let go when no lock is held, as that may be their end. Returns the
 * first region that is not done.
 */
static u32 radeon_gem_transfer_quick(struct drm_file *filp,
				     struct radeon_gem_rw *rw,
				     struct radeon_gem_transfer_part *part, u32 i)
{
	struct radeon_gem_rw_span span;
	struct drm_gem_object *gobj;
	unsigned int bos = 0;
	u64 left, bytes = 0;

	if (i >= part->faulted)
		part->faulted = radeon_gem_transfer_fault_in(rw, part, i);

	if (i == part->faulted || radeon_gem_rw_lock_device(rw->rdev))
		return i;

	while (i < part->faulted && !fatal_signal_pending(current)) {
		if (!part->regions[i].rows) {
			i++;
			continue;
		}

		gobj = drm_gem_object_lookup(filp, part->user[i].handle);
		if (!gobj)
			break;
		part->bos[bos++] = gobj;
		rw->bo = gem_to_radeon_bo(gobj);
		if (radeon_gem_transfer_run(rw, part, i, part->faulted, &span))
			break;

		left = rw->left;
		radeon_gem_rw_quick_bo(rw, &span);
		bytes += left - rw->left;
		i = rw->pos.region;
		if (rw->left)
			break;
		cond_resched();
	}

	radeon_gem_rw_unlock_device(rw->rdev);
	radeon_gem_rw_count(rw->rdev->gem_rw, RADEON_GEM_RW_ATOMIC, bytes);

	while (bos)
		drm_gem_object_put(part->bos[--bos]);

	return i;
}

/*
 * Transfer the regions from @i on that are in the same BO, whatever that takes.
 * The first one is not empty. Adds the number of regions that are done to @done.
 */
static int radeon_gem_transfer_bo(struct drm_file *filp, struct radeon_gem_rw *rw,
				  const struct radeon_gem_transfer_part *part,
				  u32 i, u32 *done)
{
	struct radeon_gem_rw_span span;
	struct drm_gem_object *gobj;
	int r;

	gobj = drm_gem_object_lookup(filp, part->user[i].handle);
	if (!gobj)
		return -ENOENT;
	rw->bo = gem_to_radeon_bo(gobj);

	r = radeon_gem_transfer_run(rw, part, i, part->parsed, &span);
	if (r)
		goto out_put;

	r = radeon_gem_rw_check_bo(rw);
	if (r)
		goto out_put;

	r = radeon_gem_rw_copy(rw);
	*done += rw->pos.region - i;

out_put:
	drm_gem_object_put(gobj);
	return r;
}

static int radeon_gem_transfer_part(struct drm_file *filp,
				    struct radeon_gem_rw *rw,
				    struct radeon_gem_transfer_part *part,
				    u32 *done)
{
	u32 before = *done, i;
	int r;

	radeon_gem_transfer_parse_part(part);

	for (;;) {
		i = radeon_gem_transfer_quick(filp, rw, part, *done - before);
		*done = before + i;
		if (i == part->count)
			return 0;

		/* It has an error, which is found again. */
		if (i == part->parsed)
			return radeon_gem_transfer_parse(&part->user[i],
							 &part->regions[i]);

		if (fatal_signal_pending(current))
			return -ERESTARTSYS;

		if (!part->regions[i].rows) {
			++*done;
			continue;
		}

		r = radeon_gem_transfer_bo(filp, rw, part, i, done);
		if (r)
			return r;

		cond_resched();
	}
}

/**
 * radeon_gem_transfer_ioctl - copy between regions of BOs and user memory
 * @dev: drm device
 * @data: struct drm_radeon_gem_transfer
 * @filp: drm file, whose the handles are
 *
 * Returns:
 * 0, or a negative error code, see the description in radeon_drm_rw.h.
 */
int radeon_gem_transfer_ioctl(struct drm_device *dev, void *data,
			      struct drm_file *filp)
{
	struct radeon_device *rdev = dev->dev_private;
	struct drm_radeon_gem_transfer *args = data;
	struct radeon_gem_rw rw = {
		.rdev = rdev,
		.write = args->flags & RADEON_GEM_TRANSFER_WRITE,
		.flags = args->flags,
	};
	struct drm_radeon_gem_transfer_region __user *from;
	struct radeon_gem_transfer_part *part;
	u32 count, done = 0;
	int r = 0;

	args->regions_done = 0;

	if (args->flags & ~(RADEON_GEM_RW_UNSYNCHRONIZED |
			    RADEON_GEM_RW_NOWAIT | RADEON_GEM_TRANSFER_WRITE) ||
	    args->pad || args->region_count > RADEON_GEM_TRANSFER_MAX_REGIONS)
		return -EINVAL;

	if (!args->region_count)
		return 0;

	if (overflows_type(args->regions_ptr, uintptr_t))
		return -EFAULT;
	from = u64_to_user_ptr(args->regions_ptr);

	part = kvmalloc(sizeof(*part), GFP_KERNEL);
	if (!part)
		return -ENOMEM;

	while (!r && done < args->region_count) {
		count = min(args->region_count - done, RADEON_GEM_TRANSFER_PART);
		part->count = count -
			DIV_ROUND_UP(copy_from_user(part->user, from + done,
						    count * sizeof(*from)),
				     sizeof(*from));

		r = radeon_gem_transfer_part(filp, &rw, part, &done);
		if (!r && part->count < count)
			r = -EFAULT;
	}

	kvfree(part);
	args->regions_done = done;

	r = radeon_gem_handle_lockup(rdev, r);
	trace_radeon_gem_transfer(args, r);

	return r;
}
