/* SPDX-License-Identifier: MIT */
/* What is bound: parts of buffers and textures, nothing at all, and beside what other shaders have left. */

#include "evergreen.h"

/* Counters of a part of a buffer: in compute and in pixel shaders, and after the part has moved. */
static void counter_ranges(void)
{
	const GLenum types[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *const sources[] = { QUAD,
		"#version 430\nlayout(binding = 0) uniform atomic_uint a;"
		"out vec4 o; void main() { o = vec4(float(atomicCounterIncrement(a))); }" };
	static const uint32_t begin[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	static const uint32_t drawn[8] = { 1, 2, 3, 4 + 80, 5, 6, 7, 8 };
	static const uint32_t dispatched[8] = { 1, 2, 3, 4 + 80, 5, 6, 7 + 192, 8 };
	uint32_t found[8];
	GLuint buffer;

	glGenBuffers(1, &buffer);
	glBindBuffer(GL_ATOMIC_COUNTER_BUFFER, buffer);
	glBufferData(GL_ATOMIC_COUNTER_BUFFER, sizeof(begin), begin, GL_DYNAMIC_COPY);
	glBindBufferRange(GL_ATOMIC_COUNTER_BUFFER, 0, buffer, 12, 4);
	new_target(GL_R32F, 10, 8);
	program_of(types, sources);
	quad();
	buffer_read(buffer, found, sizeof(found));
	equal("after the draw", found, drawn, 8);
	compute_program("#version 430\nlayout(local_size_x = 64) in;"
			"layout(binding = 0, offset = 4) uniform atomic_uint a;"
			"void main() { atomicCounterIncrement(a); }");
	glBindBufferRange(GL_ATOMIC_COUNTER_BUFFER, 0, buffer, 20, 8);
	glDispatchCompute(3, 1, 1);
	buffer_read(buffer, found, sizeof(found));
	equal("after the dispatch", found, dispatched, 8);
}

/* Draws go to 6x5 pixels of one float each. */
static void red_target(void)
{
	new_target(GL_R32F, 6, 5);
}

/* A counter without a buffer: its values are undefined, and what else the shader writes is not. */
static void counters_unbound(void)
{
	const GLenum types[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *const sources[] = { QUAD,
		"#version 430\nlayout(binding = 1) uniform atomic_uint a;"
		"out vec4 o; void main() { o = vec4(min(atomicCounterIncrement(a), 0u) + 1u); }" };
	static const uint32_t counted = 5 + 64;
	static float pixels[6 * 5];
	uint32_t found, begin = 5;
	GLuint buffer;

	red_target();
	program_of(types, sources);
	quad();
	glReadPixels(0, 0, 6, 5, GL_RED, GL_FLOAT, pixels);
	for (unsigned i = 0; i < 6 * 5; i++)
		if (pixels[i] != 1) {
			wrong("pixel %u is %g", i, pixels[i]);
			break;
		}
	/* Another counter, which has a buffer. */
	glGenBuffers(1, &buffer);
	glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, buffer);
	glBufferData(GL_ATOMIC_COUNTER_BUFFER, 4, &begin, GL_DYNAMIC_COPY);
	compute_program("#version 430\nlayout(local_size_x = 64) in;"
			"layout(binding = 0) uniform atomic_uint a; layout(binding = 1) uniform atomic_uint b;"
			"void main() { atomicCounterIncrement(a); atomicCounterIncrement(b); }");
	glDispatchCompute(1, 1, 1);
	buffer_read(buffer, &found, sizeof(found));
	equal("the counter that is bound", &found, &counted, 1);
}

/* Additions to counters whose results nobody reads. */
static void counters_unread(void)
{
	const GLenum types[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *const sources[] = { QUAD,
		"#version 430\n#extension GL_ARB_shader_atomic_counter_ops : require\n"
		"layout(binding = 0) uniform atomic_uint a[4]; out vec4 o;"
		"void main() { atomicCounterAddARB(a[0], 1u); atomicCounterAddARB(a[1], 1u);"
		"  atomicCounterAddARB(a[2], 1u); atomicCounterAddARB(a[3], 1u); o = vec4(1); }" };
	static const uint32_t expected[4] = { 30, 30, 30, 30 };
	uint32_t found[4] = { 0 };
	GLuint buffer;

	red_target();
	glGenBuffers(1, &buffer);
	glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, buffer);
	glBufferData(GL_ATOMIC_COUNTER_BUFFER, sizeof(found), found, GL_DYNAMIC_COPY);
	program_of(types, sources);
	quad();
	buffer_read(buffer, found, sizeof(found));
	equal("the counters", found, expected, 4);
}

/* The shaders of a draw count in one buffer: some counters of each alone, and one of both, which is not at the same place in both. */
static void counters_of_stages(void)
{
	const GLenum types[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *const sources[] = {
		"#version 430\nlayout(location = 0) in vec2 p;"
		"layout(binding = 0, offset = 0) uniform atomic_uint a; layout(binding = 0, offset = 8) uniform atomic_uint c;"
		"layout(binding = 1, offset = 4) uniform atomic_uint e[2];"
		"void main() { atomicCounterIncrement(a); atomicCounterIncrement(c); atomicCounterIncrement(e[1]);"
		"  gl_Position = vec4(p, 0, 1); }",
		"#version 430\nlayout(binding = 0, offset = 4) uniform atomic_uint b;"
		"layout(binding = 0, offset = 8) uniform atomic_uint c; layout(binding = 1) uniform atomic_uint d; out vec4 o;"
		"void main() { atomicCounterIncrement(b); atomicCounterIncrement(c); atomicCounterIncrement(d); o = vec4(1); }" };
	static const uint32_t begin[2][4] = { { 10, 20, 30, 40 }, { 50, 60, 70, 80 } };
	static const uint32_t expected[2][4] = { { 14, 50, 64, 40 }, { 80, 60, 74, 80 } };
	static const uint32_t other[4] = { 14, 80, 94, 40 };
	uint32_t found[4];
	GLuint buffers[2];

	red_target();
	glGenBuffers(2, buffers);
	for (unsigned i = 0; i < 2; i++) {
		glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, i, buffers[i]);
		glBufferData(GL_ATOMIC_COUNTER_BUFFER, sizeof(begin[i]), begin[i], GL_DYNAMIC_COPY);
	}
	program_of(types, sources);
	quad();
	for (unsigned i = 0; i < 2; i++) {
		buffer_read(buffers[i], found, sizeof(found));
		equal(i ? "the second buffer" : "the first buffer", found, expected[i], 4);
	}
	/* The same source beside a vertex shader that does not count. */
	program_of(types, (const char *const[]) { QUAD, sources[1] });
	quad();
	buffer_read(buffers[0], found, sizeof(found));
	equal("the pixel shader alone", found, other, 4);
}

#define COUNTING_VERTEX(counters, count) \
	"#version 430\nout gl_PerVertex { vec4 gl_Position; }; layout(location = 0) in vec2 p;" counters \
	"void main() { gl_Position = vec4(p, 0, 1); " count " }"
#define COUNTING_PIXEL(counters, count) "#version 430\n" counters "out vec4 o; void main() { o = vec4(1); " count " }"
#define EACH_OF(n, counters) "for (int i = 0; i < " #n "; i++) atomicCounterIncrement(" #counters "[i]);"

/* A draw of a vertex and a pixel shader of separate programs. */
static void draw_with(GLuint pipeline, GLuint vertex, GLuint pixel)
{
	glUseProgramStages(pipeline, GL_VERTEX_SHADER_BIT, vertex);
	glUseProgramStages(pipeline, GL_FRAGMENT_SHADER_BIT, pixel);
	quad();
}

/*
 * Counters of separate programs: arrays that have a part of a buffer in common, and together more than there are.
 * Such draws are refused, and others of the same shaders are not.
 */
static void counters_of_programs(void)
{
	const char *const sources[] = {
		COUNTING_VERTEX("layout(binding = 0) uniform atomic_uint a[5];", EACH_OF(5, a)),
		COUNTING_VERTEX("layout(binding = 0) uniform atomic_uint a;", "atomicCounterIncrement(a);"),
		COUNTING_VERTEX("layout(binding = 2) uniform atomic_uint a[4];", EACH_OF(4, a)),
		COUNTING_PIXEL("", ""),
		COUNTING_PIXEL("layout(binding = 1) uniform atomic_uint b[5];", EACH_OF(5, b)),
		COUNTING_PIXEL("layout(binding = 2, offset = 4) uniform atomic_uint b[4];"
			       "layout(binding = 3) uniform atomic_uint c[2];", EACH_OF(4, b) EACH_OF(2, c)),
	};
	static const char *const what[] = { "of the vertex shaders", "of the pixel shader", "of both", "beside those" };
	static const uint32_t begin[5];
	uint32_t expected[4][5] = { { 24, 12, 12, 12, 12 }, { 90, 90, 90, 90, 90 },
				    { 12, 102, 102, 102, 90 }, { 90, 90 } };
	uint32_t found[5];
	GLint most;
	GLuint programs[6], pipeline, buffers[4];

	red_target();
	glGenProgramPipelines(1, &pipeline);
	for (unsigned i = 0; i < 6; i++)
		programs[i] = glCreateShaderProgramv(i < 3 ? GL_VERTEX_SHADER : GL_FRAGMENT_SHADER, 1, &sources[i]);
	glUseProgram(0);
	glBindProgramPipeline(pipeline);
	glGenBuffers(4, buffers);
	for (unsigned i = 0; i < 4; i++) {
		glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, i, buffers[i]);
		glBufferData(GL_ATOMIC_COUNTER_BUFFER, sizeof(begin), begin, GL_DYNAMIC_COPY);
	}
	glGetIntegerv(GL_MAX_COMBINED_ATOMIC_COUNTERS, &most);
	for (unsigned i = 0; i < 5 && most >= 10; i++) {
		/* Nothing is refused. */
		expected[0][i] += 12;
		expected[1][i] += 90;
	}
	for (unsigned turn = 0; turn < 3; turn++) {
		draw_with(pipeline, programs[0], programs[3]);
		draw_with(pipeline, programs[1], programs[4]);
		draw_with(pipeline, programs[0], programs[4]); /* ten counters */
		draw_with(pipeline, programs[2], programs[5]);
	}
	for (unsigned i = 0; i < 4; i++) {
		buffer_read(buffers[i], found, sizeof(found));
		equal(what[i], found, expected[i], 5);
	}
}

/* A shader without images writes a buffer while images of the shader before are still bound. */
static void buffers_after_images(void)
{
	static uint32_t found[64], expected[64], texels[16];
	const GLenum types[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *const sources[] = { QUAD, "#version 430\nout vec4 o; void main() { o = vec4(1.0); }" };
	GLuint texture, to, with, without, draw;

	new_target(GL_RGBA8, 16, 16);
	draw = program_of(types, sources);
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_R32UI, 4, 4);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 4, 4, GL_RED_INTEGER, GL_UNSIGNED_INT, texels);
	glBindImageTexture(0, texture, 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32UI);
	with = compute_program("#version 430\nlayout(local_size_x = 64) in;"
			       "layout(r32ui, binding = 0) uniform uimage2D a;"
			       "layout(std430, binding = 0) buffer b { uint to[]; };"
			       "void main() { uint i = gl_LocalInvocationID.x; to[i] = i + 7u;"
			       "  if (i < 16u) imageStore(a, ivec2(i & 3u, i >> 2), uvec4(i)); }");
	without = compute_program("#version 430\nlayout(local_size_x = 64) in;"
				  "layout(std430, binding = 0) buffer b { uint to[]; };"
				  "void main() { uint i = gl_LocalInvocationID.x; to[i] += i * 3u + 1u; }");
	to = storage(0, NULL, sizeof(found));
	for (unsigned turn = 0; turn < 2; turn++) {
		glUseProgram(with);
		glDispatchCompute(1, 1, 1);
		glMemoryBarrier(GL_ALL_BARRIER_BITS);
		glUseProgram(draw);
		quad();
		glUseProgram(without);
		glDispatchCompute(1, 1, 1);
		buffer_read(to, found, sizeof(found));
		for (unsigned i = 0; i < 64; i++)
			expected[i] = 4 * i + 8;
		equal(turn ? "the second time" : "the first time", found, expected, 64);
		glGetTexImage(GL_TEXTURE_2D, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, texels);
		for (unsigned i = 0; i < 16; i++)
			expected[i] = i;
		equal("the image", texels, expected, 16);
	}
}

