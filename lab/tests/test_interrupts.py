# SPDX-License-Identifier: MIT
"""TERM, INT and KILL, sent to the process that the user started alone, leave nothing behind.

Each command runs outside of the build root, as from a user's shell, and is hit while what is slow about
it runs: a compiler, a guest, a GL program.
"""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from nomap_lab.cli import COMMANDS as MODULES
from nomap_lab.deqp import source
from nomap_lab.outside import copy_of_repository, outside
from nomap_lab.paths import TOP, LabError, shown

SUITE = """from nomap_lab.testing import Lab, case, suite
pytestmark = suite(order=10, finds="")
@case("slow/guest")
def guest(lab: Lab): lab.run("sleep", "100", board="none", module="stock", radeon=False)
"""
PIGLIT = ["lab/piglit", "--native", "--mesa", "unmodified", "--tests", "lab/piglit-sets/upload-readback", "--out",
          "build/check/interrupted"]
DEQP = ["lab/deqp", "--native", "--mesa", "unmodified", "--tests", "gles2", "--out", "build/check/interrupted"]
GUEST = "qemu-system-x86"
#: Each command, and the program that tells that it is at work.
COMMANDS: dict[str, tuple[list[str], str]] = {
    "build": (["lab/build", "kernel"], "cc1"),
    "run": (["lab/run", "--board", "none", "--module", "stock", "--", "sleep", "100"], GUEST),
    "check": (["lab/check", "slow"], GUEST),
    "piglit": (PIGLIT, "piglit-runner"),
    # sleep is the first process of its namespace there, and ignores TERM and INT.
    "in-root": (["lab/in-root", "sleep", "100"], "sleep"),
}
#: The same of the other commands, and of a build that compiles much longer.
OTHERS: dict[str, tuple[list[str], str]] = {
    "bench-board": (["lab/bench-board"], "board-fill"),
    "bench-desktop": (["lab/bench-desktop"], GUEST),
    "debug": (["lab/build", "debug"], "cc1"),
    "demo": (["lab/demo"], GUEST),
    "deqp": (DEQP, "deqp-runner"),
    "desktop": (["lab/desktop", "--stacks", "debian", "--servers", "modesetting"], GUEST),
    "fuzz": (["lab/fuzz", "--chip", "turks", "100", "1"], GUEST),
    "fuzz-board": (["lab/fuzz-board", "--scenes", "gears", "--seconds", "100"], "r7xx-fuzz"),
    "gallery": (["lab/gallery"], "gallery"),
    "glmark2": (["lab/glmark2", "--sample"], "glmark2"),
    "mutations": (["lab/mutations", "staging-share"], GUEST),
    "rendercheck": (["lab/rendercheck", "--stacks", "debian", "--servers", "modesetting", "/bin/true"], GUEST),
    "shell": (["lab/shell", "--board", "none", "--module", "stock"], GUEST),
    "speed": (["lab/speed"], GUEST),
    "tree": (["lab/tree", "kernel"], "tar"),
}
#: They compile kernels of their own first, as "debug" does, and boot guests, as "speed" does.
LEFT_OUT = {"bench-mm", "mm-debug"}


def below(top: int) -> dict[str, str]:
    """Processes that come from this one, and those that came to it when their parents died: ids and names."""
    parents, found = {}, {}
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            name, rest = (directory / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        state, parent = rest.split()[:2]
        parents[directory.name] = parent
        if state not in "ZX":
            found[directory.name] = name

    def comes_from_top(pid: str) -> bool:
        while pid in parents:
            pid = parents[pid]
            if pid == str(top):
                return True
        return False

    return {pid: name for pid, name in found.items() if comes_from_top(pid)}


@contextmanager
def copy_with(name: str, comments: Sequence[str]) -> Iterator[Path]:
    """A copy of the repository, with a comment at the beginning of some files, so that no cache has what is made of them."""
    # Orphans come to this process instead of the first one (PR_SET_CHILD_SUBREAPER).
    import ctypes

    assert ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0) == 0
    with copy_of_repository(name) as path:
        for file in comments:
            # Not at its end, where patches of the series add.
            first, rest = (path / file).read_text(encoding="utf-8").split("\n", 1)
            comment = f"/* {time.time_ns()} */" if file.endswith(".c") else f"# {time.time_ns()}"
            (path / file).write_text(f"{first}\n{comment}\n{rest}", encoding="utf-8")
        yield path


