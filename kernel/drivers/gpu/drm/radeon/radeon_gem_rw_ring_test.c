// SPDX-License-Identifier: MIT
/*
 * Copyright 2026 Seed 7e3b15d1 maintainers
 *
 * Reading and writing GEM objects without mapping them: KUnit tests of what is written
 * to rings and registers, which here are memory that no GPU reads.
 *
 * What the driver's own copies of pages write for a chip is what a packet has to look
 * like there. What has to come before and behind copies by CP DMA is that of Mesa's
 * r600_flush_emit() and r600_emit_pfp_sync_me().
 */

#include <kunit/test.h>
#include <linux/dma-resv.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/workqueue.h>

#include "radeon.h"
#include "radeon_asic.h"
#include "radeon_reg.h"
#include "r600d.h"
#include "radeon_gem_rw_gpu.h"

#define RADEON_GEM_RW_TEST_RING_DW	1024
#define RADEON_GEM_RW_TEST_MMIO		SZ_64K
/* What is in memory and registers that nothing has been written to. */
#define RADEON_GEM_RW_TEST_NOTHING	0xa5a5a5a5
#define RADEON_GEM_RW_TEST_GFX		RADEON_RING_TYPE_GFX_INDEX
#define RADEON_GEM_RW_TEST_DMA		R600_RING_TYPE_DMA_INDEX

/* Addresses above 4 GiB, so that each packet has high bits, which differ. */
#define RADEON_GEM_RW_TEST_DST		(0x12ULL << 32 | SZ_1M)
#define RADEON_GEM_RW_TEST_SRC		(0x34ULL << 32 | SZ_2M)
#define RADEON_GEM_RW_TEST_JOB		(0x56ULL << 32 | SZ_4M)

static const struct radeon_gem_rw_test_chip {
	const char *name;
	enum radeon_family family;
	/* As the chip's struct radeon_asic says. */
	struct radeon_fence *(*copy_dma)(struct radeon_device *rdev, u64 src, u64 dst,
					 unsigned int pages, struct dma_resv *resv);
	bool moves_by_dma;
} radeon_gem_rw_test_chips[] = {
	{ "RV670", CHIP_RV670, r600_copy_dma, false },
	{ "RV770", CHIP_RV770, rv770_copy_dma, true },
	{ "RV710", CHIP_RV710, rv770_copy_dma, true },
	{ "CEDAR", CHIP_CEDAR, evergreen_copy_dma, true },
	{ "CAICOS", CHIP_CAICOS, evergreen_copy_dma, true },
	{ "CAYMAN", CHIP_CAYMAN, evergreen_copy_dma, true },
	{ "ARUBA", CHIP_ARUBA, evergreen_copy_dma, true },
};

