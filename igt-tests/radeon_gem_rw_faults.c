// SPDX-License-Identifier: MIT
/*
 * PREAD, PWRITE and TRANSFER while memory runs out: a call is made again and
 * again, and each time the next of the allocations that it makes, or of its
 * accesses to user memory, is made to fail (/proc/thread-self/fail-nth, see
 * the kernel's Documentation/fault-injection).
 *
 * For each of them: the call succeeds or gives the right error, no byte has a
 * value that is neither the old nor the new one, the same call without a fault
 * then succeeds, and nothing stays behind: pinned pages, GTT, VRAM; what is
 * lost of other memory, kmemleak finds in the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_radeon.h"

/**
 * TEST: radeon gem rw faults
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, error paths
 * Description: Lets each allocation and each access to user memory fail in
 *              turn, in every way the driver has to reach a BO.
 */
IGT_TEST_DESCRIPTION("Checks every error path of radeon's PREAD and PWRITE.");

#define PAGE		4096u
#define GUARD		64u
#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))

/* More than any call has; a sweep that gets here does not converge. */
#define MAX_FAULTS	3000

#define DEBUGFS		"/sys/kernel/debug/"
#define KMEMLEAK	DEBUGFS "kmemleak"

/* What is made to fail */
enum fault {
	FAULT_ALLOC,
	FAULT_USERCOPY,
};

/* Where user memory comes from */
enum user {
	USER_TOUCHED,		/* pages are there */
	USER_UNTOUCHED,		/* the call has to fault them in */
	USER_BO,		/* a mapping of a BO, which cannot be pinned */
};

/* In what state the BO is when a call is made */
enum state {
	STATE_IDLE,
	STATE_FRESH,		/* never used: has no pages yet */
	STATE_BUSY,		/* the GPU is about to write it */
};

/**
 * struct sweep - one call, of which each fault is tried
 * @fd: device
 * @place: where BOs are
 * @state: what was done to BOs before
 * @user: what kind of user memory
 * @fault: what fails
 * @write: PWRITE, or PREAD
 * @offset: of the range in the BO
 * @size: bytes of the range
 */
struct sweep {
	int fd;
	struct igt_radeon_placement place;
	enum state state;
	enum user user;
	enum fault fault;
	bool write;
	uint64_t offset;
	uint64_t size;
};

static int nth_fd = -1;

static void require_put(const char *path, const char *text)
{
	igt_require_f(igt_radeon_put(path, text), "cannot set %s\n", path);
}

/* A range that no return address lies in keeps a capability out of it. */
static void enable(const char *capability, bool on)
{
	char path[96];

	snprintf(path, sizeof(path), DEBUGFS "%s/require-start", capability);
	require_put(path, on ? "0" : "1");
	snprintf(path, sizeof(path), DEBUGFS "%s/require-end", capability);
	require_put(path, on ? "0xffffffffffffffff" : "2");
	/* No report of each fault: there are thousands. */
	snprintf(path, sizeof(path), DEBUGFS "%s/verbose", capability);
	require_put(path, "0");
}

