# SPDX-License-Identifier: MIT
"""results.py publishes times of quiet machines only, and says where and when they were measured."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

LIB = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(LIB))
from results import SECTIONS, markdown_tables  # noqa: E402 (the path comes first)

TOP = LIB.parents[1]
QUIET = {"commit": "0123456789" * 4, "dirty": False, "date": "2031-02-03T04:05:06Z",
         "machine": {"cpu": "A CPU", "cpus": 4, "memory_mib": 4096, "kernel": "9.9"},
         "load": 0.1, "foreign": 0.01, "stolen": 0.0, "spread": {"before": 0.02, "after": 0.04}}


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    """Copies of the documents, and new results of live-bos."""
    shutil.copytree(TOP / "docs" / "results", tmp_path / "docs" / "results")
    for name in ("results.md", *(p.name for p in (TOP / "docs").glob("*.png"))):
        shutil.copy(TOP / "docs" / name, tmp_path / "docs")
    shutil.copy(TOP / "README.md", tmp_path)
    (tmp_path / "build").mkdir()
    data = json.loads((TOP / "docs/results/live-bos.json").read_text())
    data.pop("recorded")
    row = next(r for r in data["rows"] if (r["domain"], r["arm"], r["requested"]) == ("vram", "pwrite", 1000))
    row.update(upload_ns=6789000, upload_p10_ns=6780000, upload_p90_ns=6799000)
    (tmp_path / "build/live-bos.json").write_text(json.dumps(data))
    return tmp_path


def record(tree, name="live-bos", **changes):
    digest = hashlib.sha256((tree / f"build/{name}.json").read_bytes()).hexdigest()
    (tree / f"build/{name}.recorded.json").write_text(json.dumps({"sha256": digest, **QUIET, **changes}))


def results(tree, *options):
    run = subprocess.run([sys.executable, "-B", LIB / "results.py", *options], check=False, capture_output=True, text=True,
                         env={**os.environ, "NOMAP_RESULTS": str(tree / "build"), "NOMAP_DOCS": str(tree / "docs"),
                              "NOMAP_README": str(tree / "README.md")})
    assert "Traceback" not in run.stderr, run.stderr
    return run


def published(tree):
    return "6789.0 (6780.0-6799.0)" in (tree / "docs/results.md").read_text()


def test_a_quiet_recording_is_published(tree):
    record(tree)
    assert results(tree, "--check").returncode == 1
    assert not published(tree)
    assert results(tree).returncode == 0
    assert published(tree)
    line = next(x for x in (tree / "docs/results.md").read_text().splitlines() if "2031" in x)
    for word in ("3 February 2031", "commit 0123456", "A CPU, 4 CPUs", "Linux 9.9", "1.0%", "4%"):
        assert word in line
    assert "6789.0 (6780.0-6799.0)" in (tree / "README.md").read_text()
    assert json.loads((tree / "docs/results/live-bos.json").read_text())["recorded"]["commit"] == QUIET["commit"]
    # What was published stays without build/results.
    shutil.rmtree(tree / "build")
    assert results(tree, "--check").returncode == 0
    assert published(tree)


@pytest.mark.parametrize("changes, words", [
    ({"foreign": 0.06}, "other processes took 6.0%"), ({"stolen": 0.02}, "stole 2.0%"),
    ({"spread": {"before": 0.01, "after": 0.5}}, "varied by 50%"), ({"sha256": "0"}, "of other results")])
def test_a_noisy_recording_is_refused(tree, changes, words):
    record(tree, **changes)
    run = results(tree)
    assert run.returncode == 1 and words in run.stderr
    assert not published(tree)
    assert "6789" not in (tree / "docs/results/live-bos.json").read_text()


def test_times_without_a_record_are_refused(tree):
    run = results(tree)
    assert run.returncode == 1 and "how quiet" in run.stderr
    assert not published(tree)


def test_counts_need_no_quiet_machine(tree):
    (tree / "build/live-bos.json").unlink()
    (tree / "build/frag.json").write_text(json.dumps({"environment": {}, "rows": []}))
    (tree / "build/frag.txt").write_text("a table of frag\n")
    assert results(tree).returncode == 0
    assert "a table of frag" in (tree / "docs/results.md").read_text()


@pytest.mark.parametrize("quiet", [True, False])
def test_times_beside_counts_need_a_quiet_machine(tree, quiet):
    """Counts are published in any case, and what is published of them stays the same table with times or without."""
    (tree / "build/live-bos.json").unlink()
    data = json.loads((tree / "docs/results/alternatives.json").read_text())
    data.pop("recorded")
    data.pop("times", None)
    for row in data["transfers"]["rows"]:
        row["instructions"] += 1
    data["times"] = {"unit": "ns", "rows": [{**row, "ns": 1234567} for row in data["transfers"]["rows"]]}
    (tree / "build/alternatives.json").write_text(json.dumps(data))
    if quiet:
        record(tree, "alternatives")
    run = results(tree)
    assert run.returncode == (not quiet) and ("the times of alternatives are not published" in run.stderr) == (not quiet)
    text = (tree / "docs/results.md").read_text()
    text = text[text.index("<!-- alternatives -->"):]
    text = text[:text.index("<!-- end -->")]
    kept = json.loads((tree / "docs/results/alternatives.json").read_text())
    first = next(row for row in data["transfers"]["rows"] if not row.get("lost"))
    assert f"{first['instructions']:,}" in text
    for title in ("Upload to VRAM, ", "Download from VRAM, ", "Upload into a BO in VRAM that", "Upload of 256 B into each"):
        head = re.search(rf"(?m)^{title}.*\n\n(\| variant .*)", text)
        assert head and ("µs" in head[1]) == quiet
    assert ("| 1,235 " in text) == quiet == ("times" in kept)
    shutil.rmtree(tree / "build")
    assert results(tree, "--check").returncode == 0


def test_counts_name_commit_and_machine(tree):
    (tree / "build/live-bos.json").unlink()
    (tree / "build/frag.json").write_text(json.dumps({"environment": {}, "rows": []}))
    (tree / "build/frag.txt").write_text("a table of frag\n")
    digest = hashlib.sha256((tree / "build/frag.json").read_bytes()).hexdigest()
    counted = {key: value for key, value in QUIET.items() if key in ("commit", "dirty", "date", "machine")}
    (tree / "build/frag.recorded.json").write_text(json.dumps({"sha256": digest, **counted}))
    assert results(tree).returncode == 0
    line = next(x for x in (tree / "docs/results.md").read_text().splitlines() if "2031" in x)
    assert line == "Measured on 3 February 2031 at commit 0123456 on A CPU, 4 CPUs, Linux 9.9."


def test_times_with_a_record_of_counts_are_refused(tree):
    digest = hashlib.sha256((tree / "build/live-bos.json").read_bytes()).hexdigest()
    counted = {key: value for key, value in QUIET.items() if key in ("commit", "dirty", "date", "machine")}
    (tree / "build/live-bos.recorded.json").write_text(json.dumps({"sha256": digest, **counted}))
    run = results(tree)
    assert run.returncode == 1 and "how quiet" in run.stderr
    assert not published(tree)


@pytest.mark.parametrize("name", [name for name, *_ in SECTIONS])
def test_who_writes_results_records_commit_and_machine(name):
    suites = "".join(path.read_text(encoding="utf-8") for path in (TOP / "lab/suites").glob("*.py"))
    recorded = re.search(rf'lab\.record\([^)]*"{name}"', suites)
    # make bench-mm's names are those of its parts.
    lines = "".join(re.findall(r"^\t@\$\(RECORD\).*$|^MM_PARTS.*$", (TOP / "Makefile").read_text(encoding="utf-8"), re.M))
    by_hand = re.search(rf"bench/lib/record [^\n]*\b{name} --", (TOP / "bench/README.md").read_text(encoding="utf-8"))
    assert recorded or re.search(rf"[ ,]{name}\b", lines) or by_hand


def test_an_edited_document_is_found(tree):
    (tree / "build/live-bos.json").unlink()
    assert results(tree, "--check").returncode == 0
    for name in ("docs/results.md", "README.md"):
        path = tree / name
        before = path.read_text()
        path.write_text(re.sub(r"^\| 100 \| ", "| 100 | 1", before, count=1, flags=re.M))
        assert path.read_text() != before
        assert results(tree, "--check").returncode == 1
        path.write_text(before)


def test_an_edited_text_for_a_cover_letter_is_found(tree):
    (tree / "build/live-bos.json").unlink()
    path = tree / "docs/results/alternatives-cover.txt"
    before = path.read_text()
    path.write_text(before.replace("4 KiB", "8 KiB", 1))
    assert path.read_text() != before
    run = results(tree, "--check")
    assert run.returncode == 1 and path.name in run.stderr
    assert results(tree).returncode == 0
    assert path.read_text() == before


def test_tables_of_a_report_stay_apart():
    first, second = "| a | b |\n| --- | --- |\n| 1 | 2 |", "| c |\n| --- |\n| 3 |"
    assert markdown_tables(f"{first}\n\n{second}\n\nnot drawn by the board\n") == f"{first}\n\n{second}"
    assert markdown_tables(f"{first}\nok\n") == first
