// SPDX-License-Identifier: MIT
/*
 * PREAD, PWRITE and TRANSFER as one operation with a direction.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "igt.h"
#include "igt_radeon_rw.h"

#define GUARD		68u
#define GUARD_BYTE	0xa5

const char *const igt_radeon_op_name[IGT_RADEON_OPS] = {
	[IGT_RADEON_PREAD] = "pread",
	[IGT_RADEON_PWRITE] = "pwrite",
	[IGT_RADEON_DOWNLOAD] = "download",
	[IGT_RADEON_UPLOAD] = "upload",
};

/**
 * igt_radeon_op_writes:
 * @op: operation
 *
 * Returns: whether it copies from user memory to the BO
 */
bool igt_radeon_op_writes(enum igt_radeon_op op)
{
	return op == IGT_RADEON_PWRITE || op == IGT_RADEON_UPLOAD;
}

/* igt_ioctl() repeats a call that a signal or a reset has ended. */
static int issue(int fd, unsigned long request, void *arg, bool once)
{
	int ret = once ? ioctl(fd, request, arg) : igt_ioctl(fd, request, arg);

	return ret ? -errno : 0;
}

static int transfer(int fd, const struct drm_radeon_gem_transfer_region *regions,
		    uint32_t count, uint32_t flags, uint32_t *done, bool once)
{
	struct drm_radeon_gem_transfer arg = {
		.regions_ptr = (uintptr_t)regions,
		.region_count = count,
		.flags = flags,
	};
	int ret = issue(fd, DRM_IOCTL_RADEON_GEM_TRANSFER, &arg, once);

	*done = arg.regions_done;
	return ret;
}

/* One region has one row, or several if the size has more than 32 bits. */
static void one_region(const struct igt_radeon_call *call,
		       struct drm_radeon_gem_transfer_region *r)
{
	const bool pages = call->size % PAGE == 0 &&
			   call->size / PAGE <= UINT32_MAX;

	*r = (struct drm_radeon_gem_transfer_region) {
		.handle = call->handle,
		.bo_offset = call->offset,
		.user_ptr = (uintptr_t)call->mem,
		.row_bytes = call->size,
		.rows = 1,
	};
	if (call->size <= UINT32_MAX)
		return;
	/* Other sizes become the largest that a region can have. */
	r->row_bytes = pages ? PAGE : UINT32_MAX;
	r->rows = pages ? call->size / PAGE : UINT32_MAX;
	r->bo_pitch = r->row_bytes;
	r->user_pitch = r->row_bytes;
}

static int call_transfer(const struct igt_radeon_call *call, bool once)
{
	struct drm_radeon_gem_transfer_region regions[IGT_RADEON_MAX_SPLIT];
	const uint32_t flags = call->flags | (igt_radeon_op_writes(call->op) ?
					      RADEON_GEM_TRANSFER_WRITE : 0);
	struct igt_radeon_call part = *call;
	uint64_t at, bytes;
	uint32_t n = 0, done;
	int ret;

	igt_assert(call->regions <= IGT_RADEON_MAX_SPLIT);
	if (call->regions > 1) {
		bytes = (call->size + call->regions - 1) / call->regions;
		for (at = 0; at < call->size; at += part.size) {
			part.offset = call->offset + at;
			part.mem = (uint8_t *)call->mem + at;
			part.size = bytes < call->size - at ? bytes :
							      call->size - at;
			one_region(&part, &regions[n++]);
		}
	} else {
		one_region(call, &regions[n++]);
	}

	ret = transfer(call->fd, regions, n, flags, &done, once);
	/* A call without permission does not set regions_done. */
	if (ret != -EACCES)
		igt_assert(ret ? done < n : done == n);
	return ret;
}

static int make_call(const struct igt_radeon_call *call, bool once)
{
	/* struct drm_radeon_gem_pread has the same layout. */
	struct drm_radeon_gem_pwrite arg = {
		.handle = call->handle,
		.pad = call->flags,
		.offset = call->offset,
		.size = call->size,
		.data_ptr = (uintptr_t)call->mem,
	};

	switch (call->op) {
	case IGT_RADEON_PREAD:
		return issue(call->fd, DRM_IOCTL_RADEON_GEM_PREAD, &arg, once);
	case IGT_RADEON_PWRITE:
		return issue(call->fd, DRM_IOCTL_RADEON_GEM_PWRITE, &arg, once);
	default:
		return call_transfer(call, once);
	}
}

