// SPDX-License-Identifier: MIT
/*
 * Copyright 2026 Seed 7e3b15d1 maintainers
 *
 * Reading and writing GEM objects without mapping them: copies through the
 * staging buffer.
 *
 * The staging buffer is GTT memory, cached by the CPU and snooped by the GPU. A write
 * puts its bytes into a suballocation, and submits a job that copies them after the work
 * already submitted for the BO. The job's fence is attached to the BO, so that later work
 * comes after the copy, and the call returns without waiting. For a read the GPU copies
 * first; the call waits for that, with nothing held.
 *
 * A call never waits for anything that user space controls while it holds a
 * suballocation, so it accesses user memory with page faults disabled.
 */

#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/radeon_drm.h>

#include "radeon.h"
#include "radeon_asic.h"
#include "radeon_gem_rw_gpu.h"

/* Most bytes by which a slot is larger than its piece. */
#define RADEON_GEM_RW_SLOT_COST		(2 * RADEON_GEM_RW_SLOT_ALIGN)

static unsigned int radeon_gem_rw_stage_size = SZ_2M;
MODULE_PARM_DESC(gem_rw_stage_size,
		 "Bytes of GTT memory through which the GPU copies (default 2097152, 65536 to 4194304, 0 = GPU does not copy)");
module_param_named(gem_rw_stage_size, radeon_gem_rw_stage_size, uint, 0444);

static unsigned int radeon_gem_rw_stage_write_max = SZ_256K;
MODULE_PARM_DESC(gem_rw_stage_write_max,
		 "Writes of up to this many bytes to a busy BO are staged and copied by the GPU, larger ones wait (default 262144)");
module_param_named(gem_rw_stage_write_max, radeon_gem_rw_stage_write_max, uint, 0644);

static unsigned int radeon_gem_rw_stage_read_min = SZ_16K;
MODULE_PARM_DESC(gem_rw_stage_read_min,
		 "Reads of at least this many bytes of VRAM are copied by the GPU (default 16384)");
module_param_named(gem_rw_stage_read_min, radeon_gem_rw_stage_read_min, uint, 0644);

/* Jobs to wait for */

/*
 * Returns the fence of a job that the transfer has to wait for, or NULL. With @own it is
 * that of the process's oldest job in a ring that holds a suballocation. Else, if the
 * transfer is unsynchronized, that of a staged write to a dword of the step (registers
 * take whole dwords): to user space that write is done, so nothing may overtake it.
 */
static struct radeon_fence *
radeon_gem_rw_find_fence(const struct radeon_gem_rw *rw, bool own)
{
	struct radeon_gem_rw_gpu *gpu = rw->rdev->gem_rw_gpu;
	u64 start = ALIGN_DOWN(rw->start, 4), end = ALIGN(rw->end, 4);
	struct radeon_fence *fence = NULL;
	struct radeon_gem_rw_job *job;
	unsigned int i;

	if (!gpu || !(own || rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED))
		return NULL;

	spin_lock(&gpu->lock);
	radeon_gem_rw_reap(gpu);
	for (i = 0; i < RADEON_NUM_RINGS && !fence; i++) {
		list_for_each_entry(job, &gpu->jobs[i], head) {
			if (own ? job->units && job->client[0] == current->tgid :
				  job->bo == rw->bo && job->start < end &&
				  start < job->end) {
				fence = radeon_fence_ref(job->fence);
				break;
			}
		}
	}
	spin_unlock(&gpu->lock);

	return fence;
}

/* Does an unsynchronized transfer have to wait for staged writes to the same dwords? */
bool radeon_gem_rw_is_pending(const struct radeon_gem_rw *rw)
{
	struct radeon_fence *fence = radeon_gem_rw_find_fence(rw, false);
	bool pending = fence;

	radeon_fence_unref(&fence);
	return pending;
}

static int radeon_gem_rw_wait_fence(const struct radeon_gem_rw *rw,
				    struct radeon_fence *fence)
{
	long r;

