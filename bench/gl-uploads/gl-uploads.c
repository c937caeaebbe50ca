/* SPDX-License-Identifier: MIT */
/**
 * DOC: gl-uploads
 *
 * Measures time and ioctls of GL uploads and readbacks. A case makes its call
 * many times in a batch (--calls); the row has the median batch, per call.
 * glFinish() is not timed, but the flushes that a program makes are part of the
 * case.
 *
 * Calls are counted in the process (glcount.h).
 *
 *     gl-uploads [--batches N] [--calls N] [--warm-up N] CASE...     ("all": all of them)
 *
 * prints a line of JSON for each: case, ns, CPU time of all threads, ioctls and maps
 * (per call).
 */

#include "glcount.h"
#include "gltest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SMALL 256
#define BIG 65536 /* more than Mesa makes a part of a slab */
#define GLYPH 16
#define ATLAS 1024
#define STREAM 512 /* side of the texture that is replaced each time, in pixels */

/* Batches before those that are measured, by default. Mesa maps a BO that it has accessed
 * often; measured is the cost after that.
 */
#define WARM_UP 10

static uint8_t data[STREAM * STREAM * 4];
static GLuint names[100000];
static unsigned made;

static void make_vbo(unsigned size, unsigned usage)
{
	glGenBuffers(1, names);
	glBindBuffer(GL_ARRAY_BUFFER, names[0]);
	glBufferData(GL_ARRAY_BUFFER, size, data, usage);
}

static void vbo_idle_begin(void) { make_vbo(SMALL, GL_DYNAMIC_DRAW); }
static void vbo_idle(unsigned i)
{
	data[0] = i;
	glBufferSubData(GL_ARRAY_BUFFER, 0, SMALL, data);
}

static void vbo_busy_begin(void)
{
	draw_setup();
	make_vbo(SMALL, GL_DYNAMIC_DRAW);
}
static void vbo_busy(unsigned i)
{
	data[0] = i;
	glBufferSubData(GL_ARRAY_BUFFER, 0, SMALL, data);
	draw(names[0]);
}

/* What the others that draw cannot do without. */
static void draw_alone(unsigned i)
{
	(void)i;
	draw(names[0]);
}

static void vbo_part_busy(unsigned i)
{
	data[0] = i;
	glBufferSubData(GL_ARRAY_BUFFER, 64, 64, data);
	draw(names[0]);
}

static void vbo_many_begin(void) { made = 0; }
static void vbo_many(unsigned i)
{
	(void)i;
	glGenBuffers(1, &names[made]);
	glBindBuffer(GL_ARRAY_BUFFER, names[made++]);
	glBufferData(GL_ARRAY_BUFFER, SMALL, data, GL_STATIC_DRAW);
}
static void vbo_many_end(void) { glDeleteBuffers(made, names); }

static void glyph_own_begin(void)
{
	made = 0;
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
}
static void glyph_own(unsigned i)
{
	data[0] = i;
	glGenTextures(1, &names[made]);
	glBindTexture(GL_TEXTURE_2D, names[made++]);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_ALPHA8, GLYPH, GLYPH, 0, GL_ALPHA, GL_UNSIGNED_BYTE, data);
}
static void glyph_own_end(void) { glDeleteTextures(made, names); }

static void glyph_atlas_begin(void)
{
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	glGenTextures(1, names);
	glBindTexture(GL_TEXTURE_2D, names[0]);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_ALPHA8, ATLAS, ATLAS, 0, GL_ALPHA, GL_UNSIGNED_BYTE, NULL);
}
static void glyph_atlas(unsigned i)
{
	unsigned per_row = ATLAS / GLYPH;

	data[0] = i;
	glTexSubImage2D(GL_TEXTURE_2D, 0, i % per_row * GLYPH, i / per_row % per_row * GLYPH, GLYPH, GLYPH,
			GL_ALPHA, GL_UNSIGNED_BYTE, data);
}

