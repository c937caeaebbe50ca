# SPDX-License-Identifier: MIT
"""README's tables of results, made of the sections of docs/results.md.

results.py writes them between the lines BEGIN and END; claims_test.py fails if README
has others. All rows are there, and all values that miss a target: nothing is picked.
"""

import statistics

BEGIN = "<!-- made by bench/lib/results.py from docs/results.md -->"
END = "<!-- end -->"


def lines(head, body):
    """A Markdown table; the first column is text unless all of it is numbers."""
    yield "| " + " | ".join(head) + " |"
    yield "|---:" + "|---:" * (len(head) - 1) + "|"
    for cells in body:
        yield "| " + " | ".join(cells) + " |"


def uploads(section):
    """The table of uploads into one more BO, and the range of the ratios."""
    table = section.table("VRAM mmap")
    domains = [d for d in ("VRAM", "GTT") if f"{d} pwrite" in table.head]
    head, columns = ["live buffers"], [0]
    for d in domains:
        head += [f"{d}: mmap", f"{d}: pwrite", "mmap / pwrite"]
        columns += [table.column(f"{d} {c}") for c in ("mmap", "pwrite", "mmap / pwrite")]
    head += ["mappings: mmap", "mappings: pwrite"]
    columns += [table.column("mappings: mmap"), table.column("mappings: pwrite")]
    yield from lines(head, ([row[c] for c in columns] for row in table.rows))
    yield ""
    ranges = []
    for d in domains:
        ratios = table.numbers(f"{d} mmap / pwrite")
        ranges.append(f"in {d} {min(ratios):.1f} to {max(ratios):.1f} (median {statistics.median(ratios):.1f})")
    yield f"Times of `mmap` divided by times of `pwrite`: {'; '.join(ranges)}."
    yield section.line("Measured on")


def transfers(section):
    """All values of transfer-paths that miss their target, and CPU-inaccessible VRAM."""
    body = []
    sizes = section.table("256 B")
    for row in sizes.rows:
        for size, cell in zip(sizes.head[1:], row[1:]):
            if "**" in cell:
                domain = "VRAM" if "VRAM" in row[0] else "GTT"
                target = sizes.row(f"target, {domain}")[sizes.column(size)]
                body.append([f"{row[0]}, {size}", cell.split("(")[0].replace("*", "").strip(), target])
    rest = section.table("measured")
    for row in rest.rows:
        if "**" in row[1]:
            body.append([row[0], row[1].replace("*", ""), row[2]])
    for what, call in (("upload", "pwrite"), ("download", "pread")):
        found = rest.numbers(1, [r for r in rest.rows if r[0].startswith(f"{what}, vram-hidden")])
        body.append([f"{what}, CPU-inaccessible VRAM, 256 B to 16 MiB: {call} / mmap of visible VRAM",
                     f"{min(found):.2f} to {max(found):.2f}", "none"])
    head = ["transfer", "measured", "target"]
    yield "| " + " | ".join(head) + " |"
    yield "|---|---:|---:|"
    for cells in body:
        yield "| " + " | ".join(cells) + " |"
    yield ""
    yield section.line("Measured on")


def block(sections):
    """The whole block, with its first and last line."""
    return "\n".join([
        BEGIN,
        *uploads(sections["live-bos"]),
        "",
        "What costs more than its target allows, in units of mapping, copying and unmapping:",
        "",
        *transfers(sections["transfer-paths"]),
        END])
