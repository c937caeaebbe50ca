# SPDX-License-Identifier: MIT
"""The live image, booted from an emulated USB stick: by BIOS and UEFI, with the board, two of them and none, through a hang,
and with a stick or a memory that has no room. Nothing of the machine's own disk is touched."""

import hashlib
import json
import re
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nomap_lab import stick
from nomap_lab.cases import FAIL, PASS, Case, read_igt
from nomap_lab.paths import BUILD, TOP, root_dir
from nomap_lab.stages import LIVE_PACKAGES
from nomap_lab.stick import DOWN, Stick
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=83, tier="all",
                   finds="a stick that does not boot, says nothing, touches the machine, or loses what it found in a hang")

#: Seconds until the first screen: a Debian boots on an emulated CPU that others use, too.
BOOT = 1500
CHOICE = "Your choice: $"


@contextmanager
def booted(lab: Lab, name: str, image: Path | None = None, entry: int = 0, **options: Any) -> Iterator[tuple[Stick, str]]:
    """The machine at its first screen, and that screen with its lines joined. `entry` is that of GRUB's menu."""
    lab.build("live", "board")
    logs = lab.dir(f"live-{name}")
    own = image or stick.copy(BUILD / "live/nomap-live.img", logs / "stick.img")
    try:
        with Stick(own, logs, **options) as machine:
            try:
                machine.expect("without a graphics driver, after a black screen", BOOT)
                machine.send(DOWN * entry + "\n")
                machine.expect("nomap: uploads and downloads without mappings on", BOOT)
                yield machine, joined(machine.expect(CHOICE, 120))
            finally:
                lab.note(machine.said[-20000:])
    finally:
        if not image:
            own.unlink(missing_ok=True)


def joined(text: str) -> str:
    """Text of a screen as one line."""
    return " ".join(text.split())


def chosen(machine: Stick, number: int = 1, seconds: int = 300) -> str:
    """What a choice says until its end, with its lines joined; the first screen is back then."""
    machine.send(f"{number}\n")
    said = joined(machine.expect("Press Enter for the first screen", seconds))
    machine.send("\n")
    machine.expect(CHOICE, 120)
    return said


