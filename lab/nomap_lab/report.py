# SPDX-License-Identifier: MIT
"""Makes JUnit XML and one HTML page of a run of lab/check, and its last lines.

usage: python3 -m nomap_lab.report [--seconds N] [--tier NAME] DIR

DIR has results.tsv, a line for each test: suite, name, ok|fail|skip, seconds, CPU
seconds, log, reason, and the file with the cases of a runner (nomap_lab.cases), "-" for none.
Writes DIR/junit.xml and DIR/report.html. Exit status: 0 if nothing failed, else 1.
"""
import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import jinja2
import junitparser

LOG_LINES = 60
# XML cannot represent these characters, and console logs have them.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass
class Test:
    """A test of a suite, or one case of a runner in it."""

    suite: str
    name: str
    status: str
    seconds: float
    cpu: float
    reason: str
    log: str = ""
    output: str = ""
    cases: list["Test"] = field(default_factory=list)


def read(directory: Path) -> list[Test]:
    """The tests of a run, in the order in which they ended."""
    tests = []
    path = directory / "results.tsv"
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        suite, name, status, seconds, cpu, log, reason, cases = line.split("\t")
        test = Test(suite, name, status, float(seconds), float(cpu), "" if reason == "-" else reason)
        if log != "-":
            test.log = Path(log).name
            test.output = tail(directory / test.log)
        if cases != "-":
            with open(directory / Path(cases).name, encoding="utf-8") as f:
                for c in json.load(f):
                    test.cases.append(
                        Test(suite, f"{name}/{c['name']}", {"pass": "ok"}.get(c["status"], c["status"]),
                             c["seconds"], 0.0, c["reason"], test.log, "\n".join(c["output"])))
        tests.append(test)
    return tests


def tail(path: Path) -> str:
    """The last lines of a log, without what XML cannot hold."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return "\n".join(text.replace("\r", "").splitlines()[-LOG_LINES:])


def flat(tests: Iterable[Test]) -> Iterator[Test]:
    """The tests to count: a runner's cases instead of the run."""
    for test in tests:
        yield from test.cases or [test]


def counts(tests: Iterable[Test]) -> tuple[int, int, int]:
    """passed, failed, skipped"""
    status = [t.status for t in flat(tests)]
    return status.count("ok"), status.count("fail"), status.count("skip")


def junit(tests: list[Test], properties: Mapping[str, str]) -> junitparser.JUnitXml:
    """JUnit XML, a suite for each of ours."""
    xml = junitparser.JUnitXml("nomap")
    for name in dict.fromkeys(t.suite for t in tests):
        suite = junitparser.TestSuite(name)
        for key, value in properties.items():
            suite.add_property(key, value)
        cases = []
        for t in flat(t for t in tests if t.suite == name):
            case = junitparser.TestCase(t.name.removeprefix(name + "/"), classname=f"nomap.{name}", time=t.seconds)
            reason = CONTROL.sub("?", t.reason)
            if t.status == "fail":
                failure = junitparser.Failure(reason)
                failure.text = CONTROL.sub("?", t.output)
                case.result = [failure]
            elif t.status == "skip":
                case.result = [junitparser.Skipped(reason)]
            cases.append(case)
        # All at once, as each call computes the sums of all cases again.
        suite.add_testcases(cases)
        # The time of a runner is more than that of its cases.
        suite.time = sum(t.seconds for t in tests if t.suite == name)
        xml.add_testsuite(suite)
    xml.update_statistics()
    return xml


def git(*args: str) -> str:
    """A line of git's output, or "unknown"."""
    run = subprocess.run(["git", "-c", "safe.directory=*", *args], capture_output=True, text=True, check=False)
    return run.stdout.strip() or "unknown"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--tier", default="")
    parser.add_argument("dir", type=Path)
    args = parser.parse_args()
    tests = read(args.dir)
    about = {
        "commit": git("describe", "--always", "--dirty", "--abbrev=12"),
        "tier": args.tier,
        "seconds": str(args.seconds),
        "cpus": str(os.cpu_count()),
    }
    junit(tests, about).write(str(args.dir / "junit.xml"), pretty=True)
    suites = []
    for name in dict.fromkeys(t.suite for t in tests):
        own = [t for t in tests if t.suite == name]
        passed, failed, skipped = counts(own)
        suites.append({"name": name, "tests": own, "passed": passed, "failed": failed, "skipped": skipped,
                       "seconds": sum(t.seconds for t in own), "cpu": sum(t.cpu for t in own)})
    passed, failed, skipped = counts(tests)
    env = jinja2.Environment(loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True,
                             trim_blocks=True, lstrip_blocks=True)
    page = env.get_template("report.html.j2").render(
        about=about, suites=suites, passed=passed, failed=failed, skipped=skipped,
        failures=[t for t in flat(tests) if t.status == "fail"],
        skips=[t for t in flat(tests) if t.status == "skip"],
        slowest=sorted(tests, key=lambda t: -t.seconds)[:15])
    (args.dir / "report.html").write_text(page, encoding="utf-8")
    for t in flat(tests):
        if t.status == "fail":
            print(f"failed: {t.name}: {t.reason}")
    print(f"results: {args.dir}/report.html, {args.dir}/junit.xml")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    # A run without any result is a failure.
    return 1 if failed or not passed + skipped else 0


if __name__ == "__main__":
    sys.exit(main())
