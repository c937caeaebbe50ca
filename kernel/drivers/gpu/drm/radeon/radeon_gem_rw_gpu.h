/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing GEM objects without mapping them: what the paths of the
 * GPU share.
 *
 * radeon_gem_rw_stage.c	jobs, the staging buffer and copies through it
 * radeon_gem_rw_ring.c		packets and submission
 */

#ifndef __RADEON_GEM_RW_GPU_H__
#define __RADEON_GEM_RW_GPU_H__

#include <linux/list.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "radeon.h"
#include "radeon_gem_rw.h"

/* Suballocations are made of units of so many bytes. */
#define RADEON_GEM_RW_UNIT		256

/*
 * A suballocation begins with what the job's packets use: a dword to synchronise
 * the PFP with, and semaphores. The bytes follow.
 */
#define RADEON_GEM_RW_JOB_HEADER	64
#define RADEON_GEM_RW_JOB_SEMAPHORE	8
#define RADEON_GEM_RW_JOB_SEMAPHORES	4

/* A file may hold this part of the staging buffer, and there may be so many. */
#define RADEON_GEM_RW_FILE_SHARE	4
#define RADEON_GEM_RW_MAX_FILES		16

/**
 * struct radeon_gem_rw_op - bytes that a job copies or fills
 */
struct radeon_gem_rw_op {
	/** @dst: GPU address */
	u64 dst;
	/** @src: GPU address, not used if the job fills */
	u64 src;
	/** @len: number of bytes */
	u64 len;
};

/**
 * struct radeon_gem_rw_job - work for the GPU
 *
 * Belongs to a call until it has been submitted, then to the list of its ring
 * until its fence has signaled and @busy is false.
 */
struct radeon_gem_rw_job {
	/** @head: in &radeon_gem_rw_gpu.jobs */
	struct list_head head;
	/** @fence: fence of the job, NULL if its semaphores only are in use */
	struct radeon_fence *fence;
	/** @busy: a call is using it */
	bool busy;
	/** @replay: has to be done again if a GPU reset loses it */
	bool replay;
	/** @alone: only for a ring that does nothing else */
	bool alone;
	/** @fill: fills with zeros */
	bool fill;
	/** @dwords: made of whole dwords */
	bool dwords;
	/** @filp: who holds the suballocation. Only to be compared. */
	const struct drm_file *filp;
	/**
	 * @bo: which BO is written, or NULL. Only to be compared: it may be
	 * gone, and another one in its place.
	 */
	const struct radeon_bo *bo;
	/** @start: offset of the nearest byte in the BO */
	u64 start;
	/** @end: offset behind the furthest byte in the BO */
	u64 end;
	/** @unit: place of the suballocation */
	unsigned int unit;
	/** @units: size of the suballocation, 0 without one */
	unsigned int units;
	/** @mem: the suballocation */
	void *mem;
	/** @gpu_addr: GPU address of the suballocation */
	u64 gpu_addr;
	/** @semaphores: for other rings; they have no memory of their own */
	struct radeon_semaphore semaphores[RADEON_GEM_RW_JOB_SEMAPHORES];
	/** @n: number of @ops */
	unsigned int n;
	/** @ops: what to do */
	struct radeon_gem_rw_op ops[];
};

/**
 * struct radeon_gem_rw_gpu - what copies by the GPU need
 */
struct radeon_gem_rw_gpu {
	/** @bo: the staging buffer, in GTT and pinned, or NULL */
	struct radeon_bo *bo;
	/** @cpu_addr: its address for the CPU */
	void *cpu_addr;
	/** @gpu_addr: its address for the GPU */
	u64 gpu_addr;
	/** @units: its size */
	unsigned int units;
	/** @lock: protects what follows */
	spinlock_t lock;
	/** @used: units that are in use */
	unsigned long *used;
	/** @next: unit behind the last suballocation */
	unsigned int next;
	/** @files: who holds how much */
	struct {
		const struct drm_file *filp;
		unsigned int units;
	} files[RADEON_GEM_RW_MAX_FILES];
	/** @jobs: submitted jobs of each ring, oldest first */
	struct list_head jobs[RADEON_NUM_RINGS];
};

extern const struct radeon_gem_rw_path radeon_gem_rw_staged;

/* radeon_gem_rw_stage.c */
void radeon_gem_rw_gpu_init(struct radeon_device *rdev);
void radeon_gem_rw_gpu_drain(struct radeon_device *rdev);
void radeon_gem_rw_gpu_fini(struct radeon_device *rdev);
void radeon_gem_rw_gpu_replay(struct radeon_device *rdev, unsigned long rings);
void radeon_gem_rw_gpu_recover(struct radeon_device *rdev, u32 **restored);
unsigned int radeon_gem_rw_gpu_look(const struct radeon_gem_rw *rw);
bool radeon_gem_rw_is_pending(const struct radeon_gem_rw *rw);
int radeon_gem_rw_wait_pending(const struct radeon_gem_rw *rw);
struct radeon_gem_rw_job *radeon_gem_rw_job_new(unsigned int n);
bool radeon_gem_rw_job_suballoc(struct radeon_gem_rw *rw,
				struct radeon_gem_rw_job *job, u32 size);
void radeon_gem_rw_job_submitted(struct radeon_device *rdev,
				 struct radeon_gem_rw_job *job, int ring);
void radeon_gem_rw_job_put(struct radeon_device *rdev,
			   struct radeon_gem_rw_job *job);
int radeon_gem_rw_job_wait(const struct radeon_gem_rw *rw,
			   const struct radeon_gem_rw_job *job);

/* radeon_gem_rw_ring.c */
bool radeon_gem_rw_ring_supported(struct radeon_device *rdev);
bool radeon_gem_rw_ring_can_fill(struct radeon_device *rdev);
int radeon_gem_rw_ring_submit(struct radeon_gem_rw *rw,
			      struct radeon_gem_rw_job *job);
int radeon_gem_rw_ring_replay(struct radeon_device *rdev,
			      struct radeon_gem_rw_job *job,
			      struct radeon_fence **fence);

#endif
