// SPDX-License-Identifier: MIT
/*
 * Calls of one client must not take GTT, the staging buffer or semaphores away
 * from other clients, nor make them wait.
 *
 * Clients here are DRM files of one process, or processes. No test judges by
 * the clock whether a call has waited for GPU work: the work is held back, and
 * must be unfinished when the call has returned.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_pool.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw fairness
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, several clients
 * Description: Checks that no client can take GTT, the staging buffer or the
 *              pool of semaphores away from others, or make them wait.
 */
IGT_TEST_DESCRIPTION("Checks that PREAD and PWRITE leave other clients their share.");

#define HOLD_US		60000000u
#define END_SECONDS	60u
#define LARGE		(4 * MIB)
#define READERS		256u
#define WRITERS		48u
#define VICTIMS		40u
#define STAGED		(256 * KIB)
#define SMALL		(16 * KIB)

/* A copy of this size at this rate takes 8 s, each of its packets 1 s. */
#define SLOW_MBPS	1u
#define SLOW_SIZE	(8 * MIB)

static uint64_t gart_left(int fd)
{
	struct drm_radeon_gem_info arg = { 0 };

	igt_assert_eq(igt_ioctl(fd, DRM_IOCTL_RADEON_GEM_INFO, &arg), 0);
	return arg.gart_size;
}

/* Bytes of user memory that are pinned now, less those of @before. */
static uint64_t pinned_since(int fd, const struct igt_radeon_baseline *before)
{
	return (igt_radeon_baseline_take(fd).pins - before->pins) * PAGE;
}

/*
 * Most bytes that all clients together may have pinned and bound to the GART:
 * an eighth of it.
 */
static uint64_t budget(int fd)
{
	return gart_left(fd) / 8;
}

/* Another client submits work that needs @bytes of GTT. */
static int submit_gtt(uint64_t bytes)
{
	struct igt_radeon_bo bo[2];
	int fd = igt_radeon_open(), ret;

	igt_radeon_bo_init(&bo[0], fd, bytes / 2, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&bo[1], fd, bytes / 2, RADEON_GEM_DOMAIN_GTT, 0);
	ret = igt_radeon_try_copy(IGT_RADEON_CP_DMA, &bo[1], 0, &bo[0], 0,
				  PAGE);
	igt_radeon_bo_fini(&bo[1]);
	igt_radeon_bo_fini(&bo[0]);
	close(fd);
	return ret;
}

/*
 * Threads that transfer between BOs in VRAM and the same user memory. Reads can
 * share a BO; writes of one BO would wait for each other.
 */
struct readers {
	struct igt_radeon_bo bo[WRITERS];
	unsigned int bos;
	uint8_t *mem;
	struct igt_radeon_thread *thread;
	unsigned int count;
};

static void readers_init(struct readers *r, int fd, enum igt_radeon_op op,
			 unsigned int count, uint8_t *mem)
{
	unsigned int i;

	*r = (struct readers) {
		.count = count,
		.bos = igt_radeon_op_writes(op) ? count : 1,
		.mem = mem,
	};
	igt_assert(r->bos <= WRITERS);
	r->thread = calloc(count, sizeof(*r->thread));
	igt_assert(r->thread);
	for (i = 0; i < r->bos; i++) {
		igt_radeon_bo_init(&r->bo[i], fd, LARGE, RADEON_GEM_DOMAIN_VRAM,
				   0);
		igt_radeon_bo_wait(&r->bo[i]);
	}
}

/* The caller holds the engines back, so that submitted copies do not end. */
static void readers_start(struct readers *r, enum igt_radeon_op op)
{
	unsigned int i;

	for (i = 0; i < r->count; i++) {
		r->thread[i].call = (struct igt_radeon_call) {
			.op = op,
			.fd = r->bo[0].fd,
			.handle = r->bo[i % r->bos].handle,
			.size = LARGE,
			.mem = r->mem + 1,
		};
		r->thread[i].once = true;
		igt_radeon_thread_start(&r->thread[i]);
	}
}

