// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: copies by the GPU
 * straight from or to user memory.
 *
 * The user's pages are pinned and bound to a window, a part of GTT that is kept
 * for this, and the GPU copies between them and the BO in VRAM. The CPU does not
 * touch the bytes. What has to be done for each page makes this worth while for
 * large transfers only.
 *
 * The windows are the budget: all clients together have no more pages pinned than
 * fit in. A call takes a window before it pins any page; one that gets none takes
 * another path. User memory is faulted in without a window. Pages that are only
 * read are bound read-only. Those that are written are written as a whole, so that
 * nothing that others write beside the bytes is reverted where DMA goes through a
 * bounce buffer; the rest is left to the CPU.
 *
 * The call waits for the copy, so that takes a ring that does nothing else. When a
 * write returns, user space may change the memory; when a read returns, it may use
 * it for something else, whether the read has failed or not. If a fatal signal
 * ends a call early, or a GPU reset a write, the GPU can still be at it, so the
 * pages stay pinned until the copy's fence has signaled. Unpinning may sleep, so a
 * work item does it then.
 */

#include <linux/bitops.h>
#include <linux/dma-fence.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/rwsem.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <drm/radeon_drm.h>
#include <drm/radeon_drm_rw.h>

#include "radeon.h"
#include "radeon_gem_rw_gpu.h"

#define RADEON_GEM_RW_WINDOWS		4
#define RADEON_GEM_RW_WINDOW_PAGES	(SZ_4M / PAGE_SIZE)

/* Least GTT of which a part is kept for windows. */
#define RADEON_GEM_RW_WINDOW_GTT_MIN	SZ_128M

/* How many GPU resets a read waits for before it takes its pages away. */
#define RADEON_GEM_RW_ZERO_RESETS	3

static unsigned int radeon_gem_rw_zero_copy_min = SZ_1M;
MODULE_PARM_DESC(gem_rw_zero_copy_min,
		 "Transfers of at least this many bytes are copied by the GPU straight between user memory and VRAM (default 1048576)");
module_param_named(gem_rw_zero_copy_min, radeon_gem_rw_zero_copy_min, uint,
		   0644);

/*
 * struct radeon_gem_rw_window - user pages that the GPU can access
 */
struct radeon_gem_rw_window {
	struct radeon_device *rdev;
	/* Its first page in the GART. */
	unsigned int gart_page;
	/* Pinned pages, and their DMA addresses. */
	struct page **pages;
	unsigned int count;
	struct sg_table sg;
	enum dma_data_direction dir;
	/* They are in the GART; the GPU has written to them. */
	bool bound;
	bool dirty;
	/* The copy, and what to do after it if nobody waits for it. */
	struct radeon_fence *fence;
	struct dma_fence_cb cb;
	struct work_struct work;
};

/*
 * struct radeon_gem_rw_zero - the windows of a device
 */
struct radeon_gem_rw_zero {
	/* Which are in use. */
	unsigned long used;
	struct radeon_gem_rw_window windows[RADEON_GEM_RW_WINDOWS];
	struct page *pages[RADEON_GEM_RW_WINDOWS * RADEON_GEM_RW_WINDOW_PAGES];
};

static void radeon_gem_rw_bind_page(struct radeon_gem_rw_window *window,
				    unsigned int i, u64 addr, u32 flags)
{
	struct radeon_device *rdev = window->rdev;
	unsigned int per_page = PAGE_SIZE / RADEON_GPU_PAGE_SIZE;
	unsigned int j, page = (window->gart_page + i) * per_page;
	u64 entry = rdev->dummy_page.entry;

	for (j = 0; j < per_page; j++, page++, addr += RADEON_GPU_PAGE_SIZE) {
		if (flags)
			entry = radeon_gart_get_page_entry(addr, flags);
		rdev->gart.pages_entry[page] = entry;
		if (rdev->gart.ptr)
			radeon_gart_set_page(rdev, page, entry);
	}
}

static void radeon_gem_rw_window_flush(struct radeon_device *rdev)
{
	if (!rdev->gart.ptr)
		return;

	/* The entries come before the flush. */
	mb();
	radeon_gart_tlb_flush(rdev);
}

/* Let the GPU access the pages. No reset meanwhile. */
static void radeon_gem_rw_window_bind(struct radeon_gem_rw_window *window)
{
	u32 flags = RADEON_GART_PAGE_VALID | RADEON_GART_PAGE_READ |
		RADEON_GART_PAGE_SNOOP;
	struct sg_dma_page_iter iter;
	unsigned int i = 0;

	if (window->dir == DMA_FROM_DEVICE)
		flags |= RADEON_GART_PAGE_WRITE;

	for_each_sgtable_dma_page(&window->sg, &iter, 0)
		radeon_gem_rw_bind_page(window, i++,
					sg_page_iter_dma_address(&iter), flags);
	radeon_gem_rw_window_flush(window->rdev);
	window->bound = true;
}

