# SPDX-License-Identifier: MIT
"""Where things are, messages, and errors with a fault and a cure."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: The repository; in the build root that is /nomap.
TOP = Path(__file__).resolve().parents[2]
BUILD = TOP / "build"
RESULTS = BUILD / "results"
CHECK = BUILD / "check"
CACHE = Path(os.environ.get("NOMAP_CACHE", "/cache"))
#: The lab's own state: locks, stamps, directories of running guests.
STATE = BUILD / ".lab"
#: Is this the Debian 13 build root?
IN_ROOT = bool(os.environ.get("NOMAP_IN_ROOT"))
#: Users that run QEMU with the board, and builds: ids that no account has, from the range for
#: users made at run time.
GUEST_UID = 61902
BUILD_UID = 61901
#: / of the machine, as lab/roots/enter has left it open.
HOST_ROOT_FD = 9

os.environ.setdefault("NOMAP_T0", str(int(time.time())))


class LabError(Exception):
    """A fault, and its cure. Ends the command with the exit status `status`."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class UsageError(LabError):
    """Wrong arguments: exit status 2."""

    def __init__(self, message: str) -> None:
        super().__init__(message, 2)


def elapsed() -> str:
    """Time since the user's command began, as [m:ss]."""
    t = int(time.time()) - int(os.environ["NOMAP_T0"])
    return f"[{t // 60:3d}:{t % 60:02d}]"


def say(message: str) -> None:
    """One progress line, on stderr, or to the command that shows several stages at once."""
    fd = os.environ.get("NOMAP_SAY_FD")
    line = f"{elapsed()} {message}\n".encode()
    if fd:
        try:
            os.write(int(fd), line)
            return
        except OSError:
            pass
    sys.stderr.flush()
    os.write(2, line)


def shown(path: Path | str) -> str:
    """A path as the user knows it: relative to the repository, or the machine's own."""
    text = str(path)
    for here, there in ((TOP, ""), (CACHE, os.environ.get("NOMAP_HOST_CACHE", str(CACHE)))):
        if text == str(here) or text.startswith(f"{here}/"):
            return (there + text.removeprefix(str(here))).removeprefix("" if there else "/") or "."
    return re.sub(rf"^/proc/\d+/fd/{HOST_ROOT_FD}", "", text)


def host_path(text: str | Path) -> Path:
    """The path by which this program reaches a path that the user typed.

    Paths in the repository are those of TOP; others are reached through the machine's root
    directory, which lab/roots/enter has left open.
    """
    path = Path(os.path.normpath(Path.cwd() / text))
    top = os.environ.get("NOMAP_HOST_TOP")
    if top and (path == Path(top) or path.is_relative_to(top)):
        return TOP / path.relative_to(top)
    inside = (TOP, CACHE, Path("/proc"), Path("/dev"))
    if not IN_ROOT or any(path.is_relative_to(p) for p in inside):
        return path
    # By a number, so that children that run as root can use it, too. Those do not inherit it: the first process has it.
    outside = next((p for n in (os.getpid(), 1) if (p := Path(f"/proc/{n}/fd/{HOST_ROOT_FD}")).is_dir()), None)
    return outside / path.relative_to("/") if outside and top else path


def root_key(name: str) -> str:
    """The key of a Debian root; lab/roots/lib.sh has the same rule for those that are no layers on others."""
    roots = TOP / "lab/roots"
    lines = (roots / name).read_bytes().splitlines(True)
    parts = [line for line in lines if b"a" <= line[:1] <= b"z"]
    under = [line.split()[-1].decode() for line in lines if line.startswith(b"# on: ")]
    if under:
        parts += [root_key(under[0]).encode(), (roots / "layer").read_bytes()]
    else:
        parts += [(roots / "make").read_bytes(), (roots / "sid-prefix").read_bytes()]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:20]


def root_dir(name: str) -> Path:
    """The directory of the root `name`: build, guest, i386, desktop or traces."""
    return CACHE / "roots" / f"{name}-{root_key(name)}"


def root_image(name: str) -> Path:
    """The file system image of the root `name`: guest, i386 or desktop."""
    return CACHE / "images" / f"{name}-{root_key(name)}.ext4"


def need_free(mib: int, directory: Path, what: str) -> None:
    """Refuses to start `what` where `directory` has less than `mib` MiB free.

    So nothing half-written is ever left to be used.
    """
    directory.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(directory).free >> 20
    if free < mib:
        raise LabError(f"{what} needs {mib} MiB free in {shown(directory)}, but only {free} MiB are left. "
                       "Free some space, or point NOMAP_CACHE elsewhere.")


@contextmanager
def locked(path: Path, busy: str = "") -> Iterator[None]:
    """Holds the lock of a file. If somebody else has it: waits, or with `busy` raises LabError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="ascii") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if busy:
                raise LabError(busy) from None
            fcntl.flock(f, fcntl.LOCK_EX)
        yield


def write_if_changed(path: Path, text: str) -> None:
    """Writes a file whole, and leaves it alone if it has this content already."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not by the process' number: another build in this checkout is in a PID namespace of its own.
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", encoding="utf-8", delete=False) as new:
        new.write(text)
    os.chmod(new.name, 0o644)
    os.replace(new.name, path)
