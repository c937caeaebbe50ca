// SPDX-License-Identifier: MIT
/*
 * Parts of radeon_gem_rw_fuzz: TRANSFER with any number of regions.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "igt.h"
#include "igt_fuzz.h"

#define MAX_REGIONS	2000

/* Most bytes of a call that has more than one region */
#define MAX_TOTAL	(1u << 20)

struct transfer {
	struct drm_radeon_gem_transfer_region regions[MAX_REGIONS];
	struct fuzz_bo *bos[MAX_REGIONS];
	uint32_t count;
	uint32_t flags;
};

static uint32_t pick_count(struct fuzz *f)
{
	switch (fuzz_below(f, 10)) {
	case 0:
		return 1;
	case 1:
	case 2:
	case 3:
	case 4:
		return 1 + fuzz_below(f, 8);
	case 5:
	case 6:
	case 7:
		return 1 + fuzz_below(f, 130);
	case 8:
		return 1 + fuzz_below(f, 600);
	default:
		return 1 + fuzz_below(f, MAX_REGIONS);
	}
}

static uint64_t extent(const struct drm_radeon_gem_transfer_region *r,
		       uint32_t pitch)
{
	return r->rows && r->row_bytes ?
		(uint64_t)(r->rows - 1) * pitch + r->row_bytes : 0;
}

/* Picks a region that fits into @b and @m, of about @max bytes at most. */
static void pick_region(struct fuzz *f, struct fuzz_bo *b, struct fuzz_mem *m,
			size_t max, struct drm_radeon_gem_transfer_region *r)
{
	uint64_t room = b->size < m->size ? b->size : m->size;

	*r = (struct drm_radeon_gem_transfer_region) { .handle = b->bo.handle };
	if (max > room)
		max = room;
	r->row_bytes = fuzz_length(f, fuzz_one_in(f, 8) ? max :
				      max < 300 ? max : 300);
	if (fuzz_one_in(f, 40))
		r->row_bytes = 0;
	r->rows = 1;
	if (!fuzz_one_in(f, 3))
		r->rows = fuzz_below(f, 33);
	r->bo_pitch = r->row_bytes;
	r->user_pitch = r->row_bytes;
	if (fuzz_one_in(f, 2))
		r->bo_pitch += fuzz_below(f, fuzz_one_in(f, 2) ? 64 : 5000);
	if (fuzz_one_in(f, 2))
		r->user_pitch += fuzz_below(f, fuzz_one_in(f, 2) ? 64 : 5000);
	while (r->rows > 1 && (extent(r, r->bo_pitch) > b->size ||
			       extent(r, r->user_pitch) > m->size ||
			       (uint64_t)r->rows * r->row_bytes > max))
		r->rows--;
	/* The pitches of a single row do not matter. */
	if (r->rows < 2 && fuzz_one_in(f, 4))
		r->bo_pitch = r->user_pitch = fuzz_random(f);
	r->bo_offset = b->base +
		fuzz_below(f, b->size - extent(r, r->bo_pitch) + 1);
	r->user_ptr = (uintptr_t)m->ptr +
		fuzz_below(f, m->size - extent(r, r->user_pitch) + 1);
}

/* Copies a region between @bytes, a copy of @b, and @user, a copy of @m. */
static void apply(const struct drm_radeon_gem_transfer_region *r,
		  const struct fuzz_bo *b, uint8_t *bytes,
		  const struct fuzz_mem *m, uint8_t *user, bool write)
{
	uint8_t *in_bo = bytes + (r->bo_offset - b->base);
	uint8_t *in_user = user + (r->user_ptr - (uintptr_t)m->ptr);
	uint32_t row;

	if (!r->row_bytes)
		return;
	for (row = 0; row < r->rows; row++) {
		if (write)
			memcpy(in_bo, in_user, r->row_bytes);
		else
			memcpy(in_user, in_bo, r->row_bytes);
		in_bo += r->bo_pitch;
		in_user += r->user_pitch;
	}
}

/*
 * Checks BOs after a write that has ended with -EBUSY behind @done regions. Of
 * the next region, some bytes may be transferred; of later ones none.
 */
static void verify_partial(struct fuzz *f, struct transfer *t,
			   struct fuzz_mem *m, uint32_t done)
{
	uint32_t i, last = done + 8 < t->count ? done + 8 : t->count;
	struct drm_radeon_gem_transfer_region *r;
	struct fuzz_bo *b;
	uint8_t *other;

	for (i = done; i < last; i++) {
		r = &t->regions[i];
		b = t->bos[i];
		if (!extent(r, r->bo_pitch))
			continue;
		fuzz_bo_settle(f, b);
		other = malloc(b->size);
		igt_assert(other);
		memcpy(other, b->model, b->size);
		if (i == done)
			apply(r, b, other, m, m->old + m->before, true);
		fuzz_bo_verify(f, b, r->bo_offset - b->base,
			       extent(r, r->bo_pitch),
			       other + (r->bo_offset - b->base));
		free(other);
	}
}

