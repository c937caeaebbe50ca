// SPDX-License-Identifier: MIT
/*
 * DRM_RADEON_GEM_TRANSFER with bad arguments: each entry of the error list in
 * radeon_drm_rw.h, their order, and the regions that a call has transferred
 * before it ends with an error.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_args.h"

/**
 * TEST: radeon gem transfer errors
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: moving regions of buffer objects without mapping them
 * Description: Checks the errors of DRM_RADEON_GEM_TRANSFER for bad arguments,
 *              and the regions that it has transferred before them.
 */
IGT_TEST_DESCRIPTION("Checks transfers of regions with bad arguments.");

#define NOWHERE		0xffff888000000000ull	/* in kernel space */
#define BAD_FLAG	(1u << 31)
#define UPLOAD		RADEON_GEM_TRANSFER_WRITE
#define DOWNLOAD	0u
#define BO_SIZE		(4 * PAGE)

typedef struct drm_radeon_gem_transfer_region region_t;

static const uint32_t directions[] = { UPLOAD, DOWNLOAD };

static uint8_t mem[BO_SIZE];

/* Makes the call and checks both of its results. */
static void check(int line, int fd, const region_t *regions, uint32_t count,
		  uint32_t flags, uint32_t done_expected, int expected)
{
	uint32_t done;
	int ret = igt_radeon_transfer(fd, regions, count, flags, &done);

	igt_assert_f(ret == expected && done == done_expected,
		     "line %d, flags %#x: %d instead of %d, %u regions done instead of %u\n",
		     line, flags, ret, expected, done, done_expected);
}

#define CHECK(...) check(__LINE__, __VA_ARGS__)

static region_t good_region(const struct igt_radeon_bo *bo)
{
	return (region_t) {
		.handle = bo->handle,
		.user_ptr = (uintptr_t)mem,
		.row_bytes = 16,
		.rows = 1,
	};
}

