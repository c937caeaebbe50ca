// SPDX-License-Identifier: MIT
/*
 * PREAD, PWRITE and TRANSFER while user memory changes under them: it is
 * forked, discarded, unmapped, moved, protected or truncated.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw robust memory
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, changing user memory
 * Description: Checks that calls whose user memory is forked, discarded,
 *              unmapped, moved, protected or truncated meanwhile transfer the
 *              right bytes or give -EFAULT, and touch nothing else.
 */
IGT_TEST_DESCRIPTION("Checks reads and writes of radeon BOs whose user memory changes.");

#define PAGE		4096u
#define HOLD_US		2000000u
#define END_SECONDS	20u
#define RACE_SECONDS	0.05
#define RACE_US		1000u

#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))

/* What a forked child is to find, and what it tells about it. */
struct fork_job {
	const uint8_t *mem;
	const uint8_t *expected;
	size_t size;
	bool write;
	int go[2];
};

/*
 * Looks at memory at once, and again when the transfer has ended, after
 * writing bytes of its own to it if it is asked to.
 */
static int fork_main(void *data)
{
	struct fork_job *job = data;
	uint8_t *mem = (uint8_t *)job->mem;
	size_t i;
	char c;

	if (memcmp(mem, job->expected, job->size))
		return 1;
	if (job->write)
		memset(mem, 0x11, job->size);
	close(job->go[1]);
	if (read(job->go[0], &c, 1) < 0)
		return 2;
	if (!job->write)
		return memcmp(mem, job->expected, job->size) ? 3 : 0;
	for (i = 0; i < job->size; i++)
		if (mem[i] != 0x11)
			return 4;
	return 0;
}

/**
 * SUBTEST: fork-%s
 * Description: The process forks while a transfer waits for the GPU, with user
 *              memory pinned where the path does that. The child, whether it
 *              writes to its copy or not, never sees what is read afterwards,
 *              and a write does not take bytes from it. The parent's transfer is
 *              right.
 *
 * arg[1]:
 *
 * @busy: waits before it copies
 * @staged: waits for the staging area's copy
 * @zero-copy: waits with pages pinned
 */
static void test_fork(int fd, const struct igt_radeon_way *path)
{
	struct igt_radeon_stock before = igt_radeon_stock_take(fd);
	unsigned int i, asleep, late = 0;
	struct igt_radeon_thread thread;
	enum igt_radeon_op op;
	struct igt_radeon_trial t;
	struct fork_job job;
	int status, ret;
	pid_t pid;

	for (op = 0; op < IGT_RADEON_OPS; op++) {
		for (i = 0; i < 2; i++) {
			igt_radeon_trial_init(&t, fd, path, HOLD_US);
			igt_radeon_trial_prepare(&t);
			job = (struct fork_job) {
				.mem = t.mem,
				.expected = t.fresh,
				.size = t.span,
				.write = i,
			};
			igt_assert_eq(pipe(job.go), 0);
			thread.call = igt_radeon_trial_call(&t, op);
			thread.once = false;
			igt_radeon_thread_start(&thread);
			asleep = igt_radeon_thread_settle(&thread);
			late += asleep;
			pid = igt_radeon_spawn(fork_main, &job);

			/* The child has looked and written, if it does. */
			close(job.go[0]);
			usleep(50000);
			if (asleep)
				igt_assert_f(!igt_radeon_thread_ended(&thread),
					     "the GPU was too early\n");
			igt_radeon_set_latency(fd, 0);
			ret = igt_radeon_thread_join(&thread, END_SECONDS);
			igt_assert_f(ret == 0, "%s, %s: %d\n", path->name,
				     igt_radeon_op_name[op], ret);
			igt_radeon_trial_check(&t, op, true);
			close(job.go[1]);
			status = igt_radeon_reap(pid, END_SECONDS);
			igt_assert_f(WIFEXITED(status) && !WEXITSTATUS(status),
				     "%s, %s: the child's memory is wrong (%#x)\n",
				     path->name, igt_radeon_op_name[op],
				     status);
			igt_radeon_trial_fini(&t);
		}
	}
	igt_assert_f(late >= 4, "forked during %u calls only\n", late);
	igt_radeon_stock_assert(fd, &before);
}

