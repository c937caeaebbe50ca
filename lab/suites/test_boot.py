# SPDX-License-Identifier: MIT
"""The board under the distribution's own kernel and radeon.ko: it must come up without a complaint,
copy right, and survive a hang."""

import re
from typing import Any

from nomap_lab.chips import parameters
from nomap_lab.paths import CHECK, TOP
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=40, finds="what the distribution's driver would say of the board, on each chip and interrupt")


def quiet(lab: Lab, **boot: Any) -> None:
    said = lab.run("sh", "-c", 'dmesg --level=emerg,alert,crit,err,warn | grep -iE "radeon|drm|ttm|atom" || :\n'
                   "ls /dev/dri/card0 /dev/dri/renderD128 >/dev/null", module="stock", **boot)
    assert not said.strip()


# How many tests of rings and IBs pass on other generations: of each ring that the driver uses. On R6xx that is no DMA ring, on
# Cayman both, and of the CP's three the first.
GENERATIONS = {"rv670": 4, "rs780": 4, "cedar": 6, "redwood": 6, "cypress": 6, "palm": 6, "barts": 6, "turks": 6, "caicos": 6,
               "cayman": 8, "aruba": 8}


def generation(lab: Lab, chip: str) -> None:
    """What radeon logs is what docs/boot-logs/ has, and nothing of it is a warning or an error."""
    out = lab.run("sh", "-c", """
        dmesg --level=emerg,alert,crit,err,warn | grep -iE "radeon|drm|ttm|atom"
        ls /dev/dri/card0 /dev/dri/renderD128 >/dev/null && echo --- &&
            dmesg | grep -v "ommand line:" | grep -E "radeon|\\[drm|\\[TTM|\\[1002:"
        """, module="stock", board=f"--chip {chip}", append=parameters(chip))
    loud, _, log = out.partition("---\n")
    assert not loud.strip()
    assert len(re.findall(r"ring test on [0345] succeeded|ib test on ring [0345] succeeded", log)) == GENERATIONS.get(chip, 6)
    log = re.sub(r"(?m)^\[ *[0-9.]+\] ", "", re.sub(r"in \d+ usecs", "in N usecs", log))
    found = CHECK / f"boot-logs/{chip}.txt"
    found.parent.mkdir(exist_ok=True)
    found.write_text(log, encoding="utf-8")
    assert log == (TOP / f"docs/boot-logs/{chip}.txt").read_text(encoding="utf-8"), f"another log: copy {found} to docs/boot-logs/"


@case("boot/stock-radeon-is-quiet")
def stock_is_quiet(lab: Lab) -> None:
    generation(lab, "rv710")


@case("boot/stock-radeon-is-quiet-on-{chip}", chip=["rv730", "rv740", "rv770"])
def chip_is_quiet(lab: Lab, chip: str) -> None:
    generation(lab, chip)


@case("boot/stock-radeon-on-{chip}", chip=["rv670", "cedar", "turks"])
def short_generation(lab: Lab, chip: str) -> None:
    generation(lab, chip)


@case("boot/stock-radeon-on-{chip}", chip=[c for c in GENERATIONS if c not in ("rv670", "cedar", "turks")], tier="all")
def long_generation(lab: Lab, chip: str) -> None:
    generation(lab, chip)


@case("boot/stock-radeon-is-quiet-without-msi")
def intx_is_quiet(lab: Lab) -> None:
    # QEMU unmaps the BARs at the first INTA# and has no timer to map them again
    # (no x-intx-mmap-timeout-ms for vfio-user): a console in VRAM is too slow then.
    quiet(lab, board="--interrupt intx", append="drm_kms_helper.fbdev_emulation=0")


@case("boot/ring-and-ib-tests")
def rings(lab: Lab) -> None:
    said = lab.run("dmesg", module="stock")
    assert len(re.findall("ring test on [035] succeeded|ib test on ring [035] succeeded", said)) == 6


@case("boot/pci-express")
def pci_express(lab: Lab) -> None:
    """If the board is conventional PCI, radeon makes write-combined and uncached BOs cached, and tests
    of these modes would test cached ones."""
    said = lab.run("dmesg", module="stock")
    assert re.search(r"pci .*\[1002:9540\].* PCIe Legacy Endpoint", said)
    assert not re.search(r"\[1002:9540\].*conventional PCI endpoint", said, re.I)
    assert re.search("enabling PCIE gen 2 link speeds", said, re.I)


