/* SPDX-License-Identifier: MIT */
/*
 * live-bos: what one more 4 KiB BO costs a process that already has N live.
 *
 * live-bos.c plans and leads the run; each arm and domain is a child process
 * of its own (worker.c) that talks to it by messages. arms.c has the arms,
 * libdrm.c those that go through libdrm_radeon, verify.c the check of contents,
 * as-2011.c the measurement of 2011, report.c table and JSON. bench.h has the code shared with other benchmarks.
 *
 * As in bench.h, functions that return int return 0 or a negative errno unless
 * they say otherwise.
 */
#ifndef LIVE_BOS_H
#define LIVE_BOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench.h"

#define LB_BO_SIZE 4096u
#define LB_WORDS (LB_BO_SIZE / 8)
#define LB_MAX_ARMS 10
#define LB_MAX_DOMAINS 4
#define LB_MAX_LIVE 32
#define LB_MAX_SAMPLES 10001
/* A population is measured in that many turns, so that a short disturbance
 * affects few of an arm's samples.
 */
#define LB_TURNS 7u

/**
 * struct lb_bo - one live BO
 * @handle: GEM handle
 * @domain: RADEON_GEM_DOMAIN_* in which it was made, if the arm has its own ioctls
 * @map: its mapping, if the arm keeps one
 * @object: libdrm_radeon's BO, if the arm goes through that library
 */
struct lb_bo {
	uint32_t handle, domain;
	void *map;
	struct radeon_bo *object;
};

struct lb_options;

/**
 * struct lb_arm - one way to fill BOs
 * @name: as in options and results
 * @needs_rw: needs a kernel with PREAD and PWRITE
 * @extra: runs only if it is asked for by name
 * @start: called once, before maps are counted; may be NULL. -ENOTSUP: the arm
 *	cannot run here, and "why" (of "size" bytes) has the reason
 * @create: makes a BO in a RADEON_GEM_DOMAIN_*; timed
 * @upload: fills it with LB_BO_SIZE bytes; timed
 * @destroy: releases what @create and @upload made; timed
 * @call: name of the call in @upload that can fail, for messages
 */
struct lb_arm {
	const char *name;
	bool needs_rw, extra;
	int (*start)(const struct bench_device *dev,
		     const struct lb_options *options, char *why, size_t size);
	int (*create)(const struct bench_device *dev, uint32_t domain,
		      struct lb_bo *bo);
	int (*upload)(const struct bench_device *dev, struct lb_bo *bo,
		      const void *data);
	int (*destroy)(const struct bench_device *dev, struct lb_bo *bo);
	const char *call;
};

extern const struct lb_arm lb_arms[];
extern const unsigned int lb_arm_count;

/* The operations of arms that go through libdrm_radeon (libdrm.c). */
int lb_libdrm_start(const struct bench_device *dev,
		    const struct lb_options *options, char *why, size_t size);
int lb_debian_start(const struct bench_device *dev,
		    const struct lb_options *options, char *why, size_t size);
int lb_libdrm_create(const struct bench_device *dev, uint32_t domain,
		     struct lb_bo *bo);
int lb_libdrm_destroy(const struct bench_device *dev, struct lb_bo *bo);
int lb_libdrm_upload(const struct bench_device *dev, struct lb_bo *bo,
		     const void *data);
int lb_libdrm_upload_map(const struct bench_device *dev, struct lb_bo *bo,
			 const void *data);

/**
 * struct lb_domain - where BOs are made
 * @name: as in options and results
 * @domain: RADEON_GEM_DOMAIN_*
 */
struct lb_domain {
	const char *name;
	uint32_t domain;
};

extern const struct lb_domain lb_domains[];
extern const unsigned int lb_domain_count;

/**
 * enum lb_verify - how contents are checked
 * @LB_VERIFY_AUTO: all by PREAD and some by the GPU; all by the GPU where the
 *	kernel has no PREAD
 * @LB_VERIFY_PREAD: all by PREAD
 * @LB_VERIFY_GPU: all by GPU copies into a BO that is read by a mapping
 */
enum lb_verify {
	LB_VERIFY_AUTO,
	LB_VERIFY_PREAD,
	LB_VERIFY_GPU,
};

/**
 * struct lb_check - a BO to which the GPU copies what is to be checked
 * @handle: GEM handle
 * @map: its mapping, made before the limit of maps is reached
 */
struct lb_check {
	uint32_t handle;
	uint8_t *map;
};

int lb_check_init(const struct bench_device *dev, struct lb_check *check);
void lb_contents(uint64_t words[LB_WORDS], unsigned int arm,
		 unsigned int domain, uint64_t index);
