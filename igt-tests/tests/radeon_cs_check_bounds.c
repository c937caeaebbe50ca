// SPDX-License-Identifier: MIT
/*
 * Bounds of surfaces and buffers in command streams: the kernel must refuse what is
 * behind the end of the BO, or before its beginning. Kernels without the fixes in
 * kernel/fixes/ take such streams. Fields and registers are those of r600d.h and
 * evergreend.h.
 */
#include "igt.h"

#include <unistd.h>

#include "igt_radeon.h"
#include "igt_radeon_stream.h"

/**
 * TEST: radeon cs check bounds
 * Category: Core
 * Mega feature: General Display Features
 * Sub-category: radeon
 * Functionality: command submission
 * Test category: functionality test
 * Description: What the kernel's checker of command streams takes for the end of a BO.
 *
 * SUBTEST: slices-wrap
 * Description: Colour and depth buffers whose slices have 4 GiB, 0 in 32 bits, are
 *              refused (R600, R700).
 *
 * SUBTEST: depth-far-away
 * Description: A depth buffer 4 GiB behind its BO is refused (R600, R700).
 *
 * SUBTEST: slice-below-a-row
 * Description: A colour buffer whose slice is shorter than a row has as many bytes as
 *              its slice.
 *
 * SUBTEST: linear-beyond
 * Description: A linear colour buffer that begins where the BO ends is refused. One that
 *              is too high passes, as user space needs it (R600, R700).
 *
 * SUBTEST: linear-shortened
 * Description: A linear colour buffer that is too high for the BO is not shortened to
 *              less than a tile (Evergreen to Cayman).
 *
 * SUBTEST: stencil-pitch
 * Description: A stencil buffer whose pitch is right for pixels of four bytes only ends
 *              in its BO (Evergreen to Cayman).
 *
 * SUBTEST: texture-layers
 * Description: An array or a 3D texture has as many layers as it says.
 *
 * SUBTEST: texture-base-array
 * Description: The layers below the first that is used count (R600, R700).
 *
 * SUBTEST: texture-pitch
 * Description: A texture has rows as long as its pitch.
 *
 * SUBTEST: texture-before
 * Description: A texture before the beginning of the BO is refused.
 *
 * SUBTEST: texture-mipmaps
 * Description: Mipmaps need at least the bytes of their texels in their BO.
 *
 * SUBTEST: vertex-buffer-beyond
 * Description: A vertex buffer that begins behind the end of the BO is refused. One that
 *              is too long passes, as user space needs it.
 *
 * SUBTEST: shortened
 * Description: The GPU executes streams with buffers that the kernel has shortened. What
 *              it gets is not visible here; the board's trace has it.
 *
 * SUBTEST: stream-out-wraps
 * Description: A stream-out buffer of 4 GiB, or 4 GiB behind its BO, is refused.
 *
 * SUBTEST: stream-out-without-size
 * Description: A stream-out buffer whose size the stream does not set is refused.
 */

IGT_TEST_DESCRIPTION("What the kernel's checker of command streams takes for the end of a BO.");

/* Addresses of surfaces are in units of 256 bytes. */
#define UNITS(bytes)			((uint32_t)((bytes) / 256))
#define END				UNITS(IGT_RADEON_STREAM_BO)
#define FOUR_GIB			UNITS(1ull << 32)
/* Pitch and slice of so many pixels; R600 has both in one register. */
#define PITCH(width)			((width) / 8 - 1)
#define SLICE(pixels)			((pixels) / 64 - 1)
#define SIZE(width, pixels)		(SLICE(pixels) << 10 | PITCH(width))
#define SLICE_MAX(n)			((n) << 13)

