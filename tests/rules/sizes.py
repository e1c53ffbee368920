#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Limits of the sources: lines of a function, lines of a class, parameters.

  sizes.py --root .          lists what is too large and fails when there is any
  sizes.py --self-test       shows on small sources that each rule can fail

A function is counted from its signature to its closing brace: 60 lines in src and
firmware-sim, 80 in tests, benches and bindings. Parameters count in src, in firmware-sim and
in the public headers.
"""
import argparse
import pathlib
import sys

from sources import measure, sources

LIBRARY = ("include", "src", "firmware-sim")
OTHERS = ("tests", "bindings")
LIMITS = {"library": 60, "others": 80, "class": 200, "parameters": 6}
FROZEN = "tests/abi/v1/"


def complaints(root):
    """Lines, one for each offender."""
    for folders, limit in ((LIBRARY, LIMITS["library"]), (OTHERS, LIMITS["others"])):
        for path in sources(root, folders):
            if path.startswith(FROZEN):
                continue
            text = (pathlib.Path(root) / path).read_text(encoding="utf-8")
            yield from complaints_of(path, text, limit, folders is LIBRARY)


def complaints_of(path, text, limit, is_library):
    functions, classes = measure(path, text)
    for f in functions:
        if f.has_body and f.lines > limit:
            yield f"{path}:{f.first}: function {f.name}: {f.lines} lines of {limit}"
        if is_library and f.parameters > LIMITS["parameters"]:
            yield (
                f"{path}:{f.first}: function {f.name}: {f.parameters} parameters of "
                f"{LIMITS['parameters']}"
            )
    for c in classes:
        if c.lines > LIMITS["class"]:
            yield f"{path}:{c.first}: class {c.name}: {c.lines} lines of {LIMITS['class']}"


def self_test():
    """Each rule complains of a source that breaks it by one and accepts one at the limit."""
    body = "  Work();\n"

    def found(text):
        return [c.split(": ")[1] for c in complaints_of("a.cc", text, 60, True)]

    at_limit = "namespace a {\nint F(int a, int b) {\n" + body * 58 + "}\n}\n"
    too_long = at_limit.replace(body, body * 2, 1)
    wide = "void G(int a, B<int, C> b, int c, int d, int (*e)(int, int), int f%s);\n"
    c_header = 'extern "C" {\n' + wide.replace("void G", "SLUICE_API int g") + "}\n"
    klass = "class K : public L {\n public:\n  K() : a_{0}, b_(1) {}\n%s};\n"
    method = "struct S {\n  template <class T>\n  int M(T t) const noexcept {\n%s  }\n};\n"
    lists = "const int kTable[] = {\n%s};\n"
    constructor = "S::S(int a)\n    : a_{a}, b_(a) {\n%s}\n"
    operators = (
        "bool operator==(A a, A b) { return true; }\nclass D {\n public:\n"
        "  operator bool() const { return true; }\n  B<int> operator()(int a) { %s }\n};\n"
    )
    caught = "void F() try {\n} catch (...) {\n}\n"
    case = 'TEST_CASE("brace { and // quote") {\n%s}\n'
    comment = "// void F() {\n/* { */\nconst char* s = \"{\"; char c = '{';\n"
    expected = (
        (at_limit, []),
        (too_long, ["function F"]),
        (wide % "", []),
        (wide % ", int g", ["function G"]),
        (wide.replace(";", " {}") % ", int g", ["function G"]),
        (c_header % "", []),
        (c_header % ", int g", ["function g"]),
        (klass % (body * 195), []),
        (klass % (body * 200), ["class K"]),
        (method % (body * 57), []),
        (method % (body * 60), ["function M"]),
        (lists % (" 1,\n" * 90), []),
        (constructor % (body * 60), ["function S"]),
        (case % (body * 60), ["function TEST_CASE"]),
        (operators % "" + at_limit, []),
        (operators % "" + too_long, ["function F"]),
        (operators % (body * 60), ["function operator()"]),
        (caught + too_long, ["function F"]),
        (comment + at_limit, []),
        (comment + too_long, ["function F"]),
    )
    bad = 0
    for text, want in expected:
        got = found(text)
        if got != want:
            bad += 1
            print(f"self-test: expected {want}, found {got} in\n{text[:200]}")
    if bad:
        sys.exit(1)
    print(f"{len(expected)} sources judged as expected")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=".")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    seen = sum(1 for _ in sources(arguments.root, LIBRARY + OTHERS))
    if seen < 100:
        sys.exit(f"only {seen} sources found under {arguments.root}")
    bad = list(complaints(arguments.root))
    print("\n".join(bad + [f"{seen} sources, {len(bad)} complaints"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
