/* SPDX-License-Identifier: MIT */
/*
 * Measures how long a GL renderer takes for what a desktop draws: filling, small
 * triangles, glyphs, clears, copies, an MSAA resolve. The same program runs on the
 * emulated board, natively by r7xx-shim, and on Mesa's software renderers.
 *
 * A sample is a batch of draws and a glFinish(); batches are made long enough for
 * the clock. Results are medians of a draw. What a scene drew is read back, so that
 * renderers can be compared, and a scene that draws nothing is noticed.
 */
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bench-egl.h"
#include "bench-json.h"
#include "bench-options.h"

#define WIDTH		1024
#define HEIGHT		768
#define TEXTURE		512
#define TRIANGLES	10000
#define GLYPHS		1000
#define GLYPH		16
#define SAMPLES		4
/* A batch takes this long at least, in ns. */
#define BATCH_NS	40000000u
#define ROUNDS_MAX	101

/**
 * struct scene - something to draw
 * @name: as in the results
 * @unit: unit of which the cost is given: "pixel", "triangle", "glyph"
 * @units: number of units in one draw
 * @draw: draws it once
 * @depth: with depth test and write
 */
struct scene {
	const char *name, *unit;
	unsigned int units;
	void (*draw)(void);
	bool depth;
};

struct vertex {
	float x, y, z, w, s, t;
	unsigned char colour[4];
};

static GLuint fbo, other, samples, texture, atlas, quad, triangles, glyphs;

static void fail(const char *what)
{
	fprintf(stderr, "board-fill: %s\n", what);
	exit(1);
}

static void vertices(GLuint buffer)
{
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glVertexPointer(4, GL_FLOAT, sizeof(struct vertex),
			(void *)offsetof(struct vertex, x));
	glTexCoordPointer(2, GL_FLOAT, sizeof(struct vertex),
			  (void *)offsetof(struct vertex, s));
	glColorPointer(4, GL_UNSIGNED_BYTE, sizeof(struct vertex),
		       (void *)offsetof(struct vertex, colour));
}

static void draw_fill(void)
{
	glEnable(GL_TEXTURE_2D);
	glEnable(GL_BLEND);
	glBindTexture(GL_TEXTURE_2D, texture);
	vertices(quad);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

static void draw_triangles(void)
{
	glDisable(GL_TEXTURE_2D);
	glDisable(GL_BLEND);
	vertices(triangles);
	glDrawArrays(GL_TRIANGLES, 0, 3 * TRIANGLES);
}

static void draw_glyphs(void)
{
	glEnable(GL_TEXTURE_2D);
	glEnable(GL_BLEND);
	glBindTexture(GL_TEXTURE_2D, atlas);
	vertices(glyphs);
	glDrawArrays(GL_QUADS, 0, 4 * GLYPHS);
}

static void draw_clear(void)
{
	glClearColor(0.2f, 0.4f, 0.6f, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	/* Without a flush, a tiler drops all clears but the last. */
	glFlush();
}

static void draw_clear_depth(void)
{
	glClearColor(0.6f, 0.4f, 0.2f, 1);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
	glFlush();
}

/* Copies from a framebuffer to fbo, which stays bound. */
static void blit(GLuint from, int width, int height, GLenum filter)
{
	glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
	glBlitFramebuffer(0, 0, WIDTH, HEIGHT, 0, 0, width, height,
			  GL_COLOR_BUFFER_BIT, filter);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, fbo);
}

static void draw_copy(void) { blit(other, WIDTH, HEIGHT, GL_NEAREST); }
static void draw_scale(void) { blit(other, WIDTH / 2, HEIGHT / 2, GL_LINEAR); }
static void draw_resolve(void) { blit(samples, WIDTH, HEIGHT, GL_NEAREST); }

static const struct scene scenes[] = {
	{ "fill", "pixel", WIDTH * HEIGHT, draw_fill, false },
	{ "fill-depth", "pixel", WIDTH * HEIGHT, draw_fill, true },
	{ "triangles", "triangle", TRIANGLES, draw_triangles, false },
	{ "glyphs", "glyph", GLYPHS, draw_glyphs, false },
	{ "clear", "pixel", WIDTH * HEIGHT, draw_clear, false },
	{ "clear-depth", "pixel", WIDTH * HEIGHT, draw_clear_depth, true },
	{ "copy", "pixel", WIDTH * HEIGHT, draw_copy, false },
	{ "scale", "pixel", WIDTH * HEIGHT / 4, draw_scale, false },
	{ "resolve", "pixel", WIDTH * HEIGHT, draw_resolve, false },
};

#define SCENES (sizeof(scenes) / sizeof(scenes[0]))

static void context(void)
{
	struct bench_egl egl;

	if (!bench_egl_start(&egl))
		fail("no EGL display with desktop GL");
	if (bench_egl_context(&egl, NULL) == EGL_NO_CONTEXT)
		fail("no GL context");
}

/* Returns 0 if GL does not support it: softpipe has no multisampling. */
static GLuint framebuffer(unsigned int sample_count)
{
	GLuint name, colour, depth;

	glGenFramebuffers(1, &name);
	glBindFramebuffer(GL_FRAMEBUFFER, name);
	glGenRenderbuffers(1, &colour);
	glBindRenderbuffer(GL_RENDERBUFFER, colour);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, sample_count, GL_RGBA8,
					 WIDTH, HEIGHT);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0,
				  GL_RENDERBUFFER, colour);
	glGenRenderbuffers(1, &depth);
	glBindRenderbuffer(GL_RENDERBUFFER, depth);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, sample_count,
					 GL_DEPTH24_STENCIL8, WIDTH, HEIGHT);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT,
				  GL_RENDERBUFFER, depth);
	if (glGetError() != GL_NO_ERROR ||
	    glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
		return 0;
	return name;
}

