/* SPDX-License-Identifier: MIT */
/*
 * Code that the benchmarks share: ioctls of the radeon driver (drm.c), clocks,
 * medians and files (util.c), JSON (json.c), names of the kernel's functions
 * (symbols.c). Submissions, the board's control block and the driver's counters
 * are in common/radeon/radeon_guest.h.
 *
 * Functions that return int return 0 or a negative errno unless they say
 * otherwise. Times are nanoseconds, of CLOCK_MONOTONIC unless a clock is given.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/**
 * struct bench_device - an open radeon render node
 * @fd: file descriptor
 * @has_rw: the kernel has PREAD and PWRITE
 * @has_transfer: the kernel has TRANSFER
 * @has_staging: writes to busy BOs do not wait
 * @vram: bytes of VRAM for BOs
 * @vram_visible: bytes of VRAM that the CPU reaches
 * @gtt: bytes of GTT for BOs
 * @driver: name and version of the DRM driver
 * @device: PCI vendor and device ID, or ""
 * @pci: address of the PCI device, as in sysfs, or ""
 */
struct bench_device {
	int fd;
	bool has_rw, has_transfer, has_staging;
	uint64_t vram, vram_visible, gtt;
	char driver[32], device[16], pci[16];
};

/**
 * struct bench_piece - bytes that bench_gem_copy() copies
 * @handle: source BO
 * @src_offset: first byte in it
 * @dst_offset: first byte in the destination
 * @bytes: bytes to copy, at most BENCH_PIECE_MAX
 */
struct bench_piece {
	uint32_t handle;
	uint64_t src_offset, dst_offset;
	uint32_t bytes;
};

/**
 * struct bench_dma_piece - bytes that bench_gem_dma() copies
 * @src: source BO
 * @dst: destination BO
 * @src_offset: first byte in @src, a multiple of 4
 * @dst_offset: first byte in @dst, a multiple of 4
 * @bytes: bytes to copy, a multiple of 4, at most BENCH_DMA_MAX
 */
struct bench_dma_piece {
	uint32_t src, dst;
	uint64_t src_offset, dst_offset;
	uint32_t bytes;
};

#define BENCH_PIECES_MAX 256u
/* CP_DMA's byte count has 21 bits (r600d.h). */
#define BENCH_PIECE_MAX (1u << 20)
#define BENCH_DMA_PIECES_MAX 1000u
/* The count of a packet of the DMA engine has 16 bits, and is of dwords (r600d.h). */
#define BENCH_DMA_MAX (0xffffu * 4)

int bench_open(struct bench_device *dev);
int bench_gem_create(int fd, uint64_t size, uint32_t domain, uint32_t flags,
		     uint32_t *handle);
int bench_gem_close(int fd, uint32_t handle);
int bench_gem_offset(int fd, uint32_t handle, uint64_t size, uint64_t *offset);
int bench_gem_mmap(int fd, uint32_t handle, uint64_t size, void **ptr);
int bench_gem_wait(int fd, uint32_t handle);
int bench_gem_busy(int fd, uint32_t handle);
int bench_gem_pread(int fd, uint32_t handle, uint64_t offset, void *data,
		    uint64_t size);
int bench_gem_pwrite(int fd, uint32_t handle, uint64_t offset,
		     const void *data, uint64_t size);
int bench_gem_transfer(int fd, const void *regions, uint32_t count,
		       uint32_t flags);
int bench_gem_copy(int fd, uint32_t dst, uint32_t dst_domain,
		   const struct bench_piece *pieces, unsigned int count,
		   uint32_t src_domain);
int bench_gem_userptr(int fd, const void *ptr, uint64_t size, uint32_t flags,
		      uint32_t *handle);
int bench_gem_dma(int fd, const struct bench_dma_piece *pieces,
		  unsigned int count, uint32_t src_domain, uint32_t dst_domain);
uint64_t bench_gem_dma_relocs(void);

/**
 * struct bench_stat - spread of one kind of samples, in ns
 * @median: 50th percentile
 * @p10: 10th percentile
 * @p25: 25th percentile
 * @p75: 75th percentile
 * @p90: 90th percentile
 */
struct bench_stat {
	uint64_t median, p10, p25, p75, p90;
};

uint64_t bench_now(void);
uint64_t bench_clock(clockid_t clock);
uint64_t bench_clock_cost(clockid_t clock);
bool bench_counts_instructions(clockid_t clock);
struct bench_stat bench_spread(uint64_t *times, unsigned int n);
bool bench_read_line(const char *path, char *line, size_t size);
unsigned long bench_read_number(const char *path);
unsigned long bench_field(const char *path, const char *name);
unsigned int bench_count_maps(void);

/**
 * struct bench_output - a file that gets its name when it is complete
 * @file: stream
 * @path: final name
 * @aside: temporary name
 */
struct bench_output {
	FILE *file;
	const char *path;
	char *aside;
};

int bench_output_open(struct bench_output *out, const char *path);
int bench_output_close(struct bench_output *out);
void bench_json_string(FILE *f, const char *text);

#define BENCH_SYMBOL_NAME 48

long bench_symbols_load(void);
size_t bench_symbol_find(uint64_t address);
const char *bench_symbol_name(size_t number);

#endif /* BENCH_H */
