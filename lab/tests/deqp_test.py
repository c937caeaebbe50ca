# SPDX-License-Identifier: MIT
"""The modules of nomap_lab.deqp: which source is taken, what a run consists of, and that a guest that dies
costs one test."""
import io
import re
import tarfile
from types import SimpleNamespace

import pytest

from nomap_lab.commands import deqp
from nomap_lab.deqp import groups, lists, source
from nomap_lab.paths import TOP, LabError, UsageError
from nomap_lab.piglit import runs


@pytest.fixture(name="built")
def built_fixture(tmp_path):
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists/gles2.txt").write_text("dEQP-GLES2.a.1\ndEQP-GLES2.a.2\ndEQP-GLES2.b.1\n")
    (tmp_path / "lists/gles3.txt").write_text("dEQP-GLES3.a.1\n")
    return tmp_path


def test_names_modules_and_beginnings(built):
    assert lists.choose("", "gles2", built, []) == ["dEQP-GLES2.a.1", "dEQP-GLES2.a.2", "dEQP-GLES2.b.1"]
    words = "# comment\ndEQP-GLES2.a.*\ndEQP-GLES3.a.1 # why\ndEQP-GLES3.a.1\n"
    assert lists.choose(words, "file", built, []) == ["dEQP-GLES2.a.1", "dEQP-GLES2.a.2", "dEQP-GLES3.a.1"]
    assert lists.choose(words, "file", built, [re.compile("a.2$")]) == ["dEQP-GLES2.a.2"]
    with pytest.raises(UsageError, match="it names no test that -t matches"):
        lists.choose(words, "file", built, [re.compile("none")])
    with pytest.raises(LabError, match="lacks the program of khr-gl33, glcts/glcts") as lacking:
        lists.choose("", "khr-gl33", built, [])
    assert lacking.value.status == 77
    with pytest.raises(UsageError, match="no names of tests of dEQP or KHR: spec@a"):
        lists.choose("spec@a\n", "file", built, [])


def test_a_sample_is_the_same_for_a_seed(built):
    assert lists.sample(built, 2, 5) == lists.sample(built, 2, 5)
    assert len(lists.sample(built, 99, 5)) == 4


def test_modules_of_names():
    of = {"dEQP-GLES3.a": "gles3", "dEQP-GLES31.a": "gles31", "KHR-GLES3.a": "khr-gles3", "KHR-GL33.a": "khr-gl33", "KHR-GL4.a": ""}
    assert {test: source.module_of(test) for test in of} == of
    programs = ["gles31/deqp-gles31", "glcts/glcts", "glcts/glcts"]
    assert [source.program(name) for name in ("gles31", "khr-gl33", "khr-gles2")] == programs


def test_a_dead_guest_costs_the_test_that_killed_it(tmp_path):
    (tmp_path / "names").write_text("".join(f"dEQP-GLES2.t.{i}\n" for i in range(5)) + "dEQP-GLES3.t.0\n")
    assert [p.name for p in lists.divide(tmp_path, 3)] == ["gles2.000000", "gles2.000003", "gles3.000000"]
    (tmp_path / "parts/gles2.000000/begun").touch()
    left = lists.divide(tmp_path, 3)
    assert [p.name for p in left] == ["gles2.000000.000", "gles2.000000.001", "gles2.000000.002", "gles2.000003", "gles3.000000"]
    assert (left[0] / "program").read_text() == "gles2/deqp-gles2\n"
    (left[0] / "begun").touch()
    assert left[0] not in lists.divide(tmp_path, 3)
    assert (left[0] / "out/results.csv").read_text() == "dEQP-GLES2.t.0,Crash,0\n"


@pytest.mark.parametrize("chip", ["rv770", "rv670"])
def test_known_failures_of_r6xx_are_those_of_its_chips(tmp_path, monkeypatch, chip):
    monkeypatch.setattr(runs, "seen", lambda suite, chip: {"fails": "", "skips": "", "flakes": ""})
    deqp.prepare(SimpleNamespace(chip=chip), [], tmp_path)
    fails = (tmp_path / "fails.txt").read_text().splitlines()
    assert ("dEQP-GLES3.functional.fbo.msaa.8_samples.depth_component24,Fail" in fails) == (chip == "rv670")
    assert "dEQP-GLES2.functional.fbo.completeness.renderable.texture.depth.stencil_index8,Fail" in fails


