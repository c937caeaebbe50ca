/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "gltest.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(name) __typeof__(name) *p_##name;
GL_FUNCTIONS(X)
#undef X

struct shim shim;
static EGLDisplay display;

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static void find_shim(void)
{
	shim.counter = (uint64_t (*)(const char *))dlsym(RTLD_DEFAULT, "radeon_shim_counter");
	shim.reset_peaks = (void (*)(void))dlsym(RTLD_DEFAULT, "radeon_shim_reset_peaks");
	shim.fail = (bool (*)(const char *, unsigned, int, bool))dlsym(RTLD_DEFAULT, "radeon_shim_fail");
	shim.set = (bool (*)(const char *, uint64_t))dlsym(RTLD_DEFAULT, "radeon_shim_set");
	shim.find = (unsigned (*)(const void *, unsigned, unsigned, unsigned, unsigned))
		dlsym(RTLD_DEFAULT, "radeon_shim_find");
	shim.find_source = (bool (*)(const void *))dlsym(RTLD_DEFAULT, "radeon_shim_find_source");
}

static EGLContext create(EGLContext share, const EGLint *attribs)
{
	static const EGLint config_attribs[] = {
		EGL_SURFACE_TYPE, EGL_DONT_CARE, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE
	};
	EGLConfig config;
	EGLContext context;
	EGLint n;

	if (!display) {
		find_shim();
		display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
		if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL))
			die("no EGL display (0x%x)", eglGetError());
	}
	if (!eglBindAPI(EGL_OPENGL_API))
		die("no desktop GL");
	if (!eglChooseConfig(display, config_attribs, &config, 1, &n) || n < 1)
		die("no EGL configuration");
	context = eglCreateContext(display, config, share, attribs);
	if (context == EGL_NO_CONTEXT)
		return context;
	context_current(context);
#define X(name) p_##name = (void *)eglGetProcAddress(#name);
	GL_FUNCTIONS(X)
#undef X
	return context;
}

EGLContext context_create(EGLContext share)
{
	EGLContext context = create(share, NULL);

	if (context == EGL_NO_CONTEXT)
		die("no context (0x%x)", eglGetError());
	return context;
}

EGLContext context_create_core(EGLContext share, int major, int minor)
{
	const EGLint attribs[] = {
		EGL_CONTEXT_MAJOR_VERSION, major, EGL_CONTEXT_MINOR_VERSION, minor,
		EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE
	};

	return create(share, attribs);
}

EGLDisplay context_display(void)
{
	return display;
}

void context_current(EGLContext context)
{
	if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
		die("eglMakeCurrent: 0x%x", eglGetError());
}

void context_destroy(EGLContext context)
{
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(display, context);
}

unsigned tiled_at(unsigned width, unsigned x, unsigned y)
{
	unsigned tile = y / 8 * (width / 8) + x / 8;

	return tile * 64 + (y >> 2 & 1) * 32 + (y & 1) * 16 + (y >> 1 & 1) * 8 + x % 8;
}

void fill(void *buf, unsigned size, uint32_t seed)
{
	uint32_t x = seed * 2654435761u + 0x9e3779b9u;
	uint8_t *b = buf;

	for (unsigned i = 0; i < size; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		b[i] = x >> 11;
	}
}

void no_error(const char *where)
{
	GLenum error = glGetError();

	if (error)
		die("%s: GL error 0x%x", where, error);
}

GLuint compile(GLenum type, const char *source)
{
	GLuint shader = glCreateShader(type);
	GLint ok;

	glShaderSource(shader, 1, &source, NULL);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
	if (!ok)
		die("a shader does not compile");
	return shader;
}

GLuint link_program(GLuint a, GLuint b, const char *varying)
{
	GLuint program = glCreateProgram();
	GLint ok;

	glAttachShader(program, a);
	if (b)
		glAttachShader(program, b);
	glBindAttribLocation(program, 0, "position");
	glBindAttribLocation(program, 0, "p");
	glBindAttribLocation(program, 1, "colour");
	if (varying)
		glTransformFeedbackVaryings(program, 1, &varying, GL_INTERLEAVED_ATTRIBS);
	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &ok);
	if (!ok)
		die("a program does not link");
	return program;
}

void draw_setup(void)
{
	GLuint fbo, texture;

	glUseProgram(link_program(
		compile(GL_VERTEX_SHADER,
			"attribute vec2 p; void main() { gl_Position = vec4(p, 0.0, 1.0); }"),
		compile(GL_FRAGMENT_SHADER,
			"uniform vec4 c; void main() { gl_FragColor = c; }"), NULL));

	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glGenFramebuffers(1, &fbo);
	glBindFramebuffer(GL_FRAMEBUFFER, fbo);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
	glViewport(0, 0, 16, 16);
	glEnableVertexAttribArray(0);
	no_error("setting up drawing");
}

void draw(GLuint vbo)
{
	glBindBuffer(GL_ARRAY_BUFFER, vbo);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
	glDrawArrays(GL_TRIANGLES, 0, 3);
}
