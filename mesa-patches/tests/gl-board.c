/* SPDX-License-Identifier: MIT */
/**
 * DOC: gl-board CASE...|all
 *
 * Uploads and readbacks that a GPU sees: each case uploads, lets the GPU read
 * what was uploaded (it draws with it, samples it or copies it), and compares
 * every byte that comes back. Status 2 if one differs, 1 if a case cannot be run.
 *
 * It prints a line of JSON for each case: "ok", and the calls that the driver made
 * meanwhile (glcount.h). "kernel" is what the kernel driver counted itself in
 * debugfs: steps of PREAD, PWRITE and TRANSFER, or null if it has no such counter.
 *
 * If the environment variable GL_BOARD_RENDERER is set, GL_RENDERER must contain it,
 * so that no other driver is tested by mistake.
 */

#include "glcount.h"
#include "gltest.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIDE 64 /* side of the framebuffer, in pixels */
#define N 300   /* objects */
#define GLYPH 16
#define ATLAS 256

static uint8_t pixels[SIDE * SIDE * 4];
static GLuint names[N];
static GLuint colour_program, texture_program, uniform_program;
static unsigned wrong;

static bool same(const void *got, const void *want, unsigned size, const char *what, unsigned i)
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

static GLuint program(const char *vs, const char *fs)
{
	return link_program(compile(GL_VERTEX_SHADER, vs), compile(GL_FRAGMENT_SHADER, fs), NULL);
}

static void setup(void)
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

static void clear(void)
{
	glClearColor(0, 0, 0, 0);
	glClear(GL_COLOR_BUFFER_BIT);
}

/* A square of 2x2 pixels in its place, of the given colour, as six vertices. */
struct vertex {
	float position[2];
	uint8_t colour[4];
};
#define PER_ROW (SIDE / 2)

static void square(struct vertex v[6], unsigned place, uint32_t seed)
{
	static const uint8_t corner[6][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 0, 1 }, { 1, 0 }, { 1, 1 } };

	for (int i = 0; i < 6; i++) {
		v[i].position[0] = (place % PER_ROW + corner[i][0]) * 2.0f * 2 / SIDE - 1;
		v[i].position[1] = (place / PER_ROW + corner[i][1]) * 2.0f * 2 / SIDE - 1;
		fill(v[i].colour, 4, seed);
	}
}

static void draw_square(GLuint vbo)
{
	glBindBuffer(GL_ARRAY_BUFFER, vbo);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, sizeof(struct vertex), (void *)0);
	glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, sizeof(struct vertex), (void *)8);
	glDrawArrays(GL_TRIANGLES, 0, 6);
}

static void begin_squares(void)
{
	glUseProgram(colour_program);
	glEnableVertexAttribArray(0);
	glEnableVertexAttribArray(1);
	clear();
}

/* Compares the squares with what was uploaded: square i has the colour of seed(i). */
static void check_squares(unsigned n, uint32_t (*seed)(unsigned i), const char *what)
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

static uint32_t plain(unsigned i) { return i + 1; }
static uint32_t later(unsigned i) { return i + 5001; }

/* Small vertex buffers: drawn with, written again and drawn elsewhere while the first
 * draw is not submitted, read back, and copied by the GPU.
 */
