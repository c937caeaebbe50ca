/* SPDX-License-Identifier: MIT */
/*
 * PREAD, PWRITE and TRANSFER as one operation with a direction, for tests that
 * are the same for all of them.
 */
#ifndef IGT_RADEON_RW_H
#define IGT_RADEON_RW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "igt_radeon.h"

/**
 * enum igt_radeon_op - a call under test
 * @IGT_RADEON_PREAD: DRM_RADEON_GEM_PREAD
 * @IGT_RADEON_PWRITE: DRM_RADEON_GEM_PWRITE
 * @IGT_RADEON_DOWNLOAD: DRM_RADEON_GEM_TRANSFER from a BO
 * @IGT_RADEON_UPLOAD: DRM_RADEON_GEM_TRANSFER to a BO
 * @IGT_RADEON_OPS: number of operations
 */
enum igt_radeon_op {
	IGT_RADEON_PREAD,
	IGT_RADEON_PWRITE,
	IGT_RADEON_DOWNLOAD,
	IGT_RADEON_UPLOAD,
	IGT_RADEON_OPS
};

extern const char *const igt_radeon_op_name[IGT_RADEON_OPS];

/**
 * struct igt_radeon_call - arguments of a PREAD, PWRITE or TRANSFER
 * @op: ioctl and direction
 * @fd: device
 * @handle: BO
 * @offset: first byte in the BO
 * @size: bytes
 * @mem: user memory
 * @flags: RADEON_GEM_RW_*
 * @regions: number of regions into which a TRANSFER splits the bytes, at most
 *	IGT_RADEON_MAX_SPLIT; 0 means 1. PREAD and PWRITE ignore it.
 */
struct igt_radeon_call {
	enum igt_radeon_op op;
	int fd;
	uint32_t handle;
	uint64_t offset;
	uint64_t size;
	void *mem;
	uint32_t flags;
	unsigned int regions;
};

#define IGT_RADEON_MAX_SPLIT	8u

bool igt_radeon_op_writes(enum igt_radeon_op op);

/*
 * The ioctls under test. They return 0 or a negative errno, and assert only
 * that regions_done of a TRANSFER fits its result.
 */
int igt_radeon_call(const struct igt_radeon_call *call);
int igt_radeon_call_once(const struct igt_radeon_call *call);
int igt_radeon_rw(enum igt_radeon_op op, int fd, uint32_t handle,
		  uint64_t offset, uint64_t size, void *mem, uint32_t flags);
int igt_radeon_pread(int fd, uint32_t handle, uint64_t offset, uint64_t size,
		     void *dst, uint32_t flags);
int igt_radeon_pwrite(int fd, uint32_t handle, uint64_t offset, uint64_t size,
		      const void *src, uint32_t flags);
int igt_radeon_transfer(int fd,
			const struct drm_radeon_gem_transfer_region *regions,
			uint32_t count, uint32_t flags, uint32_t *done);

/* The effect of a call on a model, and a call with checks */
void igt_radeon_rw_apply(enum igt_radeon_op op, void *bo, void *user,
			 size_t size);
void igt_radeon_rw_range(enum igt_radeon_op op, const struct igt_radeon_bo *bo,
			 uint8_t *model, uint64_t offset, size_t size,
			 unsigned int align);

/* Tests that are the same for all operations, in igt_radeon_rw_tests.c */
void igt_radeon_rw_test_placement(int fd, enum igt_radeon_op op,
				  const struct igt_radeon_placement *p);
void igt_radeon_rw_test_evicted(int fd, enum igt_radeon_op op);
void igt_radeon_rw_test_swapped(int fd, enum igt_radeon_op op);
void igt_radeon_rw_test_self_copy(int fd, enum igt_radeon_op op);
void igt_radeon_rw_test_after_gpu_write(int fd, enum igt_radeon_op op);
void igt_radeon_rw_test_no_mappings(int fd, enum igt_radeon_op op);
void igt_radeon_rw_test_bad_pointer(int fd, enum igt_radeon_op op);
void igt_radeon_rw_subtests(int fd, enum igt_radeon_op op);

#endif /* IGT_RADEON_RW_H */
