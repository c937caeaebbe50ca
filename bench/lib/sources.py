#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The figures of the sources (sources.toml), for Python and for C.

usage: sources.py OUT.h

Writes the figures of 2011 as a table in C, for live-bos.
"""

import os
import sys
import tomllib

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sources.toml")


def load():
    """All sources, by their name in sources.toml."""
    with open(PATH, "rb") as f:
        return tomllib.load(f)


def report_2011():
    """Microseconds of 2011 by live objects: (kernel's search, work-around); None: not reported."""
    return {row["live"]: (row.get("kernel_us"), row.get("workaround_us"))
            for row in load()["report-2011"]["rows"]}


def header():
    """The lines of the C table; 0 stands for a figure that was not reported."""
    yield "/* Made by bench/lib/sources.py of bench/lib/sources.toml. */"
    yield "static const struct {"
    yield "\tunsigned int live;"
    yield "\tdouble kernel, workaround;"
    yield "} report_2011[] = {"
    for live, (kernel, workaround) in report_2011().items():
        yield f"\t{{ {live}, {kernel or 0}, {workaround or 0} }},"
    yield "};"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: sources.py OUT.h")
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        f.writelines(line + "\n" for line in header())


if __name__ == "__main__":
    main()
