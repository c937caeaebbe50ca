// SPDX-License-Identifier: MIT
/*
 * Uploads and downloads that need neither PREAD and PWRITE nor a mapping of the BO:
 * the DMA engine copies, by a submission of the client, between the BO and memory of
 * the client, which is a BO, too (DRM_RADEON_GEM_USERPTR), or a BO in GTT that the
 * client keeps mapped.
 *
 *	userptr		a BO of the caller's memory is made, copied, waited for and
 *			closed. Uploads only read it; that is the cheapest kind.
 *	-registered	the same of the kind that Mesa makes (AMD_pinned_memory): with an
 *			MMU notifier, and validated at once
 *	-nowait		the same without waiting: the GPU reads the caller's memory later
 *	-kept		a BO of the caller's memory that is made once
 *	-window		a BO of the client's own memory, made once; the caller copies
 *	-window-nowait	two of these in turn: waits only before it fills one again
 *	gtt-window	as -window, a BO in GTT that stays mapped. No USERPTR.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "transfer-paths.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WINDOWS 2u

/* The kernel lets a GPU read any memory without a notifier, and write none. */
#define READS RADEON_GEM_USERPTR_READONLY
#define REGISTERED (RADEON_GEM_USERPTR_ANONONLY | RADEON_GEM_USERPTR_REGISTER | \
		    RADEON_GEM_USERPTR_VALIDATE)

/**
 * struct window - memory that is a BO as long as the case lasts
 * @memory: its mapping
 * @handle: BO
 */
struct window {
	uint8_t *memory;
	uint32_t handle;
};

/**
 * struct tp_user_bos - BOs that a case keeps
 * @write: uploads: the GPU copies from them
 * @size: bytes of a window
 * @windows: BOs of user memory
 * @gtt: BOs in GTT
 * @next: the window that is used next
 * @kept: BO of the caller's memory, or 0
 * @kept_at: user memory for which it was made
 * @pieces: what a submission copies
 */
struct tp_user_bos {
	bool write;
	size_t size;
	struct window windows[WINDOWS], gtt[WINDOWS];
	unsigned int next;
	uint32_t kept;
	const uint8_t *kept_at;
	struct bench_dma_piece pieces[BENCH_DMA_PIECES_MAX];
};

/* Makes a BO of the pages that hold the caller's memory, which begins at *offset in it. */
static int wrap(struct tp_case *c, uint32_t flags, uint32_t *handle,
		uint64_t *offset)
{
	uintptr_t user = (uintptr_t)c->run->user;

	*offset = user % TP_PAGE;
	return bench_gem_userptr(c->run->dev.fd, c->run->user - *offset,
				 (*offset + c->bytes + TP_PAGE - 1) &
					 ~(uint64_t)(TP_PAGE - 1),
				 flags, handle);
}

/* Submits the copy between a BO, from an offset on, and the BO or BOs of the case. */
static int submit(struct tp_case *c, uint32_t handle, uint64_t offset)
{
	const uint32_t domain = c->placement->domain, gtt = RADEON_GEM_DOMAIN_GTT;
	const struct tp_glyphs *g = c->many;
	struct tp_user_bos *u = c->user_bos;
	uint64_t at = 0, bytes;
	unsigned int n = 0;

	for (; at < c->bytes; at += bytes) {
		bytes = c->bytes - at < BENCH_DMA_MAX ? c->bytes - at :
							BENCH_DMA_MAX;
		if (g)
			bytes = TP_GLYPH_BYTES;
		u->pieces[n] = (struct bench_dma_piece) {
			.src = handle,
			.dst = g ? g->handles[n] : c->handle,
			.src_offset = offset + at,
			.dst_offset = g ? 0 : at,
			.bytes = bytes,
		};
		if (!u->write)
			u->pieces[n] = (struct bench_dma_piece) {
				.src = c->handle,
				.dst = handle,
				.src_offset = at,
				.dst_offset = offset + at,
				.bytes = bytes,
			};
		n++;
	}
	return bench_gem_dma(c->run->dev.fd, u->pieces, n,
			     u->write ? gtt : domain, u->write ? domain : gtt);
}

