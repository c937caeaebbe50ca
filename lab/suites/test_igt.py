# SPDX-License-Identifier: MIT
"""The IGT tests under the patched module; on the stock one they must skip."""

import collections
import json
import re
from typing import Any

from nomap_lab.chips import OTHER_GENERATIONS, parameters
from nomap_lab.igt_sets import BASIC, CS_CHECK, HELD, OWN_BOOT
from nomap_lab.paths import CHECK, RESULTS, TOP
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=50, finds="wrong bytes, locks, limits and errors of PREAD, PWRITE and TRANSFER")


@case("igt/igt", runner="igt", exclude=[OWN_BOOT, CS_CHECK])
def igt(lab: Lab) -> None:
    lab.igt(RESULTS / "igt", timeout=1500, append="radeon.lockup_timeout=1500")


@case("igt/verdicts", runner="pytest")
def verdicts(lab: Lab) -> None:
    lab.pytest(*(f"igt-tests/{name}_test.py" for name in ("verdicts", "run", "descriptions", "counters")))


# Command streams that the unmodified driver does not survive: each in a boot of its own there, and all in one
# with ours, which has kernel/fixes/. The kernel's checker is R600's on one board, and Evergreen's on the other.
CS_FAULTS = {"rv710": ("cmask-without-buffer", "fmask-without-buffer", "base-level-one-above", "base-level-far-above",
                       "several-buffers", "colour-without-size", "part-of-a-relocation"),
             "turks": ("depth-without-buffer", "stencil-without-buffer", "pitch-of-all-ones", "slice-wraps", "slice-not-set",
                       "layer-wraps", "htile-beyond", "macro-tile-without-bytes")}
# The same of radeon_cs_check_bounds: streams that the unmodified driver takes.
BOUNDS = {"rv710": ("slices-wrap", "depth-far-away", "slice-below-a-row", "linear-beyond", "texture-layers", "texture-base-array",
                    "texture-pitch", "texture-before", "texture-mipmaps", "vertex-buffer-beyond", "stream-out-wraps",
                    "stream-out-without-size"),
          "turks": ("slice-below-a-row", "linear-shortened", "stencil-pitch", "texture-layers", "texture-before", "texture-mipmaps",
                    "vertex-buffer-beyond", "stream-out-wraps", "stream-out-without-size")}


@case("igt/cs-check-{chip}", runner="igt", include=[CS_CHECK], chip=list(CS_FAULTS))
def cs_check(lab: Lab, chip: str) -> None:
    lab.igt(CHECK / f"igt-cs-check-{chip}", timeout=300, board=f"--chip {chip}")


@case("igt/cs-check-on-{chip}", tier="all", chip=["rv670", "cayman"])
def cs_check_on(lab: Lab, chip: str) -> None:
    lab.igt(CHECK / f"igt-cs-check-{chip}", include=[CS_CHECK], timeout=300, board=f"--chip {chip}")


def run_program(lab: Lab, board: str, *words: str, **options: Any) -> str:
    """Runs a program of IGT's by itself, whatever its subtests' results are. Returns what it says."""
    lab.build("igt")
    return lab.run("sh", "-c", 'LD_LIBRARY_PATH=$(echo /opt/*/usr/lib/*-linux-gnu) "/build/igt-tests/$0" "$@" 2>&1 || :', *words,
                   status=None, board=board, timeout=120, allow_kernel_warnings=True, **options)


def failed_on_stock(lab: Lab, program: str, chip: str) -> tuple[set[str], str]:
    """The subtests of a program that fail with the distribution's module, and what it says."""
    out = run_program(lab, f"--chip {chip}", program, module="stock")
    return set(re.findall(r"Subtest (\S+): FAIL", out)), out