	do {
		r = dma_fence_wait_timeout(&fence->base,
					   radeon_gem_rw_is_interruptible(rw),
					   RADEON_GEM_RW_WAIT_SLICE);
		if (!r && fatal_signal_pending(current))
			r = -ERESTARTSYS;
	} while (!r);
	radeon_fence_unref(&fence);

	return r < 0 ? r : 0;
}

int radeon_gem_rw_wait_pending(const struct radeon_gem_rw *rw)
{
	struct radeon_fence *fence;
	int r = 0;

	while (!r && (fence = radeon_gem_rw_find_fence(rw, false)))
		r = radeon_gem_rw_wait_fence(rw, fence);

	return r;
}

/* The staged path */

/*
 * Returns the offset of a piece's slot in a suballocation, equal to that in the BO modulo
 * RADEON_GEM_RW_SLOT_ALIGN. @end is the end of the previous slot, and becomes this one's.
 */
static u32 radeon_gem_rw_slot(const struct radeon_gem_rw_piece *piece, u32 *end)
{
	u32 slot = ALIGN(*end, RADEON_GEM_RW_SLOT_ALIGN) +
		piece->offset % RADEON_GEM_RW_SLOT_ALIGN;

	*end = slot + piece->len;
	return slot;
}

/* Returns a job with a suballocation for the step, which may get shorter, or NULL. */
static struct radeon_gem_rw_job *
radeon_gem_rw_stage_job(struct radeon_gem_rw *rw)
{
	struct radeon_gem_rw_gpu *gpu = rw->rdev->gem_rw_gpu;
	u32 max = gpu->max[0] * RADEON_GEM_RW_UNIT -
		RADEON_GEM_RW_JOB_HEADER - RADEON_GEM_RW_SLOT_COST;
	u32 end = RADEON_GEM_RW_JOB_HEADER;
	struct radeon_gem_rw_job *job;
	u64 bo, mem, len, extra;
	unsigned int i;

	if (rw->len + rw->n * RADEON_GEM_RW_SLOT_COST > max)
		radeon_gem_rw_set_step(rw, max);

	job = radeon_gem_rw_job_new(rw->n);
	if (!job)
		return NULL;

	if (!radeon_gem_rw_job_suballoc(rw, job, rw->len + rw->n *
					RADEON_GEM_RW_SLOT_COST)) {
		radeon_gem_rw_job_put(rw->rdev, job);
		return NULL;
	}

	job->dwords = true;
	for (i = 0; i < rw->n; i++) {
		bo = radeon_bo_gpu_offset(rw->bo) + rw->pieces[i].offset;
		mem = job->gpu_addr + radeon_gem_rw_slot(&rw->pieces[i], &end);
		len = rw->pieces[i].len;

		/* Read whole dwords: the slot has room for the bytes around. */
		if (!rw->write) {
			extra = bo % 4;
			bo -= extra;
			mem -= extra;
			len = ALIGN(len + extra, 4);
		}
		job->ops[i].dst = rw->write ? bo : mem;
		job->ops[i].src = rw->write ? mem : bo;
		job->ops[i].len = len;
		job->dwords &= IS_ALIGNED(bo | len, 4);
	}

	job->replay = rw->write;
	job->alone = rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED;
	job->busy = !rw->write;
	job->bo = rw->write ? rw->bo : NULL;
	job->start = rw->start;
	job->end = rw->end;

	return job;
}

/* Copy between user memory and slots. Returns the number of bytes copied. */
static u64 radeon_gem_rw_copy_slots(struct radeon_gem_rw *rw,
				    const struct radeon_gem_rw_job *job)
{
	const struct radeon_gem_rw_piece *piece;
	u32 end = RADEON_GEM_RW_JOB_HEADER;
	size_t missed = 0;
	u64 done;
	void *slot;

	pagefault_disable();
	for (piece = rw->pieces, done = 0; done < rw->len && !missed; piece++) {
		slot = job->mem + radeon_gem_rw_slot(piece, &end);
		if (rw->write)
			missed = __copy_from_user_inatomic(slot, piece->user,
							   piece->len);
		else
			missed = __copy_to_user_inatomic(piece->user, slot, piece->len);
		done += piece->len - missed;
	}
	pagefault_enable();

	if (missed)
		radeon_gem_rw_note_fault(rw);

	return done;
}

