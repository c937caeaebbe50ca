# SPDX-License-Identifier: MIT
"""The commands refuse wrong arguments at once, with fault and cure, and judge what guests leave."""
import fcntl
import json
import os
import sys

import pytest

from nomap_lab import cli, graph, guest, options, run_directory
from nomap_lab.commands import bench_mm, fuzz, mutations, piglit
from nomap_lab.paths import LabError
from nomap_lab.piglit import runs


@pytest.fixture(name="nothing_runs")
def fixture_nothing_runs(monkeypatch):
    """Whatever builds or boots something fails."""
    def forbidden(*args, **kwargs):
        raise AssertionError(f"something was built or booted: {args} {kwargs}")

    for module, name in ((graph, "ensure"), (guest, "run")):
        monkeypatch.setattr(module, name, forbidden)


@pytest.mark.parametrize(("words", "said"), [
    ("fuzz abc", "argument SECONDS: takes seconds (a whole number from 1), not 'abc'"),
    ("fuzz 0", "not '0'"),
    ("fuzz 60 x", "argument SEED"),
    ("fuzz 60 1 2", "unknown option or argument: 2"),
    ("mm-debug soon", "argument SECONDS: takes seconds"),
    ("mm-debug 60 0", "argument SEED"),
    ("fuzz-board --cases many", "argument --cases: takes a number of cases"),
    ("fuzz-board --cases 5 --seconds 5", "not allowed with argument --cases"),
    ("fuzz-board --chip rv999", "invalid choice: 'rv999' (choose from"),
    ("fuzz-board --scenes 7", 'takes names of scenes, such as "gears text", not \'7\''),
    ("mutations nosuch", "there is no mutation 'nosuch': lab/mutations --list names them"),
    ("mutations --mesa nosuch", "there is no mutation 'nosuch' of Mesa: lab/mutations --mesa --list names them"),
    ("mutations --nosuch", "unknown option or argument: --nosuch"),
    ("bench-mm nosuch", "there is no part 'nosuch': they are mapstorm, selftests, brk, frag, threads, counts"),
    ("bench-board --rounds 100", "argument --rounds: takes rounds (a whole number from 1 to 99), not '100'"),
    ("bench-board --runs", "argument --runs: expected one argument"),
    ("bench-board --out ../x", "takes the name of a directory in build/"),
    ("bench-desktop --chip rv999", "invalid choice: 'rv999' (choose from"),
    ("bench-desktop --seconds 0", "takes seconds (a whole number from 1 to 99), not '0'"),
    ("desktop --stacks debian,mine", "takes a list of debian, series-a, our-mesa, nomap, not 'debian,mine'"),
    ("desktop --servers", "argument --servers: expected one argument"),
    ("desktop --servers Xorg", "takes a list of modesetting, radeon, exa, exa-nomap, not 'Xorg'"),
    ("desktop --stacks our-mesa --servers exa,exa-nomap", "nothing to run: EXA does not use Mesa"),
    ("desktop --pixmaps 15", "takes pixmaps (a whole number from 16 to 100000), not '15'"),
    ("desktop --vram-mib 32", "takes MiB (a whole number from 64 to 1024), not '32'"),
    ("desktop --out desktop", "takes check/NAME or results/NAME, not 'desktop'"),
    ("gallery --out /tmp", "takes the name of a directory in build/"),
    ("glmark2 --out x", "takes check/NAME or results/NAME, not 'x'"),
    ("glmark2 --sample --docs", "--docs needs all scenes: leave --sample out"),
    ("piglit", "--tests and --out are needed"),
    ("piglit --tests nosuch --out x", "--tests: there is no file nosuch that can be read: lab/piglit-sets/ has some"),
    ("piglit --sample none", "argument --sample: takes a number of tests (a whole number from 1), not 'none'"),
    ("piglit -t ( --tests x --out y", "'(' is no regular expression"),
    ("deqp", "--tests and --out are needed"),
    ("deqp --tests nosuch --out x", "there is no file nosuch that can be read, nor is it one of gles2, gles3, gles31, khr-gl33, "
     "khr-gles2, khr-gles3, khr-gles31"),
    ("deqp --chip rv999 --tests gles2 --out x", "invalid choice: 'rv999' (choose from"),
    ("gallery --space", "--space is for --guest"),
    ("tree", "NAME is one of libdrm kernel mm mesa"),
    ("tree nosuch", "NAME is one of libdrm kernel mm mesa, not 'nosuch'"),
    ("tree mm kernel", "unknown option or argument: kernel"),
])
def test_wrong_arguments_are_refused_at_once(nothing_runs, capsys, words, said):
    assert cli.main(words.split()) == 2
    err = capsys.readouterr().err
    assert said in err and f"lab/{words.split()[0]}" in err and "--help" in err and len(err.splitlines()) == 1


