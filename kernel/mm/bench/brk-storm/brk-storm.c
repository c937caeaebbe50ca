// SPDX-License-Identifier: MIT
/*
 * brk-storm: options, plan, JSON; see brk-storm.h.
 *
 * Variants that are compared take turns, each in a new process, so that no heap
 * is older than its turn.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench.h"
#include "bench-options.h"
#include "brk-storm.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MAX_TURNS 15u
#define MAX_SAMPLES (64u * BRK_LAYOUTS)

static const char *const heap_names[BRK_HEAPS] = { "new", "own", "inherited" };
static const char *const op_names[BRK_OPS] = { "grow", "touch", "shrink", "same" };

static struct {
	const char *json;
	bool cost, load, count, parts, quick;
} options;

static FILE *out;
static bool first;
static uint64_t verified;

/* ---- one step ---- */

struct cost_case {
	enum brk_heap heap;
	unsigned int pages;
	bool touch;
};

/* glibc's malloc() grows by 33 pages for 4 KiB, and trims them (M_TOP_PAD). */
static const struct cost_case cases[] = {
	{ BRK_HEAP_NEW, 1, false }, { BRK_HEAP_NEW, 1, true },
	{ BRK_HEAP_OWN, 1, false }, { BRK_HEAP_OWN, 1, true },
	{ BRK_HEAP_OWN, 4, false }, { BRK_HEAP_OWN, 4, true },
	{ BRK_HEAP_OWN, 33, false }, { BRK_HEAP_OWN, 33, true },
	{ BRK_HEAP_OWN, 256, false }, { BRK_HEAP_OWN, 256, true },
	{ BRK_HEAP_INHERITED, 1, false }, { BRK_HEAP_INHERITED, 1, true },
	{ BRK_HEAP_INHERITED, 33, true },
};

static int failed(const char *what, int ret)
{
	fprintf(stderr, "brk-storm: %s: %s: %s\n", what,
		brk_shared->where[0] ? brk_shared->where : "failed", strerror(-ret));
	return ret;
}

static struct brk_cost cost_of(const struct cost_case *c, enum brk_op profile)
{
	return (struct brk_cost) {
		.heap = c->heap,
		.pages = c->pages,
		.touch = c->touch,
		/* At most 16 MiB at once. */
		.steps = c->pages > 64 ? 16 : 64,
		.clock = options.count ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC,
		.profile = profile,
	};
}

struct cost_samples {
	uint64_t ns[MAX_SAMPLES];
	unsigned int n;
	uint64_t layouts[BRK_LAYOUTS];	/* medians */
};

static void cost_row(const struct cost_case *c, enum brk_op op,
		     struct cost_samples *samples)
{
	struct bench_stat s = bench_spread(samples->ns, samples->n);
	uint64_t layouts[BRK_LAYOUTS];
	unsigned int i;

	memcpy(layouts, samples->layouts, sizeof(layouts));
	bench_spread(layouts, BRK_LAYOUTS);
	printf("%-9s %3u pages %-9s %-6s %7llu %s (by layout %llu to %llu)\n",
	       heap_names[c->heap], c->pages, c->touch ? "touched" : "untouched",
	       op_names[op], (unsigned long long)s.median,
	       options.count ? "instructions" : "ns",
	       (unsigned long long)layouts[0],
	       (unsigned long long)layouts[BRK_LAYOUTS - 1]);
	if (!out)
		return;
	fprintf(out, "%s    {\"heap\": \"%s\", \"pages\": %u, \"touched\": %s, \"op\": \"%s\", \"samples\": %u, \"median\": %llu, \"p10\": %llu, \"p25\": %llu, \"p75\": %llu, \"p90\": %llu, \"layouts\": [",
		first ? "" : ",\n", heap_names[c->heap], c->pages,
		c->touch ? "true" : "false", op_names[op], samples->n,
		(unsigned long long)s.median, (unsigned long long)s.p10,
		(unsigned long long)s.p25, (unsigned long long)s.p75,
		(unsigned long long)s.p90);
	for (i = 0; i < BRK_LAYOUTS; i++)
		fprintf(out, "%s%llu", i ? ", " : "",
			(unsigned long long)samples->layouts[i]);
	fprintf(out, "]}");
	first = false;
}

