/* SPDX-License-Identifier: MIT */
/*
 * Shared by the program and its scenes, which together use the features that a GL driver
 * of an R700 has. Nothing depends on time or chance, so that renderers can be compared.
 */
#ifndef GALLERY_H
#define GALLERY_H

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <stdbool.h>
#include <stddef.h>

#define WIDTH	320
#define HEIGHT	240
#define PI	3.14159265f

/* Extensions that glext.h has in other versions only by their suffix. */
#ifndef GL_TEXTURE_MAX_ANISOTROPY_EXT
#define GL_TEXTURE_MAX_ANISOTROPY_EXT 0x84FE
#endif

/**
 * struct scene - a picture
 * @name: name of the scene and of its file
 * @draw: draws it into the bound framebuffer, with the state of a new context; returns
 *        false if the renderer lacks the feature that the scene shows
 * @legacy: needs a context of GL 3.0 with the fixed function; otherwise it gets one of
 *          the 3.3 core profile
 */
struct scene {
	const char *name;
	bool (*draw)(void);
	bool legacy;
};

/* Each file's scenes; the last one has no name. */
extern const struct scene scenes_legacy[], scenes_surface[], scenes_pass[];

/* Prints a message with the scene's name, and ends the program. */
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/**
 * background() - clears colour, depth and stencil
 *
 * Pixels that still have this colour at the end count as not drawn.
 */
void background(float red, float green, float blue);

/**
 * count() - records a count which proves that a scene's feature was used
 * @what: what is counted
 * @value: the count
 * @least: a smaller count proves nothing; the report decides for which renderers
 */
void count(const char *what, unsigned int value, unsigned int least);

/* The framebuffer that the picture is read from: WIDTH x HEIGHT, RGBA8, depth and stencil. */
GLuint main_framebuffer(void);

/* Column-major, as GL has them. */
struct matrix {
	float m[16];
};

struct matrix identity(void);
struct matrix multiply(struct matrix a, struct matrix b);
struct matrix translate(float x, float y, float z);
struct matrix scale(float x, float y, float z);
/* By an angle in radians about an axis of length 1. */
struct matrix rotate(float angle, float x, float y, float z);
/* With the vertical angle of view in radians. */
struct matrix perspective(float angle, float aspect, float near, float far);
struct matrix orthographic(float half_width, float half_height, float near, float far);
/* From (ex, ey, ez) towards (ax, ay, az); y is up. */
struct matrix look(float ex, float ey, float ez, float ax, float ay, float az);

/**
 * program() - compiles and links shaders of GLSL 3.30
 * @vs: vertex shader, without its #version
 * @gs: geometry shader, or NULL
 * @fs: fragment shader, or NULL
 * @varyings: names that transform feedback writes, interleaved, or NULL
 * @varying_count: length of @varyings
 *
 * Return: the program, in use. Attribute 0 is "position", 1 "normal", 2 "uv".
 */
GLuint program(const char *vs, const char *gs, const char *fs,
	       const char *const *varyings, int varying_count);
void set_matrix(GLuint program, const char *name, struct matrix value);
void set_int(GLuint program, const char *name, int value);
void set_float(GLuint program, const char *name, float value);
void set_vec3(GLuint program, const char *name, float x, float y, float z);

struct mesh {
	GLuint vao;
	GLsizei indices;
};

struct mesh torus(float radius, float tube, unsigned int around, unsigned int across);
struct mesh sphere(float radius, unsigned int around, unsigned int down);
/* From -1 to 1 in x and z, y is 0; texture coordinates from 0 to @repeat. */
struct mesh plane(float repeat);
/* From -1 to 1. */
struct mesh box(void);
void draw_mesh(struct mesh mesh, GLsizei instances);
/* Two triangles that fill the viewport, made by the vertex shader of cover_vs. */
void cover(void);
extern const char *const cover_vs;

/* A 2D texture, bound, linear, with a full set of mipmaps if @mipmaps. */
GLuint texture_2d(GLenum internal, GLsizei width, GLsizei height, GLenum format, GLenum type,
		  const void *data, bool mipmaps);

/* Random numbers from 0 to 1, the same in each run. */
float random_float(void);
void random_start(unsigned int seed);

#endif
