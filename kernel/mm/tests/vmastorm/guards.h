/* SPDX-License-Identifier: MIT */
/*
 * The live stacks of a process, so that each new mapping can be checked against
 * the guards below them: stack_guard_gap, 256 pages unless the kernel's command
 * line sets another size.
 *
 * Each thread records where its own stacks begin, and removes the record of one
 * before it changes it. A thread that maps looks at all records before and
 * after the call: the mapping must not lie in the guard of a stack that was
 * live all the time, unchanged.
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
 * struct guards_seen - the stacks before a search
 * @version: version of each stack; odd if it was live
 * @start: its start
 * @growing: number of calls that can extend a mapping in place: begun, ended
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