/**
 * SUBTEST: fork-shared-pages
 * Description: Reading into memory that is shared with a forked child, copy on
 *              write, gives the parent a copy of its own: the child does not
 *              see a byte. Writing from such memory takes the caller's bytes,
 *              also after the other one has changed its own.
 */
static void test_fork_shared(int fd, const struct igt_radeon_way *path)
{
	enum igt_radeon_op op;
	struct igt_radeon_trial t;
	struct igt_radeon_call call;
	struct fork_job job;
	unsigned int i;
	int status;
	pid_t pid;

	igt_radeon_trial_init(&t, fd, path, 0);
	for (op = 0; op < IGT_RADEON_OPS; op++) {
		for (i = 0; i < 2; i++) {
			igt_radeon_trial_prepare(&t);
			job = (struct fork_job) {
				.mem = t.mem,
				.expected = t.fresh,
				.size = t.span,
				.write = i,
			};
			igt_assert_eq(pipe(job.go), 0);
			pid = igt_radeon_spawn(fork_main, &job);
			close(job.go[0]);
			if (i)
				usleep(30000);
			call = igt_radeon_trial_call(&t, op);
			igt_assert_eq(igt_radeon_call(&call), 0);
			close(job.go[1]);
			status = igt_radeon_reap(pid, END_SECONDS);
			igt_assert_f(WIFEXITED(status) && !WEXITSTATUS(status),
				     "%s, %s: the child's memory is wrong (%#x)\n",
				     path->name, igt_radeon_op_name[op],
				     status);
			igt_radeon_trial_check(&t, op, true);
		}
	}
	igt_radeon_trial_fini(&t);
}

/* A process that leaves pages to the GPU by being killed in its call. */
struct leaver {
	const struct igt_radeon_way *path;
	enum igt_radeon_op op;
	uint8_t *shared;
	uint32_t seed;
};

static int leaver_main(void *data)
{
	const struct leaver *l = data;
	struct igt_radeon_call call;
	struct igt_radeon_trial t;
	uint8_t *own;

	igt_radeon_trial_init(&t, igt_radeon_open(), l->path, HOLD_US);
	own = t.mem;
	t.mem = l->shared;
	igt_radeon_trial_prepare(&t);
	call = igt_radeon_trial_call(&t, l->op);
	igt_radeon_call(&call);
	t.mem = own;
	return 0;
}

/**
 * SUBTEST: kill-leaves-shared-pages
 * Description: A process is killed while the GPU copies from or to its memory,
 *              which it shares with another one: the pages stay pinned until
 *              the GPU is done, the other process can use and unmap the memory
 *              meanwhile, and then all is given back.
 */
static void test_leave(int fd)
{
	const struct igt_radeon_way *path = igt_radeon_way("zero-copy");
	const size_t size = path->size + 4 * PAGE;
	struct igt_radeon_stock before = igt_radeon_stock_take(fd), during;
	enum igt_radeon_op op;
	unsigned int i, left = 0;
	struct leaver l = { .path = path };
	int status;
	pid_t pid;

	igt_radeon_require_board(fd);
	for (op = 0; op < IGT_RADEON_OPS; op++) {
		l.op = op;
		l.shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		igt_assert(l.shared != MAP_FAILED);
		memset(l.shared, 0, size);
		pid = igt_radeon_spawn(leaver_main, &l);
		for (i = 0; i < 1000; i++) {
			usleep(5000);
			during = igt_radeon_stock_take(fd);
			if (during.pins >= before.pins + path->size / PAGE)
				break;
		}
		igt_assert_f(i < 1000, "nothing was pinned\n");
		kill(pid, SIGKILL);
		status = igt_radeon_reap(pid, END_SECONDS);
		igt_assert(WIFSIGNALED(status));
		during = igt_radeon_stock_take(fd);
		left += during.pins > before.pins;
		memset(l.shared, 0x22, size);
		munmap(l.shared, size);
		igt_radeon_set_latency(fd, 0);
		igt_radeon_stock_assert(fd, &before);
	}
	igt_assert_f(left == IGT_RADEON_OPS,
		     "the GPU's pages were given back before it was done\n");
}

