// SPDX-License-Identifier: MIT
/*
 * PREAD, PWRITE and TRANSFER with user memory that other processes share: copy
 * on write after fork(), or as a shared mapping.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw robust fork
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, shared user memory
 * Description: Checks that calls whose user memory is shared with another
 *              process transfer the caller's bytes, and show the other process
 *              none.
 */
IGT_TEST_DESCRIPTION("Checks reads and writes of radeon BOs whose user memory is shared.");

#define HOLD_US		2000000u
#define END_SECONDS	20u

/* Bytes that a forked child should see; its exit status is the verdict. */
struct fork_job {
	const uint8_t *mem;
	const uint8_t *expected;
	size_t size;
	size_t edge;	/* bytes that may have been read already */
	bool write;
	int go[2];
};

/*
 * Checks memory at once and again when the transfer has ended. If @write is
 * set, it writes bytes of its own in between.
 */
static int fork_main(void *data)
{
	struct fork_job *job = data;
	uint8_t *seen = igt_radeon_malloc(job->size);
	uint8_t *mem = (uint8_t *)job->mem;
	size_t i;
	char c;

	if (memcmp(mem + job->edge, job->expected + job->edge,
		   job->size - job->edge))
		return 1;
	memcpy(seen, mem, job->size);
	if (job->write)
		memset(mem, 0x11, job->size);
	close(job->go[1]);
	if (read(job->go[0], &c, 1) < 0)
		return 2;
	if (!job->write)
		return memcmp(mem, seen, job->size) ? 3 : 0;
	for (i = 0; i < job->size; i++)
		if (mem[i] != 0x11)
			return 4;
	return 0;
}

/**
 * SUBTEST: fork-%s
 * Description: The process forks while a transfer waits for the GPU. The child,
 *              whether it writes to its copy or not, never sees the bytes that
 *              are read afterwards, and a write does not take the child's
 *              bytes. The parent's transfer is right.
 *
 * arg[1]:
 *
 * @busy: waits before it copies
 * @staged: waits for a copy through the staging buffer
 * @zero-copy: waits with user memory pinned
 */
static void test_fork(int fd, const struct igt_radeon_way *path)
{
	struct igt_radeon_baseline before = igt_radeon_baseline_take(fd);
	unsigned int i, asleep, late = 0;
	struct igt_radeon_thread thread;
	enum igt_radeon_op op;
	struct igt_radeon_trial t;
	struct fork_job job;
	int status, ret;
	pid_t pid;

	for (op = 0; op < IGT_RADEON_OPS; op++) {
		for (i = 0; i < 2; i++) {
			igt_radeon_trial_init(&t, fd, path, HOLD_US);
			igt_radeon_trial_prepare(&t);
			job = (struct fork_job) {
				.mem = t.mem,
				.expected = t.fresh,
				.size = t.span,
				.write = i,
			};
			/* The CPU copies up to the first whole page. */
			if (!igt_radeon_op_writes(op) &&
			    !strcmp(path->name, "zero-copy"))
				job.edge = t.offset / PAGE * PAGE + PAGE;
			igt_assert_eq(pipe(job.go), 0);
			thread.call = igt_radeon_trial_call(&t, op);
			thread.once = false;
			igt_radeon_thread_start(&thread);
			asleep = igt_radeon_thread_settle(&thread);
			late += asleep;
			pid = igt_radeon_spawn(fork_main, &job);

			/* By now the child has checked and written. */
			close(job.go[0]);
			usleep(50000);
			if (asleep)
				igt_assert_f(!igt_radeon_thread_ended(&thread),
					     "the GPU was too early\n");
			igt_radeon_set_latency(fd, 0);
			ret = igt_radeon_thread_join(&thread, END_SECONDS);
			igt_assert_f(ret == 0, "%s, %s: %d\n", path->name,
				     igt_radeon_op_name[op], ret);
			igt_radeon_trial_check(&t, op, true);
			close(job.go[1]);
			status = igt_radeon_reap(pid, END_SECONDS);
			igt_assert_f(WIFEXITED(status) && !WEXITSTATUS(status),
				     "%s, %s: the child's memory is wrong (%#x)\n",
				     path->name, igt_radeon_op_name[op],
				     status);
			igt_radeon_trial_fini(&t);
		}
	}
	igt_assert_f(late >= 4, "forked during %u calls only\n", late);
	igt_radeon_baseline_assert(fd, &before);
}

