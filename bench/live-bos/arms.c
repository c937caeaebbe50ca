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
	bo->domain = domain;
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

/*
 * Without PWRITE and without a mapping of the BO: memory of the client is a BO, too
 * (DRM_RADEON_GEM_USERPTR), from which the DMA engine copies, by a submission.
 */

/* The client's own memory, and its BO. */
static struct {
	uint8_t *memory;
	uint32_t handle;
} window;

static int copy(const struct bench_device *dev, struct lb_bo *bo, uint32_t src,
		uint64_t offset)
{
	const struct bench_dma_piece piece = {
		.src = src,
		.dst = bo->handle,
		.src_offset = offset,
		.bytes = LB_BO_SIZE,
	};
	int ret = bench_gem_dma(dev->fd, &piece, 1, RADEON_GEM_DOMAIN_GTT,
				bo->domain);

	return ret ? ret : bench_gem_wait(dev->fd, src);
}

/*
 * Makes the window, of the kind that Mesa makes of user memory. A BO of user memory is
 * one that the kernel refuses to map; if it does not, another path would be measured.
 */
static int start_window(const struct bench_device *dev,
			const struct lb_options *options, char *why, size_t size)
{
	uint64_t offset;
	int ret;

	(void)options;
	window.memory = mmap(NULL, LB_BO_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (window.memory == MAP_FAILED)
		return -errno;
	ret = bench_gem_userptr(dev->fd, window.memory, LB_BO_SIZE,
				RADEON_GEM_USERPTR_ANONONLY |
				RADEON_GEM_USERPTR_REGISTER |
				RADEON_GEM_USERPTR_VALIDATE, &window.handle);
	if (ret) {
		snprintf(why, size, "no BOs of user memory: %s", strerror(-ret));
		return -ENOTSUP;
	}
	ret = bench_gem_offset(dev->fd, window.handle, LB_BO_SIZE, &offset);
	return ret == -EPERM ? 0 : -EPROTO;
}

static int upload_window(const struct bench_device *dev, struct lb_bo *bo,
			 const void *data)
{
	memcpy(window.memory, data, LB_BO_SIZE);
	return copy(dev, bo, window.handle, 0);
}

/* Makes a BO of the pages with the data, waits for the copy, and closes it. */
static int upload_userptr(const struct bench_device *dev, struct lb_bo *bo,
			  const void *data)
{
	uint64_t offset = (uintptr_t)data % 4096;
	uint32_t handle;
	int ret, ret2;

	ret = bench_gem_userptr(dev->fd, (const uint8_t *)data - offset,
				(offset + LB_BO_SIZE + 4095) & ~4095ull,
				RADEON_GEM_USERPTR_READONLY, &handle);
	if (ret)
		return ret;
	ret = copy(dev, bo, handle, offset);
	ret2 = bench_gem_close(dev->fd, handle);
	return ret ? ret : ret2;
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
	}, {
		.name = "userptr",
		.extra = true,
		.start = start_window,
		.create = create,
		.upload = upload_userptr,
		.destroy = destroy,
		.call = "userptr",
	}, {
		.name = "userptr-window",
		.extra = true,
		.start = start_window,
		.create = create,
		.upload = upload_window,
		.destroy = destroy,
		.call = "userptr",
	},
};

const unsigned int lb_arm_count = sizeof(lb_arms) / sizeof(lb_arms[0]);

const struct lb_domain lb_domains[] = {
	{ "vram", RADEON_GEM_DOMAIN_VRAM },
	{ "gtt", RADEON_GEM_DOMAIN_GTT },
};

const unsigned int lb_domain_count = sizeof(lb_domains) / sizeof(lb_domains[0]);
