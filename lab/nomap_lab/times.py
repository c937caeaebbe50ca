# SPDX-License-Identifier: MIT
"""usage: python3 -m nomap_lab.times [RUNS]

Measures what a change of the driver costs until a subtest of IGT has run, and the same subtest
without a change, RUNS times (default 3) in a copy of the repository, from the command line to the
command's end. Writes docs/lab-times.json, from which docs/checks.md has its sentence. Run it in
the build root, best on a machine that does little else: the load, and whether a run waited for a
guest of another checkout, are written down. CPU seconds hardly depend on either. The first change
compiles the whole driver, as the copy has its module from the cache.
"""
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from nomap_lab.outside import copy_of_repository, outside
from nomap_lab.paths import TOP, LabError

DRIVER = "kernel/drivers/gpu/drm/radeon/radeon_gem_rw.c"
CHECK = ["lab/check", "igt", "radeon_gem_pread@basic"]


def run(copy: Path) -> dict[str, Any]:
    """What the check takes: elapsed and CPU seconds, and whether it had to wait for another guest. Raises LabError if it fails."""
    begun, before = time.monotonic(), os.times()
    done = subprocess.run(outside(CHECK, cwd=copy), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    spent, after = time.monotonic() - begun, os.times()
    if done.returncode:
        raise LabError(f"{' '.join(CHECK)} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    logs = "".join(p.read_text(errors="replace") for p in (copy / "build/check").glob("*.log"))
    return {"seconds": round(spent, 1), "cpu": round(cpu, 1), "waited": "waiting for another guest" in logs + done.stderr}


def main(argv: list[str]) -> int:
    """The command."""
    if len(argv) > 1 or (argv and not argv[0].isdecimal()):
        print(__doc__, file=sys.stderr)
        return 2
    record: dict[str, Any] = {"cpus": os.cpu_count(), "unchanged": [], "driver": []}
    with copy_of_repository("times") as copy:
        run(copy)  # takes the stages from the cache
        for what in ("unchanged", "driver"):
            for _ in range(int(argv[0]) if argv else 3):
                if what == "driver":
                    first, rest = (copy / DRIVER).read_text(encoding="utf-8").split("\n", 1)
                    rest = re.sub(r"\A/\* \d+ \*/\n", "", rest)
                    (copy / DRIVER).write_text(f"{first}\n/* {time.time_ns()} */\n{rest}", encoding="utf-8")
                load = round(os.getloadavg()[0], 1)
                record[what].append({"load": load, **run(copy)})
                print(what, record[what][-1], flush=True)
    (TOP / "docs/lab-times.json").write_text(json.dumps(record, indent=1) + "\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
