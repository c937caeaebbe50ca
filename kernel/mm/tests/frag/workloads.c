// SPDX-License-Identifier: MIT
/*
 * Workloads: sequences of maps and unmaps.
 *
 * five      the example of 2005: map five regions of one size, unmap 4, 2 and 3,
 *           map one.
 * long-32   the long run of 2005, in the window of its 32-bit process; long-64,
 *           the same in a process of today; long-ia32, by 32-bit system calls
 *           of the running kernel. Bug 4520 of April 2005 describes it:
 *           600 places in a ring; each step unmaps the one that is 60 ahead
 *           and maps the current one; every eighth has 9,500,000 bytes, those
 *           between 1 to 7 MiB. It ends at the first failure, or after
 *           1,000,000 steps. The bug does not say how large the libraries are
 *           and where: here, 2 MiB at the base. Later versions of the program
 *           are not known to us.
 * mix       1,000 places; each step unmaps or maps a random one: 70 % 1 to 16
 *           pages, 25 % up to 1 MiB, 5 % up to 16 MiB, one in ten of those and
 *           of whole huge pages.
 * guards    the same, with every fourth place a MAP_GROWSDOWN mapping.
 * stacks    the threads of 2005 (test_str02): 20,000 stacks of 64 KiB, all kept,
 *           none merged with the next. The report has seconds; models count
 *           the areas that all searches look at.
 */
#include <string.h>

#include "frag.h"

/**
 * frag_random - get the next of a sequence of random numbers (splitmix64)
 * @state: state of the sequence; begins with the seed
 */
uint64_t frag_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Maps, and records the address in the trace. Sets full when that is full. */
static uint64_t map(struct frag_backend *to, uint64_t length,
		    enum frag_kind kind, bool *full)
{
	uint64_t start = to->map(to->context, length, kind);

	if (to->trace) {
		to->trace[to->used++] = start;
		*full = to->used == to->room;
	}
	return start;
}

/**
 * frag_five - run the example of 2005
 * @to: backend
 * @length: pages of a region
 * @regions: gets the first pages of the five regions
 *
 * Returns: the first page of the last mapping
 */
uint64_t frag_five(struct frag_backend *to, uint64_t length,
		   uint64_t regions[5])
{
	static const int order[] = { 4, 2, 3 };
	bool full = false;
	int i;

	for (i = 0; i < 5; i++)
		regions[i] = map(to, length, FRAG_PLAIN, &full);
	for (i = 0; i < 3; i++)
		to->unmap(to->context, regions[order[i] - 1], length);
	return map(to, length, FRAG_PLAIN, &full);
}

static uint64_t run_five(struct frag_backend *to, uint64_t steps, uint64_t seed)
{
	uint64_t regions[5];

	(void)seed;
	frag_five(to, 1, regions);
	return steps;
}

#define RING 600u
#define AHEAD 60u

static uint64_t ring_pages(unsigned int place)
{
	uint64_t bytes = place % 8 ? place % 8 << 20 : 9500000;

	return (bytes + FRAG_PAGE - 1) / FRAG_PAGE;
}

static uint64_t run_long(struct frag_backend *to, uint64_t steps, uint64_t seed)
{
	uint64_t start[RING], i;
	bool full = false;

	(void)seed;
	memset(start, 0xff, sizeof(start));
	for (i = 0; i < steps && !full; i++) {
		unsigned int out = (i + AHEAD) % RING, in = i % RING;

		if (start[out] != FRAG_NONE)
			to->unmap(to->context, start[out], ring_pages(out));
		start[out] = FRAG_NONE;
		start[in] = map(to, ring_pages(in), FRAG_PLAIN, &full);
		if (start[in] == FRAG_NONE)
			break;
	}
	return i;
}

#define PLACES 1000u

static uint64_t mixed_pages(uint64_t *state)
{
	unsigned int percent = frag_random(state) % 100;
	uint64_t pages;

	if (percent < 70)
		return 1 + frag_random(state) % 16;
	if (percent < 95)
		return 17 + frag_random(state) % 240;
	pages = 257 + frag_random(state) % 3840;
	return frag_random(state) % 10 ? pages :
					 (pages / FRAG_HUGE + 1) * FRAG_HUGE;
}

static uint64_t mixed(struct frag_backend *to, uint64_t steps, uint64_t seed,
		      bool guards)
{
	uint64_t start[PLACES], pages[PLACES], i;
	bool full = false;

	memset(start, 0xff, sizeof(start));
	for (i = 0; i < steps && !full; i++) {
		unsigned int place = frag_random(&seed) % PLACES;

		if (start[place] != FRAG_NONE) {
			to->unmap(to->context, start[place], pages[place]);
			start[place] = FRAG_NONE;
			continue;
		}
		pages[place] = mixed_pages(&seed);
		start[place] = map(to, pages[place],
				   guards && place % 4 == 0 ? FRAG_STACK :
							      FRAG_PLAIN,
				   &full);
	}
	return i;
}

static uint64_t run_mix(struct frag_backend *to, uint64_t steps, uint64_t seed)
{
	return mixed(to, steps, seed, false);
}

static uint64_t run_guards(struct frag_backend *to, uint64_t steps,
			   uint64_t seed)
{
	return mixed(to, steps, seed, true);
}

static uint64_t run_stacks(struct frag_backend *to, uint64_t steps,
			   uint64_t seed)
{
	bool full = false;
	uint64_t i;

	(void)seed;
	for (i = 0; i < steps && !full; i++)
		if (map(to, FRAG_STACK_PAGES, FRAG_FIXED, &full) == FRAG_NONE)
			break;
	return i;
}

const struct frag_workload frag_workloads[] = {
	{ .name = "five", .steps = 1, .run = run_five },
	{ .name = "long-32", .steps = 1000000, .window = FRAG_32BIT_WINDOW,
	  .run = run_long },
	{ .name = "long-ia32", .steps = 1000000, .compat = true,
	  .run = run_long },
	{ .name = "long-64", .steps = 1000000, .run = run_long },
	{ .name = "mix", .steps = 200000, .run = run_mix },
	{ .name = "guards", .steps = 200000, .guards = true,
	  .run = run_guards },
	{ .name = "stacks", .steps = 20000, .window = FRAG_32BIT_WINDOW,
	  .models = true, .run = run_stacks },
};

const unsigned int frag_workload_count =
	sizeof(frag_workloads) / sizeof(*frag_workloads);
