# SPDX-License-Identifier: MIT
"""nomap-report on machines that are directories: what it says and leaves in each case that can go wrong,
and that nothing personal is in its archive. Needs root, and namespaces for file systems that are full
or read-only."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

REPORT = Path(__file__).resolve().parent.parent / "nomap-report"
HARDWARE = REPORT.parent.parent / "docs/hardware.md"
sys.path.insert(0, str(REPORT.parent))

from nomap_report.steps import CHOICES  # noqa: E402

SLOT, OTHER = "0000:01:00.0", "0000:02:00.0"
#: What the machine of personal() has, and no report may.
PERSONAL = {
    "host name": "violets-tower", "user": "violetta", "full name": "Violetta Example", "home": "/home/violetta",
    "machine": "0f1e2d3c4b5a69788796a5b4c3d2e1f0", "board serial": "MB-77X1234567", "uuid": "4c4c4544-0042-3510-8052-b4c04f4a4e31",
    "disk serial": "S3Z9NB0K512345V", "mac": "de:ad:be:ef:12:34", "ip": "192.168.77.13", "ip6": "fe80::dcad:beff:feef:1234",
    "root": "8f3d1c2a-1111-2222-3333-444455556666", "monitor": "CN0ABC12X3",
}


class Machine:
    """A machine: a root directory, and programs for PATH."""

    def __init__(self, at: Path) -> None:
        self.root, self.bin, self.programs, self.out = at / "root", at / "bin", at / "programs", at / "out"
        for d in (self.root, self.bin, self.programs):
            d.mkdir(parents=True)
        self.set_env: dict[str, str] = {}
        self.write("/proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable: 4000000 kB")
        self.write("/proc/cpuinfo", "model name : Test CPU")
        self.script(self.bin / "dmesg", "cat <<'E'\n[    1.0] [drm] radeon kernel modesetting enabled.\nE")
        for name in ("live-bos", "transfer-paths"):
            self.script(self.programs / name, "echo measured")

    def write(self, path: str, text: str) -> None:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n", encoding="utf-8")

    def script(self, path: Path, text: str) -> None:
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)

    def card(self, slot: str = SLOT, vendor: str = "0x1002", device: str = "0x954f", driver: str = "radeon") -> Machine:
        base = f"/sys/bus/pci/devices/{slot}"
        for name, value in {"class": "0x030000", "vendor": vendor, "device": device, "subsystem_vendor": "0x174b", "subsystem_device": "0x1234",
                            "current_link_speed": "2.5 GT/s PCIe", "current_link_width": "16", "max_link_speed": "5.0 GT/s PCIe",
                            "max_link_width": "16"}.items():
            self.write(f"{base}/{name}", value)
        (self.root / f"sys/bus/pci/drivers/{driver}").mkdir(parents=True, exist_ok=True)
        (self.root / base.lstrip("/") / "driver").symlink_to(self.root / f"sys/bus/pci/drivers/{driver}")
        return self

    def command(self, *words: str, out: Path | None = None) -> list[str]:
        return [str(REPORT), *words, "--out", str(out or self.out)]

    @property
    def env(self) -> dict[str, str]:
        return {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "NOMAP_ROOT": str(self.root), "NOMAP_PROGRAMS": str(self.programs), "NOMAP_PREFIXES": str(self.root / "opt"),
                **self.set_env}

    def run(self, *words: str, status: int, out: Path | None = None, prefix: tuple[str, ...] = ()) -> str:
        done = subprocess.run([*prefix, *self.command(*words, out=out)], env=self.env, capture_output=True, text=True, check=False, timeout=120)
        said = done.stdout + done.stderr
        assert "Traceback" not in said, said
        assert done.returncode == status, said
        return said

    def archive(self) -> dict[str, str]:
        """The files of the archive. It belongs to root and nobody else."""
        with tarfile.open(self.out / "nomap-report.tar.xz") as tar:
            assert all(m.uname == "" and m.uid == 0 and m.mtime == 0 for m in tar)
            return {m.name.removeprefix("nomap-report/"): tar.extractfile(m).read().decode() for m in tar}  # type: ignore[union-attr]

    @property
    def report(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.archive()["report.json"])
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_safe_run(machine: Machine) -> None:
    said = machine.card().run("--safe", status=0)
    assert "RV710, in range" in said and "2 passed, 0 failed, 0 hung, 5 skipped" in said
    files = machine.archive()
    assert "measured" in files["logs/live-bos.log"]
    assert "2.5 GT/s PCIe x16 of 5.0 GT/s PCIe x16" in files["index.html"] and "igt-tests/run is not installed" in files["index.html"]


def test_failure_says_what_it_may_mean(machine: Machine) -> None:
    machine.card().script(machine.programs / "live-bos", "echo 'wrong bytes at 17 <b>'; exit 1")
    machine.run("--safe", status=1)
    page = machine.archive()["index.html"]
    assert "exit status 1: wrong bytes at 17 &lt;b&gt;" in page and "write-combined stores" in page


def test_fault_in_the_kernel_log(machine: Machine) -> None:
    machine.card().script(machine.bin / "dmesg", "echo '[ 9.0] WARNING: CPU: 0 PID: 7 at drivers/gpu/drm/radeon/radeon_ring.c:1'")
    assert "1 lines of faults in the kernel log" in machine.run("--safe", status=1)


def test_no_card(machine: Machine) -> None:
    assert "no graphics card, so there is nothing to test." in machine.run("--safe", status=3)
    assert "no graphics card" in str(machine.report["stopped"])


def test_card_out_of_range(machine: Machine) -> None:
    said = machine.card(device="0x67df", driver="amdgpu").run("--safe", status=3)
    assert "not an R600 to Cayman" in said
    assert machine.report["steps"] == {}


def test_wrong_driver(machine: Machine) -> None:
    assert "its driver is vfio-pci instead of radeon" in machine.card(driver="vfio-pci").run("--safe", status=3)


def test_two_cards(machine: Machine) -> None:
    said = machine.card().card(OTHER, device="0x9540").run("--safe", status=3)
    assert f"--card {SLOT} or --card {OTHER}" in said
    # The programs are told, too: they would take the first.
    machine.script(machine.programs / "live-bos", 'echo "on $NOMAP_CARD, $IGT_DEVICE"')
    assert f"Testing {OTHER}" in machine.run("--safe", "--card", "02:00.0", status=0)
    assert f"on {OTHER}, pci:slot={OTHER}" in machine.archive()["logs/live-bos.log"]


def test_a_card_of_another_make_beside_it(machine: Machine) -> None:
    assert f"Testing {SLOT}" in machine.card().card("0000:00:02.0", "0x8086", "0x1912", "i915").run("--safe", status=0)
    assert "not an R600 to Cayman" in machine.run("--safe", "--card", "0000:00:02.0", status=3)


def test_too_little_memory(machine: Machine) -> None:
    machine.card().write("/proc/meminfo", "MemTotal: 262144 kB\nMemAvailable: 102400 kB")
    assert "Only 100 MiB of memory are available" in machine.run("--safe", status=3)
    assert "Only 100 MiB" in str(machine.report["stopped"])


def in_tmpfs(options: str) -> tuple[str, ...]:
    return ("unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o {options} tmpfs "$0" && exec "$@"')


def test_full_disk(machine: Machine, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    said = machine.card().run("--safe", status=3, out=stick, prefix=(*in_tmpfs("size=4m"), str(stick)))
    assert f"{stick}, is full" in said and said.count("\n") == 1


def test_disk_that_becomes_full(machine: Machine, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    machine.card().script(machine.programs / "live-bos", f"dd if=/dev/zero of={stick}/filler bs=1M 2>/dev/null; echo x; exit 0")
    said = machine.run("--safe", status=3, out=stick, prefix=(*in_tmpfs("size=60m"), str(stick)))
    assert "is full: name another one" in said


def test_read_only_disk(machine: Machine, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    said = machine.card().run("--safe", status=3, out=stick, prefix=(*in_tmpfs("ro"), str(stick)))
    assert f"{stick}, is read-only" in said and said.count("\n") == 1


def test_differences_from_the_board(machine: Machine) -> None:
    """Times beside the board's, what the card has otherwise, and subtests that did not pass, which the board passes."""
    recorded = json.loads((REPORT.parent.parent / "docs/results/live-bos.json").read_text(encoding="utf-8"))
    row = dict(next(r for r in recorded["rows"] if not r["error"]))
    upload = row["upload_ns"]
    row["upload_ns"] = 3 * upload
    here = {"environment": dict(recorded["environment"], vram_mib=512), "rows": [row, dict(row, arm="other"), dict(row, error="no", live=1)]}
    source = machine.out.parent / "here.json"
    source.write_text(json.dumps(here), encoding="utf-8")
    machine.card().script(machine.programs / "live-bos", f'cp {source} "$7"')
    results = machine.out / "igt-basic" / "results.json"
    results.parent.mkdir(parents=True)
    results.write_text(json.dumps({"tests": {"igt@radeon_gem_pread@basic": {"result": "pass"}, "igt@radeon_gem_pread@huge": {"result": "fail"}}}))
    machine.run("--safe", status=0)
    board = machine.report["board"]
    assert [r[-1] for r in board["timings"]] == ["1.00", "3.00", "1.00"], board  # type: ignore[index]
    assert board["card"] == [["vram_mib", "512", str(recorded["environment"]["vram_mib"])]]  # type: ignore[index]
    assert board["subtests"] == [["igt-basic", "radeon_gem_pread@huge", "fail"]]  # type: ignore[index]
    page = machine.archive()["index.html"]
    assert "<td>VRAM, MiB</td><td>512</td>" in page
    assert "<td>radeon_gem_pread@huge</td><td>fail</td>" in page and f"<td>{3 * upload / 1000:.1f}</td><td>{upload / 1000:.1f}</td><td>3.00</td>" in page


