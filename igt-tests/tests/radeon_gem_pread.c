// SPDX-License-Identifier: MIT
/*
 * DRM_RADEON_GEM_PREAD: bytes of a BO copied to user memory by a system call.
 * BOs are filled through mappings or by the GPU, never by PWRITE, so that the
 * two ioctls cannot hide each other's faults.
 */
#include <string.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_args.h"

/**
 * TEST: radeon gem pread
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading buffer objects without mapping them
 * Description: Checks what DRM_RADEON_GEM_PREAD returns, from every place a
 *              BO can be in, in order with GPU work, and how it refuses bad
 *              arguments.
 */
IGT_TEST_DESCRIPTION("Checks reading of radeon buffer objects by PREAD.");

#define HOLD_US		2000000u

/**
 * SUBTEST: basic
 * Description: Reading gives what was written through a mapping, and a fresh
 *              BO in GTT reads as zeros.
 */
static void test_basic(int fd)
{
	static uint8_t zeros[4 * PAGE];
	struct igt_radeon_bo bo;
	uint8_t *model;

	igt_radeon_bo_init(&bo, fd, sizeof(zeros), RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_rw_range(IGT_RADEON_PREAD, &bo, zeros, 0, sizeof(zeros), 0);
	igt_radeon_bo_fini(&bo);

	model = igt_radeon_bo_init_pattern(&bo, fd, 4 * PAGE,
					   &igt_radeon_reachable[1], 2);
	igt_radeon_rw_range(IGT_RADEON_PREAD, &bo, model, 0, 4 * PAGE, 0);
	igt_radeon_bo_fini(&bo);
	free(model);
}

/**
 * SUBTEST: before-gpu-read
 * Description: While the GPU only reads a BO that the CPU reaches, a read with
 *              NOWAIT succeeds; and the GPU still reads the same bytes.
 */
static void test_before_gpu_read(int fd)
{
	const uint64_t size = 16 * PAGE;
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo bo, dst;
	uint8_t *model, *got = igt_radeon_malloc(size);
	unsigned int i;

	for (i = 0; i < igt_radeon_reachable_count; i++) {
		p = &igt_radeon_reachable[i];
		igt_debug("%s\n", p->name);
		model = igt_radeon_bo_init_pattern(&bo, fd, size, p, 9);
		igt_radeon_bo_init(&dst, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
		igt_radeon_set_latency(fd, HOLD_US);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &dst, 0, &bo, 0, size);
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, 0, size, got,
					       RADEON_GEM_RW_NOWAIT), 0);
		if (igt_radeon_has_board(fd))
			igt_assert_f(igt_radeon_bo_busy(&dst),
				     "the read waited for the GPU's read\n");
		igt_radeon_set_latency(fd, 0);
		igt_assert(!memcmp(got, model, size));
		igt_radeon_bo_assert(&dst, model, "the GPU's copy");
		igt_radeon_bo_fini(&dst);
		igt_radeon_bo_fini(&bo);
		free(model);
	}
	free(got);
}

/**
 * SUBTEST: unaligned
 * Description: Offsets, sizes and user addresses of any alignment move exactly
 *              the bytes asked for, and touch none beside them.
 *
 * SUBTEST: vram
 * Description: Ranges of all sizes, in VRAM that the CPU reaches.
 *
 * SUBTEST: gtt
 * Description: Ranges of all sizes, in GTT of every caching mode and in system
 *              memory.
 *
 * SUBTEST: invisible-vram
 * Description: Ranges of all sizes, in VRAM beyond the CPU's aperture; the
 *              other side of the check is a copy by the GPU.
 *
 * SUBTEST: evicted
 * Description: A BO in VRAM that was evicted since it was filled.
 *
 * SUBTEST: swapped
 * Description: A BO in GTT that was swapped out since it was filled is brought
 *              back; a write keeps the rest of it.
 *
 * SUBTEST: self-copy
 * Description: User memory may be a mapping of a BO: of another one, or of the
 *              same one with or without overlap, never touched before or not.
 *              Nothing beside the destination changes.
 *
 * SUBTEST: after-gpu-write
 * Description: Bytes that engines were told to write before the call are there
 *              for a read, and do not undo a write, however late the engines
 *              get to it.
 *
 * SUBTEST: no-mappings
 * Description: Calls for many BOs leave no mapping of any of them, nor any other
 *              new mapping, in the process.
 *
 * SUBTEST: bad-pointer
 * Description: User memory that is missing, not permitted, or not user space
 *              gives -EFAULT, on every path; nothing behind the fault changes.
 *              Read-only memory is a good source and no destination.
 *
 * SUBTEST: bad-handle
 * Description: Handles that never were, are closed, or belong to another file
 *              give -ENOENT.
 *
 * SUBTEST: bad-range
 * Description: Ranges that end beyond the BO or wrap give -EINVAL; the last
 *              byte can be reached.
 *
 * SUBTEST: bad-flags
 * Description: Every undefined flag gives -EINVAL, alone and among others.
 *
 * SUBTEST: zero-size
 * Description: A call for no bytes succeeds whatever the other arguments are,
 *              flags excepted.
 *
 * SUBTEST: userptr
 * Description: A BO made from user memory gives -EPERM, after a range check.
 *
 * SUBTEST: imported
 * Description: A BO imported from another device gives -EOPNOTSUPP, after a
 *              range check.
 *
 * SUBTEST: error-order
 * Description: Of several errors in one call the one that comes first in the
 *              documented order is returned.
 *
 * SUBTEST: permissions
 * Description: A render node may call it; a primary node only when
 *              authenticated.
 */
int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_gem_rw(fd);
	}

	igt_describe("A read gives what was written through a mapping.");
	igt_subtest("basic")
		test_basic(fd);

	igt_radeon_args_subtests(fd, IGT_RADEON_PREAD);
	igt_radeon_rw_subtests(fd, IGT_RADEON_PREAD);

	igt_describe("A read does not wait for GPU reads, nor disturb them.");
	igt_subtest("before-gpu-read")
		test_before_gpu_read(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_fixture()
		close(fd);
}
