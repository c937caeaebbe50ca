// SPDX-License-Identifier: MIT
/*
 * The ioctls that the benchmarks use. libdrm_radeon is not used, as it has a
 * policy of its own for mappings.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "radeon_drm.h"
#include "radeon_drm_rw.h"
#include "radeon_guest.h"

#include "bench.h"

static int do_ioctl(int fd, unsigned long request, void *arg)
{
	return drmIoctl(fd, request, arg) ? -errno : 0;
}

static void fill_device(struct bench_device *dev, drmVersionPtr version)
{
	struct drm_radeon_gem_info gem = { 0 };
	drmDevicePtr pci;
	uint64_t caps = 0;
	struct drm_radeon_info info = {
		.request = RADEON_INFO_GEM_RW,
		.value = (uintptr_t)&caps,
	};

	if (do_ioctl(dev->fd, DRM_IOCTL_RADEON_INFO, &info))
		caps = 0;
	dev->has_rw = caps & RADEON_GEM_RW_CAP_PREAD_PWRITE;
	dev->has_transfer = caps & RADEON_GEM_RW_CAP_TRANSFER;
	dev->has_staging = caps & RADEON_GEM_RW_CAP_STAGED;
	if (!do_ioctl(dev->fd, DRM_IOCTL_RADEON_GEM_INFO, &gem)) {
		dev->vram = gem.vram_size;
		dev->vram_visible = gem.vram_visible;
		dev->gtt = gem.gart_size;
	}
	snprintf(dev->driver, sizeof(dev->driver), "%s %d.%d.%d",
		 version->name, version->version_major, version->version_minor,
		 version->version_patchlevel);
	if (!drmGetDevice2(dev->fd, 0, &pci)) {
		if (pci->bustype == DRM_BUS_PCI) {
			snprintf(dev->device, sizeof(dev->device), "%04x:%04x",
				 pci->deviceinfo.pci->vendor_id,
				 pci->deviceinfo.pci->device_id);
			snprintf(dev->pci, sizeof(dev->pci),
				 "%04x:%02x:%02x.%d", pci->businfo.pci->domain,
				 pci->businfo.pci->bus, pci->businfo.pci->dev,
				 pci->businfo.pci->func);
		}
		drmFreeDevice(&pci);
	}
}

/**
 * bench_open - open a render node of the radeon driver
 * @dev: filled in
 *
 * It is that of the card whose PCI address NOMAP_CARD is in the environment, as
 * "0000:01:00.0", or the first one without it.
 *
 * Return: 0, or -ENODEV if there is none
 */
int bench_open(struct bench_device *dev)
{
	const char *card = getenv("NOMAP_CARD");
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
		if (found && (!card || !*card || !strcmp(card, dev->pci)))
			return 0;
		close(dev->fd);
		memset(dev, 0, sizeof(*dev));
	}
	return -ENODEV;
}

/**
 * bench_gem_create - make a BO
 * @fd: device
 * @size: bytes
 * @domain: RADEON_GEM_DOMAIN_*
 * @flags: RADEON_GEM_NO_CPU_ACCESS, RADEON_GEM_GTT_WC and such
 * @handle: filled in
 */
int bench_gem_create(int fd, uint64_t size, uint32_t domain, uint32_t flags,
		     uint32_t *handle)
{
	struct drm_radeon_gem_create arg = {
		.size = size,
		.alignment = 4096,
		.initial_domain = domain,
		.flags = flags,
	};
	int ret = do_ioctl(fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg);

	*handle = arg.handle;
	return ret;
}

int bench_gem_close(int fd, uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	return do_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &arg);
}

/**
 * bench_gem_offset - get a BO's offset for mmap()
 * @fd: device
 * @handle: BO
 * @size: size of the BO in bytes
 * @offset: filled in: offset in @fd for mmap()
 */
