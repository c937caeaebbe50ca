/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing GEM objects without mapping them: what the CPU's path, the
 * ioctls and the rest of the driver share.
 *
 * radeon_gem_rw.c		ioctls, steps, the choice of their path, counters
 * radeon_gem_rw_hold.c		locks, waiting for a BO, making it accessible
 * radeon_gem_rw_cpu.c		copies by the CPU
 */

#ifndef __RADEON_GEM_RW_H__
#define __RADEON_GEM_RW_H__

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/dma-resv.h>
#include <linux/jiffies.h>
#include <linux/sizes.h>
#include <linux/types.h>

#include "radeon.h"

struct dma_fence;
struct drm_device;
struct drm_file;
struct radeon_gem_rw_gpu;
struct radeon_gem_rw_job;

/* Longest sleep, in jiffies, before looking whether the GPU is locked up. */
#define RADEON_GEM_RW_WAIT_SLICE	(HZ / 2)

/*
 * How often others may use the BO between waiting for it and locking it, before
 * the wait is done with the BO locked.
 */
#define RADEON_GEM_RW_MAX_LOST_RACES	4

/*
 * A piece has the same place relative to this in a buffer as in the BO. Then
 * drm_memcpy_from_wc() is fast, and the DMA engine can copy whole dwords.
 */
#define RADEON_GEM_RW_SLOT_ALIGN	16

/* Most contiguous pieces in a step, which bounds room in rings. */
#define RADEON_GEM_RW_MAX_PIECES	128

/*
 * Most bytes in a step, which bounds for how long locks are held, and what it
 * costs to begin with a piece, as so many bytes.
 */
#define RADEON_GEM_RW_STEP_MAX		SZ_256K
#define RADEON_GEM_RW_PIECE_COST	64

/* What is counted: first paths and ways to clear VRAM, with their bytes. */
enum radeon_gem_rw_counter {
	RADEON_GEM_RW_CPU,		/* by the CPU */
	RADEON_GEM_RW_STAGED,		/* by the GPU, through the staging buffer */
	RADEON_GEM_RW_ZERO_COPY,	/* by the GPU, from or to pinned user pages */
	RADEON_GEM_RW_CLEAR_CPU,	/* cleared by the CPU */
	RADEON_GEM_RW_CLEAR_GPU,	/* cleared by the GPU */
	RADEON_GEM_RW_CLEAR_HOP,	/* cleared by a move of cleared pages */
	RADEON_GEM_RW_PATHS,
	RADEON_GEM_RW_STALL_AVOIDED =	/* write to a busy BO did not wait */
		RADEON_GEM_RW_PATHS,
	RADEON_GEM_RW_STALL,		/* had to wait for a BO */
	RADEON_GEM_RW_NOT_RESIDENT,	/* user memory was not there when copied */
	RADEON_GEM_RW_NOT_PINNED,	/* zero-copy: no window, or no pages to pin */
	RADEON_GEM_RW_NOT_STAGED,	/* the GPU could not copy, or no room */
	RADEON_GEM_RW_MOVED,		/* BO was moved to where the CPU has access */
	RADEON_GEM_RW_REPLAYED,		/* staged write done again after a GPU reset */
	RADEON_GEM_RW_COUNTERS
};

/* What is kept for a device. */
struct radeon_gem_rw_state {
	void __iomem *aperture;		/* or NULL */
	bool hdp_dirty;			/* VRAM written by the CPU, HDP not flushed */
	struct radeon_gem_rw_gpu *gpu;	/* NULL if the GPU does not copy */
	atomic64_t counts[RADEON_GEM_RW_COUNTERS];
	atomic64_t bytes[RADEON_GEM_RW_PATHS];
};

/* Rows of bytes in a BO and in user memory. */
struct radeon_gem_rw_region {
	u64 offset;			/* of the first row in the BO */
	char __user *user;		/* the first row */
	u64 row_bytes;			/* not 0 unless rows is */
	u32 rows;
	u32 bo_pitch;			/* bytes from row to row */
	u32 user_pitch;
};

/* Position in a transfer. */
struct radeon_gem_rw_pos {
	u32 region;			/* also the number of those that are done */
	u32 row;
	u64 byte;			/* in the row */
};

/* Bytes that are contiguous on both sides. */
struct radeon_gem_rw_piece {
	u64 offset;			/* in the BO */
	char __user *user;
	u32 len;
};

/* What is known about a step when its path is chosen. */
#define RADEON_GEM_RW_IS_WRITE		BIT(0)	/* user memory to BO */
#define RADEON_GEM_RW_IS_NOWAIT		BIT(1)	/* RADEON_GEM_RW_NOWAIT */
#define RADEON_GEM_RW_IS_UNSYNC		BIT(2)	/* RADEON_GEM_RW_UNSYNCHRONIZED */
#define RADEON_GEM_RW_IS_VRAM		BIT(3)	/* BO is in VRAM */
#define RADEON_GEM_RW_IS_HIDDEN		BIT(4)	/* in CPU-inaccessible VRAM */
#define RADEON_GEM_RW_IS_SYSTEM		BIT(5)	/* where the GPU has no access */
#define RADEON_GEM_RW_IS_ABSENT		BIT(6)	/* has no pages */
#define RADEON_GEM_RW_IS_BUSY		BIT(7)	/* fences to wait for */
#define RADEON_GEM_RW_IS_SMALL		BIT(8)	/* worth staging a write */
#define RADEON_GEM_RW_IS_LONG		BIT(9)	/* worth staging a read */
#define RADEON_GEM_RW_IS_LARGE		BIT(10)	/* worth pinning pages */

