// SPDX-License-Identifier: MIT
/*
 * Tests each model against a statement of its rule. A statement knows only
 * which page belongs to which area, and looks at all pages. A test is a random
 * sequence of maps and unmaps in a small window with obstacles; after each step
 * the addresses, the caches and all pages have to be the same.
 *
 * Each statement is also tested against the other models, and has to differ
 * from them: one that cannot tell models apart finds no mistakes.
 */
#include <stdlib.h>
#include <string.h>

#include "frag.h"

#define WINDOW 6000u
#define LIVE 64u
#define FREE 0u
#define LOW 1000u

/**
 * struct pages - a space as a list of pages
 * @owner: of each page of the window: 0 if it is free, else an area
 * @kind: of each page
 * @topdown: look from above
 * @thp: which mappings are aligned to huge pages
 * @cache: free_area_cache, an index
 * @hole: cached_hole_size, in pages
 * @areas: areas made so far; the number of the newest
 */
struct pages {
	unsigned int owner[WINDOW];
	enum frag_kind kind[WINDOW];
	bool topdown;
	enum frag_thp thp;
	uint64_t cache, hole;
	unsigned int areas;
};

static bool all_free(const struct pages *p, uint64_t at, uint64_t length)
{
	uint64_t i;

	if (at + length > WINDOW)
		return false;
	for (i = 0; i < length; i++)
		if (p->owner[at + i] != FREE)
			return false;
	return true;
}

static uint64_t lowest_free(const struct pages *p, uint64_t from,
			    uint64_t length)
{
	for (; from + length <= WINDOW; from++)
		if (all_free(p, from, length))
			return from;
	return FRAG_NONE;
}

/* The highest free range of length pages that ends at or below a page. */
static uint64_t highest_free(const struct pages *p, uint64_t end,
			     uint64_t length)
{
	for (; end >= length; end--)
		if (all_free(p, end - length, length))
			return end - length;
	return FRAG_NONE;
}

/* The first page from a page on that is not free, or WINDOW. */
static uint64_t next_used(const struct pages *p, uint64_t from)
{
	while (from < WINDOW && p->owner[from] == FREE)
		from++;
	return from;
}

/* Page behind the last area below a page. */
static uint64_t hole_start(const struct pages *p, uint64_t at)
{
	while (at && p->owner[at - 1] == FREE)
		at--;
	return at;
}

/* Whether a mapping here leaves the next area its guard gap, if it has one. */
static bool guard_kept(const struct pages *p, uint64_t at, uint64_t length)
{
	uint64_t next = next_used(p, at + length);

	return next == WINDOW || p->kind[next] != FRAG_STACK ||
	       at + length + FRAG_GUARD <= next;
}

/*
 * The largest of the free ranges between from and to that are followed by an
 * area.
 */
static uint64_t passed(const struct pages *p, uint64_t from, uint64_t to)
{
	uint64_t largest = 0, i, run = 0;

	for (i = from; i < to; i++) {
		run = p->owner[i] == FREE ? run + 1 : 0;
		if (run > largest && next_used(p, i) < WINDOW)
			largest = run;
	}
	return largest;
}

static uint64_t state_first_fit(struct pages *p, uint64_t length)
{
	return lowest_free(p, 0, length);
}

static uint64_t state_cache(struct pages *p, uint64_t length)
{
	uint64_t at;

	if (p->topdown) {
		at = FRAG_NONE;
		if (p->cache >= length && all_free(p, p->cache - length, length))
			at = p->cache - length;
		if (at == FRAG_NONE)
			at = highest_free(p, WINDOW, length);
		p->cache = at == FRAG_NONE ? WINDOW : at;
		if (at == FRAG_NONE)
			p->hole = UINT64_MAX;
		return at;
	}
	at = lowest_free(p, p->cache, length);
	if (at == FRAG_NONE)
		at = lowest_free(p, 0, length);
	if (at != FRAG_NONE)
		p->cache = at + length;
	return at;
}

/* The largest hole as a walk from above sees it: a hole is what lies between a
 * candidate's start and the area that is in its way. */