/* R600, R700 */
#define DB_DEPTH_SIZE			0x28000
#define DB_DEPTH_VIEW			0x28004
#define DB_DEPTH_BASE			0x2800c
#define DB_DEPTH_INFO			0x28010
#define   DEPTH_8_24			3
#define   DEPTH_TILED_1D		(2 << 15)
#define CB_COLOR0_BASE			0x28040
#define CB_COLOR0_SIZE			0x28060
#define CB_COLOR0_VIEW			0x28080
#define CB_COLOR0_INFO			0x280a0
#define CB_COLOR0_MASK			0x28100
#define PA_SC_AA_CONFIG			0x28c04
#define VGT_STRMOUT_EN			0x28ab0
#define VGT_STRMOUT_BUFFER_EN		0x28b20
/* Both families; EG_ where registers or fields differ */
#define LINEAR_GENERAL			(0 << 8)
#define LINEAR_ALIGNED			(1 << 8)
#define TILED_1D			(2 << 8)
#define COLOR_8_8_8_8			(0x1a << 2)
#define COLOR_32_32_32_32_FLOAT		(0x23 << 2)
#define DB_DEPTH_CONTROL		0x28800
#define   STENCIL_ENABLE		(1 << 0)
#define   Z_ENABLE			(1 << 1)
#define CB_TARGET_MASK			0x28238
#define VGT_STRMOUT_BUFFER_SIZE_0	0x28ad0
#define VGT_STRMOUT_BUFFER_BASE_0	0x28ad8
#define FORMAT_8_8_8_8			0x1a
#define VALID_TEXTURE			(2u << 30)
#define VALID_BUFFER			(3u << 30)
/* Evergreen to Cayman */
#define EG_DB_DEPTH_VIEW		0x28008
#define EG_DB_Z_INFO			0x28040
#define   EG_Z_TILED_1D			(2 << 4)
#define EG_DB_STENCIL_INFO		0x28044
#define   EG_STENCIL_8			1
#define EG_DB_STENCIL_READ_BASE		0x2804c
#define EG_DB_STENCIL_WRITE_BASE	0x28054
#define EG_DB_DEPTH_SIZE		0x28058
#define EG_DB_DEPTH_SLICE		0x2805c
#define EG_VGT_STRMOUT_CONFIG		0x28b94
#define EG_VGT_STRMOUT_BUFFER_CONFIG	0x28b98
#define EG_CB_COLOR0_BASE		0x28c60
#define EG_CB_COLOR0_PITCH		0x28c64
#define EG_CB_COLOR0_SLICE		0x28c68
#define EG_CB_COLOR0_VIEW		0x28c6c
#define EG_CB_COLOR0_INFO		0x28c70
#define EG_CB_COLOR0_ATTRIB		0x28c74

/* Ends a stream, and says whether it has to pass. */
typedef void (*expect_t)(struct igt_radeon_stream *s);

/**
 * struct colour - a colour buffer of one sample
 * @base: address in the BO, in 256 bytes
 * @width: pixels of a row
 * @slice: pixels of a slice
 * @last: number of the last slice
 * @info: format and array mode
 */
struct colour {
	uint32_t base;
	uint32_t width;
	uint32_t slice;
	uint32_t last;
	uint32_t info;
};

static void set_colour(struct igt_radeon_stream *s, struct colour c)
{
	if (s->checker == IGT_RADEON_R600) {
		igt_radeon_stream_reg(s, PA_SC_AA_CONFIG, 0);
		igt_radeon_stream_reg_reloc(s, CB_COLOR0_BASE, c.base);
		igt_radeon_stream_reg(s, CB_COLOR0_SIZE, SIZE(c.width, c.slice));
		igt_radeon_stream_reg(s, CB_COLOR0_VIEW, SLICE_MAX(c.last));
		igt_radeon_stream_reg(s, CB_COLOR0_INFO, c.info);
		igt_radeon_stream_reg(s, CB_COLOR0_MASK, 0);
	} else {
		igt_radeon_stream_reg_reloc(s, EG_CB_COLOR0_BASE, c.base);
		igt_radeon_stream_reg(s, EG_CB_COLOR0_PITCH, PITCH(c.width));
		igt_radeon_stream_reg(s, EG_CB_COLOR0_SLICE, SLICE(c.slice));
		igt_radeon_stream_reg(s, EG_CB_COLOR0_VIEW, SLICE_MAX(c.last));
		igt_radeon_stream_reg(s, EG_CB_COLOR0_INFO, c.info);
		igt_radeon_stream_reg_reloc(s, EG_CB_COLOR0_ATTRIB, 0);
	}
	igt_radeon_stream_reg(s, CB_TARGET_MASK, 0xf);
	igt_radeon_stream_reg(s, DB_DEPTH_CONTROL, 0);
}

