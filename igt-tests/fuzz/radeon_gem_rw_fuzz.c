// SPDX-License-Identifier: MIT
/*
 * Random calls of PREAD, PWRITE and TRANSFER, valid and invalid, by several
 * processes, mixed with copies by the GPU, CPU mappings, evictions, GPU resets,
 * signals, and processes that are killed. All bytes are checked against a
 * model. See igt_fuzz.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include "igt.h"
#include "igt_fuzz.h"
#include "igt_radeon_rw.h"
#include "igt_radeon_stats.h"

/**
 * TEST: radeon gem rw fuzz
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: reading and writing buffer objects, under stress
 * Description: Random calls by several processes, checked against a model,
 *              while the GPU is reset, signals arrive and processes are killed.
 */
IGT_TEST_DESCRIPTION("Fuzzes radeon's PREAD, PWRITE and TRANSFER.");

#define DEFAULT_SEED	1u
#define DEFAULT_SECONDS	25u

/*
 * A run of at least this many seconds, times radeon.lockup_timeout, and operations
 * has to do everything at least once. With fewer operations the machine was too
 * busy, and with fewer lockups no call may have met one.
 */
#define FULL_SECONDS	20u
#define FULL_LOCKUPS	10u
#define FULL_OPS	1000u

/* A worker that needs longer than this for one operation hangs. */
#define STUCK_US	90000000ull

/* A reset during the ring tests of another would disable a ring. */
#define RESET_PAUSE_US	1500000ull

/* Intervals of signals, in microseconds. They also shorten long waits. */
#define TICK_US		300000
#define FAST_TICK_US	4000

/* Ways to reset the GPU */
#define RESET_ASKED	(1u << 0)	/* by debugfs */
#define RESET_HANG_GFX	(1u << 1)
#define RESET_HANG_DMA	(1u << 2)

/* Seeds that have found a fault at some time. */
static const uint64_t found[] = {
	1,	/* copies run again by a reset */
	5,	/* user memory mapped for DMA twice */
};

static struct {
	uint64_t seed;
	unsigned int seconds;
	unsigned int process;
	unsigned int resets;
	uint64_t operations;
} options = {
	.seed = DEFAULT_SEED,
	.seconds = DEFAULT_SECONDS,
	.resets = RESET_ASKED | RESET_HANG_GFX | RESET_HANG_DMA,
};

static const char * const op_names[FUZZ_OPS] = {
	[FUZZ_PWRITE] = "pwrite",
	[FUZZ_PREAD] = "pread",
	[FUZZ_TRANSFER_WRITE] = "transfer-write",
	[FUZZ_TRANSFER_READ] = "transfer-read",
	[FUZZ_BAD_RW] = "bad-rw",
	[FUZZ_BAD_TRANSFER] = "bad-transfer",
	[FUZZ_COPY] = "copy",
	[FUZZ_MAP] = "map",
	[FUZZ_CREATE] = "create",
	[FUZZ_CLOSE] = "close",
	[FUZZ_PRESSURE] = "pressure",
	[FUZZ_PEEK] = "peek",
	[FUZZ_CHECK] = "check",
	[FUZZ_SIGNALS] = "signals",
};

/* Relative frequencies */
static const unsigned int op_weights[FUZZ_OPS] = {
	[FUZZ_PWRITE] = 200,
	[FUZZ_PREAD] = 200,
	[FUZZ_TRANSFER_WRITE] = 100,
	[FUZZ_TRANSFER_READ] = 100,
	[FUZZ_BAD_RW] = 100,
	[FUZZ_BAD_TRANSFER] = 60,
	[FUZZ_COPY] = 250,
	[FUZZ_MAP] = 50,
	[FUZZ_CREATE] = 40,
	[FUZZ_CLOSE] = 30,
	[FUZZ_PRESSURE] = 6,
	[FUZZ_PEEK] = 10,
	[FUZZ_CHECK] = 30,
	[FUZZ_SIGNALS] = 20,
};

