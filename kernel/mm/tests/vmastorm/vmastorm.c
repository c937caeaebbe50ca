// SPDX-License-Identifier: MIT
/*
 * vmastorm - random changes to address spaces, each checked
 *
 * Each process has some threads that map, unmap, protect, move, replace, drop
 * and grow mappings at random, in one address space, and fork. Run it on
 * kernels with debug checks (KASAN, lockdep, ...); it checks itself what a
 * program can see. Each thread keeps for each page of its own mappings whether
 * it is mapped, its protection and its contents:
 *
 * - a new mapping never overlaps another one;
 * - contents stay, also in children; pages that were unmapped, replaced or
 *   dropped are zero when they are mapped or touched again;
 * - the kernel writes to writable pages, and to no others;
 * - nothing is placed below a stack: each new address is checked against the
 *   guards of all stacks of the process (guards.h). A stack grows by a page or
 *   does not, and growing never changes a page of another mapping.
 *
 * With --faults an allocation of the kernel fails in every fourth call (by
 * /proc/thread-self/fail-nth): then the state has to be as before the call.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bench-options.h"
#include "guards.h"

#define PAGE 4096ul
#define SLOTS_MAX GUARDS_SLOTS
#define PAGES 64u
#define THREADS_MAX GUARDS_THREADS
#define PROCESSES_MAX 16u
/* Pages mapped to find a place for a stack: more than its guard needs. */
#define BELOW_STACK 320u
/* Changes that a child makes to its copy. */
#define CHILD_CHANGES 20u
/* After this many changes each kind must have been done. */
#define ENOUGH 3000u
#define DEBUGFS "/sys/kernel/debug/"

enum { MAP, STACK, UNMAP, UNMAP_ALL, PROTECT, WRITE, CHECK, ACCESS, DROP, REPLACE,
       EXCHANGE, MOVE, GROW, FORK, CHANGES };
static const char *const change_names[CHANGES] = {
	"map", "stack", "unmap", "unmap-all", "protect", "write", "check",
	"access", "drop", "replace", "exchange", "move", "grow", "fork",
};
/* Weight of each change in the random choice. */
static const unsigned char weights[CHANGES] = { 16, 4, 10, 4, 14, 16, 8,
						6, 4, 6,  6,  6,  8, 1 };

/**
 * struct slot - a mapping of a thread, or what is left of it
 * @base: address of the first page, NULL if the slot is empty
 * @stack: it grows down; the first pages are those that it can grow by
 * @there: whether a page is mapped
 * @prot: protection of each mapped page
 * @stamp: first and last word of each mapped page
 */
struct slot {
	char *base;
	bool stack;
	bool there[PAGES];
	unsigned char prot[PAGES];
	uint64_t stamp[PAGES];
};

/**
 * struct storm - a thread
 * @nth_fd: file descriptor of fail-nth, or -1
 * @last: the last change
 * @child: this is the copy in a forked child
 * @failing: an allocation is to fail in the current call
 * @failed: the last such call failed
 * @seen: stacks before the current call
 */
struct storm {
	struct slot slots[SLOTS_MAX];
	unsigned short random[3];
	uint64_t stamps;
	unsigned int process, thread;
	int nth_fd;
	int last;
	bool child, failing, failed;
	struct guards_seen seen;
};

/*
 * struct counts - counts of all processes: calls by change that succeeded and
 * that did not, calls that failed on request, guards that addresses were
 * checked against
 */
struct counts {
	atomic_ulong done[CHANGES], refused[CHANGES], failed, guards;
};

static struct {
	unsigned int seconds, processes, threads, slots, seed;
	bool faults;
	uint64_t end;
	int zero_fd, file_fd;
	struct counts *counts;
} run = { .seconds = 10, .processes = 2, .threads = 3, .slots = 48, .seed = 1 };

static struct storm storms[THREADS_MAX];

static void wrong(const struct storm *s, const char *what, const void *at)
{
	char text[160];
	int n;

	n = snprintf(text, sizeof(text),
		     "vmastorm: process %u, thread %u%s: %s at %p (errno %d)\n",
		     s->process, s->thread, s->child ? ", child" : "", what, at,
		     errno);
	if (write(STDERR_FILENO, text, n) != n)
		_exit(3);
	_exit(1);
}

