# SPDX-License-Identifier: Apache-2.0
"""Compares what sluice counts with what timeloop-model counted for the same loops.

    agree.py SLUICE [--model TIMELOOP_MODEL --write] [--only TEXT]

Without --model, goldens.json has what Timeloop printed. With it (build.sh makes one), every set is
exported and run again; --write makes goldens.json anew from the sets below.

Two kinds of sets:
- "gemm": `sluice map M N K`, all words 8 bits wide. Timeloop's energy within 0.1 %, cycles equal.
- "nest": loops of a product or of a layer on any hierarchy, partial sums 32 bits wide. Timeloop has
  one width for all words of a memory, so its reads and writes are compared, memory by memory and
  operand by operand: all equal; and the cycles of the loops.

Nests are sets only where factors divide the extents (others are exported padded) and tiles of the
input share no rows (all memories of Timeloop slide). Of these, goldens.json notes in "differs" the
first difference of those that the two count by other rules: where MACs hang below a fanout, or
where the innermost loop is one that is summed over, Timeloop lets the MACs keep an operand or the
sum while the innermost loops do not move it; in sluice a MAC keeps nothing. Those are listed by
--differing, and not compared."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

GEMMS = [(64, 96, 48), (128, 128, 128), (256, 64, 512), (192, 256, 128), (96, 384, 64), (32, 512, 64),
         (512, 128, 64), (64, 64, 256)]
GEMM_MACHINES = ["eyeriss-like", "gemmini-like", "gemmini-16x16", "vta-1x16x16", "mcu-256k",
                 "ethos-u55-like"]
PRODUCTS = [(64, 96, 48), (128, 128, 128), (32, 512, 64)]
NEST_MACHINES = ["simba", "eyeriss-like", "gemmini-16x16", "gemmini-like", "kapla-edge", "soma-edge",
                 "mcu-256k"]
LAYERS = [2, 8, 12, 20]  # pointwise ones of MobileNet v1
OPERANDS = {"Inputs": "input", "Weights": "weight", "Outputs": "output"}
HERE = os.path.dirname(os.path.abspath(__file__))


def run(command, folder=None):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(" ".join(command) + ": " + (done.stderr + done.stdout)[-400:])
    return done.stdout


def number(pattern, text):
    return float(re.search(pattern + r"\s*[:=]\s*([\d.]+)", text).group(1))


def timeloop(model, folder):
    """Cycles, energy in the unit of arch.yaml and words of every memory."""
    run([model, "arch.yaml", "problem.yaml", "mapping.yaml"], folder)
    with open(os.path.join(folder, "timeloop-model.stats.txt"), encoding="utf-8") as file:
        stats = file.read()
    words = {}
    for section in re.split(r"\nLevel \d+\n-+\n", stats.split("\nNetworks\n")[0])[1:]:
        name = re.match(r"=== (\S+) ===", section)
        for data in re.split(r"\n    (?=\w+:\n)", section.partition("STATS")[2])[1:]:
            if "Scalar reads" not in data:
                continue
            units = number(r"Utilized instances \(max\)", data)
            count = [number(rf"Scalar {what} \(per-instance\)", data) * units
                     for what in ("reads", "updates", "fills")]
            words.setdefault(name.group(1), {})[OPERANDS.get(data.split(":")[0])] = [
                round(count[0]), round(count[1] + count[2])]
    total = re.findall(r"    Total +=\s+([\d.]+)", stats)[-1]  # per MAC, in thousandths
    macs = number("\nComputes", stats)
    return {"cycles": int(number("\nCycles", stats)), "energy": float(total) * macs / 1000,
            "words": words}


def unit(folder):
    with open(os.path.join(folder, "arch.yaml"), encoding="utf-8") as file:
        found = re.search(r"units of 1e-(\d+) pJ", file.read())
    return 10.0 ** -int(found.group(1)) if found else 1.0


class Sets:
    """Makes and compares sets with one build of the tool."""

    def __init__(self, sluice, folder):
        self.sluice, self.folder = sluice, folder
        self.graph = os.path.join(folder, "mobilenet.slg")
        run([sluice, "zoo", "mobilenet_v1", "-o", self.graph])

    def map(self, one, folder, mapping=None):
        """The tool's answer; `mapping`: for these loops."""
        what = [str(n) for n in one["what"]] if isinstance(one["what"], list) else [
            self.graph, "--layer", str(one["what"])]
        command = [self.sluice, "map", *what, "--hw", one["machine"], "--objective",
                   one["objective"], "--json", "--timeloop", folder]
        if mapping is not None:
            path = os.path.join(self.folder, "given.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(mapping)
            command += ["--import", path]
        elif one["kind"] == "nest":
            command += ["--solver", one["solver"]]
        answer = json.loads(run(command))
        return answer["layers"][0] if one["kind"] == "nest" else answer

    def difference(self, one, folder):
        """What differs from Timeloop's answer, as a text; "" if nothing does."""
        golden = one["timeloop"]
        if one["kind"] == "gemm":
            now = self.map(one, folder)
            off = abs(now["energy_pj"] / (golden["energy"] * one["unit"]) - 1)
            if off > 1e-3:
                return f"energy {now['energy_pj']}, not {golden['energy'] * one['unit']}"
            return "" if now["compute_cycles"] == golden["cycles"] else "cycles"
        now = self.map(one, folder, one["mapping"])
        with open(os.path.join(folder, "mapping.yaml"), encoding="utf-8") as file:
            if file.read() != one["mapping"]:
                return "the loops that were read are written otherwise"
        if now["compute_cycles"] != golden["cycles"]:
            return f"cycles {now['compute_cycles']}, not {golden['cycles']}"
        for level in now["levels"]:
            name = re.sub(r"[^0-9A-Za-z]", "_", level["name"])
            for operand in OPERANDS.values():
                counted = [level["reads"][operand], level["writes"][operand]]
                if counted != golden["words"].get(name, {}).get(operand, [0, 0]):
                    return f"{operand} at {name}: {counted}, not {golden['words'].get(name)}"
        return ""


def divides(now):
    """Whether the factors of a nest cover the extents and no more, and it has no windows."""
    for dim, extent in now["extents"].items():
        covered = 1
        for level in now["levels"]:
            covered *= level["temporal"].get(dim, 1)
            for axis in level["spatial"]:
                covered *= axis.get(dim, 1)
        if covered != extent:
            return False
    return now["extents"]["R"] == now["extents"]["S"] == 1


def candidates():
    for machine in GEMM_MACHINES:
        for what in GEMMS:
            yield {"kind": "gemm", "machine": machine, "what": list(what), "objective": "energy"}
    for machine in NEST_MACHINES:
        for what in PRODUCTS + LAYERS:
            for objective in ("energy", "edp"):
                for solver in ("search", "kapla"):
                    yield {"kind": "nest", "machine": machine, "objective": objective,
                           "solver": solver,
                           "what": list(what) if isinstance(what, tuple) else what}


def write(sets, model, only):
    kept, refused = [], 0
    for one in candidates():
        if only not in one["machine"]:
            continue
        folder = os.path.join(sets.folder, "set")
        try:
            now = sets.map(one, folder)
        except RuntimeError:
            continue  # this mapper finds no nest here
        nest = one["kind"] == "nest"
        with open(os.path.join(folder, "mapping.yaml"), encoding="utf-8") as file:
            mapping = file.read()
        if nest and not divides(now):
            continue
        if nest:
            one["mapping"] = mapping
            if any(other.get("mapping") == one["mapping"] and other["machine"] == one["machine"]
                   for other in kept):
                continue
        try:
            one["timeloop"] = timeloop(model, folder)
        except RuntimeError as error:
            refused += 1
            print("refused:", one["machine"], one["what"], str(error)[-200:])
            continue
        one["unit"] = unit(folder)
        if one["kind"] == "gemm":
            del one["timeloop"]["words"]
        differs = sets.difference(one, folder)
        if differs:
            one["differs"] = differs
        kept.append(one)
        print("set", len(kept), one["kind"], one["machine"], one["what"])
    with open(os.path.join(HERE, "goldens.json"), "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(one) for one in kept) + "\n]\n")
    print(len(kept), "sets written,", refused, "that Timeloop refuses")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sluice")
    parser.add_argument("--model", default=os.environ.get("SLUICE_TIMELOOP", ""))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--differing", action="store_true", help="list the sets that differ")
    parser.add_argument("--only", default="", help="a part of the machines' names")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sets = Sets(os.path.abspath(options.sluice), folder)
        if options.write:
            write(sets, options.model, options.only)
        with open(os.path.join(HERE, "goldens.json"), encoding="utf-8") as file:
            goldens = json.load(file)
        bad = 0
        wanted = [one for one in goldens if options.only in one["machine"]]
        agreeing = [one for one in wanted if "differs" not in one]
        for one in wanted:
            if options.differing and "differs" in one:
                print(one["kind"], one["machine"], one["what"], one["differs"])
        for one in agreeing:
            place = os.path.join(folder, "set")
            wrong = sets.difference(one, place)
            if not wrong and options.model and one["kind"] == "nest":
                again = timeloop(options.model, place)
                wrong = "" if again == one["timeloop"] else "Timeloop says otherwise now"
            bad += 1 if wrong else 0
            if wrong:
                print(one["kind"], one["machine"], one["what"], one["objective"] + ":", wrong)
        machines = {one["machine"] for one in agreeing}
        print(f"{len(agreeing)} sets on {len(machines)} machines, {bad} wrong; "
              f"{len(wanted) - len(agreeing)} more count by other rules")
        return 1 if bad or not agreeing else 0


if __name__ == "__main__":
    sys.exit(main())
