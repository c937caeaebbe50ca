// SPDX-License-Identifier: MIT
/*
 * PREAD, PWRITE and TRANSFER whose user memory belongs to a userfaultfd. The
 * test decides for how long its page faults are not served.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw robust uffd
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, memory that is not there
 * Description: Checks that calls that are stuck in a page fault on their user
 *              memory do not block other calls, other processes or GPU resets.
 */
IGT_TEST_DESCRIPTION("Checks reads and writes of radeon BOs that are stuck in page faults.");

#define MANY		1000u
#define END_SECONDS	30u

/* Stuck calls, and models of their effects. */
struct crowd {
	int fd;
	int uffd;
	unsigned int count;
	struct igt_radeon_thread *threads;
	/* Two BOs for all calls, in GTT and VRAM, and their final contents. */
	struct igt_radeon_bo bo[2];
	uint8_t *model[2];
	/* User memory of all threads, and the bytes that it is served with. */
	uint8_t *mem;
	uint8_t *served;
	size_t size;
};

/* Sizes of calls; the first one is that of nearly all. */
static const size_t sizes[] = {
	300, PAGE + 5, 96 << 10, 200 << 10, (2 << 20) + 3 * PAGE,
};

static size_t call_size(unsigned int i)
{
	return sizes[i % 50 < 40 ? 0 : i % 50 < 47 ? 1 : i % 50 - 45];
}

static size_t slot_size(unsigned int i)
{
	return (call_size(i) + 2 * PAGE - 1) & -(size_t)PAGE;
}

static int open_uffd(void *mem, size_t size)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { .start = (uintptr_t)mem, .len = size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (uffd < 0)
		return -1;
	if (ioctl(uffd, UFFDIO_API, &api) ||
	    ioctl(uffd, UFFDIO_REGISTER, &range)) {
		close(uffd);
		return -1;
	}
	return uffd;
}

static void require_uffd(void)
{
	uint8_t *mem = igt_radeon_memory(PAGE);
	int uffd = open_uffd(mem, PAGE);

	igt_require_f(uffd >= 0, "no userfaultfd: %s\n", strerror(errno));
	close(uffd);
	munmap(mem, PAGE);
}

static void crowd_init(struct crowd *c, int fd, unsigned int count)
{
	unsigned int i;

	*c = (struct crowd) { .fd = fd, .count = count };
	/* Each call has a slot of its own. */
	for (i = 0; i < count; i++)
		c->size += slot_size(i);
	c->threads = calloc(count, sizeof(*c->threads));
	c->mem = igt_radeon_memory(c->size);
	c->served = igt_radeon_memory(c->size);
	igt_assert(c->threads);
	igt_radeon_pattern(c->served, c->size, 1);
	for (i = 0; i < 2; i++) {
		c->model[i] = igt_radeon_memory(c->size);
		igt_radeon_pattern(c->model[i], c->size, 2 + i);
		igt_radeon_bo_init(&c->bo[i], fd, c->size,
				   i ? RADEON_GEM_DOMAIN_VRAM :
				       RADEON_GEM_DOMAIN_GTT, 0);
		igt_radeon_bo_fill(&c->bo[i], c->model[i]);
	}
	/* A huge page of neighbouring memory may have populated some pages. */
	igt_assert_eq(madvise(c->mem, c->size, MADV_DONTNEED), 0);
	c->uffd = open_uffd(c->mem, c->size);
	igt_assert(c->uffd >= 0);
}

static void crowd_fini(struct crowd *c)
{
	unsigned int i;

	close(c->uffd);
	for (i = 0; i < 2; i++) {
		igt_radeon_bo_fini(&c->bo[i]);
		munmap(c->model[i], c->size);
	}
	munmap(c->mem, c->size);
	munmap(c->served, c->size);
	free(c->threads);
}

