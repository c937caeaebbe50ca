// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: copies by the GPU
 * through a staging area.
 *
 * The staging area is GTT memory that CPU and GPU can always reach, cached by
 * the CPU and snooped by the GPU. Bytes to write are put there with nothing
 * held. A copy into the BO is submitted that comes after the work already
 * submitted for it, and its fence attached to the BO, so that work submitted
 * later comes after the copy. The call returns without waiting. Bytes to read
 * take the opposite way, and there the call waits, with nothing held.
 *
 * Each user allocates a chunk. It belongs to the user until the copy is
 * submitted, and is free again once the copy's fence has signaled. While it
 * belongs to a user, nothing is slept on that user space has control of, so
 * nobody can keep others from the staging area. That is why user memory is
 * only accessed with page faults disabled: what is not there goes through a
 * buffer.
 *
 * drm_suballoc does much the same, but can not help waiting if there is no
 * room, and does not notice a locked up GPU while it waits.
 *
 * A GPU reset runs copies again that had not been done, or signals their
 * fences if that is not possible. The area itself stays where it is, as it does
 * when the system is suspended.
 */

#include <linux/bitmap.h>
#include <linux/dma-fence.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <drm/radeon_drm.h>
#include <drm/radeon_drm_rw.h>

#include "radeon.h"
#include "radeon_asic.h"
#include "radeon_gem_rw.h"

/* Unit of allocation in bytes. */
#define RADEON_GEM_RW_STAGE_UNIT	256

/* No chunk takes more than this part of the area. */
#define RADEON_GEM_RW_STAGE_SHARE	4

#define RADEON_GEM_RW_STAGE_SIZE_MIN	SZ_64K
#define RADEON_GEM_RW_STAGE_SIZE_MAX	SZ_4M

/*
 * struct radeon_gem_rw_stage - staging area of a device
 */
struct radeon_gem_rw_stage {
	/* GTT memory, pinned */
	struct radeon_bo *bo;
	/* Its addresses for CPU and GPU, and size in bytes. */
	void *cpu_addr;
	u64 gpu_addr;
	u32 size;
	/* Protects all that follows. */
	spinlock_t lock;
	/* Units that are in use. */
	unsigned long *used;
	/* Unit after the last allocation. */
	unsigned int next;
	/* Chunks whose copies were submitted to a ring, oldest first. */
	struct list_head submitted[RADEON_NUM_RINGS];
	/* Those who need a chunk when none is submitted. */
	wait_queue_head_t wait;
};

/*
 * struct radeon_gem_rw_chunk - part of the staging area
 */
struct radeon_gem_rw_chunk {
	/* In radeon_gem_rw_stage.submitted. */
	struct list_head head;
	/* Place in the staging area, in units. */
	unsigned int unit;
	unsigned int units;
	/* Fence of the copy. */
	struct radeon_fence *fence;
	/*
	 * What is written to which BO. Only to be compared: the BO may be gone,
	 * and another one in its place.
	 */
	const struct radeon_bo *bo;
	u64 start;
	u64 end;
	bool write;
};

static void radeon_gem_rw_chunk_release(struct radeon_gem_rw_stage *stage,
					struct radeon_gem_rw_chunk *chunk)
{
	lockdep_assert_held(&stage->lock);

	bitmap_clear(stage->used, chunk->unit, chunk->units);
	radeon_fence_unref(&chunk->fence);
	kfree(chunk);
}

/* Free what has been copied. Copies in a ring are done in order. */
static void radeon_gem_rw_stage_reap(struct radeon_gem_rw_stage *stage)
{
	struct radeon_gem_rw_chunk *chunk, *next;
	unsigned int i;

	for (i = 0; i < RADEON_NUM_RINGS; i++) {
		list_for_each_entry_safe(chunk, next, &stage->submitted[i], head) {
			if (!radeon_fence_signaled(chunk->fence))
				break;
			list_del(&chunk->head);
			radeon_gem_rw_chunk_release(stage, chunk);
		}
	}
}

