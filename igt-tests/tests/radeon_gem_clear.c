// SPDX-License-Identifier: MIT
/*
 * A new BO reads zeros, in every placement and by every kind of first access.
 * The tests fill VRAM and GTT with a pattern first, which no new BO may show.
 *
 * TTM has always cleared GTT. The driver clears VRAM while its parameter
 * gem_rw_clear_vram is set, and the tests set it.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_rw.h"
#include "igt_radeon_stats.h"

/**
 * TEST: radeon gem clear
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: contents of new buffer objects
 * Description: Checks that new BOs do not show what earlier BOs have left in
 *              the same memory.
 */
IGT_TEST_DESCRIPTION("Checks that new radeon BOs read zeros.");

#define STEP		(8 * MIB)
#define LATENCY_US	100000u
#define LARGEST		(5 * MIB + PAGE)
#define LOOK_BY_REGISTERS	(16 * KIB)
#define PARAMETERS	"/sys/module/radeon/parameters/"
/* Around the largest size that the CPU clears, and some of several packets. */
static const uint32_t sizes[] = {
	PAGE, 3 * PAGE, 32 * KIB, 32 * KIB + PAGE, MIB, LARGEST,
};

static const uint32_t vram_flags[] = {
	RADEON_GEM_CPU_ACCESS, RADEON_GEM_NO_CPU_ACCESS, 0,
};

static uint8_t zeros[LARGEST], got[LARGEST], pattern[STEP];
static char saved[2][16];
static const char * const parameters[2] = {
	"gem_rw_clear_vram", "gem_rw_clear_cpu_max",
};

static bool write_parameter(const char *name, const char *value)
{
	char path[96];

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	return igt_radeon_put(path, value);
}

static void restore_parameters(int sig)
{
	unsigned int i;

	(void)sig;
	for (i = 0; i < ARRAY_SIZE(parameters); i++)
		write_parameter(parameters[i], saved[i]);
}

static void set_clear(bool on)
{
	igt_assert(write_parameter(parameters[0], on ? "Y" : "N"));
}

/* Sets the size of the largest BO that the CPU clears. */
static void set_cpu_max(const char *bytes)
{
	igt_assert(write_parameter(parameters[1], bytes));
}

static void require_clear(void)
{
	char path[96];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(parameters); i++) {
		snprintf(path, sizeof(path), PARAMETERS "%s", parameters[i]);
		igt_require_f(igt_radeon_get(path, saved[i],
					     sizeof(saved[i])) > 0,
			      "this radeon module has no %s\n", path);
	}
	igt_install_exit_handler(restore_parameters);
}

/* Bytes that the driver has counted as cleared, by the CPU or altogether. */
static uint64_t cleared(int fd, bool by_cpu)
{
	const struct igt_radeon_stats stats = igt_radeon_stats(fd);

	return stats.bytes[IGT_RADEON_CLEAR_CPU] +
	       (by_cpu ? 0 : stats.bytes[IGT_RADEON_CLEAR_GPU] +
			     stats.bytes[IGT_RADEON_CLEAR_HOP]);
}

/*
 * Leaves the pattern in @bytes bytes of a domain. All BOs exist at the same
 * time, so that none reuses the memory of another.
 */
static void dirty(int fd, uint32_t domain, uint32_t flags, uint64_t bytes)
{
	unsigned int count = bytes / STEP, n = 0;
	struct igt_radeon_bo *bo, src;

	bo = calloc(count, sizeof(*bo));
	igt_assert(bo);
	igt_radeon_bo_init(&src, fd, STEP, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_fill(&src, pattern);
	set_clear(false);
	for (n = 0; n < count; n++) {
		igt_radeon_bo_init(&bo[n], fd, STEP, domain, flags);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &bo[n], 0, &src, 0, STEP);
	}
	for (n = 0; n < count; n++)
		igt_radeon_bo_wait(&bo[n]);
	while (n)
		igt_radeon_bo_fini(&bo[--n]);
	igt_radeon_bo_fini(&src);
	free(bo);
	set_clear(true);
}

/* A page of the BO has zeros. */
static void look_at(const struct igt_radeon_bo *bo, uint64_t at)
{
	igt_assert_eq(igt_radeon_pread(bo->fd, bo->handle, at, PAGE, got, 0), 0);
	igt_radeon_assert_equal(got, zeros, PAGE, "a page of the BO");
}

