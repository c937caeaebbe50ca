# SPDX-License-Identifier: MIT
"""What radeon has to be told on the kernel's command line for some of the board's chips."""

#: RS780: radeon uses MSI on a chipset only if told to (radeon_msi_ok()), and QEMU unmaps the BARs at the first INTA#.
#: ARUBA: its video encoder (VCE) is not on the board, and the lab's firmware file has no versions of it, which is an error.
PARAMETERS = {"rs780": "radeon.msi=1", "aruba": "radeon.vce=0"}


def parameters(chip: str) -> str:
    """The parameters for CHIP, empty for most."""
    return PARAMETERS.get(chip, "")
