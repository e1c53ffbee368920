#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tflite.json: what TFLite's reference kernels answer on seeded inputs.

Development time only; the tests read the JSON. Run it as

    python3 bindings/tflite/fetch.py
    PYTHONPATH=build/tflite/python python3 tests/goldens/make_goldens.py MODEL_FOLDER...
        [-o tflite.json] [--runs N] [--outputs-only] [--add]

with the folder of the reference models and tests/models.

A float input or output that the model quantises itself counts as quantised: its seeded
bytes are those of the quantised tensor, the interpreter gets the floats that they mean,
and what it answers has to be such floats again. With --runs, one interpreter runs that
often in a row; run r of seed s has the inputs of seed s + 1000 r, and the hash is that
of all runs' outputs, one behind the other. With --add the file keeps what it says of models
that are not in these folders.

fetch.py gets the interpreter. Inputs follow the rule "Seeded bytes" of include/sluice/ops.h:
input i of a run with seed s is filled from the SplitMix64 sequence of s * 256 + i. Per model and seed the JSON holds the FNV-1a 64 hash of the
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

from seeded_bytes import fnv1a, split_mix

SEEDS = (1, 2, 3)


def readable(path):
    """The model's bytes, changed so that the interpreter accepts them. Old converters left
    an axis of the filter in the bias's quantisation, where it means nothing: it is set to
    0. TILE gets the newest version that the reference kernels list; they compute more."""
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
    for i in range(model.OperatorCodesLength()):
        code = model.OperatorCodes(i)
        field = code._tab.Offset(4 + 2 * 2)
        tile = code.DeprecatedBuiltinCode() == tflite.BuiltinOperator.TILE
        if tile and field and code.Version() > 2:
            at = code._tab.Pos + field
            data[at : at + 4] = (2).to_bytes(4, "little")
    return bytes(data)


def written_tensors(content):
    """Name -> index of the tensors that operators write; names that occur twice are
    left out."""
    import tflite

    graph = tflite.Model.GetRootAs(content, 0).Subgraphs(0)
    given = [graph.Tensors(i).Name() for i in range(graph.TensorsLength())]
    names = [n.decode() if n else f"tensor_{i}" for i, n in enumerate(given)]
    written = set()
    for i in range(graph.OperatorsLength()):
        written.update(int(t) for t in graph.Operators(i).OutputsAsNumpy())
    return {names[t]: t for t in sorted(written) if names.count(names[t]) == 1}


MOVERS = ("RESHAPE", "SQUEEZE", "EXPAND_DIMS", "TRANSPOSE", "SLICE", "STRIDED_SLICE",
          "SPLIT", "SPLIT_V", "CONCATENATION", "PACK", "MAX_POOL_2D",
          "RESIZE_NEAREST_NEIGHBOR")


def float_borders(content):
    """Float tensor -> (type, scale, zero point) that QUANTIZE or DEQUANTIZE give it, also
    through operators that only move elements."""
    import tflite

    model = tflite.Model.GetRootAs(content, 0)
    graph = model.Subgraphs(0)
    names = {v: k for k, v in vars(tflite.BuiltinOperator).items() if isinstance(v, int)}
    operators = []
    for i in range(graph.OperatorsLength()):
        op = graph.Operators(i)
        code = model.OperatorCodes(op.OpcodeIndex())
        number = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
        inputs = [int(t) for t in op.InputsAsNumpy()] if op.InputsLength() else []
        outputs = [int(t) for t in op.OutputsAsNumpy()] if op.OutputsLength() else []
        operators.append((names[number], inputs, outputs))
    known = {}

    def note(real, stored):
        parameters = graph.Tensors(stored).Quantization()
        if graph.Tensors(real).Type() == tflite.TensorType.FLOAT32:
            kind = {v: k for k, v in vars(tflite.TensorType).items()
                    if isinstance(v, int)}[graph.Tensors(stored).Type()]
            known[real] = (kind.lower(), parameters.Scale(0), parameters.ZeroPoint(0))

    for name, inputs, outputs in operators:
        if name == "QUANTIZE":
            note(inputs[0], outputs[0])
        elif name == "DEQUANTIZE":
            note(outputs[0], inputs[0])
    for _ in operators:
        for name, inputs, outputs in operators:
            if name not in MOVERS:
                continue
            group = [t for t in inputs + outputs
                     if t >= 0 and graph.Tensors(t).Type() == tflite.TensorType.FLOAT32]
            found = [known[t] for t in group if t in known]
            known.update({t: found[0] for t in group if found})
    return known


