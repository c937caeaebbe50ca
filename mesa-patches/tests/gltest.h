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
	X(glActiveTexture) \
	X(glAttachShader) \
	X(glBeginQuery) \
	X(glBeginTransformFeedback) \
	X(glBindAttribLocation) \
	X(glBindBuffer) \
	X(glBindBufferBase) \
	X(glBindBufferRange) \
	X(glBindFramebuffer) \
	X(glBindImageTexture) \
	X(glBindProgramPipeline) \
	X(glBindRenderbuffer) \
	X(glBindTexture) \
	X(glBindVertexArray) \
	X(glBlendFunc) \
	X(glBlitFramebuffer) \
	X(glBufferData) \
	X(glBufferStorage) \
	X(glBufferSubData) \
	X(glCheckFramebufferStatus) \
	X(glClear) \
	X(glClearBufferfv) \
	X(glClearBufferiv) \
	X(glClearBufferuiv) \
	X(glClearColor) \
	X(glColorMask) \
	X(glCompileShader) \
	X(glCompressedTexSubImage2D) \
	X(glCompressedTexSubImage3D) \
	X(glCopyBufferSubData) \
	X(glCopyImageSubData) \
	X(glCopyTexSubImage2D) \
	X(glCreateProgram) \
	X(glCreateShader) \
	X(glCreateShaderProgramv) \
	X(glDeleteBuffers) \
	X(glDeleteFramebuffers) \
	X(glDeleteProgram) \
	X(glDeleteQueries) \
	X(glDeleteTextures) \
	X(glDepthFunc) \
	X(glDisable) \
	X(glDisableVertexAttribArray) \
	X(glDispatchCompute) \
	X(glDispatchComputeIndirect) \
	X(glDrawArrays) \
	X(glDrawArraysIndirect) \
	X(glDrawBuffers) \
	X(glDrawElements) \
	X(glDrawElementsIndirect) \
	X(glEnable) \
	X(glEnableVertexAttribArray) \
	X(glEndQuery) \
	X(glEndTransformFeedback) \
	X(glFinish) \
	X(glFlush) \
	X(glFlushMappedBufferRange) \
	X(glFramebufferRenderbuffer) \
	X(glFramebufferTexture) \
	X(glFramebufferTexture2D) \
	X(glFramebufferTextureLayer) \
	X(glGenBuffers) \
	X(glGenFramebuffers) \
	X(glGenProgramPipelines) \
	X(glGenQueries) \
	X(glGenRenderbuffers) \
	X(glGenTextures) \
	X(glGenVertexArrays) \
	X(glGenerateMipmap) \
	X(glGetAttribLocation) \
	X(glGetBufferSubData) \
	X(glGetCompressedTexImage) \
	X(glGetError) \
	X(glGetIntegerv) \
	X(glGetProgramInfoLog) \
	X(glGetProgramiv) \
	X(glGetQueryObjectuiv) \
	X(glGetShaderInfoLog) \
	X(glGetShaderiv) \
	X(glGetString) \
	X(glGetTexImage) \
	X(glGetTexLevelParameteriv) \
	X(glGetUniformLocation) \
	X(glInvalidateBufferData) \
	X(glLinkProgram) \
	X(glMapBuffer) \
	X(glMapBufferRange) \
	X(glMemoryBarrier) \
	X(glPatchParameterfv) \
	X(glPatchParameteri) \
	X(glPixelStorei) \
	X(glPointSize) \
	X(glPolygonStipple) \
	X(glReadPixels) \
	X(glRenderbufferStorageMultisample) \
	X(glScissor) \
	X(glShaderBinary) \
	X(glShaderSource) \
	X(glSpecializeShaderARB) \
	X(glTexBuffer) \
	X(glTexBufferRange) \
	X(glTexImage1D) \
	X(glTexImage2D) \
	X(glTexImage3D) \
	X(glTexParameteri) \
	X(glTexStorage1D) \
	X(glTexStorage2D) \
	X(glTexStorage3D) \
	X(glTexSubImage1D) \
	X(glTexSubImage2D) \
	X(glTexSubImage3D) \
	X(glTextureView) \
	X(glTransformFeedbackVaryings) \
	X(glUniform1f) \
	X(glUniform1i) \
	X(glUniform3i) \
	X(glUniform2f) \
	X(glUniform3fv) \
	X(glUniform4f) \
	X(glUnmapBuffer) \
	X(glUseProgram) \
	X(glUseProgramStages) \
	X(glVertexAttribPointer) \
	X(glViewport)

