/* SPDX-License-Identifier: MIT */
/*
 * brk-storm: what growing and shrinking the heap by brk costs, alone and from
 * many forked children at once.
 *
 *   brk-storm.c   options, plan, JSON
 *   brk-heap.c    processes with heaps of a known kind, and what they do
 *   brk-trace.c   who waited for which lock; which functions a step consists of
 *
 * The heap of a process that measures is moved by nothing but the measurement:
 * these processes descend from one that was forked before the first malloc(),
 * use no malloc() and no stdio, and leave what they have found in shared memory.
 *
 * Times are ns of CLOCK_MONOTONIC, or of the thread's CPU time where that counts
 * instructions (lab/run --accel icount).
 */
#ifndef BRK_STORM_H
#define BRK_STORM_H

#include <stdbool.h>
#include <stdint.h>

#define BRK_MAX_STEPS 1024u	/* samples of a kind in one turn */
#define BRK_MAX_CPUS 64u
#define BRK_LAYOUTS 16u		/* as many as a leaf of the maple tree has slots */
#define BRK_MAX_CHAINS 8192u
#define BRK_MAX_DEPTH 40u

/**
 * enum brk_heap - what the heap is when its owner begins to move its end
 * @BRK_HEAP_NEW: there is none; its own VMA has no anon_vma until it is touched
 * @BRK_HEAP_OWN: one page, touched: an anon_vma that no other process has
 * @BRK_HEAP_INHERITED: one page, touched before the fork and after it: the lock
 *	is that of the root, and shared with the parent and all its children
 */
enum brk_heap { BRK_HEAP_NEW, BRK_HEAP_OWN, BRK_HEAP_INHERITED, BRK_HEAPS };

/**
 * enum brk_op - what is timed, step by step
 * @BRK_GROW: brk() to a higher address
 * @BRK_TOUCH: a store to each new page
 * @BRK_SHRINK: brk() back
 * @BRK_SAME: brk() to where it is, which takes and releases the mmap lock
 */
enum brk_op { BRK_GROW, BRK_TOUCH, BRK_SHRINK, BRK_SAME, BRK_OPS };

/**
 * struct brk_cost - a turn of steps
 * @heap: kind of heap
 * @fillers: mappings of a page below the heap, at most BRK_LAYOUTS - 1. They
 *	shift the heap's place in the nodes of the maple tree, and what a step
 *	costs depends on that: if the heap is the last entry of a leaf, the gap
 *	that it grows into is in the next leaf, and both are made anew.
 * @pages: of one step
 * @steps: up, and down again; at most BRK_MAX_STEPS
 * @touch: whether each page is written between the two
 * @clock: CLOCK_MONOTONIC or CLOCK_THREAD_CPUTIME_ID
 * @profile: op to be sampled instead of timed, or BRK_OPS
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
 * @cpus: they are bound to, one after the other
 * @children: how many
 * @forked: each job is done by a process of its own, which is forked for it
 * @ms: how long
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
 * struct brk_shared - what the processes leave for the one that reports
 * @error: errno of what failed first, or 0
 * @where: what that was
 * @ns: samples by op
 * @counts: how many
 * @jobs: done, by child
 * @job_ns: how long each of them took part
 * @verified: pages that were found to hold what they have to
 * @go: children begin when it is set
 * @stop: and end
 * @ready: children that wait for @go
 * @chains: samples of functions
 * @chain_count: how many
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
 * struct brk_wait - time that was waited for locks, by place
 * @site: function that wanted the lock
 * @context: what the process was doing: "brk", "fork", "exit", "fault", "other"
 * @count: how often
 * @ns: how long, in all
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
 * @self: it was the innermost
 * @inclusive: it, or what it had called
 */
struct brk_part {
	char name[48];
	unsigned int self, inclusive;
};

#define BRK_PARTS 96u

int brk_parts(struct brk_part *parts, unsigned int *count);

#endif /* BRK_STORM_H */
