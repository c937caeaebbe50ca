#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes results and a table of what transfer-paths measured, and checks it.

usage: report.py [--check] [--json OUT.json] TIMES.json [COUNTS.json]

TIMES.json has times, COUNTS.json (transfer-paths --count) instructions. The
table has a line for each target, and what bounds those that were missed.
OUT.json gets the lines as "results", and the rows of both files.

With --check it asserts what does not depend on a machine's noise: rows
complete, contents verified, paths taken, ratios of instructions, and, far from
what is measured, ratios of times. Exit status: 0 if all holds, 1 if not.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import arguments, load, write  # noqa: E402 (the path comes first)

KIB, MIB = 1024, 1024 * 1024
SIZES = {256: "256 B", 4 * KIB: "4 KiB", 64 * KIB: "64 KiB", MIB: "1 MiB",
         4 * MIB: "4 MiB", 16 * MIB: "16 MiB"}
TARGETS = {
    "gtt": {256: 0.15, 4 * KIB: 0.2, 64 * KIB: 0.3, MIB: 0.6,
            4 * MIB: 1.0, 16 * MIB: 1.0},
    "vram": {256: 0.2, 4 * KIB: 0.25, 64 * KIB: 0.3, MIB: 0.6,
             4 * MIB: 1.0, 16 * MIB: 1.0},
}
TARGETS["gtt-wc"] = TARGETS["gtt"]
GLYPHS = {"glyphs-one": 0.15, "glyphs-atlas": 0.15, "glyphs-many": 0.5}
GLYPH_TITLES = {"glyphs-one": "into one BO", "glyphs-atlas": "into an atlas",
                "glyphs-many": "into 1,000 BOs"}
BUSY_MS = 20

# Largest ratios of instructions that --check accepts: about a tenth above what
# was measured. A path that got longer shows here, on any machine. (At 1 MiB it
# is mostly the kernel's memcpy(), 8 bytes at a time, against glibc's, 32.)
COUNT_BOUNDS = {
    ("upload", 256): 0.2, ("upload", 4 * KIB): 0.23,
    ("upload", 64 * KIB): 0.43, ("upload", MIB): 1.55,
    ("glyphs-one", 256000): 0.26, ("glyphs-atlas", 256000): 0.165,
    ("glyphs-many", 256000): 0.59,
}


class Rows:
    """Rows of one file, by what was measured."""

    def __init__(self, data):
        self.data = data
        self.cost = (data["environment"]["clock_cost"]
                     if data["unit"] == "instructions" else 0)
        self.rows = {}
        for row in data["rows"]:
            key = row["case"], row["placement"], row["bytes"], row["arm"]
            self.rows[key] = row

    def get(self, case, placement, size, arm):
        """The row, or None if it was not measured."""
        row = self.rows.get((case, placement, size, arm))
        return row if row and row["samples"] else None

    def median(self, row):
        """Median of a row. Of instructions, the cost of reading the clock is subtracted."""
        return row["median"] - self.cost

    def value(self, case, placement, size, arm):
        """Median of an arm, or None."""
        row = self.get(case, placement, size, arm)
        return self.median(row) if row else None

    def ratio(self, case, placement, size, arm, base):
        """Ratio of medians of two arms, or None."""
        over = self.value(case, placement, size, arm)
        under = self.value(case, placement, size, base)
        return over / under if over is not None and under else None

    def spread(self, case, placement, size, arm, base):
        """Quartiles of the ratio over the turns, or None."""
        over = self.get(case, placement, size, arm)
        under = self.get(case, placement, size, base)
        if not over or not under:
            return None
        ratios = sorted((a - self.cost) / (b - self.cost) for a, b in
                        zip(over["turn_medians"], under["turn_medians"])
                        if b > self.cost)
        if not ratios:
            return None
        return ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]

    def cases(self, case):
        """Placements and sizes of a kind of cases, in their order."""
        return list(dict.fromkeys((p, s) for c, p, s, _ in self.rows
                                  if c == case))


def ratio_result(times, counts, identity, what, case, placement, size, arm,
                 base, target):
    """A line about a ratio of times."""
    again = f"{arm}-again"
    return {
        "id": identity,
        "what": what,
        "target": target,
        "measured": times.ratio(case, placement, size, arm, base),
        "unit": "ratio",
        "quartiles": times.spread(case, placement, size, arm, base),
        "null": times.ratio(case, placement, size, again, arm),
        "instructions": counts and counts.ratio(case, placement, size, arm,
                                                base),
        "arm": [case, placement, size, arm],
        "base": [case, placement, size, base],
    }


