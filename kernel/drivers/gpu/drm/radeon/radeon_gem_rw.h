/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing GEM objects without mapping them: what the parts of the
 * implementation, and the rest of the driver, need to know of each other.
 *
 * radeon_gem_rw.c holds the ioctls and decides when a BO may be touched;
 * radeon_gem_rw_copy.c moves the bytes.
 */

#ifndef __RADEON_GEM_RW_H__
#define __RADEON_GEM_RW_H__

#include <linux/jiffies.h>
#include <linux/sizes.h>
#include <linux/types.h>

struct drm_device;
struct drm_file;
struct radeon_bo;
struct radeon_device;

/*
 * Thresholds, all in one place.
 */

/*
 * Up to this many bytes are copied straight between user memory and the BO
 * with page faults disabled. That is cheaper than pinning (a page: 0.7 against
 * 1.6 us), but starts again through a buffer if a page is not there.
 */
#define RADEON_GEM_RW_ATOMIC_MAX	SZ_16K

/*
 * Most user pages pinned, and with it most bytes copied, in one go. Bounds how
 * long a BO and the locks of the device are held, and how many of a client's
 * pages are pinned at any time.
 */
#define RADEON_GEM_RW_BATCH_PAGES	64

/* Size of the buffer for user memory that can not be pinned. */
#define RADEON_GEM_RW_BOUNCE_SIZE	SZ_64K

/* Longest sleep, in jiffies, before looking whether the GPU is locked up. */
#define RADEON_GEM_RW_WAIT_SLICE	(HZ / 2)

/*
 * How often other users of the GPU may get in between waiting for a BO and
 * locking it, before the wait is done with the BO locked.
 */
#define RADEON_GEM_RW_MAX_LOST_RACES	4

/**
 * struct radeon_gem_rw - one transfer between user memory and a BO
 *
 * Made from checked arguments; advances while bytes are transferred.
 */
struct radeon_gem_rw {
	/** @rdev: the device */
	struct radeon_device *rdev;
	/** @bo: the BO, on which a reference is held */
	struct radeon_bo *bo;
	/** @offset: offset in the BO of the next byte to transfer */
	u64 offset;
	/** @user: user address of the next byte to transfer */
	char __user *user;
	/** @left: bytes left to transfer */
	size_t left;
	/** @write: direction, true from user memory to the BO */
	bool write;
	/** @flags: RADEON_GEM_RW_*, see radeon_drm_rw.h */
	u32 flags;
	/** @bounce: buffer for user memory that can not be pinned, or NULL */
	void *bounce;
	/** @bounce_size: size of @bounce in bytes */
	size_t bounce_size;
};

/* radeon_gem_rw.c */
int radeon_gem_pread_ioctl(struct drm_device *dev, void *data,
			   struct drm_file *filp);
int radeon_gem_pwrite_ioctl(struct drm_device *dev, void *data,
			    struct drm_file *filp);
u32 radeon_gem_rw_caps(struct radeon_device *rdev);
int radeon_gem_rw_begin(struct radeon_gem_rw *rw, size_t len);
void radeon_gem_rw_end(struct radeon_gem_rw *rw);

/* radeon_gem_rw_copy.c */
int radeon_gem_rw_copy(struct radeon_gem_rw *rw);
void radeon_gem_rw_fini(struct radeon_device *rdev);

#endif