static void keep_samples(struct cost_samples *to, enum brk_op op,
			 unsigned int layout, uint64_t clock_cost)
{
	const unsigned int n = brk_shared->counts[op];
	uint64_t *ns = brk_shared->ns[op];
	unsigned int k;

	if (!n)
		return;
	for (k = 0; k < n; k++) {
		/* Each sample contains it; a sample cannot get below 0. */
		ns[k] -= ns[k] < clock_cost ? ns[k] : clock_cost;
		if (to->n < MAX_SAMPLES)
			to->ns[to->n++] = ns[k];
	}
	to->layouts[layout] = bench_spread(ns, n).median;
}

static int run_costs(void)
{
	static struct cost_samples samples[ARRAY_SIZE(cases)][BRK_OPS];
	struct brk_cost cost = cost_of(&cases[0], BRK_OPS);
	const uint64_t clock_cost = bench_clock_cost(cost.clock);
	unsigned int layout, i, op;
	int ret;

	for (layout = 0; layout < BRK_LAYOUTS; layout++) {
		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			cost = cost_of(&cases[i], BRK_OPS);
			cost.fillers = layout;
			/* Enough for a median: some steps free page tables. */
			if (options.quick)
				cost.steps = 8;
			ret = brk_run_cost(&cost);
			if (ret)
				return failed("cost", ret);
			verified += brk_shared->verified;
			for (op = 0; op < BRK_OPS; op++)
				keep_samples(&samples[i][op], op, layout, clock_cost);
		}
	}
	if (out)
		fprintf(out, ",\n  \"clock_cost\": %llu,\n  \"cost\": [\n",
			(unsigned long long)clock_cost);
	first = true;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (op = 0; op < BRK_OPS; op++) {
			if (samples[i][op].n)
				cost_row(&cases[i], op, &samples[i][op]);
		}
	}
	if (out)
		fprintf(out, "\n  ]");
	return 0;
}

/* ---- what a step consists of ---- */

static void parts_row(const struct cost_case *c, enum brk_op op, unsigned int layout,
		      int samples, const struct brk_part *parts, unsigned int n)
{
	unsigned int k;

	if (!out)
		return;
	fprintf(out, "%s    {\"heap\": \"%s\", \"pages\": %u, \"touched\": %s, \"op\": \"%s\", \"layout\": %u, \"samples\": %d, \"functions\": {",
		first ? "" : ",\n", heap_names[c->heap], c->pages,
		c->touch ? "true" : "false", op_names[op], layout, samples);
	for (k = 0; k < n; k++)
		fprintf(out, "%s\n      \"%s\": [%u, %u]", k ? "," : "",
			parts[k].name, parts[k].inclusive, parts[k].self);
	fprintf(out, "}}");
	first = false;
}

static int run_parts(void)
{
	static struct brk_part parts[BRK_PARTS];
	static const struct cost_case which[] = {
		{ BRK_HEAP_OWN, 1, false }, { BRK_HEAP_OWN, 1, true },
		{ BRK_HEAP_OWN, 33, true }, { BRK_HEAP_INHERITED, 1, false },
	};
	static const enum brk_op ops[] = { BRK_GROW, BRK_SHRINK };
	unsigned int i, o, n, layout;
	struct brk_cost cost;
	int ret;

	if (out)
		fprintf(out, ",\n  \"parts\": [\n");
	first = true;
	for (i = 0; i < ARRAY_SIZE(which); i++) {
		for (o = 0; o < ARRAY_SIZE(ops); o++) {
			for (layout = 0; layout < BRK_LAYOUTS; layout += options.quick ? 8 : 4) {
				cost = cost_of(&which[i], ops[o]);
				cost.fillers = layout;
				cost.steps = which[i].pages == 1 ? BRK_MAX_STEPS : 256;
				ret = brk_run_cost(&cost);
				if (ret)
					return failed("parts", ret);
				ret = brk_parts(parts, &n);
				if (ret < 0)
					return failed("parts", ret);
				parts_row(&which[i], ops[o], layout, ret, parts, n);
			}
		}
	}
	if (out)
		fprintf(out, "\n  ]");
	return 0;
}

