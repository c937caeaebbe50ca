// SPDX-License-Identifier: MIT
/*
 * Processes with heaps of a known kind; see brk-storm.h. The code that runs
 * after brk_start() has forked uses neither malloc() nor stdio: both move the
 * heap.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "brk-storm.h"

struct brk_shared *brk_shared;

struct request {
	enum { COST, LOAD } kind;
	struct brk_cost cost;
	struct brk_load load;
};

static int requests[2], answers[2];
static size_t page;

/* Records the first failure: later ones are often its consequences. */
void brk_fail(const char *where, int error)
{
	if (__sync_bool_compare_and_swap(&brk_shared->error, 0,
					 error ? error : EPROTO))
		strncpy(brk_shared->where, where, sizeof(brk_shared->where) - 1);
	brk_shared->stop = 1;
}

/* The kernel's brk(): returns the new end, or the old one if it fails. */
static char *set_end(char *end)
{
	return (char *)syscall(SYS_brk, end);
}

static bool move(char *end, const char *where)
{
	if (set_end(end) == end)
		return true;
	brk_fail(where, ENOMEM);
	return false;
}

/* Pages of the heap's VMA, or -1 if there is none. */
static long heap_pages(void)
{
	static char text[1 << 16];
	size_t used = 0;
	char *line, *end;
	ssize_t n;
	unsigned long from, to;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	while (used < sizeof(text) - 1 &&
	       (n = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
		used += n;
	close(fd);
	text[used] = 0;
	end = strstr(text, "[heap]");
	if (!end)
		return -1;
	for (line = end; line > text && line[-1] != '\n'; line--)
		;
	/* Two hexadecimal numbers; without sscanf(), see above. */
	for (from = 0; *line != '-'; line++)
		from = from * 16 + (*line <= '9' ? *line - '0' : *line - 'a' + 10);
	for (to = 0, line++; *line != ' '; line++)
		to = to * 16 + (*line <= '9' ? *line - '0' : *line - 'a' + 10);
	return (to - from) / page;
}

static void fill(char *at, size_t bytes, unsigned char value)
{
	char *p;

	for (p = at; p < at + bytes; p += page)
		*p = value;
}

/* Checks that each page begins with value, and ends with 0 if value is 0. */
static bool holds(const char *at, size_t bytes, unsigned char value)
{
	const char *p;

	for (p = at; p < at + bytes; p += page) {
		if (*(const volatile unsigned char *)p != value ||
		    (!value && *(const volatile unsigned char *)(p + page - 1))) {
			brk_fail("contents of the heap", EILSEQ);
			return false;
		}
	}
	__sync_fetch_and_add(&brk_shared->verified, bytes / page);
	return true;
}

static pid_t fork_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		brk_fail("fork", errno);
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static void reap(pid_t pid)
{
	int status;

	if (pid > 0 && (waitpid(pid, &status, 0) != pid || status))
		brk_fail("a process of the measurement died", ECHILD);
}

/*
 * These two make the heap of the given kind: before the fork the part that a
 * child inherits, after it the rest. The first returns the start of the heap,
 * the second its end.
 */
static char *heap_before_fork(enum brk_heap heap)
{
	char *start = set_end(NULL);

	if (heap == BRK_HEAP_INHERITED && move(start + page, "first page"))
		fill(start, page, 1);
	return start;
}

static char *heap_after_fork(enum brk_heap heap, char *start)
{
	if (heap == BRK_HEAP_NEW)
		return start;
	if (heap == BRK_HEAP_OWN && !move(start + page, "first page"))
		return start;
	fill(start, page, 2);
	return start + page;
}

/* Times one step. A sample contains the cost of one clock reading. */
#define TIMED(c, op, i, what)						\
	do {								\
		uint64_t begin_ = bench_clock((c)->clock);		\
		what;							\
		brk_shared->ns[op][i] = bench_clock((c)->clock) - begin_; \
	} while (0)

static void steps(const struct brk_cost *c, char *end)
{
	const size_t step = c->pages * page;
	char *top = end + c->steps * step;
	bool ok = true;
	unsigned int i;
	int fd = -1;

	if (c->profile != BRK_OPS) {
		fd = brk_profile_open();
		if (fd < 0) {
			brk_fail("perf_event_open", -fd);
			return;
		}
	}

	brk_profile_switch(fd, c->profile == BRK_GROW);
	for (i = 0; i < c->steps && ok; i++)
		TIMED(c, BRK_GROW, i, ok = move(end + (i + 1) * step, "grow"));
	brk_profile_switch(fd, false);

	for (i = 0; i < c->steps && ok && c->touch; i++) {
		/* Fresh pages; a read would map the zero page, so write first. */
		TIMED(c, BRK_TOUCH, i, fill(end + i * step, step, i | 1));
		ok = holds(end + i * step, step, i | 1);
	}
	brk_profile_switch(fd, c->profile == BRK_SAME);
	for (i = 0; i < c->steps && ok; i++)
		TIMED(c, BRK_SAME, i, ok = move(top, "brk to the same"));
	brk_profile_switch(fd, false);

	brk_profile_switch(fd, c->profile == BRK_SHRINK);
	for (i = 0; i < c->steps && ok; i++)
		TIMED(c, BRK_SHRINK, i, ok = move(top - (i + 1) * step, "shrink"));
	brk_profile_switch(fd, false);

	for (i = 0; i < BRK_OPS; i++)
		brk_shared->counts[i] = ok ? c->steps : 0;
	if (!c->touch)
		brk_shared->counts[BRK_TOUCH] = 0;

	/* Pages that were given up must be zero when they come back. */
	if (ok && move(end + step, "grow again"))
		holds(end, step, 0);
	if (ok && move(end, "shrink again") &&
	    heap_pages() != (c->heap == BRK_HEAP_NEW ? -1 : 1))
		brk_fail("size of the heap's VMA", EINVAL);
	if (fd >= 0) {
		brk_profile_collect(fd);
		close(fd);
	}
}

/* Makes n mappings below all others, with gaps, so that none merge. */
static void add_fillers(unsigned int n)
{
	char *at = (char *)(1ul << 20);

	for (; n; n--, at += 2 * page) {
		if (mmap(at, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
			 MAP_FIXED_NOREPLACE, -1, 0) != at)
			brk_fail("mappings below the heap", errno);
	}
}

static void cost(const struct brk_cost *c)
{
	char *start;
	pid_t pid;

	add_fillers(c->fillers);
	start = heap_before_fork(c->heap);
	pid = fork_child();
	if (pid == 0) {
		steps(c, heap_after_fork(c->heap, start));
		_exit(0);
	}
	reap(pid);
}

static bool job(char *end, unsigned char value)
{
	const size_t step = BRK_JOB_PAGES / BRK_JOB_SHRINKS * page;
	char *top = end;
	unsigned int i;

	for (i = 0; i < BRK_JOB_PAGES; i++, top += page) {
		if (!move(top + page, "grow in a job"))
			return false;
		fill(top, page, value);
	}
	if (!holds(end, top - end, value))
		return false;
	for (; top > end; top -= step) {
		if (!move(top - step, "shrink in a job"))
			return false;
	}
	return true;
}

static void child(const struct brk_load *l, unsigned int number, char *start)
{
	uint64_t begin, jobs = 0;
	cpu_set_t cpus;
	char *end = start;
	pid_t pid;

	CPU_ZERO(&cpus);
	CPU_SET(number % l->cpus, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus)) {
		brk_fail("sched_setaffinity", errno);
		return;
	}
	if (!l->forked)
		end = heap_after_fork(l->heap, start);
	__sync_fetch_and_add(&brk_shared->ready, 1);
	while (!brk_shared->go && !brk_shared->stop)
		usleep(1000);

	begin = bench_now();
	while (!brk_shared->stop) {
		if (l->forked) {
			pid = fork_child();
			if (pid == 0) {
				job(heap_after_fork(l->heap, start), number + 1);
				_exit(0);
			}
			reap(pid);
		} else if (!job(end, number + 1)) {
			break;
		}
		jobs++;
	}
	brk_shared->job_ns[number] = bench_now() - begin;
	brk_shared->jobs[number] = jobs;
}

static void load(const struct brk_load *l)
{
	static pid_t pids[sizeof(brk_shared->jobs) / sizeof(brk_shared->jobs[0])];
	unsigned int i;
	char *start;

	/* Both kinds of heap inside a leaf, see struct brk_cost. */
	add_fillers(BRK_LAYOUTS / 2);
	start = heap_before_fork(l->heap);
	for (i = 0; i < l->children; i++) {
		pids[i] = fork_child();
		if (pids[i] == 0) {
			child(l, i, start);
			_exit(0);
		}
	}
	for (i = 0; i < l->children; i++)
		reap(pids[i]);
}

/* Forks a process for each request, with the heap as it was at the start. */
static void serve(void)
{
	struct request request;
	pid_t pid;
	char done = 0;

	while (read(requests[0], &request, sizeof(request)) == sizeof(request)) {
		pid = fork_child();
		if (pid == 0) {
			if (request.kind == COST)
				cost(&request.cost);
			else
				load(&request.load);
			_exit(0);
		}
		reap(pid);
		if (write(answers[1], &done, 1) != 1)
			break;
	}
	_exit(0);
}

/**
 * brk_place - make the heap begin at the start of a page table's span
 * @argv: arguments of this program
 *
 * A step walks and frees the page tables at the heap's end. Which ones these
 * are depends on where the heap begins in the span of a page table. The kernel
 * chooses that at random, so this executes the program again until it is in the
 * first sixteenth, or 1000 times, if the kernel does not randomise it (enough).
 */
void brk_place(char **argv)
{
	const size_t size = sysconf(_SC_PAGESIZE);
	const uintptr_t span = size / sizeof(void *) * size;
	const char *before = getenv("BRK_STORM_STARTS");
	int starts = before ? atoi(before) : 0;
	char text[12];

	if ((uintptr_t)set_end(NULL) % span < span / 16 || starts >= 1000)
		return;
	/* setenv() may use malloc(), but execv() removes that heap. */
	snprintf(text, sizeof(text), "%d", starts + 1);
	if (!setenv("BRK_STORM_STARTS", text, 1))
		execv("/proc/self/exe", argv);
	perror("brk-storm: it cannot be executed again");
	exit(1);
}

/**
 * brk_start - fork the ancestor of all processes that are measured
 *
 * To be called before anything has used malloc().
 *
 * Returns: 0, or a negative errno; -EBUSY if there is a heap already.
 */
int brk_start(void)
{
	pid_t pid;

	page = sysconf(_SC_PAGESIZE);
	if (heap_pages() != -1)
		return -EBUSY;
	brk_shared = mmap(NULL, sizeof(*brk_shared), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (brk_shared == MAP_FAILED || pipe2(requests, O_CLOEXEC) ||
	    pipe2(answers, O_CLOEXEC))
		return -errno;
	pid = fork_child();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		close(requests[1]);
		close(answers[0]);
		serve();
	}
	close(requests[0]);
	close(answers[1]);
	return 0;
}

static int ask(const struct request *request)
{
	/* Not the chains: they are large, and only valid up to chain_count. */
	memset(brk_shared, 0, offsetof(struct brk_shared, chains));
	brk_shared->chain_count = 0;
	return write(requests[1], request, sizeof(*request)) == sizeof(*request) ?
		0 : -EPIPE;
}

static int answer(void)
{
	char done;

	if (read(answers[0], &done, 1) != 1)
		return -EPIPE;
	return -brk_shared->error;
}

/**
 * brk_run_cost - do a turn of steps in a new process
 * @cost: the steps
 *
 * Returns: 0, or a negative errno, with more in brk_shared.
 */
int brk_run_cost(const struct brk_cost *cost)
{
	const struct request request = { .kind = COST, .cost = *cost };
	int ret = ask(&request);

	return ret ? ret : answer();
}

/**
 * brk_load_begin - start children, and wait until all wait for brk_shared->go
 * @load: the children and their jobs
 *
 * Returns: 0, or a negative errno; brk_load_end() has to be called in any case.
 */
int brk_load_begin(const struct brk_load *load)
{
	const struct request request = { .kind = LOAD, .load = *load };
	const uint64_t limit = bench_now() + 30 * 1000000000ull;
	int ret = ask(&request);

	while (!ret && !brk_shared->error && brk_shared->ready < load->children) {
		if (bench_now() > limit)
			brk_fail("children that do not come up", ETIMEDOUT);
		usleep(1000);
	}
	return ret ? ret : -brk_shared->error;
}

/**
 * brk_load_end - stop the children and wait for them
 *
 * Returns: 0, or a negative errno, with more in brk_shared.
 */
int brk_load_end(void)
{
	brk_shared->stop = 1;
	return answer();
}
