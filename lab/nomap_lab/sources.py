# SPDX-License-Identifier: MIT
"""What a build has read, by the tools that know: cargo's and ninja's lists of dependencies.

A stage whose build reads a file of the repository that is none of its inputs would not be built again
when that file changes; so graph.py refuses it.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from .paths import BUILD, TOP


def read_by(work: Path) -> set[Path]:
    """The files of the repository that the build in `work` has read, as cargo and ninja have noted them down."""
    words: list[str] = []
    for rules in [*work.glob("release/*.d"), *work.glob("debug/*.d"), *work.glob("debug/deps/*.d")]:
        words += re.split(r"(?<!\\)\s+", rules.read_text(encoding="utf-8").replace(":", " "))
    if (work / "build.ninja").exists():
        done = subprocess.run(["ninja", "-C", work, "-t", "deps"], stdout=subprocess.PIPE, text=True, check=True)
        words += [line.strip() for line in done.stdout.splitlines() if line.startswith("    ")]
    # Names are relative to the directory of the build, or absolute.
    paths = {Path(work, w.replace("\\ ", " ")).resolve() for w in words if "/" in w}
    return {p for p in paths if p.is_relative_to(TOP) and not p.is_relative_to(BUILD)}


def missing(read: Iterable[Path], inputs: Iterable[str]) -> list[str]:
    """Those of the files that were read which no input covers, relative to the repository."""
    tops = [TOP / i for i in inputs]
    return sorted(str(p.relative_to(TOP)) for p in read if not any(p == t or p.is_relative_to(t) for t in tops))
