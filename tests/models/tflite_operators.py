#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each operator of TensorFlow Lite's quantised kernels, through the whole tool.

Models of one operator (tflite_cases.py) that the interpreter runs are imported, scheduled,
verified and executed on seeded inputs, and every byte is compared with what the
interpreter's reference kernels answer.

Needs: pip install ai-edge-litert flatbuffers numpy.

    tflite_operators.py --sluice build/release/src/cli/sluice [--hw mcu-256k] [--seeds 3]
                        [--only PATTERN] [--runs 2] [--table] [--keep FOLDER]

Prints a line for each model that is not equal and, at the end, how many of the runtime's
operators are; --least N fails where there are fewer equal models.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

import tflite_cases
from selection import Selection
from tflite_maker import Model


# The reference kernel of quantised sums writes no result.
NO_REFERENCE = [("SUM", "int8"), ("SUM", "int16")]


def interpreter_of(content, reference=True):
    """With the reference kernels; where an operator has none, with the only ones it has."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType as Resolver
    kinds = [Resolver.BUILTIN_REF] if reference else []
    for kernels in kinds + [Resolver.BUILTIN_WITHOUT_DEFAULT_DELEGATES]:
        try:
            made = Interpreter(model_content=content, num_threads=1,
                               experimental_op_resolver_type=kernels)
            made.allocate_tensors()
            return made
        except (RuntimeError, ValueError) as error:
            failure = error
    raise failure


def inputs_of(details, rng):
    arrays = []
    for detail in details:
        kind, shape = np.dtype(detail["dtype"]), detail["shape"]
        if kind == np.bool_:
            arrays.append(rng.integers(0, 2, shape).astype(bool))
        elif kind.itemsize >= 4:
            arrays.append(rng.integers(-50, 50, shape).astype(kind))
        else:
            info = np.iinfo(kind)
            arrays.append(rng.integers(info.min, info.max + 1, shape).astype(kind))
    return arrays


def answers(content, seed, runs, reference):
    """What the runtime answers in each of the runs, and its inputs; None: it does not run
    the model."""
    try:
        runtime = interpreter_of(content, reference)
        rng = np.random.default_rng(1000 + seed)
        said = []
        for _ in range(runs):
            given = inputs_of(runtime.get_input_details(), rng)
            for detail, array in zip(runtime.get_input_details(), given):
                runtime.set_tensor(detail["index"], array)
            runtime.invoke()
            said.append((given, [runtime.get_tensor(d["index"])
                                 for d in runtime.get_output_details()]))
        return said
    except (RuntimeError, ValueError):
        return None


class Failed(Exception):
    pass


def tool(*arguments):
    run = subprocess.run(arguments, capture_output=True, text=True)
    if run.returncode != 0:
        text = " ".join((run.stderr or run.stdout).split())
        raise Failed(f"{arguments[1]}: exit {run.returncode}: {text[:260]}")
    return run.stdout


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


def once(base, options, given, wanted):
    """The first run of a model; how many bytes differ."""
    command = [options.sluice, "simulate", base + ".slp", "--graph", base + ".slg", "--hw",
               options.hw, "--functional"]
    for i, array in enumerate(given):
        command += ["--input", write(f"{base}.in{i}", np.ascontiguousarray(array).tobytes())]
    for i in range(len(wanted)):
        command += ["--output", f"{base}.out{i}"]
    tool(*command)
    differ = 0
    for i, want in enumerate(wanted):
        with open(f"{base}.out{i}", "rb") as file:
            got = np.frombuffer(file.read(), np.uint8)
        want = np.frombuffer(np.ascontiguousarray(want).tobytes(), np.uint8)
        differ += len(want) if len(got) != len(want) else int((got != want).sum())
    return differ


def through(content, base, options, seed, reference):
    write(base + ".tflite", content)
    said = answers(content, seed, 1, reference)
    if said is None:
        return None
    tool(options.sluice, "import", base + ".tflite", "-o", base + ".slg")
    tool(options.sluice, "schedule", base + ".slg", "--hw", options.hw, "-o", base + ".slp")
    tool(options.sluice, "verify", base + ".slp", "--graph", base + ".slg", "--hw",
         options.hw)
    return once(base, options, *said[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--hw", default="mcu-256k")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="*")
    parser.add_argument("--keep", default=None)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--least", type=int, default=0)
    options = parser.parse_args()
    folder = options.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    table, models, equal = {}, 0, 0
    only = Selection(options.only)
    for operator, variant, types, make in tflite_cases.CASES:
        for kind in types:
            name = ".".join(filter(None, (operator, variant.replace(" ", "_"), kind)))
            if not only.has(name):
                continue
            verdicts = []
            for seed in range(1, options.seeds + 1):
                try:
                    model = Model(kind, seed)
                    make(model, operator, variant)
                    differ = through(model.bytes(), os.path.join(folder, name), options, seed,
                                     (operator, kind) not in NO_REFERENCE)
                    verdicts.append("" if differ == 0 else differ)
                    if differ is None:
                        break
                    if differ:
                        print(f"{name}: seed {seed}: {differ} bytes differ")
                except Failed as failure:
                    verdicts.append(str(failure))
                    print(f"{name}: {failure}")
                    break
            sys.stdout.flush()
            if None in verdicts:
                continue
            models += 1
            good = not any(verdicts)
            equal += good
            row = table.setdefault(operator, {}).setdefault(kind, [0, 0])
            row[0] += good
            row[1] += 1
    if options.table:
        for operator in sorted(table):
            print(f"| {operator} | " + ", ".join(
                f"{k} {g}/{n}" for k, (g, n) in table[operator].items()) + " |")
    only.require_one()
    whole = sum(all(g == n for g, n in kinds.values()) for kinds in table.values())
    print(f"{models} models that the runtime runs: {equal} equal in every byte; of "
          f"{len(table)} operators {whole} in all of their types")
    return equal < options.least


if __name__ == "__main__":
    sys.exit(main())
