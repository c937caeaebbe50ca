// SPDX-License-Identifier: MIT
/*
 * The results of live-bos, as tables and as JSON.
 */
#include <string.h>

#include "bench-json.h"
#include "live-bos.h"
/* Microseconds that were reported in 2011 (bench/lib/sources.toml). */
#include "sources-2011.h"

#define REPORT_2011_COUNT (sizeof(report_2011) / sizeof(report_2011[0]))

/* Columns of the tables: arms within domains. */
struct column {
	unsigned int arm, domain;
};

static unsigned int columns(const struct lb_options *o, struct column *c)
{
	unsigned int a, d, n = 0;

	for (d = 0; d < lb_domain_count; d++)
		for (a = 0; a < lb_arm_count; a++)
			if (o->domains[d] && o->arms[a])
				c[n++] = (struct column) { a, d };
	return n;
}

static const struct lb_row *find_row(const struct lb_results *r,
				     struct column c, unsigned int requested)
{
	unsigned int i;

	for (i = 0; i < r->count; i++)
		if (r->rows[i].arm == c.arm && r->rows[i].domain == c.domain &&
		    r->rows[i].requested == requested)
			return &r->rows[i];
	return NULL;
}

enum metric { UPLOAD, CREATE, DESTROY, MAPS, MEMORY };

static const char * const metrics[] = {
	[UPLOAD] = "upload",
	[CREATE] = "create",
	[DESTROY] = "destroy",
	[MAPS] = "maps of the process",
	[MEMORY] = "page tables and maps, KiB",
};

static void cell(const struct lb_results *r, const struct lb_row *row,
		 enum metric metric, char *text, size_t size)
{
	bool timed = metric == UPLOAD || metric == CREATE || metric == DESTROY;
	const struct bench_stat *stat;

	if (!row || (timed && !row->samples) || !row->live ||
	    row->live > row->requested) {
		snprintf(text, size, "-");
	} else if (timed) {
		stat = metric == UPLOAD ? &row->upload :
		       metric == CREATE ? &row->create : &row->destroy;
		snprintf(text, size, "%.1f", stat->median / 1000.0);
	} else if (metric == MAPS) {
		snprintf(text, size, "%u", row->maps);
	} else {
		snprintf(text, size, "%llu", row->vmpte_kib +
			 ((unsigned long long)row->maps * r->vma_bytes >> 10));
	}
}

static void print_reference(FILE *out, unsigned int live)
{
	unsigned int i;

	for (i = 0; i < REPORT_2011_COUNT; i++) {
		if (report_2011[i].live != live)
			continue;
		if (report_2011[i].kernel)
			fprintf(out, " | %8.1f", report_2011[i].kernel);
		else
			fprintf(out, " | %8s", "-");
		if (report_2011[i].workaround)
			fprintf(out, " %8.1f", report_2011[i].workaround);
		else
			fprintf(out, " %8s", "-");
		return;
	}
	fprintf(out, " | %8s %8s", "-", "-");
}

/* Width of a column, with the blank before it. */
static int width(struct column c)
{
	int name = strlen(lb_arms[c.arm].name) + 1;

	return name > 10 ? name : 10;
}

static void print_table(FILE *out, const struct lb_results *r,
			enum metric metric)
{
	const struct lb_options *o = r->options;
	struct column c[LB_MAX_ARMS * LB_MAX_DOMAINS];
	unsigned int i, k, n = columns(o, c);
	const char *domain;
	char text[32];
	bool first;

	fprintf(out, "\n%-9s%s", metrics[metric],
		metric >= MAPS ? "" : o->count ? ", thousand instructions" : ", us");
	fprintf(out, "\n%9s", "live BOs");
	for (k = 0; k < n; k++) {
		first = k == 0 || c[k].domain != c[k - 1].domain;
		domain = first ? lb_domains[c[k].domain].name : "";
		fprintf(out, "%s%s%s%*s", first ? " | " : "", domain,
			first ? ":" : "",
			width(c[k]) - (int)strlen(domain) - first,
			lb_arms[c[k].arm].name);
	}
	fprintf(out, "\n");

	for (i = 0; i < o->live_count; i++) {
		fprintf(out, "%9u", o->live[i]);
		for (k = 0; k < n; k++) {
			cell(r, find_row(r, c[k], o->live[i]), metric, text,
			     sizeof(text));
			fprintf(out, "%s%*s",
				k == 0 || c[k].domain != c[k - 1].domain ?
					" | " : "", width(c[k]), text);
		}
		fprintf(out, "\n");
	}
}

/* Rows of the kernel's search and of the work-around side by side. */
static void print_as_2011(FILE *out, const struct lb_results *r)
{
	const unsigned int n = r->as_2011_count / 2;
	const struct lb_2011_row *row;
	unsigned int i, a;

	if (!n)
		return;
	fprintf(out, "\nas in 2011: make and map a BO of 1 to %u bytes, unmap and destroy one; us\n"
		"(vm.max_map_count: %u; columns of 2011: the report's figures of either operation,\n"
		"on the hardware and kernel of that time; w.-a.: its work-around)\n"
		"%9s | %18s %18s | %8s %8s\n%9s | %9s %8s %9s %8s |\n",
		LB_2011_BYTES, r->max_map_count_2011, "live BOs",
		"mmap:", "work-around:", "2011", "w.-a.", "", "make",
		"destroy", "make", "destroy");
	for (i = 0; i < n; i++) {
		fprintf(out, "%9u |", r->as_2011[i].requested);
		for (a = 0; a < 2; a++) {
			row = &r->as_2011[i + a * n];
			if (row->samples)
				fprintf(out, " %9.1f %8.1f",
					row->make.median / 1000.0,
					row->destroy.median / 1000.0);
			else
				fprintf(out, " %9s %8s", "-", "-");
		}
		print_reference(out, r->as_2011[i].requested);
		fprintf(out, "\n");
	}
	for (i = 0; i < r->as_2011_count; i++)
		if (r->as_2011[i].error[0])
			fprintf(out, "%s, N = %u: %s\n",
				r->as_2011[i].workaround ? "work-around" : "mmap",
				r->as_2011[i].requested, r->as_2011[i].error);
}

