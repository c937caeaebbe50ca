# SPDX-License-Identifier: MIT
"""The report of mapstorm finds another address, a dearer operation, guards that cost as
much as before, a search that asks for guards among small holes, leaves of stacks that are gone
over too often, a row that is missing, one that failed, and a kernel without retpolines."""

import importlib.util
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


def program():
    """report.py as a module."""
    spec = importlib.util.spec_from_file_location("mapstorm_report", pathlib.Path(__file__).with_name("report.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages(after=9000, holes=lambda guards: guards - 1):
    """Rows of stacks with holes of one page before them, as the report combines them."""
    rows = []
    for kind in ("guards", "page"):
        for layout in ("top-down", "bottom-up"):
            for guards, cost in ((100, 60000), (3000, 2000000)):
                stats = {when: {"p10": x, "median": x, "p90": x} for when, x in (("before", cost), ("after", after * guards / 100))}
                rows.append({"id": f"{kind}/{layout}/{guards}/pair", "kind": kind, "layout": layout, "live": 100, "guards": guards,
                             "operation": "pair", "holes": holes(guards) if kind == "page" else 0, "error": None,
                             "same_addresses": True,
                             "ns": {"ratio": None}, "instructions": {**stats, "ratio": stats["after"]["median"] / cost}})
    return rows


@pytest.mark.parametrize("rows, faults", [
    (lambda: [r | {"instructions": r["instructions"] | {"after": r["instructions"]["after"] | {"median": 9000}}} for r in pages()],
     0),
    (lambda: pages(), 4), (lambda: pages(after=0.1, holes=lambda guards: 0), 8)])
def test_rows_of_holes_of_a_page(rows, faults):
    report = program()
    rows = rows()
    scalings = [s for kind in ("guards", "page") for layout in ("top-down", "bottom-up") for when in ("before", "after")
                if (s := report.scaling(rows, kind, layout, when))]
    found = list(report.faults(rows, scalings))
    assert len(found) == faults, found
    assert any("page" in f for f in found) == bool(faults)
