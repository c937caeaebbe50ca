# SPDX-License-Identifier: MIT
"""usage: python3 -m nomap_lab.bad_inputs DOC

Brings the table in DOC (docs/bad-inputs.md) up to date: wrong calls of the lab's commands,
their exit statuses and what is said. Runs all of them, as a user of the machine would; run
it in the build root. The tests lab/bad-input/NAME compare each call with its row.
"""
import re
import shlex
import subprocess
import sys
from pathlib import Path

from nomap_lab.outside import HOST_TOP, outside
from nomap_lab.paths import LabError

MARKS = re.compile(r"(<!-- table: nomap_lab.bad_inputs -->\n)(.*?)(<!-- end of table -->\n)", re.S)
HEAD = "| call | status | message |\n| --- | ---: | --- |\n"
#: A longer message is cut: lists of all that there is would change the table often.
LONGEST = 200

#: Name: command line, exit status, words of the fault and of its cure.
BAD_INPUTS: dict[str, tuple[str, int, list[str]]] = {
    "run-without-dashes": ("lab/run ls", 2, ["'ls'", "lab/run -- ls"]),
    "run-no-command": ("lab/run", 2, ["no command", "lab/run -- CMD"]),
    "run-unknown-option": ("lab/run --no-such-option -- true", 2, ["--no-such-option", "lab/run --help"]),
    "run-unknown-kernel": ("lab/run --kernel nosuch -- true", 1, ["nosuch", "stock", "debug"]),
    "run-unknown-module": ("lab/run --module nosuch -- true", 2, ["nosuch", "patched or stock"]),
    "run-unknown-image": ("lab/run --image nosuch -- true", 2, ["nosuch", "guest or desktop"]),
    "run-unknown-mesa": ("lab/run --mesa nosuch -- true", 2, ["nosuch", "unmodified, a or patched"]),
    "run-timeout-missing": ("lab/run --timeout -- true", 2, ["--timeout", "value"]),
    "run-timeout-last": ("lab/run --timeout", 2, ["--timeout", "value"]),
    "run-timeout-word": ("lab/run --timeout soon -- true", 2, ["--timeout", "seconds", "'soon'"]),
    "run-timeout-negative": ("lab/run --timeout -5 -- true", 2, ["--timeout", "seconds", "'-5'"]),
    "run-memory": ("lab/run --mem banana -- true", 2, ["--mem", "2G", "'banana'"]),
    "run-no-cpus": ("lab/run --smp 0 -- true", 2, ["--smp", "CPUs", "'0'"]),
    "run-unknown-accelerator": ("lab/run --accel nosuch -- true", 2, ["--accel", "tcg, icount or kvm"]),
    "run-share": ("lab/run --share /no/such -- true", 2, ["--share", "no directory", "/no/such"]),
    "run-insmod-missing": ("lab/run --insmod build/no-such.ko -- true", 2, ["--insmod", "no file", "no-such.ko"]),
    "run-insmod-elsewhere": ("lab/run --insmod Makefile -- true", 2, ["--insmod", "Makefile", "build/"]),
    "run-logs-elsewhere": ("lab/run --logs /var/tmp/logs -- true", 2, ["--logs", "/var/tmp/logs", "repository"]),
    "run-screenshot-nowhere": ("lab/run --screenshot /no/such/a.png -- true", 2, ["--screenshot", "no directory"]),
    "run-screenshot-no-board": ("lab/run --board none --screenshot build/a.png -- true", 2, ["--screenshot", "board"]),
    "run-board-on-mm": ("lab/run --kernel mm --board '--chip rv770' -- true", 2, ["--board", "mm", "no driver"]),
    "run-places": ("env NOMAP_GUESTS=many lab/run -- true", 2, ["NOMAP_GUESTS", "'many'", "NOMAP_GUESTS=2"]),
    "shell-command": ("lab/shell -- ls", 2, ["no command", "lab/run -- CMD"]),
    "build-nothing": ("lab/build", 2, ["stage", "--list"]),
    "build-unknown-stage": ("lab/build nosuch", 2, ["'nosuch'", "kernel"]),
    "check-unknown-suite": ("lab/check nosuch", 2, ["nosuch", "boot"]),
    "check-unknown-test": ("lab/check boot nosuch", 2, ["nosuch", "boot"]),
    "check-unknown-subtest": ("lab/check igt radeon_gem_pread@basik", 2, ["basik'", "radeon_gem_pread@basic"]),
    "check-unknown-tier": ("lab/check --tier some", 2, ["--tier", "check", "all"]),
    "check-no-lanes": ("lab/check --lanes 0", 2, ["--lanes"]),
    "piglit-nothing": ("lab/piglit", 2, ["--tests", "--out"]),
    "piglit-tests-missing": ("lab/piglit --tests /no/such --out build/x", 2, ["--tests", "/no/such", "-sets/"]),
    "piglit-unknown-chip": ("lab/piglit --chip rv999 --tests /dev/null --out build/x", 2, ["rv999", "rv770"]),
    "piglit-pattern": ("lab/piglit -t [ --tests /dev/null --out build/x", 2, ["-t", "'['"]),
    "piglit-sample": ("lab/piglit --sample some", 2, ["--sample", "number", "'some'"]),
    "fuzz-seconds": ("lab/fuzz abc", 2, ["seconds", "'abc'"]),
    "fuzz-seed": ("lab/fuzz 10 abc", 2, ["seed", "'abc'"]),
    "fuzz-chip": ("lab/fuzz --chip rv999", 2, ["--chip", "'rv999'", "cayman"]),
    "fuzz-board-cases": ("lab/fuzz-board --cases few", 2, ["--cases", "number", "'few'"]),
    "mutations-unknown": ("lab/mutations nosuch", 2, ["nosuch", "lab/mutations --list"]),
    "mutations-chip": ("lab/mutations --chip turks rv770-packet", 2, ["--chip"]),
    "speed-unknown-option": ("lab/speed --x", 2, ["--x", "--quick"]),
    "demo-unknown-option": ("lab/demo --x", 2, ["--x", "--quick"]),
    "bench-board-rounds": ("lab/bench-board --rounds many", 2, ["--rounds", "many"]),
    "bench-desktop-driver": ("lab/bench-desktop --driver nosuch", 2, ["--driver", "nosuch", "modesetting"]),
    "bench-mm-unknown-part": ("lab/bench-mm nosuch", 2, ["nosuch", "mapstorm"]),
    "glmark2-unknown-module": ("lab/glmark2 --module nosuch", 2, ["--module", "nosuch", "patched"]),
    "mm-debug-seconds": ("lab/mm-debug abc", 2, ["seconds", "'abc'"]),
    "tree-unknown": ("lab/tree nosuch", 2, ["nosuch", "libdrm"]),
    "distclean-argument": ("lab/distclean build", 2, ["'build'", "usage"]),
    "cache-relative": ("env NOMAP_CACHE=cache lab/build board", 1, ["NOMAP_CACHE", "'cache'", "absolute", "/cache"]),
    "cache-is-a-file": ("env NOMAP_CACHE=/etc/passwd lab/build board", 1, ["/etc/passwd", "NOMAP_CACHE"]),
    "cache-of-others": ("env NOMAP_CACHE=/etc lab/build board", 1, ["/etc is not a cache of nomap", "NOMAP_CACHE"]),
    **{f"another-user-{name}": (f"setpriv --reuid 65534 --regid 65534 --clear-groups {cmd}", 1, ["needs root", "sudo"])
       for name, cmd in {"run": "lab/run -- true", "build": "lab/build board", "check": "lab/check boot"}.items()},
}


