// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: copies by the GPU
 * between a BO and other memory that the GPU can reach.
 *
 * The copy callbacks of struct radeon_asic move whole pages. The engines can
 * do more, and several pieces in one submission:
 *
 * - CP DMA, on the graphics ring, copies any bytes: PACKET3_CP_DMA in r600d.h
 *   and evergreend.h. Its packets are the same from R600 to Cayman.
 * - The DMA engine has a ring of its own and copies dwords: r600_copy_dma(),
 *   rv770_copy_dma(), evergreen_copy_dma() have the three forms of its packet.
 *   From RV770 on it also fills: DMA_PACKET_CONSTANT_FILL in rv770d.h, whose
 *   fields are in r600_dma_cs_parse() and evergreen_dma_cs_parse().
 *
 * Others than these families are not supported.
 *
 * A GPU reset executes again what is in the graphics ring from the place on that
 * was noted last, see radeon_ring_backup(). Indirect buffers note the place
 * behind them. So do the copies here. Otherwise a copy done long ago, whose
 * memory has got other uses since, would be done once more. What is in the DMA
 * ring is lost in a reset: radeon_ring_backup() looks for the place where
 * write-back has been turned off by then.
 */

#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/list.h>
#include <linux/rwsem.h>
#include <linux/string.h>

#include <drm/radeon_drm_rw.h>
#include <drm/ttm/ttm_placement.h>

#include "radeon.h"
#include "radeon_asic.h"
#include "r600d.h"
#include "radeon_gem_rw.h"

/* Bytes per packet: multiples of the cache line below the field's maximum. */
#define RADEON_GEM_RW_CP_DMA_MAX	0x1fff00
#define RADEON_GEM_RW_R600_DMA_MAX	(0xff00 * 4)
#define RADEON_GEM_RW_EG_DMA_MAX	(0xfff00 * 4)

/* Dwords per packet, and of what comes with all packets of a submission. */
#define RADEON_GEM_RW_PACKET_DW		6
#define RADEON_GEM_RW_FILL_DW		4
#define RADEON_GEM_RW_EXTRA_DW		(64 + RADEON_NUM_SYNCS * 8)

/* Dwords in a ring that signals a semaphore, as radeon_sync_rings() has it. */
#define RADEON_GEM_RW_SIGNAL_DW		16

/**
 * radeon_gem_rw_ring_supported - can the GPU copy?
 * @rdev: the device
 *
 * Returns:
 * Whether radeon_gem_rw_ring_copy() knows the packets of this device, and
 * the GPU reads memory as the CPU sees it, which AGP does not warrant.
 */
bool radeon_gem_rw_ring_supported(struct radeon_device *rdev)
{
	return rdev->family >= CHIP_R600 && rdev->family <= CHIP_ARUBA &&
		!(rdev->flags & RADEON_IS_AGP);
}

/**
 * radeon_gem_rw_ring_can_fill - can the DMA engine fill memory?
 * @rdev: the device
 *
 * Returns:
 * Whether the engine has the packet, and the driver trusts it with moves of BOs,
 * which it does not on R600.
 */
bool radeon_gem_rw_ring_can_fill(struct radeon_device *rdev)
{
	return radeon_gem_rw_ring_supported(rdev) &&
		rdev->family >= CHIP_RV770 &&
		rdev->asic->copy.copy_ring_index ==
		rdev->asic->copy.dma_ring_index;
}

/* Most bytes that a packet copies or fills. */
static u32 radeon_gem_rw_packet_max(struct radeon_device *rdev, bool dma)
{
	if (!dma)
		return RADEON_GEM_RW_CP_DMA_MAX;

	return rdev->family >= CHIP_CEDAR ? RADEON_GEM_RW_EG_DMA_MAX :
		RADEON_GEM_RW_R600_DMA_MAX;
}

static void radeon_gem_rw_emit_cp_dma(struct radeon_ring *ring, u64 dst,
				      u64 src, u32 bytes, bool last)
{
	radeon_ring_write(ring, PACKET3(PACKET3_CP_DMA, 4));
	radeon_ring_write(ring, lower_32_bits(src));
	radeon_ring_write(ring, (upper_32_bits(src) & 0xff) |
			  (last ? PACKET3_CP_DMA_CP_SYNC : 0));
	radeon_ring_write(ring, lower_32_bits(dst));
	radeon_ring_write(ring, upper_32_bits(dst) & 0xff);
	radeon_ring_write(ring, bytes);
}

