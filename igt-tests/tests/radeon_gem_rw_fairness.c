// SPDX-License-Identifier: MIT
/*
 * Calls of one client must not take the staging buffer or semaphores away from
 * other clients, nor make them wait.
 *
 * Clients here are DRM files of one process, or processes. No test judges by
 * the clock whether a call has waited for GPU work: the work is held back, and
 * must be unfinished when the call has returned.
 */
#include <errno.h>
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
 * Description: Checks that no client can take the staging buffer or the pool of
 *              semaphores away from others, or make them wait.
 */
IGT_TEST_DESCRIPTION("Checks that PREAD and PWRITE leave other clients their share.");

#define HOLD_US		60000000u
#define END_SECONDS	60u
#define STAGED		(256 * KIB)
#define SMALL		(16 * KIB)

/* A copy of this size at this rate takes 8 s, each of its packets 1 s. */
#define SLOW_MBPS	1u
#define SLOW_SIZE	(8 * MIB)

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

	igt_describe("NOWAIT and UNSYNCHRONIZED never wait for a semaphore.");
	igt_subtest("nowait-no-semaphores")
		test_semaphores(fd);
	igt_fixture() {
		release(fd);
		close(fd);
	}
}
