#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the frames that glmark2 has drawn on the board with those of llvmpipe.

usage: report.py [--check] [--sample] [--chip NAME] [--docs DOCS] [--json FILE] DIR
       report.py --arguments [--sample]

DIR has the directories board and llvmpipe, each with what session left there. It gets
SCENE-board.png, SCENE-llvmpipe.png and SCENE-difference.png of each scene's last frame
(differences: black where there are none, brighter where they are larger), and sheet.png,
which has the board's pictures and the differences of all scenes. FILE (default:
DIR/glmark2.json) gets a row for each scene. Prints the table.

--check      fails unless both renderers have drawn all scenes of scenes.toml and no
             other, the preloaded library was in effect, glmark2's own validation did not
             fail, and each frame of the board is within the scene's bounds of llvmpipe's
--sample     only the scenes that scenes.toml has in its sample
--chip       the chip that GL_RENDERER must name (default rv770)
--docs       puts the sheet and the table into DOCS/glmark2.md, between the marks there
--arguments  prints the step of the clock in milliseconds and glmark2's arguments, one a line

Exit status: 0, 1 if a check fails, 2 for a bad command line.
"""

import argparse
import json
import os
import pathlib
import re
import sys
import tomllib

import numpy
from PIL import Image, ImageDraw, ImageFont

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
from pictures import ROUNDING, aligned, compare, difference, put_between  # noqa: E402 (the path comes first)

RENDERERS = ("board", "llvmpipe")
# Size of a picture in the sheet: that of the frames, so that single pixels can be seen.
PICTURE = (320, 240)
# Scenes beside each other in the sheet.
ACROSS = 2
MARKS = ("<!-- scenes: lab/glmark2 --docs -->\n", "<!-- end of scenes -->\n")

SCENE = re.compile(r"^\[(\w+)\] (\S+):(?=\s|@|$)")
FRAME = re.compile(r"@frame (\d+) (\d+)x(\d+) (\d+)$")
END = re.compile(r"^@end (\d+) (\d+)$")
RESULT = re.compile(r"(Unsupported|Set up failed)\s*$")
VALIDATION = re.compile(r"Validation: (\w+)\s*$")
RENDERER = re.compile(r"^\s*GL_RENDERER:\s*(.*?)\s*$")


def lines(path):
    return path.read_text(errors="replace").splitlines() if path.exists() else []


def read_log(path):
    """The contents of a log: renderer, @end, and for each scene its frames and verdicts, in order."""
    log = {"renderer": "", "end": None, "scenes": {}}
    row = None
    for line in lines(path):
        if match := RENDERER.match(line):
            log["renderer"] = match[1]
        if match := END.match(line):
            log["end"] = [int(n) for n in match.groups()]
        if match := SCENE.match(line):
            row = log["scenes"].setdefault((match[1], match[2]), {"frames": [], "result": "", "validation": ""})
        if row is None:
            continue
        if match := FRAME.search(line):
            number, width, height, microseconds = (int(n) for n in match.groups())
            row["frames"].append({"number": number, "size": [width, height], "microseconds": microseconds})
        if match := RESULT.search(line):
            row["result"] = match[1]
        if match := VALIDATION.search(line):
            row["validation"] = match[1]
    return log


def picture(directory, renderer, frame):
    """A frame's pixels (height x width x 3), or None."""
    try:
        with Image.open(directory / renderer / f"{frame['number']}.ppm") as image:
            return numpy.asarray(image.convert("RGB")).astype(int)
    except OSError:
        return None


def status(scene, pictures):
    """How a renderer fared with a scene."""
    if scene is None:
        return "missing"
    if scene["result"]:
        return scene["result"].lower()
    if not pictures or any(p is None for p in pictures):
        return "no picture"
    if len(numpy.unique(pictures[-1].reshape(-1, 3), axis=0)) < 2:
        return "one colour"
    return "drawn"


def frames_per_second(scene):
    """The rate of all frames but the first, which includes the scene's setup."""
    times = [frame["microseconds"] for frame in scene["frames"][1:]] if scene else []
    return round(len(times) * 1e6 / sum(times), 2) if times and sum(times) else None


