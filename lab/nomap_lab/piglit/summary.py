# SPDX-License-Identifier: MIT
"""Gathers the results of a run of lab/piglit or lab/deqp, and judges them.

Reads from the directory of a run DIR/names (the tests), DIR/absent.csv, DIR/fails.txt (Mesa
CI's list of failures on a real chip), DIR/known ("NAME,STATUS  # cause" of other failures that are expected), the
results.csv that piglit-runner left in DIR/out or DIR/parts/*/out with
its logs, and DIR/guest.N.status (guests that ended badly: exit status of lab/run).
Writes to DIR

    results.csv   NAME,STATUS as piglit-runner has them
    results.json  the same in piglit's format, for lab/check. What fails on the real chip as
                  well counts as skipped
    summary.html  counts, what is worse than on the real chip, what is better
"""
import collections
import csv
import html
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

# What piglit-runner says of a test, and what it means.
MEANING = {
    "Pass": "passes",
    "Skip": "is skipped",
    "Warn": "warns",
    "ExpectedFail": "fails, as on the real chip or for a known reason",
    "UnexpectedImprovement(Pass)": "passes, and fails on the real chip",
    "UnexpectedImprovement(Skip)": "is skipped, and fails on the real chip or for a known reason",
    "UnexpectedImprovement(Fail)": "fails, and crashes on the real chip",
    "KnownFlake": "is not as expected, and is on a list of flakes",
    "Flake": "failed once, then passed",
    "Fail": "fails",
    "Crash": "crashes",
    "Timeout": "takes too long",
    "Missing": "gave no result",
}
# A warning counts as passed, as piglit-runner counts it.
WORSE = ("Fail", "Crash", "Timeout", "Missing", "Flake")
PIGLIT = {"Pass": "pass", "Skip": "skip", "Warn": "pass", "ExpectedFail": "skip", "KnownFlake": "skip",
          "UnexpectedImprovement(Pass)": "pass", "UnexpectedImprovement(Skip)": "skip",
          "UnexpectedImprovement(Fail)": "skip", "Flake": "fail",
          "Crash": "crash", "Timeout": "timeout"}

#: Name of a test to (status, seconds).
Results = dict[str, tuple[str, float]]
#: Name of a test, as the file name of its log has it, to the log's lines.
Logs = dict[str, list[str]]


def read_results(run: Path) -> Results:
    """Results of the run."""
    results: Results = {}
    for path in [run / "out" / "results.csv", *sorted(run.glob("parts/*/out/results.csv"))]:
        if not path.exists():
            continue
        with path.open(newline="") as file:
            for row in csv.reader(file):
                if len(row) >= 2:
                    results[row[0]] = (row[1], float(row[2]) if len(row) > 2 else 0.0)
    with (run / "absent.csv").open(newline="") as file:
        for name, status in csv.reader(file):
            results[name] = (status, 0.0)
    # piglit-runner's results do not have the tests of its list of skips.
    skips = [re.compile(line.strip()) for line in (run / "skips.txt").read_text().splitlines() if line.strip()]
    for name in (run / "names").read_text().splitlines():
        if any(skip.search(name) for skip in skips):
            results.setdefault(name, ("Skip", 0.0))
        else:
            results.setdefault(name, ("Missing", 0.0))
    return results


def read_logs(run: Path) -> Logs:
    """Logs of tests that did not pass."""
    logs = {}
    for path in run.rglob("*.log"):
        if path.parent.name != "out":
            continue
        lines = path.read_text(errors="replace").splitlines()
        # NAME.cGROUP.rRUN.log
        name = re.sub(r"(\.c\d+)?(\.r\d+)?\.log$", "", path.name)
        logs[name] = [line for line in lines if line.strip() and not line.startswith("PIGLIT: {\"enum")]
    return logs


def squeezed(name: str) -> str:
    """The letters and digits of a name, to compare it with the file name of a log."""
    return re.sub(r"[^A-Za-z0-9]+", "", name)


def said(name: str, logs: Logs) -> list[str]:
    """The last lines of the test's log. Subtests use the log of their test."""
    key = squeezed(name)
    best = ""
    for log in logs:
        if key.startswith(squeezed(log)) and len(log) > len(best):
            best = log
    return logs.get(best, [])[-12:]


