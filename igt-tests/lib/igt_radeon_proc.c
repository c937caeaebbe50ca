// SPDX-License-Identifier: MIT
/*
 * For tests that disturb PREAD, PWRITE and TRANSFER from outside.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_radeon_proc.h"

#define DEBUGFS		"/sys/kernel/debug"
#define SPLIT		8u	/* regions of a small TRANSFER */

const struct igt_radeon_way igt_radeon_ways[] = {
	{ "small", RADEON_GEM_DOMAIN_GTT, 0, 300, false,
	  "atomic", "atomic" },
	{ "medium", RADEON_GEM_DOMAIN_GTT, 0, 200 << 10, false,
	  NULL, NULL },
	{ "large", RADEON_GEM_DOMAIN_GTT, 0, 3 << 20, false,
	  "pinned", "pinned" },
	{ "busy", RADEON_GEM_DOMAIN_GTT, 0, 4096, true,
	  "stall", "stall_avoided" },
	{ "staged", RADEON_GEM_DOMAIN_VRAM, 0, 96 << 10, true,
	  "staged", "staged" },
	{ "invisible", RADEON_GEM_DOMAIN_VRAM, RADEON_GEM_NO_CPU_ACCESS,
	  96 << 10, false, "staged", "staged" },
	{ "zero-copy", RADEON_GEM_DOMAIN_VRAM, 0, 3 << 20, false,
	  "zero_copy", "zero_copy" },
};

const unsigned int igt_radeon_way_count =
	sizeof(igt_radeon_ways) / sizeof(igt_radeon_ways[0]);

/**
 * igt_radeon_way:
 * @name: name
 *
 * Returns: the path of that name
 */
const struct igt_radeon_way *igt_radeon_way(const char *name)
{
	unsigned int i;

	for (i = 0; i < igt_radeon_way_count; i++)
		if (!strcmp(igt_radeon_ways[i].name, name))
			return &igt_radeon_ways[i];
	igt_assert_f(false, "no path %s\n", name);
	return NULL;
}

/**
 * igt_radeon_has_way:
 * @fd: device
 * @path: path
 *
 * Returns: whether the machine has what @path needs
 */
bool igt_radeon_has_way(int fd, const struct igt_radeon_way *path)
{
	if (path->flags & RADEON_GEM_NO_CPU_ACCESS &&
	    !igt_radeon_has_invisible_vram(fd))
		return false;
	return !path->busy || igt_radeon_has_board(fd);
}

/**
 * igt_radeon_way_sleeps:
 * @path: path
 *
 * Returns: whether a read waits for the GPU, even if the machine is fast
 */
bool igt_radeon_way_sleeps(const struct igt_radeon_way *path)
{
	return path->busy || path->domain == RADEON_GEM_DOMAIN_VRAM;
}

static int make_call(const struct igt_radeon_call *call,
		     int (*do_ioctl)(int fd, unsigned long request, void *arg))
{
	struct drm_radeon_gem_pwrite rw = {
		.handle = call->handle,
		.pad = call->flags,
		.offset = call->offset,
		.size = call->size,
		.data_ptr = (uintptr_t)call->mem,
	};
	struct drm_radeon_gem_transfer_region regions[SPLIT];
	struct drm_radeon_gem_transfer transfer = {
		.regions_ptr = (uintptr_t)regions,
		.flags = call->flags,
	};
	uint64_t at = 0, bytes;
	int ret;

	switch (call->op) {
	case IGT_RADEON_PREAD:
		ret = do_ioctl(call->fd, DRM_IOCTL_RADEON_GEM_PREAD, &rw);
		return ret ? -errno : 0;
	case IGT_RADEON_PWRITE:
		ret = do_ioctl(call->fd, DRM_IOCTL_RADEON_GEM_PWRITE, &rw);
		return ret ? -errno : 0;
	default:
		break;
	}

	/* What is small is several regions, what is large one. */
	bytes = call->size < 1 << 20 ? (call->size + SPLIT - 1) / SPLIT :
				       call->size;
	for (at = 0; at < call->size; at += bytes) {
		if (bytes > call->size - at)
			bytes = call->size - at;
		regions[transfer.region_count++] =
			(struct drm_radeon_gem_transfer_region) {
				.handle = call->handle,
				.bo_offset = call->offset + at,
				.user_ptr = (uintptr_t)call->mem + at,
				.bo_pitch = bytes,
				.user_pitch = bytes,
				.row_bytes = bytes,
				.rows = 1,
			};
	}
	if (call->op == IGT_RADEON_UPLOAD)
		transfer.flags |= RADEON_GEM_TRANSFER_WRITE;
	ret = do_ioctl(call->fd, DRM_IOCTL_RADEON_GEM_TRANSFER, &transfer);
	return ret ? -errno : 0;
}

static int ioctl_once(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg);
}

