// SPDX-License-Identifier: MIT
/*
 * PREAD, PWRITE and TRANSFER of BOs that are tiled, scanned out or exported as
 * a dma-buf; and mappings of BOs and of dma-bufs as user memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

#include "igt.h"
#include "igt_radeon_rw.h"
#include "igt_radeon_stats.h"

/**
 * TEST: radeon gem rw objects
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects without mapping them
 * Description: Checks calls for BOs that are tiled, scanned out or exported,
 *              and with mappings of BOs and dma-bufs as user memory.
 */
IGT_TEST_DESCRIPTION("Checks tiled, scanned out, exported and mapped BOs.");

#define SIZE		(64ull * PAGE)

/* Ranges that are small and large, aligned and not. */
static const struct {
	uint64_t offset;
	size_t size;
	unsigned int align;
} ranges[] = {
	{ 0, 64 * PAGE, 0 },
	{ 3, 1, 1 },
	{ PAGE - 5, 10, 3 },
	{ 5 * PAGE + 64, 9 * PAGE, 0 },
	{ 20 * PAGE + 1, 30 * PAGE + 7, 2 },
};

/* Makes all calls on a BO. @map is a mapping of it to compare with, or NULL. */
static void all_ops(const struct igt_radeon_bo *bo, uint8_t *model,
		    const uint8_t *map, const char *what)
{
	enum igt_radeon_op op;
	unsigned int i;

	for (op = 0; op < IGT_RADEON_OPS; op++) {
		for (i = 0; i < ARRAY_SIZE(ranges); i++) {
			igt_radeon_rw_range(op, bo, model, ranges[i].offset,
					    ranges[i].size, ranges[i].align);
			igt_radeon_bo_wait(bo);
			if (map)
				igt_radeon_assert_equal(map, model, bo->size,
							what);
		}
		igt_radeon_bo_assert(bo, model, what);
	}
}

/**
 * SUBTEST: tiled
 * Description: Calls transfer the raw bytes of a tiled BO: a read returns what
 *              a write has written, and a mapping shows the same bytes.
 */
static void test_tiled(int fd)
{
	static const uint32_t modes[] = {
		RADEON_TILING_MACRO,
		RADEON_TILING_MICRO,
		RADEON_TILING_MACRO | RADEON_TILING_MICRO,
		RADEON_TILING_MACRO | RADEON_TILING_MICRO_SQUARE,
	};
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo bo;
	uint8_t *model, *map;
	unsigned int i, m;

	for (i = 0; (p = igt_radeon_placement(fd, i)); i++) {
		for (m = 0; m < ARRAY_SIZE(modes); m++) {
			struct drm_radeon_gem_set_tiling set = {
				.tiling_flags = modes[m],
				.pitch = 1024,
			};
			struct drm_radeon_gem_get_tiling get = { 0 };

			igt_debug("%s, tiling %#x\n", p->name, modes[m]);
			model = igt_radeon_bo_init_pattern(&bo, fd, SIZE, p, m);
			set.handle = get.handle = bo.handle;
			igt_assert_eq(igt_ioctl(fd, DRM_IOCTL_RADEON_GEM_SET_TILING,
					       &set), 0);
			igt_assert_eq(igt_ioctl(fd, DRM_IOCTL_RADEON_GEM_GET_TILING,
					       &get), 0);
			igt_assert_eq(get.tiling_flags, modes[m]);
			map = p->flags & RADEON_GEM_NO_CPU_ACCESS ? NULL :
			      igt_radeon_bo_map(&bo);
			all_ops(&bo, model, map, p->name);
			if (map)
				munmap(map, SIZE);
			igt_radeon_bo_fini(&bo);
			free(model);
		}
	}
}

/**
 * SUBTEST: exported
 * Description: An exported BO can be read and written, also by a file of the
 *              same device that has imported it, and a mapping of the dma-buf
 *              shows the same bytes.
 */