static void draw_colour(int fd, enum igt_radeon_checker checker, struct colour c, expect_t expect)
{
	struct igt_radeon_stream s;

	igt_radeon_stream_init(&s, fd, checker);
	set_colour(&s, c);
	igt_radeon_stream_draw(&s);
	expect(&s);
}

/* R600's depth buffer of @slices slices of @width x @width pixels. */
static void draw_depth(int fd, uint32_t base, uint32_t width, uint32_t slices, expect_t expect)
{
	struct igt_radeon_stream s;

	igt_radeon_stream_init(&s, fd, IGT_RADEON_R600);
	igt_radeon_stream_reg(&s, PA_SC_AA_CONFIG, 0);
	igt_radeon_stream_reg_reloc(&s, DB_DEPTH_BASE, base);
	igt_radeon_stream_reg(&s, DB_DEPTH_SIZE, SIZE(width, width * width));
	igt_radeon_stream_reg(&s, DB_DEPTH_VIEW, SLICE_MAX(slices - 1));
	igt_radeon_stream_reg(&s, DB_DEPTH_INFO, DEPTH_8_24 | DEPTH_TILED_1D);
	igt_radeon_stream_reg(&s, DB_DEPTH_CONTROL, Z_ENABLE);
	igt_radeon_stream_draw(&s);
	expect(&s);
}

static void test_slices(int fd, enum igt_radeon_checker checker)
{
	const uint32_t info = COLOR_8_8_8_8 | TILED_1D;

	igt_radeon_require_checker(checker, IGT_RADEON_R600);
	/* A slice of 64x64 has 16 KiB, one of 1024x1024 has 4 MiB. */
	draw_colour(fd, checker, (struct colour){ 0, 64, 64 * 64, 63, info },
		    igt_radeon_stream_passed);
	draw_colour(fd, checker, (struct colour){ 0, 64, 64 * 64, 64, info },
		    igt_radeon_stream_refused);
	draw_colour(fd, checker, (struct colour){ 0, 1024, 1024 * 1024, 1023, info },
		    igt_radeon_stream_refused);
	draw_depth(fd, 0, 64, 64, igt_radeon_stream_passed);
	draw_depth(fd, 0, 64, 65, igt_radeon_stream_refused);
	draw_depth(fd, 0, 1024, 1024, igt_radeon_stream_refused);
}

static void test_depth_far(int fd, enum igt_radeon_checker checker)
{
	igt_radeon_require_checker(checker, IGT_RADEON_R600);
	draw_depth(fd, 0, 64, 1, igt_radeon_stream_passed);
	draw_depth(fd, END, 64, 1, igt_radeon_stream_refused);
	draw_depth(fd, FOUR_GIB, 64, 1, igt_radeon_stream_refused);
	/* 16 KiB, the size of a slice, before the BO */
	draw_depth(fd, -UNITS(64 * 64 * 4), 64, 1, igt_radeon_stream_refused);
}

static void test_below_row(int fd, enum igt_radeon_checker checker)
{
	const uint32_t small = COLOR_8_8_8_8 | LINEAR_ALIGNED;
	const uint32_t large = COLOR_32_32_32_32_FLOAT | LINEAR_ALIGNED;

	/* A tile of 256 bytes */
	draw_colour(fd, checker, (struct colour){ END - 1, 8192, 64, 0, small },
		    igt_radeon_stream_passed);
	draw_colour(fd, checker, (struct colour){ END, 8192, 64, 0, small },
		    igt_radeon_stream_refused);
	/* R600's slices of linear buffers are not checked. */
	if (checker == IGT_RADEON_R600)
		return;
	/* Slices of 255 KiB without a whole row, then of 511 KiB with one */
	draw_colour(fd, checker, (struct colour){ 0, 16384, 16384 - 64, 3, large },
		    igt_radeon_stream_passed);
	draw_colour(fd, checker, (struct colour){ 0, 16384, 16384 - 64, 4, large },
		    igt_radeon_stream_refused);
	draw_colour(fd, checker, (struct colour){ 0, 16384, 32768 - 64, 1, large },
		    igt_radeon_stream_passed);
	draw_colour(fd, checker, (struct colour){ 0, 16384, 32768 - 64, 2, large },
		    igt_radeon_stream_refused);
}