/* A mapping is not as it should be: says whose it is, and the last change. */
static void on_signal(int signal, siginfo_t *info, void *context)
{
	const char *at = info->si_addr;
	struct storm *s;
	unsigned int i;
	char what[120];

	(void)signal, (void)context;
	for (s = storms; s < storms + run.threads; s++)
		for (i = 0; i < run.slots; i++) {
			const struct slot *slot = &s->slots[i];
			long page = (at - slot->base) / (long)PAGE;

			if (!slot->base || at < slot->base || page >= PAGES)
				continue;
			snprintf(what, sizeof(what),
				 "after %s%s: signal, code %d, page %ld (%s, prot %d)%s",
				 change_names[s->last],
				 s->failed ? " that failed" : "", info->si_code,
				 page, slot->there[page] ? "mapped" : "free",
				 slot->prot[page], slot->stack ? " of a stack" : "");
			wrong(s, what, at);
		}
	snprintf(what, sizeof(what), "signal, code %d, not at a mapping of these",
		 info->si_code);
	wrong(storms, what, at);
}

static unsigned int choose(struct storm *s, unsigned int n)
{
	return (unsigned long)nrand48(s->random) % n;
}

static void arm(struct storm *s, unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	/* The injected failure can hit this write itself. */
	while (pwrite(s->nth_fd, text, len, 0) != len)
		if (errno != EFAULT)
			wrong(s, "fail-nth cannot be written", NULL);
}

/* To be called before a call: makes an allocation fail in one of four. */
static void begin(struct storm *s, unsigned int allocations)
{
	s->failed = false;
	s->failing = s->nth_fd >= 0 && !choose(s, 4);
	if (s->failing)
		arm(s, 1 + choose(s, allocations));
}

/* To be called after it. Returns whether it succeeded (done); keeps errno. */
static bool end(struct storm *s, int change, bool done)
{
	int error = errno;

	if (s->failing) {
		arm(s, 0);
		if (!done)
			atomic_fetch_add(&run.counts->failed, 1);
		s->failed = !done;
	}
	atomic_fetch_add(done ? &run.counts->done[change] :
				&run.counts->refused[change], 1);
	errno = error;
	if (!done && !s->failing && change != GROW && change != MOVE)
		wrong(s, change_names[change], NULL);
	return done;
}

static volatile uint64_t *word(const struct slot *slot, unsigned int page,
			       bool last)
{
	return (uint64_t *)(slot->base + page * PAGE +
			    (last ? PAGE - sizeof(uint64_t) : 0));
}

static void check(struct storm *s, const struct slot *slot)
{
	unsigned int i;

	for (i = 0; slot->base && i < PAGES; i++)
		if (slot->there[i] && slot->prot[i] &&
		    (*word(slot, i, false) != slot->stamp[i] ||
		     *word(slot, i, true) != slot->stamp[i]))
			wrong(s, "other contents", slot->base + i * PAGE);
}

/* Chooses some mapped pages in a row. */
static bool choose_pages(struct storm *s, const struct slot *slot,
			 unsigned int *first, unsigned int *n)
{
	unsigned int most = 1 + choose(s, PAGES), i = choose(s, PAGES), tries;

	for (tries = 0; tries < PAGES && !slot->there[i]; tries++)
		i = (i + 1) % PAGES;
	*first = i;
	for (*n = 0; i < PAGES && slot->there[i] && *n < most; i++)
		++*n;
	return *n;
}

static void set(struct slot *slot, unsigned int first, unsigned int n,
		bool there, int prot)
{
	unsigned int i;

	for (i = first; i < first + n; i++) {
		slot->there[i] = there;
		slot->prot[i] = prot;
		slot->stamp[i] = 0;
	}
}

static void stack_off(struct storm *s, const struct slot *slot)
{
	guards_off(s->thread, slot - s->slots);
}

/* To be called after a change of a slot: records its stack, if it is one. */
static void stack_on(struct storm *s, const struct slot *slot)
{
	unsigned int i = 0;

	while (i < PAGES && !slot->there[i])
		i++;
	if (slot->base && slot->stack && i < PAGES)
		guards_on(s->thread, slot - s->slots,
			  (uintptr_t)slot->base + i * PAGE);
}

/*
 * Checks that a new mapping overlaps no other, and is in no guard. own: the
 * number of calls of this thread that could extend a mapping in place.
 */
