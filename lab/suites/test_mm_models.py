# SPDX-License-Identifier: MIT
"""The models of kernel/mm/tests/frag are compared with statements of their rules.

The model of today's search is compared, address by address, with two kernels: the one that the
build root runs on, and the stock one in a guest. And a short run of threads.
"""

from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=27, finds="models of the search that are not what kernels do")

FRAG = "build/mm-tools/frag"
REPORT = ("python3", "kernel/mm/tests/frag/report.py", "--check")


@case("mm-models/rules")
def rules(lab: Lab) -> None:
    lab.build("mm-tools")
    lab.call(FRAG, "--test", "16")


@case("mm-models/this-kernel")
def this_kernel(lab: Lab) -> None:
    lab.build("mm-tools")
    native, models, report = (f"build/check/frag{x}.json" for x in ("-native", "-models", ""))
    lab.call(FRAG, "--kernel", "--steps", "25000", "--seeds", "1", "--json", native, skip77=True)
    lab.call(FRAG, "--models", "--steps", "120000", "--seeds", "1", "--json", models)
    lab.call(*REPORT, "--json", report, models, native)
    lab.call("python3", "kernel/mm/tests/frag/plot.py", report, "build/check/frag.png")


@case("mm-models/frag-report-finds-faults", runner="pytest")
def frag_report(lab: Lab) -> None:
    lab.pytest("kernel/mm/tests/frag/report_test.py")


@case("mm-models/stock-kernel")
def stock_kernel(lab: Lab) -> None:
    lab.run("/build/mm-tools/frag", "--kernel", "--steps", "6000", "--seeds", "1", "--json",
            "/build/check/frag-guest.json", board="none", radeon=False, timeout=120)
    lab.call(*REPORT, "build/check/frag-guest.json")


@case("mm-models/wrong-prediction-is-found")
def wrong_prediction(lab: Lab) -> None:
    """A prediction by another rule than the kernel's must fail."""
    lab.build("mm-tools")
    wrong = "build/check/frag-wrong.json"
    lab.call(FRAG, "--kernel", "--steps", "2000", "--seeds", "1", "--predict", "best-fit", "--json", wrong,
             ok=(1,), skip77=True)
    assert lab.status(*REPORT, wrong).status != 0


# vmastorm compares each new address with the guards of all stacks, so it must find a kernel whose
# guards are half as large.
@case("mm-models/storm")
def storm(lab: Lab) -> None:
    lab.run("/build/mm-tools/vmastorm", "--seconds", "3", board="none", radeon=False, timeout=60)


@case("mm-models/storm-finds-small-guards")
def storm_finds(lab: Lab) -> None:
    lab.run("/build/mm-tools/vmastorm", "--seconds", "5", status=1,
            board="none", radeon=False, timeout=60, append="stack_guard_gap=128")
    assert "in the guard of a stack" in lab.last_err


@case("mm-models/threads")
def threads(lab: Lab) -> None:
    lab.build("mm-tools")
    lab.call("build/mm-tools/threads", "--threads", "3000", "--runs", "1", "--json", "build/check/threads.json")
    lab.call("python3", "kernel/mm/bench/threads/report.py", "--check", "build/check/threads.json")


@case("mm-models/threads-report-finds-faults", runner="pytest", needs=["mm-models/threads"])
def threads_report(lab: Lab) -> None:
    lab.pytest("kernel/mm/bench/threads/report_test.py")
