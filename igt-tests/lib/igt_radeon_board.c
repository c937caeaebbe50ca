// SPDX-License-Identifier: MIT
/*
 * The emulated board: its control block in the I/O BAR (emulator/README.md).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon.h"

/* Board control block in the I/O BAR of the emulated board */
#define CTL_MAGIC		0xc0
#define CTL_LATENCY_US		0xc8
#define CTL_RATE_MBPS		0xcc
#define CTL_HANG		0xd0
#define CTL_COUNTER_SELECT	0xd4
#define CTL_COUNTER_LO		0xd8
#define CTL_COUNTER_HI		0xdc
#define CTL_MAGIC_VALUE		0x37786d6eu

/* Enough for what a test does meanwhile, on a slow machine, too */
#define HOLD_MIN_MS		30000

static int board_fd = -1;

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
 * igt_radeon_require_hold:
 * @fd: device
 *
 * Skips unless engines can be held back, by igt_radeon_set_latency(), while
 * somebody waits for them: that lasts, and the driver takes them for hung after
 * radeon.lockup_timeout. Needs one of HOLD_MIN_MS at least, or none.
 */
void igt_radeon_require_hold(int fd)
{
	char text[16];
	int ms;

	igt_radeon_require_board(fd);
	igt_assert(igt_radeon_get("/sys/module/radeon/parameters/lockup_timeout",
				  text, sizeof(text)) > 0);
	ms = atoi(text);
	igt_require_f(!ms || ms >= HOLD_MIN_MS,
		      "boot with radeon.lockup_timeout=%d or more\n",
		      HOLD_MIN_MS);
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
