/* SPDX-License-Identifier: MIT */
/* Compute shaders: groups, shared memory, barriers, what the CPU sees of their results. */

#include "evergreen.h"

#include <stdlib.h>
#include <string.h>

/* Each thread stores its ids at its place; groups in three dimensions. */
static void ids(void)
{
	enum { X = 3, Y = 2, Z = 4, GX = 5, GY = 3, GZ = 2, COUNT = X * Y * Z * GX * GY * GZ };
	static uint32_t found[COUNT][4], expected[COUNT][4];
	const uint32_t grid[3] = { GX, GY, GZ };
	GLuint to, buffer;

	for (unsigned indirect = 0; indirect < 2; indirect++) {
		to = storage(0, NULL, sizeof(found));
		compute_program("#version 430\n"
				"layout(local_size_x = 3, local_size_y = 2, local_size_z = 4) in;"
				"layout(std430, binding = 0) buffer b { uvec4 to[]; };"
				"void main() { uvec3 n = gl_NumWorkGroups, g = gl_WorkGroupID;"
				"  uint group = (g.z * n.y + g.y) * n.x + g.x;"
				"  uvec3 l = gl_LocalInvocationID, a = gl_GlobalInvocationID;"
				"  to[group * 24u + gl_LocalInvocationIndex] ="
				"    uvec4(l.x | l.y << 8 | l.z << 16, g.x | g.y << 8 | g.z << 16,"
				"          a.x | a.y << 8 | a.z << 16, n.x | n.y << 8 | n.z << 16); }");
		if (indirect) {
			glGenBuffers(1, &buffer);
			glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, buffer);
			glBufferData(GL_DISPATCH_INDIRECT_BUFFER, sizeof(grid), grid, GL_STATIC_DRAW);
			glDispatchComputeIndirect(0);
		} else {
			glDispatchCompute(GX, GY, GZ);
		}
		buffer_read(to, found, sizeof(found));
		for (unsigned i = 0; i < COUNT; i++) {
			unsigned l = i % (X * Y * Z), g = i / (X * Y * Z);
			unsigned lx = l % X, ly = l / X % Y, lz = l / X / Y, gx = g % GX, gy = g / GX % GY, gz = g / GX / GY;

			expected[i][0] = lx | ly << 8 | lz << 16;
			expected[i][1] = gx | gy << 8 | gz << 16;
			expected[i][2] = (gx * X + lx) | (gy * Y + ly) << 8 | (gz * Z + lz) << 16;
			expected[i][3] = GX | GY << 8 | GZ << 16;
		}
		equal(indirect ? "indirect" : "direct", found, expected, COUNT * 4);
	}
}

/*
 * A sum by halves, and before it each thread reads what its mirror wrote: wrong without barriers. What
 * comes before a barrier is in a branch, so that Debian's Mesa has it right, see barriers_alone().
 */
static void barriers(void)
{
	static uint32_t in[3 * 256], found[3 * 257], expected[3 * 257];
	GLuint to;

	fill(in, sizeof(in), 5);
	storage(0, in, sizeof(in));
	to = storage(1, NULL, sizeof(found));
	compute_program("#version 430\nlayout(local_size_x = 256) in;"
			"layout(std430, binding = 0) buffer a { uint from[]; };"
			"layout(std430, binding = 1) buffer b { uint to[]; };"
			"shared uint s[256];"
			"void main() { uint i = gl_LocalInvocationID.x, g = gl_WorkGroupID.x;"
			"  uint n = from.length(), mirror = 0u;"
			"  if (i < n) s[i] = from[g * 256u + i]; barrier();"
			"  if (i < n) mirror = s[255u - i]; barrier();"
			"  for (n = 128u; n > 0u; n >>= 1) { if (i < n) s[i] += s[i + n]; barrier(); }"
			"  to[g * 257u + i] = mirror; if (i == 0u) to[g * 257u + 256u] = s[0]; }");
	glDispatchCompute(3, 1, 1);
	buffer_read(to, found, sizeof(found));
	for (unsigned g = 0; g < 3; g++) {
		expected[g * 257 + 256] = 0;
		for (unsigned i = 0; i < 256; i++) {
			expected[g * 257 + i] = in[g * 256 + 255 - i];
			expected[g * 257 + 256] += in[g * 256 + i];
		}
	}
	equal("sums and mirrors", found, expected, 3 * 257);
}

