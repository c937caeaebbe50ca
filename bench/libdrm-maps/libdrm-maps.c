// SPDX-License-Identifier: MIT
/*
 * Measures what it costs to map BOs again and again through libdrm_radeon, and
 * how many maps are left. The program is linked with Debian's library and uses
 * only its functions; with LD_LIBRARY_PATH it runs with another library, and
 * check.py compares the two.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <radeon_bo.h>
#include <radeon_bo_gem.h>

#include "radeon_drm.h"

#include "bench-json.h"
#include "bench-options.h"

#define BO_BYTES 4096u
/* Operations are timed in batches, so that reading the clock hardly counts. */
#define BATCH 512u
#define TURNS 21u
#define WORDS (BO_BYTES / 4)
/* BOs before the first measurement. */
#define FEW 4096u

/**
 * struct row - one measurement
 * @name: "hot": a set of BOs is mapped and unmapped in turn; "once": each new BO
 *	is made, mapped, written and unmapped
 * @bos: BOs in the set; for "once", BOs that are live in the end
 * @others: other live BOs, each of which has been mapped before
 * @op: cost for one BO: ns, or instructions with --count; spread over batches
 * @maps: mappings of the process beyond those it started with
 */
struct row {
	const char *name;
	unsigned int bos, others;
	struct bench_stat op;
	unsigned int maps;
};

static const unsigned int sets[] = { 1, 16, 256, 1024, 4096 };
#define SETS (sizeof(sets) / sizeof(sets[0]))

static struct row rows[2 * SETS + 1];
static unsigned int row_count;
static unsigned int bo_count = 100000, live;
static struct radeon_bo_manager *manager;
static struct radeon_bo **bos;
/* @maps_at_end: with all BOs live, before JSON output adds maps of its own. */
static unsigned int maps_at_start, maps_at_end;
static uint32_t domain = RADEON_GEM_DOMAIN_VRAM;
static clockid_t clock_id = CLOCK_MONOTONIC;
static char error[120];

static bool failed(const char *what, int ret)
{
	if (ret)
		snprintf(error, sizeof(error), "%s: %s with %u live BOs", what,
			 strerror(-ret), live);
	return ret;
}

/* The contents of a BO's first word; each further word is one more. */
static uint32_t first_word(unsigned int i)
{
	return i * 0x9e3779b1u + 1;
}

static bool make(unsigned int i)
{
	errno = 0;
	bos[i] = radeon_bo_open(manager, 0, BO_BYTES, 4096, domain, 0);
	if (!bos[i])
		return !failed("radeon_bo_open", errno ? -errno : -ENOMEM);
	live++;
	return true;
}

/* Writes all of a BO and unmaps it; the library may keep its map. */
static bool fill(unsigned int i)
{
	uint32_t *words, k;

	if (failed("radeon_bo_map", radeon_bo_map(bos[i], 1)))
		return false;
	words = bos[i]->ptr;
	for (k = 0; k < WORDS; k++)
		words[k] = first_word(i) + k;
	return !failed("radeon_bo_unmap", radeon_bo_unmap(bos[i]));
}

static bool check(unsigned int i)
{
	uint32_t *words, k;

	if (failed("radeon_bo_map", radeon_bo_map(bos[i], 0)))
		return false;
	words = bos[i]->ptr;
	for (k = 0; k < WORDS && words[k] == first_word(i) + k; k++)
		;
	if (k < WORDS) {
		snprintf(error, sizeof(error), "contents: BO %u is wrong", i);
		return false;
	}
	return !failed("radeon_bo_unmap", radeon_bo_unmap(bos[i]));
}

static struct row *add_row(const char *name, unsigned int count,
			   uint64_t *times, unsigned int n)
{
	struct row *row = &rows[row_count++];

	*row = (struct row) {
		.name = name,
		.bos = count,
		.others = live - count,
		.op = bench_spread(times, n),
		.maps = bench_count_maps() - maps_at_start,
	};
	return row;
}

/* Maps, writes and unmaps the @count newest BOs in turn, and adds a row. */
static bool hot(unsigned int count)
{
	uint64_t times[TURNS], t;
	unsigned int turn, i, ops = count > BATCH ? count : BATCH;
	struct radeon_bo *bo;

	for (turn = 0; turn < TURNS + 2; turn++) {
		t = bench_clock(clock_id);
		for (i = 0; i < ops; i++) {
			bo = bos[live - 1 - i % count];
			if (failed("radeon_bo_map", radeon_bo_map(bo, 1)))
				return false;
			*(volatile uint32_t *)bo->ptr =
				first_word(live - 1 - i % count);
			radeon_bo_unmap(bo);
		}
		/* The first two turns are for warming up. */
		if (turn >= 2)
			times[turn - 2] = (bench_clock(clock_id) - t) / ops;
	}
	add_row("hot", count, times, TURNS);
	return true;
}

static bool hot_sets(void)
{
	unsigned int i;

	for (i = 0; i < SETS; i++)
		if (!hot(sets[i]))
			return false;
	return true;
}

static bool once(unsigned int n, uint64_t *times)
{
	unsigned int i, batches = 0;
	uint64_t t = bench_clock(clock_id), now;

	for (i = live; i < n; i++) {
		if (!make(i) || !fill(i))
			return false;
		if (live % BATCH)
			continue;
		now = bench_clock(clock_id);
		times[batches++] = (now - t) / BATCH;
		t = now;
	}
	if (batches)
		add_row("once", n, times, batches);
	return true;
}