/**
 * SUBTEST: fork-shared-pages
 * Description: A read into memory that is shared copy on write with a forked
 *              child gives the parent a copy of its own, and the child sees no
 *              byte of it. A write from such memory takes the caller's bytes,
 *              also after the child has changed its own.
 */
static void test_fork_shared(int fd, const struct igt_radeon_way *path)
{
	enum igt_radeon_op op;
	struct igt_radeon_trial t;
	struct igt_radeon_call call;
	struct fork_job job;
	unsigned int i;
	int status;
	pid_t pid;

	igt_radeon_trial_init(&t, fd, path, 0);
	for (op = 0; op < IGT_RADEON_OPS; op++) {
		for (i = 0; i < 2; i++) {
			igt_radeon_trial_prepare(&t);
			job = (struct fork_job) {
				.mem = t.mem,
				.expected = t.fresh,
				.size = t.span,
				.write = i,
			};
			igt_assert_eq(pipe(job.go), 0);
			pid = igt_radeon_spawn(fork_main, &job);
			close(job.go[0]);
			if (i)
				usleep(30000);
			call = igt_radeon_trial_call(&t, op);
			igt_assert_eq(igt_radeon_call(&call), 0);
			close(job.go[1]);
			status = igt_radeon_reap(pid, END_SECONDS);
			igt_assert_f(WIFEXITED(status) && !WEXITSTATUS(status),
				     "%s, %s: the child's memory is wrong (%#x)\n",
				     path->name, igt_radeon_op_name[op],
				     status);
			igt_radeon_trial_check(&t, op, true);
		}
	}
	igt_radeon_trial_fini(&t);
}

static int idle_main(void *data)
{
	(void)data;
	pause();
	return 0;
}

/* Makes zero-copies of the same memory; returns how many bytes were. */
static uint64_t count_zero_copies(struct igt_radeon_trial *t,
				  enum igt_radeon_op op, unsigned int count)
{
	struct igt_radeon_stats stats = igt_radeon_stats(t->fd);
	struct igt_radeon_call call;

	while (count--) {
		call = igt_radeon_trial_call(t, op);
		igt_assert_eq(igt_radeon_call(&call), 0);
		igt_radeon_trial_check(t, op, true);
	}
	stats = igt_radeon_stats_since(t->fd, &stats);
	return stats.bytes[IGT_RADEON_ZERO_COPY];
}

/**
 * SUBTEST: fork-keeps-zero-copy
 * Description: All transfers of large memory are zero-copies, also when the
 *              process has forked after it had written the memory: as long as
 *              the child lives, and when it has ended.
 */
static void test_fork_zero_copy(int fd)
{
	const struct igt_radeon_way *path = igt_radeon_way("zero-copy");
	uint64_t before, during, after;
	struct igt_radeon_trial t;
	enum igt_radeon_op op;
	pid_t pid;

	igt_radeon_require_stats(fd);
	for (op = 0; op < IGT_RADEON_OPS; op++) {
		igt_radeon_trial_init(&t, fd, path, 0);
		igt_radeon_trial_prepare(&t);
		before = count_zero_copies(&t, op, 2);

		igt_radeon_trial_prepare(&t);
		pid = igt_radeon_spawn(idle_main, NULL);
		during = count_zero_copies(&t, op, 2);
		kill(pid, SIGKILL);
		igt_radeon_reap(pid, END_SECONDS);

		igt_radeon_trial_prepare(&t);
		pid = igt_radeon_spawn(idle_main, NULL);
		kill(pid, SIGKILL);
		igt_radeon_reap(pid, END_SECONDS);
		after = count_zero_copies(&t, op, 2);

		igt_assert_f(before > path->size, "%s: nothing was a zero-copy\n",
			     igt_radeon_op_name[op]);
		igt_assert_f(during == before && after == before,
			     "%s: %llu bytes were zero-copies, %llu with a child, %llu after its exit\n",
			     igt_radeon_op_name[op], (unsigned long long)before,
			     (unsigned long long)during,
			     (unsigned long long)after);
		igt_radeon_trial_fini(&t);
	}
}

/* A process that is killed in its call and leaves its pages to the GPU. */
struct leaver {
	const struct igt_radeon_way *path;
	enum igt_radeon_op op;
	uint8_t *shared;
	uint32_t seed;
};

