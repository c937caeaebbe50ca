# SPDX-License-Identifier: MIT
"""Bugs planted in the series of kernel/mm, each of which a test in user space has to find.

A short mapstorm on Linux without and with the series, in guests that count instructions: what guards
cost, that nothing else costs more, and that both kernels choose the same addresses. And the models of
frag.
"""

from typing import Any

from nomap_lab.commands.bench_mm import RETPOLINE
from nomap_lab.paths import CHECK
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=68, tier="all",
                   finds="an operation on address spaces that kernel/mm makes dearer, or another address")

KERNELS = ["mapstorm/kernels"]
BOTH = ["mapstorm/before", "mapstorm/after"]
BRK = ["mapstorm/brk-before", "mapstorm/brk-after"]
KERNEL = {"before": "mm-base", "after": "mm"}
COUNTED: dict[str, Any] = {"accel": "icount", "smp": 1}
BRK_STORM = ("/build/mm-tools/brk-storm", "--quick", "--count", "--json")


@case("mapstorm/planted-bugs")
def planted(lab: Lab) -> None:
    lab.call("kernel/mm/check.sh", "planted", "/usr/src/linux-source-6.12.tar.xz", "build/mm-planted")


@case("mapstorm/kernels")
def kernels(lab: Lab) -> None:
    lab.build("mm-base", "mm")


@case("mapstorm/models", needs=KERNELS)
def models(lab: Lab) -> None:
    """vmastorm makes random changes. frag detects that the kernel has the series, and predicts each address;
    fewer rounds of its own test would not tell all models apart."""
    lab.run("bash", "-ec", """
        /build/mm-tools/vmastorm --seconds 4
        /build/mm-tools/frag --test 4 >/dev/null
        /build/mm-tools/frag --kernel --steps 1000 --seeds 1 --json /build/check/frag-mm.json""",
            kernel="mm", timeout=120)
    lab.call("python3", "kernel/mm/tests/frag/report.py", "--check", CHECK / "frag-mm.json")
    assert '"name": "gap-usable"' in (CHECK / "frag-mm.json").read_text(encoding="utf-8")


@case("mapstorm/{when}", needs=KERNELS, when=list(KERNEL))
def count(lab: Lab, when: str) -> None:
    kernel = KERNEL[when]
    lab.run("bash", "-ec", f"""
        /build/mm-tools/mapstorm --quick --count --json /build/check/mapstorm-{kernel}.json
        {' '.join(BRK_STORM)} /build/check/brk-{kernel}.json""", kernel=kernel, timeout=200, append=RETPOLINE,
            **COUNTED)
    # Guards of one page, as shadow stacks have them.
    lab.run("bash", "-ec", f"""
        for kind in small page; do
            /build/mm-tools/mapstorm --quick --count --only $kind --json /build/check/mapstorm-$kind-{kernel}.json
        done""", kernel=kernel, timeout=150, append=f"{RETPOLINE} stack_guard_gap=1", **COUNTED)


@case("mapstorm/report", needs=BOTH)
def report(lab: Lab) -> None:
    counts = [f"build/check/mapstorm{x}-{kernel}.json" for x in ("", "-small", "-page") for kernel in ("mm-base", "mm")]
    lab.call("python3", "kernel/mm/bench/mapstorm/report.py", "--check", "--json", "build/check/mapstorm.json", *counts)
    lab.call("python3", "kernel/mm/bench/mapstorm/plot.py", "build/check/mapstorm.json", "build/check/mapstorm.png")


@case("mapstorm/report-finds-faults", needs=BOTH, runner="pytest")
def report_test(lab: Lab) -> None:
    lab.pytest("kernel/mm/bench/mapstorm/report_test.py")


@case("mapstorm/brk-{when}", needs=BOTH, when=list(KERNEL))
def count_brk(lab: Lab, when: str) -> None:
    """A second boot, in which the heap has other addresses."""
    kernel = KERNEL[when]
    lab.run(*BRK_STORM, f"/build/check/brk-2-{kernel}.json", kernel=kernel, timeout=200, append=RETPOLINE, **COUNTED)


@case("mapstorm/brk", needs=BRK)
def brk(lab: Lab) -> None:
    """The cost of brk in both boots: contents are right, and no step costs more."""
    counts = [f"build/check/brk{x}-{kernel}.json" for x in ("", "-2") for kernel in ("mm-base", "mm")]
    lab.call("python3", "kernel/mm/bench/brk-storm/report.py", "--check", "--json", "build/check/brk.json", *counts)


@case("mapstorm/brk-report-finds-faults", needs=BRK, runner="pytest")
def brk_report_test(lab: Lab) -> None:
    lab.pytest("kernel/mm/bench/brk-storm/report_test.py")
