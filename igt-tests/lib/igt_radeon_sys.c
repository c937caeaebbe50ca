// SPDX-License-Identifier: MIT
/*
 * Helpers of the radeon tests that do not concern the device: memory, time,
 * random numbers, timers, files of sysfs, procfs and debugfs, capabilities.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <libgen.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_sys.h"

#define DEBUGFS	"/sys/kernel/debug"

static bool timer_runs;
static struct sigaction before_timer;

/**
 * igt_radeon_malloc:
 * @size: bytes
 *
 * Returns: memory, never NULL
 */
void *igt_radeon_malloc(size_t size)
{
	void *mem = malloc(size);

	igt_assert(mem);
	return mem;
}

/**
 * igt_radeon_memory:
 * @size: bytes
 *
 * Returns: private memory, page-aligned and never touched, to be freed by
 * munmap()
 */
uint8_t *igt_radeon_memory(size_t size)
{
	uint8_t *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	igt_assert(mem != MAP_FAILED);
	return mem;
}

/**
 * igt_radeon_pattern:
 * @mem: memory to fill
 * @size: bytes
 * @seed: different seeds give different bytes nearly everywhere
 */
void igt_radeon_pattern(void *mem, size_t size, uint32_t seed)
{
	uint32_t state = seed * 2654435761u + 1;
	uint8_t *bytes = mem;
	size_t i;

	for (i = 0; i + 4 <= size; i += 4) {
		/* xorshift32 */
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		memcpy(bytes + i, &state, 4);
	}
	for (; i < size; i++)
		bytes[i] = seed + i;
}

/**
 * igt_radeon_assert_equal:
 * @got: bytes to check
 * @model: expected bytes
 * @size: number of bytes
 * @what: name of the bytes, for the message, which tells the first that differs
 */
void igt_radeon_assert_equal(const void *got, const void *model, uint64_t size,
			     const char *what)
{
	const uint8_t *a = got, *b = model;
	uint64_t i;

	if (!memcmp(a, b, size))
		return;

	for (i = 0; i < size && a[i] == b[i]; i++)
		;
	igt_assert_f(false,
		     "%s: byte %#llx of %#llx is %#04x, should be %#04x\n",
		     what, (unsigned long long)i, (unsigned long long)size,
		     a[i], b[i]);
}

/**
 * igt_radeon_now:
 *
 * Returns: seconds of a monotonic clock
 */
double igt_radeon_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/**
 * igt_radeon_random:
 *
 * Safe in signal handlers and threads. The sequence is the same in every run.
 *
 * Returns: 31 pseudo-random bits
 */
uint32_t igt_radeon_random(void)
{
	static uint32_t count;
	uint32_t state = __atomic_add_fetch(&count, 0x9e3779b9, __ATOMIC_RELAXED);

	state = (state ^ state >> 16) * 0x7feb352d;
	state = (state ^ state >> 15) * 0x846ca68b;
	return (state ^ state >> 16) >> 1;
}

static void on_alarm(int sig)
{
	(void)sig;
}

/**
 * igt_radeon_start_timer:
 * @us: period in microseconds
 *
 * Sends SIGALRM, which interrupts system calls, in each period until
 * igt_radeon_stop_timer().
 */
void igt_radeon_start_timer(unsigned int us)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	const struct itimerval tick = {
		.it_interval.tv_usec = us,
		.it_value.tv_usec = us,
	};

	igt_radeon_stop_timer();
	igt_assert_eq(sigaction(SIGALRM, &action, &before_timer), 0);
	timer_runs = true;
	igt_assert_eq(setitimer(ITIMER_REAL, &tick, NULL), 0);
}

/**
 * igt_radeon_stop_timer:
 *
 * Stops the timer if it runs, and restores the signal handler.
 */
void igt_radeon_stop_timer(void)
{
	const struct itimerval off = { 0 };

	if (!timer_runs)
		return;
	igt_assert_eq(setitimer(ITIMER_REAL, &off, NULL), 0);
	igt_assert_eq(sigaction(SIGALRM, &before_timer, NULL), 0);
	timer_runs = false;
}

/**
 * igt_radeon_get:
 * @path: a file of sysfs, procfs or debugfs
 * @text: filled in, ends with a zero byte
 * @size: bytes of @text
 *
 * Returns: the number of bytes read, or a negative errno
 */
ssize_t igt_radeon_get(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n >= 0)
		text[n] = 0;
	return n;
}

/**
 * igt_radeon_put:
 * @path: a file of sysfs, procfs or debugfs
 * @text: written to it
 *
 * Returns: whether all of @text was written
 */
bool igt_radeon_put(const char *path, const char *text)
{
	const ssize_t length = strlen(text);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, text, length) == length;
	close(fd);
	return done;
}

/**
 * igt_radeon_vmstats:
 * @names: counters of /proc/vmstat
 * @values: set to their values at one time; 0 where this kernel does not have
 *	    the counter
 * @count: length of both arrays
 */
void igt_radeon_vmstats(const char *const *names, uint64_t *values,
			unsigned int count)
{
	unsigned long long value;
	unsigned int i;
	char line[64];
	FILE *f;

	memset(values, 0, count * sizeof(*values));

	/* Otherwise the kernel adds the CPUs' counts up only now and then. */
	igt_radeon_put("/proc/sys/vm/stat_refresh", "1");
	f = fopen("/proc/vmstat", "r");
	igt_assert(f);
	while (fscanf(f, "%63s %llu", line, &value) == 2)
		for (i = 0; i < count; i++)
			if (!strcmp(line, names[i]))
				values[i] = value;
	fclose(f);
}

