// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: copies by the CPU.
 *
 * The BO is held, see radeon_gem_rw_hold(). User memory is accessed with page faults
 * disabled. If it is not resident, it is faulted in before the next try.
 */

#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/iosys-map.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_cache.h>
#include <drm/ttm/ttm_tt.h>

#include "radeon.h"
#include "radeon_reg.h"
#include "radeon_gem_rw.h"

/* Bytes of the buffers for uncached loads: on the stack, and for longer pieces. */
#define RADEON_GEM_RW_STACK_BUFFER	512
#define RADEON_GEM_RW_BUFFER		SZ_8K

/* Bytes of a BO that the CPU can access. */
struct radeon_gem_rw_mapping {
	void *mem;			/* the first byte; I/O memory if io is set */
	bool io;
	u64 vram;			/* without mem: offset in VRAM, for registers */
	bool uncached;			/* small loads are slow */
	void *page;			/* for kunmap_local(), or NULL */
	struct ttm_bo_kmap_obj kmap;
};

/*
 * Flush the CPU's writes to VRAM out of the host data path, for work whose submission
 * does not flush it: moves of BOs, which are reserved.
 */
void radeon_gem_rw_flush_hdp(struct radeon_device *rdev)
{
	struct radeon_gem_rw_state *state = rdev->gem_rw;

	if (state && READ_ONCE(state->hdp_dirty) &&
	    xchg(&state->hdp_dirty, false) && rdev->asic->mmio_hdp_flush)
		rdev->asic->mmio_hdp_flush(rdev);
}

/*
 * Prepare for accesses to VRAM. Before R600, the CPU sees tiled surfaces through
 * surface registers. Loads must not get bytes that the host data path has kept from
 * before writes by the GPU, so flush it.
 */
static void radeon_gem_rw_prepare_vram(struct radeon_gem_rw *rw, bool load)
{
	struct radeon_device *rdev = rw->rdev;

	radeon_bo_check_tiling(rw->bo, 0, 0);

	if (rw->write)
		WRITE_ONCE(rdev->gem_rw->hdp_dirty, true);
	if (load && rdev->asic->mmio_hdp_flush) {
		rdev->asic->mmio_hdp_flush(rdev);
		/* The flush is posted; no load may be done before it. */
		mb();
	}
}

/*
 * Does the kernel's own mapping of the pages have the caching mode of the BO? On x86-64
 * it does: the mapping is permanent there, and TTM changes its caching mode. So no cache
 * holds bytes of write-combined and uncached BOs, and the CPU and the GPU, which does not
 * snoop for such BOs, agree about the contents.
 */
static bool radeon_gem_rw_has_direct_pages(struct radeon_gem_rw *rw)
{
	struct ttm_tt *tt = rw->bo->tbo.ttm;

	if (rw->rdev->flags & RADEON_IS_AGP || tt->page_flags & TTM_TT_FLAG_DECRYPTED)
		return false;

	return tt->caching == ttm_cached || IS_ENABLED(CONFIG_X86_64);
}

/* Map bytes from @offset on. Returns how many of @len, or 0 if out of memory. */
static size_t radeon_gem_rw_map(struct radeon_gem_rw *rw, u64 offset, size_t len,
				struct radeon_gem_rw_mapping *map)
{
	struct ttm_buffer_object *tbo = &rw->bo->tbo;
	size_t in_page = offset_in_page(offset);
	struct page **page;
	bool is_iomem;
	size_t n;

	map->page = NULL;
	map->kmap.virtual = NULL;
	map->mem = NULL;

	if (rw->look & RADEON_GEM_RW_IS_VRAM) {
		map->io = true;
		map->uncached = true;
		map->vram = offset + ((u64)tbo->resource->start << PAGE_SHIFT);
		if (rw->look & RADEON_GEM_RW_IS_HIDDEN)
			return min_t(size_t, len, RADEON_GEM_RW_STACK_BUFFER);
		if (rw->rdev->gem_rw->aperture) {
			map->mem = (void __force *)rw->rdev->gem_rw->aperture +
				map->vram;
			return len;
		}
	} else {
		map->uncached = tbo->ttm->caching != ttm_cached;
		map->io = !radeon_gem_rw_has_direct_pages(rw);
	}

