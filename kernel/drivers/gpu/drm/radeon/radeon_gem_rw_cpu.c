// SPDX-License-Identifier: MIT
/*
 * Copyright 2026 Seed 7e3b15d1 maintainers
 *
 * Reading and writing GEM objects without mapping them: copies by the CPU.
 *
 * The locks are held, see radeon_gem_rw_lock(). User memory is accessed with page faults
 * disabled. If it is not resident, it is faulted in before the next try.
 */

#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/iosys-map.h>
#include <linux/sched/clock.h>
#include <linux/uaccess.h>

#include <drm/drm_cache.h>
#include <drm/radeon_drm.h>
#include <drm/ttm/ttm_tt.h>

#include "radeon.h"
#include "radeon_gem_rw.h"

/* Bytes of the buffer for uncached loads, which is on the stack. */
#define RADEON_GEM_RW_BUFFER		512

/*
 * A step looks every so many bytes whether it has to end, more often if loads are
 * uncached; and it ends after so many nanoseconds. An uncached load of 64 bytes or, in
 * virtual machines, of 8 takes about a microsecond.
 */
#define RADEON_GEM_RW_CHUNK		SZ_64K
#define RADEON_GEM_RW_CHUNK_UNCACHED	SZ_4K
#define RADEON_GEM_RW_STEP_NS		(200 * NSEC_PER_USEC)

/* Bytes of a BO that the CPU can access. */
struct radeon_gem_rw_mapping {
	void *mem;			/* the first byte; I/O memory if io is set */
	bool io;
	bool uncached;			/* small loads are slow */
	void *page;			/* for kunmap_local(), or NULL */
	struct ttm_bo_kmap_obj kmap;
};

/*
 * Prepare for accesses to VRAM. Before R600, the CPU sees tiled surfaces through
 * surface registers. Loads must not get bytes that the host data path has kept from
 * before writes by the GPU, so flush it: once a call, and again if the call has waited
 * for the GPU, or BOs have been moved. Unsynchronized calls do not know.
 */
static void radeon_gem_rw_prepare_vram(struct radeon_gem_rw *rw)
{
	struct radeon_device *rdev = rw->rdev;
	unsigned int moves = atomic_read(&rdev->vram.moves);

	radeon_bo_check_tiling(rw->bo, 0, 0);

	if (rw->write)
		WRITE_ONCE(rdev->vram.hdp_dirty, true);
	if (!rw->write && !(rw->flushed && rw->moves == moves) && rdev->asic->mmio_hdp_flush) {
		rdev->asic->mmio_hdp_flush(rdev);
		/* The flush is posted; no load may be done before it. */
		mb();
		rw->flushed = !(rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED);
		rw->moves = moves;
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

/* Map a chunk from @offset on. Returns how many of @len bytes; 0 if out of memory. */
static size_t radeon_gem_rw_map(struct radeon_gem_rw *rw, u64 offset, size_t len,
				struct radeon_gem_rw_mapping *map)
{
	struct ttm_buffer_object *tbo = &rw->bo->tbo;
	size_t n, in_page = offset_in_page(offset);
	bool vram = rw->is & RADEON_GEM_RW_IS_VRAM;
	struct page **page;
	bool is_iomem;

	*map = (struct radeon_gem_rw_mapping) {
		.uncached = vram || tbo->ttm->caching != ttm_cached,
		.io = vram || !radeon_gem_rw_has_direct_pages(rw),
	};
	len = min_t(size_t, len, map->uncached && !rw->write ?
		    RADEON_GEM_RW_CHUNK_UNCACHED : RADEON_GEM_RW_CHUNK);

	if (vram && rw->rdev->vram.aperture) {
		map->mem = (void __force *)rw->rdev->vram.aperture +
			offset + ((u64)tbo->resource->start << PAGE_SHIFT);
		return len;
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

/* Copy by way of a buffer. Returns how many bytes were not copied. */
static size_t radeon_gem_rw_copy_buffered(struct radeon_gem_rw *rw,
					  struct radeon_gem_rw_mapping *map,
					  char __user *user, size_t len)
{
	char buffer[RADEON_GEM_RW_BUFFER] __aligned(RADEON_GEM_RW_SLOT_ALIGN);
	void __iomem *io = (void __force __iomem *)map->mem;
	size_t n, missed = 0;
	char *slot;

	for (; len && !missed; len -= n) {
		slot = buffer + (uintptr_t)io % RADEON_GEM_RW_SLOT_ALIGN;
		n = min_t(size_t, len, buffer + sizeof(buffer) - slot);
		if (rw->write)
			missed = __copy_from_user_inatomic(slot, user, n);

		if (rw->write)
			memcpy_toio(io, slot, n - missed);
		else
			radeon_gem_rw_load(slot, io, n);

		if (!rw->write)
			missed = __copy_to_user_inatomic(user, slot, n);
		io += n;
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
	return rw->write || !map->uncached || !boot_cpu_has(X86_FEATURE_XMM4_1) ||
		boot_cpu_has(X86_FEATURE_HYPERVISOR);
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

/* Shall the step that began at @begun end, so that others get the locks or the CPU? */
static bool radeon_gem_rw_is_over(struct radeon_gem_rw *rw, u64 begun)
{
	return need_resched() || rwsem_is_contended(&rw->rdev->exclusive_lock) ||
		rwsem_is_contended(&rw->rdev->pm.mclk_lock) ||
		local_clock() - begun > RADEON_GEM_RW_STEP_NS;
}

/*
 * Copy a step, or its first bytes. Returns how many were copied, 0 if the user's are not
 * resident, or -ENOMEM.
 */
ssize_t radeon_gem_rw_copy_by_cpu(struct radeon_gem_rw *rw)
{
	const struct radeon_gem_rw_piece *piece = rw->pieces;
	struct radeon_gem_rw_mapping map;
	u64 done = 0, look = RADEON_GEM_RW_CHUNK_UNCACHED, begun = local_clock();
	size_t n, pos = 0, missed = 0;

	lockdep_assert_held_read(&rw->rdev->exclusive_lock);
	lockdep_assert_held_read(&rw->rdev->pm.mclk_lock);
	dma_resv_assert_held(rw->bo->tbo.base.resv);

	if (rw->is & RADEON_GEM_RW_IS_VRAM)
		radeon_gem_rw_prepare_vram(rw);

	do {
		n = radeon_gem_rw_map(rw, piece->offset + pos, piece->len - pos, &map);
		if (!n)
			return done ?: -ENOMEM;
		missed = radeon_gem_rw_copy_user(rw, &map, piece->user + pos, n);
		radeon_gem_rw_unmap(&map);

		done += n - missed;
		pos += n;
		if (pos == piece->len) {
			piece++;
			pos = 0;
		}

		if (done >= look) {
			if (radeon_gem_rw_is_over(rw, begun))
				break;
			look = done + RADEON_GEM_RW_CHUNK_UNCACHED;
		}
	} while (done < rw->len && !missed);

	if (missed)
		radeon_gem_rw_note_fault(rw);

	return done;
}
