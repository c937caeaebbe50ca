/* SPDX-License-Identifier: MIT */
/*
 * Fault injection: makes the nth allocation of a thread, or its nth access to
 * user memory, fail. Uses fail-nth of the kernel's
 * Documentation/fault-injection.
 */
#ifndef IGT_RADEON_FAULTS_H
#define IGT_RADEON_FAULTS_H

#include <stdbool.h>

/* More than any call has: a sweep that gets here would never end. */
#define IGT_RADEON_MAX_FAULTS	3000

/**
 * enum igt_radeon_fault - kind of operation that fails
 * @IGT_RADEON_FAULT_ALLOC: allocations of slabs and pages
 * @IGT_RADEON_FAULT_USERCOPY: copies from and to user memory
 */
enum igt_radeon_fault {
	IGT_RADEON_FAULT_ALLOC,
	IGT_RADEON_FAULT_USERCOPY,
};

void igt_radeon_require_faults(void);
void igt_radeon_choose_faults(enum igt_radeon_fault fault);
void igt_radeon_arm(unsigned int nth);
bool igt_radeon_disarm(void);

#endif /* IGT_RADEON_FAULTS_H */
