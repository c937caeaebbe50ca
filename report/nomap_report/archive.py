# SPDX-License-Identifier: MIT
"""The archive to send: an HTML page, the facts as JSON, the logs. All of it is filtered."""

from __future__ import annotations

import html
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .private import Filter
from .steps import CHOICES

NAME = "nomap-report"
#: Bytes of a log that are kept: its end.
LOG_BYTES = 1 << 20
#: What compare.ENVIRONMENT is for people.
NAMES = {"device": "PCI vendor and device", "vram_mib": "VRAM, MiB", "vram_visible_mib": "VRAM that the CPU reaches, MiB",
         "gtt_mib": "GTT, MiB", "pread_pwrite": "PREAD and PWRITE"}
STYLE = ("body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em}table{border-collapse:collapse}"
         "td,th{border:1px solid #bbb;padding:.2em .6em;text-align:left;vertical-align:top}pre{background:#eee;padding:1em;"
         "overflow:auto}.fail,.hang{background:#fbb}.pass{background:#bfb}")


def table(rows: Sequence[tuple[str, ...]], head: tuple[str, ...] = (), kinds: Sequence[str] = ()) -> str:
    """An HTML table; `kinds` has a class for each row."""
    def row(cells: tuple[str, ...], tag: str, kind: str = "") -> str:
        return f"<tr class='{kind}'>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

    return "<table>" + (row(head, "th") if head else "") + "".join(
        row(cells, "td", kinds[i] if kinds else "") for i, cells in enumerate(rows)) + "</table>"


def plain(value: object) -> str:
    """A fact as words for people; report.json has it as it is."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {plain(v)}" for key, v in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(plain, value)) or "none"
    return str(value) or "not known"


def different(board: Mapping[str, Sequence[tuple[str, ...]]]) -> list[str]:
    """What is different from the emulated board, as HTML."""
    heads = {"card": ("", "here", "on the board"),
             "timings": ("operation", "variant", "domain", "buffers", "µs here", "µs on the board", "ratio"), "subtests": ("step", "IGT subtest", "result")}
    texts = {"card": "In these the card differs from the board.", "timings": "Times of live-bos. The board's machine emulates its CPU, so that ratios between "
             "rows tell more than the times.", "subtests": "IGT subtests that have not passed. On the board all pass but those that skip."}
    found = ["<h2>Differences from the emulated board</h2>"]
    for name, rows in board.items():
        found += [f"<p>{texts[name]}</p>", table([(NAMES.get(row[0], row[0]), *row[1:]) for row in rows], heads[name]) if rows else "<p>None was found.</p>"]
    return found


def stacks(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Debian's own stack beside nomap's, as HTML; nothing where only one has been measured."""
    if not rows:
        return []
    return ["<h2>Debian's own stack and nomap's</h2>", "<p>The same operations in the two boot entries of the live image.</p>",
            table([tuple(row) for row in rows], ("operation", "variant", "domain", "buffers", "µs with Debian's", "µs with nomap's", "ratio"))]


def piglit(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Piglit's tests that have not passed, as HTML; nothing if all have, or none was run."""
    if not rows:
        return []
    return ["<h2>Piglit's tests that have not passed</h2>", table([tuple(row) for row in rows], ("test", "here", "on a real RV770"))]


def page(report: Mapping[str, Any]) -> str:
    """The report as HTML."""
    facts, done = report["facts"], report["steps"]
    means = {step.name: step.means for choice in CHOICES.values() for step in choice.steps}
    rows = [(name, r["status"], str(r["seconds"]), r["reason"], means.get(name, "") if r["status"] in ("fail", "hang") else "")
            for name, r in done.items()]
    simple = [(k, plain(v)) for k, v in facts.items() if k not in ("kernel_log", "kernel_reports", "parts")]
    parts = [
        f"<!DOCTYPE html><html lang='en'><meta charset='utf-8'><title>nomap report</title><style>{STYLE}</style>",
        f"<h1>nomap report</h1><p>{html.escape(report['conclusion'])}</p>",
        "<p>Host names, names of users, serial numbers, and MAC, IP and disk identifiers were removed.</p>",
        "<h2>Steps</h2>", table(rows, ("step", "result", "seconds", "reason", "what it may mean"), [r[1] for r in rows]) if rows else "<p>None was run.</p>",
        *stacks(report["stacks"]), *piglit(report["piglit"]), *different(report["board"]),
        "<h2>Parts of nomap</h2>", table([(p,) for p in facts["parts"]]),
        "<h2>Machine</h2>", table(simple),
        "<h2>Faults in the kernel log</h2>", f"<pre>{html.escape(chr(10).join(facts['kernel_reports'])) or 'none'}</pre>",
        "<h2>Kernel log of the graphics driver</h2>", f"<pre>{html.escape(chr(10).join(facts['kernel_log']))}</pre></html>",
    ]
    return "\n".join(parts) + "\n"


def conclusion(report: Mapping[str, Any]) -> str:
    """One sentence for the top of the page and the end of the run."""
    if report.get("stopped"):
        return str(report["stopped"])
    results = [r["status"] for r in report["steps"].values()]
    counts = ", ".join(f"{results.count(s)} {word}" for s, word in (("pass", "passed"), ("fail", "failed"), ("hang", "hung"), ("skip", "skipped")))
    faults = len(report["facts"]["kernel_reports"])
    return f"{counts}; " + (f"{faults} lines of faults in the kernel log." if faults else "no fault in the kernel log.")


def make(out: Path, report: dict[str, Any], clean: Filter) -> Path:
    """Writes OUT/nomap-report.tar.xz and returns its path."""
    report = clean.clean_all(dict(report, conclusion=conclusion(report)))
    files = {"report.json": json.dumps(report, indent=1, default=str), "index.html": page(report)}
    for path in sorted(p for p in out.rglob("*") if p.is_file() and p.suffix in (".log", ".json") and p.name != "state.json"):
        name = "logs/" + str(path.relative_to(out)).replace("/", "-")
        files[name] = clean.clean(path.read_bytes()[-LOG_BYTES:].decode(errors="replace"))
    target = out / f"{NAME}.tar.xz"
    new = out / f".{NAME}.new"
    with tarfile.open(new, "w:xz") as tar:
        for name, text in files.items():
            data = text.encode()
            info = tarfile.TarInfo(f"{NAME}/{name}")
            info.size, info.mode = len(data), 0o644
            tar.addfile(info, io.BytesIO(data))
    new.replace(target)
    return target
