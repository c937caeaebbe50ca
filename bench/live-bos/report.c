// SPDX-License-Identifier: MIT
/*
 * What live-bos found, as tables and as JSON.
 */
#include <string.h>

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

/* Of a column, with the blank before it. */
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

static void json_stat(FILE *f, const char *name, const struct lb_row *row,
		      const struct bench_stat *stat)
{
	if (row->samples)
		fprintf(f, ", \"%s_ns\": %llu, \"%s_p10_ns\": %llu, \"%s_p90_ns\": %llu",
			name, (unsigned long long)stat->median,
			name, (unsigned long long)stat->p10,
			name, (unsigned long long)stat->p90);
	else
		fprintf(f, ", \"%s_ns\": null, \"%s_p10_ns\": null, \"%s_p90_ns\": null",
			name, name, name);
}

static void json_row(FILE *f, const struct lb_results *r,
		     const struct lb_row *row)
{
	fprintf(f, "    {\"arm\": \"%s\", \"domain\": \"%s\", \"requested\": %u, \"live\": %u, \"maps\": %u",
		lb_arms[row->arm].name, lb_domains[row->domain].name,
		row->requested, row->live, row->maps);
	json_stat(f, "create", row, &row->create);
	json_stat(f, "upload", row, &row->upload);
	json_stat(f, "destroy", row, &row->destroy);
	fprintf(f, ", \"samples\": %u, \"vmpte_kib\": %u, \"vma_kib\": ",
		row->samples, row->vmpte_kib);
	if (r->vma_bytes)
		fprintf(f, "%llu",
			(unsigned long long)row->maps * r->vma_bytes >> 10);
	else
		fprintf(f, "null");
	fprintf(f, ", \"verified\": %u, \"error\": ", row->verified);
	if (row->error[0])
		bench_json_string(f, row->error);
	else
		fprintf(f, "null");
	fprintf(f, "}");
}

static void json_environment(FILE *f, const struct lb_results *r)
{
	bench_json_environment(f, r->dev);
	fprintf(f, ",\n    \"max_map_count\": %u", r->max_map_count);
	fprintf(f, ",\n    \"clock_ns\": %llu", (unsigned long long)r->clock_ns);
	fprintf(f, ",\n    \"bo_bytes\": %u,\n    \"vma_bytes\": %u",
		LB_BO_SIZE, r->vma_bytes);
	fprintf(f, ",\n    \"lockstep_live\": %u\n  },\n", r->lockstep);
}

/**
 * lb_write_json - write the results, aside first
 * @path: file
 * @r: results
 */
int lb_write_json(const char *path, const struct lb_results *r)
{
	struct bench_output out;
	unsigned int i;
	int ret = bench_output_open(&out, path);
	FILE *f = out.file;

	if (ret)
		return ret;

	fprintf(f, "{\n  \"benchmark\": \"live-bos\",\n");
	json_environment(f, r);
	fprintf(f, "  \"report_2011_us\": {\n    \"mapped\": {");
	for (i = 0; i < REPORT_2011_COUNT; i++)
		if (report_2011[i].mapped)
			fprintf(f, "%s\"%u\": %.1f", i ? ", " : "",
				report_2011[i].live, report_2011[i].mapped);
	fprintf(f, "},\n    \"workaround\": {");
	for (i = 0; i < REPORT_2011_COUNT; i++)
		if (report_2011[i].workaround)
			fprintf(f, "%s\"%u\": %.1f", i ? ", " : "",
				report_2011[i].live,
				report_2011[i].workaround);
	fprintf(f, "}\n  },\n  \"rows\": [\n");
	for (i = 0; i < r->count; i++) {
		json_row(f, r, &r->rows[i]);
		fprintf(f, "%s\n", i + 1 < r->count ? "," : "");
	}
	fprintf(f, "  ]\n}\n");

	return bench_output_close(&out);
}
