// SPDX-License-Identifier: MIT
/*
 * Memory pressure: having a BO evicted from VRAM or swapped out.
 */
#include <stdlib.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon.h"

/**
 * igt_radeon_require_evicted:
 * @bo: BO in VRAM, used before any that is newer
 *
 * Fills VRAM with other BOs until the kernel moves as much as @bo's size from
 * VRAM to GTT; the least recently used BO goes first. Skips if it does not.
 */
void igt_radeon_require_evicted(const struct igt_radeon_bo *bo)
{
	const uint64_t step = 16 << 20;
	uint64_t total, visible, before, moved = 0;
	struct igt_radeon_bo *fill;
	unsigned int max, n = 0;

	igt_radeon_vram_size(bo->fd, &total, &visible);
	max = total / step + 8;
	igt_require_f(max <= 1024, "too much VRAM to fill\n");
	fill = calloc(max, sizeof(*fill));
	igt_assert(fill);

	before = igt_radeon_info64(bo->fd, RADEON_INFO_GTT_USAGE);
	/* Hidden VRAM goes first, or the victim would be moved just there. */
	while (n < max && moved < bo->size) {
		igt_radeon_bo_init(&fill[n++], bo->fd, step,
				   RADEON_GEM_DOMAIN_VRAM,
				   RADEON_GEM_NO_CPU_ACCESS);
		moved = igt_radeon_info64(bo->fd, RADEON_INFO_GTT_USAGE) -
			before;
	}
	while (n)
		igt_radeon_bo_fini(&fill[--n]);
	free(fill);
	igt_require_f(moved >= bo->size, "nothing was evicted from VRAM\n");
}

/**
 * igt_radeon_require_swapped:
 * @bo: BO in GTT
 *
 * Has TTM swap out what it can, by its debugfs file, and skips if GTT usage
 * does not fall by @bo's size.
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
	/* One BO a read; each read needs a file of its own. */
	for (i = 0; i < 1024 && pages > 0; i++) {
		igt_assert(igt_radeon_get(path, answer, sizeof(answer)) > 0);
		pages = atoi(answer);
		after = igt_radeon_info64(bo->fd, RADEON_INFO_GTT_USAGE);
		if (before - after >= bo->size && after <= before)
			return;
	}
	igt_require_f(false, "TTM did not swap the BO out (%llu KiB left)\n",
		      (unsigned long long)after >> 10);
}
