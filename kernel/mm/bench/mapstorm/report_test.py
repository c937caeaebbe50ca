# SPDX-License-Identifier: MIT
"""The report of mapstorm finds another address, a dearer operation, guards that cost as
much as before, a search that asks for guards among small holes, leaves of stacks that are gone
over too often, a row that is missing, one that failed, and a kernel without retpolines."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "bench" / "lib"))
from report_faults import Report  # noqa: E402 (the path comes first)

REPORT = Report(__file__, before="mapstorm-mm-base.json", after="mapstorm-mm.json")


def test_results_as_measured_pass(tmp_path):
    assert REPORT.check(REPORT.load(), tmp_path) == 0


def other_address(_before, after):
    after[0]["digest"] = "0"


def dearer_operation(_before, after):
    after[-3]["median"] *= 1.1


def row(rows, kind, operation):
    return next(r for r in rows if (r["kind"], r["operation"]) == (kind, operation))


def search_asks_for_guards(before, after):
    row(after, "holes", "map")["median"] = row(before, "holes", "map")["median"] + 200


def leaves_gone_over_often(before, after):
    row(after, "among", "unmap")["median"] = 1.3 * row(before, "among", "unmap")["median"]


def guards_as_before(before, after):
    after[:] = [dict(b, digest=a["digest"]) if a["kind"] == "guards" else a for a, b in zip(after, before)]


def row_missing(_before, after):
    after.pop(3)


def failed(_before, after):
    after[2]["error"] = "maps overlap"


@pytest.mark.parametrize("edit", [
    other_address, dearer_operation, search_asks_for_guards, leaves_gone_over_often, guards_as_before,
    row_missing, failed])
def test_fault_is_found(edit, tmp_path):
    results = REPORT.load()
    edit(results["before"]["rows"], results["after"]["rows"])
    assert REPORT.check(results, tmp_path) == 1


def test_kernel_without_retpolines_is_refused(tmp_path):
    results = REPORT.load()
    results["after"]["environment"]["indirect_calls"] = "Vulnerable"
    assert REPORT.check(results, tmp_path) == 1
