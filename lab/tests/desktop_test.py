# SPDX-License-Identifier: MIT
"""glyphstorm's report: what it must refuse, and the document that it writes."""
import hashlib
import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HERE / "bench/glyphstorm"))
import report  # noqa: E402 (the path comes first)

MAPS = {"debian": 1, "series-a": 0, "our-mesa": 0, "nomap": 0}


def row(operation, stack):
    """A row of a healthy run."""
    done = 0 if operation in ("start",) else 100
    return {"operation": operation, "count": done, "p50_ns": 1000, "p95_ns": 1000, "max_ns": 2000,
            "live_pixmaps": 200, "wrong_pixels": 0,
            "gpu_maps_peak": 9, "gpu_maps": 5, "mmaps": done * MAPS[stack], "munmaps": 0, "rss_kib": 90000, "pte_kib": 400,
            "ioctls": {"cs": done}, "client": {"gpu_maps": 4, "mmaps": done * MAPS[stack], "ioctls": {"cs": done}}}


def case(stack, server):
    patched = server == "exa-nomap"
    rows = [row(o, "nomap" if patched else stack) for o in report.operations(opengl=True)]
    for r in rows:
        r["client"]["mmaps"] = r["count"] * MAPS[stack]
    for r in rows if patched and stack == "nomap" else ():
        r["ioctls"]["gem_transfer"] = r["count"]
    return {"pixmaps": 200, "glyphs": 100, "gl": 100, "wrong_pixels": 0, "refused": 0, "environment": {},
            "rows": rows}


@pytest.fixture(name="ran")
def fixture_ran(tmp_path):
    for stack, server in [*report.ALL, ("debian", "exa-nomap")]:
        (tmp_path / stack / server).mkdir(parents=True)
        (tmp_path / stack / server / "glyphstorm.json").write_text(json.dumps(case(stack, server)))
        if stack == "nomap":
            for name, n in (("gem_rw.before", 7), ("gem_rw", 207)):
                (tmp_path / stack / server / name).write_text(f"  cpu {n} 4096\n  staged 0 0\n")
    return tmp_path


NAMES = ",".join(f"{stack}/{server}" for stack, server in [*report.ALL, ("debian", "exa-nomap")])


def check(directory, *options):
    return subprocess.run([sys.executable, "-B", HERE / "bench/glyphstorm/report.py", "--check", "--cases", NAMES, *options,
                           directory], capture_output=True, text=True, check=False)


def change(directory, name, operation=None, **values):
    """Changes a case, or its row of an operation."""
    path = directory / name / "glyphstorm.json"
    data = json.loads(path.read_text())
    where = data if operation is None else report.row(data, operation)
    where.update(values)
    path.write_text(json.dumps(data))


def test_healthy_run_passes(ran):
    done = check(ran, "--json", ran / "out.json")
    assert done.returncode == 0, done.stdout
    cases = json.loads((ran / "out.json").read_text())["cases"]
    assert len(cases) == 12 and cases[0]["stack"] == "debian"
    assert next(c for c in cases if c["server"] == "exa-nomap" and c["stack"] == "nomap")["gem_rw"]["cpu"] == 200


@pytest.mark.parametrize(("name", "operation", "values", "says"), [
    ("nomap/modesetting", None, {"wrong_pixels": 3}, "3 pixels are wrong"),
    ("nomap/exa", None, {"refused": 1}, "refused 1 requests"),
    ("nomap/radeon", "put-again", {"gpu_maps_peak": 38}, "38 mappings of BOs, 5 at its start"),
    ("nomap/modesetting", "put", {"mmaps": 6}, "0.06 mmap() for a pixmap"),
    ("nomap/exa-nomap", "put-shm", {"mmaps": 6}, "0.06 mmap() for create and put, MIT-SHM"),
    ("nomap/exa-nomap", "arc-back", {"mmaps": 6}, "0.06 mmap() for arc"),
    ("debian/radeon", "put", {"mmaps": 9}, "are they counted?"),
    ("debian/exa", None, {"rows": []}, "operations are missing"),
    ("debian/exa", None, {"gl": 0}, "operations are missing"),
    ("debian/modesetting", "buffer", {"client": {"gpu_maps": 4, "mmaps": 49, "ioctls": {}}}, "49 mmap() for 100 vertex buffers"),
    ("our-mesa/radeon", "gl-free", {"client": {"gpu_maps": 69, "mmaps": 0, "ioctls": {}}}, "up to 65 mappings of BOs more"),
])
def test_fault_is_named(ran, name, operation, values, says):
    change(ran, name, operation, **values)
    done = check(ran)
    assert done.returncode == 1
    assert f"FAIL: {name}: " in done.stdout and says in done.stdout
    assert done.stdout.count("FAIL") == 1