/* There is no room, or no ring takes the copy: let the step do something else. */
static ssize_t radeon_gem_rw_not_staged(struct radeon_gem_rw *rw)
{
	radeon_gem_rw_event(rw->rdev, RADEON_GEM_RW_NOT_STAGED);
	rw->is &= ~RADEON_GEM_RW_IS_GPU;
	return 0;
}

/*
 * Submit the copy of a step, or of its first bytes, with the locks held. A write is done
 * then. Returns how many bytes are done. 0: with RADEON_GEM_RW_IS_GPU in rw->is,
 * radeon_gem_rw_finish_stage() has to follow with nothing held; without it, the GPU
 * cannot copy at the moment. Or returns -EDEADLK if the GPU has to be reset.
 */
ssize_t radeon_gem_rw_stage(struct radeon_gem_rw *rw)
{
	struct radeon_device *rdev = rw->rdev;
	struct radeon_gem_rw_job *job;
	int r;

	job = radeon_gem_rw_stage_job(rw);
	if (!job) {
		/* Rather than move an inaccessible BO, wait for an own job. */
		if (rw->is & RADEON_GEM_RW_IS_HIDDEN &&
		    !(rw->is & (RADEON_GEM_RW_IS_UNSYNC | RADEON_GEM_RW_IS_NOWAIT)))
			rw->fence = radeon_gem_rw_find_fence(rw, true);
		if (!rw->fence)
			return radeon_gem_rw_not_staged(rw);
		radeon_gem_rw_event(rdev, RADEON_GEM_RW_NOT_STAGED);
		return 0;
	}

	if (rw->write && radeon_gem_rw_copy_slots(rw, job) < rw->len) {
		radeon_gem_rw_job_put(rdev, job);
		return 0;
	}

	r = radeon_gem_rw_ring_submit(rw, job);
	if (r) {
		radeon_gem_rw_job_put(rdev, job);
		return r == -EDEADLK ? r : radeon_gem_rw_not_staged(rw);
	}

	if (!rw->write) {
		rw->job = job;
		return 0;
	}

	radeon_gem_rw_event(rdev, RADEON_GEM_RW_STALL_AVOIDED);
	radeon_gem_rw_count(rdev, RADEON_GEM_RW_STAGED, rw->len);
	rw->staged = true;
	return rw->len;
}

/* Wait for the copy of a read, or for room. Returns the number of bytes, or an error. */
ssize_t radeon_gem_rw_finish_stage(struct radeon_gem_rw *rw)
{
	struct radeon_gem_rw_job *job = rw->job;
	ssize_t done = 0;

	if (rw->fence) {
		radeon_gem_rw_nap(rw->fence);
		done = radeon_gem_rw_wait_fence(rw, rw->fence);
		rw->fence = NULL;
	}

	if (job) {
		rw->job = NULL;
		done = radeon_gem_rw_job_wait(rw, job);
		if (!done)
			done = radeon_gem_rw_copy_slots(rw, job);
		radeon_gem_rw_job_put(rw->rdev, job);
		if (done > 0)
			radeon_gem_rw_count(rw->rdev, RADEON_GEM_RW_STAGED, done);
	}

	return done;
}

/* Returns RADEON_GEM_RW_IS_GPU, _SMALL and _LONG of a step. */
unsigned int radeon_gem_rw_gpu_state(const struct radeon_gem_rw *rw)
{
	bool is_small = rw->left <= READ_ONCE(radeon_gem_rw_stage_write_max);
	bool is_long = rw->len >= READ_ONCE(radeon_gem_rw_stage_read_min);

	if (!rw->rdev->gem_rw_gpu)
		return 0;

	return RADEON_GEM_RW_IS_GPU | (is_small ? RADEON_GEM_RW_IS_SMALL : 0) |
		(is_long ? RADEON_GEM_RW_IS_LONG : 0);
}

