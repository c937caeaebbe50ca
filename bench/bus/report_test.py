# SPDX-License-Identifier: MIT
"""--check of the bus table's report refuses contents that were not verified, accesses that a variant
does not make, and variants that are missing; and where a staged read pays is where the costs cross."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import report  # noqa: E402 (the path comes first)
from report_faults import Report  # noqa: E402

REPORT = Report(__file__, counts="bus-counts.json")


def row_of(rows, arm, size, case="download"):
    return next(r for r in rows if (r["case"], r["arm"], r["bytes"]) == (case, arm, size))


def test_results_as_measured_pass(tmp_path):
    assert REPORT.check(REPORT.load(), tmp_path) == 0


def not_verified(rows):
    rows[0]["verified"] = 0


def loads_of_a_staged_read(rows):
    row_of(rows, "pread-staged", 4096)["board"]["bar_reads"] += 4096 // 8 * 1000


def no_loads_by_the_cpu(rows):
    row_of(rows, "pread-cpu", 4096)["board"]["bar_reads"] = 0


def lines_missing(rows):
    row_of(rows, "pwrite", 65536, "upload")["board"]["bar_lines"] //= 2


def variant_missing(rows):
    rows[:] = [r for r in rows if r["arm"] != "pread-cpu"]


@pytest.mark.parametrize("edit", [not_verified, loads_of_a_staged_read, no_loads_by_the_cpu, lines_missing, variant_missing])
def test_fault_is_found(edit, tmp_path):
    results = REPORT.load()
    edit(results["counts"]["rows"])
    assert REPORT.check(results, tmp_path) == 1


def costs(**arms):
    """Rows of downloads: {variant: {bytes: nanoseconds}}."""
    return [{"case": "download", "arm": arm.replace("_", "-"), "bytes": size, "total_ns": ns}
            for arm, found in arms.items() for size, ns in found.items()]


@pytest.mark.parametrize("by_cpu, expected", [
    ({256: 5000, 4096: 6000}, {"bytes": 256, "or_less": True}),
    ({256: 1000, 4096: 5000}, {"bytes": 2176, "or_less": False}),
    ({256: 1000, 4096: 2000}, None)])
def test_crossing(by_cpu, expected):
    rows = costs(pread_cpu=by_cpu, pread_staged={256: 3000, 4096: 3000})
    assert report.crossing(rows, "pread-cpu") == expected
