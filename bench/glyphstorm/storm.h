/* SPDX-License-Identifier: MIT */
/*
 * glyphstorm's connection, and its operations on pixmaps (pixmaps.c), glyphs (glyphs.c),
 * workspaces of both (workspaces.c) and OpenGL's objects (gl.c).
 *
 * An operation is called for i = 0 to its count - 1, and only sends requests: the caller waits for
 * the server after BATCH of them. Checks return the number of pixels that are wrong.
 */
#ifndef GLYPHSTORM_STORM_H
#define GLYPHSTORM_STORM_H

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/XShm.h>
#include <stdbool.h>
#include <stdint.h>

/* Pixels of a pixmap's side, and of a glyph's. */
#define PIXMAP_SIDE	24u
#define GLYPH_SIDE	32u
/* The window and the picture that contents are checked in. */
#define WIDTH		1008u
#define HEIGHT		768u
#define PIXMAP_COLUMNS	(WIDTH / PIXMAP_SIDE)
#define PIXMAP_CELLS	(PIXMAP_COLUMNS * (HEIGHT / PIXMAP_SIDE))
#define GLYPH_COLUMNS	(WIDTH / GLYPH_SIDE)
#define GLYPH_CELLS	(GLYPH_COLUMNS * (HEIGHT / GLYPH_SIDE))
#define WORKSPACES	2u
/* Operations after which the client waits for the server. */
#define BATCH		16u
/* Pixels have 24 bits; servers need not keep the others. */
#define COLOUR		0xffffffu

/**
 * struct storm - the connection and what it has made
 * @display: connection
 * @screen: its screen
 * @window: WIDTH x HEIGHT, at the screen's corner
 * @sheet: a pixmap of the same size, in which contents are checked
 * @copy: context that copies
 * @invert: context that inverts each bit of a colour
 * @image: PIXMAP_SIDE x PIXMAP_SIDE pixels in this process
 * @shared: the same in memory that the server shares, for each operation of a batch
 * @segment: that memory
 * @pixmaps: all pixmaps
 * @versions: which contents each pixmap has
 * @count: pixmaps in all; the first half comes from images, the second from shared memory
 * @live: pixmaps that have been made and not been freed
 * @glyphs: glyphs that there are
 */
struct storm {
	Display *display;
	int screen;
	Window window;
	Pixmap sheet;
	GC copy, invert;
	XImage *image, *shared[BATCH];
	XShmSegmentInfo segment;
	Pixmap *pixmaps;
	uint8_t *versions;
	unsigned int count, live, glyphs;
};

int pixmaps_start(struct storm *s, unsigned int count);
void pixmaps_put(struct storm *s, unsigned int i);
void pixmaps_put_shared(struct storm *s, unsigned int i);
void pixmaps_put_again(struct storm *s, unsigned int i);
void pixmaps_arc(struct storm *s, unsigned int i);
void pixmaps_copy(struct storm *s, unsigned int i);
void pixmaps_free(struct storm *s, unsigned int i);
uint32_t pixmaps_colour(unsigned int i, unsigned int version, unsigned int x, unsigned int y);
unsigned long pixmaps_get(struct storm *s, unsigned int i);
unsigned long pixmaps_wrong(const struct storm *s, const XImage *image, unsigned int x,
			    unsigned int y, unsigned int i);
unsigned long pixmaps_check(struct storm *s);
unsigned long pixmaps_check_window(struct storm *s);
unsigned long pixmaps_check_arcs(struct storm *s, unsigned long *drawn);

int glyphs_start(struct storm *s);
void glyphs_add(struct storm *s, unsigned int i);
void glyphs_draw(struct storm *s, unsigned int i);
void glyphs_draw_at(struct storm *s, XID picture, unsigned int i, unsigned int cell);
XID glyphs_picture(struct storm *s, Drawable drawable);
unsigned long glyphs_wrong(const XImage *image, unsigned int i, unsigned int cell);
unsigned long glyphs_check(struct storm *s);

bool workspaces_have(const struct storm *s, unsigned int i);
void workspaces_start(struct storm *s);
void workspaces_switch(struct storm *s, unsigned int i);
unsigned long workspaces_check(struct storm *s, unsigned int i);

int gl_start(struct storm *s, unsigned int count, unsigned int pixmaps);
void gl_texture(struct storm *s, unsigned int i);
void gl_texture_again(struct storm *s, unsigned int i);
void gl_buffer(struct storm *s, unsigned int i);
void gl_buffer_again(struct storm *s, unsigned int i);
void gl_pixmap(struct storm *s, unsigned int i);
void gl_composite(struct storm *s, unsigned int i);
void gl_free(struct storm *s, unsigned int i);
void gl_finish(struct storm *s);
unsigned long gl_check(struct storm *s);

#endif /* GLYPHSTORM_STORM_H */
