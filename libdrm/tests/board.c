// SPDX-License-Identifier: MIT
/*
 * radeon_gem_bo_pwrite(), _pread() and _transfer() against the emulated board:
 * the GPU reads what the calls write, and writes what they read. Its copies do
 * not go through libdrm_radeon.
 *
 * usage: board ioctl|map
 *
 * ioctl: the kernel has the ioctls, and nothing may be mapped; map: it does not,
 * and everything goes through mappings, none of which may be left. Needs the
 * board's latency knob, and so root. A line for each test; exit status 0, 1 if
 * one failed, 2 for a bad command line, 77 without a board.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <radeon_bo.h>
#include <radeon_bo_gem.h>
#include <radeon_drm.h>
#include <radeon_drm_rw.h>
#include <xf86drm.h>

#include "bench.h"
#include "radeon_guest.h"

#define BYTES (256u << 10)
/* Longer than any copy here, much shorter than what the driver calls a hang. */
#define LATENCY_US 3000000u

/**
 * struct placement - a kind of BO
 * @name: as in the output
 * @domain: RADEON_GEM_DOMAIN_*
 * @flags: of radeon_bo_open()
 * @tiling: RADEON_TILING_*, or 0
 */
struct placement {
	const char *name;
	uint32_t domain, flags, tiling;
};

static const struct placement placements[] = {
	{ "gtt", RADEON_GEM_DOMAIN_GTT, 0, 0 },
	{ "gtt-wc", RADEON_GEM_DOMAIN_GTT, RADEON_GEM_GTT_WC, 0 },
	{ "vram", RADEON_GEM_DOMAIN_VRAM, 0, 0 },
	{ "vram-tiled", RADEON_GEM_DOMAIN_VRAM, 0,
	  RADEON_TILING_MACRO | RADEON_TILING_MICRO },
	{ "vram-no-cpu", RADEON_GEM_DOMAIN_VRAM, RADEON_GEM_NO_CPU_ACCESS, 0 },
};

static struct bench_device dev;
static struct radeon_bo_manager *manager;
static int board = -1;
static bool ioctls;

/* A BO for copies by the GPU, and its mapping, made before all else. */
static uint32_t helper;
static uint8_t *helper_map;

static const struct placement *place;
static struct radeon_bo *bo, *other;
/* @model: what the BO has to hold; @data: what is written, or was read. */
static uint8_t model[BYTES], data[BYTES];

static unsigned int mapped;
static int wrong_line;
static char wrong[160];

/* Counts mappings of the device, including those that the library makes. */
void *mmap64(void *addr, size_t size, int prot, int flags, int fd, off64_t offset)
{
	mapped += fd == dev.fd;
	return (void *)syscall(SYS_mmap, addr, size, prot, flags, fd, offset);
}

void *mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
	__attribute__((alias("mmap64")));

