// SPDX-License-Identifier: MIT
/*
 * Queries about pages (Documentation/admin-guide/mm/pagemap.rst) and about
 * TTM's pools of pages.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_page.h"

#define PAGEMAP_FRAME		((1ull << 55) - 1)
#define PAGEMAP_SWAPPED		(1ull << 62)
#define PAGEMAP_PRESENT		(1ull << 63)

/*
 * How x86 marks pages of RAM that are not write-back
 * (arch/x86/mm/pat/memtype.c, _PGMT_*): PG_arch_1 for write-combined, PG_arch_2,
 * which was PG_uncached before Linux 6.12, for uncached.
 */
#define KPF_ARCH		(1ull << 38)
#define KPF_UNCACHED		(1ull << 39 | 1ull << 41)

#define CACHING			(RADEON_GEM_GTT_WC | RADEON_GEM_GTT_UC)

static int open_or_fail(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	igt_assert_f(fd >= 0, "no %s: needs CONFIG_PROC_PAGE_MONITOR and root\n",
		     path);
	return fd;
}

static uint64_t read_entry(const char *path, uint64_t index)
{
	int fd = open_or_fail(path);
	uint64_t entry = 0;

	igt_assert_eq(pread(fd, &entry, sizeof(entry), index * sizeof(entry)),
		      sizeof(entry));
	close(fd);
	return entry;
}

/**
 * igt_radeon_page:
 * @mem: address in this process, not in a mapping of a BO
 *
 * Returns: state of the page there
 */
struct igt_radeon_page igt_radeon_page(const void *mem)
{
	uint64_t entry = read_entry("/proc/self/pagemap",
				    (uintptr_t)mem / PAGE);
	struct igt_radeon_page page = {
		.present = entry & PAGEMAP_PRESENT,
		.swapped = entry & PAGEMAP_SWAPPED,
	};

	if (page.present) {
		page.frame = entry & PAGEMAP_FRAME;
		/* The kernel shows frame 0 to processes without privilege. */
		igt_assert(page.frame);
		page.flags = read_entry("/proc/kpageflags", page.frame);
	}
	return page;
}

/*
 * Each pool has a line: its name, a colon, and the number of blocks of 1, 2, 4,
 * ... pages. Its name contains the caching mode, and may contain "32" or "DMA".
 */
static int64_t pages_in(char *text, const char *name)
{
	char *line, *number, *fields;
	unsigned int order;
	int64_t pages = 0;

	while ((line = strsep(&text, "\n"))) {
		fields = strchr(line, ':');
		if (!fields)
			continue;
		*fields++ = 0;
		if (!strstr(line, name))
			continue;
		for (order = 0; (number = strsep(&fields, " \t")); )
			if (*number)
				pages += strtoll(number, NULL, 10) << order++;
	}
	return pages;
}

/*
 * Returns the number of free pages of a caching mode in TTM's pools, or -1 if
 * debugfs does not show them. All devices share pools, except that a device
 * that needs bounce buffers has its own.
 */
static int64_t pooled(int fd, uint32_t caching)
{
	const char *name = caching == RADEON_GEM_GTT_WC ? "wc" : "uc";
	char text[4096], path[96];
	int64_t pages;

	igt_radeon_mount_debugfs();
	if (igt_radeon_get("/sys/kernel/debug/ttm/page_pool", text,
			   sizeof(text)) <= 0)
		return -1;
	pages = pages_in(text, name);
	if (igt_radeon_debugfs(fd, "ttm_page_pool", path, sizeof(path)) &&
	    igt_radeon_get(path, text, sizeof(text)) > 0)
		pages += pages_in(text, name);
	return pages;
}

/* Both bits together mean write-through. */
static uint32_t caching_of(uint64_t flags)
{
	if (flags & KPF_UNCACHED)
		return flags & KPF_ARCH ? 0 : RADEON_GEM_GTT_UC;
	return flags & KPF_ARCH ? RADEON_GEM_GTT_WC : 0;
}

/**
 * igt_radeon_count_pages:
 * @fd: device
 * @caching: RADEON_GEM_GTT_WC or RADEON_GEM_GTT_UC
 *
 * Takes about a second, as it looks at all pages of the machine.
 *
 * Returns: number of pages of RAM that the kernel maps with this caching mode,
 * without the free ones in TTM's pools
 */
uint64_t igt_radeon_count_pages(int fd, uint32_t caching)
{
	static uint64_t flags[8192];
	uint64_t count = 0;
	ssize_t n, i;
	int file;

	file = open_or_fail("/proc/kpageflags");
	while ((n = read(file, flags, sizeof(flags))) > 0)
		for (i = 0; i < n / (ssize_t)sizeof(flags[0]); i++)
			count += caching == caching_of(flags[i]);
	igt_assert_eq(n, 0);
	close(file);
	n = pooled(fd, caching);
	igt_assert_f(n >= 0, "no ttm/page_pool in debugfs\n");
	return count - n;
}

/**
 * igt_radeon_assert_caching:
 * @fd: device
 * @caching: RADEON_GEM_GTT_WC, RADEON_GEM_GTT_UC or 0
 *
 * Asserts that a BO made with this flag has pages of this caching mode. On a
 * card that is not PCI Express, on RV610 to RV635, and without PAT,
 * radeon_bo_create() makes cached BOs without reporting that.
 *
 * When a BO is closed, its pages go to TTM's pool for their caching mode, which
 * proves the mode. A mode that was proved once is not tried again. On RV610 to RV635
 * nothing is asserted, see igt_radeon_caches_all().
 */
void igt_radeon_assert_caching(int fd, uint32_t caching)
{
	static uint32_t proven;
	const unsigned int pages = 16;
	struct igt_radeon_bo bo;
	int64_t during = 0, after = 0;
	unsigned int tries;
	void *map;

	caching &= CACHING;
	if (!caching || proven & caching)
		return;
	if (igt_radeon_caches_all(fd)) {
		igt_debug("the driver makes all BOs cached on this chip\n");
		return;
	}
	/* Other processes can take pages from the pool, or add some. */
	for (tries = 0; tries < 5; tries++) {
		igt_radeon_bo_init(&bo, fd, pages * PAGE, RADEON_GEM_DOMAIN_GTT,
				   caching);
		map = igt_radeon_bo_map(&bo);
		memset(map, 0, pages * PAGE);
		munmap(map, pages * PAGE);
		during = pooled(fd, caching);
		igt_radeon_bo_fini(&bo);
		after = pooled(fd, caching);
		igt_assert_f(during >= 0 && after >= 0,
			     "no ttm/page_pool in debugfs, to prove a caching mode\n");
		if (after - during == pages) {
			proven |= caching;
			return;
		}
	}
	igt_assert_f(false, "BOs made %s are not: %lld instead of %u pages\n",
		     caching == RADEON_GEM_GTT_WC ? "write-combined" :
						    "uncached",
		     (long long)(after - during), pages);
}
