// SPDX-License-Identifier: MIT
/*
 * For how long a call keeps locks and the CPU: steps of a copy by the CPU end,
 * the HDP is flushed once, and a wait for the GPU neither spins nor wakes up
 * without need.
 *
 * The first subtests need a strict board, on which the CPU's accesses to VRAM
 * trap: a load takes tens of microseconds there, longer than on hardware.
 * "spin" and "naps" count instructions: they need a guest of lab/run --accel
 * icount --smp 1, in which CPU time is a count. "room" counts writes to
 * registers; it and "ahead" need any board.
 */
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_process.h"
#include "igt_radeon_reset.h"
#include "igt_radeon_rw.h"
#include "igt_radeon_stats.h"

/**
 * TEST: radeon gem rw steps
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, locks
 * Description: Checks that long reads let others have the locks and the CPU.
 */
IGT_TEST_DESCRIPTION("Checks for how long calls keep locks and the CPU.");

#define SIZE		(64 * KIB)
/* Bytes after which a copy by uncached loads looks whether it has to end. */
#define LOOK		(4 * KIB)
#define LONG_SIZE	(1 * MIB)
/* How long the GPU is held back, by the guest's clock, where a call waits for it. */
#define HOLD_US		40000u
#define FOREVER_US	60000000u
/* For how many ns of CPU time a call spins for a copy that is next in its ring. */
#define SPIN_NS		200000u
/* Most naps of a wait, with a margin. Naps of 0.1 ms would be a hundred. */
#define NAPS		40
#define TRIES		3u
/* A write that waits for room in the staging buffer. */
#define ROOM_SIZE	(4 * MIB)
#define ROOM_STEP	(256 * KIB)
#define ROOM_TRIES	20u
/* In 10^6 bytes a second: a step takes 1.3 ms, longer than the CPU needs for it in most kernels. */
#define ROOM_RATE	200u
#define END_SECONDS	60u

static const struct igt_radeon_placement vram = {
	"VRAM", RADEON_GEM_DOMAIN_VRAM, RADEON_GEM_CPU_ACCESS
};

/* What a PREAD of VRAM by the CPU has counted. */
struct counts {
	uint64_t steps;		/* of the driver */
	uint64_t flushes;	/* of the HDP */
};

static struct counts count(int fd)
{
	return (struct counts) {
		.steps = igt_radeon_stats(fd).calls[IGT_RADEON_CPU],
		.flushes = igt_radeon_board_counter(fd, IGT_RADEON_HDP_FLUSHES),
	};
}

/* Skips unless the board is strict: only such a one counts these. */
static void require_strict(int fd)
{
	igt_radeon_require_board(fd);
	igt_require_f(igt_radeon_board_counter(fd, IGT_RADEON_TLB_INVALIDATES),
		      "needs a board with --strict\n");
}

/* Reads @size bytes of VRAM by the CPU. */
static struct counts read_by_cpu(int fd, size_t size)
{
	struct counts before, after;
	struct igt_radeon_bo bo;
	uint8_t *model, *got;

	require_strict(fd);
	igt_radeon_require_param("gem_rw_stage_read_min", 1u << 30);
	model = igt_radeon_bo_init_pattern(&bo, fd, size, &vram, 1);
	/* Resident: a fault would end a step, too. */
	got = igt_radeon_malloc(size);
	memset(got, 0, size);
	before = count(fd);
	igt_assert_eq(igt_radeon_pread(fd, bo.handle, 0, size, got, 0), 0);
	after = count(fd);
	igt_radeon_assert_equal(got, model, size, "PREAD");
	igt_radeon_bo_fini(&bo);
	free(got);
	free(model);
	igt_radeon_reset_params();

	return (struct counts) {
		.steps = after.steps - before.steps,
		.flushes = after.flushes - before.flushes,
	};
}

/**
 * SUBTEST: time
 * Description: The CPU reads VRAM, of which 4 KiB take longer than a step may.
 *              Each step ends at the first look at the clock.
 */
static void test_time(int fd)
{
	const struct counts d = read_by_cpu(fd, SIZE);

	igt_assert_f(d.steps == SIZE / LOOK, "%llu steps of %u bytes\n",
		     (unsigned long long)d.steps, SIZE);
}

/**
 * SUBTEST: flush-once
 * Description: The same read, of many steps, flushes the HDP once.
 */
static void test_flush_once(int fd)
{
	const struct counts d = read_by_cpu(fd, SIZE);

	igt_assert_f(d.steps > 1, "there was one step only\n");
	igt_assert_f(d.flushes == 1, "%llu flushes of the HDP in %llu steps\n",
		     (unsigned long long)d.flushes, (unsigned long long)d.steps);
}

