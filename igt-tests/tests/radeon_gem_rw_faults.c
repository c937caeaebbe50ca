// SPDX-License-Identifier: MIT
/*
 * PREAD and PWRITE with fault injection: a test repeats a call, and makes its
 * first, second, third, ... allocation or access to user memory fail
 * (/proc/thread-self/fail-nth, see the kernel's Documentation/fault-injection).
 *
 * For each fault: the call succeeds or gives the right error, each byte has its
 * old or its new value, and the same call without a fault then succeeds. No
 * GTT or VRAM are leaked; kmemleak finds other leaks at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_radeon_faults.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw faults
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, error paths
 * Description: Makes each allocation and each access to user memory fail in
 *              turn, on every path of the driver.
 */
IGT_TEST_DESCRIPTION("Checks every error path of radeon's PREAD and PWRITE.");

/* More than a step, but not much, so that rounds are short. */
#define LARGE		(96 * PAGE)
#define GUARD		64u
#define KMEMLEAK	"/sys/kernel/debug/kmemleak"

/* Where user memory comes from */
enum user {
	USER_TOUCHED,		/* pages are there */
	USER_UNTOUCHED,		/* the call has to fault them in */
	USER_BO,		/* a mapping of a BO */
};

/* State of the BO before a call */
enum state {
	STATE_IDLE,
	STATE_FRESH,		/* never used: has no pages yet */
	STATE_BUSY,		/* the GPU is about to write it */
	STATE_SWAPPED,		/* TTM has swapped it out */
};

/**
 * struct sweep - a call that is repeated with each possible fault
 * @fd: device
 * @place: placement of the BO
 * @state: state of the BO before the call
 * @user: kind of user memory
 * @fault: kind of operation that fails
 * @write: PWRITE if true, else PREAD
 * @offset: first byte of the range in the BO
 * @size: bytes of the range
 */
struct sweep {
	int fd;
	struct igt_radeon_placement place;
	enum state state;
	enum user user;
	enum igt_radeon_fault fault;
	bool write;
	uint64_t offset;
	uint64_t size;
};

static struct igt_radeon_baseline before;

/**
 * SUBTEST: kmemleak
 * Description: No memory that was allocated since the kernel booted, for
 *              instance by the other subtests, is leaked. A scan takes long, so
 *              there is none after each subtest.
 */
static void test_kmemleak(void)
{
	char text[4096];
	ssize_t n;
	int leaks, i;

	leaks = open(KMEMLEAK, O_RDONLY | O_CLOEXEC);
	igt_require_f(leaks >= 0, "this kernel has no kmemleak\n");
	/* kmemleak ignores objects that are younger than five seconds. */
	sleep(6);
	/* The second scan reports objects unchanged since the first. */
	for (i = 0; i < 2; i++)
		igt_require_f(igt_radeon_put(KMEMLEAK, "scan"), "kmemleak is off\n");
	n = read(leaks, text, sizeof(text) - 1);
	close(leaks);
	igt_assert(n >= 0);
	text[n] = 0;
	igt_assert_f(n == 0, "%s\n", text);
}

/*
 * BOs and memory of one round of a sweep. @old holds the bytes of the BO,
 * @fresh those of user memory, before the call.
 */
struct round {
	struct igt_radeon_bo bo, source, user_bo;
	uint8_t *old, *fresh;
	uint8_t *user;
	size_t user_size;
	uint64_t bo_size;
};

