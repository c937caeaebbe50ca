#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares pictures of the desktop.

usage: check.py same A.png B.png        every pixel is equal
       check.py close A.png B.png DIFFERENCE.png
                 no channel differs by more than 3, but in 0.5 % of all pixels at
                 most: curves and blended edges round otherwise in hardware
       check.py text A.png              the windows show what they should: enough
                 dark pixels in each line of text, colours of the listing
       check.py film DIRECTORY
                 what the script xv has left of a server: its conversion of YUV is
                 GStreamer's, its scaling is bilinear
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


# Where the script xv has the films, as they are and scaled (with the picture's aspect): left, top, width, height.
FILM, SCALED = (40, 30, 320, 240), (40, 42, 500, 375)
# GStreamer's conversion has other rounding: grey differs by 3 at most, colours by 8, but in 6 % of the pixels, at edges, for which
# each of the two halves the resolution of colours in its own way.
GREY, COLOUR, EDGES = 3, 8, 0.06


def part(picture, place):
    left, top, width, height = place
    return picture[top:top + height, left:left + width]


def bilinear(picture, width, height):
    """Scales as a texture unit does: weights have 8 bits, edges are clamped."""
    def axis(n, of):
        at = numpy.round(((numpy.arange(n) + 0.5) * of / n - 0.5) * 256) / 256
        first = numpy.floor(at)
        clamped = [numpy.clip(first + i, 0, of - 1).astype(int) for i in (0, 1)]
        return *clamped, at - first
    (x0, x1, fx), (y0, y1, fy) = axis(width, picture.shape[1]), axis(height, picture.shape[0])
    fx, fy = fx[None, :, None], fy[:, None, None]
    rows = [picture[y][:, x0] * (1 - fx) + picture[y][:, x1] * fx for y in (y0, y1)]
    return rows[0] * (1 - fy) + rows[1] * fy


def film(directory):
    pictures = {(name, size, sink): load(f"{directory}/{name}-{size}-{sink}.png")
                for name in ("smpte75", "circular") for size in ("320x240", "500x400") for sink in ("xv", "x")}
    by = {name: differences(*(pictures[name, "320x240", sink] for sink in ("xv", "x"))) for name in ("smpte75", "circular")}
    scaled = pictures["circular", "500x400", "xv"]
    wanted = bilinear(part(pictures["circular", "320x240", "xv"], FILM), *SCALED[2:])
    off = numpy.abs(part(scaled, SCALED) - wanted).max()
    outside = scaled.sum() - part(scaled, SCALED).sum()
    print(f"grey differs by {by['circular'].max()} at most, {(part(by['smpte75'][..., None], FILM) > COLOUR).mean():.2%} of the "
          f"colours by more than {COLOUR}; scaled, the most by {off:.2f}")
    wrong = [what for what, is_wrong in (
        ("the patterns show nothing", min(part(p, FILM).std() for p in pictures.values()) < 20),
        ("the server converts as GStreamer does, in all bits: was Xv used?", by["circular"].max() == 0),
        ("grey", by["circular"].max() > GREY),
        ("colours", (part(by["smpte75"][..., None], FILM) > COLOUR).mean() > EDGES),
        ("scaling", off > 1),
        ("something beside the film", outside > 0 or any((d > 0).sum() > (part(d[..., None], FILM) > 0).sum() for d in by.values())),
    ) if is_wrong]
    if wrong:
        sys.exit(f"wrong: {', '.join(wrong)}")


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
    commands = {"same": (same, 2), "close": (close, 3), "text": (text, 1), "film": (film, 1), "animate": (animate, 3)}
    if len(sys.argv) < 2 or sys.argv[1] not in commands or \
            len(sys.argv) - 2 != commands[sys.argv[1]][1]:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    commands[sys.argv[1]][0](*sys.argv[2:])
