// SPDX-License-Identifier: MIT
/*
 * Parts of radeon_gem_rw_fuzz: BOs and their models.
 *
 * A model has the bytes that the BO holds when all work that is queued for it
 * is done. A GPU reset can lose such work. So struct fuzz_bo has the range that
 * queued work writes, and the number of resets before the work was queued.
 * fuzz_bo_settle() waits for the work. If the GPU was reset meanwhile, it
 * copies the bytes of that range from the BO to the model, and checks only that
 * they are the worker's. All other bytes have to be exact.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_fuzz.h"

/* Largest size of all BOs of a worker, without shared ones */
#define MAX_BYTES	(20u << 20)

/* Attempts, 20 ms apart, while waiting for a reset */
#define MAX_TRIES	1000

static const struct igt_radeon_placement places[] = {
	{ "VRAM", RADEON_GEM_DOMAIN_VRAM, RADEON_GEM_CPU_ACCESS },
	{ "VRAM", RADEON_GEM_DOMAIN_VRAM, 0 },
	{ "VRAM without CPU access", RADEON_GEM_DOMAIN_VRAM,
	  RADEON_GEM_NO_CPU_ACCESS },
	{ "GTT cached", RADEON_GEM_DOMAIN_GTT, 0 },
	{ "GTT write-combined", RADEON_GEM_DOMAIN_GTT, RADEON_GEM_GTT_WC },
	{ "GTT uncached", RADEON_GEM_DOMAIN_GTT, RADEON_GEM_GTT_UC },
	{ "system", RADEON_GEM_DOMAIN_CPU, 0 },
};

#define PLACES	(sizeof(places) / sizeof(places[0]))

/**
 * fuzz_bo_name:
 * @b: BO
 *
 * Returns: its placement, for messages
 */
const char *fuzz_bo_name(const struct fuzz_bo *b)
{
	unsigned int i;

	for (i = 0; i < PLACES; i++)
		if (places[i].domain == b->bo.domain &&
		    places[i].flags == b->bo.flags)
			return places[i].name;
	return "?";
}

/**
 * fuzz_bo_pick:
 * @f: worker
 * @not: BO that must not be picked, or NULL
 *
 * Returns: one of the worker's BOs, or parts of shared ones
 */
struct fuzz_bo *fuzz_bo_pick(struct fuzz *f, const struct fuzz_bo *not)
{
	struct fuzz_bo *b;

	do {
		b = &f->bos[fuzz_below(f, FUZZ_BOS)];
	} while (!b->size || b == not);
	return b;
}

static void tile(struct fuzz *f, struct fuzz_bo *b)
{
	struct drm_radeon_gem_set_tiling arg = {
		.handle = b->bo.handle,
		.tiling_flags = fuzz_one_in(f, 2) ?
			RADEON_TILING_MACRO | RADEON_TILING_MICRO :
			RADEON_TILING_MICRO,
		.pitch = 512,
	};

	igt_assert_eq(igt_ioctl(f->fd, DRM_IOCTL_RADEON_GEM_SET_TILING, &arg),
		      0);
}

/*
 * Writes the first contents, through a mapping or by PWRITE. Repeats that if
 * there was a reset, which may have lost them: VRAM then has bytes of others.
 */
static void fill(struct fuzz *f, struct fuzz_bo *b)
{
	bool mapped = fuzz_one_in(f, 2) &&
		!(b->bo.flags & RADEON_GEM_NO_CPU_ACCESS);
	uint64_t counter;
	uint8_t *ptr;
	void *map;

	fuzz_fill(f, b->model, b->size);
	do {
		counter = fuzz_resets(f);
		if (mapped) {
			ptr = fuzz_bo_map(f, b, &map);
			fuzz_bo_copy(f, b, ptr, b->model, b->size);
			munmap(map, b->bo.size);
		} else {
			igt_assert_eq(fuzz_rw(f, true, b->bo.handle, b->base,
					      b->size, (uintptr_t)b->model, 0),
				      0);
		}
		igt_radeon_bo_wait(&b->bo);
	} while (fuzz_resets(f) != counter);
}

/**
 * fuzz_bo_create:
 * @f: worker
 *
 * Makes a BO of any placement and size, and fills it.
 *
 * Returns: the BO, or NULL if the worker has enough of them
 */
struct fuzz_bo *fuzz_bo_create(struct fuzz *f)
{
	const struct igt_radeon_placement *p = &places[fuzz_below(f, PLACES)];
	struct fuzz_bo *b = NULL;
	unsigned int i;
	uint64_t size;

	size = (uint64_t)PAGE << (fuzz_one_in(f, 6) ? 10 :
				  fuzz_below(f, 1 + fuzz_below(f, 12)));
	if (fuzz_one_in(f, 2))
		size += PAGE * fuzz_below(f, size / PAGE + 1);
	if (size > FUZZ_MAX_SIZE)
		size = FUZZ_MAX_SIZE;
	for (i = 0; i < FUZZ_BOS && !b; i++)
		if (!f->bos[i].size)
			b = &f->bos[i];
	fuzz_say(f, "create %#llx bytes in %s", (unsigned long long)size,
		 p->name);
	if (!b || f->bytes + size > MAX_BYTES)
		return NULL;

