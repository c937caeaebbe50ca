# SPDX-License-Identifier: MIT
"""The IGT tests' subtests by name, as the programs list them: who asks for one gets just that one."""

from __future__ import annotations

import difflib
import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from .paths import BUILD, LabError

LIST = "subtests.json"


def write(out: Path, guest_root: Path) -> None:
    """Asks each program in `out` for its subtests (in the guest's root, which has its libraries)."""
    names: list[str] = []
    script = ('mkdir -p "$0/build" && mount --bind "$1" "$0/build" && exec chroot "$0" '
              "/usr/bin/env PATH=/usr/bin:/bin sh -c '"
              'for l in /opt/*/usr/lib/*-linux-gnu; do LD_LIBRARY_PATH=$l:$LD_LIBRARY_PATH; done; export LD_LIBRARY_PATH; '
              'cd /build/igt-tests; sed 1d test-list.txt | tr " " "\\n" | grep "^radeon" | while read -r t; do '
              "echo \"= $t\"; ./$t --list-subtests 2>/dev/null; done'")
    done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-ec", script, guest_root, out.parent],
                          stdout=subprocess.PIPE, text=True, check=False)
    program, has = "", True
    for line in [*done.stdout.splitlines(), "= "]:
        if line.startswith("= "):
            if program and not has:
                names.append(program)
            program, has = line[2:], False
        elif re.fullmatch(r"[\w-]+", line):
            names.append(f"{program}@{line}")
            has = True
    if done.returncode or len(names) < 20:
        raise LabError(f"the IGT tests do not list their subtests (status {done.returncode}, {len(names)} names)")
    (out / LIST).write_text(json.dumps(sorted(names), indent=1) + "\n", encoding="ascii")


def known() -> list[str]:
    """All subtests of the tests that were built, "program@subtest"."""
    names: list[str] = json.loads((BUILD / "igt-tests" / LIST).read_text(encoding="ascii"))
    return names


def chosen(include: Iterable[str], exclude: Iterable[str], names: Iterable[str] | None = None) -> list[str]:
    """The subtests that igt_runner would run with these -t and -x. Without `include`: all."""
    include, exclude = list(include), list(exclude)
    if not any("reset_fails" in i for i in include):
        exclude.append("radeon_gem_rw_reset_fails")  # as igt-tests/run
    return [n for n in (known() if names is None else names)
            if (not include or any(re.search(i, f"igt@{n}", re.I) for i in include))
            and not any(re.search(x, f"igt@{n}", re.I) for x in exclude)]


def asked_for(words: Iterable[str]) -> list[str]:
    """The subtests that the user's words name: a program, program@subtest, or a pattern of these.

    Raises LabError (status 2) with near matches for a word that names none.
    """
    found: list[str] = []
    for word in words:
        own = [n for n in known() if n == word or n.split("@")[0] == word]
        if not own:
            try:
                own = [n for n in known() if re.fullmatch(word, n)]
            except re.error:
                own = []
        if not own:
            programs = {n.split("@")[0] for n in known()}
            near = difflib.get_close_matches(word, [*known(), *programs], 4, 0.5)
            raise LabError(f"there is no IGT test '{word}'" + (f"; near: {', '.join(near)}" if near else ""), 2)
        found += own
    return list(dict.fromkeys(found))
