#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each library source has its test where the path says: src/a/b.cc, tests/a/b_test.cc.
A file there without a TEST_CASE is no test.

  mirrors.py --root .            fails for a source without its test that is not listed in
                                 mirrors.txt, and for a line of mirrors.txt that is not
                                 needed any more
  mirrors.py --root . --list     prints the sources without a test of their own
  mirrors.py --self-test         shows that each of the complaints is made

mirrors.txt names, for a source that has no test of its own, the test that runs it. The
list may only shrink: its first line says how many lines it may have at most.
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


def read_list(path):
    """(how many lines there may be, {source: test})."""
    lines = [line for line in path.read_text().splitlines() if line[:1] not in ("#", "")]
    first = lines[0].split()
    if first[:2] != ["at", "most"]:
        sys.exit(f"{path}: the first line is 'at most N'")
    return int(first[2]), dict(line.split() for line in lines[1:])


def complaints(root, listed, most):
    missing = set(without_test(root))
    for source in sorted(missing - set(listed)):
        yield f"src/{source} has no test, or one without a TEST_CASE: {test_of(source)}"
    for source, test in sorted(listed.items()):
        if not (root / "src" / source).exists():
            yield f"mirrors.txt: src/{source} is not there any more"
        elif source not in missing:
            yield f"mirrors.txt: src/{source} has its test now; take the line out"
        elif not (root / "tests" / test).exists():
            yield f"mirrors.txt: the test of src/{source}, tests/{test}, is not there"
        elif not has_cases(root / "tests" / test):
            yield f"mirrors.txt: the test of src/{source}, tests/{test}, has no TEST_CASE"
    if len(listed) > most:
        yield f"mirrors.txt: {len(listed)} lines; at most {most} are allowed"
    elif len(listed) < most:
        yield f"mirrors.txt: {len(listed)} lines; write 'at most {len(listed)}'"


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        case = 'TEST_CASE("it works") { CHECK(Works()); }\n'
        for path, text in (("src/a/tested.cc", ""), ("src/a/lone.cc", ""),
                           ("src/cli/main.cc", ""), ("tests/a/tested_test.cc", case),
                           ("tests/a/all_test.cc", case), ("tests/a/idle_test.cc", "int a;"),
                           ("tests/a/lone_test.cc", "// " + case)):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        cases = (
            ({}, 0, "src/a/lone.cc has no test"),
            ({"a/lone.cc": "a/all_test.cc"}, 1, None),
            ({"a/lone.cc": "a/all_test.cc"}, 2, "write 'at most 1'"),
            ({"a/lone.cc": "a/all_test.cc"}, 0, "at most 0 are allowed"),
            ({"a/lone.cc": "a/gone_test.cc"}, 1, "tests/a/gone_test.cc, is not there"),
            ({"a/lone.cc": "a/idle_test.cc"}, 1, "tests/a/idle_test.cc, has no TEST_CASE"),
            ({"a/lone.cc": "a/all_test.cc", "a/tested.cc": "a/all_test.cc"}, 2, "has its"),
            ({"a/lone.cc": "a/all_test.cc", "a/gone.cc": "a/all_test.cc"}, 2, "any more"),
        )
        for listed, most, want in cases:
            found = "\n".join(complaints(root, listed, most))
            if (want is None and found) or (want is not None and want not in found):
                sys.exit(f"self-test: expected {want}, found {found}")
    print(f"{len(cases)} lists judged as expected")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    root = arguments.root
    if arguments.list:
        print("\n".join(without_test(root)))
        return 0
    most, listed = read_list(pathlib.Path(__file__).with_name("mirrors.txt"))
    bad = list(complaints(root, listed, most))
    print("\n".join(bad + [f"{len(listed)} sources without a test of their own, "
                           f"{len(bad)} complaints"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
