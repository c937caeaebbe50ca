// SPDX-License-Identifier: MIT
/*
 * Command streams that the kernel must refuse, and one that it must take. Kernels
 * without the fixes in kernel/fixes/ crash, stop responding, or submit what they
 * have not checked: run it only where that does no harm.
 * Fields and registers are those of r600d.h and evergreend.h.
 */
#include "igt.h"

#include <errno.h>
#include <unistd.h>

#include "igt_radeon.h"
#include "igt_radeon_stream.h"
#include "radeon_guest.h"

/**
 * TEST: radeon cs check
 * Category: Core
 * Mega feature: General Display Features
 * Sub-category: radeon
 * Functionality: command submission
 * Test category: functionality test
 * Description: Command streams that the kernel's checker must refuse or take.
 *
 * SUBTEST: cmask-without-buffer
 * Description: A colour buffer with CMASK, and no address of one, is refused (R600,
 *              R700).
 *
 * SUBTEST: fmask-without-buffer
 * Description: A colour buffer with FMASK, and no address of one, is refused (R600,
 *              R700).
 *
 * SUBTEST: base-level-one-above
 * Description: A texture whose base level is one above its last level is refused (R600,
 *              R700).
 *
 * SUBTEST: base-level-far-above
 * Description: A texture whose base level is 15 above its last level is refused soon
 *              (R600, R700).
 *
 * SUBTEST: several-buffers
 * Description: One packet may set several vertex buffers (R600, R700).
 *
 * SUBTEST: colour-without-size
 * Description: A draw to a colour buffer whose size the stream does not set is refused
 *              (R600, R700).
 *
 * SUBTEST: depth-without-buffer
 * Description: A depth test without addresses of a depth buffer is refused
 *              (Evergreen to Cayman).
 *
 * SUBTEST: stencil-without-buffer
 * Description: A stencil test without addresses of a stencil buffer is refused
 *              (Evergreen to Cayman).
 *
 * SUBTEST: pitch-of-all-ones
 * Description: A colour buffer whose pitch has all bits set is as wide as the chip takes
 *              it for (Evergreen to Cayman).
 *
 * SUBTEST: slice-wraps
 * Description: A slice of colour or depth that needs no bytes if bits are used that the
 *              chip does not have is refused (Evergreen to Cayman).
 *
 * SUBTEST: slice-not-set
 * Description: A draw to a colour or depth buffer whose slice the stream does not set is
 *              refused (Evergreen to Cayman).
 *
 * SUBTEST: layer-wraps
 * Description: A colour buffer of 4 GiB, 0 in 32 bits, is refused (Evergreen to Cayman).
 *
 * SUBTEST: htile-beyond
 * Description: HTILE behind the end of its BO is refused (Evergreen to Cayman).
 *
 * SUBTEST: macro-tile-without-bytes
 * Description: Macro tiles that are lower than a tile are refused (Evergreen to Cayman).
 *
 * SUBTEST: part-of-a-relocation
 * Description: A packet cannot use a relocation of which the stream has only a part.
 */

IGT_TEST_DESCRIPTION("Command streams that the kernel's checker must refuse or take.");