def message(text: str) -> str:
    """What a command says, as the table has it: in one line, without progress, the path of this checkout, and what is too long."""
    lines = [line for line in text.splitlines() if not re.match(r"\[ *\d+:\d\d\] ", line)]
    said = " ".join(" ".join(lines).replace(str(HOST_TOP), "TOP").split())
    return said if len(said) <= LONGEST else said[:LONGEST].rsplit(" ", 1)[0] + " ..."


def row(line: str, status: int, said: str) -> str:
    """A row of the table: a call, its exit status, and all that it says."""
    cells = [f"`{line}`", str(status), f"`{message(said)}`"]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def table(text: str) -> re.Match[str]:
    """The table of a document: group 2, between its marks."""
    found = MARKS.search(text)
    if not found:
        raise LabError("there is no table between the marks of nomap_lab.bad_inputs")
    return found


def main(argv: list[str]) -> int:
    """The command."""
    if len(argv) != 1 or argv[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    doc = Path(argv[0])
    text = doc.read_text(encoding="utf-8")
    place, rows = table(text), []
    for line, _, _ in BAD_INPUTS.values():
        done = subprocess.run(outside(shlex.split(line)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        rows.append(row(line, done.returncode, done.stdout))
    doc.write_text(text[:place.start(2)] + "".join([HEAD, *rows]) + text[place.end(2):], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
