/* SPDX-License-Identifier: MIT */
/*
 * Shared parts of the radeon tests: the device, buffer objects, copies by the
 * GPU's engines, and the control block of the emulated board.
 *
 * A function asserts that its work succeeds, unless its comment says that it
 * returns an error. Then it returns 0 or a negative errno.
 */
#ifndef IGT_RADEON_H
#define IGT_RADEON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "radeon_drm.h"
#include "radeon_drm_rw.h"

#include "igt_radeon_sys.h"

/**
 * struct igt_radeon_bo - a buffer object and how it was made
 * @fd: DRM file it belongs to
 * @handle: GEM handle in @fd
 * @domain: RADEON_GEM_DOMAIN_*, also used for relocations
 * @flags: RADEON_GEM_* creation flags
 * @size: bytes
 */
struct igt_radeon_bo {
	int fd;
	uint32_t handle;
	uint32_t domain;
	uint32_t flags;
	uint64_t size;
};

/**
 * struct igt_radeon_placement - where a BO can be
 * @name: for messages
 * @domain: RADEON_GEM_DOMAIN_*
 * @flags: RADEON_GEM_* creation flags
 */
struct igt_radeon_placement {
	const char *name;
	uint32_t domain;
	uint32_t flags;
};

/* The placements in which the CPU can access a BO without moving it. */
extern const struct igt_radeon_placement igt_radeon_reachable[];
extern const unsigned int igt_radeon_reachable_count;

const struct igt_radeon_placement *igt_radeon_placement(int fd, unsigned int i);

/**
 * enum igt_radeon_engine - which engine copies
 * @IGT_RADEON_CP_DMA: PM4 CP_DMA on the gfx ring, byte granular
 * @IGT_RADEON_DMA: COPY on the asynchronous DMA ring, dword granular
 */
enum igt_radeon_engine {
	IGT_RADEON_CP_DMA,
	IGT_RADEON_DMA,
	IGT_RADEON_ENGINES
};

/**
 * enum igt_radeon_counter - counters of the emulated board (CTL_COUNTER_SELECT)
 * @IGT_RADEON_CP_DMA_BYTES: bytes copied by CP_DMA
 * @IGT_RADEON_DMA_BYTES: bytes copied by the DMA ring
 * @IGT_RADEON_REGISTER_WRITES: writes to registers that trap
 * @IGT_RADEON_SOFT_RESETS: soft resets of any block
 * @IGT_RADEON_HDP_FLUSHES: flushes of the HDP; only a strict board counts them
 * @IGT_RADEON_TLB_INVALIDATES: flushes of the GART's TLB; the same
 * @IGT_RADEON_PIPE_WAITS: packets that waited for draws, dispatches or write-back; only a
 *	strict board of Evergreen or later counts them
 */
enum igt_radeon_counter {
	IGT_RADEON_CP_DMA_BYTES = 2,
	IGT_RADEON_DMA_BYTES = 3,
	IGT_RADEON_REGISTER_WRITES = 6,
	IGT_RADEON_SOFT_RESETS = 7,
	IGT_RADEON_HDP_FLUSHES = 19,
	IGT_RADEON_TLB_INVALIDATES = 23,
	IGT_RADEON_PIPE_WAITS = 48
};

/* Device */
int igt_radeon_open(void);
int igt_radeon_try_open_primary(void);
void igt_radeon_require_gem_rw(int fd);
void igt_radeon_require_rw_caps(int fd, uint32_t caps);
bool igt_radeon_has_invisible_vram(int fd);
void igt_radeon_require_invisible_vram(int fd);
uint64_t igt_radeon_info64(int fd, uint32_t request);
bool igt_radeon_caches_all(int fd);
bool igt_radeon_has_address_spaces(int fd);
void igt_radeon_vram_size(int fd, uint64_t *total, uint64_t *visible);

/* Buffer objects */
void igt_radeon_bo_init(struct igt_radeon_bo *bo, int fd, uint64_t size,
			uint32_t domain, uint32_t flags);
void igt_radeon_bo_fini(struct igt_radeon_bo *bo);
uint8_t *igt_radeon_bo_init_pattern(struct igt_radeon_bo *bo, int fd,
				    uint64_t size,
				    const struct igt_radeon_placement *p,
				    uint32_t seed);
void *igt_radeon_bo_map(const struct igt_radeon_bo *bo);
void igt_radeon_bo_wait(const struct igt_radeon_bo *bo);
bool igt_radeon_bo_busy(const struct igt_radeon_bo *bo);
void igt_radeon_bo_fill(const struct igt_radeon_bo *bo, const void *data);
void igt_radeon_bo_read(const struct igt_radeon_bo *bo, void *data);
void igt_radeon_bo_assert(const struct igt_radeon_bo *bo, const void *model,
			  const char *what);
int igt_radeon_userptr(int fd, void *mem, uint64_t size, uint32_t *handle);
int igt_radeon_foreign_dmabuf(uint64_t size);
int igt_radeon_import_foreign(int fd, uint64_t size, uint32_t *handle);

/* GPU work */
bool igt_radeon_has_engine(int fd, enum igt_radeon_engine engine);
int igt_radeon_try_copy(enum igt_radeon_engine engine,
			const struct igt_radeon_bo *dst, uint64_t dst_offset,
			const struct igt_radeon_bo *src, uint64_t src_offset,
			uint64_t size);
void igt_radeon_submit_nops(const struct igt_radeon_bo *bo, uint32_t dwords);
void igt_radeon_copy(enum igt_radeon_engine engine,
		     const struct igt_radeon_bo *dst, uint64_t dst_offset,
		     const struct igt_radeon_bo *src, uint64_t src_offset,
		     uint64_t size);

/* Emulated board */
bool igt_radeon_has_board(int fd);
void igt_radeon_require_board(int fd);
void igt_radeon_require_hold(int fd);
void igt_radeon_set_latency(int fd, uint32_t us);
void igt_radeon_set_rate(int fd, uint32_t mbps);
void igt_radeon_hang(int fd, enum igt_radeon_engine engine);
uint64_t igt_radeon_board_counter(int fd, enum igt_radeon_counter counter);

/* Memory pressure */
void igt_radeon_require_evicted(const struct igt_radeon_bo *bo);
void igt_radeon_require_swapped(const struct igt_radeon_bo *bo);

#endif /* IGT_RADEON_H */
