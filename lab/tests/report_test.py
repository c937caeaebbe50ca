# SPDX-License-Identifier: MIT
"""Tests of nomap_lab.report: what is counted, and what the files say."""

import json
import subprocess
import sys

import junitparser


def record(suite, name, status, seconds, reason="", log="", cases=()):
    return {"suite": suite, "name": name, "status": status, "seconds": seconds, "cpu": 1.0, "reason": reason, "log": log,
            "cases": list(cases)}


def run(directory, records):
    (directory / "results.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return subprocess.run([sys.executable, "-B", "-m", "nomap_lab.report", "--seconds", "61", directory],
                          capture_output=True, text=True, check=False)


def test_cases_count_instead_of_their_run(tmp_path):
    (tmp_path / "b.log").write_text("last line\x1b[0m <&>\n", encoding="utf-8")
    cases = [{"name": "p", "status": "pass", "reason": "", "seconds": 1.5, "output": []},
             {"name": "f", "status": "fail", "reason": "x < y", "seconds": 2.0, "output": ["x < y"]}]
    done = run(tmp_path, [
        record("s", "s/one", "ok", 3),
        record("s", "s/two", "fail", 4, "exit status 1: <&>", "build/check/b.log"),
        record("s", "s/three", "skip", 0, "no card"),
        record("i", "i/igt", "fail", 9, "1 of 2 cases failed", cases=cases),
    ])
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "2 passed, 2 failed, 1 skipped"
    assert "failed: i/igt/f: x < y" in done.stdout
    xml = junitparser.JUnitXml.fromfile(str(tmp_path / "junit.xml"))
    assert (xml.tests, xml.failures, xml.skipped) == (5, 2, 1)
    names = {c.classname + "/" + c.name for s in xml for c in s}
    assert names == {"nomap.s/one", "nomap.s/two", "nomap.s/three", "nomap.i/igt/p", "nomap.i/igt/f"}
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "x &lt; y" in page and "1:01 min" in page and "no card" in page


def test_all_passed(tmp_path):
    done = run(tmp_path, [record("s", "s/one", "ok", 3)])
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "1 passed, 0 failed, 0 skipped")


def test_nothing_run_is_no_success(tmp_path):
    done = run(tmp_path, [])
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "0 passed, 0 failed, 0 skipped")
