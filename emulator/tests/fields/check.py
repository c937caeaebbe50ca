#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The board's tables of register fields and of words, compared with Mesa's headers.

usage: check.py MESA

MESA is the directory of Debian's Mesa source package. Each field of the tables in
src/chip/regs/fields has to be at the place that r600d.h or evergreend.h has for its register's
offset, and each field of a word of a resource, a sampler (those headers, too) or a shader (r600_sq.h,
r700_sq.h, eg_sq.h) where the header has it; fields that they do not have are listed in KNOWN, with their source. What the
headers have of those registers and words, and the tables do not, is an error as well.
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

# Tables of words: module, headers of descriptors and of shaders, offset of the first resource.
WORDS = (("r700", "r600d.h", "r700_sq.h", 0x38000), ("r700/r600", "r600d.h", "r600_sq.h", 0x38000),
         ("evergreen", "evergreend.h", "eg_sq.h", 0x30000))
SAMPLERS = 0x3C000
# Fields that the header has for words of buffers; it names both kinds by the same offsets.
OF_BUFFERS = {2: ("BASE_ADDRESS_HI", "STRIDE", "CLAMP_X", "DATA_FORMAT", "NUM_FORMAT_ALL", "FORMAT_COMP_ALL", "SRF_MODE_ALL",
                  "ENDIAN_SWAP"),
              3: ("UNCACHED", "DST_SEL_X", "DST_SEL_Y", "DST_SEL_Z", "DST_SEL_W")}
# Words without fields in the headers: addresses and sizes, and the kind, which is where a texture has it.
WHOLE = {("SQ_VTX_CONSTANT_WORD0", "BASE_ADDRESS"), ("SQ_VTX_CONSTANT_WORD1", "SIZE"), ("SQ_VTX_CONSTANT_WORD6", "TYPE"),
         ("SQ_VTX_CONSTANT_WORD7", "TYPE")}

Fields = dict[str, tuple[int, int]]


def header_fields(text: str) -> dict[int, Fields]:
    """Fields by offset of their register: lowest bit, bits."""
    found: dict[int, Fields] = {}
    macro = r"^#define\s+(?:EG_)?S_([0-9A-F]{6})_(\w+)\(x\)\s+\(\(+(?:unsigned\)+)?\(?x\)*\s*&\s*0x([0-9A-Fa-f]+)\)\s*<<\s*(\d+)\)"
    for m in re.finditer(macro, text, re.MULTILINE):
        found.setdefault(int(m[1], 16), {})[m[2].removeprefix("R700_")] = int(m[4]), int(m[3], 16).bit_count()
    return found


def shader_words(text: str) -> dict[str, Fields]:
    """Fields by name of their word: lowest bit, bits."""
    # Words of which there is no marker.
    names = {*re.findall(r"^#define\s+P_(SQ_\w+)", text, re.MULTILINE), "SQ_ALU_WORD0_LDS_IDX_OP", "SQ_ALU_WORD1_LDS_IDX_OP"}
    found: dict[str, Fields] = {}
    macro = r"^#define\s+S_(SQ_\w+)\(x\)\s+\(\(+(?:unsigned\)+)?\(?x\)*\s*&\s*0x([0-9A-Fa-f]+)\)\s*<<\s*(\d+)\)"
    for m in re.finditer(macro, text, re.MULTILINE):
        word = max((name for name in names if m[1].startswith(f"{name}_")), key=len)
        found.setdefault(word, {})[m[1].removeprefix(f"{word}_")] = int(m[3]), int(m[2], 16).bit_count()
    return found


def descriptor_words(registers: dict[int, Fields], first: int) -> dict[str, Fields]:
    """The same of resources and samplers."""
    found: dict[str, Fields] = {}
    for number in range(8):
        for name, at in registers.get(first + 4 * number, {}).items():
            kind = "VTX_CONSTANT" if name in OF_BUFFERS.get(number, ()) else "TEX_RESOURCE"
            found.setdefault(f"SQ_{kind}_WORD{number}", {})[name] = at
        if fields := registers.get(SAMPLERS + 4 * number):
            found[f"SQ_TEX_SAMPLER_WORD{number}"] = fields
    return found


