# SPDX-License-Identifier: MIT
"""The source of VK-GL-CTS, which holds dEQP and Khronos' own tests (KHR): where it is, and its build.

It is data of other people, read where the user has it and never part of this repository. Named by
$NOMAP_VK_GL_CTS (lab/deqp --source), it is one of

    a directory that holds an archive vk-gl-cts*.tar.zst and case lists gles2.txt.zst and gles3.txt.zst
    a source tree of VK-GL-CTS, with what its external/fetch_sources.py fetches
    a git URL, with #TAG or #BRANCH behind it if it is not the default branch

Otherwise ../shared/suites beside the repository is taken, if it is there.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..paths import CACHE, LabError, host_path, say
from ..procs import as_builder, call

VARIABLE = "NOMAP_VK_GL_CTS"
#: Where a whole source tree has the lists of tests that a conformant driver must pass.
MUSTPASS = "external/openglcts/data/gl_cts/data/mustpass"


@dataclass(frozen=True)
class Module:
    """Tests that one program runs.

    begin    how their names begin
    program  its target in the build
    place    the directory of the build that it is made in, with its data
    names    the list of those that must pass, below MUSTPASS
    """

    begin: str
    program: str
    place: str
    names: str


def _deqp(name: str) -> Module:
    return Module(f"dEQP-{name.upper()}.", f"deqp-{name}", f"modules/{name}", f"gles/aosp_mustpass/main/{name}-main.txt")


def _khr(name: str, listed: str) -> Module:
    return Module(f"KHR-{name.upper()}.", "glcts", "external/openglcts/modules", listed)


#: dEQP-EGL is not among them: it needs windows, which a build for the target "surfaceless" does not have.
MODULES = {
    **{name: _deqp(name) for name in ("gles2", "gles3", "gles31")},
    "khr-gl33": _khr("gl33", "gl/khronos_mustpass/main/gl33-main.txt"),
    **{f"khr-{name}": _khr(name, f"gles/khronos_mustpass/main/{name}-khr-main.txt") for name in ("gles2", "gles3", "gles31")},
}


def module_of(test: str) -> str:
    """The module of a test's name; empty if no module of MODULES has it."""
    return next((name for name, module in MODULES.items() if test.startswith(module.begin)), "")


def program(module: str) -> str:
    """A module's program, as a path in what build() makes: DIRECTORY/PROGRAM."""
    name = MODULES[module].program
    return f"{name.removeprefix('deqp-')}/{name}"


def named() -> str | Path:
    """The source: a URL, or a path by which this program reaches it. Raises LabError with status 77 if there is none."""
    text = os.environ.get(VARIABLE, "")
    if is_url(text):
        return text
    beside = os.environ.get("NOMAP_HOST_TOP", "") or str(Path.cwd())
    path = host_path(text or os.path.normpath(f"{beside}/../shared/suites"))
    if not text and not archive(path):
        raise LabError(f"there is no source of VK-GL-CTS: name a directory or a git URL by lab/deqp --source or {VARIABLE}", 77)
    if not archive(path) and not (path / "modules").is_dir():
        raise LabError(f"{text} has neither an archive vk-gl-cts*.tar.zst nor a source tree of VK-GL-CTS", 2)
    return path


def is_url(text: str) -> bool:
    """Whether the source is to be cloned."""
    return re.match(r"[a-z+]+://|[\w.-]+@[\w.-]+:", text) is not None


def archive(directory: Path) -> Path | None:
    """The archive in a directory, if it holds one."""
    return next(iter(sorted(directory.glob("vk-gl-cts*.tar.zst"))), None)


def digest() -> Iterable[str]:
    """Words that change with the source. A URL is cloned once: another tag is another source."""
    where = named()
    if isinstance(where, str):
        return [where]
    if found := archive(where):
        with found.open("rb") as f:
            return [hashlib.file_digest(f, "sha256").hexdigest()]
    state = hashlib.sha256()
    for directory, names, files in os.walk(where):
        names[:] = sorted(n for n in names if n != ".git")
        for name in sorted(files):
            path = Path(directory, name)
            stat = path.lstat()
            state.update(f"{path.relative_to(where)} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return [state.hexdigest()]


def unpack(where: str | Path, out: Path) -> Path:
    """The source tree, in OUT/source."""
    tree = out / "source"
    shutil.rmtree(tree, ignore_errors=True)
    if isinstance(where, str):
        url, _, ref = where.partition("#")
        say(f"deqp: cloning {where}")
        call(["git", "clone", "--quiet", "--depth", "1", *(["--branch", ref] if ref else []), url, tree], log=out / "clone.log")
    elif found := archive(where):
        tree.mkdir(parents=True)
        call(["tar", "--zstd", "--no-same-owner", "--strip-components=1", "-xf", found, "-C", tree], log=out / "unpack.log")
    else:
        # Programs of the build ask for real paths, by which the build root does not reach the user's tree.
        shutil.copytree(where, tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    return tree


def build(out: Path) -> None:
    """Builds the programs that the source has, each with its data into OUT/DIRECTORY, and writes OUT/lists/NAME.txt."""
    where = named()
    out.mkdir(parents=True, exist_ok=True)
    tree = unpack(where, out)
    if isinstance(where, str):
        call(["python3", tree / "external/fetch_sources.py"], log=out / "fetch.log")
    work = out / "work"
    run = functools.partial(as_builder, out, env={"CCACHE_DIR": str(CACHE / "ccache")})
    # Vulkan's tests of videos need more sources, and no program that is built here has them.
    run(["cmake", "-G", "Ninja", "-S", tree, "-B", work, "-DDEQP_TARGET=surfaceless", "-DCMAKE_BUILD_TYPE=Release",
         "-DDEQP_DISABLE_VK_VIDEO_TESTS=ON", "-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"])
    # A reduced source has the directories of modules that it cannot build.
    targets = subprocess.run(["ninja", "-C", work, "-t", "targets", "all"], check=True, stdout=subprocess.PIPE, text=True).stdout
    names = [name for name, module in MODULES.items() if re.search(f"^{module.program}: ", targets, re.M)]
    if not names:
        raise LabError(f"{where}: it builds no program of {', '.join(MODULES)}")
    run(["ninja", "-C", work, *sorted({MODULES[name].program for name in names})])
    lists = out / "lists"
    lists.mkdir(exist_ok=True)
    # Several modules can be of one program.
    for made, kept in {work / MODULES[name].place: (out / program(name)).parent for name in names}.items():
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(made, kept, ignore=shutil.ignore_patterns("CMakeFiles", "*.a", "*.cmake"))
    for name in names:
        (lists / f"{name}.txt").write_text(mustpass(name, where, tree), encoding="ascii")
    shutil.rmtree(tree)
    shutil.rmtree(work)
    subprocess.run(["chmod", "-R", "a+rX", out], check=True)


def mustpass(name: str, where: str | Path, tree: Path) -> str:
    """The list of tests that a conformant driver must pass, a name a line. Empty if the source has none."""
    packed = Path(where) / f"{name}.txt.zst"
    if isinstance(where, Path) and packed.exists():
        return subprocess.run(["zstd", "-dc", packed], check=True, stdout=subprocess.PIPE, text=True).stdout
    whole = tree / MUSTPASS / MODULES[name].names
    return whole.read_text(encoding="ascii") if whole.exists() else ""
