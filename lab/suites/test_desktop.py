# SPDX-License-Identifier: MIT
"""Debian's unmodified kernel, Mesa and Xorg with glamor on the board, with both DDX that R600 has.

Window manager, xterm with CJK text, glxgears, x11perf. What X shows is compared with what the monitor
shows and with the same windows drawn in software (Xvfb).
"""

import re
import shutil
from pathlib import Path
from typing import Any

from nomap_lab import graph
from nomap_lab.chips import parameters
from nomap_lab.commands.desktop import STACKS
from nomap_lab.paths import CHECK, RESULTS, TOP
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=55, finds="what stops a desktop: glamor that does not come up, wrong text, "
                   "a monitor that shows another picture")

DESK = CHECK / "desktop"
CHECKER = ("python3", "-B", "emulator/tests/desktop/check.py")
STEPS = ["accelerated", "direct", "gears", "perf", "windows", "xvfb-windows"]


# What a session runs: the DDX, the module, Mesa, and the board's chip if it is not the usual one.
SESSIONS = {
    "modesetting": ("modesetting", "stock", "unmodified", ""),
    "radeon": ("radeon", "stock", "unmodified", ""),
    "patched": ("modesetting", "patched", "patched", ""),
    "turks": ("modesetting", "stock", "unmodified", "turks"),
    "cedar": ("modesetting", "stock", "unmodified", "cedar"),
    "cayman": ("modesetting", "stock", "unmodified", "cayman"),
    "rv670": ("modesetting", "stock", "unmodified", "rv670"),
    "patched-turks": ("modesetting", "patched", "patched", "turks"),
}


def session(lab: Lab, name: str) -> None:
    """A session of SESSIONS; its steps' logs and pictures."""
    driver, module, mesa, chip = SESSIONS[name]
    shutil.rmtree(DESK / name, ignore_errors=True)
    shutil.copytree(TOP / "emulator/tests/desktop", DESK / "session", dirs_exist_ok=True)
    lab.run(f"{lab.guest_path(DESK)}/session/session", driver, lab.guest_path(DESK / name), module=module, mesa=mesa,
            board=f"--chip {chip}" if chip else "", timeout=560, logs=DESK / f"{name}-logs", screenshot=DESK / f"{name}.png")


def step(name: str, test: str) -> None:
    """Shows the log of a session's step, and passes if the step did."""
    print((DESK / name / f"{test}.log").read_text(encoding="utf-8", errors="replace"))
    assert (DESK / name / f"{test}.status").read_text(encoding="utf-8").strip() == "0"


def text(lab: Lab, name: str) -> None:
    lab.call(*CHECKER, "text", DESK / name / "x.png")


def monitor(lab: Lab, name: str) -> None:
    lab.call(*CHECKER, "same", DESK / name / "x.png", DESK / f"{name}.png")


def software(lab: Lab, name: str) -> None:
    lab.call(*CHECKER, "close", DESK / name / "x.png", DESK / name / "xvfb.png", DESK / f"{name}-difference.png")


def counters(lab: Lab, name: str) -> None:
    """The 3D engine drew, without faults and without unknown packets."""
    none = (f"{x} == 0" for x in ("bad_packets", "mc_faults", "engine_panics", "dropped_draws"))
    lab.counters(DESK / f"{name}-logs/board.json", "draws > 1000", *none)


def gallery(_lab: Lab, name: str) -> None:
    """Keeps pictures for the gallery: the monitor, X in software, their differences."""
    kept = {f"desktop-{name}.png": DESK / f"{name}.png", "desktop-software.png": DESK / name / "xvfb.png",
            f"desktop-{name}-difference.png": DESK / f"{name}-difference.png"}
    for new, old in kept.items():
        (RESULTS / "gallery").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(old, RESULTS / "gallery" / new)


CHECKS = {"text": text, "monitor": monitor, "software": software, "counters": counters}


def register(name: str, tier: str) -> None:
    """The cases of a session."""
    needs, within = [f"desktop/{name}/session"], name.replace("-", "_")

    @case(f"desktop/{name}/session", tier=tier)
    def of_session(lab: Lab) -> None:
        session(lab, name)

    @case(f"desktop/{name}/{{test}}", tier=tier, needs=needs, test=STEPS)
    def of_step(lab: Lab, test: str) -> None:
        step(name, test)

    @case(f"desktop/{name}/{{test}}", tier=tier, needs=needs, test=list(CHECKS))
    def of_check(lab: Lab, test: str) -> None:
        CHECKS[test](lab, name)

    # Tests run in this order.
    globals().update({f"{within}_session": of_session, f"{within}_step": of_step, f"{within}_check": of_check})

    if SESSIONS[name][1] == "stock":
        # The picture of differences is that test's.
        @case(f"desktop/{name}/gallery", tier=tier, needs=[*needs, f"desktop/{name}/software"])
        def of_gallery(lab: Lab) -> None:
            gallery(lab, name)

        globals()[f"{within}_gallery"] = of_gallery


