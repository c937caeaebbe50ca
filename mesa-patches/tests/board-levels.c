/* SPDX-License-Identifier: MIT */
/* Which level of a texture a shader gets. */

#include "board.h"

#include <string.h>

#define LEVELS 7

/* Binds a cube map of four bytes a texel, of which all texels of level n have those of @values[n]. */
static GLuint cube_map(GLint internal, GLenum format, GLenum type, const void *values)
{
	static uint32_t texels[SIDE * SIDE];
	GLuint texture;

	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_CUBE_MAP, texture);
	glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
	glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	for (unsigned level = 0; level < LEVELS; level++) {
		for (unsigned i = 0; i < SIDE * SIDE; i++)
			memcpy(&texels[i], (const uint8_t *)values + 4 * level, 4);
		for (unsigned face = 0; face < 6; face++)
			glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, (GLint)level, internal, SIDE >> level,
				     SIDE >> level, 0, format, type, texels);
	}
	return texture;
}

/* Gradients of a cube map are those of the direction, which can have any length. */
void cube_levels(void)
{
	static const struct {
		float direction[3], dx[3], dy[3];
		unsigned level;
	} cases[] = {
		/* A face has 64 texels for two units, if the direction's longest component is 1. */
		{ { 1, 0.1f, 0.1f }, { 0, 0, 0.25f }, { 0, 0.25f, 0 }, 3 },
		{ { 4, 0.4f, 0.4f }, { 0, 0, 1 }, { 0, 1, 0 }, 3 },
		{ { 0.1f, -0.5f, 0.05f }, { 0.25f, 0, 0 }, { 0, 0, 0.25f }, 4 },
		{ { 0.2f, 0.1f, 8 }, { 0.25f, 0, 0 }, { 0, 0.25f, 0 }, 0 },
		{ { 0.1f, 0.1f, -0.25f }, { 0.0625f, 0, 0 }, { 0, 0.0625f, 0 }, 3 },
	};
	uint8_t colours[LEVELS][4];
	GLuint texture, p;

	p = program("#version 130\nattribute vec2 position; void main() { gl_Position = vec4(position, 0.0, 1.0); }",
		    "#version 130\nuniform samplerCube s; uniform vec3 direction, dx, dy;"
		    "void main() { gl_FragColor = textureGrad(s, direction, dx, dy); }");
	for (unsigned level = 0; level < LEVELS; level++)
		memset(colours[level], (int)(level * 30 + 10), sizeof(colours[level]));
	texture = cube_map(GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, colours);
	glUseProgram(p);
	for (unsigned n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
		clear();
		glUniform3fv(glGetUniformLocation(p, "direction"), 1, cases[n].direction);
		glUniform3fv(glGetUniformLocation(p, "dx"), 1, cases[n].dx);
		glUniform3fv(glGetUniformLocation(p, "dy"), 1, cases[n].dy);
		draw_corners(GL_TRIANGLE_STRIP);
		glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
		same(pixels, colours[cases[n].level], 1, "level of a direction", n);
	}
	glDeleteProgram(p);
	glDeleteTextures(1, &texture);
}

/* The level of a cube shadow map with a bias, by two comparisons: with less and with more than its depth. */
void shadow_levels(void)
{
	static const struct {
		float bias;
		unsigned level;
	} cases[] = { { 0, 0 }, { 0.4f, 0 }, { 0.6f, 1 }, { 1.4f, 1 }, { 1.6f, 2 }, { 2.6f, 3 }, { 3.4f, 3 } };
	static const uint8_t want[4] = { 255, 0, 0, 255 };
	float depths[LEVELS];
	GLuint texture, p;

	/* A pixel shows a texel of level 0. */
	p = program("#version 130\nattribute vec2 position; out vec3 direction;"
		    "void main() { gl_Position = vec4(position, 0.0, 1.0); direction = vec3(1.0, position); }",
		    "#version 130\nuniform samplerCubeShadow s; uniform float depth, bias; in vec3 direction;"
		    "void main() { gl_FragColor = vec4(texture(s, vec4(direction, depth - 0.0625), bias),"
		    "  texture(s, vec4(direction, depth + 0.0625), bias), 0.0, 1.0); }");
	for (unsigned level = 0; level < LEVELS; level++)
		depths[level] = (level + 1) / 8.0f;
	texture = cube_map(GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_FLOAT, depths);
	glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
	glUseProgram(p);
	for (unsigned n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
		clear();
		glUniform1f(glGetUniformLocation(p, "depth"), depths[cases[n].level]);
		glUniform1f(glGetUniformLocation(p, "bias"), cases[n].bias);
		draw_corners(GL_TRIANGLE_STRIP);
		glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
		for (unsigned i = 0; i < SIDE * SIDE; i++) {
			if (!same(pixels + i * 4, want, 4, "comparison with a bias", n))
				break;
		}
	}
	glDeleteProgram(p);
	glDeleteTextures(1, &texture);
}
