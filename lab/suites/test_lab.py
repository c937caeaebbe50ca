# SPDX-License-Identifier: MIT
"""The lab keeps its promises: exit statuses, kernel reports, nothing left behind, and results that are
counted right."""

import hashlib
import json
import os
import re
import shlex
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from nomap_lab import bad_inputs
from nomap_lab.bad_inputs import BAD_INPUTS
from nomap_lab.deqp import source
from nomap_lab.outside import copy_of_repository, outside, outside_path
from nomap_lab.paths import BUILD, HOST_ROOT_FD, TOP, LabError
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=30,
                   finds="wrong exit statuses, missed kernel reports, processes and files left behind, lost patches")

PLAIN = ("--board", "none", "--module", "stock", "--no-radeon", "--")


@case("lab/programs", runner="pytest")
def programs(lab: Lab) -> None:
    lab.pytest(*sorted((TOP / "lab/tests").glob("*_test.py")))


@case("lab/cache", runner="pytest")
def cache(lab: Lab) -> None:
    lab.pytest("lab/tests/test_cache.py")


@case("lab/graph", runner="pytest")
def graph(lab: Lab) -> None:
    lab.pytest("lab/tests/test_graph.py")


@case("lab/check", runner="pytest")
def check(lab: Lab) -> None:
    lab.pytest("lab/tests/test_check.py")


# What runs in a guest, in a package's installation, or as another script's second half.
NO_SCRIPTS = re.compile("lab/guest/|lab/enter$|lab/roots/(enter|dev|sid-prefix)$|packaging/.*/debian/|"
                        "packaging/tests/deb-|.*/tests/.*session$")


def state(top: Path) -> dict[str, tuple[int, str]]:
    """All files below a directory, but for build/, with modes and contents."""
    found = {}
    for path in sorted(p for p in top.rglob("*") if not p.is_relative_to(top / "build")):
        content = os.readlink(path) if path.is_symlink() else "directory"
        if path.is_file() and not path.is_symlink():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path.relative_to(top))] = (path.lstat().st_mode, content)
    return found


@case("lab/usage")
def usage(lab: Lab) -> None:
    """Every script of the repository does nothing for an argument that it does not know.

    Run in a copy of the repository, without network, it fails and leaves all as it was. Those of the lab end
    with status 2, and show their usage for --help.
    """
    modes = lab.call("git", "-c", "safe.directory=*", "ls-files", "-s").splitlines()
    with copy_of_repository("usage") as copy:
        def call(script: str, arg: str) -> tuple[int, str]:
            cmd = ["timeout", "-k", "5", "60", "unshare", "--net", f"./{script}", arg]
            done = lab.status(outside(cmd, cwd=copy, PYTHONDONTWRITEBYTECODE="1"))
            return done.status, done.out + done.err

        scripts = [path for mode, _id, _n, path in (line.split(maxsplit=3) for line in modes)
                   if mode in ("100755", "120000") and not NO_SCRIPTS.match(path)
                   and re.match(r"#!.*(sh|python3)$", (copy / path).read_text(errors="replace").split("\n")[0])]
        wrong, before = [], state(copy)
        for path in scripts:
            status, said = call(path, "--no-such-option")
            if status == 0:
                wrong.append(f"{path} ends with 0 for --no-such-option: {said[:200]}")
            if re.match("lab/(?!roots/)", path):
                if status != 2:
                    wrong.append(f"{path} ends with {status} for --no-such-option: {said[:200]}")
                status, help_text = call(path, "--help")
                if not re.match("lab/(internal|tests|kernels)/", path) and status:
                    wrong.append(f"{path} ends with {status} for --help")
                if "usage" not in (said + help_text).lower():
                    wrong.append(f"{path} does not tell its usage")
            after = state(copy)
            if after != before:
                wrong.append(f"{path} did something: {sorted(dict(set(after.items()) ^ set(before.items())))[:3]}")
                before = after
    assert len(scripts) >= 40 and not wrong, "\n".join(wrong)


