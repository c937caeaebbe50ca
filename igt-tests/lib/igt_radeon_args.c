// SPDX-License-Identifier: MIT
/*
 * Checks of arguments and errors that are the same for PREAD, PWRITE and
 * TRANSFER. The expected results, and their order, are those of the error list
 * in radeon_drm_rw.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_args.h"

#define NOWHERE		((void *)0xffff888000000000)	/* in kernel space */
#define BAD_FLAG	(1u << 31)
#define HOLD_US		2000000u

static uint8_t mem[4 * PAGE];

/* A valid user address that must not be accessed. */
static void *unmapped_page(void)
{
	void *page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	igt_assert(page != MAP_FAILED);
	return page;
}

void igt_radeon_args_bad_handle(int fd, enum igt_radeon_op op)
{
	struct igt_radeon_bo bo, other;
	uint32_t closed;
	int fd2 = igt_radeon_open();
	int i;

	igt_assert_eq(igt_radeon_rw(op, fd, 0, 0, PAGE, mem, 0), -ENOENT);
	igt_assert_eq(igt_radeon_rw(op, fd, UINT32_MAX, 0, PAGE, mem, 0), -ENOENT);
	igt_assert_eq(igt_radeon_rw(op, fd, INT32_MAX, 0, 1, mem, 0), -ENOENT);

	igt_radeon_bo_init(&bo, fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	closed = bo.handle;
	igt_assert_eq(igt_radeon_rw(op, fd, closed, 0, PAGE, mem, 0), 0);
	igt_radeon_bo_fini(&bo);
	igt_assert_eq(igt_radeon_rw(op, fd, closed, 0, PAGE, mem, 0), -ENOENT);

	/* Handles are numbered per file: use one that only @fd2 has. */
	for (i = 0; i < 8; i++)
		igt_radeon_bo_init(&other, fd2, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&bo, fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_assert(other.handle != bo.handle);
	igt_assert_eq(igt_radeon_rw(op, fd2, other.handle, 0, PAGE, mem, 0), 0);
	igt_assert_eq(igt_radeon_rw(op, fd, other.handle, 0, PAGE, mem, 0), -ENOENT);
	igt_radeon_bo_fini(&bo);
	close(fd2);
}

void igt_radeon_args_bad_range(int fd, enum igt_radeon_op op)
{
	static const struct {
		uint64_t offset, size;
		int expected;
	} ranges[] = {
		{ 0, 2 * PAGE, 0 },
		{ 2 * PAGE - 1, 1, 0 },
		{ 1, 2 * PAGE - 1, 0 },
		{ 0, 2 * PAGE + 1, -EINVAL },
		{ 1, 2 * PAGE, -EINVAL },
		{ 2 * PAGE, 1, -EINVAL },
		{ 2 * PAGE - 1, 2, -EINVAL },
		{ 3 * PAGE, 1, -EINVAL },
		{ 1ull << 32, 1, -EINVAL },
		{ (1ull << 32) + PAGE, PAGE, -EINVAL },
		{ 0, 1ull << 32, -EINVAL },
		{ 0, (1ull << 32) + PAGE, -EINVAL },
		{ 1ull << 63, 1, -EINVAL },
		{ INT64_MAX, 2, -EINVAL },
		{ UINT64_MAX, 1, -EINVAL },
		{ UINT64_MAX, 2, -EINVAL },
		{ UINT64_MAX - PAGE + 1, PAGE, -EINVAL },
		{ UINT64_MAX - PAGE + 1, 2 * PAGE, -EINVAL },
	};
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo bo;
	unsigned int d, i;
	int ret;

	for (d = 0; (p = igt_radeon_placement(fd, d)); d++) {
		igt_radeon_bo_init(&bo, fd, 2 * PAGE, p->domain, p->flags);
		for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
			ret = igt_radeon_rw(op, fd, bo.handle, ranges[i].offset,
				 ranges[i].size, mem, 0);
			igt_assert_f(ret == ranges[i].expected,
				     "%s %s: offset %#llx, size %#llx: %d instead of %d\n",
				     igt_radeon_op_name[op], p->name,
				     (unsigned long long)ranges[i].offset,
				     (unsigned long long)ranges[i].size,
				     ret, ranges[i].expected);
		}
		igt_radeon_bo_fini(&bo);
	}
}

void igt_radeon_args_bad_flags(int fd, enum igt_radeon_op op)
{
	const uint32_t good = RADEON_GEM_RW_UNSYNCHRONIZED |
			      RADEON_GEM_RW_NOWAIT;
	struct igt_radeon_bo bo;
	uint32_t flags;
	int bit;

	igt_radeon_bo_init(&bo, fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	for (flags = 0; flags <= good; flags++)
		igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, PAGE, mem, flags), 0);
	for (bit = 0; bit < 32; bit++) {
		flags = 1u << bit;
		if (flags & good)
			continue;
		igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, PAGE, mem, flags), -EINVAL);
		igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, PAGE, mem, flags | good),
			      -EINVAL);
	}
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, PAGE, mem, UINT32_MAX), -EINVAL);
	igt_radeon_bo_fini(&bo);
}