/**
 * igt_radeon_call_once:
 * @call: call
 *
 * Makes the call, and does not repeat it if a signal or a reset ended it.
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_call_once(const struct igt_radeon_call *call)
{
	return make_call(call, ioctl_once);
}

/**
 * igt_radeon_call:
 * @call: call
 *
 * Makes the call, again if it says so.
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_call(const struct igt_radeon_call *call)
{
	return make_call(call, drmIoctl);
}

static void *thread_main(void *data)
{
	struct igt_radeon_thread *t = data;

	t->tid = syscall(SYS_gettid);
	__atomic_store_n(&t->started, true, __ATOMIC_RELEASE);
	t->ret = t->once ? igt_radeon_call_once(&t->call) :
			   igt_radeon_call(&t->call);
	__atomic_store_n(&t->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

/**
 * igt_radeon_thread_start:
 * @t: its call is begun in a new thread; if @once is set, it is not repeated
 */
void igt_radeon_thread_start(struct igt_radeon_thread *t)
{
	pthread_attr_t attr;

	t->started = false;
	t->ended = false;
	igt_assert_eq(pthread_attr_init(&attr), 0);
	igt_assert_eq(pthread_attr_setstacksize(&attr, 128 << 10), 0);
	igt_assert_eq(pthread_create(&t->thread, &attr, thread_main, t), 0);
	pthread_attr_destroy(&attr);
	while (!__atomic_load_n(&t->started, __ATOMIC_ACQUIRE))
		usleep(50);
}

/**
 * igt_radeon_thread_ended:
 * @t: thread
 *
 * Returns: whether its call has returned
 */
bool igt_radeon_thread_ended(const struct igt_radeon_thread *t)
{
	return __atomic_load_n(&t->ended, __ATOMIC_ACQUIRE);
}

/**
 * igt_radeon_thread_settle:
 * @t: thread
 *
 * Waits until its call sleeps in the kernel, or has returned. What sleeps there
 * has looked up its file and its BO.
 *
 * Returns: whether it sleeps
 */
bool igt_radeon_thread_settle(const struct igt_radeon_thread *t)
{
	double end = igt_radeon_now() + 10;
	char path[64], text[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)t->tid);
	while (!igt_radeon_thread_ended(t)) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
		if (fd >= 0)
			close(fd);
		text[n > 0 ? n : 0] = 0;
		/* "running", or the number of the system call that sleeps */
		if (n > 0 && atoi(text) == SYS_ioctl)
			return true;
		igt_assert_f(igt_radeon_now() < end,
			     "a call neither sleeps nor ends\n");
		usleep(100);
	}
	return false;
}

/**
 * igt_radeon_thread_join:
 * @t: thread
 * @seconds: how long it may take
 *
 * Returns: what its call has returned
 */
int igt_radeon_thread_join(struct igt_radeon_thread *t, unsigned int seconds)
{
	double end = igt_radeon_now() + seconds;

	while (!igt_radeon_thread_ended(t)) {
		igt_assert_f(igt_radeon_now() < end,
			     "%s of %llu bytes does not end\n",
			     igt_radeon_op_name[t->call.op],
			     (unsigned long long)t->call.size);
		usleep(500);
	}
	pthread_join(t->thread, NULL);
	return t->ret;
}

/**
 * igt_radeon_stat:
 * @fd: device
 * @name: path of the driver, "stall" or "stall_avoided"
 *
 * Returns: bytes that have taken it, or how often it has happened
 */
uint64_t igt_radeon_stat(int fd, const char *name)
{
	const struct igt_radeon_stats stats = igt_radeon_stats(fd);
	unsigned int i;

	if (!strcmp(name, "stall"))
		return stats.stall;
	if (!strcmp(name, "stall_avoided"))
		return stats.stall_avoided;
	for (i = 0; i < IGT_RADEON_PATHS; i++)
		if (!strcmp(name, igt_radeon_path_name[i]))
			return stats.bytes[i];
	igt_assert_f(false, "no counter %s\n", name);
	return 0;
}

/**
 * igt_radeon_reset_gpu:
 * @fd: device
 *
 * Has the driver believe that the GPU is locked up. Whoever waits for it then
 * resets it. Skips without debugfs.
 */
void igt_radeon_reset_gpu(int fd)
{
	/* Linux 6.12 makes this before there is a folder of the device. */
	static const char root[] = DEBUGFS "/radeon_gpu_reset";
	char path[64], text[32];
	struct stat st;
	int file;

	igt_radeon_mount_debugfs();
	igt_assert_eq(fstat(fd, &st), 0);
	snprintf(path, sizeof(path), DEBUGFS "/dri/%u/radeon_gpu_reset",
		 minor(st.st_rdev));
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		file = open(root, O_RDONLY | O_CLOEXEC);
	igt_require_f(file >= 0, "no radeon_gpu_reset in debugfs\n");
	igt_assert(read(file, text, sizeof(text)) > 0);
	close(file);
}