static void run(void)
{
	uint64_t *times = calloc(bo_count / BATCH + 1, sizeof(*times));
	unsigned int i, step;

	bos = calloc(bo_count, sizeof(*bos));
	if (!bos || !times) {
		failed("calloc", -ENOMEM);
		return;
	}
	maps_at_start = bench_count_maps();
	for (i = 0; i < FEW; i++)
		if (!make(i) || !fill(i))
			return;
	if (!hot_sets() || (bo_count > FEW && !once(bo_count, times)))
		return;
	if (bo_count > FEW && !hot_sets())
		return;
	/* Check one BO in each step, and all after the last step. */
	step = live / 500 + 1;
	for (i = 0; i < live; i += i + step < live ? step : 1)
		if (!check(i))
			return;
}

static void print(FILE *out)
{
	unsigned int i;

	fprintf(out, "%-5s %7s %8s %10s %10s %7s\n", "", "BOs", "others",
		"median", "p90", "maps");
	for (i = 0; i < row_count; i++)
		fprintf(out, "%-5s %7u %8u %10llu %10llu %7u\n", rows[i].name,
			rows[i].bos, rows[i].others,
			(unsigned long long)rows[i].op.median,
			(unsigned long long)rows[i].op.p90, rows[i].maps);
	fprintf(out, "%u BOs live, %u maps%s%s\n", live,
		maps_at_end, error[0] ? "; " : "", error);
}

static int write_json(const char *path, const struct bench_device *dev,
		      const char *library)
{
	struct json_object *root = json_object_new_object(), *row;
	struct json_object *env = bench_json_environment(dev);
	struct json_object *list = json_object_new_array();
	unsigned int i;

	bench_json_add_string(root, "benchmark", "libdrm-maps");
	bench_json_add_string(env, "library", library);
	bench_json_add_string(env, "domain",
			      domain == RADEON_GEM_DOMAIN_GTT ? "gtt" : "vram");
	bench_json_add_string(env, "unit",
			      clock_id == CLOCK_MONOTONIC ? "ns" : "instructions");
	json_object_object_add(root, "environment", env);
	for (i = 0; i < row_count; i++) {
		row = json_object_new_object();
		bench_json_add_string(row, "name", rows[i].name);
		bench_json_add_number(row, "bos", rows[i].bos);
		bench_json_add_number(row, "others", rows[i].others);
		bench_json_add_number(row, "median", rows[i].op.median);
		bench_json_add_number(row, "p10", rows[i].op.p10);
		bench_json_add_number(row, "p90", rows[i].op.p90);
		bench_json_add_number(row, "maps", rows[i].maps);
		json_object_array_add(list, row);
	}
	json_object_object_add(root, "rows", list);
	bench_json_add_number(root, "live", live);
	bench_json_add_number(root, "maps", maps_at_end);
	bench_json_add_string(root, "error", error);
	return bench_json_write(path, root);
}

int main(int argc, char **argv)
{
	bool gtt = false, count = false;
	const char *json = NULL;
	const struct bench_option options[] = {
		{ .name = "bos", .argument = "N", .number = &bo_count, .least = FEW,
		  .most = 10000000,
		  .help = "BOs that are live in the end (default: 100000; at least 4096)" },
		{ .name = "gtt", .flag = &gtt,
		  .help = "BOs in GTT, not in VRAM: slower to make" },
		{ .name = "count", .flag = &count, .help = BENCH_COUNT_HELP },
		{ .name = "json", .argument = "FILE", .text = &json,
		  .help = "write the results there" },
		{ 0 }
	};
	const struct bench_program program = {
		.name = "libdrm-maps",
		.line = "[OPTION...]",
		.options = options,
		.end =
		"Times are ns, of one BO mapped and unmapped. Exit status: 0; also where\n"
		"there could be no more maps. 1 if contents were wrong; 2 for a bad command\n"
		"line or a clock that does not count; 77 without a radeon device.\n",
	};
	struct bench_device dev;
	Dl_info info = { 0 };
	int ret;

	bench_options(&program, argc, argv);
	if (gtt)
		domain = RADEON_GEM_DOMAIN_GTT;
	if (count)
		clock_id = CLOCK_THREAD_CPUTIME_ID;
	if (clock_id != CLOCK_MONOTONIC && !bench_counts_instructions(clock_id)) {
		fprintf(stderr, "libdrm-maps: this clock does not count instructions\n");
		return 2;
	}
	if (bench_open(&dev)) {
		fprintf(stderr, "libdrm-maps: no render node of the radeon driver\n");
		return 77;
	}
	manager = radeon_bo_manager_gem_ctor(dev.fd);
	if (!manager || !dladdr((void *)radeon_bo_map, &info)) {
		fprintf(stderr, "libdrm-maps: no libdrm_radeon\n");
		return 1;
	}
	printf("%s\n", info.dli_fname);
	run();
	maps_at_end = bench_count_maps() - maps_at_start;
	print(stdout);
	if (json) {
		ret = write_json(json, &dev, info.dli_fname);
		if (ret) {
			fprintf(stderr, "libdrm-maps: cannot write %s: %s\n",
				json, strerror(-ret));
			return 1;
		}
	}
	/* To run out of maps is a result, not a failure. */
	return error[0] && strncmp(error, "radeon_bo_map: ", 15);
}
