// SPDX-License-Identifier: MIT
/*
 * PREAD and PWRITE of BOs that a client's GPU work reaches through the client's
 * own address space (RADEON_CS_USE_VM), beside a client without one.
 */
#include "igt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt_radeon.h"
#include "igt_radeon_rw.h"
#include "igt_radeon_stats.h"
#include "radeon_guest.h"

/**
 * TEST: radeon gem rw vm
 * Category: Core
 * Mega feature: General Display Features
 * Sub-category: radeon
 * Functionality: address spaces
 * Test category: functionality test
 * Description: PREAD and PWRITE beside GPU work that uses a client's address space.
 *
 * SUBTEST: copies
 * Description: PREAD waits for work that writes the BO through an address space, and
 *              PWRITE for work that reads it.
 *
 * SUBTEST: after-draw
 * Description: A staged write of bytes that an earlier draw writes comes after it, even if
 *              nothing but the write's own packets waits for the draw.
 *
 * SUBTEST: after-dispatch
 * Description: The same with the dispatch of a compute shader.
 *
 * SUBTEST: clients
 * Description: A client with an address space and one without get their own bytes, when
 *              their calls and work alternate.
 */

IGT_TEST_DESCRIPTION("PREAD and PWRITE beside GPU work that uses an address space.");

#define SIZE (64 << 10)
#define ROUNDS 16

/* Where a client has its two BOs: behind what the kernel reserves. */
#define VA_SRC (32ull << 20)
#define VA_DST (48ull << 20)

struct client {
	int fd;
	struct igt_radeon_bo src, dst;
	bool vm;
};

static void map(const struct igt_radeon_bo *bo, uint64_t offset)
{
	struct drm_radeon_gem_va va = {
		.handle = bo->handle,
		.operation = RADEON_VA_MAP,
		.flags = RADEON_VM_PAGE_READABLE | RADEON_VM_PAGE_WRITEABLE |
			 RADEON_VM_PAGE_SNOOPED,
		.offset = offset,
	};

	igt_assert_eq(igt_ioctl(bo->fd, DRM_IOCTL_RADEON_GEM_VA, &va), 0);
	igt_assert_eq(va.operation, RADEON_VA_RESULT_OK);
}

static void init(struct client *client, int fd, bool vm, uint32_t src, uint32_t dst)
{
	client->fd = fd;
	client->vm = vm;
	igt_radeon_bo_init(&client->src, fd, SIZE, src, 0);
	igt_radeon_bo_init(&client->dst, fd, SIZE, dst, 0);
	if (vm) {
		map(&client->src, VA_SRC);
		map(&client->dst, VA_DST);
	}
}

static void fini(struct client *client)
{
	igt_radeon_bo_fini(&client->src);
	igt_radeon_bo_fini(&client->dst);
}

/* In an address space packets have addresses, and no relocations. */
static void copy(struct client *client, enum igt_radeon_engine engine)
{
	struct drm_radeon_cs_reloc relocs[2] = {
		{ .handle = client->src.handle, .read_domains = client->src.domain },
		{ .handle = client->dst.handle, .write_domain = client->dst.domain },
	};
	uint32_t ring = engine == IGT_RADEON_DMA ? RADEON_CS_RING_DMA : RADEON_CS_RING_GFX;
	uint32_t ib[RADEON_GUEST_CP_DMA_DWORDS + RADEON_GUEST_IB_ALIGN], n;

	if (!client->vm) {
		igt_radeon_copy(engine, &client->dst, 0, &client->src, 0, SIZE);
		return;
	}
	if (engine == IGT_RADEON_DMA)
		n = radeon_guest_dma(ib, 0, VA_DST, VA_SRC, SIZE);
	else
		/* Without its relocations, which are the last four dwords. */
		n = radeon_guest_cp_dma(ib, 0, VA_DST, 0, VA_SRC, 0, SIZE) - 4;
	n = radeon_guest_pad(ib, n, ring);
	igt_assert_eq(radeon_guest_submit_vm(client->fd, ring, ib, n, relocs, 2), 0);
}

