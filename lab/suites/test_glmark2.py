# SPDX-License-Identifier: MIT
"""glmark2 on X with glamor, Debian's unmodified kernel and Mesa, the board: its own validation, and
frames beside llvmpipe's (docs/glmark2.md)."""

import re

from nomap_lab.paths import CHECK, RESULTS
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=57, finds="a scene of glmark2 that the board does not draw as llvmpipe does")

# The 3D engine drew without faults and without unknown packets.
NO_FAULTS = ("bad_packets == 0", "mc_faults == 0", "engine_panics == 0", "dropped_draws == 0")


@case("glmark2/sample")
def sample(lab: Lab) -> None:
    lab.lab("glmark2", "--sample", "--check", "--out", "check/glmark2-sample")


@case("glmark2/sample-counters", needs=["glmark2/sample"])
def sample_counters(lab: Lab) -> None:
    lab.counters(CHECK / "glmark2-sample/logs/board.json", "draws > 100", *NO_FAULTS)


@case("glmark2/all", tier="all")
def all_scenes(lab: Lab) -> None:
    lab.lab("glmark2", "--check")


@case("glmark2/all-on-turks-{mesa}", tier="all", mesa=["unmodified", "patched"])
def all_on_turks(lab: Lab, mesa: str) -> None:
    """With Debian's module and Mesa, and with ours."""
    lab.lab("glmark2", "--check", "--chip", "turks", "--mesa", mesa, "--module", {"unmodified": "stock"}.get(mesa, mesa),
            "--out", f"results/glmark2-turks-{mesa}")
    lab.counters(RESULTS / f"glmark2-turks-{mesa}/logs/board.json", "draws > 100", *NO_FAULTS)


@case("glmark2/counters", tier="all", needs=["glmark2/all"])
def counters(lab: Lab) -> None:
    lab.counters(RESULTS / "glmark2/logs/board.json", "draws > 1000", *NO_FAULTS)


@case("glmark2/patched", tier="all", needs=["glmark2/all"])
def patched(lab: Lab) -> None:
    """Our module and Mesa draw the same bits."""
    lab.lab("glmark2", "--check", "--module", "patched", "--mesa", "patched", "--out", "check/glmark2-patched")
    debian, ours = RESULTS / "glmark2/board", CHECK / "glmark2-patched/board"
    logs = [(d / "glmark2.log").read_text(encoding="utf-8", errors="replace") for d in (debian, ours)]
    versions = {line for log in logs for line in re.findall("(?m)^.*GL_VERSION.*$", log)}
    assert len(versions) == 2, versions
    frames = sorted(debian.glob("*.ppm"))
    assert len(frames) == len(re.findall("(?m)^.*@frame", logs[0]))
    assert not [f.name for f in frames if f.read_bytes() != (ours / f.name).read_bytes()]