/* R600, R700 */
#define CB_COLOR0_BASE			0x28040
#define CB_COLOR0_SIZE			0x28060
#define   SIZE_64X64			(63 << 10 | 7)
#define CB_COLOR0_INFO			0x280a0
#define   COLOR_8_8_8_8			(0x1a << 2)
#define   CLEAR_ENABLE			(1 << 18)
#define   FRAG_ENABLE			(2 << 18)
#define CB_COLOR0_TILE			0x280c0
#define CB_COLOR0_FRAG			0x280e0
#define CB_COLOR0_MASK			0x28100
#define TEXTURE_DWORDS			7
#define   TEXTURE_2D			1
#define   TEXTURE_8_8_8_8		(0x1a << 26)
#define   BASE_LEVEL(level)		((uint32_t)(level) << 28)
#define   VALID_TEXTURE			(2u << 30)
#define   VALID_BUFFER			(3u << 30)
/* Both families */
#define DB_DEPTH_CONTROL		0x28800
#define   STENCIL_ENABLE		(1 << 0)
#define   Z_ENABLE			(1 << 1)
/* Evergreen to Cayman */
#define DB_DEPTH_VIEW			0x28008
#define DB_Z_INFO			0x28040
#define   Z_24				2
#define DB_STENCIL_INFO			0x28044
#define   STENCIL_8			1
#define DB_Z_READ_BASE			0x28048
#define DB_STENCIL_READ_BASE		0x2804c
#define DB_Z_WRITE_BASE			0x28050
#define DB_STENCIL_WRITE_BASE		0x28054
#define DB_DEPTH_SIZE			0x28058
#define DB_DEPTH_SLICE			0x2805c
#define DB_HTILE_DATA_BASE		0x28014
#define DB_HTILE_SURFACE		0x28abc
#define   TILE_SURFACE_ENABLE		(1 << 29)
#define CB_TARGET_MASK			0x28238
/* As R600's of the first buffer, but at other places. */
#define EG_CB_COLOR0_BASE		0x28c60
#define EG_CB_COLOR0_PITCH		0x28c64
#define EG_CB_COLOR0_SLICE		0x28c68
#define EG_CB_COLOR0_VIEW		0x28c6c
#define EG_CB_COLOR0_INFO		0x28c70
#define   COLOR_32_32_32_32_FLOAT	(0x23 << 2)
#define   LINEAR_ALIGNED		(1 << 8)
#define   TILED_2D			(4 << 8)
#define EG_CB_COLOR0_ATTRIB		0x28c74
#define   TILE_SPLIT_1024		(4 << 5)
#define   BANK_HEIGHT(n)		((n) << 16)
#define   ASPECT(n)			((n) << 19)
/* Pitch and slice of so many pixels; the fields have 11 and 22 bits. */
#define PITCH(width)			((width) / 8 - 1)
#define SLICE(width, height)		((width) * (height) / 64 - 1)
#define SLICE_MAX			0x3fffff

static void write_one(struct igt_radeon_stream *s, uint32_t value)
{
	igt_radeon_stream_emit(s, PACKET3(PACKET3_MEM_WRITE, 3));
	igt_radeon_stream_emit(s, 0);
	igt_radeon_stream_emit(s, 0);
	igt_radeon_stream_emit(s, value);
	igt_radeon_stream_emit(s, value);
	igt_radeon_stream_reloc(s);
}

/* A linear colour buffer of 64x64 pixels, without its size. */
static void colour(struct igt_radeon_stream *s, uint32_t info)
{
	igt_radeon_stream_address(s, CB_COLOR0_BASE);
	igt_radeon_stream_reg(s, CB_COLOR0_INFO, COLOR_8_8_8_8 | info);
	igt_radeon_stream_reg(s, CB_COLOR0_MASK, 0);
	igt_radeon_stream_reg(s, DB_DEPTH_CONTROL, 0);
}

static void test_mask(int fd, enum igt_radeon_checker checker, uint32_t info)
{
	struct igt_radeon_stream s;
	unsigned int bases;

	igt_radeon_require_checker(checker, IGT_RADEON_R600);
	/* Without any, with one of those that FMASK needs, with all. */
	for (bases = 0; bases < 3; bases++) {
		if (info == CLEAR_ENABLE && bases == 1)
			continue;
		igt_radeon_stream_init(&s, fd, checker);
		colour(&s, info);
		igt_radeon_stream_reg(&s, CB_COLOR0_SIZE, SIZE_64X64);
		if (bases)
			igt_radeon_stream_address(&s, CB_COLOR0_TILE);
		if (bases == 2)
			igt_radeon_stream_address(&s, CB_COLOR0_FRAG);
		igt_radeon_stream_draw(&s);
		if (bases == 2)
			igt_radeon_stream_passed(&s);
		else
			igt_radeon_stream_refused(&s);
	}
}

