# SPDX-License-Identifier: MIT
"""The source of xf86-video-ati, the X driver ("radeon DDX") that the guest has, and what it is built with."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from .apt import Apt, get_source
from .paths import BUILD, LabError, shown
from .stage import installed

SOURCE = "xserver-xorg-video-ati"
#: Headers that the build root lacks, and autoconf's macros of X.
HEADERS = ("xserver-xorg-dev", "libpixman-1-dev", "libxcvt-dev", "libxfont-dev", "libxkbfile-dev", "mesa-common-dev", "xutils-dev")
#: Where an archive of the upstream release is looked for if Debian's source cannot be downloaded, and what git
#: calls its content: the tree of the tag xf86-video-ati-22.0.0.
ARCHIVE = BUILD / "sources/xf86-video-ati-22.0.0.tar"
TREE = "1b9ab981eba92f4ad51182c269b87f623e404031"


def version() -> str:
    """The version of Debian's package of the driver that the guest has."""
    found = installed("guest").get("xserver-xorg-video-radeon")
    if not found:
        raise LabError("the guest root has no xserver-xorg-video-radeon: make distclean, then try again")
    return found


def tree_of(archive: Path) -> str:
    """The name that git gives to the content of an archive with a directory at its top."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(["tar", "-xf", archive, "-C", directory, "--strip-components=1"], check=True)
        git = ["git", "-c", "core.autocrlf=false", "-C", directory]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "--all", "--force"], check=True, stderr=subprocess.DEVNULL)
        return subprocess.run([*git, "write-tree"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def get(out: Path) -> None:
    """Downloads Debian's source package to `out`, or takes the archive. LabError with status 77 if there is neither."""
    try:
        get_source(SOURCE, version(), out)
        return
    except LabError as error:
        if not ARCHIVE.exists():
            raise LabError(f"{error}\nAn archive of the upstream release would do: git archive --prefix=xf86-video-ati/ "
                           f"xf86-video-ati-22.0.0 >{shown(ARCHIVE)}", 77) from error
    if tree_of(ARCHIVE) != TREE:
        raise LabError(f"{shown(ARCHIVE)} is not the release 22.0.0 of xf86-video-ati, whose tree is {TREE}")
    shutil.copy(ARCHIVE, out)


def headers(out: Path) -> None:
    """Downloads and unpacks Debian's headers of the X server to `out`."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as debs, Apt("deb", "trixie") as apt:
        apt.get(["download", *HEADERS], "the X server's headers cannot be downloaded. No network?", cwd=Path(debs))
        for deb in sorted(Path(debs).glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", deb, out], check=True)


def inside(base: Path) -> list[str | Path]:
    """The words before a command that sees the headers in `base` as if they were installed."""
    script = 'mount -t overlay -o "lowerdir=$0/usr:/usr" overlay /usr && exec "$@"'
    return ["unshare", "--mount", "--propagation", "private", "sh", "-ec", script, base]
