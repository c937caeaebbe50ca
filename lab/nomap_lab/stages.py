# SPDX-License-Identifier: MIT
"""The stages: what each is made of, and how."""

from __future__ import annotations

import functools
import os
import re
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from . import apt, initramfs
from . import backports as backports_kernel
from . import ddx as x_driver
from . import gsk as gsk_data
from .deqp import source as deqp_source
from .paths import BUILD, CACHE, TOP, LabError, need_free, root_dir, root_image, root_key, say, shown
from .procs import as_builder, call, in_i386
from .stage import STAGES, installed, stage

SOURCE = "/usr/src/linux-source-6.12.tar.xz"
KERNELS = TOP / "lab/kernels"


def install(source: Path, target: Path) -> None:
    """Replaces a file at once, so that what runs keeps the old one."""
    new = target.with_name(f".{target.name}.new")
    shutil.copy2(source, new)
    new.replace(target)


@functools.cache
def kernel_version() -> str:
    """The version of the stock kernel in the build root."""
    return next(Path("/lib/modules").iterdir()).name


def stock() -> Iterable[str]:
    return (kernel_version(),)


def make_image(name: str, size: str = "1536m") -> None:
    """The ext4 image of a Debian root, in the cache (mke2fs -d: no mount); guests write to an overlay."""
    image = root_image(name)
    need_free(1200, image.parent, f"the {name} image")
    say(f"{name} image: building")
    new = image.with_name(f".{image.name}.{time.time_ns()}")
    for old in image.parent.glob(f".{name}-*"):
        old.unlink()
    try:
        # No journal: the overlay is thrown away. Room is left for swap files and such.
        call(["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal,^metadata_csum", "-m", "0", "-E", "lazy_itable_init=1",
              "-d", root_dir(name), new, size])
        with open(new, "rb") as f:
            os.fsync(f.fileno())
        new.rename(image)
    except LabError as e:
        raise LabError(f"mke2fs failed (disk full?): {e}") from e
    finally:
        new.unlink(missing_ok=True)
    for old in image.parent.glob(f"{name}-*.ext4"):
        if old != image and time.time() - old.stat().st_atime > 30 * 86400:
            old.unlink()
    say(f"{name} image: done in the cache")


@stage("the guest's root file system image, in the cache", words=lambda: [root_key("guest")],
       is_there=lambda: root_image("guest").exists())
def image(_out: Path) -> None:
    make_image("guest")


@stage("the Debian root for i386, in the cache", words=lambda: [root_key("i386")],
       is_there=lambda: (root_dir("i386") / ".complete").exists())
def i386_root(_out: Path) -> None:
    call([TOP / "lab/roots/make", "i386"])


@stage("the root for i386 as a file system image, for lab/run --i386", after=["i386-root"],
       is_there=lambda: root_image("i386").exists())
def i386_image(_out: Path) -> None:
    make_image("i386")


@stage("the guest's image with the programs of a desktop on top, in the cache, for lab/run --image desktop",
       words=lambda: [root_key("desktop")], is_there=lambda: root_image("desktop").exists())
def desktop_image(_out: Path) -> None:
    call([TOP / "lab/roots/layer", "desktop", root_dir("desktop")])
    make_image("desktop", "2304m")


@stage("the root in which apitrace records programs, in the cache", words=lambda: [root_key("traces")],
       is_there=lambda: (root_dir("traces") / ".complete").exists())
def traces_root(_out: Path) -> None:
    call([TOP / "lab/roots/layer", "traces", root_dir("traces")])


# The board

RUST = ("rustc", "libc6-dev")


@stage("r7xx-board; libr7xx_shim.so, the chip in a GL program's process; r7xx-replay, which executes "
       "what that has captured", inputs=["emulator/src", "emulator/shim", "emulator/Cargo.toml", "emulator/Cargo.lock"],
       packages=RUST, mib=800)
def board(out: Path) -> None:
    try:
        as_builder(out, ["cargo", "build", "--manifest-path", TOP / "emulator/Cargo.toml", "--workspace", "--release",
                         "--locked", "--target-dir", out / "work"])
    except LabError as e:
        raise LabError(f"cargo failed. If it could not reach its registry: the board's dependencies are fetched once, "
                       f"into {shown(CACHE / 'cargo')}, and need the network for that") from e
    for name in ("r7xx-board", "r7xx", "r7xx-replay", "libr7xx_shim.so"):
        install(out / "work/release" / name, out / name)


