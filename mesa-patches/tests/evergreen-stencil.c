/* SPDX-License-Identifier: MIT */
/* Stencil of textures with levels, whose plane has rows of another length than depth's. */

#include "evergreen.h"

#include <stdbool.h>
#include <stdio.h>

#define SIDE 128

static uint32_t texels[SIDE * SIDE], found[SIDE * SIDE];

/* What texel @n of a level has: 24 bits of depth, 8 of stencil. */
static uint32_t number(unsigned level, unsigned n)
{
	return (n * 2654435761u + level * 40503u) | 1;
}

/* Reads one plane of a level by a compute shader, as 24 or 8 bits. */
static void plane(GLuint program, GLenum mode, unsigned level, unsigned side)
{
	const GLuint to = storage(0, NULL, side * side * 4);

	glTexParameteri(GL_TEXTURE_2D, GL_DEPTH_STENCIL_TEXTURE_MODE, (GLint)mode);
	glUseProgram(program);
	glUniform1i(glGetUniformLocation(program, "level"), (GLint)level);
	glDispatchCompute(side, side, 1);
	buffer_read(to, found, side * side * 4);
}

static GLuint texture_of(unsigned side, unsigned last)
{
	GLuint texture;

	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	glTexStorage2D(GL_TEXTURE_2D, (GLsizei)last + 1, GL_DEPTH24_STENCIL8, (GLsizei)side, (GLsizei)side);
	return texture;
}

/* Compares both planes of all levels of the bound texture. @cleared: stencil is 3 and more, by level. */
static void compare(const GLuint *programs, unsigned side, unsigned last, bool cleared, const char *when)
{
	for (unsigned level = 0; level <= last; level++) {
		const unsigned s = side >> level;

		for (unsigned depth = 0; depth < 2; depth++) {
			plane(programs[depth], depth ? GL_DEPTH_COMPONENT : GL_STENCIL_INDEX, level, s);
			for (unsigned n = 0; n < s * s; n++) {
				const uint32_t stencil = cleared ? 3 + level : number(level, n) & 0xFF;
				const uint32_t expected = depth ? number(level, n) >> 8 : stencil;

				/* Depth is a float on the way, and may be rounded twice. */
				if (found[n] + depth - expected > 2 * depth) {
					wrong("side %u, level %u, %s %s: texel %u is %x, expected %x", side, level,
					      depth ? "depth" : "stencil", when, n, found[n], expected);
					break;
				}
			}
		}
	}
}

static void levels(const GLuint *programs, unsigned side, bool all)
{
	GLuint texture, copy, fbo;
	unsigned last = 0;

	while (all && side >> (last + 1))
		last++;
	texture = texture_of(side, last);
	for (unsigned level = 0; level <= last; level++) {
		const GLsizei s = (GLsizei)(side >> level);

		for (unsigned n = 0; n < (unsigned)(s * s); n++)
			texels[n] = number(level, n);
		glTexSubImage2D(GL_TEXTURE_2D, (GLint)level, 0, 0, s, s, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, texels);
	}
	compare(programs, side, last, false, "uploaded");
	/* Depth has been read, and stencil is drawn on anew. */
	glGenFramebuffers(1, &fbo);
	glBindFramebuffer(GL_FRAMEBUFFER, fbo);
	for (unsigned level = 0; level <= last; level++) {
		const GLint value = 3 + (GLint)level;

		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_TEXTURE_2D, texture, (GLint)level);
		glClearBufferiv(GL_STENCIL, 0, &value);
	}
	glBindFramebuffer(GL_FRAMEBUFFER, 0);
	copy = texture_of(side, last);
	for (unsigned level = 0; level <= last; level++) {
		const GLsizei s = (GLsizei)(side >> level);

		glCopyImageSubData(texture, GL_TEXTURE_2D, (GLint)level, 0, 0, 0, copy, GL_TEXTURE_2D, (GLint)level, 0, 0, 0, s, s, 1);
	}
	compare(programs, side, last, true, "copied");
	glBindTexture(GL_TEXTURE_2D, texture);
	compare(programs, side, last, true, "cleared");
}

static void stencil_levels(void)
{
	static const char READ[] = "#version 430\nlayout(local_size_x = 1) in; uniform int level; layout(binding = 0) uniform %s;"
				   "layout(std430, binding = 0) buffer b { uint to[]; };"
				   "void main() { uvec2 p = gl_GlobalInvocationID.xy; to[p.y * gl_NumWorkGroups.x + p.x] = %s; }";
	char source[512];
	GLuint programs[2];

	snprintf(source, sizeof(source), READ, "usampler2D s", "texelFetch(s, ivec2(p), level).x");
	programs[0] = compute_program(source);
	snprintf(source, sizeof(source), READ, "sampler2D s", "uint(round(texelFetch(s, ivec2(p), level).x * 16777215.0))");
	programs[1] = compute_program(source);
	levels(programs, 64, true);
	levels(programs, 117, false);
	levels(programs, 117, true);
}

const struct test stencil_tests[] = {
	{ "stencil-levels", stencil_levels },
	{ NULL, NULL },
};
