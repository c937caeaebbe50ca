/* SPDX-License-Identifier: MIT */
/**
 * DOC: gl-faults TEST [CALL]
 *
 * What happens when calls fail, on the radeon no-op shim:
 *
 * faults   lets each kind of call fail in turn, with each errno that a kernel
 *          could answer, once and for good, at each place in a sequence of
 *          uploads and readbacks. Contents must be exact, or GL_OUT_OF_MEMORY
 *          must have been raised, which is allowed only where no other way is
 *          left. The shim counts the failures, so that each is known to happen.
 * queued   neither a queued write nor the mapping instead of it is possible: the GPU
 *          copies, before the commands that were recorded after the write
 * leak     textures whose uploads cannot be mapped are destroyed all the same. It runs with
 *          R600_DEBUG=mmap, so that uploads are mapped.
 * shaders  no shader can be stored, no vertex be fetched and no parameters of a dispatch
 *          be read, for there can be no mapping and are no ioctls; later there can
 * limit    70,000 small buffers where a process gets 65,530 mappings
 * order    an upload does not overtake a command stream that the submission
 *          thread still holds
 * random   random uploads, mappings and readbacks of buffers, against a model in
 *          memory, also with a latency
 * random-idle  the same, but the GPU is idle at each write
 *
 * Status 0: all is as described; 1: it is not, with a message.
 */

#include "gltest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFERS 24
#define SIZE 6000 /* more than what is queued */

static uint8_t model[BUFFERS][SIZE];
static const char *only_call;
static GLuint names[BUFFERS];

/* One of each kind of upload. Returns false if GL has raised GL_OUT_OF_MEMORY. */
static bool sequence(bool *exact)
{
	static uint8_t texels[64 * 4], got[SIZE], glyph[16 * 16];
	GLuint texture[2];
	GLenum error;
	bool oom = false;

	*exact = true;
	glGenBuffers(BUFFERS, names);
	for (int i = 0; i < BUFFERS; i++) {
		uint8_t *map;

		fill(model[i], SIZE, i + 1);
		glBindBuffer(GL_ARRAY_BUFFER, names[i]);
		switch (i % 4) {
		case 0:
			glBufferData(GL_ARRAY_BUFFER, SIZE, model[i], GL_STATIC_DRAW);
			break;
		case 1:
			glBufferData(GL_ARRAY_BUFFER, SIZE, NULL, GL_DYNAMIC_DRAW);
			glBufferSubData(GL_ARRAY_BUFFER, 0, 1000, model[i]);
			glBufferSubData(GL_ARRAY_BUFFER, 1000, 4000, model[i] + 1000);
			glBufferSubData(GL_ARRAY_BUFFER, 5000, SIZE - 5000, model[i] + 5000);
			break;
		case 2:
			glBufferData(GL_ARRAY_BUFFER, SIZE, NULL, GL_STREAM_DRAW);
			map = glMapBufferRange(GL_ARRAY_BUFFER, 0, SIZE, GL_MAP_WRITE_BIT);
			if (map) {
				memcpy(map, model[i], SIZE);
				glUnmapBuffer(GL_ARRAY_BUFFER);
			}
			break;
		case 3:
			glBufferData(GL_ARRAY_BUFFER, SIZE, model[i], GL_STATIC_DRAW);
			map = glMapBufferRange(GL_ARRAY_BUFFER, 100, 50, GL_MAP_WRITE_BIT |
					       GL_MAP_FLUSH_EXPLICIT_BIT);
			if (map) {
				memset(map + 10, 7, 20);
				memset(model[i] + 110, 7, 20);
				glFlushMappedBufferRange(GL_ARRAY_BUFFER, 10, 20);
				glUnmapBuffer(GL_ARRAY_BUFFER);
			}
			break;
		}
	}

	fill(texels, sizeof(texels), 99);
	fill(glyph, sizeof(glyph), 98);
	glGenTextures(2, texture);
	glBindTexture(GL_TEXTURE_1D, texture[0]);
	glTexImage1D(GL_TEXTURE_1D, 0, GL_RGBA8, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
	glBindTexture(GL_TEXTURE_2D, texture[1]);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_ALPHA8, 16, 16, 0, GL_ALPHA, GL_UNSIGNED_BYTE, glyph);
	glFinish();

	while ((error = glGetError())) {
		if (error != GL_OUT_OF_MEMORY)
			die("GL error 0x%x", error);
		oom = true;
	}
	for (int i = 0; i < BUFFERS; i++) {
		memset(got, 0, SIZE);
		glBindBuffer(GL_ARRAY_BUFFER, names[i]);
		glGetBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, got);
		if (memcmp(got, model[i], SIZE))
			*exact = false;
	}
	while ((error = glGetError())) {
		if (error != GL_OUT_OF_MEMORY)
			die("GL error 0x%x when reading back", error);
		oom = true;
	}
	glDeleteTextures(2, texture);
	glDeleteBuffers(BUFFERS, names);
	glFinish();
	return !oom;
}

