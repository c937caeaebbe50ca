// SPDX-License-Identifier: MIT
/*
 * DRM_RADEON_GEM_PREAD: bytes of a BO copied to user memory by a system call.
 * BOs are filled through mappings or by the GPU, never by PWRITE, so that the
 * two ioctls cannot hide each other's faults.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
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

#define PAGE		4096u
#define GUARD		64u
#define GUARD_BYTE	0xa5
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

/* Reads a range and checks it, and the bytes around it in user memory. */
static void check_range(const struct igt_radeon_bo *bo, const uint8_t *model,
			uint64_t offset, size_t size, unsigned int align)
{
	uint8_t *mem = xmalloc(size + align + 2 * GUARD);
	uint8_t *dst = mem + GUARD + align;
	size_t i;

	memset(mem, GUARD_BYTE, size + align + 2 * GUARD);
	igt_assert_eq(igt_radeon_pread(bo->fd, bo->handle, offset, size, dst,
				       0), 0);
	igt_assert_f(!memcmp(dst, model + offset, size),
		     "wrong bytes: offset %llu, size %zu, user alignment %u\n",
		     (unsigned long long)offset, size, align);
	for (i = 0; i < GUARD; i++) {
		igt_assert_f(dst[-1 - (ssize_t)i] == GUARD_BYTE &&
			     dst[size + i] == GUARD_BYTE,
			     "bytes around the destination changed: offset %llu, size %zu, user alignment %u\n",
			     (unsigned long long)offset, size, align);
	}
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
		check_range(&bo, model, 0, size, 0);
		check_range(&bo, model, bo_size - size, size, 0);
		check_range(&bo, model, PAGE - 1, size + 1, 1);
		if (size > 1)
			check_range(&bo, model, PAGE + 3, size - 1, 2);
	}
	check_range(&bo, model, 0, bo_size, 0);
	igt_radeon_bo_assert(&bo, model, "BO after reading");
	igt_radeon_bo_fini(&bo);
	free(model);
}

/**
 * SUBTEST: basic
 * Description: Reading gives what was written through a mapping, and a fresh
 *              BO in GTT reads as zeros.
 */
static void test_basic(int fd)
{
	static const uint8_t zeros[4 * PAGE];
	struct igt_radeon_bo bo;
	uint8_t *model;

	igt_radeon_bo_init(&bo, fd, sizeof(zeros), RADEON_GEM_DOMAIN_GTT, 0);
	check_range(&bo, zeros, 0, sizeof(zeros), 0);
	igt_radeon_bo_fini(&bo);

	model = make_bo(&bo, fd, 4 * PAGE, RADEON_GEM_DOMAIN_GTT, 0, 2);
	check_range(&bo, model, 0, 4 * PAGE, 0);
	igt_radeon_bo_fini(&bo);
	free(model);
}

/**
 * SUBTEST: unaligned
 * Description: Offsets, sizes and user addresses of any alignment give exactly
 *              the bytes asked for, and touch none beside them.
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
	uint8_t *model;

	for (i = 0; i < igt_radeon_reachable_count; i++) {
		p = &igt_radeon_reachable[i];
		igt_debug("%s\n", p->name);
		model = make_bo(&bo, fd, 4 * PAGE, p->domain, p->flags, i);
		for (j = 0; j < ARRAY_LEN(edges); j++)
			for (k = 1; k < ARRAY_LEN(edges); k++)
				for (align = 0; align < 4; align++)
					check_range(&bo, model, edges[j],
						    edges[k], align);
		igt_radeon_bo_fini(&bo);
		free(model);
	}
}

/**
 * SUBTEST: vram
 * Description: Ranges of all sizes are read right from VRAM that the CPU
 *              reaches.
 *
 * SUBTEST: gtt
 * Description: Ranges of all sizes are read right from GTT of every caching
 *              mode, and from system memory.
 *
 * SUBTEST: invisible-vram
 * Description: Ranges of all sizes are read right from VRAM beyond the CPU's
 *              aperture, filled there by the GPU.
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
 * Description: A BO in VRAM that was evicted since it was filled is read
 *              right from where it is now.
 *
 * SUBTEST: swapped
 * Description: A BO in GTT that was swapped out since it was filled is brought
 *              back and read right.
 */
