# SPDX-License-Identifier: MIT
"""usage: lab/desktop [OPTION...]   (make desktop)

Runs bench/glyphstorm, a client with many pixmaps and glyphs, on X servers on the emulated board, and
counts what the server's process needs for them: mappings of BOs, ioctls, memory. All contents
are checked. A guest is booted for each stack, and has the servers in turn.

  --stacks LIST   of debian (Debian's module and Mesa), series-a (Debian's module, series A of our Mesa), our-mesa
                  (Debian's module, all of it) and nomap (both ours); default: all
  --servers LIST  of modesetting, radeon (both with glamor), exa (radeon's EXA), and exa-nomap, the
                  same with the patches of xorg-patches and our libdrm_radeon. Default: the
                  first three, and exa-nomap with nomap if the source of its driver can be downloaded. EXA is
                  left out with series-a and our-mesa, as it does not use Mesa
  --pixmaps N     from images, and as many from shared memory (default 1000)
  --glyphs N      default 4000
  --gl N          textures and vertex buffers of the client's own by OpenGL, and textures of N pixmaps,
                  as a compositor has them (default 0)
  --seconds N     a client that has not ended by then does, and its case fails (default 600)
  --vram-mib N    VRAM of the board (default 512)
  --check         fail if contents, or what does not depend on time, is wrong
  --out DIR       results, logs, table.txt go to build/DIR, results and plot to build/DIR.{json,png} (default:
                  results/desktop)

A case that fails, with its logs in build/DIR/STACK/SERVER, does not keep the others from running.
"""
import argparse
import shutil
from collections.abc import Callable, Iterable

from nomap_lab import cli, graph, guest, procs
from nomap_lab.commands.glmark2 import place
from nomap_lab.ddx import SOURCE
from nomap_lab.options import python, show_table
from nomap_lab.paths import BUILD, TOP, LabError, UsageError, say

#: The module and Mesa of each stack.
STACKS = {"debian": ("stock", "unmodified"), "series-a": ("stock", "a"), "our-mesa": ("stock", "patched"),
          "nomap": ("patched", "patched")}
#: The stage that builds a Mesa; the guest has Debian's.
MESAS = {"a": "mesa-a", "patched": "mesa"}
SERVERS = ("modesetting", "radeon", "exa", "exa-nomap")
SESSION = ("bench/glyphstorm/session", "emulator/tests/desktop/server.sh", "emulator/tests/desktop/xorg.conf")


def words_of(known: list[str]) -> Callable[[str], list[str]]:
    """A type for argparse: a list with commas of some of the known words."""
    def convert(text: str) -> list[str]:
        words = text.split(",")
        for word in words:
            if word not in known:
                raise argparse.ArgumentTypeError(f"takes a list of {', '.join(known)}, not '{text}'")
        return list(dict.fromkeys(words))

    return convert


def servers_of(stack: str, servers: list[str] | None) -> list[str]:
    """The servers that a stack is run with: EXA does not use Mesa. Our DDX is for our module, if not asked for by name."""
    if servers is None:
        servers = [s for s in SERVERS if stack == "nomap" or s != "exa-nomap"]
    return [s for s in servers if stack not in ("series-a", "our-mesa") or not s.startswith("exa")]


def mesas_of(stacks: Iterable[str]) -> list[str]:
    """The stages that build the Mesas of stacks."""
    return sorted({MESAS[mesa] for _, mesa in map(STACKS.__getitem__, stacks) if mesa in MESAS})


def has_ddx(asked: bool) -> bool:
    """Builds our DDX. If its source cannot be had and nobody has asked for the DDX by name, says so and returns False."""
    try:
        graph.ensure("ddx", "libdrm")
        return True
    except LabError as error:
        if asked or f"the source of {SOURCE}" not in str(error):
            raise
        say(f"exa-nomap is left out: the source of {SOURCE} cannot be downloaded")
        return False


def main(argv: list[str]) -> int:
    """The command."""
    parser = cli.parser(__doc__, prog="lab/desktop")
    parser.add_argument("--stacks", type=words_of(list(STACKS)), default=list(STACKS))
    parser.add_argument("--servers", type=words_of(list(SERVERS)), default=None)
    parser.add_argument("--pixmaps", type=cli.number("pixmaps", 16, 100000), default=1000)
    parser.add_argument("--glyphs", type=cli.number("glyphs", 1, 100000), default=4000)
    parser.add_argument("--gl", type=cli.number("objects", 0, 100000), default=0)
    parser.add_argument("--seconds", type=cli.number("seconds", 1, 36000), default=600)
    parser.add_argument("--vram-mib", type=cli.number("MiB", 64, 1024), default=512)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=place, default="results/desktop")
    args = parser.parse(argv)
    runs = {stack: servers_of(stack, args.servers) for stack in args.stacks}
    runs = {stack: servers for stack, servers in runs.items() if servers}
    if not runs:
        raise UsageError("nothing to run: EXA does not use Mesa, so exa is run with debian and nomap only")
    graph.ensure("bench", "board", "boot", "image", *mesas_of(runs))
    if any("exa-nomap" in servers for servers in runs.values()) and not has_ddx(asked=args.servers is not None):
        runs = {stack: [s for s in servers if s != "exa-nomap"] for stack, servers in runs.items()}

    out = BUILD / args.out
    shutil.rmtree(out, ignore_errors=True)
    out.with_suffix(".json").unlink(missing_ok=True)
    (out / "session").mkdir(parents=True)
    for file in SESSION:
        shutil.copy(TOP / file, out / "session")
    # The CPU reaches all of a small VRAM, as on cards; the aperture is a power of two.
    aperture = min(256, 1 << args.vram_mib.bit_length() - 1)
    failed = []
    for stack, servers in runs.items():
        module, mesa = STACKS[stack]
        say(f"{stack}: {module} radeon.ko, {mesa} Mesa; {', '.join(servers)}")
        (out / stack).mkdir()
        boot = guest.Boot(module=module, mesa=mesa, mem="3G", board=f"--vram-mib {args.vram_mib} --bar-mib {aperture}",
                          timeout=(args.seconds + 120) * len(servers), logs=out / stack / "logs")
        if guest.run(boot, [f"/build/{args.out}/session/session", f"/build/{args.out}/{stack}", ",".join(servers),
                            str(args.pixmaps), str(args.glyphs), str(args.gl), str(args.seconds)]):
            failed.append(stack)
    cases = ",".join(f"{stack}/{server}" for stack, servers in runs.items() for server in servers)
    numbers = out.with_suffix(".json")
    options = ["--check"] * args.check
    report = python("bench/glyphstorm/report.py", *options, "--cases", cases, "--json", numbers, out)
    if show_table(report, out / "table.txt") or failed:
        raise LabError(f"not all is as it should be (see above; logs: build/{args.out}"
                       f"{', stacks that failed: ' + ', '.join(failed) if failed else ''})")
    procs.call(python("bench/glyphstorm/plot.py", numbers, numbers.with_suffix(".png")))
    print(f"numbers: build/{args.out}.json\ntable:   build/{args.out}/table.txt\nplot:    build/{args.out}.png")
    return 0
