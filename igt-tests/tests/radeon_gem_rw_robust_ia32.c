// SPDX-License-Identifier: MIT
/*
 * PREAD, PWRITE and TRANSFER as 32-bit processes call them. This is a 64-bit
 * program, but "int $0x80" enters the kernel by the 32-bit system call table,
 * and so by the compat ioctl. Such calls need memory below 4 GiB.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw robust ia32
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, 32-bit processes
 * Description: Checks that the three ioctls do the same for 32-bit processes as
 *              for 64-bit processes.
 */
IGT_TEST_DESCRIPTION("Checks reads and writes of radeon BOs by 32-bit processes.");

#define MEM_SIZE	(4u << 20)
#define LATENCY_US	200000u

/* System calls of the 32-bit table (asm/unistd_32.h) */
#define IA32_GETPID	20
#define IA32_IOCTL	54

/*
 * Memory below 4 GiB that the kernel reads and writes. A 32-bit compiler gives
 * these structs the same layout.
 */
struct low {
	union {
		struct drm_radeon_gem_pread pread;
		struct drm_radeon_gem_pwrite pwrite;
		struct drm_radeon_gem_transfer transfer;
	} arg;
	struct drm_radeon_gem_transfer_region regions[4];
	uint8_t mem[MEM_SIZE];
};

static struct low *low;

_Static_assert(sizeof(struct drm_radeon_gem_pread) == 32 &&
	       sizeof(struct drm_radeon_gem_pwrite) == 32 &&
	       sizeof(struct drm_radeon_gem_transfer) == 24 &&
	       sizeof(struct drm_radeon_gem_transfer_region) == 40,
	       "32- and 64-bit processes do not agree");

#ifdef __x86_64__
/* Returns the result of the system call, or a negative errno. */
static long ia32_syscall(uint32_t nr, uint32_t a, uint32_t b, uint32_t c)
{
	long ret = nr;

	/* This entry does not preserve r8 to r11. */
	__asm__ volatile("int $0x80"
			 : "+a" (ret)
			 : "b" ((uint64_t)a), "c" ((uint64_t)b),
			   "d" ((uint64_t)c)
			 : "memory", "cc", "r8", "r9", "r10", "r11");
	return (int)ret;
}
#endif

static int ioctl32(int fd, unsigned long request)
{
#ifdef __x86_64__
	int ret;

	do {
		ret = ia32_syscall(IA32_IOCTL, fd, request,
				   (uintptr_t)&low->arg);
	} while (ret == -EINTR || ret == -EAGAIN);
	return ret;
#else
	(void)fd;
	(void)request;
	return -ENOSYS;
#endif
}

/* For a child: without the 32-bit entry, this is a general protection fault. */
static int probe_main(void *data)
{
	(void)data;
#ifdef __x86_64__
	return ia32_syscall(IA32_GETPID, 0, 0, 0) == getpid() ? 0 : 1;
#else
	return 1;
#endif
}