/* Leaves the pattern in all free VRAM; BOs beyond that would be in GTT. */
static void dirty_vram(int fd)
{
	uint64_t total, visible, used;

	igt_radeon_vram_size(fd, &total, &visible);
	used = igt_radeon_info64(fd, RADEON_INFO_VRAM_USAGE);
	igt_require_f(total <= 2048ull * MIB, "too much VRAM to fill\n");
	dirty(fd, RADEON_GEM_DOMAIN_VRAM, RADEON_GEM_NO_CPU_ACCESS,
	      total - used);
}

static void assert_zero(const void *mem, const char *what,
			const struct igt_radeon_bo *bo)
{
	const uint8_t *bytes = mem;
	uint64_t i;

	if (!memcmp(bytes, zeros, bo->size))
		return;
	for (i = 0; !bytes[i]; i++)
		;
	igt_assert_f(false,
		     "%s, domain %u, flags %#x, %llu KiB: byte %#llx is %#04x\n",
		     what, bo->domain, bo->flags,
		     (unsigned long long)bo->size >> 10,
		     (unsigned long long)i, bytes[i]);
}

/* Ways to access a new BO */
static void look_by_pread(const struct igt_radeon_bo *bo)
{
	memset(got, 0xa5, bo->size);
	igt_assert_eq(igt_radeon_pread(bo->fd, bo->handle, 0, bo->size, got, 0),
		      0);
	assert_zero(got, "pread", bo);
}

/*
 * A kernel that cannot stage reads inaccessible VRAM through registers, a dword at a time. There
 * the last bytes have to do, which are cleared last.
 */
static void look_unsynchronized(const struct igt_radeon_bo *bo)
{
	uint64_t caps = igt_radeon_info64(bo->fd, RADEON_INFO_GEM_RW);
	uint32_t size = bo->size;

	if (!(caps & RADEON_GEM_RW_CAP_STAGED) && size > LOOK_BY_REGISTERS)
		size = LOOK_BY_REGISTERS;
	memset(got, 0, bo->size);
	memset(got + bo->size - size, 0xa5, size);
	igt_assert_eq(igt_radeon_pread(bo->fd, bo->handle, bo->size - size, size,
				       got + bo->size - size,
				       RADEON_GEM_RW_UNSYNCHRONIZED), 0);
	assert_zero(got, "unsynchronized pread", bo);
}

/* Without GEM_WAIT_IDLE: the page fault has to wait for the clearing. */
static void look_by_mmap(const struct igt_radeon_bo *bo)
{
	void *map = igt_radeon_bo_map(bo);

	memcpy(got, map, bo->size);
	munmap(map, bo->size);
	assert_zero(got, "mmap", bo);
}

/* The copy is queued at once, perhaps before the clearing has begun. */
static void look_by_engine(const struct igt_radeon_bo *bo,
			   enum igt_radeon_engine engine)
{
	struct igt_radeon_bo dst;

