// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: moving bytes between
 * user memory and BOs with the CPU. When a BO may be touched, and the order of
 * locks, is in radeon_gem_rw.c.
 *
 * User memory is used in one of three ways:
 *
 * - Directly, with page faults disabled, for small transfers.
 * - By pinning pages.
 * - By way of a buffer. That works for any memory that the process itself can
 *   access, also if it has no pages to pin, as the mapping of a BO.
 *
 * The first two can turn out to be impossible, which is no error: then they
 * have transferred nothing, and the last one is used.
 */

#include <linux/cacheflush.h>
#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/iosys-map.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_cache.h>
#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_placement.h>
#include <drm/ttm/ttm_tt.h>

#include "radeon.h"
#include "radeon_gem_rw.h"

/* Alignment that drm_memcpy_from_wc() needs to be fast. */
#define RADEON_GEM_RW_WC_ALIGN	16

/*
 * struct radeon_gem_rw_view - how the CPU sees the next bytes of a BO
 *
 * Valid between radeon_gem_rw_begin() and radeon_gem_rw_end().
 */
struct radeon_gem_rw_view {
	/* The first byte, or NULL if the BO is accessed by its pages. */
	void __iomem *io;
	/* What to iounmap() afterwards, or NULL. */
	void __iomem *iomap;
	/* Mapping to undo afterwards, if .virtual is set. */
	struct ttm_bo_kmap_obj kmap;
	/* The pages, if io is NULL. */
	struct page **pages;
	/* Loads are not cached, so small ones are slow. */
	bool uncached;
};

/*
 * The part of VRAM that the CPU can reach, mapped once and for all where there
 * is address space for it. NULL if not: a mapping per access costs more than
 * the access from about 64 KiB on, but works.
 */
static void __iomem *radeon_gem_rw_aperture(struct radeon_device *rdev)
{
	void __iomem *map = READ_ONCE(rdev->mman.aperture);
	void __iomem *other;

	if (map || !IS_ENABLED(CONFIG_64BIT))
		return map;

	map = ioremap_wc(rdev->mc.aper_base, rdev->mc.visible_vram_size);
	if (!map)
		return NULL;

	other = cmpxchg(&rdev->mman.aperture, NULL, map);
	if (other) {
		iounmap(map);
		map = other;
	}

	return map;
}

/**
 * radeon_gem_rw_fini - release what is kept for a device
 * @rdev: the device
 *
 * No transfer can be under way any more.
 */
void radeon_gem_rw_fini(struct radeon_device *rdev)
{
	if (rdev->mman.aperture)
		iounmap(rdev->mman.aperture);
	rdev->mman.aperture = NULL;
}

static int radeon_gem_rw_view_vram(struct radeon_gem_rw *rw, size_t len,
				   struct radeon_gem_rw_view *view)
{
	struct radeon_device *rdev = rw->rdev;
	u64 start = ((u64)rw->bo->tbo.resource->start << PAGE_SHIFT) + rw->offset;
	size_t in_page = offset_in_page(start);
	void __iomem *aperture = radeon_gem_rw_aperture(rdev);

	if (aperture) {
		view->io = aperture + start;
	} else {
		view->iomap = ioremap_wc(rdev->mc.aper_base + start - in_page,
					 in_page + len);
		if (!view->iomap)
			return -ENOMEM;
		view->io = view->iomap + in_page;
	}
	view->uncached = true;

	/* Before R600, the CPU sees tiled surfaces through surface registers. */
	radeon_bo_check_tiling(rw->bo, 0, 0);

	/* The host data path may have kept bytes from before GPU writes. */
	if (!rw->write && rdev->asic->mmio_hdp_flush)
		rdev->asic->mmio_hdp_flush(rdev);

	return 0;
}

/*
 * Does the kernel's own mapping of the pages have the caching mode that TTM
 * gave them? TTM changes it on x86, where the mapping is permanent in 64 bit.
 * There no cache holds bytes of write-combined and uncached BOs, so the GPU,
 * which does not snoop for them, and the CPU agree about the contents.
 */
