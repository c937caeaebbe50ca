// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: how the CPU sees the
 * bytes of a BO, and the loads and stores that suit them.
 *
 * A view belongs to a BO that is reserved, and that the CPU can reach where it
 * is: all this is done between radeon_gem_rw_begin() and radeon_gem_rw_end(),
 * which have the locks and the waiting. Only radeon_gem_rw_view_copy_user()
 * touches user memory, with page faults disabled.
 */

#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/iosys-map.h>
#include <linux/mm.h>
#include <linux/uaccess.h>

#include <drm/drm_cache.h>
#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_placement.h>
#include <drm/ttm/ttm_tt.h>

#include "radeon.h"
#include "radeon_gem_rw.h"

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
 * radeon_gem_rw_view_release - release the mapping of the aperture
 * @rdev: the device
 *
 * No transfer can be under way any more.
 */
void radeon_gem_rw_view_release(struct radeon_device *rdev)
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

/**
 * radeon_gem_rw_view_init - begin to view bytes of a BO
 * @rw: the transfer, between radeon_gem_rw_begin() and radeon_gem_rw_end()
 * @offset: offset of the first byte in the BO
 * @len: number of bytes
 * @view: returned: the view, valid until radeon_gem_rw_end()
 *
 * Returns:
 * 0, or -ENOMEM if they can not be mapped.
 */
int radeon_gem_rw_view_init(struct radeon_gem_rw *rw, u64 offset, u64 len,
			    struct radeon_gem_rw_view *view)
{
	view->offset = offset;
	view->io = NULL;
	view->iomap = NULL;
	view->kmap.virtual = NULL;

	if (rw->bo->tbo.resource->mem_type == TTM_PL_VRAM)
		return radeon_gem_rw_view_vram(rw, offset, len, view);

	return radeon_gem_rw_view_system(rw, offset, len, view);
}

/**
 * radeon_gem_rw_view_fini - end a view
 * @view: the view
 */
void radeon_gem_rw_view_fini(struct radeon_gem_rw_view *view)
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
static void *radeon_gem_rw_view_map_page(struct radeon_gem_rw_view *view,
					 size_t pos)
{
	size_t byte = offset_in_page(view->offset) + pos;

	return kmap_local_page(view->pages[byte >> PAGE_SHIFT]) +
		offset_in_page(byte);
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

/**
 * radeon_gem_rw_view_copy - copy between a BO and kernel memory
 * @rw: the transfer
 * @view: view of the BO
 * @pos: first byte in the view
 * @mem: kernel memory
 * @len: number of bytes, not beyond the end of a page of the BO, see
 *	radeon_gem_rw_view_page_left()
 */
void radeon_gem_rw_view_copy(struct radeon_gem_rw *rw,
			     struct radeon_gem_rw_view *view, size_t pos,
			     void *mem, size_t len)
{
	void __iomem *io;
	void *page = NULL;

	if (view->io) {
		io = view->io + pos;
	} else {
		page = radeon_gem_rw_view_map_page(view, pos);
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

/**
 * radeon_gem_rw_view_copy_user - copy between a BO and user memory
 * @rw: the transfer, for which radeon_gem_rw_view_suits_user() is true
 * @view: view of the piece
 * @piece: the piece
 *
 * Page faults are not handled, so this may be called with locks held.
 *
 * Returns:
 * How many bytes were copied.
 */
u64 radeon_gem_rw_view_copy_user(struct radeon_gem_rw *rw,
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
			n = min(n, radeon_gem_rw_view_page_left(view, pos));
			mem = radeon_gem_rw_view_map_page(view, pos);
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

/**
 * radeon_gem_rw_view_suits_user - can BO and user memory be copied directly?
 * @rw: the transfer, whose BO is reserved, and has pages if not in VRAM
 *
 * I/O memory is like any other for stores on x86 only. Loads that are not
 * cached have to be as large as possible, which those of the functions that
 * access user memory are not.
 *
 * Returns:
 * Whether the functions that access user memory can access the BO, and whether
 * that is a good idea.
 */
bool radeon_gem_rw_view_suits_user(struct radeon_gem_rw *rw)
{
	struct ttm_buffer_object *tbo = &rw->bo->tbo;
	bool io = tbo->resource->mem_type == TTM_PL_VRAM ||
		!radeon_gem_rw_has_direct_pages(rw);

	if (rw->write)
		return !io || IS_ENABLED(CONFIG_X86);

	return !io && tbo->ttm->caching == ttm_cached;
}
