/* SPDX-License-Identifier: MIT */
/*
 * Processes that a test can kill, and calls in threads of their own.
 */
#ifndef IGT_RADEON_PROCESS_H
#define IGT_RADEON_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "igt_radeon_rw.h"

/* Processes that a test can kill */
pid_t igt_radeon_spawn(int (*fn)(void *data), void *data);
int igt_radeon_reap(pid_t pid, unsigned int seconds);

/**
 * struct igt_radeon_thread - a call in a thread of its own
 * @call: the call
 * @once: do not repeat the call if a signal or a reset ends it
 * @ret: result of the call, once @ended
 * @started: the thread has begun to run
 * @ended: the call has returned
 * @tid: thread id, once @started
 * @thread: handle
 */
struct igt_radeon_thread {
	struct igt_radeon_call call;
	bool once;
	int ret;
	bool started;
	bool ended;
	pid_t tid;
	pthread_t thread;
};

void igt_radeon_thread_start(struct igt_radeon_thread *t);
bool igt_radeon_thread_ended(const struct igt_radeon_thread *t);
bool igt_radeon_thread_settle(const struct igt_radeon_thread *t);
int igt_radeon_thread_join(struct igt_radeon_thread *t, unsigned int seconds);

#endif /* IGT_RADEON_PROCESS_H */