/**
 * lb_print - print the tables
 * @out: stream
 * @r: results
 */
void lb_print(FILE *out, const struct lb_results *r)
{
	unsigned int i, verified = 0, live = 0;
	const struct lb_row *row;
	enum metric metric;

	fprintf(out,
		"live-bos: one more BO of 4 KiB in a process that has N of them live.\n"
		"Medians of %u; reading the clock costs %.1f us.\n",
		r->options->samples, r->clock_ns / 1000.0);
	for (metric = UPLOAD; metric <= MEMORY; metric++)
		print_table(out, r, metric);
	print_as_2011(out, r);

	fprintf(out, "\n");
	for (i = 0; i < r->count; i++) {
		row = &r->rows[i];
		verified += row->verified;
		live += row->live;
		if (row->error[0])
			fprintf(out, "%s, %s, N = %u: %s\n",
				lb_arms[row->arm].name,
				lb_domains[row->domain].name, row->requested,
				row->error);
	}
	fprintf(out, "contents: %s (limit of maps: %u)\n",
		verified == live ? "all BOs hold what was written" :
				   "NOT ALL BOs WERE FOUND TO HOLD WHAT WAS WRITTEN",
		r->max_map_count);
}

/* Adds NAME_ns with its percentiles; null if there were no samples. */
static void json_stat(struct json_object *o, const char *name,
		      unsigned int samples, const struct bench_stat *stat)
{
	const struct { const char *suffix; uint64_t ns; } values[] = {
		{ "", stat->median }, { "_p10", stat->p10 }, { "_p90", stat->p90 },
	};
	unsigned int i;
	char key[64];

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		snprintf(key, sizeof(key), "%s%s_ns", name, values[i].suffix);
		if (samples)
			bench_json_add_number(o, key, values[i].ns);
		else
			json_object_object_add(o, key, NULL);
	}
}

static struct json_object *json_row(const struct lb_results *r,
				    const struct lb_row *row)
{
	struct json_object *o = json_object_new_object();

	bench_json_add_string(o, "arm", lb_arms[row->arm].name);
	bench_json_add_string(o, "domain", lb_domains[row->domain].name);
	bench_json_add_number(o, "requested", row->requested);
	bench_json_add_number(o, "live", row->live);
	bench_json_add_number(o, "maps", row->maps);
	json_stat(o, "create", row->samples, &row->create);
	json_stat(o, "upload", row->samples, &row->upload);
	json_stat(o, "destroy", row->samples, &row->destroy);
	bench_json_add_number(o, "samples", row->samples);
	bench_json_add_number(o, "vmpte_kib", row->vmpte_kib);
	if (r->vma_bytes)
		bench_json_add_number(o, "vma_kib",
				      (uint64_t)row->maps * r->vma_bytes >> 10);
	else
		json_object_object_add(o, "vma_kib", NULL);
	bench_json_add_number(o, "verified", row->verified);
	bench_json_add_string(o, "error", row->error);
	return o;
}

static struct json_object *json_2011_row(const struct lb_2011_row *row)
{
	struct json_object *o = json_object_new_object();

	bench_json_add_string(o, "arm", row->workaround ? "arena" : "mmap");
	bench_json_add_number(o, "requested", row->requested);
	bench_json_add_number(o, "live", row->live);
	bench_json_add_number(o, "maps", row->maps);
	json_stat(o, "make", row->samples, &row->make);
	json_stat(o, "destroy", row->samples, &row->destroy);
	bench_json_add_number(o, "samples", row->samples);
	bench_json_add_string(o, "error", row->error);
	return o;
}

static struct json_object *json_environment(const struct lb_results *r)
{
	struct json_object *env = bench_json_environment(r->dev);

	bench_json_add_number(env, "max_map_count", r->max_map_count);
	bench_json_add_number(env, "clock_ns", r->clock_ns);
	bench_json_add_number(env, "bo_bytes", LB_BO_SIZE);
	bench_json_add_number(env, "vma_bytes", r->vma_bytes);
	bench_json_add_number(env, "lockstep_live", r->lockstep);
	return env;
}

/**
 * lb_write_json - write the results
 * @path: file
 * @r: results
 */
int lb_write_json(const char *path, const struct lb_results *r)
{
	struct json_object *root = json_object_new_object();
	struct json_object *env = json_environment(r);
	struct json_object *rows = json_object_new_array();
	unsigned int i;

	bench_json_add_string(root, "benchmark", "live-bos");
	bench_json_add_string(root, "unit",
			      r->options->count ? "instructions" : "ns");
	json_object_object_add(root, "environment", env);
	for (i = 0; i < r->count; i++)
		json_object_array_add(rows, json_row(r, &r->rows[i]));
	json_object_object_add(root, "rows", rows);
	if (r->as_2011_count) {
		rows = json_object_new_array();
		for (i = 0; i < r->as_2011_count; i++)
			json_object_array_add(rows, json_2011_row(&r->as_2011[i]));
		json_object_object_add(root, "as_2011", rows);
		bench_json_add_number(env, "max_map_count_2011",
				      r->max_map_count_2011);
	}
	return bench_json_write(path, root);
}
