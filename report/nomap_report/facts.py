# SPDX-License-Identifier: MIT
"""What a report says of the machine, and which parts of nomap are active."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .cards import Card
from .system import System

#: What the kernel log says when something went wrong in it.
REPORT = re.compile(r"WARNING: |BUG: |Oops|KASAN|UBSAN|lockdep|possible recursive locking|general protection|Call Trace"
                    r"|GPU lockup|ring \d+ (?:test failed|stalled)|GPU reset|hung task|blocked for more than")
#: Lines of the kernel log that a report has: those of the graphics driver, and reports.
OURS = re.compile(r"radeon|drm|ttm|\[fb|PCIe|pcieport|AER|Linux version|lockdown|module verification|secure ?boot", re.I)
PACKAGES = ("radeon-nomap-dkms", "libdrm-radeon1", "mesa-nomap", "mesa-libgallium", "nomap-tools", "linux-source-6.12", "dkms")


@dataclass(frozen=True)
class Part:
    """A part of nomap: is it in use, and what there is to say of it."""

    name: str
    active: bool
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {'active' if self.active else 'NOT active'}: {self.text}"


def versions(system: System) -> dict[str, str]:
    """Installed packages that matter, with their versions."""
    listed = system.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${binary:Package} ${Version}\n", *PACKAGES]) or "\n".join(
        system.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${binary:Package} ${Version}\n", p]) for p in PACKAGES)
    found = {}
    for line in listed.splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "installed":
            found[words[1].split(":")[0]] = words[2]
    return found


def module_part(system: System, installed: dict[str, str]) -> Part:
    """The kernel module: ours has parameters that the stock one lacks."""
    name, package = "kernel module", installed.get("radeon-nomap-dkms", "")
    if not system.path("/sys/module/radeon").exists():
        return Part(name, False, "radeon is not loaded")
    if list(system.path("/sys/module/radeon/parameters").glob("gem_rw_*")):
        return Part(name, True, f"radeon-nomap-dkms {package or 'is not installed: built by hand'}")
    if not package:
        return Part(name, False, "Debian's own is loaded; radeon-nomap-dkms is not installed")
    file = system.run(["modinfo", "-F", "filename", "radeon"])
    if "/updates/" in file:
        return Part(name, False, f"Debian's own is loaded, {package} is built for this kernel: reboot; if that does not help, the "
                    "kernel refuses it: /usr/src/radeon-nomap-*/secure-boot says whether Secure Boot is why")
    return Part(name, False, f"Debian's own is loaded, {package} is installed but not built for this kernel: "
                "dpkg-reconfigure radeon-nomap-dkms says why")


def linked(system: System, library: str) -> str:
    """The path by which programs get a library, from the cache of the dynamic linker; "" if that is not known."""
    for line in system.run(["sh", "-c", "PATH=$PATH:/usr/sbin:/sbin; ldconfig -p"]).splitlines():
        words = line.split()
        if words and words[0] == library:
            return words[-1]
    return ""


def libdrm_part(system: System, installed: dict[str, str]) -> Part:
    """libdrm_radeon: the package's, unless another directory comes before its."""
    name, version = "libdrm", installed.get("libdrm-radeon1", "")
    if "nomap" not in version:
        return Part(name, False, f"Debian's {version} is installed, it replaced ours or ours never was" if version else "libdrm-radeon1 is not installed")
    path = linked(system, "libdrm_radeon.so.1")
    if path and not re.fullmatch(r"(/usr)?/lib/[a-z0-9_]+-linux-gnu/libdrm_radeon\.so\.1", path):
        return Part(name, False, f"programs use {path} instead of libdrm-radeon1 {version}")
    return Part(name, True, f"libdrm-radeon1 {version}")


def status(system: System) -> list[Part]:
    """The parts, and of those that are not active why."""
    installed = versions(system)
    parts = [module_part(system, installed), libdrm_part(system, installed)]
    mesa = installed.get("mesa-nomap", "")
    if not mesa:
        parts.append(Part("Mesa", False, f"mesa-nomap is not installed, OpenGL uses Debian's {installed.get('mesa-libgallium', '')}"))
    else:
        said = system.run(["sh", "-c", "/usr/libexec/mesa-nomap status || :"]) or "its status is not known"
        parts.append(Part("Mesa", said == "active", f"mesa-nomap {mesa}" + ("" if said == "active" else f": {said}")))
    return parts


def kernel_log(system: System) -> tuple[list[str], list[str]]:
    """Lines of the kernel log that a report has, and of these what is a report of a fault."""
    log = system.run(["dmesg"]) or system.run(["journalctl", "-k", "-b", "-o", "short-monotonic", "--no-hostname"])
    lines = [line for line in log.splitlines() if OURS.search(line) or REPORT.search(line)]
    return lines, [line for line in lines if REPORT.search(line)]


def counters(system: System) -> dict[str, dict[str, str]]:
    """The driver's counters: by card, then by counter, what the line says behind its name. Cards have their PCI slots, or the
    numbers of their primary nodes where the kernel's debugfs has no slots."""
    found = {p.parent.name: dict(line.split(" ", 1) for line in system.read(p).splitlines() if " " in line)
             for p in sorted(system.path("/sys/kernel/debug/dri").glob("*/radeon_gem_rw"))}
    # The same file is there for each node of a card. Render nodes begin at 128.
    slots = {name: lines for name, lines in found.items() if ":" in name}
    return slots or {name: lines for name, lines in found.items() if name.isdecimal() and int(name) < 128}


def collect(system: System, card: Card | None) -> dict[str, object]:
    """All facts. What is not listed here is in no report."""
    lines, reports = kernel_log(system)
    memory = re.search(r"MemTotal:\s*(\d+)", system.read("/proc/meminfo"))
    cpu = re.search(r"model name\s*:\s*(.*)", system.read("/proc/cpuinfo"))
    at = system.path(f"/sys/bus/pci/devices/{card.slot}") if card else None
    connectors = {p.parent.name: system.read(p) for p in sorted(system.path("/sys/class/drm").glob("card*-*/status"))}
    return {
        "card": vars(card) if card else None,
        "vram_aperture": system.read(at / "resource").splitlines()[:1] if at else [],
        "kernel": system.read("/proc/sys/kernel/osrelease"),
        "debian": system.read("/etc/debian_version"),
        "cpu": cpu[1] if cpu else "",
        "memory_mib": int(memory[1]) // 1024 if memory else 0,
        "secure_boot": system.run(["mokutil", "--sb-state"]),
        "lockdown": system.read("/sys/kernel/security/lockdown"),
        "packages": versions(system),
        "parts": [str(part) for part in status(system)],
        "parameters": {p.name: system.read(p) for p in sorted(system.path("/sys/module/radeon/parameters").glob("*"))},
        "counters": counters(system),
        "connectors": connectors,
        "kernel_log": lines,
        "kernel_reports": reports,
    }
