/* SPDX-License-Identifier: MIT */
/**
 * DOC: count.so
 *
 * To be preloaded: writes what a GL driver asked of the kernel (glcount.h) as JSON to the file
 * that the environment variable GLCOUNT_OUT names, when the process ends. A process that made no
 * ioctl of DRM writes nothing.
 */

#include "glcount.h"

#include <stdio.h>
#include <stdlib.h>

__attribute__((destructor)) static void write_counts(void)
{
	const char *path = getenv("GLCOUNT_OUT");
	struct gl_counts now = gl_counts();
	FILE *f;

	if (!path || !now.ioctls)
		return;
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		return;
	}
	fprintf(f, "{\"maps\": %lu, \"ioctls\": %lu, \"creates\": %lu, \"submissions\": %lu}\n", now.maps, now.ioctls,
		now.creates, now.submissions);
	fclose(f);
}
