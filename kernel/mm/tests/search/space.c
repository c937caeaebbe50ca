// SPDX-License-Identifier: MIT
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "space.h"

static uint64_t state;

void seed_random(unsigned long seed)
{
	state = seed * 0x9e3779b97f4a7c15ull + 1;
}

/* xorshift64* */
unsigned long below(unsigned long n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return ((state * 0x2545f4914f6cdd1dull) >> 11) % n;
}

bool one_in(unsigned long n)
{
	return !below(n);
}

static unsigned long pages(unsigned long n)
{
	return n * TEST_PAGE;
}

static void store(unsigned long start, unsigned long end, struct vm_area_struct *vma)
{
	unit_old.store(start, end, vma);
	unit_new.store(start, end, vma);
	unit_up.store(start, end, vma);
}

static struct vm_area_struct *new_vma(unsigned long start, unsigned long end, unsigned long flags)
{
	struct vm_area_struct *vma = malloc(sizeof(*vma));

	*vma = (struct vm_area_struct){ start, end, flags };
	return vma;
}

/* The index of the first VMA that ends behind addr. */
static unsigned int find(const struct space *s, unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < s->count && s->vma[i]->vm_end <= addr; i++)
		;
	return i;
}

static void insert(struct space *s, unsigned int i, struct vm_area_struct *vma)
{
	memmove(s->vma + i + 1, s->vma + i, (s->count - i) * sizeof(*s->vma));
	s->vma[i] = vma;
	s->count++;
}

/* Split the VMA around addr. The new one is either half, as in the kernel. */
static void split(struct space *s, unsigned long addr)
{
	unsigned int i = find(s, addr);
	struct vm_area_struct *vma, *half;

	if (i == s->count || s->vma[i]->vm_start >= addr)
		return;
	vma = s->vma[i];
	half = new_vma(vma->vm_start, vma->vm_end, vma->vm_flags);
	if (one_in(2)) {
		half->vm_start = addr;
		vma->vm_end = addr;
		insert(s, i + 1, half);
	} else {
		half->vm_end = addr;
		vma->vm_start = addr;
		insert(s, i, half);
	}
	store(half->vm_start, half->vm_end, half);
}

/* Replace all mappings in [start, end) by vma, or unmap them if it is NULL. */
static bool replace(struct space *s, unsigned long start, unsigned long end,
		    struct vm_area_struct *vma)
{
	struct vm_area_struct *gone[SPACE_MAX + 8];
	unsigned int first, n = 0;

	split(s, start);
	split(s, end);
	first = find(s, start);
	while (first + n < s->count && s->vma[first + n]->vm_start < end) {
		gone[n] = s->vma[first + n];
		n++;
	}
	memmove(s->vma + first, s->vma + first + n, (s->count - first - n) * sizeof(*s->vma));
	s->count -= n;
	if (vma)
		insert(s, first, vma);
	store(start, end, vma);
	while (n--)
		free(gone[n]);
	return true;
}

bool space_map(struct space *s, unsigned long start, unsigned long end, unsigned long flags)
{
	if (s->count + 3 > SPACE_MAX)
		return false;
	return replace(s, start, end, new_vma(start, end, flags));
}

bool space_unmap(struct space *s, unsigned long start, unsigned long end)
{
	if (s->count + 2 > SPACE_MAX)
		return false;
	return replace(s, start, end, NULL);
}

struct hole space_hole(const struct space *s, unsigned int i)
{
	struct hole h = {
		.start = i ? s->vma[i - 1]->vm_end : 0,
		.end = i < s->count ? s->vma[i]->vm_start : -TEST_PAGE,
		.next = i < s->count ? s->vma[i] : NULL,
	};
	unsigned long guard = 0;

	if (h.next && h.next->vm_flags & TEST_GROWSDOWN)
		guard = s->guard;
	else if (h.next && h.next->vm_flags & TEST_SHADOW_STACK)
		guard = TEST_PAGE;
	h.guarded = h.end > guard ? h.end - guard : 0;
	return h;
}

static struct vm_area_struct *child_of(struct vm_area_struct *parent)
{
	if (one_in(8))
		return NULL;		/* VM_DONTCOPY */
	return new_vma(parent->vm_start, parent->vm_end, parent->vm_flags);
}

/* The child's VMAs. The parent's are freed when all trees have been copied. */
static struct {
	struct vm_area_struct *vma[SPACE_MAX + 8];
	unsigned int next, count;
} forked;

static struct vm_area_struct *make_child(struct vm_area_struct *parent)
{
	return forked.vma[forked.count++] = child_of(parent);
}

/* The same child VMAs, in the same order, for the other trees. */
static struct vm_area_struct *same_child(struct vm_area_struct *parent)
{
	(void)parent;
	return forked.vma[forked.next++];
}

void space_fork(struct space *s)
{
	unsigned int i, n = s->count;

	if (n)
		unit_new.fork_fails(below(n + 1));
	forked.next = forked.count = 0;
	unit_new.fork(make_child);
	unit_old.fork(same_child);
	forked.next = 0;
	unit_up.fork(same_child);
	s->count = 0;
	for (i = 0; i < n; i++) {
		free(s->vma[i]);
		if (forked.vma[i])
			s->vma[s->count++] = forked.vma[i];
	}
}