static void readers_end(struct readers *r)
{
	unsigned int i;
	int ret;

	igt_radeon_set_latency(r->bo[0].fd, 0);
	for (i = 0; i < r->count; i++) {
		ret = igt_radeon_thread_join(&r->thread[i], END_SECONDS);
		igt_assert_f(ret == 0, "call %u: %d\n", i, ret);
	}
	for (i = 0; i < r->bos; i++)
		igt_radeon_bo_fini(&r->bo[i]);
	free(r->thread);
}

/* Waits until no more pages get pinned; returns the number of pinned bytes. */
static uint64_t settle(int fd, const struct igt_radeon_baseline *before)
{
	uint64_t pinned = 0, last;
	unsigned int i, same = 0;

	for (i = 0; i < 300 && same < 5; i++) {
		last = pinned;
		usleep(100000);
		pinned = pinned_since(fd, before);
		same = pinned && pinned == last ? same + 1 : 0;
	}
	return pinned;
}

/**
 * SUBTEST: gtt-reads
 * Description: 256 threads read a BO of 4 MiB while the engines are held back.
 *              Together they pin at most an eighth of the GART, and another
 *              client's submission that needs five eighths of it succeeds.
 *
 * SUBTEST: gtt-writes
 * Description: The same with 48 threads that each write a BO of their own.
 */
static void test_gtt(int fd, enum igt_radeon_op op)
{
	const struct igt_radeon_baseline before = igt_radeon_baseline_take(fd);
	const uint64_t limit = budget(fd), gart = gart_left(fd);
	uint8_t *mem = igt_radeon_memory(LARGE + PAGE);
	struct igt_radeon_stats stats;
	uint64_t pinned;
	struct readers r;
	int ret;

	igt_radeon_require_hold(fd);
	memset(mem, 1, LARGE + PAGE);
	readers_init(&r, fd, op, igt_radeon_op_writes(op) ? WRITERS : READERS,
		     mem);
	stats = igt_radeon_stats(fd);
	igt_radeon_set_latency(fd, HOLD_US);
	readers_start(&r, op);
	pinned = settle(fd, &before);
	igt_debug("%llu bytes pinned, GART of %llu\n",
		  (unsigned long long)pinned, (unsigned long long)gart);
	ret = submit_gtt(gart / 8 * 5);
	igt_assert_f(pinned > 0, "no copy from or to user memory happened\n");
	readers_end(&r);
	stats = igt_radeon_stats_since(fd, &stats);
	igt_assert_f(stats.bytes[IGT_RADEON_ZERO_COPY] > 0,
		     "no copy from or to user memory happened\n");
	munmap(mem, LARGE + PAGE);
	igt_assert_f(ret == 0, "another client's submission: %d\n", ret);
	igt_assert_f(pinned <= limit, "%llu bytes are pinned at once, more than %llu\n",
		     (unsigned long long)pinned, (unsigned long long)limit);
	igt_radeon_baseline_assert(fd, &before);
}

static int victim_main(void *data)
{
	uint8_t *mem = data;
	struct readers r;

	readers_init(&r, igt_radeon_open(), IGT_RADEON_PREAD, 2, mem);
	readers_start(&r, IGT_RADEON_PREAD);
	pause();
	return 0;
}

/**
 * SUBTEST: gtt-kills
 * Description: Processes are killed while they read and the engines are held
 *              back. The pages that they leave pinned stay within the same
 *              eighth, another client's submission succeeds, and in the end all
 *              pages are unpinned.
 */