/*
 * Take the pages out of the GART. Only our copies use these addresses, and the
 * next one flushes the TLB. So it need not be done here, if ours has been done.
 */
static void radeon_gem_rw_window_unbind(struct radeon_gem_rw_window *window,
					bool flush)
{
	struct radeon_device *rdev = window->rdev;
	unsigned int i;

	down_read(&rdev->exclusive_lock);
	for (i = 0; i < window->count; i++)
		radeon_gem_rw_bind_page(window, i, 0, 0);
	if (flush)
		radeon_gem_rw_window_flush(rdev);
	up_read(&rdev->exclusive_lock);
}

static struct radeon_gem_rw_window *
radeon_gem_rw_window_get(struct radeon_gem_rw_zero *zero)
{
	unsigned int i;

	for (i = 0; i < RADEON_GEM_RW_WINDOWS; i++) {
		if (!test_and_set_bit_lock(i, &zero->used))
			return &zero->windows[i];
	}

	return NULL;
}

/* The GPU is done with the pages. */
static void radeon_gem_rw_window_put(struct radeon_gem_rw_window *window)
{
	struct radeon_gem_rw_zero *zero = window->rdev->gem_rw->gpu->zero;
	struct device *dev = window->rdev->dev;

	if (window->bound)
		radeon_gem_rw_window_unbind(window,
					    !radeon_fence_signaled(window->fence));
	window->bound = false;
	if (window->sg.sgl) {
		dma_sync_sgtable_for_cpu(dev, &window->sg, window->dir);
		dma_unmap_sgtable(dev, &window->sg, window->dir,
				  DMA_ATTR_SKIP_CPU_SYNC);
		sg_free_table(&window->sg);
		window->sg.sgl = NULL;
	}
	unpin_user_pages_dirty_lock(window->pages, window->count, window->dirty);
	window->count = 0;
	window->dirty = false;
	radeon_fence_unref(&window->fence);
	clear_bit_unlock(window - zero->windows, &zero->used);
}

static void radeon_gem_rw_window_work(struct work_struct *work)
{
	radeon_gem_rw_window_put(container_of(work, struct radeon_gem_rw_window,
					      work));
}

static void radeon_gem_rw_window_cb(struct dma_fence *fence,
				    struct dma_fence_cb *cb)
{
	struct radeon_gem_rw_window *window =
		container_of(cb, struct radeon_gem_rw_window, cb);

	queue_work(system_unbound_wq, &window->work);
}

/* Let go of the pages when the copy is done, whenever that is. */
static void radeon_gem_rw_window_put_later(struct radeon_gem_rw_window *window)
{
	if (dma_fence_add_callback(&window->fence->base, &window->cb,
				   radeon_gem_rw_window_cb))
		radeon_gem_rw_window_put(window);
}

/*
 * Pin user memory and get DMA addresses. Returns the number of bytes, 0 if that
 * is not possible.
 */
static u64 radeon_gem_rw_window_pin(struct radeon_gem_rw_window *window,
				    const struct radeon_gem_rw *rw,
				    char __user *user, u64 len)
{
	size_t in_page = offset_in_page(user);
	struct device *dev = window->rdev->dev;
	size_t max = min_t(size_t, dma_max_mapping_size(dev),
			   RADEON_GEM_RW_WINDOW_PAGES * PAGE_SIZE);
	int count, pinned;

	count = min_t(u64, RADEON_GEM_RW_WINDOW_PAGES, PFN_UP(in_page + len));
	if (!rw->write)
		count = min_t(u64, count, len >> PAGE_SHIFT);
	pinned = pin_user_pages_fast((unsigned long)user, count,
				     FOLL_NOFAULT | (rw->write ? 0 : FOLL_WRITE),
				     window->pages);
	if (pinned <= 0)
		return 0;

	window->count = pinned;
	window->dir = rw->write ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
	if (sg_alloc_table_from_pages_segment(&window->sg, window->pages, pinned, 0,
					      (unsigned long)pinned << PAGE_SHIFT, max,
					      GFP_KERNEL)) {
		window->sg.sgl = NULL;
		return 0;
	}

	/*
	 * Others may have the same pages mapped, as memory can be shared. That
	 * is only fine if the mapping itself does not touch caches.
	 */
	if (dma_map_sgtable(dev, &window->sg, window->dir, DMA_ATTR_SKIP_CPU_SYNC)) {
		sg_free_table(&window->sg);
		window->sg.sgl = NULL;
		return 0;
	}
	dma_sync_sgtable_for_device(dev, &window->sg, window->dir);

	return min_t(u64, len, ((u64)pinned << PAGE_SHIFT) - in_page);
}

