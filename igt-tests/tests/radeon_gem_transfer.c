// SPDX-License-Identifier: MIT
/*
 * DRM_RADEON_GEM_TRANSFER copies many two-dimensional regions between user
 * memory and BOs in one call. The tests fill and check BOs through mappings or
 * with the GPU, never with PREAD and PWRITE.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_rw.h"

/**
 * TEST: radeon gem transfer
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: moving regions of buffer objects without mapping them
 * Description: Checks the bytes that DRM_RADEON_GEM_TRANSFER leaves in BOs and
 *              in user memory, in each placement and in order with GPU work.
 */
IGT_TEST_DESCRIPTION("Checks transfers of regions of radeon buffer objects.");

#define NOWHERE		0xffff888000000000ull	/* in kernel space */
#define HOLD_US		2000000u
#define UPLOAD		RADEON_GEM_TRANSFER_WRITE
#define DOWNLOAD	0u
#define MAX_BOS		5

typedef struct drm_radeon_gem_transfer_region region_t;

static const uint32_t directions[] = { UPLOAD, DOWNLOAD };

/*
 * BOs and user memory, with models of their bytes: @shadow is that of @user.
 */
struct scene {
	int fd;
	unsigned int count;
	struct igt_radeon_bo bo[MAX_BOS];
	uint8_t *model[MAX_BOS];
	uint8_t *user, *shadow;
	size_t user_size;
};

static uint32_t rnd_state;

static uint32_t rnd(uint32_t below)
{
	rnd_state = rnd_state * 1664525u + 1013904223u;
	return (rnd_state >> 8) % below;
}

static void scene_init(struct scene *s, int fd, unsigned int count,
		       uint64_t bo_size, size_t user_size,
		       const struct igt_radeon_placement *p)
{
	unsigned int i;

	igt_assert(count <= MAX_BOS);
	igt_debug("%s\n", p->name);
	rnd_state = 1;
	*s = (struct scene) {
		.fd = fd,
		.count = count,
		.user = igt_radeon_malloc(user_size),
		.shadow = igt_radeon_malloc(user_size),
		.user_size = user_size,
	};
	for (i = 0; i < count; i++)
		s->model[i] = igt_radeon_bo_init_pattern(&s->bo[i], fd, bo_size,
							 p, i + 1);
}

static void scene_fini(struct scene *s)
{
	unsigned int i;

	for (i = 0; i < s->count; i++) {
		igt_radeon_bo_fini(&s->bo[i]);
		free(s->model[i]);
	}
	free(s->user);
	free(s->shadow);
}

static void scene_assert(const struct scene *s, const char *what)
{
	unsigned int i;

	for (i = 0; i < s->count; i++)
		igt_radeon_bo_assert(&s->bo[i], s->model[i], what);
}

/* Fills user memory, and its model, with new bytes. */
static void scene_refresh(struct scene *s)
{
	static uint32_t seed = 1000;

	igt_radeon_pattern(s->user, s->user_size, seed++);
	memcpy(s->shadow, s->user, s->user_size);
}

/* Does to the models what regions, done in order, do to BOs and user memory. */
static void scene_apply(struct scene *s, const region_t *regions,
			uint32_t count, uint32_t flags)
{
	uint8_t *bo, *user;
	unsigned int b;
	uint32_t i, row;

	for (i = 0; i < count; i++) {
		const region_t *r = &regions[i];

		if (!r->row_bytes)
			continue;
		for (row = 0; row < r->rows; row++) {
			for (b = 0; s->bo[b].handle != r->handle; b++)
				igt_assert(b + 1 < s->count);
			bo = s->model[b] + r->bo_offset +
			     (uint64_t)row * r->bo_pitch;
			user = s->shadow +
			       (r->user_ptr - (uintptr_t)s->user) +
			       (uint64_t)row * r->user_pitch;
			if (flags & UPLOAD)
				memcpy(bo, user, r->row_bytes);
			else
				memcpy(user, bo, r->row_bytes);
		}
	}
}

/* Checks all user memory, also around the regions. */
static void scene_assert_user(const struct scene *s)
{
	igt_radeon_assert_equal(s->user, s->shadow, s->user_size,
				"user memory");
}

