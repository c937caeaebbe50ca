# SPDX-License-Identifier: MIT
"""Checks that packages which differ have different versions, in the repository around it.

- The crates of emulator/ have the version of CHANGELOG.md's topmost heading.
- If that heading has a date, what packages are made of has not changed since: since the tag of the version if there
  is one, else since the end of that day (UTC, dates of commits). After a release the first change needs a new heading,
  "## X.Y.Z - UNRELEASED", under which everything stands until the next one ("make release" wants a date).

Ends with 77, and a reason, where git has no history to look at: a tarball, a shallow clone."""

import datetime
import pathlib
import re
import subprocess
import sys
import tomllib

TOP = pathlib.Path.cwd()
HEADING = re.compile(r"^## (\d+\.\d+\.\d+) - (\d{4}-\d{2}-\d{2}|UNRELEASED)$", re.M)


def git(*words):
    """What git says, or None if it fails."""
    done = subprocess.run(["git", *words], cwd=TOP, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def packaged():
    """Pathspecs of what packages are made of: documents and tests of packages are not."""
    paths = ["packaging", "mesa-patches/patches", "libdrm/patches"]
    for files in TOP.glob("packaging/*/files"):
        if files.is_file():
            paths += [line for line in files.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return sorted({path for path in paths if path != "LICENSE"}) + [":!*.md", ":!packaging/tests"]


def crates(version):
    """Yields a sentence for each version of a crate that is another one."""
    workspace = TOP / "emulator/Cargo.toml"
    if not workspace.exists():
        return
    manifest = tomllib.loads(workspace.read_text(encoding="utf-8"))
    found = manifest["workspace"]["package"]["version"]
    if found != version:
        yield f"emulator/Cargo.toml has version {found}, CHANGELOG.md {version}"
    ours = {"r7xx-board", "r7xx-shim"}
    for name in ("emulator/Cargo.lock", "emulator/fuzz/Cargo.lock", "bench/shader-compiler/Cargo.lock"):
        lock = tomllib.loads((TOP / name).read_text(encoding="utf-8")) if (TOP / name).exists() else {"package": []}
        for package in lock["package"]:
            if package["name"] in ours and package["version"] != version:
                yield f"{name} has version {package['version']} of {package['name']}, CHANGELOG.md {version}"


def changes(version, date):
    """The commits since a release of what packages are made of, or None if git does not know."""
    if git("rev-parse", "--is-shallow-repository") != "false":
        return None
    tag = f"v{version}"
    since = [f"{tag}..HEAD"] if git("rev-parse", "--verify", "--quiet", f"refs/tags/{tag}") else []
    found = git("-c", "log.showSignature=false", "log", "--no-merges", "--format=%ct %h %cs %s", *since, "--", *packaged())
    if found is None:
        return None
    day = datetime.datetime.fromisoformat(date).replace(tzinfo=datetime.timezone.utc)
    end = (day + datetime.timedelta(days=1)).timestamp()
    return [line.split(" ", 1)[1] for line in found.splitlines() if since or int(line.split(" ", 1)[0]) >= end]


def main():
    changelog = TOP / "CHANGELOG.md"
    heading = HEADING.search(changelog.read_text(encoding="utf-8")) if changelog.exists() else None
    if not heading:
        print("CHANGELOG.md has no heading '## X.Y.Z - YYYY-MM-DD' and no '## X.Y.Z - UNRELEASED'")
        return 1
    version, date = heading.groups()
    bad = list(crates(version))
    if date != "UNRELEASED":
        later = changes(version, date)
        if later is None:
            print("\n".join(bad) or "the history of this repository is not here (a tarball, a shallow clone)")
            return 1 if bad else 77
        if later:
            bad.append(f"packages have changed since {version} ({date}), so that apt would not upgrade: begin CHANGELOG.md "
                       "with a heading '## X.Y.Z - UNRELEASED', put the changes there, and its number into "
                       "emulator/Cargo.toml and the files Cargo.lock that have r7xx-board:")
            bad += [f"  {line}" for line in later[:10]] + (["  ..."] if len(later) > 10 else [])
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
