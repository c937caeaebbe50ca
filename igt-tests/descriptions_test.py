# SPDX-License-Identifier: MIT
"""The SUBTEST descriptions of the programs of PREAD and of PWRITE, which IGT's documentation wants in
each program: the same subtests, and the same words for those that lib/ has for both."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
# These are in the programs themselves.
OWN = {"basic", "before-gpu-read"}


def descriptions(name):
    """The description of each SUBTEST of a program, by name."""
    text = (HERE / "tests" / name).read_text(encoding="utf-8")
    found = re.findall(r"^ \* SUBTEST: (\S+)\n \* Description: (.*?)(?=\n \*\n|\n \*/)", text, re.M | re.S)
    return {subtest: " ".join(re.sub(r"\n \*\s*", " ", words).split()) for subtest, words in found}


def in_library():
    """The subtests that lib/ has for both programs."""
    texts = ((HERE / "lib" / name).read_text(encoding="utf-8") for name in ("igt_radeon_args.c", "igt_radeon_rw_tests.c"))
    return {name for text in texts for name in re.findall(r'igt_subtest\("([^"]+)"\)', text)}


def test_both_programs_describe_the_same_subtests():
    pread, pwrite = descriptions("radeon_gem_pread.c"), descriptions("radeon_gem_pwrite.c")
    assert set(pread) == set(pwrite) == in_library() | OWN
    assert {name for name in pread if pread[name] != pwrite[name]} == OWN
