/* SPDX-License-Identifier: MIT */
/**
 * DOC: gl-limits TEST
 *
 * What bounds mappings and memory, and what threads do to it, on the radeon no-op shim:
 *
 * hot      more buffers that are written again and again than mappings are kept: the last
 *          is mapped as the first would be, and few mappings are made in turn
 * rename   a part of a buffer that the unsubmitted commands use is mapped with
 *          GL_MAP_INVALIDATE_BUFFER_BIT: new storage, no copy by the GPU
 * staging  three contexts upload much while the GPU is late: staging memory stays within
 *          its bound, and is released when nothing is uploaded any more. It runs with
 *          RADEON_MAP_CACHE_COUNT=0, so that only mappings in use exist.
 * fences   each command stream uses a small buffer that is kept, and that nobody uses again: few
 *          BOs do for the fences of all streams, if the program waits for each, never does, or reads pixels
 * tiled    small textures, until the CPU has written as many as may be in VRAM that it reaches, which is a
 *          half of it: it writes no more, and as many again as are deleted. The CPU reaches 4 MiB of VRAM.
 * tiled-all  the same where the CPU reaches all VRAM: it writes all of them. They take more than a half,
 *          and few mappings stay.
 * busy     parts and all of small buffers, and small textures, are written while a command stream that was
 *          submitted uses them: what it reads stays in memory. It runs with slabs.
 * beyond   small textures for which the VRAM that the CPU reaches has no room are written by PWRITE if whole rows of
 *          tiles are. The CPU reaches 1 MiB.
 * boxes    parts of small textures that the CPU has written are read by PREAD, which the shim can do
 * threads  four threads with contexts of a share group write, map and read buffers and
 *          textures of their own, and buffers of each other
 *
 * Status 0: all is as described; 1: it is not, with a message.
 */

#include "gltest.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1024.0 * 1024)

static unsigned long counter(const char *name)
{
	return shim.counter(name);
}

#define SIZE 256

/* Writes a part of the buffer through a mapping that keeps the rest. */
static void write_mapped(GLuint buffer, unsigned value)
{
	void *map;

	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	map = glMapBufferRange(GL_ARRAY_BUFFER, 0, SIZE, GL_MAP_WRITE_BIT);
	if (!map)
		die("glMapBufferRange fails");
	memset(map, value, SIZE / 2);
	glUnmapBuffer(GL_ARRAY_BUFFER);
}

static int hot(void)
{
	enum { N = 1100, ROUNDS = 18, LAST = 1000 };
	static GLuint buffers[N];
	uint8_t data[SIZE], got[SIZE];
	unsigned long maps, reads, accesses = (unsigned long)N * ROUNDS;

	glGenBuffers(N, buffers);
	for (unsigned i = 0; i < N; i++) {
		fill(data, SIZE, i);
		glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
		glBufferData(GL_ARRAY_BUFFER, SIZE, data, GL_STATIC_DRAW);
	}
	maps = counter("mmap");
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < N; i++)
			write_mapped(buffers[i], round);
	maps = counter("mmap") - maps;
	printf("%lu mappings for %lu accesses to %u buffers in turn; ", maps, accesses, N);
	reads = counter("pread") + counter("pwrite") + counter("region");
	for (unsigned i = 0; i < LAST; i++)
		write_mapped(buffers[N - 1], i);
	reads = counter("pread") + counter("pwrite") + counter("region") - reads;
	printf("%lu ioctls for %u accesses to the last\n", reads, LAST);
	if (reads > 2 * 9)
		die("the last buffer is not mapped");
	if (maps < N)
		die("not all were mapped in turn: nothing is tested");
	/* A buffer whose mapping was removed is mapped again after eight accesses, not at once. */
	if (maps > accesses / 8)
		die("a mapping is removed before it is used again");
	for (unsigned i = 0; i < N; i++) {
		fill(data, SIZE, i);
		memset(data, (uint8_t)(i == N - 1 ? LAST - 1 : ROUNDS - 1), SIZE / 2);
		glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
		glGetBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, got);
		if (memcmp(data, got, SIZE))
			die("buffer %u is wrong", i);
	}
	return 0;
}