/*
 * Makes a call that should transfer its first @good regions and return
 * @expected. Checks user memory and then overwrites it. Use scene_assert() to
 * check BOs.
 */
static void scene_transfer(struct scene *s, const region_t *regions,
			   uint32_t count, uint32_t flags, uint32_t good,
			   int expected)
{
	uint32_t done;
	int ret;

	scene_refresh(s);
	ret = igt_radeon_transfer(s->fd, regions, count, flags, &done);
	igt_assert_f(ret == expected && done == good,
		     "%s: %d instead of %d, %u regions done instead of %u\n",
		     flags & UPLOAD ? "upload" : "download", ret, expected,
		     done, good);
	scene_apply(s, regions, good, flags);
	scene_assert_user(s);
	memset(s->user, 0xee, s->user_size);
}

/* Regions at random offsets in BOs, one behind the other in user memory. */
static void scene_regions(const struct scene *s, region_t *regions,
			  unsigned int count, uint32_t max_row,
			  uint32_t max_rows)
{
	uint64_t user = 0;
	unsigned int i;

	for (i = 0; i < count; i++) {
		const struct igt_radeon_bo *bo = &s->bo[rnd(s->count)];
		region_t *r = &regions[i];

		*r = (region_t) {
			.handle = bo->handle,
			.row_bytes = 1 + rnd(max_row),
			.rows = 1 + rnd(max_rows),
		};
		r->bo_pitch = r->row_bytes + (rnd(3) ? rnd(100) : 0);
		r->user_pitch = r->row_bytes + (rnd(3) ? rnd(100) : 0);
		r->bo_offset = rnd(bo->size - (r->rows - 1) * r->bo_pitch -
				   r->row_bytes + 1);
		user += rnd(70);
		r->user_ptr = (uintptr_t)s->user + user;
		user += (r->rows - 1) * r->user_pitch + r->row_bytes;
		igt_assert(user <= s->user_size);
	}
}

/* Returns a region of one row, at the same offset in BO and user memory. */
static region_t one_row(const struct scene *s, unsigned int b, uint64_t offset,
			uint32_t bytes)
{
	return (region_t) {
		.handle = s->bo[b].handle,
		.bo_offset = offset,
		.user_ptr = (uintptr_t)s->user + offset,
		.row_bytes = bytes,
		.rows = 1,
	};
}

/**
 * SUBTEST: basic
 * Description: Uploads and downloads one region, and many of several BOs.
 *
 * SUBTEST: placements
 * Description: Transfers regions from single bytes to rows of several pages in
 *              CPU-accessible and CPU-inaccessible VRAM, in GTT of each caching
 *              mode and in system memory.
 */
static void test_placement(int fd, const struct igt_radeon_placement *p)
{
	static const struct {
		unsigned int count;
		uint32_t row, rows;
	} shapes[] = {
		{ 1, 1, 1 }, { 1, 5000, 1 }, { 1, 200, 40 }, { 7, 16, 16 },
		{ 64, 100, 9 }, { 65, 3, 3 }, { 300, 70, 4 }, { 20, 3000, 12 },
		{ 3, 20000, 10 }, { 1, 200000, 1 },
	};
	region_t regions[300];
	struct scene s;
	unsigned int i;

	scene_init(&s, fd, MAX_BOS, 64 * PAGE, 256 * PAGE, p);
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		scene_regions(&s, regions, shapes[i].count, shapes[i].row,
			      shapes[i].rows);
		scene_transfer(&s, regions, shapes[i].count, UPLOAD,
			       shapes[i].count, 0);
		scene_assert(&s, "after an upload");
		scene_regions(&s, regions, shapes[i].count, shapes[i].row,
			      shapes[i].rows);
		scene_transfer(&s, regions, shapes[i].count, DOWNLOAD,
			       shapes[i].count, 0);
	}
	scene_assert(&s, "after downloads");
	scene_fini(&s);
}

static void test_placements(int fd)
{
	const struct igt_radeon_placement *p;
	unsigned int i;

	for (i = 0; (p = igt_radeon_placement(fd, i)); i++)
		test_placement(fd, p);
}

