# SPDX-License-Identifier: MIT
"""Removes what is personal: every text of a report passes through here.

What is removed: host names, names and home directories of users, serial numbers, UUIDs and other
identifiers of machine, disks and file systems, MAC and IP addresses.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any

from .system import System

#: Files whose contents tell one machine from all others.
IDENTIFIERS = ("/etc/machine-id", "/var/lib/dbus/machine-id", "/proc/sys/kernel/random/boot_id")
#: Values that firmware has where there is no serial number.
PLACEHOLDERS = frozenset(("none", "default string", "to be filled by o.e.m.", "not specified", "system serial number", "unknown", "0"))
PATTERNS = (
    ("UUID", re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")),
    ("MAC", re.compile(r"(?<![0-9a-fA-F:.])(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}(?![0-9a-fA-F:])")),
    ("IP", re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")),
    ("HOME", re.compile(r"/home/[^/\s:\"']+")),
    ("SERIAL", re.compile(r"(?i)(?<=serial)(?:\s*(?:number|no\.?|#))?\s*[:=]\s*[^\s\"',]+")),
    ("ID", re.compile(r"(?i)(?<=UUID=)[^\s\"',]+|(?<=LABEL=)[^\s\"',]+")),
)
#: What may be an IPv6 address.
IP6 = re.compile(r"(?<![\w:.])[0-9a-fA-F:]{3,39}(?![\w:.])")
#: An address of a PCI function is none of the Internet's.
SLOT = re.compile(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]")


def secrets(system: System) -> dict[str, str]:
    """Words of this machine that no report may have, and what stands there instead."""
    found: dict[str, str] = {}

    def add(word: str, instead: str, least: int = 3) -> None:
        word = word.strip()
        if len(word) >= least and word.lower() not in PLACEHOLDERS:
            found[word] = instead

    name = system.read("/proc/sys/kernel/hostname") or system.read("/etc/hostname")
    for word in (name, name.split(".")[0], system.read("/etc/hostname")):
        if word not in ("localhost", "debian"):
            add(word, "HOST", 2)
    for line in system.read("/etc/passwd").splitlines():
        fields = line.split(":")
        if len(fields) >= 7 and fields[2].isdigit() and 1000 <= int(fields[2]) < 60000:
            add(fields[0], "USER", 2)
            for part in fields[4].split(","):
                add(part, "USER")
            if fields[5].startswith("/"):
                add(fields[5], "HOME", 6)
    for file in IDENTIFIERS:
        add(system.read(file), "ID", 8)
    for at in (*system.path("/sys/class/dmi/id").glob("*serial*"), *system.path("/sys/class/dmi/id").glob("*uuid*"),
               *system.path("/sys/class/dmi/id").glob("*asset_tag*"), *system.path("/sys/block").glob("*/device/serial"),
               *system.path("/sys/block").glob("*/device/wwid")):
        add(system.read(at), "SERIAL", 4)
    for at in system.path("/sys/class/net").glob("*/address"):
        add(system.read(at), "MAC", 8)
    return found


def without_ip6(found: re.Match[str]) -> str:
    """The word, or what stands instead of an IPv6 address."""
    try:
        ipaddress.IPv6Address(found[0])
    except ValueError:
        return found[0]
    return "[IP]"


class Filter:
    """clean() removes the secrets of a machine from texts."""

    def __init__(self, system: System) -> None:
        words = secrets(system)
        self.words = words
        # The longest first: a name can be a part of another. Names are words, "al" is no part of "total".
        alternatives = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
        self.known = re.compile(rf"(?<![A-Za-z0-9])(?:{alternatives})(?![A-Za-z0-9])", re.I) if words else None
        self.instead = {word.lower(): f"[{what}]" for word, what in words.items()}

    def clean(self, text: str) -> str:
        """The text without what is personal."""
        slots: list[str] = []

        def keep(found: re.Match[str]) -> str:
            slots.append(found[0])
            return f"\0{len(slots) - 1}\0"

        text = SLOT.sub(keep, text)
        if self.known:
            text = self.known.sub(lambda found: self.instead[found[0].lower()], text)
        for what, pattern in PATTERNS:
            text = pattern.sub(f"[{what}]", text)
        text = IP6.sub(without_ip6, text)
        return re.sub("\0(\\d+)\0", lambda found: slots[int(found[1])], text)

    def clean_all(self, value: Any) -> Any:
        """The same for all texts in lists and dictionaries."""
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, dict):
            return {key: self.clean_all(v) for key, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.clean_all(v) for v in value]
        return value
