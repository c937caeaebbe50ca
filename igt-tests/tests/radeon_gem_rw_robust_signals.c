// SPDX-License-Identifier: MIT
/*
 * PREAD, PWRITE and TRANSFER while signals arrive, processes are killed, and
 * files and handles are closed.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw robust signals
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, interrupted calls
 * Description: Checks that calls that are interrupted, or whose process, BO or
 *              file goes away meanwhile, leave the right bytes and leak
 *              nothing.
 */
IGT_TEST_DESCRIPTION("Checks interrupted reads and writes of radeon BOs.");

#define LATENCY_US	10000u
#define HOLD_US		300000u
#define END_SECONDS	20u

static timer_t storm_timer;
static volatile uint32_t storm_us;
static volatile uint32_t storm_count;

/* One shot at a random time, so that calls get on on the slowest machine. */
static void storm_next(void)
{
	struct itimerspec when = {
		.it_value.tv_nsec =
			1000 * (50 + igt_radeon_random() % (2 * storm_us)),
	};

	timer_settime(storm_timer, 0, &when, NULL);
}

static void storm_handler(int sig)
{
	(void)sig;
	storm_count++;
	if (storm_us)
		storm_next();
}

static void storm_begin(uint32_t us, bool restart)
{
	struct sigaction action = {
		.sa_handler = storm_handler,
		.sa_flags = restart ? SA_RESTART : 0,
	};
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGUSR1,
	};

	storm_us = us;
	storm_count = 0;
	igt_assert_eq(sigaction(SIGUSR1, &action, NULL), 0);
	igt_assert_eq(timer_create(CLOCK_MONOTONIC, &event, &storm_timer), 0);
	storm_next();
}

static void storm_end(void)
{
	storm_us = 0;
	timer_delete(storm_timer);
	signal(SIGUSR1, SIG_IGN);
}

/**
 * SUBTEST: storm-%s
 * Description: While a timer sends signals at random times, each call ends, and
 *              its bytes are right. The signal handler has SA_RESTART or not.
 *
 * arg[1]:
 *
 * @small: 300 bytes, idle
 * @medium: 200 KiB, idle
 * @large: 3 MiB of GTT
 * @busy: 4 KiB, busy
 * @staged: through the staging buffer
 * @invisible: CPU-inaccessible VRAM
 */
static void test_storm(int fd, const struct igt_radeon_way *path)
{
	static const uint32_t intervals[] = { 400, 1500, 4000 };
	unsigned int i, j, signals = 0, interrupted = 0;
	struct igt_radeon_call call;
	struct igt_radeon_trial t;
	enum igt_radeon_op op;
	double end;
	int ret;

	igt_radeon_trial_init(&t, fd, path, LATENCY_US);
	for (op = 0; op < IGT_RADEON_OPS; op++) {
		const char *stat = igt_radeon_op_writes(op) ? path->write :
								path->read;
		uint64_t before = stat ? igt_radeon_stat(fd, stat) : 0;

		for (i = 0; i < ARRAY_SIZE(intervals); i++) {
			for (j = 0; j < 4; j++) {
				igt_radeon_trial_prepare(&t);
				call = igt_radeon_trial_call(&t, op);
				end = igt_radeon_now() + END_SECONDS;
				storm_begin(intervals[i], j % 2);
				do {
					ret = igt_radeon_call_once(&call);
					interrupted += ret == -EINTR;
				} while (ret == -EINTR && igt_radeon_now() < end);
				signals += storm_count;
				storm_end();
				igt_assert_f(ret == 0,
					     "%s, %s, a signal every %u us: %d\n",
					     path->name, igt_radeon_op_name[op],
					     intervals[i], ret);
				igt_radeon_trial_check(&t, op, true);
			}
		}
		igt_assert_f(!stat || igt_radeon_stat(fd, stat) > before,
			     "%s, %s did not take its path\n", path->name,
			     igt_radeon_op_name[op]);
	}
	igt_radeon_trial_fini(&t);
	igt_info("%u signals, %u calls interrupted\n", signals, interrupted);
	if (path->busy)
		igt_assert_f(interrupted > 0, "no call was interrupted\n");
}

