// SPDX-License-Identifier: MIT
/*
 * PREAD, PWRITE and TRANSFER while BOs are evicted and swapped out, the GPU
 * hangs and is reset, and the system is suspended.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_radeon_suspend.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw robust gpu
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, changes of the device
 * Description: Checks the bytes that calls transfer while BOs move, the GPU is
 *              reset, or the system is suspended.
 */
IGT_TEST_DESCRIPTION("Checks reads and writes of radeon BOs across evictions, resets and suspend.");

#define END_SECONDS	30u
#define STORM_SECONDS	3.0
/* The kernel's test of a ring waits for 100 ms. */
#define LATE_US		50000u

/* Memory that the processes of a storm share. */
struct storm {
	volatile uint32_t stop;
	volatile uint32_t calls;
	volatile uint32_t shrunk;
	volatile uint32_t fills;
	uint32_t seed;
};

static struct storm *storm;

static uint32_t chance(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Makes random calls on BOs with known bytes. Ends at the first fault. */
static int model_main(void *data)
{
	static const struct igt_radeon_placement places[] = {
		{ "VRAM", RADEON_GEM_DOMAIN_VRAM, 0 },
		{ "CPU-inaccessible VRAM", RADEON_GEM_DOMAIN_VRAM,
		  RADEON_GEM_NO_CPU_ACCESS },
		{ "GTT", RADEON_GEM_DOMAIN_GTT, 0 },
		{ "GTT, write-combined", RADEON_GEM_DOMAIN_GTT,
		  RADEON_GEM_GTT_WC },
	};
	const uint64_t size = (2 << 20) + PAGE;
	struct igt_radeon_bo bo[ARRAY_SIZE(places)];
	uint8_t *model[ARRAY_SIZE(places)], *mem;
	uint32_t state = (uintptr_t)data, i, n, max;
	int fd = igt_radeon_open(), ret;
	struct igt_radeon_call call;
	unsigned int calls = 0;

	mem = igt_radeon_memory(size);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		igt_radeon_bo_init(&bo[i], fd, size, places[i].domain,
				   places[i].flags);
		model[i] = igt_radeon_memory(size);
		igt_radeon_pattern(model[i], size, state + i);
		if (igt_radeon_pwrite(fd, bo[i].handle, 0, size, model[i], 0))
			return 1;
	}
	while (!storm->stop) {
		i = chance(&state) % ARRAY_SIZE(places);
		max = chance(&state) % 4 ? 100000 : size;
		call = (struct igt_radeon_call) {
			.op = chance(&state) % IGT_RADEON_OPS,
			.fd = fd,
			.handle = bo[i].handle,
			.size = 1 + chance(&state) % max,
		};
		call.offset = chance(&state) % (size - call.size + 1);
		call.mem = mem;
		if (igt_radeon_op_writes(call.op)) {
			igt_radeon_pattern(mem, call.size, chance(&state));
			memcpy(model[i] + call.offset, mem, call.size);
		}
		ret = igt_radeon_call(&call);
		if (ret) {
			igt_warn("%s, %s: %d\n", places[i].name,
				 igt_radeon_op_name[call.op], ret);
			return 2;
		}
		if (!igt_radeon_op_writes(call.op) &&
		    memcmp(model[i] + call.offset, mem, call.size)) {
			igt_warn("%s, %s of %llu bytes at %#llx: wrong bytes\n",
				 places[i].name, igt_radeon_op_name[call.op],
				 (unsigned long long)call.size,
				 (unsigned long long)call.offset);
			return 3;
		}
		calls++;
	}
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		if (igt_radeon_pread(fd, bo[i].handle, 0, size, mem, 0))
			return 4;
		for (n = 0; n < size; n++)
			if (mem[n] != model[i][n])
				return 5;
	}
	__atomic_add_fetch(&storm->calls, calls, __ATOMIC_RELAXED);
	return 0;
}

