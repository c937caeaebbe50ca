// SPDX-License-Identifier: MIT
/*
 * Raises the limits that thousands of threads meet: those of the system, which
 * are restored at the end, and those of the process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"
#include "threads.h"

/* Allowance for threads of other processes, and for mappings besides stacks. */
#define OTHERS 2000u

static struct threads_limit limits[] = {
	{ "/proc/sys/kernel/threads-max", 0 },
	{ "/proc/sys/kernel/pid_max", 0 },
	/* A stack and its guard page are two maps. */
	{ "/proc/sys/vm/max_map_count", 0 },
};

#define LIMITS (sizeof(limits) / sizeof(*limits))

static bool write_number(const char *path, unsigned long value)
{
	FILE *f = fopen(path, "we");
	bool ok;

	if (!f)
		return false;
	ok = fprintf(f, "%lu\n", value) > 0;
	return !fclose(f) && ok;
}

/**
 * threads_raise_limits - make room for threads
 * @threads: number of threads that are live at once
 *
 * Reports a limit that it cannot raise. The run shows whether that is enough.
 */
void threads_raise_limits(unsigned int threads)
{
	struct rlimit rlimit;
	size_t i;

	for (i = 0; i < LIMITS; i++) {
		unsigned long now = bench_read_number(limits[i].path);
		unsigned long wanted = threads + OTHERS;

		if (strstr(limits[i].path, "map_count"))
			wanted += threads;
		if (now >= wanted)
			continue;
		if (write_number(limits[i].path, wanted))
			limits[i].before = now;
		else
			fprintf(stderr, "threads: %s stays %lu: %s\n",
				limits[i].path, now, strerror(errno));
	}
	if (getrlimit(RLIMIT_NPROC, &rlimit) || rlimit.rlim_cur == RLIM_INFINITY ||
	    rlimit.rlim_cur >= threads + OTHERS)
		return;
	rlimit.rlim_cur = rlimit.rlim_max = RLIM_INFINITY;
	if (!setrlimit(RLIMIT_NPROC, &rlimit))
		return;
	/* Not permitted: raise it as far as the hard limit. */
	getrlimit(RLIMIT_NPROC, &rlimit);
	rlimit.rlim_cur = rlimit.rlim_max;
	setrlimit(RLIMIT_NPROC, &rlimit);
}

/**
 * threads_restore_limits - put the system's limits back
 */
void threads_restore_limits(void)
{
	size_t i;

	for (i = 0; i < LIMITS; i++)
		if (limits[i].before)
			write_number(limits[i].path, limits[i].before);
}

static unsigned long count_lines(const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned long lines = 0;
	int c;

	if (!f)
		return 0;
	while ((c = getc_unlocked(f)) != EOF)
		lines += c == '\n';
	fclose(f);
	return lines;
}

/* The limit of tasks of this process's control group, 0 if there is none. */
static unsigned long group_limit(void)
{
	char line[400], path[500];

	if (!bench_read_line("/proc/self/cgroup", line, sizeof(line)) ||
	    strncmp(line, "0::", 3))
		return 0;
	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/pids.max", line + 3);
	return bench_read_number(path);
}

/**
 * threads_limit_reached - find the limit that ended the creation of threads
 * @live: threads of this process
 *
 * Returns: the name of the limit
 */
const char *threads_limit_reached(unsigned int live)
{
	unsigned long group = group_limit();
	struct rlimit rlimit;

	/* One mmap() may add two mappings. */
	if (count_lines("/proc/self/maps") + 3 >= bench_read_number(limits[2].path))
		return "vm.max_map_count";
	if (live + OTHERS >= bench_read_number(limits[0].path))
		return "kernel.threads-max";
	if (live + OTHERS >= bench_read_number(limits[1].path))
		return "kernel.pid_max";
	if (!getrlimit(RLIMIT_NPROC, &rlimit) && live >= rlimit.rlim_cur / 2)
		return "RLIMIT_NPROC";
	if (group && live + OTHERS >= group)
		return "pids.max of the control group";
	return "memory, or a limit that is not known here";
}