void igt_radeon_args_zero_size(int fd, enum igt_radeon_op op)
{
	struct igt_radeon_bo bo;

	igt_radeon_bo_init(&bo, fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, 0, mem, 0), 0);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, PAGE, 0, mem, 0), 0);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, UINT64_MAX, 0, mem, 0), 0);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, 0, NULL, 0), 0);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, 0, NOWHERE, 0), 0);
	igt_assert_eq(igt_radeon_rw(op, fd, 0, UINT64_MAX, 0, NOWHERE,
			 RADEON_GEM_RW_NOWAIT), 0);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, 0, mem, BAD_FLAG), -EINVAL);
	igt_radeon_bo_fini(&bo);
}

/* Calls on a userptr BO and on an imported one differ only in @error. */
static void refused(int fd, enum igt_radeon_op op, uint32_t handle, int error)
{
	void *hole = unmapped_page();

	igt_assert_eq(igt_radeon_rw(op, fd, handle, 0, PAGE, mem, 0), error);
	igt_assert_eq(igt_radeon_rw(op, fd, handle, 0, PAGE, mem,
			 RADEON_GEM_RW_UNSYNCHRONIZED | RADEON_GEM_RW_NOWAIT),
		      error);
	igt_assert_eq(igt_radeon_rw(op, fd, handle, 2 * PAGE - 1, 1, mem, 0), error);
	igt_assert_eq(igt_radeon_rw(op, fd, handle, 0, PAGE, hole, 0), error);
	igt_assert_eq(igt_radeon_rw(op, fd, handle, 2 * PAGE, 1, mem, 0), -EINVAL);
	igt_assert_eq(igt_radeon_rw(op, fd, handle, 0, PAGE, NOWHERE, 0), -EFAULT);
	igt_assert_eq(igt_radeon_rw(op, fd, handle, 0, 0, mem, 0), 0);
	munmap(hole, PAGE);
}

void igt_radeon_args_userptr(int fd, enum igt_radeon_op op)
{
	struct igt_radeon_bo bo = { .fd = fd };
	uint8_t *own;
	int ret, i;

	own = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	igt_assert(own != MAP_FAILED);
	memset(own, 0x5a, 2 * PAGE);
	ret = igt_radeon_userptr(fd, own, 2 * PAGE, &bo.handle);
	igt_require_f(ret == 0, "no userptr BOs here: %s\n", strerror(-ret));

	refused(fd, op, bo.handle, -EPERM);
	for (i = 0; i < (int)(2 * PAGE); i++)
		igt_assert_eq(own[i], 0x5a);
	igt_radeon_bo_fini(&bo);
	munmap(own, 2 * PAGE);
}

void igt_radeon_args_imported(int fd, enum igt_radeon_op op)
{
	struct igt_radeon_bo bo = { .fd = fd };
	int ret = igt_radeon_import_foreign(fd, 2 * PAGE, &bo.handle);

	igt_require_f(ret == 0, "nothing to import from udmabuf: %s\n",
		      strerror(-ret));
	refused(fd, op, bo.handle, -EOPNOTSUPP);
	igt_radeon_bo_fini(&bo);
}

/* The GPU has yet to write the BO; errors are returned without a wait. */
static void busy_order(int fd, enum igt_radeon_op op,
		       const struct igt_radeon_placement *p,
		       const struct igt_radeon_bo *src, void *hole)
{
	static const uint64_t sizes[] = { 16, 20 * PAGE, 300 * PAGE };
	const uint64_t size = 300 * PAGE;
	struct igt_radeon_bo busy;
	unsigned int i;

	igt_debug("%s, busy in %s\n", igt_radeon_op_name[op], p->name);
	igt_radeon_bo_init(&busy, fd, size, p->domain, p->flags);
	igt_radeon_set_latency(fd, HOLD_US);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &busy, 0, src, 0, PAGE);
	igt_assert_eq(igt_radeon_rw(op, fd, busy.handle, size, 16, mem,
				    RADEON_GEM_RW_NOWAIT), -EINVAL);
	igt_assert_eq(igt_radeon_rw(op, fd, busy.handle, size, 16, mem, 0),
		      -EINVAL);
	igt_assert_eq(igt_radeon_rw(op, fd, busy.handle, 0, 16, NOWHERE, 0),
		      -EFAULT);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		igt_assert_eq(igt_radeon_rw(op, fd, busy.handle, 0, sizes[i],
					    hole, RADEON_GEM_RW_NOWAIT),
			      -EFAULT);
	igt_assert(igt_radeon_bo_busy(&busy));
	igt_radeon_set_latency(fd, 0);
	igt_radeon_bo_wait(&busy);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		igt_assert_eq(igt_radeon_rw(op, fd, busy.handle, 0, sizes[i],
					    hole, 0), -EFAULT);
	igt_radeon_bo_fini(&busy);
}

