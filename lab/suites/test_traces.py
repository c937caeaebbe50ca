# SPDX-License-Identifier: MIT
"""Programs of Debian's, recorded by apitrace and replayed on the board's chip with three Mesas."""

from nomap_lab.paths import CHECK, RESULTS
from nomap_lab.procs import in_root
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=58, lane="builds", finds="a program whose frames Mesa with our series draws differently, or for which "
                   "it maps as much as Debian's Mesa")

DIR = CHECK / "traces"
RUN = ["python3", "-B", "bench/traces/run.py"]


@case("traces/recorded", tier="all")
def recorded(lab: Lab) -> None:
    """Each program draws with llvmpipe in a virtual X server; the first frames are kept."""
    lab.build("traces-root")
    out = lab.dir("traces")
    tests = "mesa-patches/tests"
    lab.call("gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{tests}", "-o", out / "count.so",
             "bench/traces/count.c", f"{tests}/glcount.c", f"{tests}/glstream.c", "-ldl", "-pthread")
    in_root("traces", [*RUN, "record", out])


@case("traces/replayed", tier="all", needs=["traces/recorded"])
def replayed(lab: Lab) -> None:
    lab.build("board", "mesa", "mesa-a")
    in_root("traces", [*RUN, "replay", "build", DIR, RESULTS / "traces.json"])
    lab.call("bench/traces/plot.py", RESULTS / "traces.json", RESULTS / "traces.png")
