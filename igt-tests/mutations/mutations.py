#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutations of the driver: what happens when a flush or the like is missing.

usage: mutations.py list                     names, one a line
       mutations.py check SOURCE             each edit fits the driver in SOURCE
       mutations.py apply NAME SOURCE hooks  edits the hooks in a copy of kernel/
       mutations.py apply NAME SOURCE files  edits the driver's files, to which hooks have been applied
       mutations.py judge NAME RESULTS OUT   whether the named test failed, from
                                             igt_runner's results.json; adds to OUT
       mutations.py passed RESULTS           whether something passed, and all did
       mutations.py doc OUT                  docs/mutations.md, from the table and OUT
       mutations.py chips                    its part about other generations

The table is table.toml beside this file, and on-chips.json what lab/mutations --chip has shown, by chip. An edit replaces text that has to be in
the file exactly once, so that a change of the driver which makes it void is
noticed by "check".
"""
import json
import pathlib
import re
import sys
import tomllib

HERE = pathlib.Path(__file__).parent
DRIVER = pathlib.Path("drivers/gpu/drm/radeon")
BAD = {"fail", "dmesg-fail", "crash", "timeout", "abort", "incomplete"}
GOOD = {"pass", "dmesg-warn", "skip", "notrun"}


class Error(Exception):
    """Shown to the user without a traceback."""


def load(path=HERE / "table.toml"):
    """The table: "mutation" and "unshown", lists of dictionaries."""
    with open(path, "rb") as f:
        table = tomllib.load(f)
    names = [m["name"] for m in table["mutation"]]
    for name in names:
        if names.count(name) > 1:
            raise Error(f"{name} is there twice")
        if not re.fullmatch(r"[a-z0-9-]+", name):
            raise Error(f"{name} is not a name")
    return table


def find(table, name):
    """The mutation of that name."""
    for mutation in table["mutation"]:
        if mutation["name"] == name:
            return mutation
    raise Error(f"no mutation {name}")


def replaced(mutation, path_of):
    """{path: text} of the files that the mutation changes. PATH_OF gives an edit's file, or None for one to leave out."""
    texts = {}
    for edit in mutation["edit"]:
        path = path_of(edit)
        if path is None:
            continue
        if path not in texts:
            try:
                texts[path] = path.read_text()
            except OSError as e:
                raise Error(f"{mutation['name']}: {e}") from e
        count = texts[path].count(edit["old"])
        if count != 1:
            raise Error(f"{mutation['name']}: {edit['file']} has this {count} "
                        f"times:\n{edit['old']}")
        texts[path] = texts[path].replace(edit["old"], edit["new"])
    return texts


def edited(mutation, source, which=("hooks", "files")):
    """{path: text} of the files that the mutation changes, below SOURCE: of hooks, of files of the driver, or of both."""
    def path_of(edit):
        if ("hooks" if "/" in edit["file"] else "files") not in which:
            return None
        return pathlib.Path(source) / (edit["file"] if "/" in edit["file"] else DRIVER / edit["file"])
    return replaced(mutation, path_of)


def options(mutation):
    """(board, append, bare, icount, kunit) to boot a guest with; the last three are their names or empty.

    The driver's unit tests, whose names begin with "kunit@", need the kernel "kunit".
    """
    return (mutation.get("board", ""), mutation.get("append", ""),
            *(flag if mutation.get(flag) else "" for flag in ("bare", "icount")),
            "kunit" if mutation["test"].startswith("kunit@") else "")


def message(test):
    """First message of a failed test, without the prefix of the log."""
    text = test.get("out", "") + test.get("err", "")
    for line in text.splitlines():
        if "CRITICAL" in line and not re.search("Failed assertion|Test assertion failure|"
                                                "CRITICAL: Last errno", line):
            line = re.sub(r"^.*CRITICAL: ", "", line)
            return re.sub(r"(last errno|error): .*$", "", line).strip() or line
    for line in text.splitlines():
        if "Failed assertion" in line:
            return re.sub(r"^.*Failed assertion: ", "", line).strip()
    return test["result"]


def results(path):
    """igt_runner's results, {name without "igt@": test}."""
    with open(path) as f:
        tests = json.load(f)["tests"]
    return {name.removeprefix("igt@"): test for name, test in tests.items()}


def judge(mutation, path):
    """[(test, message)] of those that failed."""
    return [(name, message(test)) for name, test in sorted(results(path).items())
            if test["result"] in BAD]


def passed(path):
    """What is wrong with a run without a mutation, or ""."""
    tests = results(path)
    bad = [f"{n}: {t['result']}" for n, t in tests.items() if t["result"] not in GOOD]
    if bad:
        return "; ".join(bad)
    if not any(t["result"] in ("pass", "dmesg-warn") for t in tests.values()):
        return "nothing passed"
    return ""


