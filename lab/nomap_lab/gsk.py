# SPDX-License-Identifier: MIT
"""GSK's comparison tests: their data, from Debian's source of GTK 4, and what emulator/tests/desktop/gsk has found."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from .apt import get_source
from .paths import LabError
from .procs import call

#: Tests of the renderer "ngl" that GTK's own build leaves out for it (testsuite/gsk/meson.build), by a part of the name.
EXCLUDED = "-nongl"


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


def worse(board: dict[str, str], software: dict[str, str]) -> list[str]:
    """The tests that pass in software and not on the board. LabError if they are not the same tests."""
    if board.keys() != software.keys():
        raise LabError(f"not the same tests: {sorted(board.keys() ^ software.keys())[:5]}")
    return sorted(name for name, said in board.items() if said != "pass" and software[name] == "pass")
