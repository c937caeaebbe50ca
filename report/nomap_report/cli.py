# SPDX-License-Identifier: MIT
"""The command line of nomap-report."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path
from typing import Any

from . import archive, compare, facts, menu
from .cards import Card, cards, choose
from .private import Filter
from .session import NEED_MEMORY, Session, sentence
from .steps import CHOICES, PROGRAMS
from .system import ReportError, System

EPILOG = """Exit status: 0 if nothing failed, 1 if something did, 2 for a bad command line or without root, 3 if nothing
could be run. The report has no host names, names of users, serial numbers, MAC, IP or disk identifiers."""


def first_screen(system: System) -> str:
    """What this is, which card is there, and what can be chosen."""
    found = cards(system)
    lines = ["nomap-report tests uploads and downloads without mappings on Radeon HD 2000 to 6000.",
             "All of it has run on an emulated board only: what happens on your card is news.", "",
             "Graphics cards:", *([f"  {card}" for card in found] or ["  none"]), "", "Parts of nomap:",
             *(f"  {part}" for part in facts.status(system)), "", "Choices:"]
    for choice in CHOICES.values():
        lines += [f"  --{choice.name:11} {choice.about} About {choice.minutes} minutes.", f"  {'':13} {choice.risk}"]
    return "\n".join([*lines, "", "After a hang, type the same command again: it goes on behind what hung."])


def memory(system: System) -> None:
    """Raises ReportError if there is too little memory."""
    found = re.search(r"MemAvailable:\s*(\d+)", system.read("/proc/meminfo"))
    if found and int(found[1]) // 1024 < NEED_MEMORY:
        raise ReportError(f"Only {int(found[1]) // 1024} MiB of memory are available, and the tests need {NEED_MEMORY}: close some programs.")


def run(system: System, choice: str, out: Path, slot: str, again: bool) -> int:
    """Runs a choice and makes the archive, also if nothing can be run."""
    session = Session(out, choice)
    try:
        return in_session(system, session, choice, slot, again)
    finally:
        session.close()


def in_session(system: System, session: Session, choice: str, slot: str, again: bool) -> int:
    """run() with the state of the directory for the report."""
    clean, out, steps = Filter(system), session.out, CHOICES[choice].steps
    if again:
        session.again(steps)
    card: Card | None = None
    stopped = ""
    try:
        card = choose(cards(system), slot)
        memory(system)
        if card.driver != "radeon":
            raise ReportError(f"The card {card.slot} is in range, but its driver is {card.driver or 'none'} instead of radeon: is its "
                              "firmware installed (firmware-amd-graphics), and no nomodeset on the kernel's command line?")
        print(f"Testing {card}")
        session.run(steps, card.environment())
    except ReportError as e:
        stopped = str(e)
        print(stopped, file=sys.stderr)
    report: dict[str, Any] = {"choice": choice, "facts": facts.collect(system, card), "steps": session.done, "stopped": stopped,
                              "board": compare.differences(out), "stacks": compare.between(out), "piglit": compare.piglit(out)}
    try:
        target = archive.make(out, report, clean)
    except OSError as e:
        raise sentence(e, out) from e
    print(archive.conclusion(report))
    print(f"The report to send is {target}.")
    if stopped:
        return 3
    bad = [step for step in steps if session.done.get(step.name, {}).get("status") in ("fail", "hang")]
    return 1 if bad or report["facts"]["kernel_reports"] else 0


def main(argv: list[str] | None = None, system: System | None = None) -> int:
    # Tests have another root.
    system = system or System(Path(os.environ.get("NOMAP_ROOT", "/")))
    parser = argparse.ArgumentParser(prog="nomap-report", epilog=EPILOG, description="Tests nomap on this machine's card and makes a report. "
                                     "Without an option, it shows what it would do.")
    what = parser.add_mutually_exclusive_group()
    for choice in CHOICES.values():
        what.add_argument(f"--{choice.name}", dest="choice", action="store_const", const=choice.name, help=choice.about)
    what.add_argument("--menu", action="store_true", help="ask on the terminal what to run, again and again: the first screen of the live image")
    what.add_argument("--status", action="store_true", help="say which parts of nomap are active, and why the others are not")
    parser.add_argument("--out", type=Path, default=Path("/var/lib/nomap-report"), help="the directory of the report (default: %(default)s)")
    parser.add_argument("--card", default="", metavar="SLOT", help="the card to test, as 0000:01:00.0, if there are several")
    parser.add_argument("--again", action="store_true", help="run what was run before, too")
    options = parser.parse_args(argv)
    try:
        if options.status:
            parts = facts.status(system)
            print("\n".join(map(str, parts)))
            return 0 if all(part.active for part in parts) else 1
        if not options.choice and not options.menu:
            print(first_screen(system))
            return 0
        if os.geteuid() != 0:
            raise ReportError(f"Tests need root: sudo nomap-report --{options.choice or 'menu'}", 2)
        if not PROGRAMS.is_dir():
            raise ReportError(f"The programs of nomap-tools are not in {PROGRAMS}.")
        if options.menu:
            return menu.loop(system, options.out, options.card, lambda choice, again, out, slot: run(system, choice, out, slot, again))
        return run(system, options.choice, options.out, options.card, options.again)
    except ReportError as e:
        print(e, file=sys.stderr)
        return e.status
