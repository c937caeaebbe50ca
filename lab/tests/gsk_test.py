# SPDX-License-Identifier: MIT
"""What is made of the results of GSK's comparison tests."""
from pathlib import Path

import pytest

from nomap_lab import gsk
from nomap_lab.paths import LabError


def test_only_what_passes_in_software_is_a_fault() -> None:
    board = {"a": "pass", "b": "fail", "c": "crash", "d": "timeout"}
    assert gsk.worse(board, {"a": "pass", "b": "pass", "c": "fail", "d": "pass"}) == ["b", "d"]


def test_runs_of_other_tests_cannot_be_compared() -> None:
    with pytest.raises(LabError, match="not the same tests"):
        gsk.worse({"a": "pass"}, {"a": "pass", "b": "pass"})


def test_run_that_did_not_end_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="is missing"):
        gsk.read(tmp_path)
    (tmp_path / "results.csv").write_text("a,pass\nb,fail\n")
    assert gsk.read(tmp_path) == {"a": "pass", "b": "fail"}
