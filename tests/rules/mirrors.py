#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each library source has its test where the path says: src/a/b.cc, tests/a/b_test.cc.
A file there without a TEST_CASE is no test.

  mirrors.py --root .            lists the sources without a test and fails when there are any
  mirrors.py --self-test         shows that a source without a test is found
"""
import argparse
import pathlib
import re
import sys
import tempfile

from sources import without_noise

OUTSIDE = ("cli/",)  # the tool is tested as a whole


def has_cases(path):
    return path.exists() and re.search(
        r"^TEST_CASE\w*\(", without_noise(path.read_text(encoding="utf-8")), re.M)


def without_test(root):
    for path in sorted((root / "src").rglob("*.cc")):
        source = path.relative_to(root / "src")
        if source.as_posix().startswith(OUTSIDE):
            continue
        if not has_cases(root / "tests" / source.parent / f"{source.stem}_test.cc"):
            yield source.as_posix()


def test_of(source):
    return f"tests/{source[:-3]}_test.cc"


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        case = 'TEST_CASE("it works") { CHECK(Works()); }\n'
        for path, text in (("src/a/tested.cc", ""), ("tests/a/tested_test.cc", case),
                           ("src/a/lone.cc", ""), ("tests/b/lone_test.cc", case),
                           ("src/a/idle.cc", ""), ("tests/a/idle_test.cc", "int a;"),
                           ("src/a/dead.cc", ""), ("tests/a/dead_test.cc", "// " + case),
                           ("src/cli/main.cc", "")):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        want, found = ["a/dead.cc", "a/idle.cc", "a/lone.cc"], list(without_test(root))
        if found != want:
            sys.exit(f"self-test: expected {want}, found {found}")
    print("3 sources of 4 judged to lack a test")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    missing = list(without_test(arguments.root))
    for source in missing:
        print(f"src/{source} has no test, or one without a TEST_CASE: {test_of(source)}")
    print(f"{len(missing)} sources without a test of their own")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