/* Memory that a process that will be killed shares with its parent. */
struct victim {
	const struct igt_radeon_way *path;
	enum igt_radeon_op op;
	volatile uint32_t calls;
	volatile uint32_t inside;
};

static struct victim *victim;

/* Makes calls until it is killed. */
static int victim_main(void *data)
{
	struct victim *v = data;
	struct igt_radeon_trial t;
	struct igt_radeon_call call;

	/* A file and BOs of its own, which only its death closes. */
	igt_radeon_trial_init(&t, igt_radeon_open(), v->path, LATENCY_US);
	memset(t.mem, 0x77, t.span);
	call = igt_radeon_trial_call(&t, v->op);
	for (;;) {
		igt_radeon_trial_queue(&t);
		v->inside = 1;
		if (igt_radeon_call(&call))
			return 1;
		v->inside = 0;
		v->calls++;
	}
}

/**
 * SUBTEST: kill-%s
 * Description: Processes are killed at random moments of their calls. They end
 *              at once, leak no GTT or VRAM, and the device works
 *              for others.
 *
 * arg[1]:
 *
 * @small: 300 bytes, idle
 * @medium: 200 KiB, idle
 * @large: 3 MiB of GTT
 * @busy: 4 KiB, busy
 * @staged: through the staging buffer
 * @invisible: CPU-inaccessible VRAM
 */
static void test_kill(int fd, const struct igt_radeon_way *path)
{
	const unsigned int rounds = path->size >= 1 << 20 ? 8 : 6;
	struct igt_radeon_baseline before;
	unsigned int i, inside = 0, kills = 0;
	struct igt_radeon_trial t;
	enum igt_radeon_op op;
	double end;
	int status;
	pid_t pid;

	before = igt_radeon_baseline_take(fd);
	for (op = 0; op < IGT_RADEON_OPS; op++) {
		for (i = 0; i < rounds; i++) {
			*victim = (struct victim) { .path = path, .op = op };
			pid = igt_radeon_spawn(victim_main, victim);
			end = igt_radeon_now() + END_SECONDS;
			while (!victim->calls && igt_radeon_now() < end)
				usleep(200);
			igt_assert_f(victim->calls, "%s, %s: no call succeeds\n",
				     path->name, igt_radeon_op_name[op]);
			usleep(igt_radeon_random() % (2 * LATENCY_US));
			/* In most rounds, kill it inside of a call. */
			while (i % 4 && !victim->inside && igt_radeon_now() < end)
				;
			inside += victim->inside;
			kills++;
			kill(pid, SIGKILL);
			status = igt_radeon_reap(pid, END_SECONDS);
			igt_assert(WIFSIGNALED(status) &&
				   WTERMSIG(status) == SIGKILL);
		}
	}
	igt_radeon_set_latency(fd, 0);
	igt_radeon_baseline_assert(fd, &before);
	igt_info("%u of %u were killed in a call\n", inside, kills);
	igt_assert_f(inside >= kills / 3, "killed in %u of %u calls only\n",
		     inside, kills);

	igt_radeon_trial_init(&t, fd, path, 0);
	for (op = 0; op < IGT_RADEON_OPS; op++) {
		igt_radeon_trial_prepare(&t);
		igt_radeon_trial_again(&t, op);
	}
	igt_radeon_trial_fini(&t);
	igt_radeon_baseline_assert(fd, &before);
}

/**
 * SUBTEST: close-handle-%s
 * Description: Another thread closes the BO's handle during the call, and makes
 *              a new BO, which gets the same handle. The call continues with
 *              the old BO, and does not touch the new one.
 *
 * arg[1]:
 *
 * @busy: 4 KiB, busy
 * @staged: through the staging buffer
 * @invisible: CPU-inaccessible VRAM
 */
