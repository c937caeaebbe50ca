/* SPDX-License-Identifier: MIT */
/*
 * transfer-paths: what it costs to get bytes into and out of existing BOs, by
 * PREAD, PWRITE and TRANSFER on each of the driver's paths, and by mappings.
 *
 * transfer-paths.c has the options and the plan. A case (what is transferred,
 * and where the BO is) has variants (struct tp_arm, ways to do it), which
 * measure.c measures in turns. arms.c has the variants of single uploads and
 * downloads, glyphs.c those of many small pieces, busy.c those of writes to a
 * busy BO. alternatives.c has all of these for what a client can do without
 * PREAD and PWRITE; userptr.c has its operations, events.c counts what they cost
 * the kernel. profile.c samples where variants spend their time. counters.c
 * accesses the driver's parameters and counters, and the board's. report.c writes
 * JSON, of which report.py and ../alternatives/report.py make tables.
 */
#ifndef TRANSFER_PATHS_H
#define TRANSFER_PATHS_H

#include "radeon_drm.h"
#include "radeon_drm_rw.h"

#include "bench.h"

#define TP_MAX_ARMS 12
#define TP_MAX_TURNS 15u
#define TP_MAX_OPS 64u
#define TP_MAX_ROWS 1024
#define TP_USER_BYTES (16u << 20)
/*
 * Offset in a page at which user memory begins. At or near the offset of the
 * BO, which is 0, glibc's memcpy() may copy backwards; then each page of a new
 * mapping faults instead of one in 16: it would look five times as slow.
 */
#define TP_USER_SHIFT 1024u
#define TP_PAGE 4096u
#define TP_PATHS 2
#define TP_EVENTS 5
#define TP_BOARD 13
/* Counters of the board by their index in tp_board_names. */
#define TP_BOARD_DMA_BYTES 3
#define TP_BOARD_FENCES 9
#define TP_TUNABLES 2
#define TP_TOP 8
#define TP_COSTS 9
#define TP_NAME 48

struct tp_case;
struct tp_user_bos;

/**
 * struct tp_counters - what the driver and the board have counted
 * @chunks: steps of each of the driver's paths, see tp_path_names
 * @bytes: bytes that went by each path
 * @events: see tp_event_names
 * @board: see tp_board_names; all 0 without the emulated board
 */
struct tp_counters {
	uint64_t chunks[TP_PATHS], bytes[TP_PATHS], events[TP_EVENTS];
	uint64_t board[TP_BOARD];
};

enum tp_path {
	TP_CPU,
	TP_STAGED,
};

/* Sets of paths that the driver may take for a variant. */
#define TP_BY_CPU	(1u << TP_CPU)
#define TP_BY_STAGE	(1u << TP_STAGED)
#define TP_BY_ANY	(TP_BY_CPU | TP_BY_STAGE)

/* Not a path: the DMA engine moves all bytes, by the client's own submission. */
#define TP_BY_CS	(1u << 30)
/* Returns although the GPU may still read the caller's memory. */
#define TP_BORROWS	(1u << 29)
/* The GPU's writes do not arrive: a turn is good if its contents have not. */
#define TP_LOST		(1u << 28)

enum tp_tunable {
	TP_STAGE_READ_MIN,
	TP_STAGE_WRITE_MAX,
};

/**
 * struct tp_setting - a module parameter that a variant needs
 * @tunable: the parameter
 * @value: its value for this variant
 */
struct tp_setting {
	enum tp_tunable tunable;
	unsigned int value;
};

/**
 * struct tp_arm - a variant: one way to do what a case is about
 * @name: as in results
 * @op: does it once; timed
 * @paths: set of paths by which all bytes must go, and of the flags beside them; 0:
 *	the driver moves none
 * @settings: module parameters that differ from the defaults
 * @setting_count: number of @settings
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
 * @hidden: in CPU-inaccessible VRAM
 */
struct tp_placement {
	const char *name;
	uint32_t domain, flags;
	bool hidden;
};

extern const struct tp_placement tp_placements[];
extern const unsigned int tp_placement_count;

/**
 * struct tp_row - results of one variant of a case
 * @kind: kind of the case
 * @arm: name of the variant
 * @placement: name of the placement
 * @bytes: bytes that one operation transfers
 * @units: parts of one operation, such as glyphs
 * @samples: number of operations measured
 * @min: smallest sample, in ns of the run's clock
 * @max: largest sample
 * @stat: spread of the samples
 * @turn_medians: median of each turn
 * @turns: number of turns done
 * @values: the samples in their order, if there are at most TP_MAX_OPS
 * @value_count: number of @values; 0 if there are too many
 * @counters: increments of the counters by all measured operations
 * @settings: module parameters that were not the defaults, as text
 * @top: functions that most samples of the profile hit, see tp_profile()
 * @top_count: number of functions in @top
 * @top_samples: number of samples of the profile
 * @lost: the GPU's writes are known not to arrive, and did not
 * @costs: events of @cost_ops operations, see tp_cost_names
 * @cost_ops: operations in whose course @costs were counted; 0: not counted
 * @waited: samples of a busy BO that took more than half as long as its earlier work
 * @captured: samples of a busy BO whose bytes were those that the caller's memory had
 *	before the call returned
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
	uint64_t costs[TP_COSTS];
	unsigned int cost_ops, waited, captured;
	bool lost;
	unsigned int verified;
	char error[120];
};

/**
 * struct tp_options - the command line
 * @quick: few sizes and samples
 * @count: count instructions: time is the thread's CPU time
 * @profile: sample where each variant spends its time
 * @only: kind of cases to measure, or NULL for all
 * @json: file for the results, or NULL
 * @verbose: tell about progress
 */
