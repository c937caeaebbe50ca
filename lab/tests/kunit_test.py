# SPDX-License-Identifier: MIT
"""Tests of nomap_lab.kunit: what passed, what failed and why, as the kernel's log has it."""
import unittest

from nomap_lab import kunit

LOG = """\
[    1.000001]     KTAP version 1
[    1.000002]     # Subtest: radeon_gem_rw
[    1.000003]     # module: radeon
[    1.000004]     1..3
[    1.000005]     ok 1 radeon_gem_rw_test_choose
[    1.000006]     # radeon_gem_rw_test_share: EXPECTATION FAILED at drivers/gpu/drm/radeon/radeon_gem_rw_test.c:3
[    1.000007]     Expected xa_empty(&gpu->held[0]) to be true, but is false
[    1.000008]     not ok 2 radeon_gem_rw_test_share
[    1.000009]         KTAP version 1
[    1.000010]         # Subtest: radeon_gem_rw_test_cp_dma
[    1.000011]         ok 1 RV670
[    1.000012]     # radeon_gem_rw_test_cp_dma: EXPECTATION FAILED at drivers/gpu/drm/radeon/radeon_gem_rw_ring_test.c:9
[    1.000013]     Expected state->idle to be true, but is false
[    1.000014]     # radeon_gem_rw_test_cp_dma: ASSERTION FAILED at drivers/gpu/drm/radeon/radeon_gem_rw_ring_test.c:10
[    1.000015]     Expected i < n
[    1.000016]         not ok 2 CAYMAN
[    1.000017]     # radeon_gem_rw_test_cp_dma: pass:1 fail:1 skip:0 total:2
[    1.000018]     not ok 3 radeon_gem_rw_test_cp_dma
[    1.000019]     ok 4 radeon_gem_rw_test_later # SKIP no time
[    1.000020] # radeon_gem_rw: pass:1 fail:2 skip:1 total:4
[    1.000021] not ok 1 radeon_gem_rw
[    1.000022] [drm] radeon kernel modesetting enabled.
"""


class Results(unittest.TestCase):
    def test_each_test_has_a_result_and_its_first_message(self):
        self.assertEqual(kunit.results(LOG), {
            "radeon_gem_rw_test_choose": ("pass", ""),
            "radeon_gem_rw_test_share": ("fail", "Expected xa_empty(&gpu->held[0]) to be true, but is false"),
            "radeon_gem_rw_test_cp_dma": ("fail", "CAYMAN: Expected state->idle to be true, but is false"),
            "radeon_gem_rw_test_later": ("skip", ""),
        })

    def test_a_log_without_tests_has_none(self):
        self.assertEqual(kunit.results("[    1.0] [drm] radeon kernel modesetting enabled.\n"), {})

    def test_as_igt_runner_writes_results(self):
        tests = kunit.as_igt(LOG)["tests"]
        self.assertEqual(tests["kunit@radeon_gem_rw_test_choose"], {"result": "pass", "out": "", "err": ""})
        self.assertEqual(tests["kunit@radeon_gem_rw_test_cp_dma"]["result"], "fail")
        self.assertIn("CRITICAL: CAYMAN: Expected", tests["kunit@radeon_gem_rw_test_cp_dma"]["err"])


if __name__ == "__main__":
    unittest.main()