@case("boot/pcie-gen2-link")
def link_speed(lab: Lab) -> None:
    link = [f"/sys/class/drm/card0/device/current_link_{what}" for what in ("speed", "width")]
    said = lab.run("cat", *link, module="stock")
    assert said == "5.0 GT/s PCIe\n16\n"


@case("boot/wc-and-uc-are-real")
def bo_caching(lab: Lab) -> None:
    lab.call("gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", "build/check/bo-caching",
             "lab/tests/guest/bo-caching.c")
    lab.run("/build/check/bo-caching", module="stock")


@case("boot/driver-version-stays")
def version(lab: Lab) -> None:
    """User space asks RADEON_INFO for what the module adds.

    The module must not raise the driver's version, as a later kernel uses the next number for something else.
    """
    stock, patched = (re.findall(r"Initialized radeon ([0-9.]*) ", lab.run("dmesg", module=module))
                      for module in ("stock", "patched"))
    assert len(stock) == 1 and re.fullmatch(r"2\.[0-9]+\.[0-9]+", stock[0]) and patched == stock


@case("boot/radeon-test")
def radeon_test(lab: Lab) -> None:
    """The driver's own copy tests move every GTT page; a small GTT keeps it short."""
    said = lab.run("dmesg", module="stock", append="radeon.test=1 radeon.gartsize=64")
    assert "Tested GTT->VRAM and VRAM->GTT copy" in said
    assert not re.search("Incorrect (VRAM|GTT)|failed.*copy", said)


@case("boot/screenshot")
def screenshot(lab: Lab) -> None:
    """A monitor would show the text console: the size that was set, more than one colour."""
    import matplotlib.image  # slow, and no other test needs it

    picture = lab.dir("screenshot") / "screen.png"
    lab.run("sh", "-c", "echo screenshot test >/dev/tty0; sleep 1", module="stock", screenshot=picture)
    pixels = matplotlib.image.imread(picture)
    assert pixels.shape[:2] == (768, 1024)
    assert len({tuple(colour) for row in pixels for colour in row}) > 1


@case("boot/monitor-on-{chip}", chip=["rv770", *GENERATIONS], tier="all")
def monitor(lab: Lab, chip: str) -> None:
    """Every pixel that is written to /dev/fb0 is on the monitor, in its place and colour."""
    import numpy
    from PIL import Image

    directory = lab.dir(f"monitor-{chip}")
    y, x = numpy.mgrid[:768, :1024]
    # No two pixels have the same colour.
    colours = numpy.stack([x & 255, y & 255, x >> 8 | y >> 8 << 2 | 0x50], axis=2).astype("uint8")
    (directory / "pixels").write_bytes(numpy.dstack([colours[:, :, ::-1], numpy.zeros_like(colours[:, :, 0])]).tobytes())
    # Text on the console sets a mode. Without a cursor the console changes nothing later.
    out = lab.run("sh", "-c", f"""
        echo >/dev/tty0; sleep 1; cd /sys/class/graphics/fb0 && cat virtual_size stride bits_per_pixel &&
            cat {lab.guest_path(directory / "pixels")} >/dev/fb0""", module="stock", screenshot=directory / "screen.png",
                  board=f"--chip {chip}", append=f"vt.global_cursor_default=0 {parameters(chip)}")
    assert out.split() == ["1024,768", "4096", "32"]
    with Image.open(directory / "screen.png") as picture:
        shown = numpy.asarray(picture.convert("RGB"))
    assert shown.shape == colours.shape
    wrong = numpy.argwhere((shown != colours).any(axis=2))
    assert not len(wrong), f"{len(wrong)} pixels differ, the first at y, x = {wrong[0]}"


@case("boot/counters")
def counters(lab: Lab) -> None:
    lab.run("true", module="stock", logs=CHECK / "counters")
    some = ("pm4_packets", "dma_packets", "irqs", "mmio_reads", "mmio_writes", "ibs", "fences")
    lab.counters(CHECK / "counters/board.json", *(f"{name} > 0" for name in some), "mc_faults == 0", "bad_packets == 0")


@case("boot/ring-copies-{what}", what=["and-hangs", "slow-engines"])
def ring_copy(lab: Lab, what: str) -> None:
    board = "--latency-us 500 --rate-mbps 200" if what == "slow-engines" else ""
    lab.run("/build/igt-tests/run", "-t", "radeon_ring_copy", "-r", "/build/check/ring-copy", module="stock",
            board=board, append="radeon.lockup_timeout=1500", timeout=120)