static void test_kills(int fd)
{
	const struct igt_radeon_baseline before = igt_radeon_baseline_take(fd);
	const uint64_t limit = budget(fd), gart = gart_left(fd);
	unsigned int i, round;
	pid_t pid[VICTIMS];
	uint64_t pinned = 0;
	uint8_t *mem;
	int ret;

	igt_radeon_require_hold(fd);
	/* Clearing the victims' BOs would wait for the engines. */
	igt_radeon_require_param("gem_rw_clear_vram", 0);
	mem = mmap(NULL, LARGE + PAGE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	igt_assert(mem != MAP_FAILED);
	memset(mem, 1, LARGE + PAGE);
	igt_radeon_set_latency(fd, HOLD_US);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < ARRAY_SIZE(pid); i++)
			pid[i] = igt_radeon_spawn(victim_main, mem);
		/* Threads beyond the budget pin nothing. */
		settle(fd, &before);
		for (i = 0; i < ARRAY_SIZE(pid); i++)
			kill(pid[i], SIGKILL);
		for (i = 0; i < ARRAY_SIZE(pid); i++)
			igt_assert(WIFSIGNALED(igt_radeon_reap(pid[i],
							       END_SECONDS)));
	}
	pinned = pinned_since(fd, &before);
	ret = submit_gtt(gart / 8 * 5);
	igt_radeon_set_latency(fd, 0);
	igt_radeon_reset_params();
	munmap(mem, LARGE + PAGE);
	igt_assert_f(ret == 0, "another client's submission: %d\n", ret);
	igt_assert_f(pinned > 0, "nobody was killed with pages pinned\n");
	igt_assert_f(pinned <= limit, "%llu bytes stay pinned, more than %llu\n",
		     (unsigned long long)pinned, (unsigned long long)limit);
	igt_radeon_baseline_assert(fd, &before);
}

/**
 * SUBTEST: gart-size
 * Description: Threads read and write BOs in VRAM by zero-copy, all at once.
 *              Afterwards GEM_INFO returns the same size of the GART as before.
 */
struct churn {
	int fd;
	bool stop;
	unsigned int calls;
	pthread_t thread;
};

static void *churn_main(void *data)
{
	struct churn *c = data;
	uint8_t *mem = igt_radeon_memory(LARGE);
	struct igt_radeon_bo bo;

	memset(mem, 1, LARGE);
	igt_radeon_bo_init(&bo, c->fd, LARGE, RADEON_GEM_DOMAIN_VRAM, 0);
	while (!__atomic_load_n(&c->stop, __ATOMIC_RELAXED)) {
		igt_radeon_rw(c->calls % IGT_RADEON_OPS, c->fd, bo.handle, 0,
			      LARGE, mem, 0);
		c->calls++;
	}
	igt_radeon_bo_fini(&bo);
	munmap(mem, LARGE);
	return NULL;
}

static void test_gart_size(int fd)
{
	struct igt_radeon_stats stats = igt_radeon_stats(fd);
	const uint64_t before = gart_left(fd);
	struct churn c[8];
	unsigned int i, calls = 0;
	uint64_t after;

	for (i = 0; i < ARRAY_SIZE(c); i++) {
		c[i] = (struct churn) { .fd = fd };
		igt_assert_eq(pthread_create(&c[i].thread, NULL, churn_main,
					     &c[i]), 0);
	}
	sleep(SLOW_QUICK(10, 3));
	for (i = 0; i < ARRAY_SIZE(c); i++)
		__atomic_store_n(&c[i].stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		pthread_join(c[i].thread, NULL);
		calls += c[i].calls;
	}
	/* The driver may free its windows a moment later. */
	for (i = 0, after = 0; i < 50 && after != before; i++) {
		usleep(100000);
		after = gart_left(fd);
	}
	stats = igt_radeon_stats_since(fd, &stats);
	igt_info("%u calls, %llu of them zero-copies\n", calls,
		 (unsigned long long)stats.calls[IGT_RADEON_ZERO_COPY]);
	igt_assert(stats.calls[IGT_RADEON_ZERO_COPY] > ARRAY_SIZE(c));
	igt_assert_f(after == before, "GEM_INFO's GART went from %llu to %llu\n",
		     (unsigned long long)before, (unsigned long long)after);
}

