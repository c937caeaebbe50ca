# SPDX-License-Identifier: MIT
"""Tests of docs/build: what it changes in Markdown, names of declarations, and links that lead nowhere."""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import sys

import pytest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
loader = importlib.machinery.SourceFileLoader("docs_build", str(HERE / "build"))
docs = importlib.util.module_from_spec(importlib.util.spec_from_loader("docs_build", loader))
loader.exec_module(docs)


def test_code_without_a_language_is_text():
    assert docs.plain_fences("```\na\n```\n```sh\nb\n```") == "```text\na\n```\n```sh\nb\n```"


@pytest.mark.parametrize("signature, name", [
    ("struct bench_stat bench_spread (uint64_t *times, unsigned int n)", "bench_spread"),
    ("struct bench_stat", "bench_stat"),
    ("bench_stat", "bench_stat"),
])
def test_a_signature_declares_a_name(signature, name):
    assert docs.declared(signature) == name


def test_dead_links_are_found(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "index.html").write_text('<a href="a/b.html#here">x</a> <img src="c.png"><a href="https://x/">x</a>')
    (tmp_path / "a/b.html").write_text('<p id="there"><a href="../index.html">x</a><a href="#there">x</a>')
    assert sorted(docs.dead_links(tmp_path)) == [
        "index.html: nothing has the name of a/b.html#here", "index.html: there is no c.png"]
    (tmp_path / "a/b.html").write_text('<p id="here">')
    (tmp_path / "c.png").touch()
    assert not list(docs.dead_links(tmp_path))


@pytest.mark.skipif(not shutil.which("rustdoc"), reason="no rustdoc")
def test_a_document_becomes_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr(docs, "TOP", tmp_path)
    out = tmp_path / "out"
    (out / ".work").mkdir(parents=True)
    (tmp_path / "part").mkdir()
    (tmp_path / "part/a.md").write_text(
        "# A <title>\n\n[b](../b.md#of-it), `b.md`, [dir](..), ![x](x.png)\n\n| a |\n|---|\n| 1 |\n\n```\nlet\n```\n")
    names = {"part/a.md", "b.md", "README.md"}
    assert docs.markdown("part/a.md", names, out) == {"part/x.png"}
    page = (out / "part/a.html").read_text()
    assert '<a href="../b.html#of-it">b</a>' in page
    assert '<a href="../b.html"><code>b.md</code></a>' in page
    assert '<a href="../README.html">dir</a>' in page
    assert '<img src="../part/x.png"' in page and "<td>1</td>" in page
    # Rust's keywords would have a class of their own.
    assert "<code>let" in page
    assert '<a href="../index.html">nomap</a>' in page and 'href="../style.css"' in page


def test_kernel_doc_roles_and_directives_become_links(tmp_path):
    doc = docs.KernelDoc("unused")
    text = (docs.title("Of C") + ".. c:function:: int f (struct s *s)\n\n   about :c:type:`struct s <s>` and "
            ":c:func:`nosuch()`\n\n.. c:struct:: s\n\n   a thing\n")
    doc.note("c/x.html", text)
    assert doc.pages == {"f": "c/x.html", "s": "c/x.html"}
    docs.rst_page(doc, "c/x.html", text, tmp_path)
    page = (tmp_path / "c/x.html").read_text()
    assert 'id="c.f"' in page and 'id="c.s"' in page and 'href="#c.s"' in page
    assert "nosuch" in page and 'href="#c.nosuch"' not in page
    assert not [line for line in docs.dead_links(tmp_path) if "#" in line]


def test_a_fault_of_restructuredtext_ends_the_build(tmp_path):
    with pytest.raises(Exception, match="Unknown interpreted text role"):
        docs.rst_page(docs.KernelDoc("unused"), "c/x.html", docs.title("T") + ":nosuch:`x`\n", tmp_path)
