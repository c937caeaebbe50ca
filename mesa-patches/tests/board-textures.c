/* SPDX-License-Identifier: MIT */
/* Cases of gl-board with textures. */
#include "board.h"

#include <stdlib.h>
#include <string.h>

/* A texture for each glyph. All are read back, some are drawn. */
void glyph_own(void)
{
	uint8_t data[GLYPH * GLYPH], got[GLYPH * GLYPH];

	glGenTextures(N, names);
	for (unsigned i = 0; i < N; i++) {
		fill(data, sizeof(data), i);
		glBindTexture(GL_TEXTURE_2D, names[i]);
		nearest();
		glTexImage2D(GL_TEXTURE_2D, 0, GL_ALPHA8, GLYPH, GLYPH, 0, GL_ALPHA, GL_UNSIGNED_BYTE, data);
	}
	for (unsigned i = 0; i < N; i++) {
		fill(data, sizeof(data), i);
		glBindTexture(GL_TEXTURE_2D, names[i]);
		if (i % 16 == 0) {
			clear();
			draw_texture(GLYPH, GLYPH);
			for (unsigned p = 0; p < sizeof(got); p++)
				got[p] = pixels[p * 4 + 3];
			same(got, data, sizeof(got), "drawn glyph", i);
		}
		memset(got, 0, sizeof(got));
		glGetTexImage(GL_TEXTURE_2D, 0, GL_ALPHA, GL_UNSIGNED_BYTE, got);
		same(got, data, sizeof(got), "glyph", i);
	}
	glDeleteTextures(N, names);
}

/* Glyphs of many sizes in one texture, some over others; draws sample it in between. */
void glyph_atlas(void)
{
	static uint8_t model[ATLAS * ATLAS], got[ATLAS * ATLAS];
	uint8_t data[GLYPH * GLYPH];
	unsigned seed = 1;
	GLuint atlas;

	memset(model, 0, sizeof(model));
	glGenTextures(1, &atlas);
	glBindTexture(GL_TEXTURE_2D, atlas);
	nearest();
	glTexImage2D(GL_TEXTURE_2D, 0, GL_ALPHA8, ATLAS, ATLAS, 0, GL_ALPHA, GL_UNSIGNED_BYTE, model);
	for (unsigned i = 0; i < 4 * N; i++) {
		unsigned w = 1 + rand_r(&seed) % GLYPH, h = 1 + rand_r(&seed) % GLYPH;
		unsigned x = rand_r(&seed) % (ATLAS - w + 1), y = rand_r(&seed) % (ATLAS - h + 1);

		fill(data, w * h, i);
		for (unsigned r = 0; r < h; r++)
			memcpy(model + (y + r) * ATLAS + x, data + r * w, w);
		glTexSubImage2D(GL_TEXTURE_2D, 0, x, y, w, h, GL_ALPHA, GL_UNSIGNED_BYTE, data);
		if (i % 200 == 100)
			draw_texture(1, 1);
	}
	glGetTexImage(GL_TEXTURE_2D, 0, GL_ALPHA, GL_UNSIGNED_BYTE, got);
	for (unsigned y = 0; y < ATLAS; y++)
		same(got + y * ATLAS, model + y * ATLAS, ATLAS, "row of the atlas", y);
	glDeleteTextures(1, &atlas);
}

