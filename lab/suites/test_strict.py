# SPDX-License-Identifier: MIT
"""The strict board (r7xx-board --strict): a driver that flushes where it must sees no difference,
and the counters say that the board did hold things back."""

from nomap_lab.paths import CHECK
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=45, tier="all", finds="a flush, an invalidation or a synchronisation that the driver forgets")

LOGS = CHECK / "strict"
BOARD = LOGS / "board.json"
NOTHING_MISSED = ("hdp_unseen_reads == 0", "tlb_stale_hits == 0", "pfp_stale_packets == 0")


@case("strict/rings-come-up")
def rings(lab: Lab) -> None:
    said = lab.run("sh", "-c", """
        dmesg --level=emerg,alert,crit,err,warn | grep -iE "radeon|drm|ttm|atom" || :
        echo $(dmesg | grep -cE "ring test on [035] succeeded|ib test on ring [035] succeeded")""",
                   module="stock", logs=LOGS, board="--strict")
    assert said == "6\n"
    # r600_pcie_gart_tlb_flush() flushes the HDP and then the TLB: when the table is pinned, when
    # the GART is enabled, and when each of six BOs is bound to it (write-back, interrupt ring,
    # three rings, pool of IBs). Writes that the driver did not flush arrived late.
    lab.counters(BOARD, "hdp_flushes >= 8", "tlb_invalidates >= 8", "hdp_late_lines > 0")


@case("strict/igt")
def igt(lab: Lab) -> None:
    lab.run("/build/igt-tests/run", "-r", "/build/check/igt-strict", "-T", "300", "-t",
            "radeon_gem_p(read|write)@(basic|gtt|before-gpu-read|after-gpu-write)$", logs=LOGS, board="--strict",
            timeout=900)
    # No GPU read missed a CPU write; no CPU read and no translation was stale.
    lab.counters(BOARD, "hdp_flushes > 100", "hdp_late_lines > 0", *NOTHING_MISSED)


@case("strict/caches")
def caches(lab: Lab) -> None:
    """What only a strict board shows: see docs/mutations.md."""
    lab.run("/build/igt-tests/run", "-r", "/build/check/igt-strict-caches", "-T", "400", "-t", "radeon_gem_rw_caches",
            logs=LOGS, board="--strict", timeout=900, append="radeon.lockup_timeout=60000")
    lab.counters(BOARD, "hdp_late_lines > 0", *NOTHING_MISSED)


@case("strict/steps", runner="igt", include=["radeon_gem_rw_steps@(time|flush-once|writer)"])
def steps(lab: Lab) -> None:
    """Where a load from VRAM takes long: a call lets others have the locks, and flushes once."""
    lab.igt(CHECK / "igt-strict-steps", timeout=900, board="--strict", append="radeon.lockup_timeout=60000")


# An R6xx, two Evergreens, one of Northern Islands, and Cayman, whose address spaces are igt/vm-strict's.
@case("strict/on-{chip}", chip=["rv670", "cedar", "palm", "turks", "cayman"])
def on_chip(lab: Lab, chip: str) -> None:
    """What strict/igt, strict/caches and strict/steps run, in one boot."""
    logs = LOGS / chip
    lab.run("/build/igt-tests/run", "-r", f"/build/check/igt-strict-{chip}", "-T", "400",
            "-t", "radeon_gem_p(read|write)@(basic|gtt|before-gpu-read|after-gpu-write)$", "-t", "radeon_gem_rw_caches",
            "-t", "radeon_gem_rw_steps@(time|flush-once|writer)", logs=logs, board=f"--chip {chip} --strict", timeout=900,
            append="radeon.lockup_timeout=60000")
    lab.counters(logs / "board.json", "hdp_flushes > 100", "hdp_late_lines > 0", "tlb_invalidates >= 8", *NOTHING_MISSED)


@case("strict/reclock-during-transfers")
def reclock(lab: Lab) -> None:
    """Power profiles with different memory clocks, in turn while data moves: radeon takes mclk_lock for writing."""
    lab.run("sh", "-c", """
        cd /sys/class/drm/card0/device
        [ "$(cat power_method)" = profile ]
        (while :; do
            for p in low mid high; do echo $p >power_profile; done
        done) &
        looper=$!
        /build/igt-tests/run -r /build/check/igt-reclock -t "radeon_gem_p(read|write)@(vram|gtt)$"
        rc=$?
        kill $looper
        exit $rc""", logs=LOGS, append="radeon.lockup_timeout=5000", timeout=300)
    lab.counters(BOARD, "memory_clock_changes >= 20")
