/* SPDX-License-Identifier: MIT */
/**
 * DOC: gl-maps CASE N [LATENCY-US]
 *
 * Makes N objects as CASE says and prints a row of JSON: mappings made ("maps"),
 * the most that there were at a time ("maps_peak"), ioctls, reads by PREAD, writes by PWRITE
 * or as a region of TRANSFER, linear textures that an Evergreen has read ("sources"), how many of
 * eight small textures are in memory as they are sampled ("tiled"), and how many of these PREAD reads
 * back ("tiled_reads"), and
 * whether all contents are as they were uploaded ("ok"). It runs on the radeon no-op shim.
 *
 * Contents are checked twice: GL reads all objects back, and the bytes of some
 * are searched in the memory of the BOs, which shows what a GPU would see. Small tiled
 * textures must be there in the order of a micro tile; of those that the GPU has to
 * write, the staged rows.
 *
 * "--list" prints the cases, each with its limit of N (0: none), and "persistent"
 * behind those that keep a mapping for each object by definition.
 */

#include "gltest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 256   /* bytes of a small buffer, and of a row of a 1D texture */
#define GLYPH 16   /* pixels */
#define ATLAS 1024 /* pixels */
#define SAMPLES 8  /* objects whose bytes are searched in memory */

static GLuint *names;
static unsigned tiled;	 /* of SAMPLES textures, those that are in memory as the GPU samples them */
static unsigned read_by_cpu; /* those among them that are read back by PREAD */

static void gen_buffers(unsigned n)
{
	glGenBuffers(n, names);
}

static bool check_buffers(unsigned n, GLenum target, unsigned size)
{
	uint8_t want[SIZE], got[SIZE];

	glFinish();
	for (unsigned i = 0; i < n; i++) {
		if (i % ((n + SAMPLES - 1) / SAMPLES) == 0) {
			fill(want, size, i);
			if (!shim.find(want, size, 1, size, size)) {
				fprintf(stderr, "object %u is not in memory\n", i);
				return false;
			}
		}
	}
	for (unsigned i = 0; i < n; i++) {
		fill(want, size, i);
		glBindBuffer(target, names[i]);
		glGetBufferSubData(target, 0, size, got);
		if (memcmp(want, got, size)) {
			fprintf(stderr, "object %u reads back wrong\n", i);
			return false;
		}
	}
	return true;
}

static void vbo_data(unsigned n)
{
	uint8_t data[SIZE];

	gen_buffers(n);
	for (unsigned i = 0; i < n; i++) {
		fill(data, SIZE, i);
		glBindBuffer(GL_ARRAY_BUFFER, names[i]);
		glBufferData(GL_ARRAY_BUFFER, SIZE, data, GL_STATIC_DRAW);
	}
}

static void subdata(unsigned n, GLenum target, GLenum usage)
{
	uint8_t data[SIZE];

	gen_buffers(n);
	for (unsigned i = 0; i < n; i++) {
		fill(data, SIZE, i);
		glBindBuffer(target, names[i]);
		glBufferData(target, SIZE, NULL, usage);
		glBufferSubData(target, 0, SIZE / 2, data);
		glBufferSubData(target, SIZE / 2, SIZE / 2, data + SIZE / 2);
	}
}

static void vbo_subdata(unsigned n) { subdata(n, GL_ARRAY_BUFFER, GL_DYNAMIC_DRAW); }
static void vbo_stream(unsigned n) { subdata(n, GL_ARRAY_BUFFER, GL_STREAM_DRAW); }
static void ubo_subdata(unsigned n) { subdata(n, GL_UNIFORM_BUFFER, GL_DYNAMIC_DRAW); }
static bool check_vbo(unsigned n) { return check_buffers(n, GL_ARRAY_BUFFER, SIZE); }
static bool check_ubo(unsigned n) { return check_buffers(n, GL_UNIFORM_BUFFER, SIZE); }

/* Each buffer is drawn from, then written again while the draw is not submitted. */
static void vbo_busy(unsigned n)
{
	uint8_t data[SIZE];

	draw_setup();
	vbo_data(n);
	for (unsigned i = 0; i < n; i++) {
		memset(data, 0, SIZE);
		glBindBuffer(GL_ARRAY_BUFFER, names[i]);
		glBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, data);
		draw(names[i]);
		fill(data, SIZE, i);
		glBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, data);
		if (i % 64 == 63)
			glFlush();
	}
}

