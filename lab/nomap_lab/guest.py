# SPDX-License-Identifier: MIT
"""Boots a Debian 13 guest with the emulated board and runs one command in it.

A Boot has all options, parsed once; run() takes it to the end. QEMU and the board run as an
unprivileged user in the namespaces that lab/enter has made, and end with this process.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import shlex
import shutil
import subprocess
import sys
import termios
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from . import graph, kernel_reports, machine, stages
from .paths import BUILD, CHECK, GUEST_UID, RESULTS, TOP, LabError, UsageError, root_image, say, shown
from .procs import WITH_PARENT, last_lines
from .run_directory import run_directory
from .slots import Slot
from .stage import STAGES

#: Exit statuses of lab/run that are not the command's.
KERNEL_REPORT, DIED, NO_PICTURE, TIMEOUT = 70, 71, 72, 124
#: Seconds without a word on the console after which KVM is taken not to work.
KVM_SILENCE = 30


#: The stage that builds the Mesa of each --mesa but Debian's own; its libraries are in build/STAGE/MESA/lib.
MESA_STAGES = {"patched": "mesa", "a": "mesa-a"}


@dataclass
class Boot:
    """What is booted, and how: the options of lab/run, by the same names."""

    kernel: str = "stock"
    module: str = "patched"
    mesa: str = ""
    image: str = "guest"
    i386: bool = False
    share: Path | None = None
    timeout: int = 300
    mem: str = "2G"
    smp: int = 2
    board: str = ""
    append: str = ""
    radeon: bool = True
    insmod: list[Path] = field(default_factory=list)
    accel: str = "tcg"
    hypervisor: bool = True
    pin: bool = False
    exclusive: bool = False
    screenshot: Path | None = None
    logs: Path | None = None
    qemu: str = ""
    allow_kernel_warnings: bool = False
    verbose: bool = False

    def check(self) -> None:
        """Refuses what cannot be booted, and settles what depends on another option."""
        if self.module not in ("patched", "stock"):
            raise UsageError(f"--module takes patched or stock, not '{self.module}'")
        if self.mesa not in ("", "a", "patched", "unmodified"):
            raise UsageError(f"--mesa takes unmodified, a or patched, not '{self.mesa}'")
        if self.image not in ("guest", "desktop"):
            raise UsageError(f"--image takes guest or desktop, not '{self.image}'")
        if self.accel not in ("tcg", "icount", "kvm"):
            raise UsageError(f"--accel takes tcg, icount or kvm, not '{self.accel}'")
        if self.accel == "kvm" and not os.access("/dev/kvm", os.R_OK | os.W_OK):
            raise LabError("--accel kvm: this machine has no /dev/kvm that can be opened; --accel tcg works everywhere")
        if not re.fullmatch(r"[1-9]\d*[KMGT]?", self.mem):
            raise UsageError(f"--mem takes a size such as 2G or 512M, not '{self.mem}'")
        if self.smp < 1 or self.timeout < 0:
            raise UsageError("--smp takes a number of CPUs from 1, --timeout seconds from 0")
        if self.share and not self.share.is_dir():
            raise UsageError(f"--share: there is no directory {shown(self.share)}")
        for file in self.insmod:
            if not file.is_file():
                raise UsageError(f"--insmod: there is no file {shown(file)}")
            if not file.is_relative_to(BUILD):
                raise UsageError(f"--insmod: {shown(file)} is not in build/, which is all that the guest sees")
        known = ["stock", "backports", *stages.other_kernels()]
        if self.kernel not in known and not (BUILD / "boot" / self.kernel / "vmlinuz").exists():
            raise LabError(f"--kernel: there is no kernel '{self.kernel}', only {', '.join(known)} (lab/kernels/NAME.config)")
        if not stages.has_radeon(self.kernel):
            if self.board not in ("", "none"):
                raise UsageError(f"--board: the {self.kernel} kernel has no driver for a board")
            self.board, self.module, self.radeon = "none", "stock", False
        if self.screenshot:
            if self.board == "none":
                raise UsageError("--screenshot: there is no monitor without a board")
            if not self.screenshot.parent.is_dir():
                raise UsageError(f"--screenshot: there is no directory {shown(self.screenshot.parent)}")
        if self.logs and not self.logs.is_relative_to(TOP):
            raise UsageError(f"--logs: {shown(self.logs)} is outside of the repository")
        if not self.mesa:
            patched = self.board != "none" and (BUILD / "mesa/patched/lib").exists()
            self.mesa = "patched" if patched else "unmodified"
        if self.pin:
            self.exclusive = True

    @property
    def has_board(self) -> bool:
        return self.board != "none"

    def needs(self, cmd: list[str]) -> list[str]:
        """The stages that this boot and its command use: what it boots, and each /build/DIRECTORY."""
        names = ["image" if self.image == "guest" else f"{self.image}-image"]
        if self.kernel == "stock":
            names.append("boot")
        elif self.kernel in STAGES:
            names.append(self.kernel)
        if self.has_board:
            names.append("board")
        if self.mesa in MESA_STAGES and self.has_board:
            names.append(MESA_STAGES[self.mesa])
        if self.i386:
            names.append("i386-image")
        named = set(re.findall(r"/build/([\w.-]+)", " ".join([*cmd, *map(str, self.insmod)])))
        names += [s.name for s in STAGES.values() if (s.out or s.name) in named]
        return list(dict.fromkeys(names))


def _chown(top: Path, uid: int) -> None:
    subprocess.run(["find", top, "!", "-uid", str(uid), "-exec", "chown", "-h", str(uid), "{}", "+"], check=False,
                   stderr=subprocess.DEVNULL)


def _own_logs(stack: ExitStack, wanted: Path | None) -> Path:
    """A directory for logs that no other guest writes to; it is locked while `stack` lasts."""

    def lock(directory: Path) -> bool:
        directory.mkdir(parents=True, exist_ok=True)
        fd = os.open(directory, os.O_RDONLY)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        stack.callback(os.close, fd)
        return True

    if wanted:
        if not lock(wanted):
            raise LabError(f"{shown(wanted)} is in use by another guest's logs: name another directory with --logs")
        return wanted
    base = Path(os.environ.get("NOMAP_LOGS", BUILD / "lab"))
    n = 1
    while not lock(base if n == 1 else base / str(n)):
        n += 1
    return base if n == 1 else base / str(n)


class Guest:
    """One boot. Its files are in `dir`, which goes with it; its logs stay in `logs`."""

    def __init__(self, boot: Boot, stack: ExitStack) -> None:
        self.boot = boot
        self.logs = _own_logs(stack, boot.logs)
        stack.enter_context(Slot(boot.exclusive))
        for name in ("console.log", "board.log", "qemu.log", "board.json"):
            (self.logs / name).unlink(missing_ok=True)
        self.dir = stack.enter_context(run_directory(BUILD / "lab"))
        self.files = BUILD / "boot" / boot.kernel
        self.share: Path | None = None
        if boot.share:
            self.share = self.dir / "share"
            self.share.mkdir()
            subprocess.run(["mount", "--bind", boot.share, self.share], check=True)
            stack.callback(lambda: subprocess.run(["umount", "-l", self.dir / "share"], check=False))
        self.drop = self._unprivileged()
        self.board: subprocess.Popen[bytes] | None = None

    def _unprivileged(self) -> list[str]:
        """The words before QEMU and the board: machine.unprivileged().

        Nothing, with a message, if that user cannot read the files that they need.
        """
        groups = ["--groups", str(os.stat("/dev/kvm").st_gid)] if self.boot.accel == "kvm" else ["--clear-groups"]
        drop = machine.unprivileged(*groups)
        test = '[ -r "$0" ] && [ -r "$1/vmlinuz" ] && [ -x "$2" ] && [ -r "$3/lab/enter" ]'
        files = (root_image(self.boot.image), self.files, self.logs, TOP)
        if subprocess.run([*drop, "sh", "-c", test, *files], check=False, stderr=subprocess.DEVNULL).returncode:
            print(f"lab/run: QEMU runs as root: uid {GUEST_UID} cannot be had, or cannot read this checkout or the cache",
                  file=sys.stderr)
            return list(WITH_PARENT)
        for d in (self.dir, self.logs):
            os.chown(d, GUEST_UID, GUEST_UID)
        # The guest's root writes as this user, who owns what it may write to: outputs of tests and
        # benchmarks, and what it makes itself in build/.
        for d in (CHECK, RESULTS):
            d.mkdir(parents=True, exist_ok=True)
            _chown(d, GUEST_UID)
        os.chown(BUILD, 0, GUEST_UID)
        BUILD.chmod(0o1775)
        if self.share:
            # A shared directory keeps its owner; the guest's user gets access through the group.
            for which, change in (("-gid", str(GUEST_UID)), ["chgrp", str(GUEST_UID)]), (("-perm", "-g+rw"), ["chmod", "g+rwX"]):
                subprocess.run(["find", self.share, "-xdev", "!", "-type", "l", "!", *which, "-exec", *change, "{}", "+"],
                               check=False)
        return drop

    def write_initrd(self, cmd: list[str], interactive: bool) -> None:
        """This boot's command and options, as a third archive behind those of the kernel."""
        boot, lab = self.boot, self.dir / "cpio/lab"
        lab.mkdir(parents=True)
        shutil.copy2(TOP / "lab/guest/session", lab / "session")
        (lab / "command").write_text(f"#!/bin/bash\nexec {shlex.join(cmd)}\n", encoding="utf-8")
        size = os.get_terminal_size(0) if interactive and os.isatty(0) else None
        options = {
            "LAB_SHARE": str(int(bool(boot.share))), "LAB_MESA": boot.mesa,
            "LAB_MESA_STAGE": MESA_STAGES.get(boot.mesa, ""), "LAB_I386": str(int(boot.i386)),
            "LAB_INSMOD": " ".join(f"/build/{f.relative_to(BUILD)}" for f in boot.insmod),
            "LAB_RADEON": str(int(boot.radeon)), "LAB_INTERACTIVE": str(int(interactive)),
            "LAB_TTY_SIZE": f"rows {size.lines} cols {size.columns}" if size else "",
        }
        (lab / "options").write_text("".join(f"{k}={shlex.quote(v)}\n" for k, v in options.items()), encoding="utf-8")
        from .initramfs import pack

        pack(self.dir / "cpio", self.dir / "lab.cpio")
        archives = [self.files / "base.cpio", self.dir / "lab.cpio"]
        if boot.module == "patched":
            archives.insert(1, self.files / "patched.cpio")
        with open(self.dir / "initrd", "wb") as f:
            for a in archives:
                with open(a, "rb") as source:
                    shutil.copyfileobj(source, f, 1 << 20)

    def _cpus(self, last: bool) -> list[str]:
        """With --pin the board has the last CPU: a trapped access costs twice if it shares QEMU's."""
        n = os.cpu_count() or 1
        if not self.boot.pin or n < 2:
            return []
        return ["taskset", "-c", str(n - 1) if last else f"0-{n - 2}"]

    def start_board(self) -> bool:
        """Starts the board; False if it does not come up."""
        args = shlex.split(self.boot.board)
        if self.boot.screenshot:
            args += ["--screenshot", str(self.dir / "screen.png")]
        socket = self.dir / "board.sock"
        self.board = machine.start_board([*self._cpus(True), *self.drop], socket, self.logs / "board.log",
                                         ["--counters", self.logs / "board.json", *args])
        return machine.comes_up(self.board, socket, 10)

    def qemu_command(self, interactive: bool) -> list[str]:
        """QEMU's words."""
        boot, d = self.boot, self.dir
        # 9p keeps owners and modes that a guest sets in extended attributes, not as the files' own. On a
        # file system without user attributes they are lost.
        model = "mapped-xattr"
        try:
            os.setxattr(d, "user.nomap", b"1")
        except OSError:
            model = "none"
        append = f"radeon.dpm=0 {boot.append}"
        if any(word.partition("=")[0] in ("--strict", "--bar-read-ns", "--bar-write-ns") for word in shlex.split(boot.board)):
            # Each CPU access to VRAM traps. So the GART is small, nothing draws a text console, and the
            # soft lockup detector is off while the driver clears the UVD's memory.
            append = f"radeon.gartsize=128 drm_kms_helper.fbdev_emulation=0 nosoftlockup {append}"
        words = [*machine.qemu("nomap", boot.mem, boot.smp, machine.CPU + ("" if boot.hypervisor else ",-hypervisor")),
                 "-vga", "none", "-kernel", f"{self.files}/vmlinuz", "-initrd", f"{d}/initrd",
                 # Time on an emulated CPU depends on the host's load: the kernel need not watch its clock.
                 "-append", "console=ttyS0 ignore_loglevel panic=-1 rdinit=/init no_timer_check hung_task_panic=0 "
                 f"tsc=nowatchdog {append}",
                 "-chardev", f"file,id=console,path={self.logs}/console.log", "-serial", "chardev:console"]
        drives = [("root", root_image(boot.image))] + ([("i386", root_image("i386"))] if boot.i386 else [])
        for name, image in drives:
            words += ["-drive", f"file={image},format=raw,if=none,id={name},snapshot=on,cache=unsafe",
                      "-device", f"virtio-blk-pci,drive={name}"]
        shares = [("build", BUILD)] + ([("share", self.share)] if self.share else [])
        for name, path in shares:
            words += ["-fsdev", f"local,id={name},path={path},security_model={model},multidevs=remap",
                      "-device", f"virtio-9p-pci,fsdev={name},mount_tag={name}"]
        words += ["-device", "virtio-serial-pci"]
        words += {"kvm": ["-accel", "kvm"], "icount": ["-accel", "tcg,thread=single", "-icount", "shift=0"],
                  "tcg": ["-accel", "tcg,thread=multi"]}[boot.accel]
        if boot.has_board:
            words += machine.card(d / "board.sock")
        if interactive:
            words += ["-chardev", "stdio,id=tty,signal=off", "-device", "virtconsole,chardev=tty"]
        else:
            for name in ("out", "err", "status"):
                words += ["-chardev", f"file,id={name},path={d}/{name}",
                          "-device", f"virtserialport,chardev={name},name=lab.{name}"]
        return words + shlex.split(boot.qemu)


