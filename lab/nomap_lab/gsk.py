# SPDX-License-Identifier: MIT
"""GSK's comparison tests: their data, from Debian's source of GTK 4, and what emulator/tests/desktop/gsk has found."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from .apt import get_source
from .paths import LabError
from .procs import call

#: Tests of the renderer "ngl" that GTK's own build leaves out for it (testsuite/gsk/meson.build), by a part of the name.
EXCLUDED = "-nongl"

#: Tests that have to fail on the chip, each with its reason. The texture unit rounds coordinates to 1/256 of a texel before it
#: takes the nearest one, unless MC_COORD_TRUNCATE is set. r600 does not set that bit.
BY_THE_CHIP = {
    "texture-scale-magnify-10000x": "the whole picture is within 1/512 of an edge between texels",
    "texture-scale-magnify-rotate": "the same, turned",
}
#: compare-render wants all pixels equal. This many of them may differ by one of 255 levels: what is half-way between two is rounded
#: one way by one renderer, and the other way by another.
ROUNDED = 0.005


def get(out: Path) -> None:
    """Unpacks NAME.node and NAME.png of all tests that the GL renderer has into `out`."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as directory:
        get_source("gtk4", "newest", Path(directory))
        archives = list(Path(directory).glob("gtk4_*.orig.tar.*"))
        if len(archives) != 1:
            raise LabError(f"the source of gtk4 has {len(archives)} archives, not one")
        call(["tar", "-xf", archives[0], "-C", out, "--no-same-owner", "--strip-components=4", "--wildcards",
              "*/testsuite/gsk/compare/*.node", "*/testsuite/gsk/compare/*.png"], log=out / "unpack.log")
    for file in out.glob(f"*{EXCLUDED}*"):
        file.unlink()
    if not list(out.glob("*.node")):
        raise LabError("the source of gtk4 has no comparison tests")


def read(directory: Path) -> dict[str, str]:
    """The results of a run, NAME to pass, fail, crash or timeout; LabError if it did not get to its end."""
    path = directory / "results.csv"
    if not path.exists():
        raise LabError(f"{path} is missing")
    return dict(line.split(",") for line in path.read_text(encoding="ascii").splitlines())


def differs_by_rounding(log: str) -> bool:
    """Whether a test that failed says that few pixels differ, and by no more than one level."""
    said = re.findall(r"(\d+) \(out of (\d+)\) pixels differ from reference by up to (\d+) levels", log)
    return bool(said) and all(int(pixels) <= ROUNDED * int(of) and int(levels) <= 1 for pixels, of, levels in said)


def rounded(directory: Path, said: dict[str, str]) -> list[str]:
    """The tests of a run that did not pass and whose pictures differ by rounding only."""
    logs = {name: directory / f"{name}.log" for name, result in said.items() if result in ("fail", "crash")}
    return sorted(name for name, log in logs.items()
                  if log.exists() and differs_by_rounding(log.read_text(encoding="utf-8", errors="replace")))


def worse(board: dict[str, str], software: dict[str, str], rounded: list[str]) -> list[str]:
    """The tests that pass in software and neither on the board, nor but for rounding, nor are expected to fail by the chip, and
    those of the latter that pass. LabError if they are not the same tests."""
    if board.keys() != software.keys():
        raise LabError(f"not the same tests: {sorted(board.keys() ^ software.keys())[:5]}")
    fail = {name for name, said in board.items() if said != "pass" and software[name] == "pass"}
    return sorted((fail - set(rounded)) ^ (BY_THE_CHIP.keys() & board.keys()))
