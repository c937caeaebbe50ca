// SPDX-License-Identifier: MIT
/*
 * frag: the fragmentation experiments of 2005 and later, with models of the
 * searches of each time and with the running kernel. See
 * kernel/mm/bench/README.md.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bench-options.h"
#include "frag.h"

static struct {
	bool models, kernel, failed;
	unsigned int most, seeds;
	const char *predict, *json;
	const char *separator;
	FILE *out;
} run = {
	.most = UINT32_MAX,
	.seeds = 3,
	.separator = "",
};

static const char *direction(bool topdown)
{
	return topdown ? "top-down" : "bottom-up";
}

static void begin_row(const struct frag_workload *load, const char *who,
		      const char *name, bool topdown, uint64_t seed,
		      uint64_t wanted, uint64_t steps)
{
	fprintf(run.out,
		"%s\n    {\"workload\": \"%s\", \"by\": \"%s\", \"name\": \"%s\", \"direction\": \"%s\", \"seed\": %llu, \"steps_wanted\": %llu, \"steps\": %llu",
		run.separator, load->name, who, name, direction(topdown),
		(unsigned long long)seed, (unsigned long long)wanted,
		(unsigned long long)steps);
	run.separator = ",";
}

static void shape_json(const struct frag_shape *shape)
{
	fprintf(run.out,
		", \"areas\": %llu, \"holes\": %llu, \"largest_hole_pages\": %llu, \"free_pages\": %llu, \"span_pages\": %llu, \"largest_room_pages\": %llu",
		(unsigned long long)shape->areas,
		(unsigned long long)shape->holes,
		(unsigned long long)shape->largest_hole,
		(unsigned long long)shape->free,
		(unsigned long long)shape->span,
		(unsigned long long)shape->largest_room);
}

static uint64_t steps_of(const struct frag_workload *load)
{
	return load->steps < run.most ? load->steps : run.most;
}

/* The window of models: that of a process of 2005, or as large as today's. */
static void model_window(const struct frag_workload *load, uint64_t *low,
			 uint64_t *high)
{
	*low = FRAG_32BIT_LOW;
	*high = *low + (load->window ? load->window : 1ull << 32);
}

static void run_model(const struct frag_workload *load,
		      const struct frag_model *model, bool topdown,
		      uint64_t seed)
{
	struct frag_backend backend;
	struct frag_shape shape;
	uint64_t low, high, steps;
	struct frag_mm mm;

	model_window(load, &low, &high);
	frag_mm_init(&mm, model, low, high, topdown);
	mm.thp = model->thp ? FRAG_THP_EXACT : FRAG_THP_NONE;
	if (load->window)
		frag_space_map(&mm.space, low, FRAG_32BIT_LIBRARIES, FRAG_FIXED);
	backend = frag_model_backend(&mm);
	steps = load->run(&backend, steps_of(load), seed);
	shape = frag_space_shape(&mm.space);
	begin_row(load, "model", model->name, topdown, seed, steps_of(load),
		  steps);
	shape_json(&shape);
	fprintf(run.out,
		", \"searches\": %llu, \"looked_mean\": %.2f, \"looked_worst\": %llu}",
		(unsigned long long)mm.searches,
		(double)mm.cost / mm.searches, (unsigned long long)mm.worst);
	frag_space_clear(&mm.space);
}

/* The example with five regions has rows of its own: they have a "place". */
static void run_five(const struct frag_model *model, bool topdown)
{
	const struct frag_workload *load = &frag_workloads[0];
	struct frag_backend backend;
	uint64_t regions[5], low, high, at;
	struct frag_shape shape;
	struct frag_mm mm;
	int i, place = 0;

	model_window(load, &low, &high);
	frag_mm_init(&mm, model, low, high, topdown);
	backend = frag_model_backend(&mm);
	at = frag_five(&backend, 1, regions);
	for (i = 0; i < 5; i++)
		if (regions[i] == at)
			place = i + 1;
	shape = frag_space_shape(&mm.space);
	begin_row(load, "model", model->name, topdown, 0, 1, 1);
	shape_json(&shape);
	fprintf(run.out, ", \"place\": %d}", place);
	frag_space_clear(&mm.space);
}