static void radeon_gem_rw_emit_dma(struct radeon_device *rdev,
				   struct radeon_ring *ring, u64 dst, u64 src,
				   u32 bytes)
{
	radeon_ring_write(ring, (u32)DMA_PACKET_COPY << 28 | bytes / 4);
	radeon_ring_write(ring, lower_32_bits(dst));
	radeon_ring_write(ring, lower_32_bits(src));
	if (rdev->family < CHIP_RV770) {
		radeon_ring_write(ring, (upper_32_bits(dst) & 0xff) << 16 |
				  (upper_32_bits(src) & 0xff));
		return;
	}
	radeon_ring_write(ring, upper_32_bits(dst) & 0xff);
	radeon_ring_write(ring, upper_32_bits(src) & 0xff);
}

/* Wait in the ring for what the graphics engine may still have in caches. */
static void radeon_gem_rw_emit_flush(struct radeon_ring *ring)
{
	radeon_ring_write(ring, PACKET3(PACKET3_EVENT_WRITE, 0));
	radeon_ring_write(ring, EVENT_TYPE(CACHE_FLUSH_AND_INV_EVENT) |
			  EVENT_INDEX(0));
	radeon_ring_write(ring, PACKET3(PACKET3_SET_CONFIG_REG, 1));
	radeon_ring_write(ring, (WAIT_UNTIL - PACKET3_SET_CONFIG_REG_OFFSET) >> 2);
	radeon_ring_write(ring, WAIT_3D_IDLE_bit | WAIT_3D_IDLECLEAN_bit);
}

static void radeon_gem_rw_emit_wait_cp_dma(struct radeon_ring *ring)
{
	radeon_ring_write(ring, PACKET3(PACKET3_SET_CONFIG_REG, 1));
	radeon_ring_write(ring, (WAIT_UNTIL - PACKET3_SET_CONFIG_REG_OFFSET) >> 2);
	radeon_ring_write(ring, WAIT_CP_DMA_IDLE_bit);
}

static void radeon_gem_rw_emit_fill(struct radeon_device *rdev,
				    struct radeon_ring *ring, u64 dst, u64 len)
{
	u32 bytes, max = radeon_gem_rw_packet_max(rdev, true);

	for (; len; len -= bytes) {
		bytes = min_t(u64, len, max);
		radeon_ring_write(ring, (u32)DMA_PACKET_CONSTANT_FILL << 28 |
				  bytes / 4);
		radeon_ring_write(ring, lower_32_bits(dst));
		radeon_ring_write(ring, 0);
		radeon_ring_write(ring, (upper_32_bits(dst) & 0xff) << 16);
		dst += bytes;
	}
}

/*
 * What comes before this has been done, so that only what follows is done again
 * after a reset. Comes before the fence, because that must not get lost.
 */
static void radeon_gem_rw_emit_done(struct radeon_ring *ring)
{
	if (!ring->rptr_save_reg)
		return;

	radeon_ring_write(ring, PACKET3(PACKET3_SET_CONFIG_REG, 1));
	radeon_ring_write(ring, (ring->rptr_save_reg -
				 PACKET3_SET_CONFIG_REG_OFFSET) >> 2);
	radeon_ring_write(ring, (ring->wptr + 1) & ring->ptr_mask);
}

static void radeon_gem_rw_emit_piece(struct radeon_device *rdev,
				     struct radeon_ring *ring, bool dma,
				     u64 dst, u64 src, u64 len, bool last)
{
	u32 bytes, max = radeon_gem_rw_packet_max(rdev, dma);

	for (; len; len -= bytes) {
		bytes = min_t(u64, len, max);
		if (dma)
			radeon_gem_rw_emit_dma(rdev, ring, dst, src, bytes);
		else
			radeon_gem_rw_emit_cp_dma(ring, dst, src, bytes,
						  last && bytes == len);
		dst += bytes;
		src += bytes;
	}
}

static void radeon_gem_rw_emit(const struct radeon_gem_rw *rw,
			       const struct radeon_gem_rw_span *span, u64 mem,
			       struct radeon_ring *ring, bool dma)
{
	u64 base = radeon_bo_gpu_offset(rw->bo);
	struct radeon_gem_rw_pos pos = rw->pos;
	struct radeon_gem_rw_piece piece;
	u64 left, bytes, in_bo, in_mem;

	if (!dma)
		radeon_gem_rw_emit_flush(ring);