def test_bounds_themselves_pass(ran):
    change(ran, "nomap/exa", "put-again", gpu_maps_peak=900)  # Debian's DDX is not bounded
    change(ran, "nomap/exa-nomap", "copy", gpu_maps_peak=900, mmaps=50)  # vertex buffers
    change(ran, "nomap/radeon", "put-again", gpu_maps_peak=37)
    change(ran, "nomap/modesetting", "put", mmaps=5)
    change(ran, "debian/radeon", "put", mmaps=10)
    assert check(ran).returncode == 0


def test_case_that_did_not_end_is_named(ran):
    (ran / "nomap/exa/glyphstorm.json").unlink()
    done = check(ran)
    assert done.returncode == 1 and "nomap/exa: did not get to its end" in done.stdout


def leave_out_opengl(directory):
    for name in NAMES.split(","):
        path = directory / name / "glyphstorm.json"
        data = json.loads(path.read_text())
        data["gl"] = 0
        stack = "nomap" if name.endswith("exa-nomap") else name.split("/")[0]
        kept = {r["operation"]: r for r in data["rows"]}
        data["rows"] = [kept.get(o, row(o, stack)) for o in report.OPERATIONS]
        path.write_text(json.dumps(data))


def test_tables_of_opengl_are_there_with_its_objects_only(ran):
    assert "OpenGL: 100 textures" in check(ran).stdout
    leave_out_opengl(ran)
    done = check(ran)
    assert done.returncode == 0 and "OpenGL" not in done.stdout


def test_patched_ddx_must_use_the_ioctl(ran):
    change(ran, "nomap/exa-nomap", "put", ioctls={"gem_transfer": 99})
    done = check(ran)
    assert done.returncode == 1 and "for 100 puts 99 calls of TRANSFER" in done.stdout
    assert done.stdout.count("FAIL: nomap/exa-nomap: ") == 1


def test_patched_ddx_needs_our_modules_counters(ran):
    (ran / "nomap/exa-nomap/gem_rw").write_text("  cpu 8 4096\n  staged 0 0\n")
    assert "our module made 1 copies in all" in check(ran).stdout


def test_patched_ddx_must_not_call_debians_module(ran):
    change(ran, "debian/exa-nomap", "free", ioctls={"gem_transfer": 1})
    assert "debian/exa-nomap: our module ran or was called" in check(ran).stdout
    change(ran, "debian/exa-nomap", "free", ioctls={})
    for name in ("gem_rw.before", "gem_rw"):
        (ran / "debian/exa-nomap" / name).write_text("  cpu 0 0\n")
    assert "debian/exa-nomap: our module ran or was called" in check(ran).stdout


def document(directory, quiet):
    """Writes the document of a run, as made on a machine that was quiet or not."""
    results = directory / "build/results"
    results.mkdir(parents=True)
    assert check(directory, "--json", results / "desktop.json").returncode == 0
    (results / "desktop.png").write_bytes(b"plot")
    record(results, "desktop", quiet)
    done = put_into(directory / "docs", results)
    assert done.returncode == 0, done.stderr
    return (directory / "docs/desktop.md").read_text(), done.stderr


def record(results, name, quiet):
    """Leaves what bench/lib/record would of results that were made on a machine that was quiet or not."""
    recorded = {"sha256": hashlib.sha256((results / f"{name}.json").read_bytes()).hexdigest(), "commit": "0123456789",
                "date": "2026-11-24T10:00:00Z", "load": 0.1, "foreign": 0.0 if quiet else 0.5, "stolen": 0.0,
                "spread": {"before": 0.0, "after": 0.0}}
    (results / f"{name}.recorded.json").write_text(json.dumps(recorded))


def put_into(docs, results, part="counts", files=("desktop.json",)):
    """Writes a part of the document from results in a directory."""
    docs.mkdir(exist_ok=True)
    (docs / "desktop.md").write_text("before\n" + "old\n".join(report.MARKS[part]) + "after\n")
    script = ("import sys, pathlib; sys.path[:0] = sys.argv[1:3]; import results, report; results.RESULTS = sys.argv[3]; "
              "report.document(pathlib.Path(sys.argv[4]), sys.argv[5], [pathlib.Path(sys.argv[3], name) for name in sys.argv[6:]])")
    return subprocess.run([sys.executable, "-B", "-c", script, HERE / "bench/lib", HERE / "bench/glyphstorm", results, docs,
                           part, *files], capture_output=True, text=True, check=False)


def test_document_has_counts_and_no_times_of_a_noisy_machine(ran):
    text, said = document(ran, quiet=False)
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "| modesetting, glamor; our module and Mesa | 5 | 9 |" in text and "200 pixmaps" in text
    assert "Median times" not in text and "other processes took 50.0%" in said
    assert (ran / "docs/desktop-counts.png").read_bytes() == b"plot"