	if (map->io) {
		/*
		 * Treat all of it as I/O memory, as some architectures do not
		 * allow unaligned accesses to uncached memory.
		 */
		if (ttm_bo_kmap(tbo, offset >> PAGE_SHIFT, PFN_UP(in_page + len),
				&map->kmap))
			return 0;
		map->mem = ttm_kmap_obj_virtual(&map->kmap, &is_iomem) + in_page;
		return len;
	}

	page = &tbo->ttm->pages[offset >> PAGE_SHIFT];
	map->page = kmap_local_page(*page);
	map->mem = map->page + in_page;

	/* Without high memory, contiguous pages have contiguous addresses there, too. */
	n = PAGE_SIZE - in_page;
	if (!IS_ENABLED(CONFIG_HIGHMEM)) {
		for (; n < len; n += PAGE_SIZE, page++) {
			if (page_to_pfn(page[1]) != page_to_pfn(page[0]) + 1)
				break;
		}
	}

	return min(n, len);
}

static void radeon_gem_rw_unmap(struct radeon_gem_rw_mapping *map)
{
	if (map->page)
		kunmap_local(map->page);
	if (map->kmap.virtual)
		ttm_bo_kunmap(&map->kmap);
}

/* Load from uncached memory in units as large as possible. */
static void radeon_gem_rw_load(void *dst, const void __iomem *src, size_t len)
{
	size_t head = -(uintptr_t)src % RADEON_GEM_RW_SLOT_ALIGN;
	struct iosys_map dst_map, src_map;
	size_t body;

	head = min(len, head);
	memcpy_fromio(dst, src, head);

	body = rounddown(len - head, RADEON_GEM_RW_SLOT_ALIGN);
	iosys_map_set_vaddr(&dst_map, dst + head);
	iosys_map_set_vaddr_iomem(&src_map, (void __iomem *)src + head);
	drm_memcpy_from_wc(&dst_map, &src_map, body);

	head += body;
	memcpy_fromio(dst + head, src + head, len - head);
}

/*
 * Copy to or from VRAM at @pos through a window of registers, a dword at a time.
 * That is slow, but reaches all of VRAM. A dword of which only a part is written is
 * read first.
 */
static void radeon_gem_rw_copy_indirect(struct radeon_gem_rw *rw, u64 pos,
					u8 *bytes, size_t len)
{
	struct radeon_device *rdev = rw->rdev;
	size_t in_dword, n;
	unsigned long flags;
	__le32 dword;

	for (; len; len -= n, pos += n, bytes += n) {
		in_dword = pos % sizeof(dword);
		n = min(len, sizeof(dword) - in_dword);

		spin_lock_irqsave(&rdev->mmio_idx_lock, flags);
		WREG32(RADEON_MM_INDEX, lower_32_bits(pos - in_dword) | 0x80000000);
		if (rdev->family >= CHIP_CEDAR)
			WREG32(EVERGREEN_MM_INDEX_HI, pos >> 31);
		if (!rw->write || n < sizeof(dword))
			dword = cpu_to_le32(RREG32(RADEON_MM_DATA));
		if (rw->write) {
			memcpy((u8 *)&dword + in_dword, bytes, n);
			WREG32(RADEON_MM_DATA, le32_to_cpu(dword));
		}
		spin_unlock_irqrestore(&rdev->mmio_idx_lock, flags);

		if (!rw->write)
			memcpy(bytes, (u8 *)&dword + in_dword, n);
	}
}

