// SPDX-License-Identifier: MIT
/*
 * mapstorm - what does one more mmap() cost with N maps, with and without
 * mappings that need a guard gap?
 *
 * All kernels have to find the same addresses. So each address space is that of
 * a new process without randomisation, in which the program executes itself:
 * "mapstorm --space KIND".
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bench-options.h"
#include "mapstorm.h"

#define LIST_MAX 16u
#define MAP_COUNT "/proc/sys/vm/max_map_count"

static const char *const kind_names[MS_KINDS] = {
	"plain", "guards", "shadow", "small", "page", "among", "holes", "others",
};

/* struct list - numbers of a comma-separated option */
struct list {
	unsigned long n[LIST_MAX];
	unsigned int count;
};

/**
 * struct options - command line
 * @live: numbers of live maps to measure with
 * @guards: numbers of mappings with guards
 * @others: numbers of live maps for the other operations and for holes
 * @only: the only kind to measure, or -1: all
 * @space: the kind of address space of this process, or -1: it starts others
 * @bottom_up: this process has the bottom-up layout
 * @nothing: end at once
 */
struct options {
	struct list live, guards, others;
	const char *json;
	int only, space;
	bool bottom_up, count, quick, verbose, nothing;
	unsigned int seed, timeout;
};

static void fail(const char *what, int ret)
{
	fprintf(stderr, "mapstorm: %s%s%s\n", what, ret ? ": " : "",
		ret ? strerror(-ret) : "");
	exit(ret ? 1 : 2);
}

/* Numbers above 0 that rise, with commas. Returns what is wrong with the text, or NULL. */
static const char *take_list(void *data, const char *text)
{
	struct list list = { .count = 0 };
	char *end;

	do {
		if (list.count == LIST_MAX)
			return "too many numbers";
		list.n[list.count] = strtoul(text, &end, 10);
		if (end == text || (*end && *end != ',') || !list.n[list.count] ||
		    (list.count && list.n[list.count] <= list.n[list.count - 1]))
			return "not a list of numbers above 0 that rise, with commas";
		list.count++;
		text = end + 1;
	} while (*end);
	*(struct list *)data = list;
	return NULL;
}

static const char *take_kind(void *data, const char *text)
{
	int i;

	for (i = 0; i < MS_KINDS; i++) {
		if (!strcmp(text, kind_names[i])) {
			*(int *)data = i;
			return NULL;
		}
	}
	return "no such kind of address space";
}

static void parse(struct options *o, int argc, char **argv)
{
	/* Those without help are of the processes that the program starts. */
	const struct bench_option options[] = {
		{ .name = "json", .argument = "FILE", .text = &o->json, .help = "write results" },
		{ .name = "live", .argument = "LIST", .take = take_list, .data = &o->live,
		  .help = "live mappings (100,1000,10000,40000,100000,1000000)" },
		{ .name = "guards", .argument = "LIST", .take = take_list, .data = &o->guards,
		  .help = "mappings with guards (100,1000,10000,30000)" },
		{ .name = "others", .argument = "LIST", .take = take_list, .data = &o->others,
		  .help = "live mappings for the other operations, and with holes (100,10000)" },
		{ .name = "only", .argument = "KIND", .take = take_kind, .data = &o->only,
		  .help = "plain, guards, shadow, small, page, among, holes or others;\n"
			  "small and page are measured only so, booted with\n"
			  "stack_guard_gap=1" },
		{ .name = "space", .argument = "KIND", .take = take_kind, .data = &o->space },
		{ .name = "bottom-up", .flag = &o->bottom_up },
		{ .name = "nothing", .flag = &o->nothing },
		{ .name = "count", .flag = &o->count, .help = BENCH_COUNT_HELP },
		{ .name = "quick", .flag = &o->quick,
		  .help = "--live 100,1000 --guards 100,3000 --others 1000, and\n"
			  "fewer samples" },
		{ .name = "seed", .argument = "N", .number = &o->seed, .most = UINT32_MAX,
		  .help = "of all choices (1)" },
		{ .name = "timeout", .argument = "S", .number = &o->timeout, .least = 1,
		  .most = 86400, .help = "for each address space (600)" },
		{ .name = "verbose", .flag = &o->verbose, .help = "say what is being done" },
		{ 0 }
	};
	const struct bench_program program = {
		.name = "mapstorm",
		.line = "[OPTION...]",
		.options = options,
		.end =
		"Exit status: 0; 1 if a row has an error; 2 for a bad command line or a clock that\n"
		"does not count.\n",
	};

	*o = (struct options) { .only = -1, .space = -1, .seed = 1, .timeout = 600 };
	bench_options(&program, argc, argv);
	if (o->nothing)
		exit(0);
	if (!o->live.count)
		take_list(&o->live, o->quick ? "100,1000" :
					       "100,1000,10000,40000,100000,1000000");
	if (!o->guards.count)
		take_list(&o->guards, o->quick ? "100,3000" : "100,1000,10000,30000");
	if (!o->others.count)
		take_list(&o->others, o->quick ? "1000" : "100,10000");
}

