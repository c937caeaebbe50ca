// SPDX-License-Identifier: MIT
/*
 * Tests that are the same for PREAD, PWRITE and TRANSFER: calls in each
 * placement of the BO, and with each kind of user memory.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "igt.h"
#include "igt_radeon_rw.h"

/**
 * igt_radeon_rw_test_placement:
 * @fd: device
 * @op: operation
 * @p: placement of the BO
 *
 * Transfers ranges of sizes around each power of four, and the whole BO.
 */
void igt_radeon_rw_test_placement(int fd, enum igt_radeon_op op,
				  const struct igt_radeon_placement *p)
{
	const uint64_t bo_size = (2 << 20) + 2 * PAGE;
	struct igt_radeon_bo bo;
	uint8_t *model;
	size_t size;

	igt_debug("%s\n", p->name);
	model = igt_radeon_bo_init_pattern(&bo, fd, bo_size, p, 1);
	for (size = 1; size <= 2 << 20; size *= 4) {
		igt_radeon_rw_range(op, &bo, model, PAGE - 1, size + 1, 1);
		igt_radeon_bo_assert(&bo, model, "from the end of a page");
		igt_radeon_rw_range(op, &bo, model, 0, size, 0);
		igt_radeon_rw_range(op, &bo, model, bo_size - size, size, 0);
		if (size > 1)
			igt_radeon_rw_range(op, &bo, model, PAGE + 3, size - 1,
					    2);
		igt_radeon_bo_assert(&bo, model, "both ends and unaligned");
	}
	igt_radeon_rw_range(op, &bo, model, 0, bo_size, 0);
	igt_radeon_bo_assert(&bo, model, "whole BO");
	igt_radeon_bo_fini(&bo);
	free(model);
}

static void test_gtt(int fd, enum igt_radeon_op op)
{
	const struct igt_radeon_placement *p;
	unsigned int i;

	for (i = 0; (p = igt_radeon_placement(fd, i)); i++)
		if (p->domain != RADEON_GEM_DOMAIN_VRAM)
			igt_radeon_rw_test_placement(fd, op, p);
}

static void test_invisible_vram(int fd, enum igt_radeon_op op)
{
	igt_radeon_require_invisible_vram(fd);
	igt_radeon_rw_test_placement(fd, op, igt_radeon_placement(fd,
						igt_radeon_reachable_count));
}

static void test_unaligned(int fd, enum igt_radeon_op op)
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
		model = igt_radeon_bo_init_pattern(&bo, fd, 4 * PAGE, p, i);
		map = igt_radeon_bo_map(&bo);
		for (j = 0; j < ARRAY_SIZE(edges) * ARRAY_SIZE(edges) * 4; j++) {
			k = j / 4 % ARRAY_SIZE(edges);
			align = j % 4;
			if (!edges[k])
				continue;
			igt_radeon_rw_range(op, &bo, model,
					    edges[j / 4 / ARRAY_SIZE(edges)],
					    edges[k], align);
			igt_assert_f(!memcmp(map, model, 4 * PAGE),
				     "%s, offset %u, size %u, user alignment %u\n",
				     p->name,
				     edges[j / 4 / ARRAY_SIZE(edges)], edges[k],
				     align);
		}
		munmap(map, 4 * PAGE);
		igt_radeon_bo_assert(&bo, model, "after all");
		igt_radeon_bo_fini(&bo);
		free(model);
	}
}

/* @away evicts a BO or swaps it out. Transfers part of it, then all. */
static void test_away(int fd, enum igt_radeon_op op,
		      const struct igt_radeon_placement *p, uint64_t size,
		      void (*away)(const struct igt_radeon_bo *bo))
{
	struct igt_radeon_bo bo;
	uint8_t *model;

	model = igt_radeon_bo_init_pattern(&bo, fd, size, p, 3);
	away(&bo);
	igt_radeon_rw_range(op, &bo, model, 12345, 3 * PAGE, 0);
	igt_radeon_bo_assert(&bo, model, "part of the BO");
	igt_radeon_rw_range(op, &bo, model, 0, size, 0);
	igt_radeon_bo_assert(&bo, model, "whole BO");
	igt_radeon_bo_fini(&bo);
	free(model);
}