def _follow(fifo: Path, out: IO[bytes], stack: ExitStack) -> threading.Thread:
    """Copies what comes out of a FIFO, until `stack` closes its last writer."""
    os.mkfifo(fifo)
    os.chown(fifo, GUEST_UID, GUEST_UID)
    # Opened without waiting for a writer; ours keeps it from ending before QEMU has opened it.
    source = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    ours = os.open(fifo, os.O_WRONLY)
    os.set_blocking(source, True)

    def copy() -> None:
        broken = False
        while data := os.read(source, 1 << 16):
            if not broken:
                try:
                    out.write(data)
                    out.flush()
                except OSError:
                    broken = True  # the reader has gone: go on, so that the guest does not block
        os.close(source)

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()
    stack.callback(thread.join, 10)
    stack.callback(os.close, ours)
    return thread


@contextmanager
def _raw_terminal() -> Iterator[None]:
    if not os.isatty(0):
        yield
        return
    saved = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, saved)


def _stop(process: subprocess.Popen[bytes] | None) -> None:
    if process and process.poll() is None:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(guest: Guest, qemu: subprocess.Popen[bytes]) -> str:
    """Waits for the guest's end: "", "timeout", "board" (it died first) or "kvm" (nothing came up)."""
    boot, begun, how = guest.boot, time.monotonic(), ""
    ends = select.poll()
    fds = {os.pidfd_open(p.pid): p for p in (qemu, guest.board) if p}
    for fd in fds:
        ends.register(fd, select.POLLIN)
    try:
        while qemu.poll() is None:
            ends.poll(500)
            spent = time.monotonic() - begun
            if guest.board and guest.board.poll() is not None:
                # QEMU's own end makes the board end: give it a moment to be seen.
                try:
                    qemu.wait(1)
                except subprocess.TimeoutExpired:
                    how = "board"
            elif boot.timeout and spent > boot.timeout:
                how = "timeout"
            elif boot.accel == "kvm" and spent > KVM_SILENCE and not last_lines(guest.logs / "console.log"):
                how = "kvm"
            if how and qemu.poll() is None:
                _stop(qemu)
    finally:
        for fd in fds:
            os.close(fd)
    return how