	igt_radeon_bo_init(&dst, bo->fd, bo->size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_fill(&dst, pattern);
	igt_radeon_copy(engine, &dst, 0, bo, 0, bo->size);
	igt_radeon_set_latency(bo->fd, 0);
	igt_radeon_bo_assert(&dst, zeros, engine == IGT_RADEON_DMA ?
			     "copied by DMA" : "copied by CP_DMA");
	igt_radeon_bo_fini(&dst);
}

static void look_by_cp_dma(const struct igt_radeon_bo *bo)
{
	look_by_engine(bo, IGT_RADEON_CP_DMA);
}

static void look_by_dma(const struct igt_radeon_bo *bo)
{
	look_by_engine(bo, IGT_RADEON_DMA);
}

typedef void (*look_t)(const struct igt_radeon_bo *bo);

/**
 * SUBTEST: vram-%s
 * Description: All of VRAM is filled with a pattern and freed. New BOs of all
 *              sizes, in CPU-accessible and CPU-inaccessible VRAM, read zeros
 *              by %arg[1].
 *
 * arg[1]:
 *
 * @pread:	PREAD
 * @unsync:	PREAD that does not wait for the GPU
 * @mmap:	a mapping
 * @cp-dma:	a copy on the graphics ring
 * @dma:	a copy on the DMA ring
 */
static void test_vram(int fd, look_t look, uint32_t latency)
{
	static const char * const cpu_max[] = { "32768", "0", "8388608" };
	unsigned int way, flags, size;
	struct igt_radeon_bo bo;

	for (way = 0; way < ARRAY_SIZE(cpu_max); way++) {
		dirty_vram(fd);
		set_cpu_max(cpu_max[way]);
		for (flags = 0; flags < ARRAY_SIZE(vram_flags); flags++) {
			for (size = 0; size < ARRAY_SIZE(sizes); size++) {
				igt_radeon_set_latency(fd, latency);
				igt_radeon_bo_init(&bo, fd, sizes[size],
						   RADEON_GEM_DOMAIN_VRAM,
						   vram_flags[flags]);
				look(&bo);
				igt_radeon_set_latency(fd, 0);
				/* The next BO there must not show it. */
				igt_radeon_bo_fill(&bo, pattern);
				igt_radeon_bo_fini(&bo);
			}
		}
	}
}

/**
 * SUBTEST: dumb
 * Description: Dumb BOs made after all of VRAM was filled with a pattern and
 *              freed read zeros.
 */
static void test_dumb(int fd)
{
	static const uint32_t heights[] = { 1, 16, 300, 1024 };
	struct drm_mode_create_dumb dumb;
	struct igt_radeon_bo bo;
	unsigned int i, look;
	int card;

	card = igt_radeon_try_open_primary();
	igt_require_f(card >= 0, "no primary node\n");
	dirty_vram(fd);
	for (i = 0; i < ARRAY_SIZE(heights); i++) {
		for (look = 0; look < 2; look++) {
			dumb = (struct drm_mode_create_dumb) {
				.width = 1024,
				.height = heights[i],
				.bpp = 32,
			};
			igt_assert_eq(igt_ioctl(card,
					       DRM_IOCTL_MODE_CREATE_DUMB,
					       &dumb), 0);
			bo = (struct igt_radeon_bo) {
				.fd = card,
				.handle = dumb.handle,
				.domain = RADEON_GEM_DOMAIN_VRAM,
				.size = dumb.size,
			};
			igt_assert(bo.size <= LARGEST);
			if (look)
				look_by_mmap(&bo);
			else
				look_by_pread(&bo);
			igt_radeon_bo_fill(&bo, pattern);
			igt_radeon_bo_fini(&bo);
		}
	}
	close(card);
}

/**
 * SUBTEST: create-close
 * Description: When BOs are closed before the GPU has cleared them, the late
 *              clearing does not hit later BOs in the same memory, and these
 *              read zeros.
 */
static void test_create_close(int fd)
{
	struct igt_radeon_bo bo;
	unsigned int i;

	igt_radeon_require_board(fd);
	dirty_vram(fd);
	set_cpu_max("0");
	for (i = 0; i < 50; i++) {
		igt_radeon_set_latency(fd, 5000);
		igt_radeon_bo_init(&bo, fd, sizes[i % ARRAY_SIZE(sizes)],
				   RADEON_GEM_DOMAIN_VRAM,
				   vram_flags[i % ARRAY_SIZE(vram_flags)]);
		if (i % 3) {
			igt_radeon_bo_fini(&bo);
			continue;
		}
		look_by_pread(&bo);
		igt_radeon_set_latency(fd, 0);
		igt_radeon_bo_fill(&bo, pattern);
		igt_radeon_bo_assert(&bo, pattern, "cleared too late");
		igt_radeon_bo_fini(&bo);
	}
}

/**
 * SUBTEST: evicting
 * Description: New BOs that make the kernel evict others from VRAM read zeros,
 *              also if they are evicted themselves, and the others keep their
 *              contents.
 */
static void test_evicting(int fd)
{
	struct igt_radeon_bo *old, fresh[8], src;
	uint64_t total, visible;
	unsigned int count, i;

	igt_radeon_vram_size(fd, &total, &visible);
	igt_require_f(total <= 2048ull * MIB, "too much VRAM to fill\n");
	dirty_vram(fd);
	count = total / STEP + 2;
	old = calloc(count, sizeof(*old));
	igt_assert(old);
	igt_radeon_bo_init(&src, fd, STEP, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_fill(&src, pattern);
	for (i = 0; i < count; i++) {
		igt_radeon_bo_init(&old[i], fd, STEP, RADEON_GEM_DOMAIN_VRAM,
				   RADEON_GEM_NO_CPU_ACCESS);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &old[i], 0, &src, 0, STEP);
		if (i % 8 != 7 || i / 8 >= ARRAY_SIZE(fresh))
			continue;
		igt_radeon_bo_init(&fresh[i / 8], fd, LARGEST,
				   RADEON_GEM_DOMAIN_VRAM,
				   vram_flags[i / 8 % ARRAY_SIZE(vram_flags)]);
	}
	igt_assert(count / 8 >= ARRAY_SIZE(fresh));
	for (i = 0; i < ARRAY_SIZE(fresh); i++)
		look_by_pread(&fresh[i]);
	for (i = 0; i < count; i += 7)
		igt_radeon_bo_assert(&old[i], pattern, "evicted for others");
	for (i = 0; i < ARRAY_SIZE(fresh); i++)
		igt_radeon_bo_fini(&fresh[i]);
	for (i = 0; i < count; i++)
		igt_radeon_bo_fini(&old[i]);
	igt_radeon_bo_fini(&src);
	free(old);
}

static void write_by_mmap(const struct igt_radeon_bo *bo)
{
	void *map;

	igt_radeon_bo_wait(bo);
	map = igt_radeon_bo_map(bo);
	memcpy(map, pattern, bo->size);
	munmap(map, bo->size);
}

/**
 * SUBTEST: hang-dma
 * Description: The DMA engine hangs and the GPU is reset. BOs that had not been
 *              cleared, and those made before the hang was detected, read
 *              zeros. Work that the engine had completed is not repeated: a BO
 *              that was cleared or written by the GPU, and then written by the
 *              CPU, keeps the CPU's bytes.
 *
 * SUBTEST: hang-cp-dma
 * Description: The same with a hang of the graphics ring.
 */
static void test_hang(int fd, enum igt_radeon_engine engine)
{
	struct igt_radeon_bo done, staged, busy, pending[4], later, dst;
	struct igt_radeon_stats stats;
	uint64_t resets;
	unsigned int i;

	igt_radeon_require_board(fd);
	igt_radeon_require_stats(fd);
	igt_require_f(igt_radeon_has_engine(fd, engine), "no such ring\n");
	dirty_vram(fd);
	set_cpu_max("0");

	/* Work in the ring itself: copies by user space are in IBs. */
	stats = igt_radeon_stats(fd);
	igt_radeon_bo_init(&done, fd, MIB, RADEON_GEM_DOMAIN_VRAM,
			   RADEON_GEM_CPU_ACCESS);
	stats = igt_radeon_stats_since(fd, &stats);
	igt_require_f(stats.bytes[IGT_RADEON_CLEAR_GPU],
		      "VRAM is cleared by moves, which a reset can lose\n");
	igt_radeon_bo_init(&staged, fd, 64 * KIB, RADEON_GEM_DOMAIN_VRAM,
			   RADEON_GEM_CPU_ACCESS);
	igt_radeon_bo_init(&busy, fd, 64 * KIB, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_set_latency(fd, LATENCY_US);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &busy, 0, &staged, 0, 64 * KIB);
	igt_assert_eq(igt_radeon_pwrite(fd, staged.handle, 0, 64 * KIB, zeros,
					0), 0);
	igt_radeon_copy(IGT_RADEON_DMA, &busy, 0, &staged, 0, 64 * KIB);
	igt_assert_eq(igt_radeon_pwrite(fd, staged.handle, 0, 64 * KIB, zeros,
					0), 0);
	igt_radeon_set_latency(fd, 0);
	write_by_mmap(&done);
	write_by_mmap(&staged);

	resets = igt_radeon_board_counter(fd, IGT_RADEON_SOFT_RESETS);
	igt_radeon_hang(fd, engine);
	for (i = 0; i < ARRAY_SIZE(pending); i++)
		igt_radeon_bo_init(&pending[i], fd, sizes[i + 2],
				   RADEON_GEM_DOMAIN_VRAM,
				   vram_flags[i % ARRAY_SIZE(vram_flags)]);
	/* Work that the hung ring does not complete. */
	igt_radeon_bo_init(&dst, fd, LARGEST, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_copy(engine, &dst, 0, &pending[3], 0, sizes[5]);
	igt_assert_eq(igt_radeon_pread(fd, dst.handle, 0, PAGE, got, 0), 0);
	igt_assert_f(igt_radeon_board_counter(fd, IGT_RADEON_SOFT_RESETS) >
		     resets, "the ring did not hang, or nobody reset it\n");
	for (i = 0; i < ARRAY_SIZE(pending); i++)
		look_by_pread(&pending[i]);
	igt_radeon_bo_init(&later, fd, LARGEST, RADEON_GEM_DOMAIN_VRAM,
			   RADEON_GEM_NO_CPU_ACCESS);
	look_by_pread(&later);
	igt_radeon_bo_assert(&done, pattern, "cleared before the reset");
	igt_radeon_bo_assert(&staged, pattern, "written before the reset");

	for (i = 0; i < ARRAY_SIZE(pending); i++)
		igt_radeon_bo_fini(&pending[i]);
	igt_radeon_bo_fini(&later);
	igt_radeon_bo_fini(&dst);
	igt_radeon_bo_fini(&busy);
	igt_radeon_bo_fini(&staged);
	igt_radeon_bo_fini(&done);
}

/**
 * SUBTEST: gtt
 * Description: New BOs in GTT of all caching modes and in system memory read
 *              zeros by every kind of access, with the parameter on or off.
 */
static void test_gtt(int fd)
{
	static const look_t looks[] = {
		look_by_pread, look_by_mmap, look_by_cp_dma, look_by_dma,
	};
	const unsigned int kinds = ARRAY_SIZE(looks) -
				   !igt_radeon_has_engine(fd, IGT_RADEON_DMA);
	const struct igt_radeon_placement *p;
	unsigned int i, look, size, on;
	struct igt_radeon_bo bo;

	for (i = 0; i < igt_radeon_reachable_count; i++) {
		p = &igt_radeon_reachable[i];
		if (p->domain == RADEON_GEM_DOMAIN_VRAM)
			continue;
		for (on = 0; on < 2; on++) {
			dirty(fd, p->domain, p->flags, 8 * STEP);
			set_clear(on);
			for (size = 0; size < ARRAY_SIZE(sizes); size++) {
				look = (size + on) % kinds;
				igt_radeon_bo_init(&bo, fd, sizes[size],
						   p->domain, p->flags);
				looks[look](&bo);
				igt_radeon_bo_fini(&bo);
			}
		}
	}
	set_clear(true);
}

/**
 * SUBTEST: parameter
 * Description: With the parameter off nothing is cleared. With it on, only the
 *              VRAM of new BOs is cleared: that of small ones by the CPU, that
 *              of large or CPU-inaccessible ones by the GPU.
 */
static void test_parameter(int fd)
{
	uint64_t before, cpu, gpu;
	struct igt_radeon_bo bo;
	unsigned int i;

	igt_radeon_require_stats(fd);
	set_cpu_max("32768");
	set_clear(false);
	before = cleared(fd, false);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		igt_radeon_bo_init(&bo, fd, sizes[i], RADEON_GEM_DOMAIN_VRAM,
				   vram_flags[i % ARRAY_SIZE(vram_flags)]);
		igt_radeon_bo_fini(&bo);
	}
	igt_assert_f(cleared(fd, false) == before,
		     "cleared with the parameter off\n");

	set_clear(true);
	igt_radeon_bo_init(&bo, fd, MIB, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_fini(&bo);
	igt_assert_f(cleared(fd, false) == before, "GTT was cleared\n");

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		cpu = cleared(fd, true);
		gpu = cleared(fd, false) - cpu;
		igt_radeon_bo_init(&bo, fd, sizes[i], RADEON_GEM_DOMAIN_VRAM,
				   RADEON_GEM_CPU_ACCESS);
		igt_radeon_bo_fini(&bo);
		cpu = cleared(fd, true) - cpu;
		gpu = cleared(fd, false) - cleared(fd, true) - gpu;
		igt_assert_f(cpu == (sizes[i] <= 32768 ? sizes[i] : 0) &&
			     cpu + gpu == sizes[i],
			     "of %u bytes the CPU has cleared %llu, the GPU %llu\n",
			     sizes[i], (unsigned long long)cpu,
			     (unsigned long long)gpu);
	}

	if (!igt_radeon_has_invisible_vram(fd))
		return;
	cpu = cleared(fd, true);
	igt_radeon_bo_init(&bo, fd, PAGE, RADEON_GEM_DOMAIN_VRAM,
			   RADEON_GEM_NO_CPU_ACCESS);
	igt_radeon_bo_fini(&bo);
	igt_assert_f(cleared(fd, true) == cpu,
		     "the CPU has cleared what it does not reach\n");
}

/**
 * SUBTEST: large
 * Description: A BO of most of a gigabyte of VRAM is made, and cleared by the
 *              GPU: filled by the DMA ring, or moved from cleared pages where
 *              radeon uses none. Its first and its last bytes, and some in
 *              between, are zeros.
 */
static void test_large(int fd)
{
	const enum igt_radeon_path path =
		igt_radeon_has_engine(fd, IGT_RADEON_DMA) ?
		IGT_RADEON_CLEAR_GPU : IGT_RADEON_CLEAR_HOP;
	const uint64_t size = 900ull * MIB;
	struct drm_radeon_gem_info info = { 0 };
	struct igt_radeon_stats stats;
	uint64_t total, visible, at;
	struct igt_radeon_bo bo;

	igt_radeon_require_stats(fd);
	igt_radeon_vram_size(fd, &total, &visible);
	igt_require_f(total >= size + 100 * MIB,
		      "needs a gigabyte of VRAM, as --board \"--vram-mib 1024\" gives\n");
	/* The kernel makes no BO that is larger than GTT. */
	igt_assert_eq(igt_ioctl(fd, DRM_IOCTL_RADEON_GEM_INFO, &info), 0);
	igt_require_f(info.gart_size >= size + 100 * MIB,
		      "needs a gigabyte of GTT, as radeon.gartsize=1024 gives\n");
	dirty(fd, RADEON_GEM_DOMAIN_VRAM, RADEON_GEM_NO_CPU_ACCESS, size);
	stats = igt_radeon_stats(fd);
	igt_radeon_bo_init(&bo, fd, size, RADEON_GEM_DOMAIN_VRAM,
			   RADEON_GEM_NO_CPU_ACCESS);
	stats = igt_radeon_stats_since(fd, &stats);
	igt_assert_eq_u64(stats.bytes[path], size);
	for (at = 0; at < size; at += 150 * MIB)
		look_at(&bo, at);
	look_at(&bo, size - PAGE);
	igt_radeon_bo_fini(&bo);
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		require_clear();
		igt_radeon_pattern(pattern, sizeof(pattern), 99);
	}

