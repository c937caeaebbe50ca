/* SPDX-License-Identifier: MIT */
/* Cases of gl-board with buffers and queries. */
#include "board.h"

#include <stdlib.h>
#include <string.h>

/* Small vertex buffers: drawn with, written again and drawn elsewhere while the first
 * draw is not submitted, read back, and copied by the GPU.
 */
void vbo(void)
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

/* Pixel buffer objects, mapped to write and to read, and flushed in parts. */
void pbo(void)
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

/* Queries of the samples of squares that pass; results are read at once, and late. */
void queries(void)
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
void uniforms(void)
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

/* Small objects share BOs, so the GPU has to get the address of each: uniform buffers, index buffers
 * and targets of drawing, all written before the first of them is used. */
void small(void)
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

/* Persistent mappings, written again after the GPU has drawn from them. */
void persistent(void)
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
void stream_out(void)
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
