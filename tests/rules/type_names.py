#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A type's name, with its namespaces, belongs to one header.

  type_names.py --root .      lists the names that two headers define; fails when there is one
  type_names.py --self-test   shows that such names are found

A program with two types of one name is not valid C++. No compiler complains, because each
source sees one of them, and the linker keeps one of two templates made for them: the one with
the wrong size.
"""
import argparse
import pathlib
import re
import sys

FOLDERS = ("src", "firmware-sim")
PART = re.compile(r"^(?:namespace ([\w:]+) \{|\}  // namespace ([\w:]+)"
                  r"|(?:template <[^\n]*>\n)?(?:class|struct|union|enum class|enum) (\w+)"
                  r"(?: final)?(?: : [^\n{;]*)? \{)", re.M)


def types_of(text):
    """Qualified names of the types that a header defines outside of other types."""
    inside = []
    for opened, closed, name in PART.findall(text):
        if opened:
            inside.append(opened)
        elif closed:
            inside.remove(closed)
        else:
            yield "::".join([*inside, name])


def complaints_of(headers):
    """headers: (path, text)"""
    first = {}
    for path, text in headers:
        for name in types_of(text):
            if first.setdefault(name, path) != path:
                yield f"{path}: {name} is a type of {first[name]} too"


def self_test():
    one = "namespace a {\nclass B {\n};\n}  // namespace a\n"
    expected = (
        (["namespace a {\nstruct B {\n  int x;\n};\n}  // namespace a\n"], 1),
        (["namespace a {\nenum class B : uint8_t {\n};\n}  // namespace a\n"], 1),
        (["namespace a {\ntemplate <typename T>\nstruct B {\n};\n}  // namespace a\n"], 1),
        (["namespace a {\nnamespace c {\nstruct B {\n};\n}  // namespace c\n"
          "}  // namespace a\n"], 0),
        (["namespace a {\nstruct B;\nstruct C {\n  struct B {};\n};\n}  // namespace a\n"], 0),
        (["namespace b {\nclass B : public C {\n};\n}  // namespace b\n"] * 2, 1),
    )
    for others, want in expected:
        headers = [("one.h", one)] + [(f"{i}.h", text) for i, text in enumerate(others)]
        found = list(complaints_of(headers))
        if len(found) != want:
            sys.exit(f"self-test: {want} expected, found {found} in\n{others}")
    print(f"{len(expected)} sets of headers judged as expected")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=".")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    root = pathlib.Path(arguments.root)
    headers = [(path.relative_to(root), path.read_text(encoding="utf-8"))
               for folder in FOLDERS for path in sorted((root / folder).rglob("*.h"))]
    bad = list(complaints_of(headers))
    print("\n".join(bad + [f"{len(headers)} headers"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
