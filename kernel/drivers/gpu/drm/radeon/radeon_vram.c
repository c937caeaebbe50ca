// SPDX-License-Identifier: MIT
/*
 * Copyright 2026 Seed 7e3b15d1 maintainers
 *
 * VRAM for the CPU: the mapping of its visible part, the host data path, and the
 * clearing of new BOs.
 */

#include <linux/io.h>
#include <linux/iopoll.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "radeon.h"
#include "radeon_asic.h"
#include "rv770d.h"

/**
 * DOC: Clearing of new BOs
 *
 * A new BO must not show what the previous owner of its memory has left there.
 * GTT and system pages come cleared from TTM. VRAM does not, and there is one
 * place where a BO gets VRAM without contents to move there: radeon_bo_move(),
 * when user space creates a BO. That place calls radeon_vram_clear():
 *
 * - The CPU clears small BOs that it can reach.
 * - The DMA engine fills others, and the fence goes on the BO as one of the kernel's.
 *   All users of a BO wait for those. Only a mode set does not, so a BO can be on the
 *   screen before it is cleared.
 * - Where the DMA engine cannot fill, TTM is told to create the BO in GTT and
 *   to move it to VRAM from there.
 *
 * When an engine cannot do its part, because the GPU is locked up or under
 * test, the CPU clears what it can reach. For other VRAM the creation fails, and
 * radeon_gem_object_create() puts the BO into GTT.
 *
 * The BO's &dma_resv is held, and outside of it &radeon_device.exclusive_lock, so that
 * no GPU reset drops what the CPU writes, and &radeon_pm.mclk_lock, both for reading.
 * radeon_vram_refill() repeats fills that a GPU reset has lost. A move from GTT that a
 * reset loses is not repeated, like any move.
 */

/* Bytes that the CPU clears before it lets others run. */
#define RADEON_VRAM_CLEAR_STEP		SZ_256K

/*
 * Most bytes of a fill's packet, multiples of the cache line: its count has 16 bits, and
 * 20 from Evergreen on. Dwords of the packet, and of the rest of a submission.
 */
#define RADEON_VRAM_FILL_MAX		(0xff00 * 4)
#define RADEON_VRAM_FILL_MAX_CEDAR	(0xfff00 * 4)
#define RADEON_VRAM_FILL_DW		4
#define RADEON_VRAM_FILL_EXTRA_DW	32

/* How long a lost fill is waited for, in microseconds. Far more than needed. */
#define RADEON_VRAM_REFILL_TIMEOUT	2000000

static bool radeon_vram_clear_new = true;
MODULE_PARM_DESC(gem_rw_clear_vram,
		 "Clear VRAM that is given to new BOs (default Y)");
module_param_named(gem_rw_clear_vram, radeon_vram_clear_new, bool, 0644);

static unsigned int radeon_vram_clear_cpu_max = SZ_32K;
MODULE_PARM_DESC(gem_rw_clear_cpu_max,
		 "New BOs of up to this many bytes are cleared by the CPU, larger ones by the GPU (default 32768)");
module_param_named(gem_rw_clear_cpu_max, radeon_vram_clear_cpu_max, uint, 0644);

/* A fill that has been submitted: @size bytes from @start on, an offset in VRAM. */
struct radeon_vram_fill {
	struct hlist_node node;
	struct radeon_fence *fence;
	u64 start;
	u64 size;
};

/*
 * Flush the CPU's writes to VRAM out of the host data path, for work whose submission
 * does not flush it: moves of BOs, which are reserved.
 */
void radeon_vram_flush_hdp(struct radeon_device *rdev)
{
	if (READ_ONCE(rdev->vram.hdp_dirty) && xchg(&rdev->vram.hdp_dirty, false) &&
	    rdev->asic->mmio_hdp_flush)
		rdev->asic->mmio_hdp_flush(rdev);
}

static int radeon_vram_clear_by_cpu(struct radeon_device *rdev, u64 start, u64 size)
{
	u64 done, n;

	if (!rdev->vram.aperture || start + size > rdev->mc.visible_vram_size)
		return -EINVAL;

	for (done = 0; done < size; done += n) {
		n = min_t(u64, size - done, RADEON_VRAM_CLEAR_STEP);
		memset_io(rdev->vram.aperture + start + done, 0, n);
		cond_resched();
	}

	/* The next submission or move flushes the host data path. */
	wmb();
	WRITE_ONCE(rdev->vram.hdp_dirty, true);
	return 0;
}

