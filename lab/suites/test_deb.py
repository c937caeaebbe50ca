# SPDX-License-Identifier: MIT
"""The DKMS package (those of libdrm and Mesa are in their suites): installed, built and removed on Debian 13, and a
guest with its module; the repository of a release; lintian."""

import json
import re
import shutil
import tarfile
from pathlib import Path

from PIL import Image

from nomap_lab import initramfs
from nomap_lab.installed import Installed, from_disk
from nomap_lab.paths import BUILD, TOP
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=80, finds="a package that breaks apt, keeps its module or boots with another")


@case("deb/versions", runner="pytest")
def versions(lab: Lab) -> None:
    lab.pytest("packaging/tests/version_test.py")


@case("deb/build")
def build(lab: Lab) -> None:
    lab.build("radeon-deb")


@case("deb/install-remove")
def life(lab: Lab) -> None:
    lab.call("packaging/tests/run", "dkms", *sorted((BUILD / "radeon-deb").glob("*.deb")))


@case("deb/boots-and-works")
def boot(lab: Lab) -> None:
    module = BUILD / "deb/test-dkms/radeon.ko"
    assert module.exists()
    initramfs.make(Path("/"), BUILD / "boot/dkms", module)
    lab.run("/build/igt-tests/run", "-t", "@basic$", "-r", "/build/check/igt-dkms", kernel="dkms", timeout=120)


#: The stages whose packages a release has.
RELEASE = ("radeon-deb", "libdrm-deb", "mesa-deb", "tools-deb", "r7xx-deb")


def released() -> list[Path]:
    """The packages of a release: of libdrm, only those that the series changes."""
    return [deb for stage in RELEASE for deb in sorted((BUILD / stage).glob("*.deb"))
            if not deb.name.startswith("libdrm") or deb.name.startswith(("libdrm-radeon1_", "libdrm-dev_"))]


@case("deb/repository", tier="all")
def repository(lab: Lab) -> None:
    """What "make release" makes, installed over file: in a clean Debian, upgraded from the release before, removed."""
    lab.build(*RELEASE)
    lab.call("packaging/tests/run", "repository", *released())


@case("deb/installed-guest", tier="all")
def installed_guest(lab: Lab) -> None:
    """A machine that has nothing of the lab, before and after what the release's README says for installing it: its own driver,
    then ours; nomap-report makes a report, and a browser shows it."""
    lab.build(*RELEASE, "board")
    lab.call("packaging/tests/run", "guest", *released())
    at = BUILD / "deb/test-guest"
    clean, disk, logs = at / "clean.ext4", at / "installed.ext4", lab.dir("installed-guest")
    # The prompt may come before udev has loaded the driver.
    driver = "udevadm settle --timeout=300; ls -d /sys/bus/pci/drivers/radeon/0000:01:00.0"
    try:
        with Installed(clean, logs / "before", password="nomap") as machine:
            machine.login(1500)
            machine.shell(driver, 360)
            machine.shell("ls /sys/module/radeon/parameters/gem_rw_stage_size", status=2)
            machine.shell("command -v nomap-report", status=1)
            machine.send("systemctl poweroff\n")
            machine.wait(600)
        with Installed(disk, logs / "after", password="nomap") as machine:
            machine.login(1500)
            machine.shell(driver, 360)
            parts = machine.shell("nomap-report --status", 120)
            lab.note(parts)
            assert parts.count(": active:") == 3, parts
            said = machine.shell("nomap-report --safe", 3600)
            lab.note(said)
            assert "RV710, in range" in said and "0 failed, 0 hung" in said, said
            assert "The report to send is /var/lib/nomap-report/nomap-report.tar.xz." in said, said
            machine.send("systemctl poweroff\n")
            machine.wait(600)
        archive = from_disk(disk, "/var/lib/nomap-report/nomap-report.tar.xz", logs / "nomap-report.tar.xz")
    finally:
        lab.note("\n".join(log.read_text(encoding="utf-8", errors="replace")[-20000:] for log in logs.glob("*/serial.log")))
        for made in (clean, disk):
            made.unlink(missing_ok=True)
    report(lab, archive, logs)


