/* SPDX-License-Identifier: MIT */
/*
 * The test programs of PREAD and of PWRITE, which have the same subtests.
 */
#ifndef IGT_RADEON_RW_PROGRAM_H
#define IGT_RADEON_RW_PROGRAM_H

#include "igt_radeon_rw.h"

/**
 * struct igt_radeon_rw_program - what differs between the two programs
 * @op: the call under test
 * @basic: subtest "basic", with the device
 * @basic_text: its description
 * @before_gpu_read: subtest "before-gpu-read", with the device; may leave a latency set
 * @before_gpu_read_text: its description
 */
struct igt_radeon_rw_program {
	enum igt_radeon_op op;
	void (*basic)(int fd);
	const char *basic_text;
	void (*before_gpu_read)(int fd);
	const char *before_gpu_read_text;
};

void igt_radeon_rw_program(const struct igt_radeon_rw_program *program);

#endif /* IGT_RADEON_RW_PROGRAM_H */
