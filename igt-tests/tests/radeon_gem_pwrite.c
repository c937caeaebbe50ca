// SPDX-License-Identifier: MIT
/*
 * DRM_RADEON_GEM_PWRITE copies bytes of user memory to a BO. The tests check
 * BOs through mappings or with the GPU, never with PREAD, so that neither ioctl
 * can hide a fault of the other.
 */
#include <string.h>
#include <sys/mman.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_rw_program.h"

/**
 * TEST: radeon gem pwrite
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: writing buffer objects without mapping them
 * Description: Checks the bytes that DRM_RADEON_GEM_PWRITE leaves in a BO, in
 *              each placement and in order with GPU work, and its errors for
 *              bad arguments.
 */
IGT_TEST_DESCRIPTION("Checks writing of radeon buffer objects by PWRITE.");

/**
 * SUBTEST: basic
 * Description: Mappings show the bytes written, also one made before the write.
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
		.op = IGT_RADEON_PWRITE,
		.basic = test_basic,
		.basic_text = "A mapping shows what was written.",
		.before_gpu_read = test_before_gpu_read,
		.before_gpu_read_text = "Writes are in order with GPU reads.",
	};

	igt_radeon_rw_program(&program);
}
