# SPDX-License-Identifier: MIT
"""What commands share: values of options, options of the programs that they run, tables."""
import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from nomap_lab import graph
from nomap_lab.paths import TOP, UsageError


def in_build(text: str) -> str:
    """A type for argparse: the name of a directory in build/."""
    if not re.fullmatch("[a-z]([a-z0-9/-]*[a-z0-9])?", text):
        raise argparse.ArgumentTypeError(
            f"takes the name of a directory in build/, of small letters, digits, '-' and '/', not '{text}'")
    return text


def passed_on(doc: str | None, program: str, argv: list[str]) -> list[str]:
    """The arguments of a command that passes them on to PROGRAM ("bench/NAME", a path in build/).

    The help is the command's own. PROGRAM itself judges the arguments, natively, where it finds no device:
    its exit status is 2 if they are wrong, which raises UsageError before a guest is booted.
    """
    if {"-h", "--help"} & set(argv):
        print((doc or "").strip())
        raise SystemExit(0)
    if not argv:
        return argv
    path = TOP / "build" / program
    if not path.exists():
        graph.ensure("bench")
    judged = _output([path, *argv])
    if judged.returncode == 2:
        options = re.findall(r"^\s+(--[a-z][a-z0-9-]*)", _output([path, "--help"]).stdout, re.M)
        fault = (judged.stderr.strip().splitlines() or ["wrong arguments"])[0].replace(str(path), path.name)
        raise UsageError(f"{fault}; the options are {' '.join(options)}")
    return argv


def _output(cmd: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in cmd], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          cwd=TOP, check=False, timeout=60)


def python(script: str, *arguments: str | Path) -> list[str | Path]:
    """The command that runs a Python program of the repository."""
    return [sys.executable, "-B", TOP / script, *arguments]


def show_table(cmd: Sequence[str | Path], table: Path) -> int:
    """Runs CMD, prints what it says and writes that to TABLE; returns its exit status."""
    done = subprocess.run([str(word) for word in cmd], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          cwd=TOP, check=False)
    table.write_text(done.stdout, encoding="utf-8")
    print(done.stdout, end="", flush=True)
    return done.returncode


def results_are(directory: str, name: str) -> None:
    """Says where a benchmark's numbers, table and plot are."""
    for what, suffix in (("numbers:", "json"), ("table:  ", "txt"), ("plot:   ", "png")):
        print(f"{what} build/{directory}/{name}.{suffix}")
