/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing GEM objects without mapping them: what the parts of the
 * implementation, and the rest of the driver, need to know of each other.
 *
 * radeon_gem_rw.c		ioctls, and when a BO may be touched
 * radeon_gem_rw_copy.c		the choice of the path, copies by the CPU
 * radeon_gem_rw_quick.c	the short way for small pieces
 * radeon_gem_rw_view.c		how the CPU sees the bytes of a BO
 * radeon_gem_rw_stage.c	copies by the GPU through the staging area
 * radeon_gem_rw_zero.c		copies by the GPU from or to user memory
 * radeon_gem_rw_ring.c		packets for copies by the GPU
 * radeon_gem_rw_clear.c	clearing of VRAM for new BOs
 * radeon_gem_rw_transfer.c	the ioctl for many regions
 * radeon_gem_rw_stats.c	thresholds, counters and tracepoints
 */

#ifndef __RADEON_GEM_RW_H__
#define __RADEON_GEM_RW_H__

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <drm/ttm/ttm_bo.h>

#include "radeon.h"

struct dma_fence;
struct drm_device;
struct drm_file;
struct radeon_bo;
struct radeon_device;
struct radeon_fence;
struct radeon_gem_rw_stage;
struct ttm_buffer_object;
struct ttm_place;
struct ttm_resource;
struct workqueue_struct;

/*
 * Thresholds that depend on the machine are module parameters, see
 * radeon_gem_rw_stats.c. What follows does not depend on it.
 */

/*
 * Most user pages pinned, and with it most bytes copied by the CPU, in one go.
 * Bounds how long a BO and the locks of the device are held, and how many of a
 * client's pages are pinned at any time.
 */
#define RADEON_GEM_RW_BATCH_PAGES	64

/* Size of the buffer for user memory that can not be used directly. */
#define RADEON_GEM_RW_BOUNCE_SIZE	SZ_64K

/* Longest sleep, in jiffies, before looking whether the GPU is locked up. */
#define RADEON_GEM_RW_WAIT_SLICE	(HZ / 2)

/* The same if a signal is pending, before looking whether it is a fatal one. */
#define RADEON_GEM_RW_KILL_SLICE	DIV_ROUND_UP(HZ, 50)

/*
 * Least time, in microseconds, between two looks at a copy that is waited for,
 * and for how long it is looked at before the ring's interrupt is switched on.
 */
#define RADEON_GEM_RW_NAP_US		50LL
#define RADEON_GEM_RW_NAPS_US		10000

/*
 * How often other users of the GPU may get in between waiting for a BO and
 * locking it, before the wait is done with the BO locked.
 */
#define RADEON_GEM_RW_MAX_LOST_RACES	4

/*
 * Pieces lie in buffers at the same place relative to this as in the BO. Then
 * drm_memcpy_from_wc() is fast, and the DMA engine can copy whole dwords.
 */
#define RADEON_GEM_RW_SLOT_ALIGN	16

/* Most contiguous pieces copied in one go, which bounds room in rings. */
#define RADEON_GEM_RW_MAX_PIECES	256

/* Most bytes copied by the CPU in one go, if user memory is not pinned. */
#define RADEON_GEM_RW_CHUNK_MAX		SZ_64K

/*
 * Most that is done by the CPU within radeon_gem_rw_lock_device(), in bytes of
 * one long piece: see radeon_gem_rw_quick_cost().
 */
#define RADEON_GEM_RW_QUICK_MAX		SZ_256K

/* Error code that stands for: copying is better left to the GPU. */
#define RADEON_GEM_RW_USE_GPU		(-EXDEV)

/**
 * enum radeon_gem_rw_path - ways of moving bytes, as counted
 * @RADEON_GEM_RW_ATOMIC: by the CPU, page faults disabled
 * @RADEON_GEM_RW_PINNED: by the CPU, from or to pinned user pages
 * @RADEON_GEM_RW_BOUNCE: by the CPU, by way of a buffer
 * @RADEON_GEM_RW_STAGED: by the GPU, by way of the staging area
 * @RADEON_GEM_RW_ZERO_COPY: by the GPU, from or to pinned user pages
 * @RADEON_GEM_RW_CLEAR_CPU: VRAM cleared by the CPU
 * @RADEON_GEM_RW_CLEAR_GPU: VRAM cleared by the GPU
 * @RADEON_GEM_RW_CLEAR_HOP: VRAM cleared by a move of cleared pages
 * @RADEON_GEM_RW_PATHS: how many there are
 */
