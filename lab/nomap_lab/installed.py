# SPDX-License-Identifier: MIT
"""Boots a Debian from a disk image, with the kernel and the initrd that are on it, and types in root's shell on the console."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .console import Console
from .paths import LabError

#: The prompt of the shell, when enter() has returned.
READY = "ready> "


def from_disk(disk: Path, name: str, to: Path) -> Path:
    """Copies the file `name` out of an ext4 image, following links. Raises LabError if it is not there."""
    to.unlink(missing_ok=True)
    for _ in range(4):
        said = subprocess.run(["debugfs", "-R", f"stat {name}", disk], capture_output=True, text=True, check=False).stdout
        link = next((line.split('"')[1] for line in said.splitlines() if line.startswith("Fast link dest:")), "")
        if not link:
            break
        # An absolute link takes the place of what is before it.
        name = str(Path(name).parent / link)
    subprocess.run(["debugfs", "-R", f"dump {name} {to}", disk], capture_output=True, check=False)
    if not to.exists() or not to.stat().st_size:
        raise LabError(f"{disk} has no {name}")
    return to


class Installed(Console):
    """A machine with the board and a Debian on `disk`, an ext4 file system.

    root's password is `password`. There is no network.
    """

    def __init__(self, disk: Path, logs: Path, *, password: str, mib: int = 3072) -> None:
        super().__init__(logs, [disk], mib=mib)
        self.disk, self.password = disk, password

    def words(self) -> list[str]:
        kernel, initrd = (from_disk(self.disk, f"/{name}", self.logs / name) for name in ("vmlinuz", "initrd.img"))
        return [*super().words(), "-vga", "none", "-kernel", str(kernel), "-initrd", str(initrd),
                "-append", "root=/dev/vda rw quiet console=tty0 console=ttyS0,115200",
                "-drive", f"file={self.disk},format=raw,if=none,id=disk,cache=unsafe", "-device", "virtio-blk-pci,drive=disk"]

    def login(self, seconds: int) -> str:
        """Logs in as root; returns what the console said until then."""
        said = self.expect("login: ", seconds)
        self.send("root\n")
        said += self.expect("Password: ", 120)
        self.send(f"{self.password}\n")
        self.expect("[#] $", 120)
        # What is typed is not shown, so that it is no part of what is said.
        self.send(f"dmesg -n 1; stty -echo cols 200; PS1='{READY}'\n")
        said += self.expect(f"\n{READY}$", 60)
        return said

    def shell(self, command: str, seconds: int = 120, status: int = 0) -> str:
        """What a command prints. Raises LabError if it has another exit status."""
        self.send(f"{command}\n")
        said = self.expect(f"{READY}$", seconds).removesuffix(READY)
        self.send("echo $?\n")
        found = self.expect(f"{READY}$", 60).split()[0]
        if found != str(status):
            raise LabError(f"{command}: exit status {found}, not {status}: {said[-1000:]}")
        return said
