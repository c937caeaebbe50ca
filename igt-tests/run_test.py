# SPDX-License-Identifier: MIT
"""Tests of run: which tests it asks igt_runner for."""

import os
import pathlib
import subprocess

import pytest

RUN = pathlib.Path(__file__).with_name("run")
NEVER = "-x radeon_gem_rw_reset_fails -x radeon_cs_check -x radeon_gem_busy -x radeon_pm_profiles"


@pytest.mark.parametrize(("asked", "passed"), [
    ((), NEVER),
    # Files of this name are in each directory.
    ((".*",), f"-t .* {NEVER}"),
    (("radeon_cs_check",), "-t radeon_cs_check -x radeon_gem_rw_reset_fails -x radeon_gem_busy -x radeon_pm_profiles"),
    (("^igt@radeon_cs_check@several-buffers$",),
     "-t ^igt@radeon_cs_check@several-buffers$ -x radeon_gem_rw_reset_fails -x radeon_gem_busy -x radeon_pm_profiles"),
    (("^igt@radeon_gem_busy@moving$",),
     "-t ^igt@radeon_gem_busy@moving$ -x radeon_gem_rw_reset_fails -x radeon_cs_check -x radeon_pm_profiles"),
    (("radeon_pm_profiles",), "-t radeon_pm_profiles -x radeon_gem_rw_reset_fails -x radeon_cs_check -x radeon_gem_busy"),
    (("radeon_gem_rw_reset_fails", "@basic$"),
     "-t radeon_gem_rw_reset_fails -t @basic$ -x radeon_cs_check -x radeon_gem_busy -x radeon_pm_profiles"),
])
def test_dangerous_tests_run_only_by_name(tmp_path, asked, passed):
    # A container has no log of a kernel's.
    run = tmp_path / "run"
    run.write_text(RUN.read_text(encoding="utf-8").replace("/dev/kmsg", "/dev/null"), encoding="utf-8")
    runner = tmp_path / "igt_runner"
    runner.write_text(f'#!/bin/sh\necho "$*" >{tmp_path}/words\nexit 3\n', encoding="utf-8")
    runner.chmod(0o755)
    words = [word for expression in asked for word in ("-t", expression)]
    done = subprocess.run(["sh", run, "-r", tmp_path / "results", *words], env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
                          cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "gave no results" in done.stderr, done.stderr
    words = (tmp_path / "words").read_text(encoding="utf-8").split("--abort-on-monitored-error=taint,lockdep ")[1]
    assert words.startswith(f"{passed} {tmp_path} ")