@pytest.mark.parametrize("name", ["demo", "speed", "mutations", "fuzz", "fuzz-board", "desktop", "gallery", "glmark2",
                                  "bench-board", "bench-desktop", "bench-mm", "mm-debug", "piglit", "rendercheck", "tree"])
def test_help_tells_the_usage(nothing_runs, capsys, name):
    try:
        status = cli.main([name, "--help"])
    except SystemExit as end:
        status = end.code
    assert not status
    assert capsys.readouterr().out.startswith(f"usage: lab/{name}")


@pytest.fixture(name="program")
def fixture_program(tmp_path, monkeypatch):
    """A benchmark in build/bench, as live-bos: it knows --quick and a number for --samples, and finds no device."""
    path = tmp_path / "build/bench/program"
    path.parent.mkdir(parents=True)
    path.write_text(f"""#!{sys.executable}
import sys
if "--help" in sys.argv:
    print("usage: program [OPTION]\\n\\n  --quick      soon\\n  --samples N  as with --no-option")
    sys.exit(0)
if any(a not in ("--quick", "--samples", "7") for a in sys.argv[1:]):
    print("program: bad argument: " + sys.argv[-1], file=sys.stderr)
    sys.exit(2)
sys.exit(77)
""")
    path.chmod(0o755)
    monkeypatch.setattr(options, "TOP", tmp_path)


def test_a_benchmark_judges_its_own_options(nothing_runs, program):
    assert options.passed_on("usage", "bench/program", ["--quick", "--samples", "7"]) == ["--quick", "--samples", "7"]
    for words in (["--x"], ["--samples", "abc"]):
        with pytest.raises(LabError, match="program: bad argument: .*; the options are --quick --samples$") as refused:
            options.passed_on("usage", "bench/program", words)
        assert refused.value.status == 2


@pytest.fixture(name="boots")
def fixture_boots(monkeypatch):
    """What was booted: (boot, command). Nothing is built; each guest's end is the first of `boots.ends`."""
    class Boots(list):
        ends: list = []

    boots = Boots()

    def run(boot, cmd, *, stdout=None, stderr=None, interactive=False):
        boots.append((boot, cmd))
        end = boots.ends.pop(0) if boots.ends else 0
        return end(boot, cmd, stdout) if callable(end) else end

    monkeypatch.setattr(graph, "ensure", lambda *names: None)
    monkeypatch.setattr(guest, "run", run)
    return boots


