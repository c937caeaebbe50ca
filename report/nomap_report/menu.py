# SPDX-License-Identifier: MIT
"""The first screen of the live image: what there is, what can be chosen, and what comes of it."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import facts
from .cards import cards, choose
from .steps import CHOICES, Choice
from .system import ReportError, System

#: Columns of a text screen.
WIDTH = 79


def wrap(text: str, indent: str = "") -> str:
    """`text` in lines that a text screen has room for; all but the first begin with `indent`."""
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def stack(system: System) -> str:
    """Which driver and libraries are in use, in one line."""
    parts = facts.status(system)
    active = [part.name for part in parts if part.active]
    if len(active) == len(parts):
        return "nomap's driver and libraries are active."
    if not active:
        return "Debian's own driver and libraries are active."
    return f"Of nomap, only this is active: {', '.join(active)}."


def card_line(system: System, slot: str) -> str:
    """The card that would be tested, or why none can be."""
    try:
        card = choose(cards(system), slot)
    except ReportError as e:
        return str(e)
    if card.driver != "radeon":
        return f"Card: {card}. Without the driver radeon nothing can be tested."
    return f"Card: {card}."


def place(out: Path) -> str:
    """Where reports go, and what is wrong with it."""
    mount = out.parent
    if not os.path.ismount(mount):
        return f"Reports: there is no data partition at {mount}, so they are lost when the machine is turned off."
    disk = os.statvfs(mount)
    if disk.f_flag & os.ST_RDONLY:
        return f"Reports: the data partition at {mount} is read-only, so nothing can be tested. Is the stick's switch set?"
    free = disk.f_bavail * disk.f_frsize >> 20
    return f"Reports: {out}, on the stick's data partition ({free} MiB free)."


def state(out: Path) -> dict[str, Any]:
    """The state of the runs in `out`, as session.py writes it; empty if there is none."""
    try:
        found: dict[str, Any] = json.loads((out / "state.json").read_text(encoding="utf-8"))
        return found
    except (OSError, ValueError):
        return {}


def unfinished(state: dict[str, Any]) -> tuple[str, str]:
    """Choice and step of a run that did not end; ("", "") if there is none."""
    if state.get("choice") not in CHOICES or not state.get("running"):
        return "", ""
    return state["choice"], state["running"]


def result(choice: Choice, before: dict[str, Any]) -> str:
    """What has come of a choice so far, with a space before it; "" if it was not run."""
    done = [r["status"] for step in choice.steps if (r := before.get("done", {}).get(step.name))]
    if not done:
        return ""
    bad = sum(status in ("fail", "hang") for status in done)
    return f" So far {len(done)} of {len(choice.steps)} steps have ended, {bad} of them badly."


def screen(system: System, out: Path, slot: str) -> str:
    """The first screen."""
    lines = [wrap("nomap: uploads and downloads without mappings on Radeon HD 2000 to 6000. It has run on an emulated board only. "
                  "Nothing on this machine's disks is touched."), "",
             wrap(card_line(system, slot)), wrap(stack(system)), wrap(place(out)), ""]
    before = state(out)
    choice, step = unfinished(before)
    if choice:
        lines += [wrap(f"The last run of {choice!r} did not end its step {step!r}. Choose it again to go on behind that step."), ""]
    for number, known in enumerate(CHOICES.values(), 1):
        lines += [wrap(f"{number}  {known.about} About {known.minutes} minutes. {known.risk}{result(known, before)}", "   ")]
    lines += ["s  A shell.    q  Turn the machine off.", "",
              "After a hang: reset the machine, boot the same entry, choose the same number."]
    return "\n".join(lines)


def loop(system: System, out: Path, slot: str, run: Callable[[str, bool], int], read: Callable[[str], str] = input) -> int:
    """Shows the screen, runs what is chosen and shows it again, until the machine is turned off."""
    numbers = {str(number): name for number, name in enumerate(CHOICES, 1)}
    while True:
        print(screen(system, out, slot))
        try:
            answer = read("\nYour choice: ").strip().lower()
        except EOFError:
            return 0
        if answer in numbers:
            try:
                name = numbers[answer]
                done = state(out).get("done", {})
                run(name, all(step.name in done for step in CHOICES[name].steps))
            except ReportError as e:
                print(e)
            read("Press Enter for the first screen. ")
        elif answer == "s":
            subprocess.run([os.environ.get("SHELL", "/bin/bash")], check=False)
        elif answer == "q":
            subprocess.run(["systemctl", "poweroff"], check=False)
            return 0
        elif answer:
            print(f"There is no choice {answer!r}.\n")