/* Returns whether there was room. */
static bool radeon_gem_rw_stage_alloc(struct radeon_gem_rw_stage *stage,
				      struct radeon_gem_rw_chunk *chunk)
{
	unsigned int total = stage->size / RADEON_GEM_RW_STAGE_UNIT;
	unsigned int unit;

	spin_lock(&stage->lock);
	radeon_gem_rw_stage_reap(stage);

	unit = bitmap_find_next_zero_area(stage->used, total, stage->next,
					  chunk->units, 0);
	if (unit >= total)
		unit = bitmap_find_next_zero_area(stage->used, total, 0,
						  chunk->units, 0);
	if (unit < total) {
		bitmap_set(stage->used, unit, chunk->units);
		stage->next = unit + chunk->units;
		chunk->unit = unit;
	}
	spin_unlock(&stage->lock);

	return unit < total;
}

/* The copy that is going to be done first, or NULL. */
static struct radeon_fence *
radeon_gem_rw_stage_oldest(struct radeon_gem_rw_stage *stage)
{
	struct radeon_fence *fence = NULL;
	struct radeon_gem_rw_chunk *chunk;
	unsigned int i;

	spin_lock(&stage->lock);
	for (i = 0; i < RADEON_NUM_RINGS && !fence; i++) {
		chunk = list_first_entry_or_null(&stage->submitted[i],
						 struct radeon_gem_rw_chunk,
						 head);
		if (chunk)
			fence = radeon_fence_ref(chunk->fence);
	}
	spin_unlock(&stage->lock);

	return fence;
}

static bool radeon_gem_rw_stage_pending(struct radeon_gem_rw_stage *stage)
{
	struct radeon_fence *fence = radeon_gem_rw_stage_oldest(stage);
	bool pending = fence;

	radeon_fence_unref(&fence);
	return pending;
}

static int radeon_gem_rw_stage_wait(struct radeon_gem_rw_stage *stage,
				    struct radeon_gem_rw_chunk *chunk)
{
	struct radeon_fence *fence;
	bool got;
	int r;

	while (!radeon_gem_rw_stage_alloc(stage, chunk)) {
		fence = radeon_gem_rw_stage_oldest(stage);
		if (fence) {
			r = radeon_gem_rw_wait_fence(&fence->base);
			radeon_fence_unref(&fence);
			if (r)
				return r;
			continue;
		}

		/* Whoever has it is about to submit or to free it. */
		got = false;
		r = wait_event_interruptible(stage->wait,
					     radeon_gem_rw_stage_pending(stage) ||
					     (got = radeon_gem_rw_stage_alloc(stage, chunk)));
		if (r || got)
			return r;
	}

	return 0;
}

/* Returns NULL if there is no room, and waiting for some is not allowed. */
static struct radeon_gem_rw_chunk *
radeon_gem_rw_chunk_get(struct radeon_gem_rw *rw,
			const struct radeon_gem_rw_span *span)
{
	struct radeon_gem_rw_stage *stage = rw->rdev->gem_rw->stage;
	struct radeon_gem_rw_chunk *chunk;
	int r;

	chunk = kzalloc(sizeof(*chunk), GFP_KERNEL);
	if (!chunk)
		return ERR_PTR(-ENOMEM);

	INIT_LIST_HEAD(&chunk->head);
	chunk->units = DIV_ROUND_UP(span->slots, RADEON_GEM_RW_STAGE_UNIT);
	chunk->bo = rw->bo;
	chunk->start = span->start;
	chunk->end = span->end;
	chunk->write = rw->write;

	if (radeon_gem_rw_stage_alloc(stage, chunk))
		return chunk;

	if (rw->flags & RADEON_GEM_RW_NOWAIT) {
		kfree(chunk);
		return NULL;
	}

	r = radeon_gem_rw_stage_wait(stage, chunk);
	if (r) {
		kfree(chunk);
		return ERR_PTR(r);
	}

	return chunk;
}