static void run_models(void)
{
	const struct frag_model *const *model;
	unsigned int i, seed;
	int down;

	for (model = frag_models; *model; model++) {
		for (down = 0; down <= !(*model)->only_up; down++) {
			run_five(*model, down);
			for (i = 1; i < frag_workload_count; i++) {
				const struct frag_workload *load =
					&frag_workloads[i];
				unsigned int n = run.seeds;

				if (load->compat)
					continue;
				/* The long run has no random choices either. */
				if (load->models ||
				    load->run == frag_workloads[1].run)
					n = 1;

				for (seed = 1; seed <= n; seed++)
					run_model(load, *model, down, seed);
			}
		}
	}
}

/*
 * Runs one workload, in a process that was started for it, and prints a line of
 * numbers.
 */
static int one(char **argv)
{
	bool topdown = !strcmp(argv[2], "top-down");
	const struct frag_workload *load = NULL;
	const struct frag_model *model = NULL;
	struct frag_kernel r;
	unsigned int i;
	int ret;

	if (!strcmp(argv[1], "--layout")) {
		argv[1] = (char *)"--one";
		ret = frag_kernel_layout(topdown, argv);
		fprintf(stderr, "frag: layout: %s\n", strerror(-ret));
		return 1;
	}
	for (i = 0; i < frag_workload_count; i++)
		if (!strcmp(frag_workloads[i].name, argv[3]))
			load = &frag_workloads[i];
	model = frag_model_named(argv[6]);
	ret = load ? frag_kernel_run(load, strtoull(argv[4], NULL, 10),
				     strtoull(argv[5], NULL, 10), model, &r) :
		     -EINVAL;
	if (ret) {
		fprintf(stderr, "frag: %s: %s\n", argv[3], strerror(-ret));
		return 1;
	}
	if (r.topdown != topdown) {
		fprintf(stderr, "frag: the kernel has no %s layout\n", argv[2]);
		return 1;
	}
	printf("%s %d %d %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu\n",
	       r.predicted->name, r.thp, r.usable, (unsigned long long)r.steps,
	       (unsigned long long)r.maps, (unsigned long long)r.differing,
	       (unsigned long long)r.areas_differing, (unsigned long long)r.ns,
	       (unsigned long long)r.shape.areas,
	       (unsigned long long)r.shape.holes,
	       (unsigned long long)r.shape.largest_hole,
	       (unsigned long long)r.shape.free,
	       (unsigned long long)r.shape.span,
	       (unsigned long long)r.shape.largest_room);
	return 0;
}

/* Starts the program again for one workload, and reads its line. */
static bool start_one(const struct frag_workload *load, bool topdown,
		      uint64_t seed, char *line, size_t size)
{
	char steps[24], number[24];
	const char *argv[] = {
		"frag", "--layout", direction(topdown), load->name, steps,
		number, run.predict ? run.predict : "-", NULL,
	};
	int status, ends[2];
	size_t used = 0;
	ssize_t got;
	pid_t pid;

	snprintf(steps, sizeof(steps), "%llu",
		 (unsigned long long)steps_of(load));
	snprintf(number, sizeof(number), "%llu", (unsigned long long)seed);
	if (pipe(ends))
		return false;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		/* End the process even if the kernel hangs in a call. */
		alarm(600);
		execv("/proc/self/exe", (char **)argv);
		_exit(1);
	}
	close(ends[1]);
	while ((got = read(ends[0], line + used, size - 1 - used)) > 0)
		used += got;
	line[used] = 0;
	close(ends[0]);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 && used;
}

static void run_kernel_row(const struct frag_workload *load, bool topdown,
			   uint64_t seed)
{
	unsigned long long v[11];
	char line[512], name[32];
	int thp, usable;

	if (!start_one(load, topdown, seed, line, sizeof(line)) ||
	    sscanf(line, "%31s %d %d %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu",
		   name, &thp, &usable, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5],
		   &v[6], &v[7], &v[8], &v[9], &v[10]) != 14) {
		fprintf(stderr, "frag: %s, %s: it did not end well\n",
			load->name, direction(topdown));
		run.failed = true;
		return;
	}
	begin_row(load, "kernel", name, topdown, seed, steps_of(load), v[0]);
	shape_json(&(struct frag_shape) { v[5], v[6], v[7], v[8], v[9], v[10] });
	fprintf(run.out,
		", \"thp\": %d, \"usable\": %s, \"maps\": %llu, \"differing\": %llu, \"areas_differing\": %llu, \"ns\": %llu}",
		thp, usable ? "true" : "false", v[1], v[2], v[3], v[4]);
	fprintf(stderr,
		"%-8s %-9s seed %llu: %llu steps, %llu areas, %s: %llu of %llu addresses and %llu areas differ\n",
		load->name, direction(topdown), (unsigned long long)seed, v[0],
		v[5], name, v[2], v[1], v[3]);
	if (v[2] || v[3])
		run.failed = true;
}

