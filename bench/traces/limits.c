/* SPDX-License-Identifier: MIT */
/**
 * DOC: limits.so, for LD_PRELOAD while a program is recorded
 *
 * A program that draws with llvmpipe sees llvmpipe's limits. What it then does can be an
 * error with r600: GTK binds parts of a uniform buffer at multiples of 128 bytes, where r600
 * needs 256 (PIPE_CAP_CONSTANT_BUFFER_OFFSET_ALIGNMENT in r600_pipe.c, as the hardware's
 * addresses of constant caches have 8 bits less), so that it drew with other uniforms when
 * the recording was replayed. apitrace calls this glGetIntegerv(), and records what it says.
 */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <GL/gl.h>
#include <GL/glext.h>

/* Bytes. */
#define R600_UNIFORM_ALIGNMENT 256

/**
 * glGetIntegerv - the driver's answer, but r600's alignment of uniform buffers
 * @name: which value
 * @values: gets it
 */
void glGetIntegerv(GLenum name, GLint *values)
{
	static void (*real)(GLenum name, GLint *values);

	if (!real) {
		/* apitrace gives itself to who opens libGL.so.1. */
		void *library = dlopen("libOpenGL.so.0", RTLD_LAZY | RTLD_LOCAL);

		real = library ? (void (*)(GLenum, GLint *))dlsym(library, "glGetIntegerv") : NULL;
		if (!real) {
			fprintf(stderr, "limits.so: no glGetIntegerv(): %s\n", dlerror());
			abort();
		}
	}
	real(name, values);
	if (name == GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT && values && *values < R600_UNIFORM_ALIGNMENT)
		*values = R600_UNIFORM_ALIGNMENT;
}