/* An image of 8x8 words, zeroes, in binding @binding. */
static GLuint words_image(GLuint binding)
{
	static const uint32_t zeroes[64];
	GLuint texture;

	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_R32UI, 8, 8);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 8, 8, GL_RED_INTEGER, GL_UNSIGNED_INT, zeroes);
	glBindImageTexture(binding, texture, 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32UI);
	return texture;
}

static void image_equal(const char *what, GLuint texture, uint32_t factor)
{
	uint32_t texels[64], expected[64];

	glMemoryBarrier(GL_ALL_BARRIER_BITS);
	glBindTexture(GL_TEXTURE_2D, texture);
	glGetTexImage(GL_TEXTURE_2D, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, texels);
	for (unsigned i = 0; i < 64; i++)
		expected[i] = factor * (i + 1);
	equal(what, texels, expected, 64);
}

/* @count textures of 8x8 pixels. */
static void make_targets(GLuint *targets, unsigned count)
{
	glGenTextures(count, targets);
	for (unsigned i = 0; i < count; i++) {
		glBindTexture(GL_TEXTURE_2D, targets[i]);
		glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 8, 8);
	}
}

/* Binds a new framebuffer with the first @count of @targets as its colours. */
static GLuint framebuffer_with(const GLuint *targets, unsigned count)
{
	GLuint framebuffer = framebuffer_of(targets[0]);
	GLenum attachments[8];

	for (unsigned i = 0; i < count; i++) {
		attachments[i] = GL_COLOR_ATTACHMENT0 + i;
		glFramebufferTexture(GL_FRAMEBUFFER, attachments[i], targets[i], 0);
	}
	glDrawBuffers(count, attachments);
	return framebuffer;
}