/**
 * SUBTEST: pitches
 * Description: Bytes between rows do not change if pitches are larger than a
 *              row. A region of one row may have any pitch; with more rows, a
 *              pitch smaller than a row gives -EINVAL.
 */
static void test_pitches(int fd)
{
	static const struct {
		uint32_t row_bytes, rows, bo_pitch, user_pitch;
		int expected;
	} shapes[] = {
		{ 256, 16, 256, 256, 0 },
		{ 64, 16, 256, 64, 0 },
		{ 64, 16, 64, 256, 0 },
		{ 64, 16, 1024, 256, 0 },
		{ 13, 50, 17, 19, 0 },
		{ 1, 100, 3, 2, 0 },
		{ 1, 100, 1, 67, 0 },
		{ 4096, 3, 4097, 5000, 0 },
		{ 3, 2, 40000, 60000, 0 },
		{ 512, 1, 0, 0, 0 },
		{ 512, 1, 511, 1, 0 },
		{ 512, 1, UINT32_MAX, UINT32_MAX, 0 },
		{ 512, 2, 511, 512, -EINVAL },
		{ 512, 2, 512, 511, -EINVAL },
		{ 512, 2, 0, 512, -EINVAL },
		{ 512, 2, 512, 0, -EINVAL },
		{ 512, 16, 256, 1024, -EINVAL },
		{ 1, 2, 0, 0, -EINVAL },
	};
	const struct igt_radeon_placement *p;
	unsigned int i, j, d;
	struct scene s;
	region_t r;

	for (i = 0; (p = igt_radeon_placement(fd, i)); i++) {
		scene_init(&s, fd, 1, 16 * PAGE, 16 * PAGE, p);
		for (j = 0; j < ARRAY_SIZE(shapes); j++) {
			r = one_row(&s, 0, 77 + j, shapes[j].row_bytes);
			r.rows = shapes[j].rows;
			r.bo_pitch = shapes[j].bo_pitch;
			r.user_pitch = shapes[j].user_pitch;
			for (d = 0; d < ARRAY_SIZE(directions); d++)
				scene_transfer(&s, &r, 1, directions[d],
					       !shapes[j].expected,
					       shapes[j].expected);
			scene_assert(&s, "after rows with pitches");
		}
		scene_fini(&s);
	}
}

/**
 * SUBTEST: glyphs
 * Description: Uploads 1,000 regions of 16 by 16 bytes to one BO and to 1,000
 *              BOs, and downloads them.
 */
static void test_glyphs(int fd, const struct igt_radeon_placement *p)
{
	enum { COUNT = 1000, EDGE = 16, ACROSS = 32, GLYPH = EDGE * EDGE };
	const uint32_t pitch = ACROSS * EDGE, own_pitch = 64;
	static struct igt_radeon_bo bos[COUNT];
	static region_t regions[COUNT];
	static uint8_t page[PAGE];
	unsigned int i, row;
	struct scene s;
	uint32_t done;

	scene_init(&s, fd, 1, (uint64_t)pitch * ACROSS * EDGE, COUNT * GLYPH,
		   p);
	for (i = 0; i < COUNT; i++)
		regions[i] = (region_t) {
			.handle = s.bo[0].handle,
			.bo_offset = i / ACROSS * EDGE * pitch +
				     i % ACROSS * EDGE,
			.user_ptr = (uintptr_t)s.user + i * GLYPH,
			.bo_pitch = pitch,
			.user_pitch = EDGE,
			.row_bytes = EDGE,
			.rows = EDGE,
		};
	scene_transfer(&s, regions, COUNT, UPLOAD, COUNT, 0);
	scene_assert(&s, "glyphs in one BO");
	scene_transfer(&s, regions, COUNT, DOWNLOAD, COUNT, 0);

	scene_refresh(&s);
	for (i = 0; i < COUNT; i++) {
		igt_radeon_bo_init(&bos[i], fd, PAGE, p->domain, p->flags);
		memset(page, i, PAGE);
		igt_radeon_bo_fill(&bos[i], page);
		regions[i].handle = bos[i].handle;
		regions[i].bo_offset = i % 48;
		regions[i].bo_pitch = own_pitch;
	}
	igt_assert_eq(igt_radeon_transfer(fd, regions, COUNT, UPLOAD, &done), 0);
	igt_assert_eq(done, COUNT);
	for (i = 0; i < COUNT; i++) {
		memset(page, i, PAGE);
		for (row = 0; row < EDGE; row++)
			memcpy(page + i % 48 + row * own_pitch,
			       s.shadow + i * GLYPH + row * EDGE, EDGE);
		igt_radeon_bo_assert(&bos[i], page, "a glyph's own BO");
	}
	memset(s.user, 0xee, s.user_size);
	igt_assert_eq(igt_radeon_transfer(fd, regions, COUNT, DOWNLOAD, &done),
		      0);
	igt_assert_eq(done, COUNT);
	scene_assert_user(&s);
	for (i = 0; i < COUNT; i++)
		igt_radeon_bo_fini(&bos[i]);
	scene_fini(&s);
}

