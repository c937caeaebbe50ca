# SPDX-License-Identifier: MIT
"""The sentences of our documents that have figures of ours, and where these come from.

CLAIMS: a file, a sentence with {} in the place of each figure, and a function that takes
the published results (document.published()) and returns the figures. A figure has to be
the result, rounded to the digits that the sentence has; {~} may also be rounded to fewer
digits (3,900 for 3,873).

TABLES: tables of other documents that repeat published results.

EXEMPT: sentences whose figures are not results, with the reason.
"""

import importlib.util
import json
import os
import pathlib
import re

from document import TOP, Section, number
from sources import load as sources


def tables_of(text):
    """The tables of a document, as document.Section has them."""
    return Section("", text).tables


# -- results ---------------------------------------------------------------------------

def fill(results, scene):
    """Time of the board in units of llvmpipe's."""
    return results["board-fill"].table("scene").cell(scene, column="board / llvmpipe")


def largest_spread():
    """The largest ratio of two runs of a scene by one renderer."""
    with open(os.path.join(TOP, "docs/results/board-fill.json"), encoding="utf-8") as f:
        return max(row["spread"] for row in json.load(f)["rows"])


def percent(results, title, *operations):
    """Changes in percent of a table of mapstorm: of all rows, or of some operations."""
    table = results["mapstorm"].table(title)
    found = []
    for row in table.rows:
        if not operations or row[0].strip("`") in operations or row[2] in operations:
            found += [number(cell) for cell, head in zip(row, table.head) if not head and cell.endswith("%")]
    return found


SEARCHING = ("anon-map", "mmap1-map", "stack-map", "mremap-move")
NOT_STORING = ("syscall", "fault", "fork-exit", "spawn")


def storing(results):
    """Changes in percent of the operations that store to the tree and do not search."""
    names = [row[0].strip("`") for row in results["mapstorm"].table("`others`").rows]
    return percent(results, "`others`", *(n for n in names if n not in SEARCHING + NOT_STORING))


#: Operations of mapstorm with one store that changes a gap, and with two.
ONE_STORE = ("anon-unmap", "mmap1-unmap", "mprotect-merge", "mremap-grow", "brk-grow", "brk1-grow", "stack-unmap", "stack-grow")
TWO_STORES = ("mprotect-split", "mremap-shrink", "brk-shrink", "brk1-shrink")


def added(results, *operations):
    """Instructions that operations of mapstorm take more with the series, for each number of maps."""
    table = results["mapstorm"].table("`others`")
    rows = [[number(cell) for cell in row[1:]] for row in table.rows if row[0].strip("`") in operations]
    assert len(rows) == len(operations)
    return [row[i + 1] - row[i] for row in rows for i in (0, 3)]


def cheap_and_dear():
    """The 90th percentiles of munmap() among guards of a page, without the series, in two halves: least and largest of each."""
    with open(os.path.join(TOP, "docs/results/mapstorm.json"), encoding="ascii") as f:
        rows = json.load(f)["rows"]
    p90 = sorted(r["instructions"]["before"]["p90"] for r in rows if (r["kind"], r["operation"]) == ("small", "unmap"))
    assert len(p90) == 8
    return (*both(p90[:4]), *both(p90[4:]))


def brk(results, op, heaps=("new", "own", "inherited"), touched=None):
    """Steps of brk: (instructions without, with, ratio, as the last entry of its leaf)."""
    found = []
    for line in results["brk"].text.splitlines():
        words = line.replace(",", "").replace("%", "").split()
        if len(words) > 9 and words[0] == op and words[4] in heaps and words[2] in ("page", "pages") \
                and "samples" not in words and (touched is None or words[3] == touched):
            found.append((int(words[5]), int(words[6]), float(words[7]), int(words[10])))
    return found


def anon_vma(results, heap):
    """Shares of the samples of growing that are in the functions of the anon_vma, in percent."""
    return [int(re.search(r"interval tree +(\d+) %", line).group(1))
            for line in results["brk"].text.splitlines()
            if line.startswith("grow ") and f" {heap} " in line and "samples" in line]


def store_share(results, heap):
    """Shares of the samples of growing that are in the store to the maple tree, in percent."""
    return [int(re.search(r"tree: store +(\d+) %", line).group(1))
            for line in results["brk"].text.splitlines()
            if line.startswith("grow ") and f" {heap} " in line and "samples" in line]


def threads(results, case, native=False):
    """A row of threads: (threads, system, CPU of one in the first, in the last thousand).

    native: the times on the machine's own kernel; else the instructions with the series.
    """
    counts, times = re.split(r"^time .*$", results["threads"].text, maxsplit=1, flags=re.M)
    row = re.compile(re.escape(case) + r" +" + (r"\S+" if native else r"\S+-mm") + r" +(.*)")
    words = row.search(times if native else counts).group(1).replace(",", "").split()
    return int(words[0]), float(words[2]), float(words[-3]), float(words[-2])


def frag(results, title, model, direction):
    """The line of a search in a workload of frag."""
    text = results["frag"].text
    text = text[text.index(title):]
    return next(line for line in text.splitlines() if line.startswith(model) and f" {direction} " in line)


def frag_areas(results, title, model, direction="bottom-up"):
    """Areas that are left."""
    words = frag(results, title, model, direction).split(direction)[1].replace(",", "").split()
    return int(words[3] if words[0] == "fails" else words[1])


def looked(results, model):
    """Areas that a search for a stack looks at, mean."""
    return float(frag(results, "20,000 stacks that stay", model, "bottom-up").split()[-2])


def told(search):
    """Areas that were reported in 2005."""
    return sources()["fragmentation-2005"]["areas"][search]["areas"]


