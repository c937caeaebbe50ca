# SPDX-License-Identifier: MIT
"""lab/mutations --mesa: what counts as shown. Nothing is built."""

import json

import pytest

from nomap_lab import graph, mesa_mutations
from nomap_lab.commands import mutations
from nomap_lab.mesa_mutations import Result
from nomap_lab.paths import LabError

REPORT = "pixel shader at 0x1000: it uses R7, but NUM_GPRS is 7"
RIGHT = Result(lines=["a: pixel 0: 1 2 3 4", "a: pixel 1: 5 6 7 8"])


@pytest.fixture(name="mesa")
def fixture_mesa(monkeypatch, tmp_path):
    """A table of two mutations of a Mesa that is not built. What runs of the program show is `mesa.runs`, the mutated
    Mesa's by name; it is right otherwise."""
    class Mesa:
        runs: dict = {}
        built: list = []

    source = tmp_path / "source"
    (source / mesa_mutations.DRIVER).mkdir(parents=True)
    (source / mesa_mutations.DRIVER / "f.c").write_text("x(); y();")
    (tmp_path / "table.toml").write_text("".join(
        f'[[mutation]]\nname = "{name}"\nwhat = "w"\ncase = "a"\nexpected.rv770 = "{expected}"\n{why}[[mutation.edit]]\n'
        f'file = "f.c"\nold = "{old}"\nnew = ""\n'
        for name, expected, why, old in (("few-gprs", "NUM_GPRS is", "", "x();"), ("none", "nothing", 'why = "so"\n', "y();"))))
    monkeypatch.setattr(mesa_mutations, "TABLE", tmp_path / "table.toml")
    monkeypatch.setattr(mesa_mutations, "SHOWN", tmp_path / "shown.json")
    monkeypatch.setattr(mesa_mutations, "OUT", tmp_path)
    monkeypatch.setattr(mutations, "OUT", tmp_path)
    monkeypatch.setattr(mutations, "write_mesa_part", lambda program: None)
    monkeypatch.setattr(mesa_mutations, "prepare", lambda: source)
    monkeypatch.setattr(mesa_mutations, "build", lambda program, mutation, _source: Mesa.built.append(mutation["name"]))
    monkeypatch.setattr(graph, "ensure", lambda *names: None)

    def run(_cases, lib, _chip):
        return Mesa.runs.get(Mesa.built[-1], RIGHT) if lib and lib.parent.name == "mutated" else Mesa.runs.get("unmodified", RIGHT)

    monkeypatch.setattr(mesa_mutations, "run", run)
    Mesa.runs, Mesa.built = {"few-gprs": Result([REPORT], RIGHT.lines)}, []
    return Mesa


def test_a_report_is_what_the_table_expects(mesa, tmp_path, capsys):
    assert mutations.main(["--mesa"]) == 0
    assert mesa.built == ["few-gprs", "none"]
    assert json.loads((tmp_path / "shown.json").read_text()) == {
        "few-gprs": {"rv770": ["it uses R7, but NUM_GPRS is 7"]}, "none": {"rv770": []}}
    assert "rv770: it uses R7" in capsys.readouterr().out
    text = mesa_mutations.document(mutations.load_program())
    assert "| few-gprs | w | `f.c` | a | it uses R7, but NUM_GPRS is 7 |" in text
    assert "| none | w | `f.c` | a | nothing |" in text and "- `none`: so" in text


@pytest.mark.parametrize("name, found, said", [
    ("few-gprs", RIGHT, "few-gprs on rv770 shows no 'NUM_GPRS is'"),
    ("none", Result(["pixel shader at 0x1000: a rule"], RIGHT.lines), "none on rv770 is noticed: a rule"),
    ("none", Result(lines=["a: pixel 0: 1 2 3 4", "a: pixel 1: 5 0 7 8"]),
     "none on rv770 is noticed: wrong: a: pixel 1: 5 0 7 8, should be 5 6 7 8"),
    ("none", Result(fault="it did not end within 120 s"), "noticed: wrong: it did not end within 120 s"),
    ("none", Result(lines=RIGHT.lines[:1]), "noticed: wrong: 1 lines, should be 2"),
])
def test_what_the_table_does_not_expect_is_a_failure(mesa, capsys, name, found, said):
    mesa.runs[name] = found
    assert mutations.main(["--mesa", name]) == 1
    assert said in capsys.readouterr().out


def test_the_unmodified_mesa_breaks_no_rule(mesa):
    mesa.runs["unmodified"] = Result([REPORT], RIGHT.lines)
    with pytest.raises(LabError, match="a on rv770 with the unmodified Mesa: pixel shader at 0x1000: it uses R7"):
        mutations.main(["--mesa"])


def test_names_and_chips_are_those_of_the_table(mesa, tmp_path, capsys):
    for words, said in ((["nosuch"], "no mutation 'nosuch' of Mesa: lab/mutations --mesa --list"),
                        (["--chip", "turks", "none"], "'none' is of rv770, not of turks")):
        with pytest.raises(LabError, match=said) as refused:
            mutations.main(["--mesa", *words])
        assert refused.value.status == 2
    assert mutations.main(["--mesa", "--list"]) == 0
    assert capsys.readouterr().out == "few-gprs\nnone\n"
    (tmp_path / "source" / mesa_mutations.DRIVER / "f.c").write_text("x(); x();")
    with pytest.raises(LabError, match="few-gprs: f.c has this 2 times:\nx.*: let mesa-patches/mutations/table.toml fit Mesa"):
        mutations.main(["--mesa"])


def test_the_program_has_a_time_limit_and_its_reports_are_lines_of_stderr(monkeypatch, tmp_path):
    program = tmp_path / "gl-scheduler"
    monkeypatch.setattr(mesa_mutations, "OUT", tmp_path)
    monkeypatch.setattr(mesa_mutations, "LIMIT", 1)

    def script(text):
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
        return mesa_mutations.run(["a"], None, "")

    assert script("echo $1 >&2; echo b; echo 'r7xx-shim: draw 1: c' >&2; echo 'r7xx-shim: draw 2: c' >&2; exit 3") == \
        Result(["c"], ["b"], "status 3: a")
    assert script("sleep 60").fault == "it did not end within 1 s"