/**
 * SUBTEST: overlap
 * Description: Where the destinations of regions overlap, in a BO or in user
 *              memory, the later region wins.
 */
static void test_overlap(int fd)
{
	enum { COUNT = 200 };
	const struct igt_radeon_placement *p;
	region_t regions[COUNT];
	unsigned int i, j, round;
	struct scene s;

	for (i = 0; (p = igt_radeon_placement(fd, i)); i++) {
		scene_init(&s, fd, 2, PAGE, 4 * PAGE, p);
		for (round = 0; round < 10; round++) {
			for (j = 0; j < COUNT; j++) {
				regions[j] = one_row(&s, j % 7 == 0, rnd(300),
						     1 + rnd(100));
				regions[j].rows = 1 + rnd(20);
				regions[j].bo_pitch = 100 + rnd(30);
				regions[j].user_pitch = 100 + rnd(70);
				/* Overlapping places, different sources. */
				regions[j].user_ptr += rnd(10000);
			}
			scene_transfer(&s, regions, COUNT, UPLOAD, COUNT, 0);
			scene_assert(&s, "overlapping regions");
			for (j = 0; j < COUNT; j++) {
				regions[j].bo_offset = rnd(1000);
				regions[j].user_ptr = (uintptr_t)s.user +
						      rnd(300);
			}
			scene_transfer(&s, regions, COUNT, DOWNLOAD, COUNT, 0);
		}
		scene_fini(&s);
	}
}

/**
 * SUBTEST: empty-regions
 * Description: Regions of no rows, or of rows of no bytes, count as done
 *              whatever their other members are, and a call with no regions
 *              succeeds. Regions between empty ones are transferred.
 */
static void test_empty_regions(int fd)
{
	region_t regions[150];
	unsigned int i, d;
	struct scene s;
	uint32_t done;

	scene_init(&s, fd, 2, 4 * PAGE, 4 * PAGE, &igt_radeon_reachable[0]);
	for (d = 0; d < ARRAY_SIZE(directions); d++) {
		done = 1;
		igt_assert_eq(igt_radeon_transfer(fd, NULL, 0, directions[d],
						  &done), 0);
		igt_assert_eq(done, 0);
		igt_assert_eq(igt_radeon_transfer(fd, (region_t *)NOWHERE, 0,
						  directions[d], &done), 0);
		igt_assert_eq(done, 0);

		for (i = 0; i < ARRAY_SIZE(regions); i++) {
			regions[i] = (region_t) {
				.handle = i % 2 ? UINT32_MAX : 0,
				.bo_offset = UINT64_MAX - i,
				.user_ptr = NOWHERE,
				.bo_pitch = i,
				.user_pitch = i,
				.row_bytes = i % 3 ? 0 : UINT32_MAX,
				.rows = i % 3 ? UINT32_MAX : 0,
			};
			if (i % 5 == 2)
				regions[i].row_bytes = regions[i].rows = 0;
		}
		scene_transfer(&s, regions, ARRAY_SIZE(regions), directions[d],
			       ARRAY_SIZE(regions), 0);
		scene_assert(&s, "after empty regions");

		for (i = 0; i < ARRAY_SIZE(regions); i++)
			if (i % 4 == 1 || i == 62 || i == 63)
				regions[i] = one_row(&s, i % 8 > 2, 90 * i, 80);
		scene_transfer(&s, regions, ARRAY_SIZE(regions), directions[d],
			       ARRAY_SIZE(regions), 0);
		scene_assert(&s, "after some empty regions");
	}
	scene_fini(&s);
}

