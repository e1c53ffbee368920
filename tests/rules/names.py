#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The name of a test case can be listed by CMake and selected by doctest.

  names.py --root .      lists the names that cannot; fails when there is one
  names.py --self-test   shows that such names are found

CMake reads the names of a program's test cases as a list. It divides that list at
semicolons, except between square brackets, and reads a backslash as an escape. Either way
ctest asks for names that do not exist. An asterisk in a name selects other cases too.
"""
import argparse
import pathlib
import re
import sys

from sources import sources

FOLDERS = ("tests", "bindings", "src", "firmware-sim")
CASE = re.compile(r'\bTEST_CASE\w*\(\s*((?:"(?:\\.|[^"\\\n])*"\s*)+)')
REFUSED = re.compile(r"[;\[\]\\*]")


def names_of(text):
    """(line, name) of every test case; pieces of a literal are put together."""
    for match in CASE.finditer(text):
        name = re.sub(r'"\s*"', "", match.group(1).strip())[1:-1]
        yield text.count("\n", 0, match.start()) + 1, name


def complaints_of(path, text):
    for line, name in names_of(text):
        for sign in sorted(set(REFUSED.findall(name))):
            yield f"{path}:{line}: test case \"{name}\": '{sign}' in its name"


def self_test():
    expected = (
        ('TEST_CASE("a, b and c: what (x) is") {}\n', 0),
        ('TEST_CASE("a; b") {}\n', 1),
        ('TEST_CASE(\n    "a "\n    "b; c") {}\nTEST_CASE("d; e") {}\n', 2),
        ('TEST_CASE("in [0, 1)") { Work(";"); }\n', 1),
        ('TEST_CASE("said \\"so\\"") {}\n', 1),
        ('TEST_CASE("a * b") {}\n', 1),
    )
    for text, want in expected:
        found = list(complaints_of("a.cc", text))
        if len(found) != want:
            sys.exit(f"self-test: {want} expected, found {found} in\n{text}")
    print(f"{len(expected)} sources judged as expected")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=".")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    root, seen, bad = pathlib.Path(arguments.root), 0, []
    for path in sources(root, FOLDERS):
        text = (root / path).read_text(encoding="utf-8")
        seen += len(list(names_of(text)))
        bad += complaints_of(path, text)
    if seen < 500:
        sys.exit(f"only {seen} test cases found under {root}")
    print("\n".join(bad + [f"{seen} test cases, {len(bad)} complaints"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
