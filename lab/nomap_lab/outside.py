# SPDX-License-Identifier: MIT
"""For tests of the lab: its commands as a user of the machine calls them, outside of the build root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .paths import BUILD, HOST_ROOT_FD, TOP

#: The repository and the cache as the machine knows them.
HOST_TOP = Path(os.environ.get("NOMAP_HOST_TOP", TOP))
HOST_CACHE = os.environ.get("NOMAP_HOST_CACHE", "/cache")
# A mount namespace without the build root, with the /proc of the processes that can be seen here. By
# exec only: the command has the id of the process that was started.
ENTER = ("chroot", f"/proc/1/fd/{HOST_ROOT_FD}", "unshare", "--mount", "sh", "-ec",
         'mount -t proc proc /proc; cd "$0"; exec "$@"')


def outside_path(path: Path) -> Path:
    """What the machine calls a path of the repository."""
    return HOST_TOP / path.relative_to(TOP)


def outside(cmd: Sequence[str | Path], cwd: Path = TOP, **env: str) -> list[str]:
    """The words that run `cmd` outside, in the directory `cwd` of the repository, with no environment but `env`."""
    fixed = {"PATH": os.environ["PATH"], "HOME": "/root", "NOMAP_CACHE": HOST_CACHE, **env}
    return [*ENTER, str(outside_path(cwd)), "env", "-i", *(f"{k}={v}" for k, v in fixed.items()), *map(str, cmd)]


@contextmanager
def copy_of_repository(name: str, *patterns: str) -> Iterator[Path]:
    """A new directory with the files of the repository, without .git; it is removed in the end.

    Not below build/check, whose files guests come to own.
    """
    to = BUILD / ".copies" / name
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    try:
        names = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-z", *patterns], cwd=TOP, check=True,
                               stdout=subprocess.PIPE, text=True).stdout.split("\0")
        there = "\0".join(n for n in names if n and os.path.lexists(TOP / n))
        packed = subprocess.run(["tar", "-c", "--null", "-T", "-"], cwd=TOP, input=there.encode(), check=True,
                                stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", to], input=packed.stdout, check=True)
        yield to
    finally:
        shutil.rmtree(to, ignore_errors=True)