/**
 * SUBTEST: ordering
 * Description: GPU reads submitted before an upload get the old bytes, those
 *              submitted after it the new ones. GPU writes submitted before an
 *              upload do not overwrite it, and a download returns their bytes.
 */
static void test_ordering(int fd, enum igt_radeon_engine engine,
			  enum igt_radeon_engine engine2,
			  const struct igt_radeon_placement *p)
{
	enum { COUNT = 30 };
	const uint64_t size = 16 * PAGE;
	struct igt_radeon_bo src, before, after;
	uint8_t *old = igt_radeon_malloc(size);
	region_t regions[COUNT];
	struct scene s;

	scene_init(&s, fd, 2, size, 16 * PAGE, p);
	memcpy(old, s.model[0], size);
	igt_radeon_bo_init(&src, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&before, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&after, fd, size, RADEON_GEM_DOMAIN_VRAM, 0);
	igt_radeon_pattern(s.model[1], size, 7);
	igt_radeon_bo_fill(&src, s.model[1]);

	igt_radeon_set_latency(fd, 20000);
	igt_radeon_copy(engine, &before, 0, &s.bo[0], 0, size);
	igt_radeon_copy(engine, &s.bo[1], 0, &src, 0, size);
	scene_regions(&s, regions, COUNT, 100, 9);
	scene_transfer(&s, regions, COUNT, UPLOAD, COUNT, 0);
	igt_radeon_copy(engine2, &after, 0, &s.bo[0], 0, size);
	scene_regions(&s, regions, COUNT, 100, 9);
	scene_transfer(&s, regions, COUNT, DOWNLOAD, COUNT, 0);
	/* Right behind a GPU write. */
	igt_radeon_copy(engine2, &s.bo[1], 0, &src, 0, size);
	igt_radeon_pattern(s.model[1], size, 7);
	scene_transfer(&s, regions, COUNT, DOWNLOAD, COUNT, 0);
	igt_radeon_set_latency(fd, 0);

	igt_radeon_bo_assert(&before, old, "earlier GPU read");
	igt_radeon_bo_assert(&after, s.model[0], "later GPU read");
	scene_assert(&s, "after all");
	igt_radeon_bo_fini(&after);
	igt_radeon_bo_fini(&before);
	igt_radeon_bo_fini(&src);
	scene_fini(&s);
	free(old);
}

static void test_orderings(int fd)
{
	const struct igt_radeon_placement *p;
	bool dma = igt_radeon_has_engine(fd, IGT_RADEON_DMA);
	unsigned int i;

	for (i = 0; (p = igt_radeon_placement(fd, i)); i++) {
		test_ordering(fd, IGT_RADEON_CP_DMA,
			      dma ? IGT_RADEON_DMA : IGT_RADEON_CP_DMA, p);
		if (dma)
			test_ordering(fd, IGT_RADEON_DMA, IGT_RADEON_CP_DMA, p);
	}
}

/**
 * SUBTEST: nowait
 * Description: With NOWAIT no call waits for the GPU. An upload to a busy BO is
 *              done in order or gives -EBUSY. A download gives -EBUSY from a BO
 *              that the GPU is going to write, and succeeds from one that it
 *              only reads. Regions before that of the busy BO are transferred.
 */