enum radeon_gem_rw_path {
	RADEON_GEM_RW_ATOMIC,
	RADEON_GEM_RW_PINNED,
	RADEON_GEM_RW_BOUNCE,
	RADEON_GEM_RW_STAGED,
	RADEON_GEM_RW_ZERO_COPY,
	RADEON_GEM_RW_CLEAR_CPU,
	RADEON_GEM_RW_CLEAR_GPU,
	RADEON_GEM_RW_CLEAR_HOP,
	RADEON_GEM_RW_PATHS
};

/**
 * enum radeon_gem_rw_event - what else is counted
 * @RADEON_GEM_RW_STALL_AVOIDED: write to a busy BO did not wait
 * @RADEON_GEM_RW_STALL: had to wait for a BO
 * @RADEON_GEM_RW_NOT_RESIDENT: user memory was not there when copied
 * @RADEON_GEM_RW_NOT_PINNED: user memory could not be pinned
 * @RADEON_GEM_RW_NOT_STAGED: the GPU could not copy, or no room to stage
 * @RADEON_GEM_RW_MOVED: BO was moved to where the CPU reaches it
 * @RADEON_GEM_RW_EVENTS: how many there are
 */
enum radeon_gem_rw_event {
	RADEON_GEM_RW_STALL_AVOIDED,
	RADEON_GEM_RW_STALL,
	RADEON_GEM_RW_NOT_RESIDENT,
	RADEON_GEM_RW_NOT_PINNED,
	RADEON_GEM_RW_NOT_STAGED,
	RADEON_GEM_RW_MOVED,
	RADEON_GEM_RW_EVENTS
};

/**
 * struct radeon_gem_rw_state - what is kept for a device
 */
struct radeon_gem_rw_state {
	/** @stage: staging area, or NULL if the GPU does not copy */
	struct radeon_gem_rw_stage *stage;
	/** @wq: where user pages are unpinned later, exists with @stage */
	struct workqueue_struct *wq;
	/** @unpin_later: how many are waiting for that */
	atomic_t unpin_later;
	/** @semaphores: for each ring, those that failed submissions have left */
	struct radeon_semaphore *semaphores[RADEON_NUM_RINGS][RADEON_NUM_SYNCS];
	/** @calls: how often each path has transferred something */
	atomic64_t calls[RADEON_GEM_RW_PATHS];
	/** @bytes: how much each path has transferred */
	atomic64_t bytes[RADEON_GEM_RW_PATHS];
	/** @events: how often each event has happened */
	atomic64_t events[RADEON_GEM_RW_EVENTS];
	/** @fill_lock: protects @fills */
	spinlock_t fill_lock;
	/** @fills: what the GPU may not have cleared yet, oldest first */
	struct list_head fills;
};

/**
 * struct radeon_gem_rw_fill - VRAM that the GPU clears
 */
struct radeon_gem_rw_fill {
	/** @head: in &radeon_gem_rw_state.fills */
	struct list_head head;
	/** @start: offset in VRAM */
	u64 start;
	/** @size: bytes, a multiple of the page size */
	u64 size;
	/** @fence: fence of the fill */
	struct radeon_fence *fence;
};

/**
 * struct radeon_gem_rw_region - rows of bytes in a BO and in user memory
 */
struct radeon_gem_rw_region {
	/** @offset: offset of the first row in the BO */
	u64 offset;
	/** @user: user address of the first row */
	char __user *user;
	/** @row_bytes: bytes in a row, not 0 unless @rows is */
	u64 row_bytes;
	/** @rows: number of rows */
	u32 rows;
	/** @bo_pitch: bytes from row to row in the BO */
	u32 bo_pitch;
	/** @user_pitch: bytes from row to row in user memory */
	u32 user_pitch;
};

