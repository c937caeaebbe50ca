/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "glcount.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>

/* drm.h's DRM_COMMAND_BASE and the numbers of radeon_drm.h and radeon_drm_rw.h. */
#define DRM_TYPE 'd'
#define COMMAND(nr) (0x40 + (nr))
#define GEM_PREAD COMMAND(0x21)
#define GEM_PWRITE COMMAND(0x22)
#define CS COMMAND(0x26)
#define GEM_TRANSFER COMMAND(0x2e)

static struct gl_counts counts;

static void count(unsigned long *what)
{
	__atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int, unsigned long, ...);
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (!real)
		real = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
	if ((request >> 8 & 0xff) == DRM_TYPE) {
		count(&counts.ioctls);
		switch (request & 0xff) {
		case GEM_PREAD: count(&counts.preads); break;
		case GEM_PWRITE: count(&counts.pwrites); break;
		case GEM_TRANSFER: count(&counts.transfers); break;
		case CS: count(&counts.submissions); break;
		}
	}
	return real(fd, request, arg);
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
	return now;
}
