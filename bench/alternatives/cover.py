#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what report.py made as plain text for the driver's cover letter, at most 75 columns wide.

usage: cover.py RESULTS.json
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import load  # noqa: E402 (the path comes first)
from report import per_operation  # noqa: E402

SIZES = {4096: "4 KiB", 65536: "64 KiB", 1 << 20: "1 MiB", 16 << 20: "16 MiB"}
ROWS = (
    ("mmap", "map, copy, unmap"),
    ("pwrite", "PWRITE"),
    ("userptr", "USERPTR, CS, wait, close"),
    ("userptr-registered", " the same, MMU notifier"),
    ("userptr-nowait", " the same, no wait (*)"),
    ("userptr-kept", "USERPTR kept, CS, wait"),
    ("userptr-window", "copy to USERPTR, CS, wait"),
    ("gtt-window", "copy to GTT BO, CS, wait"),
)
MANY = (
    ("pwrite", "PWRITE for each"),
    ("transfer", "TRANSFER, one call"),
    ("userptr", "USERPTR of all, one CS"),
    ("userptr-each", "USERPTR and CS for each"),
    ("gtt-window", "copy to GTT BO, one CS"),
)


def lines(data):
    """Yields the lines."""
    rows = data["transfers"]["rows"]
    cells = {(r["case"], r["placement"], r["bytes"], r["arm"]): r for r in rows}

    def found(arm, size, case="upload"):
        return cells.get((case, "vram", size, arm))

    sizes = [s for s in SIZES if found("pwrite", s)]
    yield "Instructions of an upload into an idle BO in VRAM, per call:"
    yield ""
    yield f"  {'':27}" + "".join(f"{SIZES[s]:>11}" for s in sizes)
    for arm, what in ROWS:
        yield f"  {what:27}" + "".join(f"{found(arm, s)['instructions']:>11,}" for s in sizes)
    yield ""
    yield "(*) The GPU reads the caller's memory after the call has returned."
    yield ""
    yield "Counted in an emulated guest. A copy by the kernel counts an instruction"
    yield "for each 8 bytes, memcpy() one for each 32, the DMA engine none, so from"
    yield "1 MiB on the rows say how long a path is, not how fast it copies."
    yield ""
    if all(r.get("lost") for r in rows if r["case"] == "download" and r["arm"].startswith("userptr")):
        yield "Downloads have no rows: where clients have no page tables of their own,"
        yield "radeon_ttm_backend_bind() binds user memory without"
        yield "RADEON_GART_PAGE_WRITE. What the GPU writes there is lost, without an error."
        yield ""
    yield "What one of them does, 4 KiB:"
    yield ""
    yield f"  {'':27}{'ioctls':>8}{'BOs':>5}{'relocs':>8}{'fences':>8}{'notifiers':>11}"
    for arm, what in ROWS:
        costs = per_operation(found(arm, 4096))
        yield (f"  {what:27}{costs['ioctls']:>8g}{costs['bos']:>5g}{costs['relocations']:>8g}{costs['fences']:>8g}"
               f"{costs['mmu_notifiers']:>11g}")
    yield ""
    yield "256 bytes into each of 1,000 BOs in VRAM, instructions for each BO:"
    yield ""
    for arm, what in MANY:
        yield f"  {what:27}{found(arm, 256000, 'glyphs-many')['instructions'] // 1000:>11,}"
    busy = [(r["arm"], r["waited"], r["captured"] == r["samples"]) for r in rows
            if (r["case"], r["placement"], r["bytes"]) == ("busy", "vram", 4096)]
    both = ", ".join(arm for arm, waited, captured in busy if not waited and captured)
    yield ""
    yield "Variants that neither wait while the GPU uses the BO nor leave the"
    yield "caller's memory in use (4 KiB):"
    yield f"  {both}"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: cover.py RESULTS.json")
    print("\n".join(lines(load(sys.argv[1]))))


if __name__ == "__main__":
    main()