/* Accesses of shared memory and of a counter before and behind a barrier, without any branch, by 16 waves. */
static void barriers_alone(void)
{
	static uint32_t found[3 * 1024], expected[3 * 1024];
	uint32_t counter = 0;
	GLuint to = storage(0, NULL, sizeof(found)), buffer;

	glGenBuffers(1, &buffer);
	glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, buffer);
	glBufferData(GL_ATOMIC_COUNTER_BUFFER, 4, &counter, GL_DYNAMIC_COPY);
	compute_program("#version 430\nlayout(local_size_x = 1024) in;"
			"layout(binding = 0) uniform atomic_uint c;"
			"layout(std430, binding = 0) buffer b { uint to[]; };"
			"shared uint s[1024], t[1024], sum;"
			"void main() { uint i = gl_LocalInvocationID.x;"
			"  s[i] = i * 5u; sum = 0u; barrier();"
			"  t[i] = s[1023u - i] + 1u; atomicAdd(sum, i); atomicCounterIncrement(c); memoryBarrierAtomicCounter(); barrier();"
			"  to[i] = t[(i + 512u) & 1023u]; to[i + 1024u] = sum; to[i + 2048u] = atomicCounter(c); }");
	glDispatchCompute(1, 1, 1);
	buffer_read(to, found, sizeof(found));
	for (unsigned i = 0; i < 1024; i++) {
		expected[i] = (1023 - ((i + 512) & 1023)) * 5 + 1;
		expected[i + 1024] = 1023 * 1024 / 2;
		expected[i + 2048] = 1024;
	}
	equal("of others", found, expected, 1024);
	equal("sums", found + 1024, expected + 1024, 1024);
	equal("counters", found + 2048, expected + 2048, 1024);
}

/* Atomic operations on shared memory, by 1024 threads. */
static void shared_atomics(void)
{
	uint32_t found[12], expected[12] = { 1024, 0xFFFFFC00, 0x3FF, 0, 0, 1023, 1, 524800, 0, 0, 0, 0 };
	GLuint to = storage(0, NULL, sizeof(found));

	compute_program("#version 430\nlayout(local_size_x = 1024) in;"
			"layout(std430, binding = 0) buffer b { uint to[]; };"
			"shared uint s[12];"
			"void main() { uint i = gl_LocalInvocationID.x;"
			"  if (i < 12u) s[i] = i == 1u || i == 4u ? 0xFFFFFFFFu : 0u; barrier();"
			"  uint x = atomicAdd(s[0], 1u); atomicAdd(s[7], x + 1u);"
			"  if (i < uint(to.length()) + 2000u) { atomicAnd(s[1], ~i); atomicOr(s[2], i); atomicXor(s[3], 1u << (i & 31u));"
			"  atomicMin(s[4], i); atomicMax(s[5], i);"
			"  if (atomicCompSwap(s[8], 0u, 1u) == 0u) atomicAdd(s[6], 1u);"
			"  uint y = atomicExchange(s[9], i + 1u); atomicAdd(s[10], y); }"
			"  barrier(); if (i < 12u) to[i] = s[i]; }");
	glDispatchCompute(1, 1, 1);
	buffer_read(to, found, sizeof(found));
	expected[8] = 1;
	if (found[9] + found[10] != 1024 * 1025 / 2)
		wrong("exchanges: %u and %u", found[9], found[10]);
	expected[9] = found[9];
	expected[10] = found[10];
	equal("shared words", found, expected, 12);
}

/* Textures and constants, in a group that is no multiple of a wave. The texels are uploaded in boxes, whose copies can
 * wait for each other, but not for longer than until the dispatch.
 */
static void textures(void)
{
	enum { SIDE = 128, BOX = 32 };
	static uint32_t texels[SIDE * SIDE], found[SIDE], expected[SIDE];
	GLuint texture, to, program;

	fill(texels, sizeof(texels), 9);
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_R32UI, SIDE, SIDE);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	to = storage(0, NULL, sizeof(found));
	glPixelStorei(GL_UNPACK_ROW_LENGTH, SIDE);
	for (unsigned y = 0; y < SIDE; y += BOX)
		for (unsigned x = 0; x < SIDE; x += BOX)
			glTexSubImage2D(GL_TEXTURE_2D, 0, x, y, BOX, BOX, GL_RED_INTEGER, GL_UNSIGNED_INT,
					texels + y * SIDE + x);
	glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
	program = compute_program("#version 430\nlayout(local_size_x = 100) in;"
				  "layout(binding = 0) uniform usampler2D t; uniform int k;"
				  "layout(std430, binding = 0) buffer b { uint to[]; };"
				  "void main() { int i = int(gl_LocalInvocationID.x);"
				  "  to[i] = texelFetch(t, ivec2(i, i * 37 & 127), 0).x + uint(k)"
				  "    + textureLod(t, vec2(0.5, 0.5), 0.0).x; }");
	glUniform1i(glGetUniformLocation(program, "k"), 77);
	glDispatchCompute(1, 1, 1);
	buffer_read(to, found, sizeof(found));
	for (unsigned i = 0; i < 100; i++)
		expected[i] = texels[i * 37 % SIDE * SIDE + i] + 77 + texels[SIDE / 2 * SIDE + SIDE / 2];
	equal("texels", found, expected, 100);
}

