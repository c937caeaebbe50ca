// SPDX-License-Identifier: MIT
/*
 * Parts of radeon_gem_rw_fuzz: random numbers, reports of failures, and the
 * calls under test, of which each attempt is counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <time.h>

#include "igt.h"
#include "igt_fuzz.h"

/* Bytes of a copy from the pool, which has twice as many to choose from. */
#define POOL	(1u << 20)

/* A call that is interrupted more often than this is taken for endless. */
#define MAX_TRIES	100000

/* Regions that are printed when a TRANSFER fails */
#define MAX_PRINTED	200

/**
 * fuzz_hash:
 * @a: number
 * @b: number
 *
 * Returns: a number that looks random (the mixing function of splitmix64)
 */
uint64_t fuzz_hash(uint64_t a, uint64_t b)
{
	uint64_t x = a + (b + 1) * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/**
 * fuzz_random:
 * @f: worker
 *
 * Returns: the operation's next random number
 */
uint64_t fuzz_random(struct fuzz *f)
{
	f->random += 0x9e3779b97f4a7c15ull;
	return fuzz_hash(f->random, 0);
}

/**
 * fuzz_below:
 * @f: worker
 * @n: not 0
 *
 * Returns: a random number below @n
 */
uint64_t fuzz_below(struct fuzz *f, uint64_t n)
{
	return fuzz_random(f) % n;
}

/**
 * fuzz_one_in:
 * @f: worker
 * @n: not 0
 *
 * Returns: true in one of @n cases
 */
bool fuzz_one_in(struct fuzz *f, unsigned int n)
{
	return !fuzz_below(f, n);
}

/**
 * fuzz_length:
 * @f: worker
 * @max: largest, not 0
 *
 * Returns: a length from 1 to @max, of any order of magnitude, and often close
 * to a power of two at which the driver may choose another path
 */
size_t fuzz_length(struct fuzz *f, size_t max)
{
	static const size_t special[] = {
		1, 4, 64, 256, 4096, 8192, 16384, 65536, 262144, 1 << 20,
		4 << 20,
	};
	size_t len;

	switch (fuzz_below(f, 9)) {
	case 0:
		return fuzz_one_in(f, 2) ? max : 1;
	case 1:
	case 2:
		len = special[fuzz_below(f, sizeof(special) / sizeof(*special))];
		len += fuzz_below(f, 9) - 4;
		break;
	default:
		len = fuzz_below(f, 1ull << (1 + fuzz_below(f, 22)));
		break;
	}
	return 1 + (len - 1) % max;
}

/**
 * fuzz_fill:
 * @f: worker
 * @mem: memory to fill with random bytes of the worker
 * @size: bytes
 */
void fuzz_fill(struct fuzz *f, void *mem, size_t size)
{
	uint8_t *to = mem;
	size_t i, n;

	if (!f->pool) {
		f->pool = malloc(2 * POOL);
		igt_assert(f->pool);
		igt_radeon_pattern(f->pool, 2 * POOL, f->id);
		for (i = 0; i < 2 * POOL; i++)
			f->pool[i] = f->id << 5 | (f->pool[i] & 31);
	}
	for (; size; size -= n, to += n) {
		n = size < POOL ? size : POOL;
		memcpy(to, f->pool + fuzz_below(f, POOL), n);
	}
}

/**
 * fuzz_own:
 * @f: worker
 * @byte: contents of one of its BOs
 *
 * Returns: whether the byte can be the worker's, written by it or never written
 */
bool fuzz_own(const struct fuzz *f, uint8_t byte)
{
	return !byte || byte >> 5 == f->id;
}

/**
 * fuzz_now_us:
 *
 * Returns: CLOCK_MONOTONIC in microseconds
 */
uint64_t fuzz_now_us(void)
{
	struct timespec t;

	igt_assert_eq(clock_gettime(CLOCK_MONOTONIC, &t), 0);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

/**
 * fuzz_say:
 * @f: worker
 * @fmt: the operation that it begins
 *
 * Notes the operation for the report of a failure.
 */
void fuzz_say(struct fuzz *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(f->stats->what, sizeof(f->stats->what), fmt, args);
	va_end(args);
}

/**
 * fuzz_fail:
 * @f: worker
 * @fmt: what is wrong
 *
 * Reports a failure with all that is needed to reproduce it.
 */
void fuzz_fail(struct fuzz *f, const char *fmt, ...)
{
	const struct drm_radeon_gem_transfer_region *r = f->regions;
	char text[256];
	va_list args;
	uint32_t i;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (i = 0; r && i < f->region_count && i < MAX_PRINTED; i++)
		fprintf(stderr, "region %u: handle %u, flags %#x, offset %#llx, user %#llx, pitches %#x and %#x, %#x bytes, %u rows\n",
			i, r[i].handle, r[i].flags,
			(unsigned long long)r[i].bo_offset,
			(unsigned long long)r[i].user_ptr, r[i].bo_pitch,
			r[i].user_pitch, r[i].row_bytes, r[i].rows);
	/* The library's exit path does not handle the timer's signal. */
	signal(SIGALRM, SIG_IGN);
	igt_assert_f(false,
		     "seed %llu, process %u, generation %u, operation %llu, GPU resets %llu: %s: %s\n",
		     (unsigned long long)f->run->seed, f->id, f->generation,
		     (unsigned long long)f->stats->operation,
		     (unsigned long long)fuzz_resets(f), f->stats->what, text);
	abort();
}

static enum fuzz_result result_of(struct fuzz *f, int error)
{
	switch (error) {
	case 0:
		return FUZZ_OK;
	case EINVAL:
		return FUZZ_EINVAL;
	case EFAULT:
		return FUZZ_EFAULT;
	case ENOENT:
		return FUZZ_ENOENT;
	case EPERM:
		return FUZZ_EPERM;
	case EOPNOTSUPP:
		return FUZZ_EOPNOTSUPP;
	case EBUSY:
		return FUZZ_EBUSY;
	case EAGAIN:
		return FUZZ_EAGAIN;
	case EINTR:
		return FUZZ_EINTR;
	default:
		fuzz_fail(f, "error %d (%s)", error, strerror(error));
	}
}

/**
 * fuzz_ioctl:
 * @f: worker
 * @request: one of the ioctls under test
 * @arg: its argument
 *
 * Makes a call, repeats it as drmIoctl() does, and counts the results.
 *
 * Returns: 0 or a negative errno
 */
int fuzz_ioctl(struct fuzz *f, unsigned long request, void *arg)
{
	unsigned int tries;
	int error;

	for (tries = 0; tries < MAX_TRIES; tries++) {
		error = ioctl(f->fd, request, arg) ? errno : 0;
		f->stats->results[result_of(f, error)]++;
		if (error != EINTR && error != EAGAIN)
			return -error;
	}
	fuzz_fail(f, "does not end");
}

/**
 * fuzz_rw:
 * @f: worker
 * @write: PWRITE if true, else PREAD
 * @handle: BO
 * @offset: first byte in the BO
 * @size: bytes
 * @user: address of user memory
 * @flags: RADEON_GEM_RW_*
 *
 * Returns: 0 or a negative errno
 */
int fuzz_rw(struct fuzz *f, bool write, uint32_t handle, uint64_t offset,
	    uint64_t size, uint64_t user, uint32_t flags)
{
	struct drm_radeon_gem_pwrite arg = {
		.handle = handle,
		.pad = flags,
		.offset = offset,
		.size = size,
		.data_ptr = user,
	};
	int ret;

	/* struct drm_radeon_gem_pread has the same layout. */
	ret = fuzz_ioctl(f, write ? DRM_IOCTL_RADEON_GEM_PWRITE :
				    DRM_IOCTL_RADEON_GEM_PREAD, &arg);
	if (!ret)
		f->stats->bytes += size;
	return ret;
}

/**
 * fuzz_resets:
 * @f: worker
 *
 * Returns: number of GPU resets since the driver was loaded
 */
uint64_t fuzz_resets(struct fuzz *f)
{
	return igt_radeon_info64(f->fd, RADEON_INFO_GPU_RESET_COUNTER);
}

/**
 * fuzz_lock_open:
 * @run: the run
 *
 * Returns: a file descriptor of the run's lock, for this process
 */
int fuzz_lock_open(const struct fuzz_run *run)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", run->lock);
	fd = open(path, O_RDWR | O_CLOEXEC);
	igt_assert(fd >= 0);
	return fd;
}

/**
 * fuzz_lock:
 * @lock: from fuzz_lock_open()
 * @how: LOCK_SH before operations that can move BOs, LOCK_EX before a GPU
 *	reset, LOCK_UN after either
 *
 * Linux 6.12 cannot move a BO while a reset is due: TTM falls back to copying
 * by the CPU, waits for the GPU nevertheless, warns that it fails, and loses
 * the BO's new memory. So this lock keeps moves and resets apart. Queued work
 * and the calls under test do not need it.
 */
void fuzz_lock(int lock, int how)
{
	while (flock(lock, how))
		igt_assert_eq(errno, EINTR);
}