static void test_evicted(int fd)
{
	const uint64_t size = 4 << 20;
	struct igt_radeon_bo bo;
	uint8_t *model;

	model = make_bo(&bo, fd, size, RADEON_GEM_DOMAIN_VRAM,
			RADEON_GEM_CPU_ACCESS, 3);
	igt_radeon_require_evicted(&bo);
	check_range(&bo, model, 0, size, 0);
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
	check_range(&bo, model, 12345, 3 * PAGE, 0);
	check_range(&bo, model, 0, size, 0);
	igt_radeon_bo_fini(&bo);
	free(model);
}

/**
 * SUBTEST: self-copy
 * Description: The destination may be a mapping of a BO: of another one, or of
 *              the same one with or without overlap, never touched before or
 *              not. Nothing beside the destination changes.
 */
static void test_self_copy(int fd)
{
	const uint64_t size = 64 * PAGE, part = 16 * PAGE + 123;
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo bo, other;
	uint8_t *model, *other_model, *map;
	unsigned int i;

	igt_set_timeout(60, "reading into a mapping of a BO");
	for (i = 0; i < igt_radeon_reachable_count; i++) {
		p = &igt_radeon_reachable[i];
		igt_debug("%s\n", p->name);
		model = make_bo(&bo, fd, size, p->domain, p->flags, 5);
		other_model = make_bo(&other, fd, size, p->domain, p->flags, 6);

		/* Another BO, by a mapping with no page present. */
		map = igt_radeon_bo_map(&other);
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, 77, part,
					       map + PAGE + 5, 0), 0);
		memcpy(other_model + PAGE + 5, model + 77, part);
		igt_radeon_bo_assert(&other, other_model, "other BO");
		munmap(map, size);

		/* The same BO: apart, then onto itself, then overlapping. */
		map = igt_radeon_bo_map(&bo);
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, 3, part,
					       map + 32 * PAGE + 1, 0), 0);
		memcpy(model + 32 * PAGE + 1, model + 3, part);
		igt_radeon_bo_assert(&bo, model, "same BO, apart");
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, 0, size, map, 0),
			      0);
		igt_radeon_bo_assert(&bo, model, "same BO, same range");
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, 8 * PAGE,
					       8 * PAGE, map + 12 * PAGE, 0),
			      0);
		/* What lies in the overlap, or comes from it, is unspecified. */
		memcpy(model + 16 * PAGE, map + 16 * PAGE, 4 * PAGE);
		memcpy(model + 12 * PAGE, map + 12 * PAGE, 4 * PAGE);
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
 * Description: Bytes that engines were told to write before the call are what
 *              it returns, however late the engines get to it.
 *
 * SUBTEST: before-gpu-read
 * Description: While the GPU only reads a BO that the CPU reaches, a read with
 *              NOWAIT succeeds; and the GPU still reads the same bytes.
 */
static void test_after_gpu_write(int fd)
{
	const uint64_t size = 64 * PAGE;
	const struct igt_radeon_placement *p;
	enum igt_radeon_engine engine;
	struct igt_radeon_bo bo, src;
	uint8_t *old, *model;
	unsigned int i;

	for (engine = 0; engine < IGT_RADEON_ENGINES; engine++) {
		if (!igt_radeon_has_engine(fd, engine))
			continue;
		model = make_bo(&src, fd, size, RADEON_GEM_DOMAIN_GTT, 0, 7);
		for (i = 0; i < igt_radeon_reachable_count; i++) {
			p = &igt_radeon_reachable[i];
			igt_debug("engine %d, %s\n", engine, p->name);
			old = make_bo(&bo, fd, size, p->domain, p->flags, 8);
			memcpy(old + PAGE, model + 4, size - 2 * PAGE);
			igt_radeon_set_latency(fd, 20000);
			igt_radeon_copy(engine, &bo, PAGE, &src, 4,
					size - 2 * PAGE);
			check_range(&bo, old, 0, size, 0);
			igt_radeon_set_latency(fd, 0);
			igt_radeon_bo_fini(&bo);
			free(old);
		}
		igt_radeon_bo_fini(&src);
		free(model);
	}
}

