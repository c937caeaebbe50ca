// SPDX-License-Identifier: MIT
/*
 * Pixmaps: made, filled from images and from shared memory, drawn to, copied, read back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#include "storm.h"

/**
 * pixmaps_colour - the colour of a pixel
 * @i: number of the pixmap, or of what else has such contents
 * @version: which contents it has
 * @x: column
 * @y: row
 *
 * Returns: 8 bits each of red, green and blue, from the top of COLOUR
 */
uint32_t pixmaps_colour(unsigned int i, unsigned int version, unsigned int x, unsigned int y)
{
	uint32_t h = (i * 4u + version) * 0x9e3779b1u ^ (y * PIXMAP_SIDE + x) * 0x85ebca6bu;

	return (h ^ h >> 15) & COLOUR;
}

static void paint(XImage *image, unsigned int i, unsigned int version)
{
	unsigned int x, y;

	for (y = 0; y < PIXMAP_SIDE; y++)
		for (x = 0; x < PIXMAP_SIDE; x++)
			((uint32_t *)(image->data + y * image->bytes_per_line))[x] =
				pixmaps_colour(i, version, x, y);
}

static uint32_t pixel(const XImage *image, unsigned int x, unsigned int y)
{
	return ((const uint32_t *)(image->data + y * image->bytes_per_line))[x] & COLOUR;
}

/**
 * pixmaps_wrong - compare a part of an image with a pixmap's contents
 * @s: connection
 * @image: image
 * @x: column of the part's first pixel
 * @y: row of it
 * @i: number of the pixmap
 *
 * Returns: wrong pixels
 */
unsigned long pixmaps_wrong(const struct storm *s, const XImage *image, unsigned int x,
			    unsigned int y, unsigned int i)
{
	unsigned long wrong = 0;
	unsigned int dx, dy;

	for (dy = 0; dy < PIXMAP_SIDE; dy++)
		for (dx = 0; dx < PIXMAP_SIDE; dx++)
			wrong += pixel(image, x + dx, y + dy) !=
				 pixmaps_colour(i, s->versions[i], dx, dy);
	return wrong;
}

/**
 * pixmaps_start - make room for pixmaps, and the images that fill them
 * @s: connection, with its display, window and contexts
 * @count: pixmaps that there will be; even
 *
 * Returns: 0; -1, with a message, if the server has no shared memory or this process no memory
 */
int pixmaps_start(struct storm *s, unsigned int count)
{
	Visual *visual = DefaultVisual(s->display, s->screen);
	size_t bytes = PIXMAP_SIDE * PIXMAP_SIDE * 4;
	unsigned int i;

	s->count = count;
	s->pixmaps = calloc(count, sizeof(*s->pixmaps));
	s->versions = calloc(count, 1);
	s->image = XCreateImage(s->display, visual, 24, ZPixmap, 0, calloc(1, bytes), PIXMAP_SIDE,
				PIXMAP_SIDE, 32, 0);
	if (!s->pixmaps || !s->versions || !s->image || !s->image->data) {
		fprintf(stderr, "glyphstorm: no memory\n");
		return -1;
	}
	s->segment.shmid = shmget(IPC_PRIVATE, BATCH * bytes, IPC_CREAT | 0600);
	s->segment.shmaddr = shmat(s->segment.shmid, NULL, 0);
	if (s->segment.shmaddr == (void *)-1 || !XShmAttach(s->display, &s->segment)) {
		fprintf(stderr, "glyphstorm: no shared memory\n");
		return -1;
	}
	for (i = 0; i < BATCH; i++) {
		s->shared[i] = XShmCreateImage(s->display, visual, 24, ZPixmap,
					       s->segment.shmaddr + i * bytes, &s->segment,
					       PIXMAP_SIDE, PIXMAP_SIDE);
		if (!s->shared[i]) {
			fprintf(stderr, "glyphstorm: no MIT-SHM\n");
			return -1;
		}
	}
	XSync(s->display, False);
	/* It goes with the last process that has attached it. */
	shmctl(s->segment.shmid, IPC_RMID, NULL);
	return 0;
}

