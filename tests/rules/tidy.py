#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy finds nothing in the library and the simulator.

  tidy.py CLANG_TIDY SOURCE_FOLDER BUILD_FOLDER
  tidy.py CLANG_TIDY --self-test FOLDER     shows that a finding ends with 1

Every source of the library is looked at, and the C sources of firmware-sim, which firmware
takes. The tool, the importers and the simulator's C++ use the C++ library and would take ten
times as long per source. The checks are those of .clang-tidy. Include folders and definitions
come from compile_commands.json; the other flags are gcc's and say nothing about the source.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

LOOKED_AT = re.compile(r"src/(?!(cli|import|zoo|presets|package)/).*\.cc|firmware-sim/.*\.c")


def sources(root, build):
    """path -> the arguments that clang understands, one entry per source"""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), root)
        if path in found or not LOOKED_AT.fullmatch(path):
            continue
        words = iter(shlex.split(entry["command"]))
        kept = []
        for word in words:
            if word in ("-I", "-isystem"):
                kept += [word, next(words)]
            elif word.startswith(("-I", "-D", "-std=")):
                kept.append(word)
        found[path] = kept
    return found


def findings(tidy, root, path, arguments):
    """Lines that report something; what clang-tidy says when it cannot read the source."""
    # Headers of these folders of the project, wherever it lies.
    headers = "^" + re.escape(str(pathlib.Path(root).resolve())) + "/(src|firmware-sim)/"
    done = subprocess.run([tidy, "--quiet", "--header-filter", headers, path, "--",
                           *arguments], cwd=root, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    lines = [line for line in done.stdout.splitlines()
             if re.search(r": (warning|error): ", line)]
    if not lines and done.returncode != 0:
        lines = [f"{path}: clang-tidy ended with {done.returncode}: {done.stderr[-500:]}"]
    return lines


def self_test(tidy, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    configuration = pathlib.Path(__file__).parent.parent.parent / ".clang-tidy"
    (folder / ".clang-tidy").write_text(configuration.read_text())
    (folder / "bad.cc").write_text(
        "long long f(int a, int b) { return a * b; }\n")
    (folder / "good.cc").write_text(
        "long long f(int a, int b) { return static_cast<long long>(a) * b; }\n")
    bad = findings(tidy, folder, "bad.cc", ["-std=c++17"])
    good = findings(tidy, folder, "good.cc", ["-std=c++17"])
    print(*bad, *good, sep="\n")
    sys.exit(len(bad) != 1 or len(good) != 0)


def main():
    if len(sys.argv) == 4 and sys.argv[2] == "--self-test":
        self_test(sys.argv[1], sys.argv[3])
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    tidy, root, build = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    paths = sources(root, build)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda path: findings(tidy, root, path, paths[path]), paths)
        lines = sorted({line for result in results for line in result})
    print(*lines, sep="\n")
    print(f"{len(paths)} sources, {len(lines)} findings")
    sys.exit(bool(lines) or len(paths) < 100)


main()
