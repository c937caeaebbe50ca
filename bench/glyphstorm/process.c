// SPDX-License-Identifier: MIT
/*
 * Looks at a process: its mappings and memory in /proc, and its system calls, which the kernel
 * counts by histograms of its tracepoints (tracefs, CONFIG_HIST_TRIGGERS). Unlike
 * strace, these hardly slow the process down.
 */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "radeon_drm_rw.h"

#include "bench.h"
#include "bench-json.h"

#include "process.h"

#define EVENTS "/sys/kernel/tracing/events/syscalls/sys_enter_"
/* More threads than an X server has, or a client. */
#define THREADS 256u

static const struct {
	const char *event, *keys;
} watched[] = {
	{ "ioctl", "common_pid,cmd" },
	{ "mmap", "common_pid" },
	{ "munmap", "common_pid" },
};

static int threads[THREADS];
static unsigned int thread_count;

/* Names of the driver's ioctls, by number; other numbers are reported as "other". */
static const struct {
	unsigned int number;
	const char *name;
} names[] = {
	{ 0x09, "gem_close" },
	{ DRM_COMMAND_BASE + DRM_RADEON_CS, "cs" },
	{ DRM_COMMAND_BASE + DRM_RADEON_GEM_CREATE, "gem_create" },
	{ DRM_COMMAND_BASE + DRM_RADEON_GEM_MMAP, "gem_mmap" },
	{ DRM_COMMAND_BASE + DRM_RADEON_GEM_PREAD, "gem_pread" },
	{ DRM_COMMAND_BASE + DRM_RADEON_GEM_PWRITE, "gem_pwrite" },
	{ DRM_COMMAND_BASE + DRM_RADEON_GEM_TRANSFER, "gem_transfer" },
	{ DRM_COMMAND_BASE + DRM_RADEON_GEM_WAIT_IDLE, "gem_wait_idle" },
	{ DRM_COMMAND_BASE + DRM_RADEON_GEM_BUSY, "gem_busy" },
	{ DRM_COMMAND_BASE + DRM_RADEON_GEM_SET_DOMAIN, "gem_set_domain" },
};

static int set_trigger(unsigned int i, const char *how)
{
	char path[96], text[96];
	int fd, n, ret = 0;

	snprintf(path, sizeof(path), EVENTS "%s/trigger", watched[i].event);
	n = snprintf(text, sizeof(text), "%shist:keys=%s:size=8192", how, watched[i].keys);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, n) != n)
		ret = errno ? -errno : -EIO;
	close(fd);
	return ret;
}

/**
 * process_unwatch - stop counting, if process_watch() has begun to
 */
void process_unwatch(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
		set_trigger(i, "!");
}

/**
 * process_watch - count all processes' system calls from now on
 *
 * Returns: 0 or a negative errno: -EACCES and -ENOENT if there is no tracefs, or no right to it
 */
int process_watch(void)
{
	unsigned int i;
	int ret;

	/* What a killed run has left would count, too. */
	process_unwatch();
	for (i = 0; i < sizeof(watched) / sizeof(watched[0]); i++) {
		ret = set_trigger(i, "");
		if (ret)
			return ret;
	}
	return 0;
}

static int list_threads(int pid)
{
	struct dirent *entry;
	char path[48];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	thread_count = 0;
	while (thread_count < THREADS && (entry = readdir(dir)))
		if (atoi(entry->d_name) > 0)
			threads[thread_count++] = atoi(entry->d_name);
	closedir(dir);
	return 0;
}

static bool is_thread(int tid)
{
	unsigned int i;

	for (i = 0; i < thread_count; i++)
		if (threads[i] == tid)
			return true;
	return false;
}

