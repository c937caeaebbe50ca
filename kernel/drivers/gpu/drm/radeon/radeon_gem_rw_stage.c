// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: jobs of the GPU, and
 * copies through the staging buffer.
 *
 * The staging buffer is GTT memory that CPU and GPU can always access, cached by
 * the CPU and snooped by the GPU. Bytes to write are put into a suballocation,
 * and a job is submitted that copies them after the work already submitted for
 * the BO. The job's fence is attached to the BO, so that work submitted later
 * comes after the copy. The call returns without waiting. Bytes to read take the
 * opposite way, and there the call waits, with nothing held.
 *
 * Nobody can take the staging buffer away: a file holds a quarter at most, and
 * who finds no room does without. Nothing that user space controls is waited for
 * while a suballocation is held, so user memory is accessed with page faults
 * disabled. drm_suballoc cannot be asked not to wait.
 *
 * A GPU reset loses the work in the DMA ring, and all if it fails. A staged write
 * has succeeded for its caller, so it is done again, from the staging buffer, by
 * the GPU or else by the CPU. So are fills.
 */

#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/dma-fence.h>
#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <drm/radeon_drm.h>
#include <drm/radeon_drm_rw.h>

#include "radeon.h"
#include "radeon_asic.h"
#include "radeon_gem_rw_gpu.h"

#define RADEON_GEM_RW_STAGE_SIZE_MIN	SZ_64K
#define RADEON_GEM_RW_STAGE_SIZE_MAX	SZ_4M

/* Longest sleep, in jiffies, while a signal is pending that is not a fatal one. */
#define RADEON_GEM_RW_KILL_SLICE	DIV_ROUND_UP(HZ, 50)

/*
 * In microseconds: for how long a job that is waited for is polled all the time,
 * the least time between two looks then, and for how long it is looked at before
 * the ring's interrupt is switched on.
 */
#define RADEON_GEM_RW_SPIN_US		200
#define RADEON_GEM_RW_NAP_US		50LL
#define RADEON_GEM_RW_NAPS_US		10000

/* How long a reset waits for an engine, in jiffies. Far more than needed. */
#define RADEON_GEM_RW_REPLAY_TIMEOUT	(2 * HZ)

static unsigned int radeon_gem_rw_stage_size = SZ_2M;
MODULE_PARM_DESC(gem_rw_stage_size,
		 "Bytes of GTT memory through which the GPU copies (default 2097152, 65536 to 4194304, 0 = GPU does not copy)");
module_param_named(gem_rw_stage_size, radeon_gem_rw_stage_size, uint, 0444);

static unsigned int radeon_gem_rw_stage_write_max = SZ_256K;
MODULE_PARM_DESC(gem_rw_stage_write_max,
		 "Writes of up to this many bytes to a busy BO are staged and copied by the GPU, larger ones wait (default 262144)");
module_param_named(gem_rw_stage_write_max, radeon_gem_rw_stage_write_max, uint,
		   0644);

static unsigned int radeon_gem_rw_stage_read_min = SZ_16K;
MODULE_PARM_DESC(gem_rw_stage_read_min,
		 "Reads of at least this many bytes of VRAM are copied by the GPU (default 16384)");
module_param_named(gem_rw_stage_read_min, radeon_gem_rw_stage_read_min, uint,
		   0644);

/*
 * Jobs
 */

/* Units that a file holds. Returns NULL if too many files hold some. */
static unsigned int *radeon_gem_rw_file_units(struct radeon_gem_rw_gpu *gpu,
					      const struct drm_file *filp)
{
	unsigned int i, *units = NULL;

	lockdep_assert_held(&gpu->lock);

	for (i = 0; i < RADEON_GEM_RW_MAX_FILES; i++) {
		if (gpu->files[i].units && gpu->files[i].filp == filp)
			return &gpu->files[i].units;
		if (!gpu->files[i].units && !units) {
			gpu->files[i].filp = filp;
			units = &gpu->files[i].units;
		}
	}

	return units;
}

static void radeon_gem_rw_job_free(struct radeon_gem_rw_gpu *gpu,
				   struct radeon_gem_rw_job *job)
{
	lockdep_assert_held(&gpu->lock);

	if (job->units) {
		*radeon_gem_rw_file_units(gpu, job->filp) -= job->units;
		bitmap_clear(gpu->used, job->unit, job->units);
	}
	radeon_fence_unref(&job->fence);
	kfree(job);
}

