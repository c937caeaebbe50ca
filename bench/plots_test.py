# SPDX-License-Identifier: MIT
"""Pictures that are to be understood without their text: each plot program draws made-up results,
and all that is drawn has a name in the picture, in words and without overlap of its texts."""

import importlib.machinery
import importlib.util
import json
import pathlib
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / "bench" / "lib"))
plotting = pytest.importorskip("plotting")
SIZES = [256, 4096, 65536, 1 << 20, 4 << 20, 16 << 20]


def brk():
    """As report.py of brk-storm writes it."""
    shares = {"grow": {"anon_vma: lock and interval tree": .09, "tree: store": .25, "tree: look-ups": .18},
              "shrink": {"split of the VMA": .35, "tree: store": .08, "pages and page tables": .34, "the VMA's end": .02}}
    cost, parts = [], []
    for op in shares:
        for pages in (1, 4, 33, 256):
            least = 2300 if op == "grow" else 7000 + 1000 * pages
            for touched in ("touched", "untouched"):
                row = {"id": f"own/{pages}/{touched}/{op}", "what": op, "ns": {}}
                row["instructions"] = {"mm": {"inside": least, "last": least + 5000}, "mm-base": {"inside": least, "last": least}}
                cost.append(row)
        for heap in ("own", "inherited"):
            parts.append({"id": f"{heap}/1/touched/{op}", "what": op, "op": op, "samples": 1000, "shares": shares[op]})
    return {"environments": [{"kernel": "6.12.1-mm-base"}, {"kernel": "6.12.1-mm"}], "cost": cost, "parts": parts, "load": []}


def transfer_paths():
    """As report.py of transfer-paths writes it."""
    results, counts = [], []
    for case, arm in (("upload", "pwrite"), ("download", "pread")):
        for number, place in enumerate(("gtt", "gtt-wc", "vram")):
            for i, size in enumerate(SIZES):
                ratio = .1 + .05 * i + (1.2 if place == "vram" and size == 1 << 20 else 0) + .01 * number
                results.append({"id": f"{case}/{place}/{size}/mmap", "target": (.15, .2, .3, .6, 1, 1)[i], "measured": ratio,
                                "instructions": .15 + .04 * i, "quartiles": (.9 * ratio, 1.1 * ratio),
                                "arm": [case, place, size, arm]})
    for number, arm in enumerate(("mmap", "kept", "pwrite", "pwrite-again")):
        for size in SIZES:
            counts.append({"case": "upload", "placement": "vram", "bytes": size, "arm": arm,
                           "median": 16000 / (number + 1) + size * .1 * (number + 1)})
    return {"results": results, "counts": counts, "count_clock_cost": 100,
            "environment": {"kernel": "6.12.1", "driver": "radeon 2.50.0", "device": "1002:9540"}}


def threads():
    """As report.py of threads writes it."""
    cases = ["live-8m", "live-64k", "live-own", "live-guard", "join-8m", "join-8m-no-cache", "join-guard"]
    results = []
    for unit, kernel in (("instructions", "6.12.1-mm"), ("instructions", "6.12.1-mm-base"), ("ns", "6.18.4-cloud")):
        for number, case in enumerate(cases):
            grows = "guard" in case and not kernel.endswith("-mm") and case.startswith("live")
            count = 6 if grows and unit == "instructions" else 20
            cost = [(30e6 + 4e6 * number) * (1 + (5 * i if grows else 0)) for i in range(count)]
            results.append({"case": case, "kernel": kernel, "unit": unit, "threads": 1000 * count, "cpu_ns": cost,
                            "chunk": 1000, "system_total_s": sum(cost) / 1e9})
    return {"results": results, "environments": [],
            "report_2005": {"system_s_first_fit": 30, "system_s_cache": 0.7, "system_s_patch": 0.71}}


def address_space():
    """As run.py of address-space writes it."""
    rows = []
    for where in ("shim", "board"):
        for mesa in ("unmodified", "patched"):
            for kernel in ("unmodified", "patched"):
                row = {"where": where, "mesa": mesa, "kernel": kernel, "status": 0, "stderr": ""}
                if (where, mesa, kernel) == ("board", "unmodified", "patched"):
                    row.update(status=-11)
                elif mesa == "unmodified":
                    row.update(status=1, vm_peak_mib=3066, lost=613)
                else:
                    row.update(vm_peak_mib=156, lost=0)
                rows.append(row)
    return {"rows": rows}


