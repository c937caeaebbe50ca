// SPDX-License-Identifier: MIT
/*
 * DRM_RADEON_GEM_PWRITE: bytes of user memory copied to a BO by a system call.
 * BOs are checked through mappings or copies by the GPU, never by PREAD, so
 * that the two ioctls cannot hide each other's faults.
 */
#include <errno.h>
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

#define PAGE		4096u
#define HOLD_US		2000000u

#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))

static uint8_t *xmalloc(size_t size)
{
	uint8_t *mem = malloc(size);

	igt_assert(mem);
	return mem;
}

/* A BO that holds a pattern, and the same bytes in ordinary memory. */
static uint8_t *make_bo(struct igt_radeon_bo *bo, int fd, uint64_t size,
			uint32_t domain, uint32_t flags, uint32_t seed)
{
	uint8_t *model = xmalloc(size);

	igt_radeon_bo_init(bo, fd, size, domain, flags);
	igt_radeon_pattern(model, size, seed);
	igt_radeon_bo_fill(bo, model);
	return model;
}

/*
 * Writes a range with bytes never used before, clobbers the source as soon as
 * the call is back, and does the same to the model.
 */
static void write_range(const struct igt_radeon_bo *bo, uint8_t *model,
			uint64_t offset, size_t size, unsigned int align)
{
	static uint32_t seed = 1000;
	uint8_t *mem = xmalloc(size + align);

	igt_radeon_pattern(mem + align, size, seed++);
	memcpy(model + offset, mem + align, size);
	igt_assert_eq(igt_radeon_pwrite(bo->fd, bo->handle, offset, size,
					mem + align, 0), 0);
	igt_assert_f(!memcmp(mem + align, model + offset, size),
		     "the source was changed\n");
	memset(mem, 0xee, size + align);
	free(mem);
}

/* Sizes around each power of four up to the whole BO. */
static void test_placement(int fd, uint32_t domain, uint32_t flags)
{
	const uint64_t bo_size = (2 << 20) + 2 * PAGE;
	struct igt_radeon_bo bo;
	uint8_t *model;
	size_t size;

	model = make_bo(&bo, fd, bo_size, domain, flags, 1);
	for (size = 1; size <= 2 << 20; size *= 4) {
		write_range(&bo, model, PAGE - 1, size + 1, 1);
		igt_radeon_bo_assert(&bo, model, "from the end of a page");
		write_range(&bo, model, 0, size, 0);
		write_range(&bo, model, bo_size - size, size, 0);
		if (size > 1)
			write_range(&bo, model, PAGE + 3, size - 1, 2);
		igt_radeon_bo_assert(&bo, model, "both ends and unaligned");
	}
	write_range(&bo, model, 0, bo_size, 0);
	igt_radeon_bo_assert(&bo, model, "whole BO");
	igt_radeon_bo_fini(&bo);
	free(model);
}

/**
 * SUBTEST: basic
 * Description: A mapping shows what was written, also one made before.
 */
