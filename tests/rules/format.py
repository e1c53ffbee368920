#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every C and C++ source is formatted as .clang-format says, by clang-format 14.

  format.py --root .       names the files that are not, and lines of comments that are too
                           long; where that version is not there, it says "skipped"
  format.py --self-test    shows that a long line of a comment is found

Other versions break lines elsewhere. The public headers are laid out by hand, and the
frozen ones are as they were. clang-format leaves comments as they are: that none of their
lines is longer than 100 columns is looked at here, in the public headers too.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

from sources import sources

FOLDERS = ("src", "firmware-sim", "bindings", "tests")
FROZEN = ("tests/abi/v1/",)
COLUMNS = 100


def find():
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path:
            said = subprocess.run([path, "--version"], text=True, stdout=subprocess.PIPE)
            if re.search(r"version 14\.", said.stdout):
                return path
    return None


def long_comments(path, text):
    """Lines of comments, or with one behind the code, that are too long."""
    is_inside = False
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', line)
        has_comment = is_inside or re.search(r"//|/\*", code)
        if has_comment and len(line) > COLUMNS:
            yield f"{path}:{number}: {len(line)} columns of {COLUMNS} in a comment"
        opened, closed = code.rfind("/*"), code.rfind("*/")
        if opened != closed and not re.match(r"\s*//", code):
            is_inside = opened > closed


def self_test():
    fill = "x" * 97
    for text, want in ((f"// {fill}", 0), (f"// {fill}x", 1), (f"int a;  // {fill}", 1),
                       (f"/*\n * {fill}x\n */", 1), (f"/* a */\nint {fill}x;", 0),
                       (f'const char* s = "https://{fill}";', 0)):
        found = list(long_comments("a.cc", text))
        if len(found) != want:
            sys.exit(f"self-test: {want} expected, found {found} in\n{text}")
    print("long lines of comments are found")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=".")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    root = arguments.root
    long_lines = [line for f in sources(root, ("include", *FOLDERS)) if not f.startswith(FROZEN)
                  for line in long_comments(f, (pathlib.Path(root) / f).read_text("utf-8"))]
    if long_lines:
        sys.exit("\n".join(long_lines))
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
