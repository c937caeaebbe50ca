# SPDX-License-Identifier: MIT
"""Divides the tests of a run into parts for guests that may die."""
import shutil
import xml.etree.ElementTree as xml
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from nomap_lab.piglit.select import sanitized, write_profile

SIZE = 25
Test = TypeVar("Test")


def make(directory: Path, names: Sequence[str]) -> None:
    """The directory of a part with tests of these names, to which the guest can write."""
    directory.mkdir(parents=True)
    (directory / "names").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    directory.chmod(0o777)


def divided(run: Path, whole: Callable[[], Iterator[tuple[str, Sequence[Test]]]],  # noqa: UP047 (.ci/lint has Debian 12's Python)
            tests_of: Callable[[Path], Sequence[Test]],
            write: Callable[[Path, Sequence[Test]], None]) -> list[Path]:
    """Divides the tests of a run into the directories RUN/parts/NAME; returns those that are left to be run.

    WHOLE yields the name and the tests of each part. When a guest has died, the part that it had begun and not
    finished is divided into its tests; if it was a single test, that test is what killed the guest: its result is
    Crash. TESTS_OF reads the tests of a part, WRITE makes its directory by make().
    """
    parts = run / "parts"
    if not parts.exists():
        parts.mkdir()
        parts.chmod(0o777)
        for name, tests in whole():
            write(parts / name, tests)
    for part in sorted(parts.iterdir()):
        if (part / "out/results.csv").exists() or not (part / "begun").exists():
            continue
        tests = tests_of(part)
        shutil.rmtree(part / "out", ignore_errors=True)
        if len(tests) == 1:
            (part / "out").mkdir()
            name = (part / "names").read_text(encoding="utf-8").strip()
            (part / "out/results.csv").write_text(f"{name},Crash,0\n", encoding="utf-8")
            continue
        shutil.rmtree(part)
        for i, test in enumerate(tests):
            write(parts / f"{part.name}.{i:03}", [test])
    return [part for part in sorted(parts.iterdir()) if not (part / "out/results.csv").exists()]


def write(directory: Path, tests: Sequence[xml.Element]) -> None:
    """A part of these tests of piglit."""
    make(directory, [sanitized(test.attrib["name"]) for test in tests])
    write_profile(directory / "profile.xml", tests)


def tests_of(directory: Path) -> list[xml.Element]:
    """The tests of DIRECTORY/profile.xml."""
    return list(xml.parse(directory / "profile.xml").getroot())


def divide(run: Path) -> list[Path]:
    """Divides piglit's tests of RUN/profile.xml into parts of at most 25, see divided()."""
    def whole() -> Iterator[tuple[str, list[xml.Element]]]:
        tests = tests_of(run)
        for i in range(0, len(tests), SIZE):
            yield f"{i:05}", tests[i:i + SIZE]

    return divided(run, whole, tests_of, write)
