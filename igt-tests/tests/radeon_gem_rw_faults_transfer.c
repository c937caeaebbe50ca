// SPDX-License-Identifier: MIT
/*
 * TRANSFER with fault injection, in calls of many regions.
 * radeon_gem_rw_faults.c does the same to PREAD and PWRITE.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_faults.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw faults transfer
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, error paths
 * Description: Makes each allocation and each access to user memory of a
 *              TRANSFER of many regions fail in turn.
 */
IGT_TEST_DESCRIPTION("Checks every error path of radeon's TRANSFER.");

#define ROW		48u
#define ROWS		5u
#define PITCH		64u

/* Random regions that are checked, besides those where the call stopped */
#define SAMPLE		8u

/**
 * struct layout - regions of a call
 * @regions: number of regions
 * @bos: number of BOs, taken in turn
 * @sparse: skip faults, more of the later ones
 */
struct layout {
	unsigned int regions;
	unsigned int bos;
	bool sparse;
};

/* One sweep. BOs hold @model around their regions, and at first in them. */
struct sweep {
	const struct layout *layout;
	struct igt_radeon_bo *bo;
	struct drm_radeon_gem_transfer_region *regions;
	uint8_t *user;
	uint8_t model[PAGE];
	bool write;
};

static void check_region(const struct sweep *s, unsigned int i,
			 unsigned int done)
{
	const struct igt_radeon_bo *bo = &s->bo[i % s->layout->bos];
	const uint8_t *user = s->user + i * ROW * ROWS;
	uint32_t offset = s->regions[i].bo_offset;
	unsigned int row;
	uint8_t *map;

	igt_radeon_bo_wait(bo);
	map = igt_radeon_bo_map(bo);
	for (row = 0; row < ROWS; row++, offset += PITCH, user += ROW) {
		igt_assert_f(i >= done || !memcmp(map + offset, user, ROW),
			     "region %u of %u done is not\n", i, done);
		/* Bytes between rows never change. */
		igt_assert_f(!memcmp(map + offset + ROW, s->model + offset + ROW,
				     PITCH - ROW),
			     "region %u: bytes between rows changed\n", i);
		igt_assert_f(s->write ||
			     !memcmp(map + offset, s->model + offset, ROW),
			     "a TRANSFER from it changed region %u\n", i);
	}
	munmap(map, bo->size);
}

static void check(const struct sweep *s, unsigned int done)
{
	const unsigned int count = s->layout->regions;
	unsigned int i;

	for (i = 0; i < SAMPLE; i++)
		check_region(s, igt_radeon_random() % count, done);
	/* Regions around the one where the call stopped */
	for (i = done < 2 ? 0 : done - 2; i < done + 2 && i < count; i++)
		check_region(s, i, done);
}

static void sweep_run(struct sweep *s, int fd,
		      const struct igt_radeon_placement *place,
		      enum igt_radeon_fault fault)
{
	const uint32_t flags = s->write ? RADEON_GEM_TRANSFER_WRITE : 0;
	const unsigned int count = s->layout->regions;
	unsigned int nth, faults = 0, errors = 0;
	bool happened = true;
	uint32_t done;
	int ret;

	igt_radeon_choose_faults(fault);
	for (nth = 1; happened; nth += 1 + s->layout->sparse * nth / 3) {
		igt_assert_f(faults <= IGT_RADEON_MAX_FAULTS,
			     "there is no end of faults\n");
		igt_radeon_pattern(s->user, count * ROW * ROWS,
				   igt_radeon_random());

		igt_radeon_arm(nth);
		ret = igt_radeon_transfer(fd, s->regions, count, flags, &done);
		happened = igt_radeon_disarm();

		igt_assert(happened || ret == 0);
		igt_assert_f(ret == 0 || ret == (fault == IGT_RADEON_FAULT_ALLOC ?
						 -ENOMEM : -EFAULT),
			     "%s, fault %u: %d\n", place->name, nth, ret);
		igt_assert(done <= count && (ret || done == count));
		check(s, done);
		if (ret) {
			igt_assert_eq(igt_radeon_transfer(fd, s->regions, count,
							  flags, &done), 0);
			igt_assert_eq(done, count);
			check(s, done);
		}
		faults += happened;
		errors += !!ret;
	}
	igt_info("%s, TRANSFER %s: %u faults, %u errors\n", place->name,
		 s->write ? "to it" : "from it", faults, errors);
	igt_assert_f(errors > 0 || fault == IGT_RADEON_FAULT_ALLOC,
		     "no access to user memory failed\n");
}

static void sweep_both(int fd, const struct igt_radeon_placement *place,
		       const struct layout *layout)
{
	const size_t user_size = layout->regions * ROW * ROWS;
	struct sweep s = { .layout = layout };
	unsigned int i;

	s.bo = calloc(layout->bos, sizeof(*s.bo));
	s.regions = calloc(layout->regions, sizeof(*s.regions));
	igt_assert(s.bo && s.regions);
	s.user = igt_radeon_memory(user_size);
	igt_radeon_pattern(s.model, PAGE, igt_radeon_random());
	for (i = 0; i < layout->bos; i++) {
		igt_radeon_bo_init(&s.bo[i], fd, PAGE, place->domain,
				   place->flags);
		igt_radeon_bo_fill(&s.bo[i], s.model);
	}
	for (i = 0; i < layout->regions; i++)
		s.regions[i] = (struct drm_radeon_gem_transfer_region) {
			.handle = s.bo[i % layout->bos].handle,
			.bo_offset = i / layout->bos * PITCH * ROWS,
			.user_ptr = (uintptr_t)s.user + i * ROW * ROWS,
			.bo_pitch = PITCH,
			.user_pitch = ROW,
			.row_bytes = ROW,
			.rows = ROWS,
		};

	/* Reads first, while BOs hold the model. */
	for (s.write = false; ; s.write = true) {
		sweep_run(&s, fd, place, IGT_RADEON_FAULT_ALLOC);
		sweep_run(&s, fd, place, IGT_RADEON_FAULT_USERCOPY);
		if (s.write)
			break;
	}

	for (i = 0; i < layout->bos; i++)
		igt_radeon_bo_fini(&s.bo[i]);
	munmap(s.user, user_size);
	free(s.regions);
	free(s.bo);
}

/**
 * SUBTEST: few-bos
 * Description: Faults in a TRANSFER of many regions of several BOs: the first
 *              regions_done regions are transferred, and the repeated call
 *              succeeds.
 *
 * SUBTEST: thousand-bos
 * Description: The same with a thousand BOs, a region in each of them, and only
 *              some of the faults.
 */
static const struct layout few = { 40, 5, false };
static const struct layout thousand = { 1000, 1000, true };

int igt_main()
{
	static struct igt_radeon_baseline before;
	unsigned int i;
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER);
		igt_radeon_require_faults();
		/* Skips here if faults cannot be chosen. */
		igt_radeon_choose_faults(IGT_RADEON_FAULT_ALLOC);
		before = igt_radeon_baseline_take(fd);
	}

	igt_describe("Faults in a call for many regions of a few BOs.");
	igt_subtest("few-bos") {
		for (i = 0; i < igt_radeon_reachable_count; i++)
			sweep_both(fd, &igt_radeon_reachable[i], &few);
		igt_radeon_baseline_assert(fd, &before);
	}

	igt_describe("Faults in a call for one region in each of many BOs.");
	igt_subtest("thousand-bos") {
		for (i = 0; i < 2; i++)
			sweep_both(fd, &igt_radeon_reachable[i], &thousand);
		igt_radeon_baseline_assert(fd, &before);
	}

	igt_fixture()
		close(fd);
}
