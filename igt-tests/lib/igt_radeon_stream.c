// SPDX-License-Identifier: MIT
#include "igt.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "igt_radeon_process.h"
#include "igt_radeon_stream.h"
#include "radeon_guest.h"

#define PACKET0(reg)			((reg) >> 2)
#define CONTEXT_REG_START		0x28000
#define VLINE_STAT			(1 << 12)
#define NO_CRTC				0xffffffffu

/* A checker needs microseconds. Some loops of faulty ones take minutes. */
#define CHECK_SECONDS			10

/* Of the first CRTC; a stream names a CRTC by its id, and the kernel puts in the others. */
static const struct { uint32_t start_end, status; } vline[IGT_RADEON_CHECKERS] = {
	[IGT_RADEON_R600] = { 0x6538, 0x653c },
	[IGT_RADEON_EVERGREEN] = { 0x6b08, 0x6bb8 },
};

/**
 * igt_radeon_stream_init - an empty stream, and its BO in VRAM
 * @s: stream; igt_radeon_stream_fini() frees the BO
 * @fd: device
 * @checker: that of the device
 */
void igt_radeon_stream_init(struct igt_radeon_stream *s, int fd, enum igt_radeon_checker checker)
{
	memset(s, 0, sizeof(*s));
	s->fd = fd;
	s->checker = checker;
	s->reloc_dwords = RADEON_GUEST_RELOC_DWORDS;
	igt_radeon_bo_init(&s->bo, fd, IGT_RADEON_STREAM_BO, RADEON_GEM_DOMAIN_VRAM, 0);
}

/**
 * igt_radeon_stream_fini - free a stream's BO
 * @s: stream
 */
void igt_radeon_stream_fini(struct igt_radeon_stream *s)
{
	igt_radeon_bo_fini(&s->bo);
}

/**
 * igt_radeon_stream_emit - add a dword
 * @s: stream; the test fails if it is full
 * @dword: dword
 */
void igt_radeon_stream_emit(struct igt_radeon_stream *s, uint32_t dword)
{
	igt_assert(s->n < IGT_RADEON_STREAM_DWORDS);
	s->ib[s->n++] = dword;
}

/**
 * igt_radeon_stream_reloc - add a packet that refers to the relocation of the BO
 * @s: stream
 */
void igt_radeon_stream_reloc(struct igt_radeon_stream *s)
{
	igt_radeon_stream_emit(s, PACKET3(PACKET3_NOP, 0));
	igt_radeon_stream_emit(s, 0);
}

/**
 * igt_radeon_stream_reg - set a context register
 * @s: stream
 * @reg: its address in bytes
 * @value: its value
 */
void igt_radeon_stream_reg(struct igt_radeon_stream *s, uint32_t reg, uint32_t value)
{
	igt_radeon_stream_emit(s, PACKET3(PACKET3_SET_CONTEXT_REG, 1));
	igt_radeon_stream_emit(s, (reg - CONTEXT_REG_START) >> 2);
	igt_radeon_stream_emit(s, value);
}

/**
 * igt_radeon_stream_reg_reloc - set a register with an address or with fields of tiling
 * @s: stream
 * @reg: its address in bytes
 * @value: its value; of an address, what is added to that of the BO, mostly in 256 bytes
 */
void igt_radeon_stream_reg_reloc(struct igt_radeon_stream *s, uint32_t reg, uint32_t value)
{
	igt_radeon_stream_reg(s, reg, value);
	igt_radeon_stream_reloc(s);
}

/**
 * igt_radeon_stream_address - set a register to the address of the BO
 * @s: stream
 * @reg: its address in bytes
 */
void igt_radeon_stream_address(struct igt_radeon_stream *s, uint32_t reg)
{
	igt_radeon_stream_reg_reloc(s, reg, 0);
}

/**
 * igt_radeon_stream_draw - draw three vertices
 * @s: stream
 */
