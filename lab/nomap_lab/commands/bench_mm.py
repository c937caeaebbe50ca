# SPDX-License-Identifier: MIT
"""usage: lab/bench-mm [PART...]   (make bench-mm)

Measures the kernel's memory management, on Linux 6.12 without and with the
series of kernel/mm (lab/kernels/mm-base.config, mm.config), and compares. Parts:

  mapstorm    one more mmap() with N mappings, and with N guards
  selftests   the kernel's own mm selftests
  brk         growing and shrinking the heap, alone and from many children
  frag        what mappings leave of the address space, and models of searches
  threads     20,000 threads

By default these. Results: build/results/PART.json, .txt and .png. And

  counts      mapstorm without its times
"""
from collections.abc import Callable

from nomap_lab import cli, graph, guest, procs
from nomap_lab.options import python, show_table
from nomap_lab.paths import BUILD, RESULTS, TOP, LabError, UsageError, say

KERNELS = ("mm-base", "mm")
#: Indirect calls as most of Debian's machines make them: the report of mapstorm asks for it.
RETPOLINE = "spectre_v2=retpoline"
TOOLS = "/build/mm-tools"
#: Kinds of address spaces of mapstorm that need guards of one page.
SMALL = ("small", "page")
CASES = "live-8m,live-64k,live-own,join-8m,join-8m-no-cache,join-guard"


def result(name: str) -> str:
    """The file of a result, in the guest."""
    return f"/build/results/.{name}.json"


def boot(part: str, what: str, options: guest.Boot, cmd: list[str]) -> None:
    """One boot of a part."""
    options.append = f"{RETPOLINE} {options.append}".rstrip()
    options.logs = BUILD / "bench-mm" / part
    status = guest.run(options, cmd)
    if status:
        raise LabError(f"{what} failed on {options.kernel} with status {status} (logs: build/bench-mm/{part}/)")


def in_turn(times: int, what: str, run: Callable[[str, int], None]) -> None:
    """Runs each of the kernels in turn, so that other load of the machine affects all kernels alike."""
    for i in range(1, times + 1):
        for kernel in KERNELS:
            say(f"{what}: {kernel}, {i} of {times}")
            run(kernel, i)


def report(directory: str, name: str, files: list[str]) -> None:
    """Makes table and numbers, and the plot if DIRECTORY (of kernel/mm) has a plot.py. If the report finds
    faults, the table ends with them, and LabError is raised."""
    numbers = RESULTS / f"{name}.json"
    status = show_table(python(f"kernel/mm/{directory}/report.py", "--check", "--json", numbers,
                          *[RESULTS / f".{file}.json" for file in files]), RESULTS / f"{name}.txt")
    plot = f"kernel/mm/{directory}/plot.py"
    if (TOP / plot).exists():
        procs.call(python(plot, numbers, numbers.with_suffix(".png")))
    if status:
        raise LabError(f"{name}: the report has found faults (see above)")


def mapstorm_times(kernel: str, turn: int) -> None:
    """All sizes, with times."""
    boot("mapstorm", "mapstorm", guest.Boot(kernel=kernel, timeout=900, mem="3G"),
         [f"{TOOLS}/mapstorm", "--verbose", "--json", result(f"mapstorm-ns-{kernel}-{turn}")])


def mapstorm_counts(part: str) -> Callable[[str, int], None]:
    """Instructions. They are reproducible, so one boot is enough; a million mappings would show nothing more."""
    def run(kernel: str, _turn: int) -> None:
        boot(part, "mapstorm", guest.Boot(kernel=kernel, timeout=900, mem="3G", accel="icount", smp=1),
             [f"{TOOLS}/mapstorm", "--count", "--verbose", "--live", "100,1000,10000,100000", "--json",
              result(f"mapstorm-count-{kernel}")])
    return run


def mapstorm_small(part: str) -> Callable[[str, int], None]:
    """Guards of one page, as shadow stacks have; stack_guard_gap=1 makes them on any processor."""
    def run(kernel: str, _turn: int) -> None:
        boot(part, "mapstorm", guest.Boot(kernel=kernel, accel="icount", smp=1, append="stack_guard_gap=1"),
             ["bash", "-ec", f"for kind in {' '.join(SMALL)}; do {TOOLS}/mapstorm --count --only $kind --json \"$1$kind$2\"; done",
              "bash", result("mapstorm-").removesuffix(".json"), f"-{kernel}.json"])
    return run


def counts(part: str) -> None:
    """What mapstorm counts."""
    in_turn(1, "mapstorm counts", mapstorm_counts(part))
    in_turn(1, "mapstorm small", mapstorm_small(part))


def mapstorm_report() -> None:
    """Times and counts are measured separately: reports those that exist."""
    runs = [f"mapstorm-ns-{kernel}-{turn}" for kernel in KERNELS for turn in range(1, 7)]
    runs += [f"mapstorm-{what}-{kernel}" for what in ("count", *SMALL) for kernel in KERNELS]
    report("bench/mapstorm", "mapstorm", [run for run in runs if (RESULTS / f".{run}.json").exists()])


def part_mapstorm() -> None:
    """Times differ from boot to boot by more than the series changes them, so medians are taken of six pairs of
    boots."""
    in_turn(6, "mapstorm times", mapstorm_times)
    counts("mapstorm")
    mapstorm_report()