def cell(text):
    """TEXT in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def on_chips(table, chips):
    """The part of docs/mutations.md about other generations; CHIPS is {chip: {name: [[test, message], ...]}}."""
    lines = [
        "## On other generations",
        "",
        "What `lab/mutations --chip NAME` has shown (`igt-tests/mutations/on-chips.json`): \"fails\" is the test, as it has to; a",
        "mutation without a word was left out, as its test is skipped on that chip, or has not been run there. Mutations with a",
        "`--chip` above, and unit tests, are not in this table.",
        "",
        f"| mutation | {' | '.join(chip.upper() for chip in chips)} |",
        "|---|" + "---|" * len(chips),
    ]
    for m in table["mutation"]:
        if "--chip" in m.get("board", "") or options(m)[-1]:
            continue
        cells = [f"only {m['only']}" if "only" in m else "left out" if chip in m.get("without", ()) else
                 "" if m["name"] not in shown else "fails" if shown[m["name"]] else "passes" for chip, shown in chips.items()]
        lines.append(f"| {m['name']} | {' | '.join(cells)} |")
    for m in table["mutation"]:
        if "only" in m:
            lines += ["", f"`{m['name']}` is of {m['only']} only. {' '.join(m['why_only'].split())}"]
        if "without" in m:
            lines += ["", f"`{m['name']}` is left out on {' and '.join(map(str.upper, m['without']))}. "
                          f"{' '.join(m['why_without'].split())}"]
    return "\n".join(lines) + "\n"


def load_chips(path=HERE / "on-chips.json"):
    """What has been shown on other generations, by chip."""
    return json.loads(path.read_text())


def document(table, shown, chips):
    """docs/mutations.md; SHOWN is {name: [[test, message], ...]}, CHIPS that by chip."""
    lines = [
        "# Mutations of the driver",
        "",
        "<!-- Generated by lab/mutations from igt-tests/mutations/table.toml. -->",
        "",
        "Each line is a small change of the driver that takes something out which",
        "hardware needs, and the test that fails then, on the emulated board with",
        "these options. Without the change the same test passes with the same",
        "options. `lab/mutations` makes all of them, `lab/mutations NAME` one.",
        "`kunit`: one of the driver's unit tests, on a kernel with KUnit.",
        "",
        "| mutation | what is missing | file | board, kernel, module | test that fails | how |",
        "|---|---|---|---|---|---|",
    ]
    for m in table["mutation"]:
        failed = shown.get(m["name"], [])
        how = cell(failed[0][1]) if failed else "not run yet"
        tests = ", ".join(f"`{t}`" for t, _ in failed) or f"`{m['test']}`"
        opts = " ".join(f"`{o}`" for o in options(m) if o)
        files = ", ".join(sorted({f"`{e['file']}`" for e in m["edit"]}))
        lines.append(f"| {m['name']} | {cell(m['what'])} | {files} | {opts} | {tests} | {how} |")
    lines += ["", on_chips(table, chips), "## What cannot be shown", ""]
    for u in table.get("unshown", []):
        lines += [f"- **{u['what']}** {cell(u['why'])}"]
    return "\n".join(lines) + "\n"


def main(argv):
    """The command line; returns the exit status."""
    table = load()
    command, args = argv[0], argv[1:]
    if command == "list":
        print("\n".join(m["name"] for m in table["mutation"]))
    elif command == "check":
        for m in table["mutation"]:
            edited(m, args[0])
        print(len(table["mutation"]), "mutations apply")
    elif command == "apply":
        for path, text in edited(find(table, args[0]), args[1], args[2:]).items():
            path.write_text(text)
    elif command == "judge":
        failed = judge(find(table, args[0]), args[1])
        out = pathlib.Path(args[2])
        shown = json.loads(out.read_text()) if out.exists() else {}
        shown[args[0]] = failed
        out.write_text(json.dumps(shown, indent=1, sort_keys=True) + "\n")
        for name, text in failed:
            print(f"{name}: {text}")
        if not failed:
            print("nothing failed")
            return 1
    elif command == "passed":
        bad = passed(args[0])
        print(bad or "all passed")
        return 1 if bad else 0
    elif command == "doc":
        out = pathlib.Path(args[0])
        print(document(table, json.loads(out.read_text()) if out.exists() else {}, load_chips()), end="")
    elif command == "chips":
        print(on_chips(table, load_chips()), end="")
    else:
        raise Error(f"no command {command}")
    return 0


if __name__ == "__main__":
    try:
        if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
            print(__doc__)
            sys.exit(0 if len(sys.argv) > 1 else 2)
        sys.exit(main(sys.argv[1:]))
    except (Error, OSError, IndexError) as e:
        print(f"mutations: {e}", file=sys.stderr)
        sys.exit(2)