def test_counters(machine: Machine) -> None:
    """The driver's counters are in the report once for each card, whatever nodes debugfs has them for."""
    machine.card()
    debug = "/sys/kernel/debug/dri"
    for node in ("0", "128"):
        machine.write(f"{debug}/{node}/radeon_gem_rw", "cpu 3 4096\nstall 7")
    machine.run("--safe", status=0)
    assert machine.report["facts"]["counters"] == {"0": {"cpu": "3 4096", "stall": "7"}}  # type: ignore[index]
    machine.write(f"{debug}/{SLOT}/radeon_gem_rw", "cpu 3 4096\nstall 8")
    machine.run("--safe", "--again", status=0)
    assert machine.report["facts"]["counters"] == {SLOT: {"cpu": "3 4096", "stall": "8"}}  # type: ignore[index]
    assert machine.archive()["index.html"].count("3 4096") == 1


def test_debians_stack_beside_nomaps(machine: Machine, tmp_path: Path) -> None:
    """What the live image's two boot entries have measured of one card is compared, and nothing of another card."""
    row = {"arm": "mmap", "domain": "vram", "requested": 100, "upload_ns": 8000, "error": None}
    source = tmp_path / "here.json"
    maps = {"environment": {"domain": "gtt"}, "rows": [{"name": "map", "bos": 1, "median": 500}]}
    ratios = {"nomap": ["8.0", "2.0", "0.25"], "nomap-0000-02-00.0": ["1.0", "2.0", "2.00"]}
    for name, nanoseconds in (("debian", 8000), ("debian-0000-02-00.0", 1000), ("nomap-0000-02-00.0", 2000), ("nomap", 2000)):
        source.write_text(json.dumps({"rows": [dict(row, upload_ns=nanoseconds), dict(row, arm="pwrite", error="unsupported" if name.startswith("debian") else None)]}),
                          encoding="utf-8")
        machine.script(machine.programs / "live-bos", f'while [ "$1" != --json ]; do shift; done; cp {source} "$2"')
        machine.out = tmp_path / name
        if machine.out.name == "debian":
            machine.card()
        machine.run("--safe", status=0)
        (machine.out / "libdrm-maps.json").write_text(json.dumps(maps), encoding="utf-8")
        assert machine.report["stacks"] == ([["upload", "mmap", "vram", "100", *ratios[name]]] if name in ratios else []), name
    assert "<td>8.0</td><td>2.0</td><td>0.25</td>" in machine.archive()["index.html"]
    machine.run("--safe", "--again", status=0)
    assert ["map and unmap", "libdrm, map", "gtt", "1", "0.5", "0.5", "1.00"] in machine.report["stacks"]  # type: ignore[operator]