static void texture(struct igt_radeon_stream *s, unsigned int base_level, uint32_t offset)
{
	igt_radeon_stream_emit(s, PACKET3(PACKET3_SET_RESOURCE, TEXTURE_DWORDS));
	igt_radeon_stream_emit(s, 0);
	igt_radeon_stream_emit(s, TEXTURE_2D);
	igt_radeon_stream_emit(s, TEXTURE_8_8_8_8);
	igt_radeon_stream_emit(s, offset / 256);
	igt_radeon_stream_emit(s, 0);
	igt_radeon_stream_emit(s, BASE_LEVEL(base_level));
	igt_radeon_stream_emit(s, 0);
	igt_radeon_stream_emit(s, VALID_TEXTURE);
	igt_radeon_stream_reloc(s);
	igt_radeon_stream_reloc(s);
}

static void test_levels(int fd, enum igt_radeon_checker checker, unsigned int above)
{
	/* The sum of an unknown size, -1, and an offset of 256 would be in bounds. */
	static const uint32_t offsets[] = { 0, 256 };
	struct igt_radeon_stream s;
	unsigned int i;

	igt_radeon_require_checker(checker, IGT_RADEON_R600);
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		igt_radeon_stream_init(&s, fd, checker);
		texture(&s, 0, offsets[i]);
		igt_radeon_stream_passed(&s);
		igt_radeon_stream_init(&s, fd, checker);
		texture(&s, above, offsets[i]);
		igt_radeon_stream_refused(&s);
	}
}

static void test_several(int fd, enum igt_radeon_checker checker)
{
	/*
	 * With 15 of 7 dwords, a step of 8 makes the address of one buffer the type
	 * of the next.
	 */
	static const unsigned int counts[] = { 1, 2, 15, 40 };
	struct igt_radeon_stream s;
	unsigned int i, k;

	igt_radeon_require_checker(checker, IGT_RADEON_R600);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		igt_radeon_stream_init(&s, fd, checker);
		igt_radeon_stream_emit(&s, PACKET3(PACKET3_SET_RESOURCE, counts[i] * TEXTURE_DWORDS));
		igt_radeon_stream_emit(&s, 0);
		for (k = 0; k < counts[i]; k++) {
			igt_radeon_stream_emit(&s, 0);
			igt_radeon_stream_emit(&s, PAGE - 1);
			igt_radeon_stream_emit(&s, 0);
			igt_radeon_stream_emit(&s, 0);
			igt_radeon_stream_emit(&s, 0);
			igt_radeon_stream_emit(&s, 0);
			igt_radeon_stream_emit(&s, VALID_BUFFER);
		}
		for (k = 0; k < counts[i]; k++)
			igt_radeon_stream_reloc(&s);
		igt_radeon_stream_passed(&s);
	}
}

/*
 * If the kernel takes such a draw, does it change the stream's first packet? That one
 * has a packet as its data that skips all others.
 */
static void report_effect(int fd, enum igt_radeon_checker checker)
{
	struct igt_radeon_stream s;
	uint32_t *map;

	igt_radeon_stream_init(&s, fd, checker);
	map = igt_radeon_bo_map(&s.bo);
	map[0] = 0;
	igt_radeon_stream_emit(&s, PACKET3(PACKET3_NOP, 1));
	igt_radeon_stream_emit(&s, 0);
	igt_radeon_stream_emit(&s, 0);
	write_one(&s, 1);
	colour(&s, 0);
	igt_radeon_stream_draw(&s);
	while (s.n % 8)
		igt_radeon_stream_emit(&s, RADEON_GUEST_PACKET2);
	s.ib[2] = PACKET3(PACKET3_NOP, s.n - 4);
	if (!igt_radeon_stream_try(&s)) {
		igt_radeon_bo_wait(&s.bo);
		igt_warn("The GPU executed the %s.\n", map[0] ?
			 "stream" : "data of the first packet, which nothing has checked");
	}
	igt_radeon_stream_fini(&s);
}

