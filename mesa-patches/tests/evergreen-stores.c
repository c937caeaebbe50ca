/* SPDX-License-Identifier: MIT */
/* Storage buffers, images, atomic operations and counters. */

#include "evergreen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 1000

static void buffer_stores(void)
{
	uint32_t in[COUNT], out[COUNT + 8], expected[COUNT + 8];
	GLuint to;

	fill(in, sizeof(in), 1);
	memset(out, 0xAB, sizeof(out));
	storage(0, in, sizeof(in));
	to = storage(1, out, sizeof(out));
	compute_program("#version 430\nlayout(local_size_x = 64) in;"
			"layout(std430, binding = 0) buffer a { uint from[]; };"
			"layout(std430, binding = 1) buffer b { uint to[]; };"
			"void main() { uint i = gl_GlobalInvocationID.x;"
			"  if (i < 1000u) to[i + 3u] = from[999u - i] + i; }");
	glDispatchCompute((COUNT + 63) / 64, 1, 1);
	buffer_read(to, out, sizeof(out));
	memset(expected, 0xAB, sizeof(expected));
	for (unsigned i = 0; i < COUNT; i++)
		expected[i + 3] = in[999 - i] + i;
	equal("buffer", out, expected, COUNT + 8);
}

/* Vectors, and a size query. */
static void buffer_vectors(void)
{
	uint32_t out[64][4], expected[64][4];
	GLuint to = storage(0, NULL, sizeof(out));

	compute_program("#version 430\nlayout(local_size_x = 64) in;"
			"layout(std430, binding = 0) buffer b { uvec4 to[]; };"
			"void main() { uint i = gl_LocalInvocationID.x;"
			"  to[i] = uvec4(i, i * 2u, to.length(), i * i); memoryBarrierBuffer();"
			"  uvec4 v = to[i]; to[i] = v + uvec4(0u, 5u, 0u, 6u); }");
	glDispatchCompute(1, 1, 1);
	buffer_read(to, out, sizeof(out));
	for (unsigned i = 0; i < 64; i++) {
		expected[i][0] = i;
		expected[i][1] = i * 2 + 5;
		expected[i][2] = 64;
		expected[i][3] = i * i + 6;
	}
	equal("vectors", out, expected, 64 * 4);
}

/* 256 threads on one word each operation: the order is not known, the sum of what they return is. */
static void buffer_atomics(void)
{
	uint32_t begin[16] = { 1000, 0xFFFFFFFF, 0, 0, 0xFFFFFFFB, 100, 50, 7, 0, 0 };
	uint32_t expected[16] = { 1000 + 256 * 3, 0xFFFFFFFF & ~0x3FC, 0x3FC, 0, 0xFFFFFFFB, 255, 0, 8, 0, 0 };
	uint32_t out[16], sum, seen[256];
	GLuint words, returned;

	words = storage(0, begin, sizeof(begin));
	returned = storage(1, NULL, sizeof(seen));
	compute_program("#version 430\nlayout(local_size_x = 64) in;"
			"layout(std430, binding = 0) buffer a { uint w[16]; };"
			"layout(std430, binding = 1) buffer b { uint r[256]; };"
			"void main() { uint i = gl_GlobalInvocationID.x;"
			"  r[i] = atomicAdd(w[0], 3u);"
			"  atomicAnd(w[1], ~(i << 2)); atomicOr(w[2], i << 2); atomicXor(w[3], 1u << (i & 31u));"
			"  atomicMin(w[4], 0xFFFFFFFBu + (i & 3u)); atomicMax(w[5], i); atomicMin(w[6], i);"
			"  if (atomicCompSwap(w[7], 7u, 8u) == 7u) atomicAdd(w[8], 1u);"
			"  uint x = atomicExchange(w[9], i + 1u); atomicAdd(w[10], x); }");
	glDispatchCompute(4, 1, 1);
	buffer_read(words, out, sizeof(out));
	buffer_read(returned, seen, sizeof(seen));
	/* Each of 32 bits is flipped eight times. */
	expected[3] = 0;
	expected[8] = 1;
	/* What was exchanged is in the word at the end, or was added to the next. */
	sum = out[9] + out[10];
	if (sum != 256 * 257 / 2)
		wrong("exchanges: sum %u", sum);
	expected[9] = out[9];
	expected[10] = out[10];
	equal("words", out, expected, 16);
	/* Every multiple of 3 was returned once. */
	for (unsigned i = 0, all[256] = { 0 }; i < 256; i++) {
		unsigned n = (seen[i] - 1000) / 3;

		if ((seen[i] - 1000) % 3 || n >= 256 || all[n]++) {
			wrong("thread %u got %u from atomicAdd()", i, seen[i]);
			break;
		}
	}
}

