/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "glcount.h"
#include "glstream.h"

#include <dlfcn.h>
#include <drm/radeon_drm.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>

#define DRM_TYPE 'd'
#define COMMAND(nr) (DRM_COMMAND_BASE + (nr))
#define PRIME_HANDLE_TO_FD 0x2d /* the number of DRM_IOCTL_PRIME_HANDLE_TO_FD */
#define GEM_TRANSFER 0x2e /* of radeon_drm_rw.h */
#define HANDLES 65536

static struct gl_counts counts;
/* Sizes of BOs by their handles. */
static uint64_t sizes[HANDLES];
static struct gl_export last_export;

static void count(unsigned long *what)
{
	__atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
}

/* Looks at an ioctl that has succeeded. */
static void done(unsigned number, const void *arg)
{
	if (number == COMMAND(DRM_RADEON_GEM_CREATE)) {
		const struct drm_radeon_gem_create *create = arg;

		count(&counts.creates);
		if (create->handle < HANDLES)
			__atomic_store_n(&sizes[create->handle], create->size, __ATOMIC_RELAXED);
	} else if (number == PRIME_HANDLE_TO_FD) {
		const struct drm_prime_handle *prime = arg;

		count(&counts.exports);
		last_export.handle = prime->handle;
		last_export.size = prime->handle < HANDLES ? sizes[prime->handle] : 0;
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int, unsigned long, ...);
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (!real)
		real = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
	if ((request >> 8 & 0xff) == DRM_TYPE) {
		count(&counts.ioctls);
		switch (request & 0xff) {
		case COMMAND(DRM_RADEON_GEM_PREAD): count(&counts.preads); break;
		case COMMAND(DRM_RADEON_GEM_PWRITE): count(&counts.pwrites); break;
		case COMMAND(GEM_TRANSFER): count(&counts.transfers); break;
		case COMMAND(DRM_RADEON_CS):
			count(&counts.submissions);
			gl_stream(arg);
			break;
		}
	}
	ret = real(fd, request, arg);
	if (!ret && (request >> 8 & 0xff) == DRM_TYPE)
		done(request & 0xff, arg);
	return ret;
}

void *mmap64(void *addr, size_t length, int prot, int flags, int fd, off64_t offset)
{
	static void *(*real)(void *, size_t, int, int, int, off64_t);

	if (!real)
		real = (void *(*)(void *, size_t, int, int, int, off64_t))dlsym(RTLD_NEXT, "mmap64");
	if (fd >= 0 && flags & MAP_SHARED)
		count(&counts.maps);
	return real(addr, length, prot, flags, fd, offset);
}

void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	return mmap64(addr, length, prot, flags, fd, offset);
}

int munmap(void *addr, size_t length)
{
	static int (*real)(void *, size_t);

	if (!real)
		real = (int (*)(void *, size_t))dlsym(RTLD_NEXT, "munmap");
	count(&counts.unmaps);
	return real(addr, length);
}

struct gl_counts gl_counts(void)
{
	struct gl_counts now;

	__atomic_load(&counts.ioctls, &now.ioctls, __ATOMIC_RELAXED);
	__atomic_load(&counts.maps, &now.maps, __ATOMIC_RELAXED);
	__atomic_load(&counts.unmaps, &now.unmaps, __ATOMIC_RELAXED);
	__atomic_load(&counts.pwrites, &now.pwrites, __ATOMIC_RELAXED);
	__atomic_load(&counts.preads, &now.preads, __ATOMIC_RELAXED);
	__atomic_load(&counts.transfers, &now.transfers, __ATOMIC_RELAXED);
	__atomic_load(&counts.submissions, &now.submissions, __ATOMIC_RELAXED);
	__atomic_load(&counts.creates, &now.creates, __ATOMIC_RELAXED);
	__atomic_load(&counts.exports, &now.exports, __ATOMIC_RELAXED);
	return now;
}

struct gl_export gl_last_export(void) { return last_export; }
