/* SPDX-License-Identifier: MIT */
#ifndef EVERGREEN_H
#define EVERGREEN_H

#include "gltest.h"

#include <stddef.h>

/** struct test - a case of gl-evergreen */
struct test {
	const char *name;
	void (*run)(void); /* reports with wrong() */
};

extern const struct test clear_tests[], store_tests[], compute_tests[], binding_tests[], tess_tests[],
	spirv_tests[], draw_tests[], format_tests[], stencil_tests[];

/** wrong() - reports that the case has failed, the first times with a line on stderr */
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * equal() - reports the first difference of two arrays of 32-bit words
 * @what: for the message
 * @found: what GL returned
 * @expected: what it should have returned
 * @count: number of words
 */
void equal(const char *what, const void *found, const void *expected, size_t count);

/** program_of() - links a program of up to five shaders, by the stages of @types; ends with 0 */
GLuint program_of(const GLenum *types, const char *const *sources);

/** compute_program() - the same with one compute shader */
GLuint compute_program(const char *source);

/**
 * storage() - a buffer bound as storage buffer @binding
 * @binding: number of the binding
 * @data: contents, or NULL for zeroes
 * @bytes: its size
 */
GLuint storage(GLuint binding, const void *data, size_t bytes);

/** buffer_read() - copies the first @bytes of @buffer to @out, after a barrier */
void buffer_read(GLuint buffer, void *out, size_t bytes);

/** framebuffer_of() - binds a new framebuffer with level 0 of @texture as its colour; all layers of it */
GLuint framebuffer_of(GLuint texture);

/** new_target() - binds a framebuffer with a new texture of @width x @height pixels, whose contents are undefined */
void new_target(GLenum format, GLsizei width, GLsizei height);

/** quad() - draws two triangles over the viewport; attribute 0 is "p" */
void quad(void);

/** QUAD - a vertex shader for quad() */
extern const char QUAD[];

#endif
