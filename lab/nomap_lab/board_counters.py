# SPDX-License-Identifier: MIT
"""Checks what the emulated board has counted.

usage: python3 -m nomap_lab.board_counters BOARD.json CONDITION...

BOARD.json is what lab/run leaves among its logs. A CONDITION is a counter's name, one of
<, >, >=, == and a number: "draws > 1000". Prints the counters that are not 0. Exit status:
0 if all conditions hold, 1 if one does not, 2 for a usage error.
"""
import json
import operator
import sys
from collections.abc import Iterable, Mapping

COMPARE = {"<": operator.lt, ">": operator.gt, ">=": operator.ge, "==": operator.eq}


def check(counters: Mapping[str, int], conditions: Iterable[str]) -> list[str]:
    """What is wrong: the conditions that do not hold, and the counters' values. Raises ValueError for one that
    is none."""
    wrong = []
    for condition in conditions:
        words = condition.split()
        if len(words) != 3 or words[0] not in counters or words[1] not in COMPARE or not words[2].isdigit():
            raise ValueError(f"no such condition: {condition}")
        name, compare, value = words
        if not COMPARE[compare](counters[name], int(value)):
            wrong.append(f"{condition}: it is {counters[name]}")
    return wrong


def main(argv: list[str]) -> int:
    """The command."""
    if argv in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    if len(argv) < 2 or argv[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(argv[0], encoding="utf-8") as f:
        counters = json.load(f)
    print({name: value for name, value in counters.items() if value})
    try:
        wrong = check(counters, argv[1:])
    except ValueError as error:
        print(f"board_counters: {error}", file=sys.stderr)
        return 2
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