static void make(struct storm *s, unsigned int i)
{
	s->pixmaps[i] = XCreatePixmap(s->display, s->window, PIXMAP_SIDE, PIXMAP_SIDE, 24);
	s->live++;
}

static void put(struct storm *s, unsigned int i)
{
	paint(s->image, i, s->versions[i]);
	XPutImage(s->display, s->pixmaps[i], s->copy, s->image, 0, 0, 0, 0, PIXMAP_SIDE,
		  PIXMAP_SIDE);
}

/**
 * pixmaps_put - make a pixmap of the first half, and fill it from an image
 * @s: connection
 * @i: number, below half of @s->count
 */
void pixmaps_put(struct storm *s, unsigned int i)
{
	make(s, i);
	put(s, i);
}

/**
 * pixmaps_put_again - give a pixmap of the first half other contents
 * @s: connection
 * @i: number, below half of @s->count
 */
void pixmaps_put_again(struct storm *s, unsigned int i)
{
	s->versions[i]++;
	put(s, i);
}

/**
 * pixmaps_put_shared - make a pixmap of the second half, and fill it from shared memory
 * @s: connection
 * @i: number, below half of @s->count
 *
 * The memory is written again BATCH pixmaps later, when the caller has waited for the server.
 */
void pixmaps_put_shared(struct storm *s, unsigned int i)
{
	XImage *image = s->shared[i % BATCH];

	i += s->count / 2;
	make(s, i);
	paint(image, i, s->versions[i]);
	XShmPutImage(s->display, s->pixmaps[i], s->copy, image, 0, 0, 0, 0, PIXMAP_SIDE,
		     PIXMAP_SIDE, False);
}

/**
 * pixmaps_arc - invert a circle of a pixmap; the second time restores it
 * @s: connection
 * @i: number
 */
void pixmaps_arc(struct storm *s, unsigned int i)
{
	XDrawArc(s->display, s->pixmaps[i], s->invert, 2, 2, PIXMAP_SIDE - 5, PIXMAP_SIDE - 5, 0,
		 360 * 64);
}

static void copy_to(struct storm *s, Drawable where, unsigned int i)
{
	unsigned int cell = i % PIXMAP_CELLS;

	XCopyArea(s->display, s->pixmaps[i], where, s->copy, 0, 0, PIXMAP_SIDE, PIXMAP_SIDE,
		  cell % PIXMAP_COLUMNS * PIXMAP_SIDE, cell / PIXMAP_COLUMNS * PIXMAP_SIDE);
}

/**
 * pixmaps_copy - copy a pixmap to its cell of the window
 * @s: connection
 * @i: number
 */
void pixmaps_copy(struct storm *s, unsigned int i)
{
	copy_to(s, s->window, i);
}

/**
 * pixmaps_free - free a pixmap, unless it has been
 * @s: connection
 * @i: number
 */
void pixmaps_free(struct storm *s, unsigned int i)
{
	if (!s->pixmaps[i])
		return;
	XFreePixmap(s->display, s->pixmaps[i]);
	s->pixmaps[i] = None;
	s->live--;
}

static XImage *get(struct storm *s, Drawable what, unsigned int width, unsigned int height)
{
	return XGetImage(s->display, what, 0, 0, width, height, AllPlanes, ZPixmap);
}

/**
 * pixmaps_get - read a pixmap by XGetImage and check it
 * @s: connection
 * @i: number
 *
 * Returns: wrong pixels
 */
unsigned long pixmaps_get(struct storm *s, unsigned int i)
{
	XImage *image = get(s, s->pixmaps[i], PIXMAP_SIDE, PIXMAP_SIDE);
	unsigned long wrong;

	if (!image)
		return PIXMAP_SIDE * PIXMAP_SIDE;
	wrong = pixmaps_wrong(s, image, 0, 0, i);
	XDestroyImage(image);
	return wrong;
}

