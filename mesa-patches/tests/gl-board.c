/* SPDX-License-Identifier: MIT */
/**
 * DOC: gl-board CASE...|all
 *
 * Uploads and readbacks that a GPU sees: each case uploads, lets the GPU read
 * what was uploaded (it draws with it, samples it or copies it), and compares
 * every byte that comes back. Status 2 if one differs, 1 if a case cannot be run.
 *
 * It prints a line of JSON for each case: "ok", the calls that the driver made
 * meanwhile (glcount.h), what was found in its command streams (glstream.h), and "left_slabs",
 * "tiled_alone" and "dropped" (board.h). "kernel" is what the kernel driver counted itself in
 * debugfs: steps of PREAD, PWRITE and TRANSFER, or null if it has no such counter.
 *
 * If the environment variable GL_BOARD_RENDERER is set, GL_RENDERER must contain it,
 * so that no other driver is tested by mistake.
 */

#include "board.h"
#include "glstream.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Steps that the kernel driver counted for its ioctls; -1: it does not count. */
static long kernel_count(void)
{
	long sum = 0, n, bytes;
	char line[200], name[100];
	glob_t found;
	FILE *f;

	if (glob("/sys/kernel/debug/dri/*/radeon_gem_rw", 0, NULL, &found))
		return -1;
	f = fopen(found.gl_pathv[0], "r");
	globfree(&found);
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		/* A path has steps and bytes, an event just a number. Clearing is for no ioctl. */
		if (sscanf(line, "%99s %ld %ld", name, &n, &bytes) == 3 && strncmp(name, "clear_", 6))
			sum += n;
	fclose(f);
	return sum;
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "vbo", vbo },		  { "glyph-own", glyph_own },	{ "glyph-atlas", glyph_atlas },
	{ "textures", textures }, { "mipmaps", mipmaps },	{ "pbo", pbo },
	{ "readpixels", readpixels }, { "queries", queries },	{ "uniforms", uniforms },
	{ "persistent", persistent }, { "samplers", samplers },	{ "stream-out", stream_out },
	{ "dma-buf", dma_buf },	  { "small", small },		{ "leave-slabs", leave_slabs },
	{ "contexts", contexts }, { "dma", dma_copies },	{ "tiled", tiled },
	{ "blocks", blocks },	  { "layers", layers },		{ "atlas", atlas },
	{ "stipple", stipple },	  { "samples", samples },	{ "pbo-formats", pbo_formats },
	{ "cube-levels", cube_levels }, { "shadow-levels", shadow_levels },
};

int main(int argc, char **argv)
{
	const char *renderer = getenv("GL_BOARD_RENDERER");
	unsigned all_wrong = 0;

	if (argc < 2)
		die("usage: gl-board CASE...|all");
	context_create(EGL_NO_CONTEXT);
	fprintf(stderr, "%s, %s\n", glGetString(GL_RENDERER), glGetString(GL_VERSION));
	if (renderer && !strstr((const char *)glGetString(GL_RENDERER), renderer))
		die("this is not %s", renderer);
	/* "AMD RV770 (...)": names of chips before Evergreen begin with R. */
	gl_streams_evergreen = !strstr((const char *)glGetString(GL_RENDERER), "AMD R");
	setup();
	for (int a = 1; a < argc; a++) {
		bool any = false;

		for (unsigned c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
			if (strcmp(argv[a], "all") && strcmp(argv[a], cases[c].name))
				continue;
			any = true;

			struct gl_counts before = gl_counts();
			struct gl_streams streams = gl_streams();
			long kernel = kernel_count();
			char counted[30] = "null";

			wrong = left_slabs = tiled_alone = atlas_dropped = 0;
			cases[c].run();
			no_error(cases[c].name);

			struct gl_counts after = gl_counts();
			struct gl_streams now = gl_streams();

			if (now.unknown)
				die("%s: %lu packets that glstream.c does not know", cases[c].name, now.unknown);

			if (kernel >= 0)
				snprintf(counted, sizeof(counted), "%ld", kernel_count() - kernel);
			printf("{\"case\": \"%s\", \"ok\": %s, \"maps\": %lu, \"ioctls\": %lu, \"pwrites\": %lu, "
			       "\"preads\": %lu, \"transfers\": %lu, \"submissions\": %lu, \"kernel\": %s, "
			       "\"fetch_in_slab\": %lu, \"dma_in_slab\": %lu, \"tiled_in_slab\": %lu, "
			       "\"left_slabs\": %u, \"tiled_alone\": %u, \"draws\": %lu, \"dropped\": %u}\n",
			       cases[c].name, wrong ? "false" : "true", after.maps - before.maps,
			       after.ioctls - before.ioctls, after.pwrites - before.pwrites,
			       after.preads - before.preads, after.transfers - before.transfers,
			       after.submissions - before.submissions, counted,
			       now.fetch_in_slab - streams.fetch_in_slab, now.dma_in_slab - streams.dma_in_slab,
			       now.tiled_in_slab - streams.tiled_in_slab, left_slabs, tiled_alone,
			       now.draws - streams.draws, atlas_dropped);
			fflush(stdout);
			all_wrong += wrong;
		}
		if (!any)
			die("gl-board: there is no case \"%s\"", argv[a]);
	}
	return all_wrong ? 2 : 0;
}
