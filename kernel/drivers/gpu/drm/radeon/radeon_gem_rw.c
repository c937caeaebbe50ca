// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: the ioctls, and setting up.
 */

#include <linux/build_bug.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/radeon_drm.h>
#include <drm/radeon_drm_rw.h>

#include "radeon.h"
#include "radeon_gem_rw.h"

/**
 * DOC: GEM read and write
 *
 * A transfer is done in steps of up to 256 KiB. Each step
 *
 * 1. takes the locks, looks at the BO, and finds the first rule in
 *    radeon_gem_rw_rules that fits;
 * 2. does what that rule's path does with the locks held. Usually this copies
 *    the bytes, and accesses user memory with page faults disabled;
 * 3. drops the locks, and does the rest of the path: waits for the BO, moves it,
 *    or gives it pages, and then the step is tried again.
 *
 * If user memory was not there, the next step begins with faulting it in, with
 * nothing held. That can take as long as user space likes, for instance if the
 * memory belongs to a userfaultfd.
 *
 * Locks, outermost first:
 *
 * - &mm_struct.mmap_lock and whatever else a page fault takes. The BO's own
 *   fault handler takes two of the locks below, so user memory is only accessed
 *   with nothing held, or with page faults disabled.
 * - &radeon_device.exclusive_lock, for reading: no GPU reset meanwhile.
 * - &radeon_pm.mclk_lock, for reading: the CPU can access VRAM. Small steps keep
 *   these two for those that follow, up to 256 KiB in all.
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

/**
 * radeon_gem_rw_check_range - is a range within a BO?
 * @bo: the BO
 * @offset: first byte
 * @size: number of bytes
 *
 * Return: 0, or -EINVAL.
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

	radeon_gem_rw_end(&rw);
	drm_gem_object_put(gobj);
	return radeon_gem_handle_lockup(rdev, r);
}

/**
 * radeon_gem_pread_ioctl - copy from a BO to user memory
 * @dev: drm device
 * @data: struct drm_radeon_gem_pread
 * @filp: drm file, whose handle it is
 *
 * Return: 0, or a negative error code, see the description in radeon_drm_rw.h.
 */
int radeon_gem_pread_ioctl(struct drm_device *dev, void *data,
			   struct drm_file *filp)
{
	/* Both have the same members at the same places. */
	BUILD_BUG_ON(sizeof(struct drm_radeon_gem_pread) !=
		     sizeof(struct drm_radeon_gem_pwrite));

	return radeon_gem_rw_ioctl(dev, filp, data, false);
}

/**
 * radeon_gem_pwrite_ioctl - copy from user memory to a BO
 * @dev: drm device
 * @data: struct drm_radeon_gem_pwrite
 * @filp: drm file, whose handle it is
 *
 * Return: 0, or a negative error code, see the description in radeon_drm_rw.h.
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
 * Return: enum drm_radeon_gem_rw_caps, the answer to RADEON_INFO_GEM_RW.
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
 * Return: 0, or -ENOMEM.
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