/* Free what has been done. Jobs in a ring are done in order. */
static void radeon_gem_rw_reap(struct radeon_gem_rw_gpu *gpu)
{
	struct radeon_gem_rw_job *job, *next;
	unsigned int i;

	for (i = 0; i < RADEON_NUM_RINGS; i++) {
		list_for_each_entry_safe(job, next, &gpu->jobs[i], head) {
			if (job->busy)
				continue;
			if (!job->fence || !radeon_fence_signaled(job->fence))
				break;
			list_del(&job->head);
			radeon_gem_rw_job_free(gpu, job);
		}
	}
}

/**
 * radeon_gem_rw_job_new - make a job
 * @n: number of ops
 *
 * Returns:
 * The job, to be given back with radeon_gem_rw_job_put() unless it is submitted,
 * or NULL.
 */
struct radeon_gem_rw_job *radeon_gem_rw_job_new(unsigned int n)
{
	struct radeon_gem_rw_job *job;

	job = kzalloc(struct_size(job, ops, n), GFP_KERNEL | __GFP_NOWARN);
	if (job) {
		INIT_LIST_HEAD(&job->head);
		job->n = n;
	}

	return job;
}

/**
 * radeon_gem_rw_job_put - give a job back
 * @rdev: the device
 * @job: the job; if it has been submitted, it lives until it is done
 */
void radeon_gem_rw_job_put(struct radeon_device *rdev,
			   struct radeon_gem_rw_job *job)
{
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw->gpu;

	spin_lock(&gpu->lock);
	job->busy = false;
	if (list_empty(&job->head))
		radeon_gem_rw_job_free(gpu, job);
	else
		radeon_gem_rw_reap(gpu);
	spin_unlock(&gpu->lock);
}

/**
 * radeon_gem_rw_job_suballoc - get a part of the staging buffer
 * @rw: whose call it is
 * @job: the job
 * @size: bytes, without the header
 *
 * Does not sleep.
 *
 * Returns:
 * Whether there was room.
 */
bool radeon_gem_rw_job_suballoc(struct radeon_gem_rw *rw,
				struct radeon_gem_rw_job *job, u32 size)
{
	unsigned int count = DIV_ROUND_UP(size + RADEON_GEM_RW_JOB_HEADER,
					  RADEON_GEM_RW_UNIT);
	struct radeon_gem_rw_gpu *gpu = rw->rdev->gem_rw->gpu;
	unsigned int *units, unit;

	spin_lock(&gpu->lock);
	radeon_gem_rw_reap(gpu);

	units = radeon_gem_rw_file_units(gpu, rw->filp);
	if (!units || *units + count > gpu->units / RADEON_GEM_RW_FILE_SHARE)
		goto out_unlock;

	unit = bitmap_find_next_zero_area(gpu->used, gpu->units, gpu->next,
					  count, 0);
	if (unit >= gpu->units)
		unit = bitmap_find_next_zero_area(gpu->used, gpu->units, 0,
						  count, 0);
	if (unit >= gpu->units)
		goto out_unlock;

	bitmap_set(gpu->used, unit, count);
	gpu->next = unit + count;
	*units += count;
	job->filp = rw->filp;
	job->unit = unit;
	job->units = count;
	job->mem = gpu->cpu_addr + unit * RADEON_GEM_RW_UNIT;
	job->gpu_addr = gpu->gpu_addr + unit * RADEON_GEM_RW_UNIT;
	memset(job->mem, 0, RADEON_GEM_RW_JOB_HEADER);
out_unlock:
	spin_unlock(&gpu->lock);

	return job->units;
}

/**
 * radeon_gem_rw_job_submitted - leave a job to the list of its ring
 * @rdev: the device
 * @job: the job; without a fence if it was not submitted, but its semaphores are
 *	in use until a later job is done
 * @ring: index of the ring, whose lock is held
 */
void radeon_gem_rw_job_submitted(struct radeon_device *rdev,
				 struct radeon_gem_rw_job *job, int ring)
{
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw->gpu;
	struct radeon_gem_rw_job *other;

