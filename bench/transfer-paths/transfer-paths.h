/* SPDX-License-Identifier: MIT */
/*
 * transfer-paths: what it costs to get bytes into and out of existing BOs, by
 * PREAD, PWRITE and TRANSFER on each of the driver's paths, and by mappings.
 *
 * transfer-paths.c has the options and the plan. A case (what is transferred,
 * and where the BO is) is measured with all its arms (ways to do it) in turns
 * by measure.c. arms.c has the arms of single uploads and downloads,
 * glyphs.c those of many small pieces, busy.c writes to a busy BO.
 * profile.c finds
 * out where they spend their time. counters.c knows the driver's parameters and counters, and the board's,
 * report.c writes JSON; report.py makes tables of it.
 */
#ifndef TRANSFER_PATHS_H
#define TRANSFER_PATHS_H

#include "bench.h"

#define TP_MAX_ARMS 12
#define TP_MAX_TURNS 15u
#define TP_MAX_OPS 64u
#define TP_MAX_ROWS 1024
#define TP_USER_BYTES (16u << 20)
/*
 * User memory begins there in a page. At or near the beginning, as that of the
 * BO, glibc's memcpy() may prefer to copy backwards, so that each page of a new
 * mapping faults, and not one in 16: a mapping would look five times as slow.
 */
#define TP_USER_SHIFT 1024u
#define TP_PAGE 4096u
#define TP_PATHS 3
#define TP_EVENTS 6
#define TP_BOARD 10
#define TP_TUNABLES 3
#define TP_TOP 8
#define TP_NAME 48

struct tp_case;

/**
 * struct tp_counters - what the driver and the board have counted
 * @chunks: of each of the driver's paths, see tp_path_names
 * @bytes: likewise
 * @events: see tp_event_names
 * @board: see tp_board_names
 */
struct tp_counters {
	uint64_t chunks[TP_PATHS], bytes[TP_PATHS], events[TP_EVENTS];
	uint64_t board[TP_BOARD];
};

enum tp_path {
	TP_CPU,
	TP_STAGED,
	TP_ZERO_COPY,
};

/* Sets of paths: of which ones the driver must have taken one. */
#define TP_BY_CPU	(1u << TP_CPU)
#define TP_BY_STAGE	(1u << TP_STAGED)
#define TP_BY_ZERO_COPY	(1u << TP_ZERO_COPY)
/* But what does not fill a page at either end is read by the CPU. */
#define TP_EDGES	(1u << 31)
#define TP_BY_ANY	(TP_BY_CPU | TP_BY_STAGE | TP_BY_ZERO_COPY)

enum tp_tunable {
	TP_STAGE_READ_MIN,
	TP_ZERO_COPY_MIN,
	TP_STAGE_WRITE_MAX,
};

/**
 * struct tp_setting - a module parameter that an arm needs
 * @tunable: which
 * @value: other than the default
 */
struct tp_setting {
	enum tp_tunable tunable;
	unsigned int value;
};

/**
 * struct tp_arm - one way to do what a case is about
 * @name: as in results
 * @op: does it once; timed
 * @paths: all bytes must have gone by paths of this set; 0: by none
 * @settings: of the driver meanwhile
 * @setting_count: how many
 */
struct tp_arm {
	const char *name;
	int (*op)(struct tp_case *c);
	unsigned int paths;
	struct tp_setting settings[3];
	unsigned int setting_count;
};

/**
 * struct tp_placement - where a BO is
 * @name: as in options and results
 * @domain: RADEON_GEM_DOMAIN_*
 * @flags: for DRM_RADEON_GEM_CREATE
 * @hidden: where the CPU cannot reach it
 */
struct tp_placement {
	const char *name;
	uint32_t domain, flags;
	bool hidden;
};

extern const struct tp_placement tp_placements[];
extern const unsigned int tp_placement_count;

/**
 * struct tp_row - what was found for one arm of a case
 * @kind: of the case
 * @arm: name
 * @placement: name
 * @bytes: that one operation transfers
 * @units: parts it consists of
 * @samples: operations measured
 * @min: the least
 * @max: the most
 * @stat: their spread, in units of the clock
 * @turn_medians: medians of each turn
 * @turns: how many turns
 * @values: the samples in their order, if there are few
 * @value_count: how many
 * @counters: what all operations together have moved them by
 * @settings: of the driver that were not the defaults
 * @top: functions in which it was found most often, see tp_profile()
 * @top_count: how many
 * @top_samples: of how many samples
 * @verified: turns at whose end the contents were right
 * @error: what went wrong, or ""
 */
struct tp_row {
	const char *kind, *arm, *placement;
	uint64_t bytes;
	unsigned int units, samples;
	uint64_t min, max;
	struct bench_stat stat;
	uint64_t turn_medians[TP_MAX_TURNS];
	unsigned int turns;
	uint64_t values[TP_MAX_OPS];
	unsigned int value_count;
	struct tp_counters counters;
	char settings[80];
	struct {
		char name[TP_NAME];
		unsigned int hits;
	} top[TP_TOP];
	unsigned int top_count, top_samples;
	unsigned int verified;
	char error[120];
};

