# SPDX-License-Identifier: Apache-2.0
"""The check of the site's links complains about what it is there for, and of nothing else."""
import importlib.util

import pytest

from conftest import ROOT

PROGRAM = ROOT / "bindings/guides/site.py"
if not PROGRAM.exists():
    pytest.skip("without the guides", allow_module_level=True)


@pytest.fixture(scope="module")
def site():
    spec = importlib.util.spec_from_file_location("sluice_site", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_that_lead_nowhere_are_found(site, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/b.html").write_text('<h1 id="top">b</h1><a href="../a.html#here">a</a>')
    good = ('<p id="here"></p><a href="sub/b.html#top">b</a><a href="#here">up</a>'
            '<a href="https://example.org/x">out</a><img src="data:image/png;base64,AA==">')
    (tmp_path / "a.html").write_text(good)
    assert list(site.wrong_links(tmp_path)) == []
    (tmp_path / "a.html").write_text(
        good + '<a href="sub/c.html">c</a><a href="sub/b.html#bottom">b</a><img src="x.png">'
        '<script src="https://example.org/x.js"></script><link href="//example.org/x.css">')
    found = "\n".join(site.wrong_links(tmp_path))
    assert found.count("\n") == 4
    for words in ("nothing is at sub/c.html", "#bottom has no such anchor", "nothing is at x.png",
                  "loads https://example.org/x.js", "loads //example.org/x.css"):
        assert words in found


def test_links_are_rewritten_as_the_site_needs_them(site):
    files = set()
    pages = {"README.md", "bindings/guides/python.md",
             "bindings/python/notebooks/first_plan.ipynb"}
    text = ("[a](python.md#sweeps) [b](../python/notebooks/first_plan.ipynb) [c](../../LICENSE) "
            "[d](https://example.org) [e](#here)\n```text\n[f](python.md)\n```\n[g](none.md)")
    made = site.relink(text, "bindings/guides/machines.md", pages, files)
    assert made == ("[a](python.md#sweeps) [b](first_plan.md) [c](files/LICENSE) "
                    "[d](https://example.org) [e](#here)\n```text\n[f](python.md)\n```\n"
                    "[g](none.md)")
    assert files == {"LICENSE"}


def test_every_guide_has_its_place(site):
    listed = [page for pages in site.sections().values() for page in pages]
    assert len(set(listed)) == len(listed)
    for guide in (ROOT / "bindings/guides").glob("*.md"):
        assert f"bindings/guides/{guide.name}" in listed
