/* SPDX-License-Identifier: MIT */
/* Which level of a texture a shader gets. */

#include "board.h"

#include <stdio.h>

#define LEVELS 7

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
	static const float strip[8] = { -1, -1, 1, -1, -1, 1, 1, 1 };
	static uint8_t texels[SIDE * SIDE * 4];
	GLuint texture, p;

	p = program("#version 130\nattribute vec2 position; void main() { gl_Position = vec4(position, 0.0, 1.0); }",
		    "#version 130\nuniform samplerCube s; uniform vec3 direction, dx, dy;"
		    "void main() { gl_FragColor = textureGrad(s, direction, dx, dy); }");
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_CUBE_MAP, texture);
	glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
	glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	for (unsigned level = 0; level < LEVELS; level++) {
		for (unsigned i = 0; i < sizeof(texels); i++)
			texels[i] = (uint8_t)(level * 30 + 10);
		for (unsigned face = 0; face < 6; face++)
			glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, (GLint)level, GL_RGBA8, SIDE >> level,
				     SIDE >> level, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
	}
	glUseProgram(p);
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	glEnableVertexAttribArray(0);
	glDisableVertexAttribArray(1);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, strip);
	for (unsigned n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
		const uint8_t want = (uint8_t)(cases[n].level * 30 + 10);

		clear();
		glUniform3fv(glGetUniformLocation(p, "direction"), 1, cases[n].direction);
		glUniform3fv(glGetUniformLocation(p, "dx"), 1, cases[n].dx);
		glUniform3fv(glGetUniformLocation(p, "dy"), 1, cases[n].dy);
		glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
		glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
		same(pixels, &want, 1, "level of a direction", n);
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
	static const float strip[8] = { -1, -1, 1, -1, -1, 1, 1, 1 };
	static const uint8_t want[4] = { 255, 0, 0, 255 };
	static float depths[SIDE * SIDE];
	GLuint texture, p;

	/* A pixel shows a texel of level 0. */
	p = program("#version 130\nattribute vec2 position; out vec3 direction;"
		    "void main() { gl_Position = vec4(position, 0.0, 1.0); direction = vec3(1.0, position); }",
		    "#version 130\nuniform samplerCubeShadow s; uniform float depth, bias; in vec3 direction;"
		    "void main() { gl_FragColor = vec4(texture(s, vec4(direction, depth - 0.0625), bias),"
		    "  texture(s, vec4(direction, depth + 0.0625), bias), 0.0, 1.0); }");
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_CUBE_MAP, texture);
	glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
	glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
	for (unsigned level = 0; level < LEVELS; level++) {
		for (unsigned i = 0; i < SIDE * SIDE; i++)
			depths[i] = (level + 1) / 8.0f;
		for (unsigned face = 0; face < 6; face++)
			glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, (GLint)level, GL_DEPTH_COMPONENT24, SIDE >> level,
				     SIDE >> level, 0, GL_DEPTH_COMPONENT, GL_FLOAT, depths);
	}
	glUseProgram(p);
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	glEnableVertexAttribArray(0);
	glDisableVertexAttribArray(1);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, strip);
	for (unsigned n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
		clear();
		glUniform1f(glGetUniformLocation(p, "depth"), (cases[n].level + 1) / 8.0f);
		glUniform1f(glGetUniformLocation(p, "bias"), cases[n].bias);
		glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
		glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
		for (unsigned i = 0; i < SIDE * SIDE; i++) {
			if (!same(pixels + i * 4, want, 4, "comparison with a bias", n))
				break;
		}
	}
	glDeleteProgram(p);
	glDeleteTextures(1, &texture);
}
