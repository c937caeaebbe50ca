// SPDX-License-Identifier: MIT
/*
 * The ioctls that live-bos uses, without libdrm_radeon: its BOs would bring a
 * policy of their own.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "radeon_drm.h"
#include "radeon_drm_rw.h"

#include "live-bos.h"

/* PM4 (r600d.h) */
#define PACKET2			0x80000000u
#define PACKET3(op, n)		(3u << 30 | (n) << 16 | (op) << 8)
#define PACKET3_NOP		0x10
#define PACKET3_CP_DMA		0x41
#define PACKET3_CP_DMA_CP_SYNC	(1u << 31)
#define GATHER_MAX		256

static int do_ioctl(int fd, unsigned long request, void *arg)
{
	return drmIoctl(fd, request, arg) ? -errno : 0;
}

static void fill_device(struct lb_device *dev, drmVersionPtr version)
{
	struct drm_radeon_gem_info gem = { 0 };
	drmDevicePtr pci;
	uint64_t caps = 0;
	struct drm_radeon_info info = {
		.request = RADEON_INFO_GEM_RW,
		.value = (uintptr_t)&caps,
	};

	dev->has_rw = !do_ioctl(dev->fd, DRM_IOCTL_RADEON_INFO, &info) &&
		      caps & RADEON_GEM_RW_CAP_PREAD_PWRITE;
	if (!do_ioctl(dev->fd, DRM_IOCTL_RADEON_GEM_INFO, &gem)) {
		dev->vram = gem.vram_size;
		dev->vram_visible = gem.vram_visible;
		dev->gtt = gem.gart_size;
	}
	snprintf(dev->driver, sizeof(dev->driver), "%s %d.%d.%d",
		 version->name, version->version_major, version->version_minor,
		 version->version_patchlevel);
	if (!drmGetDevice2(dev->fd, 0, &pci)) {
		if (pci->bustype == DRM_BUS_PCI)
			snprintf(dev->device, sizeof(dev->device), "%04x:%04x",
				 pci->deviceinfo.pci->vendor_id,
				 pci->deviceinfo.pci->device_id);
		drmFreeDevice(&pci);
	}
}

/**
 * lb_open - open the first render node of the radeon driver
 * @dev: filled in
 */
int lb_open(struct lb_device *dev)
{
	drmVersionPtr version;
	char path[32];
	bool found;
	int i;

	memset(dev, 0, sizeof(*dev));
	for (i = 128; i < 192; i++) {
		snprintf(path, sizeof(path), "/dev/dri/renderD%d", i);
		dev->fd = open(path, O_RDWR | O_CLOEXEC);
		if (dev->fd < 0)
			continue;
		version = drmGetVersion(dev->fd);
		found = version && !strcmp(version->name, "radeon");
		if (found)
			fill_device(dev, version);
		drmFreeVersion(version);
		if (found)
			return 0;
		close(dev->fd);
	}
	return -ENODEV;
}

int lb_gem_create(int fd, uint64_t size, uint32_t domain, uint32_t *handle)
{
	struct drm_radeon_gem_create arg = {
		.size = size,
		.alignment = 4096,
		.initial_domain = domain,
	};
	int ret = do_ioctl(fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg);

	*handle = arg.handle;
	return ret;
}

int lb_gem_close(int fd, uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	return do_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &arg);
}

int lb_gem_mmap(int fd, uint32_t handle, uint64_t size, void **ptr)
{
	struct drm_radeon_gem_mmap arg = {
		.handle = handle,
		.size = size,
	};
	int ret = do_ioctl(fd, DRM_IOCTL_RADEON_GEM_MMAP, &arg);

	if (ret)
		return ret;
	*ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    arg.addr_ptr);
	return *ptr == MAP_FAILED ? -errno : 0;
}