static void test_nowait(int fd)
{
	const uint64_t size = 16 * PAGE;
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo other;
	uint8_t *old = igt_radeon_malloc(size), *foreign = igt_radeon_malloc(size);
	region_t regions[3];
	unsigned int i, j;
	struct scene s;
	uint32_t done;
	int ret;

	igt_radeon_require_board(fd);
	igt_radeon_pattern(foreign, size, 9);
	for (i = 0; i < igt_radeon_reachable_count; i++) {
		p = &igt_radeon_reachable[i];
		scene_init(&s, fd, 2, size, size, p);
		igt_radeon_bo_init(&other, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
		igt_radeon_bo_fill(&other, foreign);
		for (j = 0; j < 3; j++)
			regions[j] = one_row(&s, j == 1, 5000 * j + 3, 4321);

		/* The GPU only reads. */
		memcpy(old, s.model[1], size);
		igt_radeon_set_latency(fd, HOLD_US);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &other, 0, &s.bo[1], 0,
				size);
		scene_transfer(&s, regions, 3, DOWNLOAD | RADEON_GEM_RW_NOWAIT,
			       3, 0);
		scene_refresh(&s);
		ret = igt_radeon_transfer(fd, regions, 3,
					  UPLOAD | RADEON_GEM_RW_NOWAIT, &done);
		igt_assert_f((ret == 0 && done == 3) ||
			     (ret == -EBUSY && done == 1),
			     "%s: %d, %u regions done\n", p->name, ret, done);
		scene_apply(&s, regions, done, UPLOAD);
		igt_assert_f(igt_radeon_bo_busy(&other), "NOWAIT waited\n");
		igt_radeon_set_latency(fd, 0);
		igt_radeon_bo_assert(&other, old, "the GPU's copy");
		scene_assert(&s, "after a NOWAIT upload");

		/* The GPU writes. */
		igt_radeon_bo_fill(&other, foreign);
		igt_radeon_set_latency(fd, HOLD_US);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &s.bo[1], 0, &other, 0,
				size);
		memcpy(s.model[1], foreign, size);
		scene_transfer(&s, regions, 3, DOWNLOAD | RADEON_GEM_RW_NOWAIT,
			       1, -EBUSY);
		igt_assert_f(igt_radeon_bo_busy(&s.bo[1]), "NOWAIT waited\n");
		igt_radeon_set_latency(fd, 0);
		scene_assert(&s, "after a NOWAIT download");
		scene_transfer(&s, regions, 3, DOWNLOAD | RADEON_GEM_RW_NOWAIT,
			       3, 0);
		igt_radeon_bo_fini(&other);
		scene_fini(&s);
	}
	free(old);
	free(foreign);
}

/**
 * SUBTEST: unsynchronized
 * Description: With UNSYNCHRONIZED, an upload to a BO that the GPU is going to
 *              read is done on return, and a download from a BO that the GPU is
 *              going to write returns the old bytes. Neither waits for the GPU.
 */
static void test_unsynchronized(int fd)
{
	const uint32_t flag = RADEON_GEM_RW_UNSYNCHRONIZED;
	const uint64_t size = 16 * PAGE;
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo other;
	region_t regions[30];
	unsigned int i;
	struct scene s;
	uint8_t *map;

	igt_radeon_require_board(fd);
	for (i = 0; i < igt_radeon_reachable_count; i++) {
		p = &igt_radeon_reachable[i];
		scene_init(&s, fd, 1, size, 16 * PAGE, p);
		igt_radeon_bo_init(&other, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
		scene_regions(&s, regions, ARRAY_SIZE(regions), 100, 9);
		map = igt_radeon_bo_map(&s.bo[0]);

		igt_radeon_set_latency(fd, HOLD_US);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &other, 0, &s.bo[0], 0,
				size);
		scene_transfer(&s, regions, ARRAY_SIZE(regions), UPLOAD | flag,
			       ARRAY_SIZE(regions), 0);
		igt_assert_f(!memcmp(map, s.model[0], size),
			     "%s: the upload is not done on return\n", p->name);
		igt_assert_f(igt_radeon_bo_busy(&other), "the upload waited\n");
		igt_radeon_set_latency(fd, 0);
		igt_radeon_bo_assert(&other, s.model[0], "the GPU's copy");

		igt_radeon_set_latency(fd, HOLD_US);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &s.bo[0], 0, &other, 0,
				size);
		scene_transfer(&s, regions, ARRAY_SIZE(regions), DOWNLOAD | flag,
			       ARRAY_SIZE(regions), 0);
		igt_assert_f(igt_radeon_bo_busy(&s.bo[0]),
			     "the download waited\n");
		igt_radeon_set_latency(fd, 0);
		scene_assert(&s, "after all");
		munmap(map, size);
		igt_radeon_bo_fini(&other);
		scene_fini(&s);
	}
}