static const char * const result_names[FUZZ_RESULTS] = {
	[FUZZ_OK] = "ok",
	[FUZZ_EINVAL] = "EINVAL",
	[FUZZ_EFAULT] = "EFAULT",
	[FUZZ_ENOENT] = "ENOENT",
	[FUZZ_EPERM] = "EPERM",
	[FUZZ_EOPNOTSUPP] = "EOPNOTSUPP",
	[FUZZ_EBUSY] = "EBUSY",
	[FUZZ_EAGAIN] = "EAGAIN",
	[FUZZ_EINTR] = "EINTR",
};

static void tick(int sig)
{
	(void)sig;
}

/* Sends signals at this interval, or none if 0; @restart sets SA_RESTART. */
static void set_ticks(unsigned int us, bool restart)
{
	const struct itimerval timer = {
		.it_interval.tv_usec = us,
		.it_value.tv_usec = us,
	};
	struct sigaction action = {
		.sa_handler = tick,
		.sa_flags = restart ? SA_RESTART : 0,
	};

	igt_assert_eq(sigaction(SIGALRM, &action, NULL), 0);
	igt_assert_eq(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

static void do_op(struct fuzz *f, enum fuzz_op op)
{
	struct fuzz_bo *b;
	bool fast;

	switch (op) {
	case FUZZ_PWRITE:
	case FUZZ_PREAD:
		fuzz_op_rw(f, op == FUZZ_PWRITE);
		break;
	case FUZZ_TRANSFER_WRITE:
	case FUZZ_TRANSFER_READ:
		fuzz_op_transfer(f, op == FUZZ_TRANSFER_WRITE);
		break;
	case FUZZ_BAD_RW:
		fuzz_op_bad_rw(f);
		break;
	case FUZZ_BAD_TRANSFER:
		fuzz_op_bad_transfer(f);
		break;
	case FUZZ_COPY:
		fuzz_op_copy(f);
		break;
	case FUZZ_MAP:
		fuzz_op_map(f);
		break;
	case FUZZ_CREATE:
		fuzz_bo_create(f);
		break;
	case FUZZ_CLOSE:
		b = fuzz_bo_pick(f, NULL);
		fuzz_say(f, "close %s BO %u", fuzz_bo_name(b), b->bo.handle);
		if (!b->shared)
			fuzz_bo_close(f, b);
		break;
	case FUZZ_PRESSURE:
		fuzz_op_pressure(f);
		break;
	case FUZZ_PEEK:
		fuzz_op_peek(f);
		break;
	case FUZZ_CHECK:
		b = fuzz_bo_pick(f, NULL);
		fuzz_bo_check(f, b, fuzz_one_in(f, 2));
		break;
	default:
		fast = fuzz_one_in(f, 3);
		set_ticks(fast ? 500 + fuzz_below(f, FAST_TICK_US) : TICK_US,
			  fuzz_one_in(f, 2));
		break;
	}
}

/* Whether an operation can make the driver move BOs, see fuzz_lock() */
static bool can_move(enum fuzz_op op)
{
	return op == FUZZ_COPY || op == FUZZ_MAP || op == FUZZ_CREATE ||
		op == FUZZ_PRESSURE || op == FUZZ_CHECK;
}

static void begin_moves(struct fuzz *f)
{
	while (f->run->reset_due)
		usleep(1000);
	fuzz_lock(f->lock, LOCK_SH);
}

static enum fuzz_op pick_op(struct fuzz *f)
{
	unsigned int total = 0, at;
	enum fuzz_op op;

	for (op = 0; op < FUZZ_OPS; op++)
		total += op_weights[op];
	at = fuzz_below(f, total);
	for (op = 0; at >= op_weights[op]; op++)
		at -= op_weights[op];
	return op;
}

/* Makes BOs of the kinds that the calls refuse. */
static void open_others(struct fuzz *f)
{
	const size_t size = 65536;
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	igt_assert(mem != MAP_FAILED);
	memset(mem, 0, size);
	igt_assert_eq(igt_radeon_userptr(f->fd, mem, size, &f->userptr), 0);
	if (igt_radeon_import_foreign(f->fd, size, &f->imported))
		f->imported = 0;
}

static void seed_op(struct fuzz *f, uint64_t operation)
{
	f->random = fuzz_hash(fuzz_hash(fuzz_hash(f->run->seed, f->id),
					f->generation), operation);
}

/* Main function of a worker. Fails at the first wrong result or byte. */
static void work(struct fuzz_run *run, unsigned int id, unsigned int generation)
{
	static struct fuzz f;
	unsigned int i;
	enum fuzz_op op;

	f = (struct fuzz) {
		.run = run,
		.stats = &run->stats[id],
		.id = id,
		.generation = generation,
	};
	/* Only primary nodes have global names. */
	if (!(id & 1))
		f.fd = igt_radeon_try_open_primary();
	if (f.fd <= 0)
		f.fd = igt_radeon_open();
	f.stats->operation = 0;
	seed_op(&f, 0);
	fuzz_say(&f, "start");
	set_ticks(TICK_US, true);
	f.lock = fuzz_lock_open(run);
	begin_moves(&f);
	open_others(&f);
	fuzz_bo_open_shared(&f);
	for (i = 0; i < 8; i++)
		fuzz_bo_create(&f);
	fuzz_lock(f.lock, LOCK_UN);

	while (fuzz_now_us() < run->end_us &&
	       (!run->operations || f.stats->operation < run->operations)) {
		seed_op(&f, ++f.stats->operation);
		op = pick_op(&f);
		if (can_move(op))
			begin_moves(&f);
		do_op(&f, op);
		fuzz_lock(f.lock, LOCK_UN);
		f.stats->ops[op]++;
	}

	/* Frequent signals would make the final check too slow. */
	set_ticks(TICK_US, true);
	begin_moves(&f);
	for (i = 0; i < FUZZ_BOS; i++) {
		if (!f.bos[i].size)
			continue;
		fuzz_bo_check(&f, &f.bos[i], false);
		fuzz_bo_check(&f, &f.bos[i], true);
	}
	fuzz_say(&f, "end");
	if (igt_radeon_count_maps("/dev/dri/"))
		fuzz_fail(&f, "mappings of BOs are left");
	set_ticks(0, true);
}

static bool stuck(struct fuzz_run *run, unsigned int id, uint64_t *operation,
		  uint64_t *since)
{
	struct fuzz_stats *stats = &run->stats[id];

	if (stats->operation != *operation) {
		*operation = stats->operation;
		*since = fuzz_now_us();
	}
	if (fuzz_now_us() - *since < STUCK_US || fuzz_now_us() > run->end_us)
		return false;
	fprintf(stderr, "seed %llu, process %u, operation %llu hangs: %s\n",
		(unsigned long long)run->seed, id,
		(unsigned long long)stats->operation, stats->what);
	return true;
}

/* Starts a worker, kills it now and then, and starts it again. */
static void guard(struct fuzz_run *run, unsigned int id)
{
	unsigned int generation = 0, life;
	uint64_t born, operation, since = 0;
	bool mortal;
	int status;
	pid_t pid;

	do {
		life = fuzz_hash(fuzz_hash(run->seed, id), generation) % 8000;
		/* The seed decides who is killed, time at which operation. */
		mortal = !run->only &&
			(life & 1 || (!generation && id == FUZZ_WORKERS));
		born = fuzz_now_us();
		operation = UINT64_MAX;
		pid = fork();
		igt_assert(pid >= 0);
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			work(run, id, generation);
			exit(0);
		}
		while (!waitpid(pid, &status, WNOHANG)) {
			usleep(20000);
			if (stuck(run, id, &operation, &since)) {
				kill(pid, SIGKILL);
				igt_assert_f(false, "a worker hangs\n");
			}
			if (mortal && fuzz_now_us() - born > life * 1000ull &&
			    fuzz_now_us() + 1000000 < run->end_us) {
				kill(pid, SIGKILL);
				mortal = false;
			}
		}
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
			run->kills++;
			generation++;
			continue;
		}
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			igt_assert_f(false, "seed %llu, process %u, generation %u: wait status %#x at operation %llu: %s\n",
				     (unsigned long long)run->seed, id,
				     generation, status,
				     (unsigned long long)run->stats[id].operation,
				     run->stats[id].what);
		return;
	} while (fuzz_now_us() < run->end_us);
}

