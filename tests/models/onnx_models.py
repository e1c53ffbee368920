#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small networks of many kinds, quantised by onnxruntime, through the whole tool.

Each network is quantised four ways (QDQ, QDQ per channel with uint8 activations, QOperator,
dynamically), imported, scheduled, verified and executed on seeded inputs; the result is
compared, byte by byte, with onnxruntime's, all of whose optimisations are off.

Needs: pip install onnx onnxruntime numpy.

    onnx_models.py --sluice build/release/src/cli/sluice [--hw mcu-256k] [--keep FOLDER]
                   [--only PATTERN] [--seeds 3] [--json FILE]

    onnx_models.py --sluice ... --goldens tests/goldens/networks

The second form writes a few of the models, and what onnxruntime makes of seeded inputs, for
the test of the importer.

Prints a line for each model and, at the end, how many went through and how many are equal.
With --least-through N and --least-equal N it fails when there are fewer.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import onnx_networks
from selection import Selection

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "goldens"))
from seeded_bytes import fnv1a, split_mix


def quiet(verb, *arguments, **options):
    """Calls `verb` and drops what it prints."""
    kept = [os.dup(1), os.dup(2)]
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
        try:
            return verb(*arguments, **options)
        finally:
            for place, saved in zip((1, 2), kept):
                os.dup2(saved, place)
                os.close(saved)


def ways():
    import onnxruntime.quantization as q
    return {
        "qdq": dict(quant_format=q.QuantFormat.QDQ, activation_type=q.QuantType.QInt8,
                    weight_type=q.QuantType.QInt8, per_channel=True),
        "qdq_uint8": dict(quant_format=q.QuantFormat.QDQ,
                          activation_type=q.QuantType.QUInt8,
                          weight_type=q.QuantType.QUInt8, per_channel=False),
        "qoperator": dict(quant_format=q.QuantFormat.QOperator,
                          activation_type=q.QuantType.QUInt8,
                          weight_type=q.QuantType.QInt8, per_channel=True),
        "qoperator_int8": dict(quant_format=q.QuantFormat.QOperator,
                               activation_type=q.QuantType.QInt8,
                               weight_type=q.QuantType.QInt8, per_channel=False),
        "dynamic": None,
    }


def inputs_of(model, rng):
    feeds = {}
    constants = {t.name for t in model.graph.initializer}
    for info in model.graph.input:
        if info.name in constants:
            continue
        shape = [d.dim_value for d in info.type.tensor_type.shape.dim]
        kind = info.type.tensor_type.elem_type
        if kind == TensorProto.FLOAT:
            feeds[info.name] = rng.standard_normal(shape).astype(np.float32)
        elif kind == TensorProto.BOOL:
            feeds[info.name] = rng.integers(0, 2, shape).astype(bool)
        else:
            kind = np.int32 if kind == TensorProto.INT32 else np.int64
            feeds[info.name] = rng.integers(0, 16, shape).astype(kind)
    return feeds


def quantised(model, way, folder):
    """`way`: one of ways() by name, or options of quantize_static."""
    import onnxruntime.quantization as q

    class Reader(q.CalibrationDataReader):
        def __init__(self):
            rng = np.random.default_rng(5)
            self.left = [inputs_of(model, rng) for _ in range(4)]

        def get_next(self):
            return self.left.pop() if self.left else None

    plain, out = os.path.join(folder, "float.onnx"), os.path.join(folder, "quantised.onnx")
    onnx.save(model, plain)
    given = ways()[way] if isinstance(way, str) else way
    if given is None:
        q.quantize_dynamic(plain, out, weight_type=q.QuantType.QInt8)
    else:
        q.quantize_static(plain, out, Reader(), **given)
    return onnx.load(out)


TYPES = {"int8": np.int8, "uint8": np.uint8, "int16": np.int16, "int32": np.int32,
         "int64": np.int64}


class Port:
    """An input or output of the graph, from the tool's line about it."""

    def __init__(self, line):
        form = re.match(r"(input|output) (.*): (\w+) \[(.*?)\](.*)$", line)
        self.name, self.dtype = form[2], TYPES[form[3]]
        order = re.search(r"axes in the order([ \d]+)", form[5])
        self.order = [int(a) for a in order[1].split()] if order else None
        real = re.search(r"real = (\S+) \* \(stored - (-?\d+)\)", form[5])
        self.scale = np.float32(real[1]) if real else None
        self.zero = int(real[2]) if real else 0
        self.floats = "bits of floats" in form[5]


