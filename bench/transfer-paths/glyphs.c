// SPDX-License-Identifier: MIT
/*
 * Uploads of many small pieces: glyphs of 16 x 16 pixels of 8 bits, contiguous
 * in user memory, into one BO or each into a BO of its own; by one TRANSFER, or
 * by one PWRITE for each contiguous piece.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "radeon_drm.h"
#include "radeon_drm_rw.h"

#include "transfer-paths.h"

#define GLYPHS TP_GLYPHS
#define SIDE 16u
#define GLYPH_BYTES TP_GLYPH_BYTES
#define BO_BYTES 4096u
/* An atlas has rows of glyphs side by side. */
#define ATLAS_GLYPHS 32u
#define ATLAS_PITCH (ATLAS_GLYPHS * SIDE)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/**
 * tp_glyphs_transfer - all glyphs by one TRANSFER
 * @c: the case
 */
int tp_glyphs_transfer(struct tp_case *c)
{
	struct tp_glyphs *g = c->many;

	return bench_gem_transfer(c->run->dev.fd, g->regions, GLYPHS,
				  RADEON_GEM_TRANSFER_WRITE);
}

/**
 * tp_glyphs_pwrite - a PWRITE for each piece that is contiguous in its BO
 * @c: the case
 */
int tp_glyphs_pwrite(struct tp_case *c)
{
	const struct tp_glyphs *g = c->many;
	unsigned int i, row, calls;
	uint64_t bytes;
	int ret;

	for (i = 0; i < GLYPHS; i++) {
		const struct drm_radeon_gem_transfer_region *r = &g->regions[i];

		calls = r->bo_pitch == r->row_bytes ? 1 : r->rows;
		bytes = GLYPH_BYTES / calls;
		for (row = 0; row < calls; row++) {
			ret = bench_gem_pwrite(c->run->dev.fd, r->handle,
					       r->bo_offset + row * r->bo_pitch,
					       (void *)(uintptr_t)(r->user_ptr +
								   row * bytes),
					       bytes);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static int prepare(struct tp_case *c, uint64_t seed)
{
	tp_pattern(c->run->user, c->bytes, seed);
	return 0;
}

static int check_one(struct tp_case *c, uint64_t seed, bool *good)
{
	const struct tp_glyphs *g = c->many;
	uint8_t *found = c->run->user;
	unsigned int i, row;

	memset(found, 0, c->bytes);
	for (i = 0; i < GLYPHS; i++)
		for (row = 0; row < SIDE; row++)
			memcpy(found + (i * SIDE + row) * SIDE,
			       (uint8_t *)c->map + g->regions[i].bo_offset +
				       row * g->regions[i].bo_pitch, SIDE);
	*good = tp_is_pattern(c->run, found, c->bytes, seed);
	return 0;
}

/* The GPU copies the contents of all glyphs' BOs into the BO of the case. */
static int check_many(struct tp_case *c, uint64_t seed, bool *good)
{
	struct bench_piece pieces[BENCH_PIECES_MAX];
	const struct tp_glyphs *g = c->many;
	unsigned int i, k, n;
	int ret;

	memset(c->map, 0, c->bytes);
	for (i = 0; i < GLYPHS; i += n) {
		n = GLYPHS - i < BENCH_PIECES_MAX ? GLYPHS - i :
						    BENCH_PIECES_MAX;
		for (k = 0; k < n; k++)
			pieces[k] = (struct bench_piece) {
				.handle = g->handles[i + k],
				.dst_offset = (i + k) * GLYPH_BYTES,
				.bytes = GLYPH_BYTES,
			};
		ret = bench_gem_copy(c->run->dev.fd, c->handle,
				     c->placement->domain, pieces, n,
				     c->placement->domain);
		if (!ret)
			ret = bench_gem_wait(c->run->dev.fd, c->handle);
		/* The next turn's writes must find idle BOs. */
		for (k = 0; k < n && !ret; k++)
			ret = bench_gem_wait(c->run->dev.fd, g->handles[i + k]);
		if (ret)
			return ret;
	}
	*good = tp_is_pattern(c->run, c->map, c->bytes, seed);
	return 0;
}

static const struct {
	const char *kind;
	bool many, atlas;
} layouts[] = {
	{ "glyphs-one", false, false },
	{ "glyphs-atlas", false, true },
	{ "glyphs-many", true, false },
};

static void place(struct tp_case *c, struct tp_glyphs *g, unsigned int i,
		  unsigned int layout)
{
	struct drm_radeon_gem_transfer_region *r = &g->regions[i];

	*r = (struct drm_radeon_gem_transfer_region) {
		.handle = c->handle,
		.bo_offset = i * GLYPH_BYTES,
		.bo_pitch = SIDE,
		.user_ptr = (uintptr_t)c->run->user + i * GLYPH_BYTES,
		.user_pitch = SIDE,
		.row_bytes = SIDE,
		.rows = SIDE,
	};
	if (layouts[layout].atlas) {
		r->bo_offset = i / ATLAS_GLYPHS * SIDE * ATLAS_PITCH +
			       i % ATLAS_GLYPHS * SIDE;
		r->bo_pitch = ATLAS_PITCH;
	}
	if (layouts[layout].many) {
		r->handle = g->handles[i];
		r->bo_offset = 0;
	}
}

static void measure(struct tp_run *run, const struct tp_placement *placement,
		    unsigned int layout, const struct tp_arm *arms,
		    unsigned int arm_count, bool user_bos)
{
	struct tp_glyphs *g = calloc(1, sizeof(*g));
	struct tp_case c = {
		.run = run,
		.kind = layouts[layout].kind,
		.placement = placement,
		.bytes = GLYPHS * GLYPH_BYTES,
		.units = GLYPHS,
		.ops = run->options->quick || run->options->count ? 1 : 3,
		.arms = arms,
		.arm_count = arm_count,
		.many = g,
		.fixed = true,
		.prepare = prepare,
		.check = layouts[layout].many ? check_many : check_one,
	};
	struct tp_row *row;
	unsigned int i;
	int ret = -ENOMEM;

	if (g)
		ret = tp_case_bo(&c, (GLYPHS / ATLAS_GLYPHS + 1) * ATLAS_GLYPHS *
				     GLYPH_BYTES);
	for (i = 0; i < GLYPHS && !ret; i++) {
		if (layouts[layout].many)
			ret = bench_gem_create(run->dev.fd, BO_BYTES,
					       placement->domain,
					       placement->flags,
					       &g->handles[i]);
		/* The driver may be clearing it. */
		if (layouts[layout].many && !ret)
			ret = bench_gem_wait(run->dev.fd, g->handles[i]);
		place(&c, g, i, layout);
	}
	if (user_bos && !ret)
		ret = tp_user_init(&c, true);
	if (ret) {
		row = tp_row(run, c.kind, placement, &arms[0], c.bytes,
			     GLYPHS);
		snprintf(row->error, sizeof(row->error), "BOs: %s",
			 strerror(-ret));
	} else {
		tp_measure(&c);
	}
	tp_user_fini(&c);
	for (i = 0; g && i < GLYPHS; i++)
		if (g->handles[i])
			bench_gem_close(run->dev.fd, g->handles[i]);
	tp_case_fini(&c);
	free(g);
}

/**
 * tp_glyphs_many - glyphs into BOs of their own, in given variants
 * @run: the run
 * @placement: of the BOs
 * @arms: the variants; their case has @user_bos, and a struct tp_glyphs in @many
 * @count: number of @arms
 */
void tp_glyphs_many(struct tp_run *run, const struct tp_placement *placement,
		    const struct tp_arm *arms, unsigned int count)
{
	measure(run, placement, COUNT(layouts) - 1, arms, count, true);
}

/**
 * tp_glyphs - many glyphs into one BO, into an atlas, and into BOs of their own
 * @run: the run, whose device has TRANSFER
 */
void tp_glyphs(struct tp_run *run)
{
	static const struct tp_arm arms[] = {
		{ "pwrite", tp_glyphs_pwrite, TP_BY_CPU, { }, 0 },
		{ "transfer", tp_glyphs_transfer, TP_BY_CPU, { }, 0 },
		{ "transfer-again", tp_glyphs_transfer, TP_BY_CPU, { }, 0 },
	};
	unsigned int p, layout;

	for (p = 0; p < tp_placement_count; p++) {
		if (tp_placements[p].flags == RADEON_GEM_GTT_WC ||
		    tp_placements[p].hidden)
			continue;
		for (layout = 0; layout < COUNT(layouts); layout++)
			measure(run, &tp_placements[p], layout, arms,
				COUNT(arms), false);
	}
}