static void use_engine(int fd, enum igt_radeon_engine engine,
		       const struct igt_radeon_bo *bos)
{
	uint8_t byte;

	/*
	 * If an engine fails its test after a reset, the driver takes no
	 * command streams until a second reset. That needs a call that waits,
	 * as a read of CPU-inaccessible VRAM does.
	 */
	igt_assert_eq(igt_radeon_pread(fd, bos[1].handle, 0, 1, &byte, 0), 0);
	igt_radeon_copy(engine, &bos[1], 0, &bos[0], 0, 4096);
	igt_assert_eq(igt_radeon_pread(fd, bos[1].handle, 0, 1, &byte, 0), 0);
}

static void use_engines(const struct fuzz_run *run, int fd,
			const struct igt_radeon_bo *bos)
{
	use_engine(fd, IGT_RADEON_CP_DMA, bos);
	if (run->dma)
		use_engine(fd, IGT_RADEON_DMA, bos);
}

/*
 * Resets the GPU. The driver does that when a call waits for work, so this
 * function submits some and waits for it.
 */
static void reset(struct fuzz_run *run, int fd, unsigned int how,
		  struct igt_radeon_bo *bos)
{
	uint64_t before = igt_radeon_info64(fd, RADEON_INFO_GPU_RESET_COUNTER);
	uint64_t start = fuzz_now_us(), now;
	char path[96], text[32];