static void write_src(struct client *client, unsigned char *data, unsigned int seed)
{
	igt_radeon_pattern(data, SIZE, seed);
	igt_assert_eq(igt_radeon_pwrite(client->fd, client->src.handle, 0, SIZE, data, 0), 0);
}

static void check_dst(struct client *client, const unsigned char *expected)
{
	unsigned char *found = calloc(1, SIZE);

	igt_assert(found);
	igt_assert_eq(igt_radeon_pread(client->fd, client->dst.handle, 0, SIZE, found, 0), 0);
	igt_assert_f(!memcmp(found, expected, SIZE), "the bytes are not the copy's\n");
	free(found);
}

static const struct { uint32_t src, dst; } places[] = {
	{ RADEON_GEM_DOMAIN_VRAM, RADEON_GEM_DOMAIN_GTT },
	{ RADEON_GEM_DOMAIN_GTT, RADEON_GEM_DOMAIN_VRAM },
};

static void test_copies(int fd)
{
	unsigned char *first = malloc(SIZE), *second = malloc(SIZE);
	enum igt_radeon_engine engine;
	struct client client;
	unsigned int i;

	igt_assert(first && second);
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		for (engine = 0; engine < IGT_RADEON_ENGINES; engine++) {
			init(&client, fd, true, places[i].src, places[i].dst);
			write_src(&client, first, 2 * i + engine + 1);
			copy(&client, engine);
			/* The copy has read the first bytes. */
			write_src(&client, second, 2 * i + engine + 11);
			check_dst(&client, first);
			copy(&client, engine);
			check_dst(&client, second);
			fini(&client);
		}
	}
	free(first);
	free(second);
}

static void test_clients(int fd)
{
	unsigned char *data[2] = { malloc(SIZE), malloc(SIZE) };
	struct client clients[2];
	int other = igt_radeon_open();
	unsigned int round, i;

	igt_assert(data[0] && data[1]);
	for (i = 0; i < 2; i++)
		init(&clients[i], i ? other : fd, !i, places[i].src, places[i].dst);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < 2; i++) {
			write_src(&clients[i], data[i], 2 * round + i + 1);
			copy(&clients[i], round % IGT_RADEON_ENGINES);
		}
		for (i = 0; i < 2; i++)
			check_dst(&clients[i], data[i]);
	}
	for (i = 0; i < 2; i++) {
		fini(&clients[i]);
		free(data[i]);
	}
	close(other);
}

/*
 * A draw and a dispatch that write 0xff, with no more state than the emulated board's
 * Cayman needs: a card would need all of it. Instructions and registers are those of
 * Mesa's eg_sq.h and evergreend.h.
 */
#define PACKET3(op, n)		(3u << 30 | ((n) - 1) << 16 | (op) << 8)
#define PACKET3_COMPUTE		(1u << 1)
#define DISPATCH_DIRECT		0x15
#define DRAW_INDEX_AUTO		0x2d
#define NUM_INSTANCES		0x2f
#define SET_CONFIG_REG		0x68
#define SET_CONTEXT_REG		0x69

#define CF_BARRIER		(1u << 31)
#define CF_END			(CF_BARRIER | 0x20u << 22)
#define CF_EXPORT_DONE		(CF_BARRIER | 0x54u << 22 | 1 << 3 | 2 << 6 | 3 << 9)
#define CF_MEM_RAT		(CF_BARRIER | 0x56u << 22)
#define CF_ALU(slots)		(CF_BARRIER | 8u << 26 | ((slots) - 1) << 18)
#define ALU_ZERO		248u
#define ALU_ONE			249u
#define ALU_LITERAL		253u
#define ALU_LAST		(1u << 31)
#define ALU_MOV(gpr, chan)	(0x19u << 7 | 1 << 4 | (gpr) << 21 | (chan) << 29)

