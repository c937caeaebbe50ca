#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the pictures that the renderers have drawn of the gallery's scenes.

usage: report.py [--check] [--docs DOCS] DIR

DIR has a directory each for board, llvmpipe and softpipe with what the program gallery
wrote. It gets SCENE-difference.png (where board and llvmpipe differ: black where they
do not, brighter where they differ more), SCENE-RENDERER.png and gallery.json: for each
scene and pair of renderers the pixels that differ at all and by more than 2/255 in a
channel, and the largest difference. Prints the table.

--check    fails unless all scenes of scenes.toml were drawn by board and llvmpipe, each
           proves that it drew, and the board's picture is within the scene's bound of
           llvmpipe's or softpipe's
--docs     puts the pictures into DOCS/gallery and table and pictures into
           DOCS/gallery.md, between the marks there

Exit status: 0, 1 if a check fails, 2 for a bad command line.
"""

import argparse
import io
import itertools
import json
import os
import pathlib
import sys
import tomllib

import numpy
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
from pictures import ROUNDING, aligned, compare, difference, put_between  # noqa: E402 (the path comes first)

RENDERERS = ("board", "llvmpipe", "softpipe")
# The renderer that may lack a scene's feature, and whose counts are not checked.
LESS = "softpipe"
# Least number of drawn pixels of a picture.
DRAWN = 2000
# Largest size of a picture in the documentation, in bytes.
PICTURE = 30 << 10
MARKS = ("<!-- scenes: lab/gallery --docs -->\n", "<!-- end of scenes -->\n")


def load(directory):
    """Results and pictures (height x width x 3, of 0 to 255) by renderer and scene."""
    results, pictures = {}, {}
    for renderer in RENDERERS:
        data = json.loads((directory / renderer / "gallery.json").read_text())
        results[renderer] = {row["scene"]: row for row in data["rows"]}
        for scene, row in results[renderer].items():
            if row["supported"]:
                with Image.open(directory / renderer / f"{scene}.ppm") as picture:
                    pictures[renderer, scene] = numpy.asarray(picture.convert("RGB")).astype(int)
    return results, pictures


def row_of(scene, results, pictures):
    """A scene's row in gallery.json."""
    row = {"scene": scene["name"], "bound": scene["bound"], "pairs": {},
           "drawn": {r: results[r].get(scene["name"], {}).get("drawn", 0) for r in RENDERERS},
           "counts": {r: results[r].get(scene["name"], {}).get("counts", []) for r in RENDERERS}}
    for pair in itertools.combinations(RENDERERS, 2):
        both = [pictures.get((renderer, scene["name"])) for renderer in pair]
        if all(picture is not None for picture in both):
            row["pairs"]["-".join(pair)] = compare(*both)
    return row


def faults(row):
    """What is wrong with a scene."""
    for renderer in RENDERERS:
        if row["drawn"][renderer] < DRAWN and not (renderer == LESS and not row["drawn"][renderer]):
            yield f"{renderer}: {row['drawn'][renderer]} pixels drawn, fewer than {DRAWN}"
        for count in row["counts"][renderer]:
            if renderer != LESS and count["value"] < count["least"]:
                yield f"{renderer}: {count['what']}: {count['value']}, fewer than {count['least']}"
    near = [pair["beyond"] for name, pair in row["pairs"].items() if name.startswith("board-")]
    if not near:
        yield "nothing to compare the board with"
    elif min(near) > row["bound"]:
        yield f"{min(near)} pixels differ by more than {ROUNDING}/255 from the nearer renderer, bound {row['bound']}"


def number(pair):
    return f"{pair['differ']:,} / {pair['beyond']:,} / {pair['largest']}" if pair else "-"


def table(rows, start, between, end):
    """The table: differing pixels, those beyond rounding, largest difference."""
    columns = ["board-llvmpipe", "board-softpipe", "llvmpipe-softpipe"]
    lines = [["scene", "pixels drawn", *(c.replace("-", ", ") for c in columns), "bound"]]
    for row in rows:
        lines.append([row["scene"], f"{row['drawn']['board']:,}", *(number(row["pairs"].get(c)) for c in columns),
                      f"{row['bound']:,}"])
    return aligned(lines, start, between, end)


def small(picture):
    """A PNG of at most PICTURE bytes, with fewer colours if it has to be."""
    out = io.BytesIO()
    picture.save(out, "PNG", optimize=True)
    colours = 256
    while len(out.getvalue()) > PICTURE and colours > 8:
        out = io.BytesIO()
        picture.quantize(colours, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
        colours //= 2
    return out.getvalue()


def document(docs, directory, scenes, rows):
    """Pictures and the generated part of gallery.md."""
    (docs / "gallery").mkdir(exist_ok=True)
    text = table(rows, "| ", " | ", " |")
    text.insert(1, "|---|---:|---:|---:|---:|---:|")
    for scene in scenes:
        name = scene["name"]
        text += ["", f"### {scene['title']} (`{name}`)", "", scene["shows"], "", scene["differs"], "",
                 "| board | llvmpipe | softpipe | difference of board and llvmpipe |", "|---|---|---|---|"]
        cells = []
        for kind in (*RENDERERS, "difference"):
            source = directory / f"{name}-{kind}.png"
            if source.exists():
                with Image.open(source) as picture:
                    (docs / "gallery" / source.name).write_bytes(small(picture))
                cells.append(f"![{name}, {kind}](gallery/{source.name})")
            else:
                cells.append("not supported")
        text.append(f"| {' | '.join(cells)} |")
    put_between(docs / "gallery.md", MARKS, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--docs", type=pathlib.Path)
    parser.add_argument("directory", type=pathlib.Path, metavar="DIR")
    args = parser.parse_args()
    scenes = tomllib.loads((HERE / "scenes.toml").read_text())["scene"]
    results, pictures = load(args.directory)
    rows = [row_of(scene, results, pictures) for scene in scenes]
    for (renderer, scene), picture in pictures.items():
        Image.fromarray(picture.astype("uint8")).save(args.directory / f"{scene}-{renderer}.png")
        if renderer == "board" and ("llvmpipe", scene) in pictures:
            difference(picture, pictures["llvmpipe", scene]).save(args.directory / f"{scene}-difference.png")
    (args.directory / "gallery.json").write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    print(f"Pixels (of 76,800) that differ, by more than {ROUNDING}/255, and the largest difference in 255ths.")
    print("\n".join(table(rows, "", "  ", "")))

    wrong = [f"{row['scene']}: {fault}" for row in rows for fault in faults(row)]
    unknown = set(results["board"]) - {scene["name"] for scene in scenes}
    wrong += [f"{name}: not in scenes.toml" for name in sorted(unknown)]
    for fault in wrong if args.check else ():
        print(f"report.py: {fault}", file=sys.stderr)
    if args.check and wrong:
        return 1
    if args.docs:
        document(args.docs, args.directory, scenes, rows)
    return 0


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