/* A buffer that only a dispatch has written is mapped to read and to write. */
static void mapped(void)
{
	enum { COUNT = 1 << 14 };
	static uint32_t expected[COUNT];
	uint32_t *words;
	GLuint buffer;

	compute_program("#version 430\nlayout(local_size_x = 64) in;"
			"layout(std430, binding = 0) buffer b { uint to[]; };"
			"void main() { uint i = gl_GlobalInvocationID.x; to[i] = i * 2654435761u; }");
	for (unsigned round = 0; round < 3; round++) {
		glGenBuffers(1, &buffer);
		glBindBuffer(GL_SHADER_STORAGE_BUFFER, buffer);
		glBufferData(GL_SHADER_STORAGE_BUFFER, 4 * COUNT, NULL, GL_DYNAMIC_COPY);
		glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
		glDispatchCompute(COUNT / 64, 1, 1);
		glMemoryBarrier(GL_ALL_BARRIER_BITS);
		words = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, 4 * COUNT,
					 GL_MAP_READ_BIT | GL_MAP_WRITE_BIT);
		if (!words)
			die("no mapping");
		for (unsigned i = 0; i < COUNT; i++)
			expected[i] = i * 2654435761u;
		equal("mapping", words, expected, COUNT);
		words[5] = 42;
		expected[5] = 42;
		glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
		words = calloc(4, COUNT);
		buffer_read(buffer, words, 4 * COUNT);
		equal("buffer", words, expected, COUNT);
		free(words);
	}
}

/* How shaders begin that have doubles and groups of 64 threads. */
#define DOUBLES "#version 430\n#extension GL_ARB_gpu_shader_fp64 : require\nlayout(local_size_x = 64) in;"

/**
 * buffer_to_buffer() - runs a compute shader with two storage buffers
 * @source: begins with DOUBLES, reads buffer 0 and writes buffer 1
 * @in: contents of buffer 0, of @in_bytes
 * @found: gets those of buffer 1, of @found_bytes
 * @threads: a multiple of 64
 */
static void buffer_to_buffer(const char *source, const void *in, size_t in_bytes, void *found, size_t found_bytes,
			     unsigned threads)
{
	GLuint to;

	storage(0, in, in_bytes);
	to = storage(1, NULL, found_bytes);
	compute_program(source);
	glDispatchCompute(threads / 64, 1, 1);
	buffer_read(to, found, found_bytes);
}

/* Sums of doubles that end exactly between two, beside ones that do not; chips without doubles compute them by integers. */
static void double_ties(void)
{
	enum { COUNT = 256 };
	static double in[2 * COUNT], found[COUNT], expected[COUNT];
	unsigned ties = 0;

	in[0] = 0.22;
	in[1] = 0.25;
	for (unsigned i = 1; i < COUNT; i++) {
		/* 1 + i units, and half a unit, a bit more or a bit less. */
		in[2 * i] = 1 + i * 0x1p-52;
		in[2 * i + 1] = (i % 3 ? 0x1p-53 : 0x1.8p-54) + (i % 5 ? 0 : 0x1p-55);
	}
	for (unsigned i = 0; i < COUNT; i++) {
		expected[i] = in[2 * i] + in[2 * i + 1];
		ties += i && in[2 * i + 1] == 0x1p-53;
	}
	if (ties < 100)
		wrong("only %u ties", ties);
	buffer_to_buffer(DOUBLES
			 "layout(std430, binding = 0) buffer a { uvec4 from[]; };"
			 "layout(std430, binding = 1) buffer b { uvec2 to[]; };"
			 "void main() { uint i = gl_GlobalInvocationID.x; uvec4 pair = from[i];"
			 "  to[i] = unpackDouble2x32(packDouble2x32(pair.xy) + packDouble2x32(pair.zw)); }",
			 in, sizeof(in), found, sizeof(found), COUNT);
	equal("sums, in words of 32 bits", found, expected, 2 * COUNT);
}

/* Vectors of doubles in storage buffers. */
static void double_buffers(void)
{
	enum { COUNT = 64 };
	static double in[2 * COUNT], found[2 * COUNT], expected[2 * COUNT];

	for (unsigned i = 0; i < 2 * COUNT; i++) {
		in[i] = (i % 2 ? -0.5 : 1) - i * 0x1p-40;
		expected[i] = 2 * in[i];
	}
	buffer_to_buffer(DOUBLES
			 "layout(std430, binding = 0) buffer a { dvec2 from[]; };"
			 "layout(std430, binding = 1) buffer b { dvec2 to[]; };"
			 "void main() { uint i = gl_GlobalInvocationID.x; to[i] = from[i] + from[i]; }",
			 in, sizeof(in), found, sizeof(found), COUNT);
	equal("words of doubles", found, expected, 4 * COUNT);
}