@case("igt/unmodified-bounds-on-{chip}", tier="all", chip=list(BOUNDS))
def unmodified_bounds(lab: Lab, chip: str) -> None:
    """The distribution's module takes what is behind the end of a BO, or before its beginning."""
    failed, out = failed_on_stock(lab, "radeon_cs_check_bounds", chip)
    assert failed == set(BOUNDS[chip]), (failed, out)
    # ENOENT instead of EINVAL: each has passed the check.
    assert len(re.findall("error: 2 != 22", out)) >= len(failed), out


# Kinds of copies that the distribution's module takes.
DMA_KINDS: dict[str, set[str]] = {"rv710": set(), "turks": {"0x48", "0x4b", "0x4c", "0x4f"},
                                  "cayman": {"0x41", "0x48", "0x49", "0x4b", "0x4c", "0x4d", "0x4f"}}


@case("igt/unmodified-dma-on-{chip}", tier="all", chip=list(DMA_KINDS))
def unmodified_dma(lab: Lab, chip: str) -> None:
    """The distribution's module has the DMA engine overwrite a BO that the stream does not name."""
    failed, out = failed_on_stock(lab, "radeon_cs_check_dma", chip)
    kinds = set(re.findall("takes copies of kind (0x..)", out))
    assert kinds == DMA_KINDS[chip], (kinds, out)
    assert failed == {"tiled-beyond", "packet-without-end"} | ({"copies-without-bounds"} if kinds else set()), (failed, out)
    assert "The copy has overwritten another BO." in out, out


@case("igt/shortened-on-{chip}", chip=["rv710", "turks"])
def shortened(lab: Lab, chip: str) -> None:
    """What the kernel shortens, and user space relies on, ends where its BO ends: in the packets that the GPU gets."""
    trace = lab.dir(f"shortened-{chip}") / "trace"
    out = run_program(lab, f"--chip {chip} --trace {trace}", "radeon_cs_check_bounds", "--run-subtest", "shortened")
    assert "Subtest shortened: SUCCESS" in out, out

    def packets(what: str) -> list[list[int]]:
        found = re.findall(rf" {what}\(0x..\) n=\d+ \[([0-9a-f, ]+)\]", trace.read_text(encoding="utf-8"))
        return [[int(word, 16) for word in words.split(", ")] for words in found]

    # CB_COLOR0_SIZE and CB_COLOR0_SLICE: 7 rows of 64 pixels are 7 tiles.
    register, value = {"rv710": (0x18, 6 << 10 | 7), "turks": (0x31a, 6)}[chip]
    assert [words[1] for words in packets("SET_CONTEXT_REG") if words[0] == register] == [value]
    # The first buffer ends where the BO does. The second has nothing to read, and gets the first byte of the BO.
    (_, short, last, *_), (_, none, nothing, *_) = packets("SET_RESOURCE")
    assert (last, nothing) == (255, 0) and short - none == (1 << 20) - 256


@case("igt/busy-while-moving", runner="igt", include=["radeon_gem_busy"])
def busy(lab: Lab) -> None:
    lab.igt(CHECK / "igt-busy", timeout=300)


@case("igt/bos-while-reclocking", runner="igt", include=["radeon_pm_profiles"])
def profiles(lab: Lab) -> None:
    lab.igt(CHECK / "igt-profiles", timeout=300)


# Each fault's chip and program, and what the program says of it. Only on R6xx the gfx ring moves BOs. Only Cayman has
# two DMA rings: a BO's move waits for one of them and for the gfx ring there.
UNMODIFIED = {fault: (chip, "radeon_cs_check", "") for chip, faults in CS_FAULTS.items() for fault in faults}
UNMODIFIED["hang-after-move"] = ("rv670", "radeon_ring_copy", "after the reset: byte ")
UNMODIFIED["move-after-both"] = ("cayman", "radeon_ring_copy", 'Failed assertion: count_messages(kmsg, "more dwords')