/* Returns the number of this process' mappings. */
static unsigned long count_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long n = 0;
	int c;

	if (!f)
		return 0;
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

static void row_begin(FILE *out, int kind, bool bottom_up, unsigned long live,
		      unsigned long guards, const char *operation)
{
	const char *layout = bottom_up ? "bottom-up" : "top-down";

	fprintf(out, "{\"id\": \"%s/%s/%lu/%s\", \"kind\": \"%s\", \"layout\": \"%s\", \"live\": %lu, \"guards\": %lu, \"operation\": \"%s\", ",
		kind_names[kind], layout,
		ms_guarded(kind) ? guards : live,
		operation, kind_names[kind], layout, live, guards, operation);
}

static void row_error(FILE *out, const char *error)
{
	fputs("\"samples\": 0, \"error\": ", out);
	bench_json_string(out, error);
	fputs("}\n", out);
}

/**
 * ms_row - write a row of the results
 * @s: the space
 * @operation: what was measured
 * @samples: number of samples, at least one
 * @times: the samples; they get sorted
 * @error: what went wrong, in place of the times; or NULL
 */
void ms_row(struct ms_space *s, const char *operation, unsigned int samples,
	    uint64_t *times, const char *error)
{
	struct bench_stat stat;

	row_begin(s->out, s->kind, s->bottom_up, s->count, s->guards, operation);
	if (error) {
		row_error(s->out, error);
		return;
	}
	stat = bench_spread(times, samples);
	fprintf(s->out, "\"samples\": %u, \"min\": %llu, \"p10\": %llu, \"median\": %llu, \"p90\": %llu, \"maps\": %lu, \"digest\": \"%016llx\", \"holes\": %lu, \"error\": null}\n",
		samples, (unsigned long long)times[0],
		(unsigned long long)stat.p10, (unsigned long long)stat.median,
		(unsigned long long)stat.p90, count_maps(),
		(unsigned long long)s->digest, (unsigned long)s->holes);
	fflush(s->out);
}

/* Makes this process' address space, and measures for each number of --live */
static int be_space(const struct options *o, const char *self)
{
	struct ms_space s = {
		.kind = o->space,
		.bottom_up = o->bottom_up,
		.quick = o->quick,
		.out = stdout,
	};
	const struct list *live = &o->live;
	unsigned int i;
	int ret;

	ret = ms_space_make(&s, live->n[live->count - 1], o->seed);
	if (!ret && ms_guarded(s.kind))
		ret = ms_space_guards(&s, o->guards.n[0]);
	for (i = 0; i < live->count && !ret; i++) {
		ret = s.kind == MS_HOLES ? ms_space_holes(&s, live->n[i]) :
					   ms_grow(&s, live->n[i]);
		if (ret)
			break;
		if (s.kind == MS_OTHERS)
			ms_others(&s, self);
		else
			ms_churn(&s);
	}
	if (!ret)
		return 0;
	/* Write the row that could not be measured. */
	row_begin(stdout, s.kind, s.bottom_up, live->n[i < live->count ? i : 0],
		  s.guards ? s.guards : o->guards.n[0], "pair");
	if (s.kind == MS_SHADOW && (ret == -EOPNOTSUPP || ret == -ENOSYS))
		row_error(stdout, "unsupported: this processor or kernel has no shadow stacks");
	else if ((s.kind == MS_SMALL || s.kind == MS_ONE) && ret == -EOPNOTSUPP)
		row_error(stdout, "unsupported: not booted with stack_guard_gap=1");
	else
		row_error(stdout, strerror(-ret));
	return 0;
}