static void check_new(struct storm *s, const char *at, unsigned int n,
		      unsigned int own)
{
	const struct slot *slot;
	uintptr_t violated;
	unsigned int i;

	atomic_fetch_add(&run.counts->guards,
			 guards_check(&s->seen, (uintptr_t)at, n * PAGE, own,
				      &violated));
	if (violated)
		wrong(s, "a mapping is in the guard of a stack", (void *)violated);

	for (slot = s->slots; slot < s->slots + run.slots; slot++)
		for (i = 0; slot->base && i < PAGES; i++)
			if (slot->there[i] && slot->base + i * PAGE >= at &&
			    slot->base + i * PAGE < at + n * PAGE)
				wrong(s, "maps overlap", at);
}

static void map(struct storm *s, struct slot *slot)
{
	static const int prots[] = { PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE };
	unsigned int n = 1 + choose(s, PAGES);
	int prot = prots[choose(s, 8) % 5 % 3];
	bool file = !choose(s, 3);
	char *at;

	guards_look(&s->seen);
	begin(s, 12);
	at = mmap(NULL, n * PAGE, prot,
		  MAP_PRIVATE | MAP_NORESERVE | (file ? 0 : MAP_ANONYMOUS),
		  file ? run.file_fd : -1, file ? choose(s, 8) * PAGE : 0);
	if (!end(s, MAP, at != MAP_FAILED))
		return;
	check_new(s, at, n, 0);
	memset(slot, 0, sizeof(*slot));
	slot->base = at;
	set(slot, 0, n, true, prot);
}

/*
 * Maps a stack at the end of a free range, so that its guard is free and stays
 * so. If the kernel chose its place, another mapping could be directly below
 * it.
 */
static void map_stack(struct storm *s, struct slot *slot)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	unsigned int n = 1 + choose(s, 8);
	char *all, *at;

	guards_look(&s->seen);
	guards_new(s->thread, slot - s->slots);
	all = mmap(NULL, BELOW_STACK * PAGE, PROT_NONE, flags, -1, 0);
	at = all + (BELOW_STACK - n) * PAGE;
	s->failing = false;
	end(s, STACK, all != MAP_FAILED &&
	    mmap(at, n * PAGE, PROT_READ | PROT_WRITE,
		 flags | MAP_GROWSDOWN | MAP_FIXED, -1, 0) == at &&
	    !munmap(all, at - all));
	check_new(s, all, BELOW_STACK, 0);
	memset(slot, 0, sizeof(*slot));
	slot->base = at - (PAGES - n) * PAGE;
	slot->stack = true;
	set(slot, PAGES - n, n, true, PROT_READ | PROT_WRITE);
}

/*
 * Replaces the lowest part of a stack by another mapping, which ends its guard,
 * and that by a stack again. If another mapping is within its guard then, the
 * slot does not count as a stack any more.
 */
static void exchange(struct storm *s, struct slot *slot)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
	unsigned int first = 0, n;
	char *at;

	while (first < PAGES && !slot->there[first])
		first++;
	for (n = 0; first + n < PAGES && slot->there[first + n]; n++)
		;
	if (!slot->stack || !n)
		return;
	at = slot->base + first * PAGE;
	guards_new(s->thread, slot - s->slots);
	s->failing = false;
	end(s, EXCHANGE,
	    mmap(at, n * PAGE, PROT_READ, flags, -1, 0) == at &&
	    mmap(at, n * PAGE, PROT_READ | PROT_WRITE, flags | MAP_GROWSDOWN,
		 -1, 0) == at);
	set(slot, first, n, true, PROT_READ | PROT_WRITE);
	slot->stack = guards_free_below((uintptr_t)at);
}

/*
 * Has the kernel write to the last word of the page below a stack. Not if the
 * stack is not writable: it would grow although the write fails.
 */
static void grow(struct storm *s, struct slot *slot)
{
	unsigned int i = 1;

	while (i < PAGES && (slot->there[i - 1] || !slot->there[i]))
		i++;
	if (!slot->stack || i == PAGES || !(slot->prot[i] & PROT_WRITE))
		return;
	begin(s, 8);
	if (end(s, GROW, read(run.zero_fd, (void *)word(slot, i - 1, true),
			      sizeof(uint64_t)) == sizeof(uint64_t)))
		set(slot, i - 1, 1, true, slot->prot[i]);
	else if (errno != EFAULT)
		wrong(s, "growing a stack", slot->base + i * PAGE);
	else if (s->failing && munmap(slot->base + (i - 1) * PAGE, PAGE))
		/* It may have grown before the page's allocation failed. */
		wrong(s, "munmap", slot->base + (i - 1) * PAGE);
}

