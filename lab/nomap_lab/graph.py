# SPDX-License-Identifier: MIT
"""The graph of what is built: ninja runs it, the content-keyed cache is behind each node.

stages.py declares the nodes. The key of a stage covers its inputs, its recipe, the packages that it is
made with and the keys of the stages before it, so it is known before anything is built. ensure()
compares all keys first: if they match, nothing else happens. Otherwise it writes a ninja file of what is
stale and lets ninja run that, each stage as a process of its own (python3 -m nomap_lab.graph NAME).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from . import cache, sources
from . import stages as _stages  # noqa: F401  fills STAGES
from .paths import BUILD, STATE, TOP, LabError, need_free, say, shown, write_if_changed
from .stage import STAGES, Stage, installed


def get(name: str) -> Stage:
    """The stage of that name, or a UsageError with those that there are."""
    if name not in STAGES:
        raise LabError(f"lab/build: no stage '{name}', only: {' '.join(STAGES)}", 2)
    return STAGES[name]


class Keys:
    """The keys of stages as the files are now. Each file is read once by an object of this class."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._inputs: dict[str, str] = {}

    def _input(self, path: str) -> str:
        if path not in self._inputs:
            self._inputs[path] = cache.digest((), [TOP / path])
        return self._inputs[path]

    def parts(self, name: str) -> dict[str, str]:
        """What the key of a stage is made of, by name."""
        s = get(name)
        return {"its recipe": cache.digest([s.recipe]), **{i: self._input(i) for i in s.inputs},
                **{p: installed("build").get(p, "missing") for p in s.packages},
                **{f"the stage {b}": self.of(b) for b in s.after}, **{f"word {n}": w for n, w in enumerate(s.words())}}

    def of(self, name: str) -> str:
        """The key of a stage."""
        if name not in self._keys:
            self._keys[name] = cache.digest([name, *(f"{k} {v}" for k, v in self.parts(name).items())])
        return self._keys[name]


def why(name: str, keys: Keys) -> str:
    """What has changed since a stage was built in this checkout."""
    now = keys.parts(name)
    try:
        before = json.loads((STATE / "parts" / f"{name}.json").read_text(encoding="utf-8"))
    except OSError:
        return "it was not built here yet"
    changed = [k for k in {**before, **now} if before.get(k) != now.get(k)]
    return f"changed: {', '.join(changed)}" if changed else "what it made is missing"


def closure(names: Iterable[str]) -> list[str]:
    """The stages of `names` and those before them, in an order in which they can be built."""
    order: list[str] = []

    def add(name: str) -> None:
        if name not in order:
            for before in get(name).after:
                add(before)
            order.append(name)

    for name in names:
        add(name)
    return order


def is_current(s: Stage, key: str) -> bool:
    """Is what this stage makes there, for this key?"""
    return s.is_there() if s.is_there else cache.is_current(key, s.directory)


def _build_and_look(s: Stage) -> None:
    """Builds a stage, and compares what its tools have read with its inputs."""
    s.build(s.directory)
    unknown = sources.missing(sources.read_by(s.directory / "work"), s.inputs)
    if unknown:
        raise LabError(f"{s.name}: its build reads {', '.join(unknown[:5])}, which is none of its inputs: "
                       "name it in lab/nomap_lab/stages.py")


def build_one(name: str) -> None:
    """Brings one stage up to date; those before it are."""
    s, keys = get(name), Keys()
    if s.is_there:
        if not s.is_there():
            s.build(s.directory)
    else:
        if not cache.is_current(keys.of(name), s.directory):
            need_free(s.mib, BUILD, f"building {name}")
        cache.cached(name, keys.of(name), s.directory, lambda: _build_and_look(s))
    write_if_changed(STATE / "parts" / f"{name}.json", json.dumps(keys.parts(name), indent=1) + "\n")


def _escaped(path: Path | str) -> str:
    return str(path).replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def ninja_file(order: list[str], directory: Path) -> str:
    """The build of these stages in ninja's language: a stamp in `directory` for each."""
    stamps = {name: _escaped(directory / name) for name in order}
    lines = ["# Written by lab/build.", f"builddir = {_escaped(directory)}", "rule stage",
             f"  command = {sys.executable} -m nomap_lab.graph $name && touch $out", "  description = $name", ""]
    for name in order:
        s = get(name)
        files = [_escaped(f) for path in s.inputs for f in cache.files_of(TOP / path)]
        before = [stamps[b] for b in s.after if b in stamps]
        lines += [f"build {stamps[name]}: stage {' '.join(files)} | {' '.join(before)}", f"  name = {name}", ""]
    return "\n".join(lines)


