# SPDX-License-Identifier: MIT
"""Tests of verdicts.py: which kernel messages make a test fail."""

import json
import pathlib
import subprocess
import sys

import pytest

VERDICTS = pathlib.Path(__file__).with_name("verdicts.py")
PASS = {"result": "pass", "out": "", "err": "", "dmesg": ""}


def judge(path, **tests):
    (path / "results.json").write_text(json.dumps({"tests": {f"igt@{n}": {**PASS, **t} for n, t in tests.items()}}), encoding="utf-8")
    return subprocess.run([sys.executable, "-B", VERDICTS, path / "results.json", "0"], capture_output=True, text=True, check=False)


def warned(*lines):
    return {"result": "dmesg-warn", "dmesg": "".join(f"{line}\n" for line in lines)}


@pytest.mark.parametrize("line", [
    "<4> [   12.345678] hrtimer: interrupt took 12345678 ns",
    "<4> [   12.345678] clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable",
    "<4> [   12.345678] tsc: Marking TSC unstable due to clocksource watchdog",
])
def test_load_of_the_host_is_counted_and_fails_nothing(tmp_path, line):
    done = judge(tmp_path, seeds=warned(line, "<6> [   12.345700] something else"), basic={})
    assert done.returncode == 0
    assert done.stdout == "igt: 1 kernel messages speak of the host's load\nigt: 2 tests: 2 pass, 0 skip, 0 fail\n"


def test_any_other_message_fails(tmp_path):
    done = judge(tmp_path, seeds=warned("<4> [   12.345678] hrtimer: interrupt took 1 ns", "<3> [   12.4] radeon: no"))
    assert done.returncode == 1
    assert "dmesg-warn: igt@seeds" in done.stdout and "radeon: no" in done.stdout


@pytest.mark.parametrize(("program", "status"), [("radeon_cs_check", 0), ("radeon_cs_check_bounds", 0), ("radeon_gem_pread", 1)])
def test_what_the_kernel_says_of_streams_that_it_refuses(tmp_path, program, status):
    done = judge(tmp_path, **{f"{program}@several-buffers": warned(
        "<3> [   19.638946] [drm:r600_cs_common_vline_parse [radeon]] *ERROR* cannot find crtc -1",
        "<3> [   24.952275] Forbidden register 0x6538 in cs at 1",
        "<3> [   19.639918] [drm:radeon_cs_ioctl [radeon]] *ERROR* Invalid command stream !",
        "<4> [   19.726322] radeon 0000:01:00.0: vbo resource seems too big (6627328) for the bo (1048576)")})
    assert done.returncode == status


@pytest.mark.parametrize(("subtest", "status"), [("hang-suspend", 0), ("hang-suspend-late", 0), ("suspend", 1)])
def test_what_the_kernel_says_when_it_resumes_a_hung_gpu(tmp_path, subtest, status):
    done = judge(tmp_path, **{subtest: warned(
        "<4> [   21.254477] radeon 0000:01:00.0: GPU lockup (current fence id 0x36 last fence id 0x48 on ring 0)",
        "<3> [   21.742794] [TTM] Buffer eviction failed",
        "<3> [   23.746030] [drm:r600_dma_ring_test [radeon]] *ERROR* radeon: ring 3 test failed (0xCAFEDEAD)",
        "<3> [   23.747120] [drm:rv770_resume [radeon]] *ERROR* r600 startup failed on resume",
        "<3> [   23.747130] [drm:cayman_resume [radeon]] *ERROR* cayman startup failed on resume")})
    assert done.returncode == status


def test_an_ib_that_fails_on_resume_fails_the_test(tmp_path):
    done = judge(tmp_path, **{"hang-suspend": warned(
        "<4> [   21.254477] radeon 0000:01:00.0: GPU lockup (current fence id 0x36 last fence id 0x48 on ring 0)",
        "<3> [   23.749346] [drm:radeon_resume_kms [radeon]] *ERROR* ib ring test failed (-35).")})
    assert done.returncode == 1


def test_nothing_passed_is_no_success(tmp_path):
    assert judge(tmp_path, basic={"result": "skip"}).returncode == 1


def test_a_failed_assertion_is_told_before_the_signal_that_ended_the_test(tmp_path):
    err = ("Starting subtest: killed\n"
           "[114.881211] (radeon_gem_rw_reset:962) CRITICAL: Test assertion failure function test_killed, file a.c:239:\n"
           "[114.884253] (radeon_gem_rw_reset:962) CRITICAL: Failed assertion: pins == 1024\n"
           "Subtest killed: FAIL (0.150s)\nReceived signal SIGABRT.\n")
    done = judge(tmp_path, killed={"result": "fail", "err": err})
    assert done.returncode == 1
    assert done.stdout.splitlines()[:4] == [
        "fail: igt@killed", "    Test assertion failure function test_killed, file a.c:239:",
        "    Failed assertion: pins == 1024", "    Received signal SIGABRT."]
