# SPDX-License-Identifier: MIT
"""The modules of nomap_lab.piglit: a guest that dies costs one test, and results count
as they should."""
import gzip
import io
import json
import re
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as xml

import pytest

from nomap_lab.commands import piglit as piglit_command
from nomap_lab.paths import TOP, LabError
from nomap_lab.piglit import bundle, known, parts, seen, select, summary


def profile(run, count):
    root = xml.Element("PiglitTestList")
    for i in range(count):
        xml.SubElement(root, "Test", type="gl", name=f"spec@test {i}")
    xml.ElementTree(root).write(run / "profile.xml")
    (run / "names").write_text("".join(f"spec@test {i}\n" for i in range(count)))


def finish(part, status="Pass"):
    (part / "out").mkdir()
    lines = (f"{name},{status},0.1\n" for name in (part / "names").read_text().splitlines())
    (part / "out" / "results.csv").write_text("".join(lines))


def test_a_dead_guest_costs_the_test_that_killed_it(tmp_path):
    profile(tmp_path, 30)
    assert len(parts.divide(tmp_path)) == 2
    first, second = sorted((tmp_path / "parts").iterdir())
    assert len((first / "names").read_text().splitlines()) == 25
    # The guest dies during the first part.
    (first / "begun").touch()
    left = parts.divide(tmp_path)
    assert len(left) == 26 and second in left
    # And again, at its fourth test, after three that passed.
    for part in left[:3]:
        (part / "begun").touch()
        finish(part)
    (left[3] / "begun").touch()
    assert parts.divide(tmp_path) == left[4:]
    assert (left[3] / "out" / "results.csv").read_text() == "spec@test 3,Crash,0\n"
    # Those that were not begun are left as they are.
    for part in left[4:]:
        assert not (part / "out").exists()
        finish(part)
    assert not parts.divide(tmp_path)


def summarise(run, rows, names, guests=()):
    profile(run, names)
    (run / "absent.csv").write_text("")
    (run / "skips.txt").write_text("glx@\n")
    (run / "fails.txt").write_text("")
    (run / "known").write_text("spec@test 1,Fail  # the cause\n")
    (run / "out").mkdir()
    (run / "out" / "results.csv").write_text("".join(f"{name},{status},0.5\n" for name, status in rows))
    for number, status in guests:
        (run / f"guest.{number}.status").write_text(f"{status}\n")
    good = summary.summarise(run, "<test>", 3)
    return good, (run / "results.csv").read_text().splitlines()


def test_what_the_chip_fails_may_fail(tmp_path):
    rows = [("spec@test 0", "Pass"), ("spec@test 1", "ExpectedFail"), ("spec@test 2", "UnexpectedImprovement(Pass)")]
    good, lines = summarise(tmp_path, rows, 3)
    assert good
    assert lines == [f"{name},{status}" for name, status in rows]
    assert "the cause" in (tmp_path / "summary.html").read_text()
    tests = json.loads((tmp_path / "results.json").read_text())["tests"]
    assert [tests[name]["result"] for name, _ in rows] == ["pass", "skip", "pass"]
    assert tests["spec@test 1"]["err"]


def test_what_is_worse_fails(tmp_path, capsys):
    for i, status in enumerate(["Fail", "Crash", "Timeout", "Flake"]):
        run = tmp_path / str(i)
        run.mkdir()
        good, _ = summarise(run, [("spec@test 0", status)], 1)
        assert not good and "spec@test 0" in capsys.readouterr().out


def test_a_test_without_result_is_missing(tmp_path):
    good, lines = summarise(tmp_path, [("spec@test 0", "Pass")], 2)
    assert not good
    assert lines[1] == "spec@test 1,Missing"


def test_a_guest_that_ended_badly_is_a_fault(tmp_path, capsys):
    good, _ = summarise(tmp_path, [("spec@test 0", "Pass")], 1, guests=[(1, 70)])
    assert not good and "status 70" in capsys.readouterr().out