static void vbo(void)
{
	struct vertex v[6], got[6];
	GLuint all;

	begin_squares();
	glGenBuffers(N, names);
	for (unsigned i = 0; i < N; i++) {
		square(v, i, plain(i));
		glBindBuffer(GL_ARRAY_BUFFER, names[i]);
		glBufferData(GL_ARRAY_BUFFER, sizeof(v), NULL, GL_DYNAMIC_DRAW);
		glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof(v) / 2, v);
		glBufferSubData(GL_ARRAY_BUFFER, sizeof(v) / 2, sizeof(v) / 2, v + 3);
		draw_square(names[i]);
	}
	check_squares(N, plain, "square");

	/* All of a buffer, then a part of it, while a draw that uses it is pending. */
	clear();
	for (unsigned i = 0; i < N; i++) {
		square(v, i, later(i));
		glBindBuffer(GL_ARRAY_BUFFER, names[i]);
		glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof(v), v);
		draw_square(names[i]);
		square(v, PER_ROW * PER_ROW - 1, 1);
		if (i % 2)
			glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof(v), v);
		else
			for (int k = 0; k < 6; k++)
				glBufferSubData(GL_ARRAY_BUFFER, k * sizeof(*v), sizeof(*v), &v[k]);
		draw_square(names[i]);
		if (i % 50 == 49)
			glFlush();
	}
	check_squares(N, later, "busy square");

	glGenBuffers(1, &all);
	glBindBuffer(GL_COPY_WRITE_BUFFER, all);
	glBufferData(GL_COPY_WRITE_BUFFER, N * sizeof(v), NULL, GL_STATIC_DRAW);
	for (unsigned i = 0; i < N; i++) {
		square(v, i, later(i));
		glBindBuffer(GL_COPY_READ_BUFFER, names[i]);
		glBufferSubData(GL_COPY_READ_BUFFER, 0, sizeof(v), v);
		glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, i * sizeof(v), sizeof(v));
	}
	for (unsigned i = 0; i < N; i++) {
		square(v, i, later(i));
		glBindBuffer(GL_COPY_READ_BUFFER, names[i]);
		glGetBufferSubData(GL_COPY_READ_BUFFER, 0, sizeof(v), got);
		same(got, v, sizeof(v), "buffer", i);
		glGetBufferSubData(GL_COPY_WRITE_BUFFER, i * sizeof(v), sizeof(v), got);
		same(got, v, sizeof(v), "copy of buffer", i);
	}
	glDeleteBuffers(1, &all);
	glDeleteBuffers(N, names);
	glBindBuffer(GL_ARRAY_BUFFER, 0);
}

/* Draws the bound texture of w x h texels to as many pixels, and reads them. */
static void draw_texture(unsigned w, unsigned h)
{
	static const float strip[8] = { -1, -1, 1, -1, -1, 1, 1, 1 };

	glUseProgram(texture_program);
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	glEnableVertexAttribArray(0);
	glDisableVertexAttribArray(1);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, strip);
	glViewport(0, 0, w, h);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
	glReadPixels(0, 0, w, h, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	glViewport(0, 0, SIDE, SIDE);
}

static void nearest(void)
{
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

/* A texture for each glyph. All are read back, some are drawn. */
static void glyph_own(void)
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
static void glyph_atlas(void)
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
static void textures(void)
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
static void mipmaps(void)
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

/* Pixel buffer objects, mapped to write and to read, and flushed in parts. */
static void pbo(void)
{
	const unsigned size = GLYPH * GLYPH * 4;
	uint8_t data[GLYPH * GLYPH * 4];
	GLuint texture, back;

	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	nearest();
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, GLYPH, GLYPH, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	glGenBuffers(N, names);
	glGenBuffers(1, &back);
	for (unsigned i = 0; i < N; i++) {
		uint8_t *map;

		fill(data, size, i);
		glBindBuffer(GL_PIXEL_UNPACK_BUFFER, names[i]);
		glBufferData(GL_PIXEL_UNPACK_BUFFER, size, NULL, GL_STREAM_DRAW);
		if (i % 3 == 0) {
			map = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, size, GL_MAP_WRITE_BIT |
					       GL_MAP_INVALIDATE_BUFFER_BIT);
			memcpy(map, data, size);
		} else if (i % 3 == 1) {
			map = glMapBuffer(GL_PIXEL_UNPACK_BUFFER, GL_WRITE_ONLY);
			memcpy(map, data, size);
		} else {
			/* What is not flushed keeps its contents. */
			glBufferSubData(GL_PIXEL_UNPACK_BUFFER, 0, size / 2, data);
			map = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, size / 4, size - size / 4, GL_MAP_WRITE_BIT |
					       GL_MAP_FLUSH_EXPLICIT_BIT);
			memcpy(map + size / 4, data + size / 2, size / 2);
			glFlushMappedBufferRange(GL_PIXEL_UNPACK_BUFFER, size / 4, size / 2);
		}
		glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
		if (i % 10)
			continue;
		glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, GLYPH, GLYPH, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
		glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
		clear();
		draw_texture(GLYPH, GLYPH);
		same(pixels, data, size, "drawn from buffer object", i);

		glBindBuffer(GL_PIXEL_PACK_BUFFER, back);
		glBufferData(GL_PIXEL_PACK_BUFFER, size, NULL, GL_STREAM_READ);
		glReadPixels(0, 0, GLYPH, GLYPH, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
		map = glMapBuffer(GL_PIXEL_PACK_BUFFER, GL_READ_ONLY);
		same(map, data, size, "read into buffer object", i);
		glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
		glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
	}
	glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
	for (unsigned i = 0; i < N; i++) {
		uint8_t got[sizeof(data)];

		fill(data, size, i);
		glBindBuffer(GL_COPY_READ_BUFFER, names[i]);
		glGetBufferSubData(GL_COPY_READ_BUFFER, 0, size, got);
		same(got, data, size, "buffer object", i);
	}
	glDeleteBuffers(N, names);
	glDeleteBuffers(1, &back);
	glDeleteTextures(1, &texture);
}

