# SPDX-License-Identifier: Apache-2.0
"""How many small changes to our own sources the tests of a room notice.

  mutants.py --build build/release --room verify [--sample 40] [--seed 1]

A change swaps an operator, a condition or a constant in one line of the room's sources. All
changes of a sample are built once, as switches: the expression is there twice, and the
environment says which of the changes is on. Then the suites of the room run once per change;
a change that no suite notices survives. Survivors are printed with their line; those in
equivalent.txt (file, the line's text and why nobody can notice) do not count.

Needs a configured and built folder with compile_commands.json; changes nothing in it but its
folder `mutants`. Exit code 1 when more survive than --most percent.
"""
import argparse
import json
import os
import pathlib
import random
import re
import resource
import shlex
import subprocess
import sys

# Per room: its sources, and every suite that runs them. Suites that answer soon come first,
# so that the long ones run for what is left; "suite:filter" runs a part of a suite.
FROZEN, SOUND = "test_mutation:frozen*", ["test_mutation", "test_property"]
ROOMS = {
    "verify": (["src/verify/*.cc"],
               [FROZEN, "test_verify", *SOUND, "test_solve_repair", "test_api", "test_plan"]),
    "walker": (["firmware-sim/walker.c", "firmware-sim/walker_check.c"],
               [FROZEN, "test_sim", *SOUND]),
    # The importers' tests compare what functions of the host compute with the runtimes.
    "simulator": (["firmware-sim/*.cc"],
                  [FROZEN, "test_sim", "test_zoo", "test_lower", *SOUND, "test_import",
                   "test_import_onnx", "test_plan"]),
    "emit": (["src/emit/*.cc"],
             ["test_emit", "test_model", "test_lower", *SOUND, "test_api", "test_plan"]),
}
SWAPS = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "),
         (" == ", " != "), (" != ", " == "), (" && ", " || "), (" || ", " && "),
         (" + ", " - "), (" - ", " + "), (" * ", " + "), (" + 1", " + 2"), (" - 1", " - 0"),
         ("!", ""), (" % ", " / "), (" & ", " | "), ("Min(", "Max("), ("Max(", "Min(")]
# Statements of one line whose expression can be written twice, as it is and changed.
SHAPES = [re.compile(r"^(\s*(?:\} else )?if \()(.*)(\) (?:return|continue|break|\{).*)$"),
          re.compile(r"^(\s*return )(.+)(;)$"),
          re.compile(r"^(\s*[\w.\->\[\]]+ (?:\+|-|\*)?= )(.+)(;)$")]
SWITCH = """
#include <stdlib.h>
static inline int sluice_mutant(int n) {
  static int chosen = -2;
  if (chosen == -2) {
    const char* text = getenv("SLUICE_MUTANT");
    chosen = text == NULL ? -1 : atoi(text);
  }
  return chosen == n;
}
"""
# A change that makes a suite hang is noticed: seconds of CPU, so that a busy machine does not
# count as one, many times what a suite takes.
MOST_SECONDS = 300
# Tests that measure time: switches make sources slower.
TIMED = "*takes milliseconds*,*a few times what the solve takes*,*no time that matters*"


def balanced(text):
    depth = 0
    for c in text:
        depth += c in "([{"
        depth -= c in ")]}"
        if depth < 0:
            return False
    return depth == 0 and text.count('"') % 2 == 0


def changes_of(line):
    """(whole line with both forms, the changed expression) for each change of a line."""
    if "//" in line or '"' in line or "SLUICE_TRY" in line:
        return
    for shape in SHAPES:
        match = shape.match(line)
        if match is None or not balanced(match[2]) or "{" in match[2]:
            continue
        before, expression, after = match.groups()
        for old, new in SWAPS:
            at = expression.find(old)
            while at >= 0:
                wrong_bang = old == "!" and expression[at:at + 2] == "!="
                if not wrong_bang:
                    changed = expression[:at] + new + expression[at + len(old):]
                    yield before, expression, changed, after
                at = expression.find(old, at + len(old))
        return


def collect(root, patterns):
    found = []
    for pattern in patterns:
        for path in sorted(root.glob(pattern)):
            lines = path.read_text(encoding="utf-8").splitlines()
            for number, line in enumerate(lines):
                for change in changes_of(line):
                    found.append((path, number, line.strip(), change))
    return found


def known(root):
    path = root / "tests/mutants/equivalent.txt"
    rows = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, text, _ = line.split(" | ", 2)
            rows.add((name, text))
    return rows


