// SPDX-License-Identifier: MIT
/*
 * Command streams that the kernel must refuse, and one that it must take. Kernels
 * without the fixes in kernel/fixes/ crash, stop responding, or submit what they
 * have not checked: run it only where that does no harm.
 *
 * A stream ends with a wait for a vertical line of a CRTC that does not exist. The
 * kernel's checker refuses that with -ENOENT, which nothing before it returns. So
 * -ENOENT says that all before it has passed the check, and the GPU does not get the
 * stream. Fields and registers are those of r600d.h and evergreend.h.
 */
#include "igt.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "igt_radeon.h"
#include "igt_radeon_process.h"
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

#define PACKET0(reg)			((reg) >> 2)
#define PACKET3(op, count)		(3u << 30 | ((count) & 0x3fff) << 16 | (op) << 8)
#define PACKET3_NOP			0x10
#define PACKET3_DRAW_INDEX_AUTO		0x2d
#define PACKET3_WAIT_REG_MEM		0x3c
#define PACKET3_MEM_WRITE		0x3d
#define PACKET3_SET_CONTEXT_REG		0x69
#define PACKET3_SET_RESOURCE		0x6d
#define CONTEXT_REG_START		0x28000

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

#define VLINE_STAT			(1 << 12)
#define NO_CRTC				0xffffffffu

#define BO_SIZE				(1 * MIB)
#define MAX_DWORDS			512
/* A checker needs microseconds. Some loops of faulty ones take minutes. */
#define CHECK_SECONDS			10

/**
 * enum checker - the checker of a chip's command streams
 * @R600: r600_cs.c, R600 to RV740
 * @EVERGREEN: evergreen_cs.c, CEDAR to ARUBA
 * @CHECKERS: number of them
 */
enum checker { R600, EVERGREEN, CHECKERS };

/* Of the first CRTC; a stream names a CRTC by its id, and the kernel puts in the others. */
static const struct { uint32_t start_end, status; } vline[CHECKERS] = {
	[R600] = { 0x6538, 0x653c },
	[EVERGREEN] = { 0x6b08, 0x6bb8 },
};

/**
 * struct stream - a command stream for the graphics ring
 * @fd: device
 * @checker: for which checker
 * @bo: BO of the only relocation
 * @reloc_dwords: size of the chunk of relocations
 * @n: dwords in @ib
 * @ib: packets
 */
struct stream {
	int fd;
	enum checker checker;
	struct igt_radeon_bo bo;
	uint32_t reloc_dwords;
	unsigned int n;
	uint32_t ib[MAX_DWORDS];
};

static void stream_init(struct stream *s, int fd, enum checker checker)
{
	memset(s, 0, sizeof(*s));
	s->fd = fd;
	s->checker = checker;
	s->reloc_dwords = RADEON_GUEST_RELOC_DWORDS;
	igt_radeon_bo_init(&s->bo, fd, BO_SIZE, RADEON_GEM_DOMAIN_VRAM, 0);
}

static void stream_fini(struct stream *s)
{
	igt_radeon_bo_fini(&s->bo);
}

static void emit(struct stream *s, uint32_t dword)
{
	igt_assert(s->n < MAX_DWORDS);
	s->ib[s->n++] = dword;
}

static void emit_reloc(struct stream *s)
{
	emit(s, PACKET3(PACKET3_NOP, 0));
	emit(s, 0);
}

static void set_reg(struct stream *s, uint32_t reg, uint32_t value)
{
	emit(s, PACKET3(PACKET3_SET_CONTEXT_REG, 1));
	emit(s, (reg - CONTEXT_REG_START) >> 2);
	emit(s, value);
}

/* A register with an address or with fields of tiling. */
static void set_reg_reloc(struct stream *s, uint32_t reg, uint32_t value)
{
	set_reg(s, reg, value);
	emit_reloc(s);
}

/* A register with an address: that of the BO. */
static void set_address(struct stream *s, uint32_t reg)
{
	set_reg_reloc(s, reg, 0);
}

static void draw(struct stream *s)
{
	emit(s, PACKET3(PACKET3_DRAW_INDEX_AUTO, 1));
	emit(s, 3);
	emit(s, 2);
}

static void write_one(struct stream *s, uint32_t value)
{
	emit(s, PACKET3(PACKET3_MEM_WRITE, 3));
	emit(s, 0);
	emit(s, 0);
	emit(s, value);
	emit(s, value);
	emit_reloc(s);
}