static void signed_atomics(void)
{
	int32_t begin[2] = { 5, 5 }, out[2];
	const int32_t expected[2] = { -3, 60 };
	GLuint words = storage(0, begin, sizeof(begin));

	compute_program("#version 430\nlayout(local_size_x = 64) in;"
			"layout(std430, binding = 0) buffer a { int w[2]; };"
			"void main() { int i = int(gl_LocalInvocationID.x) - 3; atomicMin(w[0], i); atomicMax(w[1], i); }");
	glDispatchCompute(1, 1, 1);
	buffer_read(words, out, sizeof(out));
	equal("signed words", out, expected, 2);
}

#define SIDE 40

/* Each texel is stored, loaded in a second dispatch, and stored elsewhere. */
static void image_formats(void)
{
	static const struct {
		GLenum format, data, type;
		const char *qualifier, *prefix;
		unsigned words; /* of a texel as read */
	} formats[] = {
		{ GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, "r32ui", "u", 1 },
		{ GL_R32I, GL_RED_INTEGER, GL_INT, "r32i", "i", 1 },
		{ GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, "rgba32ui", "u", 4 },
		{ GL_RGBA16UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, "rgba16ui", "u", 4 },
		{ GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, "rgba8ui", "u", 4 },
		{ GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, "rgba8", "", 1 },
		{ GL_RGBA32F, GL_RGBA, GL_FLOAT, "rgba32f", "", 4 },
	};

	for (unsigned n = 0; n < sizeof(formats) / sizeof(*formats); n++) {
		static uint32_t found[SIDE * SIDE * 4], expected[SIDE * SIDE * 4];
		const char *prefix = formats[n].prefix;
		GLuint images[2];
		char source[1024];

		glGenTextures(2, images);
		for (unsigned i = 0; i < 2; i++) {
			glBindTexture(GL_TEXTURE_2D, images[i]);
			glTexStorage2D(GL_TEXTURE_2D, 1, formats[n].format, SIDE, SIDE);
			glBindImageTexture(i, images[i], 0, GL_FALSE, 0, GL_READ_WRITE, formats[n].format);
		}
		snprintf(source, sizeof(source), "#version 430\nlayout(local_size_x = 8, local_size_y = 8) in;"
			 "layout(%s, binding = 0) uniform %simage2D a;"
			 "void main() { ivec2 p = ivec2(gl_GlobalInvocationID.xy);"
			 "  imageStore(a, p, %svec4(p.x, p.y, p.x + 1, 2)%s); }",
			 formats[n].qualifier, prefix, prefix, *prefix ? "" : " / 255.0");
		compute_program(source);
		glDispatchCompute(SIDE / 8 + 1, SIDE / 8 + 1, 1); /* more than the image has */
		glMemoryBarrier(GL_ALL_BARRIER_BITS);
		snprintf(source, sizeof(source), "#version 430\nlayout(local_size_x = 8, local_size_y = 8) in;"
			 "layout(%s, binding = 0) uniform %simage2D a; layout(%s, binding = 1) uniform %simage2D b;"
			 "void main() { ivec2 p = ivec2(gl_GlobalInvocationID.xy);"
			 "  imageStore(b, imageSize(a) - 1 - p, imageLoad(a, p)); }",
			 formats[n].qualifier, prefix, formats[n].qualifier, prefix);
		compute_program(source);
		glDispatchCompute(SIDE / 8, SIDE / 8, 1);
		glMemoryBarrier(GL_ALL_BARRIER_BITS);
		glBindTexture(GL_TEXTURE_2D, images[1]);
		memset(found, 0xEE, sizeof(found));
		glGetTexImage(GL_TEXTURE_2D, 0, formats[n].data, formats[n].type, found);
		for (unsigned i = 0; i < SIDE * SIDE; i++) {
			unsigned x = SIDE - 1 - i % SIDE, y = SIDE - 1 - i / SIDE;
			const uint32_t texel[] = { x, y, x + 1, 2 };

			for (unsigned c = 0; c < formats[n].words; c++) {
				float value = texel[c] / 255.0f;

				if (formats[n].format == GL_RGBA8)
					expected[i] = x | y << 8 | (x + 1) << 16 | 2 << 24;
				else if (*prefix)
					expected[i * formats[n].words + c] = texel[c];
				else
					memcpy(&expected[i * 4 + c], &value, 4);
			}
		}
		/* The quotient may be off by a bit in the last place. */
		for (unsigned i = 0; !*prefix && formats[n].words == 4 && i < SIDE * SIDE * 4; i++)
			if (found[i] - expected[i] + 1 <= 2)
				found[i] = expected[i];
		equal(formats[n].qualifier, found, expected, SIDE * SIDE * formats[n].words);
	}
}