def row_of(scene, logs, directory):
    """A scene's row in the results, and its frames by renderer."""
    key = (scene["scene"], scene["options"])
    row = {"name": scene["name"], "scene": scene["scene"], "options": scene["options"], "bound": scene["bound"],
           "mean_bound": scene["mean"], "status": {}, "validation": {}, "frames": {}, "fps": {}}
    pictures = {}
    for renderer in RENDERERS:
        drawn = logs[renderer]["glmark2"]["scenes"].get(key)
        pictures[renderer] = [picture(directory, renderer, frame) for frame in drawn["frames"]] if drawn else []
        row["status"][renderer] = status(drawn, pictures[renderer])
        row["validation"][renderer] = logs[renderer]["validate"]["scenes"].get(key, {}).get("validation", "")
        row["frames"][renderer] = len(pictures[renderer])
        row["fps"][renderer] = frames_per_second(drawn)
    pairs = [(a, b) for a, b in zip(*(pictures[r] for r in RENDERERS)) if a is not None and b is not None]
    if any(a.shape != b.shape for a, b in pairs):
        row["status"]["board"] = "other size"
    else:
        # Of each measure, the worst frame's.
        parts = [{**compare(a, b), "mean": round(float(abs(a - b).mean()), 4)} for a, b in pairs]
        row.update({name: max(part[name] for part in parts) for name in parts[0]} if parts else {})
    return row, pictures


def faults(row, frames):
    """What is wrong with a scene."""
    for renderer in RENDERERS:
        if row["status"][renderer] != "drawn":
            yield f"{renderer}: {row['status'][renderer]}"
        elif row["frames"][renderer] != frames:
            yield f"{renderer}: {row['frames'][renderer]} frames, not {frames}"
        if row["validation"][renderer] not in ("Success", "Unknown"):
            yield f"{renderer}: glmark2 --validate says '{row['validation'][renderer]}'"
    if row.get("beyond", 0) > row["bound"]:
        yield f"{row['beyond']} pixels differ by more than {ROUNDING}/255, bound {row['bound']}"
    if row.get("mean", 0) > row["mean_bound"]:
        yield f"the mean difference is {row['mean']}/255, bound {row['mean_bound']}"


def run_faults(logs, directory, chip, known):
    """What is wrong with a run as a whole."""
    for renderer, name in zip(RENDERERS, (f"AMD {chip.upper()} ", "llvmpipe ")):
        for run in ("validate", "glmark2"):
            log = logs[renderer][run]
            if not log["renderer"].startswith(name):
                yield f"{renderer}: {run}: GL_RENDERER is '{log['renderer']}', not {name.strip()}"
            code = "".join(lines(directory / renderer / f"{run}.status"))
            if code != "0":
                yield f"{renderer}: {run}: glmark2 ended with status '{code}'"
            for scene in log["scenes"]:
                if scene not in known:
                    yield f"{renderer}: {run}: {' '.join(scene)} is not in scenes.toml"
        log = logs[renderer]["glmark2"]
        frames = sum(len(scene["frames"]) for scene in log["scenes"].values())
        if not log["end"]:
            yield f"{renderer}: the preloaded library was not in effect at the end"
        elif log["end"][0] != frames or not log["end"][1]:
            yield f"{renderer}: {frames} frames logged; the preloaded library counted frames, clock reads: {log['end']}"


def table(rows, start, between, end):
    """Differing pixels, those beyond rounding, largest and mean difference of the worst frame."""
    out = [["scene", "options", "validation", "differ", "beyond", "bound", "largest", "mean"]]
    for row in rows:
        cells = [f"{row[k]:,}" if k in row else "-" for k in ("differ", "beyond")] + [f"{row['bound']:,}"]
        cells += [str(row["largest"]), f"{row['mean']:.3f}"] if "mean" in row else ["-", "-"]
        out.append([row["name"], row["options"].replace("<default>", ""), row["validation"]["board"].lower(), *cells])
    return aligned(out, start, between, end)


def caption(row):
    """What the sheet says above a scene's pictures."""
    if "mean" not in row:
        return f"{row['name']}: not compared"
    if not row["differ"]:
        return f"{row['name']}: the same bits as llvmpipe"
    return (f"{row['name']}: {row['differ']:,} pixels differ from llvmpipe's, {row['beyond']:,} by more than {ROUNDING}/255; "
            f"the largest by {row['largest']}")