/* Rectangles in textures of several formats and targets, against a model. */
void textures(void)
{
	static const struct {
		GLenum internal, format, type;
		unsigned bytes;
	} formats[] = {
		{ GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4 },
		{ GL_RGBA8, GL_BGRA, GL_UNSIGNED_BYTE, 4 },
		{ GL_LUMINANCE8, GL_LUMINANCE, GL_UNSIGNED_BYTE, 1 },
		{ GL_RGB565, GL_RGB, GL_UNSIGNED_SHORT_5_6_5, 2 },
		{ GL_RGBA16, GL_RGBA, GL_UNSIGNED_SHORT, 8 },
		{ GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16 },
	};
	static const struct {
		GLenum target;
		unsigned w, h, d;
	} shapes[] = { { GL_TEXTURE_2D, 61, 47, 1 }, { GL_TEXTURE_1D, 203, 1, 1 }, { GL_TEXTURE_3D, 17, 9, 5 },
		       { GL_TEXTURE_RECTANGLE, 33, 20, 1 } };
	static uint8_t model[61 * 47 * 16], got[61 * 47 * 16], data[61 * 47 * 16];
	unsigned seed = 7, i = 0;

	for (unsigned f = 0; f < sizeof(formats) / sizeof(*formats); f++) {
		for (unsigned s = 0; s < sizeof(shapes) / sizeof(*shapes); s++, i++) {
			unsigned w = shapes[s].w, h = shapes[s].h, d = shapes[s].d, b = formats[f].bytes;
			GLenum target = shapes[s].target;
			GLuint texture;

			fill(model, w * h * d * b, i);
			glGenTextures(1, &texture);
			glBindTexture(target, texture);
			glTexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
			if (target == GL_TEXTURE_1D)
				glTexImage1D(target, 0, formats[f].internal, w, 0, formats[f].format, formats[f].type, model);
			else if (target == GL_TEXTURE_3D)
				glTexImage3D(target, 0, formats[f].internal, w, h, d, 0, formats[f].format,
					     formats[f].type, model);
			else
				glTexImage2D(target, 0, formats[f].internal, w, h, 0, formats[f].format,
					     formats[f].type, model);
			for (unsigned k = 0; k < 10; k++) {
				unsigned cw = 1 + rand_r(&seed) % w, ch = 1 + rand_r(&seed) % h, cd = 1 + rand_r(&seed) % d;
				unsigned x = rand_r(&seed) % (w - cw + 1), y = rand_r(&seed) % (h - ch + 1);
				unsigned z = rand_r(&seed) % (d - cd + 1);

				fill(data, cw * ch * cd * b, i * 100 + k);
				for (unsigned l = 0; l < cd; l++)
					for (unsigned r = 0; r < ch; r++)
						memcpy(model + (((z + l) * h + y + r) * w + x) * b,
						       data + (l * ch + r) * cw * b, cw * b);
				if (target == GL_TEXTURE_1D)
					glTexSubImage1D(target, 0, x, cw, formats[f].format, formats[f].type, data);
				else if (target == GL_TEXTURE_3D)
					glTexSubImage3D(target, 0, x, y, z, cw, ch, cd, formats[f].format,
							formats[f].type, data);
				else
					glTexSubImage2D(target, 0, x, y, cw, ch, formats[f].format, formats[f].type,
							data);
			}
			memset(got, 0, sizeof(got));
			glGetTexImage(target, 0, formats[f].format, formats[f].type, got);
			same(got, model, w * h * d * b, "texture", i);
			glDeleteTextures(1, &texture);
			no_error("textures");
		}
	}
}

/* Mipmaps of a format that the GPU cannot draw to: Mesa makes them on the CPU, and maps
 * all layers of two levels at a time, more than a staging buffer holds.
 */
void mipmaps(void)
{
	enum { LAYERS = 20, LEVELS = 2, TEXELS = 256 };
	static uint32_t texels[LAYERS * TEXELS * TEXELS], got[LAYERS * TEXELS * TEXELS];
	GLuint texture;

	/* Three mantissas of 9 bits and an exponent, normalized: a mean of equals is equal. */
	for (unsigned i = 0; i < LAYERS * TEXELS * TEXELS; i++) {
		unsigned layer = i / (TEXELS * TEXELS);

		texels[i] = (256 + layer) | layer << 9 | (511u - layer) << 18 | 16u << 27;
	}
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D_ARRAY, texture);
	glTexImage3D(GL_TEXTURE_2D_ARRAY, 0, GL_RGB9_E5, TEXELS, TEXELS, LAYERS, 0, GL_RGB, GL_UNSIGNED_INT_5_9_9_9_REV,
		     texels);
	glGenerateMipmap(GL_TEXTURE_2D_ARRAY);
	for (unsigned level = 0; level < LEVELS; level++) {
		unsigned size = TEXELS >> level;

		memset(got, 0, sizeof(got));
		glGetTexImage(GL_TEXTURE_2D_ARRAY, level, GL_RGB, GL_UNSIGNED_INT_5_9_9_9_REV, got);
		for (unsigned layer = 0; layer < LAYERS; layer++)
			same(got + layer * size * size, texels + layer * TEXELS * TEXELS,
			     size * size * sizeof(*got), "layer of mipmaps", level * 1000 + layer);
	}
	glDeleteTextures(1, &texture);
}

/* Levels of compressed textures whose size is no power of two: the third has 6x6 texels, so 2x2 blocks,
 * where the first level's 6x6 blocks would have left one.
 */
