#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes the C sources of a lowering, one place at a time, and runs its tests.

Input    TARGET (gemmini or vta), how many changes, a seed; a build tree with
         test_targets_TARGET. Sources stay as they are: a changed copy is linked
         in front of the library
Output   each change, and whether the tests noticed it; 1 if one was not noticed
Usage    tests/targets/mutants.py build/release gemmini 30 1
"""

import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

# What may stand for what: arithmetic, comparisons, extents, flags, an effect left out.
CHANGES = [
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" \* ", " + "),
    (r" / ", " * "),
    (r" < ", " <= "),
    (r" > ", " >= "),
    (r" <= ", " < "),
    (r" >= ", " > "),
    (r" == ", " != "),
    (r" != ", " == "),
    (r" && ", " || "),
    (r" \|\| ", " && "),
    (r" \| ", " & "),
    (r"\b1u?\b", "2"),
    (r"\b0\b", "1"),
    (r"DIM\b", "(DIM - 1)"),
    (r"\[0\]", "[1]"),
    (r"\[1\]", "[0]"),
    (r"rows\b", "columns"),
    (r"^ +(gemmini|vta)_\w+\(.*\);$", ";"),
]
# All of a target's tests run, but those of stored hashes, which would notice any change, and
# those that break commands themselves. What takes long comes last.
LEFT_OUT = "*goldens*,*any bit inverted*,*wrong in a known way*,*what is wrong*,*has wrong*"
LONG = "*a block of a*"
TESTS = [[f"-tce={LEFT_OUT},{LONG}"], [f"-tc={LONG}", f"-tce={LEFT_OUT}"]]


def places(text: str) -> list[tuple[int, int, str]]:
    """Every place in code where a change is possible."""
    code = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", "#", m[0]), text, flags=re.S)
    code = re.sub(r'^#.*|"[^"\n]*"|^(static )?const .*', lambda m: "#" * len(m[0]), code,
                  flags=re.M)
    found = []
    for pattern, new in CHANGES:
        for match in re.finditer(pattern, code, flags=re.M):
            found.append((match.start(), match.end(), new))
    return sorted(found)


def commands(build: pathlib.Path, program: str) -> list[str]:
    """What the build runs for this program."""
    listed = subprocess.run(["ninja", "-C", str(build), "-t", "commands", program],
                            check=True, capture_output=True, text=True)
    return listed.stdout.splitlines()


def main() -> int:
    """Makes the changes and tells what became of them."""
    build, target = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    count, choose = int(sys.argv[3]), random.Random(int(sys.argv[4]))
    program = f"tests/test_targets_{target}"
    lines = commands(build, program)
    folder = pathlib.Path(__file__).resolve().parents[2] / "bindings/targets" / target
    all_places = [(source, *place) for source in sorted(folder.glob("*.c"))
                  if not source.stem.endswith("_cost")
                  for place in places(source.read_text())]
    survivors = 0
    with tempfile.TemporaryDirectory() as scratch:
        changed, binary = pathlib.Path(scratch) / "m.c", pathlib.Path(scratch) / "test"
        for source, begin, end, new in choose.sample(all_places, count):
            text = source.read_text()
            changed.write_text(text[:begin] + new + text[end:])
            compiled = next(c for c in lines if c.endswith(f" -c {source}"))
            args = shlex.split(compiled)
            args[args.index("-o") + 1] = str(changed.with_suffix(".o"))
            args[-1] = str(changed)
            args = [a for a in args if not a.startswith("-W")] + ["-w", f"-I{folder}"]
            link = lines[-1].split(" && cd ")[0]  # without looking for its tests
            link = link.replace(f" bindings/targets/libsluice_{target}.a",
                                f" {changed.with_suffix('.o')}"
                                f" bindings/targets/libsluice_{target}.a", 1)
            link = link.replace(f"-o {program}", f"-o {binary}")
            where = f"{source.name}:{text.count(chr(10), 0, begin) + 1}: " \
                    f"'{text[begin:end].strip()}' -> '{new.strip()}'"
            made = subprocess.run(args, cwd=build, capture_output=True, check=False)
            if made.returncode == 0:
                made = subprocess.run(link, cwd=build, shell=True, capture_output=True,
                                      check=False)
            verdict = "does not compile" if made.returncode else "NOT NOTICED"
            for tests in TESTS if made.returncode == 0 else []:
                try:
                    ran = subprocess.run([str(binary), "--abort-after=1", *tests],
                                         check=False, capture_output=True, timeout=120)
                    if ran.returncode == 0:
                        continue
                except subprocess.TimeoutExpired:
                    pass
                verdict = "noticed"
                break
            survivors += verdict == "NOT NOTICED"
            print(f"{verdict:16} {where}", flush=True)
    print(f"{survivors} of {count} not noticed")
    return survivors > 0


if __name__ == "__main__":
    sys.exit(main())
