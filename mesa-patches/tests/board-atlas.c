/* SPDX-License-Identifier: MIT */
/* A case of gl-board with textures that are written in small boxes, which can wait for each other and share a draw.
 * Everything that can look at a texture, or write to it in another way, comes between.
 */
#include "board.h"
#include "glstream.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 4000
#define LARGE 512 /* side of the largest level: so large that Evergreen clears it fast */
#define LEVELS 3
#define BOX 64 /* largest side of a box */

/* The last one is so small that the CPU may write it itself. */
static const struct shape {
	GLenum target, internal, format;
	unsigned side, layers, levels, bytes;
} shapes[] = {
	{ GL_TEXTURE_2D, GL_RGBA8, GL_RGBA, LARGE / 2, 1, LEVELS, 4 },
	{ GL_TEXTURE_2D_ARRAY, GL_RGBA8, GL_RGBA, LARGE / 4, 3, 1, 4 },
	{ GL_TEXTURE_2D, GL_R8, GL_RED, LARGE, 1, 1, 1 },
	{ GL_TEXTURE_2D, GL_R8, GL_RED, LARGE / 4, 1, 1, 1 },
};
unsigned atlas_dropped;

#define TEXTURES (sizeof(shapes) / sizeof(*shapes))
/* Two that a copy from one to the other is possible between. */
#define COPY_FROM 0
#define COPY_TO 1

static struct texture {
	GLuint name;
	uint8_t model[LEVELS][LARGE * LARGE * 4];
} atlases[TEXTURES];

static GLuint fetch[2], fetch_at[2], fetch_level[2];
/* What the framebuffer has to show, once something has been drawn. */
static uint8_t shown[SIDE * SIDE * 4];
static bool is_shown;

static unsigned below(unsigned *seed, unsigned n) { return rand_r(seed) % n; }

static uint8_t *texel(unsigned t, unsigned level, unsigned layer, unsigned x, unsigned y)
{
	const struct shape *s = &shapes[t];
	const unsigned side = s->side >> level;

	return atlases[t].model[level] + ((layer * side + y) * side + x) * s->bytes;
}