static void test_basic(int fd)
{
	struct igt_radeon_bo bo;
	uint8_t *model = xmalloc(4 * PAGE), *map;

	igt_radeon_bo_init(&bo, fd, 4 * PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	write_range(&bo, model, 0, 4 * PAGE, 0);
	igt_radeon_bo_assert(&bo, model, "fresh BO");

	map = igt_radeon_bo_map(&bo);
	igt_assert(!memcmp(map, model, 4 * PAGE));
	write_range(&bo, model, PAGE / 2, 2 * PAGE, 0);
	igt_assert(!memcmp(map, model, 4 * PAGE));
	munmap(map, 4 * PAGE);
	igt_radeon_bo_fini(&bo);
	free(model);
}

/**
 * SUBTEST: unaligned
 * Description: Offsets, sizes and user addresses of any alignment change
 *              exactly the bytes asked for.
 */
static void test_unaligned(int fd)
{
	static const unsigned int edges[] = {
		0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 63, 64, 65,
		PAGE - 1, PAGE, PAGE + 1, 2 * PAGE - 3,
	};
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo bo;
	unsigned int i, j, k, align;
	uint8_t *model, *map;

	for (i = 0; i < igt_radeon_reachable_count; i++) {
		p = &igt_radeon_reachable[i];
		igt_debug("%s\n", p->name);
		model = make_bo(&bo, fd, 4 * PAGE, p->domain, p->flags, i);
		map = igt_radeon_bo_map(&bo);
		for (j = 0; j < ARRAY_LEN(edges); j++)
			for (k = 1; k < ARRAY_LEN(edges); k++)
				for (align = 0; align < 4; align++) {
					write_range(&bo, model, edges[j],
						    edges[k], align);
					igt_assert_f(!memcmp(map, model,
							     4 * PAGE),
						     "offset %u, size %u, user alignment %u\n",
						     edges[j], edges[k],
						     align);
				}
		munmap(map, 4 * PAGE);
		igt_radeon_bo_assert(&bo, model, "after all writes");
		igt_radeon_bo_fini(&bo);
		free(model);
	}
}

/**
 * SUBTEST: vram
 * Description: Ranges of all sizes arrive in VRAM that the CPU reaches.
 *
 * SUBTEST: gtt
 * Description: Ranges of all sizes arrive in GTT of every caching mode, and in
 *              system memory.
 *
 * SUBTEST: invisible-vram
 * Description: Ranges of all sizes arrive in VRAM beyond the CPU's aperture,
 *              as a copy by the GPU shows.
 */
static void test_gtt(int fd)
{
	unsigned int i;

	for (i = 0; i < igt_radeon_reachable_count; i++) {
		if (igt_radeon_reachable[i].domain == RADEON_GEM_DOMAIN_VRAM)
			continue;
		igt_debug("%s\n", igt_radeon_reachable[i].name);
		test_placement(fd, igt_radeon_reachable[i].domain,
			       igt_radeon_reachable[i].flags);
	}
}

/**
 * SUBTEST: evicted
 * Description: A write reaches a BO that was evicted from VRAM.
 *
 * SUBTEST: swapped
 * Description: A write to part of a BO that was swapped out brings it back and
 *              keeps the rest of it.
 */
static void test_evicted(int fd)
{
	const uint64_t size = 4 << 20;
	struct igt_radeon_bo bo;
	uint8_t *model;

	model = make_bo(&bo, fd, size, RADEON_GEM_DOMAIN_VRAM,
			RADEON_GEM_CPU_ACCESS, 3);
	igt_radeon_require_evicted(&bo);
	write_range(&bo, model, PAGE + 1, size / 2, 0);
	igt_radeon_bo_assert(&bo, model, "evicted BO");
	igt_radeon_bo_fini(&bo);
	free(model);
}

static void test_swapped(int fd)
{
	const uint64_t size = 16 << 20;
	struct igt_radeon_bo bo;
	uint8_t *model;

	model = make_bo(&bo, fd, size, RADEON_GEM_DOMAIN_GTT, 0, 4);
	igt_radeon_require_swapped(&bo);
	write_range(&bo, model, 12345, 3 * PAGE, 0);
	igt_radeon_bo_assert(&bo, model, "swapped BO");
	igt_radeon_bo_fini(&bo);
	free(model);
}

/**
 * SUBTEST: self-copy
 * Description: The source may be a mapping of a BO: of another one, or of the
 *              same one with or without overlap, never touched before or not.
 *              Nothing beside the range written changes.
 */
static void test_self_copy(int fd)
{
	const uint64_t size = 64 * PAGE, part = 16 * PAGE + 123;
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo bo, other;
	uint8_t *model, *other_model, *map;
	unsigned int i;

	igt_set_timeout(60, "writing from a mapping of a BO");
	for (i = 0; i < igt_radeon_reachable_count; i++) {
		p = &igt_radeon_reachable[i];
		igt_debug("%s\n", p->name);
		model = make_bo(&bo, fd, size, p->domain, p->flags, 5);
		other_model = make_bo(&other, fd, size, p->domain, p->flags, 6);

		/* Another BO, by a mapping with no page present. */
		map = igt_radeon_bo_map(&other);
		igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, 77, part,
						map + PAGE + 5, 0), 0);
		memcpy(model + 77, other_model + PAGE + 5, part);
		igt_radeon_bo_assert(&bo, model, "from another BO");
		igt_radeon_bo_assert(&other, other_model, "source BO");
		munmap(map, size);

		/* The same BO: apart, then onto itself, then overlapping. */
		map = igt_radeon_bo_map(&bo);
		igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, 3, part,
						map + 32 * PAGE + 1, 0), 0);
		memcpy(model + 3, model + 32 * PAGE + 1, part);
		igt_radeon_bo_assert(&bo, model, "same BO, apart");
		igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, 0, size, map, 0),
			      0);
		igt_radeon_bo_assert(&bo, model, "same BO, same range");
		igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, 8 * PAGE,
						8 * PAGE, map + 12 * PAGE, 0),
			      0);
		/* What lies in the overlap, or comes from it, is unspecified. */
		memcpy(model + 8 * PAGE, map + 8 * PAGE, 8 * PAGE);
		igt_radeon_bo_assert(&bo, model, "same BO, overlapping");
		munmap(map, size);

		igt_radeon_bo_fini(&other);
		igt_radeon_bo_fini(&bo);
		free(other_model);
		free(model);
	}
	igt_reset_timeout();
}

