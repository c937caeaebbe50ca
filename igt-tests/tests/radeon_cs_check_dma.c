// SPDX-License-Identifier: MIT
/*
 * Bounds of packets for the DMA ring: the kernel must refuse what reads or writes outside
 * of the BOs. There is no harmless end of such a stream as there is for the graphics
 * ring, so kernels without the fixes in kernel/fixes/ execute it, and it overwrites what
 * lies in VRAM: run it only where that does no harm. Packets are those of r600d.h and
 * evergreend.h, fields of tiled copies those of Mesa's r600_dma_copy_tile() and
 * evergreen_dma_copy_tile().
 */
#include "igt.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "igt_radeon.h"
#include "igt_radeon_stream.h"
#include "radeon_guest.h"

/**
 * TEST: radeon cs check dma
 * Category: Core
 * Mega feature: General Display Features
 * Sub-category: radeon
 * Functionality: command submission
 * Test category: functionality test
 * Description: What the kernel's checker of streams for the DMA ring takes for the end of
 *              a BO, and of a stream.
 *
 * SUBTEST: tiled-copy
 * Description: A tiled copy is executed, and writes what it should.
 *
 * SUBTEST: tiled-beyond
 * Description: Tiled copies whose x, y or z lie behind the end of the BO are refused.
 *
 * SUBTEST: packet-without-end
 * Description: A stream that ends within its last packet is refused.
 *
 * SUBTEST: copies-without-bounds
 * Description: Copies of parts, of fields and to two tiled surfaces are refused
 *              (Evergreen to Cayman).
 */

IGT_TEST_DESCRIPTION("Bounds of packets for the DMA ring.");

#define COPY				3u
#define R600_COPY_TILED(dwords)		(COPY << 28 | 1 << 23 | (dwords))
#define EG_COPY(sub, dwords)		(COPY << 28 | (uint32_t)(sub) << 20 | (dwords))
#define EG_TILED			0x08
#define DMA_NOP				(0xfu << 28)
#define TILED_1D			2
#define LOG2_BPE			2

/* A surface of 64x64 pixels of four bytes; copies are of eight rows. */
#define WIDTH				64
#define HEIGHT				64
#define ROW				(WIDTH * 4)
#define SLICE				(HEIGHT * ROW)
#define ROWS				8
#define COPIED				(ROWS * ROW)

struct place { uint32_t x, y, z; };

/* Copies linear rows at the end of the BO to a tiled surface at @base, in 256 bytes. */
static void tiled(struct igt_radeon_stream *s, uint32_t base, struct place p)
{
	const uint32_t linear = IGT_RADEON_STREAM_BO - COPIED;

	if (s->checker == IGT_RADEON_R600) {
		igt_radeon_stream_emit(s, R600_COPY_TILED(COPIED / 4));
		igt_radeon_stream_emit(s, base);
		igt_radeon_stream_emit(s, TILED_1D << 27 | LOG2_BPE << 24 | (HEIGHT - 1) << 10 |
				       (WIDTH / 8 - 1));
		igt_radeon_stream_emit(s, (WIDTH * HEIGHT / 64 - 1) << 12 | p.z);
		igt_radeon_stream_emit(s, p.x << 3 | p.y << 17);
	} else {
		igt_radeon_stream_emit(s, EG_COPY(EG_TILED, COPIED / 4));
		igt_radeon_stream_emit(s, base);
		igt_radeon_stream_emit(s, TILED_1D << 27 | LOG2_BPE << 24);
		igt_radeon_stream_emit(s, (WIDTH / 8 - 1) | (HEIGHT - 1) << 16);
		igt_radeon_stream_emit(s, WIDTH * HEIGHT / 64 - 1);
		igt_radeon_stream_emit(s, p.x | p.z << 18);
		igt_radeon_stream_emit(s, p.y);
	}
	igt_radeon_stream_emit(s, linear);
	igt_radeon_stream_emit(s, 0);
}

static void dma_init(struct igt_radeon_stream *s, int fd, enum igt_radeon_checker checker)
{
	igt_radeon_stream_init(s, fd, checker);
	s->ring = RADEON_CS_RING_DMA;
	s->reloc_dwords = 2 * RADEON_GUEST_RELOC_DWORDS;
}

/* Streams have whole groups of eight dwords. */
static int try(struct igt_radeon_stream *s)
{
	s->n = radeon_guest_pad(s->ib, s->n, s->ring);
	return igt_radeon_stream_try(s);
}

static void test_copy(int fd, enum igt_radeon_checker checker)
{
	struct igt_radeon_stream s;
	unsigned int i, changed = 0;
	uint8_t *map;

	dma_init(&s, fd, checker);
	map = igt_radeon_bo_map(&s.bo);
	memset(map, 0, IGT_RADEON_STREAM_BO);
	memset(map + IGT_RADEON_STREAM_BO - COPIED, 0x5a, COPIED);
	/* The last rows of the last slice that are not the source */
	tiled(&s, 0, (struct place){ 0, HEIGHT - 2 * ROWS, IGT_RADEON_STREAM_BO / SLICE - 1 });
	igt_assert_eq(try(&s), 0);
	igt_radeon_bo_wait(&s.bo);
	for (i = 0; i < IGT_RADEON_STREAM_BO - COPIED; i++)
		changed += map[i] == 0x5a;
	igt_assert_eq(changed, COPIED);
	for (i = 2 * COPIED; i > COPIED; i--)
		igt_assert_eq(map[IGT_RADEON_STREAM_BO - i], 0x5a);
	igt_radeon_stream_fini(&s);
}