/* Ends the stream so that the kernel refuses it with -ENOENT. */
static void end(struct stream *s)
{
	emit(s, PACKET0(vline[s->checker].start_end));
	emit(s, 0);
	emit(s, PACKET3(PACKET3_WAIT_REG_MEM, 5));
	emit(s, 3);	/* until the register equals */
	emit(s, vline[s->checker].status >> 2);
	emit(s, 0);
	emit(s, 0);
	emit(s, VLINE_STAT);
	emit(s, 10);
	emit(s, PACKET3(PACKET3_NOP, 0));
	emit(s, NO_CRTC);
}

static int submit(void *data)
{
	const struct stream *s = data;
	/* Some tests have a part of a second relocation. */
	struct drm_radeon_cs_reloc relocs[2] = {
		{ .handle = s->bo.handle, .write_domain = s->bo.domain },
	};

	return -radeon_guest_submit_chunks(s->fd, 0, RADEON_CS_RING_GFX, s->ib, s->n, relocs,
					   s->reloc_dwords);
}

/* Returns 0 or the errno of the submission, which a process of its own makes. */
static int try(struct stream *s)
{
	int status = igt_radeon_reap(igt_radeon_spawn(submit, s), CHECK_SECONDS);

	igt_assert_f(WIFEXITED(status), "the kernel killed the process in its ioctl\n");
	return WEXITSTATUS(status);
}

static void expect_refused(struct stream *s)
{
	end(s);
	igt_assert_eq(try(s), EINVAL);
	stream_fini(s);
}

static void expect_passed(struct stream *s)
{
	end(s);
	igt_assert_eq(try(s), ENOENT);
	stream_fini(s);
}

/* Whose checker the device has: only that one knows the registers of the end. */
static enum checker find_checker(int fd)
{
	struct stream s;
	unsigned int i;
	int ret;

	for (i = 0; i < CHECKERS; i++) {
		stream_init(&s, fd, i);
		end(&s);
		ret = try(&s);
		stream_fini(&s);
		if (ret == ENOENT)
			return i;
		igt_assert_eq(ret, EINVAL);
	}
	return CHECKERS;
}

static void require(enum checker has, enum checker needs)
{
	igt_require_f(has == needs, "another family has this checker\n");
}

/* A linear colour buffer of 64x64 pixels, without its size. */
static void colour(struct stream *s, uint32_t info)
{
	set_address(s, CB_COLOR0_BASE);
	set_reg(s, CB_COLOR0_INFO, COLOR_8_8_8_8 | info);
	set_reg(s, CB_COLOR0_MASK, 0);
	set_reg(s, DB_DEPTH_CONTROL, 0);
}

static void test_mask(int fd, enum checker checker, uint32_t info)
{
	struct stream s;
	unsigned int bases;

	require(checker, R600);
	/* Without any, with one of those that FMASK needs, with all. */
	for (bases = 0; bases < 3; bases++) {
		if (info == CLEAR_ENABLE && bases == 1)
			continue;
		stream_init(&s, fd, checker);
		colour(&s, info);
		set_reg(&s, CB_COLOR0_SIZE, SIZE_64X64);
		if (bases)
			set_address(&s, CB_COLOR0_TILE);
		if (bases == 2)
			set_address(&s, CB_COLOR0_FRAG);
		draw(&s);
		if (bases == 2)
			expect_passed(&s);
		else
			expect_refused(&s);
	}
}

static void texture(struct stream *s, unsigned int base_level, uint32_t offset)
{
	emit(s, PACKET3(PACKET3_SET_RESOURCE, TEXTURE_DWORDS));
	emit(s, 0);
	emit(s, TEXTURE_2D);
	emit(s, TEXTURE_8_8_8_8);
	emit(s, offset / 256);
	emit(s, 0);
	emit(s, BASE_LEVEL(base_level));
	emit(s, 0);
	emit(s, VALID_TEXTURE);
	emit_reloc(s);
	emit_reloc(s);
}

static void test_levels(int fd, enum checker checker, unsigned int above)
{
	/* The sum of an unknown size, -1, and an offset of 256 would be in bounds. */
	static const uint32_t offsets[] = { 0, 256 };
	struct stream s;
	unsigned int i;

	require(checker, R600);
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		stream_init(&s, fd, checker);
		texture(&s, 0, offsets[i]);
		expect_passed(&s);
		stream_init(&s, fd, checker);
		texture(&s, above, offsets[i]);
		expect_refused(&s);
	}
}

static void test_several(int fd, enum checker checker)
{
	/*
	 * With 15 of 7 dwords, a step of 8 makes the address of one buffer the type
	 * of the next.
	 */
	static const unsigned int counts[] = { 1, 2, 15, 40 };
	struct stream s;
	unsigned int i, k;

	require(checker, R600);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		stream_init(&s, fd, checker);
		emit(&s, PACKET3(PACKET3_SET_RESOURCE, counts[i] * TEXTURE_DWORDS));
		emit(&s, 0);
		for (k = 0; k < counts[i]; k++) {
			emit(&s, 0);
			emit(&s, PAGE - 1);
			emit(&s, 0);
			emit(&s, 0);
			emit(&s, 0);
			emit(&s, 0);
			emit(&s, VALID_BUFFER);
		}
		for (k = 0; k < counts[i]; k++)
			emit_reloc(&s);
		expect_passed(&s);
	}
}

