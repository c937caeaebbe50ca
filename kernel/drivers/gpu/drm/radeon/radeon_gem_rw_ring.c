// SPDX-License-Identifier: MIT
/*
 * Copyright 2026 Seed 7e3b15d1 maintainers
 *
 * Reading and writing GEM objects without mapping them: work for the GPU.
 *
 * The copy callbacks of struct radeon_asic only copy whole pages. From R600 to Cayman
 * the engines can copy smaller pieces, and several of them in one submission:
 *
 * - CP DMA, on the graphics ring, copies any bytes: PACKET3_CP_DMA in r600d.h. The ME
 *   executes it, while the PFP is ahead and fetches indices and indirect data. So the
 *   PFP is made to wait, as Mesa does (r600_emit_pfp_sync_me()): there is a packet for
 *   that on Evergreen; before, the ME writes to memory, and the PFP waits for it.
 * - The DMA engine has a ring of its own and copies dwords: r600_copy_dma(),
 *   rv770_copy_dma(), evergreen_copy_dma() have the three forms of its packet.
 *
 * A GPU reset executes again what is in the graphics ring from the place on that was
 * noted last, see radeon_ring_backup(). Indirect buffers and the copies here note the
 * place behind them: a copy done long ago, whose memory has got other uses since, must
 * not be done once more. What is in the DMA ring is lost in a reset.
 *
 * radeon_sync_rings() waits for room in rings, and for memory for its semaphores. So
 * radeon_gem_rw_ring_submit() does without: jobs have the memory, and it never waits.
 */

#include <linux/iopoll.h>

#include "radeon.h"
#include "radeon_asic.h"
#include "r600d.h"
#include "radeon_gem_rw_gpu.h"

/*
 * Most bytes per packet: a multiple of the cache line below the limit of the R600's DMA
 * engine, the lowest of all. Dwords per packet, and for the rest of a submission.
 */
#define RADEON_GEM_RW_PACKET_MAX	(0xff00 * 4)
#define RADEON_GEM_RW_PACKET_DW		6
#define RADEON_GEM_RW_EXTRA_DW		(96 + RADEON_GEM_RW_JOB_SEMAPHORES * 8)

/* Dwords for a signal in another ring, as many as radeon_sync_rings() allocates. */
#define RADEON_GEM_RW_SIGNAL_DW		16

/* For how long ring_lock is tried, in microseconds. */
#define RADEON_GEM_RW_LOCK_US		1000

/* Fields of packets that the driver's headers do not have, from Mesa's r600d.h. */
#define RADEON_GEM_RW_CS_PARTIAL_FLUSH	(EVENT_TYPE(0x07) | EVENT_INDEX(4))
#define RADEON_GEM_RW_PS_PARTIAL_FLUSH	(EVENT_TYPE(0x10) | EVENT_INDEX(4))
#define RADEON_GEM_RW_MEM_WRITE_32_BITS	BIT(18)
#define RADEON_GEM_RW_WAIT_GEQUAL	5
#define RADEON_GEM_RW_WAIT_MEMORY	BIT(4)
#define RADEON_GEM_RW_WAIT_PFP		BIT(8)

/* SURFACE_SYNC on Cayman: the ME waits for CB0 to CB11, DB, and their caches; nid.h. */
#define RADEON_GEM_RW_SYNC_CB_DB	(BIT(31) | GENMASK(18, 6) | BIT(28) |	\
					 PACKET3_CB_ACTION_ENA | PACKET3_DB_ACTION_ENA)

/* Packets */

static unsigned int radeon_gem_rw_ring_dwords(const struct radeon_gem_rw_job *job)
{
	unsigned int i, packets = 0;

	for (i = 0; i < job->n; i++)
		packets += DIV_ROUND_UP_ULL(job->ops[i].len, RADEON_GEM_RW_PACKET_MAX);

	return packets * RADEON_GEM_RW_PACKET_DW + RADEON_GEM_RW_EXTRA_DW;
}

/* Write dwords to a ring, in which the caller has allocated room for them. */
#define radeon_gem_rw_write(ring, ...)					\
	do {								\
		const u32 dwords[] = { __VA_ARGS__ };			\
		unsigned int dw;					\
									\
		for (dw = 0; dw < ARRAY_SIZE(dwords); dw++)		\
			radeon_ring_write(ring, dwords[dw]);		\
	} while (0)

static void radeon_gem_rw_emit_cp_dma(struct radeon_ring *ring, u64 dst,
				      u64 src, u32 bytes, bool last)
{
	radeon_gem_rw_write(ring, PACKET3(PACKET3_CP_DMA, 4), lower_32_bits(src),
			    (upper_32_bits(src) & 0xff) |
			    (last ? PACKET3_CP_DMA_CP_SYNC : 0),
			    lower_32_bits(dst), upper_32_bits(dst) & 0xff, bytes);
}

