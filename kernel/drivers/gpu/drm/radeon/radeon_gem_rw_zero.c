// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: copies by the GPU
 * straight from or to user memory.
 *
 * The user's pages are pinned and put into the GART by way of a temporary BO,
 * and the GPU copies between them and the BO in VRAM. The CPU does not touch
 * the bytes. What has to be done for each page makes this worth while for large
 * transfers only.
 *
 * The call waits for the copy: when a write returns, user space may change the
 * memory; when a read returns, it may look at it, and also use it for something
 * else, whether the read has failed or not. If a fatal signal ends a call early,
 * or a GPU reset a write, the GPU can still be at it, so the pages stay pinned
 * until the copy's fence has signaled. Unpinning may sleep, so a work item does
 * it then.
 */

#include <linux/dma-fence.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/rwsem.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <drm/radeon_drm.h>
#include <drm/radeon_drm_rw.h>
#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_placement.h>

#include "radeon.h"
#include "radeon_gem_rw.h"

/* Most user pages pinned in one go. */
#define RADEON_GEM_RW_ZERO_PAGES	(SZ_4M / PAGE_SIZE)

/*
 * How many calls that were killed may have left pages to the GPU. Who has
 * threads killed again and again can not pin more than that.
 */
#define RADEON_GEM_RW_ZERO_LATER	4

/*
 * struct radeon_gem_rw_zero - user pages that the GPU can reach
 */
struct radeon_gem_rw_zero {
	struct radeon_device *rdev;
	/* Pinned pages. */
	struct page **pages;
	unsigned int count;
	/* The GPU has written to them. */
	bool dirty;
	/* DMA addresses. */
	struct sg_table sg;
	enum dma_data_direction dir;
	/* GTT BO made of them, pinned, and its GPU address. */
	struct radeon_bo *bo;
	u64 gpu_addr;
	/* The copy, and what to do after it if nobody waits for it. */
	struct radeon_fence *fence;
	struct dma_fence_cb cb;
	struct work_struct work;
};

/*
 * Take the pages out of the GART at once. TTM destroys BOs made of a sg_table
 * later, when the pages are no longer ours.
 */
static void radeon_gem_rw_zero_unbind(struct radeon_gem_rw_zero *zero)
{
	struct ttm_operation_ctx ctx = { };

	down_read(&zero->rdev->exclusive_lock);
	if (!radeon_bo_reserve(zero->bo, true)) {
		radeon_bo_unpin(zero->bo);
		radeon_ttm_placement_from_domain(zero->bo, RADEON_GEM_DOMAIN_CPU);
		ttm_bo_validate(&zero->bo->tbo, &zero->bo->placement, &ctx);
		radeon_bo_unreserve(zero->bo);
	}
	radeon_bo_unref(&zero->bo);
	up_read(&zero->rdev->exclusive_lock);
}

/* The GPU is done with the pages. */
static void radeon_gem_rw_zero_free(struct radeon_gem_rw_zero *zero)
{
	if (zero->bo)
		radeon_gem_rw_zero_unbind(zero);
	if (zero->sg.sgl) {
		dma_sync_sgtable_for_cpu(zero->rdev->dev, &zero->sg, zero->dir);
		dma_unmap_sgtable(zero->rdev->dev, &zero->sg, zero->dir,
				  DMA_ATTR_SKIP_CPU_SYNC);
		sg_free_table(&zero->sg);
	}
	unpin_user_pages_dirty_lock(zero->pages, zero->count, zero->dirty);
	radeon_fence_unref(&zero->fence);
	kvfree(zero->pages);
	kfree(zero);
}

static void radeon_gem_rw_zero_work(struct work_struct *work)
{
	struct radeon_gem_rw_zero *zero =
		container_of(work, struct radeon_gem_rw_zero, work);
	struct radeon_gem_rw_state *state = zero->rdev->gem_rw;

	radeon_gem_rw_zero_free(zero);
	atomic_dec(&state->unpin_later);
}

static void radeon_gem_rw_zero_cb(struct dma_fence *fence,
				  struct dma_fence_cb *cb)
{
	struct radeon_gem_rw_zero *zero =
		container_of(cb, struct radeon_gem_rw_zero, cb);

	queue_work(zero->rdev->gem_rw->wq, &zero->work);
}

/* Free the pages when the copy is done, whenever that is. */
static void radeon_gem_rw_zero_free_later(struct radeon_gem_rw_zero *zero)
{
	atomic_inc(&zero->rdev->gem_rw->unpin_later);
	INIT_WORK(&zero->work, radeon_gem_rw_zero_work);
	if (dma_fence_add_callback(&zero->fence->base, &zero->cb,
				   radeon_gem_rw_zero_cb))
		radeon_gem_rw_zero_work(&zero->work);
}

static struct radeon_gem_rw_zero *
radeon_gem_rw_zero_pin(struct radeon_gem_rw *rw,
		       const struct radeon_gem_rw_piece *piece)
{
	size_t in_page = offset_in_page(piece->user);
	struct radeon_gem_rw_zero *zero;
	int count, pinned;

	zero = kzalloc(sizeof(*zero), GFP_KERNEL);
	if (!zero)
		return NULL;

	zero->rdev = rw->rdev;
	zero->dir = rw->write ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
	count = min_t(u64, RADEON_GEM_RW_ZERO_PAGES,
		      (in_page + piece->len + PAGE_SIZE - 1) >> PAGE_SHIFT);
	zero->pages = kvmalloc_array(count, sizeof(*zero->pages), GFP_KERNEL);
	if (!zero->pages)
		goto out_free;

	pinned = pin_user_pages_fast((unsigned long)piece->user, count,
				     rw->write ? 0 : FOLL_WRITE, zero->pages);
	if (pinned <= 0)
		goto out_free;
	zero->count = pinned;

	return zero;

out_free:
	kvfree(zero->pages);
	kfree(zero);
	return NULL;
}