static int faults(void)
{
	static const char *const calls[] = { "pwrite", "pread", "transfer", "region", "memalign",
					     "gem-mmap", "mmap", "create" };
	static const int errors[] = { ENOMEM, EINVAL, EIO, EPERM, EFAULT, EOPNOTSUPP };
	/* If these fail, no other way is left. */
	static const char *const last[] = { "create" };
	unsigned tried = 0, oom = 0;
	bool exact;

	if (!sequence(&exact) || !exact)
		die("the sequence fails without a fault");

	for (unsigned c = 0; c < sizeof(calls) / sizeof(*calls); c++) {
		unsigned of_this_call = 0;

		if (only_call && strcmp(only_call, calls[c]))
			continue;

		for (unsigned e = 0; e < sizeof(errors) / sizeof(*errors); e++) {
			/* These two can only run out of memory. */
			if (errors[e] != ENOMEM && (!strcmp(calls[c], "memalign") || !strcmp(calls[c], "create")))
				continue;
			for (int repeat = 0; repeat < 2; repeat++) {
				unsigned nth = 0, happened;
				char counter[40];

				snprintf(counter, sizeof(counter), "failed:%s", calls[c]);
				do {
					bool no_oom;

					nth++;
					shim.fail(calls[c], nth, errors[e], repeat);
					no_oom = sequence(&exact);
					happened = shim.counter(counter);
					shim.fail(calls[c], 0, 0, false);
					if (!happened)
						break;
					tried++;
					of_this_call++;
					if (!no_oom)
						oom++;
					if (no_oom && !exact)
						die("%s %u fails with errno %d%s: lost without an error", calls[c],
						    nth, errors[e], repeat ? " for good" : "");
					if (!no_oom && strcmp(calls[c], last[0]))
						die("%s %u fails with errno %d%s: GL_OUT_OF_MEMORY, though another way exists",
						    calls[c], nth, errors[e], repeat ? " for good" : "");
				} while (nth < 40);
			}
		}
		/* BOs that were refused or mapped once can be reused, and then need no
		 * ioctl, so not each errno meets a call.
		 */
		if (!of_this_call && !strstr(calls[c], "mmap")) /* not needed if nothing else fails */
			die("%s was never called", calls[c]);
	}

	/* Neither ioctls nor mappings: GL must say so. */
	shim.fail("pwrite", 1, EIO, true);
	shim.fail("region", 1, EIO, true);
	shim.fail("pread", 1, EIO, true);
	shim.fail("mmap", 1, ENOMEM, true);
	if (sequence(&exact))
		die("everything fails, and GL raises no error");
	if (!shim.counter("failed:mmap"))
		die("no mapping was tried");
	shim.fail("pwrite", 0, 0, false);
	shim.fail("region", 0, 0, false);
	shim.fail("pread", 0, 0, false);
	shim.fail("mmap", 0, 0, false);
	if (!sequence(&exact) || !exact)
		die("the sequence fails after the faults");
	printf("%u faults happened, %u of them raised GL_OUT_OF_MEMORY\n", tried, oom);
	return 0;
}

