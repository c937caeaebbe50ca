# SPDX-License-Identifier: MIT
"""usage: lab/rendercheck [OPTION...] [PROGRAM]

Runs rendercheck, which tests XRender's operations pixel by pixel, on X servers on the emulated board. PROGRAM is another
build of it than Debian's (x11-apps), which the guest has. Each server is tested with each group of tests; a server
without the board, which draws in software, is the reference: what fails there, too, is listed but no fault.

  --stacks LIST   of debian (Debian's module and Mesa), series-a (Debian's module, series A of our Mesa), our-mesa
                  (Debian's module, all of it) and nomap (both ours); default: debian,nomap
  --servers LIST  of modesetting, radeon (both with glamor), exa (radeon's EXA), and exa-nomap, the
                  same with the patches of xorg-patches and our libdrm_radeon; default: modesetting,exa
  --tests LIST    groups of tests, as rendercheck names them (default: all)
  --formats LIST  formats of pictures, as a8r8g8b8,a8 (default: all that the server has); with EXA a group can take more
                  than 20 minutes for all of them
  --seconds N     a group that has not ended by then fails (default 1200)
  --vram-mib N    VRAM of the board (default 512)
  --out DIR       results and logs go to build/DIR, results to build/DIR.json (default: results/rendercheck)

Exit status: 0; 1 if a test fails that passes in software, or a server does not come up; 2 for wrong arguments.
"""
import json
import re
import shutil
from pathlib import Path

from nomap_lab import cli, graph, guest, rendercheck
from nomap_lab.commands.desktop import SERVERS, STACKS, mesas_of, servers_of, words_of
from nomap_lab.commands.glmark2 import place
from nomap_lab.paths import BUILD, TOP, LabError, UsageError, host_path, say

SESSION = ("emulator/tests/desktop/rendercheck", "emulator/tests/desktop/server.sh", "emulator/tests/desktop/xorg.conf")


def program_of(name: str) -> Path:
    """The program by a path that works here. UsageError if there is none."""
    path = host_path(name)
    try:
        begins = path.read_bytes()[:4]
    except OSError as error:
        raise UsageError(f"PROGRAM {name} cannot be read: {error.strerror}") from error
    if begins != b"\x7fELF":
        raise UsageError(f"PROGRAM {name} is no program: build rendercheck, and name what was built")
    return path


def formats(text: str) -> str:
    """A list of formats. UsageError if one cannot be a format's name."""
    for word in text.split(","):
        if not re.fullmatch(r"([axrgb]\d+)+", word):
            raise UsageError(f"--formats: {word!r} is no format of XRender: a8r8g8b8, a8, r5g6b5 are")
    return text


def main(argv: list[str]) -> int:
    """The command."""
    parser = cli.parser(__doc__, prog="lab/rendercheck")
    parser.add_argument("--stacks", type=words_of(list(STACKS)), default=["debian", "nomap"])
    parser.add_argument("--servers", type=words_of(list(SERVERS)), default=["modesetting", "exa"])
    parser.add_argument("--tests", type=words_of(list(rendercheck.GROUPS)), default=list(rendercheck.GROUPS))
    parser.add_argument("--formats", type=formats)
    parser.add_argument("--seconds", type=cli.number("seconds", 1, 36000), default=1200)
    parser.add_argument("--vram-mib", type=cli.number("MiB", 64, 1024), default=512)
    parser.add_argument("--out", type=place, default="results/rendercheck")
    parser.add_argument("program", nargs="?")
    args = parser.parse(argv)
    program = program_of(args.program) if args.program else None
    runs = {stack: servers_of(stack, args.servers) for stack in args.stacks}
    runs = {stack: servers for stack, servers in runs.items() if servers}
    if not runs:
        raise UsageError("nothing to run: EXA does not use Mesa, so exa is run with debian and nomap only")
    ours = any("exa-nomap" in servers for servers in runs.values())
    graph.ensure("board", "boot", "image", *mesas_of(runs), *["ddx", "libdrm"] * ours)
    out = BUILD / args.out
    shutil.rmtree(out, ignore_errors=True)
    (out / "session").mkdir(parents=True)
    for name in SESSION:
        shutil.copy(TOP / name, out / "session")
    if program:
        shutil.copy(program, out / "session/program")
    # The reference is drawn by the first boot.
    first = next(iter(runs))
    runs[first] = [*runs[first], rendercheck.SOFTWARE]
    failed = []
    aperture = min(256, 1 << args.vram_mib.bit_length() - 1)
    for stack, servers in runs.items():
        module, mesa = STACKS[stack]
        say(f"{stack}: {module} radeon.ko, {mesa} Mesa; {', '.join(servers)}")
        boot = guest.Boot(module=module, mesa=mesa, mem="2G", board=f"--vram-mib {args.vram_mib} --bar-mib {aperture}",
                          timeout=(args.seconds * len(args.tests) + 120) * len(servers), logs=out / stack / "logs")
        inside = f"/build/{args.out}"
        if guest.run(boot, [f"{inside}/session/rendercheck", f"{inside}/session/program" if program else "rendercheck",
                            f"{inside}/{stack}", ",".join(servers), ",".join(args.tests), str(args.seconds), args.formats or ""]):
            failed.append(stack)
    results = rendercheck.read(out, [(stack, server) for stack, servers in runs.items() for server in servers], args.tests)
    print(rendercheck.table(results))
    out.with_suffix(".json").write_text(json.dumps(rendercheck.as_json(results), indent=1) + "\n", encoding="utf-8")
    if wrong := rendercheck.faults(results):
        print("\n".join(f"FAIL: {fault}" for fault in wrong))
    if wrong or failed:
        raise LabError(f"not all is as it should be (see above; logs: build/{args.out}"
                       f"{', stacks that failed: ' + ', '.join(failed) if failed else ''})")
    print(f"numbers: build/{args.out}.json\nlogs:    build/{args.out}")
    return 0