static void do_write(struct fuzz *f, struct transfer *t, struct fuzz_mem *m,
		     uint64_t counter, uint32_t done, int ret)
{
	struct drm_radeon_gem_transfer_region *r;
	uint32_t i;

	fuzz_mem_verify(f, m, NULL, true);
	for (i = 0; i < done; i++) {
		r = &t->regions[i];
		if (!extent(r, r->bo_pitch))
			continue;
		apply(r, t->bos[i], t->bos[i]->model, m, m->old + m->before,
		      true);
		fuzz_bo_queued(f, t->bos[i], r->bo_offset - t->bos[i]->base,
			       extent(r, r->bo_pitch), counter);
	}
	if (!ret) {
		if (!m->bo && !m->readonly)
			memset(m->ptr, FUZZ_CANARY, m->size);
		return;
	}
	/* A part of the next region may be queued as well. */
	r = &t->regions[done];
	fuzz_bo_queued(f, t->bos[done], r->bo_offset - t->bos[done]->base,
		       extent(r, r->bo_pitch), counter);
	verify_partial(f, t, m, done);
}

static void do_read(struct fuzz *f, struct transfer *t, struct fuzz_mem *m,
		    uint64_t counter, uint32_t done, int ret, bool pending)
{
	uint8_t *result = malloc(m->size);
	uint32_t i;

	igt_assert(result);
	memcpy(result, m->old + m->before, m->size);
	for (i = 0; i < done; i++)
		apply(&t->regions[i], t->bos[i], t->bos[i]->model, m, result,
		      false);
	fuzz_mem_verify(f, m, result, !ret && !(pending &&
						fuzz_resets(f) != counter));
	free(result);
}

/* Settles BOs if necessary. Returns whether work may be queued for one. */
static bool prepare(struct fuzz *f, struct transfer *t, uint64_t *counter)
{
	bool pending = false;
	uint32_t i;

	if (t->flags & RADEON_GEM_RW_UNSYNCHRONIZED)
		for (i = 0; i < t->count; i++)
			fuzz_bo_settle(f, t->bos[i]);
	*counter = fuzz_resets(f);
	for (i = 0; i < t->count; i++) {
		fuzz_bo_use(f, t->bos[i], *counter);
		pending |= fuzz_bo_is_pending(t->bos[i]);
	}
	return pending;
}

/**
 * fuzz_op_transfer:
 * @f: worker
 * @write: from user memory to BOs if true, else from BOs
 *
 * Makes a TRANSFER, and checks its result and bytes.
 */
void fuzz_op_transfer(struct fuzz *f, bool write)
{
	static struct transfer t;
	struct drm_radeon_gem_transfer arg = { 0 };
	size_t size, left;
	struct fuzz_mem m;
	uint64_t counter;
	struct fuzz_bo *b = NULL;
	uint32_t i;
	bool pending;
	int ret;

	t.count = pick_count(f);
	size = fuzz_length(f, t.count == 1 ? FUZZ_MAX_SIZE : MAX_TOTAL);
	fuzz_mem_get(f, &m, size, write, NULL);
	left = t.count == 1 ? FUZZ_MAX_SIZE : MAX_TOTAL;
	for (i = 0; i < t.count; i++) {
		/* Not the BO that user memory is a mapping of. */
		if (!b || fuzz_one_in(f, 3))
			b = fuzz_bo_pick(f, m.bo);
		t.bos[i] = b;
		pick_region(f, b, &m, left ? left : 1, &t.regions[i]);
		left -= t.regions[i].row_bytes * t.regions[i].rows < left ?
			t.regions[i].row_bytes * t.regions[i].rows : left;
	}
	t.flags = 0;
	if (fuzz_one_in(f, 5))
		t.flags |= RADEON_GEM_RW_NOWAIT;
	if (fuzz_one_in(f, 6))
		t.flags |= RADEON_GEM_RW_UNSYNCHRONIZED;
	fuzz_say(f, "TRANSFER %s, %u regions, flags %#x, user memory %p, %#zx bytes: %s",
		 write ? "write" : "read", t.count, t.flags, (void *)m.ptr,
		 m.size, m.kind);
	f->regions = t.regions;
	f->region_count = t.count;

	pending = prepare(f, &t, &counter);
	arg.regions_ptr = (uintptr_t)t.regions;
	arg.region_count = t.count;
	arg.flags = t.flags | (write ? RADEON_GEM_TRANSFER_WRITE : 0);
	do {
		ret = fuzz_ioctl(f, DRM_IOCTL_RADEON_GEM_TRANSFER, &arg);
	} while (ret == -EFAULT && fuzz_mem_again(f, &m));
	if (m.tries && fuzz_resets(f) == counter)
		fuzz_fail(f, "-EFAULT without a reset");
	if (ret && (ret != -EBUSY || !(t.flags & RADEON_GEM_RW_NOWAIT)))
		fuzz_fail(f, "%d behind %u regions", ret, arg.regions_done);
	if (ret ? arg.regions_done >= t.count : arg.regions_done != t.count)
		fuzz_fail(f, "%d with %u regions done", ret, arg.regions_done);
	for (i = 0; i < arg.regions_done; i++)
		f->stats->bytes += (uint64_t)t.regions[i].row_bytes *
			t.regions[i].rows;
	if (write)
		do_write(f, &t, &m, counter, arg.regions_done, ret);
	else
		do_read(f, &t, &m, counter, arg.regions_done, ret, pending);
	f->regions = NULL;
	fuzz_mem_put(f, &m);
}