static void tex1d_begin(void) { made = 0; }
static void tex1d(unsigned i)
{
	data[0] = i;
	glGenTextures(1, &names[made]);
	glBindTexture(GL_TEXTURE_1D, names[made++]);
	glTexParameteri(GL_TEXTURE_1D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexImage1D(GL_TEXTURE_1D, 0, GL_RGBA8, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, data);
}
static void tex1d_end(void) { glDeleteTextures(made, names); }

static void pbo_begin(void) { made = 0; }
static void pbo(unsigned i)
{
	void *map;

	glGenBuffers(1, &names[made]);
	glBindBuffer(GL_PIXEL_UNPACK_BUFFER, names[made++]);
	glBufferData(GL_PIXEL_UNPACK_BUFFER, 4096, NULL, GL_STREAM_DRAW);
	map = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, 4096, GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
	memset(map, i, 4096);
	glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
}
static void pbo_end(void)
{
	glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
	glDeleteBuffers(made, names);
}

static void map_hot_begin(void) { make_vbo(SMALL, GL_DYNAMIC_DRAW); }
static void map_hot(unsigned i)
{
	void *map = glMapBuffer(GL_ARRAY_BUFFER, GL_WRITE_ONLY);

	memset(map, i, SMALL);
	glUnmapBuffer(GL_ARRAY_BUFFER);
}

static void readpixels(unsigned i)
{
	(void)i;
	glReadPixels(0, 0, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, data);
}

#define OWN 256

static void read_own_begin(void)
{
	draw_setup();
	glGenTextures(OWN, names);
	for (unsigned i = 0; i < OWN; i++) {
		glBindTexture(GL_TEXTURE_2D, names[i]);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, GLYPH, GLYPH, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	}
}
static void read_own(unsigned i)
{
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, names[i % OWN], 0);
	glReadPixels(0, 0, GLYPH, GLYPH, GL_RGBA, GL_UNSIGNED_BYTE, data);
}
static void read_own_end(void) { glDeleteTextures(OWN, names); }

static void stream_begin(void)
{
	glGenTextures(1, names);
	glBindTexture(GL_TEXTURE_2D, names[0]);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, STREAM, STREAM, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
}
static void stream(unsigned i)
{
	data[0] = i;
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, STREAM, STREAM, GL_RGBA, GL_UNSIGNED_BYTE, data);
	glFlush();
}

/* Buffers that are BOs of their own. */
static void big_many(unsigned i)
{
	data[0] = i;
	glGenBuffers(1, &names[made]);
	glBindBuffer(GL_ARRAY_BUFFER, names[made++]);
	glBufferData(GL_ARRAY_BUFFER, BIG, data, GL_STATIC_DRAW);
}

static void big_part_busy_begin(void)
{
	draw_setup();
	make_vbo(BIG, GL_DYNAMIC_DRAW);
}
static void big_part_busy(unsigned i)
{
	data[0] = i;
	glBufferSubData(GL_ARRAY_BUFFER, BIG / 2, SMALL, data);
	draw(names[0]);
}

/* The GPU has written them, and nobody has mapped them. */
static void big_own_begin(void)
{
	made = OWN + 1;
	glGenBuffers(made, names);
	for (unsigned i = 0; i < made; i++) {
		glBindBuffer(i ? GL_COPY_WRITE_BUFFER : GL_COPY_READ_BUFFER, names[i]);
		glBufferData(i ? GL_COPY_WRITE_BUFFER : GL_COPY_READ_BUFFER, BIG, i ? NULL : data, GL_STATIC_DRAW);
		if (i)
			glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, BIG);
	}
}
static void big_map_part(unsigned i)
{
	void *map;

	glBindBuffer(GL_ARRAY_BUFFER, names[1 + i % OWN]);
	map = glMapBufferRange(GL_ARRAY_BUFFER, BIG / 2, SMALL, GL_MAP_WRITE_BIT);
	memset(map, i, SMALL);
	glUnmapBuffer(GL_ARRAY_BUFFER);
}
static void big_read(unsigned i)
{
	glBindBuffer(GL_ARRAY_BUFFER, names[1 + i % OWN]);
	glGetBufferSubData(GL_ARRAY_BUFFER, BIG / 2, SMALL, data);
}

static void nothing(void) {}

