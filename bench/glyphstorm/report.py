#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes results, tables and docs/desktop.md of what glyphstorm has counted on several stacks.

usage: report.py [--check] [--json OUT.json] --cases STACK/SERVER,... DIR
       report.py --docs DOCS [--part counts|growth|opengl] RESULTS.json...

DIR/STACK/SERVER/glyphstorm.json is what a server of a stack has left. Stacks: debian (Debian's module
and Mesa), series-a (Debian's module, series A of our Mesa), our-mesa (Debian's module, all of it), nomap (both ours). Servers: those of session.
OUT.json gets for each case the rows of glyphstorm, and gem_rw, the copies that our module has
made meanwhile. Prints tables of counts.

--check  fails unless all cases are there with each operation, all contents were right and nothing was
         refused; a glamor server of nomap has, at its most, 32 mappings of BOs more than at its start, and maps
         at most 1 in 20 times that it is given a pixmap. With debian,
         glamor must map at least once for 10 pixmaps: else the counts cannot see what they are for.
         exa-nomap must copy by our module's ioctls with nomap, and map at most 1 in 20 times, and must
         not use them without our module
--docs   puts a part of the results into DOCS/desktop.md, between the marks there. counts (the default): tables, and the plot
         (RESULTS.png), of the results with all cases; times only of a quiet machine (bench/lib/record). growth: of several
         results with different numbers of pixmaps, how the counts and the time of a switch grow with them, and times with the
         most, as those of counts. opengl: the counts of results with OpenGL's objects (--gl)

Exit status: 0, 1 if a check fails or results cannot be read, 2 for a bad command line.
"""

import argparse
import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import results as published  # noqa: E402 (the path comes first)
from pictures import put_between  # noqa: E402
from reporting import load, verdict, write  # noqa: E402

STACKS = {"debian": "Debian's module and Mesa", "series-a": "Debian's module, series A of our Mesa",
          "our-mesa": "Debian's module, our Mesa", "nomap": "our module and Mesa"}
SERVERS = {"modesetting": "modesetting, glamor", "radeon": "radeon DDX, glamor", "exa": "radeon DDX, EXA",
           "exa-nomap": "our radeon DDX, EXA"}
OPERATIONS = ("start", "put", "put-shm", "check", "arc", "check-arc", "arc-back", "copy", "check-copy", "get",
              "put-again", "check", "glyph-add", "glyph-draw", "check-glyph", "switch", "check-switch",
              "switch-again", "free-most", "switch-few", "check-switch", "free")
# With OpenGL's objects these are done instead of the switches with few pixmaps.
GL_OPERATIONS = ("texture", "texture-again", "buffer", "buffer-again", "pixmap-texture", "composite", "check-gl", "gl-free")
# Operations of the tables, and what they are called there.
SHOWN = {"put": "create and put", "put-shm": "create and put, MIT-SHM", "put-again": "put again", "get": "get",
         "arc-back": "arc", "copy": "copy", "glyph-draw": "draw a glyph",
         "switch": "switch of the workspace"}
GL_SHOWN = {"texture": "make a texture", "texture-again": "fill it again", "buffer": "make a vertex buffer",
            "buffer-again": "fill it again", "pixmap-texture": "texture of a pixmap", "composite": "change the pixmap and draw it"}
MARKS = {"counts": ("<!-- counts: make desktop -->\n", "<!-- end of counts -->\n"),
         "growth": ("<!-- growth -->\n", "<!-- end of growth -->\n"),
         "opengl": ("<!-- opengl -->\n", "<!-- end of opengl -->\n")}
# A switch's ratio is printed if two measurements of the same differ by this share at the most.
VARIES = 0.15
MORE_MAPS = 32
MORE_GL_MAPS = 64
GLAMOR = ("modesetting", "radeon")
# What our DDX does by TRANSFER. For the other operations it draws, and maps new vertex buffers while others are busy.
BY_TRANSFER = ("put", "put-shm", "put-again", "arc-back", "get")
# The cases of the document. EXA does not use Mesa; our DDX is for our module.
ALL = (*((stack, server) for stack in STACKS for server in ("modesetting", "radeon", "exa")
         if server != "exa" or stack in ("debian", "nomap")), ("nomap", "exa-nomap"))


def operations(opengl):
    """The names of a run's rows, in their order, with or without OpenGL's objects."""
    again = OPERATIONS.index("switch-again")
    return (*OPERATIONS[:again], *GL_OPERATIONS, "free") if opengl else OPERATIONS


def row(case, operation):
    """A case's row of an operation; None if there is none."""
    return next((r for r in case["rows"] if r["operation"] == operation), None)


