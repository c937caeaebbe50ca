#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the prototype, and prints the tables of README.md.

usage: measure.py PROGRAM OUT SHARES...      (PROGRAM: shader-compiler; SHARES: what shares.py has written)
       measure.py --table OUT                prints the tables of what OUT has

Instructions of a wave are the difference of two runs under callgrind, of 100 and of 300 waves, by 200: they repeat. Times
depend on the machine and its load.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

WAYS = ("interpreted", "baseline", "compiled")
# The shader that stands for each scene's ALU clauses. Those of other scenes have none, or are not compiled.
SHADERS = {"fill": "fill/vertex", "fill-depth": "fill/vertex", "triangles": "triangles/vertex", "glyphs": "fill/vertex",
           "gallery-phong": "gallery-phong/pixel"}


def counted(program: str, way: str, shader: str, waves: int) -> int:
    """Instructions of a run of `waves` waves."""
    with tempfile.TemporaryDirectory() as work:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={work}/out", program, "waves", way, shader, str(waves)]
        done = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if not found:
        sys.exit(f"measure: callgrind says no number:\n{done.stderr}")
    return int(found.group(1))


def wave(program: str, way: str, shader: str) -> float:
    """Instructions of a wave."""
    return (counted(program, way, shader, 300) - counted(program, way, shader, 100)) / 200


def measured(program: str, shares: list[str]) -> dict:
    """Everything."""
    out = json.loads(subprocess.run([program, "times"], check=True, stdout=subprocess.PIPE, text=True).stdout)
    for row in out["rows"]:
        for way in WAYS:
            row[way] = wave(program, way, row["shader"])
    out["shaders"] = out.pop("rows")
    out["scenes"] = [row for name in shares for row in json.loads(pathlib.Path(name).read_text(encoding="utf-8"))["rows"]]
    return out


def percent(value: float) -> str:
    """A share, with three digits below a hundredth, two below ten."""
    return f"{100 * value:.3f} %" if value < 1e-4 else f"{100 * value:.2f} %" if value < 0.1 else f"{100 * value:.0f} %"


def scenes(data: dict) -> list[list[str]]:
    """The rows of the table of scenes."""
    by_name = {row["shader"]: row for row in data["shaders"]}
    rows = []
    for row in data["scenes"]:
        share = row["alu"] / row["draw"]
        cells = [row["scene"], f"{row['draw'] / 1e6:.1f}", percent(row["shaders"] / row["draw"]), percent(share)]
        if shader := by_name.get(SHADERS.get(row["scene"], "")):
            now, then = shader["interpreted"], shader["compiled"]
            cells += [f"{now:,.0f}", f"{then:,.0f}", f"{1 / (1 - share + share * then / now):.3f}"]
        else:
            cells += ["-"] * 3
        cells.append(f"{1 / (1 - share):.3f}" if share < 0.5 else f"{1 / (1 - share):.1f}")
        cells.append(f"{shader['compile_us']:,.0f}" if shader else "-")
        rows.append(cells)
    return rows


def shaders(data: dict) -> list[list[str]]:
    """The rows of the table of shaders."""
    return [[row["shader"], str(row["slots"]), *(f"{row[way]:,.0f}" for way in ("baseline", "interpreted", "compiled")),
             f"{row['interpreted'] / row['compiled']:.2f}", f"{row['interpreted_ns']:,.0f}", f"{row['compiled_ns']:,.0f}",
             f"{row['decode_us']:.0f}", f"{row['compile_us']:,.0f}", f"{row['bytes']:,}"]
            for row in data["shaders"]]


SCENES_HEAD = ["scene", "draw, million instructions", "in shaders", "in ALU clauses", "of a wave, interpreted",
               "of a wave, compiled", "gain, compiled", "gain, infinitely fast", "compiling, us"]
SHADERS_HEAD = ["shader", "ALU instructions", "without AVX", "interpreted", "compiled", "interpreted / compiled",
                "ns, interpreted", "ns, compiled", "decoding, us", "compiling, us", "bytes"]


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table, as Markdown."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main() -> int:
    """The command."""
    words = sys.argv[1:]
    if words[0] != "--table":
        out = pathlib.Path(words[1])
        data = measured(words[0], words[2:])
    else:
        data = json.loads(pathlib.Path(words[1]).read_text(encoding="ascii"))
        print(table(SCENES_HEAD, scenes(data)), table(SHADERS_HEAD, shaders(data)), sep="\n\n")
        return 0
    out.write_text(json.dumps(data, indent=2) + "\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