/**
 * SUBTEST: after-gpu-write
 * Description: A write after GPU writes were submitted is not undone by them,
 *              however late the engines get to it.
 *
 * SUBTEST: before-gpu-read
 * Description: GPU reads submitted before a write get the old bytes, those
 *              submitted after it the new ones, on every ring.
 */
static void test_after_gpu_write(int fd)
{
	const uint64_t size = 16 * PAGE;
	const struct igt_radeon_placement *p;
	enum igt_radeon_engine engine;
	struct igt_radeon_bo bo, src;
	uint8_t *old, *model;
	unsigned int i;

	for (engine = 0; engine < IGT_RADEON_ENGINES; engine++) {
		if (!igt_radeon_has_engine(fd, engine))
			continue;
		for (i = 0; i < igt_radeon_reachable_count; i++) {
			p = &igt_radeon_reachable[i];
			igt_debug("engine %d, %s\n", engine, p->name);
			model = make_bo(&src, fd, size, RADEON_GEM_DOMAIN_GTT,
					0, 7);
			old = make_bo(&bo, fd, size, p->domain, p->flags, 8);
			igt_radeon_set_latency(fd, 20000);
			igt_radeon_copy(engine, &bo, 0, &src, 0, size);
			write_range(&bo, model, 123, 256, 0);
			write_range(&bo, model, PAGE + 1, 6 * PAGE, 3);
			igt_radeon_set_latency(fd, 0);
			igt_radeon_bo_assert(&bo, model, "after both");
			igt_radeon_bo_fini(&bo);
			igt_radeon_bo_fini(&src);
			free(old);
			free(model);
		}
	}
}

