# SPDX-License-Identifier: MIT
"""The probe of radeon fails at each step, with both modules: it ends with an error, and the kernel reports nothing."""

import re
import shutil

from nomap_lab.paths import TOP
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=42, finds="a failed probe that oopses, leaks or leaves calls that crash")

PROGRAM = TOP / "kernel/tests/probe-fails"


def fail(lab: Lab, module: str, *args: str) -> None:
    lab.build("failprobe")
    # A guest that crashes would end its boot with a kernel report.
    program = shutil.copy(PROGRAM, lab.dir("probe-" + (args[0] if args else module)))
    out = lab.run(lab.guest_path(program), "/build/failprobe/failprobe.ko", *args, module=module, radeon=False, timeout=300)
    steps = re.search(r"probe-fails: (\d+) steps, 0 faults", out)
    assert steps and int(steps[1]) >= (1 if args else 8), out


@case("probe/fails-{module}", module=["patched", "stock"])
def fails(lab: Lab, module: str) -> None:
    """All steps behind which there is no device, in one boot, and then a probe that succeeds."""
    fail(lab, module)


# What --steps prints: each needs a boot, as radeon cannot be unbound.
STEPS = ("write-back", "fences", "interrupts", "ring", "gfx-ring-test", "dma-ring-test", "staging-buffer", "ib-tests")


@case("probe/steps")
def steps(lab: Lab) -> None:
    assert lab.call(PROGRAM, "--steps").split() == list(STEPS)


@case("probe/{step}", step=STEPS, tier="all")
def step(lab: Lab, step: str) -> None:
    """A device without a part of itself: the tests of PREAD and PWRITE pass there."""
    lab.build("igt")
    fail(lab, "patched", step, "/build/igt-tests")
