// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: clearing of VRAM for
 * new BOs.
 */

#include <linux/delay.h>
#include <linux/dma-resv.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_placement.h>
#include <drm/ttm/ttm_resource.h>

#include "radeon.h"
#include "radeon_gem_rw.h"

/**
 * DOC: Clearing of new BOs
 *
 * A new BO must not show what the previous owner of its memory has left there.
 * GTT and system pages come cleared from TTM. VRAM does not, and there is one
 * place where a BO gets VRAM without contents to move there: radeon_bo_move(),
 * when user space creates a BO. All moves later on copy the whole BO. That
 * place calls radeon_gem_rw_clear(), which takes one of three ways:
 *
 * - The CPU clears small BOs that it can reach. That is done when it returns.
 * - The DMA engine fills, and the fence goes on the BO as one of the kernel's.
 *   Those are waited for by all who use a BO: command submission, in its ring
 *   (radeon_sync_resv()); the fault handler (ttm_bo_vm_fault_idle()); mappings
 *   of the kernel (radeon_bo_kmap()); page flips
 *   (radeon_crtc_page_flip_target()); moves, and the release of the memory, as
 *   for any other fence; PREAD, PWRITE and TRANSFER, also with
 *   RADEON_GEM_RW_UNSYNCHRONIZED. Only a mode set does not wait, so that such a
 *   BO can be seen on the screen for a moment before it is cleared.
 * - Where the DMA engine can not fill, TTM is told to create the BO in GTT and
 *   to move it to VRAM from there.
 *
 * When an engine can not do its part, because the GPU is locked up or under
 * test, the CPU clears what it can reach. For other VRAM the creation fails, and
 * radeon_gem_object_create() puts the BO into GTT.
 *
 * BOs of the kernel are not cleared.
 *
 * Locks: the BO's &dma_resv is held, and outside of it, by those who create BOs
 * for user space, &radeon_device.exclusive_lock, so that no GPU reset drops what
 * the CPU writes, and &radeon_pm.mclk_lock, both for reading.
 * &radeon_device.ring_lock is taken inside. &radeon_gem_rw_state.fill_lock comes
 * before the lock of fences.
 *
 * A GPU reset loses what is in the DMA ring, and signals the fences. Before that,
 * radeon_gem_rw_clear_recover() clears anew what had not been done. What then
 * can not be cleared is VRAM beyond the aperture after a reset that has failed,
 * but there is no engine left to read it with. A move from GTT, as any move, can
 * be lost.
 */

/* Most bytes cleared between two chances for others to run. */
#define RADEON_GEM_RW_CLEAR_STEP	SZ_256K

/* How long a reset waits for the engine, in jiffies. Far more than needed. */
#define RADEON_GEM_RW_CLEAR_PATIENCE	(2 * HZ)

static int radeon_gem_rw_clear_by_cpu(struct radeon_device *rdev, u64 start,
				      u64 size)
{
	void __iomem *io, *iomap;
	u64 done, n;

	if (start + size > rdev->mc.visible_vram_size)
		return -EINVAL;

	io = radeon_gem_rw_map_vram(rdev, start, size, &iomap);
	if (!io)
		return -EINVAL;

	for (done = 0; done < size; done += n) {
		n = min_t(u64, size - done, RADEON_GEM_RW_CLEAR_STEP);
		memset_io(io + done, 0, n);
		cond_resched();
	}

	/* As for a write: submission flushes the host data path. */
	wmb();
	if (iomap)
		iounmap(iomap);

	radeon_gem_rw_count(rdev->gem_rw, RADEON_GEM_RW_CLEAR_CPU, size);
	return 0;
}

static void radeon_gem_rw_fill_free(struct radeon_gem_rw_fill *fill)
{
	radeon_fence_unref(&fill->fence);
	kfree(fill);
}

static void radeon_gem_rw_fill_free_all(struct list_head *fills)
{
	struct radeon_gem_rw_fill *fill, *next;

	list_for_each_entry_safe(fill, next, fills, head)
		radeon_gem_rw_fill_free(fill);
}

/* Remember a fill until it is done, and forget those that are. */
static void radeon_gem_rw_fill_add(struct radeon_gem_rw_state *state,
				   struct radeon_gem_rw_fill *fill)
{
	struct radeon_gem_rw_fill *old, *next;
	LIST_HEAD(done);

	spin_lock(&state->fill_lock);
	list_for_each_entry_safe(old, next, &state->fills, head) {
		if (!radeon_fence_signaled(old->fence))
			break;
		list_move_tail(&old->head, &done);
	}
	list_add_tail(&fill->head, &state->fills);
	spin_unlock(&state->fill_lock);

	radeon_gem_rw_fill_free_all(&done);
}

static int radeon_gem_rw_clear_by_gpu(struct radeon_device *rdev,
				      struct dma_resv *resv, u64 start, u64 size)
{
	struct radeon_gem_rw_fill *fill;
	LIST_HEAD(fills);
	int r;

