// SPDX-License-Identifier: MIT
/*
 * GPU work: copies by command submission on the gfx and DMA rings.
 */
#include <errno.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_radeon.h"
#include "radeon_guest.h"

#define MAX_PIECES		64

/* Pause and number of attempts of a submission that is refused with -EBUSY */
#define BUSY_PAUSE_US		10000
#define BUSY_TRIES		500

static int submit(int fd, uint32_t ring, uint32_t *ib, uint32_t ib_dwords,
		  struct drm_radeon_cs_reloc *relocs, uint32_t count)
{
	unsigned int tries;
	int ret = -EBUSY;

	/*
	 * If an engine fails its test after a reset, the driver resets the GPU
	 * again, and refuses submissions until then.
	 */
	for (tries = 0; tries < BUSY_TRIES; tries++) {
		ret = radeon_guest_submit(fd, ring, ib, ib_dwords, relocs, count);
		if (ret != -EBUSY)
			break;
		usleep(BUSY_PAUSE_US);
	}
	return ret;
}

/* The GPU cannot access system memory: the kernel moves such a BO to GTT. */
static uint32_t gpu_domain(const struct igt_radeon_bo *bo)
{
	return bo->domain == RADEON_GEM_DOMAIN_CPU ? RADEON_GEM_DOMAIN_GTT :
						     bo->domain;
}

static struct drm_radeon_cs_reloc reloc_read(const struct igt_radeon_bo *bo)
{
	return (struct drm_radeon_cs_reloc) {
		.handle = bo->handle,
		.read_domains = gpu_domain(bo),
	};
}

static struct drm_radeon_cs_reloc reloc_write(const struct igt_radeon_bo *bo)
{
	return (struct drm_radeon_cs_reloc) {
		.handle = bo->handle,
		.write_domain = gpu_domain(bo),
	};
}

static int copy_cp_dma(const struct igt_radeon_bo *dst, uint64_t dst_offset,
			const struct igt_radeon_bo *src, uint64_t src_offset,
			uint64_t size)
{
	struct drm_radeon_cs_reloc relocs[2];
	uint32_t ib[MAX_PIECES * RADEON_GUEST_CP_DMA_DWORDS + RADEON_GUEST_IB_ALIGN], n = 0, piece;

	relocs[0] = reloc_read(src);
	relocs[1] = reloc_write(dst);
	while (size) {
		piece = size < RADEON_GUEST_CP_DMA_MAX ? size : RADEON_GUEST_CP_DMA_MAX;
		igt_assert(n < MAX_PIECES * RADEON_GUEST_CP_DMA_DWORDS);
		n = radeon_guest_cp_dma(ib, n, dst_offset, 1, src_offset, 0, piece);
		src_offset += piece;
		dst_offset += piece;
		size -= piece;
	}
	n = radeon_guest_pad(ib, n, RADEON_CS_RING_GFX);

	return submit(src->fd, RADEON_CS_RING_GFX, ib, n, relocs, 2);
}

/* Each packet of the DMA ring takes the next two relocations, source first. */
static int copy_dma(const struct igt_radeon_bo *dst, uint64_t dst_offset,
		     const struct igt_radeon_bo *src, uint64_t src_offset,
		     uint64_t size)
{
	struct drm_radeon_cs_reloc relocs[MAX_PIECES * 2];
	uint32_t ib[MAX_PIECES * RADEON_GUEST_DMA_DWORDS + RADEON_GUEST_IB_ALIGN], n = 0, r = 0, piece;

	igt_assert(!((dst_offset | src_offset | size) & 3));
	while (size) {
		piece = size < RADEON_GUEST_DMA_MAX ? size : RADEON_GUEST_DMA_MAX;
		igt_assert(r + 2 <= MAX_PIECES * 2);
		n = radeon_guest_dma(ib, n, dst_offset, src_offset, piece);
		relocs[r++] = reloc_read(src);
		relocs[r++] = reloc_write(dst);
		src_offset += piece;
		dst_offset += piece;
		size -= piece;
	}
	n = radeon_guest_pad(ib, n, RADEON_CS_RING_DMA);

	return submit(src->fd, RADEON_CS_RING_DMA, ib, n, relocs, r);
}

/**
 * igt_radeon_has_engine:
 * @fd: device
 * @engine: engine
 *
 * Returns: whether the driver takes command streams for @engine. The packets
 * that igt_radeon_copy() emits to the DMA ring are those of R700 and later.
 */
bool igt_radeon_has_engine(int fd, enum igt_radeon_engine engine)
{
	uint32_t ring = engine == IGT_RADEON_DMA ? RADEON_CS_RING_DMA :
						   RADEON_CS_RING_GFX;
	struct drm_radeon_info arg = {
		.request = RADEON_INFO_RING_WORKING,
		.value = (uintptr_t)&ring,
	};

	return !igt_ioctl(fd, DRM_IOCTL_RADEON_INFO, &arg) && ring;
}

/**
 * igt_radeon_try_copy:
 * @engine: which engine copies
 * @dst: destination, another BO than @src
 * @dst_offset: bytes; whole dwords for the DMA engine
 * @src: source
 * @src_offset: bytes; whole dwords for the DMA engine
 * @size: bytes, at most 64 MiB; for the DMA engine whole dwords, at most 8 MiB
 *
 * Queues a copy and does not wait for it. The kernel orders it behind earlier
 * uses of both BOs.
 *
 * Returns: 0 or a negative errno
 */
int igt_radeon_try_copy(enum igt_radeon_engine engine,
			const struct igt_radeon_bo *dst, uint64_t dst_offset,
			const struct igt_radeon_bo *src, uint64_t src_offset,
			uint64_t size)
{
	igt_assert(src->fd == dst->fd && src->handle != dst->handle);
	if (engine == IGT_RADEON_DMA)
		return copy_dma(dst, dst_offset, src, src_offset, size);
	return copy_cp_dma(dst, dst_offset, src, src_offset, size);
}

/**
 * igt_radeon_copy:
 * @engine: which engine copies
 * @dst: destination, another BO than @src
 * @dst_offset: bytes; whole dwords for the DMA engine
 * @src: source
 * @src_offset: bytes; whole dwords for the DMA engine
 * @size: bytes, at most 64 MiB; for the DMA engine whole dwords, at most 8 MiB
 *
 * As igt_radeon_try_copy(), and asserts that it succeeds.
 */
void igt_radeon_copy(enum igt_radeon_engine engine,
		     const struct igt_radeon_bo *dst, uint64_t dst_offset,
		     const struct igt_radeon_bo *src, uint64_t src_offset,
		     uint64_t size)
{
	igt_assert_eq(igt_radeon_try_copy(engine, dst, dst_offset, src,
					  src_offset, size), 0);
}

/**
 * igt_radeon_submit_nops:
 * @bo: BO that the submission makes busy
 * @dwords: size of the IB, a multiple of 8, at most 16384
 *
 * Submits an IB without effect to the gfx ring. Waits for room for the IB.
 */
void igt_radeon_submit_nops(const struct igt_radeon_bo *bo, uint32_t dwords)
{
	struct drm_radeon_cs_reloc reloc = reloc_read(bo);
	uint32_t *ib = igt_radeon_malloc(dwords * sizeof(*ib));
	uint32_t i;

	for (i = 0; i < dwords; i++)
		ib[i] = RADEON_GUEST_PACKET2;
	igt_assert_eq(submit(bo->fd, RADEON_CS_RING_GFX, ib, dwords, &reloc, 1),
		      0);
	free(ib);
}
