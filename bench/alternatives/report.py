#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes one file of results of what transfer-paths and live-bos counted and timed of the alternatives.

usage: report.py [--check] [--json OUT.json] TRANSFER.json LIVE.json [TIMES.json]

TRANSFER.json is of transfer-paths --count --only alternatives, LIVE.json of live-bos --count, TIMES.json of
transfer-paths --only alternatives. OUT.json gets all, with the cost of reading the clock subtracted, and without what no table
has. A list of instructions is printed.

With --check it asserts that the runs are complete, contents verified, and that each variant did what
it is named after: BOs of user memory were made where it makes them and only there, the DMA
engine copied (transfer-paths asserts all bytes), the driver moved none, no mapping was left. Exit
status: 0 if all holds, 1 if not.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import arguments, load, verdict, write  # noqa: E402 (the path comes first)

# Variants that make a BO of user memory for each transfer, and how many for 1,000 objects.
MAKE_USERPTR = {"userptr": 1, "userptr-registered": 1, "userptr-nowait": 1, "userptr-each": 1000}
# Of these, those whose BOs have an MMU notifier; those of downloads need one.
REGISTERED = {"userptr-registered"}
BY_CS = ("userptr", "gtt-window")
# Variants that return while the GPU still does earlier work, and up to which size. PWRITE stages no larger writes.
LARGEST = 16 << 20
NEVER_WAIT = {"pwrite": 1 << 18, "userptr-nowait": LARGEST, "userptr-window-nowait": LARGEST, "gtt-window-nowait": LARGEST}
EVENTS = ("ioctls", "mmaps", "bos", "userptrs", "mmu_notifiers", "submissions", "relocations", "fences", "gart_flushes")
LEAST_SIZES = (256, 4096, 65536)
# What OUT.json has of a row.
KEPT = ("case", "placement", "bytes", "arm", "instructions", "ns", "samples", "costs", "cost_ops", "waited", "captured", "lost",
        "domain", "requested", "upload_instructions", "vmpte_kib", "vma_kib")


def named(row):
    """A row's name for messages."""
    return f"{row['case']}, {row['placement']}, {row['bytes']} bytes, {row['arm']}"


def per_operation(row):
    """Events of one operation."""
    return {name: row["costs"].get(name, 0) / row["cost_ops"] for name in EVENTS}


def check_events(row):
    """Yields events that are not those of the variant."""
    costs, arm = per_operation(row), row["arm"]
    by_cs = arm.startswith(BY_CS)
    many = row["units"] if arm == "userptr-each" else 1
    made = MAKE_USERPTR.get(arm, 0)
    wanted = {
        "userptrs": made,
        "mmu_notifiers": made if arm in REGISTERED or (made and row["case"] == "download") else 0,
        "submissions": many if by_cs else 0,
        "mmaps": 1 if arm == "mmap" else 0,
    }
    if by_cs:
        wanted["bos"] = made
        wanted["fences"] = many
    for name, value in wanted.items():
        if costs[name] != value:
            yield f"{costs[name]:g} {name} an operation, not {value:g}"
    if by_cs and costs["relocations"] < 2 * row["units"]:
        yield f"{costs['relocations']:g} relocations"
    if costs["ioctls"] < (0 if arm == "kept" else 1):
        yield "no ioctls"


def check_transfers(data):
    """Yields what is wrong with the rows of transfer-paths."""
    if not data["rows"]:
        yield "transfer-paths: no rows"
    for row in data["rows"]:
        wrong = []
        busy = row["case"] == "busy"
        turns = row["samples"] if busy else data["environment"]["turns"]
        if row["error"]:
            wrong.append(row["error"])
        elif not row["samples"] or not row["median"]:
            wrong.append("nothing measured")
        elif row.get("lost", False) != (row["case"] == "download" and row["arm"].startswith("userptr")):
            wrong.append("the GPU's writes to user memory arrived" if "lost" not in row else "the GPU's writes did not arrive")
        elif row["verified"] != turns:
            wrong.append(f"{row['verified']} of {turns} turns verified")
        elif busy:
            waited = 0 if row["bytes"] <= NEVER_WAIT.get(row["arm"], 0) else row["samples"]
            if row["waited"] != waited:
                wrong.append(f"{row['waited']} of {row['samples']} samples waited, not {waited}")
            captured = 0 if row["arm"] == "userptr-nowait" else row["samples"]
            if row["captured"] != captured:
                wrong.append(f"{row['captured']} of {row['samples']} samples had the bytes that were there before the return")
        elif "costs" not in row:
            wrong.append("no events were counted")
        else:
            wrong += check_events(row)
        if row["arm"].startswith(BY_CS) and (row["path_bytes"] or not row["board"].get("dma_bytes")):
            wrong.append("not copied by the DMA engine")
        yield from (f"{named(row)}: {what}" for what in wrong)


