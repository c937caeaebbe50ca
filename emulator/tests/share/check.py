#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory that the shim's programs share: dma-bufs, pinned memory, and captures of such.

usage: check.py BUILD OUT CHIP...

Compiles gl-share.c into OUT and runs it with the shim of BUILD on each chip, by Debian's Mesa with its
submission thread. Captures are executed again, with the same bytes in memory; a capture until a hang has to hold the
draw that did not end (what it left depends on the threads), and one of a draw the submission with it.
"""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
GLTEST = HERE.parents[2] / "mesa-patches/tests"


def fail(text: str) -> None:
    sys.exit(f"share: {text}")


def call(*command: object, status: int = 0) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("R7XX_", "RADEON_"))}
    done = subprocess.run([str(word) for word in command], env={**env, "MESA_SHADER_CACHE_DISABLE": "true"},
                          capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != status:
        fail(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    if not found:
        fail(f"nothing like {pattern} in: {text}")
        return 0
    return int(found[1])


def replay(build: pathlib.Path, frame: pathlib.Path, *options: str) -> str:
    """Executes a capture again."""
    said = call(build / "board/r7xx-replay", frame, *options)
    if re.search(r"^0 of", said, re.MULTILINE):
        fail(f"nothing to compare: {said}")
    print(f"{frame.parent.name}: {said.splitlines()[0]}")
    return said


def check(build: pathlib.Path, out: pathlib.Path, chip: str) -> None:
    program = out / "gl-share"
    shim = build / "board/r7xx", "run", "--no-probe", "--chip", chip

    def run(name: str, test: str, *options: object) -> tuple[str, pathlib.Path]:
        directory = out / f"{chip}-{name}"
        for old in directory.glob("*"):
            old.unlink()
        said = call(*shim, "--capture", directory, *options, "--", program, test)
        if chip.upper() not in said.upper():
            fail(f"{test} has not run on {chip}: {said}")
        print(said.splitlines()[0])
        return said, directory / "gl-share.r7xx"

    # Two processes must not write one file.
    print(call(*shim, "--", program, "dma-buf").strip())
    replay(build, run("pinned", "pinned")[1], "--check")
    whole = run("whole", "endless")[1]
    if number(r"draw (\d+) was cut short", replay(build, whole)) < 5:
        fail("the draw that does not end is not the fifth or a later one")
    said, hang = run("hang", "endless", "--capture-on", "hang", "--capture-last", "2")
    if "a draw was cut short: captured the last 2 submissions" not in said:
        fail(f"no hang: {said}")
    again = replay(build, hang)
    cut, draws = number(r"draw (\d+) was cut short", again), number(r"(\d+) draws", again)
    if not 1 <= cut <= draws:
        fail(f"draw {cut} of {draws} was cut short")
    said, draw = run("draw", "endless", "--capture-draw", "3", "--capture-last", "1")
    here = number(r"draw 3 of the program is draw (\d+) here", said)
    again = replay(build, draw, "--check")
    if number(r"(\d+) draws", again) < here or number(r"(\d+) submissions", again) != 1:
        fail(f"draw {here} is not in the only submission: {again}")
    said, none = run("none", "pinned", "--capture-on", "hang")
    if "there was no hang" not in said or none.exists():
        fail(f"a capture without a hang: {said}")


def main() -> int:
    if len(sys.argv) < 4 or sys.argv[1].startswith("-"):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    build, out = map(pathlib.Path, sys.argv[1:3])
    out.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-O2", "-g", "-Wall", "-Wextra", "-Werror", f"-I{GLTEST}", "-o", out / "gl-share", HERE / "gl-share.c",
                    GLTEST / "gltest.c", "-lEGL", "-ldl", "-lm"], check=True)
    for chip in sys.argv[3:]:
        check(build, out, chip)
    return 0


if __name__ == "__main__":
    sys.exit(main())
