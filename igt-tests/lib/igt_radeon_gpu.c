// SPDX-License-Identifier: MIT
/*
 * GPU work for the radeon tests: copies by command submission on the gfx and
 * DMA rings, the emulated board's knobs, and memory pressure.
 *
 * The packets have the form which the kernel's command checkers for R600 and
 * R700 ask for (drivers/gpu/drm/radeon/r600_cs.c); opcodes and fields are
 * those of r600d.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_radeon.h"

/* PM4 (r600d.h) */
#define PACKET2			0x80000000u
#define PACKET3(op, n)		(3u << 30 | ((n) & 0x3fff) << 16 | (op) << 8)
#define PACKET3_NOP		0x10
#define PACKET3_CP_DMA		0x41
#define PACKET3_CP_DMA_CP_SYNC	(1u << 31)
/* The byte count has 21 bits; keep chunks a power of two below that. */
#define CP_DMA_CHUNK		(1u << 20)

/* Asynchronous DMA engine (r600d.h); the count is in dwords, 16 bits. */
#define DMA_PACKET_COPY(n)	(0x3u << 28 | (n))
#define DMA_PACKET_NOP		0xf0000000u
#define DMA_CHUNK		0x20000u

/* One reloc of a CS is four dwords; gfx packets name it by its first one. */
#define RELOC_DWORDS		4
#define MAX_PIECES		64

/* Board control block in the I/O BAR of the emulated board */
#define CTL_MAGIC		0xc0
#define CTL_LATENCY_US		0xc8
#define CTL_RATE_MBPS		0xcc
#define CTL_HANG		0xd0
#define CTL_COUNTER_SELECT	0xd4
#define CTL_COUNTER_LO		0xd8
#define CTL_COUNTER_HI		0xdc
#define CTL_MAGIC_VALUE		0x37786d6eu

/* How long a submission is tried again */
#define BUSY_PAUSE_US		10000
#define BUSY_TRIES		500

static int board_fd = -1;

static bool timer_runs;
static struct sigaction before_timer;

static int submit(int fd, uint32_t ring, uint32_t *ib, uint32_t ib_dwords,
		  struct drm_radeon_cs_reloc *relocs, uint32_t count)
{
	uint32_t flags[2] = { RADEON_CS_KEEP_TILING_FLAGS, ring };
	struct drm_radeon_cs_chunk chunk[3] = {
		{
			.chunk_id = RADEON_CHUNK_ID_IB,
			.length_dw = ib_dwords,
			.chunk_data = (uintptr_t)ib,
		}, {
			.chunk_id = RADEON_CHUNK_ID_RELOCS,
			.length_dw = count * RELOC_DWORDS,
			.chunk_data = (uintptr_t)relocs,
		}, {
			.chunk_id = RADEON_CHUNK_ID_FLAGS,
			.length_dw = 2,
			.chunk_data = (uintptr_t)flags,
		},
	};
	uint64_t chunks[3] = {
		(uintptr_t)&chunk[0],
		(uintptr_t)&chunk[1],
		(uintptr_t)&chunk[2],
	};
	struct drm_radeon_cs cs = {
		.num_chunks = 3,
		.chunks = (uintptr_t)chunks,
	};
	unsigned int tries;

	/*
	 * If an engine does not pass its test after a reset, there is a second
	 * one, and nothing is taken until then.
	 */
	for (tries = 0; drmIoctl(fd, DRM_IOCTL_RADEON_CS, &cs); tries++) {
		if (errno != EBUSY || tries == BUSY_TRIES)
			return -errno;
		usleep(BUSY_PAUSE_US);
	}
	return 0;
}

/* The GPU cannot use system memory: such a BO is taken to GTT. */
static uint32_t gpu_domain(const struct igt_radeon_bo *bo)
{
	return bo->domain == RADEON_GEM_DOMAIN_CPU ? RADEON_GEM_DOMAIN_GTT :
						     bo->domain;
}

static struct drm_radeon_cs_reloc reloc_read(const struct igt_radeon_bo *bo)
{
	return (struct drm_radeon_cs_reloc) {
		.handle = bo->handle,
		.read_domains = gpu_domain(bo),
	};
}

static struct drm_radeon_cs_reloc reloc_write(const struct igt_radeon_bo *bo)
{
	return (struct drm_radeon_cs_reloc) {
		.handle = bo->handle,
		.write_domain = gpu_domain(bo),
	};
}

