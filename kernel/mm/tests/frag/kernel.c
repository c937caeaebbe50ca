// SPDX-License-Identifier: MIT
/*
 * The running kernel, as a backend for workloads, and the comparison of its
 * addresses with those of a model of today.
 *
 * Everything that the process has mapped is an obstacle in the model's window.
 * The program need not know the kernel's base: the window ends at the highest
 * (from below: begins at the lowest) page that mmap() gives, because beyond it
 * nothing changes. Mappings are private, anonymous, read-only and never
 * touched: they merge with each other, and with nothing else of a process.
 *
 * Where a workload has a window of limited size, the program fills all address
 * space outside of it.
 *
 * Between listing the obstacles and the end of the workload nothing may call
 * malloc(), because it maps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#include "bench.h"
#include "frag.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* x86-64: end of a process's addresses without five-level page tables, and the
 * lowest page that can be mapped (vm.mmap_min_addr). */
#define HIGH (0x7ffffffff000ull / FRAG_PAGE)
#define MIN 16u
/* A window for limited workloads: free in each layout, and at the same offset
 * from a huge page's start as the window of 2005. */
#define WINDOW_LOW (0x400000155000ull / FRAG_PAGE)

/**
 * struct range - a line of /proc/self/maps
 * @start: first page
 * @end: page behind the last
 * @ours: it has the protection of a workload's mappings, and no file
 * @stack: it is the process' stack
 */
struct range {
	uint64_t start, end;
	bool ours, stack;
};

#define RANGES 40000u
/* A step maps at most once, except that of "five", which maps six times. */
#define ROOM 6u

/* Static, because malloc() must not be called, see above. */
static char text[RANGES * 100];
static struct range before[RANGES], after[RANGES];
static struct range filled[1000];

/* Reads /proc/self/maps. Returns the number of ranges, or a negative errno. */
static int read_maps(struct range *ranges)
{
	size_t used = 0;
	unsigned int n = 0;
	char *line, *next;
	ssize_t got;
	int fd;

	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		got = read(fd, text + used, sizeof(text) - 1 - used);
		used += got > 0 ? got : 0;
	} while (got > 0);
	close(fd);
	if (got < 0 || used == sizeof(text) - 1)
		return -EFBIG;
	text[used] = 0;

	for (line = text; *line; line = next) {
		char *rest, *perms;

		next = strchrnul(line, '\n');
		if (*next)
			*next++ = 0;
		if (n == RANGES)
			return -EFBIG;
		ranges[n].start = strtoull(line, &rest, 16) / FRAG_PAGE;
		ranges[n].end = strtoull(rest + 1, &rest, 16) / FRAG_PAGE;
		/* "START-END PERMS OFFSET DEVICE INODE  PATH" */
		perms = rest + 1;
		ranges[n].ours = !strncmp(perms, "r--p ", 5) &&
				 strstr(perms, " 00:00 0") &&
				 !strpbrk(perms, "[/");
		ranges[n].stack = strstr(perms, "[stack]");
		n++;
	}
	return n;
}

static uint64_t map_pages(uint64_t length, int flags)
{
	void *p = mmap(NULL, length * FRAG_PAGE, PROT_READ,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1,
		       0);

	return p == MAP_FAILED ? FRAG_NONE : (uintptr_t)p / FRAG_PAGE;
}

static void unmap_pages(uint64_t start, uint64_t length)
{
	munmap((void *)(uintptr_t)(start * FRAG_PAGE), length * FRAG_PAGE);
}

/*
 * 32-bit system calls, which a 64-bit process may use as well: they get
 * addresses below 4 GiB, by the layout of 32-bit processes. The numbers are
 * those of i386; the offset of mmap2(), in rbp, is pages.
 */
#define I386_GETPID 20
#define I386_MUNMAP 91
#define I386_MMAP2 192
#define HIGH_COMPAT (0xffffe000ull / FRAG_PAGE)

