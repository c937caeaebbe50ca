// SPDX-License-Identifier: MIT
/*
 * Processes that a test can kill, and calls in threads of their own.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_process.h"

/**
 * igt_radeon_spawn:
 * @fn: runs in a new process, and returns its exit status. It must not skip,
 *	and a failed assertion in it is not reported.
 * @data: passed to @fn
 *
 * Unlike a child of igt_fork(), the process may be killed.
 *
 * Returns: its process id
 */
pid_t igt_radeon_spawn(int (*fn)(void *data), void *data)
{
	pid_t pid = fork();

	igt_assert(pid >= 0);
	if (!pid) {
		/* A test that fails must not leave the process behind. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* The time-out of the test is for the parent. */
		signal(SIGALRM, SIG_DFL);
		_exit(fn(data));
	}
	return pid;
}

/**
 * igt_radeon_reap:
 * @pid: process of igt_radeon_spawn()
 * @seconds: how long it may take to end
 *
 * Returns: its status, as waitpid() gives it
 */
int igt_radeon_reap(pid_t pid, unsigned int seconds)
{
	double end = igt_radeon_now() + seconds;
	int status;
	pid_t got;

	while (!(got = waitpid(pid, &status, WNOHANG))) {
		igt_assert_f(igt_radeon_now() < end,
			     "process %d does not end\n", (int)pid);
		usleep(500);
	}
	igt_assert_eq(got, pid);
	return status;
}

static void *thread_main(void *data)
{
	struct igt_radeon_thread *t = data;

	t->tid = syscall(SYS_gettid);
	__atomic_store_n(&t->started, true, __ATOMIC_RELEASE);
	t->ret = t->once ? igt_radeon_call_once(&t->call) :
			   igt_radeon_call(&t->call);
	__atomic_store_n(&t->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

/**
 * igt_radeon_thread_start:
 * @t: thread, whose call and @once are set
 *
 * Starts a thread that makes the call, and waits until it has begun to run.
 */
void igt_radeon_thread_start(struct igt_radeon_thread *t)
{
	pthread_attr_t attr;

	t->started = false;
	t->ended = false;
	igt_assert_eq(pthread_attr_init(&attr), 0);
	igt_assert_eq(pthread_attr_setstacksize(&attr, 128 << 10), 0);
	igt_assert_eq(pthread_create(&t->thread, &attr, thread_main, t), 0);
	pthread_attr_destroy(&attr);
	while (!__atomic_load_n(&t->started, __ATOMIC_ACQUIRE))
		usleep(50);
}

/**
 * igt_radeon_thread_ended:
 * @t: thread
 *
 * Returns: whether its call has returned
 */
bool igt_radeon_thread_ended(const struct igt_radeon_thread *t)
{
	return __atomic_load_n(&t->ended, __ATOMIC_ACQUIRE);
}

/**
 * igt_radeon_thread_settle:
 * @t: thread
 *
 * Waits until its call sleeps in the kernel, or has returned. A call that
 * sleeps has looked up its file and its BO.
 *
 * Returns: whether it sleeps
 */
bool igt_radeon_thread_settle(const struct igt_radeon_thread *t)
{
	double end = igt_radeon_now() + 10;
	char path[64], text[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)t->tid);
	while (!igt_radeon_thread_ended(t)) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
		if (fd >= 0)
			close(fd);
		text[n > 0 ? n : 0] = 0;
		/* "running", or the number of the system call that sleeps */
		if (n > 0 && atoi(text) == SYS_ioctl)
			return true;
		igt_assert_f(igt_radeon_now() < end,
			     "a call neither sleeps nor ends\n");
		usleep(100);
	}
	return false;
}

/**
 * igt_radeon_thread_join:
 * @t: thread
 * @seconds: how long it may take
 *
 * Returns: result of its call
 */
int igt_radeon_thread_join(struct igt_radeon_thread *t, unsigned int seconds)
{
	double end = igt_radeon_now() + seconds;

	while (!igt_radeon_thread_ended(t)) {
		igt_assert_f(igt_radeon_now() < end,
			     "%s of %llu bytes does not end\n",
			     igt_radeon_op_name[t->call.op],
			     (unsigned long long)t->call.size);
		usleep(500);
	}
	pthread_join(t->thread, NULL);
	return t->ret;
}
