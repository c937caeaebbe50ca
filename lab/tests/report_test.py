# SPDX-License-Identifier: MIT
"""Tests of nomap_lab.report: what is counted, and what the files say."""

import json
import subprocess
import sys

import junitparser


def run(directory, lines):
    (directory / "results.tsv").write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    return subprocess.run([sys.executable, "-B", "-m", "nomap_lab.report", "--seconds", "61", directory],
                          capture_output=True, text=True, check=False)


def test_cases_count_instead_of_their_run(tmp_path):
    (tmp_path / "b.log").write_text("last line\x1b[0m <&>\n", encoding="utf-8")
    cases = [{"name": "p", "status": "pass", "reason": "", "seconds": 1.5, "output": []},
             {"name": "f", "status": "fail", "reason": "x < y", "seconds": 2.0, "output": ["x < y"]}]
    (tmp_path / "c.cases.json").write_text(json.dumps(cases), encoding="utf-8")
    done = run(tmp_path, [
        ("s", "s/one", "ok", "3", "1.0", "-", "-", "-"),
        ("s", "s/two", "fail", "4", "1.0", "b.log", "exit status 1: <&>", "-"),
        ("s", "s/three", "skip", "0", "0", "-", "no card", "-"),
        ("i", "i/igt", "fail", "9", "8", "-", "1 passed, 1 failed, 0 skipped", "c.cases.json"),
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
    done = run(tmp_path, [("s", "s/one", "ok", "3", "1.0", "-", "-", "-")])
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "1 passed, 0 failed, 0 skipped")


def test_nothing_run_is_no_success(tmp_path):
    done = run(tmp_path, [])
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "0 passed, 0 failed, 0 skipped")
