# SPDX-License-Identifier: MIT
"""Boots the live image from a USB stick on a machine with emulated boards or without, and types on its serial console."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from . import machine
from .paths import BUILD, GUEST_UID, LabError
from .slots import Slot

#: What moves the cursor of GRUB's menu.
DOWN = "\x1b[B"
#: Escape sequences of terminals.
ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>c78])|\r")


class Stick:
    """A machine that boots `image`. The logs are in `logs`: serial.log, boardN.log, qemu.log; screenN.png of each board's monitor.

    It has `boards` cards, and one of another make if `other`; with `uefi` the firmware is OVMF; `read_only` is the
    stick's switch; `disk` is the machine's own. What the machine writes stays in `image` and `disk`.
    """

    def __init__(self, image: Path, logs: Path, *, boards: int = 1, other: bool = False, uefi: bool = False,
                 read_only: bool = False, mib: int = 2048, disk: Path | None = None) -> None:
        self.image, self.logs, self.boards, self.other, self.uefi = image, logs, boards, other, uefi
        self.read_only, self.mib, self.disk = read_only, mib, disk
        self.serial = logs / "serial.log"
        self.at = 0
        self.stack = ExitStack()
        self.children: list[subprocess.Popen[bytes]] = []
        self.qemu: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Stick:
        self.logs.mkdir(parents=True, exist_ok=True)
        self.stack.enter_context(Slot())
        # QEMU and the boards run as the user of guests.
        for path in (self.logs, self.image, *([self.disk] if self.disk else [])):
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
        """QEMU's words."""
        words = [*machine.qemu("nomap-live", f"{self.mib}M", 2), "-accel", "tcg,thread=multi",
                 "-vga", "std" if self.other else "none", "-serial", "stdio", "-device", "qemu-xhci",
                 "-drive", f"file={self.image},format=raw,if=none,id=stick,cache=unsafe" + ",readonly=on" * self.read_only,
                 "-device", "usb-storage,drive=stick,removable=on,bootindex=0"]
        if self.disk:
            words += ["-drive", f"file={self.disk},format=raw,if=none,id=disk,cache=unsafe", "-device", "virtio-blk-pci,drive=disk"]
        if self.uefi:
            words += ["-bios", str(BUILD / "live/OVMF.fd")]
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

    def shell(self, script: str, seconds: int = 120) -> str:
        """What a script prints in the shell of the first screen, which comes back then. The script has no single quotes."""
        self.send("s\n")
        self.expect(r"[#$] $", seconds)
        # The terminal shows what is typed, too, where the sums are no numbers yet.
        self.send(f"echo begin$((1)):; sh -c '{script}'; echo end$((1)):; exit\n")
        text = self.expect(r"begin1:\n.*end1:\n", seconds)
        self.expect("Your choice: $", seconds)
        return text.split("begin1:\n", 1)[1].removesuffix("end1:\n")

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


def copy(image: Path, to: Path) -> Path:
    """A copy of an image to boot, which may be written to. Holes stay holes."""
    subprocess.run(["cp", "--sparse=always", "--reflink=auto", image, to], check=True)
    return to
