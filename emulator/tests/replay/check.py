#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A scene of bench/board-fill, captured and drawn again by r7xx-replay.

usage: check.py BUILD OUT CHIP

Runs board-fill on r7xx-shim (both in BUILD) as CHIP with a capture of the submissions up to
the scene's first picture, and replays it. OUT gets the capture, board-fill's JSON and the
picture. Fails unless memory is the same after each submission, the picture is the one
that the program read back (its pixels that are not black, the mean of each channel), the
description of the draw has fields of registers and the shaders as Mesa lists them, and a
changed capture is found.
"""
import json
import os
import pathlib
import re
import shutil
import struct
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


def comparable(line):
    """A line of a listing without runs of blanks, numbers in other notations, and Mesa's MARK."""
    words = [word for word in re.sub(r"\[(0x[0-9A-F]{8}) [^]]*\]", r"\1", line).split() if word != "MARK"]
    literal = len(words) == 4 and words[3].startswith("(")
    return " ".join(words[:2] if literal else words)


def compare_listings(described, mesas):
    """Each line of the description's shaders is one of Mesa's."""
    known = {comparable(line) for line in mesas.splitlines()}
    lines = [line for line in described.splitlines() if re.match(r" ?\d{4} [0-9A-F]{8}( |$)", line)]
    for line in lines:
        if comparable(line) not in known:
            fail(f"Mesa lists no line like: {line}")
    if len(lines) < 10:
        fail(f"the description has only {len(lines)} lines of shaders")
    return len(lines)


def main():
    if len(sys.argv) != 4 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    build, out = map(pathlib.Path, sys.argv[1:3])
    chip = sys.argv[3]
    out.mkdir(parents=True, exist_ok=True)
    replay, captures = build / "board/r7xx-replay", out / "captures"
    shutil.rmtree(captures, ignore_errors=True)
    capture = captures / "board-fill.r7xx"

    def run(*arguments, status=0):
        done = subprocess.run([replay, capture, *arguments], capture_output=True, text=True, check=False, timeout=300)
        if "no draw has written a colour target" in done.stderr:
            raise NoTarget
        if done.returncode != status:
            fail(f"r7xx-replay {' '.join(map(str, arguments))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    env = dict(os.environ, MESA_SHADER_CACHE_DISABLE="true", R600_DEBUG="vs,ps,fs")
    program = [build / "bench/board-fill", "--scene", SCENE, "--rounds", "1", "--json", out / "scene.json"]
    # Checks Mesa first, by a program of its own that must not be captured.
    command = [build / "board/r7xx", "run", "--chip", chip, "--capture", captures, "--submissions", "1-10", "--"]
    shown = subprocess.run([*command, *program], env=env, stderr=subprocess.PIPE, text=True, check=False, timeout=600)
    if shown.returncode:
        fail(f"board-fill: exit status {shown.returncode}\n{shown.stderr[-2000:]}")
    if os.listdir(captures) != [capture.name]:
        fail(f"r7xx run left {os.listdir(captures)}")
    row = json.loads((out / "scene.json").read_text())["rows"][0]

    said = run("--check", "--png", out / "last.png")
    draws = int(re.search(r"(\d+) draws", said)[1])
    if not said.startswith(f"{chip}:") or "0 of" in said:
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
    for word in ("target 0:", "PS (pixel)", "EXPORT", "CB_COLOR0_INFO FORMAT=", "PA_SU_SC_MODE_CNTL"):
        if word not in described:
            fail(f"--describe says nothing of {word}")
    print(f"the description has {compare_listings(described, shown.stderr)} lines of shaders as Mesa lists them")

    # The record of a pixel changes nothing, and ends with what the picture has.
    run("--draws", str(draw), "--png", out / "pixel.png", "--top-down")
    y, x = numpy.argwhere(numpy.asarray(Image.open(out / "pixel.png").convert("RGB")).any(axis=2))[1000].tolist()
    history = json.loads(run("--draws", str(draw), "--pixel", f"{x},{y}", "--json", "--png", out / "pixel.png", "--top-down"))
    written = [fragment for fragment in history["fragments"] if fragment["colours"]]
    colour = struct.unpack("<4f", struct.pack("<4I", *written[-1]["colours"][0]["after"]))
    pixel = Image.open(out / "pixel.png").convert("RGBA").getpixel((x, y))
    if any(abs(255 * part - byte) > 1 for part, byte in zip(colour, pixel)):
        fail(f"the last fragment of pixel {x},{y} leaves {colour}, the picture has {pixel}")
    if contents(out / "pixel.png")[0] != found[0]:
        fail("a probe changes the picture")
    print(f"pixel {x},{y}: {len(history['fragments'])} fragments, the last one leaves what the picture has")

    # Each draw is in a packet, each packet in a submission.
    run("--timeline", out / "timeline.json")
    spans = [event for event in json.loads((out / "timeline.json").read_text())["traceEvents"] if event["ph"] == "X"]
    for inner, outer in (("draw", "packet"), ("packet", "submission"), ("wait", "submission")):
        for span in (span for span in spans if span["cat"] == inner):
            around = [other for other in spans if other["cat"] == outer and other["tid"] == span["tid"] and
                      other["ts"] - 1e-3 <= span["ts"] and span["ts"] + span["dur"] <= other["ts"] + other["dur"] + 1e-3]
            if not around:
                fail(f"no {outer} contains {span}")
    if sum(span["cat"] == "draw" for span in spans) != draws:
        fail(f"the timeline has not {draws} draws")
    print(f"timeline: {len(spans)} spans")

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
