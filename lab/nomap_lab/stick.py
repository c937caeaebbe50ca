# SPDX-License-Identifier: MIT
"""Boots the live image from a USB stick on a machine with emulated boards or without, and types on its serial console."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

from .console import Console
from .paths import BUILD

#: What moves the cursor of GRUB's menu.
DOWN = "\x1b[B"


class Stick(Console):
    """A machine that boots `image`; see Console.

    It has a card of another make if `other`; with `uefi` the firmware is OVMF; `read_only` is the stick's switch; `disk` is
    the machine's own. With `network` it has a network card, whose SSH port is `ssh_port` of this machine's loopback,
    and which reaches nothing else. What the machine writes stays in `image` and `disk`.
    """

    def __init__(self, image: Path, logs: Path, *, boards: int = 1, other: bool = False, uefi: bool = False,
                 read_only: bool = False, mib: int = 2048, disk: Path | None = None, network: bool = False) -> None:
        super().__init__(logs, [image, *([disk] if disk else [])], boards=boards, mib=mib)
        self.image, self.other, self.uefi, self.read_only, self.disk = image, other, uefi, read_only, disk
        self.ssh_port = free_port() if network else 0

    def words(self) -> list[str]:
        words = [*super().words(), "-vga", "std" if self.other else "none", "-device", "qemu-xhci",
                 "-drive", f"file={self.image},format=raw,if=none,id=stick,cache=unsafe" + ",readonly=on" * self.read_only,
                 "-device", "usb-storage,drive=stick,removable=on,bootindex=0"]
        if self.disk:
            words += ["-drive", f"file={self.disk},format=raw,if=none,id=disk,cache=unsafe", "-device", "virtio-blk-pci,drive=disk"]
        if self.uefi:
            words += ["-bios", str(BUILD / "live/OVMF.fd")]
        if self.ssh_port:
            words += ["-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{self.ssh_port}-:22",
                      "-device", "e1000e,netdev=net"]
        return words

    def shell(self, script: str, seconds: int = 120) -> str:
        """What a script prints in the shell of the first screen, which comes back then. The script has no single quotes."""
        self.send("s\n")
        self.expect(r"[#$] $", seconds)
        # The terminal shows what is typed, too, where the sums are no numbers yet.
        self.send(f"echo begin$((1)):; sh -c '{script}'; echo end$((1)):; exit\n")
        text = self.expect(r"begin1:\n.*end1:\n", seconds)
        self.expect("Your choice: $", seconds)
        return text.split("begin1:\n", 1)[1].removesuffix("end1:\n")


def free_port() -> int:
    """A TCP port of the loopback that nobody listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def copy(image: Path, to: Path) -> Path:
    """A copy of an image to boot, which may be written to. Holes stay holes."""
    subprocess.run(["cp", "--sparse=always", "--reflink=auto", image, to], check=True)
    return to
