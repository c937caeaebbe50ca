# SPDX-License-Identifier: MIT
"""The first screen of the live image: what there is, what can be chosen, and what comes of it."""

from __future__ import annotations

import os
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import facts
from .cards import Card, cards, choose
from .compare import load
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


def several(system: System) -> list[Card]:
    """The cards in range if there are two or more; a person has to say which one is meant."""
    good = [card for card in cards(system) if card.in_range]
    return good if len(good) > 1 else []


def of_card(out: Path, slot: str, found: list[Card]) -> Path:
    """The directory for the report of the card at `slot`: `out` for the first of the cards, so that results of two are never mixed."""
    # A FAT file system takes no colons.
    return out.with_name(f"{out.name}-{slot.replace(':', '-')}") if found and slot != found[0].slot else out


def card_line(system: System, slot: str) -> str:
    """The card that would be tested, or why none can be."""
    try:
        card = choose(cards(system), slot)
    except ReportError as e:
        return str(e)
    others = len(several(system)) - 1
    which = f" There {'is 1 other' if others == 1 else f'are {others} others'} in range: c takes the next one." if others > 0 else ""
    if card.driver != "radeon":
        return f"Card: {card}. Without the driver radeon nothing can be tested.{which}"
    return f"Card: {card}.{which}"


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
    return load(out / "state.json")


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
    lines += ["s  A shell.    q  Turn the machine off.",
              "After a hang: reset the machine, boot the same entry, choose the same number."]
    return "\n".join(lines)


def loop(system: System, base: Path, slot: str, run: Callable[[str, bool, Path, str], int], read: Callable[[str], str] = input) -> int:
    """Shows the screen, runs what is chosen and shows it again, until the machine is turned off.

    `run` gets the choice, whether it is run again, the directory for the report, and the card's slot. If several cards are in
    range, the one at `slot` comes first, or the first of them.
    """
    numbers = {str(number): name for number, name in enumerate(CHOICES, 1)}
    found = several(system)
    slots = [card.slot for card in found]
    slot = next((s for s in slots if s.endswith(slot)), slot) if slot else (slots or [""])[0]
    while True:
        out = of_card(base, slot, found)
        print(screen(system, out, slot))
        try:
            answer = read("\nYour choice: ").strip().lower()
        except EOFError:
            return 0
        if answer in numbers:
            try:
                name = numbers[answer]
                done = state(out).get("done", {})
                run(name, all(step.name in done for step in CHOICES[name].steps), out, slot)
            except ReportError as e:
                print(e)
            read("Press Enter for the first screen. ")
        elif answer == "c" and slots:
            slot = slots[(slots.index(slot) + 1) % len(slots)] if slot in slots else slots[0]
        elif answer == "s":
            subprocess.run([os.environ.get("SHELL", "/bin/bash")], check=False)
        elif answer == "q":
            subprocess.run(["systemctl", "poweroff"], check=False)
            return 0
        elif answer:
            print(f"There is no choice {answer!r}.\n")