	for (left = span->len; left; left -= piece.len) {
		radeon_gem_rw_peek(rw, &pos, left, &piece);
		radeon_gem_rw_step(rw, &pos, piece.len);
		in_bo = base + piece.offset;
		in_mem = mem + piece.offset % RADEON_GEM_RW_SLOT_ALIGN;
		mem += radeon_gem_rw_slot(&piece);
		bytes = piece.len;

		/* Reading a bit more is fine, the slot has room for it. */
		if (dma && !span->dwords) {
			bytes = ALIGN(bytes + in_bo % 4, 4);
			in_bo = ALIGN_DOWN(in_bo, 4);
			in_mem = ALIGN_DOWN(in_mem, 4);
		}

		radeon_gem_rw_emit_piece(rw->rdev, ring, dma,
					 rw->write ? in_bo : in_mem,
					 rw->write ? in_mem : in_bo, bytes,
					 left == piece.len);
	}

	if (!dma) {
		radeon_gem_rw_emit_wait_cp_dma(ring);
		radeon_gem_rw_emit_done(ring);
	}
}

/*
 * Collect the fences that the copy has to come after. There is no waiting in a
 * ring for those of other devices, nor, on some chips, for those of rings for
 * video: radeon_sync_rings() would wait for these with the CPU.
 */
static int radeon_gem_rw_sync(const struct radeon_gem_rw *rw,
			      struct radeon_sync *sync)
{
	enum dma_resv_usage usage = dma_resv_usage_rw(rw->write);
	struct radeon_fence *radeon_fence;
	struct dma_resv_iter cursor;
	struct dma_fence *fence;

	if (rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED)
		usage = DMA_RESV_USAGE_KERNEL;

	dma_resv_for_each_fence(&cursor, rw->bo->tbo.base.resv, usage, fence) {
		if (dma_fence_is_signaled(fence))
			continue;

		radeon_fence = to_radeon_fence(fence);
		if (!radeon_fence || radeon_fence->rdev != rw->rdev)
			return -EBUSY;

		if (radeon_fence_signaled(radeon_fence))
			continue;

		if (radeon_fence->ring >= R600_RING_TYPE_UVD_INDEX)
			return -EBUSY;

		radeon_sync_fence(sync, radeon_fence);
	}

	return 0;
}

/*
 * The DMA engine leaves the graphics ring alone. But a copy that has to wait
 * for the graphics ring only had better queue up there: in the DMA ring, all
 * that comes later would wait with it.
 *
 * An unsynchronized copy takes a ring that does nothing. Where the driver does
 * not trust the DMA engine with moves of BOs, as on R600, neither do we.
 */
static bool radeon_gem_rw_choose_dma(const struct radeon_gem_rw *rw,
				     const struct radeon_sync *sync, bool can_dma)
{
	struct radeon_device *rdev = rw->rdev;
	int dma = rdev->asic->copy.dma_ring_index;
	int gfx = rdev->asic->copy.blit_ring_index;

	if (!can_dma || !rdev->ring[dma].ready ||
	    rdev->asic->copy.copy_ring_index != dma)
		return false;

	if (!rdev->ring[gfx].ready)
		return true;

	if (rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED)
		return !radeon_fence_count_emitted(rdev, dma) ||
			radeon_fence_count_emitted(rdev, gfx);

	return !sync->sync_to[gfx] || sync->sync_to[dma];
}

static bool radeon_gem_rw_ring_has_room(struct radeon_device *rdev,
					struct radeon_ring *ring, u32 ndw)
{
	if (!ring->ready)
		return false;

	radeon_ring_free_size(rdev, ring);
	return ALIGN(ndw, ring->align_mask + 1) < ring->ring_free_dw;
}

/*
 * Take a ring without waiting for room in it, or in those that it is going to
 * wait for.
 */
static int radeon_gem_rw_ring_trylock(struct radeon_device *rdev,
				      struct radeon_ring *ring, u32 ndw,
				      const struct radeon_sync *sync)
{
	unsigned int i;
	int r = -EBUSY;

	mutex_lock(&rdev->ring_lock);
	if (!radeon_gem_rw_ring_has_room(rdev, ring, ndw))
		goto out_unlock;

	for (i = 0; i < RADEON_NUM_RINGS; i++) {
		if (radeon_fence_need_sync(sync->sync_to[i], ring->idx) &&
		    !radeon_gem_rw_ring_has_room(rdev, &rdev->ring[i],
						 RADEON_GEM_RW_SIGNAL_DW))
			goto out_unlock;
	}

	r = radeon_ring_alloc(rdev, ring, ndw);
	if (!r)
		return 0;

out_unlock:
	mutex_unlock(&rdev->ring_lock);
	return r;
}

