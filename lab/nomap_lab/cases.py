# SPDX-License-Identifier: MIT
"""Reads what a test runner has left, for lab/check.

usage: python3 -m nomap_lab.cases igt|cargo|pytest|piglit --name NAME --status N --out CASES.json [--results FILE] LOG

LOG is the runner's output, N the exit status of its command, FILE the results.json of
igt_runner or piglit (which may be compressed), or the JUnit XML of pytest. Writes the cases
to CASES.json and prints

    ok|fail|skip P passed, F failed, K skipped
    a line for each failed case: its name, and what was said first

A run is a failure, whatever its cases say, if its command failed (a kernel report, a
guest that died), if it has no case at all, or if one was skipped without a reason.
"""
import argparse
import bz2
import gzip
import json
import lzma
import re
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

PASS, FAIL, SKIP = "pass", "fail", "skip"


@dataclass
class Case:
    """One case of a runner. seconds is 0 where the runner does not measure it."""

    name: str
    status: str
    reason: str = ""
    seconds: float = 0.0
    output: list[str] = field(default_factory=list)


def read_igt(log: str, results: Any) -> list[Case]:
    """Cases of igt-tests/run: verdicts from its log, names and times from results.

    The log names each case that did not pass, with indented lines below. results is the
    parsed results.json or None. A case that is in it and not in the log has passed.
    """
    verdicts: dict[str, tuple[str, list[str]]] = {}
    current = None
    for line in (raw.rstrip("\r") for raw in log.splitlines()):
        head = re.fullmatch(r"([a-z-]+): (\w+(?:@\S+)?)", line)
        if head:
            current = verdicts.setdefault(head[2].removeprefix("igt@"), (head[1], []))
        elif line.startswith("    ") and current:
            current[1].append(line[4:])
        elif not line.startswith(" "):
            current = None
    tests = (results or {}).get("tests", {})
    # The runner's own names have a prefix in some of its versions.
    tests = {name.removeprefix("igt@"): test for name, test in tests.items()}
    cases = []
    for name in sorted(set(verdicts) | set(tests)):
        verdict, output = verdicts.get(name, ("pass", []))
        time = tests.get(name, {}).get("time", {})
        seconds = max(0.0, time.get("end", 0.0) - time.get("start", 0.0))
        if verdict == "pass":
            cases.append(Case(name, PASS, seconds=seconds))
        elif verdict in ("skip", "notrun"):
            cases.append(Case(name, SKIP, " ".join(output), seconds))
        else:
            # If a kernel message made the test fail, that message is the reason.
            said = [o for o in output if re.match(r"<[0-4]>", o)] if verdict.startswith("dmesg") else []
            reason = f"{verdict}: {(said or output or ['no output'])[0]}"
            cases.append(Case(name, FAIL, reason, seconds, output))
    return cases


def read_cargo(log: str, _results: Any) -> list[Case]:
    """Cases of "cargo test": its lines, below the name of the test binary."""
    binary = ""
    cases: list[Case] = []
    failures: dict[str, Case] = {}
    block: Case | None = None
    for line in log.splitlines():
        running = re.match(r"\s+(?:Running (?:unittests )?(\S+)|Doc-tests (\S+))", line)
        case = re.fullmatch(r"test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:, (.*))?", line)
        stdout = re.fullmatch(r"---- (.+) stdout ----", line)
        if running:
            path = running[1] or "doc/" + running[2]
            binary = re.sub(r"^tests/|\.rs$", "", path)
            failures = {}
        elif case:
            status = {"ok": PASS, "FAILED": FAIL, "ignored": SKIP}[case[2]]
            cases.append(Case(f"{binary}::{case[1]}", status, case[3] or ""))
            if status == FAIL:
                cases[-1].reason = "failed"
                failures[case[1]] = cases[-1]
        elif stdout:
            block = failures.get(stdout[1])
        elif line.startswith("failures:") or line.startswith("test result:"):
            block = None
        elif block is not None and line.strip():
            block.output.append(line)
    for c in cases:
        said = [o for o in c.output if not re.match(r"thread '.*' .*panicked at", o)]
        if said:
            c.reason = said[0]
    return cases