#ifdef __x86_64__
static long compat_call(long number, unsigned long a, unsigned long b, long c,
			long d, long e)
{
	long ret;

	__asm__ volatile("pushq %%rbp\n\t"
			 "xorl %%ebp, %%ebp\n\t"
			 "int $0x80\n\t"
			 "popq %%rbp"
			 : "=a"(ret)
			 : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory", "cc", "r8", "r9", "r10", "r11");
	return (int)ret;
}
#else
static long compat_call(long number, unsigned long a, unsigned long b, long c,
			long d, long e)
{
	(void)number, (void)a, (void)b, (void)c, (void)d, (void)e;
	return -ENOSYS;
}
#endif

static uint64_t map_compat(uint64_t length, int flags)
{
	unsigned int ret = compat_call(I386_MMAP2, 0, length * FRAG_PAGE,
				       PROT_READ,
				       MAP_PRIVATE | MAP_ANONYMOUS |
					       MAP_NORESERVE | flags,
				       -1);

	/* Errors are values in the last page of addresses. */
	return ret > 0xfffff000 ? FRAG_NONE : ret / FRAG_PAGE;
}

static void unmap_compat(uint64_t start, uint64_t length)
{
	compat_call(I386_MUNMAP, start * FRAG_PAGE, length * FRAG_PAGE, 0, 0, 0);
}

/* Maps at an address. Without replace it fails if something is mapped there. */
static bool map_at(uint64_t start, uint64_t length, int flags, bool replace)
{
	void *at = (void *)(uintptr_t)(start * FRAG_PAGE);
	int fixed = replace ? MAP_FIXED : MAP_FIXED_NOREPLACE;

	return mmap(at, length * FRAG_PAGE, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed | flags,
		    -1, 0) == at;
}

/* Does the kernel align mappings of this length, and not only by chance? */
static bool aligns(uint64_t length, bool step)
{
	bool aligned = true;
	uint64_t at[4];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		/* Mapping one page makes the next free address unaligned. */
		at[i] = map_pages(i % 2 ? length + (step ? i : 0) : 1, 0);
		if (i % 2 && at[i] % FRAG_HUGE)
			aligned = false;
	}
	for (i = 0; i < 4; i++)
		unmap_pages(at[i], i % 2 ? length + (step ? i : 0) : 1);
	return aligned;
}

static enum frag_thp find_thp(void)
{
	if (!aligns(FRAG_HUGE, false))
		return FRAG_THP_NONE;
	return aligns(FRAG_HUGE + 1, true) ? FRAG_THP_LARGE : FRAG_THP_EXACT;
}

/* Most mappings that are made to close the holes above a place. */
#define CLOSED 256u

/*
 * Does the search use a hole that lies within the guard gap of a stack, but not
 * directly before that stack? A search by retries passes over it. Only the
 * top-down layout shows that. Returns 0, 1, or a negative errno: -EBUSY if
 * there are too many holes to find out.
 */
static int find_usable(void)
{
	/* Below a huge page: aligned mappings leave a large hole above them. */
	const uint64_t all = 448, stack = 384, hole = 16, other = 32;
	struct {
		uint64_t at, pages;
	} closed[CLOSED];
	uint64_t at, got, pages;
	unsigned int n = 0;
	int ret = -EBUSY;

	at = map_pages(all, 0);
	if (at == FRAG_NONE)
		return -ENOMEM;
	if (!map_at(at + stack, 1, MAP_GROWSDOWN, true)) {
		unmap_pages(at, all);
		return -ENOMEM;
	}
	/* Close all holes above, which would be taken first. */
	for (pages = all; pages; pages /= 2) {
		while ((got = map_pages(pages, 0)) != FRAG_NONE && got > at) {
			if (n == CLOSED) {
				unmap_pages(got, pages);
				goto out;
			}
			closed[n].at = got;
			closed[n++].pages = pages;
		}
		if (got != FRAG_NONE)
			unmap_pages(got, pages);
	}
	unmap_pages(at + stack - hole, hole);
	unmap_pages(at + stack - other, 1);
	got = map_pages(1, 0);
	ret = got == at + stack - other;
	if (got != FRAG_NONE)
		unmap_pages(got, 1);
out:
	while (n--)
		unmap_pages(closed[n].at, closed[n].pages);
	unmap_pages(at, all);
	return ret;
}