/* Rectangles of pixels that were drawn a moment ago. */
static void readpixels(void)
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

/* Queries of the samples of squares that pass; results are read at once, and late. */
static void queries(void)
{
	struct vertex v[6];
	GLuint buffer;

	begin_squares();
	glGenBuffers(1, &buffer);
	glGenQueries(N, names);
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glBufferData(GL_ARRAY_BUFFER, sizeof(v), NULL, GL_DYNAMIC_DRAW);
	for (unsigned i = 0; i < N; i++) {
		GLuint samples = 0;

		square(v, i, i);
		glBindBuffer(GL_ARRAY_BUFFER, buffer);
		glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof(v), v);
		glBeginQuery(GL_SAMPLES_PASSED, names[i]);
		for (unsigned k = 0; k < i % 4; k++)
			draw_square(buffer);
		glEndQuery(GL_SAMPLES_PASSED);
		if (i % 32 == 0) {
			GLuint want = i % 4 * 4;

			glGetQueryObjectuiv(names[i], GL_QUERY_RESULT, &samples);
			same(&samples, &want, sizeof(want), "query at once", i);
		}
	}
	for (unsigned i = 0; i < N; i++) {
		GLuint samples = ~0u, want = i % 4 * 4;

		glGetQueryObjectuiv(names[i], GL_QUERY_RESULT, &samples);
		same(&samples, &want, sizeof(want), "query", i);
	}
	glDeleteQueries(N, names);
	glDeleteBuffers(1, &buffer);
}

/* Constants, which the driver uploads for each draw. */
static void uniforms(void)
{
	struct vertex v[6];
	GLuint buffer;
	GLint at;

	glGenBuffers(1, &buffer);
	begin_squares();
	glUseProgram(uniform_program);
	at = glGetUniformLocation(uniform_program, "c");
	glDisableVertexAttribArray(1);
	for (unsigned i = 0; i < N; i++) {
		uint8_t c[4];

		fill(c, 4, plain(i));
		square(v, i, 0);
		glBindBuffer(GL_ARRAY_BUFFER, buffer);
		glBufferData(GL_ARRAY_BUFFER, sizeof(v), v, GL_STREAM_DRAW);
		glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, sizeof(struct vertex), (void *)0);
		glUniform4f(at, c[0] / 255.0f, c[1] / 255.0f, c[2] / 255.0f, c[3] / 255.0f);
		glDrawArrays(GL_TRIANGLES, 0, 6);
	}
	check_squares(N, plain, "uniform");
	glDeleteBuffers(1, &buffer);
}

/* Persistent mappings, written again after the GPU has drawn from them. */
/* Small objects share BOs, so the GPU has to get the address of each: uniform buffers, index buffers
 * and targets of drawing, all written before the first of them is used. */