static void test_size(int fd, enum igt_radeon_checker checker)
{
	struct igt_radeon_stream s;
	int ret;

	igt_radeon_require_checker(checker, IGT_RADEON_R600);
	igt_radeon_stream_init(&s, fd, checker);
	colour(&s, 0);
	igt_radeon_stream_reg(&s, CB_COLOR0_SIZE, SIZE_64X64);
	igt_radeon_stream_draw(&s);
	igt_radeon_stream_passed(&s);

	igt_radeon_stream_init(&s, fd, checker);
	colour(&s, 0);
	igt_radeon_stream_draw(&s);
	igt_radeon_stream_end(&s);
	ret = igt_radeon_stream_try(&s);
	igt_radeon_stream_fini(&s);
	if (ret == ENOENT)
		report_effect(fd, checker);
	igt_assert_eq(ret, EINVAL);
}

/* A depth or stencil buffer of 64x64 pixels, without addresses and slice. */
static void depth(struct igt_radeon_stream *s, uint32_t control, uint32_t info)
{
	igt_radeon_stream_reg(s, DB_DEPTH_VIEW, 0);
	igt_radeon_stream_reg(s, DB_Z_INFO, (control == Z_ENABLE ? Z_24 : 0) | info);
	igt_radeon_stream_reg(s, DB_STENCIL_INFO, control == STENCIL_ENABLE ? STENCIL_8 : 0);
	igt_radeon_stream_reg(s, DB_DEPTH_SIZE, PITCH(64));
	igt_radeon_stream_reg(s, DB_DEPTH_CONTROL, control);
}

static void test_depth(int fd, enum igt_radeon_checker checker, uint32_t control)
{
	const uint32_t read = control == Z_ENABLE ? DB_Z_READ_BASE : DB_STENCIL_READ_BASE;
	const uint32_t write = control == Z_ENABLE ? DB_Z_WRITE_BASE : DB_STENCIL_WRITE_BASE;
	struct igt_radeon_stream s;
	unsigned int bases;

	igt_radeon_require_checker(checker, IGT_RADEON_EVERGREEN);
	for (bases = 0; bases < 4; bases++) {
		igt_radeon_stream_init(&s, fd, checker);
		depth(&s, control, 0);
		igt_radeon_stream_reg(&s, DB_DEPTH_SLICE, SLICE(64, 64));
		if (bases & 1)
			igt_radeon_stream_address(&s, read);
		if (bases & 2)
			igt_radeon_stream_address(&s, write);
		igt_radeon_stream_draw(&s);
		if (bases == 3)
			igt_radeon_stream_passed(&s);
		else
			igt_radeon_stream_refused(&s);
	}
}

/* The slice is not set. */
#define NO_SLICE			UINT64_MAX

/* Draws with a colour buffer of Evergreen, and tells whether the stream passes. */
static void draw_colour(int fd, enum igt_radeon_checker checker, uint32_t pitch, uint64_t slice,
			uint32_t info, uint32_t attrib, void (*expect)(struct igt_radeon_stream *s))
{
	struct igt_radeon_stream s;

	igt_radeon_require_checker(checker, IGT_RADEON_EVERGREEN);
	igt_radeon_stream_init(&s, fd, checker);
	igt_radeon_stream_address(&s, EG_CB_COLOR0_BASE);
	igt_radeon_stream_reg(&s, EG_CB_COLOR0_PITCH, pitch);
	if (slice != NO_SLICE)
		igt_radeon_stream_reg(&s, EG_CB_COLOR0_SLICE, slice);
	igt_radeon_stream_reg(&s, EG_CB_COLOR0_VIEW, 0);
	igt_radeon_stream_reg(&s, EG_CB_COLOR0_INFO, info);
	igt_radeon_stream_reg_reloc(&s, EG_CB_COLOR0_ATTRIB, attrib);
	igt_radeon_stream_reg(&s, CB_TARGET_MASK, 0xf);
	igt_radeon_stream_reg(&s, DB_DEPTH_CONTROL, 0);
	igt_radeon_stream_draw(&s);
	expect(&s);
}