/* Fills VRAM again and again, so that the kernel evicts all older BOs. */
static int evict_main(void *data)
{
	const uint64_t step = 16 << 20;
	struct igt_radeon_bo fill[80];
	uint64_t total, visible;
	unsigned int max, n, i;
	int fd = igt_radeon_open();

	(void)data;
	igt_radeon_vram_size(fd, &total, &visible);
	/* Some more than VRAM has room for */
	max = total / step + 4;
	while (!storm->stop) {
		for (n = 0; n < max && n < ARRAY_SIZE(fill) && !storm->stop; n++)
			igt_radeon_bo_init(&fill[n], fd, step,
					   RADEON_GEM_DOMAIN_VRAM, n % 2 ?
					   RADEON_GEM_NO_CPU_ACCESS : 0);
		storm->fills++;
		for (i = 0; i < n; i++)
			igt_radeon_bo_fini(&fill[i]);
	}
	return 0;
}

/* Has TTM swap BOs out all the time. */
static int shrink_main(void *data)
{
	char text[32];
	int file;

	(void)data;
	while (!storm->stop) {
		file = open("/sys/kernel/debug/ttm/tt_shrink",
			    O_RDONLY | O_CLOEXEC);
		if (file < 0)
			return 0;
		memset(text, 0, sizeof(text));
		if (read(file, text, sizeof(text) - 1) > 0 && atoi(text) > 0)
			storm->shrunk++;
		close(file);
		usleep(2000);
	}
	return 0;
}

/**
 * SUBTEST: eviction-storm
 * Description: Two processes make random calls on BOs with known bytes, while a
 *              third process fills VRAM again and again and a fourth one has
 *              TTM swap BOs out. No byte is lost.
 */
static void test_eviction(int fd)
{
	struct igt_radeon_baseline before = igt_radeon_baseline_take(fd);
	uint64_t moved = igt_radeon_info64(fd, RADEON_INFO_NUM_BYTES_MOVED);
	int (*mains[4])(void *) = { model_main, model_main, evict_main,
				    shrink_main };
	uint64_t total, visible;
	unsigned int i;
	pid_t pid[4];
	int status;

	igt_radeon_vram_size(fd, &total, &visible);
	igt_require_f(total <= 1ull << 30, "too much VRAM to fill\n");
	*storm = (struct storm) { .stop = 0 };
	for (i = 0; i < 4; i++)
		pid[i] = igt_radeon_spawn(mains[i], (void *)(uintptr_t)(i + 1));
	usleep(STORM_SECONDS * 1000000);
	storm->stop = 1;
	for (i = 0; i < 4; i++) {
		status = igt_radeon_reap(pid[i], END_SECONDS);
		igt_assert_f(WIFEXITED(status) && !WEXITSTATUS(status),
			     "process %u: status %#x\n", i, status);
	}
	moved = igt_radeon_info64(fd, RADEON_INFO_NUM_BYTES_MOVED) - moved;
	igt_info("%u calls, VRAM filled %u times, %llu MiB moved, %u times swapped out\n",
		 storm->calls, storm->fills, (unsigned long long)moved >> 20,
		 storm->shrunk);
	igt_assert_f(storm->calls > 20 && moved > 4 << 20,
		     "%u calls, %llu bytes moved\n", storm->calls,
		     (unsigned long long)moved);
	igt_radeon_baseline_assert(fd, &before);
}

/*
 * Asserts that the GPU was reset once or twice since @resets was its number of
 * resets. A second reset follows if a ring waits for work that the first one
 * has dropped, and drops the work of that ring.
 *
 * Returns: whether there was a second reset
 */
static bool was_reset(int fd, uint32_t resets)
{
	uint32_t more = igt_radeon_reset_count(fd) - resets;

	igt_assert_f(more == 1 || more == 2, "%u resets\n", more);
	if (more == 2)
		igt_info("the GPU was reset twice\n");
	return more == 2;
}

/* A reset during the ring tests of another would disable a ring. */
static void settle_reset(void)
{
	usleep(1600000);
}

/*
 * Returns the engine that will have work, and that a test lets hang. The driver
 * would not reset an engine without work.
 */
static enum igt_radeon_engine engine_of(const struct igt_radeon_way *path)
{
	return path->busy ? IGT_RADEON_CP_DMA : IGT_RADEON_DMA;
}