static void copy_cp_dma(const struct igt_radeon_bo *dst, uint64_t dst_offset,
			const struct igt_radeon_bo *src, uint64_t src_offset,
			uint64_t size)
{
	struct drm_radeon_cs_reloc relocs[2];
	uint32_t ib[MAX_PIECES * 10 + 8], n = 0, piece;

	relocs[0] = reloc_read(src);
	relocs[1] = reloc_write(dst);
	while (size) {
		piece = size < CP_DMA_CHUNK ? size : CP_DMA_CHUNK;
		igt_assert(n + 10 <= MAX_PIECES * 10);
		ib[n++] = PACKET3(PACKET3_CP_DMA, 4);
		ib[n++] = src_offset;
		ib[n++] = PACKET3_CP_DMA_CP_SYNC | (src_offset >> 32 & 0xff);
		ib[n++] = dst_offset;
		ib[n++] = dst_offset >> 32 & 0xff;
		ib[n++] = piece;
		ib[n++] = PACKET3(PACKET3_NOP, 0);
		ib[n++] = 0 * RELOC_DWORDS;
		ib[n++] = PACKET3(PACKET3_NOP, 0);
		ib[n++] = 1 * RELOC_DWORDS;
		src_offset += piece;
		dst_offset += piece;
		size -= piece;
	}
	while (n % 8)
		ib[n++] = PACKET2;

	igt_assert_eq(submit(src->fd, RADEON_CS_RING_GFX, ib, n, relocs, 2), 0);
}

/* Relocs of the DMA ring are taken in order, source first, two a packet. */
static void copy_dma(const struct igt_radeon_bo *dst, uint64_t dst_offset,
		     const struct igt_radeon_bo *src, uint64_t src_offset,
		     uint64_t size)
{
	struct drm_radeon_cs_reloc relocs[MAX_PIECES * 2];
	uint32_t ib[MAX_PIECES * 5 + 8], n = 0, r = 0, piece;

	igt_assert(!((dst_offset | src_offset | size) & 3));
	while (size) {
		piece = size < DMA_CHUNK ? size : DMA_CHUNK;
		igt_assert(r + 2 <= MAX_PIECES * 2);
		ib[n++] = DMA_PACKET_COPY(piece / 4);
		ib[n++] = dst_offset;
		ib[n++] = src_offset;
		ib[n++] = dst_offset >> 32 & 0xff;
		ib[n++] = src_offset >> 32 & 0xff;
		relocs[r++] = reloc_read(src);
		relocs[r++] = reloc_write(dst);
		src_offset += piece;
		dst_offset += piece;
		size -= piece;
	}
	while (n % 8)
		ib[n++] = DMA_PACKET_NOP;

	igt_assert_eq(submit(src->fd, RADEON_CS_RING_DMA, ib, n, relocs, r), 0);
}

/**
 * igt_radeon_has_engine:
 * @fd: device
 * @engine: engine
 *
 * Returns: whether the driver takes command streams for @engine. The form of
 * the DMA ring's packets is that of R700 and later.
 */
bool igt_radeon_has_engine(int fd, enum igt_radeon_engine engine)
{
	uint32_t ring = engine == IGT_RADEON_DMA ? RADEON_CS_RING_DMA :
						   RADEON_CS_RING_GFX;
	struct drm_radeon_info arg = {
		.request = RADEON_INFO_RING_WORKING,
		.value = (uintptr_t)&ring,
	};

	return !drmIoctl(fd, DRM_IOCTL_RADEON_INFO, &arg) && ring;
}

/**
 * igt_radeon_copy:
 * @engine: which engine copies
 * @dst: destination, another BO than @src
 * @dst_offset: bytes; whole dwords for the DMA engine
 * @src: source
 * @src_offset: bytes; whole dwords for the DMA engine
 * @size: bytes; whole dwords for the DMA engine, at most 8 MiB
 *
 * Queues a copy and returns; the kernel orders it behind earlier uses.
 */
void igt_radeon_copy(enum igt_radeon_engine engine,
		     const struct igt_radeon_bo *dst, uint64_t dst_offset,
		     const struct igt_radeon_bo *src, uint64_t src_offset,
		     uint64_t size)
{
	igt_assert(src->fd == dst->fd && src->handle != dst->handle);
	if (engine == IGT_RADEON_DMA)
		copy_dma(dst, dst_offset, src, src_offset, size);
	else
		copy_cp_dma(dst, dst_offset, src, src_offset, size);
}