def test_fuzzing_goes_on_with_the_next_seed_after_a_failure(boots, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(fuzz, "BUILD", tmp_path)
    monkeypatch.setenv("NOMAP_FUZZ_ARGS", "--ring 1")

    def fails(_boot, _cmd, stdout):
        stdout.write(b"seed 8, 5 s: 3 calls\n(x:1) CRITICAL: seed 8 at 3\n")
        return 70

    boots.ends = [0, fails]
    assert fuzz.main(["125", "7"]) == 1
    assert [(boot.kernel, cmd[4:]) for boot, cmd in boots] == [
        (kernel, ["--seed", seed, "--seconds", seconds, "--ring", "1"])
        for kernel in ("debug", "stock") for seed, seconds in (("7", "120"), ("8", "5"))]
    out = capsys.readouterr().out
    assert "CRITICAL: seed 8 at 3" in out and out.splitlines()[-1] == "failed: debug-8"
    boots.ends = []
    assert fuzz.main(["1"]) == 0


def test_a_part_that_fails_does_not_keep_others_from_running(boots, monkeypatch, tmp_path):
    monkeypatch.setattr(bench_mm, "RESULTS", tmp_path)
    tables = []
    monkeypatch.setattr(bench_mm, "show_table", lambda cmd, table: tables.append(table.name) or 0)
    monkeypatch.setattr(bench_mm.procs, "call", lambda *words, **how: None)
    boots.ends = [0, 71]
    with pytest.raises(LabError, match="selftests"):
        bench_mm.main(["selftests", "frag"])
    assert [boot.kernel for boot, _ in boots] == ["mm-base", "mm", "stock", "mm-base", "mm"]
    assert tables == ["frag.txt"]


def test_mutations_are_left_out_where_the_table_says_so():
    program = mutations.load_program()
    table = program.load()["mutation"]
    of = {chip: {mutation["name"] for mutation in mutations.on_chip(program, table, chip)} for chip in ("rv670", "cedar")}
    assert of["cedar"] - of["rv670"] == {mutation["name"] for mutation in table if "rv670" in mutation.get("without", ())} != set()
    assert "fill-dwords" not in of["cedar"]


def test_a_mutation_that_no_test_sees_is_a_failure(boots, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(mutations, "OUT", tmp_path)
    monkeypatch.setattr(mutations, "build", lambda program, mutation: None)
    table = mutations.load_program().load()["mutation"]
    name, test = table[0]["name"], table[0]["test"]

    def results(verdict):
        def end(boot, _cmd, _stdout):
            (boot.logs / "results.json").write_text(json.dumps({"tests": {f"igt@{test}": {"result": verdict}}}))
            return 0
        return end

    boots.ends = [results("pass"), results("fail")]
    assert mutations.main([name]) == 0
    assert [boot.kernel for boot, _ in boots] == ["stock", "mutation"]
    assert all(f"^igt@{test}$" in cmd for _, cmd in boots)
    boots.ends = [results("pass"), results("pass")]
    assert mutations.main([name]) == 1
    assert f"{name}: {test} does not fail" in capsys.readouterr().out
    # The driver as it is has to pass.
    boots.ends = [results("fail"), results("fail")]
    assert mutations.main([name]) == 1
    assert "the driver as it is" in capsys.readouterr().out
    boots.ends = [71]
    with pytest.raises(LabError, match="left no results") as error:
        mutations.main([name])
    assert error.value.status == 2


def test_a_guest_that_dies_is_booted_again_for_the_rest(boots, monkeypatch, tmp_path, capsys):
    run = tmp_path / "run"
    run.mkdir()
    names = [f"spec@test {i}" for i in range(27)]
    (run / "profile.xml").write_text("<L>" + "".join(f'<Test name="{name}"/>' for name in names) + "</L>")
    monkeypatch.setattr(runs, "BUILD", tmp_path)

    def until(killer, status):
        """A guest that runs parts until one has the test `killer`."""
        def end(_boot, _cmd, stdout):
            for part in sorted((run / "parts").iterdir()):
                if (part / "out").exists():
                    continue
                (part / "begun").touch()
                tests = (part / "names").read_text().splitlines()
                if killer in tests:
                    stdout.write(b"dead\n")
                    return status
                (part / "out").mkdir()
                (part / "out/results.csv").write_text("".join(f"{t},Pass,0\n" for t in tests))
            return 0
        return end

    boots.ends = [until("spec@test 3", 71), until("spec@test 3", 71), until("", 0)]
    args = piglit.options(["--tests", "x", "--out", "y", "--chip", "rv710", "--strict", "--timeout", "10"])
    piglit.run_in_guests(args, run, len(names))
    assert len(boots) == 3 and boots[0][0].board == "--chip rv710 --strict" and boots[0][0].timeout == 870
    results = dict(line.split(",")[:2] for path in run.glob("parts/*/out/results.csv")
                   for line in path.read_text().splitlines())
    assert results == {name: "Crash" if name == "spec@test 3" else "Pass" for name in names}
    assert [p.name for p in sorted(run.glob("guest.*.status"))] == ["guest.1.status", "guest.2.status"]


def test_a_runner_that_cannot_run_is_not_tried_again(boots, monkeypatch, tmp_path):
    (tmp_path / "profile.xml").write_text('<L><Test name="a"/></L>')
    monkeypatch.setattr(runs, "BUILD", tmp_path)
    boots.ends = [3]
    piglit.run_in_guests(piglit.options(["--tests", "x", "--out", "y"]), tmp_path, 1)
    assert len(boots) == 1


def test_directories_of_killed_runs_are_removed_and_no_others(tmp_path):
    for name in (".run.dead", ".run.live", ".run.new", "native"):
        (tmp_path / name).mkdir()
    for name in (".run.dead", ".run.live", "native"):
        os.utime(tmp_path / name, (1, 1))
    live = os.open(tmp_path / ".run.live", os.O_RDONLY)
    fcntl.flock(live, fcntl.LOCK_SH)
    run_directory.remove_old(tmp_path)
    os.close(live)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".run.live", ".run.new", "native"]