def sheet(rows, directory):
    """All scenes: the board's picture, and where it differs from llvmpipe's; in both, frames' size."""
    width, height, line = 2 * PICTURE[0] + 14, PICTURE[1] + 32, 24
    whole = Image.new("RGB", (ACROSS * width, -(-len(rows) // ACROSS) * height), "white")
    draw = ImageDraw.Draw(whole)
    font = ImageFont.load_default(size=15)
    for i, row in enumerate(rows):
        x, y = i % ACROSS * width, i // ACROSS * height
        draw.text((x + 4, y + 4), caption(row), fill="black", font=font)
        for n, kind in enumerate(("board", "difference")):
            path = directory / f"{row['name']}-{kind}.png"
            if path.exists():
                with Image.open(path) as image:
                    whole.paste(image.convert("RGB").resize(PICTURE, Image.Resampling.BOX),
                                (x + n * (PICTURE[0] + 2) + 4, y + line))
    return whole


def document(docs, directory, scenes, rows):
    """The sheet, and the generated part of glmark2.md."""
    text = table(rows, "| ", " | ", " |")
    text.insert(1, "|---|---|---|---:|---:|---:|---:|---:|")
    text += ["", "![all scenes: the board's picture, and where it differs from llvmpipe's](glmark2.png)", ""]
    text += [f"- `{s['name']}`: {s['shows']}{' ' + s['differs'] if s['differs'] else ''}" for s in scenes]
    put_between(docs / "glmark2.md", MARKS, text)
    with Image.open(directory / "sheet.png") as image:
        image.quantize(128, dither=Image.Dither.NONE).save(docs / "glmark2.png", optimize=True)


def arguments(config, scenes, sample):
    """What session passes on to glmark2. Without --sample, glmark2 runs its own list of scenes."""
    yield config["step"]
    yield from ("--size", config["size"], "-b", f":duration={config['duration']}")
    for scene in scenes if sample else ():
        yield from ("-b", scene["scene"] + ("" if scene["options"] == "<default>" else ":" + scene["options"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--arguments", action="store_true")
    parser.add_argument("--chip", default="rv770")
    parser.add_argument("--docs", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("directory", type=pathlib.Path, metavar="DIR", nargs="?")
    args = parser.parse_args()
    config = tomllib.loads((HERE / "scenes.toml").read_text())
    scenes = [{"bound": config["bound"], "mean": config["mean"], "differs": "", **scene} for scene in config["scene"]]
    scenes = [scene for scene in scenes if scene.get("sample") or not args.sample]
    if args.arguments:
        print("\n".join(str(a) for a in arguments(config, scenes, args.sample)))
        return 0
    if not args.directory:
        parser.error("DIR is needed")

    logs = {r: {run: read_log(args.directory / r / f"{run}.log") for run in ("validate", "glmark2")} for r in RENDERERS}
    rows = []
    for scene in scenes:
        row, pictures = row_of(scene, logs, args.directory)
        rows.append(row)
        last = [pictures[r][-1] if pictures[r] else None for r in RENDERERS]
        for renderer, pixels in zip(RENDERERS, last):
            if pixels is not None:
                Image.fromarray(pixels.astype("uint8")).save(args.directory / f"{scene['name']}-{renderer}.png")
        if all(p is not None for p in last) and last[0].shape == last[1].shape:
            difference(*last).save(args.directory / f"{scene['name']}-difference.png")
    sheet(rows, args.directory).save(args.directory / "sheet.png")
    (args.json or args.directory / "glmark2.json").write_text(json.dumps(
        {"chip": args.chip, "renderer": {r: logs[r]["glmark2"]["renderer"] for r in RENDERERS}, "rows": rows}, indent=1) + "\n")
    print(f"Pixels (of {config['size']}) that differ, by more than {ROUNDING}/255, bound of these; largest and mean in 255ths.")
    print("\n".join(table(rows, "", "  ", "")))

    wrong = list(run_faults(logs, args.directory, args.chip, {(s["scene"], s["options"]) for s in scenes}))
    wrong += [f"{row['name']}: {fault}" for row in rows for fault in faults(row, config["frames"])]
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