static GLuint buffer(const struct vertex *data, unsigned int count)
{
	GLuint name;

	glGenBuffers(1, &name);
	glBindBuffer(GL_ARRAY_BUFFER, name);
	glBufferData(GL_ARRAY_BUFFER, count * sizeof(*data), data, GL_STATIC_DRAW);
	return name;
}

static GLuint make_texture(GLenum internal, GLenum format, const void *data)
{
	GLuint name;

	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_2D, name);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
	glTexImage2D(GL_TEXTURE_2D, 0, internal, TEXTURE, TEXTURE, 0, format,
		     GL_UNSIGNED_BYTE, data);
	return name;
}

static struct vertex at(float x, float y, float s, float t)
{
	struct vertex v = { x * 2 / WIDTH - 1, y * 2 / HEIGHT - 1, 0, 1, s, t,
			    { 255, 255, 255, 200 } };

	return v;
}

/* A quad whose right side is twice as far away: perspective. */
static void make_quad(void)
{
	struct vertex v[4];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		v[i] = at(i & 1 ? WIDTH : 0, i & 2 ? HEIGHT : 0, i & 1, i >> 1);
		if (i & 1) {
			v[i].x *= 2;
			v[i].y *= 2;
			v[i].w = 2;
		}
	}
	quad = buffer(v, 4);
}

/* 10 pixels each, in places all over the screen; no edge meets a pixel's centre. */
static void make_triangles(struct vertex *v)
{
	unsigned int i;

	for (i = 0; i < TRIANGLES; i++) {
		float x = i * 37 % (WIDTH - 5), y = i * 101 % (HEIGHT - 5);

		v[3 * i] = at(x, y, 0, 0);
		v[3 * i + 1] = at(x + 4.5f, y, 0, 0);
		v[3 * i + 2] = at(x, y + 4.5f, 0, 0);
		v[3 * i].colour[0] = i;
	}
	triangles = buffer(v, 3 * TRIANGLES);
}

/* Lines of text. */
static void make_glyphs(struct vertex *v)
{
	const float step = (float)GLYPH / TEXTURE;
	unsigned int i, c;

	for (i = 0; i < GLYPHS; i++) {
		float x = i % (WIDTH / GLYPH) * GLYPH, y = i / (WIDTH / GLYPH) * GLYPH;
		float s = i % 32 * step, t = i / 32 * step;

		for (c = 0; c < 4; c++) {
			float right = c == 1 || c == 2, up = c >= 2;

			v[4 * i + c] = at(x + right * GLYPH, y + up * GLYPH,
					  s + right * step, t + up * step);
		}
	}
	glyphs = buffer(v, 4 * GLYPHS);
}

static void prepare(void)
{
	static unsigned char texels[TEXTURE * TEXTURE * 4];
	struct vertex *v = calloc(3 * TRIANGLES + 4 * GLYPHS, sizeof(*v));
	unsigned int i;

	if (!v)
		fail("no memory");
	for (i = 0; i < sizeof(texels); i++)
		texels[i] = (i >> 2) * 3 ^ (i >> 11) * (1 + (i & 3));
	texture = make_texture(GL_RGBA8, GL_RGBA, texels);
	atlas = make_texture(GL_ALPHA8, GL_ALPHA, texels);
	make_quad();
	make_triangles(v);
	make_glyphs(v);
	free(v);

	samples = framebuffer(SAMPLES);
	other = framebuffer(0);
	fbo = framebuffer(0);
	if (!fbo || !other)
		fail("a framebuffer is not complete");
	glViewport(0, 0, WIDTH, HEIGHT);
	glEnableClientState(GL_VERTEX_ARRAY);
	glEnableClientState(GL_TEXTURE_COORD_ARRAY);
	glEnableClientState(GL_COLOR_ARRAY);
	glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
	glDepthFunc(GL_LEQUAL);
	/* Draw the sources of the copies. */
	if (samples) {
		glBindFramebuffer(GL_FRAMEBUFFER, samples);
		draw_clear();
		draw_triangles();
		draw_fill();
	}
	glBindFramebuffer(GL_FRAMEBUFFER, other);
	draw_clear();
	draw_fill();
	glBindFramebuffer(GL_FRAMEBUFFER, fbo);
}

