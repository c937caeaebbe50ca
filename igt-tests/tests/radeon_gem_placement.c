// SPDX-License-Identifier: MIT
/*
 * Checks that BOs have the placement and the caching mode that other tests ask
 * for. The driver may put a BO elsewhere, or make it cached, without reporting
 * that. Those tests would then test another case than they claim.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_page.h"
#include "igt_radeon_rw.h"
#include "igt_radeon_stats.h"

/**
 * TEST: radeon gem placement
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: placement and caching of buffer objects
 * Description: Checks that BOs have the placement and the caching mode that
 *              they were made with.
 */
IGT_TEST_DESCRIPTION("Checks that placements and caching modes of radeon BOs are real.");

/* Stores to uncached memory are slow, most of all on an emulated CPU. */
#define SIZE		(8 * MIB)

/**
 * SUBTEST: write-combined
 * Description: The pages of a write-combined BO in GTT are write-combined.
 *
 * SUBTEST: uncached
 * Description: The pages of an uncached BO in GTT are uncached.
 *
 * SUBTEST: cached
 * Description: The pages of a BO in GTT with neither flag are cached.
 *
 * On RV610 to RV635 the driver makes all BOs cached: the first two are skipped
 * there, when it has been seen that it does.
 */
static void test_caching(int fd, uint32_t caching)
{
	const uint32_t modes[] = { RADEON_GEM_GTT_WC, RADEON_GEM_GTT_UC };
	const bool caches_all = igt_radeon_caches_all(fd);
	uint64_t before[ARRAY_SIZE(modes)], after;
	struct igt_radeon_bo bo;
	unsigned int i;
	void *map;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		before[i] = igt_radeon_count_pages(fd, modes[i]);
	igt_radeon_bo_init(&bo, fd, SIZE, RADEON_GEM_DOMAIN_GTT, caching);
	map = igt_radeon_bo_map(&bo);
	memset(map, 1, SIZE);
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		after = igt_radeon_count_pages(fd, modes[i]);
		igt_assert_eq_u64(after - before[i],
				  modes[i] == caching && !caches_all ? SIZE / PAGE : 0);
	}
	munmap(map, SIZE);
	igt_radeon_bo_fini(&bo);
	igt_require_f(!caching || !caches_all,
		      "the driver makes all BOs cached on this chip\n");
}

/*
 * Where VRAM is cleared by moves, a new BO has pages in GTT until it is moved. TTM
 * frees them some time after that, and not before that the BO, if it is closed.
 */
static void assert_usage(int fd, uint64_t vram, uint64_t gtt)
{
	unsigned int i;

	for (i = 0; i < 50; i++) {
		if (igt_radeon_info64(fd, RADEON_INFO_VRAM_USAGE) == vram &&
		    igt_radeon_info64(fd, RADEON_INFO_GTT_USAGE) == gtt)
			return;
		usleep(100000);
	}
	igt_assert_eq_u64(igt_radeon_info64(fd, RADEON_INFO_VRAM_USAGE), vram);
	igt_assert_eq_u64(igt_radeon_info64(fd, RADEON_INFO_GTT_USAGE), gtt);
}

/**
 * SUBTEST: memory
 * Description: The usage of VRAM or GTT grows by the size of a BO that was made
 *              there, when it is cleared, until it is closed; a BO in system
 *              memory changes neither.
 */
static void test_memory(int fd)
{
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo bo;
	uint64_t vram, gtt;
	unsigned int i;

	vram = igt_radeon_info64(fd, RADEON_INFO_VRAM_USAGE);
	gtt = igt_radeon_info64(fd, RADEON_INFO_GTT_USAGE);
	for (i = 0; (p = igt_radeon_placement(fd, i)); i++) {
		igt_radeon_bo_init(&bo, fd, SIZE, p->domain, p->flags);
		igt_debug("%s\n", p->name);
		/* A BO that the GPU is still clearing is freed later, too. */
		igt_radeon_bo_wait(&bo);
		assert_usage(fd,
			     vram + (p->domain == RADEON_GEM_DOMAIN_VRAM ? SIZE : 0),
			     gtt + (p->domain == RADEON_GEM_DOMAIN_GTT ? SIZE : 0));
		igt_radeon_bo_fini(&bo);
		assert_usage(fd, vram, gtt);
	}
}

/**
 * SUBTEST: inaccessible-vram
 * Description: A BO made with NO_CPU_ACCESS is in CPU-inaccessible VRAM: the
 *              driver has the GPU read even one byte, and does not move the
 *              BO. The CPU reads a BO made with CPU_ACCESS.
 */
static void test_inaccessible(int fd)
{
	static const uint32_t flags[] = {
		RADEON_GEM_NO_CPU_ACCESS, RADEON_GEM_CPU_ACCESS,
	};
	struct igt_radeon_stats stats;
	struct igt_radeon_bo bo;
	unsigned int i;
	uint8_t byte;

	igt_radeon_require_invisible_vram(fd);
	igt_radeon_require_stats(fd);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		igt_radeon_bo_init(&bo, fd, PAGE, RADEON_GEM_DOMAIN_VRAM,
				   flags[i]);
		igt_radeon_bo_wait(&bo);
		stats = igt_radeon_stats(fd);
		igt_assert_eq(igt_radeon_pread(fd, bo.handle, 0, 1, &byte, 0),
			      0);
		stats = igt_radeon_stats_since(fd, &stats);
		igt_assert_eq_u64(stats.bytes[IGT_RADEON_STAGED], !i);
		igt_assert_eq_u64(stats.events[IGT_RADEON_MOVED], 0);
		igt_radeon_bo_fini(&bo);
	}
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER |
					       RADEON_GEM_RW_CAP_STAGED);
	}

	igt_describe("Write-combined BOs are write-combined.");
	igt_subtest("write-combined")
		test_caching(fd, RADEON_GEM_GTT_WC);

	igt_describe("Uncached BOs are uncached.");
	igt_subtest("uncached")
		test_caching(fd, RADEON_GEM_GTT_UC);

	igt_describe("Other BOs are cached.");
	igt_subtest("cached")
		test_caching(fd, 0);

	igt_describe("BOs are in the domain they were made for.");
	igt_subtest("memory")
		test_memory(fd);

	igt_describe("BOs made with NO_CPU_ACCESS are CPU-inaccessible.");
	igt_subtest("inaccessible-vram")
		test_inaccessible(fd);

	igt_fixture()
		close(fd);
}
