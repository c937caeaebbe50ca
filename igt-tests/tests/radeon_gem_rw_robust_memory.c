// SPDX-License-Identifier: MIT
/*
 * PREAD, PWRITE and TRANSFER with unusual user memory: a mapping of a file that
 * is too short or must not change, memory without permissions, huge pages.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw robust memory
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, unusual user memory
 * Description: Checks that calls with user memory of all kinds transfer the
 *              right bytes or give -EFAULT, and touch nothing else.
 */
IGT_TEST_DESCRIPTION("Checks reads and writes of radeon BOs with unusual user memory.");

static volatile unsigned int bus_errors;

static void count_bus_error(int sig)
{
	(void)sig;
	bus_errors++;
}

/* Replaces the user memory of a trial by @mem, which has @span bytes. */
static void swap_memory(struct igt_radeon_trial *t, uint8_t *mem)
{
	munmap(t->mem, t->span);
	t->mem = mem;
}

/**
 * SUBTEST: truncated
 * Description: User memory is a mapping of a file that ends before the range
 *              does. The call gives -EFAULT, sends no signal, and transfers no
 *              bytes beyond the end of the file. After the file was extended
 *              the call succeeds.
 */
static void test_truncated(int fd)
{
	const struct igt_radeon_way *path;
	struct igt_radeon_call call;
	struct igt_radeon_trial t;
	enum igt_radeon_op op;
	uint64_t cut;
	unsigned int i;
	int file, ret;

	bus_errors = 0;
	signal(SIGBUS, count_bus_error);
	for (i = 0; i < igt_radeon_way_count; i++) {
		path = &igt_radeon_ways[i];
		if (!igt_radeon_has_way(fd, path))
			continue;
		igt_radeon_trial_init(&t, fd, path, 0);
		file = memfd_create("truncated", MFD_CLOEXEC);
		igt_assert(file >= 0);
		igt_assert_eq(ftruncate(file, t.span), 0);
		swap_memory(&t, mmap(NULL, t.span, PROT_READ | PROT_WRITE,
				     MAP_SHARED, file, 0));
		igt_assert(t.mem != MAP_FAILED);
		/* In the middle, or before all of a small range. */
		cut = path->size < 2 * PAGE ? PAGE : t.span / 2 / PAGE * PAGE;
		for (op = 0; op < IGT_RADEON_OPS; op++) {
			igt_radeon_trial_prepare(&t);
			call = igt_radeon_trial_call(&t, op);
			igt_assert_eq(ftruncate(file, cut), 0);
			ret = igt_radeon_call(&call);
			igt_assert_f(ret == -EFAULT, "%s, %s: %d\n", path->name,
				     igt_radeon_op_name[op], ret);
			igt_assert_eq(ftruncate(file, t.span), 0);
			/* The part that was cut off reads zeros. */
			memset(t.fresh + cut, 0, t.span - cut);
			igt_radeon_trial_check(&t, op, false);
			igt_radeon_trial_prepare(&t);
			igt_radeon_trial_again(&t, op);
		}
		close(file);
		igt_radeon_trial_fini(&t);
	}
	signal(SIGBUS, SIG_DFL);
	igt_assert_f(!bus_errors, "SIGBUS was sent\n");
}

/**
 * SUBTEST: permissions
 * Description: Read-only memory can be a source but not a destination, memory
 *              without permissions neither.
 */
static void test_permissions(int fd)
{
	static const struct {
		int prot;
		int read;
		int write;
	} cases[] = {
		{ PROT_READ, -EFAULT, 0 },
		{ PROT_NONE, -EFAULT, -EFAULT },
		{ PROT_READ | PROT_WRITE, 0, 0 },
	};
	const struct igt_radeon_way *path;
	struct igt_radeon_call call;
	struct igt_radeon_trial t;
	enum igt_radeon_op op;
	unsigned int i, j;
	int ret, expected;

	for (i = 0; i < igt_radeon_way_count; i++) {
		path = &igt_radeon_ways[i];
		if (!igt_radeon_has_way(fd, path))
			continue;
		igt_radeon_trial_init(&t, fd, path, 0);
		for (op = 0; op < IGT_RADEON_OPS; op++) {
			for (j = 0; j < ARRAY_SIZE(cases); j++) {
				igt_radeon_trial_prepare(&t);
				call = igt_radeon_trial_call(&t, op);
				igt_assert_eq(mprotect(t.mem, t.span,
						       cases[j].prot), 0);
				ret = igt_radeon_call(&call);
				igt_assert_eq(mprotect(t.mem, t.span, PROT_READ |
						       PROT_WRITE), 0);
				expected = igt_radeon_op_writes(op) ?
					cases[j].write : cases[j].read;
				igt_assert_f(ret == expected,
					     "%s, %s, permissions %d: %d instead of %d\n",
					     path->name, igt_radeon_op_name[op],
					     cases[j].prot, ret, expected);
				igt_radeon_trial_check(&t, op, !ret);
			}
		}
		igt_radeon_trial_fini(&t);
	}
}

/**
 * SUBTEST: read-only-file
 * Description: A private mapping of a read-only file can be a destination, and
 *              the file does not change. A shared one can only be a source.
 */
