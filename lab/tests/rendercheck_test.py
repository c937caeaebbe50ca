# SPDX-License-Identifier: MIT
"""What lab/rendercheck makes of the logs of rendercheck."""
from pathlib import Path

import pytest

from nomap_lab import rendercheck
from nomap_lab.commands.rendercheck import program_of
from nomap_lab.paths import UsageError

CASES = [("debian", "exa"), ("debian", rendercheck.SOFTWARE)]
GROUPS = ["fill", "blend"]


def write(directory: Path, case: tuple[str, str], group: str, said: str, status: int = 1) -> None:
    where = directory / case[0] / case[1]
    where.mkdir(parents=True, exist_ok=True)
    (where / f"{group}.log").write_text(said)
    (where / f"{group}.status").write_text(f"{status}\n")


@pytest.fixture(name="healthy")
def fixture_healthy(tmp_path: Path) -> Path:
    for case in CASES:
        for group in GROUPS:
            write(tmp_path, case, group, "fill: nothing\n12 tests passed of 12 total\nSuccessful Groups:\n\tfill\n")
    return tmp_path


def test_healthy_run_has_no_faults_and_a_table(healthy: Path) -> None:
    results = rendercheck.read(healthy, CASES, GROUPS)
    assert not rendercheck.faults(results)
    assert "| debian | exa | 12 of 12 | 12 of 12 | 24 of 24 |" in rendercheck.table(results)
    assert len(rendercheck.as_json(results)["groups"]) == 4  # type: ignore[arg-type]


@pytest.mark.parametrize(("said", "status", "fault"), [
    ("11 tests passed of 12 total\n", 0, "debian/exa: blend 1 of 12 tests fail"),
    ("0 tests passed of 0 total\n", 1, "debian/exa: blend has no tests: are the server's formats known to it?"),
    ("Beginning blend test\n", 124, "debian/exa: blend took too long"),
    ("Beginning blend test\n", 139, "debian/exa: blend ended with status 139"),
])
def test_what_fails_is_named(healthy: Path, said: str, status: int, fault: str) -> None:
    write(healthy, CASES[0], "blend", said, status)
    assert rendercheck.faults(rendercheck.read(healthy, CASES, GROUPS)) == [fault]


def test_group_that_was_not_run_is_a_fault(healthy: Path) -> None:
    (healthy / "debian/exa/fill.status").unlink()
    assert rendercheck.faults(rendercheck.read(healthy, CASES, GROUPS)) == ["debian/exa: fill was not run"]


def test_what_fails_in_software_too_is_no_fault(healthy: Path) -> None:
    for case in CASES:
        write(healthy, case, "blend", "11 tests passed of 12 total\n")
    assert not rendercheck.faults(rendercheck.read(healthy, CASES, GROUPS))


def log(failing: list[str], formats: list[str]) -> str:
    """A log of triangles: each operation of some formats; those that fail are "OPERATION on FORMAT"."""
    lines = [f"Found server-supported format: {f}" for f in formats]
    for test in [f"{operation} on {f}" for operation in ("Over", "Xor") for f in formats]:
        operation, _, form = test.split()
        lines += [f"Beginning {operation} Triangles test on {form}",
                  *["triangles test error of 255.0000 at (0, 0) --"] * 2 * (test in failing)]
    return "\n".join([*lines, f"{2 * len(formats) - len(failing)} tests passed of {2 * len(formats)} total"])


@pytest.mark.parametrize(("here", "software", "alone"), [
    (["Xor on a8"], ["Xor on a8"], None),
    (["Xor on a8", "Xor on r5g5b5"], ["Xor on a8"], None),  # the other server has no such format
    (["Xor on a8", "Over on a8"], ["Xor on a8"], "1 tests fail that pass in software, as Over Triangles on a8 (triangles)"),
    (["Over on r5g5b5"], ["Xor on a8"], "1 tests fail that pass in software, as Over Triangles on r5g5b5 (triangles)"),
    (["Xor on r8g8b8"], ["Xor on a8"], "1 tests fail that pass in software, as Xor Triangles on r8g8b8 (triangles)"),
])
def test_tests_are_compared_one_by_one(healthy: Path, here: list[str], software: list[str], alone: str | None) -> None:
    write(healthy, CASES[0], "blend", log(here, ["a8", "r8g8b8", "r5g5b5"]))
    write(healthy, CASES[1], "blend", log(software, ["a8", "r8g8b8"]))
    results = rendercheck.read(healthy, CASES, GROUPS)
    assert rendercheck.faults(results) == ([f"debian/exa: blend: {alone}"] if alone else [])
    assert len(results[1].failures) == len(here)


@pytest.mark.parametrize(("name", "fault"), [("none", "cannot be read: No such file"), ("text", "is no program")])
def test_what_is_no_program_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, fault: str) -> None:
    monkeypatch.setattr("nomap_lab.commands.rendercheck.host_path", Path)
    (tmp_path / "text").write_text("#!/bin/sh\n")
    with pytest.raises(UsageError, match=fault):
        program_of(str(tmp_path / name))
