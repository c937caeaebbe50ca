# SPDX-License-Identifier: MIT
"""What is made of the results of GSK's comparison tests."""
from pathlib import Path

import pytest

from nomap_lab import gsk
from nomap_lab.paths import LabError


def test_only_what_passes_in_software_is_a_fault() -> None:
    board = {"a": "pass", "b": "fail", "c": "crash", "d": "timeout"}
    assert gsk.worse(board, {"a": "pass", "b": "pass", "c": "fail", "d": "pass"}, []) == ["b", "d"]
    assert gsk.worse(board, {"a": "pass", "b": "pass", "c": "fail", "d": "pass"}, ["b"]) == ["d"]


def test_what_the_chip_does_not_pass_has_to_fail() -> None:
    name = min(gsk.BY_THE_CHIP)
    assert gsk.worse({name: "crash"}, {name: "pass"}, []) == []
    assert gsk.worse({name: "pass"}, {name: "pass"}, []) == [name]


@pytest.mark.parametrize("said, equal", [
    ("# 16 (out of 10000) pixels differ from reference by up to 1 levels", True),
    ("# 51 (out of 10000) pixels differ from reference by up to 1 levels", False),
    ("# 2 (out of 10000) pixels differ from reference by up to 2 levels", False),
    ("Segmentation fault", False),
])
def test_few_pixels_by_one_level_are_rounding(tmp_path: Path, said: str, equal: bool) -> None:
    (tmp_path / "a.log").write_text(f"1..1\n{said}\nnot ok 1 a.node\n")
    assert gsk.rounded(tmp_path, {"a": "crash", "b": "crash", "c": "pass"}) == (["a"] if equal else [])


def test_runs_of_other_tests_cannot_be_compared() -> None:
    with pytest.raises(LabError, match="not the same tests"):
        gsk.worse({"a": "pass"}, {"a": "pass", "b": "pass"}, [])


def test_run_that_did_not_end_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="is missing"):
        gsk.read(tmp_path)
    (tmp_path / "results.csv").write_text("a,pass\nb,fail\n")
    assert gsk.read(tmp_path) == {"a": "pass", "b": "fail"}