static void hang_with_work(struct igt_radeon_trial *t)
{
	igt_radeon_hang(t->fd, engine_of(t->path));
	igt_radeon_trial_prepare(t);
}

/**
 * SUBTEST: hang-%s
 * Description: An engine hangs and the GPU is reset while a call waits for its
 *              copy, or for the BO. The call succeeds or gives -EAGAIN, each
 *              byte has its old or its new value, and the repeated call
 *              succeeds with the right bytes.
 *
 * arg[1]:
 *
 * @busy: waits before it copies
 * @staged: waits for a copy through the staging buffer
 */
static void test_hang(int fd, const struct igt_radeon_way *path)
{
	uint32_t resets = igt_radeon_reset_count(fd);
	struct igt_radeon_baseline before = igt_radeon_baseline_take(fd);
	struct igt_radeon_thread thread;
	unsigned int again = 0, asleep = 0;
	struct igt_radeon_trial t;
	enum igt_radeon_op op;
	bool dropped;
	int ret;

	for (op = 0; op < IGT_RADEON_OPS; op++) {
		igt_radeon_trial_init(&t, fd, path, 0);
		hang_with_work(&t);
		thread.call = igt_radeon_trial_call(&t, op);
		thread.once = true;
		igt_radeon_thread_start(&thread);
		asleep += igt_radeon_thread_settle(&thread);
		igt_radeon_reset_gpu(fd);
		ret = igt_radeon_thread_join(&thread, END_SECONDS);
		igt_assert_f(ret == 0 || ret == -EAGAIN, "%s, %s: %d\n",
			     path->name, igt_radeon_op_name[op], ret);
		again += ret == -EAGAIN;

		/* Whoever detects the hang, the GPU is reset by now. */
		igt_radeon_bo_wait(&t.bo);
		dropped = was_reset(fd, resets);
		resets = igt_radeon_reset_count(fd);
		igt_radeon_trial_check(&t, op, ret == 0 && !dropped);
		igt_radeon_trial_again(&t, op);
		settle_reset();
		igt_radeon_trial_fini(&t);
	}
	igt_info("%u calls were asleep, %u gave -EAGAIN\n", asleep, again);
	igt_assert_f(asleep >= 2, "%u calls were asleep\n", asleep);
	igt_radeon_baseline_assert(fd, &before);
}

/**
 * SUBTEST: hang-staged-writes
 * Description: The GPU hangs and is reset after many small writes to a busy BO
 *              were staged. Their copies are done afterwards, in order.
 */
static void test_hang_staged(int fd)
{
	const struct igt_radeon_way *path = igt_radeon_way("busy");
	uint32_t resets = igt_radeon_reset_count(fd), state = 5;
	uint64_t before = igt_radeon_stat(fd, "stall_avoided");
	struct igt_radeon_trial t;
	uint8_t bytes[200];
	unsigned int i, at, size;

	igt_radeon_trial_init(&t, fd, path, 0);
	hang_with_work(&t);
	for (i = 0; i < 64; i++) {
		at = chance(&state) % (t.span - sizeof(bytes));
		size = 1 + chance(&state) % sizeof(bytes);
		igt_radeon_pattern(bytes, size, i);
		igt_assert_eq(igt_radeon_pwrite(fd, t.bo.handle, at, size,
						bytes, 0), 0);
		memcpy(t.held + at, bytes, size);
	}
	igt_assert_f(igt_radeon_stat(fd, "stall_avoided") == before + 64,
		     "not all writes were staged\n");
	igt_radeon_reset_gpu(fd);
	igt_radeon_bo_wait(&t.bo);
	if (!was_reset(fd, resets))
		igt_radeon_bo_assert(&t.bo, t.held, "after the reset");
	else
		igt_radeon_bo_fill(&t.bo, t.held);
	igt_radeon_trial_prepare(&t);
	igt_radeon_trial_again(&t, IGT_RADEON_PWRITE);
	settle_reset();
	igt_radeon_trial_fini(&t);
}

/**
 * SUBTEST: hang-replay
 * Description: An engine hangs and the GPU is reset after writes by that engine
 *              were done and their BO was overwritten. The driver, which
 *              resubmits unfinished copies, does not resubmit those that were
 *              done.
 */