/*
 * Races: one thread changes memory, over and over, while another one makes
 * calls. All bytes of user memory are USER or, as fresh pages are, 0; those of
 * the BO are BO_BYTE. Around the range they are something else.
 */
#define USER_BYTE	0xa5
#define BO_BYTE		0x5a
#define GUARD_BYTE	0x3c

enum race {
	RACE_DONTNEED,
	RACE_UNMAP,
	RACE_PROTECT,
	RACE_REMAP,
	RACE_TRUNCATE,
	RACE_PUNCH,
	RACES
};

static const struct {
	const char *name;
	const char *describe;
	bool file;
	bool faults;	/* calls can fail meanwhile */
} races[] = {
	[RACE_DONTNEED] = { "dontneed", "Pages are discarded meanwhile.",
			    false, false },
	[RACE_UNMAP] = { "unmap", "Memory is unmapped meanwhile.", false, true },
	[RACE_PROTECT] = { "protect", "Memory gets other permissions meanwhile.",
			   false, true },
	[RACE_REMAP] = { "remap", "Memory moves elsewhere meanwhile.",
			 false, true },
	[RACE_TRUNCATE] = { "truncate", "The file is truncated meanwhile.",
			    true, true },
	[RACE_PUNCH] = { "punch-hole", "The file gets holes meanwhile.",
			 true, false },
};

struct racer {
	enum race race;
	uint8_t *mem;		/* guards at both ends */
	uint8_t *elsewhere;	/* address space for RACE_REMAP */
	size_t size;
	int file;
	bool stop;
	unsigned int rounds;
	int error;
	pthread_t thread;
};

static void *map_again(struct racer *r, size_t at, size_t size)
{
	return mmap(r->mem + at, size, PROT_READ | PROT_WRITE,
		    MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* One change of a random part, and its end. */
static bool race_step(struct racer *r)
{
	const uint32_t pages = r->size / PAGE - 2;
	uint32_t first = igt_radeon_random() % pages;
	uint32_t count = 1 + igt_radeon_random() % (pages - first);
	size_t at = (1 + first) * PAGE, size = count * PAGE;
	uint8_t *mem = r->mem + at;
	void *moved;

	switch (r->race) {
	case RACE_DONTNEED:
		if (madvise(mem, size, MADV_DONTNEED))
			return false;
		break;
	case RACE_UNMAP:
		if (munmap(mem, size))
			return false;
		usleep(igt_radeon_random() % 100);
		if (map_again(r, at, size) == MAP_FAILED)
			return false;
		break;
	case RACE_PROTECT:
		if (mprotect(mem, size, igt_radeon_random() % 2 ? PROT_NONE :
								  PROT_READ))
			return false;
		usleep(igt_radeon_random() % 100);
		if (mprotect(mem, size, PROT_READ | PROT_WRITE))
			return false;
		break;
	case RACE_REMAP:
		moved = mremap(mem, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
			       r->elsewhere);
		if (moved == MAP_FAILED)
			return false;
		usleep(igt_radeon_random() % 100);
		if (mremap(moved, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
			   mem) == MAP_FAILED)
			return false;
		break;
	case RACE_TRUNCATE:
		if (ftruncate(r->file, at))
			return false;
		usleep(igt_radeon_random() % 100);
		if (ftruncate(r->file, r->size))
			return false;
		break;
	default:
		if (fallocate(r->file, FALLOC_FL_PUNCH_HOLE |
				       FALLOC_FL_KEEP_SIZE, at, size))
			return false;
		break;
	}
	/* Some bytes that are not 0 again; a file may have lost them. */
	if (igt_radeon_random() % 2)
		memset(mem, USER_BYTE, size);
	return true;
}

static void *race_main(void *data)
{
	struct racer *r = data;

	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED) && !r->error) {
		if (!race_step(r))
			r->error = errno;
		r->rounds++;
		/* Let calls be done undisturbed now and then. */
		usleep(igt_radeon_random() % 300);
	}
	return NULL;
}