static void round_init(struct round *r, const struct sweep *s)
{
	*r = (struct round) {
		.bo_size = (s->offset + s->size + 2 * PAGE - 1) & -PAGE,
		.user_size = (s->size + 2 * GUARD + PAGE - 1) & -PAGE,
	};
	r->old = calloc(1, r->bo_size);
	r->fresh = malloc(r->user_size);
	igt_assert(r->old && r->fresh);
	igt_radeon_pattern(r->fresh, r->user_size, igt_radeon_random());

	igt_radeon_bo_init(&r->bo, s->fd, r->bo_size, s->place.domain,
			   s->place.flags);
	if (s->state == STATE_FRESH) {
		/* Empties TTM's pools: pages from there need no allocation. */
		igt_radeon_put("/proc/sys/vm/drop_caches", "2");
	} else {
		igt_radeon_pattern(r->old, r->bo_size, igt_radeon_random());
		igt_radeon_bo_fill(&r->bo, r->old);
	}

	if (s->user == USER_BO) {
		igt_radeon_bo_init(&r->user_bo, s->fd, r->user_size,
				   RADEON_GEM_DOMAIN_GTT, 0);
		igt_radeon_bo_fill(&r->user_bo, r->fresh);
		r->user = igt_radeon_bo_map(&r->user_bo);
	} else {
		r->user = igt_radeon_memory(r->user_size);
	}
	if (s->user == USER_TOUCHED || (s->write && s->user != USER_BO))
		memcpy(r->user, r->fresh, r->user_size);
	if (s->user == USER_UNTOUCHED) {
		if (s->write)
			/* The call has to fault the pages in. */
			madvise(r->user, r->user_size, MADV_PAGEOUT);
		else
			memset(r->fresh, 0, r->user_size);
	}

	if (s->state == STATE_SWAPPED)
		igt_radeon_require_swapped(&r->bo);

	if (s->state == STATE_BUSY) {
		/* The queued GPU write makes @old the bytes of the BO. */
		igt_radeon_bo_init(&r->source, s->fd, r->bo_size,
				   RADEON_GEM_DOMAIN_GTT, 0);
		igt_radeon_pattern(r->old, r->bo_size, igt_radeon_random());
		igt_radeon_bo_fill(&r->source, r->old);
		igt_radeon_set_latency(s->fd, 30000);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &r->bo, 0, &r->source, 0,
				r->bo_size);
	}
}

static void round_fini(struct round *r)
{
	munmap(r->user, r->user_size);
	if (r->user_bo.handle)
		igt_radeon_bo_fini(&r->user_bo);
	if (r->source.handle)
		igt_radeon_bo_fini(&r->source);
	igt_radeon_bo_fini(&r->bo);
	free(r->fresh);
	free(r->old);
}

static int call(const struct sweep *s, struct round *r)
{
	if (s->write)
		return igt_radeon_pwrite(s->fd, r->bo.handle, s->offset,
					 s->size, r->user + GUARD, 0);
	return igt_radeon_pread(s->fd, r->bo.handle, s->offset, s->size,
				r->user + GUARD, 0);
}

