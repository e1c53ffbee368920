#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The version of CMakeLists.txt is the one that every other place names.

  version.py --root .         names the places that differ and fails when there are any
  version.py --self-test      shows that another version is found in each place
"""
import pathlib
import re
import sys
import tempfile

# The first place decides.
PLACES = (
    ("CMakeLists.txt", r"^project\(sluice VERSION ([\d.]+)"),
    ("src/api/context.cc", r'^const char\* sluice_version\(void\) \{ return "([\d.]+)"; \}'),
    ("include/sluice/sluice.h", r'^/\* "([\d.]+)"; static storage\. \*/'),
    ("bindings/rust/Cargo.toml", r'^version = "([\d.]+)"'),
    ("bindings/rust/src/lib.rs", r'^/// "([\d.]+)"'),
    ("bindings/go/sluice.go", r'^// Version of the library, "([\d.]+)"'),
)


def differing(root):
    """Lines, one for each place without the version."""
    want = None
    for place, pattern in PLACES:
        path = root / place
        found = path.exists() and re.findall(pattern, path.read_text(encoding="utf-8"), re.M)
        if not found:
            yield f"{place}: no version"
        elif want is None:
            want = found[0]
        for version in found or ():
            if version != want:
                yield f"{place}: version {version}; {PLACES[0][0]} has {want}"


def self_test(root):
    for place, pattern in PLACES[1:]:
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder)
            for name, _ in PLACES:
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                text = (root / name).read_text(encoding="utf-8")
                if name == place:
                    text = re.sub(pattern, lambda m: m.group(0).replace(m.group(1), "9.8.7"),
                                  text, flags=re.M)
                (copy / name).write_text(text, encoding="utf-8")
            found = list(differing(copy))
            if len(found) != 1 or not found[0].startswith(place):
                sys.exit(f"self-test: version 9.8.7 in {place}: found {found}")
    print(f"another version is found in each of {len(PLACES) - 1} places")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test(pathlib.Path(__file__).resolve().parents[2])
    bad = list(differing(pathlib.Path(sys.argv[2])))
    print("\n".join(bad + [f"{len(PLACES)} places, {len(bad)} differ"]))
    sys.exit(len(bad) > 0)


main()
