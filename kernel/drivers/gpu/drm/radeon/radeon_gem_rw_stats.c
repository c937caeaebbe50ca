// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: thresholds, counters
 * and tracepoints.
 */

#include <linux/debugfs.h>
#include <linux/moduleparam.h>
#include <linux/seq_file.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>

#include "radeon.h"
#include "radeon_gem_rw.h"

#define CREATE_TRACE_POINTS
#include "radeon_gem_rw_trace.h"

/*
 * Thresholds, all in one place. Those that can be written take effect for
 * calls that begin afterwards. No value is invalid.
 */

unsigned int radeon_gem_rw_atomic_max = SZ_64K;
MODULE_PARM_DESC(gem_rw_atomic_max,
		 "Transfers of up to this many bytes are copied straight between user memory and BO, larger ones pin user memory (default 65536)");
module_param_named(gem_rw_atomic_max, radeon_gem_rw_atomic_max, uint, 0644);

unsigned int radeon_gem_rw_stage_size = SZ_2M;
MODULE_PARM_DESC(gem_rw_stage_size,
		 "Bytes of GTT memory through which the GPU copies (default 2097152, 65536 to 4194304, 0 = GPU does not copy)");
module_param_named(gem_rw_stage_size, radeon_gem_rw_stage_size, uint, 0444);

unsigned int radeon_gem_rw_stage_write_max = SZ_256K;
MODULE_PARM_DESC(gem_rw_stage_write_max,
		 "Writes of up to this many bytes to a busy BO are staged and copied by the GPU, larger ones wait (default 262144)");
module_param_named(gem_rw_stage_write_max, radeon_gem_rw_stage_write_max, uint,
		   0644);

unsigned int radeon_gem_rw_stage_read_min = SZ_16K;
MODULE_PARM_DESC(gem_rw_stage_read_min,
		 "Reads of at least this many bytes of VRAM are copied by the GPU (default 16384)");
module_param_named(gem_rw_stage_read_min, radeon_gem_rw_stage_read_min, uint,
		   0644);

unsigned int radeon_gem_rw_spin_us = 200;
MODULE_PARM_DESC(gem_rw_spin_us,
		 "Microseconds for which a read that the GPU copies polls for its end before it sleeps (default 200)");
module_param_named(gem_rw_spin_us, radeon_gem_rw_spin_us, uint, 0644);

unsigned int radeon_gem_rw_zero_copy_min = SZ_2M;
MODULE_PARM_DESC(gem_rw_zero_copy_min,
		 "Transfers of at least this many bytes are copied by the GPU straight between user memory and VRAM (default 2097152)");
module_param_named(gem_rw_zero_copy_min, radeon_gem_rw_zero_copy_min, uint,
		   0644);

bool radeon_gem_rw_clear_vram = true;
MODULE_PARM_DESC(gem_rw_clear_vram,
		 "Clear VRAM that is given to new BOs (default Y)");
module_param_named(gem_rw_clear_vram, radeon_gem_rw_clear_vram, bool, 0644);

unsigned int radeon_gem_rw_clear_cpu_max = SZ_32K;
MODULE_PARM_DESC(gem_rw_clear_cpu_max,
		 "New BOs of up to this many bytes are cleared by the CPU, larger ones by the GPU (default 32768)");
module_param_named(gem_rw_clear_cpu_max, radeon_gem_rw_clear_cpu_max, uint,
		   0644);

#if IS_ENABLED(CONFIG_DEBUG_FS)

static const char * const radeon_gem_rw_path_names[] = {
	[RADEON_GEM_RW_ATOMIC] = "atomic",
	[RADEON_GEM_RW_PINNED] = "pinned",
	[RADEON_GEM_RW_BOUNCE] = "bounce",
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
 * chunks it has transferred or BOs it has cleared, and how many bytes, and a
 * line for each event, with its name and how often it has happened.
 */
void radeon_gem_rw_debugfs_init(struct radeon_device *rdev)
{
#if IS_ENABLED(CONFIG_DEBUG_FS)
	/* The minors have no folder before the device is registered. */
	struct dentry *root = rdev_to_drm(rdev)->debugfs_root;

	debugfs_create_file("radeon_gem_rw", 0444, root, rdev,
			    &radeon_debugfs_gem_rw_fops);
#endif
}
