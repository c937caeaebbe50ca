/* SPDX-License-Identifier: MIT */
/*
 * Suspending the devices of a machine that stays on.
 */
#ifndef IGT_RADEON_SUSPEND_H
#define IGT_RADEON_SUSPEND_H

void igt_radeon_require_suspend(void);
void igt_radeon_suspend_devices(void);

#endif /* IGT_RADEON_SUSPEND_H */