def check_words(headers: dict[str, str], registers: dict[str, dict[int, Fields]]) -> tuple[list[str], int]:
    """What is wrong with the tables of words, and how many fields they have."""
    faults, seen = [], 0
    for module, descriptors, shaders, first in WORDS:
        name, _, inner = module.partition("/")
        text = (REGS / f"fields/words/{name}.rs").read_text(encoding="utf-8")
        outside, _, inside = text.partition("pub mod r600 {")
        expected = descriptor_words(registers[descriptors], first) | shader_words(headers[shaders])
        rows = table_rows(inside if inner else outside)
        for word, _, fields in rows:
            seen += len(fields)
            wanted = expected.get(word, {})
            for field in sorted(fields.keys() | wanted.keys()):
                if fields.get(field) != wanted.get(field) and (word, field) not in WHOLE:
                    faults.append(f"{module} {word}.{field}: {fields.get(field)}, the header has {wanted.get(field)}")
        # Evergreen's table has those only that are not R7xx's.
        if not inner and (absent := expected.keys() - {word for word, *_ in rows}) and name == "r700":
            faults.append(f"{module} has not {', '.join(sorted(absent))}")
        if name == "evergreen":
            r7xx = shader_words(headers["r700_sq.h"])
            own = {word for word, fields in expected.items() if r7xx.get(word) != fields}
            if absent := own - {word for word, *_ in rows}:
                faults.append(f"{module} has not {', '.join(sorted(absent))}")
    return faults, seen


def table_rows(text: str) -> list[tuple[str, str, Fields]]:
    """The registers or words of a table: name, module, fields."""
    rows = []
    for name, module, body in re.findall(r"(\w+) as (\w+) \{([^}]*)\}", text):
        fields = {field: (int(low or high), int(high) - int(low or high) + 1)
                  for field, high, low in re.findall(r"(\w+) (\d+)(?::(\d+))?,", body)}
        rows.append((name, module, fields))
    return rows


def offsets(files: tuple[str, ...]) -> dict[str, int]:
    rows = (m for name in files
            for m in re.finditer(r"^\s+(\w+) = 0x([0-9A-F_]+)[^;]*;", (REGS / name).read_text(encoding="utf-8"), re.MULTILINE))
    return {m[1]: int(m[2].replace("_", ""), 16) for m in rows}


def tables(name: str) -> tuple[list[tuple[str, str, Fields]], list[tuple[str, str]]]:
    """The registers with fields of their own, and those with the fields of others (register, module)."""
    text = (REGS / "fields" / f"{name}.rs").read_text(encoding="utf-8")
    return table_rows(text), re.findall(r"^ +(\w+) as (\w+),$", text, re.MULTILINE)


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    archive, = pathlib.Path(sys.argv[1]).glob("mesa_*.orig.tar.xz")
    texts: dict[str, str] = {}
    wanted = {*HEADERS.values(), *(shaders for _, _, shaders, _ in WORDS)}
    with tarfile.open(archive, mode="r|xz") as tar:
        for member in tar:
            base = pathlib.PurePath(member.name).name
            if "/gallium/drivers/r600/" in member.name and base in wanted:
                content = tar.extractfile(member)
                assert content is not None
                texts[base] = content.read().decode()
            if texts.keys() == wanted:
                break
    headers = {name: header_fields(texts[name]) for name in set(HEADERS.values())}

    faults, words_seen = check_words(texts, headers)
    fields_seen = 0
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
    print(f"{fields_seen} fields of registers and {words_seen} of words compared with Mesa's headers, {len(faults)} faults")
    return 1 if faults or fields_seen < 650 or words_seen < 350 else 0


if __name__ == "__main__":
    sys.exit(main())
