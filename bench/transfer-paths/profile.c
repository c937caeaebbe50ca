// SPDX-License-Identifier: MIT
/*
 * Samples where a variant spends its time, or its instructions if the clock
 * counts them. The samples are those of the kernel's software event cpu-clock,
 * as an emulated machine has no PMU. Code that runs with interrupts off is
 * sampled where it turns them on again.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transfer-paths.h"

/* In ns of the thread's CPU time; a prime, so that no loop keeps in step. */
#define PERIOD 20011
#define SAMPLES 1000u
/* Limit of operations, as some mostly sleep and give few samples. */
#define OPS_MAX 3000u
#define PAGES 16u

/* Samples of each function, indexed by its number from bench_symbol_find(). */
static unsigned int *hits;

static int by_hits(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (hits[x] < hits[y]) - (hits[x] > hits[y]);
}

static unsigned int collect(struct perf_event_mmap_page *ring, size_t page)
{
	const uint8_t *data = (const uint8_t *)ring + page;
	uint64_t at = ring->data_tail, head = ring->data_head;
	struct perf_event_header header;
	unsigned int n = 0;
	uint64_t ip;

	__sync_synchronize();
	while (at < head) {
		/* Records are multiples of 8 bytes, so neither read wraps around. */
		memcpy(&header, data + at % (PAGES * page), sizeof(header));
		memcpy(&ip, data + (at + 8) % (PAGES * page), sizeof(ip));
		if (header.type == PERF_RECORD_SAMPLE) {
			hits[bench_symbol_find(ip)]++;
			n++;
		}
		at += header.size;
	}
	__sync_synchronize();
	ring->data_tail = head;
	return n;
}

static void keep_top(struct tp_row *row, size_t symbols)
{
	size_t top[TP_TOP + 1], k;
	unsigned int n = 0, i;

	for (k = 0; k < symbols; k++) {
		if (!hits[k])
			continue;
		top[n++] = k;
		qsort(top, n, sizeof(top[0]), by_hits);
		if (n > TP_TOP)
			n = TP_TOP;
	}
	for (i = 0; i < n; i++) {
		snprintf(row->top[i].name, TP_NAME, "%.*s", TP_NAME - 1,
			 bench_symbol_name(top[i]));
		row->top[i].hits = hits[top[i]];
	}
	row->top_count = n;
}

/**
 * tp_profile - sample where a variant of a case spends its time
 * @c: the case, as after a turn
 * @arm: the variant
 * @row: its row; gets samples and the functions with most of them
 *
 * Returns: 0, or a negative errno, such as -EACCES if the kernel forbids it
 */
int tp_profile(struct tp_case *c, const struct tp_arm *arm, struct tp_row *row)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
	};
	size_t page = sysconf(_SC_PAGESIZE);
	long symbols = bench_symbols_load();
	struct perf_event_mmap_page *ring;
	unsigned int n = 0, ops, batch, i;
	int fd, ret;

	if (symbols < 0)
		return symbols;
	ret = tp_tune(c->run, arm);
	if (ret)
		return ret;
	free(hits);
	hits = calloc(symbols, sizeof(*hits));
	if (!hits)
		return -ENOMEM;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	ring = mmap(NULL, (PAGES + 1) * page, PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		ret = -errno;
		close(fd);
		return ret;
	}

	/* Batches keep the cost of switching the event small in the samples. */
	for (ops = 0; ops < OPS_MAX && n < SAMPLES && !ret; ops += batch) {
		batch = c->bytes > 65536 ? 1 : 128;
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		for (i = 0; i < batch && !ret; i++)
			ret = arm->op(c);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		n += collect(ring, page);
	}
	row->top_samples = n;
	keep_top(row, symbols);

	munmap(ring, (PAGES + 1) * page);
	close(fd);
	return ret;
}