/**
 * igt_radeon_vmstat:
 * @name: a counter of /proc/vmstat
 *
 * Returns: its value; 0 if this kernel does not have it
 */
uint64_t igt_radeon_vmstat(const char *name)
{
	uint64_t value;

	igt_radeon_vmstats(&name, &value, 1);
	return value;
}

/**
 * igt_radeon_mount_debugfs:
 *
 * Mounts debugfs if it is not mounted. Does not fail if that is not possible.
 */
void igt_radeon_mount_debugfs(void)
{
	if (access("/sys/kernel/debug/dri", F_OK) &&
	    mount("none", "/sys/kernel/debug", "debugfs", 0, NULL))
		igt_debug("debugfs cannot be mounted: %s\n", strerror(errno));
}

/**
 * igt_radeon_debugfs:
 * @fd: device
 * @name: a file that the driver makes in debugfs
 * @path: gets the path of the file
 * @size: bytes of @path
 *
 * The device's directory in debugfs is the one whose file "name" has the
 * device's name. Linux 6.12 creates some of radeon's files before that
 * directory exists: they are at the root of debugfs.
 *
 * Returns: whether there is such a file
 */
bool igt_radeon_debugfs(int fd, const char *name, char *path, size_t size)
{
	char link[64], device[256], text[256];
	bool ours = false;
	struct stat st;
	glob_t found;
	ssize_t n;
	size_t i;

	igt_assert_eq(fstat(fd, &st), 0);
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device",
		 major(st.st_rdev), minor(st.st_rdev));
	n = readlink(link, device, sizeof(device) - 1);
	igt_assert(n > 0);
	device[n] = 0;

	igt_radeon_mount_debugfs();
	if (!glob(DEBUGFS "/dri/*/name", 0, NULL, &found)) {
		for (i = 0; i < found.gl_pathc && !ours; i++) {
			if (igt_radeon_get(found.gl_pathv[i], text,
					   sizeof(text)) <= 0 ||
			    !strstr(text, basename(device)))
				continue;
			snprintf(path, size, "%.*s%s",
				 (int)(strrchr(found.gl_pathv[i], '/') + 1 -
				       found.gl_pathv[i]), found.gl_pathv[i],
				 name);
			ours = !access(path, F_OK);
		}
		globfree(&found);
	}
	if (ours)
		return true;
	snprintf(path, size, DEBUGFS "/%s", name);
	return !access(path, F_OK);
}

/**
 * igt_radeon_kmsg_open:
 *
 * Skips without access to the kernel's log.
 *
 * Returns: a file that reads what the kernel logs from now on
 */
int igt_radeon_kmsg_open(void)
{
	int kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	igt_require_f(kmsg >= 0, "no access to /dev/kmsg\n");
	igt_assert(lseek(kmsg, 0, SEEK_END) == 0);
	return kmsg;
}

/**
 * igt_radeon_kmsg_count:
 * @kmsg: file from igt_radeon_kmsg_open()
 * @text: text to look for
 *
 * Returns: how many messages contain @text, of those since the file was opened or
 * last counted
 */
unsigned int igt_radeon_kmsg_count(int kmsg, const char *text)
{
	unsigned int count = 0;
	char record[8192];
	ssize_t n;

	for (;;) {
		n = read(kmsg, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE)
			continue;	/* overwritten before it was read */
		if (n <= 0)
			break;
		record[n] = '\0';
		count += strstr(record, text) != NULL;
	}
	igt_assert(!n || errno == EAGAIN);
	return count;
}

/**
 * igt_radeon_count_maps:
 * @containing: count only lines with this text, or NULL for all
 *
 * Returns: the number of mappings of this process
 */
unsigned int igt_radeon_count_maps(const char *containing)
{
	/* Static and read by hand: counting must not itself map anything. */
	static char buf[65536], line[512];
	unsigned int count = 0;
	size_t used = 0;
	ssize_t got, i;
	int fd;

	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	igt_assert(fd >= 0);
	while ((got = read(fd, buf, sizeof(buf))) > 0) {
		for (i = 0; i < got; i++) {
			if (buf[i] != '\n') {
				if (used < sizeof(line) - 1)
					line[used++] = buf[i];
				continue;
			}
			line[used] = 0;
			used = 0;
			if (!containing || strstr(line, containing))
				count++;
		}
	}
	close(fd);
	igt_assert_eq(got, 0);
	return count;
}

/**
 * igt_radeon_drop_sys_admin:
 *
 * Gives up CAP_SYS_ADMIN for good, keeping the user id. DRM takes every file
 * that a process with CAP_SYS_ADMIN opens as authenticated. For child
 * processes.
 */
void igt_radeon_drop_sys_admin(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	igt_assert_eq(syscall(SYS_capget, &header, data), 0);
	data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective &=
		~CAP_TO_MASK(CAP_SYS_ADMIN);
	data[CAP_TO_INDEX(CAP_SYS_ADMIN)].permitted &=
		~CAP_TO_MASK(CAP_SYS_ADMIN);
	igt_assert_eq(syscall(SYS_capset, &header, data), 0);
}