def write_json(path: Path, results: Results, logs: Logs) -> None:
    """Writes results.json."""
    tests = {}
    for name, (status, seconds) in results.items():
        result = PIGLIT.get(status, "fail")
        err = "\n".join(said(name, logs)) if status in WORSE else ""
        if result == "skip":
            err = MEANING[status] if status != "Skip" else "not supported on this chip, or on Mesa CI's list of skips"
        tests[name] = {"result": result, "err": err, "time": {"start": 0.0, "end": seconds}}
    path.write_text(json.dumps({"results_version": 10, "tests": tests}))


def table(title: str, rows: list[tuple[str, str]], logs: Logs) -> str:
    """A table of tests and what they said, or nothing if there are none."""
    if not rows:
        return ""
    parts = [f"<h2>{html.escape(title)} ({len(rows)})</h2><table><tr><th>Test<th>Result<th>It said</tr>"]
    for name, status in rows:
        text = "\n".join(said(name, logs))
        parts.append(f"<tr><td>{html.escape(name)}<td>{html.escape(status)}<td><pre>{html.escape(text)}</pre></tr>")
    return "".join(parts) + "</table>"


def read_known(run: Path) -> dict[str, str]:
    """Failures that are not on Mesa CI's list: name to cause."""
    lines = (line.split("#", 1) for line in (run / "known").read_text().splitlines() if "#" in line)
    return {test.strip().rsplit(",", 1)[0]: cause.strip() for test, cause in lines}


def write_html(path: Path, title: str, results: Results, logs: Logs, seconds: int,
               guests: Iterable[tuple[str, str]], known: Mapping[str, str], suite: str) -> None:
    """Writes summary.html."""
    counts = collections.Counter(status for status, _ in results.values())
    names = sorted(results)
    worse = [(name, results[name][0]) for name in names if results[name][0] in WORSE]
    better = [(name, results[name][0]) for name in names if results[name][0].startswith("Unexpected")]
    same = [(name, results[name][0]) for name in names
            if results[name][0] in ("ExpectedFail", "KnownFlake") and name not in known]
    rest = [(name, known[name]) for name in names if results[name][0] == "ExpectedFail" and name in known]
    slow = sorted(((took, name) for name, (_, took) in results.items()), reverse=True)[:10]
    lines = "".join(f"<tr><td>{n}<td>{html.escape(MEANING.get(s, s))}</tr>" for s, n in counts.most_common())
    died = "".join(f"<p>Guest {g} ended with status {s}.</p>" for g, s in guests)
    path.write_text(
        f"<!DOCTYPE html><meta charset=utf-8><title>{suite}</title>"
        "<style>body{font-family:sans-serif}"
        "td,th{border:1px solid #bbb;padding:2px 6px;text-align:left;vertical-align:top}"
        "table{border-collapse:collapse}"
        "pre{margin:0;max-width:60em;white-space:pre-wrap}</style>"
        f"<h1>{suite}: {html.escape(title)}</h1><p>{len(results)} results in {seconds} s.</p>"
        f"{died}<table>{lines}</table>"
        + table("Worse than on a real RV770", worse, logs)
        + table("Kinder than a real RV770", better, logs)
        + table("For a known reason", rest, {})
        + table("As on a real RV770", same, {})
        + "<h2>Slowest</h2><table>"
        + "".join(f"<tr><td>{took:.1f} s<td>{html.escape(name)}</tr>" for took, name in slow) + "</table>")


def summarise(run: Path, title: str, seconds: int, suite: str = "piglit") -> bool:
    """Writes the files and prints what is worse than on the real chip.

    Returns whether nothing is: no test did worse, and no guest ended badly.
    """
    results, logs = read_results(run), read_logs(run)
    guests = [(path.name.split(".")[1], path.read_text().strip()) for path in sorted(run.glob("guest.*.status"))]
    with (run / "results.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows((name, results[name][0]) for name in sorted(results))
    write_json(run / "results.json", results, logs)
    write_html(run / "summary.html", title, results, logs, seconds, guests, read_known(run), suite)
    counts = collections.Counter(status for status, _ in results.values())
    for name in sorted(results):
        if results[name][0] in WORSE:
            print(f"{name}: {MEANING[results[name][0]]}")
    chip_passes = sum(n for status, n in counts.items() if status in WORSE or status == "Pass")
    print(f"{suite}: {len(results)} results: " + ", ".join(f"{n} {s}" for s, n in counts.most_common())
          + (f"; {100 * counts['Pass'] / chip_passes:.1f} % of what the real chip passes" if chip_passes else ""))
    for guest, status in guests:
        print(f"guest {guest} ended with status {status}")
    return not guests and not any(counts[status] for status in WORSE)