/**
 * parts() - stores components of vectors to a storage buffer, and leaves the others alone
 * @source: has 64 threads, reads @words of each vector from buffer 0 and writes those at @order to buffer 1
 * @order: for each word of a vector in buffer 1 the word that it has from buffer 0; -1: none
 */
static void parts(const char *source, const char *name, const int *order, unsigned words)
{
	enum { COUNT = 64, MOST = 8 };
	static uint32_t in[COUNT * MOST], found[COUNT * MOST], expected[COUNT * MOST];
	GLuint to;

	for (unsigned i = 0; i < COUNT * words; i++) {
		int from = order[i % words];

		in[i] = 0x3f000000 + 0x1001 * i;
		found[i] = 0x3d000000 + i;
		expected[i] = from < 0 ? found[i] : 0x3f000000 + 0x1001 * (i - i % words + from);
	}
	storage(0, in, COUNT * words * 4);
	to = storage(1, found, COUNT * words * 4);
	compute_program(source);
	glDispatchCompute(1, 1, 1);
	buffer_read(to, found, COUNT * words * 4);
	equal(name, found, expected, COUNT * words);
}

#define PARTS_OF(type, code) DOUBLES \
	"layout(std430, binding = 0) buffer a { " type " from[]; };" \
	"layout(std430, binding = 1) buffer b { " type " kept[]; };" \
	"shared " type " own[64];" \
	"void main() { uint i = gl_GlobalInvocationID.x; " type " v = from[i]; " code " }"
/* Stores to the buffer, or to shared memory that has its contents and is copied back. */
#define PARTS(type, code) PARTS_OF(type, "\n#define to kept\n" code)
#define SHARED_PARTS(type, code) PARTS_OF(type, "own[i] = kept[i]; barrier();\n#define to own\n" code " barrier(); kept[i] = own[i];")

static void buffer_parts(void)
{
	parts(PARTS("vec4", "to[i].xy = v.yx; to[i].w = v.w;"), "components x, y, w", (const int[]) { 1, 0, -1, 3 }, 4);
	parts(PARTS("vec4", "to[i].zx = v.xw;"), "components x, z", (const int[]) { 3, -1, 0, -1 }, 4);
	parts(PARTS("vec2", "to[i].y = v.x;"), "component y", (const int[]) { -1, 0 }, 2);
}

static void double_parts(void)
{
	parts(PARTS("dvec2", "to[i].y = v.x;"), "y of two doubles", (const int[]) { -1, -1, 0, 1 }, 4);
	parts(PARTS("dvec4", "to[i].w = v.x;"), "w of four doubles", (const int[]) { -1, -1, -1, -1, -1, -1, 0, 1 }, 8);
	parts(PARTS("dvec4", "to[i].zx = v.xw;"), "x, z of four doubles", (const int[]) { 6, 7, -1, -1, 0, 1, -1, -1 }, 8);
	parts(PARTS("dvec4", "to[i].xy = v.yx; to[i].w = v.w;"), "x, y, w of four doubles",
	      (const int[]) { 2, 3, 0, 1, -1, -1, 6, 7 }, 8);
	parts(PARTS("dvec4", "to[i] = v.wzyx;"), "four doubles", (const int[]) { 6, 7, 4, 5, 2, 3, 0, 1 }, 8);
}

static void shared_parts(void)
{
	parts(SHARED_PARTS("vec4", "to[i].zx = v.xw;"), "components x, z", (const int[]) { 3, -1, 0, -1 }, 4);
	parts(SHARED_PARTS("vec2", "to[i].y = v.x;"), "component y", (const int[]) { -1, 0 }, 2);
	parts(SHARED_PARTS("dvec2", "to[i].y = v.x;"), "y of two doubles", (const int[]) { -1, -1, 0, 1 }, 4);
	parts(SHARED_PARTS("dvec4", "to[i].xy = v.yx; to[i].w = v.w;"), "x, y, w of four doubles",
	      (const int[]) { 2, 3, 0, 1, -1, -1, 6, 7 }, 8);
}

const struct test compute_tests[] = {
	{ "ids", ids },
	{ "barriers", barriers },
	{ "barriers-alone", barriers_alone },
	{ "shared-atomics", shared_atomics },
	{ "textures", textures },
	{ "mapped", mapped },
	{ "double-ties", double_ties },
	{ "double-buffers", double_buffers },
	{ "buffer-parts", buffer_parts },
	{ "double-parts", double_parts },
	{ "shared-parts", shared_parts },
	{ NULL, NULL },
};