/* The first condition that does not hold ends a test. */
#define HOLDS(condition) \
	do { \
		if (!(condition)) { \
			wrong_line = __LINE__; \
			snprintf(wrong, sizeof(wrong), "%s", #condition); \
			return; \
		} \
	} while (0)
#define IS(call, value) \
	do { \
		int is = (call); \
		if (is != (value)) { \
			wrong_line = __LINE__; \
			snprintf(wrong, sizeof(wrong), "%s is %d", #call, is); \
			return; \
		} \
	} while (0)

static void pattern(uint8_t *bytes, size_t size, uint32_t seed)
{
	size_t i;

	for (i = 0; i < size; i++) {
		seed = seed * 1664525u + 1013904223u;
		bytes[i] = seed >> 24;
	}
}

static int latency(uint32_t us)
{
	return radeon_guest_board_write(board, RADEON_GUEST_CTL_LATENCY_US, us);
}

/* Has the GPU copy the helper to the BO; does not wait. */
static int gpu_write(void)
{
	const struct bench_piece piece = { .handle = helper, .bytes = BYTES };

	return bench_gem_copy(dev.fd, bo->handle, place->domain, &piece, 1,
			      RADEON_GEM_DOMAIN_GTT);
}

/* Gives the BO, by a GPU copy, and the model the same bytes. */
static int set(uint32_t seed)
{
	int ret;

	pattern(model, BYTES, seed);
	memcpy(helper_map, model, BYTES);
	ret = gpu_write();
	return ret ? ret : bench_gem_wait(dev.fd, helper);
}

/* Does the BO, as the GPU reads it, hold the model's bytes? */
static bool as_model(void)
{
	const struct bench_piece piece = { .handle = bo->handle, .bytes = BYTES };

	/* The GPU may still be reading the helper. */
	if (bench_gem_wait(dev.fd, helper))
		return false;
	memset(helper_map, 0x55, BYTES);
	return !bench_gem_copy(dev.fd, helper, RADEON_GEM_DOMAIN_GTT, &piece, 1,
			       place->domain) &&
	       !bench_gem_wait(dev.fd, helper) &&
	       !memcmp(helper_map, model, BYTES);
}

/* Offsets and sizes around pages and dwords, small and large. */
static const struct {
	uint32_t offset, size;
} ranges[] = {
	{ 0, 1 }, { 4095, 2 }, { 4097, 4095 }, { 8191, 12345 }, { 3, 65536 },
	{ BYTES - 1, 1 }, { 0, BYTES },
};
#define RANGES (sizeof(ranges) / sizeof(ranges[0]))

static void test_write(void)
{
	unsigned int i;

	IS(set(1), 0);
	for (i = 0; i < RANGES; i++) {
		pattern(data, ranges[i].size, 100 + i);
		memcpy(model + ranges[i].offset, data, ranges[i].size);
		IS(radeon_gem_bo_pwrite(bo, ranges[i].offset, ranges[i].size,
					data, 0), 0);
		HOLDS(as_model());
	}
}

static void test_read(void)
{
	unsigned int i;

	for (i = 0; i < RANGES; i++) {
		IS(set(200 + i), 0);
		memset(data, 0xaa, BYTES);
		IS(radeon_gem_bo_pread(bo, ranges[i].offset, ranges[i].size,
				       data, 0), 0);
		HOLDS(!memcmp(data, model + ranges[i].offset, ranges[i].size));
		HOLDS(ranges[i].size == BYTES || data[ranges[i].size] == 0xaa);
	}
}

/* A glyph with different pitches, one in another BO, nothing, and a row. */
static void fill_regions(struct radeon_gem_bo_region regions[4])
{
	regions[0] = (struct radeon_gem_bo_region) {
		.bo = bo, .bo_offset = 5 * 1024 + 7, .data = data,
		.bo_pitch = 1024, .data_pitch = 19, .row_bytes = 17, .rows = 23,
	};
	regions[1] = (struct radeon_gem_bo_region) {
		.bo = other, .bo_offset = 4000, .data = data + 4096,
		.bo_pitch = 200, .data_pitch = 300, .row_bytes = 200, .rows = 3,
	};
	regions[2] = (struct radeon_gem_bo_region) { .bo = bo, .rows = 9 };
	regions[3] = (struct radeon_gem_bo_region) {
		.bo = bo, .bo_offset = 100001, .data = data + 8192,
		.row_bytes = 33333, .rows = 1,
	};
}

static void test_transfer_write(void)
{
	struct radeon_gem_bo_region regions[4];
	uint32_t done = 99, row;
	uint8_t back[600];

	IS(set(300), 0);
	pattern(data, BYTES, 301);
	fill_regions(regions);
	for (row = 0; row < 23; row++)
		memcpy(model + 5 * 1024 + 7 + row * 1024, data + row * 19, 17);
	memcpy(model + 100001, data + 8192, 33333);
	IS(radeon_gem_bo_transfer(manager, regions, 4,
				  RADEON_GEM_TRANSFER_WRITE, &done), 0);
	HOLDS(done == 4);
	HOLDS(as_model());
	IS(radeon_gem_bo_pread(other, 4000, 600, back, 0), 0);
	for (row = 0; row < 3; row++)
		HOLDS(!memcmp(back + row * 200, data + 4096 + row * 300, 200));
}

static void test_transfer_read(void)
{
	struct radeon_gem_bo_region regions[4];
	uint32_t done = 99, row;
	uint8_t sent[600];

	IS(set(400), 0);
	pattern(sent, sizeof(sent), 401);
	IS(radeon_gem_bo_pwrite(other, 4000, 600, sent, 0), 0);
	memset(data, 0xaa, BYTES);
	fill_regions(regions);
	IS(radeon_gem_bo_transfer(manager, regions, 4, 0, &done), 0);
	HOLDS(done == 4);
	for (row = 0; row < 23; row++) {
		HOLDS(!memcmp(data + row * 19, model + 5 * 1024 + 7 + row * 1024,
			      17));
		HOLDS(data[row * 19 + 17] == 0xaa);
	}
	for (row = 0; row < 3; row++)
		HOLDS(!memcmp(data + 4096 + row * 300, sent + row * 200, 200));
	HOLDS(!memcmp(data + 8192, model + 100001, 33333));
}

static void test_errors(void)
{
	struct radeon_gem_bo_region regions[4];
	uint32_t done = 99;

	IS(set(500), 0);
	IS(radeon_gem_bo_pwrite(bo, 0, 1, data, 1 << 7), -EINVAL);
	IS(radeon_gem_bo_pwrite(bo, BYTES + 1, 0, NULL, 0), 0);
	IS(radeon_gem_bo_pwrite(bo, BYTES, 1, data, 0), -EINVAL);
	IS(radeon_gem_bo_pread(bo, BYTES - 4, 5, data, 0), -EINVAL);
	IS(radeon_gem_bo_pread(bo, UINT64_MAX, 2, data, 0), -EINVAL);
	IS(radeon_gem_bo_pread(bo, 0, 2, (void *)UINTPTR_MAX, 0), -EFAULT);
	fill_regions(regions);
	regions[1].bo_offset = BYTES - 599;
	IS(radeon_gem_bo_transfer(manager, regions, 4, 0, &done), -EINVAL);
	HOLDS(done == 1);
	HOLDS(as_model());
}

/* Calls come after work that was submitted before; reads wait for it. */
static void test_busy(void)
{
	IS(set(600), 0);
	pattern(model, BYTES, 601);
	memcpy(helper_map, model, BYTES);
	IS(latency(100000), 0);
	IS(gpu_write(), 0);
	HOLDS(bench_gem_busy(dev.fd, bo->handle) == 1);
	IS(radeon_gem_bo_pread(bo, 0, BYTES, data, 0), 0);
	HOLDS(!memcmp(data, model, BYTES));

	pattern(model, BYTES, 602);
	memcpy(helper_map, model, BYTES);
	IS(gpu_write(), 0);
	pattern(data, 5000, 603);
	memcpy(model + 4099, data, 5000);
	IS(radeon_gem_bo_pwrite(bo, 4099, 5000, data, 0), 0);
	IS(radeon_gem_bo_pread(bo, 0, BYTES, data, 0), 0);
	HOLDS(!memcmp(data, model, BYTES));
	IS(latency(0), 0);
	HOLDS(as_model());
}

/* Calls that must not wait return while the BO is still busy. */
static void test_busy_no_wait(void)
{
	uint8_t old[BYTES];
	int ret;

	IS(set(700), 0);
	memcpy(old, model, BYTES);
	pattern(model, BYTES, 701);
	memcpy(helper_map, model, BYTES);
	IS(latency(LATENCY_US), 0);
	IS(gpu_write(), 0);
	IS(radeon_gem_bo_pread(bo, 1, 1000, data, RADEON_GEM_RW_NOWAIT), -EBUSY);
	HOLDS(bench_gem_busy(dev.fd, bo->handle) == 1);
	if (!(place->flags & RADEON_GEM_NO_CPU_ACCESS)) {
		IS(radeon_gem_bo_pread(bo, 1, 1000, data,
				       RADEON_GEM_RW_UNSYNCHRONIZED), 0);
		HOLDS(!memcmp(data, old + 1, 1000));
		HOLDS(bench_gem_busy(dev.fd, bo->handle) == 1);
	}
	/* The kernel can stage this write without waiting; a mapping cannot. */
	pattern(data, 1000, 702);
	ret = radeon_gem_bo_pwrite(bo, 2, 1000, data, RADEON_GEM_RW_NOWAIT);
	HOLDS(bench_gem_busy(dev.fd, bo->handle) == 1);
	IS(latency(0), 0);
	HOLDS(ret == -EBUSY || (ioctls && ret == 0));
	if (!ret)
		memcpy(model + 2, data, 1000);
	HOLDS(as_model());
}

/*
 * A dma-buf of another DRM file is imported twice, and a BO of ours comes back: the
 * kernel has one handle for either, which has to live as long as its last user.
 */
static void test_imported_twice(void)
{
	struct radeon_bo *first, *second, *back;
	struct bench_device maker;
	uint32_t handle;
	int fd;

	IS(bench_open(&maker), 0);
	IS(bench_gem_create(maker.fd, BYTES, place->domain, place->flags,
			    &handle), 0);
	IS(drmPrimeHandleToFD(maker.fd, handle, DRM_CLOEXEC | DRM_RDWR, &fd), 0);
	first = radeon_gem_bo_open_prime(manager, fd, BYTES);
	second = radeon_gem_bo_open_prime(manager, fd, BYTES);
	close(fd);
	HOLDS(first && second && first->handle == second->handle);
	pattern(model, BYTES, 800);
	IS(radeon_gem_bo_pwrite(first, 0, BYTES, model, 0), 0);
	radeon_bo_unref(first);
	memset(data, 0, BYTES);
	IS(radeon_gem_bo_pread(second, 0, BYTES, data, 0), 0);
	HOLDS(!memcmp(data, model, BYTES));
	radeon_bo_unref(second);
	close(maker.fd);

	IS(set(801), 0);
	IS(radeon_gem_prime_share_bo(bo, &fd), 0);
	back = radeon_gem_bo_open_prime(manager, fd, BYTES);
	close(fd);
	HOLDS(back && back->handle == bo->handle);
	radeon_bo_unref(back);
	HOLDS(bench_gem_busy(dev.fd, bo->handle) >= 0);
	HOLDS(as_model());
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "write", test_write },
	{ "read", test_read },
	{ "transfer-write", test_transfer_write },
	{ "transfer-read", test_transfer_read },
	{ "errors", test_errors },
	{ "busy", test_busy },
	{ "busy-no-wait", test_busy_no_wait },
	{ "imported-twice", test_imported_twice },
};

/* Runs a test on one kind of BO, and checks its mappings. Returns whether it passed. */
static bool run(unsigned int t)
{
	unsigned int maps = bench_count_maps();
	/* Imported dma-bufs are mapped by their own file descriptors. */
	bool checks = tests[t].run == test_errors ||
		      tests[t].run == test_imported_twice;

	mapped = 0;
	wrong[0] = 0;
	tests[t].run();
	latency(0);
	if (!wrong[0] && ioctls && mapped)
		snprintf(wrong, sizeof(wrong), "%u mappings were made", mapped);
	if (!wrong[0] && !ioctls && !mapped && !checks)
		snprintf(wrong, sizeof(wrong), "no mapping was made");
	if (!wrong[0] && bench_count_maps() != maps)
		snprintf(wrong, sizeof(wrong), "%u maps, and %u before",
			 bench_count_maps(), maps);
	printf("%-4s %s/%s", wrong[0] ? "FAIL" : "ok", place->name, tests[t].name);
	if (wrong[0])
		printf(": line %d: %s", wrong_line, wrong);
	printf("\n");
	wrong_line = 0;
	return !wrong[0];
}

static bool open_bos(void)
{
	bo = radeon_bo_open(manager, 0, BYTES, 4096, place->domain, place->flags);
	other = radeon_bo_open(manager, 0, BYTES, 4096, place->domain,
			       place->flags);
	return bo && other && (!place->tiling ||
			       !radeon_bo_set_tiling(bo, place->tiling, 1024));
}

int main(int argc, char **argv)
{
	unsigned int i, t, failed = 0;

	if (argc != 2 || (strcmp(argv[1], "ioctl") && strcmp(argv[1], "map"))) {
		fprintf(stderr, "usage: board ioctl|map\n");
		return 2;
	}
	ioctls = !strcmp(argv[1], "ioctl");
	if (bench_open(&dev) || (board = radeon_guest_board_open(dev.fd)) < 0) {
		fprintf(stderr, "board: no emulated board, or not root\n");
		return 77;
	}
	if (dev.has_rw != ioctls) {
		fprintf(stderr, "board: PREAD and PWRITE: %s\n",
			dev.has_rw ? "there" : "not there");
		return 1;
	}
	manager = radeon_bo_manager_gem_ctor(dev.fd);
	if (!manager || bench_gem_create(dev.fd, BYTES, RADEON_GEM_DOMAIN_GTT, 0,
					 &helper) ||
	    bench_gem_mmap(dev.fd, helper, BYTES, (void **)&helper_map)) {
		fprintf(stderr, "board: no memory\n");
		return 1;
	}
	/* Have stdout allocate its buffer before maps are counted. */
	printf("%s\n", dev.driver);
	for (i = 0; i < sizeof(placements) / sizeof(placements[0]); i++) {
		place = &placements[i];
		if (!open_bos()) {
			printf("FAIL %s: no BO\n", place->name);
			failed++;
			continue;
		}
		for (t = 0; t < sizeof(tests) / sizeof(tests[0]); t++)
			failed += !run(t);
		radeon_bo_unref(bo);
		radeon_bo_unref(other);
	}
	radeon_bo_manager_gem_dtor(manager);
	printf("%u failed\n", failed);
	return failed > 0;
}