/* A job that keeps only the gfx ring busy, for seconds. */
struct slow {
	struct igt_radeon_bo dst;
	struct igt_radeon_bo src;
};

static void slow_start(struct slow *s, int fd)
{
	igt_radeon_bo_init(&s->dst, fd, SLOW_SIZE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&s->src, fd, SLOW_SIZE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_set_rate(fd, SLOW_MBPS);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &s->dst, 0, &s->src, 0, SLOW_SIZE);
}

static void slow_end(struct slow *s)
{
	igt_radeon_set_rate(s->dst.fd, 0);
	igt_radeon_bo_wait(&s->dst);
	igt_radeon_bo_fini(&s->src);
	igt_radeon_bo_fini(&s->dst);
}

/*
 * Stages writes to a busy BO of SLOW_SIZE until the kernel refuses those of all sizes.
 * Returns how many it has taken.
 */
static unsigned int fill_staging(const struct igt_radeon_bo *bo, const uint8_t *mem)
{
	unsigned int i, staged = 0, size;
	int ret = 0;

	for (size = STAGED; size >= 64; size /= 4) {
		for (i = 0, ret = 0; i < 4096 && !ret; i++) {
			ret = igt_radeon_pwrite(bo->fd, bo->handle,
						i % 16 * STAGED, size, mem,
						RADEON_GEM_RW_NOWAIT);
			staged += !ret;
		}
		igt_assert_f(ret == -EBUSY, "write %u of %u bytes: %d instead of -EBUSY\n",
			     i, size, ret);
	}
	igt_assert_f(igt_radeon_bo_busy(bo), "the job has ended\n");
	return staged;
}

/* Another client: a process. */
struct other {
	bool write;
	uid_t uid;			/* not 0: of this user */
	const uint8_t *mem;
	const struct igt_radeon_bo *busy;	/* of the first client */
};

/* Returns 0, or what went wrong: for the parent's message. */
static int other_main(void *data)
{
	const struct other *o = data;
	const int fd = igt_radeon_open();
	uint8_t *model = NULL, got[SMALL];
	struct igt_radeon_bo bo, src;
	unsigned int i;
	int ret = 0;

	if (o->write) {
		igt_radeon_bo_init(&bo, fd, SMALL, RADEON_GEM_DOMAIN_GTT, 0);
		igt_radeon_bo_init(&src, fd, SMALL, RADEON_GEM_DOMAIN_GTT, 0);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &bo, 0, &src, 0, SMALL);
	} else {
		model = igt_radeon_bo_init_pattern(&bo, fd, SMALL,
						   &igt_radeon_reachable[0], 1);
	}
	if (o->uid && setuid(o->uid))
		return 1;
	if (o->write) {
		for (i = 0; i < 4 && !ret; i++)
			ret = igt_radeon_pwrite(fd, bo.handle, i * PAGE, PAGE,
						o->mem, RADEON_GEM_RW_NOWAIT);
		if (!ret && !igt_radeon_bo_busy(&bo))
			return 2;
	} else {
		ret = igt_radeon_pread(fd, bo.handle, 0, SMALL, got, 0);
		if (!ret && memcmp(got, model, SMALL))
			return 3;
	}
	if (ret)
		return 100 - ret;
	return igt_radeon_bo_busy(o->busy) ? 0 : 4;
}

/* Another client's calls succeed, and do not wait. */
static void assert_other(struct other o)
{
	static const char * const wrong[] = {
		"", "it cannot become another user", "it waited for its own job",
		"it read wrong bytes", "it waited for the job of another client",
	};
	int status = igt_radeon_reap(igt_radeon_spawn(other_main, &o), END_SECONDS);

	igt_assert(WIFEXITED(status));
	status = WEXITSTATUS(status);
	igt_assert_f(status < 100, "%s: %d\n", o.write ?
		     "a small write to a busy BO" : "a read of an idle BO", 100 - status);
	igt_assert_f(!status, "%s\n", wrong[status]);
}