/*
 * A submission that fails once it has been synchronized can not be undone: other
 * rings already have the signals, and the driver takes it that the ring has
 * waited for them. So the waits are submitted without what should come after
 * them. The semaphores may be freed when both are done, that is, with a later
 * fence of the ring. There is none yet, so they are kept until there is one.
 */
static void radeon_gem_rw_ring_keep(struct radeon_device *rdev,
				    struct radeon_ring *ring,
				    struct radeon_sync *sync)
{
	struct radeon_semaphore **kept = rdev->gem_rw->semaphores[ring->idx];

	lockdep_assert_held(&rdev->ring_lock);

	memcpy(kept, sync->semaphores, sizeof(sync->semaphores));
	if (ring->wptr != ring->wptr_old)
		radeon_ring_commit(rdev, ring, false);
}

/* Free the semaphores that have been kept, if any. Afterwards there are none. */
static int radeon_gem_rw_ring_free_kept(struct radeon_device *rdev,
					struct radeon_ring *ring)
{
	struct radeon_semaphore **kept = rdev->gem_rw->semaphores[ring->idx];
	struct radeon_fence *fence;
	unsigned int i;
	int r;

	lockdep_assert_held(&rdev->ring_lock);

	/* They are used from the first on. */
	if (!kept[0])
		return 0;

	r = radeon_fence_emit(rdev, &fence, ring->idx);
	if (r)
		return r;

	for (i = 0; i < RADEON_NUM_SYNCS; i++)
		radeon_semaphore_free(rdev, &kept[i], fence);
	radeon_fence_unref(&fence);

	return 0;
}

/**
 * radeon_gem_rw_ring_fini - free what failed submissions have left
 * @rdev: the device, whose rings have been stopped
 */
void radeon_gem_rw_ring_fini(struct radeon_device *rdev)
{
	unsigned int i, j;

	for (i = 0; i < RADEON_NUM_RINGS; i++) {
		for (j = 0; j < RADEON_NUM_SYNCS; j++)
			radeon_semaphore_free(rdev,
					      &rdev->gem_rw->semaphores[i][j],
					      NULL);
	}
}

/* The BO is reserved and in VRAM or GTT. Never waits for the GPU. */
static struct radeon_fence *
radeon_gem_rw_ring_copy(const struct radeon_gem_rw *rw,
			const struct radeon_gem_rw_span *span, u64 mem,
			bool exact)
{
	bool dma, can_dma = IS_ALIGNED(mem, 4) &&
		(span->dwords || (!rw->write && !exact));
	struct dma_resv *resv = rw->bo->tbo.base.resv;
	struct radeon_device *rdev = rw->rdev;
	struct radeon_fence *fence;
	struct radeon_ring *ring;
	struct radeon_sync sync;
	unsigned int packets, synced;
	int r;

	if (rdev->in_reset || READ_ONCE(rdev->needs_reset))
		return ERR_PTR(-EDEADLK);

	radeon_sync_create(&sync);
	r = radeon_gem_rw_sync(rw, &sync);
	if (r)
		return ERR_PTR(r);

	r = dma_resv_reserve_fences(resv, 1);
	if (r)
		return ERR_PTR(r);

	dma = radeon_gem_rw_choose_dma(rw, &sync, can_dma);
	ring = &rdev->ring[dma ? rdev->asic->copy.dma_ring_index :
			   rdev->asic->copy.blit_ring_index];

	packets = span->pieces +
		div_u64(span->len, radeon_gem_rw_packet_max(rdev, dma));
	r = radeon_gem_rw_ring_trylock(rdev, ring,
				       packets * RADEON_GEM_RW_PACKET_DW +
				       RADEON_GEM_RW_EXTRA_DW, &sync);
	if (r)
		return ERR_PTR(r);

	r = radeon_gem_rw_ring_free_kept(rdev, ring);
	if (r)
		goto out_undo;

	r = radeon_sync_rings(rdev, &sync, ring->idx);
	if (r)
		goto out_keep;

	synced = ring->wptr;
	radeon_gem_rw_emit(rw, span, mem, ring, dma);

	r = radeon_fence_emit(rdev, &fence, ring->idx);
	if (r) {
		ring->wptr = synced;
		goto out_keep;
	}

	/* What the CPU has written to VRAM must not be on its way any more. */
	radeon_ring_unlock_commit(rdev, ring,
				  rw->bo->tbo.resource->mem_type == TTM_PL_VRAM);
	radeon_sync_free(rdev, &sync, fence);

	dma_resv_add_fence(resv, &fence->base, rw->write ?
			   DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);

	return fence;

out_keep:
	radeon_gem_rw_ring_keep(rdev, ring, &sync);
	mutex_unlock(&rdev->ring_lock);
	return ERR_PTR(r);

out_undo:
	radeon_ring_unlock_undo(rdev, ring);
	return ERR_PTR(r);
}

