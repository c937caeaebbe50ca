#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares uploads of Mesa as it is, with our series, and with temporary mappings.

    run.py --where shim BUILD PROGRAM RESULT    natively, in the build root
    run.py --where board BUILD PROGRAM RESULT   in a guest

BUILD has what "lab/build mesa mesa-a mesa-unmodified" makes, PROGRAM is
the compiled gl-uploads (mesa-patches/tests/run BUILD/mesa OUT build). The
variants take turns, ROUNDS times for each case, and three times as often for one with short
batches; RESULT gets the median round:

    unmodified  Debian's Mesa, with the same options
    a           with series A, on a kernel without the ioctls
    patched     with both series
    temporary   with the series, but mapping, copying and unmapping each time
                (RADEON_MAP_TEMPORARY everywhere): what can be had without a
                change of the kernel

If RESULT exists, rows of the same place are replaced.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

# A guest has it beside this program.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import replace_rows  # noqa: E402 (the path comes first)

CASES = ["vbo-idle", "vbo-busy", "vbo-part-busy", "draw", "vbo-many", "glyph-own", "glyph-atlas", "tex1d", "pbo",
         "map-hot", "readpixels", "read-own", "stream"]
# Three times as many rounds: a batch has 50 calls only, so it varies most.
SHORT_BATCHES = {"stream"}
VARIANTS = {
    "unmodified": ("mesa-unmodified/unmodified", {}),
    "a": ("mesa-a/a", {"RADEON_SHIM_GEM_RW": "0"}),
    "patched": ("mesa/patched", {}),
    "temporary": ("mesa/patched", {"R600_DEBUG": "mmap", "RADEON_MAP_CACHE_COUNT": "0"}),
}


def run(opts, variant, case):
    tree, extra = VARIANTS[variant]
    env = dict(os.environ, MESA_SHADER_CACHE_DISABLE="true", **extra)
    env["LD_LIBRARY_PATH"] = f"{opts.build}/{tree}/lib"
    env["LIBGL_DRIVERS_PATH"] = f"{opts.build}/{tree}/lib/dri"
    if opts.where == "shim":
        env.update(LD_PRELOAD=f"{opts.build}/mesa/shim/libradeon_noop_drm_shim.so", RADEON_GPU_ID=opts.chip,
                   MESA_LOADER_DRIVER_OVERRIDE="r600", RADEON_SHIM_LATENCY_US=str(opts.latency),
                   RADEON_SHIM_SYSCALLS="1")
    r = subprocess.run([opts.program, "--batches", str(opts.batches), "--calls", str(opts.calls), case], env=env,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if r.returncode:
        sys.exit(f"gl-uploads {case}, {variant}: status {r.returncode}: {r.stderr[-500:]}")
    if opts.where == "board" and "AMD" not in r.stderr:
        sys.exit(f"gl-uploads: this is not the board: {r.stderr}")
    return json.loads(r.stdout)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("program")
    p.add_argument("result")
    p.add_argument("--where", choices=("shim", "board"), required=True)
    p.add_argument("--chip", default="RV770")
    p.add_argument("--latency", type=int, default=1000, help="of the shim's GPU, in us")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--batches", type=int, default=5)
    p.add_argument("--calls", type=int, default=1000)
    p.add_argument("--cases", default=",".join(CASES))
    opts = p.parse_args()
    opts.build, opts.program = os.path.abspath(opts.build), os.path.abspath(opts.program)
    scratch = tempfile.TemporaryDirectory()
    if opts.where == "board":
        # Copy the files from 9p, as programs map them.
        for tree in {t for t, _ in VARIANTS.values()}:
            shutil.copytree(f"{opts.build}/{tree}/lib", f"{scratch.name}/{tree}/lib")
        opts.program = shutil.copy(opts.program, scratch.name)
        opts.build = scratch.name

    rows = []
    for case in opts.cases.split(","):
        results = {v: [] for v in VARIANTS}
        for i in range(opts.rounds * (3 if case in SHORT_BATCHES else 1)):
            # Another variant begins in each round.
            order = list(VARIANTS)[i % len(VARIANTS):] + list(VARIANTS)[:i % len(VARIANTS)]
            for variant in order:
                results[variant].append(run(opts, variant, case))
        for variant, got in results.items():
            rows.append({"case": case, "where": opts.where, "mesa": variant,
                         "ns": statistics.median(g["ns"] for g in got),
                         "cpu_ns": statistics.median(g["cpu_ns"] for g in got),
                         "ioctls": statistics.median(g["ioctls"] for g in got),
                         "maps": statistics.median(g["maps"] for g in got)})
            print(f"{opts.where:5} {case:14} {variant:10} {rows[-1]['ns']:10.0f} ns {rows[-1]['cpu_ns']:10.0f} ns of CPU {rows[-1]['ioctls']:8.3f} ioctls "
                  f"{rows[-1]['maps']:7.3f} maps a call", flush=True)

    scratch.cleanup()
    replace_rows(opts.result, rows, lambda r: r["where"] == opts.where)


if __name__ == "__main__":
    main()
