# SPDX-License-Identifier: MIT
"""Reads docs/results.md: its sections and their tables.

The published results are the text of docs/results.md, so what is compared with them
(claims_test.py) or made of them (README's tables) reads that, not build/results.
"""

import os
import re

TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
RESULTS_MD = os.path.join(TOP, "docs", "results.md")


def number(cell):
    """The number that a cell begins with; None if it has none.

    "1/71" is a ratio, "-86.3 %" a change in percent, "23.6 (20.1-30.2)" a median and its
    percentiles, "**1.71** (0.35)" a measured value and another one behind it.
    """
    text = cell.replace("*", "").replace("`", "").replace(",", "").strip()
    if match := re.match(r"1/(\d+)$", text):
        return 1 / int(match.group(1))
    match = re.match(r"[-+]?\d+(\.\d+)?", text)
    return float(match.group()) if match else None


class Table:
    """A table in Markdown: head, and rows of cells; the line before it is its title."""

    def __init__(self, title, lines):
        cells = [[c.strip() for c in line.strip().strip("|").split("|")] for line in lines]
        self.title, self.head, self.rows = title, cells[0], cells[2:]

    def column(self, name):
        """Index of a column by its head; of columns with the same name the first."""
        return self.head.index(name)

    def row(self, *keys):
        """The row whose first cells are these."""
        for row in self.rows:
            if [c.strip("`") for c in row[:len(keys)]] == list(keys):
                return row
        raise KeyError(f"{self.title}: no row {keys}")

    def cell(self, *keys, column):
        """A number: of the row that begins with keys, in a column (name or index)."""
        index = column if isinstance(column, int) else self.column(column)
        return number(self.row(*keys)[index])

    def numbers(self, column, rows=None):
        """The numbers of a column, of all rows or of some; cells without one are left out."""
        index = column if isinstance(column, int) else self.column(column)
        found = (number(row[index]) for row in (self.rows if rows is None else rows))
        return [n for n in found if n is not None]


class Section:
    """One benchmark's section: text, tables, the text of code blocks."""

    def __init__(self, name, text):
        self.name, self.text, self.tables = name, text, []
        lines = text.splitlines()
        start = None
        title = ""
        for i, line in enumerate([*lines, ""]):
            if line.startswith("|"):
                start = i if start is None else start
                continue
            if start is not None:
                self.tables.append(Table(title, lines[start:i]))
                start = None
            if line.strip():
                title = line.strip()

    def table(self, title):
        """The table below a line that begins with title, or whose head has that column."""
        for table in self.tables:
            if table.title.startswith(title) or title in table.head:
                return table
        raise KeyError(f"{self.name}: no table {title}")

    def line(self, *words):
        """The first line that has all of these words."""
        for line in self.text.splitlines():
            if all(word in line for word in words):
                return line
        raise KeyError(f"{self.name}: no line with {words}")


def sections(text):
    """The sections of docs/results.md by name."""
    return {m.group(1): Section(m.group(1), m.group(2))
            for m in re.finditer(r"<!-- (\S+) -->\n(.*?)\n<!-- end -->", text, re.S)}


def published():
    """The sections of docs/results.md as it is."""
    with open(RESULTS_MD, encoding="utf-8") as f:
        return sections(f.read())
