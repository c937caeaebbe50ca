/* SPDX-License-Identifier: MIT */
/*
 * What a process has and does: the X server, or its client (process.c).
 */
#ifndef GLYPHSTORM_PROCESS_H
#define GLYPHSTORM_PROCESS_H

#include <json-c/json.h>
#include <stdint.h>

/* DRM has 256 ioctls (the low byte of the command). */
#define PROCESS_IOCTLS 256u

/**
 * struct process_counts - a process at one moment
 * @maps: all mappings (lines of /proc/PID/maps)
 * @gpu_maps: those of BOs (files in /dev/dri)
 * @gpu_kib: their size
 * @rss_kib: resident memory (VmRSS)
 * @pte_kib: page tables (VmPTE)
 * @ioctls: DRM ioctls since process_watch(), by number
 * @mmaps: calls of mmap() since then
 * @munmaps: calls of munmap() since then
 */
struct process_counts {
	unsigned long maps, gpu_maps, gpu_kib, rss_kib, pte_kib;
	uint64_t ioctls[PROCESS_IOCTLS], mmaps, munmaps;
};

int process_watch(void);
int process_look(int pid, struct process_counts *now);
int process_gpu_maps(int pid, unsigned long *gpu_maps);
void process_unwatch(void);
void process_report(struct json_object *row, const struct process_counts *before,
		   const struct process_counts *now);

#endif /* GLYPHSTORM_PROCESS_H */