static void reset_board(int sig)
{
	uint32_t zero[2] = { 0 };

	(void)sig;
	if (board_fd >= 0 &&
	    (pwrite(board_fd, &zero[0], sizeof(zero[0]), CTL_LATENCY_US) < 0 ||
	     pwrite(board_fd, &zero[1], sizeof(zero[1]), CTL_RATE_MBPS) < 0))
		return;
}

/**
 * igt_radeon_has_board:
 * @fd: device
 *
 * Returns: whether @fd is the emulated board, whose I/O BAR has a control
 * block, and this process may use it
 */
bool igt_radeon_has_board(int fd)
{
	char path[96];
	struct stat st;
	uint32_t magic = 0;

	if (board_fd >= 0)
		return true;

	igt_assert_eq(fstat(fd, &st), 0);
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/resource4",
		 major(st.st_rdev), minor(st.st_rdev));
	board_fd = open(path, O_RDWR | O_CLOEXEC);
	if (board_fd < 0)
		return false;
	if (pread(board_fd, &magic, sizeof(magic), CTL_MAGIC) != sizeof(magic) ||
	    magic != CTL_MAGIC_VALUE) {
		close(board_fd);
		board_fd = -1;
		return false;
	}
	igt_install_exit_handler(reset_board);
	return true;
}

/**
 * igt_radeon_require_board:
 * @fd: device
 *
 * Skips unless igt_radeon_has_board().
 */
void igt_radeon_require_board(int fd)
{
	igt_require_f(igt_radeon_has_board(fd),
		      "needs the emulated board, to make BOs surely busy\n");
}

/**
 * igt_radeon_set_latency:
 * @fd: device
 * @us: delay from a submission until an engine starts its work
 *
 * Makes BOs stay busy for a while. The board looks at the knob also for work
 * that it has not yet started: a long delay holds submissions back, and 0 lets
 * them go. Without the emulated board this does nothing: the test then runs
 * with whatever latency the hardware has.
 */
void igt_radeon_set_latency(int fd, uint32_t us)
{
	if (!igt_radeon_has_board(fd))
		return;
	igt_assert_eq(pwrite(board_fd, &us, sizeof(us), CTL_LATENCY_US),
		      sizeof(us));
}

/**
 * igt_radeon_set_rate:
 * @fd: device that is the emulated board
 * @mbps: megabytes that an engine copies in a second; 0 for no limit
 *
 * Makes an engine busy while another one does nothing, which a latency cannot:
 * that holds all of them. Copies under way go on at the new rate.
 */
void igt_radeon_set_rate(int fd, uint32_t mbps)
{
	igt_radeon_require_board(fd);
	igt_assert_eq(pwrite(board_fd, &mbps, sizeof(mbps), CTL_RATE_MBPS),
		      sizeof(mbps));
}

static void on_alarm(int sig)
{
	(void)sig;
}

/**
 * igt_radeon_start_timer:
 * @us: period
 *
 * Sends SIGALRM again and again, which interrupts system calls, until
 * igt_radeon_stop_timer().
 */
void igt_radeon_start_timer(unsigned int us)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	const struct itimerval tick = {
		.it_interval.tv_usec = us,
		.it_value.tv_usec = us,
	};

	igt_radeon_stop_timer();
	igt_assert_eq(sigaction(SIGALRM, &action, &before_timer), 0);
	timer_runs = true;
	igt_assert_eq(setitimer(ITIMER_REAL, &tick, NULL), 0);
}

/**
 * igt_radeon_stop_timer:
 *
 * Undoes igt_radeon_start_timer(), if that was done.
 */
void igt_radeon_stop_timer(void)
{
	const struct itimerval off = { 0 };

	if (!timer_runs)
		return;
	igt_assert_eq(setitimer(ITIMER_REAL, &off, NULL), 0);
	igt_assert_eq(sigaction(SIGALRM, &before_timer, NULL), 0);
	timer_runs = false;
}

/**
 * igt_radeon_bo_wait_through_lockup:
 * @bo: waits until no engine uses it, also if one has to be reset for that
 *
 * The driver looks for a lockup when it enters a wait and is not woken by one
 * that is found while it sleeps (6.12, radeon_fence_default_wait()): a timer
 * has it enter the wait anew, instead of sleeping its 30 s out.
 */
void igt_radeon_bo_wait_through_lockup(const struct igt_radeon_bo *bo)
{
	igt_radeon_start_timer(100000);
	igt_radeon_bo_wait(bo);
	igt_radeon_stop_timer();
}