/**
 * SUBTEST: writer
 * Description: A thread reads VRAM for seconds by the CPU. Another resets the GPU
 *              meanwhile, for which the driver takes exclusive_lock for writing.
 *              That is done before the read ends: the writer has got the lock
 *              between two steps.
 */
static void test_writer(int fd)
{
	struct igt_radeon_thread reader = {
		.call = { .op = IGT_RADEON_PREAD, .fd = fd, .size = LONG_SIZE },
	};
	const enum igt_radeon_engine engine =
		igt_radeon_has_engine(fd, IGT_RADEON_DMA) ?
		IGT_RADEON_DMA : IGT_RADEON_CP_DMA;
	struct igt_radeon_bo bo, lost, src;
	struct igt_radeon_stats before;
	double end = igt_radeon_now() + 60;
	uint32_t resets;
	uint8_t *model;
	bool was_first;

	require_strict(fd);
	igt_radeon_bo_init(&lost, fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&src, fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_require_param("gem_rw_stage_read_min", 1u << 30);
	model = igt_radeon_bo_init_pattern(&bo, fd, LONG_SIZE, &vram, 1);
	reader.call.handle = bo.handle;
	reader.call.mem = igt_radeon_malloc(LONG_SIZE);
	memset(reader.call.mem, 0, LONG_SIZE);

	before = igt_radeon_stats(fd);
	resets = igt_radeon_reset_count(fd);
	igt_radeon_hang(fd, engine);
	igt_radeon_copy(engine, &lost, 0, &src, 0, PAGE);
	igt_radeon_thread_start(&reader);
	/* Until its first step is done. */
	while (!igt_radeon_stats_since(fd, &before).calls[IGT_RADEON_CPU])
		igt_assert_f(igt_radeon_now() < end, "the read does not begin\n");
	igt_radeon_reset_gpu(fd);
	igt_radeon_bo_wait_through_lockup(&lost);
	igt_assert_f(igt_radeon_reset_count(fd) > resets, "there was no reset\n");
	was_first = !igt_radeon_thread_ended(&reader);

	igt_assert_eq(igt_radeon_thread_join(&reader, 120), 0);
	igt_radeon_assert_equal(reader.call.mem, model, LONG_SIZE, "PREAD");
	igt_assert_eq_u64(igt_radeon_stats_since(fd, &before).bytes[IGT_RADEON_CPU], LONG_SIZE);
	igt_assert_f(was_first, "the GPU was not reset before the read had ended\n");
	igt_radeon_bo_fini(&src);
	igt_radeon_bo_fini(&lost);
	igt_radeon_bo_fini(&bo);
	free(reader.call.mem);
	free(model);
	igt_radeon_reset_params();
}

static uint64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Skips unless each instruction takes 1 ns of the thread's CPU time. */
static void require_counted(void)
{
#ifdef __x86_64__
	uint64_t n, t, best = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		n = 1000000;
		t = cpu_time();
		__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r" (n) : : "cc");
		t = cpu_time() - t;
		best = t < best ? t : best;
	}
	igt_require_f(best > 1900000 && best < 2100000,
		      "CPU time is no count of instructions: needs lab/run --accel icount\n");
#else
	igt_require_f(false, "CPU time is no count of instructions\n");
#endif
}

/* What a staged PREAD of VRAM has cost its thread while the GPU was held back. */
struct wait {
	uint64_t least_ns;	/* CPU time of all tries */
	uint64_t most_ns;
	uint64_t sleeps;	/* the most of all tries */
};

/* Lets the GPU go on. Not the board: its clock is not that of a guest that counts. */
static void *release(void *fd)
{
	usleep(HOLD_US);
	igt_radeon_set_latency(*(int *)fd, 0);
	return NULL;
}

static struct wait wait_for_copy(int fd, bool others)
{
	struct wait w = { .least_ns = UINT64_MAX };
	struct igt_radeon_bo bo, other[2];
	struct igt_radeon_stats before;
	struct rusage from, to;
	uint8_t *model, *got;
	pthread_t releaser;
	unsigned int i;
	uint64_t ns;
	double start;