static void test_linear(int fd, enum igt_radeon_checker checker)
{
	const uint32_t info = COLOR_8_8_8_8 | LINEAR_GENERAL;

	igt_radeon_require_checker(checker, IGT_RADEON_R600);
	draw_colour(fd, checker, (struct colour){ END - 1, 64, 64, 0, info },
		    igt_radeon_stream_passed);
	draw_colour(fd, checker, (struct colour){ END - 1, 64, 64 * 64, 0, info },
		    igt_radeon_stream_passed);
	draw_colour(fd, checker, (struct colour){ END, 64, 64, 0, info },
		    igt_radeon_stream_refused);
	draw_colour(fd, checker, (struct colour){ 2 * END, 64, 64, 0, info },
		    igt_radeon_stream_refused);
}

static void test_shortened(int fd, enum igt_radeon_checker checker)
{
	const uint32_t info = COLOR_32_32_32_32_FLOAT | LINEAR_GENERAL;

	igt_radeon_require_checker(checker, IGT_RADEON_EVERGREEN);
	/* 8x8 pixels have 1 KiB. Where there are 256 bytes, two rows of 8 would fit. */
	draw_colour(fd, checker, (struct colour){ END - 4, 8, 64, 0, info },
		    igt_radeon_stream_passed);
	draw_colour(fd, checker, (struct colour){ END - 1, 8, 64, 0, info },
		    igt_radeon_stream_refused);
	/* 7 of 13 rows of 64 pixels fit. */
	draw_colour(fd, checker, (struct colour){ END - 28, 64, 13 * 64, 0, info },
		    igt_radeon_stream_passed);
}

static void test_stencil(int fd, enum igt_radeon_checker checker)
{
	/* 40 pixels are 5 tiles of 256 bytes, as each has with pixels of four bytes. */
	static const struct { uint32_t base; expect_t expect; } cases[] = {
		{ 0, igt_radeon_stream_passed },
		{ END - UNITS(40 * 64), igt_radeon_stream_passed },
		{ END, igt_radeon_stream_refused },
	};
	struct igt_radeon_stream s;
	unsigned int i;

	igt_radeon_require_checker(checker, IGT_RADEON_EVERGREEN);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		igt_radeon_stream_init(&s, fd, checker);
		igt_radeon_stream_reg(&s, EG_DB_DEPTH_VIEW, 0);
		igt_radeon_stream_reg(&s, EG_DB_Z_INFO, EG_Z_TILED_1D);
		igt_radeon_stream_reg(&s, EG_DB_STENCIL_INFO, EG_STENCIL_8);
		igt_radeon_stream_reg(&s, EG_DB_DEPTH_SIZE, PITCH(40));
		igt_radeon_stream_reg(&s, EG_DB_DEPTH_SLICE, SLICE(40 * 64));
		igt_radeon_stream_reg_reloc(&s, EG_DB_STENCIL_READ_BASE, cases[i].base);
		igt_radeon_stream_reg_reloc(&s, EG_DB_STENCIL_WRITE_BASE, cases[i].base);
		igt_radeon_stream_reg(&s, DB_DEPTH_CONTROL, STENCIL_ENABLE);
		igt_radeon_stream_draw(&s);
		cases[i].expect(&s);
	}
}

enum dim { DIM_2D = 1, DIM_3D = 2, DIM_2D_ARRAY = 5 };

/**
 * struct texture - a linear texture of pixels of four bytes
 * @dim: its dimensions
 * @base: address in the BO, in 256 bytes
 * @pitch: pixels of a row in memory
 * @width: pixels of a row
 * @height: rows
 * @depth: layers of a 3D texture
 * @first: first layer of an array that is used
 * @last: last layer of an array
 * @levels: levels below the base level
 * @mipmaps: their address in the BO, in 256 bytes
 */
struct texture {
	enum dim dim;
	uint32_t base;
	uint32_t pitch;
	uint32_t width;
	uint32_t height;
	uint32_t depth;
	uint32_t first;
	uint32_t last;
	uint32_t levels;
	uint32_t mipmaps;
};

