# SPDX-License-Identifier: MIT
"""Style and static checks that need no guest."""

import re

from nomap_lab.paths import CHECK, TOP
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=10, lane="builds",
                   finds="style, unsafe shell, names of registries, checkpatch and sparse faults")

GIT = ("git", "-c", "safe.directory=*")
SOURCES = ("*.c", "*.h", "*.rs", "*.py", "*.sh", "*.toml", "*.build", "*.yml", "*.glsl", "lab/roots/*")


def files(lab: Lab, *patterns: str) -> list[str]:
    """Files of the repository that are there and are no links."""
    found = lab.call(*GIT, "ls-files", *patterns).splitlines()
    return [f for f in found if (TOP / f).is_file() and not (TOP / f).is_symlink()]


def head(file: str, lines: int) -> str:
    with open(TOP / file, encoding="utf-8", errors="replace") as f:
        return "".join(f.readline(1000) for _ in range(lines))


def grep(lab: Lab, *args: str) -> list[str]:
    """What git grep finds."""
    return lab.call(*GIT, "grep", *args, ok=(0, 1)).splitlines()


@case("lint/shellcheck")
def shellcheck(lab: Lab) -> None:
    # Sourced files and their variables (1090, 1091, 2034, 2154), QEMU's commas (2054), a last word after exec (2093).
    off = "SC1090,SC1091,SC2034,SC2154,SC2054,SC2093"
    shell = [f for f in files(lab) if re.search(r"(?m)^#!.*\b(ba)?sh$|shellcheck shell=", head(f, 2))]
    lab.call("shellcheck", "-x", "-S", "warning", "-e", off, *shell)


@case("lint/house")
def house(lab: Lab) -> None:
    """No registry host, no absolute path of one machine, no vendor firmware."""
    hosts = r"(deb|ftp\.[a-z]+|security)\.debian\.org|crates\.io/|pypi\.org"
    assert not grep(lab, "-nE", hosts, "--", ":!lab/suites", ":!*Cargo.lock")
    assert not [f for f in files(lab) if re.search(r"\.(bin|rom|fw)$", f)]


@case("lint/spdx")
def spdx(lab: Lab) -> None:
    """Every source file names its licence; patches carry those of the files they change."""
    programs = grep(lab, "-lIE", "^#!", "--", ":!*.patch")
    bad = {f for f in [*files(lab, *SOURCES), *programs] if "SPDX-License-Identifier:" not in head(f, 4)}
    assert not bad, f"no SPDX-License-Identifier in the first lines of {sorted(bad)}"


@case("lint/words")
def words(lab: Lab) -> None:
    """One word for one thing: directory, cannot, fast path and slow path, CPU-inaccessible VRAM."""
    wrong = r"can not|folders?|directorys|(short|long) ways?|vram beyond the aperture"
    found = grep(lab, "-nIwiE", wrong, "--", ":!*.patch", ":!lab/suites/test_lint.py", ":!kernel/mm/tried")
    # piglit-runner has an option of that name.
    assert not [line for line in found if "--piglit-folder" not in line]


@case("lint/cargo-fmt-clippy-doc")
def board(lab: Lab) -> None:
    lab.build("board-lint")


@case("lint/checks-table")
def checks_table(lab: Lab) -> None:
    """The table has all suites, in the tier that they are in."""
    (CHECK / "list.txt").write_text(lab.lab("check", "--list").out, encoding="utf-8")
    lab.call("python3", "-B", "-m", "nomap_lab.checks_table", "--check", "docs/checks.md", "build/check/list.txt")


@case("lint/kernel-checkpatch-sparse")
def kernel(lab: Lab) -> None:
    lab.build("kernel-lint")