static int rename_part(void)
{
	uint8_t data[SIZE];
	GLuint buffer;

	draw_setup();
	fill(data, SIZE, 1);
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glBufferData(GL_ARRAY_BUFFER, SIZE, data, GL_DYNAMIC_DRAW);
	draw(buffer);
	glFinish();
	unsigned long copies = counter("copies"), submitted = counter("submitted");

	for (unsigned i = 0; i < 100; i++) {
		void *map;

		draw(buffer);
		map = glMapBufferRange(GL_ARRAY_BUFFER, 32, SIZE / 2, GL_MAP_WRITE_BIT |
				       GL_MAP_INVALIDATE_BUFFER_BIT);
		if (!map)
			die("glMapBufferRange fails");
		fill(map, SIZE / 2, i);
		glUnmapBuffer(GL_ARRAY_BUFFER);
	}
	if (counter("submitted") != submitted)
		die("the draws were submitted: nothing is tested");
	glFinish();
	copies = counter("copies") - copies;
	fill(data, SIZE / 2, 99);
	printf("%lu copies by the GPU for 100 mappings\n", copies);
	if (!shim.find(data, SIZE / 2, 1, SIZE, SIZE))
		die("the last contents are not in memory");
	return copies != 0;
}

static int staging(void)
{
	enum { CONTEXTS = 3, UPLOADS = 300, SIDE = 256, FRAMES = 100 };
	static uint8_t texels[SIDE * SIDE * 4];
	EGLContext contexts[CONTEXTS];
	GLuint texture, vbos[CONTEXTS];
	double peak, now;

	fill(texels, sizeof(texels), 1);
	for (unsigned c = 0; c < CONTEXTS; c++) {
		contexts[c] = context_create(EGL_NO_CONTEXT);
		draw_setup();
		glGenBuffers(1, &vbos[c]);
		glBindBuffer(GL_ARRAY_BUFFER, vbos[c]);
		glBufferData(GL_ARRAY_BUFFER, SIZE, texels, GL_STATIC_DRAW);
		draw(vbos[c]);
	}
	shim.reset_peaks();
	shim.set("latency-us", 2000 * 1000);
	for (unsigned c = 0; c < CONTEXTS; c++) {
		context_current(contexts[c]);
		glGenTextures(1, &texture);
		glBindTexture(GL_TEXTURE_2D, texture);
		glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 2 * SIDE, 2 * SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
		for (unsigned i = 0; i < UPLOADS; i++)
			glTexSubImage2D(GL_TEXTURE_2D, 0, i % 2 * SIDE, i / 2 % 2 * SIDE, SIDE, SIDE, GL_RGBA,
					GL_UNSIGNED_BYTE, texels);
		no_error("uploading");
	}
	peak = counter("mapped-bytes-peak") / MIB;
	shim.set("latency-us", 0);
	for (unsigned c = 0; c < CONTEXTS; c++) {
		context_current(contexts[c]);
		for (unsigned i = 0; i < FRAMES; i++) {
			draw(vbos[c]);
			glFlush();
		}
		glFinish();
	}
	now = counter("mapped-bytes") / MIB;
	printf("%.1f MiB mapped at most, %.1f MiB %u frames later\n", peak, now, FRAMES);
	if (peak < 64)
		die("no more than one context's staging buffers: nothing is tested");
	/* 128 MiB of staging buffers; the rest are what the driver uploads constants with. */
	if (peak > 140)
		die("staging memory is not bounded");
	if (now > 12)
		die("staging memory is not released");
	return 0;
}

enum { THREADS = 4, OWN = 12, ROUNDS = 400 };
static pthread_barrier_t barrier;
static GLuint shared[THREADS];
static EGLContext thread_contexts[THREADS];