/* Resizes or moves all of a slot's mapping, if it is a single one. */
static void move(struct storm *s, struct slot *slot)
{
	unsigned int first = 0, n, want = 1 + choose(s, PAGES), i;
	struct slot old = *slot;
	char *at;

	while (first < PAGES && !slot->there[first])
		first++;
	for (n = 0; first + n < PAGES && slot->there[first + n]; n++)
		if (slot->prot[first + n] != slot->prot[first])
			return;
	if (slot->stack || !n)
		return;
	/* The slot would lose track of mappings behind it. */
	for (i = first + n; i < PAGES; i++)
		if (slot->there[i])
			return;
	guards_look(&s->seen);
	guards_grow_begin();
	begin(s, 16);
	at = mremap(old.base + first * PAGE, n * PAGE, want * PAGE,
		    MREMAP_MAYMOVE);
	i = end(s, MOVE, at != MAP_FAILED);
	guards_grow_end((uintptr_t)at, i ? want * PAGE : 0);
	if (!i) {
		/* It is more than one mapping, or an allocation failed. */
		if (errno != EFAULT && !s->failing)
			wrong(s, "mremap", old.base + first * PAGE);
		return;
	}
	memset(slot, 0, sizeof(*slot));
	/* If it stayed in place, the kernel did not search an address. */
	if (at != old.base + first * PAGE)
		check_new(s, at, want, 1);
	slot->base = at;
	set(slot, 0, want, true, old.prot[first]);
	for (i = 0; i < want && i < n; i++)
		slot->stamp[i] = old.stamp[first + i];
}

/* Checks that the kernel can write to a page exactly if it is writable. */
static void access_page(struct storm *s, struct slot *slot, unsigned int page)
{
	bool may = slot->prot[page] & PROT_WRITE;
	bool wrote = read(run.zero_fd, (void *)word(slot, page, true),
			  sizeof(uint64_t)) == sizeof(uint64_t);

	s->failing = false;
	end(s, ACCESS, may == wrote);
	if (wrote)
		*word(slot, page, true) = slot->stamp[page];
}

static void change(struct storm *s, int what);

/*
 * A child of a process with threads, by _Fork(): it may only do what a signal
 * handler may. A lock of the C library that another thread held at the time
 * stays locked here.
 */
static void child(struct storm *s)
{
	unsigned int i, what;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(120);
	/* The file is that of the parent's thread. */
	s->nth_fd = -1;
	s->child = true;
	for (i = 0; i < run.slots; i++)
		check(s, &s->slots[i]);
	for (i = 0; i < CHILD_CHANGES; i++) {
		what = choose(s, CHANGES);
		if (what != FORK)
			change(s, what);
	}
	for (i = 0; i < run.slots; i++)
		check(s, &s->slots[i]);
	_exit(0);
}

static void fork_and_wait(struct storm *s)
{
	int status;
	pid_t pid;

	begin(s, 400);
	pid = _Fork();
	if (pid == 0)
		child(s);
	if (!end(s, FORK, pid > 0))
		return;
	if (waitpid(pid, &status, 0) != pid || status)
		wrong(s, "a child found something, or did not end well", NULL);
}

static void write_pages(struct storm *s, struct slot *slot, unsigned int first,
			unsigned int n)
{
	unsigned int i;

	for (i = first; i < first + n; i++) {
		if (!(slot->prot[i] & PROT_WRITE))
			continue;
		slot->stamp[i] = ++s->stamps << 8 | (s->thread + 1);
		*word(slot, i, false) = slot->stamp[i];
		*word(slot, i, true) = slot->stamp[i];
	}
	atomic_fetch_add(&run.counts->done[WRITE], 1);
}

static void unmap_all(struct storm *s, struct slot *slot)
{
	unsigned int i, n;

	for (i = 0; i < PAGES; i += n + 1) {
		for (n = 0; i + n < PAGES && slot->there[i + n]; n++)
			;
		s->failing = false;
		if (n)
			end(s, UNMAP_ALL, !munmap(slot->base + i * PAGE, n * PAGE));
	}
	slot->base = NULL;
}

