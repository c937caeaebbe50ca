# SPDX-License-Identifier: MIT
"""The board's tests, compiled in one run and executed in others (in the build root).

usage: python3 -m nomap_lab.board_tests build OUT
       python3 -m nomap_lab.board_tests run OUT [ARG...]

build compiles them in OUT/work and copies them to OUT; what is in documentation comments is
executed right away. run executes all; ARGs are those of "cargo test" behind "--".

"cargo test" would compile anew in each checkout, as it goes by the times of files. The
output of run is in the form of "cargo test"; its exit status is 101 if a test failed.
"""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

MANIFEST = Path(__file__).resolve().parents[2] / "emulator/Cargo.toml"
LIST = "tests.json"


def cargo(out: Path, *args: str, stdout: int | None = None) -> subprocess.CompletedProcess[str]:
    """cargo test."""
    return subprocess.run(["cargo", "test", "--manifest-path", MANIFEST, "--workspace", "--locked", "--target-dir",
                           out / "work", *args], check=False, stdout=stdout, text=True)


def build(out: Path) -> int:
    """Compiles; returns the exit status."""
    compiled = cargo(out, "--no-run", "--message-format=json-render-diagnostics", stdout=subprocess.PIPE)
    if compiled.returncode:
        return compiled.returncode
    documented = cargo(out, "--doc")
    if documented.returncode:
        return documented.returncode
    tests: list[dict[str, str | bool]] = []
    for line in compiled.stdout.splitlines():
        message = json.loads(line)
        program = message.get("executable")
        if message["reason"] != "compiler-artifact" or not program:
            continue
        target = message["target"]
        if message["profile"]["test"]:
            package = Path(message["manifest_path"]).parent
            name = f"{len(tests)}-{target['name']}"
            tests.append({"file": name, "package": os.path.relpath(package, MANIFEST.parent),
                          "source": os.path.relpath(target["src_path"], package),
                          "unit": target["kind"] != ["test"]})
        else:
            # A program that tests start.
            name = target["name"]
        shutil.copy(program, out / name)
        if not message["profile"]["test"]:
            # Remove cargo's copy, which a checkout that takes all of this from the cache does
            # not have: a test that does not use R7XX_BOARD and the others fails at once. Cargo links it again.
            os.remove(program)
    (out / LIST).write_text(json.dumps(tests, indent=1), encoding="ascii")
    return 0


def run(out: Path, args: list[str]) -> int:
    """Executes all; returns the exit status."""
    tests = json.loads((out / LIST).read_text(encoding="ascii"))
    failed = []
    programs = {"R7XX_BOARD": "r7xx-board", "R7XX_RUN": "r7xx", "R7XX_REPLAY": "r7xx-replay"}
    environment = {**os.environ, **{variable: str(out / name) for variable, name in programs.items()}}
    for test in tests:
        print(f"     Running {'unittests ' if test['unit'] else ''}{test['source']} ({test['file']})", flush=True)
        status = subprocess.run([out / test["file"], *args], check=False, cwd=MANIFEST.parent / test["package"],
                                env=environment).returncode
        if status:
            failed.append(f"{test['file']}: exit status {status}")
    for line in failed:
        print(line, file=sys.stderr)
    if not tests:
        print("board_tests: there are none", file=sys.stderr)
        return 1
    return 101 if failed else 0


def main(argv: list[str]) -> int:
    """The command."""
    match argv:
        case ["build", out]:
            return build(Path(out).resolve())
        case ["run", out, *args]:
            return run(Path(out).resolve(), args)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
