// SPDX-License-Identifier: MIT
/*
 * GPU work: copies by command submission on the gfx and DMA rings.
 *
 * The packets have the form which the kernel's command checkers for R600 and
 * R700 ask for (drivers/gpu/drm/radeon/r600_cs.c); opcodes and fields are
 * those of r600d.h.
 */
#include <errno.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_radeon.h"

/* PM4 (r600d.h) */
#define PACKET2			0x80000000u
#define PACKET3(op, n)		(3u << 30 | ((n) & 0x3fff) << 16 | (op) << 8)
#define PACKET3_NOP		0x10
#define PACKET3_CP_DMA		0x41
#define PACKET3_CP_DMA_CP_SYNC	(1u << 31)
/* The byte count has 21 bits; keep chunks a power of two below that. */
#define CP_DMA_CHUNK		(1u << 20)

/* Asynchronous DMA engine (r600d.h); the count is in dwords, 16 bits. */
#define DMA_PACKET_COPY(n)	(0x3u << 28 | (n))
#define DMA_PACKET_NOP		0xf0000000u
#define DMA_CHUNK		0x20000u

/* One reloc of a CS is four dwords; gfx packets name it by its first one. */
#define RELOC_DWORDS		4
#define MAX_PIECES		64

/* How long a submission is tried again */
#define BUSY_PAUSE_US		10000
#define BUSY_TRIES		500

static int submit(int fd, uint32_t ring, uint32_t *ib, uint32_t ib_dwords,
		  struct drm_radeon_cs_reloc *relocs, uint32_t count)
{
	uint32_t flags[2] = { RADEON_CS_KEEP_TILING_FLAGS, ring };
	struct drm_radeon_cs_chunk chunk[3] = {
		{
			.chunk_id = RADEON_CHUNK_ID_IB,
			.length_dw = ib_dwords,
			.chunk_data = (uintptr_t)ib,
		}, {
			.chunk_id = RADEON_CHUNK_ID_RELOCS,
			.length_dw = count * RELOC_DWORDS,
			.chunk_data = (uintptr_t)relocs,
		}, {
			.chunk_id = RADEON_CHUNK_ID_FLAGS,
			.length_dw = 2,
			.chunk_data = (uintptr_t)flags,
		},
	};
	uint64_t chunks[3] = {
		(uintptr_t)&chunk[0],
		(uintptr_t)&chunk[1],
		(uintptr_t)&chunk[2],
	};
	struct drm_radeon_cs cs = {
		.num_chunks = 3,
		.chunks = (uintptr_t)chunks,
	};
	unsigned int tries;

	/*
	 * If an engine does not pass its test after a reset, there is a second
	 * one, and nothing is taken until then.
	 */
	for (tries = 0; igt_ioctl(fd, DRM_IOCTL_RADEON_CS, &cs); tries++) {
		if (errno != EBUSY || tries == BUSY_TRIES)
			return -errno;
		usleep(BUSY_PAUSE_US);
	}
	return 0;
}

/* The GPU cannot use system memory: such a BO is taken to GTT. */
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
	uint32_t ib[MAX_PIECES * 10 + 8], n = 0, piece;

	relocs[0] = reloc_read(src);
	relocs[1] = reloc_write(dst);
	while (size) {
		piece = size < CP_DMA_CHUNK ? size : CP_DMA_CHUNK;
		igt_assert(n + 10 <= MAX_PIECES * 10);
		ib[n++] = PACKET3(PACKET3_CP_DMA, 4);
		ib[n++] = src_offset;
		ib[n++] = PACKET3_CP_DMA_CP_SYNC | (src_offset >> 32 & 0xff);
		ib[n++] = dst_offset;
		ib[n++] = dst_offset >> 32 & 0xff;
		ib[n++] = piece;
		ib[n++] = PACKET3(PACKET3_NOP, 0);
		ib[n++] = 0 * RELOC_DWORDS;
		ib[n++] = PACKET3(PACKET3_NOP, 0);
		ib[n++] = 1 * RELOC_DWORDS;
		src_offset += piece;
		dst_offset += piece;
		size -= piece;
	}
	while (n % 8)
		ib[n++] = PACKET2;

	return submit(src->fd, RADEON_CS_RING_GFX, ib, n, relocs, 2);
}

/* Relocs of the DMA ring are taken in order, source first, two a packet. */
static int copy_dma(const struct igt_radeon_bo *dst, uint64_t dst_offset,
		     const struct igt_radeon_bo *src, uint64_t src_offset,
		     uint64_t size)
{
	struct drm_radeon_cs_reloc relocs[MAX_PIECES * 2];
	uint32_t ib[MAX_PIECES * 5 + 8], n = 0, r = 0, piece;

	igt_assert(!((dst_offset | src_offset | size) & 3));
	while (size) {
		piece = size < DMA_CHUNK ? size : DMA_CHUNK;
		igt_assert(r + 2 <= MAX_PIECES * 2);
		ib[n++] = DMA_PACKET_COPY(piece / 4);
		ib[n++] = dst_offset;
		ib[n++] = src_offset;
		ib[n++] = dst_offset >> 32 & 0xff;
		ib[n++] = src_offset >> 32 & 0xff;
		relocs[r++] = reloc_read(src);
		relocs[r++] = reloc_write(dst);
		src_offset += piece;
		dst_offset += piece;
		size -= piece;
	}
	while (n % 8)
		ib[n++] = DMA_PACKET_NOP;

	return submit(src->fd, RADEON_CS_RING_DMA, ib, n, relocs, r);
}

/**
 * igt_radeon_has_engine:
 * @fd: device
 * @engine: engine
 *
 * Returns: whether the driver takes command streams for @engine. The form of
 * the DMA ring's packets is that of R700 and later.
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
 * @size: bytes; whole dwords for the DMA engine, at most 8 MiB
 *
 * Queues a copy and returns; the kernel orders it behind earlier uses.
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
 * @size: bytes; whole dwords for the DMA engine, at most 8 MiB
 *
 * As igt_radeon_try_copy(), which succeeds.
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
 * @bo: BO that the work is taken to use
 * @dwords: size of the IB, a multiple of 8, at most 16384
 *
 * Submits work that does nothing, to the gfx ring, with an IB of that size.
 * Waits for room for the IB.
 */
void igt_radeon_submit_nops(const struct igt_radeon_bo *bo, uint32_t dwords)
{
	struct drm_radeon_cs_reloc reloc = reloc_read(bo);
	uint32_t *ib = igt_radeon_malloc(dwords * sizeof(*ib));
	uint32_t i;

	for (i = 0; i < dwords; i++)
		ib[i] = PACKET2;
	igt_assert_eq(submit(bo->fd, RADEON_CS_RING_GFX, ib, dwords, &reloc, 1),
		      0);
	free(ib);
}