static uint64_t passed_down(const struct pages *p, uint64_t length,
			    uint64_t hole)
{
	uint64_t end = WINDOW, way;

	while (end >= length && !all_free(p, end - length, length)) {
		way = next_used(p, end - length);
		/* It may have begun before the candidate. */
		while (way && p->owner[way - 1] == p->owner[way])
			way--;
		if (way > end - length && way - (end - length) > hole)
			hole = way - (end - length);
		end = way;
	}
	return hole;
}

static uint64_t state_hole(struct pages *p, uint64_t length)
{
	uint64_t from = p->cache, at, seen;

	if (length <= p->hole) {
		p->hole = 0;
		from = p->topdown ? WINDOW : 0;
	}
	if (p->topdown) {
		p->cache = from;
		if (p->cache < length ||
		    !all_free(p, p->cache - length, length))
			p->hole = passed_down(p, length, p->hole);
		return state_cache(p, length);
	}
	at = lowest_free(p, from, length);
	if (at == FRAG_NONE && from) {
		from = p->hole = 0;
		at = lowest_free(p, 0, length);
	}
	seen = passed(p, from, at == FRAG_NONE ? WINDOW : at);
	if (p->hole < seen)
		p->hole = seen;
	if (at != FRAG_NONE)
		p->cache = at + length;
	return at;
}

static uint64_t state_best_fit(struct pages *p, uint64_t length)
{
	uint64_t at, end, best = FRAG_NONE, size = UINT64_MAX;

	for (at = 0; at < WINDOW; at = end) {
		end = next_used(p, at);
		if (end - at >= length && end - at < size) {
			size = end - at;
			best = p->topdown ? end - length : at;
		}
		while (end < WINDOW && p->owner[end] != FREE)
			end++;
	}
	return best;
}

static uint64_t state_gap_tree(struct pages *p, uint64_t length)
{
	return p->topdown ? highest_free(p, WINDOW, length) :
			    lowest_free(p, 0, length);
}

static uint64_t usable(struct pages *p, uint64_t length)
{
	uint64_t at, i;

	for (i = 0; i + length <= WINDOW; i++) {
		at = p->topdown ? WINDOW - length - i : i;
		if (all_free(p, at, length) && guard_kept(p, at, length))
			return at;
	}
	return FRAG_NONE;
}

/* A search by retries. From above it skips all addresses within a guard gap. */
static uint64_t retried(struct pages *p, uint64_t length)
{
	uint64_t end = WINDOW, at = FRAG_NONE, next;
	bool up = p->topdown;

	while (up) {
		at = highest_free(p, end, length);
		if (at == FRAG_NONE)
			break;
		next = next_used(p, at + length);
		if (guard_kept(p, at, length))
			return at;
		if (next < FRAG_GUARD)
			break;
		end = next - FRAG_GUARD;
	}
	p->topdown = false;
	at = usable(p, length);
	p->topdown = up;
	return at;
}

static uint64_t aligned(struct pages *p, uint64_t length,
			uint64_t (*find)(struct pages *p, uint64_t length))
{
	uint64_t at = FRAG_NONE;

	if (p->thp != FRAG_THP_NONE && length >= FRAG_HUGE &&
	    (p->thp == FRAG_THP_LARGE || length % FRAG_HUGE == 0))
		at = find(p, length + FRAG_HUGE);
	if (at == FRAG_NONE)
		return find(p, length);
	/* The last aligned place in it from above, the first one from below. */
	if (p->topdown)
		for (at += FRAG_HUGE; (LOW + at) % FRAG_HUGE; at--)
			;
	else
		for (; (LOW + at) % FRAG_HUGE; at++)
			;
	return at;
}

static uint64_t state_gap_retry(struct pages *p, uint64_t length)
{
	return aligned(p, length, retried);
}

static uint64_t state_gap_usable(struct pages *p, uint64_t length)
{
	return aligned(p, length, usable);
}

static void freed_cache(struct pages *p, uint64_t at, uint64_t length)
{
	if (p->topdown)
		p->cache = p->cache > at + length ? p->cache : at + length;
	else
		p->cache = p->cache < at ? p->cache : at;
}

