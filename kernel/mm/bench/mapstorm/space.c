// SPDX-License-Identifier: MIT
/*
 * Makes an address space with many mappings that cannot be merged, and checks
 * it.
 *
 * Live maps are read-only maps of a file that begin at every fifth page of it.
 * As none has more than four pages, none continues another one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mapstorm.h"

#ifndef SYS_map_shadow_stack
#define SYS_map_shadow_stack 453
#endif

#define PIECES 64u
#define PIECE_PAGES (MS_LENGTH_MAX + 1)

/**
 * ms_random - get the next random number; the sequence depends on the seed only
 * @s: the space
 */
uint64_t ms_random(struct ms_space *s)
{
	uint64_t z = s->random += 0x9e3779b97f4a7c15u;

	/* splitmix64 */
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/**
 * ms_saw - add an address to the digest
 * @s: the space
 * @address: address that the kernel has chosen
 */
void ms_saw(struct ms_space *s, uintptr_t address)
{
	/* FNV-1a, by words. */
	s->digest = (s->digest ^ address) * 0x100000001b3u;
}

static void *memory(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/**
 * ms_space_make - begin an address space
 * @s: the space; kind, layout and stream are set
 * @room: highest number of live maps
 * @seed: seed of random choices
 */
int ms_space_make(struct ms_space *s, size_t room, uint64_t seed)
{
	uint64_t page[MS_PAGE / sizeof(uint64_t)] = { 0 };
	unsigned int i;

	s->random = seed;
	s->digest = 0xcbf29ce484222325u;
	s->room = room;
	s->live = memory(room * sizeof(*s->live));
	s->samples = memory(3 * MS_SAMPLES_MAX * sizeof(*s->samples));
	if (!s->live || !s->samples)
		return -ENOMEM;
	s->fd = memfd_create("mapstorm", MFD_CLOEXEC);
	if (s->fd < 0)
		return -errno;
	for (i = 0; i < PIECES * PIECE_PAGES; i++) {
		page[0] = i;
		if (write(s->fd, page, sizeof(page)) != sizeof(page))
			return errno ? -errno : -EIO;
	}
	return 0;
}

/* Makes a guard mapping at an address. */
static int guard(const struct ms_space *s, uintptr_t address)
{
	void *want = (void *)address;
	void *got;

	if (s->kind == MS_SHADOW)
		got = (void *)syscall(SYS_map_shadow_stack, address,
				      MS_GUARD_BYTES, 0);
	else
		got = mmap(want, MS_GUARD_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				   MAP_GROWSDOWN | MAP_FIXED_NOREPLACE,
			   -1, 0);
	if (got == want)
		return 0;
	if (got == MAP_FAILED)
		return -errno;
	munmap(got, MS_GUARD_BYTES);
	return -EEXIST;
}

/* Whether the kernel was booted with a stack_guard_gap of one page. */
static bool small_guards(void)
{
	char text[4096] = "";
	FILE *f = fopen("/proc/cmdline", "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	const char *at = n ? strstr(text, "stack_guard_gap=1") : NULL;

	if (f)
		fclose(f);
	return at && (at[17] == ' ' || at[17] == '\n' || !at[17]);
}

/* Has a search that found this address gone past all guard mappings? */
static bool behind(const struct ms_space *s, uintptr_t address)
{
	return s->bottom_up ? address >= s->guards_high :
			      address < s->guards_low;
}

/* Sets first to an address at some distance from where searches begin. */
static int begin_of_search(const struct ms_space *s, uintptr_t *first)
{
	void *p = mmap(NULL, 16 * MS_PAGE, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, 16 * MS_PAGE);
	*first = (uintptr_t)p & ~(MS_STRIDE - 1);
	*first += s->bottom_up ? 2 * MS_STRIDE : -2 * MS_STRIDE;
	return 0;
}

/*
 * Fills each hole of at least the given bytes that searches meet before they
 * are past guards_low to guards_high.
 */
static int fill(struct ms_space *s, size_t least)
{
	size_t size;
	void *p;

	for (size = 64 * MS_PAGE; size; size = size > least ? least : 0) {
		do {
			p = mmap(NULL, size, PROT_NONE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
				 0);
			if (p == MAP_FAILED)
				return -errno;
			ms_saw(s, (uintptr_t)p);
		} while (!behind(s, (uintptr_t)p));
		munmap(p, size);
	}
	return 0;
}

/**
 * ms_space_guards - place guard mappings where a search meets them first
 * @s: the space
 * @guards: number of guard mappings
 *
 * The holes before them would be large enough for any live map without the
 * guard gaps. Fills all other holes that searches meet before, except, with
 * MS_AMONG, the room between two guard mappings.
 *
 * Returns: 0, or a negative errno; -EOPNOTSUPP if this kernel has no such guards
 */
int ms_space_guards(struct ms_space *s, size_t guards)
{
	const bool page = s->kind == MS_SHADOW || s->kind == MS_SMALL;
	const uintptr_t stride = page ? MS_SHADOW_STRIDE :
				 s->kind == MS_ONE ? MS_ONE_STRIDE :
				 s->kind == MS_AMONG ? MS_AMONG_STRIDE : MS_STRIDE;
	uintptr_t first, address;
	size_t i;
	int ret;

	if ((s->kind == MS_SMALL || s->kind == MS_ONE) && !small_guards())
		return -EOPNOTSUPP;
	ret = begin_of_search(s, &first);
	if (ret)
		return ret;
	for (i = 0; i < guards; i++) {
		address = s->bottom_up ? first + i * stride :
					 first - i * stride;
		ret = guard(s, address);
		if (ret)
			return ret;
	}
	s->guards = guards;
	s->guards_low = s->bottom_up ? first : first - (guards - 1) * stride;
	s->guards_high = (s->bottom_up ? first + (guards - 1) * stride : first) +
			 MS_GUARD_BYTES;
	/* The holes of two pages have a guard of one: no two pages fit. */
	return fill(s, page ? 2 * MS_PAGE :
		       s->kind == MS_AMONG ? MS_AMONG_ROOM + MS_PAGE : MS_PAGE);
}

/**
 * ms_space_holes - place live maps with a hole of one page before each
 * @s: the space, without live maps
 * @count: number of live maps
 *
 * All have the same length. So when one is unmapped, there is a single hole
 * that the next one fits into, and each leaf of the kernel's tree on the way to
 * it has small holes. Fills all holes of two pages that a search would meet
 * before.
 */
int ms_space_holes(struct ms_space *s, size_t count)
{
	const uintptr_t stride = (MS_LENGTH_MAX + 1) * MS_PAGE;
	uintptr_t first;
	int ret = begin_of_search(s, &first);

	if (ret)
		return ret;
	if (!s->bottom_up)
		first -= count * stride;
	for (; s->count < count; s->count++) {
		struct ms_map *map = &s->live[s->count];

		ms_choose(s, map);
		map->address = first + s->count * stride;
		ret = ms_place(s, map);
		if (ret)
			return ret;
	}
	s->guards_low = first;
	s->guards_high = first + count * stride - MS_PAGE;
	return fill(s, 2 * MS_PAGE);
}

/**
 * ms_choose - choose the next live map at random
 * @s: the space
 * @map: filled in, but for its address
 */
void ms_choose(struct ms_space *s, struct ms_map *map)
{
	/* Smaller maps would fit into the holes that searches have to skip. */
	const unsigned int least =
		s->kind == MS_HOLES || s->kind == MS_AMONG ? MS_LENGTH_MAX :
		s->kind == MS_SHADOW || s->kind == MS_SMALL ? 2 : 1;
	const unsigned int most = s->kind == MS_ONE ? 1 : MS_LENGTH_MAX;
	uint64_t r = ms_random(s);

	map->pages = least + (r >> 32) % (most + 1 - least);
	map->piece = (uint32_t)r % PIECES;
}

/**
 * ms_map - let the kernel choose a place for a live map
 * @s: the space
 * @map: the map, as filled in by ms_choose(); gets its address
 */
int ms_map(struct ms_space *s, struct ms_map *map)
{
	void *p = mmap(NULL, map->pages * MS_PAGE, PROT_READ, MAP_PRIVATE,
		       s->fd, map->piece * PIECE_PAGES * MS_PAGE);

	if (p == MAP_FAILED)
		return -errno;
	map->address = (uintptr_t)p;
	return 0;
}

/**
 * ms_place - map a live map at its address
 * @s: the space
 * @map: the map, with an address where nothing is mapped
 */
int ms_place(struct ms_space *s, const struct ms_map *map)
{
	void *p = mmap((void *)map->address, map->pages * MS_PAGE, PROT_READ,
		       MAP_PRIVATE | MAP_FIXED_NOREPLACE, s->fd,
		       map->piece * PIECE_PAGES * MS_PAGE);

	return p == (void *)map->address ? 0 : p == MAP_FAILED ? -errno : -EEXIST;
}

/**
 * ms_unmap - remove a live map
 * @map: the map
 */
int ms_unmap(struct ms_map *map)
{
	return munmap((void *)map->address, map->pages * MS_PAGE) ? -errno : 0;
}

/**
 * ms_grow - add live maps
 * @s: the space
 * @count: number of live maps to have afterwards
 */
int ms_grow(struct ms_space *s, size_t count)
{
	struct ms_map *map;
	int ret;

	for (; s->count < count; s->count++) {
		map = &s->live[s->count];
		ms_choose(s, map);
		ret = ms_map(s, map);
		if (ret)
			return ret;
		ms_saw(s, map->address);
	}
	return 0;
}

static int compare_maps(const void *a, const void *b)
{
	const struct ms_map *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static bool overlap(const struct ms_space *s)
{
	struct ms_map *sorted = memory(s->count * sizeof(*sorted));
	bool found = !sorted;
	size_t i;

	if (sorted) {
		memcpy(sorted, s->live, s->count * sizeof(*sorted));
		qsort(sorted, s->count, sizeof(*sorted), compare_maps);
		for (i = 1; i < s->count; i++)
			found |= sorted[i - 1].address +
					 sorted[i - 1].pages * MS_PAGE >
				 sorted[i].address;
		munmap(sorted, s->count * sizeof(*sorted));
	}
	return found;
}

/* Checks the live maps among stacks. Returns NULL, or what is wrong. */
static const char *verify_among(const struct ms_space *s)
{
	size_t i, between = 0;

	for (i = 0; i < s->count; i++) {
		uintptr_t at = s->live[i].address, above;

		if (at < s->guards_low || at >= s->guards_high)
			continue;
		between++;
		/* Distance to the next stack. */
		above = MS_AMONG_STRIDE - (at - s->guards_low) % MS_AMONG_STRIDE;
		if (above < MS_STRIDE + s->live[i].pages * MS_PAGE)
			return "a map lies in the guard of a stack";
	}
	return between >= s->count / 10 * 9 ? NULL : "maps are not among stacks";
}

/*
 * Returns the number of holes of one page that end at a mapping, between the
 * lowest and the highest guard mapping.
 */
static size_t count_holes(const struct ms_space *s)
{
	FILE *f = fopen("/proc/self/maps", "re");
	uintptr_t start, end, last = 0;
	size_t n = 0;

	if (!f)
		return 0;
	while (fscanf(f, "%lx-%lx%*[^\n]", &start, &end) == 2) {
		n += start > s->guards_low && start < s->guards_high &&
		     start - last == MS_PAGE;
		last = end;
	}
	fclose(f);
	return n;
}

/* Checks the live maps behind holes of one page. Returns NULL, or what is wrong. */
static const char *verify_one(struct ms_space *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->live[i].pages != 1 || !behind(s, s->live[i].address))
			return "a map is not of one page behind all stacks";
	s->holes = count_holes(s);
	return s->holes + 1 == s->guards ? NULL :
	       "the holes between stacks are not of one page";
}

/**
 * ms_verify - check the live maps
 * @s: the space; gets its number of holes
 *
 * Returns: NULL, or what is wrong
 */
const char *ms_verify(struct ms_space *s)
{
	const size_t step = s->count / 512 + 1;
	const uint64_t *word;
	size_t i, page;

	for (i = 0; i < s->count; i++) {
		if (s->live[i].address % MS_PAGE)
			return "a map does not begin with a page";
		/* The guard of the lowest stack must be free as well. */
		if (s->kind == MS_GUARDS &&
		    s->live[i].address < s->guards_high &&
		    s->live[i].address + s->live[i].pages * MS_PAGE >
			    s->guards_low - MS_STRIDE)
			return "a map lies in the guard of a stack";
	}
	if (s->kind == MS_AMONG && verify_among(s))
		return verify_among(s);
	if (s->kind == MS_ONE) {
		const char *wrong = verify_one(s);

		if (wrong)
			return wrong;
	}
	if (overlap(s))
		return "maps overlap";
	for (i = 0; i < s->count; i += step)
		for (page = 0; page < s->live[i].pages; page++) {
			word = (const uint64_t *)(s->live[i].address +
						  page * MS_PAGE);
			if (*word != s->live[i].piece * PIECE_PAGES + page)
				return "a map has other contents";
		}
	return NULL;
}