static uint8_t *bo_bytes(const struct sweep *s, struct round *r)
{
	struct igt_radeon_bo stage;
	uint8_t *bytes = malloc(r->bo_size), *map;

	igt_assert(bytes);
	igt_radeon_bo_init(&stage, s->fd, r->bo_size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_copy(IGT_RADEON_CP_DMA, &stage, 0, &r->bo, 0, r->bo_size);
	igt_radeon_bo_wait(&stage);
	map = igt_radeon_bo_map(&stage);
	memcpy(bytes, map, r->bo_size);
	munmap(map, r->bo_size);
	igt_radeon_bo_fini(&stage);
	return bytes;
}

/* Bytes of the range are old or new, and new if @done; the others are old. */
static void check_write(const struct sweep *s, struct round *r, bool done)
{
	uint8_t *bytes = bo_bytes(s, r), new;
	uint64_t i;

	/* Byte by byte takes long. */
	if (done)
		memcpy(r->old + s->offset, r->fresh + GUARD, s->size);
	for (i = done && !memcmp(bytes, r->old, r->bo_size) ? r->bo_size : 0;
	     i < r->bo_size; i++) {
		if (i < s->offset || i >= s->offset + s->size) {
			igt_assert_f(bytes[i] == r->old[i],
				     "byte %#llx beside the range changed\n",
				     (unsigned long long)i);
			continue;
		}
		new = r->fresh[GUARD + i - s->offset];
		igt_assert_f(bytes[i] == new || (!done && bytes[i] == r->old[i]),
			     "byte %#llx is %#04x, not %#04x (old %#04x)\n",
			     (unsigned long long)i, bytes[i], new, r->old[i]);
	}
	igt_assert(!memcmp(r->user, r->fresh, r->user_size));
	free(bytes);
}

static void check_read(const struct sweep *s, struct round *r, bool done)
{
	const uint8_t *got = r->user;
	uint8_t *bytes, want;
	uint64_t i = 0;

	if (done && !memcmp(got, r->fresh, GUARD) &&
	    !memcmp(got + GUARD, r->old + s->offset, s->size) &&
	    !memcmp(got + GUARD + s->size, r->fresh + GUARD + s->size,
		    r->user_size - GUARD - s->size))
		i = r->user_size;
	for (; i < r->user_size; i++) {
		if (i < GUARD || i >= GUARD + s->size) {
			igt_assert_f(got[i] == r->fresh[i],
				     "user byte %lld beside the range changed\n",
				     (long long)(i - GUARD));
			continue;
		}
		want = r->old[s->offset + i - GUARD];
		igt_assert_f(got[i] == want || (!done && got[i] == r->fresh[i]),
			     "byte %#llx is %#04x, not %#04x (before %#04x)\n",
			     (unsigned long long)(i - GUARD), got[i], want,
			     r->fresh[i]);
	}
	bytes = bo_bytes(s, r);
	igt_assert_f(!memcmp(bytes, r->old, r->bo_size), "a read changed the BO\n");
	free(bytes);
}

static void check(const struct sweep *s, struct round *r, bool done)
{
	if (s->write)
		check_write(s, r, done);
	else
		check_read(s, r, done);
}

static bool good_error(const struct sweep *s, int ret)
{
	switch (ret) {
	case 0:
		return true;
	case -ENOMEM:
		return s->fault == IGT_RADEON_FAULT_ALLOC;
	case -EFAULT:
		/* An access whose page fault finds no memory fails as well. */
		return s->fault == IGT_RADEON_FAULT_USERCOPY || s->user != USER_TOUCHED;
	default:
		return false;
	}
}

static void sweep(const struct sweep *s)
{
	unsigned int nth, errors = 0;
	bool happened = true;
	struct round r;
	int ret;

	igt_radeon_choose_faults(s->fault);
	for (nth = 1; happened; nth++) {
		igt_assert_f(nth <= IGT_RADEON_MAX_FAULTS, "there is no end of faults\n");
		round_init(&r, s);
		igt_radeon_arm(nth);
		ret = call(s, &r);
		happened = igt_radeon_disarm();
		igt_radeon_set_latency(s->fd, 0);

		igt_assert_f(happened || ret == 0,
			     "%s, %llu bytes, no fault: %d\n", s->place.name,
			     (unsigned long long)s->size, ret);
		igt_assert_f(good_error(s, ret),
			     "%s, %s of %llu bytes, fault %u: %d\n",
			     s->place.name, s->write ? "PWRITE" : "PREAD",
			     (unsigned long long)s->size, nth, ret);
		check(s, &r, ret == 0);
		if (ret) {
			errors++;
			igt_assert_eq(call(s, &r), 0);
			check(s, &r, true);
		}
		round_fini(&r);
	}
	igt_info("%s, %s of %llu bytes: %u faults, %u errors\n", s->place.name,
		 s->write ? "PWRITE" : "PREAD", (unsigned long long)s->size,
		 nth - 2, errors);
}

static void sweep_both(struct sweep s)
{
	for (s.fault = IGT_RADEON_FAULT_ALLOC; s.fault <= IGT_RADEON_FAULT_USERCOPY; s.fault++) {
		s.write = true;
		sweep(&s);
		s.write = false;
		sweep(&s);
	}
}

static const struct igt_radeon_placement invisible = {
	"CPU-inaccessible VRAM", RADEON_GEM_DOMAIN_VRAM,
	RADEON_GEM_NO_CPU_ACCESS
};

/**
 * SUBTEST: small
 * Description: Faults in transfers of a few bytes to some pages.
 *
 * SUBTEST: medium
 * Description: Faults in transfers of tens of pages.
 *
 * SUBTEST: large
 * Description: Faults in transfers of several steps.
 */
static void test_sizes(int fd, const uint64_t *sizes, unsigned int count)
{
	unsigned int i, j;

	for (i = 0; i < igt_radeon_reachable_count; i++)
		for (j = 0; j < count; j++)
			sweep_both((struct sweep) {
				.fd = fd,
				.place = igt_radeon_reachable[i],
				.offset = PAGE - 3,
				.size = sizes[j],
			});
}

/**
 * SUBTEST: fresh-bo
 * Description: Faults in the first use of a BO, which populates it.
 *
 * SUBTEST: swapped-bo
 * Description: Faults in the use of a BO that was swapped out do not lose its
 *              bytes.
 *
 * SUBTEST: busy-bo
 * Description: Faults in transfers from and to BOs that the GPU has yet to
 *              write.
 *
 * SUBTEST: invisible-vram
 * Description: Faults in transfers from and to CPU-inaccessible VRAM.
 *
 * SUBTEST: untouched-memory
 * Description: Faults while the pages of user memory are faulted in.
 *
 * SUBTEST: mapping
 * Description: Faults in transfers from and to a mapping of another BO.
 */
static void test_fresh(int fd)
{
	unsigned int i;

	for (i = 0; i < igt_radeon_reachable_count; i++) {
		/* A BO in VRAM gets its memory when it is created. */
		if (igt_radeon_reachable[i].domain == RADEON_GEM_DOMAIN_VRAM)
			continue;
		sweep_both((struct sweep) {
			.fd = fd,
			.place = igt_radeon_reachable[i],
			.state = STATE_FRESH,
			.offset = 5,
			.size = 23 * PAGE,
		});
	}
}

static void test_swapped(int fd)
{
	unsigned int i;

	for (i = 0; i < igt_radeon_reachable_count; i++) {
		/* The swap-out is proved by the GTT usage. */
		if (igt_radeon_reachable[i].domain != RADEON_GEM_DOMAIN_GTT)
			continue;
		sweep_both((struct sweep) {
			.fd = fd,
			.place = igt_radeon_reachable[i],
			.state = STATE_SWAPPED,
			.offset = 5,
			.size = 6 * PAGE,
		});
	}
}

static void test_busy(int fd)
{
	static const uint64_t sizes[] = { 100, 2 * PAGE, 30 * PAGE + 1 };
	unsigned int i, j;

	igt_radeon_require_board(fd);
	for (i = 0; i < igt_radeon_reachable_count; i++)
		for (j = 0; j < ARRAY_SIZE(sizes); j++)
			sweep_both((struct sweep) {
				.fd = fd,
				.place = igt_radeon_reachable[i],
				.state = STATE_BUSY,
				.offset = 77,
				.size = sizes[j],
			});
}

static void test_invisible(int fd)
{
	static const uint64_t sizes[] = { 64, 3 * PAGE, LARGE + 5 };
	unsigned int j;

	igt_radeon_require_invisible_vram(fd);
	for (j = 0; j < ARRAY_SIZE(sizes); j++)
		sweep_both((struct sweep) {
			.fd = fd,
			.place = invisible,
			.offset = PAGE + 1,
			.size = sizes[j],
		});
}

static void test_user(int fd, enum user user)
{
	static const uint64_t sizes[] = { 2 * PAGE + 9, 20 * PAGE };
	unsigned int i, j;

	for (i = 0; i < 2; i++)
		for (j = 0; j < ARRAY_SIZE(sizes); j++)
			sweep_both((struct sweep) {
				.fd = fd,
				.place = igt_radeon_reachable[i],
				.user = user,
				.offset = 1,
				.size = sizes[j],
			});
}

/**
 * SUBTEST: busy-rings
 * Description: Faults in a staged write in one ring that has to wait for work
 *              in another ring. The next write to the BO, with the same work
 *              still queued, is done after that work.
 */
static void test_rings(int fd)
{
	const uint64_t size = PAGE, big = 16 << 20;
	struct igt_radeon_bo bo, first, last, from, to;
	uint8_t *lasts = igt_radeon_malloc(size), *map;
	uint8_t *fresh = igt_radeon_malloc(size);
	unsigned int nth, errors = 0, i;
	bool happened = true;
	int ret;

	igt_radeon_require_board(fd);
	igt_require_f(igt_radeon_has_engine(fd, IGT_RADEON_DMA),
		      "needs the DMA engine\n");
	igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_STAGED);
	igt_radeon_choose_faults(IGT_RADEON_FAULT_ALLOC);
	igt_radeon_bo_init(&bo, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&first, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&last, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&from, fd, big, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&to, fd, big, RADEON_GEM_DOMAIN_VRAM, 0);
	igt_radeon_pattern(lasts, size, igt_radeon_random());
	igt_radeon_bo_fill(&last, lasts);

	for (nth = 1; happened; nth++) {
		igt_assert_f(nth <= IGT_RADEON_MAX_FAULTS, "there is no end of faults\n");
		igt_radeon_pattern(fresh, size, igt_radeon_random());

		/* Work in both rings, most of it in the graphics ring. */
		igt_radeon_set_latency(fd, 100000);
		for (i = 0; i < 10; i++)
			igt_radeon_copy(IGT_RADEON_CP_DMA, &to, 0, &from, 0, big);
		igt_radeon_copy(IGT_RADEON_DMA, &bo, 0, &first, 0, size);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &bo, 0, &last, 0, size);

		/* A fault in the write of one half must not harm the other. */
		igt_radeon_arm(nth);
		ret = igt_radeon_pwrite(fd, bo.handle, 0, size / 2, fresh,
					RADEON_GEM_RW_NOWAIT);
		happened = igt_radeon_disarm();
		igt_assert_f(ret == 0 || (happened && (ret == -ENOMEM ||
						       ret == -EBUSY)),
			     "fault %u: %d\n", nth, ret);
		errors += !!ret;
		igt_assert_eq(igt_radeon_pwrite(fd, bo.handle, size / 2,
						size / 2, fresh + size / 2,
						RADEON_GEM_RW_NOWAIT), 0);
		igt_radeon_set_latency(fd, 0);
		igt_radeon_bo_wait(&bo);

		map = igt_radeon_bo_map(&bo);
		igt_assert_f(!memcmp(map, ret ? lasts : fresh, size / 2),
			     "fault %u: wrong bytes after %d\n", nth, ret);
		igt_assert_f(!memcmp(map + size / 2, fresh + size / 2, size / 2),
			     "fault %u: earlier work came later\n", nth);
		munmap(map, size);
	}
	igt_info("%u faults, %u errors\n", nth - 2, errors);

	igt_radeon_bo_fini(&to);
	igt_radeon_bo_fini(&from);
	igt_radeon_bo_fini(&last);
	igt_radeon_bo_fini(&first);
	igt_radeon_bo_fini(&bo);
	free(fresh);
	free(lasts);
}

