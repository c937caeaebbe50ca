// SPDX-License-Identifier: MIT
#include <stdatomic.h>
#include <stdio.h>

#include "guards.h"

/**
 * struct guard - a stack, written by its owner
 * @version: counts changes; odd while the stack is live
 * @start: address where the stack begins
 * @intruded: a mapping has grown into its guard, which the kernel does not
 *	prevent; other mappings may be placed below that. Written by all
 *	threads.
 */
static struct guard {
	atomic_uint version;
	atomic_uintptr_t start;
	atomic_bool intruded;
} guards[GUARDS_THREADS][GUARDS_SLOTS];
static atomic_uint growing[2];

/**
 * guards_off - record that a stack is about to change, or to go
 * @thread: its owner
 * @slot: its number
 */
void guards_off(unsigned int thread, unsigned int slot)
{
	struct guard *g = &guards[thread][slot];

	if (atomic_load(&g->version) & 1)
		atomic_fetch_add(&g->version, 1);
}

/**
 * guards_new - record that a stack is about to be mapped
 * @thread: its owner
 * @slot: its number
 */
void guards_new(unsigned int thread, unsigned int slot)
{
	guards_off(thread, slot);
	atomic_store(&guards[thread][slot].intruded, false);
}

/**
 * guards_on - record that a stack is live, and its guard is free
 * @thread: its owner
 * @slot: its number
 * @start: address where it begins
 */
void guards_on(unsigned int thread, unsigned int slot, uintptr_t start)
{
	struct guard *g = &guards[thread][slot];

	guards_off(thread, slot);
	atomic_store(&g->start, start);
	atomic_fetch_add(&g->version, 1);
}

/**
 * guards_free_below - check whether the guard of a stack is free
 * @start: address where the stack begins
 *
 * If so, it stays free while the stack exists, except for mappings that grow.
 */
bool guards_free_below(uintptr_t start)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	bool is_free = f;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from < start &&
		    to > start - GUARD_BYTES)
			is_free = false;
	if (f)
		fclose(f);
	return is_free;
}

/**
 * guards_look - note all stacks before a call that looks for free addresses
 * @seen: filled in
 */
void guards_look(struct guards_seen *seen)
{
	unsigned int t, i;

	/* Read "ended" first: a call that ends meanwhile counts as running. */
	seen->growing[1] = atomic_load(&growing[1]);
	seen->growing[0] = atomic_load(&growing[0]);
	for (t = 0; t < GUARDS_THREADS; t++)
		for (i = 0; i < GUARDS_SLOTS; i++) {
			seen->version[t][i] = atomic_load(&guards[t][i].version);
			seen->start[t][i] = atomic_load(&guards[t][i].start);
		}
}

/**
 * guards_check - check a new mapping against the guards of the stacks
 * @seen: stacks from before the call
 * @at: where the kernel has placed the mapping
 * @bytes: its length
 * @own: calls of this thread since then that can extend a mapping in place
 * @violated: set to the start of a stack in whose guard it lies, or 0
 *
 * Returns: the number of stacks that were checked
 */
unsigned int guards_check(const struct guards_seen *seen, uintptr_t at,
			  size_t bytes, unsigned int own, uintptr_t *violated)
{
	unsigned int t, i, checked = 0;
	bool grew = seen->growing[0] != seen->growing[1] ||
		    atomic_load(&growing[0]) - seen->growing[0] != own;

	*violated = 0;
	for (t = 0; t < GUARDS_THREADS && !grew; t++)
		for (i = 0; i < GUARDS_SLOTS; i++) {
			uintptr_t start = seen->start[t][i];

			if (!(seen->version[t][i] & 1) ||
			    atomic_load(&guards[t][i].intruded) ||
			    atomic_load(&guards[t][i].version) != seen->version[t][i])
				continue;
			checked++;
			if (at < start && at + bytes > start - GUARD_BYTES)
				*violated = start;
		}
	return checked;
}

/* guards_grow_begin - to be called before a call that can extend a mapping */
void guards_grow_begin(void)
{
	atomic_fetch_add(&growing[0], 1);
}

/**
 * guards_grow_end - to be called after a call that can extend a mapping
 * @at: where the mapping begins now
 * @bytes: its length; 0 if the call failed
 */
void guards_grow_end(uintptr_t at, size_t bytes)
{
	unsigned int t, i;

	for (t = 0; bytes && t < GUARDS_THREADS; t++)
		for (i = 0; i < GUARDS_SLOTS; i++) {
			struct guard *g = &guards[t][i];
			uintptr_t start = atomic_load(&g->start);

			/* Also of a changing stack: it may soon be live. */
			if (at < start && at + bytes > start - 2 * GUARD_BYTES)
				atomic_store(&g->intruded, true);
		}
	atomic_fetch_add(&growing[1], 1);
}
