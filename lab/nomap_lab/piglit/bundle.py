# SPDX-License-Identifier: MIT
"""Piglit's tests of uploads and readbacks as a directory of its own, for report/piglit-set on machines without piglit."""
import ast
import json
import shutil
import subprocess
from pathlib import Path

from nomap_lab.paths import BUILD, TOP, LabError

from . import known, select


def command(test: object, name: str) -> list[str]:
    """The words of a test of the profiles, as piglit runs it without a window system."""
    options = {o.get("name"): o.get("value") for o in test}  # type: ignore[attr-defined]
    words: list[str] = ast.literal_eval(options["command"])
    if any("/" in word for word in words):
        raise LabError(f"piglit's test {name} needs files, which no set for the live image has")
    return [*words, "-auto", *["-fbo"] * (options.get("run_concurrent") == "True")]


def expected(names: list[str], fails: str, flakes: str, also: str = "") -> dict[str, str]:
    """By test, what a real RV770 does: "pass", "fail" or "flake" (now one, now the other).

    "known" is a failure that the file lab/piglit-sets/known-fails, `also`, has the reason of.
    """
    failing = {line.rpartition(",")[0] for line in fails.splitlines()}
    reasons = {line.rpartition(",")[0] for line, _ in known.failures(also, fails)}
    unsteady = set(flakes.splitlines())
    return {name: "flake" if name in unsteady else "fail" if name in failing else "known" if name in reasons else "pass"
            for name in names}


def make(piglit: Path, seen: Path, out: Path) -> None:
    """Fills OUT: bin/ and lib/ of piglit's directory, as far as the set needs them, and tests.json.

    `piglit` is the result of the stage piglit-tests, `seen` that of piglit-expected.
    """
    tests = select.read_profiles(piglit / "piglit")
    names, unknown = select.read_names(TOP / "lab/piglit-sets/upload-readback", tests)
    if unknown:
        raise LabError(f"not in piglit's profiles: {', '.join(unknown[:5])}")
    lists = [(seen / f"rv770-{kind}.txt").read_text(encoding="utf-8") for kind in ("fails", "flakes")]
    also = (TOP / "lab/piglit-sets/known-fails").read_text(encoding="utf-8")
    judged = expected(names, lists[0], lists[1], also)
    listed = [{"name": name, "command": command(tests[name], name), "rv770": judged[name]} for name in names]
    for part in ("bin", "lib"):
        shutil.rmtree(out / part, ignore_errors=True)
        (out / part).mkdir(parents=True)
    for program in sorted({str(test["command"][0]) for test in listed}):
        shutil.copy2(piglit / "piglit/bin" / program, out / "bin" / program)
    # Whose sonames are links there.
    libraries = [p for d in ("lib", "piglit/lib") for p in sorted((piglit / d).glob("*.so*"))]
    subprocess.run(["cp", "-a", *libraries, out / "lib"], check=True)
    shutil.copy2(piglit / "versions", out / "versions")
    (out / "tests.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")


def stage(out: Path) -> None:
    """What the stage "piglit-set" does."""
    make(BUILD / "piglit", BUILD / "piglit-expected", out)