int bench_gem_offset(int fd, uint32_t handle, uint64_t size, uint64_t *offset)
{
	struct drm_radeon_gem_mmap arg = {
		.handle = handle,
		.size = size,
	};
	int ret = do_ioctl(fd, DRM_IOCTL_RADEON_GEM_MMAP, &arg);

	*offset = arg.addr_ptr;
	return ret;
}

int bench_gem_mmap(int fd, uint32_t handle, uint64_t size, void **ptr)
{
	uint64_t offset;
	int ret = bench_gem_offset(fd, handle, size, &offset);

	if (ret)
		return ret;
	*ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	return *ptr == MAP_FAILED ? -errno : 0;
}

int bench_gem_wait(int fd, uint32_t handle)
{
	struct drm_radeon_gem_wait_idle arg = { .handle = handle };

	return do_ioctl(fd, DRM_IOCTL_RADEON_GEM_WAIT_IDLE, &arg);
}

/**
 * bench_gem_busy - does the GPU use a BO?
 * @fd: device
 * @handle: BO
 *
 * Returns: 1 if it does, 0 if not, or a negative errno
 */
int bench_gem_busy(int fd, uint32_t handle)
{
	struct drm_radeon_gem_busy arg = { .handle = handle };
	int ret = do_ioctl(fd, DRM_IOCTL_RADEON_GEM_BUSY, &arg);

	return ret == -EBUSY ? 1 : ret;
}

int bench_gem_pread(int fd, uint32_t handle, uint64_t offset, void *data,
		    uint64_t size)
{
	struct drm_radeon_gem_pread arg = {
		.handle = handle,
		.offset = offset,
		.size = size,
		.data_ptr = (uintptr_t)data,
	};

	return do_ioctl(fd, DRM_IOCTL_RADEON_GEM_PREAD, &arg);
}

int bench_gem_pwrite(int fd, uint32_t handle, uint64_t offset,
		     const void *data, uint64_t size)
{
	struct drm_radeon_gem_pwrite arg = {
		.handle = handle,
		.offset = offset,
		.size = size,
		.data_ptr = (uintptr_t)data,
	};

	return do_ioctl(fd, DRM_IOCTL_RADEON_GEM_PWRITE, &arg);
}

/**
 * bench_gem_transfer - DRM_RADEON_GEM_TRANSFER
 * @fd: device
 * @regions: array of struct drm_radeon_gem_transfer_region
 * @count: number of regions
 * @flags: RADEON_GEM_TRANSFER_WRITE, RADEON_GEM_RW_*
 *
 * Returns: 0, a negative errno, or -EIO if not all regions were done
 */
int bench_gem_transfer(int fd, const void *regions, uint32_t count,
		       uint32_t flags)
{
	struct drm_radeon_gem_transfer arg = {
		.regions_ptr = (uintptr_t)regions,
		.region_count = count,
		.flags = flags,
	};
	int ret = do_ioctl(fd, DRM_IOCTL_RADEON_GEM_TRANSFER, &arg);

	if (!ret && arg.regions_done != count)
		return -EIO;
	return ret;
}

/**
 * bench_gem_copy - have the GPU copy pieces of BOs into another BO
 * @fd: device
 * @dst: destination
 * @dst_domain: its RADEON_GEM_DOMAIN_*
 * @pieces: what to copy
 * @count: number of pieces, at most BENCH_PIECES_MAX
 * @src_domain: RADEON_GEM_DOMAIN_* of the sources
 *
 * Uses CP_DMA on the gfx ring, in the form that the kernel's command checker for
 * R600 and R700 requires. Does not wait for the copy.
 */
