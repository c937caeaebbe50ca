// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

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

/* Reads a hexadecimal number of a stream of characters: adds a digit. */
static bool hex_digit(char c, uintptr_t *number)
{
	unsigned int digit;

	if (c >= '0' && c <= '9')
		digit = c - '0';
	else if (c >= 'a' && c <= 'f')
		digit = c - 'a' + 10;
	else
		return false;
	*number = *number << 4 | digit;
	return true;
}

/**
 * guards_free_below - check whether the guard of a stack is free
 * @start: address where the stack begins
 *
 * If so, it stays free while the stack exists, except for mappings that grow.
 * Children of a process with threads call this, too: nothing here takes a lock
 * of the C library, which another thread could hold for ever in the child.
 */
bool guards_free_below(uintptr_t start)
{
	enum { FROM, TO, REST } field = FROM;
	uintptr_t from = 0, to = 0;
	bool is_free = true;
	char text[4096];
	ssize_t n, i;
	int fd;

	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	/* A line may begin in one part and end in the next one. */
	while ((n = read(fd, text, sizeof(text))) > 0)
		for (i = 0; i < n; i++) {
			if (text[i] == '\n') {
				field = FROM;
				from = 0;
				to = 0;
			} else if (field == FROM && !hex_digit(text[i], &from)) {
				field = TO;
			} else if (field == TO && !hex_digit(text[i], &to)) {
				field = REST;
				if (from < start && to > start - GUARD_BYTES)
					is_free = false;
			}
		}
	close(fd);
	return is_free && !n;
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
