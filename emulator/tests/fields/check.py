#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The board's tables of register fields, compared with Mesa's headers.

usage: check.py MESA

MESA is the directory of Debian's Mesa source package. Each field of the tables in
src/chip/regs/fields has to be at the place that r600d.h or evergreend.h has for its register's
offset; fields that they do not have are listed in KNOWN, with their source. What the headers have
of those registers, and the tables do not, is an error as well.
"""
import pathlib
import re
import sys
import tarfile

REGS = pathlib.Path(__file__).resolve().parents[2] / "src/chip/regs"
HEADERS = {"r700": "r600d.h", "r600": "r600d.h", "evergreen": "evergreend.h", "cayman": "evergreend.h"}
PLACES = {"r700": ("gfx.rs",), "r600": ("r600.rs",), "evergreen": ("evergreen/gfx.rs",), "cayman": ("cayman/gfx.rs",)}

# Fields that differ from the headers, and why.
KNOWN = {
    # Three bits for eight samples; evergreend.h has them.
    ("r700", "DB_RENDER_CONTROL", "COPY_SAMPLE"): (8, 3),
}
# Registers whose fields are those of others: R7xx's, or CB_BLEND_CONTROL's.
NOT_IN_HEADER = {
    ("r700", "CB_BLEND0_CONTROL"): 0x28804,
    ("r700", "PA_SC_VPORT_SCISSOR_0_TL"): 0x28240,
    ("r700", "PA_SC_VPORT_SCISSOR_0_BR"): 0x28244,
}

Fields = dict[str, tuple[int, int]]


def header_fields(text: str) -> dict[int, Fields]:
    """Fields by offset of their register: lowest bit, bits."""
    found: dict[int, Fields] = {}
    macro = r"^#define\s+(?:EG_)?S_([0-9A-F]{6})_(\w+)\(x\)\s+\(\(+(?:unsigned\)+)?\(?x\)*\s*&\s*0x([0-9A-Fa-f]+)\)\s*<<\s*(\d+)\)"
    for m in re.finditer(macro, text, re.MULTILINE):
        found.setdefault(int(m[1], 16), {})[m[2].removeprefix("R700_")] = int(m[4]), int(m[3], 16).bit_count()
    return found


def offsets(files: tuple[str, ...]) -> dict[str, int]:
    rows = (m for name in files
            for m in re.finditer(r"^\s+(\w+) = 0x([0-9A-F_]+)[^;]*;", (REGS / name).read_text(encoding="utf-8"), re.MULTILINE))
    return {m[1]: int(m[2].replace("_", ""), 16) for m in rows}


def tables(name: str) -> tuple[list[tuple[str, str, Fields]], list[tuple[str, str]]]:
    """The registers with fields of their own, and those with the fields of others (register, module)."""
    text = (REGS / "fields" / f"{name}.rs").read_text(encoding="utf-8")
    own = []
    for register, module, body in re.findall(r"(\w+) as (\w+) \{([^}]*)\}", text):
        fields = {field: (int(low or high), int(high) - int(low or high) + 1)
                  for field, high, low in re.findall(r"(\w+) (\d+)(?::(\d+))?,", body)}
        own.append((register, module, fields))
    return own, re.findall(r"^ +(\w+) as (\w+),$", text, re.MULTILINE)


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    archive, = pathlib.Path(sys.argv[1]).glob("mesa_*.orig.tar.xz")
    headers: dict[str, dict[int, Fields]] = {}
    with tarfile.open(archive, mode="r|xz") as tar:
        for member in tar:
            base = pathlib.PurePath(member.name).name
            if "/gallium/drivers/r600/" in member.name and base in HEADERS.values():
                content = tar.extractfile(member)
                assert content is not None
                headers[base] = header_fields(content.read().decode())
            if len(headers) == 2:
                break

    faults, fields_seen = [], 0
    r700 = {module: fields for _, module, fields in tables("r700")[0]}
    for name in ("r700", "evergreen", "cayman"):
        own, same = tables(name)
        places = offsets(PLACES[name]) | (offsets(PLACES["r600"]) if name == "r700" else {})
        modules = {module: fields for _, module, fields in own}
        rows = [(register, fields, False) for register, _, fields in own]
        rows += [(register, modules.get(module) or r700[module], True) for register, module in same]
        for register, fields, alike in rows:
            expected = headers[HEADERS[name]].get(NOT_IN_HEADER.get((name, register), places[register]))
            if expected is None and alike:
                continue
            expected = {field: at for field, at in (expected or {}).items() if at[1] < 32}
            expected |= {field: at for (of, where, field), at in KNOWN.items() if (of, where) == (name, register)}
            fields_seen += len(fields)
            for field in sorted(fields.keys() | expected.keys()):
                if fields.get(field) != expected.get(field):
                    faults.append(f"{name} {register}.{field}: {fields.get(field)}, the header has {expected.get(field)}")
    for fault in faults:
        print(fault)
    print(f"{fields_seen} fields compared with Mesa's headers, {len(faults)} faults")
    return 1 if faults or fields_seen < 650 else 0


if __name__ == "__main__":
    sys.exit(main())
