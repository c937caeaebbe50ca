# SPDX-License-Identifier: MIT
"""usage: lab/run [OPTION...] -- CMD [ARG...]
       lab/shell [OPTION...]

Boots a Debian 13 guest with the emulated Radeon board and runs CMD in it as
root. Prints just the command's output (stdout and stderr kept apart) and
returns its exit status. What the boot and CMD (/build/DIRECTORY) use is built
first if its sources have changed.

  --kernel NAME     kernel to boot: stock (default); one that lab/kernels/ describes:
                    debug (KASAN, lockdep, fault injection, ...); mm-base and mm, without
                    and with the series of kernel/mm, mm-debug (these three have no
                    radeon, and boot without a board); or backports, the newest of
                    trixie-backports
  --module WHICH    radeon.ko: patched (default) or stock, the distribution's
  --mesa WHICH      Mesa for GL programs: patched (drivers r600 and softpipe only); a, with
                    the patches that need no new kernel; or unmodified, Debian's. Default:
                    patched if "lab/build mesa" was called
  --image WHICH     the guest's programs: guest (default), or desktop, which has a window
                    manager, editors, browsers and CJK fonts besides (lab/roots/desktop)
  --i386            /i386 in the guest is a Debian 13 for i386, with the guest's /build,
                    /dev, /proc and /sys: "chroot /i386 CMD" runs 32-bit programs; its
                    Mesa is Debian's
  --share DIR       DIR is /share in the guest, read-write; its files get group read and
                    write for the user that QEMU runs as
  --timeout S       end the guest after S seconds (default 300; 0: never)
  --mem M           guest memory, with QEMU's suffixes (default 2G)
  --smp N           guest CPUs (default 2)
  --board ARGS      options for the board, one string ("--chip rv770 --rate-mbps 500");
                    "none" boots without a board; with --strict the kernel is told what
                    it needs to come up there
  --append ARGS     kernel command line ("radeon.test=1")
  --no-radeon       do not load radeon before CMD
  --insmod FILE     load this module first, before radeon; FILE is in build/. Again for more
  --accel tcg|icount|kvm
                    tcg (default) works everywhere; icount is tcg with a guest clock that
                    goes on by 1 ns with each instruction, to count them (with --smp 1);
                    kvm is for those whose KVM works
  --no-hypervisor   the guest's CPUs do not say that they are virtual: its kernel then uses
                    non-temporal loads (drm_memcpy_from_wc())
  --pin             QEMU and the board on a CPU each, for measurements; as --exclusive
  --exclusive       no other guest meanwhile, for what is timed (also: LAB_EXCLUSIVE=1)
  --screenshot FILE a PNG of what the emulated monitor shows when the command has ended
  --logs DIR        directory for console.log, board.log, qemu.log, board.json
                    (default build/lab, or build/lab/2 and so on while that is in use)
  --qemu ARGS       further options for QEMU
  --allow-kernel-warnings
                    do not fail when the guest's kernel reports a WARN, BUG or the like
  --verbose         say on stderr what is being done, and QEMU's command

The repository's build/ directory is /build in the guest, which can write to what it
makes there, and to check/ and results/. It does so as an unprivileged user of this
machine, as which QEMU and the board run. As many guests run at a
time as the machine has CPUs, and 4 GiB of memory for each; NOMAP_GUESTS=N sets
another bound. One that finds no slot waits.

Exit status: the command's; or
   70   the guest's kernel reported a WARN, BUG, Oops, hung task, lockdep or
        KASAN report (the report is printed)
   71   QEMU or the board died before the command ended (both logs' last lines
        are printed)
   72   the command ended, but there is no picture for --screenshot
  124   time-out
"""

from __future__ import annotations

import os

from .. import cli, guest
from ..paths import UsageError, host_path


def parse(argv: list[str], prog: str, interactive: bool = False) -> tuple[guest.Boot, list[str]]:
    """A boot and its command from the words of lab/run."""
    words, cmd = argv, []
    if "--" in argv:
        words, cmd = argv[: argv.index("--")], argv[argv.index("--") + 1 :]
    p = cli.parser(__doc__, prog)
    for name in ("kernel", "module", "mesa", "image", "mem", "board", "append", "accel", "qemu"):
        p.add_argument(f"--{name}")
    for name in ("share", "screenshot", "logs"):
        p.add_argument(f"--{name}", type=host_path)
    p.add_argument("--insmod", type=host_path, action="append")
    p.add_argument("--timeout", type=cli.number("seconds", 0))
    p.add_argument("--smp", type=cli.number("a number of CPUs"))
    for name in ("i386", "pin", "exclusive", "allow-kernel-warnings", "verbose"):
        p.add_argument(f"--{name}", action="store_true", default=None)
    p.add_argument("--no-radeon", dest="radeon", action="store_false", default=None)
    p.add_argument("--no-hypervisor", dest="hypervisor", action="store_false", default=None)
    # Options whose value begins with a dash: "--board --strict".
    joined: list[str] = []
    takes = {"--kernel", "--module", "--mesa", "--image", "--mem", "--board", "--append", "--accel", "--qemu", "--share",
             "--screenshot", "--logs", "--insmod", "--timeout", "--smp"}
    i = 0
    while i < len(words):
        if words[i] in takes and i + 1 < len(words):
            joined.append(f"{words[i]}={words[i + 1]}")
            i += 1
        elif words[i] in takes:
            raise UsageError(f"{words[i]} needs a value")
        elif not words[i].startswith("-"):
            raise UsageError(f"'{words[i]}' is no option: a command comes after --, as in lab/run -- {' '.join(words[i:])}")
        else:
            joined.append(words[i])
        i += 1
    options = {k: v for k, v in vars(p.parse(joined)).items() if v is not None and k != "help_asked"}
    boot = guest.Boot(**options)
    if interactive:
        boot.timeout = options.get("timeout", 0)
        if cmd:
            raise UsageError("lab/shell takes no command: lab/run -- CMD runs one")
    elif not cmd:
        raise UsageError("no command given: lab/run -- CMD")
    if os.environ.get("LAB_EXCLUSIVE") == "1":
        boot.exclusive = True
    return boot, cmd


def main(argv: list[str]) -> int:
    boot, cmd = parse(argv, "lab/run")
    return guest.run(boot, cmd)