static void test_close_handle(int fd, const struct igt_radeon_way *path)
{
	struct igt_radeon_baseline before = igt_radeon_baseline_take(fd);
	unsigned int i, reused = 0, late = 0;
	struct igt_radeon_thread thread;
	struct igt_radeon_trial t;
	enum igt_radeon_op op;
	struct igt_radeon_bo bo;
	uint8_t *model;
	int ret;

	for (op = 0; op < IGT_RADEON_OPS; op++) {
		for (i = 0; i < 3; i++) {
			igt_radeon_trial_init(&t, fd, path, HOLD_US);
			model = igt_radeon_malloc(t.span);
			igt_radeon_pattern(model, t.span, i);
			igt_radeon_trial_prepare(&t);

			thread.call = igt_radeon_trial_call(&t, op);
			thread.once = false;
			igt_radeon_thread_start(&thread);
			late += igt_radeon_thread_settle(&thread);
			bo = t.bo;
			igt_radeon_bo_fini(&bo);
			igt_radeon_bo_init(&bo, fd, t.span, path->domain,
					   path->flags);
			reused += bo.handle == t.bo.handle;
			igt_radeon_set_latency(fd, 0);
			igt_radeon_bo_fill(&bo, model);

			ret = igt_radeon_thread_join(&thread, END_SECONDS);
			igt_assert_f(ret == 0, "%s, %s of a closed BO: %d\n",
				     path->name, igt_radeon_op_name[op], ret);
			igt_assert_f(igt_radeon_op_writes(op) ||
				     !memcmp(t.mem + t.offset, t.held + t.offset,
					     path->size),
				     "%s, %s of a closed BO: wrong bytes\n",
				     path->name, igt_radeon_op_name[op]);
			igt_radeon_bo_assert(&bo, model, "the new BO");
			free(model);
			t.bo = bo;
			igt_radeon_trial_fini(&t);
		}
	}
	igt_info("%u closed during a call, %u handles reused\n", late, reused);
	igt_assert_f(reused > 0 && late > 0,
		     "closed during %u calls, %u handles reused\n", late, reused);
	igt_radeon_baseline_assert(fd, &before);
}

/**
 * SUBTEST: close-file-%s
 * Description: Another thread closes the file during the call. The call
 *              succeeds, and nothing is leaked.
 *
 * arg[1]:
 *
 * @busy: 4 KiB, busy
 * @staged: through the staging buffer
 * @invisible: CPU-inaccessible VRAM
 */
static void test_close_file(int fd, const struct igt_radeon_way *path)
{
	struct igt_radeon_baseline before = igt_radeon_baseline_take(fd);
	struct igt_radeon_thread thread;
	enum igt_radeon_op op;
	struct igt_radeon_trial t;
	unsigned int late = 0;
	int ret;

	for (op = 0; op < IGT_RADEON_OPS; op++) {
		igt_radeon_trial_init(&t, igt_radeon_open(), path, HOLD_US);
		igt_radeon_trial_prepare(&t);
		thread.call = igt_radeon_trial_call(&t, op);
		thread.once = true;
		igt_radeon_thread_start(&thread);
		late += igt_radeon_thread_settle(&thread);
		close(t.fd);
		igt_radeon_set_latency(fd, 0);
		ret = igt_radeon_thread_join(&thread, END_SECONDS);
		igt_assert_f(ret == 0, "%s, %s with its file closed: %d\n",
			     path->name, igt_radeon_op_name[op], ret);
		igt_assert_f(igt_radeon_op_writes(op) ||
			     !memcmp(t.mem + t.offset, t.held + t.offset,
				     path->size),
			     "%s, %s with its file closed: wrong bytes\n",
			     path->name, igt_radeon_op_name[op]);
		munmap(t.mem, t.span);
		free(t.held);
		free(t.fresh);
	}
	igt_assert_f(late > 0, "no file was closed during a call\n");
	igt_radeon_baseline_assert(fd, &before);
}