	*b = (struct fuzz_bo) { .size = size, .model = malloc(size) };
	igt_assert(b->model);
	igt_radeon_bo_init(&b->bo, f->fd, size, p->domain, p->flags);
	if (fuzz_one_in(f, 4))
		tile(f, b);
	f->bytes += size;
	fill(f, b);
	return b;
}

/**
 * fuzz_bo_close:
 * @f: worker
 * @b: BO, with work queued for it or not
 */
void fuzz_bo_close(struct fuzz *f, struct fuzz_bo *b)
{
	if (!b->shared)
		f->bytes -= b->size;
	igt_radeon_bo_fini(&b->bo);
	free(b->model);
	*b = (struct fuzz_bo) { };
}

/**
 * fuzz_bo_open_shared:
 * @f: worker
 *
 * Opens the BOs that all workers use, by their global names or as dma-bufs,
 * and fills some of the parts that belong to this worker.
 */
void fuzz_bo_open_shared(struct fuzz *f)
{
	struct drm_gem_open open = { 0 };
	struct fuzz_bo *b = f->bos;
	uint64_t granule;
	unsigned int i, j;

	for (i = 0; i < FUZZ_SHARED; i++) {
		struct igt_radeon_bo bo = f->run->shared[i];

		bo.fd = f->fd;
		open.name = f->run->flink[i];
		if (f->id & 1 ||
		    igt_ioctl(f->fd, DRM_IOCTL_GEM_OPEN, &open))
			igt_assert_eq(drmPrimeFDToHandle(f->fd,
							 f->run->prime[i],
							 &bo.handle), 0);
		else
			bo.handle = open.handle;
		for (j = 0; j < 3; j++, b++) {
			granule = bo.size / FUZZ_GRANULE / FUZZ_WORKERS;
			granule = j * (granule - 1) / 2 * FUZZ_WORKERS +
				f->id - 1;
			*b = (struct fuzz_bo) {
				.bo = bo,
				.base = granule * FUZZ_GRANULE,
				.size = FUZZ_GRANULE,
				.shared = true,
				.model = malloc(FUZZ_GRANULE),
			};
			igt_assert(b->model);
			fill(f, b);
		}
	}
}

/**
 * fuzz_bo_is_pending:
 * @b: BO
 *
 * Returns: whether queued work may still write it
 */
bool fuzz_bo_is_pending(const struct fuzz_bo *b)
{
	return b->end;
}

/**
 * fuzz_bo_use:
 * @f: worker
 * @b: BO that is going to be used
 * @counter: number of resets
 *
 * Settles the BO if there was a reset since work was queued for it.
 */
void fuzz_bo_use(struct fuzz *f, struct fuzz_bo *b, uint64_t counter)
{
	if (b->end && b->counter != counter)
		fuzz_bo_settle(f, b);
}

/**
 * fuzz_bo_queued:
 * @f: worker
 * @b: BO that fuzz_bo_use() was called for
 * @offset: first byte
 * @size: bytes
 * @counter: number of resets before work was queued that writes them
 */
void fuzz_bo_queued(struct fuzz *f, struct fuzz_bo *b, uint64_t offset,
		    uint64_t size, uint64_t counter)
{
	(void)f;
	if (!b->end || offset < b->start)
		b->start = offset;
	if (offset + size > b->end)
		b->end = offset + size;
	b->counter = counter;
}

/**
 * fuzz_bo_fetch:
 * @f: worker
 * @b: BO
 * @offset: first byte
 * @size: bytes, not 0
 * @to: filled with contents of the BO
 */
void fuzz_bo_fetch(struct fuzz *f, struct fuzz_bo *b, uint64_t offset,
		   uint64_t size, uint8_t *to)
{
	int ret = fuzz_rw(f, false, b->bo.handle, b->base + offset, size,
			  (uintptr_t)to, 0);

	if (ret)
		fuzz_fail(f, "reading %s BO back: %d", fuzz_bo_name(b), ret);
}

/**
 * fuzz_bo_settle:
 * @f: worker
 * @b: BO
 *
 * Waits until the BO is idle, and makes the model exact.
 */
void fuzz_bo_settle(struct fuzz *f, struct fuzz_bo *b)
{
	uint64_t i, size = b->end - b->start;
	uint8_t *got;

	igt_radeon_bo_wait(&b->bo);
	if (!b->end)
		return;
	if (fuzz_resets(f) != b->counter) {
		got = malloc(size);
		igt_assert(got);
		fuzz_bo_fetch(f, b, b->start, size, got);
		for (i = 0; i < size; i++) {
			if (!fuzz_own(f, got[i]))
				fuzz_fail(f, "after a reset, byte %#llx of %s BO (%#llx bytes) is %#04x",
					  (unsigned long long)(b->start + i),
					  fuzz_bo_name(b),
					  (unsigned long long)b->size, got[i]);
			f->stats->adopted += got[i] != b->model[b->start + i];
		}
		memcpy(b->model + b->start, got, size);
		free(got);
	}
	b->start = 0;
	b->end = 0;
}