static void test_hang_replay(int fd, const struct igt_radeon_way *path)
{
	const char *stat = path->write;
	uint64_t before = igt_radeon_stat(fd, stat);
	uint32_t resets = igt_radeon_reset_count(fd);
	struct igt_radeon_call call;
	struct igt_radeon_bo other[2];
	struct igt_radeon_trial t;
	unsigned int i;
	uint8_t *later;

	igt_radeon_trial_init(&t, fd, path, 20000);
	/* On a machine with much else to do the BO may be idle too soon. */
	for (i = 0; i < 200 && igt_radeon_stat(fd, stat) < before + 8; i++) {
		igt_radeon_trial_prepare(&t);
		call = igt_radeon_trial_call(&t, IGT_RADEON_PWRITE);
		igt_assert_eq(igt_radeon_call(&call), 0);
		igt_radeon_set_latency(fd, 0);
		igt_radeon_bo_wait(&t.bo);
	}
	igt_assert_f(igt_radeon_stat(fd, stat) >= before + 8,
		     "%s: of %u writes only %" PRIu64 " took their path\n",
		     path->name, i, igt_radeon_stat(fd, stat) - before);

	/* By the CPU, so that there is no IB behind the copies. */
	later = igt_radeon_malloc(t.span);
	igt_radeon_pattern(later, t.span, 99);
	igt_radeon_bo_fill(&t.bo, later);
	for (i = 0; i < 2; i++)
		igt_radeon_bo_init(&other[i], fd, PAGE, RADEON_GEM_DOMAIN_GTT,
				   0);

	igt_radeon_hang(fd, engine_of(path));
	igt_radeon_copy(engine_of(path), &other[0], 0, &other[1], 0, PAGE);
	igt_radeon_reset_gpu(fd);
	igt_radeon_bo_wait(&other[0]);
	was_reset(fd, resets);
	igt_radeon_bo_assert(&t.bo, later, path->name);

	settle_reset();
	for (i = 0; i < 2; i++)
		igt_radeon_bo_fini(&other[i]);
	free(later);
	igt_radeon_trial_fini(&t);
}

/**
 * SUBTEST: reset-storm
 * Description: The GPU is reset several times while two processes make random
 *              calls on BOs with known bytes. Repeated calls succeed, and no
 *              byte is lost.
 */
static void test_reset_storm(int fd)
{
	struct igt_radeon_baseline before = igt_radeon_baseline_take(fd);
	uint32_t resets = igt_radeon_reset_count(fd);
	unsigned int i;
	pid_t pid[2];
	int status;

	igt_radeon_require_board(fd);
	*storm = (struct storm) { .stop = 0 };
	for (i = 0; i < 2; i++)
		pid[i] = igt_radeon_spawn(model_main,
					  (void *)(uintptr_t)(i + 11));
	for (i = 0; i < 3; i++) {
		usleep(300000);
		igt_radeon_reset_gpu(fd);
		settle_reset();
	}
	storm->stop = 1;
	for (i = 0; i < 2; i++) {
		status = igt_radeon_reap(pid[i], END_SECONDS);
		igt_assert_f(WIFEXITED(status) && !WEXITSTATUS(status),
			     "process %u: status %#x\n", i, status);
	}
	resets = igt_radeon_reset_count(fd) - resets;
	igt_info("%u calls, %u resets\n", storm->calls, resets);
	igt_assert_f(storm->calls > 20 && resets >= 2, "%u calls, %u resets\n",
		     storm->calls, resets);
	igt_radeon_baseline_assert(fd, &before);
}

/**
 * SUBTEST: suspend
 * Description: The devices are suspended and resumed twice. Bytes written by
 *              each path right before are there afterwards, all calls work
 *              afterwards, and calls of other processes continue.
 */
