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
	} tests[] = { { "faults", faults }, { "limit", limit }, { "order", order }, { "random", random_calls },
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
	die("usage: gl-faults faults [CALL] | limit | order | random | random-idle");
}
