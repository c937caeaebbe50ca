// SPDX-License-Identifier: MIT
/*
 * See libdrm-symbols.h.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libdrm-symbols.h"

#define SONAME "libdrm_radeon.so.1"
/* The library of "lab/build libdrm", relative to the benchmarks' directory. */
#define BUILT "../libdrm/lib/" SONAME

/* The library that was built beside this program, or NULL. */
static void *load_built(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
	char *slash;

	if (n <= 0 || n + sizeof(BUILT) > sizeof(path))
		return NULL;
	path[n] = 0;
	slash = strrchr(path, '/');
	strcpy(slash + 1, BUILT);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/**
 * bench_libdrm_load - load a library, and make a manager
 * @lib: filled in
 * @kind: the kind that it must be
 * @path: its file; NULL: the library built beside this program if @kind is
 *	BENCH_LIBDRM_NOMAP and it exists, otherwise the system's
 * @fd: device
 * @why: if -ENOTSUP is returned, set to what is missing
 * @size: size of @why
 *
 * Returns: 0, -ENOTSUP, or -ENOMEM
 */
int bench_libdrm_load(struct bench_libdrm *lib, enum bench_libdrm_kind kind,
		      const char *path, int fd, char *why, size_t size)
{
	__typeof__(radeon_bo_manager_gem_ctor) *ctor;
	void *file = NULL;

	memset(lib, 0, sizeof(*lib));
	if (path)
		file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	else if (kind == BENCH_LIBDRM_NOMAP)
		file = load_built();
	if (!file && !path)
		file = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	if (!file) {
		snprintf(why, size, "%s", dlerror());
		return -ENOTSUP;
	}
	ctor = dlsym(file, "radeon_bo_manager_gem_ctor");
	lib->open = dlsym(file, "radeon_bo_open");
	lib->unref = dlsym(file, "radeon_bo_unref");
	lib->map = dlsym(file, "radeon_bo_map");
	lib->unmap = dlsym(file, "radeon_bo_unmap");
	lib->pwrite = dlsym(file, "radeon_gem_bo_pwrite");
	lib->pread = dlsym(file, "radeon_gem_bo_pread");
	if (!ctor || !lib->open || !lib->unref || !lib->map || !lib->unmap) {
		snprintf(why, size, "%s is no libdrm_radeon", path ? path : SONAME);
		return -ENOTSUP;
	}
	if (kind == BENCH_LIBDRM_NOMAP && (!lib->pwrite || !lib->pread)) {
		snprintf(why, size, "no libdrm_radeon with radeon_gem_bo_pwrite()");
		return -ENOTSUP;
	}
	if (kind == BENCH_LIBDRM_DEBIAN && lib->pwrite) {
		snprintf(why, size, "%s has radeon_gem_bo_pwrite()",
			 path ? path : "this system's " SONAME);
		return -ENOTSUP;
	}
	lib->manager = ctor(fd);
	return lib->manager ? 0 : -ENOMEM;
}