@pytest.fixture(name="copy", scope="module")
def new_copy() -> Iterator[Path]:
    """A copy whose driver is in no cache, so that it has to be compiled."""
    with copy_with("interrupts", ["kernel/drivers/gpu/drm/radeon/radeon_gem_rw.c"]) as path:
        for suite in (path / "lab/suites").glob("test_*.py"):
            suite.unlink()
        (path / "lab/suites/test_slow.py").write_text(SUITE)
        yield path


@pytest.fixture(name="other", scope="module")
def other_copy() -> Iterator[Path]:
    """A copy whose debug kernel is in no cache, and all else is. What the commands write is in its build/."""
    with copy_with("interrupts-others", ["lab/kernels/debug.config"]) as path:
        yield path


def interrupt(words: Sequence[str], at_work: str, sig: str, where: Path, **env: str) -> None:
    """Starts a command, hits it when it is at work, and looks at what it leaves and says."""
    before, mounts = below(os.getpid()), len(Path("/proc/mounts").read_text().splitlines())
    process = subprocess.Popen(outside(words, cwd=where, **env), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, start_new_session=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None)
    said: list[str] = []
    assert process.stderr
    reader = threading.Thread(target=lambda: said.append(process.stderr.read().decode()))  # type: ignore[union-attr]
    reader.start()
    try:
        for _ in range(9000):  # it may wait for a guest of another checkout
            assert process.poll() is None, f"it ended with status {process.returncode} before its time: {said}"
            if any(name.startswith(at_work) for name in below(process.pid).values()):
                break
            time.sleep(0.1)
        else:
            pytest.fail(f"{at_work} did not start")
        time.sleep(1)
        os.kill(process.pid, getattr(signal, f"SIG{sig}"))
        left: dict[str, str] = {}
        for _ in range(100):
            ended = process.poll()
            left = {pid: name for pid, name in below(os.getpid()).items() if pid not in before}
            if ended is not None and not left:
                break
            time.sleep(0.1)
        assert not left, f"left behind after 10 s: {left}"
        assert ended in {"TERM": (143, -15), "INT": (130, -2), "KILL": (-9,)}[sig]
        assert len(Path("/proc/mounts").read_text().splitlines()) == mounts, "mounts left behind"
        reader.join(10)
        # What bash says of its children ("line 75: 123 Killed ...") helps nobody, nor does where Python was.
        noise = [line for line in said[0].splitlines() if re.search(r"Killed|Terminated|Hangup|Traceback", line)]
        assert not noise, said[0]
    finally:
        process.kill()
        if process.stdin:
            process.stdin.close()


@pytest.mark.parametrize("sig", ["TERM", "INT", "KILL"])
@pytest.mark.parametrize("command", list(COMMANDS))
def test_nothing_is_left(copy: Path, command: str, sig: str) -> None:
    # What needs the driver or piglit would compile them in the copy first.
    interrupt(*COMMANDS[command], sig, copy if command in ("build", "check") else TOP)


@pytest.mark.parametrize("sig", ["TERM", "INT", "KILL"])
@pytest.mark.parametrize("command", list(OTHERS))
def test_nothing_is_left_of_others(other: Path, command: str, sig: str) -> None:
    env = {}
    if command == "deqp":
        try:
            env[source.VARIABLE] = shown(source.named())
        except LabError as e:
            pytest.skip(str(e))
    interrupt(*OTHERS[command], sig, other, **env)


def test_every_command_is_interrupted() -> None:
    commands = {path.stem.replace("_", "-") for path in MODULES.glob("[a-z]*.py")}
    assert commands == ({*COMMANDS, *OTHERS} | LEFT_OUT) - {"debug"}