/* Returns a list as text, to be freed. */
static char *join(const struct list *list)
{
	size_t size = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &size);
	unsigned int i;

	if (!f)
		fail("a list", -ENOMEM);
	for (i = 0; i < list->count; i++)
		fprintf(f, "%s%lu", i ? "," : "", list->n[i]);
	fclose(f);
	return text;
}

/**
 * struct result - the rows of all address spaces
 * @out: stream to which they are written
 * @rows: number of rows so far
 * @errors: number of rows with an error
 */
struct result {
	FILE *out;
	unsigned int rows, errors;
};

static void take_row(struct result *r, const char *line)
{
	fprintf(r->out, "%s\n    %s", r->rows ? "," : "", line);
	r->rows++;
	if (!strstr(line, "\"error\": null") && !strstr(line, "unsupported")) {
		r->errors++;
		fprintf(stderr, "mapstorm: %s\n", line);
	}
}

/* Copies until the other end is closed. Returns false at the deadline. */
static bool read_all(int fd, FILE *to, uint64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char buffer[4096];
	uint64_t now;
	ssize_t got;

	for (;;) {
		now = bench_now();
		if (now >= deadline ||
		    poll(&p, 1, (deadline - now) / 1000000 + 1) <= 0)
			return false;
		got = read(fd, buffer, sizeof(buffer));
		if (got <= 0)
			return !got;
		fwrite(buffer, 1, got, to);
	}
}

/* Runs a process for an address space, and takes its rows. */
static void run_space(const struct options *o, struct result *r, int kind,
		      bool bottom_up, const struct list *live,
		      unsigned long guards, const char *self)
{
	char *lists = join(live), number[3][32], *line, *save = NULL, *text = NULL;
	char *argv[16] = { (char *)self, "--space", (char *)kind_names[kind],
			   "--live", lists, "--guards", number[0], "--seed",
			   number[1] };
	unsigned int n = 9, before = r->rows;
	int pipes[2], status = 0;
	size_t size;
	bool intime;
	FILE *all;
	pid_t pid;

	snprintf(number[0], sizeof(number[0]), "%lu", guards ? guards : 1);
	snprintf(number[1], sizeof(number[1]), "%llu",
		 (unsigned long long)o->seed);
	if (bottom_up)
		argv[n++] = "--bottom-up";
	if (o->quick)
		argv[n++] = "--quick";
	if (o->verbose)
		fprintf(stderr, "mapstorm: %s, %s, %s live, %lu guards\n",
			kind_names[kind], bottom_up ? "bottom-up" : "top-down",
			lists, guards);
	all = open_memstream(&text, &size);
	if (!all || pipe(pipes))
		fail("pipe", -errno);
	pid = fork();
	if (pid < 0)
		fail("fork", -errno);
	if (!pid) {
		char *envp[] = { NULL };

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(pipes[1], 1);
		close(pipes[0]);
		close(pipes[1]);
		if (personality(ADDR_NO_RANDOMIZE |
				(bottom_up ? ADDR_COMPAT_LAYOUT : 0)) >= 0)
			execve(self, argv, envp);
		_exit(127);
	}
	close(pipes[1]);
	intime = read_all(pipes[0], all, bench_now() + o->timeout * 1000000000ull);
	close(pipes[0]);
	if (!intime)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	fclose(all);
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		if (line[strlen(line) - 1] == '}')
			take_row(r, line);
	free(text);
	free(lists);
	if (!status && r->rows > before)
		return;
	all = open_memstream(&text, &size);
	if (!all)
		fail("a row", -ENOMEM);
	row_begin(all, kind, bottom_up, live->n[live->count - 1], guards, "all");
	row_error(all, intime ? "the process died" : "timed out");
	fclose(all);
	text[strlen(text) - 1] = 0;
	take_row(r, text);
	free(text);
}

