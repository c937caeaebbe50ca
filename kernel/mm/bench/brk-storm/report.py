#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Table and numbers of brk-storm.

usage: report.py [--check] [--json OUT] RESULTS.json...

Takes any number of its results, of both kernels. With --check, exit status 1
unless

- each run has found the contents that it had to find, and no lock event was lost;
- no step of brk costs more than 3 % more instructions with the series of kernel/mm:
  medians of the layouts inside a leaf, and of these the median of all boots;
- children that have inherited a touched heap do at least half of the jobs of
  those that have not, on one and two CPUs;
- children wait at most 1 % of their time for the lock of an anon_vma in brk();
- of the instructions of growing a heap with an anon_vma the functions of that
  lock and its interval tree are at most a quarter.
"""

import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "bench", "lib"))
from reporting import arguments, load, verdict, write  # noqa: E402 (the path comes first)
from sources import load as sources  # noqa: E402

WORSE_MAX, INHERITED_MIN, LOCK_MAX, WAITING_MAX = 1.03, 0.5, 0.25, 0.01
# CPUs of the machine that the lab runs on. With more in the guest the host preempts holders of
# locks, and the jobs say nothing about brk, so such rows are left out.
HOST_CPUS = 2
# Growth by brk from many forked children, AIM7, Linux 2.6.27 to 2.6.30.
REPORT_2009 = {key: value for key, value in sources()["brk-2009"].items() if isinstance(value, (int, float))}

# What a step consists of: functions that do not call each other.
PARTS = {
    "grow": [("anon_vma: lock and interval tree", ("vma_prepare", "vma_complete")),
             ("tree: store", ("mas_store_prealloc", "mas_preallocate")),
             ("tree: look-ups", ("mas_find", "mas_prev"))],
    "shrink": [("split of the VMA", ("__split_vma",)),
               ("tree: store", ("mas_store_gfp",)),
               ("pages and page tables", ("vms_clear_ptes",)),
               ("the VMA's end", ("vm_area_free",))],
}


def name(row):
    pages = "1 page" if row["pages"] == 1 else f"{row['pages']} pages"
    return f"{row['heap']}/{row['pages']}/{'touched' if row['touched'] else 'untouched'}/{row['op']}", \
        f"{row['op']:6} {pages:9} {'touched' if row['touched'] else 'untouched':9} {row['heap']}"


def inside(row):
    """Layouts in which the heap is not the last entry of its leaf: the cheaper kind."""
    least = min(row["layouts"])
    return [x for x in row["layouts"] if x <= 1.5 * least]


def costs(runs):
    found = {}
    for run in runs:
        kernel = "mm-base" if run["environment"]["kernel"].endswith("-mm-base") else "mm"
        for row in run.get("cost", []):
            key, what = name(row)
            entry = found.setdefault(key, {"id": key, "what": what, "ns": {}, "instructions": {}})
            few = inside(row)
            entry[run["unit"]].setdefault(kernel, []).append({
                "median": row["median"], "p10": row["p10"], "p90": row["p90"],
                "inside": statistics.median(few), "last": max(row["layouts"]),
                "layouts_inside": len(few), "layouts": len(row["layouts"])})
    for entry in found.values():
        for unit in ("ns", "instructions"):
            entry[unit] = {kernel: {**{key: statistics.median(boot[key] for boot in boots) for key in boots[0]},
                                    "boots": [boot["inside"] for boot in boots]}
                           for kernel, boots in entry[unit].items()}
        both = entry["instructions"]
        entry["ratio"] = both["mm"]["inside"] / both["mm-base"]["inside"] if len(both) == 2 else None
    return list(found.values())


def parts(runs):
    """Sums of the samples in all layouts in which the heap is inside its leaf."""
    found = {}
    for run in runs:
        usual = {(r["heap"], r["pages"], r["touched"], r["op"]): r for r in run.get("cost", [])}
        for row in run.get("parts", []):
            like = usual[row["heap"], row["pages"], row["touched"], row["op"]]
            if row["samples"] == 0 or like["layouts"][row["layout"]] > 1.5 * min(like["layouts"]):
                continue
            key, what = name(row)
            entry = found.setdefault(key, {"id": key, "what": what, "op": row["op"], "samples": 0, "functions": {}})
            entry["samples"] += row["samples"]
            for function, (inclusive, own) in row["functions"].items():
                sums = entry["functions"].setdefault(function, [0, 0])
                sums[0] += inclusive
                sums[1] += own
    for entry in found.values():
        entry["shares"] = {what: sum(entry["functions"].get(n, [0])[0] for n in names) / entry["samples"]
                           for what, names in PARTS[entry["op"]]}
        top = sorted(entry["functions"].items(), key=lambda item: -item[1][0])
        entry["functions"] = dict(top[:40])
    return list(found.values())


def loads(runs):
    out = []
    for run in runs:
        for row in run.get("load", []):
            if row["cpus"] > HOST_CPUS:
                continue
            time = row["traced_ns"] * row["children"]
            row = dict(row, id=f"{row['cpus']}/{row['children']}/{'forked' if row['forked'] else 'living'}/{row['heap']}")
            row["waiting"] = {}
            for wait in row["waits"]:
                lock = "anon_vma" if "anon_vma" in wait["site"] or wait["site"].startswith("vma_") else wait["site"]
                key = f"{wait['context']}: {lock}"
                row["waiting"][key] = row["waiting"].get(key, 0) + wait["ns"] / time
            out.append(row)
    return sorted(out, key=lambda r: (r["cpus"], r["children"], r["forked"], r["heap"]))


def table(out, results):
    def line(text=""):
        print(text, file=out)

    line("What a step costs (instructions: heap inside a leaf of the maple tree; last: it is the last")
    line("entry of the leaf; without and with the series of kernel/mm; ns: with it)")
    line("Of several boots the median, and behind it in how far they differ.")
    line(f"{'':36} {'without':>9} {'with':>9} {'ratio':>6} {'boots':>15} {'last':>9} {'ns':>9} {'p10':>8} {'p90':>8}")
    for row in results["cost"]:
        i, n = row["instructions"], row["ns"].get("mm")
        cells = [f"{i[k]['inside']:9.0f}" if k in i else f"{'':9}" for k in ("mm-base", "mm")]
        cells.append(f"{row['ratio']:6.3f}" if row["ratio"] else f"{'':6}")
        # For each kernel, how much the largest boot exceeds the smallest.
        spread = [f"{max(i[k]['boots']) / min(i[k]['boots']) - 1:.2%}" for k in ("mm-base", "mm") if k in i]
        cells.append(f"{', '.join(spread):>15}")
        cells.append(f"{i['mm']['last']:9.0f}" if "mm" in i else f"{'':9}")
        cells.append(f"{n['median']:9.0f} {n['p10']:8.0f} {n['p90']:8.0f}" if n else "")
        line(f"{row['what']:36} " + " ".join(cells))
    line()
    line("What it consists of (share of samples, heap inside a leaf)")
    for row in results["parts"]:
        shares = "  ".join(f"{what} {100 * value:.0f} %" for what, value in row["shares"].items())
        line(f"{row['what']:36} {row['samples']:5} samples  {shares}")
    line()
    line("Children that grow their heaps page by page and shrink them (64 pages a job), jobs/min")
    line(f"{'':40} {'new heap':>10} {'inherited':>10} {'ratio':>6}  waiting for locks, of the children's time (inherited)")
    by_id = {row["id"]: row for row in results["load"]}
    for row in results["load"]:
        if row["heap"] != "inherited":
            continue
        new = by_id[row["id"].replace("inherited", "new")]
        waits = ", ".join(f"{key} {100 * value:.2f} %" for key, value in
                          sorted(row["waiting"].items(), key=lambda w: -w[1])[:3] if value >= 0.00005)
        line(f"{row['cpus']} CPUs {row['children']:3} children {'a process each job' if row['forked'] else 'long-lived':20}"
             f" {new['jobs_per_minute']:10.0f} {row['jobs_per_minute']:10.0f}"
             f" {row['jobs_per_minute'] / new['jobs_per_minute']:6.2f}  {waits or '-'}")
    line()
    told = REPORT_2009
    line(f"2009 (AIM7, {told['cpus']} cores): {told['jobs_per_minute_contended']:,} jobs/min while growth took the lock of"
         " an anon_vma that all heaps")
    line(f"shared, {told['jobs_per_minute']:,} without; {told['better_percent']} % more with other processors and a newer"
         f" kernel; {told['best_percent']} % more on a third machine.")
    line("Jobs are others here: what can be compared is one column with the other.")


def wrong(results):
    for row in results["cost"]:
        # Touching is not brk, and the cost of a page depends on its previous use.
        if row["ratio"] and row["ratio"] > WORSE_MAX and not row["id"].endswith("/touch"):
            boots = {kernel: [round(x) for x in i["boots"]] for kernel, i in row["instructions"].items()}
            yield f"{row['id']}: {row['ratio']:.3f} of the instructions without the series (boots: {boots})"
    for row in results["parts"]:
        lock = row["shares"].get("anon_vma: lock and interval tree", 0)
        if lock > LOCK_MAX and row["samples"] >= 100:
            yield f"{row['id']}: {100 * lock:.0f} % for the anon_vma"
    by_id = {row["id"]: row for row in results["load"]}
    for row in results["load"]:
        waiting = row["waiting"].get("brk: anon_vma", 0)
        if waiting > WAITING_MAX:
            yield f"{row['id']}: {100 * waiting:.1f} % of the time waiting for the lock of an anon_vma"
        if row["events_lost"]:
            yield f"{row['id']}: {row['events_lost']} lock events lost"
        new = by_id[row["id"].replace("inherited", "new")]
        if row["jobs_per_minute"] < INHERITED_MIN * new["jobs_per_minute"]:
            yield f"{row['id']}: {row['jobs_per_minute']:.0f} jobs/min, {new['jobs_per_minute']:.0f} with new heaps"
    if not (results["cost"] or results["load"]):
        yield "there are no rows"


def main():
    args = arguments(__doc__, "results...")
    runs = [load(path) for path in args.results]
    results = {"environments": [run["environment"] for run in runs], "report_2009": REPORT_2009,
               "cost": costs(runs), "parts": parts(runs), "load": loads(runs)}
    table(sys.stdout, results)
    if args.json:
        write(args.json, results)
    if not args.check:
        return 0
    print()
    return verdict([*wrong(results),
                    *(f"{path}: nothing was verified"
                      for path, run in zip(args.results, runs) if not run["verified"])])


if __name__ == "__main__":
    sys.exit(main())