void blocks(void)
{
	static const struct {
		GLenum format;
		unsigned bytes;
	} formats[] = { { GL_COMPRESSED_RED_RGTC1, 8 }, { GL_COMPRESSED_RG_RGTC2, 16 } };
	enum { TEXELS = 24, LEVELS = 5 };
	uint8_t want[6 * 6 * 16], got[6 * 6 * 16];

	for (unsigned f = 0; f < 2; f++) {
		GLuint texture;

		glGenTextures(1, &texture);
		glBindTexture(GL_TEXTURE_2D, texture);
		glTexStorage2D(GL_TEXTURE_2D, LEVELS, formats[f].format, TEXELS, TEXELS);
		for (unsigned pass = 0; pass < 2; pass++) {
			for (unsigned level = 0; level < LEVELS; level++) {
				unsigned side = TEXELS >> level, size = (side + 3) / 4 * ((side + 3) / 4) * formats[f].bytes;

				fill(want, size, f * 10 + level);
				if (pass == 0) {
					glCompressedTexSubImage2D(GL_TEXTURE_2D, level, 0, 0, side, side,
								  formats[f].format, size, want);
					continue;
				}
				memset(got, 0, sizeof(got));
				glGetCompressedTexImage(GL_TEXTURE_2D, level, got);
				same(got, want, size, "level of blocks", f * 10 + level);
			}
		}
		glDeleteTextures(1, &texture);
	}
}

/* Layers of a level whose height is no power of two, and which a texture has for its first one. */
void layers(void)
{
	enum { WIDTH = 28, HEIGHT = 22, LAYERS = 4 };
	static uint8_t want[LAYERS][HEIGHT * WIDTH * 4];
	GLuint texture, sampling;

	sampling = program("#version 130\nin vec2 position; void main() { gl_Position = vec4(position, 0.0, 1.0); }",
			   "#version 130\n#extension GL_EXT_texture_array : require\n"
			   "uniform sampler2DArray s; uniform int layer; out vec4 c;"
			   "void main() { c = texelFetch(s, ivec3(ivec2(gl_FragCoord.xy), layer), 0); }");
	fill(&want[0][0], sizeof(want), 77);
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D_ARRAY, texture);
	glTexStorage3D(GL_TEXTURE_2D_ARRAY, 3, GL_RGBA8, 2 * WIDTH, 2 * HEIGHT, LAYERS);
	glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 1, 0, 0, 0, WIDTH, HEIGHT, LAYERS, GL_RGBA, GL_UNSIGNED_BYTE, want);
	glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_BASE_LEVEL, 1);
	glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MAX_LEVEL, 1);
	glUseProgram(sampling);
	for (unsigned i = 0; i < LAYERS; i++) {
		clear();
		glUniform1i(glGetUniformLocation(sampling, "layer"), i);
		draw_corners(GL_TRIANGLE_STRIP);
		glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
		same(pixels, want[i], sizeof(want[i]), "layer of a level", i);
	}
	glDeleteProgram(sampling);
	glDeleteTextures(1, &texture);
}