static void map_write(unsigned n)
{
	gen_buffers(n);
	for (unsigned i = 0; i < n; i++) {
		void *map;

		glBindBuffer(GL_ARRAY_BUFFER, names[i]);
		glBufferData(GL_ARRAY_BUFFER, SIZE, NULL, GL_STATIC_DRAW);
		map = glMapBuffer(GL_ARRAY_BUFFER, GL_WRITE_ONLY);
		if (!map)
			die("glMapBuffer fails");
		fill(map, SIZE, i);
		if (!glUnmapBuffer(GL_ARRAY_BUFFER))
			die("glUnmapBuffer fails");
	}
}

/* Only ranges that are flushed may change. */
static void map_flush(unsigned n)
{
	vbo_data(n);
	for (unsigned i = 0; i < n; i++) {
		uint8_t *map, data[SIZE];

		glBindBuffer(GL_ARRAY_BUFFER, names[i]);
		map = glMapBufferRange(GL_ARRAY_BUFFER, 32, SIZE - 64,
				       GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT);
		if (!map)
			die("glMapBufferRange fails");
		if (((uintptr_t)map - 32) % 64)
			die("the mapping is not aligned to GL_MIN_MAP_BUFFER_ALIGNMENT");
		fill(data, SIZE, i + 77777);
		memcpy(map, data, 16);
		glFlushMappedBufferRange(GL_ARRAY_BUFFER, 0, 16);
		fill(data, SIZE, i);
		memcpy(map, data + 32, 16);
		glFlushMappedBufferRange(GL_ARRAY_BUFFER, 4, 12);
		glFlushMappedBufferRange(GL_ARRAY_BUFFER, 0, 4);
		glUnmapBuffer(GL_ARRAY_BUFFER);
	}
}

static void map_read(unsigned n)
{
	vbo_data(n);
	for (unsigned i = 0; i < n; i++) {
		uint8_t want[SIZE], *map;

		fill(want, SIZE, i);
		glBindBuffer(GL_ARRAY_BUFFER, names[i]);
		map = glMapBuffer(GL_ARRAY_BUFFER, GL_READ_ONLY);
		if (!map || memcmp(map, want, SIZE))
			die("a mapping for reading is wrong");
		glUnmapBuffer(GL_ARRAY_BUFFER);
	}
}