# In the other tier: the second DDX, which draws the same windows by the same glamor, sessions with our module and
# Mesa, and other generations.
for session_name in SESSIONS:
    register(session_name, "check" if session_name == "modesetting" else "all")


@case("desktop/patched/uploads", tier="all", needs=["desktop/modesetting/session", "desktop/patched/session"])
def uploads(lab: Lab) -> None:
    """The patched server has few mappings, and uses the ioctls where there is neither a staging buffer nor a slab.

    With series A glamor's uploads go through staging buffers, and small buffers are entries of slabs, so
    the kernel has little to copy: buffers of more than 16 KiB, and what is read from VRAM.
    """
    debian, ours = (int((DESK / name / "maps").read_text()) for name in ("modesetting", "patched"))
    said = (DESK / "patched/gem_rw").read_text()
    copies = sum(int(n) for n in re.findall(r"(?m)^\s*(?:cpu|staged)\s+(\d+)", said))
    print(f"{said}\nmappings of BOs: {debian} with Debian's Mesa, {ours} with the series; {copies} copies by the kernel")
    assert 0 < ours <= 16 and copies


@case("desktop/two-monitors-on-{chip}", tier="all", chip=["rv770", "rv670", "cedar", "palm", "turks", "cayman"])
def two_monitors(lab: Lab, chip: str) -> None:
    """A desktop over two monitors, each with a CRTC: what X shows of it is on each, and vertical blanks of the second come."""
    import numpy
    from PIL import Image

    out, screen = DESK / f"monitors-{chip}", DESK / f"monitors-{chip}.png"
    second = screen.with_stem(f"{screen.stem}-2")
    second.unlink(missing_ok=True)
    shutil.copytree(TOP / "emulator/tests/desktop", DESK / "session", dirs_exist_ok=True)
    lab.run(f"{lab.guest_path(DESK)}/session/monitors", lab.guest_path(out), module="stock", mesa="unmodified", timeout=180,
            board=f"--chip {chip} --monitors 2", append=parameters(chip), logs=DESK / f"monitors-{chip}-logs", screenshot=screen)

    def pixels(path: Path) -> Any:
        with Image.open(path) as picture:
            return numpy.asarray(picture.convert("RGB"))

    whole, left, right = map(pixels, (out / "x.png", screen, second))
    assert (whole.shape, left.shape, right.shape) == ((768, 1824, 3), (768, 1024, 3), (600, 800, 3))
    assert (left == whole[:, :1024]).all() and (right == whole[:600, 1024:]).all()
    # The window over the common edge is black and white, the rest of the edge is not.
    assert (left[250:550, -1] != left[0, -1]).any() and (right[250:550, 0] != right[0, 0]).any()
    said = (out / "synchronised.txt").read_text()
    rates = [float(rate) for rate in re.findall(r" frames in .* = ([0-9.]+) FPS", said)]
    # Frames that do not wait for 60 blanks a second are three times as many.
    assert rates and 0 < rates[0] < 75, said


STORM = ("--out", "check/desktop-storm", "--check")


@case("desktop/storm")
def storm(lab: Lab) -> None:
    """Mappings of Xorg and of a GL client with many objects, and all contents; Debian's stack shows that they are counted."""
    lab.lab("desktop", "--stacks", "debian,nomap", "--servers", "modesetting", "--pixmaps", "64", "--glyphs", "1200", "--gl", "100",
            *STORM)


@case("desktop/storm-all", tier="all")
def storm_all(lab: Lab) -> None:
    """All stacks and servers, with little VRAM: pixmaps go to GTT."""
    lab.lab("desktop", "--pixmaps", "300", "--glyphs", "2500", "--gl", "300", "--vram-mib", "64",
            *STORM)


@case("desktop/storm-late", tier="all")
def storm_late(lab: Lab) -> None:
    """A client that is not done in time ends with a message, and so does the run; the logs stay."""
    done = lab.lab("desktop", "--stacks", "nomap", "--servers", "modesetting", "--pixmaps", "90000", "--seconds", "5",
                   "--out", "check/desktop-late", status=1)
    assert "the server did not get done in time" in done.err and "stacks that failed: nomap" in done.err
    assert (CHECK / "desktop-late/nomap/modesetting/xorg.log").stat().st_size


