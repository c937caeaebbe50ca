# SPDX-License-Identifier: MIT
"""A short live-bos with its assertions. Counts must hold on any machine; times are shown, not checked."""

from nomap_lab.paths import CHECK
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=60, finds="mappings that should not be there, BOs with other contents")

REPORT = ("python3", "bench/live-bos/check.py", "--pool", "512")


@case("live-bos/arena")
def arena(lab: Lab) -> None:
    """The test of the arena that one of the arms uses, natively."""
    lab.build("bench")
    lab.call("build/bench/arena-test")


@case("live-bos/short")
def short(lab: Lab) -> None:
    lab.build("libdrm")
    lab.run("env", "RADEON_MAP_POOL_COUNT=512", "/build/bench/live-bos", "--quick", "--as-2011", "--live", "100,1000,2000",
            "--arms", "mmap,mmap-temp,arena,pwrite,libdrm,libdrm-map,libdrm-debian",
            "--json", "/build/check/live-bos.json", timeout=600)
    lab.call(*REPORT, CHECK / "live-bos.json")


@case("live-bos/stock-module")
def stock(lab: Lab) -> None:
    lab.build("libdrm")
    # transfer-paths runs in the same boot: without the ioctls it must end with 77.
    lab.run("bash", "-c", """
        RADEON_MAP_POOL_COUNT=512 /build/bench/live-bos --arms pwrite,mmap,libdrm --live 100,1500 \\
            --json /build/check/live-bos-stock.json || exit
        /build/bench/transfer-paths --quick
        [ $? = 77 ] || exit
        # More BOs than the CPU reaches VRAM for, as with an aperture of 256 MiB: a failure, and none for nomap-report.
        set -- --quick --arms mmap --domains vram --live 100,100000
        why="mmap, vram, N = 100000: skipped: the CPU reaches"
        /build/bench/live-bos "$@" >/tmp/said; [ $? = 1 ] && grep -q "$why" /tmp/said || exit
        /build/bench/live-bos "$@" --fitting >/tmp/said && grep -q "$why" /tmp/said""", module="stock", timeout=300)
    assert "unsupported" in (CHECK / "live-bos-stock.json").read_text(encoding="utf-8")
    # libdrm maps BOs then, and keeps no more maps than its pool has room for.
    lab.call(*REPORT, "--allow-unsupported", CHECK / "live-bos-stock.json")