/* Setting up */

/*
 * May the GPU copy? Only if it is not switched off, the packets of this device are known,
 * and the GPU sees memory as the CPU does, which AGP does not guarantee.
 */
bool radeon_gem_rw_gpu_supported(struct radeon_device *rdev)
{
	return radeon_gem_rw_stage_size && rdev->family >= CHIP_R600 &&
		rdev->family <= CHIP_ARUBA && !(rdev->flags & RADEON_IS_AGP);
}

/*
 * Needs a working GART. Does nothing when the device is resumed. Without a staging buffer
 * all transfers work, but with stalls and moves of BOs.
 */
void radeon_gem_rw_gpu_init(struct radeon_device *rdev)
{
	u32 size = PAGE_ALIGN(clamp(radeon_gem_rw_stage_size, SZ_64K,
				    RADEON_GEM_RW_STAGE_SIZE_MAX));
	struct radeon_gem_rw_gpu *gpu;
	unsigned int i;
	int r;

	if (rdev->gem_rw_gpu || !radeon_gem_rw_gpu_supported(rdev))
		return;

	gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);
	if (!gpu)
		return;

	spin_lock_init(&gpu->lock);
	xa_init(&gpu->held[0]);
	xa_init(&gpu->held[1]);
	for (i = 0; i < RADEON_NUM_RINGS; i++)
		INIT_LIST_HEAD(&gpu->jobs[i]);

	/* Only the manager's BO is used, which is pinned and mapped. */
	gpu->units = size / RADEON_GEM_RW_UNIT;
	/*
	 * With room for the headers of two largest steps: the CPU copies the second one
	 * while the GPU copies the first.
	 */
	gpu->max[0] = gpu->units / 4 + 2;
	gpu->max[1] = gpu->units / 2 + 4;
	r = radeon_sa_bo_manager_init(rdev, &gpu->sa, size, RADEON_GEM_RW_UNIT,
				      RADEON_GEM_DOMAIN_GTT, 0);
	if (r)
		goto out_free;
	r = radeon_sa_bo_manager_start(rdev, &gpu->sa);
	if (r)
		goto out_fini;

	rdev->gem_rw_gpu = gpu;
	return;

out_fini:
	radeon_sa_bo_manager_fini(rdev, &gpu->sa);
out_free:
	kfree(gpu);
	dev_warn(rdev->dev, "no staging buffer for GEM reads and writes (%d)\n", r);
}

/* Wait for jobs before the rings are stopped. The device has no users any more. */
void radeon_gem_rw_gpu_drain(struct radeon_device *rdev)
{
	unsigned int i;

	if (!rdev->gem_rw_gpu)
		return;

	mutex_lock(&rdev->ring_lock);
	for (i = 0; i < RADEON_NUM_RINGS; i++) {
		if (rdev->ring[i].ready)
			radeon_fence_wait_empty(rdev, i);
	}
	mutex_unlock(&rdev->ring_lock);
}

/* Release what copies by the GPU need. The engines have been stopped. */
void radeon_gem_rw_gpu_fini(struct radeon_device *rdev)
{
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw_gpu;
	struct radeon_gem_rw_job *job, *next;
	unsigned int i;

	if (!gpu)
		return;

	spin_lock(&gpu->lock);
	for (i = 0; i < RADEON_NUM_RINGS; i++) {
		list_for_each_entry_safe(job, next, &gpu->jobs[i], head)
			radeon_gem_rw_job_free(gpu, job);
	}
	spin_unlock(&gpu->lock);

	radeon_sa_bo_manager_suspend(rdev, &gpu->sa);
	radeon_sa_bo_manager_fini(rdev, &gpu->sa);
	rdev->gem_rw_gpu = NULL;
	kfree(gpu);
}
