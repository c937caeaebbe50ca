# SPDX-License-Identifier: MIT
"""What can be run: the choices, and the steps of each."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

#: Where nomap-tools installs the programs.
PROGRAMS = Path(os.environ.get("NOMAP_PROGRAMS", "/usr/libexec/nomap"))

#: Programs can lie in prefixes of their own below it, as igt_runner does on the live image.
PREFIXES = Path(os.environ.get("NOMAP_PREFIXES", "/opt"))

#: Parameters of the loaded kernel module; ours has some that Debian's lacks.
PARAMETERS = Path(os.environ.get("NOMAP_ROOT", "/")) / "sys/module/radeon/parameters"


@dataclass(frozen=True)
class Step:
    """A program of a choice. `{json}` in its words is a file for results, `{out}` a directory of its own.

    `means` is what a failure tells of the hardware. `needs` is a program that has to be there; with `module`,
    so has nomap's kernel module. Exit status 77 means that it does not run here.
    """

    name: str
    words: tuple[str, ...]
    minutes: int
    means: str
    needs: str = ""
    module: bool = False

    def missing(self) -> str:
        """Why it cannot be run here; "" if it can."""
        program = self.words[0] if self.words[0].startswith("/") else str(PROGRAMS / self.words[0])
        for word in (program, self.needs):
            if word and not shutil.which(word) and not list(PREFIXES.glob(f"*/usr/bin/{word}")):
                return f"{word} is not installed"
        if self.module and not list(PARAMETERS.glob("gem_rw_*")):
            return "it tests nomap's kernel module, which is not loaded"
        return ""

    def command(self, out: Path) -> list[str]:
        """The words to run, with results below `out`."""
        words = [w.format(json=out / f"{self.name}.json", out=out / self.name) for w in self.words]
        return words if words[0].startswith("/") else [str(PROGRAMS / words[0]), *words[1:]]


@dataclass(frozen=True)
class Choice:
    """Steps that are run together. `risk` is what can go wrong."""

    name: str
    about: str
    risk: str
    steps: tuple[Step, ...]

    @property
    def minutes(self) -> int:
        return sum(step.minutes for step in self.steps)


def igt(name: str, means: str, minutes: int, *tests: str, seconds: int = 120) -> Step:
    """IGT tests that match, which may take `seconds` each; they need igt_runner, which Debian 13 does not have."""
    words = [w for test in tests for w in ("-t", test)]
    return Step(name, ("igt-tests/run", "-r", "{out}", "-T", str(seconds), *words), minutes, means, needs="igt_runner", module=True)


SAFE = (
    Step("live-bos", ("live-bos", "--quick", "--live", "100,1000", "--arms", "mmap,mmap-temp,pwrite", "--json", "{json}"), 2,
         "bytes that a buffer does not have afterwards: order of write-combined stores, or the HDP's cache"),
    Step("transfer-paths", ("transfer-paths", "--quick", "--json", "{json}"), 3,
         "wrong bytes on one path only: by the CPU, the aperture's ordering; staged, the copy engine or the GART"),
    igt("igt-basic", "PREAD, PWRITE or TRANSFER do not work at all", 2, "@basic$"),
    igt("igt-order", "order of write-combined stores and of PCIe writes against the GPU's reads", 3,
        "radeon_gem_p(read|write)@(after-gpu-write|before-gpu-read)"),
    igt("igt-caches", "the HDP is not flushed or invalidated where it has to be", 2, "radeon_gem_rw_caches"),
    igt("igt-engine", "limits of the copy engines: sizes and alignment", 3, "radeon_gem_rw_align"),
    igt("igt-rings", "copies that the driver writes to the rings itself, without IBs: on R700 the fault for which Mesa leaves the DMA ring alone",
        1, "radeon_ring_copy@(dma|cp-dma|engines-in-turn)$"),
)
BENCHMARKS = (
    Step("live-bos-all", ("live-bos", "--fitting", "--json", "{json}"), 10, "a run that does not end: memory, or the limit of mappings"),
    Step("transfer-paths-all", ("transfer-paths", "--json", "{json}"), 10, "as transfer-paths"),
    Step("libdrm-maps", ("libdrm-maps", "--json", "{json}"), 2, "libdrm_radeon keeps more mappings than it may"),
    Step("clear-cost", ("clear-cost",), 2, "new buffers are not cleared"),
)
DESKTOP = (
    Step("desktop", ("desktop-compare", "{json}", "{out}"), 5,
         "wrong pixels with one of the two libraries: a copy of its driver's; no server with both: the card does not draw", needs="Xorg"),
)
PIGLIT = (
    Step("piglit-set", ("piglit-set", "{json}"), 8, "an upload, a readback or a copy of GL with wrong contents: the step's log has which"),
)
FULL = (
    # The driver notices a hang after ten seconds, and some tests make many.
    igt("igt-all", "any of the above; hangs and resets of the GPU, suspends", 30, ".*", seconds=600),
)
CHOICES = {
    "safe": Choice("safe", "Tests that neither hang nor reset the card.",
                   "A fault of the driver can still hang the card: save your work first.", SAFE),
    "benchmarks": Choice("benchmarks", "What uploads and downloads cost.",
                         "They take gigabytes of memory.", BENCHMARKS),
    "desktop": Choice("desktop", "An X server with Debian's Mesa, then with nomap's: mappings and ioctls.",
                      "The screen shows small squares; a text console comes back at the end.", DESKTOP),
    "piglit": Choice("piglit", "OpenGL: piglit's tests of uploads and readbacks.",
                     "A fault can still hang the card.", PIGLIT),
    "full": Choice("full", "All IGT tests. They hang and reset the card on purpose, and suspend devices.",
                   "The screen goes black again and again; the card may not come back until the next boot.", FULL),
}
