// SPDX-License-Identifier: MIT
/*
 * The cases in which PREAD, PWRITE and TRANSFER are compared with what a client can do
 * without them (userptr.c) and with mappings: one BO, idle and busy, and many BOs.
 */
#include <errno.h>
#include <string.h>

#include "transfer-paths.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BUSY_SAMPLES 2u
/* Times of variants that do not wait are a median of more. */
#define BUSY_TIMES 9u
/* A variant that does not wait has to return within this time, on a loaded machine. */
#define BUSY_US 1500000u
/*
 * Counts repeat, but for the kernel's accounting of interrupts, which takes some of
 * their time from a thread's, now and then from that of another: a median needs three.
 */
#define COUNT_TURNS 3u
#define COUNT_LARGE (1u << 20)

static void begin_failed(struct tp_case *c, const struct tp_arm *arm, int ret)
{
	struct tp_row *row = tp_row(c->run, c->kind, c->placement, arm, c->bytes,
				    c->units);

	snprintf(row->error, sizeof(row->error), "BOs: %s", strerror(-ret));
}

static unsigned int append(struct tp_arm *arms, unsigned int n,
			   const struct tp_arm *more, unsigned int count)
{
	memcpy(arms + n, more, count * sizeof(*more));
	return n + count;
}

/* The first variants of single uploads or downloads, and those without the ioctls. */
static void idle(struct tp_run *run, const struct tp_placement *placement,
		 unsigned int size, bool write)
{
	struct tp_arm arms[TP_MAX_ARMS];
	struct tp_case c;
	int ret;

	tp_single_init(run, &c, size, write, placement);
	if (run->options->count && c.bytes >= COUNT_LARGE)
		c.ops = 1;
	c.arm_count = tp_single_first(&c, write, arms);
	c.arm_count = append(arms, c.arm_count,
			     write ? tp_user_up : tp_user_down,
			     write ? tp_user_up_count : tp_user_down_count);
	c.arms = arms;
	ret = tp_case_bo(&c, (c.bytes + TP_PAGE - 1) & ~(uint64_t)(TP_PAGE - 1));
	if (!ret)
		ret = tp_user_init(&c, write);
	if (ret)
		begin_failed(&c, &arms[0], ret);
	else
		tp_measure(&c);
	tp_user_fini(&c);
	tp_case_fini(&c);
}

static int busy_mapped(struct tp_case *c)
{
	int ret = bench_gem_wait(c->run->dev.fd, c->handle);

	if (!ret)
		memcpy(c->map, c->run->user, c->bytes);
	return ret;
}

static int busy_pwrite(struct tp_case *c)
{
	return bench_gem_pwrite(c->run->dev.fd, c->handle, 0, c->run->user,
				c->bytes);
}

/* One variant's samples of a busy BO. */
static void busy_arm(struct tp_case *c, const struct tp_arm *arm)
{
	struct tp_row *row = tp_row(c->run, c->kind, c->placement, arm, c->bytes, 1);
	uint64_t times[BUSY_TIMES];
	static uint64_t seed = 1u << 29;
	unsigned int i, n = c->run->options->count ? BUSY_SAMPLES : BUSY_TIMES;
	int ret = 0;

	for (i = 0; i < (row->waited ? BUSY_SAMPLES : n) && !ret; i++) {
		ret = tp_busy_sample(c, arm, row, &times[i], seed, BUSY_US);
		seed += 3;
	}
	if (ret && !row->error[0])
		snprintf(row->error, sizeof(row->error), "%s",
			 ret == -ENODATA ? "the BO was not busy" : strerror(-ret));
	row->turns = 0;
	tp_row_times(row, times, ret ? i - 1 : i);
	tp_row_paths(row, arm);
}

static void busy(struct tp_run *run, const struct tp_placement *placement,
		 uint64_t bytes)
{
	static const struct tp_arm first[] = {
		{ "kept", busy_mapped, 0, { }, 0 },
		{ "pwrite", busy_pwrite, TP_BY_ANY, { }, 0 },
	};
	struct tp_arm arms[TP_MAX_ARMS];
	struct tp_case c = {
		.run = run,
		.kind = "busy",
		.placement = placement,
		.bytes = bytes,
		.units = 1,
	};
	const uint64_t size = (bytes + TP_PAGE - 1) & ~(uint64_t)(TP_PAGE - 1);
	unsigned int n, i;
	int ret;

	tp_progress(run, c.kind, placement->name, bytes);
	n = append(arms, 0, first, COUNT(first));
	n = append(arms, n, tp_user_up, tp_user_up_count);
	ret = tp_case_bo(&c, size);
	if (!ret)
		ret = bench_gem_create(run->dev.fd, size, RADEON_GEM_DOMAIN_GTT,
				       0, &c.helper);
	if (!ret)
		ret = bench_gem_mmap(run->dev.fd, c.helper, size, &c.helper_map);
	if (!ret)
		ret = tp_user_init(&c, true);
	if (ret)
		begin_failed(&c, &arms[0], ret);
	for (i = 0; i < n && !ret; i++)
		busy_arm(&c, &arms[i]);
	tp_user_fini(&c);
	tp_case_fini(&c);
	tp_tune_reset(run);
}

static void many(struct tp_run *run, const struct tp_placement *placement)
{
	static const struct tp_arm first[] = {
		{ "pwrite", tp_glyphs_pwrite, TP_BY_CPU, { }, 0 },
		{ "transfer", tp_glyphs_transfer, TP_BY_CPU, { }, 0 },
	};
	struct tp_arm arms[TP_MAX_ARMS];
	unsigned int n;

	n = append(arms, 0, first, COUNT(first));
	n = append(arms, n, tp_user_many, tp_user_many_count);
	tp_glyphs_many(run, placement, arms, n);
}

static void all(struct tp_run *run)
{
	const unsigned int sizes = run->options->quick ? 3 : tp_size_count;
	const struct tp_placement *p;
	unsigned int i;

	for (p = tp_placements; p < tp_placements + tp_placement_count; p++) {
		if (p->flags == RADEON_GEM_GTT_WC)
			continue;
		for (i = 0; i < sizes; i++)
			idle(run, p, i, true);
		for (i = 0; i < sizes; i++)
			idle(run, p, i, false);
		if (p->hidden)
			continue;
		many(run, p);
		if (run->events || !run->has_board || !run->dev.has_staging)
			continue;
		for (i = 0; i < sizes; i++)
			busy(run, p, tp_sizes[i]);
	}
}

/**
 * tp_alternatives - PREAD, PWRITE and TRANSFER beside what needs none of them
 * @run: the run, whose device has TRANSFER
 */
void tp_alternatives(struct tp_run *run)
{
	int ret;

	if (run->options->count)
		run->turns = COUNT_TURNS;
	all(run);
	ret = tp_events_open();
	if (!ret) {
		run->events = true;
		all(run);
		run->events = false;
	} else {
		fprintf(stderr, "transfer-paths: events are not counted: %s\n",
			strerror(-ret));
	}
	tp_events_close();
}
