/* SPDX-License-Identifier: MIT */
/*
 * For tests that disturb PREAD, PWRITE and TRANSFER from outside: one way to
 * make any of these calls, the ways that a call can take in the kernel, what
 * the kernel counts of them, and what a call must not leave behind.
 */
#ifndef IGT_RADEON_PROC_H
#define IGT_RADEON_PROC_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "igt_radeon_rw.h"
#include "igt_radeon_stats.h"

/**
 * struct igt_radeon_call - arguments of a call, whichever it is
 * @op: which, and its direction
 * @fd: device
 * @handle: BO
 * @offset: first byte in the BO
 * @size: bytes
 * @mem: user memory
 * @flags: RADEON_GEM_RW_*
 */
struct igt_radeon_call {
	enum igt_radeon_op op;
	int fd;
	uint32_t handle;
	uint64_t offset;
	uint64_t size;
	void *mem;
	uint32_t flags;
};

/**
 * struct igt_radeon_way - a transfer that takes a certain way
 * @name: for messages
 * @domain: where its BO is, RADEON_GEM_DOMAIN_*
 * @flags: RADEON_GEM_* creation flags
 * @size: bytes of the transfer
 * @busy: the GPU is about to write the BO
 * @read: what the kernel counts then for a read, NULL if it depends
 * @write: the same for a write
 */
struct igt_radeon_way {
	const char *name;
	uint32_t domain;
	uint32_t flags;
	uint64_t size;
	bool busy;
	const char *read;
	const char *write;
};

extern const struct igt_radeon_way igt_radeon_ways[];
extern const unsigned int igt_radeon_way_count;

const struct igt_radeon_way *igt_radeon_way(const char *name);
bool igt_radeon_way_sleeps(const struct igt_radeon_way *path);
bool igt_radeon_has_way(int fd, const struct igt_radeon_way *path);

/* Calls; they return 0 or a negative errno, and do not assert. */
int igt_radeon_call_once(const struct igt_radeon_call *call);
int igt_radeon_call(const struct igt_radeon_call *call);

/* A call in a thread of its own */
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

/* What the kernel counts */
uint64_t igt_radeon_stat(int fd, const char *name);
void igt_radeon_reset_gpu(int fd);
uint32_t igt_radeon_reset_count(int fd);

/**
 * struct igt_radeon_stock - what must be the same afterwards as before
 * @gtt: bytes of GTT in use
 * @vram: bytes of VRAM in use
 * @pins: pages of user memory that are pinned
 */
struct igt_radeon_stock {
	uint64_t gtt;
	uint64_t vram;
	uint64_t pins;
};

struct igt_radeon_stock igt_radeon_stock_take(int fd);
void igt_radeon_stock_assert(int fd, const struct igt_radeon_stock *before);

/* Memory, time and chance */
uint8_t *igt_radeon_memory(size_t size);
double igt_radeon_now(void);
uint32_t igt_radeon_random(void);

/* Processes that may be killed */
pid_t igt_radeon_spawn(int (*fn)(void *data), void *data);
int igt_radeon_reap(pid_t pid, unsigned int seconds);

#endif /* IGT_RADEON_PROC_H */
