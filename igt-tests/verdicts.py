# SPDX-License-Identifier: MIT
"""usage: verdicts.py RESULTS.json STATUS

Prints a line for each test of igt_runner's RESULTS.json that did not pass, what it said, and a
line with the totals; STATUS is igt_runner's exit status. A test that just made the kernel log
messages which it provokes on purpose has passed, and so has one beside which the kernel
complained of a busy machine. Exit status: 0 if something passed and nothing failed, else 1.
"""
import collections
import json
import re
import sys

path, status = sys.argv[1], int(sys.argv[2])
with open(path) as f:
    tests = json.load(f)["tests"]

good = ("pass", "skip", "notrun")
# Messages that tests provoke on purpose.
lockup = r"radeon \S+ (ring \d+ stalled for more than|GPU lockup \()"
# A ring that waits for work that a reset has dropped needs another reset.
second = (r"\[drm:r600_ib_test \[radeon\]\] \*ERROR\* radeon: fence wait (timed out|failed \(-35\))"
          r"|\[drm:radeon_ib_ring_tests \[radeon\]\] \*ERROR\* radeon: failed testing IB on GFX ring")
failed_reset = (r"\[drm:r600_(dma_)?ring_test \[radeon\]\] \*ERROR\* radeon: ring \d test failed"
                r"|\[drm:(rv770|cayman)_resume \[radeon\]\] \*ERROR\* (r600|cayman) startup failed on resume")
# What the checker of command streams refuses, it says.
refused = r"\[drm:(r600|evergreen|radeon)_cs_\w+ \[radeon\]\] \*ERROR\*|radeon \S+: |Forbidden register "
provoked = {
    "@hang-": f"{lockup}|{second}",
    "@hang-suspend": rf"{lockup}|{failed_reset}|\[TTM\] Buffer eviction failed",
    "@reset": second,
    "radeon_gem_rw_fuzz@": f"{lockup}|{second}",
    "radeon_gem_rw_reset@": f"{lockup}|{second}",
    "radeon_gem_rw_reset_fails@": f"{lockup}|{second}|{failed_reset}",
    "radeon_cs_check": refused,
    "@hang-after-move": refused,
    "radeon_gem_rw_faults": r"\[TTM\] Failed allocating page table",
}
# Since Linux 7 radeon logs an error when a signal arrives while it locks the BOs of
# a submission, which is then repeated.
interrupted = r"\[drm:radeon_cs_ioctl \[radeon\]\] \*ERROR\* Failed to parse relocation -4!"
# What emulated CPUs say of a busy machine. It is counted and shown, and no fault of anything
# under test.
slow_machine = (r"hrtimer: interrupt took \d+ ns|clocksource: |tsc: Marking TSC unstable|TSC found unstable"
                r"|sched_clock: Marking unstable|perf: interrupt took too long|serio \S+ deferred probe pending")
count = collections.Counter()
load = 0
for name, test in sorted(tests.items()):
    result = test["result"]
    loud = [line for line in test.get("dmesg", "").splitlines()
            if re.match(r"<[0-4]>", line)]
    load += sum(bool(re.match(rf"<[0-4]> \[[ \d.]+\] ({slow_machine})", line)) for line in loud)
    expected = [slow_machine, interrupted] + [v for k, v in provoked.items() if k in name]
    if result == "dmesg-warn" and \
            all(re.match(rf"<[34]> \[[ \d.]+\] ({'|'.join(expected)})", line)
                for line in loud):
        result = "pass"
    count[result] += 1
    if result == "pass":
        continue
    print(f"{result}: {name}")
    text = test.get("out", "") + test.get("err", "")
    # A skip has its reason in the line after the requirement. Else show all lines
    # but those that each test prints, and repeated ones.
    noise = (r"(Subtest|Starting|IGT-|Using|Opened|Stack trace|\s*#\d|\*\*\*\*"
             r"|Dynamic|\[?\d+\.\d+\]|\(.*-(DEBUG|INFO): )")
    # A failed assertion comes first: how the test ended, by a signal or not, tells less.
    failed_assertion = re.findall(r"^\[\d+\.\d+\] \(\S+\) CRITICAL: (.*)", text, re.M)
    lines = failed_assertion + [l for l in text.splitlines() if l and not re.match(noise, l)]
    lines = list(dict.fromkeys(lines))
    for line in lines[2:3] if result == "skip" else lines[:12]:
        print(f"    {line}")
    if result.startswith("dmesg"):
        for line in loud:
            print(f"    {line}")

failed = sum(n for result, n in count.items() if result not in good)
if load:
    print(f"igt: {load} kernel messages speak of the host's load")
print(f"igt: {sum(count.values())} tests: {count['pass']} pass, "
      f"{count['skip'] + count['notrun']} skip, {failed} fail")
sys.exit(1 if failed or status or not count["pass"] else 0)
