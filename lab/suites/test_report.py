# SPDX-License-Identifier: MIT
"""nomap-report, which owners of cards run: on machines that are directories."""

from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=82, lane="builds",
                   finds="a report that has something personal, stops without a sentence, or is lost in a hang")


@case("report/machines", runner="pytest")
def machines(lab: Lab) -> None:
    lab.pytest("report/tests/report_test.py")
