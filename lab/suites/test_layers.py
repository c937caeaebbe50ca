# SPDX-License-Identifier: MIT
"""The driver as each layer of the series leaves it: a module of the patches up to there, and IGT on it."""

import json
import re
from pathlib import Path

from nomap_lab import initramfs
from nomap_lab.cases import FAIL, PASS, read_igt
from nomap_lab.paths import BUILD, CHECK
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=72, tier="all", finds="a layer of the series that does not work without those that follow")

#: What is run on each layer.
TESTS = ("radeon_gem_(clear|pread|pwrite|transfer)@", "radeon_gem_rw_stage@")
#: These need a gigabyte of VRAM.
NOT_HERE = "radeon_gem_clear@large$"
CLEAR = r"radeon_gem_clear@vram-(mmap|cp-dma|dma)|"
CPU = r"radeon_gem_clear@(vram-.*|dumb|create-close|evicting|gtt)|radeon_gem_p(read|write)@.*|"
#: Layer: the subject of its last patch, and what must pass. All else must be skipped: the kernel says that it lacks it.
LAYERS = {
    "clearing": ("drm/radeon: clear VRAM for new BOs", CLEAR),
    "cpu": ("drm/radeon: offer PREAD and PWRITE to user space", CPU),
    "counters": ("drm/radeon: count what PREAD and PWRITE do", CPU),
    "staging": ("drm/radeon: stage PREAD and PWRITE through the GPU", CPU + r"radeon_gem_clear@.*|radeon_gem_rw_stage@.*|"),
    "transfer": ("drm/radeon: offer TRANSFER to user space", ".*"),
}


@case("layers/series")
def series(lab: Lab) -> None:
    lab.build("igt", "boot", "board", "image")
    lab.call("kernel/series.sh", "/usr/src/linux-source-6.12.tar.xz", "build/series")


@case("layers/{layer}", needs=["layers/series"], layer=list(LAYERS))
def on_layer(lab: Lab, layer: str) -> None:
    subject, passes = LAYERS[layer]
    lab.call("kernel/check-series.sh", "module", "build/series", "", subject)
    initramfs.make(Path("/"), BUILD / "boot/layer", BUILD / "series/module/radeon.ko")
    results = CHECK / f"igt-layer-{layer}"
    log = lab.run("/build/igt-tests/run", *(word for test in TESTS for word in ("-t", test)), "-x", NOT_HERE,
                  "-r", lab.guest_path(results), kernel="layer", timeout=1500, append="radeon.lockup_timeout=1500")
    # The runner's own results do not know which kernel messages a test expects; its log does.
    cases = read_igt(log, json.loads((results / "results.json").read_text(encoding="utf-8")))
    lab.note("\n".join(f"{test.name}: {test.status}" for test in cases))
    assert not [(test.name, test.reason) for test in cases if test.status == FAIL]
    assert {test.name for test in cases if test.status == PASS} == {
        test.name for test in cases if re.fullmatch(passes, test.name)}
