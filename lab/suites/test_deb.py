# SPDX-License-Identifier: MIT
"""The DKMS package (libdrm's are in the suite libdrm): installed, built and removed on Debian 13, and a
guest with its module."""

from pathlib import Path

from nomap_lab import initramfs
from nomap_lab.paths import BUILD
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=80, finds="a package that breaks apt, keeps its module or boots with another")


@case("deb/build")
def build(lab: Lab) -> None:
    lab.call("packaging/radeon-nomap-dkms/build", "build/deb")


@case("deb/install-remove")
def life(lab: Lab) -> None:
    lab.call("packaging/tests/run", "dkms", *sorted((BUILD / "deb").glob("radeon-nomap-dkms_*.deb")))


@case("deb/boots-and-works")
def boot(lab: Lab) -> None:
    module = BUILD / "deb/test-dkms/radeon.ko"
    assert module.exists()
    initramfs.make(Path("/"), BUILD / "boot/dkms", module)
    lab.run("/build/igt-tests/run", "-t", "@basic$", "-r", "/build/check/igt-dkms", kernel="dkms", timeout=120)
