# SPDX-License-Identifier: MIT
"""glmark2's report: a frame that is wrong, missing or empty is a fault, and so is a run that was not as it should be."""
import json
import pathlib
import subprocess
import sys
import tomllib

import numpy
import pytest
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "glmark2"
CONFIG = tomllib.loads((HERE / "scenes.toml").read_text())
SCENES = CONFIG["scene"]
FRAMES = CONFIG["frames"]
NAMES = {"board": "AMD RV770 (DRM 2.50.0)", "llvmpipe": "llvmpipe (LLVM 19.1.7, 256 bits)"}


def frame(n):
    """A frame in which all pixels of a row differ; another n gives another frame."""
    pixels = numpy.zeros((24, 32, 3), "uint8")
    pixels[..., 0] = numpy.arange(32) * 5
    pixels[..., 1] = numpy.arange(24)[:, None] * 5
    pixels[..., 2] = n
    return pixels


def log(renderer, text=lambda scene, number: f"@frame {number} 32x24 5000"):
    """A log as glmark2 writes it, with the lines that the preloaded library adds."""
    lines = ["    glmark2 2023.01", f"    GL_RENDERER:   {NAMES[renderer]}"]
    number = 0
    for scene in SCENES:
        line = f"[{scene['scene']}] {scene['options']}:"
        for _ in range(FRAMES):
            number += 1
            lines.append(line + text(scene, number))
            line = ""
        lines.append(" FPS: 1 FrameTime: 1370.000 ms")
    return lines + [f"@end {number} {3 * number}"]


def validation(renderer, verdict="Success"):
    lines = [f"    GL_RENDERER:   {NAMES[renderer]}"]
    return lines + [f"[{s['scene']}] {s['options']}: Validation: {verdict}" for s in SCENES]


def write(path, lines):
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(name="drawn")
def fixture_drawn(tmp_path):
    for renderer in NAMES:
        (tmp_path / renderer).mkdir()
        write(tmp_path / renderer / "glmark2.log", log(renderer))
        write(tmp_path / renderer / "validate.log", validation(renderer))
        for run in ("glmark2", "validate"):
            write(tmp_path / renderer / f"{run}.status", ["0"])
        for n in range(1, FRAMES * len(SCENES) + 1):
            Image.fromarray(frame(n)).save(tmp_path / renderer / f"{n}.ppm")
    return tmp_path


def report(directory, *options):
    return subprocess.run([sys.executable, "-B", HERE / "report.py", "--check", *options, directory],
                          capture_output=True, text=True, check=False)


def fails(directory, *words):
    done = report(directory)
    assert done.returncode == 1, done.stdout
    for word in words:
        assert word in done.stderr, done.stderr


def results(directory):
    return {row["name"]: row for row in json.loads((directory / "glmark2.json").read_text())["rows"]}


def test_equal_frames_pass(drawn):
    done = report(drawn)
    assert done.returncode == 0, done.stderr
    rows = results(drawn)
    assert len(rows) == len(SCENES) == 33
    for row in rows.values():
        assert row["status"] == {"board": "drawn", "llvmpipe": "drawn"} and row["mean"] == 0 and row["largest"] == 0
        assert row["frames"] == {"board": FRAMES, "llvmpipe": FRAMES} and row["fps"]["board"] == 200
    with Image.open(drawn / f"{SCENES[0]['name']}-difference.png") as same:
        assert not numpy.asarray(same).any()


@pytest.mark.parametrize("n", (0, 1, FRAMES - 1))
def test_each_frame_counts(drawn, n):
    """Not the last one only."""
    scene = 4
    number = scene * FRAMES + n + 1
    pixels = frame(number)
    pixels[:, :16] = 255 - pixels[:, :16]
    Image.fromarray(pixels).save(drawn / "board" / f"{number}.ppm")
    fails(drawn, SCENES[scene]["name"] + ":")
    assert [name for name, row in results(drawn).items() if row["beyond"]] == [SCENES[scene]["name"]]


def test_bound_is_of_pixels_that_are_no_rounding(drawn):
    scene = next(s for s in SCENES if s["name"] == "texture-linear")
    number, bound = SCENES.index(scene) * FRAMES + 1, scene.get("bound", CONFIG["bound"])
    path, pixels = drawn / "board" / f"{number}.ppm", frame(number)
    limit = CONFIG["mean"] * pixels.size
    pixels.reshape(-1, 3)[:20, 2] += 2
    Image.fromarray(pixels).save(path)
    assert report(drawn).returncode == 0
    pixels.reshape(-1, 3)[:bound, 2] = number + 3
    assert bound * 3 < limit
    Image.fromarray(pixels).save(path)
    assert report(drawn).returncode == 0
    pixels.reshape(-1, 3)[bound, 2] += 3
    assert bound * 3 + 3 < limit
    Image.fromarray(pixels).save(path)
    fails(drawn, f"{scene['name']}: {bound + 1} pixels")