/**
 * frag_kernel_layout - run the program again with a layout of its own
 * @topdown: mmap() looks from above; else from below, ADDR_COMPAT_LAYOUT
 * @argv: arguments of the program
 *
 * Also switches address randomisation off, so that runs can be compared.
 *
 * Returns: only if that fails, a negative errno
 */
int frag_kernel_layout(bool topdown, char **argv)
{
	unsigned long wanted = ADDR_NO_RANDOMIZE;

	if (!topdown)
		wanted |= ADDR_COMPAT_LAYOUT;
	if (personality(wanted) < 0)
		return -errno;
	execv("/proc/self/exe", argv);
	return -errno;
}

/**
 * frag_kernel_is_topdown - whether mmap() looks from above
 */
bool frag_kernel_is_topdown(void)
{
	uint64_t a = map_pages(1, 0), b = map_pages(1, 0);

	unmap_pages(a, 1);
	unmap_pages(b, 1);
	return b < a;
}

/**
 * frag_kernel_test - test whether the kernel's kind is detected reliably
 *
 * The answer must not depend on how much is free above the mappings that the
 * detection makes: less and less of a huge page here.
 *
 * Returns: whether the answers are the same
 */
bool frag_kernel_test(void)
{
	uint64_t pad, at;
	int first = 0, answer;

	for (pad = 1; pad < FRAG_HUGE; pad += 30) {
		at = map_pages(pad, 0);
		answer = find_usable();
		unmap_pages(at, pad);
		if (pad == 1)
			first = answer;
		if (answer < 0 || answer != first) {
			printf("this kernel: %d behind %llu pages, but %d behind 1\n",
			       answer, (unsigned long long)pad, first);
			return false;
		}
	}
	return true;
}

/**
 * frag_kernel_unfit - say why the running kernel cannot be compared
 *
 * Returns: the reason, or NULL
 */
const char *frag_kernel_unfit(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname uts;

	uname(&uts);
	if (strcmp(uts.machine, "x86_64"))
		return "not x86-64: other layouts";
	if (sscanf(uts.release, "%u.%u", &major, &minor) != 2 || major < 6 ||
	    (major == 6 && minor < 1))
		return "older than Linux 6.1, or a sandbox whose mmap() is not Linux's";
	if (bench_read_number("/proc/sys/vm/legacy_va_layout"))
		return "vm.legacy_va_layout is set";
	if (access("/proc/self/maps", R_OK))
		return "no /proc/self/maps";
	return NULL;
}

/**
 * frag_kernel_has_compat - whether there are 32-bit system calls
 *
 * A child tries one: without them it gets a signal.
 */
bool frag_kernel_has_compat(void)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(compat_call(I386_GETPID, 0, 0, 0, 0, 0) != getpid());
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static uint64_t kernel_map(void *context, uint64_t length, enum frag_kind kind)
{
	const bool *compat = context;
	int flags = kind == FRAG_STACK ? MAP_GROWSDOWN : 0;

	return *compat ? map_compat(length, flags) : map_pages(length, flags);
}

static void kernel_unmap(void *context, uint64_t start, uint64_t length)
{
	const bool *compat = context;

	if (*compat)
		unmap_compat(start, length);
	else
		unmap_pages(start, length);
}

/*
 * Fills all free address space outside of the window. Returns the number of
 * mappings that this takes, or a negative errno.
 */
