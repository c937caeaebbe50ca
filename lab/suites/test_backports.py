# SPDX-License-Identifier: MIT
"""The driver on the newest kernel of trixie-backports: its hooks, the series and the package there, and
the IGT tests on the board."""

import re
import shutil
from pathlib import Path

from nomap_lab.backports import fact, inside
from nomap_lab.paths import BUILD, CHECK, TOP
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=75, tier="all", finds="the same driver faults on Linux 7: hooks, series, package, IGT")

BUILT = ["backports/build"]
MM = {"mm-applies": "apply", "mm-checkpatch": "style", "mm-oracle": "oracle",
      "mm-vma": "vma"}


@case("backports/no-network-is-said")
def no_network(lab: Lab) -> None:
    done = lab.status("unshare", "--net", "python3", "-m", "nomap_lab.backports", "newest")
    assert done.status == 1 and "No network" in done.err


@case("backports/build")
def build(lab: Lab) -> None:
    lab.call("lab/build", "backports", skip77=True)


@case("backports/checkpatch-sparse", needs=BUILT)
def check(lab: Lab) -> None:
    lab.call(*inside("kernel/check.sh", fact("source"), fact("version"), "build/check/backports-kernel"))


@case("backports/series", needs=BUILT)
def series(lab: Lab) -> None:
    lab.call(*inside("kernel/series.sh", fact("source"), "build/series-backports"))
    for step in ("apply", "style", "docs"):
        lab.call("kernel/check-series.sh", step, "build/series-backports")


@case("backports/package", needs=BUILT)
def package(lab: Lab) -> None:
    """The package finds this kernel's source, and has the files of which the booted module was built; one
    object is compiled from there."""
    d: Path = lab.dir("backports-deb")
    lab.build("radeon-deb")
    [deb] = (BUILD / "radeon-deb").glob("*.deb")
    lab.call("dpkg-deb", "-x", deb, d / "root")
    [source] = (d / "root/usr/src").glob("radeon-nomap-*")
    assert lab.call(*inside(source / "source-for", fact("version"))).strip() == fact("source")
    for f in ("build.sh", "lib.sh", "drivers", "include", "patches", "fixes"):
        lab.call("diff", "-r", TOP / "kernel" / f, source / "kernel" / f)
    lab.call(*inside("bash", source / "kernel/build.sh", fact("source"), fact("version"), d / "out", "radeon_gem_rw.o"))
    assert (d / "out/tree/drivers/gpu/drm/radeon/radeon_gem_rw.o").stat().st_size
    shutil.rmtree(d)


@case("backports/{step}", needs=BUILT, step=list(MM))
def mm(lab: Lab, step: str) -> None:
    lab.call(*inside("kernel/mm/check.sh", MM[step], fact("source"), "build/mm-backports"))


@case("backports/mm-boot", needs=BUILT)
def mm_boot(lab: Lab) -> None:
    """The series of kernel/mm in a guest: random changes keep the guards, and each address is where its model predicts it."""
    lab.build("mm-backports", "mm-tools")
    said = lab.run("bash", "-ec", """
        uname -r
        /build/mm-tools/vmastorm --seconds 15
        /build/mm-tools/frag --kernel --steps 5000 --seeds 3 --json /build/check/frag-backports.json""",
                   kernel="mm-backports", board="none", radeon=False, timeout=290)
    assert said.startswith("7."), said[:100]
    lab.call("python3", "kernel/mm/tests/frag/report.py", "--check", CHECK / "frag-backports.json")
    assert '"name": "gap-usable"' in (CHECK / "frag-backports.json").read_text(encoding="utf-8")


@case("backports/igt-skips-on-the-stock-module", needs=BUILT)
def stock_skips(lab: Lab) -> None:
    """IGT must skip all tests on a module without the ioctls, which only RADEON_INFO_GEM_RW tells."""
    said = lab.run("sh", "-c", "/build/igt-tests/run -t '@basic$' -r /build/check/igt-backports-stock || :",
                   kernel="backports", module="stock", timeout=200)
    assert re.search("(?m)^igt: [1-9][0-9]* tests: 0 pass, [1-9][0-9]* skip, 0 fail$", said)


# Each path, placement and lock. Alignments and races do not depend on the kernel, so they are tested
# on 6.12 only.
@case("backports/igt", needs=BUILT, runner="igt",
      include=["radeon_gem_[pct]", "radeon_gem_rw_(stage|objects|fuzz|robust_gpu)"])
def igt(lab: Lab) -> None:
    lab.igt(CHECK / "igt-backports", kernel="backports", timeout=600, append="radeon.lockup_timeout=1500")
