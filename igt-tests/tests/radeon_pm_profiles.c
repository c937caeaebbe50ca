// SPDX-License-Identifier: MIT
/*
 * Changes of the memory clock: the driver unmaps BOs in VRAM before. Crashes a kernel without
 * the fixes of kernel/fixes, so that it is run only if it is asked for.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon.h"
#include "igt_radeon_profiles.h"

/**
 * TEST: radeon pm profiles
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Power management tests
 * Functionality: clock changes
 * Description: Checks what the driver does when the memory clock changes. Needs nothing
 *              of the driver's PREAD and PWRITE.
 */
IGT_TEST_DESCRIPTION("Checks changes of the memory clock by power profiles.");

#define CLIENTS		3
#define BOS		24
#define CHANGES		300u
#define SECONDS		40.0

/* What the processes share: the end, and what each has done. */
struct shared {
	volatile int end;
	unsigned int freed[CLIENTS];
	unsigned int moves[CLIENTS];
};

/* Creates BOs in VRAM, touches each by a mapping, moves every fourth to GTT, and frees all. */
static void make_and_free(struct shared *shared, int client)
{
	struct igt_radeon_bo bos[BOS];
	const int fd = igt_radeon_open();
	uint32_t *ptr;
	unsigned int i;

	while (!shared->end) {
		for (i = 0; i < BOS; i++) {
			igt_radeon_bo_init(&bos[i], fd, PAGE, RADEON_GEM_DOMAIN_VRAM, 0);
			ptr = igt_radeon_bo_map(&bos[i]);
			*ptr = i;
			munmap(ptr, PAGE);
		}
		for (i = 0; i < BOS; i += 4) {
			bos[i].domain = RADEON_GEM_DOMAIN_GTT;
			igt_radeon_submit_nops(&bos[i], 16);
			shared->moves[client]++;
		}
		for (i = 0; i < BOS; i++)
			igt_radeon_bo_fini(&bos[i]);
		shared->freed[client] += BOS;
	}
	close(fd);
}

/**
 * SUBTEST: bos
 * Description: Power profiles are switched while processes create BOs, move some of
 *              them between VRAM and GTT, and free them.
 */
static void test_bos(int fd)
{
	struct shared *shared;
	unsigned int i, changes;
	double end;

	igt_radeon_require_profiles(fd);
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	igt_assert(shared != MAP_FAILED);

	igt_fork(client, CLIENTS)
		make_and_free(shared, client);

	igt_radeon_profiles_start();
	end = igt_radeon_now() + SECONDS;
	while (igt_radeon_profiles_changes() < CHANGES && igt_radeon_now() < end)
		usleep(10000);
	changes = igt_radeon_profiles_stop();
	shared->end = 1;
	igt_waitchildren();

	igt_info("%u changes\n", changes);
	igt_assert(changes >= 4);
	for (i = 0; i < CLIENTS; i++) {
		igt_info("client %u: %u BOs freed, %u moves\n", i, shared->freed[i],
			 shared->moves[i]);
		igt_assert(shared->freed[i] && shared->moves[i]);
	}
	munmap(shared, PAGE);
}

/* Reads @ptr, and returns how many page faults that took. */
static long faults_of_read(const volatile uint32_t *ptr, uint32_t expected)
{
	struct rusage before, after;
	uint32_t got;

	/* The first call may itself fault. */
	getrusage(RUSAGE_THREAD, &after);
	getrusage(RUSAGE_THREAD, &before);
	got = *ptr;
	getrusage(RUSAGE_THREAD, &after);
	igt_assert_eq(got, expected);
	return after.ru_minflt - before.ru_minflt;
}

/**
 * SUBTEST: unmaps
 * Description: After a change the first access to a mapped BO in VRAM is a page fault,
 *              which finds the contents as they were.
 */
static void test_unmaps(int fd)
{
	struct igt_radeon_bo bo;
	volatile uint32_t *ptr;

	igt_radeon_require_profiles(fd);
	igt_radeon_bo_init(&bo, fd, PAGE, RADEON_GEM_DOMAIN_VRAM, 0);
	ptr = igt_radeon_bo_map(&bo);
	*ptr = 0x5a17e575;
	igt_assert_eq(faults_of_read(ptr, 0x5a17e575), 0);

	igt_radeon_profiles_start();
	while (!igt_radeon_profiles_changes())
		usleep(1000);
	igt_radeon_profiles_stop();

	igt_assert_f(faults_of_read(ptr, 0x5a17e575) == 1,
		     "the BO is still mapped after a change of the memory clock\n");
	igt_assert_eq(faults_of_read(ptr, 0x5a17e575), 0);
	munmap((void *)ptr, PAGE);
	igt_radeon_bo_fini(&bo);
}

int igt_main()
{
	int fd = -1;

	igt_fixture()
		fd = igt_radeon_open();

	igt_describe("Switching power profiles while BOs are created, moved and freed.");
	igt_subtest("bos")
		test_bos(fd);

	igt_describe("A change of the memory clock unmaps BOs in VRAM.");
	igt_subtest("unmaps")
		test_unmaps(fd);

	igt_fixture()
		close(fd);
}
