# SPDX-License-Identifier: MIT
"""Failures that are expected for a known reason: lab/piglit-sets/known-fails."""
import itertools
import re

from nomap_lab.paths import LabError


def names(pattern: str) -> list[str]:
    """What the alternatives in a pattern stand for: "{A,B}" is either."""
    parts = re.split(r"\{([^{}]*)\}", pattern)
    alternatives = [part.split(",") if i % 2 else [part] for i, part in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*alternatives)]


def failures(text: str, listed: str) -> list[tuple[str, str]]:
    """("NAME,STATUS", cause) of each failure in TEXT, but for those that LISTED has already, as piglit-runner
    takes no test twice.

    LISTED has lines "NAME,STATUS", TEXT has lines "NAME,STATUS  # cause", with alternatives in names; lines
    that begin with "#" are comments. Raises LabError for a failure without a cause.
    """
    known = {line.rsplit(",", 1)[0] for line in listed.splitlines()}
    found = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        test, _, cause = line.partition("  # ")
        if not cause.strip():
            raise LabError(f"lab/piglit-sets/known-fails: a failure without a cause: {line}", status=2)
        found += [(name, cause) for name in names(test) if name.rsplit(",", 1)[0] not in known]
    return found
