# SPDX-License-Identifier: MIT
"""The documents: figures are those of the published results, plots say what they show, HTML has no dead link."""

from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=12, lane="builds", finds="a figure that no result has, a plot without units, dead links")


@case("docs/claims", runner="pytest")
def claims(lab: Lab) -> None:
    lab.pytest("bench/lib/claims_test.py", "bench/lib/record_test.py", "bench/lib/results_test.py", "bench/live-bos/table_test.py")


@case("docs/plots", runner="pytest")
def plots(lab: Lab) -> None:
    lab.pytest("bench/plots_test.py")


@case("docs/build", runner="pytest")
def build(lab: Lab) -> None:
    lab.pytest("docs/build_test.py")


@case("docs/html")
def html(lab: Lab) -> None:
    """make docs without rustdoc, which lint/cargo-fmt-clippy-doc makes."""
    lab.call("docs/build", "--no-rust", lab.dir("docs"))


@case("docs/options", runner="pytest")
def options(lab: Lab) -> None:
    """The programs of bench and kernel/mm refuse what their help does not name."""
    lab.build("bench", "mm-tools")
    lab.pytest("bench/options_test.py")
