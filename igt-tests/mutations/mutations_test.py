# SPDX-License-Identifier: MIT
"""Tests of mutations.py: that only a failed test counts as proof."""
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import mutations  # noqa: E402 (the path comes first)

TABLE = {"mutation": [{"name": "a", "what": "w", "test": "p@t",
                       "edit": [{"file": "f.c", "old": "x();", "new": ""}]}],
         "unshown": [{"what": "W.", "why": "b."}]}


@pytest.fixture
def source(tmp_path):
    """A driver of one file."""
    (tmp_path / mutations.DRIVER).mkdir(parents=True)
    return tmp_path


def write_results(path, **results):
    """results.json of tests "igt@p@NAME"; returns its path."""
    tests = {f"igt@p@{n}": {"result": r, "out": "", "err": f"(p:1) CRITICAL: {n} is wrong\n"}
             for n, r in results.items()}
    file = path / "results.json"
    file.write_text(json.dumps({"tests": tests}))
    return str(file)


def test_edit_has_to_fit_once(source):
    file = source / mutations.DRIVER / "f.c"
    file.write_text("x();")
    assert mutations.edited(TABLE["mutation"][0], source) == {file: ""}
    for text in ("", "x(); x();"):
        file.write_text(text)
        with pytest.raises(mutations.Error):
            mutations.edited(TABLE["mutation"][0], source)


def test_the_table_is_one():
    table = mutations.load()
    assert all(m["what"] and "@" in m["test"] and m["edit"] for m in table["mutation"])


def test_only_a_failure_is_proof(tmp_path):
    for result in ("pass", "skip", "notrun", "dmesg-warn"):
        assert not mutations.judge(TABLE["mutation"][0], write_results(tmp_path, t=result))
    assert mutations.judge(TABLE["mutation"][0], write_results(tmp_path, t="fail")) == \
        [("p@t", "t is wrong")]


def test_a_run_without_mutation_has_to_pass(tmp_path):
    assert not mutations.passed(write_results(tmp_path, a="pass", b="skip"))
    assert mutations.passed(write_results(tmp_path, a="skip"))
    assert mutations.passed(write_results(tmp_path, a="pass", b="fail"))


def test_document_has_all_lines():
    text = mutations.document(TABLE, {"a": [["p@t", "said | this"]]}, {})
    assert "| a | w | `f.c` |" in text and "said \\| this" in text
    assert "- **W.** b." in text
    assert "not run yet" in mutations.document(TABLE, {}, {})


def test_what_chips_have_shown():
    a, other = TABLE["mutation"][0], {"only": "R7xx", "why_only": "Others have\nnone."}
    table = {"mutation": [a, {**a, "name": "b", **other}, {**a, "name": "c", "board": "--chip cayman"},
                          {**a, "name": "d", "test": "kunit@d"}, {**a, "name": "e"}, {**a, "name": "f"},
                          {**a, "name": "g", "without": ["cedar", "palm"], "why_without": "No\nneed."}]}
    lines = mutations.on_chips(table, {"cedar": {"a": [["p@t", "said"]], "b": [], "e": []}, "turks": {}}).splitlines()
    assert [line for line in lines if line.startswith("|")] == [
        "| mutation | CEDAR | TURKS |", "|---|---|---|", "| a | fails |  |", "| b | only R7xx | only R7xx |",
        "| e | passes |  |", "| f |  |  |", "| g | left out |  |"]
    assert "`b` is of R7xx only. Others have none." in lines
    assert lines[-1] == "`g` is left out on CEDAR and PALM. No need."
