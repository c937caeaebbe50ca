# SPDX-License-Identifier: MIT
"""usage: lab/fuzz [--chip NAME] [SECONDS [SEED]]   (make fuzz SECONDS=600 SEED=1)

Fuzzes PREAD, PWRITE and TRANSFER for SECONDS (default 600) on the debug
kernel, then on the stock one, in boots of up to two minutes of fuzzing. The
first boot of each gets SEED (default: any), each further one the next number.
With --chip a chip of another generation is fuzzed, on the stock kernel only.
NOMAP_FUZZ_ARGS are further options of radeon_gem_rw_fuzz. A boot that fails
does not keep the others from running; logs are in build/fuzz/KERNEL-SEED/ or
CHIP-SEED/.
Exit status: 0 if nothing was found, else 1.
"""
import os
import random
import re

from nomap_lab import chips, cli, graph, guest
from nomap_lab.paths import BUILD, say

# Seconds of fuzzing in one boot.
SLICE = 120
# The guest's IGT is Debian sid's, in a directory of its own.
PROGRAM = """
for lib in /opt/*/usr/lib/*-linux-gnu; do
	LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
done
export LD_LIBRARY_PATH
exec /build/igt-tests/radeon_gem_rw_fuzz --run-subtest random "$@"
"""


def run_slice(kernel: str, seed: int, seconds: int, chip: str = "") -> bool:
    """One boot, and what it says; whether it passed."""
    name = f"{chip or kernel}-{seed}"
    logs = BUILD / "fuzz" / name
    logs.mkdir(parents=True, exist_ok=True)
    say(f"fuzz: {kernel} kernel, {f'{chip}, ' * bool(chip)}seed {seed}, {seconds} s")
    # The final checks of all BOs take long, above all on the debug kernel.
    boot = guest.Boot(kernel=kernel, mem="3G", timeout=seconds + 600, logs=logs,
                      board=f"--chip {chip}" if chip else "",
                      append=f"radeon.lockup_timeout={3000 if kernel == 'debug' else 1500} {chips.parameters(chip)}")
    with open(logs / "output.log", "wb") as log:
        status = guest.run(boot, ["bash", "-c", PROGRAM, "fuzz", "--seed", str(seed), "--seconds", str(seconds),
                                  *os.environ.get("NOMAP_FUZZ_ARGS", "").split()], stdout=log, stderr=log)
    lines = (logs / "output.log").read_text(encoding="utf-8", errors="replace").splitlines()
    for i, line in enumerate(lines):
        if re.search("^seed [0-9]+, [0-9]+ s:", line):
            print("\n".join(lines[i:i + 4]), flush=True)
    if status:
        print("\n".join(sorted({line for line in lines if re.search("CRITICAL: seed|hangs:", line)})[-5:]), flush=True)
        say(f"fuzz: {name} failed with status {status}; see build/fuzz/{name}/")
    return not status


def main(argv: list[str]) -> int:
    """The command."""
    parser = cli.parser(__doc__, prog="lab/fuzz")
    parser.add_argument("--chip", choices=chips.OTHER_GENERATIONS, default="")
    parser.add_argument("seconds", metavar="SECONDS", nargs="?", type=cli.number("seconds"), default=600)
    parser.add_argument("seed", metavar="SEED", nargs="?", type=cli.number("a seed", 0))
    args = parser.parse(argv)
    first = random.randrange(1 << 30) if args.seed is None else args.seed
    kernels = ("stock",) if args.chip else ("debug", "stock")
    graph.ensure("kernel", "boot", "igt", *({"debug"} & set(kernels)))
    failed = []
    for kernel in kernels:
        for n, done in enumerate(range(0, args.seconds, SLICE)):
            if not run_slice(kernel, first + n, min(SLICE, args.seconds - done), args.chip):
                failed.append(f"{args.chip or kernel}-{first + n}")
    say("fuzz: done")
    for name in failed:
        print(f"failed: {name}")
    return 1 if failed else 0