/* Keeps a BO busy all the time with copies that take a while, until it is killed. */
static int hammer_main(void *data)
{
	struct igt_radeon_bo *bo = data;

	while (!igt_radeon_try_copy(IGT_RADEON_CP_DMA, &bo[0], 0, &bo[1], 0, PAGE) &&
	       !igt_radeon_try_copy(IGT_RADEON_CP_DMA, &bo[1], 0, &bo[0], 0, PAGE))
		victim->calls++;
	return 1;
}

/*
 * A call of a few steps has the BO locked in the end, until it is idle. The hammer
 * goes on when the machine lets it.
 */
static bool hammered_again(const struct igt_radeon_bo *bo, uint32_t calls)
{
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		if (victim->calls > calls && igt_radeon_bo_busy(bo))
			return true;
		usleep(5000);
	}
	return false;
}

/* Returns how many calls the signals have ended before one succeeded. */
static unsigned int starved_call(enum igt_radeon_op op, const struct igt_radeon_bo *bo,
				 uint8_t *mem, uint8_t *model)
{
	const uint32_t calls = victim->calls;
	unsigned int interrupted = 0;
	int ret;

	memcpy(model, mem, bo->size);
	storm_begin(500, false);
	do {
		ret = igt_radeon_call_once(&(struct igt_radeon_call) {
			.op = op,
			.fd = bo->fd,
			.handle = bo->handle,
			.size = bo->size,
			.mem = mem,
		});
		interrupted += ret == -EINTR;
	} while (ret == -EINTR && interrupted < 200);
	storm_end();
	igt_assert_f(hammered_again(bo, calls), "the BO was not kept busy\n");
	igt_assert_f(ret == 0, "%s: %d, interrupted %u times\n",
		     igt_radeon_op_name[op], ret, interrupted);
	/* The driver allows four in a row, and forgets one with each step. */
	igt_assert_f(interrupted <= 8, "%s: interrupted %u times\n",
		     igt_radeon_op_name[op], interrupted);
	igt_radeon_assert_equal(mem, model, bo->size, igt_radeon_op_name[op]);
	return interrupted;
}

/**
 * SUBTEST: starved
 * Description: Another process submits work for the BO all the time, so that it
 *              is always busy, and the caller gets a signal each millisecond.
 *              Calls of a few steps end after a few that are interrupted.
 */
static void test_starved(int fd)
{
	const uint64_t size = 700 * KIB;
	uint8_t *mem = igt_radeon_memory(size), *model = igt_radeon_malloc(size);
	struct igt_radeon_bo bo[2];
	unsigned int i, op, total = 0;
	double end;
	pid_t pid;

	igt_radeon_require_board(fd);
	for (i = 0; i < 2; i++)
		igt_radeon_bo_init(&bo[i], fd, size, RADEON_GEM_DOMAIN_VRAM,
				   RADEON_GEM_CPU_ACCESS);
	igt_radeon_pattern(mem, size, 1);
	/* The hammer copies the first page of each to the other. */
	for (i = 0; i < 2; i++)
		igt_radeon_bo_fill(&bo[i], mem);
	*victim = (struct victim) { .calls = 0 };
	igt_radeon_set_latency(fd, LATENCY_US);
	pid = igt_radeon_spawn(hammer_main, bo);
	for (i = 0; i < 1000 && victim->calls < 20; i++)
		usleep(10000);
	igt_assert_f(victim->calls >= 20, "the BO is not kept busy\n");
	/* If the machine does not let the hammer go on, the BO is idle, and calls just end. */
	end = igt_radeon_now() + END_SECONDS;
	for (op = 0; op < IGT_RADEON_OPS || (!total && igt_radeon_now() < end); op++)
		total += starved_call(op % IGT_RADEON_OPS, &bo[0], mem, model);
	kill(pid, SIGKILL);
	igt_radeon_reap(pid, END_SECONDS);
	igt_radeon_set_latency(fd, 0);
	for (i = 0; i < 2; i++) {
		igt_radeon_bo_wait(&bo[i]);
		igt_radeon_bo_fini(&bo[i]);
	}
	free(model);
	munmap(mem, size);
	igt_assert_f(total > 0, "no call was interrupted\n");
}