class Progress:
    """Shows what stages say, and on a terminal one line that moves: stage, elapsed, of how many."""

    def __init__(self, total: int) -> None:
        self.read_fd, self.write_fd = os.pipe()
        os.set_inheritable(self.write_fd, True)
        self.total, self.ended = total, 0
        self.running: dict[str, float] = {}
        self.moves = os.isatty(2)
        self.thread = threading.Thread(target=self._follow, daemon=True)
        self.thread.start()

    def _line(self, text: str) -> None:
        words = text.split("] ", 1)[-1].split(": ", 1)
        if len(words) == 2:
            if words[1] == "building":
                self.running[words[0]] = time.monotonic()
            elif words[1].startswith(("done in", "from cache")):
                self.running.pop(words[0], None)
                self.ended += 1
        self._clear()
        os.write(2, (text + "\n").encode())

    def _clear(self) -> None:
        if self.moves:
            os.write(2, b"\r\033[K")

    def _follow(self) -> None:
        import select

        rest = b""
        while True:
            ready, _, _ = select.select([self.read_fd], [], [], 1.0)
            if ready:
                got = os.read(self.read_fd, 4096)
                if not got:
                    break
                *whole, rest = (rest + got).split(b"\n")
                for text in whole:
                    self._line(text.decode(errors="replace"))
            if self.moves and self.running:
                now = time.monotonic()
                what = ", ".join(f"{n} {int(now - t) // 60}:{int(now - t) % 60:02d}" for n, t in self.running.items())
                os.write(2, f"\r\033[K  building {what} ({self.ended} of {self.total} done)".encode())
        self._clear()

    def close(self) -> None:
        os.close(self.write_fd)
        self.thread.join()
        os.close(self.read_fd)


def ensure(*names: str, explain: bool = False) -> None:
    """Brings stages and those before them up to date with the files of the repository.

    Two commands may do so at a time: those that want the same stage wait for each other (cache.cached).
    Raises LabError with what a failed stage has said.
    """
    order = closure(names)
    keys = Keys()
    stale = [n for n in order if not is_current(get(n), keys.of(n))]
    if not stale:
        return
    for n in stale if explain else ():
        say(f"{n}: stale, {why(n, keys)}")
    STATE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ninja.", dir=STATE) as directory:
        file = Path(directory, "build.ninja")
        file.write_text(ninja_file(stale, Path(directory)), encoding="utf-8")
        progress = None
        env = {**os.environ, "PYTHONPATH": str(TOP / "lab")}
        if "NOMAP_SAY_FD" not in env:
            progress = Progress(len(stale))
            env["NOMAP_SAY_FD"] = str(progress.write_fd)
        # Two stages at a time: each compiles with all CPUs itself.
        cmd = ["setpriv", "--pdeathsig", "KILL", "ninja", "-C", str(TOP), "-f", str(file), "-j2"]
        try:
            done = subprocess.run(cmd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, errors="replace", check=False, pass_fds=[int(env["NOMAP_SAY_FD"])])
        finally:
            if progress:
                progress.close()
    if done.returncode:
        noise = ("ninja: ", "[", "FAILED: ", f"{sys.executable} -m nomap_lab.graph")
        said = [line for line in done.stdout.splitlines() if not line.startswith(noise)]
        failed = [line.split("/")[-1].strip() for line in done.stdout.splitlines() if "FAILED: " in line]
        log = STATE / "build.log"
        log.write_text(done.stdout, encoding="utf-8")
        tail = "\n".join(said[-60:])
        raise LabError(f"{', '.join(failed) or 'the build'}: build failed:\n{tail}\n(log: {shown(log)})")
    keys = Keys()
    wrong = [n for n in order if not is_current(get(n), keys.of(n))]
    if wrong:
        raise LabError(f"{' '.join(wrong)}: the sources changed while it was built: try again")


def main(name: str) -> int:
    try:
        build_one(name)
    except LabError as e:
        print(e, flush=True)
        return e.status
    return 0


if __name__ == "__main__":
    from nomap_lab import graph

    sys.exit(graph.main(sys.argv[1]))