	igt_describe("New BOs in VRAM read zeros by PREAD.");
	igt_subtest("vram-pread") {
		igt_radeon_require_gem_rw(fd);
		test_vram(fd, look_by_pread, 0);
	}

	igt_describe("New BOs in VRAM read zeros by unsynchronized PREAD.");
	igt_subtest("vram-unsync") {
		igt_radeon_require_gem_rw(fd);
		test_vram(fd, look_unsynchronized, 5000);
	}

	igt_describe("New BOs in VRAM read zeros through a mapping.");
	igt_subtest("vram-mmap")
		test_vram(fd, look_by_mmap, 5000);

	igt_describe("New BOs in VRAM read zeros on the graphics ring.");
	igt_subtest("vram-cp-dma")
		test_vram(fd, look_by_cp_dma, LATENCY_US);

	igt_describe("New BOs in VRAM read zeros on the DMA ring.");
	igt_subtest("vram-dma") {
		igt_require_f(igt_radeon_has_engine(fd, IGT_RADEON_DMA),
			      "no such ring\n");
		test_vram(fd, look_by_dma, LATENCY_US);
	}
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("New dumb BOs read zeros.");
	igt_subtest("dumb") {
		igt_radeon_require_gem_rw(fd);
		test_dumb(fd);
	}

	igt_describe("BOs closed before they are cleared do no harm later.");
	igt_subtest("create-close") {
		igt_radeon_require_gem_rw(fd);
		test_create_close(fd);
	}
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("New BOs for which others are evicted read zeros.");
	igt_subtest("evicting") {
		igt_radeon_require_gem_rw(fd);
		test_evicting(fd);
	}

	igt_describe("Clearing survives a reset of the DMA ring.");
	igt_subtest("hang-dma")
		test_hang(fd, IGT_RADEON_DMA);

	igt_describe("Clearing survives a reset of the graphics ring.");
	igt_subtest("hang-cp-dma")
		test_hang(fd, IGT_RADEON_CP_DMA);

	igt_describe("New BOs in GTT read zeros.");
	igt_subtest("gtt") {
		igt_radeon_require_gem_rw(fd);
		test_gtt(fd);
	}

	igt_describe("A new BO of most of a gigabyte reads zeros.");
	igt_subtest("large")
		test_large(fd);

	igt_describe("The parameters select what is cleared, and how.");
	igt_subtest("parameter")
		test_parameter(fd);

	igt_fixture() {
		restore_parameters(0);
		close(fd);
	}
}
