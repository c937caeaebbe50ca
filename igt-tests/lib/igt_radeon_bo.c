// SPDX-License-Identifier: MIT
/*
 * Buffer objects: making, mapping, filling and reading them, without PREAD or
 * PWRITE.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_page.h"

const struct igt_radeon_placement igt_radeon_reachable[] = {
	{ "VRAM", RADEON_GEM_DOMAIN_VRAM, RADEON_GEM_CPU_ACCESS },
	{ "GTT cached", RADEON_GEM_DOMAIN_GTT, 0 },
	{ "GTT write-combined", RADEON_GEM_DOMAIN_GTT, RADEON_GEM_GTT_WC },
	{ "GTT uncached", RADEON_GEM_DOMAIN_GTT, RADEON_GEM_GTT_UC },
	{ "system", RADEON_GEM_DOMAIN_CPU, 0 },
};

const unsigned int igt_radeon_reachable_count =
	ARRAY_SIZE(igt_radeon_reachable);

static const struct igt_radeon_placement invisible_vram = {
	"CPU-inaccessible VRAM",
	RADEON_GEM_DOMAIN_VRAM,
	RADEON_GEM_NO_CPU_ACCESS,
};

/**
 * igt_radeon_placement:
 * @fd: device
 * @i: index
 *
 * Lists igt_radeon_reachable, then CPU-inaccessible VRAM if the board has any.
 *
 * Returns: placement number @i, or NULL behind the last
 */
const struct igt_radeon_placement *igt_radeon_placement(int fd, unsigned int i)
{
	if (i < igt_radeon_reachable_count)
		return &igt_radeon_reachable[i];
	if (i == igt_radeon_reachable_count && igt_radeon_has_invisible_vram(fd))
		return &invisible_vram;
	return NULL;
}

/**
 * igt_radeon_bo_init:
 * @bo: filled in
 * @fd: device
 * @size: bytes
 * @domain: RADEON_GEM_DOMAIN_*
 * @flags: RADEON_GEM_* creation flags
 */
void igt_radeon_bo_init(struct igt_radeon_bo *bo, int fd, uint64_t size,
			uint32_t domain, uint32_t flags)
{
	struct drm_radeon_gem_create arg = {
		.size = size,
		.alignment = 4096,
		.initial_domain = domain,
		.flags = flags,
	};

	igt_assert_eq(igt_ioctl(fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg), 0);
	*bo = (struct igt_radeon_bo) {
		.fd = fd,
		.handle = arg.handle,
		.domain = domain,
		.flags = flags,
		.size = size,
	};
}

/**
 * igt_radeon_bo_fini:
 * @bo: BO whose handle is closed
 */
void igt_radeon_bo_fini(struct igt_radeon_bo *bo)
{
	struct drm_gem_close arg = { .handle = bo->handle };

	igt_assert_eq(igt_ioctl(bo->fd, DRM_IOCTL_GEM_CLOSE, &arg), 0);
	bo->handle = 0;
}

/**
 * igt_radeon_bo_map:
 * @bo: BO
 *
 * Returns: a shared, writable mapping of the whole BO, for munmap()
 */
void *igt_radeon_bo_map(const struct igt_radeon_bo *bo)
{
	struct drm_radeon_gem_mmap arg = {
		.handle = bo->handle,
		.size = bo->size,
	};
	void *ptr;

	igt_assert_eq(igt_ioctl(bo->fd, DRM_IOCTL_RADEON_GEM_MMAP, &arg), 0);
	ptr = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, bo->fd,
		   arg.addr_ptr);
	igt_assert(ptr != MAP_FAILED);
	return ptr;
}

/**
 * igt_radeon_bo_wait:
 * @bo: BO
 *
 * Waits until no engine uses @bo.
 */
void igt_radeon_bo_wait(const struct igt_radeon_bo *bo)
{
	struct drm_radeon_gem_wait_idle arg = { .handle = bo->handle };

	igt_assert_eq(igt_ioctl(bo->fd, DRM_IOCTL_RADEON_GEM_WAIT_IDLE, &arg),
		      0);
}

/**
 * igt_radeon_bo_busy:
 * @bo: BO
 *
 * Returns: whether an engine has work queued that uses @bo
 */
bool igt_radeon_bo_busy(const struct igt_radeon_bo *bo)
{
	struct drm_radeon_gem_busy arg = { .handle = bo->handle };
	int ret = igt_ioctl(bo->fd, DRM_IOCTL_RADEON_GEM_BUSY, &arg);

	igt_assert(ret == 0 || errno == EBUSY);
	return ret != 0;
}

/* Whether the CPU cannot access the BO without moving it. */
static bool needs_engine(const struct igt_radeon_bo *bo)
{
	return bo->flags & RADEON_GEM_NO_CPU_ACCESS;
}

/**
 * igt_radeon_bo_fill:
 * @bo: BO
 * @data: its new contents, bo->size bytes
 *
 * Writes the BO without using PWRITE: through a mapping, or with CP_DMA from
 * a mapped BO if @bo was made with NO_CPU_ACCESS. Waits for the GPU.
 */
