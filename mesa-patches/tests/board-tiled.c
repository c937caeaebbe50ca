/* SPDX-License-Identifier: MIT */
/* A case of gl-board with small tiled textures, which the CPU writes if the GPU does not use them. */
#include "board.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST (32 * 32 * 4 * 16) /* of a level, in bytes */
#define WRITES 24		   /* of boxes, to each texture */

/* Mesa has all of these tiled; of 1, 2, 4, 8 and 16 bytes a texel or block. */
static const struct {
	GLenum internal, format, type;
	unsigned bytes, block; /* of an element; 4: a block of 4x4 texels */
} formats[] = {
	{ GL_R8, GL_RED, GL_UNSIGNED_BYTE, 1, 1 },
	{ GL_RG8, GL_RG, GL_UNSIGNED_BYTE, 2, 1 },
	{ GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4, 1 },
	{ GL_RGBA16, GL_RGBA, GL_UNSIGNED_SHORT, 8, 1 },
	{ GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16, 1 },
	{ GL_COMPRESSED_RED_RGTC1, GL_COMPRESSED_RED_RGTC1, 0, 8, 4 },
	{ GL_COMPRESSED_RG_RGTC2, GL_COMPRESSED_RG_RGTC2, 0, 16, 4 },
};

static const struct {
	GLenum target;
	unsigned side, depth, levels;
} shapes[] = {
	{ GL_TEXTURE_2D, 29, 1, 1 },
	{ GL_TEXTURE_2D, 24, 1, 5 },
	{ GL_TEXTURE_2D, 16, 1, 5 },
	{ GL_TEXTURE_3D, 11, 4, 1 },
	{ GL_TEXTURE_2D_ARRAY, 13, 3, 2 },
	{ GL_TEXTURE_CUBE_MAP, 12, 6, 1 },
};

unsigned tiled_alone;

/* Writes a box of texels; those of a format of blocks have a size in blocks. */
static void write_box(unsigned f, GLenum target, int level, unsigned x, unsigned y, unsigned z, unsigned w, unsigned h,
		      unsigned d, const void *data)
{
	const unsigned block = formats[f].block, size = (w + block - 1) / block * ((h + block - 1) / block) * formats[f].bytes;

	if (target == GL_TEXTURE_CUBE_MAP) {
		for (unsigned l = 0; l < d; l++) {
			const GLenum face = GL_TEXTURE_CUBE_MAP_POSITIVE_X + z + l;
			const uint8_t *of_face = (const uint8_t *)data + l * size;

			if (block > 1)
				glCompressedTexSubImage2D(face, level, x, y, w, h, formats[f].internal, size, of_face);
			else
				glTexSubImage2D(face, level, x, y, w, h, formats[f].format, formats[f].type, of_face);
		}
	} else if (target == GL_TEXTURE_2D) {
		if (block > 1)
			glCompressedTexSubImage2D(target, level, x, y, w, h, formats[f].internal, size, data);
		else
			glTexSubImage2D(target, level, x, y, w, h, formats[f].format, formats[f].type, data);
	} else if (block > 1) {
		glCompressedTexSubImage3D(target, level, x, y, z, w, h, d, formats[f].internal, d * size, data);
	} else {
		glTexSubImage3D(target, level, x, y, z, w, h, d, formats[f].format, formats[f].type, data);
	}
}

static void read_level(unsigned f, GLenum target, int level, unsigned bytes, uint8_t *got)
{
	const bool cube = target == GL_TEXTURE_CUBE_MAP;

	memset(got, 0, bytes);
	for (unsigned face = 0; face < (cube ? 6 : 1); face++) {
		const GLenum image = cube ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + face : target;
		uint8_t *to = got + face * (bytes / 6);

		if (formats[f].block > 1)
			glGetCompressedTexImage(image, level, to);
		else
			glGetTexImage(image, level, formats[f].format, formats[f].type, to);
	}
}

/* Boxes in each level of a texture, against a model. What the GPU copies to where it can be read must be what
 * was written, and writing must not have needed the GPU, as it does not use the texture yet.
 */