@stage("the board's tests, compiled", inputs=["emulator", "lab/nomap_lab/board_tests.py"], packages=RUST, mib=1500)
def board_tests(out: Path) -> None:
    as_builder(out, ["python3", "-B", "-m", "nomap_lab.board_tests", "build", out])


@stage("says that cargo fmt, clippy and doc found nothing", inputs=["emulator"],
       packages=["rustc", "rust-clippy", "rustfmt"])
def board_lint(out: Path) -> None:
    manifest = str(TOP / "emulator/Cargo.toml")
    cargo = ["--manifest-path", manifest, "--workspace", "--locked", "--target-dir", str(out / "work")]
    call(["cargo", "fmt", "--manifest-path", manifest, "--all", "--check"])
    call(["cargo", "clippy", *cargo, "--all-targets", "--", "-D", "warnings"])
    call(["cargo", "doc", *cargo, "--no-deps"], env={"RUSTDOCFLAGS": "-D warnings"})
    (out / "clean").write_text("clippy " + installed("build")["rust-clippy"] + "\n", encoding="ascii")


RUFF = "0.17.6"


@stage("ruff, which Debian 13 does not have", words=lambda: [RUFF])
def ruff(out: Path) -> None:
    call(["python3", "-m", "pip", "install", "--quiet", "--root-user-action=ignore", "--no-deps", "--target", out / "work",
          f"ruff=={RUFF}"])
    install(out / "work/bin/ruff", out / "ruff")


# radeon.ko, and what guests boot

DRIVER = ("kernel/build.sh", "kernel/lib.sh", "kernel/drivers", "kernel/include", "kernel/fixes")


def build_radeon(out: Path, source: str, headers: str, wrapper: Iterable[str | Path] = ()) -> None:
    as_builder(out, [TOP / "kernel/build.sh", source, headers, out / "work"], wrapper=tuple(wrapper))
    install(out / "work/radeon.ko", out / "radeon.ko")


@stage("radeon.ko with our ioctls, against the stock kernel's headers", inputs=[*DRIVER, "kernel/patches/6.12"],
       packages=["linux-source-6.12", "gcc-14"], words=stock, mib=800)
def kernel(out: Path) -> None:
    build_radeon(out, SOURCE, kernel_version())


@stage("says that checkpatch, sparse and kernel-doc found nothing", inputs=[*DRIVER, "kernel/check.sh", "kernel/patches"],
       packages=["linux-source-6.12", "gcc-14", "sparse"], words=stock)
def kernel_lint(out: Path) -> None:
    call([TOP / "kernel/check.sh", SOURCE, kernel_version(), out / "work"])
    (out / "clean").write_text("sparse " + installed("build")["sparse"] + "\n", encoding="ascii")


BOOT = ("lab/nomap_lab/initramfs.py", "lab/guest/init")


@stage("kernel and initramfs, stock and patched module", inputs=BOOT, after=["kernel"], out="boot/stock",
       packages=["busybox-static", "kmod", "linux-image-amd64"], words=stock)
def boot(out: Path) -> None:
    initramfs.make(Path("/"), out, BUILD / "kernel/radeon.ko")


def module(source: str, out: Path) -> None:
    """Builds a module for tests from its directory, against the stock kernel's headers."""
    work = out / "work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(TOP / source, work)
    as_builder(out, ["make", "-s", "-C", f"/lib/modules/{kernel_version()}/build", f"M={work}", "modules"])
    for ko in work.glob("*.ko"):
        install(ko, out / ko.name)


@stage("dma32.ko, which limits the board's DMA to 4 GiB", inputs=["lab/guest/dma32"], packages=["gcc-14"], words=stock)
def dma32(out: Path) -> None:
    module("lab/guest/dma32", out)


@stage("failprobe.ko, which makes a call of a kernel function fail", inputs=["kernel/tests/failprobe"], packages=["gcc-14"],
       words=stock)
def failprobe(out: Path) -> None:
    module("kernel/tests/failprobe", out)


