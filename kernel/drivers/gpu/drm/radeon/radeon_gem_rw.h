/* SPDX-License-Identifier: MIT */
/*
 * Copyright 2026 Seed 7e3b15d1 maintainers
 *
 * Reading and writing GEM objects without mapping them: declarations that the CPU's
 * path, the ioctls and the rest of the driver share.
 *
 * radeon_gem_rw.c		locks, steps, the choice of what they do, ioctls
 * radeon_gem_rw_cpu.c		copies by the CPU
 */

#ifndef __RADEON_GEM_RW_H__
#define __RADEON_GEM_RW_H__

#include "radeon.h"

/* Longest sleep, in jiffies, before looking whether the GPU is locked up. */
#define RADEON_GEM_RW_WAIT_SLICE	(HZ / 2)

/*
 * The offsets of a piece in a buffer and in the BO are equal modulo this. Then
 * drm_memcpy_from_wc() is fast.
 */
#define RADEON_GEM_RW_SLOT_ALIGN	16

/* Most bytes in a step: bounds how long the locks are held. */
#define RADEON_GEM_RW_STEP_MAX		SZ_256K

/* Bytes that are contiguous on both sides. */
struct radeon_gem_rw_piece {
	u64 offset;			/* in the BO */
	char __user *user;
	u32 len;
};

/* The state that a step finds. The first two are flags of the call. */
#define RADEON_GEM_RW_IS_UNSYNC		RADEON_GEM_RW_UNSYNCHRONIZED	/* BIT(0) */
#define RADEON_GEM_RW_IS_NOWAIT		RADEON_GEM_RW_NOWAIT		/* BIT(1) */
#define RADEON_GEM_RW_IS_WRITE		BIT(2)	/* user memory to BO */
#define RADEON_GEM_RW_IS_VRAM		BIT(3)	/* BO is in VRAM */
#define RADEON_GEM_RW_IS_HIDDEN		BIT(4)	/* in CPU-inaccessible VRAM */
#define RADEON_GEM_RW_IS_ABSENT		BIT(5)	/* has no pages */
#define RADEON_GEM_RW_IS_BUSY		BIT(6)	/* fences to wait for */

/* What a step does in that state. Only the copies are done with the locks held. */
enum radeon_gem_rw_action {
	RADEON_GEM_RW_COPY,		/* by the CPU */
	RADEON_GEM_RW_WAIT,		/* for the BO; with NOWAIT, fail */
	RADEON_GEM_RW_MOVE,		/* the BO to where the CPU has access */
	RADEON_GEM_RW_POPULATE,		/* give the BO pages */
};

/* A transfer between user memory and a BO, and how far it has got. */
struct radeon_gem_rw {
	struct radeon_device *rdev;
	struct radeon_bo *bo;		/* referenced */
	u32 flags;			/* see enum drm_radeon_gem_rw_flags */
	bool write;			/* from user memory to the BO */
	bool begun;			/* bytes have been transferred */
	bool fault_in;			/* fault user memory in before the next try */
	bool flushed;			/* the HDP has nothing from before the call */
	u64 offset;			/* of the next byte in the BO */
	char __user *user;		/* the next byte */
	u64 left;			/* bytes */
	unsigned int fails;		/* tries in a row that copied nothing */
	unsigned int moves;		/* vram.moves when @flushed was set */

	/* The current step. */
	struct radeon_gem_rw_piece *pieces;
	unsigned int is;		/* RADEON_GEM_RW_IS_* */
	u64 len;			/* bytes */
	u64 end;			/* highest offset in the BO, exclusive */
};

/* radeon_gem_rw.c */
int radeon_gem_pread_ioctl(struct drm_device *dev, void *data, struct drm_file *filp);
int radeon_gem_pwrite_ioctl(struct drm_device *dev, void *data, struct drm_file *filp);
u32 radeon_gem_rw_caps(struct radeon_device *rdev);
void radeon_gem_rw_set_step(struct radeon_gem_rw *rw, u64 max_len);
bool radeon_gem_rw_is_interruptible(const struct radeon_gem_rw *rw);

/* radeon_gem_rw_cpu.c */
ssize_t radeon_gem_rw_copy_by_cpu(struct radeon_gem_rw *rw);

/* User memory was not resident: fault it in before the next try. */
static inline void radeon_gem_rw_note_fault(struct radeon_gem_rw *rw)
{
	rw->fault_in = true;
	rw->fails++;
}

#endif