/* Sets a resource of @words dwords, with @relocs relocations. */
static void set_resource(struct igt_radeon_stream *s, const uint32_t *resource,
			 unsigned int words, unsigned int relocs)
{
	unsigned int i;

	igt_radeon_stream_emit(s, PACKET3(PACKET3_SET_RESOURCE, words));
	igt_radeon_stream_emit(s, 0);
	for (i = 0; i < words; i++)
		igt_radeon_stream_emit(s, resource[i]);
	for (i = 0; i < relocs; i++)
		igt_radeon_stream_reloc(s);
}

static void set_texture(int fd, enum igt_radeon_checker checker, struct texture t, expect_t expect)
{
	const uint32_t layers = t.levels | t.first << 4 | t.last << 17;
	const uint32_t r600[7] = {
		t.dim | PITCH(t.pitch) << 8 | (t.width - 1) << 19,
		(t.height - 1) | (t.depth - 1) << 13 | FORMAT_8_8_8_8 << 26,
		t.base, t.mipmaps, 0, layers, VALID_TEXTURE,
	};
	const uint32_t evergreen[8] = {
		t.dim | PITCH(t.pitch) << 6 | (t.width - 1) << 18,
		(t.height - 1) | (t.depth - 1) << 14,
		t.base, t.mipmaps, 0, layers, 0, FORMAT_8_8_8_8 | VALID_TEXTURE,
	};
	struct igt_radeon_stream s;

	igt_radeon_stream_init(&s, fd, checker);
	if (checker == IGT_RADEON_R600)
		set_resource(&s, r600, ARRAY_SIZE(r600), 2);
	else
		set_resource(&s, evergreen, ARRAY_SIZE(evergreen), 2);
	expect(&s);
}

/* One level and layer of @side x @side pixels at the beginning of the BO. */
static struct texture square(enum dim dim, uint32_t side)
{
	return (struct texture){
		.dim = dim, .pitch = side, .width = side, .height = side, .depth = 1,
	};
}

static void test_layers(int fd, enum igt_radeon_checker checker)
{
	struct texture small = square(DIM_3D, 64), large = square(DIM_3D, 1024);

	/* Layers of 16 KiB, and so many of 4 MiB that they have 4 GiB. */
	small.depth = 64;
	set_texture(fd, checker, small, igt_radeon_stream_passed);
	small.depth = 65;
	set_texture(fd, checker, small, igt_radeon_stream_refused);
	large.depth = 1024;
	set_texture(fd, checker, large, igt_radeon_stream_refused);

	small = square(DIM_2D_ARRAY, 64);
	small.last = 63;
	set_texture(fd, checker, small, igt_radeon_stream_passed);
	small.last = 64;
	set_texture(fd, checker, small, igt_radeon_stream_refused);
	large = square(DIM_2D_ARRAY, 1024);
	large.last = 1023;
	set_texture(fd, checker, large, igt_radeon_stream_refused);
}

static void test_base_array(int fd, enum igt_radeon_checker checker)
{
	struct texture t = square(DIM_2D_ARRAY, 64);

	igt_radeon_require_checker(checker, IGT_RADEON_R600);
	t.first = t.last = 63;
	set_texture(fd, checker, t, igt_radeon_stream_passed);
	t.first = t.last = 64;
	set_texture(fd, checker, t, igt_radeon_stream_refused);
	/* The first behind the last: no layer */
	t.first = 65;
	set_texture(fd, checker, t, igt_radeon_stream_refused);
}

static void test_pitch(int fd, enum igt_radeon_checker checker)
{
	struct texture t = square(DIM_2D, 64);

	t.pitch = 4096;
	set_texture(fd, checker, t, igt_radeon_stream_passed);
	t.pitch += 8;
	set_texture(fd, checker, t, igt_radeon_stream_refused);
	t.pitch = 64;
	t.height = 4096;
	set_texture(fd, checker, t, igt_radeon_stream_passed);
	t.height++;
	set_texture(fd, checker, t, igt_radeon_stream_refused);
}

