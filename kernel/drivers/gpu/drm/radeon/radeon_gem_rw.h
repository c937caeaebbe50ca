/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing GEM objects without mapping them: declarations that the CPU's
 * path, the ioctls and the rest of the driver share.
 *
 * radeon_gem_rw.c		locks, steps, the choice of their path, ioctls
 * radeon_gem_rw_cpu.c		copies by the CPU
 */

#ifndef __RADEON_GEM_RW_H__
#define __RADEON_GEM_RW_H__

#include "radeon.h"

/* Longest sleep, in jiffies, before looking whether the GPU is locked up. */
#define RADEON_GEM_RW_WAIT_SLICE	(HZ / 2)

/*
 * Lost races after which the wait is done with the BO locked. A race is lost if others
 * use the BO again between the wait for it and locking it.
 */
#define RADEON_GEM_RW_MAX_LOST_RACES	4

/* Calls for a BO that signals may end in a row, see radeon_gem_rw_is_interruptible(). */
#define RADEON_GEM_RW_MAX_ENDS		4

/*
 * The offsets of a piece in a buffer and in the BO are equal modulo this. Then
 * drm_memcpy_from_wc() is fast.
 */
#define RADEON_GEM_RW_SLOT_ALIGN	16

/* Most bytes in a step: bounds how long the locks are held. */
#define RADEON_GEM_RW_STEP_MAX		SZ_256K

/* Counters: first the paths, each with its bytes. */
enum radeon_gem_rw_counter {
	RADEON_GEM_RW_CPU,		/* by the CPU */
	RADEON_GEM_RW_PATHS,
	RADEON_GEM_RW_STALL =		/* had to wait for a BO */
		RADEON_GEM_RW_PATHS,
	RADEON_GEM_RW_NOT_RESIDENT,	/* user memory was not resident */
	RADEON_GEM_RW_MOVED,		/* BO was moved to where the CPU has access */
	RADEON_GEM_RW_COUNTERS
};

/* State of reads and writes, one for each device. */
struct radeon_gem_rw_state {
	void __iomem *aperture;		/* or NULL */
	bool hdp_dirty;			/* VRAM written by the CPU, HDP not flushed */
	atomic64_t counts[RADEON_GEM_RW_COUNTERS];
	atomic64_t bytes[RADEON_GEM_RW_PATHS];
};

/* Bytes that are contiguous on both sides. */
struct radeon_gem_rw_piece {
	u64 offset;			/* in the BO */
	char __user *user;
	u32 len;
};

/* Properties of a step that decide its path. The first two are flags of the call. */
#define RADEON_GEM_RW_IS_UNSYNC		RADEON_GEM_RW_UNSYNCHRONIZED	/* BIT(0) */
#define RADEON_GEM_RW_IS_NOWAIT		RADEON_GEM_RW_NOWAIT		/* BIT(1) */
#define RADEON_GEM_RW_IS_WRITE		BIT(2)	/* user memory to BO */
#define RADEON_GEM_RW_IS_VRAM		BIT(3)	/* BO is in VRAM */
#define RADEON_GEM_RW_IS_HIDDEN		BIT(4)	/* in CPU-inaccessible VRAM */
#define RADEON_GEM_RW_IS_ABSENT		BIT(5)	/* has no pages */
#define RADEON_GEM_RW_IS_BUSY		BIT(6)	/* fences to wait for */

/* A transfer between user memory and a BO, and how far it has got. */
struct radeon_gem_rw {
	struct radeon_device *rdev;
	struct radeon_bo *bo;		/* referenced */
	u32 flags;			/* RADEON_GEM_RW_*, see radeon_drm_rw.h */
	bool write;			/* from user memory to the BO */
	bool begun;			/* bytes have been transferred */
	bool fault_in;			/* fault user memory in before the next try */
	u64 offset;			/* of the next byte in the BO */
	char __user *user;		/* the next byte */
	u64 left;			/* bytes */
	void *buffer;			/* for uncached loads, or NULL */
	unsigned int lost;		/* lost races, see RADEON_GEM_RW_MAX_LOST_RACES */
	unsigned int moves;		/* times the BO was moved */
	unsigned int fails;		/* tries in a row that copied nothing */

	/* The current step. */
	struct radeon_gem_rw_piece *pieces;
	unsigned int look;		/* RADEON_GEM_RW_IS_* */
	u64 len;			/* bytes */
	u64 end;			/* highest offset in the BO, exclusive */
};

/*
 * A path that a step can take. Both functions return how many bytes they have
 * transferred, 0 if the step has to be tried again, or a negative
 * error code. Either may be NULL. held() is called with the locks held. after() is
 * called with nothing held, unless held() has failed, and gets its return value, or 0.
 */
struct radeon_gem_rw_path {
	ssize_t (*held)(struct radeon_gem_rw *rw);
	ssize_t (*after)(struct radeon_gem_rw *rw, ssize_t done);
};

extern const struct radeon_gem_rw_path radeon_gem_rw_cpu;

/* radeon_gem_rw.c */
int radeon_gem_pread_ioctl(struct drm_device *dev, void *data, struct drm_file *filp);
int radeon_gem_pwrite_ioctl(struct drm_device *dev, void *data, struct drm_file *filp);
u32 radeon_gem_rw_caps(struct radeon_device *rdev);
int radeon_gem_rw_init(struct radeon_device *rdev);
void radeon_gem_rw_fini(struct radeon_device *rdev);
void radeon_gem_rw_take(struct radeon_gem_rw *rw, u64 max_len);
bool radeon_gem_rw_is_interruptible(const struct radeon_gem_rw *rw);

/* radeon_gem_rw_cpu.c */
void radeon_gem_rw_flush_hdp(struct radeon_device *rdev);

/* Count a step, unless it has no bytes. */
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

/* User memory was not resident: fault it in before the next try. */
static inline void radeon_gem_rw_missed(struct radeon_gem_rw *rw)
{
	radeon_gem_rw_event(rw->rdev, RADEON_GEM_RW_NOT_RESIDENT);
	rw->fault_in = true;
	rw->fails++;
}

#endif