def build_ddx(lab: Lab) -> None:
    """The DDX of xorg-patches. Skips if its source cannot be had."""
    built = lab.lab("build", "ddx", status=None)
    if built.status and "the source of xserver-xorg-video-ati" in built.err:
        lab.skip("the source of xserver-xorg-video-ati cannot be downloaded")
    if built.status:
        lab.fail(built.err.splitlines()[-1])


@case("desktop/ddx", tier="all")
def ddx(lab: Lab) -> None:
    """The DDX of xorg-patches with EXA copies by our module's ioctls, and as it ever did on Debian's module."""
    build_ddx(lab)
    lab.lab("desktop", "--stacks", "debian,nomap", "--servers", "exa,exa-nomap", "--pixmaps", "64", "--glyphs", "500",
            "--check", "--out", "check/desktop-ddx")


RENDERCHECK_EXA = "fill,dcoords,scoords,mcoords,tscoords,tmcoords,blend,bug7366"


@case("desktop/rendercheck")
def rendercheck_short(lab: Lab) -> None:
    """XRender's operations, pixel by pixel, with our stack: those groups of tests that take seconds."""
    lab.lab("rendercheck", "--stacks", "nomap", "--servers", "modesetting", "--out", "check/rendercheck",
            "--tests", "fill,dcoords,scoords,mcoords,tscoords,tmcoords,bug7366")


@case("desktop/rendercheck-{server}", tier="all", server=["modesetting", "exa", "exa-nomap"])
def rendercheck(lab: Lab, server: str) -> None:
    """XRender's operations, pixel by pixel, with Debian's stack and ours. EXA reads back what each test has drawn: it has a few
    formats, and not the groups that do not end in 20 minutes with these, as composite."""
    if server == "exa-nomap":
        build_ddx(lab)
    lab.lab("rendercheck", "--stacks", "debian,nomap" if server != "exa-nomap" else "nomap", "--servers", server,
            *(["--formats", "a8r8g8b8,a8,r5g6b5", "--tests", RENDERCHECK_EXA] if server != "modesetting" else []),
            "--out", f"check/rendercheck-{server}")


@case("desktop/image", tier="all")
def image(lab: Lab) -> None:
    """The image with a desktop's programs boots, and has what lab/roots/desktop names; the guest's own does not."""
    packages = [line for line in (TOP / "lab/roots/desktop").read_text(encoding="utf-8").splitlines() if line[:1].isalpha()]
    ask = "dpkg-query -W -f '${Package} ${db:Status-Status}\n' \"$@\"; fc-match 'Noto Serif CJK JP' family"
    said = lab.run("bash", "-c", ask, "bash", *packages, image="desktop", board="none").splitlines()
    assert sorted(said[:-1]) == sorted(f"{p} installed" for p in packages)
    assert "Noto Serif CJK JP" in said[-1]
    assert "Noto" not in lab.run("fc-match", "Noto Serif CJK JP", "family", board="none")


def run_scene(lab: Lab, name: str, stack: str, *words: object, program: str = "scene", status: int = 0, before: str = ":") -> Path:
    """Real clients, by a script of emulator/tests/desktop, and the monitor at the end in NAME.png. BEFORE: a script's lines."""
    module, mesa = STACKS[stack]
    out = DESK / name
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(TOP / "emulator/tests/desktop", DESK / "session", dirs_exist_ok=True)
    lab.run("bash", "-c", f'{before}; exec "$@"', "bash", f"{lab.guest_path(DESK)}/session/{program}", lab.guest_path(out), *words,
            status=status, image="desktop", module=module, mesa=mesa, mem="3G", timeout=1200, logs=DESK / f"{name}-logs",
            screenshot=DESK / f"{name}.png")
    return out


@case("desktop/scene/{stack}", tier="all", stack=list(STACKS))
def scene(lab: Lab, stack: str) -> None:
    """Two workspaces with xterm, GTK, Qt, a browser and CJK text: each is the same again after switches."""
    out = run_scene(lab, f"scene-{stack}", stack)
    for again in ("again", "x"):
        lab.call(*CHECKER, "same", out / "first.png", out / f"{again}.png")
    lab.call(*CHECKER, "same", out / "x.png", DESK / f"scene-{stack}.png")
    # A switch that did nothing would leave equal pictures, too.
    lab.call(*CHECKER, "same", out / "first.png", out / "second.png", ok=[1])
    lab.counters(DESK / f"scene-{stack}-logs/board.json", "draws > 1000", "bad_packets == 0", "mc_faults == 0")
    if stack == "nomap":
        counts = dict(line.split("\t") for line in (out / "counts.tsv").read_text().splitlines())
        assert int(counts["switched"]) <= int(counts["start"]) + 32


