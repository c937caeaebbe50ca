/* SPDX-License-Identifier: MIT */
/*
 * threads: what it costs to create thousands of threads, as their number grows.
 *
 * threads.c has the command line and starts a process for each run, run.c
 * is that process, limits.c raises the limits that would end it early.
 */
#ifndef THREADS_H
#define THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Threads between two readings of the clocks. */
#define THREADS_CHUNK 1000u

/**
 * struct threads_case - a way to make threads
 * @name: key in the results
 * @live: all are live at once; else each is joined before the next is created
 * @stack: bytes of a stack
 * @own: the program maps the stacks itself, with these flags besides the usual
 *	ones; -1 if the C library does
 * @no_cache: the C library keeps no stacks of threads that have ended
 */
struct threads_case {
	const char *name;
	bool live;
	size_t stack;
	int own;
	bool no_cache;
};

extern const struct threads_case threads_cases[];
const struct threads_case *threads_case_named(const char *name);

/**
 * struct threads_limit - a limit of the system
 * @path: its file in /proc/sys
 * @before: its value before it was raised, 0 if it was not raised
 */
struct threads_limit {
	const char *path;
	unsigned long before;
};

void threads_raise_limits(unsigned int threads);
void threads_restore_limits(void);
const char *threads_limit_reached(unsigned int live);

int threads_run(const struct threads_case *what, unsigned int threads,
		FILE *out);

#endif /* THREADS_H */
