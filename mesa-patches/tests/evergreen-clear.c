/* SPDX-License-Identifier: MIT */
/* Clears. Mesa clears larger targets, and all with several samples, by a mask of tiles (CMASK). */

#include "evergreen.h"

#include <stdlib.h>
#include <string.h>

#define SIZE 320 /* Mesa fills targets up to 300x300 without a mask */

static GLuint texture_2d(GLenum format, unsigned size)
{
	GLuint texture;

	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexStorage2D(GL_TEXTURE_2D, 1, format, size, size);
	return texture;
}

/* Reads a texture of @words words for each texel, and expects @texel everywhere. */
static void expect_texels(const char *what, GLenum target, GLuint texture, GLenum format, GLenum type, size_t texels,
			  const uint32_t *texel, size_t words)
{
	uint32_t *found = malloc(4 * texels * words), *expected = malloc(4 * texels * words);

	glBindTexture(target, texture);
	memset(found, 0xEE, 4 * texels * words);
	glGetTexImage(target, 0, format, type, found);
	for (size_t i = 0; i < texels * words; i++)
		expected[i] = texel[i % words];
	equal(what, found, expected, texels * words);
	free(found);
	free(expected);
}

static void clear_formats(void)
{
	static const struct {
		GLenum internal, format, type;
		bool integer;
		uint32_t texel[4];
		unsigned words;
	} formats[] = {
		{ GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, false, { 0xFF0000FF }, 1 },
		{ GL_R32F, GL_RED, GL_FLOAT, false, { 0x3F800000 }, 1 },
		{ GL_RG32F, GL_RG, GL_FLOAT, false, { 0x3F800000, 0 }, 2 },
		{ GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, false, { 0x00003C00, 0x3C000000 }, 2 },
		{ GL_RGBA32F, GL_RGBA, GL_FLOAT, false, { 0x3F800000, 0, 0, 0x3F800000 }, 4 },
		{ GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, true, { 0x04030201 }, 1 },
		{ GL_RG32UI, GL_RG_INTEGER, GL_UNSIGNED_INT, true, { 1, 2 }, 2 },
	};
	static const unsigned sizes[] = { 64, SIZE };
	static const float colour[] = { 1, 0, 0, 1 };
	static const GLuint integers[] = { 1, 2, 3, 4 };

	for (unsigned i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		for (unsigned j = 0; j < 2; j++) {
			GLuint texture = texture_2d(formats[i].internal, sizes[j]);

			framebuffer_of(texture);
			if (formats[i].integer)
				glClearBufferuiv(GL_COLOR, 0, integers);
			else
				glClearBufferfv(GL_COLOR, 0, colour);
			expect_texels(sizes[j] == SIZE ? "large" : "small", GL_TEXTURE_2D, texture, formats[i].format,
				      formats[i].type, sizes[j] * sizes[j], formats[i].texel, formats[i].words);
		}
	}
}

/* The texture is cleared as another format than it is read. */
static void clear_view(void)
{
	static const GLuint integers[] = { 0x3F800000, 0x40000000, 0, 0 };
	static const uint32_t texel[] = { 0x3F800000, 0x40000000 };
	GLuint texture = texture_2d(GL_RG32F, SIZE), view;

	glGenTextures(1, &view);
	glTextureView(view, GL_TEXTURE_2D, texture, GL_RG32UI, 0, 1, 0, 1);
	framebuffer_of(view);
	glClearBufferuiv(GL_COLOR, 0, integers);
	expect_texels("view", GL_TEXTURE_2D, texture, GL_RG, GL_FLOAT, SIZE * SIZE, texel, 2);
}

