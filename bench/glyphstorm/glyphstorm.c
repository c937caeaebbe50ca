// SPDX-License-Identifier: MIT
/*
 * glyphstorm: what an X server needs for many small pixmaps and glyphs.
 *
 * A client makes N pixmaps of 24 x 24 pixels by XPutImage, N more by MIT-SHM, inverts a circle in
 * each and inverts it again, copies each to a window, reads some by XGetImage, gives the
 * first N other contents, adds glyphs of 32 x 32 pixels by XRender and draws them. While all
 * are alive it switches between two workspaces of glyphs and pixmaps, which are drawn anew each
 * time. It repeats the switches, frees most pixmaps and switches once more: how the time grows
 * with the pixmaps is measured in one server, within a minute, and so is how far it varies.
 * With --gl it makes textures and vertex buffers of its own by OpenGL instead of the repeated
 * switches, and textures of the server's pixmaps, as a compositor does, gives them other contents
 * and draws them. All contents are checked, pixel by pixel. After each of these, the mappings and
 * the memory of the server's process and this one's are recorded, with their ioctls and mmaps
 * meanwhile, and the time of an operation: of batches of 16, each of which ends when the server
 * has answered. Between batches the mappings are counted, for the most that there were.
 */
#include <X11/Xlib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench-json.h"
#include "bench-options.h"

#include "process.h"
#include "storm.h"

/* Pixmaps that are read by XGetImage, the slowest call of all. */
#define GETS 200u
/* Switches of the workspace. */
#define SWITCHES 64u
/* Pixmaps that are left for the last of them, if there were twice as many. */
#define FEW 1000u
/* How often an operation's mappings are counted while it goes on. */
#define LOOKS 64u

typedef void operation(struct storm *s, unsigned int i);

static unsigned int half = 500, glyph_count = 2000, gl_count, pid, seconds = 600;
static const char *json_path;
static struct storm storm;
static struct json_object *rows;
static struct process_counts last, last_own;
static unsigned long wrong_in_all;
/* Number of the last switch. */
static unsigned int shown;
static int failures;

static const struct bench_option options[] = {
	{ .name = "server", .argument = "PID", .help = "process of the X server (needed)",
	  .number = &pid, .least = 1, .most = 1u << 30 },
	{ .name = "pixmaps", .argument = "N", .help = "N from images, and N from shared memory (500)",
	  .number = &half, .least = 16, .most = 100000 },
	{ .name = "glyphs", .argument = "N", .help = "glyphs (2000); 0 for none",
	  .number = &glyph_count, .most = 100000 },
	{ .name = "gl", .argument = "N", .help = "textures, vertex buffers and textures of pixmaps (0)",
	  .number = &gl_count, .most = 100000 },
	{ .name = "seconds", .argument = "N", .help = "end with status 1 after N seconds (600)",
	  .number = &seconds, .least = 1, .most = 86400 },
	{ .name = "json", .argument = "FILE", .help = "write the results to FILE", .text = &json_path },
	{ 0 }
};

static const struct bench_program program = {
	.name = "glyphstorm", .line = "--server PID [OPTION...]", .options = options,
	.end = "Exit status: 0; 1 if contents were wrong, the server refused something, has no direct\n"
	       "rendering for --gl or did not answer in time; 2 for a bad command line; 77 without a\n"
	       "display, or without the right to trace the server.\n",
};

static int on_error(Display *display, XErrorEvent *event)
{
	char text[80];

	XGetErrorText(display, event->error_code, text, sizeof(text));
	fprintf(stderr, "glyphstorm: the server refused request %u.%u: %s\n", event->request_code,
		event->minor_code, text);
	failures++;
	return 0;
}

static void on_alarm(int signal)
{
	static const char text[] = "glyphstorm: the server did not get done in time\n";

	(void)signal;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
	_exit(1);
}