/* ---- children that do jobs ---- */

static int one_load(const struct brk_load *load, double *jobs_per_minute)
{
	unsigned int i;
	int ret = brk_load_begin(load), end;

	if (!ret) {
		brk_shared->go = 1;
		usleep(load->ms * 1000);
	}
	end = brk_load_end();
	if (ret || end)
		return ret ? ret : end;
	*jobs_per_minute = 0;
	/* Each child has its own time, which ends with its last job. */
	for (i = 0; i < load->children; i++)
		*jobs_per_minute += 60e9 * brk_shared->jobs[i] / brk_shared->job_ns[i];
	verified += brk_shared->verified;
	return 0;
}

static void waits_json(const struct brk_wait *waits, unsigned int n)
{
	unsigned int i;

	fprintf(out, ", \"waits\": [");
	for (i = 0; i < n && i < 12; i++)
		fprintf(out, "%s\n      {\"site\": \"%s\", \"context\": \"%s\", \"count\": %llu, \"ns\": %llu}",
			i ? "," : "", waits[i].site, waits[i].context,
			(unsigned long long)waits[i].count,
			(unsigned long long)waits[i].ns);
	fprintf(out, "]");
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Loads that are compared with each other, on the same number of CPUs. */
#define PER_CPU 2u
#define LOADS (2u * PER_CPU * 2u)

static struct brk_load load_of(unsigned int number, unsigned int cpus)
{
	static const unsigned int per_cpu[PER_CPU] = { 1, 4 };

	return (struct brk_load) {
		.heap = number % 2 ? BRK_HEAP_INHERITED : BRK_HEAP_NEW,
		.cpus = cpus,
		.children = cpus * per_cpu[number / 2 % PER_CPU],
		.forked = number / 2 / PER_CPU,
		.ms = options.quick ? 200 : 400,
	};
}

/* Runs the load once more with lock events, which take time; writes its row. */
static int load_row(const struct brk_load *load, double *jobs, unsigned int turns)
{
	static struct brk_wait waits[BRK_WAITS];
	unsigned int n = 0, i;
	uint64_t lost, total = 0;
	double traced;
	int ret, end;

	qsort(jobs, turns, sizeof(*jobs), by_value);
	ret = brk_waits_begin(sysconf(_SC_NPROCESSORS_ONLN));
	if (!ret)
		ret = one_load(load, &traced);
	end = brk_waits_end(waits, &n, &lost);
	if (ret || end)
		return failed("lock events", ret ? ret : end);
	for (i = 0; i < n; i++)
		total += waits[i].ns;
	printf("%u CPUs, %3u children, %-9s heap, %s: %9.0f jobs/min (%.0f to %.0f), waiting for locks %.2f %% of their time\n",
	       load->cpus, load->children, heap_names[load->heap],
	       load->forked ? "a process each job" : "long-lived        ",
	       jobs[turns / 2], jobs[0], jobs[turns - 1],
	       100.0 * total / load->ms / 1e6 / load->children);
	if (!out)
		return 0;
	fprintf(out, "%s    {\"heap\": \"%s\", \"cpus\": %u, \"children\": %u, \"forked\": %s, \"turns\": %u, \"jobs_per_minute\": %.0f, \"min\": %.0f, \"max\": %.0f, \"traced_jobs_per_minute\": %.0f, \"traced_ns\": %llu, \"events_lost\": %llu",
		first ? "" : ",\n", heap_names[load->heap], load->cpus,
		load->children, load->forked ? "true" : "false", turns,
		jobs[turns / 2], jobs[0], jobs[turns - 1], traced,
		load->ms * 1000000ull, (unsigned long long)lost);
	waits_json(waits, n);
	fprintf(out, "}");
	first = false;
	return 0;
}

static int run_loads(void)
{
	static double jobs[LOADS][MAX_TURNS];
	const unsigned int turns = options.quick ? 1 : 5;
	unsigned int online = sysconf(_SC_NPROCESSORS_ONLN), cpus, turn, i;
	struct brk_load load;
	int ret;

	if (online > BRK_MAX_CPUS)
		online = BRK_MAX_CPUS;
	if (out)
		fprintf(out, ",\n  \"load\": [\n");
	first = true;
	for (cpus = options.quick ? online : 1; cpus <= online; cpus *= 2) {
		for (turn = 0; turn < turns; turn++) {
			for (i = 0; i < LOADS; i++) {
				load = load_of(i, cpus);
				ret = one_load(&load, &jobs[i][turn]);
				if (ret)
					return failed("load", ret);
			}
		}
		for (i = 0; i < LOADS; i++) {
			load = load_of(i, cpus);
			ret = load_row(&load, jobs[i], turns);
			if (ret)
				return ret;
		}
	}
	if (out)
		fprintf(out, "\n  ]");
	return 0;
}

/* ---- */

static void parse(int argc, char **argv)
{
	static bool only_cost, only_load;
	static const struct bench_option table[] = {
		{ .name = "json", .argument = "FILE", .text = &options.json,
		  .help = "write results" },
		{ .name = "cost", .flag = &only_cost, .help = "only what one step costs" },
		{ .name = "load", .flag = &only_load, .help = "only the children that do jobs" },
		{ .name = "count", .flag = &options.count, .help = BENCH_COUNT_HELP "; no jobs" },
		{ .name = "parts", .flag = &options.parts,
		  .help = "sample the functions that a step consists of" },
		{ .name = "quick", .flag = &options.quick, .help = "fewer and shorter turns" },
		{ 0 }
	};
	static const struct bench_program program = {
		.name = "brk-storm",
		.line = "[OPTION...]",
		.options = table,
		.end =
		"Exit status: 0; 1 if the kernel did anything wrong or could not be asked; 2 for\n"
		"a bad command line or a clock that does not count.\n",
	};

	bench_options(&program, argc, argv);
	options.cost = !only_load;
	options.load = !only_cost && !options.count;
	if (!options.cost && !options.load)
		bench_options_bad(&program, only_cost ? "--cost and --load are one or the other" :
				  "--load and --count: jobs are not counted");
}

static void environment(void)
{
	struct utsname uts;

	uname(&uts);
	fprintf(out, "{\n  \"environment\": {\"kernel\": ");
	bench_json_string(out, uts.release);
	fprintf(out, ", \"kernel_build\": ");
	bench_json_string(out, uts.version);
	fprintf(out, ", \"cpus\": %ld, \"memory_mib\": %lu},\n  \"unit\": \"%s\"",
		sysconf(_SC_NPROCESSORS_ONLN),
		bench_field("/proc/meminfo", "MemTotal:") >> 10,
		options.count ? "instructions" : "ns");
}

int main(int argc, char **argv)
{
	struct bench_output file = { };
	int ret;

	brk_place(argv);
	ret = brk_start();
	if (ret) {
		fprintf(stderr, "brk-storm: start: %s\n",
			ret == -EBUSY ? "there is a heap already" : strerror(-ret));
		return 1;
	}
	parse(argc, argv);
	if (options.count && !bench_counts_instructions(CLOCK_THREAD_CPUTIME_ID)) {
		fprintf(stderr, "brk-storm: CPU time does not count instructions here\n");
		return 2;
	}
	if (options.json) {
		ret = bench_output_open(&file, options.json);
		if (ret) {
			fprintf(stderr, "brk-storm: %s: %s\n", options.json, strerror(-ret));
			return 1;
		}
		out = file.file;
		environment();
	}
	if (options.cost)
		ret = run_costs();
	if (!ret && options.parts)
		ret = run_parts();
	if (!ret && options.load)
		ret = run_loads();
	printf("%llu pages held what they had to\n", (unsigned long long)verified);
	if (out) {
		fprintf(out, ",\n  \"verified\": %llu\n}\n", (unsigned long long)verified);
		if (ret)
			unlink(file.aside);
		else
			ret = bench_output_close(&file);
	}
	return ret ? 1 : 0;
}