	spin_lock(&gpu->lock);
	list_for_each_entry_reverse(other, &gpu->jobs[ring], head) {
		if (other->fence || !job->fence)
			break;
		other->fence = radeon_fence_ref(job->fence);
	}
	list_add_tail(&job->head, &gpu->jobs[ring]);
	spin_unlock(&gpu->lock);
}

/* Look at a job's fence now and then, but not for long. */
static void radeon_gem_rw_poll_job(const struct radeon_gem_rw_job *job)
{
	ktime_t start = ktime_get();
	s64 us, spin_us;

	/* What is larger than a step takes longer than that. */
	spin_us = job->ops[0].len > RADEON_GEM_RW_STEP_MAX ? 0 :
		RADEON_GEM_RW_SPIN_US;

	for (;;) {
		if (radeon_fence_signaled(job->fence) || signal_pending(current))
			return;

		us = ktime_us_delta(ktime_get(), start);
		if (us >= RADEON_GEM_RW_NAPS_US)
			return;

		if (us < spin_us && !need_resched()) {
			cpu_relax();
		} else {
			/* What the copy has taken, plus a bit at a time. */
			us = max(RADEON_GEM_RW_NAP_US, us / 4);
			usleep_range(us, us + us / 4);
		}
	}
}

/**
 * radeon_gem_rw_job_wait - wait for a job that this call has submitted
 * @rw: the transfer
 * @job: the job
 *
 * Once the copy is the next in its ring, only a fatal signal ends this: a call
 * that is made again submits its copy again. With signals that come faster than
 * the GPU copies, it would never end.
 *
 * A small copy takes less time than to switch the ring's interrupt on and off, so
 * the fence is polled first.
 *
 * Returns:
 * 0, -ERESTARTSYS, or -EDEADLK if the GPU has to be reset, was reset, or has been
 * given up.
 */
int radeon_gem_rw_job_wait(const struct radeon_gem_rw *rw,
			   const struct radeon_gem_rw_job *job)
{
	struct radeon_device *rdev = rw->rdev;
	struct radeon_fence_driver *drv = &rdev->fence_drv[job->fence->ring];
	bool pending;
	long r;

	radeon_gem_rw_poll_job(job);
	do {
		if (fatal_signal_pending(current))
			return -ERESTARTSYS;

		/* What comes before it can take as long as others like. */
		pending = signal_pending(current);
		if (pending && atomic64_read(&drv->last_seq) + 1 < job->fence->seq)
			return -ERESTARTSYS;

		r = dma_fence_wait_timeout(&job->fence->base, !pending,
					   pending ? RADEON_GEM_RW_KILL_SLICE :
						     RADEON_GEM_RW_WAIT_SLICE);
		/* After a reset that has failed nobody signals it. */
		if (!r && !rdev->ring[job->fence->ring].ready &&
		    !READ_ONCE(rdev->needs_reset) && !rdev->in_reset)
			r = -EDEADLK;
	} while (!r || r == -ERESTARTSYS);

	/* A fence can have signaled without a copy. */
	if (r > 0 && atomic_read(&rdev->gpu_reset_counter) != rw->resets)
		r = -EDEADLK;

	return r < 0 ? r : 0;
}

/*
 * Staged writes that are under way
 */

/*
 * A staged write to any of the step's dwords that has not been done, or NULL. The
 * CPU writes whole dwords where it has to use registers.
 */
static struct radeon_fence *
radeon_gem_rw_pending(const struct radeon_gem_rw *rw)
{
	struct radeon_gem_rw_gpu *gpu = rw->rdev->gem_rw->gpu;
	struct radeon_fence *fence = NULL;
	u64 start = ALIGN_DOWN(rw->start, 4), end = ALIGN(rw->end, 4);
	struct radeon_gem_rw_job *job;
	unsigned int i;

	if (!(rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED) || !gpu)
		return NULL;

	spin_lock(&gpu->lock);
	radeon_gem_rw_reap(gpu);
	for (i = 0; i < RADEON_NUM_RINGS && !fence; i++) {
		list_for_each_entry(job, &gpu->jobs[i], head) {
			if (job->fence && job->bo == rw->bo &&
			    job->start < end && start < job->end) {
				fence = radeon_fence_ref(job->fence);
				break;
			}
		}
	}
	spin_unlock(&gpu->lock);

	return fence;
}

/**
 * radeon_gem_rw_is_pending - would radeon_gem_rw_wait_pending() have to wait?
 * @rw: the transfer
 *
 * Returns:
 * Whether a staged write must not be overtaken. Does not sleep.
 */
