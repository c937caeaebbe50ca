// SPDX-License-Identifier: MIT
/*
 * PREAD, PWRITE and TRANSFER as one operation with a direction.
 */
#include <errno.h>
#include <string.h>

#include "igt.h"
#include "igt_radeon_rw.h"

#define PAGE		4096u
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

/*
 * One region as if it were a PREAD or PWRITE: one row, or for more than 32 bits
 * of size as many as it takes.
 */
static int transfer_one(int fd, uint32_t handle, uint64_t offset,
			uint64_t size, void *mem, uint32_t flags)
{
	struct drm_radeon_gem_transfer_region r = {
		.handle = handle,
		.bo_offset = offset,
		.user_ptr = (uintptr_t)mem,
		.row_bytes = size,
		.rows = 1,
	};
	uint32_t done;
	int ret;

	if (size > UINT32_MAX) {
		/* The largest size there is, if it cannot be this. */
		bool pages = size % PAGE == 0 && size / PAGE <= UINT32_MAX;

		r.row_bytes = pages ? PAGE : UINT32_MAX;
		r.rows = pages ? size / PAGE : UINT32_MAX;
		r.bo_pitch = r.row_bytes;
		r.user_pitch = r.row_bytes;
	}
	ret = igt_radeon_transfer(fd, &r, 1, flags, &done);
	/* Without the right to make the call nothing comes back. */
	if (ret != -EACCES)
		igt_assert_eq(done, !ret);
	return ret;
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
 * Returns: 0 or a negative errno
 */
int igt_radeon_rw(enum igt_radeon_op op, int fd, uint32_t handle,
		  uint64_t offset, uint64_t size, void *mem, uint32_t flags)
{
	switch (op) {
	case IGT_RADEON_PREAD:
		return igt_radeon_pread(fd, handle, offset, size, mem, flags);
	case IGT_RADEON_PWRITE:
		return igt_radeon_pwrite(fd, handle, offset, size, mem, flags);
	case IGT_RADEON_DOWNLOAD:
		return transfer_one(fd, handle, offset, size, mem, flags);
	default:
		return transfer_one(fd, handle, offset, size, mem,
				    flags | RADEON_GEM_TRANSFER_WRITE);
	}
}

/**
 * igt_radeon_rw_apply:
 * @op: operation
 * @bo: what the BO's range ought to hold
 * @user: what user memory ought to hold
 * @size: bytes
 *
 * Does to models what a call does.
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
 * @model: what it holds; a write updates it
 * @offset: first byte in the BO
 * @size: bytes
 * @align: of the user address
 *
 * Makes one call. A read has to give the model's bytes. A write is of bytes
 * never used before, and clobbers its source as soon as the call is back; what
 * it leaves in the BO is for igt_radeon_bo_assert(). In user memory, nothing
 * else may change.
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
