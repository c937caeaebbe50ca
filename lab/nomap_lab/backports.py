# SPDX-License-Identifier: MIT
"""The newest Linux for amd64 of trixie-backports, as a layer for the build root.

usage: python3 -m nomap_lab.backports newest

Prints the version (the package's) of the newest one; ends with 77 if that is older than 7.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from .apt import Apt
from .paths import BUILD, LabError

#: Where the stage linux-backports puts it: boot, lib, usr as in the packages; version as uname -r has it;
#: source, the path of the source's tarball once usr is on /usr.
BASE = BUILD / "kernels/backports"


def inside(*cmd: str | Path) -> list[str | Path]:
    """`cmd` with that kernel's usr on top of /usr, as if its packages were installed."""
    script = 'mount -t overlay -o "lowerdir=$0/usr:/usr" overlay /usr && exec "$@"'
    return ["unshare", "--mount", "--propagation", "private", "sh", "-ec", script, BASE, *cmd]


def fact(name: str) -> str:
    """The content of its file `name`: version or source."""
    return (BASE / name).read_text(encoding="ascii").strip()


def _newest(apt: Apt) -> str:
    found = re.findall(r"^[^|]*\|([^|]*)\|", apt.cache("madison", "linux-image-amd64"), re.M)
    version = found[0].strip() if found else ""
    old = subprocess.run(["dpkg", "--compare-versions", version or "0", "lt", "7"], check=False).returncode == 0
    if old:
        raise LabError(f"trixie-backports has no Linux 7 or newer (newest: {version or 'none'})", 77)
    return version


def newest() -> str:
    """The version of the newest one; LabError with status 77 if it is older than 7."""
    with Apt("deb", "trixie-backports") as apt:
        return _newest(apt)


def get(want: str, out: Path) -> None:
    """Downloads that version's image, modules, headers and source, and unpacks them to `out`."""
    with Apt("deb", "trixie-backports") as apt:
        version = _newest(apt)
        if want != version:
            raise LabError(f"trixie-backports has Linux {version} by now, not {want}: try again tomorrow, or remove "
                           "the file 'backports' from the cache")
        depends = re.search(r"^Depends: (.*)$", apt.cache("show", "--no-all-versions", f"linux-image-amd64={version}"), re.M)
        kver = re.search(r"linux-image-([0-9]\S*-amd64) ", (depends[1] if depends else "") + " ")
        if not kver:
            raise LabError(f"linux-image-amd64 {version} depends on no kernel")
        abi, series = kver[1].removesuffix("-amd64"), ".".join(kver[1].split(".")[:2])
        pattern = (rf"linux-(base|image|binary|modules|headers)-{re.escape(kver[1])}|linux-headers-{re.escape(abi)}-common|"
                   rf"linux-kbuild-{re.escape(abi)}|linux-source-{re.escape(series)}")
        names = sorted(p for p in apt.cache("pkgnames", "linux-").split() if re.fullmatch(pattern, p))
        for p in (f"linux-image-{kver[1]}", f"linux-headers-{kver[1]}", f"linux-source-{series}"):
            if p not in names:
                raise LabError(f"trixie-backports has no {p}")
        debs = out / "work/debs"
        debs.mkdir(parents=True, exist_ok=True)
        apt.get(["download", *(f"{p}={version}" for p in names)], f"Linux {version} cannot be downloaded", cwd=debs)
    for name in ("boot", "lib", "usr"):
        path = out / name
        path.unlink() if path.is_symlink() else shutil.rmtree(path, ignore_errors=True)
    for deb in sorted(debs.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", deb, out], check=True)
    shutil.rmtree(debs)
    shutil.rmtree(out / "usr/share", ignore_errors=True)
    if (out / "lib").is_dir() and not (out / "lib").is_symlink():
        # As in any root: /lib is a link.
        subprocess.run(["cp", "-al", f"{out}/lib/.", f"{out}/usr/lib/"], check=True)
        shutil.rmtree(out / "lib")
    (out / "lib").symlink_to("usr/lib")
    image, own = out / f"boot/vmlinuz-{kver[1]}", out / f"lib/modules/{kver[1]}/vmlinuz"
    # Newer packages keep it with the modules, and copy it when they are installed.
    if not image.exists() and own.exists():
        image.parent.mkdir(exist_ok=True)
        own.rename(image)
    for f in (image, out / f"usr/src/linux-source-{series}.tar.xz", out / f"lib/modules/{kver[1]}/modules.builtin",
              out / f"usr/src/linux-headers-{kver[1]}/Module.symvers"):
        if not f.exists():
            raise LabError(f"{f.relative_to(out)} is in none of the packages of {version}")
    subprocess.run(["depmod", "-b", out, kver[1]], check=True)
    (out / "version").write_text(kver[1] + "\n", encoding="ascii")
    (out / "source").write_text(f"/usr/src/linux-source-{series}.tar.xz\n", encoding="ascii")


def main(argv: list[str]) -> int:
    if argv != ["newest"]:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        print(newest())
    except LabError as e:
        print(e, file=sys.stdout if e.status == 77 else sys.stderr)
        return e.status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
