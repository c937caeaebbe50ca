/* SPDX-License-Identifier: MIT */
/*
 * Which stacks of a process are live, so that each new mapping can be held against
 * what has to stay free below them: stack_guard_gap, 256 pages unless the kernel is
 * told another.
 *
 * Each thread says of its own stacks where they begin, and takes that back before
 * it changes one. A thread that maps looks at all before and after: what was there
 * all the time, unchanged, must have kept its guard.
 */
#ifndef GUARDS_H
#define GUARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUARDS_THREADS 16u
#define GUARDS_SLOTS 64u
#define GUARD_BYTES (256u * 4096ul)

/**
 * struct guards_seen - what was there before a search
 * @version: of each stack; odd if it was live
 * @start: where it began
 * @growing: calls that make a mapping longer where it is: begun, ended
 */
struct guards_seen {
	unsigned int version[GUARDS_THREADS][GUARDS_SLOTS];
	uintptr_t start[GUARDS_THREADS][GUARDS_SLOTS];
	unsigned int growing[2];
};

void guards_off(unsigned int thread, unsigned int slot);
void guards_new(unsigned int thread, unsigned int slot);
void guards_on(unsigned int thread, unsigned int slot, uintptr_t start);
bool guards_free_below(uintptr_t start);
void guards_look(struct guards_seen *seen);
unsigned int guards_check(const struct guards_seen *seen, uintptr_t at,
			  size_t bytes, unsigned int own, uintptr_t *violated);
void guards_grow_begin(void);
void guards_grow_end(uintptr_t at, size_t bytes);

#endif
