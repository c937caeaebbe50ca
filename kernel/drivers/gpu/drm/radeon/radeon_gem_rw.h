/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing GEM objects without mapping them: what the CPU's path, the
 * ioctls and the rest of the driver share.
 *
 * radeon_gem_rw.c		ioctls; locks, waiting, the choice of the path
 * radeon_gem_rw_cpu.c		copies by the CPU
 * radeon_gem_rw_stats.c	counters
 */

#ifndef __RADEON_GEM_RW_H__
#define __RADEON_GEM_RW_H__

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/bits.h>
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

/**
 * enum radeon_gem_rw_path_id - paths of a transfer, ways to clear, as counted
 * @RADEON_GEM_RW_CPU: by the CPU
 * @RADEON_GEM_RW_STAGED: by the GPU, through the staging buffer
 * @RADEON_GEM_RW_ZERO_COPY: by the GPU, from or to pinned user pages
 * @RADEON_GEM_RW_CLEAR_CPU: VRAM cleared by the CPU
 * @RADEON_GEM_RW_CLEAR_GPU: VRAM cleared by the GPU
 * @RADEON_GEM_RW_CLEAR_HOP: VRAM cleared by a move of cleared pages
 * @RADEON_GEM_RW_PATHS: number of the above
 * @RADEON_GEM_RW_NO_PATH: nothing is transferred
 */
enum radeon_gem_rw_path_id {
	RADEON_GEM_RW_CPU,
	RADEON_GEM_RW_STAGED,
	RADEON_GEM_RW_ZERO_COPY,
	RADEON_GEM_RW_CLEAR_CPU,
	RADEON_GEM_RW_CLEAR_GPU,
	RADEON_GEM_RW_CLEAR_HOP,
	RADEON_GEM_RW_PATHS,
	RADEON_GEM_RW_NO_PATH = RADEON_GEM_RW_PATHS
};

/**
 * enum radeon_gem_rw_event - what else is counted
 * @RADEON_GEM_RW_STALL_AVOIDED: write to a busy BO did not wait
 * @RADEON_GEM_RW_STALL: had to wait for a BO
 * @RADEON_GEM_RW_NOT_RESIDENT: user memory was not there when copied
 * @RADEON_GEM_RW_NOT_PINNED: zero-copy: no window, or no pages to pin
 * @RADEON_GEM_RW_NOT_STAGED: the GPU could not copy, or no room to stage
 * @RADEON_GEM_RW_MOVED: BO was moved to where the CPU can access it
 * @RADEON_GEM_RW_REPLAYED: staged write done again after a GPU reset
 * @RADEON_GEM_RW_EVENTS: number of the above
 */
enum radeon_gem_rw_event {
	RADEON_GEM_RW_STALL_AVOIDED,
	RADEON_GEM_RW_STALL,
	RADEON_GEM_RW_NOT_RESIDENT,
	RADEON_GEM_RW_NOT_PINNED,
	RADEON_GEM_RW_NOT_STAGED,
	RADEON_GEM_RW_MOVED,
	RADEON_GEM_RW_REPLAYED,
	RADEON_GEM_RW_EVENTS
};

/**
 * struct radeon_gem_rw_state - what is kept for a device
 */