@case("desktop/scene-same/{picture}", tier="all", needs=[f"desktop/scene/{s}" for s in STACKS], picture=["first", "second"])
def scene_same(lab: Lab, picture: str) -> None:
    """The stacks show the same pixels."""
    for stack in STACKS.keys() - {"debian"}:
        lab.call(*CHECKER, "same", DESK / f"scene-debian/{picture}.png", DESK / f"scene-{stack}/{picture}.png")


@case("desktop/scene-animation", tier="all", needs=["desktop/scene/nomap"])
def scene_animation(lab: Lab) -> None:
    """Keeps the animation of docs/desktop.md."""
    (RESULTS / "gallery").mkdir(parents=True, exist_ok=True)
    lab.call(*CHECKER, "animate", *(DESK / f"scene-nomap/{p}.png" for p in ("first", "second")),
             RESULTS / "gallery/desktop-switch.gif")


@case("desktop/browser/{stack}", tier="all", stack=["debian", "nomap"])
def browser(lab: Lab, stack: str) -> None:
    """A browser with JavaScript, whose script writes CJK text. It draws by OpenGL in a process of its own."""
    out = run_scene(lab, f"browser-{stack}", stack, program="browser")
    lab.counters(DESK / f"browser-{stack}-logs/board.json", "draws > 100", "bad_packets == 0", "mc_faults == 0")
    counts = dict(line.split("\t") for line in (out / "counts.tsv").read_text().splitlines())
    assert int(counts["WebKitWebProces"]) > 0, "the browser does not draw on the board"
    if stack == "nomap":
        assert int(counts["server"]) <= int(counts["server at its start"]) + 32


@case("desktop/browser-same", tier="all", needs=["desktop/browser/debian", "desktop/browser/nomap"])
def browser_same(lab: Lab) -> None:
    lab.call(*CHECKER, "same", *(DESK / f"browser-{stack}/page.png" for stack in ("debian", "nomap")))


@case("desktop/scene-late", tier="all")
def scene_late(lab: Lab) -> None:
    """A client without a window in time ends the scene, which names it and keeps the picture so far."""
    out = run_scene(lab, "scene-late", "nomap", 1, status=1)
    assert re.search(r"scene: xterm shows no window within 1 s|openbox does not manage", (out / "scene.log").read_text())
    assert (out / "end.png").stat().st_size


@case("desktop/scene-lacking", tier="all")
def scene_lacking(lab: Lab) -> None:
    """A font that is missing is named, and the next one taken; a client that dies is named, and ends the scene."""
    out = run_scene(lab, "scene-lacking", "nomap", status=1, before="""
rm /usr/share/fonts/opentype/noto/NotoSerifCJK*
mkdir /run/dies
printf '#!/bin/sh\\nsleep 2\\nexit 1\\n' >/run/dies/mousepad
chmod +x /run/dies/mousepad
export PATH=/run/dies:$PATH""")
    log = (out / "scene.log").read_text()
    assert "there is no font Noto Serif CJK JP" in log and "there is no font with" not in log
    assert re.search(r"xterm: window .*", log) and "scene: mousepad has died (log: mousepad.log)" in log
    assert (out / "end.png").stat().st_size


@case("desktop/xv/{where}", tier="all", where=["debian", "nomap", "exa-nomap", "strict"])
def xv(lab: Lab, where: str) -> None:
    """Films by Xv: the server converts YUV and scales, by glamor or by EXA's own shaders. "strict" has Debian's stack."""
    stack, servers = {"debian": ("debian", "modesetting,radeon,exa"), "nomap": ("nomap", "modesetting,exa"),
                      "exa-nomap": ("nomap", "exa-nomap"), "strict": ("debian", "modesetting,exa")}[where]
    module, mesa = STACKS[stack]
    out = DESK / f"xv-{where}"
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(TOP / "emulator/tests/desktop", DESK / "session", dirs_exist_ok=True)
    if where == "exa-nomap":
        build_ddx(lab)
        graph.ensure("libdrm")
    lab.run(f"{lab.guest_path(DESK)}/session/xv", lab.guest_path(out), servers, image="desktop", module=module, mesa=mesa,
            timeout=1800, logs=DESK / f"xv-{where}-logs", **({"board": "--strict"} if where == "strict" else {}))
    for server in servers.split(","):
        lab.call(*CHECKER, "film", out / server)
    lab.counters(DESK / f"xv-{where}-logs/board.json", "draws > 100", "bad_packets == 0", "mc_faults == 0", "engine_panics == 0",
                 *(["gfx_cache_flushes > 0", "gfx_stale_reads == 0"] if where == "strict" else []))


@case("desktop/where-time-goes", tier="all")
def where_time_goes(lab: Lab) -> None:
    # Shares of times are only reported.
    lab.lab("bench-desktop", "--runs", "1", "--seconds", "2", "--out", "check", "--check")
