// SPDX-License-Identifier: MIT
/*
 * threads: see kernel/mm/bench/README.md.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bench-options.h"
#include "threads.h"

/* The names of all cases. */
static const char *cases_help(void)
{
	static char text[256];
	const struct threads_case *c;
	unsigned int n = snprintf(text, sizeof(text), "some of:");

	for (c = threads_cases; c->name; c++)
		n += snprintf(text + n, sizeof(text) - n, "%s%s",
			      (c - threads_cases) % 4 ? " " : "\n", c->name);
	return text;
}

/*
 * Starts the program again for one run, in an address space of its own and with
 * the case's settings of the C library. Copies its JSON object to out.
 */
static bool run(const struct threads_case *c, unsigned int threads, FILE *out)
{
	char number[16], block[4096];
	const char *argv[] = { "threads", "--one", c->name, number, NULL };
	int ends[2], status;
	ssize_t got;
	pid_t pid;

	snprintf(number, sizeof(number), "%u", threads);
	if (pipe(ends))
		return false;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		if (c->no_cache)
			setenv("GLIBC_TUNABLES",
			       "glibc.pthread.stack_cache_size=0", 1);
		/* End the process even if the kernel hangs in a call. */
		alarm(900);
		execv("/proc/self/exe", (char **)argv);
		_exit(1);
	}
	close(ends[1]);
	while ((got = read(ends[0], block, sizeof(block))) > 0)
		fwrite(block, 1, got, out);
	close(ends[0]);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool chosen(const char *list, const char *name)
{
	size_t n = strlen(name);
	const char *at = list;

	if (!list)
		return true;
	while ((at = strstr(at, name))) {
		if ((at == list || at[-1] == ',') && (!at[n] || at[n] == ','))
			return true;
		at += n;
	}
	return false;
}

/* A list of names, each of which has to be one of a case. */
static const char *take_cases(void *data, const char *text)
{
	const char *word, *end;
	const struct threads_case *c;

	for (word = text; word; word = *end ? end + 1 : NULL) {
		end = strchrnul(word, ',');
		for (c = threads_cases; c->name; c++)
			if (strlen(c->name) == (size_t)(end - word) &&
			    !strncmp(c->name, word, end - word))
				break;
		if (!c->name)
			return "no such case";
	}
	*(const char **)data = text;
	return NULL;
}

int main(int argc, char **argv)
{
	const char *cases = NULL, *json = NULL, *separator = "";
	unsigned int threads = 20000, runs = 3, i;
	struct bench_output output = { .file = stdout };
	const struct threads_case *c;
	bool failed = false;
	struct utsname uts;
	int ret;
	const struct bench_option options[] = {
		{ .name = "threads", .argument = "N", .number = &threads, .least = 1,
		  .most = UINT32_MAX, .help = "how many threads (20000)" },
		{ .name = "runs", .argument = "N", .number = &runs, .least = 1,
		  .most = 1000, .help = "runs of each case, in turn (3)" },
		{ .name = "cases", .argument = "LIST", .take = take_cases, .data = &cases,
		  .help = cases_help() },
		{ .name = "json", .argument = "FILE", .text = &json,
		  .help = "write the results there" },
		{ 0 }
	};
	const struct bench_program program = {
		.name = "threads",
		.line = "[OPTION...]",
		.options = options,
		.end =
		"Exit status: 0, also where a limit was met (which one is in the results);\n"
		"1 if a run did not end well; 2 for a bad command line.\n",
	};

	if (argc == 4 && !strcmp(argv[1], "--one")) {
		c = threads_case_named(argv[2]);
		ret = c ? threads_run(c, strtoul(argv[3], NULL, 10), stdout) :
			  -EINVAL;
		if (ret)
			fprintf(stderr, "threads: %s: %s\n", argv[2],
				strerror(-ret));
		return ret != 0;
	}
	bench_options(&program, argc, argv);

	if (json) {
		ret = bench_output_open(&output, json);
		if (ret) {
			fprintf(stderr, "threads: %s: %s\n", json,
				strerror(-ret));
			return 1;
		}
	}
	uname(&uts);
	fprintf(output.file, "{\n  \"environment\": {\"kernel\": ");
	bench_json_string(output.file, uts.release);
	fprintf(output.file, ", \"kernel_build\": ");
	bench_json_string(output.file, uts.version);
	fprintf(output.file, ", \"cpus\": %ld, \"memory_mib\": %lu, \"unit\": \"%s\"},\n  \"runs\": [",
		sysconf(_SC_NPROCESSORS_ONLN),
		bench_field("/proc/meminfo", "MemTotal:") >> 10,
		bench_counts_instructions(CLOCK_PROCESS_CPUTIME_ID) ?
			"instructions" :
			"ns");
	threads_raise_limits(threads);
	for (i = 0; i < runs; i++) {
		for (c = threads_cases; c->name; c++) {
			uint64_t from = bench_now();

			if (!chosen(cases, c->name))
				continue;
			fprintf(output.file, "%s\n    ", separator);
			separator = ",";
			if (!run(c, threads, output.file)) {
				fprintf(stderr, "threads: %s did not end well\n",
					c->name);
				fprintf(output.file, "null");
				failed = true;
			}
			fprintf(stderr, "%-17s run %u: %.1f s\n", c->name, i + 1,
				(bench_now() - from) / 1e9);
		}
	}
	threads_restore_limits();
	fprintf(output.file, "\n  ]\n}\n");
	if (json) {
		ret = bench_output_close(&output);
		if (ret) {
			fprintf(stderr, "threads: %s: %s\n", json,
				strerror(-ret));
			return 1;
		}
	}
	return failed;
}