/* A transfer between user memory and a BO, and how far it has got. */
struct radeon_gem_rw {
	struct radeon_device *rdev;
	struct drm_file *filp;		/* whose call it is */
	struct radeon_bo *bo;		/* referenced */
	const struct radeon_gem_rw_region *regions;
	u32 count;			/* of regions */
	u32 flags;			/* RADEON_GEM_RW_*, see radeon_drm_rw.h */
	bool write;			/* from user memory to the BO */
	bool fault_in;			/* user memory was not there: get it */
	bool locked;			/* the device's locks are held */
	u64 room;			/* bytes and pieces until they are dropped */
	struct radeon_gem_rw_pos pos;	/* next byte */
	u64 left;			/* bytes */
	void *buffer;			/* for loads that are not cached, or NULL */
	unsigned int lost;		/* times the BO was used while this waited */
	unsigned int moves;		/* times the BO was moved */
	struct radeon_fence *fence;	/* to wait for before the next try, or NULL */
	struct radeon_gem_rw_job *job;	/* that the call waits for, or NULL */
	int resets;			/* gpu_reset_counter when that was submitted */
	unsigned int fails;		/* times in a row nothing could be copied */
	bool unpinned;			/* pages could not be pinned: do without */

	/* The step that is being done. */
	struct radeon_gem_rw_piece *pieces;
	unsigned int max_pieces;	/* at most RADEON_GEM_RW_MAX_PIECES */
	unsigned int n;			/* of pieces */
	unsigned int look;		/* RADEON_GEM_RW_IS_* */
	bool dwords;			/* all begin and end at dwords of the BO */
	u64 len;			/* bytes */
	u64 start;			/* offset of the nearest byte in the BO */
	u64 end;			/* offset behind the furthest byte */
	struct radeon_gem_rw_pos next;	/* behind the step */
};

/*
 * Something that can be done in a step. Both functions return how many bytes have
 * been transferred, which may be 0 if the step has to be tried again, or a negative
 * error code. Either may be NULL. held() is called with the locks held, and may return
 * RADEON_GEM_RW_IMPOSSIBLE for the next rule. after() is called with nothing held,
 * unless held() has failed, and gets what that has returned, or 0.
 */
struct radeon_gem_rw_path {
	ssize_t (*held)(struct radeon_gem_rw *rw);
	ssize_t (*after)(struct radeon_gem_rw *rw, ssize_t done);
};

#define RADEON_GEM_RW_IMPOSSIBLE	(-EXDEV)

extern const struct radeon_gem_rw_path radeon_gem_rw_cpu;
extern const struct radeon_gem_rw_path radeon_gem_rw_wait;
extern const struct radeon_gem_rw_path radeon_gem_rw_move;
extern const struct radeon_gem_rw_path radeon_gem_rw_populate;

/* radeon_gem_rw.c */
int radeon_gem_pread_ioctl(struct drm_device *dev, void *data,
			   struct drm_file *filp);
int radeon_gem_pwrite_ioctl(struct drm_device *dev, void *data,
			    struct drm_file *filp);
int radeon_gem_rw_check_range(const struct radeon_bo *bo, u64 offset, u64 size);
u32 radeon_gem_rw_caps(struct radeon_device *rdev);
int radeon_gem_rw_init(struct radeon_device *rdev);
void radeon_gem_rw_fini(struct radeon_device *rdev);
int radeon_gem_rw_copy(struct radeon_gem_rw *rw);
void radeon_gem_rw_take(struct radeon_gem_rw *rw, u64 max_len);
size_t radeon_gem_rw_fault_in_user(const struct radeon_gem_rw *rw,
				   char __user *user, size_t len);

/* radeon_gem_rw_hold.c */
int radeon_gem_rw_hold(struct radeon_gem_rw *rw);
void radeon_gem_rw_release(struct radeon_gem_rw *rw);
void radeon_gem_rw_unlock(struct radeon_gem_rw *rw);
void radeon_gem_rw_end(struct radeon_gem_rw *rw);
enum dma_resv_usage radeon_gem_rw_usage(const struct radeon_gem_rw *rw);
bool radeon_gem_rw_is_signaled(struct dma_fence *fence);
bool radeon_gem_rw_is_hidden(const struct radeon_gem_rw *rw);
bool radeon_gem_rw_is_idle(const struct radeon_gem_rw *rw);

/* radeon_gem_rw_cpu.c */
void radeon_gem_rw_flush_hdp(struct radeon_device *rdev);

/* Count a step, or a cleared BO, unless it has no bytes. */
static inline void radeon_gem_rw_count(struct radeon_device *rdev,
				       enum radeon_gem_rw_counter path, u64 bytes)
{
	if (!bytes)
		return;

	atomic64_inc(&rdev->gem_rw->counts[path]);
	atomic64_add(bytes, &rdev->gem_rw->bytes[path]);
}

static inline void radeon_gem_rw_event(struct radeon_device *rdev,
				       enum radeon_gem_rw_counter event)
{
	atomic64_inc(&rdev->gem_rw->counts[event]);
}

/* User memory was not there. */
static inline void radeon_gem_rw_missed(struct radeon_gem_rw *rw)
{
	radeon_gem_rw_event(rw->rdev, RADEON_GEM_RW_NOT_RESIDENT);
	rw->fault_in = true;
	rw->fails++;
}

#endif
