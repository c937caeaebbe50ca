# SPDX-License-Identifier: MIT
"""Divides the tests of a run into parts for guests that may die."""
import shutil
import xml.etree.ElementTree as xml
from collections.abc import Sequence
from pathlib import Path

from nomap_lab.piglit.select import sanitized, write_profile

SIZE = 25


def write(directory: Path, tests: Sequence[xml.Element]) -> None:
    """A part of these tests, to which the guest can write."""
    directory.mkdir(parents=True)
    write_profile(directory / "profile.xml", tests)
    names = (sanitized(test.attrib["name"]) for test in tests)
    (directory / "names").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    directory.chmod(0o777)


def divide(run: Path) -> list[Path]:
    """Divides the tests of RUN/profile.xml; returns the parts that are left to be run.

    RUN/parts/NNNN gets profile.xml and names of at most 25 of them. When a guest has died, the part that it had
    begun and not finished is divided into its tests; if it was a single test, that test is what killed the
    guest: its result is Crash.
    """
    parts = run / "parts"
    if not parts.exists():
        tests = list(xml.parse(run / "profile.xml").getroot())
        parts.mkdir()
        parts.chmod(0o777)
        for i in range(0, len(tests), SIZE):
            write(parts / f"{i:05}", tests[i:i + SIZE])
    for part in sorted(parts.iterdir()):
        if (part / "out/results.csv").exists() or not (part / "begun").exists():
            continue
        tests = list(xml.parse(part / "profile.xml").getroot())
        shutil.rmtree(part / "out", ignore_errors=True)
        if len(tests) == 1:
            (part / "out").mkdir()
            name = (part / "names").read_text(encoding="utf-8").strip()
            (part / "out/results.csv").write_text(f"{name},Crash,0\n", encoding="utf-8")
            continue
        shutil.rmtree(part)
        for i, test in enumerate(tests):
            write(parts / f"{part.name}.{i:02}", [test])
    return [part for part in sorted(parts.iterdir()) if not (part / "out/results.csv").exists()]