/**
 * SUBTEST: no-mappings
 * Description: Uploads and downloads leave no mapping in the process.
 */
static void test_no_mappings(int fd)
{
	const struct igt_radeon_placement *p;
	unsigned int i, d, before, before_dri;
	static struct scene s;
	static region_t regions[100];

	for (i = 0; (p = igt_radeon_placement(fd, i)); i++) {
		scene_init(&s, fd, 2, 16 * PAGE, 64 * PAGE, p);
		scene_regions(&s, regions, ARRAY_SIZE(regions), 200, 5);
		before = igt_radeon_count_maps(NULL);
		before_dri = igt_radeon_count_maps("/dev/dri/");
		for (d = 0; d < ARRAY_SIZE(directions); d++)
			scene_transfer(&s, regions, ARRAY_SIZE(regions),
				       directions[d], ARRAY_SIZE(regions), 0);
		igt_assert_eq(igt_radeon_count_maps("/dev/dri/"), before_dri);
		igt_assert_eq(igt_radeon_count_maps(NULL), before);
		scene_assert(&s, "after all");
		scene_fini(&s);
	}
}

/**
 * SUBTEST: evicted
 * Description: Transfers regions of a BO that was evicted from VRAM.
 *
 * SUBTEST: swapped
 * Description: Transfers regions of a BO in GTT that was swapped out.
 *
 * SUBTEST: self-copy
 * Description: User memory may be a mapping of a BO, even of the same one.
 *
 * SUBTEST: after-gpu-write
 * Description: A call of one region comes after GPU writes submitted before it,
 *              on each engine.
 */
static void both(int fd, void (*test)(int fd, enum igt_radeon_op op))
{
	test(fd, IGT_RADEON_UPLOAD);
	test(fd, IGT_RADEON_DOWNLOAD);
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER);
	}

	igt_describe("Regions of several BOs are uploaded and downloaded.");
	igt_subtest("basic")
		test_placement(fd, &igt_radeon_reachable[1]);

	igt_describe("Rows with gaps; too small a pitch gives -EINVAL.");
	igt_subtest("pitches")
		test_pitches(fd);

	igt_describe("1,000 small regions in VRAM and in GTT.");
	igt_subtest("glyphs") {
		test_glyphs(fd, &igt_radeon_reachable[0]);
		test_glyphs(fd, &igt_radeon_reachable[1]);
	}

	igt_describe("Where regions overlap, the later one wins.");
	igt_subtest("overlap")
		test_overlap(fd);

	igt_describe("Empty regions, and calls without regions, succeed.");
	igt_subtest("empty-regions")
		test_empty_regions(fd);

	igt_describe("Regions of any shape in each placement.");
	igt_subtest("placements")
		test_placements(fd);

	igt_describe("Regions of a BO that was evicted from VRAM.");
	igt_subtest("evicted")
		both(fd, igt_radeon_rw_test_evicted);

	igt_describe("Regions of a BO that was swapped out.");
	igt_subtest("swapped")
		both(fd, igt_radeon_rw_test_swapped);

	igt_describe("User memory may be a mapping of the same or another BO.");
	igt_subtest("self-copy")
		both(fd, igt_radeon_rw_test_self_copy);

	igt_describe("Calls are in order with GPU writes submitted before.");
	igt_subtest("after-gpu-write")
		both(fd, igt_radeon_rw_test_after_gpu_write);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("Calls are in order with GPU reads and writes.");
	igt_subtest("ordering")
		test_orderings(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("NOWAIT never waits for the GPU and keeps the order.");
	igt_subtest("nowait")
		test_nowait(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("UNSYNCHRONIZED calls are done at once.");
	igt_subtest("unsynchronized")
		test_unsynchronized(fd);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("Calls leave no mappings in the process.");
	igt_subtest("no-mappings")
		test_no_mappings(fd);

	igt_fixture()
		close(fd);
}