static void own_buffers(unsigned id, unsigned round, GLuint *buffers, uint8_t model[OWN][2 * SIZE])
{
	unsigned seed = id * 100000 + round;
	uint8_t got[2 * SIZE], *map;

	for (unsigned i = 0; i < OWN; i++) {
		unsigned offset = rand_r(&seed) % SIZE, size = 1 + rand_r(&seed) % SIZE;

		glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
		switch (rand_r(&seed) % 5) {
		case 0:
			fill(model[i] + offset, size, seed);
			/* A write to a buffer that is in use can be a copy by the GPU. */
			glBufferSubData(GL_ARRAY_BUFFER, offset, size, model[i] + offset);
			break;
		case 1:
			map = glMapBufferRange(GL_ARRAY_BUFFER, offset, size, GL_MAP_READ_BIT | GL_MAP_WRITE_BIT);
			if (!map || memcmp(map, model[i] + offset, size))
				die("thread %u, round %u: a mapping is wrong", id, round);
			fill(map, size, seed);
			memcpy(model[i] + offset, map, size);
			glUnmapBuffer(GL_ARRAY_BUFFER);
			break;
		case 2:
			fill(model[i], 2 * SIZE, seed);
			glBufferData(GL_ARRAY_BUFFER, 2 * SIZE, model[i], i % 2 ? GL_STREAM_DRAW : GL_STATIC_DRAW);
			break;
		case 3:
			glGetBufferSubData(GL_ARRAY_BUFFER, 0, sizeof(got), got);
			if (memcmp(got, model[i], sizeof(got)))
				die("thread %u, round %u: buffer %u reads back wrong", id, round, i);
			break;
		case 4:
			draw(buffers[i]);
			break;
		}
	}
}

static void *thread(void *arg)
{
	unsigned id = (uintptr_t)arg;
	uint8_t model[OWN][2 * SIZE], want[SIZE], got[SIZE], texels[16 * 16 * 4];
	GLuint buffers[OWN], texture;

	if (!eglBindAPI(EGL_OPENGL_API))
		die("no desktop GL");
	context_current(thread_contexts[id]);
	draw_setup();
	glGenTextures(1, &texture);
	glGenBuffers(OWN, buffers);
	for (unsigned i = 0; i < OWN; i++) {
		fill(model[i], 2 * SIZE, i);
		glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
		glBufferData(GL_ARRAY_BUFFER, 2 * SIZE, model[i], GL_STATIC_DRAW);
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		own_buffers(id, round, buffers, model);
		fill(texels, sizeof(texels), round);
		glBindTexture(GL_TEXTURE_2D, texture);
		glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);

		/* Each writes its shared buffer, and reads the one of its neighbour. */
		fill(want, SIZE, id * ROUNDS + round);
		glBindBuffer(GL_COPY_WRITE_BUFFER, shared[id]);
		glBufferSubData(GL_COPY_WRITE_BUFFER, 0, SIZE, want);
		draw(shared[id]);
		if (round % 2)
			glFinish();
		else
			glFlush();
		pthread_barrier_wait(&barrier);
		fill(want, SIZE, (id + 1) % THREADS * ROUNDS + round);
		glBindBuffer(GL_COPY_WRITE_BUFFER, shared[(id + 1) % THREADS]);
		glGetBufferSubData(GL_COPY_WRITE_BUFFER, 0, SIZE, got);
		if (memcmp(got, want, SIZE))
			die("thread %u, round %u: the other context's buffer is wrong", id, round);
		pthread_barrier_wait(&barrier);
	}
	no_error("threads");
	context_destroy(thread_contexts[id]);
	return NULL;
}

enum wait { NEVER, FOR_FENCE, FOR_PIXELS };

/* Draws from each of @n new buffers with a command stream of its own; returns the BOs made. */
static unsigned long draw_each(unsigned n, GLuint *buffers, enum wait wait)
{
	static const char *const names[] = { "never waited for", "each waited for", "pixels read from each" };
	uint8_t data[SIZE], pixel[4];
	unsigned long creates, streams;

	glGenBuffers(n, buffers);
	for (unsigned i = 0; i < n; i++) {
		fill(data, SIZE, i);
		glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
		glBufferData(GL_ARRAY_BUFFER, SIZE, data, GL_STATIC_DRAW);
	}
	glFinish();
	creates = counter("create");
	streams = counter("cs");
	for (unsigned i = 0; i < n; i++) {
		draw(buffers[i]);
		if (wait == FOR_PIXELS)
			glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
		else if (wait == FOR_FENCE)
			glFinish();
		else
			glFlush();
	}
	glFinish();
	creates = counter("create") - creates;
	streams = counter("cs") - streams;
	printf("%u buffers, %s: %lu command streams, %lu BOs made\n", n, names[wait], streams, creates);
	if (streams < n)
		die("not each buffer had a command stream: %lu for %u", streams, n);
	return creates;
}

