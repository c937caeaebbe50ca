# SPDX-License-Identifier: MIT
"""usage: lab/in-root CMD [ARG...]

Runs CMD in the Debian 13 build root: the repository is /nomap, the cache is
/cache. Without CMD, a shell.
"""

from __future__ import annotations

import os

from ..paths import LabError, UsageError


def main(argv: list[str]) -> int:
    if argv[:1] and argv[0] in ("-h", "--help"):
        print((__doc__ or "").strip())
        return 0
    if argv[:1] and argv[0].startswith("-"):
        raise UsageError(f"unknown option {argv[0]}")
    try:
        os.execvp(argv[0] if argv else "bash", argv or ["bash"])
    except OSError as e:
        raise LabError(f"'{argv[0]}' cannot be run in the build root: {e.strerror}", 127) from e