/* Starts all calls, each with a part of memory and of a BO of its own. */
static void crowd_start(struct crowd *c)
{
	struct pollfd waiting = { .fd = c->uffd, .events = POLLIN };
	double end = igt_radeon_now() + END_SECONDS;
	struct igt_radeon_call *call;
	unsigned int i, faults = 0;
	struct uffd_msg msg;
	size_t at = 0;

	for (i = 0; i < c->count; i++) {
		call = &c->threads[i].call;
		*call = (struct igt_radeon_call) {
			/* Independent of the size and of the BO */
			.op = i / 3 % IGT_RADEON_OPS,
			.fd = c->fd,
			.handle = c->bo[i % 2].handle,
			.offset = at + 64,
			.size = call_size(i),
			.mem = c->mem + at + 64,
		};
		if (igt_radeon_op_writes(call->op))
			memcpy(c->model[i % 2] + at + 64, c->served + at + 64,
			       call->size);
		at += slot_size(i);
		igt_radeon_thread_start(&c->threads[i]);
	}

	/* No two calls share a page: each causes a fault. */
	while (faults < c->count) {
		igt_assert_f(igt_radeon_now() < end,
			     "%u of %u calls have met a missing page\n", faults,
			     c->count);
		if (poll(&waiting, 1, 100) == 1 &&
		    read(c->uffd, &msg, sizeof(msg)) == sizeof(msg) &&
		    msg.event == UFFD_EVENT_PAGEFAULT)
			faults++;
	}
	for (i = 0; i < c->count; i++)
		igt_assert(!igt_radeon_thread_ended(&c->threads[i]));
}

/* Serves all pages, and checks results and bytes of the calls. */
static void crowd_finish(struct crowd *c)
{
	struct uffdio_copy copy;
	struct igt_radeon_call *call;
	unsigned int i;
	size_t at;
	int ret;

	for (i = 0; i < c->count; i++)
		igt_assert_f(!igt_radeon_thread_ended(&c->threads[i]),
			     "a call ended without its memory\n");
	for (at = 0; at < c->size; at += PAGE) {
		copy = (struct uffdio_copy) {
			.dst = (uintptr_t)c->mem + at,
			.src = (uintptr_t)c->served + at,
			.len = PAGE,
		};
		/* -EAGAIN: the address space is changing. */
		while (ioctl(c->uffd, UFFDIO_COPY, &copy))
			igt_assert_eq(errno, EAGAIN);
	}
	for (i = 0; i < c->count; i++) {
		ret = igt_radeon_thread_join(&c->threads[i], END_SECONDS);
		call = &c->threads[i].call;
		igt_assert_f(ret == 0, "%s of %llu bytes: %d\n",
			     igt_radeon_op_name[call->op],
			     (unsigned long long)call->size, ret);
		if (!igt_radeon_op_writes(call->op))
			memcpy(c->served + call->offset,
			       c->model[i % 2] + call->offset, call->size);
	}
	igt_assert_f(!memcmp(c->mem, c->served, c->size),
		     "wrong bytes in user memory\n");
	for (i = 0; i < 2; i++)
		igt_radeon_bo_assert(&c->bo[i], c->model[i],
				     i ? "BO in VRAM" : "BO in GTT");
}

/*
 * Makes all calls on all paths, with other BOs. Only a process that uses the GPU
 * alone can tell which path a call has taken: others hold its engines back.
 */
static void use_others(int fd, bool alone)
{
	const struct igt_radeon_way *path;
	struct igt_radeon_call call;
	struct igt_radeon_trial t;
	enum igt_radeon_op op;
	unsigned int i;

	for (i = 0; i < igt_radeon_way_count; i++) {
		path = &igt_radeon_ways[i];
		if (!igt_radeon_has_way(fd, path))
			continue;
		igt_radeon_trial_init(&t, fd, path, 0);
		for (op = 0; op < IGT_RADEON_OPS; op++) {
			igt_radeon_trial_prepare(&t);
			if (alone) {
				igt_radeon_trial_again(&t, op);
				continue;
			}
			igt_radeon_set_latency(fd, 0);
			call = igt_radeon_trial_call(&t, op);
			igt_assert_eq(igt_radeon_call(&call), 0);
			igt_radeon_trial_check(&t, op, true);
		}
		igt_radeon_trial_fini(&t);
	}
}

/* Makes calls of both directions on the BOs of the stuck calls. */
static void use_same(struct crowd *c)
{
	uint8_t bytes[16], got[16];
	unsigned int i;

	/* No stuck call uses these bytes. */
	for (i = 0; i < 2; i++) {
		igt_radeon_pattern(bytes, sizeof(bytes), 77 + i);
		igt_assert_eq(igt_radeon_pwrite(c->fd, c->bo[i].handle, PAGE,
						sizeof(bytes), bytes, 0), 0);
		memset(got, 0, sizeof(got));
		igt_assert_eq(igt_radeon_pread(c->fd, c->bo[i].handle, PAGE,
					       sizeof(got), got, 0), 0);
		igt_assert(!memcmp(bytes, got, sizeof(got)));
		memcpy(c->model[i] + PAGE, bytes, sizeof(bytes));
	}
	/* The GPU copies between the BOs. */
	igt_radeon_copy(IGT_RADEON_CP_DMA, &c->bo[0], 2 * PAGE, &c->bo[1], PAGE,
			16);
	igt_radeon_bo_wait(&c->bo[0]);
	memcpy(c->model[0] + 2 * PAGE, c->model[1] + PAGE, 16);
}

