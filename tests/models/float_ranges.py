#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Floating-point ONNX models quantised by given ranges (sluice import --ranges), compared with
onnxruntime's static quantisation.

Each small network of onnx_networks.py is quantised by onnxruntime. The ranges that it has chosen
go to the importer together with the float model; tensors that onnxruntime leaves in floats have
the range of four runs. The tool's bytes are compared with what onnxruntime computes of its own
quantised model and, in steps of the output, with the float model.

Needs: pip install onnx onnxruntime numpy.

    float_ranges.py --sluice build/release/src/cli/sluice [--hw mcu-256k] [--only PATTERN]
                    [--least-through N] [--least-equal N]

Prints a line for each network; "of the float model" is the mean distance in steps.
"""
import argparse
import json
import os
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

import onnx_models
import onnx_networks
from selection import Selection


def ranges_in(model):
    """{tensor: [min, max]} of the QuantizeLinear nodes of a quantised model."""
    constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    ranges = {}
    for node in model.graph.node:
        if node.op_type != "QuantizeLinear" or node.input[0] in constants:
            continue
        scale, zero = float(constants[node.input[1]]), int(constants[node.input[2]])
        name = node.input[0].removesuffix("_QuantizeLinear_Input")  # of an output
        ranges[name] = [(-128 - zero) * scale, (127 - zero) * scale]
    return ranges


def ranges_of_runs(model):
    """{tensor: [min, max]} of all float tensors, over four runs."""
    whole = onnx.shape_inference.infer_shapes(model)
    outputs = {o.name for o in whole.graph.output}
    whole.graph.output.extend(i for i in whole.graph.value_info if i.name not in outputs)
    session, rng, ranges = onnx_models.reference(whole), np.random.default_rng(5), {}
    for _ in range(4):
        feeds = onnx_models.inputs_of(model, rng)
        for info, array in zip(session.get_outputs(), session.run(None, feeds)):
            feeds[info.name] = array
        for name, array in feeds.items():
            if array.dtype == np.float32:
                low, high = ranges.get(name, [np.inf, -np.inf])
                ranges[name] = [min(low, float(array.min())), max(high, float(array.max()))]
    return ranges


def compared(model, made, path, options):
    """A row: how the tool's outputs differ from those of `made` and of the float model."""
    onnx.save(model, path + ".onnx")
    known = {**ranges_of_runs(model), **ranges_in(made)}
    with open(path + ".json", "w") as file:
        json.dump(known, file)
    said = json.loads(onnx_models.tool([options.sluice, "import", path + ".onnx", "-o",
                                        path + ".slg", "--ranges", path + ".json", "--json"]))
    onnx_models.tool([options.sluice, "schedule", path + ".slg", "--hw", options.hw, "-o",
                      path + ".slp"])
    ports = [onnx_models.Port(line) for line in said["interface"]]
    ins, outs = ports[:said["inputs"]], ports[said["inputs"]:]
    wanted, feeds, files = onnx_models.inputs_of(model, np.random.default_rng(1)), {}, []
    for i, port in enumerate(ins):
        stored, feeds[port.name] = onnx_models.stored_and_real(port, wanted[port.name], None)
        files += ["--input", f"{path}.in{i}"]
        with open(files[-1], "wb") as file:
            file.write(stored)
    for i in range(len(outs)):
        files += ["--output", f"{path}.out{i}"]
    onnx_models.tool([options.sluice, "simulate", path + ".slp", "--functional", *files])
    row = {"differ": 0, "count": 0, "most": 0, "steps": 0.0, "numbers": said["numbers"]}
    reals = onnx_models.reference(model).run(None, feeds)
    theirs = onnx_models.reference(made).run(None, feeds)
    for i, port in enumerate(outs):
        with open(f"{path}.out{i}", "rb") as file:
            bits = file.read()
        differ, count, most = onnx_models.compare(port, bits, theirs[i])
        row["differ"], row["count"] = row["differ"] + differ, row["count"] + count
        row["most"] = max(row["most"], most)
        if port.scale is not None:
            got = np.frombuffer(bits, port.dtype).astype(np.float32)
            lies = reals[i].transpose(port.order) if port.order else reals[i]
            apart = np.abs((got - port.zero) - lies.ravel() / port.scale)
            row["steps"] = max(row["steps"], float(apart.mean()))
    return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--hw", default="mcu-256k")
    parser.add_argument("--only", default="*")
    parser.add_argument("--least-through", type=int, default=0)
    parser.add_argument("--least-equal", type=int, default=0)
    options = parser.parse_args()
    only, through, equal, tried = Selection(options.only), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, make in onnx_networks.NETWORKS.items():
            if not only.has(name):
                continue
            tried += 1
            try:
                model = make()
                made = onnx_models.quiet(onnx_models.quantised, model, "qdq", folder)
                row = compared(model, made, os.path.join(folder, name), options)
            except Exception as error:  # the quantiser's or the tool's
                print(f"{name}: {' '.join(str(error).split())[:300]}", flush=True)
                continue
            through += 1
            equal += row["differ"] == 0
            print(f"{name}: {row['numbers']}, {row['differ']} of {row['count']} differ from "
                  f"onnxruntime's, most {row['most']}; {row['steps']:.2f} steps of the float "
                  f"model", flush=True)
    only.require_one()
    print(f"{tried} networks: {through} quantised by ranges and executed, {equal} equal in "
          f"every byte to onnxruntime's own quantisation")
    return through < options.least_through or equal < options.least_equal


if __name__ == "__main__":
    sys.exit(main())