static void begin(const struct scene *scene)
{
	glDisable(GL_DEPTH_TEST);
	glClearColor(0, 0, 0, 0);
	glClearDepth(1);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
	if (scene->depth)
		glEnable(GL_DEPTH_TEST);
	glFinish();
}

static uint64_t batch(const struct scene *scene, unsigned int draws)
{
	uint64_t from = bench_now();
	unsigned int i;

	for (i = 0; i < draws; i++)
		scene->draw();
	glFinish();
	return bench_now() - from;
}

/* What one draw leaves: pixels that are not black, and the mean of each channel. */
static void contents(const struct scene *scene, struct json_object *row)
{
	static unsigned char pixels[WIDTH * HEIGHT * 4];
	uint64_t sums[4] = { 0 }, touched = 0;
	struct json_object *mean = json_object_new_array();
	unsigned int i;

	begin(scene);
	scene->draw();
	glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	for (i = 0; i < sizeof(pixels); i++)
		sums[i & 3] += pixels[i];
	for (i = 0; i < sizeof(pixels); i += 4)
		touched += pixels[i] || pixels[i + 1] || pixels[i + 2];
	for (i = 0; i < 4; i++)
		json_object_array_add(mean, json_object_new_double(
			(double)sums[i] / (WIDTH * HEIGHT)));
	bench_json_add_number(row, "touched", touched);
	json_object_object_add(row, "mean", mean);
}

static struct json_object *measure(const struct scene *scene, unsigned int rounds)
{
	struct json_object *row = json_object_new_object();
	uint64_t times[ROUNDS_MAX];
	struct bench_stat stat;
	unsigned int draws = 1, i;

	bench_json_add_string(row, "scene", scene->name);
	bench_json_add_string(row, "unit", scene->unit);
	bench_json_add_number(row, "units", scene->units);
	contents(scene, row);
	begin(scene);
	while (batch(scene, draws) < BATCH_NS && draws < 1u << 16)
		draws *= 2;
	for (i = 0; i < rounds; i++)
		times[i] = batch(scene, draws) / draws;
	if (glGetError() != GL_NO_ERROR)
		fail("GL has an error");
	stat = bench_spread(times, rounds);
	bench_json_add_number(row, "draws", draws);
	bench_json_add_number(row, "ns", stat.median);
	bench_json_add_number(row, "p10", stat.p10);
	bench_json_add_number(row, "p90", stat.p90);
	return row;
}

/* The names of all scenes. */
static const char *scenes_help(void)
{
	static char text[256];
	unsigned int i, n = 0;

	n = snprintf(text, sizeof(text), "this one alone:\n");
	for (i = 0; i < SCENES; i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%s", i ? " " : "", scenes[i].name);
	return text;
}

static const char *take_scene(void *data, const char *text)
{
	unsigned int i;

	for (i = 0; i < SCENES; i++) {
		if (!strcmp(text, scenes[i].name)) {
			*(const char **)data = scenes[i].name;
			return NULL;
		}
	}
	return "no such scene";
}

/* CPUs that this process may run on: taskset changes them. */
static unsigned int usable_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 0 : CPU_COUNT(&set);
}

int main(int argc, char **argv)
{
	const char *json = NULL, *only = NULL;
	struct json_object *root, *rows;
	unsigned int rounds = 15, i;
	int ret;
	const struct bench_option options[] = {
		{ .name = "rounds", .argument = "N", .number = &rounds, .least = 1,
		  .most = ROUNDS_MAX, .help = "batches of each scene (default: 15)" },
		{ .name = "scene", .argument = "NAME", .take = take_scene, .data = &only,
		  .help = scenes_help() },
		{ .name = "json", .argument = "FILE", .text = &json,
		  .help = "write the results there" },
		{ 0 }
	};
	const struct bench_program program = {
		.name = "board-fill",
		.line = "[OPTION...] --json FILE",
		.options = options,
		.end = BENCH_GL_HELP
		"Exit status: 0; 1 if something cannot be drawn; 2 for a bad command line.\n",
	};

	bench_options(&program, argc, argv);
	if (!json)
		bench_options_bad(&program, "--json FILE is missing");

	context();
	prepare();
	root = json_object_new_object();
	bench_json_add_string(root, "renderer", (const char *)glGetString(GL_RENDERER));
	bench_json_add_string(root, "version", (const char *)glGetString(GL_VERSION));
	json_object_object_add(root, "environment", bench_json_machine());
	bench_json_add_number(root, "usable_cpus", usable_cpus());
	rows = json_object_new_array();
	for (i = 0; i < SCENES; i++) {
		if (only && strcmp(only, scenes[i].name))
			continue;
		if (scenes[i].draw == draw_resolve && !samples)
			bench_json_add_string(root, "not_supported", scenes[i].name);
		else
			json_object_array_add(rows, measure(&scenes[i], rounds));
	}
	json_object_object_add(root, "rows", rows);
	ret = bench_json_write(json, root);
	if (ret)
		fprintf(stderr, "board-fill: cannot write %s: %s\n", json, strerror(-ret));
	return !!ret;
}