/* Submit the copy. Returns NULL if that is not possible now. */
static struct radeon_gem_rw_job *
radeon_gem_rw_zero_submit(struct radeon_gem_rw *rw,
			  struct radeon_gem_rw_window *window)
{
	u64 mem = rw->rdev->mc.gtt_start + offset_in_page(rw->pieces->user) +
		((u64)window->gart_page << PAGE_SHIFT);
	struct radeon_gem_rw_job *job;
	u64 bo;
	int r;

	/* It may have been moved. */
	if (rw->bo->tbo.resource->mem_type != TTM_PL_VRAM)
		return NULL;

	job = radeon_gem_rw_job_new(1);
	if (!job)
		return NULL;

	bo = radeon_bo_gpu_offset(rw->bo) + rw->pieces->offset;
	job->ops[0].dst = rw->write ? bo : mem;
	job->ops[0].src = rw->write ? mem : bo;
	job->ops[0].len = rw->len;
	job->dwords = IS_ALIGNED(bo | mem | rw->len, 4);
	job->busy = true;
	job->alone = true;
	if (!radeon_gem_rw_job_suballoc(rw, job, 0))
		goto out_put;

	radeon_gem_rw_window_bind(window);
	rw->resets = atomic_read(&rw->rdev->gpu_reset_counter);
	r = radeon_gem_rw_ring_submit(rw, job);
	if (!r) {
		window->fence = radeon_fence_ref(job->fence);
		window->dirty = !rw->write;
		return job;
	}
	if (r == -EAGAIN)
		return NULL;

out_put:
	radeon_gem_rw_job_put(rw->rdev, job);
	return NULL;
}

/*
 * Wait for the copy. A reset may run it again, so this does not come back while
 * that can happen, unless the GPU gets the pages taken away: nobody else would do
 * that after a reset that has failed. Returns whether the window can be given back
 * at once.
 */
static bool radeon_gem_rw_zero_wait(struct radeon_gem_rw *rw,
				    struct radeon_gem_rw_job *job, int *r)
{
	struct radeon_device *rdev = rw->rdev;
	unsigned int resets;

	for (resets = 0; resets < RADEON_GEM_RW_ZERO_RESETS; resets++) {
		*r = radeon_gem_rw_job_wait(rw, job);
		if (*r != -EDEADLK || radeon_fence_signaled(job->fence))
			return !*r || radeon_fence_signaled(job->fence);
		if (!rdev->ring[job->fence->ring].ready)
			return true;
		radeon_gem_handle_lockup(rdev, *r);
	}

	return true;
}

static ssize_t radeon_gem_rw_zero_copy_after(struct radeon_gem_rw *rw,
					     ssize_t done)
{
	const struct radeon_gem_rw_region *region = &rw->regions[rw->pos.region];
	struct radeon_device *rdev = rw->rdev;
	struct radeon_gem_rw_window *window;
	struct radeon_gem_rw_job *job;
	char __user *user = rw->pieces->user;
	u64 want = min_t(u64, region->row_bytes - rw->pos.byte,
			 RADEON_GEM_RW_WINDOW_PAGES * PAGE_SIZE - offset_in_page(user));
	bool again = false;
	u64 pinned;
	int r;

	/* Nothing that user space controls is waited for with a window. */
	for (;; again = true) {
		window = radeon_gem_rw_window_get(rdev->gem_rw->gpu->zero);
		if (!window)
			goto out_avoid;

		pinned = radeon_gem_rw_window_pin(window, rw, user, want);
		if (again || pinned + PAGE_SIZE > want)
			break;

		radeon_gem_rw_window_put(window);
		radeon_gem_rw_fault_in_user(rw, user, want);
	}
	if (!pinned)
		goto out_put;

	radeon_gem_rw_take(rw, pinned);
	r = radeon_gem_rw_hold(rw);
	if (r) {
		radeon_gem_rw_window_put(window);
		return r;
	}
	job = radeon_gem_rw_zero_submit(rw, window);
	radeon_gem_rw_release(rw);
	radeon_gem_rw_unlock(rw);
	if (!job)
		goto out_put;

	if (radeon_gem_rw_zero_wait(rw, job, &r))
		radeon_gem_rw_window_put(window);
	else
		radeon_gem_rw_window_put_later(window);
	radeon_gem_rw_job_put(rdev, job);
	if (r)
		return r;

	radeon_gem_rw_count(rdev, RADEON_GEM_RW_ZERO_COPY, rw->len);
	return rw->len;

out_put:
	radeon_gem_rw_window_put(window);
out_avoid:
	radeon_gem_rw_event(rdev, RADEON_GEM_RW_NOT_PINNED);
	rw->avoid |= BIT(RADEON_GEM_RW_ZERO_COPY);
	return 0;
}