/**
 * igt_radeon_call:
 * @call: call
 *
 * Makes the call, and repeats it if a signal or a reset ends it.
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_call(const struct igt_radeon_call *call)
{
	return make_call(call, false);
}

/**
 * igt_radeon_call_once:
 * @call: call
 *
 * Makes the call, and does not repeat it.
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_call_once(const struct igt_radeon_call *call)
{
	return make_call(call, true);
}

/**
 * igt_radeon_rw:
 * @op: operation
 * @fd: device
 * @handle: BO
 * @offset: first byte in the BO
 * @size: bytes
 * @mem: user memory, source or destination
 * @flags: RADEON_GEM_RW_*
 *
 * As igt_radeon_call(), with one region.
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_rw(enum igt_radeon_op op, int fd, uint32_t handle,
		  uint64_t offset, uint64_t size, void *mem, uint32_t flags)
{
	return igt_radeon_call(&(struct igt_radeon_call) {
		.op = op,
		.fd = fd,
		.handle = handle,
		.offset = offset,
		.size = size,
		.mem = mem,
		.flags = flags,
	});
}

/**
 * igt_radeon_pread:
 * @fd: device
 * @handle: BO
 * @offset: first byte in the BO
 * @size: bytes
 * @dst: user memory
 * @flags: RADEON_GEM_RW_*
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_pread(int fd, uint32_t handle, uint64_t offset, uint64_t size,
		     void *dst, uint32_t flags)
{
	return igt_radeon_rw(IGT_RADEON_PREAD, fd, handle, offset, size, dst,
			     flags);
}

/**
 * igt_radeon_pwrite:
 * @fd: device
 * @handle: BO
 * @offset: first byte in the BO
 * @size: bytes
 * @src: user memory
 * @flags: RADEON_GEM_RW_*
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_pwrite(int fd, uint32_t handle, uint64_t offset, uint64_t size,
		      const void *src, uint32_t flags)
{
	return igt_radeon_rw(IGT_RADEON_PWRITE, fd, handle, offset, size,
			     (void *)src, flags);
}

/**
 * igt_radeon_transfer:
 * @fd: device
 * @regions: array
 * @count: number of regions
 * @flags: RADEON_GEM_RW_*, RADEON_GEM_TRANSFER_WRITE
 * @done: number of regions that the kernel says are done, also on an error
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_transfer(int fd,
			const struct drm_radeon_gem_transfer_region *regions,
			uint32_t count, uint32_t flags, uint32_t *done)
{
	return transfer(fd, regions, count, flags, done, false);
}

/**
 * igt_radeon_rw_apply:
 * @op: operation
 * @bo: model of the BO's range
 * @user: model of user memory
 * @size: bytes
 *
 * Does to the models what a call does to the BO and to user memory.
 */
void igt_radeon_rw_apply(enum igt_radeon_op op, void *bo, void *user,
			 size_t size)
{
	if (igt_radeon_op_writes(op))
		memmove(bo, user, size);
	else
		memmove(user, bo, size);
}

/**
 * igt_radeon_rw_range:
 * @op: operation
 * @bo: BO
 * @model: model of the whole BO; a write updates it
 * @offset: first byte in the BO
 * @size: bytes
 * @align: bytes that are added to the user address
 *
 * Makes one call and checks user memory. A read has to return the model's
 * bytes. A write is of bytes never used before, and its source is overwritten
 * as soon as the call has returned. User memory around the range must not
 * change. Use igt_radeon_bo_assert() to check the BO.
 */
void igt_radeon_rw_range(enum igt_radeon_op op, const struct igt_radeon_bo *bo,
			 uint8_t *model, uint64_t offset, size_t size,
			 unsigned int align)
{
	static uint32_t seed = 1000;
	size_t total = size + align + 2 * GUARD, i;
	uint8_t *mem = igt_radeon_malloc(total);
	uint8_t *user = mem + GUARD + align;
	int ret;

	memset(mem, GUARD_BYTE, total);
	if (igt_radeon_op_writes(op)) {
		igt_radeon_pattern(user, size, seed++);
		memcpy(model + offset, user, size);
	}
	ret = igt_radeon_rw(op, bo->fd, bo->handle, offset, size, user, 0);
	igt_assert_f(ret == 0, "%s: %d: offset %llu, size %zu\n",
		     igt_radeon_op_name[op], ret, (unsigned long long)offset,
		     size);
	igt_assert_f(!memcmp(user, model + offset, size),
		     "%s: user memory is wrong: offset %llu, size %zu, user alignment %u\n",
		     igt_radeon_op_name[op], (unsigned long long)offset, size,
		     align);
	for (i = 0; i < GUARD; i++)
		igt_assert_f(user[-1 - (ssize_t)i] == GUARD_BYTE &&
			     user[size + i] == GUARD_BYTE,
			     "%s: bytes around user memory changed: offset %llu, size %zu, user alignment %u\n",
			     igt_radeon_op_name[op],
			     (unsigned long long)offset, size, align);
	memset(mem, 0xee, total);
	free(mem);
}