static int queued(void)
{
	enum { N = 40, QUEUED = 200 };
	static const float triangle[6];
	uint8_t old[QUEUED], data[QUEUED], got[QUEUED];
	uint64_t copies;
	GLuint pairs[N][2];

	/* The upload buffer gets its mapping. */
	draw_setup();
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, triangle);
	glDrawArrays(GL_TRIANGLES, 0, 3);

	glGenBuffers(2 * N, &pairs[0][0]);
	memset(old, 1, QUEUED);
	for (unsigned i = 0; i < 2 * N; i++) {
		glBindBuffer(GL_COPY_WRITE_BUFFER, (&pairs[0][0])[i]);
		glBufferData(GL_COPY_WRITE_BUFFER, QUEUED, old, GL_STATIC_DRAW);
	}
	glFinish();
	copies = shim.counter("copies");
	shim.fail("region", 1, EIO, true);
	shim.fail("pwrite", 1, EIO, true);
	shim.fail("mmap", 1, ENOMEM, true);
	for (unsigned i = 0; i < N; i++) {
		fill(data, QUEUED, i);
		glBindBuffer(GL_COPY_READ_BUFFER, pairs[i][0]);
		glBindBuffer(GL_COPY_WRITE_BUFFER, pairs[i][1]);
		glBufferSubData(GL_COPY_READ_BUFFER, 0, QUEUED, data);
		glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, QUEUED);
	}
	glFinish();
	no_error("queued writes");
	copies = shim.counter("copies") - copies;
	printf("%llu regions and %llu mappings failed, %llu copies\n",
	       (unsigned long long)shim.counter("failed:region"),
	       (unsigned long long)shim.counter("failed:mmap"), (unsigned long long)copies);
	if (!shim.counter("failed:region") || shim.counter("failed:mmap") < N || copies < 2 * N)
		die("nothing is tested");
	shim.fail("region", 0, 0, false);
	shim.fail("pwrite", 0, 0, false);
	shim.fail("mmap", 0, 0, false);
	for (unsigned i = 0; i < 2 * N; i++) {
		fill(data, QUEUED, i / 2);
		glBindBuffer(GL_COPY_READ_BUFFER, (&pairs[0][0])[i]);
		glGetBufferSubData(GL_COPY_READ_BUFFER, 0, QUEUED, got);
		if (memcmp(got, data, QUEUED))
			die("%s %u is wrong%s", i % 2 ? "copy" : "buffer", i / 2,
			    memcmp(got, old, QUEUED) ? "" : ": it has the old contents");
	}
	return 0;
}

static int leak(void)
{
	enum { ROUNDS = 200, SIDE = 128 };
	static uint8_t texels[SIDE * SIDE * 4];
	uint64_t created = shim.counter("create"), lost = 0;
	GLuint texture;

	shim.fail("mmap", 1, ENOMEM, true);
	for (unsigned i = 0; i < ROUNDS; i++) {
		glGenTextures(1, &texture);
		glBindTexture(GL_TEXTURE_2D, texture);
		glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
		glDeleteTextures(1, &texture);
		while (glGetError())
			lost++;
	}
	created = shim.counter("create") - created;
	printf("%llu mappings failed, %llu errors of GL, %llu BOs for %u textures\n",
	       (unsigned long long)shim.counter("failed:mmap"), (unsigned long long)lost,
	       (unsigned long long)created, ROUNDS);
	if (shim.counter("failed:mmap") < ROUNDS)
		die("nothing is tested");
	/* Those of a texture that is destroyed are used again. */
	if (created > ROUNDS / 4)
		die("textures are not destroyed");
	shim.fail("mmap", 0, 0, false);
	return 0;
}