void igt_radeon_stream_draw(struct igt_radeon_stream *s)
{
	igt_radeon_stream_emit(s, PACKET3(PACKET3_DRAW_INDEX_AUTO, 1));
	igt_radeon_stream_emit(s, 3);
	igt_radeon_stream_emit(s, 2);
}

/**
 * igt_radeon_stream_end - end a stream so that the kernel refuses it with -ENOENT
 * @s: stream
 */
void igt_radeon_stream_end(struct igt_radeon_stream *s)
{
	igt_radeon_stream_emit(s, PACKET0(vline[s->checker].start_end));
	igt_radeon_stream_emit(s, 0);
	igt_radeon_stream_emit(s, PACKET3(PACKET3_WAIT_REG_MEM, 5));
	igt_radeon_stream_emit(s, 3);	/* until the register equals */
	igt_radeon_stream_emit(s, vline[s->checker].status >> 2);
	igt_radeon_stream_emit(s, 0);
	igt_radeon_stream_emit(s, 0);
	igt_radeon_stream_emit(s, VLINE_STAT);
	igt_radeon_stream_emit(s, 10);
	igt_radeon_stream_emit(s, PACKET3(PACKET3_NOP, 0));
	igt_radeon_stream_emit(s, NO_CRTC);
}

static int submit(void *data)
{
	const struct igt_radeon_stream *s = data;
	const struct drm_radeon_cs_reloc bo = {
		.handle = s->bo.handle, .write_domain = s->bo.domain,
	};
	/* Some tests have more than one, or a part of it. */
	struct drm_radeon_cs_reloc relocs[3] = { bo, bo, bo };

	return -radeon_guest_submit_chunks(s->fd, 0, s->ring, s->ib, s->n, relocs,
					   s->reloc_dwords);
}

/**
 * igt_radeon_stream_try - submit a stream, in a process of its own
 * @s: stream
 *
 * The test fails if the kernel kills the process, or takes too long.
 *
 * Returns: 0 or the errno of the submission
 */
int igt_radeon_stream_try(struct igt_radeon_stream *s)
{
	int status = igt_radeon_reap(igt_radeon_spawn(submit, s), CHECK_SECONDS);

	igt_assert_f(WIFEXITED(status), "the kernel killed the process in its ioctl\n");
	return WEXITSTATUS(status);
}

/**
 * igt_radeon_stream_refused - end a stream that the checker has to refuse, try and free it
 * @s: stream
 */
void igt_radeon_stream_refused(struct igt_radeon_stream *s)
{
	igt_radeon_stream_end(s);
	igt_assert_eq(igt_radeon_stream_try(s), EINVAL);
	igt_radeon_stream_fini(s);
}

/**
 * igt_radeon_stream_passed - end a stream that has to pass the check, try and free it
 * @s: stream
 */
void igt_radeon_stream_passed(struct igt_radeon_stream *s)
{
	igt_radeon_stream_end(s);
	igt_assert_eq(igt_radeon_stream_try(s), ENOENT);
	igt_radeon_stream_fini(s);
}

/**
 * igt_radeon_find_checker - whose checker the device has
 * @fd: device
 *
 * Only that one knows the registers of the end of a stream.
 *
 * Returns: the checker, or IGT_RADEON_CHECKERS
 */
enum igt_radeon_checker igt_radeon_find_checker(int fd)
{
	struct igt_radeon_stream s;
	unsigned int i;
	int ret;

	for (i = 0; i < IGT_RADEON_CHECKERS; i++) {
		igt_radeon_stream_init(&s, fd, i);
		igt_radeon_stream_end(&s);
		ret = igt_radeon_stream_try(&s);
		igt_radeon_stream_fini(&s);
		if (ret == ENOENT)
			return i;
		igt_assert_eq(ret, EINVAL);
	}
	return IGT_RADEON_CHECKERS;
}

/**
 * igt_radeon_require_checker - skip the test on chips with another checker
 * @has: that of the device
 * @needs: that of the test
 */
void igt_radeon_require_checker(enum igt_radeon_checker has, enum igt_radeon_checker needs)
{
	igt_require_f(has == needs, "another family has this checker\n");
}
