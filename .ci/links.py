# SPDX-License-Identifier: MIT
"""Checks the Markdown files whose names are on stdin: each link and picture that is relative
leads to a file of the repository, and each #fragment to a heading of it."""

import pathlib
import re
import sys
import urllib.parse

LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.S | re.M)
CODE = re.compile(r"`[^`\n]*`")


def anchors(text):
    """The fragments that a forge makes of the headings of a Markdown text."""
    seen, names = {}, set()
    for title in re.findall(r"^#{1,6}\s+(.*?)\s*#*\s*$", FENCE.sub("", text), re.M):
        title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title)
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        count = seen.get(name, 0)
        seen[name] = count + 1
        names.add(f"{name}-{count}" if count else name)
    return names


def faults(path, read):
    """Yields a sentence for each link of the Markdown file at path that leads nowhere."""
    for target in LINK.findall(CODE.sub("", FENCE.sub("", read(path)))):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        name, _, fragment = target.partition("#")
        to = path.parent / urllib.parse.unquote(name) if name else path
        if not to.exists():
            yield f"{path}: there is no {target}"
        elif fragment and to.suffix == ".md" and fragment not in anchors(read(to)):
            yield f"{path}: no heading of {name or path.name} gives #{fragment}"


def main():
    bad = 0
    for name in filter(None, sys.stdin.read().split("\n")):
        for fault in faults(pathlib.Path(name), lambda p: p.read_text(encoding="utf-8")):
            print(fault)
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