def peak(case):
    """The most mappings of BOs that the server had."""
    return max(r["gpu_maps_peak"] for r in case["rows"])


def copies(path):
    """Copies that our module has made, by path, from its counters; None without the module."""
    text = path.read_text() if path.exists() else ""
    found = {name: int(n) for name, n in re.findall(r"(?m)^\s*(cpu|staged)\s+(\d+)", text)}
    return found or None


def read(directory, names):
    """The cases that were run, and what is wrong with those that were not."""
    cases, wrong = [], []
    for name in names:
        stack, server = name.split("/")
        path = directory / name / "glyphstorm.json"
        if not path.exists():
            wrong.append(f"{name}: did not get to its end (its logs are in {directory / name})")
            continue
        case = {"stack": stack, "server": server, **load(path)}
        wanted = operations(case["gl"])
        if tuple(r["operation"] for r in case["rows"]) != wanted:
            wrong.append(f"{name}: operations are missing")
            continue
        before, after = (copies(directory / name / file) for file in ("gem_rw.before", "gem_rw"))
        case["gem_rw"] = {k: after[k] - before.get(k, 0) for k in after} if before and after else None
        cases.append(case)
    return cases, wrong


def each(case, operation, what):
    """A count of an operation, for each time that it was done; "ioctls": all of the driver's."""
    found = row(case, operation)
    if not found or not found["count"]:
        return None
    calls = sum(found["ioctls"].values()) if what == "ioctls" else found[what]
    return calls / found["count"]


def faults(cases):
    """What is wrong with cases that came to their end."""
    for case in cases:
        name = f"{case['stack']}/{case['server']}"
        if case["wrong_pixels"]:
            yield f"{name}: {case['wrong_pixels']} pixels are wrong"
        if case["refused"]:
            yield f"{name}: the server refused {case['refused']} requests, or drew nothing"
        start, most = row(case, "start")["gpu_maps"], peak(case)
        if case["stack"] == "nomap" and case["server"] in GLAMOR and most > start + MORE_MAPS:
            yield f"{name}: {most} mappings of BOs, {start} at its start: more than {MORE_MAPS} more"
        puts = each(case, "put", "mmaps")
        if case["server"] in GLAMOR and case["stack"] == "nomap" and puts > 1 / 20:
            yield f"{name}: {puts:.2f} mmap() for a pixmap that is put"
        if case["server"] in GLAMOR and case["stack"] == "debian" and puts < 1 / 10:
            yield f"{name}: only {puts:.2f} mmap() for a pixmap that is put: are they counted?"
        yield from gl_faults(case, name)
        if case["server"] == "exa-nomap":
            made, done = sum((case["gem_rw"] or {}).values()), row(case, "put")["count"]
            calls = row(case, "put")["ioctls"].get("gem_transfer", 0)
            if case["stack"] == "nomap" and (made < done or calls < done):
                yield (f"{name}: for {done} puts {calls} calls of TRANSFER; our module made {made} copies in all: the DDX does not "
                       "use it")
            for operation in BY_TRANSFER if case["stack"] == "nomap" else ():
                if each(case, operation, "mmaps") > 1 / 20:
                    yield f"{name}: {each(case, operation, 'mmaps'):.2f} mmap() for {SHOWN[operation]}"
            if case["stack"] != "nomap" and (case["gem_rw"] or any("gem_transfer" in r["ioctls"] for r in case["rows"])):
                yield f"{name}: our module ran or was called, where Debian's should"


def gl_faults(case, name):
    """What is wrong with OpenGL's part, if there was one."""
    if not case["gl"]:
        return
    maps = {o: row(case, o)["client"]["gpu_maps"] for o in ("check-switch", *GL_OPERATIONS)}
    most = max(maps.values()) - maps["check-switch"]
    if case["stack"] == "debian":
        buffers = row(case, "buffer")
        if buffers["client"]["mmaps"] < buffers["count"] / 2:
            yield f"{name}: {buffers['client']['mmaps']} mmap() for {buffers['count']} vertex buffers: are they counted?"
    elif most > MORE_GL_MAPS:
        yield f"{name}: the program has up to {most} mappings of BOs more than before, not {MORE_GL_MAPS}"


def table(head, rows):
    """Lines of a table in Markdown, whose first column is text."""
    return ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)] + \
        ["| " + " | ".join(cells) + " |" for cells in rows]


def names_of(case):
    return f"{SERVERS[case['server']]}; {STACKS[case['stack']]}"