/* Copy by way of a buffer. Returns how many bytes were not copied. */
static size_t radeon_gem_rw_copy_buffered(struct radeon_gem_rw *rw,
					  struct radeon_gem_rw_mapping *map,
					  char __user *user, size_t len)
{
	char stack[RADEON_GEM_RW_STACK_BUFFER] __aligned(RADEON_GEM_RW_SLOT_ALIGN);
	void __iomem *io = (void __force __iomem *)map->mem;
	size_t n, missed = 0, size = sizeof(stack);
	char *slot, *buffer = stack;
	u64 vram = map->vram;

	if (len > size && !rw->buffer)
		rw->buffer = kmalloc(RADEON_GEM_RW_BUFFER, GFP_KERNEL | __GFP_NOWARN);
	if (len > size && rw->buffer) {
		buffer = rw->buffer;
		size = RADEON_GEM_RW_BUFFER;
	}

	for (; len && !missed; len -= n) {
		slot = buffer + (map->mem ? (uintptr_t)io : vram) % RADEON_GEM_RW_SLOT_ALIGN;
		n = min_t(size_t, len, buffer + size - slot);
		if (rw->write)
			missed = __copy_from_user_inatomic(slot, user, n);

		if (!map->mem)
			radeon_gem_rw_copy_indirect(rw, vram, slot, n - missed);
		else if (rw->write)
			memcpy_toio(io, slot, n - missed);
		else
			radeon_gem_rw_load(slot, io, n);

		if (!rw->write)
			missed = __copy_to_user_inatomic(user, slot, n);
		io += n;
		vram += n;
		user += n;
	}

	return len + missed;
}

/*
 * Can the functions that access user memory access the BO as well? Not if it is I/O
 * memory, except on x86. There a load of uncached memory is left to drm_memcpy_from_wc()
 * if that has non-temporal loads: with SSE4.1, but not in a virtual machine.
 */
static bool radeon_gem_rw_is_direct(const struct radeon_gem_rw *rw,
				    const struct radeon_gem_rw_mapping *map)
{
#ifdef CONFIG_X86
	return map->mem && (rw->write || !map->uncached ||
			    !boot_cpu_has(X86_FEATURE_XMM4_1) ||
			    boot_cpu_has(X86_FEATURE_HYPERVISOR));
#else
	return !map->io;
#endif
}

/* Returns how many bytes were not copied. */
static size_t radeon_gem_rw_copy_user(struct radeon_gem_rw *rw,
				      struct radeon_gem_rw_mapping *map,
				      char __user *user, size_t len)
{
	size_t missed;

	pagefault_disable();
	if (!radeon_gem_rw_is_direct(rw, map))
		missed = radeon_gem_rw_copy_buffered(rw, map, user, len);
	else if (rw->write)
		missed = __copy_from_user_inatomic(map->mem, user, len);
	else
		missed = __copy_to_user_inatomic(user, map->mem, len);
	pagefault_enable();

	return missed;
}

static ssize_t radeon_gem_rw_cpu_held(struct radeon_gem_rw *rw)
{
	const struct radeon_gem_rw_piece *piece;
	struct radeon_gem_rw_mapping map;
	size_t pos, n, missed = 0;
	u64 done = 0;

	/* Registers are slow, so drop the locks after each page. */
	if (rw->look & RADEON_GEM_RW_IS_HIDDEN)
		radeon_gem_rw_take(rw, PAGE_SIZE);
	if (rw->look & RADEON_GEM_RW_IS_VRAM)
		radeon_gem_rw_prepare_vram(rw, !rw->write ||
					   rw->look & RADEON_GEM_RW_IS_HIDDEN);

	for (piece = rw->pieces; done < rw->len && !missed; piece++) {
		for (pos = 0; pos < piece->len && !missed; pos += n) {
			n = radeon_gem_rw_map(rw, piece->offset + pos,
					      piece->len - pos, &map);
			if (!n)
				return done ?: -ENOMEM;
			missed = radeon_gem_rw_copy_user(rw, &map,
							 piece->user + pos, n);
			radeon_gem_rw_unmap(&map);
		}
		done += pos - missed;
		cond_resched();
	}

	radeon_gem_rw_count(rw->rdev, RADEON_GEM_RW_CPU, done);
	if (missed)
		radeon_gem_rw_missed(rw);

	return done;
}

const struct radeon_gem_rw_path radeon_gem_rw_cpu = {
	.held = radeon_gem_rw_cpu_held,
};