static bool radeon_gem_rw_has_direct_pages(struct radeon_gem_rw *rw)
{
	struct ttm_tt *tt = rw->bo->tbo.ttm;

	if (rw->rdev->flags & RADEON_IS_AGP)
		return false;
	if (tt->page_flags & TTM_TT_FLAG_DECRYPTED)
		return false;

	return tt->caching == ttm_cached || IS_ENABLED(CONFIG_X86_64);
}

static int radeon_gem_rw_view_system(struct radeon_gem_rw *rw, size_t len,
				     struct radeon_gem_rw_view *view)
{
	struct ttm_buffer_object *tbo = &rw->bo->tbo;
	size_t in_page = offset_in_page(rw->offset);
	bool is_iomem;
	int r;

	view->uncached = tbo->ttm->caching != ttm_cached;

	if (radeon_gem_rw_has_direct_pages(rw)) {
		view->pages = tbo->ttm->pages + (rw->offset >> PAGE_SHIFT);
		return 0;
	}

	/*
	 * Taken for I/O memory whatever it is, as uncached memory does not bear
	 * unaligned accesses on all architectures.
	 */
	r = ttm_bo_kmap(tbo, rw->offset >> PAGE_SHIFT, PFN_UP(in_page + len),
			&view->kmap);
	if (r)
		return r;
	view->io = (void __force __iomem *)
		ttm_kmap_obj_virtual(&view->kmap, &is_iomem) + in_page;

	return 0;
}

/* View the next @len bytes of the BO. */
static int radeon_gem_rw_view_init(struct radeon_gem_rw *rw, size_t len,
				   struct radeon_gem_rw_view *view)
{
	*view = (struct radeon_gem_rw_view) { };

	if (rw->bo->tbo.resource->mem_type == TTM_PL_VRAM)
		return radeon_gem_rw_view_vram(rw, len, view);

	return radeon_gem_rw_view_system(rw, len, view);
}

static void radeon_gem_rw_view_fini(struct radeon_gem_rw *rw,
				    struct radeon_gem_rw_view *view)
{
	if (rw->write) {
		/*
		 * Empty the write-combining buffers before anybody can submit
		 * work that reads the bytes. Submission flushes the host data
		 * path.
		 */
		wmb();
	}

	if (view->iomap)
		iounmap(view->iomap);
	else if (view->kmap.virtual)
		ttm_bo_kunmap(&view->kmap);
}

/*
 * Map the bytes at @pos of a view that has pages. They may be used to the end
 * of the page.
 */
static void *radeon_gem_rw_map_page(struct radeon_gem_rw *rw,
				    struct radeon_gem_rw_view *view, size_t pos)
{
	size_t byte = offset_in_page(rw->offset) + pos;

	return kmap_local_page(view->pages[byte >> PAGE_SHIFT]) +
		offset_in_page(byte);
}

/* Bytes from @pos to the end of its page in the BO. */
static size_t radeon_gem_rw_page_left(struct radeon_gem_rw *rw, size_t pos)
{
	return PAGE_SIZE - offset_in_page(rw->offset + pos);
}

/* Load from uncached memory in units as large as possible. */
static void radeon_gem_rw_load(void *dst, const void __iomem *src, size_t len)
{
	size_t misaligned = (uintptr_t)src % RADEON_GEM_RW_WC_ALIGN;
	struct iosys_map dst_map, src_map;
	size_t head, body;

	if ((uintptr_t)dst % RADEON_GEM_RW_WC_ALIGN != misaligned) {
		memcpy_fromio(dst, src, len);
		return;
	}

	head = min(len, misaligned ? RADEON_GEM_RW_WC_ALIGN - misaligned : 0);
	memcpy_fromio(dst, src, head);
	dst += head;
	src += head;
	len -= head;

	body = rounddown(len, RADEON_GEM_RW_WC_ALIGN);
	iosys_map_set_vaddr(&dst_map, dst);
	iosys_map_set_vaddr_iomem(&src_map, (void __iomem *)src);
	drm_memcpy_from_wc(&dst_map, &src_map, body);

	memcpy_fromio(dst + body, src + body, len - body);
}