/* Changes of some pages of a mapping. */
static void change_pages(struct storm *s, struct slot *slot, int what,
			 unsigned int first, unsigned int n)
{
	static const int prots[] = { PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE };
	char *at = slot->base + first * PAGE;
	int prot = prots[choose(s, 3)];

	switch (what) {
	case UNMAP:
		begin(s, 8);
		if (end(s, UNMAP, !munmap(at, n * PAGE)))
			set(slot, first, n, false, 0);
		break;
	case PROTECT:
		/* No injected failure: mprotect() may fail after a part. */
		s->failing = false;
		end(s, PROTECT, !mprotect(at, n * PAGE, prot));
		memset(slot->prot + first, prot, n);
		break;
	case WRITE:
		write_pages(s, slot, first, n);
		break;
	case ACCESS:
		access_page(s, slot, first);
		break;
	case DROP:
		s->failing = false;
		end(s, DROP, !madvise(at, n * PAGE, MADV_DONTNEED));
		memset(slot->stamp + first, 0, n * sizeof(*slot->stamp));
		break;
	case REPLACE:
		/* A stack stays a single mapping, see map_stack(). */
		if (slot->stack)
			break;
		s->failing = false;
		end(s, REPLACE, mmap(at, n * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
				     -1, 0) == at);
		set(slot, first, n, true, PROT_READ | PROT_WRITE);
		break;
	}
}

static void change(struct storm *s, int what)
{
	struct slot *slot = &s->slots[choose(s, run.slots)];
	unsigned int first, n;

	s->last = what;
	stack_off(s, slot);
	if (what == FORK) {
		fork_and_wait(s);
	} else if (what == MAP || what == STACK) {
		if (slot->base)
			unmap_all(s, slot);
		if (what == MAP)
			map(s, slot);
		else
			map_stack(s, slot);
	} else if (slot->base) {
		if (what == UNMAP_ALL)
			unmap_all(s, slot);
		else if (what == CHECK)
			check(s, slot);
		else if (what == MOVE)
			move(s, slot);
		else if (what == GROW)
			grow(s, slot);
		else if (what == EXCHANGE)
			exchange(s, slot);
		else if (choose_pages(s, slot, &first, &n))
			change_pages(s, slot, what, first, n);
	}
	stack_on(s, slot);
	if (what == CHECK)
		atomic_fetch_add(&run.counts->done[CHECK], 1);
}

static void *thread(void *argument)
{
	struct storm *s = argument;
	unsigned int sum = 0, i, pick;

	s->nth_fd = -1;
	if (run.faults) {
		s->nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
		if (s->nth_fd < 0)
			wrong(s, "fail-nth cannot be opened", NULL);
	}
	for (i = 0; i < CHANGES; i++)
		sum += weights[i];
	while (bench_now() < run.end) {
		pick = choose(s, sum);
		for (i = 0; pick >= weights[i]; i++)
			pick -= weights[i];
		change(s, i);
	}
	for (i = 0; i < run.slots; i++)
		check(s, &s->slots[i]);
	return NULL;
}

