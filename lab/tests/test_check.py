# SPDX-License-Identifier: MIT
"""lab/check on suites made for it, in a repository that has nothing else.

What is run, what is counted, the order that needs make, and what bad usage does.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nomap_lab.outside import copy_of_repository, outside
from nomap_lab.testing import last_words

HEAD = """from nomap_lab.testing import Lab, case, suite
from pathlib import Path
def note(word):
    with open(Path(__file__).parents[2] / "order", "a") as f:
        f.write(word + "\\n")
"""
SUITES = {
    "first": """pytestmark = suite(order=10, finds="")
@case("first/ok")
def ok(lab: Lab): note("ok")
@case("first/fails")
def fails(lab: Lab): lab.call("false")
@case("first/skips")
def skips(lab: Lab): lab.skip("no card")
@case("first/skips-mutely")
def mutely(lab: Lab): lab.call("sh", "-c", "exit 77", skip77=True)
@case("first/after-failure", needs=["first/fails"])
def after_failure(lab: Lab): note("never")
@case("first/after-skip", needs=["first/skips"])
def after_skip(lab: Lab): note("never")
@case("first/after-ok", needs=["first/ok"])
def after_ok(lab: Lab): note("after-ok")
""",
    "second": """pytestmark = suite(order=20, finds="", lane="builds")
@case("second/{what}", what=["good"])
def good(lab: Lab, what): assert what == "good"
@case("second/cases", runner="pytest")
def cases(lab: Lab): lab.pytest("made_up_cases.py")
@case("second/long", tier="all")
def long(lab: Lab): note("long")
""",
    "third": """pytestmark = suite(order=30, finds="", tier="all")
@case("third/ok")
def ok(lab: Lab): note("third")
""",
}


class MadeUp:
    """A repository with these suites."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for name, text in SUITES.items():
            (path / f"lab/suites/test_{name}.py").write_text(HEAD + text)
        (path / "made_up_cases.py").write_text("def test_one(): pass\ndef test_two(): pass\n")

    def check(self, *args: str) -> tuple[int, str, str]:
        """Runs lab/check. Returns its status, its output, and what the tests noted."""
        (self.path / "order").write_text("")
        done = subprocess.run(outside(["lab/check", *args], cwd=self.path), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=300)
        print(done.stdout, done.stderr)
        return done.returncode, done.stdout, " ".join((self.path / "order").read_text().split())

    def run(self, status: int, counts: str, *args: str) -> tuple[str, str]:
        """The same, with this status and this last line."""
        got, out, order = self.check(*args)
        assert (got, out.splitlines()[-1]) == (status, counts)
        return out, order

    def result(self, file: str) -> str:
        return (self.path / "build/check" / file).read_text()


@pytest.fixture(name="made_up", scope="module")
def new_made_up() -> Iterator[MadeUp]:
    with copy_of_repository("check", "lab", ":!lab/suites", "Makefile") as path:
        (path / "lab/suites").mkdir()
        yield MadeUp(path)


def test_tier_check(made_up: MadeUp) -> None:
    out, order = made_up.run(1, "5 passed, 3 failed, 2 skipped")
    assert sorted(order.split()) == ["after-ok", "ok"] and order.startswith("ok")
    assert re.search("(?m)^failed: first/fails: .*status 1", out)
    assert "failed: first/skips-mutely: skipped without a reason" in out
    assert "failed: first/after-failure: needs first/fails, which failed" in out
    assert "no card" in made_up.result("report.html")
    assert re.search('name="[^"]*test_one"', made_up.result("junit.xml"))


def test_tier_all(made_up: MadeUp) -> None:
    _out, order = made_up.run(1, "7 passed, 3 failed, 2 skipped", "--tier", "all", "--lanes", "1")
    assert sorted(order.split()) == ["after-ok", "long", "ok", "third"]


@pytest.mark.parametrize("args, passed, order", [
    ("third", 1, "third"),  # a suite, whatever its tier
    ("first ok", 1, "ok"),
    ("first first/ok", 1, "ok"),
    ("first after-ok", 2, "ok after-ok"),  # with what it needs
    ("first ok third", 2, "ok third"),
    ("second test_one", 1, ""),  # a case that only the runner knows
    ("second cases", 2, ""),
    ("second cases test_one", 2, ""),  # named itself, it runs whole
])
def test_some(made_up: MadeUp, args: str, passed: int, order: str) -> None:
    assert made_up.run(0, f"{passed} passed, 0 failed, 0 skipped", *args.split())[1] == order
    names = re.findall('<testcase [^>]*name="([^"]*)"', made_up.result("junit.xml"))
    assert len(names) == passed


def test_a_failure_names_the_command_and_not_the_build_before_it() -> None:
    assert last_words("[  0:01] igt: building\nigt: 2 tests: 1 pass, 0 skip, 1 fail\n[  0:02] igt: done in 1 s\n\n") \
        == "igt: 2 tests: 1 pass, 0 skip, 1 fail"
    assert not last_words("[ 12:01] igt: building\n")


def test_list(made_up: MadeUp) -> None:
    status, out, order = made_up.check("--list")
    assert status == 0 and order == ""
    first = ("ok", "fails", "skips", "skips-mutely", "after-failure", "after-skip", "after-ok")
    assert [line.split() for line in out.splitlines()] == [
        *([f"first/{name}", "check"] for name in first),
        ["second/good", "check"], ["second/cases", "check", "pytest"], ["second/long", "all"], ["third/ok", "all"]]


@pytest.mark.parametrize("args", ["--no-such-option", "no-such-suite", "first no-such-test", "--tier some",
                                  "--lanes 0"])
def test_bad_usage(made_up: MadeUp, args: str) -> None:
    assert made_up.check(*args.split())[::2] == (2, "")


def test_suite_that_cannot_be_read(made_up: MadeUp) -> None:
    broken = made_up.path / "lab/suites/test_fourth.py"
    broken.write_text("nonsense\n")
    try:
        made_up.run(1, "0 passed, 1 failed, 0 skipped", "fourth")
    finally:
        broken.unlink()
