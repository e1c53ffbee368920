#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures of the sources, to be compared with those of another commit.

  figures.py --root . [--operator COMMIT...] [--build build/release] [--strip strip] [--time]

Prints lines per room, the longest functions and classes, parameters, sources with a test of
their own, blocks of code that stand twice (--duplicates lists them). --operator names the
commits that added operators, whose files it lists; --build adds the sizes of the libraries,
stripped, in bytes; --time adds how long it takes to change one source of src/model, build
test_model and run one of its tests. Another commit of the project is measured by giving its
folder as the root.
"""
import argparse
import collections
import os
import pathlib
import subprocess
import tempfile
import time

from duplicates import WINDOW, duplicates, texts_of
from mirrors import without_test
from sources import measure, sources

FOLDERS = ("include", "src", "firmware-sim", "bindings", "tests")
NOTED = (60, 80)


def room_of(path):
    parts = pathlib.PurePath(path).parts
    if parts[0] == "src":
        return "/".join(parts[: 3 if parts[1] == "solve" else 2])
    return parts[0]


def lines_per_room(root):
    rooms = collections.Counter()
    files = collections.Counter()
    for path in sources(root, FOLDERS):
        rooms[room_of(path)] += (root / path).read_text(encoding="utf-8").count("\n")
        files[room_of(path)] += 1
    for room in sorted(rooms):
        print(f"{rooms[room]:8} lines {files[room]:5} files  {room}")
    library = sum(n for r, n in rooms.items() if r.startswith("src/") and r != "src/cli")
    print(f"{library:8} lines in src beside src/cli")


def largest(root):
    for name, folders in (("src and firmware-sim", ("src", "firmware-sim")),
                          ("tests and bindings", ("tests", "bindings"))):
        functions, classes = [], []
        for path in sources(root, folders):
            more = measure(path, (root / path).read_text(encoding="utf-8"))
            functions += more[0]
            classes += more[1]
        bodies = [f for f in functions if f.has_body]
        over = ", ".join(f"{sum(f.lines > n for f in bodies)} over {n} lines" for n in NOTED)
        longest = max(bodies, key=lambda f: f.lines)
        widest = max(functions, key=lambda f: f.parameters)
        biggest = max(classes, key=lambda c: c.lines)
        print(f"{name}: {len(bodies)} functions, {over}")
        print(f"  longest function: {longest.lines} lines, {longest.name} in {longest.file}")
        print(f"  longest class: {biggest.lines} lines, {biggest.name} in {biggest.file}")
        print(f"  {sum(c.lines > 200 for c in classes)} classes over 200 lines, "
              f"{sum(f.parameters > 6 for f in functions)} declarations or definitions with "
              f"more than 6 parameters (most: {widest.parameters}, {widest.name})")


def tests_of_their_own(root):
    lone = len(list(without_test(root)))
    both = sum(1 for p in (root / "src").rglob("*.cc") if "cli" not in p.parts)
    print(f"{both - lone} of {both} library sources have their own test")


def twice(root, listed):
    blocks = duplicates(texts_of(root))
    print(f"{len(blocks)} blocks of {WINDOW} tokens or more stand in src a second time, "
          f"{sum(b.tokens for b in blocks)} tokens in all")
    for b in blocks if listed else ():
        print(f"  {b.file}:{b.line}: {b.tokens} tokens of {b.earlier_file}:{b.earlier_line}")


def files_for(root, commits):
    for commit in commits:
        listed = subprocess.check_output(
            ["git", "show", "--format=%s", "--name-only", commit], cwd=root, text=True
        ).splitlines()
        files = [line for line in listed[1:] if line]
        kinds = collections.Counter(room_of(f) for f in files)
        print(f"{len(files)} files for: {listed[0]}")
        print("  " + ", ".join(f"{room} {n}" for room, n in sorted(kinds.items())))


def sizes(build, strip):
    with tempfile.TemporaryDirectory() as folder:
        for library in sorted(build.glob("src/libsluice*.so")):
            copy = pathlib.Path(folder) / library.name
            subprocess.check_call([strip, "-o", str(copy), str(library.resolve())])
            print(f"{copy.stat().st_size:8} bytes  {library.name}, stripped")


def edit_and_test(root, build):
    """The time to build and test after an edit. The file is only touched, so ccache is off."""
    environment = dict(os.environ, CCACHE_DISABLE="1")

    def seconds(*command):
        start = time.monotonic()
        done = subprocess.run([str(c) for c in command], env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}")
        return time.monotonic() - start

    make = ("cmake", "--build", build, "--target", "test_model")
    seconds(*make)
    source = sorted((root / "src/model").glob("*.cc"))[0]
    os.utime(source)
    built = seconds(*make)
    ran = seconds(build / "tests/test_model", "--test-case=traits*", "--last=1")
    print(f"{built:8.1f} s to build test_model after an edit of {source.relative_to(root)}, "
          f"{ran:.2f} s to run one test")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--operator", nargs="*", default=[])
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--strip", default="strip")
    parser.add_argument("--duplicates", action="store_true")
    parser.add_argument("--time", action="store_true")
    arguments = parser.parse_args()
    if arguments.time and not arguments.build:
        parser.error("--time needs --build")
    lines_per_room(arguments.root)
    largest(arguments.root)
    tests_of_their_own(arguments.root)
    twice(arguments.root, arguments.duplicates)
    files_for(arguments.root, arguments.operator)
    if arguments.build:
        sizes(arguments.build, arguments.strip)
    if arguments.time:
        edit_and_test(arguments.root, arguments.build)


if __name__ == "__main__":
    main()
