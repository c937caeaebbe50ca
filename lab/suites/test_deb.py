# SPDX-License-Identifier: MIT
"""The DKMS package (those of libdrm and Mesa are in their suites): installed, built and removed on Debian 13, and a
guest with its module; the repository of a release; lintian."""

import re
from pathlib import Path

from nomap_lab import initramfs
from nomap_lab.paths import BUILD, TOP
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=80, finds="a package that breaks apt, keeps its module or boots with another")


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
RELEASE = ("radeon-deb", "libdrm-deb", "mesa-deb", "tools-deb")


@case("deb/repository", tier="all")
def repository(lab: Lab) -> None:
    """What "make release" makes, installed over file: in a clean Debian, upgraded from the release before, removed."""
    lab.build(*RELEASE)
    debs = [deb for stage in RELEASE for deb in sorted((BUILD / stage).glob("*.deb"))
            if not deb.name.startswith("libdrm") or deb.name.startswith(("libdrm-radeon1_", "libdrm-dev_"))]
    lab.call("packaging/tests/run", "repository", *debs)


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
    stages = ("radeon-deb", "tools-deb")
    lab.build(*stages)
    lab.call("packaging/tests/run", "piuparts", *[deb for stage in stages for deb in (BUILD / stage).glob("*.deb")])


@case("deb/same-bytes", tier="all")
def same_bytes(lab: Lab) -> None:
    """Two builds of a package give the same bytes."""
    out = lab.dir("deb-again")
    for name, stage in (("radeon-nomap", "radeon-deb"), ("libdrm", "libdrm-deb"), ("nomap-tools", "tools-deb")):
        lab.build(stage)
        lab.call("packaging/build", name, out / name)
        compared = 0
        for file in sorted((BUILD / stage).iterdir()):
            if file.suffix in (".deb", ".dsc", ".xz"):
                lab.call("cmp", file, out / name / file.name)
                compared += 1
        assert compared >= 4, f"{name}: {compared} files were compared"


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
