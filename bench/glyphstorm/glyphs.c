// SPDX-License-Identifier: MIT
/*
 * Glyphs by XRender: sets of many sizes' worth of text in all of Unicode, of which no atlas
 * holds all at once.
 */
#include <X11/extensions/Xrender.h>
#include <stdio.h>
#include <stdlib.h>

#include "storm.h"

/* Glyphs of a set, as a font's. */
#define SET		1024u
#define SETS_MAX	128u

static GlyphSet sets[SETS_MAX];
static Picture white, target;
static XRenderPictFormat *a8;

static uint8_t coverage(unsigned int i, unsigned int x, unsigned int y)
{
	uint32_t h = i * 0x9e3779b1u ^ (y * GLYPH_SIDE + x) * 0xc2b2ae35u;

	return h >> 24;
}

/**
 * glyphs_start - make what draws glyphs
 * @s: connection, with its sheet
 *
 * Returns: 0; -1, with a message, if the server has no XRender
 */
int glyphs_start(struct storm *s)
{
	XRenderColor colour = { 0xffff, 0xffff, 0xffff, 0xffff };
	int event, error;

	if (!XRenderQueryExtension(s->display, &event, &error)) {
		fprintf(stderr, "glyphstorm: the server has no XRender\n");
		return -1;
	}
	a8 = XRenderFindStandardFormat(s->display, PictStandardA8);
	white = XRenderCreateSolidFill(s->display, &colour);
	target = glyphs_picture(s, s->sheet);
	return 0;
}

/**
 * glyphs_picture - make a picture of a drawable that glyphs can be drawn to
 * @s: connection
 * @drawable: pixmap or window of the screen's visual
 *
 * Returns: the picture
 */
Picture glyphs_picture(struct storm *s, Drawable drawable)
{
	Visual *visual = DefaultVisual(s->display, s->screen);

	return XRenderCreatePicture(s->display, drawable,
				    XRenderFindVisualFormat(s->display, visual), 0, NULL);
}

/**
 * glyphs_add - give the server a glyph
 * @s: connection
 * @i: number, below SETS_MAX * SET
 */
void glyphs_add(struct storm *s, unsigned int i)
{
	XGlyphInfo info = {
		.width = GLYPH_SIDE, .height = GLYPH_SIDE, .xOff = GLYPH_SIDE,
	};
	char bits[GLYPH_SIDE * GLYPH_SIDE];
	Glyph number = i % SET;
	unsigned int x, y;

	if (!number)
		sets[i / SET] = XRenderCreateGlyphSet(s->display, a8);
	for (y = 0; y < GLYPH_SIDE; y++)
		for (x = 0; x < GLYPH_SIDE; x++)
			bits[y * GLYPH_SIDE + x] = coverage(i, x, y);
	XRenderAddGlyphs(s->display, sets[i / SET], &number, &info, 1, bits, sizeof(bits));
}

/**
 * glyphs_draw_at - draw a glyph
 * @s: connection
 * @picture: where to
 * @i: number
 * @cell: which cell of it
 *
 * White is added, so that what was black has the glyph's coverage in each channel.
 */
void glyphs_draw_at(struct storm *s, Picture picture, unsigned int i, unsigned int cell)
{
	unsigned int number = i % SET;

	XRenderCompositeString32(s->display, PictOpAdd, white, picture, a8, sets[i / SET], 0, 0,
				 cell % GLYPH_COLUMNS * GLYPH_SIDE,
				 cell / GLYPH_COLUMNS * GLYPH_SIDE, &number, 1);
}

/**
 * glyphs_draw - draw a glyph to its cell of the sheet
 * @s: connection
 * @i: number
 */
void glyphs_draw(struct storm *s, unsigned int i)
{
	glyphs_draw_at(s, target, i, i % GLYPH_CELLS);
}

/**
 * glyphs_wrong - compare a cell of an image with a glyph, drawn once to black
 * @image: image, WIDTH x HEIGHT
 * @i: number of the glyph
 * @cell: which cell
 *
 * Returns: wrong pixels
 */
unsigned long glyphs_wrong(const XImage *image, unsigned int i, unsigned int cell)
{
	unsigned int left = cell % GLYPH_COLUMNS * GLYPH_SIDE;
	unsigned int top = cell / GLYPH_COLUMNS * GLYPH_SIDE, x, y;
	unsigned long wrong = 0;

	for (y = 0; y < GLYPH_SIDE; y++) {
		const uint32_t *row = (const uint32_t *)
			(image->data + (top + y) * image->bytes_per_line);

		for (x = 0; x < GLYPH_SIDE; x++)
			wrong += (row[left + x] & COLOUR) != coverage(i, x, y) * 0x010101u;
	}
	return wrong;
}

/**
 * glyphs_check - draw all glyphs, a sheet at a time, and check each pixel
 * @s: connection
 *
 * Returns: wrong pixels
 */
unsigned long glyphs_check(struct storm *s)
{
	unsigned int from, to, i;
	unsigned long wrong = 0;
	XRenderColor black = { 0, 0, 0, 0xffff };
	XImage *image;

	for (from = 0; from < s->glyphs; from = to) {
		to = from + GLYPH_CELLS < s->glyphs ? from + GLYPH_CELLS : s->glyphs;
		XRenderFillRectangle(s->display, PictOpSrc, target, &black, 0, 0, WIDTH, HEIGHT);
		for (i = from; i < to; i++)
			glyphs_draw(s, i);
		image = XGetImage(s->display, s->sheet, 0, 0, WIDTH, HEIGHT, AllPlanes, ZPixmap);
		if (!image)
			return WIDTH * HEIGHT;
		for (i = from; i < to; i++)
			wrong += glyphs_wrong(image, i, i % GLYPH_CELLS);
		XDestroyImage(image);
	}
	return wrong;
}