def stored_and_real(port, wanted, rng):
    """Bytes that lie in the graph's input, and what onnxruntime is given."""
    if port.floats:
        real = stored = wanted
    elif port.scale is None:
        real = wanted
        stored = wanted.astype(port.dtype)
    else:
        info = np.iinfo(port.dtype)
        steps = np.rint(wanted / port.scale + port.zero)
        stored = np.clip(steps, info.min, info.max).astype(port.dtype)
        real = stored if wanted.dtype != np.float32 else (
            (stored.astype(np.float32) - np.float32(port.zero)) * port.scale)
    lies = stored.transpose(port.order) if port.order else stored
    return np.ascontiguousarray(lies).tobytes(), real


class Failed(Exception):
    pass


def tool(arguments):
    run = subprocess.run(arguments, capture_output=True, text=True)
    if run.returncode != 0:
        text = (run.stderr or run.stdout).strip().replace("\n", "; ")
        raise Failed(f"{arguments[1]}: exit {run.returncode}: {text[:300]}")
    return run.stdout


def compare(port, got, want):
    """How many elements differ, of how many, and by how much at most. Floats that the host
    computes are compared to 5 digits: what comes last is the order of sums."""
    shape = [want.shape[a] for a in port.order] if port.order else list(want.shape)
    got = np.frombuffer(got, np.float32 if port.floats else port.dtype).reshape(shape)
    if port.order:
        got = got.transpose(np.argsort(port.order))
    if port.floats:
        apart = np.abs(got - want) > 1e-5 * max(1.0, float(np.abs(want).max()))
        return int(apart.sum()), apart.size, int(apart.any())
    if port.scale is not None and want.dtype == np.float32:
        info = np.iinfo(port.dtype)
        want = np.clip(np.rint(want / port.scale + port.zero), info.min, info.max)
    apart = np.abs(got.astype(np.int64) - want.astype(np.int64))
    return int((apart != 0).sum()), apart.size, int(apart.max(initial=0))


def reference(model):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return ort.InferenceSession(model.SerializeToString(), options,
                                providers=["CPUExecutionProvider"])


def through(model, path, sluice, hw, seeds):
    """One model from file to bytes. Raises Failed at the first step that does not work."""
    onnx.save(model, path + ".onnx")
    said = json.loads(tool([sluice, "import", path + ".onnx", "-o", path + ".slg", "--json"]))
    row = {"numbers": said["numbers"], "said": said}
    tool([sluice, "schedule", path + ".slg", "--hw", hw, "-o", path + ".slp"])
    ports = [Port(line) for line in said["interface"]]
    ins, outs = ports[:said["inputs"]], ports[said["inputs"]:]
    session = None if said["numbers"] == "shapes only" else reference(model)
    differ = count = most = 0
    for seed in range(1, seeds + 1):
        rng = np.random.default_rng(seed)
        wanted, feeds, files = inputs_of(model, rng), {}, []
        for i, port in enumerate(ins):
            stored, feeds[port.name] = stored_and_real(port, wanted[port.name], rng)
            files.append(f"{path}.in{i}")
            with open(files[-1], "wb") as file:
                file.write(stored)
        results = [f"{path}.out{i}" for i in range(len(outs))]
        command = [sluice, "simulate", path + ".slp", "--graph", path + ".slg", "--hw", hw,
                   "--functional"]
        for file in files:
            command += ["--input", file]
        for file in results:
            command += ["--output", file]
        tool(command)
        if session is None:
            break
        reals = session.run(None, feeds)
        for port, result, real in zip(outs, results, reals):
            with open(result, "rb") as file:
                d, n, m = compare(port, file.read(), real)
            differ, count, most = differ + d, count + n, max(most, m)
    row.update(differ=differ, count=count, most=most)
    return row


# Models of most kinds, for tests that run without onnxruntime.
GOLDENS = ["style_transfer.qoperator", "sums.qdq_uint8", "segmentation.qoperator",
           "clipped.qoperator", "gru.qdq", "lstm.qoperator", "unet.qoperator_int8",
           "inception.qdq", "super_resolution.qdq", "mobilenet_v3.qdq",
           "efficientnet.qoperator", "temporal.qoperator", "llama.qdq", "yolo.qdq",
           "autoencoder.dynamic"]


