// SPDX-License-Identifier: MIT
/*
 * The driver's counters, in debugfs, and its thresholds, which are module
 * parameters. kernel/README.md describes both.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_stats.h"

#define PARAMS		"/sys/module/radeon/parameters/"
#define PARAMS_MAX	8

const char *const igt_radeon_path_name[IGT_RADEON_PATHS] = {
	[IGT_RADEON_ATOMIC] = "atomic",
	[IGT_RADEON_PINNED] = "pinned",
	[IGT_RADEON_BOUNCE] = "bounce",
	[IGT_RADEON_STAGED] = "staged",
	[IGT_RADEON_ZERO_COPY] = "zero_copy",
};

/* Values to put back; static, as an exit handler does it. */
static struct {
	char path[96];
	char value[16];
} saved[PARAMS_MAX];
static unsigned int saved_count;

/* Returns the number of bytes, or -1; the text ends with a zero byte. */
static ssize_t get(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, size - 1);
	close(fd);
	if (n >= 0)
		text[n] = 0;
	return n;
}

/*
 * The counters of the device's own DRM folder, which is that of the primary
 * node: a file there names the device.
 */
static const char *stats_path(int fd)
{
	static char path[256];
	static dev_t known;
	char link[64], device[256], name[256];
	struct stat st;
	glob_t found;
	ssize_t n;
	size_t i;

	igt_assert_eq(fstat(fd, &st), 0);
	/* Looking for it costs more than most calls under test. */
	if (path[0] && st.st_rdev == known)
		return path;
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device",
		 major(st.st_rdev), minor(st.st_rdev));
	n = readlink(link, device, sizeof(device) - 1);
	igt_assert(n > 0);
	device[n] = 0;

	igt_radeon_mount_debugfs();
	path[0] = 0;
	if (glob("/sys/kernel/debug/dri/*/radeon_gem_rw", 0, NULL, &found))
		return NULL;
	for (i = 0; i < found.gl_pathc && !path[0]; i++) {
		snprintf(name, sizeof(name), "%.*sname",
			 (int)(strrchr(found.gl_pathv[i], '/') + 1 -
			       found.gl_pathv[i]), found.gl_pathv[i]);
		if (get(name, name, sizeof(name)) > 0 &&
		    strstr(name, basename(device)))
			snprintf(path, sizeof(path), "%s", found.gl_pathv[i]);
	}
	globfree(&found);
	known = st.st_rdev;
	return path[0] ? path : NULL;
}

/**
 * igt_radeon_require_stats:
 * @fd: device
 *
 * Skips where the driver's counters cannot be read.
 */
void igt_radeon_require_stats(int fd)
{
	igt_require_f(stats_path(fd), "no radeon_gem_rw in debugfs\n");
}

/**
 * igt_radeon_stats:
 * @fd: device
 *
 * Returns: the driver's counters
 */
struct igt_radeon_stats igt_radeon_stats(int fd)
{
	struct igt_radeon_stats stats = { 0 };
	const struct {
		const char *name;
		uint64_t *value;
	} events[] = {
		{ "stall_avoided", &stats.stall_avoided },
		{ "stall", &stats.stall },
		{ "not_staged", &stats.not_staged },
		{ "moved", &stats.moved },
	};
	const char *path = stats_path(fd);
	char text[4096], name[32], *line, *rest = text;
	unsigned int i, known = 0;
	uint64_t first, second;
	int fields;

	igt_assert(path && get(path, text, sizeof(text)) > 0);
	while ((line = strsep(&rest, "\n"))) {
		fields = sscanf(line, "%31s %" SCNu64 " %" SCNu64, name, &first,
				&second);
		for (i = 0; fields == 3 && i < IGT_RADEON_PATHS; i++) {
			if (strcmp(name, igt_radeon_path_name[i]))
				continue;
			stats.bytes[i] = second;
			known++;
		}
		for (i = 0; fields == 2 &&
		     i < sizeof(events) / sizeof(events[0]); i++) {
			if (strcmp(name, events[i].name))
				continue;
			*events[i].value = first;
			known++;
		}
	}
	/* A counter that is gone must not look like one that stays. */
	igt_assert_eq(known, IGT_RADEON_PATHS +
		      sizeof(events) / sizeof(events[0]));
	return stats;
}

/**
 * igt_radeon_stats_since:
 * @fd: device
 * @before: earlier counters
 *
 * Returns: what has been counted since
 */
struct igt_radeon_stats igt_radeon_stats_since(int fd,
				const struct igt_radeon_stats *before)
{
	struct igt_radeon_stats delta = igt_radeon_stats(fd);
	unsigned int i;

	for (i = 0; i < IGT_RADEON_PATHS; i++)
		delta.bytes[i] -= before->bytes[i];
	delta.stall_avoided -= before->stall_avoided;
	delta.stall -= before->stall;
	delta.not_staged -= before->not_staged;
	delta.moved -= before->moved;
	return delta;
}

/**
 * igt_radeon_assert_path:
 * @delta: what has been counted
 * @path: the way that bytes should have taken
 * @bytes: how many
 * @what: for the message
 *
 * All bytes have taken this way, and no others any.
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
 * skips where that is not possible.
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
		igt_require_f(get(path, saved[i].value,
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
 * Puts back what igt_radeon_require_param() has changed.
 */
void igt_radeon_reset_params(void)
{
	restore(0);
	igt_assert_eq(saved_count, 0);
}
