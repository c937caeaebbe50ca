// SPDX-License-Identifier: MIT
/*
 * Clocks, medians, files of the kernel, and JSON.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench.h"

uint64_t bench_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

uint64_t bench_now(void)
{
	return bench_clock(CLOCK_MONOTONIC);
}

/**
 * bench_clock_cost - measure what reading a clock costs
 * @clock: clock to read
 *
 * Returns: the shortest time between two readings, in ns
 */
uint64_t bench_clock_cost(clockid_t clock)
{
	uint64_t best = UINT64_MAX, t;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		t = bench_clock(clock);
		t = bench_clock(clock) - t;
		if (t < best)
			best = t;
	}
	return best;
}

/**
 * bench_counts_instructions - does a clock advance by 1 ns an instruction?
 * @clock: clock of the thread's CPU time; it does under lab/run --accel icount
 *
 * Times a loop of known length. The best of five runs counts, as timer
 * interrupts lengthen some. Prints the time to stderr.
 */
bool bench_counts_instructions(clockid_t clock)
{
#ifdef __x86_64__
	const uint64_t turns = 1000000, cost = bench_clock_cost(clock);
	uint64_t best = UINT64_MAX, t, n;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		n = turns;
		t = bench_clock(clock);
		__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r" (n) : : "cc");
		t = bench_clock(clock) - t - cost;
		if (t < best)
			best = t;
	}
	fprintf(stderr, "%llu instructions took %llu ns of CPU time\n",
		2ull * turns, (unsigned long long)best);
	return best > 2 * turns * 999 / 1000 && best < 2 * turns * 1001 / 1000;
#else
	(void)clock;
	return false;
#endif
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/**
 * bench_spread - median and percentiles
 * @times: samples; they are sorted in place
 * @n: number of samples, at least one
 */
struct bench_stat bench_spread(uint64_t *times, unsigned int n)
{
	qsort(times, n, sizeof(*times), compare_u64);
	return (struct bench_stat) {
		.median = times[n / 2],
		.p10 = times[n / 10],
		.p25 = times[n / 4],
		.p75 = times[n - 1 - n / 4],
		.p90 = times[n - 1 - n / 10],
	};
}

/**
 * bench_read_line - read the first line of a file
 * @path: file
 * @line: filled in, without line feed
 * @size: size of @line
 *
 * Returns: whether there is one
 */
bool bench_read_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(line, size, f);

	if (f)
		fclose(f);
	if (ok)
		line[strcspn(line, "\n")] = 0;
	return ok;
}

unsigned long bench_read_number(const char *path)
{
	char line[64];

	return bench_read_line(path, line, sizeof(line)) ? strtoul(line, NULL, 0) :
							0;
}

/**
 * bench_field - number after a word at the start of a line
 * @path: file, like /proc/meminfo or /proc/slabinfo
 * @name: the word, with its colon
 *
 * Returns: the number, 0 if there is none
 */
unsigned long bench_field(const char *path, const char *name)
{
	FILE *f = fopen(path, "re");
	unsigned long value = 0;
	char line[512];

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, strlen(name)))
			continue;
		value = strtoul(line + strlen(name), NULL, 10);
		break;
	}
	fclose(f);
	return value;
}

/**
 * bench_count_maps - mappings of this process
 *
 * Reads into a static buffer, so that counting adds no mapping.
 *
 * Returns: lines of /proc/self/maps
 */
unsigned int bench_count_maps(void)
{
	static char buf[1 << 16];
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned int lines = 0;
	size_t n, i;

	if (!f)
		return 0;
	setvbuf(f, NULL, _IONBF, 0);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		for (i = 0; i < n; i++)
			lines += buf[i] == '\n';
	fclose(f);
	return lines;
}

/**
 * bench_output_open - open a file for writing, under a temporary name
 * @out: filled in
 * @path: final name; the string must live as long as @out
 */
int bench_output_open(struct bench_output *out, const char *path)
{
	int ret;

	out->file = NULL;
	out->path = path;
	if (asprintf(&out->aside, "%s.new", path) < 0)
		return -ENOMEM;
	out->file = fopen(out->aside, "we");
	if (!out->file) {
		ret = -errno;
		free(out->aside);
		return ret;
	}
	return 0;
}

/**
 * bench_output_close - close a file and rename it to its final name
 * @out: what bench_output_open() filled in
 *
 * Returns: 0, or a negative errno; then the new file is removed.
 */
int bench_output_close(struct bench_output *out)
{
	int ret = 0;

	if (fflush(out->file) || ferror(out->file))
		ret = errno ? -errno : -EIO;
	if (fclose(out->file) && !ret)
		ret = -errno;
	if (!ret && rename(out->aside, out->path))
		ret = -errno;
	if (ret)
		unlink(out->aside);
	free(out->aside);
	return ret;
}

/**
 * bench_json_string - write a JSON string
 * @f: stream
 * @text: contents; control characters are left out
 *
 * For the programs of kernel/mm, which measure their own address space: json-c's
 * allocations would change it. All others use json.c.
 */
void bench_json_string(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		if ((unsigned char)*text >= ' ')
			fputc(*text, f);
	}
	fputc('"', f);
}
