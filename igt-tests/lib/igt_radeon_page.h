/* SPDX-License-Identifier: MIT */
/*
 * Queries about pages: where those of a process are, whether they are dirty or
 * swapped out, and how many have each caching mode. For tests that have to
 * prove that their special case has happened.
 */
#ifndef IGT_RADEON_PAGE_H
#define IGT_RADEON_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "igt_radeon.h"

/**
 * struct igt_radeon_page - a page of this process's own memory
 * @present: it is mapped
 * @swapped: it is in swap space
 * @frame: number of the page frame, if @present
 * @flags: bits 1 << KPF_*, if @present
 */
struct igt_radeon_page {
	bool present;
	bool swapped;
	uint64_t frame;
	uint64_t flags;
};

/* A bit of /proc/kpageflags (include/uapi/linux/kernel-page-flags.h) */
#define IGT_RADEON_KPF_DIRTY	(1ull << 4)

struct igt_radeon_page igt_radeon_page(const void *mem);
uint64_t igt_radeon_count_pages(int fd, uint32_t caching);
void igt_radeon_assert_caching(int fd, uint32_t caching);

#endif /* IGT_RADEON_PAGE_H */
