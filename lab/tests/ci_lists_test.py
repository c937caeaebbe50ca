# SPDX-License-Identifier: MIT
"""emulator/ci/lists: what the CI job for others tells deqp-runner is what the lab knows, and is written nowhere twice."""
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nomap_lab.commands import piglit as piglit_command
from nomap_lab.paths import TOP
from nomap_lab.piglit import known

SETS = TOP / "lab/piglit-sets"
FAILS = """# a comment
dEQP-GLES3.functional.a[b],Fail
spec@!opengl 1.1@draw (x+y){1,2},Crash
"""


def run(tmp_path: Path, chip: str, *options: str) -> tuple[list[str], list[str]]:
    """The flakes and skips that the program writes of Mesa's lists."""
    for kind, text in {"fails": FAILS, "flakes": "# sometimes\nspec@flaky$\n", "skips": "glx@\n\n# slow\nslow\n"}.items():
        (tmp_path / f"r600-{chip}-{kind}.txt").write_text(text)
    subprocess.run([sys.executable, TOP / "emulator/ci/lists", *options, chip, tmp_path, tmp_path / "out"], check=True)
    flakes, skips = ((tmp_path / f"out-{kind}.txt").read_text().splitlines() for kind in ("flakes", "skips"))
    return flakes, skips


@pytest.mark.parametrize("chip", ["rv770", "turks"])
def test_all_that_may_fail_is_a_flake(tmp_path, chip):
    flakes, skips = run(tmp_path, chip)
    assert skips == ["glx@", "slow"]
    matches = re.compile("|".join(f"(?:{flake})" for flake in flakes)).search
    names = [name.rpartition(",")[0] for file in [*piglit_command.known_fails(chip), "deqp-known-fails"]
             for name, _ in known.failures((SETS / file).read_text(), "")]
    names += ["dEQP-GLES3.functional.a[b]", "spec@!opengl 1.1@draw (x+y){1,2}", "spec@flaky", "spec@arb_timer_query@timestamp-get"]
    assert len(names) > 30
    for name in names:
        assert matches(name), name
        # Nothing is a flake because its name begins or ends so.
        assert not matches(f"{name}~") and (name == "spec@flaky" or not matches(f"x{name}"))
    # A name of Mesa's lists has no alternatives, nor is it an expression.
    assert not matches("dEQP-GLES3.functional.ab") and not matches("spec@!opengl 1.1@draw (x+y)1")
    assert len(flakes) == len(set(flakes))


def test_the_lists_of_reasons_can_be_elsewhere(tmp_path):
    for name in ("known-fails", "deqp-known-fails", "known-flakes"):
        (tmp_path / name).write_text(f"# why\n{name},Fail  # because\n" if "fails" in name else "^now and then$  # time\n")
    flakes, _ = run(tmp_path, "rv770", "--known", str(tmp_path))
    assert flakes[-3:] == ["^known-fails$", "^deqp-known-fails$", "^now and then$"]


def test_what_is_missing_is_named(tmp_path):
    done = subprocess.run([sys.executable, TOP / "emulator/ci/lists", "rv770", tmp_path, tmp_path / "out"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "r600-rv770-fails.txt: No such file" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("chip", ["rv770", "turks"])
def test_the_job_reads_what_the_program_writes(chip):
    job = (TOP / "emulator/ci/gitlab-ci.yml").read_text()
    assert f"r600-{chip}-r7xx:" in job and f"R7XX_CHIP: {chip}" in job
    assert "r7xx-lists $R7XX_CHIP install lists" in job and "--baseline" not in job
    assert "--flakes lists-flakes.txt --skips lists-skips.txt" in job
    assert "emulator/ci/lists" in (TOP / "emulator/ci/Containerfile").read_text()