static void test_exported(int fd)
{
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo bo, again;
	uint8_t *model, *map;
	unsigned int i, k;
	int dmabuf, other;

	other = igt_radeon_open();
	for (i = 0; (p = igt_radeon_placement(fd, i)); i++) {
		igt_debug("%s\n", p->name);
		model = igt_radeon_bo_init_pattern(&bo, fd, SIZE, p, 1);
		igt_assert_eq(drmPrimeHandleToFD(fd, bo.handle,
						 DRM_CLOEXEC | DRM_RDWR,
						 &dmabuf), 0);
		all_ops(&bo, model, NULL, p->name);

		map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			   dmabuf, 0);
		igt_assert(map != MAP_FAILED);
		for (k = 0; k < SIZE; k += 4096 + 4)
			map[k] = model[k] = k / 4096 + 1;
		all_ops(&bo, model, map, p->name);

		/* A file that imports a BO of the same device gets that BO. */
		again = bo;
		again.fd = other;
		igt_assert_eq(drmPrimeFDToHandle(other, dmabuf, &again.handle),
			      0);
		all_ops(&again, model, map, p->name);
		igt_radeon_bo_fini(&again);
		igt_radeon_bo_assert(&bo, model, p->name);

		munmap(map, SIZE);
		close(dmabuf);
		all_ops(&bo, model, NULL, p->name);
		igt_radeon_bo_fini(&bo);
		free(model);
	}
	close(other);
}

/* Object that user memory is a mapping of. */
enum source {
	BO_MAPPING,
	DMABUF_MAPPING,
	SOURCES
};

static uint8_t *map_source(const struct igt_radeon_bo *bo, enum source source)
{
	uint8_t *map;
	int dmabuf;

	if (source == BO_MAPPING)
		return igt_radeon_bo_map(bo);

	igt_assert_eq(drmPrimeHandleToFD(bo->fd, bo->handle,
					 DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	map = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf,
		   0);
	igt_assert(map != MAP_FAILED);
	close(dmabuf);
	return map;
}

/**
 * SUBTEST: never-faulted
 * Description: User memory is a mapping of a BO that was never touched, for
 *              each placement of that BO and of the transferred one.
 *
 * SUBTEST: never-faulted-dmabuf
 * Description: The same with mappings of exported dma-bufs.
 */
static void test_never_faulted(int fd, enum source source)
{
	static const uint64_t sizes[] = { 100, 5 * PAGE + 1, 70 * PAGE };
	const uint64_t size = 80 * PAGE;
	const struct igt_radeon_placement *p, *q;
	uint8_t *model, *user_model, *map;
	struct igt_radeon_bo bo, user;
	unsigned int i, j, k;
	enum igt_radeon_op op;

	for (i = 0; (p = igt_radeon_placement(fd, i)); i++) {
		model = igt_radeon_bo_init_pattern(&bo, fd, size, p, 1);
		for (j = 0; (q = igt_radeon_placement(fd, j)); j++) {
			igt_debug("%s, user memory in %s\n", p->name, q->name);
			user_model = igt_radeon_bo_init_pattern(&user, fd, size,
								q, j + 2);
			for (k = 0; k < IGT_RADEON_OPS * ARRAY_SIZE(sizes);
			     k++) {
				uint64_t bytes = sizes[k / IGT_RADEON_OPS];

				op = k % IGT_RADEON_OPS;
				map = map_source(&user, source);
				igt_assert_eq(igt_radeon_rw(op, fd, bo.handle,
							    77, bytes,
							    map + PAGE + 5, 0),
					      0);
				munmap(map, size);
				igt_radeon_rw_apply(op, model + 77,
						    user_model + PAGE + 5,
						    bytes);
				igt_radeon_bo_assert(&bo, model, p->name);
				igt_radeon_bo_assert(&user, user_model,
						     q->name);
			}
			igt_radeon_bo_fini(&user);
			free(user_model);
		}
		igt_radeon_bo_fini(&bo);
		free(model);
	}
}

/**
 * SUBTEST: self-copy-dmabuf
 * Description: User memory may be a mapping of the dma-buf of the same BO; no
 *              call deadlocks.
 *
 * SUBTEST: foreign-dmabuf
 * Description: User memory may be a mapping of another exporter's dma-buf.
 */
static void test_self_copy_dmabuf(int fd)
{
	const uint64_t half = SIZE / 2, part = half - 200;
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo bo;
	uint8_t *model, *map;
	enum igt_radeon_op op;
	unsigned int i;

	igt_set_timeout(60, "copying to or from a mapping of the same BO");
	for (i = 0; i < igt_radeon_reachable_count; i++) {
		p = &igt_radeon_reachable[i];
		model = igt_radeon_bo_init_pattern(&bo, fd, SIZE, p, 1);
		for (op = 0; op < IGT_RADEON_OPS; op++) {
			map = map_source(&bo, DMABUF_MAPPING);
			igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 3, part,
						    map + half + 50, 0), 0);
			igt_radeon_rw_apply(op, model + 3, model + half + 50,
					    part);
			igt_radeon_bo_assert(&bo, model, p->name);
			igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, 0, SIZE,
						    map, 0), 0);
			igt_radeon_bo_assert(&bo, model, p->name);
			munmap(map, SIZE);
		}
		igt_radeon_bo_fini(&bo);
		free(model);
	}
	igt_reset_timeout();
}