/**
 * igt_radeon_rw_test_evicted:
 * @fd: device
 * @op: operation
 *
 * Calls for a BO that was evicted from VRAM.
 */
void igt_radeon_rw_test_evicted(int fd, enum igt_radeon_op op)
{
	test_away(fd, op, &igt_radeon_reachable[0], 4 << 20,
		  igt_radeon_require_evicted);
}

/**
 * igt_radeon_rw_test_swapped:
 * @fd: device
 * @op: operation
 *
 * Calls for a BO that was swapped out.
 */
void igt_radeon_rw_test_swapped(int fd, enum igt_radeon_op op)
{
	test_away(fd, op, &igt_radeon_reachable[1], 16 << 20,
		  igt_radeon_require_swapped);
}

static void self_copy(int fd, enum igt_radeon_op op,
		      const struct igt_radeon_placement *p)
{
	const uint64_t size = 64 * PAGE, part = 16 * PAGE + 123;
	const uint64_t unspecified = (igt_radeon_op_writes(op) ? 8 : 12) * PAGE;
	struct igt_radeon_bo bo, other;
	uint8_t *model, *other_model, *map;

	igt_debug("%s\n", p->name);
	model = igt_radeon_bo_init_pattern(&bo, fd, size, p, 5);
	other_model = igt_radeon_bo_init_pattern(&other, fd, size, p, 6);

	/* A mapping of another BO, with no page present. */
	map = igt_radeon_bo_map(&other);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 77, part,
				    map + PAGE + 5, 0), 0);
	igt_radeon_rw_apply(op, model + 77, other_model + PAGE + 5, part);
	igt_radeon_bo_assert(&bo, model, "BO");
	igt_radeon_bo_assert(&other, other_model, "other BO");
	munmap(map, size);

	/* Ranges of the same BO: apart, then identical, then overlapping. */
	map = igt_radeon_bo_map(&bo);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 3, part,
				    map + 32 * PAGE + 1, 0), 0);
	igt_radeon_rw_apply(op, model + 3, model + 32 * PAGE + 1, part);
	igt_radeon_bo_assert(&bo, model, "same BO, apart");
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, size, map, 0), 0);
	igt_radeon_bo_assert(&bo, model, "same BO, same range");
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 8 * PAGE, 8 * PAGE,
				    map + 12 * PAGE, 0), 0);
	/* Bytes in the overlap, or copied from it, are unspecified. */
	igt_radeon_bo_wait(&bo);
	memcpy(model + unspecified, map + unspecified, 8 * PAGE);
	igt_radeon_bo_assert(&bo, model, "same BO, overlapping");
	munmap(map, size);

	igt_radeon_bo_fini(&other);
	igt_radeon_bo_fini(&bo);
	free(other_model);
	free(model);
}

/**
 * igt_radeon_rw_test_self_copy:
 * @fd: device
 * @op: operation
 *
 * User memory is a mapping of a BO: of another one, not touched before, or of
 * the same one, with and without overlap.
 */
void igt_radeon_rw_test_self_copy(int fd, enum igt_radeon_op op)
{
	unsigned int i;

	igt_set_timeout(60, "copying to or from a mapping of a BO");
	for (i = 0; i < igt_radeon_reachable_count; i++)
		self_copy(fd, op, &igt_radeon_reachable[i]);
	igt_reset_timeout();
}

/**
 * igt_radeon_rw_test_after_gpu_write:
 * @fd: device
 * @op: operation
 *
 * Calls behind a queued GPU write, on each engine: a read returns the bytes of
 * the GPU, and the GPU does not overwrite those of a write.
 */