static void radeon_gem_rw_test_chip_name(const struct radeon_gem_rw_test_chip *chip, char *name)
{
	strscpy(name, chip->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(radeon_gem_rw_test_chip, radeon_gem_rw_test_chips,
		  radeon_gem_rw_test_chip_name);

/* A device whose rings are memory. */
struct radeon_gem_rw_test_gpu {
	struct radeon_device rdev;
	struct radeon_asic asic;
	struct radeon_asic_ring rings[2];
	u32 dwords[2][RADEON_GEM_RW_TEST_RING_DW];
	unsigned int n[2];		/* dwords before the last fence */
};

/* The index in the arrays above. */
static unsigned int radeon_gem_rw_test_index(unsigned int ring)
{
	return ring == RADEON_GEM_RW_TEST_DMA;
}

static u32 radeon_gem_rw_test_get_rptr(struct radeon_device *rdev, struct radeon_ring *ring)
{
	return ring->wptr;
}

static void radeon_gem_rw_test_set_wptr(struct radeon_device *rdev, struct radeon_ring *ring)
{
}

static void radeon_gem_rw_test_emit_fence(struct radeon_device *rdev, struct radeon_fence *fence)
{
	struct radeon_gem_rw_test_gpu *gpu =
		container_of(rdev, struct radeon_gem_rw_test_gpu, rdev);

	gpu->n[radeon_gem_rw_test_index(fence->ring)] = rdev->ring[fence->ring].wptr;
}

static void radeon_gem_rw_test_no_lockup(struct work_struct *work)
{
}

/* Empty both rings. */
static void radeon_gem_rw_test_restart(struct radeon_gem_rw_test_gpu *gpu)
{
	static const unsigned int ids[] = { RADEON_GEM_RW_TEST_GFX, RADEON_GEM_RW_TEST_DMA };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		gpu->rdev.ring[ids[i]].wptr = 0;
		gpu->n[i] = 0;
		memset32(gpu->dwords[i], RADEON_GEM_RW_TEST_NOTHING, RADEON_GEM_RW_TEST_RING_DW);
	}
}

/* Returns a device of the family; both of its rings are ready. */
static struct radeon_gem_rw_test_gpu *
radeon_gem_rw_test_gpu(struct kunit *test, const struct radeon_gem_rw_test_chip *chip)
{
	static const unsigned int ids[] = { RADEON_GEM_RW_TEST_GFX, RADEON_GEM_RW_TEST_DMA };
	struct radeon_gem_rw_test_gpu *gpu = kunit_kzalloc(test, sizeof(*gpu), GFP_KERNEL);
	struct radeon_device *rdev;
	struct radeon_ring *ring;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, gpu);
	rdev = &gpu->rdev;
	rdev->family = chip->family;
	rdev->asic = &gpu->asic;
	mutex_init(&rdev->ring_lock);
	init_waitqueue_head(&rdev->fence_queue);
	gpu->asic.copy.blit_ring_index = RADEON_GEM_RW_TEST_GFX;
	gpu->asic.copy.dma_ring_index = RADEON_GEM_RW_TEST_DMA;
	gpu->asic.copy.copy_ring_index = chip->moves_by_dma ? RADEON_GEM_RW_TEST_DMA :
							      RADEON_GEM_RW_TEST_GFX;
	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		gpu->rings[i] = (struct radeon_asic_ring) {
			.get_rptr = radeon_gem_rw_test_get_rptr,
			.set_wptr = radeon_gem_rw_test_set_wptr,
			.emit_fence = radeon_gem_rw_test_emit_fence,
		};
		gpu->asic.ring[ids[i]] = &gpu->rings[i];
		ring = &rdev->ring[ids[i]];
		ring->idx = ids[i];
		ring->ring = gpu->dwords[i];
		ring->ring_size = sizeof(gpu->dwords[i]);
		ring->ptr_mask = RADEON_GEM_RW_TEST_RING_DW - 1;
		ring->align_mask = 15;
		ring->ready = true;
		INIT_DELAYED_WORK(&rdev->fence_drv[ids[i]].lockup_work,
				  radeon_gem_rw_test_no_lockup);
	}
	radeon_gem_rw_test_restart(gpu);
	return gpu;
}

static void radeon_gem_rw_test_end(struct radeon_gem_rw_test_gpu *gpu,
				   struct radeon_fence *fence)
{
	cancel_delayed_work_sync(&gpu->rdev.fence_drv[fence->ring].lockup_work);
	radeon_fence_unref(&fence);
}

/* Have the driver's own function copy a page of the GPU. Returns the ring's index. */
static unsigned int radeon_gem_rw_test_copy_page(struct kunit *test,
						 struct radeon_gem_rw_test_gpu *gpu)
{
	struct radeon_fence *fence;
	struct dma_resv resv;
	unsigned int index;

	dma_resv_init(&resv);
	dma_resv_lock(&resv, NULL);
	fence = gpu->asic.copy.copy(&gpu->rdev, RADEON_GEM_RW_TEST_SRC, RADEON_GEM_RW_TEST_DST, 1,
				    &resv);
	dma_resv_unlock(&resv);
	dma_resv_fini(&resv);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, fence);
	index = radeon_gem_rw_test_index(fence->ring);
	radeon_gem_rw_test_end(gpu, fence);
	return index;
}

/*
 * Submit a job that copies @n pieces, one behind the other, as after a reset. Returns the
 * ring's index; only that ring has got dwords.
 */
static unsigned int radeon_gem_rw_test_submit(struct kunit *test,
					      struct radeon_gem_rw_test_gpu *gpu,
					      const u32 *lens, unsigned int n, bool dwords)
{
	struct radeon_gem_rw_job *job = radeon_gem_rw_job_new(n);
	struct radeon_fence *fence;
	unsigned int i, index;
	u64 offset = 0;
	int r;

	KUNIT_ASSERT_NOT_NULL(test, job);
	job->mem = kunit_kzalloc(test, RADEON_GEM_RW_JOB_HEADER, GFP_KERNEL);
	job->gpu_addr = RADEON_GEM_RW_TEST_JOB;
	job->dwords = dwords;
	for (i = 0; i < n; offset += lens[i++])
		job->ops[i] = (struct radeon_gem_rw_op) {
			.dst = RADEON_GEM_RW_TEST_DST + offset,
			.src = RADEON_GEM_RW_TEST_SRC + offset,
			.len = lens[i],
		};
	r = job->mem ? radeon_gem_rw_ring_resubmit(&gpu->rdev, job, &fence) : -ENOMEM;
	kfree(job);
	KUNIT_ASSERT_EQ(test, r, 0);
	index = radeon_gem_rw_test_index(fence->ring);
	radeon_gem_rw_test_end(gpu, fence);
	KUNIT_EXPECT_GT(test, gpu->n[index], 0);
	KUNIT_EXPECT_EQ(test, gpu->dwords[!index][0], RADEON_GEM_RW_TEST_NOTHING);
	return index;
}

