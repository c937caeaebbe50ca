// SPDX-License-Identifier: MIT
/*
 * See radeon_guest.h. Packets have the form that the kernel's command checkers for
 * R600 and R700 ask for (drivers/gpu/drm/radeon/r600_cs.c); opcodes and fields are
 * those of r600d.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "radeon_guest.h"

#define PACKET3(op, n)		(3u << 30 | ((n) & 0x3fff) << 16 | (op) << 8)
#define PACKET3_NOP		0x10
#define PACKET3_CP_DMA		0x41
#define PACKET3_CP_DMA_CP_SYNC	(1u << 31)
#define DMA_PACKET_COPY(n)	(0x3u << 28 | (n))
#define DMA_PACKET_NOP		0xf0000000u

/**
 * radeon_guest_cp_dma - append a copy on the graphics ring
 * @ib: IB
 * @n: dwords in it so far
 * @dst_offset: bytes from the start of the destination
 * @dst_reloc: index of the destination's relocation
 * @src_offset: bytes from the start of the source
 * @src_reloc: index of the source's relocation
 * @bytes: size of the copy, at most RADEON_GUEST_CP_DMA_MAX
 *
 * Returns: dwords in the IB now, RADEON_GUEST_CP_DMA_DWORDS more than @n
 */
unsigned int radeon_guest_cp_dma(uint32_t *ib, unsigned int n, uint64_t dst_offset,
				 unsigned int dst_reloc, uint64_t src_offset,
				 unsigned int src_reloc, uint32_t bytes)
{
	ib[n++] = PACKET3(PACKET3_CP_DMA, 4);
	ib[n++] = src_offset;
	ib[n++] = PACKET3_CP_DMA_CP_SYNC | (src_offset >> 32 & 0xff);
	ib[n++] = dst_offset;
	ib[n++] = dst_offset >> 32 & 0xff;
	ib[n++] = bytes;
	ib[n++] = PACKET3(PACKET3_NOP, 0);
	ib[n++] = src_reloc * RADEON_GUEST_RELOC_DWORDS;
	ib[n++] = PACKET3(PACKET3_NOP, 0);
	ib[n++] = dst_reloc * RADEON_GUEST_RELOC_DWORDS;
	return n;
}

/**
 * radeon_guest_dma - append a copy on the DMA ring
 * @ib: IB
 * @n: dwords in it so far
 * @dst_offset: bytes from the start of the destination, a multiple of 4
 * @src_offset: bytes from the start of the source, a multiple of 4
 * @bytes: size of the copy, a multiple of 4, at most 0xffff dwords
 *
 * The kernel takes the DMA ring's relocations in order, two for each packet:
 * the source's, then the destination's.
 *
 * Returns: dwords in the IB now, RADEON_GUEST_DMA_DWORDS more than @n
 */
unsigned int radeon_guest_dma(uint32_t *ib, unsigned int n, uint64_t dst_offset,
			      uint64_t src_offset, uint32_t bytes)
{
	ib[n++] = DMA_PACKET_COPY(bytes / 4);
	ib[n++] = dst_offset;
	ib[n++] = src_offset;
	ib[n++] = dst_offset >> 32 & 0xff;
	ib[n++] = src_offset >> 32 & 0xff;
	return n;
}

/**
 * radeon_guest_pad - pad an IB with NOPs to the unit in which rings fetch IBs
 * @ib: IB with room for RADEON_GUEST_IB_ALIGN - 1 dwords more
 * @n: dwords in it so far
 * @ring: RADEON_CS_RING_GFX or RADEON_CS_RING_DMA
 *
 * Returns: dwords in the IB now
 */
unsigned int radeon_guest_pad(uint32_t *ib, unsigned int n, uint32_t ring)
{
	while (n % RADEON_GUEST_IB_ALIGN)
		ib[n++] = ring == RADEON_CS_RING_DMA ? DMA_PACKET_NOP : RADEON_GUEST_PACKET2;
	return n;
}

/**
 * radeon_guest_submit_chunks - DRM_IOCTL_RADEON_CS with chunks of any size
 * @fd: device
 * @flags: RADEON_CS_* besides RADEON_CS_KEEP_TILING_FLAGS
 * @ring: RADEON_CS_RING_*
 * @ib: commands
 * @dwords: number of dwords in @ib
 * @relocs: relocations of the BOs that the commands use
 * @reloc_dwords: size of their chunk; the last one may be in it in part
 *
 * Repeats the ioctl on -EINTR and -EAGAIN. Does not wait for the GPU.
 */
