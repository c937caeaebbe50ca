# SPDX-License-Identifier: MIT
"""Piglit in guests: a sample of the uploads and readbacks of the suite piglit (all of them in the tier
"all"), with Debian's unmodified Mesa; and with ours on the distribution's module."""

from nomap_lab.paths import RESULTS
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=64, finds="what piglit sees with the real kernel, rings and interrupts only")


def piglit(lab: Lab, chip: str, module: str, tests: str, mesa: str = "unmodified") -> None:
    out = RESULTS / f"piglit/guest-{chip}-{tests}{'-patched' if mesa == 'patched' else ''}"
    lab.piglit("--mesa", mesa, "--chip", chip, "--module", module, "--tests", f"lab/piglit-sets/{tests}", out=out)


@case("piglit-guest/sample", runner="piglit")
def sample(lab: Lab) -> None:
    piglit(lab, "rv770", "patched", "upload-readback-sample")


@case("piglit-guest/{chip}", tier="all", runner="piglit", chip=["rv770", "rv710"])
def whole(lab: Lab, chip: str) -> None:
    piglit(lab, chip, "stock", "upload-readback")


@case("piglit-guest/patched-mesa", tier="all", runner="piglit")
def patched_mesa(lab: Lab) -> None:
    piglit(lab, "rv770", "stock", "upload-readback-sample", "patched")
