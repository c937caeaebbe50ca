# SPDX-License-Identifier: MIT
"""The machine, as files and commands. Tests have another one."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path


class ReportError(Exception):
    """What stops the program, in one sentence. `status` is the exit status."""

    def __init__(self, sentence: str, status: int = 3) -> None:
        super().__init__(sentence)
        self.status = status


class System:
    """Files below `root`, and commands."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def path(self, name: str) -> Path:
        """The absolute path `name` of the machine."""
        return self.root / name.lstrip("/")

    def read(self, name: str | Path) -> str:
        """A file's text without white space at its ends; "" if it cannot be read."""
        path = self.path(str(name)) if isinstance(name, str) else name
        try:
            return path.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def run(self, cmd: Sequence[str]) -> str:
        """What a command prints, without white space at its ends; "" if it is not there or fails."""
        try:
            done = subprocess.run(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True, errors="replace", check=False, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.strip() if done.returncode == 0 else ""
