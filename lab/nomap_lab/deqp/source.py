# SPDX-License-Identifier: MIT
"""The source of VK-GL-CTS, which holds dEQP: where it is, and its build.

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
from collections.abc import Callable, Iterable
from pathlib import Path

from ..paths import LabError, host_path, say
from ..procs import as_builder, call

VARIABLE = "NOMAP_VK_GL_CTS"
#: The name of a module's programs, and how the names of its tests begin.
MODULES = {"gles2": "dEQP-GLES2.", "gles3": "dEQP-GLES3.", "gles31": "dEQP-GLES31.", "egl": "dEQP-EGL."}
#: Where a whole source tree has the lists of tests that a conformant driver must pass.
MUSTPASS = "external/openglcts/data/gl_cts/data/mustpass/gles/aosp_mustpass/main/{}-main.txt"


def module_of(test: str) -> str:
    """The module of a test's name; empty if no module of MODULES has it."""
    return next((name for name, begin in MODULES.items() if test.startswith(begin)), "")


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
    """The source tree: in OUT/source, or where the user has it."""
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
        return where
    return tree


def build(out: Path) -> None:
    """Builds the modules that the source has into OUT/NAME/deqp-NAME, with their data and OUT/lists/NAME.txt."""
    where = named()
    out.mkdir(parents=True, exist_ok=True)
    tree = unpack(where, out)
    if isinstance(where, str):
        call(["python3", tree / "external/fetch_sources.py"], log=out / "fetch.log")
    work = out / "work"
    # As root where the unprivileged user for builds cannot reach the tree.
    run: Callable[[list[str | Path]], object] = call if tree == where else functools.partial(as_builder, out)
    run(["cmake", "-G", "Ninja", "-S", tree, "-B", work, "-DDEQP_TARGET=surfaceless", "-DCMAKE_BUILD_TYPE=Release",
         "-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"])
    # A reduced source has the directories of modules that it cannot build.
    targets = subprocess.run(["ninja", "-C", work, "-t", "targets", "all"], check=True, stdout=subprocess.PIPE, text=True).stdout
    modules = [name for name in MODULES if re.search(f"^deqp-{name}: ", targets, re.M)]
    if not modules:
        raise LabError(f"{where}: it builds no module of dEQP ({', '.join(MODULES)})")
    run(["ninja", "-C", work, *(f"deqp-{name}" for name in modules)])
    lists = out / "lists"
    lists.mkdir(exist_ok=True)
    for name in modules:
        shutil.rmtree(out / name, ignore_errors=True)
        shutil.copytree(work / f"modules/{name}", out / name, ignore=shutil.ignore_patterns("CMakeFiles", "*.a", "*.cmake"))
        (lists / f"{name}.txt").write_text(mustpass(name, where, tree), encoding="ascii")
    if tree == out / "source":
        shutil.rmtree(tree)
    shutil.rmtree(work)
    subprocess.run(["chmod", "-R", "a+rX", out], check=True)


def mustpass(name: str, where: str | Path, tree: Path) -> str:
    """The list of tests that a conformant driver must pass, a name a line. Empty if the source has none."""
    packed = Path(where) / f"{name}.txt.zst"
    if isinstance(where, Path) and packed.exists():
        return subprocess.run(["zstd", "-dc", packed], check=True, stdout=subprocess.PIPE, text=True).stdout
    whole = tree / MUSTPASS.format(name)
    return whole.read_text(encoding="ascii") if whole.exists() else ""
