# SPDX-License-Identifier: MIT
"""A directory for each run, which a lock keeps while the run lives."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def remove_old(base: Path) -> None:
    """Removes the directories of runs that were killed; a run that lives holds a lock on its own."""
    for old in base.glob(".run.*"):
        try:
            lock = os.open(old, os.O_RDONLY)
        except OSError:
            continue
        try:
            # A run locks its directory after it has made it.
            if time.time() - os.fstat(lock).st_mtime > 60:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(old, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(lock)


@contextmanager
def run_directory(base: Path) -> Iterator[Path]:
    """A new directory in BASE, which is made; it is removed in the end, and so are those of killed runs before."""
    base.mkdir(parents=True, exist_ok=True)
    remove_old(base)
    directory = Path(tempfile.mkdtemp(prefix=".run.", dir=base))
    lock = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield directory
    finally:
        os.close(lock)
        shutil.rmtree(directory, ignore_errors=True)