/* Wrong pixels of the cells of @where, which have the pixmaps @from and on, before @to. */
static unsigned long check_cells(struct storm *s, Drawable where, unsigned int from,
				 unsigned int to)
{
	XImage *image = get(s, where, WIDTH, HEIGHT);
	unsigned long wrong = 0;
	unsigned int i, cell;

	if (!image)
		return WIDTH * HEIGHT;
	for (i = from; i < to; i++) {
		cell = i % PIXMAP_CELLS;
		wrong += pixmaps_wrong(s, image, cell % PIXMAP_COLUMNS * PIXMAP_SIDE,
				       cell / PIXMAP_COLUMNS * PIXMAP_SIDE, i);
	}
	XDestroyImage(image);
	return wrong;
}

/**
 * pixmaps_check - check each pixel of each pixmap
 * @s: connection
 *
 * The server copies them to the sheet, as many at a time as it holds.
 *
 * Returns: wrong pixels
 */
unsigned long pixmaps_check(struct storm *s)
{
	unsigned int from, to, i;
	unsigned long wrong = 0;

	for (from = 0; from < s->count; from = to) {
		to = from + PIXMAP_CELLS < s->count ? from + PIXMAP_CELLS : s->count;
		for (i = from; i < to; i++)
			copy_to(s, s->sheet, i);
		wrong += check_cells(s, s->sheet, from, to);
	}
	return wrong;
}

/**
 * pixmaps_check_window - check the window, after a copy of all pixmaps to it
 * @s: connection
 *
 * Returns: wrong pixels
 */
unsigned long pixmaps_check_window(struct storm *s)
{
	return check_cells(s, s->window, s->count > PIXMAP_CELLS ? s->count - PIXMAP_CELLS : 0,
			   s->count);
}

/**
 * pixmaps_check_arcs - check that pixmaps differ from their contents by a circle
 * @s: connection
 * @drawn: is set to the pixels of a circle; 0 if nothing was drawn
 *
 * The pixels of the circle are inverted, all others untouched. What the circle's pixels are is
 * the server's affair; they must be the same in all pixmaps, lie within the circle's
 * square and occupy each of its rows. It checks the pixmaps of one sheet.
 *
 * Returns: wrong pixels
 */
unsigned long pixmaps_check_arcs(struct storm *s, unsigned long *drawn)
{
	unsigned int i, x, y, to = s->count < PIXMAP_CELLS ? s->count : PIXMAP_CELLS;
	uint32_t first[PIXMAP_SIDE][PIXMAP_SIDE], change;
	unsigned long wrong = 0;
	XImage *image;

	for (i = 0; i < to; i++)
		copy_to(s, s->sheet, i);
	image = get(s, s->sheet, WIDTH, HEIGHT);
	*drawn = 0;
	if (!image)
		return WIDTH * HEIGHT;
	for (i = 0; i < to; i++) {
		unsigned int left = i % PIXMAP_COLUMNS * PIXMAP_SIDE;
		unsigned int top = i / PIXMAP_COLUMNS * PIXMAP_SIDE;

		for (y = 0; y < PIXMAP_SIDE; y++) {
			unsigned int in_row = 0;

			for (x = 0; x < PIXMAP_SIDE; x++) {
				change = pixel(image, left + x, top + y) ^
					 pixmaps_colour(i, s->versions[i], x, y);
				if (!i)
					first[y][x] = change;
				wrong += change != first[y][x] || (change && change != COLOUR);
				wrong += change && (x < 2 || x > PIXMAP_SIDE - 3);
				in_row += change != 0;
			}
			wrong += (in_row != 0) != (y >= 2 && y <= PIXMAP_SIDE - 3);
			*drawn += i ? 0 : in_row;
		}
	}
	XDestroyImage(image);
	return wrong;
}