/**
 * SUBTEST: staging-reads
 * Description: One client, a process, has staged as many writes as the kernel
 *              takes, behind a slow job. Another client's read of 16 KiB from an
 *              idle BO in VRAM returns before that job has ended, with the right
 *              bytes.
 *
 * SUBTEST: staging-writes
 * Description: In the same situation, another client's small NOWAIT writes to a
 *              busy BO of its own neither wait for any job nor give -EBUSY.
 */
static void test_staging(int fd, bool write)
{
	uint8_t *mem = igt_radeon_malloc(STAGED);
	struct slow a;

	igt_radeon_require_hold(fd);
	memset(mem, 0x55, STAGED);
	slow_start(&a, fd);
	igt_assert_f(fill_staging(&a.dst, mem) > 0, "nothing was staged\n");
	assert_other((struct other) { .write = write, .mem = mem, .busy = &a.dst });
	slow_end(&a);
	free(mem);
}

/* A BO that the engines, which are held back, are going to write. */
struct held {
	int fd;
	struct igt_radeon_bo dst;
	struct igt_radeon_bo src;
};

static void held_init(struct held *h)
{
	h->fd = igt_radeon_open();
	igt_radeon_bo_init(&h->dst, h->fd, SLOW_SIZE / 2, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&h->src, h->fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &h->dst, 0, &h->src, 0, PAGE);
}

/**
 * SUBTEST: staging-files
 * Description: One process stages writes by 24 files: a tiny one by each, and
 *              then as many as the kernel takes. It gets no more than by one
 *              file, and another process's small NOWAIT writes are staged in
 *              both situations.
 */
static void test_staging_files(int fd)
{
	uint8_t *mem = igt_radeon_malloc(STAGED);
	unsigned int i, first = 0, others = 0;
	struct held h[24];

	igt_radeon_require_hold(fd);
	memset(mem, 0x55, STAGED);
	igt_radeon_set_latency(fd, HOLD_US);
	for (i = 0; i < ARRAY_SIZE(h); i++) {
		held_init(&h[i]);
		igt_assert_f(!igt_radeon_pwrite(h[i].fd, h[i].dst.handle, 0, 64, mem,
						RADEON_GEM_RW_NOWAIT),
			     "tiny write %u was not staged\n", i);
	}
	assert_other((struct other) { .write = true, .mem = mem, .busy = &h[0].dst });
	for (i = 0; i < ARRAY_SIZE(h); i++)
		*(i ? &others : &first) += fill_staging(&h[i].dst, mem);
	assert_other((struct other) { .write = true, .mem = mem, .busy = &h[0].dst });
	igt_radeon_set_latency(fd, 0);
	for (i = 0; i < ARRAY_SIZE(h); i++) {
		igt_radeon_bo_wait(&h[i].dst);
		close(h[i].fd);
	}
	igt_assert_f(first > 0 && !others,
		     "%u writes were staged by one file, then %u by others\n", first, others);
	free(mem);
}