/* Give a chunk back, at once or when the copy is done. */
static void radeon_gem_rw_chunk_put(struct radeon_gem_rw_stage *stage,
				    struct radeon_gem_rw_chunk *chunk,
				    struct radeon_fence *fence)
{
	spin_lock(&stage->lock);
	if (fence) {
		chunk->fence = radeon_fence_ref(fence);
		list_add_tail(&chunk->head, &stage->submitted[fence->ring]);
	} else {
		radeon_gem_rw_chunk_release(stage, chunk);
	}
	spin_unlock(&stage->lock);

	if (wq_has_sleeper(&stage->wait))
		wake_up_all(&stage->wait);
}

static void *radeon_gem_rw_chunk_mem(struct radeon_gem_rw_stage *stage,
				     struct radeon_gem_rw_chunk *chunk)
{
	return stage->cpu_addr + chunk->unit * RADEON_GEM_RW_STAGE_UNIT;
}

/* A staged write to any of these bytes that has not been done yet, or NULL. */
static struct radeon_fence *
radeon_gem_rw_stage_find(struct radeon_gem_rw *rw,
			 const struct radeon_gem_rw_span *span)
{
	struct radeon_gem_rw_stage *stage = rw->rdev->gem_rw->stage;
	struct radeon_gem_rw_chunk *chunk;
	struct radeon_fence *fence = NULL;
	unsigned int i;

	if (!stage)
		return NULL;

	spin_lock(&stage->lock);
	radeon_gem_rw_stage_reap(stage);
	for (i = 0; i < RADEON_NUM_RINGS && !fence; i++) {
		list_for_each_entry(chunk, &stage->submitted[i], head) {
			if (chunk->write && chunk->bo == rw->bo &&
			    chunk->start < span->end &&
			    span->start < chunk->end) {
				fence = radeon_fence_ref(chunk->fence);
				break;
			}
		}
	}
	spin_unlock(&stage->lock);

	return fence;
}

/**
 * radeon_gem_rw_stage_settled - are there no staged writes?
 * @rw: the transfer
 * @span: bytes that are going to be accessed
 *
 * Returns:
 * Whether radeon_gem_rw_stage_settle() would not have to wait. Does not sleep.
 */
bool radeon_gem_rw_stage_settled(struct radeon_gem_rw *rw,
				 const struct radeon_gem_rw_span *span)
{
	struct radeon_fence *fence = radeon_gem_rw_stage_find(rw, span);
	bool settled = !fence;

	radeon_fence_unref(&fence);
	return settled;
}

/**
 * radeon_gem_rw_stage_settle - wait for staged writes
 * @rw: the transfer
 * @span: bytes that are going to be accessed
 *
 * An unsynchronized transfer does not wait for the GPU, but to user space a
 * write is done when the call has returned. So it must not be overtaken. Must
 * be called with nothing held.
 *
 * Returns:
 * 0 if no write to these bytes is on its way, -ERESTARTSYS, -EBUSY if it is not
 * allowed to wait, -EDEADLK if the GPU has to be reset.
 */
int radeon_gem_rw_stage_settle(struct radeon_gem_rw *rw,
			       const struct radeon_gem_rw_span *span)
{
	struct radeon_fence *fence;
	int r = 0;

	while (!r && (fence = radeon_gem_rw_stage_find(rw, span))) {
		if (rw->flags & RADEON_GEM_RW_NOWAIT)
			r = -EBUSY;
		else
			r = radeon_gem_rw_wait_fence(&fence->base);
		radeon_fence_unref(&fence);
	}

	return r;
}

static struct radeon_fence *
radeon_gem_rw_chunk_submit(struct radeon_gem_rw *rw,
			   const struct radeon_gem_rw_span *span,
			   struct radeon_gem_rw_chunk *chunk, int *resets)
{
	struct radeon_gem_rw_stage *stage = rw->rdev->gem_rw->stage;