	if (how < IGT_RADEON_ENGINES) {
		igt_radeon_hang(fd, how);
		run->hangs++;
	} else {
		igt_assert(igt_radeon_debugfs(fd, "radeon_gpu_reset", path,
					      sizeof(path)));
		igt_assert(igt_radeon_get(path, text, sizeof(text)) > 0);
	}
	/* A second reset follows if an engine fails its tests. */
	do {
		now = igt_radeon_info64(fd, RADEON_INFO_GPU_RESET_COUNTER);
		use_engines(run, fd, bos);
		igt_assert_f(fuzz_now_us() - start < 60000000,
			     "the GPU was not reset (%u)\n", how);
	} while (now == before || now !=
		 igt_radeon_info64(fd, RADEON_INFO_GPU_RESET_COUNTER));
	run->resets++;
}

/* Main function of the process that resets the GPU and changes its latency. */
static void disturb(struct fuzz_run *run)
{
	static const uint32_t latencies[] = {
		0, 20, 100, 0, 1000, 10000,
	};
	struct igt_radeon_bo bos[2];
	uint64_t state = fuzz_hash(run->seed, 0), last = fuzz_now_us(), pause;
	int fd = igt_radeon_try_open_primary();
	uint64_t moved = 0;
	bool board = igt_radeon_has_board(fd);
	int lock = fuzz_lock_open(run);
	unsigned int how;
	char path[96];

	igt_radeon_bo_init(&bos[0], fd, 4096, RADEON_GEM_DOMAIN_GTT, 0);
	igt_radeon_bo_init(&bos[1], fd, 4096, RADEON_GEM_DOMAIN_VRAM,
			   RADEON_GEM_NO_CPU_ACCESS);
	pause = 3000000;
	while (fuzz_now_us() + 3000000 < run->end_us) {
		state = fuzz_hash(state, 1);
		igt_radeon_set_latency(fd, latencies[state % 6]);
		usleep(50000 + (state >> 8) % 300000);
		if (fuzz_now_us() - last < pause)
			continue;
		how = state >> 32 & 7;
		if (how == IGT_RADEON_DMA && !run->dma)
			continue;
		if (how < IGT_RADEON_ENGINES ? !board || !(options.resets &
							   (2u << how)) :
		    !(options.resets & RESET_ASKED) ||
		    !igt_radeon_debugfs(fd, "radeon_gpu_reset", path, sizeof(path)))
			continue;
		/* Sometimes make sure that there is work in the rings. */
		if ((state >> 40) % 3 == 0)
			igt_radeon_set_latency(fd, 20000);
		run->reset_due = true;
		fuzz_lock(lock, LOCK_EX);
		run->reset_due = false;
		/* A reset loses moves of BOs: wait for them. */
		if (igt_radeon_info64(fd, RADEON_INFO_NUM_BYTES_MOVED) !=
		    moved)
			use_engines(run, fd, bos);
		reset(run, fd, how, bos);
		moved = igt_radeon_info64(fd, RADEON_INFO_NUM_BYTES_MOVED);
		igt_radeon_set_latency(fd, 0);
		fuzz_lock(lock, LOCK_UN);
		usleep(RESET_PAUSE_US);
		last = fuzz_now_us();
		pause = (state >> 16) % 3000000;
	}
	igt_radeon_set_latency(fd, 0);
	igt_radeon_bo_fini(&bos[1]);
	igt_radeon_bo_fini(&bos[0]);
	close(fd);
}

