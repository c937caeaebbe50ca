/* SPDX-License-Identifier: MIT */
/*
 * Parts of radeon_gem_rw_fuzz: a worker process, its BOs and their models, user
 * memory of many kinds, and operations.
 *
 * The operations of a worker follow from the seed, its number, its generation
 * (how often it was killed and started again) and the number of the operation.
 * Their results also depend on time.
 *
 * All bytes that a worker writes have its number in their upper three bits. So
 * a worker recognizes bytes of others even after a GPU reset that may have lost
 * queued work, when it does not know which of its own bytes should be there.
 */
#ifndef IGT_FUZZ_H
#define IGT_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "igt_radeon.h"

#define FUZZ_WORKERS	4
#define FUZZ_SHARED	3	/* number of BOs that all workers use */
#define FUZZ_GRANULE	1000	/* bytes of a shared BO for one worker */
#define FUZZ_BOS	40
#define FUZZ_MAX_SIZE	(8u << 20)
#define FUZZ_GUARD	64u

/* User memory is filled with this byte, which no worker writes. */
#define FUZZ_CANARY	0xe7

enum fuzz_op {
	FUZZ_PWRITE,
	FUZZ_PREAD,
	FUZZ_TRANSFER_WRITE,
	FUZZ_TRANSFER_READ,
	FUZZ_BAD_RW,
	FUZZ_BAD_TRANSFER,
	FUZZ_COPY,
	FUZZ_MAP,
	FUZZ_CREATE,
	FUZZ_CLOSE,
	FUZZ_PRESSURE,
	FUZZ_PEEK,
	FUZZ_CHECK,
	FUZZ_SIGNALS,
	FUZZ_OPS
};

/* Results of the calls under test; each attempt counts. */
enum fuzz_result {
	FUZZ_OK,
	FUZZ_EINVAL,
	FUZZ_EFAULT,
	FUZZ_ENOENT,
	FUZZ_EPERM,
	FUZZ_EOPNOTSUPP,
	FUZZ_EBUSY,
	FUZZ_EAGAIN,
	FUZZ_EINTR,
	FUZZ_RESULTS
};

/**
 * struct fuzz_stats - counters of a worker, over all of its generations
 * @operation: number of the current operation
 * @ops: number of operations of each kind
 * @results: number of results of each kind
 * @bytes: bytes transferred by successful calls
 * @adopted: bytes that a reset has lost
 * @faults: accesses to mappings of BOs that failed because of a reset
 * @what: the current operation, in words
 */
struct fuzz_stats {
	uint64_t operation;
	uint64_t ops[FUZZ_OPS];
	uint64_t results[FUZZ_RESULTS];
	uint64_t bytes;
	uint64_t adopted;
	uint64_t faults;
	char what[512];
};

/**
 * struct fuzz_run - memory that the processes of a run share
 * @seed: seed of all random numbers
 * @end_us: when all processes end, in microseconds of CLOCK_MONOTONIC
 * @operations: number of operations after which a worker ends; 0 for no limit
 * @only: number of the only worker to start; 0 for all
 * @dma: there is a DMA ring
 * @resets: number of GPU resets that were provoked
 * @hangs: number of those that were provoked by hanging an engine
 * @kills: number of workers killed
 * @reset_due: a process that wants to reset the GPU waits for @lock
 * @lock: file to be locked with fuzz_lock()
 * @prime: dma-bufs of the shared BOs
 * @flink: global names of the shared BOs
 * @shared: sizes and placements of the shared BOs
 * @stats: counters of the workers, whose numbers begin at 1
 */
struct fuzz_run {
	uint64_t seed;
	uint64_t end_us;
	uint64_t operations;
	unsigned int only;
	bool dma;
	unsigned int resets;
	unsigned int hangs;
	unsigned int kills;
	volatile bool reset_due;
	int lock;
	int prime[FUZZ_SHARED];
	uint32_t flink[FUZZ_SHARED];
	struct igt_radeon_bo shared[FUZZ_SHARED];
	struct fuzz_stats stats[FUZZ_WORKERS + 1];
};

/**
 * struct fuzz_bo - a BO, or a part of a shared one, and its model
 * @bo: the BO
 * @base: first byte of @bo that belongs to the worker
 * @size: number of bytes that belong to the worker; 0 if the slot is free
 * @shared: other workers use @bo as well
 * @model: bytes that the worker's part has to hold
 * @start: first byte of the range that queued work may not have written yet
 * @end: end of that range; 0 if there is none
 * @counter: number of GPU resets before that work was queued
 */
struct fuzz_bo {
	struct igt_radeon_bo bo;
	uint64_t base;
	uint64_t size;
	bool shared;
	uint8_t *model;
	uint64_t start;
	uint64_t end;
	uint64_t counter;
};

/**
 * struct fuzz - a worker
 * @run: the run
 * @stats: its counters
 * @fd: device
 * @id: its number, from 1 on
 * @generation: number of times it was started before
 * @random: state of the random numbers of the operation
 * @bos: BOs
 * @bytes: size of all its BOs, without shared ones
 * @pool: random bytes of this worker, see fuzz_fill(); NULL before
 * @lock: the run's lock, opened by this process
 * @userptr: handle of a BO made from user memory
 * @imported: handle of an imported BO, or 0
 * @regions: regions of the current TRANSFER, or NULL
 * @region_count: number of @regions
 */
