// SPDX-License-Identifier: MIT
/*
 * The measurement of 2011 again: with N BOs live and mapped, one BO of 1 to
 * 16,384 bytes is made and mapped, or one is unmapped and destroyed. Nothing is
 * uploaded. vm.max_map_count is raised, as it was then.
 *
 * The arms are the kernel's search (mmap) and the work-around (arena): there each
 * BO is mapped, too, but by MAP_FIXED at an address that the process chooses. Each
 * has a process of its own; one runs after the other, as their BOs would not fit
 * into VRAM together.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "radeon_drm.h"

#include "arena.h"
#include "live-bos.h"

#define LIMIT_FILE "/proc/sys/vm/max_map_count"
/* Mappings of the process itself, with room to spare. */
#define OTHER_MAPS 1000u

/**
 * struct small_bo - one live BO
 * @handle: GEM handle
 * @bytes: its size as asked for
 * @map: its mapping
 */
struct small_bo {
	uint32_t handle, bytes;
	uint64_t *map;
};

/**
 * struct process - what one arm's process has
 * @dev: its open device
 * @arena: the area of addresses, if @workaround
 * @workaround: map by MAP_FIXED in @arena
 * @random: state of the random numbers
 * @bos: the live BOs
 * @live: their number
 */
struct process {
	struct bench_device dev;
	struct arena arena;
	bool workaround;
	uint64_t random;
	struct small_bo *bos;
	unsigned int live;
};

/* xorshift64: both arms and all runs make the same sequence of sizes. */
static uint64_t next_random(struct process *p)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return p->random;
}

static size_t whole_pages(uint32_t bytes)
{
	return (bytes + LB_BO_SIZE - 1) / LB_BO_SIZE * (size_t)LB_BO_SIZE;
}

static int make(struct process *p, struct small_bo *bo)
{
	size_t size = whole_pages(bo->bytes);
	uint64_t offset;
	void *ptr;
	int ret = bench_gem_create(p->dev.fd, bo->bytes,
				   RADEON_GEM_DOMAIN_VRAM, 0, &bo->handle);

	if (ret)
		return ret;
	if (!p->workaround) {
		ret = bench_gem_mmap(p->dev.fd, bo->handle, size, &ptr);
	} else {
		ret = bench_gem_offset(p->dev.fd, bo->handle, size, &offset);
		if (!ret)
			ret = arena_map(&p->arena, size, p->dev.fd, offset,
					&ptr);
	}
	if (ret)
		bench_gem_close(p->dev.fd, bo->handle);
	else
		bo->map = ptr;
	return ret;
}

static int destroy(struct process *p, struct small_bo *bo)
{
	int ret = 0;

	if (p->workaround)
		ret = arena_unmap(&p->arena, bo->map);
	else if (munmap(bo->map, whole_pages(bo->bytes)))
		ret = -errno;
	return ret ? ret : bench_gem_close(p->dev.fd, bo->handle);
}

static uint32_t random_bytes(struct process *p)
{
	return 1 + next_random(p) % LB_2011_BYTES;
}

/* The first word of each BO: which one it is, and how large. */
static uint64_t mark(const struct process *p, unsigned int i)
{
	return (uint64_t)i << 32 | p->bos[i].bytes;
}

static int grow(struct process *p, unsigned int live)
{
	int ret;

	while (p->live < live) {
		p->bos[p->live].bytes = random_bytes(p);
		ret = make(p, &p->bos[p->live]);
		if (ret)
			return ret;
		*p->bos[p->live].map = mark(p, p->live);
		p->live++;
	}
	return 0;
}

/* Takes the samples of one population: a BO at random goes, another comes. */
static int measure(struct process *p, unsigned int samples, uint64_t *made,
		   uint64_t *gone)
{
	unsigned int i, victim;
	uint64_t t;
	int ret;

	for (i = 0; i < samples; i++) {
		victim = next_random(p) % p->live;
		t = bench_now();
		ret = destroy(p, &p->bos[victim]);
		gone[i] = bench_now() - t;
		if (ret)
			return ret;
		p->bos[victim].bytes = random_bytes(p);
		t = bench_now();
		ret = make(p, &p->bos[victim]);
		made[i] = bench_now() - t;
		if (ret)
			return ret;
		*p->bos[victim].map = mark(p, victim);
	}
	return 0;
}

/* Are all BOs where they were mapped, and no two in one place? */
static bool marks_are_right(const struct process *p)
{
	unsigned int i;

	for (i = 0; i < p->live; i++)
		if (*p->bos[i].map != mark(p, i))
			return false;
	return true;
}

