# SPDX-License-Identifier: MIT
"""The GPUs of the machine, and which of them is meant."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .system import ReportError, System

CHIPS = Path(__file__).with_name("chips.txt")
AMD = "0x1002"


def families() -> dict[str, str]:
    """Chip family by PCI device ("0x954f"), of all that radeon's r600 part drives."""
    lines = CHIPS.read_text(encoding="ascii").splitlines()
    return {f"0x{device}": family for device, family in (line.split() for line in lines if not line.startswith("#"))}


@dataclass(frozen=True)
class Card:
    """A PCI function of class 03, display controller. `slot` is its address, `family` "" if out of range."""

    slot: str
    vendor: str
    device: str
    subsystem: str
    family: str
    driver: str
    link: str

    @property
    def in_range(self) -> bool:
        return bool(self.family)

    def environment(self) -> dict[str, str]:
        """What has the steps' programs use this card and no other: those of nomap-tools, and IGT's."""
        return {"NOMAP_CARD": self.slot, "IGT_DEVICE": f"pci:slot={self.slot}"}

    def __str__(self) -> str:
        what = f"{self.family}, in range" if self.family else "not an R600 to Cayman"
        return f"{self.slot} {self.vendor[2:]}:{self.device[2:]} ({what}; driver {self.driver or 'none'})"


def link(system: System, at: Path) -> str:
    """The PCIe link, as "2.5 GT/s PCIe x16 of 5.0 GT/s PCIe x16"; "" if the card has none."""
    now, best = ([system.read(at / f"{which}_link_{what}") for what in ("speed", "width")] for which in ("current", "max"))
    return f"{now[0]} x{now[1]} of {best[0]} x{best[1]}" if now[0] else ""


def cards(system: System) -> list[Card]:
    """All GPUs, in the order of their addresses."""
    known, found = families(), []
    for at in sorted(system.path("/sys/bus/pci/devices").glob("*")):
        if not system.read(at / "class").startswith("0x03"):
            continue
        vendor, device = system.read(at / "vendor"), system.read(at / "device")
        driver = at / "driver"
        found.append(Card(at.name, vendor, device,
                          f"{system.read(at / 'subsystem_vendor')[2:]}:{system.read(at / 'subsystem_device')[2:]}",
                          known.get(device, "") if vendor == AMD else "",
                          driver.resolve().name if driver.exists() else "", link(system, at)))
    return found


def choose(found: list[Card], slot: str = "") -> Card:
    """The card to test: the one at `slot`, or the only one in range. Raises ReportError if there is none."""
    if not found:
        raise ReportError("This machine has no graphics card, so there is nothing to test.")
    if slot:
        for card in found:
            if card.slot.endswith(slot):
                if not card.in_range:
                    raise ReportError(f"The card {card.slot} is not an R600 to Cayman (Radeon HD 2000 to 6000), so nomap does "
                                      "nothing for it.")
                return card
        raise ReportError(f"There is no graphics card at {slot}; there are {', '.join(c.slot for c in found)}.")
    good = [card for card in found if card.in_range]
    if not good:
        raise ReportError("No graphics card here is an R600 to Cayman (Radeon HD 2000 to 6000), so nomap does nothing for it: "
                          + "; ".join(map(str, found)) + ".")
    if len(good) > 1:
        raise ReportError("There are several cards in range: say which one with --card, "
                          + " or ".join(f"--card {c.slot}" for c in good) + ".")
    return good[0]
