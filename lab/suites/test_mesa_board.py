# SPDX-License-Identifier: MIT
"""Mesa in a guest: uploads and readbacks of both Mesas on the board, with both modules."""

import shutil

from nomap_lab.address_space import in_space
from nomap_lab.paths import CHECK, RESULTS, TOP
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=56,
                   finds="an upload of GL that the GPU does not see as it was written, with our module and without")

DIR = CHECK / "mesa-board"
#: What the benchmarks' programs need beside them in a guest.
REPORTING = "bench/lib/reporting.py"


def session(lab: Lab, module: str, mesa: str = "patched", board: str = "", timeout: int = 400) -> None:
    there = lab.guest_path(DIR)
    lab.run(f"{there}/session", there, module, mesa=mesa, module=module, board=board, timeout=timeout)


@case("mesa-board/build")
def build(lab: Lab) -> None:
    lab.build("mesa")
    lab.call("mesa-patches/tests/run", "build/mesa", lab.dir("mesa-board"), "build")
    shutil.copy(TOP / "mesa-patches/tests/session", DIR)


@case("mesa-board/{module}-module", needs=["mesa-board/build"], module=["patched", "stock"])
def modules(lab: Lab, module: str) -> None:
    session(lab, module)


@case("mesa-board/series-a", needs=["mesa-board/build"])
def series_a(lab: Lab) -> None:
    """The patches that need no new kernel, on the distribution's module: its checker sees all command streams."""
    lab.build("mesa-a")
    session(lab, "stock", mesa="a")


@case("mesa-board/contents-and-counts", needs=["mesa-board/patched-module", "mesa-board/stock-module", "mesa-board/series-a"])
def contents(lab: Lab) -> None:
    lab.call("mesa-patches/tests/board_check.py", DIR)


@case("mesa-board/on-{chip}", tier="all", needs=["mesa-board/build"], chip=["turks", "cedar", "cayman"])
def evergreen(lab: Lab, chip: str) -> None:
    """The same cases on Evergreen and Northern Islands, where Mesa copies by the DMA ring, too."""
    directory = lab.dir(f"mesa-board/{chip}")
    shutil.copy(DIR / "gl-board", directory)
    there = lab.guest_path(DIR)
    for module in ("patched", "stock"):
        lab.run(f"{there}/session", lab.guest_path(directory), module, mesa="patched", module=module, board=f"--chip {chip}",
                timeout=580)
    lab.call("mesa-patches/tests/board_check.py", "--chip", chip, directory)


@case("mesa-board/in-an-address-space", tier="all", needs=["mesa-board/build"])
def address_space(lab: Lab) -> None:
    """The same on Cayman, with streams by virtual addresses, of both modules and Mesas."""
    directory = lab.dir("mesa-board/space")
    shutil.copy(DIR / "gl-board", directory)
    for module in ("patched", "stock"):
        session_words = [f"{lab.guest_path(DIR)}/session", lab.guest_path(directory), module]
        lab.run(*in_space(session_words), mesa="patched", module=module, board="--chip cayman", timeout=580)
    lab.call("mesa-patches/tests/board_check.py", "--chip", "cayman", "--space", directory)


@case("mesa-board/strict", tier="all", needs=["mesa-board/patched-module", "mesa-board/stock-module"])
def strict(lab: Lab) -> None:
    """The strict board: a driver that flushes where it must sees no difference."""
    session(lab, "patched", board="--strict", timeout=900)
    lab.call("mesa-patches/tests/board_check.py", DIR)


@case("mesa-board/uploads", tier="all", needs=["mesa-board/patched-module", "mesa-board/stock-module"])
def uploads(lab: Lab) -> None:
    """The benchmark with the real driver. Times need a quiet machine; here only counts are checked."""
    lab.build("mesa-a", "mesa-unmodified")
    for file in ("bench/gl-uploads/run.py", REPORTING):
        shutil.copy(TOP / file, DIR)
    results, there = RESULTS / "gl-uploads.json", lab.guest_path(DIR)
    if results.exists():
        shutil.copy(results, DIR)
    lab.run("python3", "-B", f"{there}/run.py", "--where", "board", "--rounds", "3", "--batches", "3", "--calls", "300",
            "/build", f"{there}/gl-uploads", f"{there}/gl-uploads.json", mesa="unmodified", timeout=1700,
            exclusive=True)
    shutil.copy(DIR / "gl-uploads.json", RESULTS)
    lab.call("bench/gl-uploads/check.py", results)
    lab.call("bench/gl-uploads/plot.py", results, RESULTS / "gl-uploads.png")


@case("mesa-board/instructions", tier="all", needs=["mesa-board/build"])
def instructions(lab: Lab) -> None:
    """Instructions of uploads, in Mesa and in the kernel. They do not depend on the machine's load."""
    lab.build("mesa-a", "mesa-unmodified")
    directory = lab.dir("mesa-board/instructions")
    there, results = lab.guest_path(directory), directory / "gl-instructions.json"
    results.unlink(missing_ok=True)
    for file in (TOP / "bench/gl-instructions/run.py", TOP / "bench/gl-instructions/goals.py", TOP / REPORTING, DIR / "gl-uploads"):
        shutil.copy(file, directory)
    for module, kernel in (("stock", "unmodified"), ("patched", "patched")):
        lab.run("python3", "-B", f"{there}/run.py", "--kernel", kernel, "/build", f"{there}/gl-uploads",
                f"{there}/gl-instructions.json", mesa="unmodified", module=module, accel="icount", smp=1, timeout=3000)
    shutil.copy(results, RESULTS)
    lab.call("bench/gl-instructions/check.py", RESULTS / "gl-instructions.json")
    lab.call("bench/gl-instructions/plot.py", RESULTS / "gl-instructions.json", RESULTS / "gl-instructions.png")
    lab.record("gl-instructions")