/* Free the fills that are done. What the host data path has of their memory is old. */
static void radeon_vram_reap(struct radeon_device *rdev)
{
	struct radeon_vram_fill *fill;
	struct hlist_node *next;

	lockdep_assert_held(&rdev->vram.lock);

	hlist_for_each_entry_safe(fill, next, &rdev->vram.fills, node) {
		if (!radeon_fence_signaled(fill->fence))
			continue;
		hlist_del(&fill->node);
		radeon_fence_unref(&fill->fence);
		kfree(fill);
		rdev->vram.filled = true;
	}
}

/*
 * Have the DMA engine fill @size bytes from @start on with zeros. Waits for room in the
 * ring, as moves of BOs do. Returns 0 and a @fence; -EBUSY if the engine takes no work;
 * -EDEADLK if the GPU has to be reset; or -ENOMEM.
 */
static int radeon_vram_fill(struct radeon_device *rdev, u64 start, u64 size,
			    struct radeon_fence **fence)
{
	u64 max = rdev->family >= CHIP_CEDAR ? RADEON_VRAM_FILL_MAX_CEDAR :
					       RADEON_VRAM_FILL_MAX;
	struct radeon_ring *ring = &rdev->ring[rdev->asic->copy.dma_ring_index];
	u64 addr = rdev->mc.vram_start + start, n;
	int r;

	if (!ring->ready)
		return -EBUSY;

	r = radeon_ring_lock(rdev, ring, RADEON_VRAM_FILL_EXTRA_DW +
			     DIV_ROUND_UP_ULL(size, max) * RADEON_VRAM_FILL_DW);
	if (r)
		return r;

	for (; size; size -= n, addr += n) {
		n = min(size, max);
		radeon_ring_write(ring, (u32)DMA_PACKET_CONSTANT_FILL << 28 | n / 4);
		radeon_ring_write(ring, lower_32_bits(addr));
		radeon_ring_write(ring, 0);
		radeon_ring_write(ring, (upper_32_bits(addr) & 0xff) << 16);
	}

	r = radeon_fence_emit(rdev, fence, ring->idx);
	if (r)
		radeon_ring_unlock_undo(rdev, ring);
	else
		radeon_ring_unlock_commit(rdev, ring, true);

	return r;
}

static int radeon_vram_clear_by_gpu(struct radeon_device *rdev,
				    struct dma_resv *resv, u64 start, u64 size)
{
	struct radeon_vram_fill *fill;
	int r;

	fill = kzalloc(sizeof(*fill), GFP_KERNEL);
	if (!fill)
		return -ENOMEM;

	r = radeon_vram_fill(rdev, start, size, &fill->fence);
	if (r) {
		kfree(fill);
		return r;
	}
	fill->start = start;
	fill->size = size;

	/* TTM has reserved a slot for the fence of a move. */
	dma_resv_add_fence(resv, &fill->fence->base, DMA_RESV_USAGE_KERNEL);
	spin_lock(&rdev->vram.lock);
	radeon_vram_reap(rdev);
	hlist_add_head(&fill->node, &rdev->vram.fills);
	spin_unlock(&rdev->vram.lock);
	return 0;
}

/*
 * Clear @mem, the new memory of a reserved BO that has no contents yet. The BO has a
 * free slot for a fence, and all its fences have been waited for. Clears only VRAM of
 * BOs that user space has created. Returns 0; -EMULTIHOP if the BO should be moved to
 * @hop, and from there to @mem; or -EINVAL if @mem cannot be cleared, and must not be
 * used.
 */
int radeon_vram_clear(struct ttm_buffer_object *tbo, struct ttm_resource *mem,
		      struct ttm_place *hop)
{
	struct radeon_device *rdev = radeon_get_rdev(tbo->bdev);
	u64 start = (u64)mem->start << PAGE_SHIFT;
	u64 size = PAGE_ALIGN(mem->size);

	if (mem->mem_type != TTM_PL_VRAM || tbo->type != ttm_bo_type_device ||
	    !READ_ONCE(radeon_vram_clear_new))
		return 0;