int bench_gem_copy(int fd, uint32_t dst, uint32_t dst_domain,
		   const struct bench_piece *pieces, unsigned int count,
		   uint32_t src_domain)
{
	static struct drm_radeon_cs_reloc relocs[BENCH_PIECES_MAX + 1];
	static uint32_t ib[BENCH_PIECES_MAX * RADEON_GUEST_CP_DMA_DWORDS +
			   RADEON_GUEST_IB_ALIGN];
	unsigned int i, k, n = 0, used = 1;

	if (count > BENCH_PIECES_MAX)
		return -EINVAL;

	memset(relocs, 0, sizeof(relocs));
	relocs[0].handle = dst;
	relocs[0].write_domain = dst_domain;
	for (i = 0; i < count; i++) {
		const struct bench_piece *p = &pieces[i];

		/* Successive pieces of one BO share a relocation. */
		k = i && p->handle == p[-1].handle ? used - 1 : used++;
		relocs[k].handle = p->handle;
		relocs[k].read_domains = src_domain;
		n = radeon_guest_cp_dma(ib, n, p->dst_offset, 0, p->src_offset,
					k, p->bytes);
	}
	n = radeon_guest_pad(ib, n, RADEON_CS_RING_GFX);
	return radeon_guest_submit(fd, RADEON_CS_RING_GFX, ib, n, relocs, used);
}

/**
 * bench_gem_userptr - DRM_RADEON_GEM_USERPTR
 * @fd: device
 * @ptr: first byte of user memory, at the start of a page
 * @size: bytes, a multiple of the page size
 * @flags: RADEON_GEM_USERPTR_*
 * @handle: filled in: a BO that consists of this memory
 */
int bench_gem_userptr(int fd, const void *ptr, uint64_t size, uint32_t flags,
		      uint32_t *handle)
{
	struct drm_radeon_gem_userptr arg = {
		.addr = (uintptr_t)ptr,
		.size = size,
		.flags = flags,
	};
	int ret = do_ioctl(fd, DRM_IOCTL_RADEON_GEM_USERPTR, &arg);

	*handle = arg.handle;
	return ret;
}

static uint64_t dma_relocs;

/**
 * bench_gem_dma - have the DMA engine copy pieces of BOs
 * @fd: device
 * @pieces: what to copy
 * @count: number of pieces, at most BENCH_DMA_PIECES_MAX
 * @src_domain: RADEON_GEM_DOMAIN_* of all sources
 * @dst_domain: RADEON_GEM_DOMAIN_* of all destinations
 *
 * One submission to the DMA ring, in the form that the kernel's command checker
 * for R600 and R700 requires (Evergreen's packets differ): two relocations for
 * each piece. Does not wait for the copy.
 */
int bench_gem_dma(int fd, const struct bench_dma_piece *pieces,
		  unsigned int count, uint32_t src_domain, uint32_t dst_domain)
{
	static struct drm_radeon_cs_reloc relocs[2 * BENCH_DMA_PIECES_MAX];
	static uint32_t ib[BENCH_DMA_PIECES_MAX * RADEON_GUEST_DMA_DWORDS +
			   RADEON_GUEST_IB_ALIGN];
	unsigned int i, n = 0;

	if (count > BENCH_DMA_PIECES_MAX)
		return -EINVAL;
	for (i = 0; i < count; i++) {
		const struct bench_dma_piece *p = &pieces[i];

		relocs[2 * i] = (struct drm_radeon_cs_reloc) {
			.handle = p->src,
			.read_domains = src_domain,
		};
		relocs[2 * i + 1] = (struct drm_radeon_cs_reloc) {
			.handle = p->dst,
			.write_domain = dst_domain,
		};
		n = radeon_guest_dma(ib, n, p->dst_offset, p->src_offset,
				     p->bytes);
	}
	n = radeon_guest_pad(ib, n, RADEON_CS_RING_DMA);
	dma_relocs += 2 * count;
	return radeon_guest_submit(fd, RADEON_CS_RING_DMA, ib, n, relocs,
				   2 * count);
}

/**
 * bench_gem_dma_relocs - relocations in all submissions by bench_gem_dma() so far
 */
uint64_t bench_gem_dma_relocs(void)
{
	return dma_relocs;
}
