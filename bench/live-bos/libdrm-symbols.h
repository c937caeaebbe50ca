/* SPDX-License-Identifier: MIT */
/*
 * libdrm_radeon, loaded at run time, so that Debian's and one with nomap's
 * series (libdrm/) can be compared by one program. A process loads one of them.
 */
#ifndef BENCH_LIBDRM_H
#define BENCH_LIBDRM_H

#include <stddef.h>
#include <stdint.h>

#include <radeon_bo.h>
#include <radeon_bo_gem.h>

/**
 * enum bench_libdrm_kind - kinds of libdrm_radeon
 * @BENCH_LIBDRM_NOMAP: has radeon_gem_bo_pwrite() and bounds its maps
 * @BENCH_LIBDRM_DEBIAN: has neither
 */
enum bench_libdrm_kind {
	BENCH_LIBDRM_NOMAP,
	BENCH_LIBDRM_DEBIAN,
};

/**
 * struct bench_libdrm - a loaded library
 * @manager: its manager of BOs for a device
 * @open: radeon_bo_open()
 * @unref: radeon_bo_unref()
 * @map: radeon_bo_map()
 * @unmap: radeon_bo_unmap()
 * @pwrite: radeon_gem_bo_pwrite(), or NULL
 * @pread: radeon_gem_bo_pread(), or NULL
 */
struct bench_libdrm {
	struct radeon_bo_manager *manager;
	__typeof__(radeon_bo_open) *open;
	__typeof__(radeon_bo_unref) *unref;
	__typeof__(radeon_bo_map) *map;
	__typeof__(radeon_bo_unmap) *unmap;
	int (*pwrite)(struct radeon_bo *bo, uint64_t offset, uint64_t size,
		      const void *data, uint32_t flags);
	int (*pread)(struct radeon_bo *bo, uint64_t offset, uint64_t size,
		     void *data, uint32_t flags);
};

int bench_libdrm_load(struct bench_libdrm *lib, enum bench_libdrm_kind kind,
		      const char *path, int fd, char *why, size_t size);

#endif /* BENCH_LIBDRM_H */
