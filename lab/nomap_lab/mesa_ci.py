# SPDX-License-Identifier: MIT
"""What Mesa CI has seen on real chips of r600: its lists, from Debian's source package of Mesa."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

from .paths import LabError

KINDS = ("fails", "skips", "flakes")
#: The chips that lists are of, and by which of them each chip of the board is judged.
JUDGE = {"rv770": "rv770", "rv740": "rv770", "rv730": "rv770", "rv710": "rv770",
         "rv670": "rv770", "rs780": "rv770",
         "turks": "turks", "cedar": "turks", "cypress": "turks", "cayman": "turks"}
SEEN = re.compile(r".*/src/gallium/drivers/r600/ci/r600-(\w+)-(fails|skips|flakes)\.txt$")
GBM = re.compile(r".*/\.gitlab-ci/gbm-skips\.txt$")


def read(source: Path) -> tuple[dict[tuple[str, str], list[str]], list[str]]:
    """The lines of the lists in SOURCE, the directory of a source package: {(chip, kind): lines}, and
    piglit's skips of all drivers on GBM. A chip of JUDGE without a list has an empty one.

    Raises LabError if there is no list of a chip that others are judged by.
    """
    found: dict[tuple[str, str], list[str]] = {}
    gbm: list[str] = []
    (archive,) = source.glob("mesa_*.orig.tar.xz")
    with tarfile.open(archive, mode="r|xz") as tar:
        for member in tar:
            match = SEEN.match(member.name)
            if not (match or GBM.match(member.name)) or not (file := tar.extractfile(member)):
                continue
            lines = file.read().decode().splitlines()
            if match:
                found[match[1], match[2]] = lines
            else:
                gbm = lines
    for chip in sorted(set(JUDGE.values())):
        if (chip, "fails") not in found:
            raise LabError(f"no list of a real {chip.upper()}: Mesa has it in another place by now, look for it in its source")
        for kind in KINDS:
            found.setdefault((chip, kind), [])
    return found, gbm
