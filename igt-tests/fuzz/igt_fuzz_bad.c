// SPDX-License-Identifier: MIT
/*
 * Parts of radeon_gem_rw_fuzz: PREAD and PWRITE with any combination of
 * errors. The result has to be the first of them in the order that
 * radeon_drm_rw.h documents.
 */
#include <errno.h>
#include <string.h>

#include "igt.h"
#include "igt_fuzz.h"

/* Errors, in the order in which the kernel checks for them */
enum {
	BAD_FLAGS	= 1 << 0,
	BAD_SIZE	= 1 << 1,	/* 0, which succeeds */
	BAD_USER	= 1 << 2,
	BAD_HANDLE	= 1 << 3,
	BAD_RANGE	= 1 << 4,
	BAD_USERPTR	= 1 << 5,
	BAD_IMPORTED	= 1 << 6,
	BAD_MEMORY	= 1 << 7,
	BADS		= 8
};

#define MAX_SIZE	300000u

/* Bytes of the userptr and the imported BO */
#define OTHER_SIZE	65536u

static int expect(unsigned int bad)
{
	if (bad & BAD_FLAGS)
		return -EINVAL;
	if (bad & BAD_SIZE)
		return 0;
	if (bad & BAD_USER)
		return -EFAULT;
	if (bad & BAD_HANDLE)
		return -ENOENT;
	if (bad & BAD_RANGE)
		return -EINVAL;
	if (bad & BAD_USERPTR)
		return -EPERM;
	if (bad & BAD_IMPORTED)
		return -EOPNOTSUPP;
	return -EFAULT;
}

/* Picks one error, or several. */
static unsigned int pick(struct fuzz *f)
{
	unsigned int bad = 1u << fuzz_below(f, BADS);

	if (fuzz_one_in(f, 2))
		bad |= fuzz_random(f) & fuzz_random(f) & ((1u << BADS) - 1);
	if (bad & BAD_IMPORTED && !f->imported)
		bad = (bad & ~BAD_IMPORTED) | BAD_USERPTR;
	if (bad & BAD_USERPTR)
		bad &= ~BAD_IMPORTED;
	return bad;
}

/* Checks the range of the BO, and 100 bytes on both sides of it. */
static void verify_around(struct fuzz *f, struct fuzz_bo *b, uint64_t offset,
			  uint64_t size, const uint8_t *source, size_t valid)
{
	uint64_t first = offset < 100 ? 0 : offset - 100, end;
	uint8_t *other;

	end = offset + size + 100 < b->size ? offset + size + 100 : b->size;
	other = malloc(end - first);
	igt_assert(other);
	memcpy(other, b->model + first, end - first);
	if (source)
		memcpy(other + (offset - first), source, valid);
	fuzz_bo_settle(f, b);
	/* Settling changes the model only to bytes that the BO holds. */
	fuzz_bo_verify(f, b, first, end - first, source ? other : NULL);
	free(other);
}

/**
 * fuzz_op_bad_rw:
 * @f: worker
 *
 * Makes a PREAD or PWRITE with one or several errors. Checks its result, and
 * that it changes no bytes that it must not change.
 */
void fuzz_op_bad_rw(struct fuzz *f)
{
	static const uint64_t far[] = {
		0x8000000000000000ull, 0xffff800000000000ull, ~0ull - 4096,
	};
	struct fuzz_bo *b = fuzz_bo_pick(f, NULL);
	bool write = fuzz_one_in(f, 2);
	unsigned int bad = pick(f);
	int ret, expected = expect(bad);
	uint64_t offset, size, limit, counter, user, arg_size, arg_offset;
	uint32_t handle = b->bo.handle, flags = 0;
	struct fuzz_mem m;

	limit = b->size < MAX_SIZE ? b->size : MAX_SIZE;
	if (limit > OTHER_SIZE && bad & (BAD_USERPTR | BAD_IMPORTED))
		limit = OTHER_SIZE;
	size = fuzz_length(f, limit);
	offset = fuzz_below(f, (bad & (BAD_USERPTR | BAD_IMPORTED) ? limit :
				b->size) - size + 1);
	arg_offset = b->base + offset;
	arg_size = size;
	limit = b->bo.size;
	if (bad & BAD_MEMORY)
		fuzz_mem_get_broken(f, &m, size, write);
	else
		fuzz_mem_get(f, &m, size, write, b);
	user = (uintptr_t)m.ptr;

	if (bad & (BAD_USERPTR | BAD_IMPORTED)) {
		handle = bad & BAD_USERPTR ? f->userptr : f->imported;
		arg_offset = offset;
		limit = OTHER_SIZE;
	}
	if (bad & BAD_RANGE)
		arg_offset = fuzz_one_in(f, 2) ?
			~0ull - fuzz_below(f, 2 * size) :
			limit - size + 1 + fuzz_below(f, 1 << 20);
	if (bad & BAD_HANDLE)
		handle = fuzz_one_in(f, 2) ? 0 : 1u << 30 | fuzz_random(f);
	if (bad & BAD_USER) {
		if (fuzz_one_in(f, 3))
			arg_size = ~0ull - fuzz_below(f, 1 << 20);
		else
			user = far[fuzz_below(f, 3)] + fuzz_below(f, 4096);
	}
	if (bad & BAD_SIZE)
		arg_size = 0;
	if (bad & BAD_FLAGS)
		flags = 4u << fuzz_below(f, 30);
	else if (expected != -EFAULT && fuzz_one_in(f, 3))
		flags = fuzz_below(f, 4);
	fuzz_say(f, "bad %s (%#x) of %s BO %u (%#llx bytes): handle %u, offset %#llx, %#llx bytes, flags %#x, user memory %#llx: %s, %#zx bytes there",
		 write ? "PWRITE" : "PREAD", bad, fuzz_bo_name(b), b->bo.handle,
		 (unsigned long long)b->size, handle,
		 (unsigned long long)arg_offset, (unsigned long long)arg_size,
		 flags, (unsigned long long)user, m.kind, m.valid);

	counter = fuzz_resets(f);
	fuzz_bo_use(f, b, counter);
	ret = fuzz_rw(f, write, handle, arg_offset, arg_size, user, flags);
	if (ret != expected)
		fuzz_fail(f, "%d, should be %d", ret, expected);

	if (bad != BAD_MEMORY) {
		fuzz_mem_verify(f, &m, NULL, true);
		verify_around(f, b, offset, size, NULL, 0);
	} else if (write) {
		/* Any bytes in front of the hole may be transferred. */
		fuzz_bo_queued(f, b, offset, size, counter);
		verify_around(f, b, offset, size, m.old + m.before, m.valid);
	} else {
		fuzz_mem_verify(f, &m, b->model + offset, false);
	}
	fuzz_mem_put(f, &m);
}