def golden(model, path, sluice):
    """What onnxruntime makes of seeded bytes. Inputs that are floats are int8 / 32."""
    onnx.save(model, path + ".onnx")
    said = json.loads(tool([sluice, "import", path + ".onnx", "-o", path + ".slg", "--json"]))
    ports = [Port(line) for line in said["interface"]]
    ins, outs = ports[:said["inputs"]], ports[said["inputs"]:]
    shapes = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim]
              for i in model.graph.input}
    session, runs = reference(model), []
    for seed in (1, 2, 3):
        feeds = {}
        for i, port in enumerate(ins):
            shape = shapes[port.name]
            lies = [shape[a] for a in port.order] if port.order else shape
            data = np.frombuffer(split_mix(seed * 256 + i, int(np.prod(shape))),
                                 np.int8 if port.floats else port.dtype).reshape(lies)
            if port.order:
                data = data.transpose(np.argsort(port.order))
            real = data.astype(np.float32)
            real = real / 32 if port.floats else (real - np.float32(port.zero)) * port.scale
            feeds[port.name] = np.ascontiguousarray(real, dtype=np.float32)
        run = {"seed": seed, "outputs": []}
        for port, y in zip(outs, session.run(None, feeds)):
            if port.floats:
                run["outputs"].append([float(v) for v in y.ravel()[:64]])
                continue
            info = np.iinfo(port.dtype)
            if y.dtype == np.float32:
                y = np.clip(np.rint(y / port.scale + port.zero), info.min, info.max)
            y = y.astype(port.dtype)
            lies = y.transpose(port.order) if port.order else y
            run["outputs"].append("%016x" % fnv1a(np.ascontiguousarray(lies).tobytes()))
        runs.append(run)
    return runs


def make_goldens(folder, sluice):
    kept = {}
    for full in GOLDENS:
        name, way = full.split(".")
        model = quiet(quantised, onnx_networks.NETWORKS[name](), way, tempfile.mkdtemp())
        kept[full] = golden(model, os.path.join(folder, full), sluice)
        os.remove(os.path.join(folder, full + ".slg"))
    with open(os.path.join(folder, "onnx_networks.json"), "w") as file:
        json.dump({"models": kept}, file, indent=1)
        file.write("\n")
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--hw", default="mcu-256k")
    parser.add_argument("--keep", default=None)
    parser.add_argument("--only", default="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", default=None)
    parser.add_argument("--least-through", type=int, default=0)
    parser.add_argument("--least-equal", type=int, default=0)
    parser.add_argument("--goldens", default=None)
    options = parser.parse_args()
    if options.goldens:
        return make_goldens(options.goldens, options.sluice)
    folder = options.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    rows, passed, computed, equal = {}, 0, 0, 0
    only = Selection(options.only)
    for name, make in onnx_networks.NETWORKS.items():
        for way in ways():
            full = f"{name}.{way}"
            if not only.has(full):
                continue
            try:
                model = quiet(quantised, make(), way, folder)
            except Exception as error:  # the quantiser's own limits
                print(f"{full}: not quantised: {str(error)[:100]}")
                continue
            try:
                row = through(model, os.path.join(folder, full), options.sluice, options.hw,
                              options.seeds)
                passed += 1
                computed += row["numbers"] != "shapes only"
                equal += row["count"] != 0 and row["differ"] == 0
                said = row.pop("said")
                names = ", ".join(f"{e['count']} {e['op']}" for e in said["shapes_only"])
                named = ", ".join(f"{e['count']} {e['op']}" for e in said.get("rounded", []))
                print(f"{full}: {row['numbers']}, {row['differ']} of {row['count']} differ, "
                      f"most {row['most']} [{names}] [{named}]")
            except Failed as error:
                row = {"failed": str(error)}
                print(f"{full}: {error}")
            rows[full] = row
            sys.stdout.flush()
    only.require_one()
    print(f"{len(rows)} models: {passed} end to end, {computed} of them computed, "
          f"{equal} equal in every byte")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    return passed < options.least_through or equal < options.least_equal


if __name__ == "__main__":
    sys.exit(main())