static int filler_main(void *data)
{
	struct held h;
	const bool some = (held_init(&h), fill_staging(&h.dst, data)) > 0;

	/* Tell the parent by the second page whether anything was staged. */
	__atomic_fetch_add((uint32_t *)((uint8_t *)data + STAGED), 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add((uint32_t *)((uint8_t *)data + STAGED) + 1, some, __ATOMIC_SEQ_CST);
	pause();
	return 0;
}

/**
 * SUBTEST: staging-processes
 * Description: Eight processes of one user stage as many writes as the kernel
 *              takes. More than one of them gets some. A small NOWAIT write of
 *              another user's process is staged.
 */
static void test_staging_processes(int fd)
{
	uint8_t *mem = mmap(NULL, STAGED + PAGE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	volatile uint32_t *told = (uint32_t *)(mem + STAGED);
	struct held h;
	unsigned int i;
	pid_t pid[8];

	igt_radeon_require_hold(fd);
	igt_assert(mem != MAP_FAILED);
	memset(mem, 0x55, STAGED);
	igt_radeon_set_latency(fd, HOLD_US);
	held_init(&h);
	for (i = 0; i < ARRAY_SIZE(pid); i++)
		pid[i] = igt_radeon_spawn(filler_main, mem);
	for (i = 0; i < END_SECONDS * 10 && told[0] < ARRAY_SIZE(pid); i++)
		usleep(100000);
	igt_assert_eq(told[0], ARRAY_SIZE(pid));
	assert_other((struct other) {
		.write = true, .uid = 65534, .mem = mem, .busy = &h.dst,
	});
	for (i = 0; i < ARRAY_SIZE(pid); i++)
		kill(pid[i], SIGKILL);
	igt_radeon_set_latency(fd, 0);
	for (i = 0; i < ARRAY_SIZE(pid); i++)
		igt_radeon_reap(pid[i], END_SECONDS);
	igt_assert_f(told[1] > 1, "%u processes have staged writes\n", told[1]);
	igt_radeon_bo_wait(&h.dst);
	close(h.fd);
	munmap(mem, STAGED + PAGE);
}

/**
 * SUBTEST: windows
 * Description: Eight threads of one process read the same BO by zero-copy. At any
 *              time two of them at most have their pages pinned, which leaves
 *              others two of the driver's four windows.
 */
struct reading {
	struct igt_radeon_bo *bo;
	uint8_t *mem;
	bool stop;
};

static void *reading_main(void *data)
{
	struct reading *r = data;

	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED))
		igt_radeon_pread(r->bo->fd, r->bo->handle, 0, LARGE, r->mem, 0);
	return NULL;
}

static void test_windows(int fd)
{
	const struct igt_radeon_baseline before = igt_radeon_baseline_take(fd);
	struct igt_radeon_stats stats = igt_radeon_stats(fd);
	struct reading r = { .mem = igt_radeon_memory(LARGE) };
	uint64_t pinned, most = 0;
	struct igt_radeon_bo bo;
	pthread_t thread[8];
	unsigned int i;
	double end;

	igt_radeon_bo_init(&bo, fd, LARGE, RADEON_GEM_DOMAIN_VRAM, 0);
	r.bo = &bo;
	memset(r.mem, 1, LARGE);
	for (i = 0; i < ARRAY_SIZE(thread); i++)
		igt_assert_eq(pthread_create(&thread[i], NULL, reading_main, &r), 0);
	end = igt_radeon_now() + SLOW_QUICK(20, 10);
	while (igt_radeon_now() < end) {
		pinned = pinned_since(fd, &before);
		/* The two counts are not read at once. */
		most = pinned < 16 * LARGE && pinned > most ? pinned : most;
	}
	__atomic_store_n(&r.stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(thread); i++)
		pthread_join(thread[i], NULL);
	igt_radeon_bo_fini(&bo);
	munmap(r.mem, LARGE);
	stats = igt_radeon_stats_since(fd, &stats);
	igt_info("%llu zero-copies, up to %llu bytes pinned\n",
		 (unsigned long long)stats.calls[IGT_RADEON_ZERO_COPY],
		 (unsigned long long)most);
	igt_assert_f(stats.calls[IGT_RADEON_ZERO_COPY] > 0 && most >= LARGE,
		     "no zero-copy was seen\n");
	igt_assert_f(most <= 2 * LARGE, "%llu bytes were pinned by one process\n",
		     (unsigned long long)most);
	igt_radeon_baseline_assert(fd, &before);
}

/**
 * SUBTEST: nowait-no-semaphores
 * Description: Submissions that wait for an engine use up the pool of IBs and
 *              semaphores. Writes with NOWAIT or UNSYNCHRONIZED to a BO that a
 *              ring uses may need a semaphore. They return while the pool is
 *              full, with success or -EBUSY.
 */
