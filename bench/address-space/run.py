#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs address-space with both Mesas, on kernels with and without the ioctls.

    run.py MESA OUT RESULT     (in the i386 root: natively, on the shim)

MESA is build/mesa-i386; the unmodified Mesa is the root's, Debian's. The program, which
is compiled here, has 3 GiB of address space, as with a 32-bit kernel (setarch --3gb). The
shim's GPU has 1 GiB of VRAM and 1 GiB of GTT. Fails unless the unmodified Mesa loses uploads (else the test does not test), the patched
one loses none, and its virtual size stays below 600 MiB.
"""

import argparse
import json
import os
import subprocess
import sys

MOST_MIB = 600
# The textures among them, an eighth, are tiled, and no Mesa maps those.
OBJECTS_MIB = 3584


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mesa")
    p.add_argument("out", help="directory for the program")
    p.add_argument("result")
    opts = p.parse_args()
    mesa = os.path.abspath(opts.mesa)
    here = os.path.dirname(os.path.abspath(__file__))
    tests = f"{here}/../../mesa-patches/tests"
    program = f"{os.path.abspath(opts.out)}/address-space"
    os.makedirs(opts.out, exist_ok=True)
    subprocess.run(["gcc", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-D_FILE_OFFSET_BITS=64", f"-I{tests}", "-o", program,
                    f"{here}/address-space.c", f"{tests}/gltest.c", "-lEGL", "-ldl"], check=True)
    rows, bad = [], []
    for which in ("unmodified", "patched"):
        for kernel, gem_rw in (("unmodified", "0"), ("patched", "7")):
            env = dict(os.environ, LD_PRELOAD=f"{mesa}/shim/libradeon_noop_drm_shim.so", MESA_LOADER_DRIVER_OVERRIDE="r600",
                       RADEON_GPU_ID="RV770", RADEON_SHIM_GEM_RW=gem_rw, RADEON_SHIM_VRAM_MIB="1024",
                       RADEON_SHIM_GTT_MIB="1024", MESA_SHADER_CACHE_DISABLE="true")
            if which == "patched":
                env.update(LD_LIBRARY_PATH=f"{mesa}/patched/lib", LIBGL_DRIVERS_PATH=f"{mesa}/patched/lib/dri")
            r = subprocess.run(["setarch", "i386", "--3gb", program, str(OBJECTS_MIB)], env=env, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, check=False)
            what = f"{which} Mesa, {kernel} kernel"
            try:
                row = json.loads(r.stdout)
            except ValueError:
                row = {"crashed": r.returncode}
            row.update({"mesa": which, "kernel": kernel, "status": r.returncode,
                        "stderr": "\n".join(sorted(set(r.stderr.splitlines()))[:5])})
            rows.append(row)
            print(f"{what}: {row}", flush=True)
            if which == "unmodified":
                if not r.returncode:
                    bad.append(f"{what}: loses nothing: the test does not show the problem")
            elif r.returncode:
                bad.append(f"{what}: status {r.returncode}: {r.stderr[-300:]}")
            elif row["vm_peak_mib"] > MOST_MIB:
                bad.append(f"{what}: {row['vm_peak_mib']} MiB of virtual memory, more than {MOST_MIB}")
            if row.get("bits", 32) != 32:
                bad.append(f"{what}: not a 32-bit program")
    with open(opts.result, "w", encoding="ascii") as f:
        json.dump({"rows": rows}, f, indent=1)
    print("\n".join(bad), file=sys.stderr)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
