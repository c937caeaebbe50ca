// SPDX-License-Identifier: MIT
/*
 * Copyright 2026 Seed 7e3b15d1 maintainers
 *
 * Reading and writing GEM objects without mapping them: copies by the GPU
 * straight from or to user memory.
 *
 * The user's pages are pinned and bound to a window, a part of GTT that is kept
 * for this, and the GPU copies between them and the BO in VRAM. The CPU does not touch the
 * bytes, but handles each page, so this pays for large transfers only.
 *
 * The windows limit how many pages all clients together can have pinned, and no process
 * or user can have all of them. A call takes a window before it pins any page; one that
 * gets none takes another path. A call never waits for anything that user space controls
 * while it has a window, so it faults user memory in without one.
 *
 * Pages that the GPU only reads are bound read-only. Pages that it writes are written as
 * a whole, and the CPU copies the rest: where DMA goes through a bounce buffer, what
 * others write to the rest of a page meanwhile would be reverted.
 *
 * The call waits for the copy, which takes a ring that does nothing else. If a fatal
 * signal ends the call early, the pages stay pinned, and a work item unpins them when the
 * copy is done, or the ring is given up. Until then the device must not be suspended.
 */

#include <linux/dma-mapping.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/pm_runtime.h>
#include <linux/slab.h>

#include "radeon.h"
#include "radeon_gem_rw_gpu.h"

#define RADEON_GEM_RW_WINDOWS		4
#define RADEON_GEM_RW_PROCESS_WINDOWS	2	/* most for one process */
#define RADEON_GEM_RW_USER_WINDOWS	3
#define RADEON_GEM_RW_WINDOW_SIZE	SZ_4M
#define RADEON_GEM_RW_WINDOW_PAGES	(RADEON_GEM_RW_WINDOW_SIZE / PAGE_SIZE)

/* Smallest GTT of which the end is kept for windows. */
#define RADEON_GEM_RW_WINDOW_GTT_MIN	SZ_128M

/* GPU resets that a call waits for before it unbinds the pages of an undone copy. */
#define RADEON_GEM_RW_PIN_RESETS	3

static unsigned int radeon_gem_rw_pin_min = SZ_1M;
MODULE_PARM_DESC(gem_rw_zero_copy_min,
		 "Transfers of at least this many bytes are copied by the GPU straight between user memory and VRAM (default 1048576)");
module_param_named(gem_rw_zero_copy_min, radeon_gem_rw_pin_min, uint, 0644);

/* A window of GTT, with the user pages that are bound to it. */
struct radeon_gem_rw_window {
	struct radeon_device *rdev;
	bool used;			/* a client has it */
	struct radeon_gem_rw_client client;
	u32 first;			/* its first entry in the GART */
	struct page *pages[RADEON_GEM_RW_WINDOW_PAGES];	/* pinned */
	unsigned int count;
	struct scatterlist sgl[RADEON_GEM_RW_WINDOW_PAGES];
	struct sg_table sg;		/* without entries: not mapped for DMA */
	enum dma_data_direction dir;
	struct radeon_fence *fence;	/* of the copy, or NULL */
	struct delayed_work work;	/* waits for it if the call was killed */
};

/*
 * Write @n entries of the GART from entry @i of the window on, in the format of
 * rs600_gart_set_page(), which all supported chips use. To call that for each page would
 * cost as much as the rest of binding it.
 */
static void radeon_gem_rw_window_set(struct radeon_gem_rw_window *window, u32 i,
				     u32 n, u64 entry, u64 step)
{
	struct radeon_gart *gart = &window->rdev->gart;
	u64 *shadow = gart->pages_entry + window->first + i;
	u64 __iomem *ptr = (u64 __force __iomem *)gart->ptr + window->first + i;
	bool ready = gart->ptr;

	for (; n; n--, entry += step) {
		*shadow++ = entry;
		if (ready)
			writeq(entry, ptr++);
	}
}

/* Bind the pages to the window. No GPU reset meanwhile, and the GART works. */
static void radeon_gem_rw_window_bind(struct radeon_gem_rw_window *window)
{
	u32 flags = RADEON_GART_PAGE_VALID | RADEON_GART_PAGE_READ |
		RADEON_GART_PAGE_SNOOP;
	struct radeon_device *rdev = window->rdev;
	struct scatterlist *sg;
	u32 i = 0, n;

	if (window->dir == DMA_FROM_DEVICE)
		flags |= RADEON_GART_PAGE_WRITE;
	flags = radeon_gart_get_page_entry(0, flags);

	for (sg = window->sgl; sg < window->sgl + window->sg.nents; sg++, i += n) {
		n = sg_dma_len(sg) >> RADEON_GPU_PAGE_SHIFT;
		radeon_gem_rw_window_set(window, i, n, sg_dma_address(sg) | flags,
					 RADEON_GPU_PAGE_SIZE);
	}
	/* Write the entries before the flush. */
	mb();
	radeon_gart_tlb_flush(rdev);
}

