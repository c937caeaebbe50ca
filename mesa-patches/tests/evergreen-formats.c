/* SPDX-License-Identifier: MIT */
/* Signed normalized formats: the lowest number and the next one are both -1, and 0 is 0. */

#include "evergreen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 32

struct format {
	GLenum format, data, type;
	const char *qualifier; /* of an image */
	unsigned components, bits;
};

static const struct format formats[] = {
	{ GL_R8_SNORM, GL_RED, GL_BYTE, "r8_snorm", 1, 8 },
	{ GL_RG8_SNORM, GL_RG, GL_BYTE, "rg8_snorm", 2, 8 },
	{ GL_RGBA8_SNORM, GL_RGBA, GL_BYTE, "rgba8_snorm", 4, 8 },
	{ GL_R16_SNORM, GL_RED, GL_SHORT, "r16_snorm", 1, 16 },
	{ GL_RG16_SNORM, GL_RG, GL_SHORT, "rg16_snorm", 2, 16 },
	{ GL_RGBA16_SNORM, GL_RGBA, GL_SHORT, "rgba16_snorm", 4, 16 },
};

enum { FORMATS = sizeof(formats) / sizeof(*formats), VALUES = SIDE * SIDE * 4 };

/* Component @n of a texture: the two lowest numbers, 0 and the highest are among them. */
static int number(const struct format *f, unsigned n)
{
	const int lowest = -(1 << (f->bits - 1)), i = n % 256;

	if (f->bits == 8 || i == 1)
		return lowest + i;
	return i == 128 ? 0 : lowest + i * 257;
}

/* Writes the components of all texels. Returns the bytes. */
static size_t numbers(const struct format *f, void *out)
{
	const unsigned count = SIDE * SIDE * f->components;

	for (unsigned n = 0; n < count; n++) {
		if (f->bits == 8)
			((int8_t *)out)[n] = (int8_t)number(f, n);
		else
			((int16_t *)out)[n] = (int16_t)number(f, n);
	}
	return count * (f->bits / 8);
}

static GLuint texture_of(const struct format *f, const void *data)
{
	GLuint texture;

	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexStorage2D(GL_TEXTURE_2D, 1, f->format, SIDE, SIDE);
	if (data)
		glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, f->data, f->type, data);
	return texture;
}

/* Uploaded, copied, and read back. */
static void signed_copies(void)
{
	static uint32_t texels[VALUES / 2], found[VALUES / 2];

	glPixelStorei(GL_PACK_ALIGNMENT, 1);
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	for (unsigned n = 0; n < FORMATS; n++) {
		const size_t bytes = numbers(&formats[n], texels);
		const GLuint from = texture_of(&formats[n], texels), to = texture_of(&formats[n], NULL);

		glCopyImageSubData(from, GL_TEXTURE_2D, 0, 0, 0, 0, to, GL_TEXTURE_2D, 0, 0, 0, 0, SIDE, SIDE, 1);
		memset(found, 0xAB, sizeof(found));
		glBindTexture(GL_TEXTURE_2D, to);
		glGetTexImage(GL_TEXTURE_2D, 0, formats[n].data, formats[n].type, found);
		equal(formats[n].qualifier, found, texels, bytes / 4);
	}
}

/* Each component that imageLoad() gives. */
static void signed_images(void)
{
	static uint32_t texels[VALUES / 2];
	static float found[VALUES];

	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	for (unsigned n = 0; n < FORMATS; n++) {
		const struct format *f = &formats[n];
		const float highest = (float)((1 << (f->bits - 1)) - 1);
		char source[512];
		GLuint texture, to;

		numbers(f, texels);
		texture = texture_of(f, texels);
		glBindImageTexture(0, texture, 0, GL_FALSE, 0, GL_READ_ONLY, f->format);
		to = storage(0, NULL, sizeof(found));
		snprintf(source, sizeof(source), "#version 430\nlayout(local_size_x = 8, local_size_y = 8) in;"
			 "layout(binding = 0, %s) readonly uniform image2D i;"
			 "layout(std430, binding = 0) buffer b { vec4 to[]; };"
			 "void main() { uvec2 p = gl_GlobalInvocationID.xy; to[p.y * 32u + p.x] = imageLoad(i, ivec2(p)); }",
			 f->qualifier);
		compute_program(source);
		glDispatchCompute(SIDE / 8, SIDE / 8, 1);
		buffer_read(to, found, sizeof(found));
		for (unsigned i = 0; i < SIDE * SIDE * f->components; i++) {
			const float value = found[i / f->components * 4 + i % f->components];
			const float expected = fmaxf((float)number(f, i) / highest, -1.0f);

			if (fabsf(value - expected) > 0.125f / highest) {
				wrong("%s: %d is %f, expected %f", f->qualifier, number(f, i), value, expected);
				break;
			}
		}
	}
}

const struct test format_tests[] = {
	{ "signed-copies", signed_copies },
	{ "signed-images", signed_images },
	{ NULL, NULL },
};
