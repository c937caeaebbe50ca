// SPDX-License-Identifier: MIT
/*
 * Parts of radeon_gem_rw_fuzz: PREAD and PWRITE, copies by the GPU, CPU
 * mappings, memory pressure.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_fuzz.h"

/* Reads of several steps. */
#define LARGE	(1u << 20)

/*
 * Returns flags for a call. *weak is set if the call does not wait for queued
 * work that may write the BO, so that any bytes of the worker are right.
 */
static uint32_t pick_flags(struct fuzz *f, struct fuzz_bo *b, bool *weak)
{
	*weak = false;
	switch (fuzz_below(f, 12)) {
	case 0:
	case 1:
		return RADEON_GEM_RW_NOWAIT;
	case 2:
		fuzz_bo_settle(f, b);
		return RADEON_GEM_RW_UNSYNCHRONIZED;
	case 3:
		fuzz_bo_settle(f, b);
		return RADEON_GEM_RW_UNSYNCHRONIZED | RADEON_GEM_RW_NOWAIT;
	case 4:
		*weak = fuzz_bo_is_pending(b);
		return RADEON_GEM_RW_UNSYNCHRONIZED;
	default:
		return 0;
	}
}

/* Copies bytes of a BO to the model after a write that queued work may undo. */
static void adopt(struct fuzz *f, struct fuzz_bo *b, uint64_t offset,
		  uint64_t size)
{
	uint64_t i;

	fuzz_bo_settle(f, b);
	fuzz_bo_fetch(f, b, offset, size, b->model + offset);
	for (i = offset; i < offset + size; i++)
		if (!fuzz_own(f, b->model[i]))
			fuzz_fail(f, "byte %#llx of %s BO is %#04x",
				  (unsigned long long)i, fuzz_bo_name(b),
				  b->model[i]);
}

static void do_pwrite(struct fuzz *f, struct fuzz_bo *b, struct fuzz_mem *m,
		      uint64_t offset, uint32_t flags, bool weak)
{
	const uint8_t *source = m->old + m->before;
	uint64_t counter = fuzz_resets(f);
	int ret;

	fuzz_bo_use(f, b, counter);
	do {
		ret = fuzz_rw(f, true, b->bo.handle, b->base + offset, m->size,
			      (uintptr_t)m->ptr, flags);
	} while (ret == -EFAULT && fuzz_mem_again(f, m));
	if (m->tries && fuzz_resets(f) == counter)
		fuzz_fail(f, "-EFAULT without a reset");
	if (ret && (ret != -EBUSY || !(flags & RADEON_GEM_RW_NOWAIT)))
		fuzz_fail(f, "%d", ret);
	fuzz_mem_verify(f, m, NULL, true);
	if (ret) {
		fuzz_bo_settle(f, b);
		fuzz_bo_verify(f, b, offset, m->size, source);
		return;
	}
	/* The kernel has captured the bytes. */
	if (!m->bo && !m->readonly)
		memset(m->ptr, FUZZ_CANARY, m->size);
	memcpy(b->model + offset, source, m->size);
	fuzz_bo_queued(f, b, offset, m->size, counter);
	if (weak)
		adopt(f, b, offset, m->size);
}

/* Checks that nothing writes user memory after the call. */
static void linger(struct fuzz *f, struct fuzz_mem *m)
{
	size_t i;

	memset(m->ptr, FUZZ_CANARY, m->size);
	usleep(30000);
	for (i = 0; i < m->size; i++)
		if (m->ptr[i] != FUZZ_CANARY)
			fuzz_fail(f, "%s: byte %#zx of %#zx was written after the call: %#04x",
				  m->kind, i, m->size, m->ptr[i]);
}