/* Let the GPU reach the pages. */
static int radeon_gem_rw_zero_bind(struct radeon_gem_rw_zero *zero)
{
	unsigned long size = (unsigned long)zero->count << PAGE_SHIFT;
	struct device *dev = zero->rdev->dev;
	int r;

	r = sg_alloc_table_from_pages_segment(&zero->sg, zero->pages,
					      zero->count, 0, size,
					      dma_get_max_seg_size(dev),
					      GFP_KERNEL);
	if (r)
		goto out_no_table;

	/*
	 * Others may have the same pages mapped, as memory can be shared. That
	 * is only fine if the mapping itself does not touch caches.
	 */
	r = dma_map_sgtable(dev, &zero->sg, zero->dir, DMA_ATTR_SKIP_CPU_SYNC);
	if (r)
		goto out_free_table;
	dma_sync_sgtable_for_device(dev, &zero->sg, zero->dir);

	/* No reset while the GART is changed. */
	down_read(&zero->rdev->exclusive_lock);
	r = radeon_bo_create(zero->rdev, size, PAGE_SIZE, false,
			     RADEON_GEM_DOMAIN_GTT, 0, &zero->sg, NULL,
			     &zero->bo);
	if (r)
		goto out_unlock;

	r = radeon_bo_reserve(zero->bo, false);
	if (!r) {
		r = radeon_bo_pin(zero->bo, RADEON_GEM_DOMAIN_GTT,
				  &zero->gpu_addr);
		radeon_bo_unreserve(zero->bo);
	}
	if (r)
		radeon_bo_unref(&zero->bo);
out_unlock:
	up_read(&zero->rdev->exclusive_lock);
	return r;

out_free_table:
	sg_free_table(&zero->sg);
out_no_table:
	zero->sg.sgl = NULL;
	return r;
}

static struct radeon_fence *
radeon_gem_rw_zero_submit(struct radeon_gem_rw *rw,
			  const struct radeon_gem_rw_piece *piece, u64 mem,
			  int *resets)
{
	struct radeon_gem_rw_span span;

	radeon_gem_rw_span_init(rw, piece->len, SIZE_MAX, &span);
	mem += offset_in_page(piece->user);
	mem -= piece->offset % RADEON_GEM_RW_SLOT_ALIGN;

	return radeon_gem_rw_ring_submit(rw, &span, mem, true, resets);
}

/*
 * Wait for the copy. A reset may run it again, and reading must not come back
 * while that can happen.
 */
static int radeon_gem_rw_zero_wait(struct radeon_gem_rw *rw,
				   struct radeon_fence *fence)
{
	int r;

	for (;;) {
		r = radeon_gem_rw_wait_copy(&fence->base);
		if (r != -EDEADLK || rw->write)
			return r;
		radeon_gem_handle_lockup(rw->rdev, r);
	}
}

/**
 * radeon_gem_rw_chunk_zero_copy - transfer some bytes without the CPU
 * @rw: the transfer, whose next piece is large
 *
 * Must be called with nothing held.
 *
 * Returns:
 * Number of bytes transferred, 0 if that is not possible in this way, or a
 * negative error code as radeon_gem_rw_copy().
 */
ssize_t radeon_gem_rw_chunk_zero_copy(struct radeon_gem_rw *rw)
{
	struct radeon_gem_rw_piece piece;
	struct radeon_gem_rw_zero *zero;
	struct radeon_fence *fence;
	int r, resets;

	if (atomic_read(&rw->rdev->gem_rw->unpin_later) >=
	    RADEON_GEM_RW_ZERO_LATER)
		return 0;

	/* Do not keep pages pinned longer than necessary. */
	r = radeon_gem_rw_wait_idle(rw);
	if (r)
		return r;

	radeon_gem_rw_peek(rw, &rw->pos, rw->left, &piece);
	zero = radeon_gem_rw_zero_pin(rw, &piece);
	if (!zero)
		goto out_not;

	piece.len = min_t(u64, piece.len, ((u64)zero->count << PAGE_SHIFT) -
			  offset_in_page(piece.user));
	if (radeon_gem_rw_zero_bind(zero))
		goto out_free;

	fence = radeon_gem_rw_zero_submit(rw, &piece, zero->gpu_addr, &resets);
	if (IS_ERR_OR_NULL(fence)) {
		radeon_gem_rw_zero_free(zero);
		return PTR_ERR_OR_ZERO(fence);
	}
	zero->fence = fence;
	zero->dirty = !rw->write;

	radeon_gem_rw_poll_copy(fence, 0);
	r = radeon_gem_rw_zero_wait(rw, fence);
	if (r) {
		radeon_gem_rw_zero_free_later(zero);
		return r;
	}
	radeon_gem_rw_zero_free(zero);

	/* After a reset, a fence can have signaled without a copy. */
	if (atomic_read(&rw->rdev->gpu_reset_counter) != resets)
		return -EDEADLK;

	radeon_gem_rw_count(rw->rdev->gem_rw, RADEON_GEM_RW_ZERO_COPY, piece.len);
	return piece.len;

out_free:
	radeon_gem_rw_zero_free(zero);
out_not:
	radeon_gem_rw_event(rw->rdev->gem_rw, RADEON_GEM_RW_NOT_PINNED);
	return 0;
}
