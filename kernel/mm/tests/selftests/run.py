#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the kernel's mm selftests, in the directory of this program, as root.

usage: selftests-run.py RESULTS.json [TEST...]

Which tests there are, and what they are called with, is as in the kernel's
run_vmtests.sh, but for those that take minutes in an emulated machine. Each has
a time-out. A test that fails gets a second try: some depend on what else the
machine does. Its exit status counts (0: pass, 4: skip), and each of the subtests
that it prints as TAP.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time

TESTS = """
hugepage-mmap
hugepage-shm
map_hugetlb
hugepage-mremap
hugepage-vmemmap
hugetlb-madvise
hugetlb_dio
map_fixed_noreplace
gup_test -u
gup_test -a
gup_test -ct -F 0x1 0 19 0x1000
gup_longterm
uffd-unit-tests
uffd-stress anon 20 4
uffd-stress shmem 20 4
uffd-stress shmem-private 20 4
map_populate
mlock-random-test
mlock2-tests
mrelease_test
mremap_test
mremap_dontunmap
thuge-gen
virtual_address_range
madv_populate
memfd_secret
ksm_functional_tests
protection_keys_64
pkey_sighandler_tests_64
soft-dirty
pagemap_ioctl
cow
transhuge-stress -d 5
mkdirty
mdwe_test
mseal_test
seal_elf
droppable
""".strip().splitlines()
HUGE_PAGES = 128
TIMEOUT = 300
TAP = re.compile(r"^(?:# )*(not )?ok \d+ *(.*)$")


def setting(path, value):
    try:
        with open(path, "w", encoding="ascii") as f:
            f.write(str(value))
    except OSError as e:
        print(f"selftests: {path}: {e}", file=sys.stderr)


def subtests(output):
    """Name -> pass, fail or skip; a name's second occurrence gets a number."""
    found = {}
    for line in output.splitlines():
        tap = TAP.match(line.strip())
        if not tap:
            continue
        name, _, directive = tap[2].partition("# ")
        # Leave addresses and counts out of names, as they differ between runs.
        name = re.sub(r"0x[0-9a-f]+|\d{5,}", "N", name).strip(" -\t")
        verdict = "fail" if tap[1] else "pass"
        if directive.upper().startswith("SKIP"):
            verdict = "skip"
        key, n = name, 1
        while key in found:
            n += 1
            key = f"{name} ({n})"
        found[key] = verdict
    return found


def run(test):
    begun = time.monotonic()
    # Its whole process group ends with it.
    with subprocess.Popen(["./" + test.split()[0], *test.split()[1:]],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          errors="replace", start_new_session=True) as child:
        try:
            output = child.communicate(timeout=TIMEOUT)[0]
            verdict = {0: "pass", 4: "skip"}.get(child.returncode, "fail")
            # Some exit with 0 although a requirement is missing and they did nothing.
            if verdict == "pass" and "# Totals: pass:0 fail:0" in output:
                verdict = "skip"
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            output = child.communicate()[0]
            verdict = "timeout"
    return {"verdict": verdict, "status": child.returncode,
            "seconds": round(time.monotonic() - begun, 1),
            "subtests": subtests(output), "output": output[-1500:]}


def main():
    target, chosen = sys.argv[1], sys.argv[2:]
    target = os.path.abspath(target)
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    setting("/proc/sys/kernel/shmmax", 4 << 30)
    setting("/proc/sys/kernel/shmall", 4 << 20)
    results = {}
    for test in TESTS:
        if chosen and test.split()[0] not in chosen:
            continue
        if not os.access("./" + test.split()[0], os.X_OK):
            results[test] = {"verdict": "not built", "subtests": {}}
            continue
        setting("/proc/sys/vm/overcommit_memory",
                int(test == "virtual_address_range"))
        setting("/proc/sys/vm/nr_hugepages", HUGE_PAGES)
        result = run(test)
        result["tries"] = 1
        if result["verdict"] in ("fail", "timeout"):
            result = run(test)
            result["tries"] = 2
        results[test] = result
        print(f"{result['verdict']:8} {test} ({len(result['subtests'])} subtests, "
              f"{result['seconds']} s)", flush=True)
    with open(target + ".new", "w", encoding="utf-8") as f:
        json.dump({"kernel": os.uname().release, "tests": results}, f, indent=1)
    os.replace(target + ".new", target)


main()
