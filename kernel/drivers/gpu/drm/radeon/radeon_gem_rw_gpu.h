/* SPDX-License-Identifier: MIT */
/*
 * Copyright 2026 Seed 7e3b15d1 maintainers
 *
 * Reading and writing GEM objects without mapping them: declarations that the
 * GPU's paths share.
 *
 * radeon_gem_rw_stage.c	copies through the staging buffer, setting up
 * radeon_gem_rw_job.c		jobs, their parts of the staging buffer
 * radeon_gem_rw_ring.c		packets and submission
 * radeon_gem_rw_replay.c	jobs that a GPU reset has lost
 */

#ifndef __RADEON_GEM_RW_GPU_H__
#define __RADEON_GEM_RW_GPU_H__

#include "radeon.h"
#include "radeon_gem_rw.h"

/* Bytes in a unit of the staging buffer: suballocations are whole units. */
#define RADEON_GEM_RW_UNIT		256

/* Largest staging buffer, in bytes. */
#define RADEON_GEM_RW_STAGE_SIZE_MAX	SZ_4M

/*
 * Header of a suballocation, for the job's packets: a dword to synchronise the PFP, and
 * a semaphore for each ring except the video rings. The staged bytes follow.
 */
#define RADEON_GEM_RW_JOB_HEADER	64
#define RADEON_GEM_RW_JOB_SEMAPHORES	R600_RING_TYPE_UVD_INDEX

/* Bytes that a job copies; GPU addresses. */
struct radeon_gem_rw_op {
	u64 dst;
	u64 src;
	u64 len;
};

/*
 * struct radeon_gem_rw_job - work for the GPU
 *
 * Belongs to a call until it has been submitted, then to the list of its ring
 * until its fence has signaled and busy is false.
 */
struct radeon_gem_rw_job {
	struct list_head head;		/* in the list of its ring */
	struct radeon_fence *fence;	/* NULL until it has been submitted */
	bool busy;			/* a call is using it */
	bool replay;			/* replay it if a reset loses it */
	bool alone;			/* only for a ring that does nothing else */
	bool dwords;			/* made of whole dwords */
	/* For comparisons only: they may end or be freed, and their values be used again. */
	unsigned long client[2];	/* process and user that hold the suballocation */
	const struct radeon_bo *bo;	/* BO that is written, or NULL */
	u64 start;			/* lowest offset in the BO */
	u64 end;			/* highest offset in the BO, exclusive */
	unsigned int unit;		/* first unit of the suballocation */
	unsigned int units;		/* its size in units, 0 without one */
	void *mem;			/* the suballocation */
	u64 gpu_addr;
	unsigned int n;			/* length of ops */
	struct radeon_gem_rw_op ops[];
};

/* State of copies by the GPU, one for each device. */
struct radeon_gem_rw_gpu {
	struct radeon_sa_manager sa;	/* staging buffer, pinned in GTT */
	unsigned int units;		/* its size */
	spinlock_t lock;		/* protects what follows */
	DECLARE_BITMAP(used, RADEON_GEM_RW_STAGE_SIZE_MAX / RADEON_GEM_RW_UNIT);
	struct xarray held[2];		/* units, by process and by user */
	unsigned int max[2];		/* units, most for one process, for one user */
	struct list_head jobs[RADEON_NUM_RINGS];	/* submitted, oldest first */
};

/* radeon_gem_rw_stage.c */
bool radeon_gem_rw_gpu_supported(struct radeon_device *rdev);
void radeon_gem_rw_gpu_init(struct radeon_device *rdev);
void radeon_gem_rw_gpu_drain(struct radeon_device *rdev);
void radeon_gem_rw_gpu_fini(struct radeon_device *rdev);
unsigned int radeon_gem_rw_gpu_state(const struct radeon_gem_rw *rw);
ssize_t radeon_gem_rw_stage(struct radeon_gem_rw *rw);
ssize_t radeon_gem_rw_finish_stage(struct radeon_gem_rw *rw);
bool radeon_gem_rw_is_pending(const struct radeon_gem_rw *rw);
int radeon_gem_rw_wait_pending(const struct radeon_gem_rw *rw);

/* radeon_gem_rw_job.c */
bool radeon_gem_rw_share_take(struct radeon_gem_rw_gpu *gpu,
			      const unsigned long client[2], int n);
void radeon_gem_rw_share_give(struct radeon_gem_rw_gpu *gpu,
			      const unsigned long client[2], int n);
struct radeon_gem_rw_job *radeon_gem_rw_job_new(unsigned int n);
bool radeon_gem_rw_job_suballoc(struct radeon_gem_rw *rw,
				struct radeon_gem_rw_job *job, u32 size);
void radeon_gem_rw_job_put(struct radeon_device *rdev, struct radeon_gem_rw_job *job);
void radeon_gem_rw_job_free(struct radeon_gem_rw_gpu *gpu,
			    struct radeon_gem_rw_job *job);
void radeon_gem_rw_reap(struct radeon_gem_rw_gpu *gpu);
void radeon_gem_rw_nap(struct radeon_fence *fence);
int radeon_gem_rw_job_wait(const struct radeon_gem_rw *rw,
			   const struct radeon_gem_rw_job *job);

/* radeon_gem_rw_replay.c */
void radeon_gem_rw_gpu_replay(struct radeon_device *rdev, unsigned long rings);
void radeon_gem_rw_gpu_recover(struct radeon_device *rdev, u32 **restored);

/* radeon_gem_rw_ring.c */
int radeon_gem_rw_ring_submit(struct radeon_gem_rw *rw, struct radeon_gem_rw_job *job);
int radeon_gem_rw_ring_resubmit(struct radeon_device *rdev,
				struct radeon_gem_rw_job *job,
				struct radeon_fence **fence);

#endif