bool radeon_gem_rw_is_pending(const struct radeon_gem_rw *rw)
{
	struct radeon_fence *fence = radeon_gem_rw_pending(rw);
	bool pending = fence;

	radeon_fence_unref(&fence);
	return pending;
}

static int radeon_gem_rw_wait_fence(struct dma_fence *fence)
{
	long r;

	do {
		r = dma_fence_wait_timeout(fence, true, RADEON_GEM_RW_WAIT_SLICE);
	} while (!r);

	return r < 0 ? r : 0;
}

/**
 * radeon_gem_rw_wait_pending - wait for staged writes
 * @rw: the transfer
 *
 * An unsynchronized transfer does not wait for the GPU, but to user space a
 * write is done when the call has returned. So it must not be overtaken.
 *
 * Returns:
 * 0 if no write to these bytes is on its way, -ERESTARTSYS, -EBUSY if it is not
 * allowed to wait, -EDEADLK if the GPU has to be reset.
 */
int radeon_gem_rw_wait_pending(const struct radeon_gem_rw *rw)
{
	struct radeon_fence *fence;
	int r = 0;

	while (!r && (fence = radeon_gem_rw_pending(rw))) {
		if (rw->flags & RADEON_GEM_RW_NOWAIT)
			r = -EBUSY;
		else
			r = radeon_gem_rw_wait_fence(&fence->base);
		radeon_fence_unref(&fence);
	}

	return r;
}

/*
 * The staged path
 */

/* Is this transfer's own file in the way? Then wait for its oldest job. */
static struct radeon_fence *radeon_gem_rw_own_fence(const struct radeon_gem_rw *rw)
{
	struct radeon_gem_rw_gpu *gpu = rw->rdev->gem_rw->gpu;
	struct radeon_fence *fence = NULL;
	struct radeon_gem_rw_job *job;
	unsigned int i;

	if (rw->flags & (RADEON_GEM_RW_UNSYNCHRONIZED | RADEON_GEM_RW_NOWAIT))
		return NULL;

	spin_lock(&gpu->lock);
	for (i = 0; i < RADEON_NUM_RINGS && !fence; i++) {
		list_for_each_entry(job, &gpu->jobs[i], head) {
			if (job->fence && job->units && job->filp == rw->filp) {
				fence = radeon_fence_ref(job->fence);
				break;
			}
		}
	}
	spin_unlock(&gpu->lock);

	return fence;
}

static void *radeon_gem_rw_job_bytes(const struct radeon_gem_rw_job *job)
{
	return job->mem + RADEON_GEM_RW_JOB_HEADER;
}

/* A job with room for the bytes, or NULL. */
static struct radeon_gem_rw_job *
radeon_gem_rw_stage_job(struct radeon_gem_rw *rw)
{
	struct radeon_gem_rw_gpu *gpu = rw->rdev->gem_rw->gpu;
	u32 max = gpu->units / RADEON_GEM_RW_FILE_SHARE * RADEON_GEM_RW_UNIT -
		RADEON_GEM_RW_JOB_HEADER;
	u64 base, bo, mem, len, extra;
	struct radeon_gem_rw_job *job;
	unsigned int i;

	if (rw->slots > max)
		radeon_gem_rw_take(rw, rw->len, max);

	job = radeon_gem_rw_job_new(rw->n);
	if (!job)
		return NULL;

	if (!radeon_gem_rw_job_suballoc(rw, job, rw->slots)) {
		kfree(job);
		return NULL;
	}

	base = radeon_bo_gpu_offset(rw->bo);
	for (i = 0; i < rw->n; i++) {
		bo = base + rw->pieces[i].offset;
		mem = job->gpu_addr + RADEON_GEM_RW_JOB_HEADER + rw->pieces[i].slot;
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
	}

	job->dwords = rw->dwords || !rw->write;
	job->replay = rw->write;
	job->alone = rw->flags & RADEON_GEM_RW_UNSYNCHRONIZED;
	job->busy = !rw->write;
	job->bo = rw->write ? rw->bo : NULL;
	job->start = rw->start;
	job->end = rw->end;

	return job;
}

