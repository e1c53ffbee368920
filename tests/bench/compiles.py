#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benches compile. Nothing runs them but people who measure, so the build leaves them out.

  compiles.py BUILD      the sources of sluice-bench, as BUILD/compile_commands.json has them, are
                         read by their compiler, which makes no code of them
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys


def check(entry):
    words = shlex.split(entry["command"])
    del words[words.index("-o"):words.index("-o") + 2]
    return subprocess.run([*words, "-fsyntax-only"], cwd=entry["directory"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def main():
    build = sys.argv[1]
    entries = [entry for entry in json.loads(
        (pathlib.Path(build) / "compile_commands.json").read_text(encoding="utf-8"))
        if "/sluice-bench.dir/" in entry["command"]]
    if not entries:
        sys.exit("no source of sluice-bench in compile_commands.json")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(check, entries))
    for entry, run in zip(entries, done):
        if run.returncode != 0:
            print(f"{entry['file']}: {run.args[0]} ended with {run.returncode}\n{run.stdout}")
    failed = sum(run.returncode != 0 for run in done)
    print(f"{len(entries)} units of sluice-bench, {failed} do not compile")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