static void freed_cache_last(struct pages *p, uint64_t at, uint64_t length)
{
	p->cache = p->topdown ? at + length : at;
}

static void freed_hole(struct pages *p, uint64_t at, uint64_t length)
{
	if (p->topdown)
		freed_cache(p, at, length);
	else if (at < p->cache)
		p->hole = length > p->hole ? length : UINT64_MAX;
}

static void freed_hole_merged(struct pages *p, uint64_t at, uint64_t length)
{
	uint64_t from = hole_start(p, at), to = next_used(p, at + length);

	if (p->topdown) {
		freed_cache(p, from, to - from);
	} else if (from && from < p->cache) {
		/* At 0 the free range goes on below TASK_UNMAPPED_BASE. */
		p->cache = from;
		p->hole = UINT64_MAX;
	}
}

/**
 * struct statement - the rule of a model, stated for pages
 * @model: the model
 * @find: returns where it has to map, or FRAG_NONE
 * @freed: called when pages have been unmapped; NULL if the rule has no cache
 */
static const struct statement {
	const struct frag_model *model;
	uint64_t (*find)(struct pages *p, uint64_t length);
	void (*freed)(struct pages *p, uint64_t at, uint64_t length);
} statements[] = {
	{ &frag_first_fit, state_first_fit, NULL },
	{ &frag_cache, state_cache, freed_cache },
	{ &frag_cache_last, state_cache, freed_cache_last },
	{ &frag_hole, state_hole, freed_hole },
	{ &frag_hole_merged, state_hole, freed_hole_merged },
	{ &frag_best_fit, state_best_fit, NULL },
	{ &frag_gap_tree, state_gap_tree, NULL },
	{ &frag_gap_retry, state_gap_retry, NULL },
	{ &frag_gap_usable, state_gap_usable, NULL },
};

#define STATEMENTS (sizeof(statements) / sizeof(*statements))

static void take(struct pages *p, uint64_t at, uint64_t length,
		 enum frag_kind kind)
{
	unsigned int owner = ++p->areas;
	uint64_t i;

	if (kind != FRAG_FIXED && at && p->owner[at - 1] != FREE &&
	    p->kind[at - 1] == kind)
		owner = p->owner[at - 1];
	for (i = at; i < at + length; i++) {
		p->owner[i] = owner;
		p->kind[i] = kind;
	}
	/* The area that follows becomes a part of it, if of the same kind. */
	if (kind == FRAG_FIXED || i == WINDOW || p->owner[i] == FREE ||
	    p->kind[i] != kind)
		return;
	for (unsigned int other = p->owner[i];
	     i < WINDOW && p->owner[i] == other; i++)
		p->owner[i] = owner;
}

static void release(struct pages *p, uint64_t at, uint64_t length)
{
	unsigned int owner = p->owner[at];
	uint64_t i = at;

	for (; i < at + length; i++)
		p->owner[i] = FREE;
	/* The pages that are left above become an area of their own. */
	for (p->areas++; i < WINDOW && p->owner[i] == owner; i++)
		p->owner[i] = p->areas;
}

/* Whether the pages and the model's space agree about each page. */
static bool same_pages(const struct pages *p, const struct frag_space *space)
{
	const struct frag_area *area = frag_space_first(space);
	uint64_t i = 0, end;

	for (; area != &space->end; area = area->next) {
		if (next_used(p, i) != area->start - LOW)
			return false;
		i = area->start - LOW;
		for (end = i; end < WINDOW && p->owner[end] == p->owner[i]; end++)
			if (p->kind[end] != area->kind)
				return false;
		if (end != area->end - LOW)
			return false;
		i = end;
	}
	return next_used(p, i) == WINDOW;
}

/* A length that just fits, so that off-by-one mistakes show: all of a hole, or
 * all but a guard gap. */
static uint64_t fitting_length(const struct pages *p, uint64_t *state)
{
	uint64_t at = frag_random(state) % WINDOW, end = next_used(p, at), size;

	size = end - hole_start(p, end);
	if (size > FRAG_GUARD && frag_random(state) % 2)
		size -= FRAG_GUARD;
	return size && size < WINDOW / 3 ? size : 1;
}