/* A program that no other one is equal to. */
static void draw_program(unsigned i)
{
	static const float triangle[6];
	char source[100];
	GLuint program;

	snprintf(source, sizeof(source), "void main() { gl_FragColor = vec4(%u.5, gl_FragCoord.x, 0.0, 1.0); }", i);
	program = link_program(compile(GL_VERTEX_SHADER,
				       "attribute vec2 p; void main() { gl_Position = vec4(p, 0.0, 1.0); }"),
			       compile(GL_FRAGMENT_SHADER, source), NULL);
	glUseProgram(program);
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	glVertexAttribPointer(0, 2, i % 2 ? GL_FLOAT : GL_SHORT, GL_FALSE, 0, triangle);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glFinish();
	while (glGetError())
		;
	glDeleteProgram(program);
}

static void dispatch_indirect(void)
{
	static const GLuint groups[3] = { 1, 1, 1 };
	GLuint buffer;

	glUseProgram(link_program(compile(GL_COMPUTE_SHADER, "#version 430\nlayout(local_size_x = 64) in;"
					  "layout(std430, binding = 0) buffer b { uint v[]; };"
					  "void main() { v[gl_GlobalInvocationID.x] = gl_NumWorkGroups.x; }"), 0, NULL));
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, buffer);
	glBufferData(GL_DISPATCH_INDIRECT_BUFFER, sizeof(groups), groups, GL_STATIC_DRAW);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
	glDispatchComputeIndirect(0);
	glFinish();
	while (glGetError())
		;
	glDeleteBuffers(1, &buffer);
}

static int shaders(void)
{
	bool compute;
	unsigned failed = 0, i = 0;

	draw_setup();
	/* At each place in turn there can be no mapping any more. */
	for (unsigned nth = 1; nth <= 12; nth++) {
		shim.fail("mmap", nth, ENOMEM, true);
		draw_program(i++);
		failed += shim.counter("failed:mmap") != 0;
		shim.fail("mmap", 0, 0, false);
		draw_program(i++);
	}
	compute = context_create_core(EGL_NO_CONTEXT, 4, 3) != EGL_NO_CONTEXT;
	for (unsigned nth = 1; compute && nth <= 12; nth++) {
		shim.fail("mmap", nth, ENOMEM, true);
		dispatch_indirect();
		failed += shim.counter("failed:mmap") != 0;
		shim.fail("mmap", 0, 0, false);
		dispatch_indirect();
	}
	printf("%u programs without mappings, compute shaders: %s\n", failed, compute ? "yes" : "no");
	if (failed < 2)
		die("nothing is tested");
	return 0;
}

static int limit(void)
{
	const unsigned n = 70000;
	GLuint *many = malloc(n * sizeof(*many));
	uint8_t data[64], got[64];
	unsigned lost = 0;
	GLenum error;

	if (!many)
		die("out of memory");
	glGenBuffers(n, many);
	for (unsigned i = 0; i < n; i++) {
		fill(data, sizeof(data), i);
		glBindBuffer(GL_ARRAY_BUFFER, many[i]);
		glBufferData(GL_ARRAY_BUFFER, sizeof(data), data, GL_STATIC_DRAW);
	}
	error = glGetError();
	uint64_t peak = shim.counter("maps-peak");
	for (unsigned i = 0; i < n; i++) {
		fill(data, sizeof(data), i);
		memset(got, 0, sizeof(got));
		glBindBuffer(GL_ARRAY_BUFFER, many[i]);
		glGetBufferSubData(GL_ARRAY_BUFFER, 0, sizeof(got), got);
		lost += memcmp(data, got, sizeof(data)) != 0;
	}
	printf("%u of %u lost, GL error 0x%x, %llu mappings at most\n", lost, n, error,
	       (unsigned long long)peak);
	return lost && !error;
}

