/* SPDX-License-Identifier: MIT */
/*
 * Helpers of the radeon tests that do not concern the device.
 *
 * A function asserts that its work succeeds, unless its comment says that it
 * returns an error. Then it returns 0 or a negative errno.
 */
#ifndef IGT_RADEON_SYS_H
#define IGT_RADEON_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Size of a page of the GPU, and of the CPUs that these tests run on. */
#define PAGE			4096u

#define KIB			1024u
#define MIB			(1024u * KIB)

/* Memory, time and random numbers */
void *igt_radeon_malloc(size_t size);
uint8_t *igt_radeon_memory(size_t size);
void igt_radeon_pattern(void *mem, size_t size, uint32_t seed);
void igt_radeon_assert_equal(const void *got, const void *model, uint64_t size,
			     const char *what);
double igt_radeon_now(void);
uint32_t igt_radeon_random(void);

/* Signals */
void igt_radeon_start_timer(unsigned int us);
void igt_radeon_stop_timer(void);

/* Files of sysfs, procfs and debugfs */
ssize_t igt_radeon_get(const char *path, char *text, size_t size);
bool igt_radeon_put(const char *path, const char *text);
void igt_radeon_vmstats(const char *const *names, uint64_t *values,
			unsigned int count);
uint64_t igt_radeon_vmstat(const char *name);
void igt_radeon_mount_debugfs(void);
bool igt_radeon_debugfs(int fd, const char *name, char *path, size_t size);

/* The kernel's log */
int igt_radeon_kmsg_open(void);
unsigned int igt_radeon_kmsg_count(int kmsg, const char *text);

/* The process */
unsigned int igt_radeon_count_maps(const char *containing);
void igt_radeon_drop_sys_admin(void);

#endif /* IGT_RADEON_SYS_H */
