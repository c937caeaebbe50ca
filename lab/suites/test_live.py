# SPDX-License-Identifier: MIT
"""The live image, booted from an emulated USB stick: by BIOS and UEFI, with the board and without, through a hang, and with
data partitions that cannot be written to."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nomap_lab import stick
from nomap_lab.paths import BUILD
from nomap_lab.stick import DOWN, Stick
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=83, finds="a stick that does not boot, says nothing, or loses what it found in a hang")

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
                machine.type(DOWN * entry + "\n")
                machine.expect("nomap: uploads and downloads without mappings on", BOOT)
                yield machine, joined(machine.expect(CHOICE, 120))
            finally:
                lab.note(machine.said[-20000:])
    finally:
        if not image:
            stick.remove(own)


def joined(text: str) -> str:
    """Text of a screen as one line."""
    return " ".join(text.split())


@case("live/bios-and-hang", tier="all")
def bios_and_hang(lab: Lab) -> None:
    """Debian boots by BIOS with nomap's module and libraries. The power goes in a step; the next boot goes on behind it."""
    lab.build("live", "board")
    image = stick.copy(BUILD / "live/nomap-live.img", BUILD / "check/live-hang.img")
    try:
        with booted(lab, "bios", image) as (machine, screen):
            assert "RV710, in range" in screen and "driver radeon" in screen, screen
            assert "nomap's driver and libraries are active." in screen, screen
            assert "/data/nomap, on the stick's data partition" in screen, screen
            machine.type("1\n")
            machine.expect(r"live-bos: pass", 900)
            machine.expect(r"\] transfer-paths: about 3 min", 60)
        with booted(lab, "bios-again", image) as (machine, screen):
            assert "The last run of 'safe' did not end its step 'transfer-paths'." in screen, screen
            machine.type("1\n")
            said = machine.expect(r"Press Enter for the first screen", 3600)
            assert "live-bos: pass, in an earlier run" in said, said
            assert "5 passed, 0 failed, 1 hung, 0 skipped" in said, said
            machine.type("\n")
            machine.expect(CHOICE, 120)
            page = machine.shell("tar -xOf /data/nomap/nomap-report.tar.xz nomap-report/index.html")
            assert "the machine or the program ended while it ran" in page and "kernel module: active" in page, page
            machine.type("q\n")
            machine.wait(300)
        assert (BUILD / "check/live-bios/screen.png").exists() and (BUILD / "check/live-bios-again/screen.png").exists()
    finally:
        stick.remove(image)


@case("live/uefi-debian", tier="all")
def uefi(lab: Lab) -> None:
    """By UEFI, the second entry has Debian's own driver and libraries. A key on the data partition may log in."""
    with booted(lab, "uefi", entry=1, uefi=True) as (machine, screen):
        assert "Debian's own driver and libraries are active." in screen and "RV710, in range; driver radeon" in screen, screen
        firmware = machine.shell("test -d /sys/firmware/efi && ls /sys/module/radeon/parameters | grep -c gem_rw; ls -l /proc/1/exe")
        assert firmware.startswith("0\n"), firmware
        # There is no SSH server until there is a key.
        said = machine.shell("systemctl is-active ssh; ssh-keygen -q -t ed25519 -N \"\" -f /root/key; cp /root/key.pub /data/authorized_keys; "
                             "systemctl start ssh; ssh -o StrictHostKeyChecking=no -o BatchMode=yes -i /root/key root@127.0.0.1 "
                             "nomap-report --status", 300)
        assert said.startswith("inactive\n") and "libdrm: NOT active" in said and "Mesa: NOT active" in said, said


@case("live/no-card", tier="all")
def no_card(lab: Lab) -> None:
    with booted(lab, "no-card", graphics="none") as (machine, screen):
        assert "This machine has no graphics card, so there is nothing to test." in screen, screen
        machine.type("1\n")
        said = machine.expect("Press Enter", 300)
        assert "no graphics card" in said and "The report to send is /data/nomap/nomap-report.tar.xz." in said, said


@case("live/other-card", tier="all")
def other_card(lab: Lab) -> None:
    """A card out of range, and then a stick that is full."""
    with booted(lab, "other-card", graphics="VGA") as (machine, screen):
        assert "No graphics card here is an R600 to Cayman" in screen and "1234:1111" in screen, screen
        machine.type("1\n")
        said = machine.expect("Press Enter", 300)
        assert "No graphics card here is an R600 to Cayman" in said, said
        machine.type("\n")
        machine.expect(CHOICE, 120)
        machine.shell("head -c 400M /dev/zero >/data/filler")
        machine.type("1\n")
        said = joined(machine.expect("Press Enter", 300))
        assert "The directory for the report, /data/nomap, is full: 50 MiB have to be free." in said, said


@case("live/read-only", tier="all")
def read_only(lab: Lab) -> None:
    with booted(lab, "read-only", read_only=True) as (machine, screen):
        assert "the data partition at /data is read-only, so nothing can be tested." in screen, screen
        machine.type("1\n")
        said = joined(machine.expect("Press Enter", 300))
        assert "The directory for the report, /data/nomap, is read-only" in said, said
