// SPDX-License-Identifier: MIT
/*
 * Interruptions of long calls: a signal, SIGSTOP or the freezer takes effect
 * between two regions of a TRANSFER, and the repeated call continues from
 * there.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "igt.h"
#include "igt_radeon_trial.h"

/**
 * TEST: radeon gem rw between
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, long calls
 * Description: Checks that a process can be interrupted, stopped and frozen
 *              between the regions of a TRANSFER, and that the call then
 *              continues.
 */
IGT_TEST_DESCRIPTION("Checks interruptions of radeon TRANSFERs between regions.");

/* No more than the driver reads at once: signals also count between reads. */
#define REGIONS		100u
#define REGION		(6 * MIB)
#define END_SECONDS	100u
#define CGROUPS		"/tmp/igt-radeon-cgroups"
#define CGROUP		CGROUPS "/igt-radeon-frozen"

/*
 * Shared with the process that makes the call. All regions transfer the same
 * BO, so that the call takes long on any machine.
 */
struct job {
	uint32_t flags;
	bool started;
	bool ended;
	bool signaled;
	bool early;		/* a call returned -EINTR or -EAGAIN */
	int error;
	uint32_t first_done;
	uint32_t done;
	uint64_t bytes;		/* copied, by the driver's counters */
};

static struct job *job;

static void on_signal(int sig)
{
	(void)sig;
	job->signaled = true;
}

/* Makes the call, repeats it on -EINTR and -EAGAIN, and checks the bytes. */
static int job_main(void *data)
{
	const struct sigaction action = { .sa_handler = on_signal };
	const int fd = igt_radeon_open();
	struct drm_radeon_gem_transfer_region *regions;
	struct drm_radeon_gem_transfer arg = { 0 };
	struct igt_radeon_stats stats;
	struct igt_radeon_bo bo;
	uint8_t *model, *mem;
	unsigned int i;

	(void)data;
	model = igt_radeon_bo_init_pattern(&bo, fd, REGION,
					   &igt_radeon_reachable[1], 5);
	mem = igt_radeon_malloc(REGION);
	memcpy(mem, model, REGION);
	regions = calloc(REGIONS, sizeof(*regions));
	if (!regions)
		return 2;
	for (i = 0; i < REGIONS; i++)
		regions[i] = (struct drm_radeon_gem_transfer_region) {
			.handle = bo.handle,
			.user_ptr = (uintptr_t)mem,
			.row_bytes = REGION,
			.rows = 1,
		};
	arg.regions_ptr = (uintptr_t)regions;
	arg.region_count = REGIONS;
	arg.flags = job->flags;
	sigaction(SIGUSR1, &action, NULL);
	stats = igt_radeon_stats(fd);
	__atomic_store_n(&job->started, true, __ATOMIC_RELEASE);
	while (ioctl(fd, DRM_IOCTL_RADEON_GEM_TRANSFER, &arg)) {
		if (errno != EINTR && errno != EAGAIN) {
			job->error = errno;
			break;
		}
		if (!job->early)
			job->first_done = arg.regions_done;
		job->early = true;
	}
	job->done = arg.regions_done;
	__atomic_store_n(&job->ended, true, __ATOMIC_RELEASE);
	stats = igt_radeon_stats_since(fd, &stats);
	for (i = 0; i < IGT_RADEON_PATHS; i++)
		job->bytes += stats.bytes[i];
	return memcmp(mem, model, REGION) ? 3 : 0;
}

/*
 * A process stops or freezes before it returns to user space, so it cannot tell
 * whether its call had ended. The driver's counters can.
 */
static uint64_t copied(int fd)
{
	const struct igt_radeon_stats stats = igt_radeon_stats(fd);
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < IGT_RADEON_PATHS; i++)
		bytes += stats.bytes[i];
	return bytes;
}

static pid_t job_start(uint32_t flags)
{
	pid_t pid;

	*job = (struct job) { .flags = flags };
	pid = igt_radeon_spawn(job_main, NULL);
	while (!__atomic_load_n(&job->started, __ATOMIC_ACQUIRE))
		usleep(1000);
	usleep(20000);
	igt_assert_f(!__atomic_load_n(&job->ended, __ATOMIC_ACQUIRE),
		     "the call is too short to interrupt\n");
	return pid;
}

static void job_end(pid_t pid)
{
	const uint64_t all = (uint64_t)REGIONS * REGION;
	int status = igt_radeon_reap(pid, END_SECONDS);

	igt_assert_f(WIFEXITED(status) && !WEXITSTATUS(status),
		     "status %#x\n", status);
	igt_assert_f(!job->error, "%s\n", strerror(job->error));
	igt_assert_eq(job->done, REGIONS);
	/* A repeated call may copy part of a region again. */
	igt_assert_f(job->bytes >= all && job->bytes <= all + 8 * REGION,
		     "%llu bytes were copied, of %llu\n",
		     (unsigned long long)job->bytes, (unsigned long long)all);
}