/* Copy between user memory and slots. Returns the number of bytes. */
static u64 radeon_gem_rw_copy_slots(struct radeon_gem_rw *rw, void *mem)
{
	const struct radeon_gem_rw_piece *piece;
	size_t missed = 0;
	u64 done;

	pagefault_disable();
	for (piece = rw->pieces, done = 0; done < rw->len && !missed; piece++) {
		if (rw->write)
			missed = __copy_from_user_inatomic(mem + piece->slot,
							   piece->user, piece->len);
		else
			missed = __copy_to_user_inatomic(piece->user,
							 mem + piece->slot,
							 piece->len);
		done += piece->len - missed;
	}
	pagefault_enable();

	if (missed) {
		radeon_gem_rw_event(rw->rdev, RADEON_GEM_RW_NOT_RESIDENT);
		rw->fault_in = true;
		rw->fails++;
	}

	return done;
}

static ssize_t radeon_gem_rw_staged_held(struct radeon_gem_rw *rw)
{
	struct radeon_device *rdev = rw->rdev;
	struct radeon_gem_rw_job *job;
	int r;

	if (!rdev->gem_rw->gpu || !rdev->gem_rw->gpu->bo)
		return RADEON_GEM_RW_IMPOSSIBLE;

	job = radeon_gem_rw_stage_job(rw);
	if (!job) {
		radeon_gem_rw_event(rdev, RADEON_GEM_RW_NOT_STAGED);
		/* What the CPU cannot access would have to be moved. */
		if (rw->look & RADEON_GEM_RW_IS_HIDDEN)
			rw->fence = radeon_gem_rw_own_fence(rw);
		return rw->fence ? 0 : RADEON_GEM_RW_IMPOSSIBLE;
	}

	if (rw->write &&
	    radeon_gem_rw_copy_slots(rw, radeon_gem_rw_job_bytes(job)) < rw->len) {
		radeon_gem_rw_job_put(rdev, job);
		return 0;
	}

	rw->resets = atomic_read(&rdev->gpu_reset_counter);
	r = radeon_gem_rw_ring_submit(rw, job);
	if (r) {
		if (r != -EAGAIN)
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
		done = radeon_gem_rw_wait_fence(&rw->fence->base);
		radeon_fence_unref(&rw->fence);
	}

	if (job) {
		rw->job = NULL;
		done = radeon_gem_rw_job_wait(rw, job);
		if (!done)
			done = radeon_gem_rw_copy_slots(rw, radeon_gem_rw_job_bytes(job));
		radeon_gem_rw_job_put(rw->rdev, job);
		if (done > 0)
			radeon_gem_rw_count(rw->rdev, RADEON_GEM_RW_STAGED, done);
	}

	return done;
}

const struct radeon_gem_rw_path radeon_gem_rw_staged = {
	.id = RADEON_GEM_RW_STAGED,
	.held = radeon_gem_rw_staged_held,
	.after = radeon_gem_rw_staged_after,
};

/**
 * radeon_gem_rw_gpu_look - what decides about copies by the GPU
 * @rw: the transfer, whose BO is reserved
 *
 * Returns:
 * RADEON_GEM_RW_IS_SMALL, RADEON_GEM_RW_IS_LONG, for radeon_gem_rw_look().
 */
unsigned int radeon_gem_rw_gpu_look(const struct radeon_gem_rw *rw)
{
	unsigned int look = 0;

	if (rw->left <= READ_ONCE(radeon_gem_rw_stage_write_max))
		look |= RADEON_GEM_RW_IS_SMALL;
	if (rw->len >= READ_ONCE(radeon_gem_rw_stage_read_min))
		look |= RADEON_GEM_RW_IS_LONG;

	return look;
}

/*
 * Resets
 */

static bool radeon_gem_rw_replay_by_gpu(struct radeon_device *rdev,
					struct radeon_gem_rw_job *job)
{
	unsigned long end = jiffies + RADEON_GEM_RW_REPLAY_TIMEOUT;
	struct radeon_fence *fence;
	bool done;

	if (radeon_gem_rw_ring_replay(rdev, job, &fence))
		return false;

	while (!(done = radeon_fence_signaled(fence)) && time_before(jiffies, end))
		usleep_range(50, 100);
	radeon_fence_unref(&fence);

	return done;
}

