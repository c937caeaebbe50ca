// SPDX-License-Identifier: MIT
/*
 * Copyright 2026 Seed 7e3b15d1 maintainers
 *
 * Reading and writing GEM objects without mapping them: KUnit tests of what needs no
 * hardware.
 */

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/clock.h>

#include <drm/radeon_drm.h>

#include "radeon.h"
#include "radeon_gem_rw_gpu.h"

#define IS(x)	RADEON_GEM_RW_IS_##x

/* How often a test looks, a millisecond apart, until a thread sleeps on a lock. */
#define RADEON_GEM_RW_TEST_LOOKS	2000

/* The rule table */

static const struct {
	unsigned int is;
	enum radeon_gem_rw_action action;
} radeon_gem_rw_test_rules[] = {
	{ 0, RADEON_GEM_RW_COPY },
	{ IS(WRITE), RADEON_GEM_RW_COPY },
	{ IS(WRITE) | IS(VRAM) | IS(GPU) | IS(SMALL), RADEON_GEM_RW_COPY },
	{ IS(WRITE) | IS(BUSY) | IS(GPU) | IS(SMALL), RADEON_GEM_RW_STAGE },
	{ IS(WRITE) | IS(BUSY) | IS(GPU), RADEON_GEM_RW_WAIT },
	{ IS(WRITE) | IS(BUSY) | IS(SMALL), RADEON_GEM_RW_WAIT },
	{ IS(WRITE) | IS(BUSY) | IS(SYSTEM) | IS(GPU) | IS(SMALL), RADEON_GEM_RW_WAIT },
	{ IS(WRITE) | IS(VRAM) | IS(HIDDEN) | IS(GPU), RADEON_GEM_RW_STAGE },
	{ IS(WRITE) | IS(VRAM) | IS(HIDDEN) | IS(GPU) | IS(BUSY), RADEON_GEM_RW_WAIT },
	{ IS(WRITE) | IS(VRAM) | IS(HIDDEN) | IS(GPU) | IS(BUSY) | IS(SMALL),
	  RADEON_GEM_RW_STAGE },
	{ IS(WRITE) | IS(VRAM) | IS(HIDDEN), RADEON_GEM_RW_MOVE },
	{ IS(WRITE) | IS(VRAM) | IS(HIDDEN) | IS(NOWAIT), RADEON_GEM_RW_WAIT },
	{ IS(WRITE) | IS(VRAM) | IS(HIDDEN) | IS(UNSYNC), RADEON_GEM_RW_COPY },
	{ IS(VRAM) | IS(GPU), RADEON_GEM_RW_COPY },
	{ IS(VRAM) | IS(GPU) | IS(LONG), RADEON_GEM_RW_STAGE },
	{ IS(VRAM) | IS(GPU) | IS(LONG) | IS(NOWAIT), RADEON_GEM_RW_COPY },
	{ IS(VRAM) | IS(GPU) | IS(LONG) | IS(BUSY), RADEON_GEM_RW_WAIT },
	{ IS(VRAM) | IS(GPU) | IS(HIDDEN) | IS(NOWAIT), RADEON_GEM_RW_WAIT },
	{ IS(ABSENT), RADEON_GEM_RW_POPULATE },
	{ IS(ABSENT) | IS(BUSY), RADEON_GEM_RW_WAIT },
};

static void radeon_gem_rw_test_choose(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(radeon_gem_rw_test_rules); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    radeon_gem_rw_choose(radeon_gem_rw_test_rules[i].is),
				    radeon_gem_rw_test_rules[i].action, "state %#x",
				    radeon_gem_rw_test_rules[i].is);
}

/* A BO is in one place. */
static bool radeon_gem_rw_test_is_possible(unsigned int is)
{
	return !(is & (is & IS(VRAM) ? IS(ABSENT) | IS(SYSTEM) : IS(HIDDEN)));
}

