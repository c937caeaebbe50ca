# SPDX-License-Identifier: MIT
"""Debian's piglit."""
import shutil
import subprocess
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
