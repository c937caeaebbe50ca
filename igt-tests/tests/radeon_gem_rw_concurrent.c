// SPDX-License-Identifier: MIT
/*
 * PREAD, PWRITE and TRANSFER among submitted GPU copies of the same BOs. Calls
 * and copies have to take effect in the order in which they were made and
 * submitted: from one process, from several, while signals arrive, and while an
 * engine is reset.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_page.h"
#include "igt_radeon_reset.h"
#include "igt_radeon_rw.h"
#include "igt_radeon_stats.h"

/**
 * TEST: radeon gem rw concurrent
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects in order with GPU work
 * Description: Checks the order of calls and of copies by the GPU.
 */
IGT_TEST_DESCRIPTION("Checks the order of calls and of copies by the GPU.");

#define PAIRS		4u
#define SIZE		(24 * PAGE)
#define LATENCY_US	1000u
#define SIGNAL_US	2000u
#define CHILDREN	3
/* Between resets: one during the ring tests of another disables a ring. */
#define RESET_PAUSE_US	1500000u

enum mode {
	PLAIN,
	FORKED,
	INTERRUPTIBLE,
	HANG,
	MODES
};

/* Groups of BOs, and models of their contents. */
struct scene {
	int fd;
	enum igt_radeon_op read, write;
	const struct igt_radeon_placement *p;
	struct igt_radeon_bo src[PAIRS], dst[PAIRS], tmp[PAIRS];
	uint8_t *src_model[PAIRS], *dst_model[PAIRS], *tmp_model[PAIRS];
	/* An engine hangs: only @only copies, and reads are not checked. */
	bool reset;
	enum igt_radeon_engine only;
	uint8_t *fresh, *got;
	uint32_t seed;
	unsigned int round;
};

static void scene_init(struct scene *s)
{
	unsigned int i;

	s->fresh = igt_radeon_malloc(SIZE);
	s->got = igt_radeon_malloc(SIZE);
	for (i = 0; i < PAIRS; i++) {
		s->src_model[i] = igt_radeon_bo_init_pattern(&s->src[i], s->fd,
							     SIZE, s->p,
							     s->seed++);
		s->dst_model[i] = igt_radeon_bo_init_pattern(&s->dst[i], s->fd,
							     SIZE, s->p,
							     s->seed++);
		s->tmp_model[i] = igt_radeon_bo_init_pattern(&s->tmp[i], s->fd,
							     SIZE,
						&igt_radeon_reachable[i % 2],
							     s->seed++);
	}
}

static void scene_fini(struct scene *s)
{
	unsigned int i;

	for (i = 0; i < PAIRS; i++) {
		igt_radeon_bo_fini(&s->src[i]);
		igt_radeon_bo_fini(&s->dst[i]);
		igt_radeon_bo_fini(&s->tmp[i]);
		free(s->src_model[i]);
		free(s->dst_model[i]);
		free(s->tmp_model[i]);
	}
	free(s->fresh);
	free(s->got);
}

/*
 * Uses the engines in turn; the first one alternates from round to round. With
 * a reset only one engine copies: another that waited for work which the reset
 * has dropped would hang until a second reset, with errors in the log.
 */
static void gpu_copy(const struct scene *s, unsigned int i,
		     const struct igt_radeon_bo *dst, uint8_t *dst_model,
		     const struct igt_radeon_bo *src, const uint8_t *src_model)
{
	enum igt_radeon_engine engine = s->reset ? s->only :
					(i + s->round) % IGT_RADEON_ENGINES;

	if (!igt_radeon_has_engine(s->fd, engine))
		engine = IGT_RADEON_CP_DMA;
	igt_radeon_copy(engine, dst, 0, src, 0, SIZE);
	memcpy(dst_model, src_model, SIZE);
}

static void gpu_copy_all(const struct scene *s)
{
	unsigned int i;

	for (i = 0; i < PAIRS; i++)
		gpu_copy(s, i, &s->dst[i], s->dst_model[i], &s->src[i],
			 s->src_model[i]);
}

/* Writes all of a BO, or in odd rounds a part that is not aligned. */
static void cpu_write(struct scene *s, const struct igt_radeon_bo *bo,
		      uint8_t *model)
{
	const size_t at = s->round % 2 ? PAGE + 3 : 0;
	const size_t size = s->round % 2 ? 5 * PAGE + 1 : SIZE;

	igt_radeon_pattern(s->fresh, size, s->seed++);
	igt_assert_eq(igt_radeon_rw(s->write, s->fd, bo->handle, at, size,
				    s->fresh, 0), 0);
	memcpy(model + at, s->fresh, size);
	memset(s->fresh, 0xee, size);
}

