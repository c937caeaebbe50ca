// SPDX-License-Identifier: MIT
/*
 * The results of transfer-paths, as JSON.
 */
#include <string.h>

#include "bench-json.h"
#include "transfer-paths.h"

/* Adds an object of the values that are not zero, by name. */
static void numbers(struct json_object *o, const char *key,
		    const char * const *names, const uint64_t *values,
		    unsigned int n)
{
	struct json_object *some = json_object_new_object();
	unsigned int i;

	for (i = 0; i < n; i++)
		if (values[i])
			bench_json_add_number(some, names[i], values[i]);
	json_object_object_add(o, key, some);
}

static void spread(struct json_object *o, const struct tp_row *row)
{
	const struct bench_stat *s = &row->stat;
	const struct { const char *key; uint64_t value; } values[] = {
		{ "min", row->min }, { "p10", s->p10 }, { "p25", s->p25 },
		{ "median", s->median }, { "p75", s->p75 }, { "p90", s->p90 },
		{ "max", row->max },
	};
	unsigned int i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (row->samples)
			bench_json_add_number(o, values[i].key, values[i].value);
		else
			json_object_object_add(o, values[i].key, NULL);
	}
}

static struct json_object *write_row(const struct tp_run *run,
				     const struct tp_row *row)
{
	struct json_object *o = json_object_new_object();
	struct json_object *top = json_object_new_object();
	unsigned int i;

	bench_json_add_string(o, "case", row->kind);
	bench_json_add_string(o, "placement", row->placement);
	bench_json_add_number(o, "bytes", row->bytes);
	bench_json_add_number(o, "units", row->units);
	bench_json_add_string(o, "arm", row->arm);
	bench_json_add_number(o, "samples", row->samples);
	json_object_object_add(o, "settings",
			       json_object_new_string(row->settings));
	spread(o, row);
	bench_json_add_list(o, "turn_medians", row->turn_medians, row->turns);
	bench_json_add_list(o, "values", row->values, row->value_count);
	numbers(o, "chunks", tp_path_names, row->counters.chunks, TP_PATHS);
	numbers(o, "path_bytes", tp_path_names, row->counters.bytes, TP_PATHS);
	numbers(o, "events", tp_event_names, row->counters.events, TP_EVENTS);
	if (run->has_board)
		numbers(o, "board", tp_board_names, row->counters.board,
			TP_BOARD);
	else
		json_object_object_add(o, "board", NULL);
	bench_json_add_number(o, "top_samples", row->top_samples);
	for (i = 0; i < row->top_count; i++)
		bench_json_add_number(top, row->top[i].name, row->top[i].hits);
	json_object_object_add(o, "top", top);
	if (row->cost_ops) {
		numbers(o, "costs", tp_cost_names, row->costs, TP_COSTS);
		bench_json_add_number(o, "cost_ops", row->cost_ops);
	}
	if (!strcmp(row->kind, "busy")) {
		bench_json_add_number(o, "waited", row->waited);
		bench_json_add_number(o, "captured", row->captured);
	}
	if (row->lost)
		json_object_object_add(o, "lost", json_object_new_boolean(true));
	bench_json_add_number(o, "verified", row->verified);
	bench_json_add_string(o, "error", row->error);
	return o;
}

/**
 * tp_write_json - write the results
 * @run: the run
 * @path: file
 */
int tp_write_json(const struct tp_run *run, const char *path)
{
	struct json_object *root = json_object_new_object();
	struct json_object *env = bench_json_environment(&run->dev);
	struct json_object *rows = json_object_new_array();
	unsigned int i;

	bench_json_add_string(root, "benchmark", "transfer-paths");
	bench_json_add_string(root, "unit",
			      run->options->count ? "instructions" : "ns");
	bench_json_add_number(env, "clock_cost", run->clock_cost);
	bench_json_add_number(env, "turns", run->turns);
	json_object_object_add(env, "board",
			       json_object_new_boolean(run->has_board));
	json_object_object_add(env, "write_combined",
			       json_object_new_boolean(run->write_combined));
	json_object_object_add(root, "environment", env);
	for (i = 0; i < run->row_count; i++)
		json_object_array_add(rows, write_row(run, &run->rows[i]));
	json_object_object_add(root, "rows", rows);
	return bench_json_write(path, root);
}