/**
 * struct radeon_gem_rw_pos - how far a transfer has come
 */
struct radeon_gem_rw_pos {
	/** @region: index of the region, the number of those that are done */
	u32 region;
	/** @row: row in the region */
	u32 row;
	/** @byte: byte in the row */
	u64 byte;
};

/**
 * struct radeon_gem_rw - one transfer between user memory and a BO
 *
 * Made from checked arguments; advances while bytes are transferred.
 */
struct radeon_gem_rw {
	/** @rdev: the device */
	struct radeon_device *rdev;
	/** @bo: the BO, on which a reference is held */
	struct radeon_bo *bo;
	/** @regions: what to transfer */
	const struct radeon_gem_rw_region *regions;
	/** @count: number of regions */
	u32 count;
	/** @pos: next byte to transfer */
	struct radeon_gem_rw_pos pos;
	/** @left: bytes left to transfer */
	u64 left;
	/** @write: direction, true from user memory to the BO */
	bool write;
	/** @use_gpu: radeon_gem_rw_begin() may ask for a copy by the GPU */
	bool use_gpu;
	/** @in_vram: the BO was in VRAM when looked at */
	bool in_vram;
	/** @try_gpu: a copy by the GPU should be tried first */
	bool try_gpu;
	/** @flags: RADEON_GEM_RW_*, see radeon_drm_rw.h */
	u32 flags;
	/** @bounce: buffer for user memory that can not be used, or NULL */
	void *bounce;
	/** @bounce_size: size of @bounce in bytes */
	size_t bounce_size;
};

/**
 * struct radeon_gem_rw_piece - bytes that are contiguous on both sides
 */
struct radeon_gem_rw_piece {
	/** @offset: offset in the BO */
	u64 offset;
	/** @user: user address */
	char __user *user;
	/** @len: number of bytes */
	u64 len;
};

/**
 * struct radeon_gem_rw_span - what one go transfers
 */
struct radeon_gem_rw_span {
	/** @len: number of bytes */
	u64 len;
	/** @slots: number of bytes needed in a buffer, see radeon_gem_rw_slot() */
	size_t slots;
	/** @start: offset of the nearest byte in the BO */
	u64 start;
	/** @end: end of the furthest byte in the BO */
	u64 end;
	/** @pieces: number of pieces, at most RADEON_GEM_RW_MAX_PIECES */
	unsigned int pieces;
	/** @dwords: all pieces begin and end at dwords of the BO */
	bool dwords;
};

/**
 * struct radeon_gem_rw_view - how the CPU sees bytes of a BO
 */
struct radeon_gem_rw_view {
	/** @offset: offset of the first byte in the BO */
	u64 offset;
	/** @io: the first byte, or NULL if the BO is accessed by its pages */
	void __iomem *io;
	/** @iomap: what to iounmap() afterwards, or NULL */
	void __iomem *iomap;
	/** @kmap: mapping to undo afterwards, if its virtual is set */
	struct ttm_bo_kmap_obj kmap;
	/** @pages: the pages, if @io is NULL */
	struct page **pages;
	/** @uncached: loads are not cached, so small ones are slow */
	bool uncached;
};

/**
 * radeon_gem_rw_view_page_left - bytes to the end of a page of the BO
 * @view: the view
 * @pos: byte in the view
 *
 * Returns:
 * How many bytes there are from @pos to the end of its page.
 */
static inline size_t
radeon_gem_rw_view_page_left(const struct radeon_gem_rw_view *view, size_t pos)
{
	return PAGE_SIZE - offset_in_page(view->offset + pos);
}

/**
 * radeon_gem_rw_peek - the piece at a position
 * @rw: the transfer
 * @pos: position, not at the end
 * @max: most bytes
 * @piece: returned: the piece
 */
static inline void radeon_gem_rw_peek(const struct radeon_gem_rw *rw,
				      const struct radeon_gem_rw_pos *pos,
				      u64 max,
				      struct radeon_gem_rw_piece *piece)
{
	const struct radeon_gem_rw_region *region = &rw->regions[pos->region];