@case("igt/unmodified-{fault}", tier="all", fault=list(UNMODIFIED))
def unmodified(lab: Lab, fault: str) -> None:
    """The distribution's module has the fault: so the test sees it, and the fix is still needed."""
    chip, program, says = UNMODIFIED[fault]
    out = run_program(lab, f"--chip {chip}", program, "--run-subtest", fault, module="stock")
    assert f"Subtest {fault}: FAIL" in out and says in out, out


def suspend(lab: Lab, chip: str, program: str, subtests: str, **options: Any) -> str:
    """Runs subtests that suspend the devices, by a regular expression. Returns what the runner says."""
    # 9p does not come back from suspend, so nothing may be left on it.
    return lab.run("bash", "-c", """
        mkdir /tmp/igt && cd /tmp/igt && cp /build/igt-tests/{run,verdicts.py,$1} . &&
            echo "TESTLIST $1 END TESTLIST" | tr " " "\\n" >test-list.txt &&
            umount -l /build && exec ./run -t "$1@$2" -r /tmp/results""", "suspend", program, subtests,
                   board=f"--chip {chip}", append="radeon.lockup_timeout=1500", **options)


def suspends(lab: Lab, chip: str, program: str, subtests: str, count: int) -> None:
    """As suspend(): COUNT subtests pass, and none is skipped."""
    out = suspend(lab, chip, program, subtests, timeout=300)
    assert f"igt: {count} tests: {count} pass, 0 skip, 0 fail" in out, out


@case("igt/suspend")
def suspend_rv710(lab: Lab) -> None:
    suspends(lab, "rv710", "radeon_gem_rw_robust_gpu", "(hang-)?suspend", 3)


@case("igt/suspend-on-{chip}", tier="all", chip=["rv670", "cedar", "palm", "turks", "cayman"])
def suspend_on_chip(lab: Lab, chip: str) -> None:
    suspends(lab, chip, "radeon_gem_rw_robust_gpu", "(hang-)?suspend", 3)


@case("igt/hang-suspend-late-on-cedar", tier="all")
def hang_suspend_late(lab: Lab) -> None:
    """radeon_ring_copy needs nothing of ours: with the fixes the machine comes back."""
    suspends(lab, "cedar", "radeon_ring_copy", "hang-suspend-late", 1)


@case("igt/unmodified-hang-suspend-late", tier="all")
def unmodified_suspend(lab: Lab) -> None:
    """The distribution's module waits for ever on resume, so the guest does not end."""
    logs = CHECK / "unmodified-suspend"
    suspend(lab, "cedar", "radeon_ring_copy", "hang-suspend-late", module="stock", status=124, timeout=60, logs=logs)
    console = (logs / "console.log").read_text(encoding="utf-8", errors="replace")
    assert "starting subtest hang-suspend-late" in console and "finished subtest" not in console, console[-2000:]


# The distribution's module reads resources of BOs that others move, or have freed.
OOPSES = {"busy-while-moving": ("radeon_gem_busy", "moving", "radeon_gem_(busy|wait_idle)_ioctl"),
          "bos-while-reclocking": ("radeon_pm_profiles", "bos", "radeon_pm_set_clocks")}


@case("igt/unmodified-{fault}", tier="all", fault=list(OOPSES))
def unmodified_oops(lab: Lab, fault: str) -> None:
    program, subtest, function = OOPSES[fault]
    lab.build("igt")
    # What the oops leaves locked may keep the program for ever, and the guest from ending by itself.
    out = lab.run("sh", "-c", f"""
        export LD_LIBRARY_PATH=$(echo /opt/*/usr/lib/*-linux-gnu)
        timeout -k 5 60 /build/igt-tests/{program} --run-subtest {subtest} >/dev/null 2>&1 &
        for i in $(seq 60); do
            sleep 1
            dmesg | grep "BUG: " && break
            kill -0 $! 2>/dev/null || break
        done
        dmesg | grep "RIP: 0010:" || :""", module="stock", status=None, timeout=100, allow_kernel_warnings=True)
    assert "BUG: kernel NULL pointer dereference" in out and re.search(rf"RIP: 0010:{function}", out), out


