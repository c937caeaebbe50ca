# SPDX-License-Identifier: MIT
"""TERM, INT and KILL, sent to the process that the user started alone, leave nothing behind.

Each command runs outside of the build root, as from a user's shell, and is hit while what is slow about
it runs: a compiler, a guest, a GL program.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nomap_lab.outside import copy_of_repository, outside
from nomap_lab.paths import TOP

SUITE = """from nomap_lab.testing import Lab, case, suite
pytestmark = suite(order=10, finds="")
@case("slow/guest")
def guest(lab: Lab): lab.run("sleep", "100", board="none", module="stock", radeon=False)
"""
PIGLIT = ["lab/piglit", "--native", "--mesa", "unmodified", "--tests", "lab/piglit-sets/upload-readback", "--out",
          "build/check/interrupted"]
#: Each command, and the program that tells that it is at work.
COMMANDS = {
    "build": (["lab/build", "kernel"], "cc1"),
    "run": (["lab/run", "--board", "none", "--module", "stock", "--", "sleep", "100"], "qemu-system-x86"),
    "check": (["lab/check", "slow"], "qemu-system-x86"),
    "piglit": (PIGLIT, "piglit-runner"),
}


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


@pytest.fixture(name="copy", scope="module")
def new_copy() -> Iterator[Path]:
    """A copy whose driver is in no cache, so that it has to be compiled."""
    # Orphans come to this process instead of the first one (PR_SET_CHILD_SUBREAPER).
    import ctypes

    assert ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0) == 0
    with copy_of_repository("interrupts") as path:
        for suite in (path / "lab/suites").glob("test_*.py"):
            suite.unlink()
        (path / "lab/suites/test_slow.py").write_text(SUITE)
        # At its beginning: patches of the series add to its end.
        driver = path / "kernel/drivers/gpu/drm/radeon/radeon_gem_rw.c"
        first, rest = driver.read_text(encoding="utf-8").split("\n", 1)
        driver.write_text(f"{first}\n/* {time.time_ns()} */\n{rest}", encoding="utf-8")
        yield path


@pytest.mark.parametrize("sig", ["TERM", "INT", "KILL"])
@pytest.mark.parametrize("command", list(COMMANDS))
def test_nothing_is_left(copy: Path, command: str, sig: str) -> None:
    words, at_work = COMMANDS[command]
    # What needs the driver or piglit would compile them here first.
    where = copy if command in ("build", "check") else TOP
    before, mounts = below(os.getpid()), len(Path("/proc/mounts").read_text().splitlines())
    process = subprocess.Popen(outside(words, cwd=where), stdin=subprocess.DEVNULL, start_new_session=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None)
    try:
        for _ in range(3000):
            assert process.poll() is None, f"it ended with status {process.returncode} before its time"
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
    finally:
        process.kill()