int radeon_guest_submit_chunks(int fd, uint32_t flags, uint32_t ring, const uint32_t *ib,
			       uint32_t dwords, const struct drm_radeon_cs_reloc *relocs,
			       uint32_t reloc_dwords)
{
	uint32_t flag_dwords[2] = { RADEON_CS_KEEP_TILING_FLAGS | flags, ring };
	struct drm_radeon_cs_chunk chunk[3] = {
		{
			.chunk_id = RADEON_CHUNK_ID_IB,
			.length_dw = dwords,
			.chunk_data = (uintptr_t)ib,
		}, {
			.chunk_id = RADEON_CHUNK_ID_RELOCS,
			.length_dw = reloc_dwords,
			.chunk_data = (uintptr_t)relocs,
		}, {
			.chunk_id = RADEON_CHUNK_ID_FLAGS,
			.length_dw = 2,
			.chunk_data = (uintptr_t)flag_dwords,
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

	while (ioctl(fd, DRM_IOCTL_RADEON_CS, &cs))
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
	return 0;
}

/**
 * radeon_guest_submit - DRM_IOCTL_RADEON_CS
 * @fd: device
 * @ring: RADEON_CS_RING_*
 * @ib: commands
 * @dwords: number of dwords in @ib
 * @relocs: relocations of the BOs that the commands use
 * @count: number of relocations
 *
 * As radeon_guest_submit_chunks().
 */
int radeon_guest_submit(int fd, uint32_t ring, const uint32_t *ib, uint32_t dwords,
			const struct drm_radeon_cs_reloc *relocs, uint32_t count)
{
	return radeon_guest_submit_chunks(fd, 0, ring, ib, dwords, relocs,
					  count * RADEON_GUEST_RELOC_DWORDS);
}

/**
 * radeon_guest_submit_vm - DRM_IOCTL_RADEON_CS in the client's address space
 * @fd: device
 * @ring: RADEON_CS_RING_*
 * @ib: commands, with addresses
 * @dwords: number of dwords in @ib
 * @relocs: the BOs that the commands use, for their placement
 * @count: number of relocations
 *
 * As radeon_guest_submit(), on Cayman and later.
 */
int radeon_guest_submit_vm(int fd, uint32_t ring, const uint32_t *ib, uint32_t dwords,
			   const struct drm_radeon_cs_reloc *relocs, uint32_t count)
{
	return radeon_guest_submit_chunks(fd, RADEON_CS_USE_VM, ring, ib, dwords, relocs,
					  count * RADEON_GUEST_RELOC_DWORDS);
}

/**
 * radeon_guest_board_open - find the control block of the emulated board
 * @fd: device
 *
 * Returns: a file descriptor; -ENODEV if @fd is not the emulated board, or
 * another negative errno. Only root can open the I/O BAR.
 */
int radeon_guest_board_open(int fd)
{
	uint32_t magic = 0;
	char path[96];
	struct stat st;
	int board;

	if (fstat(fd, &st))
		return -errno;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/resource4",
		 major(st.st_rdev), minor(st.st_rdev));
	board = open(path, O_RDWR | O_CLOEXEC);
	if (board < 0)
		return -errno;
	if (!radeon_guest_board_read(board, RADEON_GUEST_CTL_MAGIC, &magic) &&
	    magic == RADEON_GUEST_CTL_MAGIC_VALUE)
		return board;
	close(board);
	return -ENODEV;
}

/**
 * radeon_guest_board_read - read a register of the control block
 * @board: file descriptor from radeon_guest_board_open()
 * @reg: RADEON_GUEST_CTL_*
 * @value: filled in
 */
int radeon_guest_board_read(int board, unsigned int reg, uint32_t *value)
{
	return pread(board, value, sizeof(*value), reg) == sizeof(*value) ? 0 : -EIO;
}

/**
 * radeon_guest_board_write - write a register of the control block
 * @board: file descriptor from radeon_guest_board_open()
 * @reg: RADEON_GUEST_CTL_*
 * @value: new value
 *
 * May be called by a signal handler.
 */
int radeon_guest_board_write(int board, unsigned int reg, uint32_t value)
{
	return pwrite(board, &value, sizeof(value), reg) == sizeof(value) ? 0 : -EIO;
}

/**
 * radeon_guest_board_counter - read one of the board's counters
 * @board: file descriptor from radeon_guest_board_open()
 * @number: index of the counter, see emulator/README.md
 * @value: filled in
 */
int radeon_guest_board_counter(int board, unsigned int number, uint64_t *value)
{
	uint32_t lo, hi;
	int ret = radeon_guest_board_write(board, RADEON_GUEST_CTL_COUNTER_SELECT, number);

	if (!ret)
		ret = radeon_guest_board_read(board, RADEON_GUEST_CTL_COUNTER_LO, &lo);
	if (!ret)
		ret = radeon_guest_board_read(board, RADEON_GUEST_CTL_COUNTER_HI, &hi);
	if (!ret)
		*value = (uint64_t)hi << 32 | lo;
	return ret;
}

/**
 * radeon_guest_counters - read the driver's counters
 * @path: radeon_gem_rw in debugfs
 * @take: called for each line that has a name and one or two numbers
 * @data: passed to @take
 */
int radeon_guest_counters(const char *path, radeon_guest_counter *take, void *data)
{
	char line[128], name[32];
	uint64_t values[2];
	FILE *f = fopen(path, "re");
	int fields;

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		fields = sscanf(line, "%31s %" SCNu64 " %" SCNu64, name, &values[0],
				&values[1]);
		if (fields >= 2)
			take(data, name, values, fields - 1);
	}
	fclose(f);
	return 0;
}