def compile_one(entry, path, text, folder, work):
    """The object of a changed source, or the numbers of lines that do not compile."""
    source = work / (path.stem + "_mutants" + path.suffix)
    source.write_text(text, encoding="utf-8")
    arguments = shlex.split(entry["command"])
    output = work / (path.name + ".o")
    arguments[arguments.index("-o") + 1] = str(output)
    arguments[-1] = str(source)
    arguments = [a for a in arguments if a not in ("-MD", "-Werror")]
    while "-MT" in arguments:
        del arguments[arguments.index("-MT"):arguments.index("-MT") + 2]
    while "-MF" in arguments:
        del arguments[arguments.index("-MF"):arguments.index("-MF") + 2]
    arguments += ["-w", "-I", str(path.parent)]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
    if done.returncode == 0:
        return output, set()
    return None, {int(n) for n in re.findall(source.name + r":(\d+):", done.stderr)}


def build_objects(sample, entries, work):
    """Objects with all changes of the sample; takes those out that do not compile."""
    by_path = {}
    for index, (path, number, _, change) in enumerate(sample):
        by_path.setdefault(path, []).append((index, number, change))
    objects, dropped = [], set()
    for path, changes in by_path.items():
        while True:
            lines = path.read_text(encoding="utf-8").splitlines()
            forms = {}  # of a line: its changes one after the other
            for index, number, (before, expression, changed, after) in changes:
                if index in dropped:
                    continue
                form = forms.setdefault(number, [before, f"({expression})", after])
                form[1] = f"(sluice_mutant({index}) ? ({changed}) : {form[1]})"
            for number, form in forms.items():
                lines[number] = "".join(form)
            head = SWITCH + f'#line 1 "{path.stem}_mutants{path.suffix}"\n'
            found, wrong = compile_one(entries[str(path)], path,
                                       head + "\n".join(lines) + "\n",
                                       entries[str(path)]["directory"], work)
            if found is not None:
                objects.append((path, found))
                break
            bad = {i for i, number, _ in changes
                   if i not in dropped and number + 1 in wrong}
            dropped |= bad or {i for i, _, _ in changes}
    return objects, dropped


def link(build, suite, objects, work):
    commands = subprocess.run(["ninja", "-C", str(build), "-t", "commands", suite],
                              capture_output=True, text=True, check=True).stdout
    command = commands.strip().splitlines()[-1]
    program = work / suite
    at = re.search(r" -o (\S*" + suite + r")\b", command)
    original = at[1]
    text = " ".join(str(o) for _, o in objects)
    command = command.replace(f" -o {original}", f" -o {program} {text}", 1)
    # What follows the link lists the tests.
    command = re.sub(r"^: && ", "", command.strip()).split(" && ")[0]
    subprocess.run(command, shell=True, cwd=build, check=True)
    return program


def notices(program, suite, index, build):
    environment = {"SLUICE_MUTANTS": "4000", **os.environ, "SLUICE_MUTANT": str(index)}
    command = [str(program), "--abort-after=1", "-tce=" + TIMED]
    if ":" in suite:
        command.append("-tc=" + suite.split(":")[1])

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))

    done = subprocess.run(command, cwd=build, env=environment, preexec_fn=limit,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode != 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=".")
    parser.add_argument("--build", required=True)
    parser.add_argument("--room", choices=list(ROOMS), required=True)
    parser.add_argument("--sample", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suites", type=int, default=99, help="only the first ones")
    parser.add_argument("--most", type=float, default=3, help="percent that may survive")
    arguments = parser.parse_args()
    root = pathlib.Path(arguments.root).resolve()
    build = pathlib.Path(arguments.build).resolve()
    patterns, suites = ROOMS[arguments.room]
    suites = suites[:arguments.suites]
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        entries.setdefault(entry["file"], entry)
    every = [c for c in collect(root, patterns) if str(c[0]) in entries]
    sample = random.Random(arguments.seed).sample(every, min(arguments.sample, len(every)))
    work = build / "mutants" / arguments.room
    work.mkdir(parents=True, exist_ok=True)
    objects, dropped = build_objects(sample, entries, work)
    names = sorted({suite.split(":")[0] for suite in suites})
    linked = {name: link(build, name, objects, work) for name in names}
    programs = [(linked[suite.split(":")[0]], suite) for suite in suites]
    for program, suite in programs:
        if notices(program, suite, -1, build):
            print(f"{suite} fails without any change")
            return 1
    equivalent = known(root)
    survivors = argued = tried = 0
    for index, (path, number, text, change) in enumerate(sample):
        if index in dropped:
            continue
        tried += 1
        if any(notices(*program, index, build) for program in programs):
            continue
        name = str(path.relative_to(root))
        if (name, text) in equivalent:
            argued += 1
            continue
        survivors += 1
        print(f"survives: {name}:{number + 1}: {text}  =>  {change[2]}", flush=True)
    percent = 100 * survivors / max(tried, 1)
    print(f"{arguments.room}: {len(every)} possible changes, {tried} tried, {argued} argued "
          f"equivalent, {survivors} survive ({percent:.1f} %)")
    return 1 if percent > arguments.most else 0


if __name__ == "__main__":
    sys.exit(main())
