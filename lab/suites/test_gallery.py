# SPDX-License-Identifier: MIT
"""bench/gallery by three renderers, the board natively by r7xx-shim (docs/gallery.md)."""

from nomap_lab.chips import OTHER_GENERATIONS
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=26, lane="builds",
                   finds="a feature of GL that the board draws otherwise than llvmpipe and softpipe do")


@case("gallery/same-pictures")
def same_pictures(lab: Lab) -> None:
    lab.lab("gallery", "--out", "check/gallery", "--check")


@case("gallery/same-pictures-on-{chip}", tier="all", chip=OTHER_GENERATIONS)
def same_pictures_on_others(lab: Lab, chip: str) -> None:
    """The decoders of other generations: registers, shaders, tiling."""
    lab.lab("gallery", "--chip", chip, "--out", f"check/gallery-{chip}", "--check")


@case("gallery/same-pictures-in-a-guest-on-{chip}", chip=["turks", "cedar", "cayman"], tier="all")
def same_pictures_in_a_guest(lab: Lab, chip: str) -> None:
    """The same by the kernel's rings, its checker of command streams and its placement of BOs."""
    lab.lab("gallery", "--guest", "--chip", chip, "--out", f"check/gallery-guest-{chip}", "--check")


@case("gallery/same-pictures-in-an-address-space", tier="all")
def same_pictures_in_an_address_space(lab: Lab) -> None:
    """Cayman's streams by virtual addresses: radeon's page tables and its flushes of VM contexts."""
    lab.lab("gallery", "--guest", "--space", "--chip", "cayman", "--out", "check/gallery-space", "--check")
