# SPDX-License-Identifier: MIT
"""Slots for guests: two run at a time where there are two, none beside an exclusive one or past it in the queue."""

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

# Notes "+NAME" when it has a slot and "-NAME" when it gives it back, which it does once told to go.
PROGRAM = """
import pathlib, sys, time
from nomap_lab.slots import Slot
name, exclusive = sys.argv[1], sys.argv[2] == "1"
def note(text):
    with open("notes", "a") as f:
        f.write(text + "\\n")
with Slot(exclusive=exclusive):
    note("+" + name)
    while not pathlib.Path("go-" + name).exists():
        time.sleep(0.05)
    note("-" + name)
"""


class Queue:
    """Runs that want slots in a cache of their own."""

    def __init__(self, path: Path) -> None:
        self.path, self.running = path, [subprocess.Popen(["true"])]
        (path / "cache").mkdir()
        (path / "notes").touch()

    def hold(self, name: str, exclusive: bool = False) -> None:
        env = {**os.environ, "NOMAP_CACHE": str(self.path / "cache"), "NOMAP_GUESTS": "2"}
        cmd = [sys.executable, "-c", PROGRAM, name, str(int(exclusive))]
        self.running.append(subprocess.Popen(cmd, cwd=self.path, env=env))

    def go(self, *names: str) -> None:
        for name in names:
            (self.path / f"go-{name}").touch()

    def notes(self, n: int) -> list[str]:
        """Waits for n notes, and checks that no more come."""
        for _ in range(600):
            if len((self.path / "notes").read_text().split()) >= n:
                break
            time.sleep(0.05)
        time.sleep(0.7)
        notes = (self.path / "notes").read_text().split()
        assert len(notes) == n, notes
        return notes


@pytest.fixture(name="queue")
def new_queue(tmp_path: Path) -> Iterator[Queue]:
    queue = Queue(tmp_path)
    yield queue
    queue.go("a", "b", "c", "x")
    assert [p.wait(30) for p in queue.running] == [0] * len(queue.running)


def test_two_slots(queue: Queue) -> None:
    queue.hold("a")
    queue.hold("b")
    queue.notes(2)
    queue.hold("c")
    queue.notes(2)
    queue.go("a")
    assert sorted(queue.notes(4)[2:]) == ["+c", "-a"]


def test_exclusive(queue: Queue) -> None:
    queue.hold("a")
    queue.notes(1)
    queue.hold("x", exclusive=True)
    # It waits for a with the queue held.
    for _ in range(600):
        with open(queue.path / "cache/guest.queue", "a", encoding="ascii") as f:
            try:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                break
        time.sleep(0.05)
    queue.hold("b")
    queue.notes(1)
    queue.go("a")
    assert queue.notes(3) == ["+a", "-a", "+x"]
    queue.go("x")
    assert queue.notes(5) == ["+a", "-a", "+x", "-x", "+b"]