static void do_pread(struct fuzz *f, struct fuzz_bo *b, struct fuzz_mem *m,
		     uint64_t offset, uint32_t flags, bool weak)
{
	uint64_t counter = fuzz_resets(f);
	bool pending;
	int ret;

	fuzz_bo_use(f, b, counter);
	pending = fuzz_bo_is_pending(b);
	do {
		ret = fuzz_rw(f, false, b->bo.handle, b->base + offset, m->size,
			      (uintptr_t)m->ptr, flags);
	} while (ret == -EFAULT && fuzz_mem_again(f, m));
	if (m->tries && fuzz_resets(f) == counter)
		fuzz_fail(f, "-EFAULT without a reset");
	if (ret && (ret != -EBUSY || !(flags & RADEON_GEM_RW_NOWAIT)))
		fuzz_fail(f, "%d", ret);
	/* Bytes of the BO are uncertain if a reset may have lost work. */
	if (pending && fuzz_resets(f) != counter)
		weak = true;
	fuzz_mem_verify(f, m, b->model + offset, !ret && !weak);
	if (m->size >= LARGE && fuzz_one_in(f, 3) && !m->bo)
		linger(f, m);
}

/**
 * fuzz_op_rw:
 * @f: worker
 * @write: PWRITE if true, else PREAD
 *
 * Makes a call, and checks its result and bytes.
 */
void fuzz_op_rw(struct fuzz *f, bool write)
{
	struct fuzz_bo *b = fuzz_bo_pick(f, NULL);
	uint64_t size = fuzz_length(f, b->size);
	uint64_t offset = fuzz_below(f, b->size - size + 1);
	struct fuzz_mem m;
	uint32_t flags;
	bool weak;

	flags = pick_flags(f, b, &weak);
	fuzz_mem_get(f, &m, size, write, b);
	fuzz_say(f, "%s of %s BO %u (%#llx bytes, first %#llx), offset %#llx, %#llx bytes, flags %#x, user memory %p: %s",
		 write ? "PWRITE" : "PREAD", fuzz_bo_name(b), b->bo.handle,
		 (unsigned long long)b->size, (unsigned long long)b->base,
		 (unsigned long long)offset, (unsigned long long)size, flags,
		 (void *)m.ptr, m.kind);
	if (write)
		do_pwrite(f, b, &m, offset, flags, weak);
	else
		do_pread(f, b, &m, offset, flags, weak);
	fuzz_mem_put(f, &m);
}

/**
 * fuzz_op_copy:
 * @f: worker
 *
 * Has an engine copy between two BOs.
 */
void fuzz_op_copy(struct fuzz *f)
{
	struct fuzz_bo *dst = fuzz_bo_pick(f, NULL), *src;
	uint64_t max, size, dst_offset, src_offset, counter;
	enum igt_radeon_engine engine;

	do {
		src = fuzz_bo_pick(f, dst);
	} while (src->bo.handle == dst->bo.handle);
	max = src->size < dst->size ? src->size : dst->size;
	size = fuzz_length(f, max);
	dst_offset = fuzz_below(f, dst->size - size + 1);
	src_offset = fuzz_below(f, src->size - size + 1);
	engine = fuzz_one_in(f, 2) && f->run->dma ? IGT_RADEON_DMA :
						    IGT_RADEON_CP_DMA;
	if (engine == IGT_RADEON_DMA) {
		size &= ~3ull;
		dst_offset &= ~3ull;
		src_offset &= ~3ull;
	}
	fuzz_say(f, "copy %#llx bytes by engine %u from %s BO %u at %#llx to %s BO %u at %#llx",
		 (unsigned long long)size, engine, fuzz_bo_name(src),
		 src->bo.handle, (unsigned long long)src_offset,
		 fuzz_bo_name(dst), dst->bo.handle,
		 (unsigned long long)dst_offset);
	if (!size)
		return;
	counter = fuzz_resets(f);
	fuzz_bo_use(f, src, counter);
	fuzz_bo_use(f, dst, counter);
	igt_radeon_copy(engine, &dst->bo, dst->base + dst_offset, &src->bo,
			src->base + src_offset, size);
	memcpy(dst->model + dst_offset, src->model + src_offset, size);
	fuzz_bo_queued(f, dst, dst_offset, size, counter);
}

/**
 * fuzz_op_map:
 * @f: worker
 *
 * Reads and writes a BO through a CPU mapping.
 */
