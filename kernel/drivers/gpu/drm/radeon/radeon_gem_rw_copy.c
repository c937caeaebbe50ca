// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: the choice of the path,
 * and moving bytes between user memory and BOs with the CPU. When a BO may be
 * touched, and the order of locks, is in radeon_gem_rw.c; how the CPU sees its
 * bytes in radeon_gem_rw_view.c.
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
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/radeon_drm.h>
#include <drm/radeon_drm_rw.h>

#include "radeon.h"
#include "radeon_gem_rw.h"

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
				  radeon_gem_rw_view_page_left(&view, pos));
			radeon_gem_rw_view_copy(rw, &view, pos, bytes + pos, n);
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
		n = min3(len - pos, radeon_gem_rw_view_page_left(view, pos),
			 PAGE_SIZE - offset_in_page(in_page + pos));

		page = pages[(in_page + pos) >> PAGE_SHIFT];
		mem = kmap_local_page(page);
		radeon_gem_rw_view_copy(rw, view, pos,
					mem + offset_in_page(in_page + pos), n);
		if (!rw->write)
			flush_dcache_page(page);
		kunmap_local(mem);
		cond_resched();
	}
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

	if (!radeon_gem_rw_view_suits_user(rw))
		goto out_end;

	for (; done < len; done += n) {
		radeon_gem_rw_peek(rw, &at, len - done, &piece);
		r = radeon_gem_rw_view_init(rw, piece.offset, piece.len, &view);
		if (r)
			break;

		n = radeon_gem_rw_view_copy_user(rw, &view, &piece);
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