static void draw_linear(int fd, enum igt_radeon_checker checker, uint32_t pitch, uint64_t slice,
			void (*expect)(struct igt_radeon_stream *s))
{
	draw_colour(fd, checker, pitch, slice, COLOR_8_8_8_8 | LINEAR_ALIGNED, 0, expect);
}

/* Draws with a depth or stencil buffer, in @info and @htile with HTILE. */
static void draw_depth(int fd, enum igt_radeon_checker checker, uint32_t control, uint64_t slice,
		       uint32_t info, uint32_t htile, void (*expect)(struct igt_radeon_stream *s))
{
	struct igt_radeon_stream s;

	igt_radeon_require_checker(checker, IGT_RADEON_EVERGREEN);
	igt_radeon_stream_init(&s, fd, checker);
	depth(&s, control, info);
	if (slice != NO_SLICE)
		igt_radeon_stream_reg(&s, DB_DEPTH_SLICE, slice);
	igt_radeon_stream_address(&s, DB_Z_READ_BASE);
	igt_radeon_stream_address(&s, DB_Z_WRITE_BASE);
	igt_radeon_stream_address(&s, DB_STENCIL_READ_BASE);
	igt_radeon_stream_address(&s, DB_STENCIL_WRITE_BASE);
	if (info) {
		igt_radeon_stream_reg_reloc(&s, DB_HTILE_DATA_BASE, htile);
		igt_radeon_stream_reg(&s, DB_HTILE_SURFACE, 0);
	}
	igt_radeon_stream_draw(&s);
	expect(&s);
}

static void test_pitch(int fd, enum igt_radeon_checker checker)
{
	draw_linear(fd, checker, PITCH(64), SLICE(64, 64), igt_radeon_stream_passed);
	/* The chip has 11 bits of it: 16,384 pixels. */
	draw_linear(fd, checker, UINT32_MAX, SLICE(16384, 1), igt_radeon_stream_passed);
	draw_linear(fd, checker, UINT32_MAX, SLICE(16384, 64), igt_radeon_stream_refused);
	/* The lowest one that makes a width of 0. */
	draw_linear(fd, checker, UINT32_MAX / 8, SLICE(16384, 64), igt_radeon_stream_refused);
}

static void test_slice(int fd, enum igt_radeon_checker checker, uint64_t slice)
{
	draw_linear(fd, checker, PITCH(64), SLICE(64, 64), igt_radeon_stream_passed);
	draw_linear(fd, checker, PITCH(64), slice, igt_radeon_stream_refused);
	draw_depth(fd, checker, Z_ENABLE, SLICE(64, 64), 0, 0, igt_radeon_stream_passed);
	draw_depth(fd, checker, Z_ENABLE, slice, 0, 0, igt_radeon_stream_refused);
	draw_depth(fd, checker, STENCIL_ENABLE, SLICE(64, 64), 0, 0, igt_radeon_stream_passed);
	draw_depth(fd, checker, STENCIL_ENABLE, slice, 0, 0, igt_radeon_stream_refused);
}

static void test_layer(int fd, enum igt_radeon_checker checker)
{
	const uint32_t info = COLOR_32_32_32_32_FLOAT | LINEAR_ALIGNED;

	draw_colour(fd, checker, PITCH(64), SLICE(64, 64), info, 0, igt_radeon_stream_passed);
	draw_colour(fd, checker, PITCH(16384), SLICE_MAX, info, 0, igt_radeon_stream_refused);
}

static void test_htile(int fd, enum igt_radeon_checker checker)
{
	/* In units of 256 bytes: the beginning and the end of the BO. */
	draw_depth(fd, checker, Z_ENABLE, SLICE(64, 64), TILE_SURFACE_ENABLE, 0, igt_radeon_stream_passed);
	draw_depth(fd, checker, Z_ENABLE, SLICE(64, 64), TILE_SURFACE_ENABLE, IGT_RADEON_STREAM_BO / 256,
		   igt_radeon_stream_refused);
}

