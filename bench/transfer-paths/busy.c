// SPDX-License-Identifier: MIT
/*
 * Measures how long a small write takes to a BO that the GPU uses for another
 * 200 ms. A client with a mapping has to wait for that; PWRITE need not. The GPU
 * copies from the BO, and must get the old bytes.
 */
#include <errno.h>
#include <string.h>

#include "radeon_drm.h"

#include "transfer-paths.h"

#define BYTES 4096u
#define LATENCY_US 200000u
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* Bytes that one packet of the GPU's earlier work copies. */
#define PIECE (1u << 20)

static int by_pwrite(struct tp_case *c)
{
	return bench_gem_pwrite(c->run->dev.fd, c->handle, 0, c->run->user,
				BYTES);
}

/* Uses a kept mapping, so that the time is hardly more than the wait. */
static int by_mapping(struct tp_case *c)
{
	int ret = bench_gem_wait(c->run->dev.fd, c->handle);

	if (!ret)
		memcpy(c->map, c->run->user, BYTES);
	return ret;
}

static const struct tp_arm arms[] = {
	{ "mapped", by_mapping, 0, { }, 0 },
	{ "pwrite", by_pwrite, TP_BY_STAGE, { }, 0 },
};

/**
 * tp_busy_sample - one write to a busy BO
 * @c: the case, with a helper BO to which the GPU copies
 * @arm: the variant
 * @row: its row
 * @time: filled in: time of the operation, by the clock of the run
 * @seed: number of the pattern that the BO has before; its successors are those of
 *	the caller's memory before and after the call returns
 * @latency: microseconds by which the board delays the GPU's earlier work. The
 *	latency is raised only while the GPU has to be slow.
 *
 * Returns: 0, or a negative errno; -ENODATA if the BO was not busy
 */
int tp_busy_sample(struct tp_case *c, const struct tp_arm *arm,
		   struct tp_row *row, uint64_t *time, uint64_t seed,
		   uint32_t latency)
{
	static struct bench_piece pieces[TP_USER_BYTES / PIECE];
	const bool borrows = arm->paths & TP_BORROWS;
	struct tp_counters before, after;
	struct tp_run *run = c->run;
	int fd = run->dev.fd, ret, ret2;
	uint64_t since, at;
	unsigned int n = 0;
	bool captured;

	tp_pattern(c->map, c->bytes, seed);
	tp_pattern(run->user, c->bytes, seed + 1);
	memset(c->helper_map, 0, c->bytes);
	ret = tp_counters_read(run, &before);
	if (!ret)
		ret = tp_board_latency(run, latency);
	if (ret)
		return ret;
	for (at = 0; at < c->bytes; at += PIECE)
		pieces[n++] = (struct bench_piece) {
			.handle = c->handle,
			.src_offset = at,
			.dst_offset = at,
			.bytes = c->bytes - at < PIECE ? c->bytes - at : PIECE,
		};
	ret = bench_gem_copy(fd, c->helper, RADEON_GEM_DOMAIN_GTT, pieces, n,
			     c->placement->domain);
	if (!ret && bench_gem_busy(fd, c->handle) != 1)
		ret = -ENODATA;
	if (!ret) {
		since = bench_now();
		*time = bench_clock(run->clock);
		ret = arm->op(c);
		*time = bench_clock(run->clock) - *time;
		since = bench_now() - since;
	}
	if (!ret) {
		/* Not by GEM_BUSY: it goes by the last interrupt of the other ring. */
		row->waited += since > latency * 1000ull / 2;
		tp_pattern(run->user, c->bytes, seed + 2);
	}
	ret2 = tp_board_latency(run, 0);
	if (!ret)
		ret = ret2;
	if (!ret)
		ret = bench_gem_wait(fd, c->helper);
	if (!ret)
		ret = bench_gem_wait(fd, c->handle);
	if (!ret)
		ret = tp_counters_read(run, &after);
	if (ret)
		return ret;

	tp_counters_add(&row->counters, &before, &after);
	row->turns++;
	captured = tp_is_pattern(run, c->map, c->bytes, seed + 1);
	row->captured += captured;
	if (!tp_is_pattern(run, c->helper_map, c->bytes, seed))
		snprintf(row->error, sizeof(row->error),
			 "contents: the GPU did not see the old bytes");
	else if (!captured &&
		 !(borrows && tp_is_pattern(run, c->map, c->bytes, seed + 2)))
		snprintf(row->error, sizeof(row->error),
			 "contents: the BO does not hold the new bytes");
	else
		row->verified++;
	return 0;
}

static void measure(struct tp_run *run, const struct tp_placement *placement)
{
	/* The slow variant needs few samples. */
	const unsigned int samples[COUNT(arms)] = {
		run->options->quick ? 2 : 8, run->options->quick ? 8 : 40,
	};
	struct tp_case c = {
		.run = run,
		.kind = "busy",
		.placement = placement,
		.bytes = BYTES,
	};
	uint64_t times[COUNT(arms)][TP_MAX_OPS];
	struct tp_row *rows[COUNT(arms)];
	unsigned int a, i, done[COUNT(arms)] = { 0 };
	static uint64_t seed = 1u << 30;
	int ret;

	tp_progress(run, c.kind, placement->name, BYTES);
	for (a = 0; a < COUNT(arms); a++)
		rows[a] = tp_row(run, c.kind, placement, &arms[a], BYTES, 1);
	ret = tp_case_bo(&c, BYTES);
	if (!ret)
		ret = bench_gem_create(run->dev.fd, BYTES,
				       RADEON_GEM_DOMAIN_GTT, 0, &c.helper);
	if (!ret)
		ret = bench_gem_mmap(run->dev.fd, c.helper, BYTES,
				     &c.helper_map);
	if (ret)
		snprintf(rows[0]->error, sizeof(rows[0]->error), "BO: %s",
			 strerror(-ret));

	for (i = 0; i < samples[1] && !ret; i++) {
		for (a = 0; a < COUNT(arms) && !ret; a++) {
			/* Spread its samples evenly over those of the other. */
			if (i * samples[a] / samples[1] < done[a])
				continue;
			ret = tp_busy_sample(&c, &arms[a], rows[a],
					     &times[a][done[a]], seed,
					     LATENCY_US);
			seed += 3;
			if (!ret)
				done[a]++;
			else if (!rows[a]->error[0])
				snprintf(rows[a]->error,
					 sizeof(rows[a]->error), "%s",
					 ret == -ENODATA ?
						 "the BO was not busy" :
						 strerror(-ret));
		}
	}
	for (a = 0; a < COUNT(arms); a++) {
		rows[a]->turns = 0;
		tp_row_times(rows[a], times[a], done[a]);
		tp_row_paths(rows[a], &arms[a]);
	}
	tp_case_fini(&c);
	tp_tune_reset(run);
}

/**
 * tp_busy - small writes to busy BOs
 * @run: the run, on the emulated board
 */
void tp_busy(struct tp_run *run)
{
	unsigned int p;

	for (p = 0; p < tp_placement_count; p++)
		if (!tp_placements[p].hidden)
			measure(run, &tp_placements[p]);
}
