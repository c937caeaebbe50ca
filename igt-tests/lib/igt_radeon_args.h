/* SPDX-License-Identifier: MIT */
/*
 * Checks of arguments and errors that are the same for PREAD, PWRITE and
 * TRANSFER.
 */
#ifndef IGT_RADEON_ARGS_H
#define IGT_RADEON_ARGS_H

#include "igt_radeon_rw.h"

void igt_radeon_args_bad_handle(int fd, enum igt_radeon_op op);
void igt_radeon_args_bad_range(int fd, enum igt_radeon_op op);
void igt_radeon_args_bad_flags(int fd, enum igt_radeon_op op);
void igt_radeon_args_zero_size(int fd, enum igt_radeon_op op);
void igt_radeon_args_userptr(int fd, enum igt_radeon_op op);
void igt_radeon_args_imported(int fd, enum igt_radeon_op op);
void igt_radeon_args_error_order(int fd, enum igt_radeon_op op);
void igt_radeon_args_permissions(int fd, enum igt_radeon_op op);
void igt_radeon_args_subtests(int fd, enum igt_radeon_op op);

#endif /* IGT_RADEON_ARGS_H */
