// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: copies through the
 * staging buffer.
 *
 * The staging buffer is GTT memory, cached by the CPU and snooped by the GPU. Bytes
 * to write are put into a suballocation, and a job is submitted that copies them after
 * the work already submitted for the BO. The job's fence is attached to the BO, so
 * that later work comes after the copy. The call returns without waiting. Bytes to
 * read take the opposite way, and there the call waits, with nothing held.
 *
 * Nothing that user space controls is waited for while a suballocation is held, so
 * user memory is accessed with page faults disabled.
 */

#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/radeon_drm_rw.h>

#include "radeon.h"
#include "radeon_asic.h"
#include "radeon_gem_rw_gpu.h"

/* Most bytes that a slot has more than its piece. */
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
 * The fence of a job that is in the way of a transfer, or NULL: the oldest one in a ring
 * that is @own, which means of the same file and holding a suballocation; or else, if the
 * transfer is unsynchronized, a staged write to any of the step's dwords, as registers
 * take whole dwords. To user space it is done already, so it must not be overtaken.
 */
static struct radeon_fence *
radeon_gem_rw_find_fence(const struct radeon_gem_rw *rw, bool own)
{
	struct radeon_gem_rw_gpu *gpu = rw->rdev->gem_rw->gpu;
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
			if (own ? job->units && job->filp == rw->filp :
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

/* Are there staged writes to the same bytes to wait for? */
bool radeon_gem_rw_is_pending(const struct radeon_gem_rw *rw)
{
	struct radeon_fence *fence = radeon_gem_rw_find_fence(rw, false);
	bool pending = fence;

	radeon_fence_unref(&fence);
	return pending;
}

static int radeon_gem_rw_wait_fence(struct radeon_fence *fence)
{
	long r;

	do {
		r = dma_fence_wait_timeout(&fence->base, true,
					   RADEON_GEM_RW_WAIT_SLICE);
	} while (!r);
	radeon_fence_unref(&fence);

	return r < 0 ? r : 0;
}

int radeon_gem_rw_wait_pending(const struct radeon_gem_rw *rw)
{
	struct radeon_fence *fence;
	int r = 0;

	while (!r && (fence = radeon_gem_rw_find_fence(rw, false)))
		r = radeon_gem_rw_wait_fence(fence);

	return r;
}

/* The staged path */

/*
 * Where a piece is in a suballocation: as in the BO, relative to
 * RADEON_GEM_RW_SLOT_ALIGN. @end is where the last one ended, then this one.
 */
static u32 radeon_gem_rw_slot(const struct radeon_gem_rw_piece *piece, u32 *end)
{
	u32 slot = ALIGN(*end, RADEON_GEM_RW_SLOT_ALIGN) +
		piece->offset % RADEON_GEM_RW_SLOT_ALIGN;

	*end = slot + piece->len;
	return slot;
}

/* A job with room for the bytes, or NULL. */
static struct radeon_gem_rw_job *
radeon_gem_rw_stage_job(struct radeon_gem_rw *rw)
{
	struct radeon_gem_rw_gpu *gpu = rw->rdev->gem_rw->gpu;
	u32 max = gpu->units / RADEON_GEM_RW_FILE_SHARE * RADEON_GEM_RW_UNIT -
		RADEON_GEM_RW_JOB_HEADER - RADEON_GEM_RW_SLOT_COST;
	u32 end = RADEON_GEM_RW_JOB_HEADER;
	struct radeon_gem_rw_job *job;
	u64 bo, mem, len, extra;
	unsigned int i;

	if (rw->len + rw->n * RADEON_GEM_RW_SLOT_COST > max)
		radeon_gem_rw_take(rw, max);

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

		/* Reading a bit more is fine, the slot has room for it. */
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

/* Copy between user memory and slots. Returns the number of bytes. */
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
		radeon_gem_rw_missed(rw);

	return done;
}

static ssize_t radeon_gem_rw_staged_held(struct radeon_gem_rw *rw)
{
	struct radeon_device *rdev = rw->rdev;
	struct radeon_gem_rw_job *job;
	int r;

	if (!rdev->gem_rw->gpu)
		return RADEON_GEM_RW_IMPOSSIBLE;

	job = radeon_gem_rw_stage_job(rw);
	if (!job) {
		radeon_gem_rw_event(rdev, RADEON_GEM_RW_NOT_STAGED);
		/* What the CPU cannot access would have to be moved. */
		if (rw->look & RADEON_GEM_RW_IS_HIDDEN &&
		    !(rw->look & (RADEON_GEM_RW_IS_UNSYNC | RADEON_GEM_RW_IS_NOWAIT)))
			rw->fence = radeon_gem_rw_find_fence(rw, true);
		return rw->fence ? 0 : RADEON_GEM_RW_IMPOSSIBLE;
	}

	if (rw->write && radeon_gem_rw_copy_slots(rw, job) < rw->len) {
		radeon_gem_rw_job_put(rdev, job);
		return 0;
	}

	r = radeon_gem_rw_ring_submit(rw, job);
	if (r) {
		radeon_gem_rw_job_put(rdev, job);
		if (r == -EDEADLK)
			return r;
		radeon_gem_rw_event(rdev, RADEON_GEM_RW_NOT_STAGED);
		return RADEON_GEM_RW_IMPOSSIBLE;
	}

	if (!rw->write) {
		rw->job = job;
		return 0;
	}

	radeon_gem_rw_event(rdev, RADEON_GEM_RW_STALL_AVOIDED);
	radeon_gem_rw_count(rdev, RADEON_GEM_RW_STAGED, rw->len);
	return rw->len;
}

static ssize_t radeon_gem_rw_staged_after(struct radeon_gem_rw *rw, ssize_t done)
{
	struct radeon_gem_rw_job *job = rw->job;

	if (rw->fence) {
		done = radeon_gem_rw_wait_fence(rw->fence);
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

const struct radeon_gem_rw_path radeon_gem_rw_staged = {
	.held = radeon_gem_rw_staged_held,
	.after = radeon_gem_rw_staged_after,
};

/* What radeon_gem_rw_look() has to know about copies by the GPU. */
unsigned int radeon_gem_rw_gpu_look(const struct radeon_gem_rw *rw)
{
	bool is_small = rw->left <= READ_ONCE(radeon_gem_rw_stage_write_max);
	bool is_long = rw->len >= READ_ONCE(radeon_gem_rw_stage_read_min);

	return (is_small ? RADEON_GEM_RW_IS_SMALL : 0) |
		(is_long ? RADEON_GEM_RW_IS_LONG : 0);
}

/* Setting up */

/*
 * Shall the GPU copy? Returns whether the packets of this device are known, and the GPU
 * reads memory as the CPU sees it, which AGP does not warrant.
 */
bool radeon_gem_rw_gpu_supported(struct radeon_device *rdev)
{
	return radeon_gem_rw_stage_size && rdev->family >= CHIP_R600 &&
		rdev->family <= CHIP_ARUBA && !(rdev->flags & RADEON_IS_AGP);
}

/*
 * The GART works. Does nothing when the device is resumed. Without a staging buffer
 * everything works, but with stalls and moves of BOs.
 */
void radeon_gem_rw_gpu_init(struct radeon_device *rdev)
{
	u32 size = PAGE_ALIGN(clamp(radeon_gem_rw_stage_size, SZ_64K,
				    RADEON_GEM_RW_STAGE_SIZE_MAX));
	struct radeon_gem_rw_gpu *gpu;
	unsigned int i;
	int r;

	if (rdev->gem_rw->gpu || !radeon_gem_rw_gpu_supported(rdev))
		return;

	gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);
	if (!gpu)
		return;

	spin_lock_init(&gpu->lock);
	for (i = 0; i < RADEON_NUM_RINGS; i++)
		INIT_LIST_HEAD(&gpu->jobs[i]);

	/* What is used of it is the BO, which is pinned and mapped. */
	gpu->units = size / RADEON_GEM_RW_UNIT;
	r = radeon_sa_bo_manager_init(rdev, &gpu->sa, size, RADEON_GEM_RW_UNIT,
				      RADEON_GEM_DOMAIN_GTT, 0);
	if (r)
		goto out_free;
	r = radeon_sa_bo_manager_start(rdev, &gpu->sa);
	if (r)
		goto out_fini;

	rdev->gem_rw->gpu = gpu;
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

	if (!rdev->gem_rw || !rdev->gem_rw->gpu)
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
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw->gpu;
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
	rdev->gem_rw->gpu = NULL;
	kfree(gpu);
}
