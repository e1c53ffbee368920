#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models that nobody has seen before: networks whose shapes a seed draws.

ONNX (random_networks.py): quantised by onnxruntime, each of three of eight ways in turn.
TensorFlow Lite: int8 and uint8 networks with seeded scales and zero points.

Needs: pip install onnx onnxruntime numpy ai-edge-litert.

    random_models.py FOLDER [--seed 1] [--each 3] [--tflite 12]

What was made before stays. every_model.py runs the files through the tool.
"""
import argparse
import os
import sys
import tempfile

import numpy as np
import onnx

import onnx_models
import random_networks


def ways():
    import onnxruntime.quantization as q
    qdq, i8, u8 = q.QuantFormat.QDQ, q.QuantType.QInt8, q.QuantType.QUInt8

    def static(form, activations, weights, per_channel):
        return dict(quant_format=form, activation_type=activations, weight_type=weights,
                    per_channel=per_channel)
    more = {"qdq_w8": static(qdq, u8, i8, False), "qdq_channels": static(qdq, u8, u8, True),
            "qoperator_w8u": static(q.QuantFormat.QOperator, u8, u8, False)}
    return {**onnx_models.ways(), **more}


def onnx_files(options):
    names = list(ways().items())
    for number, kind in enumerate(random_networks.KINDS):
        for i in range(options.each):
            name, way = names[(number * options.each + i + options.seed) % len(names)]
            path = os.path.join(options.folder, f"random_{kind}.{options.seed}.{name}.onnx")
            if os.path.exists(path):
                continue
            model = random_networks.network(kind, options.seed * 1000 + number * 10 + i)
            try:
                with tempfile.TemporaryDirectory() as folder:
                    onnx.save(onnx_models.quiet(onnx_models.quantised, model, way,
                                                folder), path)
            except Exception as error:  # the quantiser's own limits
                print(f"{os.path.basename(path)}: not quantised: "
                      f"{' '.join(str(error).split())[:160]}", flush=True)


class Tflite:
    """A network of int8 or uint8 as a list of operators."""

    def __init__(self, kind, seed):
        from tflite_maker import Model
        self.m, self.rng, self.kind = Model(kind, seed), np.random.default_rng(seed), kind
        self.last, self.shape = None, None

    def input(self, *shape):
        self.last, self.shape = self.m.x(list(shape)), list(shape)

    def result(self, shape, steps):
        """The next tensor; one of its steps is as many of those of the sums."""
        low = -128 if self.kind == "int8" else 0
        zero = low + int(self.rng.integers(60, 190))
        made = self.m.tensor(shape, self.kind, (np.float32(steps), zero))
        self.last, self.shape = made, list(shape)
        return made

    def spread(self, w, terms):
        """A step of the output with which sums of so many products fill its range."""
        scales = self.m.tensors[w].quantization.scale
        return float(self.m.tensors[self.last].quantization.scale[0] * scales.mean() *
                     72 * 74 * np.sqrt(terms) / 45)

    def weight(self, shape, axis):
        per_axis = self.kind == "int8" and self.rng.integers(2)
        return self.m.weight(shape, 1.0, axis if per_axis else None)

    def conv(self, channels, k, stride, depthwise=False):
        x, (b, h, w, c) = self.last, self.shape
        out = [b, -(-h // stride), -(-w // stride), c if depthwise else channels]
        shape = [1, k, k, c] if depthwise else [channels, k, k, c]
        weight = self.weight(shape, 3 if depthwise else 0)
        bias = self.m.bias(out[3], x, weight)
        y = self.result(out, self.spread(weight, k * k * (1 if depthwise else c)))
        name = "DEPTHWISE_CONV_2D" if depthwise else "CONV_2D"
        more = {"depthMultiplier": 1} if depthwise else {}
        self.m.op(name, [x, weight, bias], [y], 3 if self.kind == "int8" else 1,
                  options="DepthwiseConv2DOptions" if depthwise else "Conv2DOptions",
                  padding=0, strideH=stride, strideW=stride, dilationHFactor=1,
                  dilationWFactor=1,
                  fusedActivationFunction=int(self.rng.integers(2)), **more)

    def larger(self, channels, k):
        x, (b, h, w, c) = self.last, self.shape
        weight = self.weight([channels, k, k, c], 0)
        out = [b, 2 * h, 2 * w, channels]
        sizes = self.m.ints(*out)
        y = self.result(out, self.spread(weight, k * k * c / 4))
        self.m.op("TRANSPOSE_CONV", [sizes, weight, x], [y], 2,
                  options="TransposeConvOptions", padding=0, strideH=2, strideW=2)

    def pool(self, name="MAX_POOL_2D"):
        x, (b, h, w, c) = self.last, self.shape
        scale, zero = self.m.affine_of(x)
        y = self.result([b, h // 2, w // 2, c], scale)
        self.m.tensors[y].quantization.zeroPoint = np.array([zero], np.int64)
        self.m.op(name, [x], [y], 2, options="Pool2DOptions", padding=1, strideH=2, strideW=2,
                  filterHeight=2, filterWidth=2, fusedActivationFunction=0)

    def add(self, other):
        x, shape = self.last, self.shape
        y = self.result(shape, 2 * self.m.affine_of(x)[0])
        self.m.op("ADD", [x, other], [y], 2, options="AddOptions", fusedActivationFunction=0,
                  potScaleInt16=False)

    def rows(self, rows):
        x, (b, h, w, c) = self.last, self.shape
        shape, affine = [rows, b * h * w * c // rows], self.m.affine_of(x)
        sizes, y = self.m.ints(*shape), self.m.tensor(shape, self.kind, affine)
        self.m.op("RESHAPE", [x, sizes], [y], options="ReshapeOptions", newShape=shape)
        self.last, self.shape = y, shape

    def fc(self, units):
        x, (rows, depth) = self.last, self.shape
        weight = self.weight([units, depth], None)
        bias = self.m.bias(units, x, weight)
        y = self.result([rows, units], self.spread(weight, depth))
        self.m.op("FULLY_CONNECTED", [x, weight, bias], [y], 4 if self.kind == "int8" else 1,
                  options="FullyConnectedOptions", fusedActivationFunction=0,
                  weightsFormat=0, keepNumDims=False, asymmetricQuantizeInputs=False)

    def bytes(self):
        self.m.outputs = [self.last]
        return self.m.bytes()


def tflite_network(number, seed):
    rng = np.random.default_rng(seed)
    t = Tflite("uint8" if number % 2 else "int8", seed)
    side, width = int(rng.choice([16, 20, 24])), int(rng.choice([8, 12, 16]))
    t.input(1, side, side, 3)
    t.conv(width, int(rng.choice([3, 5])), 2)
    form = number // 2 % 3
    if form == 0:  # blocks of depthwise convolutions
        for _ in range(rng.integers(1, 4)):
            before = t.last
            t.conv(0, 3, 1, True)
            t.conv(width, 1, 1)
            t.add(before)
    elif form == 1:  # smaller, then larger again
        t.pool()
        t.conv(2 * width, 3, 1)
        t.larger(width, int(rng.choice([2, 3, 4])))
        t.conv(4, 1, 1)
        return t.bytes()
    else:
        for _ in range(rng.integers(1, 4)):
            t.conv(width + int(rng.integers(0, 9)), 3, 1)
        t.pool("AVERAGE_POOL_2D")
    t.rows(1)
    t.fc(int(rng.integers(10, 30)))
    t.fc(10)
    return t.bytes()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=3)
    parser.add_argument("--tflite", type=int, default=12)
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    onnx_files(options)
    for number in range(options.tflite):
        path = os.path.join(options.folder, f"random_{number}.{options.seed}.tflite")
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(tflite_network(number, options.seed * 1000 + number))


if __name__ == "__main__":
    sys.exit(main())