	return radeon_gem_rw_ring_submit(rw, span, stage->gpu_addr +
					 chunk->unit * RADEON_GEM_RW_STAGE_UNIT,
					 false, resets);
}

static ssize_t radeon_gem_rw_staged_write(struct radeon_gem_rw *rw,
					  struct radeon_gem_rw_span *span)
{
	struct radeon_gem_rw_stage *stage = rw->rdev->gem_rw->stage;
	struct radeon_gem_rw_chunk *chunk;
	struct radeon_fence *fence;
	int r, resets;
	u64 len;

	len = radeon_gem_rw_fault_in(rw, span->len);
	if (!len)
		return -EFAULT;
	if (len < span->len)
		radeon_gem_rw_span_init(rw, len, span->slots, span);

	chunk = radeon_gem_rw_chunk_get(rw, span);
	if (IS_ERR_OR_NULL(chunk))
		return PTR_ERR_OR_ZERO(chunk);

	len = radeon_gem_rw_gather(rw, radeon_gem_rw_chunk_mem(stage, chunk),
				   span->len, true);
	if (len < span->len) {
		/* Get it here, which may take long, without the chunk. */
		radeon_gem_rw_chunk_put(stage, chunk, NULL);
		radeon_gem_rw_event(rw->rdev->gem_rw, RADEON_GEM_RW_NOT_RESIDENT);
		r = radeon_gem_rw_bounce_get(rw);
		if (r)
			return r;

		radeon_gem_rw_span_init(rw, span->len, rw->bounce_size, span);
		len = radeon_gem_rw_gather(rw, rw->bounce, span->len, false);
		if (!len)
			return -EFAULT;

		radeon_gem_rw_span_init(rw, len, span->slots, span);
		chunk = radeon_gem_rw_chunk_get(rw, span);
		if (IS_ERR_OR_NULL(chunk))
			return PTR_ERR_OR_ZERO(chunk);

		memcpy(radeon_gem_rw_chunk_mem(stage, chunk), rw->bounce,
		       span->slots);
	}

	r = 0;
	if (rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED)
		r = radeon_gem_rw_stage_settle(rw, span);
	fence = r ? ERR_PTR(r) :
		radeon_gem_rw_chunk_submit(rw, span, chunk, &resets);
	if (IS_ERR_OR_NULL(fence)) {
		radeon_gem_rw_chunk_put(stage, chunk, NULL);
		return PTR_ERR_OR_ZERO(fence);
	}

	radeon_gem_rw_chunk_put(stage, chunk, fence);
	radeon_fence_unref(&fence);
	radeon_gem_rw_event(rw->rdev->gem_rw, RADEON_GEM_RW_STALL_AVOIDED);
	return span->len;
}

static ssize_t radeon_gem_rw_staged_read(struct radeon_gem_rw *rw,
					 struct radeon_gem_rw_span *span)
{
	struct radeon_gem_rw_stage *stage = rw->rdev->gem_rw->stage;
	struct radeon_gem_rw_chunk *chunk;
	struct radeon_fence *fence;
	int r, resets;
	void *mem;
	u64 len;

	if (rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED)
		r = radeon_gem_rw_stage_settle(rw, span);
	else
		r = radeon_gem_rw_wait_idle(rw);
	if (r)
		return r;

	chunk = radeon_gem_rw_chunk_get(rw, span);
	if (IS_ERR_OR_NULL(chunk))
		return PTR_ERR_OR_ZERO(chunk);

	fence = radeon_gem_rw_chunk_submit(rw, span, chunk, &resets);
	if (IS_ERR_OR_NULL(fence)) {
		r = PTR_ERR_OR_ZERO(fence);
		fence = NULL;
		goto out_put;
	}