@case("lab/distclean")
def distclean(lab: Lab) -> None:
    """What lab/distclean removes, and what it must not: nothing without nomap's marker, nothing but its own
    with it, nothing for an unknown argument or unasked. And that no other directory is taken for a cache."""
    cache = lab.dir("distclean") / "cache"
    there = str(outside_path(cache))

    def names() -> list[str]:
        return sorted(str(p.relative_to(cache)) for p in cache.rglob("*"))

    def run(*cmd: str) -> tuple[int, str]:
        done = lab.status(outside(cmd, NOMAP_CACHE=there))
        return done.status, done.out + done.err

    def use() -> tuple[int, str]:
        return run("bash", "-euc", "top=$PWD; . lab/roots/lib.sh; use_cache")

    for d in ("images", "roots"):
        (cache / d).mkdir(parents=True)
    (cache / "images/holiday.jpg").touch()
    for arg, status in (("--yes", 1), ("--help", 0), ("--no-such-option", 2)):
        assert run("lab/distclean", arg)[0] == status
        assert names() == ["images", "images/holiday.jpg", "roots"], f"{arg} removed from a directory without a marker"
    # A cache of ours is marked when it is used, and an older one, without the marker, adopted.
    assert use()[0] == 0 and (cache / ".nomap-cache").exists()
    (cache / "artifacts").mkdir()
    for f in ("guest.lock", "guest.lock.0", "mine"):
        (cache / f).touch()
    for arg, status, word in (("--help", 0, "usage"), ("", 1, "--yes")):
        got, said = run("lab/distclean", *arg.split())
        assert got == status and word in said and (cache / "artifacts").is_dir(), said
    assert run("lab/distclean", "--yes")[0] == 0 and names() == ["mine"]
    status, said = use()
    assert status == 1 and "is not a cache of nomap, 'mine'" in said, "somebody's directory is taken for a cache"
    assert names() == ["mine"], "somebody's directory was written to"
    (cache / "mine").unlink()
    assert use()[0] == 0 and run("lab/distclean", "--yes")[0] == 0
    assert not cache.exists(), "an empty cache is left behind"


def tree_keeps_its_promises(lab: Lab, name: str) -> None:
    """lab/tree NAME and --save in a copy of the repository: a round trip changes no patch, an edit of a commit
    appears in exactly its patch, a new commit is a new patch, and work is not lost."""
    git_env = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
               "GIT_CONFIG_VALUE_0": "*",
               **{f"GIT_{who}": "tester@localhost" for who in ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME",
                                                                "COMMITTER_EMAIL")}}
    with copy_of_repository(f"tree-{name}") as copy:
        for d in ("libdrm-source", "mesa-source"):
            if (BUILD / d).is_dir():
                shutil.copytree(BUILD / d, copy / "build" / d)
        tree = copy / "build/trees" / name

        def words(cmd: str, cwd: Path = copy, status: int = 0) -> str:
            done = lab.status(shlex.split(cmd), cwd=cwd, env=git_env)
            assert (done.status != 0) == (status != 0), cmd
            return done.out if status == 0 else done.err

        def changes() -> list[str]:
            return [line[3:] for line in words("git status --porcelain").splitlines()]

        words("git init -q .")
        words("git add -Af . ':!build'")
        words("git commit -qm repository")
        words(f"lab/tree {name}")
        assert int(words("git rev-list --count base..HEAD", tree)) >= 2
        words(f"lab/tree --save {name}")
        assert changes() == [], "a round trip changes patches"

        # The first commit gets another line; those after it stay as they are.
        files = words("git show --format= --name-only base..HEAD", tree).split()
        file = next(f for f in sorted(set(files)) if files.count(f) == 1
                    and len(words(f"git log --format=%s --reverse -- {f}", tree).splitlines()) <= 2)
        commit = words(f"git log -1 --format=%H -- {file}", tree).strip()
        patch = words(f"git notes show {commit}", tree).strip()
        added = re.findall(r"(?m)^\+([^+\n].*[a-z].*)$", words(f"git show --format= {commit} -- {file}", tree))
        assert added, f"{patch} adds no line to {file}"
        words(f"git checkout -q {commit}", tree)
        lines = (tree / file).read_text(encoding="utf-8").split("\n")
        at = next(i for i, line in enumerate(lines) if line.startswith(added[0]))
        lines[at] += " edited"
        (tree / file).write_text("\n".join(lines), encoding="utf-8")
        words(f"git commit -q --amend --no-edit -- {file}", tree)
        words(f"git rebase -q --onto HEAD {commit} nomap", tree)
        # Not yet saved: neither unpacked over, nor saved with something uncommitted.
        words(f"lab/tree --again {name}", status=1)
        with open(tree / file, "a", encoding="utf-8") as f:
            f.write("x\n")
        words(f"lab/tree --save {name}", status=1)
        words(f"git checkout -q -- {file}", tree)
        words(f"lab/tree --save {name}")
        root = words(f"git ls-files '*/{patch}'").strip()
        assert changes() == [root], "the edit changes other patches"
        edits = [line for line in words("git diff -U0").splitlines() if re.match(r"[-+](?!--|\+\+|index )", line)]
        assert len(edits) == 2, edits
        words("git commit -qam edited")

        # A commit at the end is a patch more, and nothing else.
        last = words("git show --format= --name-only HEAD", tree).split()[0]
        with open(tree / last, "a", encoding="utf-8") as f:
            f.write("\n")
        words("git commit -qam 'test: a commit of a test'", tree)
        words(f"lab/tree --save {name}")
        assert any(c.endswith("-test-a-commit-of-a-test.patch") for c in changes())
        words("git add -A .")
        words("git commit -qm added")

        # Patches that came from elsewhere meanwhile are not overwritten.
        with open(copy / root, "a", encoding="utf-8") as f:
            f.write("# a note\n")
        assert "unpack it again" in words(f"lab/tree --save {name}", status=1)