/* The DMA engine: the chip's packet */

static void radeon_gem_rw_test_dma_packet(struct kunit *test)
{
	const struct radeon_gem_rw_test_chip *chip = test->param_value;
	struct radeon_gem_rw_test_gpu *gpu = radeon_gem_rw_test_gpu(test, chip);
	static const u32 len = RADEON_GPU_PAGE_SIZE;
	unsigned int index, n;
	u32 *page;

	gpu->asic.copy.copy = chip->copy_dma;
	index = radeon_gem_rw_test_copy_page(test, gpu);
	KUNIT_ASSERT_EQ(test, index, 1);
	n = gpu->n[index];
	KUNIT_ASSERT_GE(test, n, 4);
	page = kunit_kmalloc(test, n * sizeof(*page), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, page);
	memcpy(page, gpu->dwords[index], n * sizeof(*page));

	/* The packet is tested also where the driver does not use the engine. */
	gpu->asic.copy.copy_ring_index = RADEON_GEM_RW_TEST_DMA;
	radeon_gem_rw_test_restart(gpu);
	KUNIT_ASSERT_EQ(test, radeon_gem_rw_test_submit(test, gpu, &len, 1, true), index);
	KUNIT_EXPECT_EQ(test, gpu->n[index], n);
	KUNIT_EXPECT_MEMEQ(test, gpu->dwords[index], page, n * sizeof(*page));
}

/* Whose moves of BOs are not by the DMA engine, does not use it for jobs either. */
static void radeon_gem_rw_test_ring(struct kunit *test)
{
	const struct radeon_gem_rw_test_chip *chip = test->param_value;
	struct radeon_gem_rw_test_gpu *gpu = radeon_gem_rw_test_gpu(test, chip);
	static const u32 len = SZ_4K;

	KUNIT_EXPECT_EQ(test, radeon_gem_rw_test_submit(test, gpu, &len, 1, true),
			chip->moves_by_dma);

	/* Bytes are not for that engine; nor is anything if it does not work. */
	radeon_gem_rw_test_restart(gpu);
	KUNIT_EXPECT_EQ(test, radeon_gem_rw_test_submit(test, gpu, &len, 1, false), 0);
	radeon_gem_rw_test_restart(gpu);
	gpu->rdev.ring[RADEON_GEM_RW_TEST_DMA].ready = false;
	KUNIT_EXPECT_EQ(test, radeon_gem_rw_test_submit(test, gpu, &len, 1, true), 0);
}

/* CP DMA: what the packets make the ME wait for, as far as they have been read */

#define RADEON_GEM_RW_TEST_IDLE		(WAIT_3D_IDLE_bit | WAIT_3D_IDLECLEAN_bit)
#define RADEON_GEM_RW_TEST_CB_DB	(PACKET3_CB_ACTION_ENA | PACKET3_DB_ACTION_ENA)

/* Types of events, and bits of SURFACE_SYNC, that r600d.h does not have: nid.h, Mesa. */
#define RADEON_GEM_RW_TEST_CS_FLUSH	0x07
#define RADEON_GEM_RW_TEST_PS_FLUSH	0x10
#define RADEON_GEM_RW_TEST_CB_DB_BASES	GENMASK(16, 6)	/* CB0 to CB9 and DB */

struct radeon_gem_rw_test_state {
	bool cs, ps;			/* shaders of compute, of draws */
	bool flush;			/* CB and DB write back */
	bool written;			/* the ME waits until they have */
	bool idle;			/* the ME waits for draws, and for @flush */
	unsigned int copies;
	u64 bytes;			/* copied in order */
	bool sync;			/* the last copy has CP_SYNC */
	bool copied;			/* the ME waits for CP DMA */
	bool noted;			/* the ME has written that for the PFP */
	bool pfp;			/* the PFP waits for the ME */
};

/* Returns the address of two dwords of a packet. */
static u64 radeon_gem_rw_test_addr(const u32 *dwords)
{
	return dwords[0] | (u64)(dwords[1] & 0xff) << 32;
}