const struct radeon_gem_rw_path radeon_gem_rw_zero_copy = {
	.id = RADEON_GEM_RW_ZERO_COPY,
	.after = radeon_gem_rw_zero_copy_after,
};

/* Is this piece worth it? Not the last part of it, if that is small. */
static bool radeon_gem_rw_zero_is_large(const struct radeon_gem_rw *rw)
{
	const struct radeon_gem_rw_region *region = &rw->regions[rw->pos.region];
	u64 min = READ_ONCE(radeon_gem_rw_zero_copy_min);
	u64 left = region->row_bytes - rw->pos.byte;

	return region->row_bytes >= min && left >= min / 2 &&
		(rw->write || left >= PAGE_SIZE) && rw->rdev->gem_rw->gpu &&
		rw->rdev->gem_rw->gpu->zero;
}

static size_t radeon_gem_rw_zero_in_page(const struct radeon_gem_rw *rw)
{
	const struct radeon_gem_rw_region *region = &rw->regions[rw->pos.region];

	return offset_in_page(region->user + rw->pos.byte +
			      (u64)rw->pos.row * region->user_pitch);
}

/**
 * radeon_gem_rw_zero_look - is the next piece worth pinning pages?
 * @rw: the transfer
 *
 * Return: RADEON_GEM_RW_IS_LARGE or 0, for radeon_gem_rw_look().
 */
unsigned int radeon_gem_rw_zero_look(const struct radeon_gem_rw *rw)
{
	if (!radeon_gem_rw_zero_is_large(rw) ||
	    (!rw->write && radeon_gem_rw_zero_in_page(rw)))
		return 0;

	return RADEON_GEM_RW_IS_LARGE;
}

/**
 * radeon_gem_rw_zero_step_max - most bytes of a step
 * @rw: the transfer
 * @max: the same as far as others know
 *
 * Return: @max, or less, so that a large read goes on with a whole page.
 */
u64 radeon_gem_rw_zero_step_max(const struct radeon_gem_rw *rw, u64 max)
{
	size_t in_page;

	if (rw->write || !radeon_gem_rw_zero_is_large(rw))
		return max;

	in_page = radeon_gem_rw_zero_in_page(rw);
	return in_page ? min_t(u64, max, PAGE_SIZE - in_page) : max;
}

/**
 * radeon_gem_rw_window_size - how much of GTT is kept for windows
 * @rdev: the device
 *
 * Return: Number of bytes at the end of GTT.
 */
u64 radeon_gem_rw_window_size(struct radeon_device *rdev)
{
	if (!radeon_gem_rw_ring_supported(rdev) ||
	    rdev->mc.gtt_size < RADEON_GEM_RW_WINDOW_GTT_MIN)
		return 0;

	return (u64)RADEON_GEM_RW_WINDOWS * RADEON_GEM_RW_WINDOW_PAGES * PAGE_SIZE;
}

/**
 * radeon_gem_rw_zero_init - set up zero-copy
 * @rdev: the device
 * @gpu: what copies by the GPU need
 */
void radeon_gem_rw_zero_init(struct radeon_device *rdev,
			     struct radeon_gem_rw_gpu *gpu)
{
	u64 size = radeon_gem_rw_window_size(rdev);
	struct radeon_gem_rw_window *window;
	unsigned int i;

	if (!size)
		return;

	/* Nobody else can have it. */
	rdev->gart_pin_size += size;
	gpu->zero = kvzalloc(sizeof(*gpu->zero), GFP_KERNEL);
	if (!gpu->zero)
		return;

	/* The engines can copy any number of bytes at a time. */
	dma_set_max_seg_size(rdev->dev, UINT_MAX);
	for (i = 0; i < RADEON_GEM_RW_WINDOWS; i++) {
		window = &gpu->zero->windows[i];
		window->rdev = rdev;
		window->gart_page = ((rdev->mc.gtt_size - size) >> PAGE_SHIFT) +
			i * RADEON_GEM_RW_WINDOW_PAGES;
		window->pages = &gpu->zero->pages[i * RADEON_GEM_RW_WINDOW_PAGES];
		INIT_WORK(&window->work, radeon_gem_rw_window_work);
	}
}

/**
 * radeon_gem_rw_zero_fini - release what zero-copy needs
 * @gpu: what copies by the GPU need, all of which are done
 */
void radeon_gem_rw_zero_fini(struct radeon_gem_rw_gpu *gpu)
{
	unsigned int i;

	if (!gpu->zero)
		return;

	for (i = 0; i < RADEON_GEM_RW_WINDOWS; i++)
		flush_work(&gpu->zero->windows[i].work);
	kvfree(gpu->zero);
	gpu->zero = NULL;
}
