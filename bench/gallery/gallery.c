/* SPDX-License-Identifier: MIT */
/*
 * Draws scenes without a window and writes each as a picture. The same program runs on
 * the emulated board, natively by r7xx-shim, and on Mesa's software renderers.
 */
#include "gallery.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench-json.h"

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

static EGLDisplay display;
static EGLConfig config;

static void start(void)
{
	static const EGLint attributes[] = {
		EGL_SURFACE_TYPE, EGL_DONT_CARE, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE
	};
	EGLint n;

	display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL) ||
	    !eglBindAPI(EGL_OPENGL_API) ||
	    !eglChooseConfig(display, attributes, &config, 1, &n) || n < 1)
		fail("no EGL display with desktop GL");
}

/* Makes a new context for each scene, so that no state is left of the one before. */
static EGLContext context(bool legacy)
{
	static const EGLint core[] = {
		EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3,
		EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE
	};
	EGLContext name = eglCreateContext(display, config, EGL_NO_CONTEXT, legacy ? NULL : core);
	GLuint buffers[2];

	if (name == EGL_NO_CONTEXT ||
	    !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, name))
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
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(display, name);
	return row;
}

static void usage(FILE *out)
{
	fprintf(out,
		"usage: gallery [--scene NAME] --out DIR\n"
		"\n"
		"  --scene NAME   this one alone\n"
		"  --out DIR      write SCENE.ppm and gallery.json there\n"
		"\n"
		"Scenes:");
	for (unsigned int i = 0; i < LISTS; i++)
		for (const struct scene *s = lists[i]; s->name; s++)
			fprintf(out, " %s", s->name);
	fprintf(out,
		".\nThe renderer is the one that Mesa chooses: LIBGL_ALWAYS_SOFTWARE=1 and\n"
		"GALLIUM_DRIVER=llvmpipe or softpipe, or LD_PRELOAD=libr7xx_shim.so.\n"
		"Exit status: 0; 1 if a scene cannot be drawn; 2 for a bad command line.\n");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "scene", required_argument, NULL, 's' },
		{ "out", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	const char *out = NULL, *only = NULL;
	struct json_object *root, *rows;
	char path[4096];
	bool found = false;
	EGLContext name;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (opt) {
		case 's':
			only = optarg;
			break;
		case 'o':
			out = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	for (unsigned int i = 0; i < LISTS; i++)
		for (const struct scene *s = lists[i]; s->name; s++)
			found |= !only || !strcmp(only, s->name);
	if (optind < argc || !out || !found) {
		usage(stderr);
		return 2;
	}

	start();
	root = json_object_new_object();
	name = context(false);
	bench_json_add_string(root, "renderer", (const char *)glGetString(GL_RENDERER));
	bench_json_add_string(root, "version", (const char *)glGetString(GL_VERSION));
	eglDestroyContext(display, name);
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
