/* SPDX-License-Identifier: MIT */
/*
 * The cost of mmap() and other operations in an address space with many
 * mappings.
 *
 * mapstorm.c runs a process for each address space, which has the same layout
 * in each boot: space.c fills it, churn.c and others.c measure in it. A process
 * writes its rows to a stream, a line of JSON each.
 *
 * Functions that return int return 0 or a negative errno. Times are ns of
 * CLOCK_MONOTONIC, or instructions where the machine's clock counts these.
 */
#ifndef MAPSTORM_H
#define MAPSTORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MS_PAGE 4096ul
/* Longest live map, in pages. */
#define MS_LENGTH_MAX 4u
/* From one guard mapping to the next: stack_guard_gap's default. */
#define MS_STRIDE (1ul << 20)
/* From one shadow stack to the next: before each, its own length is free. */
#define MS_SHADOW_STRIDE (4 * MS_PAGE)
/* The same with a hole of one page before each. */
#define MS_ONE_STRIDE (MS_GUARD_BYTES + MS_PAGE)
/* Room for a live map below each guard, and from one stack to the next then. */
#define MS_AMONG_ROOM ((MS_LENGTH_MAX + 1) * MS_PAGE)
#define MS_AMONG_STRIDE (MS_STRIDE + MS_GUARD_BYTES + MS_AMONG_ROOM)
#define MS_GUARD_BYTES (2 * MS_PAGE)

/**
 * enum ms_kind - what an address space has besides live maps
 * @MS_PLAIN: nothing
 * @MS_GUARDS: MAP_GROWSDOWN mappings
 * @MS_SHADOW: shadow stacks
 * @MS_SMALL: MAP_GROWSDOWN mappings at the places of shadow stacks, on a kernel
 *	with a stack_guard_gap of one page: the same holes on any processor
 * @MS_ONE: the same with a hole of one page before each, as between the shadow
 *	stacks of threads, and live maps of one page: each would fit without guards
 * @MS_AMONG: MAP_GROWSDOWN mappings with room for one live map between two: the
 *	leaves of the kernel's tree in which maps come and go are full of stacks
 * @MS_HOLES: a hole of a page before each live map, into which no live map fits
 * @MS_OTHERS: nothing; other operations than mmap() and munmap() are measured
 */
enum ms_kind { MS_PLAIN, MS_GUARDS, MS_SHADOW, MS_SMALL, MS_ONE, MS_AMONG,
	       MS_HOLES, MS_OTHERS };
#define MS_KINDS (MS_OTHERS + 1)

/* Does the kind have guard mappings, whose number is an option? */
static inline bool ms_guarded(enum ms_kind kind)
{
	return kind >= MS_GUARDS && kind <= MS_AMONG;
}

/**
 * struct ms_space - an address space
 * @kind: what is in it
 * @bottom_up: the kernel searches from below (legacy layout)
 * @quick: fewer samples
 * @out: stream for rows
 * @fd: file of the live maps
 * @live: live maps
 * @count: number of live maps
 * @room: entries of @live
 * @guards: number of guard mappings or shadow stacks
 * @guards_low: start of the lowest of them, without its guard
 * @guards_high: end of the highest of them
 * @holes: number of holes of one page between them, as ms_verify() has found
 * @random: state of the random numbers
 * @digest: digest of all addresses that the kernel has chosen
 * @samples: memory for samples
 */
struct ms_space {
	enum ms_kind kind;
	bool bottom_up, quick;
	FILE *out;
	int fd;
	struct ms_map *live;
	size_t count, room;
	size_t guards, holes;
	uintptr_t guards_low, guards_high;
	uint64_t random, digest;
	uint64_t *samples;
};

/**
 * struct ms_map - a live map
 * @address: its address
 * @piece: number of the piece of the file that it maps, from the piece's start
 * @pages: its length
 */
struct ms_map {
	uintptr_t address;
	uint16_t piece, pages;
};

#define MS_SAMPLES_MAX 4096u

uint64_t ms_random(struct ms_space *s);
void ms_saw(struct ms_space *s, uintptr_t address);
int ms_space_make(struct ms_space *s, size_t room, uint64_t seed);
int ms_space_guards(struct ms_space *s, size_t guards);
int ms_space_holes(struct ms_space *s, size_t count);
void ms_choose(struct ms_space *s, struct ms_map *map);
int ms_map(struct ms_space *s, struct ms_map *map);
int ms_place(struct ms_space *s, const struct ms_map *map);
int ms_unmap(struct ms_map *map);
int ms_grow(struct ms_space *s, size_t count);
const char *ms_verify(struct ms_space *s);

void ms_row(struct ms_space *s, const char *operation, unsigned int samples,
	    uint64_t *times, const char *error);
void ms_churn(struct ms_space *s);
void ms_others(struct ms_space *s, const char *self);

#endif /* MAPSTORM_H */