void fuzz_op_map(struct fuzz *f)
{
	struct fuzz_bo *b;
	uint64_t size, offset;
	uint8_t *ptr, *got;
	void *map;

	do {
		b = fuzz_bo_pick(f, NULL);
	} while (b->bo.flags & RADEON_GEM_NO_CPU_ACCESS);
	size = fuzz_length(f, b->size);
	offset = fuzz_below(f, b->size - size + 1);
	fuzz_say(f, "mapping of %s BO %u, %#llx bytes at %#llx",
		 fuzz_bo_name(b), b->bo.handle, (unsigned long long)size,
		 (unsigned long long)offset);
	ptr = fuzz_bo_map(f, b, &map);
	got = malloc(size);
	igt_assert(got);
	fuzz_bo_copy(f, b, got, ptr + offset, size);
	if (memcmp(got, b->model + offset, size))
		fuzz_fail(f, "wrong contents");
	free(got);
	if (fuzz_one_in(f, 2)) {
		fuzz_fill(f, b->model + offset, size);
		fuzz_bo_copy(f, b, ptr + offset, b->model + offset, size);
	}
	munmap(map, b->bo.size);
}

/**
 * fuzz_op_pressure:
 * @f: worker
 *
 * Creates BOs in VRAM, until the kernel has moved 32 MiB out of it or a random
 * limit is reached, and closes them.
 */
void fuzz_op_pressure(struct fuzz *f)
{
	enum { COUNT = 32, STEP = 16 << 20 };
	struct igt_radeon_bo bos[COUNT];
	unsigned int n, max = 1 + fuzz_below(f, COUNT);
	uint64_t before = igt_radeon_info64(f->fd, RADEON_INFO_GTT_USAGE);
	uint32_t flags = fuzz_one_in(f, 3) ? RADEON_GEM_CPU_ACCESS :
					     RADEON_GEM_NO_CPU_ACCESS;

	fuzz_say(f, "take %u times 16 MiB of VRAM", max);
	for (n = 0; n < max; n++) {
		struct drm_radeon_gem_create arg = {
			.size = STEP,
			.alignment = 4096,
			.initial_domain = RADEON_GEM_DOMAIN_VRAM,
			.flags = flags,
		};

		if (igt_ioctl(f->fd, DRM_IOCTL_RADEON_GEM_CREATE, &arg)) {
			igt_assert_eq(errno, ENOMEM);
			break;
		}
		bos[n] = (struct igt_radeon_bo) {
			.fd = f->fd,
			.handle = arg.handle,
		};
		if (igt_radeon_info64(f->fd, RADEON_INFO_GTT_USAGE) >
		    before + (32 << 20)) {
			n++;
			break;
		}
	}
	while (n)
		igt_radeon_bo_fini(&bos[--n]);
}

/**
 * fuzz_op_peek:
 * @f: worker
 *
 * Reads all of a shared BO. Each part must have bytes of its owner.
 */
void fuzz_op_peek(struct fuzz *f)
{
	const struct igt_radeon_bo *bo;
	uint64_t i, owner;
	uint8_t *got;
	unsigned int n;
	int ret;

	/* Shared BOs are in the first slots. */
	for (n = fuzz_below(f, FUZZ_SHARED * 3); !f->bos[n].shared; n = 0)
		;
	bo = &f->bos[n].bo;
	fuzz_say(f, "read shared %s BO", fuzz_bo_name(&f->bos[n]));
	got = malloc(bo->size);
	igt_assert(got);
	ret = fuzz_rw(f, false, bo->handle, 0, bo->size, (uintptr_t)got, 0);
	if (ret)
		fuzz_fail(f, "%d", ret);
	for (i = 0; i < bo->size; i++) {
		owner = i / FUZZ_GRANULE % FUZZ_WORKERS + 1;
		if (got[i] && got[i] >> 5 != owner)
			fuzz_fail(f, "byte %#llx of process %llu is %#04x",
				  (unsigned long long)i,
				  (unsigned long long)owner, got[i]);
	}
	free(got);
}
