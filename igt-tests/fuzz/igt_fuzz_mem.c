// SPDX-License-Identifier: MIT
/*
 * Parts of radeon_gem_rw_fuzz: user memory of all kinds.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_fuzz.h"

#define HUGE	(2ul << 20)

/* Attempts, 20 ms apart, while waiting for a reset */
#define MAX_TRIES	1000

static void *map(size_t size, int flags, int fd)
{
	void *ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	igt_assert(ptr != MAP_FAILED);
	return ptr;
}

static size_t pages(size_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

static int file(size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	igt_assert(fd >= 0);
	igt_assert_eq(ftruncate(fd, size), 0);
	return fd;
}

/* Chooses a place for the call's bytes in memory of @total bytes. */
static void place(struct fuzz *f, struct fuzz_mem *m, uint8_t *base,
		  size_t total)
{
	size_t room = total - m->size - 2 * FUZZ_GUARD;

	m->before = FUZZ_GUARD;
	m->after = FUZZ_GUARD;
	m->ptr = base + FUZZ_GUARD + fuzz_below(f, room < PAGE ? room + 1 :
							       PAGE);
	/* Often aligned, as in most programs. */
	if (fuzz_one_in(f, 3) && room >= PAGE)
		m->ptr = base + PAGE;
}

/* Returns a BO of the worker that is large enough to map, or NULL. */
static struct fuzz_bo *mappable(struct fuzz *f, size_t size,
				const struct fuzz_bo *not)
{
	struct fuzz_bo *b = fuzz_bo_pick(f, not);

	if (b->bo.flags & RADEON_GEM_NO_CPU_ACCESS || b->shared ||
	    b->size < size + 2 * FUZZ_GUARD || (not && not->bo.handle ==
						b->bo.handle))
		return NULL;
	return b;
}

/**
 * fuzz_mem_get:
 * @f: worker
 * @m: filled in
 * @size: bytes
 * @write: the call will read the memory if true, else write it
 * @not: the memory must not be a mapping of this BO
 *
 * Makes memory that a call can use, and fills it.
 */
void fuzz_mem_get(struct fuzz *f, struct fuzz_mem *m, size_t size, bool write,
		  const struct fuzz_bo *not)
{
	size_t total = pages(size + 2 * FUZZ_GUARD) + PAGE;
	unsigned int kind = fuzz_below(f, 10);
	bool touch = true;
	uint8_t *base;
	int fd;

	*m = (struct fuzz_mem) { .size = size, .valid = size };
	if (kind == 0)
		m->bo = mappable(f, size, not);
	if (m->bo) {
		m->kind = "mapping of a BO";
		base = fuzz_bo_map(f, m->bo, &m->map);
		m->map_size = m->bo->bo.size;
		place(f, m, base, m->bo->size);
		m->bo_offset = m->ptr - m->before - base;
		touch = false;
	} else if (kind == 1) {
		m->kind = "memory never touched";
		m->map_size = total;
		m->map = map(total, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		place(f, m, m->map, total);
		touch = false;
	} else if (kind == 2 || kind == 3) {
		m->kind = kind == 2 ? "shared file" : "private file";
		fd = file(total);
		m->map_size = total;
		m->map = map(total, kind == 2 ? MAP_SHARED : MAP_PRIVATE, fd);
		close(fd);
		place(f, m, m->map, total);
		touch = !fuzz_one_in(f, 4);
	} else if (kind == 4) {
		m->kind = "huge pages";
		m->map_size = (total + HUGE - 1) / HUGE * HUGE + HUGE;
		m->map = map(m->map_size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		base = (uint8_t *)(((uintptr_t)m->map + HUGE - 1) / HUGE * HUGE);
		madvise(base, m->map_size - HUGE, MADV_HUGEPAGE);
		place(f, m, base, total);
	} else if (kind == 5) {
		m->kind = "end of a mapping";
		total = pages(size + FUZZ_GUARD);
		m->map_size = total + PAGE;
		m->map = map(m->map_size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		igt_assert_eq(mprotect((uint8_t *)m->map + total, PAGE,
				       PROT_NONE), 0);
		m->ptr = (uint8_t *)m->map + total - size;
		m->before = FUZZ_GUARD;
	} else {
		m->kind = "heap";
		m->map = malloc(total);
		igt_assert(m->map);
		place(f, m, m->map, total);
	}

	total = m->before + size + m->after;
	m->old = malloc(total);
	igt_assert(m->old);
	if (m->bo) {
		memcpy(m->old, m->bo->model + m->bo_offset, total);
		return;
	}
	if (!touch) {
		memset(m->old, 0, total);
		return;
	}
	if (write)
		fuzz_fill(f, m->old, total);
	else
		memset(m->old, FUZZ_CANARY, total);
	memcpy(m->ptr - m->before, m->old, total);

	if (write && m->map_size && fuzz_one_in(f, 4)) {
		m->readonly = true;
		igt_assert_eq(mprotect(m->map, pages(m->map_size) -
				       (kind == 5 ? PAGE : 0), PROT_READ), 0);
	}
}

/**
 * fuzz_mem_get_broken:
 * @f: worker
 * @m: filled in
 * @size: bytes
 * @write: the call will read the memory if true, else write it
 *
 * Makes memory that cannot be accessed, or not be written, from some page on.
 */
void fuzz_mem_get_broken(struct fuzz *f, struct fuzz_mem *m, size_t size,
			 bool write)
{
	size_t total = 2 * pages(size) + 2 * PAGE, good;
	unsigned int how = fuzz_below(f, write ? 3 : 4);
	uint8_t *base, *hole;
	int fd;

	*m = (struct fuzz_mem) { .size = size, .map_size = total };
	if (how == 2) {
		m->kind = "end of a file";
		good = fuzz_below(f, pages(size) / PAGE + 1) * PAGE;
		fd = file(good);
		m->map = map(total, MAP_SHARED, fd);
		close(fd);
	} else {
		good = fuzz_below(f, pages(size) / PAGE + 1) * PAGE;
		m->map = map(total, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	}
	base = m->map;
	hole = base + good;
	/* The memory begins before the hole, or at it, and reaches into it. */
	m->ptr = base + fuzz_below(f, good ? PAGE : 1);
	if (m->ptr + size <= hole)
		m->ptr = hole - size + 1 + fuzz_below(f, size);
	if (m->ptr > hole)
		m->ptr = hole;
	m->valid = hole - m->ptr;
	m->before = m->ptr < hole && m->ptr - base > (ptrdiff_t)FUZZ_GUARD ?
		FUZZ_GUARD : 0;
	m->old = malloc(m->before + size);
	igt_assert(m->old);
	if (write)
		fuzz_fill(f, m->old, m->before + size);
	else
		memset(m->old, FUZZ_CANARY, m->before + size);
	if (m->valid)
		memcpy(m->ptr - m->before, m->old, m->before + m->valid);

	if (how == 0) {
		m->kind = "hole";
		igt_assert_eq(munmap(hole, PAGE), 0);
	} else if (how == 1) {
		m->kind = "no access";
		igt_assert_eq(mprotect(hole, base + total - hole, PROT_NONE),
			      0);
	} else if (how == 3) {
		m->kind = "read-only";
		igt_assert_eq(mprotect(hole, base + total - hole, PROT_READ),
			      0);
	}
}

/**
 * fuzz_mem_again:
 * @f: worker
 * @m: memory for a call that has ended with -EFAULT
 *
 * The kernel cannot access the mapping of a BO while the process itself would
 * get SIGBUS, see fuzz_bo_copy(). Waits in that case.
 *
 * Returns: whether to repeat the call
 */
bool fuzz_mem_again(struct fuzz *f, struct fuzz_mem *m)
{
	if (!m->bo || m->tries++ > MAX_TRIES)
		return false;
	f->stats->faults++;
	igt_radeon_bo_wait(&m->bo->bo);
	usleep(20000);
	return true;
}

/**
 * fuzz_mem_verify:
 * @f: worker
 * @m: memory that a call was to write
 * @result: expected bytes, @m->size of them; NULL if none may change
 * @exact: if not set, any byte of the worker, or the old one, is right as well
 *
 * Checks the memory and the bytes around it. If it is a mapping of a BO, the
 * model of that BO gets the bytes.
 */
void fuzz_mem_verify(struct fuzz *f, struct fuzz_mem *m, const uint8_t *result,
		     bool exact)
{
	size_t i, n = m->before + m->valid + (m->valid == m->size ? m->after : 0);
	const uint8_t *got = m->ptr - m->before;
	uint8_t *copy = malloc(n ? n : 1);
	uint8_t should;
	bool inside;

	igt_assert(copy);
	if (m->bo)
		fuzz_bo_copy(f, m->bo, copy, got, n);
	else if (n)
		memcpy(copy, got, n);
	for (i = 0; i < n; i++) {
		inside = result && i >= m->before && i < m->before + m->size;
		should = inside && exact ? result[i - m->before] : m->old[i];
		if (copy[i] == should ||
		    (inside && !exact && (fuzz_own(f, copy[i]) ||
					  copy[i] == result[i - m->before])))
			continue;
		fuzz_fail(f, "%s: byte %lld of %#zx is %#04x, should be %#04x",
			  m->kind, (long long)i - (long long)m->before,
			  m->size, copy[i], should);
	}
	if (m->bo)
		memcpy(m->bo->model + m->bo_offset, copy, n);
	free(copy);
}

/**
 * fuzz_mem_put:
 * @f: worker
 * @m: memory to release
 */
void fuzz_mem_put(struct fuzz *f, struct fuzz_mem *m)
{
	(void)f;
	free(m->old);
	if (m->map_size)
		munmap(m->map, m->map_size);
	else
		free(m->map);
}
