// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: counters.
 */

#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>

#include "radeon.h"
#include "radeon_gem_rw.h"

#if IS_ENABLED(CONFIG_DEBUG_FS)

static const char * const radeon_gem_rw_path_names[] = {
	[RADEON_GEM_RW_CPU] = "cpu",
	[RADEON_GEM_RW_STAGED] = "staged",
	[RADEON_GEM_RW_ZERO_COPY] = "zero_copy",
	[RADEON_GEM_RW_CLEAR_CPU] = "clear_cpu",
	[RADEON_GEM_RW_CLEAR_GPU] = "clear_gpu",
	[RADEON_GEM_RW_CLEAR_HOP] = "clear_hop",
};

static const char * const radeon_gem_rw_event_names[] = {
	[RADEON_GEM_RW_STALL_AVOIDED] = "stall_avoided",
	[RADEON_GEM_RW_STALL] = "stall",
	[RADEON_GEM_RW_NOT_RESIDENT] = "not_resident",
	[RADEON_GEM_RW_NOT_PINNED] = "not_pinned",
	[RADEON_GEM_RW_NOT_STAGED] = "not_staged",
	[RADEON_GEM_RW_MOVED] = "moved",
	[RADEON_GEM_RW_REPLAYED] = "replayed",
};

static int radeon_debugfs_gem_rw_show(struct seq_file *m, void *unused)
{
	struct radeon_device *rdev = m->private;
	struct radeon_gem_rw_state *state = rdev->gem_rw;
	unsigned int i;

	if (!state)
		return 0;

	for (i = 0; i < RADEON_GEM_RW_PATHS; i++)
		seq_printf(m, "%s %lld %lld\n", radeon_gem_rw_path_names[i],
			   atomic64_read(&state->calls[i]),
			   atomic64_read(&state->bytes[i]));
	for (i = 0; i < RADEON_GEM_RW_EVENTS; i++)
		seq_printf(m, "%s %lld\n", radeon_gem_rw_event_names[i],
			   atomic64_read(&state->events[i]));

	return 0;
}

DEFINE_SHOW_ATTRIBUTE(radeon_debugfs_gem_rw);

#endif

/**
 * radeon_gem_rw_debugfs_init - make the counters readable
 * @rdev: the device
 *
 * The file radeon_gem_rw has a line for each path, with its name, how many
 * steps it has done or BOs it has cleared, and how many bytes, and a
 * line for each event, with its name and how often it has happened.
 */
void radeon_gem_rw_debugfs_init(struct radeon_device *rdev)
{
#if IS_ENABLED(CONFIG_DEBUG_FS)
	/* The minors have no directory before the device is registered. */
	struct dentry *root = rdev_to_drm(rdev)->debugfs_root;

	debugfs_create_file("radeon_gem_rw", 0444, root, rdev,
			    &radeon_debugfs_gem_rw_fops);
#endif
}