	lockdep_assert_held_read(&rdev->exclusive_lock);
	lockdep_assert_held_read(&rdev->pm.mclk_lock);
	dma_resv_assert_held(tbo->base.resv);

	if (size <= READ_ONCE(radeon_vram_clear_cpu_max) &&
	    !radeon_vram_clear_by_cpu(rdev, start, size))
		return 0;

	/* While the engines are tested after a reset, they take no work. */
	if (rdev->in_reset || READ_ONCE(rdev->needs_reset))
		return radeon_vram_clear_by_cpu(rdev, start, size);

	/* RV770 to Cayman have this packet. The driver does not use R600's DMA. */
	if (rdev->family >= CHIP_RV770 && rdev->family <= CHIP_ARUBA &&
	    rdev->asic->copy.copy_ring_index == rdev->asic->copy.dma_ring_index) {
		if (!radeon_vram_clear_by_gpu(rdev, tbo->base.resv, start, size))
			return 0;
	} else if (hop && rdev->ring[radeon_copy_ring_index(rdev)].ready) {
		*hop = (struct ttm_place) { .mem_type = TTM_PL_TT };
		return -EMULTIHOP;
	}

	return radeon_vram_clear_by_cpu(rdev, start, size);
}

/*
 * Called before a page of a reserved BO is mapped: flush the host data path if it may
 * have kept bytes from before a fill. If a fill of this BO is under way, the page faults
 * again later.
 */
void radeon_vram_prepare_fault(struct ttm_buffer_object *tbo)
{
	struct radeon_device *rdev = radeon_get_rdev(tbo->bdev);

	if (tbo->resource->mem_type != TTM_PL_VRAM)
		return;

	spin_lock(&rdev->vram.lock);
	radeon_vram_reap(rdev);
	if (rdev->vram.filled && rdev->asic->mmio_hdp_flush)
		rdev->asic->mmio_hdp_flush(rdev);
	rdev->vram.filled = false;
	spin_unlock(&rdev->vram.lock);
}

/*
 * Repeat the fills that a GPU reset has lost, by the CPU where no engine does. Must be
 * called before the fences of lost work are signaled: until then the memory belongs to
 * the new BOs, and nobody else has written to it. Nobody else submits work.
 */
void radeon_vram_refill(struct radeon_device *rdev)
{
	struct radeon_vram_fill *fill;
	struct radeon_fence *fence;
	struct hlist_node *next;
	HLIST_HEAD(lost);
	bool done;

	spin_lock(&rdev->vram.lock);
	radeon_vram_reap(rdev);
	hlist_move_list(&rdev->vram.fills, &lost);
	spin_unlock(&rdev->vram.lock);

	hlist_for_each_entry_safe(fill, next, &lost, node) {
		done = !radeon_vram_fill(rdev, fill->start, fill->size, &fence);
		if (done) {
			read_poll_timeout(radeon_fence_signaled, done, done, 100,
					  RADEON_VRAM_REFILL_TIMEOUT, false, fence);
			radeon_fence_unref(&fence);
		}
		if (!done)
			radeon_vram_clear_by_cpu(rdev, fill->start, fill->size);

		spin_lock(&rdev->vram.lock);
		hlist_del(&fill->node);
		hlist_add_head(&fill->node, &rdev->vram.fills);
		spin_unlock(&rdev->vram.lock);
	}
}

/*
 * Map the visible part of VRAM once on 64 bit, where there is address space for it.
 * Without the mapping all clearing is left to the GPU.
 */
void radeon_vram_init(struct radeon_device *rdev)
{
	spin_lock_init(&rdev->vram.lock);
	if (IS_ENABLED(CONFIG_64BIT))
		rdev->vram.aperture = ioremap_wc(rdev->mc.aper_base,
						 rdev->mc.visible_vram_size);
}

/* The engines have been stopped. A probe that failed early has set up nothing. */
void radeon_vram_fini(struct radeon_device *rdev)
{
	struct radeon_vram_fill *fill;
	struct hlist_node *next;

	hlist_for_each_entry_safe(fill, next, &rdev->vram.fills, node) {
		radeon_fence_unref(&fill->fence);
		kfree(fill);
	}
	if (rdev->vram.aperture)
		iounmap(rdev->vram.aperture);
	rdev->vram = (struct radeon_vram) { };
}