/* Errors of a call, then those of one of its regions */
enum {
	BAD_FLAGS,
	BAD_PAD,
	BAD_COUNT,
	BAD_ARRAY,
	BAD_ARRAY_END,
	BAD_REGION_FLAGS,
	BAD_PITCH,
	BAD_USER,
	BAD_HANDLE,
	BAD_RANGE,
	BAD_USERPTR,
	BAD_IMPORTED,
	BAD_MEMORY,
	BADS
};

/* Gives region @r an error. Returns the result that the call has to have. */
static int spoil(struct fuzz *f, struct drm_radeon_gem_transfer_region *r,
		 unsigned int bad, const struct fuzz_bo *b,
		 const struct fuzz_mem *broken)
{
	if (bad == BAD_REGION_FLAGS) {
		r->flags = 1u << fuzz_below(f, 32);
		return -EINVAL;
	}
	if (!r->rows || !r->row_bytes) {
		/* The kernel does not look at the rest of an empty region. */
		r->handle = ~0u;
		r->user_ptr = ~0ull;
		r->bo_offset = ~0ull;
		return 0;
	}
	switch (bad) {
	case BAD_PITCH:
		if (r->rows < 2)
			r->rows = 2;
		*(fuzz_one_in(f, 2) ? &r->bo_pitch : &r->user_pitch) =
			fuzz_below(f, r->row_bytes);
		return -EINVAL;
	case BAD_USER:
		r->user_ptr = ~0ull - fuzz_below(f, 4096);
		return -EFAULT;
	case BAD_HANDLE:
		r->handle = fuzz_one_in(f, 2) ? 0 : 1u << 30 | fuzz_random(f);
		return -ENOENT;
	case BAD_RANGE:
		r->bo_offset = fuzz_one_in(f, 2) ? ~0ull - fuzz_below(f, 4096) :
			b->bo.size - extent(r, r->bo_pitch) + 1 +
			fuzz_below(f, 4096);
		return -EINVAL;
	case BAD_USERPTR:
	case BAD_IMPORTED:
		r->handle = bad == BAD_USERPTR ? f->userptr : f->imported;
		r->rows = 1;
		r->row_bytes = 1 + (r->row_bytes - 1) % 4096;
		r->bo_offset = 0;
		return bad == BAD_USERPTR ? -EPERM : -EOPNOTSUPP;
	default:
		r->user_ptr = (uintptr_t)broken->ptr;
		r->rows = 1;
		r->row_bytes = broken->size;
		r->bo_offset = b->base;
		return -EFAULT;
	}
}

/* Checks the BO of a region that failed, of which a part may be transferred. */
static void verify_failed(struct fuzz *f, struct transfer *t,
			  const struct fuzz_mem *broken, uint32_t done)
{
	struct fuzz_bo *b = t->bos[done];
	uint8_t *other;

	fuzz_bo_settle(f, b);
	other = malloc(b->size);
	igt_assert(other);
	memcpy(other, b->model, b->size);
	if (broken->size && broken->valid)
		memcpy(other, broken->old + broken->before, broken->valid);
	fuzz_bo_verify(f, b, 0, b->size < 65536 ? b->size : 65536, other);
	if (broken->size)
		fuzz_bo_verify(f, b, 0, broken->size, other);
	free(other);
}

/**
 * fuzz_op_bad_transfer:
 * @f: worker
 *
 * Makes a TRANSFER with errors. Checks its result, the number of regions done,
 * and that nothing else has changed.
 */