static void solid(float r, float g, float b, float a)
{
	const GLenum types[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *const sources[] = {
		QUAD, "#version 430\nuniform vec4 c; out vec4 o; void main() { o = c; }"
	};
	GLuint program = program_of(types, sources);

	glUniform4f(glGetUniformLocation(program, "c"), r, g, b, a);
}

/* Draws in a part of a cleared target, over some tiles only in part, blended; then clears a part. */
static void clear_draw(void)
{
	uint32_t *found = malloc(4 * SIZE * SIZE), *expected = malloc(4 * SIZE * SIZE);
	static const float grey[] = { 0, 0, 1, 0 }, white[] = { 1, 1, 1, 1 };
	GLuint texture = texture_2d(GL_RGBA8, SIZE);

	framebuffer_of(texture);
	glViewport(0, 0, SIZE, SIZE);
	glClearBufferfv(GL_COLOR, 0, grey);
	solid(1, 0, 0, 1);
	glEnable(GL_BLEND);
	glBlendFunc(GL_ONE, GL_ONE);
	glEnable(GL_SCISSOR_TEST);
	glScissor(13, 17, 200, 101);
	quad();
	glScissor(5, 250, 33, 3);
	glClearBufferfv(GL_COLOR, 0, white);
	glDisable(GL_SCISSOR_TEST);
	glDisable(GL_BLEND);
	glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, found);
	for (unsigned y = 0; y < SIZE; y++) {
		for (unsigned x = 0; x < SIZE; x++) {
			bool drawn = x - 13 < 200 && y - 17 < 101, cleared = x - 5 < 33 && y - 250 < 3;

			expected[y * SIZE + x] = cleared ? 0xFFFFFFFF : drawn ? 0xFFFF00FF : 0x00FF0000;
		}
	}
	equal("pixels", found, expected, SIZE * SIZE);
	/* Again: tiles that have been drawn are cleared, too. */
	glClearBufferfv(GL_COLOR, 0, white);
	glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, found);
	memset(expected, 0xFF, 4 * SIZE * SIZE);
	equal("second clear", found, expected, SIZE * SIZE);
	free(found);
	free(expected);
}

static void clear_layers(void)
{
	static const float colour[] = { 0, 1, 0, 1 };
	static const uint32_t texel[] = { 0xFF00FF00 };
	GLuint texture;

	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D_ARRAY, texture);
	glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_RGBA8, SIZE, SIZE, 5);
	framebuffer_of(texture);
	glClearBufferfv(GL_COLOR, 0, colour);
	expect_texels("layers", GL_TEXTURE_2D_ARRAY, texture, GL_RGBA, GL_UNSIGNED_BYTE, 5 * SIZE * SIZE, texel, 1);
}

static void clear_samples(void)
{
	static const float colour[] = { 0, 1, 1, 0 };
	uint32_t *found = malloc(4 * SIZE * SIZE), *expected = malloc(4 * SIZE * SIZE);

	GLint most;

	glGetIntegerv(GL_MAX_SAMPLES, &most);
	for (int samples = 2; samples <= most && samples <= 8; samples *= 2) {
		GLuint target = texture_2d(GL_RGBA8, SIZE), renderbuffer, framebuffer, to;

		glGenRenderbuffers(1, &renderbuffer);
		glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
		glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_RGBA8, SIZE, SIZE);
		glGenFramebuffers(1, &framebuffer);
		to = framebuffer_of(target);
		glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
		glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
		glClearBufferfv(GL_COLOR, 0, colour);
		solid(1, 0, 0, 1);
		glViewport(100, 101, 102, 103);
		quad();
		glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
		glBlitFramebuffer(0, 0, SIZE, SIZE, 0, 0, SIZE, SIZE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
		glBindFramebuffer(GL_FRAMEBUFFER, to);
		glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, found);
		for (unsigned i = 0; i < SIZE * SIZE; i++) {
			bool drawn = i % SIZE - 100 < 102 && i / SIZE - 101 < 103;

			expected[i] = drawn ? 0xFF0000FF : 0x00FFFF00;
		}
		equal("resolved pixels", found, expected, SIZE * SIZE);
	}
	free(found);
	free(expected);
}

const struct test clear_tests[] = {
	{ "clear-formats", clear_formats },
	{ "clear-view", clear_view },
	{ "clear-draw", clear_draw },
	{ "clear-layers", clear_layers },
	{ "clear-samples", clear_samples },
	{ NULL, NULL },
};
