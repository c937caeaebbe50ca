// SPDX-License-Identifier: MIT
/*
 * Measures a case: its variants take turns of some operations each, so that
 * compared samples are only moments apart. At the end of each turn the contents
 * are checked, and at the end of the case the paths that the driver took.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "radeon_drm.h"

#include "transfer-paths.h"

/**
 * tp_pattern - make bytes that differ for each seed and at each place
 * @data: filled in
 * @bytes: number of bytes
 * @seed: number of the pattern
 */
void tp_pattern(void *data, uint64_t bytes, uint64_t seed)
{
	uint64_t word = (seed + 1) * 0x9e3779b97f4a7c15u, *words = data;
	uint64_t i;

	/* Odd steps: no two words agree. */
	for (i = 0; i < bytes / 8; i++) {
		words[i] = word;
		word += 0xd1342543de82ef95u;
	}
	memcpy(words + i, &word, bytes % 8);
}

/**
 * tp_is_pattern - are these the bytes of a pattern?
 * @run: the run, whose scratch memory is overwritten
 * @data: bytes to compare
 * @bytes: number of bytes, at most TP_USER_BYTES
 * @seed: number of the pattern
 */
bool tp_is_pattern(struct tp_run *run, const void *data, uint64_t bytes,
		   uint64_t seed)
{
	tp_pattern(run->scratch, bytes, seed);
	return !memcmp(run->scratch, data, bytes);
}

/**
 * tp_row - begin a row of the results
 * @run: the run
 * @kind: kind of the case
 * @placement: placement of the BO
 * @arm: the variant
 * @bytes: bytes that one operation transfers
 * @units: parts of one operation
 */
struct tp_row *tp_row(struct tp_run *run, const char *kind,
		      const struct tp_placement *placement,
		      const struct tp_arm *arm, uint64_t bytes,
		      unsigned int units)
{
	struct tp_row *row = &run->rows[run->row_count];

	if (run->row_count < TP_MAX_ROWS - 1)
		run->row_count++;
	*row = (struct tp_row) {
		.kind = kind,
		.arm = arm->name,
		.placement = placement->name,
		.bytes = bytes,
		.units = units,
	};
	tp_describe(arm, row->settings, sizeof(row->settings));
	return row;
}

/**
 * tp_row_times - put samples into a row
 * @row: the row
 * @times: samples in their order; they are sorted in place
 * @n: number of samples
 */
void tp_row_times(struct tp_row *row, uint64_t *times, unsigned int n)
{
	if (!n)
		return;
	row->samples = n;
	if (n <= TP_MAX_OPS) {
		memcpy(row->values, times, n * sizeof(*times));
		row->value_count = n;
	}
	row->stat = bench_spread(times, n);
	row->min = times[0];
	row->max = times[n - 1];
}

/**
 * tp_row_paths - did all bytes go by the paths that they should?
 * @row: the row, with counters; gets an error if not
 * @arm: its variant
 */
void tp_row_paths(struct tp_row *row, const struct tp_arm *arm)
{
	const uint64_t transferred = row->bytes * row->samples;
	const uint64_t all = arm->paths & TP_BY_ANY ? transferred : 0;
	const uint64_t by_dma = row->counters.board[TP_BOARD_DMA_BYTES];
	uint64_t good = 0, bad = 0;
	unsigned int i;

	for (i = 0; i < TP_PATHS; i++) {
		if (arm->paths & 1u << i)
			good += row->counters.bytes[i];
		else
			bad += row->counters.bytes[i];
	}
	if (!row->error[0] &&
	    (good != all || bad))
		snprintf(row->error, sizeof(row->error),
			 "path: %llu bytes by the paths it is about, %llu by others",
			 (unsigned long long)good, (unsigned long long)bad);
	/* Without the board its counters are 0, and nothing is known. */
	if (!row->error[0] && arm->paths & TP_BY_CS && row->counters.board[TP_BOARD_FENCES] &&
	    by_dma != transferred)
		snprintf(row->error, sizeof(row->error),
			 "path: the DMA engine copied %llu of %llu bytes",
			 (unsigned long long)by_dma,
			 (unsigned long long)transferred);
}

/**
 * tp_progress - print a line of progress, if the run is verbose
 * @run: the run
 * @kind: kind of the case that begins
 * @placement: name of its placement
 * @bytes: bytes that its operations transfer
 */
void tp_progress(const struct tp_run *run, const char *kind,
		 const char *placement, uint64_t bytes)
{
	if (run->options->verbose)
		fprintf(stderr, "transfer-paths: [%5.1f s] %-12s %-11s %9llu bytes\n",
			(bench_now() - run->start) / 1e9, kind, placement,
			(unsigned long long)bytes);
}

static void fail(struct tp_row *row, const char *what, int ret)
{
	if (!row->error[0])
		snprintf(row->error, sizeof(row->error), "%s: %s", what,
			 strerror(-ret));
}

/*
 * One variant's turn. The first operation is not measured: it faults pages in
 * and fills caches. It transfers other bytes than the measured ones, so that it
 * cannot have done their work.
 */
static int turn(struct tp_case *c, const struct tp_arm *arm,
		struct tp_row *row, uint64_t *times, uint64_t seed)
{
	struct tp_counters before, after;
	struct tp_run *run = c->run;
	uint64_t t, sorted[TP_MAX_OPS];
	bool good = false;
	unsigned int i;
	int ret;

	ret = tp_tune(run, arm);
	if (!ret)
		ret = arm->op(c);
	if (ret) {
		fail(row, "first operation", ret);
		return ret;
	}

