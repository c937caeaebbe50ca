/* SPDX-License-Identifier: MIT */
/*
 * An address space as a plain array of VMAs, which is kept in both units' trees
 * as well. A VMA that is gone is freed at once, so that the sanitizer finds a
 * tree that looks at it later.
 */
#ifndef SPACE_H
#define SPACE_H

#include "unit.h"

#define SPACE_MAX 400			/* VMAs; no more are made */

struct space {
	struct vm_area_struct *vma[SPACE_MAX + 8];	/* sorted */
	unsigned int count;
	unsigned long end;		/* bytes; all VMAs are below */
	unsigned long guard;		/* stack_guard_gap, bytes */
	unsigned long min;		/* mmap_min_addr */
};

/* A free range between VMAs, which may be empty. */
struct hole {
	unsigned long start, end;
	const struct vm_area_struct *next;	/* NULL behind the last VMA */
	unsigned long guarded;		/* where next's guard begins; end without */
};

/* Random numbers of a seed, the same ones everywhere: 0 to below n. */
void seed_random(unsigned long seed);
unsigned long below(unsigned long n);
bool one_in(unsigned long n);

/* Empty the space, and choose its size and its guard. */
void space_begin(struct space *s);
/* A random change, as the system calls of the mm make them. */
void space_change(struct space *s);
/* Map [start, end), replacing whatever is there; false if there are too many. */
bool space_map(struct space *s, unsigned long start, unsigned long end, unsigned long flags);
bool space_unmap(struct space *s, unsigned long start, unsigned long end);
/* Continue in a child of the process, without some of the VMAs. */
void space_fork(struct space *s);
/* The i-th hole, i from 0 to s->count. */
struct hole space_hole(const struct space *s, unsigned int i);
void space_print(const struct space *s);

#endif