/* Write to memory at a GPU address, in a page. */
static void radeon_gem_rw_replay_page(struct radeon_device *rdev, u64 dst,
				      const void *src, size_t len)
{
	void __iomem *io, *iomap;
	struct page *page;

	if (dst >= rdev->mc.gtt_start && dst <= rdev->mc.gtt_end) {
		page = rdev->gart.pages[(dst - rdev->mc.gtt_start) >> PAGE_SHIFT];
		if (page && src)
			memcpy_to_page(page, offset_in_page(dst), src, len);
		return;
	}

	dst -= rdev->mc.vram_start;
	if (dst + len > rdev->mc.visible_vram_size)
		return;

	io = radeon_gem_rw_map_vram(rdev, dst, len, &iomap);
	if (io && src)
		memcpy_toio(io, src, len);
	else if (io)
		memset_io(io, 0, len);
	if (iomap)
		iounmap(iomap);
}

static void radeon_gem_rw_replay_by_cpu(struct radeon_device *rdev,
					struct radeon_gem_rw_job *job)
{
	const struct radeon_gem_rw_op *op;
	u64 done, n;

	for (op = job->ops; op < job->ops + job->n; op++) {
		for (done = 0; done < op->len; done += n) {
			n = min(op->len - done,
				PAGE_SIZE - offset_in_page(op->dst + done));
			radeon_gem_rw_replay_page(rdev, op->dst + done, job->fill ?
						  NULL : job->mem + op->src -
						  job->gpu_addr + done, n);
		}
		cond_resched();
	}
	/* Before the fences are signaled. */
	wmb();
}

/*
 * The ring of this job is restored, but the rings that it waits for may have lost
 * their signals. What they had to do first has been done, or is lost.
 */
static void radeon_gem_rw_signal(struct radeon_gem_rw_job *job)
{
	u64 *header = job->mem;
	unsigned int i;

	if (!header)
		return;

	header[0] = 0;
	for (i = 1; i <= RADEON_GEM_RW_JOB_SEMAPHORES; i++)
		header[i] = 1;
}

/**
 * radeon_gem_rw_gpu_replay - do again what rings have lost
 * @rdev: the device, with its engines started if they can be, and
 *	&radeon_device.exclusive_lock held; nobody else submits work
 * @rings: BIT() of each ring
 *
 * Must be called before the fences of lost work are signaled. The memory still
 * belongs to the BOs then, and nobody has written to it, as everybody waits for
 * the fences. What cannot be done again is what goes to CPU-inaccessible VRAM
 * after a reset that has failed. There is no engine left to read that with.
 */
void radeon_gem_rw_gpu_replay(struct radeon_device *rdev, unsigned long rings)
{
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw ? rdev->gem_rw->gpu : NULL;
	struct radeon_gem_rw_job *job, *next;
	bool by_gpu = true;
	LIST_HEAD(lost);
	unsigned int i;

	if (!gpu)
		return;

	spin_lock(&gpu->lock);
	radeon_gem_rw_reap(gpu);
	for_each_set_bit(i, &rings, RADEON_NUM_RINGS) {
		list_for_each_entry_safe(job, next, &gpu->jobs[i], head) {
			if (job->replay)
				list_move_tail(&job->head, &lost);
		}
	}
	spin_unlock(&gpu->lock);

	list_for_each_entry_safe(job, next, &lost, head) {
		by_gpu = by_gpu && radeon_gem_rw_replay_by_gpu(rdev, job);
		if (!by_gpu)
			radeon_gem_rw_replay_by_cpu(rdev, job);
		if (!job->fill)
			radeon_gem_rw_event(rdev, RADEON_GEM_RW_REPLAYED);
		list_del_init(&job->head);
		radeon_gem_rw_job_put(rdev, job);
	}
}

/**
 * radeon_gem_rw_gpu_recover - do again what a GPU reset has lost
 * @rdev: the device, as for radeon_gem_rw_gpu_replay()
 * @restored: for each ring its contents that are going to be restored, or NULL;
 *	or NULL if none are
 */
void radeon_gem_rw_gpu_recover(struct radeon_device *rdev, u32 **restored)
{
	struct radeon_gem_rw_gpu *gpu = rdev->gem_rw ? rdev->gem_rw->gpu : NULL;
	struct radeon_gem_rw_job *job;
	unsigned long lost = 0;
	unsigned int i;

	if (!gpu)
		return;

	spin_lock(&gpu->lock);
	for (i = 0; i < RADEON_NUM_RINGS; i++) {
		if (!restored || !restored[i]) {
			lost |= BIT(i);
			continue;
		}
		list_for_each_entry(job, &gpu->jobs[i], head)
			radeon_gem_rw_signal(job);
	}
	spin_unlock(&gpu->lock);

	radeon_gem_rw_gpu_replay(rdev, lost);
}