/* Adds up a histogram's entries of the listed threads: by @ioctls, or to @sum if that is NULL. */
static int add_up(unsigned int i, uint64_t *ioctls, uint64_t *sum)
{
	unsigned long long hits, drops;
	unsigned long command = 0;
	char path[96], line[256];
	const char *at;
	FILE *f;
	int tid;

	snprintf(path, sizeof(path), EVENTS "%s/hist", watched[i].event);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		at = strstr(line, "Dropped:");
		if (at && sscanf(at, "Dropped: %llu", &drops) == 1 && drops) {
			fclose(f);
			return -EOVERFLOW;
		}
		at = strstr(line, "common_pid:");
		if (!at || sscanf(at, "common_pid: %d", &tid) != 1 || !is_thread(tid))
			continue;
		at = strstr(line, "hitcount:");
		if (!at || sscanf(at, "hitcount: %llu", &hits) != 1)
			continue;
		if (!ioctls) {
			*sum += hits;
			continue;
		}
		at = strstr(line, "cmd:");
		if (!at || sscanf(at, "cmd: %lu", &command) != 1)
			continue;
		if ((command >> 8 & 0xff) == DRM_IOCTL_BASE)
			ioctls[command & 0xff] += hits;
	}
	fclose(f);
	return 0;
}

static int look_at_maps(int pid, struct process_counts *now)
{
	unsigned long from, to;
	char path[48];
	char *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (getline(&line, &size, f) > 0) {
		now->maps++;
		if (strstr(line, " /dev/dri/") && sscanf(line, "%lx-%lx", &from, &to) == 2) {
			now->gpu_maps++;
			now->gpu_kib += (to - from) >> 10;
		}
	}
	free(line);
	fclose(f);
	return 0;
}

/**
 * process_gpu_maps - count a process's mappings of BOs
 * @pid: the process
 * @gpu_maps: is set
 *
 * Returns: 0 or a negative errno
 */
int process_gpu_maps(int pid, unsigned long *gpu_maps)
{
	struct process_counts now = { 0 };
	int ret = look_at_maps(pid, &now);

	*gpu_maps = now.gpu_maps;
	return ret;
}

/**
 * process_look - see what a process has, and what it has called since process_watch()
 * @pid: the process
 * @now: is filled
 *
 * Returns: 0 or a negative errno; -EOVERFLOW if the kernel had no room for a count
 */
int process_look(int pid, struct process_counts *now)
{
	char path[48];
	int ret;

	*now = (struct process_counts) { 0 };
	ret = list_threads(pid);
	if (!ret)
		ret = look_at_maps(pid, now);
	if (!ret)
		ret = add_up(0, now->ioctls, NULL);
	if (!ret)
		ret = add_up(1, NULL, &now->mmaps);
	if (!ret)
		ret = add_up(2, NULL, &now->munmaps);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	now->rss_kib = bench_field(path, "VmRSS:");
	now->pte_kib = bench_field(path, "VmPTE:");
	return ret;
}

/**
 * process_report - add what a process has, and the calls between two moments, to an object
 * @row: gets the keys maps, gpu_maps, gpu_kib, rss_kib, pte_kib, mmaps, munmaps, and ioctls, an
 *	object with the numbers of those that were called
 * @before: an earlier moment
 * @now: a later one
 */
void process_report(struct json_object *row, const struct process_counts *before,
		   const struct process_counts *now)
{
	struct json_object *ioctls = json_object_new_object();
	uint64_t other = 0;
	unsigned int n, i;

	bench_json_add_number(row, "maps", now->maps);
	bench_json_add_number(row, "gpu_maps", now->gpu_maps);
	bench_json_add_number(row, "gpu_kib", now->gpu_kib);
	bench_json_add_number(row, "rss_kib", now->rss_kib);
	bench_json_add_number(row, "pte_kib", now->pte_kib);
	bench_json_add_number(row, "mmaps", now->mmaps - before->mmaps);
	bench_json_add_number(row, "munmaps", now->munmaps - before->munmaps);
	for (n = 0; n < PROCESS_IOCTLS; n++) {
		uint64_t calls = now->ioctls[n] - before->ioctls[n];

		for (i = 0; i < sizeof(names) / sizeof(names[0]) && names[i].number != n; i++)
			;
		if (!calls)
			continue;
		if (i < sizeof(names) / sizeof(names[0]))
			bench_json_add_number(ioctls, names[i].name, calls);
		else
			other += calls;
	}
	if (other)
		bench_json_add_number(ioctls, "other", other);
	json_object_object_add(row, "ioctls", ioctls);
}
