// SPDX-License-Identifier: MIT
/*
 * The variants of one upload or download of an idle BO, and the cost of the
 * steps of a small upload.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "radeon_drm.h"
#include "radeon_drm_rw.h"

#include "transfer-paths.h"

#define NEVER 0xffffffffu
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct tp_placement tp_placements[] = {
	{ "gtt", RADEON_GEM_DOMAIN_GTT, 0, false },
	{ "gtt-wc", RADEON_GEM_DOMAIN_GTT, RADEON_GEM_GTT_WC, false },
	{ "vram", RADEON_GEM_DOMAIN_VRAM, RADEON_GEM_CPU_ACCESS, false },
	{ "vram-hidden", RADEON_GEM_DOMAIN_VRAM, RADEON_GEM_NO_CPU_ACCESS,
	  true },
};

const unsigned int tp_placement_count = COUNT(tp_placements);

const uint64_t tp_sizes[] = {
	256, 4096, 65536, 1 << 20, 4 << 20, 16 << 20,
};

/* Operations a turn for each size: a turn should take some 10 ms. */
static const unsigned int size_ops[] = { 40, 40, 15, 5, 3, 2 };

#define QUICK_SIZES 4u
/* Up to 64 KiB. */
#define BUS_SIZES 3u

/*
 * Operations
 */

/* Map, copy (which faults the pages in), unmap. */
static int up_mmap(struct tp_case *c)
{
	void *ptr;
	int ret = bench_gem_mmap(c->run->dev.fd, c->handle, c->size, &ptr);

	if (ret)
		return ret;
	memcpy(ptr, c->run->user, c->bytes);
	return munmap(ptr, c->size) ? -errno : 0;
}

static int down_mmap(struct tp_case *c)
{
	void *ptr;
	int ret = bench_gem_mmap(c->run->dev.fd, c->handle, c->size, &ptr);

	if (ret)
		return ret;
	memcpy(c->run->user, ptr, c->bytes);
	return munmap(ptr, c->size) ? -errno : 0;
}

static int up_kept(struct tp_case *c)
{
	memcpy(c->map, c->run->user, c->bytes);
	return 0;
}

static int down_kept(struct tp_case *c)
{
	memcpy(c->run->user, c->map, c->bytes);
	return 0;
}

static int up_pwrite(struct tp_case *c)
{
	return bench_gem_pwrite(c->run->dev.fd, c->handle, 0, c->run->user,
				c->bytes);
}

static int down_pread(struct tp_case *c)
{
	return bench_gem_pread(c->run->dev.fd, c->handle, 0, c->run->user,
			       c->bytes);
}

static const struct tp_arm up_mapped[] = {
	{ "mmap", up_mmap, 0, { }, 0 },
	{ "kept", up_kept, 0, { }, 0 },
};

static const struct tp_arm up_always[] = {
	{ "pwrite", up_pwrite, TP_BY_ANY, { }, 0 },
	{ "pwrite-again", up_pwrite, TP_BY_ANY, { }, 0 },
};

static const struct tp_arm down_mapped[] = {
	{ "mmap", down_mmap, 0, { }, 0 },
	{ "kept", down_kept, 0, { }, 0 },
};

static const struct tp_arm down_always[] = {
	{ "pread", down_pread, TP_BY_ANY, { }, 0 },
	{ "pread-again", down_pread, TP_BY_ANY, { }, 0 },
};

static const struct tp_arm down_cpu = {
	"pread-cpu", down_pread, TP_BY_CPU,
	{ { TP_STAGE_READ_MIN, NEVER } }, 1,
};

static const struct tp_arm down_staged = {
	"pread-staged", down_pread, TP_BY_STAGE,
	{ { TP_STAGE_READ_MIN, 1 } }, 1,
};

/*
 * Contents. Where the CPU cannot reach the BO, the GPU copies between it and
 * the helper.
 */

static int helper_copy(struct tp_case *c, bool to_helper)
{
	uint32_t dst = to_helper ? c->helper : c->handle;
	uint32_t dst_domain = to_helper ? RADEON_GEM_DOMAIN_GTT :
					  c->placement->domain;
	uint32_t src_domain = to_helper ? c->placement->domain :
					  RADEON_GEM_DOMAIN_GTT;
	struct bench_piece pieces[TP_USER_BYTES / BENCH_PIECE_MAX];
	uint64_t left = c->bytes, at = 0;
	unsigned int n = 0;
	int ret;

	for (; left; left -= pieces[n++].bytes) {
		pieces[n] = (struct bench_piece) {
			.handle = to_helper ? c->handle : c->helper,
			.src_offset = at,
			.dst_offset = at,
			.bytes = left < BENCH_PIECE_MAX ? left :
							  BENCH_PIECE_MAX,
		};
		at += pieces[n].bytes;
	}
	ret = bench_gem_copy(c->run->dev.fd, dst, dst_domain, pieces, n,
			     src_domain);
	return ret ? ret : bench_gem_wait(c->run->dev.fd, dst);
}