/* What holds in each state. */
static void radeon_gem_rw_test_choose_all(struct kunit *test)
{
	enum radeon_gem_rw_action action;
	unsigned int is, possible = 0;

	for (is = 0; is < 2 * IS(LONG); is++) {
		if (!radeon_gem_rw_test_is_possible(is))
			continue;
		possible++;
		action = radeon_gem_rw_choose(is);

		/* The CPU only copies what is there, idle, and accessible or by registers. */
		if (action == RADEON_GEM_RW_COPY)
			KUNIT_EXPECT_FALSE_MSG(test, is & (IS(BUSY) | IS(ABSENT)) ||
					       (is & IS(HIDDEN) && !(is & IS(UNSYNC))),
					       "copy in state %#x", is);
		/* What may not wait does not read by the GPU, nor move. */
		if (is & IS(NOWAIT) && !(is & IS(WRITE)))
			KUNIT_EXPECT_NE_MSG(test, action, RADEON_GEM_RW_STAGE, "state %#x", is);
		if (is & IS(NOWAIT))
			KUNIT_EXPECT_NE_MSG(test, action, RADEON_GEM_RW_MOVE, "state %#x", is);
		/* Without the GPU a step does something else. */
		if (!(is & IS(GPU)))
			KUNIT_EXPECT_NE_MSG(test, action, RADEON_GEM_RW_STAGE, "state %#x", is);
		/* Each of these ends in another state, so that the call gets on. */
		if (action == RADEON_GEM_RW_WAIT)
			KUNIT_EXPECT_TRUE_MSG(test, is & IS(BUSY) ||
					      (is & IS(NOWAIT) && is & IS(HIDDEN)),
					      "wait in state %#x", is);
		if (action == RADEON_GEM_RW_MOVE)
			KUNIT_EXPECT_TRUE_MSG(test, is & IS(HIDDEN), "move in state %#x", is);
		if (action == RADEON_GEM_RW_POPULATE)
			KUNIT_EXPECT_TRUE_MSG(test, is & IS(ABSENT), "populate in state %#x", is);
	}
	KUNIT_EXPECT_GT(test, possible, 500);
}

/* Regions of TRANSFER */

static void radeon_gem_rw_test_parse(struct kunit *test)
{
	const struct drm_radeon_gem_transfer_region good = {
		.user_ptr = PAGE_SIZE, .bo_offset = 64, .row_bytes = 16, .rows = 3,
		.bo_pitch = 32, .user_pitch = 48,
	};
	struct drm_radeon_gem_transfer_region from = good;
	struct radeon_gem_rw_region region;

	KUNIT_EXPECT_EQ(test, radeon_gem_transfer_parse(&from, &region), 0);
	KUNIT_EXPECT_EQ(test, region.offset, 64);
	KUNIT_EXPECT_EQ(test, (uintptr_t)region.user, good.user_ptr);
	KUNIT_EXPECT_EQ(test, region.row_bytes, 16);
	KUNIT_EXPECT_EQ(test, region.rows, 3);
	KUNIT_EXPECT_EQ(test, region.bo_pitch, 32);
	KUNIT_EXPECT_EQ(test, region.user_pitch, 48);

	/* Rows without gaps on either side are one row. */
	from.bo_pitch = 16;
	KUNIT_EXPECT_EQ(test, radeon_gem_transfer_parse(&from, &region), 0);
	KUNIT_EXPECT_EQ(test, region.rows, 3);
	from.user_pitch = 16;
	KUNIT_EXPECT_EQ(test, radeon_gem_transfer_parse(&from, &region), 0);
	KUNIT_EXPECT_EQ(test, region.rows, 1);
	KUNIT_EXPECT_EQ(test, region.row_bytes, 48);

	/* Empty: nothing else is looked at. */
	from = good;
	from.rows = 0;
	from.user_ptr = U64_MAX;
	KUNIT_EXPECT_EQ(test, radeon_gem_transfer_parse(&from, &region), 0);
	KUNIT_EXPECT_EQ(test, region.rows, 0);

	/* Rows overlap, but one row has no pitch. */
	from = good;
	from.bo_pitch = 15;
	KUNIT_EXPECT_EQ(test, radeon_gem_transfer_parse(&from, &region), -EINVAL);
	from.rows = 1;
	KUNIT_EXPECT_EQ(test, radeon_gem_transfer_parse(&from, &region), 0);
	from = good;
	from.user_pitch = 15;
	KUNIT_EXPECT_EQ(test, radeon_gem_transfer_parse(&from, &region), -EINVAL);
	from = good;
	from.flags = 1;
	KUNIT_EXPECT_EQ(test, radeon_gem_transfer_parse(&from, &region), -EINVAL);
}