def _make_readable(guest: Guest) -> None:
    """9p makes files that only their owner can read: let everybody, and give shared ones to their owner."""
    tops = [guest.logs, *(p for p in BUILD.iterdir() if p.lstat().st_uid == GUEST_UID and not p.is_symlink())]
    if guest.share:
        tops.append(guest.share)
    subprocess.run(["find", *tops, "-xdev", "-uid", str(GUEST_UID), "!", "-type", "l", "!", "-perm", "-o+r", "-exec", "chmod",
                    "a+rX", "{}", "+"], check=False, stderr=subprocess.DEVNULL)
    if guest.share:
        subprocess.run(["find", guest.share, "-xdev", "-uid", str(GUEST_UID), "-exec", "chown", "-h",
                        f"--reference={guest.share}", "{}", "+"], check=False, stderr=subprocess.DEVNULL)


def _judge(guest: Guest, how: str, qemu_status: int, stderr: IO[bytes], interactive: bool) -> int:
    """The exit status, and what has to be said about it."""
    boot = guest.boot

    def tell(*lines: str, logs: tuple[str, ...] = ()) -> None:
        for line in lines:
            stderr.write(line.encode() + b"\n")
        for name in logs:
            text = last_lines(guest.logs / name)
            if text:
                stderr.write(f"--- last lines of {shown(guest.logs / name)}\n{text}\n".encode())
        stderr.flush()

    report = kernel_reports.read(guest.logs / "console.log")
    if report and not boot.allow_kernel_warnings:
        tell(f"lab/run: the guest kernel reported ({shown(guest.logs / 'console.log')}):", report)
        if how == "timeout":
            tell(f"lab/run: and the guest timed out after {boot.timeout} s")
        return KERNEL_REPORT
    status = guest.dir / "status"
    text = status.read_text(encoding="ascii").strip() if status.exists() else ""
    if how == "timeout":
        tell(f"lab/run: no end after {boot.timeout} s; guest killed (--timeout gives it longer)", logs=("console.log", "board.log"))
        return TIMEOUT
    if how == "kvm":
        tell(f"lab/run: nothing came from the guest in {KVM_SILENCE} s: this machine's KVM does not work; use --accel tcg",
             logs=("qemu.log",))
        return DIED
    if interactive:
        return 0
    if text:
        if boot.screenshot:
            if not (guest.dir / "screen.png").exists():
                tell("lab/run: there is no picture of the monitor", logs=("board.log",))
                return NO_PICTURE
            shutil.copyfile(guest.dir / "screen.png", boot.screenshot)
            if (guest.dir / "screen-2.png").exists():
                shutil.copyfile(guest.dir / "screen-2.png", boot.screenshot.with_stem(f"{boot.screenshot.stem}-2"))
        return int(text)
    if how == "board":
        tell("lab/run: the board died before the command ended")
    else:
        tell(f"lab/run: the guest ended (QEMU status {qemu_status}) before the command did")
    tell(logs=("console.log", "qemu.log", "board.log"))
    return DIED