static void create(unsigned t)
{
	const struct shape *s = &shapes[t];

	glGenTextures(1, &atlases[t].name);
	glBindTexture(s->target, atlases[t].name);
	glTexParameteri(s->target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	if (s->target == GL_TEXTURE_2D)
		glTexStorage2D(s->target, s->levels, s->internal, s->side, s->side);
	else
		glTexStorage3D(s->target, s->levels, s->internal, s->side, s->side, s->layers);
	for (unsigned level = 0; level < s->levels; level++) {
		const unsigned side = s->side >> level;

		fill(atlases[t].model[level], side * side * s->layers * s->bytes, t * 10 + level);
		if (s->target == GL_TEXTURE_2D)
			glTexSubImage2D(s->target, level, 0, 0, side, side, s->format, GL_UNSIGNED_BYTE,
					atlases[t].model[level]);
		else
			glTexSubImage3D(s->target, level, 0, 0, 0, side, side, s->layers, s->format, GL_UNSIGNED_BYTE,
					atlases[t].model[level]);
	}
}

/* Writes a box of the bound texture, of at most "most" texels a side, or of exactly so many if "exact". */
static void upload(unsigned t, unsigned most, bool exact, unsigned *seed)
{
	static uint8_t data[LARGE * LARGE * 4];
	const struct shape *s = &shapes[t];
	const unsigned level = below(seed, s->levels), side = s->side >> level, layer = below(seed, s->layers);
	const unsigned largest = most < side ? most : side;
	const unsigned w = exact ? largest : 1 + below(seed, largest), h = exact ? largest : 1 + below(seed, largest);
	const unsigned x = below(seed, side - w + 1), y = below(seed, side - h + 1);

	fill(data, w * h * s->bytes, rand_r(seed));
	for (unsigned r = 0; r < h; r++)
		memcpy(texel(t, level, layer, x, y + r), data + r * w * s->bytes, w * s->bytes);
	if (s->target == GL_TEXTURE_2D)
		glTexSubImage2D(s->target, level, x, y, w, h, s->format, GL_UNSIGNED_BYTE, data);
	else
		glTexSubImage3D(s->target, level, x, y, layer, w, h, 1, s->format, GL_UNSIGNED_BYTE, data);
}

/* Compares the framebuffer with what was to be drawn, which may have been long ago. */
static void check_shown(unsigned step)
{
	if (!is_shown)
		return;
	glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	same(pixels, shown, sizeof(shown), "what was drawn of an atlas before step", step);
	is_shown = false;
}

/* Draws texels of a level to all of the framebuffer. */
static void draw_texels(unsigned t, unsigned *seed)
{
	const struct shape *s = &shapes[t];
	const bool array = s->target != GL_TEXTURE_2D;
	const unsigned level = below(seed, s->levels), side = s->side >> level, layer = below(seed, s->layers);
	const unsigned x = below(seed, side - SIDE + 1), y = below(seed, side - SIDE + 1);

	glUseProgram(fetch[array]);
	glUniform3i(fetch_at[array], x, y, layer);
	glUniform1i(fetch_level[array], level);
	draw_corners(GL_TRIANGLE_STRIP);

	for (unsigned r = 0; r < SIDE; r++)
		for (unsigned c = 0; c < SIDE; c++) {
			uint8_t *to = shown + (r * SIDE + c) * 4;
			const uint8_t *from = texel(t, level, layer, x + c, y + r);

			/* A texture of one component has no others but alpha, which is 1. */
			memcpy(to, (uint8_t[4]){ 0, 0, 0, 255 }, 4);
			memcpy(to, from, s->bytes);
		}
	is_shown = true;
}

/* Copies a part of the framebuffer to the bound texture, by a draw. */
static void copy_shown(unsigned t, unsigned *seed)
{
	const struct shape *s = &shapes[t];
	const unsigned w = 1 + below(seed, BOX), h = 1 + below(seed, BOX);
	const unsigned x = below(seed, SIDE - w + 1), y = below(seed, SIDE - h + 1);
	const unsigned to_x = below(seed, s->side - w + 1), to_y = below(seed, s->side - h + 1);

	if (!is_shown || s->target != GL_TEXTURE_2D)
		return;
	glCopyTexSubImage2D(s->target, 0, to_x, to_y, x, y, w, h);
	for (unsigned r = 0; r < h; r++)
		for (unsigned c = 0; c < w; c++)
			memcpy(texel(t, 0, 0, to_x + c, to_y + r), shown + ((y + r) * SIDE + x + c) * 4, s->bytes);
}

/* Makes a framebuffer of a layer of the largest level, and binds it to the target. */
static GLuint framebuffer_of(GLenum target, unsigned t, unsigned layer)
{
	GLuint framebuffer;

	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(target, framebuffer);
	if (shapes[t].target == GL_TEXTURE_2D)
		glFramebufferTexture2D(target, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, atlases[t].name, 0);
	else
		glFramebufferTextureLayer(target, GL_COLOR_ATTACHMENT0, atlases[t].name, 0, layer);
	return framebuffer;
}

/* Copies from one texture to a layer of another. */
static void copy_texture(unsigned *seed)
{
	const unsigned w = 1 + below(seed, BOX), h = 1 + below(seed, BOX), layer = below(seed, shapes[COPY_TO].layers);
	const unsigned x = below(seed, shapes[COPY_FROM].side - w + 1), y = below(seed, shapes[COPY_FROM].side - h + 1);
	const unsigned to_x = below(seed, shapes[COPY_TO].side - w + 1);
	const unsigned to_y = below(seed, shapes[COPY_TO].side - h + 1);
	GLuint framebuffers[2];
	GLint bound;

	glGetIntegerv(GL_FRAMEBUFFER_BINDING, &bound);
	framebuffers[0] = framebuffer_of(GL_READ_FRAMEBUFFER, COPY_FROM, 0);
	framebuffers[1] = framebuffer_of(GL_DRAW_FRAMEBUFFER, COPY_TO, layer);
	glBlitFramebuffer(x, y, x + w, y + h, to_x, to_y, to_x + w, to_y + h, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	glBindFramebuffer(GL_FRAMEBUFFER, bound);
	glDeleteFramebuffers(2, framebuffers);
	for (unsigned r = 0; r < h; r++)
		memcpy(texel(COPY_TO, 0, layer, to_x, to_y + r), texel(COPY_FROM, 0, 0, x, y + r), w * 4);
}

/* Clears a level or a rectangle of it, as a render target. */
static void clear_box(unsigned t, unsigned *seed)
{
	const struct shape *s = &shapes[t];
	const bool all = !below(seed, 4);
	const unsigned w = all ? s->side : 1 + below(seed, BOX), h = all ? s->side : 1 + below(seed, BOX);
	const unsigned x = below(seed, s->side - w + 1), y = below(seed, s->side - h + 1);
	const uint8_t value[4] = { 255, 0, 255, 0 };
	GLuint framebuffer;
	GLint bound;

	if (s->target != GL_TEXTURE_2D)
		return;
	glGetIntegerv(GL_FRAMEBUFFER_BINDING, &bound);
	framebuffer = framebuffer_of(GL_FRAMEBUFFER, t, 0);
	if (!all)
		glEnable(GL_SCISSOR_TEST);
	glScissor(x, y, w, h);
	glClearColor(1, 0, 1, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	glDisable(GL_SCISSOR_TEST);
	glBindFramebuffer(GL_FRAMEBUFFER, bound);
	glDeleteFramebuffers(1, &framebuffer);
	for (unsigned r = 0; r < h; r++)
		for (unsigned c = 0; c < w; c++)
			memcpy(texel(t, 0, 0, x + c, y + r), value, s->bytes);
}

static void read_back(unsigned t, unsigned level, unsigned step)
{
	static uint8_t got[LARGE * LARGE * 4];
	const struct shape *s = &shapes[t];
	const unsigned side = s->side >> level;

	glBindTexture(s->target, atlases[t].name);
	memset(got, 0, sizeof(got));
	glGetTexImage(s->target, level, s->format, GL_UNSIGNED_BYTE, got);
	same(got, atlases[t].model[level], side * side * s->layers * s->bytes, "atlas at step", step);
}

/* Reads a box of a level, as a render target: it can be so small that Mesa reads the texture where it is. */
static void read_box(unsigned t, unsigned *seed, unsigned step)
{
	const struct shape *s = &shapes[t];
	const unsigned w = 1 + below(seed, BOX / 4), h = 1 + below(seed, BOX / 4), layer = below(seed, s->layers);
	const unsigned x = below(seed, s->side - w + 1), y = below(seed, s->side - h + 1);
	uint8_t got[BOX / 4 * BOX / 4 * 4];
	GLuint framebuffer;
	GLint bound;

	glGetIntegerv(GL_FRAMEBUFFER_BINDING, &bound);
	framebuffer = framebuffer_of(GL_FRAMEBUFFER, t, layer);
	memset(got, 0, sizeof(got));
	glReadPixels(x, y, w, h, s->format, GL_UNSIGNED_BYTE, got);
	for (unsigned r = 0; r < h; r++)
		same(got + r * w * s->bytes, texel(t, 0, layer, x, y + r), w * s->bytes, "box of an atlas at step", step);
	glBindFramebuffer(GL_FRAMEBUFFER, bound);
	glDeleteFramebuffers(1, &framebuffer);
}

/* Has the GPU do all that has been recorded, by waiting for a copy between buffers: it uses no texture then,
 * although copies to one can still wait to be recorded.
 */
static void wait_for_buffer(GLuint *buffers, unsigned step)
{
	uint32_t got = 0;

	glBindBuffer(GL_COPY_READ_BUFFER, buffers[0]);
	glBindBuffer(GL_COPY_WRITE_BUFFER, buffers[1]);
	glBufferData(GL_COPY_READ_BUFFER, sizeof(step), &step, GL_STREAM_DRAW);
	glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, sizeof(step));
	glGetBufferSubData(GL_COPY_WRITE_BUFFER, 0, sizeof(got), &got);
	same(&got, &step, sizeof(got), "buffer at step", step);
}

/* Another context of the share group reads what this one has written and submitted. */
static void read_elsewhere(unsigned t, EGLContext first, EGLContext other, unsigned step)
{
	glFinish();
	context_current(other);
	read_back(t, 0, step);
	context_current(first);
	glBindTexture(shapes[t].target, atlases[t].name);
}

/* Copies to a texture that is deleted before it is used. Counts those that were not drawn. */
static void deleted(unsigned *seed)
{
	for (unsigned i = 0; i < 10; i++) {
		const struct shape *s = &shapes[0];
		struct gl_streams created;
		uint8_t data[BOX * 4];
		GLuint name;

		glGenTextures(1, &name);
		glBindTexture(s->target, name);
		glTexStorage2D(s->target, s->levels, s->internal, s->side, s->side);
		glFinish();
		created = gl_streams();
		fill(data, sizeof(data), rand_r(seed));
		glTexSubImage2D(s->target, 0, 7, 9, BOX, 1, s->format, GL_UNSIGNED_BYTE, data);
		glDeleteTextures(1, &name);
		glFinish();
		atlas_dropped += gl_streams().draws == created.draws;
	}
}

void atlas(void)
{
	EGLContext first = eglGetCurrentContext(), other;
	GLuint buffers[2];
	unsigned seed = 5;

	for (unsigned a = 0; a < 2; a++) {
		fetch[a] = program("#version 130\nin vec2 position; void main() { gl_Position = vec4(position, 0.0, 1.0); }",
				   a ? "#version 130\nuniform sampler2DArray s; uniform ivec3 at; uniform int level;"
				       "void main() { gl_FragColor = texelFetch(s, ivec3(gl_FragCoord.xy, 0) + at, level); }"
				     : "#version 130\nuniform sampler2D s; uniform ivec3 at; uniform int level;"
				       "void main() { gl_FragColor = texelFetch(s, ivec2(gl_FragCoord.xy) + at.xy, level); }");
		fetch_at[a] = glGetUniformLocation(fetch[a], "at");
		fetch_level[a] = glGetUniformLocation(fetch[a], "level");
	}
	other = context_create(first);
	glPixelStorei(GL_PACK_ALIGNMENT, 1);
	context_current(first);
	is_shown = false;
	glGenBuffers(2, buffers);
	glBindBuffer(GL_COPY_WRITE_BUFFER, buffers[1]);
	glBufferData(GL_COPY_WRITE_BUFFER, sizeof(unsigned), NULL, GL_STREAM_READ);
	for (unsigned t = 0; t < TEXTURES; t++)
		create(t);

	for (unsigned step = 0; step < STEPS; step++) {
		const unsigned t = below(&seed, TEXTURES);

		glBindTexture(shapes[t].target, atlases[t].name);
		switch (below(&seed, 20)) {
		default:
			for (unsigned n = 1 + below(&seed, 12); n; n--)
				upload(t, BOX / (1 + below(&seed, 4)), false, &seed);
			break;
		case 0:
			upload(t, LARGE, below(&seed, 2), &seed);
			break;
		case 12:
			/* More than one draw has. */
			for (unsigned n = below(&seed, 4) ? 0 : 300; n; n--)
				upload(t, 3, false, &seed);
			break;
		case 1:
		case 2:
			check_shown(step);
			draw_texels(t, &seed);
			break;
		case 3:
			copy_shown(t, &seed);
			break;
		case 4:
			copy_texture(&seed);
			break;
		case 5:
			/* At once after an upload, too. */
			upload(t, 8, false, &seed);
			clear_box(t, &seed);
			break;
		case 6:
			read_back(t, below(&seed, shapes[t].levels), step);
			break;
		case 7:
			glFlush();
			break;
		case 8:
			if (below(&seed, 4))
				break;
			glDeleteTextures(1, &atlases[t].name);
			create(t);
			break;
		case 9:
			if (!below(&seed, 8))
				read_elsewhere(t, first, other, step);
			break;
		case 10:
			read_box(t, &seed, step);
			break;
		case 11:
			wait_for_buffer(buffers, step);
			break;
		}
	}
	check_shown(STEPS);
	deleted(&seed);
	for (unsigned t = 0; t < TEXTURES; t++) {
		for (unsigned level = 0; level < shapes[t].levels; level++)
			read_back(t, level, STEPS);
		glDeleteTextures(1, &atlases[t].name);
	}
	for (unsigned a = 0; a < 2; a++)
		glDeleteProgram(fetch[a]);
	glDeleteBuffers(2, buffers);
	context_current(other);
	context_destroy(other);
	context_current(first);
	no_error("atlas");
}