static void test_suspend(int fd)
{
	const struct igt_radeon_way *path;
	struct igt_radeon_call call;
	struct igt_radeon_trial t[8];
	enum igt_radeon_op op;
	unsigned int round, i, n;
	pid_t pid[2];
	int status;

	igt_radeon_require_suspend();

	*storm = (struct storm) { .stop = 0 };
	for (i = 0; i < 2; i++)
		pid[i] = igt_radeon_spawn(model_main,
					  (void *)(uintptr_t)(i + 21));
	for (round = 0; round < 2; round++) {
		for (i = 0, n = 0; i < igt_radeon_way_count; i++) {
			path = &igt_radeon_ways[i];
			if (!igt_radeon_has_way(fd, path))
				continue;
			igt_radeon_trial_init(&t[n++], fd, path, 0);
		}
		for (i = 0; i < n; i++) {
			igt_radeon_trial_prepare(&t[i]);
			call = igt_radeon_trial_call(&t[i],
						     IGT_RADEON_PWRITE);
			igt_assert_eq(igt_radeon_call(&call), 0);
		}
		igt_radeon_suspend_devices();
		for (i = 0; i < n; i++) {
			igt_radeon_trial_check(&t[i], IGT_RADEON_PWRITE, true);
			for (op = 0; op < IGT_RADEON_OPS; op++) {
				/* By any path, as BOs were evicted. */
				igt_radeon_trial_prepare(&t[i]);
				call = igt_radeon_trial_call(&t[i], op);
				igt_assert_eq(igt_radeon_call(&call), 0);
				igt_radeon_trial_check(&t[i], op, true);
			}
			igt_radeon_trial_fini(&t[i]);
		}
	}
	storm->stop = 1;
	for (i = 0; i < 2; i++) {
		status = igt_radeon_reap(pid[i], END_SECONDS);
		igt_assert_f(WIFEXITED(status) && !WEXITSTATUS(status),
			     "process %u: status %#x\n", i, status);
	}
	igt_assert_f(storm->calls > 20, "%u calls only\n", storm->calls);
}

/*
 * Hangs the engines with staged writes behind other work, suspends the devices and
 * resumes them. The writes had succeeded, and their bytes are there afterwards.
 *
 * Without kernel/fixes/ Linux 6.12 tests IBs on resume while it still takes the GPU for
 * hung: the test fails unless the GPU is faster than the CPU. With latency_us, from the
 * hang to the end of the resume, it is not.
 */
