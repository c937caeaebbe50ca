/* SPDX-License-Identifier: MIT */
/**
 * DOC: gl-writes
 *
 * What the CPU does with a buffer that nothing but shaders has written must wait for
 * them, on the radeon no-op shim. The writers are storage buffers, images and atomic
 * counters (where the chip has them) and stream-out. The accesses are mappings to read
 * and write, mappings to write, and glBufferSubData(). Each is tried while the
 * commands are not submitted and while the GPU, which is late, executes them, with a
 * new buffer and with one whose contents were invalidated while it stayed bound.
 *
 * The GPU of the shim executes no shader, so no contents are compared: when a mapping has
 * been made, the commands must be submitted and the GPU idle; a write by ioctl
 * must not come before the submission, nor be unsynchronized.
 *
 * It prints how many combinations were tried. Status 0: all is as described; 1: it is
 * not, with a line for each.
 */

#include "gltest.h"

#include <stdio.h>
#include <string.h>

#define SIZE 4096
/* How late the GPU is. Grows if this program is even later. */
static unsigned latency_us = 50 * 1000;

static GLuint buffer, texture, programs[4];
static unsigned tried, wrong;

static void storage_bind(void) { glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer); }
static void atomics_bind(void) { glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, buffer); }
static void record_bind(void) { glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer); }

static void image_bind(void)
{
	glBindTexture(GL_TEXTURE_BUFFER, texture);
	glTexBuffer(GL_TEXTURE_BUFFER, GL_R32UI, buffer);
	glBindImageTexture(0, texture, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_R32UI);
}

static void dispatch(void)
{
	glDispatchCompute(16, 1, 1);
	glMemoryBarrier(GL_ALL_BARRIER_BITS);
}

static void record(void)
{
	glEnable(GL_RASTERIZER_DISCARD);
	glBeginTransformFeedback(GL_POINTS);
	glDrawArrays(GL_POINTS, 0, 16);
	glEndTransformFeedback();
	glDisable(GL_RASTERIZER_DISCARD);
}

static const struct {
	const char *name;
	const char *compute; /* shader; NULL: stream-out */
	void (*bind)(void);
	void (*write)(void);
} writers[] = {
	{ "storage buffer", "#version 430\nlayout(local_size_x = 64) in;"
	  "layout(std430, binding = 0) buffer b { uint v[]; };"
	  "void main() { v[gl_GlobalInvocationID.x] = 1u; }", storage_bind, dispatch },
	{ "image", "#version 430\nlayout(local_size_x = 64) in;"
	  "layout(r32ui, binding = 0) writeonly uniform uimageBuffer v;"
	  "void main() { imageStore(v, int(gl_GlobalInvocationID.x), uvec4(1u)); }", image_bind, dispatch },
	{ "atomic counters", "#version 430\nlayout(local_size_x = 64) in;"
	  "layout(binding = 0, offset = 0) uniform atomic_uint v;"
	  "void main() { atomicCounterIncrement(v); }", atomics_bind, dispatch },
	{ "stream-out", NULL, record_bind, record },
};

/* Each returns whether it leaves a mapping that the program sees. */
static bool map_read_write(void)
{
	return glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, SIZE, GL_MAP_READ_BIT | GL_MAP_WRITE_BIT);
}

static bool map_write(void)
{
	return glMapBufferRange(GL_COPY_WRITE_BUFFER, 64, 128, GL_MAP_WRITE_BIT);
}

static bool map_flush(void)
{
	return glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, SIZE, GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT);
}

static bool subdata(void)
{
	static const uint8_t data[64];

	glBufferSubData(GL_COPY_WRITE_BUFFER, 64, sizeof(data), data);
	return false;
}

static const struct {
	const char *name;
	bool (*access)(void);
} accesses[] = {
	{ "mapping to read and write", map_read_write },
	{ "mapping to write", map_write },
	{ "mapping with explicit flushes", map_flush },
	{ "glBufferSubData", subdata },
};

static uint64_t written(void)
{
	return shim.counter("pwrite") + shim.counter("region");
}

static void fault(unsigned w, unsigned a, bool invalidated, bool flushed, const char *what)
{
	wrong++;
	fprintf(stderr, "%s, then %s, %s, %s: %s\n", writers[w].name, accesses[a].name,
		invalidated ? "invalidated" : "new", flushed ? "submitted" : "not submitted", what);
}

