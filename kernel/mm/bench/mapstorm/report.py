#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares runs of mapstorm on kernels without and with the series of kernel/mm.

usage: report.py [--check] [--json OUT] RESULTS.json...

Which kernel a run was on, and what it counted, is in its results: "-mm-base" is
before, "-mm" after. Runs of times are paired in their order; a row's ratio is the median over
the pairs. With --check, exit status 1 unless

- all kernels make indirect calls by retpolines, as Debian's do;
- all runs have the same rows, and none has an error ("unsupported" is none);
- each row has the same digest in all runs: both kernels chose the same addresses;
- with the largest number of guards a pair of munmap and mmap costs at most twice
  that with the smallest, after, and at least four times it, before; with guards of
  one page, where a boot with them was measured, the 90th percentile at most three times,
  as only maps of two pages, a third, have the holes before the stacks tried;
- where each request has the size of the holes before the stacks ("page"), there are as many holes as stacks,
  less the first: the case that is measured happened;
- no row costs more than 3 % more, in instructions; of munmap in leaves full of stacks,
  which are gone over twice, no more than 20 %;
- among VMAs with holes of a page and no stack mmap() costs no more than before (1 %).

Rows of a kind are compared between the runs that have the kind: guards of one page
need a boot of their own.
"""

import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "bench", "lib"))
from reporting import arguments, load, verdict, write  # noqa: E402 (the path comes first)

KERNELS = {"before": "-mm-base", "after": "-mm"}
WORSE_MAX = 1.03
# The second pass over a leaf costs this much, see kernel/mm/README.md.
WORSE_AMONG_MAX = 1.20
GUARDS_AFTER_MAX, GUARDS_BEFORE_MIN = 2, 4
SMALL_AFTER_MAX = 3
HOLES_MAP_MAX = 1.01
SMALL = ("small", "shadow")


def load_runs(paths):
    """Runs by (unit, when), and the ids of all rows in order."""
    runs, ids = {}, {}
    for path in paths:
        run = load(path)
        kernel = run["environment"]["kernel"]
        when = next((w for w, end in KERNELS.items() if kernel.endswith(end)), None)
        if not when:
            sys.exit(f"{path}: {kernel} is none of the kernels {', '.join(KERNELS.values())}")
        run["by_id"] = {row["id"]: row for row in run["rows"]}
        ids.update(run["by_id"])
        runs.setdefault((run["environment"]["unit"], when), []).append(run)
    return runs, list(ids)


def of_kind(runs, kind):
    """The runs that have rows of a kind."""
    return [r for r in runs if any(row["kind"] == kind for row in r["rows"])]


def spread(runs, row_id):
    """Medians over the runs, less the cost of reading the clock."""
    rows = [(r["by_id"].get(row_id), r["environment"]["clock_cost"]) for r in runs]
    rows = [(row, clock) for row, clock in rows if row and row["error"] is None]
    if not rows:
        return None
    return {key: statistics.median(max(row[key] - clock, 1) for row, clock in rows)
            for key in ("p10", "median", "p90")}


def ratios(runs, unit, row_id):
    """The ratios of all pairs of runs."""
    found = []
    kind = row_id.split("/")[0]
    for before, after in zip(of_kind(runs.get((unit, "before"), []), kind),
                             of_kind(runs.get((unit, "after"), []), kind)):
        a, b = spread([before], row_id), spread([after], row_id)
        if a and b:
            found.append(b["median"] / a["median"])
    return found


def compare(runs, row_id):
    # Runs that count may have fewer live maps; their addresses differ then.
    by_unit = {}
    for (unit, _), some in runs.items():
        by_unit.setdefault(unit, []).extend(r["by_id"].get(row_id)
                                            for r in of_kind(some, row_id.split("/")[0]))
    by_unit = {unit: found for unit, found in by_unit.items() if any(found)}
    everywhere = [row for found in by_unit.values() for row in found]
    known = next(row for row in everywhere if row)
    errors = {row["error"] if row else "no such row" for row in everywhere} - {None}
    out = {k: known[k] for k in ("id", "kind", "layout", "live", "guards", "operation")}
    out["holes"] = known.get("holes")
    out["error"] = "; ".join(sorted(errors)) or None
    out["same_addresses"] = all(len({row.get("digest") for row in found if row}) == 1
                                for found in by_unit.values())
    for unit in ("ns", "instructions"):
        pairs = ratios(runs, unit, row_id)
        out[unit] = {when: spread(runs.get((unit, when), []), row_id)
                     for when in KERNELS}
        out[unit]["ratio"] = statistics.median(pairs) if pairs else None
        out[unit]["ratios"] = pairs
    return out


def scaling(rows, kind, layout, when):
    """The cost of a pair with the most guards, in units of that with the least."""
    some = sorted((r for r in rows if (r["kind"], r["layout"], r["operation"]) ==
                   (kind, layout, "pair") and r["error"] is None),
                  key=lambda r: r["guards"])
    if len(some) < 2:
        return None
    unit = "instructions" if some[0]["instructions"]["ratio"] else "ns"
    stat = "p90" if kind in SMALL else "median"
    return {"kind": kind, "layout": layout, "when": when, "unit": unit,
            "guards": [some[0]["guards"], some[-1]["guards"]],
            "ratio": some[-1][unit][when][stat] / some[0][unit][when][stat]}


def faults(rows, scalings):
    plain_counted = any(r["kind"] == "plain" and r["instructions"]["ratio"] for r in rows)
    for row in rows:
        if row["error"] and not row["error"].startswith("unsupported"):
            yield f"{row['id']}: {row['error']}"
        if not row["same_addresses"]:
            yield f"{row['id']}: the kernels chose other addresses"
        if row["kind"] == "page" and not row["error"] and row["holes"] != row["guards"] - 1:
            yield f"{row['id']}: {row['holes']} holes of a page between {row['guards']} stacks"
        ratio = row["instructions"]["ratio"]
        # Only rows of live maps may be missing in runs that count.
        if not row["error"] and ratio is None and (row["kind"] != "plain" or not plain_counted or
                                                   row["ns"]["ratio"] is None):
            yield f"{row['id']}: no instructions were counted on both kernels"
        among = row["kind"] == "among" and row["operation"] != "map"
        most = WORSE_AMONG_MAX if among else WORSE_MAX
        if row["kind"] == "holes" and row["operation"] == "map":
            most = HOLES_MAP_MAX
        if ratio is not None and ratio > most:
            yield f"{row['id']}: {100 * (ratio - 1):.1f} % more instructions"
    found = {(s["kind"], s["layout"], s["when"]): s["ratio"] for s in scalings}
    # Without a boot with small guards their rows are missing; a wrong boot gives an error.
    booted = [kind for kind in ("small", "page") if any(row["kind"] == kind for row in rows)]
    for kind in ("guards", *booted):
        for layout in ("top-down", "bottom-up"):
            after = found.get((kind, layout, "after"))
            before = found.get((kind, layout, "before"))
            if after is None or before is None:
                yield f"{kind}, {layout}: there are no two rows to compare"
            elif after > (SMALL_AFTER_MAX if kind in SMALL else GUARDS_AFTER_MAX) or before < GUARDS_BEFORE_MIN:
                yield (f"{kind}, {layout}: the most guards cost {after:.2f} times the least, "
                       f"and {before:.2f} times before")


def figure(value, unit):
    if value is None:
        return "-"
    return f"{value / 1000:.2f}" if unit == "ns" else f"{value:.0f}"


def table(rows, scalings):
    head = ("", "us before", "after", "ratio", "of each pair", "instr. before", "after",
            "ratio", "addresses")
    lines = []
    for r in rows:
        if r["error"]:
            lines.append((r["id"], r["error"]))
            continue
        line = [r["id"]]
        for unit in ("ns", "instructions"):
            line += [figure(r[unit][when] and r[unit][when]["median"], unit)
                     for when in KERNELS]
            line.append(f"{r[unit]['ratio']:.3f}" if r[unit]["ratio"] else "-")
            if unit == "ns":
                line.append(" ".join(f"{x:.2f}" for x in r[unit]["ratios"]) or "-")
        line.append("same" if r["same_addresses"] else "OTHERS")
        lines.append(line)
    widths = [max(len(line[i]) for line in [head, *lines] if len(line) == len(head))
              for i in range(len(head))]
    for line in [head, *lines]:
        yield "  ".join(f"{c:<{w}}" if not i else f"{c:>{w}}"
                        for i, (c, w) in enumerate(zip(line, widths))).rstrip()
    yield ""
    for s in scalings:
        yield (f"{s['kind']}, {s['layout']}, {s['when']}: {s['guards'][1]} guards cost "
               f"{s['ratio']:.2f} times what {s['guards'][0]} cost ({s['unit']})")


def main():
    args = arguments(__doc__, "results...")
    runs, ids = load_runs(args.results)
    rows = [compare(runs, row_id) for row_id in ids]
    scalings = [s for kind in ("guards", "shadow", "small", "page") for layout in ("top-down", "bottom-up")
                for when in ("before", "after") if (s := scaling(rows, kind, layout, when))]
    print("\n".join(table(rows, scalings)))
    if args.json:
        environments = [r["environment"] for some in runs.values() for r in some]
        write(args.json, {"environments": environments, "scaling": scalings, "rows": rows})
    found = [f"{r['environment']['kernel']}: indirect calls are not made by retpolines"
             f" ({r['environment']['indirect_calls'] or 'unknown'})"
             for some in runs.values() for r in some if "Retpolines" not in r["environment"]["indirect_calls"]]
    found += faults(rows, scalings)
    print()
    failed = verdict(found)
    return failed if args.check else 0


if __name__ == "__main__":
    sys.exit(main())