def test_document_has_times_of_a_quiet_machine(ran):
    text, said = document(ran, quiet=True)
    assert "Median times" in text and "at commit 0123456" in text and not said
    assert "| modesetting, glamor; our module and Mesa | 1 / 1 / 2 |" in text


@pytest.mark.parametrize(("server", "needed"), [("exa-nomap", False), ("radeon", True)])
def test_document_does_without_our_ddx_only(ran, server, needed):
    document(ran, True)
    results = ran / "build/results"
    data = json.loads((results / "desktop.json").read_text())
    data["cases"] = [case for case in data["cases"] if case["server"] != server]
    (results / "desktop.json").write_text(json.dumps(data))
    done = put_into(ran / "docs", results)
    assert bool(done.returncode) is needed, done.stderr
    assert not needed or "lacks debian/radeon, series-a/radeon, our-mesa/radeon, nomap/radeon" in done.stderr


def grown(pixmaps, peak, first=1000, again=1000):
    """A case without OpenGL's objects, whose switch takes @first ns with all pixmaps, @again repeated, 1000 with few."""
    found = {"stack": "nomap", "server": "modesetting", **case("nomap", "modesetting"), "pixmaps": pixmaps, "gl": 0,
             "rows": [row(operation, "nomap") for operation in report.OPERATIONS]}
    for r in found["rows"]:
        r.update(gpu_maps_peak=peak)
    report.row(found, "switch").update(p95_ns=first)
    report.row(found, "switch-again").update(p95_ns=again)
    return found


def cells(run, which):
    """Cells of the lines of a table of growth."""
    return [[line.strip("| ").split(" | ")[i] for i in which] for line in report.growth(run) if line.startswith("| modesetting")]


def test_growth_has_each_number_of_pixmaps():
    # In the order of the pixmaps, whatever the arguments' is.
    small, large = grown(2000, 9), grown(80000, 31, 1200, 1300)
    assert cells([[large], [small]], (1, 2, 3, 8, 9, 10)) == [["2,000", "5", "9", "200", "1.00", "1.00"],
                                                              ["80,000", "5", "31", "200", "1.25", "1.08"]]


@pytest.mark.parametrize(("again", "shown"), [(1149, "1.07"), (1151, "-"), (851, "0.93"), (849, "-")])
def test_switch_that_varies_is_not_compared(again, shown):
    assert cells([[grown(2000, 9, 1000, again)]], (9,)) == [[shown]]


def test_growth_needs_two_numbers_of_pixmaps(ran):
    results = ran / "results"
    results.mkdir()
    for name, pixmaps in (("small", 2000), ("same", 2000), ("large", 80000)):
        (results / f"{name}.json").write_text(json.dumps({"cases": [grown(pixmaps, 9)]}))
    done = put_into(ran / "docs", results, "growth", ("small.json", "same.json"))
    assert done.returncode == 1 and "different numbers of pixmaps" in done.stderr
    done = put_into(ran / "docs", results, "growth", ("small.json", "large.json"))
    text = (ran / "docs/desktop.md").read_text()
    assert done.returncode == 0 and "| 80,000 |" in text and "old" not in text and "Measured" not in text
    assert "Median" not in text and "the times are not published: they were not made by bench/lib/record" in done.stderr


@pytest.mark.parametrize("quiet", [False, True])
def test_growth_has_times_with_the_most_pixmaps(ran, quiet):
    results = ran / "results"
    results.mkdir()
    for name, pixmaps, ns in (("small", 2000, 5_000_000), ("large", 80000, 7_000_000)):
        cases = [{**grown(pixmaps, 9), "stack": stack} for stack in ("debian", "nomap")]
        report.row(cases[1], "put").update(p50_ns=ns, p95_ns=ns, max_ns=ns)
        (results / f"{name}.json").write_text(json.dumps({"cases": cases}))
        record(results, name, quiet)
    done = put_into(ran / "docs", results, "growth", ("large.json", "small.json"))
    text = (ran / "docs/desktop.md").read_text()
    assert done.returncode == 0 and "Measured on 2026-11-24" in text
    assert ("With 80,000 pixmaps:" in text and "| 7,000 / 7,000 / 7,000 |" in text) is quiet
    assert "Median times" in text if quiet else "other processes took 50.0%" in done.stderr
    assert "5,000 / 5,000" not in text


def test_opengl_has_a_part_of_its_own(ran):
    text, _ = document(ran, True)
    assert "OpenGL:" not in text
    done = put_into(ran / "docs", ran / "build/results", "opengl")
    text = (ran / "docs/desktop.md").read_text()
    assert done.returncode == 0 and "OpenGL: 100 textures" in text and "Median times" not in text