def read_pytest(_log: str, results: Any) -> list[Case]:
    """Cases of pytest, from its JUnit XML (results is the parsed tree)."""
    cases = []
    for case in results or ():
        name = f"{case.classname}::{case.name}"
        status, reason = PASS, ""
        output: list[str] = []
        for result in case.result or []:
            kind = type(result).__name__
            status = SKIP if kind == "Skipped" else FAIL
            reason, output = result.message or "", (result.text or "").splitlines()
        cases.append(Case(name, status, " ".join(reason.split()), float(case.time or 0), output))
    return cases


# Piglit's names of results. All others count as failures: a warning does, too, which
# piglit's own summary does not count as passed either.
PIGLIT = {"pass": PASS, "skip": SKIP, "notrun": SKIP}


def read_piglit(_log: str, results: Any) -> list[Case]:
    """Cases of piglit: its results.json. Subtests count instead of their test."""
    cases = []
    for name, test in sorted((results or {}).get("tests", {}).items()):
        time = test.get("time", {})
        seconds = max(0.0, (time.get("end") or 0.0) - (time.get("start") or 0.0))
        output = [line for text in (test.get("out"), test.get("err"), test.get("dmesg"), test.get("exception"))
                  for line in (text or "").splitlines() if line.strip() and not line.startswith("PIGLIT: {")]
        # The last line names the probe that failed, or the requirement that is missing.
        said = output[-1].strip() if output else ""
        parts = test.get("subtests") or {"": test["result"]}
        for part, result in parts.items():
            status = PIGLIT.get(result, FAIL)
            reason = ""
            if status == SKIP:
                reason = said or "piglit: what it requires is missing"
            elif status == FAIL:
                reason = f"{result}: {said}" if said else result
            cases.append(Case(f"{name}@{part}" if part else name, status, reason,
                              seconds / len(parts), output if status == FAIL else []))
    return cases


READERS: dict[str, Callable[[str, Any], list[Case]]] = {
    "igt": read_igt, "cargo": read_cargo, "pytest": read_pytest, "piglit": read_piglit}


def conclusion(lines: list[str]) -> str:
    """What a command said last. Lines that only tell where a log is are no fault: the first comes with what is before it."""
    said = [line for line in lines if line.strip()]
    last = next((i for i in reversed(range(len(said))) if not said[i].startswith("(log: ")), 0)
    return " ".join(said[last:last + 2]) if said else "no output"


def judge(cases: list[Case], status: int, log: str) -> list[Case]:
    """The cases to count; a failure of the command itself becomes one more case."""
    for case in cases:
        if case.status == SKIP and not case.reason.strip():
            case.status, case.reason = FAIL, "skipped without a reason"
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    last = conclusion(lines)
    if status == 77 and not cases:
        return [Case("(run)", SKIP, last)]
    if status and not any(c.status == FAIL for c in cases):
        cases = cases + [Case("(run)", FAIL, f"exit status {status}: {last}", output=lines[-40:])]
    if not cases:
        cases = [Case("(run)", FAIL, f"no case was run: {last}")]
    return cases


def load(kind: str, path: Path | None) -> Any:
    """The parsed file of a runner's results; None if there is none."""
    if not path:
        return None
    try:
        if kind == "pytest":
            import junitparser

            return [case for suite in junitparser.JUnitXml.fromfile(str(path)) for case in suite]
        # By suffix, as piglit writes results.json.bz2 and the like.
        data = path.read_bytes()
        if path.suffix in (".bz2", ".xz", ".gz"):
            data = {".bz2": bz2, ".xz": lzma, ".gz": gzip}[path.suffix].decompress(data)
        return json.loads(data)
    except (OSError, EOFError, ValueError, lzma.LZMAError):
        return None


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=sorted(READERS))
    parser.add_argument("--name", required=True)
    parser.add_argument("--status", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--results", type=Path)
    parser.add_argument("log", type=Path)
    args = parser.parse_args()
    log = args.log.read_text(encoding="utf-8", errors="replace")
    cases = judge(READERS[args.kind](log, load(args.kind, args.results)), args.status, log)
    args.out.write_text(json.dumps([asdict(c) for c in cases], indent=1), encoding="utf-8")
    n = {s: sum(c.status == s for c in cases) for s in (PASS, FAIL, SKIP)}
    verdict = "fail" if n[FAIL] else "ok" if n[PASS] else "skip"
    print(f"{verdict} {n[PASS]} passed, {n[FAIL]} failed, {n[SKIP]} skipped")
    for c in cases:
        if c.status == FAIL:
            print(f"{c.name}: {c.reason}")
        elif c.status == SKIP:
            print(f"skip {c.name}: {c.reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