/* What atomic operations return, and sizes of buffers, in a shader that has images, too. */
static void buffers_beside_images(void)
{
	uint32_t begin[64], found[64], expected[64];
	GLuint images[2], counts, out, sizes;

	for (unsigned i = 0; i < 64; i++)
		begin[i] = 1000 + 7 * i;
	for (unsigned i = 0; i < 2; i++)
		images[i] = words_image(i);
	counts = storage(0, begin, sizeof(begin));
	storage(1, NULL, 40);
	out = storage(2, NULL, sizeof(found));
	sizes = storage(3, NULL, 12);
	compute_program("#version 430\nlayout(local_size_x = 64) in;"
			"layout(r32ui, binding = 0) uniform uimage2D a; layout(r32ui, binding = 1) uniform uimage2D b;"
			"layout(std430, binding = 0) buffer c { uint counts[]; };"
			"layout(std430, binding = 1) buffer d { uint pad; uint others[]; };"
			"layout(std430, binding = 2) buffer e { uint found[]; };"
			"layout(std430, binding = 3) buffer f { uint sizes[3]; };"
			"void main() { uint i = gl_LocalInvocationID.x; ivec2 p = ivec2(i & 7u, i >> 3);"
			"  imageStore(b, p, uvec4(2u * i + 2u));"
			"  found[i] = atomicAdd(counts[i], 3u) + imageAtomicAdd(a, p, i + 1u);"
			"  if (i == 0u) { sizes[0] = uint(counts.length()); sizes[1] = uint(others.length());"
			"    sizes[2] = uint(found.length()); others[0] = 1u; } }");
	glDispatchCompute(1, 1, 1);
	buffer_read(out, found, sizeof(found));
	equal("what the operations return", found, begin, 64);
	for (unsigned i = 0; i < 64; i++)
		expected[i] = begin[i] + 3;
	buffer_read(counts, found, sizeof(found));
	equal("what they leave", found, expected, 64);
	buffer_read(sizes, found, 12);
	equal("sizes", found, (const uint32_t[]) { 64, 9, 64 }, 3);
	image_equal("the first image", images[0], 1);
	image_equal("the second image", images[1], 2);
}