	/* While the engines are tested after a reset, they take no work. */
	if (rdev->in_reset || READ_ONCE(rdev->needs_reset))
		return -EDEADLK;

	fill = kzalloc(sizeof(*fill), GFP_KERNEL);
	if (!fill)
		return -ENOMEM;
	fill->start = start;
	fill->size = size;
	list_add(&fill->head, &fills);

	r = radeon_gem_rw_ring_fill(rdev, &fills, &fill->fence);
	if (r) {
		kfree(fill);
		return r;
	}

	/* TTM has reserved a slot for the fence of a move. */
	dma_resv_add_fence(resv, &fill->fence->base, DMA_RESV_USAGE_KERNEL);
	radeon_gem_rw_fill_add(rdev->gem_rw, fill);

	radeon_gem_rw_count(rdev->gem_rw, RADEON_GEM_RW_CLEAR_GPU, size);
	return 0;
}

/**
 * radeon_gem_rw_clear - clear memory that has no contents yet
 * @tbo: BO that has been given memory, reserved, with a free slot for a fence,
 *	and all fences waited for
 * @mem: the memory
 * @hop: returned: where to move the BO first, for -EMULTIHOP
 *
 * Does nothing but for VRAM of BOs that user space has made.
 *
 * Returns:
 * 0; -EMULTIHOP if the BO should be moved to @hop, and from there to @mem; or
 * -EINVAL if @mem can not be cleared, and must not be used.
 */
int radeon_gem_rw_clear(struct ttm_buffer_object *tbo, struct ttm_resource *mem,
			struct ttm_place *hop)
{
	struct radeon_device *rdev = radeon_get_rdev(tbo->bdev);
	u64 start = (u64)mem->start << PAGE_SHIFT;
	u64 size = PAGE_ALIGN(mem->size);

	if (mem->mem_type != TTM_PL_VRAM || tbo->type != ttm_bo_type_device ||
	    !READ_ONCE(radeon_gem_rw_clear_vram))
		return 0;

	if (size <= READ_ONCE(radeon_gem_rw_clear_cpu_max) &&
	    !radeon_gem_rw_clear_by_cpu(rdev, start, size))
		return 0;

	if (radeon_gem_rw_ring_can_fill(rdev)) {
		if (!radeon_gem_rw_clear_by_gpu(rdev, tbo->base.resv, start,
						size))
			return 0;
	} else if (hop && rdev->ring[radeon_copy_ring_index(rdev)].ready &&
		   !rdev->in_reset && !READ_ONCE(rdev->needs_reset)) {
		*hop = (struct ttm_place) { .mem_type = TTM_PL_TT };
		radeon_gem_rw_count(rdev->gem_rw, RADEON_GEM_RW_CLEAR_HOP, size);
		return -EMULTIHOP;
	}

	return radeon_gem_rw_clear_by_cpu(rdev, start, size);
}

/* What is in @fills must not be waited for by its fences, they signal at once. */
static void radeon_gem_rw_clear_again(struct radeon_device *rdev,
				      struct list_head *fills)
{
	unsigned long end = jiffies + RADEON_GEM_RW_CLEAR_PATIENCE;
	struct radeon_fence *fence;

	if (list_empty(fills) || radeon_gem_rw_ring_fill(rdev, fills, &fence))
		return;

	while (!radeon_fence_signaled(fence) && time_before(jiffies, end))
		usleep_range(50, 100);
	radeon_fence_unref(&fence);
}

/**
 * radeon_gem_rw_clear_recover - clear what a GPU reset has left undone
 * @rdev: the device, with its engines started again if they can be, and
 *	&radeon_device.exclusive_lock held for writing
 *
 * Must be called before the fences of lost work are signaled. Memory that is to
 * be cleared still belongs to the BO then, and nobody has written to it, as
 * everybody waits for the fence.
 */
void radeon_gem_rw_clear_recover(struct radeon_device *rdev)
{
	struct radeon_gem_rw_state *state = rdev->gem_rw;
	struct radeon_gem_rw_fill *fill, *next;
	LIST_HEAD(gpu);
	LIST_HEAD(all);

	if (!state)
		return;

	spin_lock(&state->fill_lock);
	list_splice_init(&state->fills, &all);
	spin_unlock(&state->fill_lock);

	list_for_each_entry_safe(fill, next, &all, head) {
		if (!radeon_fence_signaled(fill->fence) &&
		    radeon_gem_rw_clear_by_cpu(rdev, fill->start, fill->size))
			list_move_tail(&fill->head, &gpu);
	}
	radeon_gem_rw_clear_again(rdev, &gpu);

	radeon_gem_rw_fill_free_all(&all);
	radeon_gem_rw_fill_free_all(&gpu);
}

/**
 * radeon_gem_rw_clear_fini - forget what has been cleared
 * @rdev: the device
 *
 * The engines have been stopped.
 */
void radeon_gem_rw_clear_fini(struct radeon_device *rdev)
{
	radeon_gem_rw_fill_free_all(&rdev->gem_rw->fills);
}
