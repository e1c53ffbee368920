#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes residual_cnn_int8.tflite: the small model that comes with the project.

It is a quantised image classifier for 32 x 32 pixels: a convolution, a depthwise
separable block, two residual blocks, average pooling, a fully connected layer and a
softmax. Its weights are seeded, not trained: what it computes is well defined and means
nothing. tests/goldens/tflite.json holds what TensorFlow Lite's reference kernels answer.

  make_residual_cnn.py --flatc flatc --schema tflite.fbs -o residual_cnn_int8.tflite
  make_residual_cnn.py --flatc flatc --schema tflite.fbs --check residual_cnn_int8.tflite

Needs flatc and the schema of the importer. --check fails unless the file holds what the
script makes (the same values: other versions of flatc lay the same tables out otherwise).
"""
import argparse
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

MASK = (1 << 64) - 1
ADD, AVERAGE_POOL, CONV, DEPTHWISE, FULLY_CONNECTED, SOFTMAX = (
    "ADD", "AVERAGE_POOL_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "SOFTMAX",
)
VERSIONS = {ADD: 2, AVERAGE_POOL: 2, CONV: 3, DEPTHWISE: 3, FULLY_CONNECTED: 4, SOFTMAX: 2}
WEIGHT_RMS = 73.3  # of int8 values drawn evenly from -127 to 127
INPUT_RMS = 74.0  # of int8 values drawn evenly; activations of this model are near it


class Random:
    """SplitMix64, as in include/sluice/ops.h."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (z ^ (z >> 31)) % bound


