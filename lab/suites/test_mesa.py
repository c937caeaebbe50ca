# SPDX-License-Identifier: MIT
"""Mesa: the series on the radeon no-op shim, natively, and uploads that a GPU sees on the emulated
chip in the program's own process. The suite mesa-board has what needs the kernel driver."""

import shutil
import time

from nomap_lab.paths import BUILD, CACHE, CHECK, RESULTS, TOP
from nomap_lab.procs import in_i386
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=55, lane="builds", finds="an upload of GL that is lost, overtaken or mapped; "
                   "a patch of Mesa that does not build alone")

BUILT = ["mesa/build"]
I386 = CHECK / "mesa-i386"


def mesa_test(lab: Lab, *args: str) -> None:
    lab.call("mesa-patches/tests/run", "build/mesa", "build/check/mesa", *args)


def with_series_a(lab: Lab) -> tuple[str, str]:
    """Options of tests/run to run the Mesa that needs no new kernel as well."""
    lab.build("mesa-a")
    return "--series-a", "build/mesa-a/a"


def maps(lab: Lab, *args: str) -> None:
    mesa_test(lab, "maps", "--unmodified", *with_series_a(lab), *args)
    shutil.copy(CHECK / "mesa/gl-maps.json", RESULTS)
    lab.call("mesa-patches/tests/plot.py", RESULTS / "gl-maps.json", RESULTS / "gl-maps.png")
    lab.record("gl-maps")


@case("mesa/build")
def build(lab: Lab) -> None:
    lab.build("mesa")


@case("mesa/uapi-header", needs=BUILT)
def uapi_header(lab: Lab) -> None:
    lab.call("mesa-patches/check", "header", "build/mesa")


TESTS = ["unit", "maps", "faults", "limit", "order", "random", "old-kernel", "variables", "writes", "limits", "gbm"]


@case("mesa/{test}", needs=BUILT, test=TESTS)
def tests(lab: Lab, test: str) -> None:
    if test == "maps":
        maps(lab, "--quick")
    else:
        mesa_test(lab, test, *(["--unmodified"] if test == "limit" else []))


@case("mesa/chip", needs=BUILT)
def chip(lab: Lab) -> None:
    lab.build("board")
    mesa_test(lab, "chip", *with_series_a(lab))


@case("mesa/evergreen", needs=BUILT, tier="all")
def evergreen(lab: Lab) -> None:
    """Clears, storage buffers, images, atomic operations and compute shaders on the emulated Evergreen."""
    lab.build("board")
    mesa_test(lab, "evergreen")


def piglit(lab: Lab, mesa: str, tests_set: str, out: str) -> None:
    lab.piglit("--native", "--mesa", mesa, "--tests", f"lab/piglit-sets/{tests_set}", out=CHECK / "mesa-piglit" / out)


@case("mesa/stages", needs=BUILT, runner="piglit")
def stages(lab: Lab) -> None:
    piglit(lab, "patched", "stages", "patched-stages")


@case("mesa/package", tier="all", needs=BUILT)
def package(lab: Lab) -> None:
    lab.build("mesa-deb")
    lab.call("packaging/tests/run", "mesa", *sorted((BUILD / "mesa-deb").glob("*.deb")))


@case("mesa/maps-all-chips", tier="all", needs=BUILT)
def maps_all(lab: Lab) -> None:
    maps(lab)


STEPS = {"each-patch-builds": "each", "style": "style", "mesas-own-tests": "unit", "newest-debian": "newest"}


@case("mesa/{step}", tier="all", needs=BUILT, step=list(STEPS))
def check(lab: Lab, step: str) -> None:
    lab.call("mesa-patches/check", STEPS[step], "build/mesa", skip77=step == "newest-debian")


@case("mesa/uploads", tier="all", needs=BUILT)
def uploads(lab: Lab) -> None:
    """Times need a quiet machine; here only counts are checked."""
    lab.build("mesa-a", "mesa-unmodified")
    mesa_test(lab, "build")
    results, program = RESULTS / "gl-uploads.json", CHECK / "mesa/gl-uploads"
    lab.call("bench/gl-uploads/run.py", "--where", "shim", "--rounds", "3", "build", program, results)
    lab.call("bench/gl-uploads/check.py", results)
    lab.call("bench/gl-uploads/plot.py", results, RESULTS / "gl-uploads.png")


@case("mesa/piglit-{mesa}", tier="all", needs=BUILT, runner="piglit", mesa=["unmodified", "patched"])
def piglit_both(lab: Lab, mesa: str) -> None:
    piglit(lab, mesa, "upload-readback", mesa)


@case("mesa/piglit-compare", tier="all", needs=["mesa/piglit-unmodified", "mesa/piglit-patched"])
def piglit_compare(lab: Lab) -> None:
    out = CHECK / "mesa-piglit"
    lab.call("python3", "-m", "nomap_lab.piglit.compare", out / "unmodified", out / "patched")


# A 32-bit program with little address space, compared with the same on Debian's Mesa for i386.
@case("mesa/i386", tier="all", needs=BUILT)
def i386(lab: Lab) -> None:
    begun, log = time.time(), CACHE / "roots/i386.log"
    done = lab.status("lab/build", "mesa-i386")
    said = log.read_text(errors="replace") if log.exists() and log.stat().st_mtime >= begun - 1 else ""
    # apt says so when the mirror's lists of packages are not those of its Release file.
    if done.status and "Mirror sync in progress" in said:
        lab.skip("the mirror's lists of i386 packages do not match its Release file")
    assert done.status == 0, done.err


@case("mesa/package-i386", tier="all", needs=["mesa/i386"])
def package_i386(lab: Lab) -> None:
    """The packages for 64- and 32-bit programs side by side."""
    lab.build("mesa-deb", "mesa-deb-i386")
    debs = [deb for name in ("mesa-deb", "mesa-deb-i386") for deb in sorted((BUILD / name).glob("*.deb"))]
    lab.call("packaging/tests/run", "mesa-i386", *debs)


def plot_address_space(lab: Lab) -> None:
    lab.call("bench/address-space/plot.py", RESULTS / "address-space.json", RESULTS / "address-space.png")
    lab.record("address-space")


@case("mesa/address-space", tier="all", needs=["mesa/i386"])
def address_space(lab: Lab) -> None:
    in_i386(["bench/address-space/run.py", "build/mesa-i386", I386, RESULTS / "address-space.json"])
    plot_address_space(lab)


@case("mesa/address-space-guest", tier="all", needs=["mesa/address-space"])
def address_space_guest(lab: Lab) -> None:
    """The same with the real driver. Buffers for which VRAM and GTT have no room are in the guest's memory."""
    lab.build("i386-image")
    for file in ("bench/address-space/run.py", "bench/lib/reporting.py"):
        shutil.copy(TOP / file, I386)
    shutil.copy(RESULTS / "address-space.json", I386)
    there = lab.guest_path(I386)
    for module, kernel in (("stock", "unmodified"), ("patched", "patched")):
        lab.run("chroot", "/i386", "python3", "-B", f"{there}/run.py", "--where", "board", "--kernel", kernel,
                "/build/mesa-i386", there, f"{there}/address-space.json", i386=True, module=module, mem="4G",
                timeout=1500, board="--chip rv770 --vram-mib 1024", append="radeon.gartsize=1024")
    shutil.copy(I386 / "address-space.json", RESULTS)
    plot_address_space(lab)