void space_begin(struct space *s)
{
	static const unsigned int guards[] = { 256, 256, 256, 1, 4, 32, 1000 };

	bool rcu = !one_in(3);

	unit_old.begin(0, 0, rcu);
	unit_new.begin(0, 0, rcu);
	unit_up.begin(0, 0, rcu);
	while (s->count)
		free(s->vma[--s->count]);
	s->guard = pages(guards[below(7)]);
	s->min = one_in(4) ? 0 : pages(16);
	/* From crowded to sparse. With 32 bits, up to the end of the tree. */
	if (sizeof(long) == 8)
		s->end = pages(1ul << (7 + below(14)));
	else
		s->end = one_in(3) ? TEST_TOP : pages(1ul << (7 + below(13)));
	unit_old.begin(s->guard, s->min, rcu);
	unit_new.begin(s->guard, s->min, rcu);
	unit_up.begin(s->guard, s->min, rcu);
}

static unsigned long random_flags(void)
{
	switch (below(6)) {
	case 0: return TEST_GROWSDOWN;
	case 1: return TEST_SHADOW_STACK;
	case 2: return TEST_GROWSUP;
	default: return 0;
	}
}

static unsigned long random_pages(const struct space *s)
{
	unsigned long max = s->end / TEST_PAGE;

	return 1 + below(one_in(8) ? max / 4 : one_in(2) ? 4 : 1 + max / 32);
}

/* Move the start of a VMA down into the hole before it, as if a stack grows. */
static void grow(struct space *s)
{
	unsigned int i = below(s->count);
	struct hole h = space_hole(s, i);
	struct vm_area_struct *vma = s->vma[i];
	unsigned long room = (h.end - h.start) / TEST_PAGE;

	if (!room)
		return;
	vma->vm_start -= pages(one_in(4) ? room : 1 + below(room));
	store(vma->vm_start, vma->vm_end, vma);
}

/* Neighbours become one, as if a merge or mremap() had made them so. */
static void merge(struct space *s)
{
	unsigned int i = below(s->count);

	if (i && s->vma[i - 1]->vm_end == s->vma[i]->vm_start)
		space_map(s, s->vma[i - 1]->vm_start, s->vma[i]->vm_end, s->vma[i]->vm_flags);
}

/*
 * Store a new VMA over the first part of one, or over all of it and the first
 * part of its neighbour, by a single store. The kernel splits VMAs before it
 * does that, but the maple tree does not need it.
 */
static void overlay(struct space *s)
{
	unsigned int i = below(s->count);
	struct vm_area_struct *vma = s->vma[i], *last = vma, *new;

	if (i + 1 < s->count && s->vma[i + 1]->vm_start == vma->vm_end && one_in(2))
		last = s->vma[i + 1];
	if (last->vm_end - last->vm_start == TEST_PAGE || s->count + 1 > SPACE_MAX)
		return;
	new = new_vma(vma->vm_start, last->vm_start +
		      pages(1 + below((last->vm_end - last->vm_start) / TEST_PAGE - 1)), random_flags());
	last->vm_start = new->vm_end;
	store(new->vm_start, new->vm_end, new);
	if (last == vma) {
		insert(s, i, new);
	} else {
		s->vma[i] = new;
		free(vma);
	}
}

void space_change(struct space *s)
{
	unsigned long length = pages(random_pages(s));
	unsigned long start = pages(below(s->end / TEST_PAGE));
	const struct vm_area_struct *vma = s->count ? s->vma[below(s->count)] : NULL;

	if (length > s->end - start)
		length = s->end - start;
	switch (below(vma ? 13 : 1)) {
	default:
		space_map(s, start, start + length, random_flags());
		break;
	case 1:
		space_unmap(s, start, start + length);
		break;
	case 2:
		space_unmap(s, vma->vm_start, vma->vm_end);
		break;
	case 3:			/* MAP_FIXED on exactly this one */
		space_map(s, vma->vm_start, vma->vm_end, random_flags());
		break;
	case 4:			/* one end of it */
		space_map(s, vma->vm_start, vma->vm_start +
			  pages(1 + below((vma->vm_end - vma->vm_start) / TEST_PAGE)), random_flags());
		break;
	case 5:
		space_map(s, vma->vm_start +
			  pages(below((vma->vm_end - vma->vm_start) / TEST_PAGE)), vma->vm_end, random_flags());
		break;
	case 6:
		grow(s);
		break;
	case 7:
		merge(s);
		break;
	case 8:
		overlay(s);
		break;
	}
	if (one_in(64))
		space_fork(s);
}

void space_print(const struct space *s)
{
	unsigned int i;

	fprintf(stderr, "guard %#lx, minimum %#lx\n", s->guard, s->min);
	for (i = 0; i < s->count; i++)
		fprintf(stderr, "%#lx-%#lx%s%s%s\n", s->vma[i]->vm_start, s->vma[i]->vm_end,
			s->vma[i]->vm_flags & TEST_GROWSDOWN ? " grows down" : "",
			s->vma[i]->vm_flags & TEST_SHADOW_STACK ? " shadow stack" : "",
			s->vma[i]->vm_flags & TEST_GROWSUP ? " grows up" : "");
}