#define CODE_VS			0
#define CODE_PS			0x100
#define CODE_CS			0x200
#define DRAW_SIDE		64
#define DISPATCH_THREADS	256

static const uint32_t code_vs[] = {
	4, CF_ALU(5),
	60 | 1 << 13 | 1 << 15, CF_EXPORT_DONE,
	0 | 2 << 13 | 1 << 15, CF_EXPORT_DONE,
	0, CF_END,
	ALU_LITERAL, ALU_MOV(1, 0),
	ALU_LITERAL, ALU_MOV(1, 1),
	ALU_ZERO, ALU_MOV(1, 2),
	ALU_ONE | ALU_LAST, ALU_MOV(1, 3u),
	0x42000000, 0,		/* 32.0 */
};

static const uint32_t code_ps[] = {
	3, CF_ALU(4),
	0, CF_EXPORT_DONE,
	0, CF_END,
	ALU_ONE, ALU_MOV(0, 0),
	ALU_ONE, ALU_MOV(0, 1),
	ALU_ONE, ALU_MOV(0, 2),
	ALU_ONE | ALU_LAST, ALU_MOV(0, 3u),
};

static const uint32_t code_cs[] = {
	3, CF_ALU(2),
	2 << 4 | 1 << 13 | 2 << 15, CF_MEM_RAT | 1 << 12,
	0, CF_END,
	ALU_LITERAL | ALU_LAST, ALU_MOV(2, 0),
	0xffffffff, 0,
};

struct ib {
	uint32_t dw[256];
	unsigned int n;
};

static void emit(struct ib *ib, uint32_t header, const uint32_t *values, unsigned int count)
{
	igt_assert(ib->n + 1 + count + RADEON_GUEST_IB_ALIGN <= ARRAY_SIZE(ib->dw));
	ib->dw[ib->n++] = header;
	memcpy(ib->dw + ib->n, values, count * sizeof(*values));
	ib->n += count;
}

static void emit_regs(struct ib *ib, uint32_t flags, uint32_t reg, const uint32_t *values,
		      unsigned int count)
{
	bool context = reg >= 0x28000;
	uint32_t first[16];

	igt_assert(count < ARRAY_SIZE(first));
	first[0] = (reg - (context ? 0x28000 : 0x8000)) / 4;
	memcpy(first + 1, values, count * sizeof(*values));
	emit(ib, PACKET3(context ? SET_CONTEXT_REG : SET_CONFIG_REG, count + 1) | flags,
	     first, count + 1);
}

static void emit_reg(struct ib *ib, uint32_t reg, uint32_t value)
{
	emit_regs(ib, 0, reg, &value, 1);
}

