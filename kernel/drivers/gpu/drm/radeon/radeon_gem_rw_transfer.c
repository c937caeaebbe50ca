// SPDX-License-Identifier: MIT
/*
 * Copyright 2026 Seed 7e3b15d1 maintainers
 *
 * Reading and writing GEM objects without mapping them: many two-dimensional
 * regions in one call.
 *
 * The array of regions is read in parts, so that no more kernel memory is
 * needed for many regions than for a few. Consecutive regions of a part that
 * are in the same BO become one transfer, see struct radeon_gem_rw.
 */

#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/radeon_drm.h>

#include "radeon.h"
#include "radeon_gem_rw.h"

/* Regions that are read and checked together. */
#define RADEON_GEM_TRANSFER_PART	128

/* Regions of a part of the array. */
struct radeon_gem_transfer_part {
	struct drm_radeon_gem_transfer_region user[RADEON_GEM_TRANSFER_PART];
	u32 count;			/* of user */
	/* The parsed regions, up to the first that has an error. */
	struct radeon_gem_rw_region regions[RADEON_GEM_TRANSFER_PART];
	u32 parsed;
	struct radeon_gem_rw_piece pieces[RADEON_GEM_RW_MAX_PIECES];
};

/* Returns the bytes from a region's first to its last one. That cannot overflow. */
static u64
radeon_gem_transfer_extent(const struct drm_radeon_gem_transfer_region *region,
			   u32 pitch)
{
	return (u64)(region->rows - 1) * pitch + region->row_bytes;
}

/* Fill in @region, with the checks that do not need the BO. Empty: it gets no rows. */
static int
radeon_gem_transfer_parse(const struct drm_radeon_gem_transfer_region *from,
			  struct radeon_gem_rw_region *region)
{
	u64 extent, end;

	*region = (struct radeon_gem_rw_region) { };

	if (from->flags)
		return -EINVAL;

	if (!from->row_bytes || !from->rows)
		return 0;

	if (from->rows > 1 && (from->bo_pitch < from->row_bytes ||
			       from->user_pitch < from->row_bytes))
		return -EINVAL;

	extent = radeon_gem_transfer_extent(from, from->user_pitch);
	if (check_add_overflow(from->user_ptr, extent, &end) ||
	    overflows_type(extent, size_t) || overflows_type(from->user_ptr, uintptr_t))
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
	if (from->bo_pitch == from->row_bytes && from->user_pitch == from->row_bytes) {
		region->row_bytes = extent;
		region->rows = 1;
	}

	return 0;
}

/*
 * Transfer the regions from @i on that are in the same BO. Region @i is not empty. A
 * later one with an error ends this; the next call begins with it and returns the error.
 * Adds the number of regions that are done to @done.
 */
static int radeon_gem_transfer_bo(struct radeon_gem_rw *rw, struct drm_file *filp,
				  struct radeon_gem_transfer_part *part,
				  u32 i, u32 *done)
{
	const struct drm_radeon_gem_transfer_region *user;
	u32 handle = part->user[i].handle;
	struct drm_gem_object *gobj;
	int r = 0;

	gobj = drm_gem_object_lookup(filp, handle);
	if (!gobj)
		return -ENOENT;
	rw->bo = gem_to_radeon_bo(gobj);

	rw->pos = (struct radeon_gem_rw_pos) { .region = i };
	rw->left = 0;
	for (rw->count = i; rw->count < part->parsed; rw->count++) {
		if (!part->regions[rw->count].rows)
			continue;
		user = &part->user[rw->count];
		if (user->handle != handle)
			break;
		r = radeon_gem_rw_check_range(rw->bo, user->bo_offset,
					      radeon_gem_transfer_extent(user, user->bo_pitch));
		if (r)
			break;
		rw->left += (u64)user->row_bytes * user->rows;
	}
	if (rw->count > i) {
		r = radeon_gem_rw_transfer(rw);
		*done += rw->pos.region - i;
	}

	drm_gem_object_put(gobj);
	return r;
}

/* Transfer a part of the array of regions, which has @end entries in all. */
static int radeon_gem_transfer_part(struct radeon_gem_rw *rw, struct drm_file *filp,
				    struct radeon_gem_transfer_part *part,
				    u32 *done, u32 end)
{
	u32 before = *done, i;
	int r = 0, err = 0;

	for (i = 0; i < part->count; i++) {
		r = radeon_gem_transfer_parse(&part->user[i], &part->regions[i]);
		if (r)
			break;
	}
	part->parsed = i;

	while (!err && (i = *done - before) < part->parsed) {
		if (!part->regions[i].rows) {
			++*done;
			continue;
		}

		err = radeon_gem_transfer_bo(rw, filp, part, i, done);

		/* A restarted call goes on behind the regions that are done. */
		if (!err && signal_pending(current) && *done < end)
			err = -ERESTARTSYS;
	}

	return err ?: r;
}

int radeon_gem_transfer_ioctl(struct drm_device *dev, void *data, struct drm_file *filp)
{
	struct radeon_device *rdev = dev->dev_private;
	struct drm_radeon_gem_transfer *args = data;
	u32 count, done = args->regions_done;
	struct radeon_gem_rw rw = {
		.rdev = rdev,
		.write = args->flags & RADEON_GEM_TRANSFER_WRITE,
		.flags = args->flags,
	};
	struct drm_radeon_gem_transfer_region __user *from;
	struct radeon_gem_transfer_part *part;
	int r = 0;

	args->regions_done = 0;
	if (args->flags & ~(RADEON_GEM_RW_UNSYNCHRONIZED |
			    RADEON_GEM_RW_NOWAIT | RADEON_GEM_TRANSFER_WRITE) ||
	    args->pad || args->region_count > RADEON_GEM_TRANSFER_MAX_REGIONS ||
	    done > args->region_count)
		return -EINVAL;

	args->regions_done = done;
	if (done == args->region_count)
		return 0;

	if (overflows_type(args->regions_ptr, uintptr_t))
		return -EFAULT;
	from = u64_to_user_ptr(args->regions_ptr);

	part = kvmalloc(sizeof(*part), GFP_KERNEL);
	if (!part)
		return -ENOMEM;
	rw.regions = part->regions;
	rw.pieces = part->pieces;

	while (!r && done < args->region_count) {
		count = min(args->region_count - done, RADEON_GEM_TRANSFER_PART);
		part->count = count -
			DIV_ROUND_UP(copy_from_user(part->user, from + done,
						    count * sizeof(*from)),
				     sizeof(*from));

		r = radeon_gem_transfer_part(&rw, filp, part, &done,
					     args->region_count);
		if (!r && part->count < count)
			r = -EFAULT;
	}

	kvfree(part);
	args->regions_done = done;

	return radeon_gem_handle_lockup(rdev, r);
}
