// SPDX-License-Identifier: MIT
/*
 * One run: creates threads, and reads the clocks after each thousand.
 *
 * A live thread signals that it has started, and waits until the end of the
 * run. A chunk ends when all of its threads have started, so its times include
 * their start. System and user time are those of the whole process. The kernel
 * splits them by samples (ticks); their sum, and the CPU time clock, are exact.
 * In a guest whose clock counts instructions all of them are instructions.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "threads.h"

#define KIB 1024ull

const struct threads_case threads_cases[] = {
	{ "live-8m", true, 8192 * KIB, -1, false },
	{ "live-64k", true, 64 * KIB, -1, false },
	{ "live-own", true, 64 * KIB, 0, false },
	{ "live-guard", true, 64 * KIB, MAP_GROWSDOWN, false },
	{ "join-8m", false, 8192 * KIB, -1, false },
	{ "join-8m-no-cache", false, 8192 * KIB, -1, true },
	{ "join-guard", false, 64 * KIB, MAP_GROWSDOWN, false },
	{ NULL, false, 0, 0, false },
};

/**
 * threads_case_named - a case by its name
 * @name: as in the results
 *
 * Returns: the case, or NULL
 */
const struct threads_case *threads_case_named(const char *name)
{
	const struct threads_case *c;

	for (c = threads_cases; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

/**
 * struct usage - readings of clocks, or differences of two, in ns
 * @wall: CLOCK_MONOTONIC
 * @cpu: CPU time of the process
 * @user: CPU time in user mode
 * @system: CPU time in the kernel
 */
struct usage {
	uint64_t wall, cpu, user, system;
};

static sem_t started;
static atomic_int gate;

static uint64_t timeval_ns(const struct timeval *t)
{
	return t->tv_sec * 1000000000ull + t->tv_usec * 1000ull;
}

static struct usage read_clocks(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (struct usage) {
		.wall = bench_now(),
		.cpu = bench_clock(CLOCK_PROCESS_CPUTIME_ID),
		.user = timeval_ns(&usage.ru_utime),
		.system = timeval_ns(&usage.ru_stime),
	};
}

static struct usage since(const struct usage *before)
{
	struct usage now = read_clocks();

	return (struct usage) {
		.wall = now.wall - before->wall,
		.cpu = now.cpu - before->cpu,
		.user = now.user - before->user,
		.system = now.system - before->system,
	};
}

static void *live_thread(void *unused)
{
	sem_post(&started);
	while (!atomic_load(&gate))
		syscall(SYS_futex, &gate, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return unused;
}

static void *short_thread(void *unused)
{
	return unused;
}

static void open_gate(void)
{
	atomic_store(&gate, 1);
	syscall(SYS_futex, &gate, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Creates a thread. Sets *stack to its stack if this has mapped it, or NULL. */
static int create(const struct threads_case *what, pthread_attr_t *attr,
		  pthread_t *thread, void **stack)
{
	int ret;

	*stack = NULL;
	if (what->own >= 0) {
		*stack = mmap(NULL, what->stack, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				      MAP_STACK | what->own,
			      -1, 0);
		if (*stack == MAP_FAILED)
			return errno;
		pthread_attr_setstack(attr, *stack, what->stack);
	}
	ret = pthread_create(thread, attr,
			     what->live ? live_thread : short_thread, NULL);
	if (ret && *stack)
		munmap(*stack, what->stack);
	return ret;
}

static void end(const struct threads_case *what, pthread_t thread, void *stack)
{
	pthread_join(thread, NULL);
	if (stack)
		munmap(stack, what->stack);
}

/* Creates the threads from to to - 1 of a chunk. Returns the number of threads
 * created so far; sets *error to an errno if that is less than to. */
static unsigned int chunk(const struct threads_case *what,
			  pthread_attr_t *attr, pthread_t *thread,
			  void **stack, unsigned int from, unsigned int to,
			  int *error)
{
	unsigned int i, n;

	for (i = from; i < to; i++) {
		*error = create(what, attr, &thread[i], &stack[i]);
		if (*error)
			break;
		if (!what->live)
			end(what, thread[i], stack[i]);
	}
	for (n = from; what->live && n < i; n++)
		while (sem_wait(&started) && errno == EINTR)
			;
	return i;
}

static void list_json(FILE *out, const char *name, const struct usage *chunks,
		      unsigned int n, size_t member)
{
	unsigned int i;

	fprintf(out, ", \"%s\": [", name);
	for (i = 0; i < n; i++)
		fprintf(out, "%s%llu", i ? ", " : "",
			(unsigned long long)*(const uint64_t *)(
				(const char *)&chunks[i] + member));
	fprintf(out, "]");
}

/**
 * threads_run - run a case
 * @what: case
 * @threads: number of threads to create
 * @out: stream to which a JSON object is written
 *
 * Returns: 0, also if a limit was met, or a negative errno
 */
int threads_run(const struct threads_case *what, unsigned int threads,
		FILE *out)
{
	unsigned int chunks = (threads + THREADS_CHUNK - 1) / THREADS_CHUNK;
	unsigned int made = 0, done = 0, i;
	struct usage *times, before, last;
	pthread_t *thread;
	pthread_attr_t attr;
	int error = 0;
	void **stack;

	times = calloc(chunks, sizeof(*times));
	thread = calloc(threads, sizeof(*thread));
	stack = calloc(threads, sizeof(*stack));
	if (!times || !thread || !stack)
		return -ENOMEM;
	/* Fault both arrays in before the measurement. */
	memset(thread, 0xff, threads * sizeof(*thread));
	memset(stack, 0xff, threads * sizeof(*stack));
	sem_init(&started, 0, 0);
	pthread_attr_init(&attr);
	if (what->own < 0)
		pthread_attr_setstacksize(&attr, what->stack);

	while (made < threads && !error) {
		unsigned int to = made + THREADS_CHUNK;

		before = read_clocks();
		made = chunk(what, &attr, thread, stack, made,
			     to < threads ? to : threads, &error);
		if (!error)
			times[done++] = since(&before);
	}
	fprintf(out, "{\"case\": \"%s\", \"wanted\": %u, \"threads\": %u, \"error\": ",
		what->name, threads, made);
	if (error) {
		fprintf(out, "\"%s: %s\"", strerror(error),
			threads_limit_reached(made));
		/* Go on: the gate has to be opened in any case. */
	} else {
		fprintf(out, "null");
	}

	before = read_clocks();
	open_gate();
	for (i = 0; what->live && i < made; i++)
		end(what, thread[i], stack[i]);
	last = since(&before);
	list_json(out, "wall_ns", times, done, offsetof(struct usage, wall));
	list_json(out, "cpu_ns", times, done, offsetof(struct usage, cpu));
	list_json(out, "user_ns", times, done, offsetof(struct usage, user));
	list_json(out, "system_ns", times, done, offsetof(struct usage, system));
	fprintf(out, ", \"chunk\": %u, \"end_wall_ns\": %llu, \"end_cpu_ns\": %llu}",
		THREADS_CHUNK, (unsigned long long)last.wall,
		(unsigned long long)last.cpu);
	pthread_attr_destroy(&attr);
	free(stack);
	free(thread);
	free(times);
	return 0;
}
