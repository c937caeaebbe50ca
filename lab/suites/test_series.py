# SPDX-License-Identifier: MIT
"""The driver as patches for the kernel's lists: made from the overlay, applied, and built patch by patch."""

import re
import shutil
from pathlib import Path

from nomap_lab.paths import BUILD
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=70, lane="builds",
                   finds="a series for the lists that does not apply, pass checkpatch or build at each patch")


def refuses_placeholders(lab: Lab, series: str) -> None:
    """The series is not sent with a placeholder's sign-off."""
    refused = lab.status("kernel/check-series.sh", "send", series)
    assert refused.status == 1 and "placeholder" in refused.err and "send-email" not in refused.out


def empty(name: str) -> Path:
    """An empty directory in build: guests that boot beside take build/check, and git reads no repository of another user."""
    path = BUILD / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


STEPS = {"applies": "apply", "checkpatch": "style", "documentation": "docs"}


@case("series/make")
def make(lab: Lab) -> None:
    lab.call("kernel/series.sh", "/usr/src/linux-source-6.12.tar.xz", "build/series")


@case("series/{step}", needs=["series/make"], step=list(STEPS))
def check(lab: Lab, step: str) -> None:
    lab.call("kernel/check-series.sh", STEPS[step], "build/series")


@case("series/placeholders", needs=["series/make"])
def placeholders(lab: Lab) -> None:
    """Nor with another placeholder: that of the base commit, or of the link in the cover letter."""
    refuses_placeholders(lab, "build/series")
    signed = empty("series-signed")
    lab.call("cp", "-r", "kernel", "docs/results", signed)
    (signed / "docs").mkdir()
    (signed / "results").rename(signed / "docs/results")
    (signed / "kernel/upstream/sender").write_text("A Sender <sender@lists.test>\n", encoding="utf-8")
    send = (signed / "kernel/check-series.sh", "send")
    old = lab.status(*send, "build/series")
    assert old.status == 1 and "make the series again" in old.err and "send-email" not in old.out
    lab.call(signed / "kernel/series.sh", "/usr/src/linux-source-6.12.tar.xz", signed / "series")
    letter = signed / "series/0000-cover-letter.patch"
    text = letter.read_text(encoding="utf-8")
    for said, real in (("base-commit", 40 * "0"), ("Mesa", "https://lists.test/1")):
        refused = lab.status(*send, signed / "series")
        assert refused.status == 1 and said in refused.err and "send-email" not in refused.out
        text, count = re.subn(f"(?m)^{said}: .*", f"{said}: {real}", text)
        assert count == 1
        letter.write_text(text, encoding="utf-8")
    assert "git send-email" in lab.call(*send, signed / "series")


@case("series/each-patch-builds", tier="all", needs=["series/make"])
def each_builds(lab: Lab) -> None:
    lab.call("kernel/check-series.sh", "build", "build/series")


@case("series/fixes")
def fixes(lab: Lab) -> None:
    """The fixes of the unmodified driver apply without the driver's hooks, and are not sent with a placeholder's sign-off."""
    lab.call("kernel/fixes.sh", "/usr/src/linux-source-6.12.tar.xz", "build/series-fixes")
    for step in ("apply", "style"):
        lab.call("kernel/check-series.sh", step, "build/series-fixes")
    refuses_placeholders(lab, "build/series-fixes")


@case("series/fixes-of-a-kernel-that-has-them", needs=["series/fixes"])
def fixes_there(lab: Lab) -> None:
    """build.sh leaves fixes out that the source has, and stops where it cannot tell."""
    fix = ("bash", "-euc", '. kernel/lib.sh; choose_fixes 6.12; apply_fixes "$1"', "fixes.sh")
    tree = empty("series-fixed")
    lab.call("cp", "-r", "build/series-fixes/tree", tree)
    git = ("git", "-C", tree / "tree")
    count = int(lab.call(*git, "rev-list", "--count", "base..").strip())
    for had in sorted({0, 1, count // 2, count - 1, count}):
        lab.call(*git, "checkout", "-q", f"HEAD~{count - had}", "--", ".")
        lab.call(*fix, tree / "tree")
        assert not lab.call(*git, "diff", "HEAD"), f"a source with {had} of {count} fixes becomes another one"
    source = tree / "tree/drivers/gpu/drm/radeon/r600_cs.c"
    source.write_text(source.read_text(encoding="utf-8").replace("cb size not set", "CB_COLOR_SIZE missing"), encoding="utf-8")
    done = lab.status(*fix, tree / "tree")
    assert done.status == 1 and re.search("0001-.*does not apply without fuzz", done.err)


@case("series/each-fix-builds", tier="all", needs=["series/fixes"])
def each_fix_builds(lab: Lab) -> None:
    lab.call("kernel/check-series.sh", "build", "build/series-fixes")
