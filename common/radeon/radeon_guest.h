/* SPDX-License-Identifier: MIT */
/*
 * Helpers that the IGT tests and the benchmarks share: command submissions that
 * copy, the board's control block, the driver's counters.
 *
 * They need only libdrm's headers. Functions that return int return 0 or a
 * negative errno unless they say otherwise. In an IGT tree both files go where
 * those of igt-tests/lib go.
 */
#ifndef RADEON_GUEST_H
#define RADEON_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "radeon_drm.h"

/* ---- command submissions ---- */

/* Dwords of a relocation in the relocation chunk; packets on the graphics ring
 * name a relocation by its first dword.
 */
#define RADEON_GUEST_RELOC_DWORDS	4
/* Dwords of one copy. */
#define RADEON_GUEST_CP_DMA_DWORDS	10
#define RADEON_GUEST_DMA_DWORDS		5
/* Rings fetch IBs in units of this many dwords. */
#define RADEON_GUEST_IB_ALIGN		8
/* Most bytes of one copy: CP_DMA's count has 21 bits, of which the largest power
 * of two below is used; the DMA engine's has 16 bits and is of dwords.
 */
#define RADEON_GUEST_CP_DMA_MAX		(1u << 20)
#define RADEON_GUEST_DMA_MAX		0x20000u
/* A packet of type 2, which the CP skips. */
#define RADEON_GUEST_PACKET2		0x80000000u

unsigned int radeon_guest_cp_dma(uint32_t *ib, unsigned int n, uint64_t dst_offset,
				 unsigned int dst_reloc, uint64_t src_offset,
				 unsigned int src_reloc, uint32_t bytes);
unsigned int radeon_guest_dma(uint32_t *ib, unsigned int n, uint64_t dst_offset,
			      uint64_t src_offset, uint32_t bytes);
unsigned int radeon_guest_pad(uint32_t *ib, unsigned int n, uint32_t ring);
int radeon_guest_submit_chunks(int fd, uint32_t flags, uint32_t ring, const uint32_t *ib,
			       uint32_t dwords, const struct drm_radeon_cs_reloc *relocs,
			       uint32_t reloc_dwords);
int radeon_guest_submit(int fd, uint32_t ring, const uint32_t *ib, uint32_t dwords,
			const struct drm_radeon_cs_reloc *relocs, uint32_t count);
int radeon_guest_submit_vm(int fd, uint32_t ring, const uint32_t *ib, uint32_t dwords,
			   const struct drm_radeon_cs_reloc *relocs, uint32_t count);

/* ---- the emulated board's control block, in its I/O BAR (emulator/README.md) ---- */

#define RADEON_GUEST_CTL_MAGIC		0xc0
#define RADEON_GUEST_CTL_LATENCY_US	0xc8
#define RADEON_GUEST_CTL_RATE_MBPS	0xcc
#define RADEON_GUEST_CTL_HANG		0xd0
#define RADEON_GUEST_CTL_COUNTER_SELECT	0xd4
#define RADEON_GUEST_CTL_COUNTER_LO	0xd8
#define RADEON_GUEST_CTL_COUNTER_HI	0xdc
#define RADEON_GUEST_CTL_MAGIC_VALUE	0x37786d6eu

int radeon_guest_board_open(int fd);
int radeon_guest_board_read(int board, unsigned int reg, uint32_t *value);
int radeon_guest_board_write(int board, unsigned int reg, uint32_t value);
int radeon_guest_board_counter(int board, unsigned int number, uint64_t *value);

/* ---- the driver's counters, radeon_gem_rw in debugfs (kernel/driver.md) ---- */

/**
 * typedef radeon_guest_counter - takes a line of the driver's counters
 * @data: what the caller of radeon_guest_counters() passed
 * @name: first word of the line
 * @values: numbers behind it
 * @count: number of @values, 1 or 2
 */
typedef void radeon_guest_counter(void *data, const char *name,
				  const uint64_t *values, unsigned int count);

int radeon_guest_counters(const char *path, radeon_guest_counter *take, void *data);

#endif /* RADEON_GUEST_H */
