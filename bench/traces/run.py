#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records GL programs of Debian's with apitrace, and replays them on the board's chip with three Mesas.

    run.py record OUT                 the programs draw with llvmpipe, in a virtual X server
    run.py replay BUILD OUT RESULT    with Debian's Mesa, with series A and with both series
    run.py replay --bits 32 --programs NAMES BUILD OUT RESULT    the same in 32-bit processes

The first two run in the root for traces (lab/roots/traces). OUT gets a trace for each program, of its first
frames, and has count.so (count.c) and limits.so. BUILD has what "lab/build board mesa mesa-a" makes. Each
replay is a process of eglretrace without a window, on the board's chip in that process (r7xx-shim, which
has no ioctls of ours). It is done twice: once counted, and once with a checksum of each frame. Then the three Mesas take
turns, ROUNDS times, for the time of all frames without the program's start; its median is kept.

With --bits 32 it runs in the i386 root of a guest (lab/run --i386), on the guest's driver: a board in the same
process would take addresses. OUT has count-32.so then, and BUILD has mesa-i386: Debian's own Mesa for i386 is compiled
with other options, so its floating point differs, and so do some pixels.

Fails unless all frames are the same with the three Mesas, and differ from each other; unless
both series map and create less than Debian's Mesa; and if a call is an error that was none when it was
recorded. limits.so (limits.c) gives the program r600's limits meanwhile. Rows of the same programs in RESULT are
replaced.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import replace_rows  # noqa: E402 (the path comes first)

# Program: API that apitrace intercepts, command.
PROGRAMS = {
    "gtk4-widget-factory": ("egl", ["gtk4-widget-factory"]),
    "neverball": ("gl", ["/usr/games/neverball"]),
    "extremetuxracer": ("gl", ["/usr/games/etr"]),
}
FRAMES = 40
ROUNDS = 7
# llvmpipe needs longer to start a program than to draw its first frames.
RECORD_SECONDS = 600
# Directories of libraries below BUILD, by the bits of the process.
MESAS = {64: {"unmodified": None, "a": "mesa-a/a/lib", "patched": "mesa/patched/lib"},
         32: {"unmodified": "mesa-i386/unmodified/lib", "a": "mesa-i386/a/lib", "patched": "mesa-i386/patched/lib"}}
CHIP = "rv770"
# What the chip has; without this programs use what llvmpipe has.
VERSIONS = {"MESA_GL_VERSION_OVERRIDE": "3.0", "MESA_GLES_VERSION_OVERRIDE": "3.0"}
LIBRARIES = {64: "/usr/lib/x86_64-linux-gnu", 32: "/usr/lib/i386-linux-gnu"}
COUNT = {64: "count.so", 32: "count-32.so"}


def frames_of(trace):
    """How many frames a trace has, as far as it is written."""
    r = subprocess.run(["apitrace", "dump", "--calls=frame", "--color=never", trace], stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL, text=True, check=False)
    return sum("SwapBuffers" in line for line in r.stdout.splitlines())