/* Rectangles of pixels that were drawn a moment ago. */
void readpixels(void)
{
	unsigned seed = 3;

	for (unsigned i = 0; i < N; i++) {
		unsigned w = 1 + rand_r(&seed) % 32, h = 1 + rand_r(&seed) % 16;
		unsigned x = rand_r(&seed) % (SIDE - w), y = rand_r(&seed) % (SIDE - h);
		uint8_t want[32 * 16 * 4];

		fill(want, 4, i);
		glClearColor(want[0] / 255.0f, want[1] / 255.0f, want[2] / 255.0f, want[3] / 255.0f);
		glClear(GL_COLOR_BUFFER_BIT);
		for (unsigned p = 1; p < w * h; p++)
			memcpy(want + p * 4, want, 4);
		memset(pixels, 0, w * h * 4);
		glReadPixels(x, y, w, h, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
		same(pixels, want, w * h * 4, "rectangle", i);
	}
}

/* A cube map and a texture with the same parameters, for which the driver has one state
 * object. Coordinates beyond the edge show whether the texture still clamps to it.
 */
void samplers(void)
{
	static const GLenum wraps[] = { GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T, GL_TEXTURE_WRAP_R };
	static const uint8_t texels[8] = { 10, 20, 30, 40, 50, 60, 70, 80 };
	GLenum targets[2] = { GL_TEXTURE_2D, GL_TEXTURE_CUBE_MAP };
	GLuint programs[2], textures[2];
	uint8_t face[4 * 4];

	programs[0] = program("attribute vec2 position; varying vec2 t;"
			      "void main() { gl_Position = vec4(position, 0.0, 1.0); t = position * 2.0 + 0.5; }",
			      "varying vec2 t; uniform sampler2D s; void main() { gl_FragColor = texture2D(s, t); }");
	programs[1] = program("attribute vec2 position; varying vec3 t;"
			      "void main() { gl_Position = vec4(position, 0.0, 1.0); t = vec3(1.0, position); }",
			      "varying vec3 t; uniform samplerCube s; void main() { gl_FragColor = textureCube(s, t); }");
	glGenTextures(2, textures);
	for (unsigned i = 0; i < 2; i++) {
		glBindTexture(targets[i], textures[i]);
		glTexParameteri(targets[i], GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glTexParameteri(targets[i], GL_TEXTURE_MAG_FILTER, GL_NEAREST);
		for (unsigned w = 0; w < 3; w++)
			glTexParameteri(targets[i], wraps[w], GL_CLAMP_TO_EDGE);
	}
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 2, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
	memset(face, 90, sizeof(face));
	for (unsigned i = 0; i < 6; i++)
		glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + i, 0, GL_RGBA8, 2, 2, 0, GL_RGBA, GL_UNSIGNED_BYTE, face);

	glEnable(GL_TEXTURE_CUBE_MAP_SEAMLESS);
	/* The texture before the cube map has been used, and after, several times in turn. */
	for (unsigned round = 0; round < 6; round++) {
		clear();
		glUseProgram(programs[round % 2]);
		draw_corners(GL_TRIANGLE_STRIP);
		glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
		for (unsigned p = 0; p < SIDE * SIDE; p++) {
			const uint8_t *want = round % 2 ? face : texels + (p % SIDE < SIDE / 2 ? 0 : 4);

			if (!same(pixels + p * 4, want, 4, round % 2 ? "cube map" : "clamped texture", round))
				break;
		}
	}
	glDisable(GL_TEXTURE_CUBE_MAP_SEAMLESS);
	for (unsigned i = 0; i < 2; i++)
		glDeleteProgram(programs[i]);
	glDeleteTextures(2, textures);
}

/* Uploads from a buffer object have the texels that uploads from memory have. */
void pbo_formats(void)
{
	static const struct {
		GLenum internal, format;
		unsigned bytes;
	} formats[] = {
		{ GL_RGBA8, GL_BGRA, 4 },		{ GL_LUMINANCE8_ALPHA8, GL_LUMINANCE_ALPHA, 2 },
		{ GL_LUMINANCE4_ALPHA4, GL_LUMINANCE_ALPHA, 2 }, { GL_LUMINANCE8, GL_LUMINANCE, 1 },
		{ GL_ALPHA8, GL_ALPHA, 1 },		{ GL_RGBA4, GL_BGRA, 4 },
		{ GL_RG8, GL_RG, 2 },			{ GL_RGB10_A2, GL_RGBA, 4 },
	};
	static uint8_t data[SIDE * SIDE * 4], texels[2][SIDE * SIDE * 4];
	GLuint buffer, texture;

	fill(data, sizeof(data), 11);
	glGenBuffers(1, &buffer);
	for (unsigned i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		for (unsigned from_buffer = 0; from_buffer < 2; from_buffer++) {
			glGenTextures(1, &texture);
			glBindTexture(GL_TEXTURE_2D, texture);
			glTexImage2D(GL_TEXTURE_2D, 0, (GLint)formats[i].internal, SIDE, SIDE, 0, formats[i].format,
				     GL_UNSIGNED_BYTE, NULL);
			glBindBuffer(GL_PIXEL_UNPACK_BUFFER, from_buffer ? buffer : 0);
			if (from_buffer)
				glBufferData(GL_PIXEL_UNPACK_BUFFER, SIDE * SIDE * formats[i].bytes, data, GL_STREAM_DRAW);
			glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, formats[i].format, GL_UNSIGNED_BYTE,
					from_buffer ? NULL : data);
			glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
			glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels[from_buffer]);
			glDeleteTextures(1, &texture);
		}
		same(texels[1], texels[0], sizeof(texels[0]), "upload from a buffer", i);
	}
	glDeleteBuffers(1, &buffer);
}