static int order(void)
{
	static uint8_t data[16384];
	GLuint vbo, other;

	draw_setup();
	glGenBuffers(1, &vbo);
	glGenBuffers(1, &other);
	glBindBuffer(GL_ARRAY_BUFFER, other);
	glBufferData(GL_ARRAY_BUFFER, 64, data, GL_STATIC_DRAW);
	glBindBuffer(GL_ARRAY_BUFFER, vbo);
	glBufferData(GL_ARRAY_BUFFER, sizeof(data), data, GL_STATIC_DRAW);
	draw(vbo);
	glFinish();
	shim.set("cs-delay-us", 2000 * 1000);
	/* A write that is queued, and one that is not. */
	for (unsigned size = 64; size <= 8192; size += 8128) {
		draw(vbo);
		uint64_t before = shim.counter("submitted");
		uint64_t writes = shim.counter("pwrite") + shim.counter("region");
		uint64_t streams = shim.counter("cs");
		/* The driver submits in its thread when the stream is full, and glFlush()
		 * waits for the thread. So draw other things until it is full.
		 */
		for (unsigned i = 0; shim.counter("cs") == streams && i < 1000000; i++) {
			glUniform4f(0, i, 0, 0, 1);
			draw(other);
			/* The thread has to get a CPU before the next stream is full, too. */
			usleep(500);
		}
		if (shim.counter("submitted") != before || shim.counter("cs") == streams)
			die("%llu streams were submitted, %llu are on their way: nothing is tested",
			    (unsigned long long)(shim.counter("submitted") - before),
			    (unsigned long long)(shim.counter("cs") - streams));
		glBindBuffer(GL_ARRAY_BUFFER, vbo);
		glBufferSubData(GL_ARRAY_BUFFER, 0, size, data);
		/* Queued writes are done before the next stream. */
		draw(vbo);
		glFinish();
		if (shim.counter("pwrite") + shim.counter("region") == writes)
			die("nothing was written by ioctl");
		if (shim.counter("submitted-at-write") != before + 1)
			die("a write of %u bytes came after %llu of %llu streams", size,
			    (unsigned long long)shim.counter("submitted-at-write"),
			    (unsigned long long)before + 1);
	}
	return 0;
}

/* No buffer is busy when it is written, so that no write becomes a copy by the
 * GPU: for options with which a write to a busy buffer would.
 */
static bool all_idle;

static void submit(void)
{
	if (all_idle)
		glFinish();
	else
		glFlush();
}

