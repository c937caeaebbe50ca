#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares pictures of the desktop.

usage: check.py same A.png B.png        every pixel is equal
       check.py close A.png B.png DIFFERENCE.png
                 no channel differs by more than 3, but in 0.5 % of all pixels at
                 most: curves and blended edges round otherwise in hardware
       check.py text A.png              the windows show what they should: enough
                 dark pixels in each line of text, colours of the listing
       check.py animate A.png B.png OUT.gif
                 writes them as an animation, half as wide and high

Exit status: 0, 1 if it does not hold, 2 for a picture that cannot be read.
"""

import sys

import numpy
from PIL import Image


def load(path):
    try:
        return numpy.asarray(Image.open(path).convert("RGB")).astype(int)
    except OSError as error:
        print(f"check.py: {error}", file=sys.stderr)
        sys.exit(2)


def differences(a, b):
    if a.shape != b.shape:
        sys.exit(f"{a.shape[1]}x{a.shape[0]} and {b.shape[1]}x{b.shape[0]} pixels")
    return numpy.abs(a - b).max(axis=2)


def same(a, b):
    wrong = differences(load(a), load(b)) > 0
    if wrong.any():
        y, x = numpy.argwhere(wrong)[0]
        sys.exit(f"{wrong.sum()} pixels differ, the first at {x},{y}")
    print("all pixels equal")


def close(a, b, out):
    by = differences(load(a), load(b))
    Image.fromarray(numpy.minimum(by * 16, 255).astype("uint8")).save(out)
    more = (by > 3).sum()
    print(f"{(by > 0).mean():.4%} of all pixels differ, {more} by more than 3, "
          f"the most by {by.max()}")
    if more > by.size * 0.005:
        sys.exit("too many")


# Where the session puts the xterm with the text, below its title and border:
# left, top, right, bottom.
TEXT = (40, 70, 520, 200)


def text(path):
    left, top, right, bottom = TEXT
    ink = load(path)[top:bottom, left:right].max(axis=2) < 128
    # Lines of text are runs of rows that have ink, with rows between them that have none.
    rows = ink.any(axis=1)
    lines = numpy.flatnonzero(numpy.diff(rows.astype(int)) == 1).size + bool(rows[0])
    inked = ink.sum()
    print(f"{lines} lines of text, {inked} dark pixels")
    if lines < 5 or inked < 5000:
        sys.exit("the text is not there")


def animate(a, b, out):
    frames = [Image.fromarray(load(path).astype("uint8")) for path in (a, b)]
    frames = [f.resize((f.width // 2, f.height // 2), Image.Resampling.LANCZOS).quantize(128) for f in frames]
    frames[0].save(out, save_all=True, append_images=frames[1:], duration=1500, loop=0)


if __name__ == "__main__":
    commands = {"same": (same, 2), "close": (close, 3), "text": (text, 1), "animate": (animate, 3)}
    if len(sys.argv) < 2 or sys.argv[1] not in commands or \
            len(sys.argv) - 2 != commands[sys.argv[1]][1]:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    commands[sys.argv[1]][0](*sys.argv[2:])
