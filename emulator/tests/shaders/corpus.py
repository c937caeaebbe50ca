#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a corpus: what Mesa lists for the shaders of corpus.glsl and evergreen.glsl on a chip.

usage: corpus.py BUILD CHIP OUT   (in the build root, with what lab/build board makes in BUILD)

The programs run on r7xx-shim, with the Mesa that is installed. OUT gets the shaders that the
driver compiles (R600_DEBUG), each under the name of its program, blanks squeezed.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[2]
# Chips whose Mesa has OpenGL 4.3; what the others have not is in a file of its own.
EVERGREEN = {"cedar", "turks", "cayman"}
# Programs whose shaders are kept, where most are those of another corpus in another encoding.
KEPT = {"rv670": {"basic", "functions", "integers", "big_array", "feedback"}}


def compiled(work: pathlib.Path) -> pathlib.Path:
    program = work / "compile"
    bench = [str(TOP / f"common/bench/{name}.c") for name in ("egl", "util")]
    subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", f"-I{TOP}/common/bench", HERE / "compile.c", *bench, "-o", program,
                    "-lEGL", "-lGL"], check=True)
    return program


def shaders(listing: str, kept: set[str]) -> list[str]:
    """Lines of a corpus, from what Mesa and compile have written: of the programs kept, of all if there are
    none. Shaders that were there already are left out."""
    out: list[str] = []
    seen, lines = set(), []
    name, number, inside = "driver", 0, False
    for line in listing.splitlines():
        if line.startswith("#program "):
            name, number = line.split()[1], 0
        elif found := re.match(r"bytecode (\d+) dw -- (\d+) gprs -- (\d+) nstack", line):
            dwords, gprs, stack = found.groups()
            lines, inside = [], True
        elif line.startswith("-----"):
            text = "\n".join(lines)
            if inside and text not in seen and (not kept or name in kept):
                out += [f"shader {name}/{number} dwords {dwords} gprs {gprs} stack {stack}", *lines]
                number += 1
            seen.add(text)
            inside = False
        elif inside and not line.startswith("shader "):
            lines.append(" ".join(line.split()))
    return out


def main() -> int:
    if len(sys.argv) != 4 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    build, chip, out = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], pathlib.Path(sys.argv[3])
    files = ["corpus.glsl"] + (["evergreen.glsl"] if chip in EVERGREEN else [])
    version = ["4", "3"] if chip in EVERGREEN else ["3", "3"]
    with tempfile.TemporaryDirectory() as work:
        command = [build / "board/r7xx", "run", "--chip", chip, "--", compiled(pathlib.Path(work)), *version, *(HERE / f for f in files)]
        env = dict(os.environ, MESA_SHADER_CACHE_DISABLE="true", R600_DEBUG="vs,ps,gs,fs,cs,tcs,tes")
        done = subprocess.run(command, env=env, stderr=subprocess.PIPE, text=True, check=False, timeout=600)
    if done.returncode:
        sys.exit(f"corpus: {' '.join(map(str, command))}: exit status {done.returncode}\n" +
                 "\n".join(line for line in done.stderr.splitlines() if line.startswith(("compile:", "r7xx"))))
    kept = KEPT.get(chip, set())
    if chip == "cayman":
        kept = {"basic", *re.findall(r"^#program (\S+)", (HERE / "evergreen.glsl").read_text(encoding="utf-8"), re.MULTILINE)}
    head = [f"# Shaders of {' and '.join(files)} and of the driver itself as Mesa 25.0.7 compiles and",
            f"# lists them for {chip.upper()} (corpus.py), blanks squeezed; the words of the program are in the lines."]
    out.write_text("\n".join(head + shaders(done.stderr, kept)) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
