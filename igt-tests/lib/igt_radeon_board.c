// SPDX-License-Identifier: MIT
/*
 * The emulated board: its control block in the I/O BAR (emulator/README.md).
 */
#include <stdlib.h>

#include "igt.h"
#include "igt_radeon.h"
#include "radeon_guest.h"

/* How long a test may hold engines back, on a slow machine */
#define HOLD_MIN_MS		30000

static int board_fd = -1;

static void reset_board(int sig)
{
	(void)sig;
	if (board_fd < 0)
		return;
	radeon_guest_board_write(board_fd, RADEON_GUEST_CTL_LATENCY_US, 0);
	radeon_guest_board_write(board_fd, RADEON_GUEST_CTL_RATE_MBPS, 0);
}

/**
 * igt_radeon_has_board:
 * @fd: device
 *
 * Returns: whether @fd is the emulated board, and this process may access the
 * control block in its I/O BAR
 */
bool igt_radeon_has_board(int fd)
{
	if (board_fd >= 0)
		return true;
	board_fd = radeon_guest_board_open(fd);
	if (board_fd < 0)
		return false;
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
 * Keeps BOs busy. The delay also applies to work that the board has not started
 * yet: a long one holds submissions back, and 0 releases them. Without the
 * emulated board this does nothing, and tests run with the hardware's latency.
 */
void igt_radeon_set_latency(int fd, uint32_t us)
{
	if (!igt_radeon_has_board(fd))
		return;
	igt_assert_eq(radeon_guest_board_write(board_fd, RADEON_GUEST_CTL_LATENCY_US, us), 0);
}

/**
 * igt_radeon_require_hold:
 * @fd: device
 *
 * Skips unless igt_radeon_set_latency() can hold engines back while a process
 * waits for them. The driver takes such engines for hung after
 * radeon.lockup_timeout, which has to be at least HOLD_MIN_MS, or 0 for never.
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
 * Keeps one engine busy while another is idle; a latency holds all of them
 * back. Copies that have begun continue at the new rate.
 */
void igt_radeon_set_rate(int fd, uint32_t mbps)
{
	igt_radeon_require_board(fd);
	igt_assert_eq(radeon_guest_board_write(board_fd, RADEON_GUEST_CTL_RATE_MBPS, mbps), 0);
}

/**
 * igt_radeon_hang:
 * @fd: device that is the emulated board
 * @engine: engine
 *
 * Makes the ring of @engine stop until the driver resets it, of the DMA engines both:
 * Cayman has a second one, which the driver takes for submissions without a
 * priority.
 */
void igt_radeon_hang(int fd, enum igt_radeon_engine engine)
{
	uint32_t bit = engine == IGT_RADEON_DMA ? 1 << 1 | 1 << 3 : 1 << 0;

	igt_radeon_require_board(fd);
	igt_assert_eq(radeon_guest_board_write(board_fd, RADEON_GUEST_CTL_HANG, bit), 0);
}

/**
 * igt_radeon_board_counter:
 * @fd: device that is the emulated board
 * @counter: counter of the board
 *
 * Returns: its value
 */
uint64_t igt_radeon_board_counter(int fd, enum igt_radeon_counter counter)
{
	uint64_t value;

	igt_radeon_require_board(fd);
	igt_assert_eq(radeon_guest_board_counter(board_fd, counter, &value), 0);
	return value;
}
