/* SPDX-License-Identifier: MIT */
/**
 * DOC: gl-evergreen
 *
 * What Evergreen's 3D engine has and R700's has not, with Mesa on it: fast clears, storage
 * buffers, images, atomic operations, compute shaders, and tessellation. Each case computes what
 * GL has to return and compares all of it. They pass on any driver of OpenGL 4.3, but for
 * "tessellated-points", which GL leaves open.
 *
 * gl-evergreen [CASE...] runs the cases whose names begin so, or all, and prints a line for each;
 * -CASE leaves such cases out.
 * Status 0: all are right; 1: some are not, with lines on stderr; 77: no OpenGL 4.3.
 */

#include "evergreen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned failures;

const char QUAD[] = "#version 430\nlayout(location = 0) in vec2 p;"
		    "void main() { gl_Position = vec4(p, 0.0, 1.0); }";

void wrong(const char *format, ...)
{
	va_list args;

	if (failures++ > 4)
		return;
	va_start(args, format);
	fputs("  ", stderr);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

void equal(const char *what, const void *found, const void *expected, size_t count)
{
	const uint32_t *a = found, *b = expected;

	for (size_t i = 0; i < count; i++) {
		if (a[i] != b[i]) {
			wrong("%s: word %zu is 0x%x, expected 0x%x", what, i, a[i], b[i]);
			return;
		}
	}
}

GLuint program_of(const GLenum *types, const char *const *sources)
{
	GLuint program = glCreateProgram();
	GLint ok;
	char log[1024] = "";

	for (unsigned i = 0; types[i]; i++) {
		GLuint shader = glCreateShader(types[i]);

		glShaderSource(shader, 1, &sources[i], NULL);
		glCompileShader(shader);
		glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
		if (!ok) {
			glGetShaderInfoLog(shader, sizeof(log), NULL, log);
			die("shader %u does not compile: %s", i, log);
		}
		glAttachShader(program, shader);
	}
	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &ok);
	if (!ok) {
		glGetProgramInfoLog(program, sizeof(log), NULL, log);
		die("a program does not link: %s", log);
	}
	glUseProgram(program);
	return program;
}

GLuint compute_program(const char *source)
{
	const GLenum types[] = { GL_COMPUTE_SHADER, 0 };

	return program_of(types, &source);
}

GLuint storage(GLuint binding, const void *data, size_t bytes)
{
	void *zeroes = data ? NULL : calloc(1, bytes);
	GLuint buffer;

	glGenBuffers(1, &buffer);
	glBindBuffer(GL_SHADER_STORAGE_BUFFER, buffer);
	glBufferData(GL_SHADER_STORAGE_BUFFER, bytes, data ? data : zeroes, GL_DYNAMIC_COPY);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, binding, buffer);
	free(zeroes);
	return buffer;
}

void buffer_read(GLuint buffer, void *out, size_t bytes)
{
	glMemoryBarrier(GL_ALL_BARRIER_BITS);
	glBindBuffer(GL_COPY_READ_BUFFER, buffer);
	glGetBufferSubData(GL_COPY_READ_BUFFER, 0, bytes, out);
}

GLuint framebuffer_of(GLuint texture)
{
	GLuint framebuffer;
	GLenum status;

	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 0);
	status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
	if (status != GL_FRAMEBUFFER_COMPLETE)
		die("framebuffer: 0x%x", status);
	return framebuffer;
}

void new_target(GLenum format, GLsizei width, GLsizei height)
{
	GLuint texture;

	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexStorage2D(GL_TEXTURE_2D, 1, format, width, height);
	framebuffer_of(texture);
	glViewport(0, 0, width, height);
}

void quad(void)
{
	static const float corners[] = { -1, -1, 1, -1, -1, 1, 1, 1 };
	GLuint array, buffer;

	glGenVertexArrays(1, &array);
	glBindVertexArray(array);
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glBufferData(GL_ARRAY_BUFFER, sizeof(corners), corners, GL_STATIC_DRAW);
	glEnableVertexAttribArray(0);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

static bool chosen(const char *name, char **names)
{
	bool all = !*names || **names == '-';

	for (; *names; names++) {
		if (**names == '-' && !strncmp(name, *names + 1, strlen(*names + 1)))
			return false;
		if (!strncmp(name, *names, strlen(*names)))
			return true;
	}
	return all;
}

int main(int argc, char **argv)
{
	const struct test *all[] = { clear_tests, store_tests, compute_tests, binding_tests, tess_tests,
				     spirv_tests, draw_tests, format_tests, stencil_tests };
	unsigned ran = 0, failed = 0;
	EGLContext context = context_create_core(EGL_NO_CONTEXT, 4, 3);

	(void)argc;
	if (context == EGL_NO_CONTEXT) {
		puts("no OpenGL 4.3");
		return 77;
	}
	printf("%s\n", (const char *)glGetString(GL_RENDERER));
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		for (const struct test *test = all[i]; test->name; test++) {
			if (!chosen(test->name, argv + 1))
				continue;
			failures = 0;
			/*
			 * A context of its own: with Debian's Mesa a shader without images does not
			 * reach its storage buffers after one with images and a draw in between
			 * (buffers-after-images).
			 */
			context_destroy(context);
			context = context_create_core(EGL_NO_CONTEXT, 4, 3);
			test->run();
			no_error(test->name);
			printf("%s: %s\n", test->name, failures ? "WRONG" : "right");
			fflush(stdout);
			ran++;
			failed += failures != 0;
		}
	}
	printf("%u cases, %u wrong\n", ran, failed);
	return failed || !ran;
}
