// SPDX-License-Identifier: MIT
/*
 * DRM_RADEON_GEM_PWRITE: bytes of user memory copied to a BO by a system call.
 * BOs are checked through mappings or copies by the GPU, never by PREAD, so
 * that the two ioctls cannot hide each other's faults.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_args.h"

/**
 * TEST: radeon gem pwrite
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: writing buffer objects without mapping them
 * Description: Checks what DRM_RADEON_GEM_PWRITE leaves in a BO, at every
 *              place it can be in, in order with GPU work, and how it refuses
 *              bad arguments.
 */
IGT_TEST_DESCRIPTION("Checks writing of radeon buffer objects by PWRITE.");

/**
 * SUBTEST: basic
 * Description: A mapping shows what was written, also one made before.
 */
static void test_basic(int fd)
{
	struct igt_radeon_bo bo;
	uint8_t *model = igt_radeon_malloc(4 * PAGE), *map;

	igt_radeon_bo_init(&bo, fd, 4 * PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_rw_range(IGT_RADEON_PWRITE, &bo, model, 0, 4 * PAGE, 0);
	igt_radeon_bo_assert(&bo, model, "fresh BO");

	map = igt_radeon_bo_map(&bo);
	igt_assert(!memcmp(map, model, 4 * PAGE));
	igt_radeon_rw_range(IGT_RADEON_PWRITE, &bo, model, PAGE / 2, 2 * PAGE,
			    0);
	igt_assert(!memcmp(map, model, 4 * PAGE));
	munmap(map, 4 * PAGE);
	igt_radeon_bo_fini(&bo);
	free(model);
}

/**
 * SUBTEST: before-gpu-read
 * Description: GPU reads submitted before a write get the old bytes, those
 *              submitted after it the new ones, on every ring.
 */
static void test_before_gpu_read(int fd)
{
	static const size_t sizes[] = { 256, PAGE, 12 * PAGE + 5 };
	const uint64_t size = 16 * PAGE;
	const struct igt_radeon_placement *p;
	enum igt_radeon_engine engine, engine2;
	struct igt_radeon_bo bo, before, after;
	uint8_t *old, *model;
	unsigned int i, s;

	for (s = 0; s < ARRAY_SIZE(sizes) * IGT_RADEON_ENGINES; s++) {
		engine = s % IGT_RADEON_ENGINES;
		engine2 = !engine;
		if (!igt_radeon_has_engine(fd, IGT_RADEON_DMA))
			engine = engine2 = IGT_RADEON_CP_DMA;
		for (i = 0; i < igt_radeon_reachable_count; i++) {
			p = &igt_radeon_reachable[i];
			igt_debug("engine %d, %s\n", engine, p->name);
			old = igt_radeon_bo_init_pattern(&bo, fd, size, p, 9);
			model = igt_radeon_malloc(size);
			memcpy(model, old, size);
			igt_radeon_bo_init(&before, fd, size,
					   RADEON_GEM_DOMAIN_GTT, 0);
			igt_radeon_bo_init(&after, fd, size,
					   RADEON_GEM_DOMAIN_VRAM, 0);

			igt_radeon_set_latency(fd, 20000);
			igt_radeon_copy(engine, &before, 0, &bo, 0, size);
			igt_radeon_rw_range(IGT_RADEON_PWRITE, &bo, model, 33,
					    sizes[s / IGT_RADEON_ENGINES], 1);
			igt_radeon_copy(engine2, &after, 0, &bo, 0, size);
			igt_radeon_set_latency(fd, 0);

			igt_radeon_bo_assert(&before, old, "earlier GPU read");
			igt_radeon_bo_assert(&after, model, "later GPU read");
			igt_radeon_bo_assert(&bo, model, "the BO itself");
			igt_radeon_bo_fini(&after);
			igt_radeon_bo_fini(&before);
			igt_radeon_bo_fini(&bo);
			free(model);
			free(old);
		}
	}
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

	igt_describe("A mapping shows what was written.");
	igt_subtest("basic")
		test_basic(fd);

	igt_radeon_args_subtests(fd, IGT_RADEON_PWRITE);
	igt_radeon_rw_subtests(fd, IGT_RADEON_PWRITE);

	igt_describe("GPU reads get the bytes of their place in the order.");
	igt_subtest("before-gpu-read")
		test_before_gpu_read(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_fixture()
		close(fd);
}