static void share(struct fuzz_run *run, int fd)
{
	static const uint32_t domains[FUZZ_SHARED][2] = {
		{ RADEON_GEM_DOMAIN_VRAM, RADEON_GEM_CPU_ACCESS },
		{ RADEON_GEM_DOMAIN_GTT, 0 },
		{ RADEON_GEM_DOMAIN_GTT, RADEON_GEM_GTT_WC },
	};
	struct drm_gem_flink flink = { 0 };
	unsigned int i;
	void *map;

	for (i = 0; i < FUZZ_SHARED; i++) {
		igt_radeon_bo_init(&run->shared[i], fd, 65536 << i,
				   domains[i][0], domains[i][1]);
		map = igt_radeon_bo_map(&run->shared[i]);
		memset(map, 0, run->shared[i].size);
		munmap(map, run->shared[i].size);
		flink.handle = run->shared[i].handle;
		igt_assert_eq(igt_ioctl(fd, DRM_IOCTL_GEM_FLINK, &flink), 0);
		run->flink[i] = flink.name;
		igt_assert_eq(drmPrimeHandleToFD(fd, run->shared[i].handle,
						 DRM_CLOEXEC | DRM_RDWR,
						 &run->prime[i]), 0);
	}
}

static void print_count(const char *name, uint64_t n, const char **missing)
{
	printf(" %s %llu", name, (unsigned long long)n);
	if (!n)
		*missing = name;
}

/*
 * Prints what was done. Returns the name of something that was not done, or
 * NULL. @ops gets the number of operations.
 */