static int up_prepare(struct tp_case *c, uint64_t seed)
{
	tp_pattern(c->run->user, c->bytes, seed);
	return 0;
}

static int up_check(struct tp_case *c, uint64_t seed, bool *good)
{
	int ret;

	/* A staged write may still be pending. */
	ret = bench_gem_wait(c->run->dev.fd, c->handle);
	if (!ret && c->helper_map) {
		memset(c->helper_map, 0, c->bytes);
		ret = helper_copy(c, true);
	}
	if (!ret)
		*good = tp_is_pattern(c->run, c->map ? c->map : c->helper_map,
				      c->bytes, seed);
	return ret;
}

static int down_prepare(struct tp_case *c, uint64_t seed)
{
	int ret = 0;

	tp_pattern(c->map ? c->map : c->helper_map, c->bytes, seed);
	if (c->helper_map)
		ret = helper_copy(c, false);
	if (!ret)
		ret = bench_gem_wait(c->run->dev.fd, c->handle);
	memset(c->run->user, 0, c->bytes);
	return ret;
}

static int down_check(struct tp_case *c, uint64_t seed, bool *good)
{
	*good = tp_is_pattern(c->run, c->run->user, c->bytes, seed);
	return 0;
}

/*
 * Cases
 */

static unsigned int append(struct tp_arm *arms, unsigned int n,
			   const struct tp_arm *more, unsigned int count)
{
	memcpy(arms + n, more, count * sizeof(*more));
	return n + count;
}

static unsigned int choose_up(const struct tp_case *c, struct tp_arm *arms)
{
	unsigned int n = 0;

	if (!c->placement->hidden)
		n = append(arms, n, up_mapped, COUNT(up_mapped));
	return append(arms, n, up_always, COUNT(up_always));
}

static unsigned int choose_down(const struct tp_case *c, struct tp_arm *arms)
{
	bool vram = c->placement->domain == RADEON_GEM_DOMAIN_VRAM;
	unsigned int n = 0;

	if (!c->placement->hidden)
		n = append(arms, n, down_mapped, COUNT(down_mapped));
	n = append(arms, n, down_always, COUNT(down_always));
	if (vram && !c->placement->hidden)
		n = append(arms, n, &down_cpu, 1);
	if (vram)
		n = append(arms, n, &down_staged, 1);
	return n;
}

/**
 * tp_single_init - fill in a case of single uploads or downloads, without variants
 * @run: the run
 * @c: filled in
 * @size: number of the size, below tp_size_count
 * @write: uploads
 * @placement: of the BO
 */
void tp_single_init(struct tp_run *run, struct tp_case *c, unsigned int size,
		    bool write, const struct tp_placement *placement)
{
	*c = (struct tp_case) {
		.run = run,
		.kind = write ? "upload" : "download",
		.placement = placement,
		.bytes = tp_sizes[size],
		.units = 1,
		.ops = size_ops[size],
		.prepare = write ? up_prepare : down_prepare,
		.check = write ? up_check : down_check,
	};
	if (run->options->count)
		c->ops = 3;
	else if (run->options->quick)
		c->ops = (c->ops + 3) / 4;
}

const unsigned int tp_size_count = COUNT(tp_sizes);

/**
 * tp_single_first - the variants that a case of alternatives.c begins with
 * @c: a case of single uploads or downloads
 * @write: uploads
 * @arms: filled in
 *
 * Returns: number of variants: by mappings, where the CPU reaches the BO, and by the
 * ioctl with the driver's own thresholds
 */
unsigned int tp_single_first(const struct tp_case *c, bool write,
			     struct tp_arm *arms)
{
	unsigned int n = 0;

	if (!c->placement->hidden)
		n = append(arms, n, write ? up_mapped : down_mapped,
			   COUNT(up_mapped));
	return append(arms, n, write ? up_always : down_always, 1);
}

static void single(struct tp_run *run, const struct tp_placement *placement,
		   unsigned int size, bool write)
{
	struct tp_arm arms[TP_MAX_ARMS];
	struct tp_case c;
	struct tp_row *row;
	int ret;

	tp_single_init(run, &c, size, write, placement);
	c.arms = arms;
	c.arm_count = write ? choose_up(&c, arms) : choose_down(&c, arms);
	ret = tp_case_bo(&c, (c.bytes + 4095) & ~4095ull);
	if (ret) {
		row = tp_row(run, c.kind, placement, &arms[0], c.bytes, 1);
		snprintf(row->error, sizeof(row->error), "BO: %s",
			 strerror(-ret));
	} else {
		tp_measure(&c);
	}
	tp_case_fini(&c);
}

