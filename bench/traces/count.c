/* SPDX-License-Identifier: MIT */
/**
 * DOC: count.so
 *
 * To be preloaded: writes what a GL driver asked of the kernel (glcount.h) as JSON to the file
 * that the environment variable GLCOUNT_OUT names, when the process ends. A process that made no
 * ioctl of DRM writes nothing. "vm_peak_mib" is the largest virtual size that the process had.
 */

#include "glcount.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* VmPeak of /proc/self/status, MiB; 0: it does not say. */
static unsigned long vm_peak_mib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmPeak:", 7))
			kib = strtoul(line + 7, NULL, 10);
	if (f)
		fclose(f);
	return kib / 1024;
}

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
	fprintf(f, "{\"maps\": %lu, \"ioctls\": %lu, \"creates\": %lu, \"submissions\": %lu, ", now.maps, now.ioctls,
		now.creates, now.submissions);
	fprintf(f, "\"bits\": %zu, \"vm_peak_mib\": %lu}\n", 8 * sizeof(void *), vm_peak_mib());
	fclose(f);
}
