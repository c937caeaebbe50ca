/* SPDX-License-Identifier: MIT */
/* Draws of which OpenGL leaves out pixels. */

#include "board.h"

#include <string.h>

/* Draws over the whole framebuffer in colour 255, and reads it. */
static void draw_all(GLenum mode)
{
	clear();
	glUseProgram(uniform_program);
	glUniform4f(glGetUniformLocation(uniform_program, "c"), 1, 1, 1, 1);
	draw_corners(mode);
	glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
}

/* Two polygon stipples in turn, and what they leave alone: points, and polygons after glDisable(). */
void stipple(void)
{
	static const uint8_t on[4] = { 255, 255, 255, 255 }, off[4];
	uint8_t masks[2][32 * 4];
	unsigned drawn = 0;

	fill(masks[0], sizeof(masks[0]), 7);
	for (unsigned i = 0; i < sizeof(masks[1]); i++)
		masks[1][i] = (uint8_t)~masks[0][i];
	glEnable(GL_POLYGON_STIPPLE);
	for (unsigned round = 0; round < 4; round++) {
		const uint8_t *mask = masks[round % 2];

		glPolygonStipple(mask);
		draw_all(GL_TRIANGLE_STRIP);
		for (unsigned p = 0; p < SIDE * SIDE; p++) {
			const unsigned x = p % SIDE % 32, y = p / SIDE % 32;
			const bool bit = mask[y * 4 + x / 8] >> (7 - x % 8) & 1;

			if (!same(pixels + p * 4, bit ? on : off, 4, "stippled pixel", p))
				break;
		}
	}
	memset(masks[0], 0, sizeof(masks[0]));
	glPolygonStipple(masks[0]);
	glPointSize(SIDE);
	draw_all(GL_POINTS);
	for (unsigned p = 0; p < SIDE * SIDE; p++)
		drawn += pixels[p * 4] == 255;
	/* Each corner's point covers a quarter. */
	same(&drawn, &(unsigned){ SIDE * SIDE }, sizeof(drawn), "pixels of points", 0);
	glPointSize(1);
	glDisable(GL_POLYGON_STIPPLE);
	draw_all(GL_TRIANGLE_STRIP);
	for (unsigned p = 0; p < SIDE * SIDE; p++) {
		if (!same(pixels + p * 4, on, 4, "pixel without stipple", p))
			break;
	}
}

/* A framebuffer with four samples and one colour buffer, bound. */
static GLuint sampled_framebuffer(void)
{
	GLuint framebuffer, buffer;

	glGenFramebuffers(1, &framebuffer);
	glGenRenderbuffers(1, &buffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glBindRenderbuffer(GL_RENDERBUFFER, buffer);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, 4, GL_RGBA8, SIDE, SIDE);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, buffer);
	return framebuffer;
}

/* Averages the samples of a framebuffer into another one, and reads that. */
static void resolve(GLuint from, GLuint to)
{
	glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
	glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	glBindFramebuffer(GL_FRAMEBUFFER, to);
	glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
}

/* Each sample of a slanted edge is copied to the same one. */
void samples(void)
{
	static const float corners[6] = { -1, -1, 1, -1, -0.8f, 1 };
	static uint8_t want[sizeof(pixels)];
	unsigned between = 0;
	GLuint drawn, copied;
	GLint single;

	glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &single);
	copied = sampled_framebuffer();
	clear();
	drawn = sampled_framebuffer();
	clear();
	glUseProgram(uniform_program);
	glUniform4f(glGetUniformLocation(uniform_program, "c"), 1, 1, 1, 1);
	draw_vertices(GL_TRIANGLES, corners, 3);
	resolve(drawn, (GLuint)single);
	memcpy(want, pixels, sizeof(want));
	for (unsigned p = 0; p < SIDE * SIDE; p++)
		between += want[p * 4] != 0 && want[p * 4] != 255;
	if (between < SIDE / 2)
		same(&between, &(unsigned){ SIDE / 2 }, sizeof(between), "pixels of the edge", 0);

	glBindFramebuffer(GL_READ_FRAMEBUFFER, drawn);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, copied);
	glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	resolve(copied, (GLuint)single);
	same(pixels, want, sizeof(want), "copied samples", 0);
	glDeleteFramebuffers(1, &drawn);
	glDeleteFramebuffers(1, &copied);
}
