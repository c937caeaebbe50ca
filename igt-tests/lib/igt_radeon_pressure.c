// SPDX-License-Identifier: MIT
/*
 * Memory pressure: having a BO evicted from VRAM or swapped out.
 */
#include <stdlib.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_rw.h"
#include "igt_radeon_stats.h"

/* An engine does a PREAD of this size from VRAM, but never one from GTT. */
#define READ_BY_ENGINE	(64 * KIB)

/* Whether the path of a PREAD shows that the BO is in VRAM. */
static bool in_vram(const struct igt_radeon_bo *bo)
{
	struct igt_radeon_stats stats;
	uint8_t *mem;

	if (bo->size < READ_BY_ENGINE || !igt_radeon_has_stats(bo->fd))
		return false;
	mem = igt_radeon_malloc(READ_BY_ENGINE);
	stats = igt_radeon_stats(bo->fd);
	igt_assert_eq(igt_radeon_pread(bo->fd, bo->handle, 0, READ_BY_ENGINE,
				       mem, 0), 0);
	stats = igt_radeon_stats_since(bo->fd, &stats);
	free(mem);
	return stats.bytes[IGT_RADEON_STAGED];
}

/* BOs that fill VRAM. */
struct filling {
	struct igt_radeon_bo *bo;
	unsigned int count, max;
};

static bool fill(struct filling *f, int fd, uint64_t size, uint32_t domains,
		 uint32_t flags)
{
	if (f->count == f->max)
		return false;
	igt_radeon_bo_init(&f->bo[f->count++], fd, size, domains, flags);
	return true;
}

/*
 * Fills a hole of VRAM, if there is one of @size bytes. A BO that may be in GTT,
 * too, goes there rather than to evict others.
 */
static bool fill_hole(struct filling *f, int fd, uint64_t size)
{
	uint64_t before = igt_radeon_info64(fd, RADEON_INFO_VRAM_USAGE);

	if (!fill(f, fd, size, RADEON_GEM_DOMAIN_VRAM | RADEON_GEM_DOMAIN_GTT,
		  RADEON_GEM_NO_CPU_ACCESS))
		return false;
	if (igt_radeon_info64(fd, RADEON_INFO_VRAM_USAGE) >= before + size)
		return true;
	igt_radeon_bo_fini(&f->bo[--f->count]);
	return false;
}

/**
 * igt_radeon_require_evicted:
 * @bo: BO in VRAM, not used since other BOs were
 *
 * Fills VRAM with other BOs until GTT usage has grown by @bo's size and @bo is
 * no longer in VRAM. The kernel evicts the least recently used BO first, which
 * may be its own or another process's. Skips if VRAM is too large to fill, and
 * fails if @bo stays in VRAM.
 *
 * radeon_evict_flags() moves a BO from CPU-accessible VRAM to CPU-inaccessible
 * VRAM if some is free, which makes it the most recently used BO there. So all
 * of VRAM is filled before the first BO is evicted. Its size less its usage does
 * not tell what is left: from Cayman on page tables of address spaces are aligned
 * to 32 KiB, with holes between them that no larger BO fits in. A new BO only
 * evicts others from the part of VRAM that it prefers, so new BOs go to both
 * parts in turn.
 */
void igt_radeon_require_evicted(const struct igt_radeon_bo *bo)
{
	static const uint64_t steps[] = { 16 * MIB, MIB, 64 * KIB, PAGE };
	uint64_t total, visible, before, moved = 0;
	struct filling f = { 0 };
	unsigned int i;

	igt_radeon_vram_size(bo->fd, &total, &visible);
	f.max = total / steps[0] + 64 * ARRAY_SIZE(steps);
	igt_require_f(f.max <= 1024, "too much VRAM to fill\n");
	f.bo = calloc(f.max, sizeof(*f.bo));
	igt_assert(f.bo);

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		while (fill_hole(&f, bo->fd, steps[i]))
			;
	before = igt_radeon_info64(bo->fd, RADEON_INFO_GTT_USAGE);
	for (i = 0; (moved < bo->size || in_vram(bo)) &&
		    fill(&f, bo->fd, steps[0], RADEON_GEM_DOMAIN_VRAM, i & 1 ?
			 RADEON_GEM_NO_CPU_ACCESS : RADEON_GEM_CPU_ACCESS); i++)
		moved = igt_radeon_info64(bo->fd, RADEON_INFO_GTT_USAGE) -
			before;
	while (f.count)
		igt_radeon_bo_fini(&f.bo[--f.count]);
	free(f.bo);
	igt_assert_f(moved >= bo->size, "nothing was evicted from VRAM\n");
	igt_assert_f(!in_vram(bo), "another BO was evicted from VRAM\n");
}

/**
 * igt_radeon_require_swapped:
 * @bo: BO in GTT
 *
 * Has TTM swap out BOs, by its debugfs file, and fails if GTT usage does not
 * fall by @bo's size.
 */
void igt_radeon_require_swapped(const struct igt_radeon_bo *bo)
{
	static const char path[] = "/sys/kernel/debug/ttm/tt_shrink";
	uint64_t before, after;
	char answer[32];
	int i, pages = 1;

	igt_radeon_mount_debugfs();
	igt_require_f(!access(path, R_OK), "no access to %s\n", path);

	before = igt_radeon_info64(bo->fd, RADEON_INFO_GTT_USAGE);
	after = before;
	/* A read swaps one BO out; each read has to open the file again. */
	for (i = 0; i < 1024 && pages > 0; i++) {
		igt_assert(igt_radeon_get(path, answer, sizeof(answer)) > 0);
		pages = atoi(answer);
		after = igt_radeon_info64(bo->fd, RADEON_INFO_GTT_USAGE);
		if (before - after >= bo->size && after <= before)
			return;
	}
	igt_assert_f(false, "TTM did not swap the BO out (%llu KiB left)\n",
		      (unsigned long long)after >> 10);
}
