# SPDX-License-Identifier: MIT
"""The gallery's report: a picture that is wrong, missing or empty is a fault."""
import json
import pathlib
import subprocess
import sys
import tomllib

import numpy
import pytest
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "gallery"
SCENES = tomllib.loads((HERE / "scenes.toml").read_text())["scene"]


def picture():
    """A picture in which all pixels of a row differ."""
    pixels = numpy.zeros((240, 320, 3), "uint8")
    pixels[..., 0] = numpy.arange(320) % 200
    pixels[..., 1] = numpy.arange(240)[:, None] % 200
    return pixels


def rows():
    return [{"scene": scene["name"], "supported": True, "drawn": 9000, "counts": []} for scene in SCENES]


@pytest.fixture(name="drawn")
def fixture_drawn(tmp_path):
    for renderer in ("board", "llvmpipe", "softpipe"):
        (tmp_path / renderer).mkdir()
        (tmp_path / renderer / "gallery.json").write_text(json.dumps({"renderer": renderer, "rows": rows()}))
        for scene in SCENES:
            Image.fromarray(picture()).save(tmp_path / renderer / f"{scene['name']}.ppm")
    return tmp_path


def report(directory, *options):
    return subprocess.run([sys.executable, "-B", HERE / "report.py", "--check", *options, directory],
                          capture_output=True, text=True, check=False)


def change(directory, renderer, **values):
    data = rows()
    data[0].update(values)
    (directory / renderer / "gallery.json").write_text(json.dumps({"rows": data}))


def test_equal_pictures_pass(drawn):
    done = report(drawn)
    assert done.returncode == 0, done.stderr
    with Image.open(drawn / f"{SCENES[0]['name']}-difference.png") as same:
        assert not numpy.asarray(same).any()


def test_bound_counts_pixels_that_are_no_rounding(drawn):
    scene = SCENES[3]
    pixels = picture()
    pixels[..., 2] += 2
    path = drawn / "board" / f"{scene['name']}.ppm"
    Image.fromarray(pixels).save(path)
    assert report(drawn).returncode == 0
    pixels.reshape(-1, 3)[:scene["bound"], 2] += 1
    Image.fromarray(pixels).save(path)
    assert report(drawn).returncode == 0
    pixels.reshape(-1, 3)[scene["bound"], 2] += 1
    Image.fromarray(pixels).save(path)
    done = report(drawn)
    assert done.returncode == 1 and scene["name"] in done.stderr
    # The nearer renderer counts.
    Image.fromarray(pixels).save(drawn / "softpipe" / f"{scene['name']}.ppm")
    assert report(drawn).returncode == 0


@pytest.mark.parametrize("values", (
    {"drawn": 10},
    {"counts": [{"what": "triangles", "value": 3, "least": 4}]},
    {"supported": False, "drawn": 0},
))
def test_what_proves_nothing_is_a_fault(drawn, values):
    change(drawn, "board", **values)
    assert report(drawn).returncode == 1
    change(drawn, "board")
    change(drawn, "softpipe", **{**values, "drawn": 0})
    assert report(drawn).returncode == 0


def test_documentation_gets_pictures_between_its_marks(drawn, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "gallery.md").write_text("ahead\n<!-- scenes: lab/gallery --docs -->\nold\n<!-- end of scenes -->\nbehind\n")
    assert report(drawn, "--docs", docs).returncode == 0
    text = (docs / "gallery.md").read_text()
    assert text.startswith("ahead\n") and text.endswith("behind\n") and "old" not in text
    for scene in SCENES:
        for kind in ("board", "llvmpipe", "softpipe", "difference"):
            assert f"gallery/{scene['name']}-{kind}.png" in text
            assert (docs / "gallery" / f"{scene['name']}-{kind}.png").stat().st_size <= 30 << 10
