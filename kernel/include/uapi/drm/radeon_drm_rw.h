/* SPDX-License-Identifier: MIT */
#ifndef _RADEON_DRM_RW_H_
#define _RADEON_DRM_RW_H_

#if defined(__KERNEL__)
#include <drm/radeon_drm.h>
#elif defined(__has_include)
#if __has_include("radeon_drm.h")
#include "radeon_drm.h"
#else
#include <drm/radeon_drm.h>
#endif
#else
#include "radeon_drm.h"
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * DOC: Introduction
 *
 * Reading and writing buffer objects (BOs) of the radeon driver without
 * mapping them into the process.
 *
 * radeon_drm.h has declared DRM_RADEON_GEM_PREAD and DRM_RADEON_GEM_PWRITE,
 * with their numbers and argument structs, since 2008. This header adds what
 * a user of these ioctls needs beyond that: the meaning of the structs' pad
 * field, a request that says what the kernel can do, and an ioctl that moves
 * many two-dimensional pieces at once. It includes radeon_drm.h, so that it
 * can be used alone.
 *
 * Rules that hold for all of them:
 *
 * - The BO can be anywhere: VRAM within or beyond the aperture that the CPU
 *   can reach, GTT of any caching mode, system memory, swapped out. BOs made
 *   with RADEON_GEM_NO_CPU_ACCESS are included.
 * - A tiled BO is seen as a CPU mapping of it shows it.
 * - No CPU mapping of the BO is made in the calling process.
 * - A new BO reads zeros until it is written, not what its memory held before.
 *   For VRAM this is so unless the module's parameter gem_rw_clear_vram is off.
 *   Clearing can still be under way when the BO has been created; the kernel
 *   waits for it as for a move.
 * - User memory can be any memory that the process may read or write itself,
 *   mappings of BOs (also of the same BO) and of dma-bufs included. Where
 *   user memory and the range of the BO are the same memory and overlap, the
 *   contents of the overlap are unspecified afterwards.
 * - Calls that return -EINTR or -EAGAIN can simply be made again, as
 *   drmIoctl() does.
 * - Flags can be added, but not removed or given another meaning. Unknown
 *   flags, and padding that is not zero, are refused with -EINVAL.
 */

/**
 * DOC: Errors
 *
 * In the order in which they are checked:
 *
 * - -EINVAL: unknown flag, padding not zero, more regions than
 *   RADEON_GEM_TRANSFER_MAX_REGIONS.
 * - 0 (success) if there is nothing to transfer. Nothing that follows has
 *   been looked at then.
 * - -EFAULT: the user range is not in user space, or wraps.
 * - -ENOENT: the handle does not exist in this file.
 * - -EINVAL: the range reaches beyond the BO, or wraps.
 * - -EPERM: the BO was made from user memory (DRM_RADEON_GEM_USERPTR).
 * - -EOPNOTSUPP: the BO was imported from another device.
 * - -EFAULT: user memory is missing or must not be accessed. Bytes before the
 *   place of the error may have been transferred.
 * - -EBUSY: RADEON_GEM_RW_NOWAIT was given, and the call would have to sleep
 *   on a fence; or the BO is pinned where the CPU cannot reach it and there
 *   is no engine that could copy.
 * - -EAGAIN: the GPU was reset.
 * - -ENOMEM: out of memory.
 * - -EINTR: a signal came. The call can be made again, and the kernel does so
 *   itself where it restarts system calls. While the bytes of a region, or of a
 *   PREAD or PWRITE, are copied only a fatal signal counts.
 */

/**
 * DOC: Flags
 *
 * Flags of DRM_RADEON_GEM_PREAD and DRM_RADEON_GEM_PWRITE are passed in the
 * pad field of struct drm_radeon_gem_pread and struct drm_radeon_gem_pwrite,
 * those of DRM_RADEON_GEM_TRANSFER in &drm_radeon_gem_transfer.flags.
 */

/**
 * enum drm_radeon_gem_rw_flags - Flags of PREAD, PWRITE and TRANSFER
 *
 * Without any flag, a read returns the bytes that all GPU work submitted
 * before leaves behind; work submitted before a write still sees the old
 * bytes, and work submitted after it, on any ring and by any process, the new
 * ones. On return from a write the user memory has been read and can be
 * changed or freed.
 */
enum drm_radeon_gem_rw_flags {
	/**
	 * @RADEON_GEM_RW_UNSYNCHRONIZED: Do not wait until the GPU has stopped
	 * reading and writing the BO. It still waits for the kernel's own work on
	 * it: moves of the BO, and earlier writes by these ioctls to the same
	 * dwords that the kernel has put off (staged). A write may
	 * read, and write again, all of the dword in which it begins or ends, so
	 * nothing else may write to that dword meanwhile. A dword has 4 bytes.
	 */
	RADEON_GEM_RW_UNSYNCHRONIZED = 1 << 0,

