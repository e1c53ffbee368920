#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tflite.json: what TFLite's reference kernels answer on seeded inputs.

Development time only; the tests read the JSON. Run it as

    python3 make_goldens.py MODEL_FOLDER... [-o tflite.json]

with the folder of the reference models and tests/models.

It sets up a virtual environment next to the output (or in --venv) with the
interpreter from PyPI and runs itself in there. Inputs follow the rule "Seeded bytes"
of include/sluice/ops.h: input i of a run with seed s is filled from the SplitMix64
sequence of s * 256 + i. Per model and seed the JSON holds the FNV-1a 64 hash of the
output tensors' dense bytes, concatenated in output order, and how many bytes that are.
Final outputs can be blind to their inputs (a class that always wins), so it also holds,
per model, the hash of every tensor an operator writes, by name, one for each seed. The
models are known by the SHA-256 of their files.
"""
import argparse
import glob
import hashlib
import json
import os
import subprocess
import sys
import venv

SEEDS = (1, 2, 3)
MASK = (1 << 64) - 1
PACKAGES = ("ai-edge-litert==2.3.0", "tflite==2.18.0", "numpy")


def seeded_bytes(seed, count):
    out = bytearray()
    state = seed
    while len(out) < count:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        out += (z ^ (z >> 31)).to_bytes(8, "little")
    return bytes(out[:count])


def fnv1a(data, state=0xCBF29CE484222325):
    for byte in data:
        state = ((state ^ byte) * 0x100000001B3) & MASK
    return state


def readable(path):
    """The model's bytes. Old converters left an axis of the filter in the bias's
    quantisation, which newer interpreters refuse and which means nothing: set to 0."""
    import tflite

    data = bytearray(open(path, "rb").read())
    model = tflite.Model.GetRootAs(data, 0)
    graph = model.Subgraphs(0)
    for i in range(graph.TensorsLength()):
        tensor = graph.Tensors(i)
        parameters = tensor.Quantization()
        if parameters is None or parameters.QuantizedDimension() < tensor.ShapeLength():
            continue
        field = parameters._tab.Offset(4 + 2 * 6)
        if field:
            at = parameters._tab.Pos + field
            data[at : at + 4] = bytes(4)
    return bytes(data)


def written_tensors(content):
    """Name -> index of the tensors that operators write; names that occur twice are
    left out."""
    import tflite

    graph = tflite.Model.GetRootAs(content, 0).Subgraphs(0)
    names = [graph.Tensors(i).Name().decode() for i in range(graph.TensorsLength())]
    written = set()
    for i in range(graph.OperatorsLength()):
        written.update(int(t) for t in graph.Operators(i).OutputsAsNumpy())
    return {names[t]: t for t in sorted(written) if names.count(names[t]) == 1}


def run(content, seed, tensors):
    """Output bytes of one model on one seed, with the reference kernels, and the hash of
    each tensor of `tensors`."""
    import numpy
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(
        model_content=content,
        experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
        num_threads=1,
    )
    interpreter.allocate_tensors()
    for i, detail in enumerate(interpreter.get_input_details()):
        dtype = numpy.dtype(detail["dtype"])
        count = int(numpy.prod(detail["shape"])) * dtype.itemsize
        raw = numpy.frombuffer(seeded_bytes(seed * 256 + i, count), dtype)
        interpreter.set_tensor(detail["index"], raw.reshape(detail["shape"]))
    interpreter.invoke()
    outputs = b"".join(
        interpreter.get_tensor(detail["index"]).tobytes()
        for detail in interpreter.get_output_details()
    )
    hashes = {
        name: f"{fnv1a(interpreter.get_tensor(t).tobytes()):016x}"
        for name, t in tensors.items()
    }
    return outputs, hashes


def enter_venv(folder):
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        venv.create(folder, with_pip=True)
        subprocess.check_call([python, "-m", "pip", "-q", "install", *PACKAGES])
    os.execv(python, [python, *sys.argv, "--inside"])


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", help="folders with the .tflite files")
    parser.add_argument("-o", "--output", default=os.path.join(here, "tflite.json"))
    parser.add_argument("--venv", default=os.path.join(here, ".venv"))
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.inside:
        enter_venv(arguments.venv)

    models = {}
    inside = {}
    sums = {}
    paths = (p for f in arguments.models for p in glob.glob(os.path.join(f, "*.tflite")))
    for path in sorted(paths, key=os.path.basename):
        name = os.path.basename(path)[: -len(".tflite")]
        content = readable(path)
        with open(path, "rb") as file:
            sums[name] = hashlib.sha256(file.read()).hexdigest()
        runs = []
        tensors = written_tensors(content)
        inside[name] = {tensor: [] for tensor in tensors}
        for seed in SEEDS:
            data, hashes = run(content, seed, tensors)
            for tensor, value in hashes.items():
                inside[name][tensor].append(value)
            runs.append(
                {"seed": seed, "bytes": len(data), "output_fnv1a": f"{fnv1a(data):016x}"}
            )
        models[name] = runs
        differ = sum(len(set(h)) == len(SEEDS) for h in inside[name].values())
        print(name, len(tensors), "tensors,", differ, "with one hash for each seed")
    inside = {m: {t: " ".join(h) for t, h in ts.items()} for m, ts in inside.items()}
    with open(arguments.output, "w", encoding="utf-8") as out:
        json.dump({"models": models, "tensors": inside, "sha256": sums}, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
