# SPDX-License-Identifier: MIT
"""usage: lab/gallery [--chip NAME] [--guest] [--space] [--out DIR] [--check] [--docs]   (make gallery)

Draws the scenes of bench/gallery by the board's 3D engine (natively, by r7xx-shim, with
Debian's unmodified Mesa), llvmpipe and softpipe, and compares the pictures. Pictures,
maps of differences, gallery.json and table.txt: in build/DIR (default: results/gallery).
--chip is the board's chip (default rv770). With --guest the board draws in a guest with
Debian's kernel instead. --space has Mesa use an address space of its own there, on cayman.
--check fails if a scene is not drawn or differs by more than its bound; --docs brings
docs/gallery.md and its pictures up to date.
"""
import json
import shutil

from nomap_lab import cli, graph, guest, procs
from nomap_lab.address_space import in_space
from nomap_lab.options import in_build, python, show_table
from nomap_lab.paths import BUILD, LabError, say


def in_guest(chip: str, out: str, space: bool) -> int:
    """Has the board with CHIP draw in a guest, where OUT is the directory for the pictures. Returns the guest's status."""
    boot = guest.Boot(module="stock", mesa="unmodified", board=f"--chip {chip}", timeout=580)
    command = ["/build/bench/gallery", "--out", out]
    return guest.run(boot, in_space(command) if space else command)


def main(argv: list[str]) -> int:
    """The command."""
    parser = cli.parser(__doc__, prog="lab/gallery")
    parser.add_argument("--chip", default="rv770")
    parser.add_argument("--guest", action="store_true")
    parser.add_argument("--space", action="store_true")
    parser.add_argument("--out", type=in_build, default="results/gallery")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--docs", action="store_true")
    args = parser.parse(argv)
    if args.space and not args.guest:
        parser.error("--space is for --guest")
    graph.ensure("board", "bench")
    out = BUILD / args.out
    for renderer in ("board", "llvmpipe", "softpipe"):
        say(renderer)
        shutil.rmtree(out / renderer, ignore_errors=True)
        (out / renderer).mkdir(parents=True)
        if renderer == "board" and args.guest:
            status = in_guest(args.chip, f"/build/{args.out}/board", args.space)
        else:
            env = procs.rendered_env(renderer)
            if "R7XX_CHIP" in env:
                env["R7XX_CHIP"] = args.chip
            status = procs.call([BUILD / "bench/gallery", "--out", out / renderer], env=env, check=False).returncode
        if status:
            raise LabError(f"{renderer}: gallery failed with status {status}")
    # The chip's own decoders have run: Mesa knows it by its device ID, and compiles for its generation.
    drawn_by = json.loads((out / "board/gallery.json").read_text(encoding="utf-8"))["renderer"]
    if f"AMD {args.chip.upper()} " not in drawn_by:
        raise LabError(f"the board's pictures are by '{drawn_by}', not by {args.chip}")
    options = ["--check"] * args.check + ["--docs", "docs"] * args.docs
    if show_table(python("bench/gallery/report.py", *options, out), out / "table.txt"):
        raise LabError("the pictures are not what they are to be (see above)")
    print(f"pictures: build/{args.out}")
    return 0