	radeon_gem_rw_poll_copy(fence, READ_ONCE(radeon_gem_rw_spin_us));
	r = radeon_gem_rw_wait_copy(&fence->base);
	if (r)
		goto out_put;

	/*
	 * After a reset, a fence can have signaled without a copy, and the
	 * chunk can hold somebody else's bytes.
	 */
	if (atomic_read(&rw->rdev->gpu_reset_counter) != resets) {
		r = -EDEADLK;
		goto out_put;
	}

	mem = radeon_gem_rw_chunk_mem(stage, chunk);
	len = radeon_gem_rw_scatter(rw, mem, span->len, true);
	if (len < span->len) {
		radeon_gem_rw_event(rw->rdev->gem_rw, RADEON_GEM_RW_NOT_RESIDENT);
		r = radeon_gem_rw_bounce_get(rw);
		if (r)
			goto out_put;

		/* Without the chunk, as that may take long. */
		radeon_gem_rw_span_init(rw, span->len, rw->bounce_size, span);
		memcpy(rw->bounce, mem, span->slots);
		radeon_gem_rw_chunk_put(stage, chunk, fence);
		radeon_fence_unref(&fence);

		len = radeon_gem_rw_scatter(rw, rw->bounce, span->len, false);
		return len ?: -EFAULT;
	}

out_put:
	radeon_gem_rw_chunk_put(stage, chunk, fence);
	radeon_fence_unref(&fence);
	return r ?: len;
}

/**
 * radeon_gem_rw_chunk_staged - transfer some bytes through the staging area
 * @rw: the transfer
 *
 * Must be called with nothing held.
 *
 * Returns:
 * Number of bytes transferred, 0 if the GPU can not do it at the moment, or a
 * negative error code as radeon_gem_rw_copy().
 */
ssize_t radeon_gem_rw_chunk_staged(struct radeon_gem_rw *rw)
{
	struct radeon_gem_rw_stage *stage = rw->rdev->gem_rw->stage;
	struct radeon_gem_rw_span span;
	ssize_t done;

	radeon_gem_rw_span_init(rw, rw->left,
				stage->size / RADEON_GEM_RW_STAGE_SHARE, &span);

	if (rw->write)
		done = radeon_gem_rw_staged_write(rw, &span);
	else
		done = radeon_gem_rw_staged_read(rw, &span);

	if (done > 0)
		radeon_gem_rw_count(rw->rdev->gem_rw, RADEON_GEM_RW_STAGED, done);
	else if (!done)
		radeon_gem_rw_event(rw->rdev->gem_rw, RADEON_GEM_RW_NOT_STAGED);

	return done;
}

static int radeon_gem_rw_stage_alloc_bo(struct radeon_device *rdev,
					struct radeon_gem_rw_stage *stage)
{
	int r;

	r = radeon_bo_create(rdev, stage->size, PAGE_SIZE, true,
			     RADEON_GEM_DOMAIN_GTT, 0, NULL, NULL, &stage->bo);
	if (r)
		return r;

	r = radeon_bo_reserve(stage->bo, true);
	if (r)
		goto out_unref;

	r = radeon_bo_pin(stage->bo, RADEON_GEM_DOMAIN_GTT, &stage->gpu_addr);
	if (r)
		goto out_unreserve;

	r = radeon_bo_kmap(stage->bo, &stage->cpu_addr);
	if (r)
		goto out_unpin;

	radeon_bo_unreserve(stage->bo);
	return 0;

out_unpin:
	radeon_bo_unpin(stage->bo);
out_unreserve:
	radeon_bo_unreserve(stage->bo);
out_unref:
	radeon_bo_unref(&stage->bo);
	return r;
}

/**
 * radeon_gem_rw_stage_init - set up the staging area
 * @rdev: the device, whose GART works
 *
 * Does nothing if it is there already, as when the device is resumed. Without a
 * staging area everything works, but with stalls and moves of BOs.
 */
