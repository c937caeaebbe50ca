// SPDX-License-Identifier: MIT
/*
 * The ways to fill a BO that live-bos compares.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "radeon_drm.h"

#include "arena.h"
#include "live-bos.h"

/* Each arm is a process of its own, so this is one for each arm. */
static struct arena arena;

static int create(const struct bench_device *dev, uint32_t domain,
		  struct lb_bo *bo)
{
	bo->map = NULL;
	return bench_gem_create(dev->fd, LB_BO_SIZE, domain, 0,
				&bo->handle);
}

static int destroy(const struct bench_device *dev, struct lb_bo *bo)
{
	if (bo->map && munmap(bo->map, LB_BO_SIZE))
		return -errno;
	return bench_gem_close(dev->fd, bo->handle);
}

/* Map, write, and keep the mapping for the BO's life: libdrm, Mesa. */
static int upload_mmap(const struct bench_device *dev, struct lb_bo *bo,
		       const void *data)
{
	void *ptr;
	int ret = bench_gem_mmap(dev->fd, bo->handle, LB_BO_SIZE, &ptr);

	if (ret)
		return ret;
	bo->map = ptr;
	memcpy(bo->map, data, LB_BO_SIZE);
	return 0;
}

/* Map, write, unmap. */
static int upload_mmap_temp(const struct bench_device *dev, struct lb_bo *bo,
			    const void *data)
{
	int ret = upload_mmap(dev, bo, data);

	if (ret)
		return ret;
	if (munmap(bo->map, LB_BO_SIZE))
		return -errno;
	bo->map = NULL;
	return 0;
}

static int upload_pwrite(const struct bench_device *dev, struct lb_bo *bo,
			 const void *data)
{
	return bench_gem_pwrite(dev->fd, bo->handle, 0, data, LB_BO_SIZE);
}

/* Twice what all BOs need, because free space fragments. */
static int start_arena(const struct bench_device *dev,
		       const struct lb_options *options, char *why, size_t size)
{
	size_t bos = options->live[options->live_count - 1] + 1;

	(void)dev;
	(void)why;
	(void)size;
	return arena_init(&arena, 2 * bos * LB_BO_SIZE);
}

/* As upload_mmap(), but at an address that the arena chooses. */
static int upload_arena(const struct bench_device *dev, struct lb_bo *bo,
			const void *data)
{
	uint64_t offset;
	void *ptr;
	int ret = bench_gem_offset(dev->fd, bo->handle, LB_BO_SIZE, &offset);

	if (!ret)
		ret = arena_map(&arena, LB_BO_SIZE, dev->fd, offset, &ptr);
	if (ret)
		return ret;
	bo->map = ptr;
	memcpy(bo->map, data, LB_BO_SIZE);
	return 0;
}

static int destroy_arena(const struct bench_device *dev, struct lb_bo *bo)
{
	int ret = bo->map ? arena_unmap(&arena, bo->map) : 0;

	return ret ? ret : bench_gem_close(dev->fd, bo->handle);
}

const struct lb_arm lb_arms[] = {
	{
		.name = "mmap",
		.create = create,
		.upload = upload_mmap,
		.destroy = destroy,
		.call = "mmap",
	}, {
		.name = "mmap-temp",
		.extra = true,
		.create = create,
		.upload = upload_mmap_temp,
		.destroy = destroy,
		.call = "mmap",
	}, {
		.name = "arena",
		.start = start_arena,
		.create = create,
		.upload = upload_arena,
		.destroy = destroy_arena,
		.call = "mmap",
	}, {
		.name = "pwrite",
		.needs_rw = true,
		.create = create,
		.upload = upload_pwrite,
		.destroy = destroy,
		.call = "pwrite",
	}, {
		.name = "libdrm",
		.start = lb_libdrm_start,
		.create = lb_libdrm_create,
		.upload = lb_libdrm_upload,
		.destroy = lb_libdrm_destroy,
		.call = "radeon_gem_bo_pwrite",
	}, {
		.name = "libdrm-map",
		.extra = true,
		.start = lb_libdrm_start,
		.create = lb_libdrm_create,
		.upload = lb_libdrm_upload_map,
		.destroy = lb_libdrm_destroy,
		.call = "radeon_bo_map",
	}, {
		.name = "libdrm-debian",
		.extra = true,
		.start = lb_debian_start,
		.create = lb_libdrm_create,
		.upload = lb_libdrm_upload_map,
		.destroy = lb_libdrm_destroy,
		.call = "radeon_bo_map",
	},
};

const unsigned int lb_arm_count = sizeof(lb_arms) / sizeof(lb_arms[0]);

const struct lb_domain lb_domains[] = {
	{ "vram", RADEON_GEM_DOMAIN_VRAM },
	{ "gtt", RADEON_GEM_DOMAIN_GTT },
};

const unsigned int lb_domain_count = sizeof(lb_domains) / sizeof(lb_domains[0]);
