# SPDX-License-Identifier: MIT
"""Tests of nomap_lab.cases: what counts as passed, failed and skipped, and which reason
a failure gets."""

from nomap_lab import cases

IGT_LOG = """\
dmesg-warn: radeon_gem_a@b
    a line of output
    <3> [ 1.0] radeon 0000:00:04.0: ring 0 stalled
    <3> [ 1.1] another
skip: radeon_gem_a@c
    no card
fail: radeon_gem_a@d
    (radeon_gem_a:12) CRITICAL: Test assertion failure
    Failed assertion: x == y
timeout: radeon_gem_e
igt: 5 tests: 1 pass, 1 skip, 3 fail
"""
IGT_RESULTS = {"tests": {
    "radeon_gem_a@b": {"result": "dmesg-warn", "time": {"start": 1.0, "end": 3.5}},
    "radeon_gem_a@expected": {"result": "dmesg-warn", "time": {"start": 0.0, "end": 1.0}},
}}


def by_name(found):
    return {c.name: c for c in found}


def test_igt_verdicts_and_reasons():
    found = by_name(cases.read_igt(IGT_LOG, IGT_RESULTS))
    assert found["radeon_gem_a@b"].reason == "dmesg-warn: <3> [ 1.0] radeon 0000:00:04.0: ring 0 stalled"
    assert found["radeon_gem_a@b"].seconds == 2.5
    assert (found["radeon_gem_a@c"].status, found["radeon_gem_a@c"].reason) == (cases.SKIP, "no card")
    assert found["radeon_gem_a@d"].reason.endswith("Test assertion failure")
    assert found["radeon_gem_e"].status == cases.FAIL
    # The runner calls it dmesg-warn, igt-tests/run knows that the message is expected.
    assert found["radeon_gem_a@expected"].status == cases.PASS


def test_igt_log_of_a_console_has_returns():
    found = by_name(cases.read_igt("skip: a@b\r\n    no card\r\n", None))
    assert found["a@b"].reason == "no card"


def test_skip_without_a_reason_fails():
    found = cases.judge(cases.read_igt("skip: a@b\nskip: a@c\n    why\n", None), 0, "x")
    assert [c.status for c in found] == [cases.FAIL, cases.SKIP]


def test_run_that_failed_is_a_failure_though_all_cases_passed():
    found = cases.judge([cases.Case("a", cases.PASS)], 70, "all is well\nlab/run: the guest kernel reported\n")
    assert [c.status for c in found] == [cases.PASS, cases.FAIL]
    assert found[-1].reason == "exit status 70: lab/run: the guest kernel reported"


def test_run_whose_build_failed_names_the_fault_and_the_log():
    log = """mesa: build failed:
building mesa needs 2500 MiB free in build, but only 9 MiB are left.
(log: build/.lab/build.log)
(log: another)
"""
    assert cases.judge([], 1, log)[0].reason == ("exit status 1: building mesa needs 2500 MiB free in build, but only 9 MiB "
                                                 "are left. (log: build/.lab/build.log)")


def test_run_without_a_case_is_a_failure():
    assert cases.judge([], 0, "")[0].status == cases.FAIL


def test_run_that_was_skipped_has_its_reason():
    assert cases.judge([], 77, "x\nno Linux 7\n") == [cases.Case("(run)", cases.SKIP, "no Linux 7")]


CARGO_LOG = """\
     Running unittests src/lib.rs (build/board/work/debug/deps/r7xx_board-1)

running 3 tests
test cp::tests::nop ... ok
test cp::tests::bad ... FAILED
test slow ... ignored, takes an hour

failures:

---- cp::tests::bad stdout ----
thread 'cp::tests::bad' panicked at src/cp.rs:1:1:
assertion failed: x

failures:
    cp::tests::bad

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out
     Running tests/process.rs (build/board/work/debug/deps/process-2)
test panics - should panic ... ok
"""


def test_cargo():
    found = by_name(cases.read_cargo(CARGO_LOG, None))
    assert {n: c.status for n, c in found.items()} == {
        "src/lib::cp::tests::nop": cases.PASS, "src/lib::cp::tests::bad": cases.FAIL,
        "src/lib::slow": cases.SKIP, "process::panics": cases.PASS}
    assert found["src/lib::cp::tests::bad"].reason == "assertion failed: x"
    assert found["src/lib::slow"].reason == "takes an hour"


def test_cargo_ignored_without_a_reason_fails():
    found = cases.judge(cases.read_cargo("test slow ... ignored\n", None), 0, "x")
    assert found[0].status == cases.FAIL


PIGLIT_RESULTS = {"tests": {
    "spec@a@passes": {"result": "pass", "time": {"start": 1.0, "end": 2.0}},
    "spec@a@warns": {"result": "warn", "out": "", "err": "Mesa warning: x\n"},
    "spec@a@skips": {"result": "skip", "out": "Requires GLSL 4.50\nPIGLIT: {\"result\": \"skip\" }\n"},
    "spec@a@skips-mutely": {"result": "skip"},
    "spec@a@parts": {"result": "fail", "subtests": {"one": "pass", "two": "fail"}, "out": "Probe color at (0,0)\n"},
}}


def test_piglit(tmp_path):
    import bz2
    import json

    path = tmp_path / "results.json.bz2"
    path.write_bytes(bz2.compress(json.dumps(PIGLIT_RESULTS).encode()))
    found = by_name(cases.judge(cases.read_piglit("", cases.load("piglit", path)), 0, "x"))
    assert {n: c.status for n, c in found.items()} == {
        "spec@a@passes": cases.PASS, "spec@a@warns": cases.FAIL, "spec@a@skips": cases.SKIP,
        "spec@a@skips-mutely": cases.SKIP, "spec@a@parts@one": cases.PASS, "spec@a@parts@two": cases.FAIL}
    assert found["spec@a@skips"].reason == "Requires GLSL 4.50"
    assert found["spec@a@parts@two"].reason == "fail: Probe color at (0,0)"


def test_results_that_are_missing_or_cut_are_no_cases(tmp_path):
    path = tmp_path / "results.json.bz2"
    path.write_bytes(b"BZh9")
    for name in (path, tmp_path / "none.json"):
        assert cases.judge(cases.read_piglit("", cases.load("piglit", name)), 0, "end")[0].status == cases.FAIL