/* Users of the device for runtime power management. */
static int runtime_users(int fd)
{
	char path[80], text[16];
	struct stat st;

	igt_assert_eq(fstat(fd, &st), 0);
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/power/runtime_usage",
		 major(st.st_rdev), minor(st.st_rdev));
	igt_require_f(igt_radeon_get(path, text, sizeof(text)) > 0,
		      "no %s: needs CONFIG_PM_ADVANCED_DEBUG\n", path);
	return atoi(text);
}

static int leaver_main(void *data)
{
	const struct leaver *l = data;
	struct igt_radeon_call call;
	struct igt_radeon_trial t;
	uint8_t *own;

	igt_radeon_trial_init(&t, igt_radeon_open(), l->path, HOLD_US);
	own = t.mem;
	t.mem = l->shared;
	igt_radeon_trial_prepare(&t);
	call = igt_radeon_trial_call(&t, l->op);
	igt_radeon_call(&call);
	t.mem = own;
	return 0;
}

/**
 * SUBTEST: kill-leaves-shared-pages
 * Description: A process is killed while the GPU copies from or to memory that
 *              it shares with another process. The pages stay pinned until the
 *              GPU is done, the other process can use and unmap them meanwhile,
 *              and then nothing is leaked. Until then the device has a user for
 *              runtime power management, so that it is not suspended.
 */
static void test_leave(int fd)
{
	const struct igt_radeon_way *path = igt_radeon_way("zero-copy");
	const size_t size = path->size + 4 * PAGE;
	struct igt_radeon_baseline before = igt_radeon_baseline_take(fd), during;
	enum igt_radeon_op op;
	unsigned int i, left = 0;
	struct leaver l = { .path = path };
	const int users = runtime_users(fd);
	int status, now;
	pid_t pid;

	igt_radeon_require_board(fd);
	for (op = 0; op < IGT_RADEON_OPS; op++) {
		l.op = op;
		l.shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		igt_assert(l.shared != MAP_FAILED);
		memset(l.shared, 0, size);
		pid = igt_radeon_spawn(leaver_main, &l);
		for (i = 0; i < 1000; i++) {
			usleep(5000);
			during = igt_radeon_baseline_take(fd);
			/* A read pins whole pages only. */
			if (during.pins + 1 >= before.pins + path->size / PAGE)
				break;
		}
		igt_assert_f(i < 1000, "nothing was pinned\n");
		kill(pid, SIGKILL);
		status = igt_radeon_reap(pid, END_SECONDS);
		igt_assert(WIFSIGNALED(status));
		during = igt_radeon_baseline_take(fd);
		left += during.pins > before.pins;
		now = runtime_users(fd);
		igt_assert_f(now == users + 1,
			     "%d users of the device for runtime power management, should be %d\n",
			     now, users + 1);
		memset(l.shared, 0x22, size);
		munmap(l.shared, size);
		igt_radeon_set_latency(fd, 0);
		igt_radeon_baseline_assert(fd, &before);
		/* The work item unpins the pages first. */
		for (i = 0; i < 50 && runtime_users(fd) != users; i++)
			usleep(20000);
		igt_assert_eq(runtime_users(fd), users);
	}
	igt_assert_f(left == IGT_RADEON_OPS,
		     "the GPU's pages were given back before it was done\n");
}

int igt_main()
{
	static const char * const waiting[] = { "busy", "staged", "zero-copy" };
	unsigned int i;
	char name[64];
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER |
					       RADEON_GEM_RW_CAP_STAGED);
	}

	for (i = 0; i < ARRAY_SIZE(waiting); i++) {
		snprintf(name, sizeof(name), "fork-%s", waiting[i]);
		igt_describe("A fork while a transfer waits for the GPU.");
		igt_subtest(name) {
			igt_radeon_require_board(fd);
			test_fork(fd, igt_radeon_way(waiting[i]));
		}
		igt_fixture()
			igt_radeon_set_latency(fd, 0);
	}

	igt_describe("Transfers from and to memory shared copy on write.");
	igt_subtest("fork-shared-pages") {
		for (i = 0; i < igt_radeon_way_count; i++)
			if (igt_radeon_has_way(fd, &igt_radeon_ways[i]))
				test_fork_shared(fd, &igt_radeon_ways[i]);
	}

	igt_describe("Zero-copies of memory from before a fork.");
	igt_subtest("fork-keeps-zero-copy")
		test_fork_zero_copy(fd);

	igt_describe("A killed process leaves shared pages to the GPU.");
	igt_subtest("kill-leaves-shared-pages")
		test_leave(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_fixture()
		close(fd);
}
