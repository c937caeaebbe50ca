# SPDX-License-Identifier: MIT
"""Style and static checks that need no guest. Those of .ci/lint run before each commit, too."""

from nomap_lab.paths import CHECK, TOP
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=10, lane="builds",
                   finds="style, unsafe shell, names of registries, checkpatch and sparse faults")

FAST = {"shellcheck": "shell", **{name: name for name in ("house", "spdx", "words", "whitespace", "syntax", "links", "version")}}


@case("lint/{check}", check=list(FAST))
def fast(lab: Lab, check: str) -> None:
    # With CI a missing tool is a failure; root may not read another user's repository with git.
    lab.call(".ci/lint", FAST[check], env={"CI": "true", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
                                           "GIT_CONFIG_VALUE_0": "*"})


@case("lint/fast-part-finds-faults", runner="pytest")
def fast_part(lab: Lab) -> None:
    lab.pytest(".ci/lint_test.py")


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


@case("lint/python")
def python(lab: Lab) -> None:
    """The lab's own Python: ruff, and mypy --strict."""
    lab.build("ruff")
    lab.call(TOP / "build/ruff/ruff", "check", "--no-cache", ".", cwd=TOP / "lab")
    lab.call("mypy", "--config-file", "pyproject.toml", "--cache-dir", CHECK / "mypy", cwd=TOP / "lab")