static void *exit_soon(void *data)
{
	usleep(*(uint32_t *)data);
	_exit(42);
}

/* A thread makes calls until another one ends the process. */
static int exit_main(void *data)
{
	uint32_t delay = igt_radeon_random() % 30000;
	struct victim *v = data;
	struct igt_radeon_trial t;
	struct igt_radeon_call call;
	pthread_t thread;

	igt_radeon_trial_init(&t, igt_radeon_open(), v->path, LATENCY_US);
	memset(t.mem, 0x77, t.span);
	call = igt_radeon_trial_call(&t, v->op);
	if (pthread_create(&thread, NULL, exit_soon, &delay))
		return 1;
	for (;;) {
		igt_radeon_trial_queue(&t);
		if (igt_radeon_call(&call))
			return 2;
	}
}

/**
 * SUBTEST: exit-%s
 * Description: Another thread ends the process during a call. The process ends
 *              at once, and nothing is leaked.
 *
 * arg[1]:
 *
 * @small: 300 bytes, idle
 * @medium: 200 KiB, idle
 * @large: 3 MiB of GTT
 * @busy: 4 KiB, busy
 * @staged: through the staging buffer
 * @invisible: CPU-inaccessible VRAM
 */
static void test_exit(int fd, const struct igt_radeon_way *path)
{
	struct igt_radeon_baseline before = igt_radeon_baseline_take(fd);
	enum igt_radeon_op op;
	unsigned int i;
	int status;
	pid_t pid;

	for (op = 0; op < IGT_RADEON_OPS; op++) {
		for (i = 0; i < 3; i++) {
			*victim = (struct victim) { .path = path, .op = op };
			pid = igt_radeon_spawn(exit_main, victim);
			/* Otherwise all children get the same number. */
			igt_radeon_random();
			status = igt_radeon_reap(pid, END_SECONDS);
			igt_assert_f(WIFEXITED(status) &&
				     WEXITSTATUS(status) == 42,
				     "%s, %s: status %#x\n", path->name,
				     igt_radeon_op_name[op], status);
		}
	}
	igt_radeon_set_latency(fd, 0);
	igt_radeon_baseline_assert(fd, &before);
}

static const struct {
	const char *name;
	const char *describe;
	void (*run)(int fd, const struct igt_radeon_way *path);
	bool sleeps;	/* only for calls that wait for the GPU */
} tests[] = {
	{ "storm", "Calls that signals interrupt transfer the right bytes.",
	  test_storm, false },
	{ "kill", "A process that is killed in its call leaks nothing.",
	  test_kill, false },
	{ "close-handle", "The handle is closed and reused in a call.",
	  test_close_handle, true },
	{ "close-file", "A file is closed in a call.", test_close_file, true },
	{ "exit", "The process ends in a call.", test_exit, false },
};

int igt_main()
{
	const struct igt_radeon_way *path;
	unsigned int i, j;
	char name[64];
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER |
					       RADEON_GEM_RW_CAP_STAGED);
		igt_radeon_require_stats(fd);
		victim = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		igt_assert(victim != MAP_FAILED);
	}

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		for (j = 0; j < igt_radeon_way_count; j++) {
			path = &igt_radeon_ways[j];
			if (tests[i].sleeps && !igt_radeon_way_sleeps(path))
				continue;
			snprintf(name, sizeof(name), "%s-%s", tests[i].name,
				 path->name);
			igt_describe(tests[i].describe);
			igt_subtest(name) {
				igt_require_f(!tests[i].sleeps ||
					      igt_radeon_has_board(fd),
					      "needs the emulated board\n");
				igt_require_f(igt_radeon_has_way(fd, path),
					      "needs the emulated board, or CPU-inaccessible VRAM\n");
				tests[i].run(fd, path);
			}
			igt_fixture()
				igt_radeon_set_latency(fd, 0);
		}
	}

	igt_describe("Calls end although signals come, and others use the BO.");
	igt_subtest("starved")
		test_starved(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_fixture()
		close(fd);
}