static int order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Looks at the server and this process, and adds a row; @times, of @n batches, may be NULL; @peak: mappings of BOs. */
static int add_row(const char *name, unsigned int count, uint64_t *times, unsigned int n,
		   unsigned long peak, unsigned long wrong)
{
	struct json_object *row = json_object_new_object();
	struct json_object *own = json_object_new_object();
	struct process_counts now, now_own;
	int ret;

	gl_finish(&storm);
	XSync(storm.display, False);
	ret = process_look((int)pid, &now);
	if (!ret)
		ret = process_look(getpid(), &now_own);
	if (ret) {
		fprintf(stderr, "glyphstorm: the server or its client cannot be looked at: %s\n",
			strerror(-ret));
		return ret;
	}
	bench_json_add_string(row, "operation", name);
	bench_json_add_number(row, "count", count);
	if (n) {
		qsort(times, n, sizeof(*times), order);
		bench_json_add_number(row, "p50_ns", times[n / 2]);
		bench_json_add_number(row, "p95_ns", times[(n - 1) * 95 / 100]);
		bench_json_add_number(row, "max_ns", times[n - 1]);
	}
	bench_json_add_number(row, "live_pixmaps", storm.live);
	bench_json_add_number(row, "wrong_pixels", wrong);
	bench_json_add_number(row, "gpu_maps_peak", peak > now.gpu_maps ? peak : now.gpu_maps);
	process_report(row, &last, &now);
	process_report(own, &last_own, &now_own);
	json_object_object_add(row, "client", own);
	json_object_array_add(rows, row);
	wrong_in_all += wrong;
	printf("%-10s %6u: %lu mappings of BOs, %lu KiB resident, %lu wrong pixels\n", name, count,
	       now.gpu_maps, now.rss_kib, wrong);
	fflush(stdout);
	last = now;
	last_own = now_own;
	return 0;
}

/* Does an operation for each of @count, and adds its row. */
static int run(const char *name, unsigned int count, operation *op)
{
	unsigned int batches = 0, every = count / BATCH / LOOKS + 1, i, in_batch;
	unsigned long maps, peak = 0;
	uint64_t *times, from;
	int ret;

	times = calloc(count / BATCH + 1, sizeof(*times));
	if (!times)
		return -1;
	for (i = 0; i < count; i += in_batch) {
		from = bench_now();
		for (in_batch = 0; in_batch < BATCH && i + in_batch < count; in_batch++)
			op(&storm, i + in_batch);
		gl_finish(&storm);
		XSync(storm.display, False);
		times[batches++] = (bench_now() - from) / in_batch;
		if (batches % every == 0 && !process_gpu_maps((int)pid, &maps) && maps > peak)
			peak = maps;
	}
	ret = add_row(name, count, times, batches, peak, 0);
	free(times);
	return ret;
}

/* Adds a row of what a check has found, so that its own calls are no operation's. */
static int checked(const char *name, unsigned int count, unsigned long wrong)
{
	return add_row(name, count, NULL, 0, 0, wrong);
}

static int run_gets(void)
{
	unsigned int count = storm.count < GETS ? storm.count : GETS, i;
	uint64_t times[GETS], from;
	unsigned long wrong = 0;

	for (i = 0; i < count; i++) {
		from = bench_now();
		wrong += pixmaps_get(&storm, (unsigned long)i * storm.count / count);
		times[i] = bench_now() - from;
	}
	return add_row("get", count, times, count, 0, wrong);
}

static int run_pixmaps(void)
{
	unsigned long wrong, drawn;

	if (pixmaps_start(&storm, 2 * half) || run("put", half, pixmaps_put) ||
	    run("put-shm", half, pixmaps_put_shared) ||
	    checked("check", storm.count, pixmaps_check(&storm)) ||
	    run("arc", storm.count, pixmaps_arc))
		return -1;
	wrong = pixmaps_check_arcs(&storm, &drawn);
	if (!drawn) {
		fprintf(stderr, "glyphstorm: no arc was drawn\n");
		failures++;
	}
	if (checked("check-arc", storm.count, wrong) || run("arc-back", storm.count, pixmaps_arc) ||
	    run("copy", storm.count, pixmaps_copy) ||
	    checked("check-copy", storm.count, pixmaps_check_window(&storm)) || run_gets() ||
	    run("put-again", half, pixmaps_put_again))
		return -1;
	return checked("check", storm.count, pixmaps_check(&storm));
}

static int run_glyphs(void)
{
	storm.glyphs = glyph_count;
	if (!glyph_count)
		return 0;
	if (glyphs_start(&storm) || run("glyph-add", glyph_count, glyphs_add) ||
	    run("glyph-draw", glyph_count, glyphs_draw))
		return -1;
	return checked("check-glyph", glyph_count, glyphs_check(&storm));
}

static int run_switches(const char *name)
{
	uint64_t times[SWITCHES], from;
	unsigned int i;

	for (i = 0; i < SWITCHES; i++) {
		from = bench_now();
		workspaces_switch(&storm, ++shown);
		times[i] = bench_now() - from;
	}
	return add_row(name, SWITCHES, times, SWITCHES, 0, 0);
}

static int check_workspaces(void)
{
	unsigned long wrong = workspaces_check(&storm, shown);

	workspaces_switch(&storm, ++shown);
	return checked("check-switch", WORKSPACES, wrong + workspaces_check(&storm, shown));
}

