#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A scene of bench/board-fill, captured and drawn again by r7xx-replay.

usage: check.py BUILD OUT

Runs board-fill on r7xx-shim (both in BUILD) with a capture of the submissions up to the
scene's first picture, and replays it. OUT gets the capture, board-fill's JSON and the
picture. Fails unless memory is the same after each submission, the picture is the one
that the program read back (its pixels that are not black, the mean of each channel), and
a changed capture is found.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy
from PIL import Image

SCENE = "triangles"


class NoTarget(Exception):
    """None of the draws so far had a colour target."""


def fail(text):
    sys.exit(f"replay: {text}")


def contents(path):
    """Pixels that are not black, and the mean of each channel."""
    pixels = numpy.asarray(Image.open(path).convert("RGBA")).reshape(-1, 4)
    return numpy.count_nonzero(pixels[:, :3].any(axis=1)), pixels.mean(axis=0)


def main():
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    build, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    replay, capture = build / "board/r7xx-replay", out / "frame.r7xx"

    def run(*arguments, status=0):
        done = subprocess.run([replay, capture, *arguments], capture_output=True, text=True, check=False, timeout=300)
        if "no draw has written a colour target" in done.stderr:
            raise NoTarget
        if done.returncode != status:
            fail(f"r7xx-replay {' '.join(map(str, arguments))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    env = dict(os.environ, LD_PRELOAD=str((build / "board/libr7xx_shim.so").resolve()), R7XX_CHIP="rv730",
               R7XX_CAPTURE=str(capture), R7XX_CAPTURE_SUBMISSIONS="1-8", RADEON_THREAD="false",
               MESA_SHADER_CACHE_DISABLE="true")
    program = [build / "bench/board-fill", "--scene", SCENE, "--rounds", "1", "--json", out / "scene.json"]
    subprocess.run(program, env=env, check=True, timeout=600)
    row = json.loads((out / "scene.json").read_text())["rows"][0]

    said = run("--check", "--png", out / "last.png")
    draws = int(re.search(r"(\d+) draws", said)[1])
    if not said.startswith("rv730:") or "0 of" in said:
        fail(f"nothing compared: {said}")
    print(said, end="")

    # The program reads back after its first picture: one of the first draws left it.
    expected = row["touched"], row["mean"]
    for draw in range(1, draws + 1):
        try:
            run("--draws", str(draw), "--png", out / "picture.png")
        except NoTarget:
            continue
        found = contents(out / "picture.png")
        if found[0] == expected[0] and all(abs(a - b) < 1e-6 for a, b in zip(found[1], expected[1])):
            break
    else:
        fail(f"no draw leaves what the program read back: {expected}")
    print(f"after draw {draw} the picture is what the program read back: {found[0]} pixels that are not black")
    described = run("--describe", str(draw))
    for word in ("target 0:", "PS (pixel)", "EXPORT"):
        if word not in described:
            fail(f"--describe says nothing of {word}")

    # A replay that sees something else says so.
    whole = capture.read_bytes()
    # The last record is the hash of a page.
    capture.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    run("--check", status=1)
    capture.write_bytes(whole[:-1])
    run(status=1)
    capture.write_bytes(whole)
    return 0


if __name__ == "__main__":
    sys.exit(main())
