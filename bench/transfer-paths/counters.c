// SPDX-License-Identifier: MIT
/*
 * The driver's thresholds and counters (kernel/driver.md), and the emulated
 * board's counters and latency knob (emulator/README.md).
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "radeon_guest.h"
#include "transfer-paths.h"

const char * const tp_path_names[TP_PATHS] = {
	[TP_CPU] = "cpu",
	[TP_STAGED] = "staged",
};

const char * const tp_event_names[TP_EVENTS] = {
	"stall_avoided", "stall", "not_resident", "not_staged", "moved",
};

const char * const tp_board_names[TP_BOARD] = {
	"pm4_packets", "dma_packets", "cp_dma_bytes", "dma_bytes", "interrupts",
	"register_reads", "register_writes", "soft_resets", "indirect_buffers",
	"fences", "bar_reads", "bar_lines", "bar_ns",
};

/* Their numbers (emulator/src/chip/counters.rs). */
static const unsigned int board_numbers[TP_BOARD] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 38, 39, 40,
};

static const char * const tunable_names[TP_TUNABLES] = {
	[TP_STAGE_READ_MIN] = "gem_rw_stage_read_min",
	[TP_STAGE_WRITE_MAX] = "gem_rw_stage_write_max",
};

#define DEBUGFS_NAMES	"/sys/kernel/debug/dri/*/name"

static char *debugfs_path;
static int board_fd = -1;
static uint32_t board_latency;
static unsigned int tuned[TP_TUNABLES];

static void board_open(struct tp_run *run)
{
	board_fd = radeon_guest_board_open(run->dev.fd);
	if (board_fd >= 0)
		run->has_board = !radeon_guest_board_read(board_fd, RADEON_GUEST_CTL_LATENCY_US,
							  &board_latency);
}

static void tunable_path(enum tp_tunable tunable, char *path, size_t size)
{
	snprintf(path, size, "/sys/module/radeon/parameters/%s",
		 tunable_names[tunable]);
}

/*
 * The counters of the card at this PCI address, which its directory in debugfs
 * names; NULL if there are none.
 */
static char *counters_path(const char *pci)
{
	char text[256], *path = NULL;
	glob_t found = { 0 };
	size_t i;

	if (glob(DEBUGFS_NAMES, 0, NULL, &found))
		found.gl_pathc = 0;
	for (i = 0; i < found.gl_pathc && !path; i++) {
		if (!bench_read_line(found.gl_pathv[i], text, sizeof(text)) ||
		    !strstr(text, pci))
			continue;
		if (asprintf(&path, "%.*sradeon_gem_rw",
			     (int)(strlen(found.gl_pathv[i]) - strlen("name")),
			     found.gl_pathv[i]) < 0)
			path = NULL;
		if (path && access(path, F_OK)) {
			free(path);
			path = NULL;
		}
	}
	globfree(&found);
	return path;
}

/**
 * tp_counters_init - find parameters and counters
 * @run: the run, with its device open
 *
 * Works without the emulated board, too.
 *
 * Returns: 0, or a negative errno if the driver lacks them or denies access
 */
int tp_counters_init(struct tp_run *run)
{
	char path[96], line[32];
	unsigned int i;

	debugfs_path = counters_path(run->dev.pci);
	if (!debugfs_path)
		return -ENOENT;

	for (i = 0; i < TP_TUNABLES; i++) {
		tunable_path(i, path, sizeof(path));
		if (!bench_read_line(path, line, sizeof(line)))
			return -ENOENT;
		if (access(path, W_OK))
			return -errno;
		run->defaults[i] = tuned[i] = strtoul(line, NULL, 0);
	}
	board_open(run);
	return 0;
}

/*
 * Sums the pages of write-combined pools. A line has a pool's name, a colon, and
 * the pool's number of blocks of 1, 2, 4, ... pages.
 */
static long pooled(const char *path)
{
	char line[256], *number, *fields;
	unsigned int order;
	long pages = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		fields = strchr(line, ':');
		if (!fields)
			continue;
		*fields++ = 0;
		if (!strstr(line, "wc"))
			continue;
		for (order = 0; (number = strsep(&fields, " \t\n")); )
			if (*number)
				pages += strtol(number, NULL, 10) << order++;
	}
	fclose(f);
	return pages;
}

/* Write-combined pages in TTM's pools: the common ones, and this device's. */
static long all_pooled(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%.*s/ttm_page_pool",
		 (int)(strrchr(debugfs_path, '/') - debugfs_path), debugfs_path);
	return pooled("/sys/kernel/debug/ttm/page_pool") + pooled(path);
}

/**
 * tp_is_write_combined - are BOs with RADEON_GEM_GTT_WC write-combined?
 * @run: the run
 *
 * The driver silently makes them cached on a card that is not PCI Express, on
 * RV610 to RV635, and without PAT (radeon_bo_create()). Pages that are
 * write-combined go to TTM's pool of such pages when their BO is closed.
 *
 * Returns: true if the pages of a test BO went there
 */
