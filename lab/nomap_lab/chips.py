# SPDX-License-Identifier: MIT
"""The board's chips of other generations than R700, and what some of them need on the kernel's command line."""

OTHER_GENERATIONS = ("rv670", "rs780", "cedar", "redwood", "cypress", "palm", "barts", "turks", "caicos", "cayman", "aruba")
#: Of these, R6xx.
R6XX = ("rv670", "rs780")

#: RS780: radeon uses MSI on a chipset only if told to (radeon_msi_ok()), and QEMU unmaps the BARs at the first INTA#.
#: ARUBA: its video encoder (VCE) is not on the board, and the lab's firmware file has no versions of it, which is an error.
PARAMETERS = {"rs780": "radeon.msi=1", "aruba": "radeon.vce=0"}


def parameters(chip: str) -> str:
    """The parameters for CHIP, empty for most."""
    return PARAMETERS.get(chip, "")