def single(value):
    """The nearest 32-bit float."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


class Model:
    def __init__(self, seed):
        self.random = Random(seed)
        self.tensors, self.operators, self.codes = [], [], []
        self.buffers = [{}]  # buffer 0 is empty

    def tensor(self, name, shape, scale, zero_point, kind="INT8"):
        scales = scale if isinstance(scale, list) else [scale]
        self.tensors.append({
            "shape": shape, "type": kind, "buffer": 0, "name": name,
            "quantization": {
                "scale": [single(s) for s in scales],
                "zero_point": [zero_point] * len(scales), "quantized_dimension": 0,
            },
        })
        return len(self.tensors) - 1

    def constant(self, tensor, data):
        self.tensors[tensor]["buffer"] = len(self.buffers)
        self.buffers.append({"data": list(data)})

    def operator(self, code, inputs, output, kind, options):
        if code not in self.codes:
            self.codes.append(code)
        self.operators.append({
            "opcode_index": self.codes.index(code), "inputs": inputs, "outputs": [output],
            "builtin_options_type": kind, "builtin_options": options,
        })
        return output

    def scale(self, tensor):
        return self.tensors[tensor]["quantization"]["scale"][0]

    def shape(self, tensor):
        return self.tensors[tensor]["shape"]

    def weighted(self, name, source, shape, output, channel_axis, spread=90.0):
        """Weights and bias; their sums spread over about `spread` steps of `output`."""
        channels = shape[channel_axis]
        terms = math.prod(shape) // channels
        ratio = spread / (math.sqrt(terms) * WEIGHT_RMS * INPUT_RMS)
        scale = ratio * self.scale(output) / self.scale(source)
        scales = [single(scale * (0.75 + self.random.below(512) / 1024)) for _ in
                  range(channels)]
        if len(shape) == 2:  # a fully connected layer has one scale
            scales = scales[:1]
        weights = self.tensor(name + "/weights", shape, scales, 0)
        if len(scales) > 1:
            self.tensors[weights]["quantization"]["quantized_dimension"] = channel_axis
        values = [self.random.below(255) - 127 for _ in range(math.prod(shape))]
        self.constant(weights, (v & 255 for v in values))
        bias = self.tensor(
            name + "/bias", [channels], [s * self.scale(source) for s in scales], 0, "INT32"
        )
        reach = int(30 / ratio)
        words = [self.random.below(2 * reach) - reach for _ in range(channels)]
        self.constant(bias, b"".join(struct.pack("<i", w) for w in words))
        return weights, bias

    def convolution(self, name, source, channels, kernel, stride=1, activation="RELU6"):
        _, height, width, depth = self.shape(source)
        relu = activation == "RELU6"
        output = self.tensor(
            name, [1, height // stride, width // stride, channels],
            6 / 255 if relu else 8 / 255, -128 if relu else 3,
        )
        shape = [channels, kernel, kernel, depth]
        inputs = [source, *self.weighted(name, source, shape, output, 0)]
        return self.operator(CONV, inputs, output, "Conv2DOptions", {
            "padding": "SAME", "stride_w": stride, "stride_h": stride,
            "activation": activation,
        })

    def depthwise(self, name, source, stride):
        _, height, width, depth = self.shape(source)
        output = self.tensor(
            name, [1, height // stride, width // stride, depth], 6 / 255, -128
        )
        inputs = [source, *self.weighted(name, source, [1, 3, 3, depth], output, 3)]
        return self.operator(DEPTHWISE, inputs, output, "DepthwiseConv2DOptions", {
            "padding": "SAME", "stride_w": stride, "stride_h": stride,
            "depth_multiplier": 1, "activation": "RELU6",
        })

    def residual(self, name, source):
        _, height, width, depth = self.shape(source)
        branch = self.convolution(name + "/first", source, depth, 3)
        branch = self.convolution(name + "/second", branch, depth, 3, activation="NONE")
        output = self.tensor(name, [1, height, width, depth], 8 / 255, -128)
        return self.operator(
            ADD, [source, branch], output, "AddOptions", {"activation": "RELU"}
        )

    def head(self, source, classes):
        _, height, width, depth = self.shape(source)
        pooled = self.tensor("pooled", [1, 1, 1, depth], self.scale(source), -128)
        self.operator(AVERAGE_POOL, [source], pooled, "Pool2DOptions", {
            "padding": "VALID", "stride_w": width, "stride_h": height, "window_w": width,
            "window_h": height, "activation": "NONE",
        })
        logits = self.tensor("dense", [1, classes], 0.05, 4)
        shape = [classes, depth]
        inputs = [pooled, *self.weighted("dense", pooled, shape, logits, 0, 30.0)]
        self.operator(FULLY_CONNECTED, inputs, logits, "FullyConnectedOptions", {
            "activation": "NONE",
        })
        classified = self.tensor("probabilities", [1, classes], 1 / 256, -128)
        return self.operator(
            SOFTMAX, [logits], classified, "SoftmaxOptions", {"beta": 1.0}
        )

    def json(self, inputs, outputs):
        return {
            "version": 3,
            "operator_codes": [
                {"deprecated_builtin_code": self.number(c), "version": VERSIONS[c],
                 "builtin_code": c} for c in self.codes
            ],
            "subgraphs": [{
                "tensors": self.tensors, "inputs": inputs, "outputs": outputs,
                "operators": self.operators, "name": "main",
            }],
            "description": "sluice: a small residual network with seeded weights",
            "buffers": self.buffers,
        }

    @staticmethod
    def number(code):
        return {ADD: 0, AVERAGE_POOL: 1, CONV: 3, DEPTHWISE: 4, FULLY_CONNECTED: 9,
                SOFTMAX: 25}[code]


def make():
    model = Model(seed=20)
    image = model.tensor("image", [1, 32, 32, 3], 1 / 128, -1)
    x = model.convolution("stem", image, 16, 3)
    x = model.depthwise("separable/depthwise", x, 2)
    x = model.convolution("separable/pointwise", x, 24, 1)
    x = model.residual("residual_a", x)
    x = model.convolution("down", x, 32, 3, stride=2)
    x = model.residual("residual_b", x)
    return model.json([image], [model.head(x, 10)])


def write(flatc, schema, folder):
    source = folder / "model.json"
    source.write_text(json.dumps(make()))
    subprocess.check_call([flatc, "-b", "-o", str(folder), schema, str(source)])
    return folder / "model.tflite"


def values(flatc, schema, binary, folder):
    """A binary file of flatbuffers as JSON text."""
    folder.mkdir()
    copy = folder / "read.tflite"
    copy.write_bytes(binary.read_bytes())
    subprocess.check_call(
        [flatc, "--json", "--strict-json", "-o", str(folder), schema, "--", str(copy)]
    )
    return (folder / "read.json").read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flatc", default="flatc")
    parser.add_argument("--schema", required=True)
    parser.add_argument("-o", "--output")
    parser.add_argument("--check", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = write(arguments.flatc, arguments.schema, folder)
        if arguments.output:
            pathlib.Path(arguments.output).write_bytes(made.read_bytes())
        if arguments.check:
            reader = (arguments.flatc, arguments.schema)
            ours = values(*reader, made, folder / "a")
            theirs = values(*reader, arguments.check, folder / "b")
            if ours != theirs:
                sys.exit(f"{arguments.check} is not what this script makes")
            print(f"{arguments.check.name}: {len(ours)} characters of values are equal")


if __name__ == "__main__":
    main()
