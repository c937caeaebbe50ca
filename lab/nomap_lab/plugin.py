# SPDX-License-Identifier: MIT
"""The pytest plugin of the suites: lab/check runs pytest with it.

A test is an item made of an Info of @case. A runner's cases (IGT, cargo, piglit, pytest) become reports of
their own, behind their test's. What is run beside what: with -n N each worker takes whole suites, the
last worker those of the lane "builds" first; a worker without suites of its kind takes others.
Results go to build/check/results.jsonl as they come, and from there into the report.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from _pytest.reports import TestReport
from _pytest.runner import CallInfo

from . import testing
from .paths import CHECK, TOP, LabError
from .testing import Info, Lab, SuiteInfo

RECORDS = CHECK / "results.jsonl"
SUITES = TOP / "lab/suites"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("nomap")
    group.addoption("--tier", choices=["check", "all"], default="", help="tests of this tier")
    group.addoption("--suite-words", default="", help="SUITE [TEST...], as lab/check takes them")
    group.addoption("--resume", action="store_true", help="leave out what results.jsonl has")
    group.addoption("--tests", action="store_true", help="print the tests: name, tier, runner")


class CaseItem(pytest.Item):
    """A test of a suite."""

    def __init__(self, *, info: Info, suite: SuiteInfo, function: Any, **options: Any) -> None:
        super().__init__(**options)
        self.info, self.suite, self.function = info, suite, function
        self.tier = info.tier or suite.tier
        self.suite_name = info.name.split("/")[0]
        self.only: list[str] = []
        self.lab: Lab | None = None
        self.cpu = 0.0

    def runtest(self) -> None:
        states: dict[str, str] = self.config.stash.setdefault(STATES, {})
        self.lab = Lab(self.info, self.only)
        for name in self.info.needs:
            state = states.get(name)
            if state == "skip":
                pytest.skip(f"needs {name}, which was skipped")
            if state == "fail":
                pytest.fail(f"needs {name}, which failed", pytrace=False)
        parallel = "PYTEST_XDIST_WORKER" in os.environ
        # Emulated guests, whose drivers have time-outs, get the CPUs before compilers.
        os.setpriority(os.PRIO_PROCESS, 0, 10 if parallel and self.suite.lane == "builds" else 0)
        before = os.times()
        try:
            self.function(self.lab, **self.info.arguments)
        finally:
            after = os.times()
            self.cpu = after.children_user + after.children_system - before.children_user - before.children_system
        if self.info.runner and not self.lab.cases:
            pytest.fail("no case was run", pytrace=False)
        failed = [c for c in self.lab.cases if c.status == "fail"]
        if failed:
            pytest.fail(f"{len(failed)} of {len(self.lab.cases)} cases failed: {failed[0].name}: {failed[0].reason}", pytrace=False)
        if self.lab.cases and all(c.status == "skip" for c in self.lab.cases):
            pytest.skip(self.lab.cases[0].reason)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.info.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, LabError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


STATES = pytest.StashKey[dict[str, str]]()


def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> list[CaseItem] | None:
    """Functions with @case are tests, whatever their name; nothing else is."""
    infos: list[Info] | None = getattr(obj, "nomap_cases", None)
    if infos is None:
        return [] if callable(obj) else None
    mark = collector.get_closest_marker("nomap_suite")
    if mark is None:
        raise collector.CollectError(f"{collector.path.name}: pytestmark = suite(...) is missing")
    items = [CaseItem.from_parent(collector, name=i.name, info=i, suite=mark.args[0], function=obj) for i in infos]
    return items


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "nomap_suite(info): a suite of lab/suites")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporter(config), "nomap-reporter")


# Selection

def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    own = [i for i in items if isinstance(i, CaseItem)]
    own.sort(key=lambda i: (i.suite.order, i.suite_name))
    try:
        chosen = select(own, config.getoption("suite_words").split(), config.getoption("tier"))
    except LabError as e:
        raise pytest.UsageError(str(e)) from None
    failed: dict[str, bool] = config.cache.get("cache/lastfailed", {}) if config.cache and config.getoption("lf", False) else {}
    for item in chosen:
        item.only += [n.removeprefix(f"{item.nodeid}::") for n in failed if n.startswith(f"{item.nodeid}::")]
    if config.getoption("resume"):
        ended = {r["name"] for r in testing.read_records(RECORDS)}
        chosen = [i for i in chosen if i.info.name not in ended]
    left = [i for i in items if i not in set(chosen)]
    items[:] = list(chosen)
    if left:
        config.hook.pytest_deselected(items=left)


def select(items: list[CaseItem], words: list[str], tier: str) -> list[CaseItem]:
    """The items that `words` name ("SUITE [TEST...]...", "SUITE/TEST..."); without words those of the tier.

    A TEST is a test's name, with or without "SUITE/", or one that a runner of the suite knows. Tests that
    a chosen one needs are chosen, too. Raises LabError with what there is for a name that is none, and for
    one that is a suite's and also that of a test of the suite before it.
    """
    suites: dict[str, list[CaseItem]] = {}
    for item in items:
        suites.setdefault(item.suite_name, []).append(item)
    if not words:
        return [i for i in items if tier == "all" or i.tier == "check"]
    wanted: dict[str, list[str]] = {}
    current = ""
    suite_of = {i.info.name: i.suite_name for i in items}
    for word in words:
        name = word.split("-", 1)[1] if word.split("-", 1)[0].isdecimal() else word
        if name in suites or suite_file(name).exists():
            if current not in ("", name) and f"{current}/{name}" in {i.info.name for i in suites.get(current, [])}:
                raise LabError(f"lab/check: '{word}' is a suite, and {current}/{name} a test: write {current}/{name}, "
                               f"or name the suite {name} before {current}", 2)
            current = name
            wanted.setdefault(name, [])
        elif word in suite_of:
            current = suite_of[word]
            wanted.setdefault(current, []).append(word)
        elif wanted:
            wanted[current].append(word)
        else:
            raise LabError(f"lab/check: no test suite '{word}' (there are: {' '.join(suites)})", 2)
    chosen: list[CaseItem] = []
    for suite, tests in wanted.items():
        own = suites.get(suite, [])  # none if it cannot be read
        found = [i for i in own if not tests and (tier in ("", "all") or i.tier == tier)]
        whole = [i for i in own if i.info.name.removeprefix(f"{suite}/") in [t.removeprefix(f"{suite}/") for t in tests]]
        for test in tests:
            if not any(i.info.name in (test, f"{suite}/{test}") for i in whole):
                found += _with_case(own, suite, test)
        for item in whole:  # asked for by its own name: other words narrow other tests only
            item.only.clear()
        found += whole
        names = {i.info.name for i in found}
        while more := {n for i in own if i.info.name in names for n in i.info.needs} - names:
            names |= more
        chosen += [i for i in own if i.info.name in names]
    return chosen


def suite_file(name: str) -> Path:
    """The module of a suite."""
    return SUITES / f"test_{name.replace('-', '_')}.py"


def _with_case(items: list[CaseItem], suite: str, word: str) -> list[CaseItem]:
    """The tests with a runner that knows `word`; it is noted down with them.

    IGT's subtests are known. What cargo, pytest and piglit have is not, so they get any other word.
    """
    found: list[CaseItem] = []
    runners = {i.info.runner for i in items} - {""}
    if "igt" in runners and (word.startswith("radeon_") or runners == {"igt"}):
        from . import graph

        graph.ensure("igt")
        for item in items:
            if item.info.runner == "igt":
                # In the first boot that has it: another of the same subtest would tell nothing new.
                cases = [c for c in testing.owned(item.info, [word]) if not any(c in i.only for i in found)]
                item.only += cases
                found += [item] if cases else []
    else:
        for item in items:
            if item.info.runner not in ("", "igt"):
                item.only.append(word)
                found.append(item)
    if not found:
        raise LabError(f"lab/check: suite '{suite}' has no test '{word}' (lab/check --list has all)", 2)
    return found


# What has been found, on the process that ran it

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: CallInfo[None]) -> Generator[None, TestReport, TestReport]:
    report = yield
    if isinstance(item, CaseItem) and call.when == "call" and item.lab:
        status = {"passed": "ok", "failed": "fail", "skipped": "skip"}[report.outcome]
        reason = ""
        if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
            reason = re.sub("^Skipped: ?", "", report.longrepr[2])
        elif report.outcome == "failed":
            reason = getattr(getattr(report.longrepr, "reprcrash", None), "message", None) or str(report.longrepr)
            reason = reason.removeprefix("Failed: ")
            item.lab.note(report.longreprtext)
        for title, text in report.sections:
            item.lab.note(f"--- {title}\n{text}")
        if status == "skip" and reason.strip() in ("", "Skipped"):
            status, report.outcome, reason = "fail", "failed", "skipped without a reason"
            report.longrepr = reason
        item.config.stash.setdefault(STATES, {})[item.info.name] = status
        record = testing.as_record(item.info, item.lab, status, " ".join(reason.split()), report.duration, item.cpu)
        report.nomap = record  # type: ignore[attr-defined]
    return report


# What is shown and kept, on the process that the user started

class Reporter:
    """Shows each test as it ends, and keeps its record."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.colours = os.isatty(1)
        self.begun = time.monotonic()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if not self.config.getoption("tests"):
            return
        for item in session.items:
            if isinstance(item, CaseItem):
                print(f"{item.info.name:<48} {item.tier:<6} {item.info.runner}".rstrip())
        session.items.clear()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module that cannot be read is a failure."""
        if report.failed:
            name = Path(report.nodeid).stem.removeprefix("test_").replace("_", "-")
            lab = Lab(Info(f"{name}/suite"))
            lab.note(report.longreprtext)
            reason = f"the suite cannot be read: {report.longreprtext.splitlines()[-1]}"
            record = testing.as_record(lab.info, lab, "fail", reason, 0.0, 0.0)
            testing.append_record(RECORDS, record)
            self.show(record)

    def pytest_runtest_logreport(self, report: TestReport) -> None:
        record: dict[str, Any] | None = getattr(report, "nomap", None)
        if record is None:
            return
        testing.append_record(RECORDS, record)
        self.show(record)
        for case in record["cases"]:
            outcome: Any = {"pass": "passed", "fail": "failed", "skip": "skipped"}[case["status"]]
            text = "\n".join([case["reason"], *case["output"]])
            skipped = (str(report.fspath), 0, f"Skipped: {case['reason']}")
            for when in ("call", "teardown"):
                self.config.hook.pytest_runtest_logreport(report=TestReport(
                    f"{report.nodeid}::{case['name']}", report.location, {}, outcome if when == "call" else "passed",
                    (text if outcome == "failed" else skipped if outcome == "skipped" else None) if when == "call" else None,
                    when, duration=case["seconds"]))

    def show(self, record: dict[str, Any]) -> None:
        word = {"ok": "ok", "fail": "FAIL", "skip": "skip"}[record["status"]]
        colour = {"ok": "32", "FAIL": "31", "skip": "33"}[word]
        mark = f"\033[{colour}m{word:<4}\033[0m" if self.colours else f"{word:<4}"
        lines = [f"{mark} {record['name']:<50} {record['seconds']:4.0f} s"]
        cases = record["cases"]
        if cases:
            n = {s: sum(c["status"] == s for c in cases) for s in ("pass", "fail", "skip")}
            lines.append(f"     {n['pass']} passed, {n['fail']} failed, {n['skip']} skipped")
            lines += [f"     | {c['name']}: {c['reason']}" for c in cases if c["status"] == "fail"][:40]
            lines += [f"     | skip {c['name']}: {c['reason']}" for c in cases if c["status"] == "skip"][:40]
        elif record["reason"]:
            lines.append(f"     {record['reason'][:400]}")
        if record["status"] == "fail":
            lines.append(f"     {record['log']} ends:")
            lines += [f"     | {line}" for line in testing.tail_of(record).splitlines()]
        os.write(1, ("\n".join(lines) + "\n").encode())


def pytest_report_teststatus(report: Any) -> tuple[str, str, str] | None:
    """No letters: the reporter shows each test."""
    if isinstance(report, TestReport):
        return (report.outcome if report.when == "call" or report.failed else "", "", "")
    return None


def pytest_xdist_auto_num_workers() -> int:
    """-n auto: a suite with guests and one that compiles, side by side."""
    return min(2, os.cpu_count() or 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler.loadscope import LoadScopeScheduling

    # Known on each worker only: by name.
    builds = frozenset(os.environ.get("NOMAP_BUILD_SUITES", "").split())

    class BySuite(LoadScopeScheduling):  # type: ignore[misc]
        """Whole suites; the last worker prefers those that compile, the others those with guests."""

        def _split_scope(self, nodeid: str) -> str:
            return nodeid.split("::")[0]

        def _assign_work_unit(self, node: Any) -> None:
            last = node is list(self.assigned_work)[-1]
            order = list(self.registered_collections[node])
            first: dict[str, int] = {}
            for n, nodeid in enumerate(order):
                first.setdefault(self._split_scope(nodeid), n)

            def rank(scope: str) -> tuple[bool, int]:
                compiles = Path(scope).stem.removeprefix("test_").replace("_", "-") in builds
                return compiles != last, first[scope]

            best = min(self.workqueue, key=rank)
            self.workqueue.move_to_end(best, last=False)
            super()._assign_work_unit(node)

    return BySuite(config, log)