void fuzz_op_bad_transfer(struct fuzz *f)
{
	static struct transfer t;
	struct drm_radeon_gem_transfer arg = { .regions_done = 0 };
	bool write = fuzz_one_in(f, 2), pending;
	unsigned int bad = fuzz_below(f, BADS);
	struct drm_radeon_gem_transfer_region *array, *r;
	struct fuzz_mem m, broken = { 0 };
	uint32_t i, at, expected_done;
	size_t room;
	uint64_t counter;
	uint8_t *array_map;
	int ret, expected;

	if (bad == BAD_IMPORTED && !f->imported)
		bad = BAD_USERPTR;
	t.count = 1 + fuzz_below(f, fuzz_one_in(f, 2) ? 4 : 150);
	at = fuzz_below(f, t.count);
	fuzz_mem_get(f, &m, 1 + fuzz_below(f, 20000), write, NULL);
	for (i = 0; i < t.count; i++) {
		t.bos[i] = i && !fuzz_one_in(f, 3) ? t.bos[i - 1] :
			fuzz_bo_pick(f, m.bo);
		pick_region(f, t.bos[i], &m, 3000, &t.regions[i]);
	}
	/* An error of the call may hide one of a region. */
	r = &t.regions[at];
	if (bad == BAD_MEMORY && r->rows && r->row_bytes)
		fuzz_mem_get_broken(f, &broken, 1 + fuzz_below(f,
				    t.bos[at]->size < 300000 ?
				    t.bos[at]->size : 300000), write);
	expected = -EINVAL;
	expected_done = bad < BAD_REGION_FLAGS ? 0 : at;
	if (bad >= BAD_REGION_FLAGS)
		expected = spoil(f, r, bad, t.bos[at], &broken);
	else if (fuzz_one_in(f, 2))
		spoil(f, r, BAD_HANDLE, t.bos[at], &broken);
	if (!expected)
		expected_done = t.count;

	/* The array ends at a hole. */
	room = (t.count * sizeof(*array) + 4095) / 4096 * 4096;
	array_map = mmap(NULL, room + 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	igt_assert(array_map != MAP_FAILED);
	igt_assert_eq(munmap(array_map + room, 4096), 0);
	array = (void *)(array_map + room - t.count * sizeof(*array));
	memcpy(array, t.regions, t.count * sizeof(*array));
	arg.regions_ptr = (uintptr_t)array;
	arg.region_count = t.count;
	arg.flags = write ? RADEON_GEM_TRANSFER_WRITE : 0;
	t.flags = 0;
	if (bad == BAD_FLAGS) {
		arg.flags |= 8u << fuzz_below(f, 29);
	} else if (bad == BAD_PAD) {
		arg.pad = 1u << fuzz_below(f, 32);
	} else if (bad == BAD_COUNT) {
		arg.region_count = RADEON_GEM_TRANSFER_MAX_REGIONS + 1 +
			fuzz_below(f, 1u << 31);
	} else if (bad == BAD_ARRAY) {
		arg.regions_ptr = ~0ull - fuzz_below(f, 1 << 20);
		expected = -EFAULT;
	} else if (bad == BAD_ARRAY_END) {
		memcpy(array, t.regions, t.count * sizeof(*array));
		arg.region_count = t.count + 1 + fuzz_below(f, 100);
		expected = -EFAULT;
		expected_done = t.count;
		/* Unless the spoiled region comes first. */
		if (r->handle != t.bos[at]->bo.handle && r->rows &&
		    r->row_bytes) {
			expected = -ENOENT;
			expected_done = at;
		}
	}
	fuzz_say(f, "bad TRANSFER %s (%u), %u regions, wrong one %u, flags %#x, user memory %s, %s",
		 write ? "write" : "read", bad, arg.region_count, at, arg.flags,
		 m.kind, broken.size ? broken.kind : "all there");
	f->regions = t.regions;
	f->region_count = t.count;

	pending = prepare(f, &t, &counter);
	do {
		ret = fuzz_ioctl(f, DRM_IOCTL_RADEON_GEM_TRANSFER, &arg);
	} while (ret == -EFAULT && (ret != expected ||
				    arg.regions_done != expected_done) &&
		 fuzz_mem_again(f, &m));
	if (ret != expected || arg.regions_done != expected_done)
		fuzz_fail(f, "%d with %u regions done, should be %d with %u",
			  ret, arg.regions_done, expected, expected_done);
	if (write) {
		do_write(f, &t, &m, counter, expected_done, 0);
		if (broken.size)
			fuzz_bo_queued(f, t.bos[at], 0, broken.size, counter);
		if (expected_done < t.count)
			verify_failed(f, &t, &broken, expected_done);
	} else {
		do_read(f, &t, &m, counter, expected_done, 0, pending);
		if (broken.size)
			fuzz_mem_verify(f, &broken, t.bos[at]->model, false);
	}
	f->regions = NULL;
	munmap(array_map, room);
	if (broken.size)
		fuzz_mem_put(f, &broken);
	fuzz_mem_put(f, &m);
}
