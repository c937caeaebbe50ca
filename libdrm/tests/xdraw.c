// SPDX-License-Identifier: MIT
/*
 * Draws the picture that check-picture.py expects on the root window, and reads
 * it back from the server.
 *
 * usage: xdraw   (with DISPLAY; waits up to 20 s for the server)
 *
 * Exit status: 0; 1 if there is no server, or it has other pixels.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <X11/Xlib.h>
#include <X11/Xutil.h>

/* As in check-picture.py. */
enum { BACK = 0x203040, FRAME = 0xc08000, SIZE = 256, X = 100, Y = 80 };
enum { COPY_X = 600, COPY_Y = 400, FRAME_WIDTH = 16 };

static uint32_t pixel(int x, int y)
{
	return (uint32_t)x << 16 | y << 8 | (x ^ y);
}

/* Everything at once, so that no window manager or cursor matters. */
static void draw(Display *display, Window root, XImage *image)
{
	GC gc = XCreateGC(display, root, 0, NULL);
	int screen = DefaultScreen(display);
	int width = DisplayWidth(display, screen);
	int height = DisplayHeight(display, screen);

	XSetForeground(display, gc, FRAME);
	XFillRectangle(display, root, gc, 0, 0, width, height);
	XSetForeground(display, gc, BACK);
	XFillRectangle(display, root, gc, FRAME_WIDTH, FRAME_WIDTH,
		       width - 2 * FRAME_WIDTH, height - 2 * FRAME_WIDTH);
	XPutImage(display, root, gc, image, 0, 0, X, Y, SIZE, SIZE);
	XCopyArea(display, root, root, gc, X, Y, SIZE, SIZE, COPY_X, COPY_Y);
	XSync(display, False);
	XFreeGC(display, gc);
}

static int check(Display *display, Window root)
{
	XImage *got = XGetImage(display, root, COPY_X, COPY_Y, SIZE, SIZE,
				AllPlanes, ZPixmap);
	int x, y, wrong = 0;

	if (!got)
		return -1;
	for (y = 0; y < SIZE; y++)
		for (x = 0; x < SIZE; x++)
			wrong += (XGetPixel(got, x, y) & 0xffffff) != pixel(x, y);
	XDestroyImage(got);
	return wrong;
}

int main(void)
{
	Display *display = NULL;
	XImage *image;
	int i, x, y, screen, wrong;

	for (i = 0; i < 100 && !display; i++) {
		display = XOpenDisplay(NULL);
		if (!display)
			usleep(200000);
	}
	if (!display) {
		fprintf(stderr, "xdraw: no server\n");
		return 1;
	}
	screen = DefaultScreen(display);
	image = XCreateImage(display, DefaultVisual(display, screen), 24, ZPixmap,
			     0, malloc(SIZE * SIZE * 4), SIZE, SIZE, 32, 0);
	if (!image || !image->data || DefaultDepth(display, screen) != 24) {
		fprintf(stderr, "xdraw: not a screen of 24 bits\n");
		return 1;
	}
	for (y = 0; y < SIZE; y++)
		for (x = 0; x < SIZE; x++)
			XPutPixel(image, x, y, pixel(x, y));
	draw(display, RootWindow(display, screen), image);
	wrong = check(display, RootWindow(display, screen));
	printf("%s, %d x %d: %d wrong pixels\n", ServerVendor(display),
	       DisplayWidth(display, screen), DisplayHeight(display, screen),
	       wrong);
	XDestroyImage(image);
	XCloseDisplay(display);
	return wrong != 0;
}
