# SPDX-License-Identifier: MIT
"""Runs the steps of a choice. What runs is on the disk before it starts, so that after a hang the next
call goes on behind it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .steps import Step
from .system import ReportError

#: Free space that a run needs, and memory, in MiB.
NEED_DISK = 50
NEED_MEMORY = 256
#: A step may take this many times its minutes, and five more.
PATIENCE = 4


def sentence(error: OSError, out: Path) -> ReportError:
    """An error of writing to `out` as a sentence."""
    why = {errno.ENOSPC: "is full", errno.EDQUOT: "is full", errno.EROFS: "is read-only", errno.EACCES: "cannot be written to",
           errno.EPERM: "cannot be written to", errno.EIO: "has input/output errors"}.get(error.errno or 0, f"cannot be used ({error.strerror})")
    return ReportError(f"The directory for the report, {out}, {why}: name another one with --out.")


def write(path: Path, text: str) -> None:
    """Writes a file so that it is whole on the disk when this returns, whatever happens afterwards."""
    new = path.with_name(f".{path.name}.new")
    with open(new, "w", encoding="utf-8") as f:
        f.write(text)
        f.flush()
        os.fsync(f.fileno())
    new.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


class Session:
    """The state of all runs in the directory `out`: the results of each choice stay."""

    def __init__(self, out: Path, choice: str, say: Callable[[str], None] = print) -> None:
        self.out, self.say = out, say
        self.file = out / "state.json"
        self.state: dict[str, Any] = {"choice": choice, "running": None, "done": {}}
        try:
            out.mkdir(parents=True, exist_ok=True)
            # Held until the object goes: the live image has a first screen on each of two terminals.
            self.lock = os.open(out, os.O_RDONLY)
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ReportError(f"Another nomap-report runs with {out}: wait for its end.") from None
            if shutil.disk_usage(out).free < NEED_DISK << 20:
                raise ReportError(f"The directory for the report, {out}, is full: {NEED_DISK} MiB have to be free. Name another one "
                                  "with --out.")
            if self.file.exists():
                self._go_on(choice)
            self._save()
        except OSError as e:
            raise sentence(e, out) from e

    def _go_on(self, choice: str) -> None:
        try:
            old = json.loads(self.file.read_text(encoding="utf-8"))
        except ValueError:
            self.say("The state of the last run cannot be read: everything is run again.")
            return
        self.state = dict(old, choice=choice)
        hung = old.get("running")
        if hung:
            self.say(f"The last run did not end '{hung}': it counts as a hang, and the rest is run.")
            self.done[hung] = {"status": "hang", "seconds": 0, "reason": "the machine or the program ended while it ran"}
            self.state["running"] = None

    def _save(self) -> None:
        write(self.file, json.dumps(self.state, indent=1) + "\n")

    def close(self) -> None:
        """Lets another run use the directory."""
        os.close(self.lock)

    def again(self, steps: Sequence[Step]) -> None:
        """Forgets what was run of these steps."""
        self.state.update(running=None, done={name: r for name, r in self.done.items() if name not in {step.name for step in steps}})
        self._save()

    @property
    def done(self) -> dict[str, dict[str, Any]]:
        """By step: status (pass, fail, skip, hang), seconds, reason."""
        found: dict[str, dict[str, Any]] = self.state["done"]
        return found

    def run(self, steps: Sequence[Step], environment: Mapping[str, str]) -> None:
        """Runs the steps that have no result yet, with these words in their environment."""
        try:
            for number, step in enumerate(steps, 1):
                if step.name in self.done:
                    self.say(f"[{number}/{len(steps)}] {step.name}: {self.done[step.name]['status']}, in an earlier run")
                    continue
                self.state["running"] = step.name
                self._save()
                self.say(f"[{number}/{len(steps)}] {step.name}: about {step.minutes} min ...")
                self.done[step.name] = self._one(step, environment)
                self.state["running"] = None
                self._save()
                self.say(f"[{number}/{len(steps)}] {step.name}: {self.done[step.name]['status']}")
        except OSError as e:
            raise sentence(e, self.out) from e

    def _one(self, step: Step, environment: Mapping[str, str]) -> dict[str, Any]:
        missing = step.missing()
        if missing:
            return {"status": "skip", "seconds": 0, "reason": missing}
        begun, log = time.monotonic(), self.out / f"{step.name}.log"
        with open(log, "wb") as f:
            try:
                status = subprocess.run(step.command(self.out), stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.STDOUT,
                                        env={**os.environ, **environment},
                                        check=False, timeout=step.minutes * 60 * PATIENCE + 300).returncode
            except subprocess.TimeoutExpired:
                return {"status": "hang", "seconds": round(time.monotonic() - begun), "reason": "it did not end in time"}
        last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:] or [""]
        result = {0: "pass", 77: "skip"}.get(status, "fail")
        reason = "" if status == 0 else f"exit status {status}: {last[0][:300]}"
        return {"status": result, "seconds": round(time.monotonic() - begun), "reason": reason}
