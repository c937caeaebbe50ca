# SPDX-License-Identifier: MIT
"""Tests of .ci/lint: each check finds a fault that is planted for it in a repository of its own,
and nothing where there is none."""

import os
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


# -- versions --------------------------------------------------------------------------

CRATES = {"emulator/Cargo.toml": '[workspace.package]\nversion = "0.4.0"\n',
          "emulator/Cargo.lock": '[[package]]\nname = "r7xx-board"\nversion = "0.4.0"\n'}


def commit(top, day, **files):
    """Commits files of the repository at top, at noon of a day of November 2026."""
    for path, text in files.items():
        file = top / path.replace("__", "/").replace("_md", ".md")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    date = f"2026-11-{day}T12:00:00+0000"
    subprocess.run(["git", "add", "-A"], cwd=top, check=True)
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", f"of {day}"],
                   cwd=top, check=True, env={**os.environ, "GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date})


@pytest.fixture
def released(top):
    """The repository of a release of 24 November: a package "board" of the directory "board"."""
    for path, text in CRATES.items():
        (top / path).parent.mkdir(exist_ok=True)
        (top / path).write_text(text, encoding="utf-8")
    commit(top, 24, CHANGELOG_md="## 0.4.0 - 2026-11-24\n", packaging__board__files="board\n", board__a="1\n")
    assert lint(top, "version").stdout == "ok       version\n"
    return top


@pytest.mark.parametrize("path", ["board__a", "packaging__board__debian", "libdrm__patches__1", "packaging__release"])
def test_a_package_that_changes_after_the_release_needs_a_heading(released, path):
    commit(released, 25, **{path: "2\n"})
    run = lint(released, "version")
    assert run.returncode == 1 and "of 25" in run.stdout and "UNRELEASED" in run.stdout, run.stdout
    # From then on nobody is asked again, until there is a date.
    commit(released, 26, CHANGELOG_md="## 0.4.0 - UNRELEASED\n\n## 0.3.0 - 2026-11-24\n", **{path: "3\n"})
    assert lint(released, "version").returncode == 0
    commit(released, 27, CHANGELOG_md="## 0.4.0 - 2026-11-27\n\n## 0.3.0 - 2026-11-24\n")
    assert lint(released, "version").returncode == 0


def test_what_is_in_no_package_may_change(released):
    commit(released, 25, docs__a_md="1\n", board__README_md="1\n", packaging__tests__a="1\n")
    assert lint(released, "version").returncode == 0


def test_the_tag_of_a_release_is_more_exact_than_its_day(released):
    subprocess.run(["git", "tag", "v0.4.0"], cwd=released, check=True)
    commit(released, 24, board__a="2\n")
    assert lint(released, "version").returncode == 1


@pytest.mark.parametrize("path", list(CRATES))
def test_the_crates_have_the_version_of_the_release(released, path):
    commit(released, 24, **{path: CRATES[path].replace("0.4.0", "0.3.0")})
    run = lint(released, "version")
    assert run.returncode == 1 and f"{path} has version 0.3.0" in run.stdout, run.stdout


def test_without_history_versions_are_not_checked(released, tmp_path_factory):
    commit(released, 25, board__a="2\n")
    clone = tmp_path_factory.mktemp("shallow") / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{released}", clone], check=True)
    run = lint(clone, "version")
    assert run.returncode == 0 and run.stdout.startswith("skipped  version: the history"), run.stdout
    shutil.rmtree(clone / ".git")
    assert lint(clone, "version").stdout.startswith("skipped  version: the history")


def test_a_changelog_without_a_heading_is_found(released):
    commit(released, 24, CHANGELOG_md="## Unreleased\n")
    assert lint(released, "version").returncode == 1