static void require_faults(void)
{
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	igt_require_f(nth_fd >= 0,
		      "this kernel has no fault injection (fail-nth)\n");
	igt_require_f(!access(DEBUGFS "failslab", F_OK) &&
		      !access(DEBUGFS "fail_page_alloc", F_OK) &&
		      !access(DEBUGFS "fail_usercopy", F_OK),
		      "needs failslab, fail_page_alloc and fail_usercopy\n");
	/* Also allocations that may sleep, and single pages. */
	require_put(DEBUGFS "failslab/ignore-gfp-wait", "N");
	require_put(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N");
	require_put(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N");
	require_put(DEBUGFS "fail_page_alloc/min-order", "0");
}

static void choose_faults(enum fault fault)
{
	enable("failslab", fault == FAULT_ALLOC);
	enable("fail_page_alloc", fault == FAULT_ALLOC);
	enable("fail_usercopy", fault == FAULT_USERCOPY);
}

static void arm(unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	/* Writing reads user memory, and so may itself be what fails. */
	while (pwrite(nth_fd, text, len, 0) != len)
		igt_assert_eq(errno, EFAULT);
}

/* Returns: whether the fault that was armed has happened before */
static bool disarm(void)
{
	char text[16] = "";
	ssize_t n = pread(nth_fd, text, sizeof(text) - 1, 0);
	bool happened;

	igt_assert(n > 0 || errno == EFAULT);
	happened = n > 0 && !atoi(text);
	arm(0);
	return happened;
}

/* Everything that must be the same after a subtest as before. */
struct stock {
	uint64_t gtt, vram, pins;
};

static struct stock before;

static uint64_t pinned_pages(void)
{
	unsigned long long acquired = 0, released = 0, value;
	char name[64];
	FILE *f;

	/* The CPUs' own counts are only added now and then. */
	igt_radeon_put("/proc/sys/vm/stat_refresh", "1");
	f = fopen("/proc/vmstat", "r");
	igt_assert(f);
	while (fscanf(f, "%63s %llu", name, &value) == 2) {
		if (!strcmp(name, "nr_foll_pin_acquired"))
			acquired = value;
		else if (!strcmp(name, "nr_foll_pin_released"))
			released = value;
	}
	fclose(f);
	return acquired - released;
}

/* Work that was queued may still hold memory for a moment. */
static struct stock take_stock(int fd, const struct stock *expected)
{
	struct stock now;
	int i;

	for (i = 0; i < 50; i++) {
		now = (struct stock) {
			.gtt = igt_radeon_info64(fd, RADEON_INFO_GTT_USAGE),
			.vram = igt_radeon_info64(fd, RADEON_INFO_VRAM_USAGE),
			.pins = pinned_pages(),
		};
		if (!expected || !memcmp(&now, expected, sizeof(now)))
			break;
		usleep(100000);
	}
	return now;
}

static void assert_no_leaks(int fd)
{
	struct stock now = take_stock(fd, &before);

	igt_assert_f(now.pins == before.pins, "%lld pages are still pinned\n",
		     (long long)(now.pins - before.pins));
	igt_assert_f(now.gtt == before.gtt, "GTT usage grew by %lld\n",
		     (long long)(now.gtt - before.gtt));
	igt_assert_f(now.vram == before.vram, "VRAM usage grew by %lld\n",
		     (long long)(now.vram - before.vram));
}

/**
 * SUBTEST: kmemleak
 * Description: Nothing that was allocated since the kernel booted, by the other
 *              subtests for instance, is lost. One scan takes long, so it is
 *              not done after each of them.
 */
static void test_kmemleak(void)
{
	char text[4096];
	ssize_t n;
	int leaks, i;

	leaks = open(KMEMLEAK, O_RDONLY | O_CLOEXEC);
	igt_require_f(leaks >= 0, "this kernel has no kmemleak\n");
	/* Objects are only looked at when they are older than five seconds. */
	sleep(6);
	/* The second scan reports what the first has found to be at rest. */
	for (i = 0; i < 2; i++)
		igt_require_f(igt_radeon_put(KMEMLEAK, "scan"), "kmemleak is off\n");
	n = read(leaks, text, sizeof(text) - 1);
	close(leaks);
	igt_assert(n >= 0);
	text[n] = 0;
	igt_assert_f(n == 0, "%s\n", text);
}

static uint8_t *xmmap(size_t size)
{
	uint8_t *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	igt_assert(mem != MAP_FAILED);
	return mem;
}

/*
 * One round of a sweep: what the call works on. @old and @fresh are the bytes
 * of the range before and, for a write, after.
 */
struct round {
	struct igt_radeon_bo bo, source, user_bo;
	uint8_t *old, *fresh;
	uint8_t *user;
	size_t user_size;
	uint64_t bo_size;
};

static uint32_t next_seed(void)
{
	static uint32_t seed = 1;

	return seed++;
}

static void round_init(struct round *r, const struct sweep *s)
{
	*r = (struct round) {
		.bo_size = (s->offset + s->size + 2 * PAGE - 1) & -PAGE,
		.user_size = (s->size + 2 * GUARD + PAGE - 1) & -PAGE,
	};
	r->old = calloc(1, r->bo_size);
	r->fresh = malloc(r->user_size);
	igt_assert(r->old && r->fresh);
	igt_radeon_pattern(r->fresh, r->user_size, next_seed());

	igt_radeon_bo_init(&r->bo, s->fd, r->bo_size, s->place.domain,
			   s->place.flags);
	if (s->state == STATE_FRESH) {
		/* TTM keeps pages of freed BOs, which would need no allocation. */
		igt_radeon_put("/proc/sys/vm/drop_caches", "2");
	} else {
		igt_radeon_pattern(r->old, r->bo_size, next_seed());
		igt_radeon_bo_fill(&r->bo, r->old);
	}

	if (s->user == USER_BO) {
		igt_radeon_bo_init(&r->user_bo, s->fd, r->user_size,
				   RADEON_GEM_DOMAIN_GTT, 0);
		igt_radeon_bo_fill(&r->user_bo, r->fresh);
		r->user = igt_radeon_bo_map(&r->user_bo);
	} else {
		r->user = xmmap(r->user_size);
	}
	if (s->user == USER_TOUCHED || (s->write && s->user != USER_BO))
		memcpy(r->user, r->fresh, r->user_size);
	if (s->user == USER_UNTOUCHED) {
		if (s->write)
			/* Not there, but not lost either: swapped, or zero. */
			madvise(r->user, r->user_size, MADV_PAGEOUT);
		else
			memset(r->fresh, 0, r->user_size);
	}

	if (s->state == STATE_BUSY) {
		/* The queued write leaves what is expected as old bytes. */
		igt_radeon_bo_init(&r->source, s->fd, r->bo_size,
				   RADEON_GEM_DOMAIN_GTT, 0);
		igt_radeon_pattern(r->old, r->bo_size, next_seed());
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

/* Every byte is an old or a new one; if @done, every one in the range new. */
static void check_write(const struct sweep *s, struct round *r, bool done)
{
	uint8_t *bytes = bo_bytes(s, r), new;
	uint64_t i;

	for (i = 0; i < r->bo_size; i++) {
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
	uint64_t i;

	for (i = 0; i < r->user_size; i++) {
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
		return s->fault == FAULT_ALLOC;
	case -EFAULT:
		/* A page fault that finds no memory fails the access. */
		return s->fault == FAULT_USERCOPY || s->user != USER_TOUCHED;
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

	choose_faults(s->fault);
	for (nth = 1; happened; nth++) {
		igt_assert_f(nth <= MAX_FAULTS, "there is no end of faults\n");
		round_init(&r, s);
		arm(nth);
		ret = call(s, &r);
		happened = disarm();
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
	for (s.fault = FAULT_ALLOC; s.fault <= FAULT_USERCOPY; s.fault++) {
		s.write = true;
		sweep(&s);
		s.write = false;
		sweep(&s);
	}
}

static const struct igt_radeon_placement invisible = {
	"VRAM beyond the aperture", RADEON_GEM_DOMAIN_VRAM,
	RADEON_GEM_NO_CPU_ACCESS
};

/**
 * SUBTEST: small
 * Description: Faults in transfers of a few bytes up to some pages.
 *
 * SUBTEST: medium
 * Description: Faults in transfers of tens of pages.
 *
 * SUBTEST: large
 * Description: Faults in transfers of more than a megabyte.
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
 * Description: Faults in the first use of a BO, which gets its pages then.
 *
 * SUBTEST: busy-bo
 * Description: Faults in transfers from and to BOs that the GPU has yet to
 *              write.
 *
 * SUBTEST: invisible-vram
 * Description: Faults in transfers from and to VRAM that the CPU cannot reach.
 *
 * SUBTEST: untouched-memory
 * Description: Faults while user memory is brought in.
 *
 * SUBTEST: unpinnable-memory
 * Description: Faults in transfers from and to a mapping of another BO.
 */
static void test_fresh(int fd)
{
	unsigned int i;

	for (i = 0; i < igt_radeon_reachable_count; i++) {
		/* A new BO in VRAM has its place at once, not its bytes. */
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

static void test_busy(int fd)
{
	static const uint64_t sizes[] = { 100, 2 * PAGE, 30 * PAGE + 1 };
	unsigned int i, j;

	igt_radeon_require_board(fd);
	for (i = 0; i < igt_radeon_reachable_count; i++)
		for (j = 0; j < ARRAY_LEN(sizes); j++)
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
	static const uint64_t sizes[] = { 64, 3 * PAGE, (2 << 20) + 5 };
	unsigned int j;

	igt_radeon_require_invisible_vram(fd);
	for (j = 0; j < ARRAY_LEN(sizes); j++)
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
		for (j = 0; j < ARRAY_LEN(sizes); j++)
			sweep_both((struct sweep) {
				.fd = fd,
				.place = igt_radeon_reachable[i],
				.user = user,
				.offset = 1,
				.size = sizes[j],
			});
}

/**
 * SUBTEST: transfer
 * Description: Faults in a TRANSFER of many regions over several BOs: what
 *              regions_done says is there, and the call can be made again.
 */
#define REGIONS		40
#define BOS		5
#define ROW		48u
#define ROWS		5u
#define PITCH		64u

static int transfer(int fd, struct drm_radeon_gem_transfer_region *regions,
		    uint32_t flags, uint32_t *done)
{
	struct drm_radeon_gem_transfer arg = {
		.regions_ptr = (uintptr_t)regions,
		.region_count = REGIONS,
		.flags = flags,
	};
	int ret = drmIoctl(fd, DRM_IOCTL_RADEON_GEM_TRANSFER, &arg) ? -errno : 0;

	*done = arg.regions_done;
	return ret;
}

/* The rows of region @i, in a BO and in packed user memory, are the same. */
static bool region_equal(const uint8_t *bo, const uint8_t *user)
{
	unsigned int row;

	for (row = 0; row < ROWS; row++)
		if (memcmp(bo + row * PITCH, user + row * ROW, ROW))
			return false;
	return true;
}

static void sweep_transfer(int fd, const struct igt_radeon_placement *place,
			   enum fault fault, uint32_t flags)
{
	const size_t slot = PITCH * ROWS, bo_size = PAGE;
	const size_t user_size = REGIONS * ROW * ROWS;
	struct drm_radeon_gem_transfer_region regions[REGIONS];
	const bool write = flags & RADEON_GEM_TRANSFER_WRITE;
	uint8_t *user = xmmap(user_size), *before = xmmap(bo_size), *map;
	struct igt_radeon_bo bo[BOS];
	unsigned int nth, i, errors = 0;
	bool happened = true;
	uint32_t done;
	int ret;

	choose_faults(fault);
	for (i = 0; i < BOS; i++)
		igt_radeon_bo_init(&bo[i], fd, bo_size, place->domain,
				   place->flags);
	for (i = 0; i < REGIONS; i++)
		regions[i] = (struct drm_radeon_gem_transfer_region) {
			.handle = bo[i % BOS].handle,
			.bo_offset = i / BOS * slot,
			.user_ptr = (uintptr_t)user + i * ROW * ROWS,
			.bo_pitch = PITCH,
			.user_pitch = ROW,
			.row_bytes = ROW,
			.rows = ROWS,
		};

	for (nth = 1; happened; nth++) {
		igt_assert_f(nth <= MAX_FAULTS, "there is no end of faults\n");
		igt_radeon_pattern(before, bo_size, next_seed());
		igt_radeon_pattern(user, user_size, next_seed());
		for (i = 0; i < BOS; i++)
			igt_radeon_bo_fill(&bo[i], before);

		arm(nth);
		ret = transfer(fd, regions, flags, &done);
		happened = disarm();

		igt_assert(happened || ret == 0);
		igt_assert_f(ret == 0 ||
			     ret == (fault == FAULT_ALLOC ? -ENOMEM : -EFAULT),
			     "%s, fault %u: %d\n", place->name, nth, ret);
		errors += !!ret;
		for (;;) {
			igt_assert(done <= REGIONS && (ret || done == REGIONS));
			for (i = 0; i < REGIONS; i++) {
				igt_radeon_bo_wait(&bo[i % BOS]);
				map = igt_radeon_bo_map(&bo[i % BOS]);
				igt_assert_f(i >= done ||
					     region_equal(map + i / BOS * slot,
							  user + i * ROW * ROWS),
					     "region %u of %u done is not\n", i,
					     done);
				/* Between rows, nothing is ever written. */
				igt_assert(!write ||
					   !memcmp(map + i / BOS * slot + ROW,
						   before + i / BOS * slot + ROW,
						   PITCH - ROW));
				munmap(map, bo_size);
			}
			if (!ret)
				break;
			ret = transfer(fd, regions, flags, &done);
			igt_assert_eq(ret, 0);
		}
	}
	igt_info("%s, TRANSFER %s: %u faults, %u errors\n", place->name,
		 write ? "to it" : "from it", nth - 2, errors);

	for (i = 0; i < BOS; i++)
		igt_radeon_bo_fini(&bo[i]);
	munmap(before, bo_size);
	munmap(user, user_size);
}

static void test_transfer(int fd)
{
	const struct igt_radeon_placement *place;
	enum fault fault;
	unsigned int i;

	igt_require_f(igt_radeon_info64(fd, RADEON_INFO_GEM_RW) &
		      RADEON_GEM_RW_CAP_TRANSFER,
		      "this kernel has no radeon TRANSFER\n");
	for (i = 0; i < igt_radeon_reachable_count; i++) {
		place = &igt_radeon_reachable[i];
		for (fault = FAULT_ALLOC; fault <= FAULT_USERCOPY; fault++) {
			sweep_transfer(fd, place, fault,
				       RADEON_GEM_TRANSFER_WRITE);
			sweep_transfer(fd, place, fault, 0);
		}
	}
}

/**
 * SUBTEST: busy-rings
 * Description: A write that is staged in one ring and has to wait for another
 *              one, fails at each of its allocations. The next write to the BO,
 *              while the same work is still queued, comes after that work.
 */
static void test_rings(int fd)
{
	const uint64_t size = PAGE, big = 16 << 20;
	struct igt_radeon_bo bo, first, last, from, to;
	uint8_t *lasts = malloc(size), *fresh = malloc(size), *map;
	unsigned int nth, errors = 0, i;
	bool happened = true;
	int ret;

	igt_radeon_require_board(fd);
	igt_require_f(igt_radeon_has_engine(fd, IGT_RADEON_DMA),
		      "needs the DMA engine\n");
	igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_STAGED);
	igt_assert(lasts && fresh);
	choose_faults(FAULT_ALLOC);
	igt_radeon_bo_init(&bo, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&first, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&last, fd, size, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&from, fd, big, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&to, fd, big, RADEON_GEM_DOMAIN_VRAM, 0);
	igt_radeon_pattern(lasts, size, next_seed());
	igt_radeon_bo_fill(&last, lasts);

	for (nth = 1; happened; nth++) {
		igt_assert_f(nth <= MAX_FAULTS, "there is no end of faults\n");
		igt_radeon_pattern(fresh, size, next_seed());

		/* Work in both rings; the graphics ring is at it for long. */
		igt_radeon_set_latency(fd, 100000);
		for (i = 0; i < 10; i++)
			igt_radeon_copy(IGT_RADEON_CP_DMA, &to, 0, &from, 0, big);
		igt_radeon_copy(IGT_RADEON_DMA, &bo, 0, &first, 0, size);
		igt_radeon_copy(IGT_RADEON_CP_DMA, &bo, 0, &last, 0, size);

		/* One half with a fault, which must not harm the other. */
		arm(nth);
		ret = igt_radeon_pwrite(fd, bo.handle, 0, size / 2, fresh,
					RADEON_GEM_RW_NOWAIT);
		happened = disarm();
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
	static const uint64_t large[] = { (2 << 20) + 8 };
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_gem_rw(fd);
		require_faults();
		/* What the driver keeps once it has it is not a leak. */
		choose_faults(FAULT_ALLOC);
		before = take_stock(fd, NULL);
	}

	igt_describe("Small transfers: any fault gives the right error.");
	igt_subtest("small") {
		test_sizes(fd, small, ARRAY_LEN(small));
		assert_no_leaks(fd);
	}

	igt_describe("Transfers of tens of pages: the same.");
	igt_subtest("medium") {
		test_sizes(fd, medium, ARRAY_LEN(medium));
		assert_no_leaks(fd);
	}

	igt_describe("Transfers of more than a megabyte: the same.");
	igt_subtest("large") {
		test_sizes(fd, large, ARRAY_LEN(large));
		assert_no_leaks(fd);
	}

	igt_describe("A BO gets its pages in the call.");
	igt_subtest("fresh-bo") {
		test_fresh(fd);
		assert_no_leaks(fd);
	}

	igt_describe("The GPU still has to write the BO.");
	igt_subtest("busy-bo") {
		test_busy(fd);
		assert_no_leaks(fd);
	}

	igt_describe("A copy waits for another ring.");
	igt_subtest("busy-rings") {
		test_rings(fd);
		assert_no_leaks(fd);
	}

	igt_describe("The CPU does not reach the BO.");
	igt_subtest("invisible-vram") {
		test_invisible(fd);
		assert_no_leaks(fd);
	}

	igt_describe("User memory has to be brought in.");
	igt_subtest("untouched-memory") {
		test_user(fd, USER_UNTOUCHED);
		assert_no_leaks(fd);
	}

	igt_describe("User memory cannot be pinned.");
	igt_subtest("unpinnable-memory") {
		test_user(fd, USER_BO);
		assert_no_leaks(fd);
	}

	igt_describe("Many regions in one call.");
	igt_subtest("transfer") {
		test_transfer(fd);
		assert_no_leaks(fd);
	}

	igt_describe("Nothing was lost on the way.");
	igt_subtest("kmemleak")
		test_kmemleak();

	igt_fixture() {
		igt_radeon_set_latency(fd, 0);
		close(fd);
	}
}