void igt_radeon_rw_test_after_gpu_write(int fd, enum igt_radeon_op op)
{
	static const struct {
		uint64_t offset;
		size_t size;
		unsigned int align;
	} ranges[] = {
		{ 0, 64 * PAGE, 0 }, { PAGE + 1, 6 * PAGE, 3 },
		{ PAGE + 123, 256, 0 },
	};
	const uint64_t size = 64 * PAGE;
	const struct igt_radeon_placement *p;
	enum igt_radeon_engine engine;
	struct igt_radeon_bo bo, src;
	uint8_t *model, *foreign;
	unsigned int i, j;

	for (engine = 0; engine < IGT_RADEON_ENGINES; engine++) {
		if (!igt_radeon_has_engine(fd, engine))
			continue;
		foreign = igt_radeon_bo_init_pattern(&src, fd, size,
						     &igt_radeon_reachable[1],
						     7);
		for (i = 0; (p = igt_radeon_placement(fd, i)); i++) {
			igt_debug("engine %d, %s\n", engine, p->name);
			model = igt_radeon_bo_init_pattern(&bo, fd, size, p, 8);
			for (j = 0; j < ARRAY_SIZE(ranges); j++) {
				igt_radeon_set_latency(fd, 20000);
				igt_radeon_copy(engine, &bo, PAGE, &src, 4 * j,
						size - 2 * PAGE);
				memcpy(model + PAGE, foreign + 4 * j,
				       size - 2 * PAGE);
				igt_radeon_rw_range(op, &bo, model,
						    ranges[j].offset,
						    ranges[j].size,
						    ranges[j].align);
				igt_radeon_set_latency(fd, 0);
				igt_radeon_bo_assert(&bo, model, "after both");
			}
			igt_radeon_bo_fini(&bo);
			free(model);
		}
		igt_radeon_bo_fini(&src);
		free(foreign);
	}
}

/**
 * igt_radeon_rw_test_no_mappings:
 * @fd: device
 * @op: operation
 *
 * Calls for many BOs leave no mapping of any of them, nor any other new mapping,
 * in the process.
 */
void igt_radeon_rw_test_no_mappings(int fd, enum igt_radeon_op op)
{
	enum { COUNT = 1000 };
	static struct igt_radeon_bo bos[COUNT];
	static uint8_t page[PAGE];
	unsigned int i, before, before_dri;

	/* A subtest that failed before may have left mappings. */
	before = igt_radeon_count_maps(NULL);
	before_dri = igt_radeon_count_maps("/dev/dri/");
	for (i = 0; i < COUNT; i++) {
		igt_radeon_bo_init(&bos[i], fd, PAGE,
				   i % 2 ? RADEON_GEM_DOMAIN_VRAM :
					   RADEON_GEM_DOMAIN_GTT, 0);
		memset(page, i, sizeof(page));
		igt_assert_eq(igt_radeon_rw(op, fd, bos[i].handle, 0, PAGE,
					    page, 0), 0);
	}
	igt_assert_eq(igt_radeon_count_maps("/dev/dri/"), before_dri);
	igt_assert_eq(igt_radeon_count_maps(NULL), before);
	for (i = 0; i < COUNT; i++) {
		memset(page, i, sizeof(page));
		if (igt_radeon_op_writes(op))
			igt_radeon_bo_assert(&bos[i], page, "one of many BOs");
		igt_radeon_bo_fini(&bos[i]);
	}
}

/* Up to the fault, each byte has its old or its new value. */
static void assert_either(const uint8_t *got, const uint8_t *old,
			  const uint8_t *new, size_t size, const char *what)
{
	size_t i;

	for (i = 0; i < size; i++)
		igt_assert_f(got[i] == old[i] || got[i] == new[i],
			     "%s: byte %zu before the fault changed to %#04x\n",
			     what, i, got[i]);
}

