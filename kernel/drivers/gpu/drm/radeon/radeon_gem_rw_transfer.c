// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: many two-dimensional
 * regions in one call.
 *
 * The array of regions is read in parts, so that no more kernel memory is
 * needed for many regions than for a few. Consecutive regions of a part that
 * are in the same BO become one transfer, see struct radeon_gem_rw. All that is
 * known about regions, their order and errors, is dealt with here.
 */

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
#define RADEON_GEM_TRANSFER_PART	64

/*
 * struct radeon_gem_transfer_part - regions of a part of the array
 */
struct radeon_gem_transfer_part {
	/* As user space gave them. */
	struct drm_radeon_gem_transfer_region user[RADEON_GEM_TRANSFER_PART];
	/* Those of one transfer. */
	struct radeon_gem_rw_region regions[RADEON_GEM_TRANSFER_PART];
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

static int
radeon_gem_transfer_check(const struct radeon_gem_rw *rw,
			  const struct drm_radeon_gem_transfer_region *region)
{
	if (radeon_gem_transfer_empty(region))
		return 0;

	return radeon_gem_rw_check_range(rw->bo, region->bo_offset,
					 radeon_gem_transfer_extent(region, region->bo_pitch));
}

/*
 * Transfer the regions at the beginning of @user that are in the same BO. The
 * first one is not empty. Adds the number of regions that are done to @done.
 */
static int radeon_gem_transfer_bo(struct drm_file *filp, struct radeon_gem_rw *rw,
				  const struct drm_radeon_gem_transfer_region *user,
				  u32 count, struct radeon_gem_rw_region *regions,
				  u32 *done)
{
	struct drm_gem_object *gobj;
	int r;

	r = radeon_gem_transfer_parse(&user[0], &regions[0]);
	if (r)
		return r;

	gobj = drm_gem_object_lookup(filp, user[0].handle);
	if (!gobj)
		return -ENOENT;
	rw->bo = gem_to_radeon_bo(gobj);

	r = radeon_gem_transfer_check(rw, &user[0]);
	if (r)
		goto out_put;

	rw->regions = regions;
	rw->pos = (struct radeon_gem_rw_pos) { };
	rw->left = regions[0].row_bytes * regions[0].rows;

	/* A region that has an error comes first next time, and is reported. */
	for (rw->count = 1; rw->count < count; rw->count++) {
		u32 i = rw->count;

		if (radeon_gem_transfer_parse(&user[i], &regions[i]))
			break;
		if (!regions[i].rows)
			continue;
		if (user[i].handle != user[0].handle ||
		    radeon_gem_transfer_check(rw, &user[i]))
			break;
		rw->left += regions[i].row_bytes * regions[i].rows;
	}

	r = radeon_gem_rw_check_bo(rw);
	if (r)
		goto out_put;

	r = radeon_gem_rw_copy(rw);
	*done += rw->pos.region;

out_put:
	drm_gem_object_put(gobj);
	return r;
}

static int radeon_gem_transfer_part(struct drm_file *filp,
				    struct radeon_gem_rw *rw,
				    struct radeon_gem_transfer_part *part,
				    u32 count, u32 *done)
{
	u32 before = *done, i;
	int r;

	for (i = 0; i < count; i = *done - before) {
		if (radeon_gem_transfer_empty(&part->user[i])) {
			if (part->user[i].flags)
				return -EINVAL;
			++*done;
			continue;
		}

		r = radeon_gem_transfer_bo(filp, rw, &part->user[i], count - i,
					   part->regions, done);
		if (r)
			return r;

		if (fatal_signal_pending(current))
			return -ERESTARTSYS;
		cond_resched();
	}

	return 0;
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
	u32 count, got, done = 0;
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
		got = count - DIV_ROUND_UP(copy_from_user(part->user, from + done,
							  count * sizeof(*from)),
					   sizeof(*from));

		r = radeon_gem_transfer_part(filp, &rw, part, got, &done);
		if (!r && got < count)
			r = -EFAULT;
	}

	kvfree(part);
	args->regions_done = done;

	r = radeon_gem_handle_lockup(rdev, r);
	trace_radeon_gem_transfer(args, r);

	return r;
}
