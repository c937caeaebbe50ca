# SPDX-License-Identifier: MIT
"""Changes of the driver that take out something which hardware needs, each with the test that has to
fail then; and changes of Mesa's scheduler of shaders, each with what shows it."""

import re
import shutil

from nomap_lab import mesa_mutations
from nomap_lab.commands.mutations import load_program
from nomap_lab.paths import BUILD, CHECK, TOP
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=52, tier="all", finds="a test that passes whatever the driver does")


@case("mutations/program", runner="pytest")
def program(lab: Lab) -> None:
    lab.pytest("igt-tests/mutations/mutations_test.py")


@case("mutations/apply")
def apply(lab: Lab) -> None:
    """The table fits the driver, and docs/mutations.md has its lines."""
    lab.call("igt-tests/mutations/mutations.py", "check", "kernel")
    table = re.search(r"(?ms)^\|---.*?^$", (TOP / "docs/mutations.md").read_text(encoding="utf-8"))
    assert table, "docs/mutations.md has no table"
    documented = re.findall(r"(?m)^\| ([a-z0-9-]*) ", table[0])
    assert lab.call("igt-tests/mutations/mutations.py", "list").splitlines() == documented
    assert lab.call("igt-tests/mutations/mutations.py", "chips") in (TOP / "docs/mutations.md").read_text(encoding="utf-8")


@case("mutations/shown", needs=["mutations/apply"])
def shown(lab: Lab) -> None:
    lab.lab("mutations")


@case("mutations/scheduler-apply")
def scheduler_apply(lab: Lab) -> None:
    """The table of Mesa's mutations fits Mesa, and docs/mutations.md has its lines."""
    lab.build("mesa-source")
    source = CHECK / "mutations-mesa"
    shutil.rmtree(source, ignore_errors=True)
    lab.call("mesa-patches/unpack", BUILD / "mesa-source", source)
    program = load_program()
    for mutation in mesa_mutations.load(program)["mutation"]:
        assert mesa_mutations.edited(program, mutation, source)
    shutil.rmtree(source)
    assert mesa_mutations.document(program) in (TOP / "docs/mutations.md").read_text(encoding="utf-8")


@case("mutations/scheduler", needs=["mutations/scheduler-apply"])
def scheduler(lab: Lab) -> None:
    """Each changes what the check of shaders reports, or what is drawn."""
    lab.lab("mutations", "--mesa")
