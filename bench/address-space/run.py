#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs address-space with three Mesas, on kernels with and without the ioctls.

    run.py --where shim MESA OUT RESULT     (in the i386 root: natively, on the shim)
    run.py --where board --kernel unmodified|patched MESA OUT RESULT
                                            (in the i386 root of a guest: lab/run --i386)

MESA is build/mesa-i386, which has series A alone and both series; the unmodified Mesa is the root's, Debian's. The program, which
the shim's run compiles to OUT, has 3 GiB of address space, as with a 32-bit kernel
(setarch --3gb). The GPU has 1 GiB of VRAM and 1 GiB of GTT. Rows of the same place and
kernel in RESULT are replaced.

Fails unless the unmodified Mesa loses uploads (else the test does not test), the others
lose none, and the virtual size stays at 160 MiB at the most with them.
"""

import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile

# A guest has it beside this program.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import replace_rows  # noqa: E402 (the path comes first)

MOST_MIB = 160
MESAS = ("unmodified", "a", "patched")
# An eighth of them are textures; these are tiled, and neither Mesa maps them.
OBJECTS_MIB = 3584


def build(out):
    """Compiles the program to OUT."""
    here = os.path.dirname(os.path.abspath(__file__))
    tests = f"{here}/../../mesa-patches/tests"
    os.makedirs(out, exist_ok=True)
    subprocess.run(["gcc", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-D_FILE_OFFSET_BITS=64", f"-I{tests}", "-o",
                    f"{out}/address-space", f"{here}/address-space.c", f"{tests}/gltest.c", "-lEGL", "-ldl"], check=True)


def environment(opts, which, kernel):
    """Variables for the Mesa WHICH on KERNEL."""
    env = dict(os.environ, MESA_SHADER_CACHE_DISABLE="true")
    if opts.where == "shim":
        env.update(LD_PRELOAD=f"{opts.mesa}/shim/libradeon_noop_drm_shim.so", MESA_LOADER_DRIVER_OVERRIDE="r600",
                   RADEON_GPU_ID="RV770", RADEON_SHIM_GEM_RW="7" if kernel == "patched" else "0",
                   RADEON_SHIM_VRAM_MIB="1024", RADEON_SHIM_GTT_MIB="1024")
    if which != "unmodified":
        env.update(LD_LIBRARY_PATH=f"{opts.mesa}/{which}/lib", LIBGL_DRIVERS_PATH=f"{opts.mesa}/{which}/lib/dri")
    return env


def wrong(row, which, err):
    """What is wrong with a row, or nothing."""
    if row.get("bits", 32) != 32:
        return "not a 32-bit program"
    if "AMD" not in row.get("renderer", "AMD"):
        return f"the renderer is {row['renderer']}"
    if which == "unmodified":
        return None if row["status"] else "loses nothing: the test does not show the problem"
    if row["status"]:
        return f"status {row['status']}: {err[-300:]}"
    if row["vm_peak_mib"] > MOST_MIB:
        return f"{row['vm_peak_mib']} MiB of virtual memory, more than {MOST_MIB}"
    return None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--where", choices=("shim", "board"), default="shim")
    p.add_argument("--kernel", choices=("unmodified", "patched"), help="the guest's driver")
    p.add_argument("--mib", type=int, default=OBJECTS_MIB, help=argparse.SUPPRESS)
    p.add_argument("mesa")
    p.add_argument("out", help="directory of the program")
    p.add_argument("result")
    opts = p.parse_args()
    if (opts.where == "board") != bool(opts.kernel):
        p.error("--kernel goes with --where board")
    opts.mesa, out = os.path.abspath(opts.mesa), os.path.abspath(opts.out)
    scratch = tempfile.TemporaryDirectory()
    if opts.where == "shim":
        build(out)
    else:
        # Copy the files from 9p, as programs map them.
        for which in MESAS[1:]:
            shutil.copytree(f"{opts.mesa}/{which}/lib", f"{scratch.name}/mesa/{which}/lib", symlinks=True)
        shutil.copy(f"{out}/address-space", scratch.name)
        opts.mesa, out = f"{scratch.name}/mesa", scratch.name
    kernels = [opts.kernel] if opts.kernel else ["unmodified", "patched"]
    rows, bad = [], []
    for which, kernel in itertools.product(MESAS, kernels):
        r = subprocess.run(["setarch", "i386", "--3gb", f"{out}/address-space", str(opts.mib)],
                           env=environment(opts, which, kernel), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, check=False)
        try:
            row = json.loads(r.stdout)
        except ValueError:
            row = {"crashed": r.returncode}
        row.update({"where": opts.where, "mesa": which, "kernel": kernel, "status": r.returncode,
                    "stderr": "\n".join(sorted(set(r.stderr.splitlines()))[:5])})
        rows.append(row)
        what = f"{opts.where}, {which} Mesa, {kernel} kernel"
        print(f"{what}: {row}", flush=True)
        fault = wrong(row, which, r.stderr)
        if fault:
            bad.append(f"{what}: {fault}")
    scratch.cleanup()
    replace_rows(opts.result, rows, lambda r: (r.get("where"), r["kernel"]) in [(opts.where, k) for k in kernels])
    print("\n".join(bad), file=sys.stderr)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
