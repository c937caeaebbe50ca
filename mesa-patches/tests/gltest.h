/* SPDX-License-Identifier: MIT */
#ifndef GLTEST_H
#define GLTEST_H

/**
 * DOC: Code that the GL tests share
 *
 * A desktop GL context without a window (EGL_MESA_platform_surfaceless), GL's
 * functions by eglGetProcAddress(), and the functions of the radeon no-op shim,
 * where that is preloaded.
 */

#define EGL_EGL_PROTOTYPES 1
#define GL_GLEXT_PROTOTYPES 1
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>

#include <stdbool.h>
#include <stdint.h>

/* All of GL by eglGetProcAddress(), as libGL does not export the same everywhere. */
#define GL_FUNCTIONS(X) \
	X(glAttachShader) \
	X(glBeginQuery) \
	X(glBindAttribLocation) \
	X(glBindBuffer) \
	X(glBindFramebuffer) \
	X(glBindTexture) \
	X(glBufferData) \
	X(glBufferStorage) \
	X(glBufferSubData) \
	X(glClear) \
	X(glClearColor) \
	X(glCompileShader) \
	X(glCopyBufferSubData) \
	X(glCreateProgram) \
	X(glCreateShader) \
	X(glDeleteBuffers) \
	X(glDeleteProgram) \
	X(glDeleteQueries) \
	X(glDeleteTextures) \
	X(glDisableVertexAttribArray) \
	X(glDrawArrays) \
	X(glEnableVertexAttribArray) \
	X(glEndQuery) \
	X(glFinish) \
	X(glFlush) \
	X(glFlushMappedBufferRange) \
	X(glFramebufferTexture2D) \
	X(glGenBuffers) \
	X(glGenFramebuffers) \
	X(glGenQueries) \
	X(glGenTextures) \
	X(glGenerateMipmap) \
	X(glGetBufferSubData) \
	X(glGetError) \
	X(glGetQueryObjectuiv) \
	X(glGetShaderiv) \
	X(glGetString) \
	X(glGetTexImage) \
	X(glGetUniformLocation) \
	X(glLinkProgram) \
	X(glMapBuffer) \
	X(glMapBufferRange) \
	X(glPixelStorei) \
	X(glReadPixels) \
	X(glShaderSource) \
	X(glTexImage1D) \
	X(glTexImage2D) \
	X(glTexImage3D) \
	X(glTexParameteri) \
	X(glTexSubImage1D) \
	X(glTexSubImage2D) \
	X(glTexSubImage3D) \
	X(glUniform1i) \
	X(glUniform4f) \
	X(glUnmapBuffer) \
	X(glUseProgram) \
	X(glVertexAttribPointer) \
	X(glViewport)

#define X(name) extern __typeof__(name) *p_##name;
GL_FUNCTIONS(X)
#undef X
#define glAttachShader (*p_glAttachShader)
#define glBeginQuery (*p_glBeginQuery)
#define glBindAttribLocation (*p_glBindAttribLocation)
#define glBindBuffer (*p_glBindBuffer)
#define glBindFramebuffer (*p_glBindFramebuffer)
#define glBindTexture (*p_glBindTexture)
#define glBufferData (*p_glBufferData)
#define glBufferStorage (*p_glBufferStorage)
#define glBufferSubData (*p_glBufferSubData)
#define glClear (*p_glClear)
#define glClearColor (*p_glClearColor)
#define glCompileShader (*p_glCompileShader)
#define glCopyBufferSubData (*p_glCopyBufferSubData)
#define glCreateProgram (*p_glCreateProgram)
#define glCreateShader (*p_glCreateShader)
#define glDeleteBuffers (*p_glDeleteBuffers)
#define glDeleteProgram (*p_glDeleteProgram)
#define glDeleteQueries (*p_glDeleteQueries)
#define glDeleteTextures (*p_glDeleteTextures)
#define glDisableVertexAttribArray (*p_glDisableVertexAttribArray)
#define glDrawArrays (*p_glDrawArrays)
#define glEnableVertexAttribArray (*p_glEnableVertexAttribArray)
#define glEndQuery (*p_glEndQuery)
#define glFinish (*p_glFinish)
#define glFlush (*p_glFlush)
#define glFlushMappedBufferRange (*p_glFlushMappedBufferRange)
#define glFramebufferTexture2D (*p_glFramebufferTexture2D)
#define glGenBuffers (*p_glGenBuffers)
#define glGenFramebuffers (*p_glGenFramebuffers)
#define glGenQueries (*p_glGenQueries)
#define glGenTextures (*p_glGenTextures)
#define glGenerateMipmap (*p_glGenerateMipmap)
#define glGetBufferSubData (*p_glGetBufferSubData)
#define glGetError (*p_glGetError)
#define glGetQueryObjectuiv (*p_glGetQueryObjectuiv)
#define glGetShaderiv (*p_glGetShaderiv)
#define glGetString (*p_glGetString)
#define glGetTexImage (*p_glGetTexImage)
#define glGetUniformLocation (*p_glGetUniformLocation)
#define glLinkProgram (*p_glLinkProgram)
#define glMapBuffer (*p_glMapBuffer)
#define glMapBufferRange (*p_glMapBufferRange)
#define glPixelStorei (*p_glPixelStorei)
#define glReadPixels (*p_glReadPixels)
#define glShaderSource (*p_glShaderSource)
#define glTexImage1D (*p_glTexImage1D)
#define glTexImage2D (*p_glTexImage2D)
#define glTexImage3D (*p_glTexImage3D)
#define glTexParameteri (*p_glTexParameteri)
#define glTexSubImage1D (*p_glTexSubImage1D)
#define glTexSubImage2D (*p_glTexSubImage2D)
#define glTexSubImage3D (*p_glTexSubImage3D)
#define glUniform1i (*p_glUniform1i)
#define glUniform4f (*p_glUniform4f)
#define glUnmapBuffer (*p_glUnmapBuffer)
#define glUseProgram (*p_glUseProgram)
#define glVertexAttribPointer (*p_glVertexAttribPointer)
#define glViewport (*p_glViewport)

/** struct shim - functions of the shim, NULL without it */
struct shim {
	uint64_t (*counter)(const char *name);
	void (*reset_peaks)(void);
	bool (*fail)(const char *name, unsigned nth, int err, bool repeat);
	bool (*set)(const char *name, uint64_t value);
	unsigned (*find)(const void *rows, unsigned row_bytes, unsigned count,
			 unsigned row_stride, unsigned pitch);
};
extern struct shim shim;

/** die() - prints a message and ends the program with status 1 */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/**
 * context_create() - a compatibility context, made current
 * @share: context to share objects with, or EGL_NO_CONTEXT
 *
 * Ends the program if there is none.
 */
EGLContext context_create(EGLContext share);
void context_current(EGLContext context);
void context_destroy(EGLContext context);

/** fill() - fills @buf with bytes that depend on @seed and on their place */
void fill(void *buf, unsigned size, uint32_t seed);

/**
 * no_error() - ends the program if GL has an error
 * @where: for the message
 */
void no_error(const char *where);

/**
 * compile() - compiles a shader
 * @type: GL_VERTEX_SHADER or GL_FRAGMENT_SHADER
 * @source: GLSL
 *
 * Ends the program if it does not compile.
 */
GLuint compile(GLenum type, const char *source);

/** draw_setup() - makes and binds a program and a framebuffer of 16x16 pixels */
void draw_setup(void);

/** draw() - draws a triangle whose positions (two floats each) are in @vbo */
void draw(GLuint vbo);

#endif
