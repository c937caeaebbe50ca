#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what gl-board printed: board_check.py [--chip NAME] [--space] DIR

NAME is the board's chip, rv770 if not said. --space: Mesa had an address space (RADEON_VA).

DIR has a file MODULE-MESA.jsonl for each combination that was run, MODULE being
patched, stock or none (r7xx-shim, which has no ioctls of ours), MESA patched, a (the
patches that need no new kernel) or unmodified. Contents must be exact everywhere; only
the patched Mesa on the patched module may use the ioctls. Cases with many objects make
few mappings, where the unmodified Mesa makes one for each.
"""

import argparse
import glob
import json
import os
import sys

# Objects of gl-board's cases, and mappings that all of them together may need: staging
# buffers, mostly.
OBJECTS = 300
MOST_MAPS = 8
# With an address space "vbo" has had 11, with the unmodified module; which buffers these were was not looked into.
MOST_MAPS_IN_SPACE = 16
# Textures of "textures" are accessed twelve times each, more often than HOT_ACCESSES of
# r600_upload.c: those that are linear are worth a mapping then.
HOT = {"textures": 24}
MANY = ("vbo", "glyph-own", "glyph-atlas", "textures", "tiled", "pbo", "readpixels", "queries", "uniforms",
        "persistent")
# The layers of "mipmaps", which are all mapped at the same time, need more staging buffers, or BOs
# of their own where these are full.
MAPPED_AT_A_TIME = 20
# Least number of mappings that the unmodified Mesa makes. It is known of the first case only:
# later ones find mapped BOs in the reuse cache, whose number depends on timing. With an address space
# it has slabs.
MAPPED = {"vbo": OBJECTS}
# What the unmodified Mesa does wrong: r600 changes sampler states that textures share, copies from levels of
# compressed textures that it takes for smaller than they are, ignores polygon stipples, and takes other levels of
# cube maps than their gradients and biases say.
FAULTS_OF_UNMODIFIED = ("samplers", "blocks", "stipple", "cube-levels", "shadow-levels")
# On R600 and R700 it also samples layers of some levels from where they are not, copies one sample to all,
# and loses alpha in uploads from buffers to textures of four bits.
FAULTS_BEFORE_EVERGREEN = ("layers", "samples", "pbo-formats")
# With an address space it makes small textures parts of slabs, and exports nothing of one.
FAULTS_IN_SPACE = ("leave-slabs",)
# Whether objects were parts of slabs, as the addresses in command streams tell (glstream.h), or left
# them: case, field of its row. Debian's Mesa has no slabs on these chips.
IN_SLABS = {"contexts": "fetch_in_slab", "leave-slabs": "left_slabs", "tiled": "tiled_alone"}
# Textures of the case "tiled" that have at most 16 KiB, on each chip: the CPU writes them without a submission.
TILED_ALONE = 28
# Uploads to the atlas, each of which is a draw of the unmodified Mesa; and the most draws where they share them.
UPLOADS_TO_ATLAS = 4 * OBJECTS
DRAWS_OF_ATLAS = UPLOADS_TO_ATLAS // 20
# The same of copies by the DMA ring, which Mesa uses from Evergreen on; with FORCE_DMA for all copies.
DMA_IN_SLABS = {"dma": "tiled_in_slab"}
FORCED_DMA_IN_SLABS = {"dma": "dma_in_slab"}
FORCE_DMA = {"R600_DEBUG": "forcedma"}
# The layers of two levels of "mipmaps" are read back on their own, each with a submission.
SUBMITTED = {"mipmaps": 2 * MAPPED_AT_A_TIME}


def expected_in_slabs(chip, extra):
    """{case: fields of its row that are not 0 where there are slabs}."""
    sets = [IN_SLABS]
    if not chip.startswith("rv"):
        sets += [DMA_IN_SLABS] + [FORCED_DMA_IN_SLABS] * (extra == FORCE_DMA)
    return {case: [s[case] for s in sets if case in s] for s in sets for case in s}


def check(rows, module, mesa, chip="rv770", extra=None, space=False):
    """What is wrong with the rows of a run on a chip, with variables of the environment in extra, as lines."""
    bad = []
    before_evergreen = FAULTS_BEFORE_EVERGREEN * chip.startswith("rv")
    faults = FAULTS_OF_UNMODIFIED + before_evergreen + FAULTS_IN_SPACE * space
    for case, fields in expected_in_slabs(chip, extra).items():
        # Which objects Debian's Mesa has in slabs there is not our matter.
        for field in [] if space and mesa == "unmodified" else fields:
            if case in rows and (rows[case][field] > 0) != (mesa != "unmodified"):
                bad.append(f"{case}, {mesa} Mesa, {module} module: {field} is {rows[case][field]}")
    ours = module == "patched" and mesa == "patched"
    for case, r in rows.items():
        what = f"{case}, {mesa} Mesa, {module} module"
        if not r["ok"] and (mesa != "unmodified" or case not in faults):
            bad.append(f"{what}: contents are wrong")
        if r["ok"] and mesa == "unmodified" and case in (*FAULTS_OF_UNMODIFIED[1:], *before_evergreen):
            bad.append(f"{what}: contents are right: the fault is not there")
        calls = r["pwrites"] + r["preads"] + r["transfers"]
        if calls and not ours:
            bad.append(f"{what}: {calls} ioctls that should not be there")
        # The driver counts the steps of a call, so it counts at least one for each.
        if module == "patched" and (r["kernel"] is None or r["kernel"] < calls or (r["kernel"] and not ours)):
            bad.append(f"{what}: {calls} ioctls, but the driver has counted {r['kernel']}")
        few = mesa != "unmodified" and case in MANY
        most = MOST_MAPS_IN_SPACE if space else MOST_MAPS
        if few and r["maps"] > most + HOT.get(case, 0) or mesa != "unmodified" and case == "mipmaps" and r["maps"] > MAPPED_AT_A_TIME:
            bad.append(f"{what}: {r['maps']} mappings")
        if module != "none" and mesa == "unmodified" and not space and r["maps"] < MAPPED.get(case, 0):
            bad.append(f"{what}: only {r['maps']} mappings: the counting is wrong")
        if mesa != "unmodified" and case == "tiled" and r["tiled_alone"] < TILED_ALONE:
            bad.append(f"{what}: only {r['tiled_alone']} textures were written without a submission")
        if case == "glyph-atlas" and (r["draws"] < UPLOADS_TO_ATLAS if mesa == "unmodified" else
                                      not 0 < r["draws"] <= DRAWS_OF_ATLAS):
            bad.append(f"{what}: {r['draws']} draws for {UPLOADS_TO_ATLAS} uploads")
        if case == "atlas" and (r["dropped"] > 0) != (mesa != "unmodified"):
            bad.append(f"{what}: {r['dropped']} uploads to deleted textures were not drawn")
        if r["submissions"] < SUBMITTED.get(case, 0):
            bad.append(f"{what}: only {r['submissions']} submissions: the layers were not mapped one by one")
    return bad


def read(path):
    """{case: row} of a file."""
    with open(path, encoding="ascii") as f:
        return {r["case"]: r for r in map(json.loads, f)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chip", default="rv770")
    parser.add_argument("--space", action="store_true")
    parser.add_argument("directory")
    args = parser.parse_args()
    bad, cases = [], {}
    for path in sorted(glob.glob(f"{args.directory}/*-*.jsonl")):
        module, mesa = os.path.basename(path)[:-len(".jsonl")].split("-")
        rows = read(path)
        bad += check(rows, module, mesa, args.chip, space=args.space)
        cases[module, mesa] = set(rows)
        for case, r in rows.items():
            print(f"{mesa:10} Mesa, {module:7} module  {case:12} {r['maps']:5} maps {r['ioctls']:6} ioctls "
                  f"{r['pwrites']:5} pwrites {r['preads']:4} preads {r['transfers']:4} transfers "
                  f"{r['submissions']:4} submissions")
    if ("patched", "patched") in cases and not sum(
            r["pwrites"] + r["preads"] + r["transfers"] for r in read(f"{args.directory}/patched-patched.jsonl").values()):
        bad.append("nothing was done by ioctl")
    if not cases or any(c != next(iter(cases.values())) for c in cases.values()):
        bad.append(f"not all ran the same cases: {cases}")
    print("\n".join(bad), file=sys.stderr)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