struct fuzz {
	struct fuzz_run *run;
	struct fuzz_stats *stats;
	int fd;
	unsigned int id;
	unsigned int generation;
	uint64_t random;
	struct fuzz_bo bos[FUZZ_BOS];
	uint64_t bytes;
	uint8_t *pool;
	int lock;
	uint32_t userptr;
	uint32_t imported;
	const struct drm_radeon_gem_transfer_region *regions;
	uint32_t region_count;
};

/**
 * struct fuzz_mem - user memory for a call
 * @kind: kind of memory, for messages
 * @ptr: first byte
 * @size: bytes
 * @valid: number of accessible bytes from @ptr on; less than @size if a hole
 *	follows
 * @before: number of bytes in front of the memory that must not change
 * @after: number of bytes behind the memory that must not change
 * @old: contents before the call, from @ptr - @before on
 * @bo: the BO of which it is a mapping, or NULL
 * @bo_offset: offset of @ptr - @before in the worker's part of @bo
 * @readonly: it is mapped read-only
 * @map: what to unmap or free
 * @map_size: bytes to unmap; 0 if @map is from malloc()
 * @tries: number of calls that failed because of a reset
 */
struct fuzz_mem {
	const char *kind;
	uint8_t *ptr;
	size_t size;
	size_t valid;
	size_t before;
	size_t after;
	uint8_t *old;
	struct fuzz_bo *bo;
	uint64_t bo_offset;
	bool readonly;
	void *map;
	size_t map_size;
	unsigned int tries;
};

/* igt_fuzz.c: random numbers, reports, calls */
uint64_t fuzz_hash(uint64_t a, uint64_t b);
uint64_t fuzz_random(struct fuzz *f);
uint64_t fuzz_below(struct fuzz *f, uint64_t n);
bool fuzz_one_in(struct fuzz *f, unsigned int n);
size_t fuzz_length(struct fuzz *f, size_t max);
void fuzz_fill(struct fuzz *f, void *mem, size_t size);
bool fuzz_own(const struct fuzz *f, uint8_t byte);
uint64_t fuzz_now_us(void);
void fuzz_say(struct fuzz *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void fuzz_fail(struct fuzz *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
int fuzz_ioctl(struct fuzz *f, unsigned long request, void *arg);
int fuzz_rw(struct fuzz *f, bool write, uint32_t handle, uint64_t offset,
	    uint64_t size, uint64_t user, uint32_t flags);
uint64_t fuzz_resets(struct fuzz *f);
int fuzz_lock_open(const struct fuzz_run *run);
void fuzz_lock(int lock, int how);

/* igt_fuzz_model.c: BOs */
struct fuzz_bo *fuzz_bo_pick(struct fuzz *f, const struct fuzz_bo *not);
struct fuzz_bo *fuzz_bo_create(struct fuzz *f);
void fuzz_bo_close(struct fuzz *f, struct fuzz_bo *b);
void fuzz_bo_open_shared(struct fuzz *f);
bool fuzz_bo_is_pending(const struct fuzz_bo *b);
void fuzz_bo_use(struct fuzz *f, struct fuzz_bo *b, uint64_t counter);
void fuzz_bo_queued(struct fuzz *f, struct fuzz_bo *b, uint64_t offset,
		    uint64_t size, uint64_t counter);
void fuzz_bo_settle(struct fuzz *f, struct fuzz_bo *b);
void fuzz_bo_fetch(struct fuzz *f, struct fuzz_bo *b, uint64_t offset,
		   uint64_t size, uint8_t *to);
void fuzz_bo_verify(struct fuzz *f, struct fuzz_bo *b, uint64_t offset,
		    uint64_t size, const uint8_t *other);
void fuzz_bo_check(struct fuzz *f, struct fuzz_bo *b, bool mapped);
uint8_t *fuzz_bo_map(struct fuzz *f, struct fuzz_bo *b, void **map);
void fuzz_bo_copy(struct fuzz *f, struct fuzz_bo *b, void *dst,
		  const void *src, size_t size);
const char *fuzz_bo_name(const struct fuzz_bo *b);

/* igt_fuzz_mem.c: user memory */
void fuzz_mem_get(struct fuzz *f, struct fuzz_mem *m, size_t size, bool write,
		  const struct fuzz_bo *not);
void fuzz_mem_get_broken(struct fuzz *f, struct fuzz_mem *m, size_t size,
			 bool write);
bool fuzz_mem_again(struct fuzz *f, struct fuzz_mem *m);
void fuzz_mem_verify(struct fuzz *f, struct fuzz_mem *m, const uint8_t *result,
		     bool exact);
void fuzz_mem_put(struct fuzz *f, struct fuzz_mem *m);

/* igt_fuzz_ops.c, igt_fuzz_transfer.c, igt_fuzz_bad.c: operations */
void fuzz_op_rw(struct fuzz *f, bool write);
void fuzz_op_copy(struct fuzz *f);
void fuzz_op_map(struct fuzz *f);
void fuzz_op_pressure(struct fuzz *f);
void fuzz_op_peek(struct fuzz *f);
void fuzz_op_transfer(struct fuzz *f, bool write);
void fuzz_op_bad_rw(struct fuzz *f);
void fuzz_op_bad_transfer(struct fuzz *f);

#endif /* IGT_FUZZ_H */
