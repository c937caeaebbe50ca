# SPDX-License-Identifier: MIT
"""Makes JUnit XML and one HTML page of a run of lab/check, and its last lines.

usage: python3 -m nomap_lab.report [--seconds N] [--tier NAME] DIR

DIR has results.jsonl, a JSON object a line for each test: suite, name, status (ok, fail,
skip), seconds, CPU seconds, log, reason and the cases of its runner (nomap_lab.cases).
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

from .paths import shown

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
    for line in (directory / "results.jsonl").read_text(encoding="utf-8").splitlines():
        r = json.loads(line)
        log = Path(r["log"]).name
        test = Test(r["suite"], r["name"], r["status"], r["seconds"], r["cpu"], r["reason"], log, tail(directory / log))
        for c in r["cases"]:
            status = {"pass": "ok"}.get(c["status"], c["status"])
            test.cases.append(Test(test.suite, f"{test.name}/{c['name']}", status, c["seconds"], 0.0, c["reason"], log,
                                   "\n".join(c["output"])))
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
    xml.update_statistics()  # type: ignore[no-untyped-call]
    return xml


def git(*args: str) -> str:
    """A line of git's output, or "unknown"."""
    run = subprocess.run(["git", "-c", "safe.directory=*", *args], capture_output=True, text=True, check=False)
    return run.stdout.strip() or "unknown"


def make(directory: Path, seconds: int, tier: str, died: bool = False) -> bool:
    """Writes the report of a run, prints its last lines, and says if it was good.

    `died`: the run did not come to its end, which is a failure whatever its tests say.
    """
    tests = read(directory)
    if died:
        tests.append(Test("lab", "lab/check", "fail", 0.0, 0.0, "pytest or a worker of it died: tests were not run"))
    about = {
        "commit": git("describe", "--always", "--dirty", "--abbrev=12"),
        "tier": tier,
        "seconds": str(seconds),
        "cpus": str(os.cpu_count()),
    }
    junit(tests, about).write(str(directory / "junit.xml"), pretty=True)
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
    (directory / "report.html").write_text(page, encoding="utf-8")
    for t in flat(tests):
        if t.status == "fail":
            print(f"failed: {t.name}: {t.reason}")
    print(f"results: {shown(directory)}/report.html, {shown(directory)}/junit.xml")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    # A run without any result is a failure.
    return not failed and passed + skipped > 0


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--tier", default="")
    parser.add_argument("dir", type=Path)
    args = parser.parse_args()
    return 0 if make(args.dir, args.seconds, args.tier) else 1


if __name__ == "__main__":
    sys.exit(main())
