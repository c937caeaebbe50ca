// SPDX-License-Identifier: MIT
/*
 * PREAD, PWRITE and TRANSFER with user memory that other processes share: copy
 * on write after fork(), or as a shared mapping.
 */
#include <stdio.h>
#include <string.h>
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

	if (memcmp(mem, job->expected, job->size))
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

int igt_main()
{
	static const char * const waiting[] = { "busy", "staged" };
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

	igt_fixture()
		close(fd);
}
