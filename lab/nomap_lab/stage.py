# SPDX-License-Identifier: MIT
"""What a stage is: a node of the graph, and what its key is made of."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from .paths import BUILD, root_dir


@dataclass(frozen=True)
class Stage:
    """A node of the graph. `inputs` are paths of the repository, `after` stages, `packages` Debian's."""

    name: str
    build: Callable[[Path], None]
    about: str
    inputs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    #: Further words of the key, known when it is asked for.
    words: Callable[[], Iterable[str]] = tuple
    #: Free space in MiB that it needs.
    mib: int = 100
    #: Directory below build/, the name if empty.
    out: str = ""
    #: What it makes is in the cache itself: no copy of it is kept.
    is_there: Callable[[], bool] | None = None
    #: The source of `build` as it was loaded.
    recipe: str = ""

    @property
    def directory(self) -> Path:
        return BUILD / (self.out or self.name)


STAGES: dict[str, Stage] = {}


def stage(about: str, *, name: str = "", inputs: Iterable[str] = (), after: Iterable[str] = (),
          packages: Iterable[str] = (), words: Callable[[], Iterable[str]] = tuple, mib: int = 100, out: str = "",
          is_there: Callable[[], bool] | None = None) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    """Declares the decorated function, which fills the directory that it gets, as a stage."""

    def declare(build: Callable[[Path], None]) -> Callable[[Path], None]:
        own = name or build.__name__.replace("_", "-")
        STAGES[own] = Stage(own, build, about, tuple(inputs), tuple(after), tuple(packages), words, mib, out, is_there,
                            _recipe(build))
        return build

    return declare


@functools.cache
def installed(root: str) -> dict[str, str]:
    """The versions of the packages of a Debian root."""
    text = (root_dir(root) / "packages.txt").read_text(encoding="utf-8")
    return dict(line.split(" ", 1) for line in text.splitlines())


def _recipe(build: Callable[[Path], None]) -> str:
    """The source of a stage's function, and what is bound to it."""
    if isinstance(build, functools.partial):
        return _recipe(build.func) + repr(build.args)
    return inspect.getsource(build)
