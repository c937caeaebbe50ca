// SPDX-License-Identifier: MIT
/*
 * DRM_RADEON_GEM_PREAD copies bytes of a BO to user memory. The tests fill BOs
 * through mappings or with the GPU, never with PWRITE, so that neither ioctl
 * can hide a fault of the other.
 */
#include <string.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_rw_program.h"

/**
 * TEST: radeon gem pread
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading buffer objects without mapping them
 * Description: Checks the bytes that DRM_RADEON_GEM_PREAD returns, in each
 *              placement of the BO and in order with GPU work, and its errors
 *              for bad arguments.
 */
IGT_TEST_DESCRIPTION("Checks reading of radeon buffer objects by PREAD.");

#define HOLD_US		2000000u

/**
 * SUBTEST: basic
 * Description: A read returns the bytes that were written through a mapping,
 *              and zeros from a new BO in GTT.
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
 * Description: While the GPU only reads a BO that the CPU can access, a read
 *              with NOWAIT succeeds, and the GPU still reads the same bytes.
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
 * Description: Calls with offsets, sizes and user addresses of any alignment
 *              transfer exactly the requested bytes, and touch none beside
 *              them.
 *
 * SUBTEST: vram
 * Description: Transfers ranges of all sizes in CPU-accessible VRAM.
 *
 * SUBTEST: gtt
 * Description: Transfers ranges of all sizes in GTT of each caching mode and in
 *              system memory.
 *
 * SUBTEST: invisible-vram
 * Description: Transfers ranges of all sizes in CPU-inaccessible VRAM, and
 *              checks them with copies by the GPU.
 *
 * SUBTEST: evicted
 * Description: A BO that was evicted from VRAM keeps its bytes, and can be read
 *              and written.
 *
 * SUBTEST: swapped
 * Description: A BO in GTT that was swapped out is brought back by a call, and
 *              a write keeps the rest of its bytes.
 *
 * SUBTEST: self-copy
 * Description: User memory may be a mapping of a BO: of another one, not
 *              touched before, or of the same one, with and without overlap.
 *              Bytes beside the destination do not change.
 *
 * SUBTEST: after-gpu-write
 * Description: Calls come after GPU writes that were submitted before them,
 *              however late these begin: a read returns the GPU's bytes, and
 *              the GPU does not overwrite those of a write.
 *
 * SUBTEST: no-mappings
 * Description: Calls for many BOs leave no mapping of any of them, nor any
 *              other new mapping, in the process.
 *
 * SUBTEST: bad-pointer
 * Description: User memory that is missing, forbidden, or not in user space
 *              gives -EFAULT, on every path, and bytes behind the fault do not
 *              change. Read-only memory can only be a source.
 *
 * SUBTEST: bad-handle
 * Description: A handle that was never created, is closed, or belongs to
 *              another file gives -ENOENT.
 *
 * SUBTEST: bad-range
 * Description: A range that ends beyond the BO, or wraps, gives -EINVAL; one
 *              that ends with the last byte succeeds.
 *
 * SUBTEST: bad-flags
 * Description: Each undefined flag gives -EINVAL, alone and with defined flags.
 *
 * SUBTEST: zero-size
 * Description: A call for no bytes checks its flags, and succeeds whatever the
 *              other arguments are.
 *
 * SUBTEST: userptr
 * Description: A BO made from user memory gives -EPERM if the range is valid.
 *
 * SUBTEST: imported
 * Description: A BO imported from another device gives -EOPNOTSUPP if the range
 *              is valid.
 *
 * SUBTEST: error-order
 * Description: A call with several errors returns the first of them in the
 *              documented order.
 *
 * SUBTEST: permissions
 * Description: A file of a render node may make the call; a file of a primary
 *              node only if it is authenticated.
 */
int igt_main()
{
	static const struct igt_radeon_rw_program program = {
		.op = IGT_RADEON_PREAD,
		.basic = test_basic,
		.basic_text = "A read returns what was written through a mapping.",
		.before_gpu_read = test_before_gpu_read,
		.before_gpu_read_text = "A read does not wait for GPU reads, nor disturb them.",
	};

	igt_radeon_rw_program(&program);
}