static int start(struct process *p, unsigned int most)
{
	int ret = bench_open(&p->dev);

	if (ret)
		return ret;
	p->random = 20110328;
	/* Mapped before mappings are counted, like the samples. */
	p->bos = mmap(NULL, most * sizeof(*p->bos), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (p->bos == MAP_FAILED)
		return -errno;
	/* Twice what all BOs need, because free space fragments. */
	return p->workaround ?
		arena_init(&p->arena, 2 * (size_t)most * LB_2011_BYTES) : 0;
}

/* The process of one arm: fills in @rows, which it shares with its parent. */
static void arm(const struct lb_options *o, bool workaround,
		struct lb_2011_row *rows, unsigned int count)
{
	static uint64_t made[LB_MAX_SAMPLES], gone[LB_MAX_SAMPLES];
	struct process p = { .workaround = workaround };
	int ret = start(&p, rows[count - 1].requested);
	unsigned int i, maps = bench_count_maps();

	for (i = 0; i < count; i++) {
		struct lb_2011_row *row = &rows[i];

		if (!ret)
			ret = grow(&p, row->requested);
		row->live = p.live;
		row->maps = bench_count_maps() - maps;
		if (!ret)
			ret = measure(&p, o->samples, made, gone);
		if (ret) {
			snprintf(row->error, sizeof(row->error),
				 "%s with %u live BOs", strerror(-ret), p.live);
			continue;
		}
		if (!marks_are_right(&p)) {
			snprintf(row->error, sizeof(row->error),
				 "verify: a BO has another's contents");
			ret = -EIO;
			continue;
		}
		row->make = bench_spread(made, o->samples);
		row->destroy = bench_spread(gone, o->samples);
		row->samples = o->samples;
	}
}

/* Runs an arm in a process of its own, and waits for its end. */
static void run_arm(const struct lb_options *o, bool workaround,
		    struct lb_2011_row *rows, unsigned int count)
{
	unsigned int i;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		arm(o, workaround, rows, count);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	if (pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status))
		return;
	for (i = 0; i < count; i++)
		if (!rows[i].samples && !rows[i].error[0])
			snprintf(rows[i].error, sizeof(rows[i].error),
				 "worker died");
}

static bool set_limit(unsigned long limit)
{
	FILE *f = fopen(LIMIT_FILE, "we");
	bool ok = f && fprintf(f, "%lu\n", limit) > 0;

	/* The kernel's answer comes when the stream is flushed. */
	return f && !fclose(f) && ok;
}

/**
 * lb_as_2011 - measure what the report of 2011 measured
 * @r: results; rows are added to as_2011
 *
 * Populations for which the limit of mappings cannot be raised, or whose BOs do not
 * fit into the VRAM that the CPU reaches, get a row with an error.
 */
void lb_as_2011(struct lb_results *r)
{
	const struct lb_options *o = r->options;
	const uint64_t mean = LB_2011_BYTES / 2 + LB_BO_SIZE / 2;
	unsigned long limit = r->max_map_count, need;
	struct lb_2011_row *rows;
	unsigned int a, i, n = 0, fit = 0;

	for (i = 0; i < o->live_count; i++)
		n += o->wanted[0][i];
	rows = mmap(NULL, 2 * LB_MAX_LIVE * sizeof(*rows), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rows == MAP_FAILED || !n)
		return;
	/* In the arena the gap between two mappings is a mapping, too. */
	need = 2ul * o->live[o->live_count - 1] + OTHER_MAPS;
	if (need > limit && set_limit(need))
		limit = need;
	r->max_map_count_2011 = limit;
	for (a = 0; a < 2; a++) {
		struct lb_2011_row *mine = rows + a * n;
		unsigned int k = 0;

		fit = 0;
		for (i = 0; i < o->live_count; i++) {
			if (!o->wanted[0][i])
				continue;
			mine[k].workaround = a;
			mine[k].requested = o->live[i];
			if (2ul * o->live[i] + OTHER_MAPS > limit)
				snprintf(mine[k].error, sizeof(mine[k].error),
					 "skipped: vm.max_map_count is %lu", limit);
			else if (o->live[i] * mean > r->dev->vram_visible)
				snprintf(mine[k].error, sizeof(mine[k].error),
					 "skipped: the CPU reaches too little VRAM");
			else
				fit = k + 1;
			k++;
		}
		if (fit)
			run_arm(o, a, mine, fit);
	}
	if (limit != r->max_map_count)
		set_limit(r->max_map_count);
	r->as_2011 = rows;
	r->as_2011_count = 2 * n;
}
