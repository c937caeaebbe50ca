// SPDX-License-Identifier: MIT
/*
 * The process of one arm in one domain: has its own DRM file and its own
 * address space, grows its population of live BOs, and measures when told to,
 * while the others are asleep.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live-bos.h"

#define WARM_UP 8u

struct worker {
	struct bench_device dev;
	const struct lb_options *options;
	unsigned int arm, domain;
	struct lb_check check;
	struct lb_bo *bos;
	unsigned int live, checked, maps_at_start;
	uint64_t *times[3];
	struct lb_row row;
};

/* Makes and fills a BO; on error it is released. */
static int add_bo(struct worker *w, struct lb_bo *bo, uint64_t index,
		  uint64_t times[3])
{
	const struct lb_arm *arm = &lb_arms[w->arm];
	static uint64_t data[LB_WORDS];
	const char *call = "create";
	int ret;

	lb_contents(data, w->arm, w->domain, index);
	times[0] = bench_clock(w->options->clock);
	ret = arm->create(&w->dev, lb_domains[w->domain].domain, bo);
	times[1] = bench_clock(w->options->clock);
	if (!ret) {
		call = arm->call;
		ret = arm->upload(&w->dev, bo, data);
		if (ret)
			arm->destroy(&w->dev, bo);
	}
	times[2] = bench_clock(w->options->clock);
	if (ret)
		snprintf(w->row.error, sizeof(w->row.error),
			 "%s: %s with %u live BOs", call, strerror(-ret),
			 w->live);
	return ret;
}

static void grow(struct worker *w, unsigned int live)
{
	uint64_t times[3];

	while (!w->row.error[0] && w->live < live) {
		if (add_bo(w, &w->bos[w->live], w->live, times))
			break;
		w->live++;
	}
}

/* Counts mappings and page tables for the row; it has no times yet. */
static void look(struct worker *w)
{
	w->row.samples = 0;
	w->row.maps = bench_count_maps() - w->maps_at_start;
	w->row.vmpte_kib = bench_field("/proc/self/status", "VmPTE:");
}

/* Takes the samples of one turn; the last turn computes the medians. */
static void measure(struct worker *w, unsigned int turn)
{
	const struct lb_arm *arm = &lb_arms[w->arm];
	unsigned int n = w->options->samples;
	unsigned int i = turn * n / LB_TURNS, next = (turn + 1) * n / LB_TURNS;
	unsigned int warm_up = WARM_UP;
	uint64_t t[3], end;
	struct lb_bo bo;
	int ret;

	if (turn == 0)
		look(w);
	if (w->row.error[0])
		return;

	while (i < next) {
		if (add_bo(w, &bo, w->live + i, t))
			return;
		end = bench_clock(w->options->clock);
		ret = arm->destroy(&w->dev, &bo);
		end = bench_clock(w->options->clock) - end;
		if (ret) {
			snprintf(w->row.error, sizeof(w->row.error),
				 "destroy: %s", strerror(-ret));
			return;
		}
		if (warm_up) {
			warm_up--;
			continue;
		}
		w->times[0][i] = t[1] - t[0];
		w->times[1][i] = t[2] - t[1];
		w->times[2][i] = end;
		i++;
	}
	if (next < n)
		return;
	w->row.samples = n;
	w->row.create = bench_spread(w->times[0], n);
	w->row.upload = bench_spread(w->times[1], n);
	w->row.destroy = bench_spread(w->times[2], n);
}

static void verify(struct worker *w, unsigned int first)
{
	unsigned int wrong = 0;
	int ret = lb_verify(&w->dev, &w->check, w->options->verify, w->arm,
			    w->domain, w->bos, first, w->live, &wrong);

	if (ret || wrong) {
		/* This ends the arm, and says more than an earlier error. */
		if (ret)
			snprintf(w->row.error, sizeof(w->row.error),
				 "verify: %s", strerror(-ret));
		else
			snprintf(w->row.error, sizeof(w->row.error),
				 "verify: %u of %u BOs have wrong contents",
				 wrong, w->live - first);
		return;
	}
	w->checked = w->live;
	w->row.verified = w->checked;
}

static void *anonymous(size_t size)
{
	void *ptr = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return ptr == MAP_FAILED ? NULL : ptr;
}

/* Starts the arm; if it is unsupported, the row gets the reason. */
static int start_arm(struct worker *w)
{
	const struct lb_arm *arm = &lb_arms[w->arm];
	char why[96] = "the kernel has no PREAD and PWRITE";
	int ret = 0;

	if (arm->needs_rw && !w->dev.has_rw)
		ret = -ENOTSUP;
	else if (arm->start)
		ret = arm->start(&w->dev, w->options, why, sizeof(why));
	if (ret != -ENOTSUP)
		return ret;
	snprintf(w->row.error, sizeof(w->row.error), "unsupported: %s", why);
	return 0;
}

static int init(struct worker *w)
{
	const struct lb_options *o = w->options;
	unsigned int i;
	int ret;

	ret = bench_open(&w->dev);
	if (ret)
		return ret;
	ret = lb_check_init(&w->dev, &w->check);
	if (ret)
		return ret;
	/* Allocate all memory now, so that later only BOs add maps. */
	w->bos = anonymous((o->live[o->live_count - 1] + 1) * sizeof(*w->bos));
	if (!w->bos)
		return -ENOMEM;
	for (i = 0; i < 3; i++) {
		w->times[i] = anonymous(o->samples * sizeof(uint64_t));
		if (!w->times[i])
			return -ENOMEM;
	}
	ret = start_arm(w);
	if (ret)
		return ret;
	w->maps_at_start = bench_count_maps();
	return 0;
}

/**
 * lb_worker - main function of a worker process
 * @socket: for commands and answers
 * @arm: index in lb_arms
 * @domain: index in lb_domains
 * @options: the command line
 *
 * Returns: exit status
 */
int lb_worker(int socket, unsigned int arm, unsigned int domain,
	      const struct lb_options *options)
{
	static struct worker worker;
	struct worker *w = &worker;
	struct lb_command cmd;
	int ret;

	w->options = options;
	w->arm = w->row.arm = arm;
	w->domain = w->row.domain = domain;
	ret = init(w);
	if (ret)
		snprintf(w->row.error, sizeof(w->row.error), "start: %s",
			 strerror(-ret));

	while (recv(socket, &cmd, sizeof(cmd), 0) == sizeof(cmd)) {
		switch (cmd.op) {
		case LB_GROW:
			w->row.requested = cmd.value;
			grow(w, cmd.value);
			break;
		case LB_MEASURE:
			measure(w, cmd.value);
			break;
		case LB_VERIFY_NEW:
			verify(w, w->checked);
			break;
		case LB_VERIFY_ALL:
			verify(w, 0);
			break;
		case LB_QUIT:
			return 0;
		}
		w->row.live = w->live;
		if (send(socket, &w->row, sizeof(w->row), MSG_NOSIGNAL) < 0)
			return 1;
	}
	return 0;
}