def shape_inputs(content):
    """Input that gives the shape of TRANSPOSE_CONV's output -> that shape."""
    import tflite

    model = tflite.Model.GetRootAs(content, 0)
    graph = model.Subgraphs(0)
    shapes = {}
    for i in range(graph.OperatorsLength()):
        op = graph.Operators(i)
        code = model.OperatorCodes(op.OpcodeIndex()).DeprecatedBuiltinCode()
        if code == tflite.BuiltinOperator.TRANSPOSE_CONV:
            shapes[int(op.Inputs(0))] = graph.Tensors(op.Outputs(0)).ShapeAsNumpy()
    return shapes


def quantised(values, border):
    """Floats as the quantised elements that they stand for; each must be such a value."""
    import numpy

    if border is None:
        return values
    kind, scale, zero = border
    steps = numpy.rint(values.astype(numpy.float64) / scale) + zero
    stored = steps.astype(kind)
    assert (meant(stored, border) == values).all(), "floats between two steps"
    return stored


def meant(stored, border):
    import numpy

    if border is None:
        return stored
    _, scale, zero = border
    return (scale * (stored.astype(numpy.float64) - zero)).astype(numpy.float32)


def run(content, seed, tensors, runs=1):
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
    borders, shapes = float_borders(content), shape_inputs(content)
    outputs = b""
    for r in range(runs):
        for i, detail in enumerate(interpreter.get_input_details()):
            border = borders.get(detail["index"])
            dtype = numpy.dtype(detail["dtype"] if border is None else border[0])
            count = int(numpy.prod(detail["shape"])) * dtype.itemsize
            data = split_mix((seed + 1000 * r) * 256 + i, count)
            raw = numpy.frombuffer(data, dtype).reshape(detail["shape"])
            raw = shapes.get(detail["index"], raw)
            interpreter.set_tensor(detail["index"], meant(raw, border))
        interpreter.invoke()
        for detail in interpreter.get_output_details():
            values = interpreter.get_tensor(detail["index"])
            outputs += quantised(values, borders.get(detail["index"])).tobytes()
    hashes = {
        name: f"{fnv1a(interpreter.get_tensor(t).tobytes()):016x}"
        for name, t in tensors.items()
    }
    return outputs, hashes


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", help="folders with the .tflite files")
    parser.add_argument("-o", "--output", default=os.path.join(here, "tflite.json"))
    parser.add_argument("--runs", type=int, default=1, help="in a row, of one state")
    parser.add_argument("--outputs-only", action="store_true",
                        help="no hashes of the tensors on the way")
    parser.add_argument("--add", action="store_true",
                        help="to what the file says of models that are not in these folders")
    arguments = parser.parse_args()

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
        tensors = {} if arguments.outputs_only else written_tensors(content)
        inside[name] = {tensor: [] for tensor in tensors}
        for seed in SEEDS:
            data, hashes = run(content, seed, tensors, arguments.runs)
            for tensor, value in hashes.items():
                inside[name][tensor].append(value)
            runs.append(
                {"seed": seed, "bytes": len(data), "output_fnv1a": f"{fnv1a(data):016x}"}
            )
        models[name] = runs
        differ = sum(len(set(h)) == len(SEEDS) for h in inside[name].values())
        print(name, len(tensors), "tensors,", differ, "with one hash for each seed")
    inside = {m: {t: " ".join(h) for t, h in ts.items()} for m, ts in inside.items()}
    made = {"models": models, "tensors": inside, "sha256": sums}
    if arguments.add:
        with open(arguments.output, encoding="utf-8") as file:
            known = json.load(file)
        made = {part: dict(sorted((known[part] | made[part]).items())) for part in made}
    with open(arguments.output, "w", encoding="utf-8") as out:
        json.dump(made, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
