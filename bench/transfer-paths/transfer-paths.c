// SPDX-License-Identifier: MIT
/*
 * transfer-paths: options and plan of a run; see transfer-paths.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench-options.h"
#include "transfer-paths.h"

static const struct {
	const char *name;
	void (*measure)(struct tp_run *run);
	bool transfer, staging, extra;
} kinds[] = {
	{ "single", tp_single, false, false, false },
	{ "steps", tp_ladder, false, false, false },
	{ "glyphs", tp_glyphs, true, false, false },
	{ "busy", tp_busy, false, true, false },
	/* Run only if they are asked for: their rows have the names of the others'. */
	{ "alternatives", tp_alternatives, true, false, true },
	{ "bus", tp_bus, false, false, true },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char *take_only(void *data, const char *text)
{
	struct tp_options *o = data;
	unsigned int i;

	for (i = 0; i < KINDS && strcmp(kinds[i].name, text); i++)
		;
	o->only = text;
	return i < KINDS ? NULL : "no such kind";
}

static void parse(struct tp_options *o, int argc, char **argv)
{
	const struct bench_option options[] = {
		{ .name = "json", .argument = "FILE", .text = &o->json,
		  .help = "write the results there" },
		{ .name = "quick", .flag = &o->quick,
		  .help = "up to 1 MiB, with few samples" },
		{ .name = "count", .flag = &o->count, .help = BENCH_COUNT_HELP },
		{ .name = "profile", .flag = &o->profile,
		  .help = "find out in which functions the time goes, by sampling" },
		{ .name = "only", .argument = "KIND", .take = take_only, .data = o,
		  .help = "single, steps, glyphs or busy; or alternatives,\n"
			  "which are ways without PREAD and PWRITE; or bus, what\n"
			  "the CPU's accesses to VRAM cost" },
		{ .name = "verbose", .flag = &o->verbose,
		  .help = "say on stderr what is being measured" },
		{ 0 }
	};
	const struct bench_program program = {
		.name = "transfer-paths",
		.line = "[OPTION...]",
		.options = options,
		.end =
		"Exit status: 0 if all was measured; 1 if contents were wrong, or the driver\n"
		"took another path than the one to be measured, or something failed; 2 for a\n"
		"bad command line or a clock that does not count; 77 without a radeon device\n"
		"that has PREAD and PWRITE, or without access to parameters and debugfs.\n",
	};

	bench_options(&program, argc, argv);
}

static uint8_t *memory(void)
{
	const size_t size = TP_USER_BYTES + (TP_MAX_TURNS + 1) * 4096;
	void *ptr = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (ptr == MAP_FAILED)
		return NULL;
	/* Whether the kernel finds huge pages is a matter of chance, so use none. */
	madvise(ptr, size, MADV_NOHUGEPAGE);
	memset(ptr, 1, size);
	return ptr;
}

static unsigned int failures(const struct tp_run *run)
{
	unsigned int i, n = 0;

	for (i = 0; i < run->row_count; i++) {
		const struct tp_row *row = &run->rows[i];

		if (!row->error[0])
			continue;
		fprintf(stderr, "transfer-paths: %s, %s, %llu bytes, %s: %s\n",
			row->kind, row->placement,
			(unsigned long long)row->bytes, row->arm, row->error);
		n++;
	}
	return n;
}

int main(int argc, char **argv)
{
	static struct tp_run run;
	struct tp_options options = { 0 };
	unsigned int i;
	int ret;

	parse(&options, argc, argv);
	run.options = &options;
	run.start = bench_now();
	run.turns = options.quick || options.count ? 3 : 9;
	run.clock = options.count ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
	run.clock_cost = bench_clock_cost(run.clock);
	if (bench_open(&run.dev) || !run.dev.has_rw) {
		fprintf(stderr, "transfer-paths: no radeon device with PREAD and PWRITE\n");
		return 77;
	}
	ret = tp_counters_init(&run);
	if (ret) {
		fprintf(stderr, "transfer-paths: the driver's parameters and counters: %s\n",
			strerror(-ret));
		return 77;
	}
	if (options.count && !bench_counts_instructions(run.clock)) {
		fprintf(stderr, "transfer-paths: CPU time does not count instructions here\n");
		return 2;
	}
	run.memory = memory();
	run.scratch = memory();
	if (!run.memory || !run.scratch) {
		perror("transfer-paths: memory");
		return 1;
	}
	run.user = run.memory + TP_USER_SHIFT;
	run.write_combined = tp_is_write_combined(&run);

	for (i = 0; i < KINDS; i++) {
		if ((options.only && strcmp(options.only, kinds[i].name)) ||
		    (kinds[i].extra && !options.only) ||
		    (kinds[i].transfer && !run.dev.has_transfer) ||
		    (kinds[i].staging && (options.count || !run.has_board ||
					  !run.dev.has_staging)))
			continue;
		kinds[i].measure(&run);
	}
	tp_tune_reset(&run);

	if (options.json) {
		ret = tp_write_json(&run, options.json);
		if (ret) {
			fprintf(stderr, "transfer-paths: cannot write %s: %s\n",
				options.json, strerror(-ret));
			return 1;
		}
	}
	return failures(&run) ? 1 : 0;
}