static void hang_and_suspend(int fd, uint32_t latency_us)
{
	static const uint32_t domains[] = { RADEON_GEM_DOMAIN_VRAM, RADEON_GEM_DOMAIN_GTT };
	const uint64_t size = 16 * PAGE, replayed = igt_radeon_stat(fd, "replayed");
	struct igt_radeon_bo bo[2 * IGT_RADEON_ENGINES], src;
	uint8_t *user = igt_radeon_malloc(PAGE), *got = igt_radeon_malloc(PAGE);
	struct igt_radeon_stats stats;
	/* radeon uses no DMA ring on an R6xx. */
	const bool dma = igt_radeon_has_engine(fd, IGT_RADEON_DMA);
	const unsigned int count = dma ? ARRAY_SIZE(bo) : 2;
	unsigned int i, j;

	igt_radeon_bo_init(&src, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	for (i = 0; i < count; i++) {
		igt_radeon_bo_init(&bo[i], fd, size, domains[i % 2],
				   i % 2 ? 0 : RADEON_GEM_CPU_ACCESS);
		igt_radeon_bo_wait(&bo[i]);
	}
	stats = igt_radeon_stats(fd);
	igt_radeon_set_latency(fd, END_SECONDS * 1000000);
	for (i = 0; i < count; i++) {
		igt_radeon_copy(i / 2 ? IGT_RADEON_DMA : IGT_RADEON_CP_DMA, &bo[i], 0,
				&src, 0, size);
		for (j = 0; j < 8; j++) {
			igt_radeon_pattern(user, PAGE, 10 * i + j);
			igt_assert_eq(igt_radeon_pwrite(fd, bo[i].handle, 2 * j * PAGE,
							PAGE, user, 0), 0);
		}
	}
	stats = igt_radeon_stats_since(fd, &stats);
	igt_assert_eq_u64(stats.events[IGT_RADEON_STALL_AVOIDED], 8 * count);
	igt_radeon_hang(fd, IGT_RADEON_CP_DMA);
	if (dma)
		igt_radeon_hang(fd, IGT_RADEON_DMA);
	igt_radeon_set_latency(fd, latency_us);
	for (i = 0; i < count; i++)
		igt_assert_f(igt_radeon_bo_busy(&bo[i]), "the writes are done already\n");
	igt_radeon_suspend_devices();
	igt_radeon_set_latency(fd, 0);
	for (i = 0; i < count; i++) {
		igt_radeon_bo_wait_through_lockup(&bo[i]);
		for (j = 0; j < 8; j++) {
			igt_radeon_pattern(user, PAGE, 10 * i + j);
			igt_assert_eq(igt_radeon_pread(fd, bo[i].handle, 2 * j * PAGE,
						       PAGE, got, 0), 0);
			igt_radeon_assert_equal(got, user, PAGE,
						i % 2 ? "GTT" : "VRAM");
		}
		igt_radeon_bo_fini(&bo[i]);
	}
	igt_assert_f(igt_radeon_stat(fd, "replayed") >= replayed + 8 * count,
		     "the writes were not lost\n");
	/* All rings work. */
	igt_radeon_bo_init(&bo[0], fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &bo[0], 0, &src, 0, size);
	if (dma)
		igt_radeon_copy(IGT_RADEON_DMA, &bo[0], 0, &src, 0, size);
	igt_radeon_bo_wait(&bo[0]);
	igt_radeon_bo_fini(&bo[0]);
	igt_radeon_bo_fini(&src);
	free(got);
	free(user);
	settle_reset();
}

/**
 * SUBTEST: hang-suspend
 * Description: The engines hang with staged writes behind other work, and the
 *              devices are suspended and resumed. No byte is lost.
 *
 * SUBTEST: hang-suspend-late
 * Description: The same with a GPU that starts late. The kernel's test of an IB passes
 *              on resume all the same.
 */
static void test_hang_suspend(int fd, bool late)
{
	int kmsg;

	igt_radeon_require_suspend();
	igt_radeon_require_board(fd);
	kmsg = igt_radeon_kmsg_open();
	hang_and_suspend(fd, late ? LATE_US : 0);
	igt_assert_eq(igt_radeon_kmsg_count(kmsg, "ib ring test failed"), 0);
	close(kmsg);
}

int igt_main()
{
	static const char * const waiting[] = { "busy", "staged" };
	unsigned int i;
	char name[64];
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER |
					       RADEON_GEM_RW_CAP_STAGED);
		igt_radeon_require_stats(fd);
		storm = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		igt_assert(storm != MAP_FAILED);
	}

	igt_describe("No byte is lost while BOs are evicted and swapped out.");
	igt_subtest("eviction-storm")
		test_eviction(fd);

	for (i = 0; i < ARRAY_SIZE(waiting); i++) {
		snprintf(name, sizeof(name), "hang-%s", waiting[i]);
		igt_describe("The GPU hangs and is reset while a call waits.");
		igt_subtest(name) {
			igt_radeon_require_board(fd);
			test_hang(fd, igt_radeon_way(waiting[i]));
		}
	}

	igt_describe("Staged writes survive a reset.");
	igt_subtest("hang-staged-writes") {
		igt_radeon_require_board(fd);
		test_hang_staged(fd);
	}

	igt_describe("A reset does not repeat copies that were done.");
	igt_subtest("hang-replay") {
		igt_radeon_require_board(fd);
		test_hang_replay(fd, igt_radeon_way("busy"));
	}

	igt_describe("No byte is lost while the GPU is reset several times.");
	igt_subtest("reset-storm")
		test_reset_storm(fd);

	igt_describe("No byte is lost when the devices are suspended.");
	igt_subtest("suspend")
		test_suspend(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("No staged write is lost when devices with a hung GPU are suspended.");
	igt_subtest("hang-suspend")
		test_hang_suspend(fd, false);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("They are not lost either if IBs cannot be tested on resume.");
	igt_subtest("hang-suspend-late")
		test_hang_suspend(fd, true);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_fixture()
		close(fd);
}