static void test_before_gpu_read(int fd)
{
	const uint64_t size = 16 * PAGE;
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo bo, dst;
	uint8_t *model, *got = xmalloc(size);
	unsigned int i;

	for (i = 0; i < igt_radeon_reachable_count; i++) {
		p = &igt_radeon_reachable[i];
		igt_debug("%s\n", p->name);
		model = make_bo(&bo, fd, size, p->domain, p->flags, 9);
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
 * SUBTEST: nowait
 * Description: With NOWAIT a read of a BO that the GPU is going to write gives
 *              -EBUSY, and works as soon as the GPU is done.
 *
 * SUBTEST: unsynchronized
 * Description: With UNSYNCHRONIZED a read of a BO that the GPU is going to
 *              write returns at once with the bytes of now.
 */
static void test_busy(int fd, uint32_t flags)
{
	const uint64_t size = 4 * PAGE;
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo bo, src;
	uint8_t *old, *model, *got = xmalloc(size);
	unsigned int i;
	int ret;

	igt_radeon_require_board(fd);
	model = make_bo(&src, fd, size, RADEON_GEM_DOMAIN_GTT, 0, 10);
	for (i = 0; i < igt_radeon_reachable_count; i++) {
		p = &igt_radeon_reachable[i];
		igt_debug("%s\n", p->name);
		old = make_bo(&bo, fd, size, p->domain, p->flags, 11);
		igt_radeon_set_latency(fd, HOLD_US);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &bo, 0, &src, 0, size);
		ret = igt_radeon_pread(fd, bo.handle, 0, size, got, flags);
		igt_assert_f(igt_radeon_bo_busy(&bo), "the read waited\n");
		igt_radeon_set_latency(fd, 0);
		if (flags & RADEON_GEM_RW_NOWAIT) {
			igt_assert_eq(ret, -EBUSY);
		} else {
			igt_assert_eq(ret, 0);
			igt_assert(!memcmp(got, old, size));
		}
		igt_radeon_bo_wait(&bo);
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, 0, size, got,
					       flags), 0);
		igt_assert(!memcmp(got, model, size));
		igt_radeon_bo_fini(&bo);
		free(old);
	}
	igt_radeon_bo_fini(&src);
	free(model);
	free(got);
}

/**
 * SUBTEST: no-mappings
 * Description: Reading many BOs leaves no mapping of any of them, nor any
 *              other new mapping, in the process.
 */
static void test_no_mappings(int fd)
{
	enum { COUNT = 1000 };
	static struct igt_radeon_bo bos[COUNT];
	static uint8_t page[PAGE];
	unsigned int i, before, before_dri;

	for (i = 0; i < COUNT; i++)
		igt_radeon_bo_init(&bos[i], fd, PAGE,
				   i % 2 ? RADEON_GEM_DOMAIN_VRAM :
					   RADEON_GEM_DOMAIN_GTT, 0);
	/* A subtest that failed before may have left some. */
	before = igt_radeon_count_maps(NULL);
	before_dri = igt_radeon_count_maps("/dev/dri/");
	for (i = 0; i < COUNT; i++)
		igt_assert_eq(igt_radeon_pread(fd, bos[i].handle, 0, PAGE,
					       page, 0), 0);
	igt_assert_eq(igt_radeon_count_maps("/dev/dri/"), before_dri);
	igt_assert_eq(igt_radeon_count_maps(NULL), before);
	for (i = 0; i < COUNT; i++)
		igt_radeon_bo_fini(&bos[i]);
}

