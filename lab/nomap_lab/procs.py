# SPDX-License-Identifier: MIT
"""Child processes: none outlives its parent, and a failure shows what was said last."""

from __future__ import annotations

import os
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from .paths import BUILD_UID, CACHE, TOP, LabError, root_dir, say, shown

Words = Sequence[str | Path]
#: Ends a child with the process that started it.
WITH_PARENT = ("setpriv", "--pdeathsig", "KILL")


def last_lines(path: Path, n: int = 15) -> str:
    """The last lines of a log, without carriage returns."""
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return "".join(deque(f, n)).replace("\r", "").rstrip()
    except OSError:
        return ""


def environment(env: Mapping[str, str] | None, cwd: Path = TOP) -> dict[str, str]:
    """The environment of a child in `cwd`: ours and `env`.

    A shell believes PWD if it is the same directory, which the user's path of the repository is.
    """
    return {**os.environ, "PWD": str(cwd), **(env or {})}


def call(cmd: Words, *, env: Mapping[str, str] | None = None, cwd: Path = TOP, log: Path | None = None,
         check: bool = True, capture: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs a program of the build root.

    `env` is added to the environment; `log` gets stdout and stderr, appended; with `capture` the
    result has stdout. Raises LabError with the last lines of the log if the status is not 0, unless
    `check` is false.
    """
    words = [*WITH_PARENT, *map(str, cmd)]
    if log:
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "ab") as f:
            done = subprocess.run(words, env=environment(env, cwd), cwd=cwd, stdin=subprocess.DEVNULL, check=False,
                                  stdout=subprocess.PIPE if capture else f, stderr=f, text=True)
            if capture:
                f.write(done.stdout.encode())
    else:
        done = subprocess.run(words, env=environment(env, cwd), cwd=cwd, stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.PIPE if capture else None, text=True)
    if check and done.returncode:
        what = " ".join(map(str, cmd))[:200]
        tail = f":\n{last_lines(log)}\n(log: {shown(log)})" if log else " (see above)"
        raise LabError(f"'{what}' ended with status {done.returncode}{tail}")
    return done


def as_builder(out: Path, cmd: Words, *, env: Mapping[str, str] | None = None, wrapper: Words = ()) -> None:
    """Runs a build as the unprivileged user for builds, who owns `out` (and cargo's and ccache's) meanwhile.

    Afterwards all of it but out/work is root's, so that no later build changes it. As root where that
    user cannot be had or cannot read the checkout, and where a `wrapper` has to mount.
    """
    caches = [CACHE / "cargo", CACHE / "ccache"]
    for d in (out, *caches):
        d.mkdir(parents=True, exist_ok=True)
    drop = ["setpriv", "--reuid", str(BUILD_UID), "--regid", str(BUILD_UID), "--clear-groups", "--no-new-privs",
            "--inh-caps=-all", "--bounding-set=-all", "env", "HOME=/tmp"]
    can = subprocess.run([*drop, "sh", "-c", f"[ -r {TOP}/Makefile ] && [ -x {out} ] && [ -x {CACHE}/cargo ]"],
                         check=False, stderr=subprocess.DEVNULL).returncode == 0
    if wrapper or not can:
        if not wrapper:
            say(f"building as root: uid {BUILD_UID} cannot be had, or cannot read this checkout or the cache")
        call([*wrapper, *cmd], env=env)
        return
    for d in (out, *caches):
        # Other checkouts use the caches, too: files come and go.
        subprocess.run(["find", d, "!", "-uid", str(BUILD_UID), "-exec", "chown", "-h", f"{BUILD_UID}:{BUILD_UID}",
                        "{}", "+"], check=False, stderr=subprocess.DEVNULL)
    try:
        call([*drop, *cmd], env=env)
    finally:
        subprocess.run(["find", out, "-path", out / "work", "-prune", "-o", "-uid", str(BUILD_UID), "-exec", "chown",
                        "-h", "0:0", "{}", "+"], check=False)


def in_root(name: str, cmd: Words, **options: object) -> subprocess.CompletedProcess[str]:
    """As call(), in the Debian root `name`, which is there. Nothing that the command starts outlives it."""
    enter: list[str | Path] = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private",
                               TOP / "lab/roots/enter", root_dir(name), TOP, CACHE, TOP]
    return call([*enter, *cmd], **options)  # type: ignore[arg-type]


def in_i386(cmd: Words, **options: object) -> subprocess.CompletedProcess[str]:
    """As in_root(), for a 32-bit program in the Debian root for i386."""
    return in_root("i386", ["setarch", "i386", *cmd], **options)


def rendered_env(renderer: str) -> dict[str, str]:
    """The environment in which a GL program renders natively.

    By the board's chip ("board", an RV770, or "turks"), or by one of Mesa's software renderers (llvmpipe, softpipe).
    """
    if chip := {"board": "rv770", "turks": "turks"}.get(renderer):
        return {"LD_PRELOAD": str(TOP / "build/board/libr7xx_shim.so"), "R7XX_CHIP": chip}
    return {"LIBGL_ALWAYS_SOFTWARE": "1", "GALLIUM_DRIVER": renderer}