	/**
	 * @RADEON_GEM_RW_NOWAIT: Return -EBUSY rather than sleep on a fence. A
	 * BO that the CPU can reach can be read while the GPU only reads it.
	 */
	RADEON_GEM_RW_NOWAIT = 1 << 1,

	/**
	 * @RADEON_GEM_TRANSFER_WRITE: Transfer from user memory to BOs. Without
	 * it, the direction is from BOs to user memory. For
	 * DRM_RADEON_GEM_TRANSFER only.
	 */
	RADEON_GEM_TRANSFER_WRITE = 1 << 2,
};

/**
 * RADEON_INFO_GEM_RW - What the kernel supports of this header
 *
 * Request for DRM_RADEON_INFO. The value is a __u32 made of
 * &enum drm_radeon_gem_rw_caps. A kernel without any of it does not know the
 * request and answers -EINVAL. The driver's interface version does not tell.
 */
#define RADEON_INFO_GEM_RW	0x27

/**
 * enum drm_radeon_gem_rw_caps - Bits in the answer to RADEON_INFO_GEM_RW
 */
enum drm_radeon_gem_rw_caps {
	/**
	 * @RADEON_GEM_RW_CAP_PREAD_PWRITE: DRM_RADEON_GEM_PREAD and
	 * DRM_RADEON_GEM_PWRITE work, with RADEON_GEM_RW_UNSYNCHRONIZED and
	 * RADEON_GEM_RW_NOWAIT.
	 */
	RADEON_GEM_RW_CAP_PREAD_PWRITE = 1 << 0,

	/** @RADEON_GEM_RW_CAP_TRANSFER: DRM_RADEON_GEM_TRANSFER works. */
	RADEON_GEM_RW_CAP_TRANSFER = 1 << 1,

	/**
	 * @RADEON_GEM_RW_CAP_STAGED: Small writes to a BO that the GPU is using
	 * do not wait: the bytes are staged and copied by the GPU in order.
	 */
	RADEON_GEM_RW_CAP_STAGED = 1 << 2,
};

/** DRM_RADEON_GEM_TRANSFER - Number of the TRANSFER ioctl */
#define DRM_RADEON_GEM_TRANSFER	0x2e

/** RADEON_GEM_TRANSFER_MAX_REGIONS - Most regions that one call can have */
#define RADEON_GEM_TRANSFER_MAX_REGIONS	65536

/**
 * struct drm_radeon_gem_transfer_region - One piece of a TRANSFER
 *
 * @rows rows of @row_bytes bytes, at one pitch in the BO and another in user
 * memory. A region with no rows, or rows of no bytes, is complete at once.
 * Every region is checked as PREAD or PWRITE of the range from its first to
 * its last byte would be.
 */
struct drm_radeon_gem_transfer_region {
	/** @handle: Handle of the BO. */
	__u32 handle;

	/** @flags: No flags are defined, must be zero. */
	__u32 flags;

	/** @bo_offset: Offset of the first row in the BO, in bytes. */
	__u64 bo_offset;

	/** @user_ptr: User address of the first row. */
	__u64 user_ptr;

	/**
	 * @bo_pitch: Bytes from one row to the next in the BO. Not less than
	 * @row_bytes if there is more than one row.
	 */
	__u32 bo_pitch;

	/**
	 * @user_pitch: Bytes from one row to the next in user memory. Not less
	 * than @row_bytes if there is more than one row.
	 */
	__u32 user_pitch;

	/** @row_bytes: Bytes to transfer in each row. */
	__u32 row_bytes;

	/** @rows: Number of rows. */
	__u32 rows;
};

/**
 * struct drm_radeon_gem_transfer - Arguments of DRM_IOCTL_RADEON_GEM_TRANSFER
 *
 * Regions are transferred in the order of the array. The first that fails
 * ends the call with its error.
 */
struct drm_radeon_gem_transfer {
	/**
	 * @regions_ptr: User address of an array of
	 * &struct drm_radeon_gem_transfer_region.
	 */
	__u64 regions_ptr;

	/**
	 * @region_count: Number of regions in the array, at most
	 * RADEON_GEM_TRANSFER_MAX_REGIONS.
	 */
	__u32 region_count;

	/** @flags: Combination of &enum drm_radeon_gem_rw_flags. */
	__u32 flags;

	/**
	 * @regions_done: Number of regions to leave out, from the first on; 0 in
	 * a new call, at most @region_count. Returned: number of regions that
	 * are complete, those left out included, also when the call fails. So a
	 * call that was interrupted goes on when it is made again as it is.
	 */
	__u32 regions_done;

	/** @pad: Padding, must be zero. */
	__u32 pad;
};

/** DRM_IOCTL_RADEON_GEM_TRANSFER - TRANSFER, complete ioctl number */
#define DRM_IOCTL_RADEON_GEM_TRANSFER \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_RADEON_GEM_TRANSFER, struct drm_radeon_gem_transfer)

#if defined(__cplusplus)
}
#endif

#endif /* _RADEON_DRM_RW_H_ */
