# SPDX-License-Identifier: MIT
"""The report of threads finds a run that met a limit, and one whose threads became dearer
the more there were."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "bench" / "lib"))
from report_faults import Report  # noqa: E402 (the path comes first)

REPORT = Report(__file__, threads="threads.json")


def test_results_as_measured_pass(tmp_path):
    assert REPORT.check(REPORT.load(), tmp_path) == 0


def met_a_limit(runs):
    runs[0]["error"] = "limit"


def grew(runs):
    runs[1]["cpu_ns"] = [10, 10, 10, 10, 60, 70, 80]


@pytest.mark.parametrize("edit", [met_a_limit, grew])
def test_fault_is_found(edit, tmp_path):
    results = REPORT.load()
    edit(results["threads"]["runs"])
    assert REPORT.check(results, tmp_path) == 1
