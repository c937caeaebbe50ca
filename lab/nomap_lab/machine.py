# SPDX-License-Identifier: MIT
"""What each emulated machine is made of: the user that it runs as, boards, and QEMU's words for CPUs, memory and cards."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from .paths import BUILD, GUEST_UID

#: No ERMS, FSRM and FSRS: machines of the R600 era have none of them, and TCG runs the "rep movsb" and "rep
#: stosb" that the kernel then prefers byte by byte.
CPU = "max,-erms,-fsrm,-fsrs"


def unprivileged(*groups: str) -> list[str]:
    """The words before QEMU and a board, which process a guest's input: another user, with setpriv's words for its groups."""
    return ["setpriv", "--reuid", str(GUEST_UID), "--regid", str(GUEST_UID), *(groups or ("--clear-groups",)), "--no-new-privs",
            "--inh-caps=-all", "--bounding-set=-all", "--pdeathsig", "KILL"]


def start_board(before: Sequence[str], socket: Path, log: Path, args: Sequence[object]) -> subprocess.Popen[bytes]:
    """Starts a board that waits for QEMU at `socket`; `before` are the words before its program."""
    # The guest's kernel gives a ring 100 ms to answer, so the board must not wait for a CPU that runs a
    # compiler. Not in containers without CAP_SYS_NICE.
    first = ["chrt", "--rr", "1"]
    if subprocess.run([*first, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        first = []
    words = [BUILD / "board/r7xx-board", "--socket", socket, *args]
    with open(log, "wb") as out:
        return subprocess.Popen([*first, *before, *map(str, words)], stdin=subprocess.DEVNULL, stdout=out, stderr=out)


def comes_up(board: subprocess.Popen[bytes], socket: Path, seconds: int) -> bool:
    """Whether a board that was started waits for QEMU within these seconds."""
    deadline = time.monotonic() + seconds
    while not socket.exists():
        if board.poll() is not None or time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def qemu(name: str, mem: str, smp: int, cpu: str = CPU) -> list[str]:
    """QEMU's words for a PC without devices, whose memory boards can map; `mem` with QEMU's suffixes."""
    return ["qemu-system-x86_64", "-name", name, "-no-user-config", "-nodefaults", "-no-reboot", "-display", "none",
            "-cpu", cpu, "-smp", str(smp), "-object", f"memory-backend-memfd,id=mem,size={mem},share=on",
            "-machine", "q35,memory-backend=mem,vmport=off,smm=off", "-m", mem, "-device", "virtio-rng-pci"]


def card(socket: Path, number: int = 0) -> list[str]:
    """QEMU's words for the board at `socket`, the machine's card `number`.

    It is behind a root port, as a card in a slot: on the root bus QEMU hides the PCI Express capability of a legacy
    endpoint, and radeon then makes all of GTT cached. Second generation, x16, as these cards are: radeon
    negotiates with ports of 5 and 8 GT/s only.
    """
    device = {"driver": "vfio-user-pci", "id": f"gpu{number}", "bus": f"card-port{number}",
              "socket": {"path": str(socket), "type": "unix"}}
    return ["-device", f"pcie-root-port,id=card-port{number},chassis={number + 1},x-speed=5,x-width=16",
            "-device", json.dumps(device, separators=(",", ":"))]
