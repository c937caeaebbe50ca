/* SPDX-License-Identifier: MIT */
#include "board.h"

#include <stdio.h>

uint8_t pixels[SIDE * SIDE * 4];
GLuint names[N];
GLuint uniform_program;
unsigned wrong;
static GLuint colour_program, texture_program;

bool same(const void *got, const void *want, unsigned size, const char *what, unsigned i)
{
	const uint8_t *g = got, *w = want;

	for (unsigned at = 0; at < size; at++) {
		if (g[at] == w[at])
			continue;
		if (wrong++ < 5)
			fprintf(stderr, "%s %u: byte %u of %u is %02x, not %02x\n", what, i, at, size, g[at], w[at]);
		return false;
	}
	return true;
}

GLuint program(const char *vs, const char *fs)
{
	return link_program(compile(GL_VERTEX_SHADER, vs), compile(GL_FRAGMENT_SHADER, fs), NULL);
}

void setup(void)
{
	GLuint fbo, texture;

	colour_program = program("attribute vec2 position; attribute vec4 colour; varying vec4 c;"
				 "void main() { gl_Position = vec4(position, 0.0, 1.0); c = colour; }",
				 "varying vec4 c; void main() { gl_FragColor = c; }");
	/* Each pixel shows the texel that lies below it. */
	texture_program = program("attribute vec2 position; varying vec2 t;"
				  "void main() { gl_Position = vec4(position, 0.0, 1.0); t = position * 0.5 + 0.5; }",
				  "varying vec2 t; uniform sampler2D s; void main() { gl_FragColor = texture2D(s, t); }");
	uniform_program = program("attribute vec2 position; void main() { gl_Position = vec4(position, 0.0, 1.0); }",
				  "uniform vec4 c; void main() { gl_FragColor = c; }");
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glGenFramebuffers(1, &fbo);
	glBindFramebuffer(GL_FRAMEBUFFER, fbo);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
	glViewport(0, 0, SIDE, SIDE);
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	glPixelStorei(GL_PACK_ALIGNMENT, 1);
	no_error("setting up");
}

void clear(void)
{
	glClearColor(0, 0, 0, 0);
	glClear(GL_COLOR_BUFFER_BIT);
}

void square(struct vertex v[6], unsigned place, uint32_t seed)
{
	static const uint8_t corner[6][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 0, 1 }, { 1, 0 }, { 1, 1 } };

	for (int i = 0; i < 6; i++) {
		v[i].position[0] = (place % PER_ROW + corner[i][0]) * 2.0f * 2 / SIDE - 1;
		v[i].position[1] = (place / PER_ROW + corner[i][1]) * 2.0f * 2 / SIDE - 1;
		fill(v[i].colour, 4, seed);
	}
}

void draw_square(GLuint vbo)
{
	glBindBuffer(GL_ARRAY_BUFFER, vbo);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, sizeof(struct vertex), (void *)0);
	glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, sizeof(struct vertex), (void *)8);
	glDrawArrays(GL_TRIANGLES, 0, 6);
}

void begin_squares(void)
{
	glUseProgram(colour_program);
	glEnableVertexAttribArray(0);
	glEnableVertexAttribArray(1);
	clear();
}

void check_squares(unsigned n, uint32_t (*seed)(unsigned i), const char *what)
{
	glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	for (unsigned i = 0; i < n; i++) {
		uint8_t want[4];

		fill(want, 4, seed(i));
		for (unsigned p = 0; p < 4; p++) {
			unsigned x = i % PER_ROW * 2 + p % 2, y = i / PER_ROW * 2 + p / 2;

			same(pixels + (y * SIDE + x) * 4, want, 4, what, i);
		}
	}
}

uint32_t plain(unsigned i) { return i + 1; }
uint32_t later(unsigned i) { return i + 5001; }

void draw_vertices(GLenum mode, const float *positions, unsigned n)
{
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	glEnableVertexAttribArray(0);
	glDisableVertexAttribArray(1);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, positions);
	glDrawArrays(mode, 0, (GLsizei)n);
}

void draw_corners(GLenum mode)
{
	static const float corners[8] = { -1, -1, 1, -1, -1, 1, 1, 1 };

	draw_vertices(mode, corners, 4);
}

void blit_texture(unsigned w, unsigned h)
{
	glUseProgram(texture_program);
	glViewport(0, 0, w, h);
	draw_corners(GL_TRIANGLE_STRIP);
	glViewport(0, 0, SIDE, SIDE);
}

void draw_texture(unsigned w, unsigned h)
{
	blit_texture(w, h);
	glReadPixels(0, 0, w, h, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
}

void nearest(void)
{
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

void rgba_texture(GLuint name, unsigned w, unsigned h, const void *texels)
{
	glBindTexture(GL_TEXTURE_2D, name);
	nearest();
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, w, h, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
}
