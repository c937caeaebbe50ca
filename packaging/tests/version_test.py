# SPDX-License-Identifier: MIT
"""Versions and changelogs of packages, of releases and of what is not released yet."""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import subprocess

import pytest

PACKAGING = pathlib.Path(__file__).resolve().parent.parent
RELEASED = "## 0.4.0 - 2026-11-28\n\n### Added\n\n- One\n  thing.\n\n## 0.3.0 - 2026-11-24\n\n- Another.\n"
UNRELEASED = "## 0.5.0 - UNRELEASED\n\n- New.\n\n" + RELEASED


@pytest.fixture
def run(tmp_path):
    """Runs a program of packaging/ beside a CHANGELOG.md: (status, what it prints, errors)."""
    (tmp_path / "packaging").mkdir()

    def call(changelog, program, *words):
        shutil.copy(PACKAGING / program, tmp_path / "packaging" / program)
        (tmp_path / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
        done = subprocess.run([tmp_path / "packaging" / program, *words], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    return call


@pytest.mark.parametrize("changelog, word, said", [
    (RELEASED, [], "0.4.0"), (RELEASED, ["--suffix"], "+0nomap.0.4.0"), (RELEASED, ["--number"], "0.4.0"),
    (RELEASED, ["--date"], "Sat, 28 Nov 2026 00:00:00 +0000"), (RELEASED, ["--released"], ""),
    (UNRELEASED, [], "0.5.0~unreleased"), (UNRELEASED, ["--suffix"], "+0nomap.0.5.0~unreleased"),
    (UNRELEASED, ["--number"], "0.5.0"),
    (UNRELEASED, ["--date"], "Sat, 28 Nov 2026 00:00:00 +0000")])
def test_version(run, changelog, word, said):
    assert run(changelog, "version", *word) == (0, said and said + "\n", "")


def test_what_is_unreleased_is_no_release(run):
    status, _, why = run(UNRELEASED, "version", "--released")
    assert status == 1 and "0.5.0, is UNRELEASED" in why
    status, _, why = run("## Nothing\n", "version")
    assert status == 1 and "no heading" in why


def test_release_refuses_what_is_unreleased(run, tmp_path):
    (tmp_path / "a.deb").touch()
    (tmp_path / "image").write_text("image", encoding="ascii")
    run(UNRELEASED, "version")
    status, _, why = run(UNRELEASED, "release", str(tmp_path / "out"), str(tmp_path))
    assert status == 1 and "is UNRELEASED" in why
    assert not (tmp_path / "out").exists()


def test_apt_goes_from_each_to_the_next():
    if not shutil.which("dpkg"):
        pytest.skip("no dpkg")
    order = ["0.3.0", "0.4.0~unreleased", "0.4.0", "0.5.0~unreleased"]
    for prefix in ("", "2.4.124-2+0nomap."):
        for one, other in zip(order, order[1:], strict=False):
            assert subprocess.run(["dpkg", "--compare-versions", prefix + one, "lt", prefix + other], check=False).returncode == 0


def test_changelog(run):
    status, text, _ = run(UNRELEASED, "changelog", "board", "A <a@b>")
    assert status == 0
    assert text.startswith("board (0.5.0~unreleased-1) UNRELEASED; urgency=medium\n\n  * New.\n\n"
                           " -- A <a@b>  Sat, 28 Nov 2026 00:00:00 +0000\n")
    assert "board (0.4.0-1) unstable; urgency=medium\n\n  * One thing.\n" in text
    assert text.count("\n -- A <a@b>  ") == 3


def test_the_table_of_checks_is_that_of_the_results():
    done = subprocess.run([PACKAGING / "tests/checked", "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_the_checks_left_is_found(tmp_path):
    """Of a build with one package, of which lintian has said two things."""
    loader = importlib.machinery.SourceFileLoader("checked", str(PACKAGING / "tests/checked"))
    spec = importlib.util.spec_from_loader("checked", loader)
    checked = importlib.util.module_from_spec(spec)
    loader.exec_module(checked)
    deb, package = tmp_path / "build/deb", tmp_path / "build/tools-deb"
    for directory in (package, deb / "test-lintian", deb / "test-autopkgtest/nomap-tools", deb / "test-piuparts"):
        directory.mkdir(parents=True)
    (package / "nomap-tools_1.dsc").write_text("Source: nomap-tools\nVersion: 1-1\n", encoding="ascii")
    (package / "nomap-tools_1-1_amd64.deb").touch()
    (deb / "test-lintian/lintian.txt").write_text(
        "== build/other-deb/*.deb\nE: other: bad\n== build/tools-deb/*.deb\nW: nomap-tools: a-tag [x]\nE: nomap-tools: b-tag\n",
        encoding="ascii")
    (deb / "test-autopkgtest/nomap-tools/summary").write_text("status               PASS\n", encoding="ascii")
    (deb / "test-piuparts/nomap-tools.log").write_text("FAIL: x\n", encoding="ascii")
    found = checked.found(tmp_path)["nomap-tools"]
    assert {name: (result["result"], result["version"]) for name, result in found.items()} == {
        "lintian": ("1 errors (`b-tag`), 1 warnings (`a-tag`)", "1-1"), "autopkgtest": ("`status` PASS", "1-1"),
        "piuparts": ("FAIL", "1-1")}
    (deb / "test-piuparts/nomap-tools.log").write_text("PASS: All tests.\n", encoding="ascii")
    assert checked.found(tmp_path)["nomap-tools"]["piuparts"]["result"] == "PASS"