def report(lab: Lab, archive: Path, logs: Path) -> None:
    """Opens the archive of a safe run on the board, and has a browser show its page: logs/page.png."""
    with tarfile.open(archive) as tar:
        tar.extractall(logs, filter="data")
    found = json.loads((logs / "nomap-report/report.json").read_text(encoding="utf-8"))
    results = {name: step["status"] for name, step in found["steps"].items()}
    assert results["live-bos"] == results["transfer-paths"] == "pass", results
    assert set(results.values()) == {"pass", "skip"}, results
    assert all(name.startswith("igt-") for name, r in results.items() if r == "skip"), results
    assert not found["facts"]["kernel_reports"] and len(found["facts"]["kernel_log"]) > 20, found["facts"]["kernel_reports"]
    lab.call("packaging/tests/run", "page", logs / "nomap-report/index.html")
    shutil.copy(BUILD / "deb/test-page/page.png", logs / "page.png")
    with Image.open(logs / "page.png") as picture:
        colours = {colour: count for count, colour in picture.convert("RGB").getcolors(1 << 24)}
    # Rows of steps that passed are green; an empty page is white only.
    passed = colours.get((187, 255, 187), 0)
    assert passed > 10000 and colours.get((255, 255, 255), 0) > 100000 and len(colours) > 50, (passed, len(colours))
    assert (255, 187, 187) not in colours, "the page shows a failure"


@case("deb/lintian", tier="all")
def lintian(lab: Lab) -> None:
    """No errors of lintian in any source or binary package."""
    lab.build(*RELEASE)
    lab.call("packaging/tests/run", "lintian", *[changes for stage in RELEASE for changes in (BUILD / stage).glob("*.changes")])


@case("deb/autopkgtest", tier="all")
def autopkgtest(lab: Lab) -> None:
    """The tests of each source package that has some, on the packages of this release."""
    lab.build(*RELEASE)
    sources = [dsc for stage in RELEASE if stage != "libdrm-deb" for dsc in (BUILD / stage).glob("*.dsc")]
    lab.call("packaging/tests/run", "autopkgtest", *sources)


@case("deb/piuparts", tier="all")
def piuparts(lab: Lab) -> None:
    """Each package is installed, removed and purged in a clean Debian, which is as before then."""
    lab.build(*RELEASE)
    lab.call("packaging/tests/run", "piuparts", *released())


@case("deb/arm64", tier="all")
def arm64(lab: Lab) -> None:
    """The module is compiled for Debian's arm64 kernel, where VRAM is reached by the functions for I/O memory only."""
    lab.build("radeon-deb")
    lab.call("packaging/tests/run", "arm64", *(BUILD / "radeon-deb").glob("*.deb"), skip77=True)


def build_again(lab: Lab, name: str, stage: str, out: Path) -> None:
    """Builds a package once more, and compares it with the stage's, byte by byte."""
    lab.build(stage)
    lab.call("packaging/build", name, out / name)
    compared = 0
    for file in sorted((BUILD / stage).iterdir()):
        if file.suffix in (".deb", ".dsc", ".xz"):
            lab.call("cmp", file, out / name / file.name)
            compared += 1
    assert compared >= 4, f"{name}: {compared} files were compared"


@case("deb/same-bytes", tier="all")
def same_bytes(lab: Lab) -> None:
    """Two builds of a package give the same bytes. That of the keyring is in deb/keyring."""
    out = lab.dir("deb-again")
    for name, stage in (("radeon-nomap", "radeon-deb"), ("libdrm", "libdrm-deb"), ("nomap-tools", "tools-deb"),
                        ("r7xx-tools", "r7xx-deb")):
        build_again(lab, name, stage, out)


@case("deb/same-bytes-mesa", tier="all")
def same_bytes_mesa(lab: Lab) -> None:
    """The same of mesa-nomap, whose build takes as long as all others together."""
    build_again(lab, "mesa", "mesa-deb", lab.dir("deb-again-mesa"))


@case("deb/keyring", tier="all")
def keyring(lab: Lab) -> None:
    """The package with the key of a release, of a key that nobody keeps: the same bytes twice, its own test, piuparts."""
    lab.call("packaging/tests/run", "keyring")


@case("deb/signatures-enforced", needs=["deb/install-remove"])
def signatures(lab: Lab) -> None:
    """A kernel that enforces signatures refuses the module that DKMS has built, and secure-boot says so before."""
    module = BUILD / "deb/test-dkms/radeon.ko"
    assert module.exists()
    script = BUILD / "check/secure-boot"
    script.write_bytes((TOP / "packaging/radeon-nomap/secure-boot").read_bytes())
    said = lab.run("sh", "-c", """
        mount -t securityfs none /sys/kernel/security 2>/dev/null
        cat /sys/module/module/parameters/sig_enforce
        sh /build/check/secure-boot; echo "secure-boot: $?"
        insmod /build/deb/test-dkms/radeon.ko 2>&1; echo "insmod: $?"
        """, module="stock", append="module.sig_enforce=1", radeon=False, timeout=120)
    assert said.startswith("Y\n"), said
    assert "secure-boot: 1" in said, said
    # ENOKEY or EKEYREJECTED, as a file that is missing or damaged would be refused as well.
    assert re.search("insmod: ERROR: .*[Kk]ey", said) and "insmod: 1" in said, said