def test_each_step_has_its_program_right() -> None:
    """No step gives a program words that it does not know: the programs name their options in their sources or --help."""
    sources = REPORT.parent.parent / "bench"
    looked = 0
    for choice in CHOICES.values():
        for step in choice.steps:
            source = sources / step.words[0] / f"{step.words[0]}.c"
            if not source.exists():
                continue
            looked += 1
            text = source.read_text(encoding="utf-8")
            for word in step.words[1:]:
                if word.startswith("--"):
                    assert f'"{word[2:]}"' in text or word in text, f"{step.name}: {step.words[0]} has no {word}"
    assert looked >= 6


def piglit_set(machine: Machine, tests: list[dict[str, object]]) -> None:
    """Piglit's tests as the live image has them: "pass" is a program that passes, and so on."""
    directory = machine.programs / "piglit"
    (directory / "bin").mkdir(parents=True)
    for word in ("pass", "fail", "skip"):
        machine.script(directory / "bin" / word, f"""[ "$*" = "-auto -fbo" ] || exit 9
            echo 'PIGLIT: {{"result": "{word}" }}'""")
    machine.script(directory / "bin/crash", "echo 'PIGLIT: {\"result\": \"pass\" }'; kill -SEGV $$")
    (directory / "tests.json").write_text(json.dumps([{"command": [t["name"], "-auto", "-fbo"], **t} for t in tests]), encoding="utf-8")
    (machine.programs / "piglit-set").symlink_to(REPORT.parent / "piglit-set")
    machine.set_env["PIGLIT_SET"] = str(directory)


