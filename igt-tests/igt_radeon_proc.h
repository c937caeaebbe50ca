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

#include "igt_radeon.h"

/**
 * enum igt_radeon_rw_kind - which call, and its direction
 * @IGT_RADEON_RW_PREAD: PREAD
 * @IGT_RADEON_RW_PWRITE: PWRITE
 * @IGT_RADEON_RW_GET: TRANSFER from BOs
 * @IGT_RADEON_RW_PUT: TRANSFER to BOs
 */
enum igt_radeon_rw_kind {
	IGT_RADEON_RW_PREAD,
	IGT_RADEON_RW_PWRITE,
	IGT_RADEON_RW_GET,
	IGT_RADEON_RW_PUT,
	IGT_RADEON_RW_KINDS
};

/**
 * struct igt_radeon_rw_call - arguments of a call, whichever it is
 * @kind: which
 * @fd: device
 * @handle: BO
 * @offset: first byte in the BO
 * @size: bytes
 * @mem: user memory
 * @flags: RADEON_GEM_RW_*
 */
struct igt_radeon_rw_call {
	enum igt_radeon_rw_kind kind;
	int fd;
	uint32_t handle;
	uint64_t offset;
	uint64_t size;
	void *mem;
	uint32_t flags;
};

/**
 * struct igt_radeon_rw_path - a transfer that takes a certain way
 * @name: for messages
 * @domain: where its BO is, RADEON_GEM_DOMAIN_*
 * @flags: RADEON_GEM_* creation flags
 * @size: bytes of the transfer
 * @busy: the GPU is about to write the BO
 * @read: what the kernel counts then for a read, NULL if it depends
 * @write: the same for a write
 */
struct igt_radeon_rw_path {
	const char *name;
	uint32_t domain;
	uint32_t flags;
	uint64_t size;
	bool busy;
	const char *read;
	const char *write;
};

extern const struct igt_radeon_rw_path igt_radeon_rw_paths[];
extern const unsigned int igt_radeon_rw_path_count;

const struct igt_radeon_rw_path *igt_radeon_rw_path(const char *name);
bool igt_radeon_rw_sleeps(const struct igt_radeon_rw_path *path);
bool igt_radeon_rw_has_path(int fd, const struct igt_radeon_rw_path *path);

/* Calls; they return 0 or a negative errno, and do not assert. */
int igt_radeon_rw_once(const struct igt_radeon_rw_call *call);
int igt_radeon_rw(const struct igt_radeon_rw_call *call);
bool igt_radeon_rw_writes(enum igt_radeon_rw_kind kind);
const char *igt_radeon_rw_name(enum igt_radeon_rw_kind kind);

/* A call in a thread of its own */
struct igt_radeon_rw_thread {
	struct igt_radeon_rw_call call;
	bool once;
	int ret;
	bool started;
	bool ended;
	pid_t tid;
	pthread_t thread;
};

void igt_radeon_rw_start(struct igt_radeon_rw_thread *t);
bool igt_radeon_rw_ended(const struct igt_radeon_rw_thread *t);
bool igt_radeon_rw_settle(const struct igt_radeon_rw_thread *t);
int igt_radeon_rw_join(struct igt_radeon_rw_thread *t, unsigned int seconds);

/* What the kernel counts */
bool igt_radeon_debugfs_path(int fd, const char *name, char *path, size_t size);
void igt_radeon_require_stats(int fd);
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

bool igt_radeon_put_file(const char *path, const char *text);
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