def packed(path, **files):
    with tarfile.open(path, "w:xz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(f"mesa-1/src/gallium/drivers/r600/ci/r600-{name}.txt")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))


def test_lists_of_mesa_ci(tmp_path):
    packed(tmp_path / "mesa_1.orig.tar.xz", **{
        "rv770-fails": "dEQP-GLES2.a,Fail # why\nspec@b,Fail\nKHR-GL33.c,Fail\n", "rv770-flakes": "dEQP-GLES3.*\n",
        "turks-fails": "dEQP-GLES3.d,Fail\n"})
    lists.expected(tmp_path, tmp_path / "out")
    assert (tmp_path / "out/rv770-fails.txt").read_text() == "dEQP-GLES2.a,Fail\nKHR-GL33.c,Fail\n"
    assert (tmp_path / "out/rv770-flakes.txt").read_text() == "dEQP-GLES3.*\n"
    assert (tmp_path / "out/turks-skips.txt").read_text() == ""
    assert (tmp_path / "out/turks-fails.txt").read_text() == "dEQP-GLES3.d,Fail\n"
    packed(tmp_path / "mesa_1.orig.tar.xz", **{"turks-fails": ""})
    with pytest.raises(LabError, match="no list of a real RV770"):
        lists.expected(tmp_path, tmp_path / "out")


def test_which_source(tmp_path, monkeypatch):
    monkeypatch.delenv("NOMAP_HOST_TOP", raising=False)
    monkeypatch.delenv(source.VARIABLE, raising=False)
    (tmp_path / "repository").mkdir()
    monkeypatch.chdir(tmp_path / "repository")
    with pytest.raises(LabError, match="there is no source of VK-GL-CTS") as none:
        source.named()
    assert none.value.status == 77
    (tmp_path / "shared/suites").mkdir(parents=True)
    (tmp_path / "shared/suites/vk-gl-cts-x.tar.zst").write_bytes(b"one")
    assert source.named() == tmp_path / "shared/suites"
    first = source.digest()
    (tmp_path / "shared/suites/vk-gl-cts-x.tar.zst").write_bytes(b"two")
    assert source.digest() != first
    monkeypatch.setenv(source.VARIABLE, str(tmp_path / "repository"))
    with pytest.raises(LabError, match="neither an archive .* nor a source tree"):
        source.digest()
    (tmp_path / "repository/modules").mkdir()
    first = source.digest()
    (tmp_path / "repository/modules/a").touch()
    assert source.digest() != first
    monkeypatch.setenv(source.VARIABLE, "file:///srv/cts#tag")
    assert source.digest() == ["file:///srv/cts#tag"]


def test_a_source_tree_is_copied_where_programs_of_the_build_find_it(tmp_path):
    for name in ("tree/modules/a", "tree/.git/b", "out/source/old"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    assert source.unpack(tmp_path / "tree", tmp_path / "out") == tmp_path / "out/source"
    assert [path.name for path in sorted((tmp_path / "out/source").rglob("*"))] == ["modules", "a"]


@pytest.mark.parametrize("whole", [True, False])
def test_programs_are_kept_with_their_data_and_lists(tmp_path, monkeypatch, whole):
    khr = "external/openglcts/data/gl_cts/data/mustpass/gl/khronos_mustpass/main/gl33-main.txt"
    made = ["modules/gles2/deqp-gles2", "modules/gles2/gles2/data"] + ["external/openglcts/modules/" + name for name in (
        "glcts", "gl_cts/data", "gl/libglcts-gl.a", "CMakeFiles/x")] * whole
    named = []

    def files(top, names):
        for name in names:
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(name)

    def as_builder(out, cmd, *, env):
        assert env == {"CCACHE_DIR": f"{source.CACHE}/ccache"}
        if cmd[0] == "ninja":
            named.append(cmd[3:])
            files(out / "work", made)

    def targets(cmd, **_options):
        return SimpleNamespace(stdout="all: phony\ndeqp-gles2: phony\n" + "glcts: phony\n" * whole if cmd[0] == "ninja" else "")

    monkeypatch.setattr(source, "named", lambda: tmp_path / "tree")
    files(tmp_path / "tree", ["modules/a", *[khr] * whole])
    monkeypatch.setattr(source, "as_builder", as_builder)
    monkeypatch.setattr(source.subprocess, "run", targets)
    out = tmp_path / "out"
    source.build(out)
    assert named == [["deqp-gles2", "glcts"] if whole else ["deqp-gles2"]]
    kept = sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    khr_lists = [f"lists/khr-{name}.txt" for name in ("gl33", "gles2", "gles3", "gles31")]
    assert kept == sorted(["gles2/deqp-gles2", "gles2/gles2/data", "lists/gles2.txt"]
                          + ["glcts/glcts", "glcts/gl_cts/data", *khr_lists] * whole)
    if whole:
        assert (out / "lists/khr-gl33.txt").read_text() == khr


@pytest.mark.parametrize("text, url", [
    ("file:///a", True), ("https://a/b.git#t", True), ("me@host:cts", True), ("../suites", False), ("/a:b", False)])
def test_what_is_a_url(text, url):
    assert source.is_url(text) == url


GROUPS = """# a comment
2 0  \\.a\\.  # first
1 1  \\.b  # second
"""


def test_groups_of_what_a_real_chip_fails():
    found = groups.read(GROUPS)
    listed = "KHR-GL33.a.x,Fail\ndEQP-GLES2.a.x,Fail\ndEQP-GLES3.a.b,Crash\n# dEQP-GLES3.a.c\ndEQP-GLES3.b,Fail\n"
    assert groups.names(listed) == ["dEQP-GLES2.a.x", "dEQP-GLES3.a.b", "dEQP-GLES3.b"]
    assert groups.differences(found, listed) == []
    assert groups.differences(found, listed + "dEQP-GLES3.c,Fail\ndEQP-GLES3.bb,Fail\n") == [
        "no group has dEQP-GLES3.c", "second: 2 tests, not 1"]
    results = "dEQP-GLES2.a.x,ExpectedFail,1.0\ndEQP-GLES3.b,UnexpectedImprovement(Pass),0.1\n"
    assert groups.differences(found, listed, results) == []
    assert groups.differences(found, listed, results.replace("ExpectedFail", "Pass")) == ["first: 1 pass, not 0"]
    with pytest.raises(LabError, match="not COUNT PASS"):
        groups.read("2  \\.a  # no number that pass\n")


def test_the_table_of_groups_is_of_the_groups():
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in (TOP / "docs/deqp.md").read_text().splitlines()
            if line.startswith("| ")]
    head = next(i for i, row in enumerate(rows) if row[0] == "group")
    found = groups.read(groups.GROUPS.read_text())
    assert [row[:3] for row in rows[head + 1:head + 1 + len(found)]] == [
        [group.name, str(group.tests), str(group.passing)] for group in found]
    assert f"Mesa CI lists {sum(group.tests for group in found)} tests" in (TOP / "docs/deqp.md").read_text()
