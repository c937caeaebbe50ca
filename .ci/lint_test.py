# SPDX-License-Identifier: MIT
"""Tests of .ci/lint: each check finds a fault that is planted for it in a repository of its own,
and nothing where there is none."""

import pathlib
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent

# Each check, a file that it has to complain about, and the file's contents. Words that the checks
# of this repository look for are put together here.
FAULTS = [
    ("shell", "run.sh", "#!/bin/bash\n# SPDX-License-Identifier: MIT\ncd $1; rm $2\n"),
    ("house", "list", "http://" + "deb." + "debian.org/debian\n"),
    ("house", "bios.rom", "x\n"),
    ("words", "a.md", "The lab can" + " not.\n"),
    ("words", "a.md", "A fold" + "er.\n"),
    ("spdx", "a.c", "int a;\n"),
    ("spdx", "tool", "#!/bin/sh\ntrue\n"),
    ("whitespace", "a.md", "words \n"),
    ("whitespace", "a.md", "words\r\n"),
    ("whitespace", "a.md", "words"),
    ("whitespace", "a.md", "<<<<<<" + "< HEAD\n"),
    ("syntax", "a.py", "# SPDX-License-Identifier: MIT\ndef f(:\n"),
    ("syntax", "a.toml", "# SPDX-License-Identifier: MIT\na = \n"),
    ("syntax", "a.yml", "# SPDX-License-Identifier: MIT\na: [\n"),
    ("links", "a.md", "[there](nowhere.md)\n"),
    ("links", "a.md", "# A title\n\n[there](a.md#another-title)\n"),
]
TOOLS = {"shell": "shellcheck"}


def lint(top, *names):
    """Runs .ci/lint of the repository at top."""
    return subprocess.run([".ci/lint", *names], cwd=top, capture_output=True, text=True, check=False)


@pytest.fixture
def top(tmp_path):
    """A git repository with .ci alone, and with nothing to complain about."""
    shutil.copytree(HERE, tmp_path / ".ci", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "a.md").write_text("# A title\n\n[here](a.md#a-title), [.ci](.ci/lint)\n")
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_nothing_is_found_where_there_is_nothing(top):
    run = lint(top, "house", "words", "spdx", "whitespace", "syntax", "links")
    assert run.returncode == 0, run.stdout
    assert run.stdout.count("ok ") == 6


@pytest.mark.parametrize("name, path, contents", FAULTS)
def test_each_check_finds_its_fault(top, name, path, contents):
    if name in TOOLS and not shutil.which(TOOLS[name]):
        pytest.skip(f"no {TOOLS[name]}")
    (top / path).write_bytes(contents.encode())
    subprocess.run(["git", "add", "-A"], cwd=top, check=True)
    run = lint(top, name)
    assert run.returncode == 1, run.stdout
    assert run.stdout.startswith(f"FAILED   {name}\n")
    assert path in run.stdout


def test_a_missing_tool_skips_here_and_fails_in_ci(top):
    # No shellcheck in this path, but what the script itself needs.
    bare = top / "bin"
    bare.mkdir()
    for tool in ("bash", "dirname", "git", "env"):
        (bare / tool).symlink_to(shutil.which(tool))
    command = [str(top / ".ci/lint"), "shell"]
    run = subprocess.run(command, env={"PATH": str(bare)}, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout[:7]) == (0, "skipped")
    run = subprocess.run(command, env={"PATH": str(bare), "CI": "true"}, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout[:6]) == (1, "FAILED")


def test_an_unknown_check_is_refused(top):
    run = lint(top, "nosuch")
    assert run.returncode == 2 and "no check 'nosuch'" in run.stderr
