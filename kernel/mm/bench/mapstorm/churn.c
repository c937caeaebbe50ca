// SPDX-License-Identifier: MIT
/*
 * Unmaps a random live map, and maps another one where the kernel chooses.
 */
#include <string.h>

#include "bench.h"
#include "mapstorm.h"

/**
 * ms_churn - measure munmap() and mmap() of live maps
 * @s: the space, with live maps
 *
 * Writes the rows "unmap", "map" and "pair", which is both together.
 */
void ms_churn(struct ms_space *s)
{
	/* Each search that goes past thousands of guards takes milliseconds. */
	const bool slow = s->guards && s->kind != MS_AMONG;
	const unsigned int n = slow ? (s->quick ? 41 : 101) :
				      (s->quick ? 201 : 2001);
	uint64_t *unmap = s->samples, *map = unmap + MS_SAMPLES_MAX,
		 *pair = map + MS_SAMPLES_MAX;
	const char *error = NULL;
	struct ms_map next, *old;
	uint64_t a, b, c;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		old = &s->live[ms_random(s) % s->count];
		ms_choose(s, &next);
		a = bench_now();
		ret = ms_unmap(old);
		b = bench_now();
		if (!ret)
			ret = ms_map(s, &next);
		c = bench_now();
		if (ret)
			break;
		ms_saw(s, next.address);
		/* With one-page holes, move it back: the layout must stay. */
		if (s->kind == MS_HOLES && next.address != old->address) {
			struct ms_map moved = next;

			if (next.address + MS_PAGE < old->address ||
			    next.address > old->address + MS_PAGE) {
				error = "a map is not where the last one was";
				break;
			}
			next.address = old->address;
			ret = ms_unmap(&moved);
			if (!ret)
				ret = ms_place(s, &next);
			if (ret)
				break;
		}
		*old = next;
		unmap[i] = b - a;
		map[i] = c - b;
		pair[i] = c - a;
	}
	if (!error)
		error = ret ? strerror(-ret) : ms_verify(s);
	ms_row(s, "unmap", n, unmap, error);
	ms_row(s, "map", n, map, error);
	ms_row(s, "pair", n, pair, error);
}