	piece->offset = region->offset + (u64)pos->row * region->bo_pitch +
		pos->byte;
	piece->user = region->user + (u64)pos->row * region->user_pitch +
		pos->byte;
	piece->len = min(region->row_bytes - pos->byte, max);
}

/**
 * radeon_gem_rw_step - go on in a piece
 * @rw: the transfer
 * @pos: position to change
 * @len: bytes, not more than radeon_gem_rw_peek() has returned
 */
static inline void radeon_gem_rw_step(const struct radeon_gem_rw *rw,
				      struct radeon_gem_rw_pos *pos, u64 len)
{
	pos->byte += len;
	if (pos->byte < rw->regions[pos->region].row_bytes)
		return;

	pos->byte = 0;
	if (++pos->row < rw->regions[pos->region].rows)
		return;

	pos->row = 0;
	do {
		pos->region++;
	} while (pos->region < rw->count && !rw->regions[pos->region].rows);
}

/**
 * radeon_gem_rw_slot - room for a piece in a buffer
 * @piece: the piece
 *
 * A piece begins at its offset modulo RADEON_GEM_RW_SLOT_ALIGN in its slot.
 *
 * Returns:
 * Size of the slot in bytes.
 */
static inline u64 radeon_gem_rw_slot(const struct radeon_gem_rw_piece *piece)
{
	return ALIGN(piece->offset % RADEON_GEM_RW_SLOT_ALIGN + piece->len,
		     RADEON_GEM_RW_SLOT_ALIGN);
}

/* radeon_gem_rw.c */
int radeon_gem_pread_ioctl(struct drm_device *dev, void *data,
			   struct drm_file *filp);
int radeon_gem_pwrite_ioctl(struct drm_device *dev, void *data,
			    struct drm_file *filp);
int radeon_gem_rw_check_range(const struct radeon_bo *bo, u64 offset, u64 size);
int radeon_gem_rw_check_bo(struct radeon_gem_rw *rw);
u32 radeon_gem_rw_caps(struct radeon_device *rdev);
int radeon_gem_rw_begin(struct radeon_gem_rw *rw,
			const struct radeon_gem_rw_span *span);
void radeon_gem_rw_end(struct radeon_gem_rw *rw);
int radeon_gem_rw_lock_device(struct radeon_device *rdev);
void radeon_gem_rw_unlock_device(struct radeon_device *rdev);
bool radeon_gem_rw_try_begin(struct radeon_gem_rw *rw,
			     const struct radeon_gem_rw_span *span);
void radeon_gem_rw_try_end(struct radeon_gem_rw *rw);
int radeon_gem_rw_wait_idle(const struct radeon_gem_rw *rw);
int radeon_gem_rw_wait_fence(struct dma_fence *fence);
int radeon_gem_rw_wait_copy(struct dma_fence *fence);
void radeon_gem_rw_poll_copy(struct radeon_fence *fence, unsigned int spin_us);
int radeon_gem_rw_init(struct radeon_device *rdev);
void radeon_gem_rw_fini(struct radeon_device *rdev);

/* radeon_gem_rw_copy.c */
void radeon_gem_rw_span_init(const struct radeon_gem_rw *rw, u64 max_len,
			     size_t max_slots, struct radeon_gem_rw_span *span);
u64 radeon_gem_rw_fault_in(const struct radeon_gem_rw *rw, u64 len);
u64 radeon_gem_rw_gather(const struct radeon_gem_rw *rw, void *mem, u64 len,
			 bool atomic);
u64 radeon_gem_rw_scatter(const struct radeon_gem_rw *rw, const void *mem,
			  u64 len, bool atomic);
int radeon_gem_rw_bounce_get(struct radeon_gem_rw *rw);
int radeon_gem_rw_copy(struct radeon_gem_rw *rw);

/* radeon_gem_rw_quick.c */
u64 radeon_gem_rw_quick_cost(const struct radeon_gem_rw_region *region);
void radeon_gem_rw_quick_bo(struct radeon_gem_rw *rw,
			    const struct radeon_gem_rw_span *span);
bool radeon_gem_rw_quick(struct radeon_gem_rw *rw);