static void racer_init(struct racer *r, enum race race, size_t size)
{
	*r = (struct racer) { .race = race, .size = size, .file = -1 };

	if (races[race].file) {
		r->file = memfd_create("race", MFD_CLOEXEC);
		igt_assert(r->file >= 0);
		igt_assert_eq(ftruncate(r->file, size), 0);
		r->mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			      r->file, 0);
		igt_assert(r->mem != MAP_FAILED);
	} else {
		r->mem = igt_radeon_memory(size);
	}
	r->elsewhere = igt_radeon_memory(size);
	memset(r->mem, USER_BYTE, size);
	memset(r->mem, GUARD_BYTE, PAGE);
	memset(r->mem + size - PAGE, GUARD_BYTE, PAGE);
}

static void racer_fini(struct racer *r)
{
	munmap(r->mem, r->size);
	munmap(r->elsewhere, r->size);
	if (r->file >= 0)
		close(r->file);
}

static void assert_bytes(const uint8_t *mem, size_t size, uint8_t a, uint8_t b,
			 uint8_t c, const char *what)
{
	size_t i;

	for (i = 0; i < size; i++)
		igt_assert_f(mem[i] == a || mem[i] == b || mem[i] == c,
			     "%s: byte %#zx is %#04x\n", what, i, mem[i]);
}

/* A BO whose first and last page are guards. */
static void fill_race_bo(const struct igt_radeon_bo *bo)
{
	uint8_t *bytes = malloc(bo->size);

	igt_assert(bytes);
	memset(bytes, BO_BYTE, bo->size);
	memset(bytes, GUARD_BYTE, PAGE);
	memset(bytes + bo->size - PAGE, GUARD_BYTE, PAGE);
	igt_radeon_bo_fill(bo, bytes);
	free(bytes);
}

static void check_race_bo(const struct igt_radeon_bo *bo, bool write)
{
	uint8_t *bytes = malloc(bo->size);

	igt_assert(bytes);
	igt_radeon_bo_read(bo, bytes);
	assert_bytes(bytes, PAGE, GUARD_BYTE, GUARD_BYTE, GUARD_BYTE,
		     "BO, before the range");
	assert_bytes(bytes + bo->size - PAGE, PAGE, GUARD_BYTE, GUARD_BYTE,
		     GUARD_BYTE, "BO, after the range");
	assert_bytes(bytes + PAGE, bo->size - 2 * PAGE, BO_BYTE,
		     write ? USER_BYTE : BO_BYTE, write ? 0 : BO_BYTE, "BO");
	free(bytes);
}

static void check_race_memory(const struct racer *r, bool write)
{
	assert_bytes(r->mem, PAGE, GUARD_BYTE, GUARD_BYTE, GUARD_BYTE,
		     "memory, before the range");
	/* A file that was truncated has lost this. */
	if (r->race != RACE_TRUNCATE)
		assert_bytes(r->mem + r->size - PAGE, PAGE, GUARD_BYTE,
			     GUARD_BYTE, GUARD_BYTE, "memory, after the range");
	assert_bytes(r->mem + PAGE, r->size - 2 * PAGE, USER_BYTE, 0,
		     write ? 0 : BO_BYTE, "memory");
}

static volatile unsigned int bus_errors;

static void count_bus_error(int sig)
{
	(void)sig;
	bus_errors++;
}