def lost(results):
    """Objects of address-space that are lost, of each run of unmodified Mesa that ended."""
    table = results["address-space"].table("peak, MiB")
    return table.numbers("lost", [r for r in table.rows if r[1] == "unmodified" and r[3]])


def peak(results, mesa):
    """Peaks of the virtual size, MiB."""
    table = results["address-space"].table("peak, MiB")
    return table.numbers("peak, MiB", [r for r in table.rows if r[1] == mesa])


def uploads(results, column):
    """A column of gl-uploads."""
    return results["gl-uploads"].table("case").numbers(column)


def parts(results, mesa):
    """Instructions of gl-instructions, in parts of the unmodified Mesa's, of all cases."""
    return results["gl-instructions"].table("case").numbers(f"{mesa} / unmodified")


def part(results, case, mesa):
    """The same of one case."""
    return results["gl-instructions"].table("case").cell(case, column=f"{mesa} / unmodified")


def atlas_ioctls(results):
    """Ioctls for glyphs of an atlas in gl-maps with both series: a number if the GPU's latency changes nothing."""
    rows = [row for row in results["gl-maps"].table("case").rows if row[0].startswith("glyph-atlas")]
    assert len(rows) == 3, rows
    return {number(row[-1]) for row in rows}


def instructions(results, case, mesa):
    """Instructions of a case of gl-instructions."""
    # The last two columns' names come again.
    return results["gl-instructions"].table("case").cell(case, column=1 + ("unmodified", "A", "patched").index(mesa))


def hidden(results):
    """Transfers of CPU-inaccessible VRAM, in units of a mapping of visible VRAM."""
    table = results["transfer-paths"].table("measured")
    return table.numbers(1, [r for r in table.rows if "vram-hidden" in r[0]])


def alternative(results, variant, base, size, title="Upload to VRAM"):
    """Instructions of a variant in units of another, of one size."""
    table = results["alternatives"].table(title)
    return table.cell(variant, column=size) / table.cell(base, column=size)


def guards(results, layout, n, column):
    """A pair behind guards."""
    return results["mapstorm"].table("`guards`").cell(layout, n, column=column)


def cost(document, what, operation, column):
    """The table of check.sh cost in kernel/mm/README.md."""
    table = next(t for t in tables_of(document) if "address space" in t.head)
    space = ""
    for row in table.rows:
        space = row[0] or space
        if (space, row[1]) == (what, operation):
            return number(row[table.column(column)])
    raise KeyError((what, operation))


def more(document, what, operations, column, base="before"):
    """Instructions that a column of that table has more than another one."""
    return [cost(document, what, o, column) - cost(document, what, o, base) for o in operations]


def both(values):
    """The least and the largest."""
    return min(values), max(values)


HOLES = "a hole of one page before each"
STACKS = "a stack between any two"
FORKS = ("fork-exit",)
SEARCHES = ("search, bottom-up", "search, top-down")


def compiler():
    """What the prototype of a shader compiler has measured."""
    with open(os.path.join(TOP, "bench/shader-compiler/results.json"), encoding="ascii") as f:
        return json.load(f)