static int fill(const struct range *maps, int n, uint64_t low, uint64_t high)
{
	unsigned int count = 0, part;
	uint64_t from = MIN, to;
	int i;

	for (i = 0; i <= n; i++) {
		to = i < n && maps[i].start < HIGH ? maps[i].start : HIGH;
		/* The kernel maps nothing inside of the stack's guard gap. */
		if (i < n && maps[i].stack && to > from + FRAG_GUARD)
			to -= FRAG_GUARD;
		for (part = 0; part < 2; part++) {
			uint64_t a = from, b = to;

			if (part == 0 && b > low)
				b = low;
			if (part == 1 && a < high)
				a = high;
			if (a >= b)
				continue;
			if (!map_at(a, b - a, 0, false) ||
			    count == sizeof(filled) / sizeof(*filled))
				return -ENOMEM;
			filled[count++] = (struct range) { .start = a, .end = b };
		}
		if (i < n && maps[i].end > from)
			from = maps[i].end;
		if (from >= HIGH)
			break;
	}
	return count;
}

/* Maps the part of a range that is in the window in a model's space. */
static void place(struct frag_space *space, const struct range *range,
		  enum frag_kind kind)
{
	uint64_t a = range->start, b = range->end;

	if (a < space->low)
		a = space->low;
	if (b > space->high)
		b = space->high;
	if (a < b)
		frag_space_map(space, a, b - a, kind);
}

/* Whether a mapping was there before the workload. */
static bool is_old(const struct range *range, int old)
{
	int i;

	for (i = 0; i < old && before[i].start <= range->start; i++)
		if (before[i].start == range->start &&
		    before[i].end == range->end)
			return true;
	return false;
}

/*
 * Takes the areas that the workload has left from the kernel's list of
 * mappings: computes their shape, and compares each with the model's.
 */
static void compare_areas(int n, int old, struct frag_mm *mm,
			  struct frag_kernel *result)
{
	struct frag_area *area = frag_space_first(&mm->space);
	enum frag_kind kind = FRAG_PLAIN;
	struct frag_space real;
	int i;

	frag_space_init(&real, mm->space.low, mm->space.high, false);
	for (i = 0; i < n; i++) {
		if (!after[i].ours || is_old(&after[i], old)) {
			place(&real, &after[i], FRAG_FIXED);
			continue;
		}
		/* Alternate the kind: areas that are apart must not merge. */
		kind = kind == FRAG_PLAIN ? FRAG_STACK : FRAG_PLAIN;
		place(&real, &after[i], kind);
		while (area->kind == FRAG_FIXED && area != &mm->space.end)
			area = area->next;
		if (area->start != after[i].start || area->end != after[i].end)
			result->areas_differing++;
		if (area != &mm->space.end)
			area = area->next;
	}
	for (; area != &mm->space.end; area = area->next)
		result->areas_differing += area->kind != FRAG_FIXED;
	result->shape = frag_space_shape(&real);
	frag_space_clear(&real);
}

/* Faults the stack in now, so that it does not grow during the workload. */
static void touch_stack(void)
{
	volatile char stack[512 << 10];
	size_t i;

	for (i = 0; i < sizeof(stack); i += FRAG_PAGE)
		stack[i] = 0;
}

/*
 * Detects the kernel's kind, and chooses the model to compare with. Returns 0
 * or a negative errno.
 */
static int find_kind(struct frag_kernel *result,
		     const struct frag_model *model, bool compat)
{
	int usable;

	result->topdown = frag_kernel_is_topdown();
	/* 32-bit processes have no alignment to huge pages. */
	result->thp = compat ? FRAG_THP_NONE : find_thp();
	usable = result->topdown ? find_usable() : 0;
	if (usable < 0)
		return usable;
	result->usable = usable;
	if (!model)
		model = result->usable ? &frag_gap_usable : &frag_gap_retry;
	result->predicted = model;
	return 0;
}

/*
 * Makes the window of a workload: the kernel's own, or one of limited size,
 * with all other addresses filled. Lists the obstacles. Returns the number of
 * these, or a negative errno.
 */
