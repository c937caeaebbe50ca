# SPDX-License-Identifier: MIT
"""Debian's piglit."""
import shutil
import subprocess
import tempfile
from pathlib import Path

from nomap_lab.apt import Apt
from nomap_lab.paths import LabError

# piglit, the libraries of it that neither root has, and the assembler that its tests of SPIR-V call.
PACKAGES = ("piglit", "libwaffle-1-0", "libxkbcommon0", "libwayland-egl1", "libwayland-client0", "libxcb-dri2-0", "spirv-tools")
#: Directories of generated_tests/spec that an R700, whose driver has GLSL 3.30, skips: 1.9 of piglit's 2.0 GB.
GENERATED = ("glsl-4.00", "glsl-4.10", "glsl-4.20", "glsl-4.30", "arb_vertex_attrib_64bit", "arb_gpu_shader_fp64",
             "arb_gpu_shader_int64")
SPEC = "generated_tests/spec"
# Those, and tests of OpenCL and Vulkan.
EXCLUDE = ("*/piglit/tests/cl", "*/piglit/generated_tests/cl", "*/piglit/tests/vulkan",
           "*/piglit/generated_tests/vulkan", "./usr/share", *(f"*/{SPEC}/{name}" for name in GENERATED))


def download(apt: Apt, packages: tuple[str, ...], to: Path) -> list[Path]:
    """The packages as files in the directory TO, which is made."""
    to.mkdir()
    apt.get(["download", *packages], "piglit cannot be downloaded. No network? Check with: apt-get update", to)
    return sorted(to.glob("*.deb"))


def unpack(deb: Path, to: Path, *options: str) -> None:
    """Unpacks a package's files to the directory TO. OPTIONS are tar's."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as data:
        subprocess.run(["tar", "-x", "-C", to, "--wildcards", "--no-same-owner", *options], stdin=data.stdout, check=True)
    if data.returncode:
        raise LabError(f"{deb.name} cannot be unpacked: it is not as it was downloaded")


def generated(out: Path) -> None:
    """Unpacks to OUT what piglit() leaves out: a directory for each of GENERATED."""
    with tempfile.TemporaryDirectory() as temporary, Apt("deb", "trixie") as apt:
        (deb,) = download(apt, ("piglit",), Path(temporary, "debs"))
        for name in GENERATED:
            shutil.rmtree(out / name, ignore_errors=True)
        out.mkdir(parents=True, exist_ok=True)
        inside = f"./usr/lib/x86_64-linux-gnu/piglit/{SPEC}"
        unpack(deb, out, f"--strip-components={inside.count('/') + 1}", *(f"{inside}/{name}" for name in GENERATED))
        subprocess.run(["chmod", "-R", "a+rX", out], check=True)


def piglit(out: Path) -> None:
    """Downloads the packages with the build root's own package sources, and unpacks them to OUT: piglit/ (its
    directory in /usr/lib), bin/, lib/ and versions. apt checks hashes against the signed lists. Links in piglit/ lead
    to where generated() puts the rest, if it does."""
    with tempfile.TemporaryDirectory() as temporary, Apt("deb", "trixie") as apt:
        files = Path(temporary, "files")
        files.mkdir()
        for name in ("piglit", "bin", "lib"):
            shutil.rmtree(out / name, ignore_errors=True)
        for name in ("bin", "lib"):
            (out / name).mkdir(parents=True)
        versions = []
        for deb in download(apt, PACKAGES, Path(temporary, "debs")):
            versions.append(subprocess.run(["dpkg-deb", "-W", "--showformat", "${Package} ${Version}\\n", deb],
                                           check=True, stdout=subprocess.PIPE, text=True).stdout)
            unpack(deb, files, *(f"--exclude={pattern}" for pattern in EXCLUDE))
        (out / "versions").write_text("".join(versions), encoding="utf-8")
        libraries = files / "usr/lib/x86_64-linux-gnu"
        subprocess.run(["mv", libraries / "piglit", out / "piglit"], check=True)
        subprocess.run(["cp", "-a", *libraries.glob("*.so.*"), out / "lib"], check=True)
        shutil.copy2(files / "usr/bin/spirv-as", out / "bin")
        for name in GENERATED:
            (out / "piglit" / SPEC / name).symlink_to(f"../../../../piglit-generated/{name}")
        for pattern in ("cl-*", "vk-*"):
            for program in (out / "piglit/bin").glob(pattern):
                program.unlink()
        subprocess.run(["chmod", "-R", "a+rX", out], check=True)