struct tp_options {
	bool quick, count, profile, verbose;
	const char *only, *json;
};

/**
 * struct tp_run - a run and its results
 * @dev: the device
 * @options: the command line
 * @clock: clock of all samples
 * @clock_cost: cost of reading it, contained once in each sample
 * @turns: number of turns of each variant of a case
 * @start: time at which the run began, CLOCK_MONOTONIC
 * @memory: user memory without huge pages: TP_USER_BYTES, and a page more for
 *	each turn
 * @user: the part of @memory in use; it begins a page later each turn. In the
 *	TLB of an emulated CPU, pages of the BO can collide with pages of user
 *	memory. If one does, all do, and a copy takes ten times as long.
 * @scratch: memory of the same size, for the contents that are expected
 * @defaults: default values of the module parameters
 * @has_board: the device is the emulated board; its control block can be read
 * @write_combined: BOs of "gtt-wc" are so, see tp_is_write_combined()
 * @events: cases are run to count events (events.c), after they have been measured
 * @rows: results
 * @row_count: number of @rows
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
	bool has_board, write_combined, events;
	struct tp_row rows[TP_MAX_ROWS];
	unsigned int row_count;
};

/**
 * struct tp_case - a transfer that is measured in several variants
 * @run: the run
 * @kind: as in results
 * @placement: of the BO
 * @bytes: bytes that one operation transfers
 * @units: parts of one operation
 * @ops: operations in a turn
 * @arms: the variants
 * @arm_count: number of @arms
 * @handle: the BO
 * @size: size of the BO in bytes
 * @map: its mapping that is kept, or NULL
 * @helper: BO in GTT, to or from which the GPU copies contents; 0: none
 * @helper_map: its mapping
 * @many: data of its own that a kind of cases needs, or NULL
 * @user_bos: BOs of user memory and windows that the case keeps, or NULL
 * @fixed: user memory begins at the same address in each turn
 * @prepare: makes the bytes that the operations of a turn will transfer,
 *	different for each @seed
 * @check: checks that these bytes have arrived; sets *@good
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
	struct tp_user_bos *user_bos;
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

/* arms.c */
void tp_single_init(struct tp_run *run, struct tp_case *c, unsigned int size,
		    bool write, const struct tp_placement *placement);
unsigned int tp_single_first(const struct tp_case *c, bool write,
			     struct tp_arm *arms);
extern const uint64_t tp_sizes[];
extern const unsigned int tp_size_count;

/* busy.c */
int tp_busy_sample(struct tp_case *c, const struct tp_arm *arm,
		   struct tp_row *row, uint64_t *time, uint64_t seed,
		   uint32_t latency);

/* glyphs.c */
#define TP_GLYPHS 1000u
#define TP_GLYPH_BYTES 256u

/**
 * struct tp_glyphs - where the glyphs of a case go
 * @regions: for TRANSFER
 * @handles: BOs of the glyphs, where each has its own
 */
struct tp_glyphs {
	struct drm_radeon_gem_transfer_region regions[TP_GLYPHS];
	uint32_t handles[TP_GLYPHS];
};

int tp_glyphs_transfer(struct tp_case *c);
int tp_glyphs_pwrite(struct tp_case *c);
void tp_glyphs_many(struct tp_run *run, const struct tp_placement *placement,
		    const struct tp_arm *arms, unsigned int count);

/* userptr.c */
extern const struct tp_arm tp_user_up[], tp_user_down[], tp_user_many[];
extern const unsigned int tp_user_up_count, tp_user_down_count,
			  tp_user_many_count;
int tp_user_init(struct tp_case *c, bool write);
void tp_user_fini(struct tp_case *c);

/* events.c */
extern const char * const tp_cost_names[TP_COSTS];
int tp_events_open(void);
void tp_events_close(void);
int tp_costs(struct tp_case *c, const struct tp_arm *arm, struct tp_row *row);

/* Kinds of cases. Their rows have their errors. */
void tp_single(struct tp_run *run);
void tp_ladder(struct tp_run *run);
void tp_bus(struct tp_run *run);
void tp_glyphs(struct tp_run *run);
void tp_busy(struct tp_run *run);
void tp_alternatives(struct tp_run *run);

/* report.c */
int tp_write_json(const struct tp_run *run, const char *path);

#endif /* TRANSFER_PATHS_H */
