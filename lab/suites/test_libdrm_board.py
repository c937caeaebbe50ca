# SPDX-License-Identifier: MIT
"""libdrm_radeon with our patches on the board, with the patched and the stock module.

Contents, the example, an unmodified program, X with the DDX that goes through it; what maps are left,
and what mapping costs. One boot for each module, and one in which instructions are counted.
"""

import json
import shutil

from nomap_lab.paths import CHECK
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=62, finds="libdrm and X with it on either module: contents, mappings left, dearer mappings")

LDB = CHECK / "libdrm"
MAPS = ("python3", "bench/libdrm-maps/check.py")
PARTS = ["session", "board", "example", "unmodified", "x-ours", "x-debian", "picture"]


@case("libdrm-board/build")
def build(lab: Lab) -> None:
    """Builds the tests' programs, linked with the library that they test."""
    lab.build("libdrm", "bench")
    LDB.mkdir(parents=True, exist_ok=True)
    lab.sh("""
        export PKG_CONFIG_PATH=/nomap/build/libdrm/lib/pkgconfig
        flags="-O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -Icommon/bench -Icommon/radeon"
        gcc $flags libdrm/tests/board.c common/bench/{drm,util}.c common/radeon/radeon_guest.c -o "$1/board" \\
            $(pkg-config --cflags --libs libdrm_radeon libdrm) -Wl,-rpath,/build/libdrm/lib
        gcc $flags libdrm/tests/xdraw.c -o "$1/xdraw" -lX11
        install libdrm/tests/session libdrm/tests/x-session libdrm/tests/xorg.conf "$1" """, LDB)


@case("libdrm-board/{module}/{part}", module=["patched", "stock"], part=PARTS)
def module_part(lab: Lab, module: str, part: str) -> None:
    out, picture = LDB / module, LDB / f"{module}.png"
    if part == "session":
        # All steps in one boot.
        shutil.rmtree(out, ignore_errors=True)
        picture.unlink(missing_ok=True)
        lab.run(f"{lab.guest_path(LDB)}/session", "ioctl" if module == "patched" else "map", lab.guest_path(out),
                module=module, mesa="unmodified", timeout=1200, board="--bar-mib 512", screenshot=picture)
    elif part == "picture":
        # The monitor shows every pixel that was drawn, with either library.
        lab.call("python3", "libdrm/tests/check-picture.py", picture)
    else:
        print((out / f"{part}.log").read_text(encoding="utf-8", errors="replace"))
        assert (out / f"{part}.status").read_text(encoding="utf-8").strip() == "0"


@case("libdrm-board/maps")
def maps(lab: Lab) -> None:
    """100,000 BOs, each mapped and unmapped once: contents, and how many maps are left."""
    ours, debian = LDB / "patched/unmodified.json", LDB / "patched/unmodified-debian.json"
    lab.call(*MAPS, "--no-costs", ours, debian)
    assert '"live": 100000,' in ours.read_text(encoding="utf-8")


@case("libdrm-board/hot-map")
def hot_map(lab: Lab) -> None:
    """Instructions are counted, so that the ratio is the same on any machine. With ours there are more BOs than maps."""
    lab.run("bash", "-ec", """
        /build/bench/libdrm-maps --count --bos 5000 --json "$1/cost-debian.json"
        LD_LIBRARY_PATH=/build/libdrm/lib /build/bench/libdrm-maps --count --bos 30000 --json "$1/cost-ours.json" """,
            "bash", lab.guest_path(LDB), accel="icount", smp=1, timeout=400)
    ours = json.loads((LDB / "cost-ours.json").read_text(encoding="utf-8"))
    assert ours["live"] > max(row["maps"] for row in ours["rows"])
    lab.call(*MAPS, LDB / "cost-ours.json", LDB / "cost-debian.json")