static const char *report(struct fuzz_run *run, uint64_t us,
			  const uint64_t *paths, uint64_t *ops)
{
	struct fuzz_stats sum = { 0 };
	const char *missing = NULL;
	unsigned int i, j;

	for (i = 1; i <= FUZZ_WORKERS; i++) {
		for (j = 0; j < FUZZ_OPS; j++)
			sum.ops[j] += run->stats[i].ops[j];
		for (j = 0; j < FUZZ_RESULTS; j++)
			sum.results[j] += run->stats[i].results[j];
		sum.bytes += run->stats[i].bytes;
		sum.adopted += run->stats[i].adopted;
		sum.faults += run->stats[i].faults;
	}
	printf("seed %llu, %llu s: %llu MB, %u resets (%u by a hang), %u processes killed, by resets %llu bytes lost, %llu faults\n",
	       (unsigned long long)run->seed, (unsigned long long)us / 1000000,
	       (unsigned long long)sum.bytes / 1000000, run->resets,
	       run->hangs, run->kills, (unsigned long long)sum.adopted,
	       (unsigned long long)sum.faults);
	printf("  operations:");
	for (j = 0, *ops = 0; j < FUZZ_OPS; j++) {
		print_count(op_names[j], sum.ops[j], &missing);
		*ops += sum.ops[j];
	}
	printf("\n  results:");
	for (j = 0; j < FUZZ_RESULTS; j++) {
		/* Imported BOs need udmabuf. */
		if (sum.results[j] || j != FUZZ_EOPNOTSUPP ||
		    !access("/dev/udmabuf", F_OK))
			print_count(result_names[j], sum.results[j], &missing);
	}
	printf("\n  paths:");
	for (j = 0; j < IGT_RADEON_PATHS; j++)
		print_count(igt_radeon_path_name[j], paths[j], &missing);
	printf("\n");
	fflush(stdout);
	if (!run->resets)
		missing = "reset";
	if (!run->kills)
		missing = "kill";
	return missing;
}

/*
 * Asserts that no more GTT and VRAM is in use; freeing can take a moment. Page tables
 * of open files can have been evicted from VRAM to GTT.
 */
static void check_leaks(int fd, uint64_t gtt, uint64_t vram)
{
	const bool tables = igt_radeon_has_address_spaces(fd);
	uint64_t now_gtt = 0, now_vram = 0;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		now_gtt = igt_radeon_info64(fd, RADEON_INFO_GTT_USAGE);
		now_vram = igt_radeon_info64(fd, RADEON_INFO_VRAM_USAGE);
		if ((now_gtt <= gtt && now_vram <= vram) ||
		    (tables && now_gtt + now_vram <= gtt + vram))
			return;
		usleep(100000);
	}
	igt_assert_f(false, "GTT %llu to %llu bytes, VRAM %llu to %llu bytes\n",
		     (unsigned long long)gtt, (unsigned long long)now_gtt,
		     (unsigned long long)vram, (unsigned long long)now_vram);
}

/* Is a run of so many seconds long enough to do everything? See FULL_SECONDS. */
static bool is_full(unsigned int seconds)
{
	char text[16];
	unsigned int ms;

	igt_assert(igt_radeon_get("/sys/module/radeon/parameters/lockup_timeout",
				  text, sizeof(text)) > 0);
	ms = atoi(text);

	return ms && seconds >= FULL_SECONDS && seconds * 1000 >= FULL_LOCKUPS * ms;
}