def single_results(times, counts, case, arm):
    """Uploads or downloads against a mapping made for each."""
    for placement, size in times.cases(case):
        if placement not in TARGETS:
            continue
        what = f"{case}, {placement}, {SIZES[size]}: {arm} / mmap"
        yield ratio_result(times, counts, f"{case}/{placement}/{size}/mmap",
                           what, case, placement, size, arm, "mmap",
                           TARGETS[placement][size])


def kept_results(times, counts, case, arm):
    """What a call costs beyond a copy to a kept mapping, in units of an empty ioctl."""
    for placement, size in times.cases(case):
        if placement not in TARGETS:
            continue
        result = {
            "id": f"{case}/{placement}/{size}/kept",
            "what": f"{case}, {placement}, {SIZES[size]}: "
                    f"({arm} - kept) / empty ioctl",
            "target": 1.0, "unit": "ioctls", "quartiles": None,
            "null": times.ratio(case, placement, size, f"{arm}-again", arm),
            "arm": [case, placement, size, arm],
            "base": [case, placement, size, "kept"],
        }
        for key, rows in (("measured", times), ("instructions", counts)):
            parts = rows and [rows.value(case, placement, size, arm),
                              rows.value(case, placement, size, "kept"),
                              rows.value("steps", placement, 8, "ioctl")]
            result[key] = ((parts[0] - parts[1]) / parts[2]
                           if parts and None not in parts else None)
        yield result


def other_results(times, counts):
    """Comparisons without a target."""
    for placement, size in times.cases("download"):
        for arm in ("pread-staged", "pread-cpu"):
            base = "mmap" if placement != "vram-hidden" else "pread"
            if not times.get("download", placement, size, arm) or \
                    not times.get("download", placement, size, base):
                continue
            yield ratio_result(
                times, counts, f"download/{placement}/{size}/{arm}",
                f"download, {placement}, {SIZES[size]}: {arm} / {base}",
                "download", placement, size, arm, base, None)
    for case, arm in (("upload", "pwrite"), ("download", "pread")):
        for placement, size in times.cases(case):
            hidden = times.get(case, placement, size, arm)
            mapped = times.get(case, "vram", size, "mmap")
            if placement != "vram-hidden" or not hidden or not mapped:
                continue
            yield {
                "id": f"{case}/{placement}/{size}/visible",
                "what": f"{case}, {placement}, {SIZES[size]}: {arm} / "
                        "mmap of visible VRAM",
                "target": None, "unit": "ratio", "quartiles": None,
                "measured": times.median(hidden) / times.median(mapped),
                "null": times.ratio(case, placement, size, f"{arm}-again",
                                    arm),
                "instructions": None,
                "arm": [case, placement, size, arm],
                "base": [case, "vram", size, "mmap"],
            }


def results(times, counts):
    """All lines of the table."""
    yield from single_results(times, counts, "upload", "pwrite")
    yield from single_results(times, counts, "download", "pread")
    for case, target in GLYPHS.items():
        for placement, size in times.cases(case):
            yield ratio_result(
                times, counts, f"{case}/{placement}",
                f"1,000 glyphs {GLYPH_TITLES[case]}, {placement}: "
                "TRANSFER / pwrites",
                case, placement, size, "transfer", "pwrite", target)
    for placement, size in times.cases("busy"):
        row = times.get("busy", placement, size, "pwrite")
        if row:
            yield {
                "id": f"busy/{placement}",
                "what": f"busy for 200 ms, {placement}, {SIZES[size]}: "
                        "pwrite returns, ms",
                "target": BUSY_MS, "measured": row["median"] / 1e6,
                "unit": "ms", "null": None, "instructions": None,
                "quartiles": (row["p25"] / 1e6, row["p75"] / 1e6),
                "worst": row["max"] / 1e6,
                "arm": ["busy", placement, size, "pwrite"],
                "base": ["busy", placement, size, "mapped"],
            }
    yield from kept_results(times, counts, "upload", "pwrite")
    yield from kept_results(times, counts, "download", "pread")
    yield from other_results(times, counts)


def judge(result):
    """Says whether a target was met, with the worst of the busy samples."""
    if result["target"] is None or result["measured"] is None:
        result["met"] = None
    else:
        worst = result.get("worst", result["measured"])
        result["met"] = worst <= result["target"]
    return result


def number(value, form=".2f"):
    """A number or a dash."""
    return "-" if value is None else format(value, form)


