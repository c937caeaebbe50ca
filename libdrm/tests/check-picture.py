#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that a screenshot shows what xdraw has drawn, every pixel of it.

usage: check-picture.py SCREENSHOT.png

Exit status: 0 if it does; 1 if not, with the number of pixels that are wrong
and the first of them.
"""

import sys

import matplotlib.image
import numpy

# As in xdraw.c.
BACK, FRAME, SIZE, PLACES, FRAME_WIDTH = (
    0x203040, 0xc08000, 256, ((100, 80), (600, 400)), 16)


def expected(width, height):
    """The picture, as an array of 0xRRGGBB by row and column."""
    picture = numpy.full((height, width), FRAME)
    inside = slice(FRAME_WIDTH, -FRAME_WIDTH)
    picture[inside, inside] = BACK
    y, x = numpy.mgrid[0:SIZE, 0:SIZE]
    for left, top in PLACES:
        picture[top:top + SIZE, left:left + SIZE] = x << 16 | y << 8 | x ^ y
    return picture


def main():
    image = numpy.rint(matplotlib.image.imread(sys.argv[1]) * 255).astype(int)
    seen = image[..., 0] << 16 | image[..., 1] << 8 | image[..., 2]
    height, width = seen.shape
    wrong = numpy.argwhere(seen != expected(width, height))
    print(f"{width} x {height}: {len(wrong)} wrong pixels")
    if len(wrong):
        y, x = wrong[0]
        sys.exit(f"{x}, {y}: {seen[y, x]:06x} instead of "
                 f"{expected(width, height)[y, x]:06x}")


if __name__ == "__main__":
    main()