def run(boot: Boot, cmd: list[str], *, stdout: IO[bytes] | None = None, stderr: IO[bytes] | None = None,
        interactive: bool = False) -> int:
    """Boots a guest and runs `cmd` in it as root; returns its exit status, or one of the four above.

    What the boot and the command use is brought up to date first. `stdout` and `stderr` get the
    command's output, kept apart.
    """
    boot.check()
    graph.get("image")
    graph.ensure(*boot.needs(cmd))
    out, err = stdout or sys.stdout.buffer, stderr or sys.stderr.buffer
    with ExitStack() as stack:
        guest = Guest(boot, stack)
        guest.write_initrd(cmd, interactive)
        words = guest.qemu_command(interactive)
        if boot.verbose:
            say(f"booting {boot.kernel}, {boot.module} radeon.ko, {boot.mesa} Mesa; console in {shown(guest.logs / 'console.log')}")
            say(shlex.join(words))
        how, status = "board", 0
        if not boot.has_board or guest.start_board():
            with ExitStack() as pipes:
                options: dict[str, Any] = {"stdin": None if interactive else subprocess.DEVNULL}
                if interactive:
                    pipes.enter_context(_raw_terminal())
                else:
                    options["stdout"] = subprocess.DEVNULL
                    _follow(guest.dir / "out", out, pipes)
                    _follow(guest.dir / "err", err, pipes)
                with open(guest.logs / "qemu.log", "wb") as log:
                    qemu = subprocess.Popen([*guest._cpus(False), *guest.drop, *words], stderr=log,
                                            env={**os.environ, "TMPDIR": str(guest.dir)}, **options)
                try:
                    how = _wait(guest, qemu)
                finally:
                    _stop(qemu)
                status = qemu.returncode
        if guest.board:
            # It writes its counters and its picture when QEMU closes the socket.
            try:
                guest.board.wait(5)
            except subprocess.TimeoutExpired:
                _stop(guest.board)
        _make_readable(guest)
        return _judge(guest, how, status, err, interactive)