/* Raises vm.max_map_count to what the lists need, or says why it cannot. */
static void raise_map_count(const struct options *o)
{
	const unsigned long want = o->live.n[o->live.count - 1] +
				   2 * o->guards.n[o->guards.count - 1] + 70000;
	FILE *f;
	int ret = 0;

	if (bench_read_number(MAP_COUNT) >= want)
		return;
	f = fopen(MAP_COUNT, "we");
	if (!f || fprintf(f, "%lu\n", want) < 0)
		ret = -errno;
	if (f && fclose(f) && !ret)
		ret = -errno;
	if (ret)
		fprintf(stderr, "mapstorm: vm.max_map_count stays at %lu (%s); what needs more ends with an error\n",
			bench_read_number(MAP_COUNT), strerror(-ret));
}

/* Whether the kernel calls by retpolines what it calls by a pointer, in its own words. */
static void indirect_calls(FILE *out)
{
	FILE *f = fopen("/sys/devices/system/cpu/vulnerabilities/spectre_v2", "re");
	char line[256] = "";

	if (f) {
		if (fgets(line, sizeof(line), f))
			line[strcspn(line, "\n")] = 0;
		fclose(f);
	}
	bench_json_string(out, line);
}

static void environment(FILE *out, const struct options *o)
{
	struct utsname uts;

	uname(&uts);
	fputs("{\n  \"environment\": {\"kernel\": ", out);
	bench_json_string(out, uts.release);
	fputs(", \"indirect_calls\": ", out);
	indirect_calls(out);
	fprintf(out, ", \"cpus\": %ld, \"memory_mib\": %lu, \"unit\": \"%s\", \"quick\": %s, \"seed\": %llu, \"clock_cost\": %llu},\n  \"rows\": [",
		sysconf(_SC_NPROCESSORS_ONLN),
		bench_field("/proc/meminfo", "MemTotal:") >> 10,
		o->count ? "instructions" : "ns", o->quick ? "true" : "false",
		(unsigned long long)o->seed,
		(unsigned long long)bench_clock_cost(CLOCK_MONOTONIC));
}

int main(int argc, char **argv)
{
	const struct list hundred = { .n = { 100 }, .count = 1 };
	struct bench_output file = { .file = NULL };
	struct result r = { .out = stdout };
	struct options o;
	char self[4096];
	ssize_t length;
	unsigned int i;
	int ret, b;

	parse(&o, argc, argv);
	length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (length < 0)
		fail("/proc/self/exe", -errno);
	self[length] = 0;
	if (o.space >= 0)
		return be_space(&o, self);

	if (o.count && !bench_counts_instructions(CLOCK_MONOTONIC)) {
		fprintf(stderr, "mapstorm: the clock does not count instructions here\n");
		return 2;
	}
	raise_map_count(&o);
	if (o.json) {
		ret = bench_output_open(&file, o.json);
		if (ret)
			fail(o.json, ret);
		r.out = file.file;
	}
	environment(r.out, &o);
	for (b = 0; b < 2; b++) {
		if (o.only < 0 || o.only == MS_PLAIN)
			run_space(&o, &r, MS_PLAIN, b, &o.live, 0, self);
		for (i = 0; i < o.guards.count; i++) {
			if (o.only < 0 || o.only == MS_GUARDS)
				run_space(&o, &r, MS_GUARDS, b, &hundred,
					  o.guards.n[i], self);
			if (o.only < 0 || o.only == MS_SHADOW)
				run_space(&o, &r, MS_SHADOW, b, &hundred,
					  o.guards.n[i], self);
			if (o.only == MS_SMALL || o.only == MS_ONE)
				run_space(&o, &r, o.only, b, &hundred,
					  o.guards.n[i], self);
			if (o.only < 0 || o.only == MS_AMONG)
				run_space(&o, &r, MS_AMONG, b, &hundred,
					  o.guards.n[i], self);
		}
		for (i = 0; i < o.others.count; i++) {
			struct list one = { .n = { o.others.n[i] }, .count = 1 };

			if (o.only < 0 || o.only == MS_HOLES)
				run_space(&o, &r, MS_HOLES, b, &one, 0, self);
		}
	}
	for (i = 0; i < o.others.count; i++) {
		struct list one = { .n = { o.others.n[i] }, .count = 1 };

		if (o.only < 0 || o.only == MS_OTHERS)
			run_space(&o, &r, MS_OTHERS, false, &one, 0, self);
	}
	fputs("\n  ]\n}\n", r.out);
	if (o.json) {
		ret = bench_output_close(&file);
		if (ret)
			fail(o.json, ret);
	}
	return r.errors ? 1 : 0;
}