/* A point that covers the target, whose pixels have four bytes and are linear. */
static void emit_draw(struct ib *ib)
{
	static const uint32_t target[] = {
		VA_DST >> 8, DRAW_SIDE / 8 - 1, DRAW_SIDE * DRAW_SIDE / 64 - 1, 0,
		0x1a << 2 | 1 << 8, 0, (DRAW_SIDE - 1) | (DRAW_SIDE - 1) << 16,
	};
	static const uint32_t size = DRAW_SIDE | DRAW_SIDE << 16;
	static const struct { uint32_t reg, value; } regs[] = {
		{ 0x8958, 1 },			/* VGT_PRIMITIVE_TYPE: points */
		{ 0x28030, 0 }, { 0x28034, size },
		{ 0x28204, 1u << 31 }, { 0x28208, size },
		{ 0x28240, 1u << 31 }, { 0x28244, size },
		{ 0x28250, 1u << 31 }, { 0x28254, size },
		{ 0x2820c, 0xffff },		/* PA_SC_CLIPRECT_RULE */
		{ 0x28238, 0xf },		/* CB_TARGET_MASK, CB_SHADER_MASK */
		{ 0x2823c, 0xf },
		{ 0x28400, ~0u },		/* VGT_MAX_VTX_INDX */
		{ 0x28404, 0 }, { 0x28408, 0 },
		{ 0x28800, 0 },			/* DB_DEPTH_CONTROL */
		{ 0x28808, 0xcc << 16 | 1 << 4 },	/* CB_COLOR_CONTROL */
		{ 0x28810, 1 << 16 },		/* PA_CL_CLIP_CNTL: CLIP_DISABLE */
		{ 0x28814, 0 },
		{ 0x28818, 1 << 8 | 1 << 9 },	/* PA_CL_VTE_CNTL: positions in pixels */
		{ 0x2881c, 0 },
		{ 0x28840, (VA_SRC + CODE_PS) >> 8 }, { 0x28844, 2 },
		{ 0x2885c, (VA_SRC + CODE_VS) >> 8 }, { 0x28860, 2 },
		/* PA_SU_POINT_SIZE: half of it, in sixteenths of a pixel */
		{ 0x28a00, DRAW_SIDE * 8 | DRAW_SIDE * 8 << 16 },
		{ 0x28a04, 0xffffu << 16 },
		{ 0x28a48, 0 },			/* PA_SC_MODE_CNTL_0 */
		{ 0x28a40, 0 }, { 0x28b54, 0 },	/* VGT_GS_MODE, VGT_SHADER_STAGES_EN */
		{ 0x28be0, 0 },			/* PA_SC_AA_CONFIG */
		{ 0x28c38, ~0u }, { 0x28c3c, ~0u },	/* PA_SC_AA_MASK_* */
	};
	static const uint32_t one = 1, draw[] = { 1, 2 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(regs); i++)
		emit_reg(ib, regs[i].reg, regs[i].value);
	emit_regs(ib, 0, 0x28c60, target, ARRAY_SIZE(target));
	emit(ib, PACKET3(NUM_INSTANCES, 1), &one, 1);
	emit(ib, PACKET3(DRAW_INDEX_AUTO, 2), draw, 2);
}

/* Each thread stores a dword to a RAT, a buffer in the first target's registers. */
static void emit_dispatch(struct ib *ib)
{
	static const uint32_t target[] = {
		VA_DST >> 8, 7, 63, 0, 1 << 26 | 0x0d << 2 | 4 << 12 | 1 << 8, 0,
		SIZE / 4 - 1,
	};
	static const uint32_t threads[] = { DISPATCH_THREADS, 1, 1 };
	static const uint32_t program[] = { (VA_SRC + CODE_CS) >> 8, 3 };
	static const uint32_t groups[] = { 1, 1, 1, 1 };

	emit_regs(ib, PACKET3_COMPUTE, 0x28c60, target, ARRAY_SIZE(target));
	emit_regs(ib, PACKET3_COMPUTE, 0x286ec, threads, ARRAY_SIZE(threads));
	emit_regs(ib, PACKET3_COMPUTE, 0x288d0, program, ARRAY_SIZE(program));
	emit(ib, PACKET3(DISPATCH_DIRECT, 4) | PACKET3_COMPUTE, groups, 4);
}

/* Longer than other processes keep the test from the CPU. */
#define HOLD_US		8000000u
/* No engine but CP DMA copies odd bytes. */
#define WRITE_OFFSET	5
#define WRITE_SIZE	101