static void small(void)
{
	static const unsigned targets = 32;
	GLuint ubos[64], indices[64], textures[32], buffer, fbo, old_fbo;
	GLint old;
	GLuint block = program("attribute vec2 position; void main() { gl_Position = vec4(position, 0.0, 1.0); }",
			       "#version 130\n#extension GL_ARB_uniform_buffer_object : require\n"
			       "uniform b { vec4 c; }; void main() { gl_FragColor = c; }");
	struct vertex v[6 * 64];

	glGenBuffers(64, ubos);
	glGenBuffers(64, indices);
	glGenBuffers(1, &buffer);
	for (unsigned i = 0; i < 64; i++) {
		uint16_t index[6];
		uint8_t c[4];
		float colour[4];

		fill(c, 4, plain(i));
		for (unsigned j = 0; j < 4; j++)
			colour[j] = c[j] / 255.0f;
		glBindBuffer(GL_UNIFORM_BUFFER, ubos[i]);
		glBufferData(GL_UNIFORM_BUFFER, sizeof(colour), colour, GL_STATIC_DRAW);
		square(v + 6 * i, i, 0);
		for (unsigned j = 0; j < 6; j++)
			index[j] = 6 * i + j;
		glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, indices[i]);
		glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof(index), index, GL_STATIC_DRAW);
	}
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glBufferData(GL_ARRAY_BUFFER, sizeof(v), v, GL_STATIC_DRAW);

	begin_squares();
	glUseProgram(block);
	glDisableVertexAttribArray(1);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, sizeof(struct vertex), (void *)0);
	for (unsigned i = 0; i < 64; i++) {
		glBindBufferBase(GL_UNIFORM_BUFFER, 0, ubos[i]);
		glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, indices[i]);
		glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_SHORT, NULL);
	}
	check_squares(64, plain, "uniform and index buffer");
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);

	glGetIntegerv(GL_FRAMEBUFFER_BINDING, &old);
	old_fbo = old;
	glGenFramebuffers(1, &fbo);
	glBindFramebuffer(GL_FRAMEBUFFER, fbo);
	glGenTextures(targets, textures);
	for (unsigned i = 0; i < targets; i++) {
		uint8_t c[4];

		fill(c, 4, later(i));
		glBindTexture(GL_TEXTURE_2D, textures[i]);
		glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[i], 0);
		glClearColor(c[0] / 255.0f, c[1] / 255.0f, c[2] / 255.0f, c[3] / 255.0f);
		glClear(GL_COLOR_BUFFER_BIT);
	}
	for (unsigned i = 0; i < targets; i++) {
		uint8_t got[8 * 8 * 4], want[8 * 8 * 4];

		fill(want, 4, later(i));
		for (unsigned j = 4; j < sizeof(want); j++)
			want[j] = want[j % 4];
		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[i], 0);
		glReadPixels(0, 0, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE, got);
		same(got, want, sizeof(got), "small target", i);
	}
	glBindFramebuffer(GL_FRAMEBUFFER, old_fbo);
	for (unsigned i = 0; i < targets; i++) {
		uint8_t want[4];

		fill(want, 4, later(i));
		glBindTexture(GL_TEXTURE_2D, textures[i]);
		draw_texture(8, 8);
		same(pixels, want, 4, "sampled small target", i);
	}
	glDeleteTextures(targets, textures);
	glDeleteBuffers(64, ubos);
	glDeleteBuffers(64, indices);
	glDeleteBuffers(1, &buffer);
	glDeleteProgram(block);
}