/*
 * If the kernel takes such a draw, does it change the stream's first packet? That one
 * has a packet as its data that skips all others.
 */
static void report_effect(int fd, enum checker checker)
{
	struct stream s;
	uint32_t *map;

	stream_init(&s, fd, checker);
	map = igt_radeon_bo_map(&s.bo);
	map[0] = 0;
	emit(&s, PACKET3(PACKET3_NOP, 1));
	emit(&s, 0);
	emit(&s, 0);
	write_one(&s, 1);
	colour(&s, 0);
	draw(&s);
	while (s.n % 8)
		emit(&s, RADEON_GUEST_PACKET2);
	s.ib[2] = PACKET3(PACKET3_NOP, s.n - 4);
	if (!try(&s)) {
		igt_radeon_bo_wait(&s.bo);
		igt_warn("The GPU executed the %s.\n", map[0] ?
			 "stream" : "data of the first packet, which nothing has checked");
	}
	stream_fini(&s);
}

static void test_size(int fd, enum checker checker)
{
	struct stream s;
	int ret;

	require(checker, R600);
	stream_init(&s, fd, checker);
	colour(&s, 0);
	set_reg(&s, CB_COLOR0_SIZE, SIZE_64X64);
	draw(&s);
	expect_passed(&s);

	stream_init(&s, fd, checker);
	colour(&s, 0);
	draw(&s);
	end(&s);
	ret = try(&s);
	stream_fini(&s);
	if (ret == ENOENT)
		report_effect(fd, checker);
	igt_assert_eq(ret, EINVAL);
}

/* A depth or stencil buffer of 64x64 pixels, without addresses and slice. */
static void depth(struct stream *s, uint32_t control, uint32_t info)
{
	set_reg(s, DB_DEPTH_VIEW, 0);
	set_reg(s, DB_Z_INFO, (control == Z_ENABLE ? Z_24 : 0) | info);
	set_reg(s, DB_STENCIL_INFO, control == STENCIL_ENABLE ? STENCIL_8 : 0);
	set_reg(s, DB_DEPTH_SIZE, PITCH(64));
	set_reg(s, DB_DEPTH_CONTROL, control);
}

static void test_depth(int fd, enum checker checker, uint32_t control)
{
	const uint32_t read = control == Z_ENABLE ? DB_Z_READ_BASE : DB_STENCIL_READ_BASE;
	const uint32_t write = control == Z_ENABLE ? DB_Z_WRITE_BASE : DB_STENCIL_WRITE_BASE;
	struct stream s;
	unsigned int bases;

	require(checker, EVERGREEN);
	for (bases = 0; bases < 4; bases++) {
		stream_init(&s, fd, checker);
		depth(&s, control, 0);
		set_reg(&s, DB_DEPTH_SLICE, SLICE(64, 64));
		if (bases & 1)
			set_address(&s, read);
		if (bases & 2)
			set_address(&s, write);
		draw(&s);
		if (bases == 3)
			expect_passed(&s);
		else
			expect_refused(&s);
	}
}

/* The slice is not set. */
#define NO_SLICE			UINT64_MAX

/* Draws with a colour buffer of Evergreen, and tells whether the stream passes. */
static void draw_colour(int fd, enum checker checker, uint32_t pitch, uint64_t slice,
			uint32_t info, uint32_t attrib, void (*expect)(struct stream *s))
{
	struct stream s;

	require(checker, EVERGREEN);
	stream_init(&s, fd, checker);
	set_address(&s, EG_CB_COLOR0_BASE);
	set_reg(&s, EG_CB_COLOR0_PITCH, pitch);
	if (slice != NO_SLICE)
		set_reg(&s, EG_CB_COLOR0_SLICE, slice);
	set_reg(&s, EG_CB_COLOR0_VIEW, 0);
	set_reg(&s, EG_CB_COLOR0_INFO, info);
	set_reg_reloc(&s, EG_CB_COLOR0_ATTRIB, attrib);
	set_reg(&s, CB_TARGET_MASK, 0xf);
	set_reg(&s, DB_DEPTH_CONTROL, 0);
	draw(&s);
	expect(&s);
}

static void draw_linear(int fd, enum checker checker, uint32_t pitch, uint64_t slice,
			void (*expect)(struct stream *s))
{
	draw_colour(fd, checker, pitch, slice, COLOR_8_8_8_8 | LINEAR_ALIGNED, 0, expect);
}