static void test_after(int fd, bool draws)
{
	unsigned char *model = malloc(SIZE), data[WRITE_SIZE];
	struct drm_radeon_cs_reloc relocs[2];
	struct igt_radeon_stats stats;
	struct client client;
	struct ib ib = { .n = 0 };
	uint64_t copied, waits;
	bool strict;

	igt_assert(model);
	init(&client, fd, true, RADEON_GEM_DOMAIN_GTT, RADEON_GEM_DOMAIN_VRAM);
	memset(model, 0, SIZE);
	memcpy(model + CODE_VS, code_vs, sizeof(code_vs));
	memcpy(model + CODE_PS, code_ps, sizeof(code_ps));
	memcpy(model + CODE_CS, code_cs, sizeof(code_cs));
	igt_assert_eq(igt_radeon_pwrite(fd, client.src.handle, 0, SIZE, model, 0), 0);
	igt_radeon_pattern(model, SIZE, 1);
	igt_assert_eq(igt_radeon_pwrite(fd, client.dst.handle, 0, SIZE, model, 0), 0);
	igt_radeon_bo_wait(&client.dst);

	relocs[0] = (struct drm_radeon_cs_reloc) {
		.handle = client.src.handle, .read_domains = client.src.domain,
	};
	relocs[1] = (struct drm_radeon_cs_reloc) {
		.handle = client.dst.handle, .write_domain = client.dst.domain,
	};
	if (draws)
		emit_draw(&ib);
	else
		emit_dispatch(&ib);
	ib.n = radeon_guest_pad(ib.dw, ib.n, RADEON_CS_RING_GFX);

	strict = igt_radeon_board_counter(fd, IGT_RADEON_TLB_INVALIDATES);
	copied = igt_radeon_board_counter(fd, IGT_RADEON_CP_DMA_BYTES);
	waits = igt_radeon_board_counter(fd, IGT_RADEON_PIPE_WAITS);
	igt_radeon_pattern(data, sizeof(data), 2);
	/* The work and the write are executed back to back. */
	igt_radeon_set_latency(fd, HOLD_US);
	igt_assert_eq(radeon_guest_submit_vm(fd, RADEON_CS_RING_GFX, ib.dw, ib.n, relocs, 2), 0);
	stats = igt_radeon_stats(fd);
	igt_assert_eq(igt_radeon_pwrite(fd, client.dst.handle, WRITE_OFFSET, WRITE_SIZE,
					data, 0), 0);
	stats = igt_radeon_stats_since(fd, &stats);
	igt_radeon_assert_path(&stats, IGT_RADEON_STAGED, WRITE_SIZE, "a write to a busy BO");
	igt_radeon_set_latency(fd, 0);
	igt_radeon_bo_wait(&client.dst);

	memset(model, 0xff, draws ? DRAW_SIDE * DRAW_SIDE * 4 : DISPATCH_THREADS * 4);
	memcpy(model + WRITE_OFFSET, data, WRITE_SIZE);
	igt_radeon_bo_assert(&client.dst, model, "after the work and the write");
	/* The case has happened. */
	igt_assert_eq_u64(igt_radeon_board_counter(fd, IGT_RADEON_CP_DMA_BYTES) - copied,
			  WRITE_SIZE);
	if (strict)
		igt_assert(igt_radeon_board_counter(fd, IGT_RADEON_PIPE_WAITS) > waits);
	fini(&client);
	free(model);
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		uint32_t start = 0;
		struct drm_radeon_info info = {
			.request = RADEON_INFO_VA_START,
			.value = (uintptr_t)&start,
		};

		fd = igt_radeon_open();
		igt_radeon_require_gem_rw(fd);
		igt_require_f(!igt_ioctl(fd, DRM_IOCTL_RADEON_INFO, &info),
			      "needs a chip with address spaces: Cayman or later\n");
		igt_assert(start <= VA_SRC);
	}

	igt_describe("PREAD and PWRITE wait for work in an address space.");
	igt_subtest("copies")
		test_copies(fd);

	igt_describe("A staged write comes after a draw whose caches nobody has flushed.");
	igt_subtest("after-draw") {
		igt_radeon_require_stats(fd);
		igt_radeon_require_board(fd);
		test_after(fd, true);
	}
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("A staged write comes after a dispatch for which nobody has waited.");
	igt_subtest("after-dispatch") {
		igt_radeon_require_stats(fd);
		igt_radeon_require_board(fd);
		test_after(fd, false);
	}
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("Clients with and without an address space get their own bytes.");
	igt_subtest("clients")
		test_clients(fd);

	igt_fixture()
		close(fd);
}