static void radeon_gem_rw_emit_dma(struct radeon_device *rdev,
				   struct radeon_ring *ring, u64 dst, u64 src,
				   u32 bytes)
{
	radeon_gem_rw_write(ring, (u32)DMA_PACKET_COPY << 28 | bytes / 4,
			    lower_32_bits(dst), lower_32_bits(src));
	if (rdev->family < CHIP_RV770)
		radeon_gem_rw_write(ring, (upper_32_bits(dst) & 0xff) << 16 |
				    (upper_32_bits(src) & 0xff));
	else
		radeon_gem_rw_write(ring, upper_32_bits(dst) & 0xff,
				    upper_32_bits(src) & 0xff);
}

static void radeon_gem_rw_emit_reg(struct radeon_ring *ring, u32 reg, u32 value)
{
	radeon_gem_rw_write(ring, PACKET3(PACKET3_SET_CONFIG_REG, 1),
			    (reg - PACKET3_SET_CONFIG_REG_OFFSET) >> 2, value);
}

/*
 * Make the ring flush the caches of the graphics engine, and wait for that and for the
 * shaders. On Cayman WAIT_UNTIL is deprecated: there two events wait for the shaders of
 * draws and of compute, and SURFACE_SYNC waits until the CB and the DB have written
 * their caches back, as in Mesa's r600_flush_emit(). The ME waits, which executes CP DMA.
 */
static void radeon_gem_rw_emit_flush(struct radeon_device *rdev,
				     struct radeon_ring *ring)
{
	if (rdev->family >= CHIP_CAYMAN)
		radeon_gem_rw_write(ring, PACKET3(PACKET3_EVENT_WRITE, 0),
				    RADEON_GEM_RW_PS_PARTIAL_FLUSH,
				    PACKET3(PACKET3_EVENT_WRITE, 0),
				    RADEON_GEM_RW_CS_PARTIAL_FLUSH);
	radeon_gem_rw_write(ring, PACKET3(PACKET3_EVENT_WRITE, 0),
			    EVENT_TYPE(CACHE_FLUSH_AND_INV_EVENT) | EVENT_INDEX(0));
	if (rdev->family >= CHIP_CAYMAN)
		radeon_gem_rw_write(ring, PACKET3(PACKET3_SURFACE_SYNC, 3),
				    RADEON_GEM_RW_SYNC_CB_DB, 0xffffffff, 0, 10);
	else
		radeon_gem_rw_emit_reg(ring, WAIT_UNTIL, WAIT_3D_IDLE_bit |
				       WAIT_3D_IDLECLEAN_bit);
}

/*
 * Make the ring and the PFP wait for CP DMA. Then save the place from which a reset
 * executes the ring again: before the fence, as a reset must not skip the fence.
 */
static void radeon_gem_rw_emit_done(struct radeon_device *rdev,
				    struct radeon_ring *ring,
				    const struct radeon_gem_rw_job *job)
{
	const u32 low = lower_32_bits(job->gpu_addr);
	const u32 high = upper_32_bits(job->gpu_addr) & 0xff;

	if (rdev->family < CHIP_CAYMAN)
		radeon_gem_rw_emit_reg(ring, WAIT_UNTIL, WAIT_CP_DMA_IDLE_bit);

	if (rdev->family >= CHIP_CEDAR)
		radeon_gem_rw_write(ring, PACKET3(PACKET3_PFP_SYNC_ME, 0), 0);
	else
		radeon_gem_rw_write(ring, PACKET3(PACKET3_MEM_WRITE, 3), low,
				    high | RADEON_GEM_RW_MEM_WRITE_32_BITS, 1, 0,
				    PACKET3(PACKET3_WAIT_REG_MEM, 5),
				    RADEON_GEM_RW_WAIT_GEQUAL |
				    RADEON_GEM_RW_WAIT_MEMORY | RADEON_GEM_RW_WAIT_PFP,
				    low, high, 1, 0xffffffff, 4);

	if (ring->rptr_save_reg)
		radeon_gem_rw_emit_reg(ring, ring->rptr_save_reg,
				       (ring->wptr + 3) & ring->ptr_mask);
}

static void radeon_gem_rw_emit(struct radeon_device *rdev, struct radeon_ring *ring,
			       const struct radeon_gem_rw_job *job)
{
	bool dma = ring->idx == rdev->asic->copy.dma_ring_index;
	u64 done, dst, src;
	unsigned int i;
	u32 bytes;

	lockdep_assert_held(&rdev->ring_lock);

	if (!dma)
		radeon_gem_rw_emit_flush(rdev, ring);

	for (i = 0; i < job->n; i++) {
		for (done = 0; done < job->ops[i].len; done += bytes) {
			bytes = min_t(u64, job->ops[i].len - done,
				      RADEON_GEM_RW_PACKET_MAX);
			dst = job->ops[i].dst + done;
			src = job->ops[i].src + done;
			if (dma)
				radeon_gem_rw_emit_dma(rdev, ring, dst, src, bytes);
			else
				radeon_gem_rw_emit_cp_dma(ring, dst, src, bytes,
							  i + 1 == job->n && done +
							  bytes == job->ops[i].len);
		}
	}

	if (!dma)
		radeon_gem_rw_emit_done(rdev, ring, job);
}