static int fences(void)
{
	enum { N = 1000, WAITED = 16, QUESTION = 64 };
	static GLuint buffers[N];
	unsigned long creates;

	draw_setup();
	draw_each(WAITED, buffers, FOR_FENCE);
	creates = draw_each(N, buffers, FOR_FENCE);
	if (creates > WAITED)
		die("%lu BOs for %u fences that were waited for", creates, N);
	/* The winsys asks for one in 64; those that were made meanwhile are in use until then. PREAD waits for
	 * what the GPU writes, which tells nothing about fences.
	 */
	for (enum wait wait = NEVER; wait <= FOR_PIXELS; wait += FOR_PIXELS) {
		creates = draw_each(N, buffers, wait);
		if (creates > 2 * QUESTION + WAITED)
			die("%lu BOs for %u fences that were never waited for", creates, N);
	}
	no_error("fences");
	return 0;
}

static void must_be_there(const void *bytes, unsigned size, bool there, const char *what)
{
	if (!!shim.find(bytes, size, 1, size, size) != there)
		die("%s %s in memory while the GPU is busy", what, there ? "are not" : "are");
}

static int busy(void)
{
	enum { TEXELS = 8 }; /* a micro tile of one byte each: all rows are side by side */
	uint8_t old[SIZE], new[SIZE], texels[2][TEXELS * TEXELS], tile[2][TEXELS * TEXELS];
	static const unsigned parts[][2] = { { 0, SIZE / 2 }, { SIZE / 4, SIZE / 4 }, { 0, SIZE } };
	GLuint buffers[3], texture;

	draw_setup();
	glGenBuffers(3, buffers);
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	for (unsigned t = 0; t < 2; t++) {
		fill(texels[t], sizeof(texels[t]), 100 + t);
		for (unsigned p = 0; p < sizeof(texels[t]); p++)
			tile[t][tiled_at(TEXELS, p % TEXELS, p / TEXELS)] = texels[t][p];
	}
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, TEXELS, TEXELS, 0, GL_RED, GL_UNSIGNED_BYTE, texels[0]);
	must_be_there(tile[0], sizeof(tile[0]), true, "texels of an idle texture");
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
	for (unsigned b = 0; b < 3; b++) {
		fill(old, SIZE, b);
		glBindBuffer(GL_ARRAY_BUFFER, buffers[b]);
		glBufferData(GL_ARRAY_BUFFER, SIZE, old, GL_STATIC_DRAW);
		draw(buffers[b]);
	}
	shim.set("latency-us", 3000 * 1000);
	glFlush();

	for (unsigned b = 0; b < 3; b++) {
		fill(old, SIZE, b);
		fill(new, SIZE, 10 + b);
		glBindBuffer(GL_ARRAY_BUFFER, buffers[b]);
		glBufferSubData(GL_ARRAY_BUFFER, parts[b][0], parts[b][1], new + parts[b][0]);
		must_be_there(old, SIZE, true, "bytes of a buffer");
	}
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, TEXELS, TEXELS, GL_RED, GL_UNSIGNED_BYTE, texels[1]);
	must_be_there(tile[0], sizeof(tile[0]), true, "texels of a busy texture");
	must_be_there(tile[1], sizeof(tile[1]), false, "new texels of a busy texture");
	shim.set("latency-us", 0);
	for (unsigned b = 0; b < 3; b++) {
		fill(old, SIZE, b);
		fill(new, SIZE, 10 + b);
		memcpy(old + parts[b][0], new + parts[b][0], parts[b][1]);
		glBindBuffer(GL_ARRAY_BUFFER, buffers[b]);
		glGetBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, new);
		if (memcmp(old, new, SIZE))
			die("buffer %u reads back wrong", b);
	}
	no_error("busy");
	return 0;
}