static void bad_pointer(int fd, enum igt_radeon_op op,
			const struct igt_radeon_placement *p, uint64_t size)
{
	static void * const bad[] = {
		NULL,
		(void *)0x10,
		(void *)0x0000800000000000,
		(void *)0xffff888000000000,
		(void *)-PAGE,
		(void *)-1,
	};
	const bool writes = igt_radeon_op_writes(op);
	const uint64_t half = size / 2;
	uint8_t *model, *mem, *old = igt_radeon_malloc(size);
	uint8_t *got = igt_radeon_malloc(size);
	struct igt_radeon_bo bo;
	unsigned int i;

	igt_debug("%s, %llu bytes\n", p->name, (unsigned long long)size);
	model = igt_radeon_bo_init_pattern(&bo, fd, size, p, 12);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, size, bad[i],
					    0), -EFAULT);
	igt_radeon_bo_assert(&bo, model, "after bad addresses");

	mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	igt_assert(mem != MAP_FAILED);
	igt_radeon_pattern(mem, size, 13);
	memcpy(old, mem, size);

	/* Read-only memory can be a source, but not a destination. */
	igt_assert_eq(mprotect(mem + half, PAGE, PROT_READ), 0);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, size, mem, 0),
		      writes ? 0 : -EFAULT);
	if (writes)
		memcpy(model, old, size);
	else
		assert_either(mem, old, model, half, p->name);
	igt_assert(!memcmp(mem + half, old + half, size - half));
	igt_radeon_bo_assert(&bo, model, "with read-only memory");

	/* No byte behind a hole is transferred; any byte before it may be. */
	igt_assert_eq(munmap(mem + half, PAGE), 0);
	igt_radeon_pattern(mem, half, 14);
	memcpy(old, mem, half);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, size, mem, 0),
		      -EFAULT);
	igt_assert(!memcmp(mem + half + PAGE, old + half + PAGE,
			   size - half - PAGE));
	igt_radeon_bo_read(&bo, got);
	igt_assert(!memcmp(got + half, model + half, size - half));
	if (writes) {
		assert_either(got, model, old, half, p->name);
		memcpy(model, got, half);
	} else {
		assert_either(mem, old, model, half, p->name);
		igt_assert(!memcmp(got, model, half));
	}

	/* A range that ends at the hole succeeds. */
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 5, half, mem, 0), 0);
	igt_radeon_rw_apply(op, model + 5, old, half);
	igt_assert(!memcmp(mem, old, half));
	igt_radeon_bo_assert(&bo, model, "after faults");

	munmap(mem, size);
	igt_radeon_bo_fini(&bo);
	free(model);
	free(old);
	free(got);
}

/**
 * igt_radeon_rw_test_bad_pointer:
 * @fd: device
 * @op: operation
 *
 * User memory that is missing, forbidden, or not in user space. The sizes of
 * the calls take different paths.
 */
void igt_radeon_rw_test_bad_pointer(int fd, enum igt_radeon_op op)
{
	static const uint64_t sizes[] = { 4 * PAGE, 64 * PAGE, 512 * PAGE };
	const struct igt_radeon_placement *p;
	unsigned int i, s;

	for (i = 0; (p = igt_radeon_placement(fd, i)); i++)
		for (s = 0; s < ARRAY_SIZE(sizes); s++)
			bad_pointer(fd, op, p, sizes[s]);
}

/**
 * igt_radeon_rw_subtests:
 * @fd: device
 * @op: operation
 *
 * Runs the tests above as subtests. To be called from igt_main.
 */
void igt_radeon_rw_subtests(int fd, enum igt_radeon_op op)
{
	igt_describe("Missing or forbidden user memory gives -EFAULT.");
	igt_subtest("bad-pointer")
		igt_radeon_rw_test_bad_pointer(fd, op);

	igt_describe("Calls of any alignment move just the requested bytes.");
	igt_subtest("unaligned")
		test_unaligned(fd, op);

	igt_describe("Ranges of all sizes in CPU-accessible VRAM.");
	igt_subtest("vram")
		igt_radeon_rw_test_placement(fd, op, &igt_radeon_reachable[0]);

	igt_describe("Ranges of all sizes in GTT and system memory.");
	igt_subtest("gtt")
		test_gtt(fd, op);

	igt_describe("Ranges of all sizes in CPU-inaccessible VRAM.");
	igt_subtest("invisible-vram")
		test_invisible_vram(fd, op);

	igt_describe("Calls for a BO that was evicted from VRAM.");
	igt_subtest("evicted")
		igt_radeon_rw_test_evicted(fd, op);

	igt_describe("Calls for a BO that was swapped out.");
	igt_subtest("swapped")
		igt_radeon_rw_test_swapped(fd, op);

	igt_describe("User memory may be a mapping of the same or another BO.");
	igt_subtest("self-copy")
		igt_radeon_rw_test_self_copy(fd, op);

	igt_describe("Calls are in order with GPU writes submitted before.");
	igt_subtest("after-gpu-write")
		igt_radeon_rw_test_after_gpu_write(fd, op);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("Calls leave no mappings in the process.");
	igt_subtest("no-mappings")
		igt_radeon_rw_test_no_mappings(fd, op);
}
