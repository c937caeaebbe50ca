// SPDX-License-Identifier: MIT
/*
 * UNSYNCHRONIZED and NOWAIT of PREAD, PWRITE and TRANSFER, for BOs that are
 * idle, that the GPU is going to read, or that it is going to write, in each
 * placement; and calls whose wait a signal or a reset ends.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_process.h"
#include "igt_radeon_reset.h"
#include "igt_radeon_rw.h"
#include "igt_radeon_stats.h"

/**
 * TEST: radeon gem rw flags
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects without waiting
 * Description: Checks results, bytes and waits of all combinations of flags,
 *              operations, placements and uses by the GPU.
 */
IGT_TEST_DESCRIPTION("Checks UNSYNCHRONIZED and NOWAIT.");

#define HOLD_US		8000000u
#define BO_SIZE		(512ull * PAGE)
#define STAGE_WRITE_MAX	(64 * PAGE)
#define UNSYNC		RADEON_GEM_RW_UNSYNCHRONIZED
#define NOWAIT		RADEON_GEM_RW_NOWAIT

enum use {
	IDLE,
	GPU_READS,
	GPU_WRITES,
};

struct combination {
	int fd;
	enum igt_radeon_op op;
	enum use use;
	const struct igt_radeon_placement *p;
	uint32_t flags;
	size_t size;
	char name[128];
};

static bool reachable(const struct combination *c)
{
	return !(c->p->flags & RADEON_GEM_NO_CPU_ACCESS);
}

/*
 * The documented result. Without NOWAIT no call fails. UNSYNCHRONIZED never
 * waits, so both flags together fail only for reads of CPU-inaccessible VRAM,
 * where the call has to wait for the GPU's copy. With NOWAIT alone, writes that
 * are too large to be staged fail as well if they would have to wait.
 */
static int expected(const struct combination *c, bool staging)
{
	const bool writes = igt_radeon_op_writes(c->op);

	if (!(c->flags & NOWAIT))
		return 0;
	if (!writes && !reachable(c))
		return -EBUSY;
	if (c->flags & UNSYNC || (c->use == IDLE && reachable(c)))
		return 0;
	if (!writes)
		return c->use == GPU_WRITES ? -EBUSY : 0;
	if (!staging)
		return -EBUSY;
	return c->size <= STAGE_WRITE_MAX ? 0 : -EBUSY;
}