static void boxes(unsigned f, unsigned s, unsigned *seed)
{
	static uint8_t model[6][LARGEST], data[LARGEST], got[LARGEST];
	const unsigned block = formats[f].block, bytes = formats[f].bytes;
	const GLenum target = shapes[s].target;
	unsigned long before;
	GLuint texture;

	/* Mesa has no compressed 3D textures of these formats. What it copies wrong of 24x24 texels is seen by
	 * blocks().
	 */
	if (block > 1 && (target == GL_TEXTURE_3D || shapes[s].side == 24))
		return;
	glGenTextures(1, &texture);
	glBindTexture(target, texture);
	if (target == GL_TEXTURE_2D || target == GL_TEXTURE_CUBE_MAP)
		glTexStorage2D(target, shapes[s].levels, formats[f].internal, shapes[s].side, shapes[s].side);
	else
		glTexStorage3D(target, shapes[s].levels, formats[f].internal, shapes[s].side, shapes[s].side,
			       shapes[s].depth);
	glFinish();
	before = gl_counts().submissions;

	for (unsigned level = 0; level < shapes[s].levels; level++) {
		const unsigned side = shapes[s].side >> level ? shapes[s].side >> level : 1;
		const unsigned depth = shapes[s].depth, elements = (side + block - 1) / block;

		fill(model[level], elements * elements * depth * bytes, f * 100 + s * 10 + level);
		write_box(f, target, level, 0, 0, 0, side, side, depth, model[level]);
		for (unsigned k = 0; k < WRITES; k++) {
			/* In elements, of which the last one can be cut off by the edge. */
			unsigned w = 1 + rand_r(seed) % elements, h = 1 + rand_r(seed) % elements;
			unsigned d = 1 + rand_r(seed) % depth, x = rand_r(seed) % (elements - w + 1);
			unsigned y = rand_r(seed) % (elements - h + 1), z = rand_r(seed) % (depth - d + 1);
			unsigned right = (x + w) * block < side ? (x + w) * block : side;
			unsigned bottom = (y + h) * block < side ? (y + h) * block : side;

			fill(data, w * h * d * bytes, f * 10000 + s * 1000 + level * 100 + k);
			for (unsigned l = 0; l < d; l++)
				for (unsigned r = 0; r < h; r++)
					memcpy(model[level] + (((z + l) * elements + y + r) * elements + x) * bytes,
					       data + (l * h + r) * w * bytes, w * bytes);
			write_box(f, target, level, x * block, y * block, z, right - x * block, bottom - y * block, d,
				  data);
		}
	}
	glFinish();
	if (gl_counts().submissions == before)
		tiled_alone++;

	for (unsigned level = 0; level < shapes[s].levels; level++) {
		const unsigned side = shapes[s].side >> level ? shapes[s].side >> level : 1;
		const unsigned elements = (side + block - 1) / block;
		const unsigned size = elements * elements * shapes[s].depth * bytes;

		read_level(f, target, level, size, got);
		same(got, model[level], size, "level of a tiled texture", f * 100 + s * 10 + level);
	}
	glDeleteTextures(1, &texture);
	no_error("tiled");
}

/* A texture is drawn, written again, and drawn again, in one command stream or in two: each draw must see
 * what had been written before it.
 */
static void again(unsigned i, bool flush)
{
	static uint8_t first[GLYPH * GLYPH * 4], second[GLYPH * GLYPH * 4], got[2][SIDE * SIDE * 4];
	GLuint texture, targets[2], framebuffers[2];
	GLint bound;

	glGetIntegerv(GL_FRAMEBUFFER_BINDING, &bound);
	glGenTextures(1, &texture);
	glGenTextures(2, targets);
	glGenFramebuffers(2, framebuffers);
	fill(first, sizeof(first), plain(i));
	fill(second, sizeof(second), later(i));
	rgba_texture(texture, GLYPH, GLYPH, first);
	for (unsigned t = 0; t < 2; t++) {
		rgba_texture(targets[t], GLYPH, GLYPH, NULL);
		glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[t]);
		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, targets[t], 0);
		glBindTexture(GL_TEXTURE_2D, texture);
		if (t)
			glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, GLYPH, GLYPH, GL_RGBA, GL_UNSIGNED_BYTE, second);
		blit_texture(GLYPH, GLYPH);
		if (flush)
			glFlush();
	}
	for (unsigned t = 0; t < 2; t++) {
		glBindTexture(GL_TEXTURE_2D, targets[t]);
		memset(got[t], 0, sizeof(first));
		glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, got[t]);
	}
	same(got[0], first, sizeof(first), "texture drawn before it was written again", i);
	same(got[1], second, sizeof(second), "texture drawn after it was written again", i);
	glBindFramebuffer(GL_FRAMEBUFFER, bound);
	glDeleteFramebuffers(2, framebuffers);
	glDeleteTextures(2, targets);
	glDeleteTextures(1, &texture);
}

void tiled(void)
{
	unsigned seed = 11;

	for (unsigned f = 0; f < sizeof(formats) / sizeof(*formats); f++)
		for (unsigned s = 0; s < sizeof(shapes) / sizeof(*shapes); s++)
			boxes(f, s, &seed);
	for (unsigned i = 0; i < 32; i++)
		again(i, i % 2);
}