/* Submission */

/*
 * Collect the fences that the copy has to wait for. Returns -EBUSY if a ring cannot
 * wait for one of them: a fence of another device or, as on some chips, of a video
 * ring.
 */
static int radeon_gem_rw_collect(const struct radeon_gem_rw *rw,
				 struct radeon_sync *sync)
{
	struct radeon_fence *radeon_fence;
	struct dma_resv_iter cursor;
	struct dma_fence *fence;

	dma_resv_for_each_fence(&cursor, rw->bo->tbo.base.resv,
				radeon_gem_rw_usage(rw), fence) {
		if (radeon_gem_rw_is_signaled(fence))
			continue;

		radeon_fence = to_radeon_fence(fence);
		if (!radeon_fence || radeon_fence->rdev != rw->rdev ||
		    radeon_fence->ring >= RADEON_GEM_RW_JOB_SEMAPHORES)
			return -EBUSY;

		radeon_sync_fence(sync, radeon_fence);
	}

	return 0;
}

/*
 * Can the DMA engine do the job? Where the driver does not use that engine for moves of
 * BOs, as on R600, neither does this.
 */
static bool radeon_gem_rw_can_dma(struct radeon_device *rdev,
				  const struct radeon_gem_rw_job *job)
{
	int dma = rdev->asic->copy.dma_ring_index;

	return job->dwords && rdev->ring[dma].ready &&
		rdev->asic->copy.copy_ring_index == dma;
}

/*
 * Prefer the DMA engine, which leaves the graphics ring alone. But a copy that only has
 * to wait for the graphics ring is queued there: in the DMA ring, all later work would
 * wait with it. Returns the ring, or -EBUSY if there is none.
 */
static int radeon_gem_rw_choose_ring(const struct radeon_gem_rw *rw,
				     const struct radeon_gem_rw_job *job,
				     const struct radeon_sync *sync)
{
	struct radeon_device *rdev = rw->rdev;
	int dma = rdev->asic->copy.dma_ring_index;
	int gfx = rdev->asic->copy.blit_ring_index;
	bool can_dma = radeon_gem_rw_can_dma(rdev, job);
	bool can_gfx = rdev->ring[gfx].ready;

	if (job->alone) {
		can_dma &= !radeon_fence_count_emitted(rdev, dma);
		can_gfx &= !radeon_fence_count_emitted(rdev, gfx);
	}

	if (can_dma && (!can_gfx || !sync->sync_to[gfx] || sync->sync_to[dma]))
		return dma;

	return can_gfx ? gfx : -EBUSY;
}

/*
 * Is there room in ring @idx, and in the rings that it has to wait for? Sets the bits
 * of the latter in @waits.
 */
static bool radeon_gem_rw_rings_have_room(struct radeon_device *rdev, int idx, u32 ndw,
					  const struct radeon_sync *sync,
					  unsigned long *waits)
{
	struct radeon_ring *ring;
	unsigned int i;

	lockdep_assert_held(&rdev->ring_lock);

	for (i = 0; i < RADEON_NUM_RINGS; i++) {
		ring = &rdev->ring[i];
		if (radeon_fence_need_sync(sync->sync_to[i], idx))
			*waits |= BIT(i);
		else if (i != idx)
			continue;
		if (!ring->ready)
			return false;
		radeon_ring_free_size(rdev, ring);
		if (ALIGN(i == idx ? ndw : RADEON_GEM_RW_SIGNAL_DW,
			  ring->align_mask + 1) >= ring->ring_free_dw)
			return false;
	}

	return true;
}

/*
 * Emit the waits in @ring, or, once nothing can fail any more, the signals in the other
 * rings (@signal). All rings that radeon_gem_rw_collect() accepts have semaphores.
 */
static void radeon_gem_rw_sync_rings(struct radeon_device *rdev,
				     struct radeon_ring *ring,
				     const struct radeon_gem_rw_job *job,
				     const struct radeon_sync *sync,
				     unsigned long waits, bool signal)
{
	struct radeon_semaphore semaphore = { };
	unsigned int i;

	for_each_set_bit(i, &waits, RADEON_GEM_RW_JOB_SEMAPHORES) {
		semaphore.gpu_addr = job->gpu_addr + (i + 1) * sizeof(u64);
		if (!signal) {
			radeon_semaphore_emit_wait(rdev, ring->idx, &semaphore);
		} else if (!radeon_ring_alloc(rdev, &rdev->ring[i],
					      RADEON_GEM_RW_SIGNAL_DW)) {
			radeon_semaphore_emit_signal(rdev, i, &semaphore);
			radeon_ring_commit(rdev, &rdev->ring[i], false);
			radeon_fence_note_sync(sync->sync_to[i], ring->idx);
		}
	}
}

