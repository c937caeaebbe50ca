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

MAPS = {"debian": 1, "our-mesa": 0, "nomap": 0}


def row(operation, stack):
    """A row of a healthy run."""
    done = 0 if operation in ("start",) else 100
    return {"operation": operation, "count": done, "p50_ns": 1000, "p95_ns": 1000, "wrong_pixels": 0,
            "gpu_maps_peak": 9, "gpu_maps": 5, "mmaps": done * MAPS[stack], "munmaps": 0, "rss_kib": 90000, "pte_kib": 400,
            "ioctls": {"cs": done}, "client": {"gpu_maps": 4, "mmaps": done * MAPS[stack], "ioctls": {"cs": done}}}


def case(stack, server):
    patched = server == "exa-nomap"
    operations = (*report.OPERATIONS[:-1], *report.GL_OPERATIONS, "free")
    rows = [row(o, "nomap" if patched else stack) for o in operations]
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
    assert len(cases) == 10 and cases[0]["stack"] == "debian"
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
        data["rows"] = [r for r in data["rows"] if r["operation"] not in report.GL_OPERATIONS]
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


def document(directory, quiet, *more):
    """Writes the document of a run, as made on a machine that was quiet or not, and of results with more pixmaps."""
    results = directory / "build/results"
    results.mkdir(parents=True)
    assert check(directory, "--json", results / "desktop.json").returncode == 0
    (results / "desktop.png").write_bytes(b"plot")
    recorded = {"sha256": hashlib.sha256((results / "desktop.json").read_bytes()).hexdigest(), "commit": "0123456789",
                "date": "2026-11-24T10:00:00Z", "foreign": 0.0 if quiet else 0.5, "stolen": 0.0,
                "spread": {"before": 0.0, "after": 0.0}}
    (results / "desktop.recorded.json").write_text(json.dumps(recorded))
    done = put_into(directory / "docs", results, *more)
    assert done.returncode == 0, done.stderr
    return (directory / "docs/desktop.md").read_text(), done.stderr


def put_into(docs, results, *more):
    """Writes the document of the results in a directory."""
    docs.mkdir(exist_ok=True)
    (docs / "desktop.md").write_text("before\n" + "old\n".join(report.MARKS) + "after\n")
    script = ("import sys, pathlib; sys.path[:0] = sys.argv[1:3]; import results, report; results.RESULTS = sys.argv[3]; "
              "report.document(pathlib.Path(sys.argv[4]), pathlib.Path(sys.argv[3], 'desktop.json'), "
              "[pathlib.Path(sys.argv[3], name) for name in sys.argv[5:]])")
    return subprocess.run([sys.executable, "-B", "-c", script, HERE / "bench/lib", HERE / "bench/glyphstorm", results, docs,
                           *more], capture_output=True, text=True, check=False)


def test_document_has_counts_and_no_times_of_a_noisy_machine(ran):
    text, said = document(ran, quiet=False)
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "| modesetting, glamor; our module and Mesa | 5 | 9 |" in text and "200 pixmaps" in text
    assert "Median times" not in text and "other processes took 50.0%" in said
    assert (ran / "docs/desktop-counts.png").read_bytes() == b"plot"


def test_document_has_times_of_a_quiet_machine(ran):
    text, said = document(ran, quiet=True)
    assert "Median times" in text and "at commit 0123456" in text and not said


@pytest.mark.parametrize(("server", "needed"), [("exa-nomap", False), ("radeon", True)])
def test_document_does_without_our_ddx_only(ran, server, needed):
    document(ran, True)
    results = ran / "build/results"
    data = json.loads((results / "desktop.json").read_text())
    data["cases"] = [case for case in data["cases"] if case["server"] != server]
    (results / "desktop.json").write_text(json.dumps(data))
    done = put_into(ran / "docs", results)
    assert bool(done.returncode) is needed, done.stderr
    assert not needed or "lacks debian/radeon, our-mesa/radeon, nomap/radeon" in done.stderr


def test_growth_has_each_number_of_pixmaps():
    def run(pixmaps, peak, ns):
        found = {"stack": "nomap", "server": "modesetting", **case("nomap", "modesetting"), "pixmaps": pixmaps}
        for r in found["rows"]:
            r.update(gpu_maps_peak=peak, p95_ns=ns)
        return [found]

    # In the order of the pixmaps, whatever the arguments' is; times need both to be of a quiet machine.
    small, large = run(200, 9, 1000), run(8000, 31, 3000)
    rows = [line.split(" | ") for line in report.growth([(large, True), (small, True)]) if line.startswith("| modesetting")]
    assert [(r[1], r[2], r[3], r[-1]) for r in rows] == [("200", "5", "9", "1.00 |"), ("8,000", "5", "31", "3.00 |")]
    assert len(report.growth([(small, True)])) == len(report.growth([(small, True), (large, True)])) - 2
    for timed in ((False, True), (True, False)):
        assert report.growth([(large, timed[0]), (small, timed[1])])[-1].endswith(" - |")


def test_document_has_growth_if_there_are_more_results(ran):
    leave_out_opengl(ran)
    text, _ = document(ran, True, "desktop.json")
    assert "What grows" in text and text.count("| our radeon DDX, EXA; our module and Mesa | 200 |") == 2
