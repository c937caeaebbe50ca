# SPDX-License-Identifier: MIT
"""Mutations of Mesa's r600: lab/mutations --mesa.

Each line of mesa-patches/mutations/table.toml changes the scheduler or the assembler of shaders. A Mesa with that
change runs cases of mesa-patches/tests/gl-scheduler.c on emulated chips in the program's own process, with
R7XX_CHECK=1, which reports what hardware would not forgive; results are compared with those of the unmodified Mesa,
and those with llvmpipe's.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from nomap_lab import graph, procs
from nomap_lab.paths import BUILD, CACHE, TOP, LabError, UsageError, say, shown

OUT = BUILD / "mutations/mesa"
#: Files of the table are below this directory of Mesa's source.
DRIVER = Path("src/gallium/drivers/r600")
TABLE = TOP / "mesa-patches/mutations/table.toml"
SHOWN = TOP / "mesa-patches/mutations/shown.json"
TESTS = TOP / "mesa-patches/tests"
HEADING = "## Mutations of Mesa's scheduler"
#: Seconds that the program may take.
LIMIT = 120
#: Words of "expected" besides parts of a report.
WRONG, NOTHING = "wrong", "nothing"
REPORT = re.compile(r"r7xx-shim: draw \d+: (.*)")
Mutation = dict[str, Any]


@dataclass
class Result:
    """What a run of the program has shown."""

    #: Rules that shaders break, as the check tells them.
    reports: list[str] = field(default_factory=list)
    #: What the program has printed.
    lines: list[str] = field(default_factory=list)
    #: Why it did not end well, or nothing.
    fault: str = ""


def load(program: ModuleType) -> dict[str, Any]:
    """The table; `program` is igt-tests/mutations/mutations.py."""
    table: dict[str, Any] = program.load(TABLE)
    return table


def edited(program: ModuleType, mutation: Mutation, source: Path) -> dict[Path, str]:
    """The text of each file that the mutation changes, of a Mesa in `source`."""
    texts: dict[Path, str] = program.replaced(mutation, lambda edit: source / DRIVER / edit["file"])
    return texts


def run(cases: list[str], lib: Path | None, chip: str) -> Result:
    """Runs the program with the Mesa of a prefix's `lib` on an emulated chip; without both, Debian's by llvmpipe."""
    env = {"MESA_SHADER_CACHE_DISABLE": "true"}
    if lib:
        env |= {"LD_LIBRARY_PATH": str(lib), "LIBGL_DRIVERS_PATH": str(lib / "dri"), "GBM_BACKENDS_PATH": str(lib / "gbm"),
                "LD_PRELOAD": str(BUILD / "board/libr7xx_shim.so"), "R7XX_CHIP": chip, "R7XX_CHECK": "1",
                "MESA_LOADER_DRIVER_OVERRIDE": "r600"}
    else:
        env |= {"LIBGL_ALWAYS_SOFTWARE": "1", "GALLIUM_DRIVER": "llvmpipe"}
    words = [*procs.WITH_PARENT, "env", *(f"{name}={value}" for name, value in env.items()), str(OUT / "gl-scheduler"), *cases]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
                              timeout=LIMIT, cwd=TOP)
    except subprocess.TimeoutExpired:
        return Result(fault=f"it did not end within {LIMIT} s")
    reports = list(dict.fromkeys(match[1] for line in done.stderr.splitlines() if (match := REPORT.match(line))))
    said = [line for line in done.stderr.splitlines() if not REPORT.match(line)]
    fault = f"status {done.returncode}: {' '.join(said[-1:])}" if done.returncode else ""
    return Result(reports, done.stdout.splitlines(), fault)


def difference(found: Result, right: Result) -> str:
    """The first line that is not as it has to be, or nothing."""
    if found.fault:
        return found.fault
    for line, wanted in zip(found.lines, right.lines, strict=False):
        if line != wanted:
            return f"{line}, should be {wanted.split(': ', 2)[-1]}"
    return "" if len(found.lines) == len(right.lines) else f"{len(found.lines)} lines, should be {len(right.lines)}"


def outcome(found: Result, right: Result) -> list[str]:
    """What a mutation has shown: reports, without stage, address and place; and "wrong: ..."."""
    rules = [re.sub(r"^.* at 0x[0-9a-f]+: | at dword \d+", "", report) for report in found.reports]
    wrong = difference(found, right)
    return [*dict.fromkeys(rules), *([f"{WRONG}: {wrong}"] if wrong else [])]


def judge(expected: str, seen: list[str]) -> str:
    """What is not as the table says, or nothing."""
    if expected == NOTHING:
        return f"is noticed: {seen[0]}" if seen else ""
    return "" if any(expected in line for line in seen) else f"shows no '{expected}'"


def as_builder(cmd: procs.Words, what: str) -> None:
    """Runs a step of the build; its output is shown if it fails."""
    log = OUT / "build.log"
    log.unlink(missing_ok=True)
    try:
        procs.as_builder(OUT, ["env", f"CCACHE_DIR={CACHE}/ccache", "sh", "-c", 'log=$1; shift; "$@" >"$log" 2>&1', "sh", log,
                               *cmd])
    except LabError as error:
        faults = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if "error:" in line]
        last = faults[:5] or procs.last_lines(log).splitlines()
        raise LabError("\n".join([f"{what} does not build:", *last, f"(log: {shown(log)})"]), status=2) from error


def prepare() -> Path:
    """Builds the unmodified Mesa, in a copy of its own, and the program. Returns the tree's source."""
    OUT.mkdir(parents=True, exist_ok=True)
    work = OUT / "work/unmodified"
    # A run that was stopped may have left a change: without this file the build compares all files.
    (work / ".applied").unlink(missing_ok=True)
    say("mutations: the unmodified Mesa")
    as_builder([TOP / "mesa-patches/build", "build/mesa-source", OUT, "unmodified"], "the unmodified Mesa")
    procs.call(["gcc", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-rdynamic", f"-I{TESTS}", "-o", OUT / "gl-scheduler",
                TESTS / "gl-scheduler.c", TESTS / "gltest.c", "-lEGL", "-lgbm", "-ldl", "-lm", "-pthread"])
    shutil.rmtree(OUT / "mutated", ignore_errors=True)
    procs.call(["cp", "-a", OUT / "unmodified", OUT / "mutated"])
    return work / "src"