@case("lab/tree-{source}", source=["libdrm", "kernel"])
def tree(lab: Lab, source: str) -> None:
    lab.build("libdrm-source")
    tree_keeps_its_promises(lab, source)


@case("lab/tree-mm", tier="all")
def tree_mm(lab: Lab) -> None:
    tree_keeps_its_promises(lab, "mm")


@case("lab/slots", runner="pytest")
def slots(lab: Lab) -> None:
    lab.pytest("lab/tests/test_slots.py")


@case("lab/bad-options")
def bad_options(lab: Lab) -> None:
    for options in ("--no-such-option -- true", "--timeout soon -- true", "--insmod build/no-such-module.ko -- true",
                    "--insmod Makefile -- true", ""):
        lab.lab("run", *options.split(), status=2)
    lab.lab("run", "--kernel", "no-such-kernel", "--", "true", status=1)


@case("lab/output-and-status")
def output(lab: Lab) -> None:
    done = lab.lab("run", *PLAIN, "sh", "-c", 'echo "a  b"; echo e >&2')
    # A message before it may say that the run waited for another guest.
    assert (done.out, done.err.splitlines()[-1]) == ("a  b\n", "e")
    lab.lab("run", *PLAIN, "bash", "-c", "exit 3", status=3)


@case("lab/big-output")
def big_output(lab: Lab) -> None:
    assert lab.lab("run", *PLAIN, "seq", "1", "300000").out == "".join(f"{i}\n" for i in range(1, 300001))


@case("lab/share")
def share_directory(lab: Lab) -> None:
    """A directory of the machine, outside of the repository: not the build root's of the same name."""
    machine = f"/proc/1/fd/{HOST_ROOT_FD}"
    with tempfile.TemporaryDirectory(dir=f"{machine}/tmp") as d:
        Path(d, "a").write_text("in\n", encoding="ascii")
        share = d.removeprefix(machine)
        assert lab.lab("run", "--share", share, *PLAIN, "sh", "-c", "cat /share/a && echo out >/share/b").out == "in\n"
        assert Path(d, "b").read_text(encoding="ascii") == "out\n"


