# SPDX-License-Identifier: MIT
"""nomap_lab.board_tests executes all tests that were compiled, and says which failed."""

import json
import subprocess
import sys

from nomap_lab import cases


def compiled(path, *scripts):
    """A directory as "build" leaves it, with shell scripts as test programs."""
    tests = []
    for i, script in enumerate(scripts):
        file = path / f"{i}-t"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        tests.append({"file": file.name, "package": ".", "source": f"tests/t{i}.rs", "unit": False})
    (path / "tests.json").write_text(json.dumps(tests))
    return path


def run(path, *args):
    r = subprocess.run([sys.executable, "-B", "-m", "nomap_lab.board_tests", "run", path, *args],
                       capture_output=True, text=True, check=False)
    return r.returncode, r.stdout, r.stderr


def test_goes_on_after_a_failure(tmp_path):
    path = compiled(tmp_path, "echo 'test a ... FAILED'; exit 101", "echo 'test b ... ok'")
    status, out, err = run(path)
    assert status == 101 and "0-t: exit status 101" in err
    assert [(c.name, c.status) for c in cases.read_cargo(out, None)] == [("t0::a", cases.FAIL), ("t1::b", cases.PASS)]


def test_passes_arguments_and_the_programs(tmp_path):
    path = compiled(tmp_path, 'echo "$* $R7XX_BOARD $R7XX_RUN $R7XX_REPLAY"; test -e Cargo.toml')
    status, out, _ = run(path, "one", "--exact")
    assert status == 0 and f"one --exact {path}/r7xx-board {path}/r7xx {path}/r7xx-replay" in out


def test_nothing_compiled_is_no_success(tmp_path):
    assert run(compiled(tmp_path))[0] not in (0, 101)
    assert run(tmp_path / "missing")[0] != 0
