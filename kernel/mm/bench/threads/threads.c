// SPDX-License-Identifier: MIT
/*
 * threads: see kernel/mm/bench/README.md.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "threads.h"

static void usage(FILE *to)
{
	const struct threads_case *c;

	fputs("usage: threads [--threads N] [--runs N] [--cases LIST] [--json FILE]\n"
	      "\n"
	      "  --threads N   how many threads (20000)\n"
	      "  --runs N      runs of each case, in turn (3)\n"
	      "  --cases LIST  some of:",
	      to);
	for (c = threads_cases; c->name; c++)
		fprintf(to, " %s", c->name);
	fputs("\n\n"
	      "Exit status: 0, also where a limit was met (which one is in the results);\n"
	      "1 if a run did not end well; 2 for a bad command line.\n",
	      to);
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

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "threads", required_argument, NULL, 't' },
		{ "runs", required_argument, NULL, 'r' },
		{ "cases", required_argument, NULL, 'c' },
		{ "json", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *cases = NULL, *json = NULL, *separator = "";
	unsigned int threads = 20000, runs = 3, i;
	struct bench_output output = { .file = stdout };
	const struct threads_case *c;
	bool failed = false;
	struct utsname uts;
	int opt, ret;

	if (argc == 4 && !strcmp(argv[1], "--one")) {
		c = threads_case_named(argv[2]);
		ret = c ? threads_run(c, strtoul(argv[3], NULL, 10), stdout) :
			  -EINVAL;
		if (ret)
			fprintf(stderr, "threads: %s: %s\n", argv[2],
				strerror(-ret));
		return ret != 0;
	}
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 't':
			threads = strtoul(optarg, NULL, 10);
			break;
		case 'r':
			runs = strtoul(optarg, NULL, 10);
			break;
		case 'c':
			cases = optarg;
			break;
		case 'j':
			json = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind != argc || !threads || !runs) {
		usage(stderr);
		return 2;
	}

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