static uint64_t some_length(const struct pages *p, uint64_t *state)
{
	switch (frag_random(state) % 9) {
	case 8:
		return fitting_length(p, state);
	case 0:
		return FRAG_HUGE * (1 + frag_random(state) % 2);
	case 1:
		return 1 + frag_random(state) % 700;
	case 2:
	case 3:
		return 1 + frag_random(state) % 100;
	default:
		return 1 + frag_random(state) % 8;
	}
}

/*
 * Runs one random sequence. Returns the step at which the model differed from
 * the statement, or 0. Caches are compared if the model has them.
 */
static unsigned int run(const struct frag_model *model,
			const struct statement *rule, bool topdown,
			unsigned int steps, uint64_t seed)
{
	static struct pages p;
	uint64_t at[LIVE], length[LIVE], expected;
	bool stacks = seed % 3 != 0;
	unsigned int step, i, wrong = 0;
	struct frag_mm mm;

	memset(&p, 0, sizeof(p));
	memset(at, 0xff, sizeof(at));
	frag_mm_init(&mm, model, LOW, LOW + WINDOW, topdown);
	p.topdown = topdown;
	p.thp = mm.thp = seed % 4 == 3 ? FRAG_THP_LARGE :
			 seed % 4	? FRAG_THP_EXACT :
					  FRAG_THP_NONE;
	p.cache = topdown ? WINDOW : 0;
	p.hole = UINT64_MAX;
	for (i = 0; i < 4; i++) {
		uint64_t where = frag_random(&seed) % (WINDOW - 8), n = 1 + i;

		if (!all_free(&p, where, n))
			continue;
		take(&p, where, n, FRAG_FIXED);
		frag_space_map(&mm.space, LOW + where, n, FRAG_FIXED);
	}

	for (step = 1; step <= steps && !wrong; step++) {
		enum frag_kind kind = FRAG_PLAIN;

		i = frag_random(&seed) % LIVE;
		if (at[i] != FRAG_NONE) {
			release(&p, at[i], length[i]);
			if (rule->freed)
				rule->freed(&p, at[i], length[i]);
			frag_mm_unmap(&mm, LOW + at[i], length[i]);
			at[i] = FRAG_NONE;
		} else {
			length[i] = some_length(&p, &seed);
			if (stacks && frag_random(&seed) % 4 == 0)
				kind = FRAG_STACK;
			expected = rule->find(&p, length[i]);
			at[i] = frag_mm_map(&mm, length[i], kind);
			if (at[i] != FRAG_NONE)
				at[i] -= LOW;
			if (at[i] != expected) {
				wrong = step;
				break;
			}
			if (expected != FRAG_NONE)
				take(&p, expected, length[i], kind);
		}
		if (!same_pages(&p, &mm.space) || !frag_space_sound(&mm.space))
			wrong = step;
		/* Models without caches leave them as they were initialised. */
		if (model == rule->model && model->unmapped &&
		    (mm.cache - LOW != p.cache || mm.hole != p.hole))
			wrong = step;
	}
	frag_space_clear(&mm.space);
	return wrong;
}

/* Models that find the same addresses get the same number, others get 0. */
static int same_as(const struct frag_model *model)
{
	if (model == &frag_first_fit || model == &frag_gap_tree)
		return 1;
	/* From below, all of a gap is passed over for its guard gap anyway. */
	return model == &frag_gap_retry || model == &frag_gap_usable ? 2 : 0;
}

static bool same_rule(const struct frag_model *a, const struct frag_model *b,
		      bool topdown)
{
	return a == b ||
	       (!topdown && same_as(a) && same_as(a) == same_as(b));
}

/* Runs sequences until one is not as stated. Returns the step, or 0. */
static unsigned int differ(const struct frag_model *model,
			   const struct statement *rule, bool topdown,
			   unsigned int rounds, uint64_t *seed)
{
	unsigned int round, wrong;

	for (round = 0; round < rounds; round++) {
		*seed = round * 7919 + 1 + (*seed & ~0xffffffull);
		wrong = run(model, rule, topdown, 300, *seed);
		if (wrong)
			return wrong;
	}
	return 0;
}

