# SPDX-License-Identifier: MIT
"""usage: lab/shell [OPTION...]

lab/run's interactive form: the same options (lab/run --help), a root shell in the
guest. "exit" or Ctrl-D powers the guest off.
"""

from __future__ import annotations

from .. import cli, guest
from .run import parse


def main(argv: list[str]) -> int:
    if any(a in ("-h", "--help") for a in argv):
        cli.parser(__doc__, "lab/shell").parse(argv)
    boot, _ = parse(argv, "lab/shell", interactive=True)
    return guest.run(boot, ["shell"], interactive=True)