/* Makes textures and fills them. Returns for how many the GPU had nothing to do. */
static unsigned fill_tiled(GLuint *textures, unsigned n)
{
	enum { SIDE = 64 }; /* 16 KiB */
	static uint8_t texels[SIDE * SIDE * 4];
	unsigned by_cpu = 0;

	glGenTextures(n, textures);
	for (unsigned i = 0; i < n; i++) {
		unsigned long before;

		glFinish();
		before = counter("cs");
		glBindTexture(GL_TEXTURE_2D, textures[i]);
		glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
		glFinish();
		by_cpu += counter("cs") == before;
	}
	return by_cpu;
}

static int boxes_of(bool by_pwrite)
{
	static const struct {
		GLenum internal, format, type;
		unsigned bytes;
	} formats[] = { { GL_R8, GL_RED, GL_UNSIGNED_BYTE, 1 },
			{ GL_RG8, GL_RG, GL_UNSIGNED_BYTE, 2 },
			{ GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4 },
			{ GL_RGBA16, GL_RGBA, GL_UNSIGNED_SHORT, 8 },
			{ GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16 } };
	enum { SIDE = 29, BOXES = 40 };
	static uint8_t texels[SIDE * SIDE * 16], got[SIDE * SIDE * 16];
	unsigned seed = 5;

	draw_setup();
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	glPixelStorei(GL_PACK_ALIGNMENT, 1);
	for (unsigned i = 0; i < BOXES * sizeof(formats) / sizeof(*formats); i++) {
		const unsigned f = i / BOXES, bytes = formats[f].bytes;
		unsigned w = 1 + rand_r(&seed) % SIDE, h = 1 + rand_r(&seed) % SIDE;
		unsigned x = rand_r(&seed) % (SIDE - w + 1), y = rand_r(&seed) % (SIDE - h + 1);
		unsigned long reads, writes = counter("pwrite");
		GLuint texture;

		/* A texture for each, as Mesa keeps a copy of one that is read a few times. */
		fill(texels, SIDE * SIDE * bytes, i);
		glGenTextures(1, &texture);
		glBindTexture(GL_TEXTURE_2D, texture);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glTexImage2D(GL_TEXTURE_2D, 0, formats[f].internal, SIDE, SIDE, 0, formats[f].format, formats[f].type, texels);
		/* Rows of tiles, in the middle and at the end, which is not a whole one. */
		for (unsigned row = 8; row < SIDE; row += 8) {
			const unsigned rows = SIDE - row < 8 ? SIDE - row : 8;
			uint8_t *changed = texels + row * SIDE * bytes;

			fill(changed, rows * SIDE * bytes, 1000 + i + row);
			glTexSubImage2D(GL_TEXTURE_2D, 0, 0, row, SIDE, rows, formats[f].format, formats[f].type,
					changed);
		}
		writes = counter("pwrite") - writes;
		if (writes != (by_pwrite ? 4 : 0))
			die("format %u: %lu PWRITEs", f, writes);
		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
		reads = counter("pread");
		memset(got, 0, w * h * bytes);
		glReadPixels(x, y, w, h, formats[f].format, formats[f].type, got);
		if (counter("pread") != reads + 1)
			die("format %u: %lu PREADs", f, counter("pread") - reads);
		for (unsigned r = 0; r < h; r++)
			if (memcmp(got + r * w * bytes, texels + ((y + r) * SIDE + x) * bytes, w * bytes))
				die("format %u: row %u of %ux%u texels at %u, %u is wrong", f, r, w, h, x, y);
		if (by_pwrite) {
			writes = counter("pwrite");
			glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, 7, formats[f].format, formats[f].type, texels);
			glTexSubImage2D(GL_TEXTURE_2D, 0, 1, 8, SIDE - 1, 8, formats[f].format, formats[f].type, texels);
			if (counter("pwrite") != writes)
				die("format %u: parts of tiles were written by PWRITE", f);
		}
		glDeleteTextures(1, &texture);
		no_error("boxes");
	}
	printf("%u boxes\n", BOXES * (unsigned)(sizeof(formats) / sizeof(*formats)));
	return 0;
}