def tables(cases):
    """Counts: mappings and memory of each server, calls for each operation."""
    head = ["server", "mappings of BOs at its start", "at the most", "at the end", "`mmap()` in all", "RSS, MiB",
            "page tables, KiB"]
    rows = []
    for case in cases:
        last = case["rows"][-1]
        rows.append([names_of(case), f"{row(case, 'start')['gpu_maps']:,}", f"{peak(case):,}", f"{last['gpu_maps']:,}",
                     f"{sum(r['mmaps'] for r in case['rows']):,}", f"{last['rss_kib'] / 1024:.0f}", f"{last['pte_kib']:,}"])
    lines = table(head, rows)
    for what, title in (("mmaps", "`mmap()`"), ("ioctls", "Ioctls of the driver")):
        lines += ["", f"{title} for each operation:", ""]
        lines += table(["server", *SHOWN.values()],
                       [[names_of(case), *(f"{each(case, o, what) or 0:.2f}" for o in SHOWN)] for case in cases])
    return lines


def gl_tables(cases):
    """Counts of OpenGL's objects: the program's own mappings, and its calls for each operation. [] without such cases."""
    cases = [case for case in cases if case.get("gl")]
    if not cases:
        return []
    lines = ["", f"OpenGL: {cases[0]['gl']:,} textures and as many vertex buffers of the program's own, and textures of "
             f"{row(cases[0], 'composite')['count']:,} pixmaps. Mappings of BOs in the program and in the server, and the program's calls "
             "for each operation:", ""]
    head = ["server", "program: before", "at the end of an operation, at the most", "server: at the most",
            *(f"`mmap()`: {text}" for text in GL_SHOWN.values())]
    rows, ioctls = [], []
    for case in cases:
        made = [row(case, operation) for operation in GL_OPERATIONS]
        before = row(case, "check-switch")["client"]["gpu_maps"]
        rows.append([names_of(case), f"{before:,}", f"{max(r['client']['gpu_maps'] for r in made):,}",
                     f"{max(r['gpu_maps_peak'] for r in made):,}",
                     *(f"{row(case, o)['client']['mmaps'] / row(case, o)['count']:.2f}" for o in GL_SHOWN)])
        ioctls.append([names_of(case), *(f"{sum(row(case, o)['client']['ioctls'].values()) / row(case, o)['count']:.2f}"
                                         for o in GL_SHOWN)])
    return [*lines, *table(head, rows), "", "Ioctls of the driver for each operation, by the program:", "",
            *table(["server", *GL_SHOWN.values()], ioctls)]


def times(cases):
    """Times of operations, in units of Debian's stack on the same server."""
    base = {case["server"]: case for case in cases if case["stack"] == "debian"}
    rows = []
    for case in cases:
        other = base.get(case["server"].removesuffix("-nomap"))
        if case["stack"] == "debian" or not other:
            continue
        rows.append([names_of(case), *(f"{row(case, o)['p50_ns'] / row(other, o)['p50_ns']:.2f}" for o in SHOWN)])
    return ["", "Median times, in units of Debian's stack on the same server:", "", *table(["server", *SHOWN.values()], rows)]


def microseconds(cases):
    """Times of operations as they were measured: median, 95th percentile and the longest."""
    rows = [[names_of(case), *(" / ".join(f"{row(case, o)[p] / 1000:,.0f}" for p in ("p50_ns", "p95_ns", "max_ns")) for o in SHOWN)]
            for case in cases]
    return ["", "Median, 95th percentile and longest time of an operation, µs:", "", *table(["server", *SHOWN.values()], rows)]


def switch_growth(case):
    """The 95th percentile of a switch with all pixmaps, in units of that with few, and of the same repeated: two cells.

    The first is "-" if the repetition differs too much.
    """
    first, again, few = (row(case, name)["p95_ns"] for name in ("switch", "switch-again", "switch-few"))
    varies = again / first
    ratio = f"{(first + again) / 2 / few:.2f}" if abs(varies - 1) <= VARIES else "-"
    return ratio, f"{varies:.2f}"


def growth(runs):
    """Lines of a table of what grows with the number of pixmaps. runs: lists of cases, of one number each."""
    lines = []
    for cases in sorted(runs, key=lambda run: run[0]["pixmaps"]):
        for case in cases:
            few = row(case, "switch-few")["live_pixmaps"]
            lines.append([names_of(case), f"{case['pixmaps']:,}", f"{row(case, 'start')['gpu_maps']:,}", f"{peak(case):,}",
                          f"{sum(r['mmaps'] for r in case['rows']):,}", f"{each(case, 'put', 'mmaps') or 0:.2f}",
                          f"{max(r['rss_kib'] for r in case['rows']) / 1024:,.0f}",
                          f"{max(r['pte_kib'] for r in case['rows']):,}", f"{few:,}", *switch_growth(case)])
    names = list(dict.fromkeys(cells[0] for cells in lines))
    lines.sort(key=lambda cells: names.index(cells[0]))
    return table(["server", "pixmaps", "mappings of BOs at its start", "at the most", "`mmap()` in all", "`mmap()` for a put",
                  "RSS, MiB", "page tables, KiB", "pixmaps left", "switch, of that with those left", "switch, of the same before"],
                 lines)


