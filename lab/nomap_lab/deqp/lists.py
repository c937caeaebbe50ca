# SPDX-License-Identifier: MIT
"""Lists of tests: what a run consists of, and what Mesa CI has seen of dEQP on real chips."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from .. import mesa_ci
from ..paths import LabError, UsageError
from ..piglit import parts
from .source import MODULES, module_of, program

#: Tests that a guest runs before the next ones are begun.
SIZE = 200


def expected(source: Path, out: Path) -> None:
    """Takes the lines of dEQP and the CTS out of Mesa CI's lists in Debian's source package of Mesa.

    Writes OUT/CHIP-fails.txt, CHIP-skips.txt and CHIP-flakes.txt for each chip that Mesa CI has lists of.
    """
    out.mkdir(parents=True, exist_ok=True)
    found, _ = mesa_ci.read(source)
    for (chip, kind), listed in found.items():
        lines = [line for line in listed if re.match(r"dEQP-|KHR-", line)]
        # Skips and flakes are regular expressions, failures are "NAME,STATUS".
        (out / f"{chip}-{kind}.txt").write_text("".join(f"{line.split(' #')[0].strip()}\n" for line in lines), encoding="utf-8")


def read(text: str) -> list[str]:
    """The names in a list, each once; "#" begins a comment."""
    names = (line.split("#")[0].strip() for line in text.splitlines())
    return list(dict.fromkeys(name for name in names if name))


def choose(words: str, said: str, built: Path, only: Sequence[re.Pattern[str]]) -> list[str]:
    """The tests that --tests names: those of a file's text WORDS, or of a module of the build BUILT by its name.

    A line "NAME*" of a file is all tests of the modules' lists that begin so. Raises UsageError if there is no such test, and
    LabError with status 77 if the source lacks the module.
    """
    known = {name: read((built / f"lists/{name}.txt").read_text(encoding="ascii"))
             for name in MODULES if (built / f"lists/{name}.txt").exists()}
    if said in MODULES:
        if said not in known:
            raise LabError(f"the source of VK-GL-CTS lacks the program of {said}, {program(said)}", 77)
        names = known[said]
    else:
        everything = [test for tests in known.values() for test in tests]
        names = []
        for word in read(words):
            names += [t for t in everything if t.startswith(word[:-1])] if word.endswith("*") else [word]
        names = list(dict.fromkeys(names))
    if strange := [name for name in names if not module_of(name)]:
        raise UsageError(f"--tests {said}: no names of tests of dEQP or KHR: {', '.join(strange[:5])}")
    names = [name for name in names if not only or any(pattern.search(name) for pattern in only)]
    if not names:
        raise UsageError(f"--tests {said}: it names no test" + " that -t matches" * bool(only))
    return names


def sample(built: Path, count: int, seed: int) -> list[str]:
    """COUNT names of all lists, drawn at random from SEED, in the lists' order."""
    names = [test for name in MODULES if (built / f"lists/{name}.txt").exists()
             for test in read((built / f"lists/{name}.txt").read_text(encoding="ascii"))]
    chosen = set(random.Random(seed).sample(range(len(names)), min(count, len(names))))
    return [name for i, name in enumerate(names) if i in chosen]


def write_part(directory: Path, names: Sequence[str]) -> None:
    """A part of these tests, all of one module."""
    parts.make(directory, names)
    (directory / "program").write_text(program(module_of(names[0])) + "\n", encoding="ascii")


def names_of(directory: Path) -> list[str]:
    """The tests of DIRECTORY/names."""
    return read((directory / "names").read_text(encoding="ascii"))


def divide(run: Path, size: int) -> list[Path]:
    """Divides the tests of RUN/names into parts of one module and at most SIZE tests each, see parts.divided()."""
    def whole() -> Iterator[tuple[str, list[str]]]:
        names = names_of(run)
        for module in MODULES:
            own = [name for name in names if module_of(name) == module]
            for i in range(0, len(own), size):
                yield f"{module}.{i:06}", own[i:i + size]

    return parts.divided(run, whole, names_of, write_part)
