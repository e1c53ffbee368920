#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which tests may have another result without the reference data of ../shared.

  differing.py TESTS.xml BUILD SELECTION SAME
      TESTS.xml: a run with the data (ctest --output-junit). Of the tests that ctest knows in
      BUILD now, writes the numbers of those to run without the data to SELECTION (ctest -I) and
      the names of the others to SAME.
  differing.py --root ROOT      fails where a test finds the data's folder by itself
  differing.py --self-test

A test is run again unless the run with the data shows that it cannot differ: it passed, its
output has no line "looks for the reference data" (tests/support/shared_data.h), the data's folder
is not in its command or environment, and no test that sets something up for it is run again.
"""
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

LOOKED = re.compile(r"^looks for the reference data$", re.M)
FOLDER = re.compile(r"(?:^|[/=;:])\.\./shared(?:$|[/;:])")


def same_results(root):
    """Names of tests that passed, and never looked for the data."""
    return {
        test.get("name")
        for test in root.findall("testcase")
        if test.get("status") == "run" and test.find("skipped") is None
        and not LOOKED.search(test.findtext("system-out") or "")
    }


def listed(properties, name):
    value = properties.get(name, [])
    return value if isinstance(value, list) else [value]


def divide(tests, same):
    """`tests` as ctest lists them. Returns numbers to run again, and names of the others."""
    names, again, setup = [], set(), {}
    for number, test in enumerate(tests, 1):
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        names.append((number, test["name"], properties))
        words = test.get("command", []) + listed(properties, "ENVIRONMENT")
        if test["name"] not in same or any(map(FOLDER.search, words)):
            again.add(test["name"])
        for fixture in listed(properties, "FIXTURES_SETUP"):
            setup.setdefault(fixture, set()).add(test["name"])
    grown = True
    while grown:
        grown = False
        for _, name, properties in names:
            needed = set(listed(properties, "DEPENDS"))
            for fixture in listed(properties, "FIXTURES_REQUIRED"):
                needed |= setup.get(fixture, set())
            if name not in again and needed & again:
                again.add(name)
                grown = True
    return ([number for number, name, _ in names if name in again],
            [name for _, name, _ in names if name not in again])


def self_test():
    def case(name, output, extra=""):
        return (f'<testcase name="{name}" status="run">{extra}'
                f"<system-out>{output}</system-out></testcase>")

    def test(name, *command, **properties):
        return {"name": name, "command": command and list(command),
                "properties": [{"name": n, "value": v} for n, v in properties.items()]}

    root = ET.fromstring(
        "<testsuite>" + case("plain", "1\n2") + case("looks", "1\nlooks for the reference data\n2")
        + case("skips", "", '<skipped message=""/>') + case("given", "") + case("set up", "")
        + case("depends", "") + '<testcase name="fails" status="fail"/></testsuite>')
    same = same_results(root)
    assert same == {"plain", "given", "set up", "depends"}, same
    tests = [test("plain", "a"), test("new", "b"), test("looks", "c"), test("skips", "d"),
             test("given", "e", "-DSHARED=/a/tests/../shared"), test("fails", "f"),
             test("set up", "g", FIXTURES_SETUP=["one"], DEPENDS=["given"]),
             test("depends", "h", FIXTURES_REQUIRED=["one"])]
    numbers, others = divide([{**t, "command": list(t["command"])} for t in tests], same)
    assert numbers == [2, 3, 4, 5, 6, 7, 8], numbers
    assert others == ["plain"], others
    assert not FOLDER.search("/a/../shared_data") and FOLDER.search("/a/../shared/models")


def check(root):
    """C++ tests find the folder by one function, which writes that line."""
    alone = re.compile(r'getenv\("SLUICE_SHARED"\)|\bSLUICE_SHARED_DEFAULT\b')
    wrong = [str(path) for path in sorted((root / "tests").rglob("*"))
             if path.suffix in (".cc", ".h", ".c") and path.name != "shared_data.h"
             and alone.search(path.read_text(encoding="utf-8"))]
    if wrong:
        sys.exit("SharedPath of tests/support/shared_data.h finds the data, not: " + " ".join(wrong))


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    if sys.argv[1] == "--root":
        check(pathlib.Path(sys.argv[2]))
        return
    results, build, selection, others = sys.argv[1:]
    known = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                           stdout=subprocess.PIPE).stdout
    numbers, names = divide(json.loads(known)["tests"], same_results(ET.parse(results).getroot()))
    with open(selection, "w", encoding="utf-8") as file:
        file.write(",".join(["0", "0", "1", *map(str, numbers)]) + "\n")
    with open(others, "w", encoding="utf-8") as file:
        file.writelines(name + "\n" for name in names)


main()
