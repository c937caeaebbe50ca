// SPDX-License-Identifier: MIT
/*
 * Other operations of the kernel on address spaces, with N live maps around: a
 * change to how it keeps mappings may make them cost more. None of these
 * operations searches past guards.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "mapstorm.h"

#define ANON (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
#define RW (PROT_READ | PROT_WRITE)

/**
 * struct others - one measurement
 * @s: the space
 * @n: number of samples
 * @i: index of the current sample
 * @area: 16 pages for the operation, without access
 * @self: path of a copy of the program in memory
 */
struct others {
	struct ms_space *s;
	unsigned int n, i;
	char *area;
	const char *self;
};

/* These record the current sample. An operation has one or two times. */
static void first(struct others *o, uint64_t since)
{
	o->s->samples[o->i] = bench_now() - since;
}

static void second(struct others *o, uint64_t since)
{
	o->s->samples[MS_SAMPLES_MAX + o->i] = bench_now() - since;
}

static int syscall_only(struct others *o)
{
	uint64_t t = bench_now();

	getppid();
	first(o, t);
	return 0;
}

static int map_unmap(struct others *o)
{
	uint64_t t = bench_now();
	void *p = mmap(NULL, 2 * MS_PAGE, RW, ANON, -1, 0);

	first(o, t);
	if (p == MAP_FAILED)
		return -errno;
	ms_saw(o->s, (uintptr_t)p);
	t = bench_now();
	munmap(p, 2 * MS_PAGE);
	second(o, t);
	return 0;
}