static void require_ia32(void)
{
	igt_require_f(igt_radeon_reap(igt_radeon_spawn(probe_main, NULL), 10) ==
		      0, "no 32-bit system calls on this kernel\n");
#ifdef __x86_64__
	low = mmap(NULL, sizeof(*low), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
#else
	low = MAP_FAILED;
#endif
	igt_require_f(low != MAP_FAILED, "no memory below 4 GiB\n");
}

static int pread32(int fd, uint32_t handle, uint64_t offset, uint64_t size,
		   uint64_t ptr, uint32_t flags)
{
	low->arg.pread = (struct drm_radeon_gem_pread) {
		.handle = handle,
		.pad = flags,
		.offset = offset,
		.size = size,
		.data_ptr = ptr,
	};
	return ioctl32(fd, DRM_IOCTL_RADEON_GEM_PREAD);
}

static int pwrite32(int fd, uint32_t handle, uint64_t offset, uint64_t size,
		    uint64_t ptr, uint32_t flags)
{
	low->arg.pwrite = (struct drm_radeon_gem_pwrite) {
		.handle = handle,
		.pad = flags,
		.offset = offset,
		.size = size,
		.data_ptr = ptr,
	};
	return ioctl32(fd, DRM_IOCTL_RADEON_GEM_PWRITE);
}

static int transfer32(int fd, uint64_t regions, uint32_t count, uint32_t flags,
		      uint32_t *done)
{
	int ret;

	low->arg.transfer = (struct drm_radeon_gem_transfer) {
		.regions_ptr = regions,
		.region_count = count,
		.flags = flags,
		.regions_done = 0,
	};
	ret = ioctl32(fd, DRM_IOCTL_RADEON_GEM_TRANSFER);
	*done = low->arg.transfer.regions_done;
	return ret;
}

/* Makes the call of a trial by the 32-bit entry. */
static int call32(const struct igt_radeon_call *call)
{
	uint64_t ptr = (uintptr_t)call->mem;
	uint32_t done;
	int ret;

	switch (call->op) {
	case IGT_RADEON_PREAD:
		return pread32(call->fd, call->handle, call->offset, call->size,
			       ptr, 0);
	case IGT_RADEON_PWRITE:
		return pwrite32(call->fd, call->handle, call->offset,
				call->size, ptr, 0);
	default:
		break;
	}
	low->regions[0] = (struct drm_radeon_gem_transfer_region) {
		.handle = call->handle,
		.bo_offset = call->offset,
		.user_ptr = ptr,
		.row_bytes = call->size,
		.rows = 1,
	};
	ret = transfer32(call->fd, (uintptr_t)low->regions, 1,
			 call->op == IGT_RADEON_UPLOAD ?
			 RADEON_GEM_TRANSFER_WRITE : 0, &done);
	igt_assert_eq(done, ret == 0);
	return ret;
}

/**
 * SUBTEST: bytes
 * Description: All calls transfer the right bytes on every path.
 */
static void test_bytes(int fd)
{
	const struct igt_radeon_way *path;
	struct igt_radeon_call call;
	struct igt_radeon_trial t;
	enum igt_radeon_op op;
	const char *stat;
	uint64_t before;
	unsigned int i;
	uint8_t *own;

	igt_radeon_require_stats(fd);
	for (i = 0; i < igt_radeon_way_count; i++) {
		path = &igt_radeon_ways[i];
		if (!igt_radeon_has_way(fd, path))
			continue;
		igt_radeon_trial_init(&t, fd, path, LATENCY_US);
		own = t.mem;
		igt_assert(t.span <= MEM_SIZE);
		t.mem = low->mem;
		for (op = 0; op < IGT_RADEON_OPS; op++) {
			stat = igt_radeon_op_writes(op) ? path->write :
							    path->read;
			before = stat ? igt_radeon_stat(fd, stat) : 0;
			igt_radeon_trial_prepare(&t);
			call = igt_radeon_trial_call(&t, op);
			igt_assert_eq(call32(&call), 0);
			igt_assert_f(!stat || igt_radeon_stat(fd, stat) > before,
				     "%s, %s did not take its path\n",
				     path->name, igt_radeon_op_name[op]);
			igt_radeon_trial_check(&t, op, true);
		}
		t.mem = own;
		igt_radeon_trial_fini(&t);
	}
}

/**
 * SUBTEST: high-bits
 * Description: The kernel uses all 64 bits of offset, size and user address:
 *              calls with high bits set give an error and transfer nothing.
 */
static void test_high_bits(int fd)
{
	const uint64_t high = 1ull << 32, ptr = (uintptr_t)low->mem;
	static const uint8_t zeros[PAGE];
	int (*const rw[])(int, uint32_t, uint64_t, uint64_t, uint64_t,
			  uint32_t) = { pread32, pwrite32 };
	struct igt_radeon_bo bo;
	uint8_t model[PAGE];
	unsigned int i;

	igt_radeon_bo_init(&bo, fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_pattern(model, PAGE, 9);
	igt_radeon_bo_fill(&bo, model);
	memset(low->mem, 0, PAGE);
	for (i = 0; i < ARRAY_SIZE(rw); i++) {
		igt_assert_eq(rw[i](fd, bo.handle, high, 16, ptr, 0), -EINVAL);
		igt_assert_eq(rw[i](fd, bo.handle, 0, high + 16, ptr, 0),
			      -EINVAL);
		igt_assert_eq(rw[i](fd, bo.handle, UINT64_MAX - 7, 16, ptr, 0),
			      -EINVAL);
		igt_assert_eq(rw[i](fd, bo.handle, 0, UINT64_MAX, ptr, 0),
			      -EFAULT);
		igt_assert_eq(rw[i](fd, bo.handle, 0, 16, ptr | 1ull << 63, 0),
			      -EFAULT);
		igt_assert_eq(rw[i](fd, bo.handle, 0, 16, ptr, 1u << 31),
			      -EINVAL);
		igt_assert_eq(rw[i](fd, 0x7fffffff, 0, 16, ptr, 0), -ENOENT);
		igt_assert_eq(rw[i](fd, bo.handle, PAGE, 16, ptr, 0), -EINVAL);
		igt_assert_eq(rw[i](fd, 0, 0, 0, 0, 0), 0);
	}
	igt_assert(!memcmp(low->mem, zeros, PAGE));
	igt_radeon_bo_assert(&bo, model, "after calls that fail");
	igt_radeon_bo_fini(&bo);
}

/**
 * SUBTEST: transfer-regions
 * Description: The regions of a TRANSFER, with rows, pitches and 64-bit
 *              members, and regions_done have the same meaning as for 64-bit
 *              processes.
 */
static void test_regions(int fd)
{
	const uint64_t regions = (uintptr_t)low->regions;
	struct igt_radeon_bo bo;
	uint8_t model[PAGE];
	unsigned int i, row;
	uint32_t done;
	int ret;

	igt_radeon_bo_init(&bo, fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_pattern(model, PAGE, 10);
	igt_radeon_bo_fill(&bo, model);
	igt_radeon_pattern(low->mem, PAGE, 11);
	for (i = 0; i < 4; i++) {
		low->regions[i] = (struct drm_radeon_gem_transfer_region) {
			.handle = bo.handle,
			.bo_offset = i * 1000,
			.user_ptr = (uintptr_t)low->mem + i * 700,
			.bo_pitch = 100,
			.user_pitch = 60,
			.row_bytes = 33,
			.rows = 5,
		};
		for (row = 0; row < 5; row++)
			memcpy(model + i * 1000 + row * 100,
			       low->mem + i * 700 + row * 60, 33);
	}
	ret = transfer32(fd, regions, 4, RADEON_GEM_TRANSFER_WRITE, &done);
	igt_assert_eq(ret, 0);
	igt_assert_eq(done, 4);
	igt_radeon_bo_assert(&bo, model, "after a TRANSFER to it");

	low->regions[2].bo_offset |= 1ull << 32;
	ret = transfer32(fd, regions, 4, 0, &done);
	igt_assert_eq(ret, -EINVAL);
	igt_assert_eq(done, 2);
	low->regions[2].bo_offset = 0;
	low->regions[2].user_ptr |= 1ull << 63;
	ret = transfer32(fd, regions, 4, 0, &done);
	igt_assert_eq(ret, -EFAULT);
	igt_assert_eq(done, 2);
	ret = transfer32(fd, regions | 1ull << 63, 4, 0, &done);
	igt_assert_eq(ret, -EFAULT);
	igt_assert_eq(done, 0);
	ret = transfer32(fd, regions, 65537, 0, &done);
	igt_assert_eq(ret, -EINVAL);
	igt_radeon_bo_assert(&bo, model, "after a TRANSFER that fails");
	igt_radeon_bo_fini(&bo);
}

/**
 * SUBTEST: info
 * Description: RADEON_INFO_GEM_RW gives the same answer as to a 64-bit process.
 */
static void test_info(int fd)
{
	const uint64_t expected = igt_radeon_info64(fd, RADEON_INFO_GEM_RW);
	struct drm_radeon_info *arg = (void *)&low->arg;
	uint64_t *value = (uint64_t *)low->mem;

	*value = 0;
	*arg = (struct drm_radeon_info) {
		.request = RADEON_INFO_GEM_RW,
		.value = (uintptr_t)value,
	};
	igt_assert_eq(ioctl32(fd, DRM_IOCTL_RADEON_INFO), 0);
	igt_assert(*value == expected && expected);
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_PREAD_PWRITE |
					       RADEON_GEM_RW_CAP_TRANSFER);
		require_ia32();
	}

	igt_describe("Calls transfer the right bytes on every path.");
	igt_subtest("bytes")
		test_bytes(fd);

	igt_describe("Calls use all 64 bits of their arguments.");
	igt_subtest("high-bits")
		test_high_bits(fd);

	igt_describe("Regions of a TRANSFER have the same meaning.");
	igt_subtest("transfer-regions")
		test_regions(fd);

	igt_describe("RADEON_INFO_GEM_RW gives the same answer.");
	igt_subtest("info")
		test_info(fd);

	igt_fixture()
		close(fd);
}
