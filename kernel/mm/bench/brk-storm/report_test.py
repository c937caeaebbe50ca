# SPDX-License-Identifier: MIT
"""The report of brk-storm finds a step that costs more, and a run that verified no
contents."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "bench" / "lib"))
from report_faults import Report  # noqa: E402 (the path comes first)

# Of two boots, as the report judges medians of boots.
REPORT = Report(__file__, before="brk-mm-base.json", after="brk-mm.json",
                before_2="brk-2-mm-base.json", after_2="brk-2-mm.json")


def test_results_as_measured_pass(tmp_path):
    assert REPORT.check(REPORT.load(), tmp_path) == 0


def dearer_step(results):
    for after in results["after"], results["after_2"]:
        after["cost"][-2]["layouts"] = [1.1 * x for x in after["cost"][-2]["layouts"]]


def not_verified(results):
    results["after"]["verified"] = 0


@pytest.mark.parametrize("edit", [dearer_step, not_verified])
def test_fault_is_found(edit, tmp_path):
    results = REPORT.load()
    edit(results)
    assert REPORT.check(results, tmp_path) == 1
