// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: the short way for small
 * pieces.
 *
 * Most small transfers find user memory in place and the BO idle, within reach
 * and not locked by anybody. Then there is nothing to wait for, and the locks of
 * the device can be kept from one BO to the next. Each BO is looked at, copied
 * and let go before the next one is. Nothing here sleeps on user space: user
 * memory that is going to be read is made accessible before, and is only touched
 * with page faults disabled.
 *
 * Whatever does not fit is not dealt with here, not even if it is an error: it
 * is left to radeon_gem_rw_copy(), with nothing held. So this may give up at any
 * byte, and need not know why.
 */

#include <linux/minmax.h>

#include <drm/radeon_drm.h>
#include <drm/radeon_drm_rw.h>

#include "radeon.h"
#include "radeon_gem_rw.h"

/*
 * What it costs to begin with a piece, compared to copying bytes. Without that,
 * many rows of a byte would keep the locks for long.
 */
#define RADEON_GEM_RW_QUICK_PIECE	64

/**
 * radeon_gem_rw_quick_cost - is a region made for this, and how long does it take?
 * @region: the region
 *
 * Returns:
 * A measure for what it takes to copy the region, in bytes of one long piece.
 * Larger than RADEON_GEM_RW_QUICK_MAX if it should not be done in this way.
 */
u64 radeon_gem_rw_quick_cost(const struct radeon_gem_rw_region *region)
{
	u64 max = min(READ_ONCE(radeon_gem_rw_atomic_max),
		      RADEON_GEM_RW_CHUNK_MAX);

	if (region->row_bytes > max)
		return U64_MAX;

	return region->rows * (region->row_bytes + RADEON_GEM_RW_QUICK_PIECE);
}

/**
 * radeon_gem_rw_quick_bo - transfer as much as can be done at once
 * @rw: the transfer, all of whose regions cost RADEON_GEM_RW_QUICK_MAX at most
 * @span: its nearest and furthest byte; the rest is not looked at
 *
 * Must be called within radeon_gem_rw_lock_device(), and with no other lock
 * held. &radeon_gem_rw.left tells what is left to do.
 */
void radeon_gem_rw_quick_bo(struct radeon_gem_rw *rw,
			    const struct radeon_gem_rw_span *span)
{
	struct radeon_gem_rw_piece piece;
	struct radeon_gem_rw_view view;
	u64 n;

	if (!radeon_gem_rw_try_begin(rw, span))
		return;

	while (rw->left) {
		radeon_gem_rw_peek(rw, &rw->pos, rw->left, &piece);
		if (radeon_gem_rw_view_init(rw, piece.offset, piece.len, &view))
			break;

		n = radeon_gem_rw_view_copy_user(rw, &view, &piece);
		radeon_gem_rw_view_fini(&view);

		rw->left -= n;
		radeon_gem_rw_step(rw, &rw->pos, n);
		if (n < piece.len)
			break;
	}

	radeon_gem_rw_try_end(rw);
}

/**
 * radeon_gem_rw_quick - do a transfer of one row in the short way
 * @rw: the transfer of one row, whose range has been checked, but not its BO
 *
 * Must be called with nothing held.
 *
 * Returns:
 * Whether everything was transferred. If not, radeon_gem_rw_check_bo() and
 * radeon_gem_rw_copy() do the rest.
 */
bool radeon_gem_rw_quick(struct radeon_gem_rw *rw)
{
	u64 len = rw->left;
	const struct radeon_gem_rw_span span = {
		.start = rw->regions->offset,
		.end = rw->regions->offset + len,
	};

	if (radeon_gem_rw_quick_cost(rw->regions) > RADEON_GEM_RW_QUICK_MAX)
		return false;

	/* A read has to find its memory there: see radeon_gem_rw_chunk_atomic(). */
	if (rw->write && radeon_gem_rw_fault_in(rw, len) < len)
		return false;

	if (radeon_gem_rw_lock_device(rw->rdev))
		return false;

	radeon_gem_rw_quick_bo(rw, &span);
	radeon_gem_rw_unlock_device(rw->rdev);

	radeon_gem_rw_count(rw->rdev->gem_rw, RADEON_GEM_RW_ATOMIC,
			    len - rw->left);
	return !rw->left;
}
