// SPDX-License-Identifier: MIT
/*
 * OpenGL's objects: textures and vertex buffers of a program's own, and textures that are the
 * server's pixmaps, as a compositor has them (GLX_EXT_texture_from_pixmap, by DRI3).
 */
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <GL/glx.h>
#include <GL/glxext.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "storm.h"

/* Contents of textures and of buffers are other ones than those of pixmaps. */
#define TEXTURES	0x10000000u
#define BUFFERS		0x20000000u

/**
 * struct vertex - a corner of a strip of one row
 * @x: column, in pixels
 * @y: row
 * @colour: red, green, blue, opaque
 */
struct vertex {
	GLshort x, y;
	GLubyte colour[4];
};

/* A buffer: for each row of a cell a quad in one colour. */
typedef struct vertex strips[PIXMAP_SIDE][4];

static GLXContext context;
static GLXFBConfig config;
static PFNGLXBINDTEXIMAGEEXTPROC bind_image;
static PFNGLXRELEASETEXIMAGEEXTPROC release_image;
static GLuint framebuffer, target, *textures, *buffers, *pixmap_textures;
static GLXPixmap *glx_pixmaps;
static uint8_t *texture_versions, *buffer_versions;
static unsigned int objects, pixmaps;

/* A configuration for pixmaps of the screen's depth that can be textures, and for its windows. */
static bool choose(struct storm *s)
{
	static const int wanted[] = {
		GLX_DRAWABLE_TYPE, GLX_PIXMAP_BIT | GLX_WINDOW_BIT,
		GLX_BIND_TO_TEXTURE_RGB_EXT, True, GLX_RED_SIZE, 8, GLX_GREEN_SIZE, 8,
		GLX_BLUE_SIZE, 8, GLX_ALPHA_SIZE, 0, None
	};
	VisualID visual = XVisualIDFromVisual(DefaultVisual(s->display, s->screen));
	GLXFBConfig *found;
	int n, i, id;
	bool ok = false;

	found = glXChooseFBConfig(s->display, s->screen, wanted, &n);
	for (i = 0; found && i < n && !ok; i++) {
		ok = !glXGetFBConfigAttrib(s->display, found[i], GLX_VISUAL_ID, &id) &&
		     (VisualID)id == visual;
		if (ok)
			config = found[i];
	}
	if (found)
		XFree(found);
	return ok;
}

/* Is it the driver of the card that draws? Software would have no BOs, and be no case. */
static bool accelerated(void)
{
	PFNGLXQUERYCURRENTRENDERERINTEGERMESAPROC query = (PFNGLXQUERYCURRENTRENDERERINTEGERMESAPROC)
		glXGetProcAddress((const GLubyte *)"glXQueryCurrentRendererIntegerMESA");
	unsigned int is = 0;

	return query && query(GLX_RENDERER_ACCELERATED_MESA, &is) && is;
}

