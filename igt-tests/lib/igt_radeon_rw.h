/* SPDX-License-Identifier: MIT */
/*
 * PREAD, PWRITE and TRANSFER as one operation with a direction, for what tests
 * of them have in common.
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
 * @IGT_RADEON_OPS: how many there are
 */
enum igt_radeon_op {
	IGT_RADEON_PREAD,
	IGT_RADEON_PWRITE,
	IGT_RADEON_DOWNLOAD,
	IGT_RADEON_UPLOAD,
	IGT_RADEON_OPS
};

extern const char *const igt_radeon_op_name[IGT_RADEON_OPS];

bool igt_radeon_op_writes(enum igt_radeon_op op);
int igt_radeon_rw(enum igt_radeon_op op, int fd, uint32_t handle,
		  uint64_t offset, uint64_t size, void *mem, uint32_t flags);
void igt_radeon_rw_apply(enum igt_radeon_op op, void *bo, void *user,
			 size_t size);
void igt_radeon_rw_range(enum igt_radeon_op op, const struct igt_radeon_bo *bo,
			 uint8_t *model, uint64_t offset, size_t size,
			 unsigned int align);

/* Tests that are the same for all of them, in igt_radeon_rw_tests.c */
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