/* What a round of will-it-scale's mmap1 does. */
static int large_map_unmap(struct others *o)
{
	const size_t size = 128ul << 20;
	uint64_t t = bench_now();
	void *p = mmap(NULL, size, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	first(o, t);
	if (p == MAP_FAILED)
		return -errno;
	ms_saw(o->s, (uintptr_t)p);
	t = bench_now();
	munmap(p, size);
	second(o, t);
	return 0;
}

static int stack_map_unmap(struct others *o)
{
	uint64_t t = bench_now();
	void *p = mmap(NULL, 16 * MS_PAGE, RW, ANON | MAP_GROWSDOWN | MAP_STACK,
		       -1, 0);

	first(o, t);
	if (p == MAP_FAILED)
		return -errno;
	ms_saw(o->s, (uintptr_t)p);
	t = bench_now();
	munmap(p, 16 * MS_PAGE);
	second(o, t);
	return 0;
}

/* Maps over another mapping, which replaces its entry in the tree. */
static int map_over(struct others *o)
{
	uint64_t t = bench_now();
	void *p = mmap(o->area + 4 * MS_PAGE, 4 * MS_PAGE,
		       o->i % 2 ? PROT_READ : RW, ANON | MAP_FIXED, -1, 0);

	first(o, t);
	return p == MAP_FAILED ? -errno : 0;
}

/* Touches the page below a stack: the fault makes the stack grow. */
static int stack_grow(struct others *o)
{
	const size_t room = 3 * MS_STRIDE;
	char *hole = mmap(NULL, room, PROT_NONE, ANON, -1, 0), *stack;
	uint64_t t;

	if (hole == MAP_FAILED)
		return -errno;
	munmap(hole, room);
	stack = mmap(hole + room - 2 * MS_PAGE, MS_PAGE, RW,
		     ANON | MAP_GROWSDOWN | MAP_FIXED_NOREPLACE, -1, 0);
	if (stack != hole + room - 2 * MS_PAGE)
		return -errno;
	*stack = 1;
	t = bench_now();
	*(volatile char *)(stack - 8) = 1;
	first(o, t);
	return munmap(stack - MS_PAGE, 2 * MS_PAGE) ? -errno : 0;
}

static int fault(struct others *o)
{
	char *p = mmap(NULL, MS_PAGE, RW, ANON, -1, 0);
	uint64_t t;

	if (p == MAP_FAILED)
		return -errno;
	t = bench_now();
	*(volatile char *)p = 1;
	first(o, t);
	munmap(p, MS_PAGE);
	return 0;
}

static int mprotect_split_merge(struct others *o)
{
	char *p = o->area + 8 * MS_PAGE;
	uint64_t t;
	int ret;

	if (!o->i && mprotect(o->area + 7 * MS_PAGE, 3 * MS_PAGE, RW))
		return -errno;
	t = bench_now();
	ret = mprotect(p, MS_PAGE, PROT_READ);
	first(o, t);
	if (ret)
		return -errno;
	t = bench_now();
	ret = mprotect(p, MS_PAGE, RW);
	second(o, t);
	return ret ? -errno : 0;
}

static int mremap_shrink_grow(struct others *o)
{
	char *p = o->area + 12 * MS_PAGE, *got;
	uint64_t t;

	/* At first, map it on its own, with room to grow in place. */
	if (!o->i && (munmap(p, 4 * MS_PAGE) ||
		      mmap(p, 3 * MS_PAGE, RW, ANON | MAP_FIXED, -1, 0) != p))
		return -errno;
	t = bench_now();
	got = mremap(p, 3 * MS_PAGE, MS_PAGE, 0);
	first(o, t);
	if (got != p)
		return -errno;
	t = bench_now();
	got = mremap(p, MS_PAGE, 3 * MS_PAGE, 0);
	second(o, t);
	return got == p ? 0 : -errno;
}

/* It cannot grow where it is, so it moves. */
static int mremap_move(struct others *o)
{
	char *p = mmap(NULL, 3 * MS_PAGE, RW, ANON, -1, 0), *got;
	uint64_t t;

	if (p == MAP_FAILED || mprotect(p + 2 * MS_PAGE, MS_PAGE, PROT_NONE))
		return -errno;
	p[0] = 42;
	t = bench_now();
	got = mremap(p, 2 * MS_PAGE, 4 * MS_PAGE, MREMAP_MAYMOVE);
	first(o, t);
	if (got == MAP_FAILED)
		return -errno;
	ms_saw(o->s, (uintptr_t)got);
	munmap(p + 2 * MS_PAGE, MS_PAGE);
	if (got == p || got[0] != 42)
		return -EIO;
	munmap(got, 4 * MS_PAGE);
	return 0;
}

static int brk_grow_shrink(struct others *o)
{
	uint64_t t = bench_now();
	void *p = sbrk(2 * MS_PAGE);

	first(o, t);
	if (p == (void *)-1)
		return -errno;
	ms_saw(o->s, (uintptr_t)p);
	t = bench_now();
	p = sbrk(-2 * (intptr_t)MS_PAGE);
	second(o, t);
	return p == (void *)-1 ? -errno : 0;
}

/* What a round of will-it-scale's brk1 does: the heap is touched, and a page comes and goes. */
static int brk_one_page(struct others *o)
{
	char *end = sbrk(0);
	uint64_t t;
	int ret;

	if (!o->i) {
		if (brk(end + MS_PAGE))
			return -errno;
		end[MS_PAGE - 1] = 1;
		end += MS_PAGE;
	}
	t = bench_now();
	ret = brk(end + MS_PAGE);
	first(o, t);
	if (ret)
		return -errno;
	ms_saw(o->s, (uintptr_t)end);
	t = bench_now();
	ret = brk(end);
	second(o, t);
	return ret ? -errno : 0;
}

static int ended_well(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	return status ? -ECHILD : 0;
}

static int fork_exit(struct others *o)
{
	uint64_t t = bench_now();
	pid_t pid = fork();
	int ret;

	if (!pid)
		_exit(0);
	if (pid < 0)
		return -errno;
	ret = ended_well(pid);
	first(o, t);
	return ret;
}

/* Starts a program that exits at once: makes and removes its address space. */
static int spawn(struct others *o)
{
	char *argv[] = { (char *)o->self, "--nothing", NULL };
	char *envp[] = { NULL };
	uint64_t t = bench_now();
	pid_t pid;
	int ret = -posix_spawn(&pid, o->self, NULL, NULL, argv, envp);

	if (!ret)
		ret = ended_well(pid);
	first(o, t);
	return ret;
}

/* Copies the program into memory: each use of its file system may be slow. */
static int copy_in_memory(const char *program, char *path, size_t size)
{
	int from = open(program, O_RDONLY | O_CLOEXEC);
	int to = memfd_create("program", MFD_CLOEXEC);
	ssize_t n = 1;

	if (from < 0 || to < 0)
		return -errno;
	while (n > 0)
		n = sendfile(to, from, NULL, 1 << 20);
	close(from);
	snprintf(path, size, "/proc/self/fd/%d", to);
	return n ? -errno : 0;
}

/**
 * ms_others - measure operations other than those on live maps
 * @s: the space, with live maps
 * @self: path of the program, which exits with 0 if called with --nothing
 */
void ms_others(struct ms_space *s, const char *self)
{
	static const struct {
		int (*operation)(struct others *o);
		const char *first, *second;
		unsigned int samples;
	} all[] = {
		{ syscall_only, "syscall", NULL, 1001 },
		{ map_unmap, "anon-map", "anon-unmap", 1001 },
		{ large_map_unmap, "mmap1-map", "mmap1-unmap", 1001 },
		{ map_over, "map-over", NULL, 1001 },
		{ mprotect_split_merge, "mprotect-split", "mprotect-merge", 1001 },
		{ mremap_shrink_grow, "mremap-shrink", "mremap-grow", 1001 },
		{ mremap_move, "mremap-move", NULL, 1001 },
		{ brk_grow_shrink, "brk-grow", "brk-shrink", 1001 },
		{ brk_one_page, "brk1-grow", "brk1-shrink", 1001 },
		{ fault, "fault", NULL, 1001 },
		{ stack_map_unmap, "stack-map", "stack-unmap", 1001 },
		{ stack_grow, "stack-grow", NULL, 1001 },
		{ fork_exit, "fork-exit", NULL, 51 },
		{ spawn, "spawn", NULL, 51 },
	};
	char path[32];
	struct others o = { .s = s, .self = path };
	int copied = copy_in_memory(self, path, sizeof(path));
	const char *error;
	unsigned int k;
	int ret;

	for (k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
		o.n = s->quick ? (all[k].samples > 100 ? 201 : 11) :
				 all[k].samples;
		/* Around it are pages without access, so nothing merges. */
		o.area = mmap(NULL, 16 * MS_PAGE, PROT_NONE, ANON, -1, 0);
		ret = o.area == MAP_FAILED ? -errno : copied;
		for (o.i = 0; o.i < o.n && !ret; o.i++)
			ret = all[k].operation(&o);
		error = ret ? strerror(-ret) : ms_verify(s);
		ms_row(s, all[k].first, o.n, s->samples, error);
		if (all[k].second)
			ms_row(s, all[k].second, o.n,
			       s->samples + MS_SAMPLES_MAX, error);
		if (o.area != MAP_FAILED)
			munmap(o.area, 16 * MS_PAGE);
	}
}