/**
 * tp_single - uploads to and downloads from idle BOs of all placements
 * @run: the run
 */
void tp_single(struct tp_run *run)
{
	unsigned int n = run->options->quick ? QUICK_SIZES : COUNT(tp_sizes);
	unsigned int p, i;

	for (p = 0; p < tp_placement_count; p++) {
		for (i = 0; i < n; i++)
			single(run, &tp_placements[p], i, true);
		for (i = 0; i < n; i++)
			single(run, &tp_placements[p], i, false);
	}
}

/**
 * tp_bus - small uploads to and downloads from VRAM, on a board that counts accesses
 * @run: the run
 *
 * Each access of the CPU to VRAM traps there (r7xx-board --bar-read-ns), so larger
 * transfers would take minutes. A board that maps VRAM counts nothing.
 */
void tp_bus(struct tp_run *run)
{
	unsigned int p, i;

	for (p = 0; p < tp_placement_count; p++) {
		if (strcmp(tp_placements[p].name, "vram"))
			continue;
		for (i = 0; i < BUS_SIZES; i++)
			single(run, &tp_placements[p], i, true);
		for (i = 0; i < BUS_SIZES; i++)
			single(run, &tp_placements[p], i, false);
	}
}

/*
 * The steps of a small upload: each variant gets further into the driver than
 * the one before; others are for comparison.
 */

/* Into the kernel and back. */
static int step_syscall(struct tp_case *c)
{
	(void)c;
	return syscall(SYS_getppid) < 0 ? -errno : 0;
}

/* Reaches the ioctl's code, with nothing to transfer. */
static int step_ioctl(struct tp_case *c)
{
	return bench_gem_pwrite(c->run->dev.fd, c->handle, 0, c->run->user, 0);
}

/* Finds the BO, and fails as the range is beyond its end. */
static int step_lookup(struct tp_case *c)
{
	int ret = bench_gem_pwrite(c->run->dev.fd, c->handle, c->size,
				   c->run->user, 8);

	return ret == -EINVAL ? 0 : -EIO;
}

/* A complete write, of 8 bytes. */
static int step_write(struct tp_case *c)
{
	return bench_gem_pwrite(c->run->dev.fd, c->handle, 0, c->run->user, 8);
}

/* The call that a client with a mapping makes before it writes. */
static int step_wait(struct tp_case *c)
{
	return bench_gem_wait(c->run->dev.fd, c->handle);
}

/* Maps and unmaps, without an access. */
static int step_mmap(struct tp_case *c)
{
	void *ptr;
	int ret = bench_gem_mmap(c->run->dev.fd, c->handle, c->size, &ptr);

	return ret ? ret : munmap(ptr, c->size) ? -errno : 0;
}

/* One access to a register that the emulated board has to answer. */
static int step_trap(struct tp_case *c)
{
	return tp_board_trap(c->run);
}

static int step_prepare(struct tp_case *c, uint64_t seed)
{
	tp_pattern(c->map, c->size, seed);
	memcpy(c->run->user, c->map, 8);
	return 0;
}

static int step_check(struct tp_case *c, uint64_t seed, bool *good)
{
	*good = tp_is_pattern(c->run, c->map, c->size, seed);
	return 0;
}

/**
 * tp_ladder - the cost of the steps of a small upload
 * @run: the run
 */
void tp_ladder(struct tp_run *run)
{
	static const struct tp_arm arms[] = {
		{ "syscall", step_syscall, 0, { }, 0 },
		{ "ioctl", step_ioctl, 0, { }, 0 },
		{ "ioctl-again", step_ioctl, 0, { }, 0 },
		{ "lookup", step_lookup, 0, { }, 0 },
		{ "wait-idle", step_wait, 0, { }, 0 },
		{ "mmap-untouched", step_mmap, 0, { }, 0 },
		{ "pwrite-8", step_write, TP_BY_CPU, { }, 0 },
		/* Last, as only the emulated board has it. */
		{ "trap", step_trap, 0, { }, 0 },
	};
	unsigned int p;

	for (p = 0; p < tp_placement_count; p++) {
		struct tp_case c = {
			.run = run,
			.kind = "steps",
			.placement = &tp_placements[p],
			.bytes = 8,
			.units = 1,
			.ops = run->options->count ? 3 : 40,
			.arms = arms,
			.arm_count = COUNT(arms) - !run->has_board,
			.prepare = step_prepare,
			.check = step_check,
		};

		if (c.placement->hidden)
			continue;
		if (!tp_case_bo(&c, 4096))
			tp_measure(&c);
		tp_case_fini(&c);
	}
}