static void test_combination(const struct combination *c)
{
	const uint64_t at = BO_SIZE - c->size - 8;
	const bool writes = igt_radeon_op_writes(c->op);
	/* An unsynchronized copy by the GPU needs an idle ring: slow one. */
	const bool other_ring = !reachable(c) && c->flags & UNSYNC;
	uint8_t *model, *foreign, *user = igt_radeon_malloc(c->size);
	uint8_t *fresh = igt_radeon_malloc(c->size);
	struct igt_radeon_bo bo, other;
	uint64_t caps;
	int ret, want;

	igt_debug("%s\n", c->name);
	caps = igt_radeon_info64(c->fd, RADEON_INFO_GEM_RW);
	want = expected(c, caps & RADEON_GEM_RW_CAP_STAGED);
	model = igt_radeon_bo_init_pattern(&bo, c->fd, BO_SIZE, c->p, 1);
	foreign = igt_radeon_bo_init_pattern(&other, c->fd, BO_SIZE,
					     &igt_radeon_reachable[1], 2);
	igt_radeon_pattern(user, c->size, 3);
	memcpy(fresh, user, c->size);

	if (c->use != IDLE && other_ring)
		igt_radeon_set_rate(c->fd, 1);
	else if (c->use != IDLE)
		igt_radeon_set_latency(c->fd, HOLD_US);
	if (c->use == GPU_READS)
		igt_radeon_copy(IGT_RADEON_CP_DMA, &other, 0, &bo, 0, BO_SIZE);
	else if (c->use == GPU_WRITES)
		igt_radeon_copy(IGT_RADEON_CP_DMA, &bo, 0, &other, 0, BO_SIZE);

	ret = igt_radeon_rw(c->op, c->fd, bo.handle, at, c->size, user,
			    c->flags);
	igt_assert_f(ret == want, "%s: %d instead of %d\n", c->name, ret, want);
	igt_assert_f(c->use == IDLE || igt_radeon_bo_busy(&other),
		     "%s: it waited\n", c->name);
	igt_radeon_assert_equal(user, writes || ret ? fresh : model + at,
				c->size, c->name);
	if (writes && c->flags & UNSYNC) {
		/* Unsynchronized reads return the new bytes. */
		memset(user, 0, c->size);
		igt_assert_eq(igt_radeon_pread(c->fd, bo.handle, at, c->size,
					       user, UNSYNC), 0);
		igt_radeon_assert_equal(user, fresh, c->size, c->name);
		igt_assert_f(c->use == IDLE || igt_radeon_bo_busy(&other),
			     "%s: reading it waited\n", c->name);
	}
	igt_radeon_set_rate(c->fd, 0);
	igt_radeon_set_latency(c->fd, 0);

	/* Writes are in order with the GPU's work, or done at once. */
	if (c->use == GPU_READS) {
		memcpy(foreign, model, BO_SIZE);
		if (writes && c->flags & UNSYNC)
			memcpy(foreign + at, fresh, c->size);
		igt_radeon_bo_assert(&other, foreign, "what the GPU read");
	}
	if (c->use == GPU_WRITES)
		memcpy(model, foreign, BO_SIZE);
	if (writes && !ret && !(c->use == GPU_WRITES && c->flags & UNSYNC))
		memcpy(model + at, fresh, c->size);
	igt_radeon_bo_assert(&bo, model, c->name);

	igt_radeon_bo_fini(&other);
	igt_radeon_bo_fini(&bo);
	free(foreign);
	free(model);
	free(fresh);
	free(user);
}

/**
 * SUBTEST: idle
 * Description: For an idle BO, calls with all combinations of flags succeed.
 *              With NOWAIT, reads of CPU-inaccessible VRAM give -EBUSY; with
 *              NOWAIT alone, so do writes to it that are too large to be
 *              staged.
 *
 * SUBTEST: gpu-reads
 * Description: While the GPU is going to read the BO, no call with a flag
 *              waits. Reads succeed, except for NOWAIT reads of
 *              CPU-inaccessible VRAM. Writes with UNSYNCHRONIZED are done at
 *              once. Writes with NOWAIT are in order, or give -EBUSY if they
 *              are large.
 *
 * SUBTEST: gpu-writes
 * Description: While the GPU is going to write the BO, no call with a flag
 *              waits. Reads with UNSYNCHRONIZED get the old bytes, reads with
 *              NOWAIT alone give -EBUSY.
 */
static void test_use(int fd, enum use use)
{
	static const size_t sizes[] = { PAGE, 6 * PAGE, 256 * PAGE };
	static const char *const uses[] = { "idle", "GPU reads", "GPU writes" };
	struct combination c = { .fd = fd, .use = use };
	unsigned int i, s, hidden_max;

	igt_radeon_require_board(fd);
	igt_radeon_require_param("gem_rw_stage_write_max", STAGE_WRITE_MAX);
	/*
	 * Unsynchronized copies of CPU-inaccessible VRAM while the gfx ring copies at a
	 * limited rate: by the DMA ring, or through registers, a dword at a time. All have
	 * to be done before the engine is taken for hung.
	 */
	hidden_max = igt_radeon_has_engine(fd, IGT_RADEON_DMA) ? 1 : 0;
	for (i = 0; (c.p = igt_radeon_placement(fd, i)); i++)
		for (c.op = 0; c.op < IGT_RADEON_OPS; c.op++)
			for (c.flags = use != IDLE; c.flags <= 3; c.flags++)
				for (s = 0; s < ARRAY_SIZE(sizes); s++) {
					c.size = sizes[s];
					if (use != IDLE && !reachable(&c) &&
					    c.flags & UNSYNC && s > hidden_max)
						continue;
					snprintf(c.name, sizeof(c.name),
						 "%s, %s, %s, flags %u, %zu bytes",
						 igt_radeon_op_name[c.op],
						 c.p->name, uses[use], c.flags,
						 c.size);
					test_combination(&c);
				}
	igt_radeon_reset_params();
}