static void test_macro_tile(int fd, enum igt_radeon_checker checker)
{
	const uint32_t info = COLOR_8_8_8_8 | TILED_2D;
	unsigned int aspect;

	/* Two banks, of 8 tiles each; then of one, and four or eight tiles side by side. */
	draw_colour(fd, checker, PITCH(512), SLICE(512, 128), info,
		    TILE_SPLIT_1024 | BANK_HEIGHT(3) | ASPECT(0), igt_radeon_stream_passed);
	for (aspect = 2; aspect <= 3; aspect++)
		draw_colour(fd, checker, PITCH(4096), SLICE(4096, 4096), info,
			    TILE_SPLIT_1024 | BANK_HEIGHT(0) | ASPECT(aspect), igt_radeon_stream_refused);
}

static void test_part(int fd, enum igt_radeon_checker checker)
{
	struct igt_radeon_stream s;
	uint32_t part;

	igt_require_f(checker != IGT_RADEON_CHECKERS, "no checker that this test knows\n");
	for (part = 1; part <= RADEON_GUEST_RELOC_DWORDS; part++) {
		igt_radeon_stream_init(&s, fd, checker);
		s.reloc_dwords = part;
		write_one(&s, 1);
		if (part == RADEON_GUEST_RELOC_DWORDS)
			igt_radeon_stream_passed(&s);
		else
			igt_radeon_stream_refused(&s);
	}
	/* Behind a whole one */
	igt_radeon_stream_init(&s, fd, checker);
	s.reloc_dwords = RADEON_GUEST_RELOC_DWORDS + 1;
	write_one(&s, 1);
	s.ib[s.n - 1] = RADEON_GUEST_RELOC_DWORDS;
	igt_radeon_stream_refused(&s);
}

int igt_main()
{
	enum igt_radeon_checker checker = IGT_RADEON_CHECKERS;
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		checker = igt_radeon_find_checker(fd);
	}

	igt_describe("CMASK needs an address.");
	igt_subtest("cmask-without-buffer")
		test_mask(fd, checker, CLEAR_ENABLE);

	igt_describe("FMASK needs addresses of itself and of CMASK.");
	igt_subtest("fmask-without-buffer")
		test_mask(fd, checker, FRAG_ENABLE);

	igt_describe("A base level above the last level is an error.");
	igt_subtest("base-level-one-above")
		test_levels(fd, checker, 1);

	igt_describe("It is found without a loop over all levels that there are not.");
	igt_subtest("base-level-far-above")
		test_levels(fd, checker, 15);

	igt_describe("Each of a packet's vertex buffers gets its own address.");
	igt_subtest("several-buffers")
		test_several(fd, checker);

	igt_describe("A colour buffer needs a size.");
	igt_subtest("colour-without-size")
		test_size(fd, checker);

	igt_describe("A depth test needs addresses for reads and for writes.");
	igt_subtest("depth-without-buffer")
		test_depth(fd, checker, Z_ENABLE);

	igt_describe("A stencil test needs addresses for reads and for writes.");
	igt_subtest("stencil-without-buffer")
		test_depth(fd, checker, STENCIL_ENABLE);

	igt_describe("The height is not divided by a width of 0.");
	igt_subtest("pitch-of-all-ones")
		test_pitch(fd, checker);

	igt_describe("The size of a slice does not wrap to 0.");
	igt_subtest("slice-wraps")
		test_slice(fd, checker, 0x3ffffff);

	igt_describe("A slice that is not set is not taken for one without bytes.");
	igt_subtest("slice-not-set")
		test_slice(fd, checker, NO_SLICE);

	igt_describe("The size of a layer does not wrap to 0.");
	igt_subtest("layer-wraps")
		test_layer(fd, checker);

	igt_describe("HTILE's address is in units of 256 bytes.");
	igt_subtest("htile-beyond")
		test_htile(fd, checker);

	igt_describe("A macro tile has tiles.");
	igt_subtest("macro-tile-without-bytes")
		test_macro_tile(fd, checker);

	igt_describe("Relocations are whole.");
	igt_subtest("part-of-a-relocation")
		test_part(fd, checker);

	igt_fixture()
		close(fd);
}