static void pbo(unsigned n)
{
	gen_buffers(n);
	for (unsigned i = 0; i < n; i++) {
		void *map;

		glBindBuffer(GL_PIXEL_UNPACK_BUFFER, names[i]);
		glBufferData(GL_PIXEL_UNPACK_BUFFER, SIZE, NULL, GL_STREAM_DRAW);
		map = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, SIZE,
				       GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
		if (!map)
			die("glMapBufferRange fails");
		fill(map, SIZE, i);
		glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
	}
	glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

/* Drawn pixels go into a buffer object, which is mapped. */
static void pbo_readback(unsigned n)
{
	draw_setup();
	gen_buffers(n);
	for (unsigned i = 0; i < n; i++) {
		glBindBuffer(GL_PIXEL_PACK_BUFFER, names[i]);
		glBufferData(GL_PIXEL_PACK_BUFFER, 8 * 8 * 4, NULL, GL_STREAM_READ);
		glReadPixels(0, 0, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
		if (!glMapBuffer(GL_PIXEL_PACK_BUFFER, GL_READ_ONLY))
			die("glMapBuffer fails");
		glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
	}
	glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
}

static void readpixels(unsigned n)
{
	uint8_t pixels[16 * 16 * 4];

	draw_setup();
	for (unsigned i = 0; i < n; i++) {
		glClearColor(i % 3, i % 5, i % 7, 1);
		glClear(GL_COLOR_BUFFER_BIT);
		glReadPixels(0, 0, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	}
}

/* As readpixels, but every other readback converts formats, and the reuse cache is full of
 * BOs that are never mapped: the fences of command streams that were in flight.
 */
static void readback(unsigned n)
{
	uint8_t pixels[16 * 16 * 4];

	draw_setup();
	shim.set("latency-us", 200);
	for (unsigned i = 0; i < n; i++) {
		glClearColor(i % 3, i % 5, i % 7, 1);
		glClear(GL_COLOR_BUFFER_BIT);
		glFlush();
	}
	shim.set("latency-us", 0);
	for (unsigned i = 0; i < n; i++) {
		glClear(GL_COLOR_BUFFER_BIT);
		glReadPixels(0, 0, 16, 16, i % 2 ? GL_RGBA : GL_RG, GL_UNSIGNED_BYTE, pixels);
	}
}

static void persistent(unsigned n)
{
	gen_buffers(n);
	for (unsigned i = 0; i < n; i++) {
		void *map;

		glBindBuffer(GL_ARRAY_BUFFER, names[i]);
		glBufferStorage(GL_ARRAY_BUFFER, SIZE, NULL, GL_MAP_WRITE_BIT | GL_MAP_READ_BIT |
				GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT);
		map = glMapBufferRange(GL_ARRAY_BUFFER, 0, SIZE, GL_MAP_WRITE_BIT |
				       GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT);
		if (!map)
			die("glMapBufferRange fails");
		fill(map, SIZE, i);
	}
}

static void tex1d(unsigned n)
{
	uint8_t data[SIZE];

	glGenTextures(n, names);
	for (unsigned i = 0; i < n; i++) {
		fill(data, SIZE, i);
		glBindTexture(GL_TEXTURE_1D, names[i]);
		glTexParameteri(GL_TEXTURE_1D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glTexImage1D(GL_TEXTURE_1D, 0, GL_RGBA8, SIZE / 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
		glTexSubImage1D(GL_TEXTURE_1D, 0, 0, SIZE / 8, GL_RGBA, GL_UNSIGNED_BYTE, data);
		glTexSubImage1D(GL_TEXTURE_1D, 0, SIZE / 8, SIZE / 8, GL_RGBA, GL_UNSIGNED_BYTE,
				data + SIZE / 2);
	}
}

static bool check_tex1d(unsigned n)
{
	uint8_t want[SIZE];

	glFinish();
	for (unsigned i = 0; i < n; i += (n + SAMPLES - 1) / SAMPLES) {
		fill(want, SIZE, i);
		if (!shim.find(want, SIZE, 1, SIZE, SIZE)) {
			fprintf(stderr, "texture %u is not in memory\n", i);
			return false;
		}
	}
	return true;
}

static void glyph_own(unsigned n)
{
	uint8_t data[GLYPH * GLYPH];

	glGenTextures(n, names);
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	for (unsigned i = 0; i < n; i++) {
		fill(data, sizeof(data), i);
		glBindTexture(GL_TEXTURE_2D, names[i]);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glTexImage2D(GL_TEXTURE_2D, 0, GL_ALPHA8, GLYPH, GLYPH, 0, GL_ALPHA, GL_UNSIGNED_BYTE, data);
	}
}

/* Each is drawn to, then written again while the GPU uses it, or is going to. */
static void glyph_again(unsigned n)
{
	uint8_t data[GLYPH * GLYPH];

	draw_setup();
	glGenTextures(n, names);
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	for (unsigned i = 0; i < n; i++) {
		memset(data, 0, sizeof(data));
		glBindTexture(GL_TEXTURE_2D, names[i]);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, GLYPH, GLYPH, 0, GL_RED, GL_UNSIGNED_BYTE, data);
		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, names[i], 0);
		if (i % 64 == 63)
			glFlush();
		glClear(GL_COLOR_BUFFER_BIT);
		fill(data, sizeof(data), i);
		glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, GLYPH, GLYPH, GL_RED, GL_UNSIGNED_BYTE, data);
	}
}

static void glyph_atlas(unsigned n)
{
	const unsigned per_row = ATLAS / GLYPH;
	uint8_t data[GLYPH * GLYPH];

	glGenTextures(1, names);
	glBindTexture(GL_TEXTURE_2D, names[0]);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_ALPHA8, ATLAS, ATLAS, 0, GL_ALPHA, GL_UNSIGNED_BYTE, NULL);
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	for (unsigned i = 0; i < n; i++) {
		fill(data, sizeof(data), i);
		glTexSubImage2D(GL_TEXTURE_2D, 0, i % per_row * GLYPH, i / per_row % per_row * GLYPH,
				GLYPH, GLYPH, GL_ALPHA, GL_UNSIGNED_BYTE, data);
	}
}

/* The rows must lie where the GPU copies them from, 256 bytes apart. Since Evergreen the DMA
 * engine copies, and the shim knows from where.
 */
static bool check_glyphs(unsigned n)
{
	uint8_t want[GLYPH * GLYPH];

	glFinish();
	/* Older staging memory can have been reused. */
	for (unsigned i = n > SAMPLES ? n - SAMPLES : 0; i < n; i++) {
		fill(want, sizeof(want), i);
		if (!shim.find(want, GLYPH, GLYPH, GLYPH, 256)) {
			fprintf(stderr, "glyph %u is not in memory\n", i);
			return false;
		}
		if (shim.counter("sources") && !shim.find_source(want)) {
			fprintf(stderr, "glyph %u is not where it is copied from\n", i);
			return false;
		}
	}
	return true;
}

/* Boxes of an atlas are side by side where the GPU copies them from: their rows are 512 bytes apart. */
static bool check_atlas(unsigned n)
{
	uint8_t want[GLYPH * GLYPH];

	glFinish();
	for (unsigned i = n > SAMPLES ? n - SAMPLES : 0; i < n; i++) {
		fill(want, sizeof(want), i);
		/* Mesa without the series has each box on its own. */
		if (!shim.find(want, GLYPH, GLYPH, GLYPH, 512) && !shim.find(want, GLYPH, GLYPH, GLYPH, 256)) {
			fprintf(stderr, "glyph %u is not in memory\n", i);
			return false;
		}
	}
	return true;
}

/* The CPU has written them where the GPU samples them. Mesa without the series stages them. */
static bool check_own(unsigned n)
{
	uint8_t rows[GLYPH * GLYPH], want[GLYPH * GLYPH];

	glFinish();
	for (unsigned i = 0; i < n; i += (n + SAMPLES - 1) / SAMPLES) {
		fill(rows, sizeof(rows), i);
		for (unsigned p = 0; p < sizeof(rows); p++)
			want[tiled_at(GLYPH, p % GLYPH, p / GLYPH)] = rows[p];
		/* A row of tiles has at least a group of 256 bytes (eg_surface_init_1d() of libdrm). */
		tiled += shim.find(want, 8 * GLYPH, GLYPH / 8, 8 * GLYPH, 256);

		/* The shim copies no texture. */
		uint64_t before = shim.counter("pread");

		glBindTexture(GL_TEXTURE_2D, names[i]);
		glGetTexImage(GL_TEXTURE_2D, 0, GL_ALPHA, GL_UNSIGNED_BYTE, want);
		if (shim.counter("pread") == before)
			continue;
		read_by_cpu++;
		if (memcmp(want, rows, sizeof(rows))) {
			fprintf(stderr, "glyph %u reads back wrong\n", i);
			return false;
		}
	}
	return tiled || check_glyphs(n);
}

static void query(unsigned n)
{
	GLuint vbo;

	draw_setup();
	glGenBuffers(1, &vbo);
	glBindBuffer(GL_ARRAY_BUFFER, vbo);
	glBufferData(GL_ARRAY_BUFFER, SIZE, NULL, GL_STATIC_DRAW);
	glGenQueries(n, names);
	for (unsigned i = 0; i < n; i++) {
		glBeginQuery(GL_SAMPLES_PASSED, names[i]);
		draw(vbo);
		glEndQuery(GL_SAMPLES_PASSED);
	}
}

/* The GPU draws nothing: all results are 0, but they have to be read. */
static bool check_query(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		GLuint result = 1;

		glGetQueryObjectuiv(names[i], GL_QUERY_RESULT, &result);
		if (result) {
			fprintf(stderr, "query %u has result %u\n", i, result);
			return false;
		}
	}
	return true;
}