/* The extent of the largest region has 64 bits, and must not wrap around. */
static void radeon_gem_rw_test_parse_large(struct kunit *test)
{
	struct drm_radeon_gem_transfer_region from = {
		.user_ptr = PAGE_SIZE, .row_bytes = U32_MAX, .rows = U32_MAX,
		.bo_pitch = U32_MAX, .user_pitch = U32_MAX,
	};
	struct radeon_gem_rw_region region;

	KUNIT_EXPECT_EQ(test, radeon_gem_transfer_parse(&from, &region), -EFAULT);

	/* The first byte is accessible, the last one wraps around. */
	from.row_bytes = 16;
	from.rows = 2;
	from.bo_pitch = 16;
	from.user_pitch = 32;
	from.user_ptr = U64_MAX - 40;
	KUNIT_EXPECT_EQ(test, radeon_gem_transfer_parse(&from, &region), -EFAULT);
	/* The last byte is beyond user memory. */
	from.user_ptr = TASK_SIZE_MAX - 40;
	KUNIT_EXPECT_EQ(test, radeon_gem_transfer_parse(&from, &region), -EFAULT);
	from.user_ptr = TASK_SIZE_MAX - 48;
	KUNIT_EXPECT_EQ(test, radeon_gem_transfer_parse(&from, &region), 0);
}

/* Suballocations of the staging buffer */

#define RADEON_GEM_RW_TEST_UNITS	64

static struct radeon_device *radeon_gem_rw_test_device(struct kunit *test)
{
	struct radeon_device *rdev = kunit_kzalloc(test, sizeof(*rdev), GFP_KERNEL);
	struct radeon_gem_rw_gpu *gpu = kunit_kzalloc(test, sizeof(*gpu), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, rdev);
	KUNIT_ASSERT_NOT_NULL(test, gpu);
	init_rwsem(&rdev->exclusive_lock);
	init_rwsem(&rdev->pm.mclk_lock);
	rdev->gem_rw_gpu = gpu;
	spin_lock_init(&gpu->lock);
	xa_init(&gpu->held[0]);
	xa_init(&gpu->held[1]);
	for (i = 0; i < RADEON_NUM_RINGS; i++)
		INIT_LIST_HEAD(&gpu->jobs[i]);
	gpu->units = RADEON_GEM_RW_TEST_UNITS;
	gpu->max[0] = gpu->units / 4;
	gpu->max[1] = gpu->units / 2;
	gpu->sa.cpu_ptr = kunit_kzalloc(test, gpu->units * RADEON_GEM_RW_UNIT, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, gpu->sa.cpu_ptr);
	memset(gpu->sa.cpu_ptr, 0xff, gpu->units * RADEON_GEM_RW_UNIT);
	return rdev;
}

static void radeon_gem_rw_test_suballoc(struct kunit *test)
{
	struct radeon_gem_rw rw = { .rdev = radeon_gem_rw_test_device(test) };
	struct radeon_gem_rw_gpu *gpu = rw.rdev->gem_rw_gpu;
	struct radeon_gem_rw_job *jobs[RADEON_GEM_RW_TEST_UNITS];
	unsigned int i, n, units = 0;

	for (n = 0; n < ARRAY_SIZE(jobs); n++) {
		jobs[n] = radeon_gem_rw_job_new(1);
		KUNIT_ASSERT_NOT_NULL(test, jobs[n]);
		/* One unit, or two by a byte too many beside the header. */
		if (!radeon_gem_rw_job_suballoc(&rw, jobs[n], RADEON_GEM_RW_UNIT -
						RADEON_GEM_RW_JOB_HEADER + n % 2))
			break;
		units += jobs[n]->units;
		KUNIT_EXPECT_EQ(test, jobs[n]->units, 1 + n % 2);
		/* The header is zero, and units are nobody else's. */
		KUNIT_EXPECT_NULL(test, memchr_inv(jobs[n]->mem, 0, RADEON_GEM_RW_JOB_HEADER));
		KUNIT_EXPECT_EQ(test, bitmap_weight(gpu->used, gpu->units), units);
	}

	/* A process has a quarter, if nobody else has anything. */
	KUNIT_EXPECT_LE(test, units, gpu->units / 4);
	KUNIT_EXPECT_GE(test, units + 2, gpu->units / 4);
	KUNIT_EXPECT_EQ(test, jobs[n]->units, 0);

	for (i = 0; i <= n; i++)
		radeon_gem_rw_job_put(rw.rdev, jobs[i]);
	KUNIT_EXPECT_TRUE(test, bitmap_empty(gpu->used, gpu->units));
	KUNIT_EXPECT_TRUE(test, xa_empty(&gpu->held[0]));
	KUNIT_EXPECT_TRUE(test, xa_empty(&gpu->held[1]));
}

static bool radeon_gem_rw_test_take(struct radeon_gem_rw_gpu *gpu, const unsigned long client[2],
				    int n)
{
	bool taken;

	spin_lock(&gpu->lock);
	taken = radeon_gem_rw_share_take(gpu, client, n);
	spin_unlock(&gpu->lock);
	return taken;
}