/* A valid user address that must not be accessed. */
static uint8_t *make_hole(void)
{
	uint8_t *page = mmap(NULL, PAGE, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	igt_assert(page != MAP_FAILED);
	return page;
}

static void both(int fd, void (*test)(int fd, enum igt_radeon_op op))
{
	test(fd, IGT_RADEON_UPLOAD);
	test(fd, IGT_RADEON_DOWNLOAD);
}

/**
 * SUBTEST: bad-flags
 * Description: Each undefined flag of the call gives -EINVAL, alone and with
 *              defined flags, and no region is transferred.
 *
 * SUBTEST: bad-region-flags
 * Description: Each flag of a region gives -EINVAL, also of an empty region.
 *
 * SUBTEST: bad-pad
 * Description: Padding that is not zero gives -EINVAL.
 *
 * SUBTEST: too-many-regions
 * Description: A call transfers 65,536 regions; one of more gives -EINVAL.
 */
static void test_bad_flags(int fd)
{
	const uint32_t good = RADEON_GEM_RW_UNSYNCHRONIZED |
			      RADEON_GEM_RW_NOWAIT | UPLOAD;
	struct igt_radeon_bo bo;
	uint32_t flags;
	region_t r;
	int bit;

	igt_radeon_bo_init(&bo, fd, BO_SIZE, RADEON_GEM_DOMAIN_GTT, 0);
	r = good_region(&bo);
	for (flags = 0; flags <= good; flags++)
		CHECK(fd, &r, 1, flags, 1, 0);
	for (bit = 0; bit < 32; bit++) {
		flags = 1u << bit;
		if (flags & good)
			continue;
		CHECK(fd, &r, 1, flags, 0, -EINVAL);
		CHECK(fd, &r, 1, flags | good, 0, -EINVAL);
		CHECK(fd, &r, 0, flags, 0, -EINVAL);
	}
	CHECK(fd, &r, 1, UINT32_MAX, 0, -EINVAL);
	igt_radeon_bo_fini(&bo);
}

static void test_bad_region_flags(int fd)
{
	struct igt_radeon_bo bo;
	unsigned int d;
	region_t r;
	int bit;

	igt_radeon_bo_init(&bo, fd, BO_SIZE, RADEON_GEM_DOMAIN_GTT, 0);
	for (d = 0; d < ARRAY_SIZE(directions); d++) {
		for (bit = 0; bit < 32; bit++) {
			r = good_region(&bo);
			r.flags = 1u << bit;
			CHECK(fd, &r, 1, directions[d], 0, -EINVAL);
			r.rows = 0;
			CHECK(fd, &r, 1, directions[d], 0, -EINVAL);
			r.flags = 0;
			CHECK(fd, &r, 1, directions[d], 1, 0);
		}
	}
	igt_radeon_bo_fini(&bo);
}

static void test_bad_pad(int fd)
{
	struct drm_radeon_gem_transfer arg;
	struct igt_radeon_bo bo;
	unsigned int d;
	region_t r;
	int bit;

	igt_radeon_bo_init(&bo, fd, BO_SIZE, RADEON_GEM_DOMAIN_GTT, 0);
	r = good_region(&bo);
	for (d = 0; d < ARRAY_SIZE(directions); d++) {
		for (bit = 0; bit < 32; bit++) {
			arg = (struct drm_radeon_gem_transfer) {
				.regions_ptr = (uintptr_t)&r,
				.region_count = bit % 2,
				.flags = directions[d],
				.regions_done = 77,
				.pad = 1u << bit,
			};
			igt_assert(igt_ioctl(fd, DRM_IOCTL_RADEON_GEM_TRANSFER,
					    &arg) == -1 && errno == EINVAL);
			igt_assert_eq(arg.regions_done, 0);
		}
	}
	igt_radeon_bo_fini(&bo);
}

static void test_too_many_regions(int fd)
{
	const uint32_t max = RADEON_GEM_TRANSFER_MAX_REGIONS;
	struct igt_radeon_bo bo;
	region_t *regions;
	unsigned int d;
	uint32_t i;
	uint8_t *model;

	model = igt_radeon_bo_init_pattern(&bo, fd, BO_SIZE,
					   &igt_radeon_reachable[1], 1);
	regions = calloc(max + 1, sizeof(*regions));
	igt_assert(regions);
	igt_radeon_pattern(mem, sizeof(mem), 2);
	for (i = 0; i <= max; i++) {
		regions[i] = good_region(&bo);
		regions[i].bo_offset = i % BO_SIZE;
		regions[i].user_ptr += i % BO_SIZE;
		regions[i].row_bytes = 1;
	}
	for (d = 0; d < ARRAY_SIZE(directions); d++) {
		CHECK(fd, regions, max + 1, directions[d], 0, -EINVAL);
		CHECK(fd, regions, UINT32_MAX, directions[d], 0, -EINVAL);
	}
	igt_radeon_bo_assert(&bo, model, "after too many regions");
	CHECK(fd, regions, max, UPLOAD, max, 0);
	igt_radeon_bo_assert(&bo, mem, "after many regions");
	memset(mem, 0, sizeof(mem));
	CHECK(fd, regions, max, DOWNLOAD, max, 0);
	igt_radeon_bo_assert(&bo, mem, "after many regions, back");
	free(regions);
	igt_radeon_bo_fini(&bo);
	free(model);
}

/**
 * SUBTEST: bad-range
 * Description: A region that ends beyond the BO gives -EINVAL, also with
 *              numbers that overflow; one that ends with the last byte
 *              succeeds.
 */
static void test_bad_range(int fd)
{
	static const struct {
		uint64_t offset;
		uint32_t row_bytes, rows, bo_pitch;
		int expected;
	} ranges[] = {
		{ 0, 4096, 4, 4096, 0 },
		{ 0, 1, 4, 5461, 0 },		/* to the last byte */
		{ 1, 1, 4, 5461, -EINVAL },
		{ 0, 2, 4, 5461, -EINVAL },
		{ 0, 1, 5, 5461, -EINVAL },
		{ BO_SIZE - 48, 16, 3, 16, 0 },
		{ BO_SIZE - 47, 16, 3, 16, -EINVAL },
		{ BO_SIZE - 16, 16, 1, 4096, 0 },
		{ BO_SIZE - 16, 16, 2, 16, -EINVAL },
		{ BO_SIZE - 15, 16, 1, 0, -EINVAL },
		{ BO_SIZE, 1, 1, 0, -EINVAL },
		{ 0, BO_SIZE + 1, 1, 0, -EINVAL },
		{ 0, 1, 2, UINT32_MAX, -EINVAL },
		/* the low 32 bits of (rows - 1) * pitch are zero */
		{ 0, 1, 65537, 65536, -EINVAL },
		{ 0, 1, 3, 0x80000000, -EINVAL },
		{ 0, 16, 2, 0xfffffff0, -EINVAL },
		/* close to 2^64, and with the offset beyond it */
		{ 0, 1, UINT32_MAX, UINT32_MAX, -EINVAL },
		{ 0x1fffffffeull, 1, UINT32_MAX, UINT32_MAX, -EINVAL },
		{ 0x1ffffffffull, 1, UINT32_MAX, UINT32_MAX, -EINVAL },
		{ 0x200000000ull, 1, UINT32_MAX, UINT32_MAX, -EINVAL },
		{ UINT64_MAX, 1, 1, 0, -EINVAL },
		{ UINT64_MAX, 16, 1, 0, -EINVAL },
		{ UINT64_MAX - 15, 16, 1, 0, -EINVAL },
		{ UINT64_MAX - 15, 16, 2, 16, -EINVAL },
		{ UINT64_MAX - 4095, 4096, 2, 4096, -EINVAL },
		{ INT64_MAX, 16, 1, 0, -EINVAL },
		{ 1ull << 63, 16, 2, 16, -EINVAL },
		{ 1ull << 32, 16, 1, 0, -EINVAL },
		{ (1ull << 32) - 16, 16, 2, 16, -EINVAL },
	};
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo bo;
	unsigned int i, j, d;
	uint8_t *model;
	region_t r;
	uint32_t done;
	int ret;

	for (i = 0; (p = igt_radeon_placement(fd, i)); i++) {
		model = igt_radeon_bo_init_pattern(&bo, fd, BO_SIZE, p, 3);
		memcpy(mem, model, sizeof(mem));
		for (j = 0; j < ARRAY_SIZE(ranges) * 2; j++) {
			d = j % 2;
			r = good_region(&bo);
			r.bo_offset = ranges[j / 2].offset;
			r.row_bytes = ranges[j / 2].row_bytes;
			r.rows = ranges[j / 2].rows;
			r.bo_pitch = ranges[j / 2].bo_pitch;
			/* As small as possible: the range is in user space. */
			r.user_pitch = r.row_bytes;
			ret = igt_radeon_transfer(fd, &r, 1, directions[d],
						  &done);
			igt_assert_f(ret == ranges[j / 2].expected &&
				     done == !ret,
				     "%s: offset %#llx, row %#x, rows %#x, pitch %#x: %d instead of %d, %u regions done\n",
				     p->name, (unsigned long long)r.bo_offset,
				     r.row_bytes, r.rows, r.bo_pitch, ret,
				     ranges[j / 2].expected, done);
			if (ret)
				igt_radeon_bo_assert(&bo, model,
						     "after a bad range");
			else if (directions[d] == UPLOAD)
				igt_radeon_bo_fill(&bo, model);
			memcpy(mem, model, sizeof(mem));
		}
		igt_radeon_bo_fini(&bo);
		free(model);
	}
}

/**
 * SUBTEST: bad-pointer
 * Description: Arrays of regions, and user memory, that are missing, forbidden
 *              or not in user space give -EFAULT. Only rows before the fault
 *              change. Read-only memory can only be a source.
 */
static void test_bad_pointer(int fd, const struct igt_radeon_placement *p)
{
	static const uint64_t bad[] = {
		0, 16, 0x0000800000000000ull, NOWHERE, -(uint64_t)PAGE,
		UINT64_MAX,
	};
	struct igt_radeon_bo bo;
	uint8_t *model, *hole, *map;
	unsigned int i, j, d;
	region_t r, *array;

	model = igt_radeon_bo_init_pattern(&bo, fd, BO_SIZE, p, 4);
	hole = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	igt_assert(hole != MAP_FAILED);
	igt_assert_eq(mprotect(hole + PAGE, PAGE, PROT_NONE), 0);

	for (d = 0; d < ARRAY_SIZE(directions); d++) {
		for (i = 0; i < ARRAY_SIZE(bad); i++) {
			CHECK(fd, (region_t *)(uintptr_t)bad[i], 1,
			      directions[d], 0, -EFAULT);
			CHECK(fd, (region_t *)(uintptr_t)bad[i], 65536,
			      directions[d], 0, -EFAULT);
			r = good_region(&bo);
			r.user_ptr = bad[i];
			CHECK(fd, &r, 1, directions[d], 0, -EFAULT);
			r.rows = 7;
			r.bo_pitch = 100;
			r.user_pitch = 20;
			CHECK(fd, &r, 1, directions[d], 0, -EFAULT);
		}
		/* It is the pitch that takes the range out of user space. */
		r = good_region(&bo);
		r.row_bytes = 1;
		r.rows = UINT32_MAX;
		r.bo_pitch = 1;
		r.user_pitch = UINT32_MAX;
		CHECK(fd, &r, 1, directions[d], 0, -EFAULT);
		r.user_ptr = 0x1fffffffeull;
		CHECK(fd, &r, 1, directions[d], 0, -EFAULT);
		r.user_ptr = 0x200000000ull;
		CHECK(fd, &r, 1, directions[d], 0, -EFAULT);
	}
	igt_radeon_bo_assert(&bo, model, "after bad addresses");

	/* Of an array that ends in a hole, whole regions are transferred. */
	for (d = 0; d < ARRAY_SIZE(directions); d++) {
		for (i = 1; i < PAGE / sizeof(r); i += 11) {
			array = (region_t *)(hole + PAGE) - i;
			for (j = 0; j < i; j++) {
				array[j] = good_region(&bo);
				array[j].bo_offset = 16 * j;
				array[j].user_ptr += 16 * j;
			}
			igt_radeon_pattern(mem, sizeof(mem), 100 + i);
			if (directions[d] == UPLOAD)
				memcpy(model, mem, 16 * i);
			CHECK(fd, array, i + 1, directions[d], i, -EFAULT);
			igt_assert(!memcmp(mem, model, 16 * i));
			igt_radeon_bo_assert(&bo, model,
					     "array that ends in a hole");
		}
		/* A region that cannot be read whole is not. */
		array = (region_t *)(hole + PAGE - sizeof(r) / 2);
		CHECK(fd, array, 1, directions[d], 0, -EFAULT);
	}

	/* Rows that reach into a hole. */
	r = good_region(&bo);
	r.user_ptr = (uintptr_t)hole + PAGE - 300;
	r.rows = 4;
	r.row_bytes = 100;
	r.user_pitch = 200;
	r.bo_pitch = 1000;
	memset(hole, 0x11, PAGE);
	CHECK(fd, &r, 1, UPLOAD, 0, -EFAULT);
	igt_radeon_bo_wait(&bo);
	if (!(p->flags & RADEON_GEM_NO_CPU_ACCESS)) {
		map = igt_radeon_bo_map(&bo);
		for (i = 0; i < BO_SIZE; i++) {
			bool row = i / 1000 < 2 && i % 1000 < 100;

			igt_assert_f(map[i] == model[i] ||
				     (row && map[i] == 0x11),
				     "byte %u changed\n", i);
		}
		munmap(map, BO_SIZE);
	}
	igt_radeon_bo_fill(&bo, model);
	CHECK(fd, &r, 1, DOWNLOAD, 0, -EFAULT);
	for (i = 0; i < PAGE; i++) {
		int at = (int)i - (PAGE - 300);

		igt_assert_f(hole[i] == 0x11 ||
			     (at >= 0 && at % 200 < 100 &&
			      hole[i] == model[at / 200 * 1000 + at % 200]),
			     "byte %u of user memory changed\n", i);
	}

	/* Read-only memory. */
	igt_radeon_pattern(hole, PAGE, 5);
	igt_assert_eq(mprotect(hole, PAGE, PROT_READ), 0);
	r = good_region(&bo);
	r.user_ptr = (uintptr_t)hole;
	CHECK(fd, &r, 1, DOWNLOAD, 0, -EFAULT);
	CHECK(fd, &r, 1, UPLOAD, 1, 0);
	memcpy(model, hole, 16);
	igt_radeon_bo_assert(&bo, model, "from read-only memory");

	munmap(hole, 3 * PAGE);
	igt_radeon_bo_fini(&bo);
	free(model);
}

static void test_bad_pointers(int fd)
{
	const struct igt_radeon_placement *p;
	unsigned int i;

	for (i = 0; (p = igt_radeon_placement(fd, i)); i++)
		test_bad_pointer(fd, p);
}

/**
 * SUBTEST: error-order
 * Description: A call or region with several errors returns the first of them
 *              in the documented order. Of several regions with errors, that
 *              of the first region is returned.
 */
static void test_error_order(int fd)
{
	const region_t *nowhere = (region_t *)NOWHERE;
	uint8_t *hole = make_hole(), *own;
	struct igt_radeon_bo bo, userptr = { .fd = fd };
	unsigned int d;
	region_t r[2];
	uint32_t dir;

	/* A single region has the same order of errors as PREAD and PWRITE. */
	both(fd, igt_radeon_args_error_order);

	own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	igt_assert(own != MAP_FAILED);
	igt_radeon_bo_init(&bo, fd, BO_SIZE, RADEON_GEM_DOMAIN_GTT, 0);
	for (d = 0; d < ARRAY_SIZE(directions); d++) {
		dir = directions[d];
		CHECK(fd, nowhere, UINT32_MAX, dir | BAD_FLAG, 0, -EINVAL);
		CHECK(fd, nowhere, 0, dir | BAD_FLAG, 0, -EINVAL);
		CHECK(fd, nowhere, UINT32_MAX, dir, 0, -EINVAL);
		CHECK(fd, nowhere, 0, dir, 0, 0);
		CHECK(fd, nowhere, 1, dir, 0, -EFAULT);

		r[0] = (region_t) {
			.handle = UINT32_MAX,
			.flags = 1,
			.bo_offset = UINT64_MAX,
			.user_ptr = NOWHERE,
			.row_bytes = 16,
		};
		CHECK(fd, r, 1, dir, 0, -EINVAL);
		r[0].flags = 0;
		CHECK(fd, r, 1, dir, 1, 0);
		r[0].rows = 1;
		CHECK(fd, r, 1, dir, 0, -EFAULT);
		r[0].user_ptr = (uintptr_t)hole;
		CHECK(fd, r, 1, dir, 0, -ENOENT);
		r[0].handle = bo.handle;
		CHECK(fd, r, 1, dir, 0, -EINVAL);
		if (!igt_radeon_userptr(fd, own, PAGE, &userptr.handle)) {
			r[0].handle = userptr.handle;
			CHECK(fd, r, 1, dir, 0, -EINVAL);
			r[0].bo_offset = 0;
			CHECK(fd, r, 1, dir, 0, -EPERM);
			igt_radeon_bo_fini(&userptr);
		}
		r[0].handle = bo.handle;
		r[0].bo_offset = 0;
		CHECK(fd, r, 1, dir, 0, -EFAULT);

		/* The earlier region's error wins, even a late one. */
		r[1] = good_region(&bo);
		r[1].flags = 1;
		CHECK(fd, r, 2, dir, 0, -EFAULT);
		r[0].bo_offset = BO_SIZE;
		r[1].flags = 0;
		r[1].handle = UINT32_MAX;
		CHECK(fd, r, 2, dir, 0, -EINVAL);
		r[0] = good_region(&bo);
		CHECK(fd, r, 2, dir, 1, -ENOENT);
		r[1].user_ptr = NOWHERE;
		CHECK(fd, r, 2, dir, 1, -EFAULT);
		r[1].flags = 1;
		CHECK(fd, r, 2, dir, 1, -EINVAL);
	}
	munmap(own, PAGE);
	munmap(hole, PAGE);
	igt_radeon_bo_fini(&bo);
}

/**
 * SUBTEST: regions-done
 * Description: A region with an error of any kind, anywhere in the array, ends
 *              the call. regions_done is exact: the regions before it are
 *              transferred, that one and later ones are not.
 */
enum { MANY = 130, SLOT = 40 };

static int spoil(region_t *r, unsigned int kind, const uint8_t *hole)
{
	switch (kind) {
	case 0:
		r->flags = 4;
		return -EINVAL;
	case 1:
		r->rows = 2;
		r->bo_pitch = 64;
		r->user_pitch = r->row_bytes - 1;
		return -EINVAL;
	case 2:
		r->user_ptr = NOWHERE;
		return -EFAULT;
	case 3:
		r->handle = UINT32_MAX;
		return -ENOENT;
	case 4:
		r->bo_offset = BO_SIZE - r->row_bytes + 1;
		return -EINVAL;
	case 5:
		r->user_ptr = (uintptr_t)hole;
		return -EFAULT;
	default:
		return 0;
	}
}

static void test_regions_done(int fd, const struct igt_radeon_placement *p,
			      uint32_t dir, bool alternate, uint8_t *hole)
{
	static const unsigned int places[] = {
		0, 1, 2, 63, 64, 65, 127, 128, 129,
	};
	static region_t regions[MANY];
	static uint8_t shadow[sizeof(mem)];
	struct igt_radeon_bo bo[2];
	uint8_t *model[2];
	unsigned int i, j, kind, b, at;
	int expected;

	model[0] = igt_radeon_bo_init_pattern(&bo[0], fd, BO_SIZE, p, 6);
	model[1] = igt_radeon_bo_init_pattern(&bo[1], fd, BO_SIZE, p, 7);
	for (i = 0; i < ARRAY_SIZE(places) * 6; i++) {
		at = places[i / 6];
		kind = i % 6;
		igt_radeon_pattern(mem, sizeof(mem), 200 + i);
		memcpy(shadow, mem, sizeof(mem));
		for (j = 0; j < MANY; j++) {
			b = alternate && j % 3 == 1;
			regions[j] = good_region(&bo[b]);
			regions[j].bo_offset = SLOT * j + 1;
			regions[j].user_ptr += SLOT * j + 2;
			if (j >= at)
				continue;
			if (dir == UPLOAD)
				memcpy(model[b] + SLOT * j + 1,
				       mem + SLOT * j + 2, 16);
			else
				memcpy(shadow + SLOT * j + 2,
				       model[b] + SLOT * j + 1, 16);
		}
		expected = spoil(&regions[at], kind, hole);
		CHECK(fd, regions, MANY, dir, at, expected);
		for (b = 0; b < 2; b++)
			igt_radeon_bo_assert(&bo[b], model[b],
					     "after an error in the middle");
		igt_assert_f(!memcmp(mem, shadow, sizeof(mem)),
			     "%s: error %u at region %u: user memory differs\n",
			     p->name, kind, at);
	}
	for (b = 0; b < 2; b++) {
		igt_radeon_bo_fini(&bo[b]);
		free(model[b]);
	}
}

static void test_regions_done_all(int fd)
{
	const struct igt_radeon_placement *p;
	uint8_t *hole = make_hole();
	unsigned int i, j;

	for (i = 0; (p = igt_radeon_placement(fd, i)); i++)
		for (j = 0; j < 4; j++)
			test_regions_done(fd, p, directions[j / 2], j % 2,
					  hole);
	munmap(hole, PAGE);
}

/**
 * SUBTEST: bad-handle
 * Description: A handle that was never created, is closed, or belongs to
 *              another file gives -ENOENT.
 *
 * SUBTEST: bad-single-range
 * Description: The range of a single row is checked as that of a PREAD or
 *              PWRITE.
 *
 * SUBTEST: bad-single-pointer
 * Description: The user memory of a single row is checked as that of a PREAD
 *              or PWRITE, on every path.
 *
 * SUBTEST: userptr
 * Description: A BO made from user memory gives -EPERM if the range is valid.
 *
 * SUBTEST: imported
 * Description: A BO imported from another device gives -EOPNOTSUPP if the range
 *              is valid.
 *
 * SUBTEST: permissions
 * Description: A file of a render node may make the call; a file of a primary
 *              node only if it is authenticated.
 */
int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER);
	}

	igt_describe("An undefined flag gives -EINVAL.");
	igt_subtest("bad-flags")
		test_bad_flags(fd);

	igt_describe("A flag of a region gives -EINVAL.");
	igt_subtest("bad-region-flags")
		test_bad_region_flags(fd);

	igt_describe("Padding that is not zero gives -EINVAL.");
	igt_subtest("bad-pad")
		test_bad_pad(fd);

	igt_describe("A call takes 65,536 regions and no more.");
	igt_subtest("too-many-regions")
		test_too_many_regions(fd);

	igt_describe("A handle that this file does not have gives -ENOENT.");
	igt_subtest("bad-handle")
		both(fd, igt_radeon_args_bad_handle);

	igt_describe("Rows that end beyond the BO give -EINVAL.");
	igt_subtest("bad-range")
		test_bad_range(fd);

	igt_describe("A single row that ends beyond the BO gives -EINVAL.");
	igt_subtest("bad-single-range")
		both(fd, igt_radeon_args_bad_range);

	igt_describe("Missing or forbidden memory gives -EFAULT.");
	igt_subtest("bad-pointer")
		test_bad_pointers(fd);

	igt_describe("The same for one region, on every path.");
	igt_subtest("bad-single-pointer")
		both(fd, igt_radeon_rw_test_bad_pointer);

	igt_describe("A BO made from user memory gives -EPERM.");
	igt_subtest("userptr")
		both(fd, igt_radeon_args_userptr);

	igt_describe("A BO imported from another device gives -EOPNOTSUPP.");
	igt_subtest("imported")
		both(fd, igt_radeon_args_imported);

	igt_describe("The first error in the documented order is returned.");
	igt_subtest("error-order")
		test_error_order(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("Exactly the regions before an error are transferred.");
	igt_subtest("regions-done")
		test_regions_done_all(fd);

	igt_describe("Primary nodes need authentication, render nodes do not.");
	igt_subtest("permissions")
		both(fd, igt_radeon_args_permissions);

	igt_fixture()
		close(fd);
}