/*
 * Unbind the pages. Only zero-copies use these GTT addresses, and flush the TLB when they
 * bind pages. So a flush is needed here only if this window's copy may still run.
 */
static void radeon_gem_rw_window_unbind(struct radeon_gem_rw_window *window)
{
	struct radeon_device *rdev = window->rdev;

	down_read(&rdev->exclusive_lock);
	radeon_gem_rw_window_set(window, 0, window->count *
				 (PAGE_SIZE / RADEON_GPU_PAGE_SIZE),
				 rdev->dummy_page.entry, 0);
	if (rdev->gart.ptr && !radeon_fence_signaled(window->fence)) {
		/* As in radeon_gem_rw_window_bind(). */
		mb();
		radeon_gart_tlb_flush(rdev);
	}
	up_read(&rdev->exclusive_lock);
}

/*
 * Map the pages for DMA. Contiguous ones become one entry, as an entry costs more than
 * all other work for a page. Returns whether the pages were mapped.
 */
static bool radeon_gem_rw_window_map(struct radeon_gem_rw_window *window)
{
	struct device *dev = window->rdev->dev;
	size_t max = dma_max_mapping_size(dev);
	struct page **page = window->pages;
	struct scatterlist *sg = NULL;
	unsigned int i;

	/* sg_alloc_table_from_pages() would take 100 instructions more for a page. */
	window->sg.orig_nents = 0;
	for (i = 0; i < window->count; i++, page++) {
		if (i && page_to_pfn(page[0]) == page_to_pfn(page[-1]) + 1 &&
		    sg->length + PAGE_SIZE <= max) {
			sg->length += PAGE_SIZE;
			continue;
		}
		sg = &window->sgl[window->sg.orig_nents++];
		sg_unmark_end(sg);
		sg_set_page(sg, *page, PAGE_SIZE, 0);
	}
	sg_mark_end(sg);

	/*
	 * Others may have mapped the same pages for DMA, as memory can be shared. That is
	 * only safe if the mapping itself does no cache maintenance.
	 */
	if (dma_map_sgtable(dev, &window->sg, window->dir, DMA_ATTR_SKIP_CPU_SYNC)) {
		window->sg.orig_nents = 0;
		return false;
	}
	dma_sync_sgtable_for_device(dev, &window->sg, window->dir);
	return true;
}

static struct radeon_gem_rw_window *
radeon_gem_rw_window_get(struct radeon_device *rdev)
{
	const struct radeon_gem_rw_client client = radeon_gem_rw_client();
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw_gpu;
	struct radeon_gem_rw_window *window = gpu->windows;
	unsigned int i = 0;

	spin_lock(&gpu->lock);
	while (i < RADEON_GEM_RW_WINDOWS && window[i].used)
		i++;
	if (i < RADEON_GEM_RW_WINDOWS &&
	    radeon_gem_rw_share_take(&gpu->windows_share, &client, 1)) {
		window += i;
		window->used = true;
		window->client = client;
	} else {
		window = NULL;
	}
	spin_unlock(&gpu->lock);

	return window;
}

/* Unbind, unmap and unpin the pages, which the GPU does not use any more. */
static void radeon_gem_rw_window_put(struct radeon_gem_rw_window *window)
{
	struct radeon_gem_rw_gpu *gpu = window->rdev->gem_rw_gpu;
	struct device *dev = window->rdev->dev;
	bool written = window->fence && window->dir == DMA_FROM_DEVICE;

	if (window->sg.orig_nents) {
		radeon_gem_rw_window_unbind(window);
		dma_sync_sgtable_for_cpu(dev, &window->sg, window->dir);
		dma_unmap_sgtable(dev, &window->sg, window->dir,
				  DMA_ATTR_SKIP_CPU_SYNC);
		window->sg.orig_nents = 0;
	}
	unpin_user_pages_dirty_lock(window->pages, window->count, written);
	window->count = 0;
	radeon_fence_unref(&window->fence);

	spin_lock(&gpu->lock);
	radeon_gem_rw_share_give(&gpu->windows_share, &window->client, 1);
	window->used = false;
	spin_unlock(&gpu->lock);
}

/* Ends a killed call's copy. Resets a locked up GPU, as no other client may be left. */
static void radeon_gem_rw_window_work(struct work_struct *work)
{
	struct radeon_gem_rw_window *window =
		container_of(work, struct radeon_gem_rw_window, work.work);
	struct radeon_device *rdev = window->rdev;

	if (radeon_fence_signaled(window->fence) || rdev->shutdown ||
	    radeon_gem_rw_ring_given_up(rdev, window->fence->ring)) {
		radeon_gem_rw_window_put(window);
		pm_runtime_mark_last_busy(rdev->dev);
		pm_runtime_put_autosuspend(rdev->dev);
		return;
	}

	if (READ_ONCE(rdev->needs_reset))
		radeon_gpu_reset(rdev);
	queue_delayed_work(system_freezable_wq, &window->work, DIV_ROUND_UP(HZ, 20));
}

