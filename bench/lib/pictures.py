# SPDX-License-Identifier: MIT
"""Code that the reports which compare pictures share.

Pictures are arrays of height x width x 3 integers, 0 to 255.
"""

import sys

import numpy
from PIL import Image

# Differences of up to so many 255ths count as rounding.
ROUNDING = 2


def compare(one, other):
    """Pixels that differ, that differ by more than rounding, and the largest difference."""
    largest = abs(one - other).max(axis=2)
    return {"differ": int((largest > 0).sum()), "beyond": int((largest > ROUNDING).sum()),
            "largest": int(largest.max())}


def difference(one, other):
    """A map of the differences of two pictures: black where they are equal."""
    largest = abs(one - other).max(axis=2)
    return Image.fromarray(numpy.where(largest > 0, numpy.minimum(64 + 4 * largest, 255), 0).astype("uint8"))


def aligned(lines, start, between, end):
    """A table's lines of cells as text, in columns."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return [start + between.join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() + end for line in lines]


def put_between(path, marks, text):
    """Replaces the text between two marks of a document, each of which must occur once."""
    whole = path.read_text()
    if any(whole.count(mark) != 1 for mark in marks):
        sys.exit(f"report.py: {path} needs one of each mark: {' '.join(m.strip() for m in marks)}")
    head, rest = whole.split(marks[0])
    path.write_text(head + marks[0] + "\n".join(text) + "\n" + marks[1] + rest.split(marks[1])[1])
