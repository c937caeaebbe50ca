// SPDX-License-Identifier: MIT
/*
 * Traces brk: who waited how long for a lock (the trace events contention_begin
 * and contention_end, which enclose the slow path of each lock), and which
 * functions a step consists of (samples of cpu-clock with callers, as an
 * emulated machine has no PMU).
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "brk-storm.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Pages of a CPU's ring of lock events: 8 MiB; of a profile: 1 MiB. */
#define WAIT_PAGES 2048u
#define PROFILE_PAGES 256u
/* Between samples, ns of CPU time; a prime, so that no loop keeps in step. */
#define PERIOD 20011u

struct ring {
	int fd, other;
	struct perf_event_mmap_page *head;
	size_t bytes;
};

static int event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	attr->size = sizeof(*attr);
	return syscall(SYS_perf_event_open, attr, pid, cpu, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static int ring_map(struct ring *ring, unsigned int pages)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	ring->bytes = pages * page;
	ring->head = mmap(NULL, ring->bytes + page, PROT_READ | PROT_WRITE,
			  MAP_SHARED, ring->fd, 0);
	return ring->head == MAP_FAILED ? -errno : 0;
}

static void ring_unmap(struct ring *ring)
{
	munmap(ring->head, ring->bytes + sysconf(_SC_PAGESIZE));
}

/* Copies bytes out of a ring, which may wrap at its end. */
static void ring_copy(const struct ring *ring, uint64_t at, void *to, size_t n)
{
	const uint8_t *data = (const uint8_t *)ring->head + ring->head->data_offset;
	size_t first = ring->bytes - at % ring->bytes;

	if (first > n)
		first = n;
	memcpy(to, data + at % ring->bytes, first);
	memcpy((uint8_t *)to + first, data, n - first);
}

/* Calls record() for each record of the ring, oldest first. */
static void ring_drain(struct ring *ring, void (*record)(const struct perf_event_header *,
							 const uint64_t *))
{
	static union {
		struct perf_event_header header;
		uint64_t words[8192];
	} one;
	uint64_t at = ring->head->data_tail;
	const uint64_t end = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);

	while (at < end) {
		ring_copy(ring, at, &one.header, sizeof(one.header));
		if (!one.header.size)
			break;
		ring_copy(ring, at, &one, one.header.size);
		record(&one.header, one.words + 1);
		at += one.header.size;
	}
	__atomic_store_n(&ring->head->data_tail, at, __ATOMIC_RELEASE);
}

/* ---- locks ---- */

struct wait_event {
	uint64_t time, lock;
	uint32_t tid;
	bool end;
	char site[BENCH_SYMBOL_NAME];
	const char *context;
};

static struct ring rings[BRK_MAX_CPUS];
static unsigned int ring_count;
static struct wait_event *events;
static size_t event_count, event_room;
static uint64_t lost_count;
static int begin_id;

/* Whether a function is part of a lock, and not its user. */
static bool is_lock_function(const char *name)
{
	static const char *const parts[] = {
		"down_read", "down_write", "rwsem_", "_raw_", "queued_",
		"mutex_lock", "__mutex", "contention", "osq_", "rt_mutex",
		"percpu_", "lock_acquire", "do_raw_", "trace_", "__traceiter",
		"schedule",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		if (strstr(name, parts[i]))
			return true;
	}
	return false;
}