static void radeon_gem_rw_test_read_copy(struct kunit *test, const u32 *body, bool cayman,
					 struct radeon_gem_rw_test_state *state)
{
	if (cayman)
		KUNIT_EXPECT_TRUE(test, state->cs && state->ps && state->written);
	else
		KUNIT_EXPECT_TRUE(test, state->idle);
	/* Only the last one waits for those before it. */
	KUNIT_EXPECT_FALSE(test, state->sync);
	KUNIT_EXPECT_EQ(test, radeon_gem_rw_test_addr(body), RADEON_GEM_RW_TEST_SRC + state->bytes);
	KUNIT_EXPECT_EQ(test, radeon_gem_rw_test_addr(body + 2),
			RADEON_GEM_RW_TEST_DST + state->bytes);
	state->sync = body[1] & PACKET3_CP_DMA_CP_SYNC;
	state->bytes += body[4];
	state->copies++;
}

static void radeon_gem_rw_test_read_packet(struct kunit *test, u32 op, const u32 *body,
					   bool cayman, struct radeon_gem_rw_test_state *state)
{
	const u32 wait_until = (WAIT_UNTIL - PACKET3_SET_CONFIG_REG_OFFSET) >> 2;

	switch (op) {
	case PACKET3_EVENT_WRITE:
		state->cs |= (body[0] & 0x3f) == RADEON_GEM_RW_TEST_CS_FLUSH;
		state->ps |= (body[0] & 0x3f) == RADEON_GEM_RW_TEST_PS_FLUSH;
		state->flush |= (body[0] & 0x3f) == CACHE_FLUSH_AND_INV_EVENT;
		break;
	case PACKET3_SURFACE_SYNC:
		state->written |= state->flush && body[0] & BIT(31) &&
			!(~body[0] & (RADEON_GEM_RW_TEST_CB_DB | RADEON_GEM_RW_TEST_CB_DB_BASES)) &&
			body[1] == U32_MAX && !body[2];
		break;
	case PACKET3_SET_CONFIG_REG:
		KUNIT_EXPECT_EQ(test, body[0], wait_until);
		/* The register is deprecated from Cayman on. */
		KUNIT_EXPECT_FALSE(test, cayman);
		state->idle |= state->flush && !(~body[1] & RADEON_GEM_RW_TEST_IDLE);
		state->copied |= state->copies && body[1] & WAIT_CP_DMA_IDLE_bit;
		break;
	case PACKET3_CP_DMA:
		radeon_gem_rw_test_read_copy(test, body, cayman, state);
		break;
	case PACKET3_PFP_SYNC_ME:
		state->pfp |= state->sync;
		break;
	case PACKET3_MEM_WRITE:
		KUNIT_EXPECT_EQ(test, radeon_gem_rw_test_addr(body), RADEON_GEM_RW_TEST_JOB);
		state->noted |= state->copied && body[2] == 1;
		break;
	case PACKET3_WAIT_REG_MEM:
		KUNIT_EXPECT_EQ(test, radeon_gem_rw_test_addr(body + 1), RADEON_GEM_RW_TEST_JOB);
		state->pfp |= state->noted && body[0] & BIT(8) && body[3] == 1;
		break;
	default:
		KUNIT_FAIL(test, "packet %#x", op);
	}
}

/* Copies by CP DMA wait for earlier work, and later work waits for them. */
static void radeon_gem_rw_test_cp_dma(struct kunit *test)
{
	const struct radeon_gem_rw_test_chip *chip = test->param_value;
	struct radeon_gem_rw_test_gpu *gpu = radeon_gem_rw_test_gpu(test, chip);
	static const u32 lens[] = { 1, SZ_512K + 3, 77 };
	const bool cayman = chip->family >= CHIP_CAYMAN;
	struct radeon_gem_rw_test_state state = { };
	unsigned int i = 0, n;
	const u32 *dwords;

	KUNIT_ASSERT_EQ(test, radeon_gem_rw_test_submit(test, gpu, lens, ARRAY_SIZE(lens), false),
			0);
	dwords = gpu->dwords[0];
	while (i < gpu->n[0]) {
		KUNIT_ASSERT_EQ(test, RADEON_CP_PACKET_GET_TYPE(dwords[i]),
				RADEON_PACKET_TYPE3);
		n = RADEON_CP_PACKET_GET_COUNT(dwords[i]) + 1;
		KUNIT_ASSERT_LT(test, i + n, gpu->n[0]);
		radeon_gem_rw_test_read_packet(test, RADEON_CP_PACKET3_GET_OPCODE(dwords[i]),
					       dwords + i + 1, cayman, &state);
		i += 1 + n;
	}
	KUNIT_EXPECT_GT(test, state.copies, ARRAY_SIZE(lens));
	KUNIT_EXPECT_EQ(test, state.bytes, 1 + SZ_512K + 3 + 77);
	KUNIT_EXPECT_TRUE(test, state.sync);
	KUNIT_EXPECT_TRUE(test, state.pfp);
	if (!cayman)
		KUNIT_EXPECT_TRUE(test, state.copied);
}