# Other kernels: each lab/kernels/NAME.config with a line "# with:"

def kernel_config(name: str, what: str) -> list[str]:
    """The words of a line "# WHAT: ..." of a kernel's configuration; none if there is no such kernel."""
    path = KERNELS / f"{name}.config"
    found = re.search(rf"^# {what}: (.*)$", path.read_text(encoding="utf-8"), re.M) if path.exists() else None
    return found[1].split() if found else []


def other_kernels() -> list[str]:
    return sorted(p.stem for p in KERNELS.glob("*.config") if kernel_config(p.stem, "with"))


def has_radeon(name: str) -> bool:
    """Has the kernel of this name (of lab/run --kernel) the radeon driver?"""
    return not kernel_config(name, "with") or "radeon" in kernel_config(name, "with")


def newest_source(name: str) -> tuple[str, list[str | Path]]:
    """A kernel's source, and the command in which it is in its place."""
    if kernel_config(name, "source") == ["backports"]:
        return backports_kernel.fact("source"), backports_kernel.inside()
    return SOURCE, []


def build_kernel(name: str, out: Path) -> None:
    source, wrapper = newest_source(name)
    as_builder(out, [KERNELS / "make", source, name, out], wrapper=wrapper)


def build_kernel_radeon(name: str, out: Path) -> None:
    build_radeon(out, SOURCE, str(BUILD / f"kernels/{name}/headers"))


def build_kernel_boot(name: str, out: Path) -> None:
    radeon = BUILD / f"kernels/{name}-radeon/radeon.ko" if has_radeon(name) else None
    initramfs.make(BUILD / "kernels" / name, out, radeon)


def declare_kernel(name: str) -> None:
    config = [f"lab/kernels/{f}.config" for f in (name, *kernel_config(name, "with"))]
    newer = kernel_config(name, "source") == ["backports"]
    stage(f"the kernel of lab/kernels/{name}.config", name=f"linux-{name}", out=f"kernels/{name}", mib=4000,
          inputs=["lab/kernels/make", *config, *kernel_config(name, "patches")], packages=["linux-source-6.12", "gcc-14"],
          after=["linux-backports"] if newer else [])(functools.partial(build_kernel, name))
    before = [f"linux-{name}"]
    if has_radeon(name):
        stage("radeon.ko for it", name=f"radeon-{name}", inputs=[*DRIVER, "kernel/patches/6.12"], after=before,
              out=f"kernels/{name}-radeon", mib=800)(functools.partial(build_kernel_radeon, name))
        before = [*before, f"radeon-{name}"]
    stage(f"what lab/run --kernel {name} boots", name=name, inputs=BOOT, after=before, out=f"boot/{name}",
          packages=["busybox-static", "kmod"])(functools.partial(build_kernel_boot, name))


def newest_backport() -> str:
    """The version of the newest kernel in trixie-backports.

    It is looked up at most once a day; without network the last known version is taken. Raises LabError
    with status 77 if there is no Linux 7 or newer.
    """
    known = CACHE / "backports"
    if not known.exists() or time.time() - known.stat().st_mtime > 86400:
        try:
            known.write_text(backports_kernel.newest() + "\n", encoding="ascii")
        except LabError as e:
            if e.status == 77 or not known.exists():
                raise
            say(f"trixie-backports cannot be looked at; going on with {known.read_text(encoding='ascii').strip()}")
    return known.read_text(encoding="ascii").strip()


@stage("the newest kernel of trixie-backports, unpacked with its headers and source",
       inputs=["lab/nomap_lab/backports.py", "lab/nomap_lab/apt.py"], words=lambda: [newest_backport()],
       out="kernels/backports", mib=2500)
def linux_backports(out: Path) -> None:
    backports_kernel.get(newest_backport(), out)


@stage("radeon.ko for it", inputs=[*DRIVER, "kernel/patches"], after=["linux-backports"], out="kernels/backports-radeon", mib=800)
def radeon_backports(out: Path) -> None:
    build_radeon(out, backports_kernel.fact("source"), backports_kernel.fact("version"), backports_kernel.inside())


@stage("what lab/run --kernel backports boots", inputs=BOOT, after=["linux-backports", "radeon-backports"],
       out="boot/backports", packages=["busybox-static", "kmod"])