bool tp_is_write_combined(const struct tp_run *run)
{
	const long pages = 16;
	unsigned int tries;
	uint32_t handle;
	long during;
	void *ptr;

	/* Try again, as others may take pages out of the pool or add some. */
	for (tries = 0; tries < 5; tries++) {
		if (bench_gem_create(run->dev.fd, pages * TP_PAGE,
				     RADEON_GEM_DOMAIN_GTT, RADEON_GEM_GTT_WC,
				     &handle))
			return false;
		if (!bench_gem_mmap(run->dev.fd, handle, pages * TP_PAGE, &ptr)) {
			memset(ptr, 0, pages * TP_PAGE);
			munmap(ptr, pages * TP_PAGE);
		}
		during = all_pooled();
		bench_gem_close(run->dev.fd, handle);
		if (all_pooled() - during == pages)
			return true;
	}
	return false;
}

static void take_counter(void *data, const char *name, const uint64_t *values,
			 unsigned int count)
{
	struct tp_counters *now = data;
	unsigned int i;

	for (i = 0; i < TP_PATHS; i++) {
		if (strcmp(name, tp_path_names[i]))
			continue;
		now->chunks[i] = values[0];
		now->bytes[i] = count > 1 ? values[1] : 0;
	}
	for (i = 0; i < TP_EVENTS; i++)
		if (!strcmp(name, tp_event_names[i]))
			now->events[i] = values[0];
}

static int read_board(struct tp_counters *now)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < TP_BOARD && !ret; i++)
		ret = radeon_guest_board_counter(board_fd, board_numbers[i],
						 &now->board[i]);
	return ret;
}

/**
 * tp_counters_read - read all counters
 * @run: the run
 * @now: filled in; the board's are 0 without a board
 */
int tp_counters_read(const struct tp_run *run, struct tp_counters *now)
{
	int ret;

	memset(now, 0, sizeof(*now));
	ret = radeon_guest_counters(debugfs_path, take_counter, now);
	if (!ret && run->has_board)
		ret = read_board(now);
	return ret;
}

/**
 * tp_counters_add - add the difference of two readings
 * @sum: the sum, to which it is added
 * @from: counters before
 * @to: counters after
 */
void tp_counters_add(struct tp_counters *sum, const struct tp_counters *from,
		     const struct tp_counters *to)
{
	unsigned int i;

	for (i = 0; i < TP_PATHS; i++) {
		sum->chunks[i] += to->chunks[i] - from->chunks[i];
		sum->bytes[i] += to->bytes[i] - from->bytes[i];
	}
	for (i = 0; i < TP_EVENTS; i++)
		sum->events[i] += to->events[i] - from->events[i];
	for (i = 0; i < TP_BOARD; i++)
		sum->board[i] += to->board[i] - from->board[i];
}

static int tune(enum tp_tunable tunable, unsigned int value)
{
	char path[96];
	int ret = 0;
	FILE *f;

	if (tuned[tunable] == value)
		return 0;
	tunable_path(tunable, path, sizeof(path));
	f = fopen(path, "we");
	if (!f)
		return -errno;
	fprintf(f, "%u\n", value);
	if (fclose(f))
		ret = -errno;
	else
		tuned[tunable] = value;
	return ret;
}

/**
 * tp_tune - set the driver's thresholds that a variant needs
 * @run: the run
 * @arm: the variant, or NULL for the defaults
 */
int tp_tune(const struct tp_run *run, const struct tp_arm *arm)
{
	unsigned int i, k, value;
	int ret = 0;

	for (i = 0; i < TP_TUNABLES && !ret; i++) {
		value = run->defaults[i];
		for (k = 0; arm && k < arm->setting_count; k++)
			if (arm->settings[k].tunable == i)
				value = arm->settings[k].value;
		ret = tune(i, value);
	}
	return ret;
}

/**
 * tp_tune_reset - put thresholds and the board's latency back
 * @run: the run
 */
void tp_tune_reset(const struct tp_run *run)
{
	tp_tune(run, NULL);
	if (run->has_board)
		radeon_guest_board_write(board_fd, RADEON_GUEST_CTL_LATENCY_US,
					 board_latency);
}

/**
 * tp_describe - describe the thresholds of a variant as text
 * @arm: the variant
 * @text: filled in, "" if it has the defaults
 * @size: size of @text
 */
void tp_describe(const struct tp_arm *arm, char *text, size_t size)
{
	unsigned int i;
	size_t n = 0;

	text[0] = 0;
	for (i = 0; i < arm->setting_count && n < size; i++)
		n += snprintf(text + n, size - n, "%s%s=%u", n ? " " : "",
			      tunable_names[arm->settings[i].tunable],
			      arm->settings[i].value);
}

/**
 * tp_board_latency - delay each submission on the board
 * @run: the run, which has a board
 * @us: microseconds; a lower value also releases submissions that still wait
 */
int tp_board_latency(const struct tp_run *run, uint32_t us)
{
	return run->has_board ? radeon_guest_board_write(board_fd, RADEON_GUEST_CTL_LATENCY_US,
					 us) : -ENODEV;
}

/**
 * tp_board_trap - read a register of the board, which costs a trap
 * @run: the run, which has a board
 */
int tp_board_trap(const struct tp_run *run)
{
	uint32_t value;

	if (!run->has_board)
		return -ENODEV;
	return radeon_guest_board_read(board_fd, RADEON_GUEST_CTL_LATENCY_US,
				       &value);
}
