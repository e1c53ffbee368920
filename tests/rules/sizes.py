#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Limits of the sources: lines of a function, lines of a class, parameters.

  sizes.py --root .          lists what is too large and fails when there is any
  sizes.py --self-test       shows on small sources that each rule can fail

A function is counted from its signature to its closing brace: 60 lines in src and
firmware-sim, 80 in tests, benches and bindings; so are a macro and every lambda, also one without
a name in a table or in an initialiser. Parameters count in src, in firmware-sim and in the public
headers, also those of a type of functions: of a field that points to one, of a `using` or a
`typedef`, of a std::function. A class has 200 lines, in src and firmware-sim together with the
bodies of its members that stand outside. Functions of scripts and of the bindings' other
languages (scripts.py) have 80 lines.
"""
import argparse
import os
import pathlib
import sys

import scripts
from sources import measure, sources

LIBRARY = ("include", "src", "firmware-sim")
OTHERS = ("tests", "bindings")
LIMITS = {"library": 60, "others": 80, "class": 200, "parameters": 6}
FROZEN = "tests/abi/v1/"


def complaints(root):
    """Lines, one for each offender."""
    measured = [(path, *measure(path, (pathlib.Path(root) / path).read_text(encoding="utf-8")))
                for path in sources(root, LIBRARY)]
    yield from complaints_of_classes(whole_classes(measured))
    for folders, limit in ((LIBRARY, LIMITS["library"]), (OTHERS, LIMITS["others"])):
        for path in sources(root, folders):
            if path.startswith(FROZEN):
                continue
            text = (pathlib.Path(root) / path).read_text(encoding="utf-8")
            yield from complaints_of(path, text, limit, folders is LIBRARY)
    for path in scripts.paths(root):
        text = (pathlib.Path(root) / path).read_text(encoding="utf-8")
        yield from complaints_of_script(path, text)


def complaints_of_script(path, text):
    for f in scripts.functions(path, text):
        if f.lines > LIMITS["others"]:
            yield f"{path}:{f.first}: function {f.name}: {f.lines} lines of {LIMITS['others']}"


def whole_classes(measured):
    """{folder/class: lines with the bodies outside} of [(path, functions, classes)]."""
    whole, bodies = {}, {}
    for path, functions, classes in measured:
        folder = os.path.dirname(path)
        for c in classes:
            name = f"{folder}/{c.name}"
            whole[name] = max(whole.get(name, 0), c.lines)
        for f in functions:
            if f.has_body and f.owner:
                name = f"{folder}/{f.owner}"
                bodies[name] = bodies.get(name, 0) + f.lines
    for name, lines in bodies.items():  # a class of another folder counts with its bodies alone
        whole[name] = whole.get(name, 0) + lines
    return whole


def complaints_of_classes(whole):
    most = LIMITS["class"]
    for name, lines in sorted(whole.items()):
        if lines > most:
            yield f"{name}: class with the bodies of its members: {lines} lines of {most}"


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


def c_sources():
    """(text, complaints) of sources in C and C++, each at a limit or beyond it."""
    body = "  Work();\n"
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
    default = "template <class T = B<int, 2>, int N = 3>\n"
    template = default + "int F(T t) {\n%s}\n"
    template_class = default + "class K {\n%s};\n"
    lambdas = "const auto kWork = [](int a, int b) -> int {\n%s};\n"
    macro = "#define F(x) \\\n%s  x\nint G();\n"
    caught = "void F() try {\n} catch (...) {\n}\n"
    case = 'TEST_CASE("brace { and // quote") {\n%s}\n'
    comment = "// void F() {\n/* { */\nconst char* s = \"{\"; char c = '{';\n"
    return (
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
        (template % (body * 58), ["function F"]),
        (template % (body * 57), []),
        ("template <int N = 3>\n" + wide % ", int g", ["function G"]),
        (template_class % (body * 198), ["class K"]),
        (template_class % (body * 197), []),
        (lambdas % (body * 59), ["function kWork"]),
        (lambdas % (body * 58), []),
        (macro % ("  Work(x); \\\n" * 59), ["function F"]),
        (macro % ("  Work(x); \\\n" * 58), []),
        (caught + too_long, ["function F"]),
        ("template <class T, std::enable_if_t<(sizeof(T) > 4), int> = 0>\nint F(T t) {\n%s}\n"
         % (body * 62), ["function F"]),
        (comment + at_limit, []),
        (comment + too_long, ["function F"]),
    )


def lambdas_and_types():
    """(text, complaints): lambdas without a name, and types of functions."""
    body = "  Work();\n"
    lambdas = (
        "const Row kRows[] = {\n    {1, [](int a) {\n%s}},\n    {2, [] { return 1; }},\n};\n",
        "const bool kMade = Register(3, [](int a, B<int, C> b) mutable -> B<int, C> {\n%s});\n",
        "struct S {\n  std::function<int(int)> f{[this, n = 2](int a) noexcept {\n%s}};\n};\n",
    )
    for text in lambdas:
        yield text % (body * 58), []
        yield text % (body * 59), ["function lambda"]
    yield "const auto k = Made([](int a, int b, int c, int d, int e, int f) { return 1; });\n", []
    yield "auto k = Made([](int a, int b, int c, int d, int e, int f, int g) { return 1; });\n", [
        "function lambda"]
    yield "int F() {\n  Call([&](int a, int b, int c, int d, int e, int f, int g) {});\n}\n", [
        "function lambda"]
    yield "[[nodiscard]] int F(int a);\nint G(int i) {\n  auto [a, b] = P(i);\n  v[i](a);\n}\n", []
    types = (
        ("struct S {\n  int (*f)(int, int, int, int, int, int%s);\n};\n", "f"),
        ("struct S {\n  Row (K::*f)(int, int, int, int, int, int%s) const;\n};\n", "f"),
        ("using F = B<int> (*)(int, int, int, B<int, C>, int, int%s);\n", "(unnamed)"),
        ("using F = int(int, int, int, int (*)(int), int, int%s);\n", "F"),
        ("typedef int (*f)(int a, int b, int c, int d, int e, int f%s);\n", "f"),
        ("int G(int a, int (*f)(int, int, int, int, int, int%s));\n", "f"),
        ("std::function<int(int, int, int, int, int, int%s)> f;\n", "(unnamed)"),
        ("const Row kRows[] = {{1, 2}};\nint (*f[2])(int, int, int, int, int, int%s);\n", "f"),
    )
    for text, name in types:
        yield text % "", []
        yield text % ", int", [f"function {name}"]
    yield "int F(int a) {\n  return (*f)(a, a, a, a, a, a, a) + g * (*f)(a);\n}\n", []


def other_languages():
    """(path, text, complaints) of scripts and of the bindings."""
    line = "    Work()\n"
    for path, text, least in (
            ("a.py", "class K:\n  @held\n  def F(self):\n%s\n", 2),
            ("a.py", "async def F():\n%sx = 1\n", 1),
            ("CMakeLists.txt", "if(A)\n  function(F name)\n%s  endfunction()\nendif()\n", 2),
            ("a.cmake", "macro(F)\n%sendmacro()\n", 2),
            ("run", "F() {\n%s}\n", 2),
            ("a.go", "func (c *K) F(a int) {\n%s}\n", 2),
            ("a.rs", "impl K {\n    pub fn F<T: Fn(i32)>(\n        a: T,\n    ) -> i32 {\n%s    }\n"
             "}\nextern \"C\" {\n    fn G(a: i32);\n}\n", 4)):
        yield path, text % (line * (LIMITS["others"] - least)), []
        yield path, text % (line * (LIMITS["others"] - least + 1)), ["function F"]


def differing_classes():
    """Lines, one for each class with bodies outside that is not judged as expected."""
    body = "  Work();\n"
    header = "class K {\n  int A();\n};\ntemplate <class T>\nstruct L {\n  int B();\n};\n"
    source = "int K::A() {\n%s}\ntemplate <class T>\nint L<T>::B() {\n%s}\n"
    for one, two, want in ((195, 10, []), (196, 10, ["src/a/K"]), (10, 194, ["src/a/L"])):
        texts = {"src/a/k.h": header, "src/a/k.cc": source % (body * one, body * two)}
        whole = whole_classes([(path, *measure(path, text)) for path, text in texts.items()])
        found = [c.split(": ")[0] for c in complaints_of_classes(whole)]
        if found != want:
            yield f"expected {want}, found {found} with {one} and {two} lines: {whole}"


def self_test():
    judged = [("a.cc", text, want, [c.split(": ")[1] for c in complaints_of("a.cc", text, 60, True)])
              for text, want in (*c_sources(), *lambdas_and_types())]
    judged += [(path, text, want, [c.split(": ")[1] for c in complaints_of_script(path, text)])
               for path, text, want in other_languages()]
    bad = [f"expected {want}, found {found} in {path}:\n{text[:200]}"
           for path, text, want, found in judged if found != want]
    bad += differing_classes()
    if bad:
        sys.exit("\n".join(f"self-test: {line}" for line in bad))
    print(f"{len(judged)} sources judged as expected")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=".")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    seen = sum(1 for _ in sources(arguments.root, LIBRARY + OTHERS))
    seen += sum(1 for _ in scripts.paths(arguments.root))
    if seen < 100:
        sys.exit(f"only {seen} sources found under {arguments.root}")
    bad = list(complaints(arguments.root))
    print("\n".join(bad + [f"{seen} sources, {len(bad)} complaints"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
