# SPDX-License-Identifier: MIT
"""The commands: each is a module of nomap_lab.commands, whose text is its help."""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from .paths import LabError, UsageError

COMMANDS = Path(__file__).parent / "commands"


class Parser(argparse.ArgumentParser):
    """argparse, whose errors are ours, and whose help is a module's text."""

    def __init__(self, text: str | None, prog: str) -> None:
        super().__init__(prog=prog, add_help=False, allow_abbrev=False)
        self.text = (text or "").strip()
        self.add_argument("-h", "--help", action="store_true", dest="help_asked")

    def error(self, message: str) -> NoReturn:
        message = message.replace("unrecognized arguments:", "unknown option or argument:")
        raise UsageError(f"{self.prog}: {message} (see {self.prog} --help)")

    def format_help(self) -> str:
        return self.text + "\n"

    def parse(self, argv: list[str]) -> argparse.Namespace:
        """The options, or the help and the end with status 0."""
        if any(a in ("-h", "--help") for a in argv[: argv.index("--") if "--" in argv else None]):
            print(self.text)
            raise SystemExit(0)
        return self.parse_args(argv)


def parser(text: str | None, prog: str) -> Parser:
    """A parser for the command `prog`, whose help is `text`."""
    return Parser(text, prog)


def number(what: str, least: int = 1, most: int | None = None) -> Callable[[str], int]:
    """A type of argparse: a whole number of `what`, at least `least` and at most `most`."""

    def parse(text: str) -> int:
        value = int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else -1
        if value < least or (most is not None and value > most):
            bounds = f"from {least}" if most is None else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"takes {what} (a whole number {bounds}), not '{text}'")
        return value

    return parse


def main(argv: list[str]) -> int:
    """Runs a command: its name as it is called, and its arguments."""

    def ended(signum: int, _frame: object) -> NoReturn:
        raise SystemExit(128 + signum)

    for s in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, ended)
    name = argv[0]
    module = name.replace("-", "_")
    if not (COMMANDS / f"{module}.py").exists():
        names = sorted(p.stem.replace("_", "-") for p in COMMANDS.glob("[a-z]*.py"))
        print(f"nomap: error: there is no lab/{name}, only: {' '.join(names)}", file=sys.stderr)
        return 2
    own = argv[1 : argv.index("--") if "--" in argv else None]
    try:
        if "-h" in own or "--help" in own:
            # Without importing it: the machine's Python, which may be asked, has none of its packages.
            print((ast.get_docstring(ast.parse((COMMANDS / f"{module}.py").read_text(encoding="utf-8"))) or "").strip())
            return 0
        run: Callable[[list[str]], int] = importlib.import_module(f"nomap_lab.commands.{module}").main
        return run(argv[1:])
    except UsageError as e:
        text = str(e) if str(e).startswith("lab/") else f"lab/{name}: {e}"
        print(text if "--help" in text else f"{text} (see lab/{name} --help)", file=sys.stderr)
        return 2
    except LabError as e:
        print(f"nomap: error: {e}", file=sys.stderr)
        return e.status
    except BrokenPipeError:  # what read the output has ended, as "| head" does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130