/* radeon_gem_rw_view.c */
int radeon_gem_rw_view_init(struct radeon_gem_rw *rw, u64 offset, u64 len,
			    struct radeon_gem_rw_view *view);
void radeon_gem_rw_view_fini(struct radeon_gem_rw_view *view);
void radeon_gem_rw_view_copy(struct radeon_gem_rw *rw,
			     struct radeon_gem_rw_view *view, size_t pos,
			     void *mem, size_t len);
u64 radeon_gem_rw_view_copy_user(struct radeon_gem_rw *rw,
				 struct radeon_gem_rw_view *view,
				 const struct radeon_gem_rw_piece *piece);
bool radeon_gem_rw_view_suits_user(struct radeon_gem_rw *rw);
void __iomem *radeon_gem_rw_map_vram(struct radeon_device *rdev, u64 start,
				     u64 len, void __iomem **iomap);
void radeon_gem_rw_view_release(struct radeon_device *rdev);

/* radeon_gem_rw_stage.c */
void radeon_gem_rw_stage_init(struct radeon_device *rdev);
void radeon_gem_rw_stage_fini(struct radeon_device *rdev);
void radeon_gem_rw_stage_drain(struct radeon_device *rdev);
ssize_t radeon_gem_rw_chunk_staged(struct radeon_gem_rw *rw);
bool radeon_gem_rw_stage_settled(struct radeon_gem_rw *rw,
				 const struct radeon_gem_rw_span *span);
int radeon_gem_rw_stage_settle(struct radeon_gem_rw *rw,
			       const struct radeon_gem_rw_span *span);

/* radeon_gem_rw_transfer.c */
int radeon_gem_transfer_ioctl(struct drm_device *dev, void *data,
			      struct drm_file *filp);

/* radeon_gem_rw_ring.c */
bool radeon_gem_rw_ring_supported(struct radeon_device *rdev);
void radeon_gem_rw_ring_fini(struct radeon_device *rdev);
struct radeon_fence *
radeon_gem_rw_ring_submit(struct radeon_gem_rw *rw,
			  const struct radeon_gem_rw_span *span, u64 mem,
			  bool exact, int *resets);

bool radeon_gem_rw_ring_can_fill(struct radeon_device *rdev);
int radeon_gem_rw_ring_fill(struct radeon_device *rdev,
			    const struct list_head *fills,
			    struct radeon_fence **fence);

/* radeon_gem_rw_clear.c */
int radeon_gem_rw_clear(struct ttm_buffer_object *tbo, struct ttm_resource *mem,
			struct ttm_place *hop);
void radeon_gem_rw_clear_recover(struct radeon_device *rdev);
void radeon_gem_rw_clear_fini(struct radeon_device *rdev);

/* radeon_gem_rw_zero.c */
ssize_t radeon_gem_rw_chunk_zero_copy(struct radeon_gem_rw *rw);

/* radeon_gem_rw_stats.c */
extern unsigned int radeon_gem_rw_atomic_max;
extern unsigned int radeon_gem_rw_stage_size;
extern unsigned int radeon_gem_rw_stage_write_max;
extern unsigned int radeon_gem_rw_stage_read_min;
extern unsigned int radeon_gem_rw_spin_us;
extern unsigned int radeon_gem_rw_zero_copy_min;
extern bool radeon_gem_rw_clear_vram;
extern unsigned int radeon_gem_rw_clear_cpu_max;
void radeon_gem_rw_debugfs_init(struct radeon_device *rdev);

/**
 * radeon_gem_rw_count - count a transfer
 * @state: state of the device
 * @path: how the bytes were moved
 * @bytes: how many
 */
static inline void radeon_gem_rw_count(struct radeon_gem_rw_state *state,
				       enum radeon_gem_rw_path path, u64 bytes)
{
	if (!bytes)
		return;

	atomic64_inc(&state->calls[path]);
	atomic64_add(bytes, &state->bytes[path]);
}

/**
 * radeon_gem_rw_event - count an event
 * @state: state of the device
 * @event: the event
 */
static inline void radeon_gem_rw_event(struct radeon_gem_rw_state *state,
				       enum radeon_gem_rw_event event)
{
	atomic64_inc(&state->events[event]);
}

#endif
