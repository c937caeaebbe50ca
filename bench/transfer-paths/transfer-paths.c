// SPDX-License-Identifier: MIT
/*
 * transfer-paths: options and plan of a run; see transfer-paths.h.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "transfer-paths.h"

static const struct {
	const char *name;
	void (*measure)(struct tp_run *run);
	bool transfer, staging;
} kinds[] = {
	{ "single", tp_single, false, false },
	{ "steps", tp_ladder, false, false },
	{ "glyphs", tp_glyphs, true, false },
	{ "busy", tp_busy, false, true },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void usage(FILE *out)
{
	fprintf(out,
		"usage: transfer-paths [OPTION...]\n"
		"\n"
		"  --json FILE  write the results there\n"
		"  --quick      up to 1 MiB, with few samples\n"
		"  --count      count instructions: for machines whose clock goes on by 1 ns\n"
		"               with each of them (lab/run --accel icount --smp 1)\n"
		"  --profile    find out in which functions the time goes, by sampling\n"
		"  --only KIND  single, steps, glyphs or busy\n"
		"  --verbose    say on stderr what is being measured\n"
		"\n"
		"Exit status: 0 if all was measured; 1 if contents were wrong, or the driver\n"
		"took another path than the one to be measured, or something failed; 2 for a\n"
		"bad command line or a clock that does not count; 77 without a radeon device\n"
		"that has PREAD and PWRITE, or without access to parameters and debugfs.\n");
}

static void parse(struct tp_options *o, int argc, char **argv)
{
	enum { JSON, QUICK, COUNT, PROFILE, ONLY, VERBOSE, HELP };
	static const struct option options[] = {
		{ "json", required_argument, NULL, JSON },
		{ "quick", no_argument, NULL, QUICK },
		{ "count", no_argument, NULL, COUNT },
		{ "profile", no_argument, NULL, PROFILE },
		{ "only", required_argument, NULL, ONLY },
		{ "verbose", no_argument, NULL, VERBOSE },
		{ "help", no_argument, NULL, HELP },
		{ 0 }
	};
	unsigned int i;
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (opt) {
		case JSON:
			o->json = optarg;
			break;
		case QUICK:
			o->quick = true;
			break;
		case COUNT:
			o->count = true;
			break;
		case PROFILE:
			o->profile = true;
			break;
		case ONLY:
			o->only = optarg;
			for (i = 0; i < KINDS && strcmp(kinds[i].name, optarg);
			     i++)
				;
			if (i < KINDS)
				break;
			fprintf(stderr, "transfer-paths: no kind '%s'\n",
				optarg);
			exit(2);
		case VERBOSE:
			o->verbose = true;
			break;
		case HELP:
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "transfer-paths: bad argument: %s\n",
			argv[optind]);
		exit(2);
	}
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
