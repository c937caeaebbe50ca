# SPDX-License-Identifier: MIT
"""The content-keyed cache of what is built, shared by all checkouts of a machine."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .paths import CACHE, TOP, LabError, locked, say, shown

#: Directories that builds, tests and linters leave in a source directory, and git's.
LEFTOVERS = ("target", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".git")


def files_of(path: Path) -> list[Path]:
    """The files of an input: a file, or all in a directory that a build can see.

    Documents (*.md) change no build. Raises LabError if there is no such input.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise LabError(f"{shown(path)}, an input of a build, is missing: git checkout {shown(path)}")
    found = []
    for directory, names, files in os.walk(path):
        names[:] = sorted(n for n in names if n not in LEFTOVERS)
        found += [Path(directory, f) for f in sorted(files) if not f.endswith((".md", ".pyc"))]
    return found


def digest(words: Iterable[str], inputs: Iterable[Path] = ()) -> str:
    """A content key of `words` and of the names, modes and contents of the files of `inputs`."""
    h = hashlib.sha256()
    for word in words:
        h.update(f"{len(word)} {word}\n".encode())
    for path in inputs:
        for f in files_of(path):
            mode = "x" if os.access(f, os.X_OK) and f.stat().st_mode & 0o100 else "-"
            name = f.relative_to(TOP) if f.is_relative_to(TOP) else f
            h.update(f"{mode} {name} {hashlib.sha256(f.read_bytes()).hexdigest()}\n".encode())
    return h.hexdigest()[:20]


@contextmanager
def _store_lock(how: int) -> Iterator[Path]:
    store = CACHE / "artifacts"
    store.mkdir(parents=True, exist_ok=True)
    with open(store / ".lock", "a", encoding="ascii") as f:
        fcntl.flock(f, how)
        yield store


def _copy(source: Path, target: Path, skip: tuple[str, ...] = ()) -> None:
    names = [str(p) for p in sorted(source.iterdir()) if p.name not in skip]
    if names:
        subprocess.run(["cp", "-a", "--reflink=auto", "-t", target, *names], check=True)


def _used(artifact: Path) -> bool:
    """Is this artifact there? If so, prune() keeps it for another hour at least."""
    with _store_lock(fcntl.LOCK_SH):
        if not artifact.is_dir():
            return False
        os.utime(artifact)
        return True


def _unchanged_for(path: Path) -> float:
    """Seconds since the directory was changed; 0 if another build has renamed or removed it meanwhile."""
    try:
        return time.time() - path.lstat().st_mtime
    except FileNotFoundError:
        return 0


def _prune(name: str) -> None:
    """Removes old artifacts of a name, and leftovers of killed builds.

    Those that were used last, and all that were used within the last hour, stay: another build may be
    copying them.
    """
    with _store_lock(fcntl.LOCK_EX) as store:
        own = [p for p in store.iterdir() if re.fullmatch(re.escape(name) + "-[0-9a-f]{20}", p.name)]
        own.sort(key=lambda p: -p.stat().st_mtime)
        old = [p for p in own[3:] if time.time() - p.stat().st_mtime > 3600]
        gone = []
        for p in old:
            gone.append(p.with_name(f".tmp.{p.name}.{os.getpid()}"))
            p.rename(gone[-1])
    gone += [p for p in store.glob(".tmp.*") if p not in gone and _unchanged_for(p) > 3 * 3600]
    for p in gone:
        shutil.rmtree(p, ignore_errors=True)


def is_current(key: str, out: Path) -> bool:
    """Does the directory hold what was built for this key?"""
    try:
        return (out / ".key").read_text(encoding="ascii").strip() == key
    except OSError:
        return False


def cached(name: str, key: str, out: Path, build: Callable[[], None]) -> None:
    """Makes the directory `out` hold what `build` produces.

    `build` runs only if neither `out` nor the cache has it for `key` already. It fills `out` itself
    and may reuse what is in there (incremental build); files below out/work are never cached. Calls
    with the same `out` wait for each other.
    """
    with locked(out.parent / f".{out.name}.lock"):
        artifact = CACHE / "artifacts" / f"{name}-{key}"
        found = _used(artifact)
        if is_current(key, out):
            return
        out.mkdir(parents=True, exist_ok=True)
        if found:
            for p in out.iterdir():
                if p.name != "work":
                    shutil.rmtree(p) if p.is_dir() and not p.is_symlink() else p.unlink()
            _copy(artifact, out)
            (out / ".key").write_text(key + "\n", encoding="ascii")
            say(f"{name}: from cache ({key})")
            return
        say(f"{name}: building")
        begun = time.monotonic()
        (out / ".key").unlink(missing_ok=True)
        build()
        new = Path(tempfile.mkdtemp(prefix=".tmp.", dir=artifact.parent))
        try:
            _copy(out, new, ("work", ".key"))
            new.chmod(0o755)
        except (OSError, subprocess.CalledProcessError) as e:
            shutil.rmtree(new, ignore_errors=True)
            raise LabError(f"{name}: built, but could not be stored in {shown(CACHE)} (disk full?)") from e
        try:
            new.rename(artifact)
        except OSError:
            # Another checkout has stored the same.
            shutil.rmtree(new, ignore_errors=True)
        (out / ".key").write_text(key + "\n", encoding="ascii")
        _prune(name)
        say(f"{name}: done in {time.monotonic() - begun:.0f} s")
