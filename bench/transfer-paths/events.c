// SPDX-License-Identifier: MIT
/*
 * What operations cost the kernel, in events: calls of some of its functions, which
 * perf counts by kprobes. This is done beside the measurement, as probes cost
 * instructions.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transfer-paths.h"

/* As many as there are windows. */
#define OPS 2u
#define CPUS 64
/* Time for workers of the kernel to release what busy BOs had, in us. */
#define SETTLE_US 20000
#define RELOCS (TP_COSTS - 1)

const char * const tp_cost_names[TP_COSTS] = {
	"ioctls", "mmaps", "bos", "userptrs", "mmu_notifiers", "submissions",
	"fences", "gart_flushes",
	/* The length of the arrays that the program passes. */
	[RELOCS] = "relocations",
};

/* Functions whose calls are an event: those that this kernel has. */
static const struct {
	const char *functions[3];
	/* Calls of this thread only; else of all, as workers call it, too. */
	bool thread;
} events[RELOCS] = {
	{ { "drm_ioctl" }, true },
	{ { "ksys_mmap_pgoff" }, true },
	{ { "radeon_bo_create" }, false },
	{ { "radeon_ttm_tt_set_userptr" }, false },
	{ { "mmu_interval_notifier_insert" }, false },
	{ { "radeon_cs_ioctl" }, false },
	{ { "radeon_fence_emit" }, false },
	{ { "r600_pcie_gart_tlb_flush", "evergreen_pcie_gart_tlb_flush",
	    "cayman_pcie_gart_tlb_flush" }, false },
};

/* File descriptors of an event, and their number. */
struct counter {
	int fds[3 * CPUS];
	unsigned int count;
};

static int probe(const char *function, unsigned int type, int pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.kprobe_func = (uintptr_t)function,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1,
			 PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_counter(struct counter *c, unsigned int event, unsigned int type)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu;
	unsigned int i;
	int fd;

	c->count = 0;
	if (cpus > CPUS)
		return -E2BIG;
	for (i = 0; i < 3 && events[event].functions[i]; i++) {
		for (cpu = 0; cpu < (events[event].thread ? 1 : cpus); cpu++) {
			fd = probe(events[event].functions[i], type,
				   events[event].thread ? 0 : -1,
				   events[event].thread ? -1 : cpu);
			if (fd == -ENOENT || fd == -EINVAL || fd == -EADDRNOTAVAIL)
				break;
			if (fd < 0)
				return fd;
			c->fds[c->count++] = fd;
		}
	}
	return c->count ? 0 : -ENOENT;
}

static struct counter counters[RELOCS];

static int control(bool thread, unsigned long request)
{
	unsigned int i, k;

	for (i = 0; i < RELOCS; i++)
		for (k = 0; events[i].thread == thread && k < counters[i].count; k++)
			if (ioctl(counters[i].fds[k], request, 0))
				return -errno;
	return 0;
}

static int count(struct tp_case *c, const struct tp_arm *arm, unsigned int ops)
{
	unsigned int i;
	int ret;

	ret = tp_tune(c->run, arm);
	if (!ret)
		ret = arm->op(c);
	if (!ret)
		ret = bench_gem_wait(c->run->dev.fd, c->handle);
	/* What the first operation left to workers is not counted. */
	usleep(SETTLE_US);
	if (!ret)
		ret = control(false, PERF_EVENT_IOC_ENABLE);
	if (!ret)
		ret = control(true, PERF_EVENT_IOC_ENABLE);
	for (i = 0; i < ops && !ret; i++)
		ret = arm->op(c);
	if (!ret)
		ret = control(true, PERF_EVENT_IOC_DISABLE);
	if (!ret)
		ret = bench_gem_wait(c->run->dev.fd, c->handle);
	usleep(SETTLE_US);
	if (!ret)
		ret = control(false, PERF_EVENT_IOC_DISABLE);
	return ret;
}

/**
 * tp_events_open - begin to count events
 *
 * From now on each event costs instructions, and opening takes seconds.
 *
 * Returns: 0; -ENOSYS if the kernel has no kprobes, or another negative errno
 */
int tp_events_open(void)
{
	unsigned int type, i;
	int ret = 0;

	type = bench_read_number("/sys/bus/event_source/devices/kprobe/type");
	if (!type)
		return -ENOSYS;
	for (i = 0; i < RELOCS && !ret; i++)
		ret = open_counter(&counters[i], i, type);
	return ret;
}

/**
 * tp_events_close - end counting events
 */
void tp_events_close(void)
{
	unsigned int i, k;

	for (i = 0; i < RELOCS; i++) {
		for (k = 0; k < counters[i].count; k++)
			close(counters[i].fds[k]);
		counters[i].count = 0;
	}
}

/**
 * tp_costs - count events in the course of some operations
 * @c: the case
 * @arm: the variant
 * @row: its row; gets the sums of all operations
 *
 * Returns: 0 or a negative errno
 */
int tp_costs(struct tp_case *c, const struct tp_arm *arm, struct tp_row *row)
{
	unsigned int ops = c->units > 1 ? 1 : OPS, i, k;
	uint64_t relocs = bench_gem_dma_relocs(), value;
	int ret;

	for (i = 0; i < RELOCS; i++)
		for (k = 0; k < counters[i].count; k++)
			if (ioctl(counters[i].fds[k], PERF_EVENT_IOC_RESET, 0))
				return -errno;
	ret = count(c, arm, ops);
	for (i = 0; i < RELOCS; i++) {
		for (k = 0; k < counters[i].count && !ret; k++) {
			if (read(counters[i].fds[k], &value,
				 sizeof(value)) == sizeof(value))
				row->costs[i] += value;
			else
				ret = -EIO;
		}
	}
	/* The first operation, which is not counted, submits as much. */
	row->costs[RELOCS] = (bench_gem_dma_relocs() - relocs) * ops / (ops + 1);
	row->cost_ops = ops;
	return ret;
}