static void cpu_read(struct scene *s, const struct igt_radeon_bo *bo,
		     const uint8_t *model, const char *what)
{
	memset(s->got, 0xee, SIZE);
	igt_assert_eq(igt_radeon_rw(s->read, s->fd, bo->handle, 0, SIZE,
				    s->got, 0), 0);
	/* A reset may lose the copies. */
	if (!s->reset)
		igt_radeon_assert_equal(s->got, model, SIZE, what);
}

/**
 * SUBTEST: %s-overwrite-source
 * Description: Writes to the sources of submitted copies do not change what the
 *              copies read.
 *
 * SUBTEST: %s-early-read
 * Description: Reads of the destinations of submitted copies, last one first,
 *              return the copied bytes.
 *
 * SUBTEST: %s-read-read
 * Description: Reads of the sources, then of the destinations, of submitted
 *              copies return the same bytes.
 *
 * SUBTEST: %s-write-read
 * Description: Bytes that were written, and then copied by the GPU, are read
 *              from the destinations of the copies.
 *
 * SUBTEST: %s-gpu-read-after-write
 * Description: The GPU copies a BO, and copies the copy. A write to the first
 *              copy does not change the second.
 *
 * arg[1]:
 *
 * @plain: one process
 * @forked: several processes at once, each with a file of its own
 * @interruptible: while a timer sends signals
 * @hang: while an engine hangs and is reset: no call fails, and all is in order
 *        again afterwards
 */
static void overwrite_source(struct scene *s)
{
	unsigned int i;

	gpu_copy_all(s);
	for (i = PAIRS; i--;)
		cpu_write(s, &s->src[i], s->src_model[i]);
}

static void early_read(struct scene *s)
{
	unsigned int i;

	gpu_copy_all(s);
	for (i = PAIRS; i--;)
		cpu_read(s, &s->dst[i], s->dst_model[i], "early read");
}

static void read_read(struct scene *s)
{
	unsigned int i;

	gpu_copy_all(s);
	for (i = PAIRS; i--;)
		cpu_read(s, &s->src[i], s->src_model[i], "source of a copy");
	for (i = 0; i < PAIRS; i++)
		cpu_read(s, &s->dst[i], s->dst_model[i], "copy");
}

static void write_read(struct scene *s)
{
	unsigned int i;

	for (i = 0; i < PAIRS; i++) {
		cpu_write(s, &s->src[i], s->src_model[i]);
		gpu_copy(s, i, &s->dst[i], s->dst_model[i], &s->src[i],
			 s->src_model[i]);
	}
	for (i = PAIRS; i--;)
		cpu_read(s, &s->dst[i], s->dst_model[i], "copy of a write");
}

static void gpu_read_after_write(struct scene *s)
{
	unsigned int i;

	for (i = 0; i < PAIRS; i++) {
		gpu_copy(s, i, &s->dst[i], s->dst_model[i], &s->src[i],
			 s->src_model[i]);
		gpu_copy(s, i + 1, &s->tmp[i], s->tmp_model[i], &s->dst[i],
			 s->dst_model[i]);
		cpu_write(s, &s->dst[i], s->dst_model[i]);
	}
	for (i = 0; i < PAIRS; i++)
		cpu_read(s, &s->tmp[i], s->tmp_model[i], "copy of a copy");
}

