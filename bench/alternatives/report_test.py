# SPDX-License-Identifier: MIT
"""--check of the report refuses results of a variant that was not verified, that did not do what it is
named after, or that is missing."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from report_faults import Report  # noqa: E402 (the path comes first)

REPORT = Report(__file__, transfers="alternatives-transfer.json", live="alternatives-live.json",
                times="alternatives-times.json")


def test_results_as_counted_pass(tmp_path):
    assert REPORT.check(REPORT.load(), tmp_path) == 0


def test_counts_alone_pass(tmp_path):
    results = REPORT.load()
    del results["times"]
    assert REPORT.check(results, tmp_path) == 0


def row(results, case, arm, size=4096, part="transfers"):
    return next(r for r in results[part]["rows"] if (r["case"], r["placement"], r["bytes"], r["arm"]) ==
                (case, "vram", size, arm))


def not_verified(results):
    row(results, "upload", "userptr")["verified"] = 0


def a_bo_of_other_memory(results):
    """As if the BO were a common one, into which the caller copies."""
    row(results, "upload", "userptr")["costs"].pop("userptrs")


def made_each_time(results):
    costs = row(results, "upload", "userptr-window")
    costs["costs"]["userptrs"] = costs["costs"]["bos"] = costs["cost_ops"]


def no_notifier(results):
    row(results, "download", "userptr")["costs"].pop("mmu_notifiers")


def copied_by_the_cpu(results):
    row(results, "upload", "userptr-nowait")["board"].pop("dma_bytes")


def moved_by_the_driver(results):
    row(results, "upload", "gtt-window")["path_bytes"] = {"cpu": 4096}


def nothing_counted(results):
    del row(results, "upload", "pwrite")["costs"]


def waited(results):
    row(results, "busy", "userptr-window-nowait")["waited"] = 1


def did_not_wait(results):
    row(results, "busy", "userptr")["waited"] = 0


def free_on_return(results):
    row(results, "busy", "userptr-nowait")["captured"] = 2


def arrived(results):
    row(results, "download", "userptr").pop("lost")


def missing(results):
    results["transfers"]["rows"].remove(row(results, "download", "userptr-window"))


def mapped(results):
    next(r for r in results["live"]["rows"] if r["arm"] == "userptr")["maps"] = 1


def times(results):
    results["live"]["unit"] = "ns"


def counts_for_times(results):
    results["times"]["unit"] = "instructions"


def time_missing(results):
    results["times"]["rows"].remove(row(results, "busy", "userptr-nowait", 65536, "times"))


def time_not_verified(results):
    row(results, "upload", "pwrite", part="times")["verified"] = 0


def large_write_did_not_wait(results):
    row(results, "busy", "pwrite", 1 << 20)["waited"] = 0


@pytest.mark.parametrize("edit", [
    not_verified, a_bo_of_other_memory, made_each_time, no_notifier, copied_by_the_cpu, moved_by_the_driver, nothing_counted,
    waited, did_not_wait, free_on_return, arrived, missing, mapped, times,
    counts_for_times, time_missing, time_not_verified, large_write_did_not_wait])
def test_fault_is_found(edit, tmp_path):
    results = REPORT.load()
    edit(results)
    assert REPORT.check(results, tmp_path) == 1
