# SPDX-License-Identifier: MIT
"""What gl-instructions measures, and what is asked of it: instructions in parts of those of the
unmodified Mesa on an unmodified kernel."""

# The options of gl-uploads for each case. Where each call makes an object, 10,000 are made by a new process;
# one object is written or read often, after the calls that Mesa needs to learn that.
MANY = {"--warm-up": 0, "--batches": 1, "--calls": 10000}
# 64 KiB each; and each of these once.
SOME = {"--warm-up": 0, "--batches": 1, "--calls": 1000}
ONCE = {"--warm-up": 0, "--batches": 1, "--calls": 256}
OFTEN = {"--warm-up": 10, "--batches": 3, "--calls": 300}
CASES = {"vbo-many": MANY, "glyph-own": MANY, "tex1d": MANY, "pbo": MANY, "vbo-idle": OFTEN, "vbo-busy": OFTEN,
         "vbo-part-busy": OFTEN, "draw": OFTEN, "glyph-atlas": OFTEN, "map-hot": OFTEN, "readpixels": OFTEN, "read-own": OFTEN, "stream": OFTEN,
         "big-many": SOME, "big-part-busy": OFTEN, "big-map-part": ONCE, "big-read": ONCE}

GOAL_A = 0.9
GOAL_BOTH = 0.5
BOTH = ("vbo-many", "vbo-idle", "vbo-busy", "vbo-part-busy", "glyph-own", "glyph-atlas", "big-many", "big-part-busy", "big-map-part")
NEVER = 1.03
# Case and Mesa of rows that miss their goal; table.py has them first.
KNOWN_MISSES = {("vbo-busy", "patched"), ("vbo-part-busy", "a"), ("vbo-part-busy", "patched"),
                ("stream", "a"), ("read-own", "a"), ("big-many", "a"), ("big-many", "patched"), ("big-part-busy", "a"),
                ("big-part-busy", "patched"), ("big-map-part", "a"), ("big-read", "a")}


def goal(case, mesa):
    """The largest part of the unmodified Mesa's instructions that is asked of a Mesa in a case."""
    # It uploads nothing.
    if case == "draw":
        return NEVER
    if mesa == "a":
        return GOAL_A
    return GOAL_BOTH if case in BOTH else NEVER


def parts(rows):
    """{(case, Mesa): instructions in parts of the unmodified Mesa's}, of both other Mesas."""
    of = {(r["case"], r["mesa"]): r["instructions"] for r in rows}
    return {(case, mesa): n / of[case, "unmodified"] for (case, mesa), n in of.items() if mesa != "unmodified"}
