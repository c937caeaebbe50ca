# SPDX-License-Identifier: MIT
"""What is different on this card from the emulated board: the times of live-bos, and the IGT subtests that do not pass. And
what the live image's two boot entries have measured, Debian's own stack and nomap's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: The board's recording: installed by nomap-tools, or that of the repository.
PLACES = (Path("/usr/share/nomap/board/live-bos.json"), Path(__file__).resolve().parent.parent.parent / "docs/results/live-bos.json")
#: Steps whose results are those of live-bos.
LIVE_BOS = ("live-bos", "live-bos-all")
#: Operations of a row of live-bos.
OPERATIONS = ("create", "upload", "destroy")
#: Of the environment, what a card can have otherwise than the board.
ENVIRONMENT = ("device", "vram_mib", "vram_visible_mib", "gtt_mib", "pread_pwrite")


def load(path: Path) -> dict[str, Any]:
    """A JSON object from a file; empty if it cannot be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def board() -> dict[str, Any]:
    """The board's recording of live-bos; empty if there is none."""
    return next((found for path in PLACES if (found := load(path))), {})


def rows(results: Mapping[str, Any]) -> dict[tuple[str, str, int], Mapping[str, Any]]:
    """Rows of live-bos by arm, domain and number of BOs; without those that failed."""
    return {(r["arm"], r["domain"], r["requested"]): r for r in results.get("rows", []) if not r.get("error")}


def timings(out: Path, reference: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Operation, arm, domain and BOs; microseconds here and on the board, and the ratio. Only what both have measured."""
    theirs, found = rows(reference), []
    for step in LIVE_BOS:
        for key, here in rows(load(out / f"{step}.json")).items():
            for operation in OPERATIONS:
                ours, other = here.get(f"{operation}_ns"), theirs.get(key, {}).get(f"{operation}_ns")
                if ours and other:
                    found.append((operation, *map(str, key), f"{ours / 1000:.1f}", f"{other / 1000:.1f}", f"{ours / other:.2f}"))
    return found


#: Directories for reports of the live image's boot entries begin with these.
STACKS = ("debian", "nomap")


def stacks(out: Path) -> dict[str, Path]:
    """By stack, the directories of the live image's two boot entries for one card, of which `out` is one; empty if it is none."""
    for own in STACKS:
        if out.name == own or out.name.startswith(f"{own}-"):
            return {name: out.with_name(name + out.name.removeprefix(own)) for name in STACKS}
    return {}


def measured(out: Path) -> dict[tuple[str, ...], float]:
    """Microseconds by operation, arm, domain and number of BOs, from live-bos and libdrm-maps."""
    found = {}
    for step in LIVE_BOS:
        for key, row in rows(load(out / f"{step}.json")).items():
            found.update({(operation, *map(str, key)): row[f"{operation}_ns"] / 1000 for operation in OPERATIONS if row.get(f"{operation}_ns")})
    maps = load(out / "libdrm-maps.json")
    domain = str(maps.get("environment", {}).get("domain", ""))
    found.update({("map and unmap", f"libdrm, {row['name']}", domain, str(row["bos"])): row["median"] / 1000
                  for row in maps.get("rows", []) if row.get("median")})
    return found


def between(out: Path) -> list[tuple[str, ...]]:
    """Operation, arm, domain and BOs; microseconds with Debian's stack and with nomap's, and the ratio. Only what both have measured."""
    places = stacks(out)
    if not places:
        return []
    debian, nomap = (measured(places[name]) for name in STACKS)
    return [(*key, f"{debian[key]:.1f}", f"{here:.1f}", f"{here / debian[key]:.2f}") for key, here in nomap.items() if debian.get(key)]


def environment(out: Path, reference: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """What live-bos says of the card, here and on the board, where they differ."""
    here = next((found["environment"] for step in LIVE_BOS if "environment" in (found := load(out / f"{step}.json"))), {})
    there = reference.get("environment", {})
    return [(key, str(here[key]), str(there[key])) for key in ENVIRONMENT if key in here and key in there and here[key] != there[key]]


def subtests(out: Path) -> list[tuple[str, ...]]:
    """Step, subtest and result of each IGT subtest that has not passed. On the board, all pass but those that skip."""
    found = []
    for path in sorted(out.glob("*/results.json")):
        for name, test in load(path).get("tests", {}).items():
            if test.get("result") != "pass":
                found.append((path.parent.name, name.removeprefix("igt@"), str(test.get("result"))))
    return found


def differences(out: Path) -> dict[str, list[tuple[str, ...]]]:
    """All of these, by a heading for the page."""
    reference = board()
    return {"card": environment(out, reference), "timings": timings(out, reference), "subtests": subtests(out)}


def piglit(out: Path) -> list[tuple[str, ...]]:
    """Piglit's test, its result here, and that of a real RV770, of each that has not passed here and is not skipped."""
    tests = load(out / "piglit-set.json").get("tests", {})
    return [(name, test["result"], test["rv770"]) for name, test in tests.items() if test["result"] not in ("pass", "skip")]