/**
 * fuzz_bo_verify:
 * @f: worker
 * @b: BO that has been settled
 * @offset: first byte
 * @size: bytes
 * @other: bytes that are right as well as those of the model, or NULL
 *
 * Checks a range, and copies it to the model.
 */
void fuzz_bo_verify(struct fuzz *f, struct fuzz_bo *b, uint64_t offset,
		    uint64_t size, const uint8_t *other)
{
	uint8_t *got, *model = b->model + offset;
	uint64_t i;

	if (!size)
		return;
	got = malloc(size);
	igt_assert(got);
	fuzz_bo_fetch(f, b, offset, size, got);
	for (i = 0; i < size; i++)
		if (got[i] != model[i] && (!other || got[i] != other[i]))
			fuzz_fail(f, "byte %#llx of %s BO (%#llx bytes) is %#04x, should be %#04x",
				  (unsigned long long)(offset + i),
				  fuzz_bo_name(b), (unsigned long long)b->size,
				  got[i], model[i]);
	memcpy(model, got, size);
	free(got);
}

/**
 * fuzz_bo_map:
 * @f: worker
 * @b: BO
 * @map: gets the mapping of the whole BO, for munmap()
 *
 * Settles and maps the BO.
 *
 * Returns: the worker's bytes in the mapping
 */
uint8_t *fuzz_bo_map(struct fuzz *f, struct fuzz_bo *b, void **map)
{
	fuzz_bo_settle(f, b);
	*map = igt_radeon_bo_map(&b->bo);
	return (uint8_t *)*map + b->base;
}

static sigjmp_buf bus_jump;
static volatile sig_atomic_t bus_armed;

static void bus_error(int sig)
{
	if (bus_armed)
		siglongjmp(bus_jump, 1);
	signal(sig, SIG_DFL);
}

/**
 * fuzz_bo_copy:
 * @f: worker
 * @b: BO of which one of the other arguments is a mapping
 * @dst: destination
 * @src: source
 * @size: bytes
 *
 * Copies as memcpy() does. While a hung GPU is moving the BO, a page fault in
 * its mapping ends with SIGBUS. In that case this waits for the reset.
 */
void fuzz_bo_copy(struct fuzz *f, struct fuzz_bo *b, void *dst,
		  const void *src, size_t size)
{
	volatile unsigned int tries = 0;
	uint64_t counter = fuzz_resets(f);

	igt_assert(signal(SIGBUS, bus_error) != SIG_ERR);
	if (sigsetjmp(bus_jump, 1)) {
		bus_armed = 0;
		f->stats->faults++;
		if (tries++ > MAX_TRIES)
			fuzz_fail(f, "a mapping cannot be accessed");
		igt_radeon_bo_wait(&b->bo);
		usleep(20000);
	}
	bus_armed = 1;
	memcpy(dst, src, size);
	bus_armed = 0;
	signal(SIGBUS, SIG_DFL);
	if (tries && fuzz_resets(f) == counter)
		fuzz_fail(f, "a mapping could not be accessed, without a reset");
}

/**
 * fuzz_bo_check:
 * @f: worker
 * @b: BO
 * @mapped: by a mapping or a GPU copy instead of PREAD
 *
 * Checks all bytes of the BO that belong to the worker.
 */
void fuzz_bo_check(struct fuzz *f, struct fuzz_bo *b, bool mapped)
{
	struct igt_radeon_bo stage;
	uint64_t i, counter;
	uint8_t *ptr, *got;
	void *map;

	fuzz_say(f, "check %s BO of %#llx bytes%s", fuzz_bo_name(b),
		 (unsigned long long)b->size, mapped ? ", mapped" : "");
	fuzz_bo_settle(f, b);
	if (!mapped) {
		fuzz_bo_verify(f, b, 0, b->size, NULL);
		return;
	}

	got = malloc(b->size);
	igt_assert(got);
	if (b->bo.flags & RADEON_GEM_NO_CPU_ACCESS) {
		/* Repeat a copy that a reset may have lost. */
		igt_radeon_bo_init(&stage, f->fd, b->bo.size,
				   RADEON_GEM_DOMAIN_GTT, 0);
		do {
			counter = fuzz_resets(f);
			igt_radeon_copy(IGT_RADEON_CP_DMA, &stage, 0, &b->bo, 0,
					b->bo.size);
			igt_radeon_bo_wait(&stage);
		} while (counter != fuzz_resets(f));
		map = igt_radeon_bo_map(&stage);
		fuzz_bo_copy(f, b, got, (uint8_t *)map + b->base, b->size);
		munmap(map, b->bo.size);
		igt_radeon_bo_fini(&stage);
	} else {
		ptr = fuzz_bo_map(f, b, &map);
		fuzz_bo_copy(f, b, got, ptr, b->size);
		munmap(map, b->bo.size);
	}
	for (i = 0; i < b->size; i++)
		if (got[i] != b->model[i])
			fuzz_fail(f, "byte %#llx is %#04x, should be %#04x",
				  (unsigned long long)i, got[i], b->model[i]);
	free(got);
}
