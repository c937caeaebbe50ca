// SPDX-License-Identifier: MIT
/*
 * The control block of the emulated board (emulator/README.md), for root.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "bench.h"

#define CTL_MAGIC		0xc0
#define CTL_MAGIC_VALUE		0x37786d6eu

/**
 * bench_board_open - find the control block of a device
 * @dev: device
 *
 * Returns: a file descriptor; -ENODEV if this is no emulated board, or another
 * negative errno
 */
int bench_board_open(const struct bench_device *dev)
{
	uint32_t magic = 0;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource4",
		 dev->pci);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!bench_board_read(fd, CTL_MAGIC, &magic) &&
	    magic == CTL_MAGIC_VALUE)
		return fd;
	close(fd);
	return -ENODEV;
}

int bench_board_read(int fd, unsigned int reg, uint32_t *value)
{
	return pread(fd, value, 4, reg) == 4 ? 0 : -EIO;
}

int bench_board_write(int fd, unsigned int reg, uint32_t value)
{
	return pwrite(fd, &value, 4, reg) == 4 ? 0 : -EIO;
}