def build(program: ModuleType, mutation: Mutation, source: Path) -> None:
    """Makes OUT/mutated the Mesa with this change. The tree is as it was afterwards."""
    texts = edited(program, mutation, source)
    before = {path: path.read_text(encoding="utf-8") for path in texts}
    tree = OUT / "work/unmodified/build"
    (library,) = tree.glob("src/gallium/targets/dri/libgallium-*.so")
    try:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        as_builder(["ninja", "-C", tree, library.relative_to(tree)], mutation["name"])
        shutil.copy(library, OUT / "mutated/lib" / library.name)
    finally:
        for path, text in before.items():
            path.write_text(text, encoding="utf-8")


class Baselines:
    """What the unmodified Mesa prints, by chip and case."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], Result] = {}

    def of(self, chip: str, cases: str) -> Result:
        """Raises LabError if a rule is broken, or a result is not llvmpipe's."""
        if (chip, cases) not in self.known:
            words = cases.split()
            found, right = run(words, OUT / "unmodified/lib", chip), run(words, None, "")
            wrong = difference(found, right)
            if found.reports or wrong:
                raise LabError(f"mutations: {cases} on {chip} with the unmodified Mesa: {(found.reports or [wrong])[0]}")
            self.known[chip, cases] = found
        return self.known[chip, cases]


def chosen(table: dict[str, Any], names: list[str], chip: str) -> list[Mutation]:
    """The mutations of these names, or all, that have something expected on `chip`."""
    known = {mutation["name"]: mutation for mutation in table["mutation"]}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no mutation '{name}' of Mesa: lab/mutations --mesa --list names them")
        if chip and chip not in known[name]["expected"]:
            raise UsageError(f"'{name}' is of {', '.join(known[name]['expected'])}, not of {chip}")
    return [known[name] for name in names or known if not chip or chip in known[name]["expected"]]


