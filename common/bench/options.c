// SPDX-License-Identifier: MIT
/*
 * Reads command lines by a table, and prints the help that follows from it. Nothing is
 * allocated: some programs measure their own address space.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench-options.h"

static void help(const struct bench_program *program)
{
	const struct bench_option *o;
	const char *line, *end;
	int width = 0, n;

	for (o = program->options; o->name; o++) {
		if (!o->help)
			continue;
		n = strlen(o->name) + (o->argument ? 1 + strlen(o->argument) : 0);
		width = n > width ? n : width;
	}
	printf("usage: %s %s\n\n", program->name, program->line);
	for (o = program->options; o->name; o++) {
		if (!o->help)
			continue;
		n = printf("  --%s%s%s", o->name, o->argument ? " " : "",
			   o->argument ? o->argument : "");
		for (line = o->help; line; line = *end ? end + 1 : NULL) {
			end = strchrnul(line, '\n');
			printf("%*s%.*s\n", width + 6 - n, "", (int)(end - line), line);
			n = 0;
		}
	}
	if (program->end)
		printf("\n%s", program->end);
}

/**
 * bench_options_bad - end the program because of its command line, with status 2
 * @program: the program
 * @format: what is wrong, for printf
 */
void bench_options_bad(const struct bench_program *program, const char *format, ...)
{
	va_list list;

	fprintf(stderr, "%s: ", program->name);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fprintf(stderr, "; see %s --help\n", program->name);
	exit(2);
}

static void take(const struct bench_program *program, const struct bench_option *o,
		 const char *argument)
{
	const char *wrong;
	unsigned long n;
	char *end;

	if (o->flag)
		*o->flag = true;
	if (o->text)
		*o->text = argument;
	if (o->number) {
		n = strtoul(argument, &end, 10);
		if (*argument < '0' || *argument > '9' || *end || n < o->least || n > o->most)
			bench_options_bad(program, "--%s %s: not a number from %u to %u",
					  o->name, argument, o->least, o->most);
		*o->number = n;
	}
	wrong = o->take ? o->take(o->data, argument) : NULL;
	if (wrong)
		bench_options_bad(program, "--%s %s: %s", o->name,
				  argument ? argument : "", wrong);
}

/**
 * bench_options - read a command line
 * @program: its options; what they point to is set
 * @argc: as main() has it
 * @argv: as main() has it
 *
 * --help prints the help and ends the program with status 0; something that is not in
 * the table, a word that is no option, and a bad argument end it with status 2 and a
 * line on stderr.
 */
void bench_options(const struct bench_program *program, int argc, char **argv)
{
	struct option options[BENCH_OPTIONS_MAX + 2] = { 0 };
	unsigned int i;
	int opt;

	for (i = 0; program->options[i].name && i < BENCH_OPTIONS_MAX; i++)
		options[i] = (struct option) {
			.name = program->options[i].name,
			.has_arg = program->options[i].argument ? required_argument : no_argument,
			.val = i,
		};
	options[i] = (struct option) { .name = "help", .val = BENCH_OPTIONS_MAX };
	while ((opt = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (opt == BENCH_OPTIONS_MAX) {
			help(program);
			exit(0);
		}
		/* getopt has said on stderr what is wrong. */
		if (opt == '?')
			exit(2);
		take(program, &program->options[opt], optarg);
	}
	if (optind < argc)
		bench_options_bad(program, "bad argument: %s", argv[optind]);
}
