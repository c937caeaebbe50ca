# SPDX-License-Identifier: MIT
"""Each figure in README, docs, cover letters and READMEs of parts is a published result,
a source's figure, or has a reason not to be one (claims.py)."""

import os
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import claims  # noqa: E402 (the path comes first)
import document  # noqa: E402
import readme  # noqa: E402
from results import SECTIONS  # noqa: E402
from sources import load as sources, report_2011  # noqa: E402

RESULTS = document.published()
FIGURE = r"([-+]?\d[\d,]*(?:\.\d+)?)"
# Figures with these units are measured, as a rule; sizes and durations of programs are not.
MEASURED = re.compile(FIGURE + r" ?(?:%|us\b|µs\b|ms\b|times as\b|of a mapping\b|instructions\b|ioctls\b|mappings\b|maps\b)")
# Documents in which each such figure needs a claim or a reason. docs/results.md is made of the results.
SWEPT = (
    "README.md",
    "libdrm/README.md",
    "kernel/mm/README.md",
    "kernel/mm/patches/cover-letter",
    "kernel/mm/bench/README.md",
    "kernel/mm/tried/README.md",
    "kernel/upstream/cover.txt",
    "kernel/driver.md",
    "bench/README.md",
    "emulator/README.md",
    "packaging/README.md",
    *sorted(path.relative_to(document.TOP).as_posix() for directory in ("docs", "mesa-patches")
            for path in pathlib.Path(document.TOP, directory).glob("*.md") if path.name != "results.md"),
    *(os.path.join(directory, "reading.md") for _, _, directory, _ in SECTIONS),
)


def text_of(file):
    return pathlib.Path(document.TOP, file).read_text(encoding="utf-8")


def pattern(sentence):
    """The sentence as a regular expression, in which each figure is a group."""
    parts = re.split(r"\{~?\}", sentence)
    words = [r"\s+".join(re.escape(word) for word in part.split(" ")) for part in parts]
    return re.compile(FIGURE.join(words))


def decimals(figure):
    return len(figure.split(".")[1]) if "." in figure else 0


def is_rounded(figure, value, coarse):
    """Is a figure as it is written this value, rounded to the digits that it has?

    coarse: zeros at its end may be rounding, too, if two other digits are left.
    """
    digits = decimals(figure)
    plain = figure.replace(",", "").lstrip("+")
    if coarse and not digits:
        body = plain.lstrip("-")
        digits = -min(len(body) - len(body.rstrip("0")), max(len(body) - 2, 0))
    return abs(float(plain) - value) <= 0.5 * 10 ** -digits * (1 + 1e-9)


@pytest.mark.parametrize("figure, value, coarse, same", [
    ("1.7", 1.71, False, True), ("1.7", 1.76, False, False), ("3,900", 3873, True, True),
    ("3,900", 3873, False, False), ("3,900", 3951, True, False), ("8", 7.8, False, True),
    ("8", 8.6, False, False), ("10,000", 10000, False, True), ("0.6", 0.6, False, True)])
def test_rounding(figure, value, coarse, same):
    assert is_rounded(figure, value, coarse) == same


def find(file, sentence):
    """The figures of a sentence, and where they are; fails if the sentence is not there."""
    match = pattern(sentence).search(text_of(file))
    assert match, f"{file} no longer has the sentence {sentence!r}: change or remove its claim in claims.py"
    return match


@pytest.mark.parametrize("file, sentence, expected", claims.CLAIMS,
                         ids=[f"{file}-{sentence[:40]}" for file, sentence, _ in claims.CLAIMS])
def test_claim(file, sentence, expected):
    match = find(file, sentence)
    marks = re.findall(r"\{~?\}", sentence)
    values = list(expected(RESULTS, text_of(file)))
    assert len(values) == len(marks)
    for mark, figure, value in zip(marks, match.groups(), values):
        assert is_rounded(figure, value, mark == "{~}"), f"{file} has {figure}, the result is {value:g}: {match.group()}"