/**
 * igt_radeon_hang:
 * @fd: device that is the emulated board
 * @engine: engine
 *
 * Makes the ring of @engine stop until the driver resets it.
 */
void igt_radeon_hang(int fd, enum igt_radeon_engine engine)
{
	uint32_t bit = engine == IGT_RADEON_DMA ? 1 << 1 : 1 << 0;

	igt_radeon_require_board(fd);
	igt_assert_eq(pwrite(board_fd, &bit, sizeof(bit), CTL_HANG),
		      sizeof(bit));
}

/**
 * igt_radeon_board_counter:
 * @fd: device that is the emulated board
 * @counter: which
 *
 * Returns: one of the board's own counters
 */
uint64_t igt_radeon_board_counter(int fd, enum igt_radeon_counter counter)
{
	uint32_t select = counter, lo, hi;

	igt_radeon_require_board(fd);
	igt_assert_eq(pwrite(board_fd, &select, sizeof(select),
			     CTL_COUNTER_SELECT), sizeof(select));
	igt_assert_eq(pread(board_fd, &lo, sizeof(lo), CTL_COUNTER_LO),
		      sizeof(lo));
	igt_assert_eq(pread(board_fd, &hi, sizeof(hi), CTL_COUNTER_HI),
		      sizeof(hi));
	return (uint64_t)hi << 32 | lo;
}

/**
 * igt_radeon_require_evicted:
 * @bo: BO in VRAM, used before any that is newer
 *
 * Fills VRAM with other BOs until the kernel moves as much as @bo's size from
 * VRAM to GTT; the least recently used BO goes first. Skips if it does not.
 */
void igt_radeon_require_evicted(const struct igt_radeon_bo *bo)
{
	const uint64_t step = 16 << 20;
	uint64_t total, visible, before, moved = 0;
	struct igt_radeon_bo *fill;
	unsigned int max, n = 0;

	igt_radeon_vram_size(bo->fd, &total, &visible);
	max = total / step + 8;
	igt_require_f(max <= 1024, "too much VRAM to fill\n");
	fill = calloc(max, sizeof(*fill));
	igt_assert(fill);

	before = igt_radeon_info64(bo->fd, RADEON_INFO_GTT_USAGE);
	/* Hidden VRAM goes first, or the victim would be moved just there. */
	while (n < max && moved < bo->size) {
		igt_radeon_bo_init(&fill[n++], bo->fd, step,
				   RADEON_GEM_DOMAIN_VRAM,
				   RADEON_GEM_NO_CPU_ACCESS);
		moved = igt_radeon_info64(bo->fd, RADEON_INFO_GTT_USAGE) -
			before;
	}
	while (n)
		igt_radeon_bo_fini(&fill[--n]);
	free(fill);
	igt_require_f(moved >= bo->size, "nothing was evicted from VRAM\n");
}

/**
 * igt_radeon_mount_debugfs:
 *
 * Mounts debugfs, if that is possible and has not been done.
 */
void igt_radeon_mount_debugfs(void)
{
	if (access("/sys/kernel/debug/dri", F_OK) &&
	    mount("none", "/sys/kernel/debug", "debugfs", 0, NULL))
		igt_debug("debugfs cannot be mounted: %s\n", strerror(errno));
}

/**
 * igt_radeon_require_swapped:
 * @bo: BO in GTT
 *
 * Has TTM swap out what it can, by its debugfs file, and skips if GTT usage
 * does not fall by @bo's size.
 */
void igt_radeon_require_swapped(const struct igt_radeon_bo *bo)
{
	static const char path[] = "/sys/kernel/debug/ttm/tt_shrink";
	uint64_t before, after;
	char answer[32];
	int fd, i, pages = 1;
	ssize_t n;

	igt_radeon_mount_debugfs();
	igt_require_f(!access(path, R_OK), "no access to %s\n", path);

	before = igt_radeon_info64(bo->fd, RADEON_INFO_GTT_USAGE);
	after = before;
	/* One BO a read; each read needs a file of its own. */
	for (i = 0; i < 1024 && pages > 0; i++) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		igt_assert(fd >= 0);
		n = read(fd, answer, sizeof(answer) - 1);
		close(fd);
		igt_assert(n > 0);
		answer[n] = 0;
		pages = atoi(answer);
		after = igt_radeon_info64(bo->fd, RADEON_INFO_GTT_USAGE);
		if (before - after >= bo->size && after <= before)
			return;
	}
	igt_require_f(false, "TTM did not swap the BO out (%llu KiB left)\n",
		      (unsigned long long)after >> 10);
}