static void query_read(unsigned n)
{
	query(n);
	check_query(n);
}

static void uniforms(unsigned n)
{
	GLuint vbo;

	draw_setup();
	glGenBuffers(1, &vbo);
	glBindBuffer(GL_ARRAY_BUFFER, vbo);
	glBufferData(GL_ARRAY_BUFFER, SIZE, NULL, GL_STATIC_DRAW);
	for (unsigned i = 0; i < n; i++) {
		glUniform4f(0, i, i % 3, i % 5, 1);
		draw(vbo);
	}
}

static void shaders(unsigned n)
{
	GLuint vbo;

	draw_setup();
	glGenBuffers(1, &vbo);
	glBindBuffer(GL_ARRAY_BUFFER, vbo);
	glBufferData(GL_ARRAY_BUFFER, SIZE, NULL, GL_STATIC_DRAW);
	/* Each program differs, so that the driver compiles them all. */
	for (unsigned i = 0; i < n; i++) {
		static const char vs[] = "attribute vec2 p; void main() { gl_Position = vec4(p, 0.0, 1.0); }";
		const char *vs_source = vs;
		char fs[200];
		const char *fs_source = fs;
		GLuint program = glCreateProgram(), v = glCreateShader(GL_VERTEX_SHADER);
		GLuint f = glCreateShader(GL_FRAGMENT_SHADER);

		snprintf(fs, sizeof(fs), "void main() { gl_FragColor = vec4(%u.5, gl_FragCoord.x * %u.25, 0.0, 1.0); }",
			 i, i);
		glShaderSource(v, 1, &vs_source, NULL);
		glShaderSource(f, 1, &fs_source, NULL);
		glCompileShader(v);
		glCompileShader(f);
		glAttachShader(program, v);
		glAttachShader(program, f);
		glBindAttribLocation(program, 0, "p");
		glLinkProgram(program);
		glUseProgram(program);
		draw(vbo);
	}
}