@case("igt/skips-on-the-stock-module")
def stock_skips(lab: Lab) -> None:
    lab.run("bash", "-c", '/build/igt-tests/run -t "radeon_gem_p(read|write)" -r /build/check/igt-stock || :',
            module="stock", timeout=200)
    tests = json.loads((CHECK / "igt-stock/results.json").read_text(encoding="utf-8"))["tests"]
    assert tests and not {n: t["result"] for n, t in tests.items() if t["result"] not in ("skip", "notrun")}


OTHERS = ["radeon_gem_rw_(between|reset|caches|reclock)", "radeon_gem_rw_steps@(room|ahead)"]
NOT_OTHERS = ["reset_fails|cpu-reads-after-gpu"]


@case("igt/others", runner="igt", include=OTHERS, exclude=NOT_OTHERS)
def others(lab: Lab) -> None:
    lab.igt(RESULTS / "igt-others", timeout=900, append="radeon.lockup_timeout=1500")


@case("igt/counted", runner="igt", include=["radeon_gem_rw_steps@(spin|naps)"])
def counted(lab: Lab) -> None:
    """How long a call spins and how often it wakes up, in instructions."""
    lab.igt(RESULTS / "igt-counted", timeout=900, accel="icount", smp=1, append="radeon.lockup_timeout=60000")


# Each of these takes minutes, in a boot of its own.
@case("igt/held", tier="all", runner="igt", include=[HELD])
def held(lab: Lab) -> None:
    lab.igt(RESULTS / "igt-held", timeout=900, append="radeon.lockup_timeout=60000")


@case("igt/loads", tier="all", runner="igt", include=["radeon_gem_rw_align", BASIC])
def loads(lab: Lab) -> None:
    """Without the CPUs' hypervisor bit drm_memcpy_from_wc() has non-temporal loads, as on hardware."""
    lab.igt(RESULTS / "igt-loads", timeout=900, hypervisor=False)


@case("igt/reset-fails", tier="all", runner="igt", include=["radeon_gem_rw_reset_fails"])
def reset_fails(lab: Lab) -> None:
    """This test leaves the GPU unusable."""
    lab.igt(RESULTS / "igt-reset-fails", flags=["-T", "400"], timeout=600, append="radeon.lockup_timeout=5000")


@case("igt/other-boards", tier="all")
def other_boards(lab: Lab) -> None:
    """A BO that fills most of VRAM, and the packets of another chip."""
    lab.run("/build/igt-tests/run", "-t", "radeon_gem_clear@large", "-r", "/build/check/igt-large", board="--vram-mib 1024",
            timeout=400)
    lab.run("/build/igt-tests/run", "-t", "radeon_gem_rw_align@staged$", "-t", "radeon_gem_pwrite@", "-r", "/build/check/igt-rv770",
            board="--chip rv770", timeout=900)


# The bytes that radeon_gem_clear@large clears, those that it copies to VRAM by CP_DMA before, and those that one packet of the
# DMA engine has with 16 bits of its count.
LARGE = 900 << 20
COPIED = LARGE // (8 << 20) * (8 << 20)
BY_16_BITS = 0xffff * 4


@case("igt/large-on-{chip}", tier="all", chip=["rv670", "cedar"])
def large(lab: Lab, chip: str) -> None:
    """A BO of most of VRAM: filled by packets with counts of more than 16 bits on Evergreen, moved by CP_DMA on R6xx."""
    logs = CHECK / f"large-{chip}"
    # On R6xx radeon's GTT is too small for such a move, unless told otherwise.
    append = "radeon.gartsize=1024" if chip == "rv670" else ""
    lab.run("/build/igt-tests/run", "-t", "radeon_gem_clear@large", "-r", f"/build/check/igt-large-{chip}", logs=logs,
            board=f"--chip {chip} --vram-mib 1024", mem="3G", timeout=600, append=append)
    packets = LARGE // BY_16_BITS
    what = {"rv670": ("dma_packets == 0", f"cp_dma_bytes >= {COPIED + LARGE}"),
            "cedar": (f"dma_packets < {packets}", f"dma_bytes >= {LARGE}")}
    lab.counters(logs / "board.json", *what[chip])