/**
 * SUBTEST: race-%s
 * Description: A thread changes random parts of user memory while another one
 *              makes calls by every path: each succeeds or gives -EFAULT, no
 *              signal is sent, bytes come from the two sides only, nothing
 *              around the ranges changes, and undisturbed all is right again.
 */
static void test_race_path(int fd, enum race race,
		      const struct igt_radeon_way *path,
		      enum igt_radeon_op op, unsigned int *faults)
{
	const bool write = igt_radeon_op_writes(op);
	const size_t inner = (path->size + PAGE - 1) & -(size_t)PAGE;
	struct igt_radeon_bo bo, source;
	struct igt_radeon_call call;
	unsigned int calls = 0;
	struct racer r;
	double end;
	int ret = 0;

	racer_init(&r, race, inner + 2 * PAGE);
	igt_radeon_bo_init(&bo, fd, r.size, path->domain, path->flags);
	fill_race_bo(&bo);
	if (path->busy) {
		igt_radeon_bo_init(&source, fd, r.size, RADEON_GEM_DOMAIN_GTT,
				   0);
		fill_race_bo(&source);
	}
	call = (struct igt_radeon_call) {
		.op = op,
		.fd = fd,
		.handle = bo.handle,
		.offset = PAGE,
		.size = inner,
		.mem = r.mem + PAGE,
	};
	igt_radeon_set_latency(fd, RACE_US);
	igt_assert_eq(pthread_create(&r.thread, NULL, race_main, &r), 0);
	for (end = igt_radeon_now() + RACE_SECONDS;
	     igt_radeon_now() < end || !r.rounds; calls++) {
		if (path->busy)
			igt_radeon_copy(IGT_RADEON_CP_DMA, &bo, 0, &source, 0,
					r.size);
		ret = igt_radeon_call(&call);
		if (ret && (ret != -EFAULT || !races[race].faults))
			break;
		*faults += !!ret;
	}
	__atomic_store_n(&r.stop, true, __ATOMIC_RELAXED);
	pthread_join(r.thread, NULL);
	igt_radeon_set_latency(fd, 0);
	igt_assert_f(!r.error, "%s: %s\n", races[race].name, strerror(r.error));
	igt_assert_f(!ret || ret == -EFAULT, "%s, %s: %d\n", path->name,
		     igt_radeon_op_name[op], ret);
	igt_assert_f(!ret || races[race].faults, "%s, %s: %d\n", path->name,
		     igt_radeon_op_name[op], ret);
	igt_assert_f(!bus_errors, "SIGBUS was sent\n");
	check_race_bo(&bo, write);
	check_race_memory(&r, write);

	memset(call.mem, USER_BYTE, inner);
	igt_assert_eq(igt_radeon_call(&call), 0);
	if (!write)
		assert_bytes(call.mem, inner, BO_BYTE, BO_BYTE, BO_BYTE,
			     "memory, undisturbed");
	check_race_bo(&bo, write);

	if (path->busy)
		igt_radeon_bo_fini(&source);
	igt_radeon_bo_fini(&bo);
	racer_fini(&r);
	igt_debug("%s, %s, %s: %u calls, %u changes\n", races[race].name,
		  path->name, igt_radeon_op_name[op], calls, r.rounds);
}

static void test_race(int fd, enum race race)
{
	struct igt_radeon_stock before = igt_radeon_stock_take(fd);
	const struct igt_radeon_way *path;
	unsigned int i, faults = 0;
	enum igt_radeon_op op;

	bus_errors = 0;
	signal(SIGBUS, count_bus_error);
	for (i = 0; i < igt_radeon_way_count; i++) {
		path = &igt_radeon_ways[i];
		if (!igt_radeon_has_way(fd, path))
			continue;
		for (op = 0; op < IGT_RADEON_OPS; op++)
			test_race_path(fd, race, path, op, &faults);
	}
	signal(SIGBUS, SIG_DFL);
	igt_info("%u calls gave -EFAULT\n", faults);
	igt_assert_f(faults > 0 || !races[race].faults,
		     "no call met a change of memory\n");
	igt_radeon_stock_assert(fd, &before);
}

