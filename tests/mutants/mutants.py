# SPDX-License-Identifier: Apache-2.0
"""How many small changes to our own sources the tests of a room notice.

  mutants.py --build build/release --room verify [--sample 40] [--seed 1]
  mutants.py --build build/release --room verify --each 20 [--files 'src/verify/b*']
  mutants.py --build build/release --room verify --again FILE

A change swaps an operator, a condition or a constant in one line of the room's sources. All
changes of a sample are built once, as switches: the expression is there twice, and the
environment says which of the changes is on. Then the suites of the room run once per change;
a change that no suite notices survives. Survivors are printed with their line; those in
equivalent.txt (file, the line's text and why nobody can notice) do not count.
With --each, the sample has as many changes of every file, and the counts are printed per file.

Needs a configured and built folder with compile_commands.json; changes nothing in it but its
folder `mutants`. Every test case runs once without a change, which tells what changes it
reaches; a change is tried on these alone. With --again, only changes are tried that survived
in the output FILE of an earlier run and are not argued since, so that the whole room is tried
on the short cases of one suite (--suites 1 --longest 1) first, and what is left on all of them.
Exit code 1 when more survive than --most percent.
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
               ["test_verify", FROZEN, *SOUND, "test_solve_repair", "test_api", "test_plan"]),
    "walker": (["firmware-sim/walker.c", "firmware-sim/walker_check.c"],
               ["test_sim", FROZEN, *SOUND]),
    # The importers' tests compare what functions of the host compute with the runtimes.
    "simulator": (["firmware-sim/*.cc"],
                  ["test_sim", FROZEN, "test_lower", "test_import_onnx", *SOUND, "test_zoo",
                   "test_import", "test_plan"]),
    "emit": (["src/emit/*.cc"],
             ["test_emit", "test_model", "test_lower", *SOUND, "test_api", "test_plan"]),
    # Lowerings to machines that exist: their own models judge them.
    "gemmini": (["bindings/targets/gemmini/*.c"], ["test_targets_gemmini"]),
    "targets": (["bindings/targets/*.c"], ["test_targets_gemmini", "test_targets_vta"]),
    "vta": (["bindings/targets/vta/*.c"], ["test_targets_vta"]),
}
SWAPS = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "),
         (" == ", " != "), (" != ", " == "), (" && ", " || "), (" || ", " && "),
         (" + ", " - "), (" - ", " + "), (" * ", " + "), (" + 1", " + 2"), (" - 1", " - 0"),
         ("!", ""), (" % ", " / "), (" & ", " | "), ("Min(", "Max("), ("Max(", "Min(")]
# Statements of one line whose expression can be written twice, as it is and changed.
SHAPES = [re.compile(r"^(\s*(?:\} else )?if \()(.*)(\) (?:return|continue|break|\{).*)$"),
          re.compile(r"^(\s*return )(.+)(;)$"),
          re.compile(r"^(\s*[\w.\->\[\]]+ (?:\+|-|\*)?= )(.+)(;)$")]
# And of C alone: loops, definitions, calls, effects behind a condition.
C_SHAPES = [*SHAPES, re.compile(r"^(\s*for \([^;]*; )([^;]*)(; .*)$"),
            re.compile(r"^(\s*const (?:u?int\d+_t|int) \w+ = )([^,]+)(;)$"),
            re.compile(r"^(\s*(?:\(void\))?)((?:gemmini|vta|target|mem|run|move|load|measure)\w*"
                       r"\(.*\))(;)$"),
            re.compile(r"^(\s*(?:\} else )?if \()(.*)(\) \S.*;)$")]
SWITCH = """
#include <stdio.h>
#include <stdlib.h>
static inline int sluice_mutant(int n) {
  static int chosen = -2;
  static const char* reached;
  static char seen[%d];
  if (chosen == -2) {
    const char* text = getenv("SLUICE_MUTANT");
    chosen = text == NULL ? -1 : atoi(text);
    reached = getenv("SLUICE_MUTANTS_REACHED");
  }
  if (reached != NULL && !seen[n]) {
    FILE* file = fopen(reached, "a");
    seen[n] = 1;
    if (file != NULL) {
      fprintf(file, "%%d\\n", n);
      fclose(file);
    }
  }
  return chosen == n;
}
"""
# A change that makes a test hang is noticed: seconds of CPU, so that a busy machine does not
# count as one, many times what the tests take without a change.
LEAST_SECONDS, TIMES = 2, 10
# Cases that take less run together in one process.
SHORT_SECONDS = 0.3
MOST_SECONDS = 300
SKIPPED = 77  # the exit code of tests that cannot run here
# Tests that measure time: switches make sources slower.
TIMED = "*takes milliseconds*,*a few times what the solve takes*,*no time that matters*"
# Stored hashes of commands would notice any change of a lowering, right or wrong, and tests
# that break commands on purpose judge the models.
UNFAIR = ",*vta: goldens*,*goldens of*on Gemmini*,*any bit inverted*,*in a known way*," \
         "*what is wrong*,*has wrong*,*makers*"


def balanced(text):
    depth = 0
    for c in text:
        depth += c in "([{"
        depth -= c in ")]}"
        if depth < 0:
            return False
    return depth == 0 and text.count('"') % 2 == 0


def statements(lines):
    """(number, text) of each line; where a statement of C goes on, with the lines behind it."""
    number = 0
    while number < len(lines):
        text, count = lines[number], 1
        code = not re.match(r"^(\S|\s*(/\*|\*|case |default))", text) and "/*" not in text
        while code and not re.search(r"[;{}:]\s*$", text) and number + count < len(lines):
            text += " " + lines[number + count].strip()
            count += 1
        yield number, count, text
        number += count


def changes_of(line, shapes=tuple(SHAPES)):
    """(whole line with both forms, the changed expression) for each change of a line."""
    if "//" in line or "/*" in line or '"' in line or "SLUICE_TRY" in line:
        return
    for shape in shapes:
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


def is_argued(change, root, equivalent):
    path, _, text, (_, _, changed, _) = change
    name = str(path.relative_to(root))
    return bool({(name, text), (name, f"{text}  =>  {changed}")} & equivalent)


def collect(root, patterns):
    found = []
    for pattern in patterns:
        for path in sorted(root.glob(pattern)):
            lines = path.read_text(encoding="utf-8").splitlines()
            if "targets" in path.parts[-3:-1]:
                for number, _, text in statements(lines):
                    for change in changes_of(text, C_SHAPES):
                        found.append((path, number, text.strip(), change))
                continue
            for number, line in enumerate(lines):
                for change in changes_of(line):
                    found.append((path, number, line.strip(), change))
    return found


def pick(every, arguments):
    """The sample: of all changes, or of those of each file."""
    chosen = random.Random(arguments.seed)
    if arguments.each == 0:
        return chosen.sample(every, min(arguments.sample, len(every)))
    sample = []
    for path in sorted({c[0] for c in every}):
        mine = [c for c in every if c[0] == path]
        sample += chosen.sample(mine, min(arguments.each, len(mine)))
    return sample


def survivors_in(output, root, every):
    """Of all changes, those that survived in the output of an earlier run."""
    lines = set()
    for line in pathlib.Path(output).read_text(encoding="utf-8").splitlines():
        if line.startswith("survives: "):
            name, _, change = line[len("survives: "):].split(":", 2)
            lines.add((name, change.replace("  (not reached)", "").strip()))
    return [c for c in every
            if (str(c[0].relative_to(root)), f"{c[2]}  =>  {c[3][2]}") in lines]


def known(root):
    """Argued lines; a line followed by "  =>  " and an expression is argued for that change."""
    path = root / "tests/mutants/equivalent.txt"
    rows = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, rest = line.split(" | ", 1)  # the text may have one of its own
            text = rest.rsplit(" | ", 1)[0]
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
    # Compiled once and run for seconds: the last level counts.
    arguments += ["-w", "-O1", "-fno-lto", "-I", str(path.parent)]
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
            counts = {n: c for n, c, _ in statements(lines)}
            forms = {}  # of a line: its changes one after the other
            for index, number, (before, expression, changed, after) in changes:
                if index in dropped:
                    continue
                form = forms.setdefault(number, [before, f"({expression})", after])
                form[1] = f"(sluice_mutant({index}) ? ({changed}) : {form[1]})"
            for number, form in forms.items():
                if "targets" in path.parts[-3:-1]:
                    for i in range(1, counts[number]):
                        lines[number + i] = ""
                lines[number] = "".join(form)
            head = SWITCH % len(sample) + f'#line 1 "{path.stem}_mutants{path.suffix}"\n'
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


def run(program, cases, build, index, seconds, reached=None):
    """(whether some case fails, seconds of CPU) of the cases run in one process."""
    environment = {"SLUICE_MUTANTS": "4000", **os.environ, "SLUICE_MUTANT": str(index)}
    if reached is not None:
        environment["SLUICE_MUTANTS_REACHED"] = str(reached)
    # A comma separates names, so that a name's own is any character.
    names = ",".join(re.sub(r'[,\\\\"]', "?", case) for case in cases)
    command = [str(program), "--abort-after=1", "-tc=" + names, "-tce=" + TIMED + UNFAIR]

    def limit():
        most = int(LEAST_SECONDS + TIMES * seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=build, env=environment, preexec_fn=limit,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.returncode not in (0, SKIPPED), after.ru_utime - before.ru_utime


def cases_of(program, suite, build):
    command = [str(program), "-ltc", "-tce=" + TIMED + UNFAIR]
    if ":" in suite:
        command.append("-tc=" + suite.split(":")[1])
    text = subprocess.run(command, cwd=build, capture_output=True, text=True).stdout
    return [line for line in text.splitlines() if line and not line.startswith(("[", "==="))]


def survey(program, suite, build, work):
    """(seconds, program, case, changes it reaches) for each case of a suite, run without one."""
    found = []
    for case in cases_of(program, suite, build):
        reached = work / "reached"
        reached.write_text("")
        failed, seconds = run(program, [case], build, -1, MOST_SECONDS, reached)
        if failed:
            print(f"{suite}: '{case}' fails without any change")
            sys.exit(1)
        found.append((seconds, program, case, set(map(int, reached.read_text().split()))))
    return found


def notice(tests, index, build):
    """Whether a case that reaches the change notices it: short ones together, long ones after."""
    mine = [t for t in tests if index in t[3]]
    for program in dict.fromkeys(t[1] for t in mine):
        short = [t for t in mine if t[1] == program and t[0] < SHORT_SECONDS]
        if short and run(program, [t[2] for t in short], build, index,
                         sum(t[0] for t in short))[0]:
            return True
    long = sorted((t for t in mine if t[0] >= SHORT_SECONDS), key=lambda t: t[0])
    return any(run(t[1], [t[2]], build, index, t[0])[0] for t in long)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=".")
    parser.add_argument("--build", required=True)
    parser.add_argument("--room", choices=list(ROOMS), required=True)
    parser.add_argument("--sample", type=int, default=40)
    parser.add_argument("--each", type=int, default=0, help="changes of every file instead")
    parser.add_argument("--files", default="*", help="only these sources")
    parser.add_argument("--again", help="only what survived in this output of an earlier run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suites", type=int, default=99, help="only the first ones")
    parser.add_argument("--longest", type=float, default=MOST_SECONDS,
                        help="leaves out test cases that take more seconds")
    parser.add_argument("--most", type=float, default=3, help="percent that may survive")
    arguments = parser.parse_args()
    root = pathlib.Path(arguments.root).resolve()
    build = pathlib.Path(arguments.build).resolve()
    patterns, suites = ROOMS[arguments.room]
    suites = suites[:arguments.suites]
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        entries.setdefault(entry["file"], entry)
    every = [c for c in collect(root, patterns)
             if str(c[0]) in entries and c[0].match(arguments.files)]
    equivalent = known(root)
    if arguments.again:
        every = [c for c in survivors_in(arguments.again, root, every)
                 if not is_argued(c, root, equivalent)]
    sample = every if arguments.again else pick(every, arguments)
    work = build / "mutants" / arguments.room
    work.mkdir(parents=True, exist_ok=True)
    objects, dropped = build_objects(sample, entries, work)
    names = sorted({suite.split(":")[0] for suite in suites})
    linked = {name: link(build, name, objects, work) for name in names}
    tests, names = [], set()
    for suite in suites:
        for test in survey(linked[suite.split(":")[0]], suite, build, work):
            if test[0] <= arguments.longest and test[1:3] not in names:  # a part of a suite has run before the whole
                names.add(test[1:3])
                tests.append(test)
    counts = {}  # of a file: tried, argued equivalent, survived
    for index, (path, number, text, change) in enumerate(sample):
        if index in dropped:
            continue
        name = str(path.relative_to(root))
        count = counts.setdefault(name, [0, 0, 0])
        count[0] += 1
        if notice(tests, index, build):
            continue
        if is_argued(sample[index], root, equivalent):
            count[1] += 1
            continue
        count[2] += 1
        unreached = "" if any(index in t[3] for t in tests) else "  (not reached)"
        print(f"survives: {name}:{number + 1}: {text}  =>  {change[2]}{unreached}", flush=True)
    if arguments.each:
        for name, count in counts.items():
            print("{}: {} tried, {} argued equivalent, {} survive".format(name, *count))
    tried, argued, survivors = (sum(c[i] for c in counts.values()) for i in range(3))
    percent = 100 * survivors / max(tried, 1)
    print(f"{arguments.room}: {len(every)} possible changes, {tried} tried, {argued} argued "
          f"equivalent, {survivors} survive ({percent:.1f} %)")
    return 1 if percent > arguments.most else 0


if __name__ == "__main__":
    sys.exit(main())