int igt_main()
{
	static const uint64_t small[] = { 7, PAGE, 3 * PAGE + 11 };
	static const uint64_t medium[] = { 17 * PAGE, 65 * PAGE + 3 };
	static const uint64_t large[] = { LARGE + 8 };
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_gem_rw(fd);
		igt_radeon_require_faults();
		/* Skips here if faults cannot be chosen. */
		igt_radeon_choose_faults(IGT_RADEON_FAULT_ALLOC);
		before = igt_radeon_baseline_take(fd);
	}

	igt_describe("Small transfers give the right error for each fault.");
	igt_subtest("small") {
		test_sizes(fd, small, ARRAY_SIZE(small));
		igt_radeon_baseline_assert(fd, &before);
	}

	igt_describe("Medium transfers give the right error for each fault.");
	igt_subtest("medium") {
		test_sizes(fd, medium, ARRAY_SIZE(medium));
		igt_radeon_baseline_assert(fd, &before);
	}

	igt_describe("Large transfers give the right error for each fault.");
	igt_subtest("large") {
		test_sizes(fd, large, ARRAY_SIZE(large));
		igt_radeon_baseline_assert(fd, &before);
	}

	igt_describe("Faults in a call that populates the BO.");
	igt_subtest("fresh-bo") {
		test_fresh(fd);
		igt_radeon_baseline_assert(fd, &before);
	}

	igt_describe("Faults in a call for a BO that was swapped out.");
	igt_subtest("swapped-bo") {
		test_swapped(fd);
		igt_radeon_baseline_assert(fd, &before);
	}

	igt_describe("Faults in calls for a BO that the GPU will write.");
	igt_subtest("busy-bo") {
		test_busy(fd);
		igt_radeon_baseline_assert(fd, &before);
	}

	igt_describe("Faults in a staged write that waits for another ring.");
	igt_subtest("busy-rings") {
		test_rings(fd);
		igt_radeon_baseline_assert(fd, &before);
	}

	igt_describe("Faults in calls for CPU-inaccessible VRAM.");
	igt_subtest("invisible-vram") {
		test_invisible(fd);
		igt_radeon_baseline_assert(fd, &before);
	}

	igt_describe("Faults while user memory is faulted in.");
	igt_subtest("untouched-memory") {
		test_user(fd, USER_UNTOUCHED);
		igt_radeon_baseline_assert(fd, &before);
	}

	igt_describe("Faults with a mapping of a BO as user memory.");
	igt_subtest("mapping") {
		test_user(fd, USER_BO);
		igt_radeon_baseline_assert(fd, &before);
	}

	igt_describe("No memory was leaked.");
	igt_subtest("kmemleak")
		test_kmemleak();

	igt_fixture() {
		igt_radeon_set_latency(fd, 0);
		close(fd);
	}
}