	igt_radeon_require_hold(fd);
	require_counted();
	igt_radeon_require_param("gem_rw_stage_read_min", 1);
	model = igt_radeon_bo_init_pattern(&bo, fd, SIZE, &vram, 1);
	for (i = 0; i < 2; i++)
		igt_radeon_bo_init(&other[i], fd, SIZE, RADEON_GEM_DOMAIN_VRAM, 0);
	got = igt_radeon_malloc(SIZE);
	memset(got, 0, SIZE);
	for (i = 0; i < TRIES; i++) {
		for (unsigned int k = 0; k < 2; k++)
			igt_radeon_bo_wait(&other[k]);
		before = igt_radeon_stats(fd);
		igt_radeon_set_latency(fd, FOREVER_US);
		if (others)
			igt_radeon_copy(IGT_RADEON_DMA, &other[0], 0, &other[1], 0, SIZE);
		start = igt_radeon_now();
		igt_assert_eq(pthread_create(&releaser, NULL, release, &fd), 0);
		igt_assert_eq(getrusage(RUSAGE_THREAD, &from), 0);
		ns = cpu_time();
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, 0, SIZE, got, 0), 0);
		ns = cpu_time() - ns;
		igt_assert_eq(getrusage(RUSAGE_THREAD, &to), 0);
		start = igt_radeon_now() - start;
		pthread_join(releaser, NULL);
		igt_radeon_assert_equal(got, model, SIZE, "PREAD");
		igt_assert_eq_u64(igt_radeon_stats_since(fd, &before).bytes[IGT_RADEON_STAGED], SIZE);
		igt_assert_f(start > HOLD_US / 2 / 1e6, "the GPU was not held back\n");
		w.least_ns = ns < w.least_ns ? ns : w.least_ns;
		w.most_ns = ns > w.most_ns ? ns : w.most_ns;
		if ((uint64_t)(to.ru_nvcsw - from.ru_nvcsw) > w.sleeps)
			w.sleeps = to.ru_nvcsw - from.ru_nvcsw;
	}
	igt_info("%llu to %llu instructions, %llu sleeps\n",
		 (unsigned long long)w.least_ns, (unsigned long long)w.most_ns,
		 (unsigned long long)w.sleeps);
	for (i = 0; i < 2; i++)
		igt_radeon_bo_fini(&other[i]);
	igt_radeon_bo_fini(&bo);
	free(got);
	free(model);
	igt_radeon_reset_params();
	return w;
}

/**
 * SUBTEST: spin
 * Description: A staged read spins for its copy if that is the next in its ring,
 *              and does not if work of others is before it.
 */
static void test_spin(int fd)
{
	const struct wait next = wait_for_copy(fd, false);
	const struct wait behind = wait_for_copy(fd, true);

	/* Others may have wanted the CPU, for which a call stops spinning. */
	igt_assert_f(next.most_ns >= SPIN_NS,
		     "a read that was next took %llu instructions\n",
		     (unsigned long long)next.most_ns);
	igt_assert_f(behind.least_ns < SPIN_NS,
		     "a read behind others' work took %llu instructions\n",
		     (unsigned long long)behind.least_ns);
}

/**
 * SUBTEST: naps
 * Description: While the GPU is held back for longer than a call polls, the call
 *              wakes up a few times only.
 */
static void test_naps(int fd)
{
	const struct wait w = wait_for_copy(fd, true);

	igt_assert_f(w.sleeps > 4 && w.sleeps < NAPS,
		     "a read has slept %llu times\n", (unsigned long long)w.sleeps);
}

/**
 * SUBTEST: room
 * Description: A write to CPU-inaccessible VRAM that waits for room in the staging
 *              buffer at most of its steps does not switch the ring's interrupt on
 *              and off at each: in one of some tries there are less than four writes
 *              to registers a step, of which one is the submission.
 */
