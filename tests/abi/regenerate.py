#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Freezes ABI version 1: headers, symbols, layout asserts and libabigail's dump.

  tests/abi/regenerate.py BUILD_FOLDER     (after building abi_witness there)

Only for a new ABI version, or when version 1 has grown by what its rules allow (functions
added, fields appended); the tests of this folder say when something else has changed.
Needs libabigail's abidw (Debian: abigail-tools)."""
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE.parent.parent / "include" / "sluice"
STABLE = ["lowering.h", "ops.h", "sluice.h", "stream.h"]


def freeze_headers():
    folder = HERE / "v1" / "sluice"
    folder.mkdir(parents=True, exist_ok=True)
    for name in STABLE:
        shutil.copyfile(HEADERS / name, folder / name)


def freeze_symbols(witness):
    listed = subprocess.run(["nm", "-D", "--defined-only", witness], check=True,
                            capture_output=True, text=True).stdout
    names = sorted(re.findall(r" T (sluice_\w+)$", listed, flags=re.M))
    (HERE / "symbols-1.txt").write_text("\n".join(names) + "\n")
    return names


def freeze_dump(witness):
    dump = HERE / "libsluice-1.abi"
    subprocess.run(
        ["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
         "--no-elf-needed", "--out-file", dump, witness], check=True)
    # The witness lies in a build folder, whose place on this machine is nobody's business.
    text = re.sub(r"path='[^']*/(tests/abi/witness\.c)'", r"path='\1'", dump.read_text())
    dump.write_text(text)
    return ElementTree.parse(dump).getroot()


def constants():
    """Names and values of enumerators, which the dump of the functions does not contain."""
    for name in ("sluice.h", "stream.h"):
        text = re.sub(r"/\*.*?\*/", "", (HEADERS / name).read_text(), flags=re.S)
        yield from re.findall(r"\b(SLUICE_[A-Z0-9_]+) = (-?\w+)", text)


def freeze_layout(root):
    """Writes layout_1.c: sizes and offsets of every public struct, and enumerators."""
    names = {}
    for alias in root.iter("typedef-decl"):
        names.setdefault(alias.get("type-id"), alias.get("name"))
    lines = []
    structs = {}
    for struct in root.iter("class-decl"):
        name = names.get(struct.get("id"))
        if not (name or "").startswith("sluice_") or struct.get("is-declaration-only") == "yes":
            continue
        structs[name] = struct
    for name, struct in sorted(structs.items()):
        lines.append("SIZE(%s, %d);" % (name, int(struct.get("size-in-bits")) // 8))
        for member in struct.findall("data-member"):
            field = member.find("var-decl").get("name")
            offset = int(member.get("layout-offset-in-bits")) // 8
            if field.startswith("reserved"):  # may get a name and a meaning
                continue
            lines.append("OFFSET(%s, %s, %d);" % (name, field, offset))
    for name, value in constants():
        lines.append("ASSERT(value_of_%s, %s == %s);" % (name, name, value))
    text = (HERE / "layout_1.c.in").read_text()
    (HERE / "layout_1.c").write_text(text.replace("@LAYOUT@", "\n".join(lines)))
    return len(structs)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1])
    freeze_headers()
    witness = build / "tests" / "abi" / "libabi_witness.so"
    symbols = freeze_symbols(witness)
    structs = freeze_layout(freeze_dump(witness))
    print("ABI 1: %d functions, %d structs" % (len(symbols), structs))


if __name__ == "__main__":
    main()
