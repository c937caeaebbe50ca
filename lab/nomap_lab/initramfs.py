# SPDX-License-Identifier: MIT
"""What a guest boots with: kernel, initramfs, and our radeon.ko as a second archive."""

from __future__ import annotations

import lzma
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from .paths import TOP, LabError

# What a guest may load. A kernel that has one of these built in, or not at all, is fine: modprobe then
# names no file.
MODULES = ("virtio_blk", "ext4", "9pnet_virtio", "9p", "radeon", "vgem", "zram", "loop", "msr")


def firmware() -> dict[str, int]:
    """Names of radeon's firmware files and their sizes in bytes.

    RV770_SMC_UCODE_SIZE and its like (rounded up to dwords), R700_PFP/PM4/RLC_UCODE_SIZE (dwords) of
    radeon_ucode.h; R600's ME has three words a dword. The driver checks the sizes and hands the contents to
    the chip; the board ignores them.
    """
    sizes = {
        "R600_rlc": 768 * 4, "R700_rlc": 1024 * 4, "CAYMAN_rlc": 1024 * 4, "ARUBA_rlc": 1536 * 4, "CAYMAN_mc": 6037 * 4,
        "RV710_smc": 0x3f20, "RV730_smc": 0x412c, "RV740_smc": 0x41c8, "RV770_smc": 0x4110,
        "CEDAR_smc": 0x5d50, "REDWOOD_smc": 0x5f0c, "CYPRESS_smc": 0x61f8, "BARTS_smc": 0x6108, "TURKS_smc": 0x605c,
        "CAICOS_smc": 0x5fc0, "CAYMAN_smc": 0x79ec,
    }
    # Chips, and the dwords of their PFP and ME.
    engines = {("RV670", "RS780"): (576, 1792 * 3), ("RV710", "RV730", "RV770"): (848, 1360), ("CAYMAN", "ARUBA"): (2176, 2176),
               ("CEDAR", "REDWOOD", "CYPRESS", "PALM", "BARTS", "TURKS", "CAICOS"): (1120, 1376)}
    for chips, (pfp, me) in engines.items():
        for chip in chips:
            sizes |= {f"{chip}_pfp": pfp * 4, f"{chip}_me": me * 4}
    sizes |= {f"{chip}_rlc": 768 * 4 for chip in ("CEDAR", "REDWOOD", "CYPRESS", "SUMO", "BTC")}
    sizes |= {f"{chip}_mc": 6024 * 4 for chip in ("BARTS", "TURKS", "CAICOS")}
    return sizes | {f"{chip}_uvd": 0x20000 for chip in ("R600", "RV710", "RV770", "RS780", "CYPRESS", "SUMO", "TAHITI")}


def _depends(tree: Path, version: str, module: str) -> list[str]:
    done = subprocess.run(["modprobe", "-d", tree, "-S", version, "--show-depends", module], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [line.split()[1].split(f"/lib/modules/{version}/")[1] for line in done.stdout.splitlines()
            if line.startswith("insmod ")]


def pack(directory: Path, archive: Path) -> None:
    """A cpio archive, not compressed: unpacking costs more than reading here."""
    names = sorted(str(p.relative_to(directory)) for p in directory.rglob("*"))
    new = archive.with_name(f".{archive.name}.new")
    with open(new, "wb") as f:
        subprocess.run(["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0", "--reproducible"], cwd=directory, stdout=f,
                       input="".join(f"{n}\n" for n in [".", *names]).encode(), check=True)
    new.replace(archive)


def make(tree: Path, out: Path, radeon: Path | None = None) -> None:
    """Writes to `out` what guests boot with the kernel of `tree`.

    `tree` has boot/vmlinuz-VERSION and lib/modules/VERSION. Writes
      vmlinuz, version
      base.cpio      busybox, the first-stage init, modules and what they depend on, empty firmware
      patched.cpio   with `radeon`: that module in updates/, which wins over the kernel's own
    """
    versions = [p.name for p in (tree / "lib/modules").iterdir() if (p / "modules.dep").exists()]
    if not versions:
        raise LabError(f"{tree} has no kernel modules")
    version = versions[0]
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary, "base")
        src, dst = tree / "lib/modules" / version, base / "lib/modules" / version
        for d in ("bin", "sbin", "dev", "proc", "sys", "newroot", "lib/firmware/radeon"):
            (base / d).mkdir(parents=True)
        for name in sorted({f for m in MODULES for f in _depends(tree, version, m)}):
            target = dst / name.removesuffix(".xz")
            target.parent.mkdir(parents=True, exist_ok=True)
            data = (src / name).read_bytes()
            target.write_bytes(lzma.decompress(data) if name.endswith(".xz") else data)
        index = ("modules.order", "modules.builtin", "modules.builtin.modinfo")
        dst.mkdir(parents=True, exist_ok=True)
        for name in index:
            shutil.copy2(src / name, dst)
        subprocess.run(["depmod", "-b", base, version], check=True)
        for name, size in firmware().items():
            (base / f"lib/firmware/radeon/{name}.bin").write_bytes(bytes(size))
        shutil.copy2("/bin/busybox", base / "bin/busybox")
        (base / "sbin/modprobe").symlink_to("../bin/busybox")  # for the kernel's request_module()
        shutil.copy2(TOP / "lab/guest/init", base / "init")
        (base / "init").chmod(0o755)
        pack(base, out / "base.cpio")
        if radeon:
            patched = Path(temporary, "patched")
            own = patched / "lib/modules" / version
            shutil.copytree(dst, own, copy_function=os.link)
            for p in own.glob("modules.*"):
                p.unlink()
            for name in index:
                shutil.copy2(dst / name, own)
            (own / "updates").mkdir()
            subprocess.run(["strip", "-g", "-o", own / "updates/radeon.ko", radeon], check=True)
            subprocess.run(["depmod", "-b", patched, version], check=True)
            for p in own.rglob("*.ko"):
                if "updates" not in p.parts:
                    p.unlink()
            pack(patched, out / "patched.cpio")
    shutil.copy2(tree / f"boot/vmlinuz-{version}", out / "vmlinuz")
    (out / "version").write_text(version + "\n", encoding="ascii")