/**
 * SUBTEST: no-engine
 * Description: All engines are busy, and one is going to read a BO in
 *              CPU-inaccessible VRAM. The CPU does UNSYNCHRONIZED writes of any
 *              alignment to the BO at once, and the bytes beside them do not
 *              change.
 */
static void test_no_engine(int fd)
{
	static const struct {
		unsigned int at, size;
	} write[] = {
		{ 1, 1 }, { 6, 3 }, { 11, 1 }, { 13, 7 }, { 24, 8 }, { 35, 301 },
		{ 1024, 512 }, { 2047, 1026 }, { PAGE - 3, 7 },
		{ 2 * PAGE - 1, PAGE + 2 },
	};
	const bool dma = igt_radeon_has_engine(fd, IGT_RADEON_DMA);
	const uint64_t size = 4 * PAGE;
	uint8_t *model, *user = igt_radeon_malloc(size);
	struct igt_radeon_bo bo, copy, busy, src;
	struct igt_radeon_stats stats;
	uint64_t bytes = size;
	unsigned int i;

	igt_radeon_require_hold(fd);
	igt_radeon_require_stats(fd);
	igt_radeon_require_invisible_vram(fd);
	model = igt_radeon_bo_init_pattern(&bo, fd, size,
			igt_radeon_placement(fd, igt_radeon_reachable_count), 1);
	igt_radeon_bo_init(&copy, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&busy, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&src, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_set_latency(fd, HOLD_US);
	if (dma)
		igt_radeon_copy(IGT_RADEON_DMA, &busy, 0, &src, 0, size);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &copy, 0, &bo, 0, size);

	stats = igt_radeon_stats(fd);
	for (i = 0; i < ARRAY_SIZE(write); i++) {
		igt_radeon_pattern(user, write[i].size, i + 2);
		igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, write[i].at,
						write[i].size, user, UNSYNC), 0);
		memcpy(model + write[i].at, user, write[i].size);
		bytes += write[i].size;
	}
	igt_assert_eq(igt_radeon_pread(fd, bo.handle, 0, size, user, UNSYNC), 0);
	stats = igt_radeon_stats_since(fd, &stats);
	igt_assert_f((!dma || igt_radeon_bo_busy(&busy)) &&
		     igt_radeon_bo_busy(&copy), "a call waited\n");
	igt_radeon_set_latency(fd, 0);
	igt_radeon_assert_equal(user, model, size, "at once");
	igt_radeon_assert_path(&stats, IGT_RADEON_CPU, bytes, "no engine");
	igt_assert_f(!stats.events[IGT_RADEON_MOVED], "the BO was moved\n");
	igt_radeon_bo_assert(&copy, model, "what the GPU read");
	igt_radeon_bo_fini(&src);
	igt_radeon_bo_fini(&busy);
	igt_radeon_bo_fini(&copy);
	igt_radeon_bo_fini(&bo);
	free(model);
	free(user);
}

/**
 * SUBTEST: pending-dword
 * Description: In the situation of no-engine a write to two bytes of a dword is
 *              staged. An UNSYNCHRONIZED write to another byte of that dword
 *              waits for it, as registers take whole dwords. One to the next
 *              dword does not.
 */
