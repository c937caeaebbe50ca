# SPDX-License-Identifier: MIT
"""Parses the files whose names are on stdin; a line for each that does not parse."""

import ast
import json
import pathlib
import sys
import tomllib

try:
    import yaml
except ImportError:
    yaml = None

PARSERS = {
    ".py": lambda text: ast.parse(text),
    ".toml": tomllib.loads,
    ".json": json.loads,
}
if yaml:
    # GitLab's own tags (!reference) are no fault.
    class Loader(yaml.SafeLoader):
        pass

    Loader.add_multi_constructor("!", lambda loader, suffix, node: None)
    PARSERS[".yml"] = PARSERS[".yaml"] = lambda text: yaml.load(text, Loader)


def main():
    bad = 0
    for name in sys.stdin.read().split("\n"):
        parse = PARSERS.get(pathlib.PurePath(name).suffix)
        if not parse:
            continue
        try:
            parse(pathlib.Path(name).read_text(encoding="utf-8"))
        except Exception as fault:  # each parser has errors of its own
            print(f"{name}: {fault}")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
