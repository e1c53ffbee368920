# SPDX-License-Identifier: Apache-2.0
"""Which function of the C headers each wrapper has.

  parity.py --root .            holds the wrappers to tests/rules/parity.txt
  parity.py --root . --table    prints the table

A wrapper has a function when its own source (generated declarations aside) names it. What one
lacks stands in parity.txt with the reason: `wrapper function: reason`. A line for something
that is there is a complaint too, so that the list only shrinks.
"""
import argparse
import pathlib
import re
import sys

HEADERS = ["sluice.h", "import.h", "lowering.h", "presets.h", "zoo.h"]
# Headers for the wrappers that wrap everything.
MORE_HEADERS = ["experimental.h", "build.h", "machine.h", "place.h"]
WRAPPERS = {
    "cpp": ["bindings/cpp"],
    "rust": ["bindings/rust/src"],
    "go": ["bindings/go"],
    "python": ["bindings/python/sluice"],
}
WRAPS_MORE = {"python"}
GENERATED = {"sys.rs", "_c.py"}
SUFFIXES = {".hpp", ".rs", ".go", ".py"}


def functions(root):
    found = {}
    for header in HEADERS + MORE_HEADERS:
        path = root / "include/sluice" / header
        if not path.exists():
            continue
        for name in re.findall(r"^SLUICE_[A-Z_]*API [^(;]*[ *](sluice_[a-z0-9_]+)\(",
                               path.read_text(encoding="utf-8"), re.M):
            found[name] = header
    return found


def text_of(root, folders):
    parts = []
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if "target" in path.parts or "examples" in path.parts:
                continue
            if path.name.endswith("_test.go") or path.name in GENERATED:
                continue
            if path.suffix in SUFFIXES:
                parts.append(path.read_text(encoding="utf-8"))
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    root = pathlib.Path(arguments.root)
    names = functions(root)
    has = {}
    for wrapper, folders in WRAPPERS.items():
        words = set(re.findall(r"sluice_[a-z0-9_]+", text_of(root, folders)))
        has[wrapper] = {name for name in names if name in words}
    if arguments.table:
        print(f"{'function':40}" + "".join(f"{w:>6}" for w in WRAPPERS))
        for name in names:
            marks = "".join(f"{'yes' if name in has[w] else '-':>6}" for w in WRAPPERS)
            print(f"{name:40}{marks}")
        return 0
    listed = set()
    complaints = 0
    for line in (root / "tests/rules/parity.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        match = re.match(r"(\w+) (\w+): \S", line)
        if match is None or match[1] not in has or match[2] not in names:
            print(f"parity.txt: {line}: no wrapper, function and reason")
            complaints += 1
            continue
        listed.add((match[1], match[2]))
        if match[2] in has[match[1]]:
            print(f"parity.txt: {match[1]} has {match[2]}: take the line out")
            complaints += 1
    for wrapper in WRAPPERS:
        for name, header in names.items():
            if header in MORE_HEADERS and wrapper not in WRAPS_MORE:
                continue
            if name not in has[wrapper] and (wrapper, name) not in listed:
                print(f"{wrapper} lacks {name} of {header}, and parity.txt does not say why")
                complaints += 1
    print(f"{len(names)} functions, {len(listed)} listed as lacking, "
          f"{complaints} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