int lb_gem_wait(int fd, uint32_t handle)
{
	struct drm_radeon_gem_wait_idle arg = { .handle = handle };

	return do_ioctl(fd, DRM_IOCTL_RADEON_GEM_WAIT_IDLE, &arg);
}

int lb_gem_pread(int fd, uint32_t handle, void *data, uint32_t size)
{
	struct drm_radeon_gem_pread arg = {
		.handle = handle,
		.size = size,
		.data_ptr = (uintptr_t)data,
	};

	return do_ioctl(fd, DRM_IOCTL_RADEON_GEM_PREAD, &arg);
}

int lb_gem_pwrite(int fd, uint32_t handle, const void *data, uint32_t size)
{
	struct drm_radeon_gem_pwrite arg = {
		.handle = handle,
		.size = size,
		.data_ptr = (uintptr_t)data,
	};

	return do_ioctl(fd, DRM_IOCTL_RADEON_GEM_PWRITE, &arg);
}

/**
 * lb_gem_gather - copy BOs of LB_BO_SIZE one behind the other into another BO
 * @fd: device
 * @dst: BO of at least @count * LB_BO_SIZE bytes
 * @dst_domain: its RADEON_GEM_DOMAIN_*
 * @src: handles
 * @count: how many, at most 256
 * @src_domain: their RADEON_GEM_DOMAIN_*
 *
 * By CP_DMA on the gfx ring, in the form that the kernel's checker for R600
 * and R700 asks for. Returns without waiting.
 */
int lb_gem_gather(int fd, uint32_t dst, uint32_t dst_domain,
		  const uint32_t *src, unsigned int count, uint32_t src_domain)
{
	static struct drm_radeon_cs_reloc relocs[GATHER_MAX + 1];
	static uint32_t ib[GATHER_MAX * 10 + 8];
	const uint32_t reloc_dwords = sizeof(relocs[0]) / 4;
	uint32_t flags[2] = { RADEON_CS_KEEP_TILING_FLAGS, RADEON_CS_RING_GFX };
	struct drm_radeon_cs_chunk chunk[3] = {
		{ .chunk_id = RADEON_CHUNK_ID_IB, .chunk_data = (uintptr_t)ib },
		{ .chunk_id = RADEON_CHUNK_ID_RELOCS,
		  .chunk_data = (uintptr_t)relocs },
		{ .chunk_id = RADEON_CHUNK_ID_FLAGS, .length_dw = 2,
		  .chunk_data = (uintptr_t)flags },
	};
	uint64_t chunks[3] = {
		(uintptr_t)&chunk[0], (uintptr_t)&chunk[1], (uintptr_t)&chunk[2],
	};
	struct drm_radeon_cs cs = {
		.num_chunks = 3,
		.chunks = (uintptr_t)chunks,
	};
	unsigned int i, n = 0;

	if (count > GATHER_MAX)
		return -EINVAL;

	memset(relocs, 0, sizeof(relocs));
	relocs[0].handle = dst;
	relocs[0].write_domain = dst_domain;
	for (i = 0; i < count; i++) {
		relocs[i + 1].handle = src[i];
		relocs[i + 1].read_domains = src_domain;
		ib[n++] = PACKET3(PACKET3_CP_DMA, 4);
		ib[n++] = 0;
		ib[n++] = PACKET3_CP_DMA_CP_SYNC;
		ib[n++] = i * LB_BO_SIZE;
		ib[n++] = 0;
		ib[n++] = LB_BO_SIZE;
		ib[n++] = PACKET3(PACKET3_NOP, 0);
		ib[n++] = (i + 1) * reloc_dwords;
		ib[n++] = PACKET3(PACKET3_NOP, 0);
		ib[n++] = 0;
	}
	while (n % 8)
		ib[n++] = PACKET2;
	chunk[0].length_dw = n;
	chunk[1].length_dw = (count + 1) * reloc_dwords;
	return do_ioctl(fd, DRM_IOCTL_RADEON_CS, &cs);
}
