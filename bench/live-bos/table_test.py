# SPDX-License-Identifier: MIT
"""live-bos' table has the rows of 2011 beside ours, and check.py finds wrong ones."""

import copy
import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PUBLISHED = json.loads((HERE.parents[1] / "docs/results/live-bos.json").read_text())


def row(arm, live, **changes):
    found = {"arm": arm, "requested": live, "live": live, "maps": live, "samples": 201, "error": None}
    for key, us in (("make", 20), ("destroy", 10)):
        for suffix, part in (("", 1), ("_p10", 0.9), ("_p90", 1.5)):
            found[f"{key}{suffix}_ns"] = int(us * 1000 * part)
    return {**found, **changes}


def data():
    rows = [row(arm, live) for arm in ("mmap", "arena") for live in (100, 80000)]
    return {**copy.deepcopy(PUBLISHED), "rows": [], "as_2011": rows}


def run(program, results, tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(results))
    return subprocess.run([sys.executable, "-B", HERE / program, path], check=False, capture_output=True, text=True)


def test_rows_of_2011_are_beside_ours(tmp_path):
    out = run("table.py", {**data(), "rows": PUBLISHED["rows"]}, tmp_path).stdout
    table = out[out.index("As in 2011"):].splitlines()
    assert "work-around: unmap and destroy" in table[2]
    # N, 2011's two columns, make and destroy of both.
    assert table[4] == "| 100 | 17.3 | 18.3 |" + " 20.0 (18.0-30.0) | 10.0 (9.0-15.0) |" * 2
    assert table[-1] == "| 80,000 |  | 23.5 |" + " 20.0 (18.0-30.0) | 10.0 (9.0-15.0) |" * 2


def test_skipped_rows_are_empty(tmp_path):
    results = {**data(), "rows": PUBLISHED["rows"]}
    results["as_2011"][1].update(error="skipped: vm.max_map_count is 65530", samples=0, make_ns=None)
    last = run("table.py", results, tmp_path).stdout.splitlines()[-1]
    assert last == "| 80,000 |  | 23.5 |  |  |" + " 20.0 (18.0-30.0) | 10.0 (9.0-15.0) |"


def complaints(results, tmp_path):
    """What check.py says of the rows of 2011 (of all others: that there are none)."""
    return [line for line in run("check.py", results, tmp_path).stderr.splitlines() if "as in 2011" in line]


def test_right_rows_pass(tmp_path):
    results = data()
    # Gaps of the arena are mappings, too.
    results["as_2011"][3]["maps"] = 150000
    assert not complaints(results, tmp_path)


@pytest.mark.parametrize("changes", [
    {"maps": 70}, {"maps": 161000}, {"live": 65000}, {"samples": 0}, {"error": "verify: a BO has another's contents"}])
def test_wrong_rows_are_found(changes, tmp_path):
    results = data()
    results["as_2011"][3].update(changes)
    assert len(complaints(results, tmp_path)) >= 1
