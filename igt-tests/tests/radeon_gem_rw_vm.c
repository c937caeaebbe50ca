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

	igt_describe("Clients with and without an address space get their own bytes.");
	igt_subtest("clients")
		test_clients(fd);

	igt_fixture()
		close(fd);
}
