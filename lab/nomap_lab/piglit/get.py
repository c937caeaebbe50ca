# SPDX-License-Identifier: MIT
"""Debian's piglit, and what Mesa CI has seen of it on a real RV770."""
import fnmatch
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from nomap_lab.apt import Apt
from nomap_lab.paths import LabError

# piglit, and the libraries of it that neither root has.
PACKAGES = ("piglit", "libwaffle-1-0", "libxkbcommon0", "libwayland-egl1", "libwayland-client0", "libxcb-dri2-0")
# Tests of OpenCL and Vulkan, and the generated tests of GLSL 4.00 and later and of 64-bit types. They are 1.9 of
# 2.0 GB, and an R700, whose driver has GLSL 3.30, skips them all.
EXCLUDE = ("*/piglit/tests/cl", "*/piglit/generated_tests/cl", "*/piglit/tests/vulkan",
           "*/piglit/generated_tests/vulkan", "*/generated_tests/spec/glsl-4.*",
           "*/generated_tests/spec/arb_vertex_attrib_64bit", "*/generated_tests/spec/arb_gpu_shader_fp64",
           "*/generated_tests/spec/arb_gpu_shader_int64", "./usr/share")


def piglit(out: Path) -> None:
    """Downloads the packages with the build root's own package sources, and unpacks them to OUT: piglit/ (its
    directory in /usr/lib), lib/ and versions. apt checks hashes against the signed lists."""
    with tempfile.TemporaryDirectory() as temporary, Apt("deb", "trixie") as apt:
        debs, files = Path(temporary, "debs"), Path(temporary, "files")
        debs.mkdir()
        files.mkdir()
        apt.get(["download", *PACKAGES], "piglit cannot be downloaded. No network? Check with: apt-get update", debs)
        for name in ("piglit", "lib"):
            shutil.rmtree(out / name, ignore_errors=True)
        (out / "lib").mkdir(parents=True)
        versions = []
        for deb in sorted(debs.glob("*.deb")):
            versions.append(subprocess.run(["dpkg-deb", "-W", "--showformat", "${Package} ${Version}\\n", deb],
                                           check=True, stdout=subprocess.PIPE, text=True).stdout)
            with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as data:
                subprocess.run(["tar", "-x", "-C", files, "--wildcards", "--no-same-owner",
                                *(f"--exclude={pattern}" for pattern in EXCLUDE)], stdin=data.stdout, check=True)
            if data.returncode:
                raise LabError(f"{deb.name} cannot be unpacked: it is not as it was downloaded")
        (out / "versions").write_text("".join(versions), encoding="utf-8")
        libraries = files / "usr/lib/x86_64-linux-gnu"
        subprocess.run(["mv", libraries / "piglit", out / "piglit"], check=True)
        subprocess.run(["cp", "-a", *libraries.glob("*.so.*"), out / "lib"], check=True)
        for pattern in ("cl-*", "vk-*"):
            for program in (out / "piglit/bin").glob(pattern):
                program.unlink()
        subprocess.run(["chmod", "-R", "a+rX", out], check=True)


SEEN = "*/src/gallium/drivers/r600/ci/r600-rv770-{}.txt"
GBM = "*/.gitlab-ci/gbm-skips.txt"
# dEQP's and the CTS's tests have other names. Names in the results have no commas.
OTHER = re.compile(r"#|$|KHR-|dEQP-|WayEGL|wayland-")
# Programs that Debian does not have: they are for GLUT and for Windows.
ABSENT = "^spec@!opengl 1.1@windowoverlap$\n^wgl@\n"


def expected(source: Path, out: Path) -> None:
    """Takes what Mesa CI has seen on a real RV770 out of Debian's source package of Mesa in SOURCE.

    Writes OUT/fails.txt, skips.txt and flakes.txt, the piglit part of it. To the skips come those of all drivers
    where piglit runs on GBM, and what needs windows.
    """
    patterns = {what: SEEN.format(what) for what in ("fails", "skips", "flakes")} | {"gbm": GBM}
    texts = dict.fromkeys(patterns, "")
    (archive,) = source.glob("mesa_*.orig.tar.xz")
    with tarfile.open(archive, mode="r|xz") as tar:
        for member in tar:
            for what, pattern in patterns.items():
                if fnmatch.fnmatchcase(member.name, pattern) and (file := tar.extractfile(member)):
                    lines = file.read().decode().splitlines()
                    texts[what] = "".join(f"{line}\n" for line in lines if not OTHER.match(line))
    texts["skips"] += texts.pop("gbm") + ABSENT
    if texts["fails"].count("\n") <= 1000:
        raise LabError("too few failures of a real RV770: Mesa has another list by now, look for it in its source")
    out.mkdir(parents=True, exist_ok=True)
    for what, text in texts.items():
        (out / f"{what}.txt").write_text(text, encoding="utf-8")
