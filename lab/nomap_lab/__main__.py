# SPDX-License-Identifier: MIT
"""python3 -m nomap_lab COMMAND ARG...: what lab/enter starts."""

import sys

from .cli import main

sys.exit(main(sys.argv[1:]))
