/* SPDX-License-Identifier: MIT */
/*
 * What an X server has and does, as its process shows it (server.c).
 */
#ifndef GLYPHSTORM_SERVER_H
#define GLYPHSTORM_SERVER_H

#include <json-c/json.h>
#include <stdint.h>

/* DRM has 256 ioctls (the low byte of the command). */
#define SERVER_IOCTLS 256u

/**
 * struct server_counts - a process at one moment
 * @maps: all mappings (lines of /proc/PID/maps)
 * @gpu_maps: those of BOs (files in /dev/dri)
 * @gpu_kib: their size
 * @rss_kib: resident memory (VmRSS)
 * @pte_kib: page tables (VmPTE)
 * @ioctls: DRM ioctls since server_watch(), by number
 * @mmaps: calls of mmap() since then
 * @munmaps: calls of munmap() since then
 */
struct server_counts {
	unsigned long maps, gpu_maps, gpu_kib, rss_kib, pte_kib;
	uint64_t ioctls[SERVER_IOCTLS], mmaps, munmaps;
};

int server_watch(int pid);
int server_look(struct server_counts *now);
int server_gpu_maps(unsigned long *gpu_maps);
void server_unwatch(void);
void server_report(struct json_object *row, const struct server_counts *before,
		   const struct server_counts *now);

#endif /* GLYPHSTORM_SERVER_H */