/*
 * Setting up
 */

static int radeon_gem_rw_stage_init(struct radeon_device *rdev,
				    struct radeon_gem_rw_gpu *gpu, u32 size)
{
	int r;

	gpu->used = bitmap_zalloc(size / RADEON_GEM_RW_UNIT, GFP_KERNEL);
	if (!gpu->used)
		return -ENOMEM;

	r = radeon_bo_create(rdev, size, PAGE_SIZE, true, RADEON_GEM_DOMAIN_GTT,
			     0, NULL, NULL, &gpu->bo);
	if (r)
		goto out_free;

	r = radeon_bo_reserve(gpu->bo, true);
	if (r)
		goto out_unref;

	r = radeon_bo_pin(gpu->bo, RADEON_GEM_DOMAIN_GTT, &gpu->gpu_addr);
	if (!r) {
		r = radeon_bo_kmap(gpu->bo, &gpu->cpu_addr);
		if (r)
			radeon_bo_unpin(gpu->bo);
	}
	radeon_bo_unreserve(gpu->bo);
	if (r)
		goto out_unref;

	gpu->units = size / RADEON_GEM_RW_UNIT;
	return 0;

out_unref:
	radeon_bo_unref(&gpu->bo);
out_free:
	bitmap_free(gpu->used);
	gpu->used = NULL;
	return r;
}

/**
 * radeon_gem_rw_gpu_init - set up copies by the GPU
 * @rdev: the device, whose GART works
 *
 * Does nothing if that has been done, as when the device is resumed. Without a
 * staging buffer everything works, but with stalls and moves of BOs.
 */
void radeon_gem_rw_gpu_init(struct radeon_device *rdev)
{
	struct radeon_gem_rw_gpu *gpu;
	unsigned int i;
	int r = 0;

	if (rdev->gem_rw->gpu || !radeon_gem_rw_ring_supported(rdev))
		return;

	gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);
	if (!gpu)
		return;

	spin_lock_init(&gpu->lock);
	for (i = 0; i < RADEON_NUM_RINGS; i++)
		INIT_LIST_HEAD(&gpu->jobs[i]);

	if (radeon_gem_rw_stage_size)
		r = radeon_gem_rw_stage_init(rdev, gpu,
					     PAGE_ALIGN(clamp(radeon_gem_rw_stage_size,
							      RADEON_GEM_RW_STAGE_SIZE_MIN,
							      RADEON_GEM_RW_STAGE_SIZE_MAX)));
	if (r)
		dev_warn(rdev->dev,
			 "no staging buffer for GEM reads and writes (%d)\n", r);

	rdev->gem_rw->gpu = gpu;
}

/**
 * radeon_gem_rw_gpu_drain - wait for jobs before the rings are stopped
 * @rdev: the device, which has no users any more
 */
void radeon_gem_rw_gpu_drain(struct radeon_device *rdev)
{
	const int rings[] = {
		rdev->asic->copy.dma_ring_index,
		rdev->asic->copy.blit_ring_index,
	};
	unsigned int i;

	if (!rdev->gem_rw || !rdev->gem_rw->gpu)
		return;

	mutex_lock(&rdev->ring_lock);
	for (i = 0; i < ARRAY_SIZE(rings); i++) {
		if (rdev->ring[rings[i]].ready)
			radeon_fence_wait_empty(rdev, rings[i]);
	}
	mutex_unlock(&rdev->ring_lock);
}

/**
 * radeon_gem_rw_gpu_fini - release what copies by the GPU need
 * @rdev: the device
 *
 * The engines have been stopped.
 */
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

	if (gpu->bo && !radeon_bo_reserve(gpu->bo, true)) {
		radeon_bo_kunmap(gpu->bo);
		radeon_bo_unpin(gpu->bo);
		radeon_bo_unreserve(gpu->bo);
	}
	radeon_bo_unref(&gpu->bo);
	bitmap_free(gpu->used);
	rdev->gem_rw->gpu = NULL;
	kfree(gpu);
}