def backports(out: Path) -> None:
    initramfs.make(BUILD / "kernels/backports", out, BUILD / "kernels/backports-radeon/radeon.ko")


@stage("the mm selftests of linux-source", inputs=["lab/kernels/selftests", "kernel/lib.sh", "kernel/mm/tests/selftests/run.py"],
       packages=["linux-source-6.12", "linux-libc-dev", "gcc-14"], mib=400)
def mm_selftests(out: Path) -> None:
    as_builder(out, [KERNELS / "selftests", SOURCE, out])


# Programs

def meson(source: str, out: Path, *options: str) -> None:
    """Builds a meson project in out/work and installs it into out."""
    out.mkdir(parents=True, exist_ok=True)
    again = ["--reconfigure"] if (out / "work/build.ninja").exists() else []
    steps: dict[str, list[str | Path]] = {
        "meson": ["meson", "setup", *again, out / "work", TOP / source, "--prefix", out, "--bindir", ".", "--buildtype",
                  "debugoptimized", "-Dwerror=true", *options],
        "ninja": ["ninja", "-C", out / "work"],
        "install": ["meson", "install", "-C", out / "work", "--quiet"],
    }
    for name, cmd in steps.items():
        log = out / f"{name}.log"
        log.unlink(missing_ok=True)
        call(cmd, log=log)


C_INPUTS = ("common", "kernel/include")


@stage("the IGT tests, and subtests.json, the list of their subtests", inputs=["igt-tests", *C_INPUTS, "lab/nomap_lab/subtests.py"],
       packages=["gcc-14", "libdrm-dev"], out="igt-tests", words=lambda: [root_key("guest")])
def igt(out: Path) -> None:
    sid = root_dir("guest") / "opt/sid"
    meson("igt-tests", out, f"-Dlibigt={sid}/usr/lib/x86_64-linux-gnu/libigt.so.0")
    from . import subtests

    subtests.write(out, root_dir("guest"))


@stage("the benchmarks", inputs=["bench", *C_INPUTS],
       packages=["gcc-14", "libdrm-dev", "libjson-c-dev", "libx11-dev", "libxext-dev", "libxrender-dev"])
def bench(out: Path) -> None:
    meson("bench", out)


@stage("GSK's comparison tests, from Debian's source of GTK 4", inputs=["lab/nomap_lab/gsk.py", "lab/nomap_lab/apt.py"],
       out="gsk-tests")
def gsk_tests(out: Path) -> None:
    gsk_data.get(out)


@stage("the programs of kernel/mm that test and measure", inputs=["kernel/mm", "common"], packages=["gcc-14"])
def mm_tools(out: Path) -> None:
    meson("kernel/mm", out)


# libdrm and Mesa

def declare_source(package: str, binary: str) -> None:
    def version() -> str:
        found = installed("build").get(binary)
        if not found:
            raise LabError(f"the build root has no {binary}: make distclean, then try again")
        return found

    stage(f"Debian's source package of {package}", name=f"{package}-source", inputs=["lab/nomap_lab/apt.py"],
          words=lambda: [version()], mib=200)(functools.partial(get_source, package, binary))


def get_source(package: str, binary: str, out: Path) -> None:
    apt.get_source(package, installed("build")[binary], out)


@stage("libdrm_radeon with our patches: lib, include, share", inputs=["libdrm/build", "libdrm/patches", "libdrm/examples"],
       after=["libdrm-source"], packages=["gcc-14", "meson"])
def libdrm(out: Path) -> None:
    as_builder(out, [TOP / "libdrm/build", "build/libdrm-source", out])


@stage("the source of the X driver for radeon, as Debian has it", inputs=["lab/nomap_lab/ddx.py", "lab/nomap_lab/apt.py"],
       words=lambda: [x_driver.version()])
def ddx_source(out: Path) -> None:
    x_driver.get(out)


@stage("that driver with our patches, for lab/desktop --servers exa-nomap",
       inputs=["xorg-patches/build", "xorg-patches/patches", "lab/nomap_lab/ddx.py"],
       after=["ddx-source", "libdrm"], packages=["gcc-14", "autoconf", "automake", "libtool"], mib=300)
