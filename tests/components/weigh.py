# SPDX-License-Identifier: Apache-2.0
"""Compares the stripped size of each component with the table in the guide.

  weigh.py --strip STRIP --guide GUIDE.md NAME=LIBRARY...

Fails when a library is above its limit, or when a size in the guide is wrong by more than
two percent and more than one page: compilers differ.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

LIMITS = {"core": 350 * 1024, "everything": 1024 * 1024}
TOLERANCE = 0.02
PAGE = 4096  # a library is padded to whole pages: a small change may show as a page


def stripped_bytes(strip, library):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "stripped.so")
        subprocess.run([strip, "-o", out, library], check=True)
        return os.path.getsize(out)


def weights(sizes):
    """Rows of the table: the name of a part, and its bytes."""
    whole = sizes["whole"]  # linked as those without a part are
    rows = {"core": sizes["core"], "everything": sizes["everything"]}
    for name, size in sizes.items():
        if name == "without_mappers":  # a mesh needs the mappers: this library has neither
            rows["mappers"] = sizes["without_mesh"] - size
        elif name.startswith("without_"):
            rows[name[len("without_"):]] = whole - size
    return rows


def table_of(guide):
    rows = {}
    with open(guide, encoding="utf-8") as file:
        for line in file:
            match = re.match(r"\| `?(\w+)`? \|.*\| ([\d,]+) \|$", line.strip())
            if match:
                rows[match[1]] = int(match[2].replace(",", ""))
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strip", required=True)
    parser.add_argument("--guide", required=True)
    parser.add_argument("libraries", nargs="+")
    arguments = parser.parse_args()
    sizes = {}
    for pair in arguments.libraries:
        name, library = pair.split("=", 1)
        sizes[name] = stripped_bytes(arguments.strip, library)
    said = table_of(arguments.guide)
    bad = 0
    for name, size in weights(sizes).items():
        row = f"{name:12} {size:9,} bytes"
        limit = LIMITS.get(name)
        if limit is not None:
            row += f", at most {limit:,}"
            bad += size > limit
        slack = max(TOLERANCE * size, PAGE)
        if abs(said.get(name, 0) - size) > slack:
            row += f"; the guide says {said.get(name, 0):,}"
            bad += 1
        print(row)
    for name in sorted(said.keys() - weights(sizes).keys()):
        print(f"{name:12} stands in the guide, but there is no such part")
        bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