static void test_semaphores(int fd)
{
	static const uint32_t flags[] = {
		RADEON_GEM_RW_NOWAIT, RADEON_GEM_RW_UNSYNCHRONIZED,
		RADEON_GEM_RW_NOWAIT | RADEON_GEM_RW_UNSYNCHRONIZED,
	};
	uint8_t *mem = igt_radeon_malloc(PAGE);
	struct igt_radeon_no_semaphore s;
	struct igt_radeon_thread t;
	unsigned int i, tries;

	igt_radeon_require_hold(fd);
	memset(mem, 3, PAGE);
	igt_radeon_no_semaphore_init(&s, fd, HOLD_US);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		for (tries = 0; tries < 40; tries++) {
			t = (struct igt_radeon_thread) {
				.once = true,
				.call = {
					.op = IGT_RADEON_PWRITE,
					.fd = fd,
					.handle = s.bo.handle,
					/* Apart from staged writes */
					.offset = 1 + i * 1024,
					.size = 301,
					.mem = mem,
					.flags = flags[i],
				},
			};
			igt_radeon_thread_start(&t);
			igt_radeon_thread_join(&t, END_SECONDS / 4);
			igt_assert_f(t.ret == 0 || t.ret == -EBUSY,
				     "flags %u: %d\n", flags[i], t.ret);
			igt_assert_f(igt_radeon_bo_busy(&s.mark),
				     "flags %u, try %u: it waited for an engine\n",
				     flags[i], tries);
		}
	}
	igt_assert_f(igt_radeon_pool_is_full(&s.pool), "the pool was not full\n");
	igt_radeon_set_latency(fd, 0);
	igt_radeon_no_semaphore_fini(&s);
	free(mem);
}

static void release(int fd)
{
	igt_radeon_set_latency(fd, 0);
	if (igt_radeon_has_board(fd))
		igt_radeon_set_rate(fd, 0);
	igt_radeon_reset_params();
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER |
					       RADEON_GEM_RW_CAP_STAGED);
		igt_radeon_require_stats(fd);
	}

	igt_describe("Many large reads leave others their share of the GART.");
	igt_subtest("gtt-reads")
		test_gtt(fd, IGT_RADEON_PREAD);
	igt_fixture()
		release(fd);

	igt_describe("Many large writes leave others their share of the GART.");
	igt_subtest("gtt-writes")
		test_gtt(fd, IGT_RADEON_PWRITE);
	igt_fixture()
		release(fd);

	igt_describe("Killed processes leave others their share of the GART.");
	igt_subtest("gtt-kills")
		test_kills(fd);
	igt_fixture()
		release(fd);

	igt_describe("Zero-copies do not change the GART size of GEM_INFO.");
	igt_subtest("gart-size")
		test_gart_size(fd);

	igt_describe("A full staging buffer does not delay another client's read.");
	igt_subtest("staging-reads")
		test_staging(fd, false);
	igt_fixture()
		release(fd);

	igt_describe("A full staging buffer does not delay another client's write.");
	igt_subtest("staging-writes")
		test_staging(fd, true);
	igt_fixture()
		release(fd);

	igt_describe("A process gets no more of the staging buffer by many files.");
	igt_subtest("staging-files")
		test_staging_files(fd);
	igt_fixture()
		release(fd);

	igt_describe("Processes of one user do not take the staging buffer from others.");
	igt_subtest("staging-processes")
		test_staging_processes(fd);
	igt_fixture()
		release(fd);

	igt_describe("A process does not take all windows of zero-copies.");
	igt_subtest("windows")
		test_windows(fd);

	igt_describe("NOWAIT and UNSYNCHRONIZED never wait for a semaphore.");
	igt_subtest("nowait-no-semaphores")
		test_semaphores(fd);
	igt_fixture() {
		release(fd);
		close(fd);
	}
}