/* Copy bytes at @pos, not beyond the end of a page of the BO. */
static void radeon_gem_rw_copy_piece(struct radeon_gem_rw *rw,
				     struct radeon_gem_rw_view *view,
				     size_t pos, void *mem, size_t len)
{
	void __iomem *io;
	void *page = NULL;

	if (view->io) {
		io = view->io + pos;
	} else {
		page = radeon_gem_rw_map_page(rw, view, pos);
		io = (void __force __iomem *)page;
	}

	if (rw->write && page)
		memcpy(page, mem, len);
	else if (rw->write)
		memcpy_toio(io, mem, len);
	else if (view->uncached)
		radeon_gem_rw_load(mem, io, len);
	else if (page)
		memcpy(mem, page, len);
	else
		memcpy_fromio(mem, io, len);

	if (page)
		kunmap_local(page);
}

static void radeon_gem_rw_copy_buffer(struct radeon_gem_rw *rw,
				      struct radeon_gem_rw_view *view,
				      void *mem, size_t len)
{
	size_t pos, n;

	for (pos = 0; pos < len; pos += n) {
		n = min(len - pos, radeon_gem_rw_page_left(rw, pos));
		radeon_gem_rw_copy_piece(rw, view, pos, mem + pos, n);
		cond_resched();
	}
}

static void radeon_gem_rw_copy_pages(struct radeon_gem_rw *rw,
				     struct radeon_gem_rw_view *view,
				     struct page **pages, size_t len)
{
	size_t in_page = offset_in_page(rw->user);
	struct page *page;
	size_t pos, n;
	void *mem;

	for (pos = 0; pos < len; pos += n) {
		n = min3(len - pos, radeon_gem_rw_page_left(rw, pos),
			 PAGE_SIZE - offset_in_page(in_page + pos));

		page = pages[(in_page + pos) >> PAGE_SHIFT];
		mem = kmap_local_page(page);
		radeon_gem_rw_copy_piece(rw, view, pos,
					 mem + offset_in_page(in_page + pos), n);
		if (!rw->write)
			flush_dcache_page(page);
		kunmap_local(mem);
		cond_resched();
	}
}

/* Returns how many bytes it got to copy. */
static size_t radeon_gem_rw_copy_atomic(struct radeon_gem_rw *rw,
					struct radeon_gem_rw_view *view,
					size_t len)
{
	size_t pos, n, missed;
	void *mem;

	for (pos = 0; pos < len; pos += n - missed) {
		n = min(len - pos, radeon_gem_rw_page_left(rw, pos));
		if (view->io)
			mem = (void __force *)view->io + pos;
		else
			mem = radeon_gem_rw_map_page(rw, view, pos);

		pagefault_disable();
		if (rw->write)
			missed = __copy_from_user_inatomic(mem, rw->user + pos, n);
		else
			missed = __copy_to_user_inatomic(rw->user + pos, mem, n);
		pagefault_enable();

		if (!view->io)
			kunmap_local(mem);
		if (missed) {
			pos += n - missed;
			break;
		}
	}

	return pos;
}

/*
 * Can the functions that access user memory access the BO, and is it a good
 * idea? I/O memory is like any other for stores on x86 only. Loads that are not
 * cached have to be as large as possible.
 */
static bool radeon_gem_rw_suits_atomic(struct radeon_gem_rw *rw)
{
	struct ttm_buffer_object *tbo = &rw->bo->tbo;
	bool io = tbo->resource->mem_type == TTM_PL_VRAM ||
		!radeon_gem_rw_has_direct_pages(rw);

	if (rw->write)
		return !io || IS_ENABLED(CONFIG_X86);

	return !io && tbo->ttm->caching == ttm_cached;
}

/*
 * The chunk functions below transfer some bytes from the current position on.
 * They return how many, or a negative error code. The first two return 0 if
 * the bytes can not be transferred in their way.
 */

static ssize_t radeon_gem_rw_chunk_atomic(struct radeon_gem_rw *rw)
{
	struct radeon_gem_rw_view view;
	size_t done = 0;
	int r;

	/*
	 * There is no such thing for a read that would be as cheap as just
	 * trying, and fault_in_writeable() clobbers bytes.
	 */
	if (rw->write && fault_in_readable(rw->user, rw->left))
		return -EFAULT;

	r = radeon_gem_rw_begin(rw, rw->left);
	if (r)
		return r;

	if (!radeon_gem_rw_suits_atomic(rw))
		goto out_end;

	r = radeon_gem_rw_view_init(rw, rw->left, &view);
	if (r)
		goto out_end;

	done = radeon_gem_rw_copy_atomic(rw, &view, rw->left);
	radeon_gem_rw_view_fini(rw, &view);

out_end:
	radeon_gem_rw_end(rw);
	return r ?: done;
}

