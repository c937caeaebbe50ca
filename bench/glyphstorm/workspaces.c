// SPDX-License-Identifier: MIT
/*
 * Two workspaces of text and icons, one window each, that a user switches between while all
 * pixmaps and glyphs are alive.
 */
#include <X11/extensions/Xrender.h>
#include <stdio.h>

#include "storm.h"

/* The last row of glyphs is left for a row of pixmaps. */
#define TEXT_CELLS	(GLYPH_CELLS - GLYPH_COLUMNS)
#define ICONS_TOP	(HEIGHT - GLYPH_SIDE)

static Window windows[WORKSPACES];
static Picture pictures[WORKSPACES];

/* The glyph in a cell of workspace @w; each workspace has others, if there are enough. */
static unsigned int glyph_of(const struct storm *s, unsigned int w, unsigned int cell)
{
	return (w * TEXT_CELLS + cell) % s->glyphs;
}

/* The pixmap in a column of workspace @w, spread over all that there are. */
static unsigned int pixmap_of(const struct storm *s, unsigned int w, unsigned int column)
{
	return (unsigned long)(column * WORKSPACES + w) * s->count / (PIXMAP_COLUMNS * WORKSPACES);
}

/**
 * workspaces_have - if a workspace shows a pixmap
 * @s: connection
 * @i: number of the pixmap
 */
bool workspaces_have(const struct storm *s, unsigned int i)
{
	unsigned int w, column;

	for (w = 0; w < WORKSPACES; w++)
		for (column = 0; column < PIXMAP_COLUMNS; column++)
			if (pixmap_of(s, w, column) == i)
				return true;
	return false;
}

/**
 * workspaces_start - make a window for each workspace
 * @s: connection, with its pixmaps, and its glyphs if there are any
 */
void workspaces_start(struct storm *s)
{
	XSetWindowAttributes attributes = { .override_redirect = True, .event_mask = ExposureMask };
	unsigned int w;

	attributes.background_pixel = BlackPixel(s->display, s->screen);
	for (w = 0; w < WORKSPACES; w++) {
		windows[w] = XCreateWindow(s->display, RootWindow(s->display, s->screen), 0, 0,
					   WIDTH, HEIGHT, 0, 24, InputOutput, CopyFromParent,
					   CWOverrideRedirect | CWEventMask | CWBackPixel,
					   &attributes);
		if (s->glyphs)
			pictures[w] = glyphs_picture(s, windows[w]);
	}
}

/**
 * workspaces_switch - show a workspace and draw it as a program does that is exposed
 * @s: connection
 * @i: number of the switch; the workspace is @i modulo WORKSPACES
 *
 * The other one is unmapped. Returns when the server has drawn all.
 */
void workspaces_switch(struct storm *s, unsigned int i)
{
	unsigned int w = i % WORKSPACES, n;
	XEvent event;

	XUnmapWindow(s->display, windows[(w + 1) % WORKSPACES]);
	XMapRaised(s->display, windows[w]);
	do
		XWindowEvent(s->display, windows[w], ExposureMask, &event);
	while (event.xexpose.count);
	for (n = 0; s->glyphs && n < TEXT_CELLS; n++)
		glyphs_draw_at(s, pictures[w], glyph_of(s, w, n), n);
	for (n = 0; n < PIXMAP_COLUMNS; n++)
		XCopyArea(s->display, s->pixmaps[pixmap_of(s, w, n)], windows[w], s->copy, 0, 0,
			  PIXMAP_SIDE, PIXMAP_SIDE, n * PIXMAP_SIDE, ICONS_TOP);
	XSync(s->display, False);
}

/**
 * workspaces_check - check each glyph and pixmap of the workspace that is shown
 * @s: connection
 * @i: number of the last switch
 *
 * Returns: wrong pixels
 */
unsigned long workspaces_check(struct storm *s, unsigned int i)
{
	unsigned int w = i % WORKSPACES, n;
	unsigned long wrong = 0;
	XImage *image = XGetImage(s->display, windows[w], 0, 0, WIDTH, HEIGHT, AllPlanes, ZPixmap);

	if (!image)
		return WIDTH * HEIGHT;
	for (n = 0; s->glyphs && n < TEXT_CELLS; n++)
		wrong += glyphs_wrong(image, glyph_of(s, w, n), n);
	for (n = 0; n < PIXMAP_COLUMNS; n++)
		wrong += pixmaps_wrong(s, image, n * PIXMAP_SIDE, ICONS_TOP, pixmap_of(s, w, n));
	XDestroyImage(image);
	return wrong;
}