def test_logs_are_found_by_name(tmp_path):
    (tmp_path / "part" / "out").mkdir(parents=True)
    (tmp_path / "part" / "out" / "spec@test 0.c3.r2.log").write_text("Probe color at (1,2)\n")
    summarise(tmp_path, [("spec@test 0", "Fail")], 1)
    assert "Probe color at (1,2)" in (tmp_path / "summary.html").read_text()


def test_known_failures_name_many_tests_a_line(tmp_path):
    text = ("# A comment, {as,it} is\n\nspec@a {1,2}@from {X,Y}/to Z,Fail  # the cause\nspec@b,Crash  # another\n")
    # piglit-runner takes no test twice.
    listed = "spec@c,Fail\nspec@a 2@from X/to Z,Fail\n"
    assert known.failures(text, listed) == [
        *((f"spec@a {n}@from {x}/to Z,Fail", "the cause") for n, x in ("1X", "1Y", "2Y")), ("spec@b,Crash", "another")]
    with pytest.raises(LabError, match="without a cause: spec@b,Crash"):
        known.failures("spec@b,Crash\n", listed)


def compare(tmp_path, first, second, *options):
    for name, run in (("first", first), ("second", second)):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "results.csv").write_text("".join(f"{test},{status},0.1\n" for test, status in run.items()))
    return subprocess.run([sys.executable, "-B", "-m", "nomap_lab.piglit.compare", *options, tmp_path / "first",
                           tmp_path / "second"], capture_output=True, text=True, check=False)


def test_runs_are_compared(tmp_path):
    good = {"a": "Pass", "b": "Skip", "c": "ExpectedFail"}
    assert compare(tmp_path, good, good, "--same").returncode == 0
    # What is better in the second run is another result, but not a worse one.
    kinder = good | {"c": "UnexpectedImprovement(Pass)"}
    assert compare(tmp_path, good, kinder).returncode == 0
    assert compare(tmp_path, good, kinder, "--same").returncode == 1
    assert compare(tmp_path, kinder, good).returncode == 1
    assert compare(tmp_path, good, good | {"b": "Pass"}, "--same").returncode == 1
    worse = compare(tmp_path, good, good | {"a": "Fail"})
    assert worse.returncode == 1 and "a: Pass, then Fail" in worse.stderr
    assert compare(tmp_path, good | {"a": "Warn"}, good, "--same").returncode == 0
    assert compare(tmp_path, good, good | {"a": "KnownFlake"}, "--same").returncode == 0
    # Nor may one have run what the other has not, or nothing have passed.
    assert compare(tmp_path, good, good | {"d": "Pass"}).returncode == 1
    assert compare(tmp_path, good | {"d": "Skip"}, good).returncode == 1
    assert compare(tmp_path, {"b": "Skip"}, {"b": "Skip"}).returncode == 1


def test_names_are_looked_up_in_piglits_profiles(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "here.shader_test").touch()
    generated = tmp_path / "generated_tests/spec/glsl-4.30"
    generated.mkdir(parents=True)
    (generated / "g.shader_test").touch()
    for profile, names in (("quick_gl", ["a@b,c", "a@gone"]), ("quick_shader", ["s#1", "s#2", "glsl4"])):
        root = xml.Element("PiglitTestList")
        for name in names:
            file = {"a@gone": "tests/gone", "glsl4": "generated_tests/spec/glsl-4.30/g"}.get(name, "tests/here")
            xml.SubElement(xml.SubElement(root, "Test", name=name), "option", name="command",
                           value=f"['shader_runner', '{file}.shader_test']")
        with gzip.open(tmp_path / "tests" / f"{profile}.xml.gz", "wb") as f:
            f.write(xml.tostring(root))
    profiles = select.read_profiles(tmp_path)
    file = tmp_path / "list"
    file.write_text("# comment\ns*  # both\na@b,c\na@gone\nglsl4\n")
    names = select.listed(profiles, file, [], "list")
    assert names == ["s#1", "s#2", "a@b-c", "a@gone", "glsl4"]
    assert select.listed(profiles, file, [re.compile("2$")], "list") == ["s#2"]
    with pytest.raises(LabError, match="it names no test that -t matches"):
        select.listed(profiles, file, [re.compile("x")], "list")
    out = tmp_path / "out"
    assert select.choose(tmp_path, names, profiles, False, out) == 3
    assert (out / "names").read_text() == "s#1\ns#2\na@b-c\n"
    assert (out / "absent.csv").read_text() == "a@gone,Skip\nglsl4,Skip\n"
    assert [test.get("name") for test in xml.parse(out / "profile.xml").getroot()] == ["s#1", "s#2", "a@b,c"]
    # Chips that have GLSL 4 run generated tests of it.
    assert select.choose(tmp_path, names, profiles, True, out) == 4
    assert (out / "absent.csv").read_text() == "a@gone,Skip\n"
    file.write_text("a@b,c\nnosuch\n")
    with pytest.raises(LabError, match="quick_shader: nosuch$"):
        select.listed(profiles, file, [], "list")
    assert select.sample(tmp_path, 9, 1, False) == ["a@b-c", "s#1", "s#2"]
    # Also where their files are not: the stage that has them is built when they are to be run.
    (generated / "g.shader_test").unlink()
    assert select.sample(tmp_path, 9, 1, True) == ["a@b-c", "glsl4", "s#1", "s#2"]