@pytest.mark.parametrize("file, words, expected", claims.TABLES, ids=[t[1] for t in claims.TABLES])
def test_table(file, words, expected):
    text = text_of(file)
    table = document.Section("", text[text.index(words):]).tables[0]
    assert table.rows == list(expected(RESULTS))


def test_lines_of_lab():
    """Rounded to hundreds or better, and not off by more than 3 %: the table need not change with each line."""
    text = text_of("docs/architecture.md")
    table = document.Section("", text[text.index("Lines of `lab/`"):]).tables[0]
    counted = claims.lines_of_lab()
    assert [row[0] for row in table.rows] == list(counted)
    now = [document.number(row[2]) for row in table.rows]
    assert now[0] == sum(now[1:])
    for row, lines, count in zip(table.rows, now, counted.values()):
        assert abs(lines - count) <= max(0.03 * count, 50), f"{row[0]}: {row[2]} in the table, {count} counted"


def covered(file, text):
    """The places of a text that have a claim, a reason, or are made by results.py."""
    spans = []
    for name, sentence, _ in claims.CLAIMS:
        if name == file and (match := pattern(sentence).search(text)):
            spans.append(match.span())
    for name, words, _ in claims.EXEMPT:
        for match in re.finditer(r"\s+".join(map(re.escape, words.split())), text):
            if name == file:
                # The sentence that has these words.
                start = max(text.rfind(". ", 0, match.start()), text.rfind("\n\n", 0, match.start()),
                            text.rfind(".\n", 0, match.start()), text.rfind(": ", 0, match.start()), 0)
                end = re.compile(r"[.:;](?=\s)|\n\n|$").search(text, match.end())
                spans.append((start, end.end() if end else len(text)))
    for match in re.finditer(re.escape(readme.BEGIN) + ".*?" + re.escape(readme.END), text, re.S):
        spans.append(match.span())
    # Tables have tests of their own, and code is not prose.
    spans += [m.span() for m in re.finditer(r"^(?:\|| {4}).*$", text, re.M)]
    spans += [m.span() for m in re.finditer(r"`[^`\n]+`", text)]
    return spans


@pytest.mark.parametrize("file", [f for f in SWEPT if os.path.exists(os.path.join(document.TOP, f))])
def test_every_figure_has_a_claim(file):
    text = text_of(file)
    spans = covered(file, text)
    loose = [text[max(m.start() - 60, 0):m.end() + 30].replace("\n", " ") for m in MEASURED.finditer(text)
             if not any(a <= m.start() < b for a, b in spans)]
    assert not loose, f"{file}: no claim and no reason in claims.py for: " + " // ".join(loose)


def test_a_wrong_figure_is_found():
    """A sentence of this kind was wrong before there was this test: its maximum was that of another table."""
    growth = [100 * (row[2] - 1) for row in claims.brk(RESULTS, "grow")]
    assert len(growth) >= 10
    assert not is_rounded(f"{max(growth) - 0.4:.1f}", max(growth), False)
    assert is_rounded(f"{max(growth):.1f}", max(growth), False)


def test_tables_of_2011_are_the_sources():
    table = RESULTS["live-bos"].table("2011: kernel's search")
    found = {int(document.number(row[0])): (document.number(row[1]), document.number(row[2])) for row in table.rows}
    assert found == report_2011()
    assert len(found) == 6 and all(workaround for _, workaround in found.values())


def test_sources_have_quotes_and_addresses():
    for name, source in sources().items():
        assert source["url"].startswith("https://") and source["date"] and source["quote"], name


@pytest.mark.parametrize("name", [name for name, *_ in SECTIONS])
def test_section_names_date_machine_and_commit(name):
    line = RESULTS[name].line("Measured on")
    assert re.match(r"Measured on \d+ \w+ 20\d\d", line)
    assert re.search(r"\bcommit\b", line) and ("not recorded" in line or " CPUs, Linux " in line), line


def test_front_page_has_the_published_tables():
    assert readme.block(RESULTS) in text_of("README.md")
