# SPDX-License-Identifier: MIT
"""Packages of one suite of Debian, with the build root's own mirror and without touching its lists.

usage: python3 -m nomap_lab.apt PACKAGE VERSION OUT [SUITE]

Downloads Debian's source package PACKAGE of that version to the directory OUT. apt checks its hashes
against the signed list. SUITE is trixie, or another of the same mirror, like sid; VERSION "newest" is
the newest of that suite that can be downloaded, and is printed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .paths import LabError


class Apt:
    """apt-get and apt-cache for the packages (kind: deb or deb-src) of one suite. A context."""

    def __init__(self, kind: str, suite: str) -> None:
        self.kind, self.suite = kind, suite

    def __enter__(self) -> Apt:
        self._temporary = tempfile.TemporaryDirectory()
        self.dir = Path(self._temporary.name)
        for d in ("lists/partial", "parts", "cache/archives/partial"):
            (self.dir / d).mkdir(parents=True)
        sources = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*.list"))]
        lines = [line for f in sources if f.exists() for line in f.read_text(encoding="utf-8").splitlines()]
        own = [line for line in lines if re.match(rf"{self.kind} .* {self.suite} ", line)]
        own = own or [line.replace(" trixie ", f" {self.suite} ") for line in lines if re.match(rf"{self.kind} .* trixie ", line)]
        if not own:
            raise LabError(f"the build root does not know where {self.suite} is: make distclean, then try again")
        if self.suite != "trixie":
            # A suite that moves on has lists that a mirror may keep for longer than they are valid.
            own = [re.sub(rf"^{self.kind} (\[[^]]*\] )?", f"{self.kind} [check-valid-until=no] ", line) for line in own]
        (self.dir / f"parts/{self.suite}.list").write_text("\n".join(own) + "\n", encoding="utf-8")
        self.options = [
            "-o", "Dir::Etc::SourceList=/dev/null", "-o", f"Dir::Etc::SourceParts={self.dir}/parts",
            "-o", f"Dir::State::Lists={self.dir}/lists", "-o", f"Dir::Cache={self.dir}/cache",
            "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=2", "-o", "Acquire::http::Timeout=30"]
        self.get(["-o", "APT::Update::Error-Mode=any", "update"],
                 f"the packages of {self.suite} cannot be listed. No network? Check with: apt-get update")
        return self

    def __exit__(self, *_: object) -> None:
        self._temporary.cleanup()

    def get(self, words: list[str], fault: str, cwd: Path | None = None) -> None:
        """Runs apt-get; LabError with `fault` and what apt said if it fails."""
        done = subprocess.run(["apt-get", *self.options, "-q", *words], cwd=cwd, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            said = [line for line in done.stdout.splitlines() if re.match("E:|W:|Err", line)]
            raise LabError("\n".join([*(said or done.stdout.splitlines())[:5], fault]))

    def cache(self, *words: str) -> str:
        """What apt-cache prints."""
        return subprocess.run(["apt-cache", *self.options, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, check=False).stdout


def get_source(package: str, version: str, out: Path, suite: str = "trixie") -> str:
    """Downloads a source package to `out`, and returns its version; see the module's text."""
    out.mkdir(parents=True, exist_ok=True)
    with Apt("deb-src", suite) as apt:
        versions = [version]
        if version == "newest":
            text = apt.cache("showsrc", "--only-source", package)
            found = sorted(set(re.findall(r"^Version: (.*)$", text, re.M)))
            compare = subprocess.run(["sort", "-Vr"], input="\n".join(found), text=True, stdout=subprocess.PIPE, check=True)
            versions = compare.stdout.split()
            if not versions:
                raise LabError(f"{suite} has no source package {package}")
        for old in out.glob(f"{package}_*"):
            old.unlink()
        for v in versions:
            try:
                apt.get(["--download-only", "source", f"{package}={v}"],
                        f"the source of {package} {v} cannot be downloaded. If Debian has another version by now, "
                        "remake the roots", cwd=out)
            except LabError:
                # A mirror can list a new version before it has it.
                if v == versions[-1]:
                    raise
                continue
            # The names of files have no epoch.
            if not (out / f"{package}_{v.split(':', 1)[-1]}.dsc").exists():
                raise LabError(f"apt-get has downloaded something else than {package} {v}")
            return v
    raise AssertionError("unreachable")


def main(argv: list[str]) -> int:
    if len(argv) not in (3, 4) or argv[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        version = get_source(argv[0], argv[1], Path(argv[2]), *argv[3:])
    except LabError as e:
        print(f"nomap: error: {e}", file=sys.stderr)
        return e.status
    if argv[1] == "newest":
        print(version)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
