#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes sluice/_c.py: what the C headers declare, as cffi reads it.

    python3 make_declarations.py COMPILER ROOT OUT

The headers are preprocessed by the C compiler, so that the operators' tables are those of
ops.h. The module names no library: sluice/_library.py opens the one beside it. It is made
anew by every build and serves any Python for which there is a cffi (ABI mode, out of line).
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import cffi

HEADERS = ("stream", "ops", "sluice", "schedule", "layers", "machine", "lowering",
           "experimental", "import", "build", "presets", "zoo")
# Constants that are macros, which a preprocessed text does not have.
MACRO = re.compile(r"^#define (SLUICE_[A-Z_0-9]+) (0x[0-9A-Fa-f]+|\d+)u?\b", re.M)
DECORATION = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")


def declarations(compiler, root):
    include = root / "include"
    headers = [include / "sluice" / f"{name}.h" for name in HEADERS] + [
        root / "bindings/cache/plan_cache.h", root / "bindings/python/native/native.h"]
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stddef.h", "stdint.h"):  # cffi knows their types
            pathlib.Path(empty, name).touch()
        text = subprocess.run(
            [compiler, "-E", "-P", "-x", "c", "-nostdinc", f"-I{empty}", f"-I{include}", "-"],
            input="".join(f'#include "{header}"\n' for header in headers),
            capture_output=True, text=True, check=True).stdout
    macros = {}
    for header in headers:
        macros.update(MACRO.findall(header.read_text(encoding="utf-8")))
    lines = [f"#define {name} {value}" for name, value in macros.items()]
    return "\n".join(lines) + "\n" + DECORATION.sub("", text)


def main():
    compiler, root, out = sys.argv[1:]
    ffi = cffi.FFI()
    ffi.cdef(declarations(compiler, pathlib.Path(root)))
    ffi.set_source("sluice._c", None)
    pathlib.Path(out).parent.mkdir(parents=True, exist_ok=True)
    ffi.emit_python_code(out)


if __name__ == "__main__":
    main()