def part_counts() -> None:
    """mapstorm without its times."""
    counts("counts")
    mapstorm_report()


def part_brk() -> None:
    """The cost of a step depends on the heap's address, which differs from boot to boot. The series does not
    change the growth of the heap, so one kernel is enough for times."""
    def brk_counts(kernel: str, turn: int) -> None:
        boot("brk", "brk-storm", guest.Boot(kernel=kernel, timeout=600, accel="icount", smp=1),
             [f"{TOOLS}/brk-storm", "--count", "--parts", "--json", result(f"brk-count-{kernel}-{turn}")])
    in_turn(3, "brk counts", brk_counts)
    boot("brk", "brk-storm", guest.Boot(kernel="mm", timeout=600),
         [f"{TOOLS}/brk-storm", "--cost", "--json", result("brk-ns-mm")])
    boot("brk", "brk-storm", guest.Boot(kernel="mm", timeout=600, smp=2),
         [f"{TOOLS}/brk-storm", "--load", "--json", result("brk-load-mm")])
    report("bench/brk-storm", "brk", [*(f"brk-count-{kernel}-{turn}" for kernel in KERNELS for turn in (1, 2, 3)),
                                     "brk-ns-mm", "brk-load-mm"])


def part_selftests() -> None:
    """They run in /tmp, as 9p lacks file operations that some of them use."""
    def selftests(kernel: str, _turn: int) -> None:
        boot("selftests", "the selftests",
             guest.Boot(kernel=kernel, timeout=1800, mem="4G", allow_kernel_warnings=True),
             ["bash", "-c", 'cp -r /build/mm-selftests /tmp/selftests && cd /tmp/selftests && '
              'python3 run.py /tmp/results.json && cp /tmp/results.json "$1"', "bash", result(f"selftests-{kernel}")])
    in_turn(1, "selftests", selftests)
    report("tests/selftests", "mm-selftests", ["selftests-mm-base", "selftests-mm"])


def part_frag() -> None:
    """Models natively, and the real searches."""
    measure = [f"{TOOLS}/frag", "--kernel", "--steps", "100000", "--json"]

    def frag(kernel: str, _turn: int) -> None:
        boot("frag", "frag", guest.Boot(kernel=kernel, timeout=900, mem="3G"), [*measure, result(f"frag-{kernel}")])
    say("frag: models, natively")
    procs.call([BUILD / "mm-tools/frag", "--models", "--json", RESULTS / ".frag-models.json"])
    boot("frag", "frag", guest.Boot(board="none", radeon=False, timeout=900, mem="3G"),
         [*measure, result("frag-stock")])
    in_turn(1, "frag", frag)
    report("tests/frag", "frag", ["frag-models", "frag-stock", "frag-mm-base", "frag-mm"])


def part_threads() -> None:
    """Times are measured natively, on the machine's own kernel, because those of an emulated guest mean little;
    there instructions are counted. Without the series each thread costs more than the one before it, so 6,000
    have to do instead of 20,000."""
    def threads(kernel: str, _turn: int) -> None:
        boot("threads", "threads", guest.Boot(kernel=kernel, timeout=1800, mem="3G", accel="icount", smp=1),
             ["bash", "-ec", f"""
              {TOOLS}/threads --runs 1 --cases "$3" --json "$1"
              {TOOLS}/threads --runs 1 --cases live-guard --threads "$4" --json "$2" """,
              "bash", result(f"threads-{kernel}"), result(f"threads-guard-{kernel}"), CASES,
              "20000" if kernel == "mm" else "6000"])
    native = BUILD / "mm-tools/threads"
    say("threads: natively")
    procs.call([native, "--runs", "3", "--cases", CASES, "--json", RESULTS / ".threads-native.json"])
    procs.call([native, "--runs", "1", "--cases", "live-guard", "--json", RESULTS / ".threads-guard-native.json"])
    in_turn(1, "threads", threads)
    report("bench/threads", "threads", ["threads-native", "threads-guard-native", "threads-mm-base", "threads-mm",
                                        "threads-guard-mm-base", "threads-guard-mm"])


DEFAULT: dict[str, Callable[[], None]] = {
    "mapstorm": part_mapstorm, "selftests": part_selftests, "brk": part_brk, "frag": part_frag, "threads": part_threads}
PARTS = {**DEFAULT, "counts": part_counts}


def main(argv: list[str]) -> int:
    """The command."""
    parser = cli.parser(__doc__, prog="lab/bench-mm")
    parser.add_argument("parts", metavar="PART", nargs="*")
    parts = parser.parse(argv).parts or list(DEFAULT)
    for part in parts:
        if part not in PARTS:
            raise UsageError(f"there is no part '{part}': they are {', '.join(PARTS)}")
    graph.ensure("mm-tools", *["mm-selftests"] * ("selftests" in parts), *["boot", "image"] * ("frag" in parts))
    RESULTS.mkdir(parents=True, exist_ok=True)
    failed = []
    for part in parts:
        try:
            PARTS[part]()
        except LabError as error:
            say(f"bench-mm: {part}: {error}")
            failed.append(part)
    say("done; tables, numbers and plots are in build/results/")
    if failed:
        raise LabError(f"bench-mm: {' '.join(failed)}: see above")
    return 0