static void test_room(int fd)
{
	const uint64_t steps = ROOM_SIZE / ROOM_STEP;
	uint64_t writes, least = UINT64_MAX, waits = 0;
	uint8_t *mem = igt_radeon_malloc(ROOM_SIZE);
	uint32_t rate = ROOM_RATE;
	struct igt_radeon_stats before, d;
	struct igt_radeon_bo bo;
	unsigned int i;

	igt_radeon_require_board(fd);
	igt_radeon_require_invisible_vram(fd);
	igt_radeon_bo_init(&bo, fd, ROOM_SIZE, RADEON_GEM_DOMAIN_VRAM,
			   RADEON_GEM_NO_CPU_ACCESS);
	/* On a machine with much else to do, copies may take longer than all naps. */
	for (i = 0; i < ROOM_TRIES && least >= 4 * steps; i++) {
		igt_radeon_pattern(mem, ROOM_SIZE, i);
		igt_radeon_set_rate(fd, rate);
		igt_radeon_bo_wait(&bo);
		before = igt_radeon_stats(fd);
		writes = igt_radeon_board_counter(fd, IGT_RADEON_REGISTER_WRITES);
		igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, 0, ROOM_SIZE, mem, 0), 0);
		writes = igt_radeon_board_counter(fd, IGT_RADEON_REGISTER_WRITES) - writes;
		d = igt_radeon_stats_since(fd, &before);
		igt_assert_eq_u64(d.bytes[IGT_RADEON_STAGED], ROOM_SIZE);
		if (d.events[IGT_RADEON_NOT_STAGED] < steps / 2) {
			/* A kernel with checks may fill a step more slowly than the GPU copies it. */
			rate = rate / 2 > ROOM_RATE / 16 ? rate / 2 : ROOM_RATE / 16;
			continue;
		}
		waits = d.events[IGT_RADEON_NOT_STAGED];
		least = writes < least ? writes : least;
	}
	igt_radeon_set_rate(fd, 0);
	igt_radeon_bo_assert(&bo, mem, "BO");
	igt_radeon_bo_fini(&bo);
	free(mem);
	igt_assert_f(waits, "no write waited for room at most of its steps\n");
	igt_info("%llu writes to registers in %llu steps, %llu waits, at %u MB/s\n",
		 (unsigned long long)least, (unsigned long long)steps,
		 (unsigned long long)waits, rate);
	igt_assert_f(least < 4 * steps, "%llu writes to registers in %llu steps\n",
		     (unsigned long long)least, (unsigned long long)steps);
}

/**
 * SUBTEST: ahead
 * Description: While the GPU is held back, a write to CPU-inaccessible VRAM copies
 *              two of its steps to the staging buffer before it waits.
 */
static void test_ahead(int fd)
{
	struct igt_radeon_thread writer = {
		.once = true,
		.call = { .op = IGT_RADEON_PWRITE, .fd = fd, .size = ROOM_SIZE },
	};
	struct igt_radeon_stats before, d;
	struct igt_radeon_bo bo;
	bool asleep;

	igt_radeon_require_board(fd);
	igt_radeon_require_invisible_vram(fd);
	igt_radeon_bo_init(&bo, fd, ROOM_SIZE, RADEON_GEM_DOMAIN_VRAM,
			   RADEON_GEM_NO_CPU_ACCESS);
	igt_radeon_bo_wait(&bo);
	writer.call.handle = bo.handle;
	writer.call.mem = igt_radeon_malloc(ROOM_SIZE);
	igt_radeon_pattern(writer.call.mem, ROOM_SIZE, 1);
	before = igt_radeon_stats(fd);
	igt_radeon_set_latency(fd, FOREVER_US);
	igt_radeon_thread_start(&writer);
	asleep = igt_radeon_thread_settle(&writer);
	/* That may have been another, short sleep. */
	usleep(100000);
	d = igt_radeon_stats_since(fd, &before);
	igt_radeon_set_latency(fd, 0);
	igt_assert_eq(igt_radeon_thread_join(&writer, END_SECONDS), 0);
	igt_radeon_bo_assert(&bo, writer.call.mem, "BO");
	igt_radeon_bo_fini(&bo);
	free(writer.call.mem);
	igt_assert_f(asleep && d.events[IGT_RADEON_NOT_STAGED], "the write did not wait\n");
	igt_assert_eq_u64(d.bytes[IGT_RADEON_STAGED], 2 * ROOM_STEP);
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_STAGED);
		igt_radeon_require_stats(fd);
	}

	igt_describe("A step ends when its time is over.");
	igt_subtest("time")
		test_time(fd);
	igt_describe("A read of many steps flushes the HDP once.");
	igt_subtest("flush-once")
		test_flush_once(fd);
	igt_describe("A writer of exclusive_lock does not wait for a long read.");
	igt_subtest("writer")
		test_writer(fd);
	igt_describe("A call only spins for a copy that is the next in its ring.");
	igt_subtest("spin")
		test_spin(fd);
	igt_describe("A call that waits for the GPU wakes up a few times only.");
	igt_subtest("naps")
		test_naps(fd);
	igt_describe("A write that waits for room does not use the interrupt.");
	igt_subtest("room")
		test_room(fd);
	igt_describe("A write copies a step ahead of the GPU.");
	igt_subtest("ahead")
		test_ahead(fd);
	igt_fixture() {
		igt_radeon_set_latency(fd, 0);
		if (igt_radeon_has_board(fd))
			igt_radeon_set_rate(fd, 0);
		igt_radeon_reset_params();
		close(fd);
	}
}