def record(out):
    """Leaves OUT/PROGRAM.trace of each program."""
    with tempfile.TemporaryDirectory() as home:
        env = dict(os.environ, HOME=home, XDG_RUNTIME_DIR=home, LIBGL_ALWAYS_SOFTWARE="1", DISPLAY=":7",
                   SDL_AUDIODRIVER="dummy", GSK_RENDERER="gl", **VERSIONS)
        with subprocess.Popen(["Xvfb", ":7", "-screen", "0", "800x600x24"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as server:
            for name, (api, command) in PROGRAMS.items():
                whole, trace = f"{home}/{name}.trace", f"{out}/{name}.trace"
                with subprocess.Popen(["apitrace", "trace", "--api", api, "-o", whole, *command],
                                      env=dict(env, LD_PRELOAD=f"{out}/limits.so"),
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
                    end = time.monotonic() + RECORD_SECONDS
                    while time.monotonic() < end and program.poll() is None:
                        time.sleep(5)
                        # What is written lags behind what is drawn.
                        if os.path.exists(whole) and frames_of(whole) > FRAMES:
                            break
                    # The tracer writes the rest and ends with the program.
                    subprocess.run(["pkill", "-TERM", "-P", str(program.pid)], check=False)
                    program.terminate()
                subprocess.run(["apitrace", "trim", f"--frames=0-{FRAMES - 1}", "-o", trace, whole], check=True,
                               stdout=subprocess.DEVNULL)
                frames = frames_of(trace)
                print(f"{name}: {frames} frames, {os.path.getsize(trace)} bytes", flush=True)
                if frames < FRAMES // 2:
                    server.terminate()
                    sys.exit(f"{name} has drawn {frames} frames in {RECORD_SECONDS} s")
            server.terminate()


def environment(build, out, mesa, links, bits):
    """Variables for a replay with a Mesa; LINKS has the names of libraries that eglretrace looks for."""
    lib = MESAS[bits][mesa] and f"{build}/{MESAS[bits][mesa]}"
    env = dict(os.environ, WAFFLE_PLATFORM="surfaceless_egl", MESA_SHADER_CACHE_DISABLE="true",
               LD_PRELOAD=f"{out}/{COUNT[bits]}", LD_LIBRARY_PATH=f"{lib}:{links}" if lib else links)
    if bits == 64:
        env.update(MESA_LOADER_DRIVER_OVERRIDE="r600", R7XX_CHIP=CHIP,
                   LD_PRELOAD=f"{out}/{COUNT[bits]}:{build}/board/libr7xx_shim.so")
    if lib:
        env.update(LIBGL_DRIVERS_PATH=f"{lib}/dri", GBM_BACKENDS_PATH=f"{lib}/gbm")
    return env


def retrace(build, out, name, mesa, links, bits, options, **variables):
    """What eglretrace prints. Exits if it fails, or if a call is an error."""
    env = dict(environment(build, out, mesa, links, bits), **variables)
    r = subprocess.run(["eglretrace", "--headless", *options, f"{out}/{name}.trace"], env=env, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True, timeout=1200, check=False)
    if r.returncode:
        sys.exit(f"{name}, {mesa} Mesa: status {r.returncode}: {r.stdout[-300:]} {r.stderr[-300:]}")
    refused = [line for line in r.stderr.splitlines() if "glGetError" in line]
    if refused:
        sys.exit(f"{name}, {mesa} Mesa: {len(refused)} calls are errors, the first: {refused[0]}")
    return r.stdout


def replay(build, out, name, mesa, links, bits):
    """The row of a program with a Mesa."""
    counts = f"{out}/counts.json"
    row = {"program": name if bits == 64 else f"{name}, {bits} bits", "mesa": mesa}
    for options in (["--benchmark"], ["-s", "-", "--snapshot-format=MD5", "-S", "*/frame"]):
        if os.path.exists(counts):
            os.unlink(counts)
        said = retrace(build, out, name, mesa, links, bits, options, GLCOUNT_OUT=counts)
        # Without these it was another driver.
        if not os.path.exists(counts):
            sys.exit(f"{name}, {mesa} Mesa: nothing was counted: {said[-300:]}")
        if "--benchmark" in options:
            with open(counts, encoding="ascii") as f:
                row.update(json.load(f))
            if row["bits"] != bits:
                sys.exit(f"{name}, {mesa} Mesa: a process of {row['bits']} bits")
        else:
            row["frames"] = [line for line in said.split() if len(line) == 32]
    print(name, mesa, {k: v for k, v in row.items() if k != "frames"}, len(row["frames"]), "frames", flush=True)
    return row


def seconds(said):
    """The time of all frames that eglretrace --benchmark prints."""
    found = re.search(r"Rendered (\d+) frames in ([\d.]+) secs", said)
    if not found or not int(found[1]):
        sys.exit(f"eglretrace does not say how long the frames took: {said[-300:]}")
    return float(found[2])


def timed(build, out, name, links):
    """Medians of the time of a program's frames with each Mesa, which take turns."""
    values = {mesa: [] for mesa in MESAS[64]}
    for _ in range(ROUNDS):
        for mesa, times in values.items():
            times.append(seconds(retrace(build, out, name, mesa, links, 64, ["--benchmark"])))
    return {mesa: statistics.median(times) for mesa, times in values.items()}


def check(rows):
    """What is wrong with the rows, as lines."""
    of = {(r["program"], r["mesa"]): r for r in rows}
    for name in dict.fromkeys(r["program"] for r in rows):
        base = of[name, "unmodified"]
        if len(base["frames"]) < FRAMES // 2 or len(set(base["frames"])) < 2:
            yield f"{name}: {len(base['frames'])} frames, {len(set(base['frames']))} of them different"
        for mesa in ("a", "patched"):
            row = of[name, mesa]
            row["other_frames"] = sum(a != b for a, b in zip(row["frames"], base["frames"]))
            if len(row["frames"]) != len(base["frames"]) or row["other_frames"]:
                yield f"{name}: other frames with {mesa} than with Debian's Mesa"
            if row["submissions"] > base["submissions"] + 1:
                yield f"{name}, {mesa}: {row['submissions']} submissions, {base['submissions']} with Debian's Mesa"
            for what in ("maps", "creates", "ioctls"):
                if row[what] >= base[what]:
                    yield f"{name}, {mesa}: {row[what]} {what}, {base[what]} with Debian's Mesa"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = p.add_subparsers(dest="command", required=True)
    commands.add_parser("record").add_argument("out")
    r = commands.add_parser("replay")
    for name in ("build", "out", "result"):
        r.add_argument(name)
    r.add_argument("--programs", default=",".join(PROGRAMS))
    r.add_argument("--bits", type=int, choices=tuple(MESAS), default=64)
    opts = p.parse_args()
    out = os.path.abspath(opts.out)
    if opts.command == "record":
        record(out)
        return
    with tempfile.TemporaryDirectory() as links:
        # Debian's packages of libraries do not have the names without a version.
        for name in ("libEGL.so.1", "libGL.so.1", "libGLESv2.so.2"):
            os.symlink(f"{LIBRARIES[opts.bits]}/{name}", f"{links}/{name.rpartition('.')[0]}")
        build, names = os.path.abspath(opts.build), opts.programs.split(",")
        if opts.bits == 32:
            # Copy the files from 9p, as programs map them.
            for lib in filter(None, MESAS[32].values()):
                shutil.copytree(f"{build}/{lib}", f"{links}/build/{lib}", symlinks=True)
            build = f"{links}/build"
        rows = [replay(build, out, name, mesa, links, opts.bits) for name in names for mesa in MESAS[opts.bits]]
        wrong = list(check(rows))
        # In the emulated guest of the 32-bit process it would be the guest's time.
        for name in names if opts.bits == 64 else ():
            medians = timed(build, out, name, links)
            for row in rows:
                if row["program"] == name:
                    row["seconds"] = medians[row["mesa"]]
    for row in rows:
        row["frames"] = len(row["frames"])
    drawn = {row["program"] for row in rows}
    replace_rows(opts.result, rows, lambda r: r["program"] in drawn)
    print("\n".join(wrong), file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
