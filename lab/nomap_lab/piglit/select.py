# SPDX-License-Identifier: MIT
"""Chooses piglit tests and writes them as a profile for piglit-runner.

Tests are looked up by name in piglit's profiles quick_gl and quick_shader.
"""
import gzip
import random
import re
import xml.etree.ElementTree as xml
from collections.abc import Sequence
from pathlib import Path

from nomap_lab.paths import UsageError

from . import get

PROFILES = ("quick_gl", "quick_shader")
Tests = dict[str, xml.Element]
#: What the files of generated tests begin with that an R700 skips.
GENERATED = tuple(f"{get.SPEC}/{name}/" for name in get.GENERATED)


def sanitized(name: str) -> str:
    """A test's name in the results: they are comma-separated."""
    return name.replace(",", "-")


def read_profiles(piglit: Path) -> Tests:
    """The tests of both profiles of piglit's directory: name to XML element."""
    tests: Tests = {}
    for profile in PROFILES:
        with gzip.open(piglit / "tests" / f"{profile}.xml.gz") as file:
            for test in xml.parse(file).getroot():
                tests.setdefault(sanitized(test.attrib["name"]), test)
    return tests


def files(test: xml.Element) -> list[str]:
    """The files that a test's command names, in piglit's directory."""
    command = next(option.attrib["value"] for option in test if option.get("name") == "command")
    return re.findall(r"'((?:generated_)?tests/[^']*)'", command)


def is_there(piglit: Path, test: xml.Element) -> bool:
    """Whether all files that a test's command names are there."""
    return all((piglit / file).exists() for file in files(test))


def is_generated(test: xml.Element) -> bool:
    """Whether a test is one of those that an R700 skips, whose files are a stage of their own (see get.py)."""
    return any(file.startswith(GENERATED) for file in files(test))


def read_names(path: Path, tests: Tests) -> tuple[list[str], list[str]]:
    """The names that a file lists, each once, and its words that match no test.

    A line is a name; "NAME*" is all that begin with NAME, "#" begins a comment.
    """
    names: dict[str, None] = {}
    unknown = []
    for line in path.read_text(encoding="utf-8").splitlines():
        word = sanitized(line.strip())
        # Names may have a "#" in them.
        if word not in tests:
            word = word.split("#")[0].strip()
        if not word:
            continue
        if word.endswith("*"):
            found = [name for name in tests if name.startswith(word[:-1])]
        else:
            found = [word] if word in tests else []
        if not found:
            unknown.append(word)
        names.update(dict.fromkeys(found))
    return list(names), unknown


def sample(piglit: Path, count: int, seed: int, generated: bool) -> list[str]:
    """COUNT names of both profiles, drawn at random from SEED; with GENERATED also of those that an R700 skips."""
    names = sorted(name for name, test in read_profiles(piglit).items()
                   if (generated if is_generated(test) else is_there(piglit, test)))
    chosen = sorted(random.Random(seed).sample(names, min(count, len(names))))
    # wgl is for Windows. Its tests are removed from the sample, not before it is drawn, so that a seed keeps
    # its sample.
    return [name for name in chosen if not name.startswith("wgl@")]


def write_profile(path: Path, tests: Sequence[xml.Element]) -> None:
    """A profile of these tests."""
    root = xml.Element("PiglitTestList", count=str(len(tests)), name="profile")
    root.extend(tests)
    xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def listed(tests: Tests, file: Path, only: Sequence[re.Pattern[str]], said: str) -> list[str]:
    """The names of the tests that FILE lists and (if there is any) a pattern of ONLY matches.

    Raises UsageError, with SAID as FILE's name, if there is none, or one is not in the profiles TESTS.
    """
    names, unknown = read_names(file, tests)
    if only:
        names = [name for name in names if any(pattern.search(name) for pattern in only)]
    if unknown:
        raise UsageError(f"--tests {said}: not in piglit's quick_gl and quick_shader: {', '.join(unknown[:5])}")
    if not names:
        raise UsageError(f"--tests {said}: it names no test" + " that -t matches" * bool(only))
    return names


def choose(piglit: Path, names: Sequence[str], tests: Tests, generated: bool, out: Path) -> int:
    """Writes to the directory OUT those of the tests NAMES that are to be run:

    profile.xml   the tests, in the order of NAMES
    names         their names, as piglit-runner has them
    absent.csv    "name,Skip" for tests whose files are not in piglit's directory, and, without GENERATED, for
                  those that an R700 skips

    Returns how many are to be run.
    """
    out.mkdir(parents=True, exist_ok=True)
    present = [name for name in names if is_there(piglit, tests[name]) and (generated or not is_generated(tests[name]))]
    write_profile(out / "profile.xml", [tests[name] for name in present])
    (out / "names").write_text("".join(f"{name}\n" for name in present), encoding="utf-8")
    there = set(present)
    absent = (f"{name},Skip\n" for name in names if name not in there)
    (out / "absent.csv").write_text("".join(absent), encoding="utf-8")
    return len(present)