static void persistent(void)
{
	GLuint buffers[8];
	struct vertex *map[8];

	begin_squares();
	glGenBuffers(8, buffers);
	for (unsigned i = 0; i < 8; i++) {
		GLbitfield flags = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;

		glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
		glBufferStorage(GL_ARRAY_BUFFER, sizeof(**map) * 6, NULL, flags);
		map[i] = glMapBufferRange(GL_ARRAY_BUFFER, 0, sizeof(**map) * 6, flags);
		if (!map[i])
			die("a persistent mapping fails");
	}
	for (unsigned i = 0; i < 64; i++) {
		square(map[i % 8], i, plain(i));
		draw_square(buffers[i % 8]);
		if (i % 8 == 7)
			glFinish();
	}
	check_squares(64, plain, "persistent");
	glDeleteBuffers(8, buffers);
}

/* A cube map and a texture with the same parameters, for which the driver has one state
 * object. Coordinates beyond the edge show whether the texture still clamps to it.
 */
static void samplers(void)
{
	static const float strip[8] = { -1, -1, 1, -1, -1, 1, 1, 1 };
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
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	glEnableVertexAttribArray(0);
	glDisableVertexAttribArray(1);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, strip);
	/* The texture before the cube map has been used, and after, several times in turn. */
	for (unsigned round = 0; round < 6; round++) {
		clear();
		glUseProgram(programs[round % 2]);
		glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
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

#define POINTS 64

/* Records what the vertex shader makes of numbers from the seed on into the bound buffer. */
static void record(float seed, float want[POINTS][4])
{
	float in[POINTS][2];

	for (unsigned i = 0; i < POINTS; i++) {
		in[i][0] = seed + i;
		in[i][1] = seed - i;
		want[i][0] = in[i][0] * 2;
		want[i][1] = in[i][1] * 2;
		want[i][2] = 3;
		want[i][3] = 4;
	}
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, in);
	glBeginTransformFeedback(GL_POINTS);
	glDrawArrays(GL_POINTS, 0, POINTS);
	glEndTransformFeedback();
}

/* Buffers that only stream-out writes, which the CPU then reads and writes, with and without
 * a submission before. In the later rounds the contents are invalidated while the buffer stays
 * bound.
 */
static void stream_out(void)
{
	const unsigned target = GL_TRANSFORM_FEEDBACK_BUFFER, size = POINTS * 4 * sizeof(float);
	float want[POINTS][4], got[POINTS][4];
	GLuint recorder, buffer = 0;

	recorder = link_program(compile(GL_VERTEX_SHADER,
					"attribute vec2 position; varying vec4 r;"
					"void main() { r = vec4(position * 2.0, 3.0, 4.0); gl_Position = r; }"),
				compile(GL_FRAGMENT_SHADER, "void main() { gl_FragColor = vec4(1.0); }"), "r");
	glUseProgram(recorder);
	glEnable(GL_RASTERIZER_DISCARD);
	glEnableVertexAttribArray(0);
	glDisableVertexAttribArray(1);
	for (unsigned i = 0; i < 48; i++) {
		bool anew = i % 3 == 0, flush = i / 3 % 2;
		unsigned access = i / 6 % 4;
		float *map;

		if (anew) {
			glDeleteBuffers(1, &buffer);
			glGenBuffers(1, &buffer);
			glBindBufferBase(target, 0, buffer);
			glBufferData(target, size, NULL, GL_DYNAMIC_COPY);
		} else if (i % 3 == 1) {
			glInvalidateBufferData(buffer);
		} else {
			map = glMapBufferRange(target, 0, 16, GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT |
					       GL_MAP_FLUSH_EXPLICIT_BIT);
			glUnmapBuffer(target);
		}
		record(i * 1000, want);
		if (flush)
			glFlush();
		switch (access) {
		case 0:
			map = glMapBufferRange(target, 0, size, GL_MAP_READ_BIT | GL_MAP_WRITE_BIT);
			same(map, want, size, "stream-out, mapped", i);
			map[5] = want[1][1] = -1;
			glUnmapBuffer(target);
			break;
		case 1: /* only what is flushed may change */
			map = glMapBufferRange(target, 0, size, GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT);
			map[6] = want[1][2] = -2;
			glFlushMappedBufferRange(target, 6 * sizeof(float), sizeof(float));
			glUnmapBuffer(target);
			break;
		case 2: /* what is not touched keeps its contents */
			map = glMapBufferRange(target, 16, 32, GL_MAP_WRITE_BIT);
			map[0] = want[1][0] = -3;
			glUnmapBuffer(target);
			break;
		case 3:
			want[2][2] = -4;
			glBufferSubData(target, 40, sizeof(float), &want[2][2]);
			break;
		}
		memset(got, 0, size);
		glGetBufferSubData(target, 0, size, got);
		same(got, want, size, "stream-out", i);
	}
	glDisable(GL_RASTERIZER_DISCARD);
	glDeleteBuffers(1, &buffer);
	glDeleteProgram(recorder);
}

