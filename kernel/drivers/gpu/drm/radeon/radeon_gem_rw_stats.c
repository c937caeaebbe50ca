// SPDX-License-Identifier: MIT
/*
 * Reading and writing GEM objects without mapping them: thresholds, and what
 * is counted.
 */

#include <linux/moduleparam.h>

#include "radeon_gem_rw.h"

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