/*
 * Make @count pages ready to be pinned without a fault: present, and not shared copy on
 * write with another process. Faults of the CPU for reading do not end such sharing. Has
 * no more than one page pinned at a time, and none while it waits.
 */
static void radeon_gem_rw_window_prepare(unsigned long start, int count,
					 unsigned int flags)
{
	struct page *page;

	for (; count && pin_user_pages_fast(start, 1, flags, &page) == 1; count--) {
		unpin_user_page(page);
		start += PAGE_SIZE;
		cond_resched();
	}
}

/*
 * Pin user memory, as much as possible. Returns a window with its pages, and their bytes
 * in @len; or NULL if there is no window, or nothing can be pinned.
 */
static struct radeon_gem_rw_window *
radeon_gem_rw_window_fill(struct radeon_gem_rw *rw, char __user *user, u64 *len)
{
	size_t in_page = offset_in_page(user);
	int n, count = rw->write ? PFN_UP(in_page + *len) : *len >> PAGE_SHIFT;
	unsigned int flags = rw->write ? 0 : FOLL_WRITE;
	struct radeon_gem_rw_window *window;
	bool again = false;

	for (;; again = true) {
		window = radeon_gem_rw_window_get(rw->rdev);
		if (!window)
			return NULL;

		n = pin_user_pages_fast((unsigned long)user, count,
					FOLL_NOFAULT | flags, window->pages);
		window->count = max(n, 0);
		window->dir = rw->write ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
		if (n == count || again)
			break;

		radeon_gem_rw_window_put(window);
		radeon_gem_rw_window_prepare((unsigned long)user - in_page +
					     max(n, 0) * PAGE_SIZE,
					     count - max(n, 0), flags);
	}

	if (!window->count || !radeon_gem_rw_window_map(window)) {
		radeon_gem_rw_window_put(window);
		return NULL;
	}
	*len = min_t(u64, *len, ((u64)window->count << PAGE_SHIFT) - in_page);
	return window;
}

/* Submit the copy. Returns NULL if that is not possible now. */
static struct radeon_gem_rw_job *
radeon_gem_rw_pin_submit(struct radeon_gem_rw *rw, struct radeon_gem_rw_window *window)
{
	u64 mem = rw->rdev->mc.gtt_start + offset_in_page(rw->pieces->user) +
		(u64)window->first * RADEON_GPU_PAGE_SIZE;
	struct radeon_gem_rw_job *job;
	u64 bo;

	/* The BO may have been moved, or a reset may have failed. */
	if (rw->bo->tbo.resource->mem_type != TTM_PL_VRAM || !rw->rdev->gart.ptr)
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
	if (radeon_gem_rw_job_suballoc(rw, job, 0)) {
		radeon_gem_rw_window_bind(window);
		if (!radeon_gem_rw_ring_submit(rw, job)) {
			window->fence = radeon_fence_ref(job->fence);
			return job;
		}
	}

	radeon_gem_rw_job_put(rw->rdev, job);
	return NULL;
}

/*
 * Wait for the copy, and give the window back. A reset may run the copy again, so wait
 * until that cannot happen any more. If resets fail, or there are too many, unbind the
 * pages from the GPU instead, as nobody else would.
 */
static int radeon_gem_rw_pin_wait(struct radeon_gem_rw *rw,
				  struct radeon_gem_rw_window *window,
				  struct radeon_gem_rw_job *job)
{
	struct radeon_device *rdev = rw->rdev;
	unsigned int resets;
	int r;

	for (resets = 0; resets < RADEON_GEM_RW_PIN_RESETS; resets++) {
		r = radeon_gem_rw_job_wait(rw, job);
		if (r != -EDEADLK || radeon_fence_signaled(job->fence) ||
		    !rdev->ring[job->fence->ring].ready)
			break;
		radeon_gem_handle_lockup(rdev, r);
	}

	/* Killed: the work item releases the pages once the copy is done. */
	if (r == -ERESTARTSYS) {
		pm_runtime_get_noresume(rdev->dev);
		queue_delayed_work(system_freezable_wq, &window->work, 0);
	} else {
		radeon_gem_rw_window_put(window);
	}
	radeon_gem_rw_job_put(rdev, job);
	return r;
}

/*
 * Pin the user's pages of the next bytes, and have the GPU copy. Must be called with
 * nothing held. Returns how many bytes were copied, 0 if the copy has to be done without
 * pinned pages, or an error.
 */
