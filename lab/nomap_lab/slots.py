# SPDX-License-Identifier: MIT
"""Slots for guests: as many run at a time as the machine carries, in all checkouts.

A slot is a file guest.lock.N in the cache, locked by the run that has it. Lock order:
guest.queue (held only while waiting for a slot), then guest.lock.0, 1, ... A run that wants
all of them takes them in this order, with the queue held, so that no other overtakes it.
"""

from __future__ import annotations

import fcntl
import os
import time
from types import TracebackType
from typing import TextIO

from . import paths


def slots() -> int:
    """The number of slots, the same in all checkouts of a machine."""
    wanted = os.environ.get("NOMAP_GUESTS", "")
    if wanted:
        if not wanted.isdecimal() or int(wanted) < 1:
            raise paths.LabError(f"NOMAP_GUESTS is '{wanted}', which is no number of guests: say NOMAP_GUESTS=2", 2)
        return int(wanted)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(os.sysconf("SC_NPROCESSORS_CONF"), memory // (4 << 30)))


class Slot:
    """A context in which a guest may run; with `exclusive` no other runs meanwhile."""

    def __init__(self, exclusive: bool = False) -> None:
        self.exclusive = exclusive
        self.held: list[TextIO] = []
        self.said = False

    def _say(self, message: str) -> None:
        if not self.said:
            paths.say(message)
        self.said = True

    def _open(self, name: str) -> TextIO:
        return open(paths.CACHE / name, "a", encoding="ascii")

    def _try(self, f: TextIO) -> bool:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def __enter__(self) -> Slot:
        n = slots()
        with self._open("guest.queue") as queue:
            if not self._try(queue):
                self._say("waiting for another guest to end")
                fcntl.flock(queue, fcntl.LOCK_EX)
            if self.exclusive:
                # Take all slots that exist: another checkout may use more (NOMAP_GUESTS).
                numbers = [p.suffix[1:] for p in paths.CACHE.glob("guest.lock.*")]
                for i in range(max([n, *(int(x) + 1 for x in numbers if x.isdecimal())])):
                    f = self._open(f"guest.lock.{i}")
                    if not self._try(f):
                        self._say("waiting for all other guests to end")
                        fcntl.flock(f, fcntl.LOCK_EX)
                    self.held.append(f)
                return self
            while True:
                for i in range(n):
                    f = self._open(f"guest.lock.{i}")
                    if self._try(f):
                        self.held.append(f)
                        return self
                    f.close()
                self._say("waiting for another guest to end")
                time.sleep(0.3)

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        for f in self.held:
            f.close()
        self.held.clear()