def per_call(row):
    """What one operation of a row did, by the counters."""
    parts = []
    for path, chunks in row["chunks"].items():
        parts.append(f"{chunks / row['samples']:.4g} {path}")
    for name, what in (("register_writes", "trapped writes"),
                       ("register_reads", "trapped reads"),
                       ("interrupts", "interrupts")):
        value = (row["board"] or {}).get(name)
        if value:
            parts.append(f"{value / row['samples']:.2g} {what}")
    for name in ("not_staged", "stall"):
        value = row["events"].get(name)
        if value:
            parts.append(f"{value / row['samples']:.2g} {name}")
    return ", ".join(parts) or "no driver path"


def bound(key, times, counts):
    """What bounds an arm: time, instructions and counters."""
    row = times.get(*key)
    if not row:
        return f"{key[3]}: not measured"
    text = f"{key[3]}: {times.median(row) / 1000:.1f} us"
    count = counts and counts.value(*key)
    if count is not None:
        text += (f", {count:,.0f} instructions "
                 f"({count / row['bytes']:.3f} a byte)")
    text += f"; {per_call(row)} a call"
    for rows in filter(None, (counts, times)):
        row = rows.get(*key)
        if row and row["top_samples"]:
            parts = [f"{name} {100 * hits / row['top_samples']:.0f} %"
                     for name, hits in row["top"].items()
                     if 50 * hits > row["top_samples"]]
            text += f"\n        most in: {', '.join(parts)}"
            break
    return text


def print_table(found, times, counts, out):
    """The lines, and what bounds those that missed their target."""
    environment = times.data["environment"]
    out.write(f"transfer-paths: Linux {environment['kernel']}, "
              f"{environment['driver']}, device {environment['device']}; "
              f"{environment['turns']} turns, medians.\n"
              "quartiles: of the ratio over turns; null: the same arm a second "
              "time; instr.: the same ratio of instructions.\n\n")
    width = max(len(result["what"]) for result in found)
    head = (f"{'':{width}} {'target':>7} {'measured':>8} {'quartiles':>13} "
            f"{'null':>5} {'instr.':>7} met")
    for title, wanted in (("With a target", True), ("Without", False)):
        out.write(f"{title}\n{head}\n")
        for result in found:
            if (result["target"] is not None) != wanted:
                continue
            quartiles = result["quartiles"]
            span = (f"{quartiles[0]:.2f}-{quartiles[1]:.2f}"
                    if quartiles else "-")
            met = {True: "yes", False: "NO", None: ""}[result["met"]]
            out.write(f"{result['what']:{width}} "
                      f"{number(result['target'], 'g'):>7} "
                      f"{number(result['measured']):>8} {span:>13} "
                      f"{number(result['null']):>5} "
                      f"{number(result['instructions'], '.3f'):>7} {met}\n")
        out.write("\n")

    out.write("Steps of a small write (us, instructions)\n")
    for placement, size in times.cases("steps"):
        parts = []
        for key in times.rows:
            if key[:2] != ("steps", placement):
                continue
            value = times.value(*key)
            count = counts and counts.value(*key)
            if value is not None:
                parts.append(f"{key[3]} {value / 1000:.1f}" + (
                    f", {count:,.0f}" if count is not None else ""))
        out.write(f"  {placement}: {'; '.join(parts)}\n")

    missed = [result for result in found if result["met"] is False]
    out.write(f"\n{len([r for r in found if r['met']])} targets met, "
              f"{len(missed)} missed\n")
    told = set()
    for result in missed:
        out.write(f"\nmissed: {result['what']}: "
                  f"{number(result['measured'], '.3f')}, target "
                  f"{result['target']:g}\n")
        for key in map(tuple, (result["arm"], result["base"])):
            if key not in told:
                told.add(key)
                out.write(f"    {bound(key, times, counts)}\n")


def check_rows(rows):
    """Yields what is wrong with the rows of one file."""
    if not rows.rows:
        yield "no rows"
    for key, row in rows.rows.items():
        name = f"{rows.data['unit']}: {', '.join(map(str, key))}"
        turns = row["samples"] if row["case"] == "busy" else \
            rows.data["environment"]["turns"]
        if row["error"]:
            yield f"{name}: {row['error']}"
        elif not row["samples"] or not row["median"]:
            yield f"{name}: nothing measured"
        elif row["verified"] != turns:
            yield f"{name}: {row['verified']} of {turns} turns verified"


