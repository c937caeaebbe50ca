# SPDX-License-Identifier: MIT
"""usage: lab/build [--explain] [--keys] STAGE...
       lab/build --list

Brings parts of nomap up to date in the Debian 13 build root, and what they are made
of. A stage is built when its sources, its recipe or the tools it is made with have
changed (a key of their contents), and taken from the cache if any checkout of this
machine has built the same before. ninja runs what is stale, in the order of the graph.

  --list     the stages, and what they make
  --explain  also says of each stale stage what has changed
  --keys     prints each stage's key, and if it is current, and builds nothing

"all" is what make build makes: image, board, kernel, boot, igt, bench, mm-tools, libdrm.
Every other command of the lab does this itself for what it uses.
"""

from __future__ import annotations

from .. import cli, graph, stages
from ..paths import UsageError
from ..stage import STAGES


def main(argv: list[str]) -> int:
    p = cli.parser(__doc__, "lab/build")
    for name in ("list", "explain", "keys"):
        p.add_argument(f"--{name}", action="store_true")
    p.add_argument("stages", nargs="*")
    options = p.parse(argv)
    if options.list:
        for s in STAGES.values():
            print(f"{s.name:18} {s.about}")
        return 0
    if not options.stages:
        raise UsageError("name a stage, or all: lab/build --list names them")
    names: list[str] = []
    for name in options.stages:
        names += stages.GROUPS.get(name) or ([] if name in stages.GROUPS else [graph.get(name).name])
    if options.keys:
        keys = graph.Keys()
        for name in graph.closure(names):
            current = graph.is_current(graph.get(name), keys.of(name))
            print(f"{name:18} {keys.of(name)} {'current' if current else 'stale'}")
        return 0
    graph.ensure(*names, explain=options.explain)
    return 0