/* A trial whose memory is something else, @span bytes that are written first. */
static void swap_memory(struct igt_radeon_trial *t, uint8_t *mem)
{
	munmap(t->mem, t->span);
	t->mem = mem;
}

/**
 * SUBTEST: truncated
 * Description: User memory is a mapping of a file that ends in the middle of
 *              the range: -EFAULT and no signal, bytes beyond it are not
 *              transferred. With the file extended again the call succeeds.
 */
static void test_truncated(int fd)
{
	const struct igt_radeon_way *path;
	struct igt_radeon_call call;
	struct igt_radeon_trial t;
	enum igt_radeon_op op;
	uint64_t cut;
	unsigned int i;
	int file, ret;

	bus_errors = 0;
	signal(SIGBUS, count_bus_error);
	for (i = 0; i < igt_radeon_way_count; i++) {
		path = &igt_radeon_ways[i];
		if (!igt_radeon_has_way(fd, path))
			continue;
		igt_radeon_trial_init(&t, fd, path, 0);
		file = memfd_create("truncated", MFD_CLOEXEC);
		igt_assert(file >= 0);
		igt_assert_eq(ftruncate(file, t.span), 0);
		swap_memory(&t, mmap(NULL, t.span, PROT_READ | PROT_WRITE,
				     MAP_SHARED, file, 0));
		igt_assert(t.mem != MAP_FAILED);
		/* A page before the middle; small ones lose all. */
		cut = path->size < 2 * PAGE ? PAGE : t.span / 2 / PAGE * PAGE;
		for (op = 0; op < IGT_RADEON_OPS; op++) {
			igt_radeon_trial_prepare(&t);
			call = igt_radeon_trial_call(&t, op);
			igt_assert_eq(ftruncate(file, cut), 0);
			ret = igt_radeon_call(&call);
			igt_assert_f(ret == -EFAULT, "%s, %s: %d\n", path->name,
				     igt_radeon_op_name[op], ret);
			igt_assert_eq(ftruncate(file, t.span), 0);
			/* What was cut off is zeros now, and still is. */
			memset(t.fresh + cut, 0, t.span - cut);
			igt_radeon_trial_check(&t, op, false);
			igt_radeon_trial_prepare(&t);
			igt_radeon_trial_again(&t, op);
		}
		close(file);
		igt_radeon_trial_fini(&t);
	}
	signal(SIGBUS, SIG_DFL);
	igt_assert_f(!bus_errors, "SIGBUS was sent\n");
}

/**
 * SUBTEST: permissions
 * Description: Memory that can only be read is a source and no destination,
 *              memory without permissions is neither.
 */
static void test_permissions(int fd)
{
	static const struct {
		int prot;
		int read;
		int write;
	} cases[] = {
		{ PROT_READ, -EFAULT, 0 },
		{ PROT_NONE, -EFAULT, -EFAULT },
		{ PROT_READ | PROT_WRITE, 0, 0 },
	};
	const struct igt_radeon_way *path;
	struct igt_radeon_call call;
	struct igt_radeon_trial t;
	enum igt_radeon_op op;
	unsigned int i, j;
	int ret, expected;

	for (i = 0; i < igt_radeon_way_count; i++) {
		path = &igt_radeon_ways[i];
		if (!igt_radeon_has_way(fd, path))
			continue;
		igt_radeon_trial_init(&t, fd, path, 0);
		for (op = 0; op < IGT_RADEON_OPS; op++) {
			for (j = 0; j < ARRAY_LEN(cases); j++) {
				igt_radeon_trial_prepare(&t);
				call = igt_radeon_trial_call(&t, op);
				igt_assert_eq(mprotect(t.mem, t.span,
						       cases[j].prot), 0);
				ret = igt_radeon_call(&call);
				igt_assert_eq(mprotect(t.mem, t.span, PROT_READ |
						       PROT_WRITE), 0);
				expected = igt_radeon_op_writes(op) ?
					cases[j].write : cases[j].read;
				igt_assert_f(ret == expected,
					     "%s, %s, permissions %d: %d instead of %d\n",
					     path->name, igt_radeon_op_name[op],
					     cases[j].prot, ret, expected);
				igt_radeon_trial_check(&t, op, !ret);
			}
		}
		igt_radeon_trial_fini(&t);
	}
}