/* Each texture of a pixmap has open files, so compositors raise their limit, too. */
static void raise_limit(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

/**
 * gl_start - make a context, and what contents are checked in
 * @s: connection, with its pixmaps
 * @count: textures that there will be, and as many buffers
 * @from_pixmaps: pixmaps that will be textures, too
 *
 * Returns: 0; -1, with a message, if the server has no direct rendering by a card, or cannot make textures of
 *	pixmaps, or this process has no memory
 */
int gl_start(struct storm *s, unsigned int count, unsigned int from_pixmaps)
{
	raise_limit();
	objects = count;
	pixmaps = from_pixmaps;
	textures = calloc(count, sizeof(*textures));
	buffers = calloc(count, sizeof(*buffers));
	texture_versions = calloc(count, 1);
	buffer_versions = calloc(count, 1);
	pixmap_textures = calloc(pixmaps, sizeof(*pixmap_textures));
	glx_pixmaps = calloc(pixmaps, sizeof(*glx_pixmaps));
	if (!textures || !buffers || !texture_versions || !buffer_versions || !pixmap_textures ||
	    !glx_pixmaps) {
		fprintf(stderr, "glyphstorm: no memory\n");
		return -1;
	}
	if (!choose(s)) {
		fprintf(stderr, "glyphstorm: the server makes no textures of pixmaps\n");
		return -1;
	}
	context = glXCreateNewContext(s->display, config, GLX_RGBA_TYPE, NULL, True);
	if (!context || !glXIsDirect(s->display, context) ||
	    !glXMakeContextCurrent(s->display, s->window, s->window, context)) {
		fprintf(stderr, "glyphstorm: the server has no direct rendering\n");
		return -1;
	}
	bind_image = (PFNGLXBINDTEXIMAGEEXTPROC)
		glXGetProcAddress((const GLubyte *)"glXBindTexImageEXT");
	release_image = (PFNGLXRELEASETEXIMAGEEXTPROC)
		glXGetProcAddress((const GLubyte *)"glXReleaseTexImageEXT");
	printf("glyphstorm: %s\n", (const char *)glGetString(GL_RENDERER));
	if (!accelerated()) {
		fprintf(stderr, "glyphstorm: OpenGL draws in software\n");
		return -1;
	}

	glGenTextures(1, &target);
	glBindTexture(GL_TEXTURE_2D, target);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, WIDTH, HEIGHT, 0, GL_BGRA,
		     GL_UNSIGNED_INT_8_8_8_8_REV, NULL);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target, 0);
	if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
		fprintf(stderr, "glyphstorm: OpenGL cannot draw to a texture\n");
		return -1;
	}
	glViewport(0, 0, WIDTH, HEIGHT);
	glMatrixMode(GL_PROJECTION);
	glOrtho(0, WIDTH, 0, HEIGHT, -1, 1);
	glMatrixMode(GL_MODELVIEW);
	glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
	return 0;
}

/* Binds a new texture that is not filtered. */
static void new_texture(GLuint *texture)
{
	glGenTextures(1, texture);
	glBindTexture(GL_TEXTURE_2D, *texture);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

static void texels_of(unsigned int i, uint32_t texels[PIXMAP_SIDE][PIXMAP_SIDE])
{
	unsigned int x, y;

	for (y = 0; y < PIXMAP_SIDE; y++)
		for (x = 0; x < PIXMAP_SIDE; x++)
			texels[y][x] = pixmaps_colour(TEXTURES + i, texture_versions[i], x, y);
}

/**
 * gl_texture - make a texture, as large as a pixmap, and fill it
 * @s: connection
 * @i: number
 */
void gl_texture(struct storm *s, unsigned int i)
{
	uint32_t texels[PIXMAP_SIDE][PIXMAP_SIDE];

	(void)s;
	texels_of(i, texels);
	new_texture(&textures[i]);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, PIXMAP_SIDE, PIXMAP_SIDE, 0, GL_BGRA,
		     GL_UNSIGNED_INT_8_8_8_8_REV, texels);
}

/**
 * gl_texture_again - give a texture other contents
 * @s: connection
 * @i: number
 */
void gl_texture_again(struct storm *s, unsigned int i)
{
	uint32_t texels[PIXMAP_SIDE][PIXMAP_SIDE];

	(void)s;
	texture_versions[i]++;
	texels_of(i, texels);
	glBindTexture(GL_TEXTURE_2D, textures[i]);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, PIXMAP_SIDE, PIXMAP_SIDE, GL_BGRA,
			GL_UNSIGNED_INT_8_8_8_8_REV, texels);
}

static void strips_of(unsigned int i, strips vertices)
{
	static const struct { GLshort x, y; } corners[] = {
		{ 0, 0 }, { PIXMAP_SIDE, 0 }, { PIXMAP_SIDE, 1 }, { 0, 1 }
	};
	unsigned int y, n;

	for (y = 0; y < PIXMAP_SIDE; y++) {
		uint32_t colour = pixmaps_colour(BUFFERS + i, buffer_versions[i], 0, y);

		for (n = 0; n < 4; n++)
			vertices[y][n] = (struct vertex) {
				.x = corners[n].x, .y = (GLshort)(y + corners[n].y),
				.colour = { colour >> 16, colour >> 8, colour, 255 },
			};
	}
}