static void test_pending_dword(int fd)
{
	const uint64_t size = PAGE;
	uint8_t *model, bytes[] = { 1, 2, 3, 4 };
	struct igt_radeon_bo bo, copy, busy, src;
	struct igt_radeon_thread t = { .once = true };
	struct igt_radeon_stats stats;
	bool asleep;

	igt_radeon_require_hold(fd);
	igt_radeon_require_stats(fd);
	igt_radeon_require_invisible_vram(fd);
	model = igt_radeon_bo_init_pattern(&bo, fd, size,
			igt_radeon_placement(fd, igt_radeon_reachable_count), 1);
	igt_radeon_bo_init(&copy, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&busy, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&src, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_set_latency(fd, HOLD_US);
	if (igt_radeon_has_engine(fd, IGT_RADEON_DMA))
		igt_radeon_copy(IGT_RADEON_DMA, &busy, 0, &src, 0, size);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &copy, 0, &bo, 0, size);

	stats = igt_radeon_stats(fd);
	igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, 5, 2, bytes, 0), 0);
	memcpy(model + 5, bytes, 2);
	igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, 8, 1, bytes + 3, UNSYNC), 0);
	model[8] = bytes[3];
	stats = igt_radeon_stats_since(fd, &stats);
	igt_assert_eq_u64(stats.bytes[IGT_RADEON_STAGED], 2);
	igt_assert_eq_u64(stats.bytes[IGT_RADEON_CPU], 1);

	t.call = (struct igt_radeon_call) {
		.op = IGT_RADEON_PWRITE,
		.fd = fd,
		.handle = bo.handle,
		.offset = 7,
		.size = 1,
		.mem = bytes + 2,
		.flags = UNSYNC,
	};
	model[7] = bytes[2];
	igt_radeon_thread_start(&t);
	asleep = igt_radeon_thread_settle(&t);
	usleep(200000);
	asleep &= !igt_radeon_thread_ended(&t);
	igt_assert_f(igt_radeon_bo_busy(&copy), "the staged write is done\n");
	igt_radeon_set_latency(fd, 0);
	igt_assert_eq(igt_radeon_thread_join(&t, 60), 0);
	igt_assert_f(asleep, "a write overtook a staged one to the same dword\n");
	igt_radeon_bo_assert(&bo, model, "what was written");
	igt_radeon_bo_fini(&src);
	igt_radeon_bo_fini(&busy);
	igt_radeon_bo_fini(&copy);
	igt_radeon_bo_fini(&bo);
	free(model);
}

/* Makes a call, and does not repeat it after a signal or a reset. */
static int call_once(enum igt_radeon_op op, const struct igt_radeon_bo *bo,
		     void *mem, size_t size)
{
	return igt_radeon_call_once(&(struct igt_radeon_call) {
		.op = op,
		.fd = bo->fd,
		.handle = bo->handle,
		.size = size,
		.mem = mem,
	});
}

/**
 * SUBTEST: interrupted
 * Description: A signal ends a call that waits for the GPU with -EINTR, while
 *              the GPU is still busy. The repeated call succeeds.
 */
static void test_interrupted(int fd, enum igt_radeon_op op,
			     const struct igt_radeon_placement *p)
{
	uint8_t *model, *foreign, *user = igt_radeon_malloc(BO_SIZE);
	struct igt_radeon_bo bo, src;
	int ret;

	igt_debug("%s, %s\n", igt_radeon_op_name[op], p->name);
	model = igt_radeon_bo_init_pattern(&bo, fd, BO_SIZE, p, 1);
	foreign = igt_radeon_bo_init_pattern(&src, fd, BO_SIZE,
					     &igt_radeon_reachable[1], 2);
	igt_radeon_pattern(user, BO_SIZE, 3);
	igt_radeon_set_latency(fd, HOLD_US);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &bo, 0, &src, 0, BO_SIZE);
	memcpy(model, foreign, BO_SIZE);

	igt_radeon_start_timer(20000);
	ret = call_once(op, &bo, user, BO_SIZE);
	igt_radeon_stop_timer();
	igt_assert_f(ret == -EINTR, "%s, %s: %d instead of -EINTR\n",
		     igt_radeon_op_name[op], p->name, ret);
	igt_assert_f(igt_radeon_bo_busy(&bo), "it waited to the end\n");

	igt_radeon_set_latency(fd, 0);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, BO_SIZE, user, 0), 0);
	igt_radeon_rw_apply(op, model, user, BO_SIZE);
	igt_radeon_assert_equal(user, model, BO_SIZE, p->name);
	igt_radeon_bo_assert(&bo, model, p->name);
	igt_radeon_bo_fini(&src);
	igt_radeon_bo_fini(&bo);
	free(foreign);
	free(model);
	free(user);
}

