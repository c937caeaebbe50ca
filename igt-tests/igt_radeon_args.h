/* SPDX-License-Identifier: MIT */
/*
 * Checks of arguments and errors that are the same for PREAD and PWRITE.
 */
#ifndef IGT_RADEON_ARGS_H
#define IGT_RADEON_ARGS_H

#include <stdint.h>

/**
 * igt_radeon_rw_fn - PREAD or PWRITE, as igt_radeon_pread() takes its arguments
 *
 * Returns: 0 or a negative errno
 */
typedef int (*igt_radeon_rw_fn)(int fd, uint32_t handle, uint64_t offset,
				uint64_t size, void *mem, uint32_t flags);

void igt_radeon_args_bad_handle(int fd, igt_radeon_rw_fn rw);
void igt_radeon_args_bad_range(int fd, igt_radeon_rw_fn rw);
void igt_radeon_args_bad_flags(int fd, igt_radeon_rw_fn rw);
void igt_radeon_args_zero_size(int fd, igt_radeon_rw_fn rw);
void igt_radeon_args_userptr(int fd, igt_radeon_rw_fn rw);
void igt_radeon_args_imported(int fd, igt_radeon_rw_fn rw);
void igt_radeon_args_error_order(int fd, igt_radeon_rw_fn rw);
void igt_radeon_args_permissions(int fd, igt_radeon_rw_fn rw);

#endif /* IGT_RADEON_ARGS_H */
