/* SPDX-License-Identifier: MIT */
/*
 * Transfers that take a certain path of the driver. The path depends on the
 * placement of the BO, on the size, and on whether the GPU uses the BO; a
 * counter of the driver proves it.
 */
#ifndef IGT_RADEON_WAY_H
#define IGT_RADEON_WAY_H

#include <stdbool.h>
#include <stdint.h>

#include "igt_radeon.h"

/**
 * struct igt_radeon_way - a transfer that takes a certain path
 * @name: for messages
 * @domain: placement of its BO, RADEON_GEM_DOMAIN_*
 * @flags: RADEON_GEM_* creation flags
 * @size: bytes of the transfer
 * @busy: the GPU is about to write the BO
 * @read: counter of the driver that a read increases, NULL if that varies
 * @write: the same for a write
 */
struct igt_radeon_way {
	const char *name;
	uint32_t domain;
	uint32_t flags;
	uint64_t size;
	bool busy;
	const char *read;
	const char *write;
};

extern const struct igt_radeon_way igt_radeon_ways[];
extern const unsigned int igt_radeon_way_count;

const struct igt_radeon_way *igt_radeon_way(const char *name);
bool igt_radeon_way_sleeps(const struct igt_radeon_way *path);
unsigned int igt_radeon_way_regions(const struct igt_radeon_way *path);
bool igt_radeon_has_way(int fd, const struct igt_radeon_way *path);

#endif /* IGT_RADEON_WAY_H */