def show(program: ModuleType, names: list[str], chip: str) -> list[str]:
    """Runs mutations, on `chip` or on all that the table has; keeps what they show. Returns what is not as it has to be."""
    mutations = chosen(load(program), names, chip)
    graph.ensure("board", "mesa-source")
    source = prepare()
    for mutation in mutations:
        edited(program, mutation, source)
    baselines, bad = Baselines(), []
    found: dict[str, dict[str, list[str]]] = json.loads(SHOWN.read_text(encoding="utf-8")) if SHOWN.exists() else {}
    for n, mutation in enumerate(mutations, 1):
        name, cases = mutation["name"], mutation["case"]
        say(f"mutations: {name} ({n} of {len(mutations)})")
        expected = {on: what for on, what in mutation["expected"].items() if not chip or on == chip}
        right = {on: baselines.of(on, cases) for on in expected}
        build(program, mutation, source)
        for on, what in expected.items():
            seen = outcome(run(cases.split(), OUT / "mutated/lib", on), right[on])
            found.setdefault(name, {})[on] = seen
            print("\n".join(f"{on}: {line}" for line in seen or [NOTHING]), flush=True)
            if wrong := judge(what, seen):
                bad.append(f"{name} on {on} {wrong}")
    keep = {mutation["name"]: {on: found[mutation["name"]][on] for on in mutation["expected"] if on in found[mutation["name"]]}
            for mutation in load(program)["mutation"] if mutation["name"] in found}
    SHOWN.write_text(json.dumps(keep, indent=1) + "\n", encoding="utf-8")
    return bad


def cell(program: ModuleType, expected: str | None, seen: list[str] | None) -> str:
    """What a mutation shows on a chip, in a cell of a table."""
    if expected is None:
        return ""
    if seen is None:
        return "not run yet"
    if expected == NOTHING or not seen:
        return NOTHING
    text: str = program.cell(next((line for line in seen if expected in line), seen[0]))
    return text


def document(program: ModuleType) -> str:
    """The part of docs/mutations.md about Mesa."""
    table = load(program)
    found = json.loads(SHOWN.read_text(encoding="utf-8")) if SHOWN.exists() else {}
    chips = list(dict.fromkeys(chip for mutation in table["mutation"] for chip in mutation["expected"]))
    lines = [
        HEADING,
        "",
        "Each line is a small change of Mesa's r600, by which shaders break a rule of hardware or compute something else, and what",
        "shows that: a report of `R7XX_CHECK=1` (`emulator/src/chip/gfx/shader/validate`), or a result that is wrong. The cases",
        "are of `mesa-patches/tests/gl-scheduler.c`; with the unmodified Mesa they break no rule and have llvmpipe's results.",
        "`lab/mutations --mesa` makes all of them (`mesa-patches/mutations/table.toml`), `lab/mutations --mesa NAME` one. An empty",
        "cell: it is not run there, as the chip has nothing of the kind or the cases do not lead to it.",
        "",
        f"| mutation | what Mesa does | file | case | {' | '.join(chip.upper() for chip in chips)} |",
        "|---|---|---|---|" + "---|" * len(chips),
    ]
    for m in table["mutation"]:
        files = ", ".join(dict.fromkeys(f"`{edit['file']}`" for edit in m["edit"]))
        cells = [cell(program, m["expected"].get(chip), found.get(m["name"], {}).get(chip)) for chip in chips]
        lines.append(f"| {m['name']} | {program.cell(m['what'])} | {files} | {m['case']} | {' | '.join(cells)} |")
    lines += ["", "Mutations that nothing shows, and what has none:", ""]
    for m in table["mutation"]:
        if "why" in m:
            lines.append(f"- `{m['name']}`: {program.cell(m['why'])}")
    lines += [f"- **{u['what']}** {program.cell(u['why'])}" for u in table.get("unshown", [])]
    return "\n".join(lines) + "\n"