/*
 * Images and buffers behind eight colour buffers, of which the shader writes one: the chip has
 * twelve targets, and the registers of the last four are elsewhere.
 */
static void targets_beyond_eight(void)
{
	const GLenum types[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *const sources[] = { QUAD,
		"#version 430\nlayout(r32ui, binding = 0) uniform uimage2D a; layout(r32ui, binding = 1) uniform uimage2D b;"
		"layout(std430, binding = 0) buffer c { uint d[]; }; layout(std430, binding = 1) buffer e { uint f[]; };"
		"layout(location = 0) out vec4 o;"
		"void main() { ivec2 p = ivec2(gl_FragCoord.xy); uint i = uint(p.x + 8 * p.y + 1); o = vec4(1.0);"
		"  imageStore(a, p, uvec4(i)); imageStore(b, p, uvec4(2u * i)); d[i - 1u] = 3u * i;"
		"  f[i - 1u] = atomicAdd(d[i + 63u], 1u); }" };
	uint32_t begin[128] = { 0 }, found[128], expected[128];
	GLuint images[2], targets[8], buffers[2];

	for (unsigned i = 0; i < 64; i++) {
		begin[64 + i] = 5 * i;
		expected[i] = 3 * (i + 1);
		expected[64 + i] = 5 * i + 1;
	}
	make_targets(targets, 8);
	framebuffer_with(targets, 8);
	glViewport(0, 0, 8, 8);
	for (unsigned i = 0; i < 2; i++)
		images[i] = words_image(i);
	buffers[0] = storage(0, begin, sizeof(begin));
	buffers[1] = storage(1, NULL, 256);
	program_of(types, sources);
	quad();
	image_equal("the first image", images[0], 1);
	image_equal("the second image", images[1], 2);
	buffer_read(buffers[0], found, sizeof(begin));
	equal("the first buffer", found, expected, 128);
	buffer_read(buffers[1], found, 256);
	equal("the second buffer", found, begin + 64, 64);
	glReadPixels(0, 0, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE, found);
	for (unsigned i = 0; i < 64; i++)
		expected[i] = 0xFFFFFFFF;
	equal("the colour", found, expected, 64);
}

/* Eight buffers stay bound while a shader without any asks for the sizes of four images. */
static void images_after_buffers(void)
{
	static const uint32_t expected[8] = { 4, 8, 12, 16, 20, 24, 28, 32 };
	uint32_t texels[32], found[8], eight[8];
	GLuint images[4], buffers[8];

	for (unsigned i = 0; i < 8; i++)
		buffers[i] = storage(i, NULL, 64);
	compute_program("#version 430\nlayout(local_size_x = 1) in;"
			"layout(std430, binding = 0) buffer a { uint to[]; } b[8];"
			"void main() { b[0].to[0] = 1u; b[1].to[0] = 2u; b[2].to[0] = 3u; b[3].to[0] = 4u;"
			"  b[4].to[0] = 5u; b[5].to[0] = 6u; b[6].to[0] = 7u; b[7].to[0] = 8u; }");
	glDispatchCompute(1, 1, 1);
	glGenTextures(4, images);
	for (unsigned i = 0; i < 4; i++) {
		glBindTexture(GL_TEXTURE_2D, images[i]);
		glTexStorage2D(GL_TEXTURE_2D, 1, GL_R32UI, 4 * (2 * i + 1), 4 * (2 * i + 2));
		glBindImageTexture(i, images[i], 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32UI);
	}
	compute_program("#version 430\nlayout(local_size_x = 1) in;"
			"layout(r32ui, binding = 0) uniform uimage2D a; layout(r32ui, binding = 1) uniform uimage2D b;"
			"layout(r32ui, binding = 2) uniform uimage2D c; layout(r32ui, binding = 3) uniform uimage2D d;"
			"void put(int x, ivec2 size) { imageStore(a, ivec2(x, 0), uvec4(size.x));"
			"  imageStore(a, ivec2(x, 1), uvec4(size.y)); }"
			"void main() { put(0, imageSize(a)); put(1, imageSize(b)); put(2, imageSize(c)); put(3, imageSize(d)); }");
	glDispatchCompute(1, 1, 1);
	glMemoryBarrier(GL_ALL_BARRIER_BITS);
	glBindTexture(GL_TEXTURE_2D, images[0]);
	glGetTexImage(GL_TEXTURE_2D, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, texels);
	for (unsigned i = 0; i < 8; i++)
		found[i] = texels[i / 2 + 4 * (i % 2)];
	equal("sizes", found, expected, 8);
	for (unsigned i = 0; i < 8; i++)
		buffer_read(buffers[i], &eight[i], 4);
	equal("the buffers", eight, (const uint32_t[]) { 1, 2, 3, 4, 5, 6, 7, 8 }, 8);
}

/* One program draws to framebuffers with one and with four colour buffers in turn. */
static void targets_move(void)
{
	const GLenum types[] = { GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, 0 };
	const char *const sources[] = { QUAD,
		"#version 430\nlayout(r32ui, binding = 0) uniform uimage2D a;"
		"layout(std430, binding = 0) buffer b { uint d[]; };"
		"layout(location = 0) out vec4 o;"
		"void main() { ivec2 p = ivec2(gl_FragCoord.xy); uint i = uint(p.x + 8 * p.y); o = vec4(1.0);"
		"  imageAtomicAdd(a, p, i + 1u); atomicAdd(d[i], 2u); }" };
	uint32_t found[64], expected[64];
	GLuint targets[4], framebuffers[2], image, buffer;

	make_targets(targets, 4);
	framebuffers[0] = framebuffer_with(targets, 1);
	framebuffers[1] = framebuffer_with(targets, 4);
	glViewport(0, 0, 8, 8);
	image = words_image(0);
	buffer = storage(0, NULL, sizeof(found));
	program_of(types, sources);
	for (unsigned turn = 0; turn < 6; turn++) {
		glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[turn & 1]);
		quad();
	}
	image_equal("the image", image, 6);
	for (unsigned i = 0; i < 64; i++)
		expected[i] = 12;
	buffer_read(buffer, found, sizeof(found));
	equal("the buffer", found, expected, 64);
}