void igt_radeon_bo_fill(const struct igt_radeon_bo *bo, const void *data)
{
	struct igt_radeon_bo stage;
	void *map;

	if (needs_engine(bo)) {
		igt_radeon_bo_init(&stage, bo->fd, bo->size,
				   RADEON_GEM_DOMAIN_GTT, 0);
		igt_radeon_bo_fill(&stage, data);
		igt_radeon_copy(IGT_RADEON_CP_DMA, bo, 0, &stage, 0, bo->size);
		igt_radeon_bo_wait(bo);
		igt_radeon_bo_fini(&stage);
		return;
	}

	igt_radeon_bo_wait(bo);
	map = igt_radeon_bo_map(bo);
	memcpy(map, data, bo->size);
	munmap(map, bo->size);
}

/**
 * igt_radeon_bo_init_pattern:
 * @bo: filled in
 * @fd: device
 * @size: bytes
 * @p: placement of the BO
 * @seed: seed of the pattern, see igt_radeon_pattern()
 *
 * Makes a BO that holds a pattern, and asserts that the driver does not ignore
 * the caching flag of @p.
 *
 * Returns: a copy of the pattern, to be freed with free()
 */
uint8_t *igt_radeon_bo_init_pattern(struct igt_radeon_bo *bo, int fd,
				    uint64_t size,
				    const struct igt_radeon_placement *p,
				    uint32_t seed)
{
	uint8_t *model = igt_radeon_malloc(size);

	igt_radeon_assert_caching(fd, p->flags);
	igt_radeon_bo_init(bo, fd, size, p->domain, p->flags);
	igt_radeon_pattern(model, size, seed);
	igt_radeon_bo_fill(bo, model);
	return model;
}

/**
 * igt_radeon_bo_read:
 * @bo: BO
 * @data: gets its contents, bo->size bytes
 *
 * Waits for the GPU, then reads the whole BO without using PREAD, through a
 * mapping or with CP_DMA, as igt_radeon_bo_fill() writes it.
 */
void igt_radeon_bo_read(const struct igt_radeon_bo *bo, void *data)
{
	struct igt_radeon_bo stage;
	void *map;

	if (needs_engine(bo)) {
		igt_radeon_bo_init(&stage, bo->fd, bo->size,
				   RADEON_GEM_DOMAIN_GTT, 0);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &stage, 0, bo, 0, bo->size);
		igt_radeon_bo_read(&stage, data);
		igt_radeon_bo_fini(&stage);
		return;
	}

	igt_radeon_bo_wait(bo);
	map = igt_radeon_bo_map(bo);
	memcpy(data, map, bo->size);
	munmap(map, bo->size);
}

/**
 * igt_radeon_bo_assert:
 * @bo: BO
 * @model: expected contents, bo->size bytes
 * @what: name of the bytes, for the message
 *
 * Asserts that igt_radeon_bo_read() returns @model.
 */
void igt_radeon_bo_assert(const struct igt_radeon_bo *bo, const void *model,
			  const char *what)
{
	void *copy = igt_radeon_malloc(bo->size);

	igt_radeon_bo_read(bo, copy);
	igt_radeon_assert_equal(copy, model, bo->size, what);
	free(copy);
}

/**
 * igt_radeon_userptr:
 * @fd: device
 * @mem: page-aligned anonymous memory
 * @size: bytes, whole pages
 * @handle: gets the handle of the new BO
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_userptr(int fd, void *mem, uint64_t size, uint32_t *handle)
{
	struct drm_radeon_gem_userptr arg = {
		.addr = (uintptr_t)mem,
		.size = size,
		.flags = RADEON_GEM_USERPTR_ANONONLY |
			 RADEON_GEM_USERPTR_REGISTER |
			 RADEON_GEM_USERPTR_VALIDATE,
	};

	if (igt_ioctl(fd, DRM_IOCTL_RADEON_GEM_USERPTR, &arg))
		return -errno;
	*handle = arg.handle;
	return 0;
}

/**
 * igt_radeon_foreign_dmabuf:
 * @size: bytes, whole pages
 *
 * Returns: a dma-buf of another exporter (udmabuf), or a negative errno
 */
int igt_radeon_foreign_dmabuf(uint64_t size)
{
	struct udmabuf_create create = {
		.flags = UDMABUF_FLAGS_CLOEXEC,
		.size = size,
	};
	int dev, memfd, dmabuf;

	dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		return -errno;

	memfd = memfd_create("foreign", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	igt_assert(memfd >= 0);
	igt_assert_eq(ftruncate(memfd, size), 0);
	igt_assert_eq(fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK), 0);

	create.memfd = memfd;
	dmabuf = ioctl(dev, UDMABUF_CREATE, &create);
	if (dmabuf < 0)
		dmabuf = -errno;
	close(memfd);
	close(dev);
	return dmabuf;
}

/**
 * igt_radeon_import_foreign:
 * @fd: device
 * @size: bytes, whole pages
 * @handle: gets the handle of the new BO
 *
 * Imports a dma-buf of another exporter.
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_import_foreign(int fd, uint64_t size, uint32_t *handle)
{
	int dmabuf = igt_radeon_foreign_dmabuf(size);
	int ret;

	if (dmabuf < 0)
		return dmabuf;

	ret = drmPrimeFDToHandle(fd, dmabuf, handle) ? -errno : 0;
	close(dmabuf);
	return ret;
}