/**
 * radeon_gem_rw_ring_submit - submit a copy between a BO and other memory
 * @rw: the transfer
 * @span: what to copy, from the transfer's position on
 * @mem: GPU address of memory with one slot after the other, see
 *	radeon_gem_rw_slot()
 * @exact: when reading, no byte around the pieces in @mem may change
 * @resets: returned: &radeon_device.gpu_reset_counter at the time
 *
 * The copy comes after work that has been submitted for the BO, as the
 * transfer's flags ask for, and its fence is added to the BO. Does not wait for
 * the GPU. Must be called with nothing held.
 *
 * Returns:
 * The copy's fence, to be given back with radeon_fence_unref(). If nothing has
 * been submitted, NULL if the GPU can not copy at the moment, or an error
 * pointer: -ERESTARTSYS, or -EDEADLK if the GPU has to be reset.
 */
struct radeon_fence *
radeon_gem_rw_ring_submit(struct radeon_gem_rw *rw,
			  const struct radeon_gem_rw_span *span, u64 mem,
			  bool exact, int *resets)
{
	struct radeon_device *rdev = rw->rdev;
	struct radeon_fence *fence = NULL;
	int r;

	if (down_read_interruptible(&rdev->exclusive_lock))
		return ERR_PTR(-ERESTARTSYS);

	r = radeon_bo_reserve(rw->bo, false);
	if (r) {
		fence = ERR_PTR(r);
		goto out_unlock;
	}

	*resets = atomic_read(&rdev->gpu_reset_counter);
	if (rw->bo->tbo.resource->mem_type != TTM_PL_SYSTEM)
		fence = radeon_gem_rw_ring_copy(rw, span, mem, exact);
	if (IS_ERR(fence) && PTR_ERR(fence) != -EDEADLK)
		fence = NULL;

	radeon_bo_unreserve(rw->bo);
out_unlock:
	up_read(&rdev->exclusive_lock);
	return fence;
}

/**
 * radeon_gem_rw_ring_fill - have the DMA engine fill VRAM with zeros
 * @rdev: the device
 * @fills: list of &struct radeon_gem_rw_fill, what to fill
 * @fence: returned: a fence that signals when all is done, to be given back with
 *	radeon_fence_unref()
 *
 * The memory must not be in use. What the CPU has written there before does not
 * arrive later: the host data path is flushed first. Waits for room in the ring,
 * as moves of BOs do.
 *
 * Returns:
 * 0, -EBUSY if the engine takes no work at the moment, -EDEADLK if the GPU has
 * to be reset, -ENOMEM.
 */
int radeon_gem_rw_ring_fill(struct radeon_device *rdev,
			    const struct list_head *fills,
			    struct radeon_fence **fence)
{
	struct radeon_ring *ring = &rdev->ring[rdev->asic->copy.dma_ring_index];
	const struct radeon_gem_rw_fill *fill;
	unsigned int packets = 0;
	int r;

	list_for_each_entry(fill, fills, head)
		packets += div_u64(fill->size,
				   radeon_gem_rw_packet_max(rdev, true)) + 1;

	r = radeon_ring_lock(rdev, ring, packets * RADEON_GEM_RW_FILL_DW +
			     RADEON_GEM_RW_EXTRA_DW);
	if (r)
		return r;

	r = -EBUSY;
	if (!ring->ready)
		goto out_undo;

	list_for_each_entry(fill, fills, head)
		radeon_gem_rw_emit_fill(rdev, ring,
					rdev->mc.vram_start + fill->start,
					fill->size);

	r = radeon_fence_emit(rdev, fence, ring->idx);
	if (r)
		goto out_undo;

	radeon_ring_unlock_commit(rdev, ring, true);
	return 0;

out_undo:
	radeon_ring_unlock_undo(rdev, ring);
	return r;
}