/**
 * SUBTEST: bad-pointer
 * Description: User memory that is missing, not writable, or not user space
 *              gives -EFAULT; nothing behind the fault is written.
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
	uint8_t *model, *mem;
	unsigned int i, d;

	for (d = 0; d < igt_radeon_reachable_count; d++) {
		model = make_bo(&bo, fd, size, igt_radeon_reachable[d].domain,
				igt_radeon_reachable[d].flags, 12);
		for (i = 0; i < ARRAY_LEN(bad); i++)
			igt_assert_eq(igt_radeon_pread(fd, bo.handle, 0, size,
						       bad[i], 0), -EFAULT);

		mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		igt_assert(mem != MAP_FAILED);
		memset(mem, GUARD_BYTE, size);
		igt_assert_eq(mprotect(mem + 2 * PAGE, PAGE, PROT_READ), 0);
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, 0, size, mem, 0),
			      -EFAULT);
		for (i = 2 * PAGE; i < size; i++)
			igt_assert_eq(mem[i], GUARD_BYTE);
		igt_assert_eq(munmap(mem + 2 * PAGE, PAGE), 0);
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, 0, size, mem, 0),
			      -EFAULT);
		for (i = 3 * PAGE; i < size; i++)
			igt_assert_eq(mem[i], GUARD_BYTE);
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, 5, 2 * PAGE, mem,
					       0), 0);
		igt_assert(!memcmp(mem, model + 5, 2 * PAGE));
		munmap(mem, size);

		igt_radeon_bo_assert(&bo, model, "BO after faults");
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

	igt_describe("Handles that are not this file's are -ENOENT.");
	igt_subtest("bad-handle")
		igt_radeon_args_bad_handle(fd, igt_radeon_pread);

	igt_describe("Ranges beyond the BO are -EINVAL.");
	igt_subtest("bad-range")
		igt_radeon_args_bad_range(fd, igt_radeon_pread);

	igt_describe("Undefined flags are -EINVAL.");
	igt_subtest("bad-flags")
		igt_radeon_args_bad_flags(fd, igt_radeon_pread);

	igt_describe("No bytes: nothing else is looked at.");
	igt_subtest("zero-size")
		igt_radeon_args_zero_size(fd, igt_radeon_pread);

	igt_describe("BOs made from user memory are -EPERM.");
	igt_subtest("userptr")
		igt_radeon_args_userptr(fd, igt_radeon_pread);

	igt_describe("BOs imported from another device are -EOPNOTSUPP.");
	igt_subtest("imported")
		igt_radeon_args_imported(fd, igt_radeon_pread);

	igt_describe("The first error of the documented order wins.");
	igt_subtest("error-order")
		igt_radeon_args_error_order(fd, igt_radeon_pread);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("Primary nodes need authentication, render nodes do not.");
	igt_subtest("permissions")
		igt_radeon_args_permissions(fd, igt_radeon_pread);

	igt_describe("Missing and forbidden user memory is -EFAULT.");
	igt_subtest("bad-pointer")
		test_bad_pointer(fd);

	igt_describe("Any alignment reads exactly the bytes asked for.");
	igt_subtest("unaligned")
		test_unaligned(fd);

	igt_describe("VRAM that the CPU reaches is read right.");
	igt_subtest("vram")
		test_placement(fd, RADEON_GEM_DOMAIN_VRAM,
			       RADEON_GEM_CPU_ACCESS);

	igt_describe("GTT of all caching modes and system memory read right.");
	igt_subtest("gtt")
		test_gtt(fd);

	igt_describe("VRAM beyond the CPU's aperture is read right.");
	igt_subtest("invisible-vram") {
		igt_radeon_require_invisible_vram(fd);
		test_placement(fd, RADEON_GEM_DOMAIN_VRAM,
			       RADEON_GEM_NO_CPU_ACCESS);
	}

	igt_describe("An evicted BO is read right.");
	igt_subtest("evicted")
		test_evicted(fd);

	igt_describe("A BO that was swapped out is read right.");
	igt_subtest("swapped")
		test_swapped(fd);

	igt_describe("Mappings of BOs, even of the same one, are user memory.");
	igt_subtest("self-copy")
		test_self_copy(fd);

	igt_describe("GPU writes submitted before a read are in what it returns.");
	igt_subtest("after-gpu-write")
		test_after_gpu_write(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("A read does not wait for GPU reads, nor disturb them.");
	igt_subtest("before-gpu-read")
		test_before_gpu_read(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("NOWAIT returns -EBUSY rather than wait for a GPU write.");
	igt_subtest("nowait")
		test_busy(fd, RADEON_GEM_RW_NOWAIT);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("UNSYNCHRONIZED never waits for the GPU.");
	igt_subtest("unsynchronized")
		test_busy(fd, RADEON_GEM_RW_UNSYNCHRONIZED);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("Reading makes no mappings.");
	igt_subtest("no-mappings")
		test_no_mappings(fd);

	igt_fixture()
		close(fd);
}
