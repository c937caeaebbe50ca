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

/* Of all that a VMA has, what the search looks at. */
struct vm_area_struct {
	unsigned long vm_start;		/* bytes */
	unsigned long vm_end;		/* bytes, behind the last */
	unsigned long vm_flags;
	unsigned long asked;		/* how often for its guard */
};

#define TEST_GROWSDOWN 0x100ul
#define TEST_GROWSUP 0x200ul	/* looked at by unit_up only */
#define TEST_SHADOW_STACK 0x400ul
#define TEST_STACKS (TEST_GROWSDOWN | TEST_SHADOW_STACK)

/* A request, in bytes; what they mean is in vm_unmapped_area(). */
struct query {
	bool topdown;
	unsigned long length, low, high, align_mask, align_offset, start_gap;
};

/* What the searches have done since they were set to 0. */
struct steps {
	unsigned long nodes;		/* of the maple tree, looked at */
	unsigned long slots;		/* of these */
};

struct unit {
	/*
	 * Begin with an empty tree. guard: stack_guard_gap, bytes; min:
	 * mmap_min_addr; rcu: as in mm, or nodes are changed in place.
	 */
	void (*begin)(unsigned long guard, unsigned long min, bool rcu);
	/* Store vma (NULL: unmap) for [start, end), whatever is there. */
	void (*store)(unsigned long start, unsigned long end, struct vm_area_struct *vma);
	/* An address, or -ENOMEM as unsigned long. */
	unsigned long (*search)(const struct query *q);
	/*
	 * As fork does: go on with a copy of the tree, in which each VMA is
	 * replaced by what child() returns for it, or unmapped if that is NULL.
	 */
	void (*fork)(struct vm_area_struct *(*child)(struct vm_area_struct *parent));
	/* As a fork that fails at the n-th VMA; the tree stays as it was. */
	void (*fork_fails)(unsigned int n);
	/* Whether mt_validate() has nothing to say. */
	bool (*valid)(void);
	/* Levels of the tree. */
	unsigned int (*height)(void);
	struct steps *steps;
};

/* Without the patches, with them, and with them where stacks grow up (parisc). */
extern const struct unit unit_old, unit_new, unit_up;

#endif