static void test_beyond(int fd, enum igt_radeon_checker checker)
{
	static const struct { uint32_t base; struct place place; } cases[] = {
		/* 4,096 rows have 1 MiB, and so have 64 slices. */
		{ 0, { 0, 4096, 0 } },
		{ 0, { 0, 0, IGT_RADEON_STREAM_BO / SLICE } },
		/* The last eight rows of the BO, from a tile or a row later on */
		{ IGT_RADEON_STREAM_BO / 256 - COPIED / 256, { 8, 0, 0 } },
		{ IGT_RADEON_STREAM_BO / 256 - COPIED / 256, { 0, 1, 0 } },
	};
	struct igt_radeon_stream s;
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct igt_radeon_bo beside[4];
		bool changed = false;
		int ret;

		dma_init(&s, fd, checker);
		memset(igt_radeon_bo_map(&s.bo), 0x5a, IGT_RADEON_STREAM_BO);
		for (k = 0; k < ARRAY_SIZE(beside); k++) {
			igt_radeon_bo_init(&beside[k], fd, IGT_RADEON_STREAM_BO,
					   RADEON_GEM_DOMAIN_VRAM, 0);
			memset(igt_radeon_bo_map(&beside[k]), 0, IGT_RADEON_STREAM_BO);
		}
		tiled(&s, cases[i].base, cases[i].place);
		ret = try(&s);
		igt_radeon_bo_wait(&s.bo);
		for (k = 0; k < ARRAY_SIZE(beside); k++) {
			const uint8_t *map = igt_radeon_bo_map(&beside[k]);

			changed |= map[0] || memcmp(map, map + 1, IGT_RADEON_STREAM_BO - 1);
			igt_radeon_bo_fini(&beside[k]);
		}
		igt_radeon_stream_fini(&s);
		if (changed)
			igt_warn("The copy has overwritten another BO.\n");
		igt_assert_eq(ret, EINVAL);
	}
}

static void test_end(int fd, enum igt_radeon_checker checker)
{
	struct igt_radeon_stream whole, s;
	unsigned int words, i;

	dma_init(&whole, fd, checker);
	tiled(&whole, 0, (struct place){ 0, 0, 0 });
	/* From the header alone to a packet that lacks one dword, behind so many NOPs */
	for (words = 1; words < whole.n; words++) {
		dma_init(&s, fd, checker);
		while (s.n < 16 - words)
			igt_radeon_stream_emit(&s, DMA_NOP);
		for (i = 0; i < words; i++)
			igt_radeon_stream_emit(&s, whole.ib[i]);
		igt_assert_eq(igt_radeon_stream_try(&s), EINVAL);
		igt_radeon_stream_fini(&s);
	}
	igt_radeon_stream_fini(&whole);
}

static void test_kinds(int fd, enum igt_radeon_checker checker)
{
	/* Dwords behind the header, and BOs. All coordinates and addresses are 0. */
	static const struct { uint8_t kind, words, bos; } cases[] = {
		{ 0x41, 8, 2 }, { 0x48, 9, 3 }, { 0x49, 11, 2 }, { 0x4b, 9, 3 },
		{ 0x4c, 8, 2 }, { 0x4d, 12, 2 }, { 0x4f, 9, 3 },
	};
	struct igt_radeon_stream s;
	unsigned int i, k, taken = 0;

	igt_radeon_require_checker(checker, IGT_RADEON_EVERGREEN);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		dma_init(&s, fd, checker);
		s.reloc_dwords = cases[i].bos * RADEON_GUEST_RELOC_DWORDS;
		igt_radeon_stream_emit(&s, EG_COPY(cases[i].kind, 1));
		for (k = 0; k < cases[i].words; k++)
			igt_radeon_stream_emit(&s, 0);
		if (try(&s) != EINVAL) {
			igt_warn("The kernel takes copies of kind 0x%02x.\n", cases[i].kind);
			taken++;
		}
		igt_radeon_bo_wait(&s.bo);
		igt_radeon_stream_fini(&s);
	}
	igt_assert_eq(taken, 0);
}

int igt_main()
{
	enum igt_radeon_checker checker = IGT_RADEON_CHECKERS;
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		checker = igt_radeon_find_checker(fd);
		igt_require_f(checker != IGT_RADEON_CHECKERS, "no checker that this test knows\n");
		igt_require_f(igt_radeon_has_engine(fd, IGT_RADEON_DMA), "no DMA ring\n");
	}

	igt_describe("A tiled copy within the BO is executed.");
	igt_subtest("tiled-copy")
		test_copy(fd, checker);

	igt_describe("One beyond it is not.");
	igt_subtest("tiled-beyond")
		test_beyond(fd, checker);

	igt_describe("Packets end in their stream.");
	igt_subtest("packet-without-end")
		test_end(fd, checker);

	igt_describe("Packets that nothing bounds are refused.");
	igt_subtest("copies-without-bounds")
		test_kinds(fd, checker);

	igt_fixture()
		close(fd);
}