def own_disk(path: Path) -> str:
    """Makes a disk as a machine has one, with swap, a file system and an EFI system partition. Returns its hash."""
    mib = 2048
    # An MBR: status, no CHS, type, no CHS, first sector, sectors.
    table = [(0x82, 1 * mib, 64 * mib), (0x83, 65 * mib, 64 * mib), (0xef, 129 * mib, 32 * mib)]
    with open(path, "wb") as f:
        f.truncate(192 << 20)
        f.seek(446)
        f.write(b"".join(struct.pack("<B3xB3xII", 0, *entry) for entry in table).ljust(64, b"\0") + b"\x55\xaa")
    for at, make in ((1, ["mkswap"]), (65, ["mke2fs", "-q", "-F", "-t", "ext4", "-L", "HOME"])):
        part = path.with_suffix(".part")
        with open(part, "wb") as f:
            f.truncate(64 << 20)
        subprocess.run([*make, part], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(["dd", f"if={part}", f"of={path}", "bs=1M", f"seek={at}", "conv=notrunc,sparse", "status=none"], check=True)
        part.unlink()
    return digest(path)


def digest(path: Path) -> str:
    """The hash of a file."""
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


@case("live/bios-and-hang")
def bios_and_hang(lab: Lab) -> None:
    """Debian boots by BIOS with nomap's module and libraries. The power goes in a step; the next boot goes on behind it."""
    lab.build("live", "board")
    image = stick.copy(BUILD / "live/nomap-live.img", BUILD / "check/live-hang.img")
    disk = BUILD / "check/live-disk.img"
    before = own_disk(disk)
    try:
        with booted(lab, "bios", image, disk=disk) as (machine, screen):
            assert "RV710, in range" in screen and "driver radeon" in screen, screen
            assert "nomap's driver and libraries are active." in screen, screen
            assert "/data/nomap, on the stick's data partition" in screen, screen
            # The board leaves another one at its end.
            shutil.copy(machine.screenshot(), BUILD / "check/live-screen.png")
            machine.send("1\n")
            machine.expect(r"live-bos: pass", 900)
            machine.expect(r"\] transfer-paths: about 3 min", 60)
        with booted(lab, "bios-again", image, disk=disk) as (machine, screen):
            assert "The last run of 'safe' did not end its step 'transfer-paths'." in screen, screen
            said = chosen(machine, seconds=3600)
            assert "live-bos: pass, in an earlier run" in said, said
            assert "6 passed, 0 failed, 1 hung, 0 skipped" in said, said
            page = machine.shell("tar -xOf /data/nomap/nomap-report.tar.xz nomap-report/index.html")
            (BUILD / "check/live-report.html").write_text(page, encoding="utf-8")
            assert "the machine or the program ended while it ran" in page and "kernel module: active" in page, page
            # The machine has a disk, and nothing uses it.
            used = machine.shell("ls /dev/vda3; cat /proc/swaps /proc/mounts; grep -c . /proc/swaps")
            assert used.startswith("/dev/vda3\n") and used.count("vda") == 1 and used.endswith("\n1\n"), used
            machine.send("q\n")
            machine.wait(300)
        assert digest(disk) == before, "the machine's own disk has been written to"
    finally:
        image.unlink(missing_ok=True)
        disk.unlink(missing_ok=True)


@case("live/uefi-debian")
def uefi(lab: Lab) -> None:
    """By UEFI, the second entry has Debian's own driver and libraries. A key on the data partition may log in."""
    with booted(lab, "uefi", entry=1, uefi=True) as (machine, screen):
        assert "Debian's own driver and libraries are active." in screen, screen
        assert "RV710, in range; driver radeon" in screen, screen
        assert "Reports: /data/debian, on the stick's data partition" in screen, screen
        parameters = machine.shell("test -d /sys/firmware/efi && ls /sys/module/radeon/parameters | grep -c gem_rw")
        assert parameters == "0\n", parameters
        # There is no SSH server until there is a key.
        said = machine.shell("systemctl is-active ssh ssh.socket; ssh-keygen -q -t ed25519 -N \"\" -f /root/key; "
                             "cp /root/key.pub /data/authorized_keys; systemctl start ssh; "
                             "ssh -o StrictHostKeyChecking=no -o BatchMode=yes -i /root/key root@127.0.0.1 "
                             "nomap-report --status", 300)
        assert said.startswith("inactive\ninactive\n"), said
        for part in ("kernel module: NOT active", "libdrm: NOT active: programs use /usr/lib/nomap-live", "Mesa: NOT active"):
            assert part in said, said


def page(machine: Stick, stack: str = "nomap") -> str:
    """The page of the report of a boot entry."""
    return machine.shell(f"tar -xOf /data/{stack}/nomap-report.tar.xz nomap-report/index.html")


@case("live/choices")
def choices(lab: Lab) -> None:
    """Benchmarks with Debian's own stack and with nomap's, which the report compares."""
    lab.build("live", "board")
    image = stick.copy(BUILD / "live/nomap-live.img", BUILD / "check/live-choices.img")
    try:
        with booted(lab, "choices-debian", image, entry=1, mib=4096) as (machine, _):
            said = chosen(machine, 2, 7200)
            assert "2 passed, 0 failed, 0 hung, 2 skipped" in said, said
            assert "Debian's own stack and nomap's" not in page(machine, "debian")
            machine.send("q\n")
            machine.wait(300)
        with booted(lab, "choices-nomap", image, mib=4096) as (machine, _):
            said = chosen(machine, 2, 7200)
            assert "4 passed, 0 failed, 0 hung, 0 skipped" in said, said
            found = page(machine)
            assert "Debian's own stack and nomap's" in found, found
            # Times of the same arm and population with both.
            assert re.search(r"<td>upload</td><td>mmap</td><td>vram</td><td>1000</td>(<td>[0-9.]+</td>){3}</tr>", found), found
    finally:
        image.unlink(missing_ok=True)


def passed(machine: Stick, said: str, step: str) -> None:
    """Fails with the step's log, which is in the archive, if a choice does not say that it has passed."""
    if f"{step}: pass" not in said:
        log = machine.shell(f"for f in $(tar -tf /data/nomap/nomap-report.tar.xz | grep /logs/{step}); do echo \"== $f\"; "
                            "tar -xOf /data/nomap/nomap-report.tar.xz $f | tail -n 20; done")
        raise AssertionError(f"{said}\n{log}")


@case("live/draws")
def draws(lab: Lab) -> None:
    """The choices that draw: X servers with Debian's Mesa and nomap's, and piglit's tests of uploads."""
    with booted(lab, "draws", mib=4096) as (machine, _):
        passed(machine, chosen(machine, 3, 3600), "desktop")
        passed(machine, chosen(machine, 4, 7200), "piglit-set")
        log = machine.shell("tar -xOf /data/nomap/nomap-report.tar.xz nomap-report/logs/piglit-set.log")
        # Programs of piglit that cannot start would all be failures, and a set without tests passes nothing.
        ran = re.search(r"(\d+) tests: .*?(\d+) pass", log)
        assert ran and int(ran[1]) > 200 and int(ran[2]) > 100, log
        (BUILD / "check/live-draws.html").write_text(page(machine), encoding="utf-8")


#: What the emulated machine says of itself: the board has no SMC, which dpm is for, and QEMU's xHCI forgets its state in a suspend.
NOT_MODELLED = r"<[34]> \[[ \d.]+\] (\[drm:rv770_dpm_set_power_state \[radeon\]\] \*ERROR\* |xhci_hcd \S+ xHC error in resume)"


def judged(lab: Lab, results: dict[str, Any]) -> list[Case]:
    """The cases of igt_runner's results by igt-tests/verdicts.py, without what is not modelled."""
    for test in results["tests"].values():
        lines = test.get("dmesg", "").splitlines()
        test["dmesg"] = "\n".join(line for line in lines if not re.match(NOT_MODELLED, line))
    file = lab.dir("live-full-results") / "results.json"
    file.write_text(json.dumps(results), encoding="utf-8")
    said = lab.status("python3", "-B", TOP / "igt-tests/verdicts.py", file, 0)
    return read_igt(said.out, results)


@case("live/full")
def full(lab: Lab) -> None:
    """All IGT tests, with hangs, resets and suspends, end in a report."""
    with booted(lab, "full", mib=4096) as (machine, screen):
        assert "They hang and reset the card on purpose" in screen and "The screen goes black again and again" in screen, screen
        said = chosen(machine, 5, 9000)
        assert "The report to send is /data/nomap/nomap-report.tar.xz." in said, said
        assert "igt-all: pass" in said or "igt-all: fail" in said, said
        text = machine.shell("tar -xOf /data/nomap/nomap-report.tar.xz nomap-report/logs/igt-all-results.json")
        cases = judged(lab, json.loads(text))
        lab.note(json.dumps(Counter(c.status for c in cases)))
        assert not (bad := [f"{c.name}: {c.reason}" for c in cases if c.status == FAIL]), bad
        good = [c.name for c in cases if c.status == PASS]
        assert len(good) > 200 and any("hang" in name for name in good), good
        assert "GPU reset" in page(machine)


@case("live/ssh")
def ssh(lab: Lab) -> None:
    """Where there is no picture: a key of the build logs in, and the first screen makes a report there. Another key does not."""
    lab.build("live")
    at = lab.dir("live-key")
    image = stick.copy(BUILD / "live/nomap-live.img", at / "stick.img")
    script = TOP / "packaging/tests/live-ssh"
    lab.call(TOP / "packaging/in-copy", at / "work", script, "key", at, image)
    with booted(lab, "ssh", image, boards=0, network=True) as (machine, _):
        lab.note(machine.shell("networkctl --no-pager status 2>&1 | head -30; systemctl is-active ssh"))
        done = lab.status(TOP / "packaging/in-copy", at / "work", script, "ssh", at, machine.ssh_port)
        said = joined(done.out)
        assert "Permission denied" in done.err and "other key: 255" in said, done.err
        assert "This machine has no graphics card, so there is nothing to test." in said, said
        assert "The report to send is /data/nomap/nomap-report.tar.xz." in said, said
        assert "own key: 0" in said, said
        # The machine is turned off by the choice that was typed there.
        machine.wait(300)


@case("live/same-bytes")
def same_bytes(lab: Lab) -> None:
    """Two builds of the image give the same bytes."""
    lab.build("live")
    again = lab.dir("live-again")
    lab.call(TOP / "packaging/in-copy", again / "work", TOP / "packaging/live/build", again, root_dir("guest") / "opt/sid",
             *(BUILD / name for name in LIVE_PACKAGES))
    try:
        different = lab.sh('cmp -l "$1" "$2" | head -n 40 || :', BUILD / "live/nomap-live.img", again / "nomap-live.img")
        assert not different, different
    finally:
        (again / "nomap-live.img").unlink(missing_ok=True)


@case("live/no-card-and-full-stick")
def no_card(lab: Lab) -> None:
    """Without a card there is a report that says so. Without room there is none, and that is said."""
    with booted(lab, "no-card", boards=0) as (machine, screen):
        assert "This machine has no graphics card, so there is nothing to test." in screen, screen
        said = chosen(machine)
        assert "no graphics card" in said and "The report to send is /data/nomap/nomap-report.tar.xz." in said, said
        page = machine.shell("tar -xOf /data/nomap/nomap-report.tar.xz nomap-report/index.html")
        assert "This machine has no graphics card" in page, page
        machine.shell("head -c 400M /dev/zero >/data/filler", 300)
        said = chosen(machine)
        assert "The directory for the report, /data/nomap, is full: 50 MiB have to be free." in said, said


@case("live/other-card-and-read-only-stick")
def other_card(lab: Lab) -> None:
    """A card out of range, and a stick that cannot be written to."""
    with booted(lab, "other-card", boards=0, other=True, read_only=True) as (machine, screen):
        assert "No graphics card here is an R600 to Cayman" in screen and "1234:1111" in screen, screen
        assert "the data partition at /data is read-only, so nothing can be tested." in screen, screen
        said = chosen(machine)
        assert "The directory for the report, /data/nomap, is read-only" in said, said


def copied(machine: Stick) -> list[int]:
    """How often the CPU has copied for PREAD, PWRITE and TRANSFER on each card, in the order of their addresses."""
    said = machine.shell("for card in /sys/bus/pci/devices/*/drm/card?; do "
                         "sed -n \"s/^cpu \\([0-9]*\\) .*/\\1/p\" /sys/kernel/debug/dri/${card##*/card}/radeon_gem_rw; done")
    return [int(n) for n in said.split()]


@case("live/two-cards")
def two_cards(lab: Lab) -> None:
    """The first screen asks which of two cards is meant. The programs, IGT's too, use that one and leave the other alone."""
    with booted(lab, "two-cards", boards=2) as (machine, screen):
        assert "Card: 0000:01:00.0" in screen and "There is 1 other in range: c takes the next one." in screen, screen
        before = copied(machine)
        assert len(before) == 2, before
        machine.send("c\n")
        screen = joined(machine.expect(CHOICE, 120))
        assert "Card: 0000:02:00.0" in screen and "Reports: /data/nomap-0000-02-00.0," in screen, screen
        machine.send("1\n")
        machine.expect("live-bos: pass", 1200)
        middle = machine.expect(r"\] igt-basic: (pass|fail)", 1800)
        assert "transfer-paths: pass" in middle and "igt-basic: pass" in middle, middle
        # Ctrl-C ends it, and the first screen comes again.
        machine.send("\x03")
        machine.expect(CHOICE, 120)
        after = copied(machine)
        lab.note(f"copies by the CPU on each card: {before}, then {after}")
        assert after[0] == before[0] and after[1] > before[1], (before, after)
        igt = json.loads(machine.shell("cat /data/nomap-0000-02-00.0/igt-basic/results.json"))["tests"]
        assert igt and all(r["result"] == "pass" for r in igt.values()), igt


@case("live/little-memory")
def little_memory(lab: Lab) -> None:
    """With too little memory for tests it still boots, and says so."""
    with booted(lab, "little-memory", mib=512) as (machine, _):
        # What Debian has left for programs is taken away, if it is not too little already.
        machine.shell("mount -t tmpfs -o size=95% none /mnt; "
                      "while [ $(sed -n \"s/MemAvailable: *\\([0-9]*\\).*/\\1/p\" /proc/meminfo) -gt 200000 ]; do "
                      "head -c 20M /dev/zero >>/mnt/filler || break; done", 300)
        said = chosen(machine)
        assert "MiB of memory are available, and the tests need 256" in said, said
        assert "The report to send is /data/nomap/nomap-report.tar.xz." in said, said


@case("live/no-network")
def no_network(lab: Lab) -> None:
    """Without a network the builders of the image and of a release say so in one line, and leave neither."""
    lab.build("radeon-deb", "igt")
    out = lab.dir("live-no-network")
    made = out / "release"
    for words in ([TOP / "packaging/live/build", out, BUILD / "igt-tests"],
                  ["env", "LIVE=", "SNAPSHOT=1", TOP / "packaging/release", made]):
        done = lab.status("unshare", "--net", TOP / "packaging/in-copy", out / "work", *words, BUILD / "radeon-deb")
        assert done.status == 1 and done.err.count("\n") == 1, done.err
        assert "is there a network?" in done.err, done.err
    assert not list(out.glob("*.img")) and not made.exists()