/**
 * gl_buffer - make a vertex buffer of PIXMAP_SIDE quads, and fill it
 * @s: connection
 * @i: number
 */
void gl_buffer(struct storm *s, unsigned int i)
{
	strips vertices;

	(void)s;
	strips_of(i, vertices);
	glGenBuffers(1, &buffers[i]);
	glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
	glBufferData(GL_ARRAY_BUFFER, sizeof(vertices), vertices, GL_STATIC_DRAW);
}

/**
 * gl_buffer_again - give a vertex buffer other contents
 * @s: connection
 * @i: number
 */
void gl_buffer_again(struct storm *s, unsigned int i)
{
	strips vertices;

	(void)s;
	buffer_versions[i]++;
	strips_of(i, vertices);
	glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
	glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof(vertices), vertices);
}

/* Draws the bound texture to a cell. */
static void draw_texture(unsigned int cell)
{
	GLint left = cell % PIXMAP_COLUMNS * PIXMAP_SIDE, top = cell / PIXMAP_COLUMNS * PIXMAP_SIDE;

	glLoadIdentity();
	glEnable(GL_TEXTURE_2D);
	glBegin(GL_QUADS);
	glTexCoord2i(0, 0);
	glVertex2i(left, top);
	glTexCoord2i(1, 0);
	glVertex2i(left + (GLint)PIXMAP_SIDE, top);
	glTexCoord2i(1, 1);
	glVertex2i(left + (GLint)PIXMAP_SIDE, top + (GLint)PIXMAP_SIDE);
	glTexCoord2i(0, 1);
	glVertex2i(left, top + (GLint)PIXMAP_SIDE);
	glEnd();
}

static void draw_buffer(unsigned int i, unsigned int cell)
{
	glDisable(GL_TEXTURE_2D);
	glLoadIdentity();
	glTranslatef(cell % PIXMAP_COLUMNS * PIXMAP_SIDE, cell / PIXMAP_COLUMNS * PIXMAP_SIDE, 0);
	glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
	glEnableClientState(GL_VERTEX_ARRAY);
	glEnableClientState(GL_COLOR_ARRAY);
	glVertexPointer(2, GL_SHORT, sizeof(struct vertex), NULL);
	glColorPointer(4, GL_UNSIGNED_BYTE, sizeof(struct vertex), (void *)offsetof(struct vertex, colour));
	glDrawArrays(GL_QUADS, 0, 4 * PIXMAP_SIDE);
	glDisableClientState(GL_COLOR_ARRAY);
	glDisableClientState(GL_VERTEX_ARRAY);
}

/* Makes a pixmap the contents of its texture, as the server has it now. */
static void bind_pixmap(struct storm *s, unsigned int i)
{
	glBindTexture(GL_TEXTURE_2D, pixmap_textures[i]);
	bind_image(s->display, glx_pixmaps[i], GLX_FRONT_LEFT_EXT, NULL);
}

/**
 * gl_pixmap - make a texture of a pixmap, without a copy
 * @s: connection
 * @i: number of the pixmap
 */
void gl_pixmap(struct storm *s, unsigned int i)
{
	static const int how[] = {
		GLX_TEXTURE_TARGET_EXT, GLX_TEXTURE_2D_EXT,
		GLX_TEXTURE_FORMAT_EXT, GLX_TEXTURE_FORMAT_RGB_EXT, None
	};

	glx_pixmaps[i] = glXCreatePixmap(s->display, config, s->pixmaps[i], how);
	new_texture(&pixmap_textures[i]);
	bind_pixmap(s, i);
}

/**
 * gl_composite - have the server change a pixmap, and draw it as a compositor does
 * @s: connection
 * @i: number of the pixmap
 */
void gl_composite(struct storm *s, unsigned int i)
{
	pixmaps_put_again(s, i);
	XSync(s->display, False);
	glBindTexture(GL_TEXTURE_2D, pixmap_textures[i]);
	release_image(s->display, glx_pixmaps[i], GLX_FRONT_LEFT_EXT);
	bind_pixmap(s, i);
	draw_texture(i % PIXMAP_CELLS);
}