static int make_window(const struct frag_workload *load, bool topdown,
		       uint64_t *low, uint64_t *high, int *fills)
{
	bool compat = load->compat;
	uint64_t edge;
	int old, i;

	*fills = 0;
	edge = kernel_map(&compat, 1, FRAG_PLAIN);
	kernel_unmap(&compat, edge, 1);
	*low = topdown ? MIN : edge;
	*high = topdown ? edge + 1 : compat ? HIGH_COMPAT : HIGH;
	/* A 32-bit process would have its libraries there. */
	if (compat &&
	    !map_at(topdown ? *high - FRAG_32BIT_LIBRARIES : *low,
		    FRAG_32BIT_LIBRARIES, 0, false))
		return -EBUSY;
	old = read_maps(before);
	if (old < 0 || !load->window)
		return old;

	*low = WINDOW_LOW;
	*high = *low + load->window;
	for (i = 0; i < old; i++)
		if (before[i].start < *high && before[i].end > *low)
			return -EBUSY;
	*fills = fill(before, old, *low, *high);
	if (*fills < 0)
		return *fills;
	if (!map_at(*low, FRAG_32BIT_LIBRARIES, 0, false))
		return -EBUSY;
	return old;
}

/* Runs the workload with the model, and counts the addresses that differ. */
static void compare_addresses(const struct frag_workload *load, uint64_t steps,
			      uint64_t seed, struct frag_mm *mm, int old,
			      const uint64_t *trace, uint64_t *predicted,
			      struct frag_kernel *result)
{
	struct frag_backend modelled = frag_model_backend(mm);
	uint64_t i;
	int j;

	mm->thp = result->thp;
	for (j = 0; !load->window && j < old; j++)
		place(&mm->space, &before[j], FRAG_FIXED);
	if (load->window)
		frag_space_map(&mm->space, mm->space.low, FRAG_32BIT_LIBRARIES,
			       FRAG_FIXED);
	modelled.trace = predicted;
	modelled.room = steps + ROOM;
	load->run(&modelled, steps, seed);
	for (i = 0; i < result->maps || i < modelled.used; i++)
		result->differing += i >= result->maps || i >= modelled.used ||
				     trace[i] != predicted[i];
}

/**
 * frag_kernel_run - run a workload, and compare its addresses with a model's
 * @load: workload
 * @steps: steps of it to do
 * @seed: of its random choices
 * @model: model to compare with, or NULL for that of the detected kernel
 * @result: filled in
 *
 * To be called once in a process, with the layout that the process has.
 *
 * Returns: 0, also if there are differences, or a negative errno
 */
int frag_kernel_run(const struct frag_workload *load, uint64_t steps,
		    uint64_t seed, const struct frag_model *model,
		    struct frag_kernel *result)
{
	const size_t room = steps + ROOM;
	bool compat = load->compat;
	struct frag_backend kernel = {
		.map = kernel_map,
		.unmap = kernel_unmap,
		.context = &compat,
		.room = room,
	};
	uint64_t *trace, low, high;
	int old, n, fills, ret;
	struct frag_mm mm;

	*result = (struct frag_kernel) { 0 };
	touch_stack();
	ret = find_kind(result, model, compat);
	if (ret)
		return ret;
	trace = malloc(2 * room * sizeof(*trace));
	if (!trace)
		return -ENOMEM;
	memset(trace, 0, 2 * room * sizeof(*trace));
	old = make_window(load, result->topdown, &low, &high, &fills);
	if (old < 0)
		return old;

	kernel.trace = trace;
	result->ns = bench_now();
	result->steps = load->run(&kernel, steps, seed);
	result->ns = bench_now() - result->ns;
	result->maps = kernel.used;
	n = read_maps(after);
	while (fills--)
		unmap_pages(filled[fills].start,
			    filled[fills].end - filled[fills].start);
	if (n < 0)
		return n;

	frag_mm_init(&mm, result->predicted, low, high, result->topdown);
	compare_addresses(load, steps, seed, &mm, old, trace, trace + room,
			  result);
	compare_areas(n, old, &mm, result);
	frag_space_clear(&mm.space);
	free(trace);
	return 0;
}