static void test_before_gpu_read(int fd)
{
	static const size_t sizes[] = { 256, PAGE, 12 * PAGE + 5 };
	const uint64_t size = 16 * PAGE;
	const struct igt_radeon_placement *p;
	enum igt_radeon_engine engine, engine2;
	struct igt_radeon_bo bo, before, after;
	uint8_t *old, *model;
	unsigned int i, s;

	for (s = 0; s < ARRAY_LEN(sizes) * IGT_RADEON_ENGINES; s++) {
		engine = s % IGT_RADEON_ENGINES;
		engine2 = !engine;
		if (!igt_radeon_has_engine(fd, IGT_RADEON_DMA))
			engine = engine2 = IGT_RADEON_CP_DMA;
		for (i = 0; i < igt_radeon_reachable_count; i++) {
			p = &igt_radeon_reachable[i];
			igt_debug("engine %d, %s\n", engine, p->name);
			old = make_bo(&bo, fd, size, p->domain, p->flags, 9);
			model = xmalloc(size);
			memcpy(model, old, size);
			igt_radeon_bo_init(&before, fd, size,
					   RADEON_GEM_DOMAIN_GTT, 0);
			igt_radeon_bo_init(&after, fd, size,
					   RADEON_GEM_DOMAIN_VRAM, 0);

			igt_radeon_set_latency(fd, 20000);
			igt_radeon_copy(engine, &before, 0, &bo, 0, size);
			write_range(&bo, model, 33,
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
 * SUBTEST: nowait
 * Description: With NOWAIT a write to a BO that the GPU is going to read either
 *              gives -EBUSY and changes nothing, or is put in order behind the
 *              GPU's read; in no case it waits.
 *
 * SUBTEST: unsynchronized
 * Description: With UNSYNCHRONIZED a write to a BO that the GPU is going to
 *              read is done on return, while the GPU has not yet started.
 */
static void test_busy(int fd, uint32_t flags)
{
	const uint64_t size = 4 * PAGE;
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo bo, dst;
	uint8_t *old, *fresh = xmalloc(size), *map;
	unsigned int i;
	int ret;

	igt_radeon_require_board(fd);
	igt_radeon_pattern(fresh, size, 10);
	for (i = 0; i < igt_radeon_reachable_count; i++) {
		p = &igt_radeon_reachable[i];
		igt_debug("%s\n", p->name);
		old = make_bo(&bo, fd, size, p->domain, p->flags, 11);
		igt_radeon_bo_init(&dst, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
		map = igt_radeon_bo_map(&bo);

		igt_radeon_set_latency(fd, HOLD_US);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &dst, 0, &bo, 0, size);
		ret = igt_radeon_pwrite(fd, bo.handle, 0, size, fresh, flags);
		if (flags & RADEON_GEM_RW_UNSYNCHRONIZED) {
			igt_assert_eq(ret, 0);
			igt_assert_f(!memcmp(map, fresh, size),
				     "the write is not done on return\n");
		}
		igt_assert_f(igt_radeon_bo_busy(&dst), "the write waited\n");
		igt_radeon_set_latency(fd, 0);
		igt_radeon_bo_wait(&dst);

		if (flags & RADEON_GEM_RW_NOWAIT) {
			igt_assert(ret == 0 || ret == -EBUSY);
			igt_radeon_bo_assert(&dst, old, "the GPU's copy");
			igt_radeon_bo_assert(&bo, ret ? old : fresh, "the BO");
		} else {
			igt_radeon_bo_assert(&dst, fresh, "the GPU's copy");
		}
		igt_radeon_bo_wait(&bo);
		igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, 0, size, fresh,
						flags), 0);
		igt_radeon_bo_assert(&bo, fresh, "idle BO");
		munmap(map, size);
		igt_radeon_bo_fini(&dst);
		igt_radeon_bo_fini(&bo);
		free(old);
	}
	free(fresh);
}

/**
 * SUBTEST: no-mappings
 * Description: Creating and writing many BOs leaves no mapping of any of them,
 *              nor any other new mapping, in the process.
 */
static void test_no_mappings(int fd)
{
	enum { COUNT = 1000 };
	static struct igt_radeon_bo bos[COUNT];
	static uint8_t page[PAGE];
	unsigned int i, before, before_dri;

	/* A subtest that failed before may have left some. */
	before = igt_radeon_count_maps(NULL);
	before_dri = igt_radeon_count_maps("/dev/dri/");
	for (i = 0; i < COUNT; i++) {
		igt_radeon_bo_init(&bos[i], fd, PAGE,
				   i % 2 ? RADEON_GEM_DOMAIN_VRAM :
					   RADEON_GEM_DOMAIN_GTT, 0);
		memset(page, i, sizeof(page));
		igt_assert_eq(igt_radeon_pwrite(fd, bos[i].handle, 0, PAGE,
						page, 0), 0);
	}
	igt_assert_eq(igt_radeon_count_maps("/dev/dri/"), before_dri);
	igt_assert_eq(igt_radeon_count_maps(NULL), before);
	for (i = 0; i < COUNT; i++) {
		memset(page, i, sizeof(page));
		igt_radeon_bo_assert(&bos[i], page, "one of many BOs");
		igt_radeon_bo_fini(&bos[i]);
	}
}

/**
 * SUBTEST: bad-pointer
 * Description: User memory that is missing, not readable, or not user space
 *              gives -EFAULT; nothing in the BO behind the fault changes.
 *              Read-only memory is a good source.
 */
static void test_bad_pointer(int fd)
{
	static void * const bad[] = {
		NULL,
		(void *)0x10,
		(void *)0x0000800000000000,
		(void *)0xffff888000000000,
		(void *)-PAGE,
		(void *)-1,
	};
	const uint64_t size = 4 * PAGE;
	struct igt_radeon_bo bo;
	uint8_t *model, *mem, *map;
	unsigned int i, d;

	for (d = 0; d < igt_radeon_reachable_count; d++) {
		model = make_bo(&bo, fd, size, igt_radeon_reachable[d].domain,
				igt_radeon_reachable[d].flags, 12);
		for (i = 0; i < ARRAY_LEN(bad); i++)
			igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, 0, size,
							bad[i], 0), -EFAULT);
		igt_radeon_bo_assert(&bo, model, "after bad addresses");

		mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		igt_assert(mem != MAP_FAILED);
		igt_radeon_pattern(mem, size, 13);
		igt_assert_eq(mprotect(mem, 2 * PAGE, PROT_READ), 0);
		igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, 5, 2 * PAGE,
						mem, 0), 0);
		memcpy(model + 5, mem, 2 * PAGE);
		igt_radeon_bo_assert(&bo, model, "from read-only memory");

		/* Of what comes before the hole any part may have arrived. */
		igt_assert_eq(munmap(mem + 2 * PAGE, PAGE), 0);
		igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, 0, size, mem,
						0), -EFAULT);
		map = igt_radeon_bo_map(&bo);
		for (i = 0; i < 2 * PAGE; i++)
			igt_assert(map[i] == model[i] || map[i] == mem[i]);
		memcpy(model, map, 2 * PAGE);
		munmap(map, size);
		igt_radeon_bo_assert(&bo, model, "behind a hole");
		munmap(mem, size);

		igt_radeon_bo_fini(&bo);
		free(model);
	}
}