static void test_foreign_dmabuf(int fd)
{
	const struct igt_radeon_placement *p;
	uint8_t *model, *map, *shadow = igt_radeon_malloc(SIZE);
	int dmabuf;
	struct igt_radeon_bo bo;
	enum igt_radeon_op op;
	unsigned int i;

	dmabuf = igt_radeon_foreign_dmabuf(SIZE);
	igt_require_f(dmabuf >= 0, "no dma-buf from udmabuf: %s\n",
		      strerror(-dmabuf));
	map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, 0);
	igt_assert(map != MAP_FAILED);
	igt_radeon_pattern(map, SIZE, 5);
	memcpy(shadow, map, SIZE);

	for (i = 0; (p = igt_radeon_placement(fd, i)); i++) {
		model = igt_radeon_bo_init_pattern(&bo, fd, SIZE, p, i);
		for (op = 0; op < IGT_RADEON_OPS; op++) {
			igt_assert_eq(igt_radeon_rw(op, fd, bo.handle, op,
						    30 * PAGE,
						    map + op * PAGE + 9, 0), 0);
			igt_radeon_rw_apply(op, model + op,
					    shadow + op * PAGE + 9, 30 * PAGE);
			igt_radeon_assert_equal(map, shadow, SIZE, p->name);
			igt_radeon_bo_assert(&bo, model, p->name);
		}
		igt_radeon_bo_fini(&bo);
		free(model);
	}
	munmap(map, SIZE);
	close(dmabuf);
	free(shadow);
}

/* A CRTC, and its configuration from before the test. */
struct screen {
	drmModeRes *resources;
	drmModeConnector *connector;
	drmModeCrtc *before;
	uint32_t crtc;
};

static void screen_init(struct screen *s, int card)
{
	int i;

	*s = (struct screen) { 0 };
	s->resources = drmModeGetResources(card);
	igt_require_f(s->resources, "no modesetting\n");
	for (i = 0; i < s->resources->count_connectors; i++) {
		s->connector = drmModeGetConnector(card,
						   s->resources->connectors[i]);
		if (s->connector &&
		    s->connector->connection == DRM_MODE_CONNECTED &&
		    s->connector->count_modes)
			break;
		drmModeFreeConnector(s->connector);
		s->connector = NULL;
	}
	igt_require_f(s->connector && s->resources->count_crtcs,
		      "no monitor is connected\n");
	s->crtc = s->resources->crtcs[0];
	s->before = drmModeGetCrtc(card, s->crtc);
	igt_assert(s->before);
}

static void screen_fini(struct screen *s, int card)
{
	drmModeCrtc *b = s->before;

	drmModeSetCrtc(card, s->crtc, b->buffer_id, b->x, b->y,
		       b->buffer_id ? &s->connector->connector_id : NULL,
		       b->buffer_id ? 1 : 0, b->mode_valid ? &b->mode : NULL);
	drmModeFreeCrtc(b);
	drmModeFreeConnector(s->connector);
	drmModeFreeResources(s->resources);
}

/* Shows a BO of 32-bit pixels, with @pitch bytes from row to row. */
static uint32_t show(const struct screen *s, const struct igt_radeon_bo *bo,
		     uint32_t pitch)
{
	drmModeModeInfo *mode = &s->connector->modes[0];
	uint32_t fb;

	igt_assert_eq(drmModeAddFB(bo->fd, mode->hdisplay, mode->vdisplay, 24,
				   32, pitch, bo->handle, &fb), 0);
	igt_assert_eq(drmModeSetCrtc(bo->fd, s->crtc, fb, 0, 0,
				     &s->connector->connector_id, 1, mode), 0);
	return fb;
}

