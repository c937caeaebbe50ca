# SPDX-License-Identifier: MIT
"""The command lines of the programs of bench and kernel/mm: --help, and one line that says what is
wrong with a bad one. They run without a GPU, as a command line is read before a device is opened."""

import pathlib
import subprocess

import pytest

BUILD = pathlib.Path(__file__).resolve().parents[1] / "build"
OPTIONS = {
    "live-bos": "arms domains live full samples verify libdrm json verbose quick fitting count as-2011",
    "transfer-paths": "json quick count profile only verbose",
    "libdrm-maps": "bos gtt count json",
    "board-fill": "rounds scene json",
    "glyphstorm": "server pixmaps glyphs gl seconds json",
    "gallery": "scene out",
    "brk-storm": "json cost load count parts quick",
    "frag": "models kernel predict steps seeds json",
    "mapstorm": "json live guards others only count quick seed timeout verbose",
    "threads": "threads runs cases json",
    "vmastorm": "seconds processes threads maps seed faults",
}
OF_MM = {"brk-storm", "frag", "mapstorm", "threads", "vmastorm"}
BAD = [
    ("live-bos", ["--arms", "mmap,legs"], "live-bos: --arms mmap,legs: no such arm"),
    ("live-bos", ["--domains", "vram,"], "live-bos: --domains vram,: no such domain"),
    ("live-bos", ["--live", "100,10"], "live-bos: --live 100,10: not a list of populations that rises"),
    ("live-bos", ["--live", "100000001"], "live-bos: --live 100000001: not a list"),
    ("live-bos", ["--live", "ram=100"], "live-bos: --live ram=100: no such domain"),
    ("live-bos", ["--live", ",".join(map(str, range(1, 40)))], "too many populations"),
    ("live-bos", ["--samples", "0"], "live-bos: --samples 0: not a number from 1 to "),
    ("live-bos", ["--samples", "-1"], "live-bos: --samples -1: not a number from 1 to "),
    ("live-bos", ["--samples", "9x"], "live-bos: --samples 9x: not a number from 1 to "),
    ("live-bos", ["--verify", "eyes"], "live-bos: --verify eyes: no such way to verify"),
    ("live-bos", ["--quick", "now"], "live-bos: bad argument: now"),
    ("transfer-paths", ["--only", "one"], "transfer-paths: --only one: no such kind"),
    ("transfer-paths", ["--json"], "option '--json' requires an argument"),
    ("libdrm-maps", ["--bos", "4095"], "libdrm-maps: --bos 4095: not a number from 4096 to 10000000"),
    ("libdrm-maps", ["--bos", ""], "libdrm-maps: --bos : not a number from"),
    ("board-fill", ["--scene", "fil", "--json", "x"], "board-fill: --scene fil: no such scene"),
    ("board-fill", ["--rounds", "102", "--json", "x"], "board-fill: --rounds 102: not a number from 1 to 101"),
    ("board-fill", [], "board-fill: --json FILE is missing"),
    ("glyphstorm", [], "glyphstorm: --server is needed"),
    ("glyphstorm", ["--server", "1", "--pixmaps", "15"], "glyphstorm: --pixmaps 15: not a number from 16 to 100000"),
    ("glyphstorm", ["--server", "0"], "glyphstorm: --server 0: not a number from 1 to"),
    ("glyphstorm", ["--glyphs", "100001"], "glyphstorm: --glyphs 100001: not a number from 0 to 100000"),
    ("gallery", ["--scene", "gear", "--out", "x"], "gallery: --scene gear: no such scene"),
    ("gallery", [], "gallery: --out DIR is missing"),
    ("brk-storm", ["--cost", "--load"], "brk-storm: --cost and --load are one or the other"),
    ("brk-storm", ["--load", "--count"], "brk-storm: --load and --count: jobs are not counted"),
    ("frag", ["--predict", "worst-fit"], "frag: --predict worst-fit: no such model"),
    ("frag", ["--steps", "0"], "frag: --steps 0: not a number from 1 to 4294967295"),
    ("mapstorm", ["--live", "10,10"], "mapstorm: --live 10,10: not a list of numbers above 0 that rise"),
    ("mapstorm", ["--guards", "1;2"], "mapstorm: --guards 1;2: not a list of numbers"),
    ("mapstorm", ["--others", ",".join(map(str, range(1, 18)))], "too many numbers"),
    ("mapstorm", ["--only", "none"], "mapstorm: --only none: no such kind of address space"),
    ("mapstorm", ["--timeout", "0"], "mapstorm: --timeout 0: not a number from 1 to"),
    ("threads", ["--cases", "live-8m,live-9m"], "threads: --cases live-8m,live-9m: no such case"),
    ("threads", ["--threads", "1e3"], "threads: --threads 1e3: not a number from 1 to"),
    ("vmastorm", ["--seed", "4294967296"], "vmastorm: --seed 4294967296: not a number from 1 to 4294967295"),
    ("vmastorm", ["now"], "vmastorm: bad argument: now"),
]


def run(program, *arguments):
    return subprocess.run([BUILD / ("mm-tools" if program in OF_MM else "bench") / program, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("program", OPTIONS)
def test_help_has_each_option_and_fits_a_terminal(program):
    result = run(program, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"usage: {program} ")
    listed = [line.split()[0] for line in result.stdout.splitlines() if line.startswith("  --")]
    assert listed == [f"--{name}" for name in OPTIONS[program].split()]
    assert max(map(len, result.stdout.splitlines())) <= 90


@pytest.mark.parametrize("program", OPTIONS)
def test_an_unknown_option_is_refused(program):
    result = run(program, "--nosuch")
    assert (result.returncode, result.stdout) == (2, "")
    assert "unrecognized option '--nosuch'" in result.stderr


@pytest.mark.parametrize("program, arguments, message", BAD)
def test_what_is_wrong_is_said_in_one_line(program, arguments, message):
    result = run(program, *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