void igt_radeon_args_error_order(int fd, enum igt_radeon_op op)
{
	const uint64_t beyond = UINT64_MAX - 7;
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo bo;
	void *hole = unmapped_page();
	unsigned int i;

	igt_radeon_bo_init(&bo, fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);

	/* Start with every argument wrong, then correct one after the other. */
	igt_assert_eq(igt_radeon_rw(op, fd, 0, beyond, 0, NOWHERE, BAD_FLAG), -EINVAL);
	igt_assert_eq(igt_radeon_rw(op, fd, 0, beyond, 0, NOWHERE, 0), 0);
	igt_assert_eq(igt_radeon_rw(op, fd, 0, beyond, 16, NOWHERE, BAD_FLAG), -EINVAL);
	igt_assert_eq(igt_radeon_rw(op, fd, 0, beyond, 16, NOWHERE, 0), -EFAULT);
	igt_assert_eq(igt_radeon_rw(op, fd, 0, beyond, UINT64_MAX, mem, 0), -EFAULT);
	igt_assert_eq(igt_radeon_rw(op, fd, 0, beyond, 16, hole, 0), -ENOENT);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, beyond, 16, hole, 0), -EINVAL);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, PAGE, 16, hole, 0), -EINVAL);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, 16, hole, 0), -EFAULT);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, 16, mem, 0), 0);

	/* -EBUSY comes last, in every placement. */
	for (i = 0; igt_radeon_has_board(fd) &&
	     (p = igt_radeon_placement(fd, i)); i++)
		busy_order(fd, op, p, &bo, hole);

	munmap(hole, PAGE);
	igt_radeon_bo_fini(&bo);
}

void igt_radeon_args_permissions(int fd, enum igt_radeon_op op)
{
	struct igt_radeon_bo bo;
	int master, ret;

	/* @fd is a render node, which needs no authentication. */
	igt_radeon_bo_init(&bo, fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, PAGE, mem, 0), 0);
	igt_radeon_bo_fini(&bo);

	/* The first to open a primary node becomes its master: open it here,
	 * so that the child does not.
	 */
	master = igt_radeon_try_open_primary();
	igt_require_f(master >= 0, "cannot open the primary node\n");
	igt_radeon_bo_init(&bo, master, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	ret = igt_radeon_rw(op, master, bo.handle, 0, PAGE, mem, 0);
	igt_assert_eq(ret, 0);

	igt_fork(child, 1) {
		drm_magic_t magic;
		int card;

		igt_radeon_drop_sys_admin();
		card = igt_radeon_try_open_primary();
		igt_assert(card >= 0);
		igt_assert_eq(igt_radeon_rw(op, card, 1, 0, PAGE, mem, 0), -EACCES);
		igt_assert_eq(igt_radeon_rw(op, card, 1, 0, 0, mem, BAD_FLAG), -EACCES);

		/* Once authenticated, it gets as far as the handle. */
		igt_assert_eq(drmGetMagic(card, &magic), 0);
		igt_assert_eq(drmAuthMagic(master, magic), 0);
		igt_assert_eq(igt_radeon_rw(op, card, 1, 0, PAGE, mem, 0), -ENOENT);
		close(card);
	}
	igt_waitchildren();

	igt_radeon_bo_fini(&bo);
	close(master);
}

/**
 * igt_radeon_args_subtests:
 * @fd: device
 * @op: PREAD or PWRITE
 *
 * Runs the checks above as subtests. To be called from igt_main.
 */
void igt_radeon_args_subtests(int fd, enum igt_radeon_op op)
{
	igt_describe("A handle that this file does not have gives -ENOENT.");
	igt_subtest("bad-handle")
		igt_radeon_args_bad_handle(fd, op);

	igt_describe("A range that ends beyond the BO gives -EINVAL.");
	igt_subtest("bad-range")
		igt_radeon_args_bad_range(fd, op);

	igt_describe("An undefined flag gives -EINVAL.");
	igt_subtest("bad-flags")
		igt_radeon_args_bad_flags(fd, op);

	igt_describe("A call for no bytes checks nothing but its flags.");
	igt_subtest("zero-size")
		igt_radeon_args_zero_size(fd, op);

	igt_describe("A BO made from user memory gives -EPERM.");
	igt_subtest("userptr")
		igt_radeon_args_userptr(fd, op);

	igt_describe("A BO imported from another device gives -EOPNOTSUPP.");
	igt_subtest("imported")
		igt_radeon_args_imported(fd, op);

	igt_describe("The first error in the documented order is returned.");
	igt_subtest("error-order")
		igt_radeon_args_error_order(fd, op);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("Primary nodes need authentication, render nodes do not.");
	igt_subtest("permissions")
		igt_radeon_args_permissions(fd, op);
}
