#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests do not sleep.

  sleeps.py --root .      lists every sleep in a C or C++ source of the tests and of the
                          bindings; fails when there is one without a reason
  sleeps.py --self-test   shows that sleeps are found

A test that waits for a time passes on an idle machine and fails on a busy one, and takes that
time in every run. A test of a deadline sets the clock itself (tests/support/work_clock.h or a
clock of its own); a test of threads waits for a word. Benches measure by hand what time does, so
they are left out. ALLOWED names other sources, with the reason.
"""
import argparse
import pathlib
import re
import sys

from sources import sources, without_noise

FOLDERS = ("tests", "bindings")
BENCHES = "tests/bench/"
ALLOWED = {}  # source: why it sleeps
SLEEP = re.compile(
    r"\b(sleep_for|sleep_until|usleep|nanosleep|clock_nanosleep|thrd_sleep|(?<!\.)(?<!->)sleep)"
    r"\s*\(")


def complaints_of(path, text, allowed):
    if path.startswith(BENCHES):
        return
    text = without_noise(text)
    found = [(text.count("\n", 0, m.start()) + 1, m.group(1)) for m in SLEEP.finditer(text)]
    if path not in allowed:
        yield from (f"{path}:{line}: {name}: a test sleeps" for line, name in found)
    elif not allowed[path] or not found:
        yield f"{path}: its row of ALLOWED has no reason or is stale"


def self_test():
    sleep = "std::this_thread::sleep_for(std::chrono::milliseconds(5));\n"
    expected = (
        ("tests/a.cc", sleep, 1),
        ("tests/a.cc", "std::this_thread::\n    sleep_until(then);\n", 1),
        ("tests/a.cc", "usleep(10);\nnanosleep(&t, nullptr);\n::sleep (1);\nsleep(1);\n", 4),
        ("bindings/a.c", "thrd_sleep(&t, NULL);\nclock_nanosleep(c, 0, &t, NULL);\n", 2),
        ("tests/a.cc", "// sleep(1);\nconst char* s = \"sleep(1)\";\n", 0),
        ("tests/a.cc", "core.sleep(1);\ncore->sleep(1);\nsleeps(2);\nint sleep = 1;\n", 0),
        ("tests/bench/a.cc", sleep, 0),
        ("tests/known.cc", sleep, 0),
        ("tests/known.cc", "int x;\n", 1),
        ("tests/bare.cc", sleep, 1),
    )
    allowed = {"tests/known.cc": "it waits for a device", "tests/bare.cc": ""}
    for path, text, want in expected:
        found = list(complaints_of(path, text, allowed))
        if len(found) != want:
            sys.exit(f"self-test: {want} expected, found {found} in {path}\n{text}")
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
        seen += 1
        bad += complaints_of(path, (root / path).read_text(encoding="utf-8"), ALLOWED)
    bad += [f"ALLOWED: {path} is not there" for path in ALLOWED if not (root / path).exists()]
    if seen < 300:
        sys.exit(f"only {seen} sources found under {root}")
    print("\n".join(bad + [f"{seen} sources, {len(bad)} complaints"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