static void process(unsigned int number)
{
	const struct sigaction action = {
		.sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO,
	};
	pthread_t threads[THREADS_MAX];
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	/* End the process even if the kernel hangs in a call. */
	alarm(run.seconds + 300);
	for (i = 0; i < run.threads; i++) {
		storms[i].process = number;
		storms[i].thread = i;
		storms[i].random[0] = run.seed;
		storms[i].random[1] = run.seed >> 16;
		storms[i].random[2] = number << 8 | i;
		if (pthread_create(&threads[i], NULL, thread, &storms[i]))
			wrong(&storms[i], "pthread_create", NULL);
	}
	for (i = 0; i < run.threads; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return done;
}

/*
 * Lets allocations fail that may sleep, and those of single pages, without log
 * messages. Copies to and from user memory never fail: fail_usercopy requires a
 * return address in a range at the start of memory, where no code is.
 */
static bool prepare_faults(void)
{
	return put(DEBUGFS "failslab/ignore-gfp-wait", "N") &&
	       put(DEBUGFS "failslab/verbose", "0") &&
	       put(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N") &&
	       put(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N") &&
	       put(DEBUGFS "fail_page_alloc/min-order", "0") &&
	       put(DEBUGFS "fail_page_alloc/verbose", "0") &&
	       put(DEBUGFS "fail_usercopy/require-start", "1") &&
	       put(DEBUGFS "fail_usercopy/require-end", "2") &&
	       !access("/proc/thread-self/fail-nth", W_OK);
}

static void parse(int argc, char **argv)
{
	static const struct bench_option options[] = {
		{ .name = "seconds", .argument = "S", .number = &run.seconds, .least = 1,
		  .most = 86400, .help = "how long (10)" },
		{ .name = "processes", .argument = "N", .number = &run.processes, .least = 1,
		  .most = PROCESSES_MAX, .help = "(2)" },
		{ .name = "threads", .argument = "N", .number = &run.threads, .least = 1,
		  .most = THREADS_MAX, .help = "of each process (3)" },
		{ .name = "maps", .argument = "N", .number = &run.slots, .least = 1,
		  .most = SLOTS_MAX, .help = "mappings of each thread at most, whole ones (48)" },
		{ .name = "seed", .argument = "N", .number = &run.seed, .least = 1,
		  .most = UINT32_MAX,
		  .help = "of all choices (1); what threads do to each other is chance" },
		{ .name = "faults", .flag = &run.faults,
		  .help = "let allocations of the kernel fail (needs failslab,\n"
			  "fail_page_alloc and debugfs)" },
		{ 0 }
	};
	static const struct bench_program program = {
		.name = "vmastorm",
		.line = "[OPTION...]",
		.options = options,
		.end =
		"Exit status: 0; 1 if something is not as it should be; 2 for a bad command line;\n"
		"77 if there is no fault injection.\n",
	};

	bench_options(&program, argc, argv);
}

/*
 * Runs the program again without restartable sequences: the kernel writes to
 * their page after system calls, and ends the process if an allocation fails
 * then.
 */
static void without_rseq(char **argv)
{
	const char *set = getenv("GLIBC_TUNABLES");

	if (set && !strcmp(set, "glibc.pthread.rseq=0"))
		return;
	setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
	execv("/proc/self/exe", argv);
	perror("vmastorm: /proc/self/exe");
	exit(1);
}

int main(int argc, char **argv)
{
	unsigned long changes = 0;
	unsigned int i, bad = 0;
	int status;
	pid_t pid;

	parse(argc, argv);
	if (run.faults && !prepare_faults()) {
		puts("this kernel has no fault injection, or debugfs is not mounted");
		return 77;
	}
	if (run.faults)
		without_rseq(argv);
	run.counts = mmap(NULL, sizeof(*run.counts), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	run.zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	run.file_fd = memfd_create("vmastorm", MFD_CLOEXEC);
	if (run.counts == MAP_FAILED || run.zero_fd < 0 || run.file_fd < 0 ||
	    ftruncate(run.file_fd, 2 * PAGES * PAGE)) {
		perror("vmastorm");
		return 1;
	}
	run.end = bench_now() + run.seconds * 1000000000ull;
	for (i = 0; i < run.processes; i++) {
		pid = fork();
		if (pid == 0)
			process(i);
		bad += pid < 0;
	}
	while ((pid = wait(&status)) > 0)
		if (status) {
			fprintf(stderr, "vmastorm: a process ended with %s %d\n",
				WIFSIGNALED(status) ? "signal" : "status",
				WIFSIGNALED(status) ? WTERMSIG(status) :
						      WEXITSTATUS(status));
			bad++;
		}
	for (i = 0; i < CHANGES; i++)
		changes += run.counts->done[i];
	printf("vmastorm: seed %u, %u s:", run.seed, run.seconds);
	for (i = 0; i < CHANGES; i++) {
		printf(" %lu %s", run.counts->done[i], change_names[i]);
		if (run.counts->refused[i])
			printf(" (%lu not)", run.counts->refused[i]);
		bad += changes >= ENOUGH && !run.counts->done[i];
	}
	printf("; %lu guards held", run.counts->guards);
	bad += changes >= ENOUGH && !run.counts->guards;
	if (run.faults) {
		printf("; %lu failed on request", run.counts->failed);
		bad += changes >= ENOUGH && !run.counts->failed;
	}
	/* A slow machine does few changes, but never none. */
	bad += !changes;
	puts(bad ? "; FAILED, or one of these was never done" : "");
	return bad != 0;
}