/* Makes a BO of the caller's memory, copies and closes it. */
static int once(struct tp_case *c, uint32_t flags, bool wait)
{
	uint64_t offset;
	uint32_t handle;
	int ret, ret2;

	ret = wrap(c, flags, &handle, &offset);
	if (ret)
		return ret;
	ret = submit(c, handle, offset);
	if (!ret && wait)
		ret = bench_gem_wait(c->run->dev.fd, handle);
	ret2 = bench_gem_close(c->run->dev.fd, handle);
	return ret ? ret : ret2;
}

static int by_userptr(struct tp_case *c)
{
	return once(c, c->user_bos->write ? READS : REGISTERED, true);
}

static int by_registered(struct tp_case *c)
{
	return once(c, REGISTERED, true);
}

static int by_userptr_nowait(struct tp_case *c)
{
	return once(c, READS, false);
}

static int by_kept(struct tp_case *c)
{
	struct tp_user_bos *u = c->user_bos;
	uint64_t offset = (uintptr_t)c->run->user % TP_PAGE;
	int ret;

	if (u->kept_at != c->run->user) {
		if (u->kept)
			bench_gem_close(c->run->dev.fd, u->kept);
		u->kept = 0;
		u->kept_at = c->run->user;
		ret = wrap(c, REGISTERED, &u->kept, &offset);
		if (ret)
			return ret;
	}
	ret = submit(c, u->kept, offset);
	return ret ? ret : bench_gem_wait(c->run->dev.fd, u->kept);
}

static int by_window(struct tp_case *c, struct window *w, bool wait)
{
	int fd = c->run->dev.fd, ret = 0;

	if (!wait)
		ret = bench_gem_wait(fd, w->handle);
	if (c->user_bos->write && !ret)
		memcpy(w->memory, c->run->user, c->bytes);
	if (!ret)
		ret = submit(c, w->handle, 0);
	if (!ret && wait)
		ret = bench_gem_wait(fd, w->handle);
	if (!c->user_bos->write && !ret)
		memcpy(c->run->user, w->memory, c->bytes);
	return ret;
}

static int by_user_window(struct tp_case *c)
{
	return by_window(c, &c->user_bos->windows[0], true);
}

static int by_gtt_window(struct tp_case *c)
{
	return by_window(c, &c->user_bos->gtt[0], true);
}

static int by_user_windows(struct tp_case *c)
{
	struct tp_user_bos *u = c->user_bos;

	return by_window(c, &u->windows[u->next++ % WINDOWS], false);
}

static int by_gtt_windows(struct tp_case *c)
{
	struct tp_user_bos *u = c->user_bos;

	return by_window(c, &u->gtt[u->next++ % WINDOWS], false);
}

/* Each glyph by a BO of the caller's memory and a submission of its own. */
static int by_each(struct tp_case *c)
{
	const struct tp_glyphs *g = c->many;
	struct tp_case one = *c;
	struct tp_run run = { .dev = c->run->dev, .user = c->run->user };
	unsigned int i;
	int ret = 0;

	one.run = &run;
	one.many = NULL;
	one.bytes = TP_GLYPH_BYTES;
	for (i = 0; i < TP_GLYPHS && !ret; i++) {
		one.handle = g->handles[i];
		ret = by_userptr(&one);
		run.user += TP_GLYPH_BYTES;
	}
	return ret;
}

const struct tp_arm tp_user_up[] = {
	{ "userptr", by_userptr, TP_BY_CS, { }, 0 },
	{ "userptr-registered", by_registered, TP_BY_CS, { }, 0 },
	{ "userptr-nowait", by_userptr_nowait,
	  TP_BY_CS | TP_BORROWS, { }, 0 },
	{ "userptr-kept", by_kept, TP_BY_CS, { }, 0 },
	{ "userptr-window", by_user_window, TP_BY_CS, { }, 0 },
	{ "userptr-window-nowait", by_user_windows, TP_BY_CS, { }, 0 },
	{ "gtt-window", by_gtt_window, TP_BY_CS, { }, 0 },
	{ "gtt-window-nowait", by_gtt_windows, TP_BY_CS, { }, 0 },
};

const unsigned int tp_user_up_count = COUNT(tp_user_up);