static void test_read_only_file(int fd)
{
	const struct igt_radeon_way *path;
	struct igt_radeon_call call;
	struct igt_radeon_trial t;
	enum igt_radeon_op op;
	uint8_t *file_bytes, *mem;
	unsigned int i, shared;
	char name[64];
	int file, ro, ret;

	for (i = 0; i < igt_radeon_way_count; i++) {
		path = &igt_radeon_ways[i];
		if (!igt_radeon_has_way(fd, path))
			continue;
		igt_radeon_trial_init(&t, fd, path, 0);
		file_bytes = igt_radeon_malloc(t.span);
		for (op = 0; op < IGT_RADEON_OPS; op++) {
			for (shared = 0; shared < 2; shared++) {
				file = memfd_create("read-only", MFD_CLOEXEC);
				igt_assert(file >= 0);
				igt_radeon_pattern(t.fresh, t.span, i + op);
				igt_assert(pwrite(file, t.fresh, t.span, 0) ==
					   (ssize_t)t.span);
				snprintf(name, sizeof(name),
					 "/proc/self/fd/%d", file);
				ro = open(name, O_RDONLY | O_CLOEXEC);
				igt_assert(ro >= 0);
				mem = mmap(NULL, t.span, shared ? PROT_READ :
					   PROT_READ | PROT_WRITE,
					   shared ? MAP_SHARED : MAP_PRIVATE,
					   ro, 0);
				igt_assert(mem != MAP_FAILED);
				swap_memory(&t, mem);

				igt_radeon_trial_queue(&t);
				call = igt_radeon_trial_call(&t, op);
				ret = igt_radeon_call(&call);
				igt_assert_f(ret == (shared &&
						     !igt_radeon_op_writes(op) ?
						     -EFAULT : 0),
					     "%s, %s, %s file: %d\n",
					     path->name, igt_radeon_op_name[op],
					     shared ? "shared" : "private", ret);
				memcpy(file_bytes, t.fresh, t.span);
				igt_radeon_trial_check(&t, op, !ret);
				igt_assert(pread(file, t.fresh, t.span, 0) ==
					   (ssize_t)t.span);
				igt_assert_f(!memcmp(t.fresh, file_bytes,
						     t.span),
					     "%s, %s changed the file\n",
					     path->name,
					     igt_radeon_op_name[op]);
				close(ro);
				close(file);
			}
		}
		free(file_bytes);
		igt_radeon_trial_fini(&t);
	}
}

/**
 * SUBTEST: huge-pages
 * Description: Calls with user memory of hugetlb pages and of transparent huge
 *              pages transfer the right bytes.
 */
#define HUGE_PAGE	(2u << 20)
#define HUGE_PAGES	"/proc/sys/vm/nr_hugepages"

static void huge_trial(int fd, uint8_t *mem)
{
	const struct igt_radeon_way *path;
	struct igt_radeon_trial t;
	enum igt_radeon_op op;
	unsigned int i;
	uint8_t *own;

	for (i = 0; i < igt_radeon_way_count; i++) {
		path = &igt_radeon_ways[i];
		if (!igt_radeon_has_way(fd, path))
			continue;
		igt_radeon_trial_init(&t, fd, path, 0);
		own = t.mem;
		t.mem = mem;
		for (op = 0; op < IGT_RADEON_OPS; op++) {
			igt_radeon_trial_prepare(&t);
			igt_radeon_trial_again(&t, op);
		}
		t.mem = own;
		igt_radeon_trial_fini(&t);
	}
}

static void test_huge(int fd)
{
	struct igt_radeon_baseline before = igt_radeon_baseline_take(fd);
	uint64_t faults = igt_radeon_vmstat("thp_fault_alloc");
	unsigned int kinds = 0;
	char old[32], more[32];
	uint8_t *mem, *at;

	/* Two more than needed, as others may use some. */
	if (igt_radeon_get(HUGE_PAGES, old, sizeof(old)) > 0) {
		snprintf(more, sizeof(more), "%lu",
			 strtoul(old, NULL, 10) + 4);
		igt_radeon_put(HUGE_PAGES, more);
		mem = mmap(NULL, 2 * HUGE_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
		if (mem != MAP_FAILED) {
			huge_trial(fd, mem);
			munmap(mem, 2 * HUGE_PAGE);
			kinds++;
		}
		igt_radeon_put(HUGE_PAGES, old);
	}

	mem = igt_radeon_memory(3 * HUGE_PAGE);
	at = (uint8_t *)(((uintptr_t)mem + HUGE_PAGE - 1) &
			 -(uintptr_t)HUGE_PAGE);
	if (!madvise(at, 2 * HUGE_PAGE, MADV_HUGEPAGE)) {
		memset(at, 1, 2 * HUGE_PAGE);
		if (igt_radeon_vmstat("thp_fault_alloc") > faults) {
			huge_trial(fd, at);
			kinds++;
		}
	}
	munmap(mem, 3 * HUGE_PAGE);
	igt_radeon_baseline_assert(fd, &before);
	igt_info("%u kinds of huge pages\n", kinds);
	igt_require_f(kinds, "this machine has no huge pages\n");
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER |
					       RADEON_GEM_RW_CAP_STAGED);
	}

	igt_describe("User memory is a mapping of a file that is too short.");
	igt_subtest("truncated")
		test_truncated(fd);

	igt_describe("User memory must not be read or written.");
	igt_subtest("permissions")
		test_permissions(fd);

	igt_describe("User memory is a mapping of a read-only file.");
	igt_subtest("read-only-file")
		test_read_only_file(fd);

	igt_describe("User memory consists of huge pages.");
	igt_subtest("huge-pages")
		test_huge(fd);

	igt_fixture()
		close(fd);
}
