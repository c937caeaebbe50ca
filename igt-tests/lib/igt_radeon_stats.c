// SPDX-License-Identifier: MIT
/*
 * The driver's counters, in debugfs, and its thresholds, which are module
 * parameters. kernel/driver.md describes both.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_stats.h"
#include "radeon_guest.h"

#define PARAMS		"/sys/module/radeon/parameters/"
#define PARAMS_MAX	8
#define ALL_COUNTERS	(IGT_RADEON_COUNTED + IGT_RADEON_EVENTS)

const char *const igt_radeon_path_name[IGT_RADEON_COUNTED] = {
	[IGT_RADEON_CPU] = "cpu",
	[IGT_RADEON_STAGED] = "staged",
	[IGT_RADEON_CLEAR_CPU] = "clear_cpu",
	[IGT_RADEON_CLEAR_GPU] = "clear_gpu",
	[IGT_RADEON_CLEAR_HOP] = "clear_hop",
};

const char *const igt_radeon_event_name[IGT_RADEON_EVENTS] = {
	[IGT_RADEON_STALL_AVOIDED] = "stall_avoided",
	[IGT_RADEON_STALL] = "stall",
	[IGT_RADEON_NOT_STAGED] = "not_staged",
	[IGT_RADEON_MOVED] = "moved",
	[IGT_RADEON_REPLAYED] = "replayed",
};

/* Values that an exit handler restores. */
static struct {
	char path[96];
	char value[16];
} saved[PARAMS_MAX];
static unsigned int saved_count;

/* Keeps the path: finding the file costs more than most calls under test. */
static const char *stats_path(int fd)
{
	static char path[96];
	static dev_t known;
	struct stat st;

	igt_assert_eq(fstat(fd, &st), 0);
	if (path[0] && st.st_rdev == known)
		return path;
	known = st.st_rdev;
	if (!igt_radeon_debugfs(fd, "radeon_gem_rw", path, sizeof(path)))
		path[0] = 0;
	return path[0] ? path : NULL;
}

/* Returns the index of @name, or @count. */
static unsigned int find(const char *name, const char *const *names,
			 unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count && strcmp(name, names[i]); i++)
		;
	return i;
}

struct reading {
	struct igt_radeon_stats stats;
	unsigned int known;
};

static void take(void *data, const char *name, const uint64_t *values,
		 unsigned int count)
{
	struct reading *reading = data;
	unsigned int i;

	if (count == 2) {
		i = find(name, igt_radeon_path_name, IGT_RADEON_COUNTED);
		if (i == IGT_RADEON_COUNTED)
			return;
		reading->stats.calls[i] = values[0];
		reading->stats.bytes[i] = values[1];
	} else {
		i = find(name, igt_radeon_event_name, IGT_RADEON_EVENTS);
		if (i == IGT_RADEON_EVENTS)
			return;
		reading->stats.events[i] = values[0];
	}
	reading->known++;
}

/**
 * igt_radeon_has_stats:
 * @fd: device
 *
 * Returns: whether the driver's counters can be read. A driver without all patches of the
 * series lacks some of them.
 */
bool igt_radeon_has_stats(int fd)
{
	struct reading reading = { .known = 0 };
	const char *path = stats_path(fd);

	return path && !radeon_guest_counters(path, take, &reading) &&
	       reading.known == ALL_COUNTERS;
}

/**
 * igt_radeon_require_stats:
 * @fd: device
 *
 * Skips where the driver's counters cannot be read, or not all of them.
 */
void igt_radeon_require_stats(int fd)
{
	igt_require_f(igt_radeon_has_stats(fd),
		      "no radeon_gem_rw in debugfs, or without some counters\n");
}

/**
 * igt_radeon_stats:
 * @fd: device
 *
 * Returns: the driver's counters
 */
struct igt_radeon_stats igt_radeon_stats(int fd)
{
	struct reading reading = { .known = 0 };
	const char *path = stats_path(fd);