def published_cases(path):
    """The cases of results; how they were recorded, and why their times are not to be published, if so."""
    try:
        return (load(path)["cases"], *published.recording(path.stem, True))
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"report.py: {path}: {error}")


def times_unless(refused, cases):
    """Lines of the times; without any, and with a message, if there is a reason why they are not to be published."""
    if refused:
        print(f"report.py: the times are not published: {refused}", file=sys.stderr)
        return []
    return [*times(cases), *microseconds(cases)]


def measured(*records):
    """The line that says when and at which commits."""
    commits = sorted({f"{recorded['date'][:10]} at commit {recorded['commit'][:7]}" for recorded in records})
    return f"Measured on {' and on '.join(commits)}."


def counts_part(docs, path):
    """Lines of the counts, and times if they can be published; copies the plot."""
    cases, recorded, refused = published_cases(path)
    shown = {names_of(case) for case in cases}
    # The source of our DDX cannot be had everywhere.
    missing = [f"{stack}/{server}" for stack, server in ALL
               if server != "exa-nomap" and f"{SERVERS[server]}; {STACKS[stack]}" not in shown]
    if missing:
        sys.exit(f"report.py: the document has all stacks and servers, but {path} lacks {', '.join(missing)}")
    text = [f"{cases[0]['pixmaps']:,} pixmaps, {cases[0]['glyphs']:,} glyphs.", "", *tables(cases)]
    shown_times = times_unless(refused, cases)
    if shown_times:
        text += [*shown_times, "", measured(recorded)]
    shutil.copyfile(path.with_suffix(".png"), docs / "desktop-counts.png")
    return [*text, "", "![mappings of BOs, and calls of mmap(), while glyphstorm runs](desktop-counts.png)"]


def growth_part(paths):
    """Lines of the table of growth, times with the most pixmaps if they can be published, and when it was measured."""
    found = [published_cases(path) for path in paths]
    numbers = [cases[0]["pixmaps"] for cases, *_ in found]
    if len(set(numbers)) < 2 or any(cases[0].get("gl") for cases, *_ in found):
        sys.exit("report.py: growth needs results of different numbers of pixmaps, without --gl")
    text = growth([cases for cases, *_ in found])
    most, _, refused = max(found, key=lambda run: run[0][0]["pixmaps"])
    shown_times = times_unless(refused, most)
    if shown_times:
        text += ["", f"With {max(numbers):,} pixmaps:", *shown_times]
    records = [recorded for _, recorded, _ in found if recorded]
    return [*text, *(["", measured(*records)] if records else [])]


def document(docs, part, paths):
    """Puts a part into desktop.md."""
    if part == "growth":
        text = growth_part(paths)
    elif len(paths) != 1:
        sys.exit(f"report.py: {part} are of one file of results")
    elif part == "opengl":
        text = gl_tables(published_cases(paths[0])[0])[1:]
    else:
        text = counts_part(docs, paths[0])
    put_between(docs / "desktop.md", MARKS[part], text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--docs", type=pathlib.Path)
    parser.add_argument("--cases")
    parser.add_argument("--part", choices=list(MARKS), default="counts")
    parser.add_argument("paths", type=pathlib.Path, nargs="+", metavar="DIR")
    args = parser.parse_args()
    if args.docs:
        document(args.docs, args.part, args.paths)
        return 0
    if len(args.paths) > 1:
        parser.error("only --docs takes several files")
    names = (args.cases or "").split(",")
    for name in names:
        stack, _, server = name.partition("/")
        if stack not in STACKS or server not in SERVERS:
            parser.error(f"--cases: '{name}' is no case")
    cases, wrong = read(args.paths[0], names)
    wrong += faults(cases)
    print("\n".join([*tables(cases), *gl_tables(cases)]))
    if args.json:
        write(args.json, {"benchmark": "desktop", "environment": cases[0]["environment"] if cases else None, "cases": cases})
    return verdict(wrong) if args.check else 0


if __name__ == "__main__":
    sys.exit(main())