struct radeon_gem_rw_state {
	/** @aperture: CPU-accessible VRAM, mapped on first use, or NULL */
	void __iomem *aperture;
	/** @hdp_dirty: the CPU has written to VRAM, HDP has not been flushed */
	bool hdp_dirty;
	/** @gpu: what copies by the GPU need, or NULL if it does not copy */
	struct radeon_gem_rw_gpu *gpu;
	/** @calls: number of steps, or of cleared BOs, by path */
	atomic64_t calls[RADEON_GEM_RW_PATHS];
	/** @bytes: number of bytes, by path */
	atomic64_t bytes[RADEON_GEM_RW_PATHS];
	/** @events: number of events, by kind */
	atomic64_t events[RADEON_GEM_RW_EVENTS];
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
 * struct radeon_gem_rw_pos - position in a transfer
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
 * struct radeon_gem_rw_piece - bytes that are contiguous on both sides
 */
struct radeon_gem_rw_piece {
	/** @offset: offset in the BO */
	u64 offset;
	/** @user: user address */
	char __user *user;
	/** @len: number of bytes */
	u32 len;
	/** @slot: offset in a buffer that has all pieces of a step */
	u32 slot;
};

/*
 * What is known about a step when its path is chosen, see radeon_gem_rw_look().
 */
#define RADEON_GEM_RW_IS_WRITE		BIT(0)	/* user memory to BO */
#define RADEON_GEM_RW_IS_NOWAIT		BIT(1)	/* RADEON_GEM_RW_NOWAIT */
#define RADEON_GEM_RW_IS_UNSYNC		BIT(2)	/* RADEON_GEM_RW_UNSYNCHRONIZED */
#define RADEON_GEM_RW_IS_REFUSED	BIT(3)	/* BO made from user memory */
#define RADEON_GEM_RW_IS_VRAM		BIT(4)	/* BO is in VRAM */
#define RADEON_GEM_RW_IS_HIDDEN		BIT(5)	/* in CPU-inaccessible VRAM */
#define RADEON_GEM_RW_IS_SYSTEM		BIT(6)	/* where the GPU has no access */
#define RADEON_GEM_RW_IS_ABSENT		BIT(7)	/* has no pages */
#define RADEON_GEM_RW_IS_BUSY		BIT(8)	/* fences to wait for */
#define RADEON_GEM_RW_IS_SMALL		BIT(9)	/* worth staging a write */
#define RADEON_GEM_RW_IS_LONG		BIT(10)	/* worth staging a read */
#define RADEON_GEM_RW_IS_LARGE		BIT(11)	/* worth pinning pages */

/**
 * struct radeon_gem_rw - one transfer between user memory and a BO
 *
 * Made from checked arguments; advances while bytes are transferred. What comes
 * after @avoid describes the step that is being done.
 */
struct radeon_gem_rw {
	/** @rdev: the device */
	struct radeon_device *rdev;
	/** @filp: whose call it is */
	struct drm_file *filp;
	/** @bo: the BO, on which a reference is held */
	struct radeon_bo *bo;
	/** @regions: what to transfer */
	const struct radeon_gem_rw_region *regions;
	/** @count: number of regions */
	u32 count;
	/** @flags: RADEON_GEM_RW_*, see radeon_drm_rw.h */
	u32 flags;
	/** @write: direction, true from user memory to the BO */
	bool write;
	/** @fault_in: make user memory resident before it is copied */
	bool fault_in;
	/** @pos: next byte to transfer */
	struct radeon_gem_rw_pos pos;
	/** @left: bytes left to transfer */
	u64 left;
	/** @buffer: for loads that are not cached, or NULL */
	void *buffer;
	/** @lost: how often the BO was used while this waited for it */
	unsigned int lost;
	/** @moves: how often the BO was moved */
	unsigned int moves;
	/** @fence: wait for this before the step is tried again, or NULL */
	struct radeon_fence *fence;
	/** @job: work of the GPU that the call waits for, or NULL */
	struct radeon_gem_rw_job *job;
	/** @resets: &radeon_device.gpu_reset_counter when it was submitted */
	int resets;
	/** @fails: how often in a row nothing could be copied */
	unsigned int fails;
	/** @avoid: BIT() of each path that is not possible for now */
	unsigned long avoid;

