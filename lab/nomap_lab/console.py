# SPDX-License-Identifier: MIT
"""A machine with emulated boards or without, on whose serial console a test types."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from . import machine
from .paths import GUEST_UID, LabError
from .slots import Slot

#: Escape sequences of terminals.
ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>c78])|\r")


class Console:
    """A machine. The logs are in `logs`: serial.log, boardN.log, qemu.log; screenN.png of each board's monitor.

    It has `boards` cards and `mib` of memory. QEMU may write to `files`, which belong to the user of guests from then on.
    """

    def __init__(self, logs: Path, files: Sequence[Path], *, boards: int = 1, mib: int = 2048) -> None:
        self.logs, self.files, self.boards, self.mib = logs, files, boards, mib
        self.serial = logs / "serial.log"
        self.at = 0
        self.stack = ExitStack()
        self.children: list[subprocess.Popen[bytes]] = []
        self.qemu: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.logs.mkdir(parents=True, exist_ok=True)
        self.at = len(self.said)
        self.stack.enter_context(Slot())
        # QEMU and the boards run as the user of guests.
        for path in (self.logs, *self.files):
            os.chown(path, GUEST_UID, GUEST_UID)
        drop = machine.unprivileged()
        try:
            for number in range(self.boards):
                self._board(number, drop)
            with open(self.logs / "qemu.log", "wb") as log:
                self.qemu = subprocess.Popen([*drop, *self.words()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                             env={**os.environ, "TMPDIR": str(self.logs)})
        except BaseException:
            self.__exit__(None, None, None)
            raise
        threading.Thread(target=self._copy, args=(self.qemu,), daemon=True).start()
        return self

    def _socket(self, number: int) -> Path:
        return self.logs / f"board{number}.sock"

    def _board(self, number: int, drop: list[str]) -> None:
        """Starts a board, which waits for QEMU."""
        socket = self._socket(number)
        socket.unlink(missing_ok=True)
        log = self.logs / f"board{number}.log"
        board = machine.start_board(drop, socket, log, ["--screenshot", self.logs / f"screen{number}.png"])
        self.children.append(board)
        if not machine.comes_up(board, socket, 30):
            raise LabError(f"the board does not start, see {log}")

    def words(self) -> list[str]:
        """QEMU's words; a machine adds what it boots from."""
        words = [*machine.qemu("nomap-console", f"{self.mib}M", 2), "-accel", "tcg,thread=multi", "-serial", "stdio"]
        for number in range(self.boards):
            words += machine.card(self._socket(number), number)
        return words

    def screenshot(self, number: int = 0) -> Path:
        """The picture on a board's monitor now."""
        path = self.logs / f"screen{number}.png"
        path.unlink(missing_ok=True)
        self.children[number].send_signal(signal.SIGUSR1)
        for _ in range(500):
            # The board renames it when it is whole.
            if path.exists():
                return path
            time.sleep(0.1)
        raise LabError("the board makes no screenshot")

    def _copy(self, qemu: subprocess.Popen[bytes]) -> None:
        assert qemu.stdout is not None
        with open(self.serial, "ab") as log:
            while data := os.read(qemu.stdout.fileno(), 4096):
                log.write(data)
                log.flush()

    @property
    def said(self) -> str:
        """All that the serial console has said, without escape sequences."""
        text = self.serial.read_text(encoding="utf-8", errors="replace") if self.serial.exists() else ""
        return ESCAPES.sub("", text)

    def expect(self, pattern: str, seconds: int) -> str:
        """Waits until the console says what matches behind the last match; returns all from there to the match's end.

        A line of the screen is one here if a program wrapped it.
        """
        assert self.qemu is not None
        end = time.monotonic() + seconds
        while True:
            alive = self.qemu.poll() is None
            said = self.said
            found = re.compile(pattern, re.S).search(said, self.at)
            if found:
                text = said[self.at:found.end()]
                self.at = found.end()
                return text
            if not alive or time.monotonic() > end:
                why = f"{seconds} s have passed" if alive else "the machine has ended"
                raise LabError(f"{why}, and the console has not said {pattern!r} but: {said[self.at:][-600:]}")
            time.sleep(0.3)

    def send(self, text: str) -> None:
        """Types on the serial console."""
        assert self.qemu is not None and self.qemu.stdin is not None
        self.qemu.stdin.write(text.encode())
        self.qemu.stdin.flush()

    def wait(self, seconds: int) -> None:
        """Waits until the machine has turned itself off."""
        assert self.qemu is not None
        try:
            self.qemu.wait(seconds)
        except subprocess.TimeoutExpired:
            raise LabError(f"the machine is not off after {seconds} s") from None

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        """Turns the power off. The boards leave their pictures."""
        if self.qemu and self.qemu.poll() is None:
            self.qemu.kill()
            self.qemu.wait()
        for board in self.children:
            # Each ends with its client; if there was none, it is told to.
            try:
                board.wait(20 if self.qemu else 0)
            except subprocess.TimeoutExpired:
                board.terminate()
                board.wait()
        self.stack.close()