/* Textures that are shared as dma-bufs: what is uploaded into one is sampled from the other,
 * by another context.
 */
static void dma_buf(void)
{
	PFNEGLCREATEIMAGEKHRPROC create_image = (void *)eglGetProcAddress("eglCreateImageKHR");
	PFNEGLDESTROYIMAGEKHRPROC destroy_image = (void *)eglGetProcAddress("eglDestroyImageKHR");
	PFNEGLEXPORTDMABUFIMAGEQUERYMESAPROC query = (void *)eglGetProcAddress("eglExportDMABUFImageQueryMESA");
	PFNEGLEXPORTDMABUFIMAGEMESAPROC export = (void *)eglGetProcAddress("eglExportDMABUFImageMESA");
	void (*target_image)(GLenum, EGLImageKHR) = (void *)eglGetProcAddress("glEGLImageTargetTexture2DOES");
	EGLContext first = eglGetCurrentContext(), second;
	uint8_t data[SIDE * SIDE * 4];
	GLuint ours, theirs;
	int fourcc, planes, fd, stride, offset;
	EGLImageKHR image;

	glGenTextures(1, &ours);
	glBindTexture(GL_TEXTURE_2D, ours);
	nearest();
	/* It is bound and has contents when it gets a BO that can be exported. */
	fill(data, sizeof(data), 4711);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, data);
	draw_texture(SIDE, SIDE);
	same(pixels, data, sizeof(data), "texture before it is shared", 0);
	image = create_image(context_display(), first, EGL_GL_TEXTURE_2D_KHR, (EGLClientBuffer)(uintptr_t)ours, NULL);
	if (!image || !query(context_display(), image, &fourcc, &planes, NULL) || planes != 1 ||
	    !export(context_display(), image, &fd, &stride, &offset))
		die("a texture cannot be exported (0x%x)", eglGetError());

	second = context_create(EGL_NO_CONTEXT);
	setup();

	const EGLint attribs[] = {
		EGL_WIDTH, SIDE, EGL_HEIGHT, SIDE, EGL_LINUX_DRM_FOURCC_EXT, fourcc, EGL_DMA_BUF_PLANE0_FD_EXT, fd,
		EGL_DMA_BUF_PLANE0_OFFSET_EXT, offset, EGL_DMA_BUF_PLANE0_PITCH_EXT, stride, EGL_NONE
	};
	EGLImageKHR import = create_image(context_display(), EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, NULL, attribs);

	if (!import)
		die("a dma-buf cannot be imported (0x%x)", eglGetError());
	glGenTextures(1, &theirs);
	glBindTexture(GL_TEXTURE_2D, theirs);
	target_image(GL_TEXTURE_2D, import);
	nearest();
	no_error("importing a dma-buf");
	draw_texture(SIDE, SIDE);
	same(pixels, data, sizeof(data), "texture when it is shared", 0);
	/* The first context has not bound it again since. */
	context_current(first);
	fill(data, sizeof(data), 4712);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, data);
	draw_texture(SIDE, SIDE);
	same(pixels, data, sizeof(data), "bound texture after it is shared", 0);

	for (unsigned i = 0; i < 40; i++) {
		/* Each context uploads a part in turn; what is sampled in the other has both. */
		unsigned y = i * 7 % SIDE, h = i % 5 + 1 < SIDE - y ? i % 5 + 1 : SIDE - y;

		context_current(i % 2 ? second : first);
		glBindTexture(GL_TEXTURE_2D, i % 2 ? theirs : ours);
		if (!i) {
			fill(data, sizeof(data), 0);
			glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, data);
		} else {
			fill(data + y * SIDE * 4, h * SIDE * 4, i);
			glTexSubImage2D(GL_TEXTURE_2D, 0, 0, y, SIDE, h, GL_RGBA, GL_UNSIGNED_BYTE, data + y * SIDE * 4);
		}
		glFinish();
		context_current(i % 2 ? first : second);
		glBindTexture(GL_TEXTURE_2D, i % 2 ? ours : theirs);
		clear();
		draw_texture(SIDE, SIDE);
		same(pixels, data, sizeof(data), "shared texture", i);
	}
	no_error("sharing");
	glDeleteTextures(1, &theirs);
	destroy_image(context_display(), import);
	context_destroy(second);
	context_current(first);
	glDeleteTextures(1, &ours);
	destroy_image(context_display(), image);
	close(fd);
	/* Programs have names of the context in which they were made. */
	setup();
}

