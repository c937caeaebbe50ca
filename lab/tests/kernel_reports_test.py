# SPDX-License-Identifier: MIT
"""Tests of nomap_lab.kernel_reports: what is a report, where it ends, what is none."""
import unittest

from nomap_lab import kernel_reports as kr


class Reports(unittest.TestCase):
    def test_quiet_log_has_none(self):
        lines = [
            "[    0.000000] Linux version 6.12",
            "[    1.0] [drm] radeon kernel modesetting enabled.",
            "[    1.1] clocksource: Switched to clocksource tsc",
            "[    1.2] Warning: unmaintained driver",
            "[    1.3] x86/mm: Checked W+X mappings: passed, no W+X pages found.",
        ]
        self.assertEqual(list(kr.reports(lines)), [])

    def test_each_kind_is_seen(self):
        for line in [
            "WARNING: CPU: 0 PID: 1 at mm/x.c:3 f+0x1/0x2",
            "WARNING: possible circular locking dependency detected",
            "WARNING: possible recursive locking detected",
            "BUG: kernel NULL pointer dereference, address: 0",
            "kernel BUG at mm/slub.c:1!",
            "Oops: general protection fault, probably for",
            "BUG: KASAN: slab-use-after-free in f",
            "BUG: sleeping function called from invalid context at x.c:1",
            "INFO: task Xorg:12 blocked for more than 120 seconds.",
            "rcu: INFO: rcu_preempt self-detected stall on CPU",
            "watchdog: BUG: soft lockup - CPU#0 stuck for 22s!",
            "Kernel panic - not syncing: x",
            "UBSAN: array-index-out-of-bounds in x.c:1:2",
            "DMA-API: radeon 0000:00:02.0: device driver frees DMA memory with wrong function",
            "refcount_t: underflow; use-after-free.",
            "list_add corruption. prev->next should be next",
            "kmemleak: 3 new suspected memory leaks",
        ]:
            with self.subTest(line):
                self.assertEqual(len(list(kr.reports(["[ 1.0] " + line]))), 1)

    def test_report_ends_at_its_end_mark(self):
        lines = ["WARNING: CPU: 0 PID: 1 at x", "trace", "---[ end trace 0 ]---", "usual line"]
        self.assertEqual(list(kr.reports(lines)), [lines[:3]])

    def test_endless_report_is_cut(self):
        lines = ["BUG: x"] + ["line"] * 1000
        self.assertLessEqual(len(next(kr.reports(lines))), kr.MAX_LINES + 1)


if __name__ == "__main__":
    unittest.main()