/**
 * SUBTEST: exhaustion
 * Description: A thousand calls of all kinds and sizes, on two BOs, are stuck
 *              in page faults. Other calls on the same file, on the same BOs,
 *              and by other processes succeed meanwhile. When the faults are
 *              served, all calls succeed and all bytes are right.
 */
static void test_exhaustion(int fd)
{
	struct igt_radeon_baseline before = igt_radeon_baseline_take(fd);
	struct crowd c;

	crowd_init(&c, fd, MANY);
	crowd_start(&c);
	igt_set_timeout(60, "others while calls are stuck");
	use_same(&c);
	use_others(fd, true);
	igt_fork(child, 2) {
		int own = igt_radeon_open();

		use_others(own, false);
		close(own);
	}
	igt_waitchildren();
	igt_reset_timeout();
	crowd_finish(&c);
	crowd_fini(&c);
	igt_radeon_baseline_assert(fd, &before);
}

/**
 * SUBTEST: reset
 * Description: The GPU is reset while calls are stuck in page faults. They hold
 *              none of the locks that a reset needs.
 */
static void test_reset(int fd)
{
	const struct igt_radeon_way *path = igt_radeon_way("staged");
	uint32_t resets = igt_radeon_reset_count(fd);
	struct igt_radeon_trial t;
	struct crowd c;

	igt_radeon_require_board(fd);
	igt_radeon_trial_init(&t, fd, path, 0);
	crowd_init(&c, fd, 100);
	crowd_start(&c);
	igt_set_timeout(60, "a reset while calls are stuck");
	igt_radeon_reset_gpu(fd);
	igt_radeon_trial_prepare(&t);
	igt_radeon_trial_again(&t, IGT_RADEON_PREAD);
	igt_radeon_bo_wait(&t.bo);
	igt_assert_f(igt_radeon_reset_count(fd) > resets,
		     "the GPU was not reset\n");
	use_same(&c);
	igt_radeon_trial_again(&t, IGT_RADEON_PWRITE);
	igt_reset_timeout();
	/* A reset during the ring tests of another would disable a ring. */
	usleep(1500000);
	crowd_finish(&c);
	crowd_fini(&c);
	igt_radeon_trial_fini(&t);
}

static volatile uint32_t *stuck;

static int crowd_main(void *data)
{
	struct crowd c;

	(void)data;
	crowd_init(&c, igt_radeon_open(), 200);
	crowd_start(&c);
	*stuck = 1;
	while (*stuck)
		pause();
	return 0;
}

/**
 * SUBTEST: kill
 * Description: A process with many calls that are stuck in page faults is
 *              killed. It ends, and leaks nothing.
 */
static void test_kill(int fd)
{
	struct igt_radeon_baseline before = igt_radeon_baseline_take(fd);
	double end;
	int status;
	pid_t pid;

	*stuck = 0;
	pid = igt_radeon_spawn(crowd_main, NULL);
	for (end = igt_radeon_now() + END_SECONDS; !*stuck; usleep(1000))
		igt_assert_f(igt_radeon_now() < end, "calls are not stuck\n");
	kill(pid, SIGKILL);
	status = igt_radeon_reap(pid, END_SECONDS);
	igt_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	igt_radeon_baseline_assert(fd, &before);
	use_others(fd, true);
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER |
					       RADEON_GEM_RW_CAP_STAGED);
		require_uffd();
		stuck = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		igt_assert(stuck != MAP_FAILED);
	}

	igt_describe("A thousand stuck calls do not block others.");
	igt_subtest("exhaustion")
		test_exhaustion(fd);

	igt_describe("The GPU is reset while calls are stuck.");
	igt_subtest("reset")
		test_reset(fd);

	igt_describe("A process with stuck calls can be killed.");
	igt_subtest("kill")
		test_kill(fd);

	igt_fixture()
		close(fd);
}