@pytest.mark.parametrize("renderer", NAMES)
def test_bound_is_of_the_mean(drawn, renderer):
    """One step of 255 everywhere is no pixel beyond rounding; brighter and darker."""
    pixels = frame(1)
    pixels += 1
    Image.fromarray(pixels).save(drawn / renderer / "1.ppm")
    fails(drawn, f"{SCENES[0]['name']}: the mean difference is 1.0/255")


def test_missing_picture(drawn):
    (drawn / "board" / "1.ppm").unlink()
    fails(drawn, f"{SCENES[0]['name']}: board: no picture")


def test_one_colour_is_no_picture(drawn):
    """Though both renderers agree."""
    for renderer in NAMES:
        Image.new("RGB", (32, 24), "grey").save(drawn / renderer / f"{FRAMES}.ppm")
    fails(drawn, f"{SCENES[0]['name']}: board: one colour", f"{SCENES[0]['name']}: llvmpipe: one colour")


def test_other_size(drawn):
    Image.fromarray(frame(1)[:12]).save(drawn / "board" / "1.ppm")
    fails(drawn, f"{SCENES[0]['name']}: board: other size")


@pytest.mark.parametrize("verdict", ("Unsupported", "Set up failed"))
def test_scene_that_does_not_run(drawn, verdict):
    lines = log("board")
    lines[2:2 + FRAMES + 1] = [f"[{SCENES[0]['scene']}] {SCENES[0]['options']}: {verdict}"]
    write(drawn / "board" / "glmark2.log", lines)
    fails(drawn, f"{SCENES[0]['name']}: board: {verdict.lower()}")


def test_scene_that_was_not_run(drawn):
    lines = log("board")
    del lines[2:2 + FRAMES + 1]
    write(drawn / "board" / "glmark2.log", lines)
    fails(drawn, f"{SCENES[0]['name']}: board: missing")


def test_frame_that_was_not_drawn(drawn):
    lines = log("board")
    del lines[3]
    write(drawn / "board" / "glmark2.log", lines)
    fails(drawn, f"{SCENES[0]['name']}: board: {FRAMES - 1} frames", "counted frames")


def test_scene_that_is_not_known(drawn):
    write(drawn / "llvmpipe" / "glmark2.log", [*log("llvmpipe")[:-1], "[clouds] wind=3: Unsupported", log("llvmpipe")[-1]])
    fails(drawn, "clouds wind=3 is not in scenes.toml")


def test_glmark2_that_dies(drawn):
    write(drawn / "board" / "glmark2.status", ["139"])
    fails(drawn, "board: glmark2: glmark2 ended with status '139'")


@pytest.mark.parametrize("verdict", ("Failure", ""))
def test_validation(drawn, verdict):
    write(drawn / "board" / "validate.log", validation("board", verdict))
    fails(drawn, "glmark2 --validate says")
    write(drawn / "board" / "validate.log", validation("board", "Unknown"))
    assert report(drawn).returncode == 0


@pytest.mark.parametrize("end", ([], ["@end 99 0"], ["@end 98 297"], ["@end 100 297"]))
def test_library_that_was_not_in_effect(drawn, end):
    write(drawn / "board" / "glmark2.log", log("board")[:-1] + end)
    fails(drawn, "board:", "preloaded library")


@pytest.mark.parametrize("run", ("glmark2", "validate"))
def test_software_is_no_board(drawn, run):
    path = drawn / "board" / f"{run}.log"
    path.write_text(path.read_text().replace(NAMES["board"], NAMES["llvmpipe"]))
    fails(drawn, f"board: {run}: GL_RENDERER is 'llvmpipe")
    assert report(drawn, "--chip", "rv710").returncode == 1


def test_arguments():
    def arguments(*options):
        return subprocess.run([sys.executable, "-B", HERE / "report.py", "--arguments", *options],
                              capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    whole = arguments()
    assert whole == [str(CONFIG["step"]), "--size", CONFIG["size"], "-b", f":duration={CONFIG['duration']}"]
    sample = arguments("--sample")
    assert sample[:len(whole)] == whole
    assert len(sample) - len(whole) == 2 * len([s for s in SCENES if s.get("sample")]) == 16


def test_documentation_gets_its_table_and_sheet(drawn, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "glmark2.md").write_text("ahead\n<!-- scenes: lab/glmark2 --docs -->\nold\n<!-- end of scenes -->\nbehind\n")
    assert report(drawn, "--docs", docs).returncode == 0
    text = (docs / "glmark2.md").read_text()
    assert text.startswith("ahead\n") and text.endswith("behind\n") and "old" not in text
    assert all(f"- `{scene['name']}`: " in text for scene in SCENES)
    with Image.open(docs / "glmark2.png") as sheet, Image.open(drawn / "sheet.png") as whole:
        assert sheet.size == whole.size
