# SPDX-License-Identifier: MIT
"""The report of frag finds an address that differs from the model's, and one area more
with the series than without."""

import importlib.util
import pathlib

import pytest

SPEC = importlib.util.spec_from_file_location("frag_report", pathlib.Path(__file__).with_name("report.py"))
report = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(report)

KERNELS = {"6.12.0-mm-base": "gap-retry", "6.12.0-mm": "gap-usable"}


def rows(base, series, workload="guards"):
    """Rows of the two kernels, with the areas of each seed."""
    return [{"workload": workload, "by": "kernel", "release": release, "name": name, "direction": "top-down",
             "seed": seed, "areas": areas, "maps": 100, "differing": 0, "areas_differing": 0}
            for (release, name), many in zip(KERNELS.items(), (base, series))
            for seed, areas in enumerate(many)]


@pytest.mark.parametrize("series", [[316, 316, 316], [303, 303, 303], [315, 317, 316]])
def test_no_more_areas_pass(series):
    assert not list(report.check_series(rows([316, 316, 316], series)))


@pytest.mark.parametrize("series", [[316, 317, 316], [331, 331, 331]])
def test_one_more_is_found(series):
    assert list(report.check_series(rows([316, 316, 316], series)))


def test_workloads_are_not_mixed():
    few, many = rows([10], [10], "mix"), rows([316], [316])
    assert not list(report.check_series(few + many))
    assert list(report.check_series(few + rows([9], [10])))


@pytest.mark.parametrize("key", ["differing", "areas_differing"])
def test_other_address_is_found(key):
    some = rows([316], [316])
    assert not list(report.check_kernels(some))
    some[1][key] = 1
    assert list(report.check_kernels(some))