/* The packet of a copy by CP DMA is that of the driver's own copy. */
static void radeon_gem_rw_test_cp_dma_packet(struct kunit *test)
{
	struct radeon_gem_rw_test_gpu *gpu =
		radeon_gem_rw_test_gpu(test, &radeon_gem_rw_test_chips[0]);
	static const u32 len = RADEON_GPU_PAGE_SIZE;
	u32 packets[2][6] = { };
	unsigned int i, at;

	gpu->asic.copy.copy = r600_copy_cpdma;
	for (i = 0; i < ARRAY_SIZE(packets); i++) {
		radeon_gem_rw_test_restart(gpu);
		at = i ? radeon_gem_rw_test_submit(test, gpu, &len, 1, false) :
			 radeon_gem_rw_test_copy_page(test, gpu);
		KUNIT_ASSERT_EQ(test, at, 0);
		while (at < gpu->n[0] && gpu->dwords[0][at] != PACKET3(PACKET3_CP_DMA, 4))
			at++;
		KUNIT_ASSERT_LE(test, at + ARRAY_SIZE(packets[i]), gpu->n[0]);
		memcpy(packets[i], gpu->dwords[0] + at, sizeof(packets[i]));
	}
	KUNIT_EXPECT_MEMEQ(test, packets[1], packets[0], sizeof(packets[0]));
}

/* Registers that reach all of VRAM */

static void radeon_gem_rw_test_registers(struct kunit *test)
{
	const struct radeon_gem_rw_test_chip *chip = test->param_value;
	struct radeon_gem_rw_test_gpu *gpu = radeon_gem_rw_test_gpu(test, chip);
	struct radeon_gem_rw rw = { .rdev = &gpu->rdev, .write = true };
	/* Beyond what the first register can address. */
	const u64 pos = 3ULL * SZ_2G + SZ_1M;
	u8 bytes[] = { 1, 2, 3, 4 };
	u32 *mmio = kunit_kmalloc(test, RADEON_GEM_RW_TEST_MMIO, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mmio);
	memset32(mmio, RADEON_GEM_RW_TEST_NOTHING, RADEON_GEM_RW_TEST_MMIO / sizeof(*mmio));
	gpu->rdev.rmmio = (void __iomem __force *)mmio;
	gpu->rdev.rmmio_size = RADEON_GEM_RW_TEST_MMIO;
	spin_lock_init(&gpu->rdev.mmio_idx_lock);

	radeon_gem_rw_copy_indirect(&rw, pos, bytes, 4);
	KUNIT_EXPECT_EQ(test, mmio[RADEON_MM_INDEX / 4], SZ_1M | BIT(31));
	KUNIT_EXPECT_EQ(test, mmio[RADEON_MM_DATA / 4], 0x04030201);
	KUNIT_EXPECT_EQ(test, mmio[EVERGREEN_MM_INDEX_HI / 4],
			chip->family >= CHIP_CEDAR ? 3 : RADEON_GEM_RW_TEST_NOTHING);

	/* A part of a dword: the rest stays. */
	radeon_gem_rw_copy_indirect(&rw, pos + 5, bytes, 2);
	KUNIT_EXPECT_EQ(test, mmio[RADEON_MM_INDEX / 4], (SZ_1M + 4) | BIT(31));
	KUNIT_EXPECT_EQ(test, mmio[RADEON_MM_DATA / 4], 0x04020101);
}

static struct kunit_case radeon_gem_rw_ring_test_cases[] = {
	KUNIT_CASE_PARAM(radeon_gem_rw_test_dma_packet, radeon_gem_rw_test_chip_gen_params),
	KUNIT_CASE_PARAM(radeon_gem_rw_test_ring, radeon_gem_rw_test_chip_gen_params),
	KUNIT_CASE_PARAM(radeon_gem_rw_test_cp_dma, radeon_gem_rw_test_chip_gen_params),
	KUNIT_CASE(radeon_gem_rw_test_cp_dma_packet),
	KUNIT_CASE_PARAM(radeon_gem_rw_test_registers, radeon_gem_rw_test_chip_gen_params),
	{ }
};

static struct kunit_suite radeon_gem_rw_ring_test_suite = {
	.name = "radeon_gem_rw_ring",
	.test_cases = radeon_gem_rw_ring_test_cases,
};

kunit_test_suite(radeon_gem_rw_ring_test_suite);