static void fuzz(int fd, uint64_t seed, unsigned int seconds)
{
	struct igt_radeon_stats before = { 0 }, done = { 0 };
	uint64_t start, ops, gtt, vram;
	const char *missing;
	struct fuzz_run *run;
	unsigned int i;
	bool paths, full;

	run = mmap(NULL, sizeof(*run), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	igt_assert(run != MAP_FAILED);
	run->seed = seed;
	run->only = options.process;
	run->operations = options.operations;
	run->dma = igt_radeon_has_engine(fd, IGT_RADEON_DMA);
	run->lock = memfd_create("fuzz-lock", 0);
	igt_assert(run->lock >= 0);
	printf("seed %llu, %u s\n", (unsigned long long)seed, seconds);
	fflush(stdout);
	gtt = igt_radeon_info64(fd, RADEON_INFO_GTT_USAGE);
	vram = igt_radeon_info64(fd, RADEON_INFO_VRAM_USAGE);
	paths = igt_radeon_has_stats(fd);
	if (paths)
		before = igt_radeon_stats(fd);
	share(run, fd);
	start = fuzz_now_us();
	run->end_us = start + seconds * 1000000ull;
	igt_set_timeout(seconds + 300, "the end of all processes");
	igt_fork(child, FUZZ_WORKERS + 1) {
		if (!child) {
			if (!run->only)
				disturb(run);
		} else if (!run->only || run->only == (unsigned int)child) {
			guard(run, child);
		}
	}
	igt_waitchildren();
	igt_reset_timeout();
	igt_radeon_set_latency(fd, 0);

	if (paths)
		done = igt_radeon_stats_since(fd, &before);
	missing = report(run, fuzz_now_us() - start, done.calls, &ops);
	igt_assert_f(ops, "nothing was done\n");
	full = paths && !run->only && options.resets && ops >= FULL_OPS &&
		is_full(seconds) && igt_radeon_has_board(fd);
	igt_assert_f(!missing || !full, "never done: %s\n", missing);
	for (i = 0; i < FUZZ_SHARED; i++) {
		close(run->prime[i]);
		igt_radeon_bo_fini(&run->shared[i]);
	}
	check_leaks(fd, gtt, vram);
	close(run->lock);
	munmap(run, sizeof(*run));
}

static int handle_option(int opt, int index, void *data)
{
	(void)index;
	(void)data;
	switch (opt) {
	case 's':
		options.seed = strtoull(optarg, NULL, 0);
		break;
	case 't':
		options.seconds = strtoul(optarg, NULL, 0);
		break;
	case 'p':
		options.process = strtoul(optarg, NULL, 0);
		break;
	case 'r':
		options.resets = strtoul(optarg, NULL, 0);
		break;
	case 'n':
		options.operations = strtoull(optarg, NULL, 0);
		break;
	default:
		return IGT_OPT_HANDLER_ERROR;
	}
	return IGT_OPT_HANDLER_SUCCESS;
}

static const struct option long_options[] = {
	{ "seed", required_argument, NULL, 's' },
	{ "seconds", required_argument, NULL, 't' },
	{ "process", required_argument, NULL, 'p' },
	{ "resets", required_argument, NULL, 'r' },
	{ "operations", required_argument, NULL, 'n' },
	{ 0 }
};

static const char help[] =
	"  --seed N\t\tSeed of all random numbers\n"
	"  --seconds N\t\tHow long subtest random runs\n"
	"  --process N\t\tOnly this process, 1 to 4, and no resets\n"
	"  --resets MASK\t\tHow the GPU is reset: 1 by debugfs, 2 by a hang of the\n"
	"\t\t\tgfx ring, 4 by one of the DMA ring; default 7\n"
	"  --operations N\tProcesses end after so many operations\n";

/**
 * SUBTEST: random
 * Description: Random calls by several processes, while the GPU is reset,
 *              transfer the right bytes or give the right errors.
 *
 * SUBTEST: seeds
 * Description: Runs seeds that have found faults for a few seconds each.
 */
int igt_main_args("", long_options, help, handle_option, NULL)
{
	unsigned int i;
	int fd = -1;

	igt_fixture() {
		fd = igt_radeon_try_open_primary();
		igt_require_f(fd >= 0, "no card node of the radeon driver\n");
		igt_radeon_require_rw_caps(fd, RADEON_GEM_RW_CAP_PREAD_PWRITE |
					   RADEON_GEM_RW_CAP_TRANSFER |
					   RADEON_GEM_RW_CAP_STAGED);
	}

	igt_describe("Random calls by several processes, while the GPU is reset.");
	igt_subtest("random")
		fuzz(fd, options.seed, options.seconds);
	igt_fixture()
		igt_radeon_set_latency(fd, 0);

	igt_describe("Runs seeds that have found faults.");
	igt_subtest("seeds")
		for (i = 0; i < sizeof(found) / sizeof(found[0]); i++)
			fuzz(fd, found[i], 6);

	igt_fixture() {
		igt_radeon_set_latency(fd, 0);
		close(fd);
	}
}