@case("lab/insmod-before-radeon")
def insmod(lab: Lab) -> None:
    """--insmod loads a module before radeon."""
    lab.build("dma32")
    out = lab.run("sh", "-c", r"""
        dmesg | grep -oE "^[^a-z]*(dma32|\[drm\] radeon kernel modesetting)" | sed "s/.*\] *//" | uniq
        lsmod | grep -c "^dma32 " """, module="stock", insmod=["build/dma32/dma32.ko"])
    assert out == "dma32\nradeon kernel modesetting\n1\n"


@case("lab/mesa-is-the-one-asked-for")
def mesa(lab: Lab) -> None:
    """A guest has the patched Mesa if it is built, unless the unmodified one is asked for."""
    built = (BUILD / "mesa/patched/lib").exists()

    def has(**boot: Any) -> str:
        return lab.run("sh", "-c", "grep -c libgallium /proc/mounts; true", module="stock", **boot).strip()

    assert has() == str(int(built)) and has(mesa="unmodified") == "0" and has(board="none", radeon=False) == "0"


@case("lab/time-out-is-124")
def time_out(lab: Lab) -> None:
    lab.lab("run", "--timeout", "8", *PLAIN, "sleep", "100", status=124)


@case("lab/kernel-panic-is-70")
def kernel_panic(lab: Lab) -> None:
    done = lab.lab("run", *PLAIN, "sh", "-c", "echo c >/proc/sysrq-trigger", status=70)
    assert "Kernel panic" in done.err


@case("lab/dead-guest-is-71")
def dead_guest(lab: Lab) -> None:
    done = lab.lab("run", *PLAIN, "sh", "-c", "echo o >/proc/sysrq-trigger; sleep 60", status=71)
    assert "last lines of" in done.err


@case("lab/dead-board-is-71")
def dead_board(lab: Lab) -> None:
    done = lab.lab("run", "--board", "--no-such-option", "--", "true", status=71)
    assert "the board died" in done.err and "no-such-option" in done.err


@case("lab/interrupted-leaves-nothing", runner="pytest")
def interrupted(lab: Lab) -> None:
    lab.build("image", "boot", "board", "piglit")
    tests = ("test_nothing_is_left", "test_every_command_is_interrupted")
    lab.pytest(*(f"lab/tests/test_interrupts.py::{test}" for test in tests))


@case("lab/interrupted-others-leave-nothing", tier="all", runner="pytest")
def others_interrupted(lab: Lab) -> None:
    # The copy takes them from the cache.
    lab.build("image", "boot", "board", "board-tests", "bench", "libdrm", "igt", "mm-tools")
    with suppress(LabError):  # without a source of VK-GL-CTS dEQP is skipped
        source.named()
        lab.build("deqp")
    lab.pytest("lab/tests/test_interrupts.py::test_nothing_is_left_of_others")


@case("lab/disk-full-is-said")
def disk_full(lab: Lab) -> None:
    full = outside_path(lab.dir("disk-full"))
    script = 'mount -t tmpfs -o size=64m tmpfs "$0" && NOMAP_CACHE="$0" exec lab/build roots'
    done = lab.status(outside(["sh", "-c", script, full]))
    assert done.status == 1 and "MiB free" in done.err


@case("lab/no-network-is-said")
def no_network(lab: Lab) -> None:
    empty = lab.dir("no-network")
    done = lab.status(outside(["unshare", "--net", "lab/build", "roots"], NOMAP_CACHE=str(outside_path(empty))))
    assert done.status == 1 and "No network" in done.err
    # Nothing half-made may be left to be taken for a root.
    assert not [p for p in (empty / "roots").iterdir() if p.is_dir()]


