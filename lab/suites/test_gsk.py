# SPDX-License-Identifier: MIT
"""GTK's own tests of its GL renderer, against pictures that GTK has: on X with glamor on the board, and in software.

What fails in software, too, is no fault of the board.
"""

import shutil

from nomap_lab import graph, gsk
from nomap_lab.commands.desktop import STACKS
from nomap_lab.paths import BUILD, CHECK, TOP
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=57, tier="all", finds="a wrong picture of GTK's renderer, which draws with other features of OpenGL than "
                   "glamor")

OUT = CHECK / "gsk"


@case("gsk/{stack}", stack=list(STACKS))
def compared(lab: Lab, stack: str) -> None:
    """No test fails that passes in software."""
    graph.ensure("gsk-tests")
    module, mesa = STACKS[stack]
    shutil.rmtree(OUT / stack, ignore_errors=True)
    shutil.copytree(TOP / "emulator/tests/desktop", OUT / "session", dirs_exist_ok=True)
    lab.run(f"{lab.guest_path(OUT)}/session/gsk", lab.guest_path(BUILD / "gsk-tests"), lab.guest_path(OUT / stack), 60,
            image="desktop", module=module, mesa=mesa, mem="2G", timeout=3600, logs=OUT / f"{stack}-logs")
    lab.counters(OUT / f"{stack}-logs/board.json", "draws > 1000", "bad_packets == 0", "mc_faults == 0", "engine_panics == 0")
    renderers = {where: (OUT / stack / where / "renderer").read_text(encoding="utf-8", errors="replace")
                 for where in ("board", "software")}
    assert "AMD RV7" in renderers["board"] and "AMD" not in renderers["software"], renderers
    board, software = gsk.read(OUT / stack / "board"), gsk.read(OUT / stack / "software")
    for name, said in (("board", board), ("software", software)):
        others = [n for n, s in said.items() if s != "pass"]
        print(f"{name}: {len(said) - len(others)} of {len(said)} pass; not: {others}")
    assert len(board) > 150
    rounded = gsk.rounded(OUT / stack / "board", board)
    print(f"by rounding only: {rounded}; by the chip's precision: {sorted(gsk.BY_THE_CHIP)}")
    assert not gsk.worse(board, software, rounded)
