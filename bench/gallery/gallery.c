/* SPDX-License-Identifier: MIT */
/*
 * Draws scenes without a window and writes each as a picture. The same program runs on
 * the emulated board, natively by r7xx-shim, and on Mesa's software renderers.
 */
#include "gallery.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench-egl.h"
#include "bench-json.h"
#include "bench-options.h"

static const struct scene *const lists[] = { scenes_legacy, scenes_surface, scenes_pass };

#define LISTS (sizeof(lists) / sizeof(lists[0]))

static const char *drawing = "start";
static unsigned char clear_colour[3];
static GLuint framebuffer;

void fail(const char *format, ...)
{
	va_list list;

	fprintf(stderr, "gallery: %s: ", drawing);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	exit(1);
}

/* Rounds the colour to 255ths, so that all renderers store the same. */
void background(float red, float green, float blue)
{
	const float colour[3] = { red, green, blue };

	for (unsigned int i = 0; i < 3; i++)
		clear_colour[i] = colour[i] * 255 + 0.5f;
	glClearColor(clear_colour[0] / 255.0f, clear_colour[1] / 255.0f,
		     clear_colour[2] / 255.0f, 1);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
}

static struct json_object *counts;

void count(const char *what, unsigned int value, unsigned int least)
{
	struct json_object *row = json_object_new_object();

	bench_json_add_string(row, "what", what);
	bench_json_add_number(row, "value", value);
	bench_json_add_number(row, "least", least);
	json_object_array_add(counts, row);
}

GLuint main_framebuffer(void)
{
	return framebuffer;
}

static struct bench_egl egl;

/* Makes a new context for each scene, so that no state is left of the one before. */
static EGLContext context(bool legacy)
{
	static const EGLint core[] = {
		EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3,
		EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE
	};
	EGLContext name = bench_egl_context(&egl, legacy ? NULL : core);
	GLuint buffers[2];

	if (name == EGL_NO_CONTEXT)
		fail("no context of GL %s", legacy ? "3.0" : "3.3, core profile");
	glGenRenderbuffers(2, buffers);
	glBindRenderbuffer(GL_RENDERBUFFER, buffers[0]);
	glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, WIDTH, HEIGHT);
	glBindRenderbuffer(GL_RENDERBUFFER, buffers[1]);
	glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH24_STENCIL8, WIDTH, HEIGHT);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
				  buffers[0]);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER,
				  buffers[1]);
	if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
		fail("the framebuffer is not complete");
	glViewport(0, 0, WIDTH, HEIGHT);
	return name;
}

static void write_picture(const char *dir, const char *name, const unsigned char *pixels)
{
	char path[4096];
	bool ok;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.ppm", dir, name);
	f = fopen(path, "wb");
	if (!f)
		fail("%s cannot be written", path);
	ok = fprintf(f, "P6\n%u %u\n255\n", WIDTH, HEIGHT) > 0;
	for (int y = HEIGHT - 1; y >= 0; y--)
		ok &= fwrite(pixels + (size_t)y * WIDTH * 3, WIDTH * 3, 1, f) == 1;
	if (fclose(f) || !ok)
		fail("%s cannot be written", path);
}

/* Draws a scene and writes its picture. Returns its row of the results. */
static struct json_object *show(const struct scene *scene, const char *dir)
{
	static unsigned char pixels[WIDTH * HEIGHT * 3];
	struct json_object *row = json_object_new_object();
	EGLContext name;
	unsigned int drawn = 0;
	GLenum error;
	bool has;

	drawing = scene->name;
	counts = json_object_new_array();
	name = context(scene->legacy);
	has = scene->draw();
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glPixelStorei(GL_PACK_ALIGNMENT, 1);
	glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGB, GL_UNSIGNED_BYTE, pixels);
	error = glGetError();
	if (error != GL_NO_ERROR)
		fail("GL has error 0x%x", error);
	for (unsigned int i = 0; i < sizeof(pixels); i += 3)
		drawn += memcmp(pixels + i, clear_colour, 3) != 0;
	bench_json_add_string(row, "scene", scene->name);
	json_object_object_add(row, "supported", json_object_new_boolean(has));
	json_object_object_add(row, "counts", counts);
	if (has) {
		bench_json_add_number(row, "drawn", drawn);
		write_picture(dir, scene->name, pixels);
	}
	eglMakeCurrent(egl.display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(egl.display, name);
	return row;
}

/* The names of all scenes. */
static const char *scenes_help(void)
{
	static char text[512];
	unsigned int n = snprintf(text, sizeof(text), "this one alone:");
	unsigned int column = 60;

	for (unsigned int i = 0; i < LISTS; i++) {
		for (const struct scene *s = lists[i]; s->name; s++) {
			bool next = column + strlen(s->name) >= 60;

			column = (next ? 0 : column + 1) + strlen(s->name);
			n += snprintf(text + n, sizeof(text) - n, "%c%s", next ? '\n' : ' ',
				      s->name);
		}
	}
	return text;
}

static const char *take_scene(void *data, const char *text)
{
	for (unsigned int i = 0; i < LISTS; i++) {
		for (const struct scene *s = lists[i]; s->name; s++) {
			if (!strcmp(text, s->name)) {
				*(const char **)data = s->name;
				return NULL;
			}
		}
	}
	return "no such scene";
}

int main(int argc, char **argv)
{
	const char *out = NULL, *only = NULL;
	struct json_object *root, *rows;
	char path[4096];
	EGLContext name;
	int ret;
	const struct bench_option options[] = {
		{ .name = "scene", .argument = "NAME", .take = take_scene, .data = &only,
		  .help = scenes_help() },
		{ .name = "out", .argument = "DIR", .text = &out,
		  .help = "write SCENE.ppm and gallery.json there" },
		{ 0 }
	};
	const struct bench_program program = {
		.name = "gallery",
		.line = "[--scene NAME] --out DIR",
		.options = options,
		.end = BENCH_GL_HELP
		"Exit status: 0; 1 if a scene cannot be drawn; 2 for a bad command line.\n",
	};

	bench_options(&program, argc, argv);
	if (!out)
		bench_options_bad(&program, "--out DIR is missing");

	if (!bench_egl_start(&egl))
		fail("no EGL display with desktop GL");
	root = json_object_new_object();
	name = context(false);
	bench_json_add_string(root, "renderer", (const char *)glGetString(GL_RENDERER));
	bench_json_add_string(root, "version", (const char *)glGetString(GL_VERSION));
	eglDestroyContext(egl.display, name);
	rows = json_object_new_array();
	for (unsigned int i = 0; i < LISTS; i++)
		for (const struct scene *s = lists[i]; s->name; s++)
			if (!only || !strcmp(only, s->name))
				json_object_array_add(rows, show(s, out));
	json_object_object_add(root, "rows", rows);
	snprintf(path, sizeof(path), "%s/gallery.json", out);
	ret = bench_json_write(path, root);
	if (ret)
		fprintf(stderr, "gallery: cannot write %s: %s\n", path, strerror(-ret));
	return !!ret;
}
