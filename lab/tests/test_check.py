# SPDX-License-Identifier: MIT
"""lab/check on suites made for it, in a repository that has nothing else.

What is run, what is counted, the order that needs make, pytest's options, what is kept of an interrupted
run, what is shown on a terminal, and what bad usage does.
"""

import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from nomap_lab.outside import copy_of_repository, outside
from nomap_lab.paths import TOP
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
@case("third/first")
def first(lab: Lab): note("third-first")
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
    _out, order = made_up.run(1, "8 passed, 3 failed, 2 skipped", "--tier", "all", "--lanes", "1")
    assert sorted(order.split()) == ["after-ok", "long", "ok", "third", "third-first"]


@pytest.mark.parametrize("args, passed, order", [
    ("third", 2, "third third-first"),  # a suite, whatever its tier
    ("first ok", 1, "ok"),
    ("first first/ok", 1, "ok"),
    ("first after-ok", 2, "ok after-ok"),  # with what it needs
    ("first ok third", 3, "ok third third-first"),
    ("third third/first", 1, "third-first"),  # "first" alone is a suite as well
    ("first/ok", 1, "ok"),  # its name alone
    ("first/ok third/first second/good", 3, "ok third-first"),  # after a test of another suite
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
    assert last_words("[  0:01] mesa: building\nno space left\n(log: build/.lab/build.log)\n") == \
        "no space left (log: build/.lab/build.log)"
    assert not last_words("[ 12:01] igt: building\n")


def test_list(made_up: MadeUp) -> None:
    status, out, order = made_up.check("--list")
    assert status == 0 and order == ""
    first = ("ok", "fails", "skips", "skips-mutely", "after-failure", "after-skip", "after-ok")
    assert [line.split() for line in out.splitlines()] == [
        *([f"first/{name}", "check"] for name in first),
        ["second/good", "check"], ["second/cases", "check", "pytest"], ["second/long", "all"], ["third/ok", "all"],
        ["third/first", "all"]]


@pytest.mark.parametrize("args", ["--no-such-option", "no-such-suite", "first no-such-test", "--tier some",
                                  "--lanes 0"])
def test_bad_usage(made_up: MadeUp, args: str) -> None:
    assert made_up.check(*args.split())[::2] == (2, "")


def test_name_of_a_suite_and_of_a_test(made_up: MadeUp) -> None:
    """What is meant is asked for: neither more nor less than that is run."""
    done = subprocess.run(outside(["lab/check", "third", "first"], cwd=made_up.path), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 2 and "write third/first, or name the suite first before third" in done.stderr


def test_suite_that_cannot_be_read(made_up: MadeUp) -> None:
    broken = made_up.path / "lab/suites/test_fourth.py"
    broken.write_text("nonsense\n")
    try:
        made_up.run(1, "0 passed, 1 failed, 0 skipped", "fourth")
    finally:
        broken.unlink()


# pytest's options

@pytest.mark.parametrize("args, status, counts, order", [
    ("-k after-ok", 0, "1 passed, 0 failed, 0 skipped", "after-ok"),
    ("-k 'ok and not after'", 0, "2 passed, 0 failed, 0 skipped", "ok third"),  # of all tiers and suites
    ("first -k ok", 0, "2 passed, 0 failed, 0 skipped", "ok after-ok"),
    ("first -x", 1, "1 passed, 1 failed, 0 skipped", "ok"),
    ("first --maxfail 2", 1, "1 passed, 2 failed, 1 skipped", "ok"),
    ("first --maxfail=2", 1, "1 passed, 2 failed, 1 skipped", "ok"),
])
def test_options_that_choose(made_up: MadeUp, args: str, status: int, counts: str, order: str) -> None:
    assert made_up.run(status, counts, *shlex.split(args))[1] == order


def test_no_test_is_chosen(made_up: MadeUp) -> None:
    assert made_up.check("-k", "no-such-test")[::2] == (2, "")


def test_last_failed(made_up: MadeUp) -> None:
    made_up.run(1, "2 passed, 3 failed, 2 skipped", "first")
    made_up.run(1, "0 passed, 3 failed, 0 skipped", "--lf")
    names = re.findall('<testcase [^>]*\\bname="([^"]*)"', made_up.result("junit.xml"))
    assert set(names) == {"fails", "skips-mutely", "after-failure"}


def test_collect_only(made_up: MadeUp) -> None:
    """The tests are shown, none is run, and the results of the last run stay."""
    made_up.run(0, "1 passed, 0 failed, 0 skipped", "first", "ok")
    before = made_up.result("junit.xml")
    status, out, order = made_up.check("--co", "-k", "after or long")
    assert status == 0 and order == "" and made_up.result("junit.xml") == before
    shown = [line.rsplit("::", 1)[1] for line in out.splitlines() if "::" in line]
    assert shown == ["first/after-failure", "first/after-skip", "first/after-ok", "second/long"]


def test_junitxml(made_up: MadeUp) -> None:
    """pytest's own file, wherever it is asked for, beside ours."""
    made_up.run(1, "1 passed, 1 failed, 0 skipped", "first", "ok", "fails", "--junitxml", "build/mine.xml")
    mine = (made_up.path / "build/mine.xml").read_text()
    assert re.findall('<testcase [^>]*\\bname="([^"]*)"', mine) == ["first/ok", "first/fails"] and mine.count("<failure") == 1


# A run that is interrupted

STOPS = """pytestmark = suite(order=40, finds="", tier="all")
@case("stops/before")
def before(lab: Lab): note("before")
@case("stops/here")
def here(lab: Lab):
    note("here")
    lab.call("sh", "-c", "[ -e go-on ] || sleep 100", cwd=Path(__file__).parents[2])
@case("stops/after")
def after(lab: Lab): note("after")
"""


def test_resume(made_up: MadeUp) -> None:
    """What has ended is kept, and counted with what is run then; unless the repository's files have changed."""
    suite, go_on = made_up.path / "lab/suites/test_stops.py", made_up.path / "go-on"
    try:
        for change in ("", "# another state\n"):
            suite.write_text(HEAD + STOPS)
            go_on.unlink(missing_ok=True)
            (made_up.path / "order").write_text("")
            interrupted = subprocess.Popen(outside(["lab/check", "stops"], cwd=made_up.path), stdin=subprocess.DEVNULL)
            for _ in range(600):
                if "here" in (made_up.path / "order").read_text():
                    break
                time.sleep(0.1)
            interrupted.send_signal(signal.SIGTERM)
            assert interrupted.wait(30) == 143
            go_on.touch()
            suite.write_text(HEAD + STOPS + change)
            _out, order = made_up.run(0, "3 passed, 0 failed, 0 skipped", "stops", "--resume")
            assert order == ("before here after" if change else "here after")
    finally:
        suite.unlink()
        go_on.unlink(missing_ok=True)


def test_what_tests_use_cannot_be_built(made_up: MadeUp) -> None:
    """Without a build lab/check first builds what tests use. If that fails it says so once, and runs no test."""
    (made_up.path / "emulator").mkdir()  # the sources that are looked for then are not there
    try:
        done = subprocess.run(outside(["lab/check"], cwd=made_up.path), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=300)
    finally:
        (made_up.path / "emulator").rmdir()
    assert done.returncode == 1 and not re.search("(?m)^(ok|FAIL) ", done.stdout)
    assert len(re.findall("(?m)^nomap: error: ", done.stderr)) == 1 and "is missing: git checkout emulator/" in done.stderr


# On a terminal, and in a log

def on_terminal(words: Sequence[str]) -> str:
    """All that a program writes to a terminal."""
    ours, its = pty.openpty()
    said = b""
    with subprocess.Popen(words, stdin=its, stdout=its, stderr=its):
        os.close(its)
        while True:
            try:
                got = os.read(ours, 1 << 16)
            except OSError:  # the last one who had the terminal has ended
                break
            said += got
    os.close(ours)
    return said.decode()


def test_colours_on_a_terminal_only(made_up: MadeUp) -> None:
    words = ["first", "ok", "fails", "skips"]
    said = on_terminal(outside(["lab/check", *words], cwd=made_up.path))
    for colour, word in ((32, "ok  "), (31, "FAIL"), (33, "skip")):
        assert f"\033[{colour}m{word}\033[0m first/" in said
    out = made_up.check(*words)[1]
    assert "FAIL first/fails" in out and "\033" not in out and "\r" not in out


STAGES = """import os, time
from nomap_lab.graph import Progress
progress = Progress(2)
def tell(text): os.write(progress.write_fd, text.encode())
tell("[  0:00] one: building\\n")
time.sleep(2.5)
tell("[  0:02] one: done in 2 s\\n[  0:02] two: from cache (123)\\n")
progress.close()
"""


def test_progress_of_stages(made_up: MadeUp) -> None:
    """A line that moves on a terminal: stage, time, how many of how many are done. In a log only whole lines."""
    words = ["env", f"PYTHONPATH={TOP}/lab", sys.executable, "-B", "-c", STAGES]
    lines = ["[  0:00] one: building", "[  0:02] one: done in 2 s", "[  0:02] two: from cache (123)"]
    log = subprocess.run(words, stderr=subprocess.PIPE, text=True, check=True).stderr
    assert log.splitlines() == lines and "\033" not in log and "\r" not in log
    said = on_terminal(words)
    assert re.search(r"\r\033\[K  building one 0:0[12] \(0 of 2 done\)", said)
    # Each whole line takes the place of the moving one, and none of it is left.
    assert [part.rsplit("\r\033[K", 1)[-1] for part in said.replace("\r\n", "\n").split("\n")] == [*lines, ""]