static void radeon_gem_rw_test_give(struct radeon_gem_rw_gpu *gpu, const unsigned long client[2],
				    int n)
{
	spin_lock(&gpu->lock);
	radeon_gem_rw_share_give(gpu, client, n);
	spin_unlock(&gpu->lock);
}

static void radeon_gem_rw_test_share(struct kunit *test)
{
	struct radeon_gem_rw_gpu *gpu = radeon_gem_rw_test_device(test)->gem_rw_gpu;
	/* Processes and their users. */
	const unsigned long a[2] = { 1, 1000 }, b[2] = { 2, 1000 };
	const unsigned long c[2] = { 3, 1000 }, other[2] = { 4, 1001 };
	unsigned int quarter = gpu->max[0];

	KUNIT_EXPECT_TRUE(test, radeon_gem_rw_test_take(gpu, a, quarter));
	KUNIT_EXPECT_FALSE(test, radeon_gem_rw_test_take(gpu, a, 1));
	KUNIT_EXPECT_TRUE(test, radeon_gem_rw_test_take(gpu, b, quarter));

	/* The user has a half now. A refused process holds nothing. */
	KUNIT_EXPECT_FALSE(test, radeon_gem_rw_test_take(gpu, c, 1));
	KUNIT_EXPECT_NULL(test, xa_load(&gpu->held[0], 3));
	KUNIT_EXPECT_TRUE(test, radeon_gem_rw_test_take(gpu, other, quarter));

	radeon_gem_rw_test_give(gpu, a, quarter);
	KUNIT_EXPECT_TRUE(test, radeon_gem_rw_test_take(gpu, c, 1));
	radeon_gem_rw_test_give(gpu, b, quarter);
	radeon_gem_rw_test_give(gpu, c, 1);
	radeon_gem_rw_test_give(gpu, other, quarter);
	KUNIT_EXPECT_TRUE(test, xa_empty(&gpu->held[0]));
	KUNIT_EXPECT_TRUE(test, xa_empty(&gpu->held[1]));
}

/* Progress */

/* Returns the offset in the BO of byte @n of all regions, found without steps. */
static u64 radeon_gem_rw_test_byte(const struct radeon_gem_rw_region *region, u64 n)
{
	while (n >= region->row_bytes * region->rows) {
		n -= region->row_bytes * region->rows;
		region++;
	}
	return region->offset + n / region->row_bytes * region->bo_pitch +
		n % region->row_bytes;
}

/* Steps of any length, of which only a part is done, transfer each byte once. */
static void radeon_gem_rw_test_advance(struct kunit *test)
{
	static const struct radeon_gem_rw_region regions[] = {
		{ .offset = 0, .row_bytes = 100, .rows = 3, .bo_pitch = 128 },
		{ .offset = 4096, .row_bytes = 7, .rows = 200, .bo_pitch = 64 },
		{ },
		{ .offset = 65536, .row_bytes = 3000, .rows = 1 },
	};
	struct radeon_gem_rw_piece *pieces;
	const u64 total = 3 * 100 + 200 * 7 + 3000;
	struct radeon_gem_rw rw = {
		.regions = regions,
		.count = ARRAY_SIZE(regions),
		.left = total,
	};
	unsigned int steps = 0;
	u64 done, sum, i;

	pieces = kunit_kcalloc(test, RADEON_GEM_RW_MAX_PIECES, sizeof(*pieces), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pieces);
	rw.pieces = pieces;
	while (rw.left && steps++ < total) {
		radeon_gem_rw_set_step(&rw, 1 + steps * 97 % 1500);
		KUNIT_ASSERT_GT(test, rw.len, 0);
		KUNIT_EXPECT_LE(test, rw.n, RADEON_GEM_RW_MAX_PIECES);
		for (i = 0, sum = 0; i < rw.n; sum += pieces[i++].len)
			KUNIT_ASSERT_EQ(test, pieces[i].offset,
					radeon_gem_rw_test_byte(regions, total - rw.left + sum));
		KUNIT_EXPECT_EQ(test, sum, rw.len);

		/* All of every third step, else a part. */
		done = steps % 3 ? DIV_ROUND_UP(rw.len, 2) : rw.len;
		radeon_gem_rw_advance(&rw, done);
	}
	KUNIT_EXPECT_EQ(test, rw.left, 0);
	KUNIT_EXPECT_EQ(test, rw.pos.region, ARRAY_SIZE(regions));
}

