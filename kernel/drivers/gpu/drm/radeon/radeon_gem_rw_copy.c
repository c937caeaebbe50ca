// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: the choice of the path,
 * and moving bytes between user memory and BOs with the CPU. When a BO may be
 * touched, and the order of locks, is in radeon_gem_rw.c.
 *
 * The CPU uses user memory in one of three ways:
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
#include <drm/radeon_drm.h>
#include <drm/radeon_drm_rw.h>
#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_placement.h>
#include <drm/ttm/ttm_tt.h>

#include "radeon.h"
#include "radeon_gem_rw.h"

/*
 * struct radeon_gem_rw_view - how the CPU sees bytes of a BO
 *
 * Valid between radeon_gem_rw_begin() and radeon_gem_rw_end().
 */
struct radeon_gem_rw_view {
	/* Offset of the first byte in the BO. */
	u64 offset;
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
 * radeon_gem_rw_copy_fini - release the mapping of the aperture
 * @rdev: the device
 *
 * No transfer can be under way any more.
 */
void radeon_gem_rw_copy_fini(struct radeon_device *rdev)
{
	if (rdev->mman.aperture)
		iounmap(rdev->mman.aperture);
	rdev->mman.aperture = NULL;
}

/**
 * radeon_gem_rw_map_vram - get at VRAM that the CPU can reach
 * @rdev: the device
 * @start: offset of the first byte in VRAM
 * @len: number of bytes
 * @iomap: returned: what to iounmap() afterwards, or NULL
 *
 * Returns:
 * The first byte, write-combined, or NULL if there is no memory.
 */
void __iomem *radeon_gem_rw_map_vram(struct radeon_device *rdev, u64 start,
				     u64 len, void __iomem **iomap)
{
	void __iomem *aperture = radeon_gem_rw_aperture(rdev);
	size_t in_page = offset_in_page(start);

	*iomap = NULL;
	if (aperture)
		return aperture + start;

	*iomap = ioremap_wc(rdev->mc.aper_base + start - in_page, in_page + len);

	return *iomap ? *iomap + in_page : NULL;
}

static int radeon_gem_rw_view_vram(struct radeon_gem_rw *rw, u64 offset,
				   u64 len, struct radeon_gem_rw_view *view)
{
	u64 start = ((u64)rw->bo->tbo.resource->start << PAGE_SHIFT) + offset;

	view->io = radeon_gem_rw_map_vram(rw->rdev, start, len, &view->iomap);
	if (!view->io)
		return -ENOMEM;
	view->uncached = true;

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

static int radeon_gem_rw_view_system(struct radeon_gem_rw *rw, u64 offset,
				     u64 len, struct radeon_gem_rw_view *view)
{
	struct ttm_buffer_object *tbo = &rw->bo->tbo;
	size_t in_page = offset_in_page(offset);
	bool is_iomem;
	int r;

	view->uncached = tbo->ttm->caching != ttm_cached;

	if (radeon_gem_rw_has_direct_pages(rw)) {
		view->pages = tbo->ttm->pages + (offset >> PAGE_SHIFT);
		return 0;
	}

	/*
	 * Taken for I/O memory whatever it is, as uncached memory does not bear
	 * unaligned accesses on all architectures.
	 */
	r = ttm_bo_kmap(tbo, offset >> PAGE_SHIFT, PFN_UP(in_page + len),
			&view->kmap);
	if (r)
		return r;
	view->io = (void __force __iomem *)
		ttm_kmap_obj_virtual(&view->kmap, &is_iomem) + in_page;

	return 0;
}

/* View @len bytes of the BO at @offset. */
static int radeon_gem_rw_view_init(struct radeon_gem_rw *rw, u64 offset,
				   u64 len, struct radeon_gem_rw_view *view)
{
	*view = (struct radeon_gem_rw_view) { .offset = offset };

	if (rw->bo->tbo.resource->mem_type == TTM_PL_VRAM)
		return radeon_gem_rw_view_vram(rw, offset, len, view);

	return radeon_gem_rw_view_system(rw, offset, len, view);
}

static void radeon_gem_rw_view_fini(struct radeon_gem_rw_view *view)
{
	if (view->iomap)
		iounmap(view->iomap);
	else if (view->kmap.virtual)
		ttm_bo_kunmap(&view->kmap);
}

/*
 * Map the bytes at @pos of a view that has pages. They may be used to the end
 * of the page.
 */
static void *radeon_gem_rw_map_page(struct radeon_gem_rw_view *view, size_t pos)
{
	size_t byte = offset_in_page(view->offset) + pos;

	return kmap_local_page(view->pages[byte >> PAGE_SHIFT]) +
		offset_in_page(byte);
}

/* Bytes from @pos to the end of its page in the BO. */
static size_t radeon_gem_rw_page_left(struct radeon_gem_rw_view *view, size_t pos)
{
	return PAGE_SIZE - offset_in_page(view->offset + pos);
}

/* Load from uncached memory in units as large as possible. */
static void radeon_gem_rw_load(void *dst, const void __iomem *src, size_t len)
{
	size_t misaligned = (uintptr_t)src % RADEON_GEM_RW_SLOT_ALIGN;
	struct iosys_map dst_map, src_map;
	size_t head, body;

	if ((uintptr_t)dst % RADEON_GEM_RW_SLOT_ALIGN != misaligned) {
		memcpy_fromio(dst, src, len);
		return;
	}

	head = min(len, misaligned ? RADEON_GEM_RW_SLOT_ALIGN - misaligned : 0);
	memcpy_fromio(dst, src, head);
	dst += head;
	src += head;
	len -= head;

	body = rounddown(len, RADEON_GEM_RW_SLOT_ALIGN);
	iosys_map_set_vaddr(&dst_map, dst);
	iosys_map_set_vaddr_iomem(&src_map, (void __iomem *)src);
	drm_memcpy_from_wc(&dst_map, &src_map, body);

	memcpy_fromio(dst + body, src + body, len - body);
}

/*
 * Store to I/O memory. On x86 that is write-combined memory like any other, and
 * memcpy() is the faster one, as it knows the CPU.
 */
static void radeon_gem_rw_store(void __iomem *dst, const void *src, size_t len)
{
	if (IS_ENABLED(CONFIG_X86))
		memcpy((void __force *)dst, src, len);
	else
		memcpy_toio(dst, src, len);
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
		page = radeon_gem_rw_map_page(view, pos);
		io = (void __force __iomem *)page;
	}

	if (rw->write && page)
		memcpy(page, mem, len);
	else if (rw->write)
		radeon_gem_rw_store(io, mem, len);
	else if (view->uncached)
		radeon_gem_rw_load(mem, io, len);
	else if (page)
		memcpy(mem, page, len);
	else
		memcpy_fromio(mem, io, len);

	if (page)
		kunmap_local(page);
}

/*
 * What can be copied in one go
 */

/**
 * radeon_gem_rw_span_init - look at the bytes that come next
 * @rw: the transfer, which is not at its end
 * @max_len: most bytes to transfer
 * @max_slots: most bytes in a buffer, a multiple of RADEON_GEM_RW_SLOT_ALIGN
 *	that is larger than it
 * @span: returned: what is to be transferred within these bounds
 */
void radeon_gem_rw_span_init(const struct radeon_gem_rw *rw, u64 max_len,
			     size_t max_slots, struct radeon_gem_rw_span *span)
{
	struct radeon_gem_rw_pos pos = rw->pos;
	struct radeon_gem_rw_piece piece;
	u64 max;

	*span = (struct radeon_gem_rw_span) { .start = U64_MAX, .dwords = true };

	while (pos.region < rw->count && span->len < max_len &&
	       span->slots < max_slots &&
	       span->pieces < RADEON_GEM_RW_MAX_PIECES) {
		radeon_gem_rw_peek(rw, &pos, max_len - span->len, &piece);
		max = max_slots - span->slots -
			piece.offset % RADEON_GEM_RW_SLOT_ALIGN;
		piece.len = min(piece.len, max);

		span->len += piece.len;
		span->slots += radeon_gem_rw_slot(&piece);
		span->start = min(span->start, piece.offset);
		span->end = max(span->end, piece.offset + piece.len);
		span->pieces++;
		span->dwords &= IS_ALIGNED(piece.offset | piece.len, 4);

		radeon_gem_rw_step(rw, &pos, piece.len);
	}
}

/*
 * User memory
 */

/**
 * radeon_gem_rw_fault_in - make user memory that is going to be read accessible
 * @rw: the transfer
 * @len: number of bytes from the transfer's current position on
 *
 * Must be called with nothing held.
 *
 * Returns:
 * How many bytes are accessible.
 */
u64 radeon_gem_rw_fault_in(const struct radeon_gem_rw *rw, u64 len)
{
	unsigned long start, end, first = 0, last = 0;
	struct radeon_gem_rw_pos pos = rw->pos;
	struct radeon_gem_rw_piece piece;
	u64 done;

	for (done = 0; done < len; done += piece.len) {
		radeon_gem_rw_peek(rw, &pos, len - done, &piece);
		radeon_gem_rw_step(rw, &pos, piece.len);

		/* Many small pieces can share a page. */
		start = (unsigned long)piece.user;
		end = start + piece.len;
		if (start >= first && end <= last)
			continue;

		if (fault_in_readable(piece.user, piece.len))
			break;
		first = PAGE_ALIGN_DOWN(start);
		last = PAGE_ALIGN(end);
	}

	return done;
}

/**
 * radeon_gem_rw_gather - copy from user memory to slots
 * @rw: the transfer
 * @mem: memory with one slot after the other, see radeon_gem_rw_slot()
 * @len: number of bytes from the transfer's current position on
 * @atomic: page faults can not be handled
 *
 * Returns:
 * How many bytes were copied.
 */
u64 radeon_gem_rw_gather(const struct radeon_gem_rw *rw, void *mem, u64 len,
			 bool atomic)
{
	struct radeon_gem_rw_pos pos = rw->pos;
	struct radeon_gem_rw_piece piece;
	size_t missed = 0;
	void *bytes;
	u64 done;

	for (done = 0; done < len && !missed; done += piece.len - missed) {
		radeon_gem_rw_peek(rw, &pos, len - done, &piece);
		radeon_gem_rw_step(rw, &pos, piece.len);
		bytes = mem + piece.offset % RADEON_GEM_RW_SLOT_ALIGN;
		mem += radeon_gem_rw_slot(&piece);

		if (atomic) {
			pagefault_disable();
			missed = __copy_from_user_inatomic(bytes, piece.user,
							   piece.len);
			pagefault_enable();
		} else {
			missed = copy_from_user(bytes, piece.user, piece.len);
		}
	}

	return done;
}

/**
 * radeon_gem_rw_scatter - copy from slots to user memory
 * @rw: the transfer
 * @mem: memory with one slot after the other, see radeon_gem_rw_slot()
 * @len: number of bytes from the transfer's current position on
 * @atomic: page faults can not be handled
 *
 * Returns:
 * How many bytes were copied.
 */
u64 radeon_gem_rw_scatter(const struct radeon_gem_rw *rw, const void *mem,
			  u64 len, bool atomic)
{
	struct radeon_gem_rw_pos pos = rw->pos;
	struct radeon_gem_rw_piece piece;
	const void *bytes;
	size_t missed = 0;
	u64 done;

	for (done = 0; done < len && !missed; done += piece.len - missed) {
		radeon_gem_rw_peek(rw, &pos, len - done, &piece);
		radeon_gem_rw_step(rw, &pos, piece.len);
		bytes = mem + piece.offset % RADEON_GEM_RW_SLOT_ALIGN;
		mem += radeon_gem_rw_slot(&piece);

		if (atomic) {
			pagefault_disable();
			missed = __copy_to_user_inatomic(piece.user, bytes,
							 piece.len);
			pagefault_enable();
		} else {
			missed = copy_to_user(piece.user, bytes, piece.len);
		}
	}

	return done;
}

/**
 * radeon_gem_rw_bounce_get - get a buffer for user memory
 * @rw: the transfer, whose &radeon_gem_rw.bounce is set
 *
 * radeon_gem_rw_copy() frees it.
 *
 * Returns:
 * 0, or -ENOMEM.
 */
int radeon_gem_rw_bounce_get(struct radeon_gem_rw *rw)
{
	struct radeon_gem_rw_span span;

	if (rw->bounce)
		return 0;

	radeon_gem_rw_span_init(rw, rw->left, RADEON_GEM_RW_BOUNCE_SIZE, &span);
	rw->bounce = kvmalloc(max(span.slots, SZ_4K), GFP_KERNEL);
	if (!rw->bounce)
		return -ENOMEM;
	rw->bounce_size = max(span.slots, SZ_4K);

	return 0;
}

/*
 * Copying
 */

/* Copy between the BO and slots. */
static int radeon_gem_rw_copy_slots(struct radeon_gem_rw *rw, void *mem, u64 len)
{
	struct radeon_gem_rw_pos at = rw->pos;
	struct radeon_gem_rw_piece piece;
	struct radeon_gem_rw_view view;
	size_t pos, n;
	void *bytes;
	int r;

	for (; len; len -= piece.len) {
		radeon_gem_rw_peek(rw, &at, len, &piece);
		radeon_gem_rw_step(rw, &at, piece.len);
		bytes = mem + piece.offset % RADEON_GEM_RW_SLOT_ALIGN;
		mem += radeon_gem_rw_slot(&piece);

		r = radeon_gem_rw_view_init(rw, piece.offset, piece.len, &view);
		if (r)
			return r;
		for (pos = 0; pos < piece.len; pos += n) {
			n = min_t(u64, piece.len - pos,
				  radeon_gem_rw_page_left(&view, pos));
			radeon_gem_rw_copy_piece(rw, &view, pos, bytes + pos, n);
			cond_resched();
		}
		radeon_gem_rw_view_fini(&view);
	}

	return 0;
}

/* Copy between the BO and pinned pages, whose first byte is at @in_page. */
static void radeon_gem_rw_copy_pages(struct radeon_gem_rw *rw,
				     struct radeon_gem_rw_view *view,
				     struct page **pages, size_t in_page,
				     size_t len)
{
	struct page *page;
	size_t pos, n;
	void *mem;

	for (pos = 0; pos < len; pos += n) {
		n = min3(len - pos, radeon_gem_rw_page_left(view, pos),
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

/* Returns how many bytes of a piece it got to copy. */
static u64 radeon_gem_rw_copy_atomic(struct radeon_gem_rw *rw,
				     struct radeon_gem_rw_view *view,
				     const struct radeon_gem_rw_piece *piece)
{
	size_t pos, n, missed = 0;
	void *mem;

	for (pos = 0; pos < piece->len && !missed; pos += n - missed) {
		n = piece->len - pos;
		if (view->io) {
			mem = (void __force *)view->io + pos;
		} else {
			n = min(n, radeon_gem_rw_page_left(view, pos));
			mem = radeon_gem_rw_map_page(view, pos);
		}

		pagefault_disable();
		if (rw->write)
			missed = __copy_from_user_inatomic(mem, piece->user + pos, n);
		else
			missed = __copy_to_user_inatomic(piece->user + pos, mem, n);
		pagefault_enable();

		if (!view->io)
			kunmap_local(mem);
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
	struct radeon_gem_rw_pos at = rw->pos;
	struct radeon_gem_rw_piece piece;
	struct radeon_gem_rw_span span;
	struct radeon_gem_rw_view view;
	u64 len, done = 0, n = 0;
	int r;

	radeon_gem_rw_span_init(rw, RADEON_GEM_RW_CHUNK_MAX,
				RADEON_GEM_RW_CHUNK_MAX, &span);
	len = span.len;

	/*
	 * There is no such thing for a read that would be as cheap as just
	 * trying, and fault_in_writeable() clobbers bytes.
	 */
	if (rw->write) {
		len = radeon_gem_rw_fault_in(rw, len);
		if (!len)
			return -EFAULT;
	}

	r = radeon_gem_rw_begin(rw, &span);
	if (r)
		return r;

	if (!radeon_gem_rw_suits_atomic(rw))
		goto out_end;

	for (; done < len; done += n) {
		radeon_gem_rw_peek(rw, &at, len - done, &piece);
		r = radeon_gem_rw_view_init(rw, piece.offset, piece.len, &view);
		if (r)
			break;

		n = radeon_gem_rw_copy_atomic(rw, &view, &piece);
		radeon_gem_rw_view_fini(&view);
		if (n < piece.len) {
			done += n;
			break;
		}
		radeon_gem_rw_step(rw, &at, n);
		cond_resched();
	}

	if (!done && !r)
		radeon_gem_rw_event(rw->rdev->gem_rw, RADEON_GEM_RW_NOT_RESIDENT);
out_end:
	radeon_gem_rw_end(rw);
	radeon_gem_rw_count(rw->rdev->gem_rw, RADEON_GEM_RW_ATOMIC, done);
	return done ?: r;
}

static ssize_t radeon_gem_rw_chunk_pinned(struct radeon_gem_rw *rw)
{
	struct page *pages[RADEON_GEM_RW_BATCH_PAGES];
	struct radeon_gem_rw_piece piece;
	struct radeon_gem_rw_span span;
	struct radeon_gem_rw_view view;
	int r, count, pinned;
	unsigned long start;
	size_t in_page;

	radeon_gem_rw_peek(rw, &rw->pos, rw->left, &piece);
	start = (unsigned long)piece.user;
	in_page = offset_in_page(start);
	count = min_t(u64, RADEON_GEM_RW_BATCH_PAGES,
		      (in_page + piece.len + PAGE_SIZE - 1) >> PAGE_SHIFT);
	pinned = pin_user_pages_fast(start, count, rw->write ? 0 : FOLL_WRITE,
				     pages);
	if (pinned == -ENOMEM || pinned == -EINTR)
		return pinned;
	if (pinned <= 0) {
		radeon_gem_rw_event(rw->rdev->gem_rw, RADEON_GEM_RW_NOT_PINNED);
		return 0;
	}

	piece.len = min_t(u64, piece.len, pinned * PAGE_SIZE - in_page);
	radeon_gem_rw_span_init(rw, piece.len, SIZE_MAX, &span);

	r = radeon_gem_rw_begin(rw, &span);
	if (r)
		goto out_unpin;

	r = radeon_gem_rw_view_init(rw, piece.offset, piece.len, &view);
	if (r)
		goto out_end;

	radeon_gem_rw_copy_pages(rw, &view, pages, in_page, piece.len);
	radeon_gem_rw_view_fini(&view);
	radeon_gem_rw_count(rw->rdev->gem_rw, RADEON_GEM_RW_PINNED, piece.len);

out_end:
	radeon_gem_rw_end(rw);
out_unpin:
	unpin_user_pages_dirty_lock(pages, pinned, !rw->write && !r);
	return r ?: piece.len;
}

static ssize_t radeon_gem_rw_chunk_bounce(struct radeon_gem_rw *rw)
{
	struct radeon_gem_rw_span span;
	u64 len;
	int r;

	r = radeon_gem_rw_bounce_get(rw);
	if (r)
		return r;

	radeon_gem_rw_span_init(rw, rw->left, rw->bounce_size, &span);
	len = span.len;

	if (rw->write) {
		len = radeon_gem_rw_gather(rw, rw->bounce, len, false);
		if (!len)
			return -EFAULT;
	}

	r = radeon_gem_rw_begin(rw, &span);
	if (r)
		return r;

	r = radeon_gem_rw_copy_slots(rw, rw->bounce, len);
	radeon_gem_rw_end(rw);
	if (r)
		return r;

	if (!rw->write) {
		len = radeon_gem_rw_scatter(rw, rw->bounce, len, false);
		if (!len)
			return -EFAULT;
	}

	radeon_gem_rw_count(rw->rdev->gem_rw, RADEON_GEM_RW_BOUNCE, len);
	return len;
}

/*
 * A large copy to or from VRAM, for which it is fine to wait in a ring: the
 * call waits for it.
 */
static bool radeon_gem_rw_suits_zero_copy(const struct radeon_gem_rw *rw,
					  const struct radeon_gem_rw_piece *piece)
{
	return rw->in_vram && rw->rdev->gem_rw->stage &&
		piece->len >= READ_ONCE(radeon_gem_rw_zero_copy_min) &&
		!(rw->flags & (RADEON_GEM_RW_UNSYNCHRONIZED |
			       RADEON_GEM_RW_NOWAIT));
}

/*
 * The choice of the path. What is possible is tried in this order:
 *
 * - the GPU straight from or to user memory, if a piece is large
 * - the GPU by way of the staging area, where radeon_gem_rw_suits_gpu() wants
 *   it. Usually that is only known once the BO is locked. But whoever was right
 *   for one chunk is asked first for the next.
 * - small pieces straight between user memory and BO, large ones by pinning
 * - by way of a buffer, which is always possible
 */
static ssize_t radeon_gem_rw_chunk(struct radeon_gem_rw *rw)
{
	struct radeon_gem_rw_piece piece;
	bool bounce = false;
	ssize_t done;

	radeon_gem_rw_peek(rw, &rw->pos, rw->left, &piece);
	rw->use_gpu = true;

	if (radeon_gem_rw_suits_zero_copy(rw, &piece)) {
		done = radeon_gem_rw_chunk_zero_copy(rw);
		if (done)
			return done;
		rw->in_vram = false;
	}

	for (;;) {
		if (rw->try_gpu)
			done = RADEON_GEM_RW_USE_GPU;
		else if (bounce)
			done = radeon_gem_rw_chunk_bounce(rw);
		else if (piece.len > READ_ONCE(radeon_gem_rw_atomic_max))
			done = radeon_gem_rw_chunk_pinned(rw);
		else
			done = radeon_gem_rw_chunk_atomic(rw);

		if (done == RADEON_GEM_RW_USE_GPU) {
			done = radeon_gem_rw_chunk_staged(rw);
			rw->try_gpu = done > 0;
			rw->use_gpu = false;
		} else {
			bounce = true;
		}

		if (done)
			return done;
	}
}

/*
 * Errors of user memory come before -EBUSY. Not all ways to copy have looked
 * at user memory by then.
 */
static int radeon_gem_rw_busy_or_fault(const struct radeon_gem_rw *rw)
{
	struct radeon_gem_rw_piece piece;
	size_t missed;

	radeon_gem_rw_peek(rw, &rw->pos, RADEON_GEM_RW_BATCH_PAGES * PAGE_SIZE,
			   &piece);
	if (rw->write)
		missed = fault_in_readable(piece.user, piece.len);
	else
		missed = fault_in_safe_writeable(piece.user, piece.len);

	return missed ? -EFAULT : -EBUSY;
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
	struct radeon_gem_rw_piece piece;
	ssize_t done = 0;

	while (rw->left) {
		done = radeon_gem_rw_chunk(rw);
		if (done < 0)
			break;

		rw->left -= done;
		while (done) {
			radeon_gem_rw_peek(rw, &rw->pos, done, &piece);
			radeon_gem_rw_step(rw, &rw->pos, piece.len);
			done -= piece.len;
		}

		if (rw->left && fatal_signal_pending(current)) {
			done = -ERESTARTSYS;
			break;
		}
		cond_resched();
	}

	kvfree(rw->bounce);
	rw->bounce = NULL;

	if (done == -EBUSY)
		return radeon_gem_rw_busy_or_fault(rw);

	return min_t(ssize_t, done, 0);
}