def test_lists_of_mesa_ci(tmp_path):
    many = "".join(f"spec@{i},Fail\n" for i in range(600))
    lists = {"rv770-fails": "dEQP-GLES2.a,Fail\n" + many, "turks-fails": many.replace("spec@1,", "spec@only turks,"),
             "turks-skips": "# Hangs the GPU\nspec@hangs\n"}
    with tarfile.open(tmp_path / "mesa_1.orig.tar.xz", "w:xz") as tar:
        for name, text in {f"src/gallium/drivers/r600/ci/r600-{k}.txt": v for k, v in lists.items()}.items() | {
                (".gitlab-ci/gbm-skips.txt", "spec@front\n")}:
            info = tarfile.TarInfo(f"mesa-1/{name}")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    seen.expected(tmp_path, tmp_path / "out")
    assert (tmp_path / "out/rv770-fails.txt").read_text() == many
    assert (tmp_path / "out/turks-skips.txt").read_text().splitlines()[:2] == ["spec@hangs", "spec@front"]
    assert "spec@front\n" in (tmp_path / "out/rv770-skips.txt").read_text()
    assert "spec@only turks,Fail\n" in (tmp_path / "out/turks-fails.txt").read_text()
    assert (tmp_path / "out/turks-flakes.txt").read_text() == ""


def test_the_live_images_set_knows_what_a_real_chip_does() -> None:
    fails, flakes = "a,Fail\nb@part,Fail\n", "c\n"
    also = "{d,a},Fail  # a reason\n"
    assert bundle.expected(["a", "b", "c", "d", "e"], fails, flakes, also) == {
        "a": "fail", "b": "pass", "c": "flake", "d": "known", "e": "pass"}


def test_the_live_images_set_runs_tests_as_piglit_does() -> None:
    def test(command: str, concurrent: str) -> xml.Element:
        options = {"command": command, "run_concurrent": concurrent}
        return xml.fromstring("<Test>" + "".join(f'<option name="{k}" value="{v}"/>' for k, v in options.items()) + "</Test>")

    assert bundle.command(test("['pbo', 'draw']", "True"), "x") == ["pbo", "draw", "-auto", "-fbo"]
    # Without -fbo a test has a window, or rather the buffer that it would show.
    assert bundle.command(test("['pbo']", "False"), "x") == ["pbo", "-auto"]
    with pytest.raises(LabError, match="needs files"):
        bundle.command(test("['shader_runner', 'tests/x.shader_test']", "True"), "x")


@pytest.mark.parametrize("chip", ["rv770", "rv670", "turks", "cayman"])
def test_known_failures_have_causes(chip):
    files = piglit_command.known_fails(chip)
    assert ("r6xx-known-fails" in files) == (chip == "rv670")
    assert ("cayman-known-fails" in files) == (chip == "cayman")
    text = "".join((TOP / "lab/piglit-sets" / name).read_text() for name in files)
    # Raises for a failure without a cause; piglit-runner takes no test twice.
    names = [test.rpartition(",")[0] for test, _ in known.failures(text, "")]
    assert len(names) == len(set(names)) > 10