/**
 * SUBTEST: read-only-file
 * Description: A private mapping of a file is a destination, and the file does
 *              not change; a shared one of a file opened for reading only is a
 *              source and no destination.
 */
static void test_read_only_file(int fd)
{
	const struct igt_radeon_way *path;
	struct igt_radeon_call call;
	struct igt_radeon_trial t;
	enum igt_radeon_op op;
	uint8_t *file_bytes, *mem;
	unsigned int i, shared;
	char name[64];
	int file, ro, ret;

	for (i = 0; i < igt_radeon_way_count; i++) {
		path = &igt_radeon_ways[i];
		if (!igt_radeon_has_way(fd, path))
			continue;
		igt_radeon_trial_init(&t, fd, path, 0);
		file_bytes = igt_radeon_malloc(t.span);
		for (op = 0; op < IGT_RADEON_OPS; op++) {
			for (shared = 0; shared < 2; shared++) {
				file = memfd_create("read-only", MFD_CLOEXEC);
				igt_assert(file >= 0);
				igt_radeon_pattern(t.fresh, t.span, i + op);
				igt_assert(pwrite(file, t.fresh, t.span, 0) ==
					   (ssize_t)t.span);
				snprintf(name, sizeof(name),
					 "/proc/self/fd/%d", file);
				ro = open(name, O_RDONLY | O_CLOEXEC);
				igt_assert(ro >= 0);
				mem = mmap(NULL, t.span, shared ? PROT_READ :
					   PROT_READ | PROT_WRITE,
					   shared ? MAP_SHARED : MAP_PRIVATE,
					   ro, 0);
				igt_assert(mem != MAP_FAILED);
				swap_memory(&t, mem);

				igt_radeon_trial_queue(&t);
				call = igt_radeon_trial_call(&t, op);
				ret = igt_radeon_call(&call);
				igt_assert_f(ret == (shared &&
						     !igt_radeon_op_writes(op) ?
						     -EFAULT : 0),
					     "%s, %s, %s file: %d\n",
					     path->name, igt_radeon_op_name[op],
					     shared ? "shared" : "private", ret);
				memcpy(file_bytes, t.fresh, t.span);
				igt_radeon_trial_check(&t, op, !ret);
				igt_assert(pread(file, t.fresh, t.span, 0) ==
					   (ssize_t)t.span);
				igt_assert_f(!memcmp(t.fresh, file_bytes,
						     t.span),
					     "%s, %s changed the file\n",
					     path->name,
					     igt_radeon_op_name[op]);
				close(ro);
				close(file);
			}
		}
		free(file_bytes);
		igt_radeon_trial_fini(&t);
	}
}

/**
 * SUBTEST: huge-pages
 * Description: User memory of hugetlb pages and of transparent huge pages.
 */
#define HUGE_PAGE	(2u << 20)
#define HUGE_PAGES	"/proc/sys/vm/nr_hugepages"

static uint64_t huge_faults(void)
{
	unsigned long long value;
	uint64_t found = 0;
	char name[64];
	FILE *f = fopen("/proc/vmstat", "r");

	igt_assert(f);
	while (fscanf(f, "%63s %llu", name, &value) == 2)
		if (!strcmp(name, "thp_fault_alloc"))
			found = value;
	fclose(f);
	return found;
}