def alternatives():
    """As report.py of alternatives writes it."""
    up = ("mmap", "kept", "pwrite", "userptr", "userptr-registered", "userptr-nowait", "userptr-kept", "userptr-window",
          "userptr-window-nowait", "gtt-window", "gtt-window-nowait")
    down = ("mmap", "kept", "pread", "userptr", "userptr-kept", "userptr-window", "gtt-window")
    rows = [{"case": case, "placement": place, "bytes": size, "arm": arm, "instructions": 2000 * (i + 1) + size * (i % 3 + 1) // 8}
            for case, arms in (("upload", up), ("download", down)) for place in ("gtt", "vram") for size in SIZES
            for i, arm in enumerate(arms)]
    rows += [{"case": "glyphs-many", "placement": "vram", "bytes": 256000, "arm": arm, "instructions": 4e5 * 3 ** i} for i, arm in
             enumerate(("pwrite", "transfer", "userptr", "userptr-each", "userptr-kept", "userptr-window", "gtt-window"))]
    return {"transfers": {"rows": rows}, "environment": {"kernel": "6.12.1"}}


def live_bos():
    """As published."""
    return json.loads((TOP / "docs" / "results" / "live-bos.json").read_text(encoding="utf-8"))


PLOTS = {
    "bench/live-bos": live_bos,
    "bench/alternatives": alternatives,
    "bench/address-space": address_space,
    "bench/transfer-paths": transfer_paths,
    "kernel/mm/bench/threads": threads,
    "kernel/mm/bench/brk-storm": brk,
}


def draw(directory, results, monkeypatch, tmp_path):
    """Runs main() of a plot program on results. Returns the figure that it saves."""
    loader = importlib.machinery.SourceFileLoader(f"plot_{pathlib.Path(directory).name.replace('-', '_')}",
                                                  str(TOP / directory / "plot.py"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    saved = []
    monkeypatch.setattr(module, "results_and_target", lambda: (results, str(tmp_path / "plot.png")))
    original = plotting.save

    def save(figure, target):
        saved.append(figure)
        original(figure, target)

    monkeypatch.setattr(plotting, "save", save)
    if hasattr(module, "save"):
        monkeypatch.setattr(module, "save", save)
    module.main()
    assert (tmp_path / "plot.png").stat().st_size > 10000
    return saved[0]


def names(figure):
    """All names in the legends of a figure."""
    legends = list(figure.legends) + [axes.get_legend() for axes in figure.axes if axes.get_legend()]
    return {text.get_text() for legend in legends for text in legend.get_texts()}


@pytest.mark.parametrize("directory", PLOTS)
def test_each_panel_says_what_it_shows(directory, monkeypatch, tmp_path):
    figure = draw(directory, PLOTS[directory](), monkeypatch, tmp_path)
    for axes in figure.axes:
        assert axes.get_title() and (axes.get_ylabel() or axes.get_yticklabels()), axes


@pytest.mark.parametrize("directory", PLOTS)
def test_each_series_has_a_name(directory, monkeypatch, tmp_path):
    figure = draw(directory, PLOTS[directory](), monkeypatch, tmp_path)
    known = names(figure)
    assert known and not any(name.startswith("_") for name in known)
    for axes in figure.axes:
        drawn = {(str(line.get_color()), line.get_linestyle()) for line in axes.get_lines()}
        named = {(str(line.get_color()), line.get_linestyle()) for line in axes.get_lines() if line.get_label() in known}
        assert drawn <= named, axes.get_title()
        fills = {patch.get_facecolor() for patch in axes.patches}
        handles, labels = axes.get_legend_handles_labels()
        coloured = {patch.get_facecolor() for handle, label in zip(handles, labels) if label in known
                    for patch in getattr(handle, "patches", [])}
        # Bars of one colour have the panel's title.
        assert len(fills) <= 1 or fills <= coloured, axes.get_title()


@pytest.mark.parametrize("directory", PLOTS)
def test_no_text_covers_another(directory, monkeypatch, tmp_path):
    figure = draw(directory, PLOTS[directory](), monkeypatch, tmp_path)
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    for legend in [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]:
        box = legend.get_window_extent(renderer)
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1, "a legend is cut off"
    for axes in figure.axes:
        texts = [t for t in [*axes.get_xticklabels(), *axes.texts, axes.title] if t.get_text() and t.get_visible()]
        boxes = [(t.get_text(), t.get_window_extent(renderer)) for t in texts]
        for i, (one, box) in enumerate(boxes):
            for other, second in boxes[i + 1:]:
                assert not box.overlaps(second), f"{axes.get_title()}: '{one}' covers '{other}'"
