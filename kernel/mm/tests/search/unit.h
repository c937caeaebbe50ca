/* SPDX-License-Identifier: MIT */
/*
 * One kernel's search for unmapped areas, in user space: its maple tree, and
 * unmapped_area() and unmapped_area_topdown() as they are in its mm/mmap.c.
 */
#ifndef UNIT_H
#define UNIT_H

#include <stdbool.h>

#define TEST_PAGE 4096ul
/* No search goes higher: TASK_SIZE, in bytes. */
#define TEST_TOP (sizeof(long) == 8 ? ~0ul / 4096 - 4095 : 0xf0000000ul)

/* The members of a VMA that the search looks at. */
struct vm_area_struct {
	unsigned long vm_start;		/* bytes */
	unsigned long vm_end;		/* bytes, behind the last */
	unsigned long vm_flags;
	unsigned long asked;		/* times its guard was asked for */
};

#define TEST_GROWSDOWN 0x100ul
#define TEST_GROWSUP 0x200ul	/* looked at by unit_up only */
#define TEST_SHADOW_STACK 0x400ul
#define TEST_STACKS (TEST_GROWSDOWN | TEST_SHADOW_STACK)

/* A request, in bytes; see struct vm_unmapped_area_info for the members. */
struct query {
	bool topdown;
	unsigned long length, low, high, align_mask, align_offset, start_gap;
};

/* Steps that the searches have done since these were set to 0. */
struct steps {
	unsigned long nodes;		/* nodes of the tree looked at */
	unsigned long slots;		/* slots of these looked at */
};

struct unit {
	/*
	 * Begin with an empty tree. guard: stack_guard_gap, bytes; min:
	 * mmap_min_addr, bytes; rcu: the tree is in RCU mode, as mm's is,
	 * else nodes are changed in place.
	 */
	void (*begin)(unsigned long guard, unsigned long min, bool rcu);
	/* Store vma (NULL: unmap) for [start, end), over all that is there. */
	void (*store)(unsigned long start, unsigned long end, struct vm_area_struct *vma);
	/* Returns an address, or -ENOMEM as unsigned long. */
	unsigned long (*search)(const struct query *q);
	/*
	 * Replace the tree by a copy of it, as fork makes it: each VMA becomes
	 * what child() returns for it, or is unmapped if that is NULL.
	 */
	void (*fork)(struct vm_area_struct *(*child)(struct vm_area_struct *parent));
	/* Copy the tree as a fork that fails at the n-th VMA; keep the tree. */
	void (*fork_fails)(unsigned int n);
	/* Returns whether mt_validate() finds no error. */
	bool (*valid)(void);
	/* Returns the number of levels of the tree. */
	unsigned int (*height)(void);
	struct steps *steps;
};

/* Without the patches, with them, and with them where stacks grow up (parisc). */
extern const struct unit unit_old, unit_new, unit_up;

#endif