/**
 * struct tp_options - the command line
 * @quick: few sizes and samples
 * @count: count instructions: time is the thread's CPU time
 * @profile: find out where each arm spends its time
 * @only: kind of cases to measure, or NULL for all
 * @json: file for the results, or NULL
 * @verbose: tell about progress
 */
struct tp_options {
	bool quick, count, profile, verbose;
	const char *only, *json;
};

/**
 * struct tp_run - a run, and what it found
 * @dev: the device
 * @options: the command line
 * @clock: what is measured with
 * @clock_cost: cost of reading it, contained once in each sample
 * @turns: how often each arm of a case has its turn
 * @start: of the run, CLOCK_MONOTONIC
 * @memory: user memory without huge pages, large enough for TP_USER_BYTES at
 *	each of the places where it will begin
 * @user: what is used of it: begins a page later each turn. Emulated CPUs have
 *	a TLB in which a page of a BO can be in the way of a page of user
 *	memory. Where it is, all pages of both are, and a copy takes ten times
 *	as long.
 * @scratch: as much, to compare contents with
 * @defaults: of the module parameters
 * @has_board: the device is the emulated board, and may be asked
 * @write_combined: "gtt-wc" is what it says, see tp_is_write_combined()
 * @rows: results
 * @row_count: how many
 */
struct tp_run {
	struct bench_device dev;
	const struct tp_options *options;
	clockid_t clock;
	uint64_t clock_cost;
	unsigned int turns;
	uint64_t start;
	uint8_t *memory, *user, *scratch;
	unsigned int defaults[TP_TUNABLES];
	bool has_board, write_combined;
	struct tp_row rows[TP_MAX_ROWS];
	unsigned int row_count;
};

/**
 * struct tp_case - what is measured with several arms
 * @run: the run
 * @kind: as in results
 * @placement: of the BO
 * @bytes: that one operation transfers
 * @units: parts it consists of
 * @ops: operations in a turn
 * @arms: the arms
 * @arm_count: how many
 * @handle: the BO
 * @size: its bytes
 * @map: its mapping that is kept, or NULL
 * @helper: BO in GTT by which contents are made and looked at by the GPU where
 *	the CPU cannot
 * @helper_map: its mapping
 * @many: more of what a kind of cases needs
 * @fixed: user memory has to stay where it is
 * @prepare: makes the bytes that the operations of a turn will transfer,
 *	different for each @seed
 * @check: looks whether they are where they belong; sets *@good
 */
struct tp_case {
	struct tp_run *run;
	const char *kind;
	const struct tp_placement *placement;
	uint64_t bytes;
	unsigned int units, ops;
	const struct tp_arm *arms;
	unsigned int arm_count;
	uint32_t handle;
	uint64_t size;
	void *map;
	uint32_t helper;
	void *helper_map;
	void *many;
	bool fixed;
	int (*prepare)(struct tp_case *c, uint64_t seed);
	int (*check)(struct tp_case *c, uint64_t seed, bool *good);
};

/* counters.c */
extern const char * const tp_path_names[TP_PATHS];
extern const char * const tp_event_names[TP_EVENTS];
extern const char * const tp_board_names[TP_BOARD];
int tp_counters_init(struct tp_run *run);
int tp_counters_read(const struct tp_run *run, struct tp_counters *now);
void tp_counters_add(struct tp_counters *sum, const struct tp_counters *from,
		     const struct tp_counters *to);
int tp_tune(const struct tp_run *run, const struct tp_arm *arm);
void tp_tune_reset(const struct tp_run *run);
bool tp_is_write_combined(const struct tp_run *run);
void tp_describe(const struct tp_arm *arm, char *text, size_t size);
int tp_board_latency(const struct tp_run *run, uint32_t us);
int tp_board_trap(const struct tp_run *run);

/* measure.c */
void tp_pattern(void *data, uint64_t bytes, uint64_t seed);
bool tp_is_pattern(struct tp_run *run, const void *data, uint64_t bytes,
		   uint64_t seed);
struct tp_row *tp_row(struct tp_run *run, const char *kind,
		      const struct tp_placement *placement,
		      const struct tp_arm *arm, uint64_t bytes,
		      unsigned int units);
void tp_row_times(struct tp_row *row, uint64_t *times, unsigned int n);
void tp_row_paths(struct tp_row *row, const struct tp_arm *arm);
void tp_progress(const struct tp_run *run, const char *kind,
		 const char *placement, uint64_t bytes);
int tp_measure(struct tp_case *c);
int tp_case_bo(struct tp_case *c, uint64_t size);
void tp_case_fini(struct tp_case *c);

/* profile.c */
int tp_profile(struct tp_case *c, const struct tp_arm *arm, struct tp_row *row);

/* Kinds of cases. All that goes wrong in them is in their rows. */
void tp_single(struct tp_run *run);
void tp_ladder(struct tp_run *run);
void tp_glyphs(struct tp_run *run);
void tp_busy(struct tp_run *run);

/* report.c */
int tp_write_json(const struct tp_run *run, const char *path);

#endif /* TRANSFER_PATHS_H */
