#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site: guides, the reference of the C headers, the Python package's
docstrings and the notebooks, by Sphinx.

    python3 bindings/guides/site.py OUTPUT [--work FOLDER]

OUTPUT/index.html is where to begin; nothing in it is loaded from a network. Needs sphinx,
myst-parser (bindings/python/fetch.py brings them) and a package sluice that can be imported,
which docstrings are taken from. Ends with 1 for a warning of Sphinx, for a link within the site
that leads nowhere, or anything that a browser would fetch from elsewhere.
"""
import argparse
import html.parser
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDES, NOTEBOOKS = "bindings/guides", "bindings/python/notebooks"
# The site's sections and the pages in them, in the order of reading.
SECTIONS = {
    "Begin": ["README.md", f"{GUIDES}/python.md", f"{GUIDES}/coming_from.md"],
    "Guides": [],  # those that no other section has
    "Notebooks": [f"{NOTEBOOKS}/{name}.ipynb" for name in (
        "first_plan", "what_limits_my_network", "size_my_scratchpad",
        "compare_two_accelerators", "measured_tile_costs")],
    "Reference": ["c.md", "api.rst"],
    "The project": ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"],
}
HEADERS = ["include/sluice/" + name for name in (
    "sluice.h", "schedule.h", "layers.h", "machine.h", "place.h", "experimental.h", "lowering.h",
    "build.h", "import.h", "presets.h", "zoo.h")]
CONF = """project = "sluice"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "alabaster"
html_title = "sluice"
html_static_path = []
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"description": "schedules quantised networks on accelerators",
                      "fixed_sidebar": True, "page_width": "70rem"}
html_sidebars = {"**": ["about.html", "searchfield.html", "navigation.html"]}
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"


def plain(app, what, name, obj, options, lines):
    # Docstrings are plain text: a paragraph in columns stays as it is written.
    found, paragraph = [], []
    for line in lines + [""]:
        if line.strip():
            paragraph.append(line)
            continue
        if any("  " in text.strip() or text.startswith("    ") for text in paragraph):
            found += ["::", "", *("    " + text for text in paragraph), ""]
        else:
            found += [text.replace("*", "\\\\*") for text in paragraph] + [""]
        paragraph = []
    lines[:] = found


def setup(app):
    app.connect("autodoc-process-docstring", plain)
"""


def sections():
    """{section: pages}, with every guide in one of them."""
    listed = {page for pages in SECTIONS.values() for page in pages}
    rest = sorted(str(p.relative_to(ROOT)) for p in (ROOT / GUIDES).glob("*.md"))
    return {**SECTIONS, "Guides": [page for page in rest if page not in listed]}


def name_in_site(page):
    return pathlib.PurePosixPath(page).with_suffix(".md" if page != "api.rst" else "").name


def relink(text, page, pages, files):
    """Links of a page as they are in the site: to its pages, or to copies of files."""
    folder = pathlib.PurePosixPath(page).parent

    def other(match):
        before, target, after = match.groups()
        path, hash_, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return match.group(0)
        found = os.path.normpath(folder / path)
        if found in pages:
            return f"{before}{name_in_site(found)}{hash_}{anchor}{after}"
        if (ROOT / found).is_file():
            files.add(found)
            return f"{before}files/{found}{after}"
        return match.group(0)  # Sphinx complains, or the check of links

    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```")
                   else re.sub(r"(\]\()([^)\s]+)(\))", other, part) for part in parts)


def fences(text):
    """Blocks whose first line names a file or says who runs them, by their language alone."""
    return re.sub(r"^```(\w+)[^\n]+$", r"```\1", text, flags=re.M)


def notebook(path):
    """A notebook as Markdown."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) if cell["cell_type"] == "markdown"
                       else "```python\n" + "".join(cell["source"]) + "\n```"
                       for cell in cells) + "\n"


def reference(into):
    """Of the C headers, as its own program makes it; the headings get a level of their own."""
    done = subprocess.run([sys.executable, ROOT / GUIDES / "reference.py", into / "c.md",
                           *(ROOT / header for header in HEADERS)], check=False)
    if done.returncode:
        sys.exit("the reference of the headers cannot be made")


def docstrings():
    """The Python package's public names, in the order in which people meet them."""
    import sluice

    classes = [n for n in sluice.__all__ if isinstance(getattr(sluice, n), type)]
    functions = [n for n in sluice.__all__ if callable(getattr(sluice, n)) and n not in classes]
    lines = ["Python reference", "================", "", "Functions", "---------", ""]
    for name in sorted(functions):
        lines += [f".. autofunction:: sluice.{name}", ""]
    lines += ["Classes", "-------", ""]
    for name in sorted(classes):
        lines += [f".. autoclass:: sluice.{name}", "   :members:", ""]
    return "\n".join(lines)


def index(listed):
    lines = ["# sluice", "", "Schedules quantised networks on accelerators.", ""]
    for section, pages in listed.items():
        lines += ["```{toctree}", f":caption: {section}", ":maxdepth: 1", ""]
        lines += [name_in_site(page).rsplit(".", 1)[0] for page in pages] + ["```", ""]
    return "\n".join(lines)


def gather(into):
    """The site's sources, flat in one folder."""
    listed, files = sections(), set()
    pages = {page for found in listed.values() for page in found}
    for page in sorted(pages - {"c.md", "api.rst"}):
        path = ROOT / page
        text = notebook(path) if path.suffix == ".ipynb" else path.read_text(encoding="utf-8")
        (into / name_in_site(page)).write_text(fences(relink(text, page, pages, files)),
                                               encoding="utf-8")
    reference(into)
    (into / "api.rst").write_text(docstrings(), encoding="utf-8")
    (into / "index.md").write_text(index(listed), encoding="utf-8")
    (into / "conf.py").write_text(CONF, encoding="utf-8")
    for name in files:
        copy = into / "files" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy)


class Links(html.parser.HTMLParser):
    """What a page leads to, what it loads, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.leads, self.loads, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors.update(found[key] for key in ("id", "name") if found.get(key))
        if tag == "a" and found.get("href"):
            self.leads.append(found["href"])
        elif tag == "link" and found.get("href"):
            self.loads.append(found["href"])
        elif found.get("src"):
            self.loads.append(found["src"])


def wrong_links(site):
    """A sentence for each link that leads nowhere and for all that is not in the site."""
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    for path, links in pages.items():
        for target in links.leads + links.loads:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in links.loads and parts.scheme != "data":
                    yield f"{path.name} loads {target}"
                continue
            found = path if not parts.path else (
                path.parent / urllib.parse.unquote(parts.path)).resolve()
            if not found.is_file():
                yield f"{path.name}: nothing is at {target}"
            elif parts.fragment and found in pages and (
                    urllib.parse.unquote(parts.fragment) not in pages[found].anchors):
                yield f"{path.name}: {target} has no such anchor"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path)
    asked = parser.parse_args()
    for module in ("sphinx", "myst_parser", "sluice"):
        if importlib.util.find_spec(module) is None:
            parser.error(f"needs the module {module}, which is not installed: sphinx and "
                         "myst-parser come with bindings/python/fetch.py, sluice is "
                         "bindings/python")
    output = asked.output.resolve()
    work = (asked.work or output.parent / (output.name + ".sources")).resolve()
    for folder in (output, work):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    gather(work)
    done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b",
                           "html", "-d", work / "doctrees", work, output], check=False)
    wrong = sorted(set(wrong_links(output)))
    print("\n".join(wrong))
    pages = len(list(output.rglob("*.html")))
    print(f"{pages} pages, {len(wrong)} links that lead nowhere")
    return int(done.returncode != 0 or bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
