# SPDX-License-Identifier: MIT
"""The graph of what is built: keys, what is stale, and inputs that are not declared."""

import concurrent.futures
import json
import os
from pathlib import Path

import pytest

from nomap_lab import graph, sources, stages
from nomap_lab.paths import BUILD, TOP, LabError, write_if_changed
from nomap_lab.stage import STAGES, stage


def test_order_and_names() -> None:
    order = graph.closure(["boot", "mesa", "mesa-deb"])
    assert order.index("kernel") < order.index("boot")
    assert order.index("mesa-source") < min(order.index("mesa"), order.index("mesa-deb"))
    with pytest.raises(LabError, match="no stage 'nosuch', only: .*kernel"):
        graph.get("nosuch")
    assert len(STAGES) >= 30 and {"debug", "mm", "mm-debug", "backports"} <= set(STAGES)


def test_every_input_is_there() -> None:
    for s in STAGES.values():
        for path in s.inputs:
            assert (TOP / path).exists(), f"{path} of {s.name}"


def test_key_follows_inputs_and_stages_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "source.c"
    source.write_text("one")

    def build(_out: Path) -> None:
        raise AssertionError("not built here")

    own = dict(STAGES)
    monkeypatch.setattr(graph, "STAGES", own)
    monkeypatch.setattr("nomap_lab.stage.STAGES", own)
    stage("", name="first", inputs=[str(source)])(build)
    stage("", name="second", after=["first"])(build)
    stage("", name="other")(build)
    before = {n: graph.Keys().of(n) for n in ("first", "second", "other")}
    source.write_text("two")
    after = {n: graph.Keys().of(n) for n in before}
    assert after["first"] != before["first"] and after["second"] != before["second"] and after["other"] == before["other"]
    source.chmod(0o755)
    assert graph.Keys().of("first") != after["first"], "the mode counts, too"


def test_ninja_file_has_all_inputs() -> None:
    graph.get("boot")
    text = graph.ninja_file(graph.closure(["boot"]), Path("/stamps"))
    assert f"{TOP}/kernel/drivers/gpu/drm/radeon/radeon_gem_rw.c" in text
    assert "build /stamps/boot: stage" in text and "| /stamps/kernel" in text
    assert "/stamps/kernel" not in graph.ninja_file(["boot"], Path("/stamps")), "what is current is left alone"


def test_says_what_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "STATE", tmp_path)
    keys = graph.Keys()
    assert graph.why("kernel", keys) == "it was not built here yet"
    (tmp_path / "parts").mkdir()
    parts = {**keys.parts("kernel"), "kernel/drivers": "another"}
    (tmp_path / "parts/kernel.json").write_text(json.dumps(parts))
    assert graph.why("kernel", keys) == "changed: kernel/drivers"


def test_undeclared_input_is_found(tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    rule = f"{tmp_path}/release/x: {TOP}/emulator/src/lib.rs {TOP}/kernel/lib.sh /usr/include/stdio.h {BUILD}/y\n"
    (tmp_path / "release/x.d").write_text(rule)
    read = sources.read_by(tmp_path)
    assert read == {TOP / "emulator/src/lib.rs", TOP / "kernel/lib.sh"}
    assert sources.missing(read, ["emulator/src"]) == ["kernel/lib.sh"]
    assert sources.missing(read, ["emulator/src", "kernel"]) == []


def test_groups() -> None:
    assert set(stages.ALL) <= set(STAGES)


def test_builds_with_the_same_process_number_write_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands have PID namespaces of their own: two builds in a checkout can have the same number."""
    monkeypatch.setattr(os, "getpid", lambda: 37)
    path = tmp_path / "parts/boot.json"

    def write(who: int) -> None:
        for n in range(300):
            write_if_changed(path, f"{who} {n}\n")

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(write, who) for who in range(4)]:
            done.result()
    assert path.read_text(encoding="utf-8").endswith(" 299\n")
    assert [p.name for p in path.parent.iterdir()] == ["boot.json"]
    assert path.stat().st_mode & 0o777 == 0o644