static bool test_model(const struct statement *own, bool topdown,
		       unsigned int rounds, uint64_t seed, bool verbose)
{
	const char *from = topdown ? "top-down" : "bottom-up";
	unsigned int told = 0, same = 0, step, b;
	uint64_t s;

	for (b = 0; b < STATEMENTS; b++) {
		const struct statement *rule = &statements[b];

		if (rule->model->only_up && topdown)
			continue;
		s = seed;
		step = differ(own->model, rule, topdown, rounds, &s);
		if (same_rule(own->model, rule->model, topdown)) {
			same++;
			if (!step)
				continue;
			printf("%s, %s: not as stated for %s at step %u of seed %#llx\n",
			       own->model->name, from, rule->model->name, step,
			       (unsigned long long)s);
			return false;
		}
		told++;
		if (!step) {
			printf("%s, %s: cannot be told from %s\n",
			       own->model->name, from, rule->model->name);
			return false;
		}
	}
	if (verbose)
		printf("%s, %s: %u sequences as in %u statements, told from %u others\n",
		       own->model->name, from, rounds, same, told);
	return true;
}

/* Levels of a balanced tree of 20,000 areas, at most: 1.44 times the logarithm. */
#define DEEPEST 20u

/*
 * 20,000 stacks that stay. First fit looks at every area before the hole, so at
 * 0 + 1 + 2 ... of them, after a look-up in the tree. The others only look up
 * where the last search ended.
 */
static bool test_stacks(bool verbose)
{
	static const struct {
		const struct frag_model *model;
		bool linear;
	} searches[] = {
		{ &frag_first_fit, true },
		{ &frag_cache, false },
		{ &frag_hole, false },
	};
	const struct frag_workload *load = frag_workloads;
	const uint64_t n = 20000;
	unsigned int i;
	bool good = true;

	while (strcmp(load->name, "stacks"))
		load++;
	for (i = 0; i < sizeof(searches) / sizeof(*searches); i++) {
		struct frag_backend backend;
		uint64_t steps, least, most;
		struct frag_mm mm;

		frag_mm_init(&mm, searches[i].model, FRAG_32BIT_LOW,
			     FRAG_32BIT_LOW + load->window, false);
		backend = frag_model_backend(&mm);
		steps = load->run(&backend, n, 0);
		least = searches[i].linear ? n * (n - 1) / 2 : n;
		most = n * DEEPEST + (searches[i].linear ? n * (n - 1) / 2 : 0);
		if (steps != n || mm.searches != n || mm.cost < least ||
		    mm.cost > most) {
			printf("%s: %llu of 20,000 stacks, %llu areas looked at, not %llu to %llu\n",
			       searches[i].model->name,
			       (unsigned long long)steps,
			       (unsigned long long)mm.cost,
			       (unsigned long long)least,
			       (unsigned long long)most);
			good = false;
		} else if (verbose) {
			printf("%s: 20,000 stacks, %llu areas looked at\n",
			       searches[i].model->name,
			       (unsigned long long)mm.cost);
		}
		frag_space_clear(&mm.space);
	}
	return good;
}

/**
 * frag_test - test all models, and the detection of this kernel's kind
 * @rounds: sequences for each model and direction
 * @seed: seed of random choices
 * @verbose: say what is tested
 *
 * Returns: the number of models that failed, or could not be told from another
 * one; plus one if 20,000 stacks cost another number of areas than they must, and one if the kernel's kind is not detected reliably
 */
int frag_test(unsigned int rounds, uint64_t seed, bool verbose)
{
	int bad = !test_stacks(verbose), down;
	unsigned int a;

	seed <<= 24;
	for (a = 0; a < STATEMENTS; a++)
		for (down = 0; down <= !statements[a].model->only_up; down++)
			bad += !test_model(&statements[a], down, rounds, seed,
					   verbose);
	if (!frag_kernel_unfit() && frag_kernel_is_topdown())
		bad += !frag_kernel_test();
	return bad;
}