/* Images with layers, slices, levels and of one dimension, and of buffers. */
static void image_kinds(void)
{
	static const struct {
		const char *kind, *place;
		GLenum target;
		unsigned size[3];
	} kinds[] = {
		{ "uimage1D", "p.x", GL_TEXTURE_1D, { 40, 1, 1 } },
		{ "uimage2DArray", "p", GL_TEXTURE_2D_ARRAY, { 20, 12, 3 } },
		{ "uimage3D", "p", GL_TEXTURE_3D, { 20, 12, 5 } },
		{ "uimage1DArray", "p.xy", GL_TEXTURE_1D_ARRAY, { 40, 3, 1 } },
		{ "uimageCube", "p", GL_TEXTURE_CUBE_MAP, { 16, 16, 6 } },
		{ "uimageBuffer", "p.x", GL_TEXTURE_BUFFER, { 100, 1, 1 } },
	};

	for (unsigned n = 0; n < sizeof(kinds) / sizeof(*kinds); n++) {
		static uint32_t found[20 * 12 * 8], expected[20 * 12 * 8];
		const unsigned *size = kinds[n].size, count = size[0] * size[1] * size[2];
		GLenum target = kinds[n].target;
		GLuint texture, buffer = 0;
		char source[512];

		glGenTextures(1, &texture);
		glBindTexture(target, texture);
		memset(found, 0, sizeof(found));
		if (target == GL_TEXTURE_BUFFER) {
			buffer = storage(7, NULL, 4 * count);
			glTexBuffer(target, GL_R32UI, buffer);
		} else if (target == GL_TEXTURE_1D) {
			glTexStorage1D(target, 1, GL_R32UI, size[0]);
		} else if (target == GL_TEXTURE_1D_ARRAY || target == GL_TEXTURE_CUBE_MAP) {
			glTexStorage2D(target, 1, GL_R32UI, size[0], size[1]);
		} else {
			glTexStorage3D(target, 1, GL_R32UI, size[0], size[1], size[2]);
		}
		glBindImageTexture(0, texture, 0, GL_TRUE, 0, GL_READ_WRITE, GL_R32UI);
		snprintf(source, sizeof(source), "#version 430\nlayout(local_size_x = 4) in;"
			 "layout(r32ui, binding = 0) uniform %s a;"
			 "void main() { ivec3 p = ivec3(gl_GlobalInvocationID);"
			 "  imageStore(a, %s, uvec4(p.x | p.y << 8 | p.z << 16));"
			 "  imageAtomicAdd(a, %s, 0x1000000u); }",
			 kinds[n].kind, kinds[n].place, kinds[n].place);
		compute_program(source);
		glDispatchCompute(size[0] / 4, size[1], size[2]);
		glMemoryBarrier(GL_ALL_BARRIER_BITS);
		if (buffer)
			buffer_read(buffer, found, 4 * count);
		else if (target == GL_TEXTURE_CUBE_MAP)
			for (unsigned face = 0; face < 6; face++)
				glGetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_RED_INTEGER, GL_UNSIGNED_INT,
					      found + face * 256);
		else
			glGetTexImage(target, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, found);
		for (unsigned i = 0; i < count; i++)
			expected[i] = i % size[0] | i / size[0] % size[1] << 8 | i / size[0] / size[1] << 16 | 1 << 24;
		equal(kinds[n].kind, found, expected, count);
	}
}

