/* SPDX-License-Identifier: MIT */
/**
 * DOC: address-space
 *
 * How much address space a 32-bit program with much graphics memory needs: it
 * creates and fills MIB mebibytes (3072 by default) of buffers and textures in
 * turn, all of which stay alive, draws with the buffers, and reads the first and
 * the last page of each buffer back. It prints the peak of its virtual size and
 * the number of buffers whose contents were lost.
 *
 *     address-space [MIB]
 *
 * It is meant to be compiled for i386. Status 0: nothing was lost. 1: it was, or
 * GL raised an error.
 */

#include "gltest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1024u * 1024u)
#define SIDE 512 /* of a texture: 1 MiB */

/* The peak of this process's virtual size so far, in KiB. */
static unsigned long vm_peak_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[200];

	if (!f)
		die("no /proc");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmPeak: %lu", &kib) == 1)
			break;
	fclose(f);
	return kib;
}

/* Sizes of the buffers in turn: many small ones, some large, none above 4 MiB. */
static const unsigned sizes[] = { 4 * MIB, MIB, MIB, 256 * 1024, 256 * 1024, 256 * 1024, 256 * 1024,
				  512 * 1024, 512 * 1024 };

int main(int argc, char **argv)
{
	unsigned mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 3072;
	unsigned long long made = 0, total = (unsigned long long)mib * MIB;
	unsigned n = 0, lost = 0, max = mib * 4 + 16;
	uint8_t *data = malloc(4 * MIB), *got = malloc(4096);
	GLuint *names = calloc(max, sizeof(*names));
	unsigned *size = calloc(max, sizeof(*size));
	GLenum error = 0;

	if (!mib || mib > 65536 || argc > 2)
		die("usage: address-space [MIB]");
	if (!data || !got || !names || !size)
		die("out of memory");
	context_create(EGL_NO_CONTEXT);
	draw_setup();
	unsigned long before = vm_peak_kib();

	while (made < total) {
		if (n >= max)
			die("too many objects");
		if (n % 8 == 7) {
			fill(data, 4096, n);
			size[n] = 0;
			glGenTextures(1, &names[n]);
			glBindTexture(GL_TEXTURE_2D, names[n]);
			glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
			glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, data);
			made += SIDE * SIDE * 4;
		} else {
			unsigned s = sizes[n % (sizeof(sizes) / sizeof(*sizes))];

			size[n] = s;
			fill(data, 4096, n);
			fill(data + s - 4096, 4096, n + 1);
			glGenBuffers(1, &names[n]);
			glBindBuffer(GL_ARRAY_BUFFER, names[n]);
			glBufferData(GL_ARRAY_BUFFER, s, NULL, GL_STATIC_DRAW);
			glBufferSubData(GL_ARRAY_BUFFER, 0, s, data);
			draw(names[n]);
			made += s;
		}
		if (++n % 32 == 0)
			glFlush();
		if (!error)
			error = glGetError();
	}
	glFinish();

	for (unsigned i = 0; i < n; i++) {
		if (!size[i])
			continue;
		for (int end = 0; end < 2; end++) {
			fill(data, 4096, i + end);
			memset(got, 0, 4096);
			glBindBuffer(GL_ARRAY_BUFFER, names[i]);
			glGetBufferSubData(GL_ARRAY_BUFFER, end ? size[i] - 4096 : 0, 4096, got);
			if (memcmp(got, data, 4096)) {
				lost++;
				break;
			}
		}
	}
	if (!error)
		error = glGetError();
	printf("{\"renderer\": \"%s\", \"mib\": %u, \"bits\": %u, \"objects\": %u, \"lost\": %u, \"gl_error\": %u, \"vm_start_mib\": %lu, \"vm_peak_mib\": %lu}\n",
	       glGetString(GL_RENDERER), mib, (unsigned)sizeof(void *) * 8, n, lost, error, before / 1024, vm_peak_kib() / 1024);
	return lost || error;
}
