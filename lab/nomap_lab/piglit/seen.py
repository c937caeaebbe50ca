# SPDX-License-Identifier: MIT
"""What Mesa CI has seen of piglit on real chips."""
import re
from pathlib import Path

from nomap_lab import mesa_ci
from nomap_lab.paths import LabError

# dEQP's and the CTS's tests have other names. Names in the results have no commas.
OTHER = re.compile(r"#|$|KHR-|dEQP-|WayEGL|wayland-")
# Programs that Debian does not have: they are for GLUT and for Windows.
ABSENT = ["^spec@!opengl 1.1@windowoverlap$", "^wgl@"]


def expected(source: Path, out: Path) -> None:
    """Takes piglit's part of Mesa CI's lists out of Debian's source package of Mesa in SOURCE.

    Writes OUT/CHIP-fails.txt, CHIP-skips.txt and CHIP-flakes.txt. To the skips come those of all drivers where piglit
    runs on GBM, and what needs windows.
    """
    found, gbm = mesa_ci.read(source)
    out.mkdir(parents=True, exist_ok=True)
    for (chip, kind), listed in found.items():
        lines = [line for line in listed if not OTHER.match(line)]
        if kind == "skips":
            lines += [line for line in gbm if not OTHER.match(line)] + ABSENT
        if kind == "fails" and chip in mesa_ci.JUDGE.values() and len(lines) <= 500:
            raise LabError(f"too few failures of a real {chip.upper()}: Mesa has another list by now, look for it in its source")
        (out / f"{chip}-{kind}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
