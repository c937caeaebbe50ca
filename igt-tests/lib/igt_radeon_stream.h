/* SPDX-License-Identifier: MIT */
/*
 * Command streams that the kernel's checker is to refuse or to take, and that the GPU
 * does not get.
 *
 * A stream ends with a wait for a vertical line of a CRTC that does not exist. The
 * checker refuses that with -ENOENT, which nothing before it returns. So -ENOENT says
 * that all before it has passed the check.
 */
#ifndef IGT_RADEON_STREAM_H
#define IGT_RADEON_STREAM_H

#include <stdint.h>

#include "igt_radeon.h"

/* Type 3 packets of r600d.h and evergreend.h; @count is the number of dwords after the first. */
#define PACKET3(op, count)		(3u << 30 | ((count) & 0x3fff) << 16 | (op) << 8)
#define PACKET3_NOP			0x10
#define PACKET3_DRAW_INDEX_AUTO		0x2d
#define PACKET3_WAIT_REG_MEM		0x3c
#define PACKET3_MEM_WRITE		0x3d
#define PACKET3_SET_CONTEXT_REG		0x69
#define PACKET3_SET_RESOURCE		0x6d

/* Bytes of a stream's BO. */
#define IGT_RADEON_STREAM_BO		(1 * MIB)
#define IGT_RADEON_STREAM_DWORDS	512

/**
 * enum igt_radeon_checker - the checker of a chip's command streams
 * @IGT_RADEON_R600: r600_cs.c, R600 to RV740
 * @IGT_RADEON_EVERGREEN: evergreen_cs.c, CEDAR to ARUBA
 * @IGT_RADEON_CHECKERS: number of them
 */
enum igt_radeon_checker { IGT_RADEON_R600, IGT_RADEON_EVERGREEN, IGT_RADEON_CHECKERS };

/**
 * struct igt_radeon_stream - a command stream
 * @fd: device
 * @ring: RADEON_CS_RING_*; the graphics ring, if nothing else is set
 * @checker: for which checker
 * @bo: BO of all relocations
 * @reloc_dwords: size of the chunk of relocations, three at most
 * @n: dwords in @ib
 * @ib: packets
 */
struct igt_radeon_stream {
	int fd;
	uint32_t ring;
	enum igt_radeon_checker checker;
	struct igt_radeon_bo bo;
	uint32_t reloc_dwords;
	unsigned int n;
	uint32_t ib[IGT_RADEON_STREAM_DWORDS];
};

enum igt_radeon_checker igt_radeon_find_checker(int fd);
void igt_radeon_require_checker(enum igt_radeon_checker has, enum igt_radeon_checker needs);

void igt_radeon_stream_init(struct igt_radeon_stream *s, int fd, enum igt_radeon_checker checker);
void igt_radeon_stream_fini(struct igt_radeon_stream *s);
void igt_radeon_stream_emit(struct igt_radeon_stream *s, uint32_t dword);
void igt_radeon_stream_reloc(struct igt_radeon_stream *s);
void igt_radeon_stream_reg(struct igt_radeon_stream *s, uint32_t reg, uint32_t value);
void igt_radeon_stream_reg_reloc(struct igt_radeon_stream *s, uint32_t reg, uint32_t value);
void igt_radeon_stream_address(struct igt_radeon_stream *s, uint32_t reg);
void igt_radeon_stream_draw(struct igt_radeon_stream *s);
void igt_radeon_stream_end(struct igt_radeon_stream *s);
int igt_radeon_stream_try(struct igt_radeon_stream *s);
void igt_radeon_stream_refused(struct igt_radeon_stream *s);
void igt_radeon_stream_passed(struct igt_radeon_stream *s);

#endif