	igt_assert(path);
	igt_assert_eq(radeon_guest_counters(path, take, &reading), 0);
	/* A missing counter must not look like one that does not change. */
	igt_assert_eq(reading.known, ALL_COUNTERS);
	return reading.stats;
}

/**
 * igt_radeon_stats_since:
 * @fd: device
 * @before: earlier counters
 *
 * Returns: how much each counter has grown since @before
 */
struct igt_radeon_stats igt_radeon_stats_since(int fd,
				const struct igt_radeon_stats *before)
{
	struct igt_radeon_stats delta = igt_radeon_stats(fd);
	unsigned int i;

	for (i = 0; i < IGT_RADEON_COUNTED; i++) {
		delta.calls[i] -= before->calls[i];
		delta.bytes[i] -= before->bytes[i];
	}
	for (i = 0; i < IGT_RADEON_EVENTS; i++)
		delta.events[i] -= before->events[i];
	return delta;
}

/**
 * igt_radeon_stat:
 * @fd: device
 * @name: path or event
 *
 * Returns: bytes that have taken the path, or how often the event has happened
 */
uint64_t igt_radeon_stat(int fd, const char *name)
{
	const struct igt_radeon_stats stats = igt_radeon_stats(fd);
	unsigned int i;

	i = find(name, igt_radeon_path_name, IGT_RADEON_COUNTED);
	if (i < IGT_RADEON_COUNTED)
		return stats.bytes[i];
	i = find(name, igt_radeon_event_name, IGT_RADEON_EVENTS);
	igt_assert_f(i < IGT_RADEON_EVENTS, "no counter %s\n", name);
	return stats.events[i];
}

/**
 * igt_radeon_assert_path:
 * @delta: growth of the counters, see igt_radeon_stats_since()
 * @path: path that all bytes should have taken
 * @bytes: number of bytes transferred
 * @what: name of the transfer, for the message
 *
 * Asserts that @bytes bytes took @path, and none another path.
 */
void igt_radeon_assert_path(const struct igt_radeon_stats *delta,
			    enum igt_radeon_path path, uint64_t bytes,
			    const char *what)
{
	unsigned int i;

	for (i = 0; i < IGT_RADEON_PATHS; i++)
		igt_assert_f(delta->bytes[i] == (i == path ? bytes : 0),
			     "%s: %" PRIu64 " of %" PRIu64 " bytes went by path %s, all should go by %s\n",
			     what, delta->bytes[i], bytes,
			     igt_radeon_path_name[i],
			     igt_radeon_path_name[path]);
}

static void restore(int sig)
{
	(void)sig;
	while (saved_count) {
		saved_count--;
		if (!igt_radeon_put(saved[saved_count].path, saved[saved_count].value))
			return;
	}
}

/**
 * igt_radeon_require_param:
 * @name: a parameter of the radeon module
 * @value: its new value
 *
 * Changes a parameter until igt_radeon_reset_params() or the end of the test;
 * skips if the parameter cannot be changed.
 */
void igt_radeon_require_param(const char *name, unsigned int value)
{
	char path[sizeof(saved[0].path)], text[16];
	unsigned int i;

	snprintf(path, sizeof(path), PARAMS "%s", name);
	for (i = 0; i < saved_count && strcmp(saved[i].path, path); i++)
		;
	if (i == saved_count) {
		igt_assert(i < PARAMS_MAX);
		igt_require_f(igt_radeon_get(path, saved[i].value,
				  sizeof(saved[i].value)) > 0,
			      "no radeon parameter %s\n", name);
		strcpy(saved[i].path, path);
		if (!saved_count++)
			igt_install_exit_handler(restore);
	}
	snprintf(text, sizeof(text), "%u", value);
	igt_require_f(igt_radeon_put(path, text), "%s cannot be written\n", path);
}

/**
 * igt_radeon_reset_params:
 *
 * Restores the parameters that igt_radeon_require_param() has changed.
 */
void igt_radeon_reset_params(void)
{
	restore(0);
	igt_assert_eq(saved_count, 0);
}