/* Draws with a depth or stencil buffer, in @info and @htile with HTILE. */
static void draw_depth(int fd, enum checker checker, uint32_t control, uint64_t slice,
		       uint32_t info, uint32_t htile, void (*expect)(struct stream *s))
{
	struct stream s;

	require(checker, EVERGREEN);
	stream_init(&s, fd, checker);
	depth(&s, control, info);
	if (slice != NO_SLICE)
		set_reg(&s, DB_DEPTH_SLICE, slice);
	set_address(&s, DB_Z_READ_BASE);
	set_address(&s, DB_Z_WRITE_BASE);
	set_address(&s, DB_STENCIL_READ_BASE);
	set_address(&s, DB_STENCIL_WRITE_BASE);
	if (info) {
		set_reg_reloc(&s, DB_HTILE_DATA_BASE, htile);
		set_reg(&s, DB_HTILE_SURFACE, 0);
	}
	draw(&s);
	expect(&s);
}

static void test_pitch(int fd, enum checker checker)
{
	draw_linear(fd, checker, PITCH(64), SLICE(64, 64), expect_passed);
	/* The chip has 11 bits of it: 16,384 pixels. */
	draw_linear(fd, checker, UINT32_MAX, SLICE(16384, 1), expect_passed);
	draw_linear(fd, checker, UINT32_MAX, SLICE(16384, 64), expect_refused);
	/* The lowest one that makes a width of 0. */
	draw_linear(fd, checker, UINT32_MAX / 8, SLICE(16384, 64), expect_refused);
}

static void test_slice(int fd, enum checker checker, uint64_t slice)
{
	draw_linear(fd, checker, PITCH(64), SLICE(64, 64), expect_passed);
	draw_linear(fd, checker, PITCH(64), slice, expect_refused);
	draw_depth(fd, checker, Z_ENABLE, SLICE(64, 64), 0, 0, expect_passed);
	draw_depth(fd, checker, Z_ENABLE, slice, 0, 0, expect_refused);
	draw_depth(fd, checker, STENCIL_ENABLE, SLICE(64, 64), 0, 0, expect_passed);
	draw_depth(fd, checker, STENCIL_ENABLE, slice, 0, 0, expect_refused);
}

static void test_layer(int fd, enum checker checker)
{
	const uint32_t info = COLOR_32_32_32_32_FLOAT | LINEAR_ALIGNED;

	draw_colour(fd, checker, PITCH(64), SLICE(64, 64), info, 0, expect_passed);
	draw_colour(fd, checker, PITCH(16384), SLICE_MAX, info, 0, expect_refused);
}

static void test_htile(int fd, enum checker checker)
{
	/* In units of 256 bytes: the beginning and the end of the BO. */
	draw_depth(fd, checker, Z_ENABLE, SLICE(64, 64), TILE_SURFACE_ENABLE, 0, expect_passed);
	draw_depth(fd, checker, Z_ENABLE, SLICE(64, 64), TILE_SURFACE_ENABLE, BO_SIZE / 256,
		   expect_refused);
}

static void test_macro_tile(int fd, enum checker checker)
{
	const uint32_t info = COLOR_8_8_8_8 | TILED_2D;
	unsigned int aspect;

	/* Two banks, of 8 tiles each; then of one, and four or eight tiles side by side. */
	draw_colour(fd, checker, PITCH(512), SLICE(512, 128), info,
		    TILE_SPLIT_1024 | BANK_HEIGHT(3) | ASPECT(0), expect_passed);
	for (aspect = 2; aspect <= 3; aspect++)
		draw_colour(fd, checker, PITCH(4096), SLICE(4096, 4096), info,
			    TILE_SPLIT_1024 | BANK_HEIGHT(0) | ASPECT(aspect), expect_refused);
}

static void test_part(int fd, enum checker checker)
{
	struct stream s;
	uint32_t part;

	igt_require_f(checker != CHECKERS, "no checker that this test knows\n");
	for (part = 1; part <= RADEON_GUEST_RELOC_DWORDS; part++) {
		stream_init(&s, fd, checker);
		s.reloc_dwords = part;
		write_one(&s, 1);
		if (part == RADEON_GUEST_RELOC_DWORDS)
			expect_passed(&s);
		else
			expect_refused(&s);
	}
	/* Behind a whole one */
	stream_init(&s, fd, checker);
	s.reloc_dwords = RADEON_GUEST_RELOC_DWORDS + 1;
	write_one(&s, 1);
	s.ib[s.n - 1] = RADEON_GUEST_RELOC_DWORDS;
	expect_refused(&s);
}

int igt_main()
{
	enum checker checker = CHECKERS;
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		checker = find_checker(fd);
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