/* Shaders ask for the sizes of views with fewer layers than their texture: as images and as textures. */
static void view_sizes(void)
{
	static const uint32_t expected[] = { 16, 16, 2, 16, 16, 2, 16, 8, 5, 16, 8, 5 };
	uint32_t found[12];
	GLuint textures[2], views[2], to;

	glGenTextures(2, textures);
	glGenTextures(2, views);
	glBindTexture(GL_TEXTURE_CUBE_MAP_ARRAY, textures[0]);
	glTexStorage3D(GL_TEXTURE_CUBE_MAP_ARRAY, 1, GL_R32UI, 16, 16, 24);
	glTextureView(views[0], GL_TEXTURE_CUBE_MAP_ARRAY, textures[0], GL_R32UI, 0, 1, 6, 12);
	glBindTexture(GL_TEXTURE_2D_ARRAY, textures[1]);
	glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_R32UI, 16, 8, 9);
	glTextureView(views[1], GL_TEXTURE_2D_ARRAY, textures[1], GL_R32UI, 0, 1, 3, 5);
	for (unsigned i = 0; i < 2; i++) {
		GLenum target = i ? GL_TEXTURE_2D_ARRAY : GL_TEXTURE_CUBE_MAP_ARRAY;

		glActiveTexture(GL_TEXTURE0 + i);
		glBindTexture(target, views[i]);
		glTexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glTexParameteri(target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
		glBindImageTexture(i, views[i], 0, GL_TRUE, 0, GL_READ_ONLY, GL_R32UI);
	}
	to = storage(0, NULL, sizeof(found));
	compute_program("#version 430\nlayout(local_size_x = 1) in;"
			"layout(r32ui, binding = 0) readonly uniform uimageCubeArray a;"
			"layout(r32ui, binding = 1) readonly uniform uimage2DArray b;"
			"layout(binding = 0) uniform usamplerCubeArray c;"
			"layout(binding = 1) uniform usampler2DArray d;"
			"layout(std430, binding = 0) buffer e { int to[]; };"
			"void put(int at, ivec3 size) { to[at] = size.x; to[at + 1] = size.y; to[at + 2] = size.z; }"
			"void main() { put(0, imageSize(a)); put(3, textureSize(c, 0));"
			"  put(6, imageSize(b)); put(9, textureSize(d, 0)); }");
	glDispatchCompute(1, 1, 1);
	buffer_read(to, found, sizeof(found));
	equal("cubes and layers of the views", found, expected, 12);
}

