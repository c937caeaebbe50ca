// SPDX-License-Identifier: MIT
/*
 * The frame of the test programs of PREAD and of PWRITE. IGT's documentation wants the
 * SUBTEST descriptions in the programs; descriptions_test.py compares these.
 */
#include <unistd.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_args.h"
#include "igt_radeon_rw_program.h"

/**
 * igt_radeon_rw_program:
 * @program: what differs
 *
 * Opens a device, runs all subtests, and closes it. To be called from igt_main; skips
 * without a kernel that has the call.
 */
void igt_radeon_rw_program(const struct igt_radeon_rw_program *program)
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_gem_rw(fd);
	}

	igt_describe(program->basic_text);
	igt_subtest("basic")
		program->basic(fd);

	igt_radeon_args_subtests(fd, program->op);
	igt_radeon_rw_subtests(fd, program->op);

	igt_describe(program->before_gpu_read_text);
	igt_subtest("before-gpu-read")
		program->before_gpu_read(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_fixture()
		close(fd);
}
