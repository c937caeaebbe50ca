// SPDX-License-Identifier: MIT
/*
 * PREAD, PWRITE and TRANSFER while another thread discards, unmaps, moves,
 * protects or truncates user memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw robust race
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, changing user memory
 * Description: Checks that calls whose user memory is changed by another thread
 *              transfer the right bytes or give -EFAULT, and change no others.
 */
IGT_TEST_DESCRIPTION("Checks reads and writes of radeon BOs while user memory changes.");

#define RACE_SECONDS	0.05
#define RACE_US		1000u

/*
 * One thread changes user memory again and again, while another makes calls.
 * Bytes of user memory are USER_BYTE, or 0 in new pages; those of the BO are
 * BO_BYTE. Bytes around the range are GUARD_BYTE.
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
	bool faults;	/* calls may give -EFAULT */
} races[] = {
	[RACE_DONTNEED] = { "dontneed", "Pages are discarded in calls.",
			    false, false },
	[RACE_UNMAP] = { "unmap", "Memory is unmapped in calls.", false, true },
	[RACE_PROTECT] = { "protect", "Memory is protected in calls.",
			   false, true },
	[RACE_REMAP] = { "remap", "Memory is moved in calls.",
			 false, true },
	[RACE_TRUNCATE] = { "truncate", "The file is truncated in calls.",
			    true, true },
	[RACE_PUNCH] = { "punch-hole", "The file gets holes in calls.",
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

/* Changes a random part of memory, and undoes the change. */
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
	/* Fill the new pages, which are zero, half of the time. */
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
		/* Leave some calls undisturbed. */
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

/* Fills a BO, whose first and last pages are guards. */
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
	/* Truncation has removed the guard at the end. */
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
 *              makes calls on every path. Each call succeeds or gives -EFAULT,
 *              no signal is sent, each byte is an old or a new one, and bytes
 *              around the ranges do not change. An undisturbed call then
 *              transfers the right bytes.
 *
 * arg[1]:
 *
 * @dontneed: pages are discarded
 * @unmap: memory is unmapped
 * @protect: memory gets other permissions
 * @remap: memory moves elsewhere
 * @truncate: the file is truncated
 * @punch-hole: the file gets holes
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
		.regions = igt_radeon_way_regions(path),
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
	struct igt_radeon_baseline before = igt_radeon_baseline_take(fd);
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
	igt_radeon_baseline_assert(fd, &before);
}

int igt_main()
{
	unsigned int i;
	char name[64];
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER |
					       RADEON_GEM_RW_CAP_STAGED);
	}

	for (i = 0; i < RACES; i++) {
		snprintf(name, sizeof(name), "race-%s", races[i].name);
		igt_describe(races[i].describe);
		igt_subtest(name)
			test_race(fd, i);
		igt_fixture()
			igt_radeon_set_latency(fd, 0);
	}

	igt_fixture()
		close(fd);
}