static ssize_t radeon_gem_rw_chunk_pinned(struct radeon_gem_rw *rw)
{
	struct page *pages[RADEON_GEM_RW_BATCH_PAGES];
	unsigned long start = (unsigned long)rw->user;
	struct radeon_gem_rw_view view;
	int r, count, pinned;
	size_t len;

	count = min_t(size_t, RADEON_GEM_RW_BATCH_PAGES,
		      PFN_UP(offset_in_page(start) + rw->left));
	pinned = pin_user_pages_fast(start, count, rw->write ? 0 : FOLL_WRITE,
				     pages);
	if (pinned == -ENOMEM || pinned == -EINTR)
		return pinned;
	if (pinned <= 0)
		return 0;

	len = min(rw->left, pinned * PAGE_SIZE - offset_in_page(start));

	r = radeon_gem_rw_begin(rw, len);
	if (r)
		goto out_unpin;

	r = radeon_gem_rw_view_init(rw, len, &view);
	if (r)
		goto out_end;

	radeon_gem_rw_copy_pages(rw, &view, pages, len);
	radeon_gem_rw_view_fini(rw, &view);

out_end:
	radeon_gem_rw_end(rw);
out_unpin:
	unpin_user_pages_dirty_lock(pages, pinned, !rw->write && !r);
	return r ?: len;
}

static ssize_t radeon_gem_rw_chunk_bounce(struct radeon_gem_rw *rw)
{
	struct radeon_gem_rw_view view;
	size_t len;
	void *mem;
	int r;

	if (!rw->bounce) {
		rw->bounce_size = min(rw->left, RADEON_GEM_RW_BOUNCE_SIZE);
		rw->bounce = kvmalloc(rw->bounce_size + RADEON_GEM_RW_WC_ALIGN,
				      GFP_KERNEL);
		if (!rw->bounce)
			return -ENOMEM;
	}
	/* Aligned as the BO's bytes are, which makes loads fast. */
	mem = rw->bounce + rw->offset % RADEON_GEM_RW_WC_ALIGN;
	len = min(rw->left, rw->bounce_size);

	if (rw->write) {
		len -= copy_from_user(mem, rw->user, len);
		if (!len)
			return -EFAULT;
	}

	r = radeon_gem_rw_begin(rw, len);
	if (r)
		return r;

	r = radeon_gem_rw_view_init(rw, len, &view);
	if (!r) {
		radeon_gem_rw_copy_buffer(rw, &view, mem, len);
		radeon_gem_rw_view_fini(rw, &view);
	}
	radeon_gem_rw_end(rw);
	if (r)
		return r;

	if (!rw->write) {
		len -= copy_to_user(rw->user, mem, len);
		if (!len)
			return -EFAULT;
	}

	return len;
}

/**
 * radeon_gem_rw_copy - do a transfer
 * @rw: the transfer, all of whose arguments have been checked
 *
 * Must be called with nothing held. @rw ends up at the first byte that was not
 * transferred.
 *
 * Returns:
 * 0 if everything was transferred, or a negative error code: -EFAULT if user
 * memory can not be accessed, or what radeon_gem_rw_begin() returns.
 */
int radeon_gem_rw_copy(struct radeon_gem_rw *rw)
{
	ssize_t done = 0;

	while (rw->left) {
		if (rw->left <= RADEON_GEM_RW_ATOMIC_MAX)
			done = radeon_gem_rw_chunk_atomic(rw);
		else
			done = radeon_gem_rw_chunk_pinned(rw);
		if (!done)
			done = radeon_gem_rw_chunk_bounce(rw);
		if (done < 0)
			break;

		rw->offset += done;
		rw->user += done;
		rw->left -= done;

		if (rw->left && fatal_signal_pending(current)) {
			done = -ERESTARTSYS;
			break;
		}
		cond_resched();
	}

	kvfree(rw->bounce);
	rw->bounce = NULL;

	return min_t(ssize_t, done, 0);
}