def ddx(out: Path) -> None:
    x_driver.headers(out / "work/headers")
    as_builder(out, [TOP / "xorg-patches/build", "build/ddx-source", "build/libdrm", out],
               wrapper=x_driver.inside(out / "work/headers"))


MESA = ("mesa-patches/build", "mesa-patches/unpack")
MESA_TOOLS = ("gcc-14", "meson")


@stage("Debian's Mesa with our series, just r600 and softpipe, and the no-op shim (12 minutes)",
       inputs=[*MESA, "mesa-patches/patches"], after=["mesa-source"], packages=MESA_TOOLS, mib=2500)
def mesa(out: Path) -> None:
    as_builder(out, [TOP / "mesa-patches/build", "build/mesa-source", out, "patched"])


@stage("the same without the series, to compare with", inputs=MESA, after=["mesa-source"], packages=MESA_TOOLS, mib=2500)
def mesa_unmodified(out: Path) -> None:
    as_builder(out, [TOP / "mesa-patches/build", "build/mesa-source", out, "unmodified"])


@stage("the same with the patches that need no new kernel, series A", inputs=[*MESA, "mesa-patches/patches"],
       after=["mesa-source"], packages=MESA_TOOLS, mib=2500)
def mesa_a(out: Path) -> None:
    as_builder(out, [TOP / "mesa-patches/build", "build/mesa-source", out, "a"])


@stage("as mesa, mesa-a and mesa-unmodified, for 32-bit processes", inputs=[*MESA, "mesa-patches/patches"],
       after=["mesa-source", "i386-root"], mib=3000)
def mesa_i386(out: Path) -> None:
    for variant in ("patched", "a", "unmodified"):
        in_i386([TOP / "mesa-patches/build", "build/mesa-source", out, variant])


# Packages

PACKAGING = ("packaging/build", "packaging/build-in-copy", "packaging/in-copy", "packaging/version")
REBUILD = (*PACKAGING, "packaging/rebuild-source")
OWN = (*PACKAGING, "packaging/own-source", "packaging/changelog", "CHANGELOG.md", "LICENSE", "kernel/patches")


def release() -> list[str]:
    """The version and the date of this release, as all packages have them."""
    return [call([TOP / "packaging/version", *words], capture=True).stdout.strip() for words in ((), ("--date",))]


def package(name: str, out: Path) -> None:
    call([TOP / "packaging/build", name, out])


@stage("source package radeon-nomap, and radeon-nomap-dkms of it", name="radeon-deb", words=release, mib=1500,
       inputs=[*OWN, "packaging/radeon-nomap", *DRIVER], packages=["dpkg-dev", "debhelper"])
def radeon_deb(out: Path) -> None:
    package("radeon-nomap", out)


@stage("libdrm with our series as source package, and its packages", after=["libdrm-source"], words=release, mib=1500,
       inputs=[*REBUILD, "packaging/libdrm", "libdrm/patches"], packages=["gcc-14", "meson", "dpkg-dev", "debhelper"])
def libdrm_deb(out: Path) -> None:
    package("libdrm", out)


@stage("source package mesa-nomap, Debian's Mesa with our series, and the package of it (12 minutes)",
       after=["mesa-source"], words=release, mib=3000, inputs=[*REBUILD, "packaging/mesa", "mesa-patches/patches"],
       packages=["gcc-14", "meson", "dpkg-dev", "debhelper"])
def mesa_deb(out: Path) -> None:
    package("mesa", out)


@stage("the same package for 32-bit programs", after=["mesa-source", "i386-root"], words=release, mib=3000,
       inputs=[*REBUILD, "packaging/mesa", "mesa-patches/patches"])
def mesa_deb_i386(out: Path) -> None:
    in_i386([TOP / "packaging/build", "mesa", out])


@stage("source package nomap-tools (report, benchmarks), and its package", name="tools-deb", words=release, mib=1500,
       inputs=[*OWN, "packaging/nomap-tools", "report", "bench", "common", "kernel/include", "docs/results/live-bos.json"],
       packages=["gcc-14", "meson", "dpkg-dev"])
def tools_deb(out: Path) -> None:
    package("nomap-tools", out)