	ret = c->prepare(c, seed);
	/* A copy that was not waited for must not be counted, nor be left out below. */
	if (!ret && arm->paths & TP_BY_CS)
		ret = bench_gem_wait(run->dev.fd, c->handle);
	if (!ret)
		ret = tp_counters_read(run, &before);
	for (i = 0; i < c->ops && !ret; i++) {
		t = bench_clock(run->clock);
		ret = arm->op(c);
		times[i] = bench_clock(run->clock) - t;
	}
	if (!ret && arm->paths & TP_BY_CS)
		ret = bench_gem_wait(run->dev.fd, c->handle);
	if (!ret)
		ret = tp_counters_read(run, &after);
	if (!ret)
		ret = c->check(c, seed, &good);
	if (ret) {
		fail(row, "operation", ret);
		return ret;
	}

	tp_counters_add(&row->counters, &before, &after);
	memcpy(sorted, times, c->ops * sizeof(*times));
	row->turn_medians[row->turns++] = bench_spread(sorted, c->ops).median;
	if (arm->paths & TP_LOST)
		row->lost = good = !good;
	row->verified += good;
	if (!good && !row->error[0])
		snprintf(row->error, sizeof(row->error),
			 "contents: wrong after turn %u", row->turns - 1);
	return 0;
}

static struct tp_row *find(const struct tp_case *c, const struct tp_arm *arm)
{
	struct tp_run *run = c->run;
	unsigned int i;

	for (i = 0; i < run->row_count; i++) {
		struct tp_row *row = &run->rows[i];

		if (!strcmp(row->kind, c->kind) && !strcmp(row->arm, arm->name) &&
		    row->placement == c->placement->name && row->bytes == c->bytes)
			return row;
	}
	return NULL;
}

/* Counts the events of all variants, which have rows already. */
static int count_events(struct tp_case *c)
{
	struct tp_row *row;
	unsigned int a;
	int ret, last = 0;

	tp_progress(c->run, "events", c->placement->name, c->bytes);
	for (a = 0; a < c->arm_count; a++) {
		row = find(c, &c->arms[a]);
		if (!row || row->error[0])
			continue;
		ret = tp_costs(c, &c->arms[a], row);
		if (ret) {
			fail(row, "events", ret);
			last = ret;
		}
	}
	tp_tune(c->run, NULL);
	return last;
}

/**
 * tp_measure - measure all variants of a case, or count their events
 * @c: the case, complete
 *
 * Errors are recorded in the rows.
 *
 * Returns: 0, or the last error
 */
int tp_measure(struct tp_case *c)
{
	static uint64_t times[TP_MAX_ARMS][TP_MAX_TURNS * TP_MAX_OPS];
	struct tp_row *rows[TP_MAX_ARMS];
	struct tp_run *run = c->run;
	static uint64_t seed;
	unsigned int a, n;
	int ret, last = 0;

	if (run->events)
		return count_events(c);
	tp_progress(run, c->kind, c->placement->name, c->bytes);
	for (a = 0; a < c->arm_count; a++)
		rows[a] = tp_row(run, c->kind, c->placement, &c->arms[a],
				 c->bytes, c->units);
	for (n = 0; n < run->turns; n++) {
		if (!c->fixed)
			run->user = run->memory + n * 4096 + TP_USER_SHIFT;
		for (a = 0; a < c->arm_count; a++) {
			if (rows[a]->error[0])
				continue;
			ret = turn(c, &c->arms[a], rows[a],
				   &times[a][n * c->ops], seed++);
			if (ret)
				last = ret;
		}
	}
	for (a = 0; a < c->arm_count; a++) {
		tp_row_times(rows[a], times[a], rows[a]->turns * c->ops);
		tp_row_paths(rows[a], &c->arms[a]);
		if (!run->options->profile || rows[a]->error[0])
			continue;
		ret = tp_profile(c, &c->arms[a], rows[a]);
		if (ret) {
			fail(rows[a], "profile", ret);
			last = ret;
		}
	}
	run->user = run->memory + TP_USER_SHIFT;
	tp_tune(run, NULL);
	return last;
}

/**
 * tp_case_bo - make the BO of a case, and its helper
 * @c: the case; the rest of it is filled in
 * @size: bytes
 */
int tp_case_bo(struct tp_case *c, uint64_t size)
{
	int fd = c->run->dev.fd, ret;

	c->map = c->helper_map = NULL;
	c->helper = 0;
	c->size = size;
	ret = bench_gem_create(fd, size, c->placement->domain,
			       c->placement->flags, &c->handle);
	/* The driver may be clearing it. */
	if (!ret)
		ret = bench_gem_wait(fd, c->handle);
	if (ret)
		return ret;
	if (!c->placement->hidden)
		return bench_gem_mmap(fd, c->handle, size, &c->map);

	ret = bench_gem_create(fd, size, RADEON_GEM_DOMAIN_GTT, 0, &c->helper);
	if (ret)
		return ret;
	return bench_gem_mmap(fd, c->helper, size, &c->helper_map);
}

/**
 * tp_case_fini - release what tp_case_bo() made
 * @c: the case
 */
void tp_case_fini(struct tp_case *c)
{
	int fd = c->run->dev.fd;

	if (c->map)
		munmap(c->map, c->size);
	if (c->helper_map)
		munmap(c->helper_map, c->size);
	if (c->helper)
		bench_gem_close(fd, c->helper);
	if (c->handle)
		bench_gem_close(fd, c->handle);
	c->handle = c->helper = 0;
	c->map = c->helper_map = NULL;
}