/* What the process was doing, if the function tells that, or NULL. */
static const char *context_of(const char *name)
{
	static const char *const pairs[][2] = {
		{ "do_sys_brk", "brk" }, { "x64_sys_brk", "brk" },
		{ "kernel_clone", "fork" }, { "copy_process", "fork" },
		{ "do_exit", "exit" }, { "do_group_exit", "exit" },
		{ "exc_page_fault", "fault" }, { "handle_mm_fault", "fault" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		if (strstr(name, pairs[i][0]))
			return pairs[i][1];
	}
	return NULL;
}

/* Layout: tid, time, callers, raw; as sample_type below has them. */
static void wait_record(const struct perf_event_header *header, const uint64_t *w)
{
	struct wait_event *e;
	const char *name, *context;
	const uint8_t *raw;
	uint64_t depth, i;
	uint16_t type;

	if (header->type == PERF_RECORD_LOST) {
		lost_count += w[1];
		return;
	}
	if (header->type != PERF_RECORD_SAMPLE)
		return;
	if (event_count == event_room) {
		event_room = event_room ? 2 * event_room : 1 << 14;
		events = realloc(events, event_room * sizeof(*events));
		if (!events)
			abort();
	}
	e = &events[event_count++];
	*e = (struct wait_event) {
		.tid = w[0] >> 32,
		.time = w[1],
		.context = "other",
		.site = "?",
	};
	depth = w[2];
	for (i = 0; i < depth; i++) {
		/* PERF_CONTEXT_KERNEL and the like are huge. */
		if (w[3 + i] >= (uint64_t)PERF_CONTEXT_MAX)
			continue;
		name = bench_symbol_name(bench_symbol_find(w[3 + i]));
		if (e->site[0] == '?' && !is_lock_function(name))
			memcpy(e->site, name, sizeof(e->site));
		context = context_of(name);
		if (context)
			e->context = context;
	}
	/* Behind the size: common_type (2 bytes of 8), then lock_addr. */
	raw = (const uint8_t *)&w[3 + depth] + 4;
	memcpy(&type, raw, sizeof(type));
	memcpy(&e->lock, raw + 8, sizeof(e->lock));
	e->end = type != begin_id;
}

static int by_tid_time(const void *a, const void *b)
{
	const struct wait_event *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static int by_ns(const void *a, const void *b)
{
	const struct brk_wait *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

static int event_id(const char *name)
{
	static const char *const roots[] = { "/sys/kernel/tracing",
					     "/sys/kernel/debug/tracing" };
	char path[128];
	unsigned int i;
	int id = 0;

	for (i = 0; i < ARRAY_SIZE(roots) && !id; i++) {
		snprintf(path, sizeof(path), "%s/events/lock/%s/id", roots[i], name);
		id = bench_read_number(path);
	}
	return id ? id : -ENOENT;
}

/**
 * brk_waits_begin - begin to record waits for locks, on all CPUs
 * @cpus: number of CPUs
 *
 * Returns: 0, or a negative errno; -ENOENT if the kernel has no such events or
 * tracefs is not mounted.
 */
int brk_waits_begin(unsigned int cpus)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW,
		.exclude_callchain_user = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	long symbols = bench_symbols_load();
	int end_id = event_id("contention_end"), ret = 0;
	struct ring *ring;

	begin_id = event_id("contention_begin");
	if (symbols < 0 || begin_id < 0 || end_id < 0)
		return symbols < 0 ? symbols : -ENOENT;
	event_count = 0;
	lost_count = 0;
	for (ring_count = 0; ring_count < cpus && !ret; ) {
		ring = &rings[ring_count];
		attr.config = begin_id;
		ring->fd = event_open(&attr, -1, ring_count);
		if (ring->fd < 0)
			return -errno;
		attr.config = end_id;
		ring->other = event_open(&attr, -1, ring_count);
		ret = ring_map(ring, WAIT_PAGES);
		ring_count++;
		if (ring->other < 0 ||
		    ioctl(ring->other, PERF_EVENT_IOC_SET_OUTPUT, ring->fd))
			ret = -errno;
	}
	return ret;
}

/* Adds a wait to the entry of its place, or to a new one. */
static void add_wait(struct brk_wait *waits, unsigned int *count,
		     const struct wait_event *begin, uint64_t ns)
{
	unsigned int i;

	for (i = 0; i < *count; i++) {
		if (!strcmp(waits[i].site, begin->site) &&
		    waits[i].context == begin->context)
			break;
	}
	if (i == BRK_WAITS)
		return;
	if (i == *count) {
		memcpy(waits[i].site, begin->site, sizeof(waits[i].site));
		waits[i].context = begin->context;
		waits[i].count = waits[i].ns = 0;
		++*count;
	}
	waits[i].count++;
	waits[i].ns += ns;
}

/**
 * brk_waits_end - end the recording, and add up the waits by place
 * @waits: filled in, the longest first; BRK_WAITS entries
 * @count: number of entries filled in
 * @lost: number of events for which there was no room
 *
 * Waits that have not ended yet are left out.
 */
int brk_waits_end(struct brk_wait *waits, unsigned int *count, uint64_t *lost)
{
	unsigned int i;
	size_t k;

	for (i = 0; i < ring_count; i++) {
		ioctl(rings[i].fd, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(rings[i].other, PERF_EVENT_IOC_DISABLE, 0);
	}
	for (i = 0; i < ring_count; i++) {
		ring_drain(&rings[i], wait_record);
		ring_unmap(&rings[i]);
		close(rings[i].other);
		close(rings[i].fd);
	}
	qsort(events, event_count, sizeof(*events), by_tid_time);
	*count = 0;
	for (k = 0; k + 1 < event_count; k++) {
		if (!events[k].end && events[k + 1].end &&
		    events[k].tid == events[k + 1].tid &&
		    events[k].lock == events[k + 1].lock)
			add_wait(waits, count, &events[k],
				 events[k + 1].time - events[k].time);
	}
	qsort(waits, *count, sizeof(*waits), by_ns);
	*lost = lost_count;
	return 0;
}

/* ---- functions ---- */

static struct ring profile;

/**
 * brk_profile_open - prepare samples of this thread's time in the kernel
 *
 * Uses neither malloc() nor stdio, for processes that measure.
 *
 * Returns: a file descriptor for the other two functions, or a negative errno.
 */
int brk_profile_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.exclude_callchain_user = 1,
		.exclude_user = 1,
		.disabled = 1,
	};
	int ret;

	profile.fd = event_open(&attr, 0, -1);
	if (profile.fd < 0)
		return -errno;
	ret = ring_map(&profile, PROFILE_PAGES);
	return ret ? ret : profile.fd;
}

void brk_profile_switch(int fd, bool on)
{
	if (fd >= 0)
		ioctl(fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static void chain_record(const struct perf_event_header *header, const uint64_t *w)
{
	struct brk_chain *c;
	uint64_t i;

	if (header->type != PERF_RECORD_SAMPLE ||
	    brk_shared->chain_count == BRK_MAX_CHAINS)
		return;
	c = &brk_shared->chains[brk_shared->chain_count++];
	c->depth = 0;
	for (i = 0; i < w[0] && c->depth < BRK_MAX_DEPTH; i++) {
		if (w[1 + i] < (uint64_t)PERF_CONTEXT_MAX)
			c->ip[c->depth++] = w[1 + i];
	}
}

/**
 * brk_profile_collect - copy the samples to shared memory
 * @fd: what brk_profile_open() returned
 */
void brk_profile_collect(int fd)
{
	if (fd != profile.fd)
		return;
	ring_drain(&profile, chain_record);
	ring_unmap(&profile);
}

static int by_inclusive(const void *a, const void *b)
{
	const struct brk_part *x = a, *y = b;

	return (x->inclusive < y->inclusive) - (x->inclusive > y->inclusive);
}

/**
 * brk_parts - add up the samples of the last run, by function
 * @parts: filled in, those with most samples first; BRK_PARTS entries. Samples
 *	of anything but brk (the switching of the samples, interrupts between
 *	two calls) are left out.
 * @count: number of entries filled in
 *
 * Returns: the number of samples of brk, or a negative errno.
 */
int brk_parts(struct brk_part *parts, unsigned int *count)
{
	long symbols = bench_symbols_load();
	struct brk_part *all;
	unsigned int k, d, used = 0;
	size_t seen[BRK_MAX_DEPTH], s;
	bool ours;

	if (symbols < 0)
		return symbols;
	all = calloc(symbols, sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (k = 0; k < brk_shared->chain_count; k++) {
		const struct brk_chain *c = &brk_shared->chains[k];

		ours = false;
		for (d = 0; d < c->depth; d++) {
			seen[d] = bench_symbol_find(c->ip[d]);
			if (!strcmp(context_of(bench_symbol_name(seen[d])) ?: "", "brk"))
				ours = true;
		}
		if (!ours)
			continue;
		used++;
		all[seen[0]].self++;
		for (d = 0; d < c->depth; d++) {
			/* Count a function once, also if it calls itself. */
			for (s = 0; s < d && seen[s] != seen[d]; s++)
				;
			if (s == d)
				all[seen[d]].inclusive++;
		}
	}
	for (s = 0; s < (size_t)symbols; s++)
		memcpy(all[s].name, bench_symbol_name(s), sizeof(all[s].name));
	qsort(all, symbols, sizeof(*all), by_inclusive);
	for (*count = 0; *count < BRK_PARTS && all[*count].inclusive; ++*count)
		parts[*count] = all[*count];
	free(all);
	return used;
}