/**
 * SUBTEST: scan-out
 * Description: A dumb buffer, and a BO in CPU-inaccessible VRAM, can be read
 *              and written while a CRTC shows them, and are not moved for that.
 *              If the driver does not copy by the GPU, the latter gives -EBUSY.
 */
static void test_scan_out(int card, bool invisible)
{
	struct drm_mode_create_dumb dumb = { .bpp = 32 };
	struct igt_radeon_stats before, delta;
	struct igt_radeon_bo bo = { .fd = card };
	uint8_t *model, *map = NULL, *page;
	struct screen s;
	uint32_t fb, pitch;
	uint64_t caps;
	unsigned int i;

	screen_init(&s, card);
	dumb.width = s.connector->modes[0].hdisplay;
	dumb.height = s.connector->modes[0].vdisplay;
	igt_assert_eq(igt_ioctl(card, DRM_IOCTL_MODE_CREATE_DUMB, &dumb), 0);
	pitch = dumb.pitch;
	bo.handle = dumb.handle;
	bo.size = dumb.size;
	bo.domain = RADEON_GEM_DOMAIN_VRAM;
	if (invisible) {
		igt_radeon_bo_fini(&bo);
		igt_radeon_bo_init(&bo, card, dumb.size, RADEON_GEM_DOMAIN_VRAM,
				   RADEON_GEM_NO_CPU_ACCESS);
	}
	model = igt_radeon_malloc(bo.size);
	igt_radeon_pattern(model, bo.size, 1);
	igt_radeon_bo_fill(&bo, model);
	fb = show(&s, &bo, pitch);

	before = igt_radeon_stats(card);
	caps = igt_radeon_info64(card, RADEON_INFO_GEM_RW);
	if (invisible && !(caps & RADEON_GEM_RW_CAP_STAGED)) {
		page = igt_radeon_malloc(PAGE);
		for (i = 0; i < IGT_RADEON_OPS; i++)
			igt_assert_eq(igt_radeon_rw(i, card, bo.handle, 0, PAGE,
						    page, 0), -EBUSY);
		free(page);
	} else {
		if (!invisible)
			map = igt_radeon_bo_map(&bo);
		all_ops(&bo, model, map, "scanned out");
		igt_radeon_rw_range(IGT_RADEON_PWRITE, &bo, model, 0, bo.size,
				    0);
		igt_radeon_rw_range(IGT_RADEON_PREAD, &bo, model, 0, bo.size,
				    0);
		if (map)
			munmap(map, bo.size);
	}
	igt_radeon_bo_assert(&bo, model, "scanned out, at the end");
	delta = igt_radeon_stats_since(card, &before);
	igt_assert_eq_u64(delta.events[IGT_RADEON_MOVED], 0);

	screen_fini(&s, card);
	drmModeRmFB(card, fb);
	igt_radeon_bo_fini(&bo);
	free(model);
}

static void test_scan_outs(int fd)
{
	int card = igt_radeon_try_open_primary();

	igt_require_f(card >= 0, "cannot open the primary node\n");
	igt_radeon_require_stats(fd);
	test_scan_out(card, false);
	if (igt_radeon_has_invisible_vram(fd))
		test_scan_out(card, true);
	close(card);
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER);
	}

	igt_describe("Calls transfer the raw bytes of tiled BOs.");
	igt_subtest("tiled")
		test_tiled(fd);

	igt_describe("BOs are read and written while they are scanned out.");
	igt_subtest("scan-out")
		test_scan_outs(fd);

	igt_describe("Exported BOs, and mappings of their dma-bufs.");
	igt_subtest("exported")
		test_exported(fd);

	igt_describe("User memory is a mapping of a BO that was not touched.");
	igt_subtest("never-faulted")
		test_never_faulted(fd, BO_MAPPING);

	igt_describe("User memory is a mapping of a dma-buf, not touched.");
	igt_subtest("never-faulted-dmabuf")
		test_never_faulted(fd, DMABUF_MAPPING);

	igt_describe("User memory is a mapping of the BO's own dma-buf.");
	igt_subtest("self-copy-dmabuf")
		test_self_copy_dmabuf(fd);

	igt_describe("User memory is a mapping of another exporter's dma-buf.");
	igt_subtest("foreign-dmabuf")
		test_foreign_dmabuf(fd);

	igt_fixture()
		close(fd);
}