/**
 * SUBTEST: hang-again
 * Description: A call that waits for a hung engine resets the GPU and returns
 *              -EAGAIN. The repeated call succeeds.
 */
static void test_again(int fd, enum igt_radeon_op op)
{
	uint8_t *model, *foreign, *user = igt_radeon_malloc(BO_SIZE);
	struct igt_radeon_bo bo, src;
	int ret;

	igt_debug("%s\n", igt_radeon_op_name[op]);
	model = igt_radeon_bo_init_pattern(&bo, fd, BO_SIZE,
					   &igt_radeon_reachable[1], 1);
	foreign = igt_radeon_bo_init_pattern(&src, fd, BO_SIZE,
					     &igt_radeon_reachable[0], 2);
	igt_radeon_pattern(user, BO_SIZE, 3);
	igt_radeon_hang(fd, IGT_RADEON_CP_DMA);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &bo, 0, &src, 0, BO_SIZE);
	ret = call_once(op, &bo, user, BO_SIZE);
	igt_assert_f(ret == -EAGAIN, "%s: %d instead of -EAGAIN\n",
		     igt_radeon_op_name[op], ret);

	/* The reset may have lost the copy. */
	igt_radeon_bo_wait_through_lockup(&bo);
	igt_radeon_bo_fill(&bo, model);
	igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, BO_SIZE, user, 0), 0);
	igt_radeon_rw_apply(op, model, user, BO_SIZE);
	igt_radeon_assert_equal(user, model, BO_SIZE, "user memory");
	igt_radeon_bo_assert(&bo, model, "BO");
	igt_radeon_bo_fini(&src);
	igt_radeon_bo_fini(&bo);
	free(foreign);
	free(model);
	free(user);
	/* A reset during the ring tests of another would disable a ring. */
	usleep(1500000);
}

static void test_again_all(int fd)
{
	enum igt_radeon_op op;

	igt_radeon_require_board(fd);
	for (op = 0; op < IGT_RADEON_OPS; op++)
		test_again(fd, op);
}

static void test_interrupted_all(int fd)
{
	const struct igt_radeon_placement *p;
	enum igt_radeon_op op;
	unsigned int i;

	igt_radeon_require_board(fd);
	for (i = 0; (p = igt_radeon_placement(fd, i)); i++)
		for (op = 0; op < IGT_RADEON_OPS; op++)
			test_interrupted(fd, op, p);
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER);
	}

	igt_describe("Flags when the BO is idle.");
	igt_subtest("idle")
		test_use(fd, IDLE);
	igt_fixture()
		igt_radeon_reset_params();

	igt_describe("Flags when the GPU is going to read the BO.");
	igt_subtest("gpu-reads")
		test_use(fd, GPU_READS);
	igt_fixture() {
		igt_radeon_set_latency(fd, 0);
		igt_radeon_reset_params();
	}

	igt_describe("Flags when the GPU is going to write the BO.");
	igt_subtest("gpu-writes")
		test_use(fd, GPU_WRITES);
	igt_fixture() {
		igt_radeon_set_latency(fd, 0);
		igt_radeon_reset_params();
	}

	igt_describe("UNSYNCHRONIZED writes while all engines are busy.");
	igt_subtest("no-engine")
		test_no_engine(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("UNSYNCHRONIZED writes beside a staged one.");
	igt_subtest("pending-dword")
		test_pending_dword(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("A signal ends a wait.");
	igt_subtest("interrupted")
		test_interrupted_all(fd);
	igt_fixture() {
		igt_radeon_stop_timer();
		igt_radeon_set_latency(fd, 0);
	}

	igt_describe("A GPU reset ends a wait.");
	igt_subtest("hang-again")
		test_again_all(fd);
	igt_fixture()
		igt_radeon_stop_timer();

	igt_fixture()
		close(fd);
}