static void free_most(struct storm *s, unsigned int i)
{
	unsigned int few = s->count / 2 < FEW ? s->count / 2 : FEW;

	if (i >= few && !workspaces_have(s, i))
		pixmaps_free(s, i);
}

static int run_workspaces(void)
{
	workspaces_start(&storm);
	if (run_switches("switch") || check_workspaces())
		return -1;
	if (gl_count)
		return 0;
	if (run_switches("switch-again") || run("free-most", storm.count, free_most) ||
	    run_switches("switch-few"))
		return -1;
	return check_workspaces();
}

static int run_gl(void)
{
	unsigned int pixmaps = gl_count < storm.count ? gl_count : storm.count;

	if (!gl_count)
		return 0;
	if (gl_start(&storm, gl_count, pixmaps) || run("texture", gl_count, gl_texture) ||
	    run("texture-again", gl_count, gl_texture_again) || run("buffer", gl_count, gl_buffer) ||
	    run("buffer-again", gl_count, gl_buffer_again) ||
	    run("pixmap-texture", pixmaps, gl_pixmap) ||
	    run("composite", pixmaps, gl_composite))
		return -1;
	if (checked("check-gl", 2 * gl_count + pixmaps, gl_check(&storm)))
		return -1;
	return run("gl-free", gl_count, gl_free);
}

static bool connect_to_server(void)
{
	XSetWindowAttributes attributes = { .override_redirect = True };
	XGCValues values = { .function = GXinvert, .graphics_exposures = False };
	XEvent event;

	storm.display = XOpenDisplay(NULL);
	if (!storm.display) {
		fprintf(stderr, "glyphstorm: no display\n");
		return false;
	}
	storm.screen = DefaultScreen(storm.display);
	if (DefaultDepth(storm.display, storm.screen) != 24) {
		fprintf(stderr, "glyphstorm: the screen's depth is not 24\n");
		return false;
	}
	XSetErrorHandler(on_error);
	storm.window = XCreateWindow(storm.display, RootWindow(storm.display, storm.screen), 0, 0,
				     WIDTH, HEIGHT, 0, 24, InputOutput, CopyFromParent,
				     CWOverrideRedirect, &attributes);
	XSelectInput(storm.display, storm.window, ExposureMask);
	storm.invert = XCreateGC(storm.display, storm.window, GCFunction, &values);
	storm.copy = XCreateGC(storm.display, storm.window, GCGraphicsExposures, &values);
	storm.sheet = XCreatePixmap(storm.display, storm.window, WIDTH, HEIGHT, 24);
	XMapRaised(storm.display, storm.window);
	XWindowEvent(storm.display, storm.window, ExposureMask, &event);
	return true;
}

static int write_results(void)
{
	struct json_object *root = json_object_new_object();
	struct bench_device dev;

	bench_json_add_string(root, "benchmark", "glyphstorm");
	bench_json_add_number(root, "pixmaps", 2 * half);
	bench_json_add_number(root, "glyphs", glyph_count);
	bench_json_add_number(root, "gl", gl_count);
	bench_json_add_number(root, "wrong_pixels", wrong_in_all);
	bench_json_add_number(root, "refused", (unsigned int)failures);
	json_object_object_add(root, "environment", bench_open(&dev) ? bench_json_machine() :
			       bench_json_environment(&dev));
	json_object_object_add(root, "rows", rows);
	return json_path ? bench_json_write(json_path, root) : 0;
}

int main(int argc, char **argv)
{
	int ret;

	bench_options(&program, argc, argv);
	if (!pid)
		bench_options_bad(&program, "--server is needed");
	signal(SIGALRM, on_alarm);
	alarm(seconds);
	if (!connect_to_server())
		return 77;
	ret = process_watch();
	if (!ret)
		ret = process_look((int)pid, &last);
	if (!ret)
		ret = process_look(getpid(), &last_own);
	if (ret) {
		fprintf(stderr, "glyphstorm: process %u cannot be watched: %s\n", pid, strerror(-ret));
		process_unwatch();
		return 77;
	}
	rows = json_object_new_array();
	ret = add_row("start", 0, NULL, 0, 0, 0) || run_pixmaps() || run_glyphs() ||
	      run_workspaces() || run_gl() || run("free", storm.count, pixmaps_free);
	process_unwatch();
	if (!ret && write_results())
		ret = 1;
	if (wrong_in_all)
		fprintf(stderr, "glyphstorm: %lu pixels are wrong\n", wrong_in_all);
	return ret || wrong_in_all || failures ? 1 : 0;
}
