// SPDX-License-Identifier: MIT
/*
 * Leak checks: a test must leave as much memory in use and pinned as it found.
 */
#include <string.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_baseline.h"

static uint64_t pinned_pages(void)
{
	static const char *const names[] = {
		"nr_foll_pin_acquired", "nr_foll_pin_released"
	};
	uint64_t values[2];

	igt_radeon_vmstats(names, values, 2);
	/*
	 * The kernel adds up one CPU after the other, so a page that one CPU
	 * pins and another unpins may be counted as unpinned only.
	 */
	return values[0] > values[1] ? values[0] - values[1] : 0;
}

/**
 * igt_radeon_baseline_take:
 * @fd: device
 *
 * Returns: leak-check baseline: GTT, VRAM and pinned pages in use now
 */
struct igt_radeon_baseline igt_radeon_baseline_take(int fd)
{
	return (struct igt_radeon_baseline) {
		.gtt = igt_radeon_info64(fd, RADEON_INFO_GTT_USAGE),
		.vram = igt_radeon_info64(fd, RADEON_INFO_VRAM_USAGE),
		.pins = pinned_pages(),
	};
}

/**
 * igt_radeon_baseline_assert:
 * @fd: device
 * @before: leak-check baseline
 *
 * Asserts that as much is in use now as then. Queued work may still hold
 * memory, so this waits for up to 5 s.
 *
 * Page tables of open files can be evicted to GTT, and swapped out from there.
 * They come back with the next submission in the file's address space, which
 * tests do not make. So where there are address spaces, no more may be in use of
 * both together.
 */
void igt_radeon_baseline_assert(int fd, const struct igt_radeon_baseline *before)
{
	const bool tables = igt_radeon_has_address_spaces(fd);
	struct igt_radeon_baseline now;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		now = igt_radeon_baseline_take(fd);
		if (!memcmp(&now, before, sizeof(now)))
			return;
		if (tables && now.pins == before->pins &&
		    now.gtt + now.vram <= before->gtt + before->vram)
			return;
		usleep(100000);
	}
	igt_assert_f(now.pins == before->pins, "%lld pages are still pinned\n",
		     (long long)(now.pins - before->pins));
	igt_assert_f(!tables, "usage of VRAM and GTT grew by %lld\n",
		     (long long)(now.gtt + now.vram - before->gtt - before->vram));
	igt_assert_f(now.gtt == before->gtt, "GTT usage grew by %lld\n",
		     (long long)(now.gtt - before->gtt));
	igt_assert_f(now.vram == before->vram, "VRAM usage grew by %lld\n",
		     (long long)(now.vram - before->vram));
}
