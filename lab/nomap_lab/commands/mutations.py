# SPDX-License-Identifier: MIT
"""usage: lab/mutations [--mesa] [--list | --doc | --chip CHIP] [NAME...]

Proof by mutation: for each line of igt-tests/mutations/table.toml (or those
named) builds radeon.ko with that change of the driver, boots a guest with it,
and runs the one test that has to fail then. Before, the same tests have to pass
with the same options and the driver as it is.

  --list   names them
  --doc    writes docs/mutations.md from the last results, and runs nothing; with
           --mesa its part about Mesa
  --chip   runs them on a chip of another generation. Mutations that the table leaves
           out there, unit tests, and those whose test the chip does not have, are left
           out, and docs/mutations.md is not written
  --mesa   mutations of Mesa's scheduler of shaders, mesa-patches/mutations/table.toml:
           for each builds Mesa with that change, and runs shaders on emulated chips in
           the program's own process, without a guest. R7XX_CHECK has to report the rule
           that the table names, or results have to be wrong; the unmodified Mesa breaks
           no rule. With --chip on this one of the table's chips only. Results are in
           mesa-patches/mutations/shown.json

A run of all on the board's own chip writes docs/mutations.md, too. Results are in build/mutations/;
a run of all on another chip also writes them to igt-tests/mutations/on-chips.json.
Exit status: 0 if each mutation made its test fail, 1 if one did not or the
driver as it is fails, 2 if something could not be built or booted.
"""
import fcntl
import importlib.util
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from nomap_lab import chips, cli, graph, guest, initramfs, kunit, mesa_mutations, procs
from nomap_lab.paths import BUILD, TOP, LabError, UsageError, say
from nomap_lab.stages import SOURCE, kernel_version

OUT = BUILD / "mutations"
# What kernel/build.sh needs of kernel/.
DRIVER = ("build.sh", "lib.sh", "drivers", "include", "patches", "fixes")
# Board, kernel's command line, "bare" or nothing, "icount" or nothing, "kunit" or nothing.
Options = tuple[str, str, str, str, str]


