# SPDX-License-Identifier: MIT
"""Programs of Debian's, recorded by apitrace and replayed on the board's chip with three Mesas."""

import shutil

from nomap_lab.paths import CHECK, RESULTS, TOP
from nomap_lab.procs import in_i386, in_root
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=58, lane="builds", finds="a program whose frames Mesa with our series draws differently, or for which "
                   "it maps as much as Debian's Mesa")

DIR = CHECK / "traces"
RUN = ["python3", "-B", "bench/traces/run.py"]
COUNT = ["-Imesa-patches/tests", "bench/traces/count.c", "mesa-patches/tests/glcount.c", "mesa-patches/tests/glstream.c",
         "-ldl", "-pthread"]
COMPILER = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]


@case("traces/recorded", tier="all")
def recorded(lab: Lab) -> None:
    """Each program draws with llvmpipe in a virtual X server; the first frames are kept."""
    lab.build("traces-root")
    out = lab.dir("traces")
    lab.call(*COMPILER, "-o", out / "count.so", *COUNT)
    lab.call(*COMPILER, "-o", out / "limits.so", "bench/traces/limits.c", "-ldl")
    in_root("traces", [*RUN, "record", out])


@case("traces/replayed", tier="all", needs=["traces/recorded"])
def replayed(lab: Lab) -> None:
    lab.build("board", "mesa", "mesa-a")
    in_root("traces", [*RUN, "replay", "build", DIR, RESULTS / "traces.json"])
    plot(lab)


@case("traces/replayed-32", tier="all", needs=["traces/replayed"])
def replayed_32(lab: Lab) -> None:
    """One of them in 32-bit processes, on our driver in a guest."""
    lab.build("mesa-i386", "i386-image")
    in_i386([*COMPILER, "-o", DIR / "count-32.so", *COUNT])
    for file in ("bench/traces/run.py", "bench/lib/reporting.py"):
        shutil.copy(TOP / file, DIR)
    shutil.copy(RESULTS / "traces.json", DIR)
    there = lab.guest_path(DIR)
    lab.run("chroot", "/i386", "setarch", "i386", "python3", "-B", f"{there}/run.py", "replay", "--bits", "32",
            "--programs", "neverball", "/build", there, f"{there}/traces.json", i386=True, mem="4G", timeout=2400)
    shutil.copy(DIR / "traces.json", RESULTS)
    plot(lab)


def plot(lab: Lab) -> None:
    lab.call("bench/traces/plot.py", RESULTS / "traces.json", RESULTS / "traces.png")
    lab.record("traces")
