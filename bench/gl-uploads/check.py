#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks build/results/gl-uploads.json: check.py FILE [--times]

Counts are exact: a glyph in a texture of its own costs at most one ioctl more than
with the unmodified Mesa, a glyph in an atlas and an idle small buffer at most a tenth
of one, and nothing maps more often than the unmodified Mesa, with series A alone either. --times (for figures from
a quiet machine) also demands that no row is slower than the unmodified Mesa by more
than 5 %, and that the cases with many objects are faster.
"""

import json
import sys

SLOWER = 1.05
MANY = ("vbo-many", "tex1d", "pbo")
BATCHED = {"glyph-atlas": 0.1, "vbo-idle": 0.1, "readpixels": None}


def main():
    with open(sys.argv[1], encoding="ascii") as f:
        rows = {(r["where"], r["case"], r["mesa"]): r for r in json.load(f)["rows"]}
    bad = []
    for (where, case, mesa), r in rows.items():
        if mesa not in ("a", "patched"):
            continue
        base = rows[where, case, "unmodified"]
        what = f"{where} {case}, {mesa}"
        if r["maps"] > base["maps"] + 0.01:
            bad.append(f"{what}: {r['maps']} maps a call, unmodified {base['maps']}")
        if mesa == "a":
            if r["ioctls"] > base["ioctls"] + 0.01:
                bad.append(f"{what}: {r['ioctls']} ioctls a call, unmodified {base['ioctls']}")
            continue
        most = BATCHED.get(case)
        if most is not None and r["ioctls"] > most:
            bad.append(f"{what}: {r['ioctls']} ioctls a call")
        if case == "glyph-own" and r["ioctls"] > base["ioctls"] + 1:
            bad.append(f"{what}: {r['ioctls']} ioctls a glyph, unmodified {base['ioctls']}")
        if "--times" in sys.argv:
            if r["ns"] > base["ns"] * SLOWER:
                bad.append(f"{what}: {r['ns'] / base['ns']:.2f} of the unmodified Mesa's time")
            if case in MANY and r["ns"] >= base["ns"]:
                bad.append(f"{what}: not faster with many objects")
    print("\n".join(bad) or f"{len(rows)} rows are as they should be")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
