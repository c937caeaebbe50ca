# SPDX-License-Identifier: MIT
"""Boots the live image from a USB stick on a machine with the emulated board or without, and types on its serial console."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from .paths import BUILD, GUEST_UID, LabError
from .slots import Slot

#: What moves the cursor of GRUB's menu.
DOWN = "\x1b[B"
#: Escape sequences of terminals.
ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>c78])|\r")


class Stick:
    """A machine that boots `image`. The logs are in `logs`: serial.log, board.log, qemu.log; screen.png of the board's monitor.

    `graphics` is "board", "none" or "VGA" (a card of another make); with `uefi` the firmware is OVMF; `read_only` is the
    stick's switch. What the machine writes stays in `image`.
    """

    def __init__(self, image: Path, logs: Path, *, graphics: str = "board", uefi: bool = False, read_only: bool = False) -> None:
        self.image, self.logs, self.graphics, self.uefi, self.read_only = image, logs, graphics, uefi, read_only
        self.serial = logs / "serial.log"
        self.at = 0
        self.stack = ExitStack()
        self.board: subprocess.Popen[bytes] | None = None
        self.qemu: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Stick:
        self.logs.mkdir(parents=True, exist_ok=True)
        self.stack.enter_context(Slot())
        # QEMU and the board run as the user of guests.
        for path in (self.logs, self.image):
            os.chown(path, GUEST_UID, GUEST_UID)
        drop = ["setpriv", "--reuid", str(GUEST_UID), "--regid", str(GUEST_UID), "--clear-groups", "--no-new-privs", "--inh-caps=-all",
                "--bounding-set=-all", "--pdeathsig", "KILL"]
        if self.graphics == "board":
            socket = self.logs / "board.sock"
            socket.unlink(missing_ok=True)
            first = ["chrt", "--rr", "1"]
            if subprocess.run([*first, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
                first = []
            with open(self.logs / "board.log", "wb") as log:
                self.board = subprocess.Popen([*first, *drop, str(BUILD / "board/r7xx-board"), "--socket", str(socket), "--screenshot",
                                               str(self.logs / "screen.png")], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            for _ in range(500):
                if socket.exists():
                    break
                time.sleep(0.02)
            else:
                raise LabError(f"the board does not start, see {self.logs}/board.log")
        with open(self.logs / "qemu.log", "wb") as log:
            self.qemu = subprocess.Popen([*drop, *self.words()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                         env={**os.environ, "TMPDIR": str(self.logs)})
        threading.Thread(target=self._copy, args=(self.qemu,), daemon=True).start()
        return self

    def words(self) -> list[str]:
        """QEMU's words."""
        words = ["qemu-system-x86_64", "-name", "nomap-live", "-no-user-config", "-nodefaults", "-no-reboot", "-display", "none",
                 "-cpu", "max,-erms,-fsrm,-fsrs", "-smp", "2", "-accel", "tcg,thread=multi", "-m", "2G",
                 "-object", "memory-backend-memfd,id=mem,size=2G,share=on", "-machine", "q35,memory-backend=mem,vmport=off,smm=off",
                 "-vga", "std" if self.graphics == "VGA" else "none", "-serial", "stdio", "-device", "virtio-rng-pci",
                 "-device", "qemu-xhci", "-drive", f"file={self.image},format=raw,if=none,id=stick,cache=unsafe"
                 + (",readonly=on" if self.read_only else ""), "-device", "usb-storage,drive=stick,removable=on"]
        if self.uefi:
            words += ["-bios", str(BUILD / "live/OVMF.fd")]
        if self.graphics == "board":
            words += ["-device", "pcie-root-port,id=card-port,chassis=1,x-speed=5,x-width=16", "-device",
                      '{"driver":"vfio-user-pci","id":"gpu","bus":"card-port","socket":{"path":"' + str(self.logs / "board.sock")
                      + '","type":"unix"}}']
        return words

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

    def type(self, text: str) -> None:
        """Types on the serial console."""
        assert self.qemu is not None and self.qemu.stdin is not None
        self.qemu.stdin.write(text.encode())
        self.qemu.stdin.flush()

    def shell(self, script: str, seconds: int = 120) -> str:
        """What a script prints in the shell of the first screen, which comes back then. The script has no single quotes."""
        self.type("s\n")
        self.expect(r"[#$] $", seconds)
        self.type(f"sh -c '{script}'; echo \"end:\"$?; exit\n")
        text = self.expect(r"\nend:\d+\n", seconds)
        self.expect("Your choice: $", seconds)
        return text.split("exit\n", 1)[-1]

    def wait(self, seconds: int) -> None:
        """Waits until the machine has turned itself off."""
        assert self.qemu is not None
        try:
            self.qemu.wait(seconds)
        except subprocess.TimeoutExpired:
            raise LabError(f"the machine is not off after {seconds} s") from None

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        """Turns the power off. The board leaves its picture."""
        if self.qemu and self.qemu.poll() is None:
            self.qemu.kill()
            self.qemu.wait()
        if self.board:
            try:
                self.board.wait(20)
            except subprocess.TimeoutExpired:
                self.board.terminate()
                self.board.wait()
        self.stack.close()


def copy(image: Path, to: Path) -> Path:
    """A copy of an image to boot, which may be written to. Holes stay holes."""
    subprocess.run(["cp", "--sparse=always", "--reflink=auto", image, to], check=True)
    os.chown(to, GUEST_UID, GUEST_UID)
    return to


def remove(image: Path) -> None:
    """Removes a copy."""
    shutil.rmtree(image) if image.is_dir() else image.unlink(missing_ok=True)