static void huge_trial(int fd, uint8_t *mem)
{
	const struct igt_radeon_way *path;
	struct igt_radeon_trial t;
	enum igt_radeon_op op;
	unsigned int i;
	uint8_t *own;

	for (i = 0; i < igt_radeon_way_count; i++) {
		path = &igt_radeon_ways[i];
		if (!igt_radeon_has_way(fd, path))
			continue;
		igt_radeon_trial_init(&t, fd, path, 0);
		own = t.mem;
		t.mem = mem;
		for (op = 0; op < IGT_RADEON_OPS; op++) {
			igt_radeon_trial_prepare(&t);
			igt_radeon_trial_again(&t, op);
		}
		t.mem = own;
		igt_radeon_trial_fini(&t);
	}
}

static void test_huge(int fd)
{
	struct igt_radeon_stock before = igt_radeon_stock_take(fd);
	uint64_t faults = huge_faults();
	unsigned int kinds = 0;
	uint8_t *mem, *at;

	/* Some may be in use by others: two more. */
	if (igt_radeon_put(HUGE_PAGES, "4")) {
		mem = mmap(NULL, 2 * HUGE_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
		if (mem != MAP_FAILED) {
			huge_trial(fd, mem);
			munmap(mem, 2 * HUGE_PAGE);
			kinds++;
		}
		igt_radeon_put(HUGE_PAGES, "0");
	}

	mem = igt_radeon_memory(3 * HUGE_PAGE);
	at = (uint8_t *)(((uintptr_t)mem + HUGE_PAGE - 1) &
			 -(uintptr_t)HUGE_PAGE);
	if (!madvise(at, 2 * HUGE_PAGE, MADV_HUGEPAGE)) {
		memset(at, 1, 2 * HUGE_PAGE);
		if (huge_faults() > faults) {
			huge_trial(fd, at);
			kinds++;
		}
	}
	munmap(mem, 3 * HUGE_PAGE);
	igt_radeon_stock_assert(fd, &before);
	igt_info("%u kinds of huge pages\n", kinds);
	igt_require_f(kinds, "this machine has no huge pages\n");
}

int igt_main()
{
	static const char * const waiting[] = { "busy", "staged", "zero-copy" };
	unsigned int i;
	char name[64];
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER |
					       RADEON_GEM_RW_CAP_STAGED);
	}

	for (i = 0; i < ARRAY_LEN(waiting); i++) {
		snprintf(name, sizeof(name), "fork-%s", waiting[i]);
		igt_describe("A fork while a transfer waits for the GPU.");
		igt_subtest(name) {
			igt_radeon_require_board(fd);
			test_fork(fd, igt_radeon_way(waiting[i]));
		}
		igt_fixture()
			igt_radeon_set_latency(fd, 0);
	}

	igt_describe("Transfers from and to memory shared copy on write.");
	igt_subtest("fork-shared-pages") {
		for (i = 0; i < igt_radeon_way_count; i++)
			if (igt_radeon_has_way(fd, &igt_radeon_ways[i]))
				test_fork_shared(fd, &igt_radeon_ways[i]);
	}

	igt_describe("A killed process leaves shared pages to the GPU.");
	igt_subtest("kill-leaves-shared-pages")
		test_leave(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	for (i = 0; i < RACES; i++) {
		snprintf(name, sizeof(name), "race-%s", races[i].name);
		igt_describe(races[i].describe);
		igt_subtest(name)
			test_race(fd, i);
		igt_fixture()
			igt_radeon_set_latency(fd, 0);
	}

	igt_describe("The file behind user memory is too short.");
	igt_subtest("truncated")
		test_truncated(fd);

	igt_describe("User memory that can not be read or written.");
	igt_subtest("permissions")
		test_permissions(fd);

	igt_describe("User memory is a file that must not change.");
	igt_subtest("read-only-file")
		test_read_only_file(fd);

	igt_describe("User memory of huge pages.");
	igt_subtest("huge-pages")
		test_huge(fd);

	igt_fixture()
		close(fd);
}
