#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the instructions of uploads and readbacks through GL, in a guest.

    run.py --kernel unmodified|patched BUILD PROGRAM RESULT     (lab/run --accel icount --smp 1)

BUILD has what "lab/build mesa mesa-a mesa-unmodified" makes, PROGRAM is the compiled
gl-uploads (mesa-patches/tests/run BUILD/mesa OUT build). The guest's clock advances by
1 ns with each instruction, so the CPU time of the process is the number of instructions that
it has executed, in Mesa and in the kernel. Which Mesa runs depends on the kernel:

    unmodified  Debian's Mesa with the same options, and the one with series A
    patched     the one with both series

Rows of the same Mesa in RESULT are replaced.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

from goals import CASES

MESAS = {"unmodified": {"unmodified": "mesa-unmodified/unmodified", "a": "mesa-a/a"}, "patched": {"patched": "mesa/patched"}}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("program")
    p.add_argument("result")
    p.add_argument("--kernel", choices=sorted(MESAS), required=True, help="the guest's driver")
    p.add_argument("--cases", default=",".join(CASES))
    opts = p.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        # Copy the files from 9p, as programs map them.
        program = shutil.copy(opts.program, scratch)
        for mesa, tree in MESAS[opts.kernel].items():
            lib = f"{scratch}/{mesa}"
            shutil.copytree(f"{opts.build}/{tree}/lib", lib)
            env = dict(os.environ, MESA_SHADER_CACHE_DISABLE="true", LD_LIBRARY_PATH=lib, LIBGL_DRIVERS_PATH=f"{lib}/dri")
            for case in opts.cases.split(","):
                options = [str(word) for pair in CASES[case].items() for word in pair]
                r = subprocess.run([program, *options, case], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, check=False)
                if r.returncode or "AMD" not in r.stderr:
                    sys.exit(f"gl-uploads {case}, {mesa} Mesa: status {r.returncode}: {r.stderr[-500:]}")
                got = json.loads(r.stdout)
                rows.append({"case": case, "mesa": mesa, "calls": got["calls"], "instructions": got["cpu_ns"],
                             "ioctls": got["ioctls"], "maps": got["maps"]})
                print(rows[-1], flush=True)
    old = []
    if os.path.exists(opts.result):
        with open(opts.result, encoding="ascii") as f:
            old = [r for r in json.load(f)["rows"] if r["mesa"] not in MESAS[opts.kernel]]
    with open(opts.result + ".new", "w", encoding="ascii") as f:
        json.dump({"rows": old + rows}, f, indent=1)
    os.rename(opts.result + ".new", opts.result)


if __name__ == "__main__":
    main()