/* Signals end some calls in a row for a BO, and then none before a step is done. */
static void radeon_gem_rw_test_signals(struct kunit *test)
{
	struct radeon_gem_rw rw = { .bo = kunit_kzalloc(test, sizeof(*rw.bo), GFP_KERNEL) };
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, rw.bo);
	for (i = 0; i < RADEON_GEM_RW_MAX_ENDS; i++) {
		KUNIT_EXPECT_TRUE(test, radeon_gem_rw_is_interruptible(&rw));
		radeon_gem_rw_note_end(&rw, true);
	}
	KUNIT_EXPECT_FALSE(test, radeon_gem_rw_is_interruptible(&rw));
	radeon_gem_rw_note_end(&rw, true);
	radeon_gem_rw_note_end(&rw, false);
	KUNIT_EXPECT_TRUE(test, radeon_gem_rw_is_interruptible(&rw));
	radeon_gem_rw_note_end(&rw, true);
	KUNIT_EXPECT_FALSE(test, radeon_gem_rw_is_interruptible(&rw));

	/* Without signals the count does not go below nothing. */
	for (i = 0; i < 2 * RADEON_GEM_RW_MAX_ENDS; i++)
		radeon_gem_rw_note_end(&rw, false);
	KUNIT_EXPECT_TRUE(test, radeon_gem_rw_is_interruptible(&rw));

	/* A region that has begun would begin again. */
	rw.begun = true;
	KUNIT_EXPECT_FALSE(test, radeon_gem_rw_is_interruptible(&rw));
}

/* The end of steps */

static int radeon_gem_rw_test_writer(void *lock)
{
	down_write(lock);
	up_write(lock);
	while (!kthread_should_stop())
		usleep_range(100, 200);
	return 0;
}

/* Is a step over that began @ns ago? Not because of others who want the CPU. */
static bool radeon_gem_rw_test_is_over(struct radeon_gem_rw *rw, u64 ns)
{
	unsigned int i;

	for (i = 0; i < RADEON_GEM_RW_TEST_LOOKS; i++) {
		usleep_range(10, 20);
		if (!radeon_gem_rw_is_over(rw, local_clock() - ns))
			return false;
	}
	return true;
}

static void radeon_gem_rw_test_waiting_writer(struct kunit *test, struct radeon_gem_rw *rw,
					      struct rw_semaphore *lock)
{
	struct task_struct *writer;
	unsigned int i = 0;

	KUNIT_EXPECT_FALSE(test, radeon_gem_rw_test_is_over(rw, 0));
	down_read(lock);
	writer = kthread_run(radeon_gem_rw_test_writer, lock, "radeon-gem-rw-test");
	if (!IS_ERR(writer)) {
		while (!rwsem_is_contended(lock) && i++ < RADEON_GEM_RW_TEST_LOOKS)
			usleep_range(1000, 2000);
		KUNIT_EXPECT_TRUE(test, rwsem_is_contended(lock));
		KUNIT_EXPECT_TRUE(test, radeon_gem_rw_test_is_over(rw, 0));
	}
	up_read(lock);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, writer);
	kthread_stop(writer);
	KUNIT_EXPECT_FALSE(test, radeon_gem_rw_test_is_over(rw, 0));
}

/* A step ends after 200 microseconds, or if a writer waits for a lock. */
static void radeon_gem_rw_test_step_ends(struct kunit *test)
{
	struct radeon_gem_rw rw = { .rdev = radeon_gem_rw_test_device(test) };

	KUNIT_EXPECT_FALSE(test, radeon_gem_rw_test_is_over(&rw, 0));
	KUNIT_EXPECT_TRUE(test, radeon_gem_rw_test_is_over(&rw, 201 * NSEC_PER_USEC));
	radeon_gem_rw_test_waiting_writer(test, &rw, &rw.rdev->exclusive_lock);
	radeon_gem_rw_test_waiting_writer(test, &rw, &rw.rdev->pm.mclk_lock);
}

static struct kunit_case radeon_gem_rw_test_cases[] = {
	KUNIT_CASE(radeon_gem_rw_test_choose),
	KUNIT_CASE(radeon_gem_rw_test_choose_all),
	KUNIT_CASE(radeon_gem_rw_test_parse),
	KUNIT_CASE(radeon_gem_rw_test_parse_large),
	KUNIT_CASE(radeon_gem_rw_test_suballoc),
	KUNIT_CASE(radeon_gem_rw_test_share),
	KUNIT_CASE(radeon_gem_rw_test_advance),
	KUNIT_CASE(radeon_gem_rw_test_signals),
	KUNIT_CASE(radeon_gem_rw_test_step_ends),
	{ }
};

static struct kunit_suite radeon_gem_rw_test_suite = {
	.name = "radeon_gem_rw",
	.test_cases = radeon_gem_rw_test_cases,
};

kunit_test_suite(radeon_gem_rw_test_suite);