/* Images of the largest size in one direction: what a dispatch stores, a draw into them, and texels that are read. */
static void image_sizes(void)
{
	static const struct {
		GLenum target;
		const char *suffix, *place;
		int width, height, layers;
	} kinds[] = {
		{ GL_TEXTURE_2D, "2D", "p.xy", 16384, 8, 1 },
		{ GL_TEXTURE_2D, "2D", "p.xy", 8, 16384, 1 },
		{ GL_TEXTURE_2D_ARRAY, "2DArray", "p", 16384, 8, 2 },
		{ GL_TEXTURE_2D_ARRAY, "2DArray", "p", 8, 16384, 2 },
	};
	static uint32_t found[16384 * 8 * 2], expected[16384 * 8 * 2];
	char source[1024];

	for (unsigned n = 0; n < sizeof(kinds) / sizeof(*kinds); n++) {
		int w = kinds[n].width, h = kinds[n].height, l = kinds[n].layers;
		GLuint texture, to;

		glGenTextures(1, &texture);
		glBindTexture(kinds[n].target, texture);
		glTexParameteri(kinds[n].target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glTexParameteri(kinds[n].target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
		if (l > 1)
			glTexStorage3D(kinds[n].target, 1, GL_R32UI, w, h, l);
		else
			glTexStorage2D(kinds[n].target, 1, GL_R32UI, w, h);
		glBindImageTexture(0, texture, 0, l > 1, 0, GL_READ_WRITE, GL_R32UI);
		snprintf(source, sizeof(source),
			 "#version 430\nlayout(local_size_x = 8, local_size_y = 8) in;"
			 "layout(r32ui, binding = 0) uniform uimage%s a;"
			 "void main() { ivec3 p = ivec3(gl_GlobalInvocationID); imageStore(a, %s, uvec4(p.x | p.y << 14 | p.z << 28)); }",
			 kinds[n].suffix, kinds[n].place);
		compute_program(source);
		glDispatchCompute(w / 8, h / 8, l);
		glMemoryBarrier(GL_ALL_BARRIER_BITS);
		/* The last 64 columns and rows once more, by a draw. */
		framebuffer_of(texture);
		glViewport(0, 0, w, h);
		glEnable(GL_SCISSOR_TEST);
		glScissor(w > h ? w - 64 : 0, w > h ? 0 : h - 64, w > h ? 64 : w, w > h ? h : 64);
		glClearBufferuiv(GL_COLOR, 0, (const GLuint[4]){ 0xABCD });
		glDisable(GL_SCISSOR_TEST);
		glBindFramebuffer(GL_FRAMEBUFFER, 0);
		/* Texels by coordinates of 0 to 1. */
		to = storage(0, NULL, 4 * (size_t)w * h * l);
		snprintf(source, sizeof(source),
			 "#version 430\nlayout(local_size_x = 8, local_size_y = 8) in;"
			 "layout(binding = 0) uniform usampler%s t;"
			 "layout(std430, binding = 0) buffer b { uint to[]; };"
			 "void main() { uvec3 p = gl_GlobalInvocationID; vec2 at = (vec2(p.xy) + 0.5) / vec2(%d, %d);"
			 "  to[(p.z * %du + p.y) * %du + p.x] = textureLod(t, %s, 0.0).x; }",
			 kinds[n].suffix, w, h, h, w, l > 1 ? "vec3(at, p.z)" : "at");
		compute_program(source);
		glDispatchCompute(w / 8, h / 8, l);
		buffer_read(to, found, 4 * (size_t)w * h * l);
		for (int i = 0; i < w * h * l; i++) {
			int x = i % w, y = i / w % h, z = i / w / h;

			expected[i] = (w > h ? x >= w - 64 : y >= h - 64) ? 0xABCD : (uint32_t)(x | y << 14 | z << 28);
		}
		equal(kinds[n].suffix, found, expected, (size_t)w * h * l);
		glDeleteTextures(1, &texture);
		glDeleteBuffers(1, &to);
	}
}

/* Returned values, of images in compute and pixel shaders. */
static void image_atomics(void)
{
	uint32_t found[2], begin[2] = { 100, 0 };
	const GLenum types[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *const sources[] = { QUAD,
		"#version 430\nlayout(r32ui, binding = 0) uniform uimage2D a;"
		"out vec4 o;"
		"void main() { uint x = imageAtomicAdd(a, ivec2(0), 1u);"
		"  o = vec4(float(x & 255u) / 255.0, float(x >> 8) / 255.0, 0.0, 1.0); }" };
	static uint32_t pixels[40 * 30], seen[40 * 30];
	GLuint texture;

	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_R32UI, 2, 1);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 2, 1, GL_RED_INTEGER, GL_UNSIGNED_INT, begin);
	glBindImageTexture(0, texture, 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32UI);
	new_target(GL_RGBA8, 40, 30);
	program_of(types, sources);
	quad();
	glMemoryBarrier(GL_ALL_BARRIER_BITS);
	glReadPixels(0, 0, 40, 30, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	glBindTexture(GL_TEXTURE_2D, texture);
	glGetTexImage(GL_TEXTURE_2D, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, found);
	if (found[0] != 100 + 40 * 30 || found[1])
		wrong("the texels are %u and %u", found[0], found[1]);
	memset(seen, 0, sizeof(seen));
	for (unsigned i = 0; i < 40 * 30; i++) {
		unsigned value = (pixels[i] & 0xFFFF) - 100;

		if (value >= 40 * 30 || seen[value]++) {
			wrong("pixel %u got %u", i, value + 100);
			break;
		}
	}
}

/* Pixel shaders without outputs: one discards, the other has early tests, so nothing else follows it. */
static void pixel_stores(void)
{
	const GLenum types[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, 0 };
	static const char *const bodies[] = {
		"#version 430\nlayout(std430, binding = 0) buffer b { uint to[]; };"
		"void main() { uvec2 p = uvec2(gl_FragCoord.xy); if (p.x == 5u) discard;"
		"  atomicAdd(to[p.y * 24u + p.x], p.x + 100u * p.y + 1u); }",
		"#version 430\nlayout(early_fragment_tests) in;"
		"layout(std430, binding = 0) buffer b { uint to[]; };"
		"void main() { uvec2 p = uvec2(gl_FragCoord.xy);"
		"  atomicAdd(to[p.y * 24u + p.x], p.x + 100u * p.y + 1u); }",
	};
	static uint32_t found[24 * 20], expected[24 * 20];

	new_target(GL_RGBA8, 24, 20);
	glScissor(1, 2, 22, 15);
	for (unsigned early = 0; early < 2; early++) {
		const char *const sources[] = { QUAD, bodies[early] };
		GLuint to = storage(0, NULL, sizeof(found));

		program_of(types, sources);
		/* No colour is written, either. */
		glColorMask(!early, !early, !early, !early);
		glEnable(GL_SCISSOR_TEST);
		quad();
		glDisable(GL_SCISSOR_TEST);
		buffer_read(to, found, sizeof(found));
		for (unsigned i = 0; i < 24 * 20; i++) {
			unsigned x = i % 24, y = i / 24;

			expected[i] = x - 1 < 22 && y - 2 < 15 && (early || x != 5) ? x + 100 * y + 1 : 0;
		}
		equal(early ? "early" : "late", found, expected, 24 * 20);
	}
}

/* Counters of two buffers, at offsets, in compute and in pixel shaders. */
static void counters(void)
{
	const GLenum types[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *const sources[] = { QUAD,
		"#version 430\nlayout(binding = 0, offset = 4) uniform atomic_uint a;"
		"layout(binding = 1) uniform atomic_uint b;"
		"out vec4 o; void main() { uint x = atomicCounterIncrement(a);"
		"  atomicCounterDecrement(b); o = vec4(float(x) / 255.0); }" };
	uint32_t begin[2] = { 10, 20 }, found[2], seen[256] = { 0 };
	static uint32_t pixels[12 * 10];
	GLuint buffers[2], order;
	const uint32_t expected[2][2] = { { 10, 20 + 120 }, { 10 - 120, 20 } };

	glGenBuffers(2, buffers);
	for (unsigned i = 0; i < 2; i++) {
		glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, i, buffers[i]);
		glBufferData(GL_ATOMIC_COUNTER_BUFFER, 8, begin, GL_DYNAMIC_COPY);
	}
	new_target(GL_RGBA8, 12, 10);
	program_of(types, sources);
	/* The helper pixels at the diagonal do not count. */
	quad();
	glReadPixels(0, 0, 12, 10, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	for (unsigned i = 0; i < 2; i++) {
		buffer_read(buffers[i], found, 8);
		equal(i ? "second buffer" : "first buffer", found, expected[i], 2);
	}
	for (unsigned i = 0; i < 120; i++)
		if (seen[pixels[i] & 0xFF]++ || (pixels[i] & 0xFF) - 20 >= 120) {
			wrong("pixel %u got %u", i, pixels[i] & 0xFF);
			break;
		}
	order = storage(0, NULL, 4 * 256);
	compute_program("#version 430\nlayout(local_size_x = 128) in;"
			"layout(binding = 0, offset = 4) uniform atomic_uint a;"
			"layout(std430, binding = 0) buffer b { uint to[256]; };"
			"void main() { to[gl_GlobalInvocationID.x] = atomicCounterIncrement(a); }");
	glDispatchCompute(2, 1, 1);
	buffer_read(buffers[0], found, 8);
	if (found[1] != 140 + 256)
		wrong("after the dispatch the counter is %u", found[1]);
	buffer_read(order, seen, sizeof(seen));
	for (unsigned i = 0, all[256] = { 0 }; i < 256; i++)
		if (seen[i] - 140 >= 256 || all[seen[i] - 140]++) {
			wrong("thread %u got %u", i, seen[i]);
			break;
		}
}

/*
 * A thread loads what it has stored, and stores where it has loaded. Addresses depend on a
 * uniform, so that no value is forwarded.
 */
static void stores_in_order(void)
{
	static const struct {
		const char *what, *code;
		uint32_t found[3], to[3]; /* factor of i, of 100 + i, and a constant */
	} cases[] = {
		{ "load after store", "to[i] = i + 5u; found[i] = to[at];", { 1, 0, 5 }, { 1, 0, 5 } },
		{ "store after load", "found[i] = to[from[at]]; to[i] = i + 9u;", { 0, 1, 0 }, { 1, 0, 9 } },
		{ "load after atomic", "atomicAdd(to[i], 3u); found[i] = to[at];", { 0, 1, 3 }, { 0, 1, 3 } },
		{ "atomic after load", "found[i] = to[from[at]]; atomicAdd(to[i], 4u);", { 0, 1, 0 }, { 0, 1, 4 } },
		{ "load after store of some", "if (from[i] < 64u) to[i] = 7u; found[i] = to[at];", { 0, 0, 7 }, { 0, 0, 7 } },
		{ "stores in a loop", "uint sum = 0u; for (uint n = 0u; n < 5u + zero; n++) {"
		  " sum += to[(at + n * zero) & 63u]; to[i] = sum; } found[i] = sum;", { 0, 16, 0 }, { 0, 16, 0 } },
		{ "many", "to[i] = 1u; uint x = to[at]; to[i] = x + 2u; x += to[at]; to[i] = x + 3u;"
		  " found[i] = to[at] + x; to[i] = 8u;", { 0, 0, 11 }, { 0, 0, 8 } },
	};

	for (unsigned n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
		uint32_t from[64], begin[64], found[64], expected[64];
		GLuint to, out;
		char source[1024];

		for (unsigned i = 0; i < 64; i++) {
			from[i] = i;
			begin[i] = 100 + i;
		}
		storage(0, from, sizeof(from));
		to = storage(1, begin, sizeof(begin));
		out = storage(2, NULL, sizeof(found));
		snprintf(source, sizeof(source), "#version 430\nlayout(local_size_x = 64) in; uniform uint zero;"
			 "layout(std430, binding = 0) buffer a { uint from[]; };"
			 "layout(std430, binding = 1) buffer b { uint to[]; };"
			 "layout(std430, binding = 2) buffer c { uint found[]; };"
			 "void main() { uint i = gl_LocalInvocationID.x, at = (i + zero) & 63u; %s }", cases[n].code);
		compute_program(source);
		glDispatchCompute(1, 1, 1);
		for (unsigned stored = 0; stored < 2; stored++) {
			const uint32_t *f = stored ? cases[n].to : cases[n].found;

			for (unsigned i = 0; i < 64; i++)
				expected[i] = f[0] * i + f[1] * begin[i] + f[2];
			buffer_read(stored ? to : out, found, sizeof(found));
			equal(cases[n].what, found, expected, 64);
		}
	}
}

/* Stores to a part of a buffer, bound as storage buffer or as image, reach all of it and nothing behind it. */
static void buffer_ends(void)
{
	static const struct {
		const char *what;
		bool image;
		unsigned first, count; /* words of the part */
	} cases[] = {
		{ "a storage buffer", false, 64, 64 },
		{ "an image", true, 0, 256 },
		{ "an image from its own size on", true, 256, 256 },
		{ "an image that begins late", true, 256, 320 },
		{ "an image behind twice its size", true, 512, 192 },
	};
	static uint32_t found[1024], expected[1024];

	for (unsigned n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
		unsigned first = cases[n].first, count = cases[n].count;
		GLuint buffer = storage(0, NULL, sizeof(found)), texture;

		if (cases[n].image) {
			glGenTextures(1, &texture);
			glBindTexture(GL_TEXTURE_BUFFER, texture);
			glTexBufferRange(GL_TEXTURE_BUFFER, GL_R32UI, buffer, 4 * first, 4 * count);
			glBindImageTexture(0, texture, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_R32UI);
			compute_program("#version 430\nlayout(local_size_x = 128) in;"
					"layout(r32ui, binding = 0) writeonly uniform uimageBuffer a;"
					"void main() { uint i = gl_GlobalInvocationID.x; imageStore(a, int(i), uvec4(i + 1u)); }");
		} else {
			glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 0, buffer, 4 * first, 4 * count);
			compute_program("#version 430\nlayout(local_size_x = 128) in;"
					"layout(std430, binding = 0) buffer a { uint to[]; };"
					"void main() { uint i = gl_GlobalInvocationID.x; to[i] = i + 1u; }");
		}
		/* 512 words */
		glDispatchCompute(4, 1, 1);
		for (unsigned i = 0; i < 1024; i++)
			expected[i] = i - first < count ? i - first + 1 : 0;
		buffer_read(buffer, found, sizeof(found));
		equal(cases[n].what, found, expected, 1024);
	}
}

/* A counter that is only read, and a store to its buffer in the same dispatch. */
static void counters_only_read(void)
{
	const uint32_t begin[3] = { 5, 6, 7 }, expected[3] = { 77, 6, 7 };
	uint32_t found[3], read;
	GLuint buffer = storage(0, begin, sizeof(begin)), to = storage(1, NULL, sizeof(read));

	glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, buffer);
	compute_program("#version 430\nlayout(local_size_x = 1) in;"
			"layout(binding = 0) uniform atomic_uint counter;"
			"layout(std430, binding = 0) buffer a { uint words[3]; };"
			"layout(std430, binding = 1) buffer b { uint to; };"
			"void main() { to = atomicCounter(counter); words[0] = 77u; }");
	glDispatchCompute(1, 1, 1);
	buffer_read(buffer, found, sizeof(found));
	equal("words", found, expected, 3);
	buffer_read(to, &read, sizeof(read));
	/* Which comes first is not defined. */
	if (read != 5 && read != 77)
		wrong("the counter is %u", read);
}

/* An image of a part of a buffer that begins as early as GL lets it. */
static void buffer_begins(void)
{
	enum { WORDS = 64 };
	uint32_t words[512], expected[512], found[512], loaded[WORDS];
	GLuint buffer, texture, to;
	GLint alignment;

	glGetIntegerv(GL_TEXTURE_BUFFER_OFFSET_ALIGNMENT, &alignment);
	fill(words, sizeof(words), 5);
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_TEXTURE_BUFFER, buffer);
	glBufferData(GL_TEXTURE_BUFFER, sizeof(words), words, GL_DYNAMIC_COPY);
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_BUFFER, texture);
	glTexBufferRange(GL_TEXTURE_BUFFER, GL_R32UI, buffer, alignment, 4 * WORDS);
	glBindImageTexture(0, texture, 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32UI);
	to = storage(0, NULL, sizeof(loaded));
	compute_program("#version 430\nlayout(local_size_x = 64) in;"
			"layout(binding = 0, r32ui) uniform uimageBuffer i;"
			"layout(std430, binding = 0) buffer b { uint to[]; };"
			"void main() { int n = int(gl_LocalInvocationID.x); to[n] = imageLoad(i, n).x;"
			"  imageStore(i, n, uvec4(n)); }");
	glDispatchCompute(1, 1, 1);
	memcpy(expected, words, sizeof(words));
	for (unsigned n = 0; n < WORDS; n++)
		expected[(unsigned)alignment / 4 + n] = n;
	buffer_read(to, loaded, sizeof(loaded));
	equal("loaded", loaded, words + alignment / 4, WORDS);
	buffer_read(buffer, found, sizeof(found));
	equal("stored", found, expected, 512);
}

const struct test store_tests[] = {
	{ "buffer-stores", buffer_stores },
	{ "buffer-vectors", buffer_vectors },
	{ "buffer-atomics", buffer_atomics },
	{ "signed-atomics", signed_atomics },
	{ "image-formats", image_formats },
	{ "image-kinds", image_kinds },
	{ "image-sizes", image_sizes },
	{ "image-atomics", image_atomics },
	{ "pixel-stores", pixel_stores },
	{ "counters", counters },
	{ "stores-in-order", stores_in_order },
	{ "buffer-ends", buffer_ends },
	{ "counters-only-read", counters_only_read },
	{ "buffer-begins", buffer_begins },
	{ NULL, NULL },
};