def expected(staging):
    """Yields what every run has to have measured."""
    for size in (256, 4 * KIB, 64 * KIB, MIB):
        for placement in ("gtt", "gtt-wc", "vram", "vram-hidden"):
            for case, arm in (("upload", "pwrite"), ("download", "pread")):
                arms = [arm, f"{arm}-again"]
                if placement != "vram-hidden":
                    arms += ["mmap", "kept"]
                if placement == "vram" and case == "download":
                    arms += ["pread-cpu", "pread-staged"]
                for name in arms:
                    yield case, placement, size, name
    for case in GLYPHS:
        for placement in ("gtt", "vram"):
            for name in ("pwrite", "transfer", "transfer-again"):
                yield case, placement, 256000, name
    for placement in ("gtt", "gtt-wc", "vram"):
        for name in ("syscall", "ioctl", "lookup", "pwrite-8"):
            yield "steps", placement, 8, name
        if staging:
            for name in ("pwrite", "mapped"):
                yield "busy", placement, 4 * KIB, name


def check_times(times):
    """Yields ratios of times that noise does not explain."""
    for case, arm in (("upload", "pwrite"), ("download", "pread")):
        for placement in ("gtt", "gtt-wc", "vram"):
            for size in (256, 4 * KIB):
                ratio = times.ratio(case, placement, size, arm, "mmap")
                # Reads of VRAM flush the HDP; on hardware they use a bounce buffer, too.
                limit = 0.9 if (case, placement) == ("download",
                                                     "vram") else 0.5
                if ratio is None or ratio > limit:
                    yield (f"{case}, {placement}, {SIZES[size]}: {arm} / mmap "
                           f"is {number(ratio)}")
    for placement, size in times.cases("busy"):
        written = times.get("busy", placement, size, "pwrite")
        mapped = times.get("busy", placement, size, "mapped")
        if not written or not mapped:
            continue
        if mapped["median"] < 100e6:
            yield f"busy, {placement}: the GPU was not busy for long"
        if written["median"] > mapped["median"] / 4:
            yield (f"busy, {placement}: pwrite took "
                   f"{written['median'] / 1e6:.1f} ms")
        if written["events"].get("stall_avoided") != written["samples"]:
            yield f"busy, {placement}: not all writes were staged"


def check_counts(counts):
    """Yields ratios of instructions that are out of bounds."""
    for (case, size), limit in COUNT_BOUNDS.items():
        base = "mmap" if case == "upload" else "pwrite"
        arm = "pwrite" if case == "upload" else "transfer"
        for placement in ("gtt", "gtt-wc", "vram"):
            if placement == "gtt-wc" and case != "upload":
                continue
            ratio = counts.ratio(case, placement, size, arm, base)
            if ratio is None or ratio > limit:
                yield (f"instructions: {case}, {placement}, {size} bytes: "
                       f"{arm} / {base} is {number(ratio, '.3f')}, at most "
                       f"{limit} expected")
    for placement in ("gtt", "gtt-wc", "vram"):
        for size in (256, 4 * KIB):
            ratio = counts.ratio("upload", placement, size, "pwrite-again",
                                 "pwrite")
            if ratio is None or abs(ratio - 1) > 0.02:
                yield (f"instructions: upload, {placement}, {SIZES[size]}: "
                       f"the same arm again took {number(ratio, '.3f')}")


def check(times, counts):
    """Yields all that is wrong."""
    for rows, staging in ((times, times.data["environment"]["board"]),
                          (counts, False)):
        if rows:
            if not rows.data["environment"].get("write_combined"):
                yield (f"{rows.data['unit']}: gtt-wc: the BOs were cached, not "
                       f"write-combined")
            yield from check_rows(rows)
            for key in expected(staging):
                if key not in rows.rows:
                    yield (f"{rows.data['unit']}: "
                           f"{', '.join(map(str, key))}: missing")
    yield from check_times(times)
    if counts:
        yield from check_counts(counts)


def main():
    options = arguments(__doc__, "times", "counts?")

    loaded = []
    for name, unit in ((options.times, "ns"),
                       (options.counts, "instructions")):
        if not name:
            loaded.append(None)
            continue
        data = load(name)
        if data["unit"] != unit:
            sys.exit(f"{name} has {data['unit']}, not {unit}")
        loaded.append(Rows(data))
    times, counts = loaded

    found = [judge(result) for result in results(times, counts)]
    if found:
        print_table(found, times, counts, sys.stdout)
    if options.json:
        write(options.json, {
            "benchmark": "transfer-paths",
            "environment": times.data["environment"],
            "results": found,
            "times": times.data["rows"],
            "counts": counts.data["rows"] if counts else None,
            "count_clock_cost": counts.cost if counts else None,
        })

    wrong = list(check(times, counts)) if options.check else []
    for line in wrong:
        print(f"transfer-paths: {line}", file=sys.stderr)
    if options.check:
        print(f"transfer-paths: "
              f"{'all as it should be' if not wrong else f'{len(wrong)} wrong'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