/**
 * SUBTEST: signal-%s
 * Description: A signal with a handler arrives during a call of 100 regions,
 *              which returns -EINTR with some regions done. The repeated call
 *              transfers only the remaining regions.
 *
 * arg[1]:
 *
 * @read: from a BO
 * @write: to a BO
 */
static void test_signal(int fd, uint32_t flags)
{
	pid_t pid = job_start(flags);

	(void)fd;
	kill(pid, SIGUSR1);
	job_end(pid);
	igt_assert_f(job->signaled && job->early, "the signal ended no call\n");
	igt_assert_f(job->first_done > 0 && job->first_done < REGIONS,
		     "%u regions were done then\n", job->first_done);
}

/**
 * SUBTEST: stop-%s
 * Description: SIGSTOP stops the process in its call, while regions remain to
 *              be transferred, and SIGCONT makes it continue.
 *
 * arg[1]:
 *
 * @read: from a BO
 * @write: to a BO
 */
static void test_stop(int fd, uint32_t flags)
{
	const uint64_t before = copied(fd);
	pid_t pid = job_start(flags);
	uint64_t bytes;
	int status;

	kill(pid, SIGSTOP);
	igt_assert_eq(waitpid(pid, &status, WUNTRACED), pid);
	igt_assert_f(WIFSTOPPED(status), "it has ended: %#x\n", status);
	bytes = copied(fd) - before;
	usleep(100000);
	igt_assert_eq_u64(copied(fd) - before, bytes);
	igt_assert_f(bytes < (uint64_t)REGIONS * REGION,
		     "it was stopped behind the call\n");
	kill(pid, SIGCONT);
	job_end(pid);
}

static bool frozen(void)
{
	char text[256];

	return igt_radeon_get(CGROUP "/cgroup.events", text, sizeof(text)) > 0 &&
	       strstr(text, "frozen 1");
}

static void require_freezer(void)
{
	mkdir(CGROUPS, 0700);
	umount(CGROUPS);
	igt_require_f(!mount("none", CGROUPS, "cgroup2", 0, NULL) &&
		      (!mkdir(CGROUP, 0700) || errno == EEXIST),
		      "no control groups (version 2): %s\n", strerror(errno));
}

/**
 * SUBTEST: freeze-%s
 * Description: The process is frozen by its control group in its call, while
 *              regions remain to be transferred, and continues when it is
 *              thawed.
 *
 * arg[1]:
 *
 * @read: from a BO
 * @write: to a BO
 */
static void test_freeze(int fd, uint32_t flags)
{
	const uint64_t before = copied(fd);
	char text[16];
	unsigned int i;
	uint64_t bytes;
	pid_t pid;

	require_freezer();
	pid = job_start(flags);
	snprintf(text, sizeof(text), "%d", (int)pid);
	igt_assert(igt_radeon_put(CGROUP "/cgroup.procs", text));
	igt_assert(igt_radeon_put(CGROUP "/cgroup.freeze", "1"));
	for (i = 0; i < 2000 && !frozen(); i++)
		usleep(10000);
	bytes = copied(fd) - before;
	igt_radeon_put(CGROUP "/cgroup.freeze", "0");
	igt_assert_f(i < 2000, "it was not frozen\n");
	igt_assert_f(bytes < (uint64_t)REGIONS * REGION,
		     "it was frozen behind the call\n");
	job_end(pid);
	rmdir(CGROUP);
	umount(CGROUPS);
}

static void clean(int sig)
{
	(void)sig;
	igt_radeon_put(CGROUP "/cgroup.freeze", "0");
}

int igt_main()
{
	static const struct {
		const char *name;
		const char *describe;
		void (*run)(int fd, uint32_t flags);
	} tests[] = {
		{ "signal", "A signal ends a call between regions.", test_signal },
		{ "stop", "SIGSTOP stops a call between regions.", test_stop },
		{ "freeze", "The freezer stops a call between regions.",
		  test_freeze },
	};
	unsigned int i, write;
	char name[32];
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_open();
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_TRANSFER |
					       RADEON_GEM_RW_CAP_STAGED);
		igt_radeon_require_stats(fd);
		job = mmap(NULL, sizeof(*job), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		igt_assert(job != MAP_FAILED);
		igt_install_exit_handler(clean);
	}

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		for (write = 0; write < 2; write++) {
			snprintf(name, sizeof(name), "%s-%s", tests[i].name,
				 write ? "write" : "read");
			igt_describe(tests[i].describe);
			igt_subtest(name)
				tests[i].run(fd, write ?
					     RADEON_GEM_TRANSFER_WRITE : 0);
		}
	}

	igt_fixture()
		close(fd);
}