static const struct {
	const char *name;
	void (*begin)(void);
	void (*call)(unsigned i);
	void (*end)(void);
	unsigned calls; /* at most, in a batch */
} cases[] = {
	{ "vbo-idle", vbo_idle_begin, vbo_idle, nothing, 10000 },
	{ "vbo-busy", vbo_busy_begin, vbo_busy, nothing, 10000 },
	{ "vbo-part-busy", vbo_busy_begin, vbo_part_busy, nothing, 10000 },
	{ "draw", vbo_busy_begin, draw_alone, nothing, 10000 },
	{ "vbo-many", vbo_many_begin, vbo_many, vbo_many_end, 10000 },
	{ "glyph-own", glyph_own_begin, glyph_own, glyph_own_end, 10000 },
	{ "glyph-atlas", glyph_atlas_begin, glyph_atlas, nothing, 10000 },
	{ "tex1d", tex1d_begin, tex1d, tex1d_end, 10000 },
	{ "pbo", pbo_begin, pbo, pbo_end, 10000 },
	{ "map-hot", map_hot_begin, map_hot, nothing, 10000 },
	{ "readpixels", draw_setup, readpixels, nothing, 10000 },
	{ "read-own", read_own_begin, read_own, read_own_end, 10000 },
	{ "stream", stream_begin, stream, nothing, 50 },
	{ "big-many", vbo_many_begin, big_many, vbo_many_end, 1000 },
	{ "big-part-busy", big_part_busy_begin, big_part_busy, nothing, 10000 },
	{ "big-map-part", big_own_begin, big_map_part, vbo_many_end, 10000 },
	{ "big-read", big_own_begin, big_read, vbo_many_end, 10000 },
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static double median(double *v, unsigned n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

static void measure(unsigned c, unsigned warm_up, unsigned batches, unsigned calls)
{
	double ns[batches], cpu[batches], io[batches], mm[batches];

	if (calls > cases[c].calls)
		calls = cases[c].calls;
	for (unsigned b = 0; b < warm_up + batches; b++) {
		cases[c].begin();
		glFinish();

		struct gl_counts before = gl_counts();
		double t0 = now(CLOCK_MONOTONIC), cpu0 = now(CLOCK_PROCESS_CPUTIME_ID);

		for (unsigned i = 0; i < calls; i++)
			cases[c].call(i);
		glFlush();
		double t = now(CLOCK_MONOTONIC) - t0, used = now(CLOCK_PROCESS_CPUTIME_ID) - cpu0;
		struct gl_counts after = gl_counts();

		if (b >= warm_up) {
			unsigned i = b - warm_up;

			ns[i] = t / calls;
			cpu[i] = used / calls;
			io[i] = (double)(after.ioctls - before.ioctls) / calls;
			mm[i] = (double)(after.maps - before.maps) / calls;
		}
		glFinish();
		cases[c].end();
		no_error(cases[c].name);
	}
	printf("{\"case\": \"%s\", \"calls\": %u, \"ns\": %.0f, \"cpu_ns\": %.0f, \"ioctls\": %.4f, \"maps\": %.4f}\n", cases[c].name,
	       calls, median(ns, batches), median(cpu, batches), median(io, batches), median(mm, batches));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned warm_up = WARM_UP, batches = 11, calls = 1000, n = sizeof(cases) / sizeof(*cases);
	int arg = 1;

	while (arg + 1 < argc && argv[arg][0] == '-') {
		unsigned value = strtoul(argv[arg + 1], NULL, 10);

		if (!strcmp(argv[arg], "--warm-up")) {
			if (value > 100)
				die("gl-uploads: --warm-up takes a number from 0 to 100");
			warm_up = value;
			arg += 2;
			continue;
		}
		if (!value || value > 10000)
			die("gl-uploads: %s takes a number from 1 to 10000", argv[arg]);
		if (!strcmp(argv[arg], "--batches"))
			batches = value;
		else if (!strcmp(argv[arg], "--calls"))
			calls = value;
		else
			die("gl-uploads: there is no option %s", argv[arg]);
		arg += 2;
	}
	if (arg >= argc)
		die("usage: gl-uploads [--batches N] [--calls N] [--warm-up N] CASE... | all");
	context_create(EGL_NO_CONTEXT);
	fprintf(stderr, "%s\n", glGetString(GL_RENDERER));
	fill(data, sizeof(data), 1);
	for (; arg < argc; arg++) {
		bool any = false;

		for (unsigned c = 0; c < n; c++) {
			if (strcmp(argv[arg], "all") && strcmp(argv[arg], cases[c].name))
				continue;
			any = true;
			measure(c, warm_up, batches, calls);
		}
		if (!any)
			die("gl-uploads: there is no case \"%s\"", argv[arg]);
	}
	return 0;
}
