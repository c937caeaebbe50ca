// SPDX-License-Identifier: MIT
/*
 * desktop-row: runs a command in a guest with the board, and measures where the time goes.
 *
 * Recorded over the run: the time, the CPU time of the guest (all processes and the
 * kernel), the time in which the board's engines worked, the number of accesses to
 * registers that QEMU had to trap, and the cost of one. That cost is measured right before
 * and after, by reads of the board's control block; the smaller of the two medians counts.
 * A trap occupies one CPU of the guest, so it is part of that CPU's time, too.
 *
 * usage: desktop-row --json FILE NAME CMD [ARG...]
 * Exit status: 0, whatever CMD's is (it is in FILE); 1 if something failed; 2 for a
 * usage error; 77 without the board.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench-json.h"
#include "radeon_guest.h"

/* As in emulator/src/chip/counters.rs. */
enum counter {
	COUNTER_IRQS = 4,
	COUNTER_MMIO_READS = 5,
	COUNTER_MMIO_WRITES = 6,
	COUNTER_IBS = 8,
	COUNTER_DRAWS = 13,
	COUNTER_BUSY_NS = 34,
};

static const struct {
	enum counter number;
	const char *key;
} counters[] = {
	{ COUNTER_IRQS, "irqs" },
	{ COUNTER_MMIO_READS, "mmio_reads" },
	{ COUNTER_MMIO_WRITES, "mmio_writes" },
	{ COUNTER_IBS, "ibs" },
	{ COUNTER_DRAWS, "draws" },
	{ COUNTER_BUSY_NS, "engine_ns" },
};

#define COUNTERS	(sizeof(counters) / sizeof(counters[0]))
#define TRAPS		201u

struct moment {
	uint64_t ns, cpu_ns, counter[COUNTERS];
};

/* Time that the CPUs were busy (not idle, not waiting for I/O) since boot, in ns; 0 if unknown. */
static uint64_t guest_cpu_ns(void)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq;
	FILE *f = fopen("/proc/stat", "re");
	int n;

	if (!f)
		return 0;
	n = fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
		   &idle, &iowait, &irq, &softirq);
	fclose(f);
	if (n != 7)
		return 0;
	return (user + nice + system + irq + softirq) *
	       (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

static int look(int board, struct moment *now)
{
	unsigned int i;
	int ret;

	for (i = 0; i < COUNTERS; i++) {
		ret = radeon_guest_board_counter(board, counters[i].number, &now->counter[i]);
		if (ret)
			return ret;
	}
	now->cpu_ns = guest_cpu_ns();
	now->ns = bench_now();
	return 0;
}

/* Median time of a register read, in ns; 0 if the register cannot be read. */
static uint64_t trap_ns(int board)
{
	uint64_t times[TRAPS];
	unsigned int i;
	uint32_t value;

	for (i = 0; i < TRAPS; i++) {
		uint64_t start = bench_now();

		if (radeon_guest_board_read(board, RADEON_GUEST_CTL_MAGIC, &value) ||
		    value != RADEON_GUEST_CTL_MAGIC_VALUE)
			return 0;
		times[i] = bench_now() - start;
	}
	return bench_spread(times, TRAPS).median;
}

/* Runs the command; returns its exit status, or a negative errno. */
static int run(char **command)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid) {
		execvp(command[0], command);
		fprintf(stderr, "desktop-row: %s: %s\n", command[0], strerror(errno));
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct json_object *row;
	struct moment from, to;
	struct bench_device dev;
	uint64_t before, after;
	int board, ret, status;
	unsigned int i;

	if (argc < 5 || strcmp(argv[1], "--json")) {
		fprintf(stderr, "usage: desktop-row --json FILE NAME CMD [ARG...]\n");
		return 2;
	}
	ret = bench_open(&dev);
	board = ret ? ret : radeon_guest_board_open(dev.fd);
	if (board < 0) {
		fprintf(stderr, "desktop-row: no board: %s\n", strerror(-board));
		return 77;
	}
	before = trap_ns(board);
	ret = look(board, &from);
	status = ret ? ret : run(argv + 4);
	if (status >= 0)
		ret = look(board, &to);
	after = trap_ns(board);
	if (status < 0 || ret || !before || !after || !from.cpu_ns) {
		fprintf(stderr, "desktop-row: %s could not be measured\n", argv[3]);
		return 1;
	}

	row = json_object_new_object();
	bench_json_add_string(row, "row", argv[3]);
	bench_json_add_number(row, "status", (uint64_t)status);
	bench_json_add_number(row, "ns", to.ns - from.ns);
	bench_json_add_number(row, "cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	bench_json_add_number(row, "guest_cpu_ns", to.cpu_ns - from.cpu_ns);
	bench_json_add_number(row, "trap_ns", before < after ? before : after);
	for (i = 0; i < COUNTERS; i++)
		bench_json_add_number(row, counters[i].key, to.counter[i] - from.counter[i]);
	json_object_object_add(row, "environment", bench_json_environment(&dev));
	ret = bench_json_write(argv[2], row);
	close(board);
	close(dev.fd);
	return ret ? 1 : 0;
}