def documented(chip: str, column: str) -> str:
    """The cell of a chip in the table of docs/hardware.md that has this column."""
    tables: list[str] = re.findall(r"(?m)(?:^\|.*\n)+", (TOP / "docs/hardware.md").read_text(encoding="utf-8"))
    for table in tables:
        head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
        for row in rows:
            if column in head and chip.upper() in row[0].split(", "):
                return row[head.index(column)]
    raise AssertionError(f"docs/hardware.md: nothing about {chip} in a column {column}")


def assert_documented(lab: Lab, chip: str, column: str) -> None:
    """docs/hardware.md says how many subtests pass on a chip, and how many are skipped."""
    count = collections.Counter(case.status for case in lab.cases)
    if lab.only or count["fail"]:
        return
    says = f"{count['pass']} pass" + (f", {count['skip']} skipped" if count["skip"] else "")
    cell = documented(chip, column)
    assert re.match(rf"{says}(?!, \d)", cell), f"docs/hardware.md, {chip}, {column}: {cell}, but it is: {says}"


# What each generation has: uploads, copies, hangs and resets.
EVERY_CHIP = ("radeon_gem_p(read|write)@basic$", "radeon_gem_transfer@", "radeon_ring_copy", "radeon_gem_rw_reset@staged-writes$")


@case("igt/on-{chip}", tier="all", runner="igt", include=EVERY_CHIP, exclude=["hang-suspend"],
      chip=OTHER_GENERATIONS)
def on_chip(lab: Lab, chip: str) -> None:
    lab.igt(CHECK / f"igt-{chip}", flags=["-q"], timeout=900, board=f"--chip {chip}", append=parameters(chip))
    assert_documented(lab, chip, "IGT")


# One chip of each way to copy and to flush: no DMA ring, Evergreen, VRAM in the machine's memory, Northern Islands, address spaces.
ONE_OF_EACH = ("rv670", "cedar", "palm", "turks", "cayman")


@case("igt/all-on-{chip}", tier="all", runner="igt", exclude=[OWN_BOOT, CS_CHECK], chip=ONE_OF_EACH)
def all_on_chip(lab: Lab, chip: str) -> None:
    """What igt/igt runs on RV710."""
    lab.igt(CHECK / f"igt-all-{chip}", timeout=1800, board=f"--chip {chip}", append="radeon.lockup_timeout=1500")
    assert_documented(lab, chip, "as `igt/igt`")


@case("igt/others-on-{chip}", tier="all", runner="igt", include=OTHERS, exclude=NOT_OTHERS, chip=ONE_OF_EACH)
def others_on_chip(lab: Lab, chip: str) -> None:
    """What igt/others runs on RV710."""
    lab.igt(CHECK / f"igt-others-{chip}", timeout=1200, board=f"--chip {chip}", append="radeon.lockup_timeout=1500")
    assert_documented(lab, chip, "as `igt/others`")


@case("igt/vm-{board}", tier="all", runner="igt", include=["radeon_gem_rw_vm"], board=["cayman", "strict"])
def address_spaces(lab: Lab, board: str) -> None:
    """Clients with and without an address space, on Cayman. On other chips these tests are skipped, here they must not be."""
    results = CHECK / f"igt-vm-{board}"
    lab.igt(results, timeout=600, board="--chip cayman" + (" --strict" if board == "strict" else ""))
    tests = json.loads((results / "results.json").read_text(encoding="utf-8"))["tests"]
    assert tests and not {n: t["result"] for n, t in tests.items() if t["result"] != "pass"}