#define X(name) extern __typeof__(name) *p_##name;
GL_FUNCTIONS(X)
#undef X
#define glActiveTexture (*p_glActiveTexture)
#define glAttachShader (*p_glAttachShader)
#define glBeginQuery (*p_glBeginQuery)
#define glBeginTransformFeedback (*p_glBeginTransformFeedback)
#define glBindAttribLocation (*p_glBindAttribLocation)
#define glBindBuffer (*p_glBindBuffer)
#define glBindBufferBase (*p_glBindBufferBase)
#define glBindBufferRange (*p_glBindBufferRange)
#define glBindFramebuffer (*p_glBindFramebuffer)
#define glBindImageTexture (*p_glBindImageTexture)
#define glBindProgramPipeline (*p_glBindProgramPipeline)
#define glBindRenderbuffer (*p_glBindRenderbuffer)
#define glBindTexture (*p_glBindTexture)
#define glBindVertexArray (*p_glBindVertexArray)
#define glBlendFunc (*p_glBlendFunc)
#define glBlitFramebuffer (*p_glBlitFramebuffer)
#define glBufferData (*p_glBufferData)
#define glBufferStorage (*p_glBufferStorage)
#define glBufferSubData (*p_glBufferSubData)
#define glCheckFramebufferStatus (*p_glCheckFramebufferStatus)
#define glClear (*p_glClear)
#define glClearBufferfv (*p_glClearBufferfv)
#define glClearBufferiv (*p_glClearBufferiv)
#define glClearBufferuiv (*p_glClearBufferuiv)
#define glClearColor (*p_glClearColor)
#define glColorMask (*p_glColorMask)
#define glCompileShader (*p_glCompileShader)
#define glCompressedTexSubImage2D (*p_glCompressedTexSubImage2D)
#define glCompressedTexSubImage3D (*p_glCompressedTexSubImage3D)
#define glCopyBufferSubData (*p_glCopyBufferSubData)
#define glCopyImageSubData (*p_glCopyImageSubData)
#define glCopyTexSubImage2D (*p_glCopyTexSubImage2D)
#define glCreateProgram (*p_glCreateProgram)
#define glCreateShader (*p_glCreateShader)
#define glCreateShaderProgramv (*p_glCreateShaderProgramv)
#define glDeleteBuffers (*p_glDeleteBuffers)
#define glDeleteFramebuffers (*p_glDeleteFramebuffers)
#define glDeleteProgram (*p_glDeleteProgram)
#define glDeleteQueries (*p_glDeleteQueries)
#define glDeleteTextures (*p_glDeleteTextures)
#define glDepthFunc (*p_glDepthFunc)
#define glDisable (*p_glDisable)
#define glDisableVertexAttribArray (*p_glDisableVertexAttribArray)
#define glDispatchCompute (*p_glDispatchCompute)
#define glDispatchComputeIndirect (*p_glDispatchComputeIndirect)
#define glDrawArrays (*p_glDrawArrays)
#define glDrawArraysIndirect (*p_glDrawArraysIndirect)
#define glDrawBuffers (*p_glDrawBuffers)
#define glDrawElements (*p_glDrawElements)
#define glDrawElementsIndirect (*p_glDrawElementsIndirect)
#define glEnable (*p_glEnable)
#define glEnableVertexAttribArray (*p_glEnableVertexAttribArray)
#define glEndQuery (*p_glEndQuery)
#define glEndTransformFeedback (*p_glEndTransformFeedback)
#define glFinish (*p_glFinish)
#define glFlush (*p_glFlush)
#define glFlushMappedBufferRange (*p_glFlushMappedBufferRange)
#define glFramebufferRenderbuffer (*p_glFramebufferRenderbuffer)
#define glFramebufferTexture (*p_glFramebufferTexture)
#define glFramebufferTexture2D (*p_glFramebufferTexture2D)
#define glFramebufferTextureLayer (*p_glFramebufferTextureLayer)
#define glGenBuffers (*p_glGenBuffers)
#define glGenFramebuffers (*p_glGenFramebuffers)
#define glGenProgramPipelines (*p_glGenProgramPipelines)
#define glGenQueries (*p_glGenQueries)
#define glGenRenderbuffers (*p_glGenRenderbuffers)
#define glGenTextures (*p_glGenTextures)
#define glGenVertexArrays (*p_glGenVertexArrays)
#define glGenerateMipmap (*p_glGenerateMipmap)
#define glGetAttribLocation (*p_glGetAttribLocation)
#define glGetBufferSubData (*p_glGetBufferSubData)
#define glGetCompressedTexImage (*p_glGetCompressedTexImage)
#define glGetError (*p_glGetError)
#define glGetIntegerv (*p_glGetIntegerv)
#define glGetProgramInfoLog (*p_glGetProgramInfoLog)
#define glGetProgramiv (*p_glGetProgramiv)
#define glGetQueryObjectuiv (*p_glGetQueryObjectuiv)
#define glGetShaderInfoLog (*p_glGetShaderInfoLog)
#define glGetShaderiv (*p_glGetShaderiv)
#define glGetString (*p_glGetString)
#define glGetTexImage (*p_glGetTexImage)
#define glGetTexLevelParameteriv (*p_glGetTexLevelParameteriv)
#define glGetUniformLocation (*p_glGetUniformLocation)
#define glInvalidateBufferData (*p_glInvalidateBufferData)
#define glLinkProgram (*p_glLinkProgram)
#define glMapBuffer (*p_glMapBuffer)
#define glMapBufferRange (*p_glMapBufferRange)
#define glMemoryBarrier (*p_glMemoryBarrier)
#define glPatchParameterfv (*p_glPatchParameterfv)
#define glPatchParameteri (*p_glPatchParameteri)
#define glPixelStorei (*p_glPixelStorei)
#define glPointSize (*p_glPointSize)
#define glPolygonStipple (*p_glPolygonStipple)
#define glReadPixels (*p_glReadPixels)
#define glRenderbufferStorageMultisample (*p_glRenderbufferStorageMultisample)
#define glScissor (*p_glScissor)
#define glShaderBinary (*p_glShaderBinary)
#define glShaderSource (*p_glShaderSource)
#define glSpecializeShaderARB (*p_glSpecializeShaderARB)
#define glTexBuffer (*p_glTexBuffer)
#define glTexBufferRange (*p_glTexBufferRange)
#define glTexImage1D (*p_glTexImage1D)
#define glTexImage2D (*p_glTexImage2D)
#define glTexImage3D (*p_glTexImage3D)
#define glTexParameteri (*p_glTexParameteri)
#define glTexStorage1D (*p_glTexStorage1D)
#define glTexStorage2D (*p_glTexStorage2D)
#define glTexStorage3D (*p_glTexStorage3D)
#define glTexSubImage1D (*p_glTexSubImage1D)
#define glTexSubImage2D (*p_glTexSubImage2D)
#define glTexSubImage3D (*p_glTexSubImage3D)
#define glTextureView (*p_glTextureView)
#define glTransformFeedbackVaryings (*p_glTransformFeedbackVaryings)
#define glUniform1f (*p_glUniform1f)
#define glUniform1i (*p_glUniform1i)
#define glUniform3i (*p_glUniform3i)
#define glUniform2f (*p_glUniform2f)
#define glUniform3fv (*p_glUniform3fv)
#define glUniform4f (*p_glUniform4f)
#define glUnmapBuffer (*p_glUnmapBuffer)
#define glUseProgram (*p_glUseProgram)
#define glUseProgramStages (*p_glUseProgramStages)
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
	bool (*find_source)(const void *bytes); /* 16 of them */
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

