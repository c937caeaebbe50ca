# SPDX-License-Identifier: MIT
"""--check of transfer-paths' report refuses results of a copy that was not verified, that
took another path, that is missing or that became dearer."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from report_faults import Report  # noqa: E402 (the path comes first)

REPORT = Report(__file__, times="transfer-times.json", counts="transfer-counts.json")


def test_results_as_measured_pass(tmp_path):
    assert REPORT.check(REPORT.load(), tmp_path) == 0


def not_verified(times, _counts):
    times[0]["verified"] = 0


def another_path(times, _counts):
    times[2]["error"] = "path: broken"


def row_missing(_times, counts):
    counts.pop(2)


def three_times_as_dear(_times, counts):
    counts[2]["median"] *= 3


def test_cached_in_place_of_write_combined_is_found(tmp_path):
    for part in ("times", "counts"):
        results = REPORT.load()
        results[part]["environment"]["write_combined"] = False
        assert REPORT.check(results, tmp_path) == 1


@pytest.mark.parametrize("edit", [not_verified, another_path, row_missing, three_times_as_dear])
def test_fault_is_found(edit, tmp_path):
    results = REPORT.load()
    edit(results["times"]["rows"], results["counts"]["rows"])
    assert REPORT.check(results, tmp_path) == 1