static int random_calls(void)
{
	unsigned seed = 1, reads = 0;
	uint8_t data[SIZE];

	draw_setup();
	glGenBuffers(BUFFERS, names);
	for (int i = 0; i < BUFFERS; i++) {
		memset(model[i], 0, SIZE);
		glBindBuffer(GL_ARRAY_BUFFER, names[i]);
		glBufferData(GL_ARRAY_BUFFER, SIZE, model[i], i % 2 ? GL_STREAM_DRAW : GL_STATIC_DRAW);
	}
	for (unsigned round = 0; round < 20000; round++) {
		unsigned i = rand_r(&seed) % BUFFERS, offset = rand_r(&seed) % SIZE;
		unsigned size = 1 + rand_r(&seed) % (SIZE - offset);
		uint8_t *map;

		if (rand_r(&seed) % 2)
			size = size > 40 ? 40 : size;
		if (round % 2000 == 0 && !all_idle)
			shim.set("latency-us", round / 2000 % 2 ? 300 : 0);
		fill(data, size, round);
		glBindBuffer(GL_ARRAY_BUFFER, names[i]);
		/* The GPU draws nothing, so only what the CPU writes is in the model.
		 * Drawing makes BOs busy. A write to a BO of the unsubmitted stream would
		 * be a copy by the GPU, so the stream is submitted first.
		 */
		switch (rand_r(&seed) % 8) {
		case 0:
		case 1:
			submit();
			glBufferSubData(GL_ARRAY_BUFFER, offset, size, data);
			memcpy(model[i] + offset, data, size);
			break;
		case 2:
			submit();
			map = glMapBufferRange(GL_ARRAY_BUFFER, offset, size, GL_MAP_WRITE_BIT | GL_MAP_READ_BIT);
			if (!map || memcmp(map, model[i] + offset, size))
				die("round %u: a mapping of buffer %u shows something else", round, i);
			memcpy(map, data, size / 2);
			memcpy(model[i] + offset, data, size / 2);
			glUnmapBuffer(GL_ARRAY_BUFFER);
			break;
		case 3:
			/* Without ioctls, the driver may write an earlier mapping back by a GPU
			 * copy, for which an unsynchronized mapping does not wait.
			 */
			if (all_idle)
				glFinish();
			map = glMapBufferRange(GL_ARRAY_BUFFER, offset, size, GL_MAP_WRITE_BIT |
					       GL_MAP_UNSYNCHRONIZED_BIT);
			memcpy(map, data, size);
			memcpy(model[i] + offset, data, size);
			glUnmapBuffer(GL_ARRAY_BUFFER);
			break;
		case 4:
			submit();
			map = glMapBufferRange(GL_ARRAY_BUFFER, offset, size, GL_MAP_WRITE_BIT |
					       GL_MAP_FLUSH_EXPLICIT_BIT);
			memset(map, 0xaa, size);
			memcpy(map + size / 3, data, size / 3);
			memcpy(model[i] + offset + size / 3, data, size / 3);
			glFlushMappedBufferRange(GL_ARRAY_BUFFER, size / 3, size / 3);
			glUnmapBuffer(GL_ARRAY_BUFFER);
			/* The spec leaves bytes that were not flushed undefined: write them again. */
			memcpy(model[i] + offset, data, size / 3);
			glBufferSubData(GL_ARRAY_BUFFER, offset, size, data);
			memcpy(model[i] + offset, data, size);
			break;
		case 5:
			glGetBufferSubData(GL_ARRAY_BUFFER, offset, size, data);
			if (memcmp(data, model[i] + offset, size))
				die("round %u: buffer %u reads back wrong", round, i);
			reads++;
			break;
		case 6:
			draw(names[i]);
			break;
		case 7:
			submit();
			fill(model[i], SIZE, round);
			glBufferData(GL_ARRAY_BUFFER, SIZE, model[i], GL_STATIC_DRAW);
			break;
		}
	}
	no_error("random calls");
	for (int i = 0; i < BUFFERS; i++) {
		glBindBuffer(GL_ARRAY_BUFFER, names[i]);
		glGetBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, data);
		if (memcmp(data, model[i], SIZE))
			die("buffer %u is wrong in the end", i);
	}
	printf("%u readbacks, %llu pwrites, %llu preads, %llu transfers, %llu maps\n", reads,
	       (unsigned long long)shim.counter("pwrite"), (unsigned long long)shim.counter("pread"),
	       (unsigned long long)shim.counter("transfer"), (unsigned long long)shim.counter("mmap"));
	return 0;
}

static int random_idle(void)
{
	all_idle = true;
	return random_calls();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} tests[] = { { "faults", faults }, { "queued", queued }, { "leak", leak },
		      { "shaders", shaders }, { "limit", limit }, { "order", order }, { "random", random_calls },
		      { "random-idle", random_idle } };

	only_call = argc == 3 ? argv[2] : NULL;
	for (unsigned i = 0; argc >= 2 && argc <= 3 && i < sizeof(tests) / sizeof(*tests); i++) {
		if (!strcmp(argv[1], tests[i].name)) {
			context_create(EGL_NO_CONTEXT);
			if (!shim.counter)
				die("gl-faults needs the radeon no-op shim");
			return tests[i].run();
		}
	}
	die("usage: gl-faults faults [CALL] | queued | leak | shaders | limit | order | random | random-idle");
}