/*
 * radeon_ttm_backend_bind() takes RADEON_GART_PAGE_WRITE from pages of user memory, so
 * without page tables of its own a client has none that its GPU could write. Nothing
 * fails, and nothing arrives.
 */
const struct tp_arm tp_user_down[] = {
	{ "userptr", by_userptr, TP_BY_CS | TP_LOST, { }, 0 },
	{ "userptr-kept", by_kept, TP_BY_CS | TP_LOST, { }, 0 },
	{ "userptr-window", by_user_window, TP_BY_CS | TP_LOST, { }, 0 },
	{ "gtt-window", by_gtt_window, TP_BY_CS, { }, 0 },
};

const unsigned int tp_user_down_count = COUNT(tp_user_down);

const struct tp_arm tp_user_many[] = {
	{ "userptr", by_userptr, TP_BY_CS, { }, 0 },
	{ "userptr-each", by_each, TP_BY_CS, { }, 0 },
	{ "userptr-kept", by_kept, TP_BY_CS, { }, 0 },
	{ "userptr-window", by_user_window, TP_BY_CS, { }, 0 },
	{ "gtt-window", by_gtt_window, TP_BY_CS, { }, 0 },
};

const unsigned int tp_user_many_count = COUNT(tp_user_many);

/*
 * A BO that only looks like one of user memory would be measured for nothing; of a real
 * one the kernel makes no mapping.
 */
static int is_of_user_memory(struct tp_case *c, uint32_t handle)
{
	uint64_t offset;
	int ret = bench_gem_offset(c->run->dev.fd, handle, TP_PAGE, &offset);

	return ret == -EPERM ? 0 : -EPROTO;
}

static int make_windows(struct tp_case *c, unsigned int i)
{
	struct tp_user_bos *u = c->user_bos;
	int fd = c->run->dev.fd, ret;
	void *memory;

	memory = mmap(NULL, u->size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -errno;
	u->windows[i].memory = memory;
	madvise(memory, u->size, MADV_NOHUGEPAGE);
	memset(memory, 1, u->size);
	ret = bench_gem_userptr(fd, memory, u->size, REGISTERED,
				&u->windows[i].handle);
	if (!ret)
		ret = is_of_user_memory(c, u->windows[i].handle);
	if (!ret)
		ret = bench_gem_create(fd, u->size, RADEON_GEM_DOMAIN_GTT, 0,
				       &u->gtt[i].handle);
	if (!ret)
		ret = bench_gem_mmap(fd, u->gtt[i].handle, u->size, &memory);
	if (!ret) {
		u->gtt[i].memory = memory;
		memset(memory, 1, u->size);
	}
	return ret;
}

/**
 * tp_user_init - make what the variants of user memory need
 * @c: the case, with its BO; gets @user_bos
 * @write: uploads
 *
 * Returns: 0 or a negative errno; -EPROTO if BOs of user memory are none. In either
 * case tp_user_fini() releases what was made.
 */
int tp_user_init(struct tp_case *c, bool write)
{
	struct tp_user_bos *u = calloc(1, sizeof(*u));
	unsigned int i;
	int ret = 0;

	if (!u)
		return -ENOMEM;
	c->user_bos = u;
	u->write = write;
	u->size = (c->bytes + TP_PAGE - 1) & ~(uint64_t)(TP_PAGE - 1);
	for (i = 0; i < WINDOWS && !ret; i++)
		ret = make_windows(c, i);
	return ret;
}

/**
 * tp_user_fini - release what tp_user_init() and the variants made
 * @c: the case, also one without @user_bos
 */
void tp_user_fini(struct tp_case *c)
{
	struct tp_user_bos *u = c->user_bos;
	struct window *w[2 * WINDOWS];
	unsigned int i;

	if (!u)
		return;
	for (i = 0; i < WINDOWS; i++) {
		w[i] = &u->windows[i];
		w[WINDOWS + i] = &u->gtt[i];
	}
	for (i = 0; i < 2 * WINDOWS; i++) {
		if (w[i]->handle)
			bench_gem_close(c->run->dev.fd, w[i]->handle);
		if (w[i]->memory)
			munmap(w[i]->memory, u->size);
	}
	if (u->kept)
		bench_gem_close(c->run->dev.fd, u->kept);
	free(u);
	c->user_bos = NULL;
}