def expected():
    """Yields what has to be there."""
    for placement in ("gtt", "vram", "vram-hidden"):
        for size in LEAST_SIZES:
            for arm in ("pwrite", "userptr", "userptr-registered", "userptr-nowait", "userptr-kept", "userptr-window",
                        "userptr-window-nowait", "gtt-window", "gtt-window-nowait"):
                yield "upload", placement, size, arm
            for arm in ("pread", "userptr", "userptr-kept", "userptr-window", "gtt-window"):
                yield "download", placement, size, arm
        if placement == "vram-hidden":
            continue
        for arm in ("pwrite", "transfer", "userptr", "userptr-each", "userptr-kept", "userptr-window", "gtt-window"):
            yield "glyphs-many", placement, 256000, arm
        for size in LEAST_SIZES:
            for arm in ("kept", "pwrite", "userptr", "userptr-nowait", "userptr-window-nowait", "gtt-window-nowait"):
                yield "busy", placement, size, arm


def check_live(data):
    """Yields what is wrong with the rows of live-bos."""
    arms = {row["arm"] for row in data["rows"]}
    if not {"mmap", "pwrite", "userptr", "userptr-window"} <= arms:
        yield f"live-bos: only {', '.join(sorted(arms))}"
    for row in data["rows"]:
        name = f"live-bos, {row['arm']}, {row['domain']}, {row['requested']} live"
        if row["error"]:
            yield f"{name}: {row['error']}"
        elif row["verified"] != row["live"] or row["live"] != row["requested"] or not row["samples"]:
            yield f"{name}: {row['verified']} of {row['live']} BOs verified, {row['samples']} samples"
        elif row["maps"] != (row["live"] if row["arm"] == "mmap" else 0):
            yield f"{name}: {row['maps']} mappings"


def check(data):
    """Yields all that is wrong."""
    units = {"transfers": "instructions", "live": "instructions", "times": "ns"}
    for part, unit in units.items():
        if part in data and data[part]["unit"] != unit:
            yield f"{part}: {data[part]['unit']}, not {unit}"
    for part in ("transfers", "times"):
        if part in data:
            keys = {(row["case"], row["placement"], row["bytes"], row["arm"]) for row in data[part]["rows"]}
            yield from (f"{part}: missing: {key}" for key in expected() if key not in keys)
            yield from (f"{part}: {what}" for what in check_transfers(data[part]))
    yield from check_live(data["live"])


def main():
    options = arguments(__doc__, "transfers", "live", "times?")
    transfers, live = load(options.transfers), load(options.live)
    for row in transfers["rows"]:
        if row["median"]:
            row["instructions"] = row["median"] - transfers["environment"]["clock_cost"]
    for row in live["rows"]:
        for name in ("create", "upload", "destroy"):
            if row[f"{name}_ns"] is not None:
                row[f"{name}_instructions"] = row[f"{name}_ns"] - live["environment"]["clock_ns"]
    data = {"benchmark": "alternatives", "environment": transfers["environment"], "transfers": transfers, "live": live}
    if options.times:
        data["times"] = load(options.times)
        for row in data["times"]["rows"]:
            if row["median"]:
                row["ns"] = row["median"] - data["times"]["environment"]["clock_cost"]
    for row in transfers["rows"]:
        print(f"{named(row)}: {row.get('instructions', '-')} instructions {row.get('costs', '')}")
    for row in live["rows"]:
        print(f"{row['requested']} live, {row['domain']}, {row['arm']}: {row.get('upload_instructions', '-')} instructions")
    wrong = list(check(data)) if options.check else []
    if options.json:
        for part in (data[name] for name in ("transfers", "live", "times") if name in data):
            part["rows"] = [{key: row[key] for key in KEPT if key in row} for row in part["rows"]]
        write(options.json, data)
    sys.exit(verdict(wrong))


if __name__ == "__main__":
    main()
