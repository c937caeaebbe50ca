// SPDX-License-Identifier: MIT
/*
 * What transfer-paths found, as JSON.
 */
#include "transfer-paths.h"

#define LLU(x) ((unsigned long long)(x))

static void numbers(FILE *f, const char *name, const char * const *names,
		    const uint64_t *values, unsigned int n)
{
	unsigned int i, some = 0;

	fprintf(f, ", \"%s\": {", name);
	for (i = 0; i < n; i++)
		if (values[i])
			fprintf(f, "%s\"%s\": %llu", some++ ? ", " : "",
				names[i], LLU(values[i]));
	fprintf(f, "}");
}

static void list(FILE *f, const char *name, const uint64_t *values,
		 unsigned int n)
{
	unsigned int i;

	fprintf(f, ", \"%s\": [", name);
	for (i = 0; i < n; i++)
		fprintf(f, "%s%llu", i ? ", " : "", LLU(values[i]));
	fprintf(f, "]");
}

static void write_row(FILE *f, const struct tp_run *run,
		      const struct tp_row *row)
{
	const struct bench_stat *s = &row->stat;
	unsigned int i;

	fprintf(f, "    {\"case\": \"%s\", \"placement\": \"%s\", \"bytes\": %llu, \"units\": %u, \"arm\": \"%s\", \"samples\": %u",
		row->kind, row->placement, LLU(row->bytes), row->units,
		row->arm, row->samples);
	fprintf(f, ", \"settings\": ");
	bench_json_string(f, row->settings);
	if (row->samples)
		fprintf(f, ", \"min\": %llu, \"p10\": %llu, \"p25\": %llu, \"median\": %llu, \"p75\": %llu, \"p90\": %llu, \"max\": %llu",
			LLU(row->min), LLU(s->p10), LLU(s->p25), LLU(s->median),
			LLU(s->p75), LLU(s->p90), LLU(row->max));
	else
		fprintf(f, ", \"min\": null, \"p10\": null, \"p25\": null, \"median\": null, \"p75\": null, \"p90\": null, \"max\": null");
	list(f, "turn_medians", row->turn_medians, row->turns);
	list(f, "values", row->values, row->value_count);
	numbers(f, "chunks", tp_path_names, row->counters.chunks, TP_PATHS);
	numbers(f, "path_bytes", tp_path_names, row->counters.bytes, TP_PATHS);
	numbers(f, "events", tp_event_names, row->counters.events, TP_EVENTS);
	if (run->has_board)
		numbers(f, "board", tp_board_names, row->counters.board,
			TP_BOARD);
	else
		fprintf(f, ", \"board\": null");
	fprintf(f, ", \"top_samples\": %u, \"top\": {", row->top_samples);
	for (i = 0; i < row->top_count; i++) {
		if (i)
			fprintf(f, ", ");
		bench_json_string(f, row->top[i].name);
		fprintf(f, ": %u", row->top[i].hits);
	}
	fprintf(f, "}, \"verified\": %u, \"error\": ", row->verified);
	if (row->error[0])
		bench_json_string(f, row->error);
	else
		fprintf(f, "null");
	fprintf(f, "}");
}

/**
 * tp_write_json - write the results
 * @run: the run
 * @path: file
 */
int tp_write_json(const struct tp_run *run, const char *path)
{
	struct bench_output out;
	unsigned int i;
	int ret = bench_output_open(&out, path);
	FILE *f = out.file;

	if (ret)
		return ret;

	fprintf(f, "{\n  \"benchmark\": \"transfer-paths\",\n");
	fprintf(f, "  \"unit\": \"%s\",\n",
		run->options->count ? "instructions" : "ns");
	bench_json_environment(f, &run->dev);
	fprintf(f, ",\n    \"clock_cost\": %llu", LLU(run->clock_cost));
	fprintf(f, ",\n    \"turns\": %u", run->turns);
	fprintf(f, ",\n    \"board\": %s\n  },\n",
		run->has_board ? "true" : "false");
	fprintf(f, "  \"rows\": [\n");
	for (i = 0; i < run->row_count; i++) {
		write_row(f, run, &run->rows[i]);
		fprintf(f, "%s\n", i + 1 < run->row_count ? "," : "");
	}
	fprintf(f, "  ]\n}\n");

	return bench_output_close(&out);
}
