#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every C and C++ source is formatted as .clang-format says, by clang-format 14.

  format.py --root .       names the files that are not; where that version is not there,
                           it says "skipped"

Other versions break lines elsewhere. The public headers are laid out by hand, and the
frozen ones are as they were.
"""
import argparse
import re
import shutil
import subprocess
import sys

from sources import sources

FOLDERS = ("src", "firmware-sim", "bindings", "tests")
FROZEN = ("tests/abi/v1/",)


def find():
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path:
            said = subprocess.run([path, "--version"], text=True, stdout=subprocess.PIPE)
            if re.search(r"version 14\.", said.stdout):
                return path
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=".")
    root = parser.parse_args().root
    tool = find()
    if tool is None:
        print("skipped: clang-format 14 is missing")
        return 0
    files = [f for f in sources(root, FOLDERS) if not f.startswith(FROZEN)]
    if len(files) < 100:
        sys.exit(f"only {len(files)} sources found under {root}")
    probe = subprocess.run(
        [tool, "--style=file", "--assume-filename=probe.cc"], cwd=root, text=True,
        input="int  f( ){return 1 ;}\n", stdout=subprocess.PIPE, check=True,
    )
    if probe.stdout != "int f() { return 1; }\n":
        sys.exit(f"{tool} does not format as expected: {probe.stdout}")
    done = subprocess.run(
        [tool, "--style=file", "--dry-run", "--Werror", "--ferror-limit=1", *files],
        cwd=root, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )
    bad = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", done.stderr, re.M)))
    for name in bad:
        print(f"{name}: run clang-format-14 -i on it")
    print(f"{len(files)} sources, {len(bad)} complaints")
    return 1 if bad or done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