/*
 * Submit a copy between a BO that is held, in VRAM or GTT, and other memory. The copy
 * comes after work that has been submitted for the BO, as the transfer's flags ask for,
 * and its fence is added to the BO. Does not wait for the GPU. On success the job
 * belongs to the list of its ring.
 *
 * Returns 0; -EBUSY if the GPU cannot copy at the moment; -ENOMEM; or -EDEADLK if it has
 * to be reset.
 */
int radeon_gem_rw_ring_submit(struct radeon_gem_rw *rw, struct radeon_gem_rw_job *job)
{
	struct dma_resv *resv = rw->bo->tbo.base.resv;
	struct radeon_device *rdev = rw->rdev;
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw_gpu;
	struct radeon_ring *ring;
	struct radeon_sync sync;
	unsigned long waits = 0;
	unsigned int ndw;
	bool locked;
	int r;

	lockdep_assert_held_read(&rdev->exclusive_lock);
	dma_resv_assert_held(resv);

	if (rdev->in_reset || READ_ONCE(rdev->needs_reset))
		return -EDEADLK;

	rw->resets = atomic_read(&rdev->gpu_reset_counter);
	radeon_sync_create(&sync);
	r = radeon_gem_rw_collect(rw, &sync);
	if (r)
		return r;

	r = dma_resv_reserve_fences(resv, 1);
	if (r)
		return r;

	r = radeon_gem_rw_choose_ring(rw, job, &sync);
	if (r < 0)
		return r;
	ring = &rdev->ring[r];

	/* Others hold this lock while they wait for room in rings, and for memory. */
	if (read_poll_timeout(mutex_trylock, locked, locked, 50, RADEON_GEM_RW_LOCK_US,
			      false, &rdev->ring_lock))
		return -EBUSY;

	r = -EBUSY;
	ndw = radeon_gem_rw_ring_dwords(job);
	if (!radeon_gem_rw_rings_have_room(rdev, ring->idx, ndw, &sync, &waits) ||
	    radeon_ring_alloc(rdev, ring, ndw))
		goto out_unlock;

	radeon_gem_rw_sync_rings(rdev, ring, job, &sync, waits, false);
	radeon_gem_rw_emit(rdev, ring, job);
	r = radeon_fence_emit(rdev, &job->fence, ring->idx);
	if (r) {
		radeon_ring_undo(ring);
		goto out_unlock;
	}

	radeon_gem_rw_sync_rings(rdev, ring, job, &sync, waits, true);
	/* Flush the HDP, so that the CPU's writes to VRAM arrive before the copy. */
	radeon_ring_commit(rdev, ring, rw->bo->tbo.resource->mem_type == TTM_PL_VRAM);
	dma_resv_add_fence(resv, &job->fence->base, rw->write ?
			   DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
	spin_lock(&gpu->lock);
	list_add_tail(&job->head, &gpu->jobs[ring->idx]);
	spin_unlock(&gpu->lock);
out_unlock:
	mutex_unlock(&rdev->ring_lock);
	return r;
}

/*
 * Submit a job again that a GPU reset has lost. The memory must not be in use by others. What
 * the CPU has written there before does not arrive later: the host data path is flushed
 * first. Waits for room in the ring, as moves of BOs do. Returns 0 and a @fence; -EBUSY
 * if no engine takes work at the moment; -EDEADLK if the GPU has to be reset; or -ENOMEM.
 */
int radeon_gem_rw_ring_resubmit(struct radeon_device *rdev,
				struct radeon_gem_rw_job *job,
				struct radeon_fence **fence)
{
	int idx = rdev->asic->copy.dma_ring_index;
	bool dma = radeon_gem_rw_can_dma(rdev, job);
	struct radeon_ring *ring =
		&rdev->ring[dma ? idx : rdev->asic->copy.blit_ring_index];
	int r;

	if (!ring->ready)
		return -EBUSY;

	memset(job->mem, 0, RADEON_GEM_RW_JOB_HEADER);

	r = radeon_ring_lock(rdev, ring, radeon_gem_rw_ring_dwords(job));
	if (r)
		return r;

	radeon_gem_rw_emit(rdev, ring, job);
	r = radeon_fence_emit(rdev, fence, ring->idx);
	if (r)
		radeon_ring_unlock_undo(rdev, ring);
	else
		radeon_ring_unlock_commit(rdev, ring, true);

	return r;
}