@case("lab/one-subtest-is-one-case")
def one_subtest(lab: Lab) -> None:
    """A subtest of IGT that is asked for runs alone, in one boot, on the driver as the files are now."""
    results = {"igt", "igt-others", "igt-held", "igt-loads", "igt-reset-fails"}
    with copy_of_repository("driver") as copy:
        def run(test: str) -> tuple[int, str, set[str]]:
            shutil.rmtree(copy / "build/results", ignore_errors=True)
            done = lab.status(outside(["lab/check", "igt", test], cwd=copy))
            return done.status, done.out + done.err, {r for r in results if (copy / "build/results" / r).exists()}

        status, said, ran = run("radeon_gem_praed@basic")
        assert status == 2 and re.search("near: .*radeon_gem_pread@basic", said) and not ran, said
        assert not list(copy.glob("build/**/console.log"))
        status, said, ran = run("radeon_gem_pread@basic")
        assert status == 0 and "1 passed, 0 failed, 0 skipped" in said and ran == {"igt"}
        tests = json.loads((copy / "build/results/igt/results.json").read_text(encoding="utf-8"))["tests"]
        assert [name.removeprefix("igt@") for name in tests] == ["radeon_gem_pread@basic"]
        driver = copy / "kernel/drivers/gpu/drm/radeon/radeon_gem_rw_cpu.c"
        driver.write_text(driver.read_text(encoding="utf-8") + "#error trap\n", encoding="utf-8")
        status, said, ran = run("radeon_gem_pread@basic")
        assert status == 1 and not ran, "an old module was tested"
        assert "kernel: build failed" in said and "#error trap" in said


@case("lab/bad-input/{what}", what=list(BAD_INPUTS))
def bad_input(lab: Lab, what: str) -> None:
    """Each gets a sentence with the fault and its cure, and the status of wrong arguments or of a fault. The document has it."""
    line, status, words = BAD_INPUTS[what]
    done = lab.status(outside(shlex.split(line)))
    assert done.status == status
    said = (done.out + done.err).replace("\n", " ")
    assert not [w for w in words if w not in said], f"it says none of these: {[w for w in words if w not in said]}"
    assert "Traceback" not in said
    table = bad_inputs.table((TOP / "docs/bad-inputs.md").read_text(encoding="utf-8"))[2]
    assert bad_inputs.row(line, done.status, done.out + done.err) in table, "docs/bad-inputs.md: see nomap_lab/bad_inputs.py"


@case("lab/bad-inputs-are-documented")
def bad_inputs_table(lab: Lab) -> None:
    """The document has a row for each of these calls, and no other."""
    table = bad_inputs.table((TOP / "docs/bad-inputs.md").read_text(encoding="utf-8"))[2]
    calls = re.findall(r"(?m)^\| `(.*?)` \|", table.replace("\\|", "|"))
    assert calls == [line for line, _, _ in BAD_INPUTS.values()], "run python3 -m nomap_lab.bad_inputs docs/bad-inputs.md"


@case("lab/bad-input/no-kvm")
def no_kvm(lab: Lab) -> None:
    if os.access("/dev/kvm", os.R_OK | os.W_OK):
        lab.skip("this machine has /dev/kvm")
    done = lab.lab("run", "--accel", "kvm", "--", "true", status=1)
    assert "/dev/kvm" in done.err and "--accel tcg" in done.err


@case("lab/kvm-that-hangs-is-said")
def kvm_hangs(lab: Lab) -> None:
    """A KVM that can be opened and then does nothing: a device and a QEMU made up for it."""
    lab.build("image", "boot")
    fake = lab.dir("kvm") / "qemu-system-x86_64"
    fake.write_text("#!/bin/sh\nexec sleep 1000\n", encoding="ascii")
    fake.chmod(0o755)
    boots = """if True:
        from contextlib import nullcontext
        from nomap_lab import guest
        guest.KVM_SILENCE = 2
        guest.Slot = nullcontext  # it needs no CPU, and need not wait for other guests
        raise SystemExit(guest.run(guest.Boot(accel="kvm", board="none", module="stock", radeon=False), ["true"]))"""
    done = lab.status("unshare", "--mount", "bash", "-euc", """
        root=$(mktemp -d)
        mkdir "$root/dev"
        lab/roots/dev "$root"
        [ -e "$root/dev/kvm" ] || : >"$root/dev/kvm"
        mount --bind /dev/null "$root/dev/kvm"
        mount --rbind "$root/dev" /dev
        PATH=${1%/*}:$PATH PYTHONPATH=lab python3 -B -c "$2" """, "bash", fake, boots)
    assert done.status == 71
    assert "nothing came from the guest in 2 s" in done.err and "KVM does not work; use --accel tcg" in done.err