static bool check_nothing(unsigned n)
{
	(void)n;
	return true;
}

static const struct {
	const char *name;
	void (*run)(unsigned n);
	bool (*check)(unsigned n);
	bool persistent;
	unsigned max; /* objects, if there is a limit; 0: none */
} cases[] = {
	{ "vbo-data", vbo_data, check_vbo, false, 0 },
	{ "vbo-subdata", vbo_subdata, check_vbo, false, 0 },
	{ "vbo-stream", vbo_stream, check_vbo, false, 0 },
	{ "vbo-busy", vbo_busy, check_nothing, false, 0 },
	{ "ubo-subdata", ubo_subdata, check_ubo, false, 0 },
	{ "map-write", map_write, check_vbo, false, 0 },
	{ "map-flush", map_flush, check_nothing, false, 0 },
	{ "map-read", map_read, check_vbo, false, 0 },
	{ "pbo", pbo, check_vbo, false, 0 },
	{ "pbo-readback", pbo_readback, check_nothing, false, 0 },
	{ "readpixels", readpixels, check_nothing, false, 0 },
	{ "readback", readback, check_nothing, false, 0 },
	{ "tex1d", tex1d, check_tex1d, false, 0 },
	{ "glyph-own", glyph_own, check_own, false, 0 },
	{ "glyph-again", glyph_again, check_glyphs, false, 0 },
	{ "glyph-atlas", glyph_atlas, check_atlas, false, 0 },
	{ "query", query, check_query, false, 0 },
	{ "query-read", query_read, check_query, false, 0 },
	{ "uniforms", uniforms, check_nothing, false, 0 },
	{ "shaders", shaders, check_nothing, false, 200 },
	{ "persistent", persistent, check_vbo, true, 0 },
};

int main(int argc, char **argv)
{
	unsigned i, n;
	bool ok;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
			printf("%s %u%s\n", cases[i].name, cases[i].max, cases[i].persistent ? " persistent" : "");
		return 0;
	}
	n = argc >= 3 ? strtoul(argv[2], NULL, 10) : 0;
	if (!n || argc > 4)
		die("usage: gl-maps CASE N [LATENCY-US] | --list");
	for (i = 0; i < sizeof(cases) / sizeof(*cases) && strcmp(cases[i].name, argv[1]); i++)
		;
	if (i == sizeof(cases) / sizeof(*cases))
		die("gl-maps: there is no case \"%s\"", argv[1]);

	context_create(EGL_NO_CONTEXT);
	if (!shim.counter)
		die("gl-maps needs the radeon no-op shim");
	names = calloc(n, sizeof(*names));
	if (!names)
		die("out of memory");
	if (argc == 4)
		shim.set("latency-us", strtoul(argv[3], NULL, 10));

	uint64_t maps = shim.counter("mmap"), ioctls = shim.counter("ioctl");
	uint64_t reads = shim.counter("pread"), writes = shim.counter("pwrite") + shim.counter("region");
	shim.reset_peaks();
	cases[i].run(n);
	glFlush();
	maps = shim.counter("mmap") - maps;
	ioctls = shim.counter("ioctl") - ioctls;
	reads = shim.counter("pread") - reads;
	writes = shim.counter("pwrite") + shim.counter("region") - writes;
	uint64_t peak = shim.counter("maps-peak");
	shim.set("latency-us", 0);

	GLenum error = glGetError();
	ok = cases[i].check(n) && !error && !glGetError();
	if (error)
		fprintf(stderr, "GL error 0x%x\n", error);
	uint64_t sources = shim.counter("sources");

	printf("{\"case\": \"%s\", \"n\": %u, \"maps\": %llu, \"maps_peak\": %llu, \"ioctls\": %llu, "
	       "\"reads\": %llu, \"writes\": %llu, \"sources\": %llu, \"tiled\": %u, \"tiled_reads\": %u, \"ok\": %s}\n",
	       cases[i].name, n, (unsigned long long)maps, (unsigned long long)peak,
	       (unsigned long long)ioctls, (unsigned long long)reads, (unsigned long long)writes,
	       (unsigned long long)sources, tiled, read_by_cpu, ok ? "true" : "false");
	return 0;
}