	/** @pieces: room for pieces */
	struct radeon_gem_rw_piece *pieces;
	/** @max_pieces: room in @pieces, at most RADEON_GEM_RW_MAX_PIECES */
	unsigned int max_pieces;
	/** @n: number of pieces */
	unsigned int n;
	/** @look: RADEON_GEM_RW_IS_* */
	unsigned int look;
	/** @dwords: all pieces begin and end at dwords of the BO */
	bool dwords;
	/** @slots: size of a buffer for all pieces */
	u32 slots;
	/** @len: number of bytes */
	u64 len;
	/** @start: offset of the nearest byte in the BO */
	u64 start;
	/** @end: offset behind the furthest byte in the BO */
	u64 end;
	/** @next: position behind the step */
	struct radeon_gem_rw_pos next;
};

/**
 * struct radeon_gem_rw_path - something that can be done in a step
 *
 * Both functions return how many bytes have been transferred, which may be 0 if
 * the step has to be tried again, or a negative error code.
 */
struct radeon_gem_rw_path {
	/**
	 * @held: called with everything held that radeon_gem_rw_step() takes, or
	 * NULL. May return RADEON_GEM_RW_IMPOSSIBLE for the next rule.
	 */
	ssize_t (*held)(struct radeon_gem_rw *rw);
	/**
	 * @after: called with nothing held, unless @held has failed, or NULL.
	 * Gets what that has returned, or 0.
	 */
	ssize_t (*after)(struct radeon_gem_rw *rw, ssize_t done);
	/** @id: the path, for &radeon_gem_rw.avoid and the counters */
	enum radeon_gem_rw_path_id id;
};

/* Internal result: this path is not possible now, take the next rule. */
#define RADEON_GEM_RW_IMPOSSIBLE	(-EXDEV)

extern const struct radeon_gem_rw_path radeon_gem_rw_cpu;
extern const struct radeon_gem_rw_path radeon_gem_rw_indirect;

/* radeon_gem_rw.c */
int radeon_gem_pread_ioctl(struct drm_device *dev, void *data,
			   struct drm_file *filp);
int radeon_gem_pwrite_ioctl(struct drm_device *dev, void *data,
			    struct drm_file *filp);
int radeon_gem_rw_check_range(const struct radeon_bo *bo, u64 offset, u64 size);
int radeon_gem_rw_copy(struct radeon_gem_rw *rw);
void radeon_gem_rw_take(struct radeon_gem_rw *rw, u64 max_len, u32 max_slots);
int radeon_gem_rw_hold(struct radeon_gem_rw *rw);
void radeon_gem_rw_release(struct radeon_gem_rw *rw);
bool radeon_gem_rw_is_idle(const struct radeon_gem_rw *rw);
int radeon_gem_rw_wait_idle(const struct radeon_gem_rw *rw);
u32 radeon_gem_rw_caps(struct radeon_device *rdev);
int radeon_gem_rw_init(struct radeon_device *rdev);
void radeon_gem_rw_fini(struct radeon_device *rdev);

/* radeon_gem_rw_cpu.c */
void __iomem *radeon_gem_rw_map_vram(struct radeon_device *rdev, u64 start,
				     u64 len, void __iomem **iomap);
void radeon_gem_rw_unmap_vram(struct radeon_device *rdev);
void radeon_gem_rw_flush_hdp(struct radeon_device *rdev);

/* radeon_gem_rw_stats.c */
void radeon_gem_rw_debugfs_init(struct radeon_device *rdev);

/**
 * radeon_gem_rw_count - count a step
 * @rdev: the device
 * @path: path of the bytes
 * @bytes: number of bytes, or 0 to count nothing
 */
static inline void radeon_gem_rw_count(struct radeon_device *rdev,
				       enum radeon_gem_rw_path_id path, u64 bytes)
{
	if (!bytes)
		return;

	atomic64_inc(&rdev->gem_rw->calls[path]);
	atomic64_add(bytes, &rdev->gem_rw->bytes[path]);
}

/**
 * radeon_gem_rw_event - count an event
 * @rdev: the device
 * @event: the event
 */
static inline void radeon_gem_rw_event(struct radeon_device *rdev,
				       enum radeon_gem_rw_event event)
{
	atomic64_inc(&rdev->gem_rw->events[event]);
}

#endif