static const struct kind {
	const char *name;
	void (*run)(struct scene *s);
} kinds[] = {
	{ "overwrite-source", overwrite_source },
	{ "early-read", early_read },
	{ "read-read", read_read },
	{ "write-read", write_read },
	{ "gpu-read-after-write", gpu_read_after_write },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void check_all(struct scene *s)
{
	unsigned int i;

	for (i = 0; i < PAIRS; i++) {
		cpu_read(s, &s->src[i], s->src_model[i], "source, at the end");
		cpu_read(s, &s->dst[i], s->dst_model[i],
			 "destination, at the end");
		cpu_read(s, &s->tmp[i], s->tmp_model[i],
			 "second copy, at the end");
	}
}

/* Fills all BOs with the contents of their models. */
static void make_known(struct scene *s)
{
	unsigned int i;

	for (i = 0; i < PAIRS; i++) {
		igt_radeon_bo_fill(&s->src[i], s->src_model[i]);
		igt_radeon_bo_fill(&s->dst[i], s->dst_model[i]);
		igt_radeon_bo_fill(&s->tmp[i], s->tmp_model[i]);
	}
}

static void everywhere(int fd, const struct kind *kind, uint32_t seed)
{
	const struct igt_radeon_placement *p;
	/* Both kinds of calls in each placement, or in a quick run one. */
	const unsigned int step = SLOW_QUICK(1, 2);
	unsigned int i, transfer;

	for (i = 0; (p = igt_radeon_placement(fd, i)); i++) {
		for (transfer = i % step; transfer < 2; transfer += step) {
			struct scene s = {
				.fd = fd,
				.read = transfer ? IGT_RADEON_DOWNLOAD :
						   IGT_RADEON_PREAD,
				.write = transfer ? IGT_RADEON_UPLOAD :
						    IGT_RADEON_PWRITE,
				.p = p,
				.seed = seed,
			};

			igt_debug("%s, %s\n", p->name,
				  transfer ? "transfer" : "pread and pwrite");
			scene_init(&s);
			for (s.round = 0; s.round < 2; s.round++) {
				kind->run(&s);
				check_all(&s);
			}
			scene_fini(&s);
		}
	}
}

static void test_hang(int fd, const struct kind *kind,
		      enum igt_radeon_engine engine)
{
	struct scene s = {
		.fd = fd,
		.read = IGT_RADEON_PREAD,
		.write = IGT_RADEON_PWRITE,
		.p = &igt_radeon_reachable[0],
		.seed = 7,
		.reset = true,
	};
	uint64_t resets;
	unsigned int i;

	igt_radeon_require_board(fd);
	if (!igt_radeon_has_engine(fd, engine))
		engine = IGT_RADEON_CP_DMA;
	s.only = engine;
	/* A fill leaves a fence of the DMA ring, which submissions wait for. */
	igt_radeon_require_param("gem_rw_clear_vram", 0);
	scene_init(&s);
	resets = igt_radeon_board_counter(fd, IGT_RADEON_SOFT_RESETS);
	igt_radeon_hang(fd, engine);
	kind->run(&s);
	for (i = 0; i < PAIRS; i++) {
		igt_radeon_bo_wait_through_lockup(&s.src[i]);
		igt_radeon_bo_wait_through_lockup(&s.dst[i]);
		igt_radeon_bo_wait_through_lockup(&s.tmp[i]);
	}
	check_all(&s);
	igt_assert_f(igt_radeon_board_counter(fd, IGT_RADEON_SOFT_RESETS) >
		     resets, "the ring did not hang, or nobody reset it\n");

	s.reset = false;
	make_known(&s);
	for (s.round = 0; s.round < 2; s.round++) {
		kind->run(&s);
		check_all(&s);
	}
	scene_fini(&s);
	igt_radeon_reset_params();
	usleep(RESET_PAUSE_US);
}

static void test_kind(int fd, unsigned int kind, enum mode mode)
{
	if (mode == HANG) {
		test_hang(fd, &kinds[kind], kind % IGT_RADEON_ENGINES);
		return;
	}

	igt_radeon_set_latency(fd, LATENCY_US);
	switch (mode) {
	case FORKED:
		igt_fork(child, CHILDREN) {
			int own = igt_radeon_open();

			everywhere(own, &kinds[kind], 1000 * child);
			close(own);
		}
		igt_waitchildren();
		break;
	case INTERRUPTIBLE:
		igt_radeon_start_timer(SIGNAL_US);
		everywhere(fd, &kinds[kind], 1);
		igt_radeon_stop_timer();
		break;
	default:
		everywhere(fd, &kinds[kind], 1);
	}
	igt_radeon_set_latency(fd, 0);
}

int igt_main()
{
	static const char *const modes[MODES] = {
		"plain", "forked", "interruptible", "hang",
	};
	unsigned int kind;
	char name[64];
	enum mode mode;
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER);
		/* Concurrent processes would disturb each other's check. */
		igt_radeon_assert_caching(fd, RADEON_GEM_GTT_WC);
		igt_radeon_assert_caching(fd, RADEON_GEM_GTT_UC);
	}

	for (mode = 0; mode < MODES; mode++) {
		for (kind = 0; kind < KINDS; kind++) {
			snprintf(name, sizeof(name), "%s-%s", modes[mode],
				 kinds[kind].name);
			igt_describe_f("Order of calls and copies: %s, %s.",
				       kinds[kind].name, modes[mode]);
			igt_subtest(name)
				test_kind(fd, kind, mode);
			igt_fixture() {
				igt_radeon_stop_timer();
				igt_radeon_set_latency(fd, 0);
			}
		}
	}

	igt_fixture()
		close(fd);
}