/**
 * igt_radeon_reset_count:
 * @fd: device
 *
 * Returns: how often the GPU was reset
 */
uint32_t igt_radeon_reset_count(int fd)
{
	uint32_t value = 0;
	struct drm_radeon_info arg = {
		.request = RADEON_INFO_GPU_RESET_COUNTER,
		.value = (uintptr_t)&value,
	};

	igt_assert_eq(drmIoctl(fd, DRM_IOCTL_RADEON_INFO, &arg), 0);
	return value;
}

static uint64_t pinned_pages(void)
{
	unsigned long long acquired = 0, released = 0, value;
	char name[64];
	FILE *f;

	/* The CPUs' own counts are only added now and then. */
	igt_radeon_put("/proc/sys/vm/stat_refresh", "1");
	f = fopen("/proc/vmstat", "r");
	igt_assert(f);
	while (fscanf(f, "%63s %llu", name, &value) == 2) {
		if (!strcmp(name, "nr_foll_pin_acquired"))
			acquired = value;
		else if (!strcmp(name, "nr_foll_pin_released"))
			released = value;
	}
	fclose(f);
	return acquired - released;
}

/**
 * igt_radeon_stock_take:
 * @fd: device
 *
 * Returns: what is in use now
 */
struct igt_radeon_stock igt_radeon_stock_take(int fd)
{
	return (struct igt_radeon_stock) {
		.gtt = igt_radeon_info64(fd, RADEON_INFO_GTT_USAGE),
		.vram = igt_radeon_info64(fd, RADEON_INFO_VRAM_USAGE),
		.pins = pinned_pages(),
	};
}

/**
 * igt_radeon_stock_assert:
 * @fd: device
 * @before: what was in use
 *
 * Asserts that it is the same now. Work that was queued may hold memory for a
 * moment, so this waits a while.
 */
void igt_radeon_stock_assert(int fd, const struct igt_radeon_stock *before)
{
	struct igt_radeon_stock now;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		now = igt_radeon_stock_take(fd);
		if (!memcmp(&now, before, sizeof(now)))
			return;
		usleep(100000);
	}
	igt_assert_f(now.pins == before->pins, "%lld pages are still pinned\n",
		     (long long)(now.pins - before->pins));
	igt_assert_f(now.gtt == before->gtt, "GTT usage grew by %lld\n",
		     (long long)(now.gtt - before->gtt));
	igt_assert_f(now.vram == before->vram, "VRAM usage grew by %lld\n",
		     (long long)(now.vram - before->vram));
}

/**
 * igt_radeon_memory:
 * @size: bytes
 *
 * Returns: private memory, page-aligned and never touched, for munmap()
 */
uint8_t *igt_radeon_memory(size_t size)
{
	uint8_t *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	igt_assert(mem != MAP_FAILED);
	return mem;
}

/**
 * igt_radeon_now:
 *
 * Returns: seconds of a clock that only goes forward
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
 * Safe in signal handlers and threads; the same in every run.
 *
 * Returns: 31 random bits
 */
uint32_t igt_radeon_random(void)
{
	static uint32_t count;
	uint32_t state = __atomic_add_fetch(&count, 0x9e3779b9, __ATOMIC_RELAXED);

	state = (state ^ state >> 16) * 0x7feb352d;
	state = (state ^ state >> 15) * 0x846ca68b;
	return (state ^ state >> 16) >> 1;
}

/**
 * igt_radeon_spawn:
 * @fn: what a new process does; what it returns is the exit status. Nothing
 *	in it may skip, nor is anybody told what it asserts.
 * @data: for @fn
 *
 * Unlike children of igt_fork(), this one may be killed.
 *
 * Returns: its process id
 */
pid_t igt_radeon_spawn(int (*fn)(void *data), void *data)
{
	pid_t pid = fork();

	igt_assert(pid >= 0);
	if (!pid) {
		/* A test that fails leaves nobody behind. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* The runner's time-out is for the parent. */
		signal(SIGALRM, SIG_DFL);
		_exit(fn(data));
	}
	return pid;
}

/**
 * igt_radeon_reap:
 * @pid: process of igt_radeon_spawn()
 * @seconds: how long it may take to end
 *
 * Returns: its status, as waitpid() gives it
 */
int igt_radeon_reap(pid_t pid, unsigned int seconds)
{
	double end = igt_radeon_now() + seconds;
	int status;
	pid_t got;

	while (!(got = waitpid(pid, &status, WNOHANG))) {
		igt_assert_f(igt_radeon_now() < end,
			     "process %d does not end\n", (int)pid);
		usleep(500);
	}
	igt_assert_eq(got, pid);
	return status;
}
