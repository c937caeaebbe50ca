# SPDX-License-Identifier: MIT
"""The artifact cache: what it keeps, what it removes, and builds and look-ups at the same time."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nomap_lab import cache as lab_cache
from nomap_lab.cache import LEFTOVERS, digest, files_of

PROGRAM = """
import pathlib, sys, time
from nomap_lab.cache import cached
name, key, out, seconds = sys.argv[1:]
def build():
    with open(f"{out}.builds", "a") as f:
        f.write("built\\n")
    time.sleep(float(seconds))
    pathlib.Path(out, "file").write_text(key)
cached(name, key, pathlib.Path(out), build)
"""


class Cache:
    """A cache of this test's own."""

    def __init__(self, path: Path) -> None:
        self.path, self.store = path, path / "cache/artifacts"
        self.store.mkdir(parents=True)

    def start(self, n: int, name: str = "thing", out: str = "", seconds: float = 0) -> subprocess.Popen[str]:
        """cached() of artifact n in a process and, if out is not given, a directory of its own."""
        env = {**os.environ, "NOMAP_CACHE": str(self.path / "cache")}
        cmd = [sys.executable, "-c", PROGRAM, name, f"{n:020x}", str(self.path / (out or f"out-{n}")), str(seconds)]
        return subprocess.Popen(cmd, env=env, stderr=subprocess.PIPE, text=True)

    def build(self, n: int, name: str = "thing", out: str = "") -> str:
        """The same to its end. Returns what it said."""
        process = self.start(n, name, out)
        said = process.communicate(timeout=60)[1]
        assert process.returncode == 0, said
        assert (self.path / (out or f"out-{n}") / "file").read_text() == f"{n:020x}"
        return said

    def age(self, n: int, minutes: float, name: str = "thing") -> None:
        """As if n had been used that long ago for the last time."""
        then = time.time() - 60 * minutes
        os.utime(self.store / f"{name}-{n:020x}", (then, then))

    def there(self) -> list[int]:
        """The artifacts of the name "thing"."""
        return sorted(int(p.name[6:], 16) for p in self.store.glob("thing-0*"))


@pytest.fixture(name="cache")
def new_cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path)


def test_what_was_used_last_stays(cache: Cache) -> None:
    for n in (1, 2, 3, 4, 5):
        cache.build(n)
    cache.build(6, "thing-other")
    assert cache.there() == [1, 2, 3, 4, 5], "what was used within the hour stays"
    for n in (1, 2, 3, 4, 5):
        cache.age(n, 70 - n)
    cache.age(6, 500, "thing-other")
    cache.build(8)
    assert cache.there() == [4, 5, 8], "the three that were used last stay"
    assert (cache.store / f"thing-other-{6:020x}").is_dir(), "another name's artifact is gone"
    # Looked up from another directory, or just found to be up to date: that is use.
    for n, minutes in ((4, 300), (5, 300), (8, 200)):
        cache.age(n, minutes)
    assert "from cache" in cache.build(4, out="elsewhere")
    assert cache.build(5) == ""
    cache.build(9)
    assert cache.there() == [4, 5, 9], "those that were used stay, not those made last"


def test_leftovers_of_killed_builds(cache: Cache) -> None:
    for name, hours in ((".tmp.killed", 4), (".tmp.busy", 0)):
        (cache.store / name).mkdir()
        os.utime(cache.store / name, (time.time() - 3600 * hours,) * 2)
    cache.build(16)
    assert not (cache.store / ".tmp.killed").exists() and (cache.store / ".tmp.busy").exists()


def test_what_another_build_renames_meanwhile(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in the listing, and gone when its age is asked for."""
    asked: list[str] = []

    def listing(store: Path, pattern: str) -> Iterator[Path]:
        asked.append(pattern)
        return iter([store / ".tmp.stored"])

    monkeypatch.setattr(lab_cache, "CACHE", cache.path / "cache")
    monkeypatch.setattr(Path, "glob", listing)
    lab_cache._prune("thing")
    assert asked == [".tmp.*"]


def test_look_ups_beside_builds_that_prune(cache: Cache) -> None:
    numbers = range(32, 38)
    for n in numbers:
        cache.build(n)
        cache.age(n, 600)
    running = []
    for n in numbers:
        running += [cache.start(n, out=f"{d}-{n}") for d in "abc"] + [cache.start(n + 32)]
    for process in running:
        said = process.communicate(timeout=120)[1]
        assert process.returncode == 0, said
    assert all((cache.path / f"{d}-{n}/file").read_text() == f"{n:020x}" for d in "abc" for n in numbers)
    assert not list(cache.store.glob(".tmp.*"))


def test_two_that_want_the_same_directory(cache: Cache) -> None:
    both = [cache.start(1, "slow", "slow", 1) for _ in "ab"]
    assert [p.wait(60) for p in both] == [0, 0]
    assert (cache.path / "slow.builds").read_text() == "built\n", "both have built"


def test_leftovers_are_no_input(tmp_path: Path) -> None:
    """Tests by hand in a source directory do not change its builds' keys."""
    sources = tmp_path / "sources"
    (sources / "part").mkdir(parents=True)
    (sources / "part/code.c").write_text("int x;")
    before = digest(["word"], [sources])
    for name in LEFTOVERS:
        (sources / "part" / name).mkdir()
        (sources / "part" / name / "file").write_text(name)
    assert files_of(sources) == [sources / "part/code.c"]
    assert digest(["word"], [sources]) == before
    (sources / "part/.hidden").write_text("an input")
    assert digest(["word"], [sources]) != before
