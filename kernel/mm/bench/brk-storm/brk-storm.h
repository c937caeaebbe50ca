/* SPDX-License-Identifier: MIT */
/*
 * brk-storm: the cost of growing and shrinking the heap by brk(), alone and in
 * many forked children at once.
 *
 *   brk-storm.c   options, plan, JSON
 *   brk-heap.c    processes with heaps of a known kind, and what they do
 *   brk-trace.c   who waited for which lock; which functions a step consists of
 *
 * Only the measurement moves the heap of a process that measures: these
 * processes descend from one that was forked before the first malloc(), use no
 * malloc() and no stdio, and leave their results in shared memory.
 *
 * Times are ns of CLOCK_MONOTONIC, or of the thread's CPU time where that counts
 * instructions (lab/run --accel icount).
 */
#ifndef BRK_STORM_H
#define BRK_STORM_H

#include <stdbool.h>
#include <stdint.h>

#define BRK_MAX_STEPS 1024u	/* samples of one op in a turn */
#define BRK_MAX_CPUS 64u
#define BRK_LAYOUTS 16u		/* as many as a leaf of the maple tree has slots */
#define BRK_MAX_CHAINS 8192u
#define BRK_MAX_DEPTH 40u

/**
 * enum brk_heap - the heap when its owner begins to move its end
 * @BRK_HEAP_NEW: there is none; its VMA has no anon_vma until it is touched
 * @BRK_HEAP_OWN: one page, touched: an anon_vma that no other process has
 * @BRK_HEAP_INHERITED: one page, touched before the fork and after it: the lock
 *	is that of the root, and shared with the parent and all its children
 */
enum brk_heap { BRK_HEAP_NEW, BRK_HEAP_OWN, BRK_HEAP_INHERITED, BRK_HEAPS };

/**
 * enum brk_op - what is timed, step by step
 * @BRK_GROW: brk() to a higher address
 * @BRK_TOUCH: a store to each new page
 * @BRK_SHRINK: brk() to the previous address
 * @BRK_SAME: brk() to the current end, which takes and releases the mmap lock
 */
enum brk_op { BRK_GROW, BRK_TOUCH, BRK_SHRINK, BRK_SAME, BRK_OPS };

/**
 * struct brk_cost - a turn of steps
 * @heap: kind of heap
 * @fillers: number of one-page mappings below the heap, < BRK_LAYOUTS. They
 *	shift the heap's place in the nodes of the maple tree, and what a step
 *	costs depends on that: if the heap is the last entry of a leaf, the gap
 *	that it grows into is in the next leaf, and both are made anew.
 * @pages: pages of one step
 * @steps: steps up, and down again; at most BRK_MAX_STEPS
 * @touch: each page is written between the two
 * @clock: CLOCK_MONOTONIC or CLOCK_THREAD_CPUTIME_ID
 * @profile: op whose functions are sampled, or BRK_OPS
 */
struct brk_cost {
	enum brk_heap heap;
	unsigned int fillers;
	unsigned int pages, steps;
	bool touch;
	int clock;
	enum brk_op profile;
};

/**
 * struct brk_load - children that do jobs
 * @heap: BRK_HEAP_NEW or BRK_HEAP_INHERITED
 * @cpus: number of CPUs, to which the children are bound in turn
 * @children: number of children
 * @forked: each job is done by a process of its own, which is forked for it
 * @ms: how long they do jobs
 *
 * A job grows the heap page by page, BRK_JOB_PAGES times, writes each, reads all
 * and shrinks it to what it was in BRK_JOB_SHRINKS steps.
 */
struct brk_load {
	enum brk_heap heap;
	unsigned int cpus, children;
	bool forked;
	unsigned int ms;
};

#define BRK_JOB_PAGES 64u
#define BRK_JOB_SHRINKS 4u

/**
 * struct brk_chain - one sample of a function and its callers
 * @depth: entries of @ip
 * @ip: addresses in the kernel, the innermost first
 */
struct brk_chain {
	unsigned int depth;
	uint64_t ip[BRK_MAX_DEPTH];
};

/**
 * struct brk_shared - shared memory for the results of the processes
 * @error: errno of the first failure, or 0
 * @where: what failed
 * @ns: samples by op
 * @counts: number of samples by op
 * @jobs: jobs done, by child
 * @job_ns: for how long each child did jobs
 * @verified: pages whose contents were right
 * @go: children begin when it is set
 * @stop: children end when it is set
 * @ready: number of children that wait for @go
 * @chains: samples of functions
 * @chain_count: number of these
 */
struct brk_shared {
	volatile int error;
	char where[64];
	uint64_t ns[BRK_OPS][BRK_MAX_STEPS];
	unsigned int counts[BRK_OPS];
	uint64_t jobs[BRK_MAX_CPUS * 4], job_ns[BRK_MAX_CPUS * 4];
	uint64_t verified;
	volatile int go, stop;
	unsigned int ready;
	struct brk_chain chains[BRK_MAX_CHAINS];
	unsigned int chain_count;
};

extern struct brk_shared *brk_shared;

/* brk-heap.c */
void brk_place(char **argv);
int brk_start(void);
int brk_run_cost(const struct brk_cost *cost);
int brk_load_begin(const struct brk_load *load);
int brk_load_end(void);
void brk_fail(const char *where, int error);

/* brk-trace.c */

/**
 * struct brk_wait - time spent waiting for locks, by place
 * @site: function that wanted the lock
 * @context: what the process was doing: "brk", "fork", "exit", "fault", "other"
 * @count: number of waits
 * @ns: sum of their times
 */
struct brk_wait {
	char site[48];
	const char *context;
	uint64_t count, ns;
};

#define BRK_WAITS 64u

int brk_waits_begin(unsigned int cpus);
int brk_waits_end(struct brk_wait *waits, unsigned int *count, uint64_t *lost);
int brk_profile_open(void);
void brk_profile_switch(int fd, bool on);
void brk_profile_collect(int fd);

/**
 * struct brk_part - how often a function was seen in samples of a step
 * @name: of the function
 * @self: samples in which it was the innermost
 * @inclusive: samples in it, or in functions that it called
 */
struct brk_part {
	char name[48];
	unsigned int self, inclusive;
};

#define BRK_PARTS 96u

int brk_parts(struct brk_part *parts, unsigned int *count);

#endif /* BRK_STORM_H */
