#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes the C sources of a lowering, one place at a time, and runs its tests.

Input    TARGET (gemmini, vta or shared: what both are made of, by the tests of both),
         how many changes, a seed; a build tree with test_targets_gemmini and _vta.
         Sources stay as they are: a changed copy is built
Output   each change, and whether the tests noticed it; 1 if one was not noticed that
         tests/mutants/equivalent.txt does not argue
Usage    tests/targets/mutants.py build/release gemmini 30 1
"""

import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "bindings/targets"
SHARED = FOLDER / "sluice_target.c"
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
# those that break commands themselves. Tests of single functions come first, what takes long
# comes last.
LEFT_OUT = "*goldens*,*any bit inverted*,*wrong in a known way*,*what is wrong*,*has wrong*"
LONG = "*block of a*"
UNITS = "*_boxes_*,*_tile_*,*_product_*,*_rows_*,*_scale_*"
SLOW = "*random graphs*,*convolutions of few*,*no more than 8 tokens*,*larger than the buffers*"
TESTS = [[f"-sf={UNITS}", f"-tce={LEFT_OUT},{LONG},{SLOW}"],
         [f"-sfe={UNITS}", f"-tce={LEFT_OUT},{LONG},{SLOW}"],
         [f"-tc={SLOW}", f"-tce={LEFT_OUT}"],
         [f"-tc={LONG}", f"-tce={LEFT_OUT}"]]


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


def argued(root: pathlib.Path) -> set[tuple[str, str, str]]:
    """Changes that nobody can notice: file, line, changed line ("": any change of it)."""
    found = set()
    for row in (root / "tests/mutants/equivalent.txt").read_text().splitlines():
        if row.startswith("bindings/targets"):
            name, rest = row.split(" | ", 1)  # the text may have one of its own
            text = rest.rsplit(" | ", 1)[0]
            found.add((name, *(text.split("  =>  ") + [""])[:2]))
    return found


class Tree:
    """A target's sources as a shared library, whose tests are linked once."""

    def __init__(self, build: pathlib.Path, target: str, scratch: pathlib.Path):
        self.build, self.scratch = build, scratch / target
        self.scratch.mkdir()
        self.lines = commands(build, f"tests/test_targets_{target}")
        self.library, self.test = self.scratch / f"lib{target}.so", self.scratch / "test"
        self.sources = sorted((FOLDER / target).glob("*.c"))
        self.objects = {s: self.scratch / (s.stem + ".o") for s in [*self.sources, SHARED]}
        for source in self.objects:
            assert self.compile(source, source, self.objects[source])
        assert self.link(self.objects.values())
        link = self.lines[-1].split(" && cd ")[0]  # without looking for its tests
        link = link.replace(f" bindings/targets/libsluice_{target}.a",
                            f" {self.library} -Wl,-rpath,{self.scratch}")
        link = link.replace(f" {SHARED.parent.relative_to(ROOT)}/libsluice_target.a", "")
        link = link.replace(f"-o tests/test_targets_{target}", f"-o {self.test}")
        subprocess.run(link, cwd=build, shell=True, check=True)

    def compile(self, source: pathlib.Path, text: pathlib.Path, to: pathlib.Path) -> bool:
        """Compiles `text` as if it were the source."""
        args = shlex.split(next(c for c in self.lines if c.endswith(f" -c {source}")))
        args[args.index("-o") + 1], args[-1] = str(to), str(text)
        args = [a for a in args if not a.startswith("-W") and a != "-O3" and a != "ccache"]
        args += ["-w", "-O1", f"-I{source.parent}"]
        return subprocess.run(args, cwd=self.build, capture_output=True,
                              check=False).returncode == 0

    def link(self, objects) -> bool:
        """Makes the library of these objects."""
        new = self.library.with_suffix(".new")
        made = subprocess.run(["cc", "-shared", "-o", str(new), *map(str, objects)],
                              check=False, capture_output=True)
        new.replace(self.library)
        return made.returncode == 0

    def verdict(self, source: pathlib.Path, text: str) -> str:
        """What the tests say to this text of a source."""
        changed = self.scratch / "m.c"
        changed.write_text(text)
        if not self.compile(source, changed, changed.with_suffix(".o")):
            return "does not compile"
        self.link([changed.with_suffix(".o") if s == source else o
                   for s, o in self.objects.items()])
        for tests in TESTS:
            try:
                ran = subprocess.run([str(self.test), "--abort-after=1", *tests],
                                     check=False, capture_output=True, timeout=240)
            except subprocess.TimeoutExpired:
                return "noticed"
            if ran.returncode != 0:
                return "noticed"
        return "NOT NOTICED"


def main() -> int:
    """Makes the changes and tells what became of them."""
    build, target = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    count, choose = int(sys.argv[3]), random.Random(int(sys.argv[4]))
    known, survivors = argued(ROOT), 0
    with tempfile.TemporaryDirectory() as scratch:
        trees = [Tree(build, t, pathlib.Path(scratch))
                 for t in (["vta", "gemmini"] if target == "shared" else [target])]
        sources = [SHARED] if target == "shared" else trees[0].sources
        every = [(s, *place) for s in sources if not s.stem.endswith("_cost")
                 for place in places(s.read_text())]
        for source, begin, end, new in choose.sample(every, min(count, len(every))):
            text = source.read_text()
            changed = text[:begin] + new + text[end:]
            number = text.count("\n", 0, begin)
            lines = [t.splitlines()[number].strip() for t in (text, changed)]
            name = str(source.relative_to(ROOT))
            said = (tree.verdict(source, changed) for tree in trees)
            verdict = next((v for v in said if v != "NOT NOTICED"), "NOT NOTICED")
            if verdict == "NOT NOTICED" and {(name, lines[0], ""), (name, *lines)} & known:
                verdict = "argued"
            survivors += verdict == "NOT NOTICED"
            print(f"{verdict:16} {name}:{number + 1}: {lines[0]}  =>  {lines[1]}", flush=True)
    print(f"{survivors} of {min(count, len(every))} not noticed")
    return survivors > 0


if __name__ == "__main__":
    sys.exit(main())
