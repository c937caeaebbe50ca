// SPDX-License-Identifier: MIT
/*
 * A GPU that hangs again after each reset, until the driver gives it up. It
 * does not work again before the next boot, so no other test may follow.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw reset fails
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, GPU resets that fail
 * Description: Checks that calls end when the GPU cannot be reset any more.
 */
IGT_TEST_DESCRIPTION("Checks that calls end when the GPU cannot be reset.");

#define END_SECONDS	100u
#define HOLD_US		3000000u
#define HANG_SECONDS	30.0
#define LARGE		(4 * MIB)
#define THREADS		4u

struct hanger {
	int fd;
	bool stop;
	pthread_t thread;
};

/* Hangs the engines all the time, so that ring tests after a reset fail. */
static void *hang_main(void *data)
{
	struct hanger *h = data;

	while (!__atomic_load_n(&h->stop, __ATOMIC_RELAXED)) {
		igt_radeon_hang(h->fd, IGT_RADEON_CP_DMA);
		igt_radeon_hang(h->fd, IGT_RADEON_DMA);
		usleep(500);
	}
	return NULL;
}

/**
 * SUBTEST: calls-end
 * Description: Engines hang while two large reads wait for staged copies, and again
 *              after each reset. All calls end, with any result, and calls made
 *              afterwards end as well.
 */
static void test_calls_end(int fd)
{
	const uint32_t resets = igt_radeon_reset_count(fd);
	struct igt_radeon_thread t[THREADS] = { 0 };
	struct hanger h = { .fd = fd };
	struct igt_radeon_bo bo[THREADS];
	uint8_t *mem[THREADS], byte;
	unsigned int i, asleep = 0;
	uint64_t working;
	double end;

	igt_radeon_require_board(fd);
	for (i = 0; i < THREADS; i++) {
		mem[i] = igt_radeon_memory(LARGE + PAGE);
		memset(mem[i], i, LARGE + PAGE);
		igt_radeon_bo_init(&bo[i], fd, LARGE, RADEON_GEM_DOMAIN_VRAM, 0);
		igt_radeon_bo_wait(&bo[i]);
	}
	igt_radeon_set_latency(fd, HOLD_US);
	for (i = 0; i < THREADS; i++) {
		t[i].once = true;
		t[i].call = (struct igt_radeon_call) {
			.op = i % 2 ? IGT_RADEON_DOWNLOAD : IGT_RADEON_PREAD,
			.fd = fd,
			.handle = bo[i].handle,
			.size = LARGE,
			.mem = mem[i] + 1,
		};
		igt_radeon_thread_start(&t[i]);
	}
	/* The process has room for two staged steps; the CPU copies for the others. */
	for (i = 0; i < THREADS; i++)
		asleep += igt_radeon_thread_settle(&t[i]);
	igt_assert_f(asleep >= 2, "%u calls wait for the GPU\n", asleep);
	igt_assert_eq(pthread_create(&h.thread, NULL, hang_main, &h), 0);
	igt_radeon_set_latency(fd, 0);
	for (end = igt_radeon_now() + HANG_SECONDS; igt_radeon_now() < end;)
		usleep(100000);

	for (i = 0; i < THREADS; i++) {
		igt_radeon_thread_join(&t[i], END_SECONDS);
		igt_info("call %u: %d\n", i, t[i].ret);
	}
	/* Calls end whether an engine works now or not. */
	for (i = 0; i < THREADS; i++) {
		t[0].call.op = IGT_RADEON_PREAD;
		t[0].call.size = i % 2 ? 1 : LARGE;
		t[0].call.mem = i % 2 ? &byte : mem[i];
		t[0].call.handle = bo[i].handle;
		igt_radeon_thread_start(&t[0]);
		igt_radeon_thread_join(&t[0], END_SECONDS);
	}
	working = igt_radeon_info64(fd, RADEON_INFO_ACCEL_WORKING2);
	__atomic_store_n(&h.stop, true, __ATOMIC_RELAXED);
	pthread_join(h.thread, NULL);
	igt_assert_f(igt_radeon_reset_count(fd) > resets,
		     "the GPU was not reset\n");
	igt_assert_f(!working, "a reset has succeeded\n");
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

	igt_describe("Calls end.");
	igt_subtest("calls-end")
		test_calls_end(fd);
	igt_fixture() {
		igt_radeon_set_latency(fd, 0);
		close(fd);
	}
}