/* Steps that the kernel driver counted for its ioctls; -1: it does not count. */
static long kernel_count(void)
{
	long sum = 0, n, bytes;
	char line[200], name[100];
	glob_t found;
	FILE *f;

	if (glob("/sys/kernel/debug/dri/*/radeon_gem_rw", 0, NULL, &found))
		return -1;
	f = fopen(found.gl_pathv[0], "r");
	globfree(&found);
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		/* A path has steps and bytes, an event just a number. Clearing is for no ioctl. */
		if (sscanf(line, "%99s %ld %ld", name, &n, &bytes) == 3 && strncmp(name, "clear_", 6))
			sum += n;
	fclose(f);
	return sum;
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "vbo", vbo },		  { "glyph-own", glyph_own },	{ "glyph-atlas", glyph_atlas },
	{ "textures", textures }, { "mipmaps", mipmaps },	{ "pbo", pbo },
	{ "readpixels", readpixels }, { "queries", queries },	{ "uniforms", uniforms },
	{ "persistent", persistent }, { "samplers", samplers },	{ "stream-out", stream_out },
	{ "dma-buf", dma_buf },	  { "small", small },
};

int main(int argc, char **argv)
{
	const char *renderer = getenv("GL_BOARD_RENDERER");
	unsigned all_wrong = 0;

	if (argc < 2)
		die("usage: gl-board CASE...|all");
	context_create(EGL_NO_CONTEXT);
	fprintf(stderr, "%s, %s\n", glGetString(GL_RENDERER), glGetString(GL_VERSION));
	if (renderer && !strstr((const char *)glGetString(GL_RENDERER), renderer))
		die("this is not %s", renderer);
	setup();
	for (int a = 1; a < argc; a++) {
		bool any = false;

		for (unsigned c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
			if (strcmp(argv[a], "all") && strcmp(argv[a], cases[c].name))
				continue;
			any = true;

			struct gl_counts before = gl_counts();
			long kernel = kernel_count();
			char counted[30] = "null";

			wrong = 0;
			cases[c].run();
			no_error(cases[c].name);

			struct gl_counts after = gl_counts();

			if (kernel >= 0)
				snprintf(counted, sizeof(counted), "%ld", kernel_count() - kernel);
			printf("{\"case\": \"%s\", \"ok\": %s, \"maps\": %lu, \"ioctls\": %lu, \"pwrites\": %lu, "
			       "\"preads\": %lu, \"transfers\": %lu, \"submissions\": %lu, \"kernel\": %s}\n",
			       cases[c].name, wrong ? "false" : "true", after.maps - before.maps,
			       after.ioctls - before.ioctls, after.pwrites - before.pwrites,
			       after.preads - before.preads, after.transfers - before.transfers,
			       after.submissions - before.submissions, counted);
			fflush(stdout);
			all_wrong += wrong;
		}
		if (!any)
			die("gl-board: there is no case \"%s\"", argv[a]);
	}
	return all_wrong ? 2 : 0;
}
