# SPDX-License-Identifier: MIT
"""Results of the driver's KUnit tests, which run when the module is loaded, in the kernel's log."""

import re

#: A line of KTAP, behind the time: the result of a test, of one of its parameters or of a suite.
RESULT = re.compile(r"(?P<result>ok|not ok) \d+ (?P<name>[^#]*?)(?: # (?P<directive>SKIP).*)?$")
#: The line before what was expected and what was there.
FAILED = re.compile(r"# (?P<test>\w+): (?:EXPECTATION|ASSERTION) FAILED at ")
#: What all tests of the driver are called; their suites have other names.
TEST = "radeon_gem_rw_test_"


def results(log: str) -> dict[str, tuple[str, str]]:
    """{test: (result, message)} of the driver's tests; the results are pass, fail and skip.

    A test that failed has the first of its messages, behind the name of the parameter if there is one.
    """
    found: dict[str, tuple[str, str]] = {}
    messages: dict[str, str] = {}
    parameters: dict[str, str] = {}
    lines = [re.sub(r"^(?:<\d+>)?\[ *[\d.]+\] ?", "", line) for line in log.splitlines()]
    failed = ""
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if known := FAILED.search(line):
            failed = known["test"]
            messages.setdefault(failed, after.strip())
        elif known := RESULT.search(line.strip()):
            bad, name = known["result"] == "not ok", known["name"].strip()
            if name.startswith(TEST):
                text = ": ".join(filter(None, (parameters.get(name), messages.get(name, "it failed"))))
                found[name] = ("fail", text) if bad else ("skip" if known["directive"] else "pass", "")
            elif bad and failed:
                parameters.setdefault(failed, name)
    return found


def as_igt(log: str) -> dict[str, dict[str, dict[str, str]]]:
    """The same as igt_runner writes it, with "kunit" for the program's name."""
    return {"tests": {f"kunit@{name}": {"result": result, "out": "", "err": f"CRITICAL: {text}\n" if text else ""}
                      for name, (result, text) in results(log).items()}}
