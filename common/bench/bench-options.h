/* SPDX-License-Identifier: MIT */
/*
 * Command lines of the programs (options.c): a table says which options there are,
 * what they set and what --help says of them.
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>

#define BENCH_OPTIONS_MAX 16

/* What --help says of --count, in all programs that have it. */
#define BENCH_COUNT_HELP \
	"count instructions: for machines whose clock goes on by 1 ns\n" \
	"with each of them (lab/run --accel icount --smp 1)"

/**
 * struct bench_option - an option of a program, --name or --name ARGUMENT
 * @name: without its dashes
 * @argument: word that stands for the argument in the help; NULL if there is none
 * @help: what it does; lines after the first are indented by the help. NULL: --help does
 *	not name the option, as the program gives it to processes of its own
 * @flag: is set to true; an option without argument has this or @take
 * @text: is set to the argument
 * @number: is set to the argument, a decimal number from @least to @most
 * @least: see @number
 * @most: see @number
 * @take: is called with @data and the argument (NULL if there is none); returns NULL,
 *	or what is wrong with the argument ("no such scene")
 * @data: for @take
 *
 * Of @flag, @text, @number and @take those that are not NULL are used.
 */
struct bench_option {
	const char *name, *argument, *help;
	bool *flag;
	const char **text;
	unsigned int *number, least, most;
	const char *(*take)(void *data, const char *argument);
	void *data;
};

/**
 * struct bench_program - what --help says before and after the options
 * @name: name of the program
 * @line: its arguments, as after "usage: NAME"; "[OPTION...]"
 * @end: text below the options
 * @options: ends with one without name; at most BENCH_OPTIONS_MAX
 */
struct bench_program {
	const char *name, *line, *end;
	const struct bench_option *options;
};

void bench_options(const struct bench_program *program, int argc, char **argv);
void bench_options_bad(const struct bench_program *program, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

#endif /* BENCH_OPTIONS_H */