ssize_t radeon_gem_rw_copy_pinned(struct radeon_gem_rw *rw)
{
	u64 len = min(rw->regions[rw->pos.region].row_bytes - rw->pos.byte,
		      RADEON_GEM_RW_WINDOW_SIZE - offset_in_page(rw->pieces->user));
	struct radeon_gem_rw_job *job = NULL;
	struct radeon_gem_rw_window *window;
	int r = 0;

	window = radeon_gem_rw_window_fill(rw, rw->pieces->user, &len);
	if (window) {
		radeon_gem_rw_set_step(rw, len);
		r = radeon_gem_rw_lock(rw);
		if (!r) {
			job = radeon_gem_rw_pin_submit(rw, window);
			radeon_gem_rw_unlock(rw);
		}
		if (!job)
			radeon_gem_rw_window_put(window);
	}
	if (r)
		return r;
	if (!job) {
		radeon_gem_rw_event(rw->rdev, RADEON_GEM_RW_NOT_PINNED);
		rw->unpinned = true;
		return 0;
	}

	r = radeon_gem_rw_pin_wait(rw, window, job);
	if (!r)
		radeon_gem_rw_count(rw->rdev, RADEON_GEM_RW_ZERO_COPY, rw->len);
	return r ?: rw->len;
}

/*
 * Are the next bytes worth pinning pages? Not the small last part of a row, and not if
 * others use the BO, or might. A read begins with a whole page: the bytes before become
 * a step of their own. Returns RADEON_GEM_RW_IS_LARGE or 0. The BO is in VRAM.
 */
unsigned int radeon_gem_rw_pin_state(struct radeon_gem_rw *rw)
{
	const struct radeon_gem_rw_region *region = &rw->regions[rw->pos.region];
	u64 min = READ_ONCE(radeon_gem_rw_pin_min);
	u64 left = region->row_bytes - rw->pos.byte;
	size_t in_page = offset_in_page(rw->pieces->user);

	if (rw->unpinned || region->row_bytes < min || left < min / 2 ||
	    rw->flags & (RADEON_GEM_RW_NOWAIT | RADEON_GEM_RW_UNSYNCHRONIZED) ||
	    (!rw->write && left < PAGE_SIZE) ||
	    !rw->rdev->gem_rw_gpu || !rw->rdev->gem_rw_gpu->windows)
		return 0;

	if (rw->write || !in_page)
		return RADEON_GEM_RW_IS_LARGE;

	radeon_gem_rw_set_step(rw, PAGE_SIZE - in_page);
	return 0;
}

/* Returns the number of bytes at the end of GTT that are kept for windows. */
u64 radeon_gem_rw_window_size(struct radeon_device *rdev)
{
	if (!radeon_gem_rw_gpu_supported(rdev) ||
	    rdev->mc.gtt_size < RADEON_GEM_RW_WINDOW_GTT_MIN)
		return 0;

	return RADEON_GEM_RW_WINDOWS * RADEON_GEM_RW_WINDOW_SIZE;
}

void radeon_gem_rw_pin_init(struct radeon_device *rdev, struct radeon_gem_rw_gpu *gpu)
{
	u64 size = radeon_gem_rw_window_size(rdev);
	struct radeon_gem_rw_window *window;
	unsigned int i;

	if (!size)
		return;

	/* No BO can be placed there. */
	rdev->gart_pin_size += size;
	gpu->windows = kvcalloc(RADEON_GEM_RW_WINDOWS, sizeof(*gpu->windows),
				GFP_KERNEL);
	if (!gpu->windows)
		return;

	xa_init(&gpu->windows_share.held[0]);
	xa_init(&gpu->windows_share.held[1]);
	gpu->windows_share.max[0] = RADEON_GEM_RW_PROCESS_WINDOWS;
	gpu->windows_share.max[1] = RADEON_GEM_RW_USER_WINDOWS;

	/* The engines can copy any number of bytes at a time. */
	dma_set_max_seg_size(rdev->dev, UINT_MAX);
	for (i = 0; i < RADEON_GEM_RW_WINDOWS; i++) {
		window = &gpu->windows[i];
		window->rdev = rdev;
		window->first = (rdev->mc.gtt_size - size +
				 i * RADEON_GEM_RW_WINDOW_SIZE) >> RADEON_GPU_PAGE_SHIFT;
		window->sg.sgl = window->sgl;
		INIT_DELAYED_WORK(&window->work, radeon_gem_rw_window_work);
	}
}

/* All copies are done. */
void radeon_gem_rw_pin_fini(struct radeon_gem_rw_gpu *gpu)
{
	unsigned int i;

	for (i = 0; gpu->windows && i < RADEON_GEM_RW_WINDOWS; i++)
		flush_delayed_work(&gpu->windows[i].work);
	kvfree(gpu->windows);
}
