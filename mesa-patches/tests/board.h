/* SPDX-License-Identifier: MIT */
#ifndef BOARD_H
#define BOARD_H

/**
 * DOC: What the cases of gl-board share
 *
 * Each case is a function in a file for its kind of objects. It compares what the GPU
 * made of uploads with what was uploaded, by same().
 */

#include "glcount.h"
#include "gltest.h"

#define SIDE 64 /* side of the framebuffer, in pixels */
#define N 300	/* objects */
#define GLYPH 16
#define ATLAS 256
#define PER_ROW (SIDE / 2) /* squares in a row */

/** A corner of a square. */
struct vertex {
	float position[2];
	uint8_t colour[4];
};

/** What was read back last, of at most the framebuffer's size. */
extern uint8_t pixels[SIDE * SIDE * 4];
/** Names of objects of the case that runs. */
extern GLuint names[N];
/** Draws with the attribute "position" in the colour of the uniform "c". */
extern GLuint uniform_program;
/** Differences that same() has found since this was 0. */
extern unsigned wrong;
/** Textures that got a BO of their own when they were exported, in this case. */
extern unsigned left_slabs;
/** Textures that were written without a submission, in this case. */
extern unsigned tiled_alone;
/** Uploads to deleted textures that were never drawn, in this case. */
extern unsigned atlas_dropped;

/**
 * same() - compares bytes that were read back with those that should be there
 * @got: what was read back
 * @want: what should be there
 * @size: of both, in bytes
 * @what: the object, for the message
 * @i: its number, for the message
 *
 * Return: whether they are equal.
 */
bool same(const void *got, const void *want, unsigned size, const char *what, unsigned i);

/** program() - compiles and links a program; ends this one if that fails */
GLuint program(const char *vs, const char *fs);

/** setup() - makes programs and a framebuffer of SIDE x SIDE pixels in the current context */
void setup(void);

/** clear() - clears the framebuffer to 0 */
void clear(void);

/**
 * square() - makes a square of 2x2 pixels, as two triangles
 * @v: its vertices
 * @place: which of the framebuffer's squares it is
 * @seed: of its colour
 */
void square(struct vertex v[6], unsigned place, uint32_t seed);

/** draw_square() - draws the square whose vertices a buffer has */
void draw_square(GLuint vbo);

/** begin_squares() - clears the framebuffer, and gets ready for draw_square() */
void begin_squares(void);

/**
 * check_squares() - reads the framebuffer back, and compares the squares in it
 * @n: squares from the first place on
 * @seed: gives the seed of a square's colour
 * @what: the squares, for messages
 */
void check_squares(unsigned n, uint32_t (*seed)(unsigned i), const char *what);

/** plain() - a seed for each object; later() - another one */
uint32_t plain(unsigned i);
uint32_t later(unsigned i);

/** draw_vertices() - draws @n vertices at @positions, two floats each, with the program in use; no colours */
void draw_vertices(GLenum mode, const float *positions, unsigned n);

/** draw_corners() - the same with the four corners of the viewport, which GL_TRIANGLE_STRIP covers */
void draw_corners(GLenum mode);

/** blit_texture() - draws the bound texture of w x h texels to as many pixels */
void blit_texture(unsigned w, unsigned h);

/** draw_texture() - the same, and reads them */
void draw_texture(unsigned w, unsigned h);

/** nearest() - has the bound 2D texture sampled without filters */
void nearest(void);

/**
 * rgba_texture() - binds a 2D texture, gives it w x h texels of GL_RGBA8, and has it sampled without filters
 * @name: its name
 * @texels: 4 bytes for each, or NULL for undefined ones
 */
void rgba_texture(GLuint name, unsigned w, unsigned h, const void *texels);

/* board-buffers.c */
void vbo(void);
void pbo(void);
void queries(void);
void uniforms(void);
void small(void);
void persistent(void);
void stream_out(void);
/* board-textures.c */
void glyph_own(void);
void glyph_atlas(void);
void textures(void);
void mipmaps(void);
void readpixels(void);
void samplers(void);
void blocks(void);
void layers(void);
void pbo_formats(void);
/* board-tiled.c */
void tiled(void);
/* board-atlas.c */
void atlas(void);
/* board-sharing.c */
void dma_buf(void);
void leave_slabs(void);
/* board-slabs.c */
void contexts(void);
void dma_copies(void);
/* board-levels.c */
void cube_levels(void);
void shadow_levels(void);
/* board-draws.c */
void stipple(void);
void samples(void);

#endif