void radeon_gem_rw_stage_init(struct radeon_device *rdev)
{
	struct radeon_gem_rw_stage *stage;
	unsigned int i;
	int r = -ENOMEM;

	if (rdev->gem_rw->stage || !radeon_gem_rw_stage_size ||
	    !radeon_gem_rw_ring_supported(rdev))
		return;

	stage = kzalloc(sizeof(*stage), GFP_KERNEL);
	if (!stage)
		goto out_warn;

	spin_lock_init(&stage->lock);
	init_waitqueue_head(&stage->wait);
	for (i = 0; i < RADEON_NUM_RINGS; i++)
		INIT_LIST_HEAD(&stage->submitted[i]);
	stage->size = PAGE_ALIGN(clamp(radeon_gem_rw_stage_size,
				       RADEON_GEM_RW_STAGE_SIZE_MIN,
				       RADEON_GEM_RW_STAGE_SIZE_MAX));

	rdev->gem_rw->wq = alloc_workqueue("radeon_gem_rw", WQ_UNBOUND, 0);
	if (!rdev->gem_rw->wq)
		goto out_free;

	stage->used = bitmap_zalloc(stage->size / RADEON_GEM_RW_STAGE_UNIT,
				    GFP_KERNEL);
	if (!stage->used)
		goto out_free;

	r = radeon_gem_rw_stage_alloc_bo(rdev, stage);
	if (r)
		goto out_free;

	rdev->gem_rw->stage = stage;
	return;

out_free:
	if (rdev->gem_rw->wq)
		destroy_workqueue(rdev->gem_rw->wq);
	rdev->gem_rw->wq = NULL;
	bitmap_free(stage->used);
	kfree(stage);
out_warn:
	dev_warn(rdev->dev, "no staging area for GEM reads and writes (%d)\n", r);
}

/**
 * radeon_gem_rw_stage_drain - wait for copies before the rings are stopped
 * @rdev: the device, which has no users any more
 */
void radeon_gem_rw_stage_drain(struct radeon_device *rdev)
{
	const int rings[] = {
		rdev->asic->copy.dma_ring_index,
		rdev->asic->copy.blit_ring_index,
	};
	unsigned int i;

	if (!rdev->gem_rw || !rdev->gem_rw->stage)
		return;

	mutex_lock(&rdev->ring_lock);
	for (i = 0; i < ARRAY_SIZE(rings); i++) {
		if (rdev->ring[rings[i]].ready)
			radeon_fence_wait_empty(rdev, rings[i]);
	}
	mutex_unlock(&rdev->ring_lock);

	flush_workqueue(rdev->gem_rw->wq);
}

/**
 * radeon_gem_rw_stage_fini - release the staging area
 * @rdev: the device
 *
 * The engines have been stopped.
 */
void radeon_gem_rw_stage_fini(struct radeon_device *rdev)
{
	struct radeon_gem_rw_stage *stage = rdev->gem_rw->stage;
	struct radeon_gem_rw_chunk *chunk, *next;
	unsigned int i;

	radeon_gem_rw_ring_fini(rdev);
	if (!stage)
		return;

	rdev->gem_rw->stage = NULL;
	destroy_workqueue(rdev->gem_rw->wq);
	rdev->gem_rw->wq = NULL;

	spin_lock(&stage->lock);
	for (i = 0; i < RADEON_NUM_RINGS; i++) {
		list_for_each_entry_safe(chunk, next, &stage->submitted[i], head) {
			list_del(&chunk->head);
			radeon_gem_rw_chunk_release(stage, chunk);
		}
	}
	spin_unlock(&stage->lock);

	if (!radeon_bo_reserve(stage->bo, true)) {
		radeon_bo_kunmap(stage->bo);
		radeon_bo_unpin(stage->bo);
		radeon_bo_unreserve(stage->bo);
	}
	radeon_bo_unref(&stage->bo);
	bitmap_free(stage->used);
	kfree(stage);
}
