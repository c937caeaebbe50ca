# SPDX-License-Identifier: MIT
"""usage: lab/glmark2 [OPTION...]   (make glmark2)

Runs glmark2's default list of benchmarks on the emulated board, in a guest on Xorg with
glamor, and natively on llvmpipe, with a clock that goes by frames, and compares the
frames (bench/glmark2). First each scene is drawn with glmark2's own --validate.

  --sample       some of the scenes, for "make check"
  --check        fail if a scene is not drawn or differs by more than its bounds
  --docs         bring docs/glmark2.md and its sheet of pictures up to date
  --out DIR      pictures, sheet.png, logs and table.txt go to build/DIR, results to
                 build/DIR.json (default: results/glmark2)
  --chip NAME    rv770 (default), rv740, rv730, rv710, or one of another generation:
                 turks, cedar, cayman, rv670, ...
  --module WHICH radeon.ko of the guest: stock (default) or patched
  --mesa WHICH   unmodified (default) or patched
"""
import argparse
import re
import shutil

from nomap_lab import chips, cli, graph, guest, procs
from nomap_lab.options import python, show_table
from nomap_lab.paths import BUILD, CACHE, TOP, LabError, UsageError, root_dir, say

FRAMES = "build/bench/glmark2-frames.so"


def place(text: str) -> str:
    """A directory for results in build/."""
    if not re.fullmatch("(check|results)/[a-z][a-z0-9-]*", text):
        raise argparse.ArgumentTypeError(f"takes check/NAME or results/NAME, not '{text}'")
    return text


def main(argv: list[str]) -> int:
    """The command."""
    parser = cli.parser(__doc__, prog="lab/glmark2")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--out", type=place, default="results/glmark2")
    parser.add_argument("--chip", choices=["rv770", "rv740", "rv730", "rv710", *chips.OTHER_GENERATIONS], default="rv770")
    parser.add_argument("--module", choices=["stock", "patched"], default="stock")
    parser.add_argument("--mesa", choices=["unmodified", "patched"], default="unmodified")
    args = parser.parse(argv)
    if args.sample and args.docs:
        raise UsageError("--docs needs all scenes: leave --sample out")
    graph.ensure("bench")
    sample = ["--sample"] * args.sample
    arguments = procs.call(python("bench/glmark2/report.py", "--arguments", *sample), capture=True).stdout.splitlines()
    if len(arguments) < 2:
        raise LabError("bench/glmark2/scenes.toml cannot be read: it names no scene")

    out = BUILD / args.out
    shutil.rmtree(out, ignore_errors=True)
    out.with_suffix(".json").unlink(missing_ok=True)
    for name in ("board", "llvmpipe", "session"):
        (out / name).mkdir(parents=True)
    for file in ("bench/glmark2/session", "emulator/tests/desktop/xorg.conf"):
        shutil.copy(TOP / file, out / "session")
    say("llvmpipe, natively")
    # With the guest's Xorg.
    enter = [TOP / "lab/roots/enter", root_dir("guest"), TOP, CACHE, TOP]
    session = ["bash", TOP / "bench/glmark2/session", "llvmpipe", out / "llvmpipe", TOP / FRAMES, *arguments]
    status = procs.call(["unshare", "--mount", "--propagation", "unchanged", *enter, *session], check=False).returncode
    if status:
        raise LabError(f"the session with llvmpipe ended with status {status}")
    say(f"{args.chip}, {args.module} radeon.ko, {args.mesa} Mesa, in a guest")
    boot = guest.Boot(module=args.module, mesa=args.mesa, board=f"--chip {args.chip}", append=chips.parameters(args.chip),
                      timeout=900, logs=out / "logs")
    status = guest.run(boot, [f"/build/{args.out}/session/session", "board", f"/build/{args.out}/board", f"/{FRAMES}",
                              *arguments])
    if status:
        raise LabError(f"the guest ended with status {status}")
    options = ["--check"] * args.check + ["--docs", "docs"] * args.docs + sample
    report = python("bench/glmark2/report.py", *options, "--chip", args.chip, "--json", f"build/{args.out}.json",
                    f"build/{args.out}")
    if show_table(report, out / "table.txt"):
        raise LabError("the pictures are not what they are to be (see above)")
    print(f"pictures: build/{args.out}/sheet.png")
    return 0