static void test_before(int fd, enum igt_radeon_checker checker)
{
	struct texture t = square(DIM_2D, 64);

	/* A row of 256 bytes */
	t.height = 1;
	t.base = END - 1;
	set_texture(fd, checker, t, igt_radeon_stream_passed);
	/* The sum of size and address is 0 in 32 bits. */
	t.base = -1;
	set_texture(fd, checker, t, igt_radeon_stream_refused);
	t.base = FOUR_GIB;
	set_texture(fd, checker, t, igt_radeon_stream_refused);
}

static void test_mipmaps(int fd, enum igt_radeon_checker checker)
{
	/* Levels of 32x32 to 1x1 have 5,460 bytes, 64 layers of the first 256 KiB. */
	static const struct { enum dim dim; uint32_t last, levels, at; expect_t expect; } cases[] = {
		{ DIM_2D, 0, 6, END - UNITS(22 * 256), igt_radeon_stream_passed },
		{ DIM_2D, 0, 6, END - UNITS(21 * 256), igt_radeon_stream_refused },
		{ DIM_2D, 0, 1, END, igt_radeon_stream_refused },
		{ DIM_2D, 0, 1, FOUR_GIB, igt_radeon_stream_refused },
		/* As far before the BO as the level is long */
		{ DIM_2D, 0, 1, -UNITS(32 * 32 * 4), igt_radeon_stream_refused },
		{ DIM_2D_ARRAY, 63, 1, END - UNITS(64 * 32 * 32 * 4), igt_radeon_stream_passed },
		{ DIM_2D_ARRAY, 63, 1, END - UNITS(63 * 32 * 32 * 4), igt_radeon_stream_refused },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct texture t = square(cases[i].dim, 64);

		t.last = cases[i].last;
		t.levels = cases[i].levels;
		t.mipmaps = cases[i].at;
		set_texture(fd, checker, t, cases[i].expect);
	}
}

static void set_vertex_buffer(struct igt_radeon_stream *s, uint32_t offset, uint32_t size)
{
	const unsigned int words = s->checker == IGT_RADEON_R600 ? 7 : 8;
	uint32_t resource[8] = { offset, size - 1 };

	resource[words - 1] = VALID_BUFFER;
	set_resource(s, resource, words, 1);
}

static void test_vertex_buffer(int fd, enum igt_radeon_checker checker)
{
	static const struct { uint32_t offset, size; expect_t expect; } cases[] = {
		{ 0, IGT_RADEON_STREAM_BO, igt_radeon_stream_passed },
		{ IGT_RADEON_STREAM_BO - 256, 4096, igt_radeon_stream_passed },
		/* Nothing to read, of any size */
		{ IGT_RADEON_STREAM_BO, 0, igt_radeon_stream_passed },
		{ IGT_RADEON_STREAM_BO, 16, igt_radeon_stream_passed },
		/* Shortened to the end of the BO, this would have nearly 4 GiB. */
		{ IGT_RADEON_STREAM_BO + 256, 16, igt_radeon_stream_refused },
		/* The sum is in the BO in 32 bits. */
		{ -4096, 8192, igt_radeon_stream_refused },
	};
	struct igt_radeon_stream s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		igt_radeon_stream_init(&s, fd, checker);
		set_vertex_buffer(&s, cases[i].offset, cases[i].size);
		cases[i].expect(&s);
	}
}

/* Executed: a draw of no vertices, and vertex buffers that no shader reads. */
static void test_shortened_executes(int fd, enum igt_radeon_checker checker)
{
	struct colour c = { END - 28, 64, 13 * 64, 0, COLOR_32_32_32_32_FLOAT | LINEAR_GENERAL };
	struct igt_radeon_stream s;

	igt_radeon_stream_init(&s, fd, checker);
	/* 7 of 13 rows of 64 pixels are in the BO; 256 bytes; nothing. */
	set_colour(&s, c);
	set_vertex_buffer(&s, IGT_RADEON_STREAM_BO - 256, 4096);
	set_vertex_buffer(&s, IGT_RADEON_STREAM_BO, 16);
	igt_radeon_stream_emit(&s, PACKET3(PACKET3_DRAW_INDEX_AUTO, 1));
	igt_radeon_stream_emit(&s, 0);
	igt_radeon_stream_emit(&s, 2);
	igt_assert_eq(igt_radeon_stream_try(&s), 0);
	igt_radeon_bo_wait(&s.bo);
	igt_radeon_stream_fini(&s);
}