def test_piglit(machine: Machine) -> None:
    """A test fails the step if it passes on a real RV770; one that fails there, too, does not."""
    machine.card()
    piglit_set(machine, [{"name": "pass", "rv770": "pass"}, {"name": "skip", "rv770": "pass"}, {"name": "fail", "rv770": "fail"}])
    assert "1 passed, 0 failed" in machine.run("--piglit", status=0)
    files = machine.archive()
    assert "3 tests: 1 fail, 1 pass, 1 skip; none is worse than on a real RV770" in files["logs/piglit-set.log"]
    assert machine.report["piglit"] == [["fail", "fail", "fail"]] and "<td>fail</td><td>fail</td><td>fail</td>" in files["index.html"]


@pytest.mark.parametrize("name", ["fail", "crash"])
def test_piglit_fails(machine: Machine, name: str) -> None:
    machine.card()
    piglit_set(machine, [{"name": "pass", "rv770": "pass"}, {"name": name, "rv770": "pass"}])
    machine.run("--piglit", status=1)
    assert f"worse than on a real RV770: {name}" in machine.archive()["index.html"]


def test_piglit_hang(machine: Machine) -> None:
    """The test that the machine stopped in is in the report."""
    machine.card()
    piglit_set(machine, [{"name": "pass", "rv770": "pass"}, {"name": "stop", "rv770": "pass"}])
    machine.script(machine.programs / "piglit/bin/stop", f"kill -9 $(cat {machine.root}/pid); kill -9 $PPID")
    process = subprocess.Popen(machine.command("--piglit"), env=machine.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    (machine.root / "pid").write_text(str(process.pid))
    assert process.wait(60) == -signal.SIGKILL
    assert "1 hung" in machine.run("--piglit", status=1)
    assert machine.report["piglit"] == [["stop", "hang", "pass"]]


def test_piglit_is_not_there(machine: Machine) -> None:
    machine.card()
    (machine.programs / "piglit-set").symlink_to(REPORT.parent / "piglit-set")
    machine.set_env["PIGLIT_SET"] = str(machine.programs / "piglit")
    assert "0 failed, 0 hung, 1 skipped" in machine.run("--piglit", status=0)
    assert "they are on the live image" in machine.archive()["index.html"]


def test_igt_in_a_prefix(machine: Machine) -> None:
    """igt_runner can lie in a prefix below /opt, as on the live image."""
    for path in (machine.programs / "igt-tests/run", machine.root / "opt/sid/usr/bin/igt_runner"):
        path.parent.mkdir(parents=True)
        machine.script(path, "echo igt ran")
    # These test nomap's module: Debian's has nothing of it, which is no failure.
    assert "2 passed, 0 failed, 0 hung, 5 skipped" in machine.card().run("--safe", status=0)
    assert "nomap&#x27;s kernel module, which is not loaded" in machine.archive()["index.html"]
    machine.write("/sys/module/radeon/parameters/gem_rw_stage_size", "1")
    assert "7 passed, 0 failed, 0 hung, 0 skipped" in machine.run("--safe", "--again", status=0)
    assert "igt ran" in machine.archive()["logs/igt-order.log"]


@pytest.mark.skipif(not HARDWARE.exists(), reason="the package's source has no documents")
def test_questions_have_steps() -> None:
    """Each question in docs/hardware.md that only a card can answer has steps in the safe or the full set, and these tests exist."""
    text = HARDWARE.read_text(encoding="utf-8").split("## What only hardware can tell")[1].split("\n\n")[1]
    rows = [line.split("|")[1:4] for line in text.splitlines()[2:]]
    assert len(rows) >= 5
    programs = [path.stem for path in HARDWARE.parent.parent.glob("igt-tests/tests/*.c")]
    steps = {step.name: step for step in (*CHOICES["safe"].steps, *CHOICES["full"].steps)}
    for question, names, means in rows:
        assert re.findall(r"`([a-z-]+)`", names), question
        assert means.strip(), question
        for name in re.findall(r"`([a-z-]+)`", names):
            assert name in steps, f"{question.strip()}: there is no step {name}"
            words = steps[name].words
            patterns = [word for option, word in itertools.pairwise(words) if option == "-t"]
            assert bool(patterns) == (steps[name].needs == "igt_runner")
            for pattern in patterns:
                assert any(re.fullmatch(pattern.split("@")[0], program) for program in programs), pattern


def test_no_recording_of_the_board(machine: Machine) -> None:
    machine.card().run("--safe", status=0)
    assert machine.report["board"] == {"card": [], "timings": [], "subtests": []}
    assert "None was found." in machine.archive()["index.html"]


def menu(machine: Machine, *answers: str, out: Path | None = None, prefix: tuple[str, ...] = ()) -> str:
    """What the first screen says, given these answers; the last has the machine turned off."""
    machine.script(machine.bin / "systemctl", f'echo "$@" >>{machine.root}/systemctl')
    done = subprocess.run([*prefix, *machine.command("--menu", out=out)], env=machine.env, input="".join(f"{a}\n" for a in answers),
                          capture_output=True, text=True, check=False, timeout=120)
    said = done.stdout + done.stderr
    assert "Traceback" not in said and done.returncode == 0, said
    assert max(map(len, done.stdout.splitlines())) <= 200
    return said


def test_menu(machine: Machine) -> None:
    said = menu(machine.card(), "7", "1", "", "q")
    first = said.split("There is no choice '7'.")[0]
    assert "RV710, in range" in first and "Debian's own driver and libraries are active." in first
    assert "no data partition" in first and "So far" not in first
    # The screen has room on 80 columns by 25 lines.
    lines = first.split("Your choice:")[0].splitlines()
    assert max(map(len, lines)) < 80 and len(lines) < 25, first
    assert "2 passed, 0 failed, 0 hung, 5 skipped" in said and "So far 7 of 7 steps have ended, 0 of them badly." in said.replace("\n   ", " ")
    assert (machine.root / "systemctl").read_text() == "poweroff\n"
    # What has ended is run again if it is chosen again, and nothing else is forgotten.
    machine.script(machine.programs / "live-bos", "exit 1")
    menu(machine, "1", "", "2", "", "q")
    steps = machine.report["steps"]
    assert steps["live-bos"]["status"] == "fail" and steps["libdrm-maps"]["status"] == "skip"  # type: ignore[index]


def test_menu_without_a_card(machine: Machine) -> None:
    said = menu(machine, "1", "", "q")
    assert said.count("This machine has no graphics card, so there is nothing to test.") >= 3
    assert "no graphics card" in str(machine.report["stopped"])


def test_menu_after_a_hang(machine: Machine) -> None:
    machine.card().out.mkdir()
    (machine.out / "state.json").write_text(json.dumps({"choice": "safe", "running": "live-bos", "done": {}}), encoding="utf-8")
    said = menu(machine, "1", "", "q")
    assert "The last run of 'safe' did not end its step 'live-bos'." in said.split("Your choice")[0]
    assert "1 passed, 0 failed, 1 hung, 5 skipped" in said


def test_menu_with_a_data_partition(machine: Machine, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    machine.card()
    for options, words in (("ro", "is read-only, so nothing can be tested"), ("size=60m", "data partition (60 MiB free)"), ("size=1m", "(1 MiB free)")):
        said = menu(machine, "1", "", "q", out=stick / "nomap", prefix=(*in_tmpfs(options), str(stick)))
        assert words in said.replace("\n", " "), said
        assert {"ro": f"{stick}/nomap, is read-only", "size=1m": f"{stick}/nomap, is full"}.get(options, "2 passed") in said


def test_menu_with_two_cards(machine: Machine) -> None:
    """The first card is tested unless c is typed; what has come of each is in a directory of its own, with a name that FAT takes."""
    said = menu(machine.card().card(OTHER, device="0x9540"), "1", "", "c", "1", "", "c", "q").replace("\n", " ")
    screens = said.split("Your choice:")
    assert f"Card: {SLOT}" in screens[0] and "There is 1 other in range: c takes the next one." in screens[0]
    assert f"Testing {SLOT}" in screens[1] and f"Card: {SLOT}" in screens[1]
    other = machine.out.with_name("out-0000-02-00.0")
    assert f"Card: {OTHER}" in screens[2] and "So far" not in screens[2]
    assert f"Testing {OTHER}" in screens[3] and f"The report to send is {other}/nomap-report.tar.xz." in screens[3]
    assert f"Card: {SLOT}" in screens[4] and "So far 7 of 7 steps have ended" in screens[4].replace("   ", "")
    assert machine.report["facts"]["card"]["slot"] == SLOT  # type: ignore[index]
    machine.out = other
    assert machine.report["facts"]["card"]["slot"] == OTHER  # type: ignore[index]
    assert "There is no choice 'c'" not in said and "There is no choice 'c'" in menu(Machine(other / "one").card(), "c", "q")


def test_two_at_a_time(machine: Machine) -> None:
    machine.card().script(machine.programs / "live-bos", "sleep 20")
    with subprocess.Popen(machine.command("--safe"), env=machine.env, stdout=subprocess.PIPE, start_new_session=True) as first:
        try:
            assert first.stdout is not None
            first.stdout.readline()
            first.stdout.readline()
            assert f"Another nomap-report runs with {machine.out}" in machine.run("--safe", status=3)
        finally:
            os.killpg(first.pid, signal.SIGKILL)


def test_no_network(machine: Machine) -> None:
    machine.card().run("--safe", status=0, prefix=("unshare", "--net"))


def test_hang_in_the_middle(machine: Machine) -> None:
    machine.card().script(machine.programs / "transfer-paths", "exec sleep 1000")
    child = subprocess.Popen(machine.command("--safe"), env=machine.env, stdout=subprocess.DEVNULL, start_new_session=True)
    state = machine.out / "state.json"
    for _ in range(200):
        if state.exists() and json.loads(state.read_text())["running"] == "transfer-paths":
            break
        time.sleep(0.05)
    else:
        pytest.fail("the step was not on the disk before it ran")
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    machine.script(machine.programs / "live-bos", "echo 'ran twice'; exit 1")
    said = machine.run("--safe", status=1)
    assert "did not end 'transfer-paths': it counts as a hang" in said
    assert "1 passed, 0 failed, 1 hung, 5 skipped" in said and "live-bos: pass, in an earlier run" in said
    # What was run is run again only if that is asked for.
    machine.script(machine.programs / "transfer-paths", "echo well")
    assert "1 passed, 1 failed, 0 hung" in machine.run("--safe", "--again", status=1)


def test_state_that_cannot_be_read(machine: Machine) -> None:
    machine.card().out.mkdir()
    (machine.out / "state.json").write_text("{", encoding="utf-8")
    assert "everything is run again" in machine.run("--safe", status=0)


def personal(machine: Machine) -> None:
    """Plants what is personal where programs and kernels show it."""
    p = PERSONAL
    machine.card()
    machine.write("/proc/sys/kernel/hostname", p["host name"])
    machine.write("/etc/hostname", p["host name"])
    machine.write("/etc/passwd", f"root:x:0:0:root:/root:/bin/bash\n{p['user']}:x:1000:1000:{p['full name']},,,:{p['home']}:/bin/bash")
    machine.write("/etc/machine-id", p["machine"])
    machine.write("/sys/class/dmi/id/board_serial", p["board serial"])
    machine.write("/sys/class/dmi/id/product_uuid", p["uuid"])
    machine.write("/sys/block/sda/device/serial", p["disk serial"])
    machine.write("/sys/class/net/eth0/address", p["mac"])
    log = [f"[    0.0] Linux version 6.12 ({p['user']}@{p['host name']}) radeon root=UUID={p['root']}",
           f"[    1.0] radeon 0000:01:00.0: board {p['board serial']} of {p['full name']}", f"[    2.0] [drm] nfs at {p['ip']}, {p['ip6']}/64",
           f"[    3.0] [drm] eth0 {p['mac'].upper()} disk {p['disk serial']} id {p['machine']}", f"[    4.0] [drm] monitor serial number: {p['monitor']}",
           f"[    5.0] WARNING: radeon in {p['home']}/src uuid {p['uuid'].upper()}"]
    machine.script(machine.bin / "dmesg", "cat <<'E'\n" + "\n".join(log) + "\nE")
    machine.script(machine.programs / "live-bos", f"echo 'run by {p['user']} on {p['host name']}.lan'; echo '{{\"host\": \"{p['host name']}\"}}' >" + ' "$7"')


def test_nothing_personal(machine: Machine) -> None:
    personal(machine)
    machine.run("--safe", status=1)
    files = machine.archive()
    # The lines in which it was are there, and so is what tells of the hardware.
    assert "logs/live-bos.json" in files and "run by [USER] on [HOST].lan" in files["logs/live-bos.log"]
    assert "radeon 0000:01:00.0: board [SERIAL]" in files["index.html"] and "monitor serial[SERIAL]" in files["index.html"]
    assert len(machine.report["facts"]["kernel_log"]) == 6  # type: ignore[index]
    for name, text in files.items():
        for what, word in PERSONAL.items():
            assert word.lower() not in text.lower(), f"the {what} is in {name}"


def test_choices_are_explained(machine: Machine) -> None:
    machine.card()
    done = subprocess.run([str(REPORT)], env=machine.env, capture_output=True, text=True, check=True)
    for words in ("RV710, in range", "--safe", "goes black", "About 16 minutes", "goes on behind what hung"):
        assert words in done.stdout


def test_status_says_what_was_replaced(machine: Machine) -> None:
    machine.card().write("/sys/module/radeon/parameters/gem_rw_stage_size", "1")
    machine.script(machine.bin / "dpkg-query", "echo 'installed radeon-nomap-dkms 0.3.0-1'; echo 'installed libdrm-radeon1:amd64 2.4.124-3'; "
                   "echo 'installed mesa-nomap:amd64 25.0.7-2+0nomap.0.3.0'")
    machine.script(machine.bin / "sh", 'echo "Debian\'s Mesa is no longer 25.0.7-2"')
    machine.bin.joinpath("sh").chmod(0o755)
    done = subprocess.run(["/usr/bin/python3", str(REPORT), "--status"], env=machine.env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "kernel module: active: radeon-nomap-dkms 0.3.0-1"
    assert lines[1].startswith("libdrm: NOT active: Debian's 2.4.124-3 is installed, it replaced ours")
    assert lines[2] == "Mesa: NOT active: mesa-nomap 25.0.7-2+0nomap.0.3.0: Debian's Mesa is no longer 25.0.7-2"


def test_status_says_which_libdrm_is_used(machine: Machine) -> None:
    """A directory that comes before the package's has another libdrm_radeon, as in the live image's entry with Debian's own."""
    machine.script(machine.bin / "dpkg-query", "echo 'installed libdrm-radeon1:amd64 2.4.124-2+0nomap.0.3.0'")
    for path, active in (("/usr/lib/nomap-live/debian/libdrm_radeon.so.1", False), ("/usr/local/lib/libdrm_radeon.so.1", False),
                         ("/lib/x86_64-linux-gnu/libdrm_radeon.so.1", True), ("/usr/lib/i386-linux-gnu/libdrm_radeon.so.1", True)):
        machine.script(machine.bin / "ldconfig", f"echo '	libdrm.so.2 (libc6,x86-64) => /lib/libdrm.so.2'; echo '	libdrm_radeon.so.1 (libc6,x86-64) => {path}'; "
                       "echo '	libdrm_radeon.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libdrm_radeon.so.1'")
        done = subprocess.run([str(REPORT), "--status"], env=machine.env, capture_output=True, text=True, check=False)
        line = next(line for line in done.stdout.splitlines() if line.startswith("libdrm: "))
        assert line == ("libdrm: active: libdrm-radeon1 2.4.124-2+0nomap.0.3.0" if active else
                        f"libdrm: NOT active: programs use {path} instead of libdrm-radeon1 2.4.124-2+0nomap.0.3.0")
