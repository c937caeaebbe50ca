/* SPDX-License-Identifier: MIT */
/* Cases of gl-board with objects whose addresses few draws and copies have: glstream.h tells
 * whether they were parts of slabs.
 */
#include "board.h"
#include "glstream.h"

#include <string.h>

#define CONTEXTS 6
#define COPIES 64
#define COPY_BYTES 256
/* Rows of 256 bytes in the texture and in staging memory, as R600's DMA ring demands. */
#define WIDTH 64
#define HEIGHT 16
#define TEXTURES 12

/* Each context has a buffer of its own for fetch shaders. All draw in turn. */
void contexts(void)
{
	EGLContext first = eglGetCurrentContext(), others[CONTEXTS];
	GLuint buffers[CONTEXTS];
	struct vertex v[6];

	for (unsigned c = 0; c < CONTEXTS; c++) {
		others[c] = context_create(EGL_NO_CONTEXT);
		setup();
		begin_squares();
		glGenBuffers(1, &buffers[c]);
	}
	for (unsigned i = 0; i < COPIES; i++) {
		for (unsigned c = 0; c < CONTEXTS; c++) {
			context_current(others[c]);
			square(v, i, plain(i + c));
			glBindBuffer(GL_ARRAY_BUFFER, buffers[c]);
			glBufferData(GL_ARRAY_BUFFER, sizeof(v), v, GL_STREAM_DRAW);
			draw_square(buffers[c]);
			/* Another layout of the vertices, so another fetch shader, draws over it. */
			if (i % 2) {
				glVertexAttribPointer(1, 3, GL_UNSIGNED_BYTE, GL_TRUE, sizeof(*v), (void *)8);
				glDrawArrays(GL_TRIANGLES, 0, 6);
			}
		}
	}
	for (unsigned c = 0; c < CONTEXTS; c++) {
		context_current(others[c]);
		glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
		for (unsigned i = 0; i < COPIES; i++) {
			uint8_t want[4];

			fill(want, 4, plain(i + c));
			/* Three components: alpha is 1. */
			if (i % 2)
				want[3] = 255;
			same(pixels + (i / PER_ROW * 2 * SIDE + i % PER_ROW * 2) * 4, want, 4, "square of a context",
			     c * 1000 + i);
		}
		no_error("contexts");
		context_destroy(others[c]);
	}
	context_current(first);
	setup();
}

/* Copies from buffer to buffer, and between tiled textures and staging memory. With
 * R600_DEBUG=forcedma the DMA ring makes all of them.
 */
void dma_copies(void)
{
	static uint8_t data[WIDTH * HEIGHT * 4], got[WIDTH * HEIGHT * 4];
	GLuint from[COPIES], to[COPIES], textures[TEXTURES];

	gl_streams_small = COPY_BYTES;
	glGenBuffers(COPIES, from);
	glGenBuffers(COPIES, to);
	for (unsigned i = 0; i < COPIES; i++) {
		fill(data, COPY_BYTES, plain(i));
		glBindBuffer(GL_COPY_READ_BUFFER, from[i]);
		glBufferData(GL_COPY_READ_BUFFER, COPY_BYTES, data, GL_STATIC_DRAW);
		glBindBuffer(GL_COPY_WRITE_BUFFER, to[i]);
		glBufferData(GL_COPY_WRITE_BUFFER, COPY_BYTES, NULL, GL_STATIC_DRAW);
	}
	for (unsigned i = 0; i < COPIES; i++) {
		glBindBuffer(GL_COPY_READ_BUFFER, from[i]);
		glBindBuffer(GL_COPY_WRITE_BUFFER, to[i]);
		glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, COPY_BYTES);
	}
	for (unsigned i = 0; i < COPIES; i++) {
		fill(data, COPY_BYTES, plain(i));
		glBindBuffer(GL_COPY_READ_BUFFER, to[i]);
		glGetBufferSubData(GL_COPY_READ_BUFFER, 0, COPY_BYTES, got);
		same(got, data, COPY_BYTES, "copied buffer", i);
		glBindBuffer(GL_COPY_READ_BUFFER, from[i]);
		glGetBufferSubData(GL_COPY_READ_BUFFER, 0, COPY_BYTES, got);
		same(got, data, COPY_BYTES, "buffer that was copied", i);
	}
	glDeleteBuffers(COPIES, from);
	glDeleteBuffers(COPIES, to);
	/* The last of these copies is submitted before the size counts that textures have. */
	glFinish();

	gl_streams_small = sizeof(data);
	glGenTextures(TEXTURES, textures);
	for (unsigned i = 0; i < TEXTURES; i++) {
		fill(data, sizeof(data), plain(i));
		rgba_texture(textures[i], WIDTH, HEIGHT, data);
		/* While the GPU uses them, no small texture is written by the CPU. */
		blit_texture(WIDTH, HEIGHT);
		fill(data, sizeof(data), later(i));
		glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, data);
	}
	for (unsigned i = 0; i < TEXTURES; i++) {
		fill(data, sizeof(data), later(i));
		glBindTexture(GL_TEXTURE_2D, textures[i]);
		clear();
		draw_texture(WIDTH, HEIGHT);
		same(pixels, data, sizeof(data), "drawn texture", i);
		memset(got, 0, sizeof(got));
		glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, got);
		same(got, data, sizeof(data), "texture", i);
	}
	glDeleteTextures(TEXTURES, textures);
	glFinish();
	gl_streams_small = UINT64_MAX;
}
