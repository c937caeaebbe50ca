# SPDX-License-Identifier: MIT
"""dEQP and Khronos' tests (KHR) on the board's 3D engine: a sample of dEQP-GLES2 and GLES3 natively and in a guest, where results
must be the same, and all of each module natively. Skipped where there is no source of VK-GL-CTS or that lacks the module, but for
the groups of what fails on a real chip."""

import csv
import re

from nomap_lab.paths import BUILD, CHECK, RESULTS
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=67, tier="all", lane="builds", finds="what dEQP sees and piglit does not; a result that "
                   "native tests, strict ones and those in a guest do not share")

OUT = RESULTS / "deqp"
FAILS = BUILD / "deqp-expected/rv770-fails.txt"
SAMPLES = {"native": ["--native"], "strict": ["--native", "--strict"], "guest": ["--module", "stock"]}


@case("deqp/groups", tier="check")
def groups(lab: Lab) -> None:
    """The numbers in docs/deqp.md, of Mesa CI's list."""
    lab.build("deqp-expected")
    lab.call("python3", "-m", "nomap_lab.deqp.groups", FAILS)


@case("deqp/groups-pass")
def passing(lab: Lab) -> None:
    """Which of them pass on the board. Any result is taken by lab/deqp, as all fail on a real RV770."""
    lab.build("deqp-expected")
    tests = CHECK / "deqp-groups.tests"
    tests.write_text(lab.call("python3", "-m", "nomap_lab.deqp.groups", FAILS), encoding="ascii")
    lab.deqp("--mesa", "unmodified", "--native", "--chip", "rv770", "--tests", tests, out=OUT / "groups")
    lab.call("python3", "-m", "nomap_lab.deqp.groups", FAILS, OUT / "groups/results.csv")


@case("deqp/{where}", runner="piglit", where=list(SAMPLES))
def sample(lab: Lab, where: str) -> None:
    tests = CHECK / f"deqp-{where}.tests"
    tests.write_text(lab.deqp_sample("300", "--seed", "31"), encoding="ascii")
    lab.deqp("--mesa", "unmodified", *SAMPLES[where], "--chip", "rv770", "--tests", tests, out=OUT / where)


@case("deqp/same-{where}", needs=["deqp/native", "deqp/{where}"], where=["strict", "guest"])
def same(lab: Lab, where: str) -> None:
    lab.call("python3", "-m", "nomap_lab.piglit.compare", "--same", OUT / "native", OUT / where)


@case("deqp/all-{module}", runner="piglit", module=["gles2", "gles3", "khr-gl33", "khr-gles2", "khr-gles3"])
def whole(lab: Lab, module: str) -> None:
    lab.deqp("--mesa", "unmodified", "--native", "--chip", "rv770", "--tests", module, out=OUT / f"all-{module}")


@case("deqp/{module}-{chip}", runner="piglit", module=["gles2", "gles3"], chip=["rv670", "cedar", "turks", "cayman"])
def whole_on(lab: Lab, module: str, chip: str) -> None:
    lab.deqp("--mesa", "unmodified", "--native", "--chip", chip, "--tests", module, out=OUT / f"{module}-{chip}")


@case("deqp/khr-gles31-turks", runner="piglit")
def whole_with_patches(lab: Lab) -> None:
    """With our Mesa: hundreds fail with Debian's, by the faults that series A mends (docs/deqp.md)."""
    lab.deqp("--mesa", "patched", "--native", "--chip", "turks", "--tests", "khr-gles31", out=OUT / "khr-gles31-turks")


@case("deqp/gles31-turks-fails", runner="piglit")
def fails_of_turks(lab: Lab) -> None:
    """What fails on a real Turks passes with our Mesa: of dEQP-GLES31 it was r600 that failed (docs/deqp.md)."""
    lab.build("deqp-expected")
    listed = (BUILD / "deqp-expected/turks-fails.txt").read_text(encoding="utf-8")
    names = re.findall(r"^dEQP-GLES31\.[^,]*", listed, re.MULTILINE)
    only = [word for name in names for word in ("-t", f"^{re.escape(name)}$")]
    out = OUT / "gles31-turks-fails"
    lab.deqp("--mesa", "patched", "--native", "--chip", "turks", "--tests", "gles31", *only, out=out)
    with open(out / "results.csv", encoding="utf-8") as f:
        results = {row[0]: row[1] for row in csv.reader(f)}
    assert len(results) > 300, f"only {len(results)} tests"
    failed = [name for name, result in results.items() if "Pass" not in result]
    assert not failed, f"{len(failed)} do not pass: {failed[:3]}"