/**
 * gl_free - free a texture, a buffer and a texture of a pixmap, if there are as many of these
 * @s: connection
 * @i: number
 */
void gl_free(struct storm *s, unsigned int i)
{
	glDeleteTextures(1, &textures[i]);
	glDeleteBuffers(1, &buffers[i]);
	if (i >= pixmaps)
		return;
	glBindTexture(GL_TEXTURE_2D, pixmap_textures[i]);
	release_image(s->display, glx_pixmaps[i], GLX_FRONT_LEFT_EXT);
	glDeleteTextures(1, &pixmap_textures[i]);
	glXDestroyPixmap(s->display, glx_pixmaps[i]);
}

/**
 * gl_finish - wait until all is drawn
 * @s: connection; nothing is done before gl_start()
 */
void gl_finish(struct storm *s)
{
	(void)s;
	if (context)
		glFinish();
}

static void draw_own(struct storm *s, unsigned int i, unsigned int cell)
{
	(void)s;
	glBindTexture(GL_TEXTURE_2D, textures[i]);
	draw_texture(cell);
}

static void draw_strips(struct storm *s, unsigned int i, unsigned int cell)
{
	(void)s;
	draw_buffer(i, cell);
}

static void draw_pixmap(struct storm *s, unsigned int i, unsigned int cell)
{
	(void)s;
	glBindTexture(GL_TEXTURE_2D, pixmap_textures[i]);
	draw_texture(cell);
}

static uint32_t texel(const struct storm *s, unsigned int i, unsigned int x, unsigned int y)
{
	(void)s;
	return pixmaps_colour(TEXTURES + i, texture_versions[i], x, y);
}

static uint32_t strip(const struct storm *s, unsigned int i, unsigned int x, unsigned int y)
{
	(void)s;
	(void)x;
	return pixmaps_colour(BUFFERS + i, buffer_versions[i], 0, y);
}

static uint32_t pixmap_texel(const struct storm *s, unsigned int i, unsigned int x, unsigned int y)
{
	return pixmaps_colour(i, s->versions[i], x, y);
}

/* Draws @count objects, as many at a time as the target holds, and compares all their pixels. */
static unsigned long check(struct storm *s, uint32_t *pixels, unsigned int count,
			   void (*draw)(struct storm *s, unsigned int i, unsigned int cell),
			   uint32_t (*colour)(const struct storm *s, unsigned int i, unsigned int x,
					      unsigned int y))
{
	unsigned int from, to, i, x, y;
	unsigned long wrong = 0;

	for (from = 0; from < count; from = to) {
		to = from + PIXMAP_CELLS < count ? from + PIXMAP_CELLS : count;
		glClear(GL_COLOR_BUFFER_BIT);
		for (i = from; i < to; i++)
			draw(s, i, i - from);
		glReadPixels(0, 0, WIDTH, HEIGHT, GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV, pixels);
		for (i = from; i < to; i++) {
			const uint32_t *cell = pixels + (i - from) / PIXMAP_COLUMNS * PIXMAP_SIDE * WIDTH +
					       (i - from) % PIXMAP_COLUMNS * PIXMAP_SIDE;

			for (y = 0; y < PIXMAP_SIDE; y++)
				for (x = 0; x < PIXMAP_SIDE; x++)
					wrong += (cell[y * WIDTH + x] & COLOUR) != colour(s, i, x, y);
		}
	}
	return wrong;
}

/**
 * gl_check - draw all objects and check each pixel
 * @s: connection
 *
 * Returns: wrong pixels; each of a sheet if OpenGL reports an error
 */
unsigned long gl_check(struct storm *s)
{
	uint32_t *pixels = malloc(WIDTH * HEIGHT * sizeof(*pixels));
	unsigned long wrong;

	if (!pixels)
		return WIDTH * HEIGHT;
	wrong = check(s, pixels, objects, draw_own, texel) +
		check(s, pixels, objects, draw_strips, strip) +
		check(s, pixels, pixmaps, draw_pixmap, pixmap_texel);
	free(pixels);
	return glGetError() ? WIDTH * HEIGHT : wrong;
}
