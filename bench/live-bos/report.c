// SPDX-License-Identifier: MIT
/*
 * The results of live-bos, as tables and as JSON.
 */
#include <string.h>

#include "bench-json.h"
#include "live-bos.h"

/*
 * Report of 2011 on the radeon driver of Linux 2.6.3x: microseconds to upload
 * to one more small BO with that many live and mapped, and the same with BOs
 * that are not kept mapped. 0: not reported.
 */
static const struct {
	unsigned int live;
	double mapped, workaround;
} report_2011[] = {
	{ 100, 17.3, 18.3 },
	{ 1000, 19.9, 0 },
	{ 10000, 88.5, 0 },
	{ 20000, 205, 0 },
	{ 40000, 406, 0 },
	{ 80000, 0, 23.5 },
};

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

static const struct {
	const char *title;
	bool reference;
} metrics[] = {
	[UPLOAD] = { "upload, us", true },
	[CREATE] = { "create, us", false },
	[DESTROY] = { "destroy, us", false },
	[MAPS] = { "maps of the process", false },
	[MEMORY] = { "page tables and maps, KiB", false },
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
		if (report_2011[i].mapped)
			fprintf(out, " | %8.1f", report_2011[i].mapped);
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

	fprintf(out, "\n%-9s", metrics[metric].title);
	fprintf(out, "\n%9s", "live BOs");
	for (k = 0; k < n; k++) {
		first = k == 0 || c[k].domain != c[k - 1].domain;
		domain = first ? lb_domains[c[k].domain].name : "";
		fprintf(out, "%s%s%s%*s", first ? " | " : "", domain,
			first ? ":" : "",
			width(c[k]) - (int)strlen(domain) - first,
			lb_arms[c[k].arm].name);
	}
	if (metrics[metric].reference)
		fprintf(out, " | %8s %8s", "2011", "unmapped");
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
		if (metrics[metric].reference)
			print_reference(out, o->live[i]);
		fprintf(out, "\n");
	}
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
		"Medians of %u; reading the clock costs %.1f us. 2011: the report's figures,\n"
		"on the hardware and kernel of that time (unmapped: its work-around).\n",
		r->options->samples, r->clock_ns / 1000.0);
	for (metric = UPLOAD; metric <= MEMORY; metric++)
		print_table(out, r, metric);

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

static void json_stat(struct json_object *o, const char *name,
		      const struct lb_row *row, const struct bench_stat *stat)
{
	const struct { const char *suffix; uint64_t ns; } values[] = {
		{ "", stat->median }, { "_p10", stat->p10 }, { "_p90", stat->p90 },
	};
	unsigned int i;
	char key[64];

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		snprintf(key, sizeof(key), "%s%s_ns", name, values[i].suffix);
		if (row->samples)
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
	json_stat(o, "create", row, &row->create);
	json_stat(o, "upload", row, &row->upload);
	json_stat(o, "destroy", row, &row->destroy);
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

/* Microseconds by population, from one of the report's columns. */
static void json_reference(struct json_object *o, const char *key, bool mapped)
{
	struct json_object *column = json_object_new_object(), *value;
	unsigned int i;
	char live[16];
	double us;

	for (i = 0; i < REPORT_2011_COUNT; i++) {
		us = mapped ? report_2011[i].mapped : report_2011[i].workaround;
		if (!us)
			continue;
		snprintf(live, sizeof(live), "%u", report_2011[i].live);
		value = json_object_new_double(us);
		json_object_set_serializer(value, json_object_double_to_json_string,
					   "%.1f", NULL);
		json_object_object_add(column, live, value);
	}
	json_object_object_add(o, key, column);
}

/**
 * lb_write_json - write the results
 * @path: file
 * @r: results
 */
int lb_write_json(const char *path, const struct lb_results *r)
{
	struct json_object *root = json_object_new_object();
	struct json_object *report = json_object_new_object();
	struct json_object *rows = json_object_new_array();
	unsigned int i;

	bench_json_add_string(root, "benchmark", "live-bos");
	json_object_object_add(root, "environment", json_environment(r));
	json_reference(report, "mapped", true);
	json_reference(report, "workaround", false);
	json_object_object_add(root, "report_2011_us", report);
	for (i = 0; i < r->count; i++)
		json_object_array_add(rows, json_row(r, &r->rows[i]));
	json_object_object_add(root, "rows", rows);
	return bench_json_write(path, root);
}
