# SPDX-License-Identifier: MIT
"""Sets of IGT tests that several suites run: regular expressions for -t and -x of igt-tests/run."""

#: They hold engines back for longer than others are given before a reset: they need a boot of
#: their own, with radeon.lockup_timeout=60000.
HELD = "radeon_gem_rw_(fairness|pages|flags@(no-engine|pending-dword)|caches@cpu-reads-after-gpu)"
#: All that the suite igt runs in boots of their own.
OWN_BOOT = "radeon_gem_rw_(fairness|pages|between|reset|caches|reclock|steps|vm|flags@(no-engine|pending-dword))"
#: It crashes a driver without the fixes in kernel/fixes/. igt-tests/run leaves it out unless it is asked for.
CS_CHECK = "radeon_cs_check"
#: The least that each placement of a BO has to do.
BASIC = "radeon_gem_(pread|pwrite)@(basic|unaligned|vram|gtt)$"
