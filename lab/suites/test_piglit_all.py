# SPDX-License-Identifier: MIT
"""All tests of piglit's quick profiles that a chip can run, natively; 500 of them in guests, where
results must be the same. With our module and Mesa no test may do worse."""

from nomap_lab.paths import RESULTS
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=66, tier="all", finds="what piglit sees beyond uploads and readbacks; "
                   "a result that native tests and those in a guest do not share")

OUT = RESULTS / "piglit"
SAMPLES = {"native": ["--mesa", "unmodified", "--native"], "guest": ["--mesa", "unmodified", "--module", "stock"],
           "patched": ["--mesa", "patched", "--module", "patched"]}


@case("piglit-all/native", runner="piglit")
def native(lab: Lab) -> None:
    lab.piglit(*SAMPLES["native"], "--chip", "rv770", "--tests", "lab/piglit-sets/all", out=OUT / "all-native")


@case("piglit-all/{chip}", runner="piglit", chip=["turks", "cayman"])
def evergreen(lab: Lab, chip: str) -> None:
    lab.piglit(*SAMPLES["native"], "--chip", chip, "--tests", "lab/piglit-sets/all", out=OUT / f"all-{chip}")


@case("piglit-all/500-turks-{where}", runner="piglit", where=["native", "guest"])
def turks(lab: Lab, where: str) -> None:
    tests = lab.piglit_sample(f"500-turks-{where}", "turks", 500, seed=12)
    lab.piglit(*SAMPLES[where], "--chip", "turks", "--tests", tests, out=OUT / f"500-turks-{where}")


@case("piglit-all/500-{chip}", runner="piglit", chip=["cedar", "rv670"])
def others(lab: Lab, chip: str) -> None:
    """Judged by a real Turks and a real RV770, as Mesa CI has no lists of these."""
    tests = lab.piglit_sample(f"500-{chip}", chip, 500, seed=33)
    lab.piglit(*SAMPLES["native"], "--chip", chip, "--tests", tests, out=OUT / f"500-{chip}")


@case("piglit-all/same-on-turks", needs=["piglit-all/500-turks-native", "piglit-all/500-turks-guest"])
def same_on_turks(lab: Lab) -> None:
    lab.call("python3", "-m", "nomap_lab.piglit.compare", "--same", OUT / "500-turks-native", OUT / "500-turks-guest")


@case("piglit-all/500-{where}", runner="piglit", where=list(SAMPLES))
def sample(lab: Lab, where: str) -> None:
    tests = lab.piglit_sample(f"500-{where}", "rv770", 500, seed=12)
    lab.piglit(*SAMPLES[where], "--chip", "rv770", "--tests", tests, out=OUT / f"500-{where}")


@case("piglit-all/same-natively", needs=["piglit-all/500-native", "piglit-all/500-guest"])
def same(lab: Lab) -> None:
    lab.call("python3", "-m", "nomap_lab.piglit.compare", "--same", OUT / "500-native", OUT / "500-guest")


@case("piglit-all/nothing-worse", needs=["piglit-all/500-guest", "piglit-all/500-patched"])
def nothing_worse(lab: Lab) -> None:
    lab.call("python3", "-m", "nomap_lab.piglit.compare", OUT / "500-guest", OUT / "500-patched")
