// SPDX-License-Identifier: MIT
/*
 * Transfers that take a certain path of the driver.
 */
#include <string.h>

#include "igt.h"
#include "igt_radeon_rw.h"
#include "igt_radeon_way.h"

const struct igt_radeon_way igt_radeon_ways[] = {
	{ "small", RADEON_GEM_DOMAIN_GTT, 0, 300, false,
	  "cpu", "cpu" },
	{ "medium", RADEON_GEM_DOMAIN_GTT, 0, 200 << 10, false,
	  NULL, NULL },
	{ "large", RADEON_GEM_DOMAIN_GTT, 0, 3 << 20, false,
	  "cpu", "cpu" },
	{ "busy", RADEON_GEM_DOMAIN_GTT, 0, 4096, true,
	  "stall", "stall_avoided" },
	{ "staged", RADEON_GEM_DOMAIN_VRAM, 0, 96 << 10, true,
	  "staged", "staged" },
	{ "invisible", RADEON_GEM_DOMAIN_VRAM, RADEON_GEM_NO_CPU_ACCESS,
	  96 << 10, false, "staged", "staged" },
};

const unsigned int igt_radeon_way_count =
	ARRAY_SIZE(igt_radeon_ways);

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

/**
 * igt_radeon_way_regions:
 * @path: path
 *
 * Returns: number of regions of a TRANSFER: IGT_RADEON_MAX_SPLIT below 1 MiB,
 * else one
 */
unsigned int igt_radeon_way_regions(const struct igt_radeon_way *path)
{
	return path->size < MIB ? IGT_RADEON_MAX_SPLIT : 1;
}