static void try_access(unsigned w, unsigned a, bool invalidated, bool flush)
{
	uint64_t submitted = shim.counter("submitted"), writes = written();
	uint64_t unsynchronized = shim.counter("unsynchronized");

	shim.set("latency-us", latency_us);
	writers[w].write();
	if (flush) {
		glFlush();
		while (!shim.counter("gpu-busy")) {
			if (latency_us > 10 * 1000 * 1000)
				die("the GPU is done before the access: nothing is tested");
			latency_us *= 2;
			shim.set("latency-us", latency_us);
			writers[w].write();
			glFlush();
		}
	} else if (shim.counter("submitted") != submitted) {
		die("the commands were submitted: nothing is tested");
	}
	tried++;

	glBindBuffer(GL_COPY_WRITE_BUFFER, buffer);
	if (accesses[a].access()) {
		if (shim.counter("submitted") == submitted)
			fault(w, a, invalidated, flush, "the commands were not submitted");
		else if (shim.counter("gpu-busy"))
			fault(w, a, invalidated, flush, "it did not wait for the GPU");
		glUnmapBuffer(GL_COPY_WRITE_BUFFER);
	}
	glFinish();
	if (written() != writes && shim.counter("submitted-at-write") <= submitted)
		fault(w, a, invalidated, flush, "the write overtakes the commands");
	if (shim.counter("unsynchronized") != unsynchronized)
		fault(w, a, invalidated, flush, "an ioctl did not wait for the GPU");
	shim.set("latency-us", 0);
	no_error(writers[w].name);
}

int main(void)
{
	/* Evergreen and later. */
	bool compute = context_create_core(EGL_NO_CONTEXT, 4, 3) != EGL_NO_CONTEXT;
	unsigned first = compute ? 0 : sizeof(writers) / sizeof(*writers) - 1;
	GLuint array, framebuffer;

	if (!compute)
		context_create(EGL_NO_CONTEXT);
	if (!shim.counter)
		die("gl-writes needs the radeon no-op shim");
	if (compute) {
		glGenVertexArrays(1, &array);
		glBindVertexArray(array);
	}
	/* Draws need a framebuffer, even with rasterization off. */
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
	glGenTextures(1, &texture);
	for (unsigned w = first; w < sizeof(writers) / sizeof(*writers); w++) {
		programs[w] = writers[w].compute ?
			link_program(compile(GL_COMPUTE_SHADER, writers[w].compute), 0, NULL) :
			link_program(compile(GL_VERTEX_SHADER, compute ?
					     "#version 330\nout vec4 v; void main() { v = gl_Position = vec4(1.0); }" :
					     "varying vec4 v; void main() { v = gl_Position = vec4(1.0); }"),
				     compile(GL_FRAGMENT_SHADER, compute ? "#version 330\nvoid main() { }" :
					     "void main() { gl_FragColor = vec4(1.0); }"), "v");
		glUseProgram(programs[w]);
		for (unsigned i = 0; i < 4 * sizeof(accesses) / sizeof(*accesses); i++) {
			bool invalidate = i & 1, flush = i & 2;

			glGenBuffers(1, &buffer);
			glBindBuffer(GL_COPY_WRITE_BUFFER, buffer);
			glBufferData(GL_COPY_WRITE_BUFFER, SIZE, NULL, GL_DYNAMIC_COPY);
			writers[w].bind();
			if (invalidate) {
				writers[w].write();
				glFinish();
				/* It is idle, so that it keeps its storage. */
				glBindBuffer(GL_COPY_WRITE_BUFFER, buffer);
				glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, 16, GL_MAP_WRITE_BIT |
						 GL_MAP_INVALIDATE_BUFFER_BIT | GL_MAP_FLUSH_EXPLICIT_BIT);
				glUnmapBuffer(GL_COPY_WRITE_BUFFER);
				glFinish();
			}
			try_access(w, i / 4, invalidate, flush);
			glDeleteBuffers(1, &buffer);
		}
	}
	printf("%u combinations, compute shaders: %s, %u faults\n", tried, compute ? "yes" : "no", wrong);
	return wrong != 0;
}