def compiler_tables():
    """The module that makes tables of that."""
    spec = importlib.util.spec_from_file_location("measure", os.path.join(TOP, "bench/shader-compiler/measure.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def alu_share():
    """The largest share of ALU clauses in bench-board's scenes, in percent; the least and the largest part of the interpreter's
    instructions that compiled code takes."""
    data = compiler()
    ratios = [row["compiled"] / row["interpreted"] for row in data["shaders"]]
    return (max(100 * row["alu"] / row["draw"] for row in data["scenes"] if not row["scene"].startswith("gallery")), *both(ratios))


def inlined_dot4(*names):
    """By how many percent a wave of each of these shaders, or a draw of a scene, is shorter since the loads of DOT4 are inlined."""
    data = compiler()
    now = {row["shader"]: row["interpreted"] for row in data["shaders"]} | {row["scene"]: row["draw"] for row in data["scenes"]}
    before = data["dot4"]["before"] | data["dot4"]["draw_before"]
    return tuple(100 * (1 - now[name] / before[name]) for name in names)


def lines_of_generations():
    """Lines of the board without tests; percent that are common or R7xx's, R6xx's, Evergreen's and Cayman's by the names of files."""
    names = {"r600": 1, "evergreen": 2, "r800": 2, "cayman": 3, "r900": 3}
    lines = [0, 0, 0, 0]
    for path in (pathlib.Path(TOP) / "emulator/src").rglob("*.rs"):
        parts = [*path.relative_to(TOP).parts[:-1], path.stem]
        if "tests" not in parts:
            lines[next((names[part] for part in reversed(parts) if part in names), 0)] += len(path.read_text(encoding="utf-8").splitlines())
    return (sum(lines), *(100 * n / sum(lines) for n in lines))


def lines_of_series():
    """Lines that series A and series B of Mesa add, without the shim and tests, and those of the kernel's header."""
    lines, series, header = [0, 0], 0, 0
    for patch in sorted((pathlib.Path(TOP) / "mesa-patches/patches").glob("*.patch")):
        file = ""
        for line in patch.read_text(encoding="utf-8").splitlines():
            if line.startswith("+++ "):
                file = line[6:]
                series = 1 if file.endswith("radeon_drm_rw.h") else series
            elif line.startswith("+") and file and "drm-shim/" not in file and "/tests/" not in file:
                lines[series] += 1
                header += file.endswith("radeon_drm_rw.h")
    return (*lines, header)


def constant(file, name):
    """The value of a constant of a source file."""
    text = (pathlib.Path(TOP) / file).read_text(encoding="utf-8")
    return int(re.search(rf"\b{name}(?: =|\t| )\s*(\d+)", text).group(1))


def zero_copy(*paths):
    """Instructions of zero-copy in parts of those of a path of the driver, of the table that driver.md has kept."""
    text = (pathlib.Path(TOP) / "kernel/driver.md").read_text(encoding="utf-8")
    table = next(t for t in tables_of(text) if "taken now" in t.head)
    return [float(part) for row in table.rows if not paths or row[1] in paths
            for part in re.findall(r"\(([\d.]+)\)", " ".join(row))]


def varies():
    """By which part two measurements of the desktop may differ."""
    text = (pathlib.Path(TOP) / "bench/glyphstorm/report.py").read_text(encoding="utf-8")
    return float(re.search(r"^VARIES = ([\d.]+)$", text, re.M).group(1))


JOB = "kernel/drivers/gpu/drm/radeon/radeon_gem_rw_job.c"
SELDOM = "mesa-patches/patches/0020-r600-write-small-tiled-textures-without-the-GPU.patch"


def lines_of_lab():
    """Lines of lab/ by part, as the table in docs/architecture.md has them: the sum first."""
    lines = dict.fromkeys(("all of `lab/`", "shell", "`nomap_lab/`", "`suites/`", "`tests/`", "lists, configurations, C"), 0)
    lab = pathlib.Path(TOP, "lab")
    for path in lab.rglob("*"):
        parts = path.relative_to(lab).parts
        if path.is_symlink() or not path.is_file() or any(p.startswith(".") or p.endswith("_cache__") for p in parts):
            continue
        text = path.read_text(encoding="utf-8")
        head = "\n".join(text.split("\n", 3)[:3])
        part = next((f"`{p}/`" for p in ("nomap_lab", "suites", "tests") if parts[0] == p), "lists, configurations, C")
        for name in ("all of `lab/`", "shell" if re.search(r"^#!.*sh$|shellcheck shell=", head, re.M) else part):
            lines[name] += text.count("\n")
    return lines


def lab_times(what):
    """What one subtest took (nomap_lab.times): runs in turn, each with its elapsed and CPU seconds and the machine's load before it."""
    with open(os.path.join(TOP, "docs/lab-times.json"), encoding="ascii") as f:
        return json.load(f)[what]


# -- sentences -------------------------------------------------------------------------
# (file, sentence, function of the results and of the file's own text)

CLAIMS = (
    ("mesa-patches/README.md", "series A adds {} and series B {},\n{} of them the kernel's header", lambda _r, _t: lines_of_series()),
    ("docs/architecture.md", "Of the {~} lines of `emulator/src` without its files of tests, {} % are in files that serve all generations or R7xx alone; files whose "
     "names or directories say so have {} % for R6xx, {} % for Evergreen and Northern Islands, and {} % for Cayman", lambda _r, _t: lines_of_generations()),
    ("docs/checks.md", "it took {} and {} s, of them {} and {} s of CPU time", lambda _r, _t: [run[key] for key in ("seconds", "cpu") for run in lab_times("unchanged")]),
    ("docs/checks.md", "takes {} s of CPU time: the whole driver is compiled", lambda _r, _t: (lab_times("driver")[0]["cpu"],)),
    ("docs/checks.md", "Later changes compile one file, and take {} s of CPU time", lambda _r, _t: (lab_times("driver")[1]["cpu"],)),
    ("docs/checks.md", "Elapsed, the first change takes {} s and a later one {} s", lambda _r, _t: [run["seconds"] for run in lab_times("driver")]),
    ("docs/checks.md", "{} CPUs with a load of {} to {}", lambda _r, _t: (lab_times("cpus"), *both([run["load"] for w in ("unchanged", "driver") for run in lab_times(w)]))),
    ("emulator/README.md", "ALU clauses are at most {} % of a draw's instructions in the scenes of `make bench-board`, and compiled for four lanes "
     "at a time, all that Cranelift has on x86-64, they take {} to {} times the instructions", lambda _r, _t: alu_share()),
    ("emulator/README.md", "decoding for the interpreter takes {} to {} us", lambda _r, _t: both([row["decode_us"] for row in compiler()["shaders"]])),
    ("bench/shader-compiler/README.md", "Of the instructions of `gallery-phong`'s frame up to that draw these loads took {} %",
     lambda _r, _t: (100 * compiler()["dot4"]["loads"] / compiler()["dot4"]["instructions"],)),
    ("bench/shader-compiler/README.md", "waves of the pixel shader take {} % fewer instructions, those of `noise/1` {} %, of `mandelbrot/1` {} %",
     lambda _r, _t: inlined_dot4("gallery-phong/pixel", "noise/1", "mandelbrot/1")),
    ("bench/shader-compiler/README.md", "those of `functions/0` take {} % more. The draw takes {} % fewer, that of `gallery-noise` {} %",
     lambda _r, _t: (-inlined_dot4("functions/0")[0], *inlined_dot4("gallery-phong", "gallery-noise"))),
    ("emulator/README.md", "a wave of its pixel shader takes {} % fewer instructions, and the draw {} % fewer",
     lambda _r, _t: inlined_dot4("gallery-phong/pixel", "gallery-phong")),
    ("bench/shader-compiler/README.md", "ALU clauses are at most {} % of a draw's instructions, so that infinitely fast ones would save at most that; code for "
     "four lanes at a time, all that Cranelift has on x86-64, needs between {} and {} times the instructions", lambda _r, _t: alu_share()),
    ("README.md", "its 3D engine takes {} times as long as llvmpipe to fill the screen ({} to {} by scene, {} to {} as a TURKS)",
     lambda r, _: (fill(r, "fill"), *both(r["board-fill"].table("scene").numbers("board / llvmpipe")),
                   *both(r["board-fill"].table("scene").numbers("TURKS / llvmpipe")))),
    ("README.md", "{} vertex buffers make {} mappings instead of {}",
     lambda r, _: (10000, r["gl-maps"].table("case").cell("vbo-data", column="patched, 10,000"),
                   r["gl-maps"].table("case").cell("vbo-data", column="unmodified, 10,000"))),
    ("mesa-patches/series-a.md", "With {} vertex buffers of {} bytes a program made {} mappings and {} ioctls. It makes {} mappings and {} ioctls.",
     lambda r, _: (10000, 256, *(r["gl-maps"].table("case").cell("vbo-data", column=c) for c in (
         "unmodified, 10,000", "ioctls, unmodified", "A alone, unmodified kernel, 10,000", "A alone, unmodified kernel")))),

    ("kernel/mm/README.md", "A pair without guards on the way takes up to {} % less, an anonymous `mmap()` {} to {} % less.",
     lambda r, _: (-min(percent(r, "`plain`")), *both([-p for p in percent(r, "`others`", "anon-map")]))),
    ("kernel/mm/README.md", "Calls that store and do not search take {} to {} % more",
     lambda r, _: both(storing(r))),
    ("kernel/mm/README.md", "growing the heap {} to {} %",
     lambda r, _: both(percent(r, "`others`", "brk-grow", "brk1-grow"))),
    ("kernel/mm/README.md", "fork {} to {} %",
     lambda r, _: both(percent(r, "`others`", *FORKS))),
    ("kernel/mm/README.md", "and `munmap()` in leaves full of stacks {} to {} %",
     lambda r, _: both(percent(r, "`among`", "munmap()"))),
    ("kernel/mm/README.md", "takes all guards into account: {} to {} instructions a store.",
     lambda _, text: both(more(text, STACKS, ["unmap", "map"], "now"))),
    ("kernel/mm/README.md", "A search among such stacks cost {~} to {~} before.",
     lambda _, text: both([cost(text, STACKS, f"search, {d}", "before") for d in ("top-down", "bottom-up")])),
    ("kernel/mm/README.md", "A top-down search in a tree without holes costs {} more than before",
     lambda _, text: more(text, "no holes", ["search, top-down"], "now")),
    ("kernel/mm/README.md", "grows in {} instructions. Without the lock, and without taking the VMA out of the"
     " interval tree and putting it back, it grows in {}: {} % less.",
     lambda r, _: (2263, 2134, 100 * (1 - 2134 / 2263))),

    ("kernel/mm/patches/cover-letter", "100 {} {}",
     lambda r, _: (guards(r, "top-down", "100", "before"), guards(r, "top-down", "100", "after"))),
    ("kernel/mm/patches/cover-letter", "1000 {} {}",
     lambda r, _: (guards(r, "top-down", "1,000", "before"), guards(r, "top-down", "1,000", "after"))),
    ("kernel/mm/patches/cover-letter", "10000 {} {}",
     lambda r, _: (guards(r, "top-down", "10,000", "before"), guards(r, "top-down", "10,000", "after"))),
    ("kernel/mm/patches/cover-letter", "Without guards on the way a pair takes up to {} % less, an anonymous mmap() {} to {} % less.",
     lambda r, _: (-min(percent(r, "`plain`")), *both([-p for p in percent(r, "`others`", "anon-map")]))),
    ("kernel/mm/patches/cover-letter", "Calls that store and do not search take {} to {} % more",
     lambda r, _: both(storing(r))),
    ("kernel/mm/patches/cover-letter", "growing the heap {} to {} %",
     lambda r, _: both(percent(r, "`others`", "brk-grow", "brk1-grow"))),
    ("kernel/mm/patches/cover-letter", "fork {} to {} %", lambda r, _: both(percent(r, "`others`", *FORKS))),
    ("kernel/mm/patches/cover-letter", "and munmap() in leaves full of stacks {} to {} %",
     lambda r, _: both(percent(r, "`among`", "munmap()"))),

    ("kernel/mm/bench/brk-storm/reading.md", "a step takes {~} to {~} instructions more.",
     lambda r, _: both([row[3] - row[1] for op in ("grow", "shrink") for row in brk(r, op, ("new", "own"))])),
    ("kernel/mm/bench/brk-storm/reading.md", "With the series a growing step takes {} to {} instructions more and a shrinking one {} to {}.",
     lambda r, _: (*both([row[1] - row[0] for row in brk(r, "grow")]), *both([row[1] - row[0] for row in brk(r, "shrink")]))),
    ("kernel/mm/bench/brk-storm/reading.md", "at most {} % of the samples are in the functions that take the anon_vma's lock",
     lambda r, _: both(anon_vma(r, "own"))[1:]),
    ("kernel/mm/bench/brk-storm/reading.md", "{} to {} % in the store to the maple tree",
     lambda r, _: both(store_share(r, "own"))),
    ("kernel/mm/bench/brk-storm/reading.md", "{} jobs a minute became {} on {} cores; {} % more were done with newer"
     " processors and a newer kernel; {} % more on a third machine",
     lambda r, _: [sources()["brk-2009"][k] for k in ("jobs_per_minute_contended", "jobs_per_minute", "cpus",
                                                       "better_percent", "best_percent")]),
    ("kernel/mm/bench/README.md", "In 2009 AIM7 on {} cores did either {} or {} jobs a minute",
     lambda r, _: [sources()["brk-2009"][k] for k in ("cpus", "jobs_per_minute_contended", "jobs_per_minute")]),

    ("kernel/mm/bench/threads/reading.md", "a stack that grows costs {} to {} times as much as one of the same size without",
     lambda r, _: both([threads(r, "all live, the same with MAP_GROWSDOWN")[i] /
                        threads(r, "all live, 64 KiB mapped by the program")[i] for i in (1, 2, 3)])),
    ("kernel/mm/bench/threads/reading.md", "on the machine's own kernel {} threads take {} s of system time, against {} s for the same",
     lambda r, _: (threads(r, "all live, the same with MAP_GROWSDOWN", native=True)[0],
                   threads(r, "all live, the same with MAP_GROWSDOWN", native=True)[1],
                   threads(r, "all live, 64 KiB mapped by the program", native=True)[1])),
    ("kernel/mm/bench/threads/reading.md", "{} s of system time for {} threads with first fit, {} s with the free-area cache and {} s with the cached hole size",
     lambda r, _: [sources()["fragmentation-2005"][k] for k in ("system_s_first_fit", "threads", "system_s_cache", "system_s_patch")]),
    ("kernel/mm/tests/frag/reading.md", "The report has {} and {}, we have {} and {}: both differ by {}",
     lambda r, _: (told("first-fit"), told("hole"), frag_areas(r, "The long run of 2005, in", "first fit"),
                   frag_areas(r, "The long run of 2005, in", "cached hole size (patch"),
                   told("first-fit") - frag_areas(r, "The long run of 2005, in", "first fit"))),
    ("kernel/mm/tests/frag/reading.md", "times for {} threads, {} s, {} s and {} s, are those",
     lambda r, _: [sources()["fragmentation-2005"][k] for k in ("threads", "system_s_first_fit", "system_s_cache", "system_s_patch")]),
    ("kernel/mm/tests/frag/reading.md", "{} with first fit, {} with the cache and {} with the cached hole size",
     lambda r, _: [looked(r, m) for m in ("first fit", "free-area cache", "cached hole size (patch")]),
    ("bench/live-bos/reading.md", "a profile: {} % of the samples in `find_vma()`, and {} % in SELinux, which each new object"
     " asked for its label: {} % in `mls_compute_sid()` and {} % in `sidtab_search_context()`",
     lambda r, _: [(s := sources()["profile-2010"])["find_vma_percent"], s["mls_percent"] + s["sidtab_percent"], s["mls_percent"],
                   s["sidtab_percent"]]),
    ("kernel/mm/README.md", "their 90th percentile is {} to {} instructions in four of the eight rows before, and {} to {} in"
     " the other four",
     lambda r, _: cheap_and_dear()),
    ("kernel/mm/README.md", "a call with one store that changes a gap takes {} to {} instructions more, one with two (a split; a"
     " VMA that is shortened and cut off) {} to {}, at 100 mappings as at 10,000. What replaces an entry by another one takes {}.",
     lambda r, _: (*both(added(r, *ONE_STORE)), *both(added(r, *TWO_STORES)), *set(added(r, "map-over")))),
    ("kernel/mm/README.md", "The percentiles after the series jump, from {} to {}, because",
     lambda r, _: both([number(row[i]) for row in small(r) for i in (2, 4) if row[0].endswith("0,000")])),
    ("kernel/mm/tests/frag/reading.md", "(specweb with SSL) {} to {} % faster",
     lambda r, _: [sources()["fragmentation-2005"][k] for k in ("specweb_percent_min", "specweb_percent_max")]),

    ("bench/transfer-paths/reading.md", "{~} for 64 KiB ({} of mapping, copying and unmapping)",
     lambda r, _: (11800, float(re.search(r"\((.*)\)", r["transfer-paths"].table("256 B").row("read, GTT, write-combined")[3]).group(1)))),
    ("bench/alternatives/reading.md", "4 KiB into VRAM by a BO of the caller's memory take {} times the instructions of PWRITE, by a window"
     " that is kept {} times",
     lambda r, _: (alternative(r, "userptr", "pwrite", "4 KiB"), alternative(r, "userptr-window", "pwrite", "4 KiB"))),
    ("bench/alternatives/reading.md", "a window that does not wait takes {} times PWRITE's time for 4 KiB into idle VRAM, and {} times for 64 KiB",
     lambda r, _: [alternative(r, "gtt-window-nowait", "pwrite", size) for size in ("4 KiB, µs", "64 KiB, µs")]),
    ("bench/alternatives/reading.md", "16 MiB into idle VRAM take {} of PWRITE's time by `userptr-kept`, and {} by `gtt-window-nowait`;"
     " 16 MiB from VRAM take {} of PREAD's by a window in GTT",
     lambda r, _: [alternative(r, variant, "pwrite", "16 MiB, µs") for variant in ("userptr-kept", "gtt-window-nowait")]
     + [alternative(r, "gtt-window", "pread", "16 MiB, µs", "Download from VRAM")]),
    ("bench/alternatives/reading.md", "256 B into each of {} BOs by one submission, with {} relocations, take {} times the instructions"
     " of one TRANSFER; with a BO of user memory for each it is {} times",
     lambda r, _: (1000, r["alternatives"].table("Events").cell("1,000 uploads of 256 B", "userptr", column="relocations"),
                   *(alternative(r, v, "transfer", "VRAM", "Upload of 256 B") for v in ("userptr", "userptr-each")))),
    ("bench/alternatives/reading.md", "an upload of 16 MiB takes {} of PWRITE's instructions, and one of 1 MiB {};"
     " at 64 KiB it takes {} times as many",
     lambda r, _: [alternative(r, "userptr-kept", "pwrite", size) for size in ("16 MiB", "1 MiB", "64 KiB")]),
    ("bench/alternatives/reading.md", "A window in GTT takes {} of PREAD's instructions for 1 MiB of VRAM",
     lambda r, _: (alternative(r, "gtt-window", "pread", "1 MiB", "Download from VRAM"),)),
    ("bench/alternatives/reading.md", "A window takes {} of PWRITE's instructions at 1 MiB and {} at 16 MiB",
     lambda r, _: [alternative(r, "userptr-window", "pwrite", size) for size in ("1 MiB", "16 MiB")]),
    ("bench/alternatives/reading.md", "a write to VRAM through one takes {} of PWRITE's instructions at 1 MiB and {} at 16 MiB",
     lambda r, _: [alternative(r, "kept", "pwrite", size) for size in ("1 MiB", "16 MiB")]),

    ("bench/board-fill/reading.md", "The goals for `fill` are {} ms, and twice llvmpipe's time; the times are {} ms and {} times",
     lambda r, _: (8, r["board-fill"].table("scene").cell("fill", column="board, ms"), fill(r, "fill"))),
    ("bench/board-fill/reading.md", "the slowest of them, `fill-depth` and `triangles`, with {}. ",
     lambda r, _: (max(r["board-fill"].table("scene").numbers("board / llvmpipe")),)),
    ("bench/board-fill/reading.md", "column `spread` of `board-fill.json`, up to {}.", lambda _, data: (largest_spread(),)),
    ("bench/board-fill/reading.md", "As a TURKS the board takes {} to {} times llvmpipe's time",
     lambda r, _: both(r["board-fill"].table("scene").numbers("TURKS / llvmpipe"))),
    ("bench/board-fill/reading.md", "On one CPU the ratios are {} to {}.",
     lambda r, _: both(r["board-fill"].table("scene").numbers("board / llvmpipe, 1 CPU"))),
    ("bench/desktop-shares/reading.md", "{} % of the time of `glxgears` goes to traps: {} a frame",
     lambda r, _: (r["desktop-shares"].table("traps").cell("glxgears (frame)", column="traps"),
                   r["desktop-shares"].table("traps").cell("glxgears (frame)", column="traps of one"))),
    ("bench/desktop-shares/reading.md", "an image of 10x10 takes {} of the time, one of 100x100 {};",
     lambda r, _: [r["desktop-shares"].table("our-mesa: time of that").cell(f"putimage{n} (image)", column="our-mesa: time of that") for n in (10, 100)]),
    ("bench/desktop-shares/reading.md", "text by {} to {} %",
     lambda r, _: both([100 * (r["desktop-shares"].table("our-mesa: time of that").cell(f"{test} (char)", column=f"{stack}: time of that") - 1)
                        for test in ("aa10text", "rgb10text") for stack in ("our-mesa", "nomap")])),

    ("README.md", "and {} glyphs of an atlas {} ioctls instead of {}",
     lambda r, _: (10000, *(r["gl-maps"].table("case").cell("glyph-atlas", column=c) for c in (-1, -3)))),
    ("mesa-patches/series-a.md", "A glyph takes {} of the instructions, in Mesa and in the kernel.",
     lambda r, _: (part(r, "glyph-atlas", "A"),)),
    ("mesa-patches/tests/reading.md", "{} glyphs in an atlas need {} ioctls",
     lambda r, _: (10000, *atlas_ioctls(r))),
    ("mesa-patches/README.md", "with both series no row takes more than {} times as long as with the unmodified Mesa, with A alone none more"
     " than {} times",
     lambda r, _: (max(uploads(r, "patched / unmodified")), max(uploads(r, "A alone / unmodified")))),
    ("mesa-patches/README.md", "they take {} to {} of the unmodified Mesa's instructions, with both series on ours {} to {}. No row is above {}.",
     lambda r, _: (*both(parts(r, "A")), *both(parts(r, "patched")), 1.03)),
    ("mesa-patches/README.md", "which `big-many`, `stream`, `vbo-part-busy`, `big-part-busy`, `big-map-part`, `read-own` and `big-read`"
     " miss ({}, {}, {}, {}, {}, {} and {}), and with both {} for buffers and glyphs",
     lambda r, _: (*(part(r, case, "A") for case in
                     ("big-many", "stream", "vbo-part-busy", "big-part-busy", "big-map-part", "read-own", "big-read")), 0.5)),
    ("mesa-patches/README.md",
     "`glyph-atlas` ({}), `vbo-many` ({}), `big-map-part` ({}), `glyph-own` ({}) and `vbo-idle` ({}); `big-many` takes {}, `vbo-busy` {},"
     " `vbo-part-busy` {} and `big-part-busy` {}.",
     lambda r, _: tuple(part(r, case, "patched") for case in
                        ("glyph-atlas", "vbo-many", "big-map-part", "glyph-own", "vbo-idle", "big-many", "vbo-busy", "vbo-part-busy",
                         "big-part-busy"))),
    ("mesa-patches/README.md", "a read of a buffer of {} KiB in VRAM takes {}, one of a small texture {}, a first write to a part of such a buffer {},"
     " a new one that is filled {}. A write to a part of one that is busy takes {}:",
     lambda r, _: (64, *(instructions(r, case, "patched") / instructions(r, case, "A") for case in
                         ("big-read", "read-own", "big-map-part", "big-many", "big-part-busy")))),
    ("mesa-patches/README.md", "The draw after each of their uploads is {} and {} of what `vbo-busy` and `vbo-part-busy` take with the unmodified Mesa; without it"
     " `vbo-busy` takes {} of it.",
     lambda r, _: (instructions(r, "draw", "patched") / instructions(r, "vbo-busy", "unmodified"),
                   instructions(r, "draw", "patched") / instructions(r, "vbo-part-busy", "unmodified"),
                   (instructions(r, "vbo-busy", "patched") - instructions(r, "draw", "patched")) /
                   (instructions(r, "vbo-busy", "unmodified") - instructions(r, "draw", "unmodified")))),
    ("mesa-patches/README.md", "(`read-own`: {} with A, {} with both)",
     lambda r, _: (part(r, "read-own", "A"), part(r, "read-own", "patched"))),
    ("mesa-patches/README.md", "widget factory makes {} mappings in place of {} and {} ioctls in place of {}, with series A alone",
     lambda r, _: tuple(r["traces"].table("program").cell("gtk4-widget-factory", column=f"{what}, {mesa}")
                        for what in ("mappings", "ioctls") for mesa in ("A alone", "unmodified"))),
    ("mesa-patches/README.md", "the frames take {} to {} of the time",
     lambda r, _: both(r["traces"].table("program").numbers("time of that, A alone"))),
    ("mesa-patches/series-a.md", "In Mesa and in the kernel this takes {} of the instructions", lambda r, _: (part(r, "vbo-many", "A"),)),
    ("mesa-patches/README.md", "virtual size peaks at {} MiB and nothing is lost",
     lambda r, _: (max(*peak(r, "patched"), *peak(r, "A alone")),)),
    ("mesa-patches/README.md", "With Debian's Mesa it peaks at {} MiB, and {} to {} of {} objects are lost",
     lambda r, _: (max(peak(r, "unmodified")), *both(lost(r)), r["address-space"].table("peak, MiB").numbers("objects")[0])),
    ("kernel/driver.md", "first polls without a pause for {} ms. Then it naps, at first for {} ms, later for a quarter of the"
     " time that it has slept, {} ms",
     lambda r, _: (constant(JOB, "RADEON_GEM_RW_SPIN_US") / 1000, constant(JOB, "RADEON_GEM_RW_NAP_US") / 1000,
                   constant(JOB, "RADEON_GEM_RW_NAPS_US") / 1000)),
    ("kernel/driver.md", "its creation does once, for the first move, at {} us.",
     lambda r, text: (float(next(t for t in tables_of(text) if "unmapping" in t.head).row("100")[3].split()[0]),)),
    ("docs/desktop.md", "has more than {} mappings more than at its start, or maps",
     lambda r, _: (constant("bench/glyphstorm/report.py", "MORE_MAPS"),)),
    ("docs/desktop.md", "must not have more than {} mappings more after the switches",
     lambda r, _: (constant("bench/glyphstorm/report.py", "MORE_MAPS"),)),
    ("docs/desktop.md", "where those two differ by more than {} %", lambda r, _: (100 * varies(),)),
    ("mesa-patches/README.md", "the winsys keeps {} mappings of their slabs",
     lambda r, _: (constant(SELDOM, "MAX_IDLE_SELDOM_MAPS"),)),
    ("mesa-patches/README.md", "At most {} mappings are made, whatever",
     lambda r, _: (constant("mesa-patches/tests/run", "MOST_MAPS"),)),
    ("mesa-patches/README.md", "no case makes more than {} mappings",
     lambda r, _: (constant("mesa-patches/tests/board_check.py", "MOST_MAPS"),)),
    ("kernel/upstream/cover.txt", "Against the paths here that took {} to {} of the instructions", lambda r, _: both(zero_copy())),
    ("kernel/driver.md", "What is left are {} to {} of the instructions", lambda r, _: both(zero_copy("staged"))),
    ("kernel/driver.md", "A small BO costs {} us more",
     lambda r, text: (next(t for t in tables_of(text) if "create + close" in t.head).cell("by the CPU", column="4 KiB") -
                      next(t for t in tables_of(text) if "create + close" in t.head).cell("not cleared", column="4 KiB"),)),
    ("kernel/driver.md", "and {} to {} % do not justify the other way",
     lambda r, text: both([float(re.search(r"([\d.]+) %", cell).group(1)) for t in tables_of(text) if "offset" in t.head
                           for row in t.rows for cell, head in zip(row, t.head) if head == "offset"])),
)

# -- tables ----------------------------------------------------------------------------
# (file, a column's head by which the table is known, function of the results that yields
# the expected cells of its rows as text, from the first)


def small(results):
    """Rows of guards of one page: N, and before and after of both searches."""
    table = results["mapstorm"].table("`small`")
    for n in ("100", "1,000", "10,000", "30,000"):
        yield [n] + [table.row(layout, n)[table.column(when)] for layout in ("top-down", "bottom-up")
                     for when in ("before", "after")]


def pairs(results):
    """Rows of guards of 1 MiB: the same."""
    table = results["mapstorm"].table("`guards`")
    for n in ("100", "1,000", "10,000", "30,000"):
        yield [n] + [table.row(layout, n)[table.column(when)] for layout in ("top-down", "bottom-up")
                     for when in ("before", "after")]


def said_twice(_results):
    """Rows of what frames say twice: the data of the board's test."""
    path = os.path.join(TOP, "emulator/tests/captures/redundant")
    with open(path, encoding="ascii") as f:
        rows = [line.split() for line in f if not line.startswith("#")]
    for name, *counts in rows:
        chip, scene = name.split("-")
        yield [f"{chip.upper()}, {scene}"] + [f"{int(count):,}" for count in counts]


TABLES = (
    ("docs/r600-findings.md", "clearing and reading back included", said_twice),
    ("emulator/README.md", "decoding for the interpreter takes", lambda _: compiler_tables().scenes(compiler())),
    ("bench/shader-compiler/README.md", "What `triangles` spends in shaders", lambda _: compiler_tables().shaders(compiler())),
    ("kernel/mm/README.md", "Guards of one page", small),
    ("kernel/mm/README.md", "mappings behind N such guard mappings", pairs),
)

# -- figures that are not results --------------------------------------------------------
# (file, a part of the sentence, why)

EXEMPT = (
    ("README.md", "the limit of 65,530 mappings", "vm.max_map_count's default: a constant"),
    ("README.md", "4,080 MB of virtual size", "what Mesa-3D 284 reports"),
    ("bench/bus/reading.md", "Each takes 1 ns of this guest's clock", "what counting instructions means"),
    ("bench/bus/reading.md", "A load costs 1,000 ns", "an option of the run, and an assumption: the text says so"),
    ("bench/bus/reading.md", "11 ns are what 64", "computed in the sentence"),
    ("bench/bus/reading.md", "with 20 us the two sizes", "computed in the sentence from the crossings below the table"),
    ("bench/bus/reading.md", "64 KiB take 8 us at that rate", "computed from the rate in the text"),
    ("kernel/mm/README.md", "costs all leaves without stacks 71 to", "a variant that was not kept; check.sh cost counted it"),
    ("kernel/mm/README.md", "With the guards in a function of its own it costs 205", "a variant that was not kept"),
    ("kernel/mm/README.md", "2,092 instructions", "the prototypes of tried/6.12, measured by hand: the text says how"),
    ("kernel/mm/README.md", "It always saves 4,660 instructions", "the prototypes of tried/6.12"),
    ("kernel/mm/README.md", "for 37,000 instructions instead of about 7,000", "the prototypes of tried/6.12"),
    ("kernel/mm/README.md", "gets 3 % cheaper", "the prototypes of tried/6.12: their table has it"),
    ("kernel/mm/README.md", "8,637 instructions instead of 2,263", "measured with the prototypes of tried/6.12"),
    ("kernel/mm/README.md", "13,158 instead", "measured with the prototypes of tried/6.12"),
    ("kernel/mm/README.md", "5,000 mappings", "make mm-debug prints what it has done"),
    ("kernel/mm/bench/README.md", "512 mappings", "how many mappings a test looks at"),
    ("bench/live-bos/reading.md", "the work-around of 2011, maps each buffer", "a year"),
    ("bench/transfer-paths/reading.md", "took as long (2.9 and 2.8 ms", "a comparison with the driver before, by hand, named as such"),
    ("kernel/mm/bench/README.md", "repeat within 1 %", "what the counting is good for, not a result"),
    ("kernel/mm/bench/README.md", "no row has more than 3 %", "a bound that report.py asserts"),
    ("kernel/mm/bench/README.md", "`munmap()` in `among` no more than 20 %", "a bound that report.py asserts"),
    ("kernel/mm/bench/brk-storm/reading.md", "129 instructions less", "the prototypes of tried/6.12, as kernel/mm/README.md says"),
    ("kernel/mm/bench/mapstorm/reading.md", "pairs take 0.91 to 0.95", "eight pairs of boots by hand: the text says how"),
    ("bench/transfer-paths/reading.md", "3,900 for 4 KiB", "counts of the same run that only its JSON has, which was not kept"),
    ("bench/transfer-paths/reading.md", "With the bounce buffer it was", "the driver before, counted in turn with it"),
    ("bench/transfer-paths/reading.md", "6,750 instructions", "a boot with --no-hypervisor, by hand: the text says how"),
    ("bench/transfer-paths/reading.md", "1 MiB took 0.2 of a mapping", "two other runs, named as such, to show how they differ"),
    ("bench/transfer-paths/reading.md", "takes 192 us", "times of the same run that only its JSON has, which was not kept"),
    ("bench/transfer-paths/reading.md", "takes 11,700 instructions", "counts that only the run's JSON has"),
    ("bench/transfer-paths/reading.md", "costs 2,530 instructions more", "the case `steps` of the counting boot"),
    ("bench/board-fill/reading.md", "at least 40 ms", "how it is measured"),
    ("bench/gl-uploads/reading.md", "1 ms late", "how it is measured"),
    ("mesa-patches/tests/reading.md", "20 ms", "how it is measured"),
    ("mesa-patches/series-a.md", "more than 16 mappings", "the bound that mesa-patches/tests/run asserts"),
    ("mesa-patches/tests/reading.md", "for 100 glyphs", "claims_test.py compares the range in a test of its own"),
    ("kernel/driver.md", "Each nap costs thousands", "a variant that was not kept"),
    ("kernel/driver.md", "equal naps of 0.1 ms", "the same"),
    ("kernel/driver.md", "335 pin and unpin it", "zero-copy, which has left the driver: no results are kept"),
    ("kernel/driver.md", "Of the GPU's time 60 us", "a part of the times of the table above it, measured by hand and named as the board's"),
    ("bench/README.md", "at most 4 mappings for `pwrite`", "a bound that bench/live-bos/check.py asserts"),
    ("bench/README.md", "a loop of 2,000,000 instructions", "how the clock is tested"),
    ("bench/README.md", "160,000 instructions instead of 36,000", "counted by hand: no results are kept"),
    ("bench/README.md", "8,192 mappings", "a bound that bench/libdrm-maps/check.py asserts"),
    ("emulator/README.md", "trapped, it took 250 us", "times of the board before and after that change, by hand: they depend on the machine"),
    ("emulator/README.md", "now it takes about 15 us", "the same"),
    ("emulator/README.md", "each costs some 50 us", "times of the board by hand, on which only the options in the next sentence depend"),
    ("docs/architecture.md", "gives a ring 100 ms to answer", "RADEON_MAX_USEC_TIMEOUT of the kernel"),
    ("docs/glmark2.md", "by 30 ms more in each frame", "a change of the test by hand, to see it fail"),
    ("mesa-patches/README.md", "20 and 500 ms late", "latencies that mesa-patches/tests/run sets"),
    ("mesa-patches/README.md", "65,530 mappings are possible", "vm.max_map_count's default, which mesa-patches/tests/run sets"),
    ("mesa-patches/series-b.md", "3 ioctls each", "the three calls that the sentence names"),
    ("libdrm/README.md", "8,192 mappings", "a bound that bench/libdrm-maps/check.py asserts"),
    ("libdrm/README.md", "8,191 mappings", "an eighth of vm.max_map_count, which bench/libdrm-maps/check.py asserts"),
)
