#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares runs of the mm selftests, test by test.

usage: report.py [--check] [--json OUT] BEFORE.json AFTER.json

With --check, exit status 1 if a test or one of its subtests passed before and
does not after, or if fewer than half of the tests passed before: then nothing
was compared.
"""

import os
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "bench", "lib"))
from reporting import arguments, load, verdict, write  # noqa: E402 (the path comes first)


def compare(before, after):
    """Rows by test, and those of its subtests that differ."""
    for test, old in before["tests"].items():
        new = after["tests"].get(test, {"verdict": "not run", "subtests": {}})
        row = {"test": test, "before": old["verdict"], "after": new["verdict"],
               "subtests": [Counter(r["subtests"].values()) for r in (old, new)],
               "differ": [], "worse": []}
        if old["verdict"] == "pass" and new["verdict"] != "pass":
            row["worse"].append(test)
        for name in {**old["subtests"], **new["subtests"]}:
            a, b = (r["subtests"].get(name, "not run") for r in (old, new))
            if a != b:
                row["differ"].append(f"{name}: {a}, then {b}")
            # What passed before must pass. A subtest that was not run counts as worse
            # if its test did not pass: the test may have ended before it.
            if a == "pass" and (b == "fail" or (b == "not run" and new["verdict"] != "pass")):
                row["worse"].append(f"{test}: {name}")
        if old["verdict"] not in ("pass", "not built") and new["verdict"] == old["verdict"]:
            lines = old.get("output", "").strip().splitlines()
            row["said"] = next((s for s in lines if "not ok" in s), lines[-1] if lines else "")
        yield row


def main():
    args = arguments(__doc__, "before", "after")
    before, after = load(args.before), load(args.after)
    rows = list(compare(before, after))
    width = max(len(r["test"]) for r in rows)
    print(f"{'':<{width}}  {before['kernel']:<18} {after['kernel']:<18} subtests (pass/fail/skip)")
    for r in rows:
        subtests = ["/".join(str(c[k]) for k in ("pass", "fail", "skip")) for c in r["subtests"]]
        same = subtests[0] if subtests[0] == subtests[1] else ", then ".join(subtests)
        print(f"{r['test']:<{width}}  {r['before']:<18} {r['after']:<18} "
              f"{'' if same == '0/0/0' else same}".rstrip())
        for line in r["differ"]:
            print(f"{'':<{width}}    {line}")
        if r.get("said"):
            print(f"{'':<{width}}    both: {r['said'][:100]}")
    counts = [Counter(r[when] for r in rows) for when in ("before", "after")]
    worse = [w for r in rows for w in r["worse"]]
    for name, count in zip((before["kernel"], after["kernel"]), counts):
        print(f"{name}: " + ", ".join(f"{n} {verdict}" for verdict, n in count.most_common()))
    if args.json:
        write(args.json, {"before": before["kernel"], "after": after["kernel"],
                          "worse": worse, "tests": rows})
    if not args.check:
        return 0
    wrong = [f"{w}: passed before and does not now" for w in worse]
    if counts[0]["pass"] * 2 < len(rows):
        wrong.append("too few tests passed before")
    print()
    return verdict(wrong)


if __name__ == "__main__":
    sys.exit(main())