/* An image that was bound, and is not any more. */
static void images_unbound(void)
{
	uint32_t texels[4] = { 9, 9, 9, 9 }, found[3], found_texels[4];
	const uint32_t bound[3] = { 4, 9, 9 }, unbound[3] = { 0, 0, 0 };
	GLuint image, to;

	glGenTextures(1, &image);
	glBindTexture(GL_TEXTURE_2D, image);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_R32UI, 4, 1);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 4, 1, GL_RED_INTEGER, GL_UNSIGNED_INT, texels);
	compute_program("#version 430\nlayout(local_size_x = 1) in;"
			"layout(binding = 1, r32ui) uniform uimage2D i;"
			"layout(std430, binding = 0) buffer b { uint size, loaded, before; };"
			"void main() { size = uint(imageSize(i).x); loaded = imageLoad(i, ivec2(1, 0)).x;"
			"  before = imageAtomicAdd(i, ivec2(2, 0), 5u); }");
	for (unsigned round = 0; round < 2; round++) {
		glBindImageTexture(1, round ? 0 : image, 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32UI);
		to = storage(0, NULL, sizeof(found));
		glDispatchCompute(1, 1, 1);
		buffer_read(to, found, sizeof(found));
		equal(round ? "not bound" : "bound", found, round ? unbound : bound, 3);
	}
	texels[2] += 5;
	glGetTexImage(GL_TEXTURE_2D, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, found_texels);
	equal("texels", found_texels, texels, 4);
}

const struct test binding_tests[] = {
	{ "counter-ranges", counter_ranges },
	{ "counters-unbound", counters_unbound },
	{ "counters-unread", counters_unread },
	{ "counters-of-stages", counters_of_stages },
	{ "counters-of-programs", counters_of_programs },
	{ "buffers-after-images", buffers_after_images },
	{ "buffers-beside-images", buffers_beside_images },
	{ "targets-beyond-eight", targets_beyond_eight },
	{ "targets-move", targets_move },
	{ "images-after-buffers", images_after_buffers },
	{ "view-sizes", view_sizes },
	{ "images-unbound", images_unbound },
	{ NULL, NULL },
};