@stage("source package r7xx-tools (board, shim, replay) with all crates, and its package (5 minutes)", name="r7xx-deb",
       words=release, mib=3000, inputs=[*OWN, "packaging/r7xx-tools", "emulator"], packages=[*RUST, "dpkg-dev", "debhelper"])
def r7xx_deb(out: Path) -> None:
    package("r7xx-tools", out)


LIVE_PACKAGES = ("radeon-deb", "libdrm-deb", "mesa-deb", "tools-deb")


@stage("nomap-live.img, which boots from a USB stick; SSH_KEY is a public key that may log in (15 minutes)",
       inputs=["packaging/live", "packaging/in-copy", "packaging/version"], after=[*LIVE_PACKAGES, "igt", "piglit-set"], mib=6000,
       words=lambda: [os.environ.get("SSH_KEY", ""), root_key("guest")])
def live(out: Path) -> None:
    call([TOP / "packaging/in-copy", out / "work", TOP / "packaging/live/build", out, root_dir("guest") / "opt/sid",
          *(BUILD / name for name in LIVE_PACKAGES)])


# Piglit

DEQP_RUNNER = "0.24.0"


@stage("Mesa CI's runners of piglit and dEQP, in the newest version that Rust 1.85 builds", packages=RUST, mib=800)
def piglit_runner(out: Path) -> None:
    as_builder(out, ["cargo", "install", "deqp-runner", "--version", DEQP_RUNNER, "--locked", "--bin", "piglit-runner",
                     "--bin", "deqp-runner", "--root", out, "--target-dir", out / "work"])


@stage("Debian's piglit, without what an R700 cannot run", name="piglit-tests",
       inputs=["lab/nomap_lab/piglit/get.py", "lab/nomap_lab/apt.py"], out="piglit", mib=800)
def piglit_tests(out: Path) -> None:
    from .piglit import get

    get.piglit(out)


@stage("Debian's piglit's generated tests of GLSL 4 and of 64-bit types, for Evergreen and later chips", name="piglit-generated",
       inputs=["lab/nomap_lab/piglit/get.py", "lab/nomap_lab/apt.py"], mib=4000)
def piglit_generated(out: Path) -> None:
    from .piglit import get

    get.generated(out)


@stage("what Mesa CI has seen of piglit on real chips", inputs=["lab/nomap_lab/piglit/seen.py", "lab/nomap_lab/mesa_ci.py"],
       after=["mesa-source"])
def piglit_expected(out: Path) -> None:
    from .piglit import seen

    seen.expected(BUILD / "mesa-source", out)


@stage("the last three", after=["piglit-tests", "piglit-runner", "piglit-expected"], out=".lab/piglit")
def piglit(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)


@stage("piglit's tests of uploads and readbacks, for the live image",
       inputs=["lab/nomap_lab/piglit", "lab/piglit-sets"], after=["piglit-tests", "piglit-expected"])
def piglit_set(out: Path) -> None:
    from .piglit import bundle

    bundle.stage(out)


@stage("what Mesa CI has seen of dEQP on real chips", inputs=["lab/nomap_lab/deqp/lists.py", "lab/nomap_lab/mesa_ci.py"],
       after=["mesa-source"])
def deqp_expected(out: Path) -> None:
    from .deqp import lists

    lists.expected(BUILD / "mesa-source", out)


@stage("dEQP, from the source of VK-GL-CTS that the user has", name="deqp-tests", inputs=["lab/nomap_lab/deqp/source.py"],
       packages=["g++", "cmake", "libegl-dev", "libgles-dev"], words=deqp_source.digest, out="deqp", mib=3000)
def deqp_tests(out: Path) -> None:
    deqp_source.build(out)


@stage("the last two, and the runner", after=["deqp-tests", "deqp-expected", "piglit-runner"], out=".lab/deqp")
def deqp(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)


declare_source("libdrm", "libdrm-dev")
declare_source("mesa", "mesa-libgallium")
for _name in other_kernels():
    declare_kernel(_name)

#: What "lab/build all" makes.
ALL = ("image", "board", "kernel", "boot", "igt", "bench", "mm-tools", "libdrm")
#: Names of today's commands that are no stage of their own.
GROUPS = {"all": ALL, "roots": ()}

assert set(ALL) <= set(STAGES)