/* The size is not set. */
#define NO_SIZE				UINT64_MAX

/* Streams out to @base, in 256 bytes, of the BO, where there are @dwords dwords. */
static void stream_out(int fd, enum igt_radeon_checker checker, uint32_t base, uint64_t dwords,
		       expect_t expect)
{
	struct igt_radeon_stream s;

	igt_radeon_stream_init(&s, fd, checker);
	if (checker == IGT_RADEON_R600) {
		igt_radeon_stream_reg(&s, VGT_STRMOUT_EN, 1);
		igt_radeon_stream_reg(&s, VGT_STRMOUT_BUFFER_EN, 1);
	} else {
		igt_radeon_stream_reg(&s, EG_VGT_STRMOUT_CONFIG, 1);
		igt_radeon_stream_reg(&s, EG_VGT_STRMOUT_BUFFER_CONFIG, 1);
	}
	if (dwords != NO_SIZE)
		igt_radeon_stream_reg(&s, VGT_STRMOUT_BUFFER_SIZE_0, dwords);
	igt_radeon_stream_reg_reloc(&s, VGT_STRMOUT_BUFFER_BASE_0, base);
	igt_radeon_stream_reg(&s, DB_DEPTH_CONTROL, 0);
	igt_radeon_stream_draw(&s);
	expect(&s);
}

static void test_stream_out(int fd, enum igt_radeon_checker checker)
{
	const uint64_t whole = IGT_RADEON_STREAM_BO / 4;

	stream_out(fd, checker, 0, whole, igt_radeon_stream_passed);
	stream_out(fd, checker, 0, whole + 1, igt_radeon_stream_refused);
	stream_out(fd, checker, 0, 1ull << 30, igt_radeon_stream_refused);
	stream_out(fd, checker, FOUR_GIB, whole, igt_radeon_stream_refused);
}

static void test_no_size(int fd, enum igt_radeon_checker checker)
{
	stream_out(fd, checker, 0, 1, igt_radeon_stream_passed);
	stream_out(fd, checker, 0, NO_SIZE, igt_radeon_stream_refused);
}

int igt_main()
{
	static const struct {
		const char *name, *describe;
		void (*test)(int fd, enum igt_radeon_checker checker);
	} tests[] = {
		{ "slices-wrap", "The sizes of slices do not add up to 0.", test_slices },
		{ "depth-far-away", "All bits of a depth buffer's address count.", test_depth_far },
		{ "slice-below-a-row", "A part of a row has bytes, too.", test_below_row },
		{ "linear-beyond", "Linear buffers end in their BO.", test_linear },
		{ "linear-shortened", "A slice has a tile.", test_shortened },
		{ "stencil-pitch", "Stencil has bounds whatever its pitch.", test_stencil },
		{ "texture-layers", "All layers count.", test_layers },
		{ "texture-base-array", "So do those below the first.", test_base_array },
		{ "texture-pitch", "Rows are as long as the pitch.", test_pitch },
		{ "texture-before", "All bits of a texture's address count.", test_before },
		{ "texture-mipmaps", "Mipmaps have bounds, too.", test_mipmaps },
		{ "vertex-buffer-beyond", "A vertex buffer begins in its BO.", test_vertex_buffer },
		{ "shortened", "Shortened buffers are executed.", test_shortened_executes },
		{ "stream-out-wraps", "Stream-out ends in its BO.", test_stream_out },
		{ "stream-out-without-size", "Stream-out needs a size.", test_no_size },
	};
	enum igt_radeon_checker checker = IGT_RADEON_CHECKERS;
	unsigned int i;
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		checker = igt_radeon_find_checker(fd);
		igt_require_f(checker != IGT_RADEON_CHECKERS, "no checker that this test knows\n");
	}

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		igt_describe(tests[i].describe);
		igt_subtest(tests[i].name)
			tests[i].test(fd, checker);
	}

	igt_fixture()
		close(fd);
}
