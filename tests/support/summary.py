#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says in a few lines what a run of ctest did: how many tests ran, which were skipped.

  summary.py TESTS.xml SAME.txt     as written by ctest --output-junit, and by differing.py where
                                    only a part of the tests ran

A test that could not run prints "skipped: WHY" and counts as skipped. One that ran
without a part of what it could check prints "skipped in part: WHY" and counts as run.
A skipped test that gives no reason is an error, and so is a run without any test.
"""
import collections
import os
import re
import sys
import xml.etree.ElementTree as ET

WHOLE = re.compile(r"(?:^|\bMESSAGE: )skipped: (.*)$", re.M)
PART = re.compile(r"^skipped in part: (.*)$", re.M)


def listed(title, tests_by_reason):
    if not tests_by_reason:
        return
    print(title)
    for why, names in sorted(tests_by_reason.items(), key=lambda item: -len(item[1])):
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        print(f"  {len(names):4}  {why}: {names[0]}{more}")


def main():
    tests = ET.parse(sys.argv[1]).getroot().findall("testcase")
    counts = collections.Counter()
    skipped, in_part, silent = {}, {}, []
    for test in tests:
        name, output = test.get("name"), test.findtext("system-out") or ""
        if test.find("skipped") is not None or test.get("status") in ("notrun", "disabled"):
            counts["skipped"] += 1
            found = WHOLE.findall(output)
            if found:
                skipped.setdefault(found[-1].strip(), []).append(name)
            else:
                silent.append(name)
            continue
        counts["failed" if test.get("status") == "fail" else "passed"] += 1
        for why in set(PART.findall(output)):
            in_part.setdefault(why.strip(), []).append(name)
    listed("Skipped, and why:", skipped)
    listed("Skipped in part, and why:", in_part)
    for name in silent:
        print(f"skipped without a reason: {name}")
    ran = counts["passed"] + counts["failed"]
    print(
        f"{len(tests)} tests: {ran} ran, {counts['passed']} passed, "
        f"{counts['failed']} failed; {counts['skipped']} skipped"
    )
    if os.path.exists(sys.argv[2]):
        with open(sys.argv[2], encoding="utf-8") as file:
            same = set(file.read().splitlines()) - {test.get("name") for test in tests}
        print(f"{len(same)} further tests were not run again: they passed with the reference data "
              "and did not look for it")
    return 1 if silent or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
