# SPDX-License-Identifier: MIT
"""Code that the benchmarks' reports share."""

import argparse
import json
import os


def arguments(doc, *files):
    """Parses the options --check and --json, and the files that a report is made of.

    doc is the program's docstring; files names its positional arguments: "name..." is
    a list of one or more, "name?" is optional (None if it is missing).
    """
    title, usage, text = doc.split("\n\n", 2)
    parser = argparse.ArgumentParser(
        usage=usage.removeprefix("usage: "), description=f"{title}\n\n{text}",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--json", metavar="OUT", help=argparse.SUPPRESS)
    for name in files:
        nargs = "+" if name.endswith("...") else "?" if name.endswith("?") else None
        parser.add_argument(name.rstrip(".?"), nargs=nargs, help=argparse.SUPPRESS)
    return parser.parse_args()


def load(path):
    """The contents of one file of results."""
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def write(path, results):
    """Writes a new file and renames it, so that the old one survives a full disk."""
    aside = f"{path}.new"
    with open(aside, "w", encoding="utf-8") as f:
        json.dump(results, f, indent=1)
        f.write("\n")
    os.replace(aside, path)


def replace_rows(path, rows, stale):
    """Writes rows to the results in a file, behind those that are there, without the ones for which stale(row)."""
    old = load(path)["rows"] if os.path.exists(path) else []
    write(path, {"rows": [row for row in old if not stale(row)] + rows})


def verdict(wrong):
    """Prints what is wrong, and returns the exit status."""
    for line in wrong:
        print(f"FAIL: {line}")
    print("not as it should be" if wrong else "all as it should be")
    return bool(wrong)
