/* SPDX-License-Identifier: MIT */
/*
 * Changes of the GPU's clocks: a thread that switches between power profiles.
 */
#ifndef IGT_RADEON_PROFILES_H
#define IGT_RADEON_PROFILES_H

void igt_radeon_require_profiles(int fd);
void igt_radeon_profiles_start(void);
unsigned int igt_radeon_profiles_changes(void);
unsigned int igt_radeon_profiles_stop(void);

#endif /* IGT_RADEON_PROFILES_H */