/**
 * context_create_core() - a core context of a version, made current
 * @share: context to share objects with, or EGL_NO_CONTEXT
 * @major: version of GL
 * @minor: version of GL
 *
 * Return: the context, or EGL_NO_CONTEXT if the driver has no such version.
 */
EGLContext context_create_core(EGLContext share, int major, int minor);

/** context_display() - the display of all contexts */
EGLDisplay context_display(void);

void context_current(EGLContext context);
void context_destroy(EGLContext context);

/** fill() - fills @buf with bytes that depend on @seed and on their place */
void fill(void *buf, unsigned size, uint32_t seed);

/**
 * tiled_at() - where byte (x, y) of a texture of one byte a texel is in its micro tiles
 * @width: of the texture, a multiple of 8
 *
 * It counts tiles of 8x8 bytes without what is to the right of the texture. The bits of a byte's number
 * in its tile are x0, x1, x2, y1, y0 and y2 from the lowest on (addrlib's order for 8 bits a texel).
 */
unsigned tiled_at(unsigned width, unsigned x, unsigned y);

/**
 * no_error() - ends the program if GL has an error
 * @where: for the message
 */
void no_error(const char *where);

/**
 * compile() - compiles a shader
 * @type: GL_VERTEX_SHADER or another
 * @source: GLSL
 *
 * Ends the program if it does not compile.
 */
GLuint compile(GLenum type, const char *source);

/**
 * link_program() - makes a program of a shader or two
 * @a: shader from compile()
 * @b: another, or 0
 * @varying: output of the vertex shader that stream-out records, or NULL
 *
 * Attribute 0 is "position" or "p", 1 is "colour". Ends the program if it does not link.
 */
GLuint link_program(GLuint a, GLuint b, const char *varying);

/** draw_setup() - makes and binds a program and a framebuffer of 16x16 pixels */
void draw_setup(void);

/** draw() - draws a triangle whose positions (two floats each) are in @vbo */
void draw(GLuint vbo);

#endif
