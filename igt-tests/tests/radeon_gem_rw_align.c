// SPDX-License-Identifier: MIT
/*
 * PREAD, PWRITE and TRANSFER at all alignments of the offset in the BO, of the
 * user address and of the size, on each of the driver's paths and in each
 * placement. Each test sets the driver's thresholds so that one path is taken,
 * and the driver's counters have to show that all bytes took it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_rw.h"
#include "igt_radeon_stats.h"

/**
 * TEST: radeon gem rw align
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects without mapping them
 * Description: Checks that calls transfer exactly the requested bytes at all
 *              alignments, in each placement and caching mode, and that they
 *              take the path of the driver that is under test.
 */
IGT_TEST_DESCRIPTION("Checks all alignments on each path of the driver.");

#define HOLD_US		8000000u
/* Bytes of a cache line and a dword: alignments are 0 to 67. */
#define ALIGNMENTS	68u
#define GUARD		64u

/*
 * Sizes are @base + 0 to 67 bytes. Each of @rounds rounds transfers @slots
 * slots, with one call for each, or one TRANSFER for all; see place().
 */
struct shape {
	size_t base;
	unsigned int slots;
	unsigned int rounds;
};

/* Subject of a test, and models of the bytes on both sides. */
struct setup {
	int fd;
	enum igt_radeon_op op;
	enum igt_radeon_path path;
	bool mapping;			/* user memory is a mapping of another BO */
	const struct igt_radeon_placement *p;
	struct shape shape;
	size_t stride;
	struct igt_radeon_bo bo, busy, user_bo;
	uint8_t *model, *user, *shadow;
	size_t user_size;
};

/* A slot of the BO and of user memory, in one round. */
struct place {
	size_t bo, user, size;
};

/*
 * The alignments of BO, user memory and size are i, i + round and 2 i + 5
 * round, modulo 68. In two rounds of 68 slots each takes all values from 0 to
 * 67. In 17 rounds BO and user memory have all relative alignments modulo 16.
 * In 68 rounds each pair of values of any two would occur once, because the
 * determinants of the pairs of coefficients (1 0), (1 1), (2 5) are units
 * modulo 68.
 */
static struct place place(const struct setup *s, unsigned int round,
			  unsigned int slot)
{
	unsigned int i = (round * s->shape.slots + slot) % ALIGNMENTS;

	return (struct place) {
		.bo = slot * s->stride + GUARD + i,
		.user = slot * s->stride + GUARD + (i + round) % ALIGNMENTS,
		.size = s->shape.base + (2 * i + 5 * round) % ALIGNMENTS,
	};
}

/* Whether transfers in this placement can take the path. */
static bool applies(enum igt_radeon_path path, enum igt_radeon_op op,
		    const struct igt_radeon_placement *p)
{
	const bool vram = p->domain == RADEON_GEM_DOMAIN_VRAM;
	const bool reachable = !(p->flags & RADEON_GEM_NO_CPU_ACCESS);

	switch (path) {
	case IGT_RADEON_STAGED:
		/* The GPU cannot access system memory. */
		return igt_radeon_op_writes(op) ?
		       p->domain != RADEON_GEM_DOMAIN_CPU : vram;
	default:
		return reachable;
	}
}

/* Sets thresholds with which all sizes take the path. */
static void choose_path(enum igt_radeon_path path)
{
	const bool staged = path == IGT_RADEON_STAGED;

	igt_radeon_require_param("gem_rw_stage_write_max",
				 staged ? UINT32_MAX : 0);
	igt_radeon_require_param("gem_rw_stage_read_min",
				 staged ? 0 : UINT32_MAX);
}