def load_program() -> ModuleType:
    """igt-tests/mutations/mutations.py, which knows the table."""
    spec = importlib.util.spec_from_file_location("mutations", TOP / "igt-tests/mutations/mutations.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_tests(name: str, mutated: bool, tests: list[str], options: Options) -> Path:
    """Boots a guest and runs the tests; returns igt_runner's results. Raises LabError if there are none.

    Unit tests all run when the module is loaded; the results have those that are asked for.
    """
    board, append, bare, icount, unit = options
    logs = OUT / name
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    kernel = ("kunit-mutation" if mutated else "kunit") if unit else "mutation" if mutated else "stock"
    boot = guest.Boot(kernel=kernel, timeout=1500, allow_kernel_warnings=True, logs=logs, board=board,
                      append=f"radeon.lockup_timeout=60000 {append}", mem="2G", hypervisor=not bare,
                      accel="icount" if icount else "tcg", smp=1 if icount else 2)
    command = ["/build/igt-tests/run", "-T", "400", "-r", f"/build/mutations/{name}",
               *(word for test in tests for word in ("-t", f"^igt@{test}$"))]
    if unit:
        boot.append += " kunit.enable=1"
        command = ["dmesg"]
    with open(logs / "output.log", "wb") as log:
        guest.run(boot, command, stdout=log, stderr=log)
    results = logs / "results.json"
    if unit:
        found = kunit.as_igt((logs / "output.log").read_text(encoding="utf-8", errors="replace"))
        found["tests"] = {test: found["tests"][test] for test in tests if test in found["tests"]}
        results.write_text(json.dumps(found) if found["tests"] else "", encoding="utf-8")
    if not results.exists() or not results.stat().st_size:
        last = (logs / "output.log").read_text(encoding="utf-8", errors="replace").splitlines()[-5:]
        raise LabError("\n".join([f"mutations: {name}: the guest left no results, its output ends:", *last]), status=2)
    return results


def build(program: ModuleType, mutation: dict[str, Any]) -> None:
    """Changes a copy of the driver and makes what a guest boots of it: the kernel "mutation", or
    "kunit-mutation". The build is incremental. Files are changed after the hooks, whose context may be
    what changes."""
    source = OUT / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    for part in DRIVER:
        procs.call(["cp", "-a", TOP / "kernel" / part, source])
    for path, text in program.edited(mutation, source, ["hooks"]).items():
        path.write_text(text)
    log = OUT / "build.log"
    log.unlink(missing_ok=True)
    unit = program.options(mutation)[-1]
    headers = BUILD / "kernels/kunit/headers" if unit else kernel_version()
    out = OUT / ("driver-kunit" if unit else "driver")
    edit = f"{TOP}/igt-tests/mutations/mutations.py apply {mutation['name']} . files"
    if procs.call([source / "build.sh", SOURCE, headers, out], log=log, check=False, env={"AFTER_PATCHES": edit}).returncode:
        last = log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
        raise LabError("\n".join([f"{mutation['name']} does not build:", *last]), status=2)
    initramfs.make(BUILD / "kernels/kunit" if unit else Path("/"),
                   BUILD / "boot" / ("kunit-mutation" if unit else "mutation"), out / "radeon.ko")


def write_document(program: ModuleType) -> None:
    """Writes docs/mutations.md from the table and the last results."""
    shown = OUT / "shown.json"
    replace_document(program.document(program.load(), json.loads(shown.read_text()) if shown.exists() else {},
                                      program.load_chips()), program)


def write_mesa_part(program: ModuleType) -> None:
    """Writes the part of docs/mutations.md about Mesa."""
    text = (TOP / "docs/mutations.md").read_text(encoding="utf-8")
    replace_document(text.split(f"\n{mesa_mutations.HEADING}\n")[0], program)


def replace_document(about_driver: str, program: ModuleType) -> None:
    """Writes docs/mutations.md: this, and the part about Mesa."""
    new = TOP / "docs/.mutations.md.new"
    new.write_text(f"{about_driver}\n{mesa_mutations.document(program)}", encoding="utf-8")
    os.replace(new, TOP / "docs/mutations.md")


def keep(program: ModuleType, chip: str) -> None:
    """Writes what a run of all has shown on `chip` to igt-tests/mutations/on-chips.json."""
    chips_shown = {**program.load_chips(), chip: json.loads((OUT / f"shown-{chip}.json").read_text(encoding="utf-8"))}
    (TOP / "igt-tests/mutations/on-chips.json").write_text(json.dumps(chips_shown, indent=1, sort_keys=True) + "\n",
                                                          encoding="utf-8")


def main(argv: list[str]) -> int:
    """The command."""
    parser = cli.parser(__doc__, prog="lab/mutations")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--doc", action="store_true")
    parser.add_argument("--mesa", action="store_true")
    parser.add_argument("--chip", choices=("rv770", *chips.OTHER_GENERATIONS), default="")
    parser.add_argument("names", metavar="NAME", nargs="*")
    args = parser.parse(argv)
    program = load_program()
    if args.chip == "rv770" and not args.mesa:
        parser.error("--chip rv770 is for --mesa: the driver's table has its own line for it")
    try:
        start = run_mesa if args.mesa else run
        return start(program, args.names, args.chip, listing=args.list, document=args.doc)
    except program.Error as error:
        table, what = ("mesa-patches", "Mesa") if args.mesa else ("igt-tests", "the driver")
        raise LabError(f"mutations: {error}: let {table}/mutations/table.toml fit {what}", status=2) from error


def on_chip(program: ModuleType, mutations: list[dict[str, Any]], chip: str) -> list[dict[str, Any]]:
    """Those of `mutations` that are of no chip and no unit test, and not left out on `chip`, with the options for it."""
    return [{**mutation, "board": f"--chip {chip} {mutation.get('board', '')}".strip(),
             "append": f"{mutation.get('append', '')} {chips.parameters(chip)}".strip()}
            for mutation in mutations
            if "--chip" not in mutation.get("board", "") and "only" not in mutation and chip not in mutation.get("without", ())
            and not program.options(mutation)[-1]]


def run(program: ModuleType, names: list[str], chip: str, *, listing: bool, document: bool) -> int:
    """The command with its options."""
    table = {mutation["name"]: mutation for mutation in program.load()["mutation"]}
    if listing:
        print("\n".join(table))
        return 0
    if document:
        write_document(program)
        return 0
    for name in names:
        if name not in table:
            raise UsageError(f"there is no mutation '{name}': lab/mutations --list names them")
    chosen = [table[name] for name in names or table]
    if chip and not (chosen := on_chip(program, chosen, chip)):
        raise UsageError("the mutations named are of another chip, of a unit test, or left out on this chip: leave --chip out")
    for mutation in table.values():
        program.edited(mutation, TOP / "kernel")
    bad = locked(lambda: show(program, chosen, chip))
    if not names and chip:
        keep(program, chip)
    elif not names:
        write_document(program)
    return judged(bad)


def run_mesa(program: ModuleType, names: list[str], chip: str, *, listing: bool, document: bool) -> int:
    """The command with --mesa."""
    if listing:
        print("\n".join(mutation["name"] for mutation in mesa_mutations.load(program)["mutation"]))
        return 0
    bad = [] if document else locked(lambda: mesa_mutations.show(program, names, chip))
    write_mesa_part(program)
    return 0 if document else judged(bad)


def locked(action: Callable[[], list[str]]) -> list[str]:
    """Does what uses build/mutations; returns what is not as it has to be."""
    OUT.mkdir(parents=True, exist_ok=True)
    lock = os.open(OUT, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return action()
    except BlockingIOError:
        raise LabError("build/mutations is in use by another run: wait for its end") from None
    finally:
        os.close(lock)


def judged(bad: list[str]) -> int:
    """Prints what is not as it has to be; returns the exit status."""
    if bad:
        print("\n".join(f"mutations: {line}" for line in bad))
        return 1
    say("mutations: all shown")
    return 0


def show(program: ModuleType, chosen: list[dict[str, Any]], chip: str) -> list[str]:
    """Runs the tests of these mutations without and with each; returns what is not as it has to be.

    On a `chip` of another generation mutations are left out whose tests are skipped.
    """
    graph.ensure("kernel", "boot", "board", "igt", "image",
                 *(["kunit"] if any(program.options(mutation)[-1] for mutation in chosen) else []))
    bad = []
    groups: dict[Options, list[str]] = {}
    for mutation in chosen:
        tests = groups.setdefault(program.options(mutation), [])
        if mutation["test"] not in tests:
            tests.append(mutation["test"])
    for n, (options, tests) in enumerate(groups.items(), 1):
        board, append, *more = options
        what = f"board '{board}', kernel '{append}' {' '.join(more)}"
        say(f"mutations: none, {what} ({n} of {len(groups)})")
        results = run_tests(f"none-{n}", False, tests, options)
        ran = [name for name, test in program.results(results).items() if test["result"] not in ("skip", "notrun")]
        wrong = program.passed(results) if ran or not chip else ""
        print(wrong or "all passed", flush=True)
        if wrong:
            bad.append(f"the driver as it is, {what}")
        for mutation in list(chosen) if chip else []:
            if program.options(mutation) == options and not any(re.fullmatch(mutation["test"], name) for name in ran):
                print(f"left out, as its test is skipped: {mutation['name']}", flush=True)
                chosen.remove(mutation)

    shown = OUT / (f"shown-{chip}.json" if chip else "shown.json")
    for n, mutation in enumerate(chosen, 1):
        name = mutation["name"]
        say(f"mutations: {name} ({n} of {len(chosen)})")
        build(program, mutation)
        results = run_tests(name, True, [mutation["test"]], program.options(mutation))
        # Its list of failed tests, with the message of each.
        failed = program.judge(mutation, results)
        known = json.loads(shown.read_text()) if shown.exists() else {}
        shown.write_text(json.dumps({**known, name: failed}, indent=1, sort_keys=True) + "\n")
        print("\n".join(f"{test}: {text}" for test, text in failed) or "nothing failed", flush=True)
        if not failed:
            bad.append(f"{name}: {mutation['test']} does not fail")
    return bad