static int boxes(void)
{
	return boxes_of(false);
}

static int beyond(void)
{
	enum { MOST = 32 }; /* of 16 KiB, in a half of 1 MiB */
	static GLuint textures[2 * MOST];
	unsigned long writes = counter("pwrite");
	unsigned n = fill_tiled(textures, 2 * MOST);

	writes = counter("pwrite") - writes;
	if (n != 2 * MOST || writes != MOST)
		die("%u of %u textures were written without a draw, %lu of them by PWRITE", n, 2 * MOST, writes);
	return boxes_of(true);
}

static int tiled(void)
{
	enum { MOST = 4 * 1024 * 1024 / 2 / (16 * 1024), DELETED = MOST / 2 };
	static GLuint textures[2 * MOST];
	unsigned n = fill_tiled(textures, 2 * MOST);

	if (n != MOST)
		die("the CPU has written %u of %u textures, not %u", n, 2 * MOST, MOST);
	glDeleteTextures(DELETED, textures);
	n = fill_tiled(textures, MOST);
	if (n != DELETED)
		die("the CPU has written %u textures when %u had been deleted", n, DELETED);
	no_error("tiled");
	printf("%u of %u textures were written by the CPU\n", MOST, 2 * MOST);
	return 0;
}

static int tiled_all(void)
{
	enum { ALL = 6000, /* of 16 KiB: more than a half of 128 MiB, in more slabs than mappings are kept */
	       MOST_MAPS = 16 + 4 }; /* of their slabs, and of others */
	static GLuint textures[ALL];
	unsigned long maps = counter("maps"), made = counter("mmap");
	unsigned n = fill_tiled(textures, ALL);

	if (n != ALL)
		die("the CPU has written %u of %u textures, though it reaches all VRAM", n, ALL);
	maps = counter("maps") - maps;
	made = counter("mmap") - made;
	if (made <= MOST_MAPS)
		die("all textures are in %lu slabs, too few to try the bound of %u mappings", made, MOST_MAPS);
	if (maps > MOST_MAPS)
		die("%lu mappings stay when textures have been written, more than %u", maps, MOST_MAPS);
	no_error("tiled-all");
	printf("all %u textures were written by the CPU; %lu mappings made, %lu kept\n", n, made, maps);
	return 0;
}

static int threads(void)
{
	uint8_t zeros[SIZE] = {0};
	pthread_t handles[THREADS];

	EGLContext first = context_create(EGL_NO_CONTEXT);

	glGenBuffers(THREADS, shared);
	for (unsigned i = 0; i < THREADS; i++) {
		glBindBuffer(GL_ARRAY_BUFFER, shared[i]);
		glBufferData(GL_ARRAY_BUFFER, SIZE, zeros, GL_DYNAMIC_DRAW);
	}
	glFinish();
	for (unsigned i = 0; i < THREADS; i++)
		thread_contexts[i] = context_create(first);
	context_current(first);
	shim.set("latency-us", 100);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&handles[i], NULL, thread, (void *)(uintptr_t)i))
			die("there can be no thread");
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(handles[i], NULL);
	shim.set("latency-us", 0);
	printf("%lu mappings made, %lu now, %lu preads, %lu transfers\n", counter("mmap"), counter("maps"),
	       counter("pread"), counter("transfer"));
	context_destroy(first);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} tests[] = { { "hot", hot }, { "rename", rename_part }, { "staging", staging }, { "fences", fences },
		      { "tiled", tiled }, { "tiled-all", tiled_all }, { "busy", busy }, { "boxes", boxes },
		      { "beyond", beyond }, { "threads", threads } };

	for (unsigned i = 0; argc == 2 && i < sizeof(tests) / sizeof(*tests); i++) {
		if (!strcmp(argv[1], tests[i].name)) {
			context_create(EGL_NO_CONTEXT);
			if (!shim.counter)
				die("gl-limits needs the radeon no-op shim");
			return tests[i].run();
		}
	}
	die("usage: gl-limits hot | rename | staging | fences | tiled | tiled-all | busy | boxes | beyond | threads");
}