int lb_verify(const struct bench_device *dev, const struct lb_check *check,
	      enum lb_verify how, unsigned int arm, unsigned int domain,
	      const struct lb_bo *bos, unsigned int first, unsigned int end,
	      unsigned int *wrong);

/**
 * struct lb_row - results of an arm in a domain at one population
 * @arm: index in lb_arms
 * @domain: index in lb_domains
 * @requested: BOs that were to be live
 * @live: BOs that were live
 * @maps: mappings of the process beyond those it started with
 * @samples: BOs created, filled and destroyed on top; 0: not measured
 * @create: cost of making a BO
 * @upload: cost of filling it
 * @destroy: cost of releasing it
 * @vmpte_kib: page tables of the process (VmPTE)
 * @verified: live BOs whose contents were checked and right
 * @error: what ended the arm, or ""
 */
struct lb_row {
	unsigned int arm, domain;
	unsigned int requested, live, maps, samples;
	struct bench_stat create, upload, destroy;
	unsigned int vmpte_kib, verified;
	char error[120];
};

/**
 * enum lb_op - commands to a worker
 * @LB_GROW: make BOs until the population is reached
 * @LB_MEASURE: take the samples of one turn at this population
 * @LB_VERIFY_NEW: check the BOs not yet checked
 * @LB_VERIFY_ALL: check all
 * @LB_QUIT: end
 */
enum lb_op {
	LB_GROW,
	LB_MEASURE,
	LB_VERIFY_NEW,
	LB_VERIFY_ALL,
	LB_QUIT,
};

/**
 * struct lb_command - one message to a worker; it answers with its lb_row
 * @op: what to do
 * @value: for LB_GROW the population, for LB_MEASURE the turn
 */
struct lb_command {
	enum lb_op op;
	unsigned int value;
};

/**
 * struct lb_options - the command line
 * @arms: which of lb_arms
 * @domains: which of lb_domains
 * @live: populations of all domains, ascending
 * @live_count: number of populations in @live
 * @wanted: for each domain and population: is it measured?
 * @samples: BOs measured at each population
 * @verify: how contents are checked
 * @libdrm: file of the libdrm_radeon with nomap's series, or NULL
 * @json: file for the results, or NULL
 * @verbose: report on stderr how long each phase takes
 * @quick: few populations and samples
 * @as_2011: also measure what the report of 2011 measured
 * @fitting: a population that does not fit the card is no failure
 * @count: count instructions; the report of 2011 is left out then
 * @clock: clock of all samples: with @count that of the thread's CPU time
 */
struct lb_options {
	bool arms[LB_MAX_ARMS], domains[LB_MAX_DOMAINS];
	unsigned int live[LB_MAX_LIVE], live_count;
	bool wanted[LB_MAX_DOMAINS][LB_MAX_LIVE];
	unsigned int samples;
	enum lb_verify verify;
	const char *libdrm, *json;
	bool verbose, quick, as_2011, fitting, count;
	clockid_t clock;
};

int lb_worker(int socket, unsigned int arm, unsigned int domain,
	      const struct lb_options *options);

/* Sizes of the BOs of 2011: 1 to that many bytes. */
#define LB_2011_BYTES 16384u

/**
 * struct lb_2011_row - results of the measurement of 2011 at one population
 * @workaround: mapped in an area of addresses of the process's own (MAP_FIXED)
 * @requested: BOs that were to be live
 * @live: BOs that were live
 * @maps: mappings of the process beyond those it started with
 * @samples: pairs of operations measured; 0: not measured
 * @make: cost of making and mapping a BO
 * @destroy: cost of unmapping and destroying one
 * @error: why it was not measured, or ""
 */
struct lb_2011_row {
	bool workaround;
	unsigned int requested, live, maps, samples;
	struct bench_stat make, destroy;
	char error[120];
};

/**
 * struct lb_results - the results of a run
 * @as_2011: rows of the measurement of 2011
 * @as_2011_count: their number, 0: not measured
 * @max_map_count: vm.max_map_count as it was found
 * @max_map_count_2011: the same, raised for @as_2011
 * @lockstep: largest population that all arms had at the same time
 * @clock_ns: cost of reading the clock, contained once in each time
 * @vma_bytes: kernel memory of one mapping, 0: not known
 */
struct lb_results {
	const struct lb_options *options;
	const struct bench_device *dev;
	struct lb_row *rows;
	struct lb_2011_row *as_2011;
	unsigned int count, as_2011_count;
	unsigned int lockstep;
	unsigned int max_map_count, max_map_count_2011;
	uint64_t clock_ns;
	unsigned int vma_bytes;
};

void lb_as_2011(struct lb_results *results);
void lb_print(FILE *out, const struct lb_results *results);
int lb_write_json(const char *path, const struct lb_results *results);

#endif /* LIVE_BOS_H */