/**
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
static int pwrite_args(int fd, uint32_t handle, uint64_t offset, uint64_t size,
		       void *mem, uint32_t flags)
{
	return igt_radeon_pwrite(fd, handle, offset, size, mem, flags);
}

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

	igt_describe("Handles that are not this file's are -ENOENT.");
	igt_subtest("bad-handle")
		igt_radeon_args_bad_handle(fd, pwrite_args);

	igt_describe("Ranges beyond the BO are -EINVAL.");
	igt_subtest("bad-range")
		igt_radeon_args_bad_range(fd, pwrite_args);

	igt_describe("Undefined flags are -EINVAL.");
	igt_subtest("bad-flags")
		igt_radeon_args_bad_flags(fd, pwrite_args);

	igt_describe("No bytes: nothing else is looked at.");
	igt_subtest("zero-size")
		igt_radeon_args_zero_size(fd, pwrite_args);

	igt_describe("BOs made from user memory are -EPERM.");
	igt_subtest("userptr")
		igt_radeon_args_userptr(fd, pwrite_args);

	igt_describe("BOs imported from another device are -EOPNOTSUPP.");
	igt_subtest("imported")
		igt_radeon_args_imported(fd, pwrite_args);

	igt_describe("The first error of the documented order wins.");
	igt_subtest("error-order")
		igt_radeon_args_error_order(fd, pwrite_args);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("Primary nodes need authentication, render nodes do not.");
	igt_subtest("permissions")
		igt_radeon_args_permissions(fd, pwrite_args);

	igt_describe("Missing and forbidden user memory is -EFAULT.");
	igt_subtest("bad-pointer")
		test_bad_pointer(fd);

	igt_describe("Any alignment changes exactly the bytes asked for.");
	igt_subtest("unaligned")
		test_unaligned(fd);

	igt_describe("VRAM that the CPU reaches is written right.");
	igt_subtest("vram")
		test_placement(fd, RADEON_GEM_DOMAIN_VRAM,
			       RADEON_GEM_CPU_ACCESS);

	igt_describe("GTT of all caching modes and system memory: written right.");
	igt_subtest("gtt")
		test_gtt(fd);

	igt_describe("VRAM beyond the CPU's aperture is written right.");
	igt_subtest("invisible-vram") {
		igt_radeon_require_invisible_vram(fd);
		test_placement(fd, RADEON_GEM_DOMAIN_VRAM,
			       RADEON_GEM_NO_CPU_ACCESS);
	}

	igt_describe("An evicted BO is written right.");
	igt_subtest("evicted")
		test_evicted(fd);

	igt_describe("A BO that was swapped out is written right.");
	igt_subtest("swapped")
		test_swapped(fd);

	igt_describe("Mappings of BOs, even of the same one, are user memory.");
	igt_subtest("self-copy")
		test_self_copy(fd);

	igt_describe("GPU writes submitted before a write do not undo it.");
	igt_subtest("after-gpu-write")
		test_after_gpu_write(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("GPU reads get the bytes of their place in the order.");
	igt_subtest("before-gpu-read")
		test_before_gpu_read(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("NOWAIT never waits for the GPU and keeps the order.");
	igt_subtest("nowait")
		test_busy(fd, RADEON_GEM_RW_NOWAIT);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("UNSYNCHRONIZED writes at once.");
	igt_subtest("unsynchronized")
		test_busy(fd, RADEON_GEM_RW_UNSYNCHRONIZED);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("Writing makes no mappings.");
	igt_subtest("no-mappings")
		test_no_mappings(fd);

	igt_fixture()
		close(fd);
}