static void setup_init(struct setup *s)
{
	s->stride = s->shape.base + 2 * ALIGNMENTS + 2 * GUARD;
	s->stride += -s->stride % 64;
	s->user_size = s->shape.slots * s->stride;
	s->user_size += -s->user_size % PAGE;
	s->model = igt_radeon_bo_init_pattern(&s->bo, s->fd, s->user_size,
					      s->p, 1);
	s->shadow = igt_radeon_malloc(s->user_size);
	if (s->mapping) {
		igt_radeon_bo_init(&s->user_bo, s->fd, s->user_size,
				   RADEON_GEM_DOMAIN_GTT, 0);
		s->user = igt_radeon_bo_map(&s->user_bo);
	} else {
		s->user = mmap(NULL, s->user_size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		igt_assert(s->user != MAP_FAILED);
	}
	igt_radeon_bo_init(&s->busy, s->fd, PAGE, RADEON_GEM_DOMAIN_GTT, 0);
}

static void setup_fini(struct setup *s)
{
	igt_radeon_bo_assert(&s->bo, s->model, "after all");
	igt_radeon_bo_fini(&s->busy);
	munmap(s->user, s->user_size);
	if (s->mapping)
		igt_radeon_bo_fini(&s->user_bo);
	free(s->shadow);
	igt_radeon_bo_fini(&s->bo);
	free(s->model);
}

/* One call for each slot by PREAD and PWRITE, one for all by TRANSFER. */
static void make_calls(const struct setup *s, unsigned int round)
{
	struct drm_radeon_gem_transfer_region regions[ALIGNMENTS];
	const bool transfer = s->op >= IGT_RADEON_DOWNLOAD;
	struct place at;
	unsigned int i;
	uint32_t done;

	for (i = 0; i < s->shape.slots; i++) {
		at = place(s, round, i);
		regions[i] = (struct drm_radeon_gem_transfer_region) {
			.handle = s->bo.handle,
			.bo_offset = at.bo,
			.user_ptr = (uintptr_t)s->user + at.user,
			.row_bytes = at.size,
			.rows = 1,
		};
		if (!transfer)
			igt_assert_eq(igt_radeon_rw(s->op, s->fd, s->bo.handle,
						    at.bo, at.size,
						    s->user + at.user, 0), 0);
	}
	if (transfer) {
		igt_assert_eq(igt_radeon_transfer(s->fd, regions,
						  s->shape.slots,
						  igt_radeon_op_writes(s->op) ?
						  RADEON_GEM_TRANSFER_WRITE : 0,
						  &done), 0);
		igt_assert_eq(done, s->shape.slots);
	}
}

static void test_round(struct setup *s, unsigned int round)
{
	const bool writes = igt_radeon_op_writes(s->op);
	const bool hold = writes && s->path == IGT_RADEON_STAGED;
	struct igt_radeon_stats before, delta;
	struct place at;
	uint64_t total = 0;
	unsigned int i;
	char what[128];

	snprintf(what, sizeof(what), "%s, %s, %s, base %zu, round %u",
		 igt_radeon_op_name[s->op], igt_radeon_path_name[s->path],
		 s->p->name, s->shape.base, round);
	igt_radeon_pattern(s->user, s->user_size, 1000 + round);
	memcpy(s->shadow, s->user, s->user_size);
	for (i = 0; i < s->shape.slots; i++) {
		at = place(s, round, i);
		igt_radeon_rw_apply(s->op, s->model + at.bo,
				    s->shadow + at.user, at.size);
		total += at.size;
	}

	before = igt_radeon_stats(s->fd);
	if (hold) {
		igt_radeon_set_latency(s->fd, HOLD_US);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &s->busy, 0, &s->bo, 0, 64);
	}
	make_calls(s, round);
	if (hold) {
		igt_assert_f(igt_radeon_bo_busy(&s->busy),
			     "%s: a write waited\n", what);
		igt_radeon_set_latency(s->fd, 0);
	}
	delta = igt_radeon_stats_since(s->fd, &before);
	igt_radeon_assert_path(&delta, s->path, total, what);

	igt_radeon_assert_equal(s->user, s->shadow, s->user_size, what);
	if (writes)
		igt_radeon_bo_assert(&s->bo, s->model, what);
}

static void test_path(int fd, enum igt_radeon_path path, bool mapping,
		      enum igt_radeon_op op, const struct igt_radeon_placement *p)
{
	/* Largest step of each path. */
	static const size_t chunk[IGT_RADEON_PATHS] = {
		[IGT_RADEON_CPU] = 256 << 10,
		[IGT_RADEON_STAGED] = 256 << 10,
	};
	const struct shape shapes[] = {
		{ 1, 68, SLOW_QUICK(17, 2) },
		{ PAGE - 34, 17, 4 },
		{ 3 * PAGE, 4, SLOW_QUICK(17, 4) },
		{ chunk[path] - 34, 1, 2 },
	};
	struct setup s = {
		.fd = fd, .op = op, .path = path, .mapping = mapping, .p = p,
	};
	unsigned int i, round;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		s.shape = shapes[i];
		setup_init(&s);
		for (round = 0; round < s.shape.rounds; round++)
			test_round(&s, round);
		setup_fini(&s);
	}
}

/**
 * SUBTEST: cpu
 * Description: Transfers of all alignments by the CPU.
 *
 * SUBTEST: mapping
 * Description: Transfers by the CPU whose user memory is a mapping of a BO.
 *
 * SUBTEST: staged
 * Description: Transfers by the GPU through the staging buffer: reads of VRAM,
 *              and writes to BOs that the GPU has yet to read. No write waits.
 */
static void test_everywhere(int fd, enum igt_radeon_path path, bool mapping)
{
	const struct igt_radeon_placement *p;
	enum igt_radeon_op op;
	unsigned int i;

	igt_radeon_require_stats(fd);
	if (path == IGT_RADEON_STAGED) {
		igt_radeon_require_board(fd);
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_STAGED);
	}
	choose_path(path);
	for (op = 0; op < IGT_RADEON_OPS; op++) {
		for (i = 0; (p = igt_radeon_placement(fd, i)); i++) {
			if (!applies(path, op, p))
				continue;
			igt_debug("%s, %s\n", igt_radeon_op_name[op], p->name);
			test_path(fd, path, mapping, op, p);
		}
	}
	igt_radeon_reset_params();
}

int igt_main()
{
	static const struct {
		const char *name, *about;
		enum igt_radeon_path path;
		bool mapping;
	} paths[] = {
		{ "cpu", "Transfers by the CPU.", IGT_RADEON_CPU, false },
		{ "mapping", "By the CPU, from and to a mapping of a BO.",
		  IGT_RADEON_CPU, true },
		{ "staged", "By the GPU, through the staging buffer.",
		  IGT_RADEON_STAGED, false },
	};
	unsigned int i;
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER);
	}

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		igt_describe_f("%s", paths[i].about);
		igt_subtest(paths[i].name)
			test_everywhere(fd, paths[i].path, paths[i].mapping);
		igt_fixture() {
			igt_radeon_set_latency(fd, 0);
			igt_radeon_reset_params();
		}
	}

	igt_fixture()
		close(fd);
}