static void run_kernel(void)
{
	unsigned int i, seed, seeds;
	int down;

	for (i = 0; i < frag_workload_count; i++) {
		const struct frag_workload *load = &frag_workloads[i];

		if (load->models)
			continue;
		if (load->compat && !frag_kernel_has_compat()) {
			fprintf(stderr, "%-8s: this kernel has no 32-bit system calls\n",
				load->name);
			continue;
		}
		seeds = strcmp(load->name, "mix") && !load->guards ? 1 : run.seeds;
		for (down = 0; down < 2; down++)
			for (seed = 1; seed <= seeds; seed++)
				run_kernel_row(load, down, seed);
	}
}

static const char *take_model(void *data, const char *text)
{
	*(const char **)data = text;
	return frag_model_named(text) ? NULL : "no such model";
}

static void parse(int argc, char **argv)
{
	static const struct bench_option options[] = {
		{ .name = "models", .flag = &run.models,
		  .help = "run the workloads with all models only" },
		{ .name = "kernel", .flag = &run.kernel,
		  .help = "run them with this kernel only, and compare with the\n"
			  "model of it; ends with 1 if an address differs" },
		{ .name = "predict", .argument = "MODEL", .take = take_model,
		  .data = &run.predict, .help = "compare with another model" },
		{ .name = "steps", .argument = "N", .number = &run.most, .least = 1,
		  .most = UINT32_MAX, .help = "no more than N steps of a workload" },
		{ .name = "seeds", .argument = "N", .number = &run.seeds, .least = 1,
		  .most = UINT32_MAX, .help = "how many random sequences (3)" },
		{ .name = "json", .argument = "FILE", .text = &run.json,
		  .help = "write the results there" },
		{ 0 }
	};
	static const struct bench_program program = {
		.name = "frag",
		.line = "[OPTION...]\n       frag --test [ROUNDS [SEED]]    test the models",
		.options = options,
		.end =
		"Exit status: 0; 1 if something is not as it should be; 2 for a bad command\n"
		"line; 77 if this kernel's layout is not known.\n",
	};

	bench_options(&program, argc, argv);
	if (!run.models && !run.kernel)
		run.models = run.kernel = true;
}

int main(int argc, char **argv)
{
	struct bench_output out;
	struct utsname uts;
	int ret;

	if (argc >= 2 && !strcmp(argv[1], "--test"))
		return frag_test(argc > 2 ? strtoul(argv[2], NULL, 10) : 20,
				 argc > 3 ? strtoull(argv[3], NULL, 10) : 1,
				 true) != 0;
	if (argc == 7 && (!strcmp(argv[1], "--layout") || !strcmp(argv[1], "--one")))
		return one(argv);
	parse(argc, argv);
	if (run.kernel && frag_kernel_unfit()) {
		if (!run.models) {
			printf("%s\n", frag_kernel_unfit());
			return 77;
		}
		fprintf(stderr, "frag: models only: %s\n", frag_kernel_unfit());
		run.kernel = false;
	}

	run.out = stdout;
	if (run.json) {
		ret = bench_output_open(&out, run.json);
		if (ret) {
			fprintf(stderr, "frag: %s: %s\n", run.json,
				strerror(-ret));
			return 1;
		}
		run.out = out.file;
	}
	uname(&uts);
	fprintf(run.out, "{\n  \"environment\": {\"kernel\": ");
	bench_json_string(run.out, uts.release);
	fprintf(run.out, ", \"kernel_build\": ");
	bench_json_string(run.out, uts.version);
	fprintf(run.out, ", \"page_bytes\": %llu},\n  \"rows\": [", FRAG_PAGE);
	if (run.models)
		run_models();
	if (run.kernel)
		run_kernel();
	fprintf(run.out, "\n  ]\n}\n");
	if (run.json) {
		ret = bench_output_close(&out);
		if (ret) {
			fprintf(stderr, "frag: %s: %s\n", run.json,
				strerror(-ret));
			return 1;
		}
	}
	return run.failed;
}
