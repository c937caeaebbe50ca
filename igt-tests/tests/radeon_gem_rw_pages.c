// SPDX-License-Identifier: MIT
/*
 * Calls that fail leave the pages of user memory as they were.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw pages
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, pages of user memory
 * Description: Checks that calls that fail do not change user memory, and that
 *              memory that is not there is reported first.
 */
IGT_TEST_DESCRIPTION("Checks user memory of calls that fail.");

#define HOLD_US		60000000u
#define LARGE		(4 * MIB)

static void assert_untouched(const uint8_t *mem, size_t size, enum igt_radeon_op op)
{
	igt_assert_f(mem[0] == 1 && !memcmp(mem, mem + 1, size - 1),
		     "%s: a call that failed has changed user memory\n",
		     igt_radeon_op_name[op]);
}

/**
 * SUBTEST: fault-before-busy
 * Description: A call with NOWAIT, for a BO that the GPU is going to write,
 *              whose user memory ends early gives -EFAULT and not -EBUSY,
 *              wherever the memory ends. Neither changes the memory.
 */
static void test_fault_before_busy(int fd)
{
	static const uint32_t ends[] = {
		PAGE, 64 * KIB, 256 * KIB, 256 * KIB + PAGE, MIB, LARGE - PAGE,
	};
	struct igt_radeon_bo bo, src;
	enum igt_radeon_op op;
	unsigned int i;
	uint8_t *mem;
	int ret;

	igt_radeon_require_hold(fd);
	igt_radeon_bo_init(&bo, fd, LARGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&src, fd, LARGE, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_set_latency(fd, HOLD_US);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &bo, 0, &src, 0, LARGE);
	for (op = 0; op < IGT_RADEON_OPS; op++) {
		mem = igt_radeon_memory(LARGE);
		memset(mem, 1, LARGE);
		ret = igt_radeon_rw(op, fd, bo.handle, 0, LARGE, mem,
				    RADEON_GEM_RW_NOWAIT);
		igt_assert_f(ret == -EBUSY, "%s: %d instead of -EBUSY\n",
			     igt_radeon_op_name[op], ret);
		assert_untouched(mem, LARGE, op);
		for (i = ARRAY_SIZE(ends); i--;) {
			munmap(mem + ends[i], LARGE - ends[i]);
			ret = igt_radeon_rw(op, fd, bo.handle, 0, LARGE, mem,
					    RADEON_GEM_RW_NOWAIT);
			igt_assert_f(ret == -EFAULT,
				     "%s, memory of %u bytes: %d instead of -EFAULT\n",
				     igt_radeon_op_name[op], ends[i], ret);
			assert_untouched(mem, ends[i], op);
		}
		munmap(mem, LARGE);
	}
	igt_assert_f(igt_radeon_bo_busy(&bo), "a call has waited\n");
	igt_radeon_set_latency(fd, 0);
	igt_radeon_bo_fini(&src);
	igt_radeon_bo_fini(&bo);
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER |
					       RADEON_GEM_RW_CAP_STAGED);
		igt_radeon_require_stats(fd);
	}

	igt_describe("-EFAULT goes before -EBUSY.");
	igt_subtest("fault-before-busy")
		test_fault_before_busy(fd);
	igt_fixture() {
		igt_radeon_set_latency(fd, 0);
		close(fd);
	}
}
